################################################################################
#
# tfs-tools, SPDX-License-Identifier: ISC
#
################################################################################

TFS_TOOLS_VERSION = 0.3.0
TFS_TOOLS_SITE = $(call qstrip,$(BR2_PACKAGE_TFS_TOOLS_SITE))
TFS_TOOLS_LICENSE = ISC
TFS_TOOLS_LICENSE_FILES = LICENSE

# One program with the name of each tool as a link. If the target has no shared libraries, the
# program is static, and the Makefile of the tools has the flags that make it small.
TFS_TOOLS_MAKE_OPTS = ONE=1 CC="$(TARGET_CC)" AR="$(TARGET_AR)" PREFIX=/usr
ifeq ($(BR2_STATIC_LIBS),y)
TFS_TOOLS_MAKE_OPTS += STATIC=1
else
TFS_TOOLS_MAKE_OPTS += CFLAGS="$(TARGET_CFLAGS)" LDFLAGS="$(TARGET_LDFLAGS)"
endif

define TFS_TOOLS_BUILD_CMDS
	$(TARGET_MAKE_ENV) $(MAKE) -C $(@D) $(TFS_TOOLS_MAKE_OPTS) all
endef

define TFS_TOOLS_INSTALL_TARGET_CMDS
	$(TARGET_MAKE_ENV) $(MAKE) -C $(@D) $(TFS_TOOLS_MAKE_OPTS) DESTDIR=$(TARGET_DIR) install
endef

# The recorder starts only if /etc/default/tfs-flight has its options.
define TFS_TOOLS_INSTALL_INIT_SYSV
	$(INSTALL) -D -m 0755 $(@D)/deploy/init/tfs-flight \
		$(TARGET_DIR)/etc/init.d/S60tfs-flight
	$(INSTALL) -D -m 0644 $(@D)/deploy/init/tfs-flight.default \
		$(TARGET_DIR)/etc/default/tfs-flight
endef

# Buildroot enables every unit that has no preset.
define TFS_TOOLS_INSTALL_INIT_SYSTEMD
	$(INSTALL) -D -m 0644 -t $(TARGET_DIR)/usr/lib/systemd/system \
		$(@D)/deploy/systemd/tfs-flight.service \
		$(@D)/deploy/systemd/tfs-last-boot.service
	$(INSTALL) -D -m 0644 $(@D)/deploy/init/tfs-flight.default \
		$(TARGET_DIR)/etc/default/tfs-flight
	$(INSTALL) -d $(TARGET_DIR)/usr/lib/systemd/system-preset
	printf 'disable %s\n' tfs-flight.service tfs-last-boot.service \
		>$(TARGET_DIR)/usr/lib/systemd/system-preset/50-tfs-tools.preset
endef

define TFS_TOOLS_LINUX_CONFIG_FIXUPS
	$(call KCONFIG_ENABLE_OPT,CONFIG_FTRACE)
	$(call KCONFIG_ENABLE_OPT,CONFIG_FTRACE_SYSCALLS)
	$(call KCONFIG_ENABLE_OPT,CONFIG_PERF_EVENTS)
	$(call KCONFIG_ENABLE_OPT,CONFIG_KPROBES)
	$(call KCONFIG_ENABLE_OPT,CONFIG_KPROBE_EVENTS)
	$(call KCONFIG_ENABLE_OPT,CONFIG_UPROBE_EVENTS)
	$(call KCONFIG_ENABLE_OPT,CONFIG_BPF_SYSCALL)
	$(call KCONFIG_ENABLE_OPT,CONFIG_BPF_EVENTS)
endef

ifneq ($(BR2_PACKAGE_TFS_TOOLS_CONVERT),y)
define TFS_TOOLS_REMOVE_CONVERTERS
	rm -f $(addprefix $(TARGET_DIR)/usr/bin/,tfs-export tfs-flame tfs-perfetto tfs-timeline)
endef
TFS_TOOLS_POST_INSTALL_TARGET_HOOKS += TFS_TOOLS_REMOVE_CONVERTERS
endif

$(eval $(generic-package))

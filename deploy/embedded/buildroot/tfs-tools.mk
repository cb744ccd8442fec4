# SPDX-License-Identifier: ISC
################################################################################
#
# tfs-tools
#
################################################################################

TFS_TOOLS_VERSION = 0.2.0
TFS_TOOLS_SITE = $(call qstrip,$(BR2_PACKAGE_TFS_TOOLS_SITE))
TFS_TOOLS_SOURCE = tfs-tools-$(TFS_TOOLS_VERSION).tar.gz
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

ifneq ($(BR2_PACKAGE_TFS_TOOLS_CONVERT),y)
define TFS_TOOLS_REMOVE_CONVERTERS
	rm -f $(addprefix $(TARGET_DIR)/usr/bin/,tfs-export tfs-flame tfs-perfetto tfs-timeline)
endef
TFS_TOOLS_POST_INSTALL_TARGET_HOOKS += TFS_TOOLS_REMOVE_CONVERTERS
endif

$(eval $(generic-package))

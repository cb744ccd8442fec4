#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC1091,SC2030,SC2031 # files that a test makes; each test is a process
# deploy/embedded: the recipes of Buildroot, OpenWrt and Yocto, and builds for MIPS
# parts: 4
# seconds: 130

load ../helper

# The options of the make that runs the tests must not change the builds of a test.
export MAKEFLAGS=

# copy_tree: Copy the sources to the directory source, without built files.
copy_tree() {
	need_tool git make
	mkdir source
	git -C "$TREE" ls-files -co --exclude-standard >files 2>/dev/null ||
		skip "needs a git checkout"
	tar -cf - -C "$TREE" -T files | tar -xf - -C source
}

EMBEDDED=$TREE/deploy/embedded
VERSION=$(sed -n 's/^VERSION = //p' "$TREE/Makefile")

# ---- the recipes -----------------------------------------------------------------

# make_recorder: Make a program that stands for make: it adds its words to the file words, a
# line each, and installs a few files.
make_recorder() {
	cat >recorder <<-'END'
		#!/bin/sh
		printf '%s\n' "$@" . >>words
		for word; do
			case $word in DESTDIR=*) to=${word#DESTDIR=} ;; esac
		done
		[ -n "${to-}" ] || exit 0
		mkdir -p "$to/usr/bin" "$to/usr/lib/trace-hooks"
		cd "$to/usr"
		touch bin/tfs bin/tfs-export bin/tfs-flame bin/tfs-perfetto bin/tfs-timeline \
			lib/trace-hooks/complete
	END
	chmod +x recorder
}

# recorded WORD...: Fail unless these are the words of all calls of the recorder.
recorded() {
	printf '%s\n' "$@" | diff - words
}

# names DIRECTORY: Print every file and link below it.
names() {
	(cd "$1" && find . ! -type d | LC_ALL=C sort)
}

# whole DIRECTORY: Fail unless the programs there are for MIPS, every tool but the converters is
# a link to one program, and every hook is there.
whole() {
	local tool hook
	readelf -h "$1/usr/bin/tfs" | grep -q 'Machine: *MIPS R3000$'
	for tool in "$TREE"/bin/*/*.1; do
		tool=$(basename "$tool" .1)
		case $tool in
		tfs-export | tfs-flame | tfs-perfetto | tfs-timeline) ;;
		*) [ "$(readlink "$1/usr/bin/$tool")" = tfs ] ;;
		esac
	done
	for hook in "$TREE"/trace-hooks/*/hooks.d/*; do
		cmp "$hook" "$1/usr/lib/${hook#"$TREE"/}"
	done
	[ "$(readlink "$1/usr/lib/trace-hooks/ftrace/manager")" = ../../../bin/tfs ]
}

# need_mips: Copy the sources to the directory source; from the second test on with the objects that
# the first one has built, which fit if a recipe gives the same compiler and flags.
need_mips() {
	need_tool mipsel-linux-gnu-gcc mipsel-linux-gnu-gcc-ar readelf
	echo '#include <sys/types.h>' | mipsel-linux-gnu-gcc -E - >headers 2>&1 ||
		skip "needs headers of libc for mipsel-linux-gnu-gcc"
	if [ -d "$BATS_FILE_TMPDIR/mips" ]; then
		cp -a "$BATS_FILE_TMPDIR/mips" source
	else
		copy_tree
	fi
}

# keep_objects: Keep the sources with their objects for the next test.
keep_objects() {
	[ -d "$BATS_FILE_TMPDIR/mips" ] || cp -a source "$BATS_FILE_TMPDIR/mips"
}

@test "embedded: each recipe is of the version in the Makefile" {
	grep -qx "TFS_TOOLS_VERSION = $VERSION" "$EMBEDDED/buildroot/tfs-tools.mk"
	grep -qx "PKG_VERSION:=$VERSION" "$EMBEDDED/openwrt/Makefile"
	[ -e "$EMBEDDED/yocto/tfs-tools_$VERSION.bb" ]
}

# buildroot WORD...: Make the package with a small stand-in for Buildroot. The sources are in
# the directory source.
buildroot() {
	mkdir -p source
	cat >buildroot.mk <<'END'
qstrip = $(strip $(subst ",,$(1)))
TARGET_CC = mipsel-linux-gnu-gcc
TARGET_AR = mipsel-linux-gnu-gcc-ar
TARGET_CFLAGS = -O1 -pipe
TARGET_LDFLAGS = -Wl,-O1
TARGET_MAKE_ENV = BUILDROOT=yes
TARGET_DIR = $(CURDIR)/target
INSTALL = install
KCONFIG_ENABLE_OPT = echo $(1)=y >>kernel.config
TFS_TOOLS_SOURCE = tfs-tools-$(TFS_TOOLS_VERSION).tar.gz
BR2_PACKAGE_TFS_TOOLS_SITE = "file:///archives"
define generic-package
all: source/.installed
source/.built:
	$$(TFS_TOOLS_BUILD_CMDS)
source/.installed: source/.built
	$$(TFS_TOOLS_INSTALL_TARGET_CMDS)
	$$(if $$(BR2_INIT_BUSYBOX),$$(TFS_TOOLS_INSTALL_INIT_SYSV))
	$$(if $$(BR2_INIT_SYSTEMD),$$(TFS_TOOLS_INSTALL_INIT_SYSTEMD))
	$$(foreach hook,$$(TFS_TOOLS_POST_INSTALL_TARGET_HOOKS),$$(call $$(hook))$$(sep))
kernel:
	$$(TFS_TOOLS_LINUX_CONFIG_FIXUPS)
print:
	@echo $$(TFS_TOOLS_SITE)/$$(TFS_TOOLS_SOURCE) $$(TFS_TOOLS_LICENSE)
endef
define sep


endef
END
	echo "include $EMBEDDED/buildroot/tfs-tools.mk" >>buildroot.mk
	make -s -f buildroot.mk "$@" 3>&-
}

# bats test_tags=quick
@test "embedded: Buildroot builds with the compiler of the target, and installs what is chosen" {
	need_tool make
	make_recorder
	[ "$(buildroot print)" = "file:///archives/tfs-tools-$VERSION.tar.gz ISC" ]
	buildroot MAKE="$PWD/recorder"
	local words=(-C source ONE=1 CC=mipsel-linux-gnu-gcc AR=mipsel-linux-gnu-gcc-ar PREFIX=/usr)
	local flags=('CFLAGS=-O1 -pipe' 'LDFLAGS=-Wl,-O1')
	recorded "${words[@]}" "${flags[@]}" all . \
		"${words[@]}" "${flags[@]}" "DESTDIR=$PWD/target" install .
	[ "$(names target)" = $'./usr/bin/tfs\n./usr/lib/trace-hooks/complete' ]
	rm -r target words
	buildroot MAKE="$PWD/recorder" \
		BR2_PACKAGE_TFS_TOOLS_CONVERT=y BR2_STATIC_LIBS=y
	recorded "${words[@]}" STATIC=1 all . "${words[@]}" STATIC=1 "DESTDIR=$PWD/target" install .
	[ "$(names target | wc -l)" = 6 ]
}

# with_init: Give the directory source the scripts and units that an init system starts.
with_init() {
	mkdir -p source/deploy
	cp -a "$TREE/deploy/init" "$TREE/deploy/systemd" source/deploy
}

# bats test_tags=quick
@test "embedded: Buildroot installs what its init system starts, and enables nothing" {
	need_tool make
	make_recorder
	with_init
	buildroot MAKE="$PWD/recorder"
	[ ! -e target/etc ]
	rm -r target
	buildroot MAKE="$PWD/recorder" BR2_INIT_BUSYBOX=y
	cmp "$TREE/deploy/init/tfs-flight" target/etc/init.d/S60tfs-flight
	[ -x target/etc/init.d/S60tfs-flight ]
	cmp "$TREE/deploy/init/tfs-flight.default" target/etc/default/tfs-flight
	rm -r target
	buildroot MAKE="$PWD/recorder" BR2_INIT_SYSTEMD=y
	cmp "$TREE/deploy/init/tfs-flight.default" target/etc/default/tfs-flight
	cd target/usr/lib/systemd
	ls system >units
	file_has 2 units
	sed 's/^/disable /' units | diff - system-preset/50-tfs-tools.preset
}

# bats test_tags=quick
@test "embedded: Buildroot, OpenWrt and Yocto switch on the same options of the kernel" {
	need_tool make
	buildroot kernel
	sed '/^#/d' "$EMBEDDED/yocto/tfs-tools.cfg" | diff kernel.config -
	file_has 8 kernel.config
	# OpenWrt's KERNEL_BPF_EVENTS selects kprobes and perf events
	sed -n 's/^  DEPENDS:=+@K/+@K/p' "$EMBEDDED/openwrt/Makefile" | tr ' ' '\n' >openwrt
	file_has 3 openwrt
	sed 's/^+@KERNEL_\(.*\)/CONFIG_\1=y/' openwrt | while read -r option; do
		grep -qx "$option" kernel.config
	done
}

# bats test_tags=quick
@test "embedded: Buildroot's check-package finds nothing in the package and its init script" {
	need_tool python3
	[ -x "${BUILDROOT-}/utils/check-package" ] || skip "needs a checkout of Buildroot in BUILDROOT"
	/usr/bin/python3 -c 'import magic' || skip "needs python3-magic"
	mkdir -p package/tfs-tools
	install -m 644 "$EMBEDDED"/buildroot/* package/tfs-tools
	install -m 644 "$TREE/deploy/init/tfs-flight" package/tfs-tools/S60tfs-flight
	run -0 /usr/bin/python3 "$BUILDROOT/utils/check-package" -b "$PWD"/package/tfs-tools/*
	[[ $output == *"0 warnings generated" ]]
}

# the rules of check-package that were broken once, for machines without Buildroot
# bats test_tags=quick
@test "embedded: Buildroot's help texts have at most 62 characters, and its recipe the usual head" {
	run -1 grep -nE '^	  .{63}' "$EMBEDDED/buildroot/Config.in"
	[ "$(sed -n '1p;5p' "$EMBEDDED/buildroot/tfs-tools.mk" | sort -u)" = "$(printf '#%.0s' {1..80})" ]
	run -1 grep -n '[[:space:]]$\|_SOURCE = ' "$EMBEDDED"/buildroot/*
}

# bats test_tags=quick
@test "embedded: Buildroot's menu has each option of the package" {
	grep -o 'BR2_PACKAGE_TFS_TOOLS[A-Z_]*' "$EMBEDDED/buildroot/tfs-tools.mk" | sort -u >used
	file_has 2 used
	while read -r option; do
		grep -qx "config $option" "$EMBEDDED/buildroot/Config.in"
	done <used
}

# bats test_tags=long
@test "embedded: Buildroot's package is built and installed for MIPS" {
	need_mips
	buildroot MAKE="make -s -j$(nproc)" >said 2>&1
	cat said
	[ ! -s said ]
	keep_objects
	whole target
	[ ! -e target/usr/bin/tfs-perfetto ]
}

# openwrt WORD...: Make the package with a small stand-in for OpenWrt. The sources are in the
# directory source.
openwrt() {
	mkdir -p include source
	cat >rules.mk <<-'END'
		INCLUDE_DIR = $(TOPDIR)/include
		INSTALL_DIR = install -d -m0755
		INSTALL_BIN = install -m0755
		INSTALL_DATA = install -m0644
		CP = cp -fpR
		TARGET_CC = mipsel-linux-gnu-gcc
		TARGET_CFLAGS = -O1 -pipe
		TARGET_CPPFLAGS = -DOPENWRT
		TARGET_LDFLAGS = -Wl,-O1
	END
	cat >include/package.mk <<'END'
PKG_BUILD_DIR = $(TOPDIR)/source
PKG_INSTALL_DIR = $(TOPDIR)/source/ipkg-install
MAKE_VARS = CFLAGS="$(TARGET_CFLAGS) $(TARGET_CPPFLAGS)" LDFLAGS="$(TARGET_LDFLAGS)"
MAKE_FLAGS = AR="mipsel-linux-gnu-gcc-ar" CC="$(TARGET_CC)" ARCH="mipsel"
MAKE_INSTALL_FLAGS = $(MAKE_FLAGS) DESTDIR="$(PKG_INSTALL_DIR)"
compile:
	$(MAKE_VARS) $(MAKE) -C $(PKG_BUILD_DIR) $(MAKE_FLAGS)
	$(if $(PKG_INSTALL),$(MAKE_VARS) $(MAKE) -C $(PKG_BUILD_DIR) $(MAKE_INSTALL_FLAGS) install)
print:
	@echo $(PKG_SOURCE_URL)/$(PKG_SOURCE) $(PKG_LICENSE) $(PKG_LICENSE_FILES)
define BuildPackage
all: package-$(1)
package-$(1): compile
	$(call Package/$(1)/install,$(TOPDIR)/packages/$(1))
endef
.DEFAULT_GOAL = all
.PHONY: compile
END
	with_init
	ln -sfn "$EMBEDDED/openwrt/files" files
	make -s -f "$EMBEDDED/openwrt/Makefile" TOPDIR="$PWD" "$@" 3>&-
}

# bats test_tags=quick
@test "embedded: OpenWrt builds with the compiler of the target, and makes two packages" {
	need_tool make
	make_recorder
	[ "$(openwrt print)" = "file:///srv/sources/tfs-tools-$VERSION.tar.gz ISC LICENSE" ]
	[ "$(openwrt print TFS_TOOLS_URL=https://sources.invalid)" = \
		"https://sources.invalid/tfs-tools-$VERSION.tar.gz ISC LICENSE" ]
	openwrt MAKE="$PWD/recorder"
	local words=(-C "$PWD/source" AR=mipsel-linux-gnu-gcc-ar CC=mipsel-linux-gnu-gcc ARCH=mipsel
		ONE=1 PREFIX=/usr 'CFLAGS=-O1 -pipe' CPPFLAGS=-DOPENWRT 'LDFLAGS=-Wl,-O1')
	recorded "${words[@]}" . "${words[@]}" "DESTDIR=$PWD/source/ipkg-install" install .
	names packages | diff - <(
		printf './%s\n' tfs-tools-convert/usr/bin/tfs-{export,flame,perfetto,timeline} \
		tfs-tools/etc/default/tfs-flight tfs-tools/etc/init.d/tfs-flight tfs-tools/usr/bin/tfs)
	cmp "$TREE/deploy/init/tfs-flight.default" packages/tfs-tools/etc/default/tfs-flight
}

# bats test_tags=long
@test "embedded: OpenWrt's packages are built for MIPS" {
	need_mips
	openwrt MAKE="make -s -j$(nproc)" TARGET_CPPFLAGS= >said 2>&1
	cat said
	[ ! -s said ]
	whole packages/tfs-tools
	readelf -h packages/tfs-tools-convert/usr/bin/tfs-perfetto | grep -q 'Machine: *MIPS R3000$'
}

# procd WORD STATUS: Run a function of OpenWrt's init script with stand-ins for rc.common and procd, which
# write their words to the file words. tfs-dir ends with STATUS.
procd() {
	local ended=$2
	: >words
	(
		# shellcheck disable=SC2317 # the script calls these
		procd_open_instance() { echo open >>words; }
		# shellcheck disable=SC2317
		procd_close_instance() { echo close >>words; }
		# shellcheck disable=SC2317
		procd_set_param() { printf '<%s>' "$@" >>words && echo >>words; }
		# shellcheck disable=SC2317
		procd_send_signal() { echo "signal $*" >>words; }
		# shellcheck disable=SC2317
		tfs-dir() { return "$ended"; }
		# shellcheck disable=SC2317
		mount() { echo "mount $*" >>words; }
		. ./script
		"$1"
	)
}

# bats test_tags=quick
@test "embedded: OpenWrt's init script mounts tracefs, and starts a recorder only if it is configured" {
	sed "s|/etc/default|$PWD|g" "$EMBEDDED/openwrt/files/tfs-flight.init" >script
	[ "$(head -n 1 script)" = '#!/bin/sh /etc/rc.common' ]
	procd start_service 0
	[ ! -s words ]
	cp "$TREE/deploy/init/tfs-flight.default" tfs-flight
	procd start_service 111
	file_is words 'mount -t tracefs nodev /sys/kernel/tracing'
	echo "TFS_FLIGHT=\"-e 'sched:*' --dump-on 'a:b == 1'\"" >tfs-flight
	procd start_service 0
	file_is words "open
<command><tfs-run><trace_flight><--all><-e><sched:*><--dump-on><a:b == 1>
<env><TFS_RUNDIR=/var/lib/tfs-flight>
<stderr><1>
<respawn>
close"
	procd reload_service 0
	file_is words 'signal tfs-flight * USR1'
}

# yocto_variables: Print the variables of Yocto's recipe as assignments of the shell. Names with
# a colon, which the shell does not have, are left out.
yocto_variables() {
	sed -e ':again' -e '/\\$/ { N; s/\\\n *//; b again' -e '}' \
		"$EMBEDDED/yocto/tfs-tools_$VERSION.bb" |
		sed -n 's/^\([A-Z_]*\) ?\{0,1\}= \(".*"\)$/\1=\2/p'
}

# yocto TASK: Run a task of Yocto's recipe in the directory source. MAKE is the make.
yocto() {
	sed -n "/^$1() {\$/,/^}\$/p" "$EMBEDDED/yocto/tfs-tools_$VERSION.bb" >task
	[ -s task ]
	(
		# shellcheck disable=SC2034 # the recipe uses these
		CC="mipsel-linux-gnu-gcc${machine- -mips32r2}" AR=mipsel-linux-gnu-gcc-ar CFLAGS='-O1 -pipe' \
			CPPFLAGS='' LDFLAGS=-Wl,-O1 prefix=/usr D=$PWD/image BP=tfs-tools-$VERSION \
			S=$PWD/source sysconfdir=/etc systemd_system_unitdir=/usr/lib/systemd/system
		# shellcheck disable=SC2317 # the recipe's task calls it
		oe_runmake() {
			eval "$MAKE -C source $EXTRA_OEMAKE \"\$@\""
		}
		eval "$(yocto_variables)"
		. ./task
		"$1"
	)
}

# bats test_tags=quick
@test "embedded: Yocto's recipe has the variables that a recipe needs, and the licence's checksum" {
	yocto_variables >variables
	for name in SUMMARY SECTION LICENSE LIC_FILES_CHKSUM TFS_TOOLS_URL SRC_URI EXTRA_OEMAKE; do
		[ "$(grep -c "^$name=\".\{3,\}\"\$" variables)" = 1 ]
	done
	grep -qx "LIC_FILES_CHKSUM=\"file://LICENSE;md5=$(md5sum <"$TREE/LICENSE" | cut -c -32)\"" \
		variables
	[ "$(export BP=tfs-tools-$VERSION && . ./variables 2>err && echo "$SRC_URI $LICENSE")" = \
		"file:///srv/sources/tfs-tools-$VERSION.tar.gz ISC" ]
	[ ! -s err ]
}

# bats test_tags=quick
@test "embedded: Yocto builds with the compiler of the target" {
	make_recorder
	with_init
	MAKE=./recorder yocto do_configure
	[ ! -e words ]
	MAKE=./recorder yocto do_compile
	MAKE=./recorder yocto do_install
	local words=(-C source ONE=1 'CC=mipsel-linux-gnu-gcc -mips32r2' AR=mipsel-linux-gnu-gcc-ar
		'CFLAGS=-O1 -pipe' CPPFLAGS= 'LDFLAGS=-Wl,-O1' PREFIX=/usr)
	recorded "${words[@]}" all . "${words[@]}" install "DESTDIR=$PWD/image" .
	cmp "$TREE/deploy/init/tfs-flight" image/etc/init.d/tfs-flight
	cmp "$TREE/deploy/init/tfs-flight.default" image/etc/default/tfs-flight
	ls image/usr/lib/systemd/system >units
	file_has 2 units
	# each of them is named, and none is enabled
	grep -qx 'SYSTEMD_AUTO_ENABLE = "disable"' "$EMBEDDED/yocto/tfs-tools_$VERSION.bb"
	grep -qx "SYSTEMD_SERVICE:\${PN} = \"$(tr '\n' ' ' <units | sed 's/ $//')\"" \
		"$EMBEDDED/yocto/tfs-tools_$VERSION.bb"
}

# bats test_tags=long
@test "embedded: Yocto's recipe is built and installed for MIPS" {
	need_mips
	local machine=
	MAKE="make -s -j$(nproc)" yocto do_compile >said 2>&1
	MAKE="make -s" yocto do_install >>said 2>&1
	cat said
	[ ! -s said ]
	whole image
}

# ---- builds for MIPS -------------------------------------------------------------

# cross COMPILER EMULATOR: Build all programs as one static program, and set RUN to a command
# that runs programs of that machine. Fail if the build prints anything.
cross() {
	need_tool "$1" "$2"
	echo '#include <sys/types.h>' | "$1" -E - >headers 2>&1 ||
		skip "needs headers of libc for $1"
	copy_tree
	CROSS=$1 RUN=("$2" -0)
	make -s -j"$(nproc)" -C source STATIC=1 ONE=1 CC="$1" "${@:3}" 3>&- >said 2>&1
	cat said
	[ ! -s said ]
	[ "$(readlink source/bin/tfs-dir)" = tfs ]
}

# there TOOL WORD...: Run the tool of that machine.
there() {
	"${RUN[@]}" "$1" "$PWD/source/bin/$1" "${@:2}"
}

# number_of CALL: Print the number of a system call in the headers of that machine.
number_of() {
	echo $(($(printf '#include <sys/syscall.h>\n__NR_%s\n' "$1" | "$CROSS" -E -P - | tail -n 1)))
}

# works ELF-MACHINE GETPPID: Run programs of that machine. GETPPID is the number of the call.
works() {
	local order name
	readelf -h source/bin/tfs | grep -q "Machine: *$1\$"
	[ "$(there tfs-dir --version)" = "$(tfs-dir --version)" ]
	[ "$(there syscall-nr getppid)" = "$2" ]
	for name in getppid openat execve pidfd_open; do
		[ "$(there syscall-nr "$name")" = "$(number_of "$name")" ]
	done
	# the same text of a trace of either byte order and size of long as on this machine
	for order in 'little 8' 'big 4' 'little 4' 'big 8'; do
		# shellcheck disable=SC2086 # two words
		python3 "$TREE/t/prog/tracedat.py" $order file
		tfs-report file >wanted
		[ "$(grep -vc '^#' wanted)" -gt 0 ]
		there tfs-report file >got
		diff wanted got
		tfs-report -j file >wanted
		there tfs-report -j file >got
		diff wanted got
	done
	# decoded calls of x86_64
	python3 "$TREE/t/prog/callsdat.py" little 8 x86_64 file <<-'END'
		2 42 raw-enter 257 -100 0x7000 0 0
		5 42 raw-exit 257 -2
	END
	tfs-report -D file >wanted
	[ "$(grep -c 'openat(AT_FDCWD, 0x7000, O_RDONLY) = -1 ENOENT' wanted)" = 1 ]
	there tfs-report -D file >got
	diff wanted got
	[ ! -d "$TRACEFS/events/bpf_trace" ] ||
		fails 111 "tfs-strings: fatal: otel: the thread pointer of this architecture is not known; x86-64 and arm64 have it" \
			there tfs-strings -S otel
}

# bats test_tags=long
@test "embedded: a static build for 32-bit MIPS is silent, and its programs run" {
	need_tool python3 readelf
	cross mipsel-linux-gnu-gcc qemu-mipsel-static
	works 'MIPS R3000' 4064
}

# bats test_tags=long
@test "embedded: a static build for 64-bit MIPS is silent, and its programs run" {
	need_tool python3 readelf
	cross mips64el-linux-gnuabi64-gcc qemu-mips64el-static LTO= # the other build shows LTO
	works 'MIPS R3000' 5108
}

# bats test_tags=quick
@test "tfs-report: -D: refuses a trace of MIPS, whose system calls are in no table" {
	need_tool python3
	for order in 'little 4 mips' 'big 4 mips' 'little 8 mips64' 'big 8 mips64'; do
		machine=${order##* }
		# shellcheck disable=SC2086 # three words
		python3 "$TREE/t/prog/callsdat.py" $order file <<-'END'
			2 42 raw-enter 4005 0x7000 0 0
			5 42 raw-exit 4005 -2
		END
		fails 111 "tfs-report: fatal: unable to decode system calls of $machine: there is no table of them" \
			tfs-report -D file
		# without -D there are no names
		tfs-report file >got
		[ "$(sed 's/.*: sys_/sys_/' got)" = $'sys_enter: x\nsys_exit: x' ]
	done
}

# bats test_tags=quick
@test "tfs-report: -D: a program for MIPS has no table for the calls of its own machine" {
	need_tool mipsel-linux-gnu-gcc mips64el-linux-gnuabi64-gcc qemu-mipsel-static \
		qemu-mips64el-static
	cat >own.c <<-'END'
		#include "base/base.h"
		#include "calls/calls.h"

		int main(void)
		{
			return calls_open(NULL) ? DONE : REFUSED;
		}
	END
	while read -r compiler emulator machine; do
		"$compiler" -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -O1 \
			-static -ffunction-sections -Wl,--gc-sections -I"$TREE/lib" -I"$TREE/build/gen" -o own own.c \
			"$TREE/lib/calls/tables.c" "$TREE"/lib/base/{bytes,error,file,memory,out,text}.c
		fails 111 "tfs: fatal: unable to decode system calls of $machine: there is no table of them" \
			"$emulator" ./own
	done <<-'END'
		mipsel-linux-gnu-gcc qemu-mipsel-static mips
		mips64el-linux-gnuabi64-gcc qemu-mips64el-static mips64
	END
}

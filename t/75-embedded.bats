#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# deploy/embedded: the recipes of Buildroot, OpenWrt and Yocto, and builds for MIPS
# parts: 4

load helper

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

# ---- builds for MIPS -------------------------------------------------------------

# cross COMPILER EMULATOR: Build all programs as one static program, and set RUN to a command
# that runs programs of that machine. Fail if the build prints anything.
cross() {
	need_tool "$1" "$2"
	echo '#include <sys/types.h>' | "$1" -E - >headers 2>&1 ||
		skip "needs headers of libc for $1"
	copy_tree
	CROSS=$1 RUN=("$2" -0)
	make -s -j"$(nproc)" -C source STATIC=1 ONE=1 CC="$1" 3>&- >said 2>&1
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
	# decoded calls of x86_64, by the table beside the program
	python3 "$TREE/t/prog/callsdat.py" little 8 x86_64 file <<-'END'
		2 42 raw-enter 257 -100 0x7000 0 0
		5 42 raw-exit 257 -2
	END
	tfs-report -D file >wanted
	[ "$(grep -c 'openat(AT_FDCWD, 0x7000, O_RDONLY) = -1 ENOENT' wanted)" = 1 ]
	there tfs-report -D file >got
	diff wanted got
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
	cross mips64el-linux-gnuabi64-gcc qemu-mips64el-static
	works 'MIPS R3000' 5108
}

# bats test_tags=quick
@test "tfs-report: -D: refuses a trace of MIPS, whose system calls are in no table" {
	local machine order
	need_tool python3
	for order in 'little 4 mips' 'big 4 mips' 'little 8 mips64' 'big 8 mips64'; do
		machine=${order##* }
		# shellcheck disable=SC2086 # three words
		python3 "$TREE/t/prog/callsdat.py" $order file <<-'END'
			2 42 raw-enter 4005 0x7000 0 0
			5 42 raw-exit 4005 -2
		END
		fails 111 "tfs-report: fatal: $(readlink -f "$TREE/bin/tfs-calls.tab") has no system calls of $machine" \
			tfs-report -D file
		# without -D there are no names
		tfs-report file >got
		[ "$(sed 's/.*: sys_/sys_/' got)" = $'sys_enter: x\nsys_exit: x' ]
	done
}

# bats test_tags=quick
@test "tfs-report: -D: a program for MIPS has no table for the calls of its own machine" {
	local compiler emulator machine
	need_tool mipsel-linux-gnu-gcc mips64el-linux-gnuabi64-gcc qemu-mipsel-static \
		qemu-mips64el-static
	cat >own.c <<-'END'
		#include "base/base.h"
		#include "calls/calls.h"

		int main(int argc, char **argv)
		{
			return calls_read(argv[argc - 1], NULL) ? DONE : REFUSED;
		}
	END
	while read -r compiler emulator machine; do
		"$compiler" -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -O1 \
			-static -ffunction-sections -Wl,--gc-sections -I"$TREE/lib" -o own own.c \
			"$TREE/lib/calls/table.c" "$TREE"/lib/base/{bytes,error,file,format,text}.c
		fails 111 "tfs: fatal: $TREE/bin/tfs-calls.tab has no system calls of $machine" \
			"$emulator" ./own "$TREE/bin/tfs-calls.tab"
	done <<-'END'
		mipsel-linux-gnu-gcc qemu-mipsel-static mips
		mips64el-linux-gnuabi64-gcc qemu-mips64el-static mips64
	END
}

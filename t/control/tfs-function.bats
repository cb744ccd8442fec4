#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031 # words as they are; each test is a process of its own
# tfs-function: selects the functions that the function tracers record

load ../helper

# Make a root that is a plain directory, with a kernel's functions.
plain_root() {
	mkdir -p root
	printf '%s\n' vfs_read vfs_readv vfs_write do_exit 'ext4_sync_file [ext4]' >root/available_filter_functions
	: >root/set_ftrace_filter
	: >root/set_ftrace_notrace
}

# bats test_tags=quick
@test "tfs-function: writes each function as a record of its own" {
	plain_root
	tfs-function -R root do_exit 'vfs_read*'
	lines_are root/set_ftrace_filter "do_exit
vfs_read*"
	tfs-function -n -R root vfs_write
	lines_are root/set_ftrace_notrace "vfs_write"
}

@test "tfs-function: -l prints the functions that can be traced, all or those that match a glob" {
	plain_root
	[ "$(tfs-function -l -R root | tr '\n' ' ')" = "vfs_read vfs_readv vfs_write do_exit ext4_sync_file " ]
	[ "$(tfs-function -l -R root 'vfs_?e*' 'ext4_*' | tr '\n' ' ')" = "vfs_read vfs_readv ext4_sync_file " ]
}

@test "tfs-function: refuses an unknown function, suggests the nearest name, and writes nothing" {
	plain_root
	fails 111 "tfs-function: fatal: the kernel cannot trace a function that is called 'vfs_raed'; did you mean vfs_read, vfs_readv?" \
		tfs-function -R root do_exit vfs_raed
	for word in nonesuch '!nonesuch' 'vfs_read:traceoff' ':mod:ext4' '' 'a*'; do
		fails 111 "tfs-function: fatal: the kernel cannot trace a function that is called '$word'; tfs-function -l prints the names of all" \
			tfs-function -R root "$word"
	done
	# in brackets a glob matches, and the kernel would read a command or two names
	for word in '[v:traceoff:]*' '[v do_exit ]*'; do
		fails 111 "tfs-function: fatal: not a glob for the kernel: '$word'; a colon begins a command, and a space another name" \
			tfs-function -R root "$word"
	done
	[ ! -s root/set_ftrace_filter ]
	fails 100 "tfs-function: fatal: no function; give at least one, or -l to list them; usage: tfs-function [-ln] [-R ROOT] [-i INSTANCE] [FUNCTION]..." \
		tfs-function
}

# bats test_tags=guest
@test "tfs-function: the kernel accepts the names and globs that it writes" {
	need_tracefs set_ftrace_filter
	head -c 1 "$TRACEFS/available_filter_functions" >can.read 2>&1 ||
		skip "needs available_filter_functions, which this kernel keeps to itself"
	new_instance
	export TFS_INSTANCE=$INSTANCE
	tfs-function vfs_read 'vfs_w[r]?te' '*sys_getppid'
	tfs-read set_ftrace_filter >set.now
	for name in vfs_read vfs_write; do
		[ "$(grep -cx "$name" set.now)" = 1 ]
	done
	grep -q 'sys_getppid$' set.now
	tfs-function -l 'vfs_w[r]?te' '*sys_getppid' vfs_read | sort >named
	sort set.now | cmp - named
}

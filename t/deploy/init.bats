#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031 # text of a program; each test is a process of its own
# deploy/init: the script that saves the last boot's events, run by each shell of this machine

load ../helper

SCRIPT=$TREE/deploy/init/tfs-last-boot

# Make programs that stand for the tools: each adds its words to the file words.
make_tools() {
	local tool
	mkdir tools
	for tool in tfs-dir tfs-persist mount; do
		printf '#!/bin/sh\necho "%s $*" >>"%s/words"\nexit "$STATUS_%s"\n' \
			"$tool" "$PWD" "${tool#tfs-}" >"tools/$tool"
		chmod +x "tools/$tool"
	done
	# the script puts directories of the system first, so it is run without them
	sed "s|^PATH=.*|PATH='$PWD/tools':/usr/bin:/bin|" "$SCRIPT" >script
	[ "$(diff "$SCRIPT" script | grep -c '^>')" = 1 ]
}

# starts DIR MOUNT PERSIST [WORD]...: Run the script; its tools end with these statuses.
starts() {
	: >words
	# shellcheck disable=SC2086 # "busybox sh" has two words
	STATUS_dir=$1 STATUS_mount=$2 STATUS_persist=$3 run $SHELL_TO_TEST script "${@:4}"
}

each_shell() {
	for SHELL_TO_TEST in dash 'busybox sh' 'bash --posix'; do
		! command -v "${SHELL_TO_TEST%% *}" >/dev/null || "$@"
	done
}

statuses() {
	starts 0 9 0 start
	[ "$status" = 0 ] && [ -z "$output" ]
	[ "$(cat words)" = "tfs-dir 
tfs-persist save" ]
	# no event of a last boot is no failure, and no word means start
	starts 0 9 1
	[ "$status" = 0 ]
	[ "$(cat words)" = "tfs-dir 
tfs-persist save" ]
	starts 0 9 111 start
	[ "$status" = 111 ]
}

mounts() {
	starts 111 0 0 start
	[ "$status" = 0 ]
	[ "$(cat words)" = "tfs-dir 
mount -t tracefs nodev /sys/kernel/tracing
tfs-persist save" ]
	starts 111 32 0 start
	[ "$status" = 32 ]
	run ! grep persist words
}

does_nothing() {
	for word in stop status; do
		starts 0 0 0 "$word"
		[ "$status" = 0 ] && [ -z "$output" ] && [ ! -s words ]
	done
}

@test "init: the script saves the last boot's events, and fails only if tfs-persist does" {
	make_tools
	each_shell statuses
}

@test "init: the script mounts tracefs first if it is not mounted" {
	make_tools
	each_shell mounts
}

@test "init: the script does nothing when the machine stops" {
	make_tools
	each_shell does_nothing
}

@test "init: the script has the header that update-rc.d and insserv read" {
	[ "$(sed -n '/^### BEGIN INIT INFO$/,/^### END INIT INFO$/p' "$SCRIPT" | grep -c '^# [A-Z][A-Za-z-]*:')" = 7 ]
	[ "$(sed -n 's/^# Provides: *//p' "$SCRIPT")" = "$(basename "$SCRIPT")" ]
}

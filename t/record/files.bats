#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-strings -f: the files of descriptors are those that the kernel has

load ../helper
load ../hooks

# files_agree N SEED: Trace N checks of fileops, and compare what it says with the trace.
files_agree() {
	local program
	new_instance
	export TFS_INSTANCE=$INSTANCE
	tfs-write trace_clock mono buffer_size_kb 32768
	mkdir d
	mkfifo begin
	"$PROG/fileops" "$PWD/d" "$1" "$2" <begin >truth 3>&- &
	program=$!
	exec 8>begin
	tfs-pidfilter set "$program"
	background tfs-strings -f calls -- tfs-catpipe -D --names -j >trace 8>&-
	eventually file_is "/proc/$PID/comm" tfs-catpipe
	eventually blocks "$PID"
	exec 8>&-
	wait "$program"
	kill "$PID"
	wait "$PID"
	run ! grep '"lost"' trace
	awk -f "$TREE/t/prog/filejudge.awk" truth trace >judged
	diff <(echo "$1 checks, $1 agree") judged
}

# bats test_tags=quick
@test "tfs-strings: -f names the files of descriptors and directories as fstat and readlink do" {
	need_bpf
	need_types
	files_agree 500 1
}

# bats test_tags=long
@test "tfs-strings: -f names files right 10,000 times of 10,000" {
	need_bpf
	need_types
	files_agree 10000 2
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# tfs-read: prints control files: now, periodically, or at the end

load ../helper

# Make a root that is a plain directory.
plain_root() {
	mkdir -p root/events
	printf 'one\ntwo\n' >root/a
	printf 'no newline' >root/events/b
}

# bats test_tags=quick
@test "tfs-read: prints each file, byte for byte" {
	plain_root
	tfs-read -R root a events/b a >out
	lines_are out "one
two
no newlineone
two"
}

@test "tfs-read: prints a file of a megabyte and lines of any length whole" {
	plain_root
	seq 200000 >root/long
	head -c 100000 /dev/zero | tr '\0' x >>root/long
	tfs-read -R root long | cmp - root/long
}

@test "tfs-read: prints control files of the kernel, of an instance too" {
	new_instance
	tfs-write -i "$INSTANCE" buffer_size_kb 64
	[ "$(tfs-read -i "$INSTANCE" buffer_size_kb)" = "$(cat "$DIR/buffer_size_kb")" ]
	[ "$(TFS_INSTANCE=$INSTANCE tfs-read tracing_on)" = 1 ]
	[ "$(tfs-read trace_clock)" = "$(cat "$TRACEFS/trace_clock")" ]
}

@test "tfs-read: -w waits until one of the four stop signals comes" {
	plain_root
	for signal in HUP INT TERM USR1; do
		echo before >root/a
		background tfs-read -w -R root a >out
		eventually blocks "$PID"
		[ ! -s out ]
		echo after >root/a
		kill -"$signal" "$PID"
		finishes "$PID" 0
		lines_are out "after"
	done
}

@test "tfs-read: -e prints the files at every interval, and at the end" {
	plain_root
	three() { file_has 3+ out; }
	echo x >root/a
	background tfs-read -e 1 -R root a >out
	eventually three
	echo y >root/a.new
	mv root/a.new root/a
	ends_by "$PID" TERM 0
	[ "$(tail -n 1 out)" = y ]
}

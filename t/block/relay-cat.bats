#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2034 # each test is a process of its own
# relay-cat: passes on every byte of every file in order, from plain directories;
# blktrace.bats tests it with the kernel's relay files

load ../helper

USAGE='relay-cat [-1] [-o DIR] [-p PREFIX] [-w MS] DIRECTORY'

misuse() {
	fails 100 "relay-cat: fatal: $1; usage: $USAGE" "${@:2}"
}

refuse() {
	fails 111 "relay-cat: fatal: $1" "${@:2}"
}

# Make a channel of two files, FIFOs that the test holds as 8 and 9.
channel() {
	mkdir channel
	mkfifo channel/trace0 channel/trace1
	exec 8<>channel/trace0 9<>channel/trace1
}

# streams WORD...: Start relay-cat in the background with output to got; set $PID.
streams() {
	background relay-cat "$@" channel >got 2>err 8>&- 9>&-
	eventually blocks "$PID"
}

got() {
	file_is "${2:-got}" "$1"
}

@test "relay-cat: refuses an invalid number, prefix or directory" {
	misuse 'no directory; give the one with the relay files' relay-cat
	misuse "unexpected operand 'two'" relay-cat one two
	misuse "--every: '0' is not from 1 to 2147483647 milliseconds; give a time such as 500ms, 5s, 2m or 1h" relay-cat -w 0 .
	misuse "--prefix: '../trace' is not a name: letters, digits, _ . - and 64 of them at most" relay-cat -p ../trace .
	misuse 'no such option: -x' relay-cat -x .
	refuse 'unable to open nowhere: No such file or directory' relay-cat nowhere
	mkdir none
	: >none/trace
	: >none/trace0x
	: >none/xtrace0
	refuse 'no trace0 in none: not a relay directory, or no channel is open there' \
		relay-cat none
}

@test "relay-cat: does not open a link, a directory or a device in the place of a file" {
	mkdir -p d/trace0 l v
	ln -s ../secret l/trace0
	echo secret >secret
	refuse 'd/trace0 is neither a file nor a FIFO' relay-cat -1 d
	refuse 'l/trace0 is neither a file nor a FIFO' relay-cat -1 l
	need_root
	mknod v/trace0 c 1 5 || skip "needs mknod"
	refuse 'v/trace0 is neither a file nor a FIFO' relay-cat -1 v
}

# bats test_tags=quick
@test "relay-cat: -1: prints the present content of the files, in the order of their numbers" {
	mkdir files
	for n in 0 1 2 9 10 11; do printf '%s;' "$n" >files/trace$n; done
	echo no >files/dropped.not
	relay-cat -1 files >all
	exactly all '0;1;2;9;10;11;'
}

@test "relay-cat: -p: reads files with another prefix" {
	mkdir files
	printf one >files/trace0
	printf two >files/cpu0
	relay-cat -1 -p cpu files >all
	exactly all two
}

@test "relay-cat: prints new data as it is written, byte for byte" {
	channel
	streams
	printf 'first\n' >&8
	eventually got first
	printf 'second\n' >&9
	eventually got 'first
second'
	ends_by "$PID" TERM 0
	[ ! -s err ]
}

@test "relay-cat: each of four stop signals lets it write the rest and exit 0" {
	channel
	for signal in HUP INT TERM USR1; do
		streams -w 100000
		printf '%s.' $signal >&8
		printf '%s!\n' $signal >&9
		kill "-$signal" "$PID"
		finishes "$PID" 0
		# either order is right, because a look may come in between
		grep -q "$signal\." got
		grep -q "$signal!" got
		[ "$(wc -c <got)" = $((2 * ${#signal} + 3)) ]
	done
}

@test "relay-cat: drains a channel that was closed, and ends" {
	channel
	streams -w 100000
	printf 'all there was' >&8
	exec 8>&- 9>&-
	finishes "$PID" 0
	exactly got 'all there was'
}

@test "relay-cat: -o: writes one file per input, each in its own order" {
	channel
	mkdir out
	streams -o out
	for i in 1 2 3 4 5; do
		echo "zero $i" >&8
		echo "one $i" >&9
	done
	eventually test -s out/trace1
	ends_by "$PID" TERM 0
	file_is out/trace0 "$(printf 'zero %s\n' 1 2 3 4 5)"
	file_is out/trace1 "$(printf 'one %s\n' 1 2 3 4 5)"
	[ ! -s got ]
}

@test "relay-cat: -o: leaves an existing file unchanged, and leaves no other file" {
	channel
	mkdir out
	echo mine >out/trace1
	refuse 'unable to make out/trace1: File exists' relay-cat -o out channel
	[ "$(ls out)" = trace1 ]
	file_is out/trace1 mine
	refuse 'unable to open nowhere: No such file or directory' relay-cat -o nowhere channel
}

@test "relay-cat: reports on stderr how much the kernel dropped, unless the number is 0" {
	mkdir files
	printf bytes >files/trace0
	echo 0 >files/dropped
	run -0 --separate-stderr relay-cat -1 files
	[ -z "$stderr" ]
	echo 12 >files/dropped
	run -0 --separate-stderr relay-cat -1 files
	[ "$output" = bytes ]
	[ "$stderr" = 'relay-cat: lost 12 records; files/dropped counts them' ]
}

@test "relay-cat: passes on a megabyte of each file, one file after the other" {
	mkdir files
	so=$(so_many 20000)
	for n in 0 1 2; do
		awk -v n=$n -v m="$so" 'BEGIN { for (i = 0; i < m; i++) printf "%d %045d\n", n, i }' >files/trace$n
	done
	relay-cat -1 files >all
	cat files/trace0 files/trace1 files/trace2 | cmp - all
}

@test "relay-cat: waits between two looks at a plain file" {
	mkdir files
	printf x >files/trace0
	background relay-cat -w 100000 files >got 2>err
	eventually got x
	resting() { [ "$(sed 's/.*) \(.\).*/\1/' "/proc/$PID/stat")" = S ]; }
	eventually resting
	ends_by "$PID" TERM 0
	exactly got x
}

@test "relay-cat: a full disk or a reader that goes away ends it" {
	[ -c /dev/full ] || skip "needs /dev/full"
	mkdir files
	printf x >files/trace0
	fails 111 'relay-cat: fatal: unable to write the trace: No space left on device' \
		to_full relay-cat -1 files
	channel
	# shellcheck disable=SC2016 # the other shell's
	run -141 "$BASH" -c 'relay-cat channel | :; exit ${PIPESTATUS[0]}'
}

@test "relay-cat: a stop signal ends it with 99 after two seconds if its reader takes nothing" {
	mkdir channel
	head -c 3000000 /dev/zero >channel/trace0
	mkfifo stalled
	exec 7<>stalled
	background relay-cat channel >stalled 2>err 7>&-
	eventually blocks "$PID"
	ends_by "$PID" TERM 99
	[ ! -s err ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# dt-window: what a trace has of the requests that are followed, and nothing else

load helper

USAGE='dt-window [-g] [-i ID] [-t TID]...'

misuse() {
	fails 100 "dt-window: fatal: $1; usage: $USAGE" "${@:2}"
}

# event PID TIME TEXT: a line of the kernel's
event() {
	printf '%16s-%-7d [001] ..... %s: %s\n' "${COMM-server}" "$1" "$2" "$3"
}

# grouped PID TGID TIME TEXT: with the column of thread groups
grouped() {
	printf '%16s-%-7d (%7s) [001] ..... %s: %s\n' server "$1" "$2" "$3" "$4"
}

# mark PID TIME WORDS
mark() {
	event "$1" "$2" "bpf_trace_printk: $3"
}

# passes EXPECTED ARGUMENT...: of stdin; only the pid and what is behind the time
passes() {
	dt-window "${@:2}" | sed 's/^.\{16\}-\([0-9]*\) .*\] \.\{5\} [0-9.]*: /\1 /' |
		diff <(printf '%s\n' "$1") -
}

# quiet ARGUMENT...: nothing of stdin goes through, which the status tells
quiet() {
	local status=0
	dt-window "$@" >quiet.out 2>quiet.err || status=$?
	[ "$status" = 1 ]
	[ ! -s quiet.out ]
	[ ! -s quiet.err ]
}

@test "dt-window: --help prints the synopsis and the purpose" {
	run -0 --separate-stderr dt-window --help
	[ "$output" = "usage: $USAGE
dt-window - let through what a trace has of the requests that are followed" ]
	# shellcheck disable=SC2154 # set by run
	[ -z "$stderr" ]
}

@test "dt-window: --version prints name and version" {
	run -0 --separate-stderr dt-window --version
	[[ $output =~ ^dt-window\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	[ -z "$stderr" ]
}

@test "dt-window: what is no thread or probe, and operands are refused" {
	misuse 'no such option: -x' dt-window -x
	misuse "unexpected operand 'file'" dt-window file
	for tid in 0 -1 x '' 4194305 1.5; do
		misuse "not a thread: '$tid'" dt-window -t "$tid"
	done
	for id in x '' -1 2A 0x 11112222333344445; do
		misuse "not the ID of a probe: '$id'" dt-window -i "$id"
	done
}

@test "dt-window: a thread's lines from its dtB to its dtE go through, to the byte, and no others" {
	{ echo '# tracer: nop'
		event 7 1.000001 'sys_read(fd: 3)'
		mark 7 1.000002 'dtB 2a 7 9c401f90a1b2c3d4'
		event 7 1.000003 'sys_read -> 0x40'
		event 8 1.000004 'sys_read(fd: 3)'
		event 0 1.000005 'sched_switch: prev_comm=swapper'
		event 7 1.000006 'sched_process_exit: comm=server pid=7 prio=120'
		mark 7 1.000007 'dtE 2a 7 9c401f90a1b2c3d4'
		event 7 1.000008 'sys_read(fd: 3)'; } >in
	dt-window <in >out
	sed -n '1p; 3,4p; 7,8p' in | cmp - out
}

@test "dt-window: 1 when nothing goes through, though comments do" {
	quiet </dev/null
	event 7 1.000001 'sys_read(fd: 3)' | quiet
	mark 7 1.000001 'dtE 2a 7 1' | quiet
	mark 7 1.000001 'dtM 2a 7 1' | quiet
	mark 7 1.000001 'dtR 2a 7 1' | quiet
	mark 0 1.000001 'dtB 2a 0 1' | quiet
	status=0
	echo '# tracer: nop' | dt-window >out || status=$?
	[ "$status" = 1 ]
	exactly out '# tracer: nop
'
}

@test "dt-window: threads have windows of their own, whoever wrote the mark" {
	{ mark 7 1.1 'dtB 2a 7 1'; mark 8 1.2 'dtB 2a 8 2'; event 7 1.3 'a: 1'
		mark 0 1.4 'dtE 2a 7 1'; event 7 1.5 'a: 2'; event 8 1.6 'a: 3'
		event 0 1.7 'a: 4'; mark 8 1.8 'dtE 2a 8 2'; event 8 1.9 'a: 5'; } |
		passes '7 bpf_trace_printk: dtB 2a 7 1
8 bpf_trace_printk: dtB 2a 8 2
7 a: 1
0 bpf_trace_printk: dtE 2a 7 1
8 a: 3
8 bpf_trace_printk: dtE 2a 8 2'
}

@test "dt-window: of two beginnings the newer one's end counts, an older end is dropped" {
	{ mark 7 1.1 'dtB 2a 7 1'; mark 7 1.2 'dtB 2a 7 2'; mark 7 1.3 'dtE 2a 7 1'
		event 7 1.4 'a: 1'; mark 7 1.5 'dtE 2a 7 2'; event 7 1.6 'a: 2'
		mark 7 1.7 'dtE 2a 7 2'; } |
		passes '7 bpf_trace_printk: dtB 2a 7 1
7 bpf_trace_printk: dtB 2a 7 2
7 a: 1
7 bpf_trace_printk: dtE 2a 7 2'
}

@test "dt-window: dtR and dtM go through in a window of their probe" {
	{ mark 7 1.1 'dtM 2a 7 1'; mark 7 1.2 'dtB 2a 7 2'; mark 7 1.3 'dtR 2a 7 3'
		mark 7 1.4 'dtM 2a 7 4'; mark 7 1.5 'dtM 2b 7 5'; mark 7 1.6 'dtE 2a 7 2'
		mark 7 1.7 'dtR 2a 7 6'; } |
		passes '7 bpf_trace_printk: dtB 2a 7 2
7 bpf_trace_printk: dtR 2a 7 3
7 bpf_trace_printk: dtM 2a 7 4
7 bpf_trace_printk: dtE 2a 7 2'
}

@test "dt-window: without -i a thread is followed until the last of its windows ends" {
	{ mark 7 1.1 'dtB 2a 7 1'; mark 7 1.2 'dtB 3 7 1'; mark 7 1.3 'dtE 2a 7 1'
		event 7 1.4 'a: 1'; mark 7 1.5 'dtE 3 7 1'; event 7 1.6 'a: 2'; } >in
	passes '7 bpf_trace_printk: dtB 2a 7 1
7 bpf_trace_printk: dtB 3 7 1
7 bpf_trace_printk: dtE 2a 7 1
7 a: 1
7 bpf_trace_printk: dtE 3 7 1' <in
}

@test "dt-window: -i: only the marks of that probe count, and only they go through" {
	{ mark 7 1.1 'dtB 2a 7 1'; mark 7 1.2 'dtB 3 7 1'; mark 7 1.3 'dtE 2a 7 1'
		event 7 1.4 'a: 1'; mark 7 1.5 'dtE 3 7 1'; event 7 1.6 'a: 2'; } >in
	for id in 2a 0x2a; do
		passes '7 bpf_trace_printk: dtB 2a 7 1
7 bpf_trace_printk: dtE 2a 7 1' -i "$id" <in
	done
	passes '7 bpf_trace_printk: dtB 3 7 1
7 a: 1
7 bpf_trace_printk: dtE 3 7 1' -i 3 <in
	quiet -i 4 <in
}

@test "dt-window: -t: every line of these threads, with marks or without" {
	{ event 7 1.0 'a: 1'; event 9 1.1 'a: 2'; mark 7 1.2 'dtM 2a 7 1'; event 8 1.3 'a: 3'
		mark 8 1.4 'dtB 2a 8 1'; mark 8 1.5 'dtE 2a 8 1'; mark 7 1.6 'dtR 2a 7 2'
		mark 7 1.7 'dtB 2a 7 3'; mark 7 1.8 'dtE 2a 7 3'; event 7 1.9 'a: 4'; } >in
	passes '7 a: 1
9 a: 2
7 bpf_trace_printk: dtM 2a 7 1
8 bpf_trace_printk: dtB 2a 8 1
8 bpf_trace_printk: dtE 2a 8 1
7 bpf_trace_printk: dtR 2a 7 2
7 bpf_trace_printk: dtB 2a 7 3
7 bpf_trace_printk: dtE 2a 7 3
7 a: 4' -t 9 -t 7 <in
}

@test "dt-window: -g: marks and lines are of thread groups" {
	{ grouped 7 5 1.1 'a: 1'; grouped 7 5 1.2 'bpf_trace_printk: dtB 2a 5 1'
		grouped 8 5 1.3 'a: 2'; grouped 5 6 1.4 'a: 3'; grouped 9 ------- 1.5 'a: 4'
		grouped 8 5 1.6 'bpf_trace_printk: dtE 2a 5 1'; grouped 7 5 1.7 'a: 5'; } >in
	dt-window -g <in >out
	sed -n '2,3p; 6p' in | cmp - out
	dt-window -g -t 6 <in >out
	sed -n '2,4p; 6p' in | cmp - out
	# the column does no harm where it is not asked for
	dt-window -t 7 <in >out
	sed -n '1,2p; 4p; 6,7p' in | cmp - out
}

@test "dt-window: -g of a trace without the column of thread groups is refused" {
	mark 7 1.1 'dtB 2a 7 1' >in
	echo '{"ts":1.1,"cpu":0,"pid":7,"comm":"x","event":"y","fields":{}}' >json
	for file in in json; do
		fails 111 "dt-window: fatal: -g needs text with a column of thread groups: options/record-tgid" \
			from "$file" dt-window -g
	done
}

@test "dt-window: over lost events all windows are closed, which is told" {
	for lost in '# lost 3 events: 3 overwritten in a full buffer, 0 not written' \
		'CPU:1 [LOST 3 EVENTS]' '{"lost":3,"overwritten":3,"unwritten":0}'; do
		{ echo "$lost"; mark 7 1.1 'dtB 2a 7 1'; mark 8 1.2 'dtB 2a 8 2'
			mark 8 1.3 'dtB 3 8 2'; echo "$lost"; event 7 1.4 'a: 1'
			event 9 1.4 'a: 1'; mark 7 1.5 'dtE 2a 7 1'
			mark 8 1.6 'dtB 2a 8 3'; event 8 1.7 'a: 2'; } |
			passes "$lost
7 bpf_trace_printk: dtB 2a 7 1
8 bpf_trace_printk: dtB 2a 8 2
8 bpf_trace_printk: dtB 3 8 2
$lost
# closed 3 windows: what ended them may be lost
9 a: 1
8 bpf_trace_printk: dtB 2a 8 3
8 a: 2" -t 9
	done
}

@test "dt-window: names of tasks with blanks, brackets and dashes are no columns" {
	local COMM
	for COMM in 'a b' '] [0' '(1)' 'x-9  [000] ....' '-' 'dtB 2a 7 1' '# lost 1 event'; do
		{ mark 7 1.1 'dtB 2a 7 1'; event 7 1.2 'a: 1'; event 9 1.3 'a: 2'
			mark 7 1.4 'dtE 2a 7 1'; } >in
		dt-window <in >out
		sed 3d in | cmp - out
	done
}

@test "dt-window: stacks and other lines that are no event go the way of the event before them" {
	{ echo ' => before'
		event 7 1.1 'a: 1'; event 7 1.1 '<stack trace>'; echo ' => f1'
		mark 7 1.2 'dtB 2a 7 1'; event 7 1.2 '<stack trace>'; echo ' => f2'; echo
		event 8 1.3 'a: 2'; event 8 1.3 '<stack trace>'; echo ' => f3'
		event 7 1.4 'a: name="x'; echo 'y"'; event 7 1.4 '<user stack trace>'; echo ' => f4'
		echo '# comment'; echo ' => f5'
		mark 7 1.5 'dtE 2a 7 1'; event 8 1.5 'a: 3'; event 7 1.5 '<stack trace>'; echo ' => f6'
		event 7 1.6 'a: 4'; event 7 1.6 '<stack trace>'; echo ' => f7'; } >in
	dt-window <in >out
	sed -n '5,8p; 12,18p; 20,21p' in | cmp - out
}

@test "dt-window: what only looks like a mark is an event as others are" {
	event 7 1.0 'sys_write(fd: 1, buf: "dtB 2a 7 1")' | quiet
	event 7 1.0 'print: 0x1: dtB 2a 7 1' | quiet
	for text in '' dtB 'dtB ' 'dtB 2a' 'dtB 2a 7' 'dtB 2a 7 ' 'dtB 2A 7 1' 'dtB 2a 7 1 x' \
		'dtB 2a 7a 1' 'dtB 0x2a 7 1' 'dtX 2a 7 1' 'dtBx 2a 7 1' 'dtB  2a 7 1' \
		'dtB 2a 4294967303 1' 'dtB 2a 7 12345678901234567' 'dtB -1 7 1'; do
		mark 7 1.0 "$text" | quiet
		{ mark 7 1.1 'dtB 2a 7 1'; mark 7 1.2 "${text/B/E}"; event 7 1.3 'a: 1'; } |
			tail -n +2 | quiet
	done
}

@test "dt-window: lines of JSON" {
	json() {
		printf '{"ts":%s,"cpu":0,"pid":%s,"comm":"x","system":"s","event":"%s","fields":{%s}}\n' "$@"
	}
	{ json 1.1 7 a '"x":1'; json 1.2 7 bpf_trace_printk '"bpf_string":"dtB 2a 7 1"'
		json 1.3 7 a '"x":2'; json 1.4 8 a '"x":2'
		json 1.5 7 bpf_trace_printk '"bpf_string":"dtE 2a 7 1"'; json 1.6 7 a '"x":3'
		json 1.7 7 bpf_trace_printk '"bpf_string":"dtB 2a 7 1"'
		echo '{"lost":3,"overwritten":3,"unwritten":0}'; } >in
	dt-window <in >out
	{ sed -n '2,3p; 5p; 7,8p' in; echo '{"closed":1}'; } | cmp - out
}

@test "dt-window: a NUL in a line is a question mark, and lines of any bytes are borne" {
	{ mark 7 1.1 'dtB 2a 7 1'; event 7 1.2 'a: x@y'; } | tr @ '\0' >in
	dt-window <in >out
	tr '\0' '?' <in | cmp - out
	head -c 300000 /dev/urandom | tr '#C{' '...' | quiet
}

@test "dt-window: more windows than 65536 are left out, which is told once" {
	awk 'BEGIN { for (i = 1; i <= 65540; i++) {
		printf "%16s-%-7d [001] ..... 1.1: bpf_trace_printk: dtB 2a %d 1\n", "x", i, i }
		printf "%16s-%-7d [001] ..... 1.2: a: 1\n", "x", 65540
		printf "%16s-%-7d [001] ..... 1.2: a: 2\n", "x", 65536
		printf "%16s-%-7d [001] ..... 1.3: bpf_trace_printk: dtE 2a 1 1\n", "x", 1
		printf "%16s-%-7d [001] ..... 1.4: bpf_trace_printk: dtB 2a 65540 1\n", "x", 65540
		printf "%16s-%-7d [001] ..... 1.5: a: 3\n", "x", 65540 }' >in
	dt-window <in >out
	{ sed -n '1,65536p' in
		echo '# more than 65536 windows are open: the others are left out'
		sed -n '65542,$p' in; } | cmp - out
}

@test "dt-window: of a pipe that stays open the lines come at once" {
	mkfifo pipe
	exec 8<>pipe
	background dt-window <pipe >out 8>&-
	exec 9>pipe 8>&-
	mark 7 1.1 'dtB 2a 7 1' >&9
	eventually grep -q dtB out
	event 7 1.2 'a: 1' >&9
	eventually grep -q 'a: 1' out
	exec 9>&-
	finishes "$PID" 0
}

@test "dt-window: a full disk is told, and the status too" {
	mark 7 1.1 'dtB 2a 7 1' >in
	fails 111 "dt-window: fatal: unable to write to standard output: No space left on device" \
		from in to_full dt-window
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2154 # run sets stderr
# tfs-latency: pairs ends with beginnings, to the nanosecond and to the last event
# parts: 8

load ../helper

USAGE='tfs-latency [-abdH] [-c [NAME=]KEY]... [-m US] [-p PID,...] [-u] [-x] -s EVENT[:KEY,...] -e EVENT[:KEY,...] | -f SUFFIX | PAIR [FILE]'

misuse() {
	fails 100 "tfs-latency: fatal: $1; usage: $USAGE" "${@:2}"
}

# event PID TIME TEXT: Print an event line as the kernel does.
event() {
	printf '%16s-%-7d [001] ..... %s: %s\n' task "$1" "$2" "$3"
}

# prints EXPECTED ARGUMENT...: Compare the output for stdin, without the columns before the event.
prints() {
	tfs-latency "${@:2}" | sed 's/^ *task-\([0-9]*\) .*\] \.\{5\} [0-9.]*: /\1 /' |
		diff <(printf '%s\n' "$1") -
}

calls_text() {
	event 7 1.000010 'sys_openat(dfd: 0xffffff9c, filename: 0x7f00, flags: 0x80000, mode: 0)'
	event 8 1.000011 'sys_read(fd: 3, buf: 0x7f00, count: 10)'
	event 7 1.000015 'sys_openat -> 0x3'
	event 7 1.000020 'sys_close(fd: 3)'
	event 7 1.000021 'sys_close -> 0x0'
	event 8 2.000012 'sys_read -> 0xfffffffffffffffc'
}

json() {
	cat <<-'EOF'
		{"ts":1.000000001,"cpu":0,"pid":5,"comm":"a\"b","system":"syscalls","event":"sys_enter_openat","fields":{"__syscall_nr":257,"filename":"/etc/\"x\"","comm":null}}
		{"ts":1.000012346,"cpu":1,"pid":5,"comm":"a\"b","system":"syscalls","event":"sys_exit_openat","fields":{"__syscall_nr":257,"ret":-2}}
	EOF
}

@test "tfs-latency: -H prints the unit of lat before the first line" {
	calls_text | tfs-latency syscalls >want
	calls_text | tfs-latency -H syscalls >got
	lines_are <(head -n 1 got) '# lat: microseconds from the beginning to the end'
	tail -n +2 got | cmp - want
	# the numbers of a clock without a point are not microseconds
	{
		event 7 100 'sys_close(fd: 3)'
		event 7 150 'sys_close -> 0x0'
	} | tfs-latency -H syscalls >got
	lines_are <(head -n 1 got) '# lat: units of the trace clock from the beginning to the end'
	calls_text | run -1 --separate-stderr tfs-latency -H -s a -e b
	misuse '-d cannot be combined with other options, except -s and -e' tfs-latency -H -d -s a -e b
}

@test "tfs-latency: prints the unit of lat on a terminal, and not into a pipe or a file" {
	need_tool script
	calls_text >trace
	script -qec 'tfs-latency syscalls <trace' /dev/null </dev/null | tr -d '\r' >terminal
	tfs-latency -H syscalls <trace | cmp terminal -
	tfs-latency syscalls <trace >file
	tfs-latency syscalls <trace | cmp file -
	[ "$(grep -c '^#' file)" = 0 ]
	script -qec 'tfs-latency -d -s "sys_enter*" -e "sys_exit*" <trace' /dev/null </dev/null |
		tr -d '\r' >terminal
	tfs-latency -d -s "sys_enter*" -e "sys_exit*" <trace | cmp terminal -
}

@test "tfs-latency: does not pair events that lack the key" {
	{ event 7 1.000000 'sched_wakeup: comm='; event 7 7.000000 'sched_switch: prev_comm='; } >in
	status=0
	tfs-latency wakeup <in >out || status=$?
	[ "$status" = 1 ]
	lines_are out "# unpaired 2 events: 1 without an end, 1 without a beginning"
}

@test "tfs-latency: -m accepts any number, and no event is slower than the largest" {
	calls_text >in
	for n in 2147483648 $(((1 << 32) - 1)); do
		status=0
		tfs-latency -m "$n" syscalls <in >out || status=$?
		[ "$status" = 1 ]
		run -1 grep lat= out
	done
}

@test "tfs-latency: -c carries an empty string, which is empty in JSON too" {
	printf '%s\n' '{"ts":1.0,"cpu":0,"pid":1,"comm":"x","system":"s","event":"x","fields":{"k":""}}' \
		'{"ts":1.1,"cpu":0,"pid":1,"comm":"x","system":"s","event":"y","fields":{"v":1}}' >in
	tfs-latency -c k -s x -e y <in >out
	grep -q '"k":"","lat":' out
}

# bats test_tags=quick
@test "tfs-latency: syscalls: prints each return with the duration of its call" {
	calls_text | prints '7 sys_openat -> 0x3 lat=5
7 sys_close -> 0x0 lat=1
8 sys_read -> 0xfffffffffffffffc lat=1000001' syscalls
	calls_text | tfs-latency syscalls | head -n 1 |
		diff - <(event 7 1.000015 'sys_openat -> 0x3 lat=5')
}

@test "tfs-latency: syscalls: pairs calls by number, as raw_syscalls prints them" {
	{ event 7 1.000010 'sys_enter: NR 39 (0, 0, 0, 0, 0, 0)'; event 7 1.000013 'sys_exit: NR 39 = 1'; } |
		prints '7 sys_exit: NR 39 = 1 lat=3' syscalls
}

@test "tfs-latency: block: pairs requests by device and sector" {
	{ event 7 1.000010 'block_rq_issue: 254,0 WS 4096 () 2048 + 8 none,0,0 [sh]'
		event 7 1.000011 'block_rq_issue: 254,16 R 4096 () 2048 + 8 none,0,0 [sh]'
		event 7 1.000012 'block_rq_issue: 254,0 WS 4096 () 2056 + 8 [sh]'
		event 0 1.000020 'block_rq_complete: 254,0 WS () 2056 + 8 [0]'
		event 0 1.000030 'block_rq_complete: 254,0 WS () 2048 + 8 none,0,0 [0]'
		event 0 1.000041 'block_rq_complete: 254,16 R () 2048 + 8 none,0,0 [0]'; } >trace
	prints '0 block_rq_complete: 254,0 WS () 2056 + 8 [0] lat=8
0 block_rq_complete: 254,0 WS () 2048 + 8 none,0,0 [0] lat=20
0 block_rq_complete: 254,16 R () 2048 + 8 none,0,0 [0] lat=30' block <trace
	tfs-latency block <trace | tfs-count -k dev -k rwbs -k nr_sector |
		diff - <(printf '      %s\n' $'2 254,0\tWS\t8' $'1 254,16\tR\t8')
}

@test "tfs-latency: wakeup: measures from the wake-up to the switch to the task" {
	{ event 7 1.000010 'sched_wakeup: comm=a b pid=12 prio=120 target_cpu=000'
		event 7 1.000011 'sched_wakeup_new: comm=c pid=13 prio=120 target_cpu=000'
		event 7 1.000012 'sched_switch: prev_comm=task prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=c next_pid=13 next_prio=120'
		event 13 1.000020 'sched_switch: prev_comm=c prev_pid=13 prev_prio=120 prev_state=S ==> next_comm=a b next_pid=12 next_prio=120'; } |
		tfs-latency wakeup | tfs-count -k next_comm -k next_pid -k lat |
		diff - <(printf '      %s\n' $'1 a b\t12\t10' $'1 c\t13\t1')
}

# switched TIME PREV STATE NEXT: Print a switch.
switched() {
	event "$2" "$1" "sched_switch: prev_comm=task prev_pid=$2 prev_prio=120 prev_state=$3 ==> next_comm=task next_pid=$4 next_prio=120"
}

# woken TIME PID: Print a wake-up by the idle task.
woken() {
	event 0 "$1" "sched_wakeup: comm=task pid=$2 prio=120 target_cpu=001"
}

# waits ARGUMENT...: Print PID and LAT of each wait in stdin, and the last comment lines.
waits() {
	tfs-latency "$@" wakeup | sed 's/^[^#].* next_pid=\([0-9]*\) .* lat=/\1 /'
}

@test "tfs-latency: wakeup: a preempted task waits from the switch on" {
	{
		switched 1.000001 0 R 7
		switched 1.000010 7 R 8
		switched 1.000030 8 R+ 7
		switched 1.000070 7 S 8
		woken 1.000075 7
		switched 1.000080 8 R 7
		switched 1.000090 7 S 8
	} >in
	waits <in >got || :
	lines_are got '7 20
8 40
7 5
8 10
# unpaired 2 events: 0 without an end, 2 without a beginning'
	# in JSON, R is 0 and R+ is the bit above all letters
	local i=0 now state
	for state in '0 7 0 8' '5 8 256 7' '15 7 1 8' '20 8 128 7'; do
		read -r now prev state next <<<"$state"
		printf '{"ts":1.%09d,"cpu":1,"pid":%d,"comm":"x","system":"s","event":"sched_switch","fields":{"prev_pid":%d,"prev_state":%d,"next_pid":%d}}\n' \
			"$now" "$prev" "$prev" "$state" "$next"
	done >in
	waits <in | grep -o '"next_pid.*\|^{"unp.*' >got
	lines_are got '"next_pid":7,"lat":0.005}}
"next_pid":8,"lat":0.010}}
{"unpaired":2,"without_end":0,"without_beginning":2,"events_missing":1}'
}

@test "tfs-latency: wakeup: a task that is woken while it runs has not waited when it runs again" {
	{
		woken 1.000001 7
		switched 1.000005 0 R 7
		# 7 runs and is woken; then it is preempted and waits from there
		woken 1.000010 7
		switched 1.000100 7 R 8
		switched 1.000103 8 S 7
		# 7 runs and is woken; then it sleeps
		woken 1.000110 7
		switched 1.000200 7 S 0
		woken 1.000300 7
		switched 1.000301 0 R 7
		# no event has shown 9 before, so it has run all the time
		woken 1.000400 9
		switched 1.000500 9 S 0
		woken 1.000600 9
		switched 1.000602 0 R 9
	} >in
	waits <in >got
	lines_are got '7 4
7 3
7 1
9 2
# unpaired 1 events: 0 without an end, 1 without a beginning'
}

@test "tfs-latency: wakeup: a task that is woken while it waits has waited since the beginning" {
	{
		switched 1.000010 7 R+ 8
		woken 1.000020 7
		switched 1.000050 8 S 7
		switched 1.000060 7 S 0
		woken 1.000070 7
		woken 1.000080 7
		switched 1.000090 0 R 7
	} >in
	waits <in >got
	lines_are got '7 40
7 20
# unpaired 1 events: 0 without an end, 1 without a beginning'
}

@test "tfs-latency: wakeup: reports incomplete waits, but not idle CPUs" {
	# a complete trace gets no comment line
	{
		switched 1.000001 7 S 0
		woken 1.000002 7
		switched 1.000003 0 R 7
		switched 1.000004 7 D 0
		woken 1.000006 7
		switched 1.000009 0 R 7
		switched 1.000010 7 Z 0
	} >in
	waits <in >got
	lines_are got '7 1
7 3'
	# it slept and no event woke it: it did not wait for a CPU
	{ cat in; switched 1.1 8 S 0; switched 1.2 0 R 8; } | waits >got
	[ "$(tail -n 1 got)" = '# unpaired 1 events: 0 without an end, 1 without a beginning; 1 because events are missing' ]
	# 8 leaves a CPU that it never got; it still waits when the trace ends
	{ cat in; switched 1.1 8 R 0; switched 1.2 8 R 0; } | waits >got
	[ "$(tail -n 1 got)" = '# unpaired 2 events: 2 without an end, 0 without a beginning; 1 because events are missing' ]
	# after lost events the states of tasks are unknown
	{
		switched 1.000001 7 R 8
		woken 1.000002 9
		echo 'CPU:1 [LOST 3 EVENTS]'
		switched 1.000003 8 S 7
		switched 1.000004 7 R 9
		switched 1.000006 9 S 7
	} | waits | grep -v LOST >got
	lines_are got '7 2
# unpaired 5 events: 2 without an end, 3 without a beginning; 4 because events are missing'
}

@test "tfs-latency: wakeup: tells waits at the edges of a trace from those whose events are missing" {
	# 7 waited before the trace began, and 8 still waits when it ends: nothing is missing
	{ switched 1.000001 0 R 7; woken 1.000002 8; } >in
	waits <in >got || :
	lines_are got '# unpaired 2 events: 1 without an end, 1 without a beginning'
	# the kernel records no switch from 74: 8 got the CPU from 74, and 74 left it for 8
	{
		switched 1.000001 7 R 74
		switched 1.000002 8 S 74
		woken 1.000003 8
		switched 1.000004 8 S 74
	} >in
	waits <in >got || :
	lines_are got '# unpaired 5 events: 2 without an end, 3 without a beginning; 3 because events are missing'
	waits -u <in >got || :
	lines_are got '# unpaired 3 events: 0 without an end, 3 without a beginning; 2 because events are missing'
	local i=0 line
	for line in '7 0 8' '8 1 7' '0 0 7' '0 0 8'; do
		read -r prev state next <<<"$line"
		printf '{"ts":1.%09d,"cpu":1,"pid":%d,"comm":"x","system":"s","event":"sched_switch","fields":{"prev_pid":%d,"prev_state":%d,"next_pid":%d}}\n' \
			$((++i)) "$prev" "$prev" "$state" "$next"
	done >in
	[ "$(waits <in | tail -n 1)" = '{"unpaired":3,"without_end":0,"without_beginning":3,"events_missing":2}' ]
}

@test "tfs-latency: wakeup: -p: does not follow a reused pid, but follows the exec of a thread" {
	{
		switched 1.000001 12 R 90
		switched 1.000003 90 S 12
		# 13 is forked and ends, and an unrelated task gets its number
		event 12 1.000004 'sched_process_fork: comm=a pid=12 child_comm=a child_pid=13'
		event 12 1.000005 'sched_wakeup_new: comm=a pid=13 prio=120 target_cpu=000'
		switched 1.000006 12 R 13
		switched 1.000007 13 X 12
		event 12 1.000010 'sched_wakeup: comm=a pid=13 prio=120 target_cpu=000'
		switched 1.000020 12 R 13
		switched 1.000023 13 S 12
		# 14 is a thread of 12, which ends: the exec of 14 makes it the new 12
		event 12 1.000030 'sched_process_fork: comm=a pid=12 child_comm=a child_pid=14'
		event 12 1.000031 'sched_wakeup_new: comm=a pid=14 prio=120 target_cpu=000'
		switched 1.000036 12 Z 14
		event 12 1.000037 'sched_process_exec: filename=/bin/x pid=12 old_pid=14'
		switched 1.000040 12 R 91
		switched 1.000049 91 S 12
	} >in
	waits -p 12 <in >got
	lines_are got '12 2
13 1
12 1
12 3
14 5
12 9'
}

@test "tfs-latency: wakeup: -x: leaves out the session that the filter belongs to" {
	local child parent=$BASHPID before pid
	before=$(awk '{ print $4 }' "/proc/$parent/stat")
	mkfifo in quiet
	# the shell's child becomes the tool's child, because the tool replaces the shell
	# shellcheck disable=SC2016 # the shell's
	background "$BASH" -c '
		read -r _ <>quiet 2>/dev/null 3>&- &
		echo $! >child
		exec tfs-latency -x wakeup <in' >got
	eventually test -s child
	child=$(cat child)
	for pid in "$PID" "$child" "$parent" "$before" 4194301; do
		switched 1.000001 "$pid" R 4194302
		switched 1.000003 4194302 S "$pid"
	done >in
	finishes "$PID" 0
	kill "$child"
	sed -i 's/^[^#].* next_pid=\([0-9]*\) .* lat=/\1 /' got
	lines_are got '4194301 2
# unpaired 5 events: 0 without an end, 5 without a beginning; 4 because events are missing'
	misuse '-x needs the pair wakeup' tfs-latency -x block
	misuse '-x needs the pair wakeup' tfs-latency -x -s a -e b
}

# issued TIME REQUEST, completed TIME REQUEST: Print an event of a disk's request.
issued() {
	event 7 "$1" "block_rq_issue: 254,0 ${2%%|*} 0 () ${2#*|} none,0,0 [sh]"
}

completed() {
	event 0 "$1" "block_rq_complete: 254,0 ${2%%|*} () ${2#*|} none,0,0 [0]"
}

requeued() {
	event 7 "$1" "block_rq_requeue: 254,0 ${2%%|*} () ${2#*|} none,0,0 [0]"
}

# requests: Print KIND SECTOR + LENGTH LAT of each request in stdin, and the last comment lines.
requests() {
	tfs-latency block | sed 's/.* 254,0 \([A-Z]*\) ([^)]*) \([0-9]* + [0-9]*\) .* lat=/\1 \2 /'
}

@test "tfs-latency: block: pairs a flush, which has sector 0 at first and then -1" {
	{
		issued 1.000000 'FF|0 + 0'
		completed 1.001000 'FF|18446744073709551615 + 0'
		# a write to sector 0 in flight
		issued 2.000000 'WS|0 + 8'
		issued 2.009000 'FF|0 + 0'
		completed 2.010000 'WS|0 + 8'
		completed 2.012000 'FF|18446744073709551615 + 0'
	} >in
	requests <in >got
	lines_are got 'FF 18446744073709551615 + 0 1000
WS 0 + 8 10000
FF 18446744073709551615 + 0 3000'
	# some kernels print the sector signed, and JSON has it as a number
	{ issued 1.000000 'FF|0 + 0'; completed 1.000007 'FF|-1 + 0'; } | tfs-latency block >got
	grep -q ' FF () -1 + 0 .* lat=7$' got
	printf '%s\n' '{"ts":1.000000000,"cpu":0,"pid":1,"comm":"x","system":"s","event":"block_rq_issue","fields":{"dev":266338304,"sector":0,"nr_sector":0,"rwbs":"FF"}}' \
		'{"ts":1.000005000,"cpu":0,"pid":1,"comm":"x","system":"s","event":"block_rq_complete","fields":{"dev":266338304,"sector":18446744073709551615,"nr_sector":0,"rwbs":"FF"}}' |
		tfs-latency block | grep -o '"lat".*' >got
	lines_are got '"lat":5.000}}'
}

@test "tfs-latency: block: the end of an fsync without a request to the device ends no flush" {
	{
		issued 1.000000 'FF|0 + 0'
		completed 1.000050 'WS|0 + 0'
		completed 1.000054 'FF|18446744073709551615 + 0'
		completed 1.000055 'FWS|0 + 0'
	} | requests >got
	lines_are got 'FF 18446744073709551615 + 0 54'
	# but the end of a flush that began before the trace is an end without a beginning
	completed 1.0 'FF|18446744073709551615 + 0' | tfs-latency block >got || [ $? = 1 ]
	lines_are got '# unpaired 1 events: 0 without an end, 1 without a beginning'
}

@test "tfs-latency: block: kind and length distinguish requests to the same sector" {
	{
		issued 1.000000 'R|64 + 8'
		issued 1.000001 'WS|64 + 8'
		issued 1.000003 'R|64 + 16'
		completed 1.000010 'R|64 + 16'
		completed 1.000020 'WS|64 + 8'
		completed 1.000030 'R|64 + 8'
		completed 1.000040 'R|64 + 8'
	} | requests >got
	lines_are got 'R 64 + 16 7
WS 64 + 8 19
R 64 + 8 30
# unpaired 1 events: 0 without an end, 1 without a beginning'
}

@test "tfs-latency: block: of equal requests the oldest ends first" {
	{
		for i in 1 2 3; do issued 1.00000$i 'R|64 + 8'; done
		for i in 1 2; do completed 1.0000${i}0 'R|64 + 8'; done
	} | requests >got
	lines_are got 'R 64 + 8 9
R 64 + 8 18
# unpaired 1 events: 1 without an end, 0 without a beginning'
}

@test "tfs-latency: block: prints a line for each part of a request that ends in parts" {
	{
		issued 1.000000 'W|64 + 24'
		completed 1.000010 'W|64 + 8'
		completed 1.000020 'W|72 + 8'
		completed 1.000030 'W|80 + 8'
		# a command has no length when it is issued
		issued 2.000000 'N|0 + 0'
		completed 2.000004 'N|18446744073709551615 + 8'
	} | requests >got
	lines_are got 'W 64 + 8 10
W 72 + 8 20
W 80 + 8 30
N 18446744073709551615 + 8 4'
}

@test "tfs-latency: block: a request that the device did not take begins when it is issued again" {
	{
		issued 1.000000 'W|64 + 8'
		requeued 1.000002 'W|64 + 8'
		issued 1.000010 'W|64 + 8'
		completed 1.000015 'W|64 + 8'
		requeued 1.000016 'W|64 + 8'
		# the parts that were done are not issued again
		issued 1.000020 'W|64 + 24'
		completed 1.000030 'W|64 + 8'
		requeued 1.000031 'W|72 + 16'
		issued 1.000040 'W|72 + 16'
		completed 1.000050 'W|72 + 16'
	} | requests >got
	lines_are got 'W 64 + 8 5
W 64 + 8 10
W 72 + 16 10'
}

@test "tfs-latency: block: -p: an equal request of an unrelated task waits for its own end" {
	for order in '10 20' '20 10'; do
		read -r one other <<<"$order"
		event "$one" 1.000001 'block_rq_issue: 8,0 WS 4096 () 100 + 8 be,0,4 [a]'
		event "$other" 1.000002 'block_rq_issue: 8,0 WS 4096 () 100 + 8 be,0,4 [b]'
		event 0 1.000005 'block_rq_complete: 8,0 WS () 100 + 8 be,0,4 [0]'
		event 0 1.000008 'block_rq_complete: 8,0 WS () 100 + 8 be,0,4 [0]'
	done | prints '0 block_rq_complete: 8,0 WS () 100 + 8 be,0,4 [0] by_pid=10 lat=4
0 block_rq_complete: 8,0 WS () 100 + 8 be,0,4 [0] by_pid=10 lat=6' -p 10 -c by_pid=pid block
}

# queued PID BIO: Print the queueing of a bio by that task, on the disk of issued.
queued() {
	event "$1" 0.5 "block_bio_queue: 254,0 ${2%%|*} ${2#*|} [sh]"
}

# whose [OPTION]...: Print KIND SECTOR + LENGTH PID of each request in stdin, PID as -c prints it.
whose() {
	tfs-latency "$@" -c by_pid=pid block |
		sed 's/.* 254,0 \([A-Z]*\) ([^)]*) \([0-9-]* + [0-9]*\) .* by_pid=\([0-9]*\) .*/\1 \2 \3/'
}

@test "tfs-latency: block: a request belongs to the task that queued its bio, whichever task issues it" {
	{
		queued 10 'WS|64 + 8'
		queued 20 'R|64 + 8' # another kind of bio
		issued 1.000001 'WS|64 + 8'
		issued 1.000002 'R|64 + 8'
		issued 1.000003 'R|900 + 8' # the trace has no bio of this request
		completed 1.000004 'R|64 + 8'
		completed 1.000005 'R|900 + 8'
		completed 1.000006 'WS|64 + 8'
	} >in
	whose <in >got
	lines_are got 'R 64 + 8 20
R 900 + 8 7
WS 64 + 8 10'
	whose -p 10 <in >got
	lines_are got 'WS 64 + 8 10'
	whose -p 7 <in >got
	lines_are got 'R 900 + 8 7'
	# the time is that of the issue; only comm and pid come from the queued bio
	prints '0 block_rq_complete: 254,0 WS () 64 + 8 none,0,0 [0] by=task by_pid=10 t=1.000001 lat=5' \
		-p 10 -c by=comm -c by_pid=pid -c t=time block <in
}

# bio_completed TIME BIO: Print the end of a bio, on the disk of issued.
bio_completed() {
	event 0 "$1" "block_bio_complete: 254,0 ${2%%|*} ${2#*|} [0]"
}

@test "tfs-latency: block: a bio that no request takes lasts until it is complete" {
	{
		queued 10 'WS|64 + 8' # at 0.5
		queued 11 'WS|64 + 8'
		queued 11 'R|900 + 16'
		bio_completed 0.500003 'WS|64 + 8'
		bio_completed 0.500004 'WS|64 + 8'
		# the kernel has moved its beginning
		bio_completed 0.500010 'R|916 + 0'
		# a flush before data, and a flush alone
		queued 10 'FWS|200 + 8'
		queued 11 'FWS|0 + 0'
		bio_completed 0.500020 'WS|200 + 8'
		bio_completed 0.500030 'FWS|0 + 0'
		# without an end, and without a beginning
		queued 11 'WS|5000 + 8'
		bio_completed 0.6 'WS|7000 + 8'
	} >in
	prints '0 block_bio_complete: 254,0 WS 64 + 8 [0] by=sh by_pid=10 lat=3
0 block_bio_complete: 254,0 WS 64 + 8 [0] by=sh by_pid=11 lat=4
0 block_bio_complete: 254,0 R 916 + 0 [0] by=sh by_pid=11 lat=10
0 block_bio_complete: 254,0 WS 200 + 8 [0] by=sh by_pid=10 lat=20
0 block_bio_complete: 254,0 FWS 0 + 0 [0] by=sh by_pid=11 lat=30
# unpaired 2 events: 1 without an end, 1 without a beginning' -c by=.comm -c by_pid=pid block <in
	prints '0 block_bio_complete: 254,0 WS 64 + 8 [0] by_pid=10 lat=3
0 block_bio_complete: 254,0 WS 200 + 8 [0] by_pid=10 lat=20' -p 10 -c by_pid=pid block <in
	# where requests take the bios, only requests are printed
	{
		queued 10 'WS|64 + 8'
		queued 10 'FWS|0 + 0'
		issued 1.000001 'WS|64 + 8'
		completed 1.000005 'WS|64 + 8'
		bio_completed 1.000006 'WS|72 + 0'
		issued 1.000010 'FF|0 + 0'
		completed 1.000015 'FF|0 + 0'
		bio_completed 1.000016 'FWS|0 + 0'
	} >in
	prints '0 block_rq_complete: 254,0 WS () 64 + 8 none,0,0 [0] lat=4
0 block_rq_complete: 254,0 FF () 0 + 0 none,0,0 [0] lat=5' block <in
}

@test "tfs-latency: block: -c .comm is the name that the event has, not the column, which may be old" {
	{
		event 10 0.5 'block_bio_queue: 254,0 WS 64 + 8 [a [1] b]' # its column has "task"
		issued 1.000001 'WS|64 + 8'
		issued 1.000002 'WS|900 + 8' # the trace has no bio of this request
		completed 1.000004 'WS|64 + 8'
		completed 1.000006 'WS|900 + 8'
	} >in
	prints '0 block_rq_complete: 254,0 WS () 64 + 8 none,0,0 [0] by="a [1] b" by_pid=10 lat=3
0 block_rq_complete: 254,0 WS () 900 + 8 none,0,0 [0] by=sh by_pid=7 lat=4' \
		-c by=.comm -c by_pid=pid block <in
	event 10 0.5 'block_bio_queue: 254,0 FWS 0 + 0 [fsync]' >in
	issued 1.000001 'FF|0 + 0' >>in
	completed 1.000004 'FF|0 + 0' >>in
	prints '0 block_rq_complete: 254,0 FF () 0 + 0 none,0,0 [0] by=fsync lat=3' -c by=.comm block <in
	# the brackets of these events have an error
	event 7 1.5 'block_rq_requeue: 254,0 WS () 64 + 8 none,0,0 [0]' >in
	event 7 1.6 'block_rq_complete: 254,0 WS () 64 + 8 none,0,0 [0]' >>in
	prints '7 block_rq_complete: 254,0 WS () 64 + 8 none,0,0 [0] by=- lat=100000' \
		-c by=.comm -s block_rq_requeue -e block_rq_complete <in
}

@test "tfs-latency: block: a request of several bios is printed for each task that queued one of them" {
	{
		queued 10 'W|64 + 8'
		queued 20 'W|72 + 8'
		queued 30 'W|80 + 16'
		issued 1.000001 'W|64 + 32'
		completed 1.000006 'W|64 + 32'
		# none of the bios is left
		issued 1.000011 'W|72 + 8'
		completed 1.000016 'W|72 + 8'
	} >in
	whose <in >got
	lines_are got 'W 64 + 32 10
W 72 + 8 7'
	for pid in 10 20 30; do
		whose -p $pid <in >got
		lines_are got "W 64 + 32 $pid"
	done
}

@test "tfs-latency: block: all requests of a bio that was split belong to its task, in any order" {
	{
		queued 20 'R|0 + 8'
		queued 10 'R|8 + 4096'
		queued 20 'R|4104 + 8'
		# a second bio with the first sectors
		queued 30 'R|8 + 8'
		issued 1.000001 'R|1032 + 1024'
		issued 1.000002 'R|8 + 1024'
		issued 1.000003 'R|4104 + 8'
		issued 1.000004 'R|3080 + 1024'
		issued 1.000005 'R|2056 + 1024'
		issued 1.000006 'R|8 + 8'
		issued 1.000007 'R|0 + 8'
		for what in 1032+1024 8+1024 4104+8 3080+1024 2056+1024 8+8 0+8; do
			completed 1.000010 "R|${what%+*} + ${what#*+}"
		done
	} | whose >got
	lines_are got 'R 1032 + 1024 10
R 8 + 1024 10
R 4104 + 8 20
R 3080 + 1024 10
R 2056 + 1024 10
R 8 + 8 30
R 0 + 8 20'
}

@test "tfs-latency: block: of equal bios the oldest is issued first" {
	{
		for pid in 10 20 30; do queued $pid 'R|64 + 8'; done
		for i in 1 2 3; do
			issued 1.00000$i 'R|64 + 8'
			completed 1.0000${i}0 'R|64 + 8'
		done
	} >in
	whose <in >got
	lines_are got 'R 64 + 8 10
R 64 + 8 20
R 64 + 8 30'
	tfs-latency -p 20 block <in | grep -o 'lat=.*' >got
	lines_are got 'lat=18'
}

@test "tfs-latency: block: a request that is issued again keeps its task" {
	{
		queued 10 'W|64 + 24'
		issued 1.000001 'W|64 + 24'
		requeued 1.000002 'W|64 + 24'
		issued 1.000003 'W|64 + 24'
		completed 1.000004 'W|64 + 8'
		requeued 1.000005 'W|72 + 16'
		issued 1.000006 'W|72 + 16'
		completed 1.000008 'W|72 + 16'
	} | whose -p 10 >got
	lines_are got 'W 64 + 8 10
W 72 + 16 10'
}

@test "tfs-latency: block: a flush belongs to the task that waits for the flush" {
	{
		queued 10 'FWS|0 + 0'
		issued 1.000001 'FF|0 + 0'
		completed 1.000003 'FF|18446744073709551615 + 0'
		completed 1.000003 'WS|0 + 0'
		# the trace does not show the task of this flush
		issued 1.000004 'FF|0 + 0'
		completed 1.000008 'FF|18446744073709551615 + 0'
		# two tasks wait, and the first no longer waits when the second flush begins
		queued 20 'FWS|0 + 0'
		queued 10 'FWS|0 + 0'
		issued 1.000011 'FF|0 + 0'
		completed 1.000013 'FF|-1 + 0'
		completed 1.000013 'WS|0 + 0'
		issued 1.000014 'FF|0 + 0'
		completed 1.000018 'FF|-1 + 0'
		completed 1.000018 'WS|0 + 0'
	} >in
	whose <in | cut -d ' ' -f 5 | paste -sd ' ' >got
	lines_are got '10 7 20 10'
	whose -p 10 <in | cut -d ' ' -f 5 | paste -sd ' ' >got
	lines_are got '10 10 10'
	whose -p 20 <in | cut -d ' ' -f 5 | paste -sd ' ' >got
	lines_are got '20'
}

@test "tfs-latency: block: a flush before a write, or in place of FUA, belongs to the writer" {
	{
		queued 10 'FWFS|64 + 8'
		issued 1.000001 'FF|0 + 0'
		completed 1.000002 'FF|-1 + 0'
		issued 1.000003 'WS|64 + 8'
		completed 1.000004 'WS|64 + 8'
		issued 1.000005 'FF|0 + 0'
		completed 1.000006 'FF|-1 + 0'
		completed 1.000006 'WS|64 + 0'
		issued 1.000007 'FF|0 + 0'
		completed 1.000008 'FF|-1 + 0'
		# a device without FUA
		queued 20 'WFS|128 + 8'
		issued 1.000011 'WS|128 + 8'
		completed 1.000012 'WS|128 + 8'
		issued 1.000013 'FF|0 + 0'
		completed 1.000014 'FF|-1 + 0'
		completed 1.000014 'WS|128 + 0'
		# a device with FUA
		queued 30 'WFS|256 + 8'
		issued 1.000021 'WFS|256 + 8'
		completed 1.000022 'WFS|256 + 8'
		issued 1.000023 'FF|0 + 0'
		completed 1.000024 'FF|-1 + 0'
	} | whose >got
	lines_are got 'FF -1 + 0 10
WS 64 + 8 10
FF -1 + 0 10
FF -1 + 0 7
WS 128 + 8 20
FF -1 + 0 20
WFS 256 + 8 30
FF -1 + 0 7'
}

@test "tfs-latency: block: names the tasks of requests in JSON, those of children too, but not over lost events" {
	json_block() { # PID EVENT
		printf '{"ts":1.00000%d000,"cpu":0,"pid":%d,"comm":"a\\"b","system":"s","event":"%s","fields":{"dev":7340032,"sector":8,"nr_sector":8,"rwbs":"W","comm":"x"}}\n' \
			$((++time)) "$1" "$2"
	}
	time=0
	{
		json_block 10 block_bio_queue
		json_block 99 block_rq_issue
		json_block 0 block_rq_complete
	} | tfs-latency -p 10 -b -c by=comm -c by_pid=pid block >got
	sed -i 's/.*"event":"\([a-z_]*\)".*"comm":"x"/\1/' got
	lines_are got 'block_rq_issue,"by":"a\"b","by_pid":10}}
block_rq_complete,"by":"a\"b","by_pid":10,"lat":1.000}}'
	{
		event 10 1.000003 'sched_process_fork: comm=a pid=10 child_comm=a child_pid=11'
		queued 11 'R|8 + 8'
		issued 1.000005 'R|8 + 8'
		completed 1.000006 'R|8 + 8'
		queued 11 'R|16 + 8'
		echo 'CPU:1 [LOST 3 EVENTS]'
		issued 1.000007 'R|16 + 8'
		completed 1.000008 'R|16 + 8'
	} | whose -p 10 >got
	lines_are got 'R 8 + 8 11
CPU:1 [LOST 3 EVENTS]'
}

@test "tfs-latency: block: forgets bios that no request ever takes" {
	[ -z "${TFS_VARIANT-}" ] || [ "$TFS_VARIANT" = vm ] || skip "is under sanitizers of its own"
	{
		awk -v n="$(so_many 200000)" 'BEGIN {
			for (i = 0; i < n; i++)
				printf "%16s-10      [001] ..... 1.0: block_bio_queue: 253,0 W %d + 8 [a]\n",
				       "a", i * 7919 % n * 8
		}'
		queued 10 'R|64 + 8'
		issued 2.0 'R|64 + 8'
		completed 2.000001 'R|64 + 8'
	} >in
	(ulimit -v 8192 && exec tfs-latency -c by_pid=pid block) <in >out
	[ "$(grep -c ' R () 64 + 8 .* by_pid=10 lat=1$' out)" = 1 ]
}

@test "tfs-latency: block: pairs no request over lost events" {
	{
		issued 1.000000 'W|64 + 8'
		issued 1.000001 'W|64 + 8'
		echo 'CPU:1 [LOST 3 EVENTS]'
		completed 1.000015 'W|64 + 8'
		event 7 1.1 'block_rq_issue: 254,0'
		event 7 1.1 'block_rq_complete: 254,0'
	} | tfs-latency block >got || [ $? = 1 ]
	lines_are got 'CPU:1 [LOST 3 EVENTS]
# unpaired 5 events: 3 without an end, 2 without a beginning'
}

@test "tfs-latency: -u: reports ends without a beginning, but not beginnings without an end" {
	{ event 7 1.0 'b: x=1'; event 7 1.000001 'b: x=2'; event 7 1.000003 'e: x=3'; event 8 1.1 'b: x=4'; } >in
	prints '7 e: x=3 lat=2
# unpaired 2 events: 2 without an end, 0 without a beginning' -s b -e e <in
	prints '7 e: x=3 lat=2' -u -s b -e e <in
	{ cat in; event 9 1.2 'e: x=5'; } | prints '7 e: x=3 lat=2
# unpaired 1 events: 0 without an end, 1 without a beginning' -u -s b -e e
}

@test "tfs-latency: wakeup: no task name hides that task's waits or gives them to another task" {
	for name in 'a next_pid=1' 'next_pid=13' 'x pid=1 prio=1' ' ==> next_comm=' 'a prev_pid=13' '=' ''; do
		for i in {10..49}; do
			event 7 "$i.000000" "sched_wakeup: comm=$name pid=12 prio=120 target_cpu=000"
			event 0 "$i.100000" "sched_switch: prev_comm=$name prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=$name next_pid=12 next_prio=120"
			event 12 "$i.200000" "sched_switch: prev_comm=$name prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=$name next_pid=0 next_prio=120"
		done >trace
		tfs-latency wakeup <trace | tfs-count -k next_comm -k next_pid -k lat |
			diff - <(printf '     40 %s\t12\t100000\n' "${name:--}")
	done
}

@test "tfs-latency: -c: carries a path with quotes and fields in it, and the path cannot forge a field" {
	{ event 7 1.000001 'open_path: (do_sys_openat2+0x0/0x90) path="a\" flags=0x7 ret=9 x=\"" flags=0x8000'
		event 7 1.000003 'open: (do_sys_open+0x1/0x2 <- do_sys_openat2) ret=3'; } >trace
	prints '7 open: (do_sys_open+0x1/0x2 <- do_sys_openat2) ret=3 path="a\" flags=0x7 ret=9 x=\"" flags=0x8000 lat=2' \
		-c path -c flags -s open_path -e open <trace
	tfs-latency -c path -c flags -s open_path -e open <trace | tfs-count -k path -k flags -k ret -k lat |
		diff - <(printf '      1 %s\n' $'a" flags=0x7 ret=9 x="\t0x8000\t3\t2')
}

@test "tfs-latency: -s and -e: pair any events by glob, by pid or by keys" {
	{ event 7 1.000010 'irq_handler_entry: irq=3 name=a'; event 7 1.000011 'softirq_entry: vec=1 [action=TIMER]'
		event 8 1.000012 'irq_handler_entry: irq=3 name=b'; event 7 1.000013 'softirq_exit: vec=1 [action=TIMER]'
		event 8 1.000020 'irq_handler_exit: irq=3 ret=handled'; event 7 1.000030 'irq_handler_exit: irq=3 ret=handled'; } >trace
	prints '8 irq_handler_exit: irq=3 ret=handled lat=8
7 irq_handler_exit: irq=3 ret=handled lat=20' -s irq_handler_entry -e irq_handler_exit <trace
	prints '7 softirq_exit: vec=1 [action=TIMER] lat=2' -s 'soft*entry:vec,cpu' -e 'soft*exit:vec,cpu' <trace
	prints '8 irq_handler_exit: irq=3 ret=handled lat=8
# unpaired 2 events: 1 without an end, 1 without a beginning' -s irq_handler_entry:irq -e irq_handler_exit:irq <trace
}

@test "tfs-latency: an event can end the pair that the previous event began" {
	for t in 1.000001 1.000004 1.000010; do event 7 $t 'tick: n=1'; done |
		prints '7 tick: n=1 lat=3
7 tick: n=1 lat=6
# unpaired 2 events: 1 without an end, 1 without a beginning' -s tick -e tick
}

@test "tfs-latency: measures from the end of a call to the beginning of the next" {
	calls_text | tfs-latency -s 'sys_exit_*' -e 'sys_enter_*' | tfs-count -k call -k fd -k lat |
		diff - <(printf '      %s\n' $'1 close\t3\t5'; echo '# unpaired 4 events: 2 without an end, 2 without a beginning')
}

@test "tfs-latency: -m: prints the pairs that took at least so long, to the microsecond" {
	calls_text | prints '7 sys_openat -> 0x3 lat=5
8 sys_read -> 0xfffffffffffffffc lat=1000001' -m 5 syscalls
	calls_text | prints '8 sys_read -> 0xfffffffffffffffc lat=1000001' -m 6 syscalls
	calls_text >trace
	run -1 --separate-stderr from trace tfs-latency -m 2000000 syscalls
	[ "$output$stderr" = "tfs-latency: no such pair of events in the trace" ]
}

@test "tfs-latency: -c: carries a field of the beginning, under its own or a new name" {
	calls_text | head -n 3 | prints '7 sys_openat -> 0x3 flags=0x80000 who=7 nope=- lat=5
# unpaired 1 events: 1 without an end, 0 without a beginning' -c flags -c who=pid -c nope syscalls
	calls_text | tfs-latency -c fd -c who=comm syscalls | tfs-count -k call -k fd -k who -k lat |
		diff - <(printf '      %s\n' $'1 close\t3\ttask\t1' $'1 openat\t-\ttask\t5' $'1 read\t3\ttask\t1000001')
}

@test "tfs-latency: -c: a value with spaces or names in it stays one value for the reader" {
	for value in 'a b' 'x lat=99999' 'a"b' 'a=b' 'a,' '/etc/(x)' 'x)' ; do
		{ event 7 1.000001 "b: name=\"${value//\"/\'}\""; event 7 1.000003 'e: (x+0x0/0x10) ret=0x1'; } |
			tfs-latency -s b -e e -c path=name >got
		tfs-count -k path -k lat -k ret <got |
			diff - <(printf '      1 %s\t2\t0x1\n' "${value//\"/\'}")
		{ event 7 1.000001 "b: name=\"${value//\"/\'}\""; event 7 1.000003 'sys_read -> 0x1'; } |
			tfs-latency -s b -e sys_exit_read -c path=name | tfs-count -k path -k lat -k ret |
			diff - <(printf '      1 %s\t2\t0x1\n' "${value//\"/\'}")
	done
	{ event 7 1.000001 'b: name=a"b next=1'; event 7 1.000003 'e: ret=0x1'; } |
		prints '7 e: ret=0x1 name="a\"b" lat=2' -s b -e e -c name
}

@test "tfs-latency: -c: carries the string of an argument that shows the string after its address" {
	{ event 7 1.000001 'sys_openat(dfd: 0xffffff9c, filename: 0x7f00aa "/a b, flags: x", flags: O_RDONLY, mode: 0)'
		event 7 1.000003 'sys_openat -> 0xfffffffffffffffe'; } |
		prints '7 sys_openat -> 0xfffffffffffffffe filename="/a b, flags: x" flags=O_RDONLY lat=2' \
			-c filename -c flags syscalls
}

@test "tfs-latency: JSON: prints the line with its fields, nanoseconds and unchanged strings" {
	json | tfs-latency -c filename -c who=comm -c .comm -c nope syscalls | diff - <(printf '%s\n' \
		'{"ts":1.000012346,"cpu":1,"pid":5,"comm":"a\"b","system":"syscalls","event":"sys_exit_openat","fields":{"__syscall_nr":257,"ret":-2,"filename":"/etc/\"x\"","who":"a\"b","comm":null,"nope":null,"lat":12.345}}')
	{ json | head -n 1; json | tail -n 1 | sed 's/{"__sys.*/{}}/'; } | tfs-latency syscalls |
		tail -n 1 | grep -qF '"fields":{"lat":12.345}}'
	{ json | head -n 1; json | tail -n 1 | sed 's/,"fields.*/}/'; } | tfs-latency syscalls | diff - \
		<(echo '{"unpaired":1,"without_end":1,"without_beginning":0}') || [ "${PIPESTATUS[1]}" = 1 ]
}

@test "tfs-latency: prints JSON that a JSON parser accepts" {
	need_tool python3
	json | tfs-latency -c filename -c who=comm -c .comm -c nope syscalls |
		python3 -c 'import json, sys
for line in sys.stdin:
	fields = json.loads(line)["fields"]
	print(fields["filename"], fields["lat"], fields["who"])' | diff - <(echo '/etc/"x" 12.345 a"b')
}

@test "tfs-latency: does not pair a text event with a JSON event" {
	{ json | head -n 1; event 5 1.5 'sys_openat -> 0x3'; } >trace
	run -1 --separate-stderr from trace tfs-latency syscalls
	[ "$output" = '# unpaired 2 events: 1 without an end, 1 without a beginning' ]
}

@test "tfs-latency: prints nanoseconds if one clock has them, counter values, and negative times" {
	{ event 7 1.000000900 'b: x=1'; event 7 1.000003 'e: x=1'; } | prints '7 e: x=1 lat=2.100' -s b -e e
	{ event 7 100 'b: x=1'; event 7 350 'e: x=1'; } >trace
	prints '7 e: x=1 lat=250' -s b -e e <trace
	prints '7 e: x=1 lat=250' -m 250 -s b -e e <trace
	{ event 7 1.5 'b: x=1'; event 7 1.25 'e: x=1'; } | prints '7 e: x=1 lat=-250000' -s b -e e
}

@test "tfs-latency: counts and reports beginnings without an end and ends without a beginning" {
	{ calls_text; event 9 3.0 'sys_read -> 0x1'; event 9 3.1 'sys_exit_group(error_code: 0)'
		event 9 3.2 'sys_read(fd: 1)'; event 9 3.3 'sys_read(fd: 2)'; event 9 3.300001 'sys_read -> 0x1'; } |
		tfs-latency -c fd syscalls | tail -n 2 |
		diff - <(event 9 3.300001 'sys_read -> 0x1 fd=2 lat=1'
			echo '# unpaired 3 events: 2 without an end, 1 without a beginning')
}

@test "tfs-latency: pairs nothing over lost events, and passes the lines that report them" {
	{ echo '# tracer: nop'; event 7 1.0 'b: x=1'; echo 'CPU:1 [LOST 3 EVENTS]'; event 7 2.0 'e: x=1'
		event 7 3.0 'b: x=1'; event 7 3.000001 'e: x=1'
		echo '# lost 3 events: 3 overwritten in a full buffer, 0 not written'; } | prints '# tracer: nop
CPU:1 [LOST 3 EVENTS]
7 e: x=1 lat=1
# lost 3 events: 3 overwritten in a full buffer, 0 not written
# unpaired 2 events: 1 without an end, 1 without a beginning' -s b -e e
	{ json | head -n 1; echo '{"ts":1.000000002,"cpu":1,"lost":204}'; json | tail -n 1
		echo '{"lost":204,"overwritten":204,"unwritten":0}'; } >trace
	run -1 --separate-stderr from trace tfs-latency syscalls
	[ "$output" = '{"ts":1.000000002,"cpu":1,"lost":204}
{"lost":204,"overwritten":204,"unwritten":0}
{"unpaired":2,"without_end":1,"without_beginning":1}' ]
}

@test "tfs-latency: hostile lines do no harm: cut, endless, with NULs, of a megabyte, with huge times" {
	{ calls_text; json; } | awk '{ for (i = 1; i <= length($0); i++) print substr($0, 1, i) }' >parts
	tfs-latency -c filename -c fd syscalls <parts >got
	[ -s got ]
	{ event 7 99999999999999999999.5 'b: x=1'; event 7 18446744073.709551615 'b: x=1'
		event 7 1.0000000001 'b: x=1'; event 7 18446744073.709551616 'e: x=1'
		event 7 18446744073.709551615 'e: x=1'; } | prints '7 e: x=1 lat=0.000' -s b -e e
	{ event 7 1.0 'b: x=1'; event 7 1.000001 'e: x=a~b' | tr '~' '\000' | tr -d '\n'; } |
		prints '7 e: x=a?b lat=1' -s b -e e
	{ event 7 1.0 "b: x=$(head -c 100000 /dev/zero | tr '\0' y)"; event 7 1.000001 'e: z=1'; } |
		tfs-latency -c x -s b -e e | wc -c >got
	[ "$(cat got)" -gt 100000 ]
	{ event 7 1.0 'b: x=1'; event 7 1.000001 'e: x=' | tr -d '\n'; head -c 1048576 /dev/zero | tr '\0' ' '; } |
		tfs-latency -s b -e e | tail -c 8 | diff - <(echo '  lat=1')
}

@test "tfs-latency: keeps no memory for pairs that have ended" {
	[ -z "${TFS_VARIANT-}" ] || [ "$TFS_VARIANT" = vm ] || skip "is under sanitizers of its own"
	n=$(so_many 300000)
	awk -v n="$n" 'BEGIN { for (i = 0; i < n; i++) {
		printf "%16s-%-7d [000] ..... 1.%06d: b: n=%d\n", "x", 1, i, i
		printf "%16s-%-7d [000] ..... 1.%06d: e: n=%d\n", "x", 1, i, i } }' >many
	(ulimit -v 20000 && exec tfs-latency -s b:n -e e:n) <many >got
	file_has "$n" got
	[ "$(grep -c ' lat=0$' got)" = "$n" ]
}

@test "tfs-latency: pairs a hundred thousand beginnings that are open at once" {
	n=$(so_many 100000)
	awk -v n="$n" 'BEGIN { for (i = 0; i < n; i++) printf "%16s-%-7d [000] ..... 1.%06d: b: n=%d\n", "x", 1, i, i
		for (i = n - 1; i >= 0; i -= 2) printf "%16s-%-7d [000] ..... 2.%06d: e: n=%d\n", "x", 1, i, i
		for (i = 0; i < n; i += 2) printf "%16s-%-7d [000] ..... 3.%06d: e: n=%d\n", "x", 1, i, i }' |
		tfs-latency -s b:n -e e:n >got
	[ "$(grep -c ' lat=1000000$' got)" = $((n / 2)) ]
	[ "$(grep -c ' lat=2000000$' got)" = $((n / 2)) ]
	file_has "$n" got
}

@test "tfs-latency: exits 1 if there is no pair" {
	run -1 --separate-stderr from /dev/null tfs-latency block
	[ "$output$stderr" = "tfs-latency: no such pair of events in the trace" ]
}

@test "tfs-latency: ignores SIGINT, so that the trace can end first" {
	mkfifo trace
	exec 9<>trace
	background tfs-latency syscalls <trace >got 9>&-
	ignores() { grep -q '^SigIgn:.*[2367abef]$' "/proc/$PID/status"; }
	eventually ignores
	kill -INT "$PID"
	calls_text >&9
	exec 9>&-
	finishes "$PID" 0
	file_has 3 got
}

@test "tfs-latency: kernel: pairs a thousand calls in text and in JSON" {
	need_tracefs events/syscalls
	for format in text json; do
		calls 1000
		if [ $format = text ]; then
			watch_whole trace_syscalls --pid "$CALLS" --returns -s getppid
		else
			new_instance
			tfs-pidfilter -i "$INSTANCE" set "$CALLS"
			tfs-write -i "$INSTANCE" events/syscalls/sys_enter_getppid/enable 1 \
				events/syscalls/sys_exit_getppid/enable 1
			background tfs-catpipe -j -i "$INSTANCE" >got
			eventually blocks "$PID"
			release
			eventually gone "$CALLS"
			ends_by "$PID" TERM 0
		fi
		tfs-latency syscalls <got >pairs
		file_has 1000 pairs
		[ "$(tfs-count -k call -k ret <pairs | wc -l)" = 1 ]
		tfs-hist <pairs | head -n 1 | grep -q ': 1000 values, '
	done
	# the clock has nanoseconds, and JSON prints them
	grep -q '"lat":[0-9]*\.[0-9][0-9][0-9]}}$' pairs
}

@test "tfs-latency: kernel: a program that is woken is then switched to" {
	need_tracefs events/sched/sched_wakeup
	calls 10 1 5
	watch_whole trace_event --pid "$CALLS" -e sched_wakeup sched_wakeup_new sched_switch
	tfs-latency wakeup <got >pairs || :
	# each child is woken once as a new task, and then runs
	sed -n 's/.*sched_wakeup_new: .* pid=\([0-9]*\) .*/\1/p' got >new
	file_has 5 new
	while read -r pid; do
		grep -q " next_pid=$pid .* lat=[0-9]*$" pairs
	done <new
}

@test "tfs-latency: kernel: prints pairs as a hook's filter while the trace goes on, one line per packet" {
	need_tracefs events/syscalls
	own_tree
	make_hook slow <<-'EOF'
		# SPDX-License-Identifier: ISC
		# description: calls and how long they take
		set -eu
		tfs-write events/syscalls/sys_enter_getppid/enable 1 \
			events/syscalls/sys_exit_getppid/enable 1
		printf '%s\0' filter 2 tfs-latency syscalls
	EOF
	calls 1
	other=$CALLS
	calls 100
	start_session slow --pid "$CALLS" "$other" --output lines
	background "$PROG/caller" "$TRACE" >got
	# shellcheck disable=SC2034 # watch_end uses it
	READER=$PID
	release
	paired() { [ "$(grep -c ': sys_getppid -> 0x[0-9a-f]* lat=[0-9]*$' got)" = 100 ]; }
	eventually paired
	watch_stop
	[ "$(grep -vc '^#' got)" = 100 ]
	# a filter without any pair does not make the session fail
	calls 0
	watch_whole slow --pid "$CALLS"
	[ ! -s got ]
}

@test "tfs-latency: -p: measures the waits of these tasks, of their children, and of tasks seen after an idle CPU" {
	{
		event 7 1.000001 'sched_wakeup: comm=a pid=12 prio=120 target_cpu=000'
		event 7 1.000002 'sched_wakeup: comm=x pid=90 prio=120 target_cpu=000'
		event 7 1.000003 'sched_switch: prev_comm=b prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=a next_pid=12 next_prio=120'
		event 12 1.000004 'sched_process_fork: comm=a pid=12 child_comm=a child_pid=13'
		event 12 1.000005 'sched_wakeup_new: comm=a pid=13 prio=120 target_cpu=000'
		event 12 1.000007 'sched_switch: prev_comm=a prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=a next_pid=13 next_prio=120'
		event 13 1.000020 'sched_switch: prev_comm=a prev_pid=13 prev_prio=120 prev_state=S ==> next_comm=x next_pid=90 next_prio=120'
		event 0 1.000030 'sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=d next_pid=44 next_prio=120'
		event 44 1.000031 'sched_switch: prev_comm=d prev_pid=44 prev_prio=120 prev_state=S ==> next_comm=x next_pid=90 next_prio=120'
		event 12 1.000032 'sched_wakeup: comm=d pid=44 prio=120 target_cpu=000'
		event 12 1.000034 'sched_switch: prev_comm=a prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=d next_pid=44 next_prio=120'
	} >in
	tfs-latency -p 12,999 wakeup <in >out
	sed 's/.*\(next_comm.*\)/\1/' out >got
	printf '%s\n' 'next_comm=a next_pid=12 next_prio=120 lat=2' \
		'next_comm=a next_pid=13 next_prio=120 lat=2' \
		'next_comm=d next_pid=44 next_prio=120 lat=2' \
		'# unpaired 1 events: 0 without an end, 1 without a beginning' | cmp - got
	for list in '' ',' '1,' ',1' '1 2' 0 4294967297; do
		misuse "--pid: '$list' is not a list of pids" tfs-latency -p "$list" wakeup
	done
}

blocks() {
	event 10 1.000001 'block_rq_issue: 8,0 WS 4096 () 100 + 8 be,0,4 [a]'
	event 20 1.000002 'block_rq_issue: 8,0 WS 4096 () 200 + 8 be,0,4 [b]'
	event 10 1.000003 'sched_process_fork: comm=a pid=10 child_comm=a child_pid=11'
	event 20 1.000004 'sched_process_fork: comm=b pid=20 child_comm=b child_pid=21'
	event 99 1.000005 'block_rq_complete: 8,0 WS () 200 + 8 be,0,4 [0]'
	event 11 1.000006 'block_rq_issue: 8,0 R 4096 () 300 + 8 be,0,4 [a]'
	event 21 1.000007 'block_rq_issue: 8,0 R 4096 () 400 + 8 be,0,4 [b]'
	event 20 1.000011 'block_rq_complete: 8,0 WS () 100 + 8 be,0,4 [0]'
	event 0 1.000016 'block_rq_complete: 8,0 R () 300 + 8 be,0,4 [0]'
	event 0 1.000017 'block_rq_complete: 8,0 R () 400 + 8 be,0,4 [0]'
}

@test "tfs-latency: -p: pairs what these tasks and their children began, whichever task runs at the end" {
	blocks >in
	prints '20 block_rq_complete: 8,0 WS () 100 + 8 be,0,4 [0] by_pid=10 lat=10
0 block_rq_complete: 8,0 R () 300 + 8 be,0,4 [0] by_pid=11 lat=10' \
		-p 10 -c by_pid=pid block <in
	prints '# unpaired 1 events: 1 without an end, 0 without a beginning' -p 20 block < <(head -n 2 in)
}

@test "tfs-latency: -p: an unrelated task's beginning with the same key closes the open beginning" {
	{
		event 10 1.000001 'block_rq_issue: 8,0 WS 4096 () 100 + 8 be,0,4 [a]'
		event 20 1.000002 'block_rq_issue: 8,0 WS 4096 () 100 + 8 be,0,4 [b]'
		event 0 1.000005 'block_rq_complete: 8,0 WS () 100 + 8 be,0,4 [0]'
	} >in
	prints '# unpaired 1 events: 1 without an end, 0 without a beginning' -p 10 \
		-s block_rq_issue:dev,sector -e block_rq_complete:dev,sector <in
}

@test "tfs-latency: -b prints the beginnings too" {
	blocks >in
	prints '10 block_rq_issue: 8,0 WS 4096 () 100 + 8 be,0,4 [a]
11 block_rq_issue: 8,0 R 4096 () 300 + 8 be,0,4 [a]
20 block_rq_complete: 8,0 WS () 100 + 8 be,0,4 [0] lat=10
0 block_rq_complete: 8,0 R () 300 + 8 be,0,4 [0] lat=10' -b -p 10 block <in
}

@test "tfs-latency: -c carries an unreadable string as (fault), and a file of that name in quotes" {
	{
		event 7 1.000001 'probe: (f+0x1/0x2) path=(fault) x=1'
		event 7 1.000003 'probe_end: (f+0x1/0x2 <- g) ret=1'
		event 7 1.000004 'probe: (f+0x1/0x2) path="(fault)"'
		event 7 1.000008 'probe_end: (f+0x1/0x2 <- g) ret=1'
	} >in
	prints '7 probe_end: (f+0x1/0x2 <- g) ret=1 path=(fault) lat=2
7 probe_end: (f+0x1/0x2 <- g) ret=1 path="(fault)" lat=4' -c path -s probe -e probe_end <in
}

# calls_lost: Print three calls, the first without a beginning.
calls_lost() {
	event 7 1.000001 'probe_end: (f+0x1/0x2 <- g) ret=1'
	event 7 1.000002 'probe: (f+0x1/0x2)'
	event 7 1.000004 'probe_end: (f+0x1/0x2 <- g) ret=2'
	event 7 1.000005 'probe: (f+0x1/0x2)'
}

@test "tfs-latency: -a prints the ends that have no beginning, and does not count them" {
	calls_lost >in
	prints '7 probe_end: (f+0x1/0x2 <- g) ret=1
7 probe_end: (f+0x1/0x2 <- g) ret=2 lat=2
# unpaired 1 events: 1 without an end, 0 without a beginning' -a -s probe -e probe_end <in
	fails 1 'tfs-latency: no such pair of events in the trace' tfs-latency -a -p 8 -s probe -e probe_end <in
}

@test "tfs-latency: -d drops the ends that have a beginning, and nothing else, in text and JSON" {
	{
		event 7 1.000001 'exec_long: (f+0x1/0x2) argc=3'
		event 7 1.000002 'exec3: (f+0x1/0x2) argc=3 argv0="a"'
		event 8 1.000003 'exec_long: (f+0x1/0x2) argc=5'
		event 9 1.000004 'sys_execve -> 0x2'
		echo '# a remark'
		event 7 1.000005 'exec_open: (f+0x1/0x2) path="exec_long"'
	} >kept
	{
		head -n 2 kept
		event 7 1.000002 'exec_long: (f+0x1/0x2) argc=3'
		tail -n +3 kept
		event 7 1.000005 'exec_open_long: (f+0x1/0x2) flags=0x20'
	} >in
	tfs-latency -d -s 'exec*:cpu,pid' -e 'exec*_long:cpu,pid' <in | diff kept -
	line='{"ts":1.000000001,"cpu":0,"pid":5,"comm":"a","system":"g","event":"open","fields":{"ret":1}}'
	long=${line/open/open_long}
	printf '%s\n' "$line" "$long" "${long/:5/:6}" |
		tfs-latency -d -s open:cpu,pid -e open_long:cpu,pid |
		diff <(printf '%s\n' "$line" "${long/:5/:6}") -
	outputs 1 '# nothing
tfs-latency: no such pair of events in the trace' tfs-latency -d -s a -e b <<<'# nothing'
}

@test "tfs-latency: -d forgets open beginnings on the CPU that lost events, and on no other CPU" {
	event 7 1.000002 'exec3: (f+0x1/0x2) argc=3' >begin
	event 7 1.000002 'exec_long: (f+0x1/0x2) argc=3' >end
	for gap in 'CPU:0 [LOST 3 EVENTS]' '{"ts":1.0,"cpu":0,"lost":3}'; do
		{ cat begin; echo "$gap"; cat end; } >in
		tfs-latency -d -s exec3:cpu,pid -e exec_long:cpu,pid <in >out
		diff <(head -n 2 in) out
	done
	for gap in 'CPU:1 [LOST 3 EVENTS]' '{"ts":1.0,"cpu":1,"lost":3}'; do
		{ cat begin; echo "$gap"; cat end; } >in
		tfs-latency -d -s exec3:cpu,pid -e exec_long:cpu,pid <in >out
		diff in out
	done
}

# at CPU LINE: Print LINE as event does, on another CPU.
at() {
	event 7 "$2" "$3" | sed "s/\[001\]/[00$1]/"
}

@test "tfs-latency: -d drops the stack of an end with it, and no other stack" {
	{
		at 1 1.000001 'f: (f+0x1/0x2) s="a"'
		at 2 1.000001 'f_long: (f+0x1/0x2)'
		at 2 1.000001 '<stack trace>'
		printf ' => %s\n' f one
		at 1 1.000001 '<stack trace>'
		printf ' => %s\n' f two
		at 1 1.000002 'f_long: (f+0x1/0x2)' | sed 's/$/ dropped/'
		at 2 1.000002 'f: (f+0x1/0x2) s="b"'
		at 1 1.000002 '<stack trace>' | sed 's/$/ dropped/'
		printf ' => %s\n' 'f dropped' 'three dropped'
		at 2 1.000002 '<stack trace>'
		printf ' => %s\n' f four
		at 1 1.000003 'g: (g+0x1/0x2)'
		at 1 1.000003 '<stack trace>'
		printf ' => %s\n' g
	} >marked
	sed 's/ dropped$//' marked | tfs-latency -d -s f:cpu,pid -e f_long:cpu,pid >out
	grep -v ' dropped$' marked | diff out -
	line='{"ts":1.000000001,"cpu":0,"pid":5,"comm":"a","system":"g","event":"open","fields":{"ret":1}}'
	stack='{"ts":1.000000001,"cpu":0,"pid":5,"comm":"a","system":"ftrace","event":"kernel_stack","fields":{"caller":["0x1"]}}'
	printf '%s\n' "$line" "$stack" "${line/open/open_long}" "$stack" "${line/open/x}" "$stack" |
		tfs-latency -d -s open:cpu,pid -e open_long:cpu,pid |
		diff <(printf '%s\n' "$line" "$stack" "${line/open/x}" "$stack") -
}

@test "tfs-latency: -f pairs each function with its own return, the innermost call first" {
	{
		event 7 1.000000 'f_entry: (0x10) i=1'
		event 7 1.000001 'g_entry: (0x20) i=2'
		event 8 1.000002 'f_entry: (0x10) i=3'
		event 7 1.000010 'f_entry: (0x10) i=4'
		event 7 1.000012 'f_entry: (0x10) i=5'
		event 7 1.000020 'f: (0x30 <- 0x10) ret=50'
		event 7 1.000100 'f: (0x30 <- 0x10) ret=40'
		event 7 1.000200 'g: (0x30 <- 0x20) ret=20'
		event 7 1.000300 'f: (0x30 <- 0x10) ret=10'
		event 7 1.000301 'f: (0x30 <- 0x10) ret=9'
		event 7 1.000400 'f_entry: (0x10) i=6'
		event 7 1.000401 'f_entry: (0x10) i=7'
	} >trace
	prints '7 f: (0x30 <- 0x10) ret=50 i=5 lat=8
7 f: (0x30 <- 0x10) ret=40 i=4 lat=90
7 g: (0x30 <- 0x20) ret=20 i=2 lat=199
7 f: (0x30 <- 0x10) ret=10 i=1 lat=300
# unpaired 4 events: 3 without an end, 1 without a beginning' -c i -f _entry <trace
	prints '7 f: (0x30 <- 0x10) ret=10 lat=300
# unpaired 4 events: 3 without an end, 1 without a beginning' -m 200 -f _entry <trace
}

@test "tfs-latency: -f closes all open calls at a gap, and frees them" {
	{
		event 7 1.000000 'f_entry: (0x10)'
		event 7 1.000001 'f_entry: (0x10)'
		echo 'CPU:1 [LOST 3 EVENTS]'
		event 7 1.000002 'f: (0x30 <- 0x10)'
		event 7 1.000003 'f_entry: (0x10)'
		event 7 1.000005 'f: (0x30 <- 0x10)'
	} | prints 'CPU:1 [LOST 3 EVENTS]
7 f: (0x30 <- 0x10) lat=2
# unpaired 3 events: 2 without an end, 1 without a beginning' -f _entry
}

@test "tfs-latency: -f pairs lines of JSON, and takes no suffix that is empty" {
	local i=0
	for event in f_entry f_entry f f; do
		i=$((i + 1))
		echo "{\"ts\":1.00000000$i,\"cpu\":0,\"pid\":5,\"comm\":\"a\",\"system\":\"g\",\"event\":\"$event\",\"fields\":{\"i\":$i}}"
	done | tfs-latency -c j=i -f _entry | sed 's/.*"fields"//' >got
	lines_are got ':{"i":3,"j":2,"lat":0.001}}
:{"i":4,"j":1,"lat":0.003}}'
	misuse '-f takes a suffix, and cannot be combined with -s and -e' tfs-latency -f ''
	misuse '-f takes a suffix, and cannot be combined with -s and -e' tfs-latency -f _entry -s a -e b
	misuse 'a pair by name cannot be combined with -s, -e and -f' tfs-latency -f _entry syscalls
	misuse '-d cannot be combined with other options, except -s and -e' tfs-latency -d -f _entry
}

@test "tfs-latency: pairs the waits of tasks for locks, with the flags of the lock" {
	line() { printf '%16s-%-7d [001] ..... %s: %s\n' task "$@"; }
	{
		line 7 1.000010 'contention_begin: ffff888627d2ba80 (flags=SPIN|READ)'
		line 8 1.000011 'contention_begin: ffff888627d2ba80 (flags=MUTEX)'
		line 7 1.000015 'contention_end: ffff888627d2ba90 (ret=0)' # another lock
		line 7 1.000020 'contention_end: ffff888627d2ba80 (ret=0)'
		line 8 1.000031 'contention_end: ffff888627d2ba80 (ret=-4)'
	} >trace
	tfs-latency locks <trace | tfs-summary -k pid -k flags -c calls,errors,total -s name >got
	lines_are got '    calls   errors   total us  pid	flags
        1        0         10  7	SPIN|READ
        1        1         20  8	MUTEX
        2        1         30  total
# unpaired 1 events: 0 without an end, 1 without a beginning'
	tfs-latency -c comm locks <trace | grep -c ' comm=task lat=' | diff <(echo 2) -
}

@test "tfs-latency: reads FILE after a pair by name, or with the events of -s and -e or of -f" {
	cat >trace.txt <<-'END'
		  a-1 [000] ..... 1.000001: contention_begin: lock_addr=0x1 flags=0x2
		  a-1 [000] ..... 1.000006: contention_end: lock_addr=0x1 ret=0
	END
	tfs-latency locks <trace.txt >want
	grep -q ' lat=5' want
	tfs-latency locks trace.txt </dev/null >got
	cmp got want
	tfs-latency locks - <trace.txt >got
	cmp got want
	tfs-latency -c flags -s contention_begin:pid,lock_addr -e contention_end:pid,lock_addr trace.txt \
		</dev/null >got
	cmp got want
	echo '  a-1 [000] ..... 1.000001: sys_read()
  a-1 [000] ..... 1.000002: sys_read -> 0x0' >calls.txt
	tfs-latency syscalls <calls.txt >want
	tfs-latency syscalls calls.txt </dev/null >got
	cmp got want
	tfs-latency -d -s a -e b trace.txt </dev/null >got
	cmp got trace.txt
}

# task_waits EVENT...: Print the waits of task 7, and how many lack an end or a beginning. An event is
# TIME:out (it sleeps), TIME:pre (it is preempted), TIME:in, TIME:waking or TIME:wakeup.
task_waits() {
	local e idle='comm=swapper/0 pid=0 prio=120' task='comm=w pid=7 prio=120'
	local -A of=([out]="$task prev_state=S ==> $idle" [pre]="$task prev_state=R+ ==> $idle"
		[in]="$idle prev_state=R ==> $task" [waking]=$task [wakeup]=$task)
	for e; do
		printf '          <idle>-0       [000] d..2. %s: ' "1.000${e%%:*}"
		case ${e#*:} in
		wak*) echo "sched_${e#*:}: ${of[${e#*:}]} target_cpu=000" ;;
		*) sed -E 's/(comm|pid|prio)=/next_&/g; :a; s/next_(.* ==> )/prev_\1/; ta' \
			<<<"sched_switch: ${of[${e#*:}]}" ;;
		esac
	done | tfs-latency wakeup 2>/dev/null | sed -n 's/.*lat=//p; s/^# .*: \([0-9]*\) .*, \([0-9]*\) .*/\1-\2/p' |
		paste -sd' '
}

@test "tfs-latency: a wait begins with the last of sched_waking and sched_wakeup, and once" {
	[ "$(task_waits 200:out 300:waking 310:in)" = 10 ]
	[ "$(task_waits 200:out 300:waking 304:wakeup 310:in)" = 6 ]
	[ "$(task_waits 200:out 304:wakeup 310:in)" = 6 ]
	[ "$(task_waits 200:pre 300:waking 304:wakeup 310:in)" = 110 ]
	# it is woken while it runs: before it has left the CPU, or without leaving it
	[ "$(task_waits 100:pre 110:in 190:waking 200:out 220:in)" = '10 20' ]
	[ "$(task_waits 100:pre 110:in 190:waking 200:out 205:wakeup 220:in)" = '10 15' ]
	[ "$(task_waits 100:pre 110:in 150:waking 200:out 300:waking 305:in)" = '10 5' ]
	[ "$(task_waits 100:pre 110:in 150:waking 151:wakeup 200:out 300:in)" = '10 0-1' ]
	[ "$(task_waits 100:pre 110:in 190:waking 200:out)" = 10 ]
	[ "$(task_waits 150:waking 200:out 220:in)" = 20 ]
	[ "$(task_waits 150:waking 151:wakeup 200:out 220:in)" = 0-1 ]
	[ "$(task_waits 200:out 300:waking)" = 1-0 ]
}

@test "tfs-latency: calls that seccomp denies are counted or drawn, and calls after them keep their own times" {
	{
		while read -r time text; do
			printf '               a-1       [000] .....     1.0000%s: %s\n' "$time" "$text"
		done <<-'EOF'
			10 sys_getpid()
			20 sys_getpid -> 0x1
			30 sys_mkdir -> 0xffffffffffffffff
			40 sys_read(fd: 0)
			60 sys_read -> 0x1
			70 sys_mkdir -> 0xffffffffffffffff
			80 sys_getpid()
			85 sys_getpid -> 0x1
		EOF
	} >mixed
	tfs-latency syscalls <mixed >got
	[ "$(sed -n 's/.*: sys_\([a-z]*\) .* lat=/\1 /p' got | tr '\n' ,)" = 'getpid 10,read 20,getpid 5,' ]
	[ "$(tail -n 1 got)" = '# unpaired 0 events: 0 without an end, 0 without a beginning; seccomp denied 2 calls' ]
	tfs-hist -k lat <got >hist
	grep -qx 'lat: 3 values, 5 to 20' hist
	tfs-timeline <mixed >drawn
	[ "$(grep -o '<title>sys_exit_mkdir at [^<]*' drawn)" = "<title>sys_exit_mkdir at 20 us
<title>sys_exit_mkdir at 60 us" ]
}

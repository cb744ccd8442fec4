#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2034,SC2153 # each test is a process of its own; helper.bash
# parts: 3
# tfs-flight -B and trace_flight --budget: a recorder that records less when it costs too much

load ../helper

# flight WORD...: Start tfs-flight of the instance and wait until it has begun; set $FLIGHT. The
# command is prefixed with the array with, if that is set.
flight() {
	mkdir -p d
	[ -p gate ] || mkfifo gate
	exec 8<>gate
	background ${with+"${with[@]}"} tfs-flight -i "$INSTANCE" -d 8 "$@" d >out 2>err
	FLIGHT=$PID
	read -rt "$DEADLINE" _ <&8 || { cat err; return 1; }
}

# An instance that records the calls of a flood, and a rare event. t/unit/budget.c tests which step
# is right. The tests here prove that the kernel takes each step, and that the counts are exact. So
# they take a budget that calls without pause exceed even with a small share of a CPU, and
# they allow for each step that samples of a busy machine may lead to.
flood_instance() {
	need_tracefs events/syscalls
	new_instance
	echo 4096 >"$DIR/buffer_size_kb" # the lines of the steps stay
	echo $$ >"$DIR/set_event_pid" # without a pid every task would be recorded
	echo 1 >"$DIR/events/syscalls/sys_enter_getppid/enable"
	echo 1 >"$DIR/events/sched/sched_process_exit/enable"
}

# Start calls that never end; set $CALLS.
flood() {
	calls 2000000000
	echo "$CALLS" >>"$DIR/set_event_pid"
	release
}

ends() {
	ends_by "$1" KILL 137
}

# reduced FILE: Does the last line of the steps say that an event of the flood is not recorded?
reduced() {
	tail -n 1 "$1" | grep -Eq '^(# )?budget: (filtered|off): load [0-9.]* % of .*(not recorded since [0-9.]+: |, )syscalls:sys_enter_get'
}

# dumped N: Ask for a dump, and wait until dump.N exists.
dumped() {
	kill -USR1 "$FLIGHT"
	eventually test -e "d/dump.$1"
}

stops() {
	ends_by "$FLIGHT" TERM 0
	[ ! -s err ] || { cat err; return 1; }
	[ ! -e "$TRACEFS/instances/$INSTANCE+budget" ]
	[ ! -e d/budget ]
}

marked() {
	sed -n 's/.*: tracing_mark_write: //p' "$1"
}

@test "tfs-flight: -B records everything while the load is below the budget, and says what an event costs" {
	flood_instance
	flight -B 50%
	grep -Eqx 'budget: all: load 0\.00 % of 50\.00 %; an event costs [1-9][0-9]* ns here' d/budget
	file_is out "# $(cat d/budget)"
	calls 100
	echo "$CALLS" >>"$DIR/set_event_pid"
	release "$CALLS"
	dumped 1
	[ "$(grep -c ': sys_getppid()$' d/dump.1)" = 100 ]
	file_has 101 d/dump.1 # and the exit of the task
	stops
}

# bats test_tags=quick
@test "tfs-flight: -B records less in a flood, each dump says what is not recorded, with exact counts, and the end restores all" {
	flood_instance
	flight -B 0.5
	flood
	eventually reduced d/budget
	[ "$(wc -l <d/budget)" = 1 ]
	ends "$CALLS"
	sed -n 's/^# //p' out | sed 1d >told
	dumped 1
	marked d/dump.1 >lines
	cat lines
	# each step down is a line before it, and one after it
	[[ $(head -n 1 lines) =~ ^budget:\ (filtered|off):\ .*\;\ not\ recorded\ from\ here\ on:\ .*syscalls:sys_enter_getppid ]]
	grep -q '; not recorded since [0-9.]*: .*syscalls:sys_enter_getppid.*; [0-9]* events recorded before$' lines
	# the reader gets the same lines
	[ -s told ]
	run -1 grep -vxFf lines told
	# all that was recorded is counted, in the buffer or dropped
	n=$(($(cat d/dropped) + $(grep -c ': sys_getppid()$\|: sched_process_exit: ' d/dump.1)))
	told=$(tail -n 1 lines | sed -n 's/.*; \([0-9]*\) events recorded before$/\1/p')
	[ "$told" -le "$n" ]
	# if the calls are off at the end, only exits came after the last line
	! reduced lines || [ "$n" -le $((told + $(grep -c ': sched_process_exit: ' d/dump.1))) ]
	stops
	file_is "$DIR/events/syscalls/sys_enter_getppid/enable" 1
	file_is "$DIR/events/sched/sched_process_exit/enable" 1
	grep -q '^# budget: all: ' out
}

# times FILE: Print the times of the numbered calls in a text, and of the steps that end and begin
# their recording.
times() {
	sed -n 's/.* \([0-9.]*\): sys_getpriority(.*/\1 call/p
		/tracing_mark_write.*sys_enter_getpriority/{
			s/.* \([0-9.]*\): tracing_mark_write: .*from here.*/\1 down/p
			s/.* \([0-9.]*\): tracing_mark_write: .*again.*/\1 up/p
		}' "$1"
}

@test "tfs-flight: -B: an event is missing only between the line of a step down and that of a step up" {
	need_tracefs events/syscalls
	new_instance -full
	full=$DIR
	new_instance
	for dir in "$DIR" "$full"; do
		echo 65536 >"$dir/buffer_size_kb"
		echo $$ >"$dir/set_event_pid"
		echo 1 >"$dir/options/event-fork"
		echo 1 >"$dir/events/syscalls/sys_enter_getpriority/enable"
	done
	echo 1 >"$DIR/events/sched/sched_process_exit/enable"
	flight -B 1
	mkfifo go
	exec 9<>go
	# at most a million calls, which the buffers hold; they are many for the budget even if they
	# come late, until the flood ends
	"$PROG/numbers" 10 100000 1 600 <&9 &
	numbers=$!
	echo "$numbers" >>"$full/set_event_pid"
	echo "$numbers" >>"$DIR/set_event_pid"
	echo >&9
	eventually reduced d/budget
	ends "$numbers"
	is_all() { grep -q '^budget: all: ' d/budget; }
	eventually is_all
	# and a few that are recorded again
	"$PROG/numbers" 1 50 1 600 <&9 >/dev/null &
	numbers=$!
	echo "$numbers" >>"$full/set_event_pid"
	echo "$numbers" >>"$DIR/set_event_pid"
	echo >&9
	finishes "$numbers" 0
	dumped 1
	[ "$(cat "$full"/per_cpu/cpu*/stats | awk '/^overrun/ { n += $2 } END { print n }')" = 0 ]
	file_is d/dropped 0
	times d/dump.1 >ours
	times "$full/trace" >all
	# The clocks of two instances differ by less than a millisecond. A step may interrupt the task
	# in a call that one instance has recorded and the other has not.
	awk 'NR == FNR { if ($2 == "call") n[steps % 2]++; else if ($2 == "down" && steps % 2 == 0) { from[++k] = $1; steps++ }
			else if ($2 == "up") { to[k] = $1; steps++ } next }
		{ for (i = 1; i <= k; i++) if ($1 > from[i] - 0.001 && $1 < to[i] + 0.001) next; m++ }
		END { print k, n[0], m; exit !(k >= 1 && m > 100 && m <= n[0] + k) }' ours all
	stops
}

# policy: Print how the kernel schedules the recorder: 0 like other programs, 1 before them.
policy() {
	awk '{ print $41 }' "/proc/$FLIGHT/stat"
}

@test "tfs-flight: -B runs before ordinary programs, also after a dump, and not if it was started with nice" {
	[ "$(nice)" = 0 ] || skip "needs tests that run with the usual priority"
	chrt -f 1 true 2>/dev/null || skip "needs CAP_SYS_NICE, for SCHED_FIFO"
	flood_instance
	flight -B 1
	[ "$(policy)" = 1 ]
	dumped 1
	runs_first() { [ "$(policy)" = 1 ]; }
	eventually runs_first
	stops
	flight
	[ "$(policy)" = 0 ]
	stops
	with=(nice -n 1)
	flight -B 1
	[ "$(policy)" = 0 ]
	stops
}

@test "tfs-flight: -B makes no control file with -L, and leaves the instance as it was" {
	flood_instance
	cat "$DIR"/set_event >before
	flight -B 0.5 -L
	flood
	off() { [ "$(cat "$DIR/events/syscalls/sys_enter_getppid/enable")" = 0 ]; }
	eventually off
	[ -z "$(ls -A d)" ]
	stops
	diff before "$DIR/set_event"
}

@test "tfs-flight: -B takes a percentage only" {
	new_instance
	mkdir d
	for word in 0 51 1.x x 0.001 '' 1%%; do
		exits 100 tfs-flight -i "$INSTANCE" -B "$word" d
		[[ $(cat err) == "tfs-flight: fatal: --budget: '$word' is not a percentage from 0.01 to 50; usage: "* ]]
		[ ! -s out ]
	done
	[ -z "$(ls -A d)" ]
}

@test "trace_flight: --budget tells the reader each step, and leaves only dumps" {
	need_tracefs events/syscalls
	calls 2000000000
	start_session trace_flight --pid "$CALLS" -e sys_enter_getppid sched_process_exit --budget 0.5% \
		--dump-on SIGUSR1
	HERE=${TRACE%/*}
	read_by cat >got
	[ -d "$TRACEFS/instances/tfs.$MARK+budget" ]
	release
	eventually reduced got
	grep -q '^budget: [a-z]*: ' "$HERE/budget"
	kill -USR1 "$SESSION"
	eventually test -e "$HERE/dump.1"
	marked "$HERE/dump.1" | grep -q '^budget: [a-z]*: .*; not recorded from here on: '
	ends_by "$SESSION" INT 0
	finishes "$READER" 0
	[ ! -s err ]
	[ "$(cd "$HERE" && echo *)" = dump.1 ]
	[ ! -e "$TRACEFS/instances/tfs.$MARK+budget" ]
	rm -r "$HERE"
}

@test "trace_flight: --budget leaves nothing if the recorder or the janitor is killed" {
	need_tracefs events/syscalls
	for victim in stream janitor; do
		calls 10
		start_session trace_flight --pid "$CALLS" -e sys_enter_getppid --budget 1% --dump-on SIGUSR1
		read -r janitor _ <"/proc/$SESSION/task/$SESSION/children" || : # without a newline
		read -r stream _ <"/proc/$janitor/task/$janitor/children" || :
		[ -d "$TRACEFS/instances/tfs.$MARK+budget" ]
		kill -KILL "${!victim}"
		wait "$SESSION" || :
		gone() { [ ! -e "$TRACEFS/instances/tfs.$MARK+budget" ]; }
		eventually gone
		kill -KILL "$CALLS"
		"$MANAGER" --clear
		rm -rf "${TRACE%/*}"
	done
}

@test "trace_flight: --budget takes a percentage only" {
	need_tracefs
	calls 1
	exits 100 "$MANAGER" --run trace_flight --args "--pid $CALLS -e sched_switch --budget much"
	[[ $(cat err) == "manager: fatal: --budget: 'much' is not a percentage from 0.01 to 50"* ]]
	file_has 1 err
	[ ! -s out ]
}

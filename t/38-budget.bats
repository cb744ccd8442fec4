#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2034,SC2153 # each test is a process of its own; helper.bash
# parts: 3
# tfs-flight -B and trace_flight --budget: a recorder that records less when it costs too much

load helper

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

# An instance that records the calls of a flood, and a rare event.
flood_instance() {
	need_tracefs events/syscalls
	new_instance
	echo 64 >"$DIR/buffer_size_kb"
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
	kill -KILL "$1"
	finishes "$1" 137
}

is_now() {
	grep -q "^budget: $1: load [0-9.]* % of " d/budget
}

# exits: Let children exit, one after the other, until it is killed.
exits() {
	while :; do (:); done
}

# dumped N: Ask for a dump, and wait until dump.N exists.
dumped() {
	kill -USR1 "$FLIGHT"
	eventually test -e "d/dump.$1"
}

stops() {
	kill "$FLIGHT"
	finishes "$FLIGHT" 0
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
	grep -Eqx 'budget: all: load 0\.00 % of 50\.00 %; an event costs [1-9][0-9]* ns here, or up to [0-9]+ ns less(; a counted one [1-9][0-9]* ns)?' d/budget
	file_is out "# $(cat d/budget)"
	calls 100
	echo "$CALLS" >>"$DIR/set_event_pid"
	release
	finishes "$CALLS" 0
	dumped 1
	[ "$(grep -c ': sys_getppid()$' d/dump.1)" = 100 ]
	file_has 101 d/dump.1 # and the exit of the task
	stops
}

# bats test_tags=quick
@test "tfs-flight: -B keeps the rare event of a flood, and each dump says what is not recorded, with exact counts" {
	flood_instance
	echo 4096 >"$DIR/buffer_size_kb" # the lines of the steps stay
	flight -B 1
	flood
	eventually is_now filtered
	cat d/budget
	recorded=$(sed -n 's/.*; \([0-9]*\) events recorded before$/\1/p' d/budget)
	grep -Eq '; not recorded since [0-9]+\.[0-9]{6}: syscalls:sys_enter_getppid; [0-9]+ events recorded before$' d/budget
	grep -qFx "# $(cat d/budget)" out
	dumped 1
	dropped=$(cat d/dropped)
	ends "$CALLS"
	dumped 2
	marked d/dump.1 >lines
	# if the flood is heavy, a sample says which of the two is rare when both are off
	if grep -Eq '^budget: off: .*; not recorded from here on: (sched:sched_process_exit, syscalls:sys_enter_getppid|syscalls:sys_enter_getppid, sched:sched_process_exit)$' lines; then
		grep -Eq '^budget: filtered: .*; recorded again, not since [0-9.]+: sched:sched_process_exit; [0-9]+ events recorded before$' lines
	else
		grep -q '^budget: filtered: .*; not recorded from here on: syscalls:sys_enter_getppid$' lines
	fi
	# the end of the step, and the beginning of the dump
	[ "$(grep -c "; not recorded since .*: syscalls:sys_enter_getppid; $recorded events recorded before$" lines)" -ge 2 ]
	[ $((dropped + $(grep -c ': sys_getppid()$' d/dump.1))) = "$recorded" ]
	file_is "$DIR/events/syscalls/sys_enter_getppid/enable" 0
	[ "$(grep -c ': sched_process_exit: ' d/dump.2)" = 1 ]
	marked d/dump.2 | head -n 1 | grep -q '^budget: '
	stops
	file_is "$DIR/events/syscalls/sys_enter_getppid/enable" 1
}

@test "tfs-flight: -B records again after a flood, and says since when it did not" {
	flood_instance
	flight -B 10
	flood
	eventually is_now filtered
	since=$(sed -n 's/.* since \([0-9.]*\): .*/\1/p' d/budget)
	ends "$CALLS"
	eventually is_now all
	file_is "$DIR/events/syscalls/sys_enter_getppid/enable" 1
	calls 100
	echo "$CALLS" >>"$DIR/set_event_pid"
	release
	finishes "$CALLS" 0
	dumped 1
	awk '/: budget: all: / { said = NR } said && /: sys_getppid\(\)$/ { n++ } END { exit n != 100 }' d/dump.1
	marked d/dump.1 | grep -q "^budget: all: .*; recorded again, not since $since: syscalls:sys_enter_getppid; [0-9]* events recorded before$"
	[ "$(marked d/dump.1 | tail -n 1 | cut -d: -f 2)" = ' all' ]
	stops
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
	flight -B 4
	mkfifo go
	exec 9<>go
	for rate in 300000 100; do
		"$PROG/numbers" 600 $rate 1 600 <&9 &
		numbers=$!
		echo "$numbers" >>"$full/set_event_pid"
		echo "$numbers" >>"$DIR/set_event_pid"
		echo >&9
		if [ $rate = 100 ]; then
			called_again() { [ "$(grep -c sys_getpriority "$full/trace")" -ge $((before + 20)) ]; }
			eventually called_again
		else
			eventually is_now filtered
		fi
		ends "$numbers"
		eventually is_now all
		before=$(grep -c sys_getpriority "$full/trace")
	done
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
		END { print k, n[0], m; exit !(k >= 1 && m > 1000 && m <= n[0] + k) }' ours all
	stops
}

@test "tfs-flight: -B does not blame a rare event for a flood that its samples miss" {
	flood_instance
	flight -B 1
	# the flood pauses until the sample is over, and other tasks exit all the time
	mkfifo pause
	echo 1 >"$DIR/options/event-fork"
	echo "$BASHPID" >>"$DIR/set_event_pid"
	background exits
	for i in {1..60}; do
		"$PROG/calls" 6000 <<<go >/dev/null
		read -rt 0.03 _ <>pause || :
	done
	kill "$PID"
	cat out
	grep -q '; not recorded since .*syscalls:sys_enter_getppid' out
	run ! grep -E ': filtered: .*; not recorded since [0-9.]+: sched:sched_process_exit;' out
	stops
}

@test "tfs-flight: -B steps down to nothing if all events are a flood, and says that, too" {
	flood_instance
	echo 0 >"$DIR/events/sched/sched_process_exit/enable"
	flight -B 0.5
	flood
	eventually is_now off
	dumped 1
	[ "$(marked d/dump.1 | tail -n 1 | cut -d: -f 2)" = ' off' ]
	stops
}

@test "tfs-flight: -B counts with a histogram the events that it cannot record, and says how many" {
	need_tracefs events/syscalls
	need_tracefs events/syscalls/sys_enter_getpriority/hist
	new_instance -full # has the number of the last call
	full=$DIR
	echo 1 >"$DIR/events/syscalls/sys_enter_getpriority/enable"
	new_instance
	# a stack costs more than an entry of a histogram
	echo 1 >"$DIR/options/stacktrace"
	echo 1 >"$DIR/events/syscalls/sys_enter_getpriority/enable"
	flight -B 20
	cost=$(sed -n 's/.* an event costs \([0-9]*\) ns.*/\1/p' d/budget)
	mkfifo go
	exec 9<>go
	"$PROG/numbers" 600 $((400000000 / cost)) 1 600 <&9 &
	numbers=$!
	echo >&9
	eventually is_now counted
	recorded=$(sed -n 's/.*; \([0-9]*\) events recorded before$/\1/p' d/budget)
	dumped 1
	marked d/dump.1 | grep -Eq '^budget: counted: .*; counted, not recorded since [0-9.]+: syscalls:sys_enter_getpriority \([0-9]+ counted\); '
	ends "$numbers"
	eventually is_now all
	dumped 2
	# each call is recorded or counted, and hardly any is both
	counted=$(marked d/dump.2 | sed -n 's/^budget: all: .*; recorded again, not since .*: syscalls:sys_enter_getpriority (\([0-9]*\) counted); .*/\1/p')
	calls=$((16#$(tail -n 1 "$full/trace" | sed 's/.*who: \(0x\)*\([0-9a-f]*\)).*/\2/') + 1))
	echo "$recorded recorded, $counted counted of $calls"
	[ "$counted" -gt 0 ]
	[ $((recorded + counted)) -ge "$calls" ]
	[ $((recorded + counted)) -le $((calls + calls / 20)) ]
	stops
	[ "$(grep -vc '^#' "$DIR/events/syscalls/sys_enter_getpriority/trigger")" = 0 ]
}

@test "tfs-flight: -B switches off an event that it cannot count" {
	flood_instance
	echo 0 >"$DIR/events/sched/sched_process_exit/enable"
	flight -B 1
	flood
	eventually is_now off
	[ "$(grep -c counted d/budget)" = 0 ]
	stops
}

@test "tfs-flight: -B switches an event that starts dumps off last" {
	flood_instance
	flight -B 1 -t syscalls:sys_enter_getppid -f 'common_pid == 1'
	flood
	eventually grep -q 'not recorded since .*syscalls:sys_enter_getppid' d/budget
	dumped 1
	marked d/dump.1 | grep -q 'syscalls:sys_enter_getppid'
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

@test "tfs-flight: -B takes no step while the recording is stopped" {
	flood_instance
	flight -B 1
	echo stop >d/state
	stopped() { [ "$(cat "$DIR/tracing_on")" = 0 ]; }
	eventually stopped
	flood
	dumped 1
	[ ! -s d/dump.1 ]
	is_now all
	file_is "$DIR/events/syscalls/sys_enter_getppid/enable" 1
	echo start >d/state
	eventually is_now filtered
	stops
}

@test "tfs-flight: -B makes no control file with -L, and leaves the instance as it was" {
	flood_instance
	cat "$DIR"/set_event >before
	flight -B 1 -L
	flood
	off() { [ "$(cat "$DIR/events/syscalls/sys_enter_getppid/enable")" = 0 ]; }
	eventually off
	[ -z "$(ls -A d)" ]
	stops
	diff before "$DIR/set_event"
}

@test "tfs-flight: -B takes a percentage only" {
	need_tracefs
	new_instance
	mkdir d
	for word in 0 51 1.x x 0.001 '' 1%%; do
		status=0
		tfs-flight -i "$INSTANCE" -B "$word" d >out 2>err || status=$?
		[ "$status" = 100 ]
		[[ $(cat err) == "tfs-flight: fatal: not a percentage from 0.01 to 50: '$word'"* ]]
		[ ! -s out ]
	done
	[ -z "$(ls -A d)" ]
}

@test "trace_flight: --budget tells the reader each step, and leaves only dumps" {
	need_tracefs events/syscalls
	calls 2000000000
	start_session trace_flight --pid "$CALLS" -e sys_enter_getppid sched_process_exit --budget 1% \
		--dump-on SIGUSR1
	HERE=${TRACE%/*}
	read_by cat >got
	[ -d "$TRACEFS/instances/tfs.$MARK+budget" ]
	release
	told() { grep -q '^# budget: filtered: ' got; }
	eventually told
	grep -q '^budget: filtered: ' "$HERE/budget"
	kill -USR1 "$SESSION"
	eventually test -e "$HERE/dump.1"
	marked "$HERE/dump.1" | grep -q '^budget: filtered: '
	kill -INT "$SESSION"
	finishes "$SESSION" 0
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
	status=0
	"$MANAGER" --run trace_flight --args "--pid $CALLS -e sched_switch --budget much" >out 2>err ||
		status=$?
	[ "$status" = 100 ]
	[[ $(cat err) == "manager: fatal: not a percentage from 0.01 to 50: 'much'"* ]]
	file_has 1 err
	[ ! -s out ]
	nothing_left
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034 # words as they are; each test is a process of its own
# trace_event: records any events with exact counts, and a refusal starts nothing

load ../helper

# events_in FILE NAME: Print how often the event occurs in FILE.
events_in() {
	grep -c "^[^#].*: $2: " "$1" || :
}

# traced WORDS: Run a session of the held program calls, release the program, and read the
# trace to its end into got.
traced() {
	watch_whole trace_event --pid "$CALLS" "$@"
}

# refuses STATUS LINE WORDS: Fail unless it is refused with STATUS and LINE, and nothing begins.
refuses() {
	local status=0
	"$MANAGER" --run trace_event --args "--instance $MARK --pid $CALLS ${*:3}" >out 2>err ||
		status=$?
	if [ "$status" != "$1" ] || [ -s out ] || [ "$(head -n 1 err)" != "manager: fatal: $2" ]; then
		echo "status $status"
		cat out err
		return 1
	fi
	nothing_left
}

# bats test_tags=quick
@test "trace_event: prints the named event as often as it happened, and no other event" {
	need_tracefs events/syscalls
	calls 1000
	traced --event syscalls:sys_enter_getppid
	[ "$(grep -c ': sys_getppid()$' got)" = 1000 ]
	[ "$(grep -vc '^#' got)" = 1000 ]
}

@test "trace_event: -e takes several names and globs, and a name without a colon in any system" {
	need_tracefs events/syscalls
	calls 100
	traced -e 'sys_*_getppid' 'sched:sched_process_ex?t'
	[ "$(grep -c ': sys_getppid()$' got)" = 100 ]
	[ "$(grep -c ': sys_getppid -> ' got)" = 100 ]
	[ "$(events_in got sched_process_exit)" = 1 ]
	[ "$(grep -vc '^#' got)" = 201 ]
}

@test "trace_event: prints five forks and six ends for five children" {
	need_tracefs
	calls 10 1 5
	traced -e sched_process_fork sched_process_exit
	[ "$(events_in got sched_process_fork)" = 5 ]
	[ "$(events_in got sched_process_exit)" = 6 ]
	[ "$(grep -vc '^#' got)" = 11 ]
}

# A task that moves itself is moved by a thread of the kernel: no event of its own.
moved() {
	grep -c "^ *migration/.*: sched_migrate_task: .*comm=acts pid=$1 " "${2-got}" || :
}

# act_traced WORDS: Do as traced for the held program acts.
act_traced() {
	watch_whole trace_event --pid "$ACT" "$@"
}

@test "trace_event: events about another task than the one that runs are those of the traced tasks" {
	need_tracefs events/sched/sched_migrate_task
	[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
	act moves 50 3
	act_traced -e sched_migrate_task
	# the first move is to the CPU on which a task may be already
	n=$(moved "$ACT")
	[ "$n" = 50 ] || [ "$n" = 51 ]
	[ "$(grep -v '^#' got | grep -vc ' comm=acts ')" = 0 ]
	children=$(sed -n 's/.* comm=acts pid=\([0-9]*\) .*/\1/p' got | sort -u | grep -vx "$ACT")
	[ "$(wc -w <<<"$children")" = 3 ]
	for n in $children; do
		[ "$(moved "$n")" = 50 ] || [ "$(moved "$n")" = 51 ]
	done
	# beside it, other events of the tasks themselves, as JSON
	act moves 20 0
	act_traced --json -e sched:sched_migrate_task sched_process_exit
	n=$(grep -c '"event":"sched_migrate_task","fields":{"comm":"acts","pid":'"$ACT," got)
	[ "$n" -ge 20 ]
	[ "$(wc -l <got)" = $((n + 1)) ]
	[ "$(grep -c '"event":"sched_process_exit"' got)" = 1 ]
}

@test "trace_event: signals that a stranger sends to a traced task are among its events" {
	need_tracefs events/signal/signal_generate
	act moves 0 0
	watch trace_event --pid "$ACT" -e signal_generate
	ends_by "$ACT" TERM 143
	watch_end
	[ "$(grep -c ": signal_generate: sig=15 errno=0 code=0 comm=acts pid=$ACT " got)" = 1 ]
}

@test "trace_event: refuses events that name no task, and what cannot be selected, with the command that works" {
	need_tracefs
	calls 1
	refuses 100 "--event: power:cpu_idle happens in unrelated tasks and names none; give --all instead of selected tasks" \
		-e power:cpu_idle
	refuses 100 "--output dat: sched:sched_migrate_task is recorded in all tasks, and only text can be selected; give --all, or another output" \
		-e sched_migrate_task --output dat
	fails 100 "manager: fatal: --parent: sched:sched_migrate_task happens in other tasks; give --pid" \
		"$MANAGER" --run trace_event --args "--instance $MARK --parent $CALLS -e sched_migrate_task"
	fails 100 "manager: fatal: --event: sched:sched_migrate_task happens in other tasks than the one it is about; give --all and the filter 'pid == PID'" \
		"$MANAGER" --run trace_flight --args "--instance $MARK --pid $CALLS -e sched_migrate_task"
	for word in sched_migrate_task sched:sched_migrate_task 'sched_migrate_task:pid>1' 'sched:sched_migrate_task:pid>1'; do
		fails 100 "manager: fatal: --dump-on: sched:sched_migrate_task happens in other tasks than the one it is about; give --all and the filter 'pid == PID'" \
			"$MANAGER" --run trace_flight --args "--instance $MARK --pid $CALLS -e sched_switch --dump-on '$word'"
	done
	fails 100 "manager: fatal: --event: tcp:tcp_retransmit_skb happens in unrelated tasks and names none; give --all instead of selected tasks" \
		"$MANAGER" --run trace_hist --args "--instance $MARK --pid $CALLS -e tcp_retransmit_skb -k dport"
}

@test "trace_event: prints the events that a program registers and writes itself, with their arrays, beside its calls" {
	need_tracefs user_events_data
	need_tracefs events/syscalls
	hold "$PROG/user_event" 2
	watch trace_event -e "user_events:tfs_$HELD" sys_enter_getppid --pid "$HELD"
	release
	watch_end
	sed -n 's/^.* [0-9.]*: //p' got | diff - <(
		for id in 1 2; do
			printf '%s\n' "tfs_$HELD: version=1 event_id=$id extension={} payload={0x47,0x0,0x43,0x0} word=a\\nb\\\"c delta=-5" \
				'sys_getppid()'
		done
	)
}

@test "trace_event: --filter passes the events for which the filter holds" {
	need_tracefs events/raw_syscalls/sys_enter
	calls 1000
	traced -e raw_syscalls:sys_enter --filter "'id == $(syscall-nr getppid)'"
	[ "$(grep -c ': sys_enter: NR ' got)" = 1000 ]
	[ "$(grep -vc '^#' got)" = 1000 ]
}

@test "trace_event: --stack prints the kernel's stack below each event" {
	need_tracefs options/stacktrace
	calls 10 1 5
	traced -e sched_process_fork --stack
	[ "$(events_in got sched_process_fork)" = 5 ]
	[ "$(grep -c '<stack trace>' got)" = 5 ]
	[ "$(grep -c '^ => ' got)" -ge 10 ]
}

@test "trace_event: --user-stack prints the program's stack below each event, with functions and files" {
	user_stacks trace_event -e sys_enter_getppid --user-stack --stack
	[ "$(grep -c "^ => main+0x[0-9a-f]* ($PROG/acts)$" got)" = 5 ]
	# below the kernel's stack
	[ "$(grep -c '<stack trace>' got)" = 5 ]
	tfs-flame -f <got >folded
	grep -q '^acts;.*main;acts_often;.* 3$' folded
}

# need_markers: Skip unless instances can have copies of the marks, in a guest: the top level is
# everyone's.
need_markers() {
	need_tracefs trace_marker
	[ "${TFS_VARIANT-}" = vm ] || skip "needs a guest, because any session may have copies of the marks"
	new_instance
	[ -e "$DIR/options/copy_trace_marker" ] ||
		skip "needs options/copy_trace_marker (Linux 6.16)"
}

# marked HOOK WORDS: Do as traced, and write a mark at the top level as an unrelated task.
marked() {
	calls 10
	watch "$1" --pid "$CALLS" -e sys_enter_getppid "${@:2}"
	echo 'of a stranger' >"$TRACEFS/trace_marker"
	release
	watch_end
	echo 'too late' >"$TRACEFS/trace_marker"
	[ "$(grep -c ': sys_getppid()$' got)" = 10 ]
}

@test "trace_event and trace_flight: --markers also prints what other tasks write to trace_marker" {
	need_tracefs events/syscalls
	need_markers
	for hook in trace_event trace_flight; do
		marked "$hook" --markers
		[ "$(grep -c ': tracing_mark_write: of a stranger$' got)" = 1 ]
		[ "$(grep -vc '^#' got)" = 11 ]
		marked "$hook"
		[ "$(grep -vc '^#' got)" = 10 ]
	done
}

@test "trace_event and trace_flight: --markers is refused if the kernel copies no marks" {
	need_tracefs events/syscalls
	new_instance
	[ ! -e "$DIR/options/copy_trace_marker" ] || skip "needs a kernel without options/copy_trace_marker"
	for hook in trace_event trace_flight; do
		calls 1
		fails 111 'manager: fatal: this kernel has no options/copy_trace_marker for --markers, which need Linux 6.16' \
			"$MANAGER" --run "$hook" --args "--instance $MARK --pid $CALLS -e sys_enter_getppid --markers"
		nothing_left
	done
}

@test "trace_event: --trigger sets a trigger at each of the events" {
	need_tracefs events/sched/sched_process_fork/trigger
	calls 10 1 5
	# a trigger acts on the events of all tasks
	traced -e sched_process_fork --trigger "'traceoff:1 if parent_pid == $CALLS'"
	[ "$(events_in got sched_process_fork)" = 1 ]
	[ "$(grep -vc '^#' got)" = 1 ]
}

# switches: Print "FROM TO" for each switch of stdin, without the last of a task, after which the
# session may end.
switches() {
	sed -nE 's/.* prev_pid=([0-9]+) .* prev_state=[^ZX]+ ==> .* next_pid=([0-9]+) .*/\1 \2/p'
}

@test "trace_event: records each switch of a task that an instance without a pid filter records" {
	need_tracefs events/sched/sched_switch/filter
	new_instance all
	for output in fifo dat; do
		act sleeps 100 0
		echo 0 >"$DIR/events/sched/sched_switch/enable"
		echo "prev_pid == $ACT || next_pid == $ACT" >"$DIR/events/sched/sched_switch/filter"
		echo 1 >"$DIR/events/sched/sched_switch/enable"
		start_session trace_event --output "$output" --pid "$ACT" -e sched_switch
		[ "$output" = dat ] || read_by cat >got
		echo >"$DIR/trace" # the task is asleep
		release
		if [ "$output" = dat ]; then
			finishes "$SESSION" 0
			tfs-report "$TRACE" >got
		else
			watch_end
		fi
		switches <"$DIR/trace" >all
		file_has 100+ all
		switches <got | diff all -
	done
	"$MANAGER" --clear
}

@test "trace_event: two sessions at once do not see each other's events" {
	need_tracefs events/syscalls
	calls 10 1 5
	one=$CALLS one_go=$GO
	start_session trace_event --output fifo --pid "$one" -e sched_process_fork
	read_by cat >got.one
	one_session=$SESSION one_reader=$READER
	calls 100
	second_session trace_event "--output fifo --pid $CALLS -e sys_enter_getppid"
	read_by cat >got
	release
	all_end "$SESSION" "$READER"
	[ "$(grep -c ': sys_getppid()$' got)" = 100 ]
	[ "$(grep -vc '^#' got)" = 100 ]
	echo >"$one_go"
	all_end "$one_session" "$one_reader"
	[ "$(events_in got.one sched_process_fork)" = 5 ]
	[ "$(grep -vc '^#' got.one)" = 5 ]
}

@test "trace_event: reports no event or an unknown event on one line with the nearest name, and begins nothing" {
	need_tracefs
	calls 1
	refuses 100 'no event is named; give --event'
	refuses 111 "no event is called 'sched_swich'; did you mean sched_switch?" \
		-e sched_waking sched_swich
	file_has 1 err
	refuses 100 "--event needs a value; --describe trace_event describes it" --event
}

@test "trace_event: shows the kernel's reason and caret for a refused filter" {
	need_tracefs
	calls 1
	refuses 111 "unable to write 'prev_prio > 1 && nope == 2' to events/sched/sched_switch/filter, the kernel says: Field not found: Invalid argument" \
		-e sched_switch --filter "'prev_prio > 1 && nope == 2'"
	[ "$(sed -n 2p err)" = '  Command: prev_prio > 1 && nope == 2' ]
	[[ $(sed -n 3p err) =~ ^\ +\^$ ]]
	[ "$(sed -n '4,$p' err)" = '  events/sched/sched_switch/format lists the fields' ]
}

@test "trace_event: takes shell commands and paths for unknown event names" {
	need_tracefs
	calls 1
	for word in '$(touch evil)' '`touch evil`' ';touch evil' '../../../etc/passwd' '-f' '*/../*'; do
		status=0
		"$MANAGER" --run trace_event --args "--instance $MARK --pid $CALLS -e '$word'" >out 2>err ||
			status=$?
		[ "$status" != 0 ]
		[ ! -s out ]
		file_has 1 err
		nothing_left
	done
	[ ! -e evil ]
}

# ---- --all: every task except those of the session -----------------------------------

# own_tasks: Print the pids of manager, janitor and stream, one per line.
own_tasks() {
	local janitor
	janitor=$(children "$SESSION")
	printf '%s\n' "$SESSION" "$janitor"
	children "$janitor"
}

# clause EXPRESSION: Print the filter of an event with this filter that leaves those tasks out.
clause() {
	local pid text=
	for pid in $(own_tasks | sort -n); do
		text="${text:+$text && }common_pid != $pid"
	done
	echo "${1:+($1) && }(common_flags & 0x58 || ($text))"
}

filter_is() {
	[ "$(cat "$TRACEFS/instances/tfs.$MARK/events/$1/filter")" = "$(clause "${2-}")" ]
}

# interrupted FILE: Succeed if FILE has an interrupt that hit a task of the session.
interrupted() {
	"$PROG/calls" 20000 </dev/null >&-
	grep -qE "^ *[^#]{0,16}-($(own_tasks | tr '\n' '|')none) +\[[0-9]+\] ..[hHszZ]" "$1"
}

@test "trace_event: with --all it records interrupts that hit the session itself" {
	need_tracefs events/irq/softirq_entry
	watch trace_event --all -e softirq_entry raw_syscalls:sys_enter
	eventually interrupted got
	own=$(own_tasks | tr '\n' '|')none
	watch_stop
	# and no system call of the session itself
	run -1 grep -m 3 -E "^[^#]{0,16}-($own) .*: sys_enter: " got
}

@test "trace_event: whatever selects the session's own tasks, it does not record them" {
	need_tracefs events/syscalls
	for words in "--pid $$" "--parent $$" "--uid $(id -u)" "--comm manager calls" "--cgroup $$"; do
		calls 1000
		watch trace_event "$words" -e sys_enter_getppid sys_enter_read
		own=$(own_tasks | tr '\n' '|')none
		release "$CALLS"
		kill -INT "$SESSION" 2>/dev/null || : # with --comm it ends by itself
		watch_end
		echo "$words"
		[ "$(grep -c -- "-$CALLS .*: sys_getppid()$" got)" = 1000 ]
		run -1 grep -m 3 -E "^[^#]{0,16}-($own) " got
	done
}

@test "trace_event: refuses to trace nothing but its own session" {
	need_tracefs
	run -111 "$BASH" -c 'exec "$0" --run trace_event --args "--pid $$ -e sched_switch"' "$MANAGER"
	[ "$output" = "manager: fatal: no task to trace: the selected tasks have ended, or are the \
session's own" ]
}

@test "trace_event: with --all the event filters leave the session's own tasks out" {
	need_tracefs events/signal
	start_session trace_event --output fifo --all -e signal_deliver --filter "'sig == 10 || sig == 12'"
	filter_is signal/signal_deliver 'sig == 10 || sig == 12'
	[ "$(grep -c '[0-9]' "$TRACEFS/instances/tfs.$MARK/set_event_notrace_pid")" = 0 ]
	stop_session
}

@test "trace_event: with --all it records switches and wake-ups of other tasks by the session" {
	need_tracefs events/sched
	start_session trace_event --output fifo --all -e sched_switch sched_waking
	filters=$TRACEFS/instances/tfs.$MARK/events/sched
	own=$(clause)
	others=${own#*|| (} others=${others%))}
	file_is "$filters/sched_switch/filter" "${own%)} || (${others//common_pid/next_pid}))"
	file_is "$filters/sched_waking/filter" "${own%)} || (${others//common_pid/pid}))"
	stop_session
}

# begins_anew STREAM: Succeed if the session has another stream than STREAM, and leaves it out.
begins_anew() {
	"$PROG/acts" nothing
	[ "$(own_tasks | tail -n 1)" != "$1" ] && filter_is sched/sched_process_exit
}

@test "trace_event: with --all it records each scheduler event, whatever its fields" {
	need_tracefs events/sched/sched_wake_idle_without_ipi
	start_session trace_event --output fifo --all -e 'sched:*'
	filters=$TRACEFS/instances/tfs.$MARK/events/sched
	# the name begins like the name of a wake-up, but the event names no second task
	file_is "$filters/sched_wake_idle_without_ipi/filter" "$(clause)"
	grep -qw pid "$filters/sched_wakeup_new/filter"
	stop_session
}

@test "trace_event: with --all it leaves out a stream that is started for a second reader, too" {
	need_tracefs events/sched
	# another user's tool, which dies with its reader
	own_tree
	own_bin
	printf '#!/bin/sh\nexec yes\n' >tree/bin/mortal
	chmod +x tree/bin/mortal
	make_hook dies <<-'EOF'
		# description: a tool that dies with its reader
		tfs-event sched:sched_process_exit
		printf '%s\0' tool 1 mortal
	EOF
	start_session dies --output fifo --all
	stream=$(own_tasks | tail -n 1)
	read_by head -n 1 >got
	eventually begins_anew "$stream"
	stop_session
}

# The pid list of the session has its own tasks, and no other.
excludes_own_tasks() {
	[ "$(grep -o '[0-9]*' "$TRACEFS/instances/tfs.$MARK/set_event_notrace_pid" | sort -n)" = \
		"$(own_tasks | sort -n)" ]
}

@test "trace_event: with --all it keeps the cheaper pid list for events that only tasks cause" {
	need_tracefs events/syscalls
	start_session trace_event --output fifo --all -e sys_enter_getppid
	file_is "$TRACEFS/instances/tfs.$MARK/events/syscalls/sys_enter_getppid/filter" none
	# the kernel adds the stream when the stream is forked, and removes tasks that have ended
	eventually excludes_own_tasks
	stop_session
}

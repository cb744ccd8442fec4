#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# trace_sched: wake-ups, switches, and how long a task waits between them

load ../helper
load ../hooks

# Start two tasks that pass a byte to and fro: each is woken as often as it reads.
# bats test_tags=quick
@test "trace_sched: prints each wake-up and switch of a task, and the wait between them" {
	need_tracefs events/sched/sched_wakeup
	calls 10 1 5
	watch_whole trace_sched --pid "$CALLS" --events
	# five children are new, and are woken for the first time
	[ "$(grep -c ": sched_wakeup_new: comm=calls pid=" got)" = 5 ]
	[ "$(grep ': sched_wakeup_new: ' got | sed 's/.* pid=\([0-9]*\) .*/\1/' | sort -u | wc -l)" = 5 ]
	# on one CPU: some hosts record no switches from the idle task of another
	hold taskset -c 0 "$PROG/calls" 10 1 5
	CALLS=$HELD
	traced trace_sched
	pids=$(grep -c "==> next_comm=calls next_pid=[0-9]* next_prio=[0-9]* lat=[0-9]*$" got)
	[ "$pids" -ge 6 ]
	# tasks that came later have only a part here, and no wait
	[ "$(grep -c ' lat=' got)" = "$pids" ]
}

# hold_waits WORD...: Hold the program waits.
hold_waits() {
	[ -e /proc/self/schedstat ] || skip "needs /proc/PID/schedstat (CONFIG_SCHED_INFO)"
	hold "$PROG/waits" "$@"
}

# beside_schedstat: Print "PID SHOWN COUNTED US COUNTED_US" for each task of the program.
beside_schedstat() {
	awk 'FNR == NR { if (NF == 3) { n[$1] = $2; ns[$1] = $3 }; next }
		match($0, / next_pid=[0-9]+/) {
			pid = substr($0, RSTART + 10, RLENGTH - 10)
			sub(/.* lat=/, "")
			shown[pid]++; us[pid] += $0
		}
		END { for (pid in n) printf "%d %d %d %d %d\n", pid, shown[pid], n[pid], us[pid], ns[pid] / 1000 }' \
		ready got
}

# An emulated CPU loses ticks: the clock of the scheduler stops then, but not the trace clock.
same_clock() {
	[ "${TFS_VARIANT-}" != vm ]
}

@test "trace_sched: tasks that yield to each other wait as often and as long as they yield" {
	need_tracefs events/sched/sched_wakeup
	local whom status=0 pid shown counted us counted_us
	"$PROG/waits" yields 1 1 <<<go >tried || status=$?
	[ "$status" != 77 ] || skip "needs SCHED_FIFO"
	for whom in pid all; do
		hold_waits yields 2 1000
		if [ $whom = pid ]; then
			start_session trace_sched --output fifo --pid "$HELD"
		else
			start_session trace_sched --output fifo --all
		fi
		read_by cat >got
		release "$HELD"
		[ $whom = pid ] && session_ends || stop_session
		finishes "$READER" 0
		beside_schedstat >beside
		cat beside
		file_has 2 beside
		while read -r pid shown counted us counted_us; do
			# a new task is woken for the first time
			[ "$shown" -ge 1001 ]
			[ "$shown" = "$counted" ]
			same_clock || continue
			# each wait is cut to microseconds
			[ "$us" -le $((counted_us * 102 / 100 + shown)) ]
			[ "$us" -ge $((counted_us * 98 / 100 - 2 * shown)) ]
		done <beside
	done
}

# If a kernel hides some switches, the last line counts as many missing events.
@test "trace_sched: prints each wait that the scheduler counts, under overload" {
	need_tracefs events/sched/sched_wakeup
	local n=0 all=0 missing pid shown counted us counted_us
	hold_waits loops 4 200
	traced trace_sched
	beside_schedstat >beside
	cat beside
	grep '^#' got || :
	file_has 4 beside
	while read -r pid shown counted us counted_us; do
		[ "$shown" -ge 5 ]
		n=$((n + shown)) all=$((all + counted))
		[ "$shown" = "$counted" ] || continue
		same_clock || continue
		[ "$us" -le $((counted_us * 102 / 100)) ]
		[ "$us" -ge $((counted_us * 98 / 100)) ]
	done <beside
	missing=$(sed -n 's/^# unpaired [0-9]* events: \([0-9]*\) without an end.*/\1/p' got)
	[ "$n" -le "$all" ]
	[ "$n" -ge $((all - ${missing:-0})) ]
	[ "$n" -ge $((all * 98 / 100)) ]
}

@test "trace_sched: a complete trace ends without a comment line" {
	need_tracefs events/sched/sched_wakeup
	hold_waits loops 1 1
	traced trace_sched
	[ "$(grep -c ' lat=' got)" -ge 1 ]
	[ "$(grep -c '^#' got)" = 0 ]
}

@test "trace_sched: --slower passes waits that take at least so long" {
	need_tracefs events/sched/sched_wakeup
	calls 10 1 5
	traced trace_sched --slower 2000s
	[ "$(grep -vc '^#' got)" = 0 ]
	refuses trace_sched 100 "--slower: '5m' is not a time such as 500 (microseconds), 500us, 10ms or 1s" \
		--pid $$ --slower 5m
}

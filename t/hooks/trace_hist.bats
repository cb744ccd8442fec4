#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# trace_hist: histograms of the kernel, with exact hits

load ../helper
load ../hooks

# bats test_tags=quick,guest
@test "trace_hist: prints the kernel's histogram, with exact hits" {
	need_hist
	need_tracefs events/raw_syscalls/sys_enter/hist
	calls 1000
	watch trace_hist --all --event sys_enter --key id \
		--filter "'common_pid == $CALLS'" --sort id
	release
	ended "$CALLS"
	watch_stop
	[ "$(grep -Ec "^\{ id: +$(syscall-nr getppid) \} hitcount: +1000$" got)" = 1 ]
	grep -q '^    Dropped: 0$' got
}

# getppids CALLS...: Print how many getppid trace_hist counts with --pid of a program that makes
# CALLS, while an unrelated task calls it as well.
getppids() {
	calls "$@"
	local task=$CALLS gate=$GO
	watch trace_hist --pid "$task" --event sys_enter --key id \
		--filter "'id == $(syscall-nr getppid)'"
	calls 500 # an unrelated task
	release
	finishes "$CALLS" 0
	echo >"$gate"
	watch_end
	cat got
	hits=$(sed -n 's/^    Hits: //p' got)
}

# bats test_tags=guest
@test "trace_hist: --pid counts that task, its threads and children, but no task born later and no others" {
	need_hist
	need_tracefs events/raw_syscalls/sys_enter/hist
	getppids 1000
	[ "$hits" = 1000 ]
	# the threads of the children, which exist when the session begins
	getppids -e 1000 2 2
	[ "$hits" = 4000 ]
	getppids 1000 1 2
	[ "$hits" = 0 ]
}

# bats test_tags=guest
@test "trace_hist: --pid counts the migrations of that task, which happen in a thread of the kernel" {
	need_tracefs events/sched/sched_migrate_task/hist
	[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
	act moves 20 0
	watch trace_hist --pid "$ACT" -e sched_migrate_task -k pid
	release "$ACT"
	watch_end
	grep -q "trigger info: hist:keys=pid:.* if (pid == $ACT)" got
	hits=$(sed -n "s/^{ pid: *$ACT } hitcount: *//p" got)
	[ "$hits" = 20 ] || [ "$hits" = 21 ]
}

# bats test_tags=guest
@test "trace_hist: reports a bad filter, a second event, a missing or bad key on one line, with the kernel's caret" {
	need_hist
	calls 1
	refuses trace_hist 100 "--filter: a closing parenthesis has no opening parenthesis: 'id > 0) || (id > 1'" \
		--pid "$CALLS" --event sys_enter --key id --filter "'id > 0) || (id > 1'"
	refuses trace_hist 100 'trace_hist: --parent: its events belong to no task; give --pid' \
		--parent "$CALLS" --event sched_switch --key prev_pid
	refuses trace_hist 100 'an event or a key is missing; give --event and --key' --all --event sched_switch
	refuses trace_hist 100 "'sched_s*' is more than one event; tfs-event -l 'sched_s*' lists them" \
		--all --event "'sched_s*'" --key prev_pid
	exits 111 "$MANAGER" --run trace_hist --args "--instance $MARK --all -e sched_switch -k nope"
	[ ! -s out ]
	[[ $(head -n 1 err) == "manager: fatal: unable to write 'hist:keys=nope' to events/sched/sched_switch/trigger"* ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# trace_count: counts of calls, events and functions

load ../helper
load ../hooks

# bats test_tags=quick
@test "trace_count: counts the calls of a task, by name" {
	need_tracefs events/syscalls
	calls 1000
	traced trace_count
	[ "$(head -n 1 got)" = "   1000 sys_enter_getppid" ]
	[ "$(grep -c ' sys_enter_exit_group$' got)" = 1 ]
}

@test "trace_count: --syscall, --top and --key limit and group the counts" {
	need_tracefs events/syscalls
	calls 1000 2
	traced trace_count --syscall getppid exit_group --top 1
	lines_are got "   2000 sys_enter_getppid"
	calls 1000 1 3
	traced trace_count --syscall getppid --key comm event
	lines_are got "   3000 calls	sys_enter_getppid"
}

@test "trace_count: --syscall takes sys_exit_NAME, and all its lists take commas" {
	need_tracefs events/syscalls
	calls 1000
	traced trace_count --syscall sys_exit_getppid,exit_group --key comm,event
	lines_are got "   1000 calls	sys_exit_getppid
      1 calls	sys_enter_exit_group"
	calls 10 1 5
	traced trace_count --event sched_process_fork,sched:sched_process_exit
	lines_are got "      6 sched_process_exit
      5 sched_process_fork"
}

@test "trace_count: --key with a dot in front takes a field that is named like a task key" {
	need_tracefs events/signal
	calls 1
	watch trace_count --all --event signal_generate --key .comm .pid
	kill -CONT "$CALLS"
	kill -WINCH "$CALLS"
	watch_stop
	grep -qx "      2 calls	$CALLS" got
	refuses trace_count 100 "'.' is not a key, the name of a field such as pid" --all --key .
	refuses trace_count 100 "--key: '' is not printable text" --all --key "''"
}

@test "trace_count: --event counts any events" {
	need_tracefs
	calls 10 1 5
	traced trace_count --event 'sched_process_fork' sched:sched_process_exit
	lines_are got "      6 sched_process_exit
      5 sched_process_fork"
}

# bats test_tags=guest
@test "trace_count: --function counts the kernel's functions by name" {
	need_functions
	calls 500
	traced trace_count --function '*sys_getppid'
	file_has 1 got
	[[ $(cat got) =~ ^\ +500\ .*sys_getppid$ ]]
}

@test "trace_count: a task without any such call gives no line, and the session ends well" {
	need_tracefs events/syscalls
	calls 1
	traced trace_count --syscall reboot
	[ ! -s got ]
}

@test "trace_count: refuses an unknown event, and suggests the nearest name" {
	need_tracefs
	calls 1
	refuses trace_count 111 "no event is called 'sched_swich'; did you mean sched_switch?" \
		--pid "$CALLS" --event sched_swich
}

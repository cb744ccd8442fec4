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

# program_counts WORD...: Print how often strace saw each call of a program. Signals that ptrace
# sends may repeat an ioctl.
program_counts() {
	strace -f -o log "$@" >out 2>&1 || :
	sed -nE 's/^[0-9]+ +([a-z][a-z0-9_]*)\(.*/\1/p' log | grep -vx ioctl | sort | uniq -c |
		awk '{ print $1, $2 }'
}

# hook_counts WORD...: Print the same of the counts on stdin.
hook_counts() {
	awk '{ sub(/^sys_enter_(new)?/, "", $2); print $1, $2 }' |
		grep -v ' ioctl$' | sed 's/ fstatat$/ newfstatat/' | sort -k 2
}

@test "trace_count: counts each call once, as strace does: denied, answered, ended by a signal, of threads" {
	need_tracefs events/syscalls
	need_tool strace
	local program
	for program in "$PROG/case/denied" "$PROG/case/notif" "$PROG/case/leader_exits" \
		"$PROG/case/execat" 'trap : USR1; kill -USR1 $$; (exit 3); /bin/true; kill -KILL $$'; do
		case $program in
		/*) set -- "$program" ;;
		*) set -- /bin/sh -c "$program" ;;
		esac
		program_counts "$@" >expected
		tfs-run trace_count --instance "$MARK" -- "$@" >got 2>err || :
		diff expected <(hook_counts <got) || { echo "$program"; return 1; }
		tfs-run trace_count --instance "$MARK" -o got.dat -- "$@" >out 2>err || :
		diff expected <(tfs-report got.dat | tfs-count --calls | hook_counts) ||
			{ echo "$program, file"; return 1; }
		diff expected <(tfs-report -j got.dat | tfs-count -c | hook_counts)
	done
}

@test "trace_count: calls that seccomp denies or answers have all keys, and are in each form" {
	need_tracefs events/syscalls
	tfs-run trace_count --instance "$MARK" -s getppid mkdirat gettid getsid -- "$PROG/case/notif" >got 2>err
	[ "$(grep sys_ got)" = "      4 sys_enter_getppid
      3 sys_enter_gettid
      3 sys_enter_mkdirat
      2 sys_enter_getsid" ]
	tfs-run trace_count --instance "$MARK" --json -s getppid,gettid --top 1 --key comm event \
		-o got.json -- "$PROG/case/notif" >out 2>err
	lines_are got.json '{"events":4,"comm":"notif","event":"sys_enter_getppid"}'
	tfs-run trace_count --instance "$MARK" --every 20ms -s getppid -o got -- "$PROG/case/notif" >out 2>err
	[ "$(awk '/getppid/ { n += $2 } END { print n }' got)" = 4 ] || { cat got; return 1; }
	# beside other events, and ends that are asked for, the events are counted as they are
	tfs-run trace_count --instance "$MARK" -s getppid -e sched_process_fork -o got -- "$PROG/case/notif" >out 2>err
	lines_are got '      4 sys_enter_getppid
      1 sched_process_fork'
	tfs-run trace_count --instance "$MARK" -s getppid sys_exit_getpgid -o got -- "$PROG/case/notif" >out 2>err
	lines_are got '      2 sys_exit_getpgid'
}

@test "trace_count: a call that waits at the end counts, and one that began before the session does not" {
	need_tracefs events/syscalls
	calls 10
	watch trace_count --pid "$CALLS" # it waits in read
	release
	watch_end
	[ "$(grep -c 'sys_enter_read$' got)" = 0 ]
	grep -qx '     10 sys_enter_getppid' got
	hold /bin/sh -c 'echo ready; read -r line; exec sleep 1000'
	watch trace_count --pid "$HELD" --syscall clock_nanosleep
	release
	eventually grep -q nanosleep "/proc/$HELD/wchan"
	watch_stop
	kill -KILL "$HELD"
	lines_are got '      1 sys_enter_clock_nanosleep'
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# Facts that no single event tells, the same in every view: a table for each program

load ../helper
load ../hooks

# record PROGRAM...: Trace the program with trace_process into trace.dat.
record() {
	need_tracefs events/raw_syscalls
	tfs-run trace_process --trace syscalls,signals,lifecycle --instance "$MARK" --buffer 16M -o trace.dat -- "$@" \
		<<<'' >out 2>err 3>&- 4>&- || :
}

# view NAME: Print what a view makes of trace.dat.
view() {
	case $1 in
	text) tfs-report -F trace.dat ;;
	lines) tfs-report -P syscalls,signals,lifecycle trace.dat ;;
	json) tfs-report -j trace.dat ;;
	decoded) tfs-report -D trace.dat ;;
	decoded-json) tfs-report -D -j trace.dat ;;
	summary) view decoded | tfs-summary ;;
	slower) view decoded | tfs-slower 0 ;;
	count) view decoded | tfs-count -k call -k error ;;
	profile) view decoded | tfs-seccomp -s 2>&1 ;;
	people) tfs-report -D -F trace.dat | tfs-human ;;
	people-lines) view lines | tfs-human ;;
	esac
}

# tells: Read rows VIEW COUNT REGEX. Fail, after all rows, if a view has another number of such lines.
tells() {
	local name count regex n bad=0
	while read -r name count regex; do
		[ -e "view.$name" ] || view "$name" >"view.$name" || : # 1: no such line
		n=$(grep -Ec -e "$regex" "view.$name") || :
		[ "$n" = "$count" ] || { echo "$name: $n, not $count: $regex"; bad=1; }
	done
	return "$bad"
}

# bats test_tags=quick
@test "facts: a signal that kills is the one that was sent, and the exit code that wait gives, in every view" {
	record "$PROG/process" ends
	tells <<-'END'
	text 1 signal_deliver: sig=9 .* sent=15$
	text 1 signal_deliver: sig=9 .* sent=10$
	text 1 signal_deliver: sig=9 .* sent=9$
	text 1 sched_process_exit: .* exit_code=15 process=[0-9]+ process_exit_code=15 parent=[1-9][0-9]*$
	text 1 sched_process_exit: .* exit_code=11 .* process_exit_code=11
	text 1 sched_process_exit: .* exit_code=65280 .* process_exit_code=65280
	json 1 "fields":\{"sig":9,.*\},"facts":\{"sent":15,"signal":"SIGTERM"\}\}$
	json 1 "fields":\{"sig":9,.*\},"facts":\{"sent":10,"signal":"SIGUSR1"\}\}$
	json 1 "facts":\{"exit_code":15,"end":"killed by SIGTERM",.*"process_exit_code":15,
	json 1 "facts":\{"exit_code":9,"end":"killed by SIGKILL",
	json 1 "facts":\{"exit_code":11,"end":"killed by SIGSEGV",
	json 1 "facts":\{"exit_code":65280,"end":"exit 255",
	lines 1 signal 15 errno 0 code 0x0$
	lines 1 exit 15$
	lines 1 exit 65280$
	people 1 sig=SIGKILL .* sent=SIGTERM$
	people 1 exit_code=killed by SIGSEGV process=
	people-lines 1 killed by SIGTERM$
	people-lines 1 exit 255$
	decoded 1 exit_group\(255\) = \?
	END
}

@test "facts: a process has the exit code that its parent gets, also if its first thread ends first" {
	record "$PROG/case/leader_exits"
	tells <<-'END'
	text 1 exit_code=768 process=[0-9]+$
	text 1 exit_code=1792 process=[0-9]+ process_exit_code=1792
	json 1 "facts":\{"exit_code":768,"end":"exit 3","process":[0-9]+\}\}$
	json 1 "facts":\{"exit_code":1792,"end":"exit 7","process":[0-9]+,"process_exit_code":1792
	lines 1 exit 768$
	lines 1 exit 1792$
	people-lines 1 exit 7$
	people 1 process_exit_code=exit 7
	decoded 1 : exit\(3\) = \?
	decoded 1 : exit_group\(7\) = \?
	END
	# a new thread is of the process of its first thread
	leader=$(sed -n 's/.*-\([0-9]*\) .* exit_code=768 .*/\1/p' view.text)
	grep -q " task_newtask: .* process=$leader\$" view.text
	grep -q " process=$leader process_exit_code=1792" view.text
}

@test "facts: a thread that execs has become the first thread, whose end is not that of the process" {
	record "$PROG/process" becomes 1
	tells <<-'END'
	text 1 sched_process_exec: .* exec_thread=[0-9]+$
	text 1 sched_process_exit: .* exit_code=0 process=[0-9]+ exec_thread=[0-9]+$
	text 1 sched_process_exit: .* process_exit_code=0
	json 1 "event":"sched_process_exec",.*"facts":\{"exec_thread":[0-9]+\}\}$
	json 1 "event":"sched_process_exit",.*"facts":\{.*"exec_thread":[0-9]+\}\}$
	lines 2 exit 0$
	END
	[ "$(grep -o ' exec_thread=.*' view.text | sort -u | wc -l)" = 1 ]
}

@test "facts: a process whose parent has ended has the parent 0" {
	record "$PROG/process" orphans
	tells <<-'END'
	text 1 exit_code=512 .* process_exit_code=512 parent=[1-9][0-9]*$
	text 1 exit_code=1536 .* process_exit_code=1536 parent=0$
	json 1 "end":"exit 6",.*"parent":0\}\}$
	people 1 process_exit_code=exit 6 parent=0$
	END
}

@test "facts: no process is told of a task whose beginning a file does not have" {
	need_tracefs events/raw_syscalls
	hold "$PROG/process" ends
	session_whole trace_process --trace syscalls,signals,lifecycle --output dat --pid "$HELD"
	tfs-report -F "$TRACE" >got
	grep -q " sched_process_exit: .* pid=$HELD .* exit_code=0\$" got
	[ "$(grep -c ' process=[0-9]* process_exit_code=[0-9]*$' got)" = 9 ]
}

@test "facts: calls that seccomp denies are calls with an error, each once in every view" {
	record "$PROG/case/denied"
	tells <<-'END'
	decoded 5 mkdir\(.*\) = -1 EPERM \(denied\)$
	decoded 2 getppid\(.*\) = -1 ENOSYS \(denied\)$
	decoded-json 5 "event":"sys_exit_mkdir","fields":\{"ret":-1,"error":"EPERM","denied":true,
	summary 1 ^ +5 +5 .* mkdir$
	summary 1 ^ +2 +2 .* getppid$
	slower 0 denied\)
	count 1 ^ +5 mkdir	EPERM$
	count 1 ^ +2 getppid	ENOSYS$
	profile 1 ^tfs-seccomp: seccomp denied these calls .*: getppid mkdir$
	people 5 mkdir\(.*\) = -1 EPERM \(Operation not permitted\) \(denied\)$
	END
}

@test "facts: calls that no kernel knows are calls with an error, each once in every view" {
	record "$PROG/case/weird_sys"
	tells <<-'END'
	decoded 1 syscall_0x3e7\(0x1, 0x2, 0x3, 0x4, 0x5, 0x6\) = -1 ENOSYS
	decoded-json 1 "event":"sys_exit_syscall_0x3e7","fields":\{.*"error":"ENOSYS"
	summary 1 ^ +1 +1 .* syscall_0x3e7$
	count 1 syscall_0x3e7	ENOSYS$
	profile 0 syscall_
	people 1 syscall_0x3e7\(.*\) = -1 ENOSYS \(Function not implemented\)
	END
}

@test "facts: an exec by a descriptor returns as one call, in every view" {
	record "$PROG/case/execat"
	tells <<-'END'
	decoded 2 execveat\(3, .*\) = 0
	decoded 1 execveat\(999, .*\) = -1 EBADF
	decoded 0 <... execve(at)? resumed>
	summary 1 ^ +3 +1 .* execveat$
	count 1 ^ +1 execveat	EBADF$
	people 1 execveat\(999, .*\) = -1 EBADF \(Bad file descriptor\)
	END
}

@test "facts: a session tells them at once, even those that only the kernel knows" {
	[ "${TFS_VARIANT-}" != valgrind ] || skip "needs taskstats, which valgrind lacks"
	need_tracefs events/raw_syscalls
	hold "$PROG/process" waits 1
	watch trace_process --json --trace lifecycle,signals --pid "$HELD"
	release
	eventually [ -e pids ]
	read -r pid <pids
	eventually grep -q "\"facts\":{\"process\":$pid,\"parent\":$HELD}" got
	kill -TERM "$pid"
	watch_end
	grep -q '"facts":{"sent":15,"signal":"SIGTERM"}}$' got
	grep -q "\"facts\":{\"exit_code\":15,\"end\":\"killed by SIGTERM\",\"process\":$pid,\"process_exit_code\":15,\"parent\":$HELD,\"uid\":0,\"cpu_least_ns\":[0-9]*,\"age_us\":[0-9]*}}\$" got
}

@test "facts: trace_signal --only delivered finds the signal that killed, and no other" {
	need_tracefs events/signal
	hold "$PROG/process" ends
	traced trace_signal --only delivered -s TERM
	[ "$(grep -c ': signal_deliver: sig=9 .* sent=15$' got)" = 1 ]
	[ "$(grep -vc '^#' got)" = 1 ]
	hold "$PROG/process" ends
	traced trace_signal -s TERM USR1
	[ "$(grep -c ': signal_generate: ' got)" = 2 ]
	[ "$(grep -c ': signal_deliver: .* sent=1[05]$' got)" = 2 ]
	[ "$(grep -vc '^#' got)" = 4 ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-seccomp: prints a seccomp profile of the calls in a trace

load helper

USAGE='tfs-seccomp [-fs]'
LOST='tfs-seccomp: fatal: events were lost, so the profile may lack calls: trace again with a larger buffer, or give -f'

# line EVENT: Print an event line of the kernel's text.
line() {
	printf '              ls-31534   [001] ..... 58694.570140: %s\n' "$1"
}

# filters NAME...: Compare the calls that -s prints, without those that it always adds.
filters() {
	tfs-seccomp -s "${options[@]}" >got
	sed 's/^SystemCallFilter=//; s/ /\n/g' got |
		grep -vx 'execve\|exit\|exit_group\|restart_syscall\|rt_sigreturn' >names || :
	printf '%s\n' "$@" | diff - names
}

@test "tfs-seccomp: --help prints the synopsis and the purpose" {
	helps tfs-seccomp "$USAGE" "print a seccomp profile that allows the system calls of a trace"
}

@test "tfs-seccomp: refuses other options, and operands" {
	fails 100 "tfs-seccomp: fatal: no such option: -x; usage: $USAGE" tfs-seccomp -x
	fails 100 "tfs-seccomp: fatal: unexpected operand 'a'; usage: $USAGE" tfs-seccomp a
}

# bats test_tags=quick
@test "tfs-seccomp: prints an OCI profile with the calls sorted, and those that each program needs" {
	{
		line 'sys_write(fd: 1, buf: 0x7f00, count: 4)'
		line 'sys_openat(dfd: 0xffffff9c, filename: 0x7f00, flags: 0x80000, mode: 0)'
		line 'sys_openat -> 0x3'
		line 'sched_switch: prev_comm=ls prev_pid=31534'
	} | tfs-seccomp >got
	grep -v SCMP_ARCH got >portable
	sed 's/    /\t/g' <<-'EOF' | diff - portable
		{
		    "defaultAction": "SCMP_ACT_ERRNO",
		    "architectures": [
		    ],
		    "syscalls": [
		        {
		            "names": [
		                "execve",
		                "exit",
		                "exit_group",
		                "openat",
		                "restart_syscall",
		                "rt_sigreturn",
		                "write"
		            ],
		            "action": "SCMP_ACT_ALLOW"
		        }
		    ]
		}
	EOF
	if [ "$(uname -m)" = x86_64 ]; then
		grep -qx '		"SCMP_ARCH_X86_64"' got
	fi
}

@test "tfs-seccomp: -s prints a line for systemd" {
	line 'sys_write(fd: 1)' | tfs-seccomp -s >got
	[ "$(cat got)" = 'SystemCallFilter=execve exit exit_group restart_syscall rt_sigreturn write' ]
}

@test "tfs-seccomp: reads decoded calls, numbers of raw_syscalls, and JSON" {
	{
		line 'openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3 <0.000012>'
		line 'read(3,  <unfinished ...>'
		line '<... poll resumed>) = 1'
		line "sys_enter: NR $(syscall-nr mmap) (0, 1000, 3, 22, ffffffff, 0)"
		line "sys_exit: NR $(syscall-nr close) = 0"
		line 'sys_exit: NR -1 = -1'
		echo '{"ts":1.000000002,"cpu":1,"pid":6,"comm":"x","system":"syscalls","event":"sys_enter_dup","fields":{"fildes":1}}'
		echo '{"ts":1.000000002,"cpu":1,"pid":6,"comm":"x","system":"syscalls","event":"sys_exit_futex","fields":{"ret":0,"args":[]}}'
		echo '{"ts":1.000000002,"cpu":1,"pid":6,"comm":"x","system":"raw_syscalls","event":"sys_enter","fields":{"id":'"$(syscall-nr fchdir)"'}}'
	} >trace
	options=()
	filters close dup fchdir futex mmap openat poll read <trace
}

@test "tfs-seccomp: gives the names of calls, not of the kernel's functions; keeps unknown names" {
	{
		line 'sys_newuname(name: 0x7f00)'
		line 'sys_umount(name: 0x7f00, flags: 0)'
		line 'sys_brand_new_call(x: 1)'
	} >trace
	options=()
	filters brand_new_call umount2 uname <trace
}

@test "tfs-seccomp: refuses a trace with lost events, unless -f is given" {
	for lost in '# lost 1 events: 1 overwritten in a full buffer, 0 not written' \
		'{"lost":7,"overwritten":7,"unwritten":0}' '{"ts":1.000000002,"cpu":1,"lost":204}' \
		'CPU:1 [LOST 3 EVENTS]' '# unwritten 3 lines: the reader took nothing'; do
		{
			line 'sys_write(fd: 1)'
			printf '%s\n' "$lost"
			line 'sys_read(fd: 1)'
		} >trace
		fails 111 "$LOST" tfs-seccomp <trace
		options=(-f)
		filters read write <trace
	done
}

@test "tfs-seccomp: exits 1 without a profile if there is no call" {
	line 'sched_switch: prev_comm=ls prev_pid=31534' >trace
	run -1 --separate-stderr tfs-seccomp <trace
	[ -z "$output$stderr" ]
}

@test "tfs-seccomp: refuses a number that has no name" {
	line 'sys_enter: NR 4000000 (0, 0, 0, 0, 0, 0)' >trace
	fails 111 'tfs-seccomp: fatal: system call 4000000 has no name on this host' tfs-seccomp <trace
}

@test "tfs-seccomp: a program runs under its own profile, and another call fails" {
	need_tracefs events/syscalls
	mkdir dir
	touch dir/a dir/b
	tfs-run trace_syscalls -- ls dir >trace 2>errors
	tfs-seccomp -f <trace >profile
	numbers=$(sed -n 's/^				"\(.*\)".*/\1/p' profile | xargs syscall-nr | paste -sd ,)
	run -0 --separate-stderr "$PROG/allowed" "$numbers" ls dir
	[ "$output" = $'a\nb' ]
	run -1 --separate-stderr "$PROG/allowed" "$numbers" mkdir dir/c
	[[ $stderr == *'Operation not permitted'* ]]
	[ ! -e dir/c ]
}

@test "tfs-seccomp: systemd accepts the line" {
	need_tool systemd-analyze
	{
		printf '[Service]\nExecStart=/bin/true\n'
		{
			line 'sys_openat(dfd: 1)'
			line 'sys_newuname(name: 0x7f00)'
		} | tfs-seccomp -s
	} >mine.service
	run -0 systemd-analyze verify --man=no "$PWD/mine.service"
	[[ $output != *mine.service* ]]
	sed -i 's/ uname/ newuname/' mine.service
	run systemd-analyze verify --man=no "$PWD/mine.service"
	[[ $output == *newuname* ]]
}

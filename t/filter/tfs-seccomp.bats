#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2154 # run sets stderr
# tfs-seccomp: prints a seccomp profile of the calls in a trace

load ../helper

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

@test "tfs-seccomp: allows calls that only failed, and leaves out those whose lines are removed" {
	{
		line 'mount("a", "b", NULL, 0, NULL) = -1 EPERM <0.000001>'
		line 'clone3({}, 88) = -1 ENOSYS <0.000001>'
		line 'chroot("x") = -1 EPERM <0.000001>'
		line 'chroot("y") = 0 <0.000001>'
		line 'read(3, "x = -1 EPERM", 4096) = 12 <0.000001>'
	} >calls
	options=()
	filters chroot clone3 mount read <calls
	# the recipe of the page
	grep -v ') = -1 EPERM' calls | filters chroot clone3 read
}

@test "tfs-seccomp: -s prints a line for systemd" {
	line 'sys_write(fd: 1)' | tfs-seccomp -s >got
	file_is got 'SystemCallFilter=execve exit exit_group restart_syscall rt_sigreturn write'
}

@test "tfs-seccomp: reads decoded calls, numbers of raw_syscalls, and JSON" {
	{
		line 'openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3 <0.000012>'
		line 'read(3,  <unfinished ...>'
		line '<... poll resumed>) = 1'
		line 'uname({sysname="Linux", ...}) = 0 <0.000001>'
		line 'stat("/etc", {st_mode=S_IFDIR|0755, ...}) = 0 <0.000002>'
		line "sys_enter: NR $(syscall-nr mmap) (0, 1000, 3, 22, ffffffff, 0)"
		line "sys_exit: NR $(syscall-nr close) = 0"
		line 'sys_exit: NR -1 = -1'
		echo '{"ts":1.000000002,"cpu":1,"pid":6,"comm":"x","system":"syscalls","event":"sys_enter_dup","fields":{"fildes":1}}'
		echo '{"ts":1.000000002,"cpu":1,"pid":6,"comm":"x","system":"syscalls","event":"sys_exit_futex","fields":{"ret":0,"args":[]}}'
		echo '{"ts":1.000000002,"cpu":1,"pid":6,"comm":"x","system":"syscalls","event":"sys_exit_lstat","fields":{"ret":0,"args":[]}}'
		echo '{"ts":1.000000002,"cpu":1,"pid":6,"comm":"x","system":"raw_syscalls","event":"sys_enter","fields":{"id":'"$(syscall-nr fchdir)"'}}'
	} >trace
	options=()
	# the kernel's functions of these names serve older calls: oldstat, oldlstat, olduname
	filters close dup fchdir futex lstat mmap openat poll read stat uname <trace
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
	[ -z "$output" ]
	[ "$stderr" = "tfs-seccomp: no system call in the trace, so there is no profile" ]
}

@test "tfs-seccomp: refuses a number that has no name, unless the call failed with ENOSYS, or -f is given" {
	local no='system call 0x3d0900 has no name on this host; trace its return, or give -f to leave it out'
	{ line 'sys_enter: NR 4000000 (0, 0, 0, 0, 0, 0)'; line 'sys_write(fd: 1)'; } >trace
	fails 111 "tfs-seccomp: fatal: $no" tfs-seccomp <trace
	line 'sys_exit: NR 4000000 = -38' >>trace
	run -0 --separate-stderr tfs-seccomp -s <trace
	[ "$output" = 'SystemCallFilter=execve exit exit_group restart_syscall rt_sigreturn write' ]
	[ "$stderr" = 'tfs-seccomp: left out because this host has no such system calls: 0x3d0900' ]
	line 'syscall_0x3d0900(0x1, 0x2) = 0 <0.000001>' >>trace
	fails 111 "tfs-seccomp: fatal: $no" tfs-seccomp <trace
	run -0 tfs-seccomp -fs <trace
}

@test "tfs-seccomp: names the calls that seccomp denied each time, and allows them" {
	{
		line 'sys_getpid()'
		line 'sys_getpid -> 0x1'
		line 'sys_mkdir -> 0xffffffffffffffff'
		line 'sys_read -> 0xffffffffffffffff'
		line 'sys_read(fd: 3)'
		line 'sys_read -> 0x0'
	} >trace
	line 'mkdir("x", 0700) = -1 EPERM (denied)' >decoded
	for trace in trace decoded; do
		run -0 --separate-stderr tfs-seccomp -s <$trace
		[[ $output == *' mkdir '* ]]
		[ "$stderr" = 'tfs-seccomp: seccomp denied these calls while the program was traced, and the profile allows them: mkdir' ]
	done
}

@test "tfs-seccomp: names the calls that seccomp answered each time" {
	for result in 7 -1; do
		line "getppid() = $result (emulated)"
	done >trace
	line 'write(1, NULL, 1) = 1 <0.000001>' >>trace
	run -0 --separate-stderr tfs-seccomp -s <trace
	[[ " ${output#*=} " == *' getppid '* ]]
	[ "$stderr" = 'tfs-seccomp: seccomp answered these calls instead of the kernel while the program was traced, and the profile allows them: getppid' ]
	line 'getppid() = 7 <0.000001>' >>trace
	run -0 --separate-stderr tfs-seccomp -s <trace
	[ -z "$stderr" ]
}

@test "tfs-seccomp: a trace without returns lacks the calls that seccomp denies, and this is said once" {
	need_tracefs events/syscalls
	tfs-run trace_syscalls --instance "$MARK" -- "$PROG/case/denied" >trace 2>/dev/null || :
	run -0 --separate-stderr tfs-seccomp -s <trace
	[[ " $output " != *' mkdir '* ]]
	[ "$stderr" = 'tfs-seccomp: the trace has no returns, so it lacks calls that seccomp denied: trace with --returns to have them' ]
	tfs-run trace_syscalls --instance "$MARK" --returns -- "$PROG/case/denied" >trace 2>/dev/null || :
	run -0 --separate-stderr tfs-seccomp -s <trace
	[[ $output == *' getppid mkdir '* ]]
	[ "$stderr" = 'tfs-seccomp: seccomp denied these calls while the program was traced, and the profile allows them: getppid mkdir' ]
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

@test "tfs-seccomp: systemd knows each call of the line, and a program runs with these calls only" {
	need_tracefs events/syscalls
	need_tool systemd-analyze
	mkdir dir
	touch dir/a
	tfs-run trace_syscalls --instance "$MARK" --decode -- ls dir >trace 2>errors
	tfs-seccomp -s <trace >line
	sed 's/^SystemCallFilter=//' line | tr ' ' '\n' >names
	file_has 10+ names
	systemd-analyze syscall-filter @known | tr -d ' ' | grep -v '^#' | sort >known
	run -0 comm -23 names known
	[ -z "$output" ]
	numbers=$(xargs syscall-nr <names | paste -sd ,)
	run -0 --separate-stderr "$PROG/allowed" "$numbers" ls dir
	[ "$output" = a ]
	run -1 --separate-stderr "$PROG/allowed" "$numbers" mkdir dir/c
	[[ $stderr == *'Operation not permitted'* ]]
}

# guarded: Make a root directory with a static program bin/guarded, which prints "ran" and then
# makes the directory of its word, if there is one; trace it without a word, and write its
# profile. Tests run it in a mount namespace with cgroup v2, because crun refuses a mixture.
guarded() {
	need_tracefs events/syscalls
	need_tool cc unshare
	mkdir -p one/rootfs/{bin,dev,proc,sys,etc,dir}
	cat >guarded.c <<-'END'
		#include <stdio.h>
		#include <sys/stat.h>

		int main(int argc, char **argv)
		{
			puts("ran");
			fflush(stdout);
			if (argc < 2 || !mkdir(argv[1], 0700))
				return 0;
			perror("mkdir");
			return 7;
		}
	END
	cc -static -o one/rootfs/bin/guarded guarded.c 2>/dev/null || skip "needs a static libc"
	tfs-run trace_syscalls --instance "$MARK" --decode -- one/rootfs/bin/guarded >trace 2>errors
	tfs-seccomp <trace >profile
}

# with_crun LIMIT WORD...: Run the words in a container with the members LIMIT of its "linux".
with_crun() {
	local words
	words=$(printf ', "%s"' "${@:2}")
	cat >one/config.json <<-END
		{ "ociVersion": "1.0.2", "root": { "path": "rootfs" }, "mounts": [],
		"process": { "cwd": "/", "args": [ ${words#, } ], "noNewPrivileges": true },
		"linux": { $1 "namespaces": [ {"type": "mount"}, {"type": "pid"} ] } }
	END
	# shellcheck disable=SC2016 # the words of sh
	unshare -m sh -c 'mount -t cgroup2 none /sys/fs/cgroup &&
		exec crun --root "$1/crun" --cgroup-manager disabled run --no-pivot -b one "$2"' \
		sh "$PWD" "$MARK" 3>&-
}

@test "tfs-seccomp: crun runs a program under its own profile, and another call fails" {
	need_tool crun
	guarded
	with_crun '' /bin/guarded /dir/a >out 2>&1 || skip "needs crun to run a container here ($(tail -n 1 out))"
	[ -d one/rootfs/dir/a ]
	run -0 --separate-stderr with_crun "\"seccomp\": $(cat profile)," /bin/guarded
	[ "$output" = ran ]
	run -7 --separate-stderr with_crun "\"seccomp\": $(cat profile)," /bin/guarded /dir/b
	[ "$output" = ran ]
	[[ $stderr == *'mkdir: Operation not permitted' ]]
	[ ! -e one/rootfs/dir/b ]
}

# with_podman OPTION... -- WORD...: Run the words in a container. podman keeps its files below the
# test's directory, and asks for limits that this process may have.
with_podman() {
	# shellcheck disable=SC2016 # the words of sh
	unshare -m sh -c 'mount -t cgroup2 none /sys/fs/cgroup && where=$1 && shift &&
		exec podman --root "$where/storage" --runroot "$where/runroot" --storage-driver vfs \
			--cgroup-manager cgroupfs --runtime crun run --rm --network none \
			--cgroups disabled --ulimit nofile=1000:1000 --ulimit nproc=1000:1000 "$@"' \
		sh "$PWD" "${@:1:$#-WORDS}" --rootfs "$PWD/one/rootfs" "${@:$#-WORDS+1}" 3>&-
}

@test "tfs-seccomp: podman runs a program under its own profile, and another call fails" {
	need_tool podman crun
	guarded
	WORDS=2
	with_podman /bin/guarded /dir/a >out 2>&1 || skip "needs podman to run a container here ($(tail -n 1 out))"
	[ -d one/rootfs/dir/a ]
	options=(--security-opt "seccomp=$PWD/profile" --security-opt no-new-privileges)
	run -7 --separate-stderr with_podman "${options[@]}" /bin/guarded /dir/b
	[ "$output" = ran ]
	[[ $stderr == *'mkdir: Operation not permitted' ]]
	[ ! -e one/rootfs/dir/b ]
	WORDS=1
	run -0 --separate-stderr with_podman "${options[@]}" /bin/guarded
	[ "$output" = ran ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# pids-of: turns selectors into pids. A plain directory serves as procfs where a test
# must know all tasks; "kernel" tests use the real procfs.

load ../helper

ODD=') R 1 (x'

undo() {
	[ -z "${CGROUP-}" ] || rmdir "$CGROUP" 2>/dev/null || :
}

# task PID PPID [COMM [STATE [TID...]]]: Put a process into the plain procfs.
task() {
	local dir=$TRACER_PROCFS_PATH/$1 tid
	mkdir -p "$dir/ns" "$dir/task/$1"
	printf '%s (%s) %s %s 1 1 0 -1 4194304 0 0 0 0 1 2 3 4 20 0 %s 0 100 0 0\n' \
		"$1" "${3-prog}" "${4-S}" "$2" $(($# > 4 ? $# - 3 : 1)) >"$dir/task/$1/stat"
	printf 'Name:\t%s\nUmask:\t0022\nState:\tS\nTgid:\t%s\nNgid:\t0\nPid:\t%s\nPPid:\t%s\nUid:\t1000\t0\t0\t0\n' \
		"${3-prog}" "$1" "$1" "$2" >"$dir/status"
	printf '3:cpu,cpuacct:/\n0::/\n' >"$dir/cgroup"
	for tid in "${@:5}"; do
		mkdir -p "$dir/task/$tid" "$TRACER_PROCFS_PATH/$tid/task/$tid"
		sed "s/^$1 /$tid /" "$dir/task/$1/stat" >"$TRACER_PROCFS_PATH/$tid/task/$tid/stat"
		sed "s/^Pid:.*/Pid:\t$tid/" "$dir/status" >"$TRACER_PROCFS_PATH/$tid/status"
	done
}

plain_procfs() {
	export TRACER_PROCFS_PATH=$PWD/proc
	mkdir -p proc
}

# gives PIDS COMMAND...: Fail unless COMMAND prints PIDS, one per line, and no message.
gives() {
	local want
	want=$(tr ' ' '\n' <<<"$1")
	shift
	run -0 --separate-stderr "$@"
	[ -z "$stderr" ]
	[ "$output" = "$want" ] || { echo "got: $output"; return 1; }
}

# nobody COMMAND...: Fail unless COMMAND exits 1 and prints no pid.
nobody() {
	run -1 --separate-stderr "$@"
	[ "$output$stderr" = "pids-of: no task is selected" ]
}

# threads PID: Print the threads of PID as the kernel lists them.
threads() {
	(cd "/proc/$1/task" && printf '%s\n' *) | sort -n
}

# Print the pid of a child that has ended and was waited for.
dead_pid() {
	: 3>&- &
	wait $!
	echo $!
}

@test "pids-of: names a missing procfs and the reason" {
	export TRACER_PROCFS_PATH=$PWD/nowhere
	fails 111 "pids-of: fatal: unable to read $PWD/nowhere: No such file or directory" \
		pids-of -u 0
}

# bats test_tags=quick
@test "pids-of: plain directory: prints each pid once, sorted by number" {
	plain_procfs
	task 9 1; task 10 1; task 100 1
	gives "9 10 100" pids-of 100 9 10 9 100
}

@test "pids-of: plain directory: names a missing pid, and prints no pid" {
	plain_procfs
	task 9 1
	fails 111 "pids-of: fatal: no task 10 is alive; ps -eL lists the tasks" pids-of 9 10
	fails 111 "pids-of: fatal: no task 10 is alive; ps -eL lists the tasks" pids-of -n 10
	fails 111 "pids-of: fatal: no task 10 is alive; ps -eL lists the tasks" pids-of -c 10
}

@test "pids-of: plain directory: a zombie is not alive unless one of its threads is" {
	plain_procfs
	task 9 1 prog Z
	task 10 1 prog X
	task 11 1 prog Z 12
	fails 111 "pids-of: fatal: no task 9 is alive; ps -eL lists the tasks" pids-of 9
	fails 111 "pids-of: fatal: no task 10 is alive; ps -eL lists the tasks" pids-of 10
	gives 11 pids-of 11
}

@test "pids-of: plain directory: -C compares the whole comm, spaces and parentheses included" {
	plain_procfs
	task 9 1 prog
	task 10 1 program
	task 11 1 "$ODD"
	task 12 11 ') Z 9 0 (y) '
	task 13 11 $'a\nb\e'
	task 14 11 ''
	gives 9 pids-of -C prog
	gives 11 pids-of -C "$ODD"
	gives 12 pids-of -C ') Z 9 0 (y) '
	gives 13 pids-of -C $'a\nb\e'
	gives 14 pids-of -C ''
	nobody pids-of -C pro
	nobody pids-of -C 'pro*'
}

@test "pids-of: plain directory: a comm that looks like the rest of the stat line does not change the parent" {
	plain_procfs
	task 9 1 ') Z 10 (x'
	task 10 1
	gives 9 pids-of 9
	gives 10 pids-of -d 10
	gives "9 10" pids-of -u 1000
}

@test "pids-of: plain directory: -u compares the real uid" {
	plain_procfs
	task 9 1
	task 10 1
	sed -i 's/^Uid:.*/Uid:\t4294967295\t1000\t1000\t1000/' proc/10/status
	gives 9 pids-of -u 1000
	gives 10 pids-of -u 4294967295
	nobody pids-of -u 0
}

@test "pids-of: plain directory: a comm that looks like a uid line does not deceive -u" {
	plain_procfs
	task 9 1 'Uid: 0'
	# the kernel prints a newline like this there
	sed -i 's/^Name:.*/Name:\tx\\nUid:\t0/' proc/9/status
	nobody pids-of -u 0
	gives 9 pids-of -u 1000
}

@test "pids-of: plain directory: -d adds all descendants, even those with lower numbers" {
	plain_procfs
	task 5 300; task 100 1; task 200 100; task 300 200; task 400 1; task 6 5
	gives "5 6 100 200 300" pids-of -d 100
	gives "5 6 200 300 400" pids-of -d 400 200
	gives 100 pids-of 100
}

@test "pids-of: plain directory: -d adds the descendants of tasks that any selector chose" {
	plain_procfs
	task 9 1 here
	task 10 9 there
	task 11 1 there
	gives "9 10" pids-of -d -C here
}

@test "pids-of: plain directory: a circle of parents does not cause an endless loop" {
	plain_procfs
	task 9 10; task 10 9; task 11 11
	gives "9 10" pids-of -d 9
	gives 11 pids-of -d 11
}

@test "pids-of: plain directory: -t adds the threads of processes" {
	plain_procfs
	task 9 1 prog S 12 11
	task 10 9 prog S 20
	gives 9 pids-of 9
	gives "9 11 12" pids-of -t 9
	gives "9 11 12" pids-of -t 9 12
	gives "9 10 11 12 20" pids-of -t -d 9
}

@test "pids-of: plain directory: a thread that leads no process selects itself only" {
	plain_procfs
	task 9 1 prog S 12 11
	mkdir -p proc/12/task/{9,11,12}
	gives 12 pids-of 12
	gives 12 pids-of -t 12
}

@test "pids-of: plain directory: -c selects the tasks of a cgroup and of the cgroups below it, and no others" {
	plain_procfs
	for pid in 9 10 11 12 13; do task $pid 1; done
	printf '0::/a\n' >proc/9/cgroup
	printf '0::/a/b\n' >proc/10/cgroup
	printf '0::/ab\n' >proc/11/cgroup
	printf '4:memory:/x/a\n3:name=systemd:/\n0::/c:/a\n' >proc/12/cgroup
	printf '2:cpu,cpuacct:/a\n0::/' >proc/13/cgroup
	gives "9 10 13" pids-of -c /a
	gives "9 10 13" pids-of -c /a/
	gives "9 10 13" pids-of -c /a//
	gives 10 pids-of -c /a/b
	gives 12 pids-of -c /c:/a
	gives "9 10 13" pids-of -c a
	gives 10 pids-of -c a/b
	for name in /a/b/c '/*' /a/../a b/c nosuch; do
		fails 111 "pids-of: fatal: no such cgroup: '$name'; give a path, its last part, or a pid" \
			pids-of -c "$name"
	done
	gives "9 10 11 12 13" pids-of -c /
}

@test "pids-of: plain directory: -c with a pid uses the longest of its cgroup paths" {
	plain_procfs
	for pid in 9 10 11; do task $pid 1; done
	printf '3:cpu:/short\n2:memory:/container/one\n0::/\n' >proc/9/cgroup
	printf '3:cpu:/short\n0::/\n' >proc/10/cgroup
	printf '2:memory:/container/one/more\n0::/\n' >proc/11/cgroup
	gives "9 11" pids-of -c 9
}

@test "pids-of: plain directory: -c with a pid prefers version 2, unless the container's own path has fewer tasks" {
	plain_procfs
	for pid in 1 9 10 11; do task $pid 1; done
	id=$(printf '%064d' 7)
	printf '3:cpu:/\n0::/init.scope\n' >proc/1/cgroup
	# a longer path that all tasks have
	printf '3:cpu:/a/long/path/of/everybody\n0::/two\n' >proc/9/cgroup
	printf '3:cpu:/a/long/path/of/everybody\n0::/two/three\n' >proc/10/cgroup
	printf '3:cpu:/a/long/path/of/everybody\n0::/other\n' >proc/11/cgroup
	gives "9 10" pids-of -c 9
	# a runtime that all containers share
	printf '3:cpu:/docker/%064d\n0::/runtime.service\n' 8 >proc/11/cgroup
	printf '3:cpu:/docker/%s\n0::/runtime.service\n' "$id" | tee proc/9/cgroup >proc/10/cgroup
	gives "9 10" pids-of -c 9
	gives 11 pids-of -c 11
}

@test "pids-of: plain directory: -c with a pid never uses a cgroup that holds task 1" {
	plain_procfs
	for pid in 1 9 10; do task $pid 1; done
	printf '3:cpu:/all\n0::/\n' | tee proc/1/cgroup proc/9/cgroup >proc/10/cgroup
	fails 111 "pids-of: fatal: task 9 is only in cgroups that task 1 is in as well; give a cgroup by its path" \
		pids-of -c 9
	printf '3:cpu:/all\n2:pids:/x\n0::/\n' >proc/9/cgroup
	gives 9 pids-of -c 9
}

@test "pids-of: plain directory: no selector prints a zombie, and -d does not print zombies either" {
	plain_procfs
	task 9 1 prog; task 10 9 prog Z; task 11 9 prog; task 12 9 prog X
	printf '0::/a\n' | tee proc/9/cgroup proc/10/cgroup >proc/11/cgroup
	gives "9 11" pids-of -c /a
	gives "9 11" pids-of -C prog
	gives "9 11" pids-of -u 1000
	gives "9 11" pids-of -d 9
	task 13 9 prog Z 14 # its leader has ended, a thread of it has not
	rm -r proc/14 # readdir does not show thread directories
	gives "9 11 13" pids-of -C prog
}

@test "pids-of: kernel: no selector prints a zombie" {
	mkfifo go never
	# shellcheck disable=SC2016 # the shell's own parameter
	background "$BASH" -c 'exec -a zombie "$1" 0 <&0 & exec cat <>never' - "$PROG/calls" <>go >ready
	parent=$PID
	eventually is_ready
	child=$(children "$parent")
	gives "$parent
$child" pids-of -d "$parent"
	echo >go
	is_zombie() { grep -q ') Z ' "/proc/$child/stat"; }
	eventually is_zombie
	gives "$parent" pids-of -d "$parent"
	fails 111 "pids-of: fatal: no task $child is alive; ps -eL lists the tasks" pids-of "$child"
	run -1 grep -qx "$child" <(pids-of -C calls; pids-of -u "$(id -u)")
}

@test "pids-of: plain directory: -c refuses a pid in no cgroup, because that would select all tasks" {
	plain_procfs
	task 9 1
	fails 111 "pids-of: fatal: task 9 is only in the root cgroup, which holds all tasks" \
		pids-of -c 9
}

@test "pids-of: plain directory: -c with a pid says when it cannot read the pid's cgroup" {
	plain_procfs
	task 9 1
	rm proc/9/cgroup
	fails 111 "pids-of: fatal: unable to read the cgroup of 9: No such file or directory" \
		pids-of -c 9
}

@test "pids-of: plain directory: -n selects the tasks with the same namespace" {
	plain_procfs
	for pid in 9 10 11; do task $pid 1; done
	: >proc/9/ns/pid
	: >proc/10/ns/pid
	ln proc/9/ns/pid proc/11/ns/pid
	gives "9 11" pids-of -n 9
	gives 10 pids-of -n 10
	gives "9 11" pids-of -n 11
}

@test "pids-of: plain directory: -n with a pid says when it cannot read the pid's namespace" {
	plain_procfs
	task 9 1
	fails 111 "pids-of: fatal: unable to read the pid namespace of 9: No such file or directory" \
		pids-of -n 9
}

@test "pids-of: plain directory: several selectors select the union of their tasks" {
	plain_procfs
	task 9 1 one; task 10 1 two; task 11 1 three; task 12 1 four; task 13 1 five; task 14 1 six
	printf '0::/a\n' >proc/11/cgroup
	: >proc/12/ns/pid
	sed -i 's/^Uid:.*/Uid:\t77\t0\t0\t0/' proc/13/status
	gives "9 10 11 12 13" pids-of -C one -c /a -n 12 -u 77 10
	gives "9 10" pids-of -C one -C two
}

@test "pids-of: plain directory: skips broken and strange entries" {
	plain_procfs
	task 9 1
	mkdir -p proc/{10/task/10,11/task/11,12/task/12,self,99999999,1x,-5}
	: >proc/10/task/10/stat
	echo "11 (unended" >proc/11/task/11/stat
	echo garbage >proc/12/task/12/stat
	gives 9 pids-of -u 1000
	gives 9 pids-of -C prog
	fails 111 "pids-of: fatal: no task 11 is alive; ps -eL lists the tasks" pids-of 11
}

@test "pids-of: plain directory: prints 10000 pids in one call" {
	plain_procfs
	for pid in {10..19}; do task "$pid" 1; done
	# shellcheck disable=SC2046 # that many words
	gives "$(echo {10..19})" pids-of $(yes "$(echo {19..10})" | head -n 1000)
}

@test "pids-of: kernel: a pid selects itself, and a dead pid is named in the error" {
	gives $$ pids-of $$
	dead=$(dead_pid)
	fails 111 "pids-of: fatal: no task $dead is alive; ps -eL lists the tasks" pids-of $$ "$dead"
}

@test "pids-of: kernel: reads a comm with a closing parenthesis whole" {
	cp "$PROG/calls" "./$ODD"
	hold "./$ODD" 1
	run -0 pids-of -C "$ODD"
	grep -qx "$PID" <<<"$output"
	gives "$PID" pids-of "$PID"
	run -0 pids-of -d $$
	grep -qx "$PID" <<<"$output"
	run -0 pids-of -d 1
	grep -qx "$PID" <<<"$output"
}

@test "pids-of: kernel: a comm may hold newlines and escapes" {
	cp "$PROG/calls" $'./a\n) Z\e[2J'
	hold $'./a\n) Z\e[2J' 1
	gives "$PID" pids-of -C $'a\n) Z\e[2J'
}

@test "pids-of: kernel: finds a process that renamed itself by its new name" {
	hold "$BASH" -c 'printf ") R 1" >/proc/self/comm; echo ready; read -r _'
	run -0 pids-of -C ') R 1'
	grep -qx "$PID" <<<"$output"
	gives "$PID" pids-of "$PID"
}

@test "pids-of: kernel: -t prints all threads of a process, and a thread can be selected alone" {
	calls -e 1 8
	outputs 0 "$(threads "$CALLS")" pids-of -t "$CALLS"
	[ "${#lines[@]}" = 8 ]
	local thread=${lines[3]}
	gives "$CALLS" pids-of "$CALLS"
	gives "$thread" pids-of -t "$thread"
}

# prints_threads N: Check that -t prints all of N threads.
prints_threads() {
	calls -e 1 "$1"
	pids-of -t "$CALLS" >out
	threads "$CALLS" | cmp - out
	file_has "$1" out
}

@test "pids-of: kernel: -t prints a hundred threads" {
	prints_threads 100
}

# bats test_tags=long
@test "pids-of: kernel: -t prints a thousand threads" {
	prints_threads 1000
}

@test "pids-of: kernel: -d prints descendants, and with -t the threads of each" {
	calls -e 1 3 4
	all_there() { [ "$(pids-of -dt "$CALLS" | wc -l)" = 13 ]; }
	eventually all_there
	outputs 0 "$( (echo "$CALLS"; children "$CALLS") | sort -n)" pids-of -d "$CALLS"
	[ "${#lines[@]}" = 5 ]
}

@test "pids-of: kernel: -u selects our own tasks" {
	run -0 pids-of -u "$(id -ru)"
	grep -qx $$ <<<"$output"
}

@test "pids-of: kernel: -c accepts a cgroup path, and a pid in that cgroup" {
	need_root
	local root=
	for dir in /sys/fs/cgroup /sys/fs/cgroup/unified; do
		[ ! -e $dir/cgroup.controllers ] || root=$dir
	done
	[ -n "$root" ] || skip "needs cgroup v2"
	local name=tfs-$MARK
	CGROUP=$root/$name
	mkdir "$CGROUP" 2>/dev/null || skip "needs a cgroup v2 that we may use"
	calls 1
	local first=$CALLS
	calls 1
	echo "$first" >"$CGROUP/cgroup.procs" || skip "needs a cgroup v2 that we may use"
	gives "$first" pids-of -c "/$name"
	gives "$first" pids-of -c "$first"
	gives "$first" pids-of -c "$name"
	gives "$first" pids-of -c "$CGROUP"
	gives "$first" pids-of -c "$CGROUP//"
	mkdir "$CGROUP/below-$MARK" "$CGROUP/empty-$MARK"
	echo "$first" >"$CGROUP/below-$MARK/cgroup.procs"
	gives "$first" pids-of -c "below-$MARK"
	gives "$first" pids-of -c "$name/below-$MARK"
	gives "$first" pids-of -c "$first"
	nobody pids-of -c "empty-$MARK"
	mkdir "$CGROUP/empty-$MARK/below-$MARK"
	fails 111 "pids-of: fatal: more than one cgroup is called 'below-$MARK': /$name/below-$MARK and /$name/empty-$MARK/below-$MARK; give the path" \
		pids-of -c "below-$MARK" ||
		fails 111 "pids-of: fatal: more than one cgroup is called 'below-$MARK': /$name/empty-$MARK/below-$MARK and /$name/below-$MARK; give the path" \
			pids-of -c "below-$MARK"
	rmdir "$CGROUP/empty-$MARK/below-$MARK" "$CGROUP/empty-$MARK"
	for none in "/${name}0" "$CGROUP/0" "${CGROUP}0" "$CGROUP/../$name"; do
		fails 111 "pids-of: fatal: no such cgroup: '$none'; give a path, its last part, or a pid" \
			pids-of -c "$none"
	done
	echo "$first" >"$CGROUP/cgroup.procs"
	rmdir "$CGROUP/below-$MARK"
	kill -KILL "$first"
	wait "$first" || :
	nobody pids-of -c "/$name"
}

@test "pids-of: kernel: -c accepts the path of a version 1 cgroup" {
	need_root
	local root=/sys/fs/cgroup/pids
	[ -e $root/cgroup.procs ] || skip "needs cgroup v1"
	CGROUP=$root/tfs-$MARK
	mkdir "$CGROUP" 2>/dev/null || skip "needs a cgroup v1 that we may use"
	calls 1
	echo "$CALLS" >"$CGROUP/cgroup.procs"
	gives "$CALLS" pids-of -c "/tfs-$MARK"
	kill -KILL "$CALLS"
	wait "$CALLS" || :
}

@test "pids-of: kernel: -n selects the tasks of a pid namespace from outside" {
	need_tool unshare
	unshare --pid --fork true 2>/dev/null || skip "needs pid namespaces"
	mkfifo in
	hold unshare --pid --fork --mount-proc --kill-child \
		sh -c 'cat <>in & cat <>in & echo ready; wait'
	init=$(children "$PID")
	outputs 0 "$( (echo "$init"; children "$init") | sort -n)" pids-of -n "$init"
	[ "${#lines[@]}" = 3 ]
	run ! grep -qx $$ <<<"$output"
	run -0 pids-of -n $$
	grep -qx $$ <<<"$output"
	run ! grep -qx "$init" <<<"$output"
}

@test "pids-of: kernel: inside a pid namespace the pids are those of that namespace" {
	need_tool unshare
	unshare --pid --fork true 2>/dev/null || skip "needs pid namespaces"
	# shellcheck disable=SC2016 # the inner shell's
	run -0 unshare --pid --fork --mount-proc sh -c 'pids-of $$ && pids-of -d 1'
	[ "${lines[0]}" = 1 ]
	[ "${lines[1]}" = 1 ]
}

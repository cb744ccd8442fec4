#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-run: each everyday task is one command of at most 80 characters
# parts: 4

load ../helper

# typed COMMAND [exec]: Run COMMAND as a person types it. calls, acts and waits are in PATH; the
# files got and said have what it prints.
typed() {
	echo "$1"
	[ "${#1}" -le 80 ]
	PATH=$PROG:$PATH
	eval "$2 $1" <go >got 2>said
}

# ready: Prepare the line that calls, acts and waits wait for.
setup_file() {
	echo >"$BATS_FILE_TMPDIR/go"
}

# typed_later COMMAND: Run COMMAND as typed, in the background, until it records and tfs-run reads
# the trace, so that tfs-run ends the session at a signal; set $PID.
typed_later() {
	ln -sf "$BATS_FILE_TMPDIR/go" go
	background typed "$1" exec
	eventually records
	eventually reads "$PID"
}

# reads PID: Has the process opened the trace of a session?
reads() {
	local fd
	for fd in /proc/"$1"/fd/*; do
		[[ $(readlink "$fd") != "$TFS_RUNDIR"/*/trace ]] || return 0
	done
	return 1
}

# Does a session of this test record?
records() {
	local dir on
	for dir in "$TFS_RUNDIR"/ftrace/*/; do
		on=$TRACEFS/instances/tfs.$(basename "$dir")/tracing_on
		[ -p "$dir/trace" ] && [ "$(cat "$on" 2>/dev/null)" = 1 ] && return
	done
	return 1
}

now() {
	ln -sf "$BATS_FILE_TMPDIR/go" go
	typed "$1" "" || return
	cat got
	nothing_left
}

undo() {
	[ -z "${CGROUP-}" ] || rmdir "$CGROUP"
}

# rows PATTERN: Print the number of lines of got that match.
rows() {
	grep -Ec "$1" got
}

# sources HOOK: Skip if nothing on this kernel reads the strings for the hook.
sources() {
	tfs-run --check "$1" >verdict || skip "$(cat verdict)"
}

# The numbered tasks are those of a newcomer's first hour. Task 23, mistypings, is
# tfs-run-mistakes.bats.

@test "task 1: which files a daemon opens, with errors by name" {
	need_tracefs events/syscalls
	sources trace_open
	act opens 2 3 /etc/passwd
	typed_later "tfs-run trace_open --pid $ACT --human"
	release "$PID"
	cat got
	! grep -q '^# strings are addresses' got || skip "needs BPF or kprobes that read paths"
	[ "$(rows '^[0-9:.]+  acts +[0-9]+ open.*"/etc/passwd", O_RDONLY[^)]*\) = [0-9]+ ')" = 2 ]
	[ "$(rows '^[0-9:.]+  acts +[0-9]+ open.*"/nowhere/at all", .* = -1 ENOENT \(No such file')" = 3 ]
}

@test "task 2: why a process is slow: its calls, with errors and times" {
	need_tracefs events/syscalls
	calls 1000
	typed_later "tfs-run trace_syscalls --pid $CALLS --time 5m --summary"
	release "$PID"
	cat got
	head -n 1 got | grep -Eqx ' +calls +errors +total us +avg us +max us +syscall'
	[ "$(rows '^ +1000 +0 .* getppid$')" = 1 ]
}

# changing: Make the file changed in d, replace it by another one, and read it.
changing() {
	mkdir -p d
	cat >d/work <<-'END'
		cd d
		echo one >changed
		echo two >other
		mv other ../d/changed
		read -r line <changed
	END
}

@test "task 3: who changes a file, also by a relative path" {
	need_tracefs events/syscalls
	sources trace_files
	changing
	now 'tfs-run trace_files --path ./d -- sh d/work'
	! grep -q '^# strings are' got || skip "needs BPF or a kernel that reads paths"
	[ "$(rows " sh-[0-9]+ .*: write: path=\"$PWD/d/changed\" count=4 ret=4 written=4 ")" = 1 ]
	[ "$(rows " mv-[0-9]+ .*: rename[at2]*: path=\"$PWD/d/other\" to=\"$PWD/d/changed\" .*ret=0 ")" = 1 ]
	[ "$(rows 'path="[^"]*/changed"')" = 2 ]
}

@test "task 4: who kills a process" {
	need_tracefs events/signal
	calls 1
	typed_later "tfs-run trace_signal --all --only sent --to $CALLS --human"
	sh -c 'kill -TERM "$1"' sh "$CALLS" &
	killer=$!
	wait "$killer"
	eventually grep -q SIGTERM got
	ends_by "$PID" INT 0
	cat got
	[ "$(rows "^[0-9:.]+  sh +$killer generate SIGTERM +- +SI_USER +$CALLS +calls")" = 1 ]
	[ "$(rows SIGTERM)" = 1 ]
}

# script: Make ./script, which starts two processes and fails.
script() {
	printf '%s\n' '#!/bin/sh' '/bin/true one "two words"' '(exit 7)' 'exit 3' >script
	chmod +x script
}

@test "task 5: short-lived processes, with arguments, status and duration" {
	need_tracefs events/raw_syscalls
	script
	now 'tfs-run trace_process -- ./script' || :
	[ "$(rows ' exit 0 +script: /bin/true one "two words"$')" = 1 ]
	[ "$(rows ' exit 7 +script: \[script\]$')" = 1 ]
	[ "$(rows ' exit 3 +\./script$')" = 1 ]
	[ "$(rows ' exit [0-9]')" = 3 ]
}

@test "task 6: which TCP connections a program makes" {
	need_tracefs events/sock/inet_sock_set_state
	now 'tfs-run trace_tcp --connect --human -- acts connects 3'
	port=$(sed -n 's/^port //p' said)
	[ "$(rows "acts +[0-9]+ SYN_SENT +0 +$port 127\.0\.0\.1$")" = 3 ]
	[ "$(grep -c ESTABLISHED got)" = 0 ]
}

@test "task 6: who sends DNS queries, and how long names take to resolve" {
	need_tracefs events/syscalls
	need_tool python3
	sources trace_open
	cp "$TREE/t/prog/queries.py" q
	now 'tfs-run trace_syscalls -s connect sendto --decode -- python3 q'
	! grep -q '^# strings are addresses' got || skip "needs BPF"
	[ "$(rows '^ +python3-[0-9]+ .*: sendto\(.*sin_port=htons\(53\).*\) = 5 ')" = 3 ]
	[ "$(rows '^ +python3-[0-9]+ .*: connect\(.*sin_port=htons\(53\).*\) = 0 ')" = 2 ]
	[ -e "$TRACEFS/uprobe_events" ] || skip "needs uprobes"
	now 'tfs-run trace_uprobe --binary libc --symbol getaddrinfo --latency -- python3 q'
	[ "$(rows ': getaddrinfo: .* ret=0 lat=[0-9]+')" = 4 ]
}

@test "task 7: how often each event happens, each second" {
	need_tracefs events/sched/sched_wakeup
	calls 1000
	typed_later "tfs-run trace_count --pid $CALLS -s getppid --every 1s"
	release "$PID"
	cat got
	# each line begins with the seconds, and the counts add up
	[ "$(awk '$3 == "sys_enter_getppid" { n += $2 } END { print n }' got)" = 1000 ]
	[ "$(rows '^ *[0-9]+\.[0-9]{3} +[0-9]+ sys_enter_getppid$')" -ge 1 ]
}

@test "task 8: how large reads are, as a histogram for each descriptor" {
	need_tracefs events/syscalls
	head -c 5000 /dev/zero >f
	now 'tfs-run trace_syscalls -s read --decode --json -- dd if=f bs=1k|tfs-hist -k ret -b fd'
	awk '/^ret / { on = / fd=0: 6 values, 0 to 1024$/ } on && !/^ret / && $3 > 0 { print $1, $2, $3 }' got >fd0
	printf '%s\n' '[0, 1) 1' '[512, 1K) 1' '[1K, 2K) 4' | diff - fd0
}

# in_container: Run calls in the container, which begins now.
in_container() {
	mkdir "$CGROUP"
	# shellcheck disable=SC2016 # variables of the other shell
	sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2" 500' sh "$CGROUP" "$PROG/calls" <go
}

@test "task 9: what a container does, from its first moment" {
	need_tracefs events/syscalls
	point=$(awk '$3 ~ /^cgroup2?$/ { print $2; exit }' /proc/mounts)
	[ -n "$point" ] || skip "needs a mounted cgroup file system"
	id=$(printf 'c%010x%053d' $$ 0)
	CGROUP=$point/docker-$id.scope
	mkdir "$CGROUP" && rmdir "$CGROUP" || skip "needs a cgroup that can be written"
	calls 7 # not in the container
	typed_later "tfs-run trace_syscalls --container ${id:0:12} --summary"
	in_container
	release
	finishes "$CALLS" 0
	ends_by "$PID" INT 0
	cat got
	[ "$(rows '^ +500 +0 .* getppid$')" = 1 ]
	[ "$(rows '^ +1 +0 .* execve$')" = 1 ]
}

@test "task 10: which tasks move between CPUs" {
	need_tracefs events/sched/sched_migrate_task
	[ "$(nproc)" -gt 1 ] || skip "needs two CPUs"
	now 'tfs-run trace_count -e sched_migrate_task -k .comm -- acts moves 4 0'
	[ "$(rows '^ +[45] acts$')" = 1 ] # the first move may be to the CPU where it runs
}

@test "task 11: which processes use a disk, and how long it takes" {
	need_tracefs events/block/block_rq_complete
	loop
	now "tfs-run trace_block -d $LOOP -- acts fsyncs 3 0 /dev/$LOOP|tfs-summary -k by"
	[ "$(rows '^ +6 +0 .*  acts$')" = 1 ]
}

@test "task 11: which processes wait for fsync" {
	need_tracefs events/syscalls
	head -c 65536 /dev/zero >f
	now "tfs-run trace_syscalls -s fsync --returns -- acts fsyncs 3 0 f|tfs-summary -k comm"
	[ "$(rows '^ +3 +[0-9]+ .*  acts$')" = 1 ]
}

# titles FILE: Print the tooltips of a picture.
titles() {
	grep -o '<title>[^<]*' "$1" | cut -c 8-
}

@test "task 12: page faults by site, as a flame graph of the program's functions" {
	need_tracefs events/exceptions/page_fault_user
	mkfifo go
	exec 7<>go # typed opens it, too
	background typed 'tfs-run trace_event -e page_fault_user --user-stack -o x.svg -- pages 100' exec
	eventually file_is got ready
	# the session reads the rest of its buffer while the program still has its files
	tfs-run -k "$(basename "$TFS_RUNDIR"/ftrace/*)"
	echo >&7
	exec 7>&-
	finishes "$PID" 0
	[ "$(titles x.svg | grep -c '^touch_once (100 stacks, ')" = 1 ]
	[ "$(titles x.svg | grep -c '^touch_thrice (300 stacks, ')" = 1 ]
	titles x.svg | grep -qx 'tfs-run trace_event -e page_fault_user --user-stack -- pages 100'
}

@test "task 13: what a script starts, as a tree" {
	need_tracefs events/raw_syscalls
	script
	now 'tfs-run trace_process --tree -- ./script' || :
	[ "$(rows ' exit 3        \./script$')" = 1 ]
	[ "$(rows ' exit 0          /bin/true one "two words"$')" = 1 ]
	[ "$(rows ' exit 7          \[script\]$')" = 1 ]
}

@test "task 14: a recording for KernelShark, as trace-cmd reads it" {
	need_tracefs events/syscalls
	need_tool trace-cmd
	now 'tfs-run trace_syscalls -s getppid -o trace.dat -- calls 1000'
	[ "$(trace-cmd report trace.dat 2>/dev/null | grep -c 'sys_enter_getppid')" = 1000 ]
}

@test "task 15: what happened before a program failed" {
	need_tracefs events/syscalls
	now "tfs-run trace_flight -e '*getppid' --dump-on fail -- sh -c 'calls 7; exit 3'" || status=$?
	[ "$status" = 3 ]
	dump=$(cat got)
	[[ $dump == "$TFS_RUNDIR"/ftrace/*/dump.1 ]]
	[ "$(grep -c '^ *calls-.*: sys_getppid()$' "$dump")" = 7 ]
	[ "$(grep -c '^ *calls-.*: sys_getppid -> ' "$dump")" = 7 ]
	"$MANAGER" --clear
}

@test "task 15: what happened during a call that took too long" {
	need_tracefs events/syscalls
	now "tfs-run trace_flight -e '*nanosleep' --dump-on slow:*nanosleep:50ms -- sleep 0.1" || :
	[ "$(rows '^# slow: clock_nanosleep of task [0-9]+ took [0-9]{6} us$')" = 1 ]
	[ "$(grep -c 'sleep-.*: sys_clock_nanosleep' "$(tail -n 1 got)")" = 2 ]
	"$MANAGER" --clear
}

@test "task 16: which functions call a function such as malloc, and how often" {
	need_tracefs uprobe_events
	act callers 40 3
	typed_later "tfs-run trace_uprobe --binary acts --symbol acts_work --top 9 --pid $ACT"
	release
	# the program waits at its end, so that it lives until the trace has been read
	read_all() {
		local sessions=("$TFS_RUNDIR"/ftrace/*/) session file name value n=0
		session=${sessions[0]%/}
		for file in "$TRACEFS/instances/tfs.${session##*/}"/per_cpu/cpu*/stats; do
			while IFS=: read -r name value; do
				[ "$name" != "read events" ] || n=$((n + value))
			done <"$file"
		done 2>/dev/null
		[ "$n" -ge 43 ]
	}
	eventually read_all
	ends_by "$PID" INT 0
	echo >"$GO"
	cat got
	printf '%7d acts_%s\n' 40 often 3 rarely | diff - got
}

@test "task 17: a recording is looked at later, on a host without tracefs" {
	need_tracefs events/syscalls
	now 'tfs-run trace_syscalls --returns -o trace.dat -- calls 1000'
	export TRACER_SYSFS_PATH=/nowhere
	now 'tfs-report trace.dat | tfs-summary'
	[ "$(rows '^ +1000 +0 .* getppid$')" = 1 ]
	now 'tfs-report -e "*getppid" trace.dat | tfs-latency syscalls | tfs-hist'
	grep -q '^lat: 1000 values, ' got
}

@test "task 18: a trace in SQL" {
	need_tracefs events/syscalls
	need_tool sqlite3
	now 'tfs-run trace_syscalls --decode -o t.json -- calls 90'
	now "sqlite3 t.db 'create table t(j)' '.mode tabs' '.import t.json t'"
	now "sqlite3 t.db \"select count(*) from t where j->>'event' = 'sys_exit_getppid'\""
	[ "$(cat got)" = 90 ]
	[ "$(sqlite3 t.db 'select count(*) from t where json_valid(j)')" = "$(wc -l <t.json)" ]
}

@test "task 19: a hook of one's own" {
	need_tracefs events/syscalls
	cat >my_hook <<-'END'
	#!/bin/sh
	# description: Parents that are asked for
	tfs-write events/syscalls/sys_enter_getppid/enable 1
	END
	chmod +x my_hook
	now 'tfs-run ./my_hook -- calls 5'
	[ "$(rows '^ +calls-[0-9]+ .*: sys_getppid\(\)$')" = 5 ]
	file_has 5 got
}

@test "task 20: the tools in a pipe, without a hook" {
	need_tracefs events/syscalls
	# shellcheck disable=SC2034 # the line has it
	local W=$MARK PATH=$PWD:$PATH
	cp "$PROG/calls" c # other tests run calls, and this instance records all tasks
	ln -sf "$BATS_FILE_TMPDIR/go" go
	# shellcheck disable=SC2016
	typed 'tfs-instance hold $W sh -c "tfs-event *ppid;c 9;tfs-read trace"|tfs-count -kcomm' ''
	tfs-instance remove "tfs.$MARK"
	cat got
	[ "$(rows '^ +18 c$')" = 1 ]
}

@test "task 21: nothing is left of a trace that was killed" {
	need_tracefs events/syscalls
	calls 1
	typed_later "tfs-run trace_syscalls --pid $CALLS"
	kill_at_once "$PID"
	eventually nothing_left
	release "$CALLS"
	now 'tfs-run -l' || :
	[ "$(rows '/')" = 0 ]
}

@test "task 22: what a setuid program of another user does" {
	need_tracefs events/syscalls
	need_tool setpriv
	local user=$((600000 + $$ % 100000))
	cp "$(command -v id)" is
	cp "$PROG/calls" setuid
	chmod 4755 is setuid
	[ "$(setpriv --reuid $user --clear-groups ./is -u)" = 0 ] || skip "needs a file system with setuid"
	hold setpriv --reuid $user --clear-groups ./setuid 1000
	typed_later "tfs-run trace_syscalls --uid $user --summary"
	release "$HELD"
	ends_by "$PID" INT 0
	cat got
	[ "$(rows '^ +1000 +0 .* getppid$')" = 1 ]
}

@test "task: which system calls take longer than 1 ms" {
	need_tracefs events/syscalls
	now 'tfs-run trace_syscalls --slower 1ms -- acts sleeps 3 1'
	[ "$(rows ': sys_[a-z0-9_]*nanosleep.* lat=[2-9][0-9]{3}|nanosleep.* lat=[0-9]{5,}')" = 6 ]
	awk '!/^#/ && (!sub(/.* lat=/, "") || $0 < 1000) { bad = 1 } END { exit bad }' got
}

@test "task: which files are used most, with errors" {
	need_tracefs events/syscalls
	sources trace_files
	changing
	now 'tfs-run trace_files --reads --summary -- sh d/work'
	! grep -q '^# strings are' got || skip "needs BPF or a kernel that reads paths"
	[ "$(rows "^ +[0-9]+ +[01] .*  $PWD/d/changed\$")" = 1 ]
	[ "$(rows "^ +[0-9]+ +[01] .*  $PWD/d/other\$")" = 1 ]
}

@test "task: how many bytes are read and written per file" {
	need_tracefs events/syscalls
	sources trace_files
	changing
	now 'tfs-run trace_files --reads --summary --sort written -- sh d/work'
	! grep -q '^# strings are' got || skip "needs BPF or a kernel that reads paths"
	[ "$(rows "^ +[0-9]+ +[01] +4 +4 .*  $PWD/d/changed\$")" = 1 ]
}

@test "task: which operations on files are slow, each call with its file" {
	need_tracefs events/syscalls
	sources trace_files
	mkfifo slow
	now 'tfs-run trace_files --slower 1s -- sh -c "(sleep 2; cat slow) & echo >slow; wait"'
	! grep -q '^# strings are' got || skip "needs BPF or a kernel that reads paths"
	[ "$(rows "open(at)?: path=\"$PWD/slow\" .* lat=[0-9]{7,}[.]")" = 1 ]
	[ "$(rows ": [a-z0-9_]+: path=")" = 1 ]
}

@test "task: which short-lived processes are started, with their arguments" {
	need_tracefs
	sources trace_exec
	now 'tfs-run trace_exec -- acts execs 5 0 one two'
	! grep -q '^# strings are' got || skip "needs BPF or kprobes that read words"
	[ "$(rows ', "nothing", "one", "two"\], 0x')" = 5 ]
}

@test "task: how long tasks wait for a CPU, as a histogram" {
	need_tracefs events/sched/sched_wakeup
	now 'tfs-run trace_sched -- waits loops 2 30 | tfs-hist'
	n=$(sed -n '1s/^lat: \([0-9]*\) values, .*/\1/p' got)
	# its own count of the waits; it prints them on standard error
	own=$(awk '$1 ~ /^[0-9]+$/ { n += $2 } END { print n }' said)
	[ "$own" -ge 2 ]
	[ "$n" -ge "$own" ]
	[ "$(sed '1d; s/.*) *\([0-9]*\) |.*/\1/' got | awk '{ n += $1 } END { print n }')" = "$n" ]
}

@test "task: how long connects take, and how long connections last with how many bytes" {
	need_tracefs events/sock/inet_sock_set_state
	now 'tfs-run trace_tcp --latency -- acts connects 3'
	port=$(sed -n 's/^port //p' said)
	[ "$(rows "acts-[0-9]+ .*: tcp_connect: 127\.0\.0\.1:[0-9]+ -> 127\.0\.0\.1:$port lat=[0-9]+$")" = 3 ]
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs types of the kernel (CONFIG_DEBUG_INFO_BTF)"
	now 'tfs-run trace_tcp --life --human -- acts connects 3'
	port=$(sed -n 's/^port //p' said)
	[ "$(rows "acts +[0-9]+ tcp_life: 127\.0\.0\.1:[0-9]+ -> 127\.0\.0\.1:$port lat=[0-9]+ us sent=0 received=0$")" = 3 ]
	[ "$(rows "acts +[0-9]+ tcp_life: 127\.0\.0\.1:$port <- 127\.0\.0\.1:[0-9]+ lat=[0-9]+ us sent=0 received=0$")" = 3 ]
	now 'tfs-run trace_tcp --latency -- acts connects 3 | tfs-hist'
	grep -q '^lat: 3 values, ' got
}

@test "task: which packets are dropped, where and why" {
	need_tracefs events/skb/kfree_skb
	need_tool python3
	grep -q NO_SOCKET "$TRACEFS/events/skb/kfree_skb/format" || skip "needs reasons of drops (Linux 5.17)"
	typed_later 'tfs-run trace_tcp --drops --all'
	local session=$PID
	background python3 -c '
import socket
for i in range(4):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9))'
	finishes "$PID" 0
	eventually grep -q "[-]$PID .* NO_SOCKET" got
	ends_by "$session" INT 0
	[ "$(rows "[-]$PID .*: kfree_skb: .* reason: NO_SOCKET$")" = 4 ]
}

@test "task: how long disk requests take, with those of fsync" {
	need_tracefs events/block/block_rq_complete
	loop
	now "tfs-run trace_block -d $LOOP -- acts fsyncs 3 0 /dev/$LOOP"
	[ "$(rows ": block_rq_complete: [0-9]+,[0-9]+ FF .* by=acts by_pid=[0-9]+ lat=[0-9.]+$")" = 3 ]
	[ "$(rows ": block_rq_complete: [0-9]+,[0-9]+ W[A-Z]* .* \+ 8 .* lat=[0-9.]+$")" = 3 ]
}

@test "task: a flame graph of the stacks, and a timeline, as pictures" {
	need_tracefs events/sched/sched_switch
	now 'tfs-run trace_event -e sched_switch --stack -o flame.svg -- acts sleeps 5 0'
	grep -q "class='flame'" flame.svg
	grep -Eq '<title>.*schedule' flame.svg
	now 'tfs-run trace_event -e sched_switch -o timeline.svg -- acts sleeps 5 0'
	grep -q "class='lanes'" timeline.svg
	grep -Eq '<title>(acts|tfs-run)-[0-9]+' timeline.svg
}

@test "task: memory of the kernel by call site, in bytes" {
	need_tracefs events/kmem/kmem_cache_alloc
	now 'tfs-run trace_event -e kmem_cache_alloc --stack -o x.svg -- acts opens 5'
	titles x.svg | grep -Eq '^all \([0-9]+ bytes, 100\.0%\)$'
	grep -Eq '>width: [0-9]+ bytes in [0-9]+ stacks</text>' x.svg
}

@test "task: where a program waits off CPU, by time, and who ran when" {
	need_tracefs events/sched/sched_switch
	# several sleeps: a machine may hide the switch that ends one (man trace_event)
	now 'tfs-run trace_event -e sched_switch --stack -o x.svg -- acts sleeps 9 0'
	titles x.svg | grep -Eq '^do_nanosleep \([0-9.]+ m?s, [0-9.]+%\)$'
	grep -Eq '>width: [0-9.]+ m?s off CPU in [0-9]+ stacks?' x.svg
	now 'tfs-run trace_event -e sched_switch sched_waking -o x.svg -- acts sleeps 9 0'
	titles x.svg | grep -Eq '^asleep at '
	titles x.svg | grep -Eq '^acts-[0-9]+$'
}

@test "task: where a program waits, and who wakes it there, as a flame graph by time" {
	need_tracefs events/sched/sched_waking
	now 'tfs-run trace_why --stack -o x.svg -- acts sleeps 9 0'
	titles x.svg | grep -Eq '^do_nanosleep \([0-9.]+ m?s, [0-9.]+%\)$'
	titles x.svg | grep -Eq '^hrtimer_wakeup \([0-9.]+ m?s, [0-9.]+%\)$'
	titles x.svg | grep -Eq '^interrupt \([0-9.]+ m?s, [0-9.]+%\)$'
	now "tfs-run trace_why --events -o x.svg -- sh -c 'acts sleeps 1 0; acts exits 0'"
	titles x.svg | grep -Eq '^acts-[0-9]+ wakes sh-[0-9]+ at [0-9.]+ [mu]s, after [0-9.]+ [mu]s$'
}

@test "task: contention of the kernel's locks, as a flame graph" {
	need_tracefs events/lock/contention_begin
	if now 'tfs-run trace_event -e contention_begin --all --stack --time 1s -o x.svg'; then
		titles x.svg | grep -Eq '^all \([0-9]+ stacks?, 100\.0%\)$'
	else # no task has waited for a lock
		[ "$(wc -c <x.svg)" = 0 ]
		nothing_left
	fi
}

@test "task: a picture of ticks only is refused, with what draws more" {
	while IFS='|' read -r words message; do
		# shellcheck disable=SC2086 # words
		run -100 tfs-run $words -o x.svg -- touch ran
		[ "$output" = "tfs-run: fatal: -o x.svg: $message" ]
	done <<-'EOF'
		trace_event -e page_fault_user|trace_event draws a picture only with --stack, --user-stack or sched:sched_switch: other events have no duration
		trace_event --event=kmem:*,sched_waking|trace_event draws a picture only with --stack, --user-stack or sched:sched_switch: other events have no duration
		trace_kprobe -k vfs_read --return|trace_kprobe draws a picture only with --latency or --stack: a call or a return alone has no duration
		trace_uprobe --binary libc --symbol malloc|trace_uprobe draws a picture only with --latency or --stack: a call or a return alone has no duration
		trace_tcp --states|trace_tcp draws a picture only with --latency, --life or --accept: other events have no duration
		trace_syscalls --raw|trace_syscalls draws no picture with --raw, --numbers or --returns: these lines have no duration
		trace_exec|trace_exec draws no picture: its lines have no duration; 'tfs-run trace_event -e sched_switch' draws who ran when
		trace_count|trace_count draws no picture: it prints counts; 'tfs-run trace_event --stack' draws which stacks an event has
	EOF
	# the other hooks that draw none
	for hook in trace_blk trace_flight trace_function trace_graph trace_hist trace_process trace_request trace_signal; do
		run -100 tfs-run "$hook" -o x.svg -- touch ran
		[[ $output = "tfs-run: fatal: -o x.svg: $hook draws no picture: "* ]]
	done
	[ ! -e ran ]
	[ ! -e x.svg ]
}

@test "task: --otel is refused in one line where BPF or BTF is missing, and the program does not run" {
	need_tracefs events/bpf_trace
	need_tool setpriv
	case $(uname -m) in
	x86_64 | aarch64) ;;
	*) skip "needs x86_64 or aarch64" ;;
	esac
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs BTF (CONFIG_DEBUG_INFO_BTF)"
	mkdir -p sys/kernel
	ln -s "$TRACEFS" sys/kernel/tracing
	for hook in trace_syscalls 'trace_why --slower 1ms' trace_block trace_tcp trace_sched; do
		# shellcheck disable=SC2086 # words
		fails 111 'tfs-run: fatal: unable to make a BPF map: Operation not permitted; this needs CAP_BPF' \
			setpriv --bounding-set -bpf,-sys_admin tfs-run $hook --otel -- touch ran
		# shellcheck disable=SC2086 # words
		fails 111 "tfs-run: fatal: unable to read $PWD/sys/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF): No such file or directory" \
			env TRACER_SYSFS_PATH="$PWD/sys" tfs-run $hook --otel -- touch ran
	done
	[ ! -e ran ]
	nothing_left
}

@test "task: in which span of a service a call is made" {
	need_tracefs events/bpf_trace
	case $(uname -m) in
	x86_64 | aarch64) ;;
	*) skip "needs x86_64 or aarch64" ;;
	esac
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs BTF (CONFIG_DEBUG_INFO_BTF)"
	hold "$PROG/published" -w 3
	typed_later "tfs-run trace_syscalls -s lseek --otel --decode --pid $HELD"
	session=$PID
	release "$HELD"
	finishes "$session" 0
	[ "$(rows "published-$HELD .*: lseek\(-1, .*EBADF.* span_id=[0-9a-f]{15}[123] trace_flags=01$")" = 3 ]
}

@test "task: which system calls are made, each second" {
	need_tracefs events/syscalls
	calls 1000
	typed_later "tfs-run trace_syscalls --pid $CALLS --summary --every 1s --sort calls"
	release "$PID"
	cat got
	[ "$(awk '$NF == "getppid" { n += $2 } END { print n }' got)" = 1000 ]
}

@test "task: which tasks wait for locks of the kernel" {
	need_tracefs events/lock/contention_begin
	local status=0
	now "tfs-run trace_event -e 'contention_*' -- calls 10|tfs-latency locks|tfs-summary" ||
		status=$?
	# a program of one thread may never wait
	[ "$status" -le 1 ]
	[ "$status" = 1 ] || head -n 1 got | grep -q '  comm	flags$'
}

@test "task: colours in a pipe, with --color always, also against NO_COLOR; auto and never have none" {
	for word in auto never always; do
		NO_COLOR=1 TERM=xterm tfs-run trace_open --human --color "$word" -- cat /none/such >"got.$word" 2>err || [ $? = 1 ]
		grep -q ENOENT "got.$word"
	done
	grep -q $'\e\\[31m.*ENOENT' got.always
	run -1 grep -l $'\e\\[' got.auto got.never
}

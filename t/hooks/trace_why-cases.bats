#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2153,SC2154 # each test is a process of its own; helper.bash
# trace_why: programs that are slow for known reasons, as trace_why(7) shows them

load ../helper
load ../hooks

# as_told: Compare what the program says of its waits ("TID KIND TIMES NANOSECONDS") with got.json. A
# task is blocked for a part of the time that it is in the call, and for most of it if it
# waits for a pipe or for time.
as_told() {
	python3 - told got.json <<-'END'
	import json, sys
	tasks = {}
	for line in open(sys.argv[2]):
	    task = json.loads(line)
	    if "parts" in task:
	        tasks[task["pid"]] = task
	        assert sum(p["ns"] for p in task["parts"]) == task["total_ns"], task
	lines = [line.split() for line in open(sys.argv[1])]
	assert lines
	for tid, kind, times, ns in lines:
	    ours = sum(p["ns"] for p in tasks[int(tid)]["parts"]
	               if p["state"] == "blocked" and p.get("on") == kind)
	    print(tid, kind, times, ns, ours)
	    assert 0 < ours
	    # a thread of the convoy waits for a futex before it begins, too
	    assert kind == "futex" or ours <= int(ns)
	    assert kind not in ("pipe", "sleep", "socket", "futex") or 2 * ours > int(ns)
	END
}

@test "trace_why: a program that sleeps, reads a pipe, syncs and waits for a child: as its own clock says" {
	need_tracefs events/sched/sched_waking
	command -v python3 >/dev/null || skip "needs python3"
	tfs-run trace_why --buffer 16M --json --top 1000 -o got.json -- "$PROG/delays" mixed file >all
	grep -v ' disk ' all >told # a file system without a disk syncs at once
	as_told
}

@test "trace_why: a poll has its descriptors, or those that were ready when it returned" {
	need_tracefs events/sched/sched_waking
	command -v python3 >/dev/null || skip "needs python3"
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs BTF"
	cat >polls.py <<-'END'
	import os, select, socket, time
	r, w = os.pipe()
	a, b = socket.socketpair()
	def later(*writes):
	    if os.fork() == 0:
	        for write in writes:
	            time.sleep(.02)
	            write(b"x")
	        os._exit(0)
	p = select.poll()
	p.register(r, select.POLLIN)
	p.register(a, select.POLLIN)
	later(*3 * [lambda x: os.write(w, x), b.send])
	for i in range(6):
	    for fd, events in p.poll():
	        os.read(fd, 1)
	p.poll(20)
	later(b.send)
	select.select([r, a], [], [])
	print(r, a.fileno(), flush=True)
	p.unregister(a)
	os.wait(), os.wait(), a.recv(1)
	p.poll()
	END
	mkfifo out
	tfs-run trace_why --buffer 16M --json --top 1000 -o got.json -- python3 -S polls.py >out &
	RUN=$!
	read -r pipe socket <out
	polls() { # it waits in the last one
		local pid
		for pid in $(pgrep -f '^[^ ]*python3[^ ]* -S polls.py$'); do
			tfs-stuck "$pid" | grep -q ': poll ' && PYTHON=$pid && return
		done
		return 1
	}
	eventually polls
	kill "$PYTHON"
	wait "$RUN" || [ $? = 143 ]
	jq -rs 'map(.parts // [] | .[] | select(.on == "poll")) | .[] | "\(.count) \(.detail)"' got.json |
		sort | uniq | sed "s/$pipe<pipe>/PIPE/; s/$socket<UNIX-STREAM>/SOCKET/" >polls
	diff polls - <<-'EOF'
		1 poll(PIPE)
		1 poll(PIPE, SOCKET)
		1 pselect6(SOCKET)
		3 poll(PIPE)
		3 poll(SOCKET)
	EOF
}

@test "trace_why: the threads of a lock convoy wait for futexes as long as their own clocks say" {
	need_tracefs events/sched/sched_waking
	command -v python3 >/dev/null || skip "needs python3"
	tfs-run trace_why --buffer 16M --json --top 1000 -o got.json -- "$PROG/delays" convoy 4 20 >told
	as_told
}

@test "trace_why: a slow DNS server: a wait for the socket, named with its other end" {
	need_tracefs events/sched/sched_waking
	command -v python3 >/dev/null || skip "needs python3"
	mkfifo port
	"$PROG/delays" server 50 >port &
	server=$!
	read -r _ number <port
	tfs-run trace_why --buffer 16M --json --top 1000 -o got.json -- "$PROG/delays" lookup "$number" 3 >told
	kill "$server"
	as_told
	# its own end is read in procfs, where it is gone if the reader of the trace comes late
	grep -q '"on":"socket","detail":"recv[a-z]*([0-9]*<UDP:\(127.0.0.1:[0-9]*\|?\)->127.0.0.1:'"$number"'>)"' got.json
}

@test "trace_why: a database that syncs after each change: each sync is there that strace counts" {
	need_tracefs events/sched/sched_waking
	need_tool sqlite3
	need_tool strace
	{ echo 'create table t(x);'; for i in {1..20}; do echo "insert into t values($i);"; done; } >changes
	strace -f -o calls -e trace=fdatasync,fsync sqlite3 one.db '.read changes'
	tfs-run trace_why --buffer 16M --json --slower 1us --top 100000 -o got.json -- sqlite3 two.db '.read changes'
	theirs=$(grep -c 'sync(.*= 0' calls)
	grep '"label":"f[a-z]*sync(' got.json >syncs
	echo "$theirs, $(wc -l <syncs)"
	[ "$theirs" -ge 20 ]
	[ "$(wc -l <syncs)" = "$theirs" ]
	# a wait in it is one for the disk
	grep -o '"state":"blocked","on":"[^"]*"' syncs | sort -u >waits || : # or none
	[ "$(grep -vc '"disk"' waits)" = 0 ]
}

# quota US: Make $QUOTA, a cgroup whose tasks together may run so many us of each 100,000.
quota() {
	need_tracefs events/sched/sched_waking
	if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
		QUOTA=/sys/fs/cgroup/$MARK
		echo +cpu >/sys/fs/cgroup/cgroup.subtree_control || skip "needs the cgroup controller cpu"
		mkdir "$QUOTA"
		echo "$1 100000" >"$QUOTA/cpu.max"
	else
		QUOTA=/sys/fs/cgroup/cpu/$MARK
		[ -e /sys/fs/cgroup/cpu/cpu.cfs_quota_us ] || skip "needs the cgroup controller cpu"
		mkdir "$QUOTA"
		echo 100000 >"$QUOTA/cpu.cfs_period_us"
		echo "$1" >"$QUOTA/cpu.cfs_quota_us"
	fi
}

undo() {
	[ ! -d "${QUOTA-}" ] || rmdir "$QUOTA"
}

# part STATE: Print how often and how many ns the first task of got.json was in STATE, all parts of
# the state added up.
part() {
	head -n 1 got.json | grep -o "{\"state\":\"$1\"[^}]*\"count\":[0-9]*,\"ns\":[0-9]*" |
		sed 's/.*"count":\([0-9]*\),"ns":\([0-9]*\)/\1 \2/' |
		awk '{ n += $1; ns += $2 } END { printf "%d %d\n", n, ns }'
}

# throttled_as_told: The task was throttled in no more periods than cpu.stat says, and for most of its
# time: cpu.stat counts each CPU that the task has used, and not the wait for the CPU afterwards.
throttled_as_told() {
	local periods times ours ns theirs
	read -r ours ns < <(part throttled)
	cat "$QUOTA/cpu.stat" got.json
	periods=$(sed -n 's/^nr_periods //p' "$QUOTA/cpu.stat")
	times=$(sed -n 's/^nr_throttled //p' "$QUOTA/cpu.stat")
	theirs=$(sed -n 's/^throttled_usec \(.*\)/\1000/p; s/^throttled_time //p' "$QUOTA/cpu.stat")
	echo "$periods periods; throttled $times times, $theirs ns; $ours times, $ns ns"
	[ "$ours" -ge 1 ]
	[ "$ours" -le "$times" ]
	[ $((2 * ns)) -gt "$theirs" ]
}

# bats test_tags=guest
@test "trace_why: a quota stops a program on an idle CPU: throttled, as cpu.stat says" {
	uses kprobe_events # otherwise other programs of the machine may use the CPU meanwhile
	quota 20000
	# shellcheck disable=SC2016 # the other shell's
	tfs-run trace_why --buffer 16M --json --top 1000 -o got.json -- \
		sh -c 'echo $$ >"$1/cgroup.procs" && exec "$2" spin 100' sh "$QUOTA" "$PROG/delays"
	throttled_as_told
}

# bats test_tags=guest
@test "trace_why: a quota stops a program beside a noisy neighbour: throttled, not preempted by it" {
	uses kprobe_events
	quota 20000
	background taskset 2 "$PROG/delays" spin 1000000
	# shellcheck disable=SC2016 # the other shell's
	tfs-run trace_why --buffer 16M --json --top 1000 -o got.json -- \
		sh -c 'echo $$ >"$1/cgroup.procs" && exec taskset 2 "$2" spin 100' sh "$QUOTA" "$PROG/delays"
	throttled_as_told
	# without a quota, it is preempted, and never throttled
	tfs-run trace_why --buffer 16M --json --top 1000 -o got.json -- taskset 2 "$PROG/delays" spin 100
	cat got.json
	[ "$(part throttled)" = '0 0' ]
	[ "$(part preempted)" != '0 0' ]
}

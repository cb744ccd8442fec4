#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# trace_why: what programs with known chains of waits waited for, and who ended each wait

load ../helper
load ../hooks

# In microseconds: so much may a wait differ. An emulated CPU is late.
late=500
[ "${TFS_VARIANT-}" != vm ] || late=30000

# A chain is right if each wait has the right kind, waker and length, all parts add up to the time of
# the task to the nanosecond, and at most 1 us for each part is unknown (t/prog/whycheck.c).
@test "trace_why: each of 60 chains of tasks that wait for each other is right" {
	local seed status
	need_tracefs events/sched/sched_waking
	for seed in 1 2 "${TFS_WHY_SEED:-$(($$ % 1000))}"; do
		status=0
		tfs-run trace_why --json --top 100000 -o got.json -- "$PROG/why" -o truth "$seed" 20 ||
			status=$?
		[ "$status" != 77 ] || skip "needs SCHED_FIFO"
		[ "$status" = 0 ]
		echo "seed $seed"
		"$PROG/whycheck" -t "$late" truth got.json
	done
}

@test "trace_why: text, a trace.dat and the account of the session tell the same of a program" {
	need_tracefs events/sched/sched_waking
	local form
	for form in txt dat; do
		tfs-run trace_why --events -o "got.$form" -- "$PROG/why" -o truth 5 10 ||
			skip "needs SCHED_FIFO"
		tfs-why -j -n 100000 "got.$form" >got.json
		echo "$form"
		# text does not name the files of descriptors
		"$PROG/whycheck" -w -t "$late" truth got.json
	done
}

# bats test_tags=quick
@test "trace_why: --events cannot be combined with options of the account" {
	status=0
	tfs-run trace_why --events --top 3 -- true >out 2>&1 || status=$?
	[ "$status" = 100 ]
	grep -q 'leave out --slower, --depth, --top and --folded' out
}

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
	tfs-run trace_why --json --top 1000 -o got.json -- "$PROG/delays" mixed file >all
	grep -v ' disk ' all >told # a file system without a disk syncs at once
	as_told
}

@test "trace_why: the threads of a lock convoy wait for futexes as long as their own clocks say" {
	need_tracefs events/sched/sched_waking
	command -v python3 >/dev/null || skip "needs python3"
	tfs-run trace_why --json --top 1000 -o got.json -- "$PROG/delays" convoy 4 20 >told
	as_told
}

@test "trace_why: a slow DNS server: a wait for the socket, named with both ends" {
	need_tracefs events/sched/sched_waking
	command -v python3 >/dev/null || skip "needs python3"
	mkfifo port
	"$PROG/delays" server 50 >port &
	server=$!
	read -r _ number <port
	tfs-run trace_why --json --top 1000 -o got.json -- "$PROG/delays" lookup "$number" 3 >told
	kill "$server"
	as_told
	grep -q '"on":"socket","detail":"recv[a-z]*([0-9]*<UDP:127.0.0.1:[0-9]*->127.0.0.1:'"$number"'>)"' got.json
}

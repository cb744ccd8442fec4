#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# trace_why: what programs with known chains of waits waited for, and who ended each wait

load ../helper
load ../hooks

# In microseconds: the shortest wait of a last task, and how much a wait may differ. An emulated CPU
# is late.
shortest=1000 late=500
[ "${TFS_VARIANT-}" != vm ] || { shortest=20000; late=30000; }

# A chain is right if each wait has the right kind, waker and length, all parts add up to the time of
# the task to the nanosecond, and at most 1 us for each part is unknown (t/prog/whycheck.c).
# bats test_tags=guest
@test "trace_why: each of 60 chains of tasks that wait for each other is right" {
	local seed status kinds=
	need_tracefs events/sched/sched_waking
	# without BPF the files of descriptors are not known
	[ -e "$TRACEFS/events/bpf_trace" ] || kinds=-w
	for seed in 1 2 "${TFS_WHY_SEED:-$(($$ % 1000))}"; do
		status=0
		tfs-run trace_why --json --top 100000 -o got.json -- \
			"$PROG/why" -u "$shortest" -o truth "$seed" 20 || status=$?
		[ "$status" != 77 ] || skip "needs SCHED_FIFO"
		[ "$status" = 0 ]
		echo "seed $seed"
		"$PROG/whycheck" $kinds -t "$late" truth got.json
	done
}

@test "trace_why: text, a trace.dat and the account of the session tell the same of a program" {
	need_tracefs events/sched/sched_waking
	local form
	for form in txt dat; do
		tfs-run trace_why --events -o "got.$form" -- \
			"$PROG/why" -u "$shortest" -o truth 5 10 ||
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

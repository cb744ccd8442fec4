#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# trace_why: tasks that hang since before the recording: the whole session is one wait, whose cause
# is that of tfs-stuck. build/t/hangs hangs in known ways, and prints who waits for whom.

load ../helper
load ../hooks

HANGS=()

undo() {
	exec 7>&- # hangs ends, and kills its processes
	eventually none_hangs
}

none_hangs() {
	local pid
	for pid in "${HANGS[@]}"; do
		! kill -0 "$pid" 2>/dev/null || return
	done
}

# hang MODE...: Start known hangs, whose waits are then in want, and their tids in tids.
hang() {
	local mode
	mkfifo in
	exec 7<>in
	for mode; do
		mkdir "$mode"
		(cd "$mode" && exec "$PROG/hangs" "$mode") <in >"$mode/out" 7>&- &
		HANGS+=($!)
		disown "$!" # teardown would kill it alone
	done
	for mode; do
		eventually test -s "$mode/out"
		grep -v '^deadlock' "$mode/out"
	done >want
	cut -d ' ' -f 1 want | sort -un >tids
	eventually all_wait
}

all_wait() {
	local tids
	mapfile -t tids <tids
	tfs-stuck --marks "${tids[@]}" >marks
	awk '{ print $3 }' marks | sort -un | cmp -s - tids
}

# accounted FILE: The task of each line of want has an account of one wait, as long as the session,
# whose detail names who would have to act.
accounted() {
	awk '
		NR == FNR {
			if (!match($0, /"pid":[0-9]+/))
				next
			pid = substr($0, RSTART + 6, RLENGTH - 6)
			match($0, /"total_ns":[0-9]+/)
			ns[pid] = substr($0, RSTART + 11, RLENGTH - 11)
			whole = whole ? whole : ns[pid]
			parts = substr($0, RSTART + RLENGTH)
			one = ",\"count\":1,\"ns\":" ns[pid] "}]}"
			if (ns[pid] == whole && substr(parts, length(parts) - length(one) + 1) == one &&
			    match(parts, /^,"lost_intervals":0,"parts":\[\{"state":"blocked","on":"[a-z ]+","detail":"/))
				cause[pid] = "; " substr(parts, RLENGTH + 1)
			next
		}
		{
			pid = $1
			sub(/^[0-9]+ /, "")
			$0 = "; " $0 (/[0-9]$/ ? " " : ":")
			if (!index(cause[pid], $0)) {
				print "not: " pid $0, cause[pid]
				failed = 1
			}
			n++
		}
		END { exit failed || !n || whole + 0 < 5e8 }' "$1" want
}

@test "trace_why: 60 known hangs are one wait each, as long as the session, with the cause of tfs-stuck" {
	local modes mode all=()
	need_tracefs events/sched/sched_waking
	[ "$(id -u)" = 0 ] || skip "needs root"
	mapfile -t modes < <("$PROG/hangs" list)
	for mode in "${modes[@]}"; do
		case $mode in
		unix-backlog) ;; # its name of a socket is that of another one
		zombie | throttled) ;; # no task can be traced, or it runs
		fuse) [ ! -c /dev/fuse ] || ! grep -qw fuse /proc/filesystems || all+=("$mode") ;;
		frozen) [ ! -f /sys/fs/cgroup/cgroup.controllers ] &&
			[ ! -f /sys/fs/cgroup/unified/cgroup.controllers ] || all+=("$mode") ;;
		*) all+=("$mode") ;;
		esac
	done
	hang "${all[@]}"
	tfs-run trace_why --json --top 1000 --time 1s --pid "$(paste -s -d , tids)" -o got.json
	accounted got.json
	[ ${#all[@]} -ge 58 ]
}

# bats test_tags=quick
@test "trace_why: text and a trace.dat of a hang have the account of the session" {
	need_tracefs events/sched/sched_waking
	local form
	hang pipe-empty
	for form in txt dat; do
		tfs-run trace_why --events --time 1s --pid "$(paste -s -d , tids)" -o "got.$form"
		tfs-why -j "got.$form" >got.json
		accounted got.json
	done
	# each call for itself: this one has neither begun nor ended
	tfs-run trace_why --slower 1ms --time 1s --pid "$(head -n 1 want | cut -d ' ' -f 1)" -o got
	head -n 1 got | grep -x "hangs [0-9]*, read [0-9]*<pipe:\[[0-9]*\], empty>; writer [0-9]* hangs: .*"
}

@test "trace_why: --every prints the account so far, of a task that hangs, too, and at last of all" {
	need_tracefs events/sched/sched_waking
	mkfifo fifo
	taskset 1 head -n 1 <>fifo >line &
	HEAD=$!
	watch trace_why --every 50ms --json --pid "$HEAD"
	hung() { # 20 accounts so far have one wait, as long as they are
		grep -Ec '"pid":'"$HEAD"',.*"total_ns":([0-9]+),.*"parts":\[\{"state":"blocked",.*"count":1,"ns":\1\}\]\}$' got >n
		[ "$(cat n)" -ge 20 ]
	}
	eventually hung
	echo x >fifo
	watch_end
	wait "$HEAD"
	# the time grows, and the parts of each account add up to it
	jq -rs '.[] | select(.pid) | [.seconds, .total_ns, (.parts | map(.ns) | add)] | @tsv' got |
		awk '$1 < s || $2 < ns || $2 != $3 { print; bad = 1 } { s = $1; ns = $2 } END { exit bad || NR < 21 }'
	tail -n 1 got | grep -q '"waker":{"pid":[0-9]*,"comm":"bash"}'
}

@test "trace_why: a wait from before the recording is accounted with its cause and who ended it" {
	need_tracefs events/sched/sched_waking
	mkfifo fifo
	exec 7<>fifo
	taskset 1 head -n 1 fifo >line 7>&- &
	HEAD=$!
	is_waiting() {
		tfs-stuck --marks "$HEAD" | grep -q '"head" fifo: '
	}
	eventually is_waiting
	watch trace_why --events --pid "$HEAD"
	eventually grep -q '# waits: ' got
	echo x >&7
	watch_end
	wait "$HEAD"
	tfs-why -j got >got.json
	cat got.json
	grep -q '"on":"fifo","detail":"read [0-9]*<[^"]*fifo[^"]*","count":1,"ns":[0-9]*,"waker":{"pid":'"$$"',' got.json
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# trace_why: what programs with known chains of waits waited for, and who ended each wait

load ../helper
load ../hooks

# In microseconds: the shortest wait of a last task, and how much a wait may differ. An emulated CPU
# comes late to all that it does, so there only the order counts.
shortest=1000 late=500
[ "${TFS_VARIANT-}" != vm ] || { shortest=20000; late=10000000; }

# A chain is right if each wait has the right kind, waker and length, all parts add up to the time of
# the task to the nanosecond, and at most 1 us for each part is unknown (t/prog/whycheck.c).
# bats test_tags=guest,oldest
@test "trace_why: each of 60 chains of tasks that wait for each other is right" {
	local seed status kinds=()
	need_tracefs events/sched/sched_waking
	# without BPF the files of descriptors are not known
	[ -e "$TRACEFS/events/bpf_trace" ] || kinds=(-w)
	for seed in 1 2 "${TFS_WHY_SEED:-$(($$ % 1000))}"; do
		status=0
		tfs-run trace_why --buffer 16M --json --top 100000 -o got.json -- \
			"$PROG/why" -u "$shortest" -o truth "$seed" 20 || status=$?
		[ "$status" != 77 ] || skip "needs SCHED_FIFO"
		[ "$status" = 0 ]
		echo "seed $seed"
		"$PROG/whycheck" "${kinds[@]}" -t "$late" truth got.json
	done
}

# Set DISK to a disk that takes 20 ms for each request, or else to a file on a disk.
slow_disk() {
	local at=/sys/kernel/config
	DISK=$PWD/disk
	if [ "${TFS_VARIANT-}" = vm ]; then
		[ -d $at/nullb ] || mount -t configfs configfs $at 2>/dev/null || skip "needs null_blk"
		at=$at/nullb/nullb1
		[ -d $at ] || {
			mkdir $at
			echo 2 >$at/irqmode # a timer
			echo 20000000 >$at/completion_nsec
			echo 64 >$at/size
			echo 1 >$at/power
		}
		DISK=/dev/nullb1
		return
	fi
	case $(stat -f -c %T .) in
	tmpfs | ramfs | overlayfs) skip "needs a directory of tests on a disk (TMPDIR)" ;;
	esac
	head -c 33554432 /dev/urandom >"$DISK"
	sync "$DISK"
}

# bats test_tags=guest,oldest
@test "trace_why: each of 40 chains that end at a disk is right, by reads and by page faults" {
	local kinds=() seed status
	need_tracefs events/block
	slow_disk
	[ -e "$TRACEFS/events/bpf_trace" ] || kinds=(-w)
	for seed in 3 4; do
		status=0
		tfs-run trace_why --buffer 16M --json --top 100000 -o got.json -- "$PROG/why" -u "$shortest" \
			-f "$DISK" -k futex,pipe,socket,disk -o truth "$seed" 20 || status=$?
		[ "$status" != 77 ] || skip "needs SCHED_FIFO"
		[ "$status" = 0 ]
		"$PROG/whycheck" "${kinds[@]}" -t "$late" truth got.json
	done
	grep -q '"on":"disk","detail":"[a-z0-9-]*, read\( ahead\)\{0,1\} pread64(' got.json
	grep -q '"on":"disk","detail":"[a-z0-9-]*, read\( ahead\)\{0,1\}\( 0x[0-9a-f]*\)\{0,1\}"' got.json
}

@test "trace_why: text, a trace.dat and the account of the session tell the same of a program" {
	need_tracefs events/sched/sched_waking
	local form status
	for form in txt dat; do
		status=0
		tfs-run trace_why --buffer 16M --events -o "got.$form" -- \
			"$PROG/why" -u "$shortest" -o truth 5 10 || status=$?
		[ "$status" != 77 ] || skip "needs SCHED_FIFO"
		[ "$status" = 0 ]
		tfs-why -j -n 100000 "got.$form" >got.json
		echo "$form"
		# text does not name the files of descriptors
		"$PROG/whycheck" -w -t "$late" truth got.json
	done
}

@test "trace_why: a trace.dat has all events that the buffers still hold at the end" {
	local stream
	need_tracefs events/raw_syscalls
	calls 40000
	start_session trace_why --output dat --buffer 16M --pid "$CALLS"
	stream=$(pgrep -f "^tfs-record .*tfs[.]$MARK( |$)")
	kill -STOP "$stream"
	release
	finishes "$CALLS" 0
	# shellcheck disable=SC2153 # helper.bash
	kill "$SESSION"
	asked() { grep -Eq '^S(hd|ig)Pnd:.*[4-7c-f]...$' "/proc/$stream/status"; }
	eventually asked
	kill -CONT "$stream"
	finishes "$SESSION" 0
	[ "$(tfs-report "$TRACE" | grep -Ec 'calls-.* sys_enter: NR [0-9]+ \(|^# lost')" -ge 40000 ]
	run -1 grep lost err
	run -1 grep '^# lost' <(tfs-report "$TRACE")
}

@test "trace_why: --begin and --end account each window between two events of a task" {
	need_tracefs events/sched/sched_waking
	tfs-run trace_why --json --begin 'sys_enter_*nanosleep' --end 'sys_exit_*nanosleep' \
		-o got.json -- "$PROG/delays" convoy 1 20 >told
	[ "$(grep -c '"label":"sys_enter_\(clock_\)\{0,1\}nanosleep",.*{"state":"blocked","on":"sleep","detail":"\(clock_\)\{0,1\}nanosleep",' got.json)" -gt 4 ]
	status=0
	tfs-run trace_why --begin x -- true >out 2>&1 || status=$?
	[ "$status" = 100 ]
	grep -q 'fatal: a window needs both --begin and --end' out
}

@test "trace_why: --stack draws the stack of each wait, and above it that of the waker, by time" {
	need_tracefs events/sched/sched_waking
	[ "$(uname -m)" = x86_64 ] || skip "needs the names of the functions of x86-64"
	# some hosts record no switch from the idle task of another CPU
	tfs-run trace_why --buffer 16M --stack -o got.txt -- taskset 1 "$PROG/delays" mixed file >told
	tfs-flame -f -w lat -k pid got.txt >folded
	cat told folded
	[ ! -e /sys/kernel/btf/vmlinux ] || grep -q ';_start;.*;main;.*nanosleep;.*;--;' folded
	# each sleeps and reads as long as its own clock says: TID KIND TIMES NANOSECONDS
	awk 'NR == FNR { told[$1 " " $2] = $4; next }
		{ task = $1; sub(/;.*/, "", task) }
		/nanosleep;.*;--;.*hrtimer_wakeup;.*;interrupt [0-9]+$/ { ours[task " sleep"] += $NF }
		/pipe_read;.*;--;.*pipe_write;.*;[0-9]+ [0-9]+$/ { ours[task " pipe"] += $NF }
		END {
			for (key in ours) if (key in told) {
				print key, told[key], ours[key]
				n++
				if (ours[key] > told[key] || 2 * ours[key] < told[key]) exit 1
			}
			exit n != 2
		}' told folded
}

# bats test_tags=quick
@test "trace_why: --events and --stack cannot be combined with each other, or with options of the account" {
	while IFS='|' read -r words message; do
		# shellcheck disable=SC2086 # words
		run -100 tfs-run trace_why $words -- true
		[ "$output" = "tfs-run: fatal: $message" ]
	done <<-'EOF'
		--events --top 3|--events prints no account; leave out --slower, --begin, --end, --depth, --top and --folded
		--stack --folded|--stack prints no account; leave out --slower, --begin, --end, --depth, --top and --folded
		--events --stack|--events and --stack cannot be combined; give one
		--every 1s --folded|--every prints the account of tasks so far; leave out --events, --stack, --slower, --begin, --end, --folded and --otel
		--otel|--otel needs --slower, --begin and --end, or --events: a task has more than one span in its life
		--otel --slower 1ms --folded|--otel cannot be combined with --folded
		--otel --stack|--otel cannot be combined with --stack
		-o x.svg|-o x.svg: trace_why draws a picture only with --stack or --events: the account is text
	EOF
}

@test "trace_why: a session that begins leaves the instances of one that runs alone" {
	local tasks="$TRACEFS/instances/tfs.$MARK+tasks"
	need_tracefs events/sched/sched_waking
	sleep 1000 3>&- &
	task=$!
	tfs-run trace_why --events --instance "$MARK" --pid "$task" -o got >/dev/null 2>err 3>&- &
	session=$!
	eventually [ -d "$tasks" ]
	eventually grep -qs '# waits: ' got # by tfs-stuck
	grep -q ":$(stat -c %i "$tasks") " /proc/locks
	tfs-run trace_exec -o other -- true >/dev/null 2>&1 3>&-
	[ -d "$tasks" ]
	kill "$task"
	wait "$session"
	grep -q 'next_comm=sleep' got
}

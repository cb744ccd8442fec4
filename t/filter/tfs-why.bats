#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# tfs-why: the time of tasks, accounted to the last nanosecond

load ../helper

# at CPU SECONDS FLAGS TASK-PID EVENT...: Print an event line.
at() {
	local cpu=$1 time=$2 flags=$3 task=$4
	shift 4
	printf '%16s-%-7s [00%d] %s %s: %s\n' "${task%-*}" "${task##*-}" "$cpu" "$flags" "$time" "$*"
}

# to CPU SECONDS FROM STATE TO: Print a switch from the task FROM, which leaves in STATE.
to() {
	at "$1" "$2" d..2. "$3" "sched_switch: prev_comm=${3%-*} prev_pid=${3##*-} prev_prio=120" \
		"prev_state=$4 ==> next_comm=${5%-*} next_pid=${5##*-} next_prio=120"
}

# wakes CPU SECONDS BY TASK [FLAGS]: Print a wake-up.
wakes() {
	at "$1" "$2" "${5-d..4.}" "$3" \
		"sched_waking: comm=${4%-*} pid=${4##*-} prio=120 target_cpu=000"
}

# A task that waits for a futex; a helper, which sleeps meanwhile, wakes it.
futex() {
	echo '# traced: 10 main'
	echo '# traced: 20 helper'
	at 0 1.000000 ..... main-10 'sys_enter: NR 202 (7f00, 80, 0, 0, 0, 0)'
	to 1 1.000000 swapper/1-0 R helper-20
	to 0 1.100000 main-10 S swapper/0-0
	at 1 1.200000 ..... helper-20 'sys_enter: NR 35 (1, 0, 0, 0, 0, 0)'
	to 1 1.300000 helper-20 S swapper/1-0
	wakes 1 1.600000 '<idle>-0' helper-20 dnh4.
	to 1 1.700000 other-30 S helper-20
	at 1 1.700000 ..... helper-20 'sys_exit: NR 35 = 0'
	wakes 1 1.800000 helper-20 main-10
	to 0 1.900000 swapper/0-0 R main-10
	at 0 1.900000 ..... main-10 'sys_exit: NR 202 = 0'
}

# And what follows: it is throttled, preempted, interrupted, and ends.
rest() {
	to 0 2.000000 main-10 R swapper/0-0
	to 0 2.200000 swapper/0-0 R main-10
	to 0 2.300000 main-10 R+ other-30
	to 0 2.400000 other-30 S main-10
	at 0 2.500000 d.h.. main-10 'irq_handler_entry: irq=5 name=disk0'
	at 0 2.600000 d.h.. main-10 'irq_handler_exit: irq=5 ret=handled'
	to 0 3.000000 main-10 Z swapper/0-0
}

need_x86() {
	[ "$(uname -m)" = x86_64 ] || skip "needs the numbers of the calls of x86-64"
}

@test "tfs-why: a task that is woken while it leaves its CPU waits for a CPU" {
	{ echo '# traced: 10 main'
		to 0 1.000000 swapper/0-0 R main-10
		wakes 1 1.100000 helper-20 main-10
		to 0 1.200000 main-10 S other-30
		to 0 1.500000 other-30 S main-10
		# another wake-up shows that it went on before it slept
		wakes 1 1.600000 helper-20 main-10
		to 0 1.700000 main-10 S other-30
		wakes 1 1.900000 helper-20 main-10
		to 0 2.000000 other-30 S main-10; } | tfs-why >out
	lines_are out 'main 10: 1.00 s
   40.0 %    400 ms  running
   40.0 %    400 ms  waiting for a CPU
   40.0 %    400 ms    behind other 30, 2 times
   20.0 %    200 ms  blocked
   20.0 %    200 ms    not known for what, woken by helper 20
    0.0 %      0 ns  unknown'
}

@test "tfs-why: no name of a task adds a frame to folded lines" {
	need_x86
	{ futex; rest; } | tfs-why -f >plain
	for name in 'ma;in' 'm;;;;n' ';ain'; do
		{ futex; rest; } | sed "s/main/$name/g; s/helper/he;lper/g" | tfs-why -f |
			sed "s/${name//;/:}/main/g; s/he:lper/helper/g" | diff plain -
	done
}

# bats test_tags=quick
@test "tfs-why: the parts of a task add up to its time, and a wait names its waker and what that did" {
	need_x86
	{ futex; rest; } >in
	tfs-why -p 10 in >out
	lines_are out 'main 10: 2.00 s
   45.0 %    900 ms  running
   35.0 %    700 ms    user code
    5.0 %    100 ms    in futex
    5.0 %    100 ms    interrupt disk0
   35.0 %    700 ms  blocked
   35.0 %    700 ms    futex: futex(0x7f00), woken by helper 20
   10.0 %    200 ms  throttled by the quota of its cgroup
    5.0 %    100 ms  waiting for a CPU
    5.0 %    100 ms    the CPU was idle
    5.0 %    100 ms  preempted
    5.0 %    100 ms    by other 30
    0.0 %      0 ns  unknown'
	tfs-why in >out
	[ "$(grep -c '^[a-z]' out)" = 2 ]
	# the helper is traced as well, so it has a past
	[ "$(sed -n '7,10p' out)" = '   35.0 %    700 ms    futex: futex(0x7f00), woken by helper 20
   15.0 %    300 ms      helper 20: running
   15.0 %    300 ms      helper 20: blocked, sleep: nanosleep, woken by timer
    5.0 %    100 ms      helper 20: waiting for a CPU, behind other 30' ]
	tfs-why -d 0 in | sed -n '7,8p' >out
	lines_are out '   35.0 %    700 ms    futex: futex(0x7f00), woken by helper 20
   10.0 %    200 ms  throttled by the quota of its cgroup'
}

@test "tfs-why: says user code only of tasks that calls or faults show in it, and never of a kernel thread" {
	need_x86
	{
		to 0 1.000000 swapper/0-0 R kworker/0:1-5
		to 0 1.100000 kworker/0:1-5 I burner-30
		# nothing says whether it is in a call
		to 0 1.200000 burner-30 R reader-40
		# its read has begun before the trace
		at 0 1.300000 ..... reader-40 'sys_exit: NR 0 = 1'
		at 0 1.400000 ..... reader-40 'sys_enter: NR 0 (3, 7f00, 1, 0, 0, 0)'
		to 0 1.500000 reader-40 R caller-50
		# it was in no call before
		at 0 1.600000 ..... caller-50 'sys_enter: NR 56 (50f00, 0, 0, 0, 0, 0)'
		at 0 1.600000 ..... caller-50 'task_newtask: pid=60 comm=iou-wrk-50 clone_flags=80810f00 oom_score_adj=0'
		to 0 1.700000 caller-50 R iou-wrk-50-60
		to 0 1.800000 iou-wrk-50-60 R faulter-70
		at 0 1.900000 d.... faulter-70 'page_fault_user: address=0x7f00 ip=0x1 error_code=0x4'
		to 0 2.000000 faulter-70 R swapper/0-0
	} >in
	tfs-why -n 9 -p 5,30,40,50,60,70 in >out
	grep -E '^[^ ]|running|user code|in ' out | grep -v unknown | sed 's/: .*//; s/^ *[0-9.]* % *[0-9.]* ms//' >got
	lines_are got 'kworker/0:1 5
  running
burner 30
  running
reader 40
  running
    in read
    user code
caller 50
  running
    user code
    in clone
faulter 70
  running
    user code
iou-wrk-50 60
  running'
	tfs-why -p 5 -j in | grep -c '"state":"running","count":1,"ns":100000000}'
	# lost events may have taken it elsewhere
	{
		at 0 1.000000 ..... main-10 'sys_enter: NR 0 (3, 7f00, 1, 0, 0, 0)'
		echo 'CPU:0 [LOST 7 EVENTS]'
		to 0 1.100000 swapper/0-0 R main-10
		to 0 1.300000 main-10 R swapper/0-0
	} | tfs-why -p 10 >out
	[ "$(grep -c running out)" = 1 ]
	run -1 grep 'in read' out
}

@test "tfs-why: a task that loses its CPU by the quota of its cgroup is throttled, and only that one" {
	tells() { at 0 "$1" "$2" "$3" 'task_throttled: (check_cfs_rq_runtime+0x1/0x2 <- throttle_cfs_rq) ret=1'; }
	{
		to 0 1.000000 other-30 S main-10
		# an interrupt stops the cgroup of another task
		tells 1.100000 d.h3. main-10
		to 0 1.100000 main-10 R other-30
		to 0 1.200000 other-30 R main-10
		# the task has woken one of another cgroup
		wakes 0 1.300000 main-10 helper-20
		tells 1.300000 d..3. main-10
		to 0 1.300000 main-10 R other-30
		to 0 1.400000 other-30 R main-10
		# it ran on
		tells 1.500000 d..3. main-10
		at 0 1.500000 d.h.. main-10 'irq_handler_entry: irq=5 name=disk0'
		at 0 1.500000 d.h.. main-10 'irq_handler_exit: irq=5 ret=handled'
		to 0 1.600000 main-10 R other-30
		to 0 1.700000 other-30 R main-10
		# its own cgroup
		tells 1.800000 d..3. main-10
		to 0 1.800000 main-10 R other-30
		to 0 1.990000 other-30 R main-10
		to 0 2.000000 main-10 Z other-30
	} >in
	tfs-why -p 10 in >out
	lines_are out 'main 10: 1.00 s
   51.0 %    510 ms  running
   30.0 %    300 ms  preempted
   30.0 %    300 ms    by other 30, 3 times
   19.0 %    190 ms  throttled by the quota of its cgroup
    0.0 %      0 ns  unknown'
}

# long_wait N FROM: A task that waits from the FROM-th round on for a helper, which runs for 10 us in each
# of N rounds, and then sleeps for 30 us in one of 3000 calls.
long_wait() {
	awk -v n="$1" -v from="$2" '
	function line(cpu, task, ts, text) {
		printf "%24s [00%d] d..2. %d.%06d: %s\n", task, cpu, ts / 1000000, ts % 1000000, text
	}
	function to(cpu, ts, a, x, state, b, y) {
		line(cpu, a "-" x, ts, sprintf("sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 " \
			"prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120", a, x, state, b, y))
	}
	BEGIN {
		print "# traced: 10 main"
		print "# traced: 20 helper"
		t = 1000000
		to(0, t, "swapper/0", 0, "R", "main", 10)
		to(1, t, "swapper/1", 0, "R", "helper", 20)
		for (i = 0; i < n; i++) {
			if (i == from) {
				line(0, "main-10", t, "sys_enter: NR 202 (7f00, 80, 0, 0, 0, 0)")
				to(0, t, "main", 10, "S", "swapper/0", 0)
			}
			line(1, "helper-20", t + 4, sprintf("sys_enter: NR 35 (%x, 0, 0, 0, 0, 0)", i * i % 3001))
			to(1, t += 10, "helper", 20, "S", "swapper/1", 0)
			line(1, "<idle>-0", t + 30, "sched_waking: comm=helper pid=20 prio=120 target_cpu=001")
			to(1, t += 30, "swapper/1", 0, "R", "helper", 20)
			line(1, "helper-20", t, "sys_exit: NR 35 = 0")
		}
		line(1, "helper-20", t, "sched_waking: comm=main pid=10 prio=120 target_cpu=000")
		to(0, t, "swapper/0", 0, "R", "main", 10)
		line(0, "main-10", t, "sys_exit: NR 202 = 0")
		to(0, t + 10, "main", 10, "Z", "swapper/0", 0)
	}'
}

# of_helper STATE: Print the nanoseconds of a state of the waker, from out.
of_helper() {
	python3 -c '
import json, sys
for line in open("out"):
	task = json.loads(line)
	for part in task.get("parts", []):
		if part["state"] == "blocked":
			print(sum(p["ns"] for p in part["parts"] if p["state"] == sys.argv[1]))' "$1"
}

@test "tfs-why: what a waker did in a very long wait is told to the end, as sums" {
	need_x86
	# 100,000 parts, more than are kept: the wait has all of them
	long_wait 50000 0 >in
	tfs-why -j in | grep "\"pid\":10," >out
	[ "$(of_helper running)" = 500000000 ]
	[ "$(of_helper blocked)" = 1500000000 ]
	[ "$(of_helper unknown)" = 0 ]
	# the wait has a part of them, and some of its time is known only in sum with what was before
	long_wait 50000 30000 >in
	tfs-why -j in | grep "\"pid\":10," >out
	running=$(of_helper running)
	blocked=$(of_helper blocked)
	unknown=$(of_helper unknown)
	[ $((running + blocked + unknown)) = 800000000 ]
	[ "$running" -gt 0 ]
	# the parts that are kept alternate
	[ $((blocked - 3 * running)) -ge -30000 ] && [ $((blocked - 3 * running)) -le 30000 ]
	grep -q '"on":"too long ago"' out
}

@test "tfs-why: -c accounts each call, -s and -e a window, and -m leaves out short ones" {
	need_x86
	{ futex; rest; } >in
	[ "$(tfs-why -c in | grep '^[a-z]')" = 'main 10, futex(0x7f00): 900 ms
helper 20, nanosleep: 500 ms' ]
	[ "$(tfs-why -c -m 600ms in | grep -c '^[a-z]')" = 1 ]
	[ "$(tfs-why -c -n 1 in | tail -n 1)" = '# 1 shorter ones are not shown, 500 ms together' ]
	[ "$(tfs-why -s sys_exit -e 'irq_handler_e*y' in | head -n 1)" = 'main 10, sys_exit: 600 ms' ]
	[ "$(tfs-why -s sys_exit -e 'irq_handler_e*y' in | tail -n 1)" = '# 1 windows have no end, and are not shown' ]
	status=0
	tfs-why -c -m 1h in >out 2>&1 || status=$?
	[ "$status" = 100 ]
	status=0
	tfs-why -c -m 10s in >out || status=$?
	[ "$status" = 1 ]
	[ ! -s out ]
}

@test "tfs-why: an interval that a loss touches is unknown, and the others are not" {
	need_x86
	futex >in
	sed 's/^.*1\.200000.*/CPU:1 [LOST 3 EVENTS]\n&/' in >lossy
	tfs-why -p 10 lossy >out
	lines_are out 'main 10: 900 ms; events were lost in 1 of its intervals
   11.1 %    100 ms  running
   11.1 %    100 ms    in futex
   11.1 %    100 ms  waiting for a CPU
   11.1 %    100 ms    the CPU was idle
   77.8 %    700 ms  unknown
   77.8 %    700 ms    events lost'
}

@test "tfs-why: a wait is for the disk after a request of the task, and a later page fault is not" {
	need_x86
	{
		to 0 1.000000 swapper/0-0 R main-10
		at 0 1.000000 ..... main-10 'sys_enter: NR 17 (3, 0, 0, 0, 0, 0)'
		at 0 1.100000 ..... main-10 'block_bio_queue: 254,0 RA 8 + 8 [main]'
		to 0 1.100000 main-10 D swapper/0-0
		wakes 0 1.300000 kworker-9 main-10
		to 0 1.300000 swapper/0-0 R main-10
		to 0 1.300000 main-10 D swapper/0-0
		wakes 0 1.400000 kworker-9 main-10
		to 0 1.400000 swapper/0-0 R main-10
		at 0 1.400000 ..... main-10 'sys_exit: NR 17 = 8'
		at 0 1.500000 ..... main-10 'page_fault_user: address=0x1000 ip=0x2000 error_code=0x4'
		at 0 1.500000 ..... main-10 'block_bio_queue: 254,0 R 8 + 8 [main]'
		to 0 1.500000 main-10 D swapper/0-0
		wakes 0 1.600000 kworker-9 main-10
		to 0 1.600000 swapper/0-0 R main-10
		at 0 1.600000 ..... main-10 'page_fault_user: address=0x3000 ip=0x2000 error_code=0x4'
		to 0 1.600000 main-10 S swapper/0-0
		wakes 0 1.900000 kworker-9 main-10
		to 0 1.900000 swapper/0-0 R main-10
		to 0 2.000000 main-10 Z swapper/0-0
	} >in
	tfs-why -p 10 in | grep -A 3 blocked >out
	lines_are out '   70.0 %    700 ms  blocked
   30.0 %    300 ms    disk: 254:0, read ahead pread64(3), woken by kworker 9, 2 times
   30.0 %    300 ms    page fault, woken by kworker 9
   10.0 %    100 ms    disk: 254:0, read, woken by kworker 9'
}

# waits_for CPU FROM TO BY STATE EVENT...: The task main waits from one time to another.
waits_for() {
	at 0 "$1" ..... main-10 "${*:4}"
	to 0 "$1" main-10 D swapper/0-0
	wakes 1 "$2" "$3" main-10
	to 0 "$2" swapper/0-0 R main-10
}

# bats test_tags=quick
@test "tfs-why: small causes are one line, and page faults; disks and wakers have one name each" {
	local i fault='page_fault_user: ip=0x2000 error_code=0x4 address'
	{
		at 1 1.000000 ..1.. manager-5 'tracing_mark_write: # the recording begins'
		at 1 1.000000 ..1.. manager-5 'tracing_mark_write: # disks: 8:0 sda 254:0 vda'
		to 0 1.000000 swapper/0-0 R main-10
		waits_for 1.000000 1.200000 kworker-9 "$fault=0x1000"
		waits_for 1.200000 1.300000 kworker-9 "$fault=0x2000"
		waits_for 1.300000 1.400000 old-20 "$fault=0x3000"
		waits_for 1.400000 1.500000 new-20 "$fault=0x4000"
		for i in 31 32 33 34; do
			waits_for "1.5${i}000" "1.5${i}500" "w$i-$i" "$fault=0x5000"
		done
		at 0 1.600000 ..... main-10 'block_bio_queue: 254,0 FWS 8 + 8 [main]'
		waits_for 1.600000 1.900000 kworker-9 "$fault=0x6000"
		at 0 1.900000 ..... main-10 'block_bio_queue: 254,0 WSM 8 + 8 [main]'
		waits_for 1.900000 2.000000 kworker-9 "$fault=0x6000"
		to 0 2.000000 main-10 Z swapper/0-0
	} >in
	tfs-why -p 10 in | grep -A 5 blocked >out
	lines_are out '   90.2 %    902 ms  blocked
   30.0 %    300 ms    page fault, woken by kworker 9, 2 times
   30.0 %    300 ms    disk: vda, flush, woken by kworker 9
   20.0 %    200 ms    page fault, woken by new 20, 2 times
   10.0 %    100 ms    disk: vda, write of metadata, woken by kworker 9
    0.2 %   2.00 ms    other, 4 causes'
	[ "$(tfs-why -p 10 --top all in | grep -c ' page fault, woken by w3[1-4] 3[1-4]$')" = 4 ]
	run -1 grep other <(tfs-why -p 10 --top all in)
}

@test "tfs-why: a task that is frozen waits neither for a call nor for a page fault" {
	need_x86
	{
		to 0 1.000000 swapper/0-0 R main-10
		at 0 1.000000 ..... main-10 'sys_enter: NR 39 (0, 0, 0, 0, 0, 0)'
		at 0 1.000000 ..... main-10 'sys_exit: NR 39 = 10'
		at 0 1.100000 ..... main-10 'page_fault_user: address=0x1000 ip=0x2000 error_code=0x4'
		to 0 1.100000 main-10 S swapper/0-0
		wakes 0 1.200000 helper-9 main-10
		to 0 1.200000 swapper/0-0 R main-10
		at 0 1.300000 d.h.. main-10 'local_timer_entry: vector=236'
		at 0 1.300000 d.h.. main-10 'local_timer_exit: vector=236'
		to 0 1.500000 main-10 S swapper/0-0
		wakes 0 1.900000 helper-9 main-10
		to 0 1.900000 swapper/0-0 R main-10
		to 0 2.000000 main-10 Z swapper/0-0
	} >in
	tfs-why -p 10 in | grep -A 2 blocked >out
	lines_are out '   50.0 %    500 ms  blocked
   40.0 %    400 ms    not known for what, woken by helper 9
   10.0 %    100 ms    page fault, woken by helper 9'
}

@test "tfs-why: a thread that executes goes on as the first thread of its process" {
	need_x86
	{
		to 1 1.000000 swapper/1-0 R thread-11
		to 0 1.000000 swapper/0-0 R main-10
		at 0 1.100000 ..... main-10 'sys_enter: NR 34 (0, 0, 0, 0, 0, 0)'
		to 0 1.100000 main-10 S swapper/0-0
		at 1 1.200000 ..... thread-11 'sys_enter: NR 59 (7f00, 0, 0, 0, 0, 0)'
		wakes 1 1.300000 thread-11 main-10
		to 0 1.300000 swapper/0-0 R main-10
		to 0 1.400000 main-10 Z swapper/0-0
		at 1 1.500000 ..... sleep-10 'sched_process_exec: filename=/bin/sleep pid=10 old_pid=11'
		at 1 1.600000 ..... sleep-10 'sys_exit: NR 59 = 0'
		to 1 1.900000 sleep-10 Z swapper/1-0
	} >in
	tfs-why in | grep -v '^$' >out
	lines_are out 'thread 11: 500 ms
  100.0 %    500 ms  running
   60.0 %    300 ms    in execve
   40.0 %    200 ms    user code
    0.0 %      0 ns  unknown
main 10: 400 ms
   50.0 %    200 ms  running
   25.0 %    100 ms    user code
   25.0 %    100 ms    in pause
   50.0 %    200 ms  blocked
   50.0 %    200 ms    signal: pause, woken by thread 11
   50.0 %    200 ms      thread 11: running
    0.0 %      0 ns  unknown
sleep 10: 400 ms
  100.0 %    400 ms  running
   75.0 %    300 ms    user code
   25.0 %    100 ms    in execve
    0.0 %      0 ns  unknown'
}

@test "tfs-why: a wait that a signal ended names the signal, and who sent it" {
	need_x86
	{
		echo '# traced: 10 main'
		at 0 1.000000 ..... main-10 'sys_enter: NR 35 (7f00, 0, 0, 0, 0, 0)'
		to 0 1.000000 main-10 S swapper/0-0
		wakes 1 1.200000 sh-30 main-10
		to 0 1.200000 swapper/0-0 R main-10
		at 0 1.200000 ..... main-10 'sys_exit: NR 35 = -516'
		at 0 1.200000 ..... main-10 'signal_deliver: sig=10 errno=0 code=0 sa_handler=55 sa_flags=0'
		at 0 1.200000 ..... main-10 'sys_enter: NR 35 (7f00, 0, 0, 0, 0, 0)'
		to 0 1.200000 main-10 S swapper/0-0
		wakes 1 1.500000 sh-30 main-10
		to 0 1.500000 swapper/0-0 R main-10
		at 0 1.500000 ..... main-10 'sys_exit: NR 35 = -4'
		at 0 1.500000 ..... main-10 'sys_enter: NR 34 ()'
		to 0 1.500000 main-10 S swapper/0-0
		wakes 1 1.900000 sh-30 main-10
		to 0 1.900000 swapper/0-0 R main-10
		at 0 1.900000 ..... main-10 'sys_exit: NR 34 = -514'
		at 0 1.900000 ..... main-10 'signal_deliver: sig=9 errno=0 code=0 sa_handler=0 sa_flags=0'
		at 0 1.900000 ..... main-10 'sys_enter: NR 0 (3, 7f00, 1, 0, 0, 0)'
		to 0 1.900000 main-10 S swapper/0-0
		wakes 1 2.000000 sh-30 main-10
		to 0 2.000000 swapper/0-0 R main-10
		at 0 2.000000 ..... main-10 'sys_exit: NR 0 = 1'
		at 0 2.000000 ..... main-10 'signal_deliver: sig=10 errno=0 code=0 sa_handler=55 sa_flags=0'
	} >in
	sed "s/sig=10 errno=0 code=0/sig=2 errno=0 code=128/" in | tfs-why | grep -qx "   20.0 %    200 ms    sleep: nanosleep, woken by ^C from sh 30"
	tfs-why in >out
	lines_are out 'main 10: 1.00 s
  100.0 %   1.00 s   blocked
   40.0 %    400 ms    signal: pause, woken by a fatal signal from sh 30
   30.0 %    300 ms    sleep: nanosleep, woken by a signal from sh 30
   20.0 %    200 ms    sleep: nanosleep, woken by SIGUSR1 from sh 30
   10.0 %    100 ms    call: read(3), woken by sh 30
    0.0 %      0 ns  unknown'
	tfs-why -j in >json
	grep -qF '{"state":"blocked","on":"sleep","detail":"nanosleep","signal":"SIGUSR1","count":1,"ns":200000000,"waker":{"pid":30,"comm":"sh"}}' json
}

@test "tfs-why: a task that is named only later has one line, with its name" {
	need_x86
	{
		echo '# traced: 10 main'
		to 0 1.000000 main-10 S swapper/0-0
		wakes 1 1.200000 '<...>-30' main-10
		to 0 1.200000 swapper/0-0 R main-10
		to 0 1.300000 main-10 S swapper/0-0
		wakes 1 1.500000 sh-30 main-10
		to 0 1.500000 swapper/0-0 R main-10
	} >in
	tfs-why in >out
	grep -Fx '   80.0 %    400 ms    not known for what, woken by sh 30, 2 times' out
	grep 'woken by' out >woken
	file_has 1 woken
}

@test "tfs-why: -j and -f tell the same times" {
	need_x86
	{ futex; rest; } >in
	tfs-why -j in >json
	[ "$(grep -c '"total_ns":2000000000' json)" = 2 ]
	grep -qF '{"state":"blocked","on":"futex","detail":"futex(0x7f00)","count":1,"ns":700000000,"waker":{"pid":20,"comm":"helper"},"parts":[{"state":"running","count":2,"ns":300000000}' json
	[ "$(tfs-why -f -p 10 in | awk '{ n += $NF } END { print n }')" = 2000000 ]
	[ "$(tfs-why -f in | grep -c '^main;blocked;futex: futex(0x7f00), woken by helper 20;helper 20;')" = 3 ]
}

@test "tfs-why: a window begins and ends at the calls of raw_syscalls, by their names" {
	need_x86
	futex >in
	[ "$(tfs-why -s sys_enter_nanosleep -e sys_exit_nanosleep in | grep '^[a-z]')" = \
		'helper 20, sys_enter_nanosleep: 500 ms' ]
	# a window that ends as its task leaves the CPU does not make the task run
	tfs-why -s sched_switch -e sys_exit_futex in | sed -n '1,3p' >out
	lines_are out 'main 10, sched_switch: 800 ms
   87.5 %    700 ms  blocked
   87.5 %    700 ms    futex: futex(0x7f00), woken by helper 20'
}

@test "tfs-why: refuses JSON, and a trace without switches" {
	status=0
	echo '{"ts":1.000000000,"cpu":0,"pid":1,"comm":"a","system":"sched","event":"sched_waking","fields":{"pid":2}}' |
		tfs-why >out 2>&1 || status=$?
	[ "$status" = 111 ]
	grep -q 'fatal: the trace is JSON, which does not tell what interrupts did; give text, or a trace.dat' out
	status=0
	wakes 0 1.000000 a-1 b-2 | tfs-why >out 2>&1 || status=$?
	[ "$status" = 1 ]
	grep -q 'fatal: the trace has no sched_switch, which tells when a task runs' out
}

# on HOST: Begin lines as dt-join does.
on() {
	sed "s/^/$1 | /"
}

# A client sends a request to another host, whose server has the same pid, and waits for the answer.
request() {
	at 0 1.000000 ..... main-10 'bpf_trace_printk: dtB 2a 10 0' | on a
	at 0 1.100000 ..... main-10 'bpf_trace_printk: dtM 2a 10 11' | on a
	at 0 1.100000 ..... main-10 'sys_enter: NR 45 (3, 0, 0, 0, 0, 0)' | on a
	to 0 1.100000 main-10 S swapper/0-0 | on a
	at 0 1.300000 ..... server-10 'bpf_trace_printk: dtB 2a 10 11' | on b
	at 0 1.400000 ..... server-10 'sys_enter: NR 35 (1, 0, 0, 0, 0, 0)' | on b
	to 0 1.400000 server-10 S swapper/0-0 | on b
	wakes 0 1.700000 '<idle>-0' server-10 dnh4. | on b
	to 0 1.700000 swapper/0-0 R server-10 | on b
	at 0 1.700000 ..... server-10 'sys_exit: NR 35 = 0' | on b
	at 0 1.800000 ..... server-10 'bpf_trace_printk: dtM 2a 10 12' | on b
	at 0 1.800000 ..... server-10 'bpf_trace_printk: dtE 2a 10 11' | on b
	wakes 0 1.950000 '<idle>-0' main-10 dns4. | on a
	to 0 2.000000 swapper/0-0 R main-10 | on a
	at 0 2.000000 ..... main-10 'bpf_trace_printk: dtR 2a 10 12' | on a
	at 0 2.000000 ..... main-10 'sys_exit: NR 45 = 64' | on a
	at 0 2.100000 ..... main-10 'bpf_trace_printk: dtE 2a 10 0' | on a
}

@test "tfs-why: -r follows a request to another host, and tells what the network and queues took" {
	need_x86
	{
		echo '# a: all times are by this clock; 2 messages'
		echo '# b: 9.999900 s ahead, plus or minus 0.000201; 2 messages'
		request
	} >in
	tfs-why -r in >out
	lines_are out '# a: all times are by this clock; 2 messages
# b: 9.999900 s ahead, plus or minus 0.000201; 2 messages
a:main 10: 1.10 s
   77.3 %    850 ms  blocked
   77.3 %    850 ms    socket: recvfrom(3), woken by b:server 10
   31.8 %    350 ms      network and queues, 2 times
   27.3 %    300 ms      b:server 10: blocked, sleep: nanosleep, woken by timer
   18.2 %    200 ms      b:server 10: running
   18.2 %    200 ms  running
   18.2 %    200 ms    user code
    4.5 %  50.00 ms  waiting for a CPU
    4.5 %  50.00 ms    the CPU was idle
    0.0 %      0 ns  unknown

b:server 10, request 11: 500 ms
   60.0 %    300 ms  blocked
   60.0 %    300 ms    sleep: nanosleep, woken by timer
   40.0 %    200 ms  running
   40.0 %    200 ms    user code
    0.0 %      0 ns  unknown'
	# without the answer, nobody has sent what ended the wait
	grep -v ' dtM 2a 10 12' in | tfs-why -r | sed -n '5p' >out
	lines_are out '   77.3 %    850 ms    socket: recvfrom(3), woken by interrupt'
}

@test "tfs-why: a mark that comes late ends the window of its own request only" {
	{
		at 0 1.000000 ..... server-10 'bpf_trace_printk: dtB 2a 10 11'
		at 0 1.100000 ..... server-10 'bpf_trace_printk: dtB 2a 10 12'
		at 0 1.200000 ..... server-10 'bpf_trace_printk: dtE 2a 10 11'
		to 0 1.300000 server-10 R other-30
		to 0 1.400000 other-30 R server-10
		at 0 1.500000 ..... server-10 'bpf_trace_printk: dtE 2a 10 12'
		to 0 1.600000 server-10 S other-30
	} | tfs-why -r >out
	[ "$(grep request out)" = 'server 10, request 12: 400 ms
task 10, request 11: 100 ms' ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-process: one line for each process of a stored trace

load ../helper

# a trace: 10 makes 11, which executes a program and is killed, and 12, which does not end
stored() {
	cat <<-'END'
	sh-10 [000] ..... 1.000000: task_newtask: pid=11 comm=sh clone_flags=4100 oom_score_adj=0 process=11 parent=10
	a-11 [000] ..... 1.001000: sched_process_exec: filename=/bin/a pid=11 old_pid=11
	a-11 [000] ..... 1.000900: execve("/bin/a", ["a", "b c"], 0x55) = 0 <0.000100>
	sh-10 [000] ..... 1.002000: task_newtask: pid=12 comm=sh clone_flags=4100 oom_score_adj=0 process=12 parent=10
	a-11 [000] ..... 1.500000: sched_process_exit: comm=a pid=11 prio=120 exit_code=9 process=11 process_exit_code=9 parent=10 uid=5 cpu_least_ns=2500000 age_us=500000
	a-11 [001] d..2. 1.500100: cpu: process=11 ns=2600000
	END
}

# bats test_tags=quick
@test "tfs-process: prints ended processes first, then those that still run" {
	stored | tfs-process >got
	diff - got <<-'END'
	          START  PARENT   UID     PID   DURATION        CPU STATUS        COMMAND
	       1.000000      10     5      11     500 ms    2.60 ms SIGKILL       sh: a "b c"
	       1.002000      10     -      12          -          - still running sh: [sh]
	END
}

# ends SECONDS PID LEAST: Print the end of a process, as the kernel accounts its CPU time so far.
ends() {
	echo "p-$2 [000] ..... $1: sched_process_exit: comm=p pid=$2 prio=120 group_dead=true process=$2 process_exit_code=0 parent=1 uid=0 cpu_least_ns=$3 age_us=500000"
}

# used SECONDS PID NS: Print the CPU time that follows the end.
used() {
	echo "p-$2 [000] d..2. $1: cpu: process=$2 ns=$3"
}

@test "tfs-process: prints the CPU time that follows the end, and marks what is only the least" {
	{
		ends 1.000000 11 0
		ends 1.000100 12 4000000
		used 1.000200 12 4100000
		used 1.000300 11 900000
		# another program of BPF, and a process that has not ended
		echo 'p-11 [000] d..2. 1.000400: bpf_trace_printk: hello'
		used 1.000500 99 5
		ends 1.000600 13 0
		ends 1.000700 14 3000000
		used 1.000800 14 3100000
		# the pid is used again: the time of the first process did not come
		echo 'sh-10 [000] ..... 1.000900: task_newtask: pid=13 comm=new clone_flags=4100 oom_score_adj=0 process=13 parent=10'
		ends 1.001000 13 5000
		ends 1.001100 15 0
		used 1.001200 15 7000
		used 1.001300 13 6000
	} >in
	columns() { awk 'NR > 1 { print $4, $7, $8 }' "$1"; }
	tfs-process in >got
	diff - <(columns got) <<-'END'
		11 900 us
		12 4.10 ms
		13 >0 us
		14 3.10 ms
		13 6 us
		15 7 us
	END
	# without it, at once, as far as it was accounted
	tfs-process -n in | sed -n '2,4p' >got
	[ "$(awk '{ print $4, $7, $8 }' got)" = $'11 >0 us\n12 >4.00 ms\n13 >0 us' ]
	tfs-process -t in | awk 'NR > 1 { print $1, $4, $5 }' >got
	diff - got <<-'END'
		11 900 us
		12 4.10 ms
		13 >0 us
		14 3.10 ms
		10 still running
		13 6 us
		15 7 us
	END
	{ ends 1.000000 11 2000; used 1.000300 12 900000; } | tfs-process -j | grep -c '"cpu":null,"cpu_least":0.000002000,'
	{ ends 1.000000 11 2000; used 1.000300 11 900000; } | tfs-process -j | grep -c '"cpu":0.000900000,"exit_code"'
}

@test "tfs-process: a process that takes long to leave its CPU does not hold up the others" {
	mkfifo lines
	background tfs-process lines >got
	exec 7>lines
	ends 1.000000 11 2000 >&7
	ends 1.500000 12 3000 >&7
	used 1.500100 12 4000 >&7
	ends 3.000001 13 3000 >&7
	three() { [ "$(wc -l <got)" = 3 ]; }
	eventually three
	[ "$(awk 'NR > 1 { print $4, $7, $8 }' got)" = $'11 >2 us\n12 4 us' ]
	exec 7>&-
	finishes "$PID" 0
	file_has 4 got
}

@test "tfs-process: a program that tfs-run held begins when it gets its own name" {
	tfs-process >got <<-'END'
		         tfs-run-12      [000] ..... 5.000000: task_rename: pid=12 oldcomm=tfs-run newcomm=calls oom_score_adj=0
		           calls-12      [000] ..... 5.000001: sched_process_exec: filename=/bin/calls pid=12 old_pid=12
		           calls-12      [000] ..... 5.250000: sched_process_exit: comm=calls pid=12 prio=120 group_dead=true process=12 parent=11 uid=0 process_exit_code=0 age_us=900000 cpu_least_ns=1000000
		           other-13      [000] ..... 6.000000: task_rename: pid=13 oldcomm=sh newcomm=other oom_score_adj=0
		           other-13      [000] ..... 6.000001: sched_process_exec: filename=/bin/other pid=13 old_pid=13
		           other-13      [000] ..... 6.250000: sched_process_exit: comm=other pid=13 prio=120 group_dead=true process=13 parent=11 uid=0 process_exit_code=0 age_us=900000 cpu_least_ns=1000000
	END
	diff got - <<-'END'
	          START  PARENT   UID     PID   DURATION        CPU STATUS        COMMAND
	       5.000000      11     0      12     250 ms   >1.00 ms exit 0        /bin/calls
	       5.350000      11     0      13     900 ms   >1.00 ms exit 0        /bin/other
	END
}

@test "tfs-process: reads FILE, and prints JSON for JSON, whatever bytes a name has" {
	stored >trace
	diff <(stored | tfs-process) <(tfs-process trace)
	name=$(printf '\\u00%02x' {16..30})
	cat >trace.json <<-END
	{"ts":1.500000000,"cpu":0,"pid":11,"comm":"$name","system":"sched","event":"sched_process_exit","fields":{"comm":"$name","pid":11},"facts":{"process":11,"process_exit_code":9,"parent":10}}
	END
	tfs-process trace.json >got
	diff - got <<-END
	{"pid":11,"parent":10,"parent_comm":null,"uid":null,"start":null,"duration":null,"cpu":null,"exit_code":9,"end":"SIGKILL","comm":"$name","command":null}
	END
}

@test "tfs-process: the end of a process is unknown if events are lost" {
	{ stored; echo 'CPU:0 [LOST 3 EVENTS]'; } | tfs-process -t >got
	grep -q ' 12 .* end unknown .*\[sh\]$' got
	grep -q ' 11 .* SIGKILL  .* a "b c"$' got
}

@test "tfs-process: -s sums the processes of each command up, by their times, and names its longest run" {
	run() {
		echo "p-$1 [000] ..... 1.000000: sched_process_exec: filename=/bin/$4 pid=$1 old_pid=$1"
		[ -z "${5-}" ] ||
			echo "p-$1 [000] ..... 1.000100: execve(\"/bin/$4\", [$5], 0x55) = 0 <0.000100>"
		echo "p-$1 [000] ..... 5.000000: sched_process_exit: comm=$4 pid=$1 prio=120 group_dead=true process=$1 process_exit_code=$2 parent=1 uid=0 age_us=$3"
		[ "$1" = 15 ] || echo "p-$1 [000] d..2. 5.000000: cpu: process=$1 ns=1500000"
	}
	{
		stored
		run 13 0 1500000 cc '"/usr/bin/cc", "-c", "a b.c"'
		run 14 256 2250000 cc '"/usr/bin/cc", "long.c"'
		run 15 0 1000000 'a b' '"./a b", "1"'
		run 16 9 250000 cc
	} >in
	tfs-process -s in | sed 's/ $/ @/' >got
	diff - got <<-'END'
	  RUNS    TOTAL  LONGEST      CPU FAILED  COMMAND  LONGEST RUN
	     3   4.00 s   2.25 s  4.50 ms      2  cc       long.c
	     1   1.00 s   1.00 s        -      0  a b      1
	     1   500 ms   500 ms  2.60 ms      1  a        "b c"
	     1        -        -        -      0  [sh]    @
	END
	tfs-process -sj in | sed -n '1p; 4p' >got
	diff - got <<-'END'
	{"runs":3,"failed":2,"untimed":0,"total":4.000000000,"longest":2.250000000,"cpu":0.004500000,"name":"cc","longest_command":"/usr/bin/cc long.c"}
	{"runs":1,"failed":0,"untimed":1,"total":0.000000000,"longest":0.000000000,"cpu":null,"cpu_least":0.000000000,"name":"[sh]","longest_command":"[sh]"}
	END
	# the users and names that are selected
	[ "$(tfs-process -s -u 5 in | tail -n +2)" = '     1   500 ms   500 ms  2.60 ms      1  a        "b c"' ]
	run -1 tfs-process -s -u 6 in
}

@test "tfs-process: -u and -C select by the user and the name at the end" {
	stored | tfs-process -u 5 >got
	file_has 2 got
	stored | tfs-process -C a >got
	file_has 2 got
	run -1 tfs-process -u 6 < <(stored)
}

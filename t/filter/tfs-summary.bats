#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2154 # run sets stderr
# tfs-summary: sums up calls, errors and times as strace -c does, and tells what it cannot sum up

load ../helper

HEAD='    calls   errors   total us     avg us     max us  '

# event PID TIME TEXT: Print an event line as the kernel does.
event() {
	printf '%16s-%-7d [001] ..... %s: %s\n' task "$1" "$2" "$3"
}

# sums EXPECTED ARGUMENT...: Compare the table for stdin. EXPECTED lacks the header's numbers.
sums() {
	tfs-summary "${@:2}" >got || return
	diff <(printf '%s%s\n' "$HEAD" "$1") got
}

# Two threads whose calls overlap. One call fails, and one has no end.
calls_text() {
	event 7 1.000010 'sys_openat(dfd: 0xffffff9c, filename: 0x7f00, flags: 0x80000, mode: 0)'
	event 8 1.000011 'sys_read(fd: 3, buf: 0x7f00, count: 10)'
	event 7 1.000015 'sys_openat -> 0xfffffffffffffffe'
	event 7 1.000020 'sys_openat(dfd: 0xffffff9c, filename: 0x7f00, flags: 0x80000, mode: 0)'
	event 7 1.000029 'sys_openat -> 0x3'
	event 8 2.000012 'sys_read -> 0xa'
	event 7 2.000013 'sys_exit_group(error_code: 0)'
}

# bats test_tags=quick
@test "tfs-summary: prints calls, errors and times of each call, the longest total first" {
	calls_text | sums 'syscall
        1        0    1000001    1000001    1000001  read
        2        1         14          7          9  openat
        1        0          -          -          -  exit_group
        4        1    1000015     333338    1000001  total
# calls without an end: 1 (counted, without a time)'
}

@test "tfs-summary: sorts by any column, and prints the first N lines and the total of all" {
	for column in calls:openat errors:openat total:read avg:read max:read; do
		calls_text | tfs-summary -n 1 -s "${column%:*}" >got
		file_has 4 got
		[ "$(sed -n '2s/.* //p' got)" = "${column#*:}" ]
		[ "$(sed -n 3p got)" = '        4        1    1000015     333338    1000001  total' ]
	done
	# lines with equal numbers: more calls first, then by name
	for call in b a c c; do
		event 1 1.000001 "sys_$call()"
		event 1 1.000001 "sys_$call -> 0x0"
	done | sums 'syscall
        2        0          0          0          0  c
        1        0          0          0          0  a
        1        0          0          0          0  b
        4        0          0          0          0  total'
}

# a_distribution: Print 1,000 calls of known times in two names, and a call of one nanosecond.
a_distribution() {
	python3 - <<-'END'
		import random
		random.seed(7)
		t = 10**9
		for i in range(1000):
		    took = int(10 ** random.uniform(2, 9))
		    for text, more in ("sys_%s()", took), ("sys_%s -> 0x0", 1):
		        print("%16s-%-7d [001] ..... %d.%09d: %s" % ("task", 7, t // 10**9,
		              t % 10**9, text % "ab"[i % 2]))
		        t += more
	END
}

@test "tfs-summary: has the least time, and percentiles with an error of at most 1/64" {
	need_tool python3
	a_distribution >trace
	tfs-summary -c calls,min,p50,p99,max -s name <trace >got
	python3 - <<-'END'
		import re
		times, begun = {"a": [], "b": [], "total": []}, 0
		for line in open("trace"):
		    sec, ns, name = re.search(r"(\d+)\.(\d+): sys_(\w)", line).groups()
		    now = int(sec) * 10**9 + int(ns)
		    if "->" in line:
		        times[name].append(now - begun)
		        times["total"].append(now - begun)
		    begun = now
		rows = open("got").read().splitlines()[1:]
		assert [r.split()[-1] for r in rows] == ["a", "b", "total"], rows
		for row in rows:
		    calls, least, p50, p99, most, name = row.split()
		    v = sorted(times[name])
		    ns = lambda text: round(float(text) * 1000)
		    assert (int(calls), ns(least), ns(most)) == (len(v), v[0], v[-1]), row
		    for percent, got in (50, ns(p50)), (99, ns(p99)):
		        true = v[-(-len(v) * percent // 100) - 1]
		        assert abs(got - true) * 64 <= true + 64, (row, got, true)
	END
}

@test "tfs-summary: people read times with units, the share of the time, and p99" {
	{
		event 1 1.000000000 'sys_a()'
		event 1 1.000000087 'sys_a -> 0x0'
		event 1 2.000000000 'sys_b()'
		event 1 3.290159000 'sys_b -> 0xfffffffffffffffe'
		event 1 4.000000000 'sys_b()'
		event 1 4.430053000 'sys_b -> 0x0'
		event 1 5.000000000 'sys_c()'
	} | tfs-summary -H >got
	lines_are got ' share    calls errors    total      avg      p99      max  syscall
100.0%        2      1   1.72 s   860 ms   1.29 s   1.29 s  b
  0.0%        1      0    87 ns    87 ns    87 ns    87 ns  a
     -        1      0        -        -        -        -  c
100.0%        4      1   1.72 s   573 ms   1.29 s   1.29 s  total
# calls without an end: 1 (counted, without a time)'
}

@test "tfs-summary: --every prints on time without an event, and loses no call" {
	mkfifo trace
	exec 9<>trace
	background tfs-summary --every 5ms -c calls,errors,total <trace >got 9>&-
	for i in {1..200}; do
		event 7 "1.$((100000 + i * 10))" 'sys_openat()'
		event 7 "1.$((100003 + i * 10))" "sys_openat -> 0x$((i % 4))"
	done >&9
	eventually grep -q '^# .* no event$' got
	event 8 2.000000 'sys_read()' >&9
	eventually grep -q ' read$' got
	event 8 2.000009 'sys_read -> 0xfffffffffffffffc' >&9
	exec 9>&-
	finishes "$PID" 0
	awk '/ (openat|read|total)$/ { n[$5] += $2; e[$5] += $3; t[$5] += $4 }
		END { for (k in n) print k, n[k], e[k], t[k] }' got | sort >sums
	lines_are sums 'openat 200 0 600
read 1 1 9
total 201 1 609'
}

@test "tfs-summary: takes only results from -4095 to -1 for errors" {
	for result in 0xffffffffffffffff 0xfffffffffffff001 0xfffffffffffffe00; do
		event 1 1.000001 'sys_a()'
		event 1 1.000001 "sys_a -> $result"
	done >trace
	for result in 0x0 0x1 0xfffffffffffff000 0x8000000000000000 0x7fffffffffffffff 0xffffffff000; do
		event 1 1.000001 'sys_b()'
		event 1 1.000001 "sys_b -> $result"
	done >>trace
	# a kernel of 32 bits prints its longs with eight digits
	for result in 0xffffffff 0xfffff001 0xfffff000; do
		event 1 1.000001 'sys_c()'
		event 1 1.000001 "sys_c -> $result"
	done >>trace
	sums 'syscall
        6        0          0          0          0  b
        3        3          0          0          0  a
        3        2          0          0          0  c
       12        5          0          0          0  total' <trace
}

@test "tfs-summary: reads the calls of raw_syscalls by the names that their numbers have on this host" {
	local open read back
	open=$(syscall-nr openat) read=$(syscall-nr read) back=$(syscall-nr rt_sigreturn)
	{
		event 7 1.000010 "sys_enter: NR $open (ffffff9c, 7f00, 80000, 0, 0, 0)"
		event 7 1.000015 "sys_exit: NR $open = -2"
		event 8 1.000016 "sys_enter: NR $read (3, 7f00, a, 0, 0, 0)"
		event 7 1.000017 "sys_enter: NR $back (0, 0, 0, 0, 0, 0)"
		event 8 1.000018 "sys_exit: NR $read = 10"
		event 7 1.000020 'sys_exit: NR -1 = 0'
		event 7 1.000021 'sys_enter: NR 99999 (0, 0, 0, 0, 0, 0)'
		event 7 1.000022 'sys_exit: NR 99999 = -38'
	} | sums 'syscall
        1        1          5          5          5  openat
        1        0          2          2          2  read
        1        1          1          1          1  syscall_0x1869f
        1        0          -          -          -  rt_sigreturn
        4        2          8          2          5  total
# calls without an end: 1 (counted, without a time)'
}

@test "tfs-summary: counts a call once if the trace has events of syscalls and of raw_syscalls" {
	local nr
	nr=$(syscall-nr read)
	{
		event 7 1.00001 "sys_enter: NR $nr (3, 0, 0, 0, 0, 0)"
		event 7 1.00001 'sys_read(fd: 3, buf: 0, count: 0)'
		event 7 1.00001 'sys_read -> 0xfffffffffffffff2'
		event 7 1.00001 "sys_exit: NR $nr = -14"
		event 7 1.00003 'sys_exit_group(error_code: 0)'
		event 7 1.00003 "sys_enter: NR $(syscall-nr exit_group) (0)"
	} | sums 'syscall
        1        0          -          -          -  exit_group
        1        1          0          0          0  read
        2        1          0          0          0  total
# calls without an end: 1 (counted, without a time)'
}

# denied_text: A task is denied two calls after it has made one. Of another task the trace has only
# returns, and of a third one it has lost events.
denied_text() {
	event 7 1.000010 'sys_getpid()'
	event 7 1.000011 'sys_getpid -> 0x7'
	event 7 1.000012 'sys_mkdir -> 0xffffffffffffffff'
	event 7 1.000013 'sys_mkdir -> 0xffffffffffffffff'
	event 8 1.000014 'sys_mkdir -> 0xffffffffffffffff'
	event 8 1.000015 'sys_mkdir -> 0xffffffffffffffff'
	event 9 1.000016 'sys_getpid()'
	event 9 1.000017 'sys_getpid -> 0x7'
	echo 'CPU:1 [LOST 3 EVENTS]'
	event 9 1.000018 'sys_mkdir -> 0xffffffffffffffff'
	event 9 1.000019 'sys_mkdir -> 0xffffffffffffffff'
}

@test "tfs-summary: a call that seccomp denies has a return and no entry, and counts" {
	denied_text | sums 'syscall
        2        0          2          1          1  getpid
        3        3          -          -          -  mkdir
        5        3          2          1          1  total
# calls that seccomp denied: 3 (counted, without a time)
# ends without a beginning: 3 (not counted)'
	denied_text | tfs-latency syscalls | grep -v LOST | tail -n 2 >got
	lines_are got "$(event 9 1.000017 'sys_getpid -> 0x7 lat=1')
# unpaired 2 events: 0 without an end, 2 without a beginning; seccomp denied 4 calls"
}

@test "tfs-summary: a program executed by execveat or by a thread returns as execve, once, in the call that began it" {
	{
		event 5 1.000010 'sys_execveat(fd: 3, filename: 7, argv: 8, envp: 9, flags: 1000)'
		event 5 1.000015 'sys_execve -> 0x0'
		# 8 is a thread of 7, which waits for a lock
		event 7 1.000020 'sys_futex(uaddr: 7)'
		event 8 1.000021 'sys_execve(filename: 7, argv: 8, envp: 9)'
		event 7 1.000029 'sys_execve -> 0x0'
		event 8 1.000030 'sys_getpid()'
		event 8 1.000031 'sys_getpid -> 0x8'
		# no task that is known makes this call
		event 6 1.000040 'sys_execve -> 0x0'
	} | sums 'syscall
        1        0          8          8          8  execve
        1        0          5          5          5  execveat
        1        0          1          1          1  getpid
        1        0          -          -          -  futex
        4        0         14          4          8  total
# calls without an end: 1 (counted, without a time)
# ends without a beginning: 1 (not counted)'
}

@test "tfs-summary: reads JSON, with three digits if the trace has nanoseconds" {
	cat >trace <<-'END'
		{"ts":1.000000001,"cpu":0,"pid":5,"comm":"a\"b","system":"syscalls","event":"sys_enter_openat","fields":{"__syscall_nr":257,"filename":"ret"}}
		{"ts":1.000012346,"cpu":1,"pid":5,"comm":"a\"b","system":"syscalls","event":"sys_exit_openat","fields":{"__syscall_nr":257,"ret":-2}}
		{"ts":2.000000000,"cpu":1,"pid":6,"comm":"c","system":"raw_syscalls","event":"sys_enter","fields":{"id":99999,"args":[0,0,0,0,0,0]}}
		{"ts":2.000000007,"cpu":1,"pid":6,"comm":"c","system":"raw_syscalls","event":"sys_exit","fields":{"id":99999,"ret":6}}
		{"lost":7,"overwritten":7,"unwritten":0}
	END
	sums 'syscall
        1        1     12.345     12.345     12.345  openat
        1        0      0.007      0.007      0.007  syscall_0x1869f
        2        1     12.352      6.176     12.345  total
{"lost":7,"overwritten":7,"unwritten":0}' <trace
}

@test "tfs-summary: sums up by any key of tfs-count, of the beginning of a call" {
	calls_text | sums 'pid	call
        1        0    1000001    1000001    1000001  8	read
        2        1         14          7          9  7	openat
        1        0          -          -          -  7	exit_group
        4        1    1000015     333338    1000001  total
# calls without an end: 1 (counted, without a time)' -k pid -k call
	calls_text | sums 'event
        1        0    1000001    1000001    1000001  read
        2        1         14          7          9  openat
        1        0          -          -          -  exit_group
        4        1    1000015     333338    1000001  total
# calls without an end: 1 (counted, without a time)' -k event
}

@test "tfs-summary: does not count the return of a new task from the call that made it" {
	{
		event 7 1.000010 'sys_clone(clone_flags: 11, newsp: 0, parent_tidptr: 0, child_tidptr: 0, tls: 0)'
		event 8 1.000020 'sys_clone -> 0x0'
		event 7 1.000030 'sys_clone -> 0x8'
		event 7 1.000040 'sys_vfork()'
		event 9 1.000050 'sys_vfork -> 0x0'
		event 7 1.000060 'sys_vfork -> 0x9'
	} | sums 'syscall
        1        0         20         20         20  clone
        1        0         20         20         20  vfork
        2        0         40         20         20  total'
}

@test "tfs-summary: tells ends without a beginning, and does not count them as calls" {
	{
		event 7 1.000010 'sys_read -> 0xfffffffffffffffc'
		event 7 1.000020 'sys_getpid()'
		event 7 1.000021 'sys_getpid -> 0x7'
		event 8 1.000022 'sys_clone -> 0x7'
	} | sums 'syscall
        1        0          1          1          1  getpid
        1        0          1          1          1  total
# ends without a beginning: 2 (not counted)'
}

@test "tfs-summary: a pid that is used again does not end the call of a dead task" {
	{
		event 7 1.000010 'sys_read(fd: 3, buf: 0x7f00, count: 10)'
		event 7 9.000000 'sys_read(fd: 3, buf: 0x7f00, count: 10)'
		event 7 9.000005 'sys_read -> 0x0'
	} | sums 'syscall
        2        0          5          5          5  read
        2        0          5          5          5  total
# calls without an end: 1 (counted, without a time)'
}

@test "tfs-summary: measures no time across lost events, and repeats how many were lost" {
	{
		event 7 1.000010 'sys_read(fd: 3, buf: 0x7f00, count: 10)'
		echo 'CPU:1 [LOST 3 EVENTS]'
		event 7 9.000000 'sys_read -> 0xfffffffffffffffc'
		event 7 9.000001 'sys_read(fd: 3, buf: 0x7f00, count: 10)'
		event 7 9.000003 'sys_read -> 0x1'
		echo '# lost 3 events: 3 overwritten in a full buffer, 0 not written'
	} | sums 'syscall
        2        1          2          2          2  read
        2        1          2          2          2  total
# calls of unknown time: 1 (counted; events were lost meanwhile, or the clock went back)
# lost 3 events: 3 overwritten in a full buffer, 0 not written'
}

@test "tfs-summary: sums up the lat of tfs-latency, and does not count a call twice" {
	calls_text | tfs-latency -u syscalls | sums 'syscall
        1        0    1000001    1000001    1000001  read
        2        1         14          7          9  openat
        3        1    1000015     333338    1000001  total'
	# with -b, tfs-latency prints the beginnings as well
	calls_text | tfs-latency -ub syscalls >pairs
	calls_text | tfs-summary >want
	tfs-summary <pairs | diff want -
}

@test "tfs-summary: sums up waits by task, and requests by device and operation" {
	cat >waits <<-'END'
		          <idle>-0       [001] d..2. 1.000010: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a b next_pid=7 next_prio=120 lat=5
		          <idle>-0       [001] d..2. 1.000020: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=ls next_pid=8 next_prio=120 lat=7
		          <idle>-0       [001] d..2. 1.000030: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a b next_pid=7 next_prio=120 lat=4
		# unpaired 2 events: 1 without an end, 1 without a beginning
	END
	sums 'next_comm
        2        0          9          4          5  a b
        1        0          7          7          7  ls
        3        0         16          5          7  total
# unpaired 2 events: 1 without an end, 1 without a beginning' <waits
	{
		event 0 1.000010 'block_rq_complete: 254,0 WS () 2056 + 8 [0] by="a] [-5" by_pid=7 lat=8'
		event 0 1.000020 'block_rq_complete: 254,0 WS () 2064 + 8 none,0,0 [-5] by=x by_pid=7 lat=20'
		event 0 1.000030 'block_rq_complete: 254,16 R () 2048 + 8 none,0,0 [0] lat=30.5'
		event 0 1.000040 'block_rq_issue: 254,16 R 4096 () 2048 + 8 none,0,0 [x]'
	} >requests
	sums 'dev	rwbs
        1        0     30.500     30.500     30.500  254,16	R
        2        1     28.000     14.000     20.000  254,0	WS
        3        1     58.500     19.500     30.500  total
# events without a time: 1 (not counted)' <requests
	cat waits requests | sums "name
        1        0     30.500     30.500     30.500  254,16	R
        2        1     28.000     14.000     20.000  254,0	WS
        2        0      9.000      4.500      5.000  a b
        1        0      7.000      7.000      7.000  ls
        6        1     74.500     12.416     30.500  total
# events without a time: 1 (not counted)
# unpaired 2 events: 1 without an end, 1 without a beginning"
}

@test "tfs-summary: of other events sums up lat by the name of the event" {
	{
		event 1 1.000010 'p: (f+0x0/0x10 <- g) ret=-2 lat=3'
		event 1 1.000020 'p: (f+0x0/0x10 <- g) ret=7 lat=4'
	} | sums 'event
        2        1          7          3          4  p
        2        1          7          3          4  total'
}

@test "tfs-summary: counts errors that an event has by name, or that are unknown, also in JSON and in metrics" {
	for error in '' ECONNREFUSED ENETUNREACH ETIMEDOUT ENETUNREACH closed unfinished -; do
		event 1 1.000010 "tcp_connect: 0.0.0.0:0 -> 192.0.2.1:80 lat=3${error:+ error=$error}"
	done >trace
	for error in '' ',"error":"EPERM"' ',"error":null' ',"error":"closed"'; do
		printf '{"ts":1.5,"cpu":0,"pid":1,"comm":"a","system":"tcp","event":"tcp_connect","fields":{"lat":3%s}}\n' "$error"
	done >trace.json
	sums 'event
        8        5         24          3          3  tcp_connect
        8        5         24          3          3  total' <trace
	[ "$(tfs-summary -c calls,errors trace.json | tail -1 | tr -s ' ')" = ' 4 2 total' ]
	tfs-summary -M trace >got
	[ "$(sed -n 's/^tfs_call_errors_total.*error="\(.*\)"} /\1 /p' got | tr '\n' ' ')" = '- 1 ECONNREFUSED 1 ENETUNREACH 2 ETIMEDOUT 1 ' ]
}

@test "tfs-summary: a clock without a point has no microseconds" {
	{
		event 1 100 'sys_a()'
		event 1 150 'sys_a -> 0x0'
	} | tfs-summary >got
	lines_are got "    calls   errors      total        avg        max  syscall
        1        0         50         50         50  a
        1        0         50         50         50  total"
}

@test "tfs-summary: counts a call whose clock went back, without a time" {
	{
		event 1 1.000010 'sys_a()'
		event 1 1.000009 'sys_a -> 0x0'
		event 1 1.000010 'sys_exit_a: ret=-5 lat=-3'
		event 1 1.000010 'e: lat=many'
	} | sums 'name
        2        1          -          -          -  a
        1        0          -          -          -  e
        3        1          -          -          -  total
# calls of unknown time: 3 (counted; events were lost meanwhile, or the clock went back)'
}

@test "tfs-summary: huge numbers make columns wider, and the greatest number stays" {
	{
		event 1 1.000010 'e: lat=18446744073709551615'
		event 1 1.000020 'e: lat=18446744073709551615.999'
		event 1 1.000030 'f: lat=18446744073709551616'
		event 1 1.000040 'f: lat=1'
	} | tfs-summary >got
	lines_are got "    calls   errors                  total us                    avg us                    max us  event
        2        0  18446744073709551615.000   9223372036854775807.500  18446744073709551615.999  e
        2        0                     1.000                     1.000                     1.000  f
        4        0  18446744073709551615.000   6148914691236517205.000  18446744073709551615.999  total
# calls of unknown time: 1 (counted; events were lost meanwhile, or the clock went back)"
}

@test "tfs-summary: no name that a task chooses forges a line, a column or a time" {
	{
		printf '%16s-%-7d [001] ..... 1.000000: sys_a()\n' $'x\ty\033[31m' 5
		event 5 1.000002 'sys_a -> 0x0'
		event 6 1.000000 'sys_b(name: 0x7f00 "x lat=99999 ret=-2")'
		event 6 1.000001 'sys_b -> 0x0'
	} >trace
	sums 'comm
        1        0          2          2          2  x\ty\x1b[31m
        1        0          1          1          1  task
        2        0          3          1          2  total' -k comm <trace
	# the name ends neither the value nor the line
	printf '{"ts":1.0,"cpu":0,"pid":5,"comm":"x","system":"s","event":"a\001\tb","fields":{"lat":1}}\n' |
		sums 'event
        1        0          1          1          1  a\x01\tb
        1        0          1          1          1  total'
	printf '%16s-%-7d [001] ..... 1.000000: sys_enter: NR 1\033[2J (0)\n' x 5 |
		sums 'syscall
        1        0          -          -          -  syscall_1\x1b[2J
        1        0          -          -          -  total
# calls without an end: 1 (counted, without a time)'
}

@test "tfs-summary: exits 1 without a table if there is nothing to sum up" {
	run -1 --separate-stderr from /dev/null tfs-summary
	[ "$output$stderr" = "tfs-summary: no event in the trace" ]
	echo '# lost 3 events: 3 overwritten in a full buffer, 0 not written' >trace
	run -1 --separate-stderr from trace tfs-summary
	[ "$output" = '# lost 3 events: 3 overwritten in a full buffer, 0 not written' ]
	[ "$stderr" = 'tfs-summary: no event in the trace' ]
	echo '              sh 26276   0      4347.262308 exec' >>trace
	run -1 --separate-stderr from trace tfs-summary
	[ "$output" = '# lost 3 events: 3 overwritten in a full buffer, 0 not written
# not understood 1 line: 1 without task, CPU and time in front; the first is line 2' ]
	[ "$stderr" = 'tfs-summary: fatal: unable to sum up lines that are not events; leave the summary out' ]
}

@test "tfs-summary: counts the events of a trace in which no event has a time" {
	{
		event 1 1.000010 'signal_generate: sig=10 errno=0 code=0 comm=a pid=1 grp=1 res=0'
		event 1 1.000020 'signal_generate: sig=10 errno=0 code=0 comm=a pid=1 grp=1 res=0'
		event 1 1.000030 'signal_deliver: sig=17 errno=0 code=1 sa_handler=0 sa_flags=0'
		echo '# lost 3 events: 3 overwritten in a full buffer, 0 not written'
	} >trace
	sums 'event	sig
        2        0          -          -          -  signal_generate	10
        1        0          -          -          -  signal_deliver	17
        3        0          -          -          -  total
# lost 3 events: 3 overwritten in a full buffer, 0 not written' <trace
	event 1 1.000040 'sched_wakeup: comm=a pid=1 prio=1 target_cpu=003' >>trace
	sums 'name
        2        0          -          -          -  signal_generate	10
        1        0          -          -          -  signal_deliver	17
        1        0          -          -          -  sched_wakeup
        4        0          -          -          -  total
# lost 3 events: 3 overwritten in a full buffer, 0 not written' <trace
	event 1 1.000050 'block_rq_issue: 254,16 R 4096 () 2048 + 8 none,0,0 [x] lat=7' >>trace
	sums 'dev	rwbs
        1        0          7          7          7  254,16	R
        1        0          7          7          7  total
# events without a time: 4 (not counted)
# lost 3 events: 3 overwritten in a full buffer, 0 not written' <trace
}

@test "tfs-summary: lines cut at any byte do no harm" {
	{
		calls_text
		event 7 1.000010 'sys_enter: NR 257 (ffffff9c, 7f00, 80000, 0, 0, 0)'
		event 7 1.000015 'sys_exit: NR 257 = -2'
		event 0 1.000020 'block_rq_complete: 254,0 WS () 2064 + 8 none,0,0 [-5] by=x lat=20'
		echo '{"ts":2.0,"cpu":1,"pid":6,"comm":"c","event":"sys_exit","fields":{"id":39,"ret":6,"lat":1}}'
	} | awk '{ for (i = 1; i <= length($0); i++) print substr($0, 1, i) }' >parts
	tfs-summary <parts >got
	grep -q '  total$' got
}

@test "tfs-summary: kernel: has the calls and errors of strace -c, of a program with children" {
	need_tracefs events/syscalls
	need_tool strace
	strace -c -f -o counts true 2>/dev/null || skip "needs ptrace"
	cat >program <<-'END'
		for i in 1 2 3; do
			"$LS" /none /
		done
		(cd /none; exit 1)
		exec "$LS" /nowhere
	END
	LS=$(command -v ls)
	export LS
	strace -c -f -o counts sh program >/dev/null 2>&1 || : # ls fails
	tfs-run trace_syscalls --returns -- sh program 2>/dev/null | tfs-summary >table
	# strace -c omits calls that do not return; the shell's SIGCHLD may come before or after
	# its wait
	left_out() { grep -vE ' (exit|exit_group|rt_sigreturn|wait4|restart_syscall)$'; }
	awk '$NF ~ /^[a-z_0-9]+$/ && $4 ~ /^[0-9]+$/ && $NF != "total" {
		print $4, NF == 6 ? $5 : 0, $NF }' counts | left_out | sort >want
	awk 'NR > 1 && !/^#/ && $NF != "total" { print $1, $2, $NF }' table | left_out | sort >got
	file_has 12+ want
	diff want got
	awk '$2 { n += $2 } END { exit n < 3 }' got
}

@test "tfs-summary: kernel: counts as many calls of each thread as were made" {
	need_tracefs events/syscalls
	calls 1000 2 2
	start_session trace_syscalls --output fifo --pid "$CALLS" -s getppid --returns
	background tfs-summary <"$TRACE" >got
	counter=$PID
	release
	session_ends
	finishes "$counter" 0
	grep -Eqx ' +4000 +0 +[0-9]+ +[0-9]+ +[0-9]+  getppid' got
	file_has 3 got
}

# three operations on two files, two of them with a number of bytes
operations() {
	event 7 1.000001 'write: path="/a b" count=6 ret=6 written=6 lat=3.5'
	event 7 1.000002 'read: path="/a b" count=6 ret=4 read=4 lat=3.5'
	event 8 1.000003 'write: path="/c\x01" count=6 ret=-1 error=EPERM lat=1293.5'
}

@test "tfs-summary: -a adds up a field in a column, by which -s sorts" {
	operations | tfs-summary -k path -a read -a written -s read >got
	diff - got <<'END'
    calls   errors     read  written   total us     avg us     max us  path
        2        0        4        6      7.000      3.500      3.500  /a b
        1        1        0        0   1293.500   1293.500   1293.500  /c\x01
        3        1        4        6   1300.500    433.500   1293.500  total
END
	operations | tfs-summary -H -k event -a written -c written,share >got
	diff - got <<'END'
  written   share  event
        6   99.7%  write
        0    0.3%  read
        6  100.0%  total
END
}

@test "tfs-summary: refuses a key that no event has, and lists those that exist, in text and JSON" {
	for input in operations calls_text; do
		run -100 --separate-stderr tfs-summary -k pid -k nosuch < <("$input")
		[ -z "$output" ]
		[[ $stderr = "tfs-summary: fatal: no event has the key 'nosuch'; the events have "* ]]
		# each of them is a key
		for key in $(tr -d , <<<"${stderr#*the events have }"); do
			"$input" | tfs-summary -k "$key" >got
		done
	done
	need_tracefs events/syscalls
	run -100 --separate-stderr tfs-run trace_open --summary --per comm,nosuch -- test -e /etc/hostname
	[[ $stderr = "tfs-summary: fatal: no event has the key 'nosuch'; the events have "*"call, comm, cpu, "* ]]
	run -100 --separate-stderr tfs-summary -k path <<<'              sh-1       [000] ..... 1.000000: open("/a", O_RDONLY) = 3 <0.000005>'
	[ "$stderr" = "tfs-summary: fatal: no event has the key 'path'; the events have call, comm, cpu, event, lat, pid, ret, time; decoded calls have their arguments as keys in JSON only" ]
	[ "${#stderr_lines[@]}" = 1 ]
}

@test "tfs-summary: -j prints an object for each line, also of an interval, and for what the table lacks" {
	operations | tfs-summary -j -k path -k pid -a read >got
	diff - got <<'END'
{"calls":1,"errors":1,"read":0,"total_us":1293.500,"avg_us":1293.500,"max_us":1293.500,"path":"/c\u0001","pid":8}
{"calls":2,"errors":0,"read":4,"total_us":7.000,"avg_us":3.500,"max_us":3.500,"path":"/a b","pid":7}
END
	calls_text | tfs-summary -j -n 1 -s calls -k ret >got
	diff - got <<'END'
{"calls":4,"errors":1,"total_us":1000015,"avg_us":333338,"max_us":1000001,"ret":null}
{"comment":"calls without an end","n":1,"because":"counted, without a time"}
END
	operations | tfs-summary -j -i 1m -c calls >got
	[ "$(sed 's/"seconds":[0-9.]*,/"seconds":N,/' got)" = '{"seconds":N,"calls":2,"event":"write"}
{"seconds":N,"calls":1,"event":"read"}' ]
}

@test "tfs-summary: ignores SIGINT, so that the trace can end first" {
	mkfifo trace
	exec 9<>trace
	background tfs-summary <trace >got 9>&-
	ignores() { grep -q '^SigIgn:.*[2367abef]$' "/proc/$PID/status"; }
	eventually ignores
	kill -INT "$PID"
	calls_text >&9
	exec 9>&-
	finishes "$PID" 0
	[ "$(head -n 2 got | tail -n 1)" = '        1        0    1000001    1000001    1000001  read' ]
}

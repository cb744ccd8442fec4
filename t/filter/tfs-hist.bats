#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2154 # run sets stderr
# tfs-hist: counts values by powers of two, exactly, in any notation of a number

load ../helper


# of N: Print an event with N as lat, of the tasks a and b in turn.
events() {
	local v n=0
	for v; do
		n=$((n + 1))
		printf '%16s-%-7d [%03d] ..... 1.%06d: e: lat=%s\n' \
			"$([ $((n % 2)) = 1 ] && echo a || echo b)" $n $((n % 2)) $n "$v"
	done
}

# counts EXPECTED ARGUMENT...: Compare the titles and "RANGE N" lines for stdin, without bars.
counts() {
	tfs-hist "${@:2}" | sed 's/ *|.*//; s/  */ /g' | diff <(printf '%s\n' "$1") -
}

# bats test_tags=quick
@test "tfs-hist: draws a line for each power of two from the smallest to the largest" {
	events 4 5 7 1 30 4.5 >trace
	run -0 from trace tfs-hist
	[ "$output" = 'lat: 6 values, 1 to 30
[1, 2)                1 |@@@@@@@@@@                              |
[2, 4)                0 |                                        |
[4, 8)                4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
[8, 16)               0 |                                        |
[16, 32)              1 |@@@@@@@@@@                              |' ]
}

@test "tfs-hist: percentiles differ from the true ones by at most 1/64" {
	need_tool python3
	python3 - >numbers <<-'END'
		import random
		random.seed(3)
		for i in range(999):
		    print(int(10 ** random.uniform(0, 12)))
	END
	tfs-hist -p <numbers | sed -n 2p >got
	python3 - <<-'END'
		import re
		v = sorted(int(line) for line in open("numbers"))
		for percent, got in re.findall(r"p(\d+) (\d+)", open("got").read()):
		    true = v[-(-len(v) * int(percent) // 100) - 1]
		    assert abs(int(got) - true) * 64 <= true + 32, (percent, got, true)
	END
	seq 20 | tfs-hist -p | sed -n 2p >got
	lines_are got 'p50 10, p90 18, p99 20'
	printf '%s\n' -1 5 | tfs-hist -p | grep -c '^p50' | diff <(echo 0) -
}

@test "tfs-hist: --every draws the values since the last time, and loses none" {
	mkfifo trace
	exec 9<>trace
	background tfs-hist --every 5ms <trace >got 9>&-
	for i in {1..300}; do
		echo $((i % 16))
	done >&9
	eventually grep -q '^# .* no event$' got
	echo 100 >&9
	eventually grep -q '64, 128' got
	exec 9>&-
	finishes "$PID" 0
	[ "$(sed -n 's/.*) *\([0-9]*\) |.*/\1/p' got | awk '{ n += $1 } END { print n }')" = 301 ]
}

@test "tfs-hist: -H prints the unit of lat, and a header" {
	events 4 5 >trace
	tfs-hist -H <trace >got
	lines_are got 'lat: 2 values, 4 to 5 us
p50 4, p90 5, p99 5 us
range             count
[4, 8)                2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|'
	tfs-hist -H -b comm -k .lat <trace >got
	lines_are got '.lat comm=a: 1 value, 4 to 4
p50 4, p90 4, p99 4
range             count
[4, 8)                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
.lat comm=b: 1 value, 5 to 5
p50 5, p90 5, p99 5
range             count
[4, 8)                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|'
	# neither a number alone nor the lat of a clock without a point has a known unit
	[ "$(echo 5 | tfs-hist -H | head -n 1)" = 'numbers: 1 value, 5 to 5' ]
	[ "$(sed 's/1\.00000/1/' trace | tfs-hist -H | head -n 1)" = 'lat: 2 values, 4 to 5' ]
}

@test "tfs-hist: prints unit and header on a terminal, and neither into a pipe or a file" {
	need_tool script
	events 4 5 >trace
	script -qec 'tfs-hist <trace' /dev/null </dev/null | tr -d '\r' >terminal
	tfs-hist -H <trace | cmp terminal -
	tfs-hist <trace >file
	tfs-hist <trace | cmp file -
	lines_are file 'lat: 2 values, 4 to 5
[4, 8)                2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|'
}

@test "tfs-hist: handles zero, fractions, negative values and the limits between the rows" {
	events 0 0.25 -0 00 -0.000 1 1.999 2 -0.5 -1 -1.5 -2 -3.9 -4 | counts 'lat: 14 values, -4 to 2
(-8, -4] 1
(-4, -2] 2
(-2, -1] 2
(-1, 0) 1
[0, 1) 5
[1, 2) 2
[2, 4) 1'
	events 0.0000000001 -0.0000000001 | counts 'lat: 2 values, -0.0000000001 to 0.0000000001
(-1, 0) 1
[0, 1) 1'
}

@test "tfs-hist: reads a hexadecimal number as signed if 64 bits make it negative" {
	events 0x10 0xfffffffffffffffe 0xfffffffe 0XFF 0x 0xg | tfs-hist >got
	[ "$(head -n 1 got)" = 'lat: 3 values, 0xfffffffffffffffe to 0xfffffffe' ]
	[ "$(tail -n 1 got)" = '# no number in 3 events' ]
	grep -q '^(-4, -2\]  *1 |@' got
	grep -q '^\[16, 32)  *1 |@' got
	grep -q '^\[2G, 4G)  *1 |@' got
}

@test "tfs-hist: counts the largest 64-bit number, and does not take the next for a number" {
	events 18446744073709551615 -18446744073709551615 | tfs-hist >got
	[ "$(grep -c '@' got)" = 2 ]
	grep -q '^(-16E, -8E\]  *1 |@' got
	grep -q '^\[8E, 16E)  *1 |@' got
	file_has 131 got
	events 5 18446744073709551616 -18446744073709551616 0x10000000000000000 99999999999999999999999999 |
		counts 'lat: 1 value, 5 to 5
[4, 8) 1
# no number in 4 events'
}

@test "tfs-hist: reports values that are not numbers, and events without the key" {
	{ events 1 '' x 1e3 1,5 5us - + . 1. .5; printf '%16s-1       [000] ..... 1.5: f: n=1\n' x; } |
		counts 'lat: 1 value, 1 to 1
[1, 2) 1
# not in 1 event
# no number in 10 events'
}

@test "tfs-hist: -b: draws a histogram for each value, the one with the most values first" {
	events 1 2 3 4 5 | counts 'lat comm=a: 3 values, 1 to 5
[1, 2) 1
[2, 4) 1
[4, 8) 1
lat comm=b: 2 values, 2 to 4
[2, 4) 1
[4, 8) 1' -b comm
	events 1 2 | counts 'lat cpu=000 event=e: 1 value, 2 to 2
[2, 4) 1
lat cpu=001 event=e: 1 value, 1 to 1
[1, 2) 1' -b cpu -b event
}

@test "tfs-hist: -k: accepts any key, in JSON as in text" {
	cat >trace <<-'EOF'
		{"ts":1.000000001,"cpu":0,"pid":5,"comm":"x","system":"s","event":"e","fields":{"n":-3,"s":"0x8","t":"12"}}
		{"ts":1.000000002,"cpu":0,"pid":6,"comm":"y","system":"s","event":"e","fields":{"n":null,"s":"9","t":"a"}}
		{"lost":7,"overwritten":7,"unwritten":0}
	EOF
	counts 'n: 1 value, -3 to -3
(-4, -2] 1
# no number in 1 event
{"lost":7,"overwritten":7,"unwritten":0}' -k n <trace
	counts 's: 2 values, 0x8 to 9
[8, 16) 2
{"lost":7,"overwritten":7,"unwritten":0}' -k s <trace
	counts 'pid: 2 values, 5 to 6
[4, 8) 2
{"lost":7,"overwritten":7,"unwritten":0}' -k pid <trace
}

@test "tfs-hist: counts a return of -2 the same in text and in JSON" {
	echo '              ls-1       [001] ..... 1.5: sys_openat -> 0xfffffffffffffffe' |
		tfs-hist -k ret | tail -n 1 >text
	echo '{"ts":1.5,"cpu":1,"pid":1,"comm":"ls","system":"syscalls","event":"sys_exit_openat","fields":{"__syscall_nr":257,"ret":-2}}' |
		tfs-hist -k ret | tail -n 1 | diff text -
	grep -q '^(-4, -2\]' text
}

@test "tfs-hist: accepts lines that hold only a number" {
	seq 1 1000 | counts 'numbers: 1000 values, 1 to 1000
[1, 2) 1
[2, 4) 2
[4, 8) 4
[8, 16) 8
[16, 32) 16
[32, 64) 32
[64, 128) 64
[128, 256) 128
[256, 512) 256
[512, 1K) 489'
	printf ' 3 \r\n\n\t4.5\n# of disks\nx\n' | counts 'numbers: 2 values, 3 to 4.5
[2, 4) 1
[4, 8) 1
# no number in 1 line'
	printf 3 | counts 'numbers: 1 value, 3 to 3
[2, 4) 1'
}

@test "tfs-hist: prints losses and events without a pair last" {
	{ echo '# lost 1 events: 1 overwritten in a full buffer, 0 not written'; events 1
		echo '# unpaired 2 events: 1 without an end, 1 without a beginning'
		echo '# lost 12 events: 12 overwritten in a full buffer, 0 not written'; } | tfs-hist |
		tail -n 2 | diff - <(printf '%s\n' '# lost 12 events: 12 overwritten in a full buffer, 0 not written' \
			'# unpaired 2 events: 1 without an end, 1 without a beginning')
}

@test "tfs-hist: exits 1 without any value, and says what there was" {
	run -1 --separate-stderr from /dev/null tfs-hist
	[ "$output$stderr" = "tfs-hist: no number in the trace" ]
	events 1 2 >trace
	run -1 --separate-stderr from trace tfs-hist -k nope
	[ "$output" = '# not in 2 events' ]
	[ "$stderr" = 'tfs-hist: no number in the trace' ]
}

@test "tfs-hist: a hundred thousand histograms and a line of a megabyte do no harm" {
	n=$(so_many 100000)
	awk -v n="$n" 'BEGIN { for (i = 0; i < n; i++)
		printf "%16s-%-7d [000] ..... 1.%06d: e: n=%d\n", "x", i + 1, i, i }' >many
	tfs-hist -k n -b pid <many >got
	[ "$(grep -c '^n pid=' got)" = "$n" ]
	[ "$(grep -c '@' got)" = "$n" ]
	{ events 5; head -c 1048576 /dev/zero | tr '\0' 9; echo; head -c 1000000 /dev/zero; events 6
		printf '%16s-1       [000] ..... 1.5: e: x=' y; head -c 1048576 /dev/zero | tr '\0' z
		echo ' lat=7'; events 8 | tr -d '\n'; } | tfs-hist >got
	[ "$(head -n 1 got)" = 'lat: 3 values, 5 to 8' ]
}

@test "tfs-hist: draws a full bar for the largest count, even if 32 bits would overflow" {
	yes 3 | head -n 200000 >trace
	seq 4 1003 >>trace
	tfs-hist <trace >got
	grep -qx '\[2, 4)  *200000 |@\{40\}|' got
	grep -qx '\[512, 1K)  *492 |@ \{39\}|' got
}

@test "tfs-hist: kernel: draws as many values as there were calls" {
	need_tracefs events/syscalls
	calls 1000
	start_session trace_event --output fifo --pid "$CALLS" -e 'sys_*_getppid'
	tfs-latency syscalls <"$TRACE" | tfs-hist -b event >got &
	reader=$!
	release
	session_ends
	finishes "$reader" 0
	[[ $(head -n 1 got) =~ ^lat\ event=sys_exit_getppid:\ 1000\ values,\ [0-9]+\ to\ [0-9]+$ ]]
	[ "$(sed '1d; s/.*) *\([0-9]*\) |.*/\1/' got | awk '{ n += $1 } END { print n }')" = 1000 ]
}

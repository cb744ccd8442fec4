#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2154 # run sets stderr
# dt-join: joins traces of several hosts, and adjusts their clocks by messages

load ../helper

refused() {
	fails 111 "dt-join: fatal: $1" "${@:2}"
}

# event COMM-TID TIME TEXT: Print an event line.
event() {
	printf '%16s-%-7d [000] ..... %12s: %s\n' "${1%-*}" "${1##*-}" "$2" "$3"
}

# mark COMM-TID TIME LETTER KEY: Print a mark.
mark() {
	event "$1" "$2" "mark: dt$3 2a ${1##*-} $4"
}

# two: Make the traces of two hosts. b is 10 s ahead; a message takes 100 us, an
# answer 300 us, and b works for 50 us.
two() {
	{ mark cl-7 5.000000 M 1; event cl-7 5.000020 'e: x=1'; mark cl-7 5.000450 R 2; } >a
	{ mark sv-9 15.000100 B 1; event sv-9 15.000120 'f: y=1'
		mark sv-9 15.000150 M 2; mark sv-9 15.000155 E 1; } >b
}

# heads ARGUMENT...: Print the comment lines at the beginning.
heads() {
	dt-join "$@" | sed -n 's/^# //p'
}

# well_formed FILE: Fail unless an XML parser accepts FILE.
well_formed() {
	need_tool python3
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"
}

# titles FILE: Print the titles of a picture, one per line.
titles() {
	sed -n 's/.*<title>\([^<]*\)<.*/\1/p' "$1"
}

@test "dt-join: refuses a pipe, which cannot be read twice, but reads a pipe once with -c" {
	two
	mkfifo pipe
	cat a >pipe &
	refused 'unable to read pipe twice: it is not a regular file' dt-join a=pipe
	wait
	cat a >pipe &
	dt-join -c b=b a=pipe | diff - <(echo '# b: its clock is not adjusted'; echo '# a: its clock is not adjusted'
		sed 's/^/a | /' a; sed 's/^/b | /' b)
	wait
	cat a >pipe &
	refused 'unable to read pipe twice: it is not a regular file' dt-join -c -s svg a=pipe
	wait
}

# bats test_tags=quick
@test "dt-join: uses the middle of the offsets that messages allow, and sorts lines of two hosts by time" {
	two
	# a's send to b's receipt is 10.000100 by their clocks, back it is -9.999700
	dt-join a=a beta=b >got
	diff got - <<-'EOF'
		# a: all times are by this clock; 2 messages
		# beta: 9.999900 s ahead, plus or minus 0.000201; 2 messages
		a    |               cl-7       [000] .....     5.000000: mark: dtM 2a 7 1
		a    |               cl-7       [000] .....     5.000020: e: x=1
		beta |               sv-9       [000] .....     5.000200: mark: dtB 2a 9 1
		beta |               sv-9       [000] .....     5.000220: f: y=1
		beta |               sv-9       [000] .....     5.000250: mark: dtM 2a 9 2
		beta |               sv-9       [000] .....     5.000255: mark: dtE 2a 9 1
		a    |               cl-7       [000] .....     5.000450: mark: dtR 2a 7 2
	EOF
	heads b=b a=a | diff - <(echo 'b: all times are by this clock; 2 messages'
		echo 'a: 9.999900 s after, plus or minus 0.000201; 2 messages')
}

@test "dt-join: a chain of three hosts has its true offsets within the printed bounds" {
	# c is 7.000000 s after a, b is 1000.5 s ahead of it; only b talks to both
	awk 'function mark(f, c, t, w, k) {
			printf "%16s-%-7d [000] ..... %12.6f: mark: dt%s 2a %d %x\n", c, 7, t, w, 7, k >f }
		BEGIN { srand(5); for (i = 0; i < 100; i++) { t = 50 + i / 10
			d = 0.00005 + rand() / 1000; e = 0.00005 + rand() / 1000
			mark("a", "x", t, "M", 4 * i); mark("b", "y", t + d + 1000.5, "B", 4 * i)
			mark("b", "y", t + d + 1000.501, "M", 4 * i + 1); mark("c", "z", t + d + 0.001 + e - 7, "B", 4 * i + 1)
			mark("c", "z", t + d + 0.002 + e - 7, "M", 4 * i + 2); mark("b", "y", t + 2 * d + 1000.502 + e, "R", 4 * i + 2)
			mark("b", "y", t + 2 * d + 1000.503 + e, "M", 4 * i + 3); mark("a", "x", t + 3 * d + 0.003 + e, "R", 4 * i + 3) } }'
	heads a=a b=b c=c >got
	grep -q '^a: .*; 200 messages$' got
	grep -q '^b: .*; 400 messages$' got
	awk '/^b: .* ahead/ { truth = 1000.5 } /^c: .* after/ { truth = 7 }
		truth { off = $2 - truth; off = off < 0 ? -off : off; n++
			if (off > $8 + 0 || $8 > 0.0005) exit 1; truth = 0 } END { exit n != 2 }' got
	# the result is the same in the other order
	heads c=c a=a b=b | grep -q '^a: 7.000.* s ahead, \|^a: 6.999.* s ahead, '
}

@test "dt-join: messages of one direction give a bound on one side, which is used and reported" {
	two
	sed -i '$d' a
	dt-join a=a b=b >got
	head -n 2 got | diff - <(echo '# a: all times are by this clock; 1 message'
		echo '# b: at most 10.000100 s ahead, by messages of one direction; 1 message, 1 sent and not received')
	# the message arrives at once, and is still printed after its sending
	grep -v '^#' got | head -n 2 | sed 's/ .* \([0-9.]*\): .*: \(...\) .*/ \1 \2/' |
		diff - <(printf '%s\n' 'a 5.000000 dtM' 'b 5.000000 dtB')
	heads b=b a=a | diff - <(echo 'b: all times are by this clock; 1 message, 1 sent and not received'
		echo 'a: at most 10.000100 s after, by messages of one direction; 1 message')
}

@test "dt-join: does not adjust hosts without messages, and compares the others with them" {
	two
	event x-1 5.000100 'e: x=1' >c
	heads c=c a=a b=b | diff - <(echo 'c: all times are by this clock; 0 messages'
		echo 'a: its clock is not adjusted, because there are no messages; 2 messages'
		echo 'b: 9.999900 s ahead, plus or minus 0.000201, if that of a is right; 2 messages')
	dt-join c=c a=a b=b | sed -n 's/ |.*[[:space:]]\([0-9.]*\): .*: .*/ \1/p; s/ |.*[[:space:]]\([0-9.]*\): .: .*/ \1/p' |
		diff - <(printf '%s\n' 'a 5.000000' 'a 5.000020' 'c 5.000100' 'b 5.000200' 'b 5.000220' \
			'b 5.000250' 'b 5.000255' 'a 5.000450')
}

@test "dt-join: -c: does not adjust the clocks" {
	two
	dt-join -c a=a b=b | diff - <(echo '# a: its clock is not adjusted'; echo '# b: its clock is not adjusted'
		sed 's/^/a | /' a; sed 's/^/b | /' b)
	heads -c -s svg a=a b=b | diff - <(echo 'a: its clock is not adjusted; 2 messages'
		echo 'b: its clock is not adjusted; 2 messages')
	titles svg | grep -qx 'cl-7 on a to sv-9 on b at 0 us, 10 s'
}

@test "dt-join: clocks that drift leave the smallest possible error per message, which is reported" {
	two
	# a second later b's clock has lost a millisecond
	{ mark cl-7 6.000000 M 3; mark cl-7 6.000450 R 4; } >>a
	{ mark sv-9 15.999100 B 3; mark sv-9 15.999150 M 4; mark sv-9 15.999155 E 3; } >>b
	dt-join a=a b=b >got
	diff <(head -n 4 got) - <<-'EOF'
		# a: all times are by this clock; 4 messages
		# b: 9.999400 s ahead, plus or minus 0.000300; 4 messages
		# clocks and messages contradict each other: 2 messages are received before sent, by 0.000300 s at most
		a |               cl-7       [000] .....     5.000000: mark: dtM 2a 7 1
	EOF
}

@test "dt-join: leaves out a key of several threads, but accepts a key that one thread uses again" {
	two
	{ mark cl-7 5.000500 M 5; mark cl-7 5.000600 M 5; mark cl-7 5.000900 M 6; } >>a
	{ mark sv-9 15.000700 B 5; mark sv-9 15.000710 B 5; mark sv-9 15.001000 B 6; mark sw-8 15.001000 B 6; } >>b
	heads a=a b=b | diff - <(echo 'a: all times are by this clock; 3 messages'
		echo 'b: 9.999900 s ahead, plus or minus 0.000201; 3 messages'
		echo '1 key is left out, because several messages have the same key')
}

@test "dt-join: counts messages that are sent and not received, or received and not sent" {
	two
	{ mark cl-7 5.000500 M 5; mark cl-7 5.000600 M 6; mark cl-7 5.000900 R ffffffffffffffff; } >>a
	heads a=a b=b | diff - <(
		echo 'a: all times are by this clock; 2 messages, 2 sent and not received, 1 received and not sent'
		echo 'b: 9.999900 s ahead, plus or minus 0.000201; 2 messages')
	# a message of one host to itself says nothing about clocks
	{ mark cl-7 6.0 M 1; mark cl-8 5.0 B 1; } >one
	heads a=one | diff - <(echo 'a: all times are by this clock; 0 messages')
}

@test "dt-join: ignores a line that only resembles a mark" {
	two
	for text in 'e: dtM 2a 7 1' 'mark: dtM 2a 7' 'mark: dtM 2a 7 1 2' \
		'mark: dtX 2a 7 1' 'mark: dtM 2a 7 x' 'mark: dtM 2a 99999999999 1' \
		'mark: dtM 2a 7 11111111111111111'; do
		event cl-7 5.000600 "$text" >>a
	done
	heads a=a b=b | diff - <(echo 'a: all times are by this clock; 2 messages'
		echo 'b: 9.999900 s ahead, plus or minus 0.000201; 2 messages')
}

@test "dt-join: keeps lines without a time after their event, and keeps losses and gaps" {
	{ echo '# tracer: nop'; event x-1 1.000001 '<stack trace>'; echo ' => f'; echo ' => g'
		echo 'CPU:0 [LOST 3 EVENTS]'; event x-1 1.000003 'e: x=1'; echo '# lost 7 events: 7 overwritten in a full buffer, 0 not written'; } >a
	{ echo '# tracer: nop'; event y-1 1.000001 'e: x=1'; printf 'odd \0 line\n'; event y-1 1.000002 'e: x=1'; } >b
	diff <(dt-join -c a=a b=b | sed 1,2d) - <<-'EOF'
		a | # tracer: nop
		b | # tracer: nop
		b |                y-1       [000] .....     1.000001: e: x=1
		b | odd ? line
		a |                x-1       [000] .....     1.000001: <stack trace>
		a |  => f
		a |  => g
		a | CPU:0 [LOST 3 EVENTS]
		b |                y-1       [000] .....     1.000002: e: x=1
		a |                x-1       [000] .....     1.000003: e: x=1
		a | # lost 7 events: 7 overwritten in a full buffer, 0 not written
	EOF
}

@test "dt-join: keeps the width of a time, and accepts more or fewer digits before the point" {
	{ mark cl-7 5.000000 M 1; mark cl-7 5.000400 R 2; } >a
	{ mark sv-9 1234567890.000100 B 1; mark sv-9 1234567890.000200 M 2; event sv-9 99.9 'odd: x=1'; } >b
	diff <(dt-join b=b a=a | grep -v '^#') - <<-'EOF'
		a |               cl-7       [000] ..... 1234567889.999950: mark: dtM 2a 7 1
		b |               sv-9       [000] ..... 1234567890.000100: mark: dtB 2a 9 1
		b |               sv-9       [000] ..... 1234567890.000200: mark: dtM 2a 9 2
		b |               sv-9       [000] .....         99.9: odd: x=1
		a |               cl-7       [000] ..... 1234567890.000350: mark: dtR 2a 7 2
	EOF
}

@test "dt-join: prints no negative time: it makes all times later and reports that" {
	two
	sed 's/ 5\.000/ 9.000/' a >later
	{ event sv-9 2.0 'first: x=1'; cat b; } >early
	dt-join a=later b=early >got
	grep -x '# all times are 4 s later: a trace began before the first host.s clock did' got
	grep -q '  0.0: first\|  [0-9]*\.[0-9]: first' got
	[ "$(grep -c ' 13.000[0-9]*: ' got)" = 7 ]
}

@test "dt-join: converts the time in the date line of each host, so that each date stays true" {
	two
	{ echo "# date: 2026-11-23T23:00:00.000000Z, 1795474800.000000 since 1970, is 5.000010 of the trace's clock"; cat a; } >a1
	{ echo "# date: 2026-11-23T23:00:01.000000Z, 1795474801.000000 since 1970, is 15.000110 of the trace's clock"; cat b; } >b1
	dt-join a=a1 b=b1 >got
	sed -n '3,5p' got >begin
	lines_are begin "a | # date: 2026-11-23T23:00:00.000000Z, 1795474800.000000 since 1970, is 5.000010 of the trace's clock
b | # date: 2026-11-23T23:00:01.000000Z, 1795474801.000000 since 1970, is 5.000210 of the trace's clock
a |               cl-7       [000] .....     5.000000: mark: dtM 2a 7 1"
	dt-join a=a b=b | cmp - <(grep -v date got)
	# 10 us before the date of b
	sed '/^a . # date/d' got | tfs-human | grep -x 'b | 23:00:00.999990 .* dtB 2a 9 1'
	# times that are made later
	{ echo "# date: 2026-11-23T23:00:01.000000Z, 1795474801.000000 since 1970, is 1.500000 of the trace's clock"
		event sv-9 2.0 'first: x=1'; cat b; } >early
	dt-join a=a1 b=early | grep date >begin
	grep '^# all times are' <(dt-join a=a1 b=early) >later
	n=$(sed 's/# all times are \([0-9]*\) s later.*/\1/' later)
	lines_are begin "a | # date: 2026-11-23T23:00:00.000000Z, 1795474800.000000 since 1970, is $((5 + n)).000010 of the trace's clock
b | # date: 2026-11-23T23:00:01.000000Z, 1795474801.000000 since 1970, is $((n - 9)).500100 of the trace's clock"
}

@test "dt-join: keeps nanoseconds" {
	two
	{ mark cl-7 5.000000001 M 1; mark cl-7 5.000450001 R 2; } >a
	{ mark sv-9 15.000100002 B 1; mark sv-9 15.000150003 M 2; } >b
	diff <(dt-join a=a b=b) - <<-'EOF'
		# a: all times are by this clock; 2 messages
		# b: 9.999900002 s ahead, plus or minus 0.000200001; 2 messages
		a |               cl-7       [000] .....  5.000000001: mark: dtM 2a 7 1
		b |               sv-9       [000] .....  5.000200000: mark: dtB 2a 9 1
		b |               sv-9       [000] .....  5.000250001: mark: dtM 2a 9 2
		a |               cl-7       [000] .....  5.000450001: mark: dtR 2a 7 2
	EOF
}

@test "dt-join: handles JSON as it handles text, and adds the host as the last member" {
	cat >a <<-'EOF'
		{"ts":5.000000000,"cpu":0,"pid":7,"comm":"cl","system":"tfs","event":"mark","fields":{"key":"0x1","probe":42,"task":7,"what":"dtM"}}
		{"ts":5.000400000,"cpu":0,"pid":7,"comm":"cl","system":"tfs","event":"mark","fields":{"key":"0x2","probe":42,"task":7,"what":"dtR"}}
		{"ts":5.000500000,"cpu":0,"lost":3}
		{"lost":3,"overwritten":3,"unwritten":0}
	EOF
	cat >b <<-'EOF'
		{"ts":15.000100000,"cpu":0,"pid":9,"comm":"sv","system":"bpf_trace","event":"bpf_trace_printk","fields":{"bpf_string":"dtB 2a 9 1"}}
		{"ts":15.000200000,"cpu":0,"pid":9,"comm":"sv","system":"bpf_trace","event":"bpf_trace_printk","fields":{"bpf_string":"dtM 2a 9 2"}}
	EOF
	dt-join a=a b=b >got
	diff got - <<-'EOF'
		{"host":"a","clock":"all times are by this clock; 2 messages"}
		{"host":"b","clock":"9.999950000 s ahead, plus or minus 0.000150001; 2 messages"}
		{"ts":5.000000000,"cpu":0,"pid":7,"comm":"cl","system":"tfs","event":"mark","fields":{"key":"0x1","probe":42,"task":7,"what":"dtM"},"host":"a"}
		{"ts":5.000150000,"cpu":0,"pid":9,"comm":"sv","system":"bpf_trace","event":"bpf_trace_printk","fields":{"bpf_string":"dtB 2a 9 1"},"host":"b"}
		{"ts":5.000250000,"cpu":0,"pid":9,"comm":"sv","system":"bpf_trace","event":"bpf_trace_printk","fields":{"bpf_string":"dtM 2a 9 2"},"host":"b"}
		{"ts":5.000400000,"cpu":0,"pid":7,"comm":"cl","system":"tfs","event":"mark","fields":{"key":"0x2","probe":42,"task":7,"what":"dtR"},"host":"a"}
		{"ts":5.000500000,"cpu":0,"lost":3,"host":"a"}
		{"lost":3,"overwritten":3,"unwritten":0,"host":"a"}
	EOF
	tfs-count -k host <got | diff - <(printf '%s\n' '      2 a' '      2 b' '{"lost":3,"overwritten":3,"unwritten":0,"host":"a"}')
}

@test "dt-join: refuses a counter clock, and -s into a trace" {
	two
	event x-1 123 'e: x=1' >counts
	refused 'unable to join counts: its trace clock does not count seconds' dt-join a=a b=counts
	refused 'unable to draw into b: it is a trace; give another file' dt-join -s b a=a b=b
	ln b other
	refused 'unable to write to other: it has another name, a hard link; remove the file, or give another name' \
		dt-join -s other a=a b=b
	file_has 4 b
	ln -s nowhere link
	refused 'unable to write to link: it is a symbolic link; name the file that it leads to' dt-join -s link a=a b=b
	[ ! -e nowhere ]
	refused 'unable to open none/svg: no such directory; make it first' dt-join -s none/svg a=a b=b
	refused 'unable to write to standard output: No space left on device' to_full dt-join a=a b=b
	run -111 --separate-stderr dt-join -s /dev/full a=a b=b
	[ "$stderr" = 'dt-join: fatal: unable to write to /dev/full: No space left on device' ]
}

@test "dt-join: exits 1 if there is no event" {
	echo '# tracer: nop' >none
	run -1 --separate-stderr dt-join a=none b=/dev/null
	[ "$output" = '# a: all times are by this clock; 0 messages
# b: its clock is not adjusted, because there are no messages; 0 messages
a | # tracer: nop' ]
	[ "$stderr" = 'dt-join: no event in the traces' ]
}

@test "dt-join: tfs-count, tfs-latency, tfs-timeline and tfs-flame accept its hosts" {
	{ event x-1 1.000000 'sys_read(fd: 1)'; event x-1 1.000010 'sys_read -> 0x1'
		event x-1 1.000020 'e: x=1'; event x-1 1.000020 '<stack trace>'; echo ' => g'; echo ' => f'
		echo '# lost 7 events: x'; } >a
	{ event x-1 1.000005 'sys_read(fd: 1)'; event x-1 1.000007 'sys_read -> 0x1'; echo '# lost 8 events: x'; } >b
	dt-join -c a=a b=b >got
	tfs-count -k host <got | diff - <(printf '%s\n' '      3 a' '      2 b' 'b | # lost 8 events: x' 'a | # lost 7 events: x')
	tfs-latency syscalls <got | sed 's/ *|.*lat=/ /' | grep -v '^#' |
		diff - <(printf '%s\n' 'b 2' 'b | # lost 8 events: x' 'a 10' 'a | # lost 7 events: x')
	tfs-timeline <got >svg
	grep -q ">a x-1</text>" svg
	grep -q ">b x-1</text>" svg
	tfs-flame -f -k host <got 2>err | diff - <(echo 'a;f;g 1')
	diff err - <<-'EOF'
		tfs-flame: b | # lost 8 events: x
		tfs-flame: a | # lost 7 events: x
	EOF
	# over lost events of one host no calls are paired
	{ event x-1 1.000000 'sys_read(fd: 1)'; echo 'CPU:0 [LOST 3 EVENTS]'; event x-1 1.000010 'sys_read -> 0x1'; } >a
	run -1 --separate-stderr tfs-latency syscalls < <(dt-join a=a)
	[ "$output" = '# a: all times are by this clock; 0 messages
a | CPU:0 [LOST 3 EVENTS]
# unpaired 2 events: 1 without an end, 1 without a beginning' ]
}

@test "dt-join: -s: a mark that comes late ends the window of its own request only" {
	{ event cl-7 5.000000 'mark: dtM 2a 7 1'; event cl-7 5.000100 'mark: dtM 2a 7 2'; } >a
	{ event sv-9 5.000010 'mark: dtB 2a 9 1'; event sv-9 5.000110 'mark: dtB 2a 9 2'
		event sv-9 5.000120 'mark: dtE 2a 9 1'; event sv-9 5.000150 'mark: dtE 2a 9 2'; } >b
	dt-join -c -s svg a=a b=b >/dev/null
	[ "$(titles svg | grep '^sv-9')" = 'sv-9 on b at 10 us, 100 us or more
sv-9 on b at 110 us, 40 us' ]
}

@test "dt-join: -s: draws messages with both ends, windows, and the events in them" {
	two
	event cl-7 5.000010 'sys_read(fd: 1)' >>a
	sort -k 4 a -o a
	event sv-8 15.000130 'not: y=1' >>b
	sort -k 4 b -o b
	dt-join -s svg a=a b=b >got
	dt-join a=a b=b | cmp - got
	diff <(titles svg) - <<-'EOF'
		sys_enter_read at 10 us
		e at 20 us
		sv-9 on b at 200 us, 55 us
		f at 220 us
		cl-7 on a to sv-9 on b at 0 us, 200 us
		sv-9 on b to cl-7 on a at 250 us, 200 us
	EOF
	grep -qx "<text x='10' y='20'>2 messages, 2 hosts, 2 threads from 5.000000 s by the clock of a</text>" svg
	grep -q '>b: 9.999900 s ahead, plus or minus 0.000201; 2 messages</text>$' svg
	well_formed svg
}

@test "dt-join: -s: draws an early message in red, and a message without an end as a stub" {
	two
	{ mark cl-7 5.000500 M 5; mark cl-7 5.000600 R 6; mark cl-7 6.000000 M 3; mark cl-7 6.000450 R 4; } >>a
	{ mark sv-9 15.999100 B 3; mark sv-9 15.999150 M 4; } >>b
	dt-join -s svg a=a b=b >got
	diff <(titles svg) - <<-'EOF'
		e at 20 us
		sv-9 on b at 700 us, 55 us
		sv-9 on b at 999.700 ms, 750 us or more
		f at 720 us
		cl-7 on a to sv-9 on b at 0 us, 700 us
		sent by cl-7 on a at 500 us: nobody here has received it
		received by cl-7 on a at 600 us: nobody here has sent it
		sv-9 on b to cl-7 on a at 750 us, -300 us
		sv-9 on b to cl-7 on a at 999.750 ms, 700 us
		cl-7 on a to sv-9 on b at 1.000000 s, -300 us
	EOF
	[ "$(grep -c "<g class='m x'>\|<g class='m r x'>" svg)" = 2 ]
	grep -q '>clocks and messages contradict each other: 2 messages are received before sent, by 0.000300 s at most<' svg
	grep -q '>998.94 ms later</text>' svg
	well_formed svg
}

@test "dt-join: -s: draws the events of all threads of a process in its window with -g" {
	grouped() {
		printf '%16s-%-7d (%7s) [000] ..... %12s: %s\n' t "$1" "$2" "$3" "$4"
	}
	{ grouped 11 10 1.000000 'mark: dtB 1 10 5'; grouped 12 10 1.000100 'e: x=1'
		grouped 13 99 1.000200 'f: x=1'; grouped 12 10 1.000300 'mark: dtE 1 10 5'; } >a
	dt-join -s svg a=a >got
	titles svg | diff - <(printf '%s\n' 't-10 on a at 0 us, 300 us' 'e at 100 us' \
		'received by t-10 on a at 0 us: nobody here has sent it')
}

@test "dt-join: -s: keeps the picture well-formed for hostile names and lines" {
	{ mark '<a&"]]>-7' 5.0 M 1; mark $'\xff\x01</t>-8' 5.1 B 2; event $'\xff\x01</t>-8' 5.2 '<script>: x=1'
		event $'\xff\x01</t>-8' 5.3 'e: x=1'; event x-8 18446744073.709551615 'e: x=1'; mark x-8 18446744073 M 4
		mark x-9 4611686018.427387904 M 5; echo '{"ts":5.4,"pid":"8","event":"\ud800<"}'
		echo '# lost <b> & events'; } >a
	{ mark $'\xef\xbf\xbf-9' 15.1 B 1; mark $'\xef\xbf\xbf-9' 0.1 M 2; head -c 5000 a | tr '\n' '\0'; } >b
	dt-join -s svg a=a b=b >got || [ $? = 111 ]
	sed -i '/18446744073: /d' a
	tr '\n' '\0' <a >>b
	dt-join -s svg a=a b=b >got
	well_formed svg
	run -1 grep '<script\|<b>\|<t>' svg
	grep -q '>&lt;a&amp;&quot;\]\]&gt;-7</text>' svg
	run -1 grep -vaE '^(# |[ab] \| |\{)' got
}

@test "dt-join: -s: limits the picture and reports the rest, and says if there is no mark" {
	for ((i = 1; i <= 300; i++)); do
		printf -v hex %x "$i"
		mark "cl-$((i % 30 + 1))" "$((i + 100)).000000" M "$hex" >&8
		mark sv-9 "$((i + 100)).000100" B "$hex" >&9
	done 8>a 9>b
	dt-join -s svg a=a b=b >got
	[ "$(grep -c '^.. |' got)" = 0 ]
	[ "$(grep -c '^[ab] |' got)" = 600 ]
	[ "$(titles svg | grep -c ' on a to ')" -lt 200 ]
	grep -q '>100 more messages are not shown</text>$' svg
	grep -q '>200 later marks are not shown</text>$' svg
	grep -q ' marks are of threads that are not shown</text>$' svg
	well_formed svg
	event x-1 1.0 'e: x=1' >a
	dt-join -s svg a=a >got
	grep -q '>there are no marks in these traces</text>$' svg
	well_formed svg
}

# bats test_tags=long
@test "dt-join: needs no more memory for a hundred thousand lines than for a few" {
	[ -z "${TFS_VARIANT-}" ] || skip "needs memory that is the program's alone"
	n=$(so_many 100000)
	for host in 1 2 3; do
		awk -v n="$n" -v h="$host" 'BEGIN { for (i = 0; i < n; i++)
			printf "%16s-%-7d [000] ..... %5d.%06d: e: host=%d n=%d %0100d\n", "x", 1, i / 1000, i % 1000 * 1000 + h, h, i, 0 }' >"$host"
	done
	two
	# one of these files alone is twice as large
	( ulimit -v 8192; dt-join -s svg one=1 two=2 three=3 a=a b=b >got )
	grep -v '^#' got | sed 's/.* \([0-9]*\.[0-9]*\): .*/\1/' | sort -c -n
	[ "$(grep -vc '^#' got)" = $((3 * n + 7)) ]
	[ "$(grep -c '^one ' got)" = "$n" ]
}

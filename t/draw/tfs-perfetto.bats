#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2154 # run sets stderr
# tfs-perfetto: protoc decodes each event of a trace.dat, and each slice of event lines

load ../helper

misuse() {
	fails 100 "tfs-perfetto: fatal: $1; usage: tfs-perfetto [[-a SECONDS]... FILE...]" "${@:2}"
}

# made PROGRAM WORDS: Make a trace.dat.
made() {
	need_tool python3
	python3 "$TREE/t/prog/$1.py" "${@:2}"
}

# decode: Decode a trace of Perfetto, as the published schema does. Before it: need_tool protoc,
# which cannot skip a test from within a pipeline.
decode() {
	protoc --decode=perfetto.protos.Trace -I "$TREE/t/data" perfetto.proto
}

# in_lines: Join the lines of each event, so that it is one line.
in_lines() {
	tr -s ' \n' ' ' | sed 's/ event {/\n&/g; s/ lost_events/\n&/g'
}

# switched CPU PID STATE NEXT TIME: Print a sched_switch.
switched() {
	printf '%16s-%-7d [%03d] d..2. %12s: sched_switch: prev_comm=t%d prev_pid=%d prev_prio=120 prev_state=%s ==> next_comm=t%d next_pid=%d next_prio=120\n' \
		"t$2" "$2" "$1" "$5" "$2" "$2" "$3" "$4" "$4"
}

# slices: Print the slices of a trace of Perfetto, as slices.py does.
slices() {
	decode | sed 's/\\\(["\\]\)/\1/g' | python3 "$TREE/t/draw/slices.py"
}

@test "tfs-perfetto: refuses wrong options, numbers and files, each with its status" {
	misuse "no such option: -y" tfs-perfetto -y
	misuse "option -a needs a value" tfs-perfetto -a
	misuse "too few files; -a is for each file but the first" tfs-perfetto -a 1
	for word in '' x 1,5 1.5s 99999999999; do
		misuse "--ahead: '$word' is not a number of seconds" tfs-perfetto -a "$word" file file
	done
	misuse "too few files; -a is for each file but the first" tfs-perfetto -a 1 file
	fails 111 "tfs-perfetto: fatal: unable to open file: No such file or directory" \
		tfs-perfetto file
	echo text >file
	fails 111 "tfs-perfetto: fatal: file is not a trace.dat; tfs-run -o NAME.dat records one" tfs-perfetto file
}

@test "tfs-perfetto: a generic event describes its fields, which protoc decodes from files of either byte order and word size" {
	need_tool protoc
	for layout in 'little 8' 'little 4' 'big 8' 'big 4'; do
		# shellcheck disable=SC2086 # two words
		made tracedat $layout file
		tfs-perfetto file >out 2>err
		[ ! -s err ]
		decode <out >text
		grep -A 3 '65836 {' text | grep -v '^--' >fields
		# the size of a bit mask depends on that of a long
		diff - fields <<-'EOF'
      65836 {
        1: 18446744073709551609
        2: "[1,2,65535]"
        3: "one"
      65836 {
        1: 8
        2: "[1,2,65535]"
        3: "two"
      65836 {
        1: 0
        2: "[1,2,65535]"
        3: "thr"
      65836 {
        1: 1
        2: "[1,2,65535]"
        3: "four"
		EOF
		grep -A 2 'name: "' text | tr -s ' \n-' ' ' >names
		grep -q 'field_id: 65836' text
		grep -q 'name: "demo" field { name: "a"' names
		[ "$(grep -c 'field_id:' text)" = 1 ]
		[ "$(grep -c 'number: ' text)" = 7 ]
		[ "$(grep -c 'type: TYPE_INT64' text)" = 1 ]
		[ "$(grep -c 'type: TYPE_UINT64' text)" = 2 ]
		[ "$(grep -c 'type: TYPE_STRING' text)" = 4 ]
		grep -q 'sysname: "Linux"' text
		grep -q 'release: "6.18.0"' text
		grep -q 'tid: 42' text
		grep -q 'comm: "hand"' text
	done
}

@test "tfs-perfetto: a loss begins a bundle with lost_events, and the sums are exact" {
	need_tool protoc
	made tracedat little 8 file
	tfs-perfetto file | decode >text
	[ "$(grep -c 'ftrace_events {' text)" = 3 ]
	[ "$(grep -c 'lost_events: true' text)" = 2 ]
	[ "$(grep -c 'lost_events: false' text)" = 1 ]
	sed -n '/END_OF_TRACE/,$p' text | tr -s ' \n' ' ' >end
	grep -q '{ cpu: 0 overrun: 0 dropped_events: 0 read_events: 2 } cpu_stats { cpu: 1 overrun: 5 dropped_events: 0 read_events: 2 }' end
	# the kernel's own numbers, where the file has them, and what tfs-record left out
	STATS=$'CPU: 0\noverrun: 1\ndropped events: 2\n|CPU: 1\noverrun: 70\n|not written: 9\n' \
		made tracedat little 8 file
	tfs-perfetto file | decode >text
	sed -n '/END_OF_TRACE/,$p' text | tr -s ' \n' ' ' >end
	grep -q '{ cpu: 0 overrun: 3 dropped_events: 9 read_events: 2 } cpu_stats { cpu: 1 overrun: 70 dropped_events: 0 read_events: 2 }' end
}

@test "tfs-perfetto: writes the schema's messages for switches, calls and prints, and all other events generic" {
	need_tool protoc
	made perfettodat file
	tfs-perfetto file >out 2>err
	file_is err "tfs-perfetto: demo:many: only the first 31 of its fields are converted"
	decode <out >text
	sed -n '/ftrace_events/,$p' text | in_lines | grep '^ event' >events
	diff - events <<-EOF
	 event { timestamp: 1000001000 pid: 42 print { ip: 16 buf: "a mark\n" } }
	 event { timestamp: 1000002000 pid: 42 sched_switch { prev_comm: "one" prev_pid: 42 prev_prio: 120 prev_state: -2 next_comm: "two" next_pid: 43 next_prio: 100 } }
	 event { timestamp: 1000003000 pid: 42 sys_enter { id: 2 args: 1 args: 2 args: 3 args: 4 args: 5 args: 18446744073709551615 } }
	 event { timestamp: 1000004000 pid: 42 sys_exit { id: 2 ret: -2 } }
	 event { timestamp: 1000005000 pid: 42 sys_enter { id: 2 args: 28672 args: 65 } }
	 event { timestamp: 1000006000 pid: 42 sys_exit { id: 2 ret: 3 } }
	 event { timestamp: 1000007000 pid: 42 65841 {$(for i in {1..31}; do printf ' %d: %d' "$i" $((i + 99)); done) } }
	 event { timestamp: 1000008000 pid: 42 65935: "" }
	 event { timestamp: 1000009000 pid: 42 65540 { 1: 2 2: "[\"0xffff0001\",\"0xffff0002\"]" } }
	 event { timestamp: 1000010000 pid: 42 65842 { 1: "\357\277\275\303\244" } }
	EOF
	[ "$(grep -c 'name: "unknown"' text)" = 1 ]
	grep -q 'machine: "x86_64"' text
}

@test "tfs-perfetto: several files are machines, and the difference of their clocks is that of -a or of their dates" {
	need_tool protoc
	DATE=0x989680 made tracedat little 8 a # 10 s
	DATE=0x7a1200 made tracedat big 4 b # 8 s
	made tracedat little 4 c
	# at the same time of day, the clock of b shows 2 s more
	tfs-perfetto a b >out 2>err
	[ ! -s err ]
	decode <out >text
	[ "$(grep -c '^    event {' text)" = 8 ]
	# the host, its date, a name, the totals, 3 bundles, the totals; and the clocks
	[ "$(grep -c "^  machine_id: 0$" text)" = 8 ]
	[ "$(grep -c "^  machine_id: 1$" text)" = 9 ]
	tr -s ' \n' ' ' <text >flat
	pair='synced_clocks { client_clocks { clocks { clock_id: 6 timestamp: 2000000001 } } host_clocks { clocks { clock_id: 6 timestamp: 1 } } }'
	grep -qF "packet { machine_id: 1 remote_clock_sync { $pair $pair } }" flat
	grep -qF 'clock_snapshot { clocks { clock_id: 6 timestamp: 1000000000 } clocks { clock_id: 1 timestamp: 11000000000 } }' flat
	# -a wins over dates, and a file without a date needs it
	tfs-perfetto -a -3.5 a b c >out 2>err
	file_is err "tfs-perfetto: c: its clock is not adjusted; give -a, or record with -d"
	decode <out | tr -s ' \n' ' ' >flat
	grep -qF 'client_clocks { clocks { clock_id: 6 timestamp: 1 } } host_clocks { clocks { clock_id: 6 timestamp: 3500000001 } }' flat
	[ "$(grep -o 'machine_id: 2' flat | wc -l)" -gt 0 ]
	[ "$(grep -o ' event {' flat | wc -l)" = 12 ]
	# the first host's clock is known without a date, too
	tfs-perfetto -a 1 c c | decode | tr -s ' \n' ' ' >flat
	grep -qF 'clock_snapshot { clocks { clock_id: 6 timestamp: 1000000000 } } machine_id: 0 }' flat
	[ "$(grep -o 'clock_snapshot {' flat | wc -l)" = 1 ]
}

@test "tfs-perfetto: says that a clock counts, and converts what it can of a damaged file" {
	need_tool protoc
	made tracedat little 8 file mine
	tfs-perfetto file >out 2>err
	file_is err "tfs-perfetto: file: its trace clock does not count seconds"
	[ "$(decode <out | grep -c '^    event {')" = 6 ]
	made tracedat little 8 file
	head -c -4096 file >short
	run -111 --separate-stderr tfs-perfetto short
	[ "$stderr" = "tfs-perfetto: fatal: short ends in the sub-buffers of cpu 1: it was cut short, or the recording was killed" ]
	tfs-perfetto short >out 2>err || :
	[ "$(decode <out | grep -c '^    event {')" = 3 ]
}

@test "tfs-perfetto: a full disk is an error, and a reader that goes away ends it" {
	made tracedat little 8 file
	switched 0 42 S 43 1.000000 >in
	for of in '' file; do
		run -111 --separate-stderr from in to_full tfs-perfetto $of
		[ "$stderr" = "tfs-perfetto: fatal: unable to write to standard output: No space left on device" ]
	done
	made perfettodat file
	# the reader is gone before the first byte
	status=0
	{ eventually test -e gone; tfs-perfetto file 2>err || echo $? >status; } | { exec <&-; : >gone; }
	file_is status 141
}

# bats test_tags=quick
@test "tfs-perfetto: protoc decodes as many events of a mixed recording as the kernel has recorded" {
	need_tool protoc
	record_mixed
	recorded=$(wc -l <lines)
	tfs-perfetto file >out 2>err
	decode <out >text
	[ "$(grep -c '^    event {' text)" = "$recorded" ]
	[ "$(sed -n '/END_OF_TRACE/,$p' text | awk '/read_events/ { n += $2 } END { print n }')" = "$recorded" ]
	# each generic event is described once, and no field of a known message is unknown
	grep -oE '^      (6553[6-9]|655[4-9][0-9]|65[6-9][0-9]{2}|6[6-9][0-9]{3}|[7-9][0-9]{4}|1[0-3][0-9]{4})( \{|:)' text |
		tr -d ' {:' | sort -u >used
	sed -n 's/^      field_id: //p' text | sort >described
	diff used described
	for event in sched_switch sys_enter sys_exit; do
		[ "$(grep -c "^      $event {" text)" = "$(grep -c "\"event\":\"$event\"," lines)" ]
	done
	run -1 grep -E '^        [0-9]+:' <(awk '/^      [a-z_]+ \{/ { on = 1 } /^      [0-9]/ { on = 0 } on' text)
}

@test "tfs-perfetto: lines without an event give only comments, and status 1" {
	run -1 --separate-stderr tfs-perfetto </dev/null
	[ "$stderr$output" = "tfs-perfetto: no event in the trace" ]
	echo '# lost 3 events: 3 overwritten in a full buffer, 0 not written' >in
	tfs-perfetto <in 2>err | slices >got || :
	file_is got "i comment - - # lost 3 events: 3 overwritten in a full buffer, 0 not written 0"
}

# bats test_tags=quick
@test "tfs-perfetto: a decoded call, a latency and the waits of a task are slices with exact times" {
	need_tool protoc python3
	{
		echo '             cat-42      [000] .....     1.000003: openat(AT_FDCWD, "/etc/pass\"wd", O_RDONLY) = 3 <0.000002>'
		echo '{"ts":1.000009001,"cpu":0,"pid":42,"comm":"cat","system":"syscalls","event":"sys_exit_read","fields":{"ret":-11,"error":"EAGAIN","lat":0.500,"args":[{"name":"fd","value":3,"text":"3"}]}}'
		echo '             cat-42      [000] .....     1.000020: e: x=1 lat=5'
		switched 0 42 D 43 2.000000
		echo '              t9-9       [001] d..2.     2.000100: sched_waking: comm=t42 pid=42 prio=120 target_cpu=000'
		switched 0 43 S 42 2.000150
		switched 0 42 R 0 2.000200
		switched 0 0 R 42 2.000300
		# woken while it leaves its CPU
		echo '              t9-9       [001] d..2.     2.000400: sched_waking: comm=t42 pid=42 prio=120 target_cpu=000'
		switched 0 42 S 0 2.000401
		switched 0 0 R 42 2.000404
	} | tfs-perfetto >out
	slices <out | diff - <(cat <<-'EOF'
	X call trace 42 openat 1000003000 2000 text=openat(AT_FDCWD, "/etc/pass\"wd", O_RDONLY) = 3 <0.000002>
	X call trace 42 read 1000009001 500 fields={"ret":-11,"error":"EAGAIN","lat":0.500,"args":[{"name":"fd","value":3,"text":"3"}]}
	X latency trace 42 e 1000015000 5000 text=x=1 lat=5
	X wait trace 42 blocked 2000000000 100000
	X wait trace 42 waiting 2000100000 50000
	X wait trace 42 waiting 2000200000 100000
	X wait trace 42 waiting 2000401000 3000
	EOF
	)
	# the thread has its new name
	decode <out | sed -n 's/.*thread_name: //p' | diff - <(printf '"%s"\n' cat t42 t43 t9 t0)
}

@test "tfs-perfetto: slices of a thread that overlap keep their times" {
	need_tool protoc python3
	printf '               a-7       [000] .....     1.0000%d: e: lat=%d\n' 10 8 12 8 13 11 20 1 |
		tfs-perfetto | slices | sed 's/ lat=.*//' | diff - <(cat <<-'EOF'
	X latency trace 7 e 1000002000 8000 text=lat=8
	X latency trace 7 e 1000002000 11000 text=lat=11
	X latency trace 7 e 1000004000 8000 text=lat=8
	X latency trace 7 e 1000019000 1000 text=lat=1
	EOF
	)
}

@test "tfs-perfetto: any names and any cut of the lines give a whole trace" {
	need_tool protoc python3
	printf '  a"b\\c</script>-7       [000] .....     1.000001: e: s="\\x01\303\244\377" x=1\n' >in
	printf '{"ts":1.5,"cpu":0,"pid":8,"comm":"a\\"b","system":"s","event":"e","fields":{"s":"\\u0001\\\\","n":[1,{"m":null}]}}\n' >>in
	printf '{"ts":1.6,"cpu":0,"pid":8,"comm":"c","system":"syscalls","event":"sys_exit_x","fields":{"ret":0,"lat":1.5,"args":[{"name":"a","value":1,"text":"}]"}]}}\n' >>in
	[ "$(tfs-perfetto <in | slices | grep -c '^X')" = 1 ]
	"$PROG/cuts" cut 1 in sh -c 'exec tfs-perfetto >out.$$' >runs
	[ "$(awk '$2 > 1' runs)" = "" ]
	file_has $(($(stat -c %s in) + 1)) runs
	# traces after each other are a trace
	cat out.* | decode >text
	[ "$(grep -c 'type: TYPE_SLICE_BEGIN' text)" = "$(grep -c 'type: TYPE_SLICE_END' text)" ]
	# the fields of a line that is cut are text
	sed -n 's/.*legacy_json_value: //p' text | sort -u >fields
	file_has 2 fields
}

@test "tfs-perfetto: windows and arrows follow the marks of two hosts by one clock" {
	need_tool protoc python3
	two_hosts | tfs-perfetto >out
	# a message takes 200 us on each way; message 9 is not received, and window 5 does not end
	slices <out | diff - <(cat <<-'EOF'
	X message a 7 send 5000000000 1 key=1
	s 1 5000200000
	X message a 7 send 5000010000 1 key=9
	X message b 9 receive 5000200000 1 key=1
	X window b 9 window 5000200000 55000 key=1
	X message b 9 send 5000250000 1 key=2
	s 2 5000450000
	X message b 9 receive 5000400000 1 key=5
	X window b 9 window 5000400000 50000 key=5
	X message a 7 receive 5000450000 1 key=2
	EOF
	)
	[ "$(decode <out | sed -n 's/.*thread_name: //p')" = $'"cl"\n"sv"' ]
}

@test "tfs-perfetto: calls that are not decoded are instants with their names" {
	need_tool protoc python3
	{
		echo '{"ts":1.5,"cpu":0,"pid":8,"comm":"c","system":"raw_syscalls","event":"sys_enter","fields":{"id":2,"args":[1,2,3,4,5,6]}}'
		echo '             cat-8       [000] .....     1.600000: sys_openat(dfd: 3, filename: 7ffc0)'
		echo '             cat-8       [000] .....     1.700000: sys_openat -> 0x3'
	} | tfs-perfetto | slices | cut -d' ' -f1-5 | diff - <(printf 'i event trace 8 %s\n' \
		sys_enter sys_enter_openat sys_exit_openat)
}

@test "tfs-perfetto: no wait and no window goes on over lost events" {
	need_tool protoc python3
	{
		switched 0 42 S 43 1.000000
		printf '              sv-9       [000] .....     1.000010: bpf_trace_printk: dtB 2a 9 1\n'
		echo 'CPU:0 [LOST 5 EVENTS]'
		switched 0 43 S 42 1.000100
		printf '              sv-9       [000] .....     1.000200: bpf_trace_printk: dtE 2a 9 1\n'
	} | tfs-perfetto | slices | diff - <(cat <<-'EOF'
	X window trace 9 window 1000010000 0 key=1
	X message trace 9 receive 1000010000 1 key=1
	EOF
	)
}

@test "tfs-perfetto: markers of Android in lines are slices, counters and instants" {
	need_tool protoc python3
	while read -r time text; do
		printf '%s\n' "app-7   (    7) [000] ...1 $time: tracing_mark_write: $text"
	done <<-'EOF' >markers
		1.000000 B|7|draw|it
		1.000001 C|7|frames|-3
		1.000002 E|7
		1.000003 S|7|load|5
		1.000004 F|7|load|5
		1.000005 I|7|now
		1.000006 E
		1.000007 Bx
		1.000008 C|x|frames|1
		1.000009 F|7|load|5
		1.000010 S|7|load|5
	EOF
	# an end without a beginning is left out, and a slice without an end has none
	run -1 --separate-stderr slices < <(tfs-perfetto <markers)
	echo "$output" | diff - <(cat <<-'EOF'
	X marker trace 7 draw|it 1000000000 2000
	C - trace - frames 1000001000 -3
	X marker trace - load 1000003000 1000
	i marker trace 7 now 1000005000
	i event trace 7 tracing_mark_write 1000007000 text=Bx
	i event trace 7 tracing_mark_write 1000008000 text=C|x|frames|1
	EOF
	)
}

@test "tfs-perfetto: a driver's tracing_mark_write is a print with the text of a marker" {
	need_tool protoc
	made olddat markers little 8 file
	tfs-perfetto file | decode | in_lines | sed -n 's/.* print { \([^}]*\) }.*/\1/p' |
		diff - <(printf 'buf: "%s"\n' 'B|77|function1\n' 'E|77|function1\n')
}

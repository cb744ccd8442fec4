#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2154 # run sets stderr
# tfs-flame: counts each stack, and draws a well-formed picture for any names

load ../helper

# stack COMM CPU EVENT FRAME...: Print an event and its stack, the innermost frame first.
stack() {
	printf '%16s-7       [%03d] ..... 1.000001: %s: x=1\n' "$1" "$2" "$3"
	printf '%16s-7       [%03d] ..... 1.000002: <stack trace>\n' "$1" "$2"
	printf ' => %s\n' "${@:4}"
}

stacks() {
	stack sh 0 e trace_event_raw_event_e __traceiter_e c b a
	stack sh 0 e c b a
	stack ls 1 f b a
}

# switch CPU TIME PREV-PID NEXT-PID [FRAME...]: Print a switch, and its stack.
switch() {
	printf '%16s-%-7d [%03d] d..2. %s: sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=S ==> next_comm=%s next_pid=%d next_prio=120\n' \
		"${3%-*}" "${3##*-}" "$1" "$2" "${3%-*}" "${3##*-}" "${4%-*}" "${4##*-}"
	[ $# = 4 ] || printf '%16s-%-7d [%03d] d..2. %s: <stack trace>\n' "${3%-*}" "${3##*-}" "$1" "$2"
	[ $# = 4 ] || printf ' => %s\n' "${@:5}"
}

# user_stack FRAME...: Print the stack of a program, the innermost frame first.
user_stack() {
	printf '%16s-7       [000] ..... 1.000003: <user stack trace>\n' sh
	printf ' => %s\n' "$@"
}

# frames: Print "NAME (STACKS, SHARE) X Y WIDTH" for each frame of the picture on stdin.
frames() {
	sed -n "s/^<g class='[cku].*<title>\([^<]*\)<.title><rect x='\([0-9.]*\)' y='\([0-9]*\)' width='\([0-9.]*\)'.*/\1 \2 \3 \4/p"
}

# well_formed FILE: Fail unless an XML parser accepts FILE.
well_formed() {
	need_tool python3
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"
}

# bats test_tags=quick
@test "tfs-flame: -f: prints folded lines, outermost function first, without functions of the tracing" {
	stacks | tfs-flame -f | diff - <(printf '%s\n' 'ls;a;b 1' 'sh;a;b;c 2')
}

# pprof OPTION...: Run the pprof of Go.
pprof() {
	local root
	need_tool apt-get dpkg
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64: golang-1.19-go of amd64"
	root=$("$TREE/t/vm/fetch" bookworm amd64 golang-1.19-go 3>&- 2>fetch.err) ||
		skip "needs golang-1.19-go of Debian: $(tail -n 1 fetch.err)"
	HOME=$PWD "$root/usr/lib/go-1.19/pkg/tool/linux_amd64/pprof" "$@" 2>pprof.err
}

@test "tfs-flame: -p: pprof reads each stack, its number, its keys as labels, and lost events" {
	{ stacks; user_stack main; echo '# lost 204 events'; } >trace
	tfs-flame -p -k comm -k event trace >x.pb
	pprof -raw x.pb | sed 's/ *$//; /^PeriodType/d' | diff - <(cat <<-'EOF'
		Comment: # lost 204 events
		Period: 0
		Samples:
		samples/count
		          1: 1 2
		                comm:[ls] event:[f]
		          1: 3 1 2 4
		                comm:[sh] event:[e]
		          1: 3 1 2
		                comm:[sh] event:[e]
		Locations
		     1: 0x0 M=1 b [kernel]:0 s=0()
		     2: 0x0 M=1 a [kernel]:0 s=0()
		     3: 0x0 M=1 c [kernel]:0 s=0()
		     4: 0x0 M=1 main :0 s=0()
		Mappings
		1: 0x0/0x0/0x0
	EOF
	)
}

@test "tfs-flame: -p: weighs by time if the events have lat, else counts; -w names another field" {
	stack sh 0 e b a | sed 's/: x=1/: x=70 lat=2.500/' >trace
	stack ls 1 e c a | sed 's/: x=1/: x=30 lat=0.500/' >>trace
	tfs-flame -p trace >x.pb
	pprof -top x.pb | sed 1d | diff - <(cat <<-'EOF'
		Showing nodes accounting for 3000ns, 100% of 3000ns total
		      flat  flat%   sum%        cum   cum%
		    2500ns 83.33% 83.33%     2500ns 83.33%  b
		     500ns 16.67%   100%      500ns 16.67%  c
		         0     0%   100%     3000ns   100%  a
	EOF
	)
	tfs-flame -p -w x trace >x.pb
	pprof -top -sample_index=x x.pb | sed -n 4p | grep -x '  *70 70.00% 70.00%  *70 70.00%  b'
	pprof -top -sample_index=samples x.pb | sed -n 4p | grep -x '  *1 50.00% 50.00%  *1 50.00%  .'
}

@test "tfs-flame: -p: the published schema has each field, and each stack is that of -f" {
	local proto
	need_tool protoc apt-get dpkg
	proto=$("$TREE/t/vm/fetch" bookworm amd64 golang-github-google-pprof-dev 3>&- 2>fetch.err) ||
		skip "needs golang-github-google-pprof-dev of Debian: $(tail -n 1 fetch.err)"
	proto=$proto/usr/share/gocode/src/github.com/google/pprof/proto
	stacks | tfs-flame -p >x.pb
	protoc --decode perftools.profiles.Profile -I "$proto" profile.proto <x.pb >got
	# a number in place of a name: a field that the schema lacks
	run -1 grep -E '^ *[0-9]+[:{ ]' got
	[ "$(grep -c '^sample {' got)" = "$(stacks | tfs-flame -f | wc -l)" ]
	sed -n 's/^string_table: //p' got | tr '\n' ' ' | grep -x '"" "samples" "count" "comm" "ls" .*'
	# thousands of functions, more than the buffer has room for
	for i in {1..9}; do
		stack sh 0 e "$i$(printf '%09000d' 0)"{1..30}
	done >trace
	tfs-flame -p trace | protoc --decode perftools.profiles.Profile -I "$proto" profile.proto >got
	[ "$(grep -c '^function {' got)" = 270 ]
	[ "$(grep -c '^sample {' got)" = 9 ]
	[ "$(grep -c '^  location_id: ' got)" = 270 ]
}

# profile FILE: Print the stacks of each profile of OTLP, of type and unit, as folded lines and their value.
profile() {
	need_tool jq
	jq -r '.dictionary as $d | ($d.stringTable) as $s
		| def attributes: map($d.attributeTable[.] | "\($s[.keyStrindex])=\(.value | (.stringValue // .intValue))");
		.resourceProfiles[0].scopeProfiles[0].profiles[]
		| "\($s[.sampleType.typeStrindex]) \($s[.sampleType.unitStrindex])", (.samples[]
		| ((.attributeIndices | attributes) + ($d.stackTable[.stackIndex].locationIndices | reverse
			| map($d.locationTable[.] | $s[$d.functionTable[.lines[0].functionIndex].nameStrindex]
				+ "@" + (.attributeIndices | attributes[0][19:])))
			+ (if .linkIndex then [$d.linkTable[.linkIndex] | .traceId + "/" + .spanId] else [] end)
		| join(";")) + " " + .values[0])' "$1"
}

@test "tfs-flame: -o: a line of OTLP has each stack once, the keys as attributes, and lost events" {
	{ stacks; user_stack main b; echo '# lost 204 events'; } >trace
	tfs-flame -o -k comm -k event trace >x.json
	[ "$(wc -l <x.json)" = 1 ]
	profile x.json | diff - <(printf '%s\n' 'samples count' \
		'thread.name=ls;tfs.arg.event=f;a@kernel;b@kernel 1' \
		'thread.name=sh;tfs.arg.event=e;b@native;main@native;a@kernel;b@kernel;c@kernel 1' \
		'thread.name=sh;tfs.arg.event=e;a@kernel;b@kernel;c@kernel 1')
	# equal elements are one, and the first one stands for nothing
	jq '.dictionary | .functionTable, .locationTable, .stackTable, .mappingTable | length' x.json | tr '\n' ' ' |
		grep -x '5 6 4 1 '
	jq -e '.dictionary | [.functionTable[0], .locationTable[0], .stackTable[0], .attributeTable[0], .mappingTable[0]]
		== [{}, {}, {}, {}, {}] and .stringTable[0] == "" and (.stringTable | length == (unique | length))' x.json
	jq -c '.dictionary.attributeTable[.resourceProfiles[0].scopeProfiles[0].profiles[0].attributeIndices[0]].value' \
		x.json | grep -Fx '{"arrayValue":{"values":[{"stringValue":"# lost 204 events"}]}}'
	# the time of the events is not known
	run -1 grep -q timeUnixNano x.json
	need_tool /usr/bin/jsonschema
	/usr/bin/python3 "$TREE/t/schema" otlp x.json
}

@test "tfs-flame: -o: time off the CPU is a profile of its own, with the dates of the events" {
	{ echo '# date: 2026-11-23T19:50:01.000001Z, 1795463401.000001 since 1970, is 1.000000 of the trace'"'"'s clock'
		switch 0 1.000000 a-7 b-8 f wait; switch 0 1.000250 b-8 a-7; } >trace
	tfs-flame -o trace >x.json
	profile x.json | diff - <(printf '%s\n' 'off_cpu nanoseconds' 'thread.name=a;wait@kernel;f@kernel 250000' \
		'samples count' 'thread.name=a;wait@kernel;f@kernel 1')
	[ "$(grep -o '"timeUnixNano":"1795463401000001000","durationNano":"250001"' x.json | wc -l)" = 2 ]
}

@test "tfs-flame: -o: the ids of -k trace_id and -k span_id are links to spans; numbers are integers" {
	local id=0af7651916cd43dd8448eb211c80319c span=b7ad6b7169203331
	stack sh 0 e b a | sed "s/: x=1/: x=1 trace_id=$id span_id=$span trace_flags=01/" >trace
	stack 12 1 e b a >>trace
	tfs-flame -o -k comm -k pid -k trace_id -k span_id trace >x.json
	profile x.json | diff - <(printf '%s\n' 'samples count' 'thread.name=12;thread.id=7;a@kernel;b@kernel 1' \
		"thread.name=sh;thread.id=7;a@kernel;b@kernel;$id/$span 1")
	grep -F '"value":{"stringValue":"12"}' x.json
	grep -F '"value":{"intValue":"7"}' x.json
}

@test "tfs-flame: -o: the resource is what OTEL_RESOURCE_ATTRIBUTES says; names of any bytes are strings" {
	# shellcheck disable=SC1003 # a backslash
	printf '%16s-7       [000] ..... 1.000001: e: x=1\n%16s-7       [000] ..... 1.000002: <stack trace>\n => %b\n' \
		'a"b\' 'a"b\' 'f"<\\\377\303\244' >trace
	OTEL_RESOURCE_ATTRIBUTES='service.name=my%20shop,k8s.node.name=n1' tfs-flame -o trace >x.json
	need_tool python3
	python3 - <<-'EOF'
		import json
		x = json.load(open("x.json", encoding="utf-8"))
		strings = x["dictionary"]["stringTable"]
		print(*[strings[a["keyStrindex"]] + "=" + a["value"]["stringValue"]
			for a in x["resourceProfiles"][0]["resource"]["attributes"]])
		assert 'f"<\\\ufffd\u00e4' in strings, strings
		assert any(a.get("value") == {"stringValue": 'a"b\\'} for a in x["dictionary"]["attributeTable"])
	EOF
	tfs-flame -o trace >x.json
	profile_resource=$(jq -c '.dictionary.stringTable as $s | .resourceProfiles[0].resource.attributes[] |
		$s[.keyStrindex], .value.stringValue' x.json | tr '\n' ' ')
	[ "$profile_resource" = '"service.name" "unknown_service" ' ]
}

@test "tfs-flame: -k: puts a field of the stack's event below the stack" {
	stacks | tfs-flame -f -k event -k comm | diff - <(printf '%s\n' 'e;sh;a;b;c 2' 'f;ls;a;b 1')
	stacks | tfs-flame -f -k nope | diff - <(printf '%s\n' '-;a;b 1' '-;a;b;c 2')
}

@test "tfs-flame: assigns a stack to the last event of its CPU" {
	{ stack a 0 first x | sed 2q | head -n 1; stack b 1 other y; stack a 0 first x | tail -n 2; } |
		tfs-flame -f -k event | diff - <(printf '%s\n' 'first;x 1' 'other;y 1')
}

@test "tfs-flame: reads stacks as the function tracer and trace-cmd print them, with offsets and addresses" {
	{ printf '%16s-7       [000] ..... 1.000001: vfs_read <-ksys_read\n' sh
		printf '%16s-7       [000] ..... 1.000002: <stack trace>\n' sh
		printf '%s\n' ' => vfs_read' ' => ksys_read+0x5f/0xe0' ' => do_syscall_64 <ffffffff81000000>' \
			'=> entry (ffffffff81000130)' ' => [FTRACE TRAMPOLINE]' ' => f [ext4]'; } |
		tfs-flame -f -k event -k caller |
		diff - <(echo 'function;ksys_read;f [ext4];[FTRACE TRAMPOLINE];entry;do_syscall_64;ksys_read;vfs_read 1')
}

@test "tfs-flame: draws the expected picture of two functions, byte for byte" {
	stack sh 0 e b a | tfs-flame >got.svg
	# the style and the script are the same in each picture
	sed '/^<style>/,/^<.style>/d; /^<script>/,/^.*<.script>/d' got.svg | diff - <(cat <<-'EOF'
		<?xml version='1.0' encoding='UTF-8'?>
		<svg xmlns='http://www.w3.org/2000/svg' class='flame' width='1200' height='182' viewBox='0 0 1200 182' data-n='1' data-left='10' data-digits='0'>
		<title>Flame graph</title>
		<rect class='bg' width='100%' height='100%'/>
		<g class='k4' data-f='0' data-n='1'><title>b (1 stack, 100.0%)</title><rect x='10' y='74' width='1180' height='15' rx='2'/><text x='13' y='86'>b</text></g>
		<g class='k2' data-f='0' data-n='1'><title>a (1 stack, 100.0%)</title><rect x='10' y='90' width='1180' height='15' rx='2'/><text x='13' y='102'>a</text></g>
		<g class='c' data-f='0' data-n='1'><title>sh (1 stack, 100.0%)</title><rect x='10' y='106' width='1180' height='15' rx='2'/><text x='13' y='118'>sh</text></g>
		<g class='c' data-f='0' data-n='1'><title>all (1 stack, 100.0%)</title><rect x='10' y='122' width='1180' height='15' rx='2'/><text x='13' y='134'>all</text></g>
		<g class='head' data-height='74'>
		<rect class='bg' width='100%' height='74'/>
		<text class='t' x='10' y='24'>Flame graph</text>
		<text class='detail' x='10' y='44'>1 stack</text>
		<g class='key'><rect class='k1' x='10' y='54' width='12' height='10'/><text x='26' y='63'>kernel</text></g>
		<g class='key'><rect class='c' x='83' y='54' width='12' height='10'/><text x='99' y='63'>comm</text></g>
		</g>
		</svg>
	EOF
	)
	well_formed got.svg
	stack sh 0 e b a | tfs-flame | cmp - got.svg
}

@test "tfs-flame: loads nothing from elsewhere" {
	stacks | tfs-flame >got.svg
	[ "$(grep -c '<script' got.svg)" = 1 ]
	# the only addresses are the names of two formats
	[ "$(grep -o 'https\?:[^'"'"']*' got.svg | sort -u)" = 'http://www.w3.org/1999/xhtml
http://www.w3.org/2000/svg' ]
	run -1 grep -E 'href|@import|url\(|<image|src=' got.svg
}

@test "tfs-flame: -T: sets the title, which the head shows as far as it fits" {
	stacks | tfs-flame -T "<b> & 'c'" >got.svg
	well_formed got.svg
	grep -qx '<title>&lt;b&gt; &amp; &apos;c&apos;</title>' got.svg
	grep -qx "<text class='t' x='10' y='24'>&lt;b&gt; &amp; &apos;c&apos;</text>" got.svg
	stacks | tfs-flame -T "$(printf 'x%.0s' {1..300})" >got.svg
	[ "$(grep -c '<title>x\{300\}</title>' got.svg)" = 1 ]
	grep -qx "<text class='t' x='10' y='24'>x\{100\}\.\.</text>" got.svg
	stacks | tfs-flame -f -T ignored | diff - <(stacks | tfs-flame -f)
}

# weighed: Print the detail line, and NAME (WEIGHT, SHARE) of each frame of the picture on stdin.
weighed() {
	sed -n "s/^<text class='detail'[^>]*>\([^<]*\)<.*/\1/p; s/^<g class='[cku].*<title>\([^<]*\)<.*/\1/p"
}

@test "tfs-flame: -w: the width is the sum of the first field that an event has, with its unit" {
	{ stack sh 0 kmalloc b a | sed 's/x=1/bytes_alloc=32/'; stack sh 0 kmalloc c a | sed 's/x=1/bytes_alloc=96/'
		stack sh 0 other d a; } >trace
	tfs-flame -w lat,bytes_alloc -f <trace | diff - <(printf '%s\n' 'sh;a;b 32' 'sh;a;c 96')
	tfs-flame -w lat,bytes_alloc <trace | weighed | diff - <(printf '%s\n' 'b (32 bytes, 25.0%)' 'c (96 bytes, 75.0%)' \
		'a (128 bytes, 100.0%)' 'sh (128 bytes, 100.0%)' 'all (128 bytes, 100.0%)' \
		'width: 128 bytes in 2 stacks; left out: 1 without bytes_alloc')
	stack sh 0 e a | sed 's/x=1/x=1 lat=1500/' | tfs-flame -w lat | weighed | tail -n 2 |
		diff - <(printf '%s\n' 'all (1.5 ms, 100.0%)' 'width: 1.5 ms in 1 stack')
	# no event has it: each stack counts
	stacks | tfs-flame -w nope -f | diff - <(stacks | tfs-flame -f)
}

@test "tfs-flame: -w lat: the stack of a switch weighs the time until its task runs again, on any CPU" {
	{ switch 0 1.100000 a-7 b-8 nap; switch 1 1.400000 c-9 a-7 work; switch 1 1.500000 a-7 c-9 nap
		echo 'CPU:0 [LOST 3 EVENTS]'; switch 1 1.700000 c-9 a-7 work; } >trace
	tfs-flame -a -w lat -f <trace | diff - <(printf '%s\n' 'a;nap 300000000' 'c;work 100000000')
	tfs-flame -a -w lat <trace | weighed | tail -n 1 |
		diff - <(echo 'width: 400 ms off CPU in 2 stacks; left out: 2 without an end in the trace')
}

# wakes CPU TIME FLAGS BY TASK FRAME...: Print a wake-up of the task, and the stack of its waker.
wakes() {
	printf '%16s-%-7d [%03d] %s %s: sched_waking: comm=%s pid=%d prio=120 target_cpu=000\n' \
		"${4%-*}" "${4##*-}" "$1" "$3" "$2" "${5%-*}" "${5##*-}"
	printf '%16s-%-7d [%03d] %s %s: <stack trace>\n' "${4%-*}" "${4##*-}" "$1" "$3" "$2"
	printf ' => %s\n' "${@:6}"
}

@test "tfs-flame: -w lat: above the stack of a task that waits is that of its waker, upside down" {
	{
		wakes 1 1.000000 d..4. b-8 a-7 wake write call # a-7 did not wait
		switch 0 1.100000 a-7 b-8 wait read call
		wakes 1 1.300000 d..4. b-8 a-7 wake write call
		switch 0 1.400000 b-8 a-7
		switch 0 1.500000 a-7 '<idle>-0' nap call
		# the stack of the wake-up comes after the switch that follows it
		wakes 1 1.700000 dNh4. c-9 a-7 wake timer asm_sysvec_apic_timer_interrupt work main >late
		head -n 1 late
		switch 0 1.800000 '<idle>-0' a-7
		tail -n +2 late
		switch 0 1.900000 a-7 '<idle>-0' gone
	} >trace
	tfs-flame -a -w lat -f <trace | diff - <(printf '%s\n' \
		'a;call;nap;--;wake;timer;interrupt 300000000' \
		'a;call;read;wait;--;wake;write;call;b 300000000')
	tfs-flame -a -w lat <trace >got.svg
	well_formed got.svg
	grep -q '>width: 600 ms off CPU in 2 stacks; left out: 1 without an end in the trace</text>$' got.svg
	[ "$(grep -c "^<g class='v[0-5]' " got.svg)" = 9 ]
	[ "$(grep -c "^<g class='k[0-5]' " got.svg)" = 4 ]
	grep -q '>waker, upside down</text></g>$' got.svg
	# without weights, each stack counts for itself
	[ "$(tfs-flame -a -f <trace | awk '{ n += $NF } END { print n }')" = 6 ]
}

@test "tfs-flame: a trace whose header names the traced tasks leaves out all others" {
	{ switch 0 1.1 a-7 b-8 f; switch 0 1.2 b-8 c-9 g; switch 0 1.3 c-9 a-7 h; } >trace
	{ echo '# traced: 7 a'; cat trace; } | tfs-flame -f | diff - <(echo 'a;f 1')
	{ cat trace; echo '{"traced":9,"comm":"c"}'; } | tfs-flame -f | diff - <(echo 'c;h 1')
	{ echo '# traced: all'; cat trace; } | tfs-flame -f | diff - <(printf '%s\n' 'a;f 1' 'b;g 1' 'c;h 1')
	# a child of a traced task
	{ echo '# traced: 7 a'; printf '%16s-7 [000] d..2. 1.0: task_newtask: pid=8 comm=a clone_flags=0 oom_score_adj=0\n' a
		cat trace; } | tfs-flame -f | diff - <(printf '%s\n' 'a;f 1' 'b;g 1')
}

@test "tfs-flame: leaves out the switches of tasks that the session did not trace, -a draws them" {
	# between other-8 and third-9, the kernel has recorded no switch
	{ switch 0 1.1 traced-7 other-8 b a; switch 0 1.2 third-9 traced-7 d c
		switch 0 1.3 traced-7 '<idle>-0' b a; switch 0 1.4 '<idle>-0' traced-7 i; } >trace
	tfs-flame -f <trace | diff - <(echo 'traced;a;b 2')
	tfs-flame <trace | grep -q '>2 stacks; left out: 2 of tasks that were not traced</text>$'
	tfs-flame -a -f <trace | diff - <(printf '%s\n' '<idle>;i 1' 'third;c;d 1' 'traced;a;b 2')
	tfs-flame -a <trace | grep -q '>4 stacks</text>$'
}

@test "tfs-flame: draws all tasks if the trace does not tell which were traced" {
	# each switch is there; without a pid filter, as after an event of the idle task; and
	# two tasks, of which switches are missing, would not have passed a pid filter
	{ switch 0 1.1 a-7 b-8 f; switch 0 1.2 b-8 c-9 g; switch 0 1.3 c-9 a-7 h; } >trace
	tfs-flame -f <trace | diff - <(printf '%s\n' 'a;f 1' 'b;g 1' 'c;h 1')
	{ switch 0 1.1 a-7 b-8 f; switch 0 1.2 c-9 a-7 g; } >gap
	tfs-flame -f <gap | diff - <(echo 'a;f 1')
	{ cat gap; printf '%16s-%-7d [%03d] d..2. 1.3: softirq_raise: vec=1\n' '<idle>' 0 1; } |
		tfs-flame -f | diff - <(printf '%s\n' 'a;f 1' 'c;g 1')
	{ cat gap; switch 1 1.3 b-8 c-9 h; } | tfs-flame -f |
		diff - <(printf '%s\n' 'a;f 1' 'b;h 1' 'c;g 1')
	# lost events may be the missing switch
	{ head -n 3 gap; echo 'CPU:0 [LOST 3 EVENTS]'; tail -n 3 gap; } | tfs-flame -f |
		diff - <(printf '%s\n' 'a;f 1' 'c;g 1')
	# an event that is not a switch proves that c-9 was traced
	{ cat gap; printf '%16s-%-7d [%03d] d..2. 1.3: softirq_raise: vec=1\n' c 9 1; } |
		tfs-flame -f | diff - <(printf '%s\n' 'a;f 1' 'c;g 1')
}

@test "tfs-flame: puts the stack of the program below the kernel's, with files and offsets or addresses" {
	{ stack sh 0 e b a; user_stack '/usr/lib/libc.so.6[+0xd2011]' '/usr/bin/sh[+0x10] <00005500>'; } >trace
	tfs-flame -f <trace | diff - <(echo 'sh;/usr/bin/sh[+0x10];/usr/lib/libc.so.6[+0xd2011];a;b 1')
	tfs-flame <trace >got.svg
	well_formed got.svg
	grep -q "^<g class='u[0-5]' .*<title>/usr/lib/libc.so.6\[+0xd2011\] (1 stack, 100.0%)</title>.*>libc.so.6\[+0xd2011\]</text></g>$" got.svg
	grep -q "<rect class='u1' .*>program</text></g>$" got.svg
	# the stack of the program alone, and another event before it on another CPU
	{ stack sh 0 e | head -n 1; stack sh 1 f x; user_stack ' <00007f1c2a>' ' <0000550010>'; } |
		tfs-flame -f -k event | diff - <(printf '%s\n' 'e;<0000550010>;<00007f1c2a> 1' 'f;x 1')
	# as tfs-catpipe -f names functions: without the place of the call, and without the file
	{ stack sh 0 e b; user_stack 'work+0x0 (/bin/a b)' 'main+0x1f (/bin/a b)' '/lib/c.so:0x2724a'; } |
		tfs-flame -f | diff - <(echo 'sh;/lib/c.so:0x2724a;main;work;b 1')
	# two stacks of the kernel, and one of the program, which belongs to the second
	{ stack sh 0 e b a; stack sh 0 e d c | tail -n 3; user_stack m; } |
		tfs-flame -f | diff - <(printf '%s\n' 'sh;m;c;d 1' 'sh;a;b 1')
}

@test "tfs-flame: draws functions side by side, as wide as they are frequent" {
	stacks | tfs-flame >got.svg
	frames <got.svg | diff - <(printf '%s\n' 'b (1 stack, 33.3%) 10 90 393.33' 'a (1 stack, 33.3%) 10 106 393.33' \
		'ls (1 stack, 33.3%) 10 122 393.33' 'c (2 stacks, 66.6%) 403.33 74 786.67' \
		'b (2 stacks, 66.6%) 403.33 90 786.67' 'a (2 stacks, 66.6%) 403.33 106 786.67' \
		'sh (2 stacks, 66.6%) 403.33 122 786.67' 'all (3 stacks, 100.0%) 10 138 1180')
	well_formed got.svg
}

@test "tfs-flame: draws one frame per level for a recursive function, and one for a function that also ends a stack" {
	{ stack s 0 e a; stack s 0 e b a; stack s 0 e a a; stack s 0 e 'a b'; stack s 0 e 'a!'; stack s 0 e b a; } >trace
	tfs-flame -f <trace | diff - <(printf '%s\n' 's;a 1' 's;a;a 1' 's;a;b 2' 's;a b 1' 's;a! 1')
	tfs-flame <trace >got.svg
	[ "$(grep -c '<title>a (4 stacks, 66.6%)' got.svg)" = 1 ]
	[ "$(grep -c '<title>a (1 stack, 16.6%)' got.svg)" = 1 ]
	[ "$(frames <got.svg | wc -l)" = 7 ]
}

@test "tfs-flame: escapes hostile names, and the picture stays well-formed" {
	{ stack '<script>&"' 0 e "</title><x a='\"]]>" $'\x01\x02\x7f' $'caf\xc3\xa9' $'\xff\xc3\xed\xa0\x80' $'\xef\xbf\xbe' 'a;b 7' ''
		stack 'a;b' 1 e 'x&amp;y'; } >trace
	tfs-flame <trace >got.svg
	well_formed got.svg
	[ "$(grep -c '<script' got.svg)" = 1 ] # the picture's own
	run -1 grep -c '<x ' got.svg
	grep -q '<title>&lt;script&gt;&amp;&quot; (1 stack' got.svg
	grep -q "<title>&lt;/title&gt;&lt;x a=&apos;&quot;\]\]&gt; (1 stack" got.svg
	grep -qF $'caf\xc3\xa9 (1' got.svg
	grep -q '<title>???? *(1\|<title>?????* (1' got.svg
	[ "$(tfs-flame -f <trace | wc -l)" = 2 ]
	tfs-flame -f <trace | tail -n 1 | grep -q '^a:b;x&amp:y 1$'
}

@test "tfs-flame: shortens a name that does not fit with two dots, and leaves narrow frames empty" {
	for i in $(seq 60); do stack s 0 e "a_function_with_a_long_name_$i"; done | tfs-flame >got.svg
	[ "$(frames <got.svg | wc -l)" = 62 ]
	[ "$(grep -c '></text></g>' got.svg)" = 60 ]
	for i in 1 2 3 4 5 6; do stack s 0 e "a_function_with_a_long_name_$i"; done | tfs-flame >got.svg
	[ "$(grep -c '>a_function_with_a_long_na..</text>\|>a_function_with_a_long_n..</text>' got.svg)" = 6 ]
}

@test "tfs-flame: reports losses in the picture, and on stderr with folded lines" {
	{ stacks; echo '# lost 12 events: 12 overwritten in a full buffer, 0 not written'; } >trace
	tfs-flame <trace | grep -q '>\# lost 12 events: 12 overwritten in a full buffer, 0 not written</text>$'
	run -0 --separate-stderr from trace tfs-flame -f
	[ "$stderr" = 'tfs-flame: # lost 12 events: 12 overwritten in a full buffer, 0 not written' ]
	[ "${#lines[@]}" = 2 ]
}

@test "tfs-flame: exits 1 without a picture if there is no stack" {
	stack sh 0 e a | head -n 1 >trace
	run -1 --separate-stderr from trace tfs-flame
	[ "$output$stderr" = "tfs-flame: no stack in the trace" ]
	stack sh 0 e a | sed -n 2p >trace
	run -1 --separate-stderr from trace tfs-flame
	[ "$output$stderr" = "tfs-flame: no stack in the trace" ]
	run -1 from /dev/null tfs-flame -f
	echo ' => a' >trace
	run -1 from trace tfs-flame -f
}

@test "tfs-flame: handles a hundred thousand stacks, deep stacks, lines of megabytes and cut lines" {
	n=100000 # each function of a tenth would be wide enough to be drawn
	awk -v n="$n" 'BEGIN { for (i = 0; i < n; i++)
		printf "%16s-1       [000] ..... 1.5: <stack trace>\n => f%d\n => g%d\n", "x", i, i % 100 }' >many
	tfs-flame -f <many >got
	file_has "$n" got
	tfs-flame <many >got.svg
	[ "$(grep -c '<title>g[0-9]* ('$((n / 100))' stacks, 1.0%)' got.svg)" = 100 ]
	[ "$(wc -c <got.svg)" -lt 100000 ]
	{ stack s 0 e a; seq 20000 | sed 's/^/ => f/'; stack s 0 e "$(head -c 100000 /dev/zero | tr '\0' '<')"
		stack s 0 e b | tr -d '\n'; } >trace
	tfs-flame <trace >got.svg
	well_formed got.svg
	tfs-flame -f <trace | cut -c 1-20 | diff - <(printf '%s\n' 's;<<<<<<<<<<<<<<<<<<' 's;f20000;f19999;f199')
	{ stacks | awk '{ for (i = 1; i <= length($0); i++) print substr($0, 1, i) }'; stacks; } | tfs-flame >got.svg
	well_formed got.svg
	stack sh 0 e a b | tr ab 'a\000' | tfs-flame >got.svg
	well_formed got.svg
}

@test "tfs-flame: draws the times of tfs-diff -f as wide as the longer one, in two colours" {
	printf '%s\n' 'a;blocked;pipe 10 30' 'a;blocked;<disk> 20 5' 'a;running 50 50' 'b;x 0 0' >lines
	tfs-flame lines >got.svg
	well_formed got.svg
	grep -o "<g class='[bls]'[^>]*><title>[^<]*" got.svg | sed "s/' [^>]*><title>/ /; s/.*'//" >frames
	diff -u - frames <<-'END'
		l &lt;disk&gt; (20 us, 15 us less than before, 20.0%)
		b pipe (30 us, 20 us more than before, 30.0%)
		b blocked (50 us, 5 us more than before, 50.0%)
		s running (50 us, 50.0%)
		s a (100 us, 5 us more than before, 100.0%)
		s all (100 us, 5 us more than before, 100.0%)
	END
	grep -q 'width: the longer time of both, in 4 stacks' got.svg
	# a trace is none of these lines
	{ stack sh 0 e a b; echo 'a;b 1 2'; } | tfs-flame -f | diff - <(echo 'sh;b;a 1')
}

@test "tfs-flame: kernel: prints five stacks for five forks" {
	need_tracefs options/stacktrace
	calls 10 1 5
	watch_whole trace_event --pid "$CALLS" -e sched_process_fork --stack
	tfs-flame -f -k event <got >folded
	cat folded
	[ "$(awk '{ n += $NF } END { print n }' folded)" = 5 ]
	[ "$(grep -vc '^sched_process_fork;.*\(_fork\|_clone\)' folded)" = 0 ]
	tfs-flame <got | grep -q '>5 stacks</text>$'
}

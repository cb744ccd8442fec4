#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-timeline: draws bars as long as their times, and a well-formed picture for any names

load helper

USAGE='tfs-timeline [-c] [-n LANES]'

misuse() {
	fails 100 "tfs-timeline: fatal: $1; usage: $USAGE" "${@:2}"
}

# event COMM-PID CPU TIME TEXT: Print an event line.
event() {
	printf '%16s-%-7d [%03d] ..... %s: %s\n' "${1%-*}" "${1##*-}" "$2" "$3" "$4"
}

# switch CPU TIME PREV-PID NEXT-PID: Print a switch.
switch() {
	event "$3" "$1" "$2" "sched_switch: prev_comm=${3%-*} prev_pid=${3##*-} prev_prio=120 prev_state=S ==> next_comm=${4%-*} next_pid=${4##*-} next_prio=120"
}

trace() {
	switch 0 1.000000 '<idle>-0' sh-7
	event sh-7 0 1.000250 'e: x=1'
	switch 0 1.000500 sh-7 ls-8
	switch 0 1.001000 ls-8 '<idle>-0'
}

# bars: Print "NAME X WIDTH" for each bar of the picture on stdin.
bars() {
	sed -n "s/^<g><title>\([^<]*\)<.*x='\([0-9.]*\)' y='[0-9.]*' width='\([0-9.]*\)'.*/\1: \2 \3/p"
}

well_formed() {
	need_tool python3
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"
}

@test "tfs-timeline: --help prints the synopsis and the purpose" {
	helps tfs-timeline "$USAGE" "draw a trace as a timeline, in SVG"
}

@test "tfs-timeline: --version prints name and version" {
	run -0 --separate-stderr tfs-timeline --version
	[[ $output =~ ^tfs-timeline\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	[ -z "$stderr" ]
}

@test "tfs-timeline: refuses an invalid number, and operands" {
	misuse 'no such option: -x' tfs-timeline -x
	misuse "not a number: '0'" tfs-timeline -n 0
	misuse "unexpected operand 'file'" tfs-timeline file
}

# bats test_tags=quick
@test "tfs-timeline: draws the expected picture of one event, byte for byte" {
	event sh-7 0 5.250000 'e: x=1' | tfs-timeline >got.svg
	grep -v 'stroke=' got.svg | diff - <(cat <<-'EOF'
		<?xml version='1.0' encoding='UTF-8'?>
		<svg xmlns='http://www.w3.org/2000/svg' width='1200' height='114' viewBox='0 0 1200 114'>
		<style>text{font:12px monospace}g:hover rect{stroke:#000}</style>
		<rect width='100%' height='100%' fill='#f8f8f8'/>
		<text x='10' y='20'>1 event from 5.250000 s</text>
		<text x='170' y='40'>0 us</text>
		<text x='374' y='40'>0 us</text>
		<text x='578' y='40'>0 us</text>
		<text x='782' y='40'>0 us</text>
		<text x='986' y='40'>0 us</text>
		<text x='10' y='66'>sh-7</text>
		<g><title>e at 0 us</title><rect x='170' y='51' width='0.5' height='21'/></g>
		</svg>
	EOF
	)
	well_formed got.svg
}

@test "tfs-timeline: draws a lane for each task with bars from switch to switch, and other events as ticks" {
	trace | tfs-timeline >got.svg
	bars <got.svg | diff - <(printf '%s\n' 'cpu 000 at 0 us, 500 us: 170 510' 'e at 250 us: 425 0.5' \
		'cpu 000 at 500 us, 500 us: 680 510')
	grep -qx "<text x='10' y='66'>sh-7</text>" got.svg
	grep -qx "<text x='10' y='90'>ls-8</text>" got.svg
	grep -qx "<text x='10' y='20'>4 events from 1.000000 s</text>" got.svg
}

@test "tfs-timeline: -c: draws a lane for each CPU with the tasks that ran there" {
	{ trace; event sh-7 1 1.000750 'e: x=1'; } | tfs-timeline -c >got.svg
	bars <got.svg | diff - <(printf '%s\n' 'sh-7 at 0 us, 500 us: 170 510' 'ls-8 at 500 us, 500 us: 680 510' \
		'e at 250 us: 425 0.5' 'e at 750 us: 935 0.5')
	grep -qx "<text x='10' y='66'>cpu 000</text>" got.svg
	grep -qx "<text x='10' y='90'>cpu 001</text>" got.svg
}

@test "tfs-timeline: draws no bar for a switch that was not recorded" {
	{ trace; switch 0 1.002000 tail-9 sh-7; switch 0 1.003000 sh-7 ls-8; } | tfs-timeline | bars |
		diff - <(printf '%s\n' 'cpu 000 at 0 us, 500 us: 170 170' 'cpu 000 at 2000 us, 1000 us: 850 340' \
			'e at 250 us: 255 0.5' 'cpu 000 at 500 us, 500 us: 340 170')
}

@test "tfs-timeline: draws no bar over lost events" {
	{ switch 0 1.000000 sh-7 tail-9; echo 'CPU:0 [LOST 300 EVENTS]'; switch 0 9.000000 tail-9 sh-7; } |
		tfs-timeline | bars >got
	run -1 grep 'at 0 us' got
}

@test "tfs-timeline: draws a latency of tfs-latency as a bar that ends at the event, in the lane of the waiting task" {
	{ event sh-7 0 1.000000 'sys_read(fd: 1)'; event sh-7 0 1.000100 'sys_read -> 0x1'
		event sh-7 0 1.000100 'sys_read(fd: 1)'; event sh-7 0 1.001000 'sys_read -> 0x1'; } >events
	tfs-latency syscalls <events | tfs-timeline | bars |
		diff - <(printf '%s\n' 'sys_exit_read at 0 us, 100 us: 170 102' 'sys_exit_read at 100 us, 900 us: 272 918')
	{ event sh-7 0 1.000000 'sched_wakeup: comm=ls pid=8 prio=120 target_cpu=000'
		switch 0 1.001000 sh-7 ls-8; } >events
	tfs-latency wakeup <events | tfs-timeline >got.svg
	bars <got.svg | diff - <(echo 'sched_switch at 0 us, 1000 us: 170 1020')
	grep -q '>ls-8</text>' got.svg
}

@test "tfs-timeline: reads JSON as it reads text, and prints no unit for counter clocks" {
	{ echo '{"ts":1.000000000,"cpu":0,"pid":7,"comm":"sh","system":"s","event":"e","fields":{"x":1}}'
		echo '{"ts":1.000001250,"cpu":0,"pid":7,"comm":"sh","system":"s","event":"f","fields":{"lat":0.250}}'; } |
		tfs-timeline | bars | diff - <(printf '%s\n' 'f at 1 us, 0.25 us: 986 204' 'e at 0 us: 170 0.5')
	{ event sh-7 0 10 'e: x=1'; event sh-7 0 20 'f: lat=5'; } | tfs-timeline >got.svg
	bars <got.svg | diff - <(printf '%s\n' 'f at 5, 5: 680 510' 'e at 0: 170 0.5')
	grep -q '>2 events from 10</text>' got.svg
}

@test "tfs-timeline: draws the longest of the bars that begin in one pixel, and counts the others" {
	n=$(so_many 100000)
	awk -v n="$n" 'BEGIN { for (i = 0; i < n; i++)
		printf "%16s-%-7d [000] ..... 1.%06d: e: n=%d\n", "x", 1, i, i }' >many
	tfs-timeline <many >got.svg
	[ "$(grep -c '<g>' got.svg)" -le 1021 ]
	[ "$(bars <got.svg | sed 's/.*and \([0-9]*\) more.*/\1/' | awk '{ n += $1 + 1 } END { print n }')" = "$n" ]
	[ "$(wc -c <got.svg)" -lt 200000 ]
	well_formed got.svg
}

@test "tfs-timeline: draws no more lanes than -n allows, and reports the rest" {
	{ for i in $(seq 99); do event "t$i-$i" 0 "1.0000$(printf %02d "$i")" 'e: x=1'; done
		event t50-50 0 1.000100 'e: x=1'; } >events
	tfs-timeline <events >got.svg
	[ "$(grep -c '>t[0-9]*-[0-9]*</text>' got.svg)" = 64 ]
	grep -q '>35 lanes more, with less in them, are not shown</text>' got.svg
	tfs-timeline -n 1 <events >got.svg
	[ "$(grep -c '>t[0-9]*-[0-9]*</text>' got.svg)" = 1 ]
	grep -q '>t50-50</text>' got.svg
}

@test "tfs-timeline: keeps the picture well-formed for hostile names and lines" {
	{ event $'<a&\'">-1' 0 1.0 'e: x=1'; event $'\xff\x01]]>-2' 0 1.1 'e: x=1'; event $'\xef\xbf\xbf-3' 0 1.2 'e: lat=99999999999999999999'
		event t-4 0 1.3 'e: lat=18446744073709551615'; event t-4 0 1.4 'e: lat=-5'; event t-4 0 18446744073.709551615 'e: lat=x'
		event t-4 0 99999999999999999999 'e: x=1'; switch 0 1.5 'a-0' "b-$(head -c 100 /dev/zero | tr '\0' 9)"
		switch 0 1.6 "b-$(head -c 100 /dev/zero | tr '\0' 9)" c-1
		trace | awk '{ for (i = 1; i <= length($0); i++) print substr($0, 1, i) }'
		echo '{"ts":1.5,"event":"e"}'
		trace | tr -d '\n'; } >events
	tfs-timeline <events >got.svg
	well_formed got.svg
	tfs-timeline -c <events >got.svg
	well_formed got.svg
	grep -q '&lt;a&amp;&apos;&quot;&gt;-1' <(tfs-timeline <events)
}

@test "tfs-timeline: reports losses in the picture, and exits 1 without a picture if there is no event" {
	{ trace; echo '# lost 12 events: 12 overwritten in a full buffer, 0 not written'; } | tfs-timeline |
		grep -q '># lost 12 events: 12 overwritten in a full buffer, 0 not written</text>$'
	run -1 --separate-stderr from /dev/null tfs-timeline
	[ -z "$output$stderr" ]
}

@test "tfs-timeline: kernel: draws a lane for each task of a session" {
	need_tracefs events/sched/sched_switch
	calls 10 1 5
	start_session trace_event --output fifo --pid "$CALLS" -e sched_switch sched_process_exit
	read_by cat >got
	release
	session_ends
	finishes "$READER" 0
	tfs-timeline <got >got.svg
	[ "$(grep -c '<title>sched_process_exit at ' got.svg)" = 6 ]
}

@test "tfs-timeline: draws no long bar for a task that is named lat=99999" {
	printf '%16s-%-7d [000] ..... %s: sched_switch: prev_comm=a lat=99999 prev_pid=%d prev_prio=120 prev_state=S ==> next_comm=a lat=99999 next_pid=%d next_prio=120\n' \
		'a lat=99999' 7 1.000000 7 8 b 8 1.000010 8 7 >trace
	tfs-timeline <trace >svg
	# the background, and one bar
	[ "$(grep -c '<rect' svg)" = 2 ]
	grep -q '<title>cpu 000 at 0 us, 10 us</title>' svg
}

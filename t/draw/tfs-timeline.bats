#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2154 # run sets stderr
# tfs-timeline: draws bars as long as their times, and a well-formed picture for any names

load ../helper

# event COMM-PID CPU TIME TEXT: Print an event line.
event() {
	printf '%16s-%-7d [%03d] ..... %s: %s\n' "${1%-*}" "${1##*-}" "$2" "$3" "$4"
}

# switch CPU TIME PREV-PID NEXT-PID [STATE]: Print a switch.
switch() {
	event "$3" "$1" "$2" "sched_switch: prev_comm=${3%-*} prev_pid=${3##*-} prev_prio=120 prev_state=${5:-S} ==> next_comm=${4%-*} next_pid=${4##*-} next_prio=120"
}

trace() {
	switch 0 1.000000 '<idle>-0' sh-7
	event sh-7 0 1.000250 'e: x=1'
	switch 0 1.000500 sh-7 ls-8
	switch 0 1.001000 ls-8 '<idle>-0'
}

# bars: Print "NAME X WIDTH" for each bar of the picture on stdin.
bars() {
	sed -n "s/^<g class='[^']*' data-f.*<title>\([^<]*\)<.title><rect x='\([0-9.]*\)' y='[0-9.]*' width='\([0-9.]*\)'.*/\1: \2 \3/p"
}

# labels: Print the labels of the rows of the picture on stdin, headings with "* ".
labels() {
	sed -n "s/^<g class='label'>.*>\([^<]*\)<.text><.g>$/\1/p; s/^<g class='label group'>.*>\([^<]*\)<.text><.g>$/* \1/p"
}

# ticks: Print the labels of the axis at the top of the picture on stdin, with commas between.
ticks() {
	sed -n "/^<g class='head'/,\$ s/^<text x='[0-9.]*' y='86'>\([^<]*\)<.*/\1/p" | paste -sd,
}

well_formed() {
	need_tool python3
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"
}

# bats test_tags=quick
@test "tfs-timeline: draws the expected picture of one event, byte for byte" {
	event sh-7 0 5.250000 'e: x=1' | tfs-timeline >got.svg
	# the style and the script are the same in each picture
	sed '/^<style>/,/^<.style>/d; /^<script>/,/^.*<.script>/d' got.svg | diff - <(cat <<-'EOF'
		<?xml version='1.0' encoding='UTF-8'?>
		<svg xmlns='http://www.w3.org/2000/svg' class='lanes' width='1226' height='172' viewBox='0 0 1226 172' data-n='0' data-left='190' data-digits='6'>
		<title>Timeline</title>
		<rect class='bg' width='100%' height='100%'/>
		<g class='grid' data-top='90' data-bottom='114'>
		<path d='M190 90V114'/>
		</g>
		<g class='axis' data-y='128'>
		<text x='190' y='128'>0 ns</text>
		</g>
		<g class='label'><title>sh-7</title><text x='10' y='108'>sh-7</text></g>
		<g class='e' data-f='0' data-n='0'><title>e at 0 ns</title><rect x='190' y='94' width='0.5' height='7'/></g>
		<g class='head' data-height='90'>
		<rect class='bg' width='100%' height='90'/>
		<text class='t' x='10' y='24'>Timeline</text>
		<text class='detail' x='10' y='44'>1 event from 5.250000 s</text>
		<g class='key'><rect class='e' x='10' y='54' width='12' height='10'/><text x='26' y='63'>event</text></g>
		<g class='axis' data-y='86'>
		<text x='190' y='86'>0 ns</text>
		</g>
		</g>
		</svg>
	EOF
	)
	well_formed got.svg
	event sh-7 0 5.250000 'e: x=1' | tfs-timeline | cmp - got.svg
}

@test "tfs-timeline: draws a lane for each task with bars from switch to switch, and other events as ticks" {
	trace | tfs-timeline >got.svg
	bars <got.svg | diff - <(printf '%s\n' 'cpu 000 at 0 ns, 500 us: 190 500' 'e at 250 us: 440 0.5' \
		'cpu 000 at 500 us, 500 us: 690 500')
	labels <got.svg | diff - <(printf '%s\n' sh-7 ls-8)
	grep -qx "<text class='detail' x='10' y='44'>4 events from 1.000000 s</text>" got.svg
}

@test "tfs-timeline: -T: sets the title, which the head shows as far as it fits" {
	trace | tfs-timeline -T "<b> & 'c'" >got.svg
	well_formed got.svg
	grep -qx '<title>&lt;b&gt; &amp; &apos;c&apos;</title>' got.svg
	grep -qx "<text class='t' x='10' y='24'>&lt;b&gt; &amp; &apos;c&apos;</text>" got.svg
}

@test "tfs-timeline: labels round times with one unit: 1, 2 or 5 times a power of ten" {
	{ event a-1 0 1.000000000 'e: x=1'; event a-1 0 1.000000009 'e: x=1'; } | tfs-timeline | ticks |
		diff - <(echo '0 ns,1 ns,2 ns,3 ns,4 ns,5 ns,6 ns,7 ns,8 ns,9 ns')
	{ event a-1 0 1.000000 'e: x=1'; event a-1 0 1.000023 'e: x=1'; } | tfs-timeline | ticks |
		diff - <(echo '0 us,5 us,10 us,15 us,20 us')
	{ event a-1 0 1.000000 'e: x=1'; event a-1 0 1.001000 'e: x=1'; } | tfs-timeline | ticks |
		diff - <(echo '0.0 ms,0.1 ms,0.2 ms,0.3 ms,0.4 ms,0.5 ms,0.6 ms,0.7 ms,0.8 ms,0.9 ms,1.0 ms')
	{ event a-1 0 1.000000 'e: x=1'; event a-1 0 1.123456 'e: x=1'; } | tfs-timeline | ticks |
		diff - <(echo '0 ms,20 ms,40 ms,60 ms,80 ms,100 ms,120 ms')
	{ event a-1 0 1.000000 'e: x=1'; event a-1 0 4001.000000 'e: x=1'; } | tfs-timeline | ticks |
		diff - <(echo '0 s,500 s,1000 s,1500 s,2000 s,2500 s,3000 s,3500 s,4000 s')
	{ event a-1 0 7 'e: x=1'; event a-1 0 49 'e: x=1'; } | tfs-timeline | ticks |
		diff - <(echo '0,5,10,15,20,25,30,35,40')
	# each label has a line of the grid
	{ event a-1 0 1.000000 'e: x=1'; event a-1 0 1.001000 'e: x=1'; } | tfs-timeline >got.svg
	[ "$(grep -c "^<path d='M[0-9.]* 90V114'/>$" got.svg)" = 11 ]
}

@test "tfs-timeline: shows what a task does while it does not run: it waits, is blocked or asleep" {
	{ switch 0 1.000 a-7 b-8 R; switch 0 1.001 b-8 a-7 D; switch 0 1.002 a-7 b-8 S
		switch 0 1.004 b-8 a-7 R+
		event a-7 0 1.005 'sched_wakeup_new: comm=c pid=9 prio=120 target_cpu=001'
		switch 1 1.006 '<idle>-0' c-9 R; switch 1 1.007 c-9 '<idle>-0' X
		switch 0 1.008 a-7 b-8 S
		event b-8 0 1.009 'sched_waking: comm=a pid=7 prio=120 target_cpu=000'
		event b-8 0 1.0095 'sched_wakeup: comm=a pid=7 prio=120 target_cpu=000'
		switch 0 1.010 b-8 a-7 S; } >events
	tfs-timeline -a <events >got.svg
	bars <got.svg | grep -v '^cpu' | diff - <(printf '%s\n' 'waiting at 0 ns, 1 ms: 190 100' 'asleep at 2 ms, 2 ms: 390 200' \
		'asleep at 8 ms, 1 ms, woken by b-8: 990 100' 'waiting at 9 ms, 1 ms: 1090 100' 'blocked at 1 ms, 1 ms: 290 100' \
		'waiting at 4 ms, 4 ms: 590 400' 'waiting at 5 ms, 1 ms: 690 100')
	grep -o "<rect class='[a-z]' x='[0-9]*' y='54'.*" got.svg | sed 's/.*>\([^<]*\)<.text.*/\1/' |
		diff - <(printf '%s\n' running 'waiting for a CPU' 'blocked, as on disk' asleep wake-up)
	# JSON has the state as a number: 0 and 256 are R, 1 is S, 2 is D, 16 is X
	sed 's/^.*: sched_switch: prev_comm=\(.*\) prev_pid=\(.*\) prev_prio=120 prev_state=\(.*\) ==> next_comm=\(.*\) next_pid=\(.*\) next_prio.*/\1 \2 \3 \4 \5/; /sched_w/d' events |
		awk -v t=0 '{ n["R"] = 0; n["R+"] = 256; n["S"] = 1; n["D"] = 2; n["X"] = 16
			printf "{\"ts\":1.00%d,\"cpu\":%d,\"pid\":%d,\"comm\":\"%s\",\"event\":\"sched_switch\",\"fields\":{\"prev_comm\":\"%s\",\"prev_pid\":%d,\"prev_state\":%d,\"next_comm\":\"%s\",\"next_pid\":%d}}\n", t++, /idle/, $2, $1, $1, $2, n[$3], $4, $5 }' >json
	tfs-timeline -a <json | bars | grep -o '^[wba][a-z]*' | uniq -c |
		diff -w - <(printf '%s\n' '1 waiting' '2 asleep' '1 blocked' '1 waiting')
}

@test "tfs-timeline: a task that is woken while it leaves its CPU waits for one, unless another wake-up comes" {
	{ switch 0 0.999 c-9 a-7
		event b-8 1 1.000 'sched_waking: comm=a pid=7 prio=120 target_cpu=000'
		switch 0 1.001 a-7 c-9 S; switch 0 1.003 c-9 a-7 S
		# it went on before it slept
		event b-8 1 1.004 'sched_waking: comm=a pid=7 prio=120 target_cpu=000'
		switch 0 1.005 a-7 c-9 S
		event b-8 1 1.008 'sched_waking: comm=a pid=7 prio=120 target_cpu=000'
		switch 0 1.010 c-9 a-7 S; } | tfs-timeline -a >got.svg
	sed -n '/>a-7</,/class=.label/p' got.svg | bars | grep -v '^cpu\|^sched' | diff - <(printf '%s\n' 'waiting at 2 ms, 2 ms: 371.81 181.82' \
		'asleep at 6 ms, 3 ms, woken by b-8: 735.45 272.73' 'waiting at 9 ms, 2 ms: 1008.18 181.82')
}

# arrows: Print "NAME: PATH" and whether it is hidden, for each arrow of the picture on stdin.
arrows() {
	sed -n "s/^<path class='a' .* d='\([^']*\)'\([^>]*\)><title>\([^<]*\)<.*/\3: \1\2/p"
}

@test "tfs-timeline: draws an arrow from a waker to where the woken task runs, and none for an interrupt" {
	{ switch 0 1.000 a-7 b-8 S; switch 1 1.000 '<idle>-0' c-9 R
		event b-8 0 1.200 'sched_waking: comm=a pid=7 prio=120 target_cpu=001'
		switch 0 1.201 b-8 '<idle>-0' S; switch 1 1.300 c-9 a-7 S
		event a-7 1 1.400 'sched_waking: comm=c pid=9 prio=120 target_cpu=000' | sed 's/ \.\.\.\.\. / d.h2. /'
		# a soft interrupt is that of the task within a call only
		event a-7 1 1.500 'sched_waking: comm=b pid=8 prio=120 target_cpu=000' | sed 's/ \.\.\.\.\. / d.s2. /'
		switch 0 1.600 '<idle>-0' b-8 R; switch 0 1.603 b-8 '<idle>-0' S
		event a-7 1 1.604 'sys_enter: NR 1 (1, 2, 3, 0, 0, 0)'
		event a-7 1 1.605 'sched_waking: comm=b pid=8 prio=120 target_cpu=000' | sed 's/ \.\.\.\.\. / d.s2. /'
		switch 0 2.000 '<idle>-0' b-8 R; } >events
	tfs-timeline -a <events >got.svg
	well_formed got.svg
	# down or up, from the time of the wake-up to that of the switch; a short wait is hidden at first
	arrows <got.svg | diff - <(printf '%s\n' 'b-8 wakes a-7 at 200 ms, after 200 ms: M390 116L490 112m-3 5l3 -5l3 5' \
		"a-7 wakes b-8 at 605 ms, after 2 ms: M795 112L1190 116m-3 -5l3 5l3 -5 display='none'")
	bars <got.svg | grep -o '^asleep.*woken by [^:]*' | sort | diff - <(printf '%s\n' 'asleep at 0 ns, 200 ms, woken by b-8' \
		'asleep at 201 ms, 299 ms, woken by interrupt' 'asleep at 300 ms, 100 ms, woken by interrupt' \
		'asleep at 603 ms, 2 ms, woken by a-7')
	grep -q "<rect class='a' .*>wake-up</text>" got.svg
	# after a loss, nothing is known of who waits; a lane for each CPU has no arrows
	sed '1a CPU:0 [LOST 3 EVENTS]' events | tfs-timeline -a | arrows | grep -c 'b-8 wakes' | diff - <(echo 0)
	tfs-timeline -a -c <events | arrows | diff - /dev/null
	# lanes that are not shown have none
	tfs-timeline -a -n 2 <events >two.svg
	[ "$(arrows <two.svg | wc -l)" = 2 ]
	tfs-timeline -a -n 1 <events | arrows | diff - /dev/null
}

@test "tfs-timeline: of five thousand tasks that wake each other, draws the thousand longest waits, and shows fifty" {
	awk 'BEGIN { for (i = 0; i < 5000; i++) {
			t = 1 + i / 1000
			printf "%16s-%-7d [000] d..2. %.6f: sched_switch: prev_comm=t prev_pid=%d prev_prio=120 prev_state=S ==> next_comm=t next_pid=%d next_prio=120\n", "t", i + 1, t, i + 1, i + 2
			if (i > 99)
				printf "%16s-%-7d [000] d..4. %.6f: sched_waking: comm=t pid=%d prio=120 target_cpu=000\n", "t", i + 2, t + 0.0005, i - 99
		} }' >events
	tfs-timeline -a -n 5000 <events >got.svg
	well_formed got.svg
	[ "$(arrows <got.svg | wc -l)" = 1000 ]
	[ "$(arrows <got.svg | grep -vc hidden\\\|none)" = 50 ]
}

@test "tfs-timeline: shows no state of a task over lost events, or if tfs-latency has left out switches" {
	{ switch 0 1.000 a-7 b-8 D; echo 'CPU:0 [LOST 3 EVENTS]'; switch 0 1.001 b-8 a-7; } |
		tfs-timeline | bars >got
	run -1 grep blocked got
	{ switch 0 1.000 a-7 b-8 D | sed 's/$/ lat=1/'; switch 0 1.001 b-8 a-7 | sed 's/$/ lat=1/'; } |
		tfs-timeline | bars >got
	run -1 grep blocked got
	# an event of a task proves that it runs
	{ switch 0 1.000 a-7 b-8 S; event a-7 1 1.001 'e: x=1'; switch 0 1.002 b-8 a-7; } |
		tfs-timeline | bars >got
	run -1 grep asleep got
}

@test "tfs-timeline: leaves out tasks that the session did not trace, -a draws them" {
	# between other-8 and third-9, the kernel has recorded no switch
	{ switch 0 1.1 traced-7 other-8; switch 0 1.2 third-9 traced-7; switch 0 1.3 traced-7 kworker/0:1-5
		switch 0 1.4 kworker/0:1-5 traced-7; switch 0 1.5 traced-7 fourth-6; switch 0 1.6 fourth-6 traced-7; } >events
	tfs-timeline <events >got.svg
	# the trace does not tell whether fourth-6 was traced
	labels <got.svg | diff - <(printf '%s\n' traced-7 fourth-6)
	grep -q '>1 task that was not traced is left out</text>$' got.svg
	tfs-timeline -a <events >got.svg
	labels <got.svg | diff - <(printf '%s\n' traced-7 kworker/0:1-5 fourth-6)
	run -1 grep 'left out' got.svg
	# the CPUs show all of them
	tfs-timeline -c <events | bars | grep -c kworker | diff - <(echo 1)
}

@test "tfs-timeline: draws a decoded call from its beginning to its return, under its name" {
	event sh-7 0 1.000000 'openat(AT_FDCWD, "/x", O_RDONLY) = 3 <0.002000>' |
		tfs-timeline | bars | diff - <(echo 'openat at 0 ns, 2 ms: 190 1000')
}

@test "tfs-timeline: the picture in README.md is that of its trace" {
	tfs-timeline -T 'tfs-run trace_syscalls --slower 100us -- ./slow' <"$TREE/t/data/slow.txt" |
		cmp - "$TREE/t/data/slow.svg"
	[ "$(wc -c <"$TREE/t/data/slow.svg")" -le 30000 ]
	labels <"$TREE/t/data/slow.svg" | sed 's/-.*//' | diff - <(printf '%s\n' slow sh sleep)
}

@test "tfs-timeline: draws the threads of a process below its name" {
	# the column of thread groups
	{ event main-7 0 1.0 'e: x=1'; event other-5 0 1.1 'e: x=1'; event b-9 0 1.2 'e: x=1'; event a-8 0 1.3 'e: x=1'; } |
		sed 's/-7 /-7 (      7) /; s/-5 /-5 (      5) /; s/-8 /-8 (      7) /; s/-9 /-9 (      7) /' >events
	tfs-timeline <events >got.svg
	labels <got.svg | diff - <(printf '%s\n' '* main (7)' main-7 b-9 a-8 other-5)
	well_formed got.svg
	# the event of new tasks, also with the 0x of options/fields: 8 and 9 are threads
	# (CLONE_THREAD), 5 is a process
	{ event main-7 0 1.0 'task_newtask: pid=8 comm=a clone_flags=3d0f00 oom_score_adj=0'
		event other-5 0 1.1 'e: x=1'; event a-8 0 1.2 'e: x=1'
		event a-8 0 1.3 'task_newtask: pid=9 comm=b clone_flags=0x3d0f00 oom_score_adj=0'
		event a-8 0 1.4 'task_newtask: pid=5 comm=c clone_flags=1200000 oom_score_adj=0'; event b-9 0 1.5 'e: x=1'; } |
		tfs-timeline | labels | diff - <(printf '%s\n' '* main (7)' main-7 a-8 b-9 other-5)
	# without either, a lane for each task
	sed 's/([ 0-9]*) //' events | tfs-timeline | labels | diff - <(printf '%s\n' main-7 other-5 b-9 a-8)
	# hosts of dt-join
	sed 's/^/h1 | /; 2 s/h1/h2/' events | tfs-timeline | labels |
		diff - <(printf '%s\n' '* h1 main (7)' 'h1 main-7' 'h1 b-9' 'h1 a-8' 'h2 other-5')
}

@test "tfs-timeline: -c: draws a lane for each CPU with the tasks that ran there" {
	{ trace; event sh-7 1 1.000750 'e: x=1'; } | tfs-timeline -c >got.svg
	bars <got.svg | diff - <(printf '%s\n' 'sh-7 at 0 ns, 500 us: 190 500' 'ls-8 at 500 us, 500 us: 690 500' \
		'e at 250 us: 440 0.5' 'e at 750 us: 940 0.5')
	labels <got.svg | diff - <(printf '%s\n' 'cpu 000' 'cpu 001')
}

@test "tfs-timeline: draws no bar for a switch that was not recorded" {
	{ trace; switch 0 1.002000 tail-9 sh-7; switch 0 1.003000 sh-7 ls-8; } | tfs-timeline -a | bars | grep -v ^asleep |
		diff - <(printf '%s\n' 'cpu 000 at 0 ns, 500 us: 190 166.66' 'cpu 000 at 2 ms, 1 ms: 856.66 333.34' \
			'e at 250 us: 273.33 0.5' 'cpu 000 at 500 us, 500 us: 356.66 166.67')
}

@test "tfs-timeline: draws no bar of a task over the event of another one on its CPU" {
	{ switch 0 1.0 traced-7 other-8; event third-9 0 1.1 'sched_waking: comm=traced pid=7 prio=120 target_cpu=001'
		switch 0 1.2 other-8 traced-7; } >events
	tfs-timeline -a <events | bars | grep ^cpu | diff - /dev/null
	# a decoded call is told when it has returned, perhaps on another CPU
	sed '2 s/sched_waking:.*/getpid() = 9 <0.000100>/' events | tfs-timeline -a | bars | grep -c ^cpu | diff - <(echo 1)
}

@test "tfs-timeline: draws no bar over lost events" {
	{ switch 0 1.000000 sh-7 tail-9; echo 'CPU:0 [LOST 300 EVENTS]'; switch 0 9.000000 tail-9 sh-7; } |
		tfs-timeline | bars >got
	run -1 grep 'at 0 ns' got
}

@test "tfs-timeline: draws a latency of tfs-latency as a bar that ends at the event, in the lane of the waiting task" {
	{ event sh-7 0 1.000000 'sys_read(fd: 1)'; event sh-7 0 1.000100 'sys_read -> 0x1'
		event sh-7 0 1.000100 'sys_read(fd: 1)'; event sh-7 0 1.001000 'sys_read -> 0x1'; } >events
	tfs-latency syscalls <events | tfs-timeline | bars |
		diff - <(printf '%s\n' 'sys_exit_read at 0 ns, 100 us: 190 100' 'sys_exit_read at 100 us, 900 us: 290 900')
	{ event sh-7 0 1.000000 'sched_wakeup: comm=ls pid=8 prio=120 target_cpu=000'
		switch 0 1.001000 sh-7 ls-8; } >events
	tfs-latency wakeup <events | tfs-timeline >got.svg
	bars <got.svg | diff - <(echo 'sched_switch at 0 ns, 1 ms: 190 1000')
	grep -q '>ls-8</text>' got.svg
}

@test "tfs-timeline: reads JSON as it reads text, and prints no unit for counter clocks" {
	{ echo '{"ts":1.000000000,"cpu":0,"pid":7,"comm":"sh","system":"s","event":"e","fields":{"x":1}}'
		echo '{"ts":1.000001250,"cpu":0,"pid":7,"comm":"sh","system":"s","event":"f","fields":{"lat":0.250}}'; } |
		tfs-timeline | bars | diff - <(printf '%s\n' 'f at 1 us, 250 ns: 990 200' 'e at 0 ns: 190 0.5')
	{ event sh-7 0 10 'e: x=1'; event sh-7 0 20 'f: lat=5'; } | tfs-timeline >got.svg
	bars <got.svg | diff - <(printf '%s\n' 'f at 5, 5: 690 500' 'e at 0: 190 0.5')
	grep -q '>2 events from 10</text>' got.svg
	grep -q " data-digits='-1'>$" got.svg
}

@test "tfs-timeline: draws the longest of the bars that begin in one pixel, and counts the others" {
	n=$(so_many 200000) # more than 10,000 in a guest, too
	awk -v n="$n" 'BEGIN { for (i = 0; i < n; i++)
		printf "%16s-%-7d [000] ..... 1.%06d: e: n=%d\n", "x", 1, i, i }' >many
	tfs-timeline <many >got.svg
	[ "$(bars <got.svg | wc -l)" -le 1001 ]
	[ "$(bars <got.svg | sed 's/.*and \([0-9]*\) more.*/\1/' | awk '{ n += $1 + 1 } END { print n }')" = "$n" ]
	[ "$(wc -c <got.svg)" -lt 250000 ]
	well_formed got.svg
	# with 10,000 marks, each is there when the script zooms
	head -n 10000 many | tfs-timeline | bars | grep -vc more | diff - <(echo 10000)
}

@test "tfs-timeline: the bars of a task that runs and waits in turn cover its lane, also if many begin in one pixel" {
	n=$(so_many 100000)
	awk -v n="$n" 'BEGIN { for (i = 0; i <= n; i++)
		printf "%16s-%-7d [000] d..2. 1.%06d: sched_switch: prev_comm=x prev_pid=%d prev_prio=120 prev_state=R ==> next_comm=x next_pid=%d next_prio=120\n",
			"x", 1 + i % 2, i, 1 + i % 2, 2 - i % 2 }' | tfs-timeline -a >got.svg
	for pid in 1 2; do
		sed -n "/>x-$pid<.text>/,/^<g class='\(label\|head\)'.*\(x-2\|data-height\)/p" got.svg | bars |
			sed 's/.*: //' | sort -n | awk 'NR > 1 && $1 > end + 0.2 { print } { end = $1 + $2 }' >gaps
		[ ! -s gaps ]
	done
	[ "$(bars <got.svg | grep -c more)" -gt 1900 ]
}

@test "tfs-timeline: a wake-up is a tick only if no switch shows the wait" {
	event a-7 0 1.009 'sched_waking: comm=b pid=8 prio=120 target_cpu=000' >events
	tfs-timeline <events | bars | diff - <(echo 'sched_waking at 0 ns: 190 0.5')
	{ cat events; switch 0 1.010 a-7 b-8; } | tfs-timeline | bars | diff - <(echo 'waiting at 0 ns, 1 ms: 190 1000')
}

@test "tfs-timeline: draws no more lanes than -n allows, and reports the rest" {
	{ for i in $(seq 99); do event "t$i-$i" 0 "1.0000$(printf %02d "$i")" 'e: x=1'; done
		event t50-50 0 1.000100 'e: x=1'; } >events
	tfs-timeline <events >got.svg
	[ "$(grep -c '>t[0-9]*-[0-9]*</text></g>$' got.svg)" = 64 ]
	grep -q '>35 lanes more, with less in them, are not shown</text>' got.svg
	tfs-timeline -n 1 <events >got.svg
	[ "$(grep -c '>t[0-9]*-[0-9]*</text></g>$' got.svg)" = 1 ]
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
	[ "$output$stderr" = "tfs-timeline: no event in the trace" ]
}

@test "tfs-timeline: kernel: draws a lane for each task of a session" {
	need_tracefs events/sched/sched_switch
	calls 10 1 5
	watch_whole trace_event --pid "$CALLS" -e sched_switch sched_process_exit
	tfs-timeline <got >got.svg
	[ "$(grep -c '<title>sched_process_exit at ' got.svg)" = 6 ]
	# the parent and its children
	[ "$(labels <got.svg | grep -c '^calls-[0-9]*$')" = 6 ]
}

@test "tfs-timeline: draws no long bar for a task that is named lat=99999" {
	printf '%16s-%-7d [000] ..... %s: sched_switch: prev_comm=a lat=99999 prev_pid=%d prev_prio=120 prev_state=S ==> next_comm=a lat=99999 next_pid=%d next_prio=120\n' \
		'a lat=99999' 7 1.000000 7 8 b 8 1.000010 8 7 >trace
	tfs-timeline <trace >svg
	bars <svg | grep -v '^asleep' | diff - <(echo 'cpu 000 at 0 ns, 10 us: 190 1000')
}

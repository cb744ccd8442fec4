#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2154 # run sets stderr
# filters: read the text of other programs, and say which lines they do not understand

load ../helper

# same TEXT: Fail unless the text on stdin is this one.
same() {
	diff <(printf '%s\n' "$1") -
}

# What the kernel, trace-cmd report, perf script and systrace print for four events: 3 wakes 8
# after 100 us, 8 runs after 297 more.
bodies() {
	cat <<-'EOF'
		1 4.000100: sched_switch: prev_comm=a:b prev_pid=3 prev_prio=120 prev_state=S ==> next_comm=x next_pid=4 next_prio=120
		4 4.000200: sched_wakeup: comm=r s:1 pid=8 prio=120 target_cpu=000
		4 4.000300: sched_wakeup: comm=a:b pid=3 prio=120 target_cpu=000
		4 4.000497: sched_switch: prev_comm=x prev_pid=4 prev_prio=120 prev_state=R ==> next_comm=r s:1 next_pid=8 next_prio=120
	EOF
}

# The same as trace-cmd prints it: with its plugin, and with -R.
plugin_bodies() {
	sed 's/[a-z_]*comm=\([^=]*\) [a-z_]*pid=\([0-9]*\) [a-z_]*prio=\([0-9]*\)/\1:\2 [\3]/g
		s/prev_state=//; s/target_cpu=/'"$1"'CPU:/'
}

raw_bodies() {
	sed 's/prev_state=S ==>/prev_state=1/; s/prev_state=R ==>/prev_state=0/; s/cpu=000/cpu=0/'
}

# fields_bodies: the same as the kernel's option fields prints it
fields_bodies() {
	raw_bodies | sed 's/=1 /=0x1 (1) /; s/=0 /=0x0 (0) /
		s/pid=3 /pid=0x3 (3) /; s/pid=4 /pid=0x4 (4) /; s/pid=8 /pid=0x8 (8) /'
}

# waits: The latencies of 8 and of 3, which has not run again.
waits() {
	tfs-latency wakeup | sed -n 's/.* \(lat=.*\)/\1/p; /^#/p' |
		same 'lat=297
# unpaired 3 events: 2 without an end, 1 without a beginning'
}

@test "filters: read names in column 0, thread groups that are not known, and dashes for flags" {
	cat >systrace <<-'EOF'
		RenderThread-1143  (  611) [004] ...1 514769.085985: tracing_mark_write: B|611|draw
		          <idle>-0     (-----) [002] d..3 514769.086339: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=Binder_5 next_pid=1158 next_prio=120
		Binder_4-280   (  184) [002] d..5 514769.186330: sched_wakeup: comm=Binder_5 pid=1158 prio=120 success=1 target_cpu=002
		          <idle>-0     (-----) [002] d..3 514769.186339: sched_switch: prev_comm=swapper/2 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=Binder_5 next_pid=1158 next_prio=120
	EOF
	tfs-count -k comm -k pid -k cpu -k event <systrace | same '      2 <idle>	0	002	sched_switch
      1 Binder_4	280	002	sched_wakeup
      1 RenderThread	1143	004	tracing_mark_write'
	tfs-count -k success -k target_cpu <systrace | same '      3 -	-
      1 1	002'
	sed 1,2d systrace | tfs-latency wakeup | grep -c 'lat=9$'
}

@test "filters: read every form of a line's head, whatever the name of the task contains" {
	names=('a' 'two words' 'x-1' '-1' 'a-1 [0] 1.0: b' 'k:1-e' '<...>' '(1)' '[000]' ') [0' 'sixteen-letters')
	for name in "${names[@]}"; do
		printf '%16s-%-7d [005] d..2. 7.000001: e: n=1\n' "$name" 42
		printf '%16s-%-5d [1234] 7.000001: e: n=1\n' "$name" 42
		printf '%16s-%-7d (%7d) [005] ..... 7.000001: e: n=1\n' "$name" 42 41
		printf '%16s-%-7d (-------) [005]    7.000001: e: n=1\n' "$name" 42
		printf '%s-%d   (   41) [005] ...1 7.000001: e: n=1\n' "$name" 42
		printf '     %16s-%-7d [005] d..2. 7.000001: e: n=1\n' "$name" 42
		printf '%s-%d\t[005]\td..2.\t7.000001:\te:\tn=1\tm=2\n' "$name" 42
		printf '%16s-%-7d [005] ..... 7000: e: n=1\r\n' "$name" 42
		printf '%16s-%-7d   5d.h2. 1234us!: e: n=1\n' "$name" 42
		printf '%16s-%-7d   5.....   12us : e: n=1\n' "$name" 42
		printf '%16s-%-7d 105d..1.    12: e: n=1\n' "$name" 42
		printf '%16s-%-5d  5d..2.   670.301463: e:  n=1\n' "$name" 42
		printf '%16s-%-5d  5-0x9   670.301463: e:  n=1\n' "$name" 42
		printf '%16s-%-7d   5d.h2.  651.850306+: e: n=1\n' "$name" 42
	done >lines
	# without a dash, a name that looks like a head is one
	unset 'names[4]'
	for name in "${names[@]}"; do
		printf '%16s %5d [005]   650.379603: sys:e: n=1\n' "$name" 42
		printf '%16s %5d/%-5d [005]   650.379603:    1 sys:e: n=1\n' "$name" 41 42
	done >dashless
	[ "$(tfs-count -k n -k pid -k event <lines)" = '    154 1	42	e' ]
	[ "$(tfs-count -k n -k pid -k event <dashless)" = '     20 1	42	e' ]
	cat dashless lines | tfs-count -k comm | same "$(printf '     16 %s\n' "${names[@]}" |
		LC_ALL=C sort)
     14 a-1 [0] 1.0: b"
	cat dashless lines | tfs-count -k cpu | same '     97 005
     55 5
     11 105
     11 1234'
}

@test "filters: read the texts of trace-cmd, perf and the kernel's options alike" {
	bodies >plain
	plugin_bodies '' <plain >plugin
	plugin_bodies 'success=1 ' <plain >older
	raw_bodies <plain >raw
	fields_bodies <plain >fields
	sed 's/target/success=1 target/' plain >success
	for form in plain plugin older raw fields success; do
		sed 's/^\(.\) /             a:b-\1     [000]     /' "$form" | waits
		sed 's/^\(.\) /     a:b-\1       0d..2.   /; s/e:/(+3)    &/2' "$form" | waits
		sed 's/^\(.\) \([0-9.]*\): */             a:b  \1 [000] \2: sched:/' "$form" | waits
		sed 's/^\(.\) [0-9.]*\(...\):/     a:b-\1       0d..2. \2us+:/' "$form" | waits
		sed "s/ /$(printf '\t')/g;"'s/^\(.\)\t\([0-9.]*\)/a:b-\1\t[000]\td..1\t\2/' "$form" | waits
	done
}

@test "filters: read the rcu task's wait of 297 us from trace-cmd's plugin form" {
	tfs-latency wakeup >got <<-'EOF'
		cpus=1
		       trace-cmd-101   [000]    65.763545: sched_switch:         trace-cmd:101 [120] S ==> trace-cmd:102 [120]
		       trace-cmd-102   [000]    65.764965: sched_wakeup:         rcu_sched:8 [120] success=1 CPU:000
		       trace-cmd-102   [000]    65.765130: sched_wakeup:         ksoftirqd/0:7 [120] success=1 CPU:000
		       trace-cmd-102   [000]    65.765262: sched_switch:         trace-cmd:102 [120] R ==> rcu_sched:8 [120]
	EOF
	[ "$(grep -c . got)" = 2 ]
	[ "$(grep -c 'rcu_sched:8 \[120\] lat=297$' got)" = 1 ]
}

@test "filters: draw the stacks of trace-cmd report, whose frames begin in column 0" {
	cat >stacks <<-'EOF'
		          stress-30222 [000]   670.301463: sched_waking:         comm=m pid=1262 prio=120 target_cpu=000
		          stress-30222 [000]   670.301466: kernel_stack:         <stack trace >
		=> try_to_wake_up (ffffffff813aa9c4)
		=> hrtimer_wakeup (ffffffff814204ce)
		stress-30222   0d.h2.   670.301563: sched_waking:         comm=m pid=1262 prio=120 target_cpu=000
		stress-30222   0d.h2.   670.301566: kernel_stack:         <stack trace >
		=> try_to_wake_up (ffffffff813aa9c4)
		=> hrtimer_wakeup (ffffffff814204ce)
		          stress-30222 [000]   670.301663: kernel_stack:          size=1 caller=ARRAY[2c, e5]
	EOF
	tfs-flame -a -f <stacks | same 'stress;hrtimer_wakeup;try_to_wake_up 2'
	tfs-count <stacks | same '      2 sched_waking'
}

@test "filters: read the lines of osnoise, timerlat, hwlat and latency tracers, which name no event" {
	cat >rtla <<-'EOF'
		# tracer: timerlat
		          <idle>-0       [000] d.h1.    54.029328: #1     context    irq timer_latency       932 ns
		           <...>-867     [000] .....    54.029339: #1     context thread timer_latency     11700 ns
		      timerlat/1-868     [001] d.h..    54.029346: #1     context    irq timer_latency      2833 ns
		       osnoise/0-961     [000] .....    81.637220:    1000000          190     99.98100         9       18         0     1007        18        1
		           <...>-1729    [001] d....   678.473449: #1     inner/outer(us):   11/12    ts:1581527483.343962693 count:6
		      timerlat/1-868     [001] .....    54.029353: thread_noise:     kworker/1:1:55 start 54.029346000 duration 1200 ns
	EOF
	tfs-count <rtla | same '      3 timerlat
      1 hwlat
      1 osnoise
      1 thread_noise'
	tfs-count -k context -k timer_latency -k seqnum <rtla | same '      2 -	-	-
      1 -	-	1
      1 irq	2833	1
      1 irq	932	1
      1 thread	11700	1'
	tfs-count -k runtime -k noise -k available -k thread_count <rtla | sed 1d |
		same '      1 1000000	190	99.98100	1'
	tfs-count -k inner -k outer -k count <rtla | sed 1d | same '      1 11	12	6'
	cat >tracers <<-'EOF'
		  <idle>-0         1dNh1.   12us!: raw_spin_unlock <-wake_up
		  <idle>-0         1dNh1.   13us+: f+0x4/0x20 [mod] <-g+0x1/0x2
		  <idle>-0         1dNh1.   14us : f(a=0x1, b=2) <-g
		  <idle>-0         1d..1.   15us : f
		  <idle>-0         1d..1.   16us :    123:120:R ==> [001]   456:  0:S sleep me
		  <idle>-0         1d..1.   17us :    123:120:R   + [001]   456:  0:S sleep me
		  <idle>-0         1d..1.   18us : <stack trace>
		 => f
		            bash-1       [001] .....    19.000000: # 1 buf: 0a 0b
		            bash-1       [001] .....    19.000000: osnoise: noise:190	max_sample:9	hw:18	nmi:0	irq:1007	softirq:18	thread:1
	EOF
	tfs-count -k event -k func -k caller <tracers | same '      1 context_switch	-	-
      1 function	f	-
      1 function	f	g
      1 function	f+0x4/0x20	g+0x1/0x2
      1 function	raw_spin_unlock	wake_up
      1 osnoise	-	-
      1 raw_data	-	-
      1 wakeup	-	-'
	tfs-count -k next_comm -k next_pid -k noise -k thread_count <tracers | same '      5 -	-	-	-
      2 sleep me	456	-	-
      1 -	-	190	1'
}

# two FILE...: Print how many waits the traces in the files have, and of which hosts their events are.
two() {
	cat "$@" >both
	tfs-latency wakeup <both | sed -n 's/.*lat=/lat=/p; /^#/p' | sort | uniq -c | sed 's/^ *//'
	tfs-count -k host <both | sed 's/^ *//'
}

@test "filters: read the name of a file in front of lines as a host, so two traces are not paired" {
	bodies | sed 's/^\(.\) /             a:b-\1     [000] d..2. /' >a-1:2.txt
	sed 's/4\.000/4.100/; s/497:/397:/' a-1:2.txt >b.txt
	echo '# lost 3 events: 3 were overwritten before they could be read' >>b.txt
	cat >want <<-'EOF'
		1 # unpaired 6 events: 4 without an end, 2 without a beginning
		1 lat=197
		1 lat=297
		4 a-1:2.txt
		4 b.txt
	EOF
	{ cat want; tail -n 1 b.txt; } >want.lost
	sed -i '1i 1 # lost 3 events: 3 were overwritten before they could be read' want.lost
	sed 's/^#/b.txt:#/' want.lost >want.grep
	tail -v -n +1 a-1:2.txt b.txt >of-tail
	two of-tail | diff want.lost -
	grep sched a-1:2.txt b.txt >of-grep
	two of-grep | diff want -
	grep -n sched a-1:2.txt b.txt >number
	two number | diff want -
	grep -n -C1 wakeup a-1:2.txt b.txt >context
	two context | diff want -
	# processes with the same pid are of two hosts, too
	for file in a b; do
		echo "              sh-1       [000] .....     4.000001: task_newtask: pid=7 comm=$file clone_flags=1200000 oom_score_adj=0" >$file.fork
		echo "               $file-7       [000] .....     4.100000: sched_process_exit: comm=$file pid=7 prio=120 group_dead=true" >>$file.fork
	done
	{ grep new ./*.fork; grep exit: ./*.fork; } | tfs-process | awk 'NR > 1 { print $1, $4, $5 $6, $NF }' | sort | same '4.000001 7 99.9ms [a]
4.000001 7 99.9ms [b]'
	# one file has no name, and JSON may have one
	grep -n sched b.txt >one
	tfs-count -k host <one 2>&1 | sed 1q | same '      4 -'
	printf 'a.json:%s\n' '{"ts":1.0,"cpu":1,"pid":1,"comm":"a","event":"e","fields":{"n":1}}' |
		tfs-count -k host -k n | same '      1 a.json	1'
	# trace-cmd report of several files
	sed 's/^/a.dat: /; s/ d..2//' a-1:2.txt >a.dat
	sed 's/^/b.dat: /; s/ d..2//; /#/d; $a b.dat: cpus=2' b.txt >b.dat
	two a.dat b.dat | sed 's/dat/txt/; s/a\.txt/a-1:2.txt/' | diff want -
	tfs-count -k comm <both | same '      8 a:b'
}

@test "filters: a name of a task is no name of a file and no stamp of a log" {
	for name in 'a: \x1b\x1b\x1b123' '[ 0.123456] \x1b' 'x kernel: \x1b' 'a:#\x1b\x1b\x1b\x1b' 'a:=> \x1b\x1b\x1b'; do
		printf '%16s-%-7d [005] d..2. 7.000001: e: n=1\n' "$name" 42
	done >in
	tfs-count -k host <in 2>&1 | sed 1q | same '      5 -'
	tfs-count -k n <in | same '      5 1'
	[ "$(tfs-count -k comm <in | wc -l)" = 5 ]
}

@test "filters: read a dump in the kernel's log, with its lost events" {
	cat >dump <<-'EOF'
		Dumping ftrace buffer:
		---------------------------------
		    sh-1         0d..2. 1000100us : sched_wakeup: comm=w pid=7 prio=120 target_cpu=000
		  <idle>-0         0d..2. 1000110us : sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=w next_pid=7 next_prio=120
		    sh-1         0d..2. 1000200us : sched_wakeup: comm=v pid=8 prio=120 target_cpu=000
		CPU:0 [LOST 500 EVENTS]
		  <idle>-0         0d..2. 1000210us : sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=v next_pid=8 next_prio=120
		---------------------------------
	EOF
	tfs-latency wakeup <dump | sed 's/.*lat=/lat=/' >want
	diff - want <<-'EOF'
		lat=10
		CPU:0 [LOST 500 EVENTS]
		# unpaired 2 events: 1 without an end, 1 without a beginning; 2 because events are missing
	EOF
	for stamp in '[   95.123456] ' '[195.123456][ T123] ' '<0>[   95.123456][    C1] ' '[Sat Nov 28 15:00:00 2026] ' \
		'Nov 28 15:00:00 here kernel: ' 'Nov 28 15:00:00 here kernel: [   95.123456] '; do
		[[ $stamp != '[195'* ]] || stamp="[  ${stamp#[}"
		awk -v stamp="$stamp" '{ print stamp $0 }' dump >log
		tfs-latency wakeup <log | sed 's/.*lat=/lat=/; s/.*CPU/CPU/' | diff want -
		tfs-count -k comm <log | same '      2 <idle>
      2 sh'
	done
	tfs-count -k host <log | same '      4 here'
	# a journal cuts the spaces in front
	sed 's/^ *//; s/^/Nov 28 15:00:00 here kernel: /' dump | tfs-latency wakeup | sed 's/.*lat=/lat=/; s/.*CPU/CPU/' | diff want -
}

@test "filters: read lines with CRLF and a byte order mark" {
	bodies | sed 's/^\(.\) /             a:b-\1     [000] d..2. /; s/$/\r/' >in
	sed -i "1s/^/$(printf '\xef\xbb\xbf')/; \$a # lost 3 events\r" in
	tfs-latency wakeup <in | tr '\r' '!' | tail -n 3 | sed 's/.*lat/lat/' | same 'lat=297
# lost 3 events
# unpaired 3 events: 2 without an end, 1 without a beginning'
	printf '\xef\xbb\xbf{"ts":1.0,"cpu":1,"pid":1,"comm":"a","event":"e","fields":{"n":1}}\r\n' |
		tfs-count -k n | same '      1 1'
}

@test "filters: read the forms of perf script, with and without CPU, and its frames" {
	cat >perf <<-'EOF'
		# captured on    : Sat Nov 28 15:40:15 2026
		         a 1 2-3    21 [001]    12.000100:               sched:sched_waking: comm=b pid=22 prio=120 target_cpu=000
		swapper     0 [000]     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x120bb08) @ 0xffffffff81000000]: x [kernel.kallsyms]_text
		         a 1 2-3    21 [001]    12.000200:                raw_syscalls:sys_exit: NR 2 = -2
	EOF
	# -L cuts a name to eight bytes
	for form in 's/$//' 's/12\.000\(...\)/12.000\1000/' 's/ \[001\]//' 's/ *a 1/a 1/; s/ \[001\]//' \
		's/\[001\]/[001] K  /' 's/ 21 / 21\/21 /' 's/: NR/:             NR/' 's/00: */00:     1 /' \
		's/ *a 1 2-3 *21 \[001\]/ a 1 2-3    21   1/' \
		's/[0-9]$/& ffffffff81417d70 exit_work+0x1c ([kernel.kallsyms])/' \
		's/[0-9]$/&     7ff92987eb1d operator new(int)/'; do
		sed "$form" perf >in
		tfs-count -k comm -k pid -k event -k .pid -k target_cpu <in | same '      1 a 1 2-3	21	sched_waking	22	000
      1 a 1 2-3	21	sys_exit	-	-' || { cat in; return 1; }
	done
	echo 'sh 21  1.000100: syscalls:sys_exit_openat: 0xfffffffffffffffe     7ff92987eb1d open64' |
		tfs-count -k ret | same '      1 0xfffffffffffffffe'
	cat >stacks <<-'EOF'
		bash 21 [001]  12.000100:     250000 cpu-clock:pppH: 
		_	ffffffff8152f2a4 do_filp_open+0xc3 ([kernel.kallsyms])
		_	    7f3175206231 operator new(unsigned long)+0x7 (/usr/lib/libc.so.6)
		_	               0 [unknown] ([unknown])

		bash 21  12.000200:     250000 cpu/event=0x3c/u: 
		_	ffffffff8152f2a4 do_filp_open ([kernel.kallsyms])

	EOF
	sed -i 's/^_//' stacks
	tfs-count <stacks | same '      1 cpu-clock
      1 cpu/event=0x3c/'
	tfs-flame -a -f <stacks | sed 's/ ([0-9]*)//' | same 'bash;0;operator new(unsigned long);do_filp_open 1
bash;do_filp_open 1'
	# a name in a field that looks like the head of the kernel's line
	printf '  = 21 [001] 12.000100: sched:sched_waking: comm=%s pid=22 prio=120 target_cpu=000\n' '-1 [0] 7.0:' '-1 0d..2 7:' |
		tfs-count -k comm -k pid -k event -k .pid | same '      2 =	21	sched_waking	22'
	# without the file, with the line of the source, with blanks in a name
	cat >frames <<-'EOF'
		bash 21 [001]  12.000100: syscalls:sys_exit_openat: 0x3
		_	           f8011 std::function<int (int)>::operator()(int) const
		_	74735f6369736162 [unknown]
		PERF_RECORD_FINISHED_ROUND
		bash 21 [001]  12.000100: syscalls:sys_exit_openat: 0x3
		_	           f8011 std::function<int (int)>::operator()(int) const+0x51 (/tmp/a (b)/libc.so.6)
		_  open64.c:41
		_	74735f6369736162 [unknown] (/tmp/a (deleted))
		_  a (deleted)[55d53db71d0c]
		bash 21 [001]  12.000100: syscalls:sys_exit_openat: 0x3
		_	           f8011 std::function<int (int)>::operator()(int) const (/usr/bin/a)
		_  ??:0
		_	74735f6369736162 [unknown] ([unknown])
	EOF
	sed -i 's/^_//' frames
	tfs-count <frames | same '      3 sys_exit_openat'
	tfs-flame -a -f <frames |
		same 'bash;74735f6369736162;std::function<int (int)>::operator()(int) const 3'
	# events that perf has lost
	sed '3s/.*/swapper     0 [000]     12.000150: PERF_RECORD_LOST lost 3/' perf |
		tfs-latency -s sched_waking -e sys_exit | grep -c 'PERF_RECORD_LOST\|^# unpaired 2'
}

@test "filters: read the names of tasks that begin in column 0 with a brace, and JSON beside them" {
	{
		printf '{"a-42   ( 41) [005] d..2 7.000001: e: n=1\n'
		printf '{-1 [0-42       5d..2. 1234us!: e: n=1\n'
		printf '{}-42 [005] 7.000001: e: n=1\n'
		echo '{"ts":1.0,"cpu":5,"pid":42,"comm":"{","event":"e","fields":{"n":1}}'
		echo '{"lost":3}'
		echo '{"a":1}'
	} >in
	tfs-count -k comm -k pid -k n <in | same '      1 {	42	1
      1 {"a	42	1
      1 {-1 [0	42	1
      1 {}	42	1
{"lost":3}
{"not_understood":1,"because":"1 line: 1 of JSON that are no events; the first is line 6"}'
}

@test "filters: say that perf script --deltatime has no times" {
	for i in 0 5 3 8 1 2 9 1 4 2; do
		echo "            bash 21 [001]     0.00000$i: syscalls:sys_enter_read: fd=$i"
	done >in
	tfs-latency syscalls <in | tail -n 1 | same '# not understood 6 lines: 6 with the time since the event before, as of perf script --deltatime; the first is line 5'
	# two traces of perf are in order, but the second begins before the first
	for i in 5 6 7 1 2 3; do
		echo "            bash 21 [001]    1$i.000000: syscalls:sys_enter_read: fd=1"
	done | tfs-count | same '      6 sys_enter_read'
}

@test "filters: read the summary of trace-cmd report -w, and user stacks whose first frame is behind the title" {
	cat >in <<-'EOF'
		            bash-12    [001]   100.000000: sched_wakeup:         worker:77 [120] CPU:000
		          <idle>-0     [000]   100.000500: sched_switch:         swapper/0:0 [120] R ==> worker:77 [120] Latency: 500.000 usecs
		          worker-77    [000]   100.000600: sys_enter_getppid:
		          worker-77    [000]   100.000600: user_stack:           	=> 0x7fc3d155fca3
		_	=> 0x7fc3d155fca4
		_	=> 0x0

		Average wakeup latency: 892.640 usecs
		Maximum Latency: 96366.055 usecs at timestamp: 1782.031355
		Minimum Latency: 1.222 usecs at timestamp: 1782.089333

		RT task timings:

	EOF
	sed -i 's/^_//' in
	tfs-count -k latency <in | same '      2 -
      1 500.000'
	tfs-flame -a -f <in | same 'worker;0x7fc3d155fca4;0x7fc3d155fca3 1'
}

@test "filters: read markers with an offset, an address or no function, as the kernel and trace-cmd print them" {
	for name in tracing_mark_write tracing_mark_write+0x220/0x428 0 0xffffffff8149ab1a \
		'tracing_mark_write+0x220/0x428 <ffffffff8149ab1a>' 'mod_mark_write+0x1/0x2 [mod] <ffffffff8149ab1a>' \
		'print: 0xffffffff8149ab1a' 'print: tracing_mark_write+0x1/0x2' print; do
		for text in 'B|1|a slice' 'E'; do
			echo "            bash-1       [001] .....    19.000000: $name: $text"
		done >in
		run -0 tfs-count <in
		[[ $output != *'not understood'* ]]
		tfs-perfetto <in | tr -c '[:print:]' '\n' | grep -c 'a slice' || { cat in; return 1; }
		[ "$(tfs-perfetto <in | tr -c '[:print:]' '\n' | grep -c 'B|1')" = 0 ]
	done
	printf '            bash-1       [001] .....    19.000000: %s\n' 'fn+0x220/0x428: text' 'fn: text' |
		tfs-count | same '      2 fn'
	printf '            bash-1       [001] .....    19.000000: %s\n' 'print: ip=0xffffffff8149ab1a buf=B|1|x' |
		tfs-perfetto | tr -c '[:print:]' '\n' | grep -cx 'x'
}

# Lines of each kind that a filter cannot read; and one event.
strange() {
	cat <<-'EOF'
		# tracer: nop
		version = 6
		cpus=2
		CPU 1 is empty
		CPU:0 [3 EVENTS DROPPED]

		            bash-1       [001] .....    19.000000: e: n=1
		 => a_frame
		sched_switch: prev_comm=head prev_pid=31725 prev_prio=120
		31739 1 651849487086 # ffffffff8149ab1a hello
		            bash-1       [001] ..... : e: n=1
		            bash-1       [001] .....    19.000000: what is this
		 0)   1.500 us    |    f();
		{"ts":1.0,"cpu":1}
	EOF
}

SAID='6 lines: 2 without task, CPU and time in front; 1 without a time after the CPU; 1 without an event after the time; 1 of function_graph, which tfs-slower reads; 1 of JSON that are no events; the first is line 9'

@test "filters: the last line says how many lines are not understood, and why" {
	strange >in
	for filter in 'tfs-count' 'tfs-hist -k n' 'tfs-summary' 'tfs-latency -s e -e f' 'tfs-latency wakeup'; do
		$filter <in >got || [ $? = 1 ]
		tail -n 1 got | same "# not understood $SAID"
	done
	tfs-perfetto <in | grep -ac "# not understood $SAID"
	tfs-timeline <in | grep -c ">.*not understood $SAID<"
	{ cat in; echo ' => f'; sed -n 7p in; } >stack
	run -1 --separate-stderr from in tfs-flame
	[ "$stderr" = "tfs-flame: # not understood $SAID
tfs-flame: no stack in the trace" ]
	run -1 --separate-stderr from in dt-window
	[ "$stderr" = "dt-window: not understood, and treated like the event before: $SAID
dt-window: no event of a request in the trace" ]
	run -0 --separate-stderr dt-join a=in
	[ "$stderr" = "dt-join: in: not understood, and joined as they are: $SAID" ]
	# a filter after a filter repeats the line
	tfs-latency wakeup <in | tfs-count | tail -n 1 | same "# not understood $SAID" || [ $? = 1 ]
}

@test "filters: in JSON the last line is JSON, and lines that are not events on purpose do not count" {
	cat >in <<-'EOF'
		{"ts":1.0,"cpu":1,"pid":1,"comm":"a","event":"e","fields":{"n":1}}
		{"ts":1.0,"cpu":1,"lost":3}
		{"lost":3,"overwritten":3,"unwritten":0}
		{"name":"slice","ph":"X","ts":3}
	EOF
	tfs-count <in | same '      1 e
{"lost":3,"overwritten":3,"unwritten":0}
{"not_understood":1,"because":"1 line: 1 of JSON that are no events; the first is line 4"}'
	sed '$d' in | tfs-count | same '      1 e
{"lost":3,"overwritten":3,"unwritten":0}'
}

@test "filters: repeat each line that says what the trace lacks, in text and JSON" {
	cat >lacks <<-'EOF'
		# not known: bytes
		# strings are addresses: no BPF
		# 1 reads of /proc were cut or left out: names or paths are missing
		# 2 tasks were made in a cgroup and ended before it was known in which: they are missing if it was a selected one
		# 3 requests of io_uring are not shown: they make no system calls
		# lost 4 events: 4 overwritten in a full buffer, 0 not written
		# unwritten 5 lines: the reader took nothing
	EOF
	cat >lacks.json <<-'EOF'
		{"comment":"not known: bytes"}
		{"comment":"strings are addresses: no BPF"}
		{"unread":1}
		{"unplaced":2}
		{"io_uring":3}
		{"lost":4,"overwritten":4,"unwritten":0}
	EOF
	{
		echo '              sh-1       [000] d..2. 1.000000: sys_exit_x: ret=0 lat=5 n=1'
		echo '              sh-1       [000] d..2. 1.000000: sched_switch: prev_comm=sh prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=x next_pid=4 next_prio=120'
		cat lacks
	} >in
	{
		echo '{"ts":1.0,"cpu":1,"pid":1,"comm":"a","event":"sys_exit_x","fields":{"ret":0,"lat":5,"n":1}}'
		cat lacks.json
	} >in.json
	for filter in tfs-count 'tfs-hist -k n' tfs-summary tfs-why 'tfs-latency wakeup'; do
		$filter <in >got || [ $? = 1 ]
		grep '^#' got | grep -v '^# \(unpaired\|not in\|no number\|events without a time\)' | diff lacks - || { echo "$filter"; return 1; }
	done
	for filter in tfs-count 'tfs-hist -k n' tfs-summary; do
		$filter <in.json >got || [ $? = 1 ]
		grep '^{' got | diff lacks.json - || { echo "$filter"; return 1; }
	done
}

@test "tfs-seccomp: refuses a trace with lines that it does not understand, unless -f is given" {
	{ echo '              sh-1       [000] .....     1.0: sys_getppid()'; strange; } >in
	run -111 --separate-stderr from in tfs-seccomp
	[ -z "$output" ]
	[[ $stderr == 'tfs-seccomp: fatal: not understood: 6 lines: '*'; the profile may lack their calls: give the trace alone, or -f' ]]
	run -0 --separate-stderr from in tfs-seccomp -f
	[[ $output == *'"getppid"'* ]]
	[[ $stderr == 'tfs-seccomp: not understood: 6 lines: '* ]]
}

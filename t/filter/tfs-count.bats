#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC1003,SC2154 # the expected text ends with a backslash
# tfs-count: counts events by key, in text and JSON; it leaves out nothing silently

load ../helper

USAGE='tfs-count [-bcHjM] [-i MS] [-k KEY]... [-n N] [-s count|name] [FILE]'

# counts EXPECTED ARGUMENT...: Count the trace on stdin, and compare "N VALUES" lines.
counts() {
	tfs-count "${@:2}" | sed 's/^ *//' | diff <(printf '%s\n' "$1") -
}

text() {
	cat <<-'EOF'
		# tracer: nop
		#
		#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
	EOF
	cat <<-'EOF'
	              ls-31534   [001] d..2. 58694.570132: sched_switch: prev_comm=ls prev_pid=31534 prev_prio=120 prev_state=D ==> next_comm=swapper/1 next_pid=0 next_prio=120
	             a b-7       [000] d..2. 58694.570133: sched_switch: prev_comm=a b prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=ls next_pid=31534 next_prio=120
	              ls-31534   (  31534) [001] ..... 58694.570140: sys_openat(dfd: 0xffffff9c, filename: 0x7f00, flags: 0x80000, mode: 0)
	              ls-31534   [001] ..... 58694.570141: sys_openat -> 0xfffffffffffffffe
	              ls-31534   [001] 58694.570142: sched_process_exec: filename=/usr/bin/ls pid=31534 old_pid=31534
	CPU:1 [LOST 3 EVENTS]
	           <...>-12      [010] d..1. 58694.570143: ext4_sync_file_enter <-vfs_fsync_range
	              ls-31534   [001] ..... 58694.570144: <stack trace>
	 => do_syscall_64
	              ls-31534   [001] ..... 58694.570150: my_probe: (do_sys_open+0x0/0x30) path="a b=c" mode=0x1
	# lost 12 events: 12 overwritten in a full buffer, 0 not written
	EOF
}

json() {
	cat <<-'EOF'
		{"ts":1.000000001,"cpu":0,"pid":5,"comm":"a\"b","system":"sched","event":"sched_switch","fields":{"prev_comm":"x,y}","prev_pid":5,"next_comm":"z","list":[1,[2]]}}
		{"ts":1.000000002,"cpu":1,"lost":204}
		{"ts":1.000000003,"cpu":1,"pid":6,"comm":null,"system":"syscalls","event":"sys_enter_openat","fields":{"dfd":1,"pid":9,"comm":"c\\"}}
		{"lost":7,"overwritten":7,"unwritten":0}
	EOF
}

@test "tfs-count: --every counts the events since the last time, and loses none" {
	mkfifo trace
	exec 9<>trace
	background tfs-count --every 5ms -k .n <trace >got 9>&-
	for i in {1..300}; do
		echo "          a-1  [000] .....  1.000001: e: n=$((i % 3))"
	done >&9
	eventually grep -q '^# .* no event$' got
	echo '          a-1  [000] .....  2.000001: e: n=0' >&9
	exec 9>&-
	finishes "$PID" 0
	awk '!/^#/ { n[$3] += $2 } END { for (k in n) print k, n[k] }' got | sort >sums
	lines_are sums '0 101
1 100
2 100'
}

@test "tfs-count: sorts by name" {
	for name in b a c b; do
		echo "          a-1  [000] .....  1.000001: $name: n=1"
	done | tfs-count -s name >got
	lines_are got '      1 a
      2 b
      1 c'
}

@test "tfs-count: --help, also after other options, lists the options, one line each" {
	cat >want <<-'END'
		usage: tfs-count [-bcHjM] [-i MS] [-k KEY]... [-n N] [-s count|name] [FILE]
		tfs-count - count the events of a trace by the values of a key

		  -k, --key KEY         count by KEY: event (default), comm, pid, cpu, time, or
		                        a field
		  -n, --top N           print only the N most frequent values
		  -s, --sort count|name
		                        the most frequent value first (default), or by name
		  -i, --every MS        print a table every MS milliseconds, of the events since
		                        then
		  -M, --metrics         print metrics for Prometheus instead, when the trace
		                        ends
		  -c, --calls           count each system call once, also if it was recorded
		                        twice
		  -b, --begins          the trace has the beginning of each call that seccomp(2)
		                        let pass
		  -H, --header          print a header, and system calls without sys_enter_
		  -j, --json            print a JSON object for each line
	END
	for words in --help -h '-k x --help' '-n 3 -h' '-h --nosuch' '--help -x'; do
		# shellcheck disable=SC2086 # words
		tfs-count $words >got
		cmp want got
	done
	run -1 tfs-count -k --help </dev/null
	[ "$output" = "tfs-count: no event in the trace" ]
	fails 100 "tfs-count: fatal: unexpected operand '--help'; usage: $USAGE" tfs-count a --help
}

# bats test_tags=quick
@test "tfs-count: text: counts events by name, the most frequent first and losses last" {
	text | counts '2 sched_switch
1 function
1 my_probe
1 sched_process_exec
1 sys_enter_openat
1 sys_exit_openat
# lost 12 events: 12 overwritten in a full buffer, 0 not written'
}

@test "tfs-count: text: prints numbers as wide as uniq -c does" {
	text >trace
	[ "$(tfs-count -n 1 <trace | head -n 1)" = '      2 sched_switch' ]
}

@test "tfs-count: -H prints a header, and system calls without sys_enter_" {
	text >trace
	tfs-count -H -k event -k pid <trace | head -n 6 >got
	exactly got $'  count event\tpid
      1 function\t12
      1 my_probe\t31534
      1 sched_process_exec\t31534
      1 sched_switch\t31534
      1 sched_switch\t7
'
	tfs-count -H -n 2 -k call -k event <trace >got
	exactly got $'  count call\tevent
      2 -\tsched_switch
      1 -\tfunction
# lost 12 events: 12 overwritten in a full buffer, 0 not written
'
	grep openat trace | tfs-count -H >got
	lines_are got '  count event
      1 openat
      1 sys_exit_openat'
	for name in a_b a ''; do
		event=sys_enter_$name
		printf '{"ts":1.0,"pid":1,"event":"%s","fields":{"x":"%s"}}\n' "$event" "$event"
	done >trace
	tfs-count -H -k event -k x -k pid <trace >got
	exactly got $'  count event\tx\tpid
      1 sys_enter_\tsys_enter_\t1
      1 a\ta\t1
      1 a_b\ta_b\t1
'
	run -1 tfs-count -H </dev/null
	[ "$output" = "tfs-count: no event in the trace" ]
}

@test "tfs-count: prints a header on a terminal, and none into a pipe or a file" {
	need_tool script
	grep openat <(text) >trace
	script -qec 'tfs-count <trace' /dev/null </dev/null | tr -d '\r' >terminal
	lines_are terminal '  count event
      1 openat
      1 sys_exit_openat'
	tfs-count <trace >file
	tfs-count <trace | cmp file -
	lines_are file '      1 sys_enter_openat
      1 sys_exit_openat'
}

@test "tfs-count: text: counts by task, pid, CPU and time" {
	text | sed '$d' | counts '5 ls	31534	001
1 <...>	12	010
1 a b	7	000' -k comm -k pid -k cpu
	text | sed '$d' | counts '1 58694.570132' -k time -n 1
}

@test "tfs-count: text: counts by fields with spaces, commas, quotes and arrows, and - for a missing field" {
	text | sed '$d' | counts '5 -	-
1 a b	ls
1 ls	swapper/1' -k prev_comm -k next_comm
	text | sed '$d' | counts '6 -
1 0x80000' -k flags
	text | sed '$d' | counts '6 -
1 a b=c' -k path
	text | sed '$d' | counts '5 -
1 0
1 0x1' -k mode
	text | sed '$d' | counts '6 -
1 0xfffffffffffffffe' -k ret
	text | sed '$d' | counts '6 -	-
1 ext4_sync_file_enter	vfs_fsync_range' -k func -k caller
}

@test "tfs-count: says which key no event has" {
	text | counts '7 -
# no event has the key next_com
# lost 12 events: 12 overwritten in a full buffer, 0 not written' -k next_com
	text | counts "$(printf '5 -\t-\n1 -\ta b\n1 -\tls')
# lost 12 events: 12 overwritten in a full buffer, 0 not written" -k next_com -k prev_comm
}

@test "tfs-count: a dot in front selects a field that has the name of a key" {
	text | sed '$d' | counts '6 -
1 31534' -k .pid
	json | counts '1 -
1 9
{"lost":7,"overwritten":7,"unwritten":0}' -k .pid
}

# of TEXT EXPECTED KEY...: Compare an event's values of the keys, separated by tabs.
of() {
	local keys=()
	for key in "${@:3}"; do keys+=(-k "$key"); done
	printf '%16s-%-7d [001] ..... 1.000000: %s\n' sh 5 "$1" >event
	diff <(printf "      1 %s\n" "$2") <(tfs-count "${keys[@]}" <event | grep -v "^# no event")
}

@test "tfs-count: text: does not take a task's name for a field, whatever the name is" {
	of 'sched_switch: prev_comm=a next_pid=1 prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b prev_pid=3 next_pid=8 next_prio=99' \
		$'a next_pid=1\t7\t120\tS\tb prev_pid=3\t8\t99' \
		prev_comm prev_pid prev_prio prev_state next_comm next_pid next_prio
	of 'sched_switch: prev_comm= ==> next_comm= prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm= next_prio=1 next_pid=8 next_prio=99 lat=3' \
		$'7\tR+\t8\t99\t3\t ==> next_comm=' prev_pid prev_state next_pid next_prio lat prev_comm
	of 'sched_switch: prev_comm=x lat=99999 prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=y next_pid=8 next_prio=120' \
		$'-\t8' lat next_pid
	of 'sched_wakeup: comm=a pid=1 prio=1 pid=77 prio=120 target_cpu=003' \
		$'77\t120\t003\ta pid=1 prio=1' .pid prio target_cpu .comm
	of 'sched_process_exit: comm=a pid\x3d1 prio\x3d1 pid=77 prio=120 group_dead=true' \
		$'77\t120\ttrue' .pid prio group_dead
	of 'sched_process_free: comm=a pid\x3d1 prio\x3d1 pid=77 prio=120' $'77\t120' .pid prio
	of 'sched_process_fork: comm=a child_pid\x3d1 pid=7 child_comm=b pid\x3d9 child_pid=8' \
		$'7\t8\tb pid=9' .pid child_pid child_comm
	of 'signal_generate: sig=9 errno=0 code=0 comm=a pid\x3d1 grp\x3d0 pid=7 grp=1 res=0' \
		$'9\t7\t1\ta pid=1 grp=0' sig .pid grp .comm
	of 'task_rename: pid=7 oldcomm=a newcomm\x3db newcomm=newcomm=c oom_score_adj=0' \
		$'7\t0\tnewcomm=c' .pid oom_score_adj newcomm
	of 'task_newtask: pid=7 comm=clone_flags=0 clone_flags=1200011 oom_score_adj=0' \
		$'7\t1200011' .pid clone_flags
	of 'block_rq_issue: 8,16 WS 4096 () 2048 + 8 none,0,0 [dev=9 sector=1]' \
		$'8,16\tWS\t2048\t8\t-' dev rwbs sector nr_sector lat
	of 'block_rq_issue: 8,16 WS 4096 () 2048 + 8 [1 + 2] lat=4] by="a] b" lat=3' \
		$'8,16\t2048\t8\t3\ta] b' dev sector nr_sector lat by
	of 'block_unplug: [a 5 + 6] 1' $'-\t-' sector dev
	of 'block_split: 8,16 W 2048 / 2056 [a / 1 [b]' $'8,16\tW\t2048\ta / 1 [b' dev rwbs sector .comm
	of 'block_bio_remap: 8,16 W 2048 + 8 <- (8,17) 0' $'8,16\tW\t2048\t8' dev rwbs sector nr_sector
	of 'block_rq_complete: 8,16 WS () 2048 + 8 none,0,0 [-5] by="a] [-7" lat=3' \
		$'-5\t-' error .comm
	of 'block_rq_issue: 8,16 WS 4096 () 2048 + 8 none,0,0 [-5]' $'-\t-5' error .comm
}

@test "tfs-count: text: counts an escape in a name as one character" {
	of 'sched_wakeup: comm=\x01\x02\x03\x04\n\t\x1b789012345 pid=7 prio=120 target_cpu=000' \
		$'7\t\\x01\\x02\\x03\\x04\\n\\t\\x1b789012345' .pid .comm
	of 'sched_wakeup: comm=\"b\\c d\x3d\q\x2c pid=7' $'"b\\\\c d=\\\\q,\t7' .comm .pid
}

@test "tfs-count: text: does not take a file's name for a field, whatever the name is" {
	of 'sched_process_exec: filename=/x pid\x3d1 old_pid\x3d2 \"y pid=77 old_pid=78' \
		$'/x pid=1 old_pid=2 "y\t77\t78' filename .pid old_pid
	of 'sched_process_exec: filename=/x pid=77 old_pid=78 path="a pid=1 old_pid=1" by=x lat=5' \
		$'/x\t77\t78\ta pid=1 old_pid=1\t5' filename .pid old_pid path lat
	of 'cgroup_attach_task: dst_root=0 dst_id=5 dst_level=1 dst_path=/a pid\x3d1 comm\x3dx pid=77 comm=sh' \
		$'77\t/a pid=1 comm=x' .pid dst_path
	of 'cgroup_mkdir: root=0 id=5 level=1 path=/a id\x3d6 lat=7' $'5\t/a id=6\t7' id path lat
	of 'open: (do_sys_openat2+0x0/0x90 <- x) path="a\" flags=0x7 ret=9 x=\"" flags=0x8000 ret=3' \
		$'a" flags=0x7 ret=9 x="\t0x8000\t3' path flags ret
	of 'my_probe: (f+0x0/0x90) a="1" n=3 b="x\" n=4" c="y"' $'1\t3\tx" n=4\ty' a n b c
	of 'sys_openat(dfd: 0xffffff9c, filename: 0x7f00 "/a\", flags: 0x1, mode: 7", flags: O_RDONLY, mode: 0)' \
		$'0xffffff9c\t/a", flags: 0x1, mode: 7\tO_RDONLY\t0' dfd filename flags mode
	of 'sys_write(fd: 1, buf: 0x7f00 (61:22, ...) "a\", fd: 2, count: 3"..., count: 0x63)' \
		$'1\t0x63' fd count
}

@test "tfs-count: text that is not ours: a field that a name has as well is missing" {
	of 'sched_process_exec: filename=/x pid=1 pid=77 old_pid=78' $'-\t78' .pid old_pid
	of 'sched_process_exit: comm=a b: c pid=1 pid=77 prio=120' $'-\t120' .pid prio
	of 'open: (do_sys_openat2+0x0/0x90 <- x) path="a" flags=0x7 ret=9 x="" flags=0x8000 ret=3' \
		$'-\t-' flags ret
	of 'my_probe: (f+0x0/0x90) a="1" n=3 b="x" n=4 c="y"' $'1\t-\ty' a n c
}

@test "tfs-count: text: ignores a field that an event has twice with different values" {
	of 'foo: comm=a pid=1 pid=7 prio=2' $'-\t2' .pid prio
	of 'foo: comm=a pid=7 pid=7 prio=2' $'7\t2' .pid prio
}

@test "tfs-count: escapes control characters of foreign text, and prints no tab inside a value" {
	printf '%16s-%-7d [001] ..... 1.000000: foo: name=a\tb\033[31m\n' $'s\tx' 5 >event
	tfs-count -k name -k comm -k pid <event >got
	exactly got $'      1 a\\tb\\x1b[31m\ts\\tx\t5\n'
}

@test "tfs-count: JSON: counts and prints as it does with text" {
	json | counts '1 sched_switch
1 sys_enter_openat
{"lost":7,"overwritten":7,"unwritten":0}'
	json | sed '$d' | counts '1 a"b	0	5
1 null	1	6' -k comm -k cpu -k pid
	json | sed '$d' | counts '1 -
1 x,y}' -k prev_comm
	json | sed '$d' | counts '1 -
1 [1,[2]]' -k list
	json | sed '$d' | counts '1 -
1 c\\' -k .comm
}

@test "tfs-count: -j prints an object for each line, also for what is missing or was lost, and in each interval" {
	text | tfs-count -j -k pid -k comm -k 'a"b' -n 2 >got
	cat >want <<-'END'
		{"events":5,"pid":31534,"comm":"ls","a\"b":null}
		{"events":1,"pid":12,"comm":"<...>","a\"b":null}
		{"comment":"lost 12 events: 12 overwritten in a full buffer, 0 not written"}
	END
	diff want got
	text | tfs-count -j -k nothing | grep -Fqx '{"comment":"no event has the key","key":"nothing"}'
	json | tfs-count -jH -k comm >got
	cat >want <<-'END'
		{"events":1,"comm":"a\"b"}
		{"events":1,"comm":"null"}
		{"lost":7,"overwritten":7,"unwritten":0}
	END
	diff want got
	text | tfs-count -j -k cpu -i 1h | sed 's/:[0-9.]*,/:0,/' >got
	cat >want <<-'END'
		{"seconds":0,"events":5,"cpu":1}
		{"seconds":0,"events":1,"cpu":0}
		{"seconds":0,"events":1,"cpu":10}
		{"comment":"lost 12 events: 12 overwritten in a full buffer, 0 not written"}
	END
	diff want got
}

@test "tfs-count: exits 1 if there is no event, and counts the lines that should be events" {
	printf 'one\n\n{\n{}\n{"event":"x"}\n             sh-\n%s\n# comment\n' \
		'             sh-1  [0] 1.0:' >none
	run -1 --separate-stderr from none tfs-count
	[ "$output" = "# not understood 6 lines: 2 without task, CPU and time in front; 1 without an\
 event after the time; 3 of JSON that are no events; the first is line 1" ]
	[ "$stderr" = "tfs-count: no event in the trace" ]
	run -1 from /dev/null tfs-count
}

@test "tfs-count: counts each of a hundred thousand different values" {
	awk 'BEGIN { for (i = 0; i < 200000; i++)
		printf "%16s-%-7d [000] ..... 1.%06d: e: n=%d\n", "x", 1, i, i % 100000 }' >many
	tfs-count -k n <many >got
	file_has 100000 got
	[ "$(awk '{ print $1 }' got | sort -u)" = 2 ]
}

@test "tfs-count: lines cut at any byte do no harm" {
	{ text; json; } | awk '{ for (i = 1; i <= length($0); i++) print substr($0, 1, i) }' >parts
	tfs-count -k prev_comm -k .comm -k ret -k event <parts >got
	[ -s got ]
}

@test "tfs-count: ignores SIGINT, so that the trace can end first" {
	mkfifo trace
	exec 9<>trace
	background tfs-count <trace >got 9>&-
	ignores() { grep -q '^SigIgn:.*[2367abef]$' "/proc/$PID/status"; }
	eventually ignores
	kill -INT "$PID"
	text >&9
	exec 9>&-
	finishes "$PID" 0
	[ "$(head -n 1 got)" = '      2 sched_switch' ]
}

@test "tfs-count: kernel: counts as many events of a session as were made" {
	need_tracefs events/syscalls
	calls 1000
	start_session trace_event --output fifo --pid "$CALLS" -e sys_enter_getppid sched_process_exit
	background tfs-count <"$TRACE" >got
	counter=$PID
	release
	session_ends
	finishes "$counter" 0
	[ "$(cat got)" = '   1000 sys_enter_getppid
      1 sched_process_exit' ]
}

@test "tfs-count: reads FILE, or standard input as -, and says what to do with files that are no text" {
	printf '  a-1 [000] ..... 1.000001: x: n=1\n  b-2 [000] ..... 1.000002: x: n=1\n' >trace.txt
	run -0 --separate-stderr tfs-count -k comm trace.txt </dev/null
	[ "$output" = $'      1 a\n      1 b' ]
	run -0 --separate-stderr tfs-count -k comm - <trace.txt
	[ "$output" = $'      1 a\n      1 b' ]
	printf '\027\010\104tracing9\0' >x.dat
	fails 111 "tfs-count: fatal: x.dat is a trace.dat of version 9; only 6 and 7 are supported" \
		tfs-count x.dat
	gzip -k trace.txt
	fails 111 "tfs-count: fatal: trace.txt.gz is compressed, not text; type zcat FILE | tfs-count" \
		tfs-count trace.txt.gz
	[ "$(zcat trace.txt.gz | tfs-count -k comm)" = $'      1 a\n      1 b' ]
	printf 'PERFILE2h\0\0\0' >perf.data
	fails 111 "tfs-summary: fatal: perf.data is a file of perf, not text; type perf script -i FILE | tfs-summary" \
		tfs-summary perf.data
}

@test "tfs-count: in JSON a key can be an argument of a decoded call, if no field has its name" {
	local args='"args":[{"name":"fd","value":3,"text":"3</a b>"},{"name":"ret","value":1,"text":"1"}]'
	{
		echo '{"ts":1.0,"cpu":0,"pid":7,"comm":"a","event":"sys_exit_x","fields":{"ret":5,"lat":1,'"$args"'}}'
		echo '{"ts":1.1,"cpu":0,"pid":7,"comm":"a","event":"sys_exit_x","fields":{"ret":6,"lat":1,"args":[]}}'
	} >calls.json
	run -0 --separate-stderr tfs-count -k ret -k fd <calls.json
	[ "$output" = $'      1 5\t3</a b>\n      1 6\t-' ]
}

@test "tfs-count: --calls counts a call once, by its beginning, or its end if it has none" {
	local head='a-1 [000] ..... '
	trace() {
		printf '%s%s\n' "$head" '1.000001: sys_read -> 0x1' \
			"$head" '1.000002: sys_getppid(); not understood' "$head" '1.000003: sys_getppid()' \
			"$head" '1.000004: sys_getppid -> 0x2' "$head" '1.000005: sys_getppid -> 0x3' \
			"$head" '1.000006: sys_rt_sigreturn()' "$head" '1.000007: sys_mkdir -> 0xffffffffffffffff' \
			"$head" '1.000008: sys_clone(flags: 0)' 'b-2 [000] ..... ' '1.000009: sys_clone -> 0x0' \
			'b-2 [000] ..... ' '1.000010: sys_getppid -> 0x0' 'b-2 [000] ..... ' '1.000011: sys_exit(code: 0)' \
			"$head" '1.000012: sys_clone -> 0x2' "$head" '1.000013: sys_execve -> 0x0' \
			"$head" '1.000014: sched_switch: prev_comm=a' | grep -v understood
	}
	trace >text
	tfs-count -c text >got
	diff got - <<-'EOF'
		      3 sys_enter_getppid
		      1 sched_switch
		      1 sys_enter_clone
		      1 sys_enter_exit
		      1 sys_enter_mkdir
		      1 sys_enter_rt_sigreturn
	EOF
	tfs-count --calls --begins -k comm -k call text >got
	grep -qx '      1 a	read' got
	# after a loss, the first end of a task may be that of a lost beginning
	{
		cat text
		echo 'CPU:0 [LOST 7 EVENTS]'
		printf '%s%s\n' "$head" '2.000001: sys_getppid -> 0x3'
	} >lost
	tfs-count -c lost | grep -qx '      3 sys_enter_getppid'
	# without -c, events are counted
	tfs-count text | grep -qx '      3 sys_exit_getppid'
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-report: prints a trace.dat as the kernel's text or as JSON, whole and damaged

load ../helper

CORPUS=$TREE/t/fuzz/corpus/tracedat

# by_hand ORDER LONG [INSTANCE]: Make "file", with two CPUs and five events.
by_hand() {
	need_tool python3
	python3 "$TREE/t/prog/tracedat.py" "$1" "$2" file "${@:3}"
}

# Print the text of by_hand's file; its instance has no name.
hand_text() {
	printf '            hand-42      [000] d....     1.000001: demo: a=-7 s=one d=plain\n'
	printf 'CPU:1 [LOST 5 EVENTS]\n'
	printf '           <...>-43      [001] d....     1.000002: demo: a=0 s=thr d=\303\244\\xff\\xed\\xa0\\x80\360\237\230\200\n'
	printf '            hand-42      [000] d....     1.000003: demo: a=8 s=two d=\\"\\\\\\n\\t\\x01\\x7f\n'
	printf 'CPU:1 [LOST EVENTS]\n'
	printf '          <idle>-0       [001] d....     2.000000: demo: a=1 s=four d=\n'
}

# Fail unless each line of stdin is strict JSON and an object. Print the number of lines.
json_lines() {
	need_tool python3
	python3 -c '
import json, sys
n = 0
for line in sys.stdin.buffer:
    assert line.endswith(b"\n")
    assert isinstance(json.loads(line.decode("utf-8")), dict)
    n += 1
print(n)'
}

# record EVENT...: Record EVENT... in this kernel as "file", and the kernel's own text of the same
# sub-buffers as "theirs". Only the test's own tasks are recorded: another one could get a new name
# after the first text was read.
record() {
	local event
	new_instance
	# addresses as they are, so that both texts can be compared
	[ ! -e "$DIR/options/hash-ptr" ] || echo 0 >"$DIR/options/hash-ptr"
	echo 32000 >"$DIR/buffer_size_kb"
	echo $$ $BASHPID >"$DIR/set_event_pid"
	echo 1 >"$DIR/options/event-fork"
	for event; do
		[ -e "$DIR/events/$event" ] || lacks "events/$event"
		echo 1 >"$DIR/events/$event/enable"
	done
	find /proc/self/ -maxdepth 2 >found 2>/dev/null || :
	[ ! -e "$TREE/t/prog/busy.py" ] || python3 "$TREE/t/prog/busy.py" 2>/dev/null || :
	echo 'a mark' >"$DIR/trace_marker"
	echo 0 >"$DIR/tracing_on"
	grep -v '^#' "$DIR/trace" >theirs
	save_recording
}

# same_lines: Compare "ours" and "theirs", except for names that the kernel forgot before
# either text was read.
same_lines() {
	[ -s theirs ]
	awk '
		{ if ((getline other <"ours") < 1) other = "" }
		substr($0, 12, 5) == "<...>" || substr(other, 12, 5) == "<...>" { $0 = substr($0, 17); other = substr(other, 17) }
		$0 != other { print "- " $0; print "+ " other; if (bad++ > 10) exit }
		END { exit bad > 0 }' theirs
	file_has "$(wc -l <theirs)" ours
}

@test "tfs-report: a missing, foreign or compressed file gives one line and status 111" {
	fails 111 "tfs-report: fatal: unable to open file: No such file or directory" \
		tfs-report file
	echo 'some text that is longer than the magic' >file
	fails 111 "tfs-report: fatal: file is not a trace.dat; tfs-run -o NAME.dat records one" tfs-report file
	cp "$CORPUS/v7-zstd" file
	fails 111 "tfs-report: fatal: file is compressed by zstd: convert it with trace-cmd convert --file-version 6" \
		tfs-report file
}

# bats test_tags=quick
@test "tfs-report: prints the same text for either byte order and size of long" {
	hand_text >expected
	for order in little big; do
		for long in 4 8; do
			by_hand $order $long
			tfs-report file | cmp expected -
		done
	done
}

@test "tfs-report: -m prints what tfs-human makes of the text, with times of day and in columns" {
	for file in "$CORPUS"/* "$TREE"/t/cases/*.dat; do
		for option in '' -d -D -Psyscalls,signals,lifecycle; do
			for columns in '' -cEVENT=* '-cRET:8=ret SIG:8=sig PATH=path'; do
				tfs-report ${option:+"$option"} "$file" 2>/dev/null >text || true
				tfs-human ${columns:+"$columns"} <text >expected
				tfs-report -m ${columns:+"$columns"} ${option:+"$option"} "$file" \
					2>/dev/null >got || true
				cmp expected got || { echo "$file $option $columns"; return 1; }
			done
		done
	done
}

@test "tfs-report: -x: prints strings as the kernel does, newlines included" {
	by_hand little 8
	hand_text | sed 's/\\".*/"\\\n\t\x01\x7f/; s/\\xff\\xed\\xa0\\x80/\xff\xed\xa0\x80/' >expected
	file_has 7 expected
	tfs-report -x file | cmp expected -
}

@test "tfs-report: prints an instance after the top level, with its name and its own clock" {
	by_hand big 4 $'i\nns'
	{
		hand_text
		printf '# instance: i?ns\n'
		printf '            hand-42      [000] d....   1000001000: demo: a=-7 s=one d=plain\n'
		printf '            hand-42      [000] d....   1000003000: demo: a=8 s=two d=\\"\\\\\\n\\t\\x01\\x7f\n'
	} >expected
	tfs-report file | cmp expected -
	tfs-report -i '' file | cmp <(hand_text) -
	tfs-report -i $'i\nns' file | cmp <(tail -n 3 expected) -
	fails 1 "tfs-report: fatal: file has no instance 'no'" tfs-report -i no file
	# a range of a counter clock is a range of counts
	[ "$(tfs-report -i $'i\nns' -t 1000001000-1000001000 file | wc -l)" = 2 ]
}

# The stats of three CPUs, of which the file has two, and those of the instance `i`, as
# trace-cmd writes them.
STATS=$'CPU: 0\nentries: 9\noverrun: 5\ncommit overrun: 1\nbytes: 8\ndropped events: 2\nread events: 77\n'
STATS+=$'|CPU: 1\nentries: 9\noverrun: 70\ncommit overrun: 0\n|CPU: 9\noverrun: 400\n'
STATS+=$'|\nBuffer: i\n\n|CPU: 0\noverrun: 0\ndropped events: 6\n|\nBuffer: other\n\n|CPU: 0\noverrun: 8\n'

@test "tfs-report: the last line of each instance gives the number of lost events that the file has" {
	STATS=$STATS by_hand little 8 i
	{
		hand_text
		printf '# lost 478 events: 478 overwritten in a full buffer, 0 not written\n'
	} >expected
	tfs-report -i '' file | cmp expected -
	[ "$(tfs-report file | tail -n 1)" = '# lost 6 events: 6 overwritten in a full buffer, 0 not written' ]
	tfs-report -j file >out
	json_lines <out
	[ "$(grep -c '^{"lost":' out)" = 2 ]
	grep -qxF '{"lost":478,"overwritten":478,"unwritten":0}' out
	[ "$(tail -n 1 out)" = '{"lost":6,"overwritten":6,"unwritten":0,"instance":"i"}' ]
	# a selection does not change what was lost
	[ "$(tfs-report -i '' -e none:none file 2>&1)" = "tfs-report: fatal: file has no event 'none:none'" ]
	[ "$(tfs-report -i '' -t 1.000003-1.000003 -p 42 file | tail -n 1)" = "$(tail -n 1 expected)" ]
	# what tfs-record left out, in either byte order; a filter repeats the line
	STATS=$'CPU: 1\noverrun: 3\n|not written: 40\n' by_hand big 4
	[ "$(tfs-report file | tail -n 1)" = '# lost 43 events: 3 overwritten in a full buffer, 40 not written' ]
	[ "$(tfs-report -D --abi=x86_64 file | tail -n 1)" = '# lost 43 events: 3 overwritten in a full buffer, 40 not written' ]
	[ "$(tfs-report -j file | tail -n 1)" = '{"lost":43,"overwritten":3,"unwritten":40}' ]
	[ "$(tfs-report file | tfs-count | tail -n 1)" = '# lost 43 events: 3 overwritten in a full buffer, 40 not written' ]
	# no loss, no line
	STATS=$'CPU: 0\nentries: 9\noverrun: 0\n|CPU: 1\ncommit overrun: 0\ndropped events: 0\n' by_hand little 8
	tfs-report file | cmp <(hand_text) -
	# numbers and names that are none
	STATS=$'CPU: 0\noverrun: -3\n|CPU: \noverrun: 99999999999999999999\n|Buffer: |CPU: 0\noverrun: 4\n||x' by_hand little 8
	tfs-report file | tail -n 1 | grep -q '^# lost [0-9]* events: [0-9]* overwritten in a full buffer, 0 not written$'
}

@test "tfs-report: finds the numbers of lost events in a file that trace-cmd converted to version 7" {
	need_tool trace-cmd
	STATS=$STATS by_hand little 8 i
	trace-cmd convert --file-version 7 --compression none -i file -o seven >converted 2>&1
	tfs-report file | grep '^# lost' >expected
	[ "$(wc -l <expected)" = 2 ]
	tfs-report seven | grep '^# lost' | cmp expected -
}

@test "tfs-report: prints nothing for a file without events" {
	cp "$CORPUS/v6-empty" file
	run -0 tfs-report file
	[ -z "$output" ]
}

@test "tfs-report: -e selects events by name, or by system and name, with globs" {
	by_hand little 8
	hand_text >all
	for glob in demo 'd*' '*' 'demo:demo' '*:*' 'd?mo' '[a-d]emo' '[!x]emo' 'demo:d*o' '\demo'; do
		tfs-report -e "$glob" file | cmp all -
	done
	for glob in emo dem 'demo:' ':demo' '[!d]emo' 'x*' DEMO 'demo:demo:demo' ''; do
		fails 1 "tfs-report: fatal: file has no event '$glob'" tfs-report -e "$glob" file
	done
	fails 1 "tfs-report: fatal: file has no event 'none'" tfs-report -e demo -e none file
}

@test "tfs-report: -p selects by pid and -t by the printed time, and losses stay" {
	by_hand little 8
	hand_text >all
	[ "$(tfs-report -p 42 file | grep -c hand-42)" = 2 ]
	[ "$(tfs-report -p 42 file | grep -vc hand-42)" = 2 ] # the two lines of losses
	tfs-report -p 42,43 -p 0 file | cmp all -
	[ "$(tfs-report -p 0 file | grep -v LOST)" = "$(tail -n 1 all)" ]
	[ "$(tfs-report -p 44 file)" = "$(grep -a LOST all)" ]
	tfs-report -t 1.000001-1.000001 file | cmp <(head -n 1 all) -
	tfs-report -t 1.000001-1.000002 file | cmp <(head -n 3 all) -
	tfs-report -t -1.000002 file | cmp <(head -n 3 all) -
	tfs-report -t 1.000003-1.9 file | cmp <(sed -n 4p all) -
	tfs-report -t 1.000004- file | cmp <(tail -n 2 all) -
	# to the nanosecond: this event is 7 ns after 2 s
	tfs-report -t 2.000000007-2.000000007 file | cmp <(tail -n 2 all) -
	[ -z "$(tfs-report -t 2.0000000-2.000000006 file)" ]
	[ -z "$(tfs-report -t 3- file)" ]
}

@test "tfs-report: -j: prints each event as an object, with typed fields and UTF-8 strings" {
	by_hand big 8 ins
	tfs-report -j file >out
	json_lines <out >n
	file_is n 8
	python3 - <<-'END'
	import json
	lines = [json.loads(line) for line in open("out", encoding="utf-8")]
	def event(ts, cpu, pid, comm, a, s, d, **more):
	    return {"ts": ts, "cpu": cpu, **more, "pid": pid, "comm": comm, "system": "demo",
	            "event": "demo", "fields": {"a": a, "three": [1, 2, 65535], "s": s,
	            "b": 1 << 63, "d": d, "m": "0x80000000000000000000000000000005", "p": "0x1000"}}
	odd = "\"\\\n\t\1\x7f"
	expected = [
	    event(1.000001, 0, 42, "hand", -7, "one", "plain"),
	    {"ts": 1.000002, "cpu": 1, "lost": 5},
	    event(1.000002, 1, 43, None, 0, "thr", "\xe4\ufffd\ufffd\ufffd\ufffd\U0001f600"),
	    event(1.000003, 0, 42, "hand", 8, "two", odd),
	    {"ts": 2.000000007, "cpu": 1, "lost": None},
	    event(2.000000007, 1, 0, "<idle>", 1, "four", ""),
	    event(1000001000, 0, 42, "hand", -7, "one", "plain", instance="ins"),
	    event(1000003000, 0, 42, "hand", 8, "two", odd, instance="ins"),
	]
	for got, want in zip(lines, expected):
	    assert got == want, (got, want)
	END
	[ "$(head -n 1 out | cut -c 1-40)" = '{"ts":1.000001000,"cpu":0,"pid":42,"comm' ]
	[ "$(tfs-report -j -e demo -p 42 -t -1.000002 -i '' file | wc -l)" = 2 ]
	if command -v jq >/dev/null; then
		[ "$(jq -c 'select(.event) | .fields.a' out | tr '\n' ' ')" = '-7 0 8 1 -7 8 ' ]
	fi
}

# processes ORDER LONG: Make "file", of the life of some processes.
processes() {
	need_tool python3
	# shellcheck disable=SC2046 # a number a word
	python3 "$TREE/t/prog/processdat.py" "$1" "$2" file \
		$(syscall-nr exit exit_group execve setresuid setuid)
}

# Print lines without the columns in front, but with the pid.
bare() {
	sed -E 's/^.{16} +([0-9]+) +0 +1\.[0-9]{6} /\1 /'
}

@test "tfs-report: -P: prints what processes did, for either byte order and size of long" {
	for order in little big; do
		for long in 4 8; do
			processes $order $long
			minus=0xffffffff
			[ $long = 4 ] || minus=0xffffffffffffffff
			tfs-report -P syscalls,signals,lifecycle file >out
			bare <out | diff - /dev/fd/3 3<<-END
			10 fork 11 flags 0x1200000
			11 syscall $(syscall-nr setresuid) [0x7 $minus $minus 0x0 0x0 0x0]
			11 syscall rc 0 error 0
			11 syscall -1 [0x1 0x2 0x3 0x4 0x5 $minus]
			11 syscall rc -22 error -22
			11 signal 10 errno 0 code 0xfffffffa
			11 syscall $(syscall-nr exit_group) [0x103 0x0 0x0 0x0 0x0 0x0]
			11 exit 768
			10 fork 12 flags 0x1200000
			12 fork 13 flags 0x10f00
			12 fork 14 flags 0x10f00
			13 syscall $(syscall-nr exit) [0x7 0x0 0x0 0x0 0x0 0x0]
			13 exit 1792
			14 syscall $(syscall-nr setuid) [0x7 0x0 0x0 0x0 0x0 0x0]
			14 syscall rc 0 error 0
			14 syscall $(syscall-nr execve) [0x0 0x0 0x0 0x0 0x0 0x0]
			14 syscall rc -2 error -2
			14 syscall $(syscall-nr execve) [0x0 0x0 0x0 0x0 0x0 0x0]
			12 signal 9 errno 0 code 0x0
			12 exit 0
			12 exec
			12 syscall rc 0 error 0
			12 signal 15 errno 0 code 0x0
			12 exit 15
			10 signal 9 errno 0 code 0x0
			10 exit 9
			END
			[ "$(sed -n '1p;8p;21p' out)" = \
'              sh    10   0         1.000001 fork 11 flags 0x1200000
             a?b    11   0         1.000009 exit 768
              ls    12   0         1.000023 exec' ]
		done
	done
	tfs-report -P signals file | bare >out
	[ "$(cut -d ' ' -f 1,3 out)" = $'11 10\n12 9\n12 15\n10 9' ]
	[ "$(tfs-report -HP lifecycle file | head -n 1)" = "# tracer: process" ]
	[ "$(tfs-report -P lifecycle -p 11 file | bare)" = "11 exit 768" ]
}

@test "tfs-report: -u and -C: follow uids and names from the state at the beginning" {
	processes big 8
	tfs-report -P lifecycle,signals -u 7 file | bare >out
	[ "$(cat out)" = '11 signal 10 errno 0 code 0xfffffffa
11 exit 768
12 exec
12 signal 15 errno 0 code 0x0
12 exit 15' ]
	tfs-report -P lifecycle -u 7 -U 10,-99 file | bare >out
	[ "$(cut -d ' ' -f 1,2 out)" = "10 fork
11 exit
10 fork
12 fork
12 fork
13 exit
12 exit
12 exec
12 exit
10 exit" ]
	tfs-report -P lifecycle -C ls file | bare >out
	[ "$(cat out)" = $'12 exec\n12 exit 15' ]
	tfs-report -P lifecycle -u 7 -C ls -N 11 file | bare >out
	[ "$(cat out)" = $'12 exec\n12 exit 15' ]
	# -t selects the same in text and JSON
	[ "$(tfs-report -C ls -e sched_process_exec file | wc -l)" = 1 ]
	[ "$(tfs-report -j -u 7 -e sched_process_exit file | grep -c '"event":"sched_process_exit"')" = 2 ]
	[ "$(tfs-report -u 8 file)" = "" ]
}

@test "tfs-report: -H: prints the comment lines of trace first, by which viewers know the format" {
	by_hand little 8
	tfs-report -H file >out
	[ "$(head -n 1 out)" = '# tracer: nop' ]
	grep -qx '# entries-in-buffer/entries-written: 0/0   #P:2' out
	[ "$(grep -c '^#' out)" = 12 ]
	hand_text | cmp - <(tail -n +13 out)
}

@test "tfs-report: prints the number of an event that has no format" {
	by_hand little 8
	sed -i 's/ID: 300/ID: 301/' file
	[ "$(tfs-report file | head -n 1)" = '            hand-42      [000] d....     1.000001: Unknown type 300' ]
	tfs-report -j file | json_lines
	tfs-report -j file | grep -q '"system":null,"event":null,"type":300,"fields":{}}$'
}

# ftrace_file KIND: Make "file" with entries of ftrace itself, for either byte order and size of
# long, and compare its text with stdin. The addresses have as many digits as a long.
ftrace_file() {
	local order long
	need_tool python3
	cat >want
	for order in little big; do
		for long in 4 8; do
			python3 "$TREE/t/prog/olddat.py" "$1" "$order" "$long" file
			tfs-report file >text
			[ "$long" = 8 ] || sed -i 's/<0000/<000000000000/' text
			diff want text
		done
	done
}

@test "tfs-report: reads the arrays of size 0 at the end of ftrace's entries, before Linux 5.6" {
	ftrace_file print <<-'EOF'
		            init-1       [000] ....     1.000001: 0x00001000: hello world 42
		            init-1       [000] ....     1.000002: 0x00001000: 
		            init-1       [000] ....     1.000003: 0x00001000: 0x2000
		            init-1       [000] ....     1.000004: # 3 buf: 01 02 03 04
		            init-1       [000] ....     1.000005: <stack trace>
		 => 0x00003000
		 => 0x00004000
		            init-1       [000] ....     1.000006: <user stack trace>
		 =>  <0000000000005000>
	EOF
	tfs-report -j file | json_lines >n
	[ "$(cat n)" = 6 ]
	tfs-report -j file | grep -c '"fields":{"ip":4096,"buf":"hello world 42\\n"}}$'
	tfs-report -j file | grep -c '"caller":\[12288,16384\]}}$'
}

@test "tfs-report: prints function_graph as a graph, with durations, and tfs-slower reads it" {
	ftrace_file graph <<-'EOF'
		 0)   0.012 us    |    } /* 0x9000 */
		 1) ! 1000.000 us |  0x7000();
		 0)               |  0x1000() {
		 0)   1.500 us    |    0x2000();
		 0)               |    0x3000() {
		 0) ! 999.999 us  |      0x3000();
		 0) * 10000.00 us |    }
		 ------------------------------------------
		 0)     init-1     =>   a_long_-7   
		 ------------------------------------------

		 0) $ 1234567 us  |  0x4000();
		 0)               |  0x5000() {
		     a_long_name-7       [000] .....     1.000023: other: n=3
		 0) + 10.001 us   |  }
		 ------------------------------------------
		 0)   a_long_-7    =>     init-1    
		 ------------------------------------------

		 0) $ 12345678 us |  } /* 0x1000 */
		 0)               |  0x6000() {
		CPU:0 [LOST 3 EVENTS]
		 0)   0.100 us    |  }
	EOF
	tfs-report file | tfs-slower 1000 | diff - <(cat <<-'EOF'
		 1) ! 1000.000 us |  0x7000();
		 0) * 10000.00 us |    } /* 0x3000 */
		 0) $ 1234567 us  |  0x4000();
		 0) $ 12345678 us |  } /* 0x1000 */
		CPU:0 [LOST 3 EVENTS]
	EOF
	)
	[ "$(tfs-report -j file | json_lines)" = 19 ]
	tfs-report -e other file | diff - <(cat <<-'EOF'
		     a_long_name-7       [000] .....     1.000023: other: n=3
		CPU:0 [LOST 3 EVENTS]
	EOF
	)
}

@test "tfs-report: prints the rest of a file that was cut short and one error line, and exits 111" {
	by_hand little 8
	hand_text >all
	# without the last sub-buffer, which is CPU 1's second
	head -c $(($(stat -c %s file) - 1)) file >short
	run -111 --separate-stderr tfs-report short
	# shellcheck disable=SC2154 # set by run
	[ "$stderr" = "tfs-report: fatal: short ends in the sub-buffers of cpu 1: it was cut short, or the recording was killed" ]
	tfs-report short 2>/dev/null | cmp <(head -n 4 all) -
	fails 111 "tfs-report: fatal: short ends in its formats: it is damaged, or was cut short" \
		eval 'head -c 700 file >short; tfs-report short'
}

@test "tfs-report: reports a corrupt sub-buffer, and prints the others" {
	by_hand little 8
	hand_text >all
	# the second event of CPU 0 has a length of its own that is too large
	at=$(offset_of plain file)
	printf '\0\0\0\0\377\377\377\377' | dd of=file bs=1 seek=$((at + 8 + 16)) conv=notrunc 2>/dev/null
	run -111 --separate-stderr tfs-report file
	[ "$stderr" = "tfs-report: fatal: file is damaged: 1 of its sub-buffers could be printed only in part" ]
	tfs-report file 2>/dev/null | cmp <(grep -av -e 'a=8' -e '^.$' -e $'^\t' all) -
}

@test "tfs-report: prints events or one error line for any cut or changed file, and the JSON stays valid" {
	by_hand little 8 ins
	for how in cut change; do
		"$PROG/cuts" $how 211 file tfs-report -j part >runs
		while read -r n status _ _ lines line; do
			case $status in
			0) [ "$lines" = 0 ] ;;
			111) [ "$lines" = 1 ] && [[ $line == "tfs-report: fatal: part "* ]] ;;
			*) false ;;
			esac || { echo "$how at $n: $status $lines $line"; return 1; }
		done <runs
	done
	json_lines <all
}

@test "tfs-report: a full disk is an error, and a reader that goes away ends it" {
	by_hand little 8
	fails 111 "tfs-report: fatal: unable to write to standard output: No space left on device" \
		to_full tfs-report file
	# a reader that left before the start, and a caller that ignores SIGPIPE
	mkfifo fifo
	unread() {
		trap '' PIPE
		exec 9<>fifo
		exec 8>fifo
		exec 9<&-
		exec tfs-report file >&8
	}
	background unread
	finishes "$PID" 141
}

# bats test_tags=long
@test "tfs-report: needs as little memory for a file of a gigabyte as for a small file" {
	[ -z "${TFS_VARIANT-}" ] || skip "needs memory that is the program's alone"
	cp "$CORPUS/v6-empty" file
	# CPU 0 in the table has sub-buffers for a gigabyte, all of them a hole in the file
	at=$(offset_of flyrecord file)
	printf '\0\004\0\0\0\0\0\0\0\0\0\100\0\0\0\0' |
		dd of=file bs=1 seek=$((at + 10)) conv=notrunc 2>/dev/null
	truncate -s $((1024 + 1073741824)) file
	limited() {
		ulimit -v 20000
		exec tfs-report file
	}
	run -0 limited
	[ -z "$output" ]
}

@test "tfs-report: prints the same text for a file that trace-cmd converted to version 7" {
	need_tool trace-cmd
	by_hand little 8 ins
	trace-cmd convert -i file -o seven --file-version 7 --compression none >said 2>&1 ||
		skip "needs a trace-cmd that converts (3.1)"
	tfs-report -i '' seven | cmp <(hand_text) -
	[ "$(tfs-report -i ins seven | wc -l)" = 3 ]
	trace-cmd convert -i seven -o six --file-version 6 >said 2>&1
	tfs-report -i '' six | cmp <(hand_text) -
}

@test "tfs-report: -d: prints the date before the first event, and in each event of JSON" {
	for order in little big; do
		DATE=0x660f9d93f0f4a by_hand $order 8
		tfs-report -d file >out
		lines_are out "# date: 2026-11-23T23:21:09.175691Z, 1795476069.175691 since 1970, is 1.000001 of the trace's clock
$(hand_text)"
		hand_text | cmp - <(tfs-report file)
		tfs-report -dH file | grep -v '^ \|^CPU\|^$' >out
		[ "$(head -n 1 out)" = '# tracer: nop' ]
		[[ $(tail -n 1 out) = '# date: '* ]]
		tfs-report -dj file >out
		json_lines <out >n
		file_is n "$(wc -l <out)"
		sed -n 's/^{"ts":\([0-9.]*\),"timeUnixNano":"\([0-9]*\)",.*"fields".*/\1 \2/p' out >got
		lines_are got '1.000001000 1795476069175691000
1.000002000 1795476069175692000
1.000003000 1795476069175693000
2.000000007 1795476070175690007'
	done
}

@test "tfs-report: -d: the clock may be ahead of the time of day, and trace-cmd prints the same times" {
	# half a second, so that the first events are before 1970
	DATE=-0x7a120 by_hand little 8
	[ "$(tfs-report -d -e demo -t 2- file | head -n 1)" = "# date: 1970-01-01T00:00:00.500001Z, 0.500001 since 1970, is 1.000001 of the trace's clock" ]
	tfs-report -dj file | sed -n 's/.*"timeUnixNano":"\([0-9]*\)".*"fields".*/\1/p' >got
	lines_are got '500001000
500002000
500003000
1500000007'
	need_tool trace-cmd
	trace-cmd report -i file 2>/dev/null | LC_ALL=C sed -n 's/.* \([0-9.]*\): demo:.*/\1/p' >got
	lines_are got '0.500001
0.500002
0.500003
1.500000'
	# no time of day is before 1970
	DATE=-0x1e8480 by_hand little 8
	[ "$(tfs-report -d file | head -n 1)" = "# date: 1970-01-01T00:00:00.000000Z, 0.000000 since 1970, is 2.000000 of the trace's clock" ]
	tfs-report -dj file | sed -n 's/.*"timeUnixNano":"\([0-9]*\)".*"fields".*/\1/p' >got
	lines_are got '0
0
0
7'
}

@test "tfs-report: -d: reads the date of a file that trace-cmd converted to version 7" {
	need_tool trace-cmd
	DATE=0x660f9d93f0f4a by_hand little 8
	trace-cmd convert -i file -o seven --file-version 7 --compression none >said 2>&1 ||
		skip "needs a trace-cmd that converts (3.1)"
	tfs-report -d seven | cmp <(tfs-report -d file) -
}

@test "tfs-report: -d: refuses a file without a date, one whose clock counts, and a date that is none" {
	none() {
		fails 1 "tfs-report: fatal: file has no date, or its trace clock does not count seconds" \
			tfs-report -d file
		tfs-report -i '' file | cmp <(hand_text) -
	}
	by_hand little 8
	none
	DATE=0x660f9d93f0f4a by_hand little 8 ins
	none
	for date in 0xg 0X1 0x7fffffffffffffff -0x7fffffffffffffff 0x8000000000000000 \
		0x10000000000000001 12 x '0x 1' ''; do
		DATE=$date by_hand little 8
		none
	done
	# a negative date as trace-cmd writes it
	DATE=0xfffffffffff85ee0 by_hand big 8
	tfs-report -d file >out
	DATE=-0x7a120 by_hand big 8
	tfs-report -d file | cmp out -
}

@test "tfs-report: kernel: prints the same text as trace for the same sub-buffers, byte for byte" {
	need_tracefs
	need_tool python3
	record sched raw_syscalls
	tfs-report file >ours
	same_lines
	[ "$(wc -l <ours)" -gt 500 ]
	tfs-report -j file | json_lines >n
	file_is n "$(wc -l <ours)"
}

@test "tfs-report: kernel: each filter passes exactly the lines that it describes" {
	need_tracefs
	need_tool python3
	record sched raw_syscalls
	tfs-report file >all
	tfs-report -e 'sched_*' file | cmp <(grep -E ': sched_[a-z_]*:' all) -
	tfs-report -e 'raw_syscalls:*' -e sched_switch file |
		cmp <(grep -E ': (sys_enter|sys_exit|sched_switch):' all) -
	pid=$(sed -n 's/^.\{16\}-\([0-9]*\) .*/\1/p' all | sort -n | uniq -c | sort -rn |
		awk 'NR == 1 { print $2 }')
	tfs-report -p "$pid" file | cmp <(grep -E "^.{16}-$pid " all) -
	# the middle third, by time
	n=$(wc -l <all)
	from=$(sed -n "$((n / 3))s/.* \([0-9]*\.[0-9]\{6\}\): .*/\1/p" all)
	to=$(sed -n "$((n * 2 / 3))s/.* \([0-9]*\.[0-9]\{6\}\): .*/\1/p" all)
	tfs-report -t "$from-$to" file >ours
	awk -v from="$from" -v to="$to" 'match($0, / [0-9]+\.[0-9]+: /) {
		t = substr($0, RSTART + 1, RLENGTH - 3) + 0
		if (t >= from + 0 && t <= to + 0) print }' all | cmp - ours
	tfs-report -e sys_enter -p "$pid" -t "$from-$to" file |
		cmp <(grep -E "^.{16}-$pid .*: sys_enter:" ours) -
}

@test "tfs-report: prints every event format of this kernel as trace-cmd does, or t/differs lists it" {
	need_tracefs
	need_tool python3 trace-cmd
	[ -z "${TFS_VARIANT-}" ] || skip "needs no second look at another's text"
	[[ $(trace-cmd --version 2>&1 || :) == *"version 3.1.6"* ]] ||
		skip "needs trace-cmd 3.1.6, which t/differs is about"
	python3 "$TREE/t/prog/formats.py" "$TRACEFS" "$TREE/t/differs"
}

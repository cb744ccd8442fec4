#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031 # words for the other shell; each test is a process of its own
# tfs-run at a terminal: columns, progress, ^C, colours; tmux is the terminal

load ../helper

SIGNAL_TITLE='TIME             COMM                PID EVENT    SIG      SENT     CODE       TPID    TO'
OPEN_TITLE='TIME             COMM                PID CALL'

undo() {
	[ ! -e tmux ] || in_tmux kill-server
}

# in_tmux COMMAND...: Give a command to the tmux of this test, which no other tmux knows.
in_tmux() {
	TMUX_TMPDIR=$BATS_TEST_TMPDIR/tmux tmux -L t -f /dev/null "$@" 3>&-
}

# terminal WIDTH: Start a shell in a terminal of that width.
terminal() {
	need_tool tmux
	need_tracefs events/syscalls
	mkdir tmux
	unset NO_COLOR TMUX
	in_tmux new-session -d -x "$1" -y 100 sh
	mkfifo go
	eventually shows '^[#$]'
}

screen() {
	in_tmux capture-pane -p
}

# shows PATTERN: Succeed if a line of the screen matches.
shows() {
	screen | grep -Eq -e "$1"
}

# types LINE: Type the line, and then a command that prints its number and status. Clear the screen
# first: a slow shell leaves the lines of the last one there for a while.
types() {
	TYPED=$((${TYPED-0} + 1))
	in_tmux send-keys -R
	in_tmux send-keys -l "clear; $1; echo end$TYPED=\$?"
	in_tmux send-keys Enter
}

# ends STATUS: Wait until the line that was typed has ended with STATUS.
ends() {
	if ! eventually shows "^(\^C)?end$TYPED=[0-9]" || ! shows "^(\^C)?end$TYPED=$1\$"; then
		screen
		return 1
	fi
}

# long_path: Make an empty file; set LONG to its path of 104 characters.
long_path() {
	LONG=$BATS_TEST_TMPDIR/$(printf 'x%.0s' {1..120})
	LONG=${LONG:0:104}
	: >"$LONG"
	run tfs-run trace_open -- cat "$LONG"
	[[ $output == *"(AT_FDCWD, \"$LONG\", "* ]] || skip "needs a kernel that records paths"
}

# opened: Print the path of the open of LONG by cat, with the lines of the terminal joined.
opened() {
	in_tmux capture-pane -p -J | sed -E ':a; $!N; s/\n {20,}/ /; ta; P; D' |
		sed -nE 's/^.* cat +[0-9]+ open.*("\/.*x"), O_RDONLY\) = 3 .*$/\1/p'
}

# fits N: Fail if a line of the screen has more than N characters.
fits() {
	run -1 grep -E "^.{$(($1 + 1))}" <(screen)
}

@test "terminal: 80 columns break a line between words, and no path; 200 columns break none" {
	terminal 80
	long_path
	types "LC_ALL=C tfs-run trace_open --instance $MARK -- cat '$LONG'"
	ends 0
	screen | grep -Fqx "$OPEN_TITLE"
	shows '^[0-9:.]+ +cat +[0-9]+ openat.AT_FDCWD,$'
	shows '^ {20}"/'
	[ "$(opened)" = "\"$LONG\"" ]
	fits 80
	in_tmux resize-window -x 200
	types "LC_ALL=C tfs-run trace_open --instance $MARK -- cat '$LONG'"
	ends 0
	screen | grep -Fqx "$OPEN_TITLE"
	shows "^[0-9:.]+ +cat +[0-9]+ openat.AT_FDCWD, \"$LONG\", O_RDONLY. = 3 <[0-9.]+>\$"
	[ "$(opened)" = "\"$LONG\"" ]
}

@test "terminal: a resize during the trace counts from the next line on" {
	terminal 200
	long_path
	echo 'cat "$1"; read -r _ <go; cat "$1"' >twice
	types "LC_ALL=C tfs-run trace_open --instance $MARK -- sh twice '$LONG'"
	eventually shows " \"$LONG\", O_RDONLY. = 3 <[0-9.]+>\$"
	in_tmux resize-window -x 80
	release_go
	ends 0
	shows '^ {20}"/'
	[ "$(opened | tail -n 1)" = "\"$LONG\"" ]
}

release_go() {
	echo >go
}

# program_ends: Let the waiting program go on once it waits, and fail unless the line succeeds.
program_ends() {
	eventually [ -s pid ]
	release_go
	ends 0
}

@test "terminal: signals, connections, programs and processes have columns that fit" {
	terminal 100
	types "tfs-run trace_signal --instance $MARK -- sh -c 'trap : USR1; kill -USR1 \$\$'"
	ends 0
	screen | grep -Fqx "$SIGNAL_TITLE"
	shows '^[0-9:.]+  sh +([0-9]+) generate SIGUSR1  -        SI_USER    \1 +sh$'
	shows '^[0-9:.]+  sh +[0-9]+ deliver  SIGUSR1  -        SI_USER    -       -$'
	in_tmux resize-window -x 80
	types "tfs-run trace_tcp --connect --instance $MARK -- bash -c 'exec 5<>/dev/tcp/127.0.0.1/1'"
	ends 1
	screen | grep -Fqx 'TIME             COMM                PID STATE       SPORT DPORT DADDR'
	shows '^[0-9:.]+  bash +[0-9]+ SYN_SENT    [0-9]+ +1     127\.0\.0\.1$'
	types "tfs-run trace_exec --instance $MARK -- sh -c 'exit 0' a b c d e f g h i j k l"
	ends 0
	screen | grep -Fqx 'TIME             COMM                PID CALL'
	fits 80
	types "tfs-run trace_process --trace lifecycle --instance $MARK -- sh -c 'exit 3'"
	ends 3
	shows '^[0-9:.]+  sh +[0-9]+ exit 3$'
}

@test "terminal: in each hook, 80 columns break lines between words, and cut the row of a process" {
	terminal 80
	printf '%s\n' '#!/bin/sh' 'cat /etc/hostname /nonexistent' 'exit 0' >job
	chmod +x job
	local long='a bb ccc dddd eeeee ffffff ggggggg hhhhhhhh iiiiiiiii jjjjjjjjjj kkkkkkkkkkk'
	while IFS='|' read -r status words first; do
		types "LC_ALL=C tfs-run $words 2>/dev/null"
		ends "$status"
		screen >shown
		# the date, the title, and then lines
		grep -Exq '# [0-9]{4}-[0-9]{2}-[0-9]{2}, UTC' shown
		grep -Fq "$first" shown || { cat shown; return 1; }
		fits 80
		run -1 grep -q 'tasks are known' shown
	done <<-END
		0|trace_syscalls -s execve wait4 -- ./job|TIME             COMM                PID EVENT
		0|trace_files --reads --path "*etc*" -- ./job|TIME             COMM                PID EVENT
		0|trace_event -e sched_process_exec sched_process_exit -- ./job|TIME             COMM                PID EVENT
		0|trace_signal -- ./job|TIME             COMM                PID EVENT    SIG      SENT     CODE
		0|trace_sched -- ./job|TIME             COMM                PID WAITED  BEHIND
		0|trace_why -- ./job|job
		0|trace_process -- sh -c ': $long; exit 0'|START            PID DURATION      CPU STATUS    COMMAND
		0|trace_process --tree -- sh -c ': $long; exit 0'|    PID DURATION      CPU STATUS    COMMAND
		0|trace_process --summary -- sh -c ': $long; exit 0'|  RUNS    TOTAL  LONGEST      CPU FAILED  COMMAND  LONGEST RUN
	END
	# the last one
	shows '^     1 .* sh +-c ": a bb.*\.\.\.$'
	types "tfs-run trace_process -- sh -c ': $long; exit 0' 2>/dev/null"
	ends 0
	shows '^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3} +[0-9]+ +[0-9.]+ [mu]?s +[0-9.]+ [mu]?s exit 0    sh -c ": a bb ccc.*\.\.\.$'
	in_tmux resize-window -x 200
	types "tfs-run trace_process -- sh -c ': $long; exit 0' 2>/dev/null"
	ends 0
	screen | grep -Fqx 'START         PARENT   UID     PID DURATION      CPU STATUS    COMMAND'
	shows "^[0-9:.]+ +[0-9]+ +0 +[0-9]+ +[0-9.]+ [mu]?s +[0-9.]+ [mu]?s exit 0    sh -c \": $long; exit 0\"\$"
}

@test "terminal: through a pipe there are no columns, but the bytes of the manager" {
	need_tracefs events/signal
	tfs-run trace_signal --instance "$MARK" -- sh -c 'trap : USR1; kill -USR1 $$' >out
	grep -Eq ': signal_generate: sig=10 errno=0 code=0 comm=sh pid=[0-9]+ grp=1 res=0$' out
	run -1 grep -E "SIG|TIME" out
}

# Write a program that makes 3 calls, prints its pid to the file pid, and waits for the FIFO go.
waiting_program() {
	printf '%s\n' '"$1/calls" "$2" </dev/null' 'echo $$ >pid' 'read -r _ <go' >program
}

@test "terminal: ^C prints the events so far, ends the program and leaves nothing" {
	terminal 80
	waiting_program
	types "tfs-run trace_syscalls -s getppid --raw --instance $MARK -- sh program $PROG 3"
	eventually shows '^tfs-run: tracing sh \(pid [0-9]+\) until it ends$'
	eventually [ -s pid ]
	in_tmux send-keys C-c
	ends 130
	[ "$(screen | grep -Ec '^[0-9:.]+  calls +[0-9]+ getppid\(\)$')" = 3 ]
	gone "$(cat pid)"
}

@test "terminal: ^C ends a trace of other programs with status 0, and they go on" {
	terminal 80
	calls -e 3
	types "tfs-run trace_syscalls -s getppid --raw --instance $MARK --pid $CALLS $$"
	eventually shows '^tfs-run: tracing; Ctrl-C ends$'
	release
	eventually shows ' getppid\(\)$'
	in_tmux send-keys C-c
	ends 0
	[ "$(screen | grep -Ec '^[0-9:.]+  calls +[0-9]+ getppid\(\)$')" = 3 ]
	kill -0 $$
}

@test "terminal: with --time the first line says how long the trace takes at most" {
	terminal 80
	for time in '--time 100s' --time=100m; do
		types "tfs-run trace_syscalls -s getppid --instance $MARK --pid $$ $time"
		case $time in
		--time=*) eventually shows '^tfs-run: tracing for 100m; Ctrl-C ends$' ;;
		*) eventually shows '^tfs-run: tracing for 100s; Ctrl-C ends$' ;;
		esac
		in_tmux send-keys C-c
		ends 0
	done
}

@test "terminal: head ends the trace and the program, and leaves nothing" {
	terminal 80
	printf '%s\n' 'echo $$ >pid' 'exec "$1/calls" 1000000000 </dev/null' >program
	types "tfs-run trace_syscalls -s getppid --human --raw --instance $MARK -- sh program $PROG | head -n 5"
	ends 0
	# two lines of the head, and three others
	[ "$(screen | grep -Ec ' getppid\(\)$|^# lost [0-9]+ events')" = 3 ]
	shows ' getppid\(\)$'
	gone "$(cat pid)"
}

@test "terminal: failures are red, but not with NO_COLOR" {
	terminal 200
	types "tfs-run trace_syscalls -s openat --returns --instance $MARK -- cat nothing"
	ends 1
	in_tmux capture-pane -pe >colours
	grep -q $'\e\[31m= -1 ENOENT (No such file or directory)' colours
	types "NO_COLOR=1 tfs-run trace_syscalls -s openat --returns --instance $MARK -- cat nothing"
	ends 1
	in_tmux capture-pane -pe >colours
	grep -q ' = -1 ENOENT (No such file or directory)$' colours
	run -1 grep -q $'\e\[3' colours
}

# waiting_calls N: Start a program that makes N calls when start has a line, makes the file finished, and
# waits; set CALLS.
waiting_calls() {
	echo 'echo $$ >pid.new; mv pid.new pid; read -r _ <start; "$1/calls" "$2" </dev/null; : >finished; read -r _ <go' >program
	rm -f pid finished
	[ -p start ] || mkfifo start
	background sh program "$PROG" "$1"
	CALLS=$PID
	eventually [ -s pid ]
}

# progress PATTERN WORDS: Record calls with WORDS, see the progress line, and see it go.
progress() {
	waiting_calls 1234
	types "tfs-run trace_syscalls -s getppid --instance $MARK ${*:2} --pid $CALLS"
	eventually shows '^tfs-run: tracing; Ctrl-C ends$'
	echo >start
	eventually shows "^$1\$"
	release_go
	ends 0
	run -1 shows '[0-9] events, '
	nothing_left
}

@test "terminal: a line shows the progress of -o and --summary, and disappears at the end" {
	terminal 80
	progress '1,23[4-6] events, 0 lost, 0\.[0-9] MB' -o text
	[ "$(grep -c 'calls-.*getppid' text)" = 1234 ]
	shows '^tfs-run: text has 123[4-6] events$'
	progress '1,23[4-6] events, 0 lost, 0\.[0-9] MB' -o x.json
	# with the returns
	progress '2,4[67][0-9] events, 0 lost' -o x.dat
	# whole calls, from the rings
	progress '1,2[3-9][0-9] events, 0 lost' -o x.dat --decode
	progress '2,4[67][0-9] events, 0 lost, 0\.[0-9] MB' --summary
	shows '^ *100\.0% +123[4-6] +0 .* getppid$'
}

@test "terminal: after a second of silence at the begin or the end, a line says what the session waits for" {
	terminal 120
	printf '%s\n' '#!/bin/sh' '# description: waits' "read -r _ <'$PWD/go'" >slow
	chmod +x slow
	types "tfs-run ./slow --instance $MARK -- true"
	eventually shows '^tfs-run: starting for [0-9]+ s: slow waits for the kernel( [(][a-z0-9_]+[)])?(; [0-9]+ other sessions?)?$'
	release_go
	ends 0
	run -1 shows 'starting for'

	types "tfs-run trace_open --instance $MARK -- sh -c 'read -r _ <go'"
	eventually shows '^# [0-9-]+, UTC$'
	eventually pgrep -f "^tfs-catpipe .*tfs[.]$MARK" >stream
	stream=$(head -n 1 stream)
	kill -STOP "$stream"
	release_go
	eventually shows '^tfs-run: ending for [0-9]+ s: tfs-catpipe waits for the kernel'
	kill -CONT "$stream"
	ends 0
	run -1 shows 'ending for'
}

@test "terminal: PROG has the terminal for itself: no progress overwrites what it has written" {
	terminal 80
	echo 'printf partial; "$1/calls" 1234 </dev/null >/dev/null; echo $$ >pid; read -r _ <go; echo " and the rest"' >program
	types "tfs-run trace_syscalls -s getppid --instance $MARK -o text -- sh program $PROG"
	eventually [ -s pid ]
	eventually grep -q getppid text
	release_go
	ends 0
	shows '^partial and the rest$'
	shows '^tfs-run: text has 123[4-6] events$'
}

@test "terminal: the progress counts the events that the buffer has lost" {
	terminal 120
	waiting_calls 200000
	types "tfs-run trace_syscalls -s getppid --instance $MARK --buffer 4K -o text --pid $CALLS"
	eventually shows '^tfs-run: tracing; Ctrl-C ends$'
	echo >start
	eventually shows '^[0-9,]+ events, [0-9,]+,[0-9]{3} lost, '
	release_go
	ends 0
	shows '^tfs-run: [0-9]+ of [0-9]+ events are lost, because the buffer was full; --buffer [0-9]+ may keep them all$'
}

# burst KB: Record 40,000 calls with a buffer of that size, while the stream reads nothing.
burst() {
	local stream
	waiting_calls 40000
	types "tfs-run trace_syscalls -s getppid --raw --instance $MARK --buffer $1 -o text --pid $CALLS"
	eventually shows '^tfs-run: tracing; Ctrl-C ends$'
	stream=$(pgrep -f "^tfs-catpipe .*tfs[.]$MARK")
	kill -STOP "$stream"
	echo >start
	eventually [ -e finished ]
	kill -CONT "$stream"
	release_go
	ends 0
}

@test "terminal: the size of the buffer that the advice names keeps all events" {
	terminal 120
	burst 64
	screen | sed -n 's/.*--buffer \([0-9]*\) may keep them all$/\1/p' >kb
	[ "$(cat kb)" -gt 64 ]
	burst "$(cat kb)"
	run -1 shows 'are lost'
	[ "$(grep -c 'calls-.*getppid' text)" = 40000 ]
}

@test "terminal: trace_why --every draws the account so far in place, and at last that of all" {
	need_tracefs events/sched/sched_waking
	terminal 80
	types "tfs-run trace_why --every 100ms --instance $MARK -- sh -c 'read -r _ <go'"
	eventually shows '^[1-9]\.[0-9]{3} s, every 0\.100 s$'
	shows '^[a-z-]+ [0-9]+: [0-9.]+ s$'
	[ "$(screen | grep -c 'every 0.100 s')" = 1 ]
	release_go
	ends 0
	[ "$(screen | grep -c 'every 0.100 s')" = 0 ]
	shows '^all of [0-9.]+ s$'
	shows '^sh [0-9]+: [0-9.]+ s$'
}

@test "terminal: ^C in a flood leaves whole lines, and the program and the session are gone" {
	terminal 200
	printf '%s\n' 'echo $$ >pid' 'exec "$1/calls" 1000000000 </dev/null' >program
	types "tfs-run trace_syscalls -s getppid --decode --instance $MARK -- sh program $PROG"
	eventually shows ' getppid\(\) = [0-9]+ <'
	in_tmux send-keys C-c
	ends 130
	screen | sed -n '/ getppid/p' >lines
	[ -s lines ]
	run -1 grep -Ev '^[0-9:.]+  calls +[0-9]+ getppid\(\) = ([0-9]+ <[0-9.]+>|\?)$' lines
	gone "$(cat pid)"
}

@test "terminal: at a slow one, shown and unwritten lines add up after an interrupt, and all are whole" {
	need_tool python3
	need_tracefs events/syscalls
	mkfifo made go
	printf '%s\n' '"$1/calls" 20000 </dev/null' 'echo >made' 'read -r _ <go' >program
	NO_COLOR=1 run -0 python3 - "$MARK" "$PROG" <<-'END'
		import os, pty, re, signal, subprocess, sys
		master, slave = pty.openpty()
		run = subprocess.Popen(["tfs-run", "trace_syscalls", "-s", "getppid", "--decode", "--buffer", "16384",
		                        "--instance", sys.argv[1], "--", "sh", "program", sys.argv[2]],
		                       stdin=slave, stdout=slave, stderr=subprocess.DEVNULL)
		os.close(slave)
		open("made").read() # nobody has read the terminal until here
		run.send_signal(signal.SIGINT)
		text = b""
		try:
		    while more := os.read(master, 512):
		        text += more
		except OSError: # it has closed the terminal
		    pass
		lines = text.decode().split("\r\n")
		events = [l for l in lines if re.fullmatch(r"[0-9:.]{15}  calls +\d+ getppid\(\) = \d+ <0\.\d{6}>", l)]
		others = [l for l in lines if not re.match(r"[0-9:.]{15}  (calls|sh) ", l)]
		last = re.fullmatch(r"# unwritten (\d+) lines: the terminal was too slow", others[-2])
		print(run.wait(), len(others), len(events) + (int(last[1]) if last else 0))
	END
	# beside the events: the date, the title, the last line, and the end
	[ "$output" = "130 4 20000" ] || [ "$output" = "130 3 20000" ]
}

@test "terminal: no progress line without a terminal as standard error" {
	terminal 80
	waiting_program
	types "tfs-run trace_syscalls -s getppid --instance $MARK -o text -- sh program $PROG 1234 2>err"
	program_ends
	[ ! -s err ] || { cat err; false; }
}

@test "terminal: an empty trace is explained" {
	terminal 80
	for output in '' '--summary' '-o text'; do
		types "tfs-run trace_syscalls -s getppid --instance $MARK $output -- cat /dev/null"
		eventually shows "^end$TYPED="
		shows '^tfs-run: no event: cat has ended, and no traced task caused one that -s '
	done
}

@test "terminal: if a task made no event, tfs-run names the tool that says what it waits for" {
	local task
	terminal 200
	tail -f "$NEVER" >/dev/null &
	task=$!
	types "tfs-run trace_syscalls -s getppid --instance $MARK --pid $task --time 100ms"
	eventually shows "^tfs-run: no event: .* selects; tfs-stuck $task says what it waits for, and who has to act; fewer "
	kill "$task"
}

@test "terminal: after two seconds without a line, tfs-run says what the tasks wait for, unless one runs" {
	local task busy
	terminal 200
	tail -f "$NEVER" >/dev/null &
	task=$!
	types "tfs-run trace_syscalls -s getppid --instance $MARK --pid $task"
	eventually shows "^tfs-run: waiting: $task .tail. [a-z]*: [a-z0-9_]* .*; tfs-stuck $task says what it waits for, and who has to act$"
	in_tmux send-keys C-c
	ends 0
	types "tfs-run trace_syscalls -s getppid --instance $MARK --comm tail"
	eventually shows "^tfs-run: waiting: [0-9]* .tail. [a-z]*: .*; tfs-stuck --comm tail says what it waits for, and who has to act$"
	in_tmux send-keys C-c
	ends 0
	"$BASH" -c 'while :; do :; done' &
	busy=$!
	types "tfs-run trace_syscalls -s getppid --instance $MARK --pid $task,$busy --time 3s"
	eventually shows "^tfs-run: no event: "
	run -1 shows 'waiting:'
	kill "$task" "$busy"
}

@test "terminal: --time ends the recording, and a line says that the program goes on and what ends it" {
	local way
	terminal 120
	echo 'echo $$ >pid; read -r _ <go' >program
	for way in release_go 'in_tmux send-keys C-c'; do
		rm -f pid
		types "tfs-run trace_syscalls -s getppid --instance $MARK --time 100ms -- sh program"
		eventually [ -s pid ]
		shows "^tfs-run: tracing sh \(pid $(cat pid)\) until it ends, for at most 100ms; after that it goes on\$"
		eventually shows "^tfs-run: the recording has ended, and the program \(pid $(cat pid)\) goes on; Ctrl-C ends it\$"
		$way
		if [ "$way" = release_go ]; then ends 0; else ends 130; fi
	done
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031 # words for another shell; each test is a process of its own
# trace_syscalls: prints N lines for N calls, and counts lost events exactly
# parts: 6

# In a guest the larger numbers are a tenth of those in the names.

load ../helper
load ../hooks

# For tests that may lose nothing: a million events of 24 bytes are 24 MB, and one
# CPU may have to hold them all.
ROOM=(--buffer "$(so_many 65536)")

count() {
	grep -c ": sys_${2:-getppid}[( ]" "$1" || :
}

# delivered_and_lost FILE NAME: Print the number of lines of the call, and the number in the
# last line, which exists only after a loss.
delivered_and_lost() {
	local lost
	lost=$(sed -En '$s/^# lost ([0-9]+) events: .*/\1/p' "$1")
	[ "$(grep -c '^#' "$1")" = "${lost:+1}" ] || [ -z "$lost" ]
	LOST=${lost:-0}
	echo $(($(count "$1" "${2-}") + LOST))
}

# session WORDS: Start a session of getppid for the program that calls started.
session() {
	need_tracefs events/syscalls
	start_session trace_syscalls --syscall getppid --pid "$CALLS" "$@"
}

# all_are N: Fail unless the session ended by itself and got has N lines and nothing else.
all_are() {
	watch_end
	[ "$(count got)" = "$1" ]
	file_has "$1" got
}

# with READER N: A session with N calls, read by the program caller (lines) or by cat (fifo), or as a
# file that stays.
with() {
	calls "$2"
	case $1 in
	lines)
		session "${ROOM[@]}"
		caller_reads
		;;
	fifo)
		session "${ROOM[@]}" --output fifo
		read_by cat >got
		;;
	file)
		session "${ROOM[@]}" --output file --size "$(so_many 262144)"
		release "$SESSION"
		[ "$(count "$TRACE")" = "$2" ]
		file_has "$2" "$TRACE"
		rm -r "${TRACE%/*}"
		return
		;;
	esac
	release
	all_are "$2"
}

# bats test_tags=quick
@test "trace_syscalls: one call gives one line to a caller that takes one line per read, to cat and in a file" {
	for kind in lines fifo file; do
		with $kind 1
	done
}

@test "trace_syscalls: 1000 and 100000 calls give as many lines to a caller that takes one line per read" {
	with lines 1000
	with lines "$(so_many 100000)"
}

@test "trace_syscalls: 1000 and 100000 calls give as many lines to cat and in a file" {
	for kind in fifo file; do
		with $kind 1000
		with $kind "$(so_many 100000)"
	done
}

# bats test_tags=long
@test "trace_syscalls: a million calls give a million lines to a caller, to cat and in a file" {
	for kind in lines fifo file; do
		with $kind "$(so_many 1000000)"
	done
}

# ---- losses ------------------------------------------------------------------------

# Make the session outlast the calls: it has another task to trace.
lasting_session() {
	need_tracefs events/syscalls
	mkfifo stay
	background cat <>stay
	STAY=$PID
	calls "$1"
	start_session trace_syscalls --syscall getppid --pid "$STAY" "$CALLS" "${@:2}"
}

# accounted FILE N: Fail unless delivered and lost add up to N, and some were lost.
accounted() {
	[ "$(delivered_and_lost "$1")" = "$2" ] || {
		echo "$(count "$1") delivered"
		tail -n 1 "$1"
		return 1
	}
	[[ $(tail -n 1 "$1") = '# lost '* ]]
}

@test "trace_syscalls: a late caller gets the newest lines and the number of lost events" {
	lasting_session 50000 --buffer 64
	release "$CALLS"
	read_by "$PROG/caller" /dev/stdin >got
	watch_stop
	accounted got 50000
}

@test "trace_syscalls: a late cat gets the newest lines and the number of lost events" {
	lasting_session 50000 --buffer 64 --output fifo
	release "$CALLS"
	read_by cat >got
	watch_stop
	accounted got 50000
}

@test "trace_syscalls: the default buffer loses events before a late reader, and their number is printed" {
	lasting_session 300000 --output fifo
	release "$CALLS"
	read_by cat >got
	watch_stop
	accounted got 300000
}

@test "trace_syscalls: a caller that pauses half way misses only the events that are counted as lost" {
	lasting_session 200000 --buffer 64
	mkfifo narrow gate
	# the reader takes the caller's output up to the first line, and then stops
	exec 9<>narrow
	# shellcheck disable=SC2016 # the shell's own variable
	background sh -c 'read -r line; echo "$line"; read -r _ <gate; cat' \
		<narrow >got 9>&-
	last=$PID
	read_by "$PROG/caller" /dev/stdin >&9 9>&-
	exec 9>&-
	release "$CALLS"
	kill -INT "$SESSION"
	echo >gate
	watch_end
	finishes "$last" 0
	accounted got 200000
}

@test "trace_syscalls: a stream that cannot keep up counts its lost events, with cat" {
	calls 200000
	session --buffer 64 --output fifo
	read_by cat >got
	overrun
	watch_end
	accounted got 200000
}

@test "trace_syscalls: a stream that cannot keep up counts its lost events, with a caller" {
	calls 200000
	session --buffer 64
	read_by "$PROG/caller" /dev/stdin >got
	overrun
	watch_end
	accounted got 200000
}

@test "trace_syscalls: a stream that cannot keep up counts its lost events, in a file" {
	calls 200000
	session --buffer 64 --output file
	overrun
	finishes "$SESSION" 0
	accounted "$TRACE" 200000
}

# The stream is tfs-record, which forks no filter.
@test "trace_syscalls: a trace.dat has the number of lost events: as text, JSON, decoded and Perfetto's" {
	local n=40000 lost recorded
	calls $n
	session --buffer 64 --output dat
	overrun
	finishes "$SESSION" 0
	tfs-report "$TRACE" >got
	accounted got $n
	lost=$(tail -n 1 got | cut -d' ' -f3) recorded=$(count got)
	tfs-report -j "$TRACE" >got
	[ "$(grep -c '"event":"sys_enter_getppid"' got)" = "$recorded" ]
	[ "$(tail -n 1 got)" = "{\"lost\":$lost,\"overwritten\":$lost,\"unwritten\":0}" ]
	tfs-report -D "$TRACE" >got
	[ "$(grep -c ' getppid(' got)" = "$recorded" ]
	[ "$(tail -n 1 got)" = "# lost $lost events: $lost overwritten in a full buffer, 0 not written" ]
	tfs-report "$TRACE" | tfs-summary >got
	grep -q "^ *$recorded .* getppid$" got
	grep -qx "# lost $lost events: .*" got
	tfs-perfetto "$TRACE" | protoc --decode=perfetto.protos.Trace -I "$TREE/t/data" perfetto.proto 2>/dev/null |
		awk '/END_OF_TRACE/ { at_end = 1 } at_end && /overrun:/ { lost += $2 }
			at_end && /read_events:/ { read += $2 } END { print read, lost }' >sums
	command -v protoc >/dev/null || skip "needs protoc"
	[ "$(cat sums)" = "$recorded $lost" ]
}

# waiting N: Do N children of the held program wait in read?
waiting() {
	local n=0 pid call
	for pid in $(children "$HELD"); do
		read -r call _ <"/proc/$pid/syscall" || :
		[ "$call" != "$(syscall-nr read)" ] || n=$((n + 1))
	done
	[ "$n" = "$1" ]
}

# asked_to_end PID: Has a stopped process a SIGTERM that it has not seen?
asked_to_end() {
	local status
	status=$(<"/proc/$1/status")
	[[ $status =~ ShdPnd:[[:space:]]*([0-9a-f]+) ]] && (((0x${BASH_REMATCH[1]} & 0x4000) != 0))
}

@test "trace_syscalls: calls that return while their session ends have one line each, whatever the output" {
	local output stream
	mkfifo bytes
	exec 7<>bytes
	for output in file dat; do
		hold sh -c 'echo; read -r go
			for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
				dd bs=1 count=1 <bytes >/dev/null 2>&1 &
			done
			wait'
		need_tracefs events/syscalls
		session_named "$MARK-$output" trace_syscalls --decode --syscall read --pid "$HELD" --output "$output"
		stream=$(children "$(children "$SESSION")")
		release
		eventually waiting 16
		kill -STOP "$stream"
		kill "$SESSION"
		eventually asked_to_end "$stream"
		printf 0123456789abcdef >&7
		finishes "$HELD" 0
		kill -CONT "$stream"
		finishes "$SESSION" 0
		[ "$output" = file ] && cp "$TRACE" got || tfs-report -D "$TRACE" >got
		[ "$(grep -c ': read(0, .*\(= 1 <.*>\|<unfinished \.\.\.>\)$' got)" = 16 ]
	done
}

@test "trace_syscalls: a trace.dat that is full has the number of events that are missing" {
	calls 100000
	session "${ROOM[@]}" --output dat --size 1100
	release "$SESSION"
	tfs-report "$TRACE" >got
	accounted got 100000
	[[ $(tail -n 1 got) =~ ^'# lost '[0-9]+' events: 0 overwritten in a full buffer, '[0-9]+' not written'$ ]]
}

# Make the calls while the stream is stopped.
overrun() {
	local janitor stream
	janitor=$(children "$SESSION")
	stream=$(children "$janitor")
	kill -STOP "$stream"
	release
	finishes "$CALLS" 0
	kill -CONT "$stream"
}

@test "trace_syscalls: a full file ends with the number of missing events" {
	calls 100000
	session "${ROOM[@]}" --output file --size 256
	release "$SESSION"
	[ "$(wc -c <"$TRACE")" -le $((256 * 1024)) ]
	accounted "$TRACE" 100000
	[[ $(tail -n 1 "$TRACE") =~ ^'# lost '[0-9]+' events: 0 overwritten in a full buffer, '[0-9]+' not written'$ ]]
}

# ---- tasks and calls -----------------------------------------------------------------

@test "trace_syscalls: each existing thread adds its lines" {
	calls -e 2000 8
	session "${ROOM[@]}" --output fifo
	read_by cat >got
	release
	all_are 16000
}

@test "trace_syscalls: each later thread adds its lines" {
	calls 2000 8
	session "${ROOM[@]}" --output fifo
	read_by cat >got
	release
	all_are 16000
}

@test "trace_syscalls: each later child and its threads add their lines" {
	calls 2000 2 8
	session "${ROOM[@]}"
	caller_reads
	release
	all_are 32000
}

@test "trace_syscalls: --returns doubles the lines" {
	calls 2000
	session "${ROOM[@]}" --output fifo --returns
	read_by cat >got
	release
	watch_end
	[ "$(grep -c ': sys_getppid()$' got)" = 2000 ]
	[ "$(grep -c ': sys_getppid -> 0x' got)" = 2000 ]
	file_has 4000 got
}

@test "trace_syscalls: accepts several names, each as NAME or as sys_enter_NAME" {
	calls 1000
	need_tracefs events/syscalls
	watch_whole trace_syscalls --pid "$CALLS" \
		-s sys_enter_getppid exit_group
	[ "$(count got getppid)" = 1000 ]
	[ "$(count got exit_group)" = 1 ]
	file_has 1001 got
}

@test "trace_syscalls: openat and sys_enter_openat mean the same call" {
	need_tracefs events/syscalls
	small_shell
	touch a b c
	mkfifo go
	for name in openat sys_enter_openat; do
		background "${SMALL_SHELL[@]}" -c 'read -r _; : <a; : <b; : <c' <>go
		watch trace_syscalls --pid "$PID" --syscall "$name"
		echo >go
		watch_end
		[ "$(count got openat)" = 3 ]
		file_has 3 got
	done
}

@test "trace_syscalls: accepts the names of strace and the C library, and leaves calls out by them" {
	need_tracefs events/syscalls/sys_enter_newuname
	need_tool strace
	for words in '-s uname' '-s sys_enter_uname,fstatat' '-s newuname' '-s olduname'; do
		# shellcheck disable=SC2086 # words
		tfs-run trace_syscalls $words -o got -- uname
		[ "$(grep -c ': sys_newuname(' got)" = "$(strace -fe trace=uname uname 2>&1 | grep -c '^uname(')" ]
	done
	tfs-run trace_syscalls -s sys_exit_uname -o got -- uname
	grep -q ': sys_newuname -> 0x0' got
	tfs-run trace_syscalls -s '!uname' -s '!fstat' -s '!pread' -o got -- uname
	run -1 grep -E ': sys_(newuname|newfstat|pread64)\(' got
	tfs-run trace_count -s uname,umount2,sendfile -o got -- uname
	grep -q '[0-9] sys_enter_newuname' got
	tfs-run trace_flight -e sched_switch --dump-on slow:umount2,uname:1s --all --check
}

@test "trace_syscalls: traces all calls without --syscall, and with --syscall without a name" {
	need_tracefs events/syscalls
	small_shell
	touch a
	mkfifo go
	for option in "" --syscall; do
		background "${SMALL_SHELL[@]}" -c 'read -r _; : <a; umask 0' <>go
		# shellcheck disable=SC2086 # a word or none
		watch trace_syscalls --pid "$PID" $option
		echo >go
		watch_end
		for name in openat exit_group; do
			[ "$(count got "$name")" = 1 ]
		done
		for name in umask close; do
			[ "$(count got "$name")" -ge 1 ]
		done
	done
}

@test "trace_syscalls: every call has its return if all calls are traced" {
	need_tracefs events/syscalls
	calls 1000
	watch_whole trace_syscalls --pid "$CALLS" --returns
	[ "$(grep -c ': sys_getppid()$' got)" = 1000 ]
	[ "$(grep -c ': sys_getppid -> 0x' got)" = 1000 ]
	# the read that was in progress returns, which 32-bit arm does not report, and
	# exit_group never returns
	sed '1{/ -> /d}' got >whole
	[ "$(grep -c ': sys_[a-z0-9_]* -> ' whole)" = "$(($(grep -c ': sys_[a-z0-9_]*(' whole) - 1))" ]
}

@test "trace_syscalls: two sessions at once each have lines of their own" {
	need_tracefs events/syscalls
	calls 3000
	one=$CALLS gate=$GO
	calls 5000
	watch trace_syscalls --syscall getppid --pid "$CALLS" "${ROOM[@]}"
	second=$READER session=$SESSION
	background "$MANAGER" --run trace_syscalls --args \
		"-i $MARK.two --pid $one -s getppid --output file ${ROOM[*]}" >two
	SESSION=$PID
	eventually test -s two
	echo >"$gate"
	release
	all_end "$SESSION" "$session" "$second"
	[ "$(count got)" = 5000 ]
	[ "$(count "$(cat two)")" = 3000 ]
	[ "$(pids_in got)" = "$CALLS" ]
	[ "$(pids_in "$(cat two)")" = "$one" ]
}

@test "trace_syscalls: --user-stack prints the program's stack below each call, with functions and files" {
	user_stacks trace_syscalls -s getppid --user-stack
}

@test "trace_syscalls: --user-stack names the functions of 20 programs that end at once" {
	[ "$(uname -m)" = x86_64 ] || skip "needs stacks of programs, as x86_64 has them"
	[ -e /proc/sys/kernel/perf_event_paranoid ] || skip "needs perf_event_open(2)"
	need_tracefs events/syscalls
	need_tracefs options/userstacktrace
	printf '\n\n' >two
	tfs-run trace_syscalls -s getppid --user-stack -- sh -c \
		'for i in 1 2 3 4 5 6 7 8 9 10; do "$1" callers 3 2 <two; "$1" callers 1 0 <two; done' \
		sh "$PROG/acts" >got
	[ "$(grep -c "^ => acts_often+0x[0-9a-f]* ($PROG/acts)$" got)" = 40 ]
	[ "$(grep -c "^ => acts_rarely+0x[0-9a-f]* ($PROG/acts)$" got)" = 20 ]
}

@test "trace_syscalls: --user-stack names functions of libraries that were unloaded, and of others at their addresses" {
	[ "$(uname -m)" = x86_64 ] || skip "needs stacks of programs, as x86_64 has them"
	[ -e /proc/sys/kernel/perf_event_paranoid ] || skip "needs perf_event_open(2)"
	need_tracefs events/syscalls
	need_tracefs options/userstacktrace
	# 20 calls of each library, in three tasks
	tfs-run trace_syscalls -s getppid --user-stack -- \
		"$PROG/reload" "$PROG/leaf.so" middle "$PROG/twig.so" other "$PROG/leaf.so" middle >got
	grep -oE '^ => (middle|other)\+0x[0-9a-f]+ \([^)]*\)$' got | sed 's/+0x[0-9a-f]*//' | sort | uniq -c | sed 's/^ *//' |
		diff - <(printf '%s\n' "120  => middle ($PROG/leaf.so)" "60  => other ($PROG/twig.so)")
	# a clock without a time does not tell which library was there, unless it is read at once
	tfs-run trace_syscalls -s getppid --user-stack --clock counter -- \
		"$PROG/reload" "$PROG/leaf.so" middle "$PROG/twig.so" other >got
	[ "$(grep -c '^ => middle+' got)" -le 60 ] && [ "$(grep -c '^ => other+' got)" -le 60 ]
	[ "$(grep -c '^ => load+0x' got)" = 120 ]
}

@test "trace_syscalls: --user-stack cannot be combined with --slower and decoded calls, and tfs-run prints it for people" {
	need_tracefs events/syscalls
	need_tracefs options/userstacktrace
	calls 2
	for option in '--slower 1ms' --decode --failed '--data 9'; do
		fails 100 'manager: fatal: --user-stack cannot be combined with --slower, and what needs decoded calls' \
			"$MANAGER" --run trace_syscalls --args "--instance $MARK --pid $CALLS --user-stack $option"
		nothing_left
	done
	# tfs-run asks for decoded calls without it
	run -0 --separate-stderr tfs-run trace_syscalls --human -s getppid --user-stack -- "$PROG/calls" 2
	[ "$(grep -c ' getppid()$' <<<"$output")" = 2 ]
	[ "$(grep -c '<user stack trace>' <<<"$output")" = 2 ]
}

# ---- --numbers ------------------------------------------------------------------------

@test "trace_syscalls: --strace prints lines that strace-graph reads, and contradicts what is not such text" {
	local graph=/usr/share/doc/strace/examples/strace-graph.gz
	need_tracefs events/syscalls
	printf '%s\n' 'cat /none/at/all' 'ls /none' '(exit 7)' true >work
	tfs-run trace_syscalls --strace -o got -- sh work 2>err
	grep -Eqx '[0-9]+ +[0-9]{10}\.[0-9]{6} openat\(AT_FDCWD, "/none/at/all", .*\) = -1 ENOENT \(No such file or directory\) <0\.[0-9]{6}>' got
	file_has 0 <(grep -Evx '[0-9]+ +[0-9]{10}\.[0-9]{6} [a-z0-9_]+\(.*\) = (\?|.* <0\.[0-9]{6}>)' got)
	for word in --json --otel '--clock counter'; do
		# shellcheck disable=SC2086 # words
		refuses trace_syscalls 100 '--strace cannot be combined with --json, --otel and a clock without seconds' \
			--strace $word --pid $$
	done
	for word in --json --human --summary '-o x.json' '-o x.svg'; do
		# shellcheck disable=SC2086 # words
		fails 100 'tfs-run: fatal: --strace prints text as strace does; leave it out, or --human, --summary, --json and -o FILE.json or FILE.svg' \
			tfs-run trace_syscalls --strace $word -- true
	done
	if [ ! -e "$graph" ] || ! command -v perl >found; then
		skip "needs strace-graph, of Debian's package strace"
	fi
	# It cannot read a trace in which the exec of a child returns before vfork does, not even strace's.
	graphs() {
		zcat "$graph" | perl -M-warnings=portable - got >tree 2>said &&
			file_has 4 <(grep -o 'sh work\|(anon)\|cat /none/at/all\|ls /none' tree) && return
		tfs-run trace_syscalls --strace -o got -- sh work 2>err
		return 1
	}
	eventually graphs
	file_has 0 <(grep -v '^Hexadecimal number' said)
}

@test "trace_syscalls: --numbers records calls that have no name: as text, with returns, as JSON, slow ones, in the summary and for people" {
	need_tracefs events/raw_syscalls
	local unknown=$PROG/case/weird_sys way
	numbers() { # WORDS: print the lines of the call 999
		tfs-run trace_syscalls --instance "$MARK" --numbers "$@" -- "$unknown" 2>err >got
		grep -E '(NR |"id":|syscall_)(999|0x3e7)\>' got | sed -E 's/.*: (sys_)/\1/; s/^[{].*"event"/{"event"/'
	}
	way=$(numbers)
	[ "$way" = 'sys_enter: NR 999 (1, 2, 3, 4, 5, 6)' ]
	way=$(numbers --returns)
	[ "$way" = 'sys_enter: NR 999 (1, 2, 3, 4, 5, 6)
sys_exit: NR 999 = -38' ]
	way=$(numbers --json)
	[ "$way" = '{"event":"sys_enter","fields":{"id":999,"args":[1,2,3,4,5,6]}}' ]
	way=$(numbers --slower 0)
	[[ $way =~ ^'sys_exit: NR 999 = -38 lat='[0-9]+$ ]]
	way=$(numbers --summary)
	[[ $way =~ ^\ +1\ +1\ .*\ syscall_(999|0x3e7)$ ]]
	way=$(numbers --human)
	[[ $way = *' sys_enter NR 999 (1, 2, 3, 4, 5, 6)' ]]
	refuses trace_syscalls 100 '--numbers cannot be combined with what needs decoded calls' \
		--pid $$ --numbers --decode
}

@test "trace_syscalls: a call that seccomp denies has a return and no beginning" {
	need_tracefs events/syscalls
	tfs-run trace_syscalls --instance "$MARK" --returns -- "$PROG/case/denied" 2>err >got || :
	run -1 grep ': sys_mkdir(' got
	[ "$(grep -c ': sys_mkdir -> 0xffffffffffffffff$' got)" = 5 ]
	tfs-run trace_count --instance "$MARK" -s sys_exit_mkdir mkdir -- "$PROG/case/denied" 2>err >got || :
	lines_are got '      5 sys_exit_mkdir'
}

# ---- --slower ---------------------------------------------------------------------------

@test "trace_syscalls: --slower passes the returns of calls that take at least so long, with lat" {
	need_tracefs events/syscalls
	calls 10 1 5
	traced trace_syscalls -s getppid --slower 0
	[ "$(grep -c ": sys_getppid -> 0x[0-9a-f]* lat=[0-9]*$" got)" = 50 ]
	file_has 50 got
	calls 10
	traced trace_syscalls -s sys_exit_getppid --slower 0 --returns
	[ "$(grep -c ": sys_getppid -> 0x[0-9a-f]* lat=[0-9]*$" got)" = 10 ]
	file_has 10 got
	calls 10 1 5
	traced trace_syscalls -s getppid --slower 2000s
	[ ! -s got ]
	refuses trace_syscalls 100 "--slower: '1m' is not a time such as 500 (microseconds), 500us, 10ms or 1s" \
		--pid $$ --slower 1m
}

@test "trace_syscalls: the summary of --slower has the slow calls only" {
	need_tracefs events/syscalls
	tfs-run trace_syscalls -s getppid --slower 0 --summary -- "$PROG/calls" 10 2>err >table
	[ "$(sed 1d table | awk '{ print $1, $NF }')" = "10 getppid
10 total" ] || { cat table; false; }
	run -1 tfs-run trace_syscalls -s getppid --slower 2000s --summary -- "$PROG/calls" 10
}

# ---- shells, and a kernel without CONFIG_FTRACE_SYSCALLS ---------------------------------

# body SHELL...: Run the hook trace_syscalls with this shell in a new instance.
body() {
	(cd "$DIR" && env -i "PATH=$PATH" "TFS_INSTANCE=$INSTANCE" \
		${HOOK_SYSCALL+HOOK_SYSCALL="$HOOK_SYSCALL"} ${HOOK_RETURNS+HOOK_RETURNS=1} \
		"$@" "$TREE/trace-hooks/ftrace/hooks.d/trace_syscalls")
	LC_ALL=C sort "$DIR/set_event"
}

in_every_shell() {
	need_tracefs events/syscalls
	local n=0
	for shell in "busybox ash" dash "$BASH" "$BASH --posix"; do
		command -v "${shell%% *}" >/dev/null || continue
		new_instance ".$((++n))"
		# shellcheck disable=SC2086 # a shell and its option
		body $shell >"set.$n"
		[ -s "set.$n" ]
		tfs-instance remove "$INSTANCE"
	done
}

@test "trace_syscalls: enables the same events in every shell" {
	export HOOK_SYSCALL="getppid openat read"
	in_every_shell
	for set in set.*; do
		diff - "$set" <<-'END'
		syscalls:sys_enter_getppid
		syscalls:sys_enter_openat
		syscalls:sys_enter_read
		END
	done
}

@test "trace_syscalls: with returns it enables the same events in every shell" {
	export HOOK_SYSCALL=getppid HOOK_RETURNS=1
	in_every_shell
	for set in set.*; do
		diff - "$set" <<-'END'
		syscalls:sys_enter_getppid
		syscalls:sys_exit_getppid
		END
	done
}

@test "trace_syscalls: without a name it enables all events in every shell" {
	in_every_shell
	(cd "$TRACEFS/events/syscalls" && printf 'syscalls:%s\n' sys_enter_*) | LC_ALL=C sort >all
	for set in set.*; do
		cmp all "$set"
	done
}

@test "trace_syscalls: with returns and without a name it enables all events in every shell" {
	export HOOK_RETURNS=1
	in_every_shell
	(cd "$TRACEFS/events/syscalls" && printf 'syscalls:%s\n' sys_*) | LC_ALL=C sort >all
	for set in set.*; do
		cmp all "$set"
	done
}

# without_syscalls ARGS: Run the manager with events/syscalls as an empty directory.
without_syscalls() {
	need_tracefs events/raw_syscalls
	need_mounts
	: >out; : >err
	cat >without <<-'END'
	[ ! -d "$1" ] || mount -t tmpfs none "$1" || exit 9
	exec "$2" --run trace_syscalls --args "$3"
	END
	session_by unshare -m sh without "$TRACEFS/events/syscalls" "$MANAGER" \
		"--instance $MARK $1"
}

@test "trace_syscalls: without events/syscalls it uses raw_syscalls and the number of the call" {
	calls 1000
	without_syscalls "--pid $CALLS --output fifo --syscall getppid"
	cat err
	[ "$(grep -v '^task:' "$TRACEFS/instances/tfs.$MARK/set_event")" = raw_syscalls:sys_enter ]
	[ "$(cat "$TRACEFS/instances/tfs.$MARK/events/raw_syscalls/sys_enter/filter")" = \
		"id == $(syscall-nr getppid)" ]
	read_by cat >got
	release
	watch_end
	[ "$(grep -c ": sys_enter: NR $(syscall-nr getppid) (" got)" = 1000 ]
	file_has 1000 got
}

@test "trace_syscalls: the fallback accepts several names and the returns" {
	calls 1000
	without_syscalls "--pid $CALLS --output fifo --returns --syscall getppid sys_enter_exit_group"
	read_by cat >got
	release
	watch_end
	getppid=$(syscall-nr getppid)
	[ "$(grep -c ": sys_enter: NR $getppid (" got)" = 1000 ]
	[ "$(grep -c ": sys_exit: NR $getppid = " got)" = 1000 ]
	[ "$(grep -c ": sys_enter: NR $(syscall-nr exit_group) (" got)" = 1 ]
	file_has 2001 got
}

@test "trace_syscalls: the fallback without a name traces all calls" {
	small_shell
	touch a
	mkfifo go
	background "${SMALL_SHELL[@]}" -c 'read -r _; : <a; umask 0' <>go
	without_syscalls "--pid $PID --output fifo"
	read_by cat >got
	echo >go
	watch_end
	for name in openat exit_group; do
		[ "$(grep -c ": sys_enter: NR $(syscall-nr "$name") (" got)" = 1 ]
	done
	for name in umask close; do
		grep -q ": sys_enter: NR $(syscall-nr "$name") (" got
	done
}

@test "trace_syscalls: the fallback leaves out the parents of --parent" {
	calls 10 1 2
	parent=$CALLS
	without_syscalls "--parent $CALLS --output fifo --syscall getppid wait4"
	read_by cat >got
	release
	watch_end
	file_has 20 got
	run -1 grep -e "-$parent " got
}

@test "trace_syscalls: the fallback refuses an unknown call" {
	calls 0
	without_syscalls "--pid $CALLS --syscall getppid nosuch" || :
	finishes "$SESSION" 111
	[ ! -s out ]
	file_is err "manager: fatal: no system call 'nosuch' here; syscall-nr lists them"
}

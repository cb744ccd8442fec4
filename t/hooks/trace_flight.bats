#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2153 # each test is a process of its own; helper.bash
# trace_flight: records without a reader, and saves the last seconds in files

load ../helper

# flight WORDS: Start a session of the held program calls.
flight() {
	need_tracefs events/syscalls
	start_session trace_flight --pid "$CALLS" "$@"
	HERE=${TRACE%/*}
}

# Print events as text, without the names of tasks.
plain() {
	grep -v -e '^#' -e '^CPU:' "$@" | cut -c 17- || :
}

# Fail unless these files stay, and nothing else of the session.
left() {
	[ "$(cd "$HERE" && echo *)" = "$*" ] || { ls -A "$HERE"; return 1; }
	[ ! -e "$TRACEFS/instances/tfs.${HERE##*/}" ]
	[ ! -e "$TRACEFS/instances/tfs.${HERE##*/}+trigger" ]
	[ ! -e "$TRACEFS/instances/tfs.${HERE##*/}+slow" ]
	rm -r "$HERE"
}

there() {
	[ -e "$HERE/$1" ]
}

# leave out dot files, which are unfinished dumps
stop_flight() {
	kill "-${1:-INT}" "$SESSION"
	finishes "$SESSION" 0
	file_is out "$TRACE"
	[ ! -s err ]
}

# bats test_tags=quick
@test "trace_flight: SIGUSR1 to the manager makes a dump without a reader, and the session goes on" {
	calls 1000
	flight -e sys_enter_getppid sched_process_exit --dumps 3 --dump-on SIGUSR1
	for n in 1 2 3 4; do
		kill -USR1 "$SESSION"
		eventually there "dump.$n"
	done
	release
	finishes "$SESSION" 0 # its task has ended
	[ ! -s "$HERE/dump.4" ]
	left dump.2 dump.3 dump.4
}

@test "trace_flight: --dump-on an event: the dump holds everything up to the line of that event" {
	calls 1000
	flight -e sys_enter_getppid sched_process_exit --dump-on "'sched_process_exit:pid == $CALLS'"
	release "$SESSION"
	[ "$(grep -c ': sys_getppid()$' "$HERE/dump.1")" = 1000 ]
	[ "$(tail -n 1 "$HERE/dump.1" | grep -c ': sched_process_exit: ')" = 1 ]
	file_has 1001 "$HERE/dump.1"
	left dump.1
}

@test "trace_flight: --dump-on takes SYSTEM:EVENT and globs, and makes no dump if the filter matches nothing" {
	calls 10
	flight -e sys_enter_getppid --dump-on "'sched:sched_process_e[x]it:pid == 1'"
	release "$SESSION"
	nothing_left
	calls 10
	flight -e sys_enter_getppid --dump-on 'sched:sched_process_e?it'
	release "$SESSION"
	file_has 10 "$HERE/dump.1"
	left dump.1
}

@test "trace_flight: prints the path of each dump to a reader, a line each, and then the end" {
	calls 10
	flight -e sys_enter_getppid
	read_by cat >got
	kill -USR1 "$SESSION"
	eventually there dump.1
	kill -USR1 "$SESSION"
	eventually there dump.2
	stop_flight
	finishes "$READER" 0
	[ "$(cat got)" = "$(printf '%s\n' "$HERE/dump.1" "$HERE/dump.2")" ]
	left dump.1 dump.2
}

@test "trace_flight: a killed reader can be followed by another, which gets the later paths and events" {
	calls 10
	flight -e sys_enter_getppid
	kill -USR1 "$SESSION"
	eventually there dump.1
	# shellcheck disable=SC2016 # the inner shell's own
	read_by sh -c 'dd bs=4096 count=1 2>/dev/null; kill -KILL $$' >one
	finishes "$READER" 137
	kill -USR1 "$SESSION"
	eventually there dump.2
	read_by cat >two
	release
	all_end "$SESSION" "$READER"
	lines_are one "$HERE/dump.1"
	[ "$(head -n 1 two)" = "$HERE/dump.2" ]
	[ "$(tail -n +2 two | grep -c ': sys_getppid()$')" = 10 ]
	file_has 11 two
	left dump.1 dump.2
}

@test "trace_flight: without --dump-on it prints the recorded events to the reader of the trace at the end" {
	mkfifo stay
	# the last task, a signal and the time limit each end it
	for how in task signal time; do
		calls 100
		calls=$CALLS
		set --
		if [ "$how" != task ]; then
			background cat stay # it is traced, and it stays
			stays=$PID
			set -- "$stays"
		fi
		[ "$how" != time ] || set -- "$@" --time "$(ample)"
		start_session trace_flight --pid "$calls" "$@" -e sys_enter_getppid
		HERE=${TRACE%/*}
		read_by cat >got
		release "$calls"
		[ "$how" != signal ] || kill -INT "$SESSION"
		all_end "$SESSION" "$READER"
		[ "$(grep -c ': sys_getppid()$' got)" = 100 ]
		file_has 100 got
		nothing_left
		[ "$how" = task ] || kill -KILL "$stays"
	done
}

@test "trace_flight: the events at the end are one line per packet, after the paths of the dumps" {
	calls 20
	flight -e sys_enter_getppid
	read_by "$BASH" -c 'while dd bs=4096 count=1 of=packet 2>/dev/null && [ -s packet ]; do
		wc -l <packet; cat packet >&2; done' >lines 2>got
	kill -USR1 "$SESSION"
	eventually there dump.1
	release
	all_end "$SESSION" "$READER"
	file_has 21 lines
	[ "$(sort -u lines)" = 1 ]
	[ "$(head -n 1 got)" = "$HERE/dump.1" ]
	[ "$(tail -n +2 got | grep -c ': sys_getppid()$')" = 20 ]
	left dump.1
}

@test "trace_flight: without a reader it makes a dump at the end, unless nothing was recorded" {
	calls 100
	flight -e sys_enter_getppid
	release "$SESSION"
	file_has 100 "$HERE/dump.1"
	left dump.1
	calls 100
	flight -e sys_enter_getppid
	stop_flight
}

@test "trace_flight: --dump json, dat and --per-cpu print JSON lines at the end, or files where only files will do" {
	calls 10
	flight -e sys_enter_getppid --dump json
	read_by cat >got
	release
	all_end "$SESSION" "$READER"
	[ "$(grep -c '^{.*"sys_enter_getppid".*}$' got)" = 10 ]
	nothing_left
	for how in '--dump dat' --per-cpu; do
		calls 10
		# shellcheck disable=SC2086 # two words
		flight -e sys_enter_getppid $how
		read_by cat >got
		release
		all_end "$SESSION" "$READER"
		[ -s got ]
		while read -r path; do
			[ -s "$path" ]
		done <got
		rm -r "$HERE"
	done
}

@test "trace_flight: --dump-on end makes a dump at the end, even if nothing was recorded" {
	calls 10
	flight -e sys_enter_getppid --dump-on end
	read_by cat >got
	release
	all_end "$SESSION" "$READER"
	lines_are got "$HERE/dump.1"
	file_has 10 "$HERE/dump.1"
	left dump.1
	calls 10
	flight -e sys_enter_getppid --dump-on end
	stop_flight
	[ ! -s "$HERE/dump.1" ]
	left dump.1
}

# run_flight STATUS WORD... -- PROG...: Run the hook under tfs-run, with output to got.
run_flight() {
	local want=$1 status=0
	shift
	need_tracefs events/syscalls
	HERE=$TFS_RUNDIR/ftrace/$MARK
	tfs-run trace_flight -e sys_enter_execve --instance "$MARK" "$@" >got 2>err || status=$?
	[ "$status" = "$want" ] && [ ! -s err ]
}

@test "trace_flight: --dump-on fail makes a dump only if the program fails or dies by a signal" {
	for program in true 'false; true'; do
		run_flight 0 --dump-on fail -- sh -c "$program"
		[ "$(cat got)" = '# no dump: no traced task has failed' ]
		nothing_left
	done
	# shellcheck disable=SC2016 # the shell's own
	for program in 'exit 3' 'kill -KILL $$' 'kill -TERM $$'; do
		status=0
		sh -c "$program" || status=$?
		run_flight "$status" --dump-on fail -- sh -c "$program"
		lines_are got "$HERE/dump.1"
		[ "$(grep -c ': sys_execve(' "$HERE/dump.1")" -ge 1 ]
		left dump.1
	done
}

# sleeper N: Print a program for sh that sleeps N times, and waits with fast calls for each dump.
sleeper() {
	# shellcheck disable=SC2016 # the inner shell's own
	printf 'for n in %s; do sleep 0.05; until [ -e %s/dump.$n ]; do :; done; done' \
		"$(seq -s ' ' "$1")" "$HERE"
}

@test "trace_flight: --dump-on slow: each slow call among fast ones makes a dump, which has its return" {
	need_tracefs events/syscalls
	HERE=$TFS_RUNDIR/ftrace/$MARK
	for on in slow:clock_nanosleep:50000us slow:getppid,clock_*:50ms; do
		tfs-run trace_flight -e sys_exit_clock_nanosleep --instance "$MARK" --dump-on "$on" -- \
			sh -c "$(sleeper 3)" >got
		cat got
		[ "$(grep -Ecx '# slow: clock_nanosleep of task [0-9]+ took [5-9][0-9]{4} us' got)" = 3 ]
		[ "$(grep -vc '^# slow' got)" = 3 ]
		for n in 1 2 3; do
			[ "$(grep -c ': sys_clock_nanosleep -> 0x0$' "$HERE/dump.$n")" = 1 ]
		done
		left dump.1 dump.2 dump.3
	done
}

# Is the task of this pid in this call?
is_in() {
	[ "$(cut -d ' ' -f 1 "/proc/$1/syscall")" = "$(syscall-nr "$2")" ]
}

@test "trace_flight: --dump-on slow: says if no call was slow, and makes a dump at the end for a call that lasts" {
	run_flight 0 --dump-on slow:1000s -- sh -c 'exit 0'
	[ "$(tail -n 1 got)" = '# no dump: no system call has taken that long' ]
	nothing_left
	mkfifo never
	# shellcheck disable=SC2016 # the inner shell's own
	background tfs-run trace_flight -e sys_enter_execve --instance "$MARK" \
		--dump-on slow:openat:1us -- sh -c 'echo $$ >ran.new; mv ran.new ran; exec cat never' >got
	eventually test -e ran
	eventually is_in "$(cat ran)" openat
	rm -rf "$HERE"/dump.*
	ends_by "$PID" TERM 143
	tail -n 1 got
	[[ $(tail -n 1 got) == "$HERE"/dump.* ]]
	"$MANAGER" --clear
}

@test "trace_flight: tfs-run prints the recorded events at the end, and passes SIGUSR1 on" {
	run_flight 3 -- sh -c 'exit 3'
	[ "$(grep -c ': sys_execve(' got)" -ge 1 ]
	nothing_left
	mkfifo never
	background tfs-run trace_flight -e sys_enter_execve --instance "$MARK" -- \
		sh -c 'echo >ran; exec cat never' >got 2>err
	eventually test -e ran
	kill -USR1 "$PID"
	eventually there dump.1
	eventually grep -qx "$HERE/dump.1" got
	ends_by "$PID" TERM 143
	[ "$(head -n 1 got)" = "$HERE/dump.1" ]
	[ ! -s err ]
	left dump.1
}

@test "trace_flight: --output file keeps the paths with the dumps" {
	calls 10
	flight -e sys_enter_getppid --output file
	kill -USR1 "$SESSION"
	eventually there dump.1
	stop_flight TERM
	file_is "$HERE/trace" "$HERE/dump.1"
	left dump.1 trace
}

@test "trace_flight: a dump holds the same events as a recording of everything" {
	calls 5000
	flight -e sys_enter_getppid --buffer 64
	one=$SESSION here=$HERE
	second_session trace_event "--output file --pid $CALLS -e sys_enter_getppid"
	all=$(cat out)
	kill -STOP "$one" # otherwise the session would end with its task
	release "$SESSION"
	lost=$(cat "$here/dropped")
	kill -USR1 "$one"
	ends_by "$one" CONT 0
	HERE=$here
	there dump.1 || skip "needs to be told before its task is gone"
	file_has 5000 "$all"
	sed 's/\] [^ ]* *[0-9.]*: /] /' "$here/dump.1" | grep -v '^CPU:\|^# lost' | cut -c 17- >got
	[ "$(wc -l <got)" = $((5000 - lost)) ]
	[ "$(sed -n '$s/^# lost \([0-9]*\) events: .*/\1/p' "$here/dump.1")" = "$lost" ]
	# the newest events of each CPU, because each buffer overwrites itself
	for cpu in $(sed 's/.*\(\[[0-9]*\]\).*/\1/' got | sort -u | tr -d '[]'); do
		grep -F "[$cpu]" got >of_it
		sed 's/\] [^ ]* *[0-9.]*: /] /' "$all" | cut -c 17- | grep -F "[$cpu]" |
			tail -n "$(wc -l <of_it)" | cmp - of_it
	done
	rm -r "${all%/*}"
	left dump.1
}

@test "trace_flight: two sessions at once do not see each other's events or dump triggers" {
	calls 100
	flight -e sys_enter_getppid --dump-on sched_process_exit
	one=$SESSION here=$HERE go=$GO
	calls 200
	second_session trace_flight "--pid $CALLS \
		-e sys_enter_getppid --dump-on sched_process_exit"
	HERE=$(dirname "$(cat out)")
	release "$SESSION"
	file_has 200 "$HERE/dump.1"
	left dump.1
	HERE=$here
	run ! there dump.1
	echo >"$go"
	finishes "$one" 0
	file_has 100 "$HERE/dump.1"
	left dump.1
}

@test "trace_flight: state, dropped and reset belong to the session, and --locked makes none" {
	calls 10000
	flight -e sys_enter_getppid --buffer 64
	[ "$(cd "$HERE" && echo *)" = 'dropped reset state trace' ]
	[ "$(stat -c %a "$HERE"/[drs]* | sort -u)" = 600 ]
	echo stop >"$HERE/state"
	eventually grep -q 0 "$TRACEFS/instances/tfs.$MARK/tracing_on"
	file_is "$HERE/dropped" 0
	stop_flight
	nothing_left
	flight -e sys_enter_getppid --locked
	[ "$(cd "$HERE" && echo *)" = trace ]
	kill -USR1 "$SESSION"
	eventually there dump.1
	stop_flight
	left dump.1
}

@test "trace_flight: --dump dat and --per-cpu make files of that kind" {
	calls 300 2
	flight -e sys_enter_getppid --dump dat --per-cpu --dump-on "'sched_process_exit:pid == $CALLS'"
	release "$SESSION"
	[ "$(for dump in "$HERE"/dump.1.cpu*; do tfs-report -e sys_enter_getppid "$dump"; done | wc -l)" = 600 ]
	rm -r "$HERE"
}

@test "trace_flight: tfs-run prints the paths" {
	need_tracefs events/syscalls
	tfs-run trace_flight -e sys_enter_execve --instance "$MARK" --dump-on sched_process_exit -- \
		true >out
	HERE=$TFS_RUNDIR/ftrace/$MARK
	file_is out "$HERE/dump.1"
	[ "$(grep -c ': sys_execve(' "$HERE/dump.1")" -ge 1 ]
	left dump.1
}

@test "trace_flight: leaves complete dumps and nothing else, whichever process is killed" {
	for whom in manager janitor stream; do
		calls 10
		flight -e sys_enter_getppid --dump-on sched_process_exit
		kill -USR1 "$SESSION"
		eventually there dump.1
		janitor=$(children "$SESSION")
		stream=$(children "$janitor")
		case $whom in
		manager) kill -KILL "$SESSION" ;;
		janitor) kill -KILL "$janitor" ;;
		stream) kill -KILL "$stream" ;;
		esac
		wait "$SESSION" || :
		eventually gone "$janitor"
		eventually [ ! -e "$TRACEFS/instances/tfs.$MARK+trigger" ]
		eventually [ ! -e "$TRACEFS/instances/tfs.$MARK" ]
		eventually [ ! -e "$HERE/trace" ]
		left dump.1
	done
}

@test "trace_flight: the next session removes what killed sessions left, but not their dumps" {
	calls 10
	flight -e sys_enter_getppid --dump-on sched_process_exit
	kill -USR1 "$SESSION"
	eventually there dump.1
	janitor=$(children "$SESSION")
	stream=$(children "$janitor")
	kill_at_once "$SESSION" "$janitor" "$stream"
	wait "$SESSION" || :
	eventually gone "$stream"
	"$MANAGER" --run trace_event --args "--pid $CALLS -e sys_enter_getppid --time 1 \
		--instance ${MARK}b" >/dev/null
	left dump.1
}

@test "trace_flight: refuses a session name as long as its dumps exist" {
	calls 10
	flight -e sys_enter_getppid
	kill -USR1 "$SESSION"
	eventually there dump.1
	stop_flight
	refused 111 "$HERE exists already, left by a session of that name; remove it, or give --instance another name" \
		--run trace_flight --args "--instance $MARK --pid $CALLS -e sys_enter_getppid"
	left dump.1
}

@test "trace_flight: a usage error of its stream ends the session with 100" {
	need_tracefs
	args="--instance $MARK --pid $$ -e sched_switch"
	usage="usage: $(synopsis tfs-flight)"
	mkdir -p "$TFS_RUNDIR/ftrace"
	refused 100 "--dumps: '0' is not a number from 1 to 100000; $usage" \
		--run trace_flight --args "$args --dumps 0"
	refused 100 "--dumps: '100001' is not a number from 1 to 100000; $usage" \
		--check trace_flight --args "$args --dumps 100001"
}

@test "trace_flight: --check makes no dump, whichever option makes a dump at the end" {
	need_tracefs
	for on in '' '--dump-on end' '--dump-on fail' '--dump-on sched_switch' '--output file'; do
		run -0 "$MANAGER" --check trace_flight --args \
			"--instance $MARK --pid $$ -e sched_switch $on"
		[ "$output" = 'trace_flight: yes' ]
		[ ! -e "$TFS_RUNDIR/ftrace/$MARK" ]
		nothing_left
	done
	for words in '--dumps 0' '--last 0' '--dump-on nosuch'; do
		# shellcheck disable=SC2086 # a word each
		alike trace_flight --pid $$ -e sched_switch $words
	done
}

@test "trace_flight: reports bad input on one line, and begins nothing" {
	need_tracefs
	calls 1
	args="--instance $MARK --pid $CALLS -e sched_switch"
	mkdir -p "$TFS_RUNDIR/ftrace" # shows if anything is left there
	refused 100 'no event is named; give --event' --run trace_flight --args "--pid $CALLS"
	refused 111 "--dump-on takes an event, end, fail, slow:TIME or SIGUSR1: no event is called 'sched_process_exi'; did you mean sched_process_exit, sched_process_exec, sched_process_wait?" \
		--run trace_flight --args "$args --dump-on sched_process_exi"
	refused 100 "trace_flight writes its own files, so --output dat is not possible; leave it out" \
		--run trace_flight --args "$args --output dat"
	refused 100 "--dump: 'both' is not one of text|json|dat" --run trace_flight --args "$args --dump both"
	refused 111 "-b is not possible: this trace_clock does not count time; choose another" \
		--run trace_flight --args "$args --clock counter --last 10"
	exits 111 "$MANAGER" --run trace_flight --args "$args --dump-on 'sched_switch:nope == 2'"
	[ "$(head -n 1 err)" = "manager: fatal: unable to write 'nope == 2' to events/sched/sched_switch/filter, the kernel says: Field not found: Invalid argument" ]
	[ "$(sed -n 2p err)" = '  Command: nope == 2' ]
}

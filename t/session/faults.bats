#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2153 # each test is a subshell; helper.bash
# manager: however and whenever a session ends, it leaves no instance, no enabled event,
# no FIFO and no process after
#
# FAULT_SEED=N repeats the random moments of a run that printed N.
# parts: 2

load ../helper

# End the waiting processes of a test that ends early.
undo() {
	local pid
	for pid in $(processes "$MARK" | grep -Eo '[0-9]+' | sort -u); do
		kill -KILL "$pid" 2>/dev/null || :
	done
	eventually no_processes || :
}

# processes NAME: Print the /proc files of processes whose command line or environment has
# NAME. In a guest, busybox's grep looks at the first word of them only.
processes() {
	local file words
	if [ "${TFS_VARIANT-}" != vm ]; then
		# pass the name by stdin, otherwise grep would find itself
		# shellcheck disable=SC2062 # no pattern: names of files
		grep -aslF --file=- /proc/[0-9]*/{cmdline,environ} <<<"$1" || :
		return 0
	fi
	for file in /proc/[0-9]*/{cmdline,environ}; do
		mapfile -td '' words <"$file" || continue
		[[ ${words[*]} != *"$1"* ]] || echo "$file"
	done 2>/dev/null
}

# running PATTERN: Print the pids of processes with such a command line, the oldest first.
running() {
	local file words
	for file in /proc/[0-9]*/cmdline; do
		# the process may be gone; a kernel thread has an empty command line
		mapfile -td '' words <"$file" || continue
		# shellcheck disable=SC2053 # it is a pattern
		[[ ${words[*]} == $1 ]] || continue
		file=${file#/proc/}
		echo "${file%/cmdline}"
	done 2>/dev/null | sort -n | grep .
}

asleep() {
	local stat
	stat_of "$1" && [[ $stat == *') S '* ]]
}

no_processes() {
	[ -z "$(processes "$MARK")" ]
}

all_gone() {
	nothing_left >/dev/null && no_processes
}

# leaves_nothing: Wait until nothing of the session exists.
leaves_nothing() {
	eventually all_gone || { nothing_left; processes "$MARK"; return 1; }
}

# is_gone NAME [RUNDIR]: Succeed if session NAME has no instance and no directory.
is_gone() {
	[ ! -e "$TRACEFS/instances/tfs.$1" ] && [ ! -e "${2:-$TFS_RUNDIR}/ftrace/$1" ]
}

# pause SECONDS: Wait for a moment whose end no event shows.
pause() {
	[ -p never ] || mkfifo never
	read -rt "$1" _ <>never || :
}

# begin WORD...: Start a session in the background, of own_tree or of this tree; set $SESSION
# to its pid. Its output goes to out and err.
begin() {
	need_tracefs
	: >out; : >err
	background "$MANAGER" --run "$1" --args "--instance $MARK ${*:2}" >out 2>err
	SESSION=$PID
}

# the janitor is the manager's only child
janitor_is_there() {
	JANITOR=$(children "$SESSION" 2>/dev/null)
}

# session WORD...: Start a session of trace_syscalls; set $JANITOR and $STREAM, too.
session() {
	start_session trace_syscalls "$@"
	JANITOR=$(children "$SESSION")
	STREAM=$(children "$JANITOR")
}

# kept_calls N: Hold a program of N calls, and one that keeps sessions alive when they are made.
kept_calls() {
	[ -n "${KEEP-}" ] || { calls 0 && KEEP=$CALLS KEEP_GO=$GO; }
	calls "$1"
}

# kept WORD...: Start a session of getppid of both.
kept() {
	session --syscall getppid --pid "$CALLS" "$KEEP" "$@"
}

# echoing_hook: Make the hook echoes, which prints every call twice, by a filter.
echoing_hook() {
	own_tree
	make_hook echoes <<-'EOF'
		# description: every call twice
		# requires: events/syscalls/sys_enter_getppid
		tfs-event syscalls:sys_enter_getppid syscalls:sys_exit_getppid
		printf '%s\0' filter 2 tfs-latency syscalls
	EOF
}

# says STATUS LINE: Fail unless the session ends with STATUS, has printed LINE on stderr ("":
# nothing) and no path, and leaves nothing behind.
says() {
	finishes "$SESSION" "$1"
	[ ! -s out ] || { echo "printed: $(cat out)"; return 1; }
	file_is err "${2:+manager: fatal: $2}" || { echo "said: $(cat err)"; return 1; }
	leaves_nothing
}

# ---- at every step -----------------------------------------------------------

# at_step STEP SIGNAL PROCESS WORD...: Run one session, and send SIGNAL to its manager ("") or
# janitor ("-c") at that step; a time limit ends the session in every case. The session
# has a run directory of its own, where no other session cleans up.
at_step() {
	local step=$1 signal=$2 whose=$3 name=$MARK.$1 status=0
	shift 3
	TFS_RUNDIR=$PWD/run.$step "$PROG/atstep" ${whose:+"$whose"} -o "step.$step" "$signal" \
		"$step" "$MANAGER" --run trace_syscalls \
		--args "--instance $name --pid $CALLS $*" >"out.$step" 2>"err.$step" || status=$?
	echo "$status" >"status.$step"
	is_gone "$name" "$PWD/run.$step" || : >"left.$step"
}

# tried FIRST LAST: Set STEPS to the steps to try: every one, or each EVERYth; in a guest
# each tenth at least.
EVERY=1
tried() {
	local by=$EVERY from=$1
	[ "${TFS_VARIANT-}" != vm ] || [ $by -ge 10 ] || by=10 from=$(($1 + RANDOM % 10))
	STEPS=()
	for ((i = from; i <= $2; i += by)); do STEPS+=("$i"); done
}

# at_steps SIGNALS PROCESS WORD...: Run at_step for each of STEPS, six at a time, with the
# signals in turn.
at_steps() {
	local step pids=() steps=() i last=${STEPS[-1]} whose=$2 signals
	read -ra signals <<<"$1"
	for step in "${STEPS[@]}"; do
		at_step "$step" "${signals[step % ${#signals[@]}]}" "$whose" "${@:3}" 3>&- &
		pids+=("$!")
		steps+=("$step")
		[ ${#pids[@]} = 6 ] || [ "$step" = "$last" ] || continue
		for i in "${!pids[@]}"; do
			[ -z "$ENDLESS" ] || eventually ends_or_is_told "${steps[i]}" "${pids[i]}"
		done
		wait "${pids[@]}"
		pids=() steps=()
	done
}

# For sessions without a time limit: succeed if the session of at_step PID has ended. A
# session that waits and did not reach its step got no signal, so end it.
ENDLESS=
ends_or_is_told() {
	local manager step
	[ ! -e "status.$1" ] || return 0
	child "$2" && child "$CHILD" && manager=$CHILD && read -r step <"step.$1" &&
		[ "$step" -lt "$1" ] && waits "$1" "$manager" && kill -INT "$manager"
}

# waits STEP MANAGER: Succeed if the session has printed its path and sleeps.
waits() {
	local step now
	[ -s "out.$1" ] && read -r step <"step.$1" && asleep "$2" && read -r now <"step.$1" &&
		[ "$step" = "$now" ]
}

# Count the steps of a manager ("") or of a janitor ("-c").
steps() {
	at_step 9999 9 "$1" --time 20
	file_is status.9999 0 || { cat err.9999; return 1; }
	cat step.9999
}

# reached STEP: Succeed if there was such a step. A session looks at the instances of others,
# so more of these give more steps.
reached() {
	local step
	read -r step <"step.$1"
	[ "$step" -ge "$1" ]
}

none_left() {
	! compgen -G "$PWD/run.*/*/*" && all_gone
}

# need_ptrace: Skip where a manager cannot be traced.
need_ptrace() {
	[ "${TFS_VARIANT-}" != sanitize ] || skip "needs ptrace, which LeakSanitizer does not bear"
}

# short_sessions SIGNALS PROCESS WORD...: Run at_steps for short sessions, at the steps to try.
short_sessions() {
	need_tracefs
	calls 1
	last=$(steps "$2")
	[ "$last" -gt 50 ]
	tried $((${#2} ? 1 : 2)) "$last"
	at_steps "$1" "$2" --time 20 "${@:3}"
}

manager_killed() {
	need_ptrace
	short_sessions 9 ''
	for i in "${STEPS[@]}"; do
		[ "$i" -le 50 ] || reached "$i" || continue
		file_is "status.$i" 137 || { echo "$i: $(cat "status.$i")"; return 1; }
		[ ! -s "err.$i" ] || { echo "$i: $(cat "err.$i")"; return 1; }
	done
	eventually none_left || { ls -d run.*/*/* ; nothing_left; return 1; }
}

# bats test_tags=long
@test "manager: killed at any of its steps, it leaves nothing of the session" {
	manager_killed
}

@test "manager: killed at each 15th of its steps, it leaves nothing of the session" {
	EVERY=15
	manager_killed
}

janitor_killed() {
	short_sessions 9 -c
	for i in "${STEPS[@]}"; do
		[ "$i" -le 50 ] || reached "$i" || continue
		file_is "status.$i" 111 || { echo "$i: $(cat "status.$i")"; return 1; }
		[ ! -e "left.$i" ] || { echo "$i: left over"; return 1; }
		if [ -s "out.$i" ]; then
			file_is "out.$i" "$PWD/run.$i/ftrace/$MARK.$i/trace"
			[ ! -s "err.$i" ] || { echo "$i: a path and $(cat "err.$i")"; return 1; }
		else
			file_is "err.$i" "manager: fatal: the session could not be made: its janitor was killed, or has crashed; try again"
		fi
	done
	eventually none_left
}

# bats test_tags=long
@test "manager: removes everything itself and exits 111 if its janitor is killed at any step" {
	janitor_killed
}

@test "manager: removes everything itself and exits 111 if its janitor is killed at each 15th step" {
	EVERY=15
	janitor_killed
}

# manager_signalled TURN...: In each TURN, send its signals to the manager at each step by turns.
manager_signalled() {
	need_ptrace
	need_tracefs
	calls 1
	background at_step 9999 9 ''
	# the wait is its last step
	last_step() {
		manager=$(children "$(children "$PID")" 2>/dev/null) && waits 9999 "$manager" &&
			last=$(cat step.9999)
	}
	eventually last_step
	kill -INT "$manager"
	wait "$PID"
	file_is status.9999 0
	ENDLESS=yes
	for turn; do
		tried 2 "$last"
		at_steps "$turn" ''
		read -ra signals <<<"$turn"
		for i in "${STEPS[@]}"; do
			read -r status <"status.$i"
			path=
			[ "$status" != 0 ] || path=$PWD/run.$i/ftrace/$MARK.$i/trace$'\n'
			echo "step $i: $status"
			exactly "err.$i" '' && exactly "out.$i" "$path"
			[ "$status" = 0 ] || [ "$status" = $((128 + signals[i % 4])) ]
			[ ! -e "left.$i" ]
			rm "status.$i"
		done
		reached "${STEPS[3]}"
	done
	eventually none_left
}

# bats test_tags=long
@test "manager: HUP, INT, USR1 and TERM, by turns, at any step of its start end it with 128+n and no path, or with 0" {
	manager_signalled '1 2 10 15'
}

# bats test_tags=long
@test "manager: INT, USR1, TERM and HUP, by turns, at any step of its start end it with 128+n and no path, or with 0" {
	manager_signalled '2 10 15 1'
}

# bats test_tags=long
@test "manager: USR1, TERM, HUP and INT, by turns, at any step of its start end it with 128+n and no path, or with 0" {
	manager_signalled '10 15 1 2'
}

@test "manager: HUP, INT, USR1 and TERM at each 15th step of its start end it with 128+n or 0" {
	EVERY=15
	manager_signalled '1 2 10 15' '2 10 15 1' '10 15 1 2'
}

# Print the files that sessions left without having printed their path.
untold_files() {
	local file step
	for file in "$PWD"/run.*/ftrace/*/trace; do
		step=${file#"$PWD/run."}
		[ ! -e "$file" ] || [ -s "out.${step%%/*}" ] || echo "$file"
	done
}

file_left() {
	need_ptrace
	short_sessions '9 15' '' --output file
	none_untold() { [ -z "$(untold_files)" ] && all_gone; }
	eventually none_untold || { untold_files; nothing_left; return 1; }
	compgen -G "$PWD/run.*/ftrace/*/trace"
	[ -z "$(untold_files)" ]
}

# bats test_tags=long
@test "manager: killed or stopped at any step, it leaves a file only if it has printed the path" {
	file_left
}

@test "manager: killed or stopped at each 15th step, it leaves a file only if it has printed the path" {
	EVERY=15
	file_left
}

@test "manager: leaves no file whose path it could not print" {
	need_tracefs
	calls 1
	fails 111 "manager: fatal: unable to print the path: No space left on device" \
		to_full "$MANAGER" --run trace_syscalls \
		--args "--instance $MARK --pid $CALLS --output file"
	[ -z "$(ls "$TFS_RUNDIR/ftrace")" ]
}

# ---- single deaths -------------------------------------------------------------

@test "manager: exits 111 and removes everything if its stream or its janitor is killed while it waits" {
	for victim in STREAM JANITOR; do
		calls 1
		session --pid "$CALLS"
		kill -KILL "${!victim}"
		finishes "$SESSION" 111
		[ "$victim" = STREAM ] || nothing_left
		leaves_nothing
	done
}

@test "tfs-run: each process of a stream that fails or is killed fails the session, and is named with the reason" {
	need_tracefs events/syscalls
	need_tool pgrep
	fails() { # REASON COMMAND...
		local stderr
		run -111 --separate-stderr "${@:2}"
		[ "$stderr" = "tfs-run: fatal: the session ended early with status 111: $1; see the end of the trace" ] ||
			{ echo "$stderr"; return 1; }
	}
	killed="was killed by signal 9 (Killed): memory or the disk is short, or somebody ended it"
	# it may begin after PROG
	# shellcheck disable=SC2016 # of PROG
	local tool='until pid=$(pgrep -f "^tfs-(catpipe|record) .*$0"); do :; done; ' kill='kill -9 "$pid"; '
	# shellcheck disable=SC2016
	local wait='while [ -e "/proc/$pid" ]; do :; done'
	# shellcheck disable=SC2016
	local filter='read -r _ _ _ pid _ <"/proc/$pid/stat"; '
	count=(tfs-run trace_count --instance "$MARK" -s getppid -- sh -c)
	fails "tfs-catpipe $killed" "${count[@]}" "$tool$kill$wait" "tfs[.]$MARK"
	fails "tfs-count $killed" "${count[@]}" "$tool$filter$kill$wait" "tfs[.]$MARK"
	fails "tfs-catpipe $killed" tfs-run trace_syscalls --instance "$MARK" -s getppid -- \
		sh -c "$tool$kill$wait" "tfs[.]$MARK"
	# no event of a session that failed is no answer
	for view in --summary '--summary --json' '-o x.svg'; do
		# shellcheck disable=SC2086 # words
		fails "tfs-catpipe $killed" tfs-run trace_syscalls --instance "$MARK" -s swapoff $view -- \
			sh -c "$tool$kill$wait" "tfs[.]$MARK"
	done
	fails "tfs-record $killed" tfs-run trace_syscalls --instance "$MARK" -s getppid -o x.dat -- \
		sh -c "$tool$kill$wait" "tfs[.]$MARK"
	[ "${TFS_VARIANT-}" = '' ] || return 0 # other builds need more memory
	# by the size of its program it is the tool or its loader that finds no memory
	# shellcheck disable=SC2016
	run -111 --separate-stderr sh -c 'ulimit -v 7000; exec "$@"' sh \
		tfs-run trace_count --instance "$MARK" -- true
	[[ $stderr =~ ^'tfs-run: fatal: the session ended early with status 111: tfs-catpipe ended with status '(111|127)': '.*(memory|'map segment').*'; see the end of the trace'$ ]]
}

@test "tfs-run: the tool that makes its output fails the run, whatever PROG returns" {
	need_tool pgrep
	# shellcheck disable=SC2016 # of PROG
	run -137 --separate-stderr tfs-run trace_syscalls --instance "$MARK" -s getppid --summary -- \
		sh -c 'kill -9 "$(pgrep -x tfs-summary -P "$PPID")"; exit 3'
	[ "$stderr" = 'tfs-run: fatal: tfs-summary was killed by signal 9 (Killed)' ]
}

@test "manager: a reader gets end of file if the stream is killed meanwhile" {
	kept_calls 1000
	session --output fifo --pid "$CALLS" "$KEEP"
	read_by cat >got
	release
	eventually test -s got
	kill -KILL "$(children "$JANITOR")"
	finishes "$READER" 0
	finishes "$SESSION" 111
	leaves_nothing
}

# Kill both processes: the stream ends with them, and the next session removes the rest.
both_killed() {
	local pid streams
	calls 1
	session --pid "$CALLS"
	streams=$(children "$JANITOR")
	kill_at_once "$SESSION" "$JANITOR"
	wait "$SESSION" || [ $? = 137 ]
	# a killed process loses its environment before it closes its files
	for pid in "$JANITOR" $streams; do
		eventually gone "$pid"
	done
	[ -p "$TRACE" ]
}

defaults() {
	local file text
	while read -r file text; do
		[[ $(cat "$TRACEFS/$file") == *"$text"* ]] ||
			skip "needs the top-level $file at its default"
	done <<-'EOF'
		tracing_on 1
		current_tracer nop
		trace_clock [local]
		trace entries-in-buffer/entries-written: 0/0
	EOF
	for file in set_event set_event_pid; do
		text=$(cat "$TRACEFS/$file")
		[ -z "$text" ] || [ "$text" = 'no pid' ] ||
			skip "needs the top-level $file at its default"
	done
}

@test "manager: --clear removes what two processes left that were killed at once" {
	need_tracefs
	defaults
	both_killed
	run -0 "$MANAGER" --clear
	[ -z "$output" ]
}

@test "manager: the next session removes what two processes left that were killed at once, and releases a waiting reader" {
	need_tracefs
	both_killed
	background cat "$TRACE" >got
	reader=$PID
	# the reader sleeps in the open of the path: it has no file yet
	opens() { [ "$(cat "/proc/$reader/comm")" = cat ] && asleep "$reader"; }
	eventually opens
	"$MANAGER" --run trace_syscalls \
		--args "--instance $MARK.next --time 1 --pid $CALLS" >/dev/null
	nothing_left
	finishes "$reader" 0
	[ ! -s got ]
}

@test "manager: makes a trace.dat of the recorded events if its janitor is killed" {
	kept_calls 1000
	kept --output dat
	release "$CALLS"
	kill -KILL "$(children "$SESSION")"
	finishes "$SESSION" 111
	[ "$("$PROG/datwalk" "$TRACE" | sed -n 's/^format syscalls:sys_enter_getppid //p')" = 1000 ]
	[ ! -e "$TRACEFS/instances/tfs.$MARK" ]
}

# A recorder that begins late must find the instance, though the janitor and its lock are gone.
@test "manager: makes a trace.dat of all events if its janitor is killed before the recorder begins" {
	kept_calls 1000
	own_tree
	own_bin
	rm tree/bin/tfs-record
	mkfifo late
	printf '#!/bin/sh\nread -r _ <%q\nexec %q "$@"\n' "$PWD/late" "$TREE/bin/tfs-record" \
		>tree/bin/tfs-record
	chmod +x tree/bin/tfs-record
	kept --output dat
	release "$CALLS"
	kill -KILL "$JANITOR"
	eventually [ ! -e "/proc/$JANITOR" ]
	# each manager removes the instances that nobody has locked
	run -0 "$MANAGER" --check trace_syscalls --args "--instance $MARK.next --pid $KEEP"
	echo >late
	finishes "$SESSION" 111
	[ "$("$PROG/datwalk" "$TRACE" | sed -n 's/^format syscalls:sys_enter_getppid //p')" = 1000 ]
	[ ! -e "$TRACEFS/instances/tfs.$MARK" ]
}

@test "manager: a second manager of the same name, its janitor killed, removes nothing of the first session" {
	calls 1
	session --pid "$CALLS"
	for step in 1 3 6 9; do
		run -111 "$PROG/atstep" -c -o step 9 "$step" "$MANAGER" --run trace_syscalls \
			--args "--instance $MARK --pid $CALLS"
		[ -p "$TRACE" ]
	done
	stop_session
}

# An instance that is still busy with a dying stream is removed by the session after the next.
# shellcheck disable=SC2317 # called by its name in a variable
next_one_sweeps() {
	next() {
		"$MANAGER" --run trace_syscalls \
			--args "--instance $MARK.next --time 1 --pid $keep" >/dev/null
		all_gone
	}
	eventually next || leaves_nothing
}

# bats test_tags=long
@test "manager: leaves nothing in any round if one of its processes is killed at a random moment" {
	seed=${FAULT_SEED:-$RANDOM}
	echo "FAULT_SEED=$seed"
	RANDOM=$seed
	rounds=0
	calls 1
	keep=$CALLS
	while [ "$rounds" -lt "$(so_many 50)" ]; do
		rounds=$((rounds + 1))
		calls 100000
		begin trace_syscalls --output fifo --pid "$CALLS"
		release
		if ((RANDOM % 2)); then
			eventually path_or_error
			[ ! -s out ] || background cat "$(cat out)" >/dev/null
		fi
		pause "0.0$(printf %02d $((RANDOM % 60)))"
		janitor_is_there || :
		after=leaves_nothing
		case $((RANDOM % 4)) in
		0) kill -KILL "$SESSION" || : ;; # its task may have ended
		1) kill -KILL "$JANITOR" || kill -INT "$SESSION" || : ;;
		2) kill -KILL "$SESSION" "$JANITOR" || : ; after=next_one_sweeps ;;
		3) kill -KILL "$(children "$JANITOR")" || kill -INT "$SESSION" || : ;;
		esac 2>/dev/null
		wait "$SESSION" 2>/dev/null || :
		"$after" || { echo "round $rounds, $after"; return 1; }
	done
}

# ---- hooks ---------------------------------------------------------------------

@test "manager: reports the status of a hook that fails half way or is killed, and leaves nothing behind" {
	need_tracefs
	own_tree
	calls 1
	for end in 'exit 3=3' 'kill -KILL $$=137'; do
		make_hook half <<-EOF
			# description: enables one event and ends
			tfs-write events/sched/sched_switch/enable 1
			${end%=*}
		EOF
		begin half --pid "$CALLS"
		says 111 "half: the hook failed with status ${end#*=} and wrote no message; add set -x to it"
	done
	make_hook half <<-'EOF'
		# description: fails in a tool
		tfs-write events/sched/sched_switch/enable 1
		tfs-write events/sched/sched_switch/filter 'no such field == 1'
	EOF
	begin half --pid "$CALLS"
	finishes "$SESSION" 111
	[[ "$(head -n 1 err)" == "manager: fatal: unable to write 'no such field == 1' to "* ]]
	# the kernel's caret is the only thing that may follow
	[ "$(sed -n 2p err)" = '  Command: no such field == 1' ]
	[[ "$(sed -n 3p err)" =~ ^\ +\^$ ]]
	file_has 3 err
	leaves_nothing
}

# Make a shell hook that waits for a tool that never ends and holds stderr.
hanging() {
	own_tree
	calls 1
	mkfifo hold
	make_hook hangs <<-EOF
		# description: hangs
		cat $PWD/hold
		true
	EOF
	begin hangs --pid "$CALLS"
	hangs() { TOOL=$(running "cat $PWD/hold"); }
	eventually hangs
	JANITOR=$(children "$SESSION")
}

# hangs_until SIGNAL VICTIM STATUS LINE: Send SIGNAL to the session, its janitor or the shell of
# the hook that hangs; fail unless the session says LINE with STATUS, and nothing is left.
hangs_until() {
	hanging
	case $2 in
	janitor) kill "-$1" "$JANITOR" ;;
	shell) kill "-$1" "$(children "$JANITOR")" ;;
	*) kill "-$1" "$SESSION" ;;
	esac
	if [ "$1$2" = KILLmanager ]; then
		leaves_nothing
	else
		says "$3" "$4"
	fi
	eventually gone "$TOOL"
	rm -r tree hold
	MANAGER=$TREE/trace-hooks/ftrace/manager
}

@test "manager: leaves no process of a hook that hangs if it is stopped, or one of its processes is killed" {
	hangs_until INT manager 130 ''
	hangs_until KILL manager
	hangs_until KILL janitor 111 'the session could not be made: its janitor was killed, or has crashed; try again'
	hangs_until TERM janitor 111 "hangs: the hook was stopped by a signal to the session; it waited for: cat $PWD/hold"
	hangs_until KILL shell 111 'hangs: the hook failed with status 137 and wrote no message; add set -x to it'
}

@test "manager: prints the first line of a hook that writes 1 MiB to stderr if the hook fails, else nothing" {
	own_tree
	calls 1
	make_hook loud <<-'EOF'
		# description: writes much
		head -c 1048576 /dev/zero | tr '\0' '\n' >&2
	EOF
	start_session loud --pid "$CALLS"
	stop_session
	make_hook loud <<-'EOF'
		# description: writes much
		echo one >&2
		head -c 1048576 /dev/zero | tr '\0' x >&2
		exit 1
	EOF
	begin loud --pid "$CALLS"
	says 111 one
}

@test "manager: ends the processes that a hook left, which keep nothing busy" {
	own_tree
	calls 1
	mkfifo hold
	make_hook leaves <<-EOF
		# description: leaves a child that holds stderr and a file of the instance
		cat $PWD/hold 9<set_event &
	EOF
	start_session leaves --pid "$CALLS"
	run -1 running "cat $PWD/hold"
	stop_session
	make_hook leaves <<-EOF
		# description: leaves a child that holds stderr, and fails
		cat $PWD/hold 9<set_event &
		exit 7
	EOF
	begin leaves --pid "$CALLS"
	says 111 'leaves: the hook failed with status 7 and wrote no message; add set -x to it'
	run -1 running "cat $PWD/hold"
}

# ---- readers ------------------------------------------------------------------------

@test "manager: a reader that opens and leaves at once does not end the session" {
	calls 100
	session --output fifo --pid "$CALLS"
	for ((i = 0; i < 20; i++)); do
		: <"$TRACE"
		kill -0 "$SESSION"
	done
	read_by cat >got
	release
	watch_end
	[ "$(grep -c getppid got)" = 100 ]
}

@test "manager: another reader can follow a reader that dies in the middle" {
	kept_calls 1000000
	session --output fifo --pid "$CALLS" "$KEEP"
	release
	for _ in 1 2; do
		head -n 1000 "$TRACE" >got
		file_has 1000 got
	done
	stop_session
}

# takes COUNT FILE: Start a reader that makes COUNT reads of 4096 bytes, saves what it gets in
# FILE, and is killed.
takes() {
	# shellcheck disable=SC2016 # the inner shell's parameters
	read_by sh -c 'dd bs=4096 count="$1" 2>/dev/null; kill -KILL $$' sh "$1" >"$2"
	finishes "$READER" 137
}

# rest FILE: Read the rest of the trace into FILE, and wait for the session's end.
rest() {
	read_by cat >"$1"
	watch_stop
}

# lost FILE: the number in the last line, if that line tells of losses
lost() {
	sed -En '$s/^(# lost |\{"lost":)([0-9]+)[ ,].*/\2/p' "$1" | grep . || echo 0
}

@test "manager: two killed readers and the next reader get each event once" {
	need_tracefs events/syscalls
	for output in lines fifo; do
		# inside a line, inside a full FIFO, and inside later output
		for round in 1:1 7:100 100:3 130:129 60:200; do
			kept_calls 20000
			kept --output $output --buffer 4096
			release
			takes "${round%:*}" one
			finishes "$CALLS" 0
			takes "${round#*:}" two
			rest three
			cat one two three >got
			echo "$output $round: $(wc -l one two three | tr '\n' ' ')"
			[ "$(grep -c ': sys_getppid()$' got)" = 20000 ]
			file_has 20000 got
			[ "$output" = fifo ] || file_has "${round%:*}" one
		done
	done
}

@test "manager: the second reader's last line counts the events that were overwritten between two readers" {
	need_tracefs events/syscalls
	own_tree
	make_hook json <<-'EOF'
		# description: lines of JSON
		# requires: events/syscalls/sys_enter_getppid
		tfs-event syscalls:sys_enter_getppid
		printf '%s\0' options 1 -j
	EOF
	for hook in 'trace_syscalls --syscall getppid' json; do
		# a full ring buffer alone has text for 40 reads, if all calls come before the stream
		for count in 1 20 40; do
			kept_calls 100000
			# shellcheck disable=SC2086 # words
			start_session $hook --output fifo --buffer 64 --pid "$CALLS" "$KEEP"
			release
			takes "$count" one
			finishes "$CALLS" 0
			rest two
			cat one two >got
			delivered=$(grep -cE ': sys_getppid\(\)$|"event":"sys_enter_getppid",' got)
			echo "$hook $count: $delivered, $(tail -n 1 got)"
			[ "$(lost two)" -gt 0 ]
			[ $((delivered + $(lost two))) = 100000 ]
		done
	done
}

@test "manager: a filter whose reader is killed goes on for the next reader, which gets the rest" {
	need_tracefs events/syscalls
	echoing_hook
	for output in lines fifo; do
		kept_calls 20000
		start_session echoes --output $output --buffer 4096 --pid "$CALLS" "$KEEP"
		release
		takes 50 one
		finishes "$CALLS" 0
		takes 9 two
		rest three
		cat one two three >got
		[ "$(grep -c ' sys_getppid.*lat=' got)" = 20000 ]
		file_has 20000 got
	done
}

# Succeed once the stream has noticed that its reader is gone, and waits in open() for another.
# It opens other files to read.
stream_waits() {
	local call second third
	read -r call _ second third _ <"/proc/$STREAM/syscall" || return
	if [ "$call" = "$(syscall-nr openat)" ]; then
		(((third & 3) != 0))
	else
		[ "$call" = "$(syscall-nr open 2>/dev/null)" ] && (((second & 3) != 0))
	fi
}

@test "manager: each of two readers gets the lines of --header first" {
	need_tracefs events/syscalls
	[ -r /proc/self/syscall ] || skip "needs /proc/PID/syscall (CONFIG_HAVE_ARCH_TRACEHOOK)"
	kept_calls 100
	kept --header --output fifo
	takes 1 one
	eventually stream_waits
	release "$CALLS"
	rest two
	[ "$(head -n 1 one)" = '# tracer: nop' ]
	[ "$(head -n 1 two)" = '# tracer: nop' ]
	[ "$(grep -c ': sys_getppid()$' two)" = 100 ]
}

@test "manager: a signal, the time limit, --clear, the death of the janitor or the end of the tasks ends it after its reader is killed" {
	need_tracefs events/syscalls
	need_tracefs events/syscalls
	for how in INT TERM time clear janitor tasks; do
		kept_calls 20000
		set --
		if [ "$how" = time ]; then
			limit=$(ample) # the reader has to come before it
			set -- --time "$limit"
		fi
		kept "$@"
		count_waits "$JANITOR"
		release
		takes 100 one
		case $how in
		time) session_ends ;;
		clear) "$MANAGER" --clear; session_ends ;;
		janitor) kill -KILL "$JANITOR"; finishes "$SESSION" 111 ;;
		tasks) finishes "$CALLS" 0; echo >"$KEEP_GO"; session_ends ;;
		*) stop_session "$how" ;;
		esac
		leaves_nothing
	done
	# the wait for the limit, and no wait for a reader, which would be 10 s
	few_waits $((limit + 5000))
}

@test "manager: does not wait for a reader that is killed while the session ends" {
	need_tracefs events/syscalls
	kept_calls 20000
	kept
	read_by "$PROG/paced" 0 100 >got
	release "$CALLS"
	kill -INT "$SESSION"
	eventually asleep "$STREAM"
	count_waits "$JANITOR"
	kill -KILL "$READER"
	session_ends
	few_waits 2000
	leaves_nothing
}

# no_programs: Succeed if the janitor keeps no descriptors of BPF programs.
no_programs() {
	[ -z "$(find "/proc/$JANITOR/fd" -lname 'anon_inode:*bpf*' -o -lname 'anon_inode:*perf*')" ]
}

@test "manager: ends the BPF programs of a session although its reader stalls" {
	need_tracefs events/syscalls
	need_tracefs events/bpf_trace
	calls 20000
	session --decode --pid "$CALLS"
	! no_programs || skip "needs BPF programs at raw tracepoints"
	read_by "$PROG/paced" 0 100 >got
	release
	eventually no_programs
	[ -e "$TRACE" ] # the janitor waits for the reader
	ends_by "$READER" USR1 0
	session_ends
	leaves_nothing
}

@test "manager: a reader that comes after the tasks' end gets the lines that a killed reader left" {
	need_tracefs events/syscalls
	kept_calls 1000
	kept
	exec 9<"$TRACE"
	release "$CALLS"
	takes 100 one
	exec 9<&-
	echo >"$KEEP_GO"
	finishes "$KEEP" 0
	cat "$TRACE" >two
	session_ends
	[ "$(grep -c ': sys_getppid()$' one)" = 100 ]
	[ "$(grep -c ': sys_getppid()$' two)" = 900 ]
	file_has 900 two
}

@test "manager: gives up a reader that opens and never reads, and ends within 10 s" {
	calls 100000
	session --output fifo --pid "$CALLS"
	exec 9<"$TRACE"
	count_waits "$JANITOR"
	release
	eventually gone "$CALLS"
	# the session ends by itself or by the signal, whichever is first
	kill -INT "$SESSION" || :
	session_ends
	exec 9<&-
	few_waits 10000
}

@test "manager: a signal, the time limit or the end of the tasks ends it if no reader ever comes" {
	local limit=0
	for how in tasks time signal; do
		[ $how = signal ] || calls 1000
		set --
		[ $how != time ] || { limit=$(ample) && set -- --time "$limit"; }
		session --pid "$CALLS" "$@"
		count_waits "$JANITOR"
		case $how in
		tasks) release ;;
		signal) kill -INT "$SESSION" ;;
		esac
		session_ends
	done
	few_waits $((limit + 5000))
}

@test "manager: a reader that comes just after the tasks ended gets every line" {
	calls 1000
	session --syscall getppid --output fifo --pid "$CALLS"
	release
	wait "$CALLS"
	cat "$TRACE" >got
	session_ends
	[ "$(grep -c 'sys_getppid' got)" = 1000 ]
	file_has 1000 got
}

# told N: Fail unless delivered and lost events of `paced` add up to N. Set $DELIVERED to
# the number of delivered events, and $LAST to the last line of the trace.
told() {
	local lost
	DELIVERED=$(tail -n 2 got | head -n 1)
	LAST=$(tail -n 1 got)
	lost=$(sed -En 's/^# lost ([0-9]+) events: .*/\1/p' <<<"$LAST")
	[ $((DELIVERED + ${lost:-0})) = "$1" ] || { cat got; return 1; }
}

@test "manager: a reader that stalls at the end and reads on later gets the exact number of lost events" {
	for output in lines fifo; do
		calls 20000
		session --syscall getppid --output $output --buffer 4096 --pid "$CALLS"
		read_by "$PROG/paced" 0 100 >got
		release
		session_ends
		ends_by "$READER" USR1 0
		told 20000
		[[ $LAST == "# lost "*" events: 0 overwritten in a full buffer, "*" not written" ]]
		[ "$DELIVERED" -ge 100 ]
		[ "$DELIVERED" -lt 20000 ]
	done
}

@test "manager: --clear gives up a slow reader, which gets the exact number of lost events" {
	calls 20000
	session --syscall getppid --buffer 4096 --pid "$CALLS"
	read_by "$PROG/paced" 200 >got
	release
	eventually gone "$CALLS"
	# the reader finds no end, however late it gets the signal
	exec 9>"$TRACE"
	"$MANAGER" --clear
	session_ends
	kill -USR1 "$READER"
	exec 9>&-
	finishes "$READER" 0
	told 20000
	[ "$DELIVERED" -ge 100 ]
	[ "$DELIVERED" -lt 20000 ]
}

@test "manager: a filter whose reader stalls counts the lines that it could not print" {
	echoing_hook
	calls 20000
	start_session echoes --buffer 4096 --pid "$CALLS"
	read_by "$PROG/paced" 0 100 >got
	release
	session_ends
	ends_by "$READER" USR1 0
	counted='s/^# lost \([0-9]*\) .*/\1/p; s/^# unpaired \([0-9]*\) .*/\1/p'
	counted+='; s/^# unwritten \([0-9]*\) lines: the reader took nothing$/2*\1/p'
	[[ $(tail -n 1 got) == "# unwritten "* ]]
	# each line of the filter stands for two events
	[ $((2 * $(tail -n 2 got | head -n 1) + $(head -n -2 got | sed -n "$counted" |
		paste -sd +))) = 40000 ]
}

# slow_tool: Make the hook "slow". Its tool stands before a filter, waits for a line of
# the FIFO "gate" without using the CPU, and then prints an event.
slow_tool() {
	need_tracefs
	own_tree
	own_bin
	mkfifo gate
	cat >tree/bin/slow <<-EOF
		#!/bin/sh
		trap '' TERM
		: >"$PWD/begun"
		read -r _ <"$PWD/gate"
		echo '          <...>-7       [000] .....     1.000001: sched_wakeup: pid=7'
	EOF
	chmod +x tree/bin/slow
	make_hook slow <<-'EOF'
		# description: a tool that is slow at the end
		printf '%s\0' tool 1 slow filter 6 tfs-latency -d -s '*:pid' -e '*_long:pid'
	EOF
	calls 1
	start_session slow --output fifo --pid "$CALLS"
	JANITOR=$(children "$SESSION")
	read_by cat >got
	eventually test -e begun
}

# looks N: Succeed once the janitor has slept N times more often than at the first call, or has
# ended.
LOOKS=
looks() {
	local text='' slept
	{ IFS= read -rd '' text <"/proc/$JANITOR/status"; } 2>/dev/null
	[[ $text =~ voluntary_ctxt_switches:[[:space:]]*([0-9]+) ]] || return 0
	slept=${BASH_REMATCH[1]}
	[ -n "$LOOKS" ] || LOOKS=$slept
	[ $((slept - LOOKS)) -ge "$1" ]
}

# bats test_tags=long
@test "manager: waits for a tool that is slow at the end, if the reader of its filter has taken everything" {
	slow_tool
	kill -INT "$SESSION"
	# it looks after the stream every 100 ms, and gives up a reader that stalls after 10 s
	eventually looks 130
	echo >gate
	watch_end
	file_is got '          <...>-7       [000] .....     1.000001: sched_wakeup: pid=7'
}

# bats test_tags=long
@test "manager: gives up a tool that hangs at the end within 64 s, and leaves nothing" {
	DEADLINE=$((3 * DEADLINE))
	slow_tool
	count_waits "$JANITOR"
	kill -INT "$SESSION"
	watch_end
	[ ! -s got ]
	few_waits 64000
	leaves_nothing
}

@test "manager: --clear does not wait for a tool that hangs at the end" {
	slow_tool
	count_waits "$JANITOR"
	"$MANAGER" --clear
	watch_end
	[ ! -s got ]
	few_waits 9000
}

# ---- the ground taken away ------------------------------------------------------------

# small SIZE INODES COMMAND...: Run COMMAND with a file system of this size at $TFS_RUNDIR.
small() {
	mkdir -p "$TFS_RUNDIR"
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m sh -c 'mount -t tmpfs -o "$1,mode=755" tmpfs "$TFS_RUNDIR" && shift && exec "$@"' \
		small "size=$1,nr_inodes=$2" "${@:3}"
}

@test "manager: reports a run directory without a free inode on one clear line, and leaves nothing" {
	need_tracefs
	need_mounts
	calls 1
	no='No space left on device'
	set -- "$MANAGER" --run trace_syscalls --args "--instance $MARK --time 20 --pid $CALLS"
	fails 111 "manager: fatal: unable to make $TFS_RUNDIR/ftrace (TFS_RUNDIR can name another directory): $no" \
		small 64k 1 "$@"
	nothing_left
	fails 111 "manager: fatal: unable to make session directory $TFS_RUNDIR/ftrace/$MARK: $no" small 64k 2 "$@"
	nothing_left
	fails 111 "manager: fatal: unable to make $TFS_RUNDIR/ftrace/$MARK/trace: $no" small 64k 3 "$@"
	nothing_left
	small 64k 4 "$@" >out
	file_is out "$TFS_RUNDIR/ftrace/$MARK/trace"
	leaves_nothing
}

@test "manager: in a run directory without free space a FIFO works, and a file is refused" {
	need_tracefs
	need_mounts
	calls 1
	cat >full <<-'EOF'
		mkdir "$TFS_RUNDIR/rest"
		head -c 1000000 /dev/zero >"$TFS_RUNDIR/rest/rest" 2>/dev/null
		exec "$@"
	EOF
	set -- small 64k 100 sh full "$MANAGER" --run trace_syscalls
	"$@" --args "--instance $MARK --time 20 --pid $CALLS" >out
	file_is out "$TFS_RUNDIR/ftrace/$MARK/trace"
	fails 111 "manager: fatal: --size: 8 KB do not fit into $TFS_RUNDIR/ftrace, which has 0 left" \
		"$@" --args "--instance $MARK --time 20 --pid $CALLS --output file --size 8"
	leaves_nothing
}

# fills_up ROOM UNTIL COPY WORDS: Run a session in a file system of ROOM that becomes full when the
# commands UNTIL have ended, between the calls of two programs; the commands COPY save its trace.
fills_up() {
	cat >middle <<-EOF
		"\$MANAGER" --run trace_syscalls --args "\$1" >out 2>err &
		until [ -s out ] || [ -s err ]; do :; done
		echo >"\$2"
		$2
		head -c 10000000 /dev/zero >"\$TFS_RUNDIR/rest" 2>/dev/null
		echo >"\$3"
		status=0
		wait \$! || status=\$?
		$3
		exit \$status
	EOF
	MANAGER=$MANAGER run small "$1" 100 sh middle \
		"--instance $MARK --syscall getppid --pid $OTHER $CALLS $4" "$OTHER_GO" "$GO"
}

@test "manager: a file in a run directory that becomes full has whole lines and counts its lost events" {
	need_tracefs
	need_mounts
	calls 100
	OTHER=$CALLS OTHER_GO=$GO
	calls 20000
	# shellcheck disable=SC2016 # for the inner shell
	fills_up 512k 'until [ -s "$(cat out)" ]; do :; done' \
		'cat "$(cat out)" >got; ls "$TFS_RUNDIR/ftrace" >left' '--output file --size 200'
	[ "$status" = 111 ]
	[ ! -s err ]
	file_is left "$MARK"
	delivered=$(grep -c 'sys_getppid()$' got)
	[ "$delivered" -ge 1 ]
	# every line is complete, and the last lines say why and how many events are missing
	run ! grep -v 'sys_getppid()$' <(head -n -2 got)
	[ "$(tail -n 2 got | head -n 1)" = "# unable to write the trace: No space left on device" ]
	lost=$(tail -n 1 got | sed -En 's/^# lost ([0-9]+) events: .*/\1/p')
	[ $((delivered + lost)) = 20100 ]
	[ ! -e "$TRACEFS/instances/tfs.$MARK" ]
	leaves_nothing
}

@test "manager: a trace.dat in a run directory that becomes full counts the events that it lacks" {
	need_tracefs
	need_mounts
	calls -e 100
	OTHER=$CALLS OTHER_GO=$GO
	calls -e 100000
	# the file reserves room for its header, and can be made from then on
	# shellcheck disable=SC2016 # for the inner shell
	fills_up 6144k 'until [ "$(df -k "$TFS_RUNDIR" | awk "END { print \$3 }")" -gt 200 ]; do :; done' \
		'cp "$(cat out)" got.dat' '--output dat --size 3000'
	[ "$status" = 0 ] || [ "$status" = 111 ]
	delivered=$(tfs-report got.dat | grep -c getppid || :)
	lost=$(grep -a -o 'not written: [0-9]*' got.dat | grep -o '[0-9]*')
	over=$(grep -a '^overrun: [0-9]*' got.dat | awk '{ n += $2 } END { print n + 0 }')
	[ $((delivered + lost + over)) = 100100 ] || { echo "$delivered $lost $over"; return 1; }
	[ "$lost" -gt 0 ]
	leaves_nothing
}

@test "manager: exits 111 and its waiting reader gets end of file if the instance is removed" {
	calls 1
	session --pid "$CALLS"
	tfs-instance remove "tfs.$MARK"
	cat "$TRACE" >got
	[ ! -s got ]
	finishes "$SESSION" 111
	leaves_nothing
	session --pid "$CALLS"
	tfs-instance remove "tfs.$MARK"
	stop_session
}

@test "manager: prints what was recorded and ends well if another process switches recording off" {
	calls 1000
	session --syscall getppid --output fifo --pid "$CALLS"
	tfs-write -i "tfs.$MARK" tracing_on 0
	read_by cat >got # nothing is lost that a later reader could get
	release
	watch_end
	[ ! -s got ]
}

@test "manager: reports a tracefs mounted read-only on one clear line, and leaves nothing" {
	need_tracefs
	need_mounts
	calls 1
	# shellcheck disable=SC2016 # for the inner shell
	fails 111 "manager: fatal: unable to make instance tfs.$MARK: Read-only file system" \
		unshare -m sh -c 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"' \
		"$TRACEFS" "$MANAGER" --run trace_syscalls --args "--instance $MARK --pid $CALLS"
	leaves_nothing
}

# ---- descriptors and zombies ------------------------------------------------------------

# open_files PID: Print the targets of its descriptors, one per line.
open_files() {
	local fd
	for fd in "/proc/$1/fd"/*; do
		readlink "$fd"
	done | sed 's/:\[[0-9]*\]//' | sort
}

# Start a manager that inherits the standard descriptors and no other.
clean_manager() {
	local fd
	for fd in "/proc/$BASHPID/fd"/*; do
		fd=${fd##*/}
		[ "$fd" -le 2 ] || eval "exec $fd>&-"
	done 2>/dev/null
	exec "$MANAGER" "$@"
}

@test "manager: a hook inherits the standard descriptors, the socket of TFS_KEEPS, and no other" {
	need_tracefs
	own_tree
	calls 1
	make_hook stops <<-'EOF'
		# description: stops
		kill -STOP $$
	EOF
	: >out; : >err
	background clean_manager --run stops --args "--instance $MARK --pid $CALLS" >out 2>err
	SESSION=$PID
	stopped() {
		janitor_is_there && SHELL_PID=$(children "$JANITOR") &&
			[[ $(cat "/proc/$SHELL_PID/stat") == *') T '* ]]
	}
	eventually stopped
	# the shell has its script open
	[ "$(open_files "$SHELL_PID" | grep -Fxv "$HOOKS/stops")" = $'/dev/null\npipe\npipe\nsocket' ]
	kill -CONT "$SHELL_PID"
	eventually path_or_error
	TRACE=$(cat out)
	stop_session
}

@test "manager: its stream keeps only the descriptors open that it needs" {
	need_tracefs
	calls 1
	session_by clean_manager --run trace_syscalls --args "--instance $MARK --pid $CALLS"
	exec 9<"$TRACE"
	JANITOR=$(children "$SESSION")
	STREAM=$(children "$JANITOR")
	# its standard input, both ends of the pipe for the reason of a failure, its signals, tracefs
	# for names and formats, the instance, both ends of the trace
	expected=$(sort <<-EOF
		/dev/null
		pipe
		pipe
		$TRACEFS
		$(printf '%s\n' "$TRACEFS/instances/tfs.$MARK/per_cpu"/cpu*/{trace_pipe_raw,stats})
		anon_inode:[signalfd]
		$TRACEFS/instances/tfs.$MARK
		$TRACEFS/instances/tfs.$MARK/trace_pipe
		$TRACE
	EOF
	)
	streams() { [ "$(open_files "$STREAM")" = "$expected" ]; }
	eventually streams || { open_files "$STREAM"; return 1; }
	exec 9<&-
	stop_session
}

@test "manager: one stream serves all readers that follow each other" {
	kept_calls 1000000
	session --output fifo --pid "$CALLS" "$KEEP"
	release
	for ((i = 0; i < 5; i++)); do
		head -n 10 "$TRACE" >/dev/null
		[ "$(children "$JANITOR")" = "$STREAM" ]
		[[ $(cat "/proc/$STREAM/stat") != *') Z '* ]]
	done
	[ "$(children "$SESSION")" = "$JANITOR" ]
	stop_session
}

@test "manager: leaves no zombies of streams that died with their readers" {
	# another user's tool, which does not know about a next reader
	own_tree
	own_bin
	printf '#!/bin/sh\nexec yes\n' >tree/bin/mortal
	chmod +x tree/bin/mortal
	make_hook dies <<-'EOF'
		# description: a tool that dies with its reader
		printf '%s\0' tool 1 mortal
	EOF
	calls 1
	start_session dies --output fifo --pid "$CALLS"
	JANITOR=$(children "$SESSION")
	STREAM=$(children "$JANITOR")
	for ((i = 0; i < 5; i++)); do
		head -n 10 "$TRACE" >/dev/null
		another() {
			[ "$(children "$JANITOR" | wc -l)" = 1 ] &&
				[ "$(children "$JANITOR")" != "$STREAM" ]
		}
		eventually another
		STREAM=$(children "$JANITOR")
		! gone "$STREAM"
	done
	[ "$(children "$SESSION")" = "$JANITOR" ]
	stop_session
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2153 # each test is a process of its own
# caller: run sessions as container-tracer does, with exact counts. container-tracer runs
# ./manager.tfs in its directory, sends --pid with pids that it has kept (some of them
# dead), joins all words by one space, and waits 5 seconds for the path. It takes one line
# of each read(4096), and stops a session by SIGINT to the manager alone.

load ../helper

MANAGERS=() READERS=() TASK=() GATE=()

# drive I HOOK WORDS: Start a manager; MANAGERS[I] is its pid, out.I and err.I its output.
drive() {
	# shellcheck disable=SC2016 # the shell's own parameters
	background sh -c 'cd "$1" && exec ./manager.tfs --run "$2" --args "$3"' - \
		"$TREE/trace-hooks/ftrace" "$2" "${*:3} --instance $MARK.$1" >"out.$1" 2>"err.$1"
	MANAGERS[$1]=$PID
}

# began N: Succeed when N sessions have printed their path or an error.
began() {
	local i
	for ((i = 0; i < $1; i++)); do
		[ -s "out.$i" ] || [ -s "err.$i" ] || return 1
	done
}

# sessions_end N LINES DEAD PATTERN...: Fail unless N managers and their readers end well, with
# nothing on standard error; the reader of session I got LINES (an expression of i) that match the
# PATTERN, in which TASK is its task, and a line before them that names DEAD, if that is not empty.
sessions_end() {
	local i lines
	for ((i = 0; i < $1; i++)); do
		lines=$(($2))
		all_end "${MANAGERS[i]}" "${READERS[i]}"
		[ -z "$3" ] || [ "$(head -n 1 "got.$i")" = "# not alive when the session began: $3" ]
		[ "$(grep -Ec "${4/TASK/${TASK[i]}}" "got.$i")" = "$lines" ] || { cat "got.$i"; return 1; }
		file_has $((lines + (${#3} > 0))) "got.$i"
		[ ! -s "err.$i" ]
	done
}

# go_in_turn: Release the tasks, one after another: any task may issue the requests of a busy device.
go_in_turn() {
	local i
	for i in "${!TASK[@]}"; do
		echo >"${GATE[i]}"
		finishes "${TASK[i]}" 0
	done
}

# read_all N: Start a reader like container-tracer's for each session, with output to got.I.
read_all() {
	local i
	for ((i = 0; i < $1; i++)); do
		[ ! -s "err.$i" ] || { cat "err.$i"; return 1; }
		file_is "out.$i" "$TFS_RUNDIR/ftrace/$MARK.$i/trace"
		background "$PROG/caller" "$(cat "out.$i")" >"got.$i"
		READERS[i]=$PID
	done
}

# dead: Set $DEAD to the pid of a task that is not alive.
dead() {
	background true
	DEAD=$PID
	finishes "$PID" 0
}

@test "caller: 25 sessions at once, each with a dead pid, get every call of their tasks and no other" {
	need_tracefs events/syscalls
	dead
	for ((i = 0; i < 25; i++)); do
		calls $((100 + i)) 2
		TASK[i]=$CALLS GATE[i]=$GO
	done
	SECONDS=0
	for ((i = 0; i < 25; i++)); do
		drive "$i" trace_syscalls "--pid $DEAD ${TASK[i]}" --syscall getppid
	done
	eventually began 25
	echo "# 25 sessions told their paths within $SECONDS s" >&3
	read_all 25
	go_in_turn
	sessions_end 25 '2 * (100 + i)' "$DEAD" ': sys_getppid\(\)$'
}

@test "caller: SIGINT to each manager alone gives status 0 and everything recorded to its reader" {
	need_tracefs events/syscalls
	calls 500
	first=$CALLS first_go=$GO
	calls 0 # the calls go on
	for ((i = 0; i < 5; i++)); do
		drive "$i" trace_syscalls "--pid $first $CALLS" --syscall getppid
	done
	eventually began 5
	read_all 5
	echo >"$first_go"
	finishes "$first" 0
	for ((i = 0; i < 5; i++)); do
		kill -INT "${MANAGERS[i]}"
	done
	sessions_end 5 500 '' ': sys_getppid\(\)$'
}

@test "caller: several trace_block sessions with --pid each get the requests of their task" {
	loop
	dead
	for ((i = 0; i < 4; i++)); do
		act blocks $((4 + i)) $((16 * i)) "/dev/$LOOP"
		TASK[i]=$ACT GATE[i]=$GO
	done
	for ((i = 0; i < 4; i++)); do
		drive "$i" trace_block "--pid ${TASK[i]} $DEAD" --device "$LOOP"
	done
	eventually began 4
	read_all 4
	go_in_turn
	sessions_end 4 '4 + i' "$DEAD" ': block_rq_complete: .* by_pid=TASK lat=[0-9.]+$'
}

# The files at tracefs's top level that --clear resets: their contents before the test, and
# after --clear.
TOP='current_tracer|blk|nop
events/enable|1|0
set_event_pid|77|
set_event_notrace_pid|77|
set_ftrace_pid|77|
set_ftrace_notrace_pid|77|
options/event-fork|1|0
options/function-fork|1|0
trace_clock|[tai]|local
tracing_on|0|1
trace|text|
per_cpu/cpu0/stats|entries: 5|entries: 5'

# apart COMMAND...: Run COMMAND with plain files of this test mounted over the shared files.
# So COMMAND reads and changes no other user's file.
apart() {
	local file before
	while IFS='|' read -r file before _; do
		mkdir -p "top/$(dirname "$file")"
		echo "$before" >"top/$file"
	done <<<"$TOP"
	# shellcheck disable=SC2016 # the inner shell's parameters
	unshare -m sh -c 'root=$1
		shift
		mount --bind top/per_cpu "$root/per_cpu" || exit
		for file in $(cd top && find . -type f ! -path "./per_cpu/*"); do
			[ ! -e "$root/$file" ] || mount --bind "top/$file" "$root/$file" || exit
		done
		exec "$@"' sh "$TRACEFS" "$@"
}

# was_reset: Fail unless the files of apart are as --clear leaves them; managers append to a file.
was_reset() {
	local file after
	while IFS='|' read -r file _ after; do
		[ ! -e "$TRACEFS/$file" ] || [ "$(tail -n 1 "top/$file")" = "$after" ] ||
			{ echo "$file: '$(cat "top/$file")' instead of '$after'"; return 1; }
	done <<<"$TOP"
}

@test "caller: after a SIGKILL of the caller its sessions go on until --clear ends all of them" {
	need_tracefs events/syscalls
	need_mounts
	calls 300
	cat >caller.sh <<-'END'
	cd "$1" || exit
	here=$OLDPWD
	for i in 0 1 2 3 4; do
		./manager.tfs --run trace_syscalls \
			--args "--pid $2 --syscall getppid --instance $3.$i" \
			>"$here/out.$i" 2>"$here/err.$i" &
		echo "$!" >>"$here/managers"
	done
	while :; do
		read -r _
	done
	END
	mkfifo never.said
	background sh caller.sh "$TREE/trace-hooks/ftrace" "$CALLS" "$MARK" <>never.said
	caller=$PID
	eventually test -s managers
	eventually began 5
	ends_by "$caller" KILL 137
	file_has 5 managers
	while read -r pid; do
		kill -0 "$pid"
	done <managers
	[ "$(find "$TFS_RUNDIR/ftrace" -name trace | wc -l)" = 5 ]
	# a session whose caller is dead still records
	background "$PROG/caller" "$(cat out.0)" >got
	reader=$PID
	release
	all_end "$CALLS" "$reader"
	[ "$(grep -c ': sys_getppid()$' got)" = 300 ]
	file_has 300 got
	apart "$MANAGER" --clear >clear.out 2>clear.err
	[ ! -s clear.out ]
	[ ! -s clear.err ]
	was_reset
	while read -r pid; do
		eventually gone "$pid"
	done <managers
}

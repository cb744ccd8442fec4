#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2153 # each test is a subshell; helper.bash
# manager and others: memory runs out at any allocation of any process; the result is one
# clear line or a correct run, and nothing is left

load ../helper

need_preload() {
	need_tracefs
	case ${TFS_VARIANT-} in
	'' | vm) ;;
	*) skip "needs an allocator that can be replaced" ;;
	esac
	without tfs-instance 0 1 "$TREE/bin/tfs-instance" list >/dev/null 2>&1 || :
	[ -e hit ] || skip "needs programs that take LD_PRELOAD, and these are static"
}

# without PROGRAM LEVEL N COMMAND...: Run COMMAND, and let its Nth allocation fail.
without() {
	rm -f hit
	env LD_PRELOAD="$PROG/nomemory.so" NOMEMORY="$1 $2 $3 $PWD/hit" "${@:4}"
}

# one_line: Fail unless err is empty or has one line of the error grammar.
one_line() {
	local text line=$'^[a-z-]+: fatal: [^\n]+\n$'
	read_whole err || return
	[[ -z $text || $text =~ $line ]] || { echo "$text"; return 1; }
}

# ---- sessions ------------------------------------------------------------------

# session_without PROGRAM LEVEL N: Run a session in which the Nth allocation of PROGRAM
# fails, LEVEL forks after its exec.
session_without() {
	STATUS=0
	calls -e 50
	: >out; : >err; : >got # path_or_error must not see the last session's
	{ without "$1" "$2" "$3" "$MANAGER" --run trace_syscalls --args \
		"--instance $MARK --syscall getppid --output fifo --pid $CALLS" >out 2>err; } 3>&- &
	SESSION=$!
	eventually path_or_error
	if [ -s out ]; then
		exec 8<"$(cat out)" || :
		background cat <&8 >got
		READER=$PID
		exec 8<&-
	fi
	release
	wait "$CALLS"
	wait "$SESSION" || STATUS=$?
	if [ -s out ]; then
		wait "$READER"
		# no process reads its output any more
		[ ! -s err ] || return 1
		[ "$STATUS" = 0 ] || [ "$STATUS" = 111 ] || return 1
		[ "$STATUS" != 0 ] || [ "$(grep -c getppid got)" = 50 ] || return 1
	else
		[ "$STATUS" = 111 ] || [ "$STATUS" = 100 ] || return 1
		[ -s err ] && one_line || return 1
	fi
	nothing_left
}

# Fail if a process of a session is left.
no_orphan() {
	local file words
	for file in /proc/[0-9]*/cmdline; do
		mapfile -td '' words <"$file" || continue
		[[ ${words[*]} != *"instance $MARK"* ]] || return 1
	done 2>/dev/null
}

sessions_without() {
	local n beyond=0
	need_preload
	for ((n = 1; ; n++)); do
		session_without "$1" "$2" "$n" || {
			echo "allocation $n: out '$(cat out)' err '$(cat err)' status $STATUS" \
				"lines $(wc -l <got)"
			return 1
		}
		# the number of allocations varies a little with the moment
		if [ -e hit ]; then beyond=0; else beyond=$((beyond + 1)); fi
		[ "$beyond" -lt 3 ] || break
	done
	[ "$n" -gt "$3" ] || { echo "only $n"; return 1; }
	no_orphan
}

# bats test_tags=long
@test "manager: prints one line or the whole trace if any of its allocations fails" {
	sessions_without manager 0 10
}

# bats test_tags=long
@test "manager: unwinds if any allocation of its janitor fails" {
	sessions_without manager 1 20
}

@test "manager: unwinds if its hook and stream run out of memory before they begin" {
	sessions_without manager 2 1
}

# bats test_tags=long
@test "manager: unwinds if any allocation of a session's stream fails" {
	sessions_without tfs-catpipe 0 10
}

# ---- tools ---------------------------------------------------------------------

# recorded: Record 50 calls in the buffer, after which no more events come.
recorded() {
	calls -e 50
	echo "$CALLS" >"$DIR/set_event_pid"
	echo 1 >"$DIR/tracing_on"
	release
	wait "$CALLS"
	echo 0 >"$DIR/tracing_on"
}

# tool_without N LEAST TOOL WORD...: Start TOOL and stop it once it runs. Without its Nth
# allocation it prints one line and ends with 111, or works completely.
tools_without() {
	local n least=$1 beyond=0
	shift
	new_instance
	echo 0 >"$DIR/tracing_on"
	tfs-event -i "$INSTANCE" syscalls:sys_enter_getppid
	for ((n = 1; ; n++)); do
		recorded
		[ ! -e got.dat ] || rm got.dat
		STATUS=0
		LD_PRELOAD=$PROG/nomemory.so NOMEMORY="$1 0 $n $PWD/hit.$n" "$@" \
			-i "$INSTANCE" ${FILE:+"$FILE"} >got 2>err 3>&- &
		local pid=$!
		eventually stops_or_ends "$pid"
		wait "$pid" || STATUS=$?
		tool_is_right || {
			echo "allocation $n: status $STATUS, said '$(cat err)'"
			head -n 3 got
			return 1
		}
		echo >"$DIR/trace"
		# the number of allocations varies a little with the moment
		if [ -e "hit.$n" ]; then beyond=0; else beyond=$((beyond + 1)); fi
		[ "$beyond" -lt 3 ] || break
	done
	[ "$n" -gt "$least" ]
}

# stops_or_ends PID: Send the stop signal once PID handles it, or wait for PID's end.
stops_or_ends() {
	gone "$1" || { blocks "$1" && { kill -TERM "$1" 2>/dev/null || gone "$1"; }; }
}

tool_is_right() {
	if [ "$STATUS" = 0 ]; then
		# it may report formats printed as fields, because it cannot compile more of them
		{ file_has 0 err || file_has 1 err; } && whole
	else
		[ "$STATUS" = 111 ] && [ -s err ] && one_line
	fi
}

@test "tfs-catpipe: prints one line and exits 111, or prints every event, if any allocation fails" {
	need_preload
	whole() { [ "$(grep -c getppid got)" = 50 ]; }
	tools_without 30 tfs-catpipe
}

# bats test_tags=long
@test "tfs-record: prints one line and exits 111, or records every event, if any allocation fails" {
	need_preload
	FILE=got.dat
	whole() { [ "$(tfs-report got.dat | grep -c getppid)" = 50 ]; }
	tools_without 30 tfs-record
	[ -z "$(find . -name '.tfs-record*')" ]
}

# bats test_tags=long
@test "tfs-flight: prints one line and exits 111, or stops well, if any allocation fails" {
	need_preload
	mkdir dumps
	FILE=dumps
	whole() { [ ! -s got ]; }
	tools_without 20 tfs-flight
	[ -z "$(ls -A dumps)" ]
}

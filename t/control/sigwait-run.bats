#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# sigwait-run: waits once, ends once, and runs the undo command once

load ../helper

UNDO='echo undone >>undone'

# Fail unless the undo command has run exactly once.
undone() {
	exactly undone $'undone\n'
}

# waiting ARGUMENT...: Start sigwait-run with an undo command in the background, and
# return when it waits; set $PID to its pid.
waiting() {
	background sigwait-run -u "$UNDO" "$@" >out 2>err
	eventually blocks "$PID"
}

# Print how often the process went to sleep and how often it was preempted.
switches() {
	grep ctxt_switches "/proc/$1/status"
}

sleeps() {
	local state
	state=$(cat "/proc/$1/stat") || return 1
	[[ ${state##*) } == S* ]]
}

@test "sigwait-run: exits 99 when the time is up, after the undo command" {
	run -99 --separate-stderr sigwait-run -t 10 -u "$UNDO"
	[ -z "$output$stderr" ]
	undone
}

# bats test_tags=quick
@test "sigwait-run: a time limit of zero ends the wait at once" {
	run -99 sigwait-run -t 0 -u "$UNDO"
	undone
}

@test "sigwait-run: waits as long as the time limit says" {
	local before=${EPOCHREALTIME/[.,]/}
	run -99 sigwait-run -t 150
	[ $((${EPOCHREALTIME/[.,]/} - before)) -ge 150000 ]
}

@test "sigwait-run: the longest time limit does not overflow" {
	waiting -t 2147483647
	run -99 sigwait-run -t 20
	run ! gone "$PID"
	ends_by "$PID" TERM 143
	undone
}

@test "sigwait-run: each stop signal ends the wait with 128+n, and the undo command runs once" {
	for signal in HUP INT QUIT USR1 USR2 TERM; do
		waiting
		kill "-$signal" "$PID"
		finishes "$PID" $((128 + $(kill -l $signal)))
		undone
		rm undone
		[ ! -s out ]
		[ ! -s err ]
	done
}

@test "sigwait-run: a signal that the caller ignores still ends the wait" {
	ignoring() {
		trap '' HUP INT QUIT TERM USR1 USR2
		exec sigwait-run -u "$UNDO"
	}
	for signal in HUP INT QUIT USR1 USR2 TERM; do
		background ignoring
		eventually blocks "$PID"
		kill "-$signal" "$PID"
		finishes "$PID" $((128 + $(kill -l $signal)))
		undone
		rm undone
	done
}

@test "sigwait-run: a signal that was blocked and pending at the start ends the wait" {
	need_tool perl
	# shellcheck disable=SC2016 # perl's
	run -143 perl -MPOSIX -e 'sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGTERM)); kill TERM => $$; exec @ARGV' \
		sigwait-run -t 600000 -u "$UNDO"
	undone
}

@test "sigwait-run: signals during the undo command neither run it again nor interrupt it" {
	mkfifo go
	# shellcheck disable=SC2016 # the shell's own
	background sigwait-run -u 'echo begun >>undone; read -r line <go; echo "$line" >>undone'
	eventually blocks "$PID"
	kill -TERM "$PID"
	eventually test -s undone
	kill -TERM "$PID"
	kill -INT "$PID"
	kill -HUP "$PID"
	echo ended >go
	finishes "$PID" 143
	exactly undone $'begun\nended\n'
}

@test "sigwait-run: a signal that it does not wait for does not end the wait" {
	waiting
	kill -CHLD "$PID"
	kill -WINCH "$PID"
	kill -CONT "$PID"
	run -99 sigwait-run -t 20
	run ! gone "$PID"
	ends_by "$PID" USR1 138
	undone
}

@test "sigwait-run: -p: exits 0 when the task has ended, after the undo command" {
	calls 1
	waiting -p "$CALLS"
	run -99 sigwait-run -t 20 -p "$CALLS"
	[ ! -e undone ]
	release "$PID"
	undone
	[ ! -s out ]
	[ ! -s err ]
}

@test "sigwait-run: -p: a task that never existed counts as ended" {
	: 3>&- &
	wait $!
	run -0 --separate-stderr sigwait-run -p $! -u "$UNDO"
	[ -z "$output$stderr" ]
	undone
}

@test "sigwait-run: -p: a zombie counts as ended" {
	mkfifo in go
	# its parent does not wait for it
	# shellcheck disable=SC2016 # the shell's own
	background sh -c 'read -r _ <go & echo $! >zombie; exec cat' <>in
	eventually test -s zombie
	named_cat() { [ "$(cat "/proc/$PID/comm")" = cat ]; }
	eventually named_cat
	echo >go
	eventually gone "$(cat zombie)"
	grep -q 'State:.*Z' "/proc/$(cat zombie)/status"
	run -0 sigwait-run -t 600000 -p "$(cat zombie)" -u "$UNDO"
	undone
}

@test "sigwait-run: -p: waits until the last of several tasks ends, in any order" {
	calls 1; local a=$CALLS a_go=$GO
	calls 1; local b=$CALLS b_go=$GO
	calls 1; local c=$CALLS c_go=$GO
	waiting -p "$b" -p "$a" -p "$c" -p "$b"
	local waiter=$PID
	GO=$b_go release
	finishes "$b" 0
	GO=$c_go release
	finishes "$c" 0
	run -99 sigwait-run -t 20
	run ! gone "$waiter"
	[ ! -e undone ]
	GO=$a_go release
	finishes "$waiter" 0
	undone
}

@test "sigwait-run: -p: accepts a thread that leads no process" {
	calls -e 1 3
	thread=$(pids-of -t "$CALLS" | tail -n 1)
	[ "$thread" != "$CALLS" ]
	waiting -p "$thread"
	run -99 sigwait-run -t 20 -p "$thread"
	run ! gone "$PID"
	[ ! -e undone ]
	release "$PID"
	undone
}

@test "sigwait-run: -p: a signal ends the wait before the task ends, and the task keeps running" {
	calls 1
	waiting -p "$CALLS"
	ends_by "$PID" INT 130
	undone
	run ! gone "$CALLS"
}

@test "sigwait-run: returns the status of PROG, after the undo command" {
	need_pidfd
	for want in 0 1 7 99 111 255; do
		run "-$want" --separate-stderr sigwait-run -u "$UNDO" sh -c "echo out; echo err >&2; exit $want"
		[ "$output" = out ]
		[ "$stderr" = err ]
		undone
		rm undone
	done
}

@test "sigwait-run: passes PROG its own options" {
	need_pidfd
	outputs 0 "-t -u --help" sigwait-run -t 600000 printf '%s %s %s\n' -t -u --help
	outputs 0 x sigwait-run -t 600000 -- printf '%s\n' x
}

@test "sigwait-run: PROG reads the standard input of the caller" {
	need_pidfd
	outputs 0 hello sigwait-run cat <<<hello
}

@test "sigwait-run: returns 128+n if a signal kills PROG, after the undo command" {
	need_pidfd
	# shellcheck disable=SC2016 # the program's
	run -137 sigwait-run -u "$UNDO" sh -c 'kill -KILL $$'
	undone
	rm undone
	# shellcheck disable=SC2016 # the program's
	run -143 sigwait-run -u "$UNDO" sh -c 'kill -TERM $$'
	undone
}

@test "sigwait-run: exits 127 if PROG is missing, after the undo command" {
	need_pidfd
	fails 127 "sigwait-run: fatal: unable to run no-such-program: No such file or directory" \
		sigwait-run -u "$UNDO" no-such-program
	undone
	fails 127 "sigwait-run: fatal: unable to run ./a?b?[2J: No such file or directory" \
		sigwait-run $'./a\nb\e[2J'
}

@test "sigwait-run: exits 126 if PROG cannot be run, after the undo command" {
	need_pidfd
	: >plain
	fails 126 "sigwait-run: fatal: unable to run ./plain: Permission denied" \
		sigwait-run -u "$UNDO" ./plain
	undone
}

@test "sigwait-run: the time limit sends SIGTERM to PROG and waits for its end" {
	need_pidfd
	mkfifo in
	# try again with a longer limit if PROG had not set its trap before the signal
	for ms in 50 500 5000 50000; do
		rm -f undone
		: >told
		# shellcheck disable=SC2016 # the program's
		run -99 sigwait-run -t $ms -u "$UNDO; cat told" sh -c \
			'trap "echo told >told; exit 5" TERM; echo begun; while read -r _ <>in; do :; done'
		[ "${lines[0]}" != begun ] || break
	done
	[ "$output" = $'begun\ntold' ]
	undone
}

@test "sigwait-run: a signal sends SIGTERM to PROG, and the status is that of the signal" {
	mkfifo in
	for signal in HUP INT QUIT USR1 USR2 TERM; do
		background sigwait-run -u "$UNDO" cat <>in
		eventually blocks "$PID"
		eventually children "$PID" >child
		kill "-$signal" "$PID"
		finishes "$PID" $((128 + $(kill -l $signal)))
		gone "$(tail -n 1 child)"
		undone
		rm undone
	done
}

@test "sigwait-run: the end of the tasks of -p sends SIGTERM to PROG, and the status is 0" {
	mkfifo in
	calls 1
	waiting -p "$CALLS" cat <>in
	eventually children "$PID" >child
	release "$PID"
	gone "$(tail -n 1 child)"
	undone
}

@test "sigwait-run: PROG starts with the signal mask and actions of the caller" {
	need_pidfd
	grep -E '^Sig(Blk|Ign):' /proc/self/status >expected
	# the shell in between might change its own signal mask
	outputs 0 "$(cat expected)" sigwait-run grep -E '^Sig(Blk|Ign):' /proc/self/status
}

@test "sigwait-run: returns PROG's status even if the caller ignores SIGCHLD" {
	need_pidfd
	need_tool perl
	# shellcheck disable=SC2016 # perl's
	run -7 perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' sigwait-run -t 600000 -u "$UNDO" sh -c 'exit 7'
	undone
}

@test "sigwait-run: a child other than PROG does not end the wait" {
	mkfifo in
	# a child that the shell had before it became sigwait-run
	# shellcheck disable=SC2016 # the shell's own
	background sh -c 'true & exec sigwait-run -u "$1" cat' sh "$UNDO" <>in
	eventually blocks "$PID"
	run -99 sigwait-run -t 20
	run ! gone "$PID"
	ends_by "$PID" TERM 143
	undone
}

@test "sigwait-run: stopping and continuing PROG does not end the wait" {
	mkfifo in
	waiting cat <>in
	eventually children "$PID" >child
	prog=$(tail -n 1 child)
	kill -STOP "$prog"
	stopped() { grep -q 'State:.*T' "/proc/$prog/status"; }
	eventually stopped
	kill -CONT "$prog"
	run -99 sigwait-run -t 20
	run ! gone "$PID"
	ends_by "$PID" USR1 138
	gone "$prog"
	undone
}

@test "sigwait-run: children that end meanwhile do not change the time limit" {
	# a task ends every 200 ms, for six seconds
	# shellcheck disable=SC2016 # the shell's own
	background sh -c 'for i in 1 2 3 4 5; do for j in 0 2 4 6 8 10; do
			[ $i$j = 10 ] || sigwait-run -t $(((i - 1) * 1200 + j * 100)) & echo $! >>others
		done; done; exec sigwait-run -t 300'
	finishes "$PID" 99
	mapfile -t others <others
	run ! gone "${others[-1]}"
	kill -KILL "${others[@]}" 2>/dev/null || : # most of them have ended
}

@test "sigwait-run: quotes an undo command that fails, and exits 111 in every case" {
	need_pidfd
	fails 111 "sigwait-run: fatal: the undo failed: exit 3" sigwait-run -t 0 -u 'exit 3'
	fails 111 "sigwait-run: fatal: the undo failed: exit 1" sigwait-run -u 'exit 1' true
	fails 111 "sigwait-run: fatal: the undo failed: false # ?[2J?" \
		sigwait-run -u $'false # \e[2J\n' sh -c 'exit 7'
}

@test "sigwait-run: the last of several undo commands counts" {
	outputs 99 two sigwait-run -t 0 -u 'echo one' -u 'echo two'
}

@test "sigwait-run: the undo command runs with the signal mask and actions of the caller" {
	# busybox's shell ignores SIGQUIT itself
	look="grep -E '^Sig(Blk|Ign):' /proc/self/status"
	sh -c "$look" >expected
	outputs 99 "$(cat expected)" sigwait-run -t 0 -u "$look"
}

@test "sigwait-run: -p reads only the procfs entries of the tasks it names" {
	calls 1
	TRACER_PROCFS_PATH=$PWD/nowhere run -0 sigwait-run -t 600000 -p "$CALLS"
	run ! gone "$CALLS"
}

@test "sigwait-run: does not wake up while it waits" {
	calls 1
	waiting -t 600000 -p "$CALLS" -p $$
	# it may sleep for a moment before it waits, for a page of its program
	still() {
		local before
		sleeps "$1" || return
		before=$(switches "$1")
		run -99 sigwait-run -t 300
		[ "$(switches "$1")" = "$before" ]
	}
	eventually still "$PID"
	ends_by "$PID" TERM 143
	undone
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# trace_signal: signals sent and delivered, by signal and by receiver

load ../helper
load ../hooks

# Start a shell that gets two USR1 of its own, counts them and ends.
signals() {
	[ -p go ] || mkfifo go
	background sh -c \
		'trap : USR1; read -r _; kill -USR1 $$; kill -USR1 $$; kill -WINCH $$; exit 0' <>go
	HELD=$PID GO=go
}

# bats test_tags=quick
@test "trace_signal: prints each signal that is sent and each that is delivered" {
	need_tracefs events/signal
	signals
	traced trace_signal
	[ "$(grep -c ": signal_generate: sig=10 .* pid=$HELD " got)" = 2 ]
	[ "$(grep -c ": signal_deliver: sig=10 " got)" = 2 ]
	[ "$(grep -c ": signal_generate: sig=28 .* pid=$HELD " got)" = 1 ]
}

@test "trace_signal: --signal takes names and numbers, and --only one side" {
	need_tracefs events/signal
	signals
	traced trace_signal --signal USR1 --only sent
	[ "$(grep -c ": signal_generate: sig=10 " got)" = 2 ]
	[ "$(grep -vc '^#' got)" = 2 ]
	signals
	traced trace_signal --signal 10 SIGWINCH --only sent
	[ "$(grep -vc '^#' got)" = 3 ]
	signals
	traced trace_signal -s SIGUSR1 --only delivered
	[ "$(grep -c ": signal_deliver: sig=10 " got)" = 2 ]
	[ "$(grep -vc '^#' got)" = 2 ]
}

@test "trace_signal: --to with --all finds the sender of a task's signals" {
	need_tracefs events/signal
	calls 1
	me=$BASHPID
	watch trace_signal --all --only sent --to "$CALLS"
	kill -CONT "$CALLS"
	kill -WINCH "$CALLS"
	watch_stop
	[ "$(grep -c -e "-$me .*: signal_generate: sig=[12][0-9] .* pid=$CALLS " got)" = 2 ]
	[ "$(grep -vc '^#' got)" = 2 ]
}

@test "trace_signal: --to leaves out the signals of unrelated tasks, sent and delivered" {
	need_tracefs events/signal
	signals
	task=$HELD
	mkfifo other
	background sh -c 'trap : USR1; read -r _; kill -USR1 $$; kill -USR1 $$; exit 0' <>other
	stranger=$PID
	watch trace_signal --all --to "$task"
	echo >other
	finishes "$stranger" 0
	echo >go
	finishes "$task" 0
	watch_stop
	[ "$(grep -c ": signal_generate: .* pid=$task " got)" = 3 ]
	[ "$(grep -c -e "-$task .*: signal_deliver: sig=10 " got)" = 2 ]
	run -1 grep -v -e "-$task " got
}

@test "trace_signal: --to takes the threads of a task, too" {
	need_tracefs events/signal
	calls 1 3
	start_session trace_signal --output fifo --all --to "$CALLS" -s WINCH
	tids=$(pids-of -t "$CALLS")
	for tid in $tids; do
		[ "$(grep -o "common_pid == $tid" "$TRACEFS/instances/tfs.$MARK/events/signal/signal_deliver/filter" | wc -l)" = 1 ]
		[ "$(grep -o "[^_]pid == $tid" "$TRACEFS/instances/tfs.$MARK/events/signal/signal_generate/filter" | wc -l)" = 1 ]
	done
	[ "$(wc -w <<<"$tids")" -ge 1 ]
	stop_session
}

@test "trace_signal: refuses an invalid signal" {
	need_tracefs events/signal
	calls 1
	refuses trace_signal 100 "no signal is called 'USR3'; kill -l prints their names" \
		--pid "$CALLS" --signal USR1 USR3
	for number in 999 0 65 010 99999999999999999999; do
		refuses trace_signal 100 "no signal has the number $number; signals have the numbers 1 to 64" \
			--pid "$CALLS" --signal "$number"
	done
	refuses trace_signal 100 "--to: 'one' is not a pid, a number from 1 to 4194304" --pid "$CALLS" --to one
}

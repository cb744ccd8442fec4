#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-run: prints a hook's trace for people. Most tests use a tree with a manager of the
# test's own, which shows its arguments; "kernel" tests use the real manager.

load helper

USAGE='tfs-run [-m SUBSYSTEM] [-o FILE] [HOOK [OPTION]... [-- PROG...]]'

misuse() {
	fails 100 "tfs-run: fatal: $1; usage: $USAGE" "${@:2}"
}

# fake_tree: Copy tfs-run next to a manager that is the shell script on stdin. The
# script finds its arguments in "$@"; $HOME is the test's directory.
fake_tree() {
	mkdir -p fake/bin fake/trace-hooks/ftrace
	cp "$TREE/bin/tfs-run" fake/bin
	{ echo '#!/bin/sh'; cat; } >fake/trace-hooks/ftrace/manager
	chmod +x fake/trace-hooks/ftrace/manager
	RUN=$PWD/fake/bin/tfs-run
	export HERE=$PWD
}

# Make a manager that notes its arguments and has a trace of one line.
noting_tree() {
	mkfifo trace
	fake_tree <<'END'
printf '%s\n' "$@" >"$HERE/args"
trap exit INT
echo "$HERE/trace"
exec >&-
echo one >"$HERE/trace"
END
}

@test "tfs-run: --help prints the synopsis and the purpose" {
	helps tfs-run "$USAGE" "run a trace hook and show its trace, for people"
}

@test "tfs-run: --version prints name and version" {
	run -0 --separate-stderr tfs-run --version
	[[ $output =~ ^tfs-run\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	[ -z "$stderr" ]
}

@test "tfs-run: names unknown options and options that lack their value" {
	misuse "no such option: -x" tfs-run -x
	misuse "no such option: --list" tfs-run --list
	misuse "option -m needs a value" tfs-run -m
}

@test "tfs-run: refuses a subsystem name that could be a path" {
	for name in .. . '' a/b ../trace-hooks/ftrace /etc .hidden -x 'a b'; do
		misuse "not a subsystem's name: '$name'" tfs-run -m "$name"
	done
	misuse "not a subsystem's name: 'a?b?[2J'" tfs-run -m $'a\nb\e[2J'
}

@test "tfs-run: names a missing subsystem" {
	fails 100 "tfs-run: fatal: no subsystem nosuch in $(realpath "$TREE")/bin/../trace-hooks" \
		tfs-run -m nosuch
}

@test "tfs-run: refuses -- without a program" {
	misuse "no program after --" tfs-run trace_syscalls --
	misuse "no program after --" tfs-run trace_syscalls --all --
}

@test "tfs-run: lists the hooks if none is given" {
	run -0 --separate-stderr tfs-run
	[ "$output" = "$("$MANAGER" --get-all)" ]
	grep -qx trace_syscalls <<<"$output"
	[ -z "$stderr" ]
	local all=$output
	run -0 tfs-run -m ftrace
	[ "$output" = "$all" ]
}

@test "tfs-run: -m runs the manager of that subsystem" {
	fake_tree </dev/null
	mkdir fake/trace-hooks/other
	printf '#!/bin/sh\necho other "$@"\n' >fake/trace-hooks/other/manager
	chmod +x fake/trace-hooks/other/manager
	run -0 "$RUN" -m other
	[ "$output" = "other --get-all" ]
}

@test "tfs-run: finds an installed tree below lib" {
	mkdir -p pre/bin pre/lib/trace-hooks/ftrace
	cp "$TREE/bin/tfs-run" pre/bin
	printf '#!/bin/sh\necho installed "$@"\n' >pre/lib/trace-hooks/ftrace/manager
	chmod +x pre/lib/trace-hooks/ftrace/manager
	run -0 pre/bin/tfs-run
	[ "$output" = "installed --get-all" ]
}

@test "tfs-run: names a manager that cannot be run" {
	fake_tree </dev/null
	chmod -x fake/trace-hooks/ftrace/manager
	fails 111 "tfs-run: fatal: unable to run $PWD/fake/bin/../trace-hooks/ftrace/manager" "$RUN"
	fails 126 "tfs-run: fatal: unable to run $PWD/fake/bin/../trace-hooks/ftrace/manager: Permission denied" \
		"$RUN" hook
	fails 126 "tfs-run: fatal: unable to run $PWD/fake/bin/../trace-hooks/ftrace/manager: Permission denied" \
		"$RUN" hook -- touch ran
	[ ! -e ran ]
}

@test "tfs-run: passes the hook to the manager, and the options as one string" {
	noting_tree
	# shellcheck disable=SC2016 # not to be expanded, that is the point
	run -0 --separate-stderr "$RUN" hook --syscall openat -s "a b" --text "it's" '$(x)' ''
	[ "$output" = one ]
	[ -z "$stderr" ]
	exactly args "--run
hook
--args
--output fifo '--syscall' 'openat' '-s' 'a b' '--text' 'it'\\''s' '\$(x)' ''
"
}

# bats test_tags=quick
@test "tfs-run: passes PROG's pid to the manager, and PROG its own arguments" {
	noting_tree
	# shellcheck disable=SC2016 # the shell's own
	run -0 "$RUN" hook --returns -- sh -c 'echo "$$ $*" >prog' sh -- --returns 'a b'
	read -r pid rest <prog
	[ "$rest" = "-- --returns a b" ]
	[ "$(tail -n 1 args)" = "--output fifo '--returns' --pid $pid" ]
}

@test "tfs-run: PROG does not start before the manager has printed its path" {
	mkfifo trace
	fake_tree <<'END'
trap exit INT
[ ! -e "$HERE/ran" ] && echo held >"$HERE/held"
echo "$HERE/trace"
exec >&-
echo one >"$HERE/trace"
END
	run -0 "$RUN" hook -- touch ran
	[ -e held ]
	[ -e ran ]
}

@test "tfs-run: passes on the status and reason of a manager that refuses, and never runs PROG" {
	fake_tree <<'END'
echo "manager: fatal: not today" >&2
exit 100
END
	fails 100 "manager: fatal: not today" "$RUN" hook
	fails 100 "manager: fatal: not today" "$RUN" hook -- touch ran
	[ ! -e ran ]
}

@test "tfs-run: reports a manager that exits 0 without a path" {
	fake_tree <<<'exit 0'
	run -111 "$RUN" hook
	run -111 "$RUN" hook -- touch ran
	[ ! -e ran ]
}

@test "tfs-run: names a path that it cannot open" {
	fake_tree <<'END'
trap 'exit 0' INT
echo /nowhere/trace
END
	fails 111 "tfs-run: fatal: unable to open /nowhere/trace: No such file or directory" "$RUN" hook
	fails 111 "tfs-run: fatal: unable to open /nowhere/trace: No such file or directory" \
		"$RUN" hook -- touch ran
	[ ! -e ran ]
}

@test "tfs-run: returns the manager's status if the manager fails at the end" {
	mkfifo trace
	fake_tree <<'END'
trap : INT
echo "$HERE/trace"
exec >&-
echo one >"$HERE/trace"
exit 111
END
	run -111 "$RUN" hook -- true
}

@test "tfs-run: returns the status of a PROG that is killed before its release" {
	mkfifo trace
	fake_tree <<'END'
trap : INT
pid=${4##*--pid }
kill -KILL "$pid"
until grep -q 'State:.*Z' "/proc/$pid/status"; do :; done
echo "$HERE/trace"
exec >&-
echo one >"$HERE/trace"
END
	run -137 --separate-stderr "$RUN" hook -- touch ran
	[ "$output" = one ]
	[ "$stderr" = "tfs-run: fatal: unable to release touch: Broken pipe" ]
	[ ! -e ran ]
}

@test "tfs-run: sends PROG's standard output to standard error, not into the trace" {
	noting_tree
	"$RUN" hook -- echo two >out 2>err
	exactly out 'one
'
	exactly err 'two
'
	: >out
	"$RUN" hook -- sh -c 'echo two; exit 7' >out 2>&- || status=$?
	[ "$status" = 7 ]
	exactly out 'one
'
}

@test "tfs-run: -o writes the trace to FILE, and PROG keeps its standard output" {
	noting_tree
	echo before, and longer >file
	"$RUN" -o file hook -- echo two >out 2>err
	exactly file 'one
'
	exactly out 'two
'
	exactly err ''
}

@test "tfs-run: -o names a FILE that cannot be written, and nothing runs" {
	noting_tree
	fails 111 "tfs-run: fatal: unable to open no/where: No such file or directory" \
		"$RUN" -o no/where hook -- touch ran
	[ ! -e ran ] && [ ! -e args ]
}

# Make a manager that notes its signals and has not yet begun when it runs.
slow_tree() {
	mkfifo trace never
	fake_tree <<'END'
for s in HUP INT TERM; do
	# shellcheck disable=SC2064
	trap "echo $s >>'$HERE/heard'; exit 99" $s
done
echo $$ >"$HERE/up"
while :; do :; done # a read may begin just after the signal
END
}

@test "tfs-run: a signal before the trace records ends it with 128+n, and PROG never runs" {
	slow_tree
	local n signal
	for signal in HUP INT TERM; do
		rm -f up heard
		background "$RUN" hook -- touch ran >out 2>err
		eventually test -s up
		kill "-$signal" "$PID"
		n=$(kill -l "$signal")
		finishes "$PID" $((128 + n))
		[ "$(cat heard)" = "$signal" ]
		[ ! -s out ] && [ ! -s err ]
		[ ! -e ran ]
	done
}

# Make a manager that notes its signals, with a trace of one line that ends with INT.
hearing_tree() {
	mkfifo trace never
	fake_tree <<'END'
trap 'echo USR1 >>"$HERE/heard"' USR1
trap 'echo INT >>"$HERE/heard"; exit 0' INT
echo "$HERE/trace"
exec >"$HERE/trace"
echo one
while :; do :; done # a read may begin just after the signal
END
}

@test "tfs-run: passes SIGUSR1 to the manager, and the run goes on" {
	hearing_tree
	background "$RUN" hook >out 2>err
	eventually grep -qx one out
	kill -USR1 "$PID"
	eventually grep -qx USR1 heard
	kill -TERM "$PID"
	finishes "$PID" 0
	exactly heard 'USR1
INT
'
}

@test "tfs-run: passes a signal to PROG while the trace records, and the session ends with PROG" {
	hearing_tree
	# shellcheck disable=SC2016 # the shell's own
	background "$RUN" hook -- sh -c \
		'trap "cat heard 2>/dev/null; echo caught; exit 7" TERM
		echo ready; while :; do :; done' >out 2>err
	eventually grep -qx ready err
	kill -TERM "$PID"
	finishes "$PID" 7
	exactly err 'ready
caught
'
	[ "$(cat heard)" = INT ]
}

@test "tfs-run: returns 128+n if the signal that it passed on kills PROG" {
	hearing_tree
	local signal
	for signal in HUP TERM; do # a background program of a script ignores INT
		rm -f heard
		background "$RUN" hook -- sh -c 'echo ready; exec cat never' >out 2>err
		eventually grep -qx ready err
		kill "-$signal" "$PID"
		finishes "$PID" $((128 + $(kill -l "$signal")))
		[ "$(cat heard)" = INT ]
	done
}

@test "tfs-run: SIGHUP stays ignored under nohup" {
	hearing_tree
	# shellcheck disable=SC2016 # the shell's own
	background sh -c 'trap "" HUP; exec "$0" hook' "$RUN" >out 2>err
	eventually grep -qx one out
	kill -HUP "$PID"
	kill -USR1 "$PID"
	eventually grep -qx USR1 heard
	kill -TERM "$PID"
	finishes "$PID" 0
	exactly heard 'USR1
INT
'
}

@test "tfs-run: passes a signal to PROG even after the session has ended" {
	noting_tree
	mkfifo never
	background "$RUN" hook -- sh -c 'echo $$ >prog; exec cat never' >out 2>err
	eventually grep -qx one out
	eventually test -s prog
	eventually gone "$(children "$PID" | grep -vx "$(cat prog)" || echo 0)"
	kill -TERM "$PID"
	finishes "$PID" 143
}

@test "tfs-run: a full standard output is an error" {
	noting_tree
	fails 111 "tfs-run: fatal: unable to write the trace: No space left on device" \
		to_full "$RUN" hook
}

# ---- the kernel ------------------------------------------------------------------

# Succeed when this test's session records: tracing_on is written after the hook.
armed() {
	local dir=$TRACEFS/instances/tfs.$MARK
	[ -d "$dir" ] && [ -n "$(cat "$dir/set_event")" ] && [ "$(cat "$dir/tracing_on")" = 1 ]
}

# hook WORD...: Run trace_syscalls as a session of this test.
hook() {
	tfs-run trace_syscalls --instance "$MARK" "$@"
}

@test "tfs-run: kernel: records PROG's execve as its first event, and leaves nothing behind" {
	need_tracefs events/syscalls
	hook --syscall execve -- /bin/true >out 2>err
	exactly err ''
	[ "$(grep -c ': sys_execve(' out)" = 1 ]
	nothing_left
}

@test "tfs-run: kernel: prints N lines for N calls of PROG, besides PROG's own output" {
	need_tracefs events/syscalls
	hook --syscall getppid -- "$PROG/calls" 5000 </dev/null >out 2>err
	exactly err 'ready
'
	[ "$(grep -c ': sys_getppid()$' out)" = 5000 ]
	[ "$(wc -l <out)" = 5000 ]
	nothing_left
}

@test "tfs-run: kernel: returns PROG's own status" {
	need_tracefs events/syscalls
	for status in 0 1 7 99 255; do
		run "-$status" hook --syscall execve -- sh -c "exit $status"
	done
	# shellcheck disable=SC2016 # the shell's own
	run -143 hook --syscall execve -- sh -c 'kill -TERM $$'
	nothing_left
}

@test "tfs-run: kernel: exits 127 if PROG is missing, and 126 if PROG cannot be run" {
	need_tracefs events/syscalls
	: >plain
	run -127 --separate-stderr hook --syscall execve -- ./nosuch
	[ "$stderr" = "tfs-run: fatal: unable to run ./nosuch: No such file or directory" ]
	run -126 --separate-stderr hook --syscall execve -- ./plain
	[ "$stderr" = "tfs-run: fatal: unable to run ./plain: Permission denied" ]
	nothing_left
}

@test "tfs-run: kernel: SIGINT, SIGTERM and SIGHUP end it cleanly and print the rest of the buffer" {
	need_tracefs events/syscalls
	local signal
	for signal in INT TERM HUP; do
		calls 100
		local caller=$CALLS
		local go=$GO
		calls 1 # the program stays, and so does the session
		background tfs-run trace_syscalls --instance "$MARK" --syscall getppid \
			--pid "$caller" "$CALLS" >out 2>err
		local runner=$PID
		eventually armed
		GO=$go release
		finishes "$caller" 0
		kill "-$signal" "$runner"
		finishes "$runner" 0
		exactly err ''
		[ "$(grep -c ': sys_getppid()$' out)" = 100 ]
		nothing_left
	done
}

@test "tfs-run: kernel: ends when the last traced task ends" {
	need_pending_signals
	need_tracefs events/syscalls
	calls 10
	background tfs-run trace_syscalls --instance "$MARK" --syscall getppid --pid "$CALLS" >out 2>err
	local runner=$PID
	eventually armed
	release
	finishes "$runner" 0
	[ "$(grep -c ': sys_getppid()$' out)" = 10 ]
	exactly err ''
	nothing_left
}

@test "tfs-run: kernel: --time ends it" {
	need_tracefs events/syscalls
	calls 1
	run -0 --separate-stderr tfs-run trace_syscalls --instance "$MARK" --time 50 --pid "$CALLS"
	[ -z "$stderr" ]
	run ! gone "$CALLS"
	nothing_left
}

@test "tfs-run: kernel: prints a refusal of the manager on one line" {
	need_tracefs events/syscalls
	run -100 --separate-stderr tfs-run nosuch --pid $$
	[ -z "$output" ]
	[[ $stderr == "manager: fatal: "* ]]
	[[ $stderr != *$'\n'* ]]
	run -100 --separate-stderr hook --syscall $'a\nb\e' -- touch ran
	[ -z "$output" ]
	[[ $stderr == "manager: fatal: "* ]]
	[[ $stderr != *[$'\n\e']* ]]
	[ ! -e ran ]
	nothing_left
}

@test "tfs-run: kernel: ends when its reader goes away, and leaves nothing behind" {
	need_tracefs events/syscalls
	# shellcheck disable=SC2016 # the shell's own
	run -0 "$BASH" -c 'tfs-run trace_syscalls --instance "$0" -- true | head -n 1 | wc -l' "$MARK"
	[ "$output" = 1 ]
	nothing_left
}

@test "tfs-run: kernel: ends at once when its reader goes away, and SIGPIPE ends PROG" {
	need_tracefs events/syscalls
	mkfifo never
	for i in 1 2 3; do
		# its execve is the only event, so no write can fail
		hook --syscall execve -- cat never | head -n 1 >"got$i"
		[ "${PIPESTATUS[0]}" = 141 ]
		nothing_left
		grep -q ': sys_execve(' "got$i"
	done
}

@test "tfs-run: kernel: a program that reads the trace does not take PROG's output for events" {
	need_tracefs events/syscalls
	hook --syscall write -- sh -c 'printf "a: "; printf "b: 7 c: "' 2>err | tfs-count >out
	exactly out '      2 sys_enter_write
'
	exactly err 'a: b: 7 c: '
	nothing_left
	tfs-run trace_event -e sched_process_exit --instance "$MARK" -- seq 1000 1010 2>err >out
	[ "$(wc -l <err)" = 11 ]
	[ "$(wc -l <out)" = 1 ]
	nothing_left
}

@test "tfs-run: kernel: SIGTERM after the time limit ends PROG, with status 143" {
	need_tracefs events/syscalls
	mkfifo never
	background tfs-run trace_syscalls --instance "$MARK" --syscall execve --time 1000 -- \
		sh -c 'echo >ran; exec cat never' >out 2>err
	eventually test -e ran
	eventually nothing_left
	kill -TERM "$PID"
	finishes "$PID" 143
	exactly err ''
}

@test "tfs-run: kernel: a signal ends it even if its reader takes nothing" {
	need_tracefs events/syscalls
	mkfifo stuck
	calls 20000
	local caller=$CALLS
	exec 7<>stuck
	background tfs-run trace_syscalls --instance "$MARK" --syscall getppid --pid "$caller" >&7 2>err
	local runner=$PID
	eventually armed
	release
	finishes "$caller" 0
	kill -TERM "$runner"
	finishes "$runner" 143
	exec 7>&-
	exactly err 'tfs-run: fatal: unable to write the trace: signal 15 came, and its reader takes nothing
'
	nothing_left
}

@test "tfs-run: kernel: leaves nothing behind after SIGKILL" {
	need_tracefs events/syscalls
	calls 1
	background tfs-run trace_syscalls --instance "$MARK" --pid "$CALLS" >out 2>err
	eventually test -d "$TRACEFS/instances/tfs.$MARK"
	kill -KILL "$PID"
	finishes "$PID" 137
	release
	eventually nothing_left
}

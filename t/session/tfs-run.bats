#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-run: prints a hook's trace for people. Most tests use a tree with a manager of the
# test's own, which shows its arguments; "kernel" tests use the real manager.

load ../helper

# fake_tree: Copy tfs-run next to a manager that is the shell script on stdin. The
# script finds its arguments in "$@"; $HERE is the test's directory. The subsystem has one
# hook, which is called hook.
fake_tree() {
	mkdir -p fake/bin fake/trace-hooks/ftrace/hooks.d
	printf '#!/bin/sh\n# description: A hook of the test\n' >fake/trace-hooks/ftrace/hooks.d/hook
	chmod +x fake/trace-hooks/ftrace/hooks.d/hook
	cp "$TREE/bin/tfs-run" fake/bin
	{ echo '#!/bin/sh'; cat; } >fake/trace-hooks/ftrace/manager
	chmod +x fake/trace-hooks/ftrace/manager
	RUN=$PWD/fake/bin/tfs-run
	export HERE=$PWD
}

# tracing_tree LINE...: Make a manager that runs LINEs, prints its path and has a trace of one line.
tracing_tree() {
	[ -p trace ] || mkfifo trace
	# shellcheck disable=SC2016 # the manager's own
	printf '%s\n' "$@" 'echo "$HERE/trace"' 'exec >&-' 'echo one >"$HERE/trace"' >begin
	fake_tree <begin
}

# noting_tree: Make one that notes its arguments.
noting_tree() {
	# shellcheck disable=SC2016 # the manager's own
	tracing_tree 'printf "%s\n" "$@" >"$HERE/args"' 'trap exit INT'
}

# holding_tree: Make one that notes that PROG (touch ran) has not begun before the path.
holding_tree() {
	# shellcheck disable=SC2016 # the manager's own
	tracing_tree 'trap exit INT' '[ ! -e "$HERE/ran" ] && echo held >"$HERE/held"'
}

# nothing_runs STATUS MESSAGE WORD...: Fail unless tfs-run WORD... fails so, and PROG (touch ran)
# and the manager have not run.
nothing_runs() {
	rm -f args
	fails "$1" "tfs-run: fatal: $2" "$RUN" "${@:3}"
	[ ! -e ran ] && [ ! -e args ]
}

@test "tfs-run: refuses a subsystem name that could be a path, and one that is missing" {
	dir=$(realpath "$TREE")/bin/../trace-hooks
	for name in .. . '' a/b ../trace-hooks/ftrace /etc .hidden -x 'a b' nosuch; do
		fails 100 "tfs-run: fatal: no subsystem '$name' in $dir; leave -m out" tfs-run -m "$name"
	done
	fails 100 "tfs-run: fatal: no subsystem 'a?b?[2J' in $dir; leave -m out" tfs-run -m $'a\nb\e[2J'
}

# hooks DIR: the names of the executable hooks of a tree
hooks() {
	find "$1"/trace-hooks/*/hooks.d -type f -perm -100 | sed 's|.*/||' | sort
}

@test "tfs-run: lists every hook of every subsystem if none is named, below a question" {
	need_tracefs
	run -0 --separate-stderr tfs-run
	[ -z "$stderr" ]
	[ "$(sed -n 's/^  \(trace_[a-z]*\)  .*/\1/p' <<<"$output" | sort)" = "$(hooks "$TREE")" ]
	# each installed hook has one of the known questions, and no line is too wide
	[ "$(grep -c '^[A-Z].*?$' <<<"$output")" = 6 ]
	[[ $output != *"Other hooks"* ]]
	run -1 grep -E '^.{81}' <<<"$output"
	run -0 tfs-run -m blktrace
	[ "$(sed -n 's/^  \(trace_[a-z]*\)  .*/\1/p' <<<"$output")" = trace_blk ]
}

@test "tfs-run: marks the hooks that cannot run here with the reason of the manager" {
	fake_tree <<'END'
[ "$*" = '--check hook' ] || exit 3
echo 'hook: no kprobe_events in this kernel; it needs CONFIG_KPROBE_EVENTS'
exit 1
END
	run -0 --separate-stderr "$RUN"
	[ "$output" = "Other hooks
  hook  A hook of the test
        (cannot run here: no kprobe_events in this kernel; it needs
        CONFIG_KPROBE_EVENTS)

tfs-run HOOK --help shows options and examples; man HOOK has all details." ]
	[ -z "$stderr" ]
	run -1 --separate-stderr "$RUN" --check
	[ "$output" = "hook  no kprobe_events in this kernel; it needs CONFIG_KPROBE_EVENTS" ]
	chmod -x fake/trace-hooks/ftrace/hooks.d/hook
	run -1 "$RUN" --check
	[ "$output" = "hook  not executable; run chmod +x
      $PWD/fake/bin/../trace-hooks/ftrace/hooks.d/hook" ]
	fails 100 "tfs-run: fatal: hook is not executable; run chmod +x $PWD/fake/bin/../trace-hooks/ftrace/hooks.d/hook" \
		"$RUN" hook --all
}

@test "tfs-run: --check asks the manager for each hook, or for one with its options" {
	need_tracefs
	run --separate-stderr tfs-run --check
	[ "$status" -le 1 ]
	[ "$(sed -n 's/^\(trace_[a-z]*\)  .*/\1/p' <<<"$output")" = "$(hooks "$TREE")" ]
	grep -qx 'trace_event     yes' <<<"$output"
	run -0 --separate-stderr tfs-run --check trace_event -e sched_switch --all
	[ "$output" = "trace_event: yes" ]
	run -0 --separate-stderr tfs-run trace_event --check -e sched_switch --all
	[ "$output" = "trace_event: yes" ]
	run -111 --separate-stderr tfs-run --check trace_event -e nosuch_event --all
	[ -z "$output" ]
}

@test "tfs-run: HOOK --help prints options, examples and the page of the hook" {
	fake_tree </dev/null
	cat >fake/trace-hooks/ftrace/hooks.d/hook <<'END'
#!/bin/sh
# description: A hook of the test
# option: -x, --extra NAME...  one two three four five six seven eight nine ten eleven twelve
# option: --very-long-name-of-an-option N  a number
# example: tfs-run hook -x 1 -- ls  what ls does
END
	run -0 --separate-stderr "$RUN" hook -x 1 --help -- ls
	[ -z "$stderr" ]
	[[ $output = "usage: tfs-run hook [OPTION]... [-- PROG...]
A hook of the test

options of this hook:
  -x, --extra NAME...   one two three four five six seven eight nine ten eleven
                        twelve
  --very-long-name-of-an-option N
                        a number

common options, which --help all describes: --pid, --parent, --cgroup,
  --container, "*" --all, --instance,"*" --summary, "* ]]
	[[ $output = *"
examples:
  tfs-run hook -x 1 -- ls
      what ls does
man hook has the fields, the cost and all messages." ]]
	[[ $output != *--output* ]]
	run -0 --separate-stderr "$RUN" hook --help all
	[[ $output = *"
                        a number

which tasks, and their later children; PROG needs none of these:
  -p, --pid PID...  "*"
the session:
  -i, --instance NAME  "*"
the output:
  -o, --file FILE  "*"
man hook has the fields, the cost and all messages." ]]
	[[ $output != *--output* ]]
}

@test "tfs-run: the help of every installed hook has two examples and fits in 80 columns" {
	for hook in $(hooks "$TREE"); do
		run -0 --separate-stderr tfs-run "$hook" --help
		[ "$(grep -c '^  tfs-run ' <<<"$output")" = 2 ]
		run -1 grep -E '^.{81}' <<<"$output"
	done
}

@test "tfs-run: finds a hook in each subsystem, with or without trace_, and -m where two have it" {
	fake_tree </dev/null
	mkdir -p fake/trace-hooks/other/hooks.d
	printf '#!/bin/sh\nexit 5\n' >fake/trace-hooks/other/manager
	chmod +x fake/trace-hooks/other/manager
	cp fake/trace-hooks/ftrace/hooks.d/hook fake/trace-hooks/other/hooks.d/trace_more
	run -5 "$RUN" trace_more --all
	run -5 "$RUN" more --all
	cp fake/trace-hooks/ftrace/hooks.d/hook fake/trace-hooks/other/hooks.d/
	fails 100 "tfs-run: fatal: hook is a hook of the subsystems ftrace and other; give one of them with -m" \
		"$RUN" hook --all
	run -5 "$RUN" -m other hook --all
}

@test "tfs-run: finds an installed tree below lib" {
	mkdir -p pre/bin pre/lib/trace-hooks/ftrace/hooks.d
	cp "$TREE/bin/tfs-run" pre/bin
	printf '#!/bin/sh\nexit 6\n' >pre/lib/trace-hooks/ftrace/manager
	printf '#!/bin/sh\n# description: A hook\n' >pre/lib/trace-hooks/ftrace/hooks.d/hook
	chmod +x pre/lib/trace-hooks/ftrace/manager pre/lib/trace-hooks/ftrace/hooks.d/hook
	run -6 pre/bin/tfs-run hook --all
	rm -r pre/lib
	fails 100 "tfs-run: fatal: no hooks in $PWD/pre/bin/../trace-hooks: the installation is not complete" \
		pre/bin/tfs-run hook --all
}

@test "tfs-run: names a manager that cannot be run" {
	fake_tree </dev/null
	chmod -x fake/trace-hooks/ftrace/manager
	no="unable to run $PWD/fake/bin/../trace-hooks/ftrace/manager: Permission denied"
	nothing_runs 126 "$no" hook
	nothing_runs 126 "$no" hook -- touch ran
	nothing_runs 111 "$no" hook --check
}

@test "tfs-run: names a program that has no -- before it" {
	fails 100 "tfs-run: fatal: 'ls' is not an option; to trace that program, put -- before it: tfs-run trace_syscalls -- ls -l 'a b'" \
		tfs-run trace_syscalls ls -l 'a b'
	fails 100 "tfs-run: fatal: 'nosuch' is not an option of trace_syscalls; did you mean --syscall nosuch?" \
		tfs-run trace_syscalls nosuch
	fails 100 "tfs-run: fatal: 'ls' is a program, not a hook; tfs-run trace_syscalls -- ls -l shows what it does" \
		tfs-run ls -l
	run -100 --separate-stderr tfs-run trace_syscalls -s openat ls -l
	[ "$stderr" = "tfs-run: fatal: trace_syscalls has no option '-l'; tfs-run trace_syscalls --help lists them
tfs-run: to trace the program ls, put -- before it: tfs-run trace_syscalls -s openat -- ls -l" ]
}

@test "tfs-run: runs a hook of the user, by its path or from a directory of TFS_HOOKS" {
	need_tracefs events/syscalls
	mkdir own
	cat >own/my-hook <<'END'
#!/bin/sh
# description: My own
set -eu
tfs-write events/syscalls/sys_enter_getppid/enable 1
END
	fails 100 "tfs-run: fatal: my-hook is not executable; run chmod +x $PWD/own/my-hook" \
		tfs-run own/my-hook -- "$PROG/calls" 3
	chmod +x own/my-hook
	run -0 --separate-stderr tfs-run own/my-hook -- "$PROG/calls" 3
	[ "$(grep -c 'sys_getppid()' <<<"$output")" = 3 ]
	[ "$stderr" = ready ]
	TFS_HOOKS=$PWD/own run -0 --separate-stderr tfs-run my-hook -- "$PROG/calls" 2
	[ "$(grep -c 'sys_getppid()' <<<"$output")" = 2 ]
	TFS_HOOKS=/nosuch:$PWD/own run -0 tfs-run
	[[ $output = *"Other hooks
  my-hook         My own"* ]]
	fails 100 "tfs-run: fatal: no hook 'my-hook'; tfs-run alone lists the hooks" tfs-run my-hook
	# the user's own copy of an installed hook comes first
	cp own/my-hook own/trace_open
	run -0 --separate-stderr tfs-run own/trace_open -- "$PROG/calls" 4
	[ "$(grep -c 'sys_getppid()' <<<"$output")" = 4 ]
	cp own/my-hook own/my.sh
	fails 100 "tfs-run: fatal: unable to run the hook own/my.sh: a hook is a file with a name of letters, digits, _ and -, in a directory without a colon" \
		tfs-run own/my.sh
	fails 100 "tfs-run: fatal: unable to run the hook own/none: No such file or directory" \
		tfs-run own/none
}

@test "tfs-run: finds PROG in PATH itself, so that its trace has one execve" {
	need_tracefs events/syscalls
	mkdir a b c
	cat >c/prog <<-'END'
		echo "$0" "$@"
	END
	chmod +x c/prog
	: >b/prog
	run -0 --separate-stderr env "PATH=$PWD/a:$PWD/b:$PWD/c:$PATH" \
		tfs-run trace_syscalls -s execve -o trace -- prog x 'y z'
	[ "$output" = "$PWD/c/prog x y z" ]
	[ "$(grep -c sys_execve trace)" = 2 ] # the file without #!, and the shell that reads it
	run -0 tfs-run trace_syscalls -s execve -- true
	[ "${#lines[@]}" = 1 ]
	chmod -x c/prog
	PATH=$PWD/b:$PATH fails 126 "tfs-run: fatal: unable to run prog: not executable; run chmod +x $PWD/b/prog" \
		tfs-run trace_syscalls -s execve -- prog
}

@test "tfs-run: passes the hook to the manager, and each option as it is" {
	noting_tree
	# shellcheck disable=SC2016 # not to be expanded, that is the point
	run -0 --separate-stderr "$RUN" hook --syscall openat -s "a b" --text "it's" '$(x)' ''
	[ "$output" = one ]
	[ -z "$stderr" ]
	lines_are args "--run
hook
--
--output
fifo
--syscall
openat
-s
a b
--text
it's
\$(x)
"
}

# bats test_tags=quick
@test "tfs-run: passes PROG's pid to the manager, and PROG its own arguments" {
	noting_tree
	# shellcheck disable=SC2016 # the shell's own
	run -0 "$RUN" hook --returns -- sh -c 'echo "$$ $*" >prog' sh -- --returns 'a b'
	read -r pid rest <prog
	[ "$rest" = "-- --returns a b" ]
	[ "$(sed '1,/^--$/d' args | tr '\n' ' ')" = "--output fifo --returns --pid $pid " ]
}

@test "tfs-run: PROG does not start before the manager has printed its path" {
	holding_tree
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

@test "tfs-run: reports a manager that exits 0 without a path, and a path that it cannot open" {
	fake_tree <<<'exit 0'
	run -111 "$RUN" hook
	run -111 "$RUN" hook -- touch ran
	[ ! -e ran ]
	fake_tree <<'END'
trap 'exit 0' INT
echo /nowhere/trace
END
	no="unable to open /nowhere/trace: No such file or directory"
	nothing_runs 111 "$no" hook
	nothing_runs 111 "$no" hook -- touch ran
}

@test "tfs-run: returns the manager's status if the manager fails at the end" {
	tracing_tree 'trap : INT'
	echo 'exit 111' >>fake/trace-hooks/ftrace/manager
	run -111 --separate-stderr "$RUN" hook -- true
	[ "$output" = one ]
	[ "$stderr" = 'tfs-run: fatal: the session ended early with status 111: memory or the disk is short, or somebody ended its processes; see the end of the trace' ]
}

@test "tfs-run: returns the status of a PROG that is killed before its release" {
	# shellcheck disable=SC2016 # the manager's own
	tracing_tree 'trap : INT' 'for pid; do :; done' 'kill -KILL "$pid"' \
		'until grep -q "State:.*Z" "/proc/$pid/status"; do :; done'
	run -137 --separate-stderr "$RUN" hook -- touch ran
	[ "$output" = one ]
	[ "$stderr" = "tfs-run: fatal: unable to release touch: No such process" ]
	[ ! -e ran ]
}

@test "tfs-run: if it is killed before the release, PROG is killed as well, and never runs" {
	fake_tree <<'END'
for pid; do :; done; echo "$pid" >"$HERE/pid"
kill -KILL "$PPID"
END
	run -137 "$RUN" hook -- touch ran
	eventually gone "$(cat pid)"
	[ ! -e ran ]
}

@test "tfs-run: below another tracer, PROG waits for its release as well" {
	need_tool strace
	holding_tree
	run -0 strace -f -e trace=none -e signal=none -qq "$RUN" hook -- touch ran
	[ -e held ]
	[ -e ran ]
}

@test "tfs-run: is not in its own trace if a selector has its user" {
	need_tracefs events/syscalls
	need_pending_signals
	background tfs-run trace_syscalls --uid "$(id -u)" -s getppid read write poll \
		--instance "$MARK" -- "$PROG/calls" 1000 >got 2>err </dev/null
	finishes "$PID" 0
	[ "$(grep -c '^ *calls-.*: sys_getppid()$' got)" -ge 1000 ]
	run -1 grep -m 3 -- "-$PID " got
}

@test "tfs-run: sends PROG's standard output to standard error, not into the trace" {
	noting_tree
	"$RUN" hook -- echo two >out 2>err
	exactly out $'one\n'
	exactly err $'two\n'
	: >out
	"$RUN" hook -- sh -c 'echo two; exit 7' >out 2>&- || status=$?
	[ "$status" = 7 ]
	exactly out $'one\n'
}

@test "tfs-run: -o writes the trace to FILE, and PROG keeps its standard output" {
	noting_tree
	echo before, and longer >file
	"$RUN" -o file hook -- echo two >out 2>err
	exactly file $'one\n'
	exactly out $'two\n'
	exactly err ''
}

@test "tfs-run: -o - and -o /dev/stdout write the trace to standard output, as without -o" {
	noting_tree
	for name in - /dev/stdout; do
		"$RUN" -o "$name" hook -- echo two >out 2>err
		exactly out $'one\n'
		exactly err $'two\n'
		"$RUN" hook -o "$name" -- echo two 2>err | cat >out
		exactly out $'one\n'
		exactly err $'two\n'
	done
	[ ! -e - ]
}

@test "tfs-run: -o leaves FILE alone if the session is refused, and makes no new FILE" {
	fake_tree <<-'END'
		echo 'manager: fatal: not today' >&2
		exit 111
	END
	ln -s "$TREE/bin/tfs-timeline" fake/bin
	for end in txt json dat svg; do
		echo old >"old.$end"
		fails 111 'manager: fatal: not today' "$RUN" hook -o "old.$end" -- touch ran
		exactly "old.$end" $'old\n'
		fails 111 'manager: fatal: not today' "$RUN" hook -o "new.$end" -- touch ran
		[ ! -e "new.$end" ]
	done
	[ ! -e ran ]
}

@test "tfs-run: -o makes a FILE that only its owner reads, and follows no link, waits on no FIFO" {
	noting_tree
	(umask 0 && "$RUN" -o file hook -- true)
	[ "$(stat -c %a file)" = 600 ]
	# a file of the caller keeps its mode
	chmod 640 file
	"$RUN" -o file hook -- true
	[ "$(stat -c %a file)" = 640 ]
	echo mine >target
	ln -s target link
	ln -s nowhere dangling
	mkfifo fifo
	mkdir directory
	cp target hard
	ln hard harder
	for name in link dangling fifo directory hard; do
		case $name in
		link | dangling) reason='it is a symbolic link; name the file that it leads to' ;;
		hard) reason='it has another name, a hard link; remove the file, or give another name' ;;
		*) reason='it is not a regular file; give the name of a file' ;;
		esac
		nothing_runs 111 "unable to write to $name: $reason" -o "$name" hook -- touch ran
	done
	exactly target $'mine\n'
	exactly harder $'mine\n'
	[ ! -e nowhere ]
	nothing_runs 111 'unable to write to directory/: it is not the name of a file' \
		-o directory/ hook -- touch ran
	nothing_runs 111 'unable to open no/where: no such directory; make it first' -o no/where hook -- touch ran
	"$RUN" -o /dev/null hook -- true
	# in a directory that all write to, a file of another user
	[ "$(id -u)" = 0 ] || return 0
	mkdir -m 1777 sticky
	echo theirs >sticky/file
	chown nobody sticky/file
	nothing_runs 111 "unable to write to sticky/file: it belongs to another user, in a directory that all write to; give another name" \
		-o sticky/file hook -- touch ran
	exactly sticky/file $'theirs\n'
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
	for signal in HUP INT TERM; do
		rm -f up heard
		background "$RUN" hook -- touch ran >out 2>err
		eventually test -s up
		kill "-$signal" "$PID"
		n=$(kill -l "$signal")
		finishes "$PID" $((128 + n))
		file_is heard "$signal"
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

@test "tfs-run: passes SIGUSR1 to the manager, and the run goes on; SIGHUP stays ignored under nohup" {
	hearing_tree
	for action in - ''; do
		rm -f heard
		# shellcheck disable=SC2016 # the shell's own
		background sh -c 'trap "$1" HUP; exec "$0" hook' "$RUN" "$action" >out 2>err
		eventually grep -qx one out
		[ -n "$action" ] || kill -HUP "$PID"
		kill -USR1 "$PID"
		eventually grep -qx USR1 heard
		ends_by "$PID" TERM 0
		exactly heard $'USR1\nINT\n'
	done
}

@test "tfs-run: passes a signal to PROG while the trace records, and the session ends with PROG" {
	hearing_tree
	# shellcheck disable=SC2016 # the shell's own
	background "$RUN" hook -- sh -c \
		'trap "cat heard 2>/dev/null; echo caught; exit 7" TERM
		echo ready; while :; do :; done' >out 2>err
	eventually grep -qx ready err
	ends_by "$PID" TERM 7
	exactly err $'ready\ncaught\n'
	file_is heard INT
}

@test "tfs-run: returns 128+n if the signal that it passed on kills PROG" {
	hearing_tree
	for signal in HUP TERM; do # a background program of a script ignores INT
		rm -f heard
		background "$RUN" hook -- sh -c 'echo ready; exec cat never' >out 2>err
		eventually grep -qx ready err
		kill "-$signal" "$PID"
		finishes "$PID" $((128 + $(kill -l "$signal")))
		file_is heard INT
	done
}

@test "tfs-run: passes a signal to PROG even after the session has ended" {
	noting_tree
	mkfifo never
	background "$RUN" hook -- sh -c 'echo $$ >prog; exec cat never' >out 2>err
	eventually grep -qx one out
	eventually test -s prog
	eventually gone "$(children "$PID" | grep -vx "$(cat prog)" || echo 0)"
	ends_by "$PID" TERM 143
}

@test "tfs-run: a full standard output or disk is an error, which names FILE, of the trace and of a summary" {
	noting_tree
	fails 111 "tfs-run: fatal: unable to write the trace: No space left on device" \
		to_full "$RUN" hook
	fails 111 "tfs-run: fatal: unable to write /dev/full: No space left on device" \
		"$RUN" hook -o /dev/full
	need_tracefs events/syscalls
	fails 111 "tfs-summary: fatal: unable to write to /dev/full: No space left on device" \
		tfs-run trace_syscalls --summary -o /dev/full -- true
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
}

@test "tfs-run: kernel: prints N lines for N calls of PROG, besides PROG's own output" {
	need_tracefs events/syscalls
	hook --syscall getppid -- "$PROG/calls" 5000 </dev/null >out 2>err
	exactly err $'ready\n'
	[ "$(grep -c ': sys_getppid()$' out)" = 5000 ]
	file_has 5000 out
}

@test "tfs-run: kernel: returns PROG's own status" {
	need_tracefs events/syscalls
	for status in 0 1 7 99 255; do
		run "-$status" hook --syscall execve -- sh -c "exit $status"
	done
	# shellcheck disable=SC2016 # the shell's own
	run -143 hook --syscall execve -- sh -c 'kill -TERM $$'
}

@test "tfs-run: kernel: SIGINT, SIGTERM and SIGHUP end it cleanly and print the rest of the buffer" {
	need_tracefs events/syscalls
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
		eventually test -s out # before it knows the trace, a signal ends it with 128+n
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
	release "$runner"
	[ "$(grep -c ': sys_getppid()$' out)" = 10 ]
	exactly err ''
}

@test "tfs-run: kernel: --time ends it" {
	need_tracefs events/syscalls
	calls 1
	run -0 --separate-stderr tfs-run trace_syscalls --instance "$MARK" --time 50ms --pid "$CALLS"
	[ -z "$stderr" ]
	run ! gone "$CALLS"
}

@test "tfs-run: kernel: prints a refusal of the manager on one line" {
	need_tracefs events/syscalls
	run -100 --separate-stderr tfs-run nosuch --pid $$
	[ -z "$output" ]
	[[ $stderr == "tfs-run: fatal: "* ]]
	[[ $stderr != *$'\n'* ]]
	run -100 --separate-stderr hook --syscall $'a\nb\e' -- touch ran
	[ -z "$output" ]
	[[ $stderr == "tfs-run: fatal: "* ]]
	[[ $stderr != *[$'\n\e']* ]]
	[ ! -e ran ]
}

@test "tfs-run: kernel: ends at once when its reader goes away, and SIGPIPE ends PROG" {
	need_tracefs events/syscalls
	mkfifo never
	# shellcheck disable=SC2016 # the shell's own
	outputs 0 1 "$BASH" -c 'tfs-run trace_syscalls --instance "$0" -- true | head -n 1 | wc -l' "$MARK"
	for words in '' '' '--human --clock counter --no-data'; do
		# its execve is the only event, so no write can fail
		# shellcheck disable=SC2086 # words
		hook $words --syscall execve -- cat never | head -n 1 >got
		[ "${PIPESTATUS[0]}" = 141 ]
		nothing_left
		if [ -n "$words" ]; then
			exactly got $'        SECONDS  COMM                PID EVENT\n'
		else
			grep -q ': sys_execve(' got
		fi
	done
}

@test "tfs-run: kernel: a program that reads the trace does not take PROG's output for events" {
	need_tracefs events/syscalls
	hook --syscall write -- sh -c 'printf "a: "; printf "b: 7 c: "' 2>err | tfs-count >out
	exactly out $'      2 sys_enter_write\n'
	exactly err 'a: b: 7 c: '
	nothing_left
	tfs-run trace_event -e sched_process_exit --instance "$MARK" -- seq 1000 1010 2>err >out
	file_has 11 err
	file_has 1 out
}

@test "tfs-run: kernel: SIGTERM after the time limit ends PROG, with status 143" {
	need_tracefs events/syscalls
	mkfifo never
	background tfs-run trace_syscalls --instance "$MARK" --syscall execve --time 1s -- \
		sh -c 'echo >ran; exec cat never' >out 2>err
	eventually test -e ran
	eventually nothing_left
	ends_by "$PID" TERM 143
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
	release "$caller"
	ends_by "$runner" TERM 143
	exec 7>&-
	exactly err $'tfs-run: fatal: unable to write the trace: signal 15 came, and the reader reads nothing\n'
}

@test "tfs-run: kernel: leaves nothing behind after SIGKILL" {
	need_tracefs events/syscalls
	calls 1
	background tfs-run trace_syscalls --instance "$MARK" --pid "$CALLS" >out 2>err
	eventually test -d "$TRACEFS/instances/tfs.$MARK"
	ends_by "$PID" KILL 137
	release
	eventually nothing_left
}

@test "tfs-run: -o chooses the format by the end of the name" {
	need_tracefs events/syscalls
	run -0 --separate-stderr tfs-run trace_syscalls -s getppid -o x.json -- "$PROG/calls" 3
	[ "$output" = ready ]
	[ "$(grep -c '^{"ts":.*"event":"sys_enter_getppid","fields":{.*}}$' x.json)" = 3 ]
	file_has 3 x.json
	run -0 tfs-run trace_syscalls -s getppid --json -- "$PROG/calls" 3
	[ "$(grep -c '^{"ts":.*"event":"sys_enter_getppid","fields":{.*}}$' <<<"$output")" = 3 ]
	run -0 --separate-stderr tfs-run trace_syscalls -s getppid -o x.dat -- "$PROG/calls" 5
	[ "$output" = ready ]
	run -0 tfs-report x.dat
	[ "$(grep -c ': sys_getppid()$' <<<"$output")" = 5 ]
	[ "$(stat -c %h x.dat)" = 1 ]
	outputs 0 ready tfs-run trace_sched --events -o x.svg -- "$PROG/calls" 3
	grep -q '<svg ' x.svg
	[ "$(tail -n 1 x.svg)" = '</svg>' ]
	tfs-run trace_syscalls -s getppid -o x.txt -- "$PROG/calls" 2
	[ "$(grep -c ': sys_getppid()$' x.txt)" = 2 ]
}

@test "tfs-run: -o FILE.dat: standard error gives the number of events that the file lacks" {
	need_tracefs events/syscalls
	run -0 --separate-stderr tfs-run trace_event -e sys_enter_getppid --size 1100 --buffer 8192 -o x.dat -- \
		"$PROG/calls" 100000 </dev/null
	tfs-report x.dat >got
	recorded=$(grep -c ': sys_getppid()$' got) lost=$((100000 - recorded))
	[ "$lost" -gt 0 ]
	[ "$stderr" = "tfs-run: lost $lost events: 0 overwritten in a full buffer, $lost not written; a larger --size keeps more" ]
	[ "$(tail -n 1 got)" = "# lost $lost events: 0 overwritten in a full buffer, $lost not written" ]
	# after the file is full, the buffer overwrites itself, too; on a busy machine it may do so before
	run -0 --separate-stderr tfs-run trace_event -e sys_enter_getppid --size 1100 --buffer 64 -o x.dat -- \
		"$PROG/calls" 100000 </dev/null
	[[ $stderr =~ ^'tfs-run: lost '[0-9]+' events: '[1-9][0-9]*' overwritten in a full buffer, '[0-9]+' not written; '(.*)$ ]]
	[ "${BASH_REMATCH[1]}" = 'a larger --size keeps more' ] ||
		{ [ $(($(stat -c %s x.dat) + 4096)) -le $((1100 * 1024)) ] &&
			[[ ${BASH_REMATCH[1]} == '--buffer '*' may keep them all' ]]; }
	# a limit on the size of files is like a full disk, of which no --size keeps more
	# shellcheck disable=SC2016 # a word for bash
	run -111 --separate-stderr bash -c 'ulimit -f 1100 &&
		exec tfs-run trace_event -e sys_enter_getppid --buffer 8192 -o y.dat -- "$1" 100000' \
		bash "$PROG/calls" </dev/null
	tfs-report y.dat >got
	# the program goes on after the session has ended, which nobody counts
	lost=$(sed -n 's/^# lost \([0-9]*\) events: 0 overwritten in a full buffer, \1 not written$/\1/p' got)
	[ "$lost" -gt 0 ] && [ $((lost + $(grep -c ': sys_getppid()$' got))) -le 100000 ]
	[ "$(grep -c '^tfs-run: lost ' <<<"$stderr")" = 1 ]
	grep -qx "tfs-run: lost $lost events: 0 overwritten in a full buffer, $lost not written" <<<"$stderr"
	# no loss, no message
	rm x.dat
	run -0 --separate-stderr tfs-run trace_event -e sys_enter_getppid -o x.dat -- "$PROG/calls" 10 </dev/null
	[ -z "$stderr" ]
	[ "$(tfs-report x.dat | grep -c '^# lost')" = 0 ]
}

@test "tfs-run: -o FILE.dat of system calls has their results and times, unless an option says what to record" {
	need_tracefs events/syscalls
	tfs-run trace_syscalls -s getppid -o x.dat -- "$PROG/calls" 5 >out
	tfs-report x.dat >got
	[ "$(grep -c ': sys_getppid()$' got)" = 5 ]
	[ "$(grep -c ': sys_getppid -> 0x' got)" = 5 ]
	[ "$(tfs-report -D x.dat | grep -Ec ': getppid\(\) = [0-9]+ <[0-9.]+>$')" = 5 ]
	[ "$(tfs-report x.dat | tfs-summary | awk '$NF == "total" { print $1 }')" = 5 ]
	tfs-run trace_syscalls -s getppid --raw -o x.dat -- "$PROG/calls" 5 >out
	run -1 grep -e '->' <(tfs-report x.dat)
}

@test "tfs-run: a trace.dat that cannot be copied stays where the session left it, and is named" {
	need_tracefs events/syscalls
	mknod x.dat c 1 7 || skip "needs root, to make a device that is full"
	run -111 --separate-stderr tfs-run trace_syscalls -s getppid -o x.dat -- "$PROG/calls" 5
	[[ ${stderr##*$'\n'} =~ ^"tfs-run: fatal: unable to write x.dat; the trace is in "(.*)": No space left on device"$ ]]
	run -0 tfs-report "${BASH_REMATCH[1]}"
	[ "$(grep -c ': sys_getppid()$' <<<"$output")" = 5 ]
	"$MANAGER" --clear
}

@test "tfs-run: --human prints the date and times of day, unless the clock counts; a pipe gets neither" {
	need_tracefs events/syscalls
	before=$(now_us)
	tfs-run trace_syscalls -s getppid --human --raw -- "$PROG/calls" 1 >out
	after=$(now_us)
	sed -n 's/^\([0-9:.]*\)  calls .* getppid()$/\1/p' out >day_time
	day=$(sed -n '1s/^# \(.*\), UTC$/\1/p' out)
	[ "$(sed -n 2p out)" = 'TIME             COMM                PID EVENT' ]
	# midnight is in between
	[ "$(grep -c UTC out)" = 1 ] || skip "the day has just changed"
	between "$before" "$(date_us "${day}T$(cat day_time)Z")" "$after"
	tfs-run trace_syscalls -s getppid --human --raw --date -- "$PROG/calls" 1 >out
	[ "$(grep -c UTC out)" -ge 1 ]
	for clock in '--clock counter' --clock=counter; do
		# shellcheck disable=SC2086 # two words, or one
		tfs-run trace_syscalls -s getppid --human --raw $clock -- "$PROG/calls" 1 >out
		[ "$(head -n 1 out)" = '        SECONDS  COMM                PID EVENT' ]
		file_has 2 out
	done
	tfs-run trace_syscalls -s getppid -- "$PROG/calls" 1 >out
	file_has 1 out
}

@test "tfs-run: --json is refused for hooks that print no events" {
	need_tracefs
	fails 100 "tfs-run: fatal: trace_flight: --json is not possible; give --dump json" \
		tfs-run trace_flight -e sched_switch --json --all
	fails 100 "tfs-run: fatal: trace_event: --json is not possible with --output dat" \
		tfs-run trace_event -e sched_switch --json -o x.dat --all
	[ -d "${TRACER_SYSFS_PATH:-/sys}/kernel/debug/block" ] || skip "needs debugfs"
	run -111 --separate-stderr tfs-run trace_blk --device loop0 --json --all
	[ "$stderr" = "tfs-run: fatal: --json is for ftrace, and this hook prints the text of blkparse; leave it out" ]
}

@test "tfs-run: PROG gets the environment of the caller unchanged" {
	need_tracefs events/syscalls
	cp "$TREE/trace-hooks/ftrace/hooks.d/trace_syscalls" mine
	for set in -uTFS_RUN TFS_RUN=mine TFS_HOOKS=/none; do
		env "$set" A=$'1\n2' env >expected
		env "$set" A=$'1\n2' tfs-run -o trace ./mine -s getppid -- env >out
		diff expected out
	done
}

@test "tfs-run: names a missing filter before PROG runs, and leaves nothing behind" {
	noting_tree
	while IFS='|' read -r tool words; do
		# shellcheck disable=SC2086 # several words
		fails 111 "tfs-run: fatal: no $tool in $PWD/fake/bin: the installation is not complete" \
			"$RUN" hook $words -- touch ran
		run ls ran args new new.svg
		[ "$(grep -c 'No such file' <<<"$output")" = 4 ]
	done <<'END'
tfs-summary|--summary
tfs-summary|--summary -o new
tfs-human|--human
tfs-timeline|-o new.svg
tfs-flame|--stack -o new.svg
END
	echo mine >old.svg
	fails 111 "tfs-run: fatal: no tfs-timeline in $PWD/fake/bin: the installation is not complete" \
		"$RUN" hook -o old.svg -- touch ran
	exactly old.svg $'mine\n'
}

@test "tfs-run: a terminal needs tfs-human as well" {
	need_tool script
	noting_tree
	# shellcheck disable=SC2016 # for the shell of script
	RUN=$RUN run -111 script -qec '"$RUN" hook -- touch ran' /dev/null </dev/null
	[ "$output" = "tfs-run: fatal: no tfs-human in $PWD/fake/bin: the installation is not complete"$'\r' ]
	[ ! -e ran ] && [ ! -e args ]
}

@test "tfs-run: --summary sums up per thread or key, as JSON, and as the header of a hook says" {
	need_tracefs events/syscalls
	tfs-run trace_syscalls -s getppid --summary --per thread -- "$PROG/calls" 5 >got
	[ "$(head -n 1 got)" = '    calls   errors   total us     avg us     max us  comm	pid' ]
	[[ $(sed -n 2p got) =~ ^' '+5\ +0\ .*\ \ calls\	[0-9]+$ ]]
	tfs-run trace_syscalls -s getppid --summary --per comm,call --json -- "$PROG/calls" 5 >got
	[[ $(cat got) =~ ^'{"calls":5,"errors":0,"total_us":'.*',"comm":"calls","call":"getppid"}'$ ]]
	mkdir own
	cat >own/mine <<'END'
#!/bin/sh
# description: My own
# summary: -k comm -a ret
set -eu
tfs-write events/syscalls/sys_enter_getppid/enable 1 events/syscalls/sys_exit_getppid/enable 1
END
	chmod +x own/mine
	tfs-run own/mine --summary -o got -- "$PROG/calls" 5
	[ "$(head -n 1 got)" = '    calls   errors      ret   total us     avg us     max us  comm' ]
	[ "$(awk 'NR == 2 { print $1, $2, ($3 > 0), $NF }' got)" = '5 0 1 calls' ]
	tfs-run own/mine --summary --per event -o got.json -- "$PROG/calls" 5
	[[ $(cat got.json) =~ ^'{"calls":5,"errors":0,"ret":'[1-9].*',"event":"getppid"}'$ ]]
}

@test "tfs-run: makes relative paths of files absolute for the manager, and changes no other word" {
	noting_tree
	mkdir "a b"
	: >"a b/x"
	here=$(realpath .)
	"$RUN" hook --one "./a b/x" --two="a b/../a b/x" --three=./a\ b/../a\ b/x ./none ../"${here##*/}"/a\ b -./x -- touch ran
	[ "$(sed '1,/^--$/d; $d' args | tr '\n' '|')" = "--output|fifo|--one|$here/a b/x|--two=a b/../a b/x|--three=$here/a b/x|./none|$here/a b|-./x|--pid|" ]
}

@test "tfs-run: -l lists the sessions that run, and -k ends one" {
	need_tracefs events/syscalls
	watch trace_open --all
	run -0 --separate-stderr tfs-run -l
	[ "${#lines[@]}" = 2 ]
	[[ ${lines[0]} =~ ^SESSION\ +UID\ +PID\ SINCE\ \(UTC\)\ +LOST\ COMMAND$ ]]
	[ "$(awk 'NR == 2 { print $1, $3 }' <<<"$output")" = "$MARK $SESSION" ]
	[[ ${lines[1]} == *"manager --run trace_open --args --instance $MARK --output fifo --all" ]]
	fails 1 "tfs-run: fatal: no session '${MARK}b' runs; did you mean $MARK?" \
		tfs-run -k "${MARK}b"
	run -0 tfs-run -k "$MARK"
	[ -z "$output" ]
	[ ! -e "$TRACE" ]
	finishes "$READER" 0
	nothing_left
	run -0 --separate-stderr tfs-run --list
	[ -z "$output" ]
}

@test "tfs-run: -l lists dumps, and -k removes one of them" {
	need_tracefs events/syscalls
	run -0 tfs-run trace_flight -e sys_enter_getppid --dump-on end -i "$MARK" -- true
	dump=$TFS_RUNDIR/ftrace/$MARK/dump.1
	run -0 --separate-stderr tfs-run -l
	[ "$output" = "dumps of the flight recorder:
$dump ($((($(stat -c %s "$dump") + 1023) / 1024)) KB)" ]
	run -0 tfs-run -k "$dump"
	[ -z "$output" ]
	[ ! -e "${dump%/*}" ]
}

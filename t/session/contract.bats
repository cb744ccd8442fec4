#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2153 # each test is a process of its own
# manager: keeps its contract, sentence by sentence, with the running kernel

# bats file_tags=contract
load ../helper

DIRECTORY=$TREE/trace-hooks/ftrace

CONTAINERS=()

# Remove what a test made besides instances and processes.
undo() {
	[ ${#CONTAINERS[@]} = 0 ] || rmdir "${CONTAINERS[@]}"
	[ -z "${CGROUP-}" ] || rmdir "$CGROUP"
}

# Print the executable files of hooks.d, as a listing must print them.
hooks() {
	local hook
	for hook in "$DIRECTORY"/hooks.d/*; do
		[ -f "$hook" ] && [ -x "$hook" ] && echo "${hook##*/}"
	done | LC_ALL=C sort
}

# control FILE: Print a file of the session's instance as one line.
control() {
	tr -s ' \n' ' ' <"$TRACEFS/instances/tfs.$MARK/$1" | sed 's/ $//'
}

# Print the enabled events, without the name events.
events_asked_for() {
	control set_event | tr ' ' '\n' | grep -v '^task:' | sort | paste -sd ' '
}

# getppids FILE: Print the number of getppid calls in the trace.
getppids() {
	grep -c ': sys_getppid()$' "$1" || :
}

# followed: Print the pids that the session follows. If the stream selects the events, an instance of
# its own has them.
followed() {
	local list=$TRACEFS/instances/tfs.$MARK+tasks
	if [ -d "$list" ]; then
		paste -sd ' ' "$list/set_event_pid"
	else
		control set_event_pid
	fi
}

# filter_is PID...: Succeed if exactly these pids are traced now.
filter_is() {
	[ "$(followed)" = "$(printf '%s\n' "$@" | sort -n | paste -sd ' ')" ]
}

# two_calls N: Hold two programs calls; OTHER is the pid of the first, and OTHER_GO releases it.
two_calls() {
	calls "$1"
	OTHER=$CALLS OTHER_GO=$GO
	calls "$1"
}

# both_end: Release both, and wait for the end of the session.
both_end() {
	echo >"$OTHER_GO"
	release
	watch_end
}

# ready_are N: Succeed if N children of calls -e are ready.
ready_are() {
	[ "$(grep -c ready ready)" = "$1" ]
}

# begin WORDS: Start a session of getppid, and a reader that keeps what it reads.
begin() {
	need_tracefs events/syscalls
	watch trace_syscalls --syscall getppid "$@"
}

# begin_whole WORDS: The same, until the held program and the session end.
begin_whole() {
	begin "$@"
	release
	watch_end
}

# ---- discovery -----------------------------------------------------------------

@test "manager: each subsystem directory has both manager names and no third name" {
	for dir in "$TREE"/trace-hooks/*/; do
		[ -x "$dir/manager" ]
		[ "$(readlink "$dir/manager.tfs")" = manager ]
		outputs 0 "$dir""manager.tfs" find "$dir" -maxdepth 1 -name 'manager.*'
	done
}

# lists DIR COMMAND...: Fail unless COMMAND, run in DIR, prints the names of the hooks and no more.
lists() {
	(cd "$1" && "${@:2}") >out 2>err
	hooks | cmp - out
	[ ! -s err ]
}

# bats test_tags=quick
@test "manager: --get-all and -g print one hook per line, sorted, in each directory, under each name, without tracefs and environment" {
	lists . "$MANAGER" --get-all
	grep -qx trace_syscalls out
	lists . "$MANAGER" -g
	lists . env TRACER_SYSFS_PATH=/nonexistent TRACER_PROCFS_PATH=/nonexistent "$MANAGER" --get-all
	lists . env -i "$MANAGER" --get-all
	lists "$DIRECTORY" ./manager.tfs --get-all
	lists "$TREE" trace-hooks/ftrace/manager.tfs --get-all
	lists / "$DIRECTORY/manager.tfs" --get-all
	ln -s "$MANAGER" elsewhere
	lists . ./elsewhere --get-all
	lists . env "PATH=$DIRECTORY:$PATH" manager --get-all
}

@test "manager: describes each of the hooks that it lists, whose names contain no space" {
	run -0 "$MANAGER" --get-all
	for hook in "${lines[@]}"; do
		[[ $hook =~ ^[A-Za-z0-9_-]+$ ]]
		"$MANAGER" --describe "$hook" >out 2>err
		[ -s out ]
		[ ! -s err ]
		run -1 grep -n '^[[:space:]]*$' out
	done
}

@test "manager: --describe prints the purpose of the hook, then its options, then the common options" {
	"$MANAGER" --describe trace_syscalls >out
	cat >expected <<-'END'
	System calls made by the given tasks
	-s, --syscall [[sys_enter_]SYSCALL...]  only these calls, or returns as sys_exit_NAME; default all
	--returns  also record the return of each call
	--numbers  by number: also calls of 32-bit code, or without a name
	--slower US  only calls that took so many microseconds or more
	--user-stack  print the program's stack below each event
	--decode  one line for each call, with its arguments, as strace
	--raw  the kernel's own text, also for people
	--strace  decoded: lines as those of strace -f -ttt -T
	--failed  decoded: only calls that fail
	--errno ERROR...  decoded: only calls that fail with one of these errors
	--fd N  decoded: only calls with this descriptor
	--path GLOB  decoded: only calls with a path that this glob matches
	--names  decoded: the files of descriptors, as 3</etc/passwd>
	--paths  decoded: absolute paths
	--host-paths  decoded: absolute paths as the host has them
	--data N  decoded: up to N bytes of what is read and written
	--no-args  decoded: no arguments of programs that are executed
	--at-return  decoded: only the returns, without durations; costs less
	--no-data  no byte of the program's memory: addresses for strings
	--otel  the OpenTelemetry trace and span of each call
	-p, --pid PID...  trace these tasks, their threads and descendants
	--parent PID...  trace the descendants of these tasks, not the tasks themselves
	--cgroup CGROUP...  tasks of a cgroup, those that enter it later too: its path, name, or a pid in it
	--container CONTAINER...  tasks of a container, from its beginning on if it comes later: its name, or the first digits of its id
	--pod POD...  tasks of the containers of a Kubernetes pod, those that come later too: its name
	--namespace NAMESPACE...  only those of pods in this namespace of Kubernetes
	--pidns PID...  tasks in the pid namespace of this one
	--uid UID...  tasks of this user, by number or name, those that come later too
	--comm COMM...  tasks of this name, those that come later too
	--all  every task except those of the session
	-i, --instance NAME  the session's name; the instance is tfs.NAME
	-t, --time MS  end after this time, such as 5s or 500ms
	--output lines|fifo|file|dat  one line per read (default), whole blocks, or a file that stays: text or trace.dat
	--json  print each event as a JSON object in a line of its own
	--header  begin with the lines by which Perfetto and Chrome recognize a trace, and name the traced tasks
	--container-names  name the container and the pod of each task: a line of text, or keys of JSON
	--date  begin with the date, for times of day; with --json one in each event
	--size KB  maximum size of a file, such as 64M, default 65536
	--buffer KB  size of each CPU's ring buffer, such as 8M
	--clock CLOCK  trace clock, one of trace_clock
	END
	diff expected out
}

@test "manager: -d HOOK and --describe=HOOK mean --describe HOOK, with or without tracefs" {
	"$MANAGER" --describe trace_syscalls >long
	"$MANAGER" -d trace_syscalls >short
	"$MANAGER" --describe=trace_syscalls >equals
	TRACER_SYSFS_PATH=/nonexistent TRACER_PROCFS_PATH=/nonexistent \
		"$MANAGER" --describe trace_syscalls >without
	cmp long short
	cmp long equals
	cmp long without
}

@test "manager: --help prints the synopsis, and --version prints a version" {
	run -0 --separate-stderr "$MANAGER" --help
	[ "$(synopsis "$MANAGER")" = "${USAGE#usage: }" ]
	[ "${lines[2]}" = "manager - run the trace hooks of ftrace" ]
	[ -z "$stderr" ]
	[ "$("$MANAGER" -h)" = "$output" ]
	run -0 --separate-stderr "$MANAGER" --version
	[[ $output =~ ^manager\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	[ "$("$MANAGER" -V)" = "$output" ]
}

# ---- misuse ---------------------------------------------------------------------

USAGE="usage: manager --get-all | --describe HOOK | --clear | --check|--run HOOK [--args WORDS | -- WORD...]"

@test "manager: refuses an invalid command line, and prints the synopsis" {
	refused 100 "no action; $USAGE"
	refused 100 "unexpected operand 'trace_syscalls'; $USAGE" trace_syscalls
	refused 100 "no such option: --nosuch; $USAGE" --nosuch
	refused 100 "no such option: -x; $USAGE" -x
	refused 100 "option -d needs a value; $USAGE" -gd
	refused 100 "no such option: --get (did you mean --get-all?); $USAGE" --get
	refused 100 "option --get-all takes no value; $USAGE" --get-all=yes
	refused 100 "unexpected operand ''; $USAGE" ''
	refused 100 "option --run needs a value; $USAGE" --run
	refused 100 "option -d needs a value; $USAGE" -d
	refused 100 "option --args needs a value; $USAGE" --run trace_syscalls --args
	refused 100 "--args needs --run or --check; $USAGE" --get-all --args x
	refused 100 "--args needs --run or --check; $USAGE" --args x --describe trace_syscalls
	refused 100 "--args is one option too many; $USAGE" -r trace_syscalls -a x -a y
	refused 100 "--describe is one option too many; $USAGE" --get-all --describe x
	refused 100 "--run is one option too many; $USAGE" --run x --run y
}

@test "manager: --check exits 0 if this kernel can run the hook, or 1 and names the missing requirement" {
	need_tracefs
	run -0 --separate-stderr "$MANAGER" --check trace_event
	[ "$output" = 'trace_event: yes' ]
	[ -z "$stderr" ]
	[ "$("$MANAGER" -k trace_event)" = "$output" ]
	own_tree
	make_hook wants <<-'EOF'
		# description: wants what no kernel has
		# requires: events/enable
		# requires: no_such_events (CONFIG_NO_SUCH_EVENTS)
	EOF
	run -1 --separate-stderr "$MANAGER" --check wants
	[ "$output" = 'wants: no no_such_events in this kernel; it needs CONFIG_NO_SUCH_EVENTS' ]
	[ -z "$stderr" ]
	refused 100 "no hook 'nosuch'; --get-all lists them" --check nosuch
	refused 111 'wants: no no_such_events in this kernel; it needs CONFIG_NO_SUCH_EVENTS' \
		--run wants --args "--pid $$"
}

@test "manager: --check with --args checks everything that --run does, and leaves nothing behind" {
	need_tracefs events/syscalls
	run -0 --separate-stderr "$MANAGER" --check trace_syscalls --args "--pid $$ -s openat"
	[ "$output" = 'trace_syscalls: yes' ]
	run -1 --separate-stderr "$MANAGER" --check trace_syscalls --args "--pid $$ -s nosuchcall"
	[[ $output == "trace_syscalls: no system call 'nosuchcall' in this kernel; look in "* ]]
	refused 100 "trace_syscalls has no option '--nosuch'; --describe trace_syscalls lists them" \
		--check trace_syscalls --args "--pid $$ --nosuch"
}

@test "manager: --check refuses an option that names something missing in the kernel, as --run does" {
	need_tracefs
	calls 1 # it has no children, whose pids would be in the words of trace_hist
	for words in \
		'trace_block --device nosuch' \
		'trace_count --event nosuch' 'trace_count --function nosuch' \
		'trace_count --function do_exit nosuch' 'trace_count --syscall nosuch' \
		'trace_count --syscall sys_exit_nosuch' 'trace_count --key .' \
		'trace_event --event nosuch' 'trace_event --event sched:nosuch' \
		'trace_event --event sched_switch --filter nope==1' \
		'trace_event --event sched_switch --trigger nosuch' \
		'trace_exec --words 99' \
		'trace_flight --event nosuch' 'trace_flight --event sched_switch --filter nope==1' \
		'trace_flight --event sched_switch --dump-on nosuch' \
		'trace_flight --event sched_switch --dump-on sched_switch:nope==1' \
		'trace_flight --event sched_switch --clock counter --last 10' \
		'trace_function --function nosuch' 'trace_function --function do_exit --not nosuch' \
		'trace_graph --function nosuch' 'trace_graph --function do_exit --not nosuch' \
		'trace_hist --event nosuch --key pid' 'trace_hist --event sched_switch --key nosuch' \
		'trace_hist --event sched_* --key pid' \
		'trace_hist --event sched_switch --key prev_pid --filter nope==1' \
		'trace_kprobe --function nosuch' 'trace_kprobe --function do_sys_openat2+999999' \
		'trace_kprobe --function do_exit --arg x=y' \
		'trace_kprobe --function do_exit --filter nope==1' \
		'trace_process --trace nosuch' 'trace_process --comm 0123456789abcdef' \
		'trace_signal --signal NOSUCH' 'trace_signal --signal 65' \
		'trace_syscalls --syscall nosuch' 'trace_syscalls --syscall sys_exit_nosuch' \
		'trace_uprobe --binary nosuch --symbol main' \
		'trace_uprobe --binary /nosuch --symbol main' \
		'trace_uprobe --binary /dev/null --symbol main' \
		"trace_uprobe --binary $PROG/acts --symbol nosuch" \
		"trace_uprobe --binary $PROG/acts --symbol acts_work --arg x=y" \
		"trace_uprobe --binary $PROG/acts --symbol acts_work --filter nope==1" \
		'trace_event --event sched_switch --cgroup nosuch --output dat' \
		'trace_event --event sched_switch --cgroup /nosuch --output dat' \
		'trace_event --event sched_switch --clock nosuch' \
		'trace_event --event sched_switch --output dat --size 1' \
		'trace_function --function do_exit --parent 1'
	do
		who="--pid $CALLS"
		[[ $words != *--cgroup* && $words != *--parent* ]] || who=
		# shellcheck disable=SC2086 # a word each
		alike $words $who
	done
}

@test "manager: --check runs the hook and starts its stream, but records nothing" {
	need_tracefs
	own_tree
	own_bin
	cat >tree/bin/looks <<-END
		#!/bin/sh
		cat "$TRACEFS/instances/tfs.$MARK/tracing_on" >"$PWD/seen"
		trap 'echo told >"$PWD/seen"; exit' TERM
		echo >&3
		read -r _ <"$PWD/never"
	END
	chmod +x tree/bin/looks
	mkfifo never
	make_hook works <<-END
		# description: records something
		# stream: alone
		tfs-write events/sched/sched_switch/enable 1
		printf '%s\0' tool 1 looks
	END
	run -0 --separate-stderr "$MANAGER" --check works --args "--instance $MARK --pid $$"
	[ "$output" = 'works: yes' ]
	[ -z "$stderr" ]
	# the stream has no end that it could write to a file
	file_is seen 0
}

@test "manager: --check without --args names what the kernel lacks, and runs no hook" {
	need_tracefs
	own_tree
	make_hook fails <<-'END'
		# description: fails
		exit 1
	END
	mkdir -p "$TFS_RUNDIR/ftrace"
	outputs 0 'fails: yes' "$MANAGER" --check fails
	refused 111 'fails: the hook failed with status 1 and wrote no message; add set -x to it' --check fails \
		--args "--instance $MARK --pid $$"
}

@test "manager: leaves nothing behind if a signal ends --check" {
	need_tracefs
	own_tree
	mkfifo begun never
	make_hook waits <<-END
		# description: waits for ever
		echo >"$PWD/begun"
		read -r _ <"$PWD/never"
	END
	for signal in INT TERM HUP; do
		background "$MANAGER" --check waits --args "--instance $MARK --pid $$" >out 2>err
		read -rt "$DEADLINE" _ <>begun
		kill "-$signal" "$PID"
		finishes "$PID" $((128 + $(kill -l "$signal")))
		[ ! -s out ]
		nothing_left
	done
}

@test "manager: refuses a name that is not a hook" {
	refused 100 "no hook 'nosuch'; --get-all lists them" --describe nosuch
	refused 100 "no hook 'nosuch'; --get-all lists them" --run nosuch --args "--pid $$"
	refused 100 "no hook 'trace_syscall'; --get-all lists them" -r trace_syscall
}

# not ARGS MESSAGE [STATUS]: Fail unless the manager refuses ARGS of trace_syscalls with MESSAGE.
not() {
	refused "${3-100}" "$2" --run trace_syscalls --args "$1"
}

@test "manager: refuses an option that the hook does not have, and an invalid value, and names both" {
	not "--pid $$ --nosuch" "trace_syscalls has no option '--nosuch'; --describe trace_syscalls lists them"
	not "--pid $$ -x 1" "trace_syscalls has no option '-x'; --describe trace_syscalls lists them"
	not "--pid $$ --time soon" "--time: 'soon' is not a time such as 500 (milliseconds), 500ms, 5s, 2m or 1h"
	not "--pid $$ --buffer 0" "--buffer: '0' is not from 1 to 2147483647 kilobytes; give a size such as 64M or 1G"
	not "--pid $$ --size much" "--size: 'much' is not a size such as 500 (kilobytes), 64M or 1G"
	not "--uid 'no one'" "--uid: 'no one' is not the name or the number of a user"
	not "--pid $$ --output tape" "--output: 'tape' is not one of lines|fifo|file|dat"
	not "--pid $$ --instance a/b" "--instance: 'a/b' is not a name: letters, digits, _ . - and 64 of them at most"
	not "--pid $$ --clock a/b" "--clock: 'a/b' is not a name: letters, digits, _ . - and 64 of them at most"
	not "--pid $$ --returns yes" "--returns takes no value; leave 'yes' out"
	not "--pid $$ --time" "--time needs a value; --describe trace_syscalls describes it"
	not "--pid" "--pid needs a value; --describe trace_syscalls describes it"
	not "--pid $$, -s getppid" "--pid: '' is not a pid, a number from 1 to 4194304"
	not "--pid ,$$" "--pid: '' is not a pid, a number from 1 to 4194304"
	not "--pid $$ -s a,,b" "--syscall: '' is not a system call, a glob such as open*, or a class such as file"
	not "--pid $$ --time 1,2" "--time: '1,2' is not a time such as 500 (milliseconds), 500ms, 5s, 2m or 1h"
	not "--uid '0,no one'" "--uid: 'no one' is not the name or the number of a user"
}

@test "manager: refuses an invalid pid, a pid that is not alive, and to run without any task" {
	local none="trace_syscalls: no task is selected; give --pid, or see --describe trace_syscalls"
	not "--pid init" "--pid: 'init' is not a pid; --comm selects tasks by name"
	not "--parent 0" "--parent: '0' is not a pid, a number from 1 to 4194304"
	not "--pidns -1" "trace_syscalls has no option '-1'; --describe trace_syscalls lists them"
	dead 1
	not "--pid $DEAD 4194304" "--pid: no task $DEAD is alive, and none of the other 1; ps -eL lists the tasks"
	for option in --pid --cgroup --parent --pidns; do
		not "$option $DEAD" "$option: no task $DEAD is alive; ps -eL lists the tasks"
	done
	not "" "$none"
	not "--time 5" "$none"
	not "--all --pid $$" "trace_syscalls: --all selects every task already; leave the other selectors out"
	need_tracefs events/syscalls
	not "--comm nobody --output dat" "no task to trace: the selectors match none; correct them" 111
	not "--comm systemd-journald" "--comm: 'systemd-journald' is longer than 15 bytes, the maximum of a name; give 'systemd-journal'"
}

@test "manager: refuses a system call and a clock that this kernel lacks" {
	local call
	need_tracefs events/syscalls
	for call in 'getppid nosuch' sys_exit_nosuch filter; do
		not "--pid $$ --syscall $call" "trace_syscalls: no system call '${call##*[_ ]}' in this kernel; look in $TRACEFS/events/syscalls" 111
	done
	not "--pid $$ --clock sundial" "--clock: this kernel has no clock sundial; trace_clock lists them" 111
}

@test "manager: refuses a buffer or a file that does not fit" {
	need_tracefs
	run --separate-stderr -111 "$MANAGER" --run trace_syscalls \
		--args "--pid $$ --buffer 2147483647"
	[ -z "$output" ]
	[[ $stderr =~ ^'manager: fatal: --buffer: 2147483647 KB for each of '[0-9]+' CPUs is more than half of the memory that is free; '[0-9]+' would fit'$ ]]
	[ ! -e "$TFS_RUNDIR" ]
	run --separate-stderr -111 "$MANAGER" --run trace_syscalls \
		--args "--pid $$ --output file --size 2147483647"
	[ -z "$output" ]
	[[ $stderr =~ ^'manager: fatal: --size: 2147483647 KB do not fit into '$TFS_RUNDIR'/ftrace, which has '[0-9]+' left'$ ]]
}

@test "manager: tells how to mount tracefs on a host without it" {
	need_root
	export TRACER_SYSFS_PATH=/nonexistent
	no="no tracefs at /nonexistent/kernel/tracing: as root, mount -t tracefs nodev /nonexistent/kernel/tracing"
	not "--pid $$" "$no" 111
	refused 111 "$no" --clear
}

@test "manager: tells a user without the rights how to get them" {
	need_tracefs
	need_tool setpriv
	[ "$(stat -c %a "$TRACEFS")" = 700 ] || skip "needs a tracefs that is root's alone"
	user=(setpriv --reuid 4242 --regid 4242 --clear-groups)
	"${user[@]}" test -x "$MANAGER" || skip "needs a tree that others may read"
	run --separate-stderr -111 "${user[@]}" "$MANAGER" --run trace_syscalls \
		--args "--pid $$"
	[ -z "$output" ]
	[ "$stderr" = "manager: fatal: no permission for $TRACEFS; this needs CAP_DAC_OVERRIDE: run this as root, or remount it with mode=750 and gid= of a group of yours" ]
	[ ! -e "$TFS_RUNDIR" ]
}

@test "manager: refuses a hook whose kernel option is missing, and names the option" {
	need_tracefs events/syscalls
	need_mounts
	# hide files behind empty directories, as on a kernel without them
	cat >without <<-'END'
	mount -t tmpfs none "$1/events/syscalls" && mount -t tmpfs none "$1/events/raw_syscalls" &&
	exec "$2" --run trace_syscalls --args "--pid 1"
	END
	run --separate-stderr -111 unshare -m sh without "$TRACEFS" "$MANAGER"
	[ -z "$output" ]
	[ "$stderr" = "manager: fatal: trace_syscalls: no events/syscalls/enable in this kernel; it needs CONFIG_FTRACE_SYSCALLS" ]
	[ ! -e "$TFS_RUNDIR" ]
}

@test "manager: a path that cannot be printed ends the session with an error" {
	need_tracefs
	calls 0
	# shellcheck disable=SC2016 # the shell's own parameters
	run -111 "$BASH" -c '"$1" --run trace_syscalls --args "$2" 2>&1 >/dev/full' - \
		"$MANAGER" "--pid $CALLS --instance $MARK"
	[ "$output" = "manager: fatal: unable to print the path: No space left on device" ]
}

# ---- success ------------------------------------------------------------------------

@test "manager: prints one line with an absolute path as soon as the session records" {
	calls 1
	begin --pid "$CALLS"
	[ "$TRACE" = "$TFS_RUNDIR/ftrace/$MARK/trace" ]
	file_has 1 out
	[ -p "$TRACE" ]
	[ "$(control tracing_on)" = 1 ]
	[ "$(events_asked_for)" = syscalls:sys_enter_getppid ]
	[ "$(control set_event_pid)" = "$CALLS" ]
	[ "$(control options/event-fork)" = 1 ]
	release
	watch_end
	file_has 1 got
	[ "$(getppids got)" = 1 ]
}

# gated: Start a session whose hook waits for a line of the FIFO gate.
gated() {
	need_tracefs
	own_tree
	mkfifo gate
	make_hook gated <<-END
		# description: waits
		echo running >"$PWD/running"
		read -r _ <"$PWD/gate"
	END
	: >out; : >err
	background "$MANAGER" --run gated --args "--pid $$ --instance $MARK" >out 2>err
	SESSION=$PID
	eventually test -s running
	[ ! -s out ]
	[ "$(control tracing_on)" = 0 ]
}

@test "manager: prints nothing before the hook has finished" {
	gated
	echo >gate
	eventually path_or_error
	TRACE=$(cat out)
	[ "$(control tracing_on)" = 1 ]
	stop_session
}

@test "manager: a signal before the session records ends it without a path" {
	gated
	ends_by "$SESSION" TERM 143
	[ ! -s out ]
}

# A caller waits five seconds for the path.
@test "manager: prints the path after at most 10,000 system calls, and no wait runs out" {
	count_calls
	calls 0
	session_whole trace_syscalls --pid "$CALLS"
	[ "$(calls_to_path)" -le 10000 ]
}

# with COMMAND...: Fail unless COMMAND runs a session; ARGS in it stands for the hook's arguments.
with() {
	calls 0
	MANAGER=/bin/false session_by "${@/ARGS/"-p $CALLS -i $MARK"}"
	[ "$TRACE" = "$TFS_RUNDIR/ftrace/$MARK/trace" ]
	release
	session_ends
}

@test "manager: -r and -a and the forms with = work as the long options do, also as ./manager.tfs in its directory" {
	need_tracefs
	with "$MANAGER" -r trace_syscalls -a ARGS
	with "$MANAGER" --run=trace_syscalls --args ARGS
	with "$MANAGER" -a ARGS -r trace_syscalls
	with "$MANAGER" --args=ARGS --run=trace_syscalls
	# as container-tracer runs it
	# shellcheck disable=SC2016 # the shell's own parameters
	printf '%s\n' 'cd "$1" && exec ./manager.tfs --run trace_syscalls --args "$2"' >caller.sh
	with sh caller.sh "$DIRECTORY" ARGS
}

@test "manager: an option takes all words up to the next option, also with = and commas" {
	for words in '--pid=OTHER CALLS --returns -s sys_enter_gettid' '--pid OTHER,CALLS -s getgid,sys_enter_gettid'; do
		two_calls 1
		words=${words/OTHER/$OTHER}
		# shellcheck disable=SC2086 # words
		begin ${words/CALLS/$CALLS}
		filter_is "$OTHER" "$CALLS"
		case $words in
		*--returns*)
			[ "$(events_asked_for)" = \
				"syscalls:sys_enter_getppid syscalls:sys_enter_gettid syscalls:sys_exit_getppid syscalls:sys_exit_gettid" ]
			many=4
			;;
		*)
			[ "$(events_asked_for)" = \
				"syscalls:sys_enter_getgid syscalls:sys_enter_getppid syscalls:sys_enter_gettid" ]
			many=2
			;;
		esac
		both_end
		file_has $many got
	done
}

# expands WORD... : Print the calls whose events a session of -s WORD... has.
expands() {
	start_session trace_syscalls --output fifo --pid "$CALLS" -s "$@"
	control set_event | tr ' ' '\n' | sed -n 's/^syscalls:sys_enter_//p' | sort >"$BATS_TEST_TMPDIR/calls"
	stop_session
	cat "$BATS_TEST_TMPDIR/calls"
}

@test "trace_syscalls: -s takes globs, classes and negations" {
	need_tracefs events/syscalls
	calls 0
	local all=("$TRACEFS"/events/syscalls/sys_enter_*) n
	printf '%s\n' "${all[@]##*/sys_enter_}" | sort >all
	n=${#all[@]}
	[ "$(expands 'getp[gp]id')" = $'getpgid\ngetppid' ]
	[ "$(expands 'getp[gp]id,!getpgid')" = getppid ]
	[ "$(expands 'getp[gp]id' '!getpg*' gettid)" = $'getppid\ngettid' ]
	[ "$(expands '!futex')" = "$(grep -vx futex all)" ]
	expands '!%file' '!futex' >chosen
	[ "$(wc -l <out)" -lt $((n - 30)) ]
	run -1 grep -xE 'openat|execve|futex|unlinkat|statx' chosen
	grep -qx getppid chosen
	for class in file desc network process memory signal ipc; do
		expands $class >chosen
		expands %$class | diff chosen -
		case $class in
		file) grep -xE 'openat|statx|chdir|getppid|read' chosen >some ;;
		desc) grep -xE 'openat|read|close|chdir|getppid|futex' chosen >some ;;
		network) grep -xE 'socket|sendmsg|connect|read|getppid' chosen >some ;;
		process) grep -xE 'execve|exit_group|wait4|read|getppid' chosen >some ;;
		memory) grep -xE 'mmap|brk|munmap|read|getppid' chosen >some ;;
		signal) grep -xE 'kill|rt_sigaction|tgkill|read|getppid' chosen >some ;;
		ipc) grep -xE 'shmget|semctl|msgsnd|read|getppid' chosen >some ;;
		esac
		file_has 3 some
		run -1 grep -x getppid some
		# each of its globs names calls, and the session has no others
		run -1 grep -vxFf all chosen
	done
	[ ! -e "$TRACEFS/events/syscalls/sys_enter_newuname" ] || [ "$(expands uname)" = newuname ]
}

@test "trace_syscalls: -s sys_exit_NAME and sys_exit_GLOB record the returns of these calls only" {
	calls 5
	start_session trace_syscalls --output fifo --pid "$CALLS" -s 'sys_exit_getp[gp]id'
	[ "$(events_asked_for)" = "syscalls:sys_exit_getpgid syscalls:sys_exit_getppid" ]
	stop_session
	begin --pid "$CALLS" -s sys_exit_getppid,gettid
	[ "$(events_asked_for)" = \
		"syscalls:sys_enter_getppid syscalls:sys_enter_gettid syscalls:sys_exit_getppid" ]
	stop_session
	watch_whole trace_syscalls --pid "$CALLS" -s sys_exit_getppid
	[ "$(grep -Ec ': sys_getppid -> 0x[0-9a-f]+$' got)" = 5 ]
	file_has 5 got
}

@test "manager: splits --args as a shell splits words" {
	calls 0
	begin $'--pid\t'"'$CALLS'"$'\n --clock "glo"\'bal\' --buffer \\6\\\n4'
	[[ $(control trace_clock) = *'[global]'* ]]
	stop_session
}

@test "manager: takes each word after -- as it is, for --run and --check" {
	calls 5
	session_by "$MANAGER" --run trace_syscalls -- --instance "$MARK" --pid "$CALLS" -s getppid \
		'sys_exit_getppid'
	read_by cat >got
	release
	watch_end
	[ "$(grep -c getppid got)" = 10 ]
	run -0 "$MANAGER" --check trace_syscalls -- --pid $$ --path "a  b'\"\\ \$x"
	[ "$output" = "trace_syscalls: yes" ]
	refused 100 "trace_syscalls has no option '--pid 1'; did you mean --pid? --describe trace_syscalls lists them" \
		--run trace_syscalls -- '--pid 1'
	refused 100 "--path: 'a?b' is not printable text" --check trace_syscalls -- --pid $$ --path $'a\nb'
	refused 100 "--args needs --run or --check; $USAGE" --get-all -- --pid $$
	refused 100 "unexpected operand 'x'; $USAGE" --run trace_syscalls --args -- x
	refused 100 "unexpected operand '--pid'; $USAGE" --run trace_syscalls --args '--pid 1' -- --pid 1
	nothing_left
}

@test "manager: stdout and stderr close when it ends, although the path is still being read" {
	need_tracefs
	calls 0
	mkfifo o e
	background cat o >out
	reader_o=$PID
	background cat e >err
	reader_e=$PID
	background "$MANAGER" --run trace_syscalls --args "--pid $CALLS -i $MARK" >o 2>e
	SESSION=$PID
	eventually test -s out
	exec 8<"$(cat out)"
	ends_by "$SESSION" INT 0
	all_end "$reader_o" "$reader_e"
	file_is out "$TFS_RUNDIR/ftrace/$MARK/trace"
	[ ! -s err ]
	# and so does the path
	cat <&8 >rest
	exec 8<&-
}

# ---- the end ----------------------------------------------------------------------

@test "manager: exits 0 after SIGINT, SIGTERM, SIGHUP and SIGUSR1, also if its caller ignores them" {
	calls 0
	for signal in INT TERM HUP USR1; do
		for action in - ''; do
			# shellcheck disable=SC2064 # the action of now
			trap "$action" "$signal"
			begin --pid "$CALLS"
			trap - "$signal"
			watch_stop "$signal"
		done
	done
}

@test "manager: does not leave a reader waiting that opens while the session ends" {
	need_pending_signals
	calls 0
	for _ in {1..5}; do
		start_session trace_syscalls --pid "$CALLS"
		kill -INT "$SESSION"
		readers=()
		while kill -0 "$SESSION" 2>/dev/null && [ "${#readers[@]}" -lt 20 ]; do
			# the trace may not exist or may end; only an endless wait is wrong
			# shellcheck disable=SC2016 # the shell's own parameter
			background "$BASH" -c 'exec <"$1" || exit 0; while read -r _; do :; done' \
				- "$TRACE" 2>late
			readers+=("$PID")
		done
		session_ends
		for reader in "${readers[@]}"; do
			finishes "$reader" 0
		done
	done
}

@test "manager: exits 0 at the time limit, and not before" {
	calls 0
	SECONDS=0
	begin --pid "$CALLS" --time 1500
	session_ends
	[ "$SECONDS" -ge 1 ]
	finishes "$READER" 0
}

@test "manager: exits 0 when the last traced task has ended" {
	two_calls 1
	begin --pid "$OTHER" "$CALLS"
	echo >"$OTHER_GO"
	finishes "$OTHER" 0
	eventually filter_is "$CALLS"
	kill -0 "$SESSION"
	release
	watch_end
	[ "$(getppids got)" = 2 ]
}

@test "manager: goes on while descendants outlive the given pid" {
	# the child that calls makes after the release outlives it
	mkfifo go outlive
	cat >parent <<-'END'
	read -r _
	"$1" 5 <outlive >ready &
	echo "$!" >child
	END
	: >ready
	background sh parent "$PROG/calls" <>go
	parent=$PID
	begin --pid "$parent"
	echo >go
	finishes "$parent" 0
	exec 8<>outlive
	eventually is_ready
	eventually filter_is "$(cat child)"
	kill -0 "$SESSION"
	echo >&8
	session_ends
	exec 8<&-
	finishes "$READER" 0
	[ "$(getppids got)" = 5 ]
}

# ---- selectors ----------------------------------------------------------------------

# dead N: Set $DEAD to the pids of N tasks that are not alive.
dead() {
	DEAD=
	for ((i = 0; i < $1; i++)); do
		background true
		finishes "$PID" 0
		DEAD=${DEAD:+$DEAD }$PID
	done
}

@test "manager: --pid names dead tasks first, and traces the living tasks" {
	calls 10
	dead 2
	begin --pid "${DEAD% *}" "$CALLS" "${DEAD#* }"
	filter_is "$CALLS"
	release
	watch_end
	[ "$(head -n 1 got)" = "# not alive when the session began: $(tr ' ' '\n' <<<"$DEAD" | sort -n | paste -sd ' ')" ]
	[ "$(getppids got)" = 10 ]
	file_has 11 got
}

@test "manager: --parent, --pidns and --cgroup skip dead tasks as --pid does" {
	dead 1
	for option in --parent --pidns --cgroup; do
		calls 1
		begin_whole "$option" "$DEAD" --pid "$CALLS"
		[ "$(head -n 1 got)" = "# not alive when the session began: $DEAD" ]
		[ "$(getppids got)" = 1 ]
	done
}

@test "manager: the line that names dead tasks is one packet, counts for --size and follows --header" {
	dead 1
	calls 100
	start_session trace_syscalls --syscall getppid --pid "$CALLS" "$DEAD"
	caller_reads
	release
	watch_end
	[ "$(head -n 1 got)" = "# not alive when the session began: $DEAD" ]
	[ "$(getppids got)" = 100 ]
	calls 1000
	session_whole trace_syscalls --syscall getppid --pid "$DEAD" "$CALLS" --output file \
		--size 16 --header
	[ "$(head -n 1 "$TRACE")" = '# tracer: nop' ]
	[ "$(grep -c "^# not alive when the session began: $DEAD$" "$TRACE")" = 1 ]
	[ "$(wc -c <"$TRACE")" -le 16384 ]
	lost=$(sed -n '$s/^# lost \([0-9]*\) events: .*/\1/p' "$TRACE")
	[ "$(($(getppids "$TRACE") + lost))" = 1000 ]
	rm -r "${TRACE%/*}"
}

@test "manager: a trace.dat names dead tasks in a mark" {
	dead 1
	calls 3
	session_whole trace_syscalls --syscall getppid --pid "$CALLS" "$DEAD" --output dat
	tfs-report "$TRACE" >got
	[ "$(grep -c ": # not alive when the session began: $DEAD$" got)" = 1 ]
	[ "$(getppids got)" = 3 ]
}

@test "manager: names thousands of dead tasks in lines of one packet each" {
	calls 1
	# more than most kernels allow, and less than some may allow
	seq 4100000 4104999 >dead
	start_session trace_syscalls --syscall getppid --pid "$CALLS" "$(tr '\n' , <dead | sed 's/,$//')"
	caller_reads
	release
	watch_end
	[ "$(getppids got)" = 1 ]
	[ "$(grep -c '^# not alive' got)" -gt 5 ]
	named=$(sed -n 's/^# not alive when the session began: //p' got | sed 's/ and .*//' | tr ' ' '\n' | wc -l)
	more=$(sed -n 's/^# not alive .* and \([0-9]*\) more$/\1/p' got)
	[ "$((named + more))" = 5000 ]
}

@test "manager: --pid follows threads and children, that exist and that start later" {
	local ready calls tasks words
	for row in '1 40 4 -e 10 4' '1 60 6 10 2 3' '3 60 6 -e 10 2 3'; do
		echo "row: $row"
		read -r ready calls tasks words <<<"$row"
		# shellcheck disable=SC2086 # words
		calls $words
		eventually ready_are "$ready"
		begin_whole --pid "$CALLS"
		[ "$(getppids got)" = "$calls" ]
		[ "$(pids_in got | wc -l)" = "$tasks" ]
	done
}

@test "manager: traces no task but the selected tasks" {
	calls 1000
	stranger=$CALLS gate=$GO
	calls 10
	begin --pid "$CALLS"
	echo >"$gate"
	finishes "$stranger" 0
	release
	watch_end
	file_has 10 got
	[ "$(pids_in got)" = "$CALLS" ]
}

@test "manager: --parent traces the children, that exist and that start later, and not the parent" {
	for early in -e ''; do
		calls $early 10 1 2
		[ -z "$early" ] || eventually ready_are 2
		begin_whole --parent "$CALLS"
		[ "$(getppids got)" = 20 ]
		[ "$(pids_in got | wc -l)" = 2 ]
		run -1 grep -e "-$CALLS " got
	done
}

@test "manager: --cgroup PATH or PID traces the tasks of a cgroup and of the cgroups below it" {
	need_cgroup
	calls -e 10 1 2
	eventually ready_are 2
	for kid in $(children "$CALLS"); do
		echo "$kid" >"$CGROUP/cgroup.procs"
	done
	begin_whole --cgroup "/${CGROUP##*/}"
	[ "$(getppids got)" = 20 ]
	[ "$(pids_in got | wc -l)" = 2 ]
	two_calls 10
	echo "$OTHER" >"$CGROUP/cgroup.procs"
	echo "$CALLS" >"$CGROUP/cgroup.procs"
	begin --cgroup "$OTHER"
	both_end
	[ "$(getppids got)" = 20 ]
	[ "$(pids_in got | wc -l)" = 2 ]
}

@test "manager: --cgroup accepts a path below the mount, a path from its root, the last part, and a pid" {
	need_cgroup
	mkdir "$CGROUP/sub-$MARK"
	for form in "$CGROUP/sub-$MARK" "/${CGROUP##*/}/sub-$MARK" "sub-$MARK" "${CGROUP##*/}" pid; do
		calls 10
		echo "$CALLS" >"$CGROUP/sub-$MARK/cgroup.procs"
		[ "$form" != pid ] || form=$CALLS
		begin --cgroup "$form"
		filter_is "$CALLS"
		release
		watch_end
		[ "$(getppids got)" = 10 ]
	done
	rmdir "$CGROUP/sub-$MARK"
	for none in "$CGROUP/nosuch" "/$MARK-nosuch" "$MARK-nosuch" "${CGROUP%/*}/./$MARK" "/../$MARK"; do
		not "--cgroup $none --output dat" "no such cgroup: '$none'; give a path, its last part, or a pid" 111
		not "--pid $$ --cgroup $none --output dat" "no such cgroup: '$none'; give a path, its last part, or a pid" 111
	done
	not "--cgroup $CGROUP --output dat" "no task to trace: the selectors match none; correct them" 111
}

# followed PID: Succeed if PID is traced now.
is_followed() {
	followed | tr ' ' '\n' | grep -qx "$1"
}

# container NAME: Make a cgroup of this name below $CGROUP.
container() {
	mkdir "$CGROUP/$1"
	CONTAINERS+=("$CGROUP/$1")
}

# id_of DIGITS: Print an id of 64 digits that begins with a part of this test's own and DIGITS.
id_of() {
	printf '%s%s%064d\n' "$OWN_DIGITS" "$1" 0 | cut -c 1-64
}

@test "manager: --container ID traces the tasks of a container, however its cgroup is called" {
	need_cgroup
	OWN_DIGITS=$(printf 'e%010x' $$)
	local name id n=0
	for name in docker-%s.scope cri-containerd-%s.scope crio-%s.scope libpod-%s.scope \
		kubepods-pod1.slice:cri-containerd:%s %s libpod-%s; do
		n=$((n + 1))
		id=$(id_of $n)
		# shellcheck disable=SC2059 # the name is a format
		container "$(printf "$name" "$id")"
		container "libpod-conmon-$id.scope" # the monitor is not in the container
		calls 2
		echo "$CALLS" >"${CONTAINERS[-2]}/cgroup.procs"
		begin --container "$OWN_DIGITS$n"
		filter_is "$CALLS"
		release
		watch_end
		[ "$(getppids got)" = 2 ]
	done
	two_calls 1
	echo "$OTHER" >"${CONTAINERS[0]}/cgroup.procs"
	echo "$CALLS" >"${CONTAINERS[2]}/cgroup.procs"
	begin --container "${OWN_DIGITS}1,$(id_of 2)"
	filter_is "$OTHER" "$CALLS"
	stop_session
}

@test "manager: --container refuses an id that names no container, or more than one" {
	need_cgroup
	need_tracefs
	OWN_DIGITS=$(printf 'f%010x' $$)
	# a pod and the monitor of a container are not containers
	container "kubepods-pod$(id_of 0 | cut -c 1-32).slice"
	container "libpod-conmon-$(id_of 0).scope"
	container "$(id_of 0 | cut -c 1-31)"
	container "x$(id_of 0)"
	refused 111 'no container that --container, --pod or --namespace names has a task now; give its name or id, or the cgroup with --cgroup' \
		--run trace_event --args "-e sched_switch --container ${OWN_DIGITS}0 --output dat"
	container "docker-$(id_of 01a).scope"
	container "$(id_of 00)"
	refused 111 "more than one container has an id that begins with '$OWN_DIGITS': ${OWN_DIGITS}00, ${OWN_DIGITS}01; give more digits" \
		--run trace_event --args "-e sched_switch --container $OWN_DIGITS"
	for id in 02 03 04; do
		container "docker-$(id_of $id).scope"
	done
	run -111 --separate-stderr "$MANAGER" --run trace_event \
		--args "-e sched_switch --container $OWN_DIGITS"
	[[ $stderr == *"begins with '$OWN_DIGITS': ${OWN_DIGITS}0"[0-4]", "*", ...; give more digits" ]]
	refused 100 "--container: 'web/a' is not a name, a glob of names such as web-*, or the first digits of an id" \
		--run trace_event --args "-e sched_switch --container web/a"
}

@test "manager: --container takes no cgroup below another container, and refuses two cgroups with one id" {
	need_cgroup
	need_tracefs events/syscalls
	local other path=/${CGROUP##*/}
	OWN_DIGITS=$(printf 'a%010x' $$)
	other=docker-$(id_of 2).scope
	container "$other"
	mkdir -p "$CGROUP/$other/sub/docker-$(id_of 1).scope"
	refused 111 "the id '${OWN_DIGITS}1' is only in the cgroup of another container: $path/$other/sub/docker-$(id_of 1).scope; if you mean that, give the path with --cgroup" \
		--run trace_syscalls --args "--container ${OWN_DIGITS}1"
	container "docker-$(id_of 1).scope"
	calls 2
	echo "$CALLS" >"${CONTAINERS[-1]}/cgroup.procs"
	act one getppid 1
	echo "$ACT" >"$CGROUP/$other/sub/docker-$(id_of 1).scope/cgroup.procs"
	begin --container "${OWN_DIGITS}1"
	filter_is "$CALLS"
	stop_session
	echo >"$GO"
	finishes "$ACT" 0
	mkdir "$CGROUP/$MARK-user"
	mkdir "$CGROUP/$MARK-user/$(id_of 1)"
	run -111 --separate-stderr "$MANAGER" --run trace_syscalls --args "--container ${OWN_DIGITS}1"
	[[ $stderr == "manager: fatal: two cgroups have the id of the container '${OWN_DIGITS}1': $path/"*" and $path/"*"; give the right one with --cgroup" ]]
	[[ $stderr == *"$path/docker-$(id_of 1).scope"* && $stderr == *"$path/$MARK-user/$(id_of 1)"* ]]
	rmdir "$CGROUP/$MARK-user/$(id_of 1)" "$CGROUP/$MARK-user"
	find "$CGROUP/$other/sub" -depth -type d -exec rmdir {} \;
}

@test "manager: --cgroup follows a task that enters the cgroup later, and no other task" {
	need_cgroup
	need_tracefs events/cgroup/cgroup_attach_task
	calls 10
	first=$CALLS first_go=$GO
	echo "$first" >"$CGROUP/cgroup.procs"
	begin --cgroup "$CGROUP"
	other=$CGROUP-2
	mkdir "$other" "$CGROUP/below pid=1 comm=x"
	# an unrelated task enters another cgroup, whose name begins with the same letters
	calls 1000
	stranger=$CALLS stranger_go=$GO
	echo "$stranger" >"$other/cgroup.procs"
	# a program with a thread, and a child that starts later
	calls 10 2 1
	echo "$CALLS" >"$CGROUP/below pid=1 comm=x/cgroup.procs"
	eventually is_followed "$CALLS"
	filter_is "$first" "$CALLS"
	echo >"$stranger_go"
	finishes "$stranger" 0
	release "$CALLS"
	echo >"$first_go"
	watch_end
	[ "$(getppids got)" = 30 ]
	run -1 grep -e "-$stranger " got
	rmdir "$other" "$CGROUP/below pid=1 comm=x"
}

@test "manager: a trace.dat has a task that enters the cgroup later, and a mark that counts it" {
	need_cgroup
	need_tracefs events/cgroup/cgroup_attach_task
	for hook in 'trace_syscalls --syscall getppid' 'trace_syscalls --syscall getppid --decode' \
		'trace_event -e syscalls:sys_enter_getppid,sched_process_exit'; do
		calls 10
		first=$CALLS first_go=$GO
		echo "$first" >"$CGROUP/cgroup.procs"
		# shellcheck disable=SC2086 # words
		start_session $hook --cgroup "$CGROUP" --output dat
		calls 20
		echo "$CALLS" >"$CGROUP/cgroup.procs"
		eventually grep -qx "$CALLS" "$TRACEFS/instances/tfs.$MARK/set_event_pid"
		release "$CALLS"
		finishes "$CALLS" 0
		echo >"$first_go"
		finishes "$SESSION" 0
		tfs-report "$TRACE" >got
		# a whole call is one event
		[ "$(grep -cE ': (sys_(enter_)?getppid|call: getppid)\(' got)" = 30 ]
		[ "$(grep -c ': # not known: events of 1 task, above all the first: ' got)" = 1 ]
		rm -r "${TRACE%/*}"
	done
}

@test "manager: no variable of the caller names a descriptor of a session's processes" {
	calls 0
	export TFS_RINGS=4 TFS_COUNTS=4 TFS_LATE=4 TFS_TASKSTATS=4 TFS_MAPPINGS=4
	start_session trace_syscalls --pid "$CALLS"
	background cat "$TRACE" >/dev/null
	eventually pgrep -P "$(children "$SESSION")" -x tfs-catpipe >pid
	read -r stream <pid
	tr '\0' '\n' <"/proc/$stream/environ" >given
	grep -q '^TFS_[A-Z_]*=' given # of the session
	run -1 grep -E '^TFS_(RINGS|COUNTS|LATE|TASKSTATS|MAPPINGS)=4$' given
	ends_by "$SESSION" INT 0
}

@test "manager: --cgroup leaves no process that follows cgroup entries, whichever process is killed" {
	need_cgroup
	need_tracefs events/cgroup/cgroup_attach_task
	for victim in manager janitor follower; do
		calls 0
		echo "$CALLS" >"$CGROUP/cgroup.procs"
		start_session trace_syscalls --cgroup "$CGROUP"
		[ -d "$TRACEFS/instances/tfs.$MARK+cgroup" ]
		janitor=$(children "$SESSION")
		children "$janitor" >ours
		file_has 2 ours
		follower=$(head -n 1 ours)
		case $victim in
		manager)
			ends_by "$SESSION" KILL 137
			;;
		janitor)
			kill -KILL "$janitor"
			finishes "$SESSION" 111
			;;
		follower)
			kill -KILL "$follower"
			ends_by "$SESSION" INT 0
			;;
		esac
		eventually nothing_left
		eventually gone "$follower"
		kill -KILL "$CALLS"
		wait "$CALLS" || :
	done
}

@test "manager: --pidns PID traces all tasks in the pid namespace of that pid" {
	need_tool unshare
	mkfifo go
	: >ready
	# the first process of the namespace makes no call itself
	background unshare -pf "$PROG/calls" -e 10 1 2 <>go >ready
	eventually ready_are 2
	first=$(children "$PID")
	one=$(children "$first" | head -n 1)
	begin --pidns "$one"
	echo >go
	watch_end
	[ "$(getppids got)" = 20 ]
	[ "$(pids_in got | wc -l)" = 2 ]
}

@test "manager: --uid traces the tasks of a user" {
	need_tool python3
	# no user has this uid; the program runs before it gets the uid
	uid=$((2000000000 + $$))
	mkfifo go
	cat >user.py <<-'END'
	import os, sys
	os.setresuid(int(sys.argv[1]), int(sys.argv[1]), int(sys.argv[1]))
	os.write(1, b"ready\n")
	os.read(0, 1)
	for _ in range(10):
	    os.getppid()
	END
	: >ready
	background python3 user.py "$uid" <>go >ready
	PYTHON=$PID
	eventually is_ready
	calls 10
	begin --uid "$uid"
	release
	echo >go
	finishes "$PYTHON" 0
	watch_stop
	[ "$(getppids got)" = 10 ]
	[ "$(pids_in got)" != "$CALLS" ]
}

# named: Hold the program calls as $MARK, by a line of the FIFO named.go; set NAMED to its pid.
named() {
	[ -p named.go ] || { ln -s "$PROG/calls" "$MARK" && mkfifo named.go; }
	: >named
	background "./$MARK" 10 <>named.go >named
	NAMED=$PID
	eventually grep -q ready named
}

@test "manager: --comm traces the tasks that have a name, and several selectors the union" {
	for more in '' --pid; do
		calls 10
		named
		begin --comm "$MARK" ${more:+"$more" "$CALLS"}
		release
		echo >named.go
		finishes "$NAMED" 0
		watch_stop
		[ "$(getppids got)" = $((${#more} ? 20 : 10)) ]
		[ -n "$more" ] || [ "$(pids_in got)" = "$NAMED" ]
	done
}

@test "manager: --all traces all tasks, later ones too, but not the session itself" {
	need_tracefs events/syscalls
	calls 1
	before=$CALLS
	# the session executes its stream after all events are enabled, and reports that exec
	start_session trace_syscalls --all --syscall exit_group execve sendto read \
		--output fifo --buffer 16384
	read_by cat >got
	janitor=$(children "$SESSION")
	eventually children "$janitor" >stream
	printf '%s\n' "$SESSION" "$janitor" "$(cat stream)" >ours
	release "$before"
	calls 1
	release "$CALLS"
	kill -0 "$SESSION"
	watch_stop
	[ "$(grep -c -e "-$before  *\[.*: sys_exit_group(" got)" = 1 ]
	[ "$(grep -c -e "-$CALLS  *\[.*: sys_exit_group(" got)" = 1 ]
	[ "$(grep -c -e "-$CALLS  *\[.*: sys_execve(" got)" = 1 ]
	pids_in got >seen
	run -1 grep -Fxf ours seen
}

# ---- common options -----------------------------------------------------------------

@test "manager: -i and --instance NAME make the instance tfs.NAME; without them it has the hook, the pid and the time" {
	calls 0
	for option in -i --instance; do
		session_by "$MANAGER" --run trace_syscalls \
			--args "--pid $CALLS $option $MARK.x"
		[ -d "$TRACEFS/instances/tfs.$MARK.x" ]
		[ "$TRACE" = "$TFS_RUNDIR/ftrace/$MARK.x/trace" ]
		stop_session
	done
	session_by "$MANAGER" --run trace_syscalls --args "--pid $CALLS"
	[[ $TRACE =~ ^"$TFS_RUNDIR/ftrace/trace_syscalls.$SESSION."([0-9]{13})/trace$ ]]
	instance=$TRACEFS/instances/tfs.trace_syscalls.$SESSION.${BASH_REMATCH[1]}
	[ -d "$instance" ]
	stop_session
	[ ! -e "$instance" ]
}

@test "manager: --run and --check refuse the name of an existing session, and leave that session alone" {
	calls 1
	begin --pid "$CALLS"
	cp out mine
	for verb in --run --check; do
		refused 111 "instance tfs.$MARK exists already; give --instance another name" $verb trace_syscalls --args "--pid $$ --instance $MARK"
	done
	[ "$(control set_event_pid)" = "$CALLS" ]
	[ "$(control tracing_on)" = 1 ]
	[ -p "$TRACE" ]
	cp mine out
	: >err
	release
	watch_end
	[ "$(getppids got)" = 1 ]
}

@test "manager: refuses an instance that another process holds, and leaves it alone" {
	need_tracefs
	mkfifo go
	background tfs-instance hold "$MARK" cat <>go
	holder=$PID
	eventually test -e "$TRACEFS/instances/tfs.$MARK/set_event"
	fails 111 "manager: fatal: instance tfs.$MARK exists already; give --instance another name" \
		"$MANAGER" --run trace_syscalls --args "--pid $$ --instance $MARK"
	[ -d "$TRACEFS/instances/tfs.$MARK" ]
	[ -z "$(control set_event)" ]
	[ "$(control tracing_on)" = 1 ]
	ends_by "$holder" KILL 137
	# the session of another test may have removed it
	tfs-instance remove "tfs.$MARK" || [ ! -e "$TRACEFS/instances/tfs.$MARK" ]
}

@test "manager: --clock and --buffer set clock and size; without them the kernel's defaults stay" {
	new_instance
	calls 0
	begin --pid "$CALLS"
	cmp "$DIR/trace_clock" "$TRACEFS/instances/tfs.$MARK/trace_clock"
	cmp "$DIR/buffer_size_kb" "$TRACEFS/instances/tfs.$MARK/buffer_size_kb"
	stop_session
	begin --pid "$CALLS" --clock mono --buffer 256
	[[ $(control trace_clock) = *'[mono]'* ]]
	kb=$(control buffer_size_kb)
	# the kernel rounds up to whole sub-buffers
	[ "$kb" -ge 256 ]
	[ "$kb" -lt 512 ]
	stop_session
}

@test "manager: --output lines, the default, gives one line per read" {
	calls 1000
	start_session trace_syscalls --syscall getppid --pid "$CALLS"
	caller_reads
	release
	watch_end
	[ "$(getppids got)" = 1000 ]
	file_has 1000 got
}

@test "manager: --output fifo gives many lines per read" {
	calls 500
	start_session trace_syscalls --syscall getppid --pid "$CALLS" --output fifo
	exec 4<"$TRACE"
	release "$CALLS"
	session_ends # the pipe holds everything, for the reader that has it open
	dd bs=4096 count=1 of=got 2>/dev/null <&4
	file_has 40+ got
}

@test "manager: --output file makes a regular file that stays after the session, and so does its name" {
	calls 100
	start_session trace_syscalls --syscall getppid --pid "$CALLS" --output file
	[ -f "$TRACE" ]
	release "$SESSION"
	[ ! -e "$TRACEFS/instances/tfs.$MARK" ]
	[ "$(stat -c %a "$TRACE")" = 600 ]
	[ "$(getppids "$TRACE")" = 100 ]
	file_has 100 "$TRACE"
	not "--pid $$ --instance $MARK" "$TFS_RUNDIR/ftrace/$MARK exists already, left by a session of that name; remove it, or give --instance another name" 111
	[ "$(getppids "$TRACE")" = 100 ]
}

@test "manager: --output dat makes a trace.dat of all events, which exists at the end" {
	calls 5000
	start_session trace_syscalls --syscall getppid --pid "$CALLS" --output dat
	[ -f "$TRACE" ]
	[ ! -s "$TRACE" ]
	release "$SESSION"
	[ ! -e "$TRACEFS/instances/tfs.$MARK" ]
	[ "$(stat -c %a "$TRACE")" = 600 ]
	[ "$("$PROG/datwalk" "$TRACE" | sed -n 's/^format syscalls:sys_enter_getppid //p')" = 5000 ]
	[ "$(ls -A "${TRACE%/*}")" = trace ]
}

@test "manager: --header prints the comment lines of trace first" {
	calls 3
	session_whole trace_syscalls --syscall getppid --pid "$CALLS" --output file --header
	[ "$(head -n 1 "$TRACE")" = '# tracer: nop' ]
	[ "$(grep -vc '^#' "$TRACE")" = 3 ]
	[ "$(sed -n '/^[^#]/,$p' "$TRACE" | wc -l)" = 3 ]
	not "--pid $$ --output dat --header" '--header is for text, and --output dat makes none; leave one out'
}

@test "manager: --date begins with the date, and with --json each event has it" {
	for more in '' --json; do
		calls 1
		# shellcheck disable=SC2086 # a word, or none
		start_session trace_syscalls --syscall getppid --pid "$CALLS" --output file --date \
			--clock mono $more
		before=$(now_us)
		release "$SESSION"
		after=$(now_us)
		if [ -z "$more" ]; then
			file_has 2 "$TRACE"
			time=$(sed -n 's/.* \([0-9]*\.[0-9]*\): sys_getppid()$/\1/p' "$TRACE")
			between "$before" "$(date_of "$TRACE" "$time")" "$after"
		else
			file_has 1 "$TRACE"
			nano=$(sed -n 's/^{"ts":[0-9.]*,"timeUnixNano":"\([0-9]*\)",.*/\1/p' "$TRACE")
			between "$before" "$((nano / 1000))" "$after"
		fi
		rm -r "${TRACE%/*}"
	done
}

@test "manager: --date works with a filter of the hook, and with --output lines and dat" {
	calls 1
	start_session trace_syscalls --syscall getppid --pid "$CALLS" --output dat --date --clock mono
	before=$(now_us)
	release "$SESSION"
	after=$(now_us)
	tfs-report -d -e sys_enter_getppid "$TRACE" >out
	time=$(sed -n 's/.* \([0-9]*\.[0-9]*\): sys_getppid()$/\1/p' out)
	between "$before" "$(date_of out "$time")" "$after"
	tfs-run trace_sched --date --clock mono -- true >out
	[[ $(head -n 1 out) = '# date: '* ]]
	[ "$(grep -c '^# date: ' out)" = 1 ]
}

@test "manager: --date refuses a clock that counts no seconds" {
	need_tracefs
	grep -q counter "$TRACEFS/trace_clock"
	for more in '' --json '--output dat'; do
		not "--pid $$ --clock counter --date $more" '--date: the clock counter does not count seconds; choose another' 111
	done
}

@test "manager: a trace.dat is no larger than --size" {
	calls 100000
	session_whole trace_syscalls --syscall getppid --pid "$CALLS" --output dat --size 1024
	[ "$(wc -c <"$TRACE")" -le 1048576 ]
	[ "$("$PROG/datwalk" "$TRACE" | sed -n 's/^format syscalls:sys_enter_getppid //p')" -gt 10000 ]
	not "--pid $$ --output dat --size 1023" '--size: 1023 KB is too little for a trace.dat, 1024 would do' 111
}

@test "manager: --size limits a file, and the last line counts the missing events" {
	calls 1000
	session_whole trace_syscalls --syscall getppid --pid "$CALLS" --output file --size 16
	[ "$(wc -c <"$TRACE")" -le 16384 ]
	[ "$(wc -c <"$TRACE")" -gt 15360 ]
	lost=$(sed -n '$s/^# lost \([0-9]*\) events: 0 overwritten in a full buffer, \1 not written$/\1/p' "$TRACE")
	[ "$(($(getppids "$TRACE") + lost))" = 1000 ]
}

@test "manager: the session's directory is 0700 and its FIFO 0600, whatever the umask" {
	calls 0
	for mask in 000 077 777; do
		umask "$mask"
		start_session trace_syscalls --pid "$CALLS"
		umask 022
		[ "$(stat -c %a "${TRACE%/*}")" = 700 ]
		[ "$(stat -c %a "$TRACE")" = 600 ]
		[ "$(stat -c %a "$TFS_RUNDIR")" = 755 ]
		stop_session
		rm -r "$TFS_RUNDIR" out err
	done
}

@test "manager: looks at TRACER_SYSFS_PATH and TRACER_PROCFS_PATH" {
	need_tracefs events/syscalls
	need_mounts
	calls 10
	mkdir -p host/proc host/sys
	cat >elsewhere <<-'END'
	mount -t proc none host/proc && mount -t sysfs none host/sys &&
	mount -t tracefs none host/sys/kernel/tracing || exit 9
	# the usual places are empty
	mount -t tmpfs none "$1" && mount --bind host/proc host/proc || exit 9
	exec "$2" --run trace_syscalls --args "$3"
	END
	export TRACER_SYSFS_PATH=$BATS_TEST_TMPDIR/host/sys
	export TRACER_PROCFS_PATH=$BATS_TEST_TMPDIR/host/proc
	session_by unshare -m sh elsewhere "$TRACEFS" "$MANAGER" \
		"--pid $CALLS --instance $MARK --syscall getppid --output fifo"
	[ "$TRACE" = "$TFS_RUNDIR/ftrace/$MARK/trace" ]
	read_by cat >got
	release
	watch_end
	[ "$(getppids got)" = 10 ]
}

# ---- clear ---------------------------------------------------------------------------

# --clear resets the top-level buffer: do that only where there is nothing to reset.
may_clear() {
	need_tracefs
	[ -z "$(cat "$TRACEFS/set_event")" ] || skip "needs an empty $TRACEFS/set_event"
	file_is "$TRACEFS/current_tracer" nop || skip "needs nop in $TRACEFS/current_tracer"
	file_is "$TRACEFS/tracing_on" 1 || skip "needs 1 in $TRACEFS/tracing_on"
}

# cleared WORD: Run --clear, and fail if it prints anything.
cleared() {
	"$MANAGER" "${1---clear}" >clear.out 2>clear.err
	[ ! -s clear.out ]
	[ ! -s clear.err ]
}

@test "manager: --clear and -c end a live session, whose manager exits 0" {
	may_clear
	calls 0
	for option in --clear -c; do
		begin --pid "$CALLS"
		cleared $option
		nothing_left
		watch_end
	done
}

@test "manager: --clear removes a session whose processes were killed" {
	may_clear
	calls 0
	begin --pid "$CALLS"
	janitor=$(children "$SESSION")
	kill -STOP "$SESSION" # otherwise it would remove what its janitor left
	kill -KILL "$janitor"
	ends_by "$SESSION" KILL 137
	finishes "$READER" 0
	cleared
}

@test "manager: --clear removes a file that a session left" {
	may_clear
	calls 1
	session_whole trace_syscalls --pid "$CALLS" --output file
	[ -f "$TRACE" ]
	cleared
	[ ! -e "${TRACE%/*}" ]
}

@test "manager: --clear leaves other people's instances alone" {
	may_clear
	new_instance
	echo syscalls:sys_enter_getppid >"$DIR/set_event"
	mkfifo go
	background tfs-instance hold "$MARK.held" cat <>go
	holder=$PID
	eventually test -e "$TRACEFS/instances/tfs.$MARK.held/set_event"
	cleared
	file_is "$DIR/set_event" syscalls:sys_enter_getppid
	[ -d "$TRACEFS/instances/tfs.$MARK.held" ]
	ends_by "$holder" KILL 137
	# another user's manager may have removed it already
	tfs-instance remove "tfs.$MARK.held" || [ ! -e "$TRACEFS/instances/tfs.$MARK.held" ]
}

@test "manager: --clear can be repeated, and works where no session ever ran" {
	may_clear
	for file in set_event current_tracer tracing_on set_event_pid trace_clock; do
		cat "$TRACEFS/$file"
	done >before
	cleared
	cleared
	for file in set_event current_tracer tracing_on set_event_pid trace_clock; do
		cat "$TRACEFS/$file"
	done | cmp before -
}

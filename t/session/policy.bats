#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2153 # each test is a process of its own
# policy: an administrator can restrict the clients of the manager

load ../helper

# policy LINE...: Write these lines to the policy file of this test.
policy() {
	printf '%s\n' "$@" >policy
	chmod 644 policy
	export TFS_POLICY=$PWD/policy
}

# forbidden MESSAGE HOOK WORDS: Fail unless --check and --run refuse with MESSAGE and begin nothing.
forbidden() {
	refused 111 "$2: $1" --check "$2" --args "--instance $MARK ${*:3}"
	refused 111 "$2: $1" --run "$2" --args "--instance $MARK ${*:3}"
	nothing_left
}

# broken REASON: Fail unless this policy file allows nothing but --clear.
broken() {
	for words in --get-all --describe=trace_event --check=trace_event; do
		refused 111 "$1" $words
	done
	refused 111 "$1" --run trace_event --args "--pid $$ -e sched_switch"
	"$MANAGER" --help >out
	grep -q '^usage: ' out
}

setup_file() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

@test "policy: every hook and option is allowed without a policy" {
	need_tracefs
	unset TFS_POLICY
	[ ! -e /etc/tfs/policy ] || skip "needs a host without /etc/tfs/policy"
	"$MANAGER" --get-all >out
	grep -qx trace_uprobe out
	run -0 "$MANAGER" --check trace_event --args "--all -e sched_switch"
}

@test "policy: a hook that is not listed cannot be run, described, checked or found; * allows all" {
	need_tracefs
	policy 'hook trace_event *'
	[ "$("$MANAGER" --get-all)" = trace_event ]
	for verb in --describe --check --run; do
		refused 111 "trace_uprobe: the policy does not allow this hook; --get-all lists those that it does" \
			"$verb" trace_uprobe
	done
	refused 111 "trace_uprobe: the policy does not allow this hook; --get-all lists those that it does" \
		--run trace_uprobe --args "--pid $$ --binary sh --symbol main"
	run -0 "$MANAGER" --check trace_event --args "--pid $$ -e sched_switch"
	policy '# nothing' ''
	[ -z "$("$MANAGER" --get-all)" ]
	policy 'hook *'
	"$MANAGER" --get-all >all
	TFS_POLICY='' "$MANAGER" --get-all | cmp - all
}

@test "policy: an option of a hook that is not listed is refused in each of its forms" {
	need_tracefs
	policy 'hook trace_event event stack'
	run -0 "$MANAGER" --check trace_event --args "--pid $$ -e sched_switch --stack"
	for form in '--trigger traceoff' --trigger=traceoff '--stack --trigger traceoff'; do
		forbidden "the policy $TFS_POLICY does not allow --trigger" trace_event \
			--pid $$ -e sched_switch "$form"
	done
	policy 'hook trace_event stack'
	forbidden "the policy $TFS_POLICY does not allow --event" trace_event --pid $$ -e sched_switch
	# a line for all hooks adds to it
	policy 'hook trace_event stack' 'hook * event'
	run -0 "$MANAGER" --check trace_event --args "--pid $$ -e sched_switch"
}

@test "policy: no value of an allowed option reaches what another option would" {
	need_tracefs uprobe_events
	cp "$PROG/acts" 'tgt:acts_work x=+0(%di)'
	cp "$PROG/acts" tgt
	policy 'hook trace_uprobe binary symbol' 'hook trace_flight event budget' 'hook trace_count event key'
	for words in "--binary '$PWD/tgt:acts_work x=+0(%di)' --symbol string" \
		"--binary '$PWD/tgt:acts_work x=+0(%di) y' --symbol acts_work"; do
		run -111 --separate-stderr "$MANAGER" --run trace_uprobe --args "--instance $MARK --pid $$ $words"
		[[ $stderr == "manager: fatal: "*": the path '$PWD/tgt:acts_work x=+0(%di)"*"' has a space, where the kernel would cut it; give a link to the file that has none" ]]
		nothing_left
	done
	refused 100 "--symbol: 'acts_work x=+0(%di)' has a space, which would make it two values; give each value as a word" \
		--run trace_uprobe --args "--instance $MARK --pid $$ --binary $PWD/tgt --symbol 'acts_work x=+0(%di)'"
}

@test "policy: --all needs a line, and so does a hook that allows no selector" {
	need_tracefs
	for line in '# none' 'all no' 'common *'; do
		policy 'hook * *' "$line"
		forbidden "the policy $TFS_POLICY does not allow --all or a session without selectors" trace_event \
			--all -e sched_switch
	done
	policy 'hook * *' 'all yes'
	run -0 "$MANAGER" --check trace_event --args "--all -e sched_switch"
	own_tree
	make_hook waits <<<$'# description: waits\n# whom: optional'
	policy 'hook * *'
	forbidden "the policy $TFS_POLICY does not allow --all or a session without selectors" waits
	policy 'hook * *' 'all yes'
	run -0 "$MANAGER" --check waits --args ''
}

@test "policy: if common options are listed, only those are allowed" {
	need_tracefs
	policy 'hook * *' 'common pid' 'common instance'
	run -0 "$MANAGER" --check trace_event --args "-p $$ -i x -e sched_switch"
	# before the policy allows the option, no message says which containers exist
	for words in "--buffer 4 -p $$" '--uid 0' '--uid root' '--container 0000'; do
		# shellcheck disable=SC2086 # words
		forbidden "the policy $TFS_POLICY does not allow ${words%% *}" trace_event -e sched_switch $words
	done
	policy 'hook * *' 'common cgroup'
	forbidden "the policy $TFS_POLICY does not allow --container" trace_event -e sched_switch --container 0000
	policy 'hook * *'
	run -0 "$MANAGER" --check trace_event --args "-p $$ --buffer 64 --time 5 -e sched_switch"
}

@test "policy: the number of live sessions is limited" {
	need_tracefs
	policy 'hook * *' 'sessions 2'
	calls 0
	first=$CALLS
	: >out
	background "$MANAGER" --run trace_syscalls --args "--instance ${MARK}a --pid $CALLS" >out.a
	a=$PID
	eventually test -s out.a
	background "$MANAGER" --run trace_syscalls --args "--instance ${MARK}b --pid $CALLS" >out.b
	b=$PID
	eventually test -s out.b
	find "$TFS_RUNDIR/ftrace" | sort >before
	fails 111 "manager: fatal: 2 sessions exist, and no more are allowed; end a session, or see tfs-policy(5)" \
		"$MANAGER" --run trace_syscalls --args "--instance ${MARK}c --pid $CALLS"
	find "$TFS_RUNDIR/ftrace" | sort | cmp before -
	[ ! -e "$TRACEFS/instances/tfs.${MARK}c" ]
	# a session that was killed with its janitor does not count
	janitor=$(children "$a")
	kill -STOP "$a"
	kill -KILL "$janitor"
	ends_by "$a" KILL 137 # bash tells of that; not while standard error is a file
	eventually gone "$janitor"
	start_session trace_syscalls --pid "$first"
	ends_by "$b" INT 0
	stop_session
}

# filed SUFFIX WORDS: Run a session with a file to its end.
filed() {
	"$MANAGER" --run trace_event --args "--instance $MARK$1 --pid $$ -t 1 -e sched_process_exit ${*:2}" >>paths
}

# full MESSAGE WORDS: Fail unless a session with these words is refused with MESSAGE.
full() {
	fails 111 "manager: fatal: $1" "$MANAGER" --run trace_event \
		--args "--instance ${MARK}x --pid $$ -t 1 -e sched_process_exit ${*:2}"
	[ ! -e "$TFS_RUNDIR/ftrace/${MARK}x" ]
}

@test "policy: the number of files is limited, of ended sessions too" {
	need_tracefs
	policy 'hook * *' 'files 2'
	filed a --output file
	filed b --output dat
	for output in file dat; do
		full '--output: 2 files of sessions exist, and no more are allowed; remove those of ended sessions, or see tfs-policy(5)' \
			--output $output
	done
	# sessions without a file
	"$MANAGER" --check trace_event --args "--pid $$ -e sched_process_exit --output fifo"
	"$MANAGER" --check trace_event --args "--pid $$ -e sched_process_exit"
	read -r path <paths
	[ "$(find "${path%/*}" -mindepth 1)" = "$path" ]
	rm -r "${path%/*}"
	filed c --output file
	rm -r "$TFS_RUNDIR/ftrace/$MARK"[bc]
}

@test "policy: the size of all files is limited, with the sizes that live sessions may reach" {
	need_tracefs
	policy 'hook * *' 'space 3'
	calls 0
	may() {
		full "--size: with this session, the files of all sessions may take $1 KB, and 3072 KB are allowed; remove those of ended sessions, give a smaller --size, or see tfs-policy(5)" \
			--output "$2" --size "$3"
	}
	may 3073 file 3073
	start_session trace_event --pid "$CALLS" -e sched_process_exit --output file --size 2000
	may 3100 dat 1100
	filed a --output file --size 1000
	stop_session
	# an ended session counts with what it has
	head -c 2000000 /dev/zero >"$TRACE"
	filed b --output file --size 1050
	run -111 --separate-stderr "$MANAGER" --run trace_event \
		--args "--instance ${MARK}x --pid $$ -t 1 -e sched_process_exit --output file --size 1200"
	[[ $stderr =~ " may take "31[0-9][0-9]" KB, and 3072 KB are allowed; " ]]
	rm -r "$TFS_RUNDIR/ftrace/$MARK"*
}

# recorder WHEN WORD...: Start a flight recorder of $CALLS with these words.
recorder() {
	start_session trace_flight --pid "$CALLS" -e sys_enter_getppid --dump-on "$@"
	HERE=${TRACE%/*}
}

# dumps N: Make N dumps.
dumps() {
	for ((n = 1; n <= $1; n++)); do
		kill -USR1 "$SESSION"
		eventually test -e "$HERE/dump.$n"
	done
}

# recorder_ends: End the recorder, and rename its directory.
recorder_ends() {
	kill "$SESSION"
	finishes "$SESSION" 0
	mv "$HERE" "${HERE}a"
}

@test "policy: dumps of a flight recorder obey the limits of files and space, with those of sessions before" {
	need_tracefs events/syscalls
	calls 0
	policy 'hook * *' 'files 2'
	recorder SIGUSR1 --dumps 7
	dumps 5
	[ "$(cd "$HERE" && echo dump.*)" = 'dump.4 dump.5' ]
	recorder_ends
	# ended sessions count, and live ones with what they may have
	fails 111 "manager: fatal: trace_flight: 2 files of sessions exist, and no more are allowed for dumps; remove those of ended sessions, or see tfs-policy(5)" \
		"$MANAGER" --run trace_flight --args "--instance ${MARK}x --pid $$ -e sched_process_exec"
	mv "${HERE}a/dump.4" kept
	recorder SIGUSR1 --dumps 7
	full '--output: 2 files of sessions exist, and no more are allowed; remove those of ended sessions, or see tfs-policy(5)' \
		--output file
	dumps 3
	[ "$(cd "$HERE" && echo dump.*)" = dump.3 ]
	rm -r "${HERE}a"
	recorder_ends
	rm -r "${HERE}a"

	policy 'hook * *' 'space 1' 'files 100'
	recorder SIGUSR1 --dump dat --dumps 90
	dumps 30
	[ -e "$HERE/dump.30" ]
	[ ! -e "$HERE/dump.1" ]
	[ "$(cat "$HERE"/dump.* | wc -c)" -le 1048576 ]
	recorder_ends
	rm -r "${HERE}a"
	# a text is cut, a trace.dat that is larger than all may be is not made
	calls 30000
	recorder end --buffer 8M
	release
	finishes "$SESSION" 0
	[ "$(wc -c <"$HERE/dump.1")" -le 1048576 ]
	grep -q '^# [0-9]* older events are left out, because a dump holds 1024 KB$' "$HERE/dump.1"
	rm -r "$HERE"
	calls 60000
	recorder end --buffer 8M --dump dat
	read_by cat >got
	release
	finishes "$SESSION" 111
	finishes "$READER" 0
	grep -qx "# unable to write a dump to $HERE: File too large" got
	[ ! -e "$HERE" ]
}

@test "policy: without a limit of the size, files fill at most half of the run directory's disk" {
	need_tracefs
	need_mounts
	unset TFS_POLICY
	[ ! -e /etc/tfs/policy ] || skip "needs a host without /etc/tfs/policy"
	mkdir small
	in_small() {
		# shellcheck disable=SC2016 # the shell's own
		unshare -m sh -c 'mount -t tmpfs -o size=4m,mode=755 none small && TFS_RUNDIR=$PWD/small/run "$@"' - "$@"
	}
	fails 111 "manager: fatal: --size: with this session, the files of all sessions may take 2049 KB, and 2048 KB are allowed; remove those of ended sessions, give a smaller --size, or see tfs-policy(5)" \
		in_small "$MANAGER" --run trace_event \
		--args "--instance $MARK --pid $$ -t 1 -e sched_process_exit --output file --size 2049"
	in_small "$MANAGER" --run trace_event \
		--args "--instance $MARK --pid $$ -t 1 -e sched_process_exit --output file --size 2048"
}

@test "policy: of many sessions that begin at once only the allowed number get a path" {
	need_tracefs
	policy 'hook * *' 'sessions 3'
	calls 0
	managers=()
	for ((i = 0; i < 8; i++)); do
		background "$MANAGER" --run trace_syscalls --args "--instance $MARK.$i --pid $CALLS" \
			>"out.$i" 2>"err.$i"
		managers+=("$PID")
	done
	all_said() { [ "$(cat out.[0-7] err.[0-7] | wc -l)" = 8 ]; }
	eventually all_said
	[ "$(cat out.[0-7] | wc -l)" -le 3 ]
	run -1 grep -v ' sessions exist, and no more are allowed; ' <(cat err.[0-7])
	kill -KILL "$CALLS"
	wait "$CALLS" || :
	for pid in "${managers[@]}"; do
		wait "$pid" || [ $? = 111 ]
	done
}

@test "policy: a run directory holds up to 64 sessions without a policy" {
	grep -q '^The default is 64, even without a policy\.$' "$TREE/trace-hooks/tfs-policy.5"
	grep -q 'SESSIONS = 64,' "$TREE/lib/session/policy.c"
}

@test "policy: the size of all buffers is limited in MiB" {
	need_tracefs
	policy 'hook * *' 'buffer 1'
	calls 0
	exits 111 "$MANAGER" --run trace_syscalls --args "--instance $MARK --pid $CALLS --buffer 8192"
	[ ! -s out ]
	[[ $(cat err) =~ ^'manager: fatal: --buffer: with this session, the buffers of all sessions are '[0-9]+' KB, but the policy '.*' allows 1 MiB'$ ]]
	nothing_left
	policy 'hook * *' 'buffer 100000'
	start_session trace_syscalls --pid "$CALLS" --buffer 64
	stop_session
}

@test "policy: the memory in which a stream keeps events for its reader is that of the policy" {
	need_tracefs
	policy 'hook * *' 'memory 3'
	calls 0
	start_session trace_syscalls --pid "$CALLS"
	stream=$(children "$(children "$SESSION")")
	exec 8<"$TRACE" # the stream begins when its reader comes
	eventually grep -qa tfs-catpipe "/proc/$stream/cmdline"
	tr '\0' ' ' <"/proc/$stream/cmdline" | grep -q -- ' -M 3072 '
	exec 8<&-
	stop_session
}

@test "policy: a policy that root does not own, or that others may write, allows nothing" {
	policy 'hook * *' 'all yes'
	for bad in 644:4242 664:0 646:0 666:0; do
		chmod "${bad%:*}" policy
		chown "${bad#*:}" policy
		broken "policy $TFS_POLICY: it must be a file that only root can write to; nothing is allowed"
	done
	chmod 644 policy
	run -0 "$MANAGER" --get-all
}

@test "policy: a policy in another user's directory, a link or a non-file allows nothing" {
	mkdir theirs
	policy 'hook * *'
	mv policy theirs
	export TFS_POLICY=$PWD/theirs/policy
	run -0 "$MANAGER" --get-all
	for bad in 777:0 755:4242; do
		chmod "${bad%:*}" theirs
		chown "${bad#*:}" theirs
		broken "policy $TFS_POLICY: $PWD/theirs must be a directory that only root can write to; nothing is allowed"
	done
	chown 0 theirs
	ln -s theirs link
	export TFS_POLICY=$PWD/link/policy
	broken "policy $TFS_POLICY: $PWD/link must be a directory that only root can write to; nothing is allowed"
	ln -s theirs/policy linked
	export TFS_POLICY=$PWD/linked
	# each libc has its own words for that
	ln -s loop loop
	run -111 tfs-report loop
	[[ $output == "tfs-report: fatal: unable to open loop: "*[Ss]ymbolic\ link* ]]
	broken "policy $TFS_POLICY: unable to open it; nothing is allowed: ${output##*: }"
	mkfifo fifo
	export TFS_POLICY=$PWD/fifo
	broken "policy $TFS_POLICY: it must be a file that only root can write to; nothing is allowed"
	export TFS_POLICY=$PWD/none
	broken "policy $TFS_POLICY: there is no such file; nothing is allowed"
	export TFS_POLICY=theirs/policy
	broken "TFS_POLICY must be an absolute path: 'theirs/policy'"
}

@test "policy: a policy with a mistake allows nothing, and its line is printed" {
	while IFS='|' read -r line why; do
		policy '# first' 'hook * *' "$line"
		broken "policy $TFS_POLICY: line 3: $why; nothing is allowed"
	done <<-'EOF'
	hooks *|unknown word; use hook, common, all, sessions, buffer, memory, files, space or audit
	allow|unknown word; use hook, common, all, sessions, buffer, memory, files, space or audit
	all|the word takes one value
	deny everything|unknown word; use hook, common, all, sessions, buffer, memory, files, space or audit
	hook|no name follows the word
	common|no name follows the word
	hook trace_event --event|a name has no dashes in front; * stands for all names
	hook ../x|a name has no dashes in front; * stands for all names
	all maybe|the value must be yes or no
	all yes no|the word takes one value
	sessions 0|not a number of sessions
	files 0|not a number of files
	space 1.5|not a number of MiB
	space 1 2|the word takes one value
	sessions -1|not a number of sessions
	sessions 99999999999999999999|not a number of sessions
	buffer 1M|not a number of MiB
	memory 0|not a number of MiB
	hook 'x|a single quote is left open
	EOF
	policy 'sessions 1' 'sessions 2'
	broken "policy $TFS_POLICY: line 2: the word was given before; nothing is allowed"
	printf 'hook * *\nall yes\n\0' >policy
	broken "policy $TFS_POLICY: it has a NUL byte; nothing is allowed"
	{ echo 'hook * *'; head -c 70000 /dev/zero | tr '\0' '#'; } >policy
	broken "policy $TFS_POLICY: it is larger than 65536 bytes; nothing is allowed"
}

@test "policy: --clear works with a broken policy" {
	need_tracefs
	policy 'nonsense here'
	[ -z "$(cat "$TRACEFS/set_event")" ] || skip "needs an empty $TRACEFS/set_event"
	file_is "$TRACEFS/current_tracer" nop || skip "needs nop in $TRACEFS/current_tracer"
	file_is "$TRACEFS/tracing_on" 1 || skip "needs 1 in $TRACEFS/tracing_on"
	run -0 --separate-stderr "$MANAGER" --clear
	[ -z "$output$stderr" ]
}

@test "policy: tfs-run obeys it as well" {
	need_tracefs
	policy 'hook trace_event *'
	fails 111 "tfs-run: fatal: trace_syscalls: the policy does not allow this hook; tfs-run --check lists those that it does" \
		tfs-run trace_syscalls -- true
}

# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# helper.bash - functions that every test file loads with: load ../helper
#
# Each test has a directory of its own ($BATS_TEST_TMPDIR, the working
# directory), a run directory of its own ($TFS_RUNDIR) and, if the test calls
# new_instance, an instance of its own. teardown fails the test if the test
# leaves any of these after.

bats_require_minimum_version 1.5.0

TREE=${BATS_TEST_DIRNAME%/*/*}
PROG=$TREE/build/t
MANAGER=$TREE/trace-hooks/ftrace/manager
TRACEFS=${TRACER_SYSFS_PATH:-/sys}/kernel/tracing
# SLOW: how many times as long a guest may need, because it has no CPU of its own
SLOW=1
[ "${TFS_VARIANT-}" != vm ] || SLOW=6
# in seconds: the deadline for things that never end; other programs may keep the machine busy
DEADLINE=$((120 * SLOW))
# Below the shims of pyenv, each python3 starts 80 processes to find the real one.
while [[ ":$PATH:" =~ :([^:]*/\.pyenv/[^:]*): ]]; do
	PATH=:$PATH:
	PATH=${PATH/":${BASH_REMATCH[1]}:"/:}
	PATH=${PATH#:} PATH=${PATH%:}
done
PATH=$TREE/bin:$PATH
# a FIFO that nothing is written to; a read from it waits, and costs nothing
NEVER=$BATS_RUN_TMPDIR/never
# a directory that all parts of a run of t/run have in common
SHARED=${TFS_SHARED:-$BATS_RUN_TMPDIR}
[ -p "$NEVER" ] || { mkfifo "$NEVER"; echo "$BATS_RUN_TMPDIR" >>"$SHARED/runs"; }

# bats calls bats_debug_trap for each command of a test, so that it can say where a test
# failed. These two functions do the same with fewer commands, which saves a fifth of the
# CPU time of the suite: the first stores the stack as it is, and only if a test fails,
# the second makes the lines "LINE FUNCTION FILE" from it.
if [ "${BATS_TRACE_LEVEL:-0}" = 0 ] && declare -F bats_get_failure_stack_trace >/dev/null; then
	bats_debug_trap() {
		[[ $1 != "$BATS_ROOT"/lib* && -z ${BATS_INTERRUPTED+x}${BATS_TIMED_OUT+x} ]] || return 0
		BATS_DEBUG_LASTLAST_STACK_TRACE=("${BATS_DEBUG_LAST_STACK_TRACE[@]}")
		BATS_DEBUG_LAST_LINENO=("${BASH_LINENO[@]}")
		BATS_DEBUG_LAST_SOURCE=("${BASH_SOURCE[@]}")
		BATS_DEBUG_LAST_STACK_TRACE=(stored "${FUNCNAME[@]}" "${BASH_LINENO[@]}"
			"${BASH_SOURCE[@]}")
	}

	bats_get_failure_stack_trace() {
		local -n lines_of_stack=$1
		local stack=("${BATS_DEBUG_LASTLAST_STACK_TRACE[@]}") n i
		[ -z "${BATS_DEBUG_LAST_STACK_TRACE_IS_VALID-}" ] ||
			stack=("${BATS_DEBUG_LAST_STACK_TRACE[@]}")
		lines_of_stack=("${stack[@]}")
		[ "${stack[0]-}" = stored ] || return 0
		lines_of_stack=()
		stack=("${stack[@]:1}")
		n=$((${#stack[@]} / 3))
		for ((i = 1; i < n; i++)); do
			lines_of_stack+=("${stack[n + i - 1]} ${stack[i]} ${stack[2 * n + i]:-$BATS_TEST_SOURCE}")
			case ${stack[i]} in
			"${BATS_TEST_NAME-}" | setup | teardown | setup_file | teardown_file) break ;;
			source) [[ ${stack[2 * n + i + 1]-} != *bats-exec-file ]] || break ;;
			esac
		done
	}
fi

# bats asks date(1) for the time, also if it is not to print it: three processes for each test.
get_mills_since_epoch() {
	echo "$((${EPOCHREALTIME/[.,]/} / 1000))"
}

# t/run sets BATS_TEST_TIMEOUT. bats starts a process that limits the time of a test. That of
# bats starts sleep(1) and sets a trap for the signal that ends both. If a test ends before the
# trap is set, as on a busy machine, the sleep goes on and keeps the output open, and everything
# that reads the output hangs. The process here has no child and no output, and SIGKILL ends
# it. The test does not see it as a job.
bats_start_timeout_countdown() {
	# shellcheck disable=SC2064 # the pid of now
	trap "bats_timeout_trap $$" ABRT
	{
		read -rt "$1" _ <>"$NEVER" ||
			{ kill -ABRT $$ && bats_kill_childprocesses_of $$; }
	} >/dev/null 2>&1 3>&- 4>&- &
	disown
}

# A test whose time has passed needs the process, because it ends what the test has started.
bats_abort_timeout_countdown() {
	[ -n "${BATS_TIMED_OUT-}" ] || kill -KILL "$1" 2>/dev/null || :
}

# When the time of a test has passed, bats ends the test as failed and calls this function,
# because a command of the test may wait for ever. bats's own function ends only
# the children; here all processes below the test get SIGTERM, so that managers remove their
# sessions, and five seconds later SIGKILL. A test that still waits after that is killed,
# too, and t/run reports that it did not run.
bats_kill_childprocesses_of() {
	local self=$BASHPID one tree=() n=0
	trap '' ABRT # of a test that ends meanwhile
	mapfile -t tree < <(processes_below "$1" "$self")
	for one in "${tree[@]}"; do
		kill -TERM "${one%:*}"
	done
	sleep 5
	for one in "${tree[@]}"; do
		# another process may have the pid now
		[ "$(started_at "${one%:*}")" != "${one#*:}" ] || kill -KILL "${one%:*}"
	done
	until [ $((n++)) = 100 ] || ! kill -0 "$1"; do
		sleep 1
	done
	kill -KILL "$1"
}

# processes_below PID EXCEPT: Print PID:START for each process below PID except the tree EXCEPT.
processes_below() {
	local pid list pids
	for list in /proc/"$1"/task/*/children; do
		read -ra pids <"$list" || : # it has no newline
		for pid in "${pids[@]}"; do
			[ "$pid" != "$2" ] || continue
			echo "$pid:$(started_at "$pid")"
			processes_below "$pid" "$2"
		done
	done
}

# stat_of PID: Set stat to the line of the process in /proc; fail if there is no such process.
stat_of() {
	stat=
	{ IFS= read -rd '' stat <"/proc/$1/stat"; } 2>/dev/null || [ -n "$stat" ]
}

# started_at PID: Print when the process started, in ticks since boot.
started_at() {
	local stat
	stat_of "$1" || return
	read -ra stat <<<"${stat##*) }"
	echo "${stat[19]}"
}

# The tests send the signals HUP INT USR1 USR2 PIPE ALRM TERM. If the caller ignores one of
# them, as nohup(1) does, the programs of a test never get it, and no shell can undo that.
hears_signals() {
	local status
	# few commands: bats calls a function of its own for each
	IFS= read -rd '' status </proc/self/status || :
	[[ $status =~ SigIgn:[[:space:]]*([0-9a-f]+) ]]
	(((0x${BASH_REMATCH[1]} & 0x7a03) == 0)) || {
		echo "signals are ignored here (SigIgn: ${BASH_REMATCH[1]}), as below nohup: start t/run FILE"
		return 1
	}
}

setup() {
	# in a guest the product finds busybox, but not the tools of the test harness
	[ "${TFS_VARIANT-}" != vm ] || PATH=$TREE/bin:/harness/tools:/bin
	export PATH
	unset TFS_INSTANCE
	export TFS_RUNDIR=$BATS_TEST_TMPDIR/run/tfs
	# each name of a test begins with MARK, which separates it from names of other programs
	MARK=t$$-$BATS_TEST_NUMBER
	echo "$MARK" >>"$SHARED/marks" # for t/run
	GATES=0
	cd "$BATS_TEST_TMPDIR" || return
	hears_signals
}

# End everything that the test left running. Then check here, once for all tests, that
# everything else has gone by itself.
teardown() {
	local pid i undone=
	: "${MARK:?}" # without a mark every object on the machine would count as the test's
	# not in a command substitution: each process counts
	{ jobs -pr; jobs -ps; } >"$BATS_TEST_TMPDIR.jobs"
	while read -r pid; do
		kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done <"$BATS_TEST_TMPDIR.jobs"
	# the file's own undo removes what else its tests make
	! declare -F undo >/dev/null || undo || undone=no
	for i in "$TRACEFS"/instances/"$MARK"*; do
		[ -d "$i" ] || continue
		case $i in
		*+*) rmdir "$i" ;; # of tfs-flight, and no name for tfs-instance
		*) tfs-instance remove "${i##*/}" ;;
		esac
	done
	# bats would remove its file of output now, which goes with the directory of the run anyway
	rm() {
		[ "$*" = "-f $BATS_OUT" ] || command rm "$@"
	}
	nothing_left || return
	[ -z "$undone" ]
}

# nothing_left: Fail, and print them, if instances or directories of sessions of this test are
# there.
nothing_left() {
	local i left=()
	for i in "$TRACEFS"/instances/tfs."$MARK"* "$TFS_RUNDIR"/*/*; do
		[ -p "$i" ] || [ -d "$i" ] || continue
		# leave out a file that was to stay; an instance may have the same name
		[ -f "$i/trace" ] && [ ! -d "$i/events" ] && continue
		left+=("$i")
	done
	[ ${#left[@]} = 0 ] || { printf 'left over: %s\n' "${left[@]}"; return 1; }
}

# Skip the test, and name what is missing.

need_root() {
	[ "$EUID" = 0 ] || skip "needs root"
}

need_tracefs() {
	need_root
	[ -d "$TRACEFS/events" ] || skip "needs tracefs at $TRACEFS"
	[ -e "$TRACEFS/${1:-instances}" ] || lacks "${1:-instances}"
}

# lacks FILE: Skip because tracefs has no FILE; name the missing kernel option.
lacks() {
	local option
	case $1 in
	events/syscalls) option=CONFIG_FTRACE_SYSCALLS ;;
	user_events_data) option=CONFIG_USER_EVENTS ;;
	events/raw_syscalls) option=CONFIG_HAVE_SYSCALL_TRACEPOINTS ;;
	set_ftrace_notrace_pid) option=CONFIG_FUNCTION_TRACER ;;
	set_ftrace_filter) option=CONFIG_DYNAMIC_FTRACE ;;
	*/hist) option=CONFIG_HIST_TRIGGERS ;;
	kprobe_events) option=CONFIG_KPROBE_EVENTS ;;
	uprobe_events) option=CONFIG_UPROBE_EVENTS ;;
	dynamic_events) option=CONFIG_DYNAMIC_EVENTS ;;
	*) option=CONFIG_TRACING ;;
	esac
	skip "needs $1 in tracefs ($option)"
}

# Succeed if the kernel allows kprobes where functions begin; with ftrace there it may not.
entry_probes() {
	local place=p:own_${MARK//-/_}/entry
	[ -e "$TRACEFS/kprobe_events" ] || return
	{ echo "$place do_sys_openat2" >>"$TRACEFS/kprobe_events"; } 2>/dev/null || return
	echo "-${place#p}" >>"$TRACEFS/kprobe_events"
}

need_entry_probes() {
	need_tracefs kprobe_events
	entry_probes || skip "needs kprobes where functions begin (CONFIG_KPROBES_ON_FTRACE)"
}

need_pidfd() {
	[ "${TFS_VARIANT-}" != valgrind ] || skip "needs pidfd_open, which valgrind lacks"
}

# The stream of a session that ends at once gets its signal before its exec.
need_pending_signals() {
	[ "${TFS_VARIANT-}" != valgrind ] ||
		skip "needs a signal that stays pending over exec, which valgrind drops"
}

need_tool() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || skip "needs $tool"
	done
}

# debian PACKAGE...: Set ROOT to a directory with the files of Debian's packages, without those that
# they depend on.
debian() {
	need_tool apt-get dpkg
	ROOT=$("$TREE/t/vm/fetch" bookworm "$(dpkg --print-architecture)" "$@" 3>&- 2>fetch.err) ||
		skip "needs $* of Debian: $(tail -n 1 fetch.err)"
}

# need_mounts: Skip unless a program can have mounts of its own. In a chroot whose root is no mount
# point, unshare(1) fails: it has no root to make private.
need_mounts() {
	need_tool unshare
	unshare -m true 2>unshare.err ||
		skip "needs mounts of its own (unshare -m): $(tail -n 1 unshare.err)"
}

# need_host_root: Skip unless paths are those of the host: its root is that of process 1.
need_host_root() {
	root_of() {
		awk '$5 == "/" { print $3, $4 }' "/proc/$1/mountinfo"
	}
	[ "$(root_of self)" = "$(root_of 1)" ] || skip "needs the root of process 1, and has another"
}

# Set SMALL_SHELL to a shell whose own system calls are few and known.
small_shell() {
	SMALL_SHELL=(dash)
	command -v dash >/dev/null || SMALL_SHELL=(busybox ash)
	need_tool "${SMALL_SHELL[0]}"
}

# so_many N: Print N, or a tenth of N in a guest, which has no CPU of its own.
so_many() {
	if [ "${TFS_VARIANT-}" = vm ]; then echo $(($1 / 10)); else echo "$1"; fi
}

# data_size: Print the number of bytes for events in a sub-buffer of the instance.
data_size() {
	sed -n 's/.*data;.*size:\([0-9]*\).*/\1/p' "$DIR/events/header_page"
}

# Make an instance for this test; set $INSTANCE to its name and $DIR to its directory.
new_instance() {
	need_tracefs
	INSTANCE=$MARK${1:-}
	tfs-instance make "$INSTANCE"
	DIR=$TRACEFS/instances/$INSTANCE
}

# offset_of WORD FILE: Print the offset of WORD's first byte in FILE, which may hold any bytes.
offset_of() {
	local all word
	all=$(od -An -v -tx1 "$2" | tr -d ' \n')
	word=$(printf %s "$1" | od -An -v -tx1 | tr -d ' \n')
	[[ $all == *"$word"* ]]
	all=${all%%"$word"*}
	echo $((${#all} / 2))
}

# eventually COMMAND...: Repeat COMMAND until it succeeds or the deadline has passed. The reads
# between two tries leave the CPU to others. They grow from 10 to 100 ms, because COMMAND may
# be a process, of which a slow machine has too many.
eventually() {
	local end=$((SECONDS + DEADLINE)) ms=10
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || { echo "never true: $*"; return 1; }
		read -rt "0.0$ms" _ <>"$NEVER" || :
		[ $ms -ge 90 ] || ms=$((ms + 10))
	done
}

# file_has N FILE: Has FILE exactly N lines, each with its newline? N+ stands for at least N.
# FILE is text: mapfile cuts a line at a byte 0, and its newline with it.
file_has() {
	local all n
	mapfile all <"$2" || return
	n=${#all[@]}
	[[ $n = 0 || ${all[-1]} == *$'\n' ]] || n=$((n - 1))
	if [[ $1 == *+ ]]; then [ "$n" -ge "${1%+}" ]; else [ "$n" = "$1" ]; fi
}

# file_is FILE TEXT: Does FILE hold TEXT? As in $(cat FILE), newlines at the end do not count.
file_is() {
	local text
	read_whole "$1" || return
	while [[ $text == *$'\n' ]]; do
		text=${text%$'\n'}
	done
	must_be "$1" "$2"
}

# read_whole FILE: Set text to what FILE holds; fail if it cannot be read or has a byte 0.
read_whole() {
	text=
	[ -r "$1" ] || { echo "no file $1"; return 1; }
	! IFS= read -rd '' text <"$1" || { echo "$1 has a byte 0"; return 1; }
}

# must_be NAME TEXT: Fail unless text is TEXT.
must_be() {
	[ "$text" = "$2" ] || { printf 'expected: %s\n%s: %s\n' "$2" "$1" "$text"; return 1; }
}

# is_ready: Has the program calls or acts begun?
is_ready() {
	read -r _ <ready
}

# kill_at_once PID...: Kill these processes, so that none sees another die. One of them may
# have ended.
kill_at_once() {
	kill -STOP "$@" 2>/dev/null || :
	eventually all_stopped "$@"
	kill -KILL "$@" 2>/dev/null || :
}

# all_stopped PID...: Is each process stopped, or gone?
all_stopped() {
	local pid stat
	for pid; do
		stat_of "$pid" || continue
		[[ $stat == *') '[TZX]' '* ]] || return 1
	done
}

# background COMMAND...: Run COMMAND until the test ends; set $PID.
background() {
	"$@" <&0 3>&- & # otherwise bash connects it to /dev/null
	PID=$!
}

# hold COMMAND...: Start a command that prints a line when it is ready, and waits for release; set
# $HELD to its pid.
hold() {
	GO=$BATS_TEST_TMPDIR/go.$((++GATES))
	mkfifo "$GO"
	: >ready
	background "$@" <>"$GO" >ready
	HELD=$PID
	eventually is_ready
}

# calls [-e] N [THREADS [CHILDREN]]: Hold the program calls; set $CALLS to its pid.
calls() {
	hold "$PROG/calls" "$@"
	CALLS=$HELD
}

# act ACT WORD...: Hold the program acts; set $ACT to its pid.
act() {
	hold "$PROG/acts" "$@"
	ACT=$HELD
}

# Make a cgroup for this test, in any hierarchy. Its name is the longest of its tasks'
# cgroups, so that --cgroup with a pid selects this cgroup.
need_cgroup() {
	local root
	need_tracefs
	for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/pids; do
		[ -e "$root/cgroup.procs" ] || continue
		CGROUP=$root/$MARK-$(printf '%.s-' {1..150})
		mkdir "$CGROUP" 2>/dev/null && return
	done
	CGROUP=
	skip "needs a cgroup hierarchy to make a cgroup in"
}

# release [PID]: Let the held program go, and wait for the end of PID.
release() {
	echo >"$GO"
	[ $# = 0 ] || finishes "$1" 0
}

# start_session HOOK WORDS: Start a manager in the background; set $SESSION to its
# pid and $TRACE to the path of its trace.
start_session() {
	session_named "$MARK" "$@"
}

# second_session HOOK WORDS: Start another one, which has b after its name.
second_session() {
	session_named "${MARK}b" "$@"
}

# session_named NAME HOOK WORDS: Start a session of this name.
session_named() {
	need_tracefs
	session_by "$MANAGER" --run "$2" --args "--instance $1 ${*:3}"
}

# session_by COMMAND...: Start the session that COMMAND begins.
session_by() {
	: >out; : >err
	background "$@" >out 2>err
	SESSION=$PID
	eventually path_or_error
	[ ! -s err ] || { cat err; return 1; }
	read -r TRACE <out
}

path_or_error() {
	read -r _ <out || [ -s err ] || ! kill -0 "$SESSION" 2>/dev/null
}

# ended PID: Wait for PID and return its exit status.
ended() {
	wait "$1"
}

# finishes PID STATUS: Fail unless PID ends before the deadline with exactly STATUS.
finishes() {
	local status=0 dog
	{ read -rt "$DEADLINE" _ <>"$NEVER" || kill -KILL "$1"; } 3>&- &
	dog=$!
	wait "$1" || status=$?
	kill -KILL "$dog"
	wait "$dog" 2>/dev/null || :
	[ "$status" = "$2" ] || { echo "status $status instead of $2"; return 1; }
}

# all_end PID...: Fail unless each ends before the deadline with status 0.
all_end() {
	local pid
	for pid; do
		finishes "$pid" 0
	done
}

# ends_by PID SIGNAL STATUS: Send the signal, and fail unless PID ends with STATUS.
ends_by() {
	kill "-$2" "$1"
	finishes "$1" "$3"
}

# outputs STATUS TEXT COMMAND...: Fail unless COMMAND ends with STATUS and prints TEXT, and nothing else.
outputs() {
	run "-$1" "${@:3}"
	[ "$output" = "$2" ] || { printf 'expected: %s\nprinted: %s\n' "$2" "$output"; return 1; }
}

# exits STATUS COMMAND...: Run COMMAND with its output in the files out and err; fail unless it ends
# with STATUS.
exits() {
	local status=0
	"${@:2}" >out 2>err || status=$?
	[ "$status" = "$1" ] || { echo "ended with $status"; cat out err; return 1; }
}

# save_recording: Save what the instance of this test has recorded to `file`.
save_recording() {
	echo 0 >"$DIR/tracing_on"
	background tfs-record -i "$INSTANCE" file
	eventually blocks "$PID"
	ends_by "$PID" TERM 0
}

# record_mixed: Record switches, calls, tasks and more of a few programs to `file`, and their
# lines as JSON to `lines`, with none lost. Only the tasks of the test are recorded, so that no
# other load fills the buffer.
record_mixed() {
	local event
	need_tracefs
	new_instance
	echo 16000 >"$DIR/buffer_size_kb"
	echo 1 >"$DIR/options/event-fork"
	echo $$ $BASHPID >"$DIR/set_event_pid"
	for event in task raw_syscalls irq signal kmem/kmem_cache_alloc sched; do
		[ ! -e "$DIR/events/$event/enable" ] || echo 1 >"$DIR/events/$event/enable"
	done
	find /proc/self/ -maxdepth 2 >found 2>/dev/null || :
	for event in 1 2 3; do
		"$BASH" -c 'cat /dev/null; : | cat'
	done
	echo "C|$$|a mark|1" >"$DIR/trace_marker" # other text is an error to Perfetto
	save_recording
	tfs-report -j file >lines
	[ "$(wc -l <lines)" -gt 1000 ]
	run -1 grep '"lost":[0-9n]' lines
}

# session_whole HOOK WORDS: Let a session have what the held program does, from its release to its end.
session_whole() {
	start_session "$@"
	release
	session_ends
}

# caller_reads: Let the program caller read the trace into the file got, a line per read.
caller_reads() {
	background "$PROG/caller" "$TRACE" >got
	READER=$PID
}

# watch HOOK WORDS: Start a session whose trace cat reads into the file got.
watch() {
	start_session "$1" --output fifo "${@:2}"
	read_by cat >got
}

# watch_end: Wait for the end of the session and of its reader.
watch_end() {
	session_ends
	finishes "$READER" 0
}

# watch_stop [SIGNAL]: Stop the session, and wait for its reader.
watch_stop() {
	stop_session "$@"
	finishes "$READER" 0
}

# watch_whole HOOK WORDS: Watch what the held program does, from its release to its end.
watch_whole() {
	watch "$@"
	release
	watch_end
}

# two_hosts: Print the lines of a request that host a sends to host b, with the messages' marks.
two_hosts() {
	mark() {
		printf '%16s-%-7d [000] ..... %12s: mark: dt%s 2a %d %s\n' "${1%-*}" "${1##*-}" "$2" "$3" "${1##*-}" "$4"
	}
	{ mark cl-7 5.000000 M 1; mark cl-7 5.000010 M 9; mark cl-7 5.000450 R 2; } >a
	{ mark sv-9 15.000100 B 1; mark sv-9 15.000150 M 2; mark sv-9 15.000155 E 1; mark sv-9 15.000300 B 5; } >b
	dt-join a=a b=b
}

# stop_session [SIGNAL]: Stop the session; fail unless it ends with status 0, has
# printed only its path, and leaves nothing behind.
stop_session() {
	kill "-${1:-INT}" "$SESSION"
	session_ends
}

session_ends() {
	finishes "$SESSION" 0
	exactly out "$TRACE"$'\n'
	[ ! -s err ]
	nothing_left
}

# refused STATUS MESSAGE WORD...: Fail unless the manager exits with STATUS, prints
# exactly MESSAGE on one line, and begins nothing.
refused() {
	local status=0 before after
	before=("$TFS_RUNDIR"/* "$TFS_RUNDIR"/.[!.]*) # usually the directory does not exist
	"$MANAGER" "${@:3}" >out 2>err || status=$?
	after=("$TFS_RUNDIR"/* "$TFS_RUNDIR"/.[!.]*)
	if [ "$status" != "$1" ] || [ -s out ] || [ "${before[*]}" != "${after[*]}" ] ||
		! exactly err "manager: fatal: $2"$'\n'; then
		printf 'of: %.200s\nexpected: %s: %s\nstatus: %s\nout: %s\nrun directory: %s\n' \
			"${*:3}" "$1" "$2" "$status" "$(cat out)" "${after[*]}"
		return 1
	fi
}

# verdict VERB HOOK WORDS: Set VERDICT to the status and the first line of --check or --run.
# --check prints what the kernel lacks on standard output, with status 1.
verdict() {
	local status=0 line
	"$MANAGER" "$1" "$2" --args "--instance $MARK --time 50 ${*:3}" >out 2>err || status=$?
	if [ "$1$status" = --check1 ]; then
		read -r line <out || :
		VERDICT="111 $line"
	else
		read -r line <err || :
		VERDICT="$status ${line#manager: fatal: }"
	fi
}

# alike HOOK WORDS: Fail unless --check and --run refuse alike and leave nothing behind.
alike() {
	local check
	verdict --check "$@"
	check=$VERDICT
	nothing_left || return
	verdict --run "$@"
	nothing_left || return
	if [ "$check" != "$VERDICT" ] || [ "${check%% *}" = 0 ]; then
		printf 'of: %s\n--check: %s\n--run: %s\n' "$*" "$check" "$VERDICT"
		return 1
	fi
}

# own_tree: Copy the manager and the hooks to a tree of the test, so that the test can add
# hooks. The tools stay where they are. MANAGER is then the copy.
own_tree() {
	mkdir -p tree/trace-hooks/ftrace
	cp -r "$TREE/trace-hooks/ftrace/hooks.d" "$TREE/trace-hooks/ftrace/manager" \
		tree/trace-hooks/ftrace
	ln -s "$TREE/bin" tree/bin
	HOOKS=$BATS_TEST_TMPDIR/tree/trace-hooks/ftrace/hooks.d
	MANAGER=$BATS_TEST_TMPDIR/tree/trace-hooks/ftrace/manager
}

# own_bin: Let own_tree have a directory of tools in which the test can put its own.
own_bin() {
	rm tree/bin
	mkdir tree/bin
	ln -s "$TREE"/bin/* tree/bin
}

# make_hook NAME: Make a hook of own_tree from "#!/bin/sh" and the lines of stdin.
make_hook() {
	{ echo '#!/bin/sh'; cat; } >"$HOOKS/$1"
	chmod +x "$HOOKS/$1"
}

# strangers_objects: Print the BPF objects that probes of other sessions on this machine
# have pinned, as bpfobjects prints them.
strangers_objects() {
	local dir pins=${TRACER_SYSFS_PATH:-/sys}/fs/bpf
	for dir in "$pins"/tfs*/ "$pins"/tfs*/*/; do
		[[ ! -d $dir || $dir == *"$MARK"* ]] ||
			"$PROG/bpfobjects" in "${dir%/}" 2>/dev/null || :
	done
}

# kill_parts PART: Kill the manager of the session, its janitor, or both; wait until they are gone.
kill_parts() {
	local janitor
	janitor=$(children "$SESSION")
	case $1 in
	manager) kill -KILL "$SESSION" ;;
	janitor) kill -KILL "$janitor" ;;
	both) kill_at_once "$SESSION" "$janitor" ;;
	esac
	ended "$SESSION" || :
	[ "$1" != both ] || eventually gone "$janitor"
}

# user_stacks HOOK OPTION...: Trace a program that calls getppid in three calls of one function and
# in two of another, with the stack of each, in got.
user_stacks() {
	[ "$(uname -m)" = x86_64 ] || skip "needs stacks of programs, as x86_64 has them"
	need_tracefs events/syscalls
	need_tracefs options/userstacktrace
	act callers 3 2
	watch "$1" --pid "$ACT" "${@:2}"
	release
	all_read() { [ "$(grep -c '<user stack trace>' got)" = 5 ]; }
	eventually all_read
	watch_stop
	echo >"$GO"
	finishes "$ACT" 0
	head -n 20 got # for a test that fails
	[ "$(grep -c ': sys_getppid()$' got)" = 5 ]
	[ "$(grep -c "^ => acts_often+0x[0-9a-f]* ($PROG/acts)$" got)" = 3 ]
	[ "$(grep -c "^ => acts_rarely+0x[0-9a-f]* ($PROG/acts)$" got)" = 2 ]
}

# loop [FILE]: Make a loop device over FILE, or over a disk of 1 MiB; set $LOOP to its name. As this
# shell has it open, the kernel detaches it when the shell and its children have ended: a test that
# is killed leaves none.
loop() {
	local file=${1-disk} held i
	need_tracefs events/block/block_rq_complete
	need_tool losetup
	[ -e "$file" ] || head -c 1048576 /dev/zero >"$file"
	for ((i = 0; i < 20; i++)); do # another test may take the same device
		LOOP=$(losetup -f 2>losetup.err) && losetup "$LOOP" "$file" 2>losetup.err || continue
		# shellcheck disable=SC2034 # it is only held
		exec {held}<"$LOOP"
		losetup -d "$LOOP"
		LOOP=${LOOP#/dev/}
		return
	done
	skip "needs a loop device (CONFIG_BLK_DEV_LOOP): $(cat losetup.err)"
}

# Make a zram disk, which has bios and no requests; set $ZRAM to its number.
zram() {
	local add=/sys/class/zram-control/hot_add
	need_tracefs events/block/block_bio_complete
	[ -e "$add" ] || skip "needs a disk without requests (CONFIG_ZRAM)"
	ZRAM=$(cat "$add")
	echo 16M >"/sys/block/zram$ZRAM/disksize"
	[ -b "/dev/zram$ZRAM" ] || skip "needs /dev/zram$ZRAM"
}

zram_remove() {
	echo "$ZRAM" >/sys/class/zram-control/hot_remove
}

# children PID: Print the pids of PID's children, one per line.
children() {
	local pids
	read -ra pids <"/proc/$1/task/$1/children" || : # it has no newline
	[ ${#pids[@]} != 0 ] && printf '%s\n' "${pids[@]}"
}

# child PID: Set CHILD to the pid of PID's only child; fail if PID has none, or is not there.
child() {
	local pids=()
	{ read -ra pids <"/proc/$1/task/$1/children" || :; } 2>/dev/null
	CHILD=${pids[0]-}
	[ ${#pids[@]} = 1 ]
}

# Print the pids that have lines in these files, in ascending order, one per line.
pids_in() {
	sed -En 's/^.{16}-([0-9]+) +\[.*/\1/p' "$@" | sort -un
}

# synopsis TOOL: Print the synopsis of TOOL --help in one line.
synopsis() {
	synopsis_of < <("$1" --help)
	echo "$SYNOPSIS"
}

# synopsis_of: Set SYNOPSIS to that of the help on standard input, in one line.
synopsis_of() {
	local line
	SYNOPSIS=
	while read -r line && [[ ! $line =~ ^[^\ ]+\ -\  ]]; do
		SYNOPSIS+=${SYNOPSIS:+ }${line#usage: }
	done
}

# helps TOOL SYNOPSIS PURPOSE: Check what TOOL --help and TOOL -h print before the options.
helps() {
	local text
	"$1" --help >help 2>err
	[ ! -s err ]
	synopsis_of <help
	[ "$SYNOPSIS" = "$2" ]
	! IFS= read -rd '' text <help
	[[ $text == *$'\n'"$1 - $3"$'\n'* ]]
	"$1" -h >help
	exactly help "$text"
}

# fails STATUS LINE COMMAND...: Fail unless COMMAND exits with STATUS, prints LINE and
# nothing else on stderr, and nothing on stdout.
fails() {
	local want=$1 line=$2 status=0
	shift 2
	"$@" >fails.out 2>fails.err || status=$?
	if [ "$status" != "$want" ] || [ -s fails.out ] ||
		! exactly fails.err "$line"$'\n' >/dev/null; then
		echo "ended with $status, said:"
		cat -v fails.err fails.out
		return 1
	fi
}

# to_full COMMAND...: Run COMMAND with a full disk as standard output.
to_full() {
	"$@" >/dev/full
}

# exactly FILE TEXT: Fail unless FILE holds exactly the bytes of TEXT.
exactly() {
	local text
	read_whole "$1" && must_be "$1" "$2"
}

# lines_are FILE TEXT: Fail unless FILE holds exactly TEXT and a newline.
lines_are() {
	exactly "$1" "$2"$'\n'
}

# blocks PID: Succeed once PID has blocked or caught its signals, SIGHUP among them. The shell that
# becomes the program blocks them, too, while it forks.
blocks() {
	local text=
	[ "${TFS_VARIANT-}" != valgrind ] ||
		skip "needs to see a program's signal mask, which valgrind keeps to itself"
	# Read to the end: what a read leaves of a dead process's file, where bash cannot seek back, it
	# gives to its next read, of any file.
	{ IFS= read -rd '' text <"/proc/$1/status"; } 2>/dev/null
	[[ $text != $'Name:\tbash\n'* && $text =~ SigBlk:[[:space:]]*([0-9a-f]+) ]] &&
		(((0x${BASH_REMATCH[1]} & 1) != 0))
}

gone() {
	local stat
	stat_of "$1" || return 0
	[[ ${stat##*) } == Z* ]]
}

# from FILE COMMAND...: Run COMMAND with FILE as standard input.
from() {
	local file=$1
	shift
	"$@" <"$file"
}

# plainly COMMAND...: Run COMMAND without root's right to ignore permissions; needs setpriv.
plainly() {
	[ "$EUID" != 0 ] || set -- setpriv --inh-caps=-all --bounding-set=-all "$@"
	"$@"
}

# count_waits PID: Record from now on the waits of process PID that end without an event, for
# few_waits. Nothing is recorded where strace cannot run: in a guest, valgrind or sanitizers.
count_waits() {
	[ -z "${TFS_VARIANT-}" ] && command -v strace >/dev/null || return 0
	background strace -e trace=poll,ppoll,restart_syscall -o "waits.$1" -p "$1" 2>/dev/null
	eventually grep -q '^TracerPid:.*[1-9]' "/proc/$1/status"
}

# few_waits MS: Fail if the recorded waits took more than MS together, by their own time limits.
few_waits() {
	local file
	for file in waits.*; do
		[ ! -e "$file" ] || cat "$file"
	done | awk -v most="$1" '
		/Timeout/ { sub(/\) += 0 \(Timeout\)$/, ""); ms += $NF }
		END { if (ms > most) { print "waited " ms " ms"; exit 1 } }'
}

# count_calls: Let strace record the system calls of the sessions that follow, for calls_to_path.
count_calls() {
	[ -z "${TFS_VARIANT-}" ] || skip "counts the system calls of the plain build"
	need_tool strace
	COUNTED=$MANAGER
	counted_manager() {
		strace -f -s 500 -o session.calls "$COUNTED" "$@"
	}
	MANAGER=counted_manager
}

# calls_to_path: Print the number of system calls until the session printed its path. Fail if
# one of them waited for nothing.
calls_to_path() {
	awk -v path="write(1, \"$TRACE\\\\n\"" '
		index($0, path) { print NR; found = 1; exit !found }
		/\(Timeout\)$/ || $2 ~ /^(clock_)?nanosleep\(/ { print "waits: " $0 >"/dev/stderr"; exit 1 }
		END { exit !found }' session.calls
}

# read_by COMMAND...: Run COMMAND with the trace as standard input, and return once
# the path is open. Set $READER to its pid.
read_by() {
	exec 8<"$TRACE"
	background "$@" <&8
	READER=$PID
	exec 8<&-
}

# ample: Print a time limit for a session, in ms, so that on a machine as busy as this one the test
# can do first what has to be done before the limit: several times what the test has taken so far.
# So call it after rounds that did the same without a limit.
ample() {
	echo $((3000 + 4000 * SECONDS))
}

# now_us: Print the time of day in microseconds.
now_us() {
	echo "${EPOCHREALTIME/[.,]/}"
}

# date_us DATE: Print the microseconds of a date such as 2026-11-23T19:50:01.123456Z.
date_us() {
	local day=${1%.*} part=${1#*.}
	[[ $1 =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$ ]]
	echo "$(date -u -d "${day/T/ }" +%s)${part%Z}"
}

# date_of FILE SECONDS: Print the time of day, in microseconds, that the date line of FILE gives
# to this time of its clock.
date_of() {
	local date unix at
	read -r date unix at < <(sed -n "s/^# date: \([^ ]*\), \([0-9]*\.[0-9]*\) since 1970, is \([0-9]*\.[0-9]*\) of the trace's clock$/\1 \2 \3/p" "$1")
	[ "$(date_us "$date")" = "${unix/./}" ]
	echo $((${unix/./} + 10#${2/./} - 10#${at/./}))
}

# between BEFORE US AFTER: Fail unless US is between these, or not further away than the clocks
# are compared exactly: less than a millisecond.
between() {
	[ "$2" -ge "$(($1 - 1000))" ]
	[ "$2" -le "$(($3 + 1000))" ]
}

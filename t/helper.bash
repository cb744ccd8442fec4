# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# helper.bash - what every test file loads: load helper
#
# Each test has a directory of its own ($BATS_TEST_TMPDIR, the working
# directory), a run directory of its own ($TFS_RUNDIR) and, if it asks for one
# with new_instance, an instance of its own. Whatever it leaves of these makes
# teardown fail the test.

bats_require_minimum_version 1.5.0

TREE=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
PROG=$TREE/build/t
MANAGER=$TREE/trace-hooks/ftrace/manager
TRACEFS=${TRACER_SYSFS_PATH:-/sys}/kernel/tracing
# how many times as long things may take: a guest has no processor of its own
SLOW=1
[ "${TFS_VARIANT-}" != vm ] || SLOW=6
# in seconds; it is there for what never ends, and others may be busy meanwhile
DEADLINE=$((60 * SLOW))
PATH=$TREE/bin:$PATH

# The tests send these signals, HUP INT USR1 USR2 PIPE ALRM TERM. What a test starts would
# not hear one that our caller ignores, as nohup(1) does, and no shell can undo that.
hears_signals() {
	local key mask
	while read -r key mask; do
		[ "$key" != SigIgn: ] || break
	done </proc/self/status
	(((0x$mask & 0x7a03) == 0)) || {
		echo "signals are ignored here (SigIgn: $mask), as below nohup: start t/run FILE"
		return 1
	}
}

setup() {
	# in a guest the product sees busybox, and not what the harness is made of
	[ "${TFS_VARIANT-}" != vm ] || PATH=$TREE/bin:/harness/tools:/bin
	export PATH
	unset TFS_INSTANCE
	export TFS_RUNDIR=$BATS_TEST_TMPDIR/run/tfs
	# names of ours begin with this, so that strangers' stay out of sight
	MARK=t$$-$BATS_TEST_NUMBER
	GATES=0
	cd "$BATS_TEST_TMPDIR" || return
	hears_signals
}

# Nothing of the test outlives it, and what should have gone by itself must
# have: that is asserted here once for all tests.
teardown() {
	local pid i left undone=
	: "${MARK:?}" # or all that there is on the machine would be ours
	for pid in $(jobs -pr; jobs -ps); do
		kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	# what else a file's tests make, its own undo takes away
	! declare -F undo >/dev/null || undo || undone=no
	for i in "$TRACEFS"/instances/"$MARK"*; do
		[ -d "$i" ] || continue
		case $i in
		*+*) rmdir "$i" ;; # of tfs-flight, and no name for tfs-instance
		*) tfs-instance remove "${i##*/}" ;;
		esac
	done
	left=$(our_sessions)
	[ -z "$left" ] || { echo "left over: $left"; return 1; }
	[ -z "$undone" ]
}

# Instances and directories of sessions that this test began.
our_sessions() {
	local i
	for i in "$TRACEFS"/instances/tfs."$MARK"* "$TFS_RUNDIR"/*/*; do
		[ -p "$i" ] || [ -d "$i" ] || continue
		# a file that was to stay; an instance has one of that name too
		[ -f "$i/trace" ] && [ ! -d "$i/events" ] && continue
		echo "$i"
	done
}

# skip, naming what is missing

need_root() {
	[ "$(id -u)" = 0 ] || skip "needs root"
}

need_tracefs() {
	need_root
	[ -d "$TRACEFS/events" ] || skip "needs tracefs at $TRACEFS"
	[ -e "$TRACEFS/${1:-instances}" ] || lacks "${1:-instances}"
}

# lacks FILE: skip, since tracefs has none, for want of an option of the kernel
lacks() {
	local option
	case $1 in
	events/syscalls) option=CONFIG_FTRACE_SYSCALLS ;;
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

# A kernel with ftrace at the entries of its functions may have no probes there.
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

# The stream of a session that ends at once is told so before its exec.
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

# A shell whose own system calls are few and known.
small_shell() {
	SMALL_SHELL=(dash)
	command -v dash >/dev/null || SMALL_SHELL=(busybox ash)
	need_tool "${SMALL_SHELL[0]}"
}

# so_many N: N, and a tenth of it in a guest, which has no processor of its own
so_many() {
	if [ "${TFS_VARIANT-}" = vm ]; then echo $(($1 / 10)); else echo "$1"; fi
}

# data_size: how many bytes of events a page of the instance's buffer has
data_size() {
	sed -n 's/.*data;.*size:\([0-9]*\).*/\1/p' "$DIR/events/header_page"
}

# An instance of this test; its name is in $INSTANCE, its directory in $DIR.
new_instance() {
	need_tracefs
	INSTANCE=$MARK${1:-}
	tfs-instance make "$INSTANCE"
	DIR=$TRACEFS/instances/$INSTANCE
}

# offset_of WORD FILE: of its first byte, in a file of any bytes
offset_of() {
	local all word
	all=$(od -An -v -tx1 "$2" | tr -d ' \n')
	word=$(printf %s "$1" | od -An -v -tx1 | tr -d ' \n')
	[[ $all == *"$word"* ]]
	all=${all%%"$word"*}
	echo $((${#all} / 2))
}

# eventually COMMAND...: it becomes true before a generous deadline. It is tried again
# after a read from a FIFO that nobody writes, which leaves the processor to others.
eventually() {
	local end=$((SECONDS + DEADLINE)) never=$BATS_TEST_TMPDIR/.never
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || { echo "never true: $*"; return 1; }
		[ -p "$never" ] || mkfifo "$never"
		read -rt 0.01 _ <>"$never" || :
	done
}

# background COMMAND...: run it; its pid is in $PID and it ends with the test
background() {
	"$@" <&0 3>&- & # or bash gives it /dev/null
	PID=$!
}

# calls [-e] N [THREADS [CHILDREN]]: the program of that name, held before its
# first call; its pid is in $CALLS. release lets it go.
calls() {
	GO=$BATS_TEST_TMPDIR/go.$((++GATES))
	mkfifo "$GO"
	: >ready
	background "$PROG/calls" "$@" <>"$GO" >ready
	CALLS=$PID
	eventually grep -q ready ready
}

# act ACT WORD...: the program acts, held before it does so; its pid is in $ACT
act() {
	GO=$BATS_TEST_TMPDIR/go.$((++GATES))
	mkfifo "$GO"
	: >ready
	background "$PROG/acts" "$@" <>"$GO" >ready
	ACT=$PID
	eventually grep -q ready ready
}

release() {
	echo >"$GO"
}

# start_session HOOK WORDS: a manager in the background, its pid in $SESSION,
# the path of its trace in $TRACE
start_session() {
	: >out; : >err
	background "$MANAGER" --run "$1" --args "--instance $MARK ${*:2}" >out 2>err
	SESSION=$PID
	eventually path_or_error
	[ ! -s err ] || { cat err; return 1; }
	TRACE=$(cat out)
}

path_or_error() {
	[ "$(wc -l <out)" = 1 ] || [ -s err ] || ! kill -0 "$SESSION" 2>/dev/null
}

# ended PID: its exit status becomes ours
ended() {
	wait "$1"
}

# finishes PID STATUS: it ends before the deadline, and with exactly that. The
# deadline is a read from a FIFO that nobody writes: it costs nothing.
finishes() {
	local status=0 dog
	[ -p "$BATS_TEST_TMPDIR/.never" ] || mkfifo "$BATS_TEST_TMPDIR/.never"
	{ read -rt "$DEADLINE" _ <>"$BATS_TEST_TMPDIR/.never" || kill -KILL "$1"; } 3>&- &
	dog=$!
	wait "$1" || status=$?
	kill -KILL "$dog"
	wait "$dog" 2>/dev/null || :
	[ "$status" = "$2" ] || { echo "status $status instead of $2"; return 1; }
}

# stop_session [SIGNAL]: it ends with status 0, has said nothing but its path,
# and nothing is left of it
stop_session() {
	kill "-${1:-INT}" "$SESSION"
	session_ends
}

session_ends() {
	finishes "$SESSION" 0
	[ "$(cat out)" = "$TRACE" ]
	[ ! -s err ]
	nothing_left
}

nothing_left() {
	[ -z "$(our_sessions)" ] || { our_sessions; return 1; }
}

# refused STATUS MESSAGE WORD...: the manager leaves with that status, says
# exactly that and on one line, and nothing was begun
refused() {
	local status=0 before
	before=$(ls -A "$TFS_RUNDIR" 2>&1) || : # most often there is none
	"$MANAGER" "${@:3}" >out 2>err || status=$?
	if [ "$status" != "$1" ] || [ -s out ] || [ "$(wc -l <err)" != 1 ] ||
		[ "$(cat err)" != "manager: fatal: $2" ] ||
		[ "$(ls -A "$TFS_RUNDIR" 2>&1)" != "$before" ]; then
		printf 'of: %.200s\nexpected: %s: %s\nstatus: %s\nout: %s\nerr: %s\n' "${*:3}" \
			"$1" "$2" "$status" "$(cat out)" "$(cat err)"
		return 1
	fi
}

# verdict VERB HOOK WORDS: the status and the first line of --check or --run. --check
# prints on standard output what the kernel lacks, with status 1.
verdict() {
	local status=0
	"$MANAGER" "$1" "$2" --args "--instance $MARK --time 50 ${*:3}" >out 2>err || status=$?
	if [ "$1$status" = --check1 ]; then
		echo "111 $(cat out)"
	else
		echo "$status $(head -n 1 err | sed 's/^manager: fatal: //')"
	fi
}

# alike HOOK WORDS: --check refuses them as --run does, and nothing is left of either
alike() {
	local check run
	check=$(verdict --check "$@")
	nothing_left || return
	run=$(verdict --run "$@")
	nothing_left || return
	if [ "$check" != "$run" ] || [ "${run%% *}" = 0 ]; then
		printf 'of: %s\n--check: %s\n--run: %s\n' "$*" "$check" "$run"
		return 1
	fi
}

# A tree of the test's own: the manager and the hooks are copied, so that a test can add
# hooks. The tools stay where they are. MANAGER is then the copy.
own_tree() {
	mkdir -p tree/trace-hooks/ftrace
	cp -r "$TREE/trace-hooks/ftrace/hooks.d" "$TREE/trace-hooks/ftrace/manager" \
		tree/trace-hooks/ftrace
	ln -s "$TREE/bin" tree/bin
	HOOKS=$BATS_TEST_TMPDIR/tree/trace-hooks/ftrace/hooks.d
	MANAGER=$BATS_TEST_TMPDIR/tree/trace-hooks/ftrace/manager
}

# make_hook NAME: the lines of stdin behind "#!/bin/sh" are a hook of own_tree
make_hook() {
	{ echo '#!/bin/sh'; cat; } >"$HOOKS/$1"
	chmod +x "$HOOKS/$1"
}

# strangers_objects: BPF objects of probes that other sessions on this machine have
# pinned, as bpfobjects prints them
strangers_objects() {
	local dir pins=${TRACER_SYSFS_PATH:-/sys}/fs/bpf
	for dir in "$pins"/tfs*/ "$pins"/tfs*/*/; do
		[[ ! -d $dir || $dir == *"$MARK"* ]] ||
			"$PROG/bpfobjects" in "${dir%/}" 2>/dev/null || :
	done
}

# children PID: the pids of its children, one a line
children() {
	tr ' ' '\n' <"/proc/$1/task/$1/children" | grep .
}

# The pids whose lines are in these files, ascending, one a line.
pids_in() {
	sed -En 's/^.{16}-([0-9]+) +\[.*/\1/p' "$@" | sort -un
}

# fails STATUS LINE COMMAND...: it ends with this status, says this line and
# nothing more, and prints nothing
fails() {
	local want=$1 line=$2 status=0
	shift 2
	"$@" >fails.out 2>fails.err || status=$?
	if [ "$status" != "$want" ] || [ -s fails.out ] ||
		! printf '%s\n' "$line" | cmp -s - fails.err; then
		echo "ended with $status, said:"
		cat -v fails.err fails.out
		return 1
	fi
}

# to_full COMMAND...: its standard output is a disk without room
to_full() {
	"$@" >/dev/full
}

# exactly FILE TEXT: its bytes are these
exactly() {
	printf '%s' "$2" | cmp - "$1"
}

# blocks PID: it has taken its signals in hand, SIGHUP among them
blocks() {
	local key mask
	[ "${TFS_VARIANT-}" != valgrind ] ||
		skip "needs to see a program's signal mask, which valgrind keeps to itself"
	while read -r key mask; do
		[ "$key" = SigBlk: ] && return $((!(0x$mask & 1)))
	done 2>/dev/null <"/proc/$1/status"
	return 1
}

gone() {
	local state
	state=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
	[[ ${state##*) } == Z* ]]
}

# from FILE COMMAND...: it reads this
from() {
	local file=$1
	shift
	"$@" <"$file"
}

# plainly COMMAND...: without root's right to pass closed doors; needs setpriv
plainly() {
	[ "$(id -u)" != 0 ] || set -- setpriv --inh-caps=-all --bounding-set=-all "$@"
	"$@"
}

# read_by COMMAND...: it reads the trace on its standard input; the path is
# open before we go on. Its pid is in $READER.
read_by() {
	exec 8<"$TRACE"
	background "$@" <&8
	READER=$PID
	exec 8<&-
}

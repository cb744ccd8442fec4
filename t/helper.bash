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
PATH=$TREE/bin:$PATH
export PATH

setup() {
	unset TFS_INSTANCE
	export TFS_RUNDIR=$BATS_TEST_TMPDIR/run/tfs
	# names of ours begin with this, so that strangers' stay out of sight
	MARK=t$$-$BATS_TEST_NUMBER
	CHILDREN=()
	cd "$BATS_TEST_TMPDIR" || return
}

# Nothing of the test outlives it, and what should have gone by itself must
# have: that is asserted here once for all tests.
teardown() {
	local pid i left
	for pid in "${CHILDREN[@]}"; do
		kill -KILL "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	for i in "$TRACEFS"/instances/"$MARK"*; do
		[ -d "$i" ] && tfs-instance remove "${i##*/}"
	done
	left=$(our_sessions)
	[ -z "$left" ] || { echo "left over: $left"; return 1; }
}

# Instances and directories of sessions that this test began.
our_sessions() {
	local i
	for i in "$TRACEFS"/instances/tfs."$MARK"* "$TFS_RUNDIR"/*/*; do
		[ -p "$i" ] || [ -d "$i" ] || continue
		[ -f "$i/trace" ] && continue # a file that was to stay
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
	[ -e "$TRACEFS/${1:-instances}" ] || skip "needs $1 in tracefs"
}

need_tool() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || skip "needs $tool"
	done
}

# An instance of this test; its name is in $INSTANCE, its directory in $DIR.
new_instance() {
	need_tracefs
	INSTANCE=$MARK${1:-}
	tfs-instance make "$INSTANCE"
	DIR=$TRACEFS/instances/$INSTANCE
}

# eventually COMMAND...: it becomes true before a generous deadline
eventually() {
	local end=$((SECONDS + 20))
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || { echo "never true: $*"; return 1; }
	done
}

# background COMMAND...: run it; its pid is in $PID and it ends with the test
background() {
	"$@" 3>&- &
	PID=$!
	CHILDREN+=("$PID")
}

# calls [-e] N [THREADS [CHILDREN]]: the program of that name, held before its
# first call; its pid is in $CALLS. release lets it go.
calls() {
	mkfifo "go.$BATS_TEST_NUMBER.${#CHILDREN[@]}"
	GO=$BATS_TEST_TMPDIR/go.$BATS_TEST_NUMBER.${#CHILDREN[@]}
	: >ready
	background "$PROG/calls" "$@" <>"$GO" >ready
	CALLS=$PID
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

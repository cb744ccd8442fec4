# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# lib.bash - functions that the parts of the benchmark share: . lib.bash
#
# It has the rows of the table, a traced program that is held until everything is enabled,
# and instances of its own. The script run has built everything and removes what is left.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit

# shellcheck disable=SC2034 # the parts'
{
	TREE=$PWD
	BUILD=$TREE/build/bench
	TMP=$BUILD/tmp
	STATIC=$BUILD/static
	TRACEFS=${TRACER_SYSFS_PATH:-/sys}/kernel/tracing
	NAME=bench.${BENCH_ID:=$$}
	CALL=syscalls:sys_enter_getppid
	MANAGER=$TREE/trace-hooks/ftrace/manager
	ROUNDS=${ROUNDS:-5}
	# run a peer on a host that refuses it some files, and never outside an instance
	TRACE_CMD="LD_PRELOAD=$BUILD/preload.so trace-cmd"
	STATIC_CC=musl-gcc
	command -v musl-gcc >/dev/null || STATIC_CC=${CC:-cc}
}
unset TFS_INSTANCE
export TFS_RUNDIR=$BUILD/run BENCH_ID

# ---- rows ---------------------------------------------------------------------------

# row WHAT OURS PEER RATIO BOUND MET
row() {
	printf '%-64s %16s %16s %7s  %-22s %s\n' "$@"
}

head_line() {
	echo
	row "$1" ours peer ratio bound met
}

# number EXPRESSION [FORMAT]
number() {
	awk "BEGIN { printf \"${2:-%.2f}\", $1 }"
}

# true_that EXPRESSION: Succeed if the expression of numbers is true.
true_that() {
	awk "BEGIN { exit !($1) }"
}

unmet() {
	echo "$1" >>"$TMP/unmet"
}

# bound WHAT OURS PEER UNIT MOST: Print a row; our value must be at most MOST times the peer's.
bound() {
	local ratio met=yes
	ratio=$(number "$2 / $3")
	true_that "$2 > $5 * $3" && met=NO
	[ $met = yes ] || unmet "$1: $ratio times, at most $5"
	row "$1" "$2 $4" "$3 $4" "$ratio" "at most $5" $met
}

# times_less WHAT OURS PEER UNIT TIMES AIM: Print a row; our value must be TIMES times less.
times_less() {
	local ratio met=yes
	ratio=$(number "$3 / $2" %.1f)
	true_that "$3 < $5 * $2" && met=NO
	[ $met = yes ] || unmet "$1: $ratio times less, at least $5"
	row "$1" "$2 $4" "$3 $4" "1/$ratio" "1/$5 at most, aim 1/$6" $met
}

# limit WHAT OURS UNIT MOST: Print a row of a figure without a peer.
limit() {
	local met=yes
	true_that "$2 > $4" && met=NO
	[ $met = yes ] || unmet "$1: $2 $3, at most $4"
	row "$1" "$2 $3" - - "at most $4 $3" $met
}

# same WHAT GOT MADE UNIT: Print a row of two numbers that must be equal.
same() {
	local met=yes
	[ "$2" = "$3" ] || met=NO
	[ $met = yes ] || unmet "$1: $2 $4 of $3"
	row "$1" "$2" "$3 $4" - "all, exactly" $met
}

# beside WHAT OURS PEER UNIT: Print a row without a bound.
beside() {
	row "$1" "$2 $4" "$3 $4" "$(number "$2 / $3")" - -
}

missing() {
	row "$1" - "not available" - - "-  $2"
	unmet "$1: not measured: $2"
}

# least A B: Print the smaller number, or B if A is empty.
least() {
	if [ -z "$1" ] || true_that "$2 < $1"; then
		echo "$2"
	else
		echo "$1"
	fi
}

# have WHAT TOOL: Succeed if the tool exists, otherwise print a row that says so.
have() {
	command -v "$2" >/dev/null && return
	missing "$1" "$2 is not installed"
	return 1
}

can_trace() {
	[ -d "$TRACEFS/events/syscalls/sys_enter_getppid" ] && [ -w "$TRACEFS/instances" ] &&
		return
	missing "$1" "needs root and $TRACEFS/events/syscalls"
	return 1
}

# ---- the traced program -------------------------------------------------------------

# hold_program PROG [ARG]...: Start PROG, held until a line comes. Set loop.
hold_program() {
	[ -p "$TMP/go" ] || mkfifo "$TMP/go"
	: >"$TMP/ready"
	rm -f "$TMP/ns"
	"$@" <>"$TMP/go" >"$TMP/ready" &
	loop=$!
	until grep -q ready "$TMP/ready" || ! kill -0 $loop 2>/dev/null; do :; done
}

# hold LOOP-OPERAND...: Start the held loop; its last line goes to tmp/ns.
hold() {
	hold_program "$BUILD/loop" -w "$@" "$TMP/ns"
}

release() {
	echo >"$TMP/go"
	wait "$loop"
}

# told FIELD: Print a field of the loop's last line: 1 ns per call, 2 seconds in all, 3 calls.
told() {
	awk -v f="$1" '{ print $f }' "$TMP/ns"
}

# session_of MANAGER HOOK WORD...: Start a session. Set manager and path.
session_of() {
	: >"$TMP/path"
	"$1" --run "$2" --args "-i $NAME ${*:3}" >"$TMP/path" 2>"$TMP/err" &
	manager=$!
	until [ -s "$TMP/path" ] || ! kill -0 $manager 2>/dev/null; do sleep 0.01; done
	path=$(head -n 1 "$TMP/path")
	[ -n "$path" ] || { cat "$TMP/err"; return 1; }
}

# begin MANAGER OPTION...: Start a session of the held loop. Set manager and path.
begin() {
	session_of "$1" trace_syscalls "--pid $loop -s getppid ${*:2}"
}

# opened PID FILE: Wait until PID has opened FILE.
opened() {
	local fd
	while [ -d "/proc/$1/fd" ]; do
		for fd in "/proc/$1/fd"/*; do
			[ "$fd" -ef "$2" ] && return
		done
	done
	return 1
}

# ---- instances ----------------------------------------------------------------------

# make_instance NAME KB EVENT...: Make an instance of these events, without a task. Set dir.
make_instance() {
	local event
	dir=$TRACEFS/instances/$1
	mkdir "$dir" && echo 0 >"$dir/tracing_on" && echo "$2" >"$dir/buffer_size_kb" &&
		echo 1 >"$dir/options/event-fork" || return
	for event in "${@:3}"; do
		echo 1 >"$dir/events/${event/://}/enable" || return
	done
}

# Remove an instance. Its files may stay open for a moment after their reader's end.
remove_instance() {
	local i
	for ((i = 0; i < 100; i++)); do
		rmdir "$TRACEFS/instances/$1" 2>/dev/null || [ ! -d "$TRACEFS/instances/$1" ] &&
			return
		sleep 0.05
	done
	echo "bench: unable to remove the instance $1" >&2
	return 1
}

# counted DIR WORD: Print the sum of the line WORD in all CPUs' stats.
counted() {
	cat "$1"/per_cpu/cpu*/stats | awk -F': ' -v w="$2" '$1 == w { n += $2 } END { print n + 0 }'
}

# fill DIR: Record the held loop there, and wait for its end.
fill() {
	echo "$loop" >"$1/set_event_pid"
	echo 1 >"$1/tracing_on"
	release
	echo 0 >"$1/tracing_on"
}

undo() {
	local job
	for job in $(jobs -p); do
		kill "$job" 2>/dev/null
	done
	wait
	for dir in "$TRACEFS/instances/$NAME"*; do
		[ ! -d "$dir" ] || remove_instance "${dir##*/}"
	done
}
trap undo EXIT
trap 'exit 130' INT TERM

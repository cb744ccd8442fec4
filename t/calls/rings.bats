#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# Rings of BPF programs: each call is delivered or counted, whole, and once

load ../helper
load ../hooks

# long_path N: Print a path of N bytes of the file fifo.
long_path() {
	local slashes
	printf -v slashes '%*s' $(($1 - ${#PWD} - 4)) ''
	printf '%s' "$PWD${slashes// //}fifo"
}

# waits_in_open PID: Does it wait for the other end of a FIFO?
waits_in_open() {
	[ "$(cat "/proc/$1/wchan")" = wait_for_partner ]
}

# open_at_end SESSION...: Start a session of programs that open FIFOs by paths of many lengths, and
# wait until all wait; set paths.
open_at_end() {
	local length pids=() gates=()
	paths=()
	for length in 135 136 279 280 287 288 292 295 296 304 4095; do
		paths+=("$(long_path "$length")")
		# shellcheck disable=SC2016 # of another shell
		hold "$BASH" -c 'echo ready; read -r _; : <"$1"' _ "${paths[-1]}"
		pids+=("$HELD")
		gates+=("$GO")
	done
	"$@" --decode -s openat --pid "$(IFS=,; echo "${pids[*]}")"
	for length in "${!pids[@]}"; do
		echo >"${gates[length]}"
		eventually waits_in_open "${pids[length]}"
	done
}

# Memory of an open call is kept beside it up to 304 bytes (OPEN_CALL_MEMORY), which paths of 288 to
# 295 bytes have.
@test "tfs-strings: a call that is open at the end has its path, however long that is" {
	local paths
	need_bpf
	mkfifo fifo
	open_at_end watch trace_syscalls
	watch_stop
	open_at_end start_session trace_syscalls --output dat
	stop_session
	tfs-report -D "$TRACE" >dat
	rm -r "${TRACE%/*}"
	printf '%s\n' "${paths[@]}" | sort >paths
	for file in got dat; do
		sed -nE 's/.* openat\(AT_FDCWD, "([^"]*)", O_RDONLY <unfinished \.\.\.>$/\1/p' "$file" | sort | diff paths - ||
			{ cut -c 1-200 "$file"; return 1; }
	done
}

# The place of a task's open call is that of its pid modulo 8,192 (OPEN_CALLS).
@test "tfs-strings: two tasks that share the place of an open call have the lines of two that do not" {
	local file
	need_bpf
	for distance in 1 0; do # they share it with 0
		hold "$PROG/neighbours" $distance
		watch_whole trace_syscalls --decode -s openat,newfstatat,execve,read,waitid,wait4 --pid "$HELD"
		sed -E '/^#/d; s/^[^[]*\[[^:]*: //; s/ <[0-9.]+>$/ <>/; s/0x[0-9a-f]+/X/g; s/[1-9][0-9]{2,}/N/g' got |
			sort >lines.$distance
	done
	diff lines.1 lines.0
	[ "$(sed -nE 's/^ *[^[]*-([0-9]+) +\[.* openat\(AT_FDCWD, "\/of\/[a-z]*", .*/\1/p' got |
		awk '{ print $1 % 8192 }' | uniq | wc -l)" = 1 ]
	for line in 'openat(AT_FDCWD, "/of/child", O_RDONLY) = -1 ENOENT <>' \
		'execve("/proc/self/exe", \["neighbours", "[0-9]*", "[0-9]*"\], X) = 0 <>' \
		'read([0-9]*, X, 1) = ? ERESTARTSYS <>' 'openat(AT_FDCWD, "/of/child/xx*", .* <>'; do
		grep -q "^$line$" lines.0 || { cat lines.0; return 1; }
	done
}

@test "tfs-strings: what programs do not record counts as lost while the session records, and at no other time" {
	need_bpf
	outputs 0 'before the session records: none
while it records: each
after its end: none' "$PROG/losses"
}

# opens_long ROUNDS: Hold a program that opens a file by paths of all lengths from 3,700 bytes on, so
# many times. Mode of each open is the length of its path.
opens_long() {
	need_bpf
	need_tool python3
	hold python3 -c '
import os, sys
name = os.getcwd() + "/there"
print("ready", flush=True)
sys.stdin.readline()
for i in range(int(sys.argv[1])):
	for n in range(3700, 4096):
		os.close(os.open("/" * (n - len(name)) + name, os.O_RDONLY | os.O_CREAT, n))
' "$1"
}

# lengths FILE: Print the length of the path and the mode of each open that has its path.
lengths() {
	sed -nE 's/.* openat\(AT_FDCWD, "(\/[^"]*)", O_RDONLY\|O_CREAT\|O_CLOEXEC, (0[0-7]+)\) = [0-9]+( <[0-9.]*>)?$/\1 \2/p' "$1" |
		while read -r path mode; do
			echo ${#path} $((mode))
		done
}

# A record of more than 4,000 bytes is cut into several.
@test "tfs-strings: paths of all lengths are whole, live and in a trace.dat" {
	opens_long 1
	watch_whole trace_syscalls --decode -s openat --pid "$HELD" --buffer 8192
	opens_long 1
	session_whole trace_syscalls --decode -s openat --pid "$HELD" --buffer 8192 --output dat
	tfs-report -D "$TRACE" >dat
	rm -r "${TRACE%/*}"
	for file in got dat; do
		lengths "$file" | diff -q <(for ((n = 3700; n < 4096; n++)); do echo "$n $n"; done) -
		run -1 grep '^# lost' "$file"
	done
}

@test "tfs-strings: whatever a ring loses, no call has the memory of another, and each is printed or counted" {
	local made=$((20 * 396)) lost
	opens_long 20
	watch_whole trace_syscalls --decode -s openat --pid "$HELD" --buffer 64
	opens_long 20
	session_whole trace_syscalls --decode -s openat --pid "$HELD" --buffer 64 --output dat
	tfs-report -D "$TRACE" >dat
	rm -r "${TRACE%/*}"
	for file in got dat; do
		lengths "$file" >two
		[ -s two ]
		# shellcheck disable=SC2016 # of awk
		run -0 awk '$1 != $2' two
		[ -z "$output" ] || { echo "$output"; return 1; }
		lost=$(sed -En '$s/^# lost ([0-9]+) events.*/\1/p' "$file")
		echo "$file: $(wc -l <two) + $lost"
		[ "$lost" -gt 0 ]
		# a call whose return is lost is unfinished
		[ "$(($(grep -c ' openat(.* = ' "$file") + lost))" = "$made" ]
	done
}

# A reader that takes nothing: the stream gives it up, and counts what it holds and what the rings hold.
@test "tfs-strings: a call is counted once where its reader is given up, whatever it has in its memory" {
	local printed
	opens_long 20
	start_session trace_syscalls --decode -s openat --pid "$HELD" --output fifo
	exec 8<"$TRACE"
	release
	session_ends
	cat <&8 >got
	exec 8<&-
	printed=$(grep -c ' openat(.* = ' got)
	tail -n 1 got
	[ "$((printed + $(sed -En '$s/^# lost ([0-9]+) events.*/\1/p' got)))" = $((20 * 396)) ]
}

# kept: Print how many KiB of memory the stream has of its own, beside the rings that it maps.
kept() {
	sed -n 's/^RssAnon:[ \t]*\([0-9]*\) kB$/\1/p' "/proc/$(children "$(children "$SESSION")")/status"
}

little_kept() {
	[ "$(kept)" -lt 4096 ]
}

# burst N MOST: Let a program call N times while a reader takes a line per read. Each call is delivered
# or counted, and the memory of the burst is given back before the session ends. The test passes if one
# of five bursts loses at most MOST calls, because other programs may keep the reader from its CPU.
burst() {
	local n=$1 lost
	for _ in {1..5}; do
		calls 1
		keep=$CALLS
		calls "$n"
		start_session trace_syscalls -s getppid --decode --pid "$keep,$CALLS"
		read_by "$PROG/paced" 0 >got
		release "$CALLS"
		eventually little_kept
		kill "$keep"
		session_ends
		finishes "$READER" 0
		lost=$(sed -En '$s/^# lost ([0-9]+) events.*/\1/p' got)
		echo "of $n calls, ${lost:=0} lost"
		[ "$(($(grep -x '[0-9]*' got) + lost))" = "$n" ]
		[ "$lost" -gt "$2" ] || break
	done
	[ "$lost" -le "$2" ]
}

@test "manager: a reader of a line per read gets each call of a burst that fits into the memory for it" {
	need_bpf
	burst "$(so_many 100000)" 0
}

# bats test_tags=long
@test "manager: a reader of a line per read gets most calls of a burst that does not fit" {
	need_bpf
	burst 300000 0
	burst 1000000 333333
}

# writers WORD...: Start a session of two programs on two CPUs, each of which calls 60,000 times, let
# them call at once, and wait for the end of the session.
writers() {
	local cpu pids=()
	for cpu in 0 1; do
		hold taskset -c $cpu "$PROG/calls" "$(so_many 60000)"
		pids+=("$HELD" "$GO")
	done
	"$@" --decode -s getppid --pid "${pids[0]},${pids[2]}"
	echo >"${pids[1]}"
	echo >"${pids[3]}"
}

# add_up PRINTED FILE: Fail unless the printed and the lost calls are all; set lost.
add_up() {
	lost=$(sed -nE '$s/^(# lost |\{"lost":)([0-9]+)[ ,].*/\2/p' "$2")
	echo "$1 printed, ${lost:=0} lost"
	[ "$(($1 + lost))" = $((2 * $(so_many 60000))) ]
}

need_two_cpus() {
	need_bpf
	need_tool taskset
	taskset -c 0,1 taskset -c 1 true 2>/dev/null || skip "needs CPUs 0 and 1"
}

@test "tfs-strings: of two busy programs on two CPUs no call is lost in the buffer that a session has" {
	local lost
	need_two_cpus
	for _ in {1..5}; do # others may keep the stream from its CPU
		writers watch trace_syscalls
		watch_end
		add_up "$(lines ' getppid() = ')" got
		[ "$lost" != 0 ] || break
	done
	[ "$lost" = 0 ]
}

@test "tfs-strings: of two busy programs each call is delivered or lost, in each view" {
	local lost sum=0
	need_two_cpus
	writers watch trace_syscalls --buffer 64
	watch_end
	add_up "$(lines ' getppid() = ')" got
	sum=$((sum + lost))
	writers watch trace_syscalls --buffer 64 --json
	watch_end
	add_up "$(lines '"event":"sys_exit_getppid"')" got
	sum=$((sum + lost))
	tfs-run trace_syscalls -s getppid --decode --buffer 64 --summary --instance "$MARK" -- \
		"$PROG/calls" "$(so_many 60000)" 1 2 </dev/null >got 3>&- 4>&-
	add_up "$(awk '$NF == "getppid" { print $1 }' got)" got
	sum=$((sum + lost))
	writers start_session trace_syscalls --buffer 64 --output dat
	session_ends
	tfs-report -D "$TRACE" >got
	rm -r "${TRACE%/*}"
	add_up "$(lines ' getppid() = ')" got
	[ $((sum + lost)) -gt 0 ]
}

# ---- all processes of a session killed ---------------------------------------------------

# below PID: Print the process and all below it, but not the program `acts` if SPARED is set.
below() {
	local pid
	for pid in "$1" $(processes_below "$1" 0); do
		pid=${pid%:*}
		[ -n "$SPARED" ] && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = acts ] || echo "$pid"
	done
}

# kill_all PID: Kill the process and all below it, so that none sees another die. A process that has
# become acts since it was stopped goes on.
kill_all() {
	local pids=() now stopped=()
	mapfile -t now < <(below "$1")
	until [ "${pids[*]}" = "${now[*]}" ]; do
		pids=("${now[@]}")
		kill -STOP "${pids[@]}" 2>/dev/null || :
		stopped+=("${pids[@]}")
		mapfile -t now < <(below "$1")
	done
	kill -KILL "${pids[@]}" 2>/dev/null || :
	kill -CONT "${stopped[@]}" 2>/dev/null || :
	wait "$1" 2>/dev/null || :
	KILLED+=("${pids[@]}")
}

# swept: Run a session, which removes what those before left; is nothing left then?
swept() {
	local pid
	"$MANAGER" --run trace_event --args \
		"--instance ${MARK}next --pid $$ --time 1 -e sched_process_exit" >/dev/null || return
	nothing_left || return
	! grep -F "tfs_${MARK//-/_m}" "$TRACEFS/dynamic_events" || return
	for pid in "${KILLED[@]}"; do
		gone "$pid" || { ps -p "$pid"; return 1; }
	done
	KILLED=()
}

# none_new: Do none of the BPF objects of all sessions live that were made since the beginning?
none_new() {
	"$PROG/bpfobjects" all tfs_ | grep -vxFf objects.before >new || :
	! "$PROG/bpfobjects" still <new
}

# ROUNDS=100 t/run t/calls/rings.bats; FAULT_SEED repeats the moments.
# bats test_tags=alone,long
@test "tfs-strings: if everything of a session is killed at any moment, nothing is left after the next session" {
	local round KILLED=() SPARED ACT='' hooks hook seed=${FAULT_SEED:-$RANDOM}
	need_bpf
	echo "FAULT_SEED=$seed"
	RANDOM=$seed
	hooks=('trace_open' 'trace_syscalls --decode' 'trace_syscalls --decode --output dat --names' 'trace_exec' 'trace_tcp'
		'trace_process' 'trace_why' "trace_uprobe --binary $PROG/acts --symbol main" 'trace_open --cgroup /')
	"$PROG/bpfobjects" all tfs_ >objects.before
	sort "$TRACEFS/set_event" >events.before
	for ((round = 0; round < ${ROUNDS:-20}; round++)); do
		SPARED=
		((RANDOM % 3)) || SPARED=yes
		read -ra hook <<<"${hooks[round % ${#hooks[@]}]}"
		if ((RANDOM % 2)); then
			act opens 200000 0 "$PWD/there"
			release
			background "$MANAGER" --run "${hook[0]}" --args "--instance $MARK --pid $ACT ${hook[*]:1}" >out 2>err
		else
			background tfs-run "${hook[0]}" --instance "$MARK" "${hook[@]:1}" -- \
				"$PROG/acts" opens 200000 0 "$PWD/there" </dev/null >out 2>err
		fi
		read -rt "0.$(printf %03d $((RANDOM % 400)))" _ <>"$NEVER" || :
		kill_all "$PID"
		[ -n "$SPARED" ] || [ -z "$ACT" ] || kill -KILL "$ACT" 2>/dev/null || :
		eventually swept || { echo "round $round: ${hook[*]}"; return 1; }
	done
	eventually none_new || { cat new; return 1; }
	sort "$TRACEFS/set_event" | diff events.before -
	[ -z "$(find /sys/fs/bpf -path "*$MARK*")" ]
}

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
	for length in 207 208 215 216 220 223 224 231 232 4095; do
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

# Memory of an open call is kept beside it up to 232 bytes (OPEN_CALL_MEMORY), which paths of 216 to
# 223 bytes have.
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

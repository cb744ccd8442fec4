#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2153 # each test is a subshell; helper.bash
# manager: many sessions, many pids, many threads, and the cost of waiting.
# In a guest the numbers are a tenth of those in the names.
#
# SCALE_BURST=2000000 sets the length of the burst that a slow reader gets; the reader
# then needs 100 seconds.
# parts: 1

load ../helper

report() {
	echo "# $*" >&3
}

now_ms() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

# ---- many sessions --------------------------------------------------------------

# Sessions with an even number follow a second task, which does nothing: they end by a
# signal, and the others end with their task.
one_session() {
	local i=$1 second=
	((i % 2)) || second=$KEEP
	background "$MANAGER" --run trace_syscalls --args "--instance $MARK.$i --output fifo \
		--syscall getppid --buffer 512 --pid ${TASK[i]} $second" >"out.$i" 2>"err.$i"
	MANAGERS[i]=$PID
}

all_began() {
	local i
	for ((i = 0; i < SESSIONS; i++)); do
		[ -s "out.$i" ] || [ -s "err.$i" ] || return 1
	done
}

# bats test_tags=long
@test "manager: each of 100 sessions, begun and ended in any order, has its own task's calls only" {
	need_tracefs
	seed=${SCALE_SEED:-$RANDOM}
	echo "SCALE_SEED=$seed"
	RANDOM=$seed
	SESSIONS=$(so_many 100)
	# more sessions than the default limit allows
	printf '%s\n' 'hook * *' 'sessions 100' >policy
	chmod 644 policy
	export TFS_POLICY=$PWD/policy
	TASK=() GATE=() MANAGERS=() READERS=()
	calls 1
	KEEP=$CALLS
	for ((i = 0; i < SESSIONS; i++)); do
		calls $((100 + i))
		TASK[i]=$CALLS GATE[i]=$GO
	done
	shuffled() {
		seq 0 $((SESSIONS - 1)) | awk -v seed="$RANDOM" '
			BEGIN { srand(seed) }
			{ print rand(), $0 }' | sort | sed 's/.* //'
	}
	begun=$(now_ms)
	for i in $(shuffled); do
		one_session "$i"
	done
	eventually all_began
	report "$SESSIONS sessions begun at once: $(($(now_ms) - begun)) ms"
	for ((i = 0; i < SESSIONS; i++)); do
		file_is "out.$i" "$TFS_RUNDIR/ftrace/$MARK.$i/trace" || { cat "err.$i"; return 1; }
		background cat "$(cat "out.$i")" >"got.$i"
		READERS[i]=$PID
	done
	for i in $(shuffled); do
		echo >"${GATE[i]}"
	done
	for ((i = 0; i < SESSIONS; i++)); do
		wait "${TASK[i]}"
	done
	begun=$(now_ms)
	for i in $(shuffled); do
		((i % 2)) || kill -INT "${MANAGERS[i]}"
	done
	for ((i = 0; i < SESSIONS; i++)); do
		finishes "${MANAGERS[i]}" 0
	done
	report "$SESSIONS sessions ended: $(($(now_ms) - begun)) ms"
	nothing_left
	for ((i = 0; i < SESSIONS; i++)); do
		wait "${READERS[i]}"
		[ ! -s "err.$i" ]
		[ "$(grep -c 'sys_getppid' "got.$i")" = $((100 + i)) ]
		[ "$(wc -l <"got.$i")" = $((100 + i)) ]
		[ "$(pids_in "got.$i")" = "${TASK[i]}" ]
	done
}

# ---- many tasks ------------------------------------------------------------------

# crowd N: Start N tasks; their pids are in the file crowd, and they end when a line is
# written to the FIFO gate.
crowd() {
	local kb
	[ "$(cat /proc/sys/kernel/pid_max)" -gt $(($1 + 5000)) ] ||
		skip "needs /proc/sys/kernel/pid_max above $(($1 + 5000))"
	kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
	[ "$kb" -gt $(($1 * 400)) ] || skip "needs $(($1 * 400)) KB of free memory"
	mkfifo gate
	background "$PROG/crowd" "$1" <>gate >crowd
	CROWD=$PID
	# a slow machine makes a hundred in a second
	DEADLINE=$((DEADLINE + $1 / 100)) eventually grep -q ' ' crowd
	[ "$(wc -w <crowd)" = "$1" ]
}

# The calls grow with the tasks of the machine.
# bats test_tags=alone
@test "manager: 250 pids more in one --args take at most 25 system calls each until the path, and no wait runs out" {
	need_tracefs
	count_calls
	local n steps=()
	for n in 250 500; do
		crowd $n
		start_session trace_syscalls --syscall getppid --pid "$(cat crowd)"
		echo >gate
		finishes "$CROWD" 0
		session_ends
		steps+=("$(calls_to_path)")
		rm gate
	done
	echo "${steps[*]}"
	[ "${steps[0]}" -lt "${steps[1]}" ]
	[ $(((steps[1] - steps[0]) / 250)) -le 25 ]
}

# bats test_tags=long
@test "manager: 10,000 pids in one --args are recorded, and all are followed to the last" {
	need_tracefs
	many=$(so_many 10000)
	crowd "$many"
	begun=$(now_ms)
	start_session trace_syscalls --syscall getppid --pid "$(cat crowd)"
	report "$many pids: path after $(($(now_ms) - begun)) ms"
	tfs-pidfilter -i "tfs.$MARK" list >followed
	tr ' ' '\n' <crowd | sort -n | cmp - followed
	begun=$(now_ms)
	echo >gate
	finishes "$CROWD" 0
	session_ends
	report "$many pids: ended $(($(now_ms) - begun)) ms after they were told to go"
}

# bats test_tags=long
@test "manager: records each call of 1,000 threads, named by pids-of -t or by their leader" {
	need_tracefs
	many=$(so_many 1000)
	for how in threads leader; do
		calls -e 10 "$many"
		pids-of -t "$CALLS" >threads
		file_has "$many" threads
		pids=$CALLS
		[ "$how" = leader ] || pids=$(paste -sd ' ' threads)
		start_session trace_syscalls --syscall getppid --output fifo --buffer 4096 \
			--pid "$pids"
		background cat "$TRACE" >got
		reader=$PID
		release
		session_ends
		finishes "$reader" 0
		[ "$(grep -c 'sys_getppid' got)" = $((10 * many)) ]
		[ "$(wc -l <got)" = $((10 * many)) ]
		pids_in got | cmp - threads
	done
}

@test "manager: a session of 20 tasks that end one by one ends with the last, and not before" {
	need_tracefs
	crowd 20
	start_session trace_syscalls --syscall getppid --pid "$(cat crowd)"
	left=20
	for pid in $(tr ' ' '\n' <crowd | shuf); do
		kill -KILL "$pid"
		left=$((left - 1))
		[ "$left" -gt 0 ] || break
		fewer() { [ "$(tfs-pidfilter -i "tfs.$MARK" list | wc -l)" = "$left" ]; }
		eventually fewer
		kill -0 "$SESSION"
	done
	session_ends
}

# ---- waiting -------------------------------------------------------------------------

# switches PID...: Print how often each was switched out, and whether it sleeps.
switches() {
	local pid
	for pid; do
		awk '/^(State|(non)?voluntary_ctxt_switches):/ { print $2 }' "/proc/$pid/status"
	done
}

sleeps() {
	! switches "$@" | grep -Eq '^[A-RT-Z]' || return 1
	[ "$(switches "$@")" = "$(switches "$@")" ]
}

resident() {
	awk '/^VmRSS:/ { print $2, $3 }' "/proc/$1/status"
}

# still PID...: Succeed if none of these processes wakes up while others make 100,000 calls.
still() {
	local before after
	sleeps "$@" || return
	before=$(switches "$@")
	calls "$(so_many 100000)"
	release
	wait "$CALLS"
	after=$(switches "$@")
	[ "$before" = "$after" ] || { diff <(echo "$before") <(echo "$after"); return 1; }
}

# waits_still WHEN: Fail if a process of the session wakes up for events of others. At first it
# may still do what has to be done before it waits.
waits_still() {
	eventually still "$SESSION" "$JANITOR" "$STREAM"
	report "$1: resident: manager $(resident "$SESSION"), janitor $(resident "$JANITOR")," \
		"stream $(resident "$STREAM")"
}

@test "manager: a waiting session does not wake up for events of others" {
	calls 1
	start_session trace_syscalls --pid "$CALLS"
	JANITOR=$(children "$SESSION")
	STREAM=$(children "$JANITOR")
	waits_still 'no reader yet'
	exec 9<"$TRACE"
	streams() { [[ $(tr '\0' ' ' <"/proc/$STREAM/cmdline") == tfs-catpipe* ]]; }
	eventually streams
	waits_still 'with a reader'
	stop_session
	exec 9<&-
}

# ---- slow readers ------------------------------------------------------------------

# bats test_tags=long
@test "manager: delivered and lost events add up for a burst and a reader of 20,000 lines a second" {
	need_tracefs
	burst=$(so_many "${SCALE_BURST:-100000}")
	for buffer in 256 65536; do
		# the thread exists before, so its birth is not an event of the trace
		calls -e "$burst"
		start_session trace_syscalls --syscall getppid --buffer $buffer --pid "$CALLS"
		read_by "$PROG/paced" 20000 >got
		release
		wait "$SESSION" # the session lasts as long as the reader reads
		watch_end
		delivered=$(tail -n 2 got | head -n 1)
		lost=$(tail -n 1 got | sed -En 's/^# lost ([0-9]+) events: .*/\1/p')
		report "delivered $delivered, lost ${lost:-0}: $(tail -n 1 got)"
		[ $((delivered + ${lost:-0})) = "$burst" ]
		[ "$delivered" -gt 0 ]
	done
	# everything in the large buffer is delivered, however long that takes
	[ "$delivered" = "$burst" ]
}

# bats test_tags=long
@test "manager: --output lines: bursts of more than the ring buffer holds reach a reader of one line per read" {
	need_tracefs
	burst=$(so_many 300000)
	for decode in '' --decode; do
		calls -e "$burst"
		# shellcheck disable=SC2086 # a word, or none
		start_session trace_syscalls --syscall getppid $decode --pid "$CALLS"
		read_by "$PROG/paced" 0 >got
		release
		wait "$SESSION"
		watch_end
		delivered=$(tail -n 2 got | head -n 1)
		lost=$(tail -n 1 got | sed -En 's/^# lost ([0-9]+) events: .*/\1/p')
		report "${decode:-plain}: delivered $delivered, lost ${lost:-0}"
		# a decoded call is two events
		[ -z "$decode" ] || delivered=$((2 * delivered)) burst=$((2 * burst))
		[ $((delivered + ${lost:-0})) = "$burst" ]
		[ "$delivered" -ge $((burst * 2 / 3)) ]
	done
}

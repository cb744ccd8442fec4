#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2089,SC2090,SC2153 # each test is a process of its own; helper.bash
# tfs-flight: saves the end of a trace when something happens; compared with the kernel's text

load ../helper

undo() {
	! [ -d small ] || umount small 2>/dev/null || :
}

# small_instance: Make an instance with a small buffer, which records what `calls` does.
small_instance() {
	need_tracefs events/syscalls
	new_instance
	echo 64 >"$DIR/buffer_size_kb"
	echo $$ >"$DIR/set_event_pid" # without a pid every task would be recorded
	echo 1 >"$DIR/events/syscalls/sys_enter_getppid/enable"
}

# flight WORD...: Start tfs-flight, and wait until it has begun; set $FLIGHT to its pid.
flight() {
	[ -d d ] || mkdir d
	[ -p gate ] || mkfifo gate
	exec 8<>gate
	background tfs-flight -i "$INSTANCE" -d 8 "$@" d >out 2>err
	FLIGHT=$PID
	read -rt "$DEADLINE" _ <&8 || { cat err; return 1; }
}

# called N...: Make so many calls, and wait for their end.
called() {
	calls "$@"
	echo "$CALLS" >>"$DIR/set_event_pid"
	release
	finishes "$CALLS" 0
}

# A buffer of 16 MB has room for so many numbered calls, on whatever CPU they are made.
ROOM=300000

# numbers N [THREADS]: Start a program whose threads each make N numbered calls in one second, or
# in a guest in SLOW seconds, and later if the machine is busy. All of them fit into ROOM, so that
# none is lost however slow the dumps are.
numbers() {
	[ $(($1 * ${2:-2})) -le "$ROOM" ] || [ "${3-}" = lose ]
	numbers_at $(($1 / SLOW)) "${2:-2}" "$SLOW"
}

# numbers_on: Start a program whose two threads make numbered calls until numbers_end. Those of
# DEADLINE fit into ROOM, and a test that waits longer for a dump has failed.
numbers_on() {
	numbers_at $((ROOM / 2 / DEADLINE)) 2 $((20 * DEADLINE))
}

# numbers_at RATE THREADS SECONDS: Start a program whose threads each make RATE numbered calls a
# second, for SECONDS or until numbers_end. Set $NUMBERS to its pid.
numbers_at() {
	background "$PROG/numbers" "$3" "$1" "$2" 999 <>"$BATS_TEST_TMPDIR/start" >made
	NUMBERS=$PID
	echo "$NUMBERS" >>"$DIR/set_event_pid"
	echo >"$BATS_TEST_TMPDIR/start"
}

# numbers_end: Stop that program, if it still runs, and set $MADE to the number of its calls.
numbers_end() {
	echo 1<>"$BATS_TEST_TMPDIR/start" # does not wait for a reader: there is none if it has ended
	finishes "$NUMBERS" 0
	MADE=$(cat made)
}

# numbers_instance KB: Make an instance that records numbered calls into so many kilobytes.
numbers_instance() {
	small_instance
	mkfifo "$BATS_TEST_TMPDIR/start"
	echo "$1" >"$DIR/buffer_size_kb"
	echo 1 >"$DIR/options/event-fork"
	echo 0 >"$DIR/events/syscalls/enable"
	echo 1 >"$DIR/events/syscalls/sys_enter_getpriority/enable"
}

# dumps_meanwhile: Make three dumps, and more until the numbered calls have ended.
dumps_meanwhile() {
	local n made=0
	n=$(wc -l <out)
	while [ "$made" -lt 3 ] || kill -0 "$NUMBERS" 2>/dev/null; do
		dumped $((++n))
		made=$((made + 1))
	done
	numbers_end
}

# all_dumps [-r]: Print the text of all dumps, in the order in which they were made.
all_dumps() {
	local file
	while read -r file; do
		if [ "${1-}" = -r ]; then tfs-report "$file"; else cat "$file"; fi
	done <out
}

# count_numbers: Print how many numbered calls the text of stdin has. Fail if a thread has a
# number twice, or a number after a higher one. With MISSING=0, fail if a number is missing.
count_numbers() {
	sed -En 's/^.{16}-([0-9]+) .*sys_getpriority\(which: 2, who: (0x)?([0-9a-f]+)\)$/\1 \3/p' |
		awk -v missing="${MISSING-}" '
		function hex(s,  i, v) {
			for (i = 1; i <= length(s); i++)
				v = 16 * v + index("0123456789abcdef", substr(s, i, 1)) - 1
			return v
		}
		{
			n = hex($2)
			if (n < next_of[$1] || (missing == 0 && n != next_of[$1])) {
				print "thread " $1 ": " n " instead of " next_of[$1] + 0 >"/dev/stderr"
				wrong = 1
			}
			next_of[$1] = n + 1
		}
		END { print NR; exit wrong }'
}

printed() {
	file_has "$1" out
}

# dumped N: Ask for a dump, and wait until the Nth dump exists.
dumped() {
	kill -USR1 "$FLIGHT"
	eventually printed "$1"
	[ ! -s err ] || { cat err; return 1; }
}

stops() {
	ends_by "$FLIGHT" TERM 0
	[ ! -s err ] || { cat err; return 1; }
	[ ! -e "$TRACEFS/instances/$INSTANCE+trigger" ]
}

# clock_us: Print the time of the trace clock in microseconds.
clock_us() {
	sed -n 's/^now ts: *\([0-9]*\)\.\([0-9]*\)$/\1\2/p' "$DIR/per_cpu/cpu0/stats"
}

# grow_old MS: Wait until all events that were recorded until now are older than that.
grow_old() {
	local until=$(($(clock_us) + 1000 * $1 + 1000))
	is_later() { [ "$(clock_us)" -gt "$until" ]; }
	eventually is_later
}

# newer US: Print how many events of stdin are not older than this time of the trace clock.
newer() {
	sed -En 's/^[^:]* ([0-9]+)\.([0-9]{6}): .*/\1\2/p' | awk -v from="$1" '
		$1 >= from { n++ } END { print n + 0 }'
}

# Print events as text, without the names of tasks, because tfs-flight knows more names.
plain() {
	grep -v -e '^#' -e '^CPU:' "$@" | cut -c 17- || :
}

# bats test_tags=quick
@test "tfs-flight: a dump equals the buffer, byte for byte, and dumped and dropped events add up" {
	small_instance
	flight
	called 10000
	cat "$DIR/trace" >kernel
	dumped 1
	file_is out "$PWD/d/dump.1"
	plain kernel >want
	plain d/dump.1 >got
	cmp want got
	[ "$(wc -l <got)" -gt 500 ]
	[ $(($(cat d/dropped) + $(wc -l <got))) = 10000 ]
	[ "$(tail -n 1 d/dump.1)" = "# lost $(cat d/dropped) events: $(cat d/dropped) overwritten in a full buffer, 0 not written" ]
	[ "$(stat -c %a d/dump.1)" = 600 ]
	stops
	[ "$(ls -A d)" = dump.1 ]
}

@test "tfs-flight: a dump has all events of a CPU, even if the others have none" {
	small_instance
	echo 4096 >"$DIR/buffer_size_kb"
	flight
	called 50000
	dumped 1
	[ "$(grep -c ': sys_getppid()$' d/dump.1)" = 50000 ]
	file_is d/dropped 0
	stops
}

@test "tfs-flight: one dump ends where the next begins, and numbers continue after existing files" {
	small_instance
	mkdir d
	: >d/dump.7
	: >d/.dump.0.0
	: >d/dump.18446744073709551615
	flight
	for n in 8 9 10; do
		called $((100 * n))
		dumped $((n - 7))
		[ "$(plain "d/dump.$n" | wc -l)" = $((100 * n)) ]
	done
	dumped 4
	[ ! -s d/dump.11 ]
	stops
	[ ! -e d/.dump.0.0 ]
}

@test "tfs-flight: goes on recording after a dump, and keeps the buffer size" {
	small_instance
	flight
	for n in 1 2 3; do
		called 3000
		cat "$DIR/trace" >kernel
		dumped "$n"
		plain kernel >want
		plain "d/dump.$n" | cmp want -
	done
	file_is "$DIR/tracing_on" 1
	stops
}

# bats test_tags=quick
@test "tfs-flight: records while it writes dumps: every call is in one dump, text or trace.dat" {
	numbers_instance 16384
	rate=$(so_many 100000)
	for form in '' -r; do
		flight -e -c 10000 $form
		numbers "$rate"
		dumps_meanwhile
		file_is d/dropped 0
		file_is "$DIR/tracing_on" 1
		stops
		[ "$(all_dumps $form | MISSING=0 count_numbers)" = "$MADE" ]
		rm -r d
	done
}

@test "tfs-flight: records while it writes dumps, and counts the events that a small buffer loses" {
	numbers_instance 64
	rate=$(so_many 200000)
	for form in '' -r; do
		flight -e -c 10000 $form
		echo >d/reset
		eventually grep -qx 0 d/dropped
		numbers "$rate" 2 lose
		eventually grep -q '^overrun: [1-9]' "$DIR"/per_cpu/cpu*/stats
		dumps_meanwhile
		dropped=$(cat d/dropped)
		stops
		all_dumps $form >all
		n=$(count_numbers <all)
		[ "$n" -gt 0 ] && [ "$dropped" -gt 0 ]
		[ $((n + dropped)) = "$MADE" ]
		[ "$(sed -n 's/^CPU:[0-9]* \[LOST \([0-9]*\) EVENTS\]$/\1/p' all |
			awk '{ n += $1 } END { print n + 0 }')" = "$dropped" ]
		rm -r d
	done
}

@test "tfs-flight: -p writes each call into the dump of one CPU" {
	numbers_instance 16384
	flight -ep -c 10000
	numbers_on
	for _ in 1 2 3; do
		before=$(wc -l <out)
		more() { [ "$(wc -l <out)" -gt "$before" ]; }
		# without an event there would be no file
		eventually grep -q 'entries: [1-9]' "$DIR"/per_cpu/cpu*/stats
		kill -USR1 "$FLIGHT"
		eventually more
	done
	numbers_end
	stops
	all_dumps | sed 's/.*-\([0-9]* \).*who: /\1/' >calls
	file_has "$MADE" calls
	[ "$(sort -u calls | wc -l)" = "$MADE" ]
}

@test "tfs-flight: an event of -t during a dump makes the next dump, and no call is missing" {
	numbers_instance 16384
	last=$(so_many 90000)
	flight -t syscalls:sys_enter_getpriority -c 10000 \
		-f "who == 10 || who == $((last / 3)) || who == $((last / 3 + 100)) || who == $last"
	numbers $((last + 600)) 1
	# some kernels print no 0x
	call() { printf 'who: (0x)?%x\\)$' "$1"; }
	found() { all_dumps | grep -qE "$(call "$last")"; }
	eventually found
	numbers_end
	stops
	all_dumps >all
	[ "$(MISSING=0 count_numbers <all)" -gt "$last" ]
	# a dump may have the calls of several triggers
	for who in 10 $((last / 3)) $((last / 3 + 100)); do
		[ "$(grep -cE "$(call "$who")" all)" = 1 ]
	done
}

@test "tfs-flight: with a clock that counts, no call is missing between dumps" {
	numbers_instance 16384
	rate=$(so_many 50000)
	for clock in counter x86-tsc; do
		grep -qw "$clock" "$DIR/trace_clock" || continue
		echo "$clock" >"$DIR/trace_clock"
		flight -e -c 10000
		numbers "$rate"
		dumps_meanwhile
		file_is d/dropped 0
		stops
		[ "$(all_dumps | MISSING=0 count_numbers)" = "$MADE" ]
		rm -r d
	done
}

@test "tfs-flight: the next tfs-flight continues where the last dump of -e ended" {
	numbers_instance 16384
	flight -e -c 10000
	numbers_on
	for n in 1 2 3 4; do
		eventually grep -q 'entries: [1-9]' "$DIR"/per_cpu/cpu*/stats
		stops
		cat out >>paths
		flight -e -c 10000
	done
	numbers_end
	stops
	cat out >>paths
	cp paths out
	file_has 5 out
	# a dump of the end also has what was recorded after its time
	all_dumps | sed 's/.*-\([0-9]* \).*who: /\1/' >calls
	file_has "$MADE" calls
	[ "$(sort -u calls | wc -l)" = "$MADE" ]
}

@test "tfs-flight: without memory for its buffer a dump is written while it is read" {
	need_tool prlimit
	numbers_instance 16384
	rate=$(so_many 100000)
	flight -e -c 10000
	dumped 1
	kb=$(awk '/^VmSize:/ { print $2 }' "/proc/$FLIGHT/status")
	prlimit --pid "$FLIGHT" --as=$(((kb + 1024) * 1024))
	numbers "$rate"
	dumps_meanwhile
	file_is d/dropped 0
	stops
	[ "$(all_dumps | MISSING=0 count_numbers)" = "$MADE" ]
}

@test "tfs-flight: reset forgets what was kept for the next dump" {
	numbers_instance 16384
	rate=$(so_many 100000)
	flight
	numbers "$rate"
	dumped 1
	dumped 2
	echo stop >d/state
	eventually grep -q 0 "$DIR/tracing_on"
	echo >d/reset
	eventually grep -qx 'entries: 0' "$DIR/per_cpu/cpu0/stats"
	eventually grep -qx 'entries: 0' "$DIR/per_cpu/cpu1/stats"
	eventually grep -qx 0 d/dropped
	dumped 3
	[ ! -s d/dump.3 ]
	stops
}

@test "tfs-flight: -b limits a dump to the last milliseconds, and misses no event of that time" {
	small_instance
	flight -b 1500
	called 300
	grow_old 1500
	called 200
	plain "$DIR/trace" >kernel
	before=$(clock_us)
	dumped 1
	after=$(clock_us)
	plain d/dump.1 >got
	# the end of the trace, from an event on that is as old as -b says at the moment of the dump
	tail -n "$(wc -l <got)" kernel | cmp - got
	[ "$(newer $((before - 1500000 - 1)) <got)" = "$(wc -l <got)" ]
	[ "$(newer $((after - 1500000 + 1)) <kernel)" -le "$(wc -l <got)" ]
	[ "$(wc -l <got)" -le 200 ]
	stops
}

@test "tfs-flight: -t makes a dump when the event comes, and -f only if the filter matches" {
	new_instance
	calls 10 1 3
	echo 1 >"$DIR/options/event-fork"
	echo "$CALLS" >"$DIR/set_event_pid"
	echo 1 >"$DIR/events/sched/sched_process_exit/enable"
	flight -t sched:sched_process_exit -f "pid == $CALLS"
	release
	eventually printed 1
		[ "$(plain d/dump.1 | wc -l)" = 4 ]
	[ "$(plain d/dump.1 | tail -n 1 | grep -c " pid=$CALLS ")" = 1 ]
	stops
	[ "$(ls d)" = dump.1 ]
}

@test "tfs-flight: -t ignores tasks that the instance does not trace" {
	small_instance
	called 1
	flight -t sched:sched_process_exit
	sh -c :
	dumped 1
	[ "$(ls d/dump*)" = d/dump.1 ]
	stops
}

@test "tfs-flight: -t ignores all tasks after the last traced task has ended" {
	small_instance
	echo 1 >"$DIR/options/event-fork"
	calls 1
	echo "$CALLS" >"$DIR/set_event_pid" # no other task is traced, and none is excluded
	release
	ended "$CALLS"
	forgotten() { [ -z "$(tfs-pidfilter -i "$INSTANCE" list)" ]; }
	eventually forgotten
	flight -t sched:sched_process_exit
	sh -c :
	dumped 1
	[ "$(ls d/dump*)" = d/dump.1 ]
	stops
}

@test "tfs-flight: -r makes a trace.dat that other tools read" {
	small_instance
	flight -r
	called 10000
	cat "$DIR/trace" >kernel
	dumped 1
	plain kernel >want
	tfs-report d/dump.1 >got
	plain got | cmp want -
	[ $(($(cat d/dropped) + $(wc -l <want))) = 10000 ]
	[ "$(tail -n 1 got)" = "# lost $(cat d/dropped) events: $(cat d/dropped) overwritten in a full buffer, 0 not written" ]
	called 10
	dumped 2
	[ "$(tfs-report d/dump.2 | plain | wc -l)" = 10 ]
	dumped 3
	# the number counts from the beginning
	[ "$(tfs-report d/dump.3)" = "$(tail -n 1 got)" ]
	stops
	! command -v trace-cmd >/dev/null ||
		[ "$(trace-cmd report d/dump.1 2>/dev/null | grep -c getppid)" = "$(wc -l <want)" ]
}

@test "tfs-flight: -r -b leaves out sub-buffers that are older" {
	small_instance
	n=$(($(data_size) / 4)) # about five sub-buffers
	echo $(($(data_size) / 64)) >"$DIR/buffer_size_kb"
	flight -r -b 1500
	called "$n"
	grow_old 1500
	called "$n"
	plain "$DIR/trace" >kernel
	[ "$(wc -l <kernel)" = $((2 * n)) ]
	dumped 1
	after=$(clock_us)
	tfs-report d/dump.1 | cut -c 17- >got
	tail -n "$(wc -l <got)" kernel | cmp - got
	[ "$(newer $((after - 1500000 + 1)) <kernel)" -le "$(wc -l <got)" ]
	# of the first calls, at most those of the sub-buffers where the last ones begin
	[ "$(wc -l <got)" -lt $((n * 3 / 2)) ]
	stops
}

@test "tfs-flight: -p makes a file for each CPU, with the events of that CPU only" {
	need_tool taskset
	small_instance
	echo 1 >"$DIR/options/event-fork"
	flight -p
	called 300 2 4
	cat "$DIR/trace" >kernel
	dumped "$(plain kernel | sed -n 's/.*\[\(0*[0-9]*\)\] .*/\1/p' | sort -u | wc -l)"
	plain kernel | sort >want
	file_has 600+ want
	for file in d/dump.1.cpu*; do
		plain "$file"
		n=$(printf '[%03d]' "${file##*cpu}")
		[ "$(plain "$file" | grep -vcF "$n")" = 0 ]
	done | sort | cmp want -
	stops
}

@test "tfs-flight: -p uses the next number for all files of a dump if one name exists" {
	small_instance
	echo 1 >"$DIR/options/event-fork"
	for raw in '' -r; do
		rm -rf d
		flight -p $raw
		called 300 2 4
		cat "$DIR/trace" >kernel
		cpus=$(plain kernel | sed -n 's/.*\[0*\([0-9][0-9]*\)\] .*/\1/p' | sort -un)
		last=$(tail -n 1 <<<"$cpus")
		mkdir -p "d/dump.1.cpu$last/x"
		echo mine >"d/dump.2.cpu$last"
		dumped "$(wc -l <<<"$cpus")"
		for cpu in $cpus; do
			echo "$PWD/d/dump.3.cpu$cpu"
		done | cmp - out
		for file in d/dump.3.cpu*; do
			if [ "$raw" ]; then tfs-report "$file" | cut -c 17-; else plain "$file"; fi
		done | sort >got
		plain kernel | sort | cmp - got
		rm d/dump.3.cpu*
		[ "$(cd d && ls -A)" = "$(printf '%s\n' dropped "dump.1.cpu$last" "dump.2.cpu$last" reset state)" ]
		lines_are "d/dump.2.cpu$last" 'mine'
		file_is d/dropped 0
		stops
	done
}

@test "tfs-flight: -e: makes a dump at the end" {
	small_instance
	flight -e
	called 20
	stops
	lines_are out "$PWD/d/dump.1"
	[ "$(plain d/dump.1 | wc -l)" = 20 ]
	flight -er
	called 30
	stops
	lines_are out "$PWD/d/dump.2"
	[ "$(tfs-report d/dump.2 | wc -l)" = 30 ]
}

@test "tfs-flight: -F: makes a dump at the end if a task failed, and not if it lives or succeeded" {
	small_instance
	mkfifo gate2
	# a parent that waits for its children only after the test opens the gate
	background sh -c 'sh -c "echo \$\$ >failed; exit 3" & sh -c "echo \$\$ >well" & exec cat gate2'
	parent=$PID
	zombie() { [[ $(cat "/proc/$1/stat" 2>/dev/null) == *") Z "* ]]; }
	eventually test -s well
	eventually test -s failed
	eventually zombie "$(cat failed)"
	eventually zombie "$(cat well)"
	flight -F "$(cat well),$$"
	called 10
	stops
	[ "$(cat out)" = '# no dump: no traced task has failed' ]
	# a parent that has waited knows alone
	sh -c 'echo $$ >gone'
	flight -F "$(cat well),$(cat gone)"
	called 10
	stops
	[ "$(cat out)" = '# no dump: not known how a traced task has ended, because its parent has waited for it' ]
	flight -F "$(cat well)" -F "$(cat failed)"
	called 10
	stops
	lines_are out "$PWD/d/dump.1"
	[ "$(plain d/dump.1 | wc -l)" = 30 ]
	echo >gate2
	finishes "$parent" 0
}

@test "tfs-flight: -E: writes to its reader at the end, or makes a dump if there is no reader" {
	small_instance
	mkfifo pipe
	flight() {
		[ -d d ] || mkdir d
		[ -p gate ] || mkfifo gate
		exec 8<>gate 7<>pipe
		background tfs-flight -i "$INSTANCE" -d 8 "$@" d >&7 2>err 7>&-
		FLIGHT=$PID
		read -rt "$DEADLINE" _ <&8 || { cat err; return 1; }
		[ "$READERS" = 0 ] || background cat >out <pipe 7>&-
		exec 7>&-
	}
	READERS=1 flight -E
	called 5000 # more than the pipe holds
	kept=$(cat "$DIR"/per_cpu/cpu*/stats | awk '/^entries: / { n += $2 } END { print n }')
	stops
	eventually grep -q '^# lost [1-9]' out
	file_has "$(($(grep -c '^CPU:\|^# lost' out) + kept))" out
	[ $((kept + $(sed -n 's/^# lost \([0-9]*\) .*/\1/p' out))) = 5000 ]
	[ "$(cd d && echo *)" = '*' ]
	READERS=0 flight -E
	called 20
	stops
	[ "$(plain d/dump.1 | wc -l)" = 20 ]
	READERS=0 flight -E
	stops
	[ "$(cd d && echo *)" = dump.1 ]
}

@test "tfs-flight: -E: events that a slow reader has not taken yet are not overwritten" {
	small_instance
	mkfifo pipe gate
	mkdir d
	exec 8<>gate 7<>pipe
	exec 6<pipe
	background tfs-flight -i "$INSTANCE" -E -d 8 d >&7 2>err 7>&- 6<&-
	FLIGHT=$PID
	read -rt "$DEADLINE" _ <&8
	exec 7>&-
	called 1500 # more text than the pipe holds
	file_is d/dropped 0
	kill "$FLIGHT"
	empty() {
		[ "$(cat "$DIR"/per_cpu/cpu*/stats | awk '/^entries: / { n += $2 } END { print n }')" = 0 ]
	}
	eventually empty
	before=$CALLS
	called 20000 # more than the buffer holds
	background cat >got <&6
	exec 6<&-
	all_end "$PID" "$FLIGHT"
	file_has 1500 got
	[ "$(pids_in got)" = "$before" ]
	[ ! -s err ]
}

@test "tfs-flight: -rp makes a trace.dat for each CPU" {
	small_instance
	echo 1 >"$DIR/options/event-fork"
	flight -rp
	called 300 2 4
	cat "$DIR/trace" >kernel
	dumped "$(plain kernel | sed -n 's/.*\[\(0*[0-9]*\)\] .*/\1/p' | sort -u | wc -l)"
	plain kernel | sort >want
	file_has 600+ want
	for file in d/dump.1.cpu*; do
		tfs-report "$file"
	done | cut -c 17- | sort | cmp want -
	stops
}

@test "tfs-flight: with a manager's limits it keeps the newest dumps, and a gap in the numbers costs nothing" {
	small_instance
	mkdir d
	: >d/dump.1
	: >d/dump.900000000
	export TFS_DUMPS='2 1000'
	flight
	for n in 1 2 3; do
		dumped "$n"
	done
	stops
	[ "$(cd d && echo *)" = "dump.1 dump.900000002 dump.900000003" ]
}

@test "tfs-flight: -c keeps the newest dumps, and removes no other file" {
	small_instance
	flight -c 2
	: >d/dump.10.mine
	for n in 1 2 3 4; do
		dumped "$n"
	done
	stops
	[ "$(cd d && echo *)" = "dump.10.mine dump.11 dump.12 dump.13 dump.14" ] ||
		[ "$(cd d && echo *)" = "dump.10.mine dump.3 dump.4" ]
}

@test "tfs-flight: -s keeps the newest kilobytes and counts the events that it leaves out" {
	small_instance
	flight -s 32
	called 10000
	cat "$DIR/trace" >kernel
	before=$(cat d/dropped)
	dumped 1
	[ "$(stat -c %s d/dump.1)" -le $((33 * 1024)) ]
	plain d/dump.1 >got
	plain kernel | tail -n "$(wc -l <got)" | cmp - got
	left=$(sed -n 's/^# \([0-9]*\) older events are left out, because a dump holds 32 KB$/\1/p' d/dump.1)
	[ $((left + $(wc -l <got))) = "$(plain kernel | wc -l)" ]
	[ $((before + left)) = "$(cat d/dropped)" ]
	stops
}

@test "tfs-flight: state reads start or stop, and accepts these two words only" {
	small_instance
	flight
	file_is d/state start
	echo stop >d/state
	eventually grep -q 0 "$DIR/tracing_on"
	called 10
	file_is d/state stop
	echo 'start $(reboot)' >d/state
	eventually grep -qx stop d/state
	head -c 100000 /dev/zero >d/state
	eventually grep -qx stop d/state
	file_is "$DIR/tracing_on" 0
	echo start >d/state
	eventually grep -q 1 "$DIR/tracing_on"
	called 20
	echo stop >d/state
	eventually grep -q 0 "$DIR/tracing_on"
	dumped 1
	file_is "$DIR/tracing_on" 0
	file_has 20 d/dump.1
	stops
}

@test "tfs-flight: reset clears the buffer and the number of dropped events" {
	small_instance
	flight
	called 10000
	kept=$(cat "$DIR"/per_cpu/cpu*/stats | awk '/^entries: / { n += $2 } END { print n }')
	[ "$kept" -lt 10000 ]
	[ "$(cat d/dropped)" = $((10000 - kept)) ]
	echo >d/reset
	eventually grep -qx 'entries: 0' "$DIR/per_cpu/cpu0/stats"
	eventually grep -qx 0 d/dropped
	called 5
	dumped 1
	file_has 5 d/dump.1
	[ "$(stat -c %a d/state d/dropped d/reset | sort -u)" = 600 ]
	stops
}

@test "tfs-flight: dropped is exact for every reader, each time and for several at once" {
	small_instance
	flight
	before=0
	for n in 1 2 3 4 5; do
		called 8000
		over=$(cat "$DIR"/per_cpu/cpu*/stats | awk '/^overrun:/ { n += $2 } END { print n }')
		[ "$over" -gt "$before" ]
		before=$over
		for i in 1 2 3; do
			cat d/dropped >"dropped.$i" &
			readers[i]=$!
		done
		for i in 1 2 3; do
			wait "${readers[i]}"
		done
		[ "$(cat dropped.? | sort -u)" = "$over" ]
	done
	stops
}

@test "tfs-flight: -L makes no control files, but makes dumps" {
	small_instance
	flight -L
	[ -z "$(ls -A d)" ]
	called 10
	dumped 1
	[ "$(ls -A d)" = dump.1 ]
	file_has 10 d/dump.1
	stops
}

@test "tfs-flight: -j prints JSON lines, and -H prints the comment lines before text" {
	small_instance
	flight -j
	called 10
	dumped 1
	stops
	[ "$(grep -c '^{.*getppid.*}$' d/dump.1)" = 10 ]
	file_has 10 d/dump.1
	flight -H
	called 10
	dumped 1
	stops
	[ "$(head -n 1 d/dump.2)" = '# tracer: nop' ]
	[ "$(plain d/dump.2 | wc -l)" = 10 ]
}

@test "tfs-flight: -D prints the date of each dump, as text, in JSON and in trace.dat" {
	small_instance
	for form in '' -j -r; do
		echo mono >"$DIR/trace_clock"
		# shellcheck disable=SC2086 # an option, or none
		flight -D $form
		before=$(now_us)
		called 1
		after=$(now_us)
		dumped 1
		stops
		dump=$(tail -n 1 out)
		if [ "$form" = -j ]; then
			nano=$(sed -n 's/^{"ts":[0-9.]*,"timeUnixNano":"\([0-9]*\)",.*/\1/p' "$dump")
			between "$before" "$((nano / 1000))" "$after"
			continue
		fi
		[ -z "$form" ] || { tfs-report -d "$dump" >text; dump=text; }
		file_has 2 "$dump"
		time=$(sed -n 's/.* \([0-9]*\.[0-9]*\): sys_getppid()$/\1/p' "$dump")
		between "$before" "$(date_of "$dump" "$time")" "$after"
	done
	echo counter >"$DIR/trace_clock"
	fails 111 "tfs-flight: fatal: unable to tell the date: trace_clock does not count seconds; choose another" \
		tfs-flight -D -i "$INSTANCE" d
}

@test "tfs-flight: -n prints the names of dead tasks, and no event for them" {
	need_tracefs events/task/task_rename
	small_instance
	echo 1 >"$DIR/options/event-fork"
	flight -n
	called 10 1 3
	dumped 1
	[ "$(grep -c '^ *calls-[0-9]* .*: sys_getppid()$' d/dump.1)" = 30 ]
	file_has 30 d/dump.1
	stops
	file_is "$DIR/events/task/enable" 0
}

@test "tfs-flight: reports a full disk, leaves no partial dump, and the next dump is complete" {
	need_root
	small_instance
	mkdir small
	# a small file occupies one page
	page=$(awk '/^KernelPageSize/ { print $2; exit }' /proc/self/smaps)
	mount -t tmpfs -o size=$((page > 16 ? 4 * page : 64))k none small || skip "needs mount"
	ln -s small d
	for raw in '' -r; do
		flight $raw
		called 10000
		kill -USR1 "$FLIGHT"
		eventually printed 1
		file_is out "# unable to write a dump to $PWD/small: No space left on device"
		file_is err "tfs-flight: fatal: unable to write a dump to $PWD/small: No space left on device"
		[ "$(cd small && ls -A)" = "$(printf '%s\n' dropped reset state)" ]
		file_is d/dropped 10000 || [ "$raw" = -r ]
		called 10
		kill -USR1 "$FLIGHT"
		eventually printed 2
		[ "$(tail -n 1 out)" = "$PWD/small/dump.1" ] || [ "$raw" = -r ]
		ends_by "$FLIGHT" TERM 0
		rm -f d/dump*
	done
	# the dump that was asked for at the end is the result
	flight -e
	called 10000
	ends_by "$FLIGHT" TERM 111
	file_is err "tfs-flight: fatal: unable to write a dump to $PWD/small: No space left on device"
	umount small
}

@test "tfs-flight: does not wait for a reader of the paths, and a late reader gets all of them" {
	small_instance
	mkfifo pipe
	exec 7<>pipe
	mkdir d
	[ -p gate ] || mkfifo gate
	exec 8<>gate
	background tfs-flight -i "$INSTANCE" -l -d 8 -c 5 d >&7 2>err
	FLIGHT=$PID
	read -rt "$DEADLINE" _ <&8
	exec 7>&-
	for n in 1 2 3; do
		kill -USR1 "$FLIGHT"
		eventually [ -e "d/dump.$n" ]
	done
	background cat <pipe >got
	ends_by "$FLIGHT" TERM 0
	finishes "$PID" 0
	[ "$(cat got)" = "$(printf "$PWD/d/dump.%s\n" 1 2 3)" ]
}

@test "tfs-flight: refuses a directory that another tfs-flight uses, and leaves its files" {
	small_instance
	flight
	fails 111 'tfs-flight: fatal: another tfs-flight dumps into d' tfs-flight -i "$INSTANCE" d
	fails 111 'tfs-flight: fatal: another tfs-flight dumps into d' \
		tfs-flight -L -i "$INSTANCE" d
	file_is d/state start
	called 10
	dumped 1
	file_is d/dropped 0
	stops
	[ "$(ls d)" = dump.1 ]
}

@test "tfs-flight: keeps existing files if it fails to start" {
	small_instance
	mkdir d
	echo mine | tee d/state d/reset >d/dropped
	echo counter >"$DIR/trace_clock"
	run -111 tfs-flight -i "$INSTANCE" -b 10 d
	exits 100 tfs-flight -i "$INSTANCE" -l -t sched:sched_switch d
	[[ $(cat err) == 'tfs-flight: fatal: -l needs a FIFO or pipe as standard output'* ]]
	[ ! -e "$TRACEFS/instances/$INSTANCE+trigger" ]
	exactly d/state $'mine\n'
	exactly d/reset $'mine\n'
	exactly d/dropped $'mine\n'
}

@test "tfs-flight: reports bad input on one line, and makes nothing" {
	small_instance
	mkdir d
	usage=$(synopsis tfs-flight)
	for words in "-b 0|--last: '0' is not from 1 to 2147483647 milliseconds; give a time such as 500ms, 5s, 2m or 1h" "-b 1x|--last: '1x' is not a time such as 500 (milliseconds), 500ms, 5s, 2m or 1h" \
		"-c 0|--dumps: '0' is not a number from 1 to 100000" "-s x|--size: 'x' is not a size such as 500 (kilobytes), 64M or 1G" \
		"-d 1|--ready: '1' is not a number from 3 to 2147483647" "-t fork|not SYSTEM:EVENT: 'fork'" \
		"-t a:../b|not SYSTEM:EVENT: 'a:../b'" "-f x|-f needs -t" \
		"-F 1,x|--dump-fail: '1,x' is not a list of pids" "-rj|-j and -H are for text, and -r makes none; leave one out" "a b|unexpected operand 'b'"; do
		status=0
		# shellcheck disable=SC2086 # words
		tfs-flight -i "$INSTANCE" ${words%%|*} >out 2>err || status=$?
		[ "$status" = 100 ]
		[[ $(cat err) == "tfs-flight: fatal: ${words#*|}"* ]] || { cat err; return 1; }
		file_has 1 err
		[ ! -s out ]
	done
	fails 111 "tfs-flight: fatal: unable to open none: No such file or directory" \
		tfs-flight -i "$INSTANCE" none
	fails 111 "tfs-flight: fatal: unable to write '1' to events/sched/nope/enable: No such file or directory" \
		tfs-flight -i "$INSTANCE" -t sched:nope d
	exits 111 tfs-flight -i "$INSTANCE" -t sched:sched_switch -f 'nope == 2' d
	[ "$(head -n 1 err)" = "tfs-flight: fatal: unable to write 'nope == 2' to events/sched/sched_switch/filter, the kernel says: Field not found: Invalid argument" ]
	[ "$(sed -n 2p err)" = '  Command: nope == 2' ]
	[ -z "$(ls -A d)" ]
	[ ! -e "$TRACEFS/instances/$INSTANCE+trigger" ]
	echo counter >"$DIR/trace_clock"
	fails 111 "tfs-flight: fatal: -b is not possible: this trace_clock does not count time; choose another" \
		tfs-flight -i "$INSTANCE" -b 10 d
}

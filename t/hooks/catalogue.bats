#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034 # words as they are; each test is a process of its own
# trace_signal and others: exact counts of the hooks on tracepoints and tracers

load ../helper

# traced HOOK WORDS: Run a session of the held program calls, release it, and read the
# trace to its end into got.
traced() {
	start_session "$1" --output fifo --pid "$CALLS" "${@:2}"
	read_by cat >got
	release
	session_ends
	finishes "$READER" 0
}

# refuses HOOK STATUS LINE WORDS: Fail unless LINE is printed with STATUS, and nothing begins.
refuses() {
	fails "$2" "manager: fatal: $3" "$MANAGER" --run "$1" --args "--instance $MARK ${*:4}"
	nothing_left
}

need_functions() {
	need_tracefs set_ftrace_filter
	head -c 1 "$TRACEFS/available_filter_functions" >can.read 2>&1 ||
		skip "needs available_filter_functions, which this kernel keeps to itself"
}

need_hist() {
	need_tracefs events/sched/sched_switch/hist
}

# ---- trace_syscalls --slower ------------------------------------------------------------

@test "trace_syscalls: --slower passes the returns of calls that take at least so long, with lat" {
	need_tracefs events/syscalls
	calls 10 1 5
	traced trace_syscalls -s getppid --slower 0
	[ "$(grep -c ": sys_getppid -> 0x[0-9a-f]* lat=[0-9]*$" got)" = 50 ]
	file_has 50 got
	calls 10
	traced trace_syscalls -s sys_exit_getppid --slower 0 --returns
	[ "$(grep -c ": sys_getppid -> 0x[0-9a-f]* lat=[0-9]*$" got)" = 10 ]
	file_has 10 got
	calls 10 1 5
	traced trace_syscalls -s getppid --slower 2000s
	[ ! -s got ]
	refuses trace_syscalls 100 "--slower: '1m' is not a time such as 500 (microseconds), 500us, 10ms or 1s" \
		--pid $$ --slower 1m
}

@test "trace_syscalls: the summary of --slower has the slow calls only" {
	need_tracefs events/syscalls
	tfs-run trace_syscalls -s getppid --slower 0 --summary -- "$PROG/calls" 10 2>err >table
	[ "$(sed 1d table | awk '{ print $1, $NF }')" = "10 getppid
10 total" ] || { cat table; false; }
	run -1 tfs-run trace_syscalls -s getppid --slower 2000s --summary -- "$PROG/calls" 10
	nothing_left
}

# ---- trace_signal ---------------------------------------------------------------------

# Start a shell that gets two USR1 of its own, counts them and ends.
signals() {
	[ -p go ] || mkfifo go
	background sh -c \
		'trap : USR1; read -r _; kill -USR1 $$; kill -USR1 $$; kill -WINCH $$; exit 0' <>go
	CALLS=$PID GO=go
}

# bats test_tags=quick
@test "trace_signal: prints each signal that is sent and each that is delivered" {
	need_tracefs events/signal
	signals
	traced trace_signal
	[ "$(grep -c ": signal_generate: sig=10 .* pid=$CALLS " got)" = 2 ]
	[ "$(grep -c ": signal_deliver: sig=10 " got)" = 2 ]
	[ "$(grep -c ": signal_generate: sig=28 .* pid=$CALLS " got)" = 1 ]
}

@test "trace_signal: --signal takes names and numbers, and --only one side" {
	need_tracefs events/signal
	signals
	traced trace_signal --signal USR1 --only sent
	[ "$(grep -c ": signal_generate: sig=10 " got)" = 2 ]
	[ "$(grep -vc '^#' got)" = 2 ]
	signals
	traced trace_signal --signal 10 SIGWINCH --only sent
	[ "$(grep -vc '^#' got)" = 3 ]
	signals
	traced trace_signal -s SIGUSR1 --only delivered
	[ "$(grep -c ": signal_deliver: sig=10 " got)" = 2 ]
	[ "$(grep -vc '^#' got)" = 2 ]
}

@test "trace_signal: --to with --all finds the sender of a task's signals" {
	need_tracefs events/signal
	calls 1
	me=$BASHPID
	start_session trace_signal --output fifo --all --only sent --to "$CALLS"
	read_by cat >got
	kill -CONT "$CALLS"
	kill -WINCH "$CALLS"
	stop_session
	finishes "$READER" 0
	[ "$(grep -c -e "-$me .*: signal_generate: sig=[12][0-9] .* pid=$CALLS " got)" = 2 ]
	[ "$(grep -vc '^#' got)" = 2 ]
}

@test "trace_signal: --to leaves out the signals of unrelated tasks, sent and delivered" {
	need_tracefs events/signal
	signals
	task=$CALLS
	mkfifo other
	background sh -c 'trap : USR1; read -r _; kill -USR1 $$; kill -USR1 $$; exit 0' <>other
	stranger=$PID
	start_session trace_signal --output fifo --all --to "$task"
	read_by cat >got
	echo >other
	finishes "$stranger" 0
	echo >go
	finishes "$task" 0
	stop_session
	finishes "$READER" 0
	[ "$(grep -c ": signal_generate: .* pid=$task " got)" = 3 ]
	[ "$(grep -c -e "-$task .*: signal_deliver: sig=10 " got)" = 2 ]
	run -1 grep -v -e "-$task " got
}

@test "trace_signal: --to takes the threads of a task, too" {
	need_tracefs events/signal
	calls 1 3
	start_session trace_signal --output fifo --all --to "$CALLS" -s WINCH
	tids=$(pids-of -t "$CALLS")
	for tid in $tids; do
		[ "$(grep -o "common_pid == $tid" "$TRACEFS/instances/tfs.$MARK/events/signal/signal_deliver/filter" | wc -l)" = 1 ]
		[ "$(grep -o "[^_]pid == $tid" "$TRACEFS/instances/tfs.$MARK/events/signal/signal_generate/filter" | wc -l)" = 1 ]
	done
	[ "$(wc -w <<<"$tids")" -ge 1 ]
	stop_session
}

@test "trace_signal: refuses an invalid signal" {
	need_tracefs events/signal
	calls 1
	refuses trace_signal 100 "no signal is called 'USR3'; kill -l prints their names" \
		--pid "$CALLS" --signal USR1 USR3
	for number in 999 0 65 010 99999999999999999999; do
		refuses trace_signal 100 "no signal has the number $number; signals have the numbers 1 to 64" \
			--pid "$CALLS" --signal "$number"
	done
	refuses trace_signal 100 "--to: 'one' is not a pid" --pid "$CALLS" --to one
}

# ---- trace_sched ----------------------------------------------------------------------

# Start two tasks that pass a byte to and fro: each is woken as often as it reads.
# bats test_tags=quick
@test "trace_sched: prints each wake-up and switch of a task, and the wait between them" {
	need_tracefs events/sched/sched_wakeup
	calls 10 1 5
	start_session trace_sched --output fifo --pid "$CALLS" --events
	read_by cat >got
	release
	session_ends
	finishes "$READER" 0
	# five children are new, and are woken for the first time
	[ "$(grep -c ": sched_wakeup_new: comm=calls pid=" got)" = 5 ]
	[ "$(grep ': sched_wakeup_new: ' got | sed 's/.* pid=\([0-9]*\) .*/\1/' | sort -u | wc -l)" = 5 ]
	calls 10 1 5
	traced trace_sched
	pids=$(grep -c "==> next_comm=calls next_pid=[0-9]* next_prio=[0-9]* lat=[0-9]*$" got)
	[ "$pids" -ge 6 ]
	# tasks that came later have only a part here, and no wait
	[ "$(grep -c ' lat=' got)" = "$pids" ]
}

# hold_waits WORD...: Start the program of that name, held; set $CALLS to its pid.
hold_waits() {
	[ -e /proc/self/schedstat ] || skip "needs /proc/PID/schedstat (CONFIG_SCHED_INFO)"
	GO=$BATS_TEST_TMPDIR/go.waits
	mkfifo "$GO"
	: >ready
	background "$PROG/waits" "$@" <>"$GO" >ready
	CALLS=$PID
	eventually is_ready
}

# beside_schedstat: Print "PID SHOWN COUNTED US COUNTED_US" for each task of the program.
beside_schedstat() {
	awk 'FNR == NR { if (NF == 3) { n[$1] = $2; ns[$1] = $3 }; next }
		match($0, / next_pid=[0-9]+/) {
			pid = substr($0, RSTART + 10, RLENGTH - 10)
			sub(/.* lat=/, "")
			shown[pid]++; us[pid] += $0
		}
		END { for (pid in n) printf "%d %d %d %d %d\n", pid, shown[pid], n[pid], us[pid], ns[pid] / 1000 }' \
		ready got
}

# An emulated CPU loses ticks: the clock of the scheduler stops then, but not the trace clock.
same_clock() {
	[ "${TFS_VARIANT-}" != vm ]
}

@test "trace_sched: tasks that yield to each other wait as often and as long as they yield" {
	need_tracefs events/sched/sched_wakeup
	local whom status=0 pid shown counted us counted_us
	"$PROG/waits" yields 1 1 <<<go >tried || status=$?
	[ "$status" != 77 ] || skip "needs SCHED_FIFO"
	for whom in pid all; do
		rm -f go.waits
		hold_waits yields 2 1000
		if [ $whom = pid ]; then
			start_session trace_sched --output fifo --pid "$CALLS"
		else
			start_session trace_sched --output fifo --all
		fi
		read_by cat >got
		release
		finishes "$CALLS" 0
		[ $whom = pid ] && session_ends || stop_session
		finishes "$READER" 0
		beside_schedstat >beside
		cat beside
		file_has 2 beside
		while read -r pid shown counted us counted_us; do
			# a new task is woken for the first time
			[ "$shown" -ge 1001 ]
			[ "$shown" = "$counted" ]
			same_clock || continue
			# each wait is cut to microseconds
			[ "$us" -le $((counted_us * 102 / 100 + shown)) ]
			[ "$us" -ge $((counted_us * 98 / 100 - 2 * shown)) ]
		done <beside
	done
}

# If a kernel hides some switches, the last line counts as many missing events.
@test "trace_sched: prints each wait that the scheduler counts, under overload" {
	need_tracefs events/sched/sched_wakeup
	local n=0 all=0 missing pid shown counted us counted_us
	hold_waits loops 4 200
	traced trace_sched
	beside_schedstat >beside
	cat beside
	grep '^#' got || :
	file_has 4 beside
	while read -r pid shown counted us counted_us; do
		[ "$shown" -ge 5 ]
		n=$((n + shown)) all=$((all + counted))
		[ "$shown" = "$counted" ] || continue
		same_clock || continue
		[ "$us" -le $((counted_us * 102 / 100)) ]
		[ "$us" -ge $((counted_us * 98 / 100)) ]
	done <beside
	missing=$(sed -n 's/^# unpaired [0-9]* events: \([0-9]*\) without an end.*/\1/p' got)
	[ "$n" -le "$all" ]
	[ "$n" -ge $((all - ${missing:-0})) ]
	[ "$n" -ge $((all * 98 / 100)) ]
}

@test "trace_sched: a complete trace ends without a comment line" {
	need_tracefs events/sched/sched_wakeup
	hold_waits loops 1 1
	traced trace_sched
	[ "$(grep -c ' lat=' got)" -ge 1 ]
	[ "$(grep -c '^#' got)" = 0 ]
}

@test "trace_sched: --slower passes waits that take at least so long" {
	need_tracefs events/sched/sched_wakeup
	calls 10 1 5
	traced trace_sched --slower 2000s
	[ "$(grep -vc '^#' got)" = 0 ]
	refuses trace_sched 100 "--slower: '5m' is not a time such as 500 (microseconds), 500us, 10ms or 1s" \
		--pid $$ --slower 5m
}

# ---- trace_block ----------------------------------------------------------------------

# Make a loop device over a file of this test; set $LOOP to its name.
loop() {
	need_tracefs events/block/block_rq_complete
	need_tool losetup
	head -c 1048576 /dev/zero >disk
	local free
	free=$(losetup -f 2>/dev/null) || free=
	if [ -z "$free" ] || ! losetup "$free" disk 2>losetup.err; then
		skip "needs a loop device (CONFIG_BLK_DEV_LOOP)"
	fi
	LOOP=${free#/dev/}
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

undo() {
	[ -z "${ZRAM-}" ] || echo "$ZRAM" >/sys/class/zram-control/hot_remove
	[ -z "${LOOP-}" ] || losetup -d "/dev/$LOOP"
}

# bats test_tags=quick
@test "trace_block: prints each request of a device, with its duration" {
	loop
	start_session trace_block --output fifo --all --device "$LOOP"
	read_by cat >got
	"$PROG/acts" blocks 8 0 "/dev/$LOOP" </dev/null >/dev/null
	stop_session
	finishes "$READER" 0
	cat got
	[ "$(grep -Ec ': block_rq_complete: [0-9]+,[0-9]+ W[A-Z]* .* [0-9]+ \+ 8 .*by=.* by_pid=[0-9]+ lat=[0-9.]+$' got)" = 8 ]
	[ "$(grep -vc '^#' got)" = 8 ]
}

@test "trace_block: prints the bios of a disk without requests, of all tasks or of one" {
	zram
	for whom in --all --pid; do
		act blocks 8 0 "/dev/zram$ZRAM"
		[ "$whom" = --all ] || whom="--pid $ACT"
		# shellcheck disable=SC2086 # two words
		start_session trace_block --output fifo $whom --device "zram$ZRAM"
		read_by cat >got
		if [ "$whom" != --all ]; then # an unrelated task
			"$PROG/acts" blocks 8 32 "/dev/zram$ZRAM" </dev/null >/dev/null
		fi
		release
		finishes "$ACT" 0
		if [ "$whom" = --all ]; then stop_session; else session_ends; fi
		finishes "$READER" 0
		cat got
		[ "$(grep -Ec ": block_bio_complete: [0-9]+,$ZRAM W[A-Z]* [0-9]+ \+ 8 \[0\] by=acts by_pid=$ACT lat=[0-9.]+\$" got)" = 8 ]
		[ "$(grep -vc '^#' got)" = 8 ]
		run -1 grep '^#' got
	done
	# the events themselves
	act blocks 8 0 "/dev/zram$ZRAM"
	start_session trace_block --output fifo --all --device "zram$ZRAM" --events
	read_by cat >got
	release
	finishes "$ACT" 0
	stop_session
	finishes "$READER" 0
	[ "$(grep -c ": block_bio_queue: [0-9]*,$ZRAM W" got)" = 8 ]
	[ "$(grep -c ": block_bio_complete: [0-9]*,$ZRAM W" got)" = 8 ]
	[ "$(grep -vc '^#' got)" = 16 ]
}

@test "trace_block: prints a request, and not its bios, also if --device names no disk" {
	loop
	zram
	act blocks 8 0 "/dev/$LOOP"
	start_session trace_block --output fifo --pid "$ACT"
	read_by cat >got
	release
	session_ends
	finishes "$READER" 0
	[ "$(grep -Ec ": block_rq_complete: .* by=acts by_pid=$ACT lat=" got)" = 8 ]
	[ "$(grep -vc '^#' got)" = 8 ]
}

@test "trace_block: prints the flush of an fsync, with its duration" {
	loop
	start_session trace_block --output fifo --all --device "$LOOP"
	read_by cat >got
	dd if=/dev/zero of="/dev/$LOOP" bs=4096 count=1 conv=fsync,notrunc 2>dd.err
	stop_session
	finishes "$READER" 0
	cat got
	[ "$(grep -Ec ': block_rq_complete: [0-9]+,[0-9]+ FF \(\) [0-9]+ \+ 0 .*by=.* by_pid=[0-9]+ lat=[0-9.]+$' got)" = 1 ]
	[ "$(grep -Ec ': block_rq_complete: [0-9]+,[0-9]+ W[A-Z]* \(\) 0 \+ 8 .* lat=[0-9.]+$' got)" = 1 ]
	# the end of the fsync itself is not a request to the device
	[ "$(grep -Ec ' W[A-Z]* \(\) [0-9]+ \+ 0 ' got)" = 0 ]
	[ "$(grep -c '^#' got)" = 0 ]
}

@test "trace_block: --pid: prints the requests of that task and its children, and no others" {
	loop
	# the traced program starts a child, which writes as well
	mkfifo gate
	background sh -c 'read -r _; "$1" blocks 8 0 "$2"; "$1" blocks 4 16 "$2" & wait $!' - \
		"$PROG/acts" "/dev/$LOOP" <>gate >acts.out
	task=$PID
	start_session trace_block --output fifo --pid "$task" --device "$LOOP"
	read_by cat >got
	"$PROG/acts" blocks 8 32 "/dev/$LOOP" </dev/null >/dev/null # an unrelated task
	printf '\n\n\n' >gate
	session_ends
	finishes "$READER" 0
	cat got
	[ "$(grep -Ec ': block_rq_complete: .* \+ 8 .*by=acts by_pid=[0-9]+ lat=[0-9.]+$' got)" = 12 ]
	[ "$(grep -vc '^#' got)" = 12 ]
	[ "$(grep -o ' by_pid=[0-9]*' got | sort -u | wc -l)" = 2 ]
	run -1 grep unpaired got
}

@test "trace_block: --events with --pid: prints issue and completion of that task's requests" {
	loop
	act blocks 8 0 "/dev/$LOOP"
	start_session trace_block --output fifo --pid "$ACT" --device "$LOOP" --events
	read_by cat >got
	"$PROG/acts" blocks 8 32 "/dev/$LOOP" </dev/null >/dev/null # an unrelated task
	release
	session_ends
	finishes "$READER" 0
	cat got
	[ "$(grep -Ec ": block_rq_issue: .* by=acts by_pid=$ACT\$" got)" = 8 ]
	[ "$(grep -Ec ": block_rq_complete: .* by_pid=$ACT lat=" got)" = 8 ]
	[ "$(grep -vc '^#' got)" = 16 ]
}

@test "trace_block: --pid: prints the flushes that the task waits for, and no others" {
	loop
	act fsyncs 3 0 "/dev/$LOOP"
	start_session trace_block --output fifo --pid "$ACT" --device "$LOOP"
	read_by cat >got
	dd if=/dev/zero of="/dev/$LOOP" bs=4096 count=1 conv=fsync,notrunc 2>dd.err # an unrelated task
	release
	session_ends
	finishes "$READER" 0
	cat got
	[ "$(grep -Ec ": block_rq_complete: [0-9]+,[0-9]+ FF .* by=acts by_pid=$ACT lat=[0-9.]+$" got)" = 3 ]
	[ "$(grep -Ec ": block_rq_complete: [0-9]+,[0-9]+ W[A-Z]* .* \+ 8 .* by_pid=$ACT lat=[0-9.]+$" got)" = 3 ]
	[ "$(grep -vc '^#' got)" = 6 ]
}

@test "trace_block: --pid: a write-back of the page cache belongs to the task that does the write-back" {
	loop
	calls 1 # the session lasts longer than the task
	calls_go=$GO
	act cached 4 0 "/dev/$LOOP"
	start_session trace_block --output fifo --pid "$ACT" "$CALLS" --device "$LOOP"
	read_by cat >got
	exec 8<"/dev/$LOOP" # the last close writes the pages back
	release
	finishes "$ACT" 0
	dd if=/dev/zero of="/dev/$LOOP" bs=4096 count=1 seek=8 conv=fsync,notrunc 2>dd.err
	exec 8<&-
	echo >"$calls_go"
	session_ends
	finishes "$READER" 0
	cat got
	[ ! -s got ]
}

@test "trace_block: tfs-run prints the requests of the program that it runs" {
	loop
	tfs-run trace_block --device "$LOOP" -- "$PROG/acts" blocks 8 0 "/dev/$LOOP" </dev/null >got
	[ "$(grep -c ': block_rq_complete: .*by=acts ' got)" = 8 ]
	nothing_left
}

@test "trace_block: --describe says what selectors mean, and --parent is refused" {
	need_tracefs events/block/block_rq_complete
	"$MANAGER" --describe trace_block >out
	grep -qx 'with selectors: requests that these tasks and their children queue, and flushes that they wait for' out
	calls 1
	refuses trace_block 100 'trace_block: --parent: its events belong to no task; give --pid' \
		--parent "$CALLS"
}

@test "trace_block: the next session removes both instances of a session that was killed with its janitor" {
	need_tracefs events/block/block_rq_complete
	calls 1
	start_session trace_block --pid "$CALLS"
	file_is "$TRACEFS/instances/tfs.$MARK+tasks/set_event_pid" "$CALLS"
	janitor=$(children "$SESSION")
	kill -STOP "$SESSION"
	kill -KILL "$janitor"
	kill -KILL "$SESSION"
	finishes "$SESSION" 137
	calls 1
	start_session trace_block --pid "$CALLS"
	release
	session_ends
}

# reads_of DISK: Print the number of reads that the disk completed since the kernel started.
reads_of() {
	local reads
	read -r reads _ <"/sys/class/block/$1/stat"
	echo "$reads"
}

@test "trace_block: with --all it prints as many requests as the disk counts, though interrupts hit the session" {
	need_tracefs events/block/block_rq_complete
	[ "${TFS_VARIANT-}" = vm ] && [ -b /dev/vda ] || skip "needs a guest's disk, /dev/vda"
	# all tasks share one CPU, where interrupts hit the stream
	taskset -p 1 $$ >/dev/null
	start_session trace_block --all --device vda
	read_by cat >got
	before=$(reads_of vda)
	dd if=/dev/vda of=/dev/null bs=4k count="$(so_many 20000)" iflag=direct
	reads=$(($(reads_of vda) - before))
	stop_session
	finishes "$READER" 0
	tail -n 3 got
	[ "$reads" = "$(so_many 20000)" ]
	[ "$(grep -c ': block_rq_complete: ' got)" = "$reads" ]
	run ! grep '^#' got
}

@test "trace_block: reports a file that is not a block device on one line" {
	need_tracefs events/block/block_rq_complete
	refuses trace_block 100 \
		"--device: no disk 'null' in ${TRACER_SYSFS_PATH:-/sys}/class/block; give one of the names there" \
		--all --device null
	refuses trace_block 100 "--device: '../../etc' is not the name of a disk, such as sda" --all --device ../../etc
}

# ---- trace_count -----------------------------------------------------------------------

# bats test_tags=quick
@test "trace_count: counts the calls of a task, by name" {
	need_tracefs events/syscalls
	calls 1000
	traced trace_count
	[ "$(head -n 1 got)" = "   1000 sys_enter_getppid" ]
	[ "$(grep -c ' sys_enter_exit_group$' got)" = 1 ]
}

@test "trace_count: --syscall, --top and --key limit and group the counts" {
	need_tracefs events/syscalls
	calls 1000 2
	traced trace_count --syscall getppid exit_group --top 1
	exactly got "   2000 sys_enter_getppid
"
	calls 1000 1 3
	traced trace_count --syscall getppid --key comm event
	exactly got "   3000 calls	sys_enter_getppid
"
}

@test "trace_count: --syscall takes sys_exit_NAME, and all its lists take commas" {
	need_tracefs events/syscalls
	calls 1000
	traced trace_count --syscall sys_exit_getppid,exit_group --key comm,event
	exactly got "   1000 calls	sys_exit_getppid
      1 calls	sys_enter_exit_group
"
	calls 10 1 5
	traced trace_count --event sched_process_fork,sched:sched_process_exit
	exactly got "      6 sched_process_exit
      5 sched_process_fork
"
}

@test "trace_count: --key with a dot in front takes a field that is named like a task key" {
	need_tracefs events/signal
	calls 1
	start_session trace_count --output fifo --all --event signal_generate --key .comm .pid
	read_by cat >got
	kill -CONT "$CALLS"
	kill -WINCH "$CALLS"
	stop_session
	finishes "$READER" 0
	grep -qx "      2 calls	$CALLS" got
	refuses trace_count 100 "not a key: '.'" --all --key .
	refuses trace_count 100 "--key: '' is not printable text" --all --key "''"
}

@test "trace_count: --event counts any events" {
	need_tracefs
	calls 10 1 5
	traced trace_count --event 'sched_process_fork' sched:sched_process_exit
	exactly got "      6 sched_process_exit
      5 sched_process_fork
"
}

# bats test_tags=guest
@test "trace_count: --function counts the kernel's functions by name" {
	need_functions
	calls 500
	traced trace_count --function '*sys_getppid'
	file_has 1 got
	[[ $(cat got) =~ ^\ +500\ .*sys_getppid$ ]]
}

@test "trace_count: a task without any such call gives no line, and the session ends well" {
	need_tracefs events/syscalls
	calls 1
	traced trace_count --syscall reboot
	[ ! -s got ]
}

@test "trace_count: refuses an unknown event, and suggests the nearest name" {
	need_tracefs
	calls 1
	refuses trace_count 111 "no event is called 'sched_swich'; did you mean sched_switch?" \
		--pid "$CALLS" --event sched_swich
}

# ---- trace_function --------------------------------------------------------------------

# bats test_tags=quick,guest
@test "trace_function: prints each call of a function, as often as it was called" {
	need_functions
	calls 1000
	traced trace_function --function '*sys_getppid'
	[ "$(grep -Ec ': [_a-z0-9]*sys_getppid <-[_a-z0-9]+' got)" = 1000 ]
	[ "$(grep -vc '^#' got)" = 1000 ]
}

# bats test_tags=guest
@test "trace_function: follows children and threads" {
	need_functions
	calls 100 2 3
	traced trace_function --function '*sys_getppid'
	[ "$(grep -vc '^#' got)" = 600 ]
	[ "$(pids_in got | wc -l)" = 6 ]
}

# bats test_tags=guest
@test "trace_function: --not leaves out some of the functions" {
	need_functions
	calls 100
	traced trace_function --function '*sys_getppid' '*sys_exit_group' --not '*sys_getppid'
	[ "$(grep -Ec ': [_a-z0-9]*sys_exit_group <-' got)" = 1 ]
	[ "$(grep -vc '^#' got)" = 1 ]
}

# bats test_tags=guest
@test "trace_function: two sessions at once do not see each other's functions" {
	need_functions
	calls 100
	one=$CALLS one_go=$GO
	start_session trace_function --output fifo --pid "$one" --function '*sys_getppid'
	read_by cat >got.one
	one_session=$SESSION one_reader=$READER
	calls 200
	: >out
	background "$MANAGER" --run trace_function --args \
		"--instance ${MARK}b --output fifo --pid $CALLS -f *sys_getppid *sys_exit_group" >out 2>err
	SESSION=$PID
	eventually path_or_error
	TRACE=$(cat out)
	read_by cat >got
	release
	finishes "$SESSION" 0
	finishes "$READER" 0
	[ "$(grep -vc '^#' got)" = 201 ]
	echo >"$one_go"
	finishes "$one_session" 0
	finishes "$one_reader" 0
	[ "$(grep -vc '^#' got.one)" = 100 ]
}

# bats test_tags=guest
@test "trace_function: refuses no function, or an unknown function with the nearest name" {
	need_functions
	calls 1
	refuses trace_function 100 'no function is named; give --function' --pid "$CALLS"
	refuses trace_function 111 \
		"the kernel cannot trace a function that is called 'vfs_raed'; did you mean vfs_read, vfs_readv?" \
		--pid "$CALLS" --function vfs_open vfs_raed
	for word in '!nonesuch' 'vfs_read:traceoff' ':mod:ext4' '$(evil)'; do
		refuses trace_function 111 \
			"the kernel cannot trace a function that is called '$word'; tfs-function -l prints the names of all" \
			--pid "$CALLS" --function "'$word'"
	done
}

# bats test_tags=guest
@test "trace_function: refuses --parent, because the parents' own calls cannot be left out" {
	need_functions
	calls 1
	refuses trace_function 111 "--parent: not possible with a function tracer; select the tasks with --pid" \
		--parent "$CALLS" --function vfs_read
}

# argument_option NAME: Skip unless instances have an option NAME of their own.
argument_option() {
	local before
	[ -d "${DIR-}" ] || new_instance
	[ -e "$DIR/options/$1" ] || skip "needs options/$1 (Linux 6.15)"
	read -r before <"$TRACEFS/options/$1"
	echo 1 >"$DIR/options/$1"
	file_is "$TRACEFS/options/$1" "$before" && return
	echo 0 >"$DIR/options/$1"
	skip "needs options/$1 for each instance (Linux 7)"
}

# bats test_tags=guest
@test "trace_function: --arguments prints the arguments of each call by their names" {
	need_functions
	argument_option func-args
	calls 100
	traced trace_function --function '*sys_getppid' '*sys_exit_group' --arguments
	[ "$(grep -Ec ': [_a-z0-9]*sys_getppid\([a-z_]+=0x[0-9a-f]+\) <-[_a-z0-9]+$' got)" = 100 ]
	[ "$(grep -Ec ': [_a-z0-9]*sys_exit_group\([a-z_]+=0x[0-9a-f]+\) <-[_a-z0-9]+$' got)" = 1 ]
	[ "$(grep -vc '^#' got)" = 101 ]
	calls 100
	traced trace_function --function '*sys_getppid' --arguments --json
	[ "$(grep -c '"event":"function","fields":{"ip":[0-9]*,"parent_ip":[0-9]*,"args":\[[0-9]*,[0-9,]*\]}}$' got)" = 100 ]
	file_has 100 got
	# without the option they are gone
	calls 100
	traced trace_function --function '*sys_getppid'
	[ "$(grep -Ec ': [_a-z0-9]*sys_getppid <-' got)" = 100 ]
}

# bats test_tags=guest
@test "trace_function and trace_graph: --arguments is refused if the kernel has no such option" {
	need_functions
	new_instance
	[ ! -e "$DIR/options/func-args" ] || skip "needs a kernel without options/func-args"
	calls 1
	refuses trace_function 111 'this kernel has no options/func-args for --arguments; they need Linux 6.15 with BTF' \
		--pid "$CALLS" --function vfs_read --arguments
	! grep -qw function_graph "$DIR/available_tracers" ||
		refuses trace_graph 111 'this kernel has no options/funcgraph-args for --arguments; they need Linux 6.15 with BTF' \
			--pid "$CALLS" --function vfs_read --arguments
}

# ---- trace_graph -----------------------------------------------------------------------

need_graph() {
	need_functions
	new_instance
	grep -qw function_graph "$DIR/available_tracers" ||
		skip "needs function_graph in instances, which Linux 6.12 has"
}

# bats test_tags=quick,guest
@test "trace_graph: prints each call of a function with its duration" {
	need_graph
	calls 100
	traced trace_graph --function '*sys_getppid'
	[ "$(grep -Ec ' us +\|  [_a-z0-9]*sys_getppid\(\);' got)" = 100 ]
	[ "$(grep -c ' us ' got)" = 100 ]
}

# bats test_tags=guest
@test "trace_graph: --slower passes calls that take at least so long, with their names" {
	need_graph
	calls 10
	traced trace_graph --function '*sys_getppid' '*sys_exit_group' --slower 0
	[ "$(grep -Ec ' us +\|  [_a-z0-9]*sys_getppid\(\);' got)" = 10 ]
	calls 10
	traced trace_graph --function '*sys_getppid' --slower 10000000
	[ "$(grep -vc '^#' got)" = 0 ]
}

# bats test_tags=guest
@test "trace_graph: --arguments prints the arguments of each call by their names" {
	need_graph
	argument_option funcgraph-args
	calls 100
	traced trace_graph --function '*sys_getppid' --arguments
	[ "$(grep -Ec ' us +\|  [_a-z0-9]*sys_getppid\([a-z_]+=0x[0-9a-f]+\);' got)" = 100 ]
	calls 10
	traced trace_graph --function '*sys_getppid' '*sys_exit_group' --arguments --slower 0
	[ "$(grep -Ec ' us +\|  [_a-z0-9]*sys_getppid\([a-z_]+=0x[0-9a-f]+\);' got)" = 10 ]
}

# bats test_tags=guest
@test "trace_graph: says when the kernel can set it for the whole machine only" {
	need_functions
	new_instance
	! grep -qw function_graph "$DIR/available_tracers" ||
		skip "needs a kernel without function_graph in instances"
	calls 1
	refuses trace_graph 111 \
		'this kernel has function_graph for the whole machine only, not for a session; Linux 6.12 has' \
		--pid "$CALLS" --function vfs_read
}

# ---- trace_hist ------------------------------------------------------------------------

# bats test_tags=quick,guest
@test "trace_hist: prints the kernel's histogram, with exact hits" {
	need_hist
	need_tracefs events/raw_syscalls/sys_enter/hist
	calls 1000
	start_session trace_hist --output fifo --all --event sys_enter --key id \
		--filter "'common_pid == $CALLS'" --sort id
	read_by cat >got
	release
	ended "$CALLS"
	stop_session
	finishes "$READER" 0
	[ "$(grep -Ec "^\{ id: +$(syscall-nr getppid) \} hitcount: +1000$" got)" = 1 ]
	grep -q '^    Dropped: 0$' got
}

# getppids CALLS...: Print how many getppid trace_hist counts with --pid of a program that makes
# CALLS, while an unrelated task calls it as well.
getppids() {
	calls "$@"
	local task=$CALLS gate=$GO
	start_session trace_hist --output fifo --pid "$task" --event sys_enter --key id \
		--filter "'id == $(syscall-nr getppid)'"
	read_by cat >got
	calls 500 # an unrelated task
	release
	finishes "$CALLS" 0
	echo >"$gate"
	session_ends
	finishes "$READER" 0
	cat got
	hits=$(sed -n 's/^    Hits: //p' got)
}

# bats test_tags=guest
@test "trace_hist: --pid counts that task, its threads and children, but no task born later and no others" {
	need_hist
	need_tracefs events/raw_syscalls/sys_enter/hist
	getppids 1000
	[ "$hits" = 1000 ]
	# the threads of the children, which exist when the session begins
	getppids -e 1000 2 2
	[ "$hits" = 4000 ]
	getppids 1000 1 2
	[ "$hits" = 0 ]
}

# bats test_tags=guest
@test "trace_hist: --pid counts the migrations of that task, which happen in a thread of the kernel" {
	need_tracefs events/sched/sched_migrate_task/hist
	[ "$(nproc)" -ge 2 ] || skip "needs two processors"
	act moves 20 0
	start_session trace_hist --output fifo --pid "$ACT" -e sched_migrate_task -k pid
	read_by cat >got
	release
	finishes "$ACT" 0
	session_ends
	finishes "$READER" 0
	grep -q "trigger info: hist:keys=pid:.* if (pid == $ACT)" got
	hits=$(sed -n "s/^{ pid: *$ACT } hitcount: *//p" got)
	[ "$hits" = 20 ] || [ "$hits" = 21 ]
}

# bats test_tags=guest
@test "trace_hist: reports a bad filter, a second event, a missing or bad key on one line, with the kernel's caret" {
	need_hist
	calls 1
	refuses trace_hist 100 "--filter: a closing parenthesis has no opening parenthesis: 'id > 0) || (id > 1'" \
		--pid "$CALLS" --event sys_enter --key id --filter "'id > 0) || (id > 1'"
	refuses trace_hist 100 'trace_hist: --parent: its events belong to no task; give --pid' \
		--parent "$CALLS" --event sched_switch --key prev_pid
	refuses trace_hist 100 'an event or a key is missing; give --event and --key' --all --event sched_switch
	refuses trace_hist 100 "'sched_s*' is more than one event; tfs-event -l 'sched_s*' lists them" \
		--all --event "'sched_s*'" --key prev_pid
	status=0
	"$MANAGER" --run trace_hist --args "--instance $MARK --all -e sched_switch -k nope" >out 2>err ||
		status=$?
	[ "$status" = 111 ]
	[ ! -s out ]
	[[ $(head -n 1 err) == "manager: fatal: unable to write 'hist:keys=nope' to events/sched/sched_switch/trigger"* ]]
	nothing_left
}

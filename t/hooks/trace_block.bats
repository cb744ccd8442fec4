#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# trace_block: requests and bios of our own disks, with their durations

load ../helper
load ../hooks

undo() {
	[ -z "${ZRAM-}" ] || zram_remove
}

# bats test_tags=quick
@test "trace_block: prints each request of a device, with its duration" {
	loop
	watch trace_block --all --device "$LOOP"
	"$PROG/acts" blocks 8 0 "/dev/$LOOP" </dev/null >/dev/null
	watch_stop
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
		watch trace_block $whom --device "zram$ZRAM"
		if [ "$whom" != --all ]; then # an unrelated task
			"$PROG/acts" blocks 8 32 "/dev/zram$ZRAM" </dev/null >/dev/null
		fi
		release "$ACT"
		if [ "$whom" = --all ]; then stop_session; else session_ends; fi
		finishes "$READER" 0
		cat got
		[ "$(grep -Ec ": block_bio_complete: [0-9]+,$ZRAM W[A-Z]* [0-9]+ \+ 8 \[0\] by=acts by_pid=$ACT lat=[0-9.]+\$" got)" = 8 ]
		[ "$(grep -vc '^#' got)" = 8 ]
		run -1 grep '^#' got
	done
	# the events themselves
	act blocks 8 0 "/dev/zram$ZRAM"
	watch trace_block --all --device "zram$ZRAM" --events
	release "$ACT"
	watch_stop
	[ "$(grep -c ": block_bio_queue: [0-9]*,$ZRAM W" got)" = 8 ]
	[ "$(grep -c ": block_bio_complete: [0-9]*,$ZRAM W" got)" = 8 ]
	[ "$(grep -vc '^#' got)" = 16 ]
}

@test "trace_block: prints a request, and not its bios, also if --device names no disk" {
	loop
	zram
	act blocks 8 0 "/dev/$LOOP"
	watch_whole trace_block --pid "$ACT"
	[ "$(grep -Ec ": block_rq_complete: .* by=acts by_pid=$ACT lat=" got)" = 8 ]
	[ "$(grep -vc '^#' got)" = 8 ]
}

@test "trace_block: --device takes a disk's number as the trace prints it, in a list too" {
	loop
	for name in "7,${LOOP#loop}" "7:${LOOP#loop}" "7,${LOOP#loop},$LOOP" "$LOOP,7,${LOOP#loop}"; do
		watch trace_block --all --device "$name"
		dd if=/dev/zero of="/dev/$LOOP" bs=4096 count=1 oflag=direct,sync conv=notrunc 2>dd.err
		watch_stop
		[ "$(grep -Ec ": block_rq_complete: 7,${LOOP#loop} W[A-Z]* .* lat=" got)" -ge 1 ]
	done
}

@test "trace_block: prints the flush of an fsync, with its duration" {
	loop
	watch trace_block --all --device "$LOOP"
	dd if=/dev/zero of="/dev/$LOOP" bs=4096 count=1 conv=fsync,notrunc 2>dd.err
	watch_stop
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
	watch trace_block --pid "$task" --device "$LOOP"
	"$PROG/acts" blocks 8 32 "/dev/$LOOP" </dev/null >/dev/null # an unrelated task
	printf '\n\n\n' >gate
	watch_end
	cat got
	[ "$(grep -Ec ': block_rq_complete: .* \+ 8 .*by=acts by_pid=[0-9]+ lat=[0-9.]+$' got)" = 12 ]
	[ "$(grep -vc '^#' got)" = 12 ]
	[ "$(grep -o ' by_pid=[0-9]*' got | sort -u | wc -l)" = 2 ]
	run -1 grep unpaired got
}

@test "trace_block: --events with --pid: prints issue and completion of that task's requests" {
	loop
	act blocks 8 0 "/dev/$LOOP"
	watch trace_block --pid "$ACT" --device "$LOOP" --events
	"$PROG/acts" blocks 8 32 "/dev/$LOOP" </dev/null >/dev/null # an unrelated task
	release
	watch_end
	cat got
	[ "$(grep -Ec ": block_rq_issue: .* by=acts by_pid=$ACT\$" got)" = 8 ]
	[ "$(grep -Ec ": block_rq_complete: .* by_pid=$ACT lat=" got)" = 8 ]
	[ "$(grep -vc '^#' got)" = 16 ]
}

@test "trace_block: --pid: prints the flushes that the task waits for, and no others" {
	loop
	act fsyncs 3 0 "/dev/$LOOP"
	watch trace_block --pid "$ACT" --device "$LOOP"
	dd if=/dev/zero of="/dev/$LOOP" bs=4096 count=1 conv=fsync,notrunc 2>dd.err # an unrelated task
	release
	watch_end
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
	watch trace_block --pid "$ACT" "$CALLS" --device "$LOOP"
	exec 8<"/dev/$LOOP" # the last close writes the pages back
	release "$ACT"
	dd if=/dev/zero of="/dev/$LOOP" bs=4096 count=1 seek=8 conv=fsync,notrunc 2>dd.err
	exec 8<&-
	echo >"$calls_go"
	watch_end
	cat got
	[ ! -s got ]
}

@test "trace_block: tfs-run prints the requests of the program that it runs" {
	loop
	tfs-run trace_block --device "$LOOP" -- "$PROG/acts" blocks 8 0 "/dev/$LOOP" </dev/null >got
	[ "$(grep -c ': block_rq_complete: .*by=acts ' got)" = 8 ]
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
	ends_by "$SESSION" KILL 137
	calls 1
	session_whole trace_block --pid "$CALLS"
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
	watch_stop
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

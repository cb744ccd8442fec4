#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2034,SC2089,SC2090,SC2153,SC2154 # each test is a process of its own
# blk-trace, blk-text, trace_blk: trace our own block devices; the text equals that of
# blkparse, the counts of I/O are exact, and nothing stays behind

load ../helper

MANAGER=$TREE/trace-hooks/blktrace/manager
RECORDS=$TREE/t/fuzz/corpus/blktext
DEBUGFS=${TRACER_SYSFS_PATH:-/sys}/kernel/debug
TEXT_USAGE='blk-text [-l] [-s KB] [-w MS] [-i INSTANCE] [-p PID[,PID...]]... [-n PID[,PID...]]... [-d DIR]... [FILE]...'

undo() {
	local i left=
	for i in ${DEVICES-}; do
		[ "$(end_of "$i")" = disabled ] || { left="$left $i"; blk-trace -f remove "$i"; }
	done
	rm -f image.* # a guest has no room for all of them
	for i in "$TRACEFS"/instances/tfs-blk."$MARK"*; do
		[ ! -d "$i" ] || left="$left $i"
	done
	[ -z "$left" ] || { echo "left over: $left"; return 1; }
}

end_of() {
	cat "/sys/block/$1/trace/end_lba" <"/dev/$1" # before Linux 5.12 the device must be open
}

# Make a loop device over a file of 16 MB; set $DEVICE to its name.
new_device() {
	need_root
	[ -e /dev/loop-control ] || skip "needs a loop device (CONFIG_BLK_DEV_LOOP)"
	[ -e /sys/block/loop0/trace ] || skip "needs loop0/trace in sysfs (CONFIG_BLK_DEV_IO_TRACE)"
	[ -d "$DEBUGFS/block" ] || mount -t debugfs nodev "$DEBUGFS"
	image=image.$((${#DEVICES} + 1))
	dd if=/dev/zero of=$image bs=1M count=16 2>/dev/null
	loop $image
	DEVICE=$LOOP
	DEVICES="${DEVICES-} $DEVICE"
}

# Stop a test before it reads relay files if the kernel is in lockdown.
need_relay() {
	new_device
	[ "$(blk-trace -k "$MARK" setup "$DEVICE" 2>&1)" = "$DEBUGFS/block/$DEVICE" ] ||
		skip "needs to read relay files, which a kernel in lockdown refuses"
	blk-trace -k "$MARK" remove "$DEVICE"
}

# Start a shell that waits for $GO and then runs its words; set $TASK to its pid.
task() {
	GO=$BATS_TEST_TMPDIR/go.$((++GATES))
	mkfifo "$GO"
	# shellcheck disable=SC2016 # the other shell's
	background "$BASH" -c 'read -r _ <"$0"; eval "$1"' "$GO" "$1"
	TASK=$PID
}

write_blocks() {
	echo "'$PROG/acts' blocks $2 ${3:-0} /dev/$1 </dev/null >/dev/null"
}

# session WORDS: Start a session of trace_blk for $TASK on $DEVICE.
session() {
	start_session trace_blk --pid "$TASK" --device "$DEVICE" "$@"
}

# how_many FILE ACT: Print the number of lines with this action.
how_many() {
	awk -v a="$2" '$6 == a { n++ } END { print n + 0 }' "$1"
}

traced() {
	[ "$(end_of "$1")" != disabled ]
}

free() {
	[ "$(end_of "$1")" = disabled ]
}

refuse() {
	fails 111 "blk-trace: fatal: $1" "${@:2}"
}

# ---- blk-trace ---------------------------------------------------------------

@test "blk-trace: reports a missing device or a file that is not a block device on one clear line" {
	mkdir dir
	refuse '/dev/null is not a block device' blk-trace setup null
	refuse './dir is not a block device' blk-trace setup ./dir
	refuse 'unable to open /dev/shm-not: No such file or directory' blk-trace setup shm-not
	refuse 'unable to open ../../etc/passwd-not: No such file or directory' \
		blk-trace setup ../../etc/passwd-not
	: >file
	refuse './file is not a block device' blk-trace setup ./file
	refuse 'unable to open /dev/sda;rm: No such file or directory' blk-trace setup 'sda;rm'
}

@test "blk-trace: start, stop and remove refuse a device that is not traced" {
	new_device
	for command in start stop remove; do
		refuse "$DEVICE is not traced" blk-trace $command "$DEVICE"
	done
}

@test "blk-trace: reports relay files that cannot be read, and leaves nothing behind" {
	new_device
	status=0
	blk-trace -k "$MARK" setup "$DEVICE" >out 2>err || status=$?
	if [ "$status" = 0 ]; then
		blk-trace -k "$MARK" remove "$DEVICE"
		skip "needs a kernel in lockdown"
	fi
	[ "$status" = 111 ]
	[ ! -s out ]
	file_is err "blk-trace: fatal: unable to open $DEBUGFS/block/$DEVICE/trace0 (the lockdown of the kernel forbids relay files): Operation not permitted"
	free "$DEVICE"
}

@test "blk-trace: names the capability that a closed debugfs needs, and leaves nothing behind" {
	new_device
	need_tool setpriv
	mkdir -m 700 closed
	chown 65534 closed
	mkdir -p sys/kernel
	ln -s "$PWD/closed" sys/kernel/debug
	TRACER_SYSFS_PATH=$PWD/sys refuse "unable to open $PWD/sys/kernel/debug/block/$DEVICE/trace0 (is debugfs mounted?): Permission denied; this needs CAP_DAC_OVERRIDE" \
		setpriv --bounding-set -dac_override,-dac_read_search \
		"$(command -v blk-trace)" -k "$MARK" setup "$DEVICE"
	free "$DEVICE"
}

# bats test_tags=guest
@test "blk-trace: setup prints the directory, and a second setup is refused and leaves the first alone" {
	need_relay
	outputs 0 "$DEBUGFS/block/$DEVICE" blk-trace -k "$MARK" setup "$DEVICE"
	[ -e "$output/trace0" ]
	refuse "$DEVICE is traced already; end that trace first" \
		blk-trace -k other setup "$DEVICE"
	for command in start stop remove; do
		refuse "$DEVICE is traced with another key; give -k KEY, or -f" \
			blk-trace -k other $command "$DEVICE"
	done
	traced "$DEVICE"
	BLK_TRACE_KEY=$MARK run -0 blk-trace start "$DEVICE"
	run -0 blk-trace -k "$MARK" start "$DEVICE"
	run -0 blk-trace -k "$MARK" stop "$DEVICE"
	run -0 blk-trace -k "$MARK" remove "$DEVICE"
	free "$DEVICE"
}

# bats test_tags=guest
@test "blk-trace: sets up all of several devices, or none" {
	need_relay
	one=$DEVICE
	new_device
	run -0 blk-trace -k "$MARK" setup "$DEVICE"
	refuse "$DEVICE is traced already; end that trace first" \
		blk-trace -k "$MARK" setup "$one" "$DEVICE"
	free "$one"
	run -0 blk-trace -f remove "$DEVICE"
	run -0 blk-trace -k "$MARK" setup "$one" "$DEVICE"
	[ "${#lines[@]}" = 2 ]
	run -0 blk-trace -k "$MARK" remove "$one" "$DEVICE"
}

# bats test_tags=quick,guest
@test "blk-trace: -a, -l and -p limit the recorded events" {
	need_relay
	blk-trace -k "$MARK" -a issue,complete setup "$DEVICE"
	blk-trace -k "$MARK" start "$DEVICE"
	eval "$(write_blocks "$DEVICE" 4)"
	blk-trace -k "$MARK" stop "$DEVICE"
	relay-cat -1 "$DEBUGFS/block/$DEVICE" | blk-text >got
	[ "$(how_many got D)" = 4 ]
	[ "$(how_many got C)" = 4 ]
	file_has 8 got
	blk-trace -k "$MARK" remove "$DEVICE"
	blk-trace -l 8-15 -a issue setup "$DEVICE"
	blk-trace -f start "$DEVICE"
	eval "$(write_blocks "$DEVICE" 4 1)"
	blk-trace -f stop "$DEVICE"
	relay-cat -1 "$DEBUGFS/block/$DEVICE" | blk-text >got
	[ "$(awk '{ print $6, $8 }' got)" = 'D 8' ]
	blk-trace -f remove "$DEVICE"
	blk-trace -k "$MARK" -p $$ -a queue setup "$DEVICE"
	blk-trace -k "$MARK" start "$DEVICE"
	eval "$(write_blocks "$DEVICE" 4)"
	blk-trace -k "$MARK" stop "$DEVICE"
	run -1 blk-text <(relay-cat -1 "$DEBUGFS/block/$DEVICE")
	blk-trace -k "$MARK" remove "$DEVICE"
}

# ---- blk-text ----------------------------------------------------------------

@test "blk-text: refuses an invalid number, pid or pipe" {
	misuse() {
		fails 100 "blk-text: fatal: $1; usage: $TEXT_USAGE" "${@:2}"
	}
	misuse "--size: '0' is not from 1 to 2147483647 kilobytes; give a size such as 64M or 1G" blk-text -s 0
	misuse "--every: 'x' is not a time such as 500 (milliseconds), 500ms, 5s, 2m or 1h" blk-text -w x
	for list in '' ',' '1,' ',1' '1;2' -1 4294967297; do
		misuse "--pid: '$list' is not a list of pids" blk-text -p "$list"
		misuse "--not-pid: '$list' is not a list of pids" blk-text -n "$list"
	done
	misuse "-d cannot be combined with files; leave out 'file'" blk-text -d . file
	to_file() { "$@" >file; }
	misuse '-l needs a FIFO or pipe as standard output' to_file blk-text -l
	fails 111 'blk-text: fatal: unable to open nowhere: No such file or directory' blk-text nowhere
}

# bats test_tags=quick
@test "blk-text: prints a recording of either byte order, sorted by time" {
	for arch in amd64 s390x; do
		run -0 blk-text "$RECORDS/$arch".blktrace.*
		[ "${#lines[@]}" = 51 ]
		[[ ${lines[0]} =~ ^\ \ 7,0\ {4}[01]\ {8}1\ {5}0\.000000000\ +[0-9]+\ \ Q\ \ WS\ 0\ \+\ 8\ \[dd\]$ ]]
		[ "$(printf '%s\n' "${lines[@]}" | awk '{ print $4 }' | sort -c -n 2>&1)" = '' ]
		[ "$(printf '%s\n' "${lines[@]}" | awk '$6 == "C" { print $7, $8, $9, $10 }')" = 'WS 0 + 8
WS 8 + 8
WS 16 + 8
WS 0 + 24
FN 0 [0] 
WS 0 [0] 
DS 128 + 128
RS 0 + 256
RS 256 + 256' ]
		[ "$(printf '%s\n' "${lines[@]}" | grep -c ' m   N a message$')" = 1 ]
	done
}

# parsed NAME: Print blkparse's lines, of any version; 1.3 prints more, with -q or without.
parsed() {
	blkparse -q -i "$1" | grep -Ev '^(Input file|Trace started|$)'
}

@test "blk-text: prints the lines of blkparse, byte for byte, but leaves out messages" {
	need_tool blkparse
	archs='amd64 s390x'
	# blkparse 1.2 on a big-endian machine cannot read a little-endian recording
	[ "$(printf '\1\0' | od -An -tx2 | tr -d ' ')" = 0001 ] || archs=s390x
	for arch in $archs; do
		cp "$RECORDS/$arch".blktrace.* .
		parsed "$arch" | grep -v ' m   N ' >theirs
		blk-text "$arch".blktrace.* | grep -v ' m   N ' | cmp theirs -
		file_has 50 theirs
	done
}

@test "blk-text: prints the same from standard input as from files, in any order" {
	blk-text "$RECORDS"/amd64.blktrace.0 "$RECORDS"/amd64.blktrace.1 >one
	cat "$RECORDS"/amd64.blktrace.1 "$RECORDS"/amd64.blktrace.0 | blk-text >two
	cmp one two
}

@test "blk-text: reports a cut or foreign file, and prints the readable records" {
	head -c 1000 "$RECORDS"/amd64.blktrace.0 >part
	exits 111 blk-text part
	[ -s out ]
	file_is err 'blk-text: fatal: part is not a blktrace file, or its end is missing'
	fails 111 'blk-text: fatal: /proc/version is not a blktrace file, or its end is missing' \
		blk-text /proc/version
	run -1 --separate-stderr blk-text /dev/null
	[ "$output$stderr" = "blk-text: no record of blktrace in the input" ]
}

@test "blk-text: -p: prints the requests that a task queues, and what other tasks do with them" {
	blk-text "$RECORDS"/amd64.blktrace.* >all
	pid=$(awk '$6 == "Q" { print $5; exit }' all)
	blk-text -p "$pid" "$RECORDS"/amd64.blktrace.* >its
	[ "$(how_many its Q)" = "$(awk -v p="$pid" '$6 == "Q" && $5 == p' all | wc -l)" ]
	[ "$(how_many its C)" = "$(how_many its Q)" ]
	[ "$(how_many its D)" = "$(how_many its Q)" ]
	[ "$(awk -v p="$pid" '$5 != p && $6 != "C" && $6 != "D"' its)" = '' ]
	run -0 blk-text -p "$pid" -n "$pid" "$RECORDS"/amd64.blktrace.*
	[ -z "$output" ]
}

@test "blk-text: -s: limits the output, and the last line counts the missing events" {
	for i in 1 2 3 4 5 6 7 8; do cat "$RECORDS"/amd64.blktrace.*; done >many
	blk-text many >all
	blk-text -s 4 many >some
	[ "$(wc -c <some)" -le 4096 ]
	shown=$(($(wc -l <some) - 1))
	[ "$(tail -n 1 some)" = "# lost $((408 - shown)) events: 0 dropped at a full buffer, $((408 - shown)) not written" ]
	head -n "$shown" some | cmp - <(head -n "$shown" all)
}

@test "blk-text: -l: prints one line per packet" {
	blk-text "$RECORDS"/amd64.blktrace.* >all
	blk-text -l "$RECORDS"/amd64.blktrace.* | {
		eventually [ -s all ]
		dd bs=4096 count=1 2>/dev/null
		cat >/dev/null
	} >first
	file_is first "$(head -n 1 all)"
}

# ---- trace_blk ---------------------------------------------------------------

@test "trace_blk: reports hostile and wrong devices on one clear line, and begins nothing" {
	new_device
	task :
	run_with() {
		refused "$1" "$2" --run trace_blk --args "--instance $MARK --pid $TASK ${*:3}"
	}
	run_with 100 "--device: '../../etc/passwd' is not the name of a disk, such as sda" \
		--device ../../etc/passwd
	run_with 100 "--device: 'sda;rm' is not the name of a disk, such as sda" \
		--device "'sda;rm'"
	run_with 111 '--output dat is for ftrace; relay-cat -o keeps the records of block devices' \
		--device "$DEVICE" --output dat
	run_with 111 '--clock: block devices have only one clock; leave it out' \
		--device "$DEVICE" --clock mono
	run_with 111 "--header is for ftrace, and this hook prints the text of blkparse; leave it out" --device "$DEVICE" --header
	run_with 111 "--container-names is for ftrace, and this hook prints the text of blkparse; leave it out" --device "$DEVICE" --container-names
	run_with 111 "--date is for ftrace, and this hook prints the text of blkparse; leave it out" --device "$DEVICE" --date
	"$MANAGER" --run trace_blk --args "--pid $TASK --device null" >out 2>err && false
	file_is err "manager: fatal: --device: no disk 'null' in /sys/class/block; give one of the names there"
	"$MANAGER" --run trace_blk --args "--pid $TASK" >out 2>err && false
	file_is err 'manager: fatal: no device is named; give --device'
	[ ! -s out ]
	nothing_left
	free "$DEVICE"
}

@test "trace_blk: --check refuses what --run refuses, and frees the device again" {
	new_device
	for words in '--device nosuch' '--device null' '--action nosuch' '' '--output dat' \
		'--device ../x' '--cgroup nosuch'; do
		[[ $words == *--device* ]] || words="--device $DEVICE $words"
		# shellcheck disable=SC2086 # a word each
		[ "$words" = "--device $DEVICE " ] || alike trace_blk --pid $$ $words
		free "$DEVICE"
	done
	alike trace_blk --pid $$
	# a kernel in lockdown refuses both
	verdict --check trace_blk --pid $$ --device "$DEVICE"
	check=$VERDICT
	verdict --run trace_blk --pid $$ --device "$DEVICE"
	[ "$check" = "$VERDICT" ]
	nothing_left
	free "$DEVICE"
}

# bats test_tags=quick,guest
@test "trace_blk: records the writes of a task and its children exactly, and no other task's" {
	need_relay
	task "$(write_blocks "$DEVICE" 5); ($(write_blocks "$DEVICE" 3 100)); true"
	session --output fifo
	read_by cat >got
	eval "$(write_blocks "$DEVICE" 7 1000)" # an unrelated task
	echo >"$GO"
	watch_end
	cat got
	[ "$(how_many got Q)" = 8 ]
	[ "$(how_many got D)" = 8 ]
	[ "$(how_many got C)" = 8 ]
	[ "$(awk '$6 == "C" { print $7, $8, $9, $10, $11 }' got)" = 'WS 0 + 8 [0]
WS 8 + 8 [0]
WS 16 + 8 [0]
WS 24 + 8 [0]
WS 32 + 8 [0]
WS 800 + 8 [0]
WS 808 + 8 [0]
WS 816 + 8 [0]' ]
	[ "$(awk '$6 == "Q" { print $NF }' got | sort -u)" = '[acts]' ]
	[ "$(awk '{ print $4 }' got | sort -c -n 2>&1)" = '' ]
	free "$DEVICE"
}

# bats test_tags=guest
@test "trace_blk: --output lines gives one line per packet, and --output file a file that stays" {
	need_relay
	for output in lines file; do
		task "$(write_blocks "$DEVICE" 3)"
		session --output $output
		if [ $output = lines ]; then
			read_by sh -c 'while dd bs=4096 count=1 2>/dev/null | grep .; do :; done'  >got
		fi
		echo >"$GO"
		session_ends
		if [ $output = file ]; then cat "$TRACE" >got; else finishes "$READER" 0; fi
		[ "$(how_many got C)" = 3 ]
		run -0 "$MANAGER" --clear
	done
	free "$DEVICE"
}

# bats test_tags=guest
@test "trace_blk: --all: records every task, unrelated tasks too" {
	need_relay
	watch trace_blk --all --device "$DEVICE"
	eval "$(write_blocks "$DEVICE" 4)"
	watch_stop
	[ "$(how_many got C)" = 4 ]
}

# bats test_tags=guest
@test "trace_blk: tfs-run -m blktrace holds the program until the device is traced" {
	need_relay
	run -0 --separate-stderr tfs-run -m blktrace trace_blk --device "$DEVICE" -- \
		"$PROG/acts" blocks 2 0 "/dev/$DEVICE" </dev/null
	printf '%s\n' "$output" >got
	[ "$(how_many got Q)" = 2 ]
	[ "$(how_many got C)" = 2 ]
	free "$DEVICE"
}

# bats test_tags=guest
@test "trace_blk: refuses a device that is traced already, and leaves that trace alone" {
	need_relay
	task "$(write_blocks "$DEVICE" 2)"
	session --output fifo
	one=$SESSION
	read_by cat >got
	status=0
	"$MANAGER" --run trace_blk --args "--pid $TASK --device $DEVICE" >out2 2>err2 || status=$?
	[ "$status" = 111 ]
	[ ! -s out2 ]
	file_is err2 "manager: fatal: $DEVICE is traced already; end that trace first"
	echo >"$GO"
	watch_end
	[ "$(how_many got C)" = 2 ]
}

# bats test_tags=guest
@test "trace_blk: two sessions at once each trace their own device" {
	need_relay
	one=$DEVICE
	new_device
	two=$DEVICE
	task "$(write_blocks "$one" 2); $(write_blocks "$two" 3)"
	background "$MANAGER" --run trace_blk --args \
		"--instance ${MARK}b --pid $TASK --device $one --output fifo" >out.one 2>err.one
	other=$PID
	session --output fifo
	read_by cat >got.two
	reader=$READER
	eventually [ -s out.one ]
	TRACE_TWO=$TRACE
	TRACE=$(cat out.one)
	read_by cat >got.one
	TRACE=$TRACE_TWO
	echo >"$GO"
	all_end "$SESSION" "$other"
	nothing_left
	all_end "$reader" "$READER"
	[ "$(how_many got.one C)" = 2 ]
	[ "$(how_many got.two C)" = 3 ]
}

# bats test_tags=guest
@test "trace_blk: two killed readers and the next reader get each line once, and times go on" {
	need_relay
	task "$(write_blocks "$DEVICE" 2000); read -r _ <hold"
	mkfifo hold
	for output in lines fifo; do
		session --output $output --buffer 2048
		echo >"$GO"
		for count in 1 10; do
			# shellcheck disable=SC2016 # the inner shell's parameters
			read_by sh -c 'dd bs=4096 count="$1" 2>/dev/null; kill -KILL $$' sh $count >got.$count
			finishes "$READER" 137
		done
		read_by cat >got.last
		echo >hold
		watch_end
		cat got.1 got.10 got.last >got
		[ "$(how_many got C)" = 2000 ]
		[ "$(grep -c '^#' got)" = 0 ]
		# from the first line of the first reader on
		awk '$4 < last { exit 1 } { last = $4 }' got
		[ "$(how_many got Q)" = 2000 ]
		task "$(write_blocks "$DEVICE" 2000); read -r _ <hold"
	done
}

# bats test_tags=guest
@test "trace_blk: the last line counts the events that did not fit into a full buffer" {
	need_relay
	task "$(write_blocks "$DEVICE" 600)"
	session --output fifo --buffer 16
	echo >"$GO" # no reader exists yet
	eventually gone "$TASK"
	read_by cat >got
	watch_end
	line=$(tail -n 1 got)
	[[ $line =~ ^#\ lost\ ([0-9]+)\ events:\ ([0-9]+)\ dropped\ at\ a\ full\ buffer,\ 0\ not\ written$ ]]
	[ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
	[ "${BASH_REMATCH[1]}" -gt 0 ]
}

# bats test_tags=guest
@test "trace_blk: frees the device if manager, janitor or both are killed" {
	need_relay
	for victim in manager janitor both; do
		task "$(write_blocks "$DEVICE" 1)"
		session --output fifo
		traced "$DEVICE"
		kill_parts $victim
		if [ $victim = both ]; then
			traced "$DEVICE"
			run -0 "$MANAGER" --clear
			free "$DEVICE"
		fi
		eventually free "$DEVICE"
		eventually nothing_left
		echo >"$GO"
	done
}

# bats test_tags=guest
@test "trace_blk: the next session removes the tracing of a stale session, and no other tracing" {
	need_relay
	task :
	session --output fifo
	janitor=$(children "$SESSION")
	kill_at_once "$SESSION" "$janitor"
	eventually gone "$janitor"
	stale=$DEVICE
	traced "$stale"
	new_device
	blk-trace -k stranger setup "$DEVICE"
	stranger=$DEVICE
	new_device
	start_session trace_blk --pid $$ --output fifo --device "$DEVICE"
	free "$stale"
	traced "$stranger"
	stop_session
	run -0 "$MANAGER" --clear
	traced "$stranger"
	blk-trace -k stranger remove "$stranger"
	echo >"$GO"
}

# alone: it removes the dead sessions of other tests, too
# bats test_tags=alone,guest
@test "trace_blk: tfs-instance remove -s removes a dead session, with the tracing of its device" {
	need_relay
	task :
	session --output fifo
	janitor=$(children "$SESSION")
	kill_at_once "$SESSION" "$janitor"
	eventually gone "$janitor"
	traced "$DEVICE"
	run -0 tfs-instance list -s
	[[ $'\n'$output$'\n' == *$'\n'"tfs-blk.$MARK"$'\n'* ]]
	tfs-instance remove -s
	free "$DEVICE"
	[ ! -d "$TRACEFS/instances/tfs-blk.$MARK" ]
	run -0 "$MANAGER" --clear
	echo >"$GO"
}

# bats test_tags=guest
@test "trace_blk: prints what blkparse prints for the same records" {
	need_relay
	need_tool blktrace blkparse
	blktrace -d "/dev/$DEVICE" -o rec >/dev/null 2>&1 3>&- &
	peer=$!
	eventually traced "$DEVICE"
	running() { [ "$(cat "/sys/block/$DEVICE/trace/enable" <"/dev/$DEVICE")" = 1 ]; }
	eventually running
	eval "$(write_blocks "$DEVICE" 20)"
	dd if="/dev/$DEVICE" of=/dev/null bs=64k count=4 2>/dev/null
	dd if=/dev/zero of="/dev/$DEVICE" bs=64k count=4 conv=fsync 2>/dev/null
	# the first signal may come just before blktrace waits
	interrupted() { kill -INT $peer; gone $peer; }
	eventually interrupted
	wait $peer
	parsed rec >theirs
	blk-text rec.blktrace.* >ours
	cmp theirs ours
	[ "$(how_many ours C)" -ge 21 ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2153 # each test is a process of its own; helper.bash
# tfs-persist, and tfs-flight -P: the trace of the last boot. The reserved instance of these tests
# is a plain directory with the sub-buffers of a real one; t/vm/persist crashes real machines.

load ../helper
load ../last_boot

# Print events without the names of tasks, because tfs-report knows more of them.
plain() {
	grep -v '^#' "$@" | cut -c 17-
}

# bats test_tags=quick
@test "tfs-persist: save writes the last boot's events to the byte, and says when it ended" {
	recording
	crash
	run tfs-persist -R boot save
	[ "$status" = 0 ]
	[ "${lines[0]}" = "$PWD/state/last-boot.dat" ]
	[[ ${lines[1]} == "tfs-persist: Linux $(uname -r) has left 1000 events; the last was at 20"*Z ]]
	[ "${#lines[@]}" = 2 ]
	tfs-report state/last-boot.dat >got
	cmp <(plain kernel) <(plain got)
	[ "$(grep -c -- "-$CALLS  *\[.*sys_getppid()" got)" = 1000 ]
	[ "$(stat -c %a state/last-boot.dat)" = 600 ]
	[ "$(tfs-report -d state/last-boot.dat | sed -n '1s/^# date: \(.\{11\}\).*/\1/p')" = \
		"$(date -u +%Y-%m-%dT)" ]
}

@test "tfs-flight: -P saves formats and names for its owner alone, and forgets them at the end" {
	recording
	[ "$(stat -c %a state state/names state/formats.dat | tr '\n' ' ')" = "700 600 600 " ]
	[ "$(head -n 1 state/names)" = "boot $(cat /proc/sys/kernel/random/boot_id)" ]
	[[ $(sed -n 2p state/names) =~ ^date\ [0-9]+$ ]]
	grep -qx "$$ $(cat /proc/$$/comm)" state/names
	run tfs-report state/formats.dat
	[ "$status" = 0 ] && [ -z "$output" ]
	ends_by "$FLIGHT" TERM 0
	[ -z "$(ls -A state)" ]
}

# saves_nothing MESSAGE: save has nothing to do, says why, and leaves the buffer as it is.
saves_nothing() {
	find boot -type f -size +0 -exec cksum {} + >before
	run tfs-persist -R boot save
	[ "$status" = 1 ]
	[ "$output" = "tfs-persist: $1" ]
	[ ! -e state/last-boot.dat ]
	find boot -type f -size +0 -exec cksum {} + | cmp before -
}

@test "tfs-persist: keeps events of this boot, and those that nobody can read, in their buffer" {
	recording
	crash
	sed -i "s/^boot .*/boot $(cat /proc/sys/kernel/random/boot_id)/" state/names
	saves_nothing "tfs.boot has events of this boot only"
	rm state/names
	saves_nothing "tfs.boot has events, but $PWD/state does not have their formats, which only a \
session with --persist saves; instances/tfs.boot/trace shows the events"
}

@test "tfs-persist: a buffer that records again is left alone" {
	recording
	crash
	echo 1 >boot/instances/tfs.boot/tracing_on
	saves_nothing "tfs.boot is in use, so its events are of this boot; a session with --persist \
saves those of the last boot to $PWD/state/last-boot.dat before it records"
}

@test "tfs-persist: says that an empty buffer is empty" {
	recording
	crash
	for stats in boot/instances/tfs.boot/per_cpu/*/stats; do
		sed -i 's/^entries: .*/entries: 0/' "$stats"
	done
	saves_nothing "tfs.boot is empty: nothing has recorded, the last session ended before the \
machine did, or the memory was cleared"
}

@test "tfs-persist: save -i reads a backup, which has no file to record" {
	recording
	crash
	rm boot/instances/tfs.boot/tracing_on boot/instances/tfs.boot/set_event
	mv boot/instances/tfs.boot boot/instances/old
	run tfs-persist -R boot save
	[ "$status" = 1 ]
	[ "$output" = "tfs-persist: fatal: this boot has no reserved instance tfs.boot: add the parameters \
that 'tfs-persist reserve' prints to the kernel's command line, and reboot" ]
	tfs-persist -R boot -i old save >out 2>err
	[ "$(tfs-report state/last-boot.dat | wc -l)" = 1000 ]
}

@test "tfs-persist: tells a gap after the reader's sub-buffer if all others have events, too" {
	recording
	crash
	where=boot/instances/tfs.boot/per_cpu
	for cpu in "$where"/cpu*; do
		bytes=$(stat -c %s "$cpu/trace_pipe_raw")
		printf 'head_buffer:   1\ncommit_buffer: 2\nsubbuf_size:   4096\nnr_subbufs:    %d\n' \
			$((bytes / 4096)) >"$cpu/buffer_meta"
	done
	tfs-persist -R boot save >out 2>err
	tfs-report state/last-boot.dat >got
	full=$(find boot -name trace_pipe_raw -size +8 | wc -l)
	[ "$full" -gt 0 ]
	[ "$(grep -c '^CPU:[0-9]* \[LOST EVENTS\]$' got)" = "$full" ]
	cmp <(plain kernel) <(grep -v LOST got | plain)

	for cpu in "$where"/cpu*; do
		bytes=$(stat -c %s "$cpu/trace_pipe_raw")
		echo "nr_subbufs:    $((bytes / 4096 + 1))" | sed "1s/^/\n/" >"$cpu/buffer_meta"
	done
	tfs-persist -R boot save >out 2>err
	cmp <(plain kernel) <(tfs-report state/last-boot.dat | plain)
}

@test "tfs-persist: a full disk loses nothing, and a later save has everything" {
	recording
	crash
	mkdir full
	mount -t tmpfs -o size=300k full full
	run tfs-persist -R boot save full/trace.dat
	rm -f full/*
	left=$(ls -A full)
	umount full
	[ "$status" = 111 ]
	[ "$output" = "tfs-persist: fatal: unable to write full/trace.dat; the events are still in the \
ring buffer: No space left on device" ]
	[ -z "$left" ]
	tfs-persist -R boot save 2>err >out
	[ "$(tfs-report state/last-boot.dat | wc -l)" = 1000 ]
}

@test "tfs-persist: keeps the files of three boots" {
	recording
	crash
	for _ in 1 2 3 4; do
		tfs-persist -R boot save >out 2>err
	done
	[ "$(cd state && echo last*)" = "last-boot.dat last-boot.dat.1 last-boot.dat.2" ]
	cmp state/last-boot.dat state/last-boot.dat.2
}

@test "tfs-persist: names tasks by the newest event of all CPUs" {
	recording task
	echo $$ >"$DIR/set_event_pid"
	echo 1 >"$DIR/options/event-fork"
	# two tasks of different CPUs: a fork on one, an exec on the other
	for _ in 1 2 3 4 5 6 7 8; do
		( exec tfs-dir >/dev/null )
	done
	crash
	tfs-persist -R boot save >out 2>err
	# a task that ran has the name of its program, and not that of the shell which it was forked from
	tfs-report -e task_rename state/last-boot.dat >renamed
	[ "$(grep -c 'newcomm=tfs-dir' renamed)" = 8 ]
	[ "$(grep -c '^ *tfs-dir-' renamed)" = 8 ]
}

@test "tfs-persist: prints the kernel's line about its panic, with its time" {
	[ "${TFS_VARIANT-}" = vm ] || skip "needs a guest (make check-vm)"
	recording
	echo "<0>Kernel panic - not syncing: sysrq triggered crash" >/dev/kmsg
	crash
	run tfs-persist -R boot save
	[ "$status" = 0 ]
	[[ ${lines[2]} == "tfs-persist: 20"*"Z: Kernel panic - not syncing: sysrq triggered crash" ]]
}

@test "tfs-persist: damaged files, garbage in the buffer, other directories: one clear line each" {
	recording
	crash
	TFS_STATE=$PWD/other
	mkdir -m 777 other
	run tfs-persist -R boot save
	[ "$status" = 111 ]
	[ "$output" = "tfs-persist: fatal: $PWD/other must belong to this user, and nobody else may write \
to it: set TFS_STATE to another directory" ]
	TFS_STATE=$PWD/state
	cp -r state kept
	echo "boot x" >state/names
	run tfs-persist -R boot save
	[ "$status" = 111 ] && [ "$output" = "tfs-persist: fatal: $PWD/state/names is damaged, so the \
events of the last boot cannot be read; remove it to give them up" ]
	cp kept/names state
	head -c 5000 kept/formats.dat >state/formats.dat
	run tfs-persist -R boot save
	[ "$status" = 111 ] && [ "${#lines[@]}" = 1 ]
	[[ $output == "tfs-persist: fatal: $PWD/state/formats.dat ends in "* ]]
	cp kept/formats.dat state
	head -c 65536 /dev/urandom >boot/instances/tfs.boot/per_cpu/cpu0/trace_pipe_raw
	run tfs-persist -R boot save
	[ "$status" = 0 ]
	run tfs-report state/last-boot.dat
	[[ $status == @(0|111) ]]
}

# ---- reserve --------------------------------------------------------------------------

# reserves IOMEM MB: Print the words for the command line of a machine with this memory.
reserves() {
	mkdir -p proc/sys/kernel
	cp /proc/meminfo proc
	cp "$1" proc/iomem
	echo 10 >proc/sys/kernel/panic
	TRACER_PROCFS_PATH=$PWD/proc tfs-persist reserve "$2" 2>err
}

@test "tfs-persist: reserve proposes the middle of the largest memory, beside what is used" {
	[ "$(uname -m)" = x86_64 ] || skip "needs x86_64"
	case $(uname -r) in [1-5].* | 6.[0-9].* | 6.1[01].*) skip "needs Linux 6.12" ;; esac
	cat >iomem <<-'EOF'
		00000000-00000fff : Reserved
		00001000-0009fbff : System RAM
		00100000-3ffdcfff : System RAM
		  1f000000-202fffff : Kernel code
		  20300000-208fffff : Crash kernel
		fd000000-fdffffff : PCI Bus 0000:00
		100000000-1bfffffff : System RAM
	EOF
	[ "$(reserves iomem 20)" = \
		'memmap=20M$0x160000000 trace_instance=tfs.boot^traceoff@0x160000000:20M' ]
	sed -i '$d' iomem
	[ "$(reserves iomem 20)" = \
		'memmap=20M$0x20a00000 trace_instance=tfs.boot^traceoff@0x20a00000:20M' ]
	grep -q "add these parameters" err
}

@test "tfs-persist: refuses wrong words, and memory that it cannot see" {
	export TFS_STATE=$PWD/state
	while IFS=: read -r words why; do
		# shellcheck disable=SC2086 # words
		run tfs-persist $words
		[ "$status" = 100 ]
		[[ $output == "tfs-persist: fatal: $why; usage: "* ]]
	done <<-'EOF'
		:no command; give reserve or save
		keep:no such command: 'keep'; give reserve or save
		reserve 1:not a number of megabytes from 2 to 65536: '1'
		reserve x:not a number of megabytes from 2 to 65536: 'x'
		save a b:unexpected operand 'b'
	EOF
	case $(uname -r) in [1-5].* | 6.[0-9].* | 6.1[01].*) skip "needs Linux 6.12" ;; esac
	[ "$(uname -m)" = x86_64 ] || skip "needs x86_64"
	echo '00000000-00000000 : System RAM' >iomem
	run reserves iomem 20
	[ "$status" = 111 ]
	[ "$(cat err)" = "tfs-persist: fatal: /proc/iomem does not show where memory is; run tfs-persist \
as root, with CAP_SYS_ADMIN" ]
	echo '00100000-027fffff : System RAM' >iomem
	run reserves iomem 20
	[ "$status" = 111 ]
	[ "$(cat err)" = "tfs-persist: fatal: /proc/iomem has no room for 20 MB in the largest range of \
memory; give a smaller number" ]
}

@test "trace_flight: --persist without a reserved buffer says what to do, and leaves nothing" {
	need_tracefs
	[ ! -e "$TRACEFS/instances/tfs.boot" ] || skip "needs a machine without a reserved buffer"
	run "$MANAGER" --run trace_flight --args "--all -e getppid --persist"
	[ "$status" = 111 ]
	[ "$output" = "manager: fatal: --persist: this boot has no reserved instance tfs.boot: add the \
parameters that 'tfs-persist reserve' prints to the kernel's command line, and reboot" ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2153,SC2154 # each test is a subshell; helper.bash
# manager and others: faults that only a guest can bear: file systems without room, no free
# memory, CPUs that go, tracefs remounted, the top level in use. Everywhere else each
# test skips.
# parts: 4

# bats file_tags=guest
load ../helper

NO_ROOM='No space left on device'
NO_MEMORY='Out of memory' # the message of musl, because the tools are static in a guest

# SESSIONS: how many sessions the test of memory makes; 1000 take about four minutes of
# emulation. The kernel's command line may have another number (TFS_VM_WORDS).
SESSIONS=${SESSIONS:-1000}
[ "$(uname -m)" = x86_64 ] || SESSIONS=200

need_guest() {
	[ "${TFS_VARIANT-}" = vm ] || skip "needs a guest (make check-vm)"
	need_tracefs events/syscalls
}

# later COMMAND...: Run COMMAND when the test is over, the last one first. A COMMAND without
# work to do must succeed.
LATER=()
later() {
	LATER+=("$(printf '%q ' "$@")")
}

undo() {
	local i status=0
	for ((i = ${#LATER[@]} - 1; i >= 0; i--)); do
		eval "${LATER[i]}" || { echo "not undone: ${LATER[i]}"; status=1; }
	done
	return $status
}

report() {
	echo "# $*" >&3
}

OUTPUT=fifo

# begin WORD...: Start a session of getppid.
begin() {
	start_session trace_syscalls --syscall getppid --output "$OUTPUT" "$@"
}

# session WORD...: Start a session of getppid, and a reader that saves what it reads in got.
session() {
	begin "$@"
	read_by cat >got
}

# has N: Fail unless the session ended by itself and its reader has exactly N calls.
has() {
	watch_end
	[ "$(grep -c ': sys_getppid()$' got)" = "$1" ]
	file_has "$1" got
}

# works [WORD...]: Fail unless a session works now.
works() {
	calls 20
	session --pid "$CALLS" "$@"
	release
	has 20
}

# tells STATUS LINE COMMAND...: Like fails, and also fail if anything is left of a session.
tells() {
	fails "$@"
	nothing_left
}

# run_now WORD...: Run a session that ends at once, on its own standard output.
run_now() {
	"$MANAGER" --run trace_syscalls \
		--args "--instance $MARK --syscall getppid --time 1 --pid $CALLS $*"
}

# to FILE COMMAND...: Run COMMAND with FILE as standard output.
to() {
	local file=$1
	shift
	"$@" >"$file"
}

# ---- no room -------------------------------------------------------------------

# need_tmpfs DIR: Skip unless DIR is a tmpfs with limits.
need_tmpfs() {
	grep -q "^[^ ]* $1 " /proc/mounts || skip "needs a file system at $1"
	[ "$(stat -f -c %b "$1")" -gt 0 ] || skip "needs CONFIG_TMPFS for $1"
}

# fill DIR KIND: Leave no free byte, or no free inode, in DIR's tmpfs. A limit of 0 would
# mean no limit, so something occupies the tmpfs.
fill() {
	local blocks free bytes inodes inodes_free
	need_tmpfs "$1"
	later rm -f "$1/filled"
	to "$1/filled" echo x
	read -r blocks free bytes inodes inodes_free <<<"$(stat -f -c '%b %f %s %c %d' "$1")"
	later mount -o "remount,size=$((blocks * bytes)),nr_inodes=$inodes" "$1"
	case $2 in
	bytes) mount -o "remount,size=$(((blocks - free) * bytes))" "$1" ;;
	inodes) mount -o "remount,nr_inodes=$((inodes - inodes_free))" "$1" ;;
	esac
}

# make_room: Restore what fill took.
make_room() {
	undo
	LATER=()
}

# There are two places: /run, which sessions have for themselves, and a directory below /,
# where only TFS_RUNDIR puts them.
run_directories() {
	[ -d /run ] || skip "needs /run"
	later rm -rf /run/tfs "/$MARK" /run/a /run/b /run/c /run/d
	RUN_DIRECTORIES="/run/tfs /$MARK"
}

@test "manager: without free space on / and /run FIFOs work and a file is refused, and later it works" {
	need_guest
	run_directories
	fill / bytes
	fill /run bytes
	run ! to "/run/$MARK" echo x
	run ! to "/$MARK" echo x
	rm "/run/$MARK" "/$MARK"
	for TFS_RUNDIR in $RUN_DIRECTORIES; do
		for OUTPUT in lines fifo; do
			works
		done
		refused 111 "--size: 4 KB do not fit into $TFS_RUNDIR/ftrace, which has 0 left" \
			--run trace_syscalls --args "--pid $$ --output file --size 4"
	done
	tfs-instance make "$MARK"
	tfs-write -i "$MARK" events/syscalls/sys_enter_getppid/enable 1
	tfs-instance remove "$MARK"
	make_room
	run_directories
	OUTPUT='file'
	for TFS_RUNDIR in $RUN_DIRECTORIES; do
		calls 20
		begin --size 64 --pid "$CALLS"
		release
		session_ends
		[ "$(grep -c ': sys_getppid()$' "$TRACE")" = 20 ]
	done
}

@test "manager: without free inodes on / and /run it prints one clear line, and harms no running session" {
	need_guest
	run_directories
	calls 20
	export TFS_RUNDIR=/run/tfs
	session --pid "$CALLS"
	fill / inodes
	fill /run inodes
	release
	has 20
	# the two inodes of the session are free again
	mkdir /run/tfs/a /run/tfs/b
	run ! mkdir /run/tfs/c
	run ! mkdir "/$MARK"
	calls 1
	for output in lines fifo file; do
		tells 111 "manager: fatal: unable to make session directory /run/tfs/ftrace/$MARK: $NO_ROOM" \
			run_now --size 4 --output "$output"
		TFS_RUNDIR=/$MARK tells 111 "manager: fatal: unable to make /$MARK (TFS_RUNDIR can name another directory): $NO_ROOM" \
			run_now --size 4 --output "$output"
	done
	rmdir /run/tfs/a /run/tfs/b /run/tfs/ftrace /run/tfs
	mkdir /run/a /run/b /run/c /run/d
	tells 111 "manager: fatal: unable to make /run/tfs (TFS_RUNDIR can name another directory): $NO_ROOM" \
		run_now
	rmdir /run/a /run/b /run/c /run/d
	make_room
	run_directories
	for TFS_RUNDIR in $RUN_DIRECTORIES; do
		works
	done
}

@test "manager: makes a missing /run, or says that TFS_RUNDIR may help" {
	need_guest
	if grep -q ' /run ' /proc/mounts; then
		later mount -t tmpfs run /run
		umount /run
	fi
	if [ -d /run ]; then
		later mkdir -p /run
		rmdir /run
	else
		later rmdir /run
	fi
	later rm -rf /run/tfs
	calls 1
	later mount -o remount,rw /
	mount -o remount,ro /
	unset_rundir() { env -u TFS_RUNDIR "$MANAGER" --run trace_syscalls \
		--args "--instance $MARK --time 1 --pid $CALLS"; }
	tells 111 "manager: fatal: unable to make /run (TFS_RUNDIR can name another directory): Read-only file system" \
		unset_rundir
	outputs 0 "$TFS_RUNDIR/ftrace/$MARK/trace" run_now
	mount -o remount,rw /
	outputs 0 "/run/tfs/ftrace/$MARK/trace" unset_rundir
	[ "$(stat -c '%a %u' /run /run/tfs /run/tfs/ftrace | paste -sd ' ')" = '755 0 755 0 700 0' ]
	[ -z "$(ls -A /run/tfs/ftrace)" ]
}

# ---- no memory -------------------------------------------------------------------

# memory NAME: Print this line of meminfo, in KB.
memory() {
	awk -v name="$1:" '$1 == name { print $2 }' /proc/meminfo
}

# free_kb: Print the free memory, including the lists of each CPU, after emptying the caches.
# The kernel returns some of it late.
free_kb() {
	local pages
	sync
	echo 3 >/proc/sys/vm/drop_caches
	pages=$(awk '$1 == "count:" { n += $2 } END { print n + 0 }' /proc/zoneinfo)
	echo $(($(memory MemFree) + pages * $(page_kb)))
}

page_kb() {
	awk '$1 == "KernelPageSize:" { print $2; exit }' /proc/self/smaps
}

# bystander: Start a program that must not be killed for the memory that a test takes.
bystander() {
	calls 1
	BYSTANDER=$CALLS
	KILLS=$(grep '^oom_kill ' /proc/vmstat) || skip "needs oom_kill in /proc/vmstat"
}

bystander_lives() {
	[ "$(grep '^oom_kill ' /proc/vmstat)" = "$KILLS" ] && ! gone "$BYSTANDER"
}

# unmeasured COMMAND...: Run COMMAND where the available memory cannot be read.
unmeasured() {
	grep -v '^MemAvailable:' /proc/meminfo >meminfo
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m sh -c 'mount --bind meminfo /proc/meminfo && exec "$@"' sh "$@"
}

@test "manager: refuses a --buffer above half of the memory, and makes the size that it offers" {
	need_guest
	bystander
	cpus=$(grep -c '^processor' /proc/cpuinfo)
	kb=$(memory MemTotal)
	run --separate-stderr -111 run_now --buffer "$kb"
	[ -z "$output" ]
	[[ $stderr =~ ^"manager: fatal: --buffer: $kb KB for each of $cpus CPUs is more than half of the memory that is free; "([0-9]+)" would fit"$ ]]
	fits=${BASH_REMATCH[1]}
	[ "$fits" -gt $(($(memory MemAvailable) * 2 / 5 / cpus)) ]
	nothing_left
	before=$(free_kb)
	# the available memory changes from moment to moment
	works --buffer $((fits * 9 / 10))
	after=$(free_kb)
	report "--buffer $((fits * 9 / 10)): $before KB free before, $after after"
	[ "$after" -gt $((before - fits / 10)) ]
	bystander_lives
}

@test "manager: --buffer counts all CPUs, even if the manager may run on one CPU only" {
	need_guest
	need_tool taskset
	calls 1
	cpus=$(grep -c '^processor' /proc/cpuinfo)
	kb=$(memory MemTotal)
	run --separate-stderr -111 taskset 1 "$MANAGER" --run trace_syscalls \
		--args "--instance $MARK --time 1 --pid $CALLS --buffer $kb"
	[[ $stderr == "manager: fatal: --buffer: $kb KB for each of $cpus CPUs is more "* ]]
}

@test "manager: prints the kernel's reason for a buffer that it cannot make, and keeps nothing" {
	need_guest
	need_tool unshare
	bystander
	before=$(free_kb)
	# too much for one CPU, or for the second CPU only
	for kb in "$(memory MemTotal)" $(($(memory MemAvailable) * 3 / 4)); do
		tells 111 "manager: fatal: unable to write '$kb' to buffer_size_kb: $NO_MEMORY" \
			unmeasured "$MANAGER" --run trace_syscalls \
			--args "--instance $MARK --time 1 --pid $CALLS --buffer $kb"
	done
	after=$(free_kb)
	report "$before KB free before, $after after"
	[ "$after" -gt $((before - before / 20)) ]
	bystander_lives
	works
}

# use_up: Take all available memory, except what the kernel keeps for the tests.
use_up() {
	local watermark kb n=0
	watermark=$(cat /proc/sys/vm/watermark_scale_factor)
	later to /proc/sys/vm/watermark_scale_factor echo "$watermark"
	echo 1000 >/proc/sys/vm/watermark_scale_factor
	mkdir memory
	mount -t tmpfs -o size=100% tmpfs memory
	later umount memory
	while kb=$(memory MemAvailable); [ "$kb" -gt 0 ]; do
		n=$((n + 1))
		head -c $((kb * 1024)) /dev/zero >"memory/$n"
	done
	# and some more, for memory that others free during the test
	head -c 33554432 /dev/zero >memory/more
}

@test "manager: without free memory it prints one clear line, and a running session loses nothing" {
	need_guest
	bystander
	calls 1000
	session --pid "$CALLS"
	use_up
	release
	has 1000
	CALLS=$BYSTANDER
	tells 111 "manager: fatal: unable to make instance tfs.$MARK: $NO_MEMORY" run_now
	cpus=$(grep -c '^processor' /proc/cpuinfo)
	tells 111 "manager: fatal: --buffer: 4 KB for each of $cpus CPUs is more than half of the memory that is free; 0 would fit" \
		run_now --buffer 4
	fails 111 "tfs-instance: fatal: unable to make instance $MARK: $NO_MEMORY" \
		tfs-instance make "$MARK"
	bystander_lives
	make_room
	works
}

# row NUMBER N: Run N sessions, one after the other.
row() {
	local i name=$MARK.$1
	for ((i = 0; i < $2; i++)); do
		"$MANAGER" --run trace_syscalls \
			--args "--instance $name --syscall getppid --time 1 --pid $CALLS"
	done 3>&- >"row.$1" 2>&1
}

# rows N: Run N sessions in four rows, because each session waits for the kernel most of
# the time.
rows() {
	local i pids=()
	for i in 1 2 3 4; do
		row "$i" $(($1 / 4)) &
		pids+=("$!")
	done
	wait "${pids[@]}"
	for i in 1 2 3 4; do
		[ "$(wc -l <"row.$i")" = $(($1 / 4)) ]
		[ "$(uniq "row.$i")" = "$TFS_RUNDIR/ftrace/$MARK.$i/trace" ]
	done
}

# Print the number of programs that run.
programs() {
	readlink /proc/[0-9]*/exe | wc -l
}

@test "manager: after $SESSIONS sessions as much memory is free as before, and nothing is left" {
	need_guest
	calls 1
	rows 40
	running=$(programs)
	before=$(free_kb)
	slab=$(memory Slab)
	begun=$SECONDS
	rows "$SESSIONS"
	took=$((SECONDS - begun))
	after=$(free_kb)
	report "$SESSIONS sessions in $took s: $before KB free before, $after after;" \
		"$slab KB of slab before, $(memory Slab) after"
	# less than 8 KB for each session, and than a single instance takes
	most=$((SESSIONS < 256 ? SESSIONS * 8 : 2048))
	[ "$after" -gt $((before - most)) ]
	[ "$(memory Slab)" -lt $((slab + most)) ]
	[ "$(programs)" = "$running" ]
	[ -z "$(ls -A "$TRACEFS/instances")$(ls -A "$TFS_RUNDIR/ftrace")" ]
}

# ---- CPUs come and go ------------------------------------------------------

# need_cpu1: Skip unless there are two CPUs and the second can go offline.
need_cpu1() {
	CPU1=/sys/devices/system/cpu/cpu1
	need_tool taskset
	[ -d "$CPU1" ] || skip "needs two CPUs"
	[ -w "$CPU1/online" ] || skip "needs CONFIG_HOTPLUG_CPU"
	later to "$CPU1/online" echo 1
}

# cpu1 0|1: Take the second CPU offline or online.
cpu1() {
	echo "$1" >"$CPU1/online"
	file_is "$CPU1/online" "$1"
}

# task N: Start one more program of N calls, held: TASK[i], GATE[i].
task() {
	calls "$1"
	TASK+=("$CALLS")
	GATE+=("$GO")
}

# call I CPU: Let program I make its calls on this CPU and end.
call() {
	taskset -p "$((1 << $2))" "${TASK[$1]}" >/dev/null
	echo >"${GATE[$1]}"
	finishes "${TASK[$1]}" 0
}

# called I CPU: Print how many calls of program I on this CPU are in got.
called() {
	grep -c -- "-${TASK[$1]} *\[00$2\] .*: sys_getppid()\$" got || :
}

@test "manager: delivers each call on a CPU that goes and comes back during a session" {
	need_guest
	need_cpu1
	task 300
	task 200
	task 400
	session --pid "${TASK[*]}"
	call 0 1
	cpu1 0
	call 1 0
	cpu1 1
	call 2 1
	has 900
	[ "$(called 0 1) $(called 1 0) $(called 2 1)" = '300 200 400' ]
}

@test "manager: a late reader gets the events of a CPU that went meanwhile" {
	need_guest
	need_cpu1
	task 300
	task 1
	begin --pid "${TASK[*]}"
	call 0 1
	cpu1 0
	read_by cat >got
	call 1 0
	has 301
	[ "$(called 0 1) $(called 1 0)" = '300 1' ]
}

@test "manager: counts overwritten events of a CPU that went meanwhile as lost" {
	need_guest
	need_cpu1
	many=$((500 * $(page_kb))) # the smallest buffer has a few sub-buffers
	task "$many"
	task 1
	begin --buffer 4 --pid "${TASK[*]}"
	call 0 1
	cpu1 0
	read_by cat >got
	call 1 0
	watch_end
	[[ $(tail -n 1 got) =~ ^'# lost '([0-9]+)' events: '([0-9]+)' overwritten in a full buffer, 0 not written'$ ]]
	lost=${BASH_REMATCH[1]}
	[ "$lost" -gt 0 ]
	[ "${BASH_REMATCH[2]}" = "$lost" ]
	[ $(($(called 0 1) + lost)) = "$many" ]
	[ "$(called 1 0)" = 1 ]
}

@test "manager: records a CPU that comes after the session began" {
	need_guest
	need_cpu1
	task 200
	task 300
	cpu1 0
	session --pid "${TASK[*]}"
	call 0 0
	cpu1 1
	call 1 1
	has 500
	[ "$(called 0 0) $(called 1 1)" = '200 300' ]
}

# ---- tracefs is remounted ----------------------------------------------------------

# tracefs OPTION: Remount tracefs with OPTION; the end of the test restores it.
tracefs() {
	mount -o "remount,$1" "$TRACEFS"
}

@test "manager: reports a read-only tracefs on one line, leaves nothing, and works when it is writable again" {
	need_guest
	new_instance
	"$MANAGER" --clear
	calls 1
	later tracefs rw
	tracefs ro
	no='Read-only file system'
	tells 111 "manager: fatal: unable to make instance tfs.$MARK: $no" run_now
	fails 111 "tfs-instance: fatal: unable to make instance $MARK.b: $no" \
		tfs-instance make "$MARK.b"
	fails 111 "tfs-instance: fatal: unable to remove instance $MARK: $no" \
		tfs-instance remove "$MARK"
	fails 111 "tfs-write: fatal: unable to write tracing_on: $no" \
		tfs-write -i "$MARK" tracing_on 1
	fails 111 "tfs-pidfilter: fatal: unable to write '1' to options/event-fork: $no" \
		tfs-pidfilter -i "$MARK" set 1
	fails 111 "tfs-run: fatal: unable to make instance tfs.$MARK: $no" \
		tfs-run trace_syscalls --instance "$MARK" -- true
	# commands that write nothing still work
	[ "$(tfs-dir -i "$MARK")" = "$TRACEFS/instances/$MARK" ]
	[ "$(tfs-instance list)" = "$MARK" ]
	run -1 tfs-pidfilter -i "$MARK" list
	[ "$output" = "tfs-pidfilter: the pid filter names no task" ]
	run -0 "$MANAGER" --clear
	[ -z "$output" ]
	tracefs rw
	works
}

@test "manager: exits 111 if tracefs becomes read-only, --clear names the rest, and later removes it" {
	need_guest
	"$MANAGER" --clear
	calls 50
	session --pid "$CALLS"
	later tracefs rw
	tracefs ro
	release
	finishes "$SESSION" 111
	finishes "$READER" 0
	[ "$(grep -c ': sys_getppid()$' got)" = 50 ]
	[ -z "$(ls -A "$TFS_RUNDIR/ftrace")" ]
	[ "$(tfs-instance list -s)" = "tfs.$MARK" ]
	fails 111 "manager: fatal: unable to remove stale instance tfs.$MARK: Read-only file system" \
		"$MANAGER" --clear
	tracefs rw
	calls 1
	run -0 "$MANAGER" --run trace_syscalls --args "--instance $MARK.b --time 1 --pid $CALLS"
}

# ---- without root -------------------------------------------------------------------

USER_ID=4242 GROUP_ID=4343

# user COMMAND...: Run COMMAND as a member of the group without root's rights.
user() {
	setpriv --reuid "$USER_ID" --regid "$GROUP_ID" --clear-groups "$@"
}

# need_user: Skip unless this user can be used; make a run directory that the user can create.
need_user() {
	need_tool setpriv
	export TFS_RUNDIR=/tmp/$MARK.run
	later rm -rf "$TFS_RUNDIR"
	later tracefs uid=0,gid=0,mode=700
}

# streams: Succeed when the process that sigwait-run started as $reader handles its signals.
streams() {
	STREAM=$(children "$reader") && blocks "$STREAM"
}

# as_user: Run sessions as the user, by the full path, because busybox has a setpriv as well.
as_user() {
	printf '#!/bin/sh\nexec %s %s "$@"\n' \
		"$(command -v setpriv) --reuid $USER_ID --regid $GROUP_ID --clear-groups" \
		"$MANAGER" >manager
	chmod +x manager
	MANAGER=$PWD/manager
}

@test "tfs-dir: gid= alone lets no user into tracefs, and the error names the remedy" {
	need_guest
	need_user
	tracefs "gid=$GROUP_ID"
	[ "$(stat -c '%a %g' "$TRACEFS")" = "700 $GROUP_ID" ]
	remedy="this needs CAP_DAC_OVERRIDE: run this as root, or remount it with mode=750 and gid= of a group of yours"
	for tool in tfs-dir 'tfs-write tracing_on 1' 'tfs-instance list' 'tfs-pidfilter list' 'tfs-catpipe -i /'; do
		# shellcheck disable=SC2086 # its words
		fails 111 "${tool%% *}: fatal: no permission for $TRACEFS; $remedy" user $tool
	done
	as_user
	calls 1
	tells 111 "manager: fatal: no permission for $TRACEFS; $remedy" run_now
	tracefs "gid=$GROUP_ID,mode=750"
	[ "$(user tfs-dir)" = "$TRACEFS" ]
}

@test "gid=: the group sees what root traces, in old and new instances" {
	need_guest
	need_user
	new_instance
	tracefs "gid=$GROUP_ID,mode=750"
	tfs-instance make "$MARK.b"
	[ "$(user tfs-instance list | sort)" = "$(printf '%s\n' "$MARK" "$MARK.b")" ]
	for TFS_INSTANCE in "$MARK" "$MARK.b"; do
		export TFS_INSTANCE
		[ "$(user tfs-dir)" = "$TRACEFS/instances/$TFS_INSTANCE" ]
		calls 20
		echo "$CALLS" | tfs-pidfilter set
		tfs-write events/syscalls/sys_enter_getppid/enable 1
		[ "$(user tfs-pidfilter list)" = "$CALLS" ]
		background user sigwait-run -p "$CALLS" tfs-catpipe >got
		reader=$PID
		eventually streams
		release "$reader"
		[ "$(grep -c ': sys_getppid()$' got)" = 20 ]
		# and into a pipe of the user's own
		calls 20
		echo "$CALLS" | tfs-pidfilter set
		release "$CALLS"
		user sh -c "tfs-catpipe | head -n 20" >got
		[ "$(grep -c ': sys_getppid()$' got)" = 20 ]
	done
}

@test "gid=: the group can write to trace_marker only" {
	need_guest
	"$MANAGER" --clear
	need_user
	new_instance
	tracefs "gid=$GROUP_ID,mode=750"
	no='Permission denied; this needs CAP_DAC_OVERRIDE'
	fails 111 "tfs-write: fatal: unable to write tracing_on: $no" \
		user tfs-write tracing_on 1
	fails 111 "tfs-write: fatal: unable to write events/sched/sched_switch/enable: $no" \
		user tfs-write -i "$MARK" events/sched/sched_switch/enable 1
	fails 111 "tfs-pidfilter: fatal: unable to write '1' to options/event-fork: $no" \
		user tfs-pidfilter -i "$MARK" set 1
	fails 111 "tfs-instance: fatal: unable to make instance $MARK.b: $no" \
		user tfs-instance make "$MARK.b"
	fails 111 "tfs-instance: fatal: unable to remove instance $MARK: $no" \
		user tfs-instance remove "$MARK"
	later chmod "$(stat -c %a "$TRACEFS/events/sched/sched_switch/enable")" \
		"$TRACEFS/events/sched/sched_switch/enable"
	chmod 600 "$TRACEFS/events/sched/sched_switch/enable"
	run -1 user "$MANAGER" --check trace_sched
	[ "$output" = "trace_sched: unable to open events/sched/sched_switch/enable in $TRACEFS: $no" ]
	user tfs-write trace_marker "$MARK was here"
	[ "$(grep -c ": tracing_mark_write: $MARK was here\$" "$TRACEFS/trace")" = 1 ]
	tfs-write -c trace ''
	calls 1
	fails 111 "tfs-run: fatal: unable to make instance tfs.$MARK.c: $no" \
		user tfs-run trace_syscalls --instance "$MARK.c" -- true
	as_user
	tells 111 "manager: fatal: unable to make instance tfs.$MARK: $no" run_now
	run -0 "$MANAGER" --clear
	[ -z "$output" ]
	[ "$("$MANAGER" --get-all)" = "$("$TREE/trace-hooks/ftrace/manager" --get-all)" ]
}

# by_hand: Let the user trace 20 calls in instance $MARK with the tools.
by_hand() {
	calls 20
	export TFS_INSTANCE=$MARK
	user sh -c "pids-of $CALLS | tfs-pidfilter set"
	user tfs-write events/syscalls/sys_enter_getppid/enable 1
	background user sigwait-run -p "$CALLS" -u 'tfs-write tracing_on 0' tfs-catpipe >got
	reader=$PID
	eventually streams
	release
	finishes "$reader" 0
	[ "$(grep -c ': sys_getppid()$' got)" = 20 ]
	file_has 20 got
	file_is "$DIR/tracing_on" 0
}

@test "gid=: after chmod -R g+w of an instance of root the group can trace in it by hand" {
	need_guest
	need_user
	new_instance
	tracefs "gid=$GROUP_ID,mode=750"
	chmod -R g+w "$DIR"
	by_hand
}

@test "gid=: after chown -R of an instance of root its new owner can trace in it by hand" {
	need_guest
	need_user
	new_instance
	tracefs "gid=$GROUP_ID,mode=750"
	chown -R "$USER_ID" "$DIR"
	by_hand
}

@test "gid=: a user who may write to instances but not to their files gets one line, and nothing is left" {
	need_guest
	need_user
	tracefs "gid=$GROUP_ID,mode=750"
	later chmod 750 "$TRACEFS/instances"
	chmod 770 "$TRACEFS/instances"
	as_user
	calls 1
	tells 111 "manager: fatal: unable to write '0' to tracing_on: Permission denied; this needs CAP_DAC_OVERRIDE" run_now
}

@test "manager: runs without root for a user who owns instances and made everything in it" {
	need_guest
	"$MANAGER" --clear
	need_user
	tracefs "gid=$GROUP_ID,mode=750"
	later chown 0 "$TRACEFS/instances"
	chown "$USER_ID" "$TRACEFS/instances"
	as_user
	works
	[ "$(stat -c '%u %a' "$TFS_RUNDIR" "$TFS_RUNDIR/ftrace" | paste -sd ' ')" = "$USER_ID 755 $USER_ID 700" ]
	user tfs-run trace_syscalls --instance "$MARK" --syscall getppid -- "$PROG/calls" 20 </dev/null >got
	[ "$(grep -c ': sys_getppid()$' got)" = 20 ]
	nothing_left
	run -0 "$MANAGER" --clear
	[ -z "$output" ]
}

@test "uid=: a user whose uid= covers the files runs sessions, and another user is refused" {
	need_guest
	"$MANAGER" --clear
	need_user
	tracefs "uid=$USER_ID,gid=$GROUP_ID,mode=750"
	[ "$(stat -c '%u' "$TRACEFS")" = "$USER_ID" ]
	as_user
	case $(stat -c %u "$TRACEFS/instances") in
	0)
		calls 1
		tells 111 "manager: fatal: unable to make instance tfs.$MARK: Permission denied; this needs CAP_DAC_OVERRIDE" run_now
		;;
	"$USER_ID")
		works
		run -0 "$MANAGER" --clear
		[ -z "$output" ]
		user tfs-write tracing_on 1
		;;
	*) false ;;
	esac
}

# ---- the top level in use -----------------------------------------------------------

all_again() {
	until [ -e enough ]; do
		tfs-write tracing_on 0 current_tracer "$(tracer)" tracing_on 1 current_tracer nop
		: >round
	done
}

@test "manager: a session counts each call, whatever happens at the top level" {
	need_guest
	need_tool taskset
	later "$MANAGER" --clear
	later tfs-write buffer_size_kb "$(buffer_kb)"
	steps=(
		'tracing_on 0'
		'tracing_on 1'
		"current_tracer $(tracer)"
		'events/syscalls/sys_enter_getppid/enable 1'
		'current_tracer nop'
		'trace_clock counter'
		'set_event_pid 1'
		'buffer_size_kb 64'
		'events/syscalls/sys_enter_getppid/filter common_pid==1'
		'events/syscalls/sys_enter_getppid/trigger traceoff'
		'events/enable 0'
		'events/syscalls/sys_enter_getppid/trigger !traceoff'
		'events/syscalls/sys_enter_getppid/filter 0'
	)
	for ((i = 0; i <= ${#steps[@]}; i++)); do task 100; done
	# and a program that calls again and again meanwhile
	task 3000
	session --pid "${TASK[*]}"
	for i in "${!steps[@]}"; do
		# shellcheck disable=SC2086 # a file and a record
		tfs-write ${steps[i]}
		call "$i" 0
	done
	background all_again
	again=$PID
	eventually test -e round
	call "$((${#steps[@]} + 1))" 1
	: >enough
	finishes "$again" 0
	tfs-write -c trace ''
	call "${#steps[@]}" 0
	has $((100 * (${#steps[@]} + 1) + 3000))
	for i in "${!steps[@]}"; do
		[ "$(called "$i" 0)" = 100 ]
	done
}

# buffer_kb: Print the size of the top level's buffer, or the size that it will get when used.
buffer_kb() {
	grep -o '[0-9]*' "$TRACEFS/buffer_size_kb" | tail -n 1
}

# tracer: one that the kernel has besides nop
tracer() {
	grep -ow function "$TRACEFS/available_tracers" || echo nop
}

# state DIR FILE...: Print the contents of these files.
state() {
	local file dir=$1
	shift
	for file; do
		echo "$file: $(cat "$dir/$file")"
	done
}

@test "manager: --clear ends sessions, restores the documented settings, and leaves all else alone" {
	need_guest
	# an instance of another program
	new_instance
	calls 30
	tfs-write -i "$MARK" trace_clock counter buffer_size_kb 64
	echo "$CALLS" | tfs-pidfilter -i "$MARK" set
	tfs-write -i "$MARK" events/syscalls/sys_enter_getppid/enable 1
	release "$CALLS"
	calls 1
	echo "$CALLS" | tfs-pidfilter -i "$MARK" set
	theirs=(trace trace_clock buffer_size_kb set_event set_event_pid tracing_on current_tracer
		options/event-fork)
	state "$DIR" "${theirs[@]}" >before
	[ "$(grep -c ': sys_getppid()$' before)" = 30 ]
	# a file that stays, a session whose two processes are dead, and a live session
	"$MANAGER" --run trace_syscalls \
		--args "--instance $MARK.file --output file --size 4 --time 1 --pid $CALLS" >out
	[ -f "$(cat out)" ]
	: >out
	background "$MANAGER" --run trace_syscalls --args "--instance $MARK.dead --pid $CALLS" >out
	dead=$PID
	eventually test -s out
	janitor=$(children "$dead")
	start_session trace_syscalls --pid "$CALLS"
	kill -KILL "$dead" "$janitor"
	eventually gone "$janitor"
	# the top level in use
	kb=$(buffer_kb)
	later "$MANAGER" --clear
	later tfs-write buffer_size_kb "$kb" events/sched/sched_switch/filter 0 \
		events/sched/sched_switch/trigger '!stacktrace:3'
	left_alone=(events/sched/sched_switch/filter events/sched/sched_switch/trigger buffer_size_kb)
	# no task has the pid of the trigger, so that its count stays
	tfs-write trace_clock mono buffer_size_kb 128 \
		events/sched/sched_switch/filter 'prev_pid == 1' \
		events/sched/sched_switch/trigger 'stacktrace:3 if prev_pid == 4194304' events/sched/enable 1 \
		options/event-fork 1 set_event_pid 1 set_event_notrace_pid 2 \
		current_tracer "$(tracer)" trace_marker "$MARK" tracing_on 0
	[ "$(tracer)" = nop ] ||
		tfs-write options/function-fork 1 set_ftrace_pid 1 set_ftrace_notrace_pid 2
	state "$TRACEFS" "${left_alone[@]}" >alone
	run -0 "$MANAGER" --clear
	[ -z "$output" ]
	# as trace-hooks(7) says; the trigger keeps its event ready and disabled
	file_is "$TRACEFS/current_tracer" nop
	file_is "$TRACEFS/set_event" sched:sched_switch
	file_is "$TRACEFS/events/sched/sched_switch/enable" '0*'
	for file in set_{event,ftrace}_{pid,notrace_pid}; do
		[ ! -e "$TRACEFS/$file" ] || [[ $(cat "$TRACEFS/$file") =~ ^('no pid')?$ ]]
	done
	for file in event-fork function-fork; do
		[ ! -e "$TRACEFS/options/$file" ] || [ "$(cat "$TRACEFS/options/$file")" = 0 ]
	done
	[[ $(cat "$TRACEFS/trace_clock") == *'[local]'* ]]
	grep -q '^# entries-in-buffer/entries-written: 0/0 ' "$TRACEFS/trace"
	file_is "$TRACEFS/tracing_on" 1
	# and nothing more than that
	state "$TRACEFS" "${left_alone[@]}" | diff alone -
	state "$DIR" "${theirs[@]}" | diff before -
	finishes "$SESSION" 0
	file_is out "$TRACE"
	[ ! -s err ]
	[ -z "$(ls -A "$TFS_RUNDIR/ftrace")" ]
}

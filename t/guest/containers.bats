#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2034,SC2153 # each test is a process of its own; the helper uses them
# pids-of, manager: containers of a real runtime (crun, cgroup v2), seen and traced from
# the host and from a container. t/vm/run puts crun into the guest.

# bats file_tags=guest
load ../helper
load ../containers

# End the containers of the test, and remove what the runtime made for them.
undo() {
	local dir status=0
	for dir in crun/*/; do
		[ ! -d "$dir" ] || oci delete -f "$(basename "$dir")" || status=1
	done
	[ ! -d "$CGROUPS/$MARK" ] || rmdir "$CGROUPS/$MARK" || status=1
	return "$status"
}

CGROUPS=/sys/fs/cgroup

need_containers() {
	local file
	need_tracefs events/syscalls
	need_tool crun busybox
	[ -e "$CGROUPS/cgroup.controllers" ] || skip "needs cgroup v2 at $CGROUPS"
	for file in "$(command -v busybox)" "$PROG/calls" "$MANAGER"; do
		! grep -q '/ld-\(linux\|musl\)' "$file" || skip "needs ${file##*/} to be static"
	done
}

# oci WORD...: Run the runtime, with its state below the test's directory.
oci() {
	crun --root "$BATS_TEST_TMPDIR/crun" --cgroup-manager cgroupfs "$@" 3>&-
}

# The mounts, namespaces and variables of a test's containers; tests change some of them.
MOUNTS='{"destination": "/proc", "type": "proc", "source": "proc"}'
NAMESPACES='{"type": "mount"}, {"type": "ipc"}, {"type": "uts"}, {"type": "cgroup"}'
OWN_PIDS=', {"type": "pid"}'
ENVIRONMENT=(PATH=/bin TRACER_PROCFS_PATH=/host/proc TRACER_SYSFS_PATH=/host/sys)

# bundle NAME COMMAND...: Make a directory NAME that describes a container.
bundle() {
	mkdir -p "$1"/rootfs/{bin,dev,proc}
	cp "$(command -v busybox)" "$PROG/calls" "$1/rootfs/bin"
	ln -s busybox "$1/rootfs/bin/sh"
	mkfifo "$1/go"
	cat >"$1/config.json" <<-END
	{
		"ociVersion": "1.0.2",
		"process": { "cwd": "/", "args": $(as_json "${@:2}"),
			"env": $(as_json "${ENVIRONMENT[@]}") },
		"root": { "path": "rootfs" },
		"mounts": [ $MOUNTS ],
		"linux": { "cgroupsPath": "/$MARK/$1",
			"namespaces": [ $NAMESPACES$OWN_PIDS ] }
	}
	END
}

# create NAME COMMAND...: Create a container whose command has not started; INIT is its
# first process. The root of a guest does not allow pivot_root.
create() {
	bundle "$@"
	oci create --no-pivot -b "$1" --pid-file "$PWD/pid" "$1" <>"$1/go" >"$1/said" 2>&1 ||
		{ cat "$1/said"; return 1; }
	INIT=$(cat pid)
}

# run_ready N NAME COMMAND...: Run a container whose command prints "ready" N times.
run_ready() {
	create "${@:2}"
	oci start "$2"
	eventually ready_are "$1" "$2"
}

ready_are() {
	[ "$(grep -c ready "$2/said")" = "$1" ]
}

# let_go NAME: Give the container's command its line of standard input.
let_go() {
	echo >"$1/go"
}

# trace WORDS: Start a session of getppid, and a reader that saves what it reads.
trace() {
	watch trace_syscalls --syscall getppid "$@"
}

# traced: Fail unless the session and its reader ended by themselves.
traced() {
	watch_end
}

# all_traced: Fail unless the sessions of another ended well, and nothing is left.
all_traced() {
	local pid
	for pid in "${OTHERS[@]}"; do
		finishes "$pid" 0
	done
	! cat err.* | grep .
	nothing_left
}

# got N CALL [FILE]: Fail unless the trace has N lines of CALL.
got() {
	[ "$(grep -c ": sys_$2[( ]" "${3-got}")" = "$1" ]
}

# same FILE COMMAND...: Fail unless COMMAND prints the numbers of FILE in ascending order.
same() {
	local file=$1
	shift
	"$@" >same.out
	sort -n "$file" | cmp - same.out
}

# ---- pids-of -------------------------------------------------------------------------

@test "pids-of: -c PATH lists the tasks of a container by the host's pids, and with -t its threads" {
	need_containers
	run_ready 2 one calls -e 1 3 2
	grep -qx "NSpid:	$INIT	1" "/proc/$INIT/status"
	same "$CGROUPS/$MARK/one/cgroup.procs" pids-of -c "/$MARK/one"
	file_has 3 same.out
	grep -qx "$INIT" same.out
	same "$CGROUPS/$MARK/one/cgroup.threads" pids-of -t -c "/$MARK/one"
	file_has 7 same.out
}

@test "pids-of: -c PID and -n PID list the tasks of a container for any PID in it" {
	need_containers
	run_ready 2 one calls -e 1 3 2
	pids=$(pids-of -c "/$MARK/one")
	[ "$(wc -w <<<"$pids")" = 3 ]
	for pid in $pids; do
		same "$CGROUPS/$MARK/one/cgroup.procs" pids-of -c "$pid"
		same "$CGROUPS/$MARK/one/cgroup.procs" pids-of -n "$pid"
		same "$CGROUPS/$MARK/one/cgroup.threads" pids-of -t -c "$pid"
		same "$CGROUPS/$MARK/one/cgroup.threads" pids-of -t -n "$pid"
	done
}

@test "pids-of: a container that is created and not started is one task" {
	need_containers
	create one calls 1
	for selector in "-c /$MARK/one" "-c $INIT" "-n $INIT"; do
		# shellcheck disable=SC2086 # two words
		outputs 0 "$INIT" pids-of -t $selector
	done
}

@test "pids-of: two containers have their own tasks, and the cgroup above has both" {
	need_containers
	run_ready 1 one calls -e 1 2
	one=$INIT
	run_ready 2 two calls -e 1 1 2
	same "$CGROUPS/$MARK/one/cgroup.procs" pids-of -n "$one"
	file_is same.out "$one"
	same "$CGROUPS/$MARK/two/cgroup.procs" pids-of -n "$INIT"
	file_has 3 same.out
	cat "$CGROUPS/$MARK"/{one,two}/cgroup.threads >both
	same both pids-of -t -c "/$MARK"
	file_has 5 same.out
}

@test "pids-of: a container that has ended has no tasks, before and after its deletion" {
	need_containers
	run_ready 1 one calls 1
	let_go one
	eventually gone "$INIT"
	[ -d "$CGROUPS/$MARK/one" ]
	run -1 pids-of -c "/$MARK/one"
	[ "$output" = "pids-of: no task is selected" ]
	oci delete one
	[ ! -e "$CGROUPS/$MARK/one" ]
	fails 111 "pids-of: fatal: no such cgroup: '/$MARK/one'; give a path, its last part, or a pid" \
		pids-of -c "/$MARK/one"
}

# ---- one container -------------------------------------------------------------------

# from_the_first WORDS: Fail unless a session of a created container has everything from its
# command's exec on, and nothing of the host.
from_the_first() {
	local container=$INIT
	watch trace_syscalls --syscall getppid execve "$@"
	calls 50
	oci start one
	eventually ready_are 1 one
	release
	finishes "$CALLS" 0
	let_go one
	traced
	head -n 1 got | grep -q ': sys_execve('
	got 1 execve
	got 100 getppid
	file_has 101 got
	[ "$(pids_in got)" = "$container" ]
}

@test "manager: --cgroup PATH records a container's calls from its exec on, by the host's pid" {
	need_containers
	create one calls 100
	from_the_first --cgroup "/$MARK/one"
}

@test "manager: --cgroup PID records a container's calls from its exec on, by the host's pid" {
	need_containers
	create one calls 100
	from_the_first --cgroup "$INIT"
}

@test "manager: --pidns PID records a container's calls from its exec on, by the host's pid" {
	need_containers
	create one calls 100
	from_the_first --pidns "$INIT"
}

@test "manager: --pid PID, the pid that a caller knows of a container, records its calls too" {
	need_containers
	create one calls 100
	from_the_first --pid "$INIT"
}

@test "manager: traces later children and threads of a container from their first call" {
	need_containers
	create one calls 100 3 2
	trace --cgroup "/$MARK/one"
	oci start one
	let_go one
	traced
	got 600 getppid
	file_has 600 got
	[ "$(pids_in got | wc -l)" = 6 ]
}

@test "manager: traces all tasks that are in a container already, with any selector" {
	need_containers
	for selector in --cgroup --pidns --pid "--cgroup /$MARK/one --pid"; do
		run_ready 2 one calls -e 100 3 2
		trace "$selector $INIT"
		let_go one
		traced
		got 600 getppid
		file_has 600 got
		[ "$(pids_in got | wc -l)" = 6 ]
		oci delete one
		rm -r one
	done
}

@test "manager: traces the children of a container's shell, and their children" {
	need_containers
	run_ready 1 one sh -c 'echo ready; read go; calls 50 & (calls 50; calls 50) </dev/null; wait'
	trace --cgroup "$INIT"
	let_go one
	traced
	got 150 getppid
	[ "$(pids_in got | wc -l)" = 3 ]
}

@test "manager: a caller that takes one line per read gets all lines of a container" {
	need_containers
	n=$(so_many 10000)
	create one calls "$n"
	start_session trace_syscalls --syscall getppid --pid "$INIT"
	caller_reads
	oci start one
	let_go one
	traced
	got "$n" getppid
	file_has "$n" got
}

# ---- several -------------------------------------------------------------------------

# another NAME WORDS: Start one more session besides start_session's, and its reader, which
# writes to got.NAME; OTHERS has the pids of both.
another() {
	background "$MANAGER" --run trace_syscalls --args \
		"--instance $MARK.$1 --output fifo --syscall getppid ${*:2}" >"out.$1" 2>"err.$1"
	OTHERS+=("$PID")
	eventually test -s "out.$1"
	exec 8<"$(cat "out.$1")"
	background cat <&8 >"got.$1"
	exec 8<&-
	OTHERS+=("$PID")
}

@test "manager: sessions of two containers at once each have their own lines" {
	need_containers
	create one calls 100
	one=$INIT
	create two calls 200
	another one --cgroup "/$MARK/one"
	another two --pidns "$INIT"
	oci start one
	oci start two
	let_go one
	let_go two
	all_traced
	got 100 getppid got.one
	got 200 getppid got.two
	[ "$(wc -l <got.one) $(wc -l <got.two)" = "100 200" ]
	[ "$(pids_in got.one)" = "$one" ]
	[ "$(pids_in got.two)" = "$INIT" ]
}

@test "manager: --cgroup of the cgroup above records both containers, and ends with the last" {
	need_containers
	create one calls 100
	one=$INIT
	create two calls 200
	trace --cgroup "/$MARK"
	oci start one
	let_go one
	eventually gone "$one"
	oci delete one
	kill -0 "$SESSION" # the session goes on
	oci start two
	let_go two
	traced
	got 300 getppid
	file_has 300 got
	[ "$(pids_in got)" = "$(printf '%s\n' "$one" "$INIT" | sort -n)" ]
}

@test "manager: a task that enters a container later is in the running session and in the next" {
	need_containers
	run_ready 1 one calls 100
	trace --cgroup "/$MARK/one"
	mkfifo enter
	background oci exec one calls 10 <>enter >entered
	entered=$PID
	eventually grep -q ready entered
	pids-of -c "/$MARK/one" >pids
	file_has 2 pids
	another next --cgroup "/$MARK/one"
	echo >enter
	finishes "$entered" 0
	let_go one
	all_end "$SESSION" "$READER"
	[ ! -s err ]
	got 110 getppid
	[ "$(pids_in got)" = "$(sort -n pids)" ]
	all_traced
	got 110 getppid got.next
	[ "$(pids_in got.next | wc -l)" = 2 ]
}

# ---- the end of a container ------------------------------------------------------------

@test "manager: a session ends when the container that crun run waits for ends" {
	need_containers
	bundle one calls 100
	background oci run --no-pivot -b one --pid-file "$PWD/pid" one <>one/go >one/said
	running=$PID
	eventually ready_are 1 one
	trace --cgroup "$(cat pid)"
	let_go one
	finishes "$running" 0
	traced
	got 100 getppid
	file_has 100 got
	[ ! -e "$CGROUPS/$MARK/one" ]
}

# busy: Start a container that makes calls all the time, and a session for it; the file tasks
# has its tasks.
busy() {
	run_ready 1 one calls 1000000000 2 2
	trace --cgroup "/$MARK/one"
	let_go one
	eventually has_tasks 5
	pids-of -t -c "/$MARK/one" >tasks
	eventually test -s got
}

has_tasks() {
	file_has "$1" "$CGROUPS/$MARK/one/cgroup.threads"
}

# whole: Fail unless each line is a call of these tasks, or reports a loss. The kernel may
# have forgotten a name, which is <...> then.
whole() {
	local call='^ +(calls|<\.\.\.>)-[0-9]+ +\[[0-9]{3}\] .{5} +[0-9]+\.[0-9]{6}: sys_getppid\(\)$'
	grep -Eq "$call" got
	! grep -Ev "$call" got | grep -Ev '^CPU:[0-9]+ \[LOST [0-9]+ EVENTS\]$|^# lost [0-9]+ events: '
	! pids_in got | grep -vxFf tasks
}

@test "manager: a container that is killed in the middle ends its session, and nothing is left" {
	need_containers
	busy
	oci kill one KILL
	traced
	whole
	eventually gone "$INIT"
	oci delete one
	[ ! -e "$CGROUPS/$MARK/one" ]
}

@test "manager: a container that is deleted by force in the middle ends its session, and nothing is left" {
	need_containers
	busy
	oci delete -f one
	traced
	whole
	[ ! -e "$CGROUPS/$MARK/one" ]
}

@test "manager: a container that is deleted before its start ends its session without a line" {
	need_containers
	create one calls 100
	trace --cgroup "/$MARK/one"
	oci delete -f one
	traced
	[ ! -s got ]
}

@test "manager: a session of a paused container begins and ends during the pause" {
	need_containers
	run_ready 1 one calls 100
	oci pause one
	trace --cgroup "/$MARK/one"
	let_go one
	watch_stop
	[ ! -s got ]
	trace --cgroup "/$MARK/one"
	oci resume one
	traced
	got 100 getppid
	file_has 100 got
}

# ---- the manager in a container ----------------------------------------------------------

# tracer NAME WORDS: a container that holds the tree, the host's proc, sys and
# tracefs, and a run directory, and runs a session
tracer() {
	local own='{"destination": "/proc", "type": "proc", "source": "proc"}' from to
	mkdir -p run
	for from in "$TREE /tfs" "/proc /host/proc" "/sys /host/sys" "$PWD/run /run"; do
		to=${from#* }
		own+=", {\"destination\": \"$to\", \"type\": \"bind\", \"source\": \"${from% *}\","
		own+=" \"options\": [\"rbind\"]}"
	done
	MOUNTS=$own create "$1" /tfs/trace-hooks/ftrace/manager --run \
		trace_syscalls --args "--instance $MARK.$1 --output fifo --syscall getppid ${*:2}"
	oci start "$1"
	eventually test -s "$1/said"
	grep . "$1/said"
	file_is "$1/said" "/run/tfs/ftrace/$MARK.$1/trace"
	TRACE=$TFS_RUNDIR/ftrace/$MARK.$1/trace
	TRACER=$INIT
}

# ours WORDS: Print the instances of this test that tfs-instance lists, sorted.
ours() {
	tfs-instance list "$@" | grep -F "$MARK" | sort
}

@test "manager: traces another container from a container without a capability" {
	need_containers
	for OWN_PIDS in '' ', {"type": "pid"}'; do
		create one calls 100
		one=$INIT
		tracer two --cgroup "$one"
		grep -qx 'CapEff:	0000000000000000' "/proc/$TRACER/status"
		read_by cat >got
		oci start one
		let_go one
		finishes "$READER" 0
		eventually gone "$TRACER"
		got 100 getppid
		[ "$(pids_in got)" = "$one" ]
		nothing_left
		oci delete one
		oci delete two
		rm -r one two
	done
}

@test "manager: a signal of the runtime ends it in its own container, and nothing is left" {
	need_containers
	create one calls 100
	tracer two --cgroup "$INIT"
	read_by cat >got
	oci start one
	eventually ready_are 1 one
	oci kill two INT
	finishes "$READER" 0
	eventually gone "$TRACER"
	[ ! -s got ]
	file_has 1 two/said
}

@test "manager: the next --run cleans up from another container if its own was deleted in the middle" {
	need_containers
	create one calls 100
	one=$INIT
	tracer two --cgroup "$one"
	read_by cat >got
	oci delete -f two
	finishes "$READER" 0
	# --cgroup has more instances, for the tasks that enter the cgroup and for those that are selected
	[ "$(ours -s)" = "$(printf '%s\n' "tfs.$MARK.two" "tfs.$MARK.two+cgroup" "tfs.$MARK.two+tasks")" ]
	[ -p "$TRACE" ]
	tracer three --cgroup "$one"
	[ "$(ours)" = "$(printf '%s\n' "tfs.$MARK.three" "tfs.$MARK.three+cgroup" "tfs.$MARK.three+tasks")" ]
	[ "$(ls "$TFS_RUNDIR/ftrace")" = "$MARK.three" ]
	read_by cat >got
	oci start one
	let_go one
	finishes "$READER" 0
	eventually gone "$TRACER"
	got 100 getppid
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2031,SC2034,SC2153 # each test is a process of its own; t/net.bash uses them
# dt-probe, dt-dev, dt-pid, dt-trace: test their output and that they leave nothing behind.
# distributed.bats tests the effect of the marks.
# parts: 6

load ../helper
load ../net

BPFFS=${TRACER_SYSFS_PATH:-/sys}/fs/bpf

# Make a probe of the test's own, with its own network; need_probe has named it.
undo() {
	[ -z "${N-}" ] || {
		dt-probe -N "$N" off >/dev/null || :
		dt-probe -N "$N.2" off >/dev/null || :
	}
	net_down
}

need_probe() {
	need_bpf
	need_tracefs
	need_cgroup2
	[ "$(stat -f -c %T "$BPFFS")" = bpf_fs ] || mount -t bpf bpf "$BPFFS" 2>/dev/null ||
		skip "needs bpffs at $BPFFS"
	N=$MARK
}

# on [OPTION]...: Begin the probe.
on() {
	dt-probe -N "$N" "$@" on >on.out
}

# is_off TOOL WORD...: Fail unless the tool says that the probe is off.
is_off() {
	fails 111 "$1: fatal: the request probe $N is off; begin it with dt-probe on" "$1" -N "$N" "${@:2}"
}

# host: Make a network namespace; set $NS to its file.
host() {
	need_net veth
	NETS=(one)
	NS=/run/netns/$MARK-one
	"$PROG/netns" add "$MARK-one"
}

dev() {
	dt-dev -N "$N" -n "$NS" "$@"
}

theirs() {
	in_ns one "$PROG/qdisc" "$@"
}

need_clsact() {
	local status=0 said
	said=$("$PROG/qdisc" check 2>&1) || status=$?
	[ "$status" != 77 ] || skip "${said#qdisc: }"
	[ "$status" = 0 ]
	"$PROG/allowed" nolink true || skip "needs seccomp (CONFIG_SECCOMP_FILTER)"
}

# clsact_host, tcx_host: Begin a probe, beside a host whose lo can have marks in this way.
clsact_host() {
	need_probe
	need_clsact
	host
	on
}

tcx_host() {
	need_probe
	host
	on
	[ "$(dev add lo)" = "lo tcx" ] || skip "needs TCX (Linux 6.6)"
	dev remove lo
}

old_dev() {
	"$PROG/allowed" nolink dt-dev -N "$N" -n "$NS" "$@"
}

# shows WORD...: Fail unless lo has this qdisc with so many filters.
shows() {
	[ "$(theirs show lo)" = "$*" ]
}

# objects: Print the BPF objects of probes that did not exist when the test began
# (objects_before), and that no other program has pinned.
objects() {
	{ cat before.objects; strangers_objects; echo; } >not_these
	"$PROG/bpfobjects" all | grep -vxFf not_these || :
}

objects_before() {
	"$PROG/bpfobjects" all >before.objects
}

no_objects() {
	[ -z "$(objects)" ]
}

# marks_into FILE COMMAND...: Let COMMAND read the marks of the probe, into a file, with an instance of
# its own; set READER to its pid.
marks_into() {
	new_instance ".$1"
	tfs-write -i "$INSTANCE" trace_clock mono buffer_size_kb "${KB-1408}"
	background env TFS_INSTANCE="$INSTANCE" dt-probe -N "$N" marks -- "${@:2}" >"$1"
	READER=$PID
}

# polls PID: Does the process wait for events?
polls() {
	grep -q poll "/proc/$1/wchan" "/proc/$1/stack" 2>/dev/null
}

# forks N: Run a shell on CPU 0 that the probe follows, and that forks N times: N marks dtB, and N + 1
# marks dtE.
forks() {
	mkfifo forks.go
	# shellcheck disable=SC2016 # the other shell's
	background taskset -c 0 sh -c 'read -r _; i=0; while [ $i -lt "$0" ]; do (:); i=$((i + 1)); done' \
		"$1" <>forks.go
	dt-pid -N "$N" add "$PID"
	echo >forks.go
	finishes "$PID" 0
	rm forks.go
}

# rings_of PID: Print the rings that the process has open, for bpfobjects.
rings_of() {
	local file
	for file in "/proc/$1/fdinfo/"*; do
		! grep -qE 'map_type:.27$' "$file" || sed -n 's/^map_id:./map /p' "$file"
	done
}

# no_rings FILE: Fail if one of the rings in the file exists.
no_rings() {
	! from "$1" "$PROG/bpfobjects" still
}

# holds_rings NAME: Start a reader that does not read; set READER to its pid, and write its rings to NAME.
holds_rings() {
	marks_into "$1" sh -c 'echo; exec cat' <>"$NEVER"
	eventually test -s "$1"
	rings_of "$READER" >"$1"
	[ -s "$1" ]
}

# ---- dt-probe -------------------------------------------------------------------

# bats test_tags=quick
@test "dt-probe: on prints the id and attach points and makes a directory; off ends the probe" {
	need_probe
	objects_before
	outputs 1 0 dt-probe -N "$N"
	on
	file_has 3 on.out
	sed -n 1p on.out | grep -Eqx 'id [0-9a-f]+'
	sed -n 2p on.out | grep -Eqx 'send (tracepoint|fentry|kprobe)'
	sed -n 3p on.out | grep -Eqx 'end (at the send|sock_send_length)'
	[ "$(dt-probe -N "$N")" = 1 ]
	[ "$(stat -c %a "$BPFFS/tfs/$N")" = 700 ]
	# the id of the probe is the id of its map
	id=$((16#$(sed -n 's/^id //p' on.out)))
	objects | grep -qx "map $id dt_pids"
	[ "$(objects | grep -c '^program ')" -ge 10 ]
	[ "$(dt-probe -N "$N" off)" = "" ]
	[ ! -e "$BPFFS/tfs/$N" ]
	eventually no_objects
	fails 1 "dt-probe: the request probe $N was off" dt-probe -N "$N" off
	run -1 dt-probe -N "$N"
}

@test "dt-probe: refuses a second on and leaves the first; another name is another probe" {
	need_probe
	on
	fails 111 "dt-probe: fatal: the request probe $N is on, or left over from a killed dt-probe: run dt-probe off first" \
		dt-probe -N "$N" on
	[ "$(dt-probe -N "$N")" = 1 ]
	dt-probe -N "$N.2" on >second.out
	[ "$(head -n 1 on.out)" != "$(head -n 1 second.out)" ]
	# an instance name has a plus in place of the dot
	[ -d "$BPFFS/tfs/$N+2" ]
	dt-probe -N "$N" off
	[ "$(dt-probe -N "$N.2")" = 1 ]
	dt-probe -N "$N.2" off
}

@test "dt-probe: accepts each option and 1024 networks, refuses one more, and has counted nothing yet" {
	need_probe
	words=(-f 192.0.2.1 -f ::1/128 -f fd00::/8 -f 0.0.0.0/0 -f ::/0)
	for ((i = 5; i < 1024; i++)); do words+=(-f "10.$((i / 256)).$((i % 256)).0/24"); done
	on -1 -e -g -m "${words[@]}"
	[ "$(dt-probe -N "$N" state | sed 's/ [0-9]*$//')" = \
		$'marked out\nmarked in\nnot believed\nwindows' ]
	dt-probe -N "$N" off
	run -100 dt-probe -N "$N" "${words[@]}" -f 11.0.0.0/8 on
	[[ $output == "dt-probe: fatal: -f: more than 1024 networks; usage: "* ]]
}

@test "dt-probe -S: prints the programs that on loads, without the right to load them" {
	need_bpf
	need_tracefs available_events
	plainly dt-probe -S -N "$MARK" -e on >code # without the right to load any
	[ ! -e "$BPFFS/tfs/$MARK" ]
	sed -n 's|^// dt_\(.*\): [1-9][0-9]* instructions|\1|p' code | sort -u >programs
	[ "$(grep -vx end programs | xargs)" = \
		'exit fork gone mark mark_bare read rx send sockets wait' ]
	# since Linux 6.3
	[ "$(grep -cx end programs)" = "$(grep -c sock_send_length "$TRACEFS/available_events")" ]
	[ "$(tail -n 1 code)" = $'\texit' ]
	dt-probe -S -m on >module
	run -1 grep -q '^opens:' module
	grep -q '^opens:' code
}

@test "dt-probe: TFS_PROBE is the default name of all four tools" {
	need_probe
	export TFS_PROBE=$N
	dt-probe on >on.out
	[ "$(dt-probe)" = 1 ]
	[ "$(dt-probe -N "$N")" = 1 ]
	dt-pid add $$
	[ "$(dt-pid -N "$N" list | grep -c "^$$ ")" = 1 ]
	[ "$(dt-trace)" = 0 ]
	fails 1 "dt-dev: the request probe $N was not on all of these devices" dt-dev remove lo
	dt-probe off
	outputs 1 0 dt-probe
}

@test "dt-probe: refuses state of a probe that is off, and without a bpffs" {
	need_probe
	is_off dt-probe state
	mkdir -p sys/fs/bpf
	fails 111 "dt-probe: fatal: no bpffs at $PWD/sys/fs/bpf: as root, mount -t bpf bpf $PWD/sys/fs/bpf" \
		env TRACER_SYSFS_PATH="$PWD/sys" dt-probe -N "$N" on
	[ -z "$(ls sys/fs/bpf)" ]
}

@test "dt-probe: refuses to run without root, and begins nothing" {
	need_probe
	need_tool setpriv
	run -111 setpriv --reuid 65534 --clear-groups "$(command -v dt-probe)" -N "$N" on
	[ "$output" = "dt-probe: fatal: the kernel refused the program dt_rx: Operation not permitted; this needs CAP_NET_ADMIN and CAP_PERFMON and CAP_BPF" ] ||
		[[ $output == "dt-probe: fatal: unable to make "*": "* ]]
	[ ! -e "$BPFFS/tfs/$N" ]
}

@test "dt-probe: reports a full disk, and off ends the probe" {
	need_probe
	is_off dt-probe state
	run -111 to_full dt-probe -N "$N" on
	[ "$output" = "dt-probe: fatal: unable to write to standard output: No space left on device" ]
	[ "$(dt-probe -N "$N")" = 1 ]
	dt-probe -N "$N" off
}

@test "dt-probe marks: each reader gets each mark once and in order, and none of another probe" {
	need_probe
	on
	id=$(sed -n 's/^id //p' on.out)
	readers=()
	for file in a b; do
		marks_into $file tfs-catpipe
		readers+=("$READER")
	done
	dt-probe -N "$N.2" on >second.out
	N=$N.2 marks_into c tfs-catpipe
	n=$(so_many 500)
	for pid in "${readers[@]}" "$READER"; do
		eventually polls "$pid"
	done
	forks "$n"
	for pid in "${readers[@]}" "$READER"; do
		kill -INT "$pid"
		finishes "$pid" 0
	done
	for file in a b; do
		sed 's/.*: mark: //' $file >marks.$file
		[ "$(grep -c "^dtB $id [0-9]* 0$" marks.$file)" = "$n" ]
		[ "$(grep -c "^dtE $id [0-9]* 0$" marks.$file)" = $((n + 1)) ]
		file_has $((2 * n + 1)) marks.$file
		[ "$(sort -u marks.$file | wc -l)" = $((2 * n + 1)) ]
	done
	cmp marks.a marks.b
	file_has 0 c
	dt-probe -N "$N" off
}

@test "dt-probe marks: what a reader gets and what is lost for it is what the programs wrote" {
	need_probe
	need_tool taskset
	on
	mkfifo hold
	KB=64 marks_into late "$BASH" -c 'read -r _ <hold; exec tfs-catpipe'
	late=$READER
	marks_into whole tfs-catpipe
	eventually polls "$READER"
	n=1500 # more than a ring of 64 KiB has room for
	forks $n
	ends_by "$READER" INT 0
	file_has $((2 * n + 1)) whole
	echo >hold
	eventually grep -q 'mark: dt' late
	ends_by "$late" INT 0
	got=$(grep -c ': mark: dt' late)
	lost=$((2 * n + 1 - got))
	[ "$lost" -gt 0 ]
	[ "$(tail -n 1 late)" = "# lost $lost events: $lost overwritten in a full buffer, 0 not written" ]
}

@test "dt-probe marks: eight readers at most; the rings of a killed one go with the next reader, or with off" {
	need_probe
	on
	readers=()
	for i in 1 2 3 4 5 6 7 8; do
		holds_rings reader.$i
		readers[i]=$READER
	done
	fails 111 "dt-probe: fatal: 8 programs read the marks of the request probe $N already" \
		env TFS_INSTANCE="$INSTANCE" dt-probe -N "$N" marks -- true
	for i in 3 5; do
		kill -KILL "${readers[i]}"
		ended "${readers[i]}" || :
	done
	forks 10 # for the others
	run -1 no_rings reader.3
	holds_rings reader.9
	readers[3]=$READER
	for i in 3 5; do
		eventually no_rings reader.$i
	done
	for i in 1 2 3 4 6 7 8; do
		kill -KILL "${readers[i]}"
		ended "${readers[i]}" || :
	done
	run -1 no_rings reader.9
	dt-probe -N "$N" off
	for i in 1 2 4 6 7 8 9; do
		eventually no_rings reader.$i
	done
}

@test "dt-probe marks: refuses a probe that is off, and an instance with another clock" {
	need_probe
	new_instance
	export TFS_INSTANCE=$INSTANCE
	is_off dt-probe marks -- true
	on
	tfs-write trace_clock boot
	fails 111 "dt-probe: fatal: BPF programs record times of the clock mono, not boot; set trace_clock to mono, or give no other --clock" \
		dt-probe -N "$N" marks -- true
	tfs-write trace_clock mono
	dt-probe -N "$N" marks -- true
	fails 100 "dt-probe: fatal: TFS_KEEPS is not a number; usage: $(synopsis dt-probe)" \
		env TFS_KEEPS=x dt-probe -N "$N" marks
	fails 111 "dt-probe: fatal: unable to give the programs to the session: Bad file descriptor" \
		env TFS_KEEPS=77 dt-probe -N "$N" marks
	fails 111 "dt-probe: fatal: unable to run nosuch: No such file or directory" \
		dt-probe -N "$N" marks -- nosuch
}

@test "dt-probe: no program prints, which would enable an event of the top level" {
	need_probe
	dt-probe -S on >code
	run -1 grep printk code
	grep -q ringbuf_output code
}

# killed_at STEP COMMAND...: Kill COMMAND with SIGKILL at that system call; note how far it came.
killed_at() {
	"$PROG/atstep" -o step 9 "$1" "$(command -v "$2")" "${@:3}" >killed.out 2>&1 || :
}

# Kill on at that call; fail unless off leaves nothing behind.
killed_and_off() {
	local status=0 said
	killed_at "$1" dt-probe -N "$N" on
	said=$(dt-probe -N "$N") || status=$?
	[ "$said" = $((1 - status)) ] || return
	said=$(dt-probe -N "$N" off) || [ $? = 1 ] || return
	[ "$said" = "" ] && [ ! -e "$BPFFS/tfs/$N" ]
}

# Most of the calls read the kernel's types: try each third of the others, and begin at
# another call each time.
# bats test_tags=long
@test "dt-probe: killed at any system call of on, off leaves nothing" {
	need_probe
	objects_before
	killed_at 99999 dt-probe -N "$N" on
	last=$(cat step)
	[ "$last" -gt 150 ]
	dt-probe -N "$N" off
	killed=0
	for i in $(seq $((1 + RANDOM % 3)) 3 20) $(seq $((last - 140 + RANDOM % 3)) 3 "$last"); do
		echo "step $i of $last"
		killed_and_off "$i"
		killed=$((killed + 1))
	done
	[ "$killed" -ge 40 ]
	eventually no_objects
}

@test "dt-probe: killed at any system call of off, the next off leaves nothing, but other people's directories" {
	need_probe
	objects_before
	mkdir "$BPFFS/$MARK-theirs"
	on
	killed_at 99999 dt-probe -N "$N" off
	last=$(cat step)
	for ((i = 1 + RANDOM % 4; i <= last; i += 4)); do
		on
		killed_at "$i" dt-probe -N "$N" off
		run dt-probe -N "$N" off
		[ "$status" -le 1 ]
		[ ! -e "$BPFFS/tfs/$N" ]
	done
	eventually no_objects
	rmdir "$BPFFS/$MARK-theirs"
}

# ---- dt-dev ---------------------------------------------------------------------

@test "dt-dev: names the capability that a mark at a device needs" {
	clsact_host
	need_tool setpriv
	fails 111 "dt-dev: fatal: unable to mark at lo by clsact: Operation not permitted; this needs CAP_NET_ADMIN" \
		setpriv --bounding-set -net_admin "$PROG/allowed" nolink dt-dev -N "$N" -n "$NS" add lo
	[ "$(old_dev add lo)" = "lo clsact" ]
	old_dev remove lo
}

# bats test_tags=quick
NO_DEVICE='dt-dev: fatal: unable to find the device nosuch in this network namespace: No such device'

# bats test_tags=quick
@test "dt-dev: adds, adds again, adds all or none of several, removes, and names a missing device" {
	tcx_host
	[ "$(dev add lo)" = "lo tcx" ]
	[ "$(dev add lo)" = "lo tcx" ]
	dev remove lo
	fails 1 "dt-dev: the request probe $N was not on all of these devices" dev remove lo
	run -1 dev remove nosuch
	[ "$(dev -a add)" = "lo tcx" ]
	dev -a remove
	fails 111 "$NO_DEVICE" dev add nosuch
	fails 111 "$NO_DEVICE" dev add lo nosuch
	run -1 dev remove lo
	# a device that was there before stays
	dev add lo >add.out
	fails 111 "$NO_DEVICE" dev add lo nosuch
	dev remove lo
	# and nothing of a removed device is left
	for ((i = $(so_many 200); i; i--)); do
		[ "$(dev add lo)" = "lo tcx" ]
		dev remove lo
	done
}

@test "dt-dev: two probes share a device, and each goes by itself" {
	need_probe
	objects_before
	tcx_host
	dt-probe -N "$N.2" on >second.out
	dev add lo >add.out
	[ "$(dt-dev -N "$N.2" -n "$NS" add lo)" = "lo tcx" ]
	links() { [ "$(objects | grep -c '^link .* dt_mark$')" = "$1" ]; }
	eventually links 2
	dt-probe -N "$N" off
	eventually links 1
	dt-dev -N "$N.2" -n "$NS" remove lo
	dt-probe -N "$N.2" off
	eventually no_objects
}

@test "dt-dev, dt-pid, dt-trace: report a probe that is off; dt-dev an invalid namespace" {
	need_probe
	is_off dt-trace
	is_off dt-trace -w
	for word in list "add 1" "remove 1"; do
		# shellcheck disable=SC2086 # words
		is_off dt-pid $word
	done
	is_off dt-dev add lo
	is_off dt-dev remove lo
	fails 111 "dt-dev: fatal: unable to enter the network namespace none: No such file or directory" \
		dt-dev -N "$N" -n none add lo
	: >file
	fails 111 "dt-dev: fatal: unable to enter the network namespace file: Invalid argument" \
		dt-dev -N "$N" -n file add lo
}

@test "dt-dev: without TCX it adds a clsact filter, and removes clsact with the filter" {
	clsact_host
	for _ in 1 2; do
		[ "$(old_dev add lo)" = "lo clsact" ]
		shows clsact 1
	done
	old_dev remove lo
	shows none
	run -1 old_dev remove lo
	old_dev add lo >add.out
	dt-probe -N "$N" off
	shows none
}

@test "dt-dev: removes only its own filter from another program's clsact" {
	clsact_host
	theirs add clsact lo
	old_dev add lo >add.out
	shows clsact 1
	old_dev remove lo
	shows clsact 0
	theirs filter lo
	old_dev add lo >add.out
	shows clsact 2
	dt-probe -N "$N" off
	shows clsact 1
}

@test "dt-dev: keeps its own clsact while another program has a filter there" {
	clsact_host
	old_dev add lo >add.out
	theirs filter lo
	dt-probe -N "$N" off
	shows clsact 1
}

@test "dt-dev: two probes share a clsact, and the last probe removes it" {
	clsact_host
	dt-probe -N "$N.2" on >second.out
	old_dev add lo >add.out
	"$PROG/allowed" nolink dt-dev -N "$N.2" -n "$NS" add lo >add.out
	shows clsact 2
	dt-probe -N "$N.2" off
	shows clsact 1
	dt-probe -N "$N" off
	shows none
}

@test "dt-dev: reports another program's ingress qdisc in the place of clsact, and leaves it alone" {
	clsact_host
	theirs add ingress lo
	run -111 old_dev add lo
	[[ $output == "dt-dev: fatal: unable to mark at lo by clsact: "*" busy" ]]
	shows ingress 0
	dt-probe -N "$N" off
	shows ingress 0
}

# bats test_tags=long
@test "dt-dev: killed at any system call, the next add marks, and off leaves nothing" {
	clsact_host
	killed_at 99999 dt-dev -N "$N" -n "$NS" add lo
	cp step steps.tcx
	dev remove lo
	# the signal is for dt-dev; allowed makes the kernel look old
	killed_at 99999 "$PROG/allowed" nolink dt-dev -N "$N" -n "$NS" add lo
	last=$(cat step)
	[ "$last" -gt "$(cat steps.tcx)" ]
	old_dev remove lo
	for ((i = 1 + RANDOM % 3; i <= last; i += 3)); do
		killed_at "$i" "$PROG/allowed" nolink dt-dev -N "$N" -n "$NS" add lo
		[ "$(old_dev add lo)" = "lo clsact" ]
		shows clsact 1 || { echo "at step $i of $last"; return 1; }
		old_dev remove lo
		shows none
		killed_at "$i" "$PROG/allowed" nolink dt-dev -N "$N" -n "$NS" add lo
		dt-probe -N "$N" off
		shows none
		on
	done
}

# ---- dt-pid ---------------------------------------------------------------------

# listed [PID]...: Fail unless exactly these pids were added by hand.
listed() {
	dt-pid -N "$N" list >list.out || [ $? = 1 ]
	[ "$(cat list.out)" = "$([ $# = 0 ] || printf '%s 1 (0)\n' "$@" | sort -n)" ]
}

# bats test_tags=quick
@test "dt-pid: adds, lists in order and removes pids from operands and standard input" {
	need_probe
	on
	calls 1 3
	first=$CALLS
	calls 1
	fails 1 "dt-pid: the request probe follows no task" dt-pid -N "$N" list
	dt-pid -N "$N" add "$first" "$CALLS"
	listed "$first" "$CALLS"
	dt-pid -N "$N" add "$first"
	dt-pid -N "$N" remove "$first"
	listed "$CALLS"
	fails 1 "dt-pid: the request probe $N did not follow all of these tasks" dt-pid -N "$N" remove "$first"
	run -1 dt-pid -N "$N" remove "$first" "$CALLS"
	listed
	printf ' %s\n\n%s\t' "$first" "$CALLS" | dt-pid -N "$N" add
	listed "$first" "$CALLS"
	echo "$first" | dt-pid -N "$N" remove -
	listed "$CALLS"
}

@test "dt-pid: follows the threads and children of an added task, and forgets tasks that end" {
	need_probe
	on
	mkfifo go hold
	# a shell that forks when it reads a line; its child waits, too
	background sh -c 'read -r _; cat hold & echo $! >child; wait' <>go
	shell=$PID
	dt-pid -N "$N" add "$shell"
	listed "$shell"
	echo >go
	eventually test -s child
	listed "$shell" "$(cat child)"
	# a child of a process that is not listed is not followed
	dt-pid -N "$N" remove "$(cat child)"
	listed "$shell"
	kill "$shell"
	echo >hold
	eventually listed
}

# threads N: Start a program of N threads; set $THREADS to its pid and $OTHER to another TID.
threads() {
	mkfifo threads.go
	: >threads.out
	background "$PROG/chain" -t "$1" client 127.0.0.1 1 <>threads.go >threads.out
	THREADS=$PID
	eventually grep -q '^ready' threads.out
	OTHER=$(sed -n 's/^tid \([0-9]*\) .*/\1/p' threads.out | grep -vxm 1 "$THREADS")
}

@test "dt-pid: lists the threads that an added task starts" {
	need_probe
	on
	mkfifo go
	background sh -c "read -r _; exec '$PROG/chain' -t 3 client 127.0.0.1 1" <>go >ready
	dt-pid -N "$N" add "$PID"
	echo >go
	eventually is_ready
	mapfile -t tids < <(sed -n 's/^tid \([0-9]*\) .*/\1/p' ready)
	[ ${#tids[@]} = 3 ]
	listed "${tids[@]}"
}

@test "dt-pid: with dt-probe -g it takes processes, and refuses a thread" {
	need_probe
	on -g
	threads 3
	fails 111 "dt-pid: fatal: $OTHER is a thread of $THREADS, and this request probe follows processes; give $THREADS" \
		dt-pid -N "$N" add "$THREADS" "$OTHER"
	listed
	dt-pid -N "$N" add "$THREADS"
	listed "$THREADS"
	kill "$THREADS"
	eventually listed
}

@test "dt-pid: without -g a thread can be added by itself; a dead pid is refused, and none of the others added" {
	need_probe
	on
	threads 3
	dead=$(sh -c 'echo $$')
	fails 111 "dt-pid: fatal: there is no task $dead" dt-pid -N "$N" add "$THREADS" "$dead"
	listed
	dt-pid -N "$N" add "$OTHER"
	listed "$OTHER"
}

# ---- dt-trace ---------------------------------------------------------------------

serving() {
	[ "$(dt-trace -N "$N")" = "$1" ]
}

# bats test_tags=quick
@test "dt-trace: ignores tasks that were added by hand; a signal ends -w and leaves no rings" {
	need_probe
	on
	calls 1
	dt-pid -N "$N" add "$CALLS"
	[ "$(dt-trace -N "$N")" = 0 ]
	background dt-trace -w -N "$N" >waited
	eventually polls "$PID"
	rings_of "$PID" >rings
	[ -s rings ]
	ends_by "$PID" TERM 0
	file_is waited 0
	eventually no_rings rings
}

@test "dt-trace: -w wakes when a window begins and when it ends; dt-pid lists its socket" {
	need_probe
	need_net
	net_up
	on -f 10.77.0.0/16
	for host in dtc dtm dts; do
		dt-dev -N "$N" -n "$(ns_of "$host")" -a add >add.out
	done
	chain_server
	chain_middle
	client one -i
	tids_of one | dt-pid -N "$N" add
	# the server has the request and is stopped, so the middle is inside its window
	kill -STOP "$SERVER"
	background dt-trace -w -N "$N" >begun
	begins=$PID
	eventually polls "$begins"
	echo 1 >one.go
	finishes "$begins" 0
	file_is begun 1
	[ "$(dt-trace -N "$N")" = 1 ]
	dt-pid -N "$N" list >list.out
	[ "$(grep -c ' 1 (0)$' list.out)" = 1 ]
	[ "$(grep -Ec '^[0-9]+ 1 \([0-9a-f]{6,16}\)$' list.out)" = 1 ]
	background dt-trace -w -N "$N" >ended
	ends=$PID
	eventually polls "$ends"
	kill -CONT "$SERVER"
	finishes "$ends" 0
	file_is ended 0
	eventually serving 0
	echo 0 >one.go
	client_ends one
	# the middle's and the server's; other tests use the same addresses
	[ "$(dt-probe -N "$N" state | sed -n 's/^windows //p')" -ge 2 ]
}

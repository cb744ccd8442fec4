#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# confine: a tool gives up the rights that it does not need any more

load ../helper

undo() {
	exec 7>&-
	[ -z "${PROBE-}" ] || {
		dt-probe -N "$PROBE" off
	}
}

# need_confinement: Skip if the kernel or the build has no confinement.
need_confinement() {
	case ${TFS_VARIANT-} in
	sanitize | valgrind) skip "needs a build without NO_CONFINE" ;;
	esac
	grep -q '^Seccomp:' /proc/self/status || skip "needs seccomp (CONFIG_SECCOMP_FILTER)"
}

# status_of KEY PID: Print the value of a line of /proc/PID/status.
status_of() {
	sed -n "s/^$1:[[:space:]]*//p" "/proc/$2/status"
}

# rights PID: Print NoNewPrivs, the seccomp mode and the capabilities.
rights() {
	echo "$(status_of NoNewPrivs "$1") $(status_of Seccomp "$1")" \
		"$(status_of CapEff "$1") $(status_of CapPrm "$1") $(status_of CapInh "$1")"
}

has_rights() {
	[ "$(rights "$1")" = "$2" ]
}

NONE=0000000000000000

# kept MASK: Print the capabilities of MASK that root has on this machine.
kept() {
	local ours
	ours=$(status_of CapPrm self)
	printf '%016x\n' $((0x$ours & $1))
}

# CAP_SYSLOG, CAP_SYS_RESOURCE, CAP_SYS_PTRACE
STREAM=0x401080000
# CAP_DAC_OVERRIDE and CAP_FOWNER as well
OTHERS=0x40108000a

# confines TOOL [WORD]...: Fail unless the tool has no rights while it waits for its input.
confines() {
	local pid status=0
	mkfifo input
	"$@" <input >output 2>errors &
	pid=$!
	exec 7>input
	eventually has_rights "$pid" "1 2 $NONE $NONE $NONE"
	echo '              sh-7       [000] .....     1.000000: e: lat=1' >&7
	exec 7>&-
	wait "$pid" || status=$?
	case $status in
	0) [ ! -s errors ] ;;
	1) [ "$(grep -c "^${1##*/}: " errors)" = 1 ] ;; # it says that nothing was found
	*) false ;;
	esac
	rm input
}

@test "confine: a process can use its open files and can do nothing else" {
	need_confinement
	touch a-file
	run -143 "$PROG/confined"
	diff - <(echo "$output") <<-'EXPECTED'
		read: Success
		write: Success
		fstat: Success
		allocate: Success
		do not block: Success
		open: Function not implemented
		exec: Function not implemented
		fork: Function not implemented
		socket: Function not implemented
		remove: Function not implemented
		stat: Function not implemented
		signal another: Function not implemented
		signal a thread of another: Function not implemented
		let a file signal another: Function not implemented
		map memory that runs: Function not implemented
		call another ABI: Function not implemented
	EXPECTED
	[ -e a-file ]
}

@test "confine: a filter that waits for its input has no capabilities and few system calls" {
	need_confinement
	for filter in tfs-{count,hist,summary,flame,human,timeline,perfetto} 'tfs-latency -s e -e f' \
		'tfs-slower 1' dt-window 'dt-join -c a=/dev/stdin'; do
		# shellcheck disable=SC2086 # words
		confines $filter
	done
}

@test "tfs-report, tfs-perfetto: have no capabilities and few system calls before they read files" {
	need_confinement
	need_tool strace python3
	python3 "$TREE/t/prog/tracedat.py" little 8 file
	for command in 'tfs-report file' 'tfs-perfetto file file'; do
		# shellcheck disable=SC2086 # words
		strace -o calls $command >out 2>/dev/null
		# it gives up its rights after it opens the last file and before it reads the first byte
		sed -n '/^openat(.*"file"/,$p' calls >after
		[ "$(grep -c '^openat(.*"file"' after)" = "$(grep -o file <<<"$command" | wc -l)" ]
		[ "$(grep -n '^openat(.*"file"' after | tail -n 1 | cut -d: -f1)" -lt \
			"$(grep -nm1 '^prctl(PR_SET_SECCOMP' after | cut -d: -f1)" ]
		[ "$(grep -nm1 '^prctl(PR_SET_SECCOMP' after | cut -d: -f1)" -lt \
			"$(grep -nm1 '^pread64' after | cut -d: -f1)" ]
		grep -q '^capset(.*effective=0, permitted=0, inheritable=0' after
		run -1 grep -E 'ENOSYS|EPERM' after
		[ -s out ]
	done
}

@test "blk-text: has no capabilities and few system calls before it parses a file" {
	need_confinement
	need_tool strace
	printf 'no record' >file
	run -111 strace -o calls blk-text file
	sed -n '/^prctl(PR_SET_SECCOMP/,$p' calls >after
	[ -s after ]
	run -1 grep -E 'ENOSYS|EPERM|^read' after
	grep -q '^write(2, "blk-text: fatal: ' after
}

@test "tfs-slower: still dies of SIGPIPE without rights when its reader goes away" {
	need_confinement
	yes '# a line' | { tfs-slower 0 || echo $? >status; } 2>errors | head -n 1 >line
	eventually [ -s status ]
	file_is status 141
	[ ! -s errors ]
}

@test "tfs-catpipe: keeps three capabilities while it streams, and can gain none" {
	need_confinement
	need_root
	new_instance
	mkfifo trace
	tfs-catpipe -i "$INSTANCE" >trace 2>errors &
	local pid=$!
	exec 7<trace
	eventually has_rights "$pid" "1 0 $(kept $STREAM) $(kept $STREAM) $NONE"
	echo 'a mark' >"$DIR/trace_marker"
	IFS= read -r line <&7
	[[ $line == *': tracing_mark_write: a mark' ]]
	kill -TERM "$pid"
	wait "$pid"
	[ ! -s errors ]
}

@test "tfs-record: keeps three capabilities while it records, and five in another user's directory" {
	need_confinement
	need_root
	new_instance
	mkdir ours theirs
	chown 65534 theirs
	for row in "ours $STREAM" "theirs $OTHERS"; do
		background tfs-record -i "$INSTANCE" "${row% *}/file"
		waits_with "${row#* }"
		ends_by "$PID" TERM 0
		tfs-report "${row% *}/file" >text
	done
}

# CAP_SYSLOG
ADDRESSES=0x400000000
# CAP_SYSLOG, CAP_LEASE, CAP_SYS_PTRACE
FLIGHT=0x410080000

# waits_with MASK [SECCOMP]: Fail unless $PID has exactly these capabilities.
waits_with() {
	eventually has_rights "$PID" "1 ${2-0} $(kept "$1") $(kept "$1") $NONE"
}

@test "tfs-read: keeps one capability while it waits, and more for another user's files" {
	need_confinement
	need_root
	mkdir root
	for owner in 0 65534; do
		echo before >root/a
		chown $owner root/a
		chmod 600 root/a
		background tfs-read -w -R root a >out
		waits_with $((ADDRESSES | (owner ? 2 : 0)))
		echo after >root/a
		ends_by "$PID" TERM 0
		lines_are out 'after'
	done
	# only a directory on the way is another user's
	mkdir -m 700 root/theirs
	echo before >root/theirs/b
	chown 65534 root/theirs
	background tfs-read -w -R root theirs/b >out
	waits_with $((ADDRESSES | 2))
	echo after >root/theirs/b
	ends_by "$PID" TERM 0
	lines_are out 'after'
	chown 65534 root
	chmod 700 root
	background tfs-read -w -R root a >out
	waits_with $((ADDRESSES | 0xa))
	ends_by "$PID" TERM 0
	lines_are out 'after'
}

@test "tfs-read: reads an instance again and again without its capabilities" {
	need_confinement
	new_instance
	background tfs-read -e 1 -i "$INSTANCE" tracing_on events/sched/sched_switch/format >out
	waits_with $ADDRESSES
	eventually [ -s out ]
	ends_by "$PID" TERM 0
	[ "$(head -n 1 out)" = 1 ]
	[ "$(grep -c '^name: sched_switch$' out)" -ge 2 ]
}

@test "relay-cat: has no capabilities and few system calls while it drains" {
	need_confinement
	mkdir channel to
	mkfifo channel/trace0 channel/trace1
	echo 0 >channel/dropped
	exec 8<>channel/trace0 9<>channel/trace1
	for where in '' '-o to'; do
		# shellcheck disable=SC2086 # an option and its value
		background relay-cat $where channel >out 2>err 8>&- 9>&-
		waits_with 0 2
		printf one >&8
		printf two >&9
		echo 3 >channel/dropped
		ends_by "$PID" TERM 0
		file_is err 'relay-cat: lost 3 records; channel/dropped counts them'
	done
	[ "$(cat to/trace0 to/trace1)" = onetwo ]
}

@test "relay-cat: its system call filter allows every call that relay-cat makes" {
	need_confinement
	need_tool strace
	mkdir files
	mkfifo files/trace0 files/trace1
	echo 12 >files/dropped
	seq 10000 >files/trace0 &
	seq 7 >files/trace1 &
	strace -o calls relay-cat files 2>err | cat >got # until both files are closed
	file_has 10007 got
	grep -q '^prctl(PR_SET_SECCOMP' calls
	run -1 grep -E 'ENOSYS|EPERM' <(sed -n '/^prctl(PR_SET_SECCOMP/,$p' calls)
	grep -q 'lost 12 records' err
}

@test "dt-trace: keeps one capability while it waits" {
	need_confinement
	need_tracefs
	dt-probe -N "$MARK" on >/dev/null || skip "needs BPF"
	PROBE=$MARK
	background dt-trace -w -N "$MARK" >out
	waits_with 0x8000000000
	ends_by "$PID" TERM 0
	file_is out 0
}

# flight_of DIR MASK [OPTION]...: With these capabilities tfs-flight dumps, obeys its control
# files and counts dropped events, and leaves nothing but the dump.
flight_of() {
	local dir=$1
	background tfs-flight -i "$INSTANCE" -t sched:sched_process_exec "${@:3}" "$dir" >out 2>err
	waits_with "$2"
	echo "$MARK was here" >"$DIR/trace_marker"
	kill -USR1 "$PID"
	eventually [ -s out ]
	grep -q ": tracing_mark_write: $MARK was here\$" "$(cat out)"
	if [ -e "$dir/state" ]; then
		file_is "$dir/dropped" 0
		echo stop >"$dir/state"
		eventually grep -qx 0 "$DIR/tracing_on"
		echo start >"$dir/state"
		eventually grep -qx 1 "$DIR/tracing_on"
	fi
	ends_by "$PID" TERM 0
	[ ! -s err ]
	[ ! -e "$TRACEFS/instances/$INSTANCE+trigger" ]
	[ "$(ls -A "$dir")" = dump.1 ]
}

@test "tfs-flight: keeps three capabilities while it records, and five in another user's directory" {
	need_confinement
	need_tracefs events/sched
	new_instance
	echo $$ >"$DIR/set_event_pid" # its trigger is for no other task
	mkdir ours locked theirs
	flight_of ours $FLIGHT
	flight_of locked 0x400080000 -L
	chown 65534 theirs
	chmod 700 theirs
	flight_of theirs $((FLIGHT | 0xa))
}

@test "tfs-flight: sees without its capabilities how another user's process failed" {
	need_confinement
	new_instance
	need_tool setpriv
	mkdir d
	# a parent that does not wait for its child before it ends
	mkfifo gate end
	# by its path, because the sh of busybox prefers its own setpriv
	# shellcheck disable=SC2016 # words of the other shell
	background sh -c '"$1" --reuid 65534 sh -c "read -r _; exit 3" <gate &
		echo $! >failed; exec cat end' sh "$(command -v setpriv)"
	parent=$PID
	exec 7>gate
	eventually grep -qx cat "/proc/$parent/comm"
	echo >&7
	eventually grep -q '^State:.Z' "/proc/$(cat failed)/status"
	background tfs-flight -i "$INSTANCE" -F "$(cat failed)" d >out
	waits_with $FLIGHT
	ends_by "$PID" TERM 0
	file_is out "$PWD/d/dump.1"
	kill "$parent"
}

# tasks_below PID: Print name and rights of each task.
tasks_below() {
	local pid
	for pid in $(children "$1"); do
		echo "$(cat "/proc/$pid/comm") $(rights "$pid")"
		tasks_below "$pid"
	done
}

session_has() {
	tasks_below "$SESSION" | sed 1d | diff - expected >differs
}

@test "a session: its stream and its filter have given up their rights" {
	need_confinement
	need_tracefs events/sched
	start_session trace_sched --pid $$
	exec 7<"$TRACE"
	cat >expected <<-END
		tfs-latency 1 2 $NONE $NONE $NONE
		tfs-catpipe 1 0 $(kept $STREAM) $(kept $STREAM) $NONE
	END
	eventually session_has
	stop_session
	exec 7>&-
}

# ---- the record of a session -------------------------------------------------------------

# log_at PATH: Start a log that takes datagrams at PATH, for audits; each becomes a line of "log".
log_at() {
	need_tool python3
	export TFS_AUDIT=$1
	: >log
	background python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True:
    line = s.recv(65536)
    assert b"\n" not in line and len(line) <= 900
    print(line.decode("ascii"), flush=True)' "$1" >log
	eventually [ -S "$1" ]
}

log_has() {
	eventually file_has "$1" log # another process writes it
}

# Print the records without the parts that differ each time.
records() {
	sed -E 's/^<86>tfs\[[0-9]+\]: //; s/ (start|end)=[0-9]{10,}/ \1=N/g' log
}

@test "audit: a record of a session's begin and end says who ran what and how it ended" {
	need_tracefs events/sched
	log_at "$PWD/socket"
	start_session trace_event --pid $$ -e sched_switch
	log_has 1
	stop_session
	log_has 2
	what="subsystem=ftrace hook=trace_event uid=0 args=\"--instance $MARK --pid $$ -e sched_switch\""
	records | diff - <(echo "session=$MARK begin start=N $what"
		echo "session=$MARK end start=N end=N status=0 $what")
}

@test "audit: --check writes no record, because it is not a session" {
	need_tracefs events/sched
	log_at "$PWD/socket"
	run -0 "$MANAGER" --check trace_event --args "--instance $MARK-c --pid $$ -e sched_switch"
	run -111 "$MANAGER" --check trace_event --args "--instance $MARK-c --pid $$ -e nosuch"
	start_session trace_event --pid $$ -e sched_switch
	stop_session
	eventually grep -q "session=$MARK end" log
	run -1 grep "session=$MARK-c" log
}

@test "audit: hostile arguments are escaped and cut, and stay on one line" {
	need_tracefs
	log_at "$PWD/socket"
	long=$(printf '%01000d' 0)
	run -111 "$MANAGER" --run trace_event \
		--args "--instance $MARK --pid 1 -e sched_switch
	-e 'no:\"\\é'"
	records >escaped
	run -111 "$MANAGER" --run trace_event --args "--instance $MARK --pid 1 -e no:$long"
	log_has 4
	what='subsystem=ftrace hook=trace_event uid=0 args="--instance '$MARK' --pid 1 -e sched_switch\x0a\x09'
	# shellcheck disable=SC1003 # a backslash
	what+="-e 'no:"'\"\\'"\xc3\xa9'\""
	diff escaped - <<-END
		session=$MARK begin start=N $what
		session=$MARK end start=N end=N status=111 $what
	END
	[ "$(grep -c '00" cut$' log)" = 2 ]
}

@test "audit: kmsg: the records are lines of the kernel's log" {
	need_tracefs
	[ -w /dev/kmsg ] || skip "needs /dev/kmsg (CONFIG_PRINTK)"
	need_tool dmesg
	TFS_AUDIT=kmsg run -111 "$MANAGER" --run trace_event --args "--instance $MARK --pid 1 -e no:such"
	dmesg >text
	grep -q "tfs\[[0-9]*\]: session=$MARK begin start=" text
	grep -q "tfs\[[0-9]*\]: session=$MARK end start=.* status=111 " text
}

@test "audit: the record says so if a session ended because its process was killed" {
	need_tracefs events/sched
	log_at "$PWD/socket"
	start_session trace_event --pid $$ -e sched_switch
	kill -KILL "$(children "$SESSION" | head -n 1)"
	finishes "$SESSION" 111
	log_has 2
	records | grep -q "^session=$MARK end start=N end=N status=killed subsystem=ftrace "
}

@test "audit: a line of a policy selects the log, and a session does not depend on the log" {
	need_tracefs events/sched
	log_at "$PWD/socket"
	printf '%s\n' 'hook trace_event *' 'audit off' >policy
	export TFS_POLICY=$PWD/policy
	start_session trace_event --pid $$ -e sched_switch
	stop_session
	log_has 0
	printf '%s\n' 'hook trace_event *' "audit $PWD/nobody" >policy
	few=(--run trace_event --args "--instance $MARK --pid 1 -e sched_switch --time 1")
	"$MANAGER" "${few[@]}" >out 2>err
	file_is err "manager: audit: unable to write to $PWD/nobody: No such file or directory; this session has no record"
	log_has 0
	if [ "$(id -u)" = 0 ] && unshare -m true; then # as in a pod
		# shellcheck disable=SC2016 # of the other shell
		TFS_POLICY='' TFS_AUDIT=kmsg unshare -m sh -c 'mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && exec "$@"' - \
			"$MANAGER" "${few[@]}" >out 2>err
		file_is err 'manager: audit: unable to write to /dev/kmsg: No such file or directory; this session has no record'
		# a file in its place neither takes the record nor loses its text
		echo text >log.old
		mkfifo fifo
		for other in /dev/null log.old fifo; do
			# shellcheck disable=SC2016 # of the other shell
			TFS_POLICY='' TFS_AUDIT=kmsg unshare -m sh -c 'mount --bind "$0" /dev/kmsg && exec "$@"' "$other" \
				"$MANAGER" "${few[@]}" >out 2>err
			file_is err "manager: audit: unable to write to /dev/kmsg: it is not the kernel's log; this session has no record"
		done
		file_is log.old text
	fi
	printf '%s\n' 'hook trace_event *' 'audit mail' >policy
	refused 111 "policy $PWD/policy: line 2: the value must be syslog, kmsg, off or the path of a socket; nothing is allowed" --get-all
	rm policy
	unset TFS_POLICY
	TFS_AUDIT=mail refused 111 "TFS_AUDIT must be syslog, kmsg, off or the path of a socket: 'mail'" --get-all
}

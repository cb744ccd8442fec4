#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# confine: a tool gives up the rights that it does not need any more

load helper

undo() {
	exec 7>&-
}

# need_confinement: skip where the kernel or the build has none
need_confinement() {
	case ${TFS_VARIANT-} in
	sanitize | valgrind) skip "needs a build without NO_CONFINE" ;;
	esac
	grep -q '^Seccomp:' /proc/self/status || skip "needs seccomp (CONFIG_SECCOMP_FILTER)"
}

# status_of KEY PID: the value of a line of /proc/PID/status
status_of() {
	sed -n "s/^$1:[[:blank:]]*//p" "/proc/$2/status"
}

# rights PID: whether it can gain privileges, its filter of calls, its capabilities
rights() {
	echo "$(status_of NoNewPrivs "$1") $(status_of Seccomp "$1")" \
		"$(status_of CapEff "$1") $(status_of CapPrm "$1") $(status_of CapInh "$1")"
}

has_rights() {
	[ "$(rights "$1")" = "$2" ]
}

NONE=0000000000000000

# kept MASK: those of these capabilities that root has here
kept() {
	local ours
	ours=$(status_of CapPrm self)
	printf '%016x\n' $((0x$ours & $1))
}

# CAP_SYSLOG, CAP_SYS_RESOURCE, CAP_SYS_PTRACE
STREAM=0x401080000
# CAP_DAC_OVERRIDE and CAP_FOWNER as well
OTHERS=0x40108000a

# confines TOOL [WORD]...: while it waits for its input it has no rights any more
confines() {
	local pid
	mkfifo input
	"$@" <input >output 2>errors &
	pid=$!
	exec 7>input
	eventually has_rights "$pid" "1 2 $NONE $NONE $NONE"
	echo '      sh-7       [000] .....     1.000000: e: lat=1' >&7
	exec 7>&-
	wait "$pid" || [ $? = 1 ]
	[ ! -s errors ]
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
	confines tfs-count
	confines tfs-hist
	confines tfs-latency -s e -e f
	confines tfs-slower 1
	confines tfs-flame
	confines tfs-timeline
	confines dt-window
	confines dt-join -c a=/dev/stdin
}

@test "tfs-report: it has no capabilities and few system calls before it reads the file" {
	need_confinement
	need_tool strace python3
	python3 "$TREE/t/prog/tracedat.py" little 8 file
	strace -o calls tfs-report file >text
	# after the file is open: first the rights, then the first byte
	sed -n '/^openat(.*"file"/,$p' calls >after
	[ "$(grep -nm1 '^prctl(PR_SET_SECCOMP' after | cut -d: -f1)" -lt \
		"$(grep -nm1 '^pread64' after | cut -d: -f1)" ]
	grep -q '^capset(.*effective=0, permitted=0, inheritable=0' after
	run -1 grep -E 'ENOSYS|EPERM' after
	[ -s text ]
}

@test "blk-text: it has no capabilities and few system calls before it parses a file" {
	need_confinement
	need_tool strace
	printf 'no record' >file
	run -111 strace -o calls blk-text file
	sed -n '/^prctl(PR_SET_SECCOMP/,$p' calls >after
	[ -s after ]
	run -1 grep -E 'ENOSYS|EPERM|^read' after
	grep -q '^write(2, "blk-text: fatal: ' after
}

@test "tfs-slower: without rights it still dies of the signal when its reader is gone" {
	need_confinement
	yes '# a line' | { tfs-slower 0 || echo $? >status; } 2>errors | head -n 1 >line
	eventually [ -s status ]
	[ "$(cat status)" = 141 ]
	[ ! -s errors ]
}

@test "tfs-catpipe: while it streams it keeps three capabilities and can gain none" {
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

@test "tfs-record: while it records it keeps three capabilities, and five in another's directory" {
	need_confinement
	need_root
	local pid
	new_instance
	tfs-record -i "$INSTANCE" file &
	pid=$!
	eventually has_rights "$pid" "1 0 $(kept $STREAM) $(kept $STREAM) $NONE"
	kill -TERM "$pid"
	wait "$pid"
	tfs-report file >text
	mkdir theirs
	chown 65534 theirs
	tfs-record -i "$INSTANCE" theirs/file &
	pid=$!
	eventually has_rights "$pid" "1 0 $(kept $OTHERS) $(kept $OTHERS) $NONE"
	kill -TERM "$pid"
	wait "$pid"
	tfs-report theirs/file >text
}

# tasks_below PID: of each, its name and rights
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

# log_at PATH: a log that takes datagrams there; each is a line of "log"
log_at() {
	need_tool python3
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
	[ "$(wc -l <log)" = "$1" ]
}

# the records without what is different each time
records() {
	sed -E 's/^<86>tfs\[[0-9]+\]: //; s/ (start|end)=[0-9]{10,}/ \1=N/g' log
}

@test "audit: a session's begin and end are recorded, with who, what and how it ended" {
	need_tracefs events/sched
	log_at "$PWD/socket"
	export TFS_AUDIT=$PWD/socket
	start_session trace_event --pid $$ -e sched_switch
	log_has 1
	stop_session
	log_has 2
	what="subsystem=ftrace hook=trace_event uid=0 args=\"--instance $MARK --pid $$ -e sched_switch\""
	records | diff - <(echo "session=$MARK begin start=N $what"
		echo "session=$MARK end start=N end=N status=0 $what")
}

@test "audit: --check is no session, and has no record" {
	need_tracefs events/sched
	log_at "$PWD/socket"
	export TFS_AUDIT=$PWD/socket
	run -0 "$MANAGER" --check trace_event --args "--instance $MARK-c --pid $$ -e sched_switch"
	run -111 "$MANAGER" --check trace_event --args "--instance $MARK-c --pid $$ -e nosuch"
	start_session trace_event --pid $$ -e sched_switch
	stop_session
	eventually grep -q "session=$MARK end" log
	run -1 grep "session=$MARK-c" log
}

@test "audit: hostile arguments are escaped and cut, and make one line" {
	need_tracefs
	log_at "$PWD/socket"
	export TFS_AUDIT=$PWD/socket
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

@test "audit: the end of a session whose process was killed is recorded as that" {
	need_tracefs events/sched
	log_at "$PWD/socket"
	export TFS_AUDIT=$PWD/socket
	start_session trace_event --pid $$ -e sched_switch
	kill -KILL "$(children "$SESSION" | head -n 1)"
	finishes "$SESSION" 111
	log_has 2
	records | grep -q "^session=$MARK end start=N end=N status=killed subsystem=ftrace "
}

@test "audit: a policy's line decides, and a session does not depend on the log" {
	need_tracefs events/sched
	log_at "$PWD/socket"
	printf '%s\n' 'hook trace_event *' 'audit off' >policy
	export TFS_AUDIT=$PWD/socket TFS_POLICY=$PWD/policy
	start_session trace_event --pid $$ -e sched_switch
	stop_session
	log_has 0
	printf '%s\n' 'hook trace_event *' "audit $PWD/nobody" >policy
	start_session trace_event --pid $$ -e sched_switch
	stop_session
	log_has 0
	printf '%s\n' 'hook trace_event *' 'audit mail' >policy
	refused 111 "policy $PWD/policy: line 2: it is syslog, kmsg, off or the path of a socket; nothing is allowed" --get-all
	rm policy
	unset TFS_POLICY
	TFS_AUDIT=mail refused 111 "TFS_AUDIT must be syslog, kmsg, off or the path of a socket: 'mail'" --get-all
}

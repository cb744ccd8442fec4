#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
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

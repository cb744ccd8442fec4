#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031 # words as they are; each test is a process of its own
# trace_open, trace_exec and the memory of calls without kprobes: exact counts, paths and words
# from BPF programs

load ../helper

undo() { # the kernel frees maps and programs a while after their last descriptor is closed
	[ -z "${ID-}" ] || eventually none_loaded || { objects; return 1; }
}

# traced HOOK WORDS: Run a session of the held $ACT, release it, and read the trace to its
# end into got.
traced() {
	start_session "$1" --output fifo --pid "$ACT" "${@:2}"
	read_by cat >got
	find_id
	release
	session_ends
	finishes "$READER" 0
	head -n 20 got # for a test that fails
}

# Set ID to the number of the session's BPF programs, if it has any.
find_id() {
	ID=$(sed -n 's/.*"\(tfs_[0-9a-f]*\) \*".*/\1/p' \
		"$TRACEFS/instances/tfs.$MARK/events/bpf_trace/bpf_trace_printk/filter")
}

# objects: Print the BPF objects of the session's programs.
objects() {
	"$PROG/bpfobjects" all "$ID"
}

none_loaded() {
	[ -z "$(objects)" ]
}

lines() {
	grep -c "$1" got || :
}

# Skip unless the kernel runs BPF programs at system calls.
need_bpf() {
	need_tracefs events/syscalls
	need_tracefs events/bpf_trace
	: >there
}

path_of() { # LENGTH: Print a path of that many bytes, of a file that is there
	local slashes
	slashes=$(printf '/%.0s' {1..4096})
	printf '%s' "${slashes::$(($1 - ${#PWD} - 6))}$PWD/there"
}

# ---- trace_open ----------------------------------------------------------------------------

# bats test_tags=quick
@test "trace_open: without kprobes, BPF programs record each file that is opened, and the result" {
	need_bpf
	act opens 12 8 "$PWD/there"
	traced trace_open --source bpf
	[ "$(head -n 1 got)" = '# paths are read by BPF programs' ]
	[ "$(lines ": open: (sys_open[at]*) path=\"$PWD/there\" flags=0x[0-9a-f]* ret=[0-9]*$")" = 12 ]
	[ "$(lines ': open: (sys_open[at]*) path="/nowhere/at all" flags=0x[0-9a-f]* ret=-2$')" = 8 ]
	file_has 21 got
}

@test "trace_open, trace_exec: --json has the fields of the text, and tfs-export accepts each line" {
	need_bpf
	act opens 12 8 "$PWD/there"
	traced trace_open --source bpf --json --date
	tfs-export -f logs <got >otlp
	[ "$(head -n 1 got)" = '{"comment":"paths are read by BPF programs"}' ]
	[ "$(lines '"event":"open","fields":{"call":"open[at]*","path":"'"$PWD/there"'","flags":[0-9]*,"ret":[0-9]*}}$')" = 12 ]
	[ "$(lines '"event":"open","fields":{"call":"open[at]*","path":"/nowhere/at all","flags":[0-9]*,"ret":-2}}$')" = 8 ]
	file_has 21 got
	[ "$(grep -o '"body":{"stringValue":"paths are read by BPF programs"}' otlp | wc -l)" = 1 ]
	[ "$(grep -o '"body":{"stringValue":"open"}' otlp | wc -l)" = 20 ]
	tfs-run trace_exec --source bpf --json -- sh -c 'exec env echo "a\"b"' 2>/dev/null >got
	[ "$(lines '"event":"exec2","fields":{"filename":"[^"]*","argc":2,"argv0":"echo","argv1":"a\\"b"}}$')" = 1 ]
}

# bats test_tags=quick
@test "trace_open: chooses BPF programs by itself if the kernel has no kprobes" {
	need_bpf
	[ ! -e "$TRACEFS/kprobe_events" ] || skip "needs a kernel without kprobes"
	tfs-run trace_open -- cat "$PWD/there" nowhere >got 2>/dev/null || [ $? = 1 ]
	[ "$(lines " cat-[0-9]* .*: open: (sys_openat) path=\"$PWD/there\" flags=0x[0-9a-f]* ret=[0-9]*$")" = 1 ]
	[ "$(lines ' cat-[0-9]* .*: open: (sys_openat) path="nowhere" flags=0x[0-9a-f]* ret=-2$')" = 1 ]
}

# bats test_tags=guest
@test "trace_open: BPF programs print the same fields as kprobes do" {
	need_bpf
	need_entry_probes
	for source in kprobes bpf; do
		act opens 5 3 "$PWD/there"
		traced trace_open --source "$source"
		sed -n 's/.* path="\{0,1\}\(.*[^"]\)"\{0,1\} flags=\(0x[0-9a-f]*\).*/\1 \2/p' got | sort >"$source.paths"
		sed -n 's/.* ret=\([-0-9]*\).*/\1/p' got | sort >"$source.rets"
	done
	file_has 8 bpf.paths
	diff kprobes.paths bpf.paths
	diff kprobes.rets bpf.rets
}

@test "trace_open: --failed prints only the opens that fail, with BPF programs as well" {
	need_bpf
	act opens 12 8 "$PWD/there"
	traced trace_open --source bpf --failed
	[ "$(lines ': open: .* path="/nowhere/at all" flags=0x[0-9a-f]* ret=-2$')" = 8 ]
	[ "$(grep -vc '^#' got)" = 8 ]
}

@test "trace_open: BPF programs record the opens of threads and of children, and of no other task" {
	need_bpf
	act opens 50 0 /dev/zero
	stranger=$ACT stranger_go=$GO
	act threads 7 3 "$PWD/there"
	start_session trace_open --source bpf --output fifo --pid "$ACT"
	read_by cat >got
	find_id
	echo >"$stranger_go"
	eventually gone "$stranger"
	release
	session_ends
	finishes "$READER" 0
	[ "$(lines ": open: .* path=\"$PWD/there\" ")" = 42 ]
	[ "$(grep "path=\"$PWD/there\"" got | pids_in | wc -l)" = 6 ]
	[ "$(lines '/dev/zero')" = 0 ]
}

@test "trace_open: BPF programs read a path of any length whole" {
	need_bpf
	for n in 62 63 64 126 127 447 448 449 896 4094 4095; do
		[ "$n" -gt $((${#PWD} + 6)) ] || continue
		path=$(path_of "$n")
		act opens 2 1 "$path"
		traced trace_open --source bpf
		[ "$(lines ": open: .* path=\"$path\" flags=0x[0-9a-f]* ret=[0-9]*$")" = 2 ]
		[ "$(grep -vc '^#' got)" = 3 ]
	done
}

@test "trace_open: a path that the kernel refuses as too long is printed without it" {
	need_bpf
	path=$(path_of 4090)
	act opens 3 0 "$path$path"
	traced trace_open --source bpf
	[ "$(lines ': open_long: (sys_open[at]*) flags=0x[0-9a-f]* ret=-36$')" = 3 ]
	[ "$(grep -vc '^#' got)" = 3 ]
}

@test "trace_open: BPF programs read a path that was not in memory, and print (fault) for a bad one" {
	need_bpf
	printf '%s\0' "$PWD/there" >name
	act unread 20 5 "$PWD/name"
	traced trace_open --source bpf
	[ "$(lines ": open: .* path=\"$PWD/there\" flags=0x[0-9a-f]* ret=[0-9]*$")" = 20 ]
	[ "$(lines ': open: .* path=(fault) flags=0x[0-9a-f]* ret=-14$')" = 5 ]
	[ "$(grep -vc 'name"\|^#' got)" = 25 ]
}

@test "trace_open: a path is that of the entry, whatever a thread writes there while the call waits" {
	need_bpf
	long=$(path_of 4000)
	for fifo in "$PWD/fifo" "${long%there}fifo"; do
		rm -f fifo
		mkfifo fifo
		tfs-run trace_open --source bpf --instance "$MARK" -o got.txt -- "$PROG/sides" hidden "$fifo"
		cp got.txt got
		[ "$(lines ": open: (sys_openat) path=\"$fifo\" flags=0x[0-9a-f]* ret=[0-9]*$")" -ge 1 ]
		[ "$(lines '"/nowhere/else"')" = 0 ]
		[ "$(lines ': open: (sys_openat) path="/nowhere/absent" flags=0x[0-9a-f]* ret=-2$')" = 1 ]
		[ "$(lines ': open: (sys_openat) path=(fault) flags=0x[0-9a-f]* ret=-14$')" = 1 ]
	done
}

@test "trace_open: a path forges neither fields nor lines nor records" {
	need_bpf
	act opens 1 0 $'/a" flags=0x7 ret=9 x="\n#b'
	traced trace_open --source bpf
	[ "$(lines ': open: .* path="/a\\" flags=0x7 ret=9 x=\\"\\n#b" flags=0x[0-9a-f]* ret=-2$')" = 1 ]
	act opens 1 0 "/a\\\" flags=0x7 ret=9 x=\"\\"
	traced trace_open --source bpf
	[ "$(grep -cF ' path="/a\\\" flags=0x7 ret=9 x=\"\\" flags=0x' got)" = 1 ]
	act opens 1 0 "=openat 8000 3 /etc/passwd"
	traced trace_open --source bpf
	[ "$(lines ': open: .* path="=openat 8000 3 /etc/passwd" ')" = 1 ]
	[ "$(grep -vc '^#' got)" = 1 ]
}

@test "trace_open: two sessions with BPF programs do not see each other's records" {
	need_bpf
	act opens 5 3 "$PWD/there"
	start_session trace_open --source bpf --output fifo --pid "$ACT"
	one_session=$SESSION one_trace=$TRACE
	find_id
	: >out
	background "$MANAGER" --run trace_open --args \
		"--instance ${MARK}b --source bpf --output fifo --failed --pid $ACT" >out 2>err
	SESSION=$PID
	eventually path_or_error
	TRACE=$(cat out)
	read_by cat >got.two
	two_reader=$READER TRACE=$one_trace
	read_by cat >got
	release
	finishes "$SESSION" 0
	finishes "$one_session" 0
	finishes "$READER" 0
	finishes "$two_reader" 0
	[ "$(grep -vc '^#' got)" = 8 ]
	[ "$(grep -vc '^#' got.two)" = 3 ]
	nothing_left
}

@test "trace_open: delivered and lost opens add up, with BPF programs and a full buffer" {
	need_bpf
	n=$(so_many 40000)
	act opens "$n" 0 "$PWD/there"
	start_session trace_open --source bpf --output fifo --buffer 64 --pid "$ACT"
	find_id
	act=$ACT
	release
	eventually gone "$act" # no reader exists yet
	read_by cat >got
	session_ends
	finishes "$READER" 0
	lost=$(sed -En '$s/^# lost ([0-9]+) events: .*/\1/p' got)
	[ "$lost" -gt 0 ]
	[ $((lost + $(lines ': open: '))) = "$n" ]
}

@test "trace_open: --output dat has the records of the BPF programs" {
	need_bpf
	act opens 12 8 "$PWD/there"
	start_session trace_open --source bpf --output dat --pid "$ACT"
	find_id
	release
	session_ends
	tfs-report "$TRACE" >all
	rm -r "${TRACE%/*}"
	tfs-strings -i "$ID" <all >got
	[ "$(lines ": open: .* path=\"$PWD/there\" ")" = 12 ]
	[ "$(lines ': open: .* ret=-2$')" = 8 ]
}

# This test is alone because the kernel enables the event of the top level whenever a program that
# prints is loaded; until the session that loaded it has disabled the event again, it records.
# bats test_tags=alone
@test "trace_open: the top level does not record what BPF programs print" {
	need_bpf
	enable=$TRACEFS/events/bpf_trace/bpf_trace_printk/enable
	file_is "$enable" 0 || skip "needs bpf_trace_printk disabled at the top level"
	act opens 3 0 "$PWD/there"
	traced trace_open --source bpf
	file_is "$enable" 0
	run -1 grep -F "$PWD/there" "$TRACEFS/trace"
}

# bats test_tags=alone
@test "tfs-strings: killed while it attaches, it leaves the event of the top level disabled" {
	need_bpf
	need_tool strace flock
	enable=$TRACEFS/events/bpf_trace/bpf_trace_printk/enable
	file_is "$enable" 0 || skip "needs bpf_trace_printk disabled at the top level"
	background strace -o calls.out -e trace=bpf tfs-strings calls >id
	eventually test -s id
	kill -INT "$(children "$PID" | head -n 1)"
	finishes "$PID" 0
	# the kernel enables the event at a load of a program that prints, or soon after it
	sed -n '/BPF_PROG_LOAD/=' calls.out | sed -n '1p;2p;$p' >loads
	[ "$(wc -l <loads)" = 3 ]
	while read -r n; do
		run -137 strace -o strace.out -e trace=bpf -e "inject=bpf:signal=KILL:when=$n" \
			tfs-strings calls
		# whoever puts the event back holds the lock
		flock "$TRACEFS/events/bpf_trace" true
		file_is "$enable" 0
	done <loads
}

# everything KILLED: Kill the processes that the word names of a session that runs.
killed() {
	local janitor pids
	act opens 1 0 "$PWD/there"
	start_session "$1" --source bpf --output fifo --pid "$ACT"
	find_id
	[ -n "$(objects)" ]
	janitor=$(children "$SESSION" | head -n 1)
	pids="$janitor $(children "$janitor")"
	# shellcheck disable=SC2086 # a pid a word
	kill_at_once "$SESSION" $pids
	wait "$SESSION" || :
	eventually none_loaded
	"$MANAGER" --run trace_event --args "--instance ${MARK}b --pid $$ -t 1 -e sched_process_exit" >/dev/null
	nothing_left
}

# This test is alone because any other session would remove the rest first.
# bats test_tags=alone
@test "trace_open, trace_exec: if everything is killed, no BPF program stays" {
	need_bpf
	killed trace_open
	killed trace_exec
}

@test "trace_open: --check leaves no BPF program behind" {
	need_bpf
	run -0 "$MANAGER" --check trace_open --args "--pid $$ --source bpf"
	[ "$output" = 'trace_open: yes' ]
	nothing_left
}

@test "trace_open: --source syscalls prints the calls, and says why the paths are addresses" {
	need_bpf
	act opens 12 8 "$PWD/there"
	traced trace_open --source syscalls
	if [ -e "$TRACEFS/syscall_user_buf_size" ]; then
		[ "$(head -n 1 got)" = '# paths are cut behind 165 bytes' ]
		[ "$(lines ": sys_open.*\"$PWD/there\"")" = 12 ]
	else
		[ "$(head -n 1 got)" = '# paths are addresses' ]
	fi
	[ "$(lines ': sys_open[at]*(.*filename: ')" = 20 ]
	[ "$(lines ': sys_open[at]* -> 0x')" = 20 ]
	file_has 41 got
}

@test "trace_open: --source syscalls --failed prints the calls that fail" {
	need_bpf
	[[ $(uname -m) != @(ppc|mips)* ]] || skip "needs errors with a sign, which $(uname -m) lacks"
	act opens 12 8 "$PWD/there"
	traced trace_open --source syscalls --failed
	[ "$(lines ': sys_open[at]* -> 0x')" -ge 8 ]
}

@test "trace_open: refuses --source syscalls --failed on PowerPC and MIPS, where errors have no sign" {
	local machine
	mkdir machine
	for machine in ppc64le mips mips64; do
		printf '#!%s\necho %s\n' "$BASH" "$machine" >machine/uname
		chmod +x machine/uname
		fails 111 '--failed needs --source kprobes or bpf on PowerPC and MIPS' \
			env PATH="$PWD/machine:$PATH" HOOK_SOURCE=syscalls HOOK_FAILED=1 \
			"$BASH" "$TREE/trace-hooks/ftrace/hooks.d/trace_open"
	done
}

@test "trace_open: --source kprobes is refused without kprobes, and names the file" {
	need_bpf
	[ ! -e "$TRACEFS/kprobe_events" ] || skip "needs a kernel without kprobes"
	run -111 --separate-stderr "$MANAGER" --run trace_open --args \
		"--instance $MARK --pid $$ --source kprobes"
	[ -z "$output" ]
	# shellcheck disable=SC2154 # set by run
	[ "$stderr" = 'manager: fatal: this kernel has no kprobe_events; it needs CONFIG_KPROBE_EVENTS' ]
	nothing_left
}

# ---- trace_exec ----------------------------------------------------------------------------

# bats test_tags=quick
@test "trace_exec: without kprobes, a BPF program records each program, with all its words" {
	need_bpf
	acts=$PROG/acts
	act execs 5 3 one "two words" ''
	traced trace_exec --source bpf
	[ "$(head -n 1 got)" = '# words are read by BPF programs' ]
	[ "$(lines ": exec5: (sched_process_exec) filename=\"$acts\" argc=5 argv0=\"$acts\" argv1=\"nothing\" argv2=\"one\" argv3=\"two words\" argv4=\"\"$")" = 5 ]
	file_has 6 got
}

# bats test_tags=guest
@test "trace_exec: a BPF program prints the same fields as kprobes do" {
	need_bpf
	need_entry_probes
	printf '#!/bin/sh -e\n:\n' >script
	chmod +x script
	for source in kprobes bpf; do
		act execs 3 2 one "two words" ''
		traced trace_exec --source "$source"
		sed -n 's/.*: \(exec[0-9]*:\) ([^)]*)/\1/p' got >"$source"
		start_session trace_exec --source "$source" --output fifo --pid $$
		read_by cat >got
		find_id
		./script word
		stop_session
		finishes "$READER" 0
		sed -n 's/.*: \(exec[0-9]*:\) ([^)]*)\( filename="\.\/script"\)/\1\2/p' got >>"$source"
	done
	file_has 4 bpf
	diff kprobes bpf
}

@test "trace_exec: --words limits the words that a BPF program reads" {
	need_bpf
	acts=$PROG/acts
	act execs 5 3 one "two words" ''
	traced trace_exec --source bpf --words 2
	[ "$(lines ": exec2: .* argc=5 argv0=\"$acts\" argv1=\"nothing\"$")" = 5 ]
	[ "$(grep -vc '^#' got)" = 5 ]
	act execs 1 0 one
	traced trace_exec --source bpf --words 32
	[ "$(lines ': exec3: ')" = 1 ]
	act execs 1 0 {1..40}
	traced trace_exec --source bpf --words 32
	[ "$(lines ': exec32: .* argc=42 .* argv31="30"$')" = 1 ]
}

@test "trace_exec: a BPF program reads words of any length up to about 4,000 bytes in all" {
	need_bpf
	for n in 62 63 64 447 448 449 3900; do
		word=$(printf "%0${n}d" 0)
		act execs 3 0 "$word" behind
		traced trace_exec --source bpf
		[ "$(lines ": exec4: .* argv2=\"$word\" argv3=\"behind\"$")" = 3 ]
		[ "$(grep -vc '^#' got)" = 3 ]
	done
	word=$(printf "%0100000d" 0)
	act execs 3 0 "$word"
	traced trace_exec --source bpf
	[ "$(lines ': exec_long: (sched_process_exec) argc=3$')" = 3 ]
	[ "$(grep -vc '^#' got)" = 3 ]
}

@test "trace_exec: a word forges no field" {
	need_bpf
	act execs 1 0 'a" argv3="evil' '' "back\\" x
	traced trace_exec --source bpf
	[ "$(grep -cF ' argv2="a\" argv3=\"evil" argv3="" argv4="back\\" argv5="x"' got)" = 1 ]
}

@test "trace_exec: --failed prints path and error of an exec that fails, without kprobes" {
	need_bpf
	act execs 2 3 one
	traced trace_exec --source bpf --failed
	[ "$(lines ': exec3: ')" = 2 ]
	[ "$(lines ': exec_open: (sys_execve) path="/nowhere/at all" flags=0x[0-9a-f]*$')" = 3 ]
	[ "$(lines ': sys_execve -> 0x\(f*fe\|2\)$')" = 3 ] # PowerPC prints errors without a sign
	[ "$(grep -vc '^#' got)" = 8 ]
}

@test "trace_exec: --source syscalls prints the files, and says that the words are not known" {
	need_bpf
	act execs 5 3 one
	traced trace_exec --source syscalls
	[ "$(head -n 1 got)" = '# words are not known' ]
	[ "$(lines ": sched_process_exec: filename=$PROG/acts ")" = 5 ]
	file_has 6 got
}

# ---- tfs-strings calls ---------------------------------------------------------------------

# memory OPTION...: Record "acts memory" with the programs of tfs-strings in an instance.
# Write what they print to got, and the records of calls between.
memory() {
	local strings enter=raw_syscalls:sys_enter exit=raw_syscalls:sys_exit
	need_bpf
	new_instance
	export TFS_INSTANCE=$INSTANCE
	[ ! -e "$DIR/syscall_user_buf_size" ] || tfs-write syscall_user_buf_size 0
	act memory
	tfs-pidfilter set "$ACT"
	: >id
	background tfs-strings "$@" >id
	strings=$PID
	eventually test -s id
	ID=$(cat id)
	tfs-event "$enter" "$exit"
	tfs-event -f "bpf_string ~ \"$ID *\"" bpf_trace:bpf_trace_printk
	release
	eventually gone "$ACT"
	tfs-write tracing_on 0
	sed -n "s/^ *acts-.*: bpf_trace_printk: $ID /  /p; s/^ *acts-.*: \(sys_exit\): NR \([0-9]*\) = .*/\1 \2/p
		s/^ *acts-.*: \(sys_enter\): NR \([0-9]*\) (.*/\1 \2/p" \
		"$DIR/trace" | sed '/^  Aa .*\/acts$/,/^sys_exit/ { /^sys_exit/q; }' >got
	kill "$strings"
	wait "$strings"
	cat got # for a test that fails
}

# Print what was recorded, without the returns of calls.
printed() {
	grep '^  ' got
}

# bats test_tags=quick
@test "tfs-strings calls: records strings, structures, addresses and words of each call" {
	memory calls openat renameat2 connect getsockname ppoll execve
	q=$(printf 'q%.0s' {1..600})
	z=$(printf 'z%.0s' {1..500})
	[ "$(printed | sed -n 's/^  Ab \(.nowhere.one\)$/\1/p')" = /nowhere/one ]
	[ "$(printed | sed -n 's/^  [AB][b1] \(q*\)$/\1/p' | tr -d '\n')" = "$q" ]
	# what is not in memory is read again at the return
	[[ $z == "$(printed | sed -n 's/^  b1 \(z*\)$/\1/p' | tr -d '\n')"* ]]
	[ "$(printed | grep -c '^  X[b1]$')" = 2 ]
	[ "$(printed | grep -c '^  x1$')" = 2 ]
	[ "$(printed | grep -A 1 'from$')" = $'  Ab /nowhere/from\n  A3 /nowhere/to' ]
	[ "$(printed | grep -c '^  Db [0-9a-f]* [0-9a-f]*$')" = 1 ] # connect
	printed | grep '^  Dc 6e0*$' # getsockname
	printed | grep '^  d1 10*$'
	printed | grep '^  d2 20*$'
	[ "$(printed | sed -n 's/^  D[a0] //p' | wc -w)" = 14 ] # 8 bytes of 1 and 13 structures
	[ "$(printed | sed -n 's/^  d0 //p' | wc -w)" = 14 ]
	[ "$(printed | sed -n '/^  Aa/,$p')" = "$(
		for program in /nowhere/three "$PROG/acts"; do
			echo "  Aa $program"
			for word in acts nothing 'two words' SECRET-word ''; do
				printf '  %s\n' S1 "A1 $word"
			done
		done
	)" ]
}

@test "tfs-strings calls: each record comes in front of the entry or the return of its call" {
	memory calls openat
	# what follows a return is the next call's
	[ "$(grep -A 1 '^sys_enter' got | grep -c '^  x1')" = 1 ]
	[ "$(grep -B 1 '^sys_enter' got | grep -c '^  [AX][b1]')" -ge 5 ]
	last=$(grep -n '^  ' got | tail -n 1 | cut -d: -f1)
	sed -n "$((last + 1))p" got | grep "^sys_e"
}

@test "tfs-strings calls: takes the names of events, and refuses an unknown name" {
	memory calls newuname umount openat
	[ "$(printed | grep -c '^  Ab /nowhere/one$')" = 1 ]
	fails 111 "tfs-strings: fatal: unknown system call 'nosuch'" tfs-strings calls openat nosuch
}

@test "tfs-strings calls: no secret is recorded unless it is asked for" {
	memory -a calls
	[ -n "$(printed)" ]
	run -1 grep -c SECRET "$DIR/trace"
	[ "$(printed | sed -n '/three$/,$p')" = "$(printf '  Aa %s\n' /nowhere/three "$PROG/acts")" ]
	tfs-instance remove "$INSTANCE"
	memory -d 9 -e -w 2 calls write sendto execve
	printed | grep '^  Eb [0-9a-f]* [0-9a-f]*[.]1$'
	[ "$(printed | grep -c '^  Eb ')" = 2 ]
	[ "$(printed | grep -c '^  E1$')" = 2 ]
	[ "$(printed | grep -c 'A2 ONE=SECRET-env$')" = 2 ]
	run -1 grep -c SECRET-word got
}

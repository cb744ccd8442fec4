#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# tfs-strings: records the user memory of calls, and keeps its programs as long as it runs

load ../helper
load ../hooks

# bats test_tags=quick
@test "tfs-strings: -S prints the programs that it attaches, without the right to attach them" {
	need_tracefs events/bpf_trace
	# shellcheck disable=SC2094 # a word and a file
	plainly tfs-strings -S calls >calls
	[ "$(tail -n 1 calls)" = $'\texit' ]
	[ "$(sed -n 's|^// \(.*\):.*|\1|p' calls | xargs)" = 'sched_process_exec sys_exit sys_enter' ]
}

@test "tfs-strings: its programs live as long as it runs, and die with it by SIGKILL" {
	need_tracefs events/bpf_trace
	need_tracefs events/syscalls
	for signal in TERM KILL; do
		: >id
		background tfs-strings calls >id
		eventually test -s id
		id=$(cat id)
		[ "$("$PROG/bpfobjects" all "$id" | grep -c '^program')" = 3 ]
		kill "-$signal" "$PID"
		status=0
		wait "$PID" || status=$?
		[ "$status" = 0 ] || [ "$signal" = KILL ]
		[ -z "$("$PROG/bpfobjects" all "$id")" ] ||
			eventually eval "[ -z \"\$('$PROG/bpfobjects' all '$id')\" ]"
	done
}

@test "tfs-strings: names the reason if it may not load programs" {
	need_tracefs events/bpf_trace
	need_tool setpriv
	fails 111 'tfs-strings: fatal: unable to make a BPF map: Operation not permitted; this needs CAP_BPF' \
		setpriv --bounding-set -sys_admin,-bpf,-perfmon --inh-caps -sys_admin,-bpf,-perfmon \
		tfs-strings calls
}

@test "tfs-strings: reports a broken place for the programs of a session" {
	need_tracefs events/bpf_trace
	fails 111 'tfs-strings: fatal: unable to give the programs to the session: Bad file descriptor' \
		env TFS_KEEPS=77 tfs-strings calls
}

# ---- in the kernel ----------------------------------------------------------------------

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

@test "tfs-strings calls: each record comes before the entry or the return of its call" {
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

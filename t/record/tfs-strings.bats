#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# tfs-strings: joins records into event lines, and keeps its programs as long as it runs

load ../helper
load ../hooks

# event PID TIME TEXT: Print an event line as the kernel does.
event() {
	printf '%16s-%-7d [001] ..... %s: %s\n' "${COMM-prog}" "$1" "$2" "$3"
}

# print PID TIME RECORD: Print a record of a BPF program.
print() {
	event "$1" "$2" "bpf_trace_printk: $3"
}

# joins EXPECTED ARGUMENT...: Compare the lines that tfs-strings makes of stdin.
joins() {
	tfs-strings "${@:2}" | diff <(printf '%s\n' "$1") -
}

# bats test_tags=quick
@test "tfs-strings: prints an open as kprobes do, and passes other lines unchanged" {
	{
		echo '# tracer: nop'
		print 7 1.000001 '2a =openat 88000 3 /etc/passwd'
		event 7 1.000002 'sys_close(fd: 3)'
		print 7 1.000003 '2b =openat 88000 3 /other'
		print 7 1.000004 '2a =open 8000 -2 a "b" '
		echo '# lost 3 events'
	} | joins "$(
		echo '# tracer: nop'
		echo '# by BPF'
		event 7 1.000001 'open: (sys_openat) path="/etc/passwd" flags=0x88000 ret=3'
		event 7 1.000002 'sys_close(fd: 3)'
		print 7 1.000003 '2b =openat 88000 3 /other'
		event 7 1.000004 'open: (sys_open) path="a \"b\" " flags=0x8000 ret=-2'
		echo '# lost 3 events'
	)" -i 2a -c 'by BPF'
}

@test "tfs-strings -S: prints the programs that it attaches, without the right to attach them" {
	need_tracefs events/bpf_trace
	for kind in opens execs calls; do
		# shellcheck disable=SC2094 # a word and a file
		plainly tfs-strings -S "$kind" >"$kind"
		[ "$(tail -n 1 "$kind")" = $'\texit' ]
	done
	grep -q '^// syscalls/sys_enter_openat: ' opens
	grep -q '^// sched_process_exec: ' execs
	[ "$(sed -n 's|^// \(.*\):.*|\1|p' calls | xargs)" = 'sched_process_exec sys_exit sys_enter' ]
	tfs-strings -S -f opens >failed
	run -1 diff opens failed
	[[ $output == *'s>= 0 goto ended'* ]]
}

@test "tfs-strings: joins the parts of a path, which other tasks interrupt, at the time of the last" {
	{
		print 7 1.000001 '2a +openat 8000 3 /one'
		print 8 1.000002 '2a +openat 8000 4 /two'
		print 7 1.000003 '2a &/more'
		print 8 1.000004 '2a .'
		print 7 1.000005 '2a ./end'
	} | joins "$(
		event 8 1.000004 'open: (sys_openat) path="/two" flags=0x8000 ret=4'
		event 7 1.000005 'open: (sys_openat) path="/one/more/end" flags=0x8000 ret=3'
	)" -i 2a
}

@test "tfs-strings: prints no path that was not read or whose parts are lost" {
	{
		print 7 1.000001 '2a !openat 8000 -14'
		print 7 1.000002 '2a ?openat 3'
		print 7 1.000003 '2a +openat 8000 3 /a=b'
		print 7 1.000004 '2a x'
		print 7 1.000005 '2a +openat 8000 -36 /long'
		print 7 1.000006 '2a ~'
		print 7 1.000007 '2a .rest of a lost record'
		print 7 1.000008 '2a +openat 8000 3 /the rest is lost'
		print 7 1.000009 '2a =openat 8000 3 /next'
	} | joins "$(
		event 7 1.000001 'open: (sys_openat) path=(fault) flags=0x8000 ret=-14'
		event 7 1.000002 'open: (sys_openat) ret=3'
		event 7 1.000004 'open: (sys_openat) path=(fault) flags=0x8000 ret=3'
		event 7 1.000006 'open_long: (sys_openat) flags=0x8000 ret=-36'
		event 7 1.000009 'open: (sys_openat) path="/next" flags=0x8000 ret=3'
	)" -i 2a
}

@test "tfs-strings: prints an exec with its file and words, as kprobes do" {
	{
		print 7 1.000001 '2a #3 4'
		print 7 1.000002 '2a ./bin/sh'
		print 7 1.000003 '2a .sh'
		print 7 1.000004 '2a &-'
		print 7 1.000005 '2a .c'
		print 7 1.000006 '2a x'
		print 7 1.000007 '2a #9 1'
		print 7 1.000008 '2a ./bin/ls'
		print 7 1.000009 '2a #1 2'
		print 7 1.000010 '2a ./bin/ls'
		print 7 1.000011 '2a ~'
		print 7 1.000012 '2a =execve 8020 -2 /nowhere'
	} | joins "$(
		event 7 1.000006 'exec3: (sched_process_exec) filename="/bin/sh" argc=3 argv0="sh" argv1="-c" argv2=(fault)'
		event 7 1.000008 'exec0: (sched_process_exec) filename="/bin/ls" argc=9'
		event 7 1.000011 'exec_long: (sched_process_exec) argc=1'
		event 7 1.000012 'exec_open: (sys_execve) path="/nowhere" flags=0x8020'
	)" -i 2a
}

# json PID TS SYSTEM EVENT FIELDS: Print an event line of JSON as tfs-catpipe -j does.
json() {
	printf '{"ts":%s,"cpu":1,"pid":%s,"comm":"a \\"b\\"","system":"%s","event":"%s","fields":{%s}}\n' \
		"$2" "$1" "$3" "$4" "$5"
}

# json_print PID TS RECORD: Print a record of a BPF program as JSON.
json_print() {
	json "$1" "$2" bpf_trace bpf_trace_printk "\"bpf_string\":\"$3\""
}

@test "tfs-strings: joins records of JSON into events of JSON with the fields of the text" {
	{
		json_print 7 1.000001 '2a =openat 88000 3 /a \"b\"\u0001'
		json 7 1.000002 syscalls sys_enter_close '"fd":3'
		json_print 7 1.000003 '2b =openat 88000 3 /other'
		json_print 7 1.000004 '2a +openat 8000 -2 /one\\n'
		json_print 7 1.000005 '2a ./two'
		json_print 7 1.000006 '2a !openat 8000 -14'
		json_print 7 1.000007 '2a ?openat 3'
		json_print 7 1.000008 '2a +openat 8000 -36 /long'
		json_print 7 1.000009 '2a ~'
		json_print 7 1.000010 '2a #3 4'
		json_print 7 1.000011 '2a ./bin/sh'
		json_print 7 1.000012 '2a .sh'
		json_print 7 1.000013 '2a &a\n'
		json_print 7 1.000014 '2a .b'
		json_print 7 1.000015 '2a x'
		json_print 7 1.000016 '2a #1 2'
		json_print 7 1.000017 '2a ~'
		json_print 7 1.000018 '2a =execve 8020 -2 /nowhere'
		echo '{"lost":3}'
	} >in
	joins "$(
		echo '{"comment":"by \"BPF\""}'
		json 7 1.000001 2a open '"call":"openat","path":"/a \"b\"\u0001","flags":557056,"ret":3'
		json 7 1.000002 syscalls sys_enter_close '"fd":3'
		json_print 7 1.000003 '2b =openat 88000 3 /other'
		json 7 1.000005 2a open '"call":"openat","path":"/one\\n/two","flags":32768,"ret":-2'
		json 7 1.000006 2a open '"call":"openat","path":"(fault)","flags":32768,"ret":-14'
		json 7 1.000007 2a open '"call":"openat","ret":3'
		json 7 1.000009 2a open_long '"call":"openat","flags":32768,"ret":-36'
		json 7 1.000015 2a exec3 '"filename":"/bin/sh","argc":3,"argv0":"sh","argv1":"a\nb","argv2":"(fault)"'
		json 7 1.000017 2a exec_long '"argc":1'
		json 7 1.000018 2a exec_open '"call":"execve","path":"/nowhere","flags":32800'
		echo '{"lost":3}'
	)" -i 2a -c 'by "BPF"' <in
}

@test "tfs-strings: ends with 1 if there is no event, and survives any bytes" {
	run -1 tfs-strings -i 2a </dev/null
	[ -z "$output" ]
	outputs 1 '# a comment' tfs-strings -i 2a <<<'# a comment'
	for text in '=' '+' '!' '?' '#' '&' '.' 'x' '~' '= ' '=open' '=open 1' '# x' '#1 999999999999999999999' '&&' '..'; do
		print 7 1.000001 "2a $text"
		print 7 1.000001 "2a"
		print 7 1.000001 "2a "
		json_print 7 1.000001 "2a $text"
		json_print 7 1.000001 "2a"
		json_print 7 1.000001 "2a "
	done >any
	tfs-strings -i 2a <any >/dev/null
}

@test "tfs-strings: its programs live as long as it runs, and die with it by SIGKILL" {
	need_tracefs events/bpf_trace
	need_tracefs events/syscalls
	for signal in TERM KILL; do
		: >id
		background tfs-strings -f execs >id
		eventually test -s id
		id=$(cat id)
		[ "$("$PROG/bpfobjects" all "$id" | grep -c '^program')" = 5 ]
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
		tfs-strings opens
}

@test "tfs-strings: reports a broken place for the programs of a session" {
	need_tracefs events/bpf_trace
	fails 111 'tfs-strings: fatal: unable to give the programs to the session: Bad file descriptor' \
		env TFS_KEEPS=77 tfs-strings execs
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

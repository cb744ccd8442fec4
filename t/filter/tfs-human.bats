#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# tfs-human: a trace as people read it

load ../helper

TITLE='        SECONDS  COMM                PID EVENT'

# body TEXT: Print the event part of what tfs-human prints for an event line with this text.
body() {
	printf '              sh-42      [001] d..1.     1.000000: %s\n' "$1" >in
	tfs-human <in >out
	sed -n "2s/^       1.000000  sh                   42 //p" out
}

# process TEXT: Do the same for a line of trace_process.
process() {
	printf '              sh    42   1         1.000000 %s\n' "$1" >in
	tfs-human <in >out
	sed -n "2s/^       1.000000  sh                   42 //p" out
}

# becomes FUNCTION: Fail unless FUNCTION prints for each "IN | OUT" of stdin what OUT says.
becomes() {
	local from to n=0
	while IFS='|' read -r from to; do
		echo "$from"
		[ "$("$1" "${from% }")" = "${to# }" ] || { echo "is:  $("$1" "${from% }")"; return 1; }
		n=$((n + 1))
	done
	[ "$n" -ge 1 ]
}

# same: Fail unless tfs-human prints in unchanged.
same() {
	tfs-human <in >out
	cmp in out
}

# bats test_tags=quick
@test "tfs-human: prints time, task, pid and event below a header" {
	cat >in <<-'END'
	              ls-29257   [001] ..... 39290.156819: sys_openat(dfd: 0xffffff9c, filename: 0x7ffd4be25f20, flags: 0, mode: 0)
	              ls-29257   [001] ..... 39290.156820: sys_openat -> 0xfffffffffffffffe
	           <...>-3       [000] 5.0: sys_close -> 0x0
	 sixteen letters-4194304 [000] d..2. 39291.057040: e: a=1
	END
	tfs-human <in >out
	lines_are out "$TITLE
   39290.156819  ls                29257 openat(dfd: AT_FDCWD, filename: 0x7ffd4be25f20, flags: 0, mode: 0)
   39290.156820  ls                29257 openat = -1 ENOENT (No such file or directory)
            5.0  <...>                 3 close = 0
   39291.057040  sixteen letters 4194304 e a=1"
}

@test "tfs-human: prints results of system calls as strace does" {
	becomes body <<-'END'
	sys_read -> 0x1b | read = 27
	sys_read -> 0x0 | read = 0
	sys_brk -> 0x55baec333000 | brk = 0x55baec333000
	sys_mmap -> 0x0 | mmap = 0
	sys_lseek -> 0x200000000 | lseek = 8589934592
	sys_x -> 0xffffffffffffffff | x = -1 EPERM (Operation not permitted)
	sys_x -> 0xfffffffffffffff2 | x = -1 EFAULT (Bad address)
	sys_x -> 0xfffffffffffffe00 | x = ? ERESTARTSYS (interrupted by a signal)
	sys_x -> 0xfffffffffffffdf4 | x = ? ENOTSUPP
	sys_x -> 0xfffffffffffff001 | x = -4095
	sys_x -> 0xfffffffffffff000 | x = 0xfffffffffffff000
	sys_x -> 0x10000000000000000 | x -> 0x10000000000000000
	sys_x -> 0xg | x -> 0xg
	sys_read -> 0xfffffffffffffffc lat=12 | read = -1 EINTR (Interrupted system call) lat=12 us
	END
}

@test "tfs-human: prints AT_FDCWD only for directories" {
	becomes body <<-'END'
	sys_renameat2(olddfd: 0xffffff9c, oldname: 0x1, newdfd: 0xffffffffffffff9c, newname: 0x2, flags: 0) | renameat2(olddfd: AT_FDCWD, oldname: 0x1, newdfd: AT_FDCWD, newname: 0x2, flags: 0)
	sys_openat(dfd: 3, filename: 0xffffff9c, flags: 0, mode: 0) | openat(dfd: 3, filename: 0xffffff9c, flags: 0, mode: 0)
	sys_x(mydfd: 0xffffff9c) | x(mydfd: 0xffffff9c)
	sys_openat(dfd: ffffff9c, filename: 40900d, flags: 0) | openat(dfd: AT_FDCWD, filename: 40900d, flags: 0)
	sys_openat(dfd: 4294967196, filename: 409 "x", flags: 0) | openat(dfd: AT_FDCWD, filename: 409 "x", flags: 0)
	sys_openat(dfd: 18446744073709551516, filename: 409, flags: 0) | openat(dfd: AT_FDCWD, filename: 409, flags: 0)
	END
}

@test "tfs-human: prints names of errors in the fields of other events" {
	becomes body <<-'END'
	open: (__x64_sys_openat+0x55/0xa0 <- do_sys_openat2) path="nowhere" flags=0x8000 ret=-2 | open (__x64_sys_openat+0x55/0xa0 <- do_sys_openat2) path="nowhere" flags=0x8000 ret=-ENOENT
	open: (__x64_sys_openat+0x55/0xa0 <- do_sys_openat2) path="x" flags=0x8000 ret=3 | open (__x64_sys_openat+0x55/0xa0 <- do_sys_openat2) path="x" flags=0x8000 ret=3
	open: (a+0x1/0x2 <- b) path="ret=-2" flags=0x0 ret=-13 | open (a+0x1/0x2 <- b) path="ret=-2" flags=0x0 ret=-EACCES
	tcp_retransmit_skb: family=AF_INET state=TCP_SYN_SENT err=-113 | tcp_retransmit_skb family=AF_INET state=TCP_SYN_SENT err=-EHOSTUNREACH
	e: error=-28 result=-12 retval=-22 rc=-1 | e error=-ENOSPC result=-ENOMEM retval=-EINVAL rc=-EPERM
	e: ret=0xfffffffffffffffe | e ret=-ENOENT
	e: ret=-4095 | e ret=-4095
	e: ret=-99999999999999999999 | e ret=-99999999999999999999
	e: res=-2 myret=-2 | e res=-2 myret=-2
	e: ret=-2 ret=-13 | e ret=-2 ret=-13
	main: (0x55d4c0 <- 0x7f1234) ret=-2 | main (0x55d4c0 <- 0x7f1234) ret=-2
	block_rq_complete: 254,0 WS () 8 + 8 be,0,4 [-5] | block_rq_complete 254,0 WS () 8 + 8 be,0,4 [-EIO]
	block_rq_complete: 254,0 WS () 8 + 8 be,0,4 [-5] by=dd by_pid=4 lat=17 | block_rq_complete 254,0 WS () 8 + 8 be,0,4 [-EIO] by=dd by_pid=4 lat=17 us
	block_rq_complete: 254,0 WS () 8 + 8 be,0,4 [0] | block_rq_complete 254,0 WS () 8 + 8 be,0,4 [0]
	block_rq_issue: 254,0 WS 4096 () 8 + 8 be,0,4 [-5] | block_rq_issue 254,0 WS 4096 () 8 + 8 be,0,4 [-5]
	END
}

@test "tfs-human: prints names of signals and their reasons" {
	becomes body <<-'END'
	signal_generate: sig=15 errno=0 code=0 comm=worker pid=9 grp=1 res=0 | signal_generate sig=SIGTERM errno=0 code=SI_USER comm=worker pid=9 grp=1 res=0
	signal_generate: sig=17 errno=2 code=1 comm=a sig\x3d9 pid=9 grp=1 res=0 | signal_generate sig=SIGCHLD errno=ENOENT code=CLD_EXITED comm=a sig\x3d9 pid=9 grp=1 res=0
	signal_deliver: sig=11 errno=0 code=1 sa_handler=0 sa_flags=0 | signal_deliver sig=SIGSEGV errno=0 code=SEGV_MAPERR sa_handler=0 sa_flags=0
	signal_deliver: sig=12 errno=0 code=-6 sa_handler=0 sa_flags=0 | signal_deliver sig=SIGUSR2 errno=0 code=SI_TKILL sa_handler=0 sa_flags=0
	signal_deliver: sig=35 errno=0 code=77 sa_handler=0 sa_flags=0 | signal_deliver sig=35 errno=0 code=77 sa_handler=0 sa_flags=0
	signal_deliver: sig=4294967311 errno=0 code=4294967296 sa_handler=0 | signal_deliver sig=4294967311 errno=0 code=4294967296 sa_handler=0
	other: sig=15 code=0 | other sig=15 code=0
	END
}

@test "tfs-human: prints the names of system calls that have only a number" {
	nr=$(syscall-nr openat)
	becomes body <<-END
	sys_enter: NR $nr (ffffff9c, 1, 2, 3, 4, 5) | sys_enter openat (ffffff9c, 1, 2, 3, 4, 5)
	sys_exit: NR $nr = -2 | sys_exit openat = -1 ENOENT (No such file or directory)
	sys_exit: NR $nr = 3 | sys_exit openat = 3
	sys_exit: NR 99999 = -2 | sys_exit NR 99999 = -2
	sys_exit: NR -1 = -38 | sys_exit NR -1 = -38
	sys_exit: NR | sys_exit NR
	END
	becomes process <<-END
	syscall $nr [0xffffff9c 0x1 0x2 0x3 0x4 0x5] | syscall openat [0xffffff9c 0x1 0x2 0x3 0x4 0x5]
	syscall 99999 [0x0 0x0 0x0 0x0 0x0 0x0] | syscall 99999 [0x0 0x0 0x0 0x0 0x0 0x0]
	END
}

@test "tfs-human: prints how tasks end, and results and signals, of trace_process" {
	becomes process <<-'END'
	exit 0 | exit 0
	exit 512 | exit 2
	exit 65280 | exit 255
	exit 15 | killed by SIGTERM
	exit 139 | killed by SIGSEGV (core dumped)
	exit 40 | killed by signal 40
	exit 168 | killed by signal 40 (core dumped)
	fork 29427 flags 0x4100 | fork 29427 flags 0x4100
	exec | exec
	syscall rc -2 error -2 | syscall = -1 ENOENT (No such file or directory)
	syscall rc 29427 error 0 | syscall = 29427
	syscall rc 139797842300928 error 0 | syscall = 0x7f2538bb1000
	signal 15 errno 0 code 0x0 | signal SIGTERM errno 0 code SI_USER
	signal 17 errno 0 code 0x2 | signal SIGCHLD errno 0 code CLD_KILLED
	signal 6 errno 0 code 0xfffffffa | signal SIGABRT errno 0 code SI_TKILL
	signal 40 errno 0 code 0x99 | signal 40 errno 0 code 0x99
	END
}

@test "tfs-human: passes lines unchanged that are not events" {
	cat >in <<-'END'
	# tracer: nop
	#           TASK   PID CPU        TIMESTAMP  EVENT

	# lost 12 events: 12 overwritten in a full buffer, 0 not written
	CPU:1 [LOST 3 EVENTS]
	 => do_sys_openat2
	 => entry_SYSCALL_64_after_hwframe
	              ls-29257   [001] ..... 39290.156819: <stack trace>
	 0) ! 156.310 us  |  } /* vfs_read */
	     12 openat
	lat: 579 values, 3 to 11230
	[2, 4)                6 |@@                                      |
	{ call_site: [ffffffff81234567] kmalloc } hitcount: 3 bytes_req: -2
	{"ts":1.0,"event":"sys_exit_read","comm":"a","pid":1,"fields":{"ret":-2}}
	              sh    42   1         1.000000 exit 40000000
	              sh    42   1         1.000000 exit 143 more
	              sh    42   1         1.000000 exit 384
	              sh    42   1         1.000000 exit 127
	              sh    42   1         1.000000 signal 15 in the text
	              sh    42   x         1.000000 exit 15
	              sh-42   [001] exit 15
	END
	printf 'a\ttab\nno newline' >>in
	tfs-human <in >out
	echo >>in
	cmp in out
	: >in
	same
}

@test "tfs-human: says in words that events without an end or a beginning are not shown" {
	echo '# unpaired 4 events: 3 without an end, 1 without a beginning; 1 because events are missing' >in
	run -0 from in tfs-human
	[ "$output" = '# incomplete, and not shown: 3 without an end, 1 without a beginning; 1 because events are missing' ]
	echo '# unpaired 4' >in
	outputs 0 '# unpaired 4' from in tfs-human
}

@test "tfs-human: prints no control character to the terminal" {
	printf 'a \033[31mred\r \001 \177 \000 \302\233 \233 \302\240 \303\244 \303 end\n' >in
	printf '             a\033b-7       [000] .....     1.000000: e: path="\033]0;title\007" ret=-2\n' >>in
	printf '     a\033b     7   0         1.000000 exit 256\n' >>in
	tfs-human <in >out
	printf 'a ?[31mred? ? ? ? ?? ? \302\240 \303\244 \303 end\n' >want
	printf '%s\n' "$TITLE" '       1.000000  a?b                   7 e path="?]0;title?" ret=-ENOENT' >>want
	printf '     a?b     7   0         1.000000 exit 256\n' >>want
	cmp want out
}

@test "tfs-human: a task's name may look like columns" {
	printf '%16s-%-5s [000] .....     1.000000: e: ret=-2\n' \
		'[000] 1.0:' 7 'a-1 [001]' 8 'äöü' 9 >in
	printf '%16s %5d %3d %16s exit 256\n' 'sh 1 2 3.0' 9 0 3.0 'exit 15 \n' 10 1 4.0 >>in
	tfs-human <in >out
	lines_are out "$TITLE
       1.000000  [000] 1.0:            7 e ret=-ENOENT
       1.000000  a-1 [001]             8 e ret=-ENOENT
       1.000000  äöü                   9 e ret=-ENOENT
            3.0  sh 1 2 3.0            9 exit 1
            4.0  exit 15 \\n           10 exit 1"
}

@test "tfs-human: keeps the column of the host that dt-join prints" {
	printf '%s\n' \
		'web      |               sh-7       [000] .....     1.000000: sys_close -> 0x0' \
		'db1      |               sh     7   0         2.000000 exit 256' >in
	tfs-human <in >out
	lines_are out "$TITLE
web      |        1.000000  sh                    7 close = 0
db1      |        2.000000  sh                    7 exit 1"
}

@test "tfs-human: prints lines of any length whole" {
	long=$(head -c 70000 /dev/zero | tr '\0' x)
	printf '%s\n              sh-7       [000] .....     1.000000: e: a="%s" ret=-2\n' \
		"$long" "$long" >in
	tfs-human <in >out
	exactly out "$long
$TITLE
       1.000000  sh                    7 e a=\"$long\" ret=-ENOENT
"
}

@test "tfs-human: prints a line for each line of any bytes" {
	head -c 300000 /dev/urandom >in
	echo >>in
	tfs-human <in >out
	[ "$(wc -l <out)" = "$(wc -l <in)" ]
	run -1 grep -aq $'[\001-\010\013-\037\177]' out
}

@test "tfs-human: prints a line before it waits for the next one" {
	mkfifo pipe
	tfs-human <pipe >out &
	exec 7>pipe
	echo '              sh-7       [000] .....     1.000000: sys_close -> 0x0' >&7
	eventually grep -q 'close = 0$' out
	exec 7>&-
	wait "$!"
}

@test "tfs-human: prints a line for each line of a session" {
	need_tracefs events/raw_syscalls
	need_pending_signals
	for hook in 'trace_process --trace syscalls,signals,lifecycle' 'trace_signal' 'trace_sched --events' 'trace_event -e sys_*'; do
		# shellcheck disable=SC2086 # several words
		tfs-run $hook -- sh -c 'ls /none; kill -TERM $$' >in 2>errors || status=$?
		[ "$status" = 143 ]
		[ -s in ]
		tfs-human <in >out
		file_has "$(($(wc -l <in) + 1))" out
		[ "$(grep -vc '^        SECONDS  COMM\|^ *[0-9.]*  [^ ].* [0-9]* [a-z]' out)" = \
			"$(grep -c '^#' in)" ]
	done
}

@test "tfs-human: prints the time of day by the clock of an instance" {
	need_tracefs events
	new_instance
	echo mono >"$DIR/trace_clock"
	export TZ=UTC-1 # it must not matter
	before=$(date +%s)
	echo 'a mark' >"$DIR/trace_marker"
	cat "$DIR/trace" >in
	tfs-human -i "$INSTANCE" <in >out
	after=$(date +%s)
	grep -v '^#' out | grep -q '^TIME             COMM                PID EVENT$'
	[ "$(grep -c '^# 20[0-9][0-9]-[01][0-9]-[0-3][0-9], UTC$' out)" = 1 ]
	day=$(sed -n 's/^# \(20[^,]*\),.*/\1/p' out)
	time=$(sed -n 's/^\([0-9:]*\)\.[0-9]\{6\}  .* tracing_mark_write a mark$/\1/p' out)
	got=$(TZ=UTC date -d "$day $time" +%s)
	[ "$got" -ge "$((before - 1))" ]
	[ "$got" -le "$((after + 1))" ]
}

@test "tfs-human: prints the date again at midnight, and no time of day that is out of range" {
	mkdir -p root/per_cpu/cpu0
	export TZ=UTC
	# the trace clock is a day and two seconds after the beginning of a day
	now=$(($(date +%s) / 86400 * 86400))
	ahead=$(($(date +%s) - now))
	printf 'entries: 0\nnow ts: %d.000000\n' "$((100000 + ahead))" >root/per_cpu/cpu0/stats
	printf '              sh-7       [000] .....  %s: e: a=1\n' 99000.000000 \
		101000.000000 101001.000000 99999999999999999999.000000 123456789 >in
	tfs-human -R root -i / <in >out
	sed -n 's/^# .*, UTC$/date/p; s/:[0-9:.]*  sh .*/ sh/p; s/^TIME .*/title/p; /^ *[19][29]/p' out >got
	lines_are got 'date
title
23 sh
date
00 sh
00 sh
99999999999999999999.000000  sh                    7 e a=1
      123456789  sh                    7 e a=1'
}

# event TIME: Print an event line.
event() {
	printf '              sh-7       [000] ..... %12s: e: a=1\n' "$1"
}

@test "tfs-human: prints times of day from the date line on, and its date in the place of that line" {
	{
		event 4.5
		echo "# date: 2026-11-23T23:59:59.123456Z, 1795478399.123456 since 1970, is 5.000001 of the trace's clock"
		event 5.000001
		event 5.876545
		event 5.876546
		echo "# date: 2000-01-01T00:00:00.000000Z, 946684800.000000 since 1970, is 1.000000 of the trace's clock"
		event 1.000000
		echo "# the time of day moved by -5 ms against the trace's clock"
	} >in
	export TZ=UTC-9 # it must not matter
	tfs-human <in >out
	lines_are out "$TITLE
            4.5  sh                    7 e a=1
# 2026-11-23, UTC
23:59:59.123456  sh                    7 e a=1
# 2026-11-24, UTC
00:00:00.000000  sh                    7 e a=1
00:00:00.000001  sh                    7 e a=1
# date: 2000-01-01T00:00:00.000000Z, 946684800.000000 since 1970, is 1.000000 of the trace's clock
# 2026-11-23, UTC
23:59:55.123455  sh                    7 e a=1
# the time of day moved by -5 ms against the trace's clock"
	{ echo '# 2026-11-23, UTC'; echo 'TIME             COMM                PID EVENT'; } >begin
	sed 1d in | tfs-human | head -n 2 | cmp begin -
	sed '1d; s/^/web | /' in | tfs-human | head -n 2 | cmp begin -
}

@test "tfs-human: knows leap years and the ends of months" {
	while read -r date seconds next; do
		{
			echo "# date: ${date}T23:59:59.999999Z, $seconds.999999 since 1970, is 1.000000 of the trace's clock"
			event 1.000001
		} | tfs-human >out
		lines_are out "# $date, UTC
# $next, UTC
TIME             COMM                PID EVENT
00:00:00.000000  sh                    7 e a=1"
	done <<-'END'
		1970-01-01 86399 1970-01-02
		1999-12-31 946684799 2000-01-01
		2000-02-28 951782399 2000-02-29
		2000-02-29 951868799 2000-03-01
		2026-11-30 1796083199 2026-12-01
		2028-02-29 1835481599 2028-03-01
		2100-02-28 4107542399 2100-03-01
		2104-12-31 4260211199 2105-01-01
	END
}

@test "tfs-human: passes a line on that only resembles a date line" {
	cat >in <<-'END'
		# date: 2026-11-23T23:59:59.123456Z
		# date: 2026-11-23T23:59:59.123456Z, 1795478399.123456
		# date: 2026-11-23T23:59:59.123456Z, 1795478399.123456 since 1970, is of the trace's clock
		# date: 2026-11-23T23:59:59.123456Z, 1795478399.123456 since 1971, is 1.0 of the trace's clock
		# date: 2026-11-23T23:59:59.123456Z, x since 1970, is 1.0 of the trace's clock
		# date: 2026-11-23 23:59:59.123456Z, 1795478399.123456 since 1970, is 1.0 of the trace's clock
		# date: 2026-11-23T23:59:59.123456Z, 1795478399.123456 since 1970, is 99999999999999999999 of the trace's clock
		# date: 2026-11-23T23:59:59.123456Z, 1795478399.123456 since 1970, is 9999999999.0 of the trace's clock
		# date: 2026-11-23T23:59:59.123456Z, 1795478399.123456 since 1970, is 1.0000000001 of the trace's clock
		# date:
	END
	same
}

@test "tfs-human: refuses a trace clock that does not count time, and a missing instance" {
	mkdir -p root/per_cpu/cpu0
	echo 'now ts: 12345678' >root/per_cpu/cpu0/stats
	fails 111 "tfs-human: fatal: unable to tell the date: trace_clock does not count seconds; choose another" \
		tfs-human -R root -i /
	fails 111 "tfs-human: fatal: no instance 'none' in root; tfs-instance list prints the names" \
		tfs-human -R root -i none
	fails 100 "tfs-human: fatal: unexpected operand 'y'; usage: tfs-human [-R ROOT] [-i INSTANCE] [-c COLUMNS] [FILE]" \
		tfs-human x y
}

@test "tfs-human: -c prints fields in columns, and other events as a whole" {
	cat >in <<-'END'
	              ls-7       [001] ...21     1.000000: open: (sys_openat) path="/a b" flags=0x88000 ret=3
	              ls-7       [001] ...21     2.000000: open: (sys_openat) path="x\" flags=0x0 ret=7" flags=0x88000 ret=-2
	              ls-7       [001] ...21     2.500000: open: (sys_openat) path="x" flags=0x0 ret=7" flags=0x88000 ret=-2
	              ls-7       [001] ...21     3.000000: open_long: (sys_openat) flags=0x88000 ret=-36
	              ls-7       [001] .....     4.000000: sys_openat -> 0xfffffffffffffffe
	              ls-7       [001] .....     5.000000: e: path="/b"
	# lost 1 events
	END
	tfs-human -c 'RET:8=ret  PATH=path' <in >out
	lines_are out '        SECONDS  COMM                PID RET      PATH
       1.000000  ls                    7 3        "/a b"
       2.000000  ls                    7 -ENOENT  "x\" flags=0x0 ret=7"
       2.500000  ls                    7 open (sys_openat) path="x" flags=0x0 ret=7" flags=0x88000 ret=-2
       3.000000  ls                    7 -ENAMETOOLONG -
       4.000000  ls                    7 openat = -1 ENOENT (No such file or directory)
       5.000000  ls                    7 e path="/b"
# lost 1 events'
	cat >in <<-'END'
	              sh-7       [001] d..1.     1.000000: signal_generate: sig=9 errno=0 code=0 comm=a pid\x3d5 pid=8 grp=1 res=0
	              sh-7       [001] d..1.     2.000000: signal_deliver: sig=9 errno=0 code=0 sa_handler=0 sa_flags=0
	END
	tfs-human -c 'SIG:8=sig CODE:10=code TPID:7=.pid TO=.comm' <in >out
	lines_are out '        SECONDS  COMM                PID SIG      CODE       TPID    TO
       1.000000  sh                    7 SIGKILL  SI_USER    8       a pid\x3d5
       2.000000  sh                    7 SIGKILL  SI_USER    -       -'
	cat >in <<-'END'
	              sh-7       [001] .....     1.000000: inet_sock_set_state: family=AF_INET protocol=IPPROTO_TCP sport=0 dport=22 saddr=127.0.0.1 daddr=127.0.0.1 saddrv6=::ffff:127.0.0.1 daddrv6=::ffff:127.0.0.1 oldstate=TCP_CLOSE newstate=TCP_SYN_SENT
	              sh-7       [001] .....     2.000000: exec1: (finalize_exec+0x0/0x10) filename="/a) b" argc=1
	END
	tfs-human -c 'STATE:9=newstate-TCP_ PORT=dport DADDR=daddrv6-::ffff:' <in | tail -n 2 >out
	lines_are out '       1.000000  sh                    7 SYN_SENT  22   127.0.0.1
       2.000000  sh                    7 exec1 (finalize_exec+0x0/0x10) filename="/a) b" argc=1'
	[ "$(tfs-human -c 'EXEC=*' <in | tail -n 1)" = \
		'       2.000000  sh                    7 filename="/a) b" argc=1' ]
}

@test "tfs-human: -c COMM and PID show another task, in events that have the first column" {
	cat >in <<-'END'
	               a-7       [001] d..2.     1.000000: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b c next_pid=18 next_prio=120 lat=9
	               a-7       [001] d..2.     2.000000: sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b c next_pid=18 next_prio=120
	               a-7       [001] d..2.     3.000000: block_rq_complete: 254,0 WS () 16 + 8 none,0,0 [0] by=dd by_pid=30429 lat=28757
	END
	tfs-human -c 'COMM=next_comm PID=next_pid WAITED:10=lat BEHIND=prev_comm' <in | head -n 3 >out
	lines_are out '        SECONDS  COMM                PID WAITED     BEHIND
       1.000000  b c                  18 9 us       a
       2.000000  a                     7 sched_switch prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b c next_pid=18 next_prio=120'
	[ "$(tfs-human -c 'COMM=by PID=by_pid TOOK:10=lat DISK:8=dev TYPE:5=rwbs SECTOR:12=sector SECTORS=nr_sector' <in | tail -n 1)" = \
		'       3.000000  dd                30429 28.7 ms    254,0    WS    16           8' ]
}

@test "tfs-human: -c prints the event and the name of the task, which are no fields, also for calls of functions" {
	printf '%s\n' '              sh-7     [000] .....     1.000001: do_it <-did_it' \
		'              sh-7     [000] .....     1.000002: e: a="1"' |
		tfs-human -c 'EVENT:9=event TASK:4=comm A=a' >out
	lines_are out '        SECONDS  COMM                PID EVENT     TASK A
       1.000001  sh                    7 function  sh   -
       1.000002  sh                    7 e         sh   "1"'
}

@test "tfs-human: -c refuses words that are not columns" {
	for words in x =x A= A:=x A:0=x A:100=x AB:1=x A=X A=x:8 'A=a B' \
		'A=a A=a A=a A=a A=a A=a A=a A=a' "A=$(printf '%032d' 0)"; do
		fails 100 "tfs-human: fatal: not at most 7 columns: '$words'; usage: $(synopsis tfs-human)" \
			tfs-human -c "$words"
	done
	run -0 tfs-human -c 'A=a A=a A=a A=a A=a A=a A:99=a-=:b' </dev/null
}

@test "tfs-human: a flush has the sector -1" {
	[ "$(body 'block_rq_complete: 8,0 FF () 18446744073709551615 + 0 none,0,0 [0]')" = \
		'block_rq_complete 8,0 FF () -1 + 0 none,0,0 [0]' ]
	[ "$(body 'block_rq_complete: 8,0 FF () 18446744073709551615 + 0 none,0,0 [-5] lat=4')" = \
		'block_rq_complete 8,0 FF () -1 + 0 none,0,0 [-EIO] lat=4 us' ]
	[ "$(body 'e: sector=18446744073709551615')" = 'e sector=-1' ]
	[ "$(body 'e: a=18446744073709551615')" = 'e a=18446744073709551615' ]
}

@test "tfs-human: prints colours only to a terminal, and respects NO_COLOR" {
	need_tool script
	printf '%s\n' '              sh-7       [000] .....     1.000000: sys_x -> 0xffffffffffffffff' >in
	export TERM=xterm
	unset NO_COLOR
	red=$'\033[2m1.000000\033[m  sh                    7 x \033[31m= -1 EPERM (Operation not permitted)\033[m'
	plain='       1.000000  sh                    7 x = -1 EPERM (Operation not permitted)'
	show() { script -qec 'tfs-human <in' /dev/null </dev/null | tr -d '\r' | tail -n 1; }
	[ "$(show)" = "       $red" ]
	[ "$(NO_COLOR='' show)" = "       $red" ]
	[ "$(NO_COLOR=1 show)" = "$plain" ]
	[ "$(TERM=dumb show)" = "$plain" ]
	[ "$(tfs-human <in | tail -n 1)" = "$plain" ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034 # each test is a process of its own
# trace_process: prints the lines of the process event tracer, with exact codes and counts

load ../helper

# scene NAME [N]: Start the program, held before the scene; set $CALLS to its pid.
scene() {
	need_tracefs events/raw_syscalls
	hold "$PROG/process" "$@"
	CALLS=$HELD
}

# traced WORDS: Run a session of the held program, release it, and read the trace to its
# end into got.
traced() {
	watch_whole trace_process --buffer 8000 --pid "$CALLS" "$@"
	run -1 grep '^#' got
}

# told FILE: Print the lines without name, CPU and time; letters replace the pids in the
# order in which they come, a for the program.
told() {
	sed -E "s/^.{16} +([0-9]+) +[0-9]+ +[0-9]+\.[0-9]{6} /\1 /" "$1" | awk '
		function letter(pid) {
			if (!(pid in letters))
				letters[pid] = substr("abcdefghijklmnopqrstuvwxyz", ++n, 1)
			return letters[pid]
		}
		{ $1 = letter($1) }
		$2 == "fork" { $3 = letter($3) }
		{ print }'
}

# ends_of FILE: Print the exit codes of tasks, each after the letter of its task.
ends_of() {
	told "$1" | sed -n 's/ exit / /p'
}

# getppids FILE: Print the number of these calls.
getppids() {
	grep -Ec " syscall $(syscall-nr getppid) \[(0x[0-9a-f]+ ){5}0x[0-9a-f]+\]\$" "$1" || :
}

ENDS='b 0
c 768
d 65280
e 9
f 15
g 11
h 10
i 256
j 13312
a 0'

# refuses LINE WORDS: Fail unless LINE is printed and nothing begins.
refuses() {
	local status=0
	"$MANAGER" --run trace_process --args "--instance $MARK --pid $$ ${*:2}" >out 2>err ||
		status=$?
	[ "$status" = 100 ]
	[ ! -s out ]
	file_is err "manager: fatal: $1"
	nothing_left
}

# shows WORDS...: Print the lines about processes of a script, without times and pids.
shows() {
	tfs-run trace_process --instance "$MARK" "$@" <&- >out 2>err 3>&- 4>&- || :
	sed -E 's/(-|[0-9.]+ (us|ms|s)) +(-|[0-9.]+ (us|ms|s)) +/@ /; s/^.*@ //' out
}

# a program, so that its children and their ends are known
SCRIPT='/bin/true a "b c"; (exit 7); sh -c "kill -KILL \$\$"; exit 3'

# bats test_tags=quick
@test "trace_process: prints one line per process at its end: command line, status, parent" {
	need_tracefs events/raw_syscalls
	shows -- sh -c "$SCRIPT" >got
	[ "$(sed -n '2p' got)" = 'exit 0        sh: /bin/true a "b c"' ]
	[ "$(sed -n '3p' got)" = 'exit 7        sh: [sh]' ]
	[ "$(sed -n '4p' got)" = 'SIGKILL       sh: sh -c "kill -KILL $$"' ]
	[[ $(sed -n '5p' got) == 'exit 3        sh -c '* ]]
	file_has 5 got
	# each process has the parent that the script is
	[ "$(awk 'NR > 1 && NR < 5 { print $2 }' out | sort -u)" = "$(awk 'END { print $4 }' out)" ]
}

@test "trace_process: --tree indents each process below its parent" {
	need_tracefs events/raw_syscalls
	shows --tree -- sh -c 'sh -c "/bin/true x; exit 4"; exit 3' >got
	[[ $(sed -n '2p' got) == 'exit 3        sh -c '* ]]
	[ "$(sed -n '3p' got)" = 'exit 4          sh -c "/bin/true x; exit 4"' ]
	[ "$(sed -n '4p' got)" = 'exit 0            /bin/true x' ]
	file_has 4 got
}

@test "trace_process: each of 1,000 short processes has one line, and its own argument" {
	need_tracefs events/raw_syscalls
	shows --buffer 16M -- sh -c 'i=0; while [ $i -lt 1000 ]; do /bin/true $i; i=$((i+1)); done' >got
	run -1 grep '^# lost' out
	sed -n 's/^exit 0 *sh: .*true \([0-9]*\)$/\1/p' got >numbers
	seq 0 999 >all
	cmp all numbers
	file_has 1002 got
}

# family WORDS: Run a session of the program, which prints what wait(2) tells of each child into
# waited, and compare all but the line of the program itself.
family() {
	need_tracefs events/raw_syscalls
	tfs-run trace_process --instance "$MARK" --buffer 32M --json -o got.json -- \
		"$PROG/family" "$@" >waited 2>err
	run -1 grep '"lost"' got.json
	sed -n 's/^{"pid":\([0-9]*\),"parent":\([0-9]*\),.*"exit_code":\([0-9]*\),.*"command":"\(.*\)"}$/\2 \1 \3 \4/p' \
		got.json >told
	parent=$(sed -n "s|^[0-9]* \([0-9]*\) 0 $PROG/family $1.*|\1|p" told)
	grep -v " 0 $PROG/family $1" told | LC_ALL=C sort >children
	sed "s/^/$parent /" waited | LC_ALL=C sort | diff - children
	# the kernel told of each, also of the first: who, how long, and the CPU time
	[ "$(grep -c '"uid":[0-9]*,"start":[0-9.]*,"duration":[0-9.]*,"cpu":[0-9.]*,' got.json)" = \
		"$(grep -c . told)" ]
}

@test "trace_process: each of 500 short processes has its arguments, parent and the status of wait" {
	family storm 500
	file_has 500 children
}

# bats test_tags=long
@test "trace_process: each of 12,000 short processes has its arguments, parent and the status of wait" {
	family storm 12000
	file_has 12000 children
}

@test "trace_process: has the status of wait if a first thread ends first, and the program of a thread" {
	family kinds
	file_has 3 children
	[ "$(grep -c '"uid":65534,.*"command":"family user"' got.json)" = 1 ]
}

# need_cpu_times: Skip unless the kernel can tell the CPU time after the end of a process.
need_cpu_times() {
	need_tracefs events/raw_syscalls events/bpf_trace
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs types of the kernel (CONFIG_DEBUG_INFO_BTF)"
	[ "${TFS_VARIANT-}" != valgrind ] || skip "valgrind has no bpf(2)"
}

# bats test_tags=quick
@test "trace_process: the CPU time is that of all threads to the last nanosecond, not of the last tick" {
	need_cpu_times
	tfs-run trace_process --instance "$MARK" --json -o got.json -- "$PROG/cputime" 140 >told 2>err <&- 3>&- 4>&-
	# the last switch of PROG itself may come after the end of the session
	[ "$(grep -c '"cpu":[0-9.]*,' got.json)" -ge 140 ]
	sed -n 's/^{"pid":\([0-9]*\),.*"cpu":0*\([0-9]*\)\.\([0-9]*\),.*/\1 \2\3/p' got.json | LC_ALL=C sort >cpu
	# at least what its own clocks say, and what wait4 says. That has no part of a microsecond, and
	# lacks what a thread ran since its last tick: up to 10 ms each
	LC_ALL=C sort told | LC_ALL=C join - cpu |
		awk '{ n++; if ($4 < $2 || $4 < $3 || $4 > $3 + 40000000) { print; bad = 1 } }
		     END { print n; exit bad }' >joined || { cat joined; return 1; }
	[ "$(tail -n 1 joined)" = 140 ]
}

@test "trace_process: the CPU time of an older process has that of the threads that ended before" {
	need_cpu_times
	hold "$PROG/cputime" old
	watch trace_process --json --pid "$HELD"
	release
	watch_end
	read -r pid own _ < <(tail -n 1 ready)
	cpu=$(sed -n "s/^{\"pid\":$pid,.*\"cpu\":0*\([0-9]*\)\.\([0-9]*\),.*/\1\2/p" got)
	[ "$cpu" -ge "$own" ]
}

@test "trace_process: a CPU time that the kernel cannot tell is marked as the least" {
	need_tracefs events/raw_syscalls
	[ "${TFS_VARIANT-}" != valgrind ] || skip "needs taskstats, which valgrind lacks"
	mkdir -p sys/kernel
	ln -s "$TRACEFS" sys/kernel/tracing
	export TRACER_SYSFS_PATH=$PWD/sys # without BTF
	tfs-run trace_process --instance "$MARK" -- "$PROG/cputime" 7 >out 2>err <&- 3>&- 4>&-
	[ "$(grep -c ' >[0-9.]* [nmu]*s \(exit 0\|SIGKILL\) ' out)" = 8 ]
	tfs-run trace_process --instance "$MARK" --json -o got.json -- "$PROG/cputime" 7 >out 2>err <&- 3>&- 4>&-
	[ "$(grep -c '"cpu":null,"cpu_least":[0-9.]*,' got.json)" = 8 ]
}

@test "trace_process: a thread that executes a program has its own end, however late it is read" {
	need_tracefs events/raw_syscalls
	hold sh -c 'echo ready; read -r x; "$0" becomes; : >over; read -r x' "$PROG/family"
	start_session trace_process --output fifo --pid "$HELD"
	echo >"$GO"
	eventually [ -e over ]
	background cat "$TRACE" >got
	late=$PID
	release
	session_ends
	finishes "$late" 0
	[ "$(grep -Ec ' 0 +[0-9]+ .* (us|ms) +[0-9.]+ (us|ms) exit 3 +sh: family end 3$' got)" = 1 ]
}

@test "trace_process: a chain of execs is one process, with its last arguments" {
	need_tracefs events/raw_syscalls
	shows -- sh -c 'exec env A=1 sh -c "exec /bin/true x"' >got
	[ "$(sed 1d got)" = 'exit 0        /bin/true x' ]
}

@test "trace_process: a set-user-ID program has the user that ran it" {
	need_tracefs events/raw_syscalls
	need_tool setpriv
	cp "$PROG/family" mine
	chmod 4755 mine .
	tfs-run trace_process --instance "$MARK" --json -o got -- \
		setpriv --reuid 65534 --clear-groups ./mine end 3 || :
	[ "$(grep -c '"uid":65534,.*"exit_code":768,.*"command":"./mine end 3"' got)" = 1 ]
}

@test "trace_process: the kernel tells of processes that end before the reader of the trace comes" {
	need_tracefs events/raw_syscalls
	hold sh -c 'echo ready; read -r x; /bin/true 1; /bin/true 2; : >over; read -r x'
	start_session trace_process --output fifo --pid "$HELD"
	echo >"$GO"
	eventually [ -e over ]
	background cat "$TRACE" >got
	late=$PID
	release
	session_ends
	finishes "$late" 0
	[ "$(grep -Ec ' 0 +[0-9]+ .* (us|ms) +[0-9.]+ (us|ms) exit 0 +sh: /bin/true [12]$' got)" = 2 ]
}

@test "trace_process: each process of a pid that is used again has its own line, however late it is read" {
	need_tracefs events/raw_syscalls
	"$PROG/family" again 2 >said || skip "needs clone3 with a pid of our choice"
	hold sh -c 'echo ready; read -r x; "$0" again 25 >waited; : >over; read -r x' "$PROG/family"
	# with --pid, the kernel takes a pid out of its filter a while after the end of the task
	start_session trace_process --output fifo --json --buffer 8000 --all
	echo >"$GO"
	eventually [ -e over ]
	background cat "$TRACE" >got
	late=$PID
	release "$HELD"
	stop_session
	finishes "$late" 0
	sed -n 's/^{"pid":\('"$(cut -d ' ' -f 2 waited | head -n 1)"'\),"parent":\([0-9]*\),"parent_comm":"family","uid":0,.*"cpu":[0-9.]*,"exit_code":\([0-9]*\),.*"comm":"family","command":"\(family end .*\)"}$/\2 \1 \3 \4/p' got |
		diff - waited
	file_has 25 waited
	[ "$(cut -d ' ' -f 2 waited | sort -u | wc -l)" = 1 ]
}

@test "trace_process: --json prints one object per process" {
	need_tracefs events/raw_syscalls
	tfs-run trace_process --instance "$MARK" --json -- sh -c "$SCRIPT" <&- >got 2>err 3>&- 4>&- || :
	file_has 4 got
	[ "$(grep -c '"parent_comm":"sh",.*"exit_code":0,"end":"exit 0","comm":"true","command":"/bin/true a \\"b c\\""}$' got)" = 1 ]
	[ "$(grep -c '"exit_code":9,"end":"SIGKILL","comm":"sh",' got)" = 1 ]
	[ "$(grep -c '"exit_code":1792,"end":"exit 7","comm":"sh","command":null}$' got)" = 1 ]
	[ "$(grep -c '"exit_code":768,"end":"exit 3","comm":"sh","command":"sh -c ' got)" = 1 ]
}

@test "trace_process: a process of --pid to which nothing happens still runs, in each view" {
	need_tracefs events/raw_syscalls
	hold sh -c 'echo ready; read -r x'
	for view in '' --tree --json; do
		# shellcheck disable=SC2086 # none is no word
		watch trace_process --pid "$HELD" $view
		watch_stop
		grep -v '^#' got | tail -n 1 >"last$view"
		[ "$(grep -cw "$HELD" got)" = 1 ]
	done
	awk '{ $1 = $1; print }' last | diff - <(echo "- $(awk "{ print \$4 }" "/proc/$HELD/stat") 0 $HELD - - still running [sh]")
	awk '{ $1 = $1; print }' last--tree | diff - <(echo "$HELD - - still running [sh]")
	[[ $(cat last--json) == *"\"pid\":$HELD,"*'"uid":0,"start":null,"duration":null,"cpu":null,"exit_code":null,"end":"still running","comm":"sh","command":null}' ]]
	release
}

@test "trace_process: a command line has all of up to 32 arguments, and dots for more" {
	need_tracefs events/raw_syscalls
	for n in 8 9 31 40; do
		# shellcheck disable=SC2046 # a word each
		tfs-run trace_process --instance "$MARK" -- sh -c '/bin/true "$@"; exit 0' sh $(seq "$n") >out 2>err <&- 3>&- 4>&-
		expected="sh: /bin/true $(seq -s ' ' $((n > 31 ? 31 : n)))"
		[ "$n" -le 31 ] || expected+=' ...'
		[ "$(sed -n '2s/.* exit 0        //p' out)" = "$expected" ]
	done
}

@test "trace_process: --summary has the runs and failures of each command of a make, and the sums of its processes" {
	need_tool make
	need_tracefs events/raw_syscalls
	ln -s "$(type -P true)" good
	ln -s "$(type -P false)" bad
	printf '%s\n' 'all: $(shell seq 40) last' '%:' '	@./good $@' '	@if [ $@ -gt 33 ]; then exec ./bad $@; fi' \
		'last:' '	@exec sh -c "kill -TERM $$$$"' >Makefile
	tfs-run trace_process --instance "$MARK" --buffer 16M --json --summary -o sums.json -- \
		make -k -s 2>err <&- 3>&- 4>&- || :
	row() { grep -o "^{\"runs\":$2,\"failed\":$3,\"untimed\":0,.*\"name\":\"$1\"" sums.json; }
	row good 40 0
	row bad 7 7
	row make 1 1
	# make is the longest, and the first
	[[ $(head -n 1 sums.json) == *'"name":"make","longest_command":"make -k -s"}' ]]

	tfs-run trace_process --instance "$MARK" --buffer 16M -o x.dat -- make -k -s >out 2>err <&- 3>&- 4>&- || :
	tfs-process -j x.dat >each.json
	sed 's/.*"duration":\([0-9.]*\),"cpu":\([0-9.]*\),.*"exit_code":\([0-9]*\),.*"command":\(null\|"\([^ "]*\).*\)}$/\1 \2 \3 \5/' \
		each.json | awk '
		{ sub(/.*\//, "", $4); name = $4 == "" ? "[sh]" : $4
		  runs[name]++; failed[name] += $3 > 0; total[name] += $1; cpu[name] += $2
		  if ($1 > longest[name]) longest[name] = $1 }
		END { for (n in runs) printf "%s %d %d %.6f %.6f %.6f\n", n, runs[n], failed[n], total[n], longest[n], cpu[n] }' |
		sort >added
	tfs-process -sj x.dat | sed 's/.*"runs":\([0-9]*\),"failed":\([0-9]*\),.*"total":\([0-9.]*\),"longest":\([0-9.]*\),"cpu":\([0-9.]*\),"name":"\([^"]*\)".*/\6 \1 \2 \3 \4 \5/' |
		awk '{ printf "%s %d %d %.6f %.6f %.6f\n", $1, $2, $3, $4, $5, $6 }' | sort >summed
	diff added summed
	[ "$(awk '$1 == "good" { print $2, $3 }' summed)" = '40 0' ]
}

@test "trace_process: --summary has the CPU time that wait4 gives for the children" {
	need_cpu_times
	tfs-run trace_process --instance "$MARK" --json --summary -o sums.json -- "$PROG/cputime" 140 >told 2>err <&- 3>&- 4>&-
	# of seven kinds, one executes a program
	sed -n 's/^{"runs":\(120\|20\),"failed":\(20\|0\),"untimed":0,.*"cpu":0*\([0-9]*\)\.\([0-9]*\),"name":"\(\[cputime\]\|true\)".*/\3\4/p' \
		sums.json >sums
	file_has 2 sums
	awk -v sum="$(awk '{ n += $1 } END { print n }' sums)" '{ own += $2; waited += $3 }
		END { exit !(NR == 140 && sum >= own && sum >= waited && sum <= waited + 140 * 40000000) }' told
}

@test "trace_process: tfs-process makes the same tree later, from a trace.dat" {
	need_tracefs events/raw_syscalls
	tfs-run trace_process --instance "$MARK" -o x.dat -- sh -c "$SCRIPT" <&- >out 2>err 3>&- 4>&- || :
	tfs-report -D -F x.dat | tfs-process -t >tree
	[ "$(grep -c '[num]s exit 0          /bin/true a "b c"$' tree)" = 1 ]
	file_has 5 tree
	tfs-report -D -F -j x.dat | tfs-process >json
	file_has 4 json
}

# bats test_tags=quick
@test "trace_process: prints the exit codes that wait gives: of exit, of signals, of a child that execs" {
	scene ends
	traced --trace lifecycle
	[ "$(ends_of got)" = "$ENDS" ]
	[ "$(told got | grep -c ' fork . flags 0x[0-9a-f]*$')" = 9 ]
	[ "$(told got | grep ' exec$')" = "i exec" ]
	file_has 20 got
}

@test "trace_process: prints the exit codes of threads: their own, of exit_group, of exec and of signals" {
	scene threads
	traced --trace lifecycle
	ends_of got | sort >ends
	# the ends of a thread and of its leader may come in either order
	diff - ends <<-'END'
	a 0
	b 2304
	c 1792
	d 1024
	e 1024
	f 1280
	g 1280
	h 15
	i 15
	j 15
	k 256
	l 0
	m 11
	n 11
	END
	[ "$(told got | grep ' exec$')" = "k exec" ]
	file_has 28 got
}

# killed SCENE SIGNAL...: Run a session of a program with a child for each signal, and send
# the signals once the stream works.
killed() {
	local signal pid
	[ "${TFS_VARIANT-}" != valgrind ] || skip "needs taskstats, which valgrind lacks"
	scene "$1" $(($# - 1))
	shift
	watch trace_process --trace lifecycle,signals --pid "$CALLS"
	release
	eventually [ -e pids ]
	for signal; do
		read -r pid
		eventually grep -q " fork $pid " got
		kill "-$signal" "$pid"
		eventually grep -q " $pid .* exit " got
	done <pids
	watch_end
}

@test "trace_process: prints the end of a process that an unrelated task's signal kills" {
	killed waits TERM KILL HUP ALRM
	[ "$(ends_of got)" = $'b 15\nc 9\nd 1\ne 14\na 0' ]
}

@test "trace_process: adds 0x80 to the exit code if a core was dumped" {
	ulimit -c unlimited
	killed core SEGV
	[ -n "$(compgen -G 'core*')" ] ||
		skip "needs core files where programs run (/proc/sys/kernel/core_pattern)"
	[ "$(ends_of got)" = $'b 139\na 0' ]
}

@test "trace_process: prints every line in the documented form" {
	scene ends
	traced --trace syscalls,signals,lifecycle
	hex='0x[0-9a-f]+'
	run -1 grep -Ev "^ *(process|false|busybox|<...>) +[0-9]+ +[0-9]+ +[0-9]+\.[0-9]{6} (fork [0-9]+ flags $hex|exec|exit [0-9]+|signal [0-9]+ errno -?[0-9]+ code $hex|syscall -?[0-9]+ \[($hex ){5}$hex\]|syscall rc -?[0-9]+ error (0|-[0-9]+))\$" got
	[ "$(grep -c ' exec$' got)" = 1 ]
	# the columns of the header, byte for byte
	line=$(grep -m 1 ' exit 768$' got)
	[ "$(printf '%16s %5d ' process "$(echo "$line" | awk '{ print $2 }')")" = "${line:0:23}" ]
	[[ ${line:23} =~ ^\ *[0-9]+\ {1,9}[0-9]+\.[0-9]{6}\ exit\ 768$ ]]
}

@test "trace_process: prints calls and their returns, with the error" {
	scene uids
	traced --trace syscalls
	[ "$(getppids got)" = 15 ]
	[ "$(grep -c " syscall rc $$ error 0\$" got)" = 15 ]
	[ "$(grep -c ' syscall rc -1 error -1$' got)" = 1 ]
	run -1 grep -Ev ' syscall (-?[0-9]+ \[|rc )' got
}

@test "trace_process: prints signals as they are delivered" {
	scene ends
	traced --trace signals
	# SIGCHLD, which is ignored, for a task that blocked it for a moment, as libc's fork does
	grep -v ' signal 17 ' got >others
	told others >lines
	diff - lines <<-'END'
	a signal 9 errno 0 code 0x0
	b signal 15 errno 0 code 0x0
	c signal 11 errno 0 code 0xfffffffa
	d signal 10 errno 0 code 0x0
	END
}

# signals_of FILE: Print the signal that hit each task, each after the letter of its task.
signals_of() {
	told "$1" | sed -n 's/ signal \([0-9]*\) .*/ \1/p' | grep -v ' 17$'
}

@test "trace_process: prints the sent signal that ends a process, even from an unrelated task" {
	killed waits TERM USR1 KILL USR2 HUP
	[ "$(ends_of got)" = $'b 15\nc 10\nd 9\ne 12\nf 1\na 0' ]
	[ "$(signals_of got)" = $'b 15\nc 10\nd 9\ne 12\nf 1' ]
}

@test "trace_process: prints an unrelated task's signal for --trace signals alone, too" {
	[ "${TFS_VARIANT-}" != valgrind ] || skip "needs taskstats, which valgrind lacks"
	scene waits 3
	watch trace_process --trace signals --pid "$CALLS"
	release
	eventually [ -e pids ]
	{ read -r first; read -r second; read -r third; } <pids
	# the stream listens for the ends of tasks from the start: this line shows that it has begun
	kill -KILL "$third"
	eventually grep -q " $third .* signal 9 " got
	kill -TERM "$first"
	eventually grep -q " $first .* signal " got
	kill -USR1 "$second"
	watch_end
	grep -q " $first .* signal 15 " got
	grep -q " $second .* signal 10 " got
	[ "$(grep -vc ' signal 17 ' got)" = 3 ]
}

# learns WORD...: Print what a stream learns about ends of tasks (t/prog/exits.c).
learns() {
	local status=0
	[ "${TFS_VARIANT-}" != valgrind ] || skip "needs taskstats, which valgrind lacks"
	output=$("$PROG/exits" "$@") || status=$?
	[ "$status" != 77 ] || skip "needs taskstats, and clone3 with a pid of our choice"
	[ "$status" = 0 ]
}

@test "trace_process: prints the kernel's code once per task, even for a task that is killed near the end" {
	learns told
	[ "$output" = $'killed: 15\nthree: 768\nterm: 15\ntwice: -1' ]
}

@test "trace_process: waits for no code that the kernel could not send because a socket was full" {
	learns lost 60
	[ "$output" = 'known: 0' ]
	[ -z "${TFS_VARIANT-}" ] || return 0
	need_tool strace
	strace -f -e trace=poll,ppoll -o waits.all "$PROG/exits" lost 60
	# waiting half a second for each of them would take 30 s
	few_waits 500
}

@test "trace_process: does not give the code of an earlier task with the same pid to a later task" {
	learns again
	[ "$output" = 'killed: 15' ]
}

@test "trace_process: --uid: prints lines while the real user is that user, through every change" {
	for want in "0 5" "1234 7" "4321 3" "77 0"; do
		scene uids
		traced --trace syscalls --uid "${want% *}"
		[ "$(getppids got)" = "${want#* }" ]
	done
}

@test "trace_process: --uid without calls follows the calls that change the user, and prints none of them" {
	scene uids
	traced --trace lifecycle --uid 1234
	[ "$(told got)" = "a exit 0" ]
	scene uids
	traced --trace lifecycle --uid 0
	[ ! -s got ]
}

@test "trace_process: --comm: prints lines while the name is that name, through prctl, fork and exec" {
	for want in "process 1" "one 2" "two words 7" "tw 0"; do
		scene names
		traced --trace syscalls --comm "'${want% *}'"
		[ "$(getppids got)" = "${want##* }" ]
		run -1 grep -v "^ *${want% *} " got
	done
	scene ends
	traced --trace lifecycle --comm false
	[ "$(told got)" = $'a exec\na exit 256' ] || [[ $(told got) == a\ ex* ]]
}

@test "trace_process: --uid and --comm must both match" {
	scene uids
	traced --trace syscalls --uid 4321 --comm process
	[ "$(getppids got)" = 3 ]
	scene uids
	traced --trace syscalls --uid 4321 --comm other
	[ ! -s got ]
}

@test "trace_process: a thread that execs goes on as its process, with the same pid" {
	scene becomes 12
	traced --trace syscalls,signals,lifecycle
	[ "$(getppids got)" = 12 ]
	told got | grep -v ' s[yi]' >lines
	[ "$(sed 's/flags.*/flags/' lines)" = $'a fork b flags\na exit 0\na exec\na exit 0' ]
}

@test "trace_process: keeps each task in its place when tasks are added, and removes pruned tasks" {
	run -0 "$PROG/commtable" 100000
	[ "$output" = 'added: 100000 tasks, 0 moved, 0 missing, 0 too many
pruned: 50000 tasks, 0 moved, 0 missing, 0 too many
again: 100000 tasks, 0 moved, 0 missing, 0 too many' ]
}

@test "trace_process: a name with newlines adds no lines" {
	scene hostile
	traced --trace syscalls,signals,lifecycle
	[ "$(getppids got)" = 1 ]
	run -1 grep -Ev '^.{16} +[0-9]+ +[0-9]+ +[0-9]+\.[0-9]{6} ' got
	run -1 grep ' exec$' got
}

@test "trace_process: --format text prints the kernel's text for the same events, as often" {
	scene ends
	traced --trace lifecycle --format text
	[ "$(grep -c ': sched_process_exit: ' got)" = 10 ]
	[ "$(grep -c ': task_newtask: ' got)" = 9 ]
	[ "$(grep -c ': sched_process_exec: ' got)" = 1 ]
	file_has 20 got
	scene uids
	traced --trace syscalls --format text --uid 4321
	[ "$(grep -c ": sys_enter: NR $(syscall-nr getppid) " got)" = 3 ]
}

@test "trace_process: --header names the columns" {
	scene ends
	watch_whole trace_process --header --trace lifecycle --pid "$CALLS"
	[ "$(grep '^#' got)" = '# tracer: process
#
#           TASK   PID CPU        TIMESTAMP  EVENT' ]
	sed -i /^#/d got
	[ "$(ends_of got)" = "$ENDS" ]
}

@test "trace_process: tfs-report -P prints the same lines for a trace.dat" {
	scene ends
	session_whole trace_process --trace syscalls,signals,lifecycle --output dat --pid "$CALLS"
	tfs-report -P lifecycle "$TRACE" >got
	[ "$(ends_of got)" = "$ENDS" ]
	file_has 20 got
	scene uids
	rm -r "$TFS_RUNDIR"/ftrace/"$MARK"
	session_whole trace_process --trace syscalls,signals,lifecycle --output dat --uid 0 --pid "$CALLS"
	for want in "0 5" "1234 7" "4321 3"; do
		tfs-report -P syscalls -u "${want% *}" -U "$([ "$want" != "0 5" ] || echo -n "$CALLS,")-1" \
			"$TRACE" >got
		[ "$(getppids got)" = "${want#* }" ]
	done
	tfs-report -P syscalls -C process "$TRACE" >got
	[ "$(getppids got)" = 15 ]
}

@test "trace_process: two sessions at once each have a filter of their own" {
	scene uids
	one=$CALLS one_go=$GO
	start_session trace_process --output fifo --trace syscalls --uid 4321 --pid "$one"
	read_by cat >got.one
	one_session=$SESSION one_reader=$READER
	scene ends
	second_session trace_process "--output fifo --pid $CALLS --trace lifecycle"
	read_by cat >got
	release
	all_end "$SESSION" "$READER"
	[ "$(ends_of got)" = "$ENDS" ]
	echo >"$one_go"
	all_end "$one_session" "$one_reader"
	[ "$(getppids got.one)" = 3 ]
}

@test "trace_process: --all with --comm prints lines of that program, and of no other program" {
	scene names
	watch trace_process --all --comm "'two words'" --trace syscalls
	release "$CALLS"
	eventually grep -q " syscall $(syscall-nr exit_group) " got
	watch_stop
	[ "$(getppids got)" = 7 ]
	run -1 grep -Ev '^       two words ' got
}

@test "trace_process: reports bad input on one line, and begins nothing" {
	need_tracefs events/raw_syscalls
	refuses "--trace: 'nonsense' is not one of syscalls, signals, lifecycle" --trace nonsense
	refuses "--trace: 'x' is not one of syscalls, signals, lifecycle" --trace signals,x
	refuses "--comm: 'sixteen-letters-' is longer than 15 bytes, the maximum of a name" \
		--comm sixteen-letters-
	refuses '--tree cannot be combined with --trace and --format, which print events' --trace signals --tree
	refuses '--summary cannot be combined with --trace and --format, which print events' --format text --summary
	refuses '--tree and --summary print different things; leave one out' --tree --summary
	refuses "--trace: ',' names none of syscalls, signals, lifecycle" --trace ,
	refuses "--uid: 4294967295 is not a valid user id" --uid 4294967295
	refused 100 "--uid: 'no one' is not the name or the number of a user" --run trace_process \
		--args "--pid $$ --uid 'no one'"
	refused 100 "--uid takes one value, and '2' is one too many; leave it out" --run trace_process \
		--args "--pid $$ --uid 1 2"
	refused 100 "--format: 'xml' is not one of process|text" --run trace_process \
		--args "--pid $$ --format xml"
	refused 100 "trace_process: no task is selected; give --pid, or see --describe trace_process" \
		--run trace_process --args "--uid 0 --comm x"
}

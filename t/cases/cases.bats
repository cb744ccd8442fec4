#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# parts: 4
# Inputs of other people's reports that once gave a wrong answer: t/cases

load ../helper

undo() {
	[ -z "${ZRAM-}" ] || zram_remove
}

CASES=$TREE/t/cases
CASE=$PROG/case

# decoded PROGRAM [OPTION]...: Trace the program of t/cases in the working directory. Print its
# decoded calls without the head of the line and without their times.
decoded() {
	need_tracefs events/raw_syscalls
	tfs-run trace_syscalls --instance "$MARK" --buffer 16M --decode "${@:2}" -- "$CASE/$1" \
		>trace 2>err </dev/null 3>&- 4>&- || :
	run -1 grep '^# lost' trace
	! grep -q '^# strings are' trace || skip "needs BPF programs that read strings"
	sed -E 's/^.{16}-[0-9]+ +\[[0-9]+\] [^ ]+ +[0-9.]+: //; s/ <[0-9]+\.[0-9]{6}>$//' trace >calls
}

# has LINE...: Fail unless the calls have each line. Without a newline a program cannot forge one.
has() {
	local line
	for line; do
		grep -Fqx -e "$line" calls || { echo "not there: $line"; cat calls; return 1; }
	done
}

@test "case readlink-newline: a user's link to a path that is a filter's name runs no program as root" {
	need_tracefs events/syscalls
	need_tool setpriv
	bash "$CASES/readlink-newline.sh" "$TREE" >said 2>err
	tail -n 2 said | diff - <(printf '%s\n' 'status 100' 'no proof')
	grep -qE "^tfs-run: fatal: '/tmp/ru.*/log' leads to a path with control characters$" err
}

@test "case hash-in-path: a user's library below a directory z:OFFSET# moves no probe into another program" {
	local offset before
	need_tracefs uprobe_events
	need_tool setpriv nm
	chmod 755 "$BATS_TEST_TMPDIR"
	mkdir u
	chown nobody u
	offset=$((0x$(nm "$CASE/victim" | awk '$3 == "g" { print $1 }') + 1))
	ln -s "$CASE/victim" u/z
	mkdir "u/z:$offset#"
	cp "$(ldd "$CASE/mapit" | sed -n 's/.*libc\.so[^ ]* => \([^ ]*\).*/\1/p')" "u/z:$offset#/libnobody.so.6"
	hold setpriv --reuid nobody --clear-groups "$CASE/mapit" "u/z:$offset#/libnobody.so.6"
	background "$CASE/victim" >says
	before=$(grep -c "$PWD" "$TRACEFS/uprobe_events" || :)
	fails 111 "tfs-run: fatal: malloc: the path '$PWD/u/z:$offset#/libnobody.so.6' has '#', where the kernel would cut it; give a link to the file that has none" \
		tfs-run trace_uprobe --instance "$MARK" --binary libnobody --symbol malloc --pid "$HELD" --time 1s
	[ "$(grep -c "$PWD" "$TRACEFS/uprobe_events" || :)" = "$before" ]
	eventually file_has 10+ says
	[ "$(sort -u says)" = 11223344 ]
}

@test "case policy-binary: no word in --binary or --symbol is a value that the policy does not allow" {
	need_tracefs uprobe_events
	printf 'hook trace_uprobe binary symbol\n' >policy
	export TFS_POLICY=$PWD/policy
	background "$CASE/tgt"
	fails 111 "manager: fatal: trace_uprobe: the policy $PWD/policy does not allow --arg" \
		"$MANAGER" --run trace_uprobe --args "--instance $MARK --binary $CASE/tgt --symbol f --arg x=+0(%di):string --pid $PID"
	fails 111 "manager: fatal: string: the path '$CASE/tgt:f x=+0(%di)' has a space, where the kernel would cut it; give a link to the file that has none" \
		"$MANAGER" --run trace_uprobe --args "--instance $MARK --binary '$CASE/tgt:f x=+0(%di)' --symbol string --pid $PID"
	fails 100 "manager: fatal: --symbol: 'f x=+0(%di):string' has a space, which would make it two values; give each value as a word" \
		"$MANAGER" --run trace_uprobe --args "--instance $MARK --binary $CASE/tgt --symbol 'f x=+0(%di):string' --pid $PID"
	fails 100 "manager: fatal: 'f(0)' is not the name of a function" \
		"$MANAGER" --run trace_uprobe --args "--instance $MARK --binary $CASE/tgt --symbol 'f(0)' --pid $PID"
	nothing_left
}

@test "case off64: offsets, sizes and results have 64 bits" {
	decoded off64
	has 'ftruncate(3, 6442450944) = 0' 'lseek(3, 5368709120, SEEK_SET) = 5368709120' \
		'lseek(3, 4294967303, SEEK_SET) = 4294967303' \
		'fadvise64(3, 1099511627776, 2199023255552, POSIX_FADV_NORMAL) = 0' \
		'fallocate(3, FALLOC_FL_KEEP_SIZE|FALLOC_FL_PUNCH_HOLE, 4294967296, 4294967296) = 0' \
		'truncate("tfs-off64", 8589934592) = 0'
	grep -Eqx 'pwrite64\(3, 0x[0-9a-f]+, 1, 4294967305\) = 1' calls
	grep -Eqx 'fstat\(3, \{st_mode=S_IFREG\|0600, st_size=6442450944, \.\.\.\}\) = 0' calls
	grep -Eqx 'mmap\(NULL, 4096, PROT_READ, MAP_SHARED, 3, 0x100000000\) = 0x[0-9a-f]+' calls
}

@test "case edge: a path that ends in no memory is its address, whatever the CPU has read before" {
	for data in 0 32; do
		taskset -c 0 tfs-run trace_syscalls --instance "$MARK" --decode --data "$data" -- "$CASE/edge" 2>/dev/null >got
		[ "$(grep -cE ': writev\(1, \[\{iov_base=.*iov_len=5\}\], 1\) = 5' got)" = 1 ]
		grep -Eq ': openat\(AT_FDCWD, 0x[0-9a-f]+ffd, O_RDONLY\) = -1 EFAULT ' got
	done
}

@test "case inout: what goes in is of the entry, what comes out is of the return" {
	decoded inout
	has 'sendfile(4, 3, [3] => [8], 5) = 5' 'copy_file_range(3, [2] => [6], 4, [7] => [11], 4, 0) = 4' \
		'splice(3, [1] => [7], 6, NULL, 6, 0) = 6'
	grep -Eq '^getsockname\(7, .*, \[100 => 16\]\) = 0$' calls
	grep -Eq '^recvmmsg\(7, \[.*\], 2, MSG_WAITFORONE, \{tv_sec=1, tv_nsec=5\}\) = 1' calls
	grep -Eq '^recvmmsg\(7, 0x[0-9a-f]+, 2, MSG_DONTWAIT, \{tv_sec=0, tv_nsec=50000000\}\) = -1 EAGAIN$' calls
}

@test "case bigword: each word is whole, or has a mark; complete lists have none" {
	decoded bigword
	grep '^execve("/bin/true"' calls >execs
	[ "$(wc -l <execs)" = 15 ]
	# a word of z or q has the length that the program gave it, or a mark after its end
	awk -F '"' -v lengths='100 1000 3000 4000 4090 5000 19999' '{
		split(lengths, z, " ")
		for (i = 4; i < NF; i += 2)
			if ($i ~ /^[zq]+$/) {
				whole = length($i) == ($i ~ /^z/ ? z[NR] : (NR - 10) * 700)
				if (whole != ($(i + 1) !~ /^\.\.\./)) { print; bad = 1 }
				words++
			}
		} END { exit bad || words != 7 + 5 * 5 }' execs
	sed -n '7p' execs | grep -Eq '"z+"\.\.\., "last"\], '
	grep -Fq '["true", "a", "b"], ' execs
	grep -Fq '["true", "1", "2", "3", "4", "5", "6", "7"], ' execs
	grep -Fq '["true", "1", "2", "3", "4", "5", "6", "7", ...], ' execs
}

@test "case execat: a program that is executed by a descriptor is one call, with path and words" {
	decoded execat
	grep -Eqx 'execveat\(3, "", \["MARK1", "x"\], 0x[0-9a-f]+, AT_EMPTY_PATH\) = 0' calls
	grep -Eqx 'execveat\(3, "true", \["MARK2", "y"\], 0x[0-9a-f]+, 0\) = 0' calls
	grep -Eq '^execveat\(999, "nope", .*\) = -1 EBADF$' calls
	run -1 grep -E 'resumed>|unfinished' <(grep exec calls)
}

@test "case inject: no name forges a field, a word or a line" {
	decoded inject
	has 'openat(AT_FDCWD, "/none/a\" flags=0x0 ret=77 x=\"", O_RDONLY) = -1 ENOENT' \
		'openat(AT_FDCWD, "/none/back\\nslash", O_RDONLY) = -1 ENOENT' \
		'openat(AT_FDCWD, "/none/new\nline", O_RDONLY) = -1 ENOENT' \
		'openat(AT_FDCWD, "", O_RDONLY) = -1 ENOENT' \
		'openat(AT_FDCWD, NULL, O_RDONLY) = -1 EFAULT' \
		'openat(AT_FDCWD, 0x1, O_RDONLY) = -1 EFAULT'
	grep -Fq 'execve("/bin/true", ["true", "hello world", "a\" argv3=\"evil", "", "x\ny", "back\\nslash"], ' calls
	grep -Fq 'execve("/bin/true", ["true", "hello", "world"], ' calls
	run -1 grep -E '^ +init-1 ' trace
	tfs-run trace_exec --instance "$MARK" -- "$CASE/inject" >execs 2>/dev/null
	[ "$(grep -cF '["true", "hello world", "a\" argv3=\"evil", "", ' execs)" = 1 ] ||
		{ cat execs; return 1; }
}

@test "case leader_exits: the process ends with the status of its last thread" {
	need_tracefs events/sched
	run -7 tfs-run trace_process --trace lifecycle --instance "$MARK" -- "$CASE/leader_exits"
	[[ ${lines[-1]} == *' exit 1792' ]] || { echo "$output"; return 1; }
	[ "$(grep -c ' exit 768$' <<<"$output")" = 1 ]
}

@test "case weird_sys: calls that no kernel knows are shown, with their error" {
	decoded weird_sys
	grep -Eqx 'syscall_0x3e7\(0x1, 0x2, 0x3, 0x4, 0x5, 0x6\) = -1 ENOSYS' calls
	grep -Eqx 'syscall_0xf4240\(0x1, 0x2, 0x3, 0x4, 0x5, 0x6\) = -1 ENOSYS' calls
	[ "$(grep -c '^syscall_.* = -1 ENOSYS$' calls)" -ge 4 ] || { cat calls; return 1; }
}

@test "case denied: calls that seccomp denies are calls, and counted" {
	decoded denied
	[ "$(grep -Ec '^mkdir\(.*\) = -1 EPERM \(denied\)$' calls)" = 5 ] || { cat calls; return 1; }
	[ "$(grep -Ec '^getppid\(.*\) = -1 ENOSYS \(denied\)$' calls)" = 2 ]
	[ "$(grep -Ec '^openat\(.*\) = -1 EACCES \(denied\)$' calls)" = 1 ]
	tfs-run trace_syscalls --instance "$MARK" --failed -- "$CASE/denied" >failed 2>/dev/null || :
	[ "$(grep -c '(denied)' failed)" = 8 ]
	tfs-count -k call -k error <trace >counts
	grep -qx '      5 mkdir	EPERM' counts
	grep -qx '      2 getppid	ENOSYS' counts
	tfs-run trace_syscalls --instance "$MARK" --summary -- "$CASE/denied" >summary 2>/dev/null || :
	grep -Eqx ' +5 +5 +- +- +-  mkdir' summary
	grep -Eqx ' +2 +2 +- +- +-  getppid' summary
	grep -Fqx '# calls that seccomp denied: 8 (counted, without a time)' summary
	run -1 grep 'without a beginning' summary
	tfs-run trace_syscalls --instance "$MARK" --slower 0 -- "$CASE/denied" >slower 2>/dev/null || :
	[ "$(tail -n 1 slower)" = '# unpaired 1 events: 1 without an end, 0 without a beginning; seccomp denied 8 calls' ]
}

@test "case denied, execat, weird_sys: lines, decoded lines and JSON of both have the same summary" {
	need_tracefs events/raw_syscalls
	for program in denied execat weird_sys; do
		tfs-run trace_syscalls --instance "$MARK" --numbers --returns -o raw.dat -- \
			"$CASE/$program" >/dev/null 2>&1 </dev/null 3>&- 4>&- || :
		tfs-run trace_syscalls --instance "$MARK" --decode -o trace.dat -- "$CASE/$program" \
			>/dev/null 2>&1 </dev/null 3>&- 4>&- || :
		for form in '' -j -D '-D -j'; do
			file=raw.dat
			[[ $form != -D* ]] || file=trace.dat
			# shellcheck disable=SC2086 # options
			tfs-report -e 'sys_*' $form "$file" | tfs-summary -s calls |
				awk '/^#/ { print; next } { print $1, $2, $NF }' >"sum$form"
			diff sum "sum$form" || { echo "$program $form"; return 1; }
		done
		file_has 20+ sum
	done
	grep -qx '1 1 syscall_0x3e7' sum
}

@test "case dots: a file has its own name, not that of a link or of procfs" {
	ln -s /etc/alternatives lnk
	need_tracefs events/raw_syscalls
	tfs-run trace_syscalls --instance "$MARK" --names -- "$CASE/dots" "$PWD" >trace 2>/dev/null 3>\&- 4>\&-
	grep -Eo 'read\([3-9]</etc/hostname>' trace >reads
	# the other reads are those of a library
	[ "$(wc -l <reads)" = 7 ] || { grep -E 'read|open' trace; return 1; }
}

@test "case chr: with --host-paths a path in a chroot is the host's" {
	need_host_root
	mkdir -p root/sub
	decoded chr --host-paths
	grep -Fqx "openat(AT_FDCWD, \"$PWD/root/sub\", O_RDONLY) = 3" calls || { cat calls; return 1; }
	[ "$(grep -Fc "\"$PWD/root/sub\"" calls)" -ge 2 ]
	grep -Fqx "openat(AT_FDCWD, \"$PWD/root/nofile\", O_RDONLY) = -1 ENOENT" calls
}

@test "case uring: opens by io_uring are shown, or said to be missing" {
	decoded uring
	grep -q '^io_uring_setup(' calls || skip "needs io_uring"
	grep -Eq '/none/uring|^# .*io_uring' trace || { cat calls; return 1; }
	# in each view, of each hook that shows opens; the program requests two
	for hook in trace_open trace_files 'trace_syscalls --decode'; do
		for view in '' --json --summary '--summary --json' -o=x.json; do
			# shellcheck disable=SC2086 # words
			tfs-run $hook --instance "$MARK" ${view/=/ } -- "$CASE/uring" >trace 2>err </dev/null 3>&- 4>&- || [ $? = 1 ]
			case $view in
			-o=x.json) want='{"io_uring":2}' && mv x.json trace ;;
			*--json) want='{"io_uring":2}' ;;
			*) want='# 2 requests of io_uring are not shown: they make no system calls' ;;
			esac
			[ "$(grep -Fcx "$want" trace)" = 1 ] || { echo "$hook $view"; cat trace err; return 1; }
		done
	done
}

@test "case old-print: markers of kernels before 5.6 have their text" {
	tfs-report "$CASES/old-print.dat" | grep -q ': hello world 42$'
}

@test "case graph: a graph of functions has durations, and tfs-slower finds them" {
	tfs-report "$CASES/graph.dat" >graph
	grep -Eq ' [0-9.]+ us +\| ' graph || { cat graph; return 1; }
	run -1 grep -e '--> f' graph
	tfs-slower 1 <graph >slower
	grep -Eq '^ 0\) +1\.500 us +\| +0xffffffff81000020\(\);$' slower
	grep -Eq '^ 0\) +3\.500 us +\| +\} /\* 0xffffffff81000010 \*/$' slower
	[ "$(grep -c ' us ' slower)" = 2 ]
}

@test "case vendor-events: markers are slices, and vendor events keep their text" {
	tfs-report "$CASES/vendor-events.dat" >text
	grep -Fq ': msm_v4l2_vidc_buffer_event_start: (0xffffffc010203040), device_addr : 0xc9000000, timestamp : 12983744069' text
	grep -Fq ': f2fs_truncate_partial_nodes: dev = (8,1), ino = 5, nid[0] = 11, nid[1] = 22, nid[2] = 33, depth = 2, err = -5' text
	need_tool protoc
	tfs-perfetto <text | protoc --decode=perfetto.protos.Trace -I "$TREE/t/data" perfetto.proto |
		grep -A 4 ' track_event {' | sed -n 's/^    \(type\|name\): //p' | diff - <(printf '%s\n' TYPE_SLICE_BEGIN '"function1"' TYPE_SLICE_END)
	tfs-perfetto "$CASES/vendor-events.dat" | tr -c '[:print:]' '\n' >perfetto
	grep -Fq 'B|77|function1' perfetto
	grep -Fq 'E|77|function1' perfetto
}

@test "case user-events: the events of programs have their arrays, as .NET 10 writes them, and strings of both kinds" {
	gunzip <"$CASES/user-events.gz.dat" >file
	tfs-report file >text 2>err
	file_has 0 err
	sed -n '1,3p; 9,14p; $p' text | sed 's/^.*[.][0-9]\{6\}: //' | diff - /dev/fd/3 3<<-'EOF'
		dotnet_gc: version=1 event_id=1 extension={} payload={0x0,0x0,0x0,0x0,0x2,0x0,0x0,0x0,0x47,0x0,0x43,0x0,0x0,0x0}
		sys_getppid()
		OTelActivity: version=1 event_id=2 extension={0x2,0x10,0x1,0x2,0x3,0x4,0x5,0x6,0x7,0x8,0x9,0xa,0xb,0xc,0xd,0xe,0xf,0x10} payload={0x1,0x0,0x0,0x0,0x2,0x0,0x0,0x0,0x47,0x0,0x43,0x0,0x0,0x0}
		demo_simple: count=0 delta=-5 name=a\nb\"c
		demo_text: count=0 text=hello \"wörld\"\n
		demo_rel: count=0 text=relative
		demo_struct: blob={0x30,0x31,0x32,0x33,0x34,0x35,0x36,0x37,0x38,0x39,0x61,0x62,0x63,0x64,0x65,0x0} x=7
		demo_empty: 
		demo_simple.0: other=77
		Demo_Provider_L4K1: eventheader_flags=7 version=1 id=100 tag=0 opcode=1 level=4
	EOF
	tfs-report -j file | sed -n '1s/.*"fields"://p' | diff - <(
		echo '{"version":1,"event_id":1,"extension":[],"payload":[0,0,0,0,2,0,0,0,71,0,67,0,0,0]}}')
	[ "$(tfs-count -k event <text | awk '{ n += $1 } END { print n }')" = 27 ]
	[ "$(tfs-perfetto file | tr -c '[:print:]' '\n' | grep -c demo_text)" -ge 1 ]
}

@test "case systrace: names that begin in column 0 are read" {
	[ "$(tfs-count <"$CASES/systrace-column0.txt" | awk '{ n += $1 } END { print n }')" = 4 ]
}

@test "case plugin text: trace-cmd's own form is read, and rcu_sched waited 297 us" {
	[ "$(tfs-count <"$CASES/trace-cmd-plugin-text.txt" | awk '{ n += $1 } END { print n }')" = 4 ]
	tfs-latency wakeup <"$CASES/trace-cmd-plugin-text.txt" | grep -q ' ==> rcu_sched:8 \[120\] lat=297$'
}

@test "case rtla: lines of osnoise, timerlat and hwlat are events" {
	[ "$(tfs-count <"$CASES/rtla.txt" | awk '{ n += $1 } END { print n }')" = 6 ]
}

@test "case trace-cmd exit: the bare result of a return is its result, so an error is one" {
	[ "$(tfs-summary <"$CASES/trace-cmd-exit.txt" | awk '$NF == "openat" { print $1, $2 }')" = '1 1' ]
	[ "$(tfs-count -k ret <"$CASES/trace-cmd-exit.txt" | sed 1d)" = '      1 0xfffffffffffffffe' ]
}

@test "case waking only: a wait begins with sched_waking if the trace has no sched_wakeup" {
	tfs-latency wakeup <"$CASES/waking-only.txt" | grep -o 'lat=.*\|^#.*' | diff - <(
		printf 'lat=%s\n' 50 50)
}

@test "case locks: the wait for a mutex has its spinning in it, and the idle task of each CPU waits alone" {
	tfs-latency locks <"$CASES/locks.txt" | grep -o 'flags=.*\|^#.*' | diff - <(
		printf 'flags=%s\n' 'MUTEX|SPIN lat=1000' 'SPIN lat=50' 'SPIN lat=90')
}

@test "case idle CPUs: each CPU has an idle task of its own" {
	tfs-latency -s softirq_entry -e softirq_exit <"$CASES/idle-cpus.txt" |
		grep -o 'lat=.*\|^#.*' | diff - <(printf 'lat=%s\n' 100 100)
}

@test "case trace-cmd -w: a switch with the latency of its wake-up is a switch" {
	tfs-latency wakeup <"$CASES/trace-cmd-w.txt" | grep -o 'lat=.*\|^#.*' | diff - <(
		echo lat=500)
}

@test "case lostborn: of a task that is first seen after a loss, nothing before that is blocked" {
	tfs-why "$CASES/lostborn.txt" | sed -n '/^k/,$p' | sed -n '1,3p' | diff - /dev/fd/3 3<<-'EOF'
		k 400: 1.00 s
		   99.9 %    999 ms  blocked
		   99.9 %    999 ms    not known for what, not woken
	EOF
	tfs-why "$CASES/lostborn.txt" | grep -A 3 '^a 100' | diff - /dev/fd/3 3<<-'EOF'
		a 100: 2.00 s; events were lost in 1 of its intervals
		    0.0 %   1.00 ms  running
		  100.0 %   1.99 s   unknown
		  100.0 %   1.99 s     events lost
	EOF
}

@test "case why_born: -p names a task that begins within the trace" {
	tfs-why -p 8 "$CASES/why_born.txt" | sed -n '1,4p' | diff - /dev/fd/3 3<<-'EOF'
		sh 8: 300 ms
		   66.7 %    199 ms  running
		   33.3 %    100 ms  blocked
		   33.3 %    100 ms    not known for what, woken by interrupt
	EOF
}

@test "case why_args: descriptors and pids are decimal" {
	[ "$(uname -m)" = x86_64 ] || skip "needs the numbers of the calls of x86-64"
	tfs-why "$CASES/why_args.txt" | grep woken | diff - /dev/fd/3 3<<-'EOF'
		   66.7 %    199 ms    call: read(10), woken by interrupt
		   33.3 %  99.96 ms    child: wait4(10550), woken by interrupt
	EOF
}

@test "case jfork: the wait of a child is that of its parent's selection, from JSON as from text" {
	tfs-latency -p 100 wakeup <"$CASES/jfork.json" | grep -q '"next_pid":101,.*"lat":100}}$'
	head -n 1 "$CASES/jfork.json" | tfs-count -k .pid -k .comm -k parent_pid -k child_pid | grep -Eq '^ +1 100\s+a\s+100\s+101$'
	# text says pid and comm for the parent; task_newtask tells of children, too
	head=$'          a-100 [000] ..... 1.000000: '
	wakes=$'          a-100 [000] ..... 1.000100: sched_wakeup: comm=a pid=101 prio=120 target_cpu=000\n'
	wakes+='          a-100 [000] ..... 1.000200: sched_switch: prev_comm=a prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=a next_pid=101 next_prio=120'
	fork="${head}sched_process_fork: comm=a pid=100 child_comm=a child_pid=101"
	for line in "$fork" "${head}task_newtask: pid=101 comm=a clone_flags=80810f00 oom_score_adj=0"; do
		[ "$(printf '%s\n' "$line" "$wakes" | tfs-latency -p 100 wakeup | grep -c 'next_pid=101 .* lat=100$')" = 1 ]
		[ -z "$(printf '%s\n' "$line" "$wakes" | tfs-latency -p 99 wakeup)" ]
	done
	tfs-count -k .pid -k parent_pid -k parent_comm <<<"$fork" | grep -Eq '^ +1 100\s+100\s+a$'
}

@test "case kids: a child and a thread have their waits in JSON as in text" {
	need_tracefs events/sched/sched_wakeup
	need_tool taskset
	# Each sleeps 20 times, but a sleep that is over before the task leaves its CPU is no wait. Some
	# kernels record no switches from the idle tasks of other CPUs than the first.
	for json in '' --json; do
		tfs-run trace_sched --instance "$MARK" ${json:+"$json"} -- taskset -c 0 "$CASE/kids" >trace 2>err </dev/null 3>&- 4>&-
		sed -n '/lat["=]/s/.*next_comm"\{0,1\}[=:]"\{0,1\}\([a-z]*\)[" ].*/\1/p' trace | sort | uniq -c |
			awk '$2 == "kid" || $2 == "thread" { print $2, ($1 >= 10) }' | diff - <(printf '%s\n' 'kid 1' 'thread 1')
	done
}

# The kernel reports threads of io_uring by task_newtask, but not as forks.
@test "case uring_blk: what io_uring's own threads do is of the program that made them" {
	loop
	for how in s a b; do
		for json in '' --json; do
			tfs-run trace_block --instance "$MARK" --device "$LOOP" ${json:+"$json"} \
				-- "$CASE/uring_blk" "/dev/$LOOP" $how >trace 2>err </dev/null 3>&- 4>&- ||
				skip "needs io_uring"
			[ "$(grep -c 'lat["=]' trace)" = 20 ] || { echo "$how"; cat trace; return 1; }
		done
	done
}

@test "case uring_blk: a ring whose requests another task makes is told, where they are not shown" {
	loop
	"$CASE/uring_blk" "/dev/$LOOP" s || skip "needs io_uring"
	for hook in trace_open trace_files 'trace_syscalls --decode'; do
		# shellcheck disable=SC2086 # words
		tfs-run $hook --instance "$MARK" -- "$CASE/uring_blk" "/dev/$LOOP" s >trace 2>err </dev/null 3>&- 4>&-
		[ "$(grep -c '^# 0 requests of io_uring are not shown: they make no system calls; those of 1 rings with SQPOLL may be missing in this number$' trace)" = 1 ]
		# shellcheck disable=SC2086 # words
		tfs-run $hook --instance "$MARK" --json --summary -- "$CASE/uring_blk" "/dev/$LOOP" s >trace 2>err </dev/null 3>&- 4>&- || [ $? = 1 ]
		[ "$(grep -c '^{"io_uring":0,"polled_rings":1}$' trace)" = 1 ]
	done
}

@test "case nobpf: a hook that cannot read paths refuses, or says so in text and JSON" {
	local stderr
	need_tracefs events/syscalls
	[ ! -e "$TRACEFS/kprobe_events" ] || skip "needs a kernel without kprobes"
	[ ! -e "$TRACEFS/syscall_user_buf_size" ] || skip "needs a kernel that copies no strings itself"
	for words in '' --json --summary '-o x.dat'; do
		# shellcheck disable=SC2086 # words
		run -111 --separate-stderr "$CASE/nobpf" tfs-run trace_files $words --instance "$MARK" -- touch ran
		[ -z "$output" ] && [ ! -e ran ]
		[[ $stderr == 'tfs-run: fatal: nothing reads the paths of files: unable to make a BPF map: Operation not permitted'* ]]
	done
	"$CASE/nobpf" tfs-run trace_open --instance "$MARK" -- true >text 2>/dev/null
	run -0 head -n 1 text
	[[ $output == '# strings are addresses: '* ]]
	"$CASE/nobpf" tfs-run trace_open --json --instance "$MARK" -- true >json 2>/dev/null
	[ "$(head -n 1 json)" = "{\"comment\":\"${output#\# }\"}" ]
	run -1 grep 'not understood' <(tfs-summary <json)
}

@test "case nobpf: a hook that cannot read strings or files says so once, in every view" {
	need_tracefs events/syscalls
	[ ! -e "$TRACEFS/kprobe_events" ] || skip "needs a kernel without kprobes"
	[ ! -e "$TRACEFS/syscall_user_buf_size" ] || skip "needs a kernel that copies no strings itself"
	hook='' view='' out=''
	# told COUNT: Run the hook, and count the lines that say so on standard error, and elsewhere.
	told() {
		rm -f "$out"
		# shellcheck disable=SC2086 # words
		"$CASE/nobpf" tfs-run $hook $view --instance "$MARK" -- true >trace 2>err </dev/null 3>&- 4>&-
		[ "$(cat err trace ${out:+"$out"} | grep -aoE '(strings are addresses|not known: files opened later): unable|strings are addresses: this kernel has no kprobe' | wc -l)" = "$1" ] &&
			[ "$(grep -cE '^tfs-run: (strings are addresses|not known: files opened later): ' err)" = "${2-0}" ] ||
			{ echo "$hook $view"; cat err trace; return 1; }
	}
	for hook in trace_open trace_exec 'trace_syscalls --decode' 'trace_syscalls --fd 3'; do
		out=''
		for view in '' --json --summary '--summary --json'; do
			told 1
		done
		view='--strace'
		[ "${hook#trace_s}" = "$hook" ] || told 1 1
		for out in x.json x.txt; do
			view="-o $out"
			told 1
		done
		out=x.dat view='-o x.dat' # the file says it in a mark
		told 2 1
		[ "$(tfs-report x.dat | grep -c ': # strings are addresses: ')" = 1 ]
	done
	out=x.svg view='-o x.svg' hook='trace_syscalls --decode'
	told 1
	out='' hook=trace_why
	for view in '' '--slower 1us'; do
		told 1
	done
}

@test "case uring_blk: events and waits of io_uring's threads are those of the program, with each selector" {
	need_tracefs events/block/block_bio_queue
	loop
	"$CASE/uring_blk" "/dev/$LOOP" s || skip "needs io_uring"
	for how in s a b; do
		tfs-run trace_count --instance "$MARK" -e block_bio_queue -k comm \
			-- "$CASE/uring_blk" "/dev/$LOOP" $how >trace 2>err </dev/null 3>&- 4>&-
		grep -Eqx ' +20 iou-(sqp|wrk)-[0-9]+' trace || { echo "$how"; cat trace; return 1; }
		tfs-run trace_sched --instance "$MARK" -- taskset -c 0 "$CASE/uring_blk" "/dev/$LOOP" $how >trace 2>err </dev/null 3>&- 4>&-
		[ "$(grep -c ' next_comm=iou-.* lat=' trace)" -ge 20 ] || { echo "$how"; cat trace; return 1; }
		# of no other task, and not the stream's names of the tasks
		! grep ' lat=' trace | grep -Ev ' next_comm=(iou-|uring_blk|taskset|tfs-run )' || return 1
		run -1 grep '^# traced' trace
	done
	for how in s b; do
		tfs-run trace_event --instance "$MARK" -e block_bio_queue -o x.dat \
			-- "$CASE/uring_blk" "/dev/$LOOP" $how >trace 2>err </dev/null 3>&- 4>&-
		tfs-report x.dat >trace
		[ "$(grep -c "^ *iou-.*: block_bio_queue: 7,${LOOP#loop} " trace)" = 20 ] || { echo "$how"; cat trace; return 1; }
		run -1 grep -v '^ *iou-.*: block_bio_queue: ' trace
	done
	mkfifo gate
	for whom in pid comm all; do
		background sh -c 'read -r _; "$@"; "$@"' "u$$" "$CASE/uring_blk" "/dev/$LOOP" b <>gate
		program=$PID
		case $whom in
		pid) set -- --pid "$program" ;;
		comm) set -- --comm uring_blk ;;
		all) set -- --all --filter "'comm ~ \"iou-*\"'" ;;
		esac
		watch trace_event -e block_bio_queue "$@"
		echo >gate
		finishes "$program" 0
		watch_stop
		# of this disk, because other tests run this program, too
		[ "$(grep -c "^ *iou-.*: block_bio_queue: 7,${LOOP#loop} " got)" = 40 ] || { echo "$whom"; cat got; return 1; }
	done
}

@test "case uring_blk: where threads of io_uring are followed only later, each view says how many" {
	need_tracefs events/block/block_bio_queue
	loop
	"$CASE/uring_blk" "/dev/$LOOP" s || skip "needs io_uring"
	note='not known: events of 1 task, above all the first: tasks that entered a cgroup, threads of io_uring or vhost'
	late() {
		rm -f x.*
		tfs-run "$@" -e block_bio_queue --instance "$MARK" -- sh -c '"$@"; :' sh \
			"$CASE/uring_blk" "/dev/$LOOP" s >trace 2>err </dev/null 3>&- 4>&- ||
			[ $? = 1 ] || # followed so late that there was no event left
			{ echo "$*: fails"; cat trace err; return 1; }
		[ "$(cat trace err | grep -c 'not known: events')" = 1 ] || { echo "$*"; cat trace err; return 1; }
	}
	late trace_event --parent "$$"
	[ "$(tail -n 1 trace)" = "# $note" ]
	late trace_event --parent "$$" --json
	[ "$(tail -n 1 trace)" = "{\"comment\":\"$note\"}" ]
	late trace_event --parent "$$" --summary
	late trace_count --parent "$$"
	grep -qx "# $note" trace
	late trace_event --parent "$$" -o x.dat
	grep -qx "tfs-run: $note" err
	[ "$(tfs-report x.dat | grep -c ": # $note$")" = 1 ]
	late trace_flight
	grep -qx "tfs-run: $note" err
	# a program that makes none
	tfs-run trace_flight -e block_bio_queue --instance "$MARK" -- true >trace 2>err </dev/null 3>&- 4>&-
	run -1 grep 'not known' trace err
}

@test "case uring_blk: a thread of io_uring whose maker is gone before it can be followed is counted" {
	local pid follower
	need_tracefs events/block/block_bio_queue
	loop
	"$CASE/uring_blk" "/dev/$LOOP" s || skip "needs io_uring"
	start_session trace_event --parent "$$" -e block_bio_queue --output file
	for pid in $(children "$(children "$SESSION")"); do
		[ "$(cat "/proc/$pid/comm")" != manager ] || follower=$pid
	done
	kill -STOP "$follower"
	background "$CASE/uring_blk" "/dev/$LOOP" s
	finishes "$PID" 0
	unlisted() { ! grep -qx "$PID" "$TRACEFS/instances/tfs.$MARK/set_event_pid"; }
	eventually unlisted
	kill -CONT "$follower"
	kill "$SESSION"
	finishes "$SESSION" 0
	grep -q '^# not known: events of 1 task, ' "$TRACE"
}

# apart COMMAND...: Run a session of trace_tcp with the options in TCP in a network namespace of its
# own, with these PORTS. Write the trace and what the program says.
apart() {
	need_tracefs events/syscalls/sys_exit_accept4
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs types of the kernel (CONFIG_DEBUG_INFO_BTF)"
	need_tool python3
	need_tool unshare
	need_tool ip
	# shellcheck disable=SC2016,SC1010 # the shell within does that
	unshare -n sh -c 'ip link set lo up
		ip route add prohibit 192.0.2.128/25 && ip route add blackhole 192.0.2.64/27 &&
		ip route add unreachable 192.0.2.32/27 &&
		echo "$0" >/proc/sys/net/ipv4/ip_local_port_range && exec "$@"' "$PORTS" \
		tfs-run trace_tcp --instance "$MARK" "${TCP[@]}" -- "$@" >trace 2>err </dev/null 3>&- 4>&-
}

@test "case connfail: each connect that fails has a line with its error" {
	TCP=(--latency)
	PORTS='40000 40001'
	apart python3 "$CASES/connfail.py"
	sed -n 's/^TRUTH [a-z0-9]* *\(.*\) \(.*\)$/\1 \2/p' err | sed 's/ 0$//' | sort >expected
	sed -n 's/.*: tcp_connect: .* -> \(.*\) lat=[0-9]*\( error=\)\{0,1\}/\1 /p' trace | tr -d '[]' | sed 's/ $//' | sort >told
	[ "$(wc -l <expected)" = 11 ]
	diff expected told
}

@test "case mptcp: both ends of each connection have lines, by the names of their tasks" {
	TCP=(--life --accept)
	PORTS='40000 50001'
	sysctl -n net.mptcp.enabled >mptcp 2>&1 && [ "$(cat mptcp)" = 1 ] || skip "needs MPTCP"
	for server in 6 262; do
		for client in 6 262; do
			apart python3 "$CASES/mptcp.py" $server $client 3
			[ "$(grep -c '^ *client-.*: tcp_life: .* -> .* sent=1000 received=77$' trace)" = 3 ]
			[ "$(grep -c '^ *server-.*: tcp_accept: .* <- ' trace)" = 3 ]
			[ "$(grep -c '^ *server-.*: tcp_life: .* <- .* sent=77 received=1000$' trace)" = 3 ]
			[ "$(grep -vc '^#' trace)" = 9 ]
		done
	done
}

@test "case pname: a process has its last name, whoever gave it, in each view and namespace" {
	local apart
	need_tracefs events/task/task_newtask
	for apart in '' 'unshare --pid --mount-proc --fork'; do
		# shellcheck disable=SC2086 # words
		tfs-run trace_process --instance "$MARK" --json -- $apart "$CASE/pname" >trace 2>err
		sed -nE 's/.*"end":"exit ([789])","comm":"([^"]*)".*/\2 \1/p' trace >names
		diff names - <<<$'worker 7\nwriter 8\nleader 9'
		# shellcheck disable=SC2086 # words
		tfs-run trace_process --instance "$MARK" --human -- $apart "$CASE/pname" >trace 2>err
		sed -nE 's/.* exit ([789]) .*\[(.*)\]$/\2 \1/p' trace >names
		diff names - <<<$'worker 7\nwriter 8\nleader 9'
		# shellcheck disable=SC2086 # words
		tfs-run trace_syscalls --instance "$MARK" --decode -o x.dat -- $apart "$CASE/pname" 2>err
		tfs-report -D -e sys_enter_exit_group x.dat >trace
		sed -nE 's/^ *([^ ]+)-[0-9]+ .* exit_group\(([789])\).*/\1 \2/p' trace >names
		diff names - <<<$'worker 7\nwriter 8\nleader 9'
	done
}

@test "case comm: a child that executes another program connects under the name of that" {
	need_tracefs events/sock/inet_sock_set_state
	need_tool python3
	tfs-run trace_tcp --instance "$MARK" --latency -- bash "$CASES/comm.sh" >trace 2>err
	[ "$(sed -E 's/^ *(.*)-[0-9]+ +\[.*/\1/; /^#/d' trace | sort | uniq -c | tr -s ' ')" = ' 3 python3' ]
}

@test "case denied: a summary of denied calls only has each of them, and what seccomp answers with success" {
	need_tracefs events/syscalls
	tfs-run trace_syscalls --instance "$MARK" --summary -s getppid -- "$CASE/denied" >summary 2>/dev/null || :
	grep -Eqx ' +2 +2 +- +- +-  getppid' summary
	grep -qx '# calls that seccomp denied: 2 (counted, without a time)' summary
	run -1 grep 'without a beginning' summary
	printf 'a-1 [000] ..... %d.000000: sys_getppid -> 0x%x\n' 1 0 2 7 >answered
	run -0 tfs-summary --begins answered
	[[ ${lines[1]} == '        2        0 '*'  getppid' ]]
	[[ $output != *'without a beginning'* ]]
	[ "${lines[-1]}" = '# calls that seccomp answered: 2 (counted, without a time)' ]
	printf 'a-1 [000] ..... 1.000000: getppid() = 7 (emulated)\n' >emulated
	run -0 tfs-summary emulated
	[ "${lines[-1]}" = '# calls that seccomp answered: 1 (counted, without a time)' ]
	run -1 tfs-summary answered
	[[ $output == *'# ends without a beginning: 2 (not counted)'* ]]
}

@test "case p32: the exec of a 32-bit program has its line, and the program its end" {
	need_tracefs events/raw_syscalls
	[ -x "$CASE/p32" ] || skip "needs a compiler of 32-bit programs (gcc -m32)"
	run "$CASE/p32"
	[ "$status" = 7 ] || skip "needs a kernel that runs 32-bit programs (CONFIG_IA32_EMULATION)"
	run -7 tfs-run trace_exec --instance "$MARK" -o execs -- "$CASE/p32" 3>&- 4>&-
	grep -v '^# ' execs | sed 's/^.*: execve/execve/; s/0x[0-9a-f]*/ADDRESS/; s/ <[0-9.]*>$//' |
		diff - <(echo "execve(\"$CASE/p32\", [\"$CASE/p32\"], ADDRESS) = 0")
	run -7 tfs-run trace_process --instance "$MARK" --json -o processes -- "$CASE/p32" 3>&- 4>&-
	[ "$(grep -c '"exit_code":768,"end":"exit 3","comm":"p32","command":null}$' processes)" = 1 ]
	# processes of less than a tick: not 0
	[ ! -e /sys/kernel/btf/vmlinux ] || [ "$(grep -Ec '"cpu":0\.000*[1-9]' processes)" = 2 ]
	[ "$(grep -c "\"exit_code\":1792,\"end\":\"exit 7\",\"comm\":\"p32\",\"command\":\"$CASE/p32\"}$" processes)" = 1 ]
	file_has 2 processes
}

@test "case uring_blk: waits of io_uring's threads are in the account of a program" {
	need_tracefs events/block/block_bio_queue
	loop
	"$CASE/uring_blk" "/dev/$LOOP" s || skip "needs io_uring"
	for how in s a b; do
		tfs-run trace_why --buffer 16M --instance "$MARK" --top 20 -- "$CASE/uring_blk" "/dev/$LOOP" $how >trace 2>err </dev/null 3>&- 4>&-
		grep -Eq '^iou-(sqp|wrk)-[0-9]+ [0-9]+: ' trace || { echo "$how"; cat trace err; return 1; }
		# of no other task
		run -1 grep -E '^[^ #]' <(grep -Ev '^(iou-|uring_blk|tfs-run)' trace)
		tfs-run trace_why --buffer 16M --instance "$MARK" --events -- "$CASE/uring_blk" "/dev/$LOOP" $how >trace 2>err </dev/null 3>&- 4>&-
		[ "$(grep -c ': sched_switch: prev_comm=iou-' trace)" -ge 20 ] || { echo "$how"; cat trace err; return 1; }
	done
}

@test "case io: a disk without requests has as many reads and writes as its counters" {
	local stat
	need_tool python3
	zram
	tfs-run trace_block --instance "$MARK" --device "zram$ZRAM" --json -- \
		python3 "$CASES/io.py" "/dev/zram$ZRAM" >trace 2>err </dev/null 3>&- 4>&-
	read -ra stat <"/sys/block/zram$ZRAM/stat"
	# a discard and a write of zeros, which need no data, are not in the counters
	{
		tfs-count -k rwbs <trace | sed 's/^ *//' | awk '$2 ~ /R/ { r += $1 } $2 ~ /W/ { w += $1 }
			$2 ~ /^[DN]/ { other += $1 } END { print r, w, other }'
	} | diff - <(echo "${stat[0]} ${stat[4]} 2")
	[ "$(grep -c '"by":"python3"' trace)" = "$(grep -c '"lat":' trace)" ]
}

@test "case steady: counts are JSON, also in x.json" {
	need_tracefs events/syscalls/sys_enter_getppid
	tfs-run trace_count --instance "$MARK" -s getppid --json -- "$CASE/steady" 1000 1 >got 3>&- 4>&-
	tfs-run trace_count --instance "$MARK" -s getppid -o x.json -- "$CASE/steady" 1000 1 >out 3>&- 4>&-
	diff got - <<<'{"events":1000,"event":"sys_enter_getppid"}'
	diff got x.json
	[ ! -s out ]
}

@test "case notif: what a supervisor or a filter answers is a call in each view" {
	decoded notif
	[ "$(grep -c '^getppid() = 4242 (emulated)$' calls)" = 4 ] || { cat calls; return 1; }
	[ "$(grep -Ec '^getsid\((0|\.\.\.)\) = 0 \(emulated\)$' calls)" = 2 ]
	[ "$(grep -c '^mkdirat(AT_FDCWD, "notif-dir", 0700) = -1 EDQUOT (denied)$' calls)" = 3 ]
	[ "$(grep -c '^gettid() = -1 ENOSYS (denied)$' calls)" = 3 ]
	[ "$(grep -Ec '^getpgid\(0\) = [0-9]+$' calls)" = 2 ]
	grep -Eqx 'openat\(AT_FDCWD, "/notif", O_WRONLY.*\) = [0-9]+ \(emulated\)' calls
	[ "$(grep -c 'resumed' calls)" = 1 ] # the fork of the supervisor
	grep -qx '<... clone resumed>) = 0' calls || grep -qx '<... clone3 resumed>) = 0' calls
	# of some calls only, from their first one on, also in children
	tfs-run trace_syscalls --instance "$MARK" --decode -s getppid -- "$CASE/notif" >some 2>/dev/null
	[ "$(grep -c ' getppid() = 4242 (emulated)$' some)" = 4 ] || { cat some; return 1; }
	tfs-run trace_syscalls --instance "$MARK" --decode --json -s getppid gettid -- "$CASE/notif" \
		>json 2>/dev/null
	[ "$(grep -c '"event":"sys_exit_getppid","fields":{"ret":4242,"emulated":true,"args":\[\]}' json)" = 4 ]
	[ "$(grep -c '"fields":{"ret":-38,"error":"ENOSYS","denied":true,"args":\[\]}' json)" = 3 ]
	tfs-run trace_syscalls --instance "$MARK" --failed -- "$CASE/notif" 2>/dev/null | grep '(denied)' >failed
	[ "$(wc -l <failed)" = 6 ]
	tfs-run trace_syscalls --instance "$MARK" --summary -- "$CASE/notif" >summary 2>/dev/null
	grep -Eqx ' +4 +0 +- +- +-  getppid' summary
	grep -Eqx ' +3 +3 +- +- +-  gettid' summary
	grep -qx '# calls that seccomp denied: 6 (counted, without a time)' summary
	grep -qx '# calls that seccomp answered: 7 (counted, without a time)' summary
	run -1 grep 'without a beginning' summary
	tfs-run trace_syscalls --instance "$MARK" --slower 0 -- "$CASE/notif" >slower 2>/dev/null
	[ "$(tail -n 1 slower)" = '# unpaired 2 events: 2 without an end, 0 without a beginning; seccomp denied 6 calls; seccomp answered 7 calls' ]
	tfs-run trace_syscalls --instance "$MARK" --returns -- "$CASE/notif" 2>/dev/null >plain
	tfs-seccomp -s plain 2>said >profile
	grep -q '^tfs-seccomp: seccomp answered these calls .*: getppid getsid$' said
	grep -q '^tfs-seccomp: seccomp denied these calls .*: gettid mkdirat$' said
}

@test "case notif: the waits for a supervisor are of the calls that it answers, or lets pass" {
	need_tracefs events/sched/sched_switch
	taskset -c 0 tfs-run trace_why --instance "$MARK" --buffer 16M -- "$CASE/notif" >why 2>err
	sed -nE 's/^.*    (seccomp: [a-z]+), woken by notif-boss [0-9]+/\1/p' why | sort >waits
	diff waits - <<-'EOF'
		seccomp: getpgid, 2 times
		seccomp: getppid, 4 times
		seccomp: gettid
		seccomp: mkdirat, 3 times
		seccomp: openat
	EOF
	run -1 grep -E 'not known for what|page fault.* woken by notif-boss' why
}

@test "case notif: exports and pictures have each call that seccomp denies or answers" {
	need_tracefs events/raw_syscalls
	tfs-run trace_syscalls --instance "$MARK" --decode --date -o notif.dat -- "$CASE/notif" >out 2>err
	tfs-report -d -j -D notif.dat >notif.json
	for form in json logs; do
		tfs-export -n -f "$form" <notif.json | grep -oE 'sys_exit_(getppid|getsid|gettid|mkdirat)"' |
			sort | uniq -c | diff - <(printf '      %s sys_exit_%s"\n' 4 getppid 2 getsid 3 gettid 3 mkdirat) ||
			{ echo "$form"; return 1; }
	done
	tfs-report -D notif.dat | tfs-perfetto >notif.perfetto
	[ "$(grep -aoE 'getppid\(\) = 4242 \(emulated\)|gettid\(\) = -1 ENOSYS \(denied\)' notif.perfetto | wc -l)" = 7 ]
	tfs-report -D notif.dat | tfs-timeline >notif.svg
	[ "$(grep -oE '(getppid|gettid|mkdirat|getsid) at [0-9.]+ [a-z]+' notif.svg | wc -l)" = 12 ]
}

# sums_of VIEW: Print the files and the bytes written to each, of a trace of trace_files in this view.
sums_of() {
	case $1 in
	--json) sed -nE 's/^.*"ret":[0-9]+,"lat":[0-9.]+,"path":"([^"]*)".*,"written":([0-9]+),.*/\1\t\2/p' trace ;;
	--human) sed -nE 's/^[^ ]+ +[^ ]+ +[0-9]+ p?write[v64]* "([^"]*)",? .* = ([0-9]+) <.*/\1\t\2/p' trace ;;
	--summary) awk '$4 > 0 && / \// { n = $4; sub(/^.*  \//, "/"); print $0 "\t" n }' trace ;;
	*) sed -nE 's/^.*: [a-z0-9_]+: path="([^"]*)".* written=([0-9]+) .*/\1\t\2/p' trace ;;
	esac | sed -E "s|^$PWD/?||; s|#[0-9]+ |#N |" |
		awk -F '\t' '{ n[$1] += $2 } END { for (f in n) print f, n[f] }' | LC_ALL=C sort
}

# written_in_views OPTION... -- COMMAND: Compare the files that the command writes to, and the bytes,
# with the standard input, in each view, also of a recorded trace.dat. D is made anew for each.
written_in_views() {
	local view options=()
	need_bpf_files
	cat >want
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	for view in '' --json --human --summary dat; do
		rm -rf D
		mkdir D
		! declare -F setting >/dev/null || setting
		if [ "$view" = dat ]; then
			tfs-run trace_files --instance "$MARK" -o x.dat -- "$@" >out 2>err 3>&- 4>&-
			tfs-report -D --names --paths --files "$ALL" "${options[@]}" x.dat >trace
			rm x.dat
		else
			# shellcheck disable=SC2086 # no word is none
			tfs-run trace_files --instance "$MARK" $view "${options[@]}" -- "$@" >trace \
				2>err 3>&- 4>&- || [ ! -s want ]
		fi
		sums_of "$view" | diff want - || { echo "view $view"; cat trace; return 1; }
	done
}

ALL=opened,written,changed,resized,renamed,linked,removed,made
need_bpf_files() {
	need_tracefs events/raw_syscalls
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs BTF"
	tfs-run trace_files --instance "$MARK" -- true >trace 2>&1 || skip "needs BPF"
}

@test "case reuse: a file that is only read by a descriptor of another one is not written" {
	local view path
	need_bpf_files
	mkdir D
	echo text >D/B
	for view in '' --json; do
		for path in A B; do
			hold "$CASE/reuse" "$PWD/D/A" "$PWD/D/B"
			watch trace_files --pid "$HELD" $view --path "$PWD/D/$path"
			release
			watch_end
			mv got trace
			sums_of "$view" | diff - <(echo D/A 5 | grep "$path ")
		done
	done
	run -1 grep openat trace
}

@test "case logrot: a file that another process renames has its new name, and --path follows the names" {
	need_bpf_files
	mkdir D
	tfs-run trace_files --instance "$MARK" --buffer 16M -- sh "$CASES/logrot.sh" "$PWD/D" >trace 2>err 3>&- 4>&-
	sums_of '' | grep '^D/app' >sums
	[ "$(awk '{ n += $2 } END { print n }' sums)" = 60 ]
	[ "$(wc -l <sums)" = 2 ]
	rm D/*
	tfs-run trace_files --instance "$MARK" --path "$PWD/D/app.log.1" -- sh "$CASES/logrot.sh" "$PWD/D" >trace 2>err 3>&- 4>&-
	[ "$(grep -c ' renameat2: .*/app.log" to=.*/app.log.1" ' trace)" = 1 ]
	[ "$(grep -c ' write: path=.*/app.log.1" count=10 ' trace)" = "$(grep -c ' write: ' trace)" ]
	sums_of '' | grep -Eqx 'D/app.log.1 [1-5]0'
	# a name that is made anew is of the new file
	rm D/*
	tfs-run trace_files --instance "$MARK" --path "$PWD/D/app.log" -- sh "$CASES/logrot.sh" "$PWD/D" >trace 2>err 3>&- 4>&-
	[ "$(grep -c ' openat: .*/app.log" ' trace)" = 2 ]
	[ "$(grep -c ' renameat2: ' trace)" = 1 ]
	sums_of '' | grep -Eqx 'D/app.log [1-5]0'
}

@test "case inroot2: what openat2 opens in another root directory is no file of the host" {
	setting() { mkdir -p D/etc && ln -s /etc D/elink && : >D/etc/passwd; }
	written_in_views --path "$PWD/D/etc/passwd" -- "$CASE/inroot2" "$PWD/D" <<<'D/etc/passwd 8'
	written_in_views --path /etc/passwd -- "$CASE/inroot2" "$PWD/D" </dev/null
}

@test "case rn: each write is to the name that the file has then" {
	local us
	for us in 0 100; do
		written_in_views --path "$PWD/D" -- "$CASE/rn" "$PWD/D" $us <<-'EOF'
			D/x 1
			D/y 2
		EOF
	done
	written_in_views --path "$PWD/D/y" -- "$CASE/rn" "$PWD/D" 0 <<<'D/y 2'
}

@test "case tmpf: a file without a name is told as that, until it gets one" {
	written_in_views --path "$PWD/D" -- "$CASE/tmpf" "$PWD/D" <<-'EOF'
		D/#N (deleted) 100
		D/linked 50
	EOF
	written_in_views --path "$PWD/D/linked" -- "$CASE/tmpf" "$PWD/D" <<<'D/linked 50'
}

@test "case passed_fd: writes by a descriptor from a socket, and from open_by_handle_at, are of the file" {
	written_in_views --path "$PWD/D/x" -- python3 "$CASES/passed_fd.py" "$PWD/D/x" <<<'D/x 11'
}

@test "case fdrace: threads that use each other's numbers of descriptors write to their own files" {
	local round
	need_bpf_files
	for round in $(seq "${ROUNDS-3}"); do
		rm -rf D
		mkdir D
		tfs-run trace_files --instance "$MARK" --buffer 32M --only written -- "$CASE/fdrace" "$PWD/D" >trace 2>err 3>&- 4>&-
		run -1 grep '^# lost' trace || { echo "round $round"; return 1; }
		sums_of '' | sed -n 's|^D/||p' >sums
		(cd D && stat -c '%n %s' ./*) | sed 's|^./||' | LC_ALL=C sort | diff - sums
		[ "$(wc -l <sums)" = 2000 ]
	done
}

@test "case aiow: requests of io_submit are counted, where they are not shown" {
	need_bpf_files
	tfs-run trace_files --instance "$MARK" -- "$CASE/aiow" "$PWD/file" >trace 2>err
	[ "$(grep -c '^# 8 requests of io_submit are not shown: one call makes several$' trace)" = 1 ]
	tfs-run trace_files --instance "$MARK" --json -- "$CASE/aiow" "$PWD/file" >trace 2>err
	[ "$(grep -c '^{"io_submit":8}$' trace)" = 1 ]
}

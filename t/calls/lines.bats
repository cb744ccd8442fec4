#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# decoded system calls: from made-up traces with exact bytes, from programs that make known
# calls, and as the filters read them

load ../helper

# event PID TIME TEXT: Print an event line as the kernel does.
event() {
	printf '%16s-%-7d [001] ..... %s: %s\n' task "$1" "$2" "$3"
}

decoded_text() {
	event 7 1.000010 'openat(AT_FDCWD, "/a) = 3 <9.9>", O_RDONLY) = -1 ENOENT <0.000005>'
	event 8 1.000011 'read(3, "x", 10) = 1 <12.000007>'
	event 8 1.000012 '<... read resumed>) = 5'
	event 8 1.000013 'nanosleep({tv_sec=1, tv_nsec=0}, 0x7f00) = ? ERESTART_RESTARTBLOCK <0.000000>'
	event 8 1.000014 'pause( <unfinished ...>'
	event 7 1.000015 'exit_group(0) = ?'
}

# bats test_tags=quick
@test "decode: filters read the name, the result, the error and the time of decoded calls" {
	decoded_text | tfs-count -k event -k call -k ret -k error -k lat -k pid >got
	sort got | diff - /dev/fd/3 3<<-EOF
		      1 sys_exit_exit_group	exit_group	?	-	-	7
		      1 sys_exit_nanosleep	nanosleep	?	ERESTART_RESTARTBLOCK	0	8
		      1 sys_exit_openat	openat	-1	ENOENT	5	7
		      1 sys_exit_pause	pause	-	-	-	8
		      1 sys_exit_read	read	1	-	12000007	8
		      1 sys_exit_read	read	5	-	-	8
	EOF
}

@test "decode: no text in a string is taken for the end of a decoded call" {
	event 7 1.000010 'write(1, ") = -1 EPERM <1.0>", 9) = 9 <0.000002>' |
		tfs-count -k ret -k error -k lat >got
	[ "$(cat got)" = $'      1 9\t-\t2' ]
}

@test "decode: lines that only look like decoded calls are not events" {
	for text in 'f(1)' 'f(1) = 3' '<... f resumed>' '<... resumed>) = 1' \
		'f(1) = 3 <1.x>' '(1) = 3 <0.000001>'; do
		event 7 1.000010 "$text" >line
		! tfs-count -k event <line || { echo "$text"; return 1; }
	done
}

@test "tfs-human: says what the error of a decoded call is" {
	decoded_text | tfs-human >got
	cut -c 42- got | diff - /dev/fd/3 3<<-'EOF'
		EVENT
		openat(AT_FDCWD, "/a) = 3 <9.9>", O_RDONLY) = -1 ENOENT (No such file or directory) <0.000005>
		read(3, "x", 10) = 1 <12.000007>
		<... read resumed>) = 5
		nanosleep({tv_sec=1, tv_nsec=0}, 0x7f00) = ? ERESTART_RESTARTBLOCK <0.000000>
		pause( <unfinished ...>
		exit_group(0) = ?
	EOF
}

@test "tfs-summary: sums up decoded calls by their own times" {
	decoded_text | tfs-summary >got
	grep -qx '        1        0   12000007   12000007   12000007  read' got
	grep -qx '        1        1          5          5          5  openat' got
}

# by_hand [ORDER LONG MACHINE]: Make "file" of the records of stdin (t/prog/callsdat.py). The
# test needs python3.
by_hand() {
	python3 "$TREE/t/prog/callsdat.py" "${1-little}" "${2-8}" "${3-x86_64}" file
}

# decodes [OPTION]...: Compare the decoded calls of "file", from the time on, with stdin.
decodes() {
	tfs-report -D -e 'sys_*' "$@" file >out
	sed -n 's/^.*\[00[01]\] .....     1.0000//p' out >lines
	diff lines -
}

some_calls() {
	cat <<-'EOF'
		2 42 enter openat -100 0x7000 0x80000 0
		4 42 user tfs_1a b1 /et
		4 42 user tfs_1a a1 c/"x\y
		5 42 exit openat -2
		6 42 enter read 3 0x1000 10
		6 42 user other a1 forged
		7 42 user tfs_1a d1 6f6c6c6568 0
		8 42 exit read 5
		9 42 enter close 3
		11 42 exit close 0
		12 42 enter exit_group 0
		13 42 end
	EOF
}

# bats test_tags=quick
@test "tfs-report: -D: prints a line for each call, with its user memory, and other events as they are" {
	need_tool python3
	{ some_calls; echo '14 42 demo'; } | by_hand
	tfs-report -D file | diff - /dev/fd/3 3<<-'EOF'
		            hand-42      [000] .....     1.000002: openat(AT_FDCWD, "/etc/\"x\\y", O_RDONLY|O_CLOEXEC) = -1 ENOENT <0.000003>
		            hand-42      [000] .....     1.000006: bpf_trace_printk: x
		            hand-42      [000] .....     1.000006: read(3, "hello", 10) = 5 <0.000002>
		            hand-42      [000] .....     1.000009: close(3) = 0 <0.000002>
		            hand-42      [000] .....     1.000012: exit_group(0) = ?
		            hand-42      [000] .....     1.000013: sched_process_exit: x
		            hand-42      [000] .....     1.000014: demo: x
	EOF
}

@test "tfs-report: --strace prints calls as strace -f -ttt -T does, and in a child no return of a fork" {
	need_tool python3
	{
		some_calls | sed '/end$/d'
		printf '%s\n' '14 42 enter clone 0' '15 4194304 exit clone 0' '16 42 exit clone 4194304' \
			'17 43 exit read 7' '18 4194304 enter nanosleep 0x1000' '19 42 demo'
	} >records
	DATE=0x660f9d93f0f4a by_hand <records
	tfs-report -D --strace -e 'sys_*' file | diff - /dev/fd/3 3<<-'EOF'
		42    1795476069.175692 openat(AT_FDCWD, "/etc/\"x\\y", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory) <0.000003>
		42    1795476069.175696 read(3, "hello", 10) = 5 <0.000002>
		42    1795476069.175699 close(3) = 0 <0.000002>
		42    1795476069.175702 exit_group(0) = ?
		42    1795476069.175704 clone(0, NULL, NULL, NULL, 0) = 4194304 <0.000002>
		43    1795476069.175707 <... read resumed>) = 7
		4194304 1795476069.175708 nanosleep(0x1000, NULL <unfinished ...>
	EOF
	by_hand <records
	fails 1 "tfs-report: fatal: file has no date, or its trace clock does not count seconds" \
		tfs-report -D --strace file
}

@test "tfs-report: without -D, records of calls are printed as ever" {
	need_tool python3
	some_calls | by_hand
	tfs-report -e 'sys_*_close' file | diff - /dev/fd/3 3<<-'EOF'
		            hand-42      [000] .....     1.000009: sys_close(fd: 3)
		            hand-42      [000] .....     1.000011: sys_close -> 0x0
	EOF
}

@test "tfs-report: -D: decodes by the file's machine, its byte order and its size of long" {
	need_tool python3
	while read -r order long machine; do
		sed -e 's/^2 .*/2 42 raw-enter 322 -100 0x7000 0 0/' -e 's/^5 .*/5 42 raw-exit 322 -2/' \
			-e '/close\|exit_group\|read\|d1/d' <(some_calls) | by_hand "$order" "$long" "$machine"
		decodes <<-'EOF'
			02: openat(AT_FDCWD, "/etc/\"x\\y", O_RDONLY) = -1 ENOENT <0.000003>
		EOF
	done <<-'EOF'
		little 4 armv7l
		big 4 armv7b
	EOF
	sed -e 's/^2 .*/2 42 raw-enter 288 -100 0x7000 0 0/' -e 's/^5 .*/5 42 raw-exit 288 -2/' \
		-e '/close\|exit_group\|read\|d1/d' <(some_calls) | by_hand big 8 s390x
	decodes <<-'EOF'
		02: openat(AT_FDCWD, "/etc/\"x\\y", O_RDONLY) = -1 ENOENT <0.000003>
	EOF
	some_calls | by_hand little 8 machine
	fails 111 "tfs-report: fatal: unable to decode system calls of machine: there is no table of them" \
		tfs-report -D file
	decodes --abi=x86_64 --path='/etc/*' <<-'EOF'
		02: openat(AT_FDCWD, "/etc/\"x\\y", O_RDONLY|O_CLOEXEC) = -1 ENOENT <0.000003>
	EOF
}

@test "tfs-report: -D: a call without its beginning or its end is resumed or unfinished" {
	need_tool python3
	by_hand <<-'EOF'
		1 42 exit clone 0
		3 43 enter read 3 0x1000 10
		4 47 exit write 3
		5 47 exit getppid 9
		6 42 exit read 9
		11 42 enter read 4 0x1000 10
		12 42 end
		13 42 enter close 1
		14 42 exit close 0
		30 45 enter write 5 0 0
		31 46 enter exit 1
		32 44 enter write 5 0x99 7
		33 44 enter close 5
		34 44 exit close 0
	EOF
	decodes <<-'EOF'
		01: <... clone resumed>) = 0
		04: <... write resumed>) = 3
		05: <... getppid resumed>) = 9
		06: read(...) = 9 (emulated)
		11: read(4, 0x1000, 10 <unfinished ...>
		13: close(1) = 0 <0.000001>
		31: exit(1) = ?
		32: write(5, 0x99, 7 <unfinished ...>
		33: close(5) = 0 <0.000001>
		03: read(3, 0x1000, 10 <unfinished ...>
		30: write(5, NULL, 0 <unfinished ...>
	EOF
}

@test "tfs-report: -D: after lost events nothing is guessed" {
	need_tool python3
	by_hand <<-'EOF'
		1 42 exit close 0
		2 42 enter read 3 0x1000 10
		3 43 exit close 0
		4 43 enter openat -100 0x7000 0 0
		4 43 user tfs_1a b1 /etc
		lost 3
		6 42 exit read 4
		7 43 user tfs_1a a1 /passwd
		8 43 exit openat 3
		9 43 enter openat -100 0x7000 0 0
		9 43 user tfs_1a a1 /etc/passwd
		10 43 exit openat 3
		11 44 user tfs_1a a1 wd
		12 44 enter openat -100 0x7000 0 0
		13 44 exit openat 3
		14 44 user tfs_1a a1 x
		lost -1
		15 44 enter openat -100 0x7000 0 0
		16 44 exit openat 3
	EOF
	decodes <<-'EOF'
		01: <... close resumed>) = 0
		03: <... close resumed>) = 0
		02: read(3, 0x1000, 10 <unfinished ...>
		06: <... read resumed>) = 4
		04: openat(AT_FDCWD, 0x7000, O_RDONLY <unfinished ...>
		08: <... openat resumed>) = 3
		09: openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3 <0.000001>
		12: openat(AT_FDCWD, 0x7000, O_RDONLY) = 3 <0.000001>
		15: openat(AT_FDCWD, 0x7000, O_RDONLY) = 3 <0.000001>
	EOF
	[ "$(grep -c LOST out)" = 2 ]
}

@test "tfs-report: -D: a call that returns on another CPU while the first one loses events is resumed" {
	need_tool python3
	by_hand <<-'EOF'
		cpu 0
		1 42 enter read 3 0x1000 10
		3 43 enter read 4 0x1000 10
		lost 3
		9 44 enter close 3
		10 44 exit close 0
		11 42 enter read 5 0x1000 10
		cpu 1
		2 43 enter close 3
		5 42 exit read 7
		6 45 enter close 6
		7 45 exit close 0
		12 42 exit read 8
	EOF
	decodes <<-'EOF'
		02: close(3 <unfinished ...>
		01: read(3, 0x1000, 10 <unfinished ...>
		05: <... read resumed>) = 7
		06: close(6) = 0 <0.000001>
		09: close(3) = 0 <0.000001>
		11: read(5, 0x1000, 10) = 8 <0.000001>
		03: read(4, 0x1000, 10 <unfinished ...>
	EOF
}

@test "tfs-report: -D: a call that one record has whole is whole, whatever another CPU loses" {
	need_tool python3
	by_hand <<-'EOF'
		cpu 0
		1 43 call close 0 0 0 3
		lost 3
		9 44 call close 8 0 -9 3
		cpu 1
		5 42 call read 2 0 7 3 0x1000 10
		6 42 call read 5 1 8 3 0x2000 10
	EOF
	decodes <<-'EOF'
		00: close(3) = 0 <0.000001>
		02: read(3, 0x1000, 10) = 7 <0.000003>
		05: read(3, 0x2000, 10) = 8 <0.000001>
		08: close(3) = -1 EBADF <0.000001>
	EOF
}

@test "decode: a call without memory that fails costs no record beside its two events" {
	need_tracefs events/raw_syscalls
	tfs-run trace_syscalls --decode -o x.dat -- "$PROG/acts" opens 0 1000 /etc/passwd </dev/null >/dev/null
	tfs-report -D x.dat >got
	[ "$(grep -c ': close(-1) = -1 EBADF' got)" = 1000 ]
	# arguments that are printed at the return, since the entry was not seen
	[ "$(tfs-report x.dat | grep -c 'bpf_trace_printk: [^ ]* r[03] ')" = 0 ]
}

@test "tfs-report: -D: no call is denied whose entry another CPU may have lost" {
	need_tool python3
	by_hand <<-'EOF'
		cpu 0
		1 42 enter read 3 0x1000 10
		2 42 exit read 5
		lost 3
		9 43 enter close 3
		10 43 exit close 0
		cpu 1
		5 42 exit read -11
		11 42 enter close 3
		12 42 exit close 0
		13 42 exit read -13
	EOF
	decodes <<-'EOF'
		01: read(3, 0x1000, 10) = 5 <0.000001>
		05: <... read resumed>) = -1 EAGAIN
		09: close(3) = 0 <0.000001>
		11: close(3) = 0 <0.000001>
		13: read(...) = -1 EACCES (denied)
	EOF
}

@test "tfs-report: -D: exec of a thread, signals and restarted calls" {
	need_tool python3
	by_hand <<-'EOF'
		9 42 enter rt_sigreturn
		10 42 raw-exit -1 5
		13 44 enter execve 0x7 0x8 0
		14 43 exec 44
		15 43 user tfs_1a a0 /bin/ls
		15 43 user tfs_1a s1
		15 43 user tfs_1a a1 ls
		15 43 user tfs_1a s1
		15 43 user tfs_1a a1 -l
		16 43 exit execve 0
		17 43 enter nanosleep 0x7 0
		18 43 exit nanosleep -516
		19 43 enter restart_syscall
		20 43 exit restart_syscall 0
	EOF
	decodes <<-'EOF'
		09: rt_sigreturn() = ?
		13: execve("/bin/ls", ["ls", "-l"], NULL) = 0 <0.000003>
		17: nanosleep(0x7, NULL) = ? ERESTART_RESTARTBLOCK <0.000001>
		19: restart_syscall() = 0 <0.000001>
	EOF
}

@test "tfs-report: -D: calls of 32-bit code have the names of their own table at a fork, an exec and a loss" {
	need_tool python3
	by_hand <<-'EOF'
		1 42 user tfs_1a r0 0x0 0x0 0x0
		2 42 user tfs_1a k
		3 42 raw-exit 2 0
		4 42 user tfs_1a K
		4 42 user tfs_1a A0 /bin/64
		5 42 raw-enter 11 0x7 0 0
		6 42 raw-exit 59 0
		7 42 raw-enter 3 5
		8 42 raw-exit 3 0
		9 42 user tfs_1a K
		10 42 raw-enter 20
		11 42 user tfs_1a k
		12 42 raw-exit 20 42
		lost 3
		13 42 raw-exit 20 42
		lost 2
		14 42 user tfs_1a k
		15 42 raw-exit 20 42
		16 42 user tfs_1a K
		lost 4
		17 42 raw-enter 20
		18 42 user tfs_1a k
		19 42 raw-exit 20 42
		20 42 raw-enter 3 5
		21 42 raw-exit 3 0
	EOF
	decodes <<-'EOF'
		03: <... fork resumed>) = 0
		05: execve("/bin/64", NULL, NULL) = 0 <0.000001>
		07: close(5) = 0 <0.000001>
		10: getpid() = 42 <0.000002>
		13: <... getpid resumed>) = 42
		15: <... getpid resumed>) = 42
		17: getpid() = 42 <0.000002>
		20: close(5) = 0 <0.000001>
	EOF
}

@test "tfs-report: -D: a call that seccomp traps has no result: its register is put back, by the machine" {
	need_tool python3
	# the result is the number, or the first argument, which is AT_FDCWD here, or 1
	trapped() {
		by_hand little 8 "$1" <<-EOF
			1 42 raw-enter $2 5
			2 42 raw-exit $2 0
			3 42 user tfs_1a r0 ffffffffffffff9c 7000 1c9
			4 42 user tfs_1a r3 0 0 0
			5 42 raw-exit $3 $3
			6 42 user tfs_1a r0 ffffffffffffff9c 7000 1c9
			7 42 user tfs_1a r3 0 0 0
			8 42 raw-exit $3 -100
			9 42 user tfs_1a r0 1 0 1
			10 42 user tfs_1a r3 0 0 0
			11 42 raw-exit $4 1
		EOF
	}
	trapped aarch64 57 34 64
	decodes <<-'EOF'
		01: close(5) = 0 <0.000001>
		05: mkdirat(AT_FDCWD, 0x7000, 0711) = 34 (emulated)
		08: mkdirat(AT_FDCWD, 0x7000, 0711) = ? (denied)
		11: write(1, NULL, 1) = ? (denied)
	EOF
	decodes --failed <<-'EOF'
		08: mkdirat(AT_FDCWD, 0x7000, 0711) = ? (denied)
		11: write(1, NULL, 1) = ? (denied)
	EOF
	decodes --errno=ENETDOWN </dev/null
	trapped x86_64 3 258 1
	decodes <<-'EOF'
		01: close(5) = 0 <0.000001>
		05: mkdirat(AT_FDCWD, 0x7000, 0711) = ? (denied)
		08: mkdirat(AT_FDCWD, 0x7000, 0711) = -1 ENETDOWN (denied)
		11: write(1, NULL, 1) = ? (denied)
	EOF
}

@test "tfs-report: -D: memory of 32-bit calls, which have no events, is printed with no other call" {
	need_tool python3
	by_hand <<-'EOF'
		1 43 user tfs_1a a1 /forged
		2 43 enter openat -100 0x7000 0 0
		3 43 user tfs_1a a1 /own
		4 43 exit openat 3
		5 43 user tfs_1a K
		5 43 user tfs_1a A1 /forged
		6 43 enter openat -100 0x7000 0 0
		7 43 exit openat 3
		8 43 enter execve 0x7 0x8 0
		9 43 user tfs_1a k
		9 43 user tfs_1a a0 /bin/32
		9 43 user tfs_1a s1
		9 43 user tfs_1a a1 word
		10 43 user tfs_1a K
		10 43 user tfs_1a A0 /forged
		11 43 user tfs_1a K
		11 43 user tfs_1a A1 /forged
		12 43 end
	EOF
	decodes <<-'EOF'
		02: openat(AT_FDCWD, "/own", O_RDONLY) = 3 <0.000002>
		06: openat(AT_FDCWD, 0x7000, O_RDONLY) = 3 <0.000001>
		08: execve("/bin/32", ["word"], NULL <unfinished ...>
	EOF
}

@test "tfs-report: -D: --abi decodes 32-bit calls of raw_syscalls by their own table" {
	need_tool python3
	by_hand <<-'EOF'
		32 43 raw-enter 5 0x7000 0x80000 0
		33 43 user tfs_1a k
		33 43 user tfs_1a a0 /etc/passwd
		34 43 raw-exit 5 3
	EOF
	decodes --abi=i386 <<-'EOF'
		32: open("/etc/passwd", O_RDONLY|O_CLOEXEC) = 3 <0.000002>
	EOF
	tfs-report -D -j --abi=i386 --path='/etc/*' file | grep -q '"event":"sys_exit_open",.*"text":"\\"/etc/passwd\\""'
}

@test "tfs-report: -D: calls that the tables do not know, calls of 32-bit code, and the kernel's own strings" {
	need_tool python3
	by_hand <<-'EOF'
		21 43 raw-enter 1 1 0x7 3
		22 43 user tfs_1a c1 ab
		23 43 raw-exit 1 3
		24 43 raw-enter 9999 1 2
		25 43 raw-exit 9999 -38
		26 43 enter nosuch 1 2
		27 43 exit nosuch -1
		28 43 enter openat -100 0x7000 0 0 filename:/proc/self...
		29 43 exit openat 5
		30 43 enter openat -100 0x7000 0 0 filename:(fault)
		31 43 exit openat -14
		32 43 raw-enter 5 0x7000 0 0
		33 43 user tfs_1a k
		33 43 user tfs_1a a0 /etc/passwd
		34 43 raw-exit 5 3
		35 43 enter openat -100 0x7000 0 0 filename:
		36 43 exit openat -2
	EOF
	decodes <<-'EOF'
		21: write(1, "ab"..., 3) = 3 <0.000002>
		24: syscall_0x270f(0x1, 0x2, 0x0, 0x0, 0x0, 0x0) = -1 ENOSYS <0.000001>
		26: nosuch(0x1, 0x2) = -1 EPERM <0.000001>
		28: openat(AT_FDCWD, "/proc/self"..., O_RDONLY) = 5 <0.000001>
		30: openat(AT_FDCWD, 0x7000, O_RDONLY) = -1 EFAULT <0.000001>
		32: open("/etc/passwd", O_RDONLY, 000) = 3 <0.000002>
		35: openat(AT_FDCWD, 0x7000, O_RDONLY) = -1 ENOENT <0.000001>
	EOF
}

@test "tfs-report: -D: prints only calls by their result, time, descriptor or path" {
	need_tool python3
	some_calls | by_hand
	decodes --failed <<<'02: openat(AT_FDCWD, "/etc/\"x\\y", O_RDONLY|O_CLOEXEC) = -1 ENOENT <0.000003>'
	decodes --errno=EACCES </dev/null
	decodes --errno=EACCES,ENOENT <<<'02: openat(AT_FDCWD, "/etc/\"x\\y", O_RDONLY|O_CLOEXEC) = -1 ENOENT <0.000003>'
	decodes --slower=3 <<<'02: openat(AT_FDCWD, "/etc/\"x\\y", O_RDONLY|O_CLOEXEC) = -1 ENOENT <0.000003>'
	decodes --slower=4 </dev/null
	decodes --path='*x*' <<<'02: openat(AT_FDCWD, "/etc/\"x\\y", O_RDONLY|O_CLOEXEC) = -1 ENOENT <0.000003>'
	decodes --fd=3 <<-'EOF'
		06: read(3, "hello", 10) = 5 <0.000002>
		09: close(3) = 0 <0.000002>
	EOF
	decodes --id=tfs_1 --fd=3 --failed </dev/null
	decodes --id=other --path='*' </dev/null
}

@test "tfs-report: -D -j: prints the number and the text of each argument and the result" {
	need_tool python3
	some_calls | by_hand
	tfs-report -D -j -e 'sys_*' file >out
	sed -n 's/.*"event":/"event":/p' out | diff - /dev/fd/3 3<<-'EOF'
		"event":"sys_exit_openat","fields":{"ret":-2,"error":"ENOENT","lat":3.000,"args":[{"name":"dfd","value":-100,"text":"AT_FDCWD"},{"name":"filename","value":"0x7000","text":"\"/etc/\\\"x\\\\y\""},{"name":"flags","value":524288,"text":"O_RDONLY|O_CLOEXEC"}]}}
		"event":"sys_exit_read","fields":{"ret":5,"lat":2.000,"args":[{"name":"fd","value":3,"text":"3"},{"name":"buf","value":"0x1000","text":"\"hello\""},{"name":"count","value":10,"text":"10"}]}}
		"event":"sys_exit_close","fields":{"ret":0,"lat":2.000,"args":[{"name":"fd","value":3,"text":"3"}]}}
		"event":"sys_exit_exit_group","fields":{"unfinished":true,"args":[{"name":"error_code","value":0,"text":"0"}]}}
	EOF
	tfs-count -k call -k ret -k lat <out | grep -qx $'      1 openat\t-2\t3.000'
}

@test "tfs-report: -D: a hostile program makes no line, no other field, and no endless line" {
	need_tool python3
	{
		printf '1 42 enter openat -100 0x7000 0 0\n2 42 user tfs_1a b1 a\t\33[1m\377\\n\n'
		for ((i = 0; i < 40; i++)); do
			printf '3 42 user tfs_1a b1 %s\n' "$(printf '%200s' '' | tr ' ' '\1')"
		done
		echo '4 42 exit openat -36'
		echo '5 42 enter openat -100 0x7000 0 0'
		echo '6 42 user tfs_1a a1 x) = 3 <0.000001>'
		echo '7 42 exit openat -2'
	} | by_hand
	tfs-report -D file >out
	file_has 2 out
	[ "$(wc -c <out)" -lt 9000 ]
	LC_ALL=C grep -q '[^ -~]' <(LC_ALL=C tr -d '\n\377' <out) && { cat -v out; false; }
	tail -n 1 out | tfs-count -k ret -k error | grep -qx $'      1 -1\tENOENT'
	tfs-report -Dj file | python3 -c 'import json, sys; [json.loads(l) for l in sys.stdin]'
}

@test "tfs-report: -D: 70000 tasks in calls give a line each, in bounded memory" {
	need_tool python3
	{
		for ((i = 1; i <= 70000; i++)); do
			echo "1 $i enter read $i 0x1000 10"
		done
		echo "3 70000 exit read 10"
	} | by_hand
	tfs-report -D file >out
	[ "$(grep -c 'unfinished\|<0.00000' out)" = 70000 ]
	grep -q '70000 .*read(70000, 0x1000, 10) = 10' out
	run -1 grep resumed out
}

@test "tfs-report: refuses wrong values of options of -D, and options that contradict -D" {
	for word in '' ENOSUCH 'ENOENT,' enoent; do
		run -100 tfs-report -D --errno "$word" file
		[[ $output == "tfs-report: fatal: --errno: '$word' is not a list of names of errors, such as ENOENT; "* ]]
	done
	for word in -1 x ''; do
		run -100 tfs-report -D --fd "$word" file
		[[ $output == "tfs-report: fatal: --fd: '$word' is not a number from 0 to 2147483647; "* ]]
	done
	run -100 tfs-report -D --slower=x file
	[[ $output == "tfs-report: fatal: --slower: 'x' is not a time such as 500 (microseconds), "* ]]
	run -100 tfs-report -D --path
	[[ $output == "tfs-report: fatal: option --path needs a value; "* ]]
	run -100 tfs-report --failed file
	[[ $output == "tfs-report: fatal: --failed is for -D; "* ]]
	run -100 tfs-report -D -P syscalls file
	[[ $output == "tfs-report: fatal: -D and -P cannot be combined; leave one out; "* ]]
}

# opens OPTION...: Trace a program that opens "there" three times and a missing file twice.
opens() {
	need_tracefs events/syscalls
	: >there
	echo | tfs-run trace_syscalls --instance "$MARK" -s openat "$@" -- \
		"$PROG/acts" opens 3 2 "$PWD/there" 2>err | sed -n 's/^.*[0-9]: //p' |
		sed 's/ <[0-9.]*>$//; s/ = [0-9]*$/ = FD/' >out
}

strings_work() {
	tfs-run trace_syscalls --instance "$MARK" -s openat --decode -- true >works
	[ "$(head -c 13 works)" != '# strings are' ] ||
		skip "needs strings of system calls ($(head -n 1 works))"
}

# bats test_tags=quick
@test "trace_syscalls: --decode and its filters print known calls with their paths" {
	strings_work
	opens --decode
	tail -n 5 out | diff - /dev/fd/3 3<<-EOF
		openat(AT_FDCWD, "$PWD/there", O_RDONLY) = FD
		openat(AT_FDCWD, "$PWD/there", O_RDONLY) = FD
		openat(AT_FDCWD, "$PWD/there", O_RDONLY) = FD
		openat(AT_FDCWD, "/nowhere/at all", O_RDONLY) = -1 ENOENT
		openat(AT_FDCWD, "/nowhere/at all", O_RDONLY) = -1 ENOENT
	EOF
	opens --path '*/there'
	[ "$(grep -cx "openat(AT_FDCWD, \"$PWD/there\", O_RDONLY) = FD" out)" = 3 ]
	file_has 3 out
	opens --errno ENOENT,EACCES --path '/nowhere*'
	[ "$(grep -cx 'openat(AT_FDCWD, "/nowhere/at all", O_RDONLY) = -1 ENOENT' out)" = 2 ]
	file_has 2 out
}

@test "trace_syscalls: --names knows what PROG has open, and follows what it opens" {
	strings_work
	: >there
	for _ in 1 2 3; do
		(cd / && echo | tfs-run trace_syscalls --instance "$MARK" --names -o "$OLDPWD/names" -- \
			"$PROG/acts" opens 1 1 "$OLDPWD/there" >said 2>&1) 2>/dev/null || :
		sed -i 's/^.*[0-9]: //; s/ <[0-9.]*>$//' names
		there="[0-9]*<$PWD/there>"
		[ "$(grep -c "^openat(AT_FDCWD</>, \"$PWD/there\", O_RDONLY) = $there$" names)" = 1 ]
		[ "$(grep -c "^close($there) = 0$" names)" = 1 ]
		grep -q '^read(0<pipe:\[[0-9]*\]>, ' names
	done
	[ "$(head -n 1 names)" = '# files of 1 tasks are known' ]
}

@test "trace_syscalls: --no-data records no byte of the program's memory" {
	opens --decode --no-data
	[ "$(grep -c 'openat(AT_FDCWD, 0x[0-9a-f]*, O_RDONLY) = ' out)" = 5 ]
	tfs-run trace_syscalls --instance "$MARK" --decode --no-data -o x.dat -- \
		"$PROG/acts" opens 3 2 "$PWD/there" <<<go 2>err
	[ "$(tfs-report x.dat | grep -c "sys_openat(")" -ge 5 ]
	run -1 grep -c 'nowhere/at' x.dat
}

@test "trace_syscalls: a trace.dat of --decode is decoded with its strings" {
	strings_work
	tfs-run trace_syscalls --instance "$MARK" --decode -o x.dat -- \
		"$PROG/acts" opens 1 2 /dev/null <<<go 2>err
	tfs-report -D -e 'sys_*' --failed --path='/nowhere*' x.dat | sed -n 's/^.*[0-9]: //p' >out
	[ "$(grep -c '^openat(AT_FDCWD, "/nowhere/at all", O_RDONLY) = -1 ENOENT <' out)" = 2 ]
	file_has 2 out
}

@test "tfs-run: --human decodes system calls; --raw and a pipe get the kernel's text" {
	need_tracefs events/syscalls
	echo | tfs-run trace_syscalls --instance "$MARK" -s openat --human -- \
		"$PROG/acts" opens 0 2 x 2>err >out
	[ "$(grep -c ' openat(AT_FDCWD, .*, O_RDONLY) = -1 ENOENT (No such file or directory) <' out)" = 2 ]
	echo | tfs-run trace_syscalls --instance "$MARK" -s openat --human --raw -- \
		"$PROG/acts" opens 0 2 x 2>err >out
	cat out err # for a test that fails
	[ "$(grep -c ' openat(dfd: AT_FDCWD, ' out)" -ge 2 ]
	run -1 grep -F ') = ' out
}

@test "tfs-report: --names, paths: prints what the calls before tell of descriptors" {
	need_tool python3
	by_hand <<-'EOF'
		1 42 enter openat -100 0x7000 0 0
		2 42 user tfs_1a a1 /etc//passwd
		3 42 exit openat 3
		4 42 enter read 3 0x1000 10
		5 42 exit read 10
		6 42 enter close 3
		7 42 exit close 0
		8 42 enter read 3 0x1000 10
		9 42 exit read -9
	EOF
	decodes --names <<-'EOF'
		01: openat(AT_FDCWD, "/etc//passwd", O_RDONLY) = 3</etc/passwd> <0.000002>
		04: read(3</etc/passwd>, 0x1000, 10) = 10 <0.000001>
		06: close(3</etc/passwd>) = 0 <0.000001>
		08: read(3, 0x1000, 10) = -1 EBADF <0.000001>
	EOF
	decodes --paths --path='*passwd' <<-'EOF'
		01: openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3 <0.000002>
	EOF
}

@test "decode: prints what pointers in structures point to, and the files of a control message" {
	need_tracefs events/raw_syscalls
	need_tool python3
	[ "$(printf '%s\n' 6.9 "$(uname -r)" | sort -V | head -n 1)" = 6.9 ] || skip "needs Linux 6.9"
	tfs-run -o trace trace_syscalls --decode --data 32 -- python3 -c '
import array, os, socket
os.writev(1, [b"ab", b"a buffer of more than eight bytes"])
a, b = socket.socketpair()
a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1]))])' >/dev/null
	grep -Fq 'writev(1, [{iov_base="ab", iov_len=2}, {iov_base="a buffer of more than eight byte"..., iov_len=33}], 2) = 35' trace
	grep -Fq 'msg_iov=[{iov_base="x", iov_len=1}], msg_iovlen=1, msg_control=[{cmsg_len=24, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[0, 1]}]' trace
}

@test "decode: prints the messages of netlink sockets that were opened before the session" {
	need_tracefs events/raw_syscalls
	need_tool python3
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs BTF of the kernel (CONFIG_DEBUG_INFO_BTF)"
	strings_work
	hold python3 -c '
import socket, struct
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
u = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 4)
a, b = socket.socketpair()
print("ready", flush=True)
input()
m = struct.pack("=IHHIIBxHiII", 32, 18, 0x301, 5, 0, 0, 0, 0, 0, 0)
s.send(m)
s.recv(32)
u.send(m)
a.send(m)'
	watch trace_syscalls --decode -s sendto recvfrom --data 32 --pid "$HELD"
	release
	finishes "$HELD" 0
	watch_end
	link='nlmsg_type=RTM_GETLINK, nlmsg_flags=NLM_F_REQUEST|NLM_F_DUMP, nlmsg_seq=5, nlmsg_pid=0}'
	cat got # for a test that fails
	[ "$(grep -Fc "sendto(3, [{nlmsg_len=32, $link, {ifi_family=AF_UNSPEC, " got)" = 1 ]
	[ "$(grep -c 'recvfrom(3, \[{nlmsg_len=[0-9]*, nlmsg_type=RTM_NEWLINK, ' got)" = 1 ]
	[ "$(grep -c 'sendto([0-9], \[{nlmsg_len=32, nlmsg_type=TCPDIAG_GETSOCK, ' got)" = 1 ]
	[ "$(grep -c 'sendto([0-9], " \\0' got)" = 1 ]
}

@test "decode: prints a message of a netlink socket beyond the bytes of --data, and no other text" {
	need_tracefs events/raw_syscalls
	need_tool python3
	strings_work
	tfs-run -o trace trace_syscalls --decode --data 16 -- python3 -c '
import os, socket, struct
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
name = struct.pack("=HH3sx", 7, 3, b"lo")
mask = struct.pack("=HHI", 8, 29, 8)
link = struct.pack("=BxHiII", 0, 0, 1, 0, 0)
s.send(struct.pack("=IHHII", 48, 18, 1, 5, 0) + link + mask + name)
d = os.dup(s.fileno())
s.close()
os.write(d, struct.pack("=IHHII", 16, 18, 1, 6, 0))
a, b = socket.socketpair()
a.send(b"a text of more than sixteen bytes")' >/dev/null
	grep -Fq ', [{nlmsg_len=48, nlmsg_type=RTM_GETLINK, nlmsg_flags=NLM_F_REQUEST, nlmsg_seq=5, nlmsg_pid=0}, {ifi_family=AF_UNSPEC, ifi_type=ARPHRD_NETROM, ifi_index=if_nametoindex("lo"), ifi_flags=0, ifi_change=0}, [[{nla_len=8, nla_type=IFLA_EXT_MASK}, RTEXT_FILTER_SKIP_STATS], [{nla_len=7, nla_type=IFLA_IFNAME}, "lo"]]], 48, 0, NULL, 0) = 48' trace
	grep -Fq ', {nlmsg_len=16, nlmsg_type=RTM_GETLINK, nlmsg_flags=NLM_F_REQUEST, nlmsg_seq=6, nlmsg_pid=0}, 16) = 16' trace
	grep -Fq ', "a text of more t"..., 33, 0, NULL, 0) = 33' trace
}

@test "decode: each call has the name that its task has then, which an exec changes" {
	need_tracefs events/syscalls
	for options in '-s getppid' '--names' ''; do
		# shellcheck disable=SC2086,SC2016 # words; sh expands it
		tfs-run trace_syscalls $options --decode --instance "$MARK" -- \
			sh -c '"$0" 5 </dev/null; true' "$PROG/calls" >trace 2>err
		[ "$(grep -c '^ *calls-[0-9].*: getppid() = ' trace)" = 5 ]
	done
}

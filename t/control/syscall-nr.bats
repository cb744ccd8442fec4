#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# syscall-nr: prints the numbers of system calls

load ../helper


@test "syscall-nr: prints the numbers, one per line, in the given order" {
	run -0 --separate-stderr syscall-nr write read write
	[ -z "$stderr" ]
	[ "${#lines[@]}" = 3 ]
	[ "${lines[0]}" = "${lines[2]}" ]
	[ "${lines[0]}" != "${lines[1]}" ]
	for number in "${lines[@]}"; do [[ $number =~ ^[0-9]+$ ]]; done
}

@test "syscall-nr: the numbers equal those of the machine's headers" {
	need_tool "${CC:-cc}"
	printf '#include <sys/syscall.h>\nopenat SYS_openat\ngetppid SYS_getppid\nexecve SYS_execve\nsetns SYS_setns\n' >calls.c
	"${CC:-cc}" -E -P calls.c 2>/dev/null | grep -E '^(openat|getppid|execve|setns) [0-9]+$' >expected ||
		skip "needs sys/syscall.h with plain numbers"
	file_has 4 expected
	while read -r name number; do
		outputs 0 "$number" syscall-nr "$name"
	done <expected
}

@test "syscall-nr: without a name it lists all calls, number and name" {
	syscall-nr >all
	[ "$(wc -l <all)" -gt 200 ]
	run ! grep -qvE '^[0-9]+ [a-z0-9_]+$' all
	[ "$(sort all | uniq -d)" = '' ]
	while read -r number name; do
		echo "$number"
	done <all >numbers
	# shellcheck disable=SC2046 # a word a name
	syscall-nr $(cut -d ' ' -f 2 all) | cmp - numbers
}

@test "syscall-nr: accepts a call by the name of its kernel function" {
	syscall-nr >all
	for name in stat uname fstat; do
		grep -q " $name$" all || continue
		[ "$(syscall-nr new$name)" = "$(syscall-nr $name)" ]
		found=1
	done
	[ "${found-}" = 1 ]
}

@test "syscall-nr: accepts the names that other ABIs, strace and the C library have for a call" {
	case $(uname -m) in
	*64* | s390x) ;;
	*) skip "needs 64 bits: with 32, some of the names are other calls" ;;
	esac
	while read -r call names; do
		syscall-nr "$call" >want 2>&1 || continue # not of this architecture
		for name in $names; do
			syscall-nr "$name" | cmp - want
		done
	done <<-'END'
		umount2 umount
		sendfile sendfile64
		uname newuname
		stat newstat stat64
		fstat newfstat fstat64
		lstat newlstat lstat64
		newfstatat fstatat fstatat64
		pread64 pread
		pwrite64 pwrite
		lseek _llseek llseek lseek64
		select _newselect old_select
		pselect6 pselect pselect6_time64
		clock_gettime clock_gettime64
		futex futex_time64
		getuid getuid32
		getrlimit ugetrlimit
		prlimit64 prlimit
		fadvise64 fadvise64_64 arm_fadvise64_64 posix_fadvise
		sync_file_range sync_file_range2 arm_sync_file_range
		mmap mmap2 mmap64
		wait4 waitpid wait3
		rt_sigaction sigaction
		recvfrom recv
	END
	[ -s want ]
}

@test "syscall-nr: cuts a name of 100000 bytes in the message" {
	run -1 --separate-stderr syscall-nr "$(printf '%0100000d' 0)"
	[ -z "$output" ]
	[ "$stderr" = "syscall-nr: fatal: no system call '$(printf '%080d' 0)' here; syscall-nr lists them" ]
}

# bats test_tags=quick
@test "syscall-nr: kernel: the number equals that of the event's field" {
	new_instance
	[ -e "$DIR/events/raw_syscalls" ] || lacks events/raw_syscalls
	calls 7
	tfs-pidfilter -i "$INSTANCE" set "$CALLS"
	tfs-write -i "$INSTANCE" events/raw_syscalls/sys_enter/enable 1
	release "$CALLS"
	[ "$(grep -c "sys_enter: NR $(syscall-nr getppid) " "$DIR/trace")" = 7 ]
}

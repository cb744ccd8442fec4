#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2028,SC2030,SC2031,SC2154 # text of C; each test is a process; run sets stderr
# the tables of system calls: data, compiler of the data
# parts: 3

load ../helper
load ../constants

DATA=$TREE/lib/calls/data

# host_abi: print the name of this machine's ABI in the tables
host_abi() {
	case $(uname -m) in
	armv*) echo arm ;;
	i?86) echo i386 ;;
	*) uname -m ;;
	esac
}

# numbers_agree ABI [OPTION...]: Compare the numbers of calls with the headers that cc finds.
numbers_agree() {
	local abi=$1
	shift
	echo '#include <asm/unistd.h>' | cc "$@" -E -dM -x c - |
		sed -nE 's/^#define __NR_([a-z0-9_]*) (\(__NR_SYSCALL_BASE \+ )?([0-9]+)\)?$/\1 \3/p' |
		grep -v '^syscalls ' | sort >wanted
	awk -v abi="$abi" '/^# name/ { for (i = 3; i <= NF; i++) if ($i == abi) n = i - 1 }
		!/^#/ && $n != "-" { print $1, $n }' "$DATA/numbers.in" | sort >got
	join -v 1 -j 1 wanted got >missing
	[ ! -s missing ] || { cat missing; false; }
	join wanted got | awk '$2 != $3' >other
	[ ! -s other ] || { cat other; false; }
	file_has 250+ wanted
}

@test "calls: each number is that of this machine's headers" {
	need_tool cc
	numbers_agree "$(host_abi)"
}

# assertions: Write SET.c for each file of sets but that of ioctl: a C program that includes the
# headers that the comment of the set names, as far as they are there, and has an assertion in a
# line for each constant of this ABI.
assertions() {
	awk -v abi="$(host_abi)" '
		FNR == 1 {
			if (out != "")
				close(out)
			out = FILENAME
			sub(/.*\//, "", out)
			sub(/\.in$/, ".c", out)
			parts = 0
		}
		/^(parts|texts)/ { parts = 1 }
		parts { next } # of a number: it has no constants
		/^#/ {
			for (i = 2; i <= NF; i++) {
				sub(/[,:]$/, "", $i)
				if ($i ~ /\.h$/)
					printf "#if __has_include(<%s>)\n#include <%s>\n#endif\n", $i, $i >out
			}
			next
		}
		/^(flags|enum)/ || !NF { next }
		{
			value = $2
			for (i = 3; i <= NF; i++) {
				split($i, part, "=")
				if (index("," part[1] ",", "," abi ","))
					value = part[2]
			}
			# a sum of names is the part of a number, and a name with spaces no constant
			if (value != "-" && $1 !~ /<<|~/)
				printf "_Static_assert((unsigned)(%s) == (unsigned)(%s), \"DIFFERS\");\n", $1, value >out
		}' "$@"
}

# constants_agree: Compare the constants with the headers that cc finds.
constants_agree() {
	assertions "$DATA"/sets/*.in
	rm ioctl.c
	compare ./*.c
	[ ! -s differs ] || { cat differs; false; }
}

@test "calls: constants that this machine's headers have are those of the headers" {
	need_tool cc
	constants_agree
	# each set has a header, and older headers have fewer constants; four headers are the kernel's own
	rm key_perm.c suid_dump.c ifindex.c genl.c
	printf '%s\n' ./*.c | grep -vxFf <(cut -d ' ' -f 1 known) | grep -vxE './landlock_(net|scope).c' |
		grep -vxFf <(grep -L _Static_assert ./*.c) >without || :
	[ ! -s without ] || { cat without; false; }
	file_has 1200+ known
}

@test "calls: numbers of ioctl that this machine's headers have are those of the headers" {
	need_tool cc
	dir=$(dirname "$(echo '#include <linux/ioctl.h>' | cc -E -x c - | sed -n 's/^# [0-9]* "\(\/.*\/linux\/ioctl.h\)".*/\1/p' | head -n 1)")
	[ -d "$dir" ] || skip "needs the headers of Linux"
	assertions "$DATA/sets/ioctl.in"
	awk '!/^#/ && NF == 2 || /^[A-Z_0-9]+ / { print $1 }' "$DATA/sets/ioctl.in" | grep -v '^enum' |
		sort -u >names
	# a program for each header, with the assertions of the names in it
	grep -owHFf names "$dir"/*.h "$dir"/../{asm-generic,sound,mtd,misc,scsi,video,rdma}/*.h |
		sort -u >mentioned
	awk 'FILENAME == "ioctl.c" {
			if (/^_Static_assert/) {
				split($1, part, /[()]+/)
				assertion[part[3]] = $0
			}
			next
		}
		{
			split($0, part, ":")
			if (part[1] != last) {
				out = "h" ++n ".c"
				last = part[1]
				printf "#include <%s>\n", "sys/types.h" >out
				printf "#include <%s>\n", "stdint.h" >out
				printf "#include <%s>\n", "time.h" >out
				printf "#include <%s>\n", "sys/socket.h" >out
				printf "#include <%s>\n", "sys/ioctl.h" >out
				printf "#include <%s>\n", last >out
			}
			if (part[2] in assertion)
				print assertion[part[2]] >out
		}' ioctl.c mentioned
	compare h*.c
	[ ! -s differs ] || { cat differs; false; }
	[ "$(cut -d ' ' -f 2 known | sort -u | wc -l)" -ge 1100 ]
}

# bats test_tags=long
@test "calls: numbers of all ABIs, and constants, are those of the newest Linux" {
	need_tool cc
	local root arch abi mode
	root=$(TFS_VM_CACHE=$PWD/cache "$TREE/t/vm/fetch" sid amd64 linux-libc-dev) ||
		skip "needs a mirror of Debian"
	echo "# of Linux $(awk '/VERSION_(MAJOR|PATCHLEVEL)/ { print $3 }' "$root/usr/include/linux/version.h" |
		paste -sd .)" >&3
	while read -r arch abi mode; do
		numbers_agree "$abi" "$mode" -nostdinc -I "$root/usr/include/$arch" -I "$root/usr/include"
	done <<-'END'
		x86_64-linux-gnu x86_64 -U__i386__
		i386-linux-gnu i386 -D__i386__
		aarch64-linux-gnu aarch64 -D__aarch64__
		arm-linux-gnueabihf arm -D__ARM_EABI__
		s390x-linux-gnu s390x -D__s390x__
		riscv64-linux-gnu riscv64 -D__riscv
		powerpc64le-linux-gnu ppc64le -D__powerpc64__
	END
	[ "$(host_abi)" = x86_64 ] || skip "needs an x86_64 for the constants"
	export CPATH=$root/usr/include:$root/usr/include/x86_64-linux-gnu
	constants_agree
	file_has 1500+ known
}

@test "calls: each call has as many arguments as this kernel's format of it" {
	need_tracefs events/syscalls
	# the kernel's text has all arguments after the fields of each event and the number
	awk -v abi="$(host_abi)" '
		FNR == 1 {
			name = FILENAME
			gsub(/.*\/sys_enter_|\/format$/, "", name)
			# names of the kernel that no program uses
			if (name ~ /^new(stat|fstat|lstat|uname)$/)
				sub(/^new/, "", name)
			else if (name == "sendfile64" && abi != "i386" && abi != "arm")
				name = "sendfile"
			else if (name == "umount")
				name = "umount2"
			fields[name] = 0
		}
		$1 ~ /^field:/ && !/ common_| __syscall_nr;/ && !/__data_loc/ { fields[name]++ }
		END { for (name in fields) print name, fields[name] }' \
		"$TRACEFS"/events/syscalls/sys_enter_*/format | sort >kernel
	awk -v abi="$(host_abi)" '/^#/ || /^\?/ || !NF { next } {
		n = 0 # without the registers that are half of a 64-bit argument
		for (i = 2; i <= NF && $i != "="; i++)
			n += $i != "pad:none"
		name = $1
		if (!sub(/@.*/, "", name)) {
			if (!(name in special))
				count[name] = n
		} else if (index("," substr($1, length(name) + 2) ",", "," abi ",")) {
			count[name] = n
			special[name] = 1
		}
	} END { for (name in count) print name, count[name] }' "$DATA/calls.in" | sort >tables
	# a call that is newer than the tables, or another name
	cut -d ' ' -f 1 kernel | grep -vxFf <(cut -d ' ' -f 1 tables) >new || :
	[ ! -s new ] || { cat new; false; }
	awk 'NR == FNR { kernel[$1] = $2; next } $1 in kernel { print $0, kernel[$1] }' kernel tables >both
	# Linux 7 has two more arguments of bpf, which are 0 in programs that do not know them
	awk '$2 != $3 && $0 != "bpf 3 5"' both >other
	[ ! -s other ] || { cat other; false; }
	file_has 250+ both
}

@test "calls: the sizes and offsets of structures are those of this machine's headers" {
	need_tool cc
	need_tool awk
	"$PROG/unit/calls" sizes >got
	{
		printf '#include <%s>\n' sys/stat.h linux/stat.h sys/resource.h sys/socket.h sys/uio.h poll.h \
			sys/epoll.h sys/utsname.h time.h sys/time.h signal.h fcntl.h stdio.h sys/times.h \
			sys/sysinfo.h sched.h utime.h sys/timerfd.h linux/openat2.h
		echo 'int main(void) {'
		while read -r call name; do
			echo "printf(\"$call %d\\n\", (int)sizeof($name));"
		done <<-'END'
		fstat struct stat
		statx struct statx
		prlimit64 struct rlimit64
		getrusage struct rusage
		sendmsg struct msghdr
		writev struct iovec
		poll struct pollfd
		epoll_ctl struct epoll_event
		nanosleep struct timespec
		setitimer struct itimerval
		sigaltstack stack_t
		uname struct utsname
		times struct tms
		sendmmsg struct mmsghdr
		recvmmsg struct mmsghdr
		getitimer struct itimerval
		getrlimit struct rlimit
		setrlimit struct rlimit
		gettimeofday struct timeval
		utime struct utimbuf
		utimensat struct timespec[2]
		utimes struct timeval[2]
		sysinfo struct sysinfo
		sched_setparam struct sched_param
		sched_rr_get_interval struct timespec
		timer_settime struct itimerspec
		timerfd_settime struct itimerspec
		clock_gettime struct timespec
		epoll_wait struct epoll_event
		epoll_pwait struct epoll_event
		process_vm_readv struct iovec
		vmsplice struct iovec
		ppoll struct pollfd
		wait4 int
		pipe2 int[2]
		openat2 struct open_how
		END
		echo 'return 0; }'
	} | sed '/#include <linux.stat/d' >sizes.c
	cc -D_GNU_SOURCE -o sizes sizes.c
	./sizes | sort >wanted
	sort got | join wanted - | awk '$2 != $3' >other
	[ ! -s other ] || { cat other; false; }
	[ "$(sort got | join wanted - | wc -l)" -ge 30 ]
}

# compiled AWK DATA...: Compile the tables.
compiled() {
	local awk=$1
	shift
	LC_ALL=C $awk -v NAMES=names -f "${DATA%/data}/tables.awk" \
		"$DATA"/{types,pieces,numbers}.in "$@"
}

@test "calls: gawk, mawk and busybox awk compile the same tables" {
	local awk n=0
	for awk in gawk mawk "busybox awk"; do
		command -v "${awk%% *}" >/dev/null || continue
		compiled "$awk" "$DATA"/sets/*.in "$DATA"/{layouts,netlink,calls}.in |
			cmp - "$TREE/build/gen/syscalls_data.h"
		cmp names "$TREE/build/gen/syscalls_names.h"
		LC_ALL=C $awk -f "$TREE/lib/calls/roles.awk" "$TREE/lib/host/syscall_names.in" \
			"$DATA/calls.in" "$TREE/lib/calls/data/roles.in" |
			cmp - "$TREE/build/gen/roles_data.h"
		n=$((n + 1))
	done
	[ "$n" -ge 1 ] || skip "needs gawk, mawk or busybox"
}

@test "calls: mistakes in the data are refused with the file and the line" {
	need_tool awk
	mkdir sets
	printf 'flags\nA 1\nB zwei\n' >sets/x.in
	run -1 --separate-stderr compiled awk ./sets/x.in
	[ "$stderr" = "./sets/x.in:3: no number: zwei" ]
	sed 's/^close .*/close fd:nosuch = int/' "$DATA/calls.in" >calls.in
	run -1 --separate-stderr compiled awk "$DATA"/sets/*.in "$DATA"/layouts.in calls.in
	[ "$stderr" = "no set nosuch" ]
	rm sets/x.in
	cp "$DATA"/sets/*.in sets
	sed 's/^SEEK_SET/SEEK^SET/' "$DATA/sets/seek.in" >sets/seek.in
	run -1 --separate-stderr compiled awk ./sets/*.in "$DATA"/{layouts,netlink,calls}.in
	[ "$stderr" = '"^" is in no piece: make pieces' ]
}

# roles LINE...: Compile the lines, which follow the declarations of roles.in.
roles() {
	grep -E '^(classes|words|errors|does|fds) ' "$TREE/lib/calls/data/roles.in" >roles.in
	printf '%s\n' "$@" >>roles.in
	LC_ALL=C awk -f "$TREE/lib/calls/roles.awk" "$TREE/lib/host/syscall_names.in" "$DATA/calls.in" roles.in
}

@test "roles of calls: mistakes in the data are refused with the file and the line" {
	need_tool awk
	while IFS='|' read -r line why; do
		run -1 --separate-stderr roles 'dup desc fds=copy' "$line"
		[ "$stderr" = "roles.in:7: $why" ] || { echo "$line: $stderr"; false; }
	done <<-'END'
		dup desc|a second line for dup
		close disk|no such class: disk
		close desc closes|no such word: closes
		close desc sends=fd|no such word: sends
		close desc changed=file|no argument file
		stat file names=filename!flags|no argument flags
		stat file fails=ENOSUCH|no such error: ENOSUCH
		renameat file renamed=oldname,newname changed=olddfd|more than two files
	END
	roles 'dup desc fds=copy' 'close - fds=eventpoll' >out
	grep -q '"eventpoll"' out
}

# answered CLASS: Print the numbers of the calls that strace has in a class, of those that it knows.
answered() {
	strace -n -e trace="$1" "$PROG/everycall" 2>&1 >/dev/null |
		sed -n '/syscall_0x/d; s/^\[ *\([0-9]*\)\] .* = -1 ENOSYS .*/\1/p' | sort
}

# numbered WORD,...: Write the calls with one of these roles to calls, and their numbers to ours.
numbered() {
	syscall-nr | sort -k 2 >all
	syscall-nr -r "$1" | sort | join -1 2 -o 1.1,1.2 all - | sort >calls
	cut -d' ' -f1 calls >ours
}

@test "roles of calls: the classes are those of strace, and have five calls more" {
	need_tool strace
	answered all >known
	[ "$(wc -l <known)" -gt 250 ]
	for class in file desc network process memory signal ipc; do
		answered "%$class" >theirs
		numbered "$class"
		[ -s theirs ]
		# strace has no other
		[ -z "$(comm -13 ours theirs)" ]
		comm -23 ours theirs | comm -12 - known | join - calls | cut -d' ' -f2 >"more"
		run -1 grep -vxE 'mq_unlink|close_range|unshare|epoll_(ctl|wait)_old' more
	done
}

@test "roles of calls: what does something to files or descriptors is in strace's classes, and each call of these is decided" {
	need_tool strace
	local files=opened,written,resized,renamed,linked,removed,made,changed,synced,read
	local fds=path,copy,connection,socket,pipe,connected,closed,range,fcntl,ioctl,cwd
	answered all >known
	for class in file desc network creds; do
		answered "%$class"
	done | sort -u >theirs
	numbered $files,$fds,sets-uid
	comm -13 theirs ours | comm -12 - known | join - calls >other
	# of our own classes (above)
	run -1 grep -vE ' close_range$' other
	# what is left of strace's files only looks, or acts on more than files
	answered %file >theirs
	numbered $files,$fds
	comm -23 theirs ours | xargs -I{} grep -x '{} .*' all | cut -d' ' -f2 >left
	run -1 grep -vxE 'access|faccessat2?|stat|lstat|newfstatat|statx|statfs|readlink(at)?|(l|f)?getxattr(at)?|(l|f)?listxattr(at)?|file_getattr|name_to_handle_at|execve(at)?|acct|chroot|pivot_root|mount|umount2|uselib|swapo(n|ff)|quotactl|getcwd|(inotify_add_watch|fanotify_mark)|fspick|fsconfig|move_mount|mount_setattr' left
}

@test "roles of calls: a call names a link itself, or the file it leads to, as the kernel does" {
	mkdir links
	cd links
	# some do not look up a path by what they are given, and some change more than a file
	"$PROG/unit/roles" getcwd symlink.oldname symlinkat.oldname inotify_add_watch fanotify_mark \
		mount mount_setattr move_mount umount2 pivot_root acct swapon swapoff >../made
	[ "$(cat ../made)" -gt 50 ]
}

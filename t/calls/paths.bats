#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# decoded system calls: the files that descriptors and paths name, as /proc/PID/fd and the host have them

load ../helper
load ../hooks

# traced WHAT OPTION...: Trace the program paths; got has its calls after the times, without the flag
# that musl adds.
traced() {
	local what=$1
	shift
	need_tracefs events/syscalls
	tfs-run --check trace_open >verdict || skip "$(cat verdict)"
	DIR=$PWD/d
	mkdir "$DIR"
	tfs-run trace_syscalls --instance "$MARK" "$@" -o all -- "$PROG/paths" "$what" "$DIR"
	grep -q exit_group all
	sed 's/^.*[0-9]: //; s/ <[0-9.]*>$//; s/|O_LARGEFILE//' all >got
}


@test "trace_syscalls: --names follows links, .., /proc/self and links that are gone, and has the file of each read" {
	need_types
	traced dots --names
	[ "$(grep -c '^read(.*, 1) = 1$' got)" = 8 ]
	[ "$(grep -c '^read([0-9]*</etc/hostname>.*, 1) = 1$' got)" = 8 ]
}

@test "trace_syscalls: --names follows a rename and a removal" {
	need_types
	traced moved --names
	grep '^write(' got >writes
	[ "$(sed -n 's/^write([0-9]*<\([^>]*\)>.*/\1/p' writes)" = "$DIR/one
$DIR/two
$DIR/two (deleted)" ]
}

@test "trace_syscalls: --names has the file that a link led to which is gone" {
	need_types
	traced unknown --names
	[ "$(sed -n 's/^read([0-9]*<\([^>]*\)>.*, 1) = 1$/\1/p' got)" = /etc/hostname ]
}

# host_paths PREFIX: Check the calls of paths chroot: all files are below PREFIX.
host_paths() {
	local d=$1
	grep -E '^openat\(.*(sub|none)' got | sed 's/^openat(\(.*\), O_RDONLY) = \(.*\)/\1 \2/' |
		sed 's/AT_FDCWD//; s/ [0-9]*</ </' | diff - <(cat <<-EOF
			<$d/sub>, "$d/sub" <$d/sub>
			<$d/sub>, "$d/sub" <$d/sub>
			<$d/sub>, "$d/none" -1 ENOENT
		EOF
		)
}

@test "trace_syscalls: --host-paths in a chroot has the paths of the host, and --paths those of the chroot" {
	need_types
	need_host_root
	traced chroot --names --host-paths
	host_paths "$DIR"
	rm -r "$DIR"
	traced chroot --names --paths
	grep -q '^openat(AT_FDCWD</sub>, "/sub", O_RDONLY) = [0-9]*</sub>$' got
	grep -q '^openat(AT_FDCWD</sub>, "/sub", O_RDONLY) = [0-9]*</sub>$' got
	grep -q '^openat(AT_FDCWD</sub>, "/none", O_RDONLY) = -1 ENOENT$' got
}

@test "trace_syscalls: --host-paths knows a chroot from before the trace, also in a mount namespace" {
	need_types
	need_host_root
	need_tracefs events/syscalls
	need_mounts
	tfs-run --check trace_open >verdict || skip "$(cat verdict)"
	mkfifo go
	for how in env 'unshare -m'; do
		rm -rf d all
		mkdir d
		: >ready
		# shellcheck disable=SC2086 # one word each
		background $how "$PROG/paths" chrooted "$PWD/d" <>go >ready
		local pid=$PID
		eventually grep -q ready ready
		start_session trace_syscalls --output fifo --pid "$pid" --decode --names --host-paths
		read_by cat >all
		echo >go
		eventually grep -q none all
		echo >go
		finishes "$pid" 0
		watch_end
		sed 's/^.*[0-9]: //; s/ <[0-9.]*>$//; s/|O_LARGEFILE//' all >got
		host_paths "$PWD/d"
	done
}

@test "trace_syscalls: --host-paths follows mounts and pivot_root, spaces in names, and marks what the host lacks" {
	need_types
	need_host_root
	need_mounts
	! grep -q ^rootfs /proc/mounts || skip "pivot_root(2) refuses the kernel's first root"
	for what in pivot pivotdot; do
		rm -rf d
		traced $what --names --host-paths
		sed -n '/^pivot_root/,$s/^openat(\([^"]*"[^"]*"\).* = [0-9]*\(<.*>\)$/\1 \2/p' got |
			sed 's/^[0-9]*<[^>]*>, //; s/^AT_FDCWD<[^>]*>, //' | diff - <(cat <<-EOF
			"$DIR/f" <$DIR/f>
			"$DIR/a b/x" <$DIR/a b/x>
			"?/t/y" <?/t/y>
			"$DIR/sub" <$DIR/sub>
		EOF
		)
	done
}

@test "trace_syscalls: --host-paths follows a rename of what is mounted elsewhere, and of a root directory" {
	need_types
	need_host_root
	need_mounts
	need_tool python3
	mkdir one jail jail/x
	tfs-run trace_syscalls --instance "$MARK" --names --host-paths -o all -- unshare -m python3 -c "
import ctypes, os
libc = ctypes.CDLL(None)
if libc.mount(b'one', b'jail/x', None, 4096, None): raise OSError
kept = os.open('jail/x/f', os.O_WRONLY | os.O_CREAT)
def written(*names):
	os.write(kept, b'1')
	if not os.fork():
		os.chroot(names[0])
		os.chdir('/')
		for name in names[1:]: os.write(os.open(name, os.O_WRONLY | os.O_CREAT), b'1')
		os._exit(0)
	os.wait()
written('jail', '/x/f', '/y')
os.rename('one', 'two')
os.rename('jail', 'cell')
written('cell', '/x/f', '/y')"
	sed -n 's/^.*[0-9]: write([0-9]*<\([^>]*\)>, .*, 1) = 1 .*/\1/p' all | diff - <(cat <<-EOF
		$PWD/one/f
		$PWD/one/f
		$PWD/jail/y
		$PWD/two/f
		$PWD/two/f
		$PWD/cell/y
	EOF
	)
}

@test "trace_syscalls: --names gives an accepted socket its own address, not that of its listener" {
	need_types
	traced accept --names
	[ "$(grep -c '^accept' got)" = 2 ]
	port=$(sed -n 's/^accept([0-9]*<TCP:0.0.0.0:\([0-9]*\)>.*/\1/p' got | sort -u)
	[ -n "$port" ]
	[ "$(grep -Ec "^accept.* = [0-9]+<TCP:127.0.0.1:$port->127.0.0.1:[0-9]+>$" got)" = 2 ]
}

@test "trace_syscalls: --decode counts the requests of io_uring, which are no calls" {
	need_tracefs events/io_uring/io_uring_submit_req
	mkdir u
	"$PROG/paths" uring u || skip "needs io_uring"
	traced uring --decode
	[ "$(tail -n 1 all)" = '# 2 requests of io_uring are not shown: they make no system calls' ]
	rm -r d
	traced uring --decode --json
	[ "$(tail -n 1 all)" = '{"io_uring":2}' ]
}

# without_types: Hide the types of the kernel (BTF).
without_types() {
	need_tracefs events/syscalls
	mkdir -p sys/kernel
	ln -s "$TRACEFS" sys/kernel/tracing
	export TRACER_SYSFS_PATH=$PWD/sys
}

# unnamed: Print the number of names that the trace lacks, by its last line.
unnamed() {
	sed -n '$s/^# \([0-9]*\) names of files are not known: without BTF .*, the kernel does not say them$/\1/p' all
}

@test "trace_syscalls: without the kernel's types, --names has the paths of opens" {
	without_types
	refuses trace_syscalls 100 'without BTF (CONFIG_DEBUG_INFO_BTF), --names and --paths need all system calls: leave --syscall out' \
		--names -s read --pid $$
	traced moved --names
	[ "$(sed -n 's/^write([0-9]*<\([^>]*\)>.*/\1/p' got)" = "$DIR/one
$DIR/one
$DIR/one" ]
	[ -z "$(unnamed)" ]
	rm -r "$DIR"
	traced accept --names
	[ "$(grep -Ec '^accept4?\([0-9]+<TCP>.* = [0-9]+<TCP>$' got)" = 2 ]
	[ -z "$(unnamed)" ]
	rm -r "$DIR"
	traced chroot --names --paths
	grep -Eq '^open(at\(AT_FDCWD</sub>, |\()"/sub", O_RDONLY\) = [0-9]*</sub>$' got
	grep -Eq '^open(at\(AT_FDCWD</sub>, |\()"/sub/../sub", O_RDONLY\) = [0-9]*</sub/../sub>$' got
	rm -r "$DIR"
	traced chroot --host-paths
	grep -Eq '^open(at\(AT_FDCWD, |\()"\?/sub", O_RDONLY\) = [0-9]*$' got
	rm -r "$DIR"
	traced moved --names --json
	[ "$(grep -c "sys_exit_write.*\"file\":{\"path\":\"$DIR/one\"}" all)" = 3 ]
}

@test "trace_syscalls: without the kernel's types, the last line counts the names that --names does not know" {
	without_types
	need_tool python3
	for json in '' --json; do
		# shellcheck disable=SC2086 # no word, or one
		tfs-run trace_syscalls $json --instance "$MARK" --names -o all -- \
			python3 -SEc 'import os; f = os.memfd_create("x"); os.write(f, b"a"); os.close(f)'
		[ "$(grep -c 'write([0-9]*, 0x[0-9a-f]*, 1) = 1\|exit_write".*"args":\[{"name":"fd","value":[0-9]*,"text":"[0-9]*"}' all)" -ge 1 ]
		if [ -z "$json" ]; then
			[ "$(unnamed)" = 3 ]
		else
			[ "$(tail -n 1 all)" = '{"unnamed":3}' ]
		fi
	done
}

@test "trace_syscalls: without the kernel's types, files that are open before have the names that they have at the first line" {
	without_types
	tfs-run --check trace_open >verdict || skip "$(cat verdict)"
	echo text >one
	# shellcheck disable=SC2016 # sh expands it
	hold sh -c 'exec 5<one; echo ready; read -r x; exec dd of=/dev/null <&5'
	watch trace_syscalls --names --pid "$HELD"
	eventually grep -Fxq '# files of 1 tasks are known' got
	mv one two
	release
	finishes "$HELD" 0
	watch_end
	[ "$(grep -c "read(0<?$PWD/one>, 0x[0-9a-f]*, [0-9]*) = 5 " got)" = 1 ]
}

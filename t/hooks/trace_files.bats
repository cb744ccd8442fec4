#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2034,SC2154 # each test is a process of its own
# trace_files: who changes which file, by absolute paths; exact operations and bytes

load ../helper
load ../hooks

# watch_files WORDS: Watch the held program until the session knows which files it has open. A
# session reads them when its reader comes, which may be after its start.
watch_files() {
	watch trace_files --pid "$HELD" "$@"
	eventually grep -Eq '^(# files of 1 tasks are known|\{"files":1\})$' got
	find_id
}

# files_of WORDS: Run a session of the program files; got has its lines, told the operations with
# their paths, where the directory of the program is D.
files_of() {
	need_bpf
	D=$PWD/d
	mkdir -p "$D/sub"
	ln -sfn sub "$D/link"
	hold "$PROG/files" "$D"
	watch_files "$@"
	release
	watch_end
	sed -n 's/^.*[0-9]: \([a-z_0-9]*: path=.*\) lat=[0-9.]*$/\1/p' got | sed "s|\"$D|\"D|g" >told
	cat got
}

# changes: Print what the program changes, as the hook tells it.
changes() {
	cat <<-'END'
	write: path="D/before" count=6 ret=6 written=6
	openat: path="D/sub/one" flags=O_WRONLY|O_CREAT|O_TRUNC mode=0644 ret=N
	write: path="D/sub/one" count=1 ret=1 written=1
	pwrite64: path="D/sub/one" count=2 pos=5 ret=2 written=2
	writev: path="D/sub/one" vlen=2 ret=5 written=5
	ftruncate: path="D/sub/one" length=3 ret=0
	fallocate: path="D/sub/one" offset=0 len=4096 ret=0
	fchmod: path="D/sub/one" mode=0600 ret=0
	sendfile: path="D/sub/one" from="D/before" count=6 ret=6 written=6
	copy_file_range: path="D/sub/one" from="D/before" len=4 ret=4 written=4
	splice: path="D/sub/one" len=3 ret=3 written=3
	utimensat: path="D/sub/one" ret=0
	openat: path="D/sub/two" flags=O_RDWR|O_CREAT|O_EXCL mode=0644 ret=N
	rename: path="D/sub/one" to="D/one" ret=0
	renameat2: path="D/one" to="D/sub/two" flags=RENAME_EXCHANGE ret=0
	link: path="D/sub/two" to="D/sub/hard" ret=0
	symlinkat: path="D/sub/soft" oldname="two" ret=0
	truncate: path="D/sub/two" length=7 ret=0
	chmod: path="D/sub/two" mode=0640 ret=0
	lchown: path="D/sub/soft" user=0 group=0 ret=0
	mkdir: path="D/sub/made" mode=0755 ret=0
	mknod: path="D/sub/made/fifo" mode=S_IFIFO|0600 ret=0
	setxattr: path="D/sub/two" name="user.tfs" size=1 ret=N
	unlink: path="D/sub/hard" ret=0
	unlinkat: path="D/sub/made/fifo" ret=0
	rmdir: path="D/sub/made" ret=0
	unlink: path="D/sub/nowhere" ret=-2 error=ENOENT
	END
}

# as_here: Give results and calls the names that changes has: libraries of other machines make
# other calls.
as_here() {
	sed -E 's/\|O_LARGEFILE//; s/^(open|setxattr)(at)?(: .*) ret=-?[0-9]+( error=[A-Z]+)?$/\1\2\3 ret=N/
		s/^open: /openat: /; s/^sendfile64: /sendfile: /; s/^mknodat: /mknod: /
		s/^utimensat(_time64)?(: path="[^"]*") utimes=NULL/utimensat\2/
		s/^(link|mkdir)at: /\1: /; s/^fchmodat: /chmod: /; s/^(ftruncate|truncate)64: /\1: /
		s/^unlinkat: (.*) flag=AT_REMOVEDIR/rmdir: \1/; s/^unlinkat: /unlink: /
		s/^lchown32: /lchown: /; s/^fchownat: (.*) flag=AT_SYMLINK_NOFOLLOW/lchown: \1/
		s/^renameat2?: (.*) flags=RENAME_EXCHANGE/rename: \1 flags=RENAME_EXCHANGE/
		s/^renameat2?: /rename: /'
}

# bats test_tags=quick
@test "trace_files: tells each change of a file once, by absolute paths, and no read" {
	files_of
	as_here <told >here
	diff <(changes | as_here) here
}

@test "trace_files: --path tells only what is done to the file, below the directory, or by the glob" {
	files_of --path "$PWD/d/before"
	[ "$(cat told)" = 'write: path="D/before" count=6 ret=6 written=6' ]
	rm -r d
	files_of --path "$PWD/d/before" --reads # copies read it
	[ "$(sed 's/: .*//' told | tr '\n' ' ')" = 'write sendfile copy_file_range splice pread64 ' ]
	rm -r d
	files_of --path "$PWD/d/sub/made"
	[ "$(grep -c 'path="D/sub/made' told)" = 4 ]
	[ "$(grep -c . told)" = 4 ]
	rm -r d
	files_of --path '*/hard'
	[ "$(grep -c '"D/sub/hard"' told)" = 2 ]
	[ "$(grep -c . told)" = 2 ]
}

@test "trace_files: --path leads through a symbolic link, and tfs-run takes a path from here" {
	files_of --path "$PWD/d/link/made"
	[ "$(grep -c 'path="D/sub/made' told)" = 0 ] # it is not there yet, so the link is not followed
	rm -r d
	need_bpf
	mkdir real
	: >real/file
	ln -s real way
	tfs-run trace_files --instance "$MARK" --path ./way/file -- sh -c 'echo 12345 >>real/file; echo >other' >got
	[ "$(grep -c " written=6 " got)" = 1 ]
	[ "$(grep -vc '^#' got)" = 2 ]
}

@test "trace_files: --failed tells the changes that fail, and --only those of one kind" {
	files_of --failed --only removed
	[ "$(cat told)" = 'unlink: path="D/sub/nowhere" ret=-2 error=ENOENT' ] ||
		[ "$(cat told)" = 'unlinkat: path="D/sub/nowhere" ret=-2 error=ENOENT' ]
	rm -r d
	files_of --only renamed
	[ "$(grep -c . told)" = 2 ]
	rm -r d
	files_of --only synced
	[ "$(cat told)" = 'fsync: path="D/sub/one" ret=0' ]
}

@test "trace_files: --reads tells who reads a directory" {
	mkdir d
	# shellcheck disable=SC2016 # it is another shell's
	hold "$BASH" -c 'echo ready; read -r; echo d/*'
	traced trace_files --reads
	[ "$(grep -c "getdents64: path=\"$PWD/d\" .* read=" got)" = 2 ]
}

@test "trace_files: --reads tells opens for reading, reads and syncs, too" {
	files_of --reads
	[ "$(grep -c '^fsync: path="D/sub/one" ret=0$' told)" = 1 ]
	[ "$(grep -c '^pread64: path="D/before" count=6 pos=0 ret=6 read=6$' told)" = 1 ]
	[ "$(grep -Ec '^open(at)?: path="D/sub/two" flags=O_RDONLY(\|O_LARGEFILE)? ret=[0-9]*$' told)" = 1 ]
	grep '"D' told | grep -v O_RDONLY | grep -vE '^(fsync|pread64|splice: path="D/before")' | as_here >here
	diff <(changes | as_here) here
}

@test "trace_files: --reads tells the program of each exec, and that which runs a script" {
	need_bpf
	need_types
	cp "$PROG/exits" prog
	ln -s prog link
	printf '#!%s\n' "$PWD/link" >script
	chmod +x script
	# shellcheck disable=SC2016 # it is another shell's
	executed() {
		hold sh -c 'echo ready; read -r _; for name in prog link script nowhere; do "./$name"; done; :' 2>said
		traced trace_files "$@"
		sed -n "s|^.*: \(execve: path=.*\) lat=.*|\1|p" got | sed "s|\"$PWD/|\"|g" >told
	}
	executed --reads
	diff told - <<-'END'
		execve: path="prog" ret=0
		execve: path="prog" ret=0
		execve: path="script" program="prog" ret=0
		execve: path="nowhere" ret=-2 error=ENOENT
	END
	executed --only executed --path "$PWD/prog"
	diff told - <<-'END'
		execve: path="prog" ret=0
		execve: path="prog" ret=0
		execve: path="script" program="prog" ret=0
	END
	executed --only executed --path "$PWD/script" --json
	[ "$(grep -c '"ret":0,"lat":[0-9.]*,"path":"'"$PWD/script"'","program":"'"$PWD/prog"'","args":' got)" = 1 ]
}

@test "trace_files: JSON has the paths beside all arguments" {
	files_of --json --only renamed
	[ "$(grep -c '"ret":0,"lat":[0-9.]*,"path":"'"$D"'/sub/one","to":"'"$D"'/one","args":\[' got)" = 1 ]
	[ "$(grep -c '"path":"'"$D"'/one","to":"'"$D"'/sub/two","args":\[' got)" = 1 ]
}

@test "trace_files: a summary has the calls, errors, and bytes read and written of each file" {
	need_bpf
	D=$PWD/d
	mkdir -p d/sub
	ln -s sub d/link
	# the program opens relative names, and writes by write, pwrite, writev and copies
	echo | tfs-run trace_files --reads --summary --instance "$MARK" -o table -- "$PROG/files" "$D"
	cat table
	grep -Eqx " +calls +errors +read +written +total us +avg us +max us  path" table
	grep -Eqx " +4 +0 +9 +6 .*  $D/before" table
	grep -Eqx " +1 +1 +0 +0 .*  $D/sub/nowhere" table
	grep -Eqx " +13 +0 +0 +21 .*  $D/sub/one" table
	# only changes; as JSON; most bytes first
	rm -r d/sub
	mkdir d/sub
	echo | tfs-run trace_files --summary --sort written --top 1 --instance "$MARK" -o table.json \
		-- "$PROG/files" "$D"
	cat table.json
	[ "$(sed 's/"total_us.*"path/"path/' table.json)" = \
		'{"calls":12,"errors":0,"read":0,"written":21,"path":"'"$D/sub/one"'"}' ]
}

@test "trace_files: --slower tells only calls that took as long, and their files" {
	need_bpf
	mkfifo slow
	# the open of a FIFO waits for its other end
	hold sh -c 'echo ready; read -r x; : >quick; { sleep 2; cat slow; } & echo >slow; wait'
	watch_files --slower 1s
	release
	watch_end
	cat got
	[ "$(grep -vc '^#' got)" = 1 ]
	grep -Eq ": open(at)?: path=\"$PWD/slow\" flags=O_WRONLY.* ret=[0-9]+ lat=[0-9]{7,}[.][0-9]+$" got
}

@test "trace_files: a relative path is refused by managers" {
	refuses trace_files 100 "--path: 'passwd' is relative; begin it with / or *" --pid $$ --path passwd
}

# by_file [PATH]: Trace what python does to the file D/dir/file, which has other names, or to PATH;
# standard input is its program. told has the calls with their paths, where the working directory is
# left out.
by_file() {
	need_bpf
	need_tool python3
	mkdir -p D/dir D/other D/root/sub D/mnt
	echo 1 >D/dir/file
	ln D/dir/file D/other/hard
	ln D/dir/file D/root/inside
	tfs-run trace_files --instance "$MARK" --path "$PWD/${1-D/dir/file}" -- python3 -c "
import ctypes, os
os.chdir('D')
D = os.getcwd()
libc = ctypes.CDLL(None)
def mount():
	if libc.mount(b'dir', b'mnt', None, 4096, None): raise OSError
def write(path, how=os.O_APPEND):
	fd = os.open(path, os.O_WRONLY | how)
	os.write(fd, b'x')
	return fd
def child(act):
	if not os.fork():
		act()
		os._exit(0)
	os.wait()
$(cat)" >got
	sed -n 's/^.*[0-9]: \([a-z]*\)[a-z_0-9]*: path="\([^"]*\)" \(to="[^"]*"\)*.*$/\1 \2 \3/p' got |
		sed "s|$PWD/D/||g; s/ $//; s/^openat /open /; s/^fchownat /chown /" >told
	cat got
}

@test "trace_files: --path is the file, by a hard link, a bind mount and links of procfs" {
	by_file <<-'END'
	write('other/hard')
	os.truncate('other/hard', 7)
	os.chmod('other/hard', 0o600)
	mount(); os.close(write('mnt/file')); os.chmod('mnt/file', 0o640); libc.umount2(b'mnt', 0)
	write('/proc/self/root' + D + '/dir/file')
	os.truncate('/proc/self/root' + D + '/dir/file', 5)
	os.truncate('/proc/self/cwd/dir/file', 4)
	fd = write('dir/file')
	os.truncate('/proc/self/fd/%d' % fd, 3)
	os.truncate('/dev/fd/%d' % fd, 2)
	os.truncate('/proc/%d/root' % os.getpid() + D + '/dir/file', 1)
	END
	diff told - <<-'END'
		open other/hard
		write other/hard
		truncate other/hard
		chmod other/hard
		open mnt/file
		write mnt/file
		chmod mnt/file
		open dir/file
		write dir/file
		truncate dir/file
		truncate dir/file
		open dir/file
		write dir/file
		truncate dir/file
		truncate dir/file
		truncate dir/file
	END
}

@test "trace_files: --path is the file in a chroot and in another mount namespace, by their names" {
	by_file <<-'END'
	child(lambda: (os.chroot('root'), os.chdir('/sub'), write('/inside'),
		os.truncate('../inside', 3), os.chmod('/inside', 0o644)))
	child(lambda: (libc.unshare(0x20000), libc.mount(None, b'/', None, 1 << 18 | 16384, None),
		mount(), write('mnt/file'), os.chmod('mnt/file', 0o640)))
	END
	diff told - <<-'END'
		open /inside
		write /inside
		truncate /inside
		chmod /inside
		open mnt/file
		write mnt/file
		chmod mnt/file
	END
}

@test "trace_files: --path of a directory is what is below it, by bind mounts, in a chroot and another mount namespace" {
	need_types
	need_host_root
	need_mounts
	by_file D/dir <<-'END'
	mount(); os.close(write('mnt/new', os.O_CREAT)); libc.umount2(b'mnt', 0)
	child(lambda: (os.chroot('dir'), os.chdir('/'), write('in', os.O_CREAT), os.chmod('in', 0o600),
		os.unlink('/in')))
	child(lambda: (libc.unshare(0x20000), libc.mount(None, b'/', None, 1 << 18 | 16384, None),
		mount(), write('mnt/file')))
	write('other/out', os.O_CREAT)
	END
	diff told - <<-'END'
		open mnt/new
		write mnt/new
		open /in
		write /in
		chmod /in
		unlink /in
		open mnt/file
		write mnt/file
	END
}

@test "trace_files: --path does not name what another root directory has at this path" {
	by_file <<-'END'
	path = 'root' + D + '/dir'
	os.makedirs(path)
	open(path + '/file', 'w').close()
	child(lambda: (os.chroot('root'), write(D + '/dir/file'), os.chmod(D + '/dir/file', 0o600),
		os.unlink(D + '/dir/file')))
	END
	diff told /dev/null
}

@test "trace_files: --path is the file when its name is made anew, and by each of its names until then" {
	by_file <<-'END'
	os.rename('dir/file', 'dir/file.1')
	write('dir/file.1')
	os.link('dir/file.1', 'dir/link'); os.chmod('dir/link', 0o600); os.unlink('dir/link')
	new = write('dir/file', os.O_CREAT)
	write('dir/file.1')     # no
	write('dir/new', os.O_CREAT)
	os.rename('dir/new', 'dir/file')
	os.write(new, b'x')     # no
	write('dir/file')
	os.unlink('dir/file')
	write('dir/other', os.O_CREAT) # no
	os.mkdir('dir/file')
	END
	diff told - <<-'END'
		rename dir/file to="dir/file.1"
		open dir/file.1
		write dir/file.1
		link dir/file.1 to="dir/link"
		chmod dir/link
		unlink dir/link
		open dir/file
		write dir/file
		rename dir/new to="dir/file"
		open dir/file
		write dir/file
		unlink dir/file
		mkdir dir/file
	END
}

@test "trace_files: --path takes a file that does not exist yet, and calls that fail" {
	need_bpf
	mkdir D
	tfs-run trace_files --instance "$MARK" --path "$PWD/D/pid" -- sh -c '
		unlink D/pid; echo 1 >D/pid.new; mv D/pid.new D/pid; exec 3>>D/pid
		rm D/pid; echo 2 >&3; : >D/pid.new' >got 2>err || :
	cat got
	sed -n 's/^.*[0-9]: \([a-z]*\)[a-z_0-9]*: path="\([^"]*\)".* ret=\(-*[0-9]*\) .*$/\1 \2 \3/p' got | sed "s|$PWD/D/||; s/^openat pid [0-9]*$/openat pid/" >told
	sed -i 's/^\([a-z]*\)at /\1 /' told
	diff told - <<-'END'
		unlink pid -2
		rename pid.new 0
		open pid
		unlink pid 0
		write pid (deleted) 2
	END
}

@test "trace_files: --path of a directory names what is below it, and of a link its file" {
	need_bpf
	mkdir -p D/real/sub
	ln -s real D/way
	tfs-run trace_files --instance "$MARK" --path "$PWD/D/way/" -- sh -c 'echo 1 >D/real/sub/x; chmod 600 D/way/sub/x; rm D/way/sub/x; echo 2 >D/y' >got
	cat got
	[ "$(grep -c 'path="'"$PWD"'/D/real/sub/x"' got)" = 4 ]
	[ "$(grep -vc '^#' got)" = 4 ]
}

@test "trace_files: --path of a file that programs only read names none of them, nor their own files" {
	need_bpf
	tfs-run trace_files --instance "$MARK" --path /etc/passwd -- sh -c 'for i in 1 2 3; do id >x; cat /etc/passwd >y; exec 4</etc/passwd; exec 4>z; echo >&4; done' >got
	[ "$(grep -vc '^#' got)" = 0 ]
}

@test "trace_syscalls: --path selects by the file of descriptors and results, too" {
	need_bpf
	mkdir D
	echo text >D/x
	ln D/x D/hard
	tfs-run trace_syscalls --instance "$MARK" --path "$PWD/D/x" -- sh -c 'exec 5<D/hard; cat <&5; cat D/x >/dev/null; stat ./D/hard' >got
	cat got
	grep -Eq ' openat\(AT_FDCWD, "D/hard", O_RDONLY\) = [0-9]+ ' got
	[ "$(grep -cE ' (read|sendfile)\(.* = [05] ' got)" = 4 ] # busybox's cat sends
	grep -q '"./D/hard"' got
	run -1 grep -E 'libc|/dev/null|/etc' got
}

@test "trace_syscalls: --path of a file names no call that asks for a link to it" {
	need_bpf
	need_tool python3
	echo text >x
	ln -s x link
	tfs-run trace_syscalls --instance "$MARK" --path "$PWD/x" -- python3 -SEc 'if 1:
		import os
		for path, follows in ("link", False), ("link", True), ("x", False):
			try:
				os.lstat(path)
				os.listxattr(path, follow_symlinks=follows)
				os.readlink(path)
			except OSError: pass' >got
	cat got
	[ "$(grep -c '"x"' got)" = 3 ]
	[ "$(grep -o '[a-z]*("link"' got)" = 'listxattr("link"' ] # which follows it
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-strings -f, trace_files: the files of descriptors are those that the kernel has

load ../helper
load ../hooks

# begin_files N SEED: Start fileops, which waits for go_files; set $FILEOPS to its pid.
begin_files() {
	need_bpf
	need_types
	mkdir "d$2"
	mkfifo "begin$2"
	"$PROG/fileops" "$PWD/d$2" "$1" "$2" <"begin$2" >truth 3>&- &
	FILEOPS=$!
	exec 8>"begin$2"
}

# go_files: Let fileops run to its end.
go_files() {
	exec 8>&-
	wait "$FILEOPS"
}

# all_agree FORM TRACE: Fail unless the trace lost nothing and agrees with each check.
all_agree() {
	run ! grep -a '^# lost\|"lost":[^0]' "$2"
	awk -f "$TREE/t/prog/filejudge.awk" "form=$1" truth "$2" >judged
	head -n 20 judged # for a test that fails
	CHECKS=$(head -n 1 judged)
	[ "${CHECKS#*checks, }" = "${CHECKS%% *} agree" ]
}

# files_agree FORM N SEED: Trace N checks of fileops; compare what it says with text, json or dat.
files_agree() {
	local stream=(tfs-catpipe -D --names)
	case $1 in
	json) stream+=(-j) ;;
	dat) stream=(tfs-record "$PWD/trace.dat") ;;
	esac
	new_instance
	export TFS_INSTANCE=$INSTANCE
	tfs-write trace_clock mono buffer_size_kb 32768
	begin_files "$2" "$3"
	tfs-pidfilter set "$FILEOPS"
	background tfs-strings -f calls -- "${stream[@]}" >trace 8>&-
	eventually file_is "/proc/$PID/comm" "${stream[0]}"
	eventually blocks "$PID"
	go_files
	kill "$PID"
	wait "$PID"
	[ "$1" != dat ] || tfs-report -D --names -j trace.dat >trace
	all_agree "${1/dat/json}" trace
	[ "$CHECKS" = "$2 checks, $2 agree" ]
}

# bats test_tags=quick
@test "tfs-strings: -f tells a directory from a file that had its name and its inode" {
	need_bpf
	need_types
	need_tool taskset
	new_instance
	export TFS_INSTANCE=$INSTANCE
	tfs-write trace_clock mono
	mkfifo begin
	# shellcheck disable=SC2016 # it is another shell's
	taskset -c 0 "$BASH" -c 'read -r <begin; for i in 1 2 3; do
		echo >same; chmod 640 same; exec 3<same; rm same
		mkdir same; exec 3<same; rmdir same; done' 3>&- &
	shell=$!
	tfs-pidfilter set "$shell"
	background tfs-strings -f calls -- tfs-record "$PWD/trace.dat"
	eventually blocks "$PID"
	echo >begin
	wait "$shell"
	kill "$PID"
	wait "$PID"
	tfs-report trace.dat >trace
	for mode in 100644 100640 40755; do
		grep -q "file: .* mode=$mode .* path=\"$PWD/same\"" trace
	done
}

# bats test_tags=quick
@test "tfs-strings: -f names the files of descriptors and directories as fstat and readlink do" {
	files_agree json 500 1
}

@test "trace_files: the end of each path is there, however long the path is" {
	need_bpf
	need_types
	# shellcheck disable=SC2016 # it is another shell's
	hold "$BASH" -c 'echo ready; read -r; name=${0//?/0123456789}
		for ((i = 100; i < 125; i++)); do mkdir $i$name; cd $i$name; echo >f$i; done' \
		12345678901234567
	traced trace_files --only written
	[ "$(grep -c ' written=1 ' got)" = 25 ]
	end=
	for ((i = 124; i >= 100; i--)); do
		path=$(sed -n "s|.*write: path=\"\(.*/f$i\)\" .*|\1|p" got)
		if [[ $path == ...* ]]; then
			end+=$i
			[[ ${#path} -gt 3000 && ${path#...} =~ ^(/[0-9]{173})+/f$i$ ]]
		else
			[[ $path =~ ^$PWD(/[0-9]{173})+/f$i$ && $path == */$i* ]]
		fi
	done
	[[ $end =~ ^124123122 ]]
}

@test "trace_files: what is left out of a long line is the beginning of its paths, with a mark" {
	need_bpf
	need_types
	need_tool python3
	cat >deep.py <<-'EOF'
		import os
		os.mkdir("d")
		os.chdir("d")
		for i in range(14):
		    os.mkdir("\1" * 250)
		    os.chdir("\1" * 250)
		    with open("before%d" % i, "wb", 0) as f: f.write(b"1")
		    os.rename("before%d" % i, "after%d" % i)
	EOF
	tfs-run trace_files --instance "$MARK" -o text -- python3 deep.py
	rm -r d
	tfs-run trace_files --instance "$MARK" --json -o json -- python3 deep.py
	rm -r d
	tfs-run trace_syscalls --instance "$MARK" --decode --names --json -o names -- python3 deep.py
	for file in json names; do
		run -0 python3 -c 'import json, sys
for line in sys.stdin: json.loads(line)' <$file
	done
	for i in {0..13}; do
		grep -Eq ": write: path=\"(/|\.\.\./)[^\"]*/before$i\" count=1 ret=1 written=1 lat=" text
		grep -Eq ": rename: path=\"(/|\.\.\./)[^\"]*/before$i\" to=\"(/|\.\.\./)[^\"]*/after$i\" ret=0 lat=" text
		grep -Eq '"path":"(/|\.\.\./)[^"]*/before'"$i"'","to":"(/|\.\.\./)[^"]*/after'"$i"'","args":' json
		grep -Eq '"file":.*"path":"(/|\.\.\./)[^"]*/before'"$i"'"' names
	done
}

@test "trace_syscalls: --names names what poll is given, and not its result, as strace -yy does" {
	need_bpf
	need_types
	need_tool strace
	need_tool python3
	cat >polls.py <<-'EOF'
		import os, select
		r, w = os.pipe()
		os.write(w, b"1")
		p = select.poll()
		p.register(r, 1)
		p.poll()
	EOF
	line() { # without numbers
		grep -o 'poll(\[{fd=.*POLLIN}\])' "$1" | sed 's/[0-9][0-9]*/N/g'
	}
	strace -yy -e trace=poll -o theirs python3 polls.py
	hold python3 -c 'print("ready", flush=True); input(); exec(open("polls.py").read())'
	traced trace_syscalls --decode --names
	diff <(line theirs) <(line got)
}

@test "trace_syscalls: --names and --paths know the files of chosen calls alone" {
	need_bpf
	need_types
	echo text >one
	hold sh -c 'exec 5<one; echo ready; read -r x; cd ..; exec head -c 1 <&5'
	traced trace_syscalls -s read,chdir --names
	grep -q " read(0<$PWD/one>, " got
	cd /
	hold sh -c 'echo ready; read -r x; cd usr; cd ..'
	cd "$OLDPWD"
	traced trace_syscalls -s chdir --paths
	grep -q ' chdir("/usr") = 0 ' got
	grep -q ' chdir("/") = 0 ' got
	refuses trace_syscalls 100 '--at-return cannot be combined with --names, --paths, --slower, --strace and --no-data' \
		--at-return --names -s openat --pid $$
}

@test "trace_syscalls: --names has the addresses of a socket in the call after bind and connect, and after its end" {
	need_bpf
	need_types
	need_tool python3
	hold python3 -c '
import select, socket, struct
def ask(s, name, *peer):
	p = select.poll()
	p.register(s, 4)
	p.poll(0)
	select.select([], [s], [], 0)
	if "->" in name and not peer:
		peer = s.getpeername()
	print(name % (s.getsockname() + peer), file=names)
names = open("names", "w")
print("ready", flush=True)
input()
server = socket.create_server(("127.0.0.1", 0))
ask(server, "<TCP:%s:%d>")
for wait in (True, False):
	for kind, word in (socket.SOCK_STREAM, "TCP"), (socket.SOCK_DGRAM, "UDP"):
		s = socket.socket(type=kind)
		s.setblocking(wait)
		s.connect_ex(server.getsockname())
		ask(s, "<" + word + ":%s:%d->%s:%d>")
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
s, peer = server.accept()
client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
client.close() # the other end is closed by the reset, and has its addresses
s.getsockname()
ask(s, "<TCP:%s:%d->%s:%d>", *peer)
names.close()'
	traced trace_syscalls --decode --names
	sed p names >wanted # poll and select
	sed -nE 's/.*(poll|select6?)\(.*(<(TCP|UDP)[^>]*(->[^>]*)?>)[],].*/\2/p' got | diff wanted -
}

# bats test_tags=long
@test "tfs-strings: -f names files right 10,000 times of 10,000 in text" {
	files_agree text 10000 2
}

# bats test_tags=long
@test "tfs-strings: -f names files right 10,000 times of 10,000 in JSON" {
	files_agree json 10000 3
}

# bats test_tags=long
@test "tfs-strings: -f names files right 10,000 times of 10,000 in trace.dat" {
	files_agree dat 10000 4
}

# bats test_tags=long
@test "trace_files: with --all each write is to the file that fstat and readlink say" {
	begin_files 10000 5
	watch trace_files --all --only written --json --buffer 32768 8>&-
	go_files
	watch_stop
	all_agree files got
	[ "${CHECKS%% *}" -gt 3000 ]
}

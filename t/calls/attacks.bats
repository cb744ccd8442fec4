#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2034,SC2153,SC2154 # each test is a process of its own; the helper uses them
# decoded system calls: secrets that no option asks for, and programs that attack the decoder

load ../helper

# ---- secrets -------------------------------------------------------------------------------

# contain OPTION... -- FILE...: Do the files contain a fixed text? busybox's grep reads a line up
# to its first NUL.
contain() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	cat "${@:2}" | tr '\0' '\n' | LC_ALL=C grep -qF "${options[@]}"
}

# found FILE...: Print the letter of each secret of "acts secrets" that the files have, as text or
# as the numbers of 8 bytes that tfs-strings prints, from any byte of the secret on.
found() {
	local x i word back bytes patterns letters=
	for x in a e p q s v w x; do
		patterns=(-e "SECRET-$x")
		# shellcheck disable=SC2207 # a byte a word
		bytes=($(printf %s "SECRET-$x" | od -An -v -tx1))
		for i in {1..8}; do
			bytes=("${bytes[@]:1}" "${bytes[0]}")
			printf -v word %s "${bytes[@]}"
			printf -v back '%s%s%s%s%s%s%s%s' "${bytes[7]}" "${bytes[6]}" "${bytes[5]}" \
				"${bytes[4]}" "${bytes[3]}" "${bytes[2]}" "${bytes[1]}" "${bytes[0]}"
			patterns+=(-e "$word" -e "$back")
		done
		! contain "${patterns[@]}" -- "$@" || letters+=$x
	done
	echo "$letters"
}

# recorded OPTION...: Record "acts secrets" in a session that nobody reads, and write the
# sub-buffers of its instance to raw.
recorded() {
	act secrets
	start_session trace_syscalls --decode --output fifo --buffer 1024 --pid "$ACT" "$@"
	release
	eventually grep -q passed ready
	"$PROG/rawpages" "$TRACEFS/instances/tfs.$MARK" >raw
	read_by cat >rest
	release
	watch_end
	[ "$(wc -c <raw)" -ge 4096 ]
}

# written OPTION...: Record "acts secrets" as text, JSON and trace.dat; decode the trace.dat as both.
written() {
	local format
	for format in text json dat; do
		printf '\n\n' | tfs-run trace_syscalls --instance "$MARK" --decode --buffer 1024 "$@" \
			-o "x.$format" -- "$PROG/acts" secrets >said 2>&1
		grep -qx passed said
	done
	tfs-report -D x.dat >dat.text
	tfs-report -D -j x.dat >dat.json
	tfs-report x.dat >dat.events
	[ "$(grep -c ' mq_timedsend(-1, ' x.text)" = 1 ]
	[ "$(grep -c ' mq_timedsend(-1, ' dat.text)" = 1 ]
	[ "$(grep -c '"event":"sys_exit_mq_timedsend"' x.json)" = 1 ]
	[ "$(grep -c '"event":"sys_exit_mq_timedsend"' dat.json)" = 1 ]
	nothing_left
}

# Skip unless BPF programs record strings.
need_strings() {
	need_tracefs events/syscalls
	tfs-run trace_syscalls --instance "$MARK" -s openat --decode -- true >works
	[ "$(head -c 13 works)" != '# strings are' ] ||
		skip "needs strings of system calls ($(head -n 1 works))"
}

# bats test_tags=quick
@test "trace_syscalls: --no-data leaves every secret out of the ring buffer, text, JSON and trace.dat" {
	need_tracefs events/syscalls
	recorded --no-data
	[ "$(found raw rest)" = "" ]
	contain "$PROG/acts" -- raw # of sched_process_exec
	written --no-data
	[ "$(found x.text x.json x.dat dat.*)" = "" ]
}

@test "trace_syscalls: --decode without --data records paths and words of programs, and no other secret" {
	need_strings
	recorded
	[ "$(found raw rest)" = ap ]
	written
	[ "$(found x.text)" = ap ]
	[ "$(found x.json)" = ap ]
	[ "$(found x.dat)" = ap ]
	[ "$(found dat.text)" = ap ]
	[ "$(found dat.json)" = ap ]
}

@test "trace_syscalls: --no-args records no word of a program" {
	need_strings
	recorded --no-args
	[ "$(found raw rest)" = p ]
	written --no-args
	[ "$(found x.text x.json x.dat dat.*)" = p ]
}

@test "trace_syscalls: --data records what is written and sent, and never the environment" {
	local all=apqsvwx
	need_strings
	# vectors of bytes are read by a loop that older kernels do not accept
	[ "$(printf '%s\n' 6.9 "$(uname -r)" | sort -V | head -n 1)" = 6.9 ] || all=apqswx
	recorded --data 64
	[ "$(found raw rest)" = "$all" ]
	written --data 64
	[ "$(found x.text)" = "$all" ]
	[ "$(found x.json)" = "$all" ]
	[ "$(found x.dat)" = "$all" ]
	recorded --data 64 --no-data
	[ "$(found raw rest)" = "" ]
}

# ---- hostile programs ----------------------------------------------------------------------

# hostile WORD...: Start the program hostile, held before it acts; set $ACT to its pid.
hostile() {
	hold "$PROG/hostile" "$@"
	ACT=$HELD
}

# resident NAME: Print the memory, in KiB, that the process NAME of the session has of its own.
resident() {
	local pid
	for pid in $(processes_below "$SESSION" 0); do
		pid=${pid%:*}
		[ "$(cat "/proc/$pid/comm")" != "$1" ] || sed -n 's/^RssAnon:[ \t]*//p' "/proc/$pid/status"
	done | sed 's/ kB$//'
}

# attacked OPTION...: Trace the held program while it attacks, as text with names in got. The
# stream needs at most 16 MiB, beside the rings that it maps.
attacked() {
	local kib
	watch trace_syscalls --pid "$ACT" --names --buffer 16384 "$@"
	eventually grep -q '^# files of 1 tasks are known$' got
	release
	eventually grep -q '^done' ready
	kib=$(resident tfs-catpipe)
	echo "tfs-catpipe: $kib KiB" # for a test that fails
	[ "$kib" -lt 16384 ]
	release
	watch_end
	are_lines got
	read -r _ DONE < <(tail -n 1 ready)
}

# the beginning of an event line; an escaped name may be longer than 16 characters
HEAD='^.{16,60}-[0-9]+ +\[[0-9]{3}\] .{5} +[0-9]+\.[0-9]{6}: '

# are_lines FILE: Fail unless each line has the form of an event, and no byte is a control
# character. Events may be lost, and then a comment says it.
are_lines() {
	! LC_ALL=C tr -d '\n -~\200-\377' <"$1" | od -c | grep -v '^0000000$' || return 1
	! LC_ALL=C grep -avE "$HEAD"'([a-z0-9_]+\(.*|<\.\.\. [a-z0-9_]+ resumed>\).*)$' "$1" |
		grep -av '^# files of [0-9]* tasks are known$' || return 1
}

# recorded_attack OPTION...: Record the held program as trace.dat, and decode it with all
# options, as text in dat.text and as JSON in dat.json. They have a line for each beginning of a
# call, and one for each return of a call that began before. Without python3 the JSON is not read.
recorded_attack() {
	local calls
	start_session trace_syscalls --output dat --pid "$ACT" --names --buffer 16384 "$@"
	release
	eventually grep -q '^done' ready
	release
	session_ends
	mv "$TRACE" x.dat
	rm -r "${TRACE%/*}"
	limited tfs-report -D -e 'sys_*' --names --paths x.dat >dat.text
	limited tfs-report -D -e 'sys_*' --names --paths -j x.dat >dat.json
	sed -i '/^# [1-9][0-9]* names of files are not known: /d' dat.text
	sed -i '/^{"unnamed":[1-9][0-9]*}$/d' dat.json
	are_lines dat.text
	calls=$(tfs-report -j -e tfs:call -e tfs:open x.dat | grep -vc '"begin":0,')
	[ "$(LC_ALL=C grep -avcE "$HEAD<\.\.\. [a-z0-9_]+ resumed>" dat.text)" = "$calls" ]
	[ "$(wc -l <dat.text)" = "$(wc -l <dat.json)" ]
	! command -v python3 >/dev/null || python3 -c '
import json, re, sys
with open("dat.text", "rb") as text, open("dat.json", "rb") as lines:
	for n, (t, j) in enumerate(zip(text, lines, strict=True)):
		assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", j), j
		j = json.loads(j)
		head = re.match(rb".{16,60}?-(\d+) +\[(\d+)\] .{5} +(\d+\.\d+): (?:<\.\.\. )?(\w+)", t)
		assert head, t
		assert int(head[1]) == j["pid"] and int(head[2]) == j["cpu"], (t, j)
		assert "sys_exit_" + head[4].decode() == j["event"], (t, j)
		assert set(j) | {"start"} == {"ts", "cpu", "pid", "comm", "tgid", "uid", "start", "system",
					      "event", "fields"}, j
	print(n + 1)'
}

# limited COMMAND...: Run COMMAND in 32 MiB of memory and the size of x.dat, which python3 measures.
limited() {
	command -v python3 >/dev/null || {
		"$@"
		return
	}
	python3 -c '
import os, resource, subprocess, sys
r = subprocess.run(sys.argv[1:]).returncode
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(sys.argv[1], most, "KiB", file=sys.stderr)
sys.exit(r or most > 32 * 1024 + os.stat("x.dat").st_size // 1024)' "$@"
}

# opens FILE: Print how many calls openat FILE has.
opens() {
	LC_ALL=C grep -acE "$HEAD"'openat\(AT_FDCWD.*\) = ' "$1"
}

@test "decode: paths without an end, at the ends of pages, and bad pointers make one line each" {
	need_strings
	hostile strings
	attacked
	[ "$(opens got)" = "$DONE" ]
	every='\\1\\2\\3\\4\\5\\6\\7\\10\\t\\n\\v\\f\\r\\16'
	[ "$(grep -ac ": openat(AT_FDCWD<.*>, \"$every.*\\\\376\\\\377\", O_RDONLY) = -1 ENOENT <" got)" = 1 ]
	z=$(printf 'z%.0s' {1..4095})
	[ "$(grep -acF ", \"$z\", O_RDONLY) = -1 ENAMETOOLONG <" got)" = 1 ]
	hostile strings
	recorded_attack
}

@test "decode: texts in paths and in the name of the task forge no line, record or field" {
	need_strings
	id=$(printf 'tfs_%x' {0..40} | sed 's/tfs_/\\ntfs_/g')
	texts=(
		'\n           hand-42      [000] .....     1.000002: openat(AT_FDCWD, "/etc/shadow", O_RDONLY) = 3 <0.000003>'
		'x-1 [000] ..... 1.0: exit_group(0) = ?' '/a", O_RDONLY) = 3 <0.000001>\n' '# lost 7 events'
		'\x1b]0;title\x07\x1b[2J' '\x9b31m\xc2\x9b31m\x7f\x80' '"},{"event":"forged"}\\,'
		'tfs_1 a1 /forged' '\ntfs_1 k' "$id" '<... read resumed>) = 5' ') = 0 <1.0>' $'\u2028\ufeff'
		'%s%n%p%lx' '' '.........................................................................'
	)
	hostile names "${texts[@]}"
	attacked
	[ "$DONE" = "${#texts[@]}" ]
	[ "$(opens got)" = "$DONE" ]
	[ "$(grep -ac '"\\n           hand-42      \[000\] .....     1.000002: openat(AT_FDCWD, \\"/etc/shadow\\", O_RDONLY) = 3 <0.000003>", O_RDONLY) = -1 ENOENT <' got)" = 1 ]
	[ "$(grep -acF '"\23331m\302\23331m\177\200", O_RDONLY) = -1 ENOENT <' got)" = 1 ]
	[ "$(grep -acF '"tfs_1 a1 /forged", O_RDONLY) = -1 ENOENT <' got)" = 1 ]
	run -1 grep -a 'forged"[^,]*, O_RDONLY) = [^-]' got
	hostile names "${texts[@]}"
	recorded_attack --paths
	tfs-count -k event <got >counts
	[ "$(sed -n "s/^ *\([0-9]*\) sys_exit_openat$/\1/p" counts)" -ge "$DONE" ]
}

@test "decode: memory that other threads change while a call runs makes one line a call" {
	need_strings
	hostile races 1000
	attacked --data 64
	[ "$DONE" = 1000 ]
	grep -aq '^# lost' got || [ "$(opens got)" = 1000 ]
	hostile races 1000
	recorded_attack
}

@test "decode: tens of thousands of descriptors are followed in bounded memory" {
	need_strings
	n=$(so_many 40000)
	hostile fds "$n"
	attacked --paths
	# as the limit of descriptors allows
	[ "$DONE" -ge $((n / 4)) ] && [ "$DONE" -le "$n" ]
	grep -aq '^# lost' got || {
		[ "$(grep -ac ': dup([0-9]*</>) = [0-9]*</> <' got)" = $((DONE / 2)) ]
		[ "$(grep -ac ': close([0-9]*</>) = 0 <' got)" = $((DONE - DONE / 2 + 2)) ]
	}
}

@test "decode: threads that execute programs while others are in calls make one line a call" {
	need_strings
	hostile execs 20
	attacked
	grep -aq '^# lost' got ||
		[ "$(grep -ac ': execve("/proc/self/exe", \[".*", "execs-again", "[0-9]*"\], 0x[0-9a-f]*) = 0 <' got)" = 20 ]
	hostile execs 20
	recorded_attack
}

@test "decode: calls with numbers that the kernel lacks end no call and lend it no path" {
	need_strings
	hostile numbers
	attacked
	[ "$(grep -ac ': openat(AT_FDCWD<.*>, "/own", O_RDONLY) = -1 ENOENT <' got)" = 1 ]
	[ "$(opens got)" -le 2 ] # the number above 32 bits is openat's, or none
	hostile numbers
	recorded_attack
}

# forged TEXT: Fail unless exactly the 50 calls of 32-bit code have the forged path.
forged() {
	[ "$(grep -ac forged "$1")" = 50 ]
	[ "$(grep -ac ': openat(AT_FDCWD[^ ]*, "/forged/by", O_RDONLY) = -1 ENOENT <' "$1")" = 50 ]
}

@test "decode: 32-bit calls of a 64-bit program have their own names, and lend their paths to no other call" {
	[ "$(uname -m)" = x86_64 ] || skip "needs a CPU of x86_64"
	need_strings
	run "$PROG/hostile" compat 1 </dev/null
	[ "$status" != 139 ] || # int 0x80 is SIGSEGV
		skip "needs a kernel that runs 32-bit calls (CONFIG_IA32_EMULATION)"
	hostile compat 50
	attacked
	[ "$(grep -ac ': openat(AT_FDCWD<.*>, "/own", O_RDONLY) = -1 ENOENT <' got)" = 50 ]
	forged got
	hostile compat 50
	recorded_attack
	forged dat.text
}

# ---- the two sides of a call -----------------------------------------------------------------

# decoded ACT... : Print the lines of "sides ACT..." after its getpriority, without heads and
# times, and addresses as ADDR.
decoded() {
	tfs-run trace_syscalls --instance "$MARK" --decode --buffer 4096 -o x.txt -- "$PROG/sides" "$@" \
		>said 2>&1
	[ ! -s said ]
	sed -E 's/^.{16}-[0-9]+ .*[0-9]: //; s/ <[0-9.]+>$//; s/0x[0-9a-f]{6,}/ADDR/g' x.txt |
		sed '1,/^getpriority(/d'
	nothing_left
}

@test "decode: what the kernel reads is from the entry, what it writes from the return, as strace has it" {
	need_strings
	need_tool strace
	# addresses, the rest of a time and what only one of them prints are not compared
	alike() {
		sed -E 's/ \([A-Z][a-z ]*\)$//; s/0x[0-9a-f]{6,}/ADDR/g; s/\) +=/) =/
			s/"(hey|he|[\\0-9]*)"/ADDR/; s/, l_pid=0//; s/(, [0-9]+|, NULL, [0-9]+)\) = 0$/) = 0/
			s/(left \{tv_sec=[0-9], tv_[a-z]*=|\{tv_sec=8, tv_nsec=)[0-9]+/\1N/' |
			grep -E '^(p?select6?|p?poll|(clock_)?nanosleep|sendfile|getsockname|recvfrom|getsockopt|epoll_p?wait|futex|fcntl)\('
	}
	strace -o strace.txt "$PROG/sides" calls
	decoded calls >lines
	sed '1,/^getpriority(/d' strace.txt | alike >theirs
	# a page that is not in memory at the entry
	alike <lines | sed 's/ADDR => \[8\]/[3] => [8]/' >ours
	[ "$(wc -l <theirs)" -ge 20 ]
	diff theirs ours
	# newer than the strace of some distributions
	grep '^splice([0-9]*, \[3\] => \[5\], [0-9]*, NULL, 2, 0) = 2$' lines
	grep '^recvmsg(.*, msg_namelen=110 => [0-9]*, ' lines
	tfs-run trace_syscalls --instance "$MARK" --decode -o x.json -- "$PROG/sides" calls
	grep -o '"name":"inp","value":"0x[0-9a-f]*","text":"\[[0-9 ]*\]","written":"\[[0-9]*\]"' x.json
	grep -o '"text":"\[3\] => \[8\]"' x.json
}

@test "decode: a path is that of the entry, whatever a thread writes there while the call waits" {
	need_strings
	mkfifo fifo
	decoded hidden "$PWD/fifo" >lines
	[ "$(grep -c "^openat(AT_FDCWD, \"$PWD/fifo\", O_RDONLY) = [0-9]*$" lines)" = 1 ]
	[ "$(grep -c '"/nowhere/else"' lines)" = 0 ]
	[ "$(grep -c '^openat(AT_FDCWD, "/nowhere/absent", O_RDONLY) = -1 ENOENT$' lines)" = 1 ]
	[ "$(grep -c '^openat(AT_FDCWD, 0x8, O_RDONLY) = -1 EFAULT$' lines)" = 1 ]
}

@test "decode: each exec has its path and words, with any number of variables" {
	need_strings
	decoded execs 3000 | sed -n 's/^execveat([0-9]*,/execveat(FD,/; /^exec/p' >lines
	# strace has the same, except the number of variables
	diff lines - <<-'EOF'
		execve("/bin/true", ["one", ""], ADDR) = 0
		execve("/bin/true", ["one", ""], ADDR) = 0
		execve("/bin/true", ["absent", "x"], ADDR) = 0
		execveat(FD, "", ["one", ""], ADDR, AT_EMPTY_PATH) = 0
		execveat(FD, "true", ["one", ""], ADDR, 0) = 0
		execveat(FD, "true", ["absent", "x"], ADDR, 0) = 0
		execveat(FD, "", ["one", ""], ADDR, AT_EMPTY_PATH) = 0
		execve("/bin/true", ["thread", "word"], ADDR) = 0
		execve("/bin/true", ["thread", "word"], ADDR) = 0
		execve("/bin/true", [], ADDR) = 0
		execve("/nowhere/program", ["one", ""], ADDR) = -1 ENOENT
	EOF
}

@test "decode: a word that is cut has a mark after it, and a complete list of words has none" {
	need_strings
	decoded words | sed -n 's/^execve("\/bin\/true", \(.*\), NULL) = 0$/\1/p' >lines
	# a letter and a number stand for a word of so many letters
	{
		printf 'true z%d last\n' 100 1400 2700 4000 20000
		printf 'true q%d q%d q%d q%d q%d end\n' {700,1400,2100,2800,3500}{,,,,}
		for n in 3 7 8 31 32; do
			printf 'true%s\n' "$(for ((i = 0; i < n; i++)); do printf ' w'; done)"
		done
	} >wanted
	[ "$(wc -l <lines)" = 15 ]
	awk '
		function word(text, n, letters) {
			n = substr(text, 2) + 0
			while (length(letters) < n)
				letters = letters substr(text, 1, 1)
			return n ? letters : text
		}
		FILENAME == "wanted" { wanted[FNR] = $0; next }
		{
			all = split(wanted[FNR], words, " ")
			more = sub(/, \.\.\.\]$/, "]")
			n = split(substr($0, 2, length($0) - 2), shown, ", ")
			bad = more != (all > 8) || n != (all < 8 ? all : 8)
			for (i = 1; i <= n; i++) {
				whole = word(words[i])
				cut = sub(/\.\.\.$/, "", shown[i])
				text = substr(shown[i], 2, length(shown[i]) - 2)
				bad += substr(whole, 1, length(text)) != text || (text == whole) == cut
				cuts += cut
			}
			if (bad)
				print "line " FNR ": " $0
			wrong += bad
		}
		END { exit wrong || !cuts }' wanted lines
}

# ---- programs of 32 bits -------------------------------------------------------------------

# Skip unless there is a program of 32 bits, and the kernel runs it.
need_compat() {
	need_strings
	[ -x "$PROG/compat32" ] || skip "needs a compiler of 32-bit programs (gcc -m32)"
	run "$PROG/compat32"
	[ "$status" = 7 ] || skip "needs a kernel that runs 32-bit programs (CONFIG_IA32_EMULATION)"
}

@test "trace_syscalls: the calls of a 32-bit program have the names and arguments of their own table" {
	need_compat
	run -7 tfs-run trace_syscalls --instance "$MARK" --decode -o got -- "$PROG/compat32" word 3>&- 4>&-
	sed 's/^.*[0-9]: //; s/0x[0-9a-f]\{6,\}/ADDRESS/g; s/ <[0-9.]*>$//' got | diff - /dev/fd/5 5<<-EOF
		execve("$PROG/compat32", ["$PROG/compat32", "word"], ADDRESS) = 0
		open("/nowhere/open", O_RDONLY|O_CLOEXEC) = -1 ENOENT
		openat(AT_FDCWD, "/nowhere/openat", O_WRONLY|O_CREAT, 0644) = -1 ENOENT
		mmap2(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = ADDRESS
		socketcall(SYS_SOCKET, ADDRESS) = 3
		socketcall(SYS_CONNECT, ADDRESS) = -1 ENOENT
		socket(AF_UNIX, SOCK_DGRAM, 0) = 4
		connect(4, {sa_family=AF_UNIX, sun_path="/nowhere/connect"}, 22) = -1 ENOENT
		execve("/nowhere/execve", ["word"], ADDRESS) = -1 ENOENT
		write(1, ADDRESS, 7) = 7
		exit_group(7) = ?
	EOF
}

@test "tfs-report: --abi=i386 decodes each call of a 32-bit program from raw_syscalls" {
	need_compat
	new_instance
	export TFS_INSTANCE=$INSTANCE
	hold "$BASH" -c "echo ready; read -r; exec '$PROG/compat32'"
	program=$HELD
	tfs-write trace_clock mono
	tfs-pidfilter set "$program"
	tfs-event raw_syscalls:sys_enter raw_syscalls:sys_exit
	background tfs-record x.dat
	recorder=$PID
	eventually blocks "$recorder"
	release
	finishes "$program" 7
	ends_by "$recorder" INT 0
	tfs-report -D -e 'sys_*' --abi=i386 x.dat >text
	sed 's/^.*[0-9]: //; s/0x[0-9a-f]\{6,\}/ADDRESS/g; s/ <[0-9.]*>$//
		s/^\(socket.*\) = [0-9]*$/\1 = FD/; s/^connect([0-9]*/connect(FD/' text | sed -n '/^open(.*CLOEXEC/,$p' |
		diff - /dev/fd/3 3<<-'EOF'
			open(ADDRESS, O_RDONLY|O_CLOEXEC) = -1 ENOENT
			openat(AT_FDCWD, ADDRESS, O_WRONLY|O_CREAT, 0644) = -1 ENOENT
			mmap2(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = ADDRESS
			socketcall(SYS_SOCKET, ADDRESS) = FD
			socketcall(SYS_CONNECT, ADDRESS) = -1 ENOENT
			socket(AF_UNIX, SOCK_DGRAM, 0) = FD
			connect(FD, ADDRESS, 22) = -1 ENOENT
			execve(ADDRESS, ADDRESS, ADDRESS) = -1 ENOENT
			write(1, ADDRESS, 7) = 7
			exit_group(7) = ?
		EOF
}

@test "trace_exec: programs of 32 bits are shown, and those that they execute, with their words" {
	need_compat
	run -7 tfs-run trace_exec --instance "$MARK" -o got -- "$PROG/execs32" "$PROG/compat32" 3>&- 4>&-
	calls() { sed 's/^.*[0-9]: //; s/0x[0-9a-f]*/ADDRESS/g; s/ <[0-9.]*>$//' "$1"; }
	cat >wanted <<-EOF
		execve("$PROG/execs32", ["$PROG/execs32", "$PROG/compat32"], ADDRESS) = 0
		execve("$PROG/compat32", ["$PROG/compat32"], ADDRESS) = 0
		execve("/bin/true", ["/bin/true"], ADDRESS) = 0
		execve("$PROG/compat32", ["$PROG/compat32"], ADDRESS) = 0
	EOF
	diff wanted <(calls got)
	tfs-summary got >summary
	run -1 grep 'without a beginning' summary
	run -1 grep 'not understood' summary
	run -7 tfs-run trace_exec --json --instance "$MARK" -o got -- "$PROG/execs32" "$PROG/compat32"
	[ "$(grep -c '"event":"sys_exit_execve","fields":{"ret":0,"lat":[0-9.]*,"args":\[{"name":"filename",' got)" = 4 ]
	[ "$(wc -l <got)" = 4 ]
}

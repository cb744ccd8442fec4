#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# tfs-strings: records calls with their user memory, for a program that inherits the records

load ../helper
load ../hooks

# own_instance: Make an instance for what tfs-strings runs, with the clock of its records. It records
# this shell alone.
own_instance() {
	new_instance "$@"
	export TFS_INSTANCE=$INSTANCE
	tfs-write trace_clock mono
	tfs-pidfilter set $$
}

# by_strings WORD...: Start tfs-strings with a program, and wait until the program runs, which blocks
# its signals; set $PID.
by_strings() {
	local words=" $*" program
	program=${words##* -- }
	program=${program%% *}
	background tfs-strings "$@" >records
	eventually file_is "/proc/$PID/comm" "$program"
	eventually blocks "$PID"
}

# ---- what it attaches ---------------------------------------------------------------------

# bats test_tags=quick
@test "tfs-strings: -S prints the programs that it attaches, without the right to attach them" {
	need_tracefs events/bpf_trace
	# shellcheck disable=SC2094 # a word and a file
	plainly tfs-strings -S calls >calls
	[ "$(tail -n 1 calls)" = $'\texit' ]
	[ "$(sed -n 's|^// \(.*\):.*|\1|p' calls | xargs)" = \
		'sched_process_exec sched_process_exit sched_process_fork sys_exit sys_enter' ]
	grep -q 'call ringbuf_output$' calls
	# the kernel enables an event of the top level when a program that can print is loaded
	run ! grep printk calls
}

# bats test_tags=oldest
@test "tfs-strings: its programs live as long as the program that inherits the records, and die with it by SIGKILL" {
	need_bpf
	own_instance
	for signal in TERM KILL; do
		by_strings calls -- tfs-catpipe
		id_kept_by "$PID"
		objects >list
		[ "$(grep -c '^program' list)" = 5 ]
		grep -qE "^map [0-9]+ ${ID}_ring?$" list # the kernel cuts names at 15 bytes
		kill "-$signal" "$PID"
		status=0
		wait "$PID" || status=$?
		[ "$status" = 0 ] || [ "$signal" = KILL ]
		eventually none_loaded
	done
}

@test "tfs-strings: a program that cannot be run is refused, and leaves nothing" {
	need_bpf
	own_instance
	fails 111 'tfs-strings: fatal: unable to run ./none: No such file or directory' \
		tfs-strings calls -- ./none
}

@test "tfs-strings: names the reason if it may not load programs" {
	need_tracefs events/bpf_trace
	need_tool setpriv
	own_instance
	fails 111 'tfs-strings: fatal: unable to make a BPF map: Operation not permitted; this needs CAP_BPF' \
		setpriv --bounding-set -sys_admin,-bpf,-perfmon --inh-caps -sys_admin,-bpf,-perfmon \
		tfs-strings calls -- tfs-catpipe
}

@test "tfs-strings: refuses a clock that is not that of its records" {
	need_bpf
	own_instance
	for clock in local boot; do
		tfs-write trace_clock "$clock"
		fails 111 "tfs-strings: fatal: BPF programs record times of the clock mono, not $clock; set trace_clock to mono, or give no other --clock" \
			tfs-strings calls -- tfs-catpipe
		tfs-strings -S calls >assembly
		[ -s assembly ]
	done
}

@test "tfs-strings: reports a broken place for the programs of a session, or for their rings" {
	need_bpf
	own_instance
	synopsis_of < <(tfs-strings --help)
	for fd in '' x -1 2147483648; do
		fails 100 "tfs-strings: fatal: TFS_KEEPS is not a number; usage: $SYNOPSIS" \
			env TFS_KEEPS="$fd" tfs-strings calls
	done
	fails 111 'tfs-strings: fatal: unable to give the programs to the session: Bad file descriptor' \
		env TFS_KEEPS=77 tfs-strings calls
	for rings in c77 x c0 'c0r1p2'; do
		exits 111 env TFS_RINGS="$rings" tfs-catpipe
		[ "$(wc -l <err)" = 1 ]
		grep -q '^tfs-catpipe: fatal: unable to take the rings of TFS_RINGS: ' err
	done
}

# ---- in the kernel ----------------------------------------------------------------------

# memory OPTION...: Record "acts memory" with the programs of tfs-strings, to the file `file`.
memory() {
	need_bpf
	own_instance
	act memory
	tfs-pidfilter set "$ACT"
	by_strings "$@" -- tfs-record file
	release "$ACT"
	ends_by "$PID" TERM 0
	[ ! -s records ]
	tfs-report file >lines
	tfs-report -j file | pieces >got
	cat got # for a test that fails
}

# pieces: Print the records of calls in lines of JSON: the event and the number, the result of a
# call, and each piece of memory: its tag and argument, and its text, or its bytes as numbers.
pieces() {
	local big=0
	[ "$(uname -m)" != s390x ] || big=1
	awk -v big="$big" '
		function field(name) {
			return match($0, "\"" name "\":-?[0-9]+") ? substr($0, RSTART + length(name) + 3,
				RLENGTH - length(name) - 3) : ""
		}
		function text(from, n, i, all) {
			for (i = from; i < from + n; i++)
				all = all sprintf("%c", byte[i] + 0)
			return all
		}
		function numbers(from, n, i, all) {
			for (i = from; i < from + n; i++)
				all = all (i > from ? " " : "") byte[i]
			return all
		}
		/"system":"tfs"/ {
			match($0, /"event":"[a-z]*"/)
			event = substr($0, RSTART + 9, RLENGTH - 10)
			print event, field("nr") (event == "call" ? " = " field("ret") : "")
			match($0, /"memory":\[[0-9,]*\]/)
			all = split(substr($0, RSTART + 10, RLENGTH - 11), byte, ",")
			for (i = 1; i + 7 <= all; i += n + 8 - n % 8) {
				tag = sprintf("%c", byte[i] + 0)
				n = byte[i + 2 + !big] * 256 + byte[i + 2 + big]
				i += 8
				print "  " tag byte[i - 7] (n || tag ~ /[abcABC]/ ? " " : "") \
					(tag ~ /[deDE]/ ? numbers(i, n) : text(i, n))
			}
			if (i != all + 1)
				print "  ends in a piece"
		}'
}

# printed: Print the pieces that were recorded.
printed() {
	grep '^  ' got
}

# of CALL: Print the pieces that were recorded with a call.
of() {
	awk -v nr="$(syscall-nr "$1")" '/^[a-z]/ { is = $2 == nr; next } is' got
}

# bats test_tags=quick,oldest
@test "tfs-strings calls: records strings, structures, addresses and words of each call" {
	memory calls openat renameat2 connect getsockname ppoll execve
	run ! grep 'ends in a piece' got
	q=$(printf 'q%.0s' {1..600})
	z=$(printf 'z%.0s' {1..500})
	[ "$(printed | sed -n 's/^  A1 \(.nowhere.one\)$/\1/p')" = /nowhere/one ]
	[ "$(printed | sed -n 's/^  A1 \(qq*\)$/\1/p')" = "$q" ]
	# what is not in memory is read again at the return
	[[ $z == "$(printed | sed -n 's/^  b1 \(z*\)$/\1/p' | tr -d '\n')"* ]]
	[ "$(printed | grep -c '^  X1$')" = 2 ]
	[ "$(printed | grep -c '^  x1$')" = 2 ]
	[ "$(printed | grep -A 1 'from$')" = $'  A1 /nowhere/from\n  A3 /nowhere/to' ]
	unix='1 0'
	pollfd='231 3 0 0 1 0 '
	[ "$(uname -m)" != s390x ] || unix='0 1' pollfd='0 0 3 231 0 1 '
	[ "$(printed | grep "^  D1 $unix ")" = "  D1 $unix 47 110 111 119 104 101 114 101 47 116 119 111 0" ] # connect
	printed | grep '^  D2 \(110 0 0 0\|0 0 0 110\)$' # getsockname
	printed | grep "^  d1 $unix$"
	printed | grep '^  d2 \(2 0 0 0\|0 0 0 2\)$'
	[ "$(printed | grep '^  [Dd]0 ' | grep -o "$pollfd" | wc -l)" = 28 ] # 1 and 13, at both sides
	of execve | diff - /dev/fd/3 3< <(
		for program in /nowhere/three "$PROG/acts"; do
			echo "  A0 $program"
			for word in acts nothing 'two words' SECRET-word ''; do
				printf '  %s\n' S1 "A1 $word"
			done
		done
	)
}

# unread N: Record N calls of getppid in a ring that nobody reads meanwhile; set MADE,
# DELIVERED and LOST.
unread() {
	MADE=$1
	own_instance
	calls "$MADE"
	tfs-pidfilter set "$CALLS"
	by_strings calls getppid -- tfs-record file
	kill -STOP "$PID"
	release "$CALLS"
	kill -CONT "$PID"
	ends_by "$PID" TERM 0
	DELIVERED=$(tfs-report file | grep -c ': call: getppid(')
	LOST=$(tfs-report -j file | sed -n 's/.*"lost":\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
}

# bats test_tags=oldest
@test "tfs-strings calls: what a ring has no room for is counted, exactly" {
	need_bpf
	unread 100
	[ "$DELIVERED $LOST" = '100 0' ]
	tfs-instance remove "$INSTANCE"
	unread 200000
	tfs-report file | tail -n 2
	[ "$DELIVERED" -gt 100 ]
	[ "$LOST" -gt 0 ]
	[ $((DELIVERED + LOST)) = 200000 ]
}

# steps FILE: Print the calls of getppid in JSON: enter, its time and that of its entry; call and both.
steps() {
	sed -n 's/^{"ts":\([0-9]*\)\.\([0-9]*\),.*"system":"tfs","event":"\([a-z]*\)","fields":{"begin":\([0-9]*\),.*/\3 \1\2 \4/p' "$1"
}

# bats test_tags=oldest
@test "tfs-strings calls: each call has one record, at its return; -E: one when it begins, too" {
	need_bpf
	for option in '' -E; do
		own_instance "${option#-}"
		calls 50
		tfs-pidfilter set "$CALLS"
		# shellcheck disable=SC2086 # a word, or none
		by_strings $option calls getppid -- tfs-record file
		release "$CALLS"
		ends_by "$PID" TERM 0
		tfs-report -j file >lines
		steps lines | awk -v both="$option" '
			$1 == "enter" && (!both || $2 != $3 || open) { exit 1 }
			$1 == "enter" { open = $3; n++; next }
			$1 != "call" || $2 < $3 || $3 < last || (both && open != $3) { exit 1 }
			{ open = 0; last = $2; calls++ }
			END { print n + 0, calls }' >counts
		lines_are counts "$([ -z "$option" ] && echo 0 || echo 50) 50"
		[ "$(tfs-report -D file | grep -c ': getppid() = [0-9]* <')" = 50 ]
	done
}

# bats test_tags=oldest
@test "tfs-strings calls: a call that does not return has a record at the end" {
	need_bpf
	own_instance
	hold "$BASH" -c 'echo ready; read -r; echo again; read -r'
	tfs-pidfilter set "$HELD"
	by_strings calls read -- tfs-record file
	release
	eventually file_has 2 ready
	eventually grep -q "^$(syscall-nr read) " "/proc/$HELD/syscall"
	ends_by "$PID" TERM 0
	[ "$(tfs-report file | grep -c ': open: read(0x0, ')" = 1 ]
	[ "$(tfs-report file | tail -n 1 | grep -c ': open: read(0x0, 0x[0-9a-f]*, 0x1, .*) path="" = ?$')" = 1 ]
	[ "$(tfs-report -D file | grep -c ': read(0, 0x[0-9a-f]*, 1 <unfinished ...>$')" = 1 ]
	release "$HELD"
}

missed_twice() {
	[ "$(grep -c '/nowhere/at all' records)" = 2 ]
}

# bats test_tags=oldest
@test "tfs-strings calls: tfs-catpipe prints them as lines and as JSON while they run" {
	need_bpf
	own_instance
	for form in -D -Dj; do
		act opens 3 2 "$PWD/there"
		tfs-pidfilter set "$ACT"
		by_strings calls openat -- tfs-catpipe "$form" -e 'sys_*'
		release "$ACT"
		eventually missed_twice
		ends_by "$PID" TERM 0
		if [ $form = -D ]; then
			[ "$(grep -c ": openat(AT_FDCWD, \"$PWD/there\", O_RDONLY) = [0-9]* <0" records)" = 3 ]
			[ "$(grep -c ': openat(AT_FDCWD, "/nowhere/at all", O_RDONLY) = -1 ENOENT <0' records)" = 2 ]
		else
			[ "$(grep -c '"event":"sys_exit_openat","fields":{"ret":-2,"error":"ENOENT",.*"text":"\\"/nowhere/at all\\""' records)" = 2 ]
		fi
	done
}

@test "tfs-strings calls: -s records only calls whose first argument is a socket" {
	need_bpf
	need_types
	own_instance
	hold "$PROG/dns" serve
	server=$HELD
	tfs-pidfilter set "$server"
	by_strings -f -s calls read write close recvfrom sendto accept poll -- tfs-catpipe -D --names -e 'sys_*'
	"$PROG/dns" ask "$(head -n 1 ready)" 1 >said
	eventually file_has 18 ready # the port, and each query but one to nobody
	release
	finishes "$server" 0
	tfs-write tracing_on 0
	ends_by "$PID" TERM 0
	# the server writes a line for each query, and polls
	run ! grep -v '^#\|: [a-z]*([0-9]*<\(UDP\|TCP\)' records
	[ "$(grep -c ': accept(.* = [0-9]' records)" = 2 ]
	[ "$(grep -c ': close(.*<TCP' records)" = 2 ]
	[ "$(grep -c ': recvfrom([0-9]*<UDP.* = [0-9]' records)" = 15 ]
}

@test "tfs-strings calls: takes the names of events, and refuses an unknown name" {
	memory calls newuname umount openat
	[ "$(printed | grep -c '^  A1 /nowhere/one$')" = 1 ]
	[ "$(of openat)" = "$(printed)" ]
	fails 111 "tfs-strings: fatal: unknown system call 'nosuch'" tfs-strings calls openat nosuch -- tfs-catpipe
}

@test "tfs-strings calls: no secret is recorded unless it is asked for" {
	memory -a calls
	[ -n "$(printed)" ]
	run -1 grep -c SECRET file
	of execve | diff - <(printf '  A0 %s\n' /nowhere/three "$PROG/acts")
	tfs-instance remove "$INSTANCE"
	memory -d 9 -e -w 2 calls write sendto execve
	[ "$(of write)" = "$(of sendto)" ]
	[ "$(of write)" = '  E1 83 69 67 82 69 84 45 119 114' ] # the first 9 bytes of the secret
	[ "$(of execve | grep -c '^  E1$')" = 2 ]
	[ "$(of execve | grep -c '^  A1 acts$')" = 2 ]
	[ "$(of execve | grep -c '^  A1 nothing$')" = 2 ]
	[ "$(of execve | grep -c '^  A2 ONE=SECRET-env$')" = 2 ]
	run -1 grep -c SECRET-word file
}

# bats test_tags=oldest
@test "tfs-strings calls: -c records the CPU time of a process at its end, once" {
	need_bpf
	[ -e "${TRACER_SYSFS_PATH:-/sys}/kernel/btf/vmlinux" ] || skip "needs BTF (CONFIG_DEBUG_INFO_BTF)"
	[ "$(uname -m)" != armv7l ] || skip "needs a kernel of 64 bits"
	for option in '' -c; do
		own_instance "${option#-}"
		tfs-write options/event-fork 1
		hold "$BASH" -c "echo ready; read -r; '$PROG/calls' 20000 </dev/null >counts & echo \$! >child; wait; times >spent"
		tfs-pidfilter set "$HELD"
		# shellcheck disable=SC2086 # a word, or none
		by_strings $option calls openat -- tfs-catpipe
		release "$HELD"
		# the kernel ends a process after its parent has seen its end
		[ -z "$option" ] || eventually grep -q ": cpu: process=$(cat child) " records
		ends_by "$PID" TERM 0
		grep -q 'call: openat(' records
		sed -n 's/.* cpu: process=\([0-9]*\) ns=/\1 /p' records >cpu
		[ -n "$option" ] || file_is cpu ''
	done
	# the shell has the time of its child in milliseconds, up to the last of what the child does
	awk -v pid="$(cat child)" 'FNR == NR && FNR == 2 { gsub(/[ms]/, " "); spent = 1000 * ($2 + $4) + 60000 * ($1 + $3) }
		FNR != NR && $1 == pid { n++; off = $2 / 1e6 - spent }
		END { exit n != 1 || off < -2 || off > 20 }' spent cpu
}

@test "tfs-strings: trace-cmd and KernelShark's library print tfs:call with the numbers of strace" {
	need_bpf
	need_tool strace trace-cmd setarch cc python3
	strace -e trace=none true 2>/dev/null || skip "needs strace"
	debian libkshark2 libtracecmd1 libtracefs1 libtraceevent1 libjson-c5
	libraries=$(dirname "$ROOT"/usr/lib/*/libkshark.so.2)
	cc -o kernelshark "$TREE/t/record/kernelshark.c" "$libraries/libkshark.so.2" -Wl,--allow-shlib-undefined
	printf '%s\n' ': <there' ': <"/no \"such\\file"' 'kill -0 999999999' 'exec 5<there' 'read -u 5 x' >program
	echo line >there
	for words in "$BASH program" "$PROG/compat32"; do
		[ -x "${words%% *}" ] || continue
		# shellcheck disable=SC2086 # words
		strace -e raw=all -o raw setarch -R $words >out 2>err || :
		# shellcheck disable=SC2086 # words
		tfs-run trace_syscalls --decode --instance "$MARK" -o x.dat -- setarch -R $words >out 2>err || :
		LD_LIBRARY_PATH=$libraries ./kernelshark x.dat >shark
		trace-cmd report x.dat >shown 2>said
		python3 - <<-'EOF'
			import errno, itertools, re
			def number(s):
			    s = "0" if s == "NULL" else s
			    n = int(s, 0)
			    # where a program lies differs, and so does what it has from its environment
			    return "ADDRESS" if n >= 1 << 24 else n
			def strace():
			    for line in open("raw"):
			        m = re.match(r"(\w+)\((.*)\) += (?:-1 (E\w+) .*|(\S+))$", line)
			        if m and m[4] != "?":
			            result = -getattr(errno, m[3]) if m[3] else number(m[4])
			            yield m[1], [number(a) for a in m[2].split(", ") if a], result
			def ours(file):
			    for line in open(file):
			        m = re.search(r"\bcall: +(\w+)\((.*)\) path=\"(.*)\" = (-?\d+)$", line)
			        if m:
			            yield m[1], [number(a) for a in m[2].split(", ")], number(m[4]), m[3]
			truth = list(strace())
			paths = 0
			for file in "shark", "shown":
			    got = list(ours(file))
			    for a, b in itertools.zip_longest(truth, got):
			        # strace prints what socketcall calls
			        assert a and b and (b[0] == "socketcall" or
			                            a[:2] == (b[0], b[1][:len(a[1])])), (file, a, b)
			        assert a[2] == b[2] or re.search("tid_|get.?p", a[0]), (file, a, b) # a pid
			        paths += b[3] == '/no "such\\file' and b[2] == -2
			open("paths", "w").write(str(paths))
		EOF
		[ "$words" != "$BASH program" ] || [ "$(cat paths)" = 2 ]
	done
	fails 1 "tfs-report: fatal: x.dat has no event 'sys_*'; its calls are tfs:call: add -D, or give -e tfs:call" \
		tfs-report -e 'sys_*' x.dat
	tfs-report -D -e 'sys_*' x.dat >got
	grep -q ': execve(' got
}

# named_as_told ACCOUNT JSON: Fail unless each call of the account of "named often" has its name.
named_as_told() {
	python3 - "$@" <<-'EOF'
		import json, sys
		told = {int(n): bytes.fromhex(name.replace("\\x", "")) for n, name in map(str.split, open(sys.argv[1]))}
		seen = {}
		for line in open(sys.argv[2], errors="surrogateescape"):
		    e = json.loads(line)
		    if e.get("event") == "sys_exit_close":
		        seen[e["fields"]["args"][0]["value"]] = e["comm"].encode(errors="surrogateescape")
		wrong = [(n, told[n], seen.get(n)) for n in told if told[n] != seen.get(n)]
		assert told and not wrong, (len(wrong), wrong[:5])
	EOF
}

@test "tfs-strings: each call has the name of its task then, whoever gave it, live and in a trace.dat" {
	need_bpf
	need_tool python3 unshare
	for apart in '' 'unshare --pid --mount-proc --fork'; do
		# shellcheck disable=SC2086 # words
		tfs-run trace_syscalls --instance "$MARK" --decode -s close -o x.json -- $apart "$PROG/named" often 1000 <<<go >account 2>err
		sed -i /ready/d account
		[ "$(wc -l <account)" = 1000 ]
		named_as_told account x.json
		# shellcheck disable=SC2086 # words
		tfs-run trace_syscalls --instance "$MARK" --decode -o x.dat -- $apart "$PROG/named" often 1000 <<<go >account 2>err
		sed -i /ready/d account
		tfs-report -D -j x.dat >x.json
		named_as_told account x.json
	done
	hold "$PROG/named" often 90
	watch_whole trace_syscalls -s close --decode --pid "$HELD"
	# names of ten forms, of which five need no escape in text
	sed -nE 's/^ *(.*)-[0-9]+ +\[00.\] .*: close\((1[0-9]{6})\) = .*/\2 \1/p' got >names
	sed 1d ready | while read -r line; do
		printf '%b' "$line" | tr '\n' '~'
		echo
	done | grep -E ' (n[0-9]+|a b [0-9]+|t][0-9]+|fifteen_[0-9]+|-[0-9]+ \[000\])$' >want
	[ "$(wc -l <want)" = 45 ]
	grep -Fxf want names | diff - want
}

@test "tfs-strings: a program that vfork or another thread executes has its own name from its first call on" {
	need_bpf
	cp "$PROG/named" './a ] b'
	tfs-run trace_syscalls --instance "$MARK" --decode -s close,execve -- "$PROG/named" execs './a ] b' >trace 2>err
	[ "$(grep -cE '^ *a \] b-[0-9]+ +\[.*: execve\("\./a \] b"' trace)" = 2 ]
	[ "$(grep -cE '^ *a \] b-[0-9]+ +\[.*: close\(200000[01]\) = -1 EBADF ' trace)" = 2 ]
}

@test "tfs-strings: tasks that have the same pid one after the other are different tasks in each view" {
	need_bpf
	"$PROG/named" lives 1 || skip "needs CAP_CHECKPOINT_RESTORE in the first pid namespace"
	tfs-run trace_syscalls --instance "$MARK" --decode -s close -o x.json -- "$PROG/named" lives 4 2>err
	tfs-run trace_syscalls --instance "$MARK" --decode -o x.dat -- "$PROG/named" lives 4 2>err
	tfs-report -D -j -e sys_exit_close x.dat >y.json
	for file in x.json y.json; do
		sed -nE 's/.*"pid":([0-9]+),"comm":"(life .)","tgid":\1,"uid":(10..),.*"value":(300....|-1),.*/\2 \3 \4/p' $file >got
		diff got - <<-'EOF'
			life 0 1000 3000000
			life 1 1001 3000001
			life 1 1001 -1
			life 2 1002 3000002
			life 2 1002 -1
			life 2 1002 -1
			life 3 1003 3000003
			life 3 1003 -1
			life 3 1003 -1
			life 3 1003 -1
		EOF
		[ ! -e /sys/kernel/btf/vmlinux ] ||
			[ "$(sed -nE 's/.*"comm":"life.*"start":([0-9.]+),.*/\1/p' $file | sort -u | wc -l)" = 4 ]
	done
	# the table has a line for each of them: close(2) i + 1 times
	tfs-run trace_syscalls --instance "$MARK" --decode -o x.txt -s close -- "$PROG/named" lives 4 2>err
	sed -nE 's/^ *life .-([0-9]+) .*/\1/p' x.txt | sort -u >pid
	[ "$(wc -l <pid)" = 1 ]
	run -0 grep -cx "# reused $(cat pid)" x.txt
	[ "$output" = 3 ]
	tfs-summary -k pid -s name x.txt >text
	tfs-summary -k pid -s name -j x.txt >json
	[ "$(sed -nE "s/^ +([0-9]+) .*  $(cat pid)\$/\1/p" text | tr '\n' ' ')" = '1 2 3 4 ' ]
	[ "$(sed -nE "s/^\{\"calls\":([0-9]+),.*\"pid\":\"?$(cat pid)\"?\}\$/\1/p" json | tr '\n' ' ')" = '1 2 3 4 ' ]
	tfs-run trace_syscalls --instance "$MARK" --decode --summary --per pid --sort name -s close -- "$PROG/named" lives 4 >text 2>err
	[ "$(awk '$1 == $2 && $NF != "total" { print $1 }' text | tr '\n' ' ')" = '1 2 3 4 ' ]
}

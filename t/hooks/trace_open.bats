#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# trace_open: each file that is opened, by BPF programs and by kprobes; exact counts and paths

load ../helper
load ../hooks

# opens PATH [RESULT]: Print how many calls with that path and result are in got. PATH is a pattern,
# without its quotes.
opens() {
	grep -cE ": open(at)?\((AT_FDCWD, )?$1, O_RDONLY[^)]*\) = ${2-[0-9]+} <[0-9.]+>\$" got || :
}

# each_source: Print the sources that this kernel has.
each_source() {
	echo bpf
	[ ! -e "$TRACEFS/kprobe_events" ] || tfs-probe -g "own_$$" add x 'p do_sys_openat2' >/dev/null 2>&1 ||
		return 0
	[ ! -e "$TRACEFS/kprobe_events" ] || { tfs-probe -g "own_$$" remove; echo kprobes; }
}

# bats test_tags=quick,oldest
@test "trace_open: records each file that is opened, and the result" {
	need_bpf
	act opens 12 8 "$PWD/there"
	traced trace_open
	[ "$(opens "\"$PWD/there\"")" = 12 ]
	[ "$(opens '"/nowhere/at all"' '-1 ENOENT')" = 8 ]
	file_has 20 got
}

# bats test_tags=quick
@test "trace_open: records an open by the handle of a file" {
	need_bpf
	need_tool python3
	echo text >x
	tfs-run trace_open --instance "$MARK" -- python3 -SEc 'if 1:
		import ctypes, os
		libc = ctypes.CDLL(None)
		handle, mount = ctypes.create_string_buffer(b"\x80" + bytes(135), 136), ctypes.c_int()
		assert not libc.name_to_handle_at(-100, b"x", handle, ctypes.byref(mount), 0)
		assert libc.open_by_handle_at(-100, handle, os.O_RDONLY) >= 0' >got
	[ "$(grep -c ': open_by_handle_at(AT_FDCWD, 0x[0-9a-f]*, O_RDONLY) = [0-9]* ' got)" = 1 ]
}

@test "trace_open: --at-return prints the same lines without durations, and no program runs when a call begins" {
	need_bpf
	for words in '' --at-return; do
		act opens 12 8 "$PWD/there"
		# shellcheck disable=SC2086 # a word, or none
		traced trace_open $words
		sed 's/^.*[0-9]: //' got >"text$words"
	done
	file_has 20 <(grep ' <[0-9.]*>$' text)
	diff <(sed 's/ <[0-9.]*>$//' text) text--at-return
	printf '%s\0' "$PWD/there" >name
	act unread 20 5 "$PWD/name" # the page is there when the call returns
	traced trace_open --at-return --json
	file_has 20 <(grep -F '"text":"\"'"$PWD"'/there\""' got)
	file_has 5 <(grep -F '"error":"EFAULT"' got)
	file_has 0 <(grep -F '"lat":' got)
	tfs-strings -S -r calls openat >programs
	file_has 1 <(grep '^// sys_exit: ' programs)
	file_has 0 <(grep '^// sys_enter: ' programs)
	refuses trace_syscalls 100 '--at-return cannot be combined with --names, --paths, --slower, --strace and --no-data' \
		--at-return -s openat --no-data --pid $$
	refuses trace_syscalls 100 '--at-return: the return of execve does not tell all of the call' \
		--at-return -s openat execve --pid $$
	refuses trace_syscalls 100 '--at-return needs names of system calls, and not --enter' --at-return --pid $$
}

# bats test_tags=guest,oldest
@test "trace_open: with kprobes the lines are the same" {
	need_bpf
	uses kprobe_events
	for source in bpf kprobes; do
		act opens 12 8 "$PWD/there"
		traced trace_open --source "$source"
		sed 's/^.*: \(open.*\) <[0-9.]*>$/\1/' got >"$source"
	done
	file_has 20 bpf
	diff bpf kprobes
	act opens 12 8 "$PWD/there"
	traced trace_open --source kprobes --failed
	[ "$(opens '"/nowhere/at all"' '-1 ENOENT')" = 8 ]
	file_has 8 got
}

# bats test_tags=guest,oldest
@test "trace_open: a path that kprobes cannot record is an address, and its call is printed" {
	uses kprobe_events
	path=$(printf '/%.0s' {1..4080}) # it does not fit into a page
	act opens 3 2 "$path"
	traced trace_open --source kprobes
	[ "$(opens '0x[0-9a-f]+')" = 3 ]
	[ "$(opens '"/nowhere/at all"' '-1 ENOENT')" = 2 ]
	file_has 5 got
	printf '%s\0' "$PWD/there" >name
	act unread 20 5 "$PWD/name"
	traced trace_open --source kprobes
	sed -i 1d got # the open of name
	read_at_end=0
	! grep -q 'return probes.*\$arg' "$TRACEFS/README" || read_at_end=20
	[ "$(opens "\"$PWD/there\"")" = "$read_at_end" ]
	[ "$(opens '0x[0-9a-f]+')" = $((20 - read_at_end)) ]
	[ "$(opens '0x[0-9a-f]+' '-1 EFAULT')" = 5 ]
}

# bats test_tags=guest
@test "trace_open: two sessions at once do not see each other's opens" {
	need_bpf
	for source in $(each_source); do
		act opens 3 0 "$PWD/there"
		one_go=$GO
		start_session trace_open --output fifo --pid "$ACT" --source "$source"
		read_by cat >got.one
		one_session=$SESSION one_reader=$READER
		act opens 5 0 "$PWD/there"
		second_session trace_open "--output fifo --pid $ACT --failed --source $source"
		read_by cat >got
		release
		all_end "$SESSION" "$READER"
		echo >"$one_go"
		all_end "$one_session" "$one_reader"
		[ "$(grep -vc '^#' got)" = 0 ]
		[ "$(grep -vc '^#' got.one)" = 3 ]
		no_probes
		no_probes b
	done
}

path_of() { # LENGTH: Print a path of that many bytes, of a file that is there
	local slashes
	slashes=$(printf '/%.0s' {1..4096})
	printf '%s' "${slashes::$(($1 - ${#PWD} - 6))}$PWD/there"
}

@test "trace_open, trace_exec: --json has numbers and names, and tfs-export accepts each line" {
	need_bpf
	act opens 12 8 "$PWD/there"
	traced trace_open --json --date
	tfs-export -f logs <got >otlp
	[ "$(grep '"ret":[0-9]*,' got | grep -cF '"text":"\"'"$PWD/there"'\""')" = 12 ]
	[ "$(grep '"ret":-2,"error":"ENOENT",' got | grep -cF '"text":"\"/nowhere/at all\""')" = 8 ]
	file_has 20 got
	[ "$(grep -o '"eventName":"sys_exit_open[at]*"' otlp | wc -l)" = 20 ]
	tfs-run trace_exec --json -- sh -c 'exec env echo "a\"b"' 2>/dev/null >got
	[ "$(grep '"ret":0,' got | grep -cF '"text":"[\"echo\", \"a\\\"b\"]"')" = 1 ]
}

@test "trace_open: --failed prints only the opens that fail" {
	need_bpf
	act opens 12 8 "$PWD/there"
	traced trace_open --failed
	[ "$(opens '"/nowhere/at all"' '-1 ENOENT')" = 8 ]
	file_has 8 got
}

# bats test_tags=oldest
@test "trace_open: BPF programs record the opens of threads and of children, and of no other task" {
	need_bpf
	act opens 50 0 /dev/zero
	stranger=$ACT stranger_go=$GO
	act threads 7 3 "$PWD/there"
	watch trace_open --pid "$ACT"
	find_id
	echo >"$stranger_go"
	eventually gone "$stranger"
	release
	watch_end
	[ "$(opens "\"$PWD/there\"")" = 42 ]
	[ "$(grep "\"$PWD/there\"" got | pids_in | wc -l)" = 6 ]
	[ "$(lines '/dev/zero')" = 0 ]
}

# bats test_tags=oldest
@test "trace_open: BPF programs read a path of any length whole" {
	local pids=() gates=() paths=()
	need_bpf
	for n in 62 63 64 126 127 447 448 449 896 4094 4095; do
		[ "$n" -gt $((${#PWD} + 6)) ] || continue
		path=$(path_of "$n")
		act opens 2 1 "$path"
		pids+=("$ACT") gates+=("$GO") paths+=("$path")
	done
	# one session for all, because an emulated CPU takes seconds for each
	watch trace_open --pid "${pids[@]}"
	find_id
	for GO in "${gates[@]}"; do
		release
	done
	watch_end
	no_probes
	for path in "${paths[@]}"; do
		[ "$(opens "\"$path\"")" = 2 ]
	done
	[ "$(grep -vc '^#' got)" = $((3 * ${#paths[@]})) ]
}

@test "trace_open: a path that the kernel refuses as too long is cut, and has a mark" {
	need_bpf
	path=$(path_of 4090)
	act opens 3 0 "$path$path"
	traced trace_open
	[ "$(lines ": open[at]*(.*\"$path/.*\"\.\.\., O_RDONLY[^)]*) = -1 ENAMETOOLONG ")" = 3 ]
	file_has 3 got
}

# bats test_tags=oldest
@test "trace_open: BPF programs read a path that was not in memory, and the address of a bad one" {
	need_bpf
	printf '%s\0' "$PWD/there" >name
	act unread 20 5 "$PWD/name"
	traced trace_open
	[ "$(opens "\"$PWD/there\"")" = 20 ]
	[ "$(opens '0x[0-9a-f]+' '-1 EFAULT')" = 5 ]
	[ "$(grep -vc 'name"' got)" = 25 ]
}

# bats test_tags=oldest
@test "trace_open: a path is that of the entry, whatever a thread writes there while the call waits" {
	need_bpf
	long=$(path_of 4000)
	for fifo in "$PWD/fifo" "${long%there}fifo"; do
		rm -f fifo
		mkfifo fifo
		tfs-run trace_open --instance "$MARK" -o got.txt -- "$PROG/sides" hidden "$fifo"
		cp got.txt got
		[ "$(opens "\"$fifo\"")" -ge 1 ]
		[ "$(lines '"/nowhere/else"')" = 0 ]
		[ "$(opens '"/nowhere/absent"' '-1 ENOENT')" = 1 ]
		[ "$(opens '0x[0-9a-f]+' '-1 EFAULT')" = 1 ]
	done
}

@test "trace_open: a path forges neither fields nor lines nor records" {
	need_bpf
	act opens 1 0 $'/a" flags=0x7 ret=9 x="\n#b'
	traced trace_open
	[ "$(grep -cF '"/a\" flags=0x7 ret=9 x=\"\n#b", O_RDONLY' got)" = 1 ]
	act opens 1 0 "/a\\\" flags=0x7 ret=9 x=\"\\"
	traced trace_open
	[ "$(grep -cF '"/a\\\" flags=0x7 ret=9 x=\"\\", O_RDONLY' got)" = 1 ]
	act opens 1 0 "a1 /etc/passwd"
	traced trace_open
	[ "$(opens '"a1 /etc/passwd"' '-1 ENOENT')" = 1 ]
	file_has 1 got
}

# bats test_tags=oldest
@test "trace_open: a full buffer loses events, which are counted" {
	need_bpf
	n=$(so_many 40000)
	act opens "$n" 0 "$PWD/there"
	start_session trace_open --output fifo --buffer 64 --pid "$ACT"
	find_id
	act=$ACT
	release
	eventually gone "$act" # no reader exists yet
	read_by cat >got
	watch_end
	lost=$(sed -En '$s/^# lost ([0-9]+) events: .*/\1/p' got)
	[ "$lost" -gt 0 ]
	[ "$(lines ': open[at]*(')" -lt "$n" ]
}

@test "trace_open: tfs-report -D decodes --output dat" {
	need_bpf
	act opens 12 8 "$PWD/there"
	start_session trace_open --output dat --pid "$ACT"
	find_id
	release
	session_ends
	tfs-report -D -e 'sys_*' "$TRACE" >got
	rm -r "${TRACE%/*}"
	[ "$(opens "\"$PWD/there\"")" = 12 ]
	[ "$(opens '"/nowhere/at all"' '-1 ENOENT')" = 8 ]
}

@test "trace_open: nothing of the top level is enabled, at no moment of a session" {
	need_bpf
	watch_top_level
	act opens 3 0 "$PWD/there"
	traced trace_open
	[ "$(opens "\"$PWD/there\"")" = 3 ]
	top_level_unchanged
	run -1 grep -F "$PWD/there" "$TRACEFS/trace"
}

# everything KILLED: Kill the processes that the word names of a session that runs.
killed() {
	local janitor pids
	act opens 1 0 "$PWD/there"
	start_session "$1" --output fifo --pid "$ACT"
	find_id
	[ -n "$(objects)" ]
	janitor=$(children "$SESSION" | head -n 1)
	pids="$janitor $(children "$janitor")"
	# shellcheck disable=SC2086 # a pid a word
	kill_at_once "$SESSION" $pids
	wait "$SESSION" || :
	eventually none_loaded
	"$MANAGER" --run trace_event --args "--instance ${MARK}b --pid $$ -t 1 -e sched_process_exit" >/dev/null
	nothing_left
}

# This test is alone because any other session would remove the rest first.
# bats test_tags=alone,oldest
@test "trace_open, trace_exec: if everything is killed, no BPF program stays" {
	need_bpf
	killed trace_open
	killed trace_exec
}

@test "trace_open: --check leaves no BPF program after" {
	need_bpf
	outputs 0 'trace_open: yes' "$MANAGER" --check trace_open --args "--pid $$"
}

@test "trace_open: --source syscalls says whether the paths are addresses or cut" {
	need_bpf
	act opens 12 8 "$PWD/there"
	traced trace_open --source syscalls
	path='0x[0-9a-f]+' note='strings are addresses'
	[ ! -e "$TRACEFS/syscall_user_buf_size" ] ||
		path="\"$PWD/there\"" note='strings are cut after 165 bytes'
	[ "$(head -n 1 got)" = "# $note" ]
	[ "$(opens "$path")" = 12 ]
	[ "$(lines ') = -1 ENOENT ')" = 8 ]
	file_has 21 got
}

@test "trace_open: says that BPF programs have no other clock than mono, in each hook" {
	need_bpf
	[ ! -e "$TRACEFS/kprobe_events" ] || skip "needs a kernel without kprobes"
	[ ! -e "$TRACEFS/syscall_user_buf_size" ] || skip "needs a kernel that copies no strings itself"
	why='BPF programs record times of the clock mono, not CLOCK; set trace_clock to mono, or give no other --clock'
	for hook in trace_open trace_exec 'trace_syscalls --decode' trace_why trace_tcp; do
		for view in '--clock boot' '--clock local' '--clock boot --json' '--clock local -o x.dat'; do
			[[ $hook != trace_why || $view != *local* ]] || continue # it needs another one
			rm -f x.dat
			# shellcheck disable=SC2086 # words
			tfs-run $hook $view --instance "$MARK" -- true >got 2>err
			[ ! -e x.dat ] || tfs-report x.dat >>got
			clock=${view#--clock }
			grep -F "${why/CLOCK/"${clock%% *}"}" got || { echo "$hook $view"; cat got err; false; }
		done
	done
	tfs-run trace_open --clock mono --instance "$MARK" -- true >got
	run -1 grep -F 'clock' got
}

@test "trace_open: --source kprobes is refused without kprobes, and names the file" {
	need_bpf
	[ ! -e "$TRACEFS/kprobe_events" ] || skip "needs a kernel without kprobes"
	run -111 --separate-stderr "$MANAGER" --run trace_open --args \
		"--instance $MARK --pid $$ --source kprobes"
	[ -z "$output" ]
	# shellcheck disable=SC2154 # set by run
	[ "$stderr" = 'manager: fatal: this kernel has no kprobe_events; it needs CONFIG_KPROBE_EVENTS' ]
}

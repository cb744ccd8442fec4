#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# trace_open: each file that is opened, by kprobes and by BPF programs; exact counts and paths

load ../helper
load ../hooks

# bats test_tags=quick,guest
@test "trace_open: records each file that is opened, and the result" {
	uses kprobe_events
	act opens 12 8 "$PWD/there"
	traced trace_open
	[ "$(lines ": open: .*path=\"\?$PWD/there")" = 12 ]
	[ "$(lines ': open: .* ret=-2')" = 8 ]
	[ "$(grep -vc '^#' got)" = 20 ]
}

# bats test_tags=guest
@test "trace_open: --failed prints the opens that fail, with path and error" {
	uses kprobe_events
	act opens 12 8 "$PWD/there"
	traced trace_open --failed
	[ "$(grep ': open: .* ret=-2' got | grep -c 'path="/nowhere/at all"')" = 8 ]
	# successful opens add no comment line
	[ "$(grep -c '^#' got)" = 0 ]
	[ "$(grep -vc '^#' got)" = 8 ]
}

# bats test_tags=guest
@test "trace_open: if a path does not fit into a page, prints the open without it" {
	uses kprobe_events
	path=$(printf '/%.0s' {1..4080})
	event='open_long: .* flags=0x[0-9a-f]*'
	grep -q 'return probes.*\$arg' "$TRACEFS/README" || event='open: ([^)]*)'
	act opens 3 2 "$path"
	traced trace_open
	[ "$(lines ": $event ret=[0-9]*$")" = 3 ]
	[ "$(lines ': open: .*path="/nowhere/at all".* ret=-2\|: open: .* ret=-2 path="/nowhere/at all"')" = 2 ]
	[ "$(grep -vc '^#' got)" = 5 ]
	[ "$(grep -c '^#' got)" = 0 ]
	act opens 3 2 "${path::4070}nowhere"
	traced trace_open --failed
	[ "$(lines ": $event ret=-2$")" = 3 ]
	[ "$(grep -vc '^#' got)" = 5 ]
	[ "$(grep -c '^#' got)" = 0 ]
}

# bats test_tags=guest
@test "trace_open: a path forges no fields, before Linux 6.9" {
	uses kprobe_events
	! grep -q 'return probes.*\$arg' "$TRACEFS/README" ||
		skip "needs a kernel that reads no arguments at returns, before 6.9"
	act opens 3 0 '/a" flags=0x7 ret=9 x="'
	traced trace_open
	[ "$(grep -cE ': open: .* ret=-2 path=.* flags=0x[0-9a-f]+ lat=[0-9.]+$' got)" = 3 ]
	run -1 grep -E ' flags=0x7 lat=' got
}

# bats test_tags=guest
@test "trace_open: prints (fault) for a path that cannot be read, and never an empty path" {
	uses kprobe_events
	printf '%s\0' "$PWD/there" >name
	act unread 20 5 "$PWD/name"
	traced trace_open
	read_at_end=0
	! grep -q 'return probes.*\$arg' "$TRACEFS/README" || read_at_end=20
	[ "$(lines ": open: .*path=\"\?$PWD/there\"\? ")" = "$read_at_end" ]
	[ "$(lines ': open: .* ret=-14')" = 5 ]
	[ "$(lines ': open: .* path=(fault)')" = $((25 - read_at_end)) ]
	[ "$(grep -vc "name\|^#" got)" = 25 ]
}

# bats test_tags=guest
@test "trace_open: two sessions at once do not see each other's opens" {
	uses kprobe_events
	act opens 3 0 "$PWD/there"
	one_go=$GO
	start_session trace_open --output fifo --pid "$ACT"
	read_by cat >got.one
	one_session=$SESSION one_reader=$READER
	act opens 5 0 "$PWD/there"
	second_session trace_open --output fifo --pid "$ACT" --failed
	read_by cat >got
	release
	all_end "$SESSION" "$READER"
	echo >"$one_go"
	all_end "$one_session" "$one_reader"
	[ "$(grep -vc '^#' got)" = 0 ]
	[ "$(grep -vc '^#' got.one)" = 3 ]
	no_probes
	no_probes b
}

path_of() { # LENGTH: Print a path of that many bytes, of a file that is there
	local slashes
	slashes=$(printf '/%.0s' {1..4096})
	printf '%s' "${slashes::$(($1 - ${#PWD} - 6))}$PWD/there"
}

# bats test_tags=quick
@test "trace_open: without kprobes, BPF programs record each file that is opened, and the result" {
	need_bpf
	act opens 12 8 "$PWD/there"
	traced trace_open --source bpf
	[ "$(head -n 1 got)" = '# paths are read by BPF programs' ]
	[ "$(lines ": open: (sys_open[at]*) path=\"$PWD/there\" flags=0x[0-9a-f]* ret=[0-9]*$")" = 12 ]
	[ "$(lines ': open: (sys_open[at]*) path="/nowhere/at all" flags=0x[0-9a-f]* ret=-2$')" = 8 ]
	file_has 21 got
}

@test "trace_open, trace_exec: --json has the fields of the text, and tfs-export accepts each line" {
	need_bpf
	act opens 12 8 "$PWD/there"
	traced trace_open --source bpf --json --date
	tfs-export -f logs <got >otlp
	[ "$(head -n 1 got)" = '{"comment":"paths are read by BPF programs"}' ]
	[ "$(lines '"event":"open","fields":{"call":"open[at]*","path":"'"$PWD/there"'","flags":[0-9]*,"ret":[0-9]*}}$')" = 12 ]
	[ "$(lines '"event":"open","fields":{"call":"open[at]*","path":"/nowhere/at all","flags":[0-9]*,"ret":-2}}$')" = 8 ]
	file_has 21 got
	[ "$(grep -o '"body":{"stringValue":"paths are read by BPF programs"}' otlp | wc -l)" = 1 ]
	[ "$(grep -o '"body":{"stringValue":"open"}' otlp | wc -l)" = 20 ]
	tfs-run trace_exec --source bpf --json -- sh -c 'exec env echo "a\"b"' 2>/dev/null >got
	[ "$(lines '"event":"exec2","fields":{"filename":"[^"]*","argc":2,"argv0":"echo","argv1":"a\\"b"}}$')" = 1 ]
}

# bats test_tags=quick
@test "trace_open: chooses BPF programs by itself if the kernel has no kprobes" {
	need_bpf
	[ ! -e "$TRACEFS/kprobe_events" ] || skip "needs a kernel without kprobes"
	tfs-run trace_open -- cat "$PWD/there" nowhere >got 2>/dev/null || [ $? = 1 ]
	[ "$(lines " cat-[0-9]* .*: open: (sys_openat) path=\"$PWD/there\" flags=0x[0-9a-f]* ret=[0-9]*$")" = 1 ]
	[ "$(lines ' cat-[0-9]* .*: open: (sys_openat) path="nowhere" flags=0x[0-9a-f]* ret=-2$')" = 1 ]
}

# bats test_tags=guest
@test "trace_open: BPF programs print the same fields as kprobes do" {
	need_bpf
	need_entry_probes
	for source in kprobes bpf; do
		act opens 5 3 "$PWD/there"
		traced trace_open --source "$source"
		sed -n 's/.* path="\{0,1\}\(.*[^"]\)"\{0,1\} flags=\(0x[0-9a-f]*\).*/\1 \2/p' got | sort >"$source.paths"
		sed -n 's/.* ret=\([-0-9]*\).*/\1/p' got | sort >"$source.rets"
	done
	file_has 8 bpf.paths
	diff kprobes.paths bpf.paths
	diff kprobes.rets bpf.rets
}

@test "trace_open: --failed prints only the opens that fail, with BPF programs as well" {
	need_bpf
	act opens 12 8 "$PWD/there"
	traced trace_open --source bpf --failed
	[ "$(lines ': open: .* path="/nowhere/at all" flags=0x[0-9a-f]* ret=-2$')" = 8 ]
	[ "$(grep -vc '^#' got)" = 8 ]
}

@test "trace_open: BPF programs record the opens of threads and of children, and of no other task" {
	need_bpf
	act opens 50 0 /dev/zero
	stranger=$ACT stranger_go=$GO
	act threads 7 3 "$PWD/there"
	watch trace_open --source bpf --pid "$ACT"
	find_id
	echo >"$stranger_go"
	eventually gone "$stranger"
	release
	watch_end
	[ "$(lines ": open: .* path=\"$PWD/there\" ")" = 42 ]
	[ "$(grep "path=\"$PWD/there\"" got | pids_in | wc -l)" = 6 ]
	[ "$(lines '/dev/zero')" = 0 ]
}

@test "trace_open: BPF programs read a path of any length whole" {
	need_bpf
	for n in 62 63 64 126 127 447 448 449 896 4094 4095; do
		[ "$n" -gt $((${#PWD} + 6)) ] || continue
		path=$(path_of "$n")
		act opens 2 1 "$path"
		traced trace_open --source bpf
		[ "$(lines ": open: .* path=\"$path\" flags=0x[0-9a-f]* ret=[0-9]*$")" = 2 ]
		[ "$(grep -vc '^#' got)" = 3 ]
	done
}

@test "trace_open: a path that the kernel refuses as too long is printed without it" {
	need_bpf
	path=$(path_of 4090)
	act opens 3 0 "$path$path"
	traced trace_open --source bpf
	[ "$(lines ': open_long: (sys_open[at]*) flags=0x[0-9a-f]* ret=-36$')" = 3 ]
	[ "$(grep -vc '^#' got)" = 3 ]
}

@test "trace_open: BPF programs read a path that was not in memory, and print (fault) for a bad one" {
	need_bpf
	printf '%s\0' "$PWD/there" >name
	act unread 20 5 "$PWD/name"
	traced trace_open --source bpf
	[ "$(lines ": open: .* path=\"$PWD/there\" flags=0x[0-9a-f]* ret=[0-9]*$")" = 20 ]
	[ "$(lines ': open: .* path=(fault) flags=0x[0-9a-f]* ret=-14$')" = 5 ]
	[ "$(grep -vc 'name"\|^#' got)" = 25 ]
}

@test "trace_open: a path is that of the entry, whatever a thread writes there while the call waits" {
	need_bpf
	long=$(path_of 4000)
	for fifo in "$PWD/fifo" "${long%there}fifo"; do
		rm -f fifo
		mkfifo fifo
		tfs-run trace_open --source bpf --instance "$MARK" -o got.txt -- "$PROG/sides" hidden "$fifo"
		cp got.txt got
		[ "$(lines ": open: (sys_openat) path=\"$fifo\" flags=0x[0-9a-f]* ret=[0-9]*$")" -ge 1 ]
		[ "$(lines '"/nowhere/else"')" = 0 ]
		[ "$(lines ': open: (sys_openat) path="/nowhere/absent" flags=0x[0-9a-f]* ret=-2$')" = 1 ]
		[ "$(lines ': open: (sys_openat) path=(fault) flags=0x[0-9a-f]* ret=-14$')" = 1 ]
	done
}

@test "trace_open: a path forges neither fields nor lines nor records" {
	need_bpf
	act opens 1 0 $'/a" flags=0x7 ret=9 x="\n#b'
	traced trace_open --source bpf
	[ "$(lines ': open: .* path="/a\\" flags=0x7 ret=9 x=\\"\\n#b" flags=0x[0-9a-f]* ret=-2$')" = 1 ]
	act opens 1 0 "/a\\\" flags=0x7 ret=9 x=\"\\"
	traced trace_open --source bpf
	[ "$(grep -cF ' path="/a\\\" flags=0x7 ret=9 x=\"\\" flags=0x' got)" = 1 ]
	act opens 1 0 "=openat 8000 3 /etc/passwd"
	traced trace_open --source bpf
	[ "$(lines ': open: .* path="=openat 8000 3 /etc/passwd" ')" = 1 ]
	[ "$(grep -vc '^#' got)" = 1 ]
}

@test "trace_open: two sessions with BPF programs do not see each other's records" {
	need_bpf
	act opens 5 3 "$PWD/there"
	start_session trace_open --source bpf --output fifo --pid "$ACT"
	one_session=$SESSION one_trace=$TRACE
	find_id
	second_session trace_open "--source bpf --output fifo --failed --pid $ACT"
	read_by cat >got.two
	two_reader=$READER TRACE=$one_trace
	read_by cat >got
	release
	all_end "$SESSION" "$one_session" "$READER" "$two_reader"
	[ "$(grep -vc '^#' got)" = 8 ]
	[ "$(grep -vc '^#' got.two)" = 3 ]
}

@test "trace_open: delivered and lost opens add up, with BPF programs and a full buffer" {
	need_bpf
	n=$(so_many 40000)
	act opens "$n" 0 "$PWD/there"
	start_session trace_open --source bpf --output fifo --buffer 64 --pid "$ACT"
	find_id
	act=$ACT
	release
	eventually gone "$act" # no reader exists yet
	read_by cat >got
	watch_end
	lost=$(sed -En '$s/^# lost ([0-9]+) events: .*/\1/p' got)
	[ "$lost" -gt 0 ]
	[ $((lost + $(lines ': open: '))) = "$n" ]
}

@test "trace_open: --output dat has the records of the BPF programs" {
	need_bpf
	act opens 12 8 "$PWD/there"
	start_session trace_open --source bpf --output dat --pid "$ACT"
	find_id
	release
	session_ends
	tfs-report "$TRACE" >all
	rm -r "${TRACE%/*}"
	tfs-strings -i "$ID" <all >got
	[ "$(lines ": open: .* path=\"$PWD/there\" ")" = 12 ]
	[ "$(lines ': open: .* ret=-2$')" = 8 ]
}

# This test is alone because the kernel enables the event of the top level whenever a program that
# prints is loaded; until the session that loaded it has disabled the event again, it records.
# bats test_tags=alone
@test "trace_open: the top level does not record what BPF programs print" {
	need_bpf
	enable=$TRACEFS/events/bpf_trace/bpf_trace_printk/enable
	file_is "$enable" 0 || skip "needs bpf_trace_printk disabled at the top level"
	act opens 3 0 "$PWD/there"
	traced trace_open --source bpf
	file_is "$enable" 0
	run -1 grep -F "$PWD/there" "$TRACEFS/trace"
}

# everything KILLED: Kill the processes that the word names of a session that runs.
killed() {
	local janitor pids
	act opens 1 0 "$PWD/there"
	start_session "$1" --source bpf --output fifo --pid "$ACT"
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
# bats test_tags=alone
@test "trace_open, trace_exec: if everything is killed, no BPF program stays" {
	need_bpf
	killed trace_open
	killed trace_exec
}

@test "trace_open: --check leaves no BPF program after" {
	need_bpf
	outputs 0 'trace_open: yes' "$MANAGER" --check trace_open --args "--pid $$ --source bpf"
}

@test "trace_open: --source syscalls prints the calls, and says why the paths are addresses" {
	need_bpf
	act opens 12 8 "$PWD/there"
	traced trace_open --source syscalls
	if [ -e "$TRACEFS/syscall_user_buf_size" ]; then
		[ "$(head -n 1 got)" = '# paths are cut after 165 bytes' ]
		[ "$(lines ": sys_open.*\"$PWD/there\"")" = 12 ]
	else
		[ "$(head -n 1 got)" = '# paths are addresses' ]
	fi
	[ "$(lines ': sys_open[at]*(.*filename: ')" = 20 ]
	[ "$(lines ': sys_open[at]* -> 0x')" = 20 ]
	file_has 41 got
}

@test "trace_open: --source syscalls --failed prints the calls that fail" {
	need_bpf
	[[ $(uname -m) != @(ppc|mips)* ]] || skip "needs errors with a sign, which $(uname -m) lacks"
	act opens 12 8 "$PWD/there"
	traced trace_open --source syscalls --failed
	[ "$(lines ': sys_open[at]* -> 0x')" -ge 8 ]
}

@test "trace_open: refuses --source syscalls --failed on PowerPC and MIPS, where errors have no sign" {
	mkdir machine
	for machine in ppc64le mips mips64; do
		printf '#!%s\necho %s\n' "$BASH" "$machine" >machine/uname
		chmod +x machine/uname
		fails 111 '--failed needs --source kprobes or bpf on PowerPC and MIPS' \
			env PATH="$PWD/machine:$PATH" HOOK_SOURCE=syscalls HOOK_FAILED=1 \
			"$BASH" "$TREE/trace-hooks/ftrace/hooks.d/trace_open"
	done
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

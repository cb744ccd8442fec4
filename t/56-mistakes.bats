#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-run: each typical mistake has a message that names the object, the reason and the next step

load helper

# says STATUS MESSAGE WORD...: Fail unless tfs-run WORD... ends with STATUS, prints nothing, and
# says exactly MESSAGE.
says() {
	fails "$1" "tfs-run: fatal: $2" tfs-run "${@:3}"
}

# table ROWS: Check each row STATUS|WORDS|MESSAGE of standard input. A shell splits the words.
table() {
	local status words message rows=$1 n=0
	while IFS='|' read -r status words message; do
		echo "tfs-run $words"
		eval "set -- $words"
		says "$status" "$message" "$@" </dev/null
		n=$((n + 1))
	done
	[ "$n" = "$rows" ]
	nothing_left
}

@test "tfs-run: names the mistake in a command, and the next step" {
	need_tracefs events/syscalls
	table 20 <<-'END'
	100|trace_opne -- true|no hook 'trace_opne'; did you mean trace_open? tfs-run alone lists the hooks
	100|trace_syscalls ls|'ls' is not an option; to trace that program, put -- in front of it: tfs-run trace_syscalls -- ls
	100|trace_syscalls --retruns -- true|trace_syscalls has no option '--retruns'; did you mean --returns? tfs-run trace_syscalls --help lists them
	100|trace_event --nosuchthing -- true|trace_event has no option '--nosuchthing'; tfs-run trace_event --help lists them
	111|trace_syscalls -s opnat -- true|trace_syscalls: no system call 'opnat' in this kernel; did you mean openat, openat2?
	100|trace_syscalls -s %fil -- true|--syscall: no class of system calls '%fil'; the classes are file, desc, network, process, memory, signal, ipc
	100|trace_syscalls -s 'opne*' -- true|--syscall: no system call of this kernel matches 'opne*'; syscall-nr lists the names
	100|trace_syscalls -s '!fuetx' -- true|--syscall: no system call 'fuetx' to leave out; syscall-nr lists the names
	100|trace_sched --slower 5m -- true|--slower: '5m' is not a time such as 500 (microseconds), 500us, 10ms or 1s
	100|trace_syscalls -t soon -- true|--time: 'soon' is not a time such as 500 (milliseconds), 500ms, 5s, 2m or 1h
	100|trace_syscalls --buffer 64X -- true|--buffer: '64X' is not a size such as 1024 (kilobytes), 64M or 1G
	100|trace_syscalls --uid rooot|--uid: no user 'rooot' in /etc/passwd; did you mean root?
	100|trace_syscalls --container web|--container: 'web' is not a container's id: at least 4 of its first digits, 0-9 a-f
	100|trace_syscalls --pid 4194304|--pid: no task 4194304 is alive
	100|trace_signal --only x -- true|--only: 'x' is not one of sent|delivered
	100|trace_process --trace x -- true|--trace: 'x' is not one of syscalls, signals, lifecycle
	100|trace_syscalls|trace_syscalls: no task is selected; give --pid, or see tfs-run trace_syscalls --help
	100|trace_syscalls --all --pid 1|trace_syscalls: --all selects every task already; leave the other selectors out
	111|trace_event -e sched_switch --clock sundial -- true|--clock: this kernel has no clock sundial; trace_clock lists them
	100|trace_event -e sched_switch --output tape -- true|--output: 'tape' is not one of lines|fifo|file|dat
	END
}

@test "tfs-run: names another hook if the kernel lacks what the hook needs" {
	need_tracefs
	[ ! -e "$TRACEFS/kprobe_events" ] || skip "this kernel has kprobes"
	says 111 "trace_kprobe: no kprobe_events in this kernel; it needs CONFIG_KPROBE_EVENTS; instead: tfs-run trace_event -e 'EVENT'" \
		trace_kprobe -k do_exit -- true
	nothing_left
}

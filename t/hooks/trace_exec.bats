#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# trace_exec: each program that is started, by kprobes and by BPF programs; exact counts and words

load ../helper
load ../hooks

# bats test_tags=quick,guest
@test "trace_exec: records each program that is started, with all its words and no others" {
	uses kprobe_events
	act execs 5 3 one "two words" ''
	traced trace_exec
	[ "$(lines ": exec5: (finalize_exec+0x[0-9a-f]/0x[0-9a-f]*) filename=\"$acts\" argc=5 argv0=\"$acts\" argv1=\"nothing\" argv2=\"one\" argv3=\"two words\" argv4=\"\"$")" = 5 ]
	[ "$(grep -vc '^#' got)" = 5 ]
}

# bats test_tags=guest
@test "trace_exec: --words limits the words, and must be a number that the kernel accepts" {
	uses kprobe_events
	act execs 5 3 one "two words" ''
	traced trace_exec --words 2
	[ "$(lines ": exec2: .* argc=5 argv0=\"$acts\" argv1=\"nothing\"$")" = 5 ]
	[ "$(grep -vc '^#' got)" = 5 ]
	refuses trace_exec 100 "--words: '0' is not a number from 1 to 32" --pid $$ --words 0
	refuses trace_exec 100 "--words: '33' is not a number from 1 to 32" --pid $$ --words 33
	act execs 1 0 one
	traced trace_exec --words 32
	[ "$(lines ': exec3: ')" = 1 ]
}

# bats test_tags=guest
@test "trace_exec: if words do not fit into a page, prints the exec without them" {
	uses kprobe_events
	act execs 3 0 "$(big 3900)"
	traced trace_exec
	[ "$(lines ": exec3: .* argv2=\"$(big 3900)\"$")" = 3 ]
	[ "$(grep -vc '^#' got)" = 3 ]
	for n in '4050' '1500 1500 1500' '2040 2040'; do
		words=()
		for size in $n; do words+=("$(big "$size")"); done
		act execs 3 0 "${words[@]}"
		traced trace_exec
		[ "$(lines ": exec_long: (finalize_exec+0x[0-9a-f]/0x[0-9a-f]*) argc=$((${#words[@]} + 2))$")" = 3 ]
		[ "$(grep -vc '^#' got)" = 3 ]
	done
}

# bats test_tags=guest
@test "trace_exec: --failed prints a line for a file whose path does not fit into a page" {
	uses kprobe_events
	long=$(printf '/%.0s' {1..4080})${PROG#/}/acts
	watch trace_exec --pid $$ --failed
	(exec "${long: -4080}" nothing)
	watch_stop
	[ "$(lines ': exec_open_long: .* flags=0x[0-9a-f]*$')" = 1 ]
	[ "$(lines ': exec_long: .* argc=2$')" = 1 ]
	run -1 grep ': exec[_o0-9]*pen: .*////\|: exec2: .*////' got
}

# bats test_tags=guest
@test "trace_exec: --failed also prints the failed execs, and the error" {
	uses kprobe_events
	act execs 2 3 one
	traced trace_exec --failed
	[ "$(lines ': exec3: ')" = 2 ]
	[ "$(lines ': exec_open: .* path="/nowhere/at all" ')" = 3 ]
	[ "$(lines ": exec_open: .* path=\"$acts\" ")" = 2 ]
	[ "$(lines ': sys_execve -> 0x\(f*fe\|2\)$')" = 3 ] # PowerPC prints errors without a sign
}

# bats test_tags=guest
@test "trace_exec: a script is started under its own name, with its interpreter's words" {
	uses kprobe_events
	printf '#!/bin/sh -e\n:\n' >script
	chmod +x script
	act execs 1 0 one
	watch trace_exec --pid $$
	./script word
	watch_stop
	[ "$(lines " filename=\"./script\" argc=4 argv0=\"/bin/sh\" argv1=\"-e\" argv2=\"./script\" argv3=\"word\"$")" = 1 ]
}

# bats test_tags=quick
@test "trace_exec: without kprobes, a BPF program records each program, with all its words" {
	need_bpf
	acts=$PROG/acts
	act execs 5 3 one "two words" ''
	traced trace_exec --source bpf
	[ "$(head -n 1 got)" = '# arguments are read by BPF programs' ]
	[ "$(lines ": exec5: (sched_process_exec) filename=\"$acts\" argc=5 argv0=\"$acts\" argv1=\"nothing\" argv2=\"one\" argv3=\"two words\" argv4=\"\"$")" = 5 ]
	file_has 6 got
}

# bats test_tags=guest
@test "trace_exec: a BPF program prints the same fields as kprobes do" {
	need_bpf
	need_entry_probes
	printf '#!/bin/sh -e\n:\n' >script
	chmod +x script
	for source in kprobes bpf; do
		act execs 3 2 one "two words" ''
		traced trace_exec --source "$source"
		sed -n 's/.*: \(exec[0-9]*:\) ([^)]*)/\1/p' got >"$source"
		watch trace_exec --source "$source" --pid $$
		find_id
		./script word
		watch_stop
		sed -n 's/.*: \(exec[0-9]*:\) ([^)]*)\( filename="\.\/script"\)/\1\2/p' got >>"$source"
	done
	file_has 4 bpf
	diff kprobes bpf
}

@test "trace_exec: --words limits the words that a BPF program reads" {
	need_bpf
	acts=$PROG/acts
	act execs 5 3 one "two words" ''
	traced trace_exec --source bpf --words 2
	[ "$(lines ": exec2: .* argc=5 argv0=\"$acts\" argv1=\"nothing\"$")" = 5 ]
	[ "$(grep -vc '^#' got)" = 5 ]
	act execs 1 0 one
	traced trace_exec --source bpf --words 32
	[ "$(lines ': exec3: ')" = 1 ]
	act execs 1 0 {1..40}
	traced trace_exec --source bpf --words 32
	[ "$(lines ': exec32: .* argc=42 .* argv31="30"$')" = 1 ]
}

@test "trace_exec: a BPF program reads words of any length up to about 4,000 bytes in all" {
	need_bpf
	for n in 62 63 64 447 448 449 3900; do
		word=$(printf "%0${n}d" 0)
		act execs 3 0 "$word" after
		traced trace_exec --source bpf
		[ "$(lines ": exec4: .* argv2=\"$word\" argv3=\"after\"$")" = 3 ]
		[ "$(grep -vc '^#' got)" = 3 ]
	done
	word=$(printf "%0100000d" 0)
	act execs 3 0 "$word"
	traced trace_exec --source bpf
	[ "$(lines ': exec_long: (sched_process_exec) argc=3$')" = 3 ]
	[ "$(grep -vc '^#' got)" = 3 ]
}

@test "trace_exec: a word forges no field" {
	need_bpf
	act execs 1 0 'a" argv3="evil' '' "back\\" x
	traced trace_exec --source bpf
	[ "$(grep -cF ' argv2="a\" argv3=\"evil" argv3="" argv4="back\\" argv5="x"' got)" = 1 ]
}

@test "trace_exec: --failed prints path and error of an exec that fails, without kprobes" {
	need_bpf
	act execs 2 3 one
	traced trace_exec --source bpf --failed
	[ "$(lines ': exec3: ')" = 2 ]
	[ "$(lines ': exec_open: (sys_execve) path="/nowhere/at all" flags=0x[0-9a-f]*$')" = 3 ]
	[ "$(lines ': sys_execve -> 0x\(f*fe\|2\)$')" = 3 ] # PowerPC prints errors without a sign
	[ "$(grep -vc '^#' got)" = 8 ]
}

@test "trace_exec: --source syscalls prints the files, and says that the arguments are not known" {
	need_bpf
	act execs 5 3 one
	traced trace_exec --source syscalls
	[ "$(head -n 1 got)" = '# arguments are not known' ]
	[ "$(lines ": sched_process_exec: filename=$PROG/acts ")" = 5 ]
	file_has 6 got
}

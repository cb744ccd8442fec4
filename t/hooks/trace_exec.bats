#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# trace_exec: each program that is started, by BPF programs and by kprobes; exact counts and words

load ../helper
load ../hooks

# execs WORD...: Print how many programs that were started with these words are in got.
execs() {
	local list
	printf -v list ', "%s"' "$@"
	grep -cF ": execve(\"$1\", [${list#, }], 0x" got || :
}

# bats test_tags=quick,oldest
@test "trace_exec: records each program that is started, with all its words and no others" {
	need_bpf
	acts=$PROG/acts
	act execs 5 3 one "two words" ''
	traced trace_exec
	[ "$(execs "$acts" nothing one "two words" '')" = 5 ]
	[ "$(lines '], 0x[0-9a-f]*) = 0 <[0-9.]*>$')" = 5 ]
	file_has 5 got
}

# bats test_tags=guest,oldest
@test "trace_exec: with kprobes the lines are the same" {
	need_bpf
	uses kprobe_events
	for source in bpf kprobes; do
		for words in 8 2; do
			act execs 5 0 one "two words" ''
			traced trace_exec --source "$source" --words "$words"
			sed 's/^.*: \(execve.*\), 0x[0-9a-f]*) = 0 <.*$/\1/' got >>"$source"
		done
	done
	file_has 10 bpf
	diff bpf kprobes
	act execs 1 0 one
	traced trace_exec --source kprobes --words 32
	[ "$(execs "$acts" nothing one)" = 1 ]
}

# bats test_tags=guest,oldest
@test "trace_exec: words that do not fit into the page of a kprobe leave addresses" {
	uses kprobe_events
	act execs 3 0 "$(big 3900)"
	traced trace_exec --source kprobes
	[ "$(execs "$acts" nothing "$(big 3900)")" = 3 ]
	file_has 3 got
	for n in '4050' '1500 1500 1500' '2040 2040'; do
		words=()
		for size in $n; do words+=("$(big "$size")"); done
		act execs 3 0 "${words[@]}"
		traced trace_exec --source kprobes
		[ "$(lines ': execve(.*, 0x[0-9a-f]*, 0x[0-9a-f]*) = 0 ')" = 3 ]
		file_has 3 got
	done
}

@test "trace_exec: --words limits the words, and must be a number that the kernel accepts" {
	need_bpf
	acts=$PROG/acts
	act execs 5 3 one "two words" ''
	traced trace_exec --words 2
	[ "$(lines ", \[\"$acts\", \"nothing\", \.\.\.\], 0x")" = 5 ]
	file_has 5 got
	refuses trace_exec 100 "--words: '0' is not a number from 1 to 32" --pid $$ --words 0
	refuses trace_exec 100 "--words: '33' is not a number from 1 to 32" --pid $$ --words 33
	act execs 1 0 one
	traced trace_exec --words 32
	[ "$(execs "$acts" nothing one)" = 1 ]
	act execs 1 0 {1..40}
	traced trace_exec --words 32
	[ "$(lines ', "29", "30", \.\.\.\], 0x')" = 1 ]
}

# bats test_tags=oldest
@test "trace_exec: words of any length are whole up to about 4,500 bytes in all, and then have a mark" {
	need_bpf
	acts=$PROG/acts
	for n in 62 63 64 447 448 449 3900; do
		word=$(printf "%0${n}d" 0)
		act execs 3 0 "$word" after
		traced trace_exec
		[ "$(execs "$acts" nothing "$word" after)" = 3 ]
		file_has 3 got
	done
	word=$(printf "%0100000d" 0)
	act execs 3 0 "$word" after
	traced trace_exec
	[ "$(lines ", \"nothing\", \"0\{4000,5000\}\"\.\.\., \"after\"\], 0x")" = 3 ]
	file_has 3 got
}

@test "trace_exec: a word forges no field" {
	need_bpf
	act execs 1 0 'a" argv3="evil' '' "back\\" x
	traced trace_exec
	[ "$(grep -cF '"nothing", "a\" argv3=\"evil", "", "back\\", "x"], 0x' got)" = 1 ]
}

# bats test_tags=oldest
@test "trace_exec: --failed also prints the execs that fail, with their errors" {
	need_bpf
	acts=$PROG/acts
	act execs 2 3 one
	traced trace_exec --failed
	[ "$(execs "$acts" nothing one)" = 2 ]
	[ "$(lines ': execve("/nowhere/at all", \[.*\], .*) = -1 ENOENT ')" = 3 ]
	file_has 5 got
}

@test "trace_exec: a script is started with the words of its caller" {
	need_bpf
	printf '#!/bin/sh -e\n:\n' >script
	chmod +x script
	tfs-run trace_exec --instance "$MARK" -- ./script word >got 2>/dev/null
	[ "$(execs ./script word)" = 1 ]
	file_has 1 got
}

@test "trace_exec: --source syscalls prints the calls, and says that words are addresses" {
	need_bpf
	acts=$PROG/acts
	act execs 5 3 one
	traced trace_exec --source syscalls
	note='strings are addresses'
	[ ! -e "$TRACEFS/syscall_user_buf_size" ] || note='strings are cut after 165 bytes'
	[ "$(head -n 1 got)" = "# $note" ]
	[ "$(lines ": execve(\"$acts\", 0x[0-9a-f]*, 0x[0-9a-f]*) = 0 ")" = 5 ]
	file_has 6 got
}

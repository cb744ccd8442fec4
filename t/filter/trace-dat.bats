#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# Filters read a trace.dat: their answer is that of the text which tfs-report prints of it, and of its
# JSON, where the two forms spell what is asked alike

load ../helper

# recorded HOOK WORD...: Record a program that lists files, fails and makes processes to x.dat.
recorded() {
	need_tracefs events/sched
	mkdir -p some
	touch some/{1..40}
	tfs-run "$1" --instance "$MARK" -o x.dat "${@:2}" -- sh -c 'ls -l some | cat >/dev/null
		cat nothing || ls -l some >list; env true' 2>err 3>&- || { cat err; return 1; }
}

# same [-O OPTIONS] FILTER WORD...: Has FILTER the same answer, and status, by the file and by text?
same() {
	local options=() text=0 file=0
	[ "$1" != -O ] || { options=("$2"); shift 2; }
	tfs-report "${options[@]}" x.dat >lines
	"$@" <lines >by-text 2>text.err || text=$?
	"$@" x.dat >by-file 2>file.err || file=$?
	if [ "$text" != "$file" ] || ! cmp by-text by-file || ! cmp text.err file.err; then
		echo "$* ($text, $file)"
		diff by-text by-file | head -20
		cat file.err
		return 1
	fi
}

# as_json [-O OPTIONS] FILTER WORD...: Has FILTER the same answer by JSON, too?
as_json() {
	local options=() json=0 file=0
	[ "$1" != -O ] || { options=("$2"); shift 2; }
	tfs-report "${options[@]}" -j x.dat >lines
	"$@" x.dat >by-file || file=$?
	"$@" <lines >by-json || json=$?
	[ "$file" = "$json" ] && cmp by-file by-json && return
	echo "$* ($file, $json)"
	diff by-file by-json | head -20
	return 1
}

# calls WORD...: Print how often each call was made and failed, without its times.
calls() {
	(set -o pipefail; tfs-summary "$@" | awk '{ print $1, $2, $NF }' | sort)
}

# all [-O OPTIONS]: Compare the answers of all filters.
all() {
	local -a of=("$@")
	as_json "${of[@]}" tfs-count
	as_json "${of[@]}" tfs-count -c
	as_json "${of[@]}" tfs-count -k pid -k event -k error
	as_json "${of[@]}" tfs-count -j -k event -k call
	as_json "${of[@]}" tfs-count -k prev_comm -k prev_prio -k next_pid -k next_comm
	as_json "${of[@]}" calls
	as_json "${of[@]}" tfs-seccomp -f
	same "${of[@]}" tfs-count
	same "${of[@]}" tfs-count -k comm -k pid -k cpu -k host
	same "${of[@]}" tfs-count -k call -k ret -k error
	same "${of[@]}" tfs-count -k prev_comm -k prev_state -k prev_prio -k next_comm
	same "${of[@]}" tfs-count -k .pid -k .comm -k target_cpu -k prio
	same "${of[@]}" tfs-count -k clone_flags -k filename -k old_pid -k oom_score_adj
	same "${of[@]}" tfs-count -c
	same "${of[@]}" tfs-count -j -k event -k ret
	same "${of[@]}" tfs-hist -k ret -b event
	same "${of[@]}" tfs-hist -k lat -b call -p
	same "${of[@]}" tfs-summary
	same "${of[@]}" tfs-summary -j -k comm -k call
	same "${of[@]}" tfs-summary -b -M
	same "${of[@]}" tfs-seccomp -f
	same "${of[@]}" tfs-latency syscalls
	same "${of[@]}" tfs-latency wakeup
	same "${of[@]}" tfs-human
}

@test "filters: of calls that our programs recorded" {
	recorded trace_syscalls --decode
	tfs-report x.dat | grep -q ': call: ' || skip "needs BPF ring buffers"
	all -O -D
	same -O -D tfs-summary
	grep -Eq ' (statx|newfstatat|lstat)$' by-text
}

@test "filters: of the kernel's events of calls" {
	recorded trace_syscalls
	all
}

@test "filters: of switches and wake-ups" {
	recorded trace_sched
	all
}

@test "filters: of processes, with the facts that tfs-report -F derives" {
	recorded trace_process
	same -O -FD tfs-process
	same -O -FD tfs-process -t
	grep -q ' ls -l some' by-text
}

@test "filters: of stacks, which have lines of their own" {
	recorded trace_event --event sched_switch --stack
	same tfs-count
	same tfs-human
	[ -s by-text ]
}

@test "filters: a trace.dat may be standard input, but not a pipe" {
	recorded trace_sched
	tfs-count x.dat >file
	tfs-count <x.dat >input
	tfs-count - <x.dat >dash
	cmp file input
	cmp file dash
	fails 111 "tfs-count: fatal: standard input is a trace.dat in a pipe; give the file instead" \
		bash -c 'cat x.dat | tfs-count'
	fails 111 "tfs-export: fatal: x.dat is a trace.dat, not text; type tfs-report FILE | tfs-export" \
		tfs-export x.dat
}

@test "filters: of a trace.dat that is cut short they print what is there, and end with 111" {
	recorded trace_syscalls
	head -c $(($(stat -c %s x.dat) - 4096)) x.dat >cut.dat
	tfs-report cut.dat 2>/dev/null | tfs-count >text
	run -111 --separate-stderr tfs-count cut.dat
	[ "$output" = "$(cat text)" ]
	# shellcheck disable=SC2154 # set by run
	[[ $stderr == "tfs-count: fatal: cut.dat ends in the sub-buffers of cpu "*": it was cut short, or the recording was killed" ||
		$stderr == "tfs-count: cut.dat ends in the sub-buffers of cpu "* ]]
}

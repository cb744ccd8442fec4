#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# every hook in every form of output: tfs-run prints JSON, or refuses before PROG runs

load ../helper

# each HOOK OPTION...: all hooks and the options that change what they print
each() {
	sed 's/  *$//' <<-'END'
		trace_blk --device sda
		trace_block
		trace_block --events
		trace_count
		trace_count --top 2
		trace_count --every 10ms
		trace_count -e sched:* -k pid,prev_comm,"
		trace_count -f vfs_read
		trace_dns
		trace_event -e sched_switch
		trace_event -e sched_switch --stack
		trace_exec
		trace_files
		trace_files --reads
		trace_flight --dump-on end
		trace_function -f vfs_read
		trace_graph -f vfs_read
		trace_graph -f vfs_read --slower 1us
		trace_hist -e sched_switch -k prev_pid
		trace_hist -e sched_switch -k prev_pid --every 10ms
		trace_kprobe -k vfs_read
		trace_kprobe -k vfs_read --latency
		trace_kprobe -k vfs_read --stack
		trace_open
		trace_process
		trace_process --tree
		trace_request
		trace_sched
		trace_signal
		trace_syscalls
		trace_syscalls --decode
		trace_syscalls --numbers
		trace_syscalls --raw
		trace_syscalls --returns
		trace_syscalls --slower 1us
		trace_syscalls --strace
		trace_syscalls --user-stack -s openat
		trace_tcp
		trace_tcp --accept
		trace_tcp --latency
		trace_tcp --life
		trace_uprobe --binary libc --symbol malloc
		trace_uprobe --binary libc --symbol malloc --latency
		trace_uprobe --binary libc --symbol malloc --stack
		trace_uprobe --binary libc --symbol malloc --top 3
		trace_why
		trace_why --events
		trace_why --folded
		trace_why --stack
		trace_why --top 3
	END
}

# one OPTION... -- WORD...: Run tfs-run WORD... OPTION... Fail unless it prints JSON, or fails by one
# line before PROG.
one() {
	local form=() status=0
	while [ "$1" != -- ]; do
		form+=("$1")
		shift
	done
	shift
	rm -f ran x.json out
	tfs-run "$@" "${form[@]}" -- sh -c ': >ran; cat /etc/hostname; ls /' >out 2>err </dev/null 3>&- ||
		status=$?
	echo "$* ${form[*]}: status $status"
	cat err
	if [ ! -e ran ]; then
		[[ $status = 1[01][01] ]]
		[ "$(wc -l <err)" = 1 ]
		return
	fi
	[ ! -e x.json ] || mv x.json out
	# status 1: a summary of no event
	[ "$status" = 0 ] || { [ "$status" = 1 ] && grep -q 'no event: sh has ended' err; }
	python3 - out <<-'END'
		import json, sys
		for line in open(sys.argv[1], encoding='utf-8'):
		    assert isinstance(json.loads(line), dict), line
	END
}

# all OPTION...: Do so for all hooks.
all() {
	need_tracefs events/syscalls
	need_tool python3
	each | sed 's/ .*//' | sort -u >listed
	for hook in "$TREE"/trace-hooks/*/hooks.d/*; do echo "${hook##*/}"; done | sort >hooks
	diff hooks listed
	set -f
	while read -r words; do
		# shellcheck disable=SC2086 # words
		one "$@" -- $words
	done < <(each)
}

@test "views: each hook prints objects of JSON with --json, or refuses before PROG runs" {
	all --json
}

# bats test_tags=long
@test "views: each hook prints objects of JSON into x.json" {
	all -o x.json
}

@test "views: each hook has a summary in JSON, or refuses it before PROG runs" {
	all --summary -o x.json
}

# bats test_tags=long
@test "views: each hook has summaries of intervals in JSON" {
	all --summary --json --every=10ms
}

@test "views: a hook without events has no summary, says why, and offers none" {
	while IFS='|' read -r words why; do
		# shellcheck disable=SC2086 # words
		fails 100 "tfs-run: fatal: --summary: $why" tfs-run $words --summary -- touch ran
	done <<-'END'
		trace_count|trace_count has no summary: it prints counts; 'tfs-run trace_event -e EVENT --summary' sums up events
		trace_graph -f x|trace_graph has no summary: it prints a graph as text; 'tfs-run trace_kprobe --latency --summary' sums up calls
		trace_flight|trace_flight has no summary: it prints dumps; tfs-summary sums up the file of a dump
		trace_why|trace_why has a summary only with --stack or --events: the account is a sum already
	END
	fails 100 'tfs-run: fatal: --per: the table of trace_process has no such option; leave it out' \
		tfs-run trace_process --summary --per comm -- touch ran
	[ ! -e ran ]
	for hook in "$TREE"/trace-hooks/*/hooks.d/*; do
		tfs-run "${hook##*/}" --help all >help
		if grep -q '^# option: --summary' "$hook"; then
			run -1 grep -e '--per KEY' help
		elif grep -q '^# summary: none' "$hook"; then
			run -1 grep -e --summary -e '--per KEY' help
		else
			grep -q -e '--summary  ' help
		fi
	done
}

@test "views: refuses an option of a summary without one, and a wrong value, before PROG runs" {
	while IFS='|' read -r words why; do
		# shellcheck disable=SC2086 # words
		fails 100 "tfs-run: fatal: $why" tfs-run $words -- touch ran
	done <<-'END'
		trace_syscalls --sort calls|--sort needs --summary; add it
		trace_syscalls --per=comm|--per needs --summary; add it
		trace_open --every 1s|--every needs --summary; add it
		trace_tcp --top 3|--top needs --summary; add it
		trace_syscalls --summary --sort time|--summary: not a column: 'time'; there are share, calls, calls/s, errors, total, avg, min, p50, p99, max, and name to sort by
		trace_files --summary --sort time|--summary: not a column: 'time'; there are share, calls, calls/s, errors, read, written, total, avg, min, p50, p99, max, and name to sort by
		trace_syscalls --summary --top 0|--summary: --top: '0' is not a number of at least 1
		trace_syscalls --summary --per .|--summary: --key: '.' is not a key, the name of a field such as pid
		trace_syscalls --summary --every 0|--summary: --every: '0' is not from 1 to 2147483647 milliseconds; give a time such as 500ms, 5s, 2m or 1h
	END
	[ ! -e ran ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# t/demo and t/check, the two commands that the README begins with

load ../helper

# bats test_tags=quick
@test "t/demo: says each step, and answers three questions about a slow program" {
	need_tracefs events/syscalls
	need_tool cc
	# the tree is built, and other tests use it: do not build it again
	mkdir stub
	printf '#!/bin/sh\necho "$*" >>%s\n' "$PWD/made" >stub/make
	chmod +x stub/make
	PATH=$PWD/stub:$PATH "$TREE/t/demo" >out 2>err
	file_is made "-j$(nproc)"
	grep -c '^t/demo: ' err | grep -qx 4
	[ "$(sed -n 's/^\$ //p' err)" = 'tfs-run trace_syscalls --summary --top 4 -- ./slow
tfs-run trace_open --failed --human -- ./slow
tfs-run trace_process --trace lifecycle --human -- ./slow' ]
	# what the program does, from its source
	grep -Eqx ' +2 +0 +[0-9]+ +[0-9]+ +[0-9]+  clock_nanosleep' out
	[ "$(grep -c '  slow .*slow.conf.* = -1 ENOENT' out)" = 3 ]
	grep -Eq '  sh +[0-9]+ exit 3$' out
	grep -Eq '  slow +[0-9]+ exit 0$' out
	grep -q '<svg ' "$TREE/build/slow.svg"
}

# bats test_tags=quick
@test "t/check: refuses other words than --long and --all" {
	fails 100 "t/check: unknown arguments: all; usage: t/check [--long|--all]" "$TREE/t/check" all
	fails 100 "t/check: unknown arguments: --all x; usage: t/check [--long|--all]" "$TREE/t/check" --all x
}

@test "deb: the test that autopkgtest runs on the installed package passes" {
	need_tracefs events/sched/sched_process_exec
	PATH=$TREE/bin:$PATH "$TREE/deploy/deb/debian/tests/session"
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# t/demo and t/check, the two commands that the README begins with

load ../helper

# bats test_tags=quick
@test "t/demo: shows each file that ls opens, as strace does" {
	need_tracefs events/syscalls
	need_tool strace
	# the tree is built, and other tests use it: do not build it again
	mkdir stub
	printf '#!/bin/sh\necho "$*" >>%s\n' "$PWD/made" >stub/make
	chmod +x stub/make
	PATH=$PWD/stub:$PATH "$TREE/t/demo" >out 2>err
	file_is made "-s -j$(nproc)"
	grep -qxF '$ tfs-run trace_open -- ls /' err
	# what ls prints is there, too
	grep -qx bin err
	sed -En 's/^ +ls-[0-9]+ .*: open[^"]*"([^"]*)".*/\1/p' out | sort >got
	strace -qq -e trace=open,openat,openat2 -o calls ls / >ls.out
	sed -En 's/^open[^"]*"([^"]*)".*/\1/p' calls | sort >want
	diff want got
}

# bats test_tags=quick
@test "t/check: refuses other words than --all" {
	fails 100 "t/check: unknown arguments: all; usage: t/check [--all]" "$TREE/t/check" all
	fails 100 "t/check: unknown arguments: --all x; usage: t/check [--all]" "$TREE/t/check" --all x
}

@test "deb: the test that autopkgtest runs on the installed package passes" {
	need_tracefs events/sched/sched_process_exec
	PATH=$TREE/bin:$PATH "$TREE/deploy/deb/debian/tests/smoke"
}

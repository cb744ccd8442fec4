#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# trace_graph: each call of a function of the kernel, with its duration

load ../helper
load ../hooks

need_graph() {
	need_functions
	new_instance
	grep -qw function_graph "$DIR/available_tracers" ||
		skip "needs function_graph in instances, which Linux 6.12 has"
}

# bats test_tags=quick,guest
@test "trace_graph: prints each call of a function with its duration" {
	need_graph
	calls 100
	traced trace_graph --function '*sys_getppid'
	[ "$(grep -Ec ' us +\|  [_a-z0-9]*sys_getppid\(\);' got)" = 100 ]
	[ "$(grep -c ' us ' got)" = 100 ]
}

# bats test_tags=guest
@test "trace_graph: --slower passes calls that take at least so long, with their names" {
	need_graph
	calls 10
	traced trace_graph --function '*sys_getppid' '*sys_exit_group' --slower 0
	[ "$(grep -Ec ' us +\|  [_a-z0-9]*sys_getppid\(\);' got)" = 10 ]
	calls 10
	traced trace_graph --function '*sys_getppid' --slower 10000000
	[ "$(grep -vc '^#' got)" = 0 ]
}

# bats test_tags=guest
@test "trace_graph: --arguments prints the arguments of each call by their names" {
	need_graph
	argument_option funcgraph-args
	calls 100
	traced trace_graph --function '*sys_getppid' --arguments
	[ "$(grep -Ec ' us +\|  [_a-z0-9]*sys_getppid\([a-z_]+=0x[0-9a-f]+\);' got)" = 100 ]
	calls 10
	traced trace_graph --function '*sys_getppid' '*sys_exit_group' --arguments --slower 0
	[ "$(grep -Ec ' us +\|  [_a-z0-9]*sys_getppid\([a-z_]+=0x[0-9a-f]+\);' got)" = 10 ]
}

# bats test_tags=guest
@test "trace_graph: says when the kernel can set it for the whole machine only" {
	need_functions
	new_instance
	! grep -qw function_graph "$DIR/available_tracers" ||
		skip "needs a kernel without function_graph in instances"
	calls 1
	refuses trace_graph 111 \
		'this kernel has function_graph for the whole machine only, not for a session; Linux 6.12 has' \
		--pid "$CALLS" --function vfs_read
}

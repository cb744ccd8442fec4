#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# trace_function: each call of the functions of the kernel that are named

load ../helper
load ../hooks

# bats test_tags=quick,guest
@test "trace_function: prints each call of a function, as often as it was called" {
	need_functions
	calls 1000
	traced trace_function --function '*sys_getppid'
	[ "$(grep -Ec ': [_a-z0-9]*sys_getppid <-[_a-z0-9]+' got)" = 1000 ]
	[ "$(grep -vc '^#' got)" = 1000 ]
}

# bats test_tags=guest
@test "trace_function: follows children and threads" {
	need_functions
	calls 100 2 3
	traced trace_function --function '*sys_getppid'
	[ "$(grep -vc '^#' got)" = 600 ]
	[ "$(pids_in got | wc -l)" = 6 ]
}

# bats test_tags=guest
@test "trace_function: a trace.dat has the calls of a task that enters the cgroup later" {
	need_functions
	need_cgroup
	calls 0
	one=$CALLS one_go=$GO
	echo "$one" >"$CGROUP/cgroup.procs"
	calls 100 2 3
	start_session trace_function --output dat --function '*sys_getppid' --cgroup "/${CGROUP##*/}"
	echo "$CALLS" >"$CGROUP/cgroup.procs"
	eventually grep -qx "$CALLS" "$TRACEFS/instances/tfs.$MARK/set_ftrace_pid"
	release "$CALLS"
	echo >"$one_go"
	session_ends
	tfs-report "$TRACE" | grep 'sys_getppid <-' >got
	file_has 600 got
	[ "$(pids_in got | wc -l)" = 6 ]
}

# bats test_tags=guest
@test "trace_function: --not leaves out some of the functions" {
	need_functions
	calls 100
	traced trace_function --function '*sys_getppid' '*sys_exit_group' --not '*sys_getppid'
	[ "$(grep -Ec ': [_a-z0-9]*sys_exit_group <-' got)" = 1 ]
	[ "$(grep -vc '^#' got)" = 1 ]
}

# bats test_tags=guest
@test "trace_function: two sessions at once do not see each other's functions" {
	need_functions
	calls 100
	one=$CALLS one_go=$GO
	start_session trace_function --output fifo --pid "$one" --function '*sys_getppid'
	read_by cat >got.one
	one_session=$SESSION one_reader=$READER
	calls 200
	second_session trace_function "--output fifo --pid $CALLS -f *sys_getppid *sys_exit_group"
	read_by cat >got
	release
	all_end "$SESSION" "$READER"
	[ "$(grep -vc '^#' got)" = 201 ]
	echo >"$one_go"
	all_end "$one_session" "$one_reader"
	[ "$(grep -vc '^#' got.one)" = 100 ]
}

# bats test_tags=guest
@test "trace_function: refuses no function, or an unknown function with the nearest name" {
	need_functions
	calls 1
	refuses trace_function 100 'no function is named; give --function' --pid "$CALLS"
	refuses trace_function 111 \
		"the kernel cannot trace a function that is called 'vfs_raed'; did you mean vfs_read, vfs_readv, vcs_read?" \
		--pid "$CALLS" --function vfs_open vfs_raed
	for word in '!nonesuch' 'vfs_read:traceoff' ':mod:ext4' '$(evil)'; do
		refuses trace_function 111 \
			"the kernel cannot trace a function that is called '$word'; tfs-function -l prints the names of all" \
			--pid "$CALLS" --function "'$word'"
	done
}

# bats test_tags=guest
@test "trace_function: refuses --parent, because the parents' own calls cannot be left out" {
	need_functions
	calls 1
	refuses trace_function 111 "--parent: not possible with a function tracer; select the tasks with --pid" \
		--parent "$CALLS" --function vfs_read
}

# bats test_tags=guest
@test "trace_function: --arguments prints the arguments of each call by their names" {
	need_functions
	argument_option func-args
	calls 100
	traced trace_function --function '*sys_getppid' '*sys_exit_group' --arguments
	[ "$(grep -Ec ': [_a-z0-9]*sys_getppid\([a-z_]+=0x[0-9a-f]+\) <-[_a-z0-9]+$' got)" = 100 ]
	[ "$(grep -Ec ': [_a-z0-9]*sys_exit_group\([a-z_]+=0x[0-9a-f]+\) <-[_a-z0-9]+$' got)" = 1 ]
	[ "$(grep -vc '^#' got)" = 101 ]
	calls 100
	traced trace_function --function '*sys_getppid' --arguments --json
	[ "$(grep -c '"event":"function","fields":{"ip":[0-9]*,"parent_ip":[0-9]*,"args":\[[0-9]*,[0-9,]*\]}}$' got)" = 100 ]
	file_has 100 got
	# without the option they are gone
	calls 100
	traced trace_function --function '*sys_getppid'
	[ "$(grep -Ec ': [_a-z0-9]*sys_getppid <-' got)" = 100 ]
}

# bats test_tags=guest
@test "trace_function and trace_graph: --arguments is refused if the kernel has no such option" {
	need_functions
	new_instance
	[ ! -e "$DIR/options/func-args" ] || skip "needs a kernel without options/func-args"
	calls 1
	refuses trace_function 111 'this kernel has no options/func-args for --arguments; they need Linux 6.15 with BTF' \
		--pid "$CALLS" --function vfs_read --arguments
	! grep -qw function_graph "$DIR/available_tracers" ||
		refuses trace_graph 111 'this kernel has no options/funcgraph-args for --arguments; they need Linux 6.15 with BTF' \
			--pid "$CALLS" --function vfs_read --arguments
}

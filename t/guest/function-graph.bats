#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2153 # helper.bash
# tfs-report: prints function_graph as the kernel does, for calls of a guest's top level

# bats file_tags=guest
load ../helper

@test "tfs-report: kernel: prints a recording of function_graph as trace does, byte for byte" {
	[ "${TFS_VARIANT-}" = vm ] || skip "needs a guest (make check-vm)"
	need_tracefs set_ftrace_filter
	local functions='vfs_* do_filp_open path_openat rw_verify_area security_file_* do_sys_openat2
		filename_lookup getname_flags kmem_cache_* schedule* wake_up_process'
	grep -qw function_graph "$TRACEFS/available_tracers" || skip "no function_graph"
	cd "$TRACEFS"
	echo 0 >tracing_on
	echo 2000 >buffer_size_kb
	: >trace
	: >set_ftrace_filter
	for f in $functions; do echo "$f" >>set_ftrace_filter || :; done 2>/dev/null
	echo function_graph >current_tracer
	echo 1 >tracing_on
	for ((i = 0; i < 20; i++)); do
		tr a b </proc/version | cat >"$OLDPWD/copy"
		ls / >/dev/null
	done
	echo 0 >tracing_on
	echo 0 >events/enable
	cd "$OLDPWD"
	grep -v '^#' "$TRACEFS/trace" >theirs
	background tfs-record -i / file
	eventually blocks "$PID"
	ends_by "$PID" TERM 0
	echo nop >"$TRACEFS/current_tracer"
	: >"$TRACEFS/set_ftrace_filter"
	tfs-report file >ours
	echo "# $(wc -l <theirs) lines, $(grep -c '();' theirs) leaves, $(diff theirs ours | grep -c '^[<>]') differ" >&3
	[ "$(wc -l <theirs)" -gt 1000 ]
	diff theirs ours >differ || { head -n 60 differ >&3; false; }
	tfs-slower 10 <ours >slow || [ $? = 1 ]
	tfs-slower 10 <theirs | cmp slow - || [ $? = 1 ]
}

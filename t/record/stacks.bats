#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031 # each test is a process of its own
# user stacks: each frame of programs without frame pointers, and why a stack is cut

load ../helper

need_stacks() {
	[[ $(uname -m) == @(x86_64|aarch64) ]] || skip "needs x86-64 or arm64"
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs /sys/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF)"
	need_tracefs events/syscalls
}

# stacks WORDS: Run a session, with its trace in got.
stacks() {
	tfs-run "$1" --instance "$MARK" "${@:2}" >got
	head -n 30 got # for a test that fails
}

# no_map NAME: Remove the file that a program of this name has written for its functions.
no_map() {
	rm -f "/tmp/perf-$(grep -om 1 "$1[^ ]*-[0-9]*" got | grep -o '[0-9]*$').map"
}

# outermost: Print the last frames of the stacks in got.
outermost() {
	awk '/^ => / { frame = $2; next } frame { print frame; frame = "" } END { if (frame) print frame }' got
}

# bats test_tags=guest,oldest
@test "a user stack goes from a call through libc to the first function of the program" {
	need_stacks
	stacks trace_event -e sys_enter_getppid --user-stack -- "$PROG/calls" 5
	[ "$(grep -c ': sys_getppid()$' got)" = 5 ]
	[ "$(grep -c ': <user stack trace>$' got)" = 5 ]
	if [ "$(grep -c '^ => \[no unwind table\]$' got)" = 5 ]; then # that of a static program of musl
		[ "$(tail -n 1 got)" = '# user stacks: 0 of 5 are whole, 5 end with [no unwind table]' ]
		skip "needs a libc with .eh_frame"
	fi
	[ "$(grep -c "^ => main+0x[0-9a-f]* ($PROG/calls)$" got)" = 5 ]
	[ "$(outermost | sed 's/+.*//' | sort | uniq -c | tr -s ' ')" = ' 5 _start' ]
	[ "$(tail -n 1 got)" = '# user stacks: 5 of 5 are whole' ]
}

@test "a trace.dat has the names of the functions, and its report and picture are those of the stream" {
	need_stacks
	stacks trace_event -e sys_enter_getppid --user-stack -- "$PROG/calls" 5
	tfs-run trace_event --instance "$MARK" -e sys_enter_getppid --user-stack -o x.dat -- "$PROG/calls" 5
	tfs-report x.dat >report
	grep '^ => ' got | diff - <(grep '^ => ' report)
	tfs-flame -f <report | diff - <(grep -v '^#' got | tfs-flame -f)
	grep -q '^calls;_start;.*main;.* 5$' <(tfs-flame -f <report)
	tfs-report -j x.dat | jq -c 'select(.event == "user_stack") | .fields.frames' >frames
	grep '^ => ' got | sed 's/^ => //' | diff - <(jq -r '.[]' frames)
}

@test "a stack without its event, which a filter has dropped, is in no trace" {
	need_stacks
	stacks trace_event -e sys_enter_write --filter 'count == 3' --user-stack -- sh -c 'echo ab; echo abcd; echo cd'
	[ "$(grep -c ': sys_write(' got)" = 2 ]
	[ "$(grep -c ': <user stack trace>$' got)" = 2 ]
	[ "$(tail -n 1 got)" = '# user stacks: 2 of 2 are whole' ]
	tfs-run trace_event --instance "$MARK" -e sys_enter_write --filter 'count == 3' --user-stack -o x.dat -- \
		sh -c 'echo ab; echo abcd; echo cd'
	[ "$(tfs-report x.dat | grep -c ': <user stack trace>$')" = 2 ]
}

@test "programs of the system have whole stacks, also without symbols, and if they execute each other at once" {
	need_stacks
	stacks trace_event -e sys_enter_openat --user-stack -- \
		sh -c 'exec env env env sh -c "exec env env ls / >/dev/null"' --
	[ "$(grep -c ': sys_openat(' got)" -gt 15 ]
	[ "$(grep -c ': sys_openat(' got)" = "$(grep -c ': <user stack trace>$' got)" ]
	run -1 grep -E '^ => (\[| *<)' got
	[[ $(tail -n 1 got) =~ ^'# user stacks: '([0-9]+)' of '([0-9]+)' are whole'$ ]]
	[ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
}

@test "a stack of 200 frames is whole, and names a file once" {
	need_stacks
	make -s -C "$TREE" -f t/prog/Makefile chains >&2
	stacks trace_event -e sys_enter_getppid --user-stack -- "$PROG/chains/plain" recursion 1
	[ "$(grep -c '^ => again+0x[0-9a-f]*$' got)" -gt 170 ]
	[ "$(tail -n 1 got)" = '# user stacks: 1 of 1 are whole' ]
}

@test "functions that a JIT has made have names and frames, and without its file the stack is cut" {
	need_stacks
	command -v node >/dev/null || skip "needs node (package nodejs)"
	printf '%s\n' "function innermost() { process.ppid; }" \
		"function outer() { for (let i = 0; i < 50; i++) innermost(); }" "outer();" >x.js
	stacks trace_event -e sys_enter_getppid --user-stack -- node --perf-basic-prof --interpreted-frames-native-stack x.js
	no_map node
	# the reader may have no time to read the file again, and says so
	named=$(grep -c '^ => JS:.outer?.*(\[jit\])$' got)
	[ "$named" -ge 1 ]
	[ "$(grep -c '^ => JS:.innermost?.*(\[jit\])$' got)" = "$named" ]
	[ "$(grep -c '^ => \[no unwind table\]$' got || :)" = $(($(grep -c 'user stack trace' got) - named)) ]
	stacks trace_event -e sys_enter_getppid --user-stack -- node --jitless x.js
	[[ $(tail -n 1 got) == '# user stacks: '* ]]
}

@test "functions of Python have names and frames, between those of the interpreter" {
	need_stacks
	python=
	for candidate in python3 /usr/bin/python3.1[2-9] /root/.pyenv/versions/3.1[2-9]*/bin/python3; do
		! "$candidate" -c 'import sys; sys.activate_stack_trampoline("perf")' 2>/dev/null || python=$candidate
	done
	[ -n "$python" ] || skip "needs a Python of 3.12 or later with stack trampolines"
	printf '%s\n' 'import os' 'def innermost(): os.getppid()' 'def outer():' \
		'    for i in range(20): innermost()' 'outer()' >x.py
	stacks trace_event -e sys_enter_getppid --user-stack -- "$python" -X perf x.py
	no_map python
	named=$(grep -c '^ => py::innermost:.*(\[jit\])$' got)
	[ "$named" -ge 1 ]
	[ "$(grep -A 5 '^ => py::innermost:' got | grep -c '^ => py::outer:.*(\[jit\])$')" = "$named" ]
	[ "$(grep -c '^ => \[no unwind table\]$' got || :)" = $((20 - named)) ]
}

@test "a return whose caller is probed, too, ends the stack, and says so" {
	need_stacks
	need_tracefs uprobe_events
	make -s -C "$TREE" -f t/prog/Makefile chains >&2
	stacks trace_uprobe --binary "$PROG/chains/plain" --symbol again --return --stack -- \
		"$PROG/chains/plain" plain 3
	[ "$(outermost | sed 's/+.*//' | sort | uniq -c | tr -s ' \n' ' ')" = ' 3 [return 3 _start ' ]
	[ "$(tail -n 1 got)" = '# user stacks: 3 of 6 are whole, 3 end with [return probe]' ]
}

@test "without BPF, the kernel's own stacks are printed, and the first line says why" {
	need_stacks
	need_tracefs options/userstacktrace
	mkdir -p sys/kernel
	ln -s /sys/kernel/tracing sys/kernel/tracing
	ln -s /sys/fs /sys/devices /sys/bus sys/
	TRACER_SYSFS_PATH=$PWD/sys stacks trace_event -e sys_enter_getppid --user-stack -- "$PROG/calls" 5
	[[ $(head -n 1 got) == '# user stacks end before a function without frame pointer: unable to read '*btf* ]]
	[ "$(grep -c ': <user stack trace>$' got)" = 5 ]
}

@test "more processes than are remembered have their names, if they end" {
	need_stacks
	printf '%s\n' 'i=0' 'while [ $i -lt 1100 ]; do /bin/true; i=$((i + 1)); done' >x.sh
	stacks trace_event -e sys_enter_brk --buffer 32M --user-stack -- sh x.sh
	grep -q '^# user stacks: [0-9]* of [0-9]* are whole$' got
	run -1 grep -E '^ => (\[| *<)' got
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# trace_kprobe: functions of the kernel; exact counts and fields

load ../helper
load ../hooks

# bats test_tags=quick,guest
@test "trace_kprobe: records each call of a kernel function, with its arguments, or its return" {
	uses kprobe_events
	act opens 12 8 "$PWD/there"
	traced trace_kprobe --function do_sys_openat2 --arg 'path=+0($arg2):ustring'
	[ "$(lines ': do_sys_openat2: (do_sys_openat2+0x[0-9a-f]/0x[0-9a-f]*) path="/nowhere/at all"$')" = 8 ]
	[ "$(grep -vc '^#' got)" = 20 ]
	act opens 12 8 "$PWD/there"
	traced trace_kprobe -k do_sys_openat2 --return --filter "'ret == -2'"
	[ "$(lines ': do_sys_openat2: ([^ ]*+0x[0-9a-f]*/0x[0-9a-f]* <- do_sys_openat2) ret=-2$')" = 8 ]
	[ "$(grep -vc '^#' got)" = 8 ]
}

# bats test_tags=guest
@test "trace_kprobe: --stack prints the kernel's stack below each call" {
	uses kprobe_events
	act opens 2 0 "$PWD/there"
	traced trace_kprobe -k do_sys_openat2 --stack
	[ "$(lines ': do_sys_openat2: ')" = 2 ]
	[ "$(lines '<stack trace>')" = 2 ]
}

# bats test_tags=guest
@test "trace_kprobe: if a string does not fit into a page, prints the call without it" {
	uses kprobe_events
	path=$(printf '/%.0s' {1..4080})
	act opens 3 2 "$path"
	traced trace_kprobe -k do_sys_openat2 --arg 'path=+0($arg2):ustring' 'dir=$arg1:s32'
	[ "$(lines ': do_sys_openat2_long: (do_sys_openat2+0x[0-9a-f]/0x[0-9a-f]*) dir=-100$')" = 3 ]
	[ "$(lines ': do_sys_openat2: .* path="/nowhere/at all" dir=-100$')" = 2 ]
	[ "$(grep -vc '^#' got)" = 5 ]
	# each call has its own stack and no other
	act opens 3 2 "$path"
	traced trace_kprobe -k do_sys_openat2 --arg 'path=+0($arg2):ustring' --stack
	[ "$(lines ': do_sys_openat2_long: ')" = 3 ]
	[ "$(lines ': do_sys_openat2: ')" = 2 ]
	[ "$(lines '<stack trace>')" = 5 ]
	grep -q 'return probes.*\$arg' "$TRACEFS/README" || return 0
	act opens 3 2 "$path"
	traced trace_kprobe -k do_sys_openat2 --return --arg 'path=+0($arg2):ustring'
	[ "$(lines ': do_sys_openat2_long: .* ret=[0-9]*$')" = 3 ]
	[ "$(lines ': do_sys_openat2: .* path="/nowhere/at all" ret=-2$')" = 2 ]
	[ "$(grep -vc '^#' got)" = 5 ]
}

# bats test_tags=guest
@test "trace_kprobe: records two functions at once that have a string among their arguments" {
	uses kprobe_events
	grep -q ' t do_filp_open$\| T do_filp_open$' /proc/kallsyms || skip "needs do_filp_open"
	act opens 3 2 "$PWD/there"
	traced trace_kprobe -k do_sys_openat2 do_filp_open --arg 'what=+0($arg2):ustring' 'x=$arg1:s32'
	[ "$(lines ': do_sys_openat2: .* what="[^"]*" x=-100$')" = 5 ]
	[ "$(lines ': do_filp_open: ')" = 5 ]
	[ "$(grep -vc '^#' got)" = 10 ]
}

# bats test_tags=guest
@test "trace_kprobe: --latency prints the time from call to return, with arguments and result" {
	uses kprobe_events
	act sleeps 2 2
	traced trace_kprobe -k hrtimer_nanosleep --latency --arg 'i=$arg1'
	[ "$(lines ': hrtimer_nanosleep: (.* <- hrtimer_nanosleep) ret=0 i=0x1e8480 lat=[0-9]*$')" = 6 ]
	file_has 6 got
	run -0 awk '{ sub(/.* lat=/, "") } $0 + 0 < 1000' got
	[ -z "$output" ]
	inner=do_filp_open
	grep -q ' t do_filp_open$\| T do_filp_open$' /proc/kallsyms || inner=do_file_open # Linux 7
	act opens 3 2 "$PWD/there"
	traced trace_kprobe -k do_sys_openat2 "$inner" --latency --arg 'x=$arg1:s32' 'ret=$retval:s64'
	# an int since Linux 7, of which 64 bits are read
	[ "$(lines ': do_sys_openat2: .* ret=\(-2\|4294967294\) x=-100 lat=[0-9]*$')" = 2 ]
	[ "$(lines ': do_sys_openat2: .* ret=[0-9]\{1,3\} x=-100 lat=[0-9]*$')" = 3 ]
	[ "$(lines ": $inner: .* x=-100 lat=[0-9]*\$")" = 5 ]
	[ "$(grep -vc '^#' got)" = 10 ]
}

# bats test_tags=guest
@test "trace_kprobe: --latency cannot be combined with --filter and --stack, and old kernels have no arguments at a return" {
	uses kprobe_events
	for option in '--filter x' --stack; do
		# shellcheck disable=SC2086 # words
		refuses trace_kprobe 100 '--latency cannot be combined with --filter and --stack' --pid $$ -k do_exit --latency $option
	done
	! grep -q 'return probes.*\$arg' "$TRACEFS/README" || return 0
	refuses trace_kprobe 100 'a return has no $arg; give --latency to record arguments at the call' \
		--pid $$ -k do_exit --return --arg '$arg1'
}

# bats test_tags=guest
@test "trace_kprobe: reports no function or an unknown function on one line, with the nearest name" {
	uses kprobe_events
	refuses trace_kprobe 100 'no function is named; give --function' --pid $$
	refuses trace_kprobe 100 "'*_getppid' is not the name of a function; tfs-function -l prints names" \
		--pid $$ --function do_exit "'*_getppid'"
	exits 111 "$MANAGER" --run trace_kprobe --args "--instance $MARK --pid $$ -k do_sys_open do_sys_opneat2"
	[[ $(cat err) == "manager: fatal: the kernel has no function 'do_sys_opneat2'; did you mean do_sys_openat2"* ]]
	file_has 1 err
	nothing_left
	no_probes
}

# bats test_tags=guest
@test "trace_kprobe: records a function at which the kernel allows no kprobe, by a probe of kind f" {
	uses kprobe_events
	grep -q ' f\[:' "$TRACEFS/README" || skip "needs probes of kind f (CONFIG_FPROBE_EVENTS)"
	need_tool ifconfig
	grep -qx notifier_call_chain "$TRACEFS/available_filter_functions" ||
		skip "needs the function notifier_call_chain"
	watch trace_kprobe --pid $$ -k notifier_call_chain --return
	[ "$(sed -n "s/^f:$(group)\/\([^ ]* [^ ]*\) .*/\1/p" "$TRACEFS/dynamic_events")" = \
		'notifier_call_chain notifier_call_chain%return' ]
	ifconfig lo mtu 60000 # which the kernel tells all who want to know
	ifconfig lo mtu 65536
	watch_stop
	no_probes
	[ "$(lines ': notifier_call_chain: (.* <- notifier_call_chain) ret=[0-9]*$')" -ge 2 ]
}

@test "trace_kprobe: --check names the missing option if the kernel has no kprobes" {
	need_tracefs
	[ ! -e "$TRACEFS/kprobe_events" ] || skip "needs a kernel without kprobes"
	run -1 "$MANAGER" --check trace_kprobe
	[[ $output == *'no kprobe_events in this kernel; it needs CONFIG_KPROBE_EVENTS'* ]]
}

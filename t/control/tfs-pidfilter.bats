#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-pidfilter: selects the tasks whose events an instance records

load ../helper

USAGE='tfs-pidfilter [-f] [-R ROOT] [-i INSTANCE] set|add|remove|list|mirror [PID]...'

misuse() {
	fails 100 "tfs-pidfilter: fatal: $1; usage: $USAGE" "${@:2}"
}

# Make a root with empty files of both filters.
plain_root() {
	local dir
	mkdir -p root/instances/one
	for dir in root root/instances/one; do
		mkdir -p $dir/options
		touch $dir/options/{event,function}-fork \
			$dir/set_{event,ftrace}_{pid,notrace_pid}
	done
}

# holds FILE PID...: Fail unless the kernel's list holds these pids; an empty list may vary.
holds() {
	local file=$1
	shift
	[ "$(grep '[0-9]' "$DIR/$file" | sort -n | tr '\n' ' ')" = "${*:+$* }" ]
}

# Print the pids that have events in the trace, once each, in ascending order.
traced() {
	grep -v '^#' "$DIR/trace" | sed -n 's/^ *.*-\([0-9]*\) *\[.*/\1/p' | sort -nu
}

# Record the calls of getppid with whatever events this kernel has for it. Call this after
# the pids are set, because without pids all tasks are recorded.
getppids() {
	if [ -e "$DIR/events/syscalls" ]; then
		tfs-write -i "$INSTANCE" events/syscalls/sys_enter_getppid/enable 1
	elif [ -e "$DIR/events/raw_syscalls" ]; then
		tfs-write -i "$INSTANCE" \
			events/raw_syscalls/sys_enter/filter "id == $(syscall-nr getppid)" \
			events/raw_syscalls/sys_enter/enable 1
	else
		lacks events/raw_syscalls
	fi
}

@test "tfs-pidfilter: refuses an invalid pid on standard input too" {
	plain_root
	echo '5 6 x7' >pids
	misuse "'x7' is not a pid, a number from 1 to 4194304" from pids tfs-pidfilter -R root set
	printf '5\0006\n' >pids
	misuse "a NUL byte among the pids" from pids tfs-pidfilter -R root add -
	printf '5 \033[2J' >pids
	misuse "'?[2J' is not a pid, a number from 1 to 4194304" from pids tfs-pidfilter -R root remove
	exactly root/set_event_pid ''
	exactly root/set_event_notrace_pid ''
}

@test "tfs-pidfilter: accepts commas between pids, as operands and on standard input" {
	local held=()
	new_instance
	for _ in 1 2 3; do
		calls 1
		held+=("$CALLS")
	done
	tfs-pidfilter -i "$INSTANCE" set "${held[0]},${held[1]}" "${held[2]}"
	outputs 0 "$(printf '%s\n' "${held[@]}" | sort -n)" tfs-pidfilter -i "$INSTANCE" list
	echo "${held[0]},${held[1]} ${held[2]}" | tfs-pidfilter -i "$INSTANCE" remove
	run -1 tfs-pidfilter -i "$INSTANCE" list
	[ "$output" = "tfs-pidfilter: the pid filter names no task" ]
	misuse "'1,' is not a pid, a number from 1 to 4194304" tfs-pidfilter -i "$INSTANCE" set 1,
}

@test "tfs-pidfilter: refuses - together with pids" {
	plain_root
	for pids in '- 5' '5 -' '- -'; do
		# shellcheck disable=SC2086 # words
		misuse "'-' is not a pid, a number from 1 to 4194304" from /dev/null tfs-pidfilter -R root add $pids
	done
	exactly root/set_event_pid ''
}

@test "tfs-pidfilter: refuses a standard input without pids, because an empty list would mean all tasks" {
	plain_root
	for command in set add remove 'set -'; do
		# shellcheck disable=SC2086 # words
		misuse "no pids" from /dev/null tfs-pidfilter -R root $command
	done
	printf ' \n\t\n' >space
	misuse "no pids" from space tfs-pidfilter -R root set
	exactly root/set_event_pid ''
}

# bats test_tags=quick
@test "tfs-pidfilter: plain directory: set writes all pids as one record, and enables fork following" {
	plain_root
	run -0 --separate-stderr tfs-pidfilter -R root set 30 4 30 100
	[ -z "$output$stderr" ]
	exactly root/options/event-fork $'1\n'
	exactly root/set_event_pid $'4 30 100\n'
	exactly root/set_event_notrace_pid ''
	exactly root/options/function-fork ''
	exactly root/set_ftrace_pid ''
}

@test "tfs-pidfilter: plain directory: -f writes the function tracers' filter as well" {
	plain_root
	tfs-pidfilter -f -R root set 5 6
	exactly root/options/event-fork $'1\n'
	exactly root/set_event_pid $'5 6\n'
	exactly root/options/function-fork $'1\n'
	exactly root/set_ftrace_pid $'5 6\n'
	tfs-pidfilter -f -R root remove 5
	exactly root/set_event_notrace_pid $'5\n'
	exactly root/set_ftrace_notrace_pid $'5\n'
}

@test "tfs-pidfilter: plain directory: enables fork following before it writes the first pid" {
	need_tool strace
	plain_root
	strace -o log -e trace=openat tfs-pidfilter -R root add 5 || skip "needs ptrace"
	order=$(sed -n 's/.*"\(options\/event-fork\|set_event_pid\)", O_WRONLY.*/\1/p' log)
	[ "$order" = $'options/event-fork\nset_event_pid' ]
	run ! grep -q O_TRUNC log
}

@test "tfs-pidfilter: plain directory: reads pids from standard input with any spacing" {
	plain_root
	printf '7\t 6\n\n5\n8 ' >pids
	tfs-pidfilter -R root set <pids
	exactly root/set_event_pid $'5 6 7 8\n'
	tfs-pidfilter -R root add - <<<9
	exactly root/set_event_pid $'5 6 7 8\n9\n'
}

@test "tfs-pidfilter: plain directory: set removes the pids that were there before" {
	plain_root
	echo '5 6 7' >root/set_event_pid
	tfs-pidfilter -R root set 6 8
	exactly root/set_event_pid $'5 6 7\n6 8\n'
	exactly root/set_event_notrace_pid $'5 7\n'
	outputs 0 $'6\n8' tfs-pidfilter -R root list
}

@test "tfs-pidfilter: plain directory: add puts a removed pid back" {
	plain_root
	tfs-pidfilter -R root set 5 6 7
	tfs-pidfilter -R root remove 6 7
	exactly root/set_event_notrace_pid $'6 7\n'
	tfs-pidfilter -R root add 6
	exactly root/set_event_notrace_pid $'7\n'
	exactly root/set_event_pid $'5 6 7\n6\n'
	outputs 0 $'5\n6' tfs-pidfilter -R root list
}

@test "tfs-pidfilter: plain directory: list prints the pids in ascending order, one per line" {
	plain_root
	printf '100\n20\n3\n' >root/set_event_pid
	echo 20 >root/set_event_notrace_pid
	run -0 --separate-stderr tfs-pidfilter -R root list
	[ "$output" = $'3\n100' ]
	[ -z "$stderr" ]
}

@test "tfs-pidfilter: plain directory: list exits 1 when the filter is empty" {
	plain_root
	run -1 --separate-stderr tfs-pidfilter -R root list
	[ "$output$stderr" = "tfs-pidfilter: the pid filter names no task" ]
	echo 'no pid' >root/set_event_pid
	run -1 --separate-stderr tfs-pidfilter -R root list
	[ "$output$stderr" = "tfs-pidfilter: the pid filter names no task" ]
	echo 5 | tee root/set_event_pid >root/set_event_notrace_pid
	run -1 --separate-stderr tfs-pidfilter -R root list
	[ "$output$stderr" = "tfs-pidfilter: the pid filter names no task" ]
}

@test "tfs-pidfilter: plain directory: -i and TFS_INSTANCE choose the instance" {
	plain_root
	tfs-pidfilter -R root -i one set 5
	TFS_INSTANCE=one tfs-pidfilter -R root add 6
	exactly root/instances/one/set_event_pid $'5\n6\n'
	TFS_INSTANCE=one run -0 tfs-pidfilter -R root list
	[ "$output" = $'5\n6' ]
	exactly root/set_event_pid ''
}

@test "tfs-pidfilter: plain directory: writes 10000 pids as one record" {
	need_tool strace
	plain_root
	printf '%s\n' {10001..20000} >pids
	strace -o log -e trace=write tfs-pidfilter -R root set <pids || skip "needs ptrace"
	exactly root/set_event_pid "$(echo {10001..20000})"$'\n'
	[ "$(grep -c '^write(' log)" = 2 ]
	tfs-pidfilter -R root list | cmp - pids
}

@test "tfs-pidfilter: names a file that is missing or not writable" {
	plain_root
	rm root/options/event-fork
	fails 111 "tfs-pidfilter: fatal: unable to write '1' to options/event-fork: No such file or directory" \
		tfs-pidfilter -R root add 5
	plain_root
	rm root/set_event_pid
	fails 111 "tfs-pidfilter: fatal: unable to read set_event_pid: No such file or directory" \
		tfs-pidfilter -R root list
	fails 111 "tfs-pidfilter: fatal: unable to write 2 pids to set_event_pid: No such file or directory" \
		tfs-pidfilter -R root add 5 6
	plain_root
	rm root/set_event_notrace_pid
	fails 111 "tfs-pidfilter: fatal: unable to read set_event_notrace_pid: No such file or directory" \
		tfs-pidfilter -R root add 5
	fails 111 "tfs-pidfilter: fatal: unable to write 1 pids to set_event_notrace_pid: No such file or directory" \
		tfs-pidfilter -R root remove 5
}

@test "tfs-pidfilter: a full disk is an error" {
	plain_root
	ln -sf /dev/full root/set_event_notrace_pid
	fails 111 "tfs-pidfilter: fatal: unable to write 1 pids to set_event_notrace_pid: No space left on device" \
		tfs-pidfilter -R root remove 5
	echo 5 >root/set_event_pid
	: >empty
	ln -sf "$PWD/empty" root/set_event_notrace_pid
	fails 111 "tfs-pidfilter: fatal: unable to write to standard output: No space left on device" \
		to_full tfs-pidfilter -R root list
}

@test "tfs-pidfilter: kernel: set, add, remove and list agree with the kernel's filter" {
	new_instance
	# threads of a process that forks no child meanwhile
	calls -e 1 3
	mapfile -t all < <(pids-of -t "$CALLS")
	tfs-pidfilter -i "$INSTANCE" set "${all[1]}" "${all[0]}"
	exactly "$DIR/options/event-fork" $'1\n'
	holds set_event_pid "${all[@]:0:2}"
	outputs 0 "${all[0]}"$'\n'"${all[1]}" tfs-pidfilter -i "$INSTANCE" list
	tfs-pidfilter -i "$INSTANCE" add "${all[2]}"
	holds set_event_pid "${all[@]}"
	tfs-pidfilter -i "$INSTANCE" remove "${all[0]}"
	outputs 0 "${all[1]}"$'\n'"${all[2]}" tfs-pidfilter -i "$INSTANCE" list
	tfs-pidfilter -i "$INSTANCE" set "${all[0]}"
	outputs 0 "${all[0]}" tfs-pidfilter -i "$INSTANCE" list
}

@test "tfs-pidfilter: kernel: list exits 1 in a new instance" {
	new_instance
	run -1 --separate-stderr tfs-pidfilter -i "$INSTANCE" list
	[ "$output$stderr" = "tfs-pidfilter: the pid filter names no task" ]
}

# bats test_tags=guest
@test "tfs-pidfilter: kernel: -f sets the filter of the function tracers and their fork option" {
	new_instance
	cat "$DIR"/set_ftrace_{notrace_,}pid >/dev/null 2>&1 ||
		lacks set_ftrace_notrace_pid
	calls 1
	tfs-pidfilter -f -i "$INSTANCE" set "$CALLS"
	exactly "$DIR/options/function-fork" $'1\n'
	holds set_ftrace_pid "$CALLS"
	tfs-pidfilter -f -i "$INSTANCE" remove "$CALLS"
	holds set_ftrace_notrace_pid "$CALLS"
}

@test "tfs-pidfilter: kernel: the kernel records the selected tasks only, and all their calls" {
	new_instance
	calls 1000
	local other=$CALLS other_go=$GO
	calls 1000
	tfs-pidfilter -i "$INSTANCE" set "$CALLS"
	getppids
	release
	GO=$other_go release
	all_end "$CALLS" "$other"
	[ "$(traced)" = "$CALLS" ]
	[ "$(grep -cv '^#' "$DIR/trace")" = 1000 ]
}

@test "tfs-pidfilter: kernel: the kernel follows children from their fork on, and forgets dead tasks" {
	new_instance
	calls 100 2 3
	tfs-pidfilter -i "$INSTANCE" set "$CALLS"
	getppids
	release "$CALLS"
	[ "$(grep -cv '^#' "$DIR/trace")" = 600 ]
	[ "$(traced | wc -l)" = 6 ]
	# the kernel forgets the pid when it frees the task, one grace period later
	forgotten() { [ -z "$(tfs-pidfilter -i "$INSTANCE" list)" ]; }
	eventually forgotten
}

@test "tfs-pidfilter: kernel: the kernel no longer records a removed task, but still records the others" {
	new_instance
	calls 50
	local other=$CALLS other_go=$GO
	calls 50
	tfs-pidfilter -i "$INSTANCE" set "$CALLS" "$other"
	tfs-pidfilter -i "$INSTANCE" remove "$other"
	getppids
	release
	GO=$other_go release
	all_end "$CALLS" "$other"
	[ "$(traced)" = "$CALLS" ]
	[ "$(grep -cv '^#' "$DIR/trace")" = 50 ]
}

@test "tfs-pidfilter: kernel: set accepts the output of pids-of" {
	new_instance
	calls -e 10 4 3
	all_there() { [ "$(pids-of -dt "$CALLS" | wc -l)" = 13 ]; }
	eventually all_there
	pids-of -dt "$CALLS" | tfs-pidfilter -i "$INSTANCE" set
	tfs-pidfilter -i "$INSTANCE" list >listed
	pids-of -dt "$CALLS" | cmp - listed
	getppids
	release "$CALLS"
	[ "$(grep -cv '^#' "$DIR/trace")" = 120 ]
}

# ---- mirror -------------------------------------------------------------------------

# functions_of ROOT: Make a plain root with the files of both filters.
functions_of() {
	mkdir -p "$1/options"
	: >"$1/options/function-fork"
	: >"$1/set_ftrace_pid"
	: >"$1/set_ftrace_notrace_pid"
}

@test "tfs-pidfilter: mirror copies the events' pid filter to the function tracers" {
	functions_of root
	printf '3\n17\n' >root/set_event_pid
	: >root/set_event_notrace_pid
	tfs-pidfilter -R root mirror
	lines_are root/set_ftrace_pid "3 17"
	lines_are root/options/function-fork "1"
	exactly root/set_ftrace_notrace_pid ""
}

@test "tfs-pidfilter: mirror copies the list of excluded pids too" {
	functions_of root
	: >root/set_event_pid
	printf '5\n' >root/set_event_notrace_pid
	tfs-pidfilter -R root mirror
	lines_are root/set_ftrace_notrace_pid "5"
	exactly root/set_ftrace_pid ""
}

@test "tfs-pidfilter: mirror refuses a pid, and needs function tracers" {
	functions_of root
	: >root/set_event_pid
	: >root/set_event_notrace_pid
	fails 100 "tfs-pidfilter: fatal: unexpected operand '3'; usage: tfs-pidfilter [-f] [-R ROOT] [-i INSTANCE] set|add|remove|list|mirror [PID]..." \
		tfs-pidfilter -R root mirror 3
	rm root/options/function-fork
	fails 111 "tfs-pidfilter: fatal: unable to write '1' to options/function-fork: No such file or directory" \
		tfs-pidfilter -R root mirror
}

# bats test_tags=guest
@test "tfs-pidfilter: mirror makes the kernel's function pid list equal to the events' list" {
	need_tracefs set_ftrace_notrace_pid
	new_instance
	head -c 1 "$DIR/set_ftrace_pid" >can.read 2>&1 || skip "needs set_ftrace_pid, which this kernel keeps to itself"
	calls 1
	other=$CALLS
	calls 1
	tfs-pidfilter -i "$INSTANCE" set "$CALLS" "$other"
	tfs-pidfilter -i "$INSTANCE" mirror
	[ "$(cat "$DIR/set_ftrace_pid")" = "$(cat "$DIR/set_event_pid")" ]
	file_is "$DIR/options/function-fork" 1
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-write: writes records into control files, one write each

load ../helper


# Make a root with files. The file picky refuses everything but numbers, as a control
# file does: it is the test's own oom_score_adj.
plain_root() {
	mkdir -p root/instances/one
	: >root/file
	: >root/other
	: >root/instances/one/file
	[ -w /proc/self/oom_score_adj ] || skip "needs /proc/self/oom_score_adj"
	ln -s /proc/self/oom_score_adj root/picky
}

# error_log COMMAND MESSAGE: Write an error_log as a kernel has it.
error_log() {
	printf '[    1.000000] older: error: Not this one\n  Command: %s old\n           ^\n[    2.000000] here: error: %s\n  Command: %s\n           ^\n' \
		"$1" "$2" "$1" >root/error_log
}

# bats test_tags=quick
@test "tfs-write: plain directory: a record is appended with one newline" {
	plain_root
	printf 'before\n' >root/file
	run -0 --separate-stderr tfs-write -R root file 'one two'
	exactly root/file $'before\none two\n'
	[ -z "$output$stderr" ]
}

@test "tfs-write: plain directory: an empty record is a newline" {
	plain_root
	tfs-write -R root file ''
	exactly root/file $'\n'
}

@test "tfs-write: plain directory: pairs are written in their order" {
	plain_root
	tfs-write -R root file 1 other 2 file 3
	exactly root/file $'1\n3\n'
	exactly root/other $'2\n'
}

@test "tfs-write: plain directory: -c clears the file first" {
	plain_root
	printf 'before\n' >root/file
	printf 'before\n' >root/other
	tfs-write -c -R root file 1 other ''
	exactly root/file $'1\n'
	exactly root/other ''
}

@test "tfs-write: plain directory: -c clears a file only once, even if the file gets several records" {
	plain_root
	printf 'before\n' >root/file
	tfs-write -c -R root file 1 other x file 2
	exactly root/file $'1\n2\n'
}

@test "tfs-write: plain directory: the record - stands for the lines of standard input" {
	plain_root
	printf 'a b\n\nc' | tfs-write -R root other 0 file -
	exactly root/file $'a b\n\nc\n'
	exactly root/other $'0\n'
}

@test "tfs-write: plain directory: -c clears the file once before the lines of standard input" {
	plain_root
	printf 'before\n' >root/file
	printf 'a\nb\n' | tfs-write -c -R root file -
	exactly root/file $'a\nb\n'
	tfs-write -c -R root file - </dev/null
	exactly root/file ''
}

@test "tfs-write: plain directory: writes nothing if standard input has no line" {
	plain_root
	printf 'before\n' >root/file
	tfs-write -R root file - </dev/null
	exactly root/file $'before\n'
}

@test "tfs-write: plain directory: accepts a line of a megabyte from standard input" {
	plain_root
	head -c 1000000 /dev/zero | tr '\0' x >long
	echo >>long
	tfs-write -R root file - <long
	cmp long root/file
}

@test "tfs-write: plain directory: writes every byte except newline and NUL unchanged" {
	plain_root
	all=$(printf '%b' "$(printf '\\x%x' {1..9} {11..255})")
	tfs-write -R root file "$all"
	exactly root/file "$all"$'\n'
}

@test "tfs-write: plain directory: writes a line - of standard input as the record -" {
	plain_root
	echo - | tfs-write -R root file -
	exactly root/file $'-\n'
}

@test "tfs-write: plain directory: a record may start with a dash" {
	plain_root
	tfs-write -R root file -R other -- file --help
	exactly root/file $'-R\n--help\n'
	exactly root/other $'--\n'
}

@test "tfs-write: plain directory: -i and TFS_INSTANCE choose the instance" {
	plain_root
	tfs-write -R root -i one file 1
	TFS_INSTANCE=one tfs-write -R root file 2
	exactly root/instances/one/file $'1\n2\n'
	exactly root/file ''
	TFS_INSTANCE=one tfs-write -R root -i '' file 3
	exactly root/file $'3\n'
}

@test "tfs-write: plain directory: writes each record with one write, and does not truncate the file" {
	need_tool strace
	plain_root
	strace -o log -e trace=openat,write tfs-write -R root file 'a b c' ||
		skip "needs ptrace"
	grep -q '^write(.*, "a b c\\n", 6) *= 6$' log
	[ "$(grep -c '^write(' log)" = 1 ]
	grep -q '"file", O_WRONLY|O_APPEND|O_CLOEXEC)' log
	run ! grep -q O_TRUNC log
	strace -o log -e trace=openat tfs-write -c -R root file 1
	grep -q '"file", O_WRONLY|O_TRUNC|O_CLOEXEC)' log
}

@test "tfs-write: finds a file without permission before it writes anything" {
	need_tool setpriv
	plain_root
	chmod 444 root/other
	fails 111 "tfs-write: fatal: unable to write other: Permission denied; this needs CAP_DAC_OVERRIDE" \
		plainly tfs-write -R root file 1 other 2
	exactly root/file ''
}

@test "tfs-write: quotes a refused record with file and reason, and stops writing" {
	plain_root
	fails 111 "tfs-write: fatal: unable to write 'bad' to picky: Invalid argument" \
		tfs-write -R root file 1 picky bad file 2
	exactly root/file $'1\n'
}

@test "tfs-write: stops writing at a refused line of standard input" {
	plain_root
	printf 'bad\nworse\n' >lines
	fails 111 "tfs-write: fatal: unable to write 'bad' to picky: Invalid argument" \
		from lines tfs-write -R root picky -
}

@test "tfs-write: control bytes of a refused record do not reach the terminal" {
	plain_root
	fails 111 "tfs-write: fatal: unable to write 'a?[31mb?c?' to picky: Invalid argument" \
		tfs-write -R root picky $'a\e[31mb\rc\177'
}

@test "tfs-write: cuts a refused record of 100000 bytes, but prints the whole reason" {
	plain_root
	run -111 --separate-stderr tfs-write -R root picky "$(printf 'x%099999d' 0)"
	[[ $stderr == "tfs-write: fatal: unable to write 'x000"*"...: "* ]]
	[[ $stderr != *$'\n'* ]]
	[ "${#stderr}" -lt 1024 ]
}

@test "tfs-write: shows the newest reason and caret of the kernel's error_log" {
	plain_root
	error_log bad "Field not found"
	run -111 --separate-stderr tfs-write -R root picky bad
	[ -z "$output" ]
	[ "$stderr" = "tfs-write: fatal: unable to write 'bad' to picky, the kernel says: Field not found: Invalid argument
  Command: bad
           ^" ]
}

@test "tfs-write: does not show an error_log about another record" {
	plain_root
	error_log "something else" "Field not found"
	fails 111 "tfs-write: fatal: unable to write 'bad' to picky: Invalid argument" \
		tfs-write -R root picky bad
}

@test "tfs-write: does not show an empty or broken error_log" {
	plain_root
	for log in '' '# nothing' $'[1] x: error: y\n  Command: ' 'Command: bad'; do
		printf '%s' "$log" >root/error_log
		fails 111 "tfs-write: fatal: unable to write 'bad' to picky: Invalid argument" \
			tfs-write -R root picky bad
	done
}

@test "tfs-write: control bytes in the kernel's quoted command do not reach the terminal" {
	plain_root
	error_log $'a\e[31mb' "No such thing"
	run -111 --separate-stderr tfs-write -R root picky $'a\e[31mb'
	[ "$stderr" = "tfs-write: fatal: unable to write 'a?[31mb' to picky, the kernel says: No such thing: Invalid argument
  Command: a?[31mb
           ^" ]
}

@test "tfs-write: refuses a NUL byte in a line, and writes no part of that line" {
	plain_root
	printf 'a\0b\n' >lines
	fails 111 "tfs-write: fatal: a NUL byte in a record for file" \
		from lines tfs-write -R root file -
	exactly root/file ''
}

@test "tfs-write: kernel: the kernel reads back what the tool wrote" {
	new_instance
	tfs-write -i "$INSTANCE" tracing_on 0 trace_clock global
	exactly "$DIR/tracing_on" $'0\n'
	grep -qF '[global]' "$DIR/trace_clock"
}

@test "tfs-write: kernel: a file that takes one word per write gets all words of a record" {
	new_instance
	tfs-write -i "$INSTANCE" set_event 'sched:sched_switch sched:sched_waking'
	exactly "$DIR/set_event" $'sched:sched_switch\nsched:sched_waking\n'
}

@test "tfs-write: kernel: a list grows without -c and is cleared first with -c" {
	new_instance
	TFS_INSTANCE=$INSTANCE tfs-write set_event_pid 1 set_event_pid "2 3"
	exactly "$DIR/set_event_pid" $'1\n2\n3\n'
	tfs-write -c -i "$INSTANCE" set_event_pid 4
	exactly "$DIR/set_event_pid" $'4\n'
	printf '5\n6\n' | tfs-write -c -i "$INSTANCE" set_event_pid -
	exactly "$DIR/set_event_pid" $'5\n6\n'
	tfs-write -c -i "$INSTANCE" set_event_pid ''
	run ! grep -q '[0-9]' "$DIR/set_event_pid"
}

@test "tfs-write: kernel: stops writing at the record that the kernel refuses" {
	new_instance
	fails 111 "tfs-write: fatal: unable to write 'yes' to tracing_on: Invalid argument" \
		tfs-write -i "$INSTANCE" trace_clock global tracing_on yes tracing_on 0
	exactly "$DIR/tracing_on" $'1\n'
	grep -qF '[global]' "$DIR/trace_clock"
}

@test "tfs-write: kernel: shows the kernel's reason and caret" {
	new_instance
	[ -e "$DIR/error_log" ] || skip "needs error_log in tracefs"
	run -111 --separate-stderr tfs-write -i "$INSTANCE" events/sched/sched_switch/filter 'foo == 1'
	[ "$stderr" = "tfs-write: fatal: unable to write 'foo == 1' to events/sched/sched_switch/filter, the kernel says: Field not found: Invalid argument
  Command: foo == 1
               ^" ]
}

@test "tfs-write: kernel: quotes a record that holds an escape character without that character" {
	new_instance
	run -111 --separate-stderr tfs-write -i "$INSTANCE" events/sched/sched_switch/filter $'\e[31mfoo == 1'
	[[ $stderr == "tfs-write: fatal: unable to write '?[31mfoo == 1' to events/sched/sched_switch/filter"* ]]
	[[ $stderr != *$'\e'* ]]
}

@test "tfs-write: kernel: writes 4000 pids as one record" {
	new_instance
	tfs-write -i "$INSTANCE" set_event_pid "$(echo {10001..14000})"
	exactly "$DIR/set_event_pid" "$(printf '%s\n' {10001..14000})"$'\n'
}

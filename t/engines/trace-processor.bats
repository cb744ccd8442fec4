#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-perfetto: Perfetto's own trace processor has each event, slice and arrow, and the published
# schema decodes the same
# bats file_tags=long

load ../helper

# errors that a trace may have: none
ERRORS="select name, idx, value from stats where value > 0 and severity in ('error', 'data_loss')"

# need_processor [SUITE]: Set PERFETTO to the directory of the trace processor of that suite.
need_processor() {
	need_tool python3 apt-get dpkg protoc
	PERFETTO=$("$TREE/t/engines/perfetto/make" "$@" 3>&- 2>make.err) ||
		skip "needs the trace processor of Debian's chromium-shell: $(tail -n 1 make.err)"
}

# ask FILE SQL...: Print the rows of each answer, without the empty lines between the answers.
ask() {
	"$PERFETTO/query" "$PERFETTO/library" "$@" >answers 2>ask.err || { cat ask.err; return 1; }
	grep . answers || :
}

# expect WHAT: Print what the events of the file lines say, sorted.
expect() {
	python3 "$TREE/t/engines/perfetto/expect.py" "$1" <lines | LC_ALL=C sort -u
}

# made PROGRAM WORDS: Make a trace.dat.
made() {
	python3 "$TREE/t/prog/$1.py" "${@:2}"
}

@test "tfs-perfetto: the trace processor has each event of a recording with its time, CPU, name and task" {
	need_processor
	record_mixed
	tfs-perfetto file >out
	ask out "select e.ts, e.ucpu, e.name, t.tid from ftrace_event e join thread t using (utid)" |
		LC_ALL=C sort -u >got
	expect events | cmp got -
	[ "$(ask out 'select count(*) from ftrace_event')" = "$(wc -l <lines)" ]
	# a switch that the kernel did not record leaves one that does not fit
	mismatches=$(expect mismatches)
	[ "$mismatches" = 0 ] || mismatches=$(printf 'mismatched_sched_switch_tids\t[NULL]\t%d' "$mismatches")
	[ "$(ask out "$ERRORS")" = "${mismatches#0}" ]
}

@test "tfs-perfetto: the trace processor makes a slice of each switch, and knows names and processes" {
	need_processor
	record_mixed
	tfs-perfetto file >out
	ask out "select s.ts, s.ucpu, t.tid from sched s join thread t using (utid)" |
		LC_ALL=C sort -u >got
	expect switches | cmp got -
	[ -s got ]
	ask out "select tid, name from thread" | LC_ALL=C sort -u >got
	expect names >wanted
	[ -s wanted ]
	[ -z "$(LC_ALL=C comm -13 got wanted)" ]
	ask out "select pid from process" | LC_ALL=C sort -u >got
	expect processes >wanted
	file_has 9+ wanted
	[ -z "$(LC_ALL=C comm -13 got wanted)" ]
	# each call that returned is a slice
	[ "$(ask out "select count(*) from slice where dur > 0")" -gt 100 ]
}

@test "tfs-perfetto: the trace processor has the events of several hosts by one clock, and each host's losses" {
	need_processor
	made tracedat little 8 a
	made tracedat big 4 b
	tfs-perfetto -a -3.5 a b >both
	ask both "select e.ts, e.name, c.cpu, c.machine_id from ftrace_event e
		join cpu c using (ucpu) order by e.ts" >got
	diff - got <<-'EOF'
		1000001000	demo	0	0
		1000002000	demo	1	0
		1000003000	demo	0	0
		2000000007	demo	1	0
		4500001000	demo	0	1
		4500002000	demo	1	1
		4500003000	demo	0	1
		5500000007	demo	1	1
	EOF
	[ "$(ask both 'select count(*) from machine')" = 2 ]
	[ "$(ask both "$ERRORS" | cut -f 1,3 | sort | uniq -c | tr -s ' ')" = " 2 ftrace_cpu_has_data_loss	1" ]
	# the same hosts in an archive
	tfs-perfetto a >a.perfetto
	tfs-perfetto b >b.perfetto
	tar -cf archive.tar a.perfetto b.perfetto
	[ "$(ask archive.tar 'select count(*) from ftrace_event')" = 8 ]
	[ "$(ask archive.tar "$ERRORS" | cut -f 1,3 | sort -u)" = "ftrace_cpu_has_data_loss	1" ]
}

@test "tfs-perfetto: the trace processor counts events from before the first host's boot, and drops them" {
	need_processor
	made tracedat little 8 a
	tfs-perfetto -a 2 a a >out
	ask out "select e.ts, c.machine_id from ftrace_event e join cpu c using (ucpu)
		where c.machine_id = 1" "$ERRORS" >got
	diff - got <<-'EOF'
		7	1
		trace_sorter_negative_timestamp_dropped	[NULL]	4
		ftrace_cpu_has_data_loss	1	1
		ftrace_cpu_has_data_loss	1	1
	EOF
}

@test "tfs-perfetto: the trace processor refuses a file that is no trace, and misses what is cut" {
	need_processor
	echo text >file
	fails 1 "query: the trace is refused: Trace parse failure (Unknown trace type provided (ERR:fmt)) (ERR:tp-parse). The trace file is corrupt." \
		"$PERFETTO/query" "$PERFETTO/library" file
	made tracedat little 8 file
	tfs-perfetto file >out
	[ "$(ask out 'select count(*) from ftrace_event')" = 4 ]
	head -c -100 out >short
	[ "$(ask short 'select count(*) from ftrace_event')" = 3 ]
}

@test "tfs-perfetto: the published schema decodes the same as the part of it in t/data" {
	need_processor
	record_mixed
	made perfettodat many
	DATE=0x989680 made tracedat little 8 a
	DATE=0x7a1200 made tracedat big 4 b
	tfs-perfetto file >out.1
	tfs-perfetto many >out.2 2>err
	tfs-perfetto a b >out.3
	two_hosts | tfs-perfetto >out.4
	for out in out.*; do
		protoc --descriptor_set_in="$PERFETTO/schema" --decode=perfetto.protos.Trace <"$out" |
			grep -v '^      event_descriptor: ' >got
		# the schema has the bytes of a descriptor where ours has the message
		protoc --decode=perfetto.protos.Trace -I "$TREE/t/data" perfetto.proto <"$out" |
			sed '/^      event_descriptor {$/,/^      }$/d' >wanted
		cmp got wanted
		[ -s got ]
	done
}

@test "tfs-perfetto: the trace processor has each call, wait and instant of decoded lines, with its time" {
	need_processor
	record_mixed
	tfs-report -jD file >lines
	tfs-perfetto <lines >out
	ask out "select s.ts, s.dur, s.category, t.tid from slice s
		join thread_track on s.track_id = thread_track.id join thread t using (utid)" |
		LC_ALL=C sort >got
	python3 "$TREE/t/engines/perfetto/expect.py" slices <lines | LC_ALL=C sort >wanted
	diff wanted got
	for category in call wait event; do
		[ "$(grep -c "	$category	" got)" -gt 10 ]
	done
	[ "$(ask out 'select value from counter')" = 1 ]
	[ -z "$(ask out "$ERRORS")" ]
}

@test "tfs-perfetto: the trace processor has each slice and arrow of a request of two hosts" {
	need_processor
	two_hosts | tfs-perfetto >out
	ask out "select s.ts, s.dur, s.name, t.name, p.name from slice s
		join thread_track on s.track_id = thread_track.id join thread t using (utid)
		join process p using (upid) order by s.ts, s.name" \
		"select o.ts, i.ts from flow join slice o on o.id = slice_out
		join slice i on i.id = slice_in order by o.ts" "$ERRORS" >got
	diff - got <<-'EOF'
		5000000000	1	send	cl	a
		5000010000	1	send	cl	a
		5000200000	1	receive	sv	b
		5000200000	55000	window	sv	b
		5000250000	1	send	sv	b
		5000400000	1	receive	sv	b
		5000400000	50000	window	sv	b
		5000450000	1	receive	cl	a
		5000000000	5000200000
		5000250000	5000450000
	EOF
}

# by_name FILE: Print the number of the trace's calls by name, and then of its errors.
by_name() {
	ask "$1" "select name, count(*) from slice group by 1 order by 1"
	ask "$1" "select s.name, a.string_value, count(*) from slice s join args a using (arg_set_id)
		where a.key = 'ret' and a.string_value like '-1 %' group by 1, 2 order by 1, 2"
}

@test "trace_syscalls: --strace: the trace processor reads each line, with the calls and errors that it reads of strace" {
	need_processor bookworm-security
	need_tracefs events/syscalls
	need_tool strace
	grep -q strace_parse_failure "$PERFETTO/library" ||
		skip "needs a trace processor that reads the text of strace (August 2026)"
	printf '%s\n' 'cat /dev/null' 'ls /none' '(exit 7)' 'kill -0 $$' >work
	tfs-run trace_syscalls --strace -o ours -- sh work 2>err
	strace -f -ttt -T -o theirs sh work 2>err
	by_name ours >got
	file_has 20+ got
	by_name theirs | diff got -
	[ "$(ask ours 'select count(*) from slice')" = "$(wc -l <ours)" ]
	[ -z "$(ask ours "select name, value from stats where value > 0 and name glob 'strace*'")" ]
	[ -z "$(ask ours "$ERRORS")" ]
	# the times, in microseconds, and the threads
	ask ours "select t.tid, s.ts, s.dur, s.name from slice s join thread_track tt on s.track_id = tt.id
		join thread t using (utid)" | LC_ALL=C sort >got
	sed -E 's/^([0-9]+) +([0-9]+)\.([0-9]+) ([a-z0-9_]+).*<0\.0*([0-9]+)>$/\1\t\2\3000\t\5000\t\4/
		s/\t0000\t/\t0\t/; s/^([0-9]+) +([0-9]+)\.([0-9]+) ([a-z0-9_]+).* = \?$/\1\t\2\3000\t0\t\4/' ours |
		LC_ALL=C sort | diff - got
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# deploy/schemas: each line of JSON that hooks, filters and tfs-stuck print is valid by its schema
# seconds: 60

load ../helper

WORK='trap : USR1; mkdir d; ls -l d nothing | cat; cp /etc/passwd d/x; mv d/x d/y; rm d/y; kill -USR1 $$; env true'

# valid SCHEMA FILE: Is each line of FILE valid, and is there one?
valid() {
	python3 -c 'import jsonschema' 2>/dev/null || skip "needs python3's jsonschema"
	python3 "$TREE/t/schema" "$@"
}

# session SCHEMA HOOK WORD...: Are the lines of a session that traces WORK valid?
session() {
	rm -rf d
	tfs-run "$2" --json --instance "$MARK" -o lines "${@:3}" -- sh -c "$WORK" >out 2>err 3>&- || {
		cat err
		return 1
	}
	valid "$1" lines || { echo "of ${*:2}"; return 1; }
}

@test "schemas: lines of hooks, of the kernel's events and of decoded calls" {
	need_tracefs events/sched
	session trace trace_syscalls
	session trace trace_syscalls --returns
	session trace trace_syscalls --numbers --returns
	session trace trace_syscalls --decode
	session trace trace_syscalls --names --paths --data 64
	session trace trace_syscalls --decode --otel
	session trace trace_open
	session trace trace_files --reads
	session trace trace_exec
	session trace trace_sched
	session trace trace_signal --date
	session trace trace_event --event sched_switch --event 'signal_*' --stack
}

@test "schemas: processes, the account of time and tables" {
	need_tracefs events/sched
	session process trace_process
	session process trace_process --summary
	session why trace_why
	session why trace_why --slower 1us
	session table trace_syscalls --summary
	session table trace_open --summary
}

@test "schemas: filters, by a trace.dat and by lines, with the note of a loss" {
	need_tracefs events/sched
	tfs-run trace_syscalls --decode --instance "$MARK" -o x.dat -- sh -c "$WORK" >out 2>err 3>&-
	tfs-report -DFj x.dat >lines
	valid trace lines
	sed -i '2i {"ts":1.000000000,"cpu":1,"lost":null}' lines
	echo '{"lost":7,"overwritten":7,"unwritten":0}' >>lines
	valid trace lines
	for words in "tfs-count -j -k call -k error" "tfs-summary -j" "tfs-summary -j -k comm -k call"; do
		$words x.dat >table
		valid table table
		$words <lines >table
		valid table table
		grep -q '"lost":7' table
	done
	tfs-run trace_syscalls --decode --instance "$MARK" -o y.dat -- ls -l other >out 2>err 3>&- || :
	run -1 tfs-diff -j x.dat y.dat
	echo "$output" >changes
	valid diff changes
	tfs-latency syscalls <lines >latencies
	valid trace latencies
}

@test "schemas: DNS queries, by a session and by a trace.dat, with a note" {
	need_tracefs events/bpf_trace
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs types of the kernel (CONFIG_DEBUG_INFO_BTF)"
	hold "$PROG/dns" serve
	port=$(head -n 1 ready)
	tfs-run trace_dns --json --port "$port" --port 1 --date --instance "$MARK" -o lines -- "$PROG/dns" ask "$port" 2 \
		>out 2>err 3>&-
	tfs-run trace_dns --instance "$MARK" -o x.dat -- "$PROG/dns" ask "$port" 1 >out 2>err 3>&-
	tfs-dns -j -p "$port,1" x.dat >answers
	release
	for file in lines answers; do
		grep -q '^{"comment":"[0-9]* answers are known only in part"}$' "$file"
		valid dns "$file"
		valid trace "$file"
	done
	sed 's/"code":"[A-Z]*"/"code":"no"/' lines >wrong
	run -1 valid dns wrong
}

@test "schemas: what threads wait for" {
	sleep 1000 3>&- &
	tfs-stuck --json "$!" >lines
	valid stuck lines
	tfs-stuck --json --all >lines
	valid stuck lines
}

@test "schemas: exported records and OTLP; notes and losses are the same in all schemas" {
	need_tracefs events/sched
	need_tool jq
	tfs-run trace_syscalls --decode --names --json --date --instance "$MARK" -o records -- sh -c "$WORK" >out 2>err 3>&-
	tfs-export <records >lines
	valid export lines
	tfs-export -r 3 -x <records >lines
	grep -q '"event":"left_out"' lines
	valid export lines
	for format in logs spans; do
		tfs-export -f $format <records >lines
		valid otlp lines
	done
	cd "$TREE/deploy/schemas"
	[ "$(jq -cS '."$defs".note' trace.json process.json table.json why.json | sort -u | wc -l)" = 1 ]
	[ "$(jq -cS '."$defs".lost | del(.description)' trace.json process.json table.json why.json | sort -u | wc -l)" = 1 ]
}

@test "schemas: a line with an unknown key, a wrong type, or a missing key is not valid" {
	echo '{"ts":1.5,"cpu":0,"pid":1,"comm":"a","system":"b","event":"c","fields":{"d":1}}' >line
	valid trace line
	for change in 's/"cpu":0/"cpu":-1/' 's/"comm":"a"/"comm":1/' 's/"pid":1,//' 's/"pid":1/&,"more":1/' \
		's/"fields":{"d":1}/"fields":[]/' 's/}$//' 's/"b"/"syscalls"/; s/"d":1/"args":[1]/'; do
		sed "$change" line >wrong
		! cmp -s line wrong
		run -1 valid trace wrong
	done
	run -1 valid trace /dev/null
	[ "$output" = "no line" ]
}

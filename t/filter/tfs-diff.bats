#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2154 # run sets stderr
# tfs-diff: what has changed between two recordings, or two sets of them

load ../helper

# calls TASK-PID LINE...: Print decoded calls.
calls() {
	local task=$1 line
	shift
	for line; do
		printf '%16s-%-7s [000] ..... 1.000001: %s\n' "${task%-*}" "${task##*-}" "$line"
	done
}

# sets DIR N LINES: Write N recordings of these lines, in which RUN is the number of the recording.
sets() {
	local dir=$1 n=$2 run

	mkdir "$dir"
	for ((run = 1; run <= n; run++)); do
		echo "${3//RUN/$run}" >"$dir/$run"
	done
}

# bats test_tags=quick
@test "tfs-diff: prints programs, connections, files, failures and errors that have changed" {
	need_tool jq
	calls a-11 'openat(AT_FDCWD, "/etc/hosts", O_RDONLY) = 3 <0.000003>' \
		'openat(AT_FDCWD, "/etc/a", O_RDONLY) = 3 <0.000003>' \
		'openat(AT_FDCWD, "/etc/x", O_RDONLY) = -1 ENOENT <0.000003>' \
		'kill(1, 0) = -1 EPERM <0.000001>' >before
	calls b-12 'execve("/bin/b", ["b"], 0x1) = 0 <0.000100>' \
		'openat(AT_FDCWD, "/etc/hosts", O_RDONLY) = 3 <0.000003>' \
		'openat(AT_FDCWD, "/etc/a", O_RDONLY) = 3 <0.000003>' \
		'openat(AT_FDCWD, "/etc/a", O_RDONLY) = 3 <0.000003>' \
		'openat(AT_FDCWD, "/var/log/b", O_WRONLY|O_CREAT, 0666) = 3</var/log/b> <0.000003>' \
		'unlink("/etc/y") = 0 <0.000001>' \
		'connect(3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.1")}, 16) = 0 <0.000001>' \
		'connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("10.0.0.2")}, 16) = -1 ECONNREFUSED <0.000001>' \
		'read(3, 0x1, 10) = -1 EISDIR <0.000001>' >after
	run -1 tfs-diff before after
	[ "$output" = "\
runs /bin/b: not before
connects to DNS 10.0.0.1:53: not before
fails to connect to 10.0.0.2:80 (ECONNREFUSED): not before
removes /etc/y: not before
writes /var/log/b: not before
openat of /etc/x no longer fails with ENOENT
kill no longer fails with EPERM
read fails with EISDIR: not before
opens /etc/a 2 times: 1 before
# compared: programs, connections, files, failures, errors, calls" ]
	run -0 tfs-diff after after
	[ "$output" = "# the same: programs, connections, files, failures, errors, calls" ]
	run -1 tfs-diff -k programs,errors before after
	[ "${lines[*]}" = "runs /bin/b: not before kill no longer fails with EPERM read fails with EISDIR: not before # compared: programs, errors" ]
	tfs-diff -j before after >json || [ $? = 1 ]
	jq -r '[.kind,.what,.subject,.keys,.before,.after]|@tsv' json >got
	[ "$(sed -n '2p;4p;9p' got)" = "\
connections		DNS 10.0.0.1:53	1	0	1
files	removes	/etc/y	1	0	1
files	opens	/etc/a	1	1	2" ]
	file_has 9 json
}

@test "tfs-diff: pids, addresses, ports and temporary names are no difference" {
	calls a-4711 'openat(AT_FDCWD, "/tmp/sort1xY7Ab", O_RDWR|O_CREAT|O_EXCL, 0600) = 3</tmp/sort1xY7Ab> <0.000003>' \
		'openat(AT_FDCWD, "/proc/4711/stat", O_RDONLY) = 3</proc/4711/stat> <0.000001>' \
		'openat(AT_FDCWD, "/run/a.4711", O_RDONLY) = 3</run/a.4711> <0.000001>' \
		'openat(AT_FDCWD, "/srv/tmp_obj_Ab12cd", O_RDWR|O_CREAT|O_EXCL, 0600) = 3</srv/tmp_obj_Ab12cd> <0.000003>' \
		'unlink("/srv/tmp_obj_Ab12cd") = 0 <0.000003>' \
		'mmap(0x7f1234, 1048576, PROT_READ, MAP_PRIVATE, 3</etc/a>, 0) = 0x7f1234 <0.000003>' \
		'write(4<pipe:[77]>, 0x7ffe, 4) = 4 <0.000001>' \
		'kill(4711, SIGTERM) = 0 <0.000001>' \
		'bind(3<TCP:[12345]>, {sa_family=AF_INET, sin_port=htons(40001), sin_addr=inet_addr("127.0.0.1")}, 16) = 0 <0.000001>' >before
	sed 's/4711/952/g; s/sort1xY7Ab/sortqqqqqq/g; s/Ab12cd/zZ9aaa/g; s/7f1234/7e5678/g; s/1048576/1048999/
		s/:\[77\]/:[78]/; s/40001/40002/; s/7ffe/7ffd/; s/12345/12399/' before >after
	run -0 tfs-diff -k programs,files,failures,errors,calls,lines before after
	[ "$output" = "# the same: programs, files, failures, errors, calls, lines" ]
	sed -i 's/SIGTERM/SIGKILL/; s/a[.]952/b.952/g' after
	run -1 tfs-diff -k files,lines before after
	[ "$output" = "\
no longer opens /run/a.PID
opens /run/b.PID: not before
calls kill(N, SIGKILL) = 0: not before
no longer calls kill(N, SIGTERM) = 0
# compared: files, lines" ]
}

@test "tfs-diff: prints no control character, and no line, that a program has chosen" {
	need_tool jq
	calls a-11 'openat(AT_FDCWD, "/etc/a", O_RDONLY) = 3 <0.000003>' >before
	calls $'a\e[2J-11' $'openat(AT_FDCWD, "/etc/\e[31m\tb", O_RDONLY) = 3 <0.000003>' \
		$'connect(3, {sa_family=AF_INET, sin_port=htons(1), sin_addr=inet_addr("10.\e.1")}, 16) = 0 <0.000001>' >after
	echo $'a\e[1m;blocked;pipe\e: read 5000' >>after
	printf '%s%s\n' '{"ts":1.5,"cpu":0,"pid":1,"comm":"a","system":"syscalls","event":"sys_exit_connect","fields":{"ret":0,"lat":1,"args":' \
		'[{"name":"a","value":1,"text":"inet_addr(\"1\n7 Bruns\u0000\")"}]}}' >>after
	run -1 tfs-diff before after
	[ "${lines[*]}" = "connects to 10.?.1:1: not before connects to 1?7 Bruns?: not before no longer opens /etc/a opens /etc/?[31m?b: not before # compared: programs, connections, files, failures, errors, calls" ]
	run -1 tfs-diff -j before after
	jq -r .subject <<<"$output" >got
	run -1 grep -c $'[\e\t]' got
}

@test "tfs-diff: four paths of a directory or more are one line" {
	calls a-11 'openat(AT_FDCWD, "/etc/a", O_RDONLY) = 3 <0.000003>' >before
	for i in de fr it es; do
		calls a-11 "openat(AT_FDCWD, \"/usr/share/locale/$i/x.mo\", O_RDONLY) = 3 <0.000003>" \
			"openat(AT_FDCWD, \"/usr/lib/p/$i.so\", O_RDONLY) = -1 ENOENT <0.000003>"
	done >after
	calls a-11 'openat(AT_FDCWD, "/usr/share/b", O_RDONLY) = 3 <0.000003>' >>after
	cat before >>after
	run -1 tfs-diff before after
	[ "$output" = "\
opens 4 more files below /usr/share/locale
opens /usr/share/b: not before
openat of 4 more files below /usr/lib/p fails with ENOENT
# compared: programs, connections, files, failures, errors, calls" ]
	run -1 tfs-diff after before
	[ "${lines[0]}" = "no longer opens 4 files below /usr/share/locale" ]
	[ "${lines[2]}" = "openat of 4 files below /usr/lib/p no longer fails with ENOENT" ]
}

@test "tfs-diff: accepts the lines of a file, whatever their numbers are" {
	calls a-11 'openat(AT_FDCWD, "/etc/a", O_RDONLY) = 3 <0.000003>' >before
	calls a-11 'openat(AT_FDCWD, "/etc/a", O_RDONLY) = 3 <0.000003>' 'unlink("/etc/b") = 0 <0.000001>' >after
	tfs-diff before after >accepted || [ $? = 1 ]
	calls a-11 'unlink("/etc/b") = 0 <0.000001>' >>after
	run -0 tfs-diff -a accepted before after
	[ "$output" = "# the same: programs, connections, files, failures, errors, calls" ]
	calls a-11 'unlink("/etc/c") = 0 <0.000001>' >>after
	run -1 tfs-diff -a accepted before after
	[ "${lines[0]}" = "removes /etc/c: not before" ]
}

@test "tfs-diff: ten recordings a side tell a change of time from noise, by ranks" {
	need_tool jq
	sets before 10 $'a;blocked;pipe: read, woken by b 12 2000RUN\na;blocked;sleep: nanosleep, woken by interrupt 500RUN\na;running;user code 7RUN00'
	sets after 10 $'a;blocked;pipe: read, woken by b 99 3000RUN\na;blocked;sleep: nanosleep, woken by interrupt 501RUN\na;running;user code 7RUN01'
	run -1 tfs-diff before after
	[ "$output" = "\
a waits 30.0 ms for pipe: read, woken by b: 20.0 ms before
# compared: waits" ]
	# U is 9, because of the tenth run: 2 * (p(0) + ... + p(9)) = 194 of the 184,756 ways to choose
	# ten of twenty ranks are as far off, where p(n) is the number of partitions of n
	[ "$(tfs-diff -j before after | jq -c '[.kind,.before,.after,.p]')" = '["waits",20006000,30006000,0.001050033]' ]
	rm before/[5-9] before/10
	# 4 and 10 recordings: 2 / C(14, 4), which two tests more cannot be sure of
	run -1 tfs-diff before after
	[ "$output" = "a waits 30.0 ms for pipe: read, woken by b: 20.0 ms before"$'\n'"# compared: waits" ]
	rm after/[5-9] after/10
	# 4 and 4: 2 / C(8, 4) is 0.029
	run -0 tfs-diff before after
	[ "$output" = "# the same: waits" ]
	run -0 tfs-diff before before
	tfs-diff -f before after >stacks
	grep -qx 'a;blocked;pipe: read, woken by b 20003 30003' stacks
}

@test "tfs-diff: what only one side has is not compared, and lost events are said" {
	calls a-11 'openat(AT_FDCWD, "/etc/a", O_RDONLY) = 3 <0.000003>' >before
	{ printf '%16s-%-7s [000] ..... 1.000001: sys_enter_openat: NR 1\n' a 11
	echo '# lost 3 events: 3 overwritten in a full buffer, 0 not written'; } >after
	run -0 --separate-stderr tfs-diff before after
	[ "$output" = "\
# not compared: programs, which only BEFORE has
# not compared: connections, which only BEFORE has
# not compared: files, which only BEFORE has
# not compared: failures, which only BEFORE has
# not compared: errors, which only BEFORE has
# the same: calls" ]
	[ "$stderr" = "tfs-diff: events are lost in after, so it may lack something" ]
	mkdir none
	run -111 tfs-diff none before
	[ "$output" = "tfs-diff: fatal: no recording in none" ]
	# a recording without an event has nothing of what the other one has
	: >empty
	run -1 tfs-diff empty before
	[ "${lines[0]}" = "opens /etc/a: not before" ]
}

@test "tfs-diff: records two commands, and says in three lines how they differ" {
	need_tracefs events/raw_syscalls/enable
	need_tool perl
	run -0 "$TREE/t/diff-pairs" changes 1 4 13 14 17 22
	[ "$output" = "6 of 6" ]
	mkdir tmp kept
	TMPDIR=$PWD/tmp run -0 tfs-diff -r 1 -t 'trace_exec' true true
	[ -z "$(ls tmp)" ]
	run -0 tfs-diff -r 2 -o kept -t 'trace_exec --buffer 64' -t trace_open 'true "a b"'
	[ "$(echo kept/*)" = "kept/1-trace_exec.dat kept/1-trace_open.dat kept/2-trace_exec.dat kept/2-trace_open.dat" ]
	run -0 tfs-diff kept kept
	run -111 tfs-diff -r 2 -o kept true
	[ "$output" = "tfs-diff: fatal: kept has files already; give another directory" ]
}

@test "tfs-diff: a signal ends the run that is recorded, and leaves no file" {
	local signal
	need_tracefs events/sched
	mkdir tmp
	export TMPDIR=$PWD/tmp
	printf '%s\n' '#!/bin/sh' 'echo $$ >pid.new' 'mv pid.new pid' 'exec sleep 1000' >sleeper
	chmod +x sleeper
	for signal in TERM HUP INT; do
		rm -f pid
		background env --default-signal=INT tfs-diff -r 3 -t trace_exec './sleeper' true >out 2>err
		eventually [ -s pid ]
		if [ "$signal" = INT ]; then # as a terminal does, to all
			kill -INT "$(pgrep -P "$PID")"
		fi
		kill -"$signal" "$PID"
		finishes "$PID" $((128 + $(kill -l "$signal")))
		gone "$(cat pid)"
		[ -z "$(ls tmp)" ]
	done
}

# bats test_tags=long
@test "tfs-diff: thirty known changes are in the first three lines" {
	need_tracefs events/raw_syscalls/enable
	need_tool perl
	run -0 "$TREE/t/diff-pairs" changes
	[ "${lines[-1]}" = "30 of 30" ]
}

# bats test_tags=long
@test "tfs-diff: of fifty pairs of equal runs of five programs at most one says changed" {
	need_tracefs events/raw_syscalls/enable
	need_tool git
	need_tool curl
	run -0 "$TREE/t/diff-pairs" equal 10 5
	[[ "${lines[-1]}" = [01]" of 50 equal pairs say changed" ]]
}

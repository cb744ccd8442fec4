#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# Files and memory of traced programs whose server never answers, or that keep their readers busy

load ../helper
load ../hooks

CASES=$TREE/t/cases
CASE=$PROG/case

# The end of the server, which teardown has killed, has ended all that waited for it.
undo() {
	local mount mounts
	mapfile -t mounts </proc/mounts # which changes at each umount
	for mount in "${mounts[@]#* }"; do
		[[ $mount != "$BATS_TEST_TMPDIR"/* ]] || umount -l "${mount%% *}"
	done
}

# serve [-m DIRECTORY] [OPCODE N]: Mount a FUSE file system whose file x is fprog. It answers no request from the N-th
# of OPCODE on. Those are in the file asked.
serve() {
	need_tracefs events/syscalls
	[ -c /dev/fuse ] || skip "needs /dev/fuse (CONFIG_FUSE_FS)"
	local mount=mnt
	[ "${1-}" != -m ] || { mount=$2 && shift 2; }
	mkdir "$mount"
	background "$CASE/fusehang" "$mount" "$CASE/fprog" "$@" >"${mount/mnt/asked}"
	SERVER=$PID
	eventually file_has 1 "${mount/mnt/asked}"
}

# silent: Let it answer nothing from now on.
silent() {
	kill -USR1 "$SERVER"
}

is_x() {
	[ "$(cat "/proc/$HELD/comm")" = x ]
}

# execute: Set HELD to a process that executes x, and let its server fall silent.
execute() {
	background mnt/x
	HELD=$PID
	eventually is_x
	silent
}

# opens OPTION...: Trace what the program $HELD opens in a second.
opens() {
	timeout "$DEADLINE" tfs-run trace_syscalls -s openat --instance "$MARK" --pid "$HELD" \
		--time 1s "$@" >got 3>&- 4>&-
}

need_context() {
	[[ $(uname -m) =~ ^(x86_64|aarch64)$ ]] || skip "needs x86_64 or aarch64"
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs BTF (CONFIG_DEBUG_INFO_BTF)"
}

@test "--user-stack: a file whose server does not answer has no names, and who waits for it has nothing else open" {
	local reader files
	serve
	execute
	opens --user-stack
	grep -q ': <user stack trace>$' got
	tail -n 1 got | grep -Eqx '# [0-9]+ reads of /proc were cut or left out: names or paths are missing'
	# FUSE_GETATTR or FUSE_OPEN
	reader=$(sed -nE 's/^opcode (3|14) of ([0-9]+)$/\2/p' asked | head -n 1)
	files=$(readlink "/proc/$reader"/fd/* | grep -v "/mnt/x$" | sed 's/:.*//' | sort | uniq -c | tr -s ' \n' ' ')
	[ "$files" = ' 3 /dev/null 1 socket ' ] || { echo "$reader: $files"; return 1; }
	tfs-run trace_syscalls -s getppid --instance "$MARK" --user-stack -- "$PROG/calls" 5 >got 3>&- 4>&-
	[ "$(grep '^# ' got)" = '# user stacks: 5 of 5 are whole' ]
	grep -Eq '^ => [^/]+ \(/' got
}

@test "--otel: a program whose server does not answer is unknown, and others have their spans" {
	need_context
	serve
	execute
	opens --otel
	grep -q ': sys_openat(.* otel=unknown$' got
	hold "$PROG/published" -w 500
	watch trace_syscalls -s lseek --otel --all --buffer "$(so_many 65536)"
	release "$HELD"
	watch_stop
	[ "$(grep -Ec "^ *published-$HELD .* span_id=[0-9a-f]{16} trace_flags=01$" got)" = 500 ]
}

# in_namespace PID: Is the task in a user namespace of its own?
in_namespace() {
	[ "$(readlink "/proc/$1/ns/user")" != "$(readlink /proc/self/ns/user)" ]
}

# bats test_tags=long
@test "--otel: of one user, 16 programs whose servers do not answer are asked, and other users have their spans" {
	local i servers=() as
	need_context
	need_tool setpriv unshare nsenter
	chmod 755 "$BATS_TEST_TMPDIR"
	# half of them have uids of their own in a user namespace of his, as rootless containers have
	background setpriv --reuid nobody --clear-groups unshare -U sleep infinity
	eventually in_namespace "$PID"
	space=$PID
	for map in uid_map gid_map; do
		echo "0 100000 100" >"/proc/$space/$map"
	done
	for i in {1..20}; do
		serve -m "mnt$i"
		servers+=("$SERVER")
		as=(setpriv --reuid nobody --clear-groups)
		[ "$i" -gt 10 ] || as=(nsenter --user --target "$space" -S "$i" -G "$i")
		background "${as[@]}" "mnt$i/x"
		HELD=$PID
		eventually is_x
	done
	kill -USR1 "${servers[@]}"
	hold "$PROG/published" -w 500
	watch trace_syscalls -s lseek --otel --all --buffer "$(so_many 65536)"
	asked() { [ "$(cat asked* | grep -c '^opcode')" -ge 16 ]; }
	eventually asked
	release "$HELD"
	watch_stop
	[ "$(grep -Ec "^ *published-$HELD .* span_id=[0-9a-f]{16} trace_flags=01$" got)" = 500 ]
	[ "$(grep -l '^opcode' asked* | wc -l)" = 16 ]
}

@test "a hook whose shell waits for a server that does not answer is left alone, and its session ends" {
	serve
	own_tree
	make_hook waits <<-END
		# description: waits
		[ -e "$PWD/mnt/x" ]
	END
	silent
	background "$MANAGER" --run waits --args "--instance $MARK --all" 3>&- 4>&- 2>err
	eventually grep -q '^opcode' asked
	kill -TERM "$PID"
	finishes "$PID" 143
	[ ! -s err ]
	nothing_left
}

@test "trace_uprobe: a program whose server does not answer is refused, by its path and by its name" {
	local binary
	need_tracefs uprobe_events
	serve
	execute
	for binary in "$PWD/mnt/x" x; do
		run -111 timeout "$DEADLINE" tfs-run trace_uprobe --instance "$MARK" --binary "$binary" \
			--symbol main --pid "$HELD" --time 1s 3>&- 4>&-
		[ "$output" = "tfs-run: fatal: $PWD/mnt/x is not a program or library that can be probed" ]
	done
}

@test "trace_files: a path whose server does not answer is refused" {
	serve
	silent
	run -111 timeout "$DEADLINE" tfs-run trace_files --instance "$MARK" --path "$PWD/mnt/x" --all \
		--time 1s 3>&- 4>&-
	[ "$output" = "tfs-run: fatal: unable to resolve $PWD/mnt/x: Host is down" ]
}

# Requests of FUSE: lookup 1, getattr 3, open 14, read 15, flush (of a close) 25.
@test "tfs-probe: whichever request for a program its server does not answer, the program is refused" {
	local request
	for request in '1 1' '3 1' '14 1' '14 2' '15 1' '15 4' '25 1' '25 2'; do
		# shellcheck disable=SC2086 # words
		serve $request
		run -111 timeout -s KILL "$DEADLINE" tfs-probe usdt mnt/x 3>&- 4>&-
		[[ $output =~ ^"tfs-probe: fatal: unable to "(open|read)" mnt/x: Host is down"$ ]] || { echo "$request: $output"; return 1; }
		kill -KILL "$SERVER"
		umount -l mnt
		rmdir mnt
	done
}

@test "--otel: memory that a program has never touched is not read, so that no server is asked for it" {
	need_context
	need_tool "${CC:-cc}"
	serve
	"$TREE/t/prog/publishers" "$PWD/libs" "${CC:-cc}"
	hold "$CASE/fusewords" mnt/x libs/gnu.so
	silent
	opens --otel
	grep -q ': sys_openat(.* otel=unknown$' got
	# a page would be opcode 15, FUSE_READ
	file_has 1 asked
}

@test "--user-stack: 500 files of 127 MB that are full of symbols do not keep a session from its end" {
	need_tracefs events/syscalls
	need_tool python3
	python3 "$CASES/bigelf.py" big.so 127
	hold "$CASE/manyelf" 500
	opens --user-stack
	grep -q ': <user stack trace>$' got
	tail -n 1 got | grep -Eqx '# [0-9]+ reads of /proc were cut or left out: names or paths are missing'
}

@test "--user-stack: 30,000 mappings with names of 3,400 newlines do not keep a session from its end" {
	need_tracefs events/syscalls
	hold "$CASE/maps" 30000
	opens --user-stack
	grep -q ': <user stack trace>$' got
	run -1 grep -vE '^ => |^ *maps-[0-9]+ +\[|^# ' got
}

@test "case thr: threads that have ended have names of functions, also after the end of their program" {
	need_tracefs uprobe_events
	tfs-run trace_uprobe --instance "$MARK" --binary "$CASE/thr" --symbol f --top 5 -- "$CASE/thr" >got 3>&- 4>&-
	[ "$(cat got)" = '    200 g' ] || { cat got; return 1; }
}

# hung_sessions: Do the three still hang? A server did not answer 1, nobody reads 2, and 3 is stopped.
hung_sessions() {
	[ -s asked ] && [ -d "/proc/${SESSIONS[1]}" ] && [ -d "/proc/${SESSIONS[2]}" ] &&
		[ -d "/proc/${SESSIONS[3]}" ] && all_stopped "$STREAM"
}

# bats test_tags=alone,long
@test "20 sessions of 5 users: three that hang keep no other from its end, and none sees a call of another" {
	local i user hung words programs=() gates=() SESSIONS=() readers=()
	need_bpf
	need_tool setpriv
	serve
	execute
	hung=$HELD
	chmod 755 "$BATS_TEST_TMPDIR"
	cp "$PROG/acts" mine
	calls 1
	for i in {1..20}; do
		user=$((4242 + i % 5))
		: >"own-$i."
		hold setpriv --reuid $user --regid $user --clear-groups ./mine opens 5000 0 "$PWD/own-$i."
		programs+=([i]="$HELD") gates+=([i]="$GO")
	done
	programs[1]+=",$hung" programs[2]+=",$CALLS"
	watch_top_level
	echo 'hook * *' | tee policy.{0..4} >/dev/null
	for i in {1..20}; do
		words=(trace_open)
		[ $((i % 2)) = 0 ] || words=(trace_syscalls -s openat --decode)
		[ "$i" != 1 ] || words=(trace_syscalls -s openat --user-stack)
		TFS_POLICY=$PWD/policy.$((i % 5)) background "$MANAGER" --run "${words[0]}" --args \
			"${words[*]:1} --output fifo --instance $MARK-$i --pid ${programs[i]}" >"out.$i" 2>"err.$i"
		SESSIONS[i]=$PID
	done
	for i in {1..20}; do
		eventually file_has 1 "out.$i" || { cat err.*; return 1; }
		[ "$i" = 2 ] || { background cat "$(<"out.$i")" >"got.$i" && readers[i]=$PID; }
	done
	exec 9<"$(<out.2)"
	STREAM=$(children "$(children "${SESSIONS[3]}")")
	kill -STOP "$STREAM"
	for i in {1..20}; do
		echo >"${gates[i]}"
	done
	for i in {4..20}; do
		all_end "${SESSIONS[i]}" "${readers[i]}"
	done
	eventually hung_sessions
	kill -CONT "$STREAM"
	kill "$hung" "$CALLS"
	all_end "${SESSIONS[1]}" "${SESSIONS[3]}"
	cat <&9 >got.2
	exec 9<&-
	finishes "${SESSIONS[2]}" 0
	top_level_unchanged
	[ "$(grep -c ' *mine-.*: sys_openat(' got.1)" = 5000 ]
	run -1 grep '/own-' got.1
	for i in {2..20}; do
		[ ! -s "err.$i" ]
		[ "$(grep -o '/own-[0-9]*\.' "got.$i" | sort | uniq -c)" = "$(printf '%7d /own-%d.' 5000 "$i")" ] ||
			{ grep -o '/own-[0-9]*\.' "got.$i" | sort | uniq -c; tail -n 1 "got.$i"; return 1; }
	done
	nothing_left
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# trace_tcp: connects, accepts and packets that are sent again

load ../helper
load ../hooks

# port: Print the port on which the program act listens.
port() {
	sed -n 's/^port //p' ready
}

# bats test_tags=quick,oldest
@test "trace_tcp: records as many connects as a program made, and no other program's" {
	need_tracefs events/sock/inet_sock_set_state
	act connects 6
	traced trace_tcp --connect
	[ "$(lines ": inet_sock_set_state: .* dport=$(port) .* oldstate=TCP_CLOSE newstate=TCP_SYN_SENT$")" = 6 ]
	[ "$(grep -vc '^#' got)" = 6 ]
}

# bats test_tags=oldest
@test "trace_tcp: records connects and accepts of a port by any task, and --states every change" {
	need_tracefs events/sock/inet_sock_set_state
	act connects 6
	watch trace_tcp --all --port "$(port)"
	release "$ACT"
	watch_stop
	[ "$(lines 'oldstate=TCP_CLOSE newstate=TCP_SYN_SENT$')" = 6 ]
	[ "$(lines 'oldstate=TCP_SYN_RECV newstate=TCP_ESTABLISHED$')" = 6 ]
	[ "$(grep -v '^#' got | grep -vc ': tcp_retransmit')" = 12 ]
	act connects 6
	watch trace_tcp --all --states --port "$(port)"
	release "$ACT"
	watch_stop
	[ "$(lines 'newstate=TCP_SYN_SENT$')" = 6 ]
	[ "$(lines 'oldstate=TCP_SYN_SENT newstate=TCP_ESTABLISHED$')" = 6 ]
	[ "$(lines 'oldstate=TCP_SYN_RECV newstate=TCP_ESTABLISHED$')" = 6 ]
}

@test "trace_tcp: records packets that are sent again" {
	need_tracefs events/tcp/tcp_retransmit_skb
	act retransmits 1
	watch trace_tcp --all --retransmit --port 1 "$(port)"
	release "$ACT"
	watch_stop
	[ "$(lines ": tcp_retransmit_skb: .* dport=$(port) .* state=TCP_SYN_SENT")" = 1 ]
	[ "$(grep -vc '^#' got)" = 1 ]
}

@test "trace_tcp: refuses what happens in unrelated tasks for selected ones, with what works, and records connects alone" {
	need_tracefs events/sock/inet_sock_set_state
	act connects 2
	fails 100 "manager: fatal: --retransmit: timers and packets send them, in unrelated tasks; give --all and --port instead of selected tasks" \
		"$MANAGER" --run trace_tcp --args "--instance $MARK --pid $ACT --connect --retransmit"
	fails 100 "manager: fatal: --drops: packets are dropped in unrelated tasks; give --all instead of selected tasks" \
		"$MANAGER" --run trace_tcp --args "--instance $MARK --pid $ACT --drops"
	fails 100 "manager: fatal: --states cannot be combined with --latency, --life and --accept" \
		"$MANAGER" --run trace_tcp --args "--instance $MARK --pid $ACT --states --life"
	nothing_left
	traced trace_tcp
	[ "$(lines 'oldstate=TCP_CLOSE newstate=TCP_SYN_SENT$')" = 2 ]
	[ "$(grep -vc '^#' got)" = 2 ]
}

# need_bytes: Skip unless tfs-strings tcp works here.
need_bytes() {
	need_tracefs events/syscalls/sys_exit_accept4
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs types of the kernel (CONFIG_DEBUG_INFO_BTF)"
}

# told FILE: Print what a trace tells of each connection, in the form of t/prog/connections.py.
told() {
	sed -n 's/^ *[^ ].*-\([0-9]*\) *\[[0-9]*\] [^ ]* *[0-9.]*: tcp_life: \(.*\) lat=[0-9]* sent=\([0-9]*\) received=\([0-9]*\)$/life \1 \2 \3 \4/p
		s/^ *[^ ].*-\([0-9]*\) *\[[0-9]*\] [^ ]* *[0-9.]*: tcp_connect: \(.*\) -> \(.*\) lat=[0-9]*$/connect \1 \2 \3/p
		s/^ *[^ ].*-\([0-9]*\) *\[[0-9]*\] [^ ]* *[0-9.]*: tcp_connect: \(.*\) -> \(.*\) lat=[0-9-]* error=\([A-Za-z]*\)$/connect \1 \2 \3 \4/p' "$1" |
		LC_ALL=C sort
}

# all_told N: Record what t/prog/connections.py makes, N connections at once, and compare.
all_told() {
	need_bytes
	need_tool python3
	hold python3 "$TREE/t/prog/connections.py" "$1"
	old=$(sed -n 's/^old [0-9]* //p' ready)
	traced trace_tcp --life --latency
	sed '/^ready/d; /^old/d' ready | LC_ALL=C sort >expected
	told got >answer
	diff expected answer
	[ "$(wc -l <expected)" -ge $((3 * $1)) ]
}

@test "trace_tcp: --life and --latency tell who, both ends, the bytes and the error of each connection" {
	all_told 20
	# a connection from before the session: its time and its side are not known
	read -r client server < <(sed -n 's/^old [0-9]* //p' ready)
	[ "$(lines ": tcp_life: $client <-> $server lat=- sent=12 received=14$")" = 1 ]
	[ "$(lines ": tcp_life: $server <-> $client lat=- sent=14 received=12$")" = 1 ]
	[ "$(grep -vc '^#' got)" = $(($(wc -l <expected) + 2)) ]
}

# bats test_tags=long
@test "trace_tcp: --life is exact for 5,000 connections at the same time" {
	all_told 5000
}

@test "trace_tcp: --accept names the task of the server, also of selected tasks" {
	need_bytes
	act connects 6
	traced trace_tcp --accept --connect
	[ "$(lines "acts-$ACT .*: tcp_begin: 127.0.0.1:0 -> 127.0.0.1:$(port)$")" = 6 ]
	[ "$(lines "acts-$ACT .*: tcp_accept: 127.0.0.1:$(port) <- 127.0.0.1:[0-9]* lat=[0-9]*$")" = 6 ]
	[ "$(grep -vc '^#' got)" = 12 ]
}

@test "trace_tcp: JSON of --life and --latency has a member for each fact, and the names of errors" {
	need_bytes
	need_tool python3
	hold python3 "$TREE/t/prog/connections.py" 3
	traced trace_tcp --life --latency --json
	sed '/^ready/d; /^old/d' ready | LC_ALL=C sort >expected
	python3 -c '
import json, sys
def end(f, s):
    a = f[s + "addr"]
    return ("[%s]:%d" if ":" in a else "%s:%d") % (a, f[s + "port"])
for line in sys.stdin:
    e = json.loads(line)
    f = e.get("fields")
    if e.get("event") == "tcp_life" and f["side"]:
        assert f["lat"] > 0
        print("life", e["pid"], end(f, "s"), "->" if f["side"] == "connect" else "<-", end(f, "d"),
              f["sent"], f["received"])
    elif e.get("event") == "tcp_connect":
        assert f["established"] == ("error" not in f)
        print(*["connect", e["pid"], end(f, "s"), end(f, "d"), f.get("error", "")][:5 if "error" in f else 4])
' <got | LC_ALL=C sort >told
	diff expected told
}

@test "trace_tcp: bytes that no program has recorded are unknown, also in a file" {
	need_tracefs events/sock/inet_sock_set_state
	act connects 2
	# on a busy machine packets arrive in ksoftirqd, and so do the changes of state
	start_session trace_event -e sock:inet_sock_set_state --output dat --all
	release "$ACT"
	stop_session
	tfs-report -T life,latency "$TRACE" >got
	cat got
	[ "$(lines "acts-$ACT .*: tcp_connect: 127.0.0.1:[0-9]* -> 127.0.0.1:$(port) lat=[0-9]*$")" = 2 ]
	[ "$(lines ": tcp_life: .* sent=- received=-$")" = "$(lines ': tcp_life: ')" ]
	[ "$(lines ": tcp_life: .*:$(port) lat=[0-9]* sent")" = 2 ]
}

@test "trace_tcp: --drops counts the packets that are dropped, with the reason" {
	need_tracefs events/skb/kfree_skb
	grep -q NO_SOCKET "$TRACEFS/events/skb/kfree_skb/format" || skip "needs reasons of drops (Linux 5.17)"
	need_tool python3
	need_tool unshare
	watch trace_tcp --drops --all
	background unshare -n python3 -c '
import fcntl, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 0x49)) # SIOCSIFFLAGS: up
for i in range(7):
    s.sendto(b"x", ("127.0.0.1", 9))'
	finishes "$PID" 0
	watch_stop
	[ "$(lines "[-]$PID .*: kfree_skb: .* protocol=2048 location=.* reason: NO_SOCKET$")" = 7 ]
	[ "$(lines 'NOT_SPECIFIED')" = 0 ]
}

# need_alone: Skip unless a program can have a network namespace of its own.
need_alone() {
	need_bytes
	need_tool python3
	need_tool unshare
	unshare -n true 2>/dev/null || skip "needs network namespaces"
}

# fail_all OPTION...: Start a session, and let t/prog/connects.py make its connects, of which the
# last waits. Its output has the truth: what connect and getsockname return.
fail_all() {
	hold unshare -n python3 "$TREE/t/prog/connects.py"
	start_session trace_tcp --pid "$HELD" "$@"
	[ "${*: -1}" != fifo ] || read_by cat >got
	release
	eventually grep -qx "done" ready
	stop_session
	release "$HELD"
	sed '/^ready/d; /^done/d' ready | LC_ALL=C sort >expected
	[ "$(wc -l <expected)" = 40 ]
}

@test "trace_tcp: --latency has a line for each connect that fails, at once or later, and for one that waits at the end" {
	need_alone
	fail_all --latency --output fifo
	finishes "$READER" 0
	told got >answer
	diff expected answer
	[ "$(grep -vc '^#' got)" = 40 ]
	fail_all --latency --output dat
	tfs-report -T latency "$TRACE" >got
	told got >answer
	diff expected answer
	tfs-report -T latency -j "$TRACE" | grep -c '"error":"unfinished"' | grep -qx 1
}

# at_once: Print those that fail before the kernel begins the connect.
at_once() {
	grep -E ' E[A-Z]+$' expected | grep -vE ' (ECONNREFUSED|ETIMEDOUT|EADDRNOTAVAIL)$'
}

@test "trace_tcp: without an option and with --connect, each connect has one line, with its error if it fails at once" {
	need_alone
	for options in '' --connect '--connect --accept'; do
		# shellcheck disable=SC2086 # words
		fail_all $options --output fifo
		finishes "$READER" 0
		told got | diff <(at_once) -
		[ "$(grep -v '^#' got | grep -vc ': tcp_accept: ')" = 40 ] || { cat got; return 1; }
	done
	[ "$(lines ': tcp_begin: ')" = 12 ]
	fail_all --connect --output dat
	tfs-report -T failed "$TRACE" >got
	told got | diff <(at_once) -
	[ "$(lines ': inet_sock_set_state: .* newstate=TCP_SYN_SENT$')" = 12 ]
	rm -r "${TRACE%/*}"
	fail_all --json --connect --output fifo
	finishes "$READER" 0
	[ "$(grep -c '"event":"tcp_connect".*"error":"E' got)" = 28 ]
}

@test "trace_tcp: --port selects connects that fail at once, too" {
	need_alone
	for options in --latency --connect --accept\ --connect; do
		# shellcheck disable=SC2086 # words
		fail_all $options --port 81 1000 1003 --output fifo
		finishes "$READER" 0
		grep -E ':(81|100[03]) ' expected >of_ports
		[ "$(wc -l <of_ports)" = 3 ]
		told got | diff of_ports -
	done
}

@test "trace_tcp: without types of the kernel it says once what is not known, in text, JSON and summaries" {
	need_alone
	mkdir -p none/kernel
	ln -s "$TRACEFS" none/kernel/tracing
	export TRACER_SYSFS_PATH=$PWD/none
	note="not known: bytes, errors, and connects that fail at once: unable to read $PWD/none/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF): No such file or directory"
	hold python3 "$TREE/t/prog/connections.py" 1
	traced trace_tcp --latency
	[ "$(head -n 1 got)" = "# $note" ]
	[ "$(lines 'not known')" = 1 ]
	[ "$(lines 'tcp_connect: .* error=-$')" = "$(grep -c '^connect .* E[A-Z]*$' ready)" ]
	[ "$(tfs-summary got | grep -c "^# $note$")" = 1 ]
	hold python3 "$TREE/t/prog/connections.py" 1
	traced trace_tcp --life --json
	[ "$(grep -cFx "{\"comment\":\"$note\"}" got)" = 1 ]
	[ "$(tfs-summary got | grep -cFx "{\"comment\":\"$note\"}")" = 1 ]
}

@test "trace_tcp: connects and accepts of io_uring have lines, also those of its own table of files" {
	need_alone
	need_tracefs events/io_uring/io_uring_submit_req
	[ "$(cat /proc/sys/kernel/io_uring_disabled)" = 0 ] || skip "needs io_uring"
	hold unshare -n "$PROG/uring_tcp"
	traced trace_tcp --latency --accept --life
	[ "$(lines "tcp_connect: 0.0.0.0:0 -> 198.51.100.1:80 lat=[0-9]* error=ENETUNREACH$")" = 1 ]
	[ "$(lines "tcp_connect: 0.0.0.0:0 -> 198.51.100.2:81 lat=[0-9]* error=ENETUNREACH$")" = 1 ]
	[ "$(lines "tcp_connect: .* -> 127.0.0.1:10 lat=[0-9]* error=ECONNREFUSED$")" = 1 ]
	[ "$(lines "tcp_connect: .* -> 127.0.0.1:9 lat=[0-9]* error=ECONNREFUSED$")" = 1 ]
	[ "$(lines "uring_tcp-$HELD .*: tcp_connect: 127.0.0.1:[0-9]* -> 127.0.0.1:7100 lat=[0-9]*$")" = 6 ]
	[ "$(lines "uring_tcp-$HELD .*: tcp_accept: 127.0.0.1:7100 <- 127.0.0.1:[0-9]* lat=[0-9]*$")" = 6 ]
	[ "$(lines "uring_tcp-$HELD .*: tcp_life: 127.0.0.1:7100 <- 127.0.0.1:[0-9]* lat=[0-9]* sent=0 received=0$")" = 6 ]
	[ "$(grep -vc '^#' got)" = 28 ]
}

@test "trace_tcp: a connection that a packet ends is of the task that has its socket, and one that nobody accepts has an arrow of its own" {
	need_alone
	for protocol in 6 262; do
		hold unshare -n python3 "$TREE/t/prog/resets.py" $protocol
		traced trace_tcp --life --accept
		sed '/^ready/d' ready | LC_ALL=C sort >expected
		sed -n 's/.*-\([0-9]*\) *\[[0-9]*\] [^ ]* *[0-9.]*: tcp_\(life\|accept\): \(.*\) lat=[0-9-]*\( sent.*\)\{0,1\}$/\2 \1 \3\4/p' got | LC_ALL=C sort >answer
		diff expected answer
		[ "$(grep -vc '^#' got)" = "$(wc -l <expected)" ]
	done
}

@test "trace_tcp: a connection older than the session that a packet ends has a line while its program keeps it open" {
	local form
	need_alone
	for protocol in 6 262; do
		for form in '' --json; do
			hold unshare -n python3 "$TREE/t/prog/resets.py" $protocol keep
			watch trace_tcp --life --pid "$HELD" ${form:+"$form"}
			release
			eventually grep -q '^life' ready
			watch_stop
			sed '/^ready/d' ready | LC_ALL=C sort >expected
			if [ -n "$form" ]; then
				jq -r 'select(.event == "tcp_life") | .fields as $f | "life \(.pid) \(if .comm == "python3" then "" else .comm end)\($f.saddr):\($f.sport) \(if $f.side == null then "<->" else $f.side end) \($f.daddr):\($f.dport) sent=\($f.sent) received=\($f.received)"' got
			else
				sed -n 's/^ *python3-\([0-9]*\) .* tcp_life: \(.*\) lat=-\( sent.*\)$/life \1 \2\3/p' got
			fi | LC_ALL=C sort >answer
			diff expected answer
			[ "$(grep -vc '"comment"\|^#' got)" = 4 ]
			release
		done
	done
}

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

# bats test_tags=quick
@test "trace_tcp: records as many connects as a program made, and no other program's" {
	need_tracefs events/sock/inet_sock_set_state
	act connects 6
	traced trace_tcp --connect
	[ "$(lines ": inet_sock_set_state: .* dport=$(port) .* oldstate=TCP_CLOSE newstate=TCP_SYN_SENT$")" = 6 ]
	[ "$(grep -vc '^#' got)" = 6 ]
}

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
	fails 100 "manager: fatal: --accept: packets make connections, in unrelated tasks; give --all and --port, or run trace_syscalls -s accept accept4 --decode for the selected tasks" \
		"$MANAGER" --run trace_tcp --args "--instance $MARK --pid $ACT --accept"
	fails 100 "manager: fatal: --retransmit: timers and packets send them, in unrelated tasks; give --all and --port instead of selected tasks" \
		"$MANAGER" --run trace_tcp --args "--instance $MARK --pid $ACT --connect --retransmit"
	nothing_left
	traced trace_tcp
	[ "$(lines 'oldstate=TCP_CLOSE newstate=TCP_SYN_SENT$')" = 2 ]
	[ "$(grep -vc '^#' got)" = 2 ]
}

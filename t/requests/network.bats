#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2034,SC2153 # each test is a process of its own; t/net.bash uses them
# Test the network that tests of distributed tracing use: t/prog/netns.c,
# t/prog/chain.c, t/prog/box.c and t/net.bash. These tests test no part of the product. They check
# what would let the other tests pass for nothing: a fault must show, and marks must be counted.

load ../helper
load ../net

# asks OPTION...: Run a client, and fail unless it gets all its answers and they are right.
asks() {
	CLIENT_N=$((${CLIENT_N-0} + 1))
	client "c$CLIENT_N" "$@"
	go "c$CLIENT_N"
	client_ends "c$CLIENT_N"
}

# stop_roles: End the roles, so that others can start.
stop_roles() {
	local pid
	for pid in "$SERVER" ${MIDDLE:+"$MIDDLE"}; do
		kill "$pid"
		wait "$pid" || :
	done
}

# unique HOP: Print the number of segments with data, without those that were sent again.
unique() {
	echo $(($(counted "$1" data) - $(counted "$1" again)))
}

# is HOP NAME=NUMBER...: Fail unless the box has counted exactly these numbers.
is() {
	local pair
	for pair in "${@:2}"; do
		[ "$(counted "$1" "${pair%=*}")" = "${pair#*=}" ] || {
			echo "not $pair:"
			tail -n 1 "box$1.out"
			return 1
		}
	done
}

@test "net: taking a namespace down leaves nothing behind" {
	need_net
	net_up 1 2
	box 1
	file=$(ns_of box1)
	[ -e "$file" ]
	# a process that still runs there does not keep the name
	net_down
	[ ! -e "$file" ]
	run -1 grep "$MARK" /proc/self/mounts
	net_down
}

@test "net: a client exits 1 for a wrong answer, and 111 if no server listens" {
	need_net veth
	net_up
	server_on dtm -z
	client one -n 3 -s 100000
	go one
	client_ends one 1
	stop_roles
	client two
	go two
	client_ends two 111
}

@test "net: a client's threads have the TIDs that it printed, the main thread first" {
	need_net veth
	net_up
	server_on dtm -m thread
	client one -t 5 -b
	[ "$(tids_of one | sort -n)" = \
		"$(cd "/proc/${CLIENTS[one]}/task" && printf '%s\n' * | sort -n)" ]
	[ "$(tids_of one T | wc -l)" = 3 ]
	[ "$(tids_of one U | wc -l)" = 2 ]
	tids_of one T | grep -qx "${CLIENTS[one]}"
	go one
	client_ends one
}

calls_of_server() {
	[ "$(grep -c ': sys_' "$DIR/trace")" = "$1" ]
}

# The trace has the server's calls in their order: only the server calls recvfrom and sendto.
@test "net: the server makes its calls between reading the request and sending the answer" {
	need_net veth
	new_instance
	[ -d "$DIR/events/syscalls" ] || lacks events/syscalls
	net_up
	server_on dtm -m thread -c send
	client one -c write -n 2
	truth_on
	for call in recvfrom sendto; do
		echo "common_pid != ${CLIENTS[one]}" >"$DIR/events/syscalls/sys_enter_$call/filter"
	done
	# other programs may add events: keep those of this program's threads
	echo 1 >"$DIR/options/event-fork"
	echo "$SERVER" >"$DIR/set_event_pid"
	echo 1 >"$DIR/events/syscalls/sys_enter_recvfrom/enable"
	echo 1 >"$DIR/events/syscalls/sys_enter_sendto/enable"
	go one
	client_ends one
	# it waits for a third request
	eventually calls_of_server 11
	sed -n 's/.*: sys_\([a-z]*\)(\(pid: \(0x\)\{0,1\}\([0-9a-f]*\)\)\{0,1\}.*/\1 \4/p' \
		"$DIR/trace" >order
	printf '%s \n' recvfrom "getpgid T" "getpgid T" sendto "getpgid A" \
		recvfrom "getpgid T" "getpgid T" sendto "getpgid A" recvfrom |
		sed "s/T /$(printf %x "${TRUTHS[T]}")/; s/A /$(printf %x "${TRUTHS[A]}")/" |
		diff - order
}

@test "net: a checksum that the sender left to the device counts as wrong" {
	need_net
	net_up 1
	in_ns dtc true
	"$PROG/netns" offload "$MARK-dtc" eth0 on
	box 1
	serve
	client one
	go one
	eventually told 1 badsum 2
}

@test "net: the Nth segment with data gets lost, and is sent again" {
	need_net
	net_up 1 2
	box 1 -n 1 -n 8
	box 2 -o ba -n 3
	serve
	asks -n 10
	boxes_end
	is 1 dropped=2 badsum=0
	is 2 dropped=1 badsum=0
	at_least 1 again 2
	at_least 2 again 1
	[ "$(unique 1)" = 20 ]
	[ "$(unique 2)" = 20 ]
}

# The packets go through a router, so that both boxes see the same segments.
@test "net: a box counts and clears a mark that another box sets, and checksums stay right" {
	need_net
	net_up 1 2
	net_routes
	box 1 -b -o ab
	box 2 -c
	for FAMILY in 4 6; do
		chain_server
		asks -n 20
		asks -n 1 -s 100000
		kill "$SERVER"
		wait "$SERVER" || :
	done
	boxes_end
	data=$(counted 2 data_ab)
	is 1 marked=0 marked_other=0 "set=$data" "data_ab=$data" badsum=0 first=0
	is 2 "marked=$data" "marked_ab=$data" marked_ba=0 marked_other=0 "cleared=$data" badsum=0 \
		first=4 flows=8
	[ "$data" -ge $((2 * (20 + 100000 / 1448))) ]
}

# The first box marks segments towards the server only; answers have no mark.
@test "net: a box that drops marked segments lets no marked segment pass" {
	need_net
	net_up 1 2
	net_routes
	box 1 -b -o ab
	box 2 -m
	chain_server
	client one
	go one
	eventually told 2 dropped 2
	box_ends 2
	is 2 data_ba=0 flows=1 first=1
	is 2 "dropped=$(counted 2 marked)"
}

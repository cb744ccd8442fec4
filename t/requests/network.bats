#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2034,SC2153 # each test is a process of its own; t/net.bash uses them
# Test the network that tests of distributed tracing use: t/prog/netns.c,
# t/prog/chain.c, t/prog/box.c and t/net.bash. These tests test no part of the product.

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

# every_call MODEL: Use all kinds of calls, small and large messages, IPv4 and IPv6 in turn.
every_call() {
	local calls
	need_net
	net_up
	for calls in send write writev sendmsg sendfile splice; do
		FAMILY=$((10 - FAMILY))
		serve "-m $1 -c $calls" "-m $1 -c $calls"
		asks -c "$calls" -n 10 -1
		asks -c "$calls" -n 3 -s "$(so_many 300000)" -t 4
		stop_roles
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

@test "net: a namespace has a file, its own network, and the mounts of the host" {
	need_net veth
	net_up
	[ "$(in_ns dtc readlink /proc/self/ns/mnt)" = "$(readlink /proc/self/ns/mnt)" ]
	inode=$(stat -L -c %i "$(ns_of dtc)")
	[ "$(in_ns dtc readlink /proc/self/ns/net)" = "net:[$inode]" ]
	[ "$(readlink /proc/self/ns/net)" != "net:[$inode]" ]
	[ "$(in_ns dtc cat /proc/net/dev | grep -c :)" = 2 ]
	[ "$(in_ns dtm cat /proc/net/dev | grep -c :)" = 3 ]
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

@test "net: a duplicate or missing name and a wrong word are refused" {
	need_net veth
	net_up
	fails 111 "netns: unable to make $(ns_of dtc): File exists" "$PROG/netns" add "$MARK-dtc"
	fails 111 "netns: unable to open $(ns_of none): No such file or directory" in_ns none true
	fails 111 "netns: unable to set the offload 0x2c of eth7: No such device" \
		"$PROG/netns" offload "$MARK-dtc" eth7 off
	run -100 "$PROG/netns" addr "$MARK-dtc" eth0 10.1.1
	run -100 "$PROG/chain" -c talk server 127.0.0.1 0
	run -100 "$PROG/box" a
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

@test "net: a server with a process per connection makes all calls" {
	every_call fork
}

@test "net: a server with a thread per connection makes all calls" {
	every_call thread
}

@test "net: a server with a pool of threads makes all calls" {
	every_call pool
}

@test "net: a server of one thread with many open requests makes all calls" {
	every_call loop
}

@test "net: 64 connections work at once through boxes, half of them traced" {
	need_net
	new_instance
	net_up 1 2
	box 1
	box 2
	for model in fork thread pool loop; do
		truth_on
		echo >"$DIR/trace"
		serve "-m $model" "-m $model"
		asks -t 64 -n 4 -b -s 3000
		# two hosts, two calls of each per request, and one after it
		[ "$(truths T)" = $((32 * 4 * 2 * 2)) ]
		[ "$(truths U)" = $((32 * 4 * 2 * 2)) ]
		eventually truly A $((64 * 4 * 2))
		stop_roles
	done
	box_ends 1
	box_ends 2
	is 1 badsum=0 marked=0 marked_other=0 dropped=0 flows=$((4 * 64 * 2))
	is 2 badsum=0 marked=0 marked_other=0 dropped=0 flows=$((4 * 64 * 2))
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

@test "net: a client asks as often as each line says, after it has connected" {
	need_net
	new_instance
	net_up 1
	box 1
	truth_on
	serve '-l 3' '-l 3'
	client one -e -i -u
	told 1 tcp 3
	is 1 data=0
	go one 5
	[ "$(truths U)" = $((5 * 2 * 3)) ]
	go one 2
	[ "$(truths U)" = $((7 * 2 * 3)) ]
	[ "$(truths T)" = 0 ]
	go one 0
	client_ends one
	box_ends 1
	[ "$(unique 1)" = 14 ]
	is 1 flows=2
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

@test "net: one thread reads a message, and the next thread works on it and answers" {
	need_net
	net_up
	serve '-m hand' '-m hand -w 3'
	asks -n 20 -t 3
	asks -n 2 -s 100000
}

@test "net: sequence numbers begin where the test says, and wrap around" {
	need_net
	net_up 1 2
	box 1
	box 2
	for FAMILY in 4 6; do
		serve '' '-q 4294967040'
		# 255 bytes are left
		asks -q 4294967040 -n 20
		asks -q 4294900000 -s 300000
		stop_roles
	done
	box_ends 1
	box_ends 2
	is 1 badsum=0
	is 2 badsum=0
}

@test "net: a message that is sent in three calls is accepted too" {
	need_net veth
	net_up
	serve '-x 3' '-x 2'
	asks -x 3 -n 5
	asks -x 7 -n 2 -s 100000 -c writev
}

@test "net: a box that changes nothing counts each segment, and all checksums are right" {
	need_net
	net_up 1 2
	box 1
	box 2
	serve
	asks -n 50
	FAMILY=6
	stop_roles
	serve
	asks -n 50
	asks -n 2 -s 300000
	box_ends 1
	box_ends 2
	for hop in 1 2; do
		is "$hop" marked=0 marked_other=0 badsum=0 dropped=0 cleared=0 set=0 flows=6 first=0
		at_least "$hop" data_ab $((100 + 2 * 300000 / 1448))
		at_least "$hop" data_ba $((100 + 2 * 300000 / 1448))
		[ $(($(counted "$hop" data_ab) + $(counted "$hop" data_ba))) = \
			"$(counted "$hop" data)" ]
		[ "$(counted "$hop" frames)" -gt "$(counted "$hop" tcp)" ]
	done
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
	box_ends 1
	box_ends 2
	is 1 dropped=2 badsum=0
	is 2 dropped=1 badsum=0
	at_least 1 again 2
	at_least 2 again 1
	[ "$(unique 1)" = 20 ]
	[ "$(unique 2)" = 20 ]
}

@test "net: the last segment of each handshake gets lost, and data completes the handshake" {
	need_net
	net_up 1 2
	box 1 -a
	box 2 -a
	for FAMILY in 4 6; do
		serve
		asks -n 10 -1
		stop_roles
	done
	box_ends 1
	box_ends 2
	is 1 dropped=20 flows=40 badsum=0
	is 2 dropped=20 flows=40 badsum=0
	[ "$(unique 1)" = 40 ]
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
	box_ends 1
	box_ends 2
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

@test "net: a client does not notice the loss of some percent of the segments" {
	need_net
	net_up 1 2
	box 1 -p 5 -s 7
	box 2 -p 5 -s 8
	serve '-m thread' '-m loop'
	asks -n "$(so_many 50)" -s 3000 -t 4
	box_ends 1
	box_ends 2
	at_least 1 dropped 1
	at_least 2 dropped 1
	at_least 1 again 1
	is 1 badsum=0
}

@test "net: segments are as large as the hosts are configured for" {
	need_net
	NET_MTU=9000 net_up 1
	box 1
	serve
	asks -s 100000
	box_ends 1
	at_least 1 data_ab $((100000 / 8948 + 1))
	[ "$(counted 1 data_ab)" -lt $((100000 / 1448)) ]
	is 1 badsum=0
}

@test "net: a slow link takes as long as it must, and its queue is limited" {
	need_net
	net_up 1
	box 1 -r 50
	server_on dtm
	begin=$EPOCHREALTIME
	asks -n 2 -s 500000
	# 2 times 2 times 500000 bytes at 50 million bits a second
	[ $((${EPOCHREALTIME/[.,]/} - ${begin/[.,]/})) -ge 320000 ]
	box_ends 1
	is 1 dropped=0 badsum=0
	# a first window comes all at once, and four frames may wait
	box 1 -r 50 -q 4
	asks -n 1 -s 500000
	box_ends 1
	at_least 1 dropped 1
}

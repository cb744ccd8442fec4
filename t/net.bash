# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2153 # the tests use the variables that are set here; MARK is from helper.bash
# net.bash - three hosts in a row, for tests: load ../helper; load ../net
#
#	dtc eth0 -- hop 1 -- eth0 dtm eth1 -- hop 2 -- eth0 dts
#	10.77.1.1     10.77.1.2, 10.77.2.2       10.77.2.3      and fd77:1::1 ...
#
# Each host is a network namespace. A hop is a veth pair, or a box (t/prog/box.c) between
# two veth pairs. All names belong to the test, and everything goes with the test.
#
#	need_net
#	net_up 2                     # with a box on hop 2
#	box 2 -n 3
#	chain_server -m thread
#	chain_middle -m thread
#	client one -n 100            # held; tids_of one
#	go one
#	client_ends one
#	box_ends 2
#	[ "$(counted 2 dropped)" = 1 ]

# numbers by which the roles announce a traced request, an untraced request and the time
# after an answer; other test runs have other numbers
TRUTH=$((1000000 + 8 * $$))
declare -gA TRUTHS=([T]=$((TRUTH + 1)) [U]=$((TRUTH + 2)) [A]=$((TRUTH + 3)))

# IP version of the addresses: 4 or 6
FAMILY=4
declare -gA BOXES CLIENTS
NETS=()
# two digits of the addresses; a file whose tests see all hosts of a machine calls own_net
NET=77

# own_net: Set NET to a number that no other test on this machine has, as long as this test
# and its programs live. All test runs share the lock files, so they stay.
own_net() {
	local directory=${TMPDIR:-/tmp}/tfs-nets lock
	# a file calls it before setup, which lets the tests of a guest find the harness
	[ "${TFS_VARIANT-}" != vm ] || local PATH=/harness/tools:$PATH
	need_tool flock
	mkdir -p "$directory"
	for ((NET = 10; NET < 100; NET++)); do
		exec {lock}>"$directory/$NET"
		! flock -n "$lock" || return 0
		exec {lock}>&-
	done
	echo "all numbers of networks are in use: $directory"
	return 1
}

# A file with an undo of its own calls net_down in it.
undo() {
	net_down
}

net_down() {
	[ ${#NETS[@]} -gt 0 ] || return 0
	"$PROG/netns" del "${NETS[@]/#/$MARK-}" && NETS=()
}

# Skip the test, and name what is missing.

# need_net [WORD]...: Skip if netns check misses one of WORD..., by default of these all.
need_net() {
	local status=0 said
	need_root
	[ $# -gt 0 ] || set -- veth packet ipv6
	said=$("$PROG/netns" check "$@" 2>&1) || status=$?
	[ "$status" != 77 ] || skip "${said#netns: }"
	[ "$status" = 0 ] || { echo "$said"; return 1; }
}

# Set CGROUP2 to the mount point of the version 2 hierarchy.
need_cgroup2() {
	CGROUP2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$CGROUP2" ] || skip "needs a mounted cgroup2"
}

need_bpf() {
	need_root
	grep -qw bpf /proc/filesystems || skip "needs bpf (CONFIG_BPF_SYSCALL)"
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs types of the kernel (CONFIG_DEBUG_INFO_BTF)"
}

# hosts

# ns_of HOST: Print the namespace file of dtc, dtm, dts, box1 or box2.
ns_of() {
	echo "/run/netns/$MARK-$1"
}

# in_ns HOST COMMAND...: Run COMMAND on HOST. For the background use start_in.
in_ns() {
	"$PROG/netns" exec "$MARK-$1" "${@:2}"
}

# start_in HOST NAME COMMAND...: Run COMMAND on HOST in the background with output to
# NAME.out; set $PID to its pid, and return once it has printed "ready".
start_in() {
	: >"$2.out"
	background "$PROG/netns" exec "$MARK-$1" "${@:3}" >"$2.out"
	eventually ready_or_gone "$2.out" "$PID"
	ready_of "$2.out"
}

ready_or_gone() {
	ready_of "$1" || gone "$2"
}

# ready_of FILE: Set READY to what follows "ready" in the output of a program; fail if it is not
# there yet.
ready_of() {
	local text end=$'\n'
	read_whole "$1" || return
	[[ $end$text =~ "${end}ready"\ ?([^$end]*) ]] && READY=${BASH_REMATCH[1]}
}

# address HOST: Print the address of dtm for dtc, or of another host for dtm.
address() {
	address_of "$1"
	echo "$ADDRESS"
}

# address_of HOST: Set ADDRESS to it.
address_of() {
	local network=2 host=3
	case $1 in
	dtc) network=1 host=1 ;;
	dtm) network=1 host=2 ;;
	esac
	ADDRESS=10.$NET.$network.$host
	[ "$FAMILY" != 6 ] || ADDRESS=fd$NET:$network::$host
}

# net_up [HOP]...: Make the hosts, with a box on each HOP, 1 or 2. Offloads are off
# where there is a box, and with NET_OFFLOAD=off everywhere; NET_MTU applies to all.
net_up() {
	local hop left=dtc out=eth0 right=dtm name
	NETS=(dtc dtm dts)
	for hop; do
		NETS+=("box$hop")
	done
	"$PROG/netns" add "${NETS[@]/#/$MARK-}"
	for hop in 1 2; do
		if [[ " $* " == *" $hop "* ]]; then
			net_pair "$left" "$out" "box$hop" a off
			net_pair "box$hop" b "$right" eth0 off
		else
			net_pair "$left" "$out" "$right" eth0 "${NET_OFFLOAD-}"
		fi
		left=dtm out=eth1 right=dts
	done
	net_addresses dtc eth0 1 1
	net_addresses dtm eth0 1 2
	net_addresses dtm eth1 2 2
	net_addresses dts eth0 2 3
}

# net_pair HOST IF HOST IF [off]: Connect the two interfaces; off switches offloads off.
net_pair() {
	"$PROG/netns" veth "$MARK-$1" "$2" "$MARK-$3" "$4" ${NET_MTU:+"$NET_MTU"}
	[ "${5-}" != off ] || {
		"$PROG/netns" offload "$MARK-$1" "$2" off
		"$PROG/netns" offload "$MARK-$3" "$4" off
	}
}

net_addresses() {
	"$PROG/netns" addr "$MARK-$1" "$2" "10.$NET.$3.$4/24" "fd$NET:$3::$4/64"
}

# Make dtm a router, so that dtc and dts can talk without a middle. To ask for a
# neighbour on behalf of others it needs a link-local address.
net_routes() {
	"$PROG/netns" forward "$MARK-dtm"
	"$PROG/netns" addr "$MARK-dtm" eth0 fe80::1/64
	"$PROG/netns" addr "$MARK-dtm" eth1 fe80::2/64
	"$PROG/netns" route "$MARK-dtc" "10.$NET.2.0/24" "10.$NET.1.2"
	"$PROG/netns" route "$MARK-dtc" "fd$NET:2::/64" "fd$NET:1::2"
	"$PROG/netns" route "$MARK-dts" "10.$NET.1.0/24" "10.$NET.2.2"
	"$PROG/netns" route "$MARK-dts" "fd$NET:1::/64" "fd$NET:2::2"
}

# boxes

# box HOP OPTION...: Start the box of HOP, which passes frames from now on.
box() {
	start_in "box$1" "box$1" "$PROG/box" "${@:2}" a b
	BOXES[$1]=$PID
}

# counted HOP NAME: Print NAME of the last line that the box has printed; see t/prog/box.c.
counted() {
	count_of "$1" "$2"
	echo "$COUNT"
}

# count_of HOP NAME: Set COUNT to it.
count_of() {
	local lines
	COUNT=
	mapfile -t lines <"box$1.out"
	[[ " ${lines[-1]-}" =~ [^a-z_]"$2"=([0-9]+) ]] && COUNT=${BASH_REMATCH[1]}
	return 0
}

# box_tells HOP: Make the box print its counts so far, and let it go on.
box_tells() {
	local lines
	mapfile lines <"box$1.out"
	kill -USR1 "${BOXES[$1]}"
	eventually file_has $((${#lines[@]} + 1))+ "box$1.out"
}

# at_least HOP NAME N: Fail unless the box has counted N or more by its last line.
at_least() {
	count_of "$1" "$2"
	[ "$COUNT" -ge "$3" ]
}

# told HOP NAME N: Ask the box, and succeed if it has counted N or more.
told() {
	box_tells "$1"
	at_least "$@"
}

# box_ends HOP: Stop the box after it has seen every frame.
box_ends() {
	kill -TERM "${BOXES[$1]}"
	finishes "${BOXES[$1]}" 0
	count_of "$1" lost
	[ "$COUNT" = 0 ]
}

# boxes OPTION...: Start box 1 and box 2 with the same options.
boxes() {
	box 1 "$@"
	box 2 "$@"
}

# boxes_end [NAME=NUMBER...]: Stop both. The test's function `is` compares the counters of each.
boxes_end() {
	local hop
	box_ends 1
	box_ends 2
	for hop in 1 2; do
		[ $# = 0 ] || is $hop "$@"
	done
}

# clients_end NAME...: Let these clients, which have -i, end.
clients_end() {
	local name
	for name; do
		go "$name" 0
	done
	for name; do
		client_ends "$name"
	done
}

# roles; see t/prog/chain.c for their options

# chain_server OPTION...: Start the server on dts; set SERVER to its pid, and TARGET to
# the address and port for the next role.
chain_server() {
	server_on dts "$@"
}

# server_on HOST OPTION...: Start the server on HOST; the client then connects to dtm. The
# server has SERVER_PORT (0: any). Others see SERVER_SEEN, an address and a port, if that is set.
server_on() {
	address_of "$1"
	start_in "$1" server "$PROG/chain" -g "$TRUTH" "${@:2}" server "$ADDRESS" "${SERVER_PORT:-0}"
	SERVER=$PID
	read -ra TARGET <<<"${SERVER_SEEN:-"$ADDRESS $READY"}"
}

# chain_middle OPTION...: Start the middle on dtm, after the server; set MIDDLE to its pid.
# MIDDLE_PORT and MIDDLE_SEEN are as those of the server.
chain_middle() {
	address_of dtm
	start_in dtm middle "$PROG/chain" -g "$TRUTH" "$@" middle "$ADDRESS" "${MIDDLE_PORT:-0}" \
		"${TARGET[@]}"
	MIDDLE=$PID
	read -ra TARGET <<<"${MIDDLE_SEEN:-"$ADDRESS $READY"}"
}

# serve SERVER MIDDLE: Start both; each argument is the options of one role (words).
serve() {
	# shellcheck disable=SC2086 # words
	chain_server $1
	# shellcheck disable=SC2086
	chain_middle $2
}

# client NAME OPTION...: Start a client on dtc, held before its first request.
client() {
	mkfifo "$1.go"
	start_in dtc "$1" "$PROG/chain" "${@:2}" client "${TARGET[@]}" <>"$1.go"
	CLIENTS[$1]=$PID
}

# tids_of NAME [T|U]: Print the TIDs of all threads, or of the traced or untraced, one per line.
tids_of() {
	sed -n "s/^tid \([0-9]*\) ${2:-.}$/\1/p" "$1.out"
}

# go NAME [N]: Let a client begin; a client with -i makes N requests, done on return.
go() {
	local lines
	mapfile lines <"$1.out"
	echo "${2-}" >"$1.go"
	[ -z "${2-}" ] || [ "$2" = 0 ] || eventually file_has $((${#lines[@]} + 1))+ "$1.out"
}

# client_ends NAME [STATUS]: Fail unless the client ends by itself and each answer was right.
client_ends() {
	finishes "${CLIENTS[$1]}" "${2:-0}"
}

# the truth: the calls that the kernel has recorded

# truth_on: Record the calls as events of the test's instance (new_instance) from now on.
truth_on() {
	local event=$DIR/events/syscalls/sys_enter_getpgid nr
	if [ -d "$event" ]; then
		echo "pid > $TRUTH && pid <= $((TRUTH + 3))" >"$event/filter"
	else
		event=$DIR/events/raw_syscalls/sys_enter
		[ -d "$event" ] || lacks events/raw_syscalls
		nr=$(syscall-nr getpgid)
		echo "id == $nr" >"$event/filter"
	fi
	echo 1 >"$event/enable"
}

# truths T|U|A [FILE]: Count the calls of a kind in the text of a trace. Without FILE read what is
# recorded, and fail if it lacks events.
truths() {
	local status=0
	tally "${2:-${RECORDED:-$DIR/trace}}" || status=$?
	echo "${TALLY[$1]}"
	return $status
}

# tally FILE: Set TALLY[T], TALLY[U] and TALLY[A] to the numbers of these calls in the text of a
# trace. Fail if it lacks events.
declare -gA TALLY
tally() {
	local hex bad
	printf -v hex '%x|%x|%x' "${TRUTHS[T]}" "${TRUTHS[U]}" "${TRUTHS[A]}"
	read -r "TALLY[T]" "TALLY[U]" "TALLY[A]" bad < <(awk -v hexes="$hex" '
		BEGIN {
			split(hexes, hex, "|")
			call = "(getpgid[(]pid: |NR [0-9]+ [(])(0x)?"
		}
		/entries-in-buffer/ { sub(/.*: /, ""); split($1, n, "/"); bad = n[1] != n[2] }
		/^# lost/ { bad = 1 }
		$0 ~ call {
			for (i = 1; i <= 3; i++)
				calls[i] += $0 ~ (call hex[i] "[,)]")
		}
		END { print calls[1] + 0, calls[2] + 0, calls[3] + 0, bad + 0 }' "$1")
	return "$bad"
}

# truly KIND N: Check a count, for eventually. The calls T and U come before the answer, so
# their number is right once a client has the answer; A comes after it.
truly() {
	tally "${RECORDED:-$DIR/trace}" || : # as $(truths KIND)
	[ "${TALLY[$1]}" = "$2" ]
}

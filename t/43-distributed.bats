#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2034,SC2153 # each test is a process of its own; t/net.bash uses them
# dt-probe, dt-dev and dt-pid between three hosts (t/net.bash): which requests are
# followed, and through what. The kernel tells the truth: each host makes two calls
# between a request and its answer, other ones for a traced client's than for an
# untraced one's, and a third kind when it has answered. The windows of the probe,
# applied by dt-window, must let through all of the first and none of the others.

load helper
load net

PROBES=()
# a probe sees all hosts of the machine, and it believes those of this test
NET=$((10 + $$ % 90))
ALL=(-f "10.$NET.0.0/16" -f "fd$NET::/16")

undo() {
	local probe status=0
	for probe in "${PROBES[@]}"; do
		dt-probe -N "$probe" off || [ $? = 1 ] || status=1
	done
	net_down || status=1
	[ -z "${MOUNTED-}" ] || umount "$MOUNTED" || status=1
	return $status
}

need_bpffs() {
	local at=${TRACER_SYSFS_PATH:-/sys}/fs/bpf
	need_bpf
	[ "$(stat -f -c %t "$at")" = cafe4a11 ] || {
		mount -t bpf bpf "$at" || skip "needs bpffs at $at"
		MOUNTED=$at
	}
}

# probe_on OPTION...: a probe of this test's own, in PROBE and ID
probe_on() {
	local said status=0
	PROBE=$MARK.${#PROBES[@]}
	PROBES+=("$PROBE")
	said=$(dt-probe -N "$PROBE" "$@" on 2>&1) || status=$?
	case $said in
	*': fatal: this kernel '* | *': this kernel '*) skip "${said#dt-probe: }" ;;
	esac
	[ "$status" = 0 ] || { echo "$said"; return 1; }
	ID=$(sed -n 's/^id //p' <<<"$said")
	[ -n "$ID" ]
}

probe_off() {
	dt-probe -N "$PROBE" off
}

# marks_at HOST DEVICE...: what is traced leaves marked there
marks_at() {
	local said status=0
	said=$(dt-dev -N "$PROBE" -n "$(ns_of "$1")" add "${@:2}" 2>&1) || status=$?
	case $said in
	*'by clsact: No such file or directory'*) skip "needs TCX or clsact: $said" ;;
	esac
	[ "$status" = 0 ] || { echo "$said"; return 1; }
}

# instance: the truth and the windows, on one clock
instance() {
	new_instance
	echo "${1:-4096}" >"$DIR/buffer_size_kb"
	echo mono >"$DIR/trace_clock"
	[ -d "$DIR/events/bpf_trace" ] || lacks events/bpf_trace
	truth_on
	echo 1 >"$DIR/events/bpf_trace/bpf_trace_printk/enable"
}

# hosts [-o OPTION...] [HOP]...: three, boxes on these hops, and a probe, with these
# options, that marks at all their devices
hosts() {
	local options=()
	while [ "${1-}" = -o ]; do
		options+=("$2")
		shift 2
	done
	need_net
	need_bpffs
	need_cgroup2
	instance
	net_up "$@"
	probe_on "${options[@]}" "${ALL[@]}"
	marks_at dtc eth0
	marks_at dtm eth0 eth1
	marks_at dts eth0
}

# serve SERVER MIDDLE: the roles, with these options each (words)
serve() {
	# shellcheck disable=SC2086 # words
	chain_server $1
	# shellcheck disable=SC2086
	chain_middle $2
}

# stop_roles: so that others can be started
stop_roles() {
	local pid
	for pid in "$SERVER" ${MIDDLE:+"$MIDDLE"}; do
		kill "$pid"
		wait "$pid" || :
	done
	MIDDLE=
}

# follow NAME...: those of these clients' threads that ask as traced ones are added
follow() {
	local name
	for name; do
		tids_of "$name" T
	done | dt-pid -N "$PROBE" add
}

# asks TRACED UNTRACED: options (words) of a client that is followed and of one that
# is not, at once; "" for none. All their answers are right.
asks() {
	local name names=()
	ROUND=$((${ROUND-0} + 1))
	if [ -n "$1" ]; then
		# shellcheck disable=SC2086 # words
		client "t$ROUND" $1
		follow "t$ROUND"
		names+=("t$ROUND")
	fi
	if [ -n "$2" ]; then
		# shellcheck disable=SC2086 # words
		client "u$ROUND" -u $2
		names+=("u$ROUND")
	fi
	for name in "${names[@]}"; do
		go "$name"
	done
	for name in "${names[@]}"; do
		client_ends "$name"
	done
}

# measure: what windows let through of the trace so far
measure() {
	cat "$DIR/trace" >all
	dt-window -i "$ID" <all >in || [ $? = 1 ]
	ASKED="$(truths T all) $(truths U all)"
	MISSED=$(($(truths T all) - $(truths T in)))
	FALSE=$(truths U in)
	AFTER=$(truths A in)
	WINDOWS=$(grep -c ": dtB $ID " all) || :
}

# exact T U [HOSTS]: so many requests, traced and not, through so many hosts (2), and
# the windows are just those of the traced ones
exact() {
	local hosts=${3:-2} got
	eventually truly A $((($1 + $2) * hosts))
	measure
	[ "$ASKED" = "$(($1 * hosts * 2)) $(($2 * hosts * 2))" ] || {
		echo "not asked $1 and $2 times: $ASKED"
		return 1
	}
	got="$MISSED $FALSE $AFTER $WINDOWS"
	[ "$got" = "0 0 0 $((hosts * $1))" ] || {
		echo "missed, false, after, windows: $got of $ASKED"
		return 1
	}
}

# state NAME: what the probe has counted
state() {
	dt-probe -N "$PROBE" state | sed -n "s/^$1 //p"
}

# counts NAME=NUMBER...: so the probe has, with - for a blank
counts() {
	local pair name
	for pair; do
		name=${pair%=*}
		[ "$(state "${name//-/ }")" = "${pair#*=}" ] || {
			echo "not $pair:"
			dt-probe -N "$PROBE" state
			return 1
		}
	done
}

# is HOP NAME=NUMBER...: the box has counted that
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

at_least() {
	[ "$(counted "$1" "$2")" -ge "$3" ]
}

# told HOP NAME N: the box tells that it has counted so many, or more
told() {
	box_tells "$1"
	at_least "$@"
}

report() {
	echo "# $*" >&3
}

# ---- who is followed -------------------------------------------------------------

# every_call MODEL: all kinds of calls, a traced and an untraced client at once
every_call() {
	local calls n t=0
	n=$(so_many 100)
	hosts
	for calls in send write writev sendmsg sendfile splice; do
		serve "-m $1 -c $calls" "-m $1 -c $calls"
		asks "-c $calls -n $n" "-c $calls -n $n"
		stop_roles
		t=$((t + n))
		exact $t $t
		# four messages a request, each of which is a segment
		counts marked-out=$((4 * t)) marked-in=$((4 * t)) not-believed=0 windows=$((2 * t))
	done
}

@test "dt: a process for each connection: all requests of who is added, with all calls" {
	every_call fork
}

@test "dt: a thread for each connection: all requests of who is added, with all calls" {
	every_call thread
}

@test "dt: a pool of threads: all requests of who is added, with all calls" {
	every_call pool
}

@test "dt: nobody is added: nothing is marked, no window opens" {
	hosts 1 2
	box 1
	box 2
	serve
	n=$(so_many 100)
	asks "" "-n $n -t 2"
	asks "" "-n 2 -s 300000"
	exact 0 $((2 * n + 2))
	counts marked-out=0 marked-in=0 not-believed=0 windows=0
	[ "$(grep -c "dt. $ID " all)" = 0 ]
	box_ends 1
	box_ends 2
	is 1 marked=0 marked_other=0 badsum=0
	is 2 marked=0 marked_other=0 badsum=0
}

@test "dt: large messages, in segments as large as the device takes them" {
	hosts
	n=$(so_many 20)
	for model in fork pool; do
		serve "-m $model" "-m $model"
		asks "-n $n -s 300000" "-n $n -s 300000"
		stop_roles
	done
	exact $((2 * n)) $((2 * n))
	[ "$(state "marked in")" = "$(state "marked out")" ]
	[ "$(state "marked in")" -ge $((2 * n * 4 * 300000 / 65536)) ]
}

@test "dt: large messages without offloads: each segment has the mark, checksums are right" {
	hosts 1 2
	box 1
	box 2
	serve
	n=$(so_many 20)
	asks "-n $n -s 300000" ""
	exact "$n" 0
	box_ends 1
	box_ends 2
	for hop in 1 2; do
		is $hop "marked=$(counted $hop data)" marked_other=0 badsum=0 dropped=0 \
			first=2 flows=2
		at_least $hop marked_ab $((n * 300000 / 1460))
		at_least $hop marked_ba $((n * 300000 / 1460))
	done
}

@test "dt: on a new connection the first segment with data is marked, and no other kind" {
	hosts 1 2
	box 1
	box 2
	n=$(so_many 50)
	for FAMILY in 4 6; do
		serve
		asks "-n $n -1" ""
		stop_roles
	done
	exact $((2 * n)) 0
	box_ends 1
	box_ends 2
	for hop in 1 2; do
		is $hop "data=$((4 * n))" "marked=$((4 * n))" marked_other=0 "flows=$((4 * n))" \
			"first=$((4 * n))" badsum=0
	done
	counts marked-out=$((8 * n)) marked-in=$((8 * n)) not-believed=0 windows=$((4 * n))
}

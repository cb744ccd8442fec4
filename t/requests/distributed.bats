#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2034,SC2153 # each test is a process of its own; t/net.bash uses them
# dt-probe, dt-dev and dt-pid between three hosts (t/net.bash): which requests are
# followed, and through which obstacles. The kernel records the truth: each host makes
# two calls between a request and its answer. The call numbers differ for a traced and
# an untraced client, and for the time after an answer. The windows of the probe,
# applied by dt-window, must pass all calls of the first kind and none of the others.
# parts: 4

load ../helper
load ../net

PROBES=()
RECORDER=
BARRIERS=0
# -g: windows belong to processes
BY=()
# a probe sees all hosts of the machine, and believes the hosts of this test
own_net
PINS=${TRACER_SYSFS_PATH:-/sys}/fs/bpf
ALL=(-f "10.$NET.0.0/16" -f "fd$NET::/16")

undo() {
	local probe status=0
	[ -z "$RECORDER" ] || kill -KILL "$RECORDER" 2>/dev/null || :
	for probe in "${PROBES[@]}"; do
		dt-probe -N "$probe" off || [ $? = 1 ] || status=1
	done
	net_down || status=1
	[ -z "${MOUNTED-}" ] || umount "$MOUNTED" || status=1
	return $status
}

need_bpffs() {
	need_bpf
	[ "$(stat -f -c %t "$PINS")" = cafe4a11 ] || {
		mount -t bpf bpf "$PINS" || skip "needs bpffs at $PINS"
		MOUNTED=$PINS
	}
}

# probe_on OPTION...: Begin a probe of this test's own; set PROBE and ID.
probe_on() {
	local said status=0
	PROBE=$MARK.${#PROBES[@]}
	PROBES+=("$PROBE")
	said=$(dt-probe -N "$PROBE" "$@" on 2>&1) || status=$?
	case $said in
	*': this kernel '*) skip "$said" ;;
	esac
	[ "$status" = 0 ] || { echo "$said"; return 1; }
	ID=$(sed -n 's/^id //p' <<<"$said")
	[ -n "$ID" ]
	[ -z "$RECORDER" ] || record dt-probe -N "$PROBE" marks --
}

# record [WORD...]: Let tfs-catpipe record into the file RECORDED from now on, below this command; it
# goes on where another one stops.
record() {
	stop_recorder
	background env TFS_INSTANCE="$INSTANCE" "$@" tfs-catpipe >>"$RECORDED"
	RECORDER=$PID
	reach
}

stop_recorder() {
	[ -z "$RECORDER" ] || ends_by "$RECORDER" INT 0
	RECORDER=
}

# reach: Wait until RECORDED has all that has happened, because a trace is in the order of time.
reach() {
	BARRIERS=$((BARRIERS + 1))
	echo "barrier $BARRIERS" >"$DIR/trace_marker"
	eventually grep -q "barrier $BARRIERS\$" "$RECORDED"
}

# forget: Drop what has been recorded.
forget() {
	reach
	: >"$RECORDED"
}

# recorded: Write what has been recorded to the file "all".
recorded() {
	reach
	grep -v ': barrier [0-9]*$' "$RECORDED" >all || :
}

# pins: Print the directory of the probe.
pins() {
	echo "$PINS/tfs/${PROBE//./+}"
}

probe_off() {
	dt-probe -N "$PROBE" off
}

# three_hosts [HOP]...: Make three hosts with boxes on these hops, and an instance.
three_hosts() {
	need_net
	need_bpffs
	need_cgroup2
	instance
	net_up "$@"
}

# marks_at HOST DEVICE...: Mark traced requests that leave by these devices.
marks_at() {
	local said status=0
	said=$(dt-dev -N "$PROBE" -n "$(ns_of "$1")" add "${@:2}" 2>&1) || status=$?
	case $said in
	*'by clsact: No such file or directory'*) skip "needs TCX or clsact: $said" ;;
	esac
	[ "$status" = 0 ] || { echo "$said"; return 1; }
}

# instance: Record the truth and the windows with one clock.
instance() {
	new_instance
	echo 4096 >"$DIR/buffer_size_kb"
	echo mono >"$DIR/trace_clock"
	truth_on
	RECORDED=$PWD/recorded
	record
}

# probe_everywhere OPTION...: Begin a probe that marks at all devices of the three hosts.
probe_everywhere() {
	probe_on "$@"
	marks_at dtc eth0
	marks_at dtm eth0 eth1
	marks_at dts eth0
}

# hosts [-o OPTION...] [HOP]...: Make three hosts with boxes on these hops, and a probe with
# these options that marks at all their devices.
hosts() {
	local options=()
	while [ "${1-}" = -o ]; do
		options+=("$2")
		shift 2
	done
	three_hosts "$@"
	probe_everywhere "${options[@]}" "${ALL[@]}"
}

# answered: Succeed once each host has made the call after its answer, too.
answered() {
	tally "$RECORDED" || :
	[ $((TALLY[T] + TALLY[U])) = $((2 * TALLY[A])) ]
}

# stop_roles: End the roles, so that others can start.
stop_roles() {
	local pid
	eventually answered
	for pid in "$SERVER" ${MIDDLE:+"$MIDDLE"}; do
		kill "$pid"
		wait "$pid" || :
	done
	MIDDLE=
}

# follow NAME...: Add those threads of these clients that send traced requests.
follow() {
	local name
	for name; do
		tids_of "$name" T
	done | dt-pid -N "$PROBE" add
}

# asks TRACED UNTRACED: Run a followed and an unfollowed client at once with these options
# (words; "" for no client). Fail unless all their answers are right.
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

# measure: Filter the trace so far by its windows.
measure() {
	recorded
	dt-window "${BY[@]}" -i "$ID" <all >in || [ $? = 1 ]
	tally all || :
	ASKED="${TALLY[T]} ${TALLY[U]}" MISSED=${TALLY[T]}
	tally in || :
	MISSED=$((MISSED - TALLY[T])) FALSE=${TALLY[U]} AFTER=${TALLY[A]}
	WINDOWS=$(grep -c ": dtB $ID " all) || :
}

# exact T U [HOSTS]: Fail unless so many requests, traced and not, went through so many hosts
# (2), and the windows are exactly those of the traced requests.
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

# state NAME: Print the probe's counter NAME.
state() {
	dt-probe -N "$PROBE" state | sed -n "s/^$1 //p"
}

# counts NAME=NUMBER...: Compare the probe's counters, with - for a space. A guest is so slow
# that hosts take segments for lost and send them twice.
counts() {
	local pair name more text
	dt-probe -N "$PROBE" state >state.out
	read_whole state.out
	for pair; do
		name=${pair%=*}
		[[ $'\n'$text =~ $'\n'"${name//-/ }"\ ([0-9]+)$'\n' ]] || { echo "no $name: $text"; return 1; }
		more=$((BASH_REMATCH[1] - ${pair#*=}))
		[ "${TFS_VARIANT-}$name" != vmmarked-out ] || [ $more -lt 0 ] || more=0
		[ $more = 0 ] || {
			echo "not $pair:"
			dt-probe -N "$PROBE" state
			return 1
		}
	done
}

# is HOP NAME=NUMBER...: Compare the box's counters; segments that were sent again may add to them.
is() {
	local pair again more
	for pair in "${@:2}"; do
		case $pair in
		data* | marked=* | marked_[ab]* | set=* | cleared=*) count_of "$1" again; again=$COUNT ;;
		*) again=0 ;;
		esac
		count_of "$1" "${pair%=*}"
		more=$((COUNT - ${pair#*=}))
		[ $more -lt 0 ] || [ $more -gt "$again" ] || continue
		echo "not $pair:"
		tail -n 1 "box$1.out"
		return 1
	done
}

report() {
	echo "# $*" >&3
}

# ---- followed tasks --------------------------------------------------------------

# keys LETTERS: Print the messages that these marks name, sorted.
keys() {
	sed -n "s/.*: dt[$1] $ID [0-9]* //p" all | sort
}

# every_call MODEL: Use all kinds of calls, with a traced and an untraced client at once.
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
		# each message has the same key where it is sent and where it is read
		keys M >sent
		keys BR >got
		[ "$(wc -l <got)" = $((4 * t)) ]
		[ "$calls" = splice ] || cmp sent got # a splice may be several sends
		! grep -vxFf sent got
		# each request has four messages, and each message is one segment
		counts marked-out=$((4 * t)) marked-in=$((4 * t)) windows=$((2 * t))
	done
}

@test "dt: a server with a process per connection shows all requests of added tasks, with all calls" {
	every_call fork
}

# bats test_tags=long
@test "dt: a server with a thread per connection shows all requests of added tasks, with all calls" {
	every_call thread
}

# bats test_tags=long
@test "dt: a server with a pool of threads shows all requests of added tasks, with all calls" {
	every_call pool
}

@test "dt: without an added task nothing is marked and no window opens" {
	hosts 1 2
	boxes
	serve
	n=$(so_many 100)
	asks "" "-n $n -t 2"
	asks "" "-n 2 -s 300000"
	exact 0 $((2 * n + 2))
	counts marked-out=0 marked-in=0 windows=0
	[ "$(grep -c "dt. $ID " all)" = 0 ]
	boxes_end marked=0 marked_other=0 badsum=0
}

@test "dt: marks large messages, in segments as large as the device accepts" {
	hosts
	n=$(so_many 20)
	for model in fork pool; do
		serve "-m $model" "-m $model"
		asks "-n $n -s 300000" "-n $n -s 300000"
		stop_roles
	done
	exact $((2 * n)) $((2 * n))
	# a late segment that was taken for lost is marked again, and arrives for nothing
	[ "$(state "marked in")" -le "$(state "marked out")" ]
	[ "$(state "marked in")" -ge $((2 * n * 4 * 300000 / 65536)) ]
	report "of $(state "marked out") large segments $(state "marked in") came"
}

@test "dt: without offloads each segment of a large message has the mark, and checksums are right" {
	hosts 1 2
	boxes
	serve
	n=$(so_many 20)
	asks "-n $n -s 300000" ""
	exact "$n" 0
	boxes_end
	for hop in 1 2; do
		is $hop "marked=$(counted $hop data)" marked_other=0 badsum=0 dropped=0 \
			first=2 flows=2
		at_least $hop marked_ab $((n * 300000 / 1460))
		at_least $hop marked_ba $((n * 300000 / 1460))
	done
}

# on_both_families: Serve and ask with IPv4, then with IPv6.
on_both_families() {
	for FAMILY in 4 6; do
		serve
		asks "$@"
		stop_roles
	done
}

@test "dt: on a new connection only the first segment with data is marked, and no handshake segment" {
	hosts 1 2
	boxes
	n=$(so_many 50)
	on_both_families "-n $n -1" ""
	exact $((2 * n)) 0
	boxes_end "data=$((4 * n))" "marked=$((4 * n))" marked_other=0 "flows=$((4 * n))" \
		"first=$((4 * n))" badsum=0
	counts marked-out=$((8 * n)) marked-in=$((8 * n)) windows=$((4 * n))
}

# ---- what networks do --------------------------------------------------------------

# A middle that waits for a lost segment keeps its windows open all that time.
@test "dt: follows requests when 5 percent of the segments get lost on each hop" {
	local seeds=(1 2 3 4 5) seed t=0 n m
	hosts 1 2
	n=$(so_many 40)
	[ "$n" = 40 ] || seeds=(1 2)
	for seed in "${seeds[@]}"; do
		box 1 -p 5 -s "$seed"
		box 2 -p 5 -s $((seed + 100))
		serve '-m thread' '-m pool -w 8'
		asks "-n $n -s 3000 -t 2" "-n $n -s 3000 -t 2"
		stop_roles
		t=$((t + 2 * n))
		exact $t $t
		m=$((4 * t))
		reads_are_sent
		boxes_end badsum=0
		at_least 1 dropped 1
	done
}

# reads_are_sent: Fail unless each of $m messages is read from its first byte on, whatever came
# before that.
reads_are_sent() {
	keys M >sent
	{ keys BR; echo; } >got
	[ "$(uniq sent | wc -l)" = "$m" ]
	run -1 grep -vxFf got sent
}

@test "dt: follows requests over a slow link, where acknowledgements release segments" {
	hosts 2
	box 2 -r 50
	serve
	n=$(so_many 20)
	asks "-n $n -s 100000" "-n $n -s 100000"
	exact "$n" "$n"
	box_ends 2
	is 2 badsum=0 dropped=0 marked_other=0
	at_least 2 marked $((2 * n * 100000 / 1460))
}

@test "dt: follows requests when data complete a handshake whose last segment got lost" {
	hosts 1 2
	boxes -a
	n=$(so_many 20)
	on_both_families "-n $n -1" "-n $n -1"
	exact $((2 * n)) $((2 * n))
	boxes_end "dropped=$((4 * n))" "flows=$((8 * n))" "first=$((4 * n))" marked_other=0 badsum=0
}

# The middle is followed, because the first hop has no such box.
@test "dt: a box that clears the mark ends the trace there, and the data are right" {
	hosts 2
	box 2 -c
	serve
	n=$(so_many 50)
	asks "-n $n" "-n $n"
	eventually truly A $((4 * n))
	measure
	[ "$ASKED" = "$((4 * n)) $((4 * n))" ]
	# all calls of the server, and none of the middle
	[ "$MISSED $FALSE $AFTER $WINDOWS" = "$((2 * n)) 0 0 $n" ]
	box_ends 2
	is 2 "cleared=$n" "marked=$n" "marked_ab=$n" badsum=0
	counts marked-out=$((3 * n)) marked-in=$((2 * n)) windows="$n"
}

@test "dt: a box that drops marked segments lets nothing of a traced request pass" {
	hosts 2
	box 2 -m
	serve
	asks "" "-n 5"
	client one -n 5
	follow one
	go one
	# the request, and the request again
	eventually told 2 dropped 2
	box_ends 2
	is 2 "dropped=$(counted 2 marked)" marked_ba=0
	# all segments of the untraced client have passed
	[ "$(($(counted 2 data_ab) - $(counted 2 dropped)))" = 5 ]
	gone "${CLIENTS[one]}" && false
	measure
	[ "$ASKED" = "2 20" ] || [ "$ASKED" = "1 20" ]
}

@test "dt: with -1 a segment that is dropped for its mark comes through unmarked" {
	hosts -o -1 2
	box 2 -m
	serve
	asks "-n 5" "-n 5"
	box_ends 2
	# each request is lost once, and the answer has no mark: the server does not know of any
	is 2 marked_ab=5 marked_ba=0 dropped=5 badsum=0
	[ "$(counted 2 data_ab)" -ge 15 ]
	eventually truly A 20
	measure
	[ "$ASKED $MISSED $FALSE $AFTER $WINDOWS" = "20 20 10 0 0 5" ]
}

@test "dt: with -1 each segment is marked once if nothing is lost" {
	hosts -o -1 1 2
	boxes
	serve
	n=$(so_many 20)
	asks "-n $n" "-n $n"
	asks "-n 2 -s 300000" "-n 2 -s 300000"
	exact $((n + 2)) $((n + 2))
	boxes_end marked_other=0 badsum=0
	[ "$(counted 1 marked)" -ge $((2 * n + 4 * 300000 / 1460)) ]
}

# ---- whose marks are believed ---------------------------------------------------------

# marked_by BOX REQUESTS -f CIDR...: Mark everything that dtc sends, which runs no tool; the
# server is on dtm.
marked_by() {
	probe_on "${@:3}"
	box 1 -b -o ab
	server_on dtm
	forget
	asks "" "-n $1"
	eventually truly A "$1"
	box_ends 1
	kill "$SERVER"
	wait "$SERVER" || :
	is 1 "set=$1" badsum=0
	recorded
	dt-window -i "$ID" <all >in || [ $? = 1 ]
	[ "$(truths U all)" = $((2 * $1)) ]
	[ "$(truths U in)" = "$2" ] && [ "$(truths A in)" = 0 ]
	windows=$(grep -c "dtB $ID " all) || :
	# a probe that believes every address may see other tests on this machine
	case $* in
	*/0*) [ "$windows" -ge $(($2 / 2)) ] ;;
	*) [ "$windows" = $(($2 / 2)) ] ;;
	esac
}

# marks_of_ten [not] -f CIDR...: Fail unless ten marks are believed, or not.
# A probe that believes all addresses of a family may see and count marks of other tests as well.
marks_of_ten() {
	local n=10 all=
	[ "$1" != not ] || { n=0 && shift; }
	[[ $* != */0* ]] || all=yes
	marked_by 10 $((2 * n)) "$@"
	if [ -z "$all" ]; then
		counts marked-in=$n windows=$n marked-out=0
	elif [ $n = 0 ]; then
		counts marked-out=0
	fi
	# other tests on this machine may set marks, which this probe does not believe
	[ $n = 10 ] || [ "$(state "not believed")" -ge 10 ]
	probe_off
}

@test "dt: believes marks of the named addresses, and of no other address" {
	three_hosts 1
	marks_of_ten not
	marks_of_ten -f "10.$NET.1.1"
	marks_of_ten -f "10.$NET.1.1/32"
	marks_of_ten not -f "10.$NET.1.0/32" -f "10.$NET.1.2/31"
	marks_of_ten -f "10.$NET.1.0/31"
	marks_of_ten -f 0.0.0.0/0
	marks_of_ten -f ::/0
	# IPv4 addresses match none of these; tests beside this one have other nets of 10.0.0.0/8
	marks_of_ten not -f "fd$NET::/16" -f 192.0.2.0/24
	FAMILY=6
	marks_of_ten -f "fd$NET:1::1"
	marks_of_ten -f "fd$NET:1::/64"
	marks_of_ten not -f "fd$NET:1::2" -f "fd$NET:2::/64" -f 0.0.0.0/0
	marks_of_ten -f "fd$NET:1::3" -f "fd$NET:1::/127"
	marks_of_ten -f ::/0
}

# ---- other ways -------------------------------------------------------------------------

@test "dt: follows requests over IPv6" {
	FAMILY=6
	hosts
	serve
	n=$(so_many 100)
	asks "-n $n" "-n $n"
	exact "$n" "$n"
	counts marked-out=$((4 * n)) marked-in=$((4 * n)) windows=$((2 * n))
	asks "-n 3 -s 300000" "-n 3 -s 300000"
	exact $((n + 3)) $((n + 3))
}

# on_lo ADDRESS: Run client, middle and server on one host.
on_lo() {
	start_in dtc server "$PROG/chain" -g "$TRUTH" server "$1" 0
	SERVER=$PID
	start_in dtc middle "$PROG/chain" -g "$TRUTH" middle "$1" 0 "$1" \
		"$(sed -n 's/^ready //p' server.out)"
	MIDDLE=$PID
	TARGET=("$1" "$(sed -n 's/^ready //p' middle.out)")
}

@test "dt: marks IPv6 segments of more than 64 KiB, whose length is in an extension header" {
	FAMILY=6
	NET_MTU=40000 # a message has at least two segments of this size
	hosts
	serve
	n=$(so_many 20)
	asks "-n $n -s 300000" "-n $n -s 300000"
	exact "$n" "$n"
	report "$(state "marked out") segments of $((n * 4)) messages of 300000 bytes"
}

# This test is alone because once, beside other tests, one of 400 windows was not seen.
# bats test_tags=alone
@test "dt: follows requests on one host, over its loopback device" {
	need_net veth
	need_bpffs
	need_cgroup2
	instance
	net_up
	probe_on -f 127.0.0.1 -f ::1
	marks_at dtc lo
	n=$(so_many 100)
	on_lo 127.0.0.1
	asks "-n $n" "-n $n"
	exact "$n" "$n"
	counts marked-out=$((4 * n)) marked-in=$((4 * n)) windows=$((2 * n))
	stop_roles
	on_lo ::1
	asks "-n $n -1" "-n $n"
	exact $((2 * n)) $((2 * n))
	asks "-n 3 -s 300000" "-n 3 -s 300000"
	exact $((2 * n + 3)) $((2 * n + 3))
}

# ---- on and off at any time ------------------------------------------------------------

# steps NAME: Start client -i of the last serve, which is connected to the middle, and the
# middle to the server.
steps() {
	client "$1" -e -i "${@:2}"
	go "$1" 1
}

# steps_end: Let the clients one and two, as far as they are there, end.
steps_end() {
	local name
	for name in one two; do
		[ ! -e $name.go ] || { go $name 0 && client_ends $name && rm $name.go; }
	done
}

# fresh: Forget all requests that were made until now.
fresh() {
	eventually truly A "$1"
	forget
}

@test "dt: follows a task that is added, removed and added during a connection at once" {
	hosts 1 2
	boxes
	serve '-m thread' '-m thread'
	steps one
	n=$(so_many 50)
	fresh 2
	out=0
	for round in 1 2 3; do
		follow one
		go one "$n"
		exact "$n" 0
		out=$((out + 4 * n))
		counts marked-out=$out marked-in=$out windows=$((out / 2))
		dt-pid -N "$PROBE" remove "${CLIENTS[one]}"
		go one "$n"
		eventually truly A $((4 * n))
		measure
		# the requests from before, and none of these
		[ "$ASKED $MISSED $WINDOWS" = "$((8 * n)) 0 $((4 * n)) $((2 * n))" ]
		counts marked-out=$out marked-in=$out windows=$((out / 2))
		forget
	done
	steps_end
	# and each marked request is marked on the wire
	boxes_end "marked=$((out / 2))" marked_other=0 badsum=0
}

@test "dt: follows connections that are older than the probe completely as well" {
	three_hosts
	for model in fork thread pool loop; do
		serve "-m $model" "-m $model"
		steps one
		steps two -u
		probe_everywhere "${ALL[@]}"
		n=$(so_many 50)
		fresh 4
		follow one
		if [ "$model" = loop ]; then
			# one after the other: a loop that turns to another client opens
			# more windows ("dt: an event loop that serves another client ...")
			go two "$n"
		else
			echo "$n" >two.go
		fi
		go one "$n"
		exact "$n" "$n"
		counts marked-out=$((4 * n)) marked-in=$((4 * n)) windows=$((2 * n))
		paired $((4 * n))
		probe_off
		go one "$n"
		steps_end
		eventually truly A $((6 * n))
		[ "$(grep -c ": dtB $ID " all)" = $((2 * n)) ]
		stop_roles
		forget
	done
}

# The server's answers come unmarked, and the middle's windows go on when it has read them.
@test "dt: an unmarked answer on a connection older than the probe ends no window" {
	three_hosts 2
	box 2 -c
	n=$(so_many 20)
	for model in thread loop; do
		serve "-m $model" "-m $model"
		steps one
		probe_everywhere "${ALL[@]}"
		fresh 2
		follow one
		go one "$n"
		eventually truly A $((2 * n))
		measure
		# of the server's, all; of the middle's, none
		[ "$ASKED $MISSED $FALSE $AFTER $WINDOWS" = "$((4 * n)) 0 $((2 * n)) 0 0 $n" ]
		steps_end
		stop_roles
		probe_off
		forget
	done
}

# bats test_tags=long
@test "dt: no answer is wrong if the probe goes on and off under load" {
	need_net
	need_bpffs
	need_cgroup2
	net_up 1
	box 1
	serve '-m thread' '-m loop'
	client one -e -i -t 4
	client two -e -i -s 200000
	rounds=$(($(so_many 60) / 6))
	for ((i = 0; i < rounds; i++)); do
		so_many 300 >one.go
		echo 3 >two.go
		probe_everywhere "${ALL[@]}"
		follow one two
		so_many 300 >one.go
		echo 3 >two.go
		eventually marked 5
		probe_off
	done
	for name in one two; do
		eventually rounds_done $name $((2 * rounds))
		clients_end $name
	done
	box_ends 1
	is 1 marked_other=0 badsum=0 dropped=0
	at_least 1 marked 5
}

# marked N: Succeed if at least N segments left with a mark.
marked() {
	[ "$(state "marked out")" -ge "$1" ]
}

# ---- event loops and pools -----------------------------------------------------------

# A loop that turns from one request to another begins a new window. The number of these
# windows does not matter: no call of a traced client may be outside, and no call of another
# client or after an answer inside.
# right T U: Fail unless this many requests, through two hosts, are distinguished.
right() {
	eventually truly A $((2 * ($1 + $2)))
	measure
	[ "$ASKED $MISSED $FALSE $AFTER" = "$((4 * $1)) $((4 * $2)) 0 0 0" ] || {
		echo "missed, false, after: $MISSED $FALSE $AFTER of $ASKED"
		return 1
	}
}

# rounds_done NAME N: Succeed when a client with -i has reported N rounds.
rounds_done() {
	[ "$(grep -c '^done' "$1.out")" -ge "$2" ]
}

# loops_of_six: six clients' connections at once, half of them traced; older: they are there
# before the probe
loops_of_six() {
	steps_of loop loop "${1-}" -t 3
	n=$(so_many 100)
	fresh 12
	follow one
	echo "$n" >two.go
	go one "$n"
	eventually rounds_done two 2
	right $((3 * n)) $((3 * n))
	steps_end
}

# steps_of SERVER MIDDLE OLDER OPTION...: Make three hosts with these models and a probe, which is
# older than the connections of the clients one and two if OLDER is empty.
steps_of() {
	three_hosts
	[ -n "$3" ] || probe_everywhere "${ALL[@]}"
	serve "-m $1" "-m $2"
	steps one "${@:4}"
	steps two -u "${@:4}"
	[ -z "$3" ] || probe_everywhere "${ALL[@]}"
}

@test "dt: follows requests of event loops that keep their connections to the server" {
	loops_of_six
}

# bats test_tags=long
@test "dt: follows requests of event loops whose connections are all older than the probe" {
	loops_of_six older
}

# stopped PID: Succeed once all its threads are stopped.
stopped() {
	[ "$(grep -h '^State:' "/proc/$1/task/"*/status | grep -vc 'T (stopped)')" = 0 ]
}

# by_turns T U: Let the client one send a request, and then the client two, while the server is
# stopped: n times. T or U is the kind of the second client's request.
by_turns() {
	local i each=4
	[ "$1" = U ] || each=8
	for ((i = 0; i < n; i++)); do
		kill -STOP "$SERVER"
		eventually stopped "$SERVER"
		echo 1 >one.go
		eventually truly T $((each * i + 1))
		echo 1 >two.go
		eventually truly "$1" $((each * i + each / 4))
		kill -CONT "$SERVER"
		eventually rounds_done one $((i + 2))
		eventually rounds_done two $((i + 2))
	done
}

# turns [older]: Let the middle, a loop, turn to the untraced client whenever the server,
# which is stopped, has the traced client's request.
turns() {
	steps_of thread loop "${1-}"
	n=$(so_many 5)
	fresh 4
	follow one
	by_turns U
	right "$n" "$n"
	# the server's window, and the middle's before and after the other request
	[ "$WINDOWS" = $((3 * n)) ]
	steps_end
}

@test "dt: an event loop that serves another client meanwhile has no window after its answer" {
	turns
}

# bats test_tags=long
@test "dt: an event loop has no window after its answer on connections older than the probe" {
	turns older
}

@test "dt: an event loop that serves two traced clients at once has no window after an answer" {
	hosts
	serve '-m thread' '-m loop'
	steps one
	steps two
	n=$(so_many 5)
	fresh 4
	follow one two
	by_turns T
	right $((2 * n)) 0
	steps_end
}

# A connection that is opened in a window belongs to the traced request. A connection that
# is opened outside may carry a traced request later. When a loop sends on it, the request
# probe cannot know that. So the test prints how often this happens, and does not check it.
# With -e the window has ended by then.
@test "dt: follows requests of event loops with a new connection to the server for each request" {
	hosts
	n=$(so_many 100)
	serve '-m loop' '-m loop'
	asks "-n $n -1 -t 3" "-n $n -1 -t 3"
	eventually truly A $((12 * n))
	measure
	report "new connections of a loop: missed $MISSED, false $FALSE of $ASKED"
	[ "$MISSED" = 0 ]
	# a request that is alone is assigned correctly
	stop_roles
	forget
	serve '-m loop' '-m loop'
	asks "-n $n -1" ""
	right "$n" 0
	asks "" "-n $n -1"
	right "$n" "$n"
}

@test "dt: with -e it separates requests of event loops with new connections" {
	hosts -o -e
	n=$(so_many 100)
	serve '-m loop' '-m loop'
	asks "-n $n -1 -t 3" "-n $n -1 -t 3"
	right $((3 * n)) $((3 * n))
	asks "-n $n -t 3" "-n $n -t 3"
	right $((6 * n)) $((6 * n))
}

@test "dt: with -m, the rules of the kernel module, event loops mix up requests" {
	hosts -o -m
	n=$(so_many 100)
	serve '-m thread' '-m thread'
	asks "-n $n" "-n $n"
	exact "$n" "$n"
	stop_roles
	forget
	serve '-m loop' '-m loop'
	asks "-n $n -t 3" "-n $n -t 3"
	eventually truly A $((12 * n))
	measure
	report "a loop by the module's rules: missed $MISSED, false $FALSE of $ASKED"
}

# bats test_tags=long
@test "dt: follows the right half of 64 connections at once" {
	hosts
	n=$(so_many 20)
	for model in thread 'pool -w 16'; do
		serve "-m $model" "-m $model"
		client "both$n" -b -t 64 -n "$n"
		follow "both$n"
		[ "$(tids_of "both$n" T | wc -l)" = 32 ]
		go "both$n"
		client_ends "both$n"
		stop_roles
		exact $((32 * n)) $((32 * n))
		counts marked-out=$((4 * 32 * n)) marked-in=$((4 * 32 * n))
		forget
		probe_off
		rm "both$n.go"
		probe_everywhere "${ALL[@]}"
	done
}

# no_task: Succeed when all windows have ended and all added threads are gone.
no_task() {
	[ -z "$(dt-pid -N "$PROBE" list)" ]
}

# drained: Succeed if the stream has taken all events.
drained() {
	run -1 grep -h '^entries: [^0]' "$DIR"/per_cpu/cpu*/stats
}

# spans_of REQUESTS [CONNECTIONS]: Record these requests of 200 connections at once, and write the
# spans of the joined trace to "spans", as lines: TRACE SPAN PARENT KIND THREAD NOTE.
spans_of() {
	local connections=${2:-200} each stream
	each=$(($1 / connections))
	stop_recorder
	echo 32768 >"$DIR/buffer_size_kb"
	serve "-m thread" "-m thread"
	client many -t "$connections" -n $each
	follow many
	# it looks up the names of threads while they live: that is faster
	TFS_INSTANCE=$INSTANCE dt-probe -N "$PROBE" marks -- tfs-catpipe -jd >lines &
	stream=$!
	echo barrier >"$DIR/trace_marker"
	eventually grep -q barrier lines
	go many
	client_ends many
	eventually no_task
	echo 0 >"$DIR/tracing_on"
	eventually drained
	kill -TERM "$stream"
	wait "$stream"
	stop_roles
	[ "$(grep '"what":"dtE"' lines | grep -vc '"key":"0x0",')" = $((2 * $1)) ]
	! grep -q '"lost"' lines
	sed '/barrier/d; s/}$/,"host":"all"}/' lines | tfs-export -nf spans >otlp
	python3 - >spans <<-'EOF'
		import json
		for line in open("otlp"):
		    for s in (s for r in json.loads(line)["resourceSpans"] for s in r["scopeSpans"][0]["spans"]):
		        said = {a["key"]: a["value"] for a in s["attributes"]}
		        notes = [key for key in said if key == "tfs.no_sender"]
		        thread = said.get("thread.id", {}).get("intValue", "-")
		        print(s["traceId"], s["spanId"], s.get("parentSpanId", "-"), s["kind"], thread, *notes)
	EOF
}

# spans_are REQUESTS NAME=NUMBER...: Fail unless "spans" has six spans for each request, none twice
# or with a parent that is missing or of another trace, and these numbers:
#	roots, traces, uneven   spans without parent; traces; those that have not six spans
#	noted, strange          notes of a missing sender; those not of a window without parent
#	windows, pairs, mixed   windows; pairs of a sending and a serving thread; messages that
#	                        another thread served than the one that serves this sender
spans_are() {
	local pair
	[ "$(grep -c . spans)" = $((6 * $1 + 1)) ] # and the count of events without a duration
	awk '$4 != 1 {
		spans[$2]++; parent[$2] = $3; trace[$2] = $1; thread[$2] = $5; kind[$2] = $4
		count[$1]++; windows += $4 == 2
		if (NF > 5) { noted++; strange += $4 != 2 || $3 != "-" }
	} END {
		for (s in spans) {
			bad += spans[s] != 1 || (parent[s] != "-" && (!(parent[s] in spans) ||
				trace[parent[s]] != trace[s]))
			roots += parent[s] == "-"
			if (kind[s] != 2)
				continue
			from = thread[parent[s]]
			to = thread[s]
			mixed += (from in receiver && receiver[from] != to) ||
				(to in sender && sender[to] != from)
			receiver[from] = to
			sender[to] = from
		}
		for (t in count) { traces++; uneven += count[t] != 6 }
		for (t in sender) pairs++
		printf "bad=%d\nroots=%d\ntraces=%d\nuneven=%d\nnoted=%d\nstrange=%d\nwindows=%d\npairs=%d\nmixed=%d\n",
			bad, roots, traces, uneven, noted, strange, windows, pairs, mixed
	}' spans >numbers
	for pair in bad=0 strange=0 "${@:2}"; do
		grep -qx "$pair" numbers || { echo "not $pair:"; cat numbers; return 1; }
	done
}

# whole REQUESTS: Fail unless "spans" has so many traces: client, window and its two messages,
# window and its message. The threads of a connection show whether the answer is right.
whole() {
	spans_are "$1" uneven=0 mixed=0 noted=0 roots="$1" traces="$1" windows=$((2 * $1)) pairs=400
}

# bats test_tags=long
@test "dt: 20000 requests of 200 connections give a trace of six spans each, without an orphan" {
	need_tool python3
	n=$(($(so_many 20000) / 200 * 200))
	hosts
	spans_of $n
	whole $n
}

# ---- translated addresses ----------------------------------------------------------------

# rewrite HOST: Give the host the rules of nft from standard input; T is the family of a table.
rewrite() {
	local family=ip
	[ "$FAMILY" = 4 ] || family=ip6
	sed "s/^table T /table $family /; s/T daddr/$family daddr/" >rules
	in_ns "$1" nft -f - <rules || skip "needs nft with NAT and synproxy"
}

# at ADDRESS PORT: Print them as nft has them.
at() {
	if [ "$FAMILY" = 6 ]; then echo "[$1]:$2"; else echo "$1:$2"; fi
}

# served_at_port_7: dts has its server at port 7777, and others see port 7 (DNAT).
served_at_port_7() {
	SERVER_PORT=7777 SERVER_SEEN="$(address dts) 7"
	rewrite dts <<-EOF
		table T tfs {
			chain in {
				type nat hook prerouting priority -100
				tcp dport 7 redirect to :7777
			}
		}
	EOF
}

# masked_by HOST: Change the source ports of all that the host sends (SNAT).
masked_by() {
	rewrite "$1" <<-EOF
		table T mask {
			chain out {
				type nat hook postrouting priority 100
				meta l4proto tcp masquerade to :${2:-20000-30000} random
			}
		}
	EOF
}

# service_on HOST ADDRESS TARGET PORT: Redirect packets of the host to port 80 of the address to
# the target, and let them come from another port of the host.
service_on() {
	rewrite "$1" <<-EOF
		table T service {
			chain out {
				type nat hook output priority -100
				T daddr $2 tcp dport 80 dnat to $(at "$3" "$4")
			}
		}
	EOF
	masked_by "$1"
	"$PROG/netns" route "$MARK-$1" "$2/$([ "$FAMILY" = 6 ] && echo 128 || echo 32)" "$3"
}

# services: Middle and server have an address of a service each, as a ClusterIP of Kubernetes.
services() {
	local one=10.$NET.96.1 two=10.$NET.96.2
	[ "$FAMILY" = 4 ] || one=fd$NET:96::1 two=fd$NET:96::2
	MIDDLE_PORT=7776 MIDDLE_SEEN="$one 80"
	SERVER_PORT=7777 SERVER_SEEN="$two 80"
	service_on dtc "$one" "$(address dtm)" 7776
	service_on dtm "$two" "$(address dts)" 7777
}

# paired N: Fail unless so many messages, each with a key of its own, were sent and read.
paired() {
	measure
	keys M >sent
	keys BR >got
	cmp sent got
	[ "$(uniq sent | wc -l)" = "$1" ]
}

@test "dt: both ends of a message have one key, whichever addresses and ports are translated" {
	need_tool nft
	n=$(so_many 50)
	hosts
	for kind in served_at_port_7 'masked_by dtm' services; do
		for FAMILY in 4 6; do
			$kind
			serve '-m thread' '-m thread'
			asks "-n $n -t 2" "-n $n -t 2"
			stop_roles
			exact $((2 * n)) $((2 * n))
			paired $((8 * n))
			for host in dtc dtm dts; do
				in_ns $host nft flush ruleset
			done
			unset SERVER_PORT SERVER_SEEN MIDDLE_PORT MIDDLE_SEEN
			forget
		done
	done
}

@test "dt: keys are those of translated connections when 5 percent of the segments get lost" {
	need_tool nft
	hosts 1 2
	n=$(so_many 40)
	services
	box 1 -p 5 -s 1
	box 2 -p 5 -s 101
	serve '-m thread' '-m pool -w 8'
	asks "-n $n -s 3000 -t 2" "-n $n -s 3000 -t 2"
	stop_roles
	exact $((2 * n)) $((2 * n))
	m=$((8 * n))
	reads_are_sent
	boxes_end
	at_least 1 dropped 1
	at_least 1 again 1
	at_least 2 dropped 1
}

# Without TIME_WAIT a host can use a port again as soon as its connection has ended. On a slow host
# that takes a moment, so there is one port for every five requests.
@test "dt: connections that use the same ports again, also translated ports, have other keys" {
	need_tool nft
	hosts
	n=$(so_many 100)
	services
	for host in dtc dtm; do
		in_ns $host nft flush table ip mask
		masked_by $host 20000-$((20001 + n / 5))
		in_ns $host sh -c 'echo 0 >/proc/sys/net/ipv4/tcp_max_tw_buckets &&
			echo 5000 '$((5001 + n / 5))' >/proc/sys/net/ipv4/ip_local_port_range' ||
			skip "needs /proc/sys/net/ipv4"
	done
	serve '-m thread' '-m thread'
	asks "-n $n -1" ""
	exact "$n" 0
	paired $((4 * n))
}

# Answers come from the address of the service, and requests from that of the host.
@test "dt: believes marks by the addresses that the sockets see, also if they are translated" {
	need_tool nft
	three_hosts
	probe_everywhere -f "10.$NET.0.0/18" # without 10.$NET.96.1 and 2
	n=$(so_many 50)
	services
	serve '-m thread' '-m thread'
	asks "-n $n" "-n $n"
	exact "$n" "$n"
	counts marked-out=$((4 * n)) marked-in=$((2 * n)) windows=$((2 * n))
	[ "$(state "not believed")" -ge $((2 * n)) ]
	probe_off
	probe_everywhere -f "10.$NET.0.0/16"
	asks "-n $n" ""
	counts marked-out=$((4 * n)) marked-in=$((4 * n)) windows=$((2 * n))
}

@test "dt: a box that changes sequence numbers separates the two ends, and both say so" {
	need_tool python3
	n=$(($(so_many 2000) / 200 * 200))
	hosts 2
	box 2 -i 4000000000
	spans_of $n
	box_ends 2
	is 2 badsum=0 "marked=$((2 * n))"
	orphaned $n
}

# orphaned REQUESTS: Fail unless the server's windows have no parent and say so, and no others.
orphaned() {
	spans_are "$1" roots=$((2 * $1)) noted="$1"
}

# A proxy of the kernel shakes hands for the server, so both ends know other numbers.
# bats test_tags=long
@test "dt: after synproxy a window has no parent, says so, and loses none of its spans" {
	need_tool python3 nft
	n=$(($(so_many 2000) / 200 * 200))
	hosts
	rewrite dts <<-EOF
		table ip proxy {
			chain first {
				type filter hook prerouting priority raw
				tcp dport 7777 tcp flags syn notrack
			}
			chain in {
				type filter hook input priority 0
				tcp dport 7777 ct state invalid,untracked synproxy mss 1460 wscale 7 \
					timestamp sack-perm
				ct state invalid drop
			}
		}
	EOF
	in_ns dts sh -c 'echo 0 >/proc/sys/net/netfilter/nf_conntrack_tcp_loose' ||
		skip "needs /proc/sys/net/netfilter"
	SERVER_PORT=7777 spans_of "$n"
	orphaned $n
}

# many_through RULES...: 20000 requests over three hosts, translated by these rules.
many_through() {
	local n
	need_tool python3 nft
	n=$(($(so_many 20000) / 200 * 200))
	hosts
	"$@"
	spans_of $n
	whole $n
}

# bats test_tags=long
@test "dt: 20000 requests to a translated port (DNAT) give a trace of six spans each" {
	many_through served_at_port_7
}

# bats test_tags=long
@test "dt: 20000 requests from translated ports (SNAT) give a trace of six spans each" {
	many_through masked_by dtm
}

# bats test_tags=long
@test "dt: 20000 requests to the addresses of services (DNAT and SNAT) give a trace of six spans each" {
	many_through services
}

# A thread's window ends where the thread hands the request on: only -g follows the request.
@test "dt: with -g it follows a process whose threads pass on a request" {
	hosts -o -g
	echo 1 >"$DIR/options/record-tgid"
	record dt-probe -N "$PROBE" marks --
	BY=(-g)
	n=$(so_many 100)
	for model in thread hand; do
		serve "-m $model" "-m $model"
		asks "-n $n" ""
		asks "" "-n $n"
		stop_roles
		eventually truly A $((4 * n))
		exact "$n" "$n"
		forget
	done
	counts marked-out=$((8 * n)) marked-in=$((8 * n)) windows=$((4 * n))
	# two requests at once are one request to the process
	serve '-m thread' '-m thread'
	asks "-n $((5 * n))" "-n $((5 * n)) -t 2"
	eventually truly A $((30 * n))
	measure
	report "processes that serve both at once: missed $MISSED, false $FALSE of $ASKED"
	# by the module's rules the mark spreads to the other client's answers, and further
	stop_roles
	probe_off
	forget
	probe_everywhere -g -m "${ALL[@]}"
	serve '-m thread' '-m thread'
	asks "-n $((5 * n))" "-n $((5 * n)) -t 2"
	eventually truly A $((30 * n))
	measure
	report "the same with -m: missed $MISSED, false $FALSE of $ASKED"
}

# ---- numbers that come around, and many -------------------------------------------------

# This concerns the segments that client and middle send. The same programs handle the
# segments that they receive.
# bats test_tags=long
@test "dt: follows requests when sequence numbers wrap around" {
	local near=4294967040
	hosts 1 2
	n=$(so_many 20)
	for FAMILY in 4 6; do
		boxes
		serve '' "-q $near"
		# the fourth request is followed by a new connection
		asks "-q $near -n $n" "-q $near -n $n"
		stop_roles
		boxes_end "marked=$((2 * n))" badsum=0 "data=$((4 * n))"
		# inside a message, and with some segments lost
		boxes -p 5 -s "$FAMILY"
		serve '-m thread' '-m thread -q 4294960000'
		asks "-q 4294960000 -s 3000 -n 8 -t 2" "-q 4294960000 -s 3000 -n 8 -t 2"
		asks "-q 4294900000 -s 100000" "-q 4294900000 -s 100000"
		stop_roles
		boxes_end
		exact $((n + 17)) $((n + 17))
		m=$((4 * (n + 17)))
		reads_are_sent
		forget
	done
}

# map NAME: Print the id of the map NAME of this probe.
map() {
	"$PROG/bpfobjects" in "$(pins)" | sed -n "s/^map \([0-9]*\) $1$/\1/p"
}

few() {
	[ "$("$PROG/bpfobjects" entries "$1")" -le "$2" ]
}

# bats test_tags=long
@test "dt: forgets a marked range before the sequence numbers return to it" {
	[ "$SLOW" = 1 ] || skip "needs a machine that moves 4 GiB while one waits"
	hosts
	server_on dtm
	client c -i -s 40000000
	follow c
	go c 1
	tids_of c T | dt-pid -N "$PROBE" remove
	measure
	[ "$WINDOWS" = 1 ]
	for part in {1..8}; do
		go c 14
	done
	measure
	[ "$WINDOWS" = 1 ]
	clients_end c
}

# bats test_tags=long
@test "dt: follows requests after very many connections, and with full maps" {
	hosts
	marks_at dtc lo
	# a second after a connection's end its port can be used again
	in_ns dtc sh -c 'echo 1 >/proc/sys/net/ipv4/tcp_tw_reuse &&
		echo "1024 65535" >/proc/sys/net/ipv4/ip_local_port_range' ||
		skip "needs /proc/sys/net/ipv4"
	echo 0 >"$DIR/tracing_on"
	n=$(so_many 70000)
	server_on dtc -m pool -l 0
	asks "-1 -n $((n / 2)) -t 2" ""
	kill "$SERVER"
	[ "$(state windows)" = "$n" ]
	[ "$(state "marked in")" = $((2 * n)) ]
	# the probe forgets a socket's state with the socket
	received=$(map dt_received)
	sent=$(map dt_sent)
	for map in "$received" "$sent"; do
		eventually few "$map" 100
		"$PROG/bpfobjects" fill "$map" 100000
		entries=$("$PROG/bpfobjects" entries "$map")
		[ "$entries" -le 65536 ] && [ "$entries" -ge 60000 ]
	done
	few "$(map dt_pids)" 0
	echo 1 >"$DIR/tracing_on"
	forget
	n=$(so_many 100)
	serve '-m thread' '-m thread'
	asks "-n $n -t 4" "-n $n -t 4"
	asks "-n $n -1" "-n $n -1"
	exact $((5 * n)) $((5 * n))
}

# ---- off removes everything ---------------------------------------------------------------

no_device() {
	[ "$(in_ns "$1" grep -c "$2:" /proc/net/dev)" = 0 ]
}

@test "dt: a marking device can go, and so can a host with all its devices" {
	hosts
	NETS+=(dtx)
	"$PROG/netns" add "$MARK-dtx"
	net_pair dtc eth9 dtx eth0
	net_addresses dtc eth9 9 1
	net_addresses dtx eth0 9 2
	marks_at dtc eth9
	marks_at dtx eth0 lo
	start_in dtx other "$PROG/chain" -m thread server "10.$NET.9.2" 0
	other=$PID
	TARGET=("10.$NET.9.2" "$(sed -n 's/^ready //p' other.out)")
	client one -e -i -s 100000
	follow one
	echo 1000000 >one.go
	eventually marked 100
	# the other end of the link goes with the host
	kill -KILL "$other"
	wait "$other" || :
	"$PROG/netns" del "$MARK-dtx"
	eventually no_device dtc eth9
	kill -KILL "${CLIENTS[one]}" 2>/dev/null || :
	wait "${CLIENTS[one]}" || :
	# the other devices still work, and a new device can be added
	forget
	serve
	n=$(so_many 50)
	asks "-n $n" "-n $n"
	exact "$n" "$n"
	"$PROG/bpfobjects" in "$(pins)" >objects
	probe_off
	eventually nothing_of objects
}

# nothing_of FILE: Succeed if none of the objects in FILE exists.
nothing_of() {
	local status=0
	from "$1" "$PROG/bpfobjects" still || status=$?
	[ "$status" = 1 ]
}

@test "dt: after off no map, program or link is left, even if another process uses one" {
	hosts
	serve
	client one -e -i
	follow one
	go one 5
	"$PROG/bpfobjects" in "$(pins)" >objects
	for what in 'map [0-9]* dt_pids' 'program [0-9]* dt_mark' 'link [0-9]* of dt_rx'; do
		grep -qx "$what" objects
	done
	probe_off
	eventually nothing_of objects
	[ ! -e "$(pins)" ]
	outputs 1 0 dt-probe -N "$PROBE"
	go one 5
	clients_end one
}

# Print the objects that were made since, and that belong to no pinned probe.
orphans() {
	"$PROG/bpfobjects" still <candidates >now || [ $? = 1 ]
	{ strangers_objects; echo; } >pinned
	! grep -vxFf pinned now
}

# bats test_tags=long
@test "dt: off removes everything that dt-probe on left, killed at any step" {
	need_bpffs
	need_cgroup2
	need_tracefs
	{ "$PROG/bpfobjects" all; echo; } >before
	probe_on "${ALL[@]}"
	probe_off
	"$PROG/atstep" -o steps 9 100000 "$TREE/bin/dt-probe" -N "$PROBE" "${ALL[@]}" on
	probe_off
	last=$(cat steps)
	# most steps read the kernel's structures
	for step in 1 20 $((last / 3)) $(seq $((last - 100)) $((100 / $(so_many 50))) "$last"); do
		status=0
		"$PROG/atstep" -o steps 9 "$step" "$TREE/bin/dt-probe" -N "$PROBE" "${ALL[@]}" on ||
			status=$?
		# there may be fewer steps, because the kernel may ask for a load again
		[ "$status" = 137 ] || { [ "$status" = 0 ] && [ "$(cat steps)" -lt "$step" ]; }
		if [ -d "$(pins)" ]; then
			"$PROG/bpfobjects" in "$(pins)" >objects
			found=$((${found-0} + 1))
			probe_off
			eventually nothing_of objects
		else
			run -1 dt-probe -N "$PROBE" off
		fi
		[ ! -e "$(pins)" ]
	done
	[ "$found" -ge 4 ]
	"$PROG/bpfobjects" all | grep -vxFf before >candidates || :
	eventually orphans
}

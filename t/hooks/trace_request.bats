#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2034,SC2153,SC2154 # each test is a process of its own; t/net.bash uses them
# trace_request: shows what happens for the requests of the named tasks on every host, and
# nothing else; everything that a session made goes with it, however it ends
#
# The hosts are network namespaces of one kernel, so one session can see all of
# them, or each session can see some.
# parts: 3

load ../helper
load ../net

MANAGER=$TREE/trace-hooks/distributed/manager
BPFFS=${TRACER_SYSFS_PATH:-/sys}/fs/bpf
# a session sees all hosts of the machine, and believes the hosts of this test
own_net
FROM="--from 10.$NET.0.0/16 fd$NET::/16"

undo() {
	local i left=
	for i in "$BPFFS"/tfs/"$MARK"*; do # probes that a test began by hand
		[ ! -d "$i" ] || dt-probe -N "${i##*/}" off || left="$left $i"
	done
	for i in "$TRACEFS"/instances/tfs-dt."$MARK"* "$BPFFS"/tfs/tfs-dt+"$MARK"*; do
		[ ! -d "$i" ] || left="$left $i"
	done
	net_down
	[ -z "$left" ] || { echo "left over: $left"; return 1; }
}

# Skip unless the kernel can have a request probe, and name the missing requirement.
need_probe() {
	local status=0
	need_net
	need_bpf
	need_cgroup2
	need_tracefs instances
	grep -q " $BPFFS bpf " /proc/mounts || mount -t bpf bpf "$BPFFS"
	dt-probe -N "$MARK-need" on >said 2>&1 || status=$?
	if [ "$status" = 0 ]; then
		dt-probe -N "$MARK-need" off
	else
		grep -q 'this kernel does not show what is sent' said || { cat said; return 1; }
		skip "needs a kernel that shows what is sent: tcp_sendmsg_locked, fentry or a kprobe"
	fi
	# each call of the truth is an event of its own, or one event has all calls
	CALLS_EVENT=raw_syscalls:sys_enter
	[ ! -d "$TRACEFS/events/syscalls" ] || CALLS_EVENT=syscalls:sys_enter_getpgid
	mkdir -p "$TFS_RUNDIR/distributed"
	# objects of this kind that exist later belong to the test, or go by themselves
	objects >before
}

objects() {
	"$PROG/bpfobjects" all
}

# Fail if a program or map of a probe that is new since need_probe stays. The list is made
# once, so that it has no object that others make later; objects that others have
# pinned do not count.
no_objects_left() {
	objects | grep -vxFf before >left || return 0
	eventually all_gone
}

all_gone() {
	objects >now
	{ strangers_objects; echo; } >others
	! grep -xFf left now | grep -qvxFf others
}

# Fail unless the session has its parts: instance, probe, run directory.
is_there() {
	[ -d "$TRACEFS/instances/tfs-dt.$1" ] && [ -d "$BPFFS/tfs/tfs-dt+$1" ]
}

# session_gone NAME: Succeed if nothing of session NAME is left.
session_gone() {
	[ ! -d "$TRACEFS/instances/tfs-dt.$1" ] && [ ! -d "$BPFFS/tfs/tfs-dt+$1" ]
}

nothing_at_all_left() {
	nothing_left
	session_gone "$MARK"
	no_objects_left
}

# serve MODEL: Start server and middle with this model for connections.
serve() {
	chain_server -m "${1:-thread}"
	chain_middle -m "${1:-thread}"
}

# begin NAME WORDS: Start a session in the background: SESSIONS[NAME] is its pid, READERS[NAME]
# is its reader, which writes to got.NAME.
declare -gA SESSIONS READERS
begin() {
	local all="$MARK-dtc $MARK-dtm $MARK-dts"
	: >"out.$1"; : >"err.$1"
	# shellcheck disable=SC2086 # words
	background "$MANAGER" --run trace_request --args "--instance $MARK-$1 --output fifo \
		--netns ${NETNS-$all} --events $CALLS_EVENT ${*:2}" >"out.$1" 2>"err.$1"
	SESSIONS[$1]=$PID
	eventually has_begun "$1"
	[ ! -s "err.$1" ] || { cat "err.$1"; return 1; }
	TRACE=$(cat "out.$1")
	read_by cat >"got.$1"
	READERS[$1]=$READER
}

has_begun() {
	[ -s "out.$1" ] || [ -s "err.$1" ] || gone "${SESSIONS[$1]}"
}

# ends NAME: Fail unless the session ends without a message and got.NAME is complete.
ends() {
	finishes "${SESSIONS[$1]}" 0
	finishes "${READERS[$1]}" 0
	[ ! -s "err.$1" ]
	session_gone "$MARK-$1"
}

# stop NAME [SIGNAL]: Stop the session, and wait for its end.
stop() {
	kill "-${2:-TERM}" "${SESSIONS[$1]}"
	ends "$1"
}

# marks NAME KIND: Print the number of the kernel's lines dtB, dtR, dtM or dtE.
marks() {
	grep -c "mark: dt$2 " "got.$1" || :
}

# shows NAME KIND N: Compare the number of marks, for eventually.
shows() {
	[ "$(marks "$1" "$2")" = "$3" ]
}

# in_windows NAME T U A: Fail unless the session shows this many calls of each kind.
in_windows() {
	local got
	got="$(truths T "got.$1") $(truths U "got.$1") $(truths A "got.$1")"
	[ "$got" = "${*:2}" ] || { echo "in windows: $got instead of ${*:2}"; return 1; }
}

# refuse MESSAGE WORDS: Fail unless MESSAGE is printed and nothing begins.
refuse() {
	refused "$1" "$2" --run trace_request --args "--instance $MARK --pid $$ ${*:3}"
	nothing_at_all_left
}

# ---- the trace -------------------------------------------------------------------

@test "trace_request: --get-all, --check and --describe list it" {
	outputs 0 trace_request "$MANAGER" --get-all
	run -0 --separate-stderr "$MANAGER" --describe trace_request
	[ "${lines[0]}" = 'Follow the requests of the given tasks from host to host' ]
	[ "$(printf '%s\n' "${lines[@]:1:6}" | sed 's/  .*//')" = '-e, --events EVENT,...
--from NETWORK,...
--dev DEVICE...
--netns NAME...
--processes
--otel' ]
	need_tracefs
	outputs 0 'trace_request: yes' "$MANAGER" --check trace_request
}

# bats test_tags=quick
@test "trace_request: shows a client's requests on all hosts, to the call, and no other client's" {
	need_probe
	net_up
	for FAMILY in 4 6; do
		serve
		client one$FAMILY -i
		client two$FAMILY -u -t 3 -n 20
		begin s$FAMILY --pid "${CLIENTS[one$FAMILY]}" "$FROM"
		go two$FAMILY
		go one$FAMILY 20
		client_ends two$FAMILY
		# each request has a window on the middle and another on the server
		eventually shows s$FAMILY E 40
		clients_end one$FAMILY
		ends s$FAMILY # the named task has ended
		in_windows s$FAMILY $((20 * 4)) 0 0
		[ "$(marks s$FAMILY B)" = 40 ]
		[ "$(marks s$FAMILY M)" = 80 ] # to the server and back, over two hops
		[ "$(marks s$FAMILY R)" = 40 ] # the answers
		[ "$(marks s$FAMILY E)" = 41 ] # and the end of the client
		[ "$(grep -c "tracing_mark_write: dtB [0-9a-f]* ${CLIENTS[one$FAMILY]} 0 *$" \
			got.s$FAMILY)" = 1 ]
		[ "$(grep -c '^#' got.s$FAMILY)" = 0 ]
		kill "$SERVER" "$MIDDLE"
	done
	nothing_at_all_left
}

# bats test_tags=quick
@test "trace_request: --otel: windows and messages link to the application's spans, whose trace the requests carry" {
	need_probe
	need_tool "${CC:-cc}" python3
	case $(uname -m) in
	x86_64 | aarch64) ;;
	*) skip "needs x86_64 or aarch64" ;;
	esac
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -DPART=1 -fPIC -shared -o publish.so "$TREE/t/prog/published.c"
	net_up
	start_in dtm server python3 "$TREE/t/prog/carried.py" "$PWD/publish.so" server 10."$NET".1.2 7000 3
	server=$PID
	mkfifo one.go
	start_in dtc one python3 "$TREE/t/prog/carried.py" "$PWD/publish.so" client 10."$NET".1.2 7000 3 <>one.go
	client=$PID
	begin s --pid "$client" "$FROM" --otel --json --date
	echo >one.go
	finishes "$client" 0
	finishes "$server" 0
	ends s
	# the trace of all hosts, as dt-join prints it
	sed 's/}$/,"host":"all"}/' got.s | tfs-export -nf spans >otlp
	python3 - >got <<-'EOF'
		import json
		first, all_bits = 0x4bf92f3577b34da6, 2**64 - 1
		def name(trace, span):
		    trace, span = int(trace, 16), int(span, 16)
		    n = (trace >> 64) - first
		    known = trace == (first + n) << 64 | (first + n ^ all_bits)
		    return f"span {span:x} of {n}" if known and 0 < n < 4 else "-"
		for line in open("otlp"):
		    for s in (s for r in json.loads(line)["resourceSpans"] for s in r["scopeSpans"][0]["spans"]):
		        link = s.get("links", [None])[0]
		        kind = {2: "window", 3: "message"}.get(s["kind"], s["name"])
		        trace = int(s["traceId"], 16)
		        print(kind, "links to " + name(link["traceId"], link["spanId"]) if link else
		              "is below " + name(s["traceId"], s["parentSpanId"]) if s["kind"] == 1 and trace else "?",
		              "" if trace else "in no trace")
	EOF
	sed 's/ *$//' got | LC_ALL=C sort >sorted
	for n in 1 2 3; do
		printf '%s\n' "message links to span $n of $n" "message links to span 10$n of $n" \
			"window links to span 10$n of $n" "sys_enter_getpgid is below span 10$n of $n"
	done | LC_ALL=C sort | diff - sorted
	nothing_at_all_left
}

@test "trace_request: --otel, as text, keeps the marks, and needs the name of an event that is no system call" {
	need_probe
	case $(uname -m) in
	x86_64 | aarch64) ;;
	*) skip "needs x86_64 or aarch64" ;;
	esac
	fails 100 "manager: fatal: --otel: sched:*: give the name of each event instead; globs of system calls work" \
		"$MANAGER" --run trace_request --args "--instance $MARK --pid $$ --otel --events sched:*"
	net_up
	serve
	client one -i
	begin s --pid "${CLIENTS[one]}" "$FROM" --otel
	go one 3
	eventually shows s E 6
	clients_end one
	ends s
	in_windows s 12 0 0
	[ "$(marks s B)" = 6 ]
	run ! grep -v ' otel=\(none\|unknown\)$' got.s # not the manager's own, either
	nothing_at_all_left
}

@test "trace_request: without a selector it shows marked requests on a server's host" {
	need_probe
	net_up
	serve fork
	client one -i
	client two -u -n 10
	NETNS=$MARK-dtc begin client --pid "${CLIENTS[one]}" "$FROM"
	NETNS="$MARK-dtm $MARK-dts" begin server "$FROM"
	go two
	go one 10
	client_ends two
	eventually shows server E 20
	clients_end one
	ends client
	is_there "$MARK-server"
	stop server
	in_windows server 40 0 0
	[ "$(marks server B)" = 20 ]
	# the client's own lines are in the session that named it
	[ "$(grep -c -- "-${CLIENTS[one]} " got.server)" = 0 ]
	grep -q -- "-${CLIENTS[one]} .* dtM " got.client
	nothing_at_all_left
}

@test "trace_request: two sessions for two clients each begin and end without the other" {
	need_probe
	net_up
	serve
	client one -i
	client two -i
	begin a --pid "${CLIENTS[one]}" "$FROM"
	begin b --pid "${CLIENTS[two]}" "$FROM"
	[ "$(sed -n 's/.*: dtB \([0-9a-f]*\) .*/\1/p' got.a got.b | sort -u | wc -l)" -le 2 ]
	go one 5
	eventually shows a E 10
	stop a
	is_there "$MARK-b"
	go two 5
	eventually shows b E 20 # both sessions believe a mark, whichever of the two set it
	stop b INT
	in_windows a 20 0 0
	in_windows b 40 0 0
	# neither session has a line of the other's probe
	id=$(sed -n 's/.*tracing_mark_write: dtB \([0-9a-f]*\) .*/\1/p' got.a)
	[ "$(grep ': dt[BRME] ' got.a | grep -vc ": dt[BRME] $id ")" = 0 ]
	[ "$(grep -c ": dt[BRME] $id " got.b)" = 0 ]
	clients_end one two
	nothing_at_all_left
}

@test "trace_request: believes no marks without --from, and no marks from elsewhere with it" {
	need_probe
	net_up
	serve
	client one -i
	begin a --pid "${CLIENTS[one]}"
	begin b --pid "${CLIENTS[one]}" --from 10."$NET".2.0/24 10."$NET".1.1
	begin c --pid "${CLIENTS[one]}" --from 10."$NET".1.0/24
	begin d --pid "${CLIENTS[one]}" --from 10."$NET".2.0/24
	go one 5
	eventually shows c E 5
	eventually shows b E 10
	for session in a b c d; do
		stop $session
	done
	[ "$(marks a B)" = 0 ]
	[ "$(marks a M)" = 5 ]
	in_windows a 0 0 0
	in_windows b 20 0 0
	# the middle believes the client, and the server believes no host
	[ "$(marks c B)" = 5 ]
	in_windows c 10 0 0
	# the server believes the middle, whose marks belong to b
	[ "$(marks d B)" = 5 ]
	in_windows d 10 0 0
	clients_end one
}

@test "trace_request: --dev: requests that leave by another device carry no mark" {
	need_probe
	net_up
	serve
	client one -i
	begin all --pid "${CLIENTS[one]}" "$FROM"
	begin lo --pid "${CLIENTS[one]}" "$FROM" --dev lo
	stop all
	go one 5
	stop lo
	[ "$(marks lo M)" = 5 ]
	[ "$(marks lo B)" = 0 ]
	clients_end one
}

@test "trace_request: --netns accepts a task in place of its namespace" {
	need_probe
	net_up
	serve
	client one -i
	NETNS="${CLIENTS[one]} $MIDDLE $SERVER" begin s --pid "${CLIENTS[one]}" "$FROM"
	go one 3
	eventually shows s E 6
	clients_end one
	ends s
	in_windows s 12 0 0
}

@test "trace_request: --once: a segment that is sent again has no mark and no window" {
	need_probe
	net_up 2
	box 2 -n 3
	serve
	client one -i
	begin s --pid "${CLIENTS[one]}" "$FROM" --once
	go one 3
	eventually shows s E 5
	clients_end one
	ends s
	box_ends 2
	[ "$(counted 2 dropped)" = 1 ]
	# the second request was lost on its way to the server, which makes two calls for it
	in_windows s 10 0 0
}

@test "trace_request: --processes: a window belongs to a process, with all its threads" {
	need_probe
	net_up
	serve thread
	client one -i
	begin s --pid "${CLIENTS[one]}" "$FROM" --processes
	go one 3
	eventually shows s E 6
	clients_end one
	ends s
	in_windows s 12 0 0
	[ "$(sed -n 's/.*: dtB [0-9a-f]* \([0-9]*\) .*/\1/p' got.s | sort -u)" = \
		"$(printf '%s\n' "${CLIENTS[one]}" "$MIDDLE" "$SERVER" | sort)" ]
	[ "$(grep -c -- "-[0-9]* *( *$SERVER) " got.s)" -gt 0 ]
}

@test "trace_request: follows the threads and processes that a named task starts" {
	need_probe
	net_up
	serve
	client one -t 4 -n 5
	mkfifo hold
	# shellcheck disable=SC2016 # the other shell's
	background "$BASH" -c 'read -r _ <"$0"; "$@" </dev/null; :' hold \
		"$PROG/netns" exec "$MARK-dtc" "$PROG/chain" -n 5 client "${TARGET[@]}"
	shell=$PID
	begin s --pid "${CLIENTS[one]}" "$shell" "$FROM"
	go one
	echo >hold
	client_ends one
	finishes "$shell" 0
	ends s
	in_windows s $((5 * 5 * 4)) 0 0
}

@test "trace_request: tfs-why -r: the time of a request, from host to host, by the wait of the second hop" {
	need_probe
	need_tracefs events/raw_syscalls
	net_up
	chain_server -m thread -y 50
	chain_middle -m thread
	tfs-run -m distributed trace_request --netns "$MARK-dtc" "$MARK-dtm" "$MARK-dts" \
		--from 10."$NET".0.0/16 --events sched:sched_switch sched:sched_waking 'raw_syscalls:*' -- \
		"$PROG/netns" exec "$MARK-dtc" "$PROG/chain" client "${TARGET[@]}" </dev/null >got.s
	read -r client middle server < <(sed -n 's/.*: dtB [0-9a-f]* \([0-9]*\) .*/\1/p' got.s | paste -s)
	tfs-why -r got.s >out
	hops_are "chain $client" "chain $middle" "chain $server" out
	# the same on three hosts whose clocks differ
	lines_of "$client" 0 >client.txt
	lines_of "$middle" 4000 >middle.txt
	lines_of "$server" 70 >server.txt
	dt-join client=client.txt middle=middle.txt server=server.txt | tfs-why -r >joined
	hops_are "client:chain $client" "middle:chain $middle" "server:chain $server" joined
	[ "$(grep -c '^# .*, plus or minus .* message' joined)" = 2 ]
}

# lines_of TID SECONDS: Print the lines of got.s that are of the thread or about it, so much later.
lines_of() {
	awk -v tid="$1" -v later="$2" '
		match($0, /^ *.*-[0-9]+ +\[/) && match($0, / [0-9]+\.[0-9]+: /) {
			time = substr($0, RSTART + 1, RLENGTH - 3)
			split(time, at, ".")
			own = $0 ~ "^ *[^ ]*-" tid " " || $0 ~ "[ _]pid=" tid " " || $0 ~ ": dt. [0-9a-f]* " tid " "
			if (own)
				print substr($0, 1, RSTART) at[1] + later "." at[2] substr($0, RSTART + RLENGTH - 2)
		}' got.s
}

# hops_are CLIENT MIDDLE SERVER FILE: Fail unless FILE has a tree for the client, in which the middle
# has woken the client, and the server the middle, after it had slept.
hops_are() {
	cat "$4"
	sed -n "/^$1: /,/^\$/p" "$4" >tree
	[ "$(sed 's/^ *[0-9.]* % *[0-9.]* [mun]*s //; s/([0-9]*)//' tree | grep -A 2 '^ *socket')" = \
"   socket: recvfrom, woken by $2
     $2: blocked, socket: recvfrom, woken by $3
       $3: blocked, sleep: clock_nanosleep, woken by timer" ]
}

@test "trace_request: tfs-run holds a program until its requests are followed" {
	need_probe
	net_up
	serve
	status=0
	tfs-run -m distributed trace_request --netns "$MARK-dtc" "$MARK-dtm" "$MARK-dts" \
		--from 10."$NET".0.0/16 --events "$CALLS_EVENT" -- \
		"$PROG/netns" exec "$MARK-dtc" "$PROG/chain" -n 5 client "${TARGET[@]}" \
		</dev/null >got.s 2>err || status=$?
	[ "$status" = 0 ]
	run -1 grep -vxE "ready|done|tid [0-9]+ ." err # output of the program itself
	in_windows s 20 0 0
	run -0 tfs-run -m distributed
	[ "$(grep -o '^  trace_[a-z]*  ' <<<"$output")" = '  trace_request  ' ]
	no_objects_left
}

@test "trace_request: --output lines gives one line per packet, and --output file a file that stays" {
	need_probe
	net_up
	serve
	for output in lines file; do
		client $output -n 5
		start_session trace_request --pid "${CLIENTS[$output]}" "$FROM" --output $output \
			--netns "$MARK-dtc" "$MARK-dtm" "$MARK-dts" --events "$CALLS_EVENT"
		if [ $output = lines ]; then
			read_by sh -c 'while dd bs=4096 count=1 2>/dev/null | grep .; do :; done' >got.s
		fi
		go $output
		client_ends $output
		session_ends
		if [ $output = file ]; then cat "$TRACE" >got.s; else finishes "$READER" 0; fi
		in_windows s 20 0 0
		run -0 "$MANAGER" --clear
	done
	nothing_at_all_left
}

@test "trace_request: two killed readers and the next reader get each request once, and no window is closed" {
	need_probe
	net_up
	for output in lines fifo; do
		serve
		client $output -i
		start_session trace_request --pid "${CLIENTS[$output]}" "$FROM" --output $output \
			--netns "$MARK-dtc" "$MARK-dtm" "$MARK-dts" --events "$CALLS_EVENT"
		for i in 1 2; do
			go $output 10
			read_by sh -c 'dd bs=4096 count=2 2>/dev/null; kill -KILL $$' >got.$i
			finishes "$READER" 137
		done
		go $output 10
		read_by cat >got.3
		clients_end $output
		watch_end
		cat got.1 got.2 got.3 >got.s
		in_windows s $((30 * 4)) 0 0
		[ "$(marks s B)" = 60 ]
		[ "$(marks s E)" = 61 ]
		[ "$(grep -c '^#' got.s)" = 0 ]
		kill "$SERVER" "$MIDDLE"
	done
	nothing_at_all_left
}

# ---- how it ends -------------------------------------------------------------------

@test "trace_request: --time ends it, and so do SIGINT, SIGTERM and SIGHUP" {
	need_probe
	net_up
	start_session trace_request --time 100 "$FROM" --output fifo
	session_ends
	for signal in INT TERM HUP; do
		start_session trace_request --pid $$ "$FROM" --output fifo
		is_there "$MARK"
		stop_session $signal
	done
	nothing_at_all_left
}

# alone: the session of another test would remove the dead session first
# bats test_tags=alone
@test "trace_request: leaves nothing behind if manager, janitor or both are killed" {
	need_probe
	for victim in manager janitor both; do
		start_session trace_request --pid $$ --output fifo
		is_there "$MARK"
		kill_parts $victim
		if [ $victim = both ]; then
			is_there "$MARK"
			run -0 --separate-stderr "$MANAGER" --clear
			[ -z "$output$stderr" ]
			session_gone "$MARK"
		fi
		eventually session_gone "$MARK"
		eventually nothing_left
	done
	nothing_at_all_left
}

# alone: it removes the dead sessions of other tests, too
# bats test_tags=alone
@test "trace_request: tfs-instance remove -s removes a dead session, with its BPF programs" {
	need_probe
	start_session trace_request --pid $$ --output fifo
	janitor=$(children "$SESSION")
	kill -STOP "$janitor"
	kill -KILL "$SESSION"
	tfs-instance list -s >stale || :
	run ! grep -qxF "tfs-dt.$MARK" stale
	kill -KILL "$janitor"
	ended "$SESSION" || :
	eventually gone "$janitor"
	# unless a session of another user has just removed it
	tfs-instance list -s >stale || :
	grep -qxF "tfs-dt.$MARK" stale || session_gone "$MARK"
	tfs-instance remove -s
	session_gone "$MARK"
	no_objects_left
	run -0 "$MANAGER" --clear
	nothing_at_all_left
}

# Kill both processes while a session begins, which takes some hundred milliseconds: at a
# different moment each time, so that every step is met.
# killed_early N: Kill N sessions while they begin, each at another moment.
killed_early() {
	need_probe
	net_up
	mkfifo pause
	killed=0
	for ((nth = 0; nth < $1; nth++)); do
		: >out
		background "$MANAGER" --run trace_request --args \
			"--instance $MARK --pid $$ --output fifo --netns $MARK-dtc" >out 2>err
		manager=$PID
		# choose the moment by what exists: more each time
		case $((nth % 5)) in
		0) moment() { [ -d "$TRACEFS/instances/tfs-dt.$MARK" ]; } ;;
		1) moment() { [ -d "$BPFFS/tfs/tfs-dt+$MARK" ]; } ;;
		2) moment() { [ -e "$BPFFS/tfs/tfs-dt+$MARK/rx" ]; } ;;
		3) moment() { [ -e "$BPFFS/tfs/tfs-dt+$MARK/pids" ]; } ;;
		4) moment() { [ -s out ]; } ;;
		esac
		eventually moment
		janitor=$(children "$manager") || :
		# and a few milliseconds later each time
		read -rt "0.0$((nth / 5))" _ <>pause || :
		# the janitor's hook is in a process group of its own, and dies with it
		kill -STOP "$manager" ${janitor:+"$janitor"} 2>/dev/null || :
		kill -KILL "$manager" ${janitor:+"$janitor"} 2>/dev/null || :
		ended "$manager" || killed=$((killed + 1))
		[ -z "$janitor" ] || eventually gone "$janitor"
		if ((nth % 2)); then
			"$MANAGER" --clear >cleared 2>&1
			[ ! -s cleared ]
		else
			start_session trace_request --pid $$ --output fifo
			stop_session
		fi
		session_gone "$MARK"
		nothing_left
	done
	[ "$killed" = "$nth" ]
	nothing_at_all_left
}

# bats test_tags=long
@test "trace_request: the next --run or --clear removes a session that was killed while it began" {
	killed_early "$(so_many 30)"
}

@test "trace_request: the next --run or --clear removes a session that was killed at one of five moments" {
	killed_early 5
}

@test "trace_request: --clear leaves probes that were begun by hand, and other people's pins" {
	need_probe
	dt-probe -N "$MARK-other" on >said
	mkdir "$BPFFS/$MARK-stranger"
	start_session trace_request --pid $$ --output fifo
	run -0 --separate-stderr "$MANAGER" --clear
	[ -z "$output$stderr" ]
	finishes "$SESSION" 0
	session_gone "$MARK"
	outputs 0 1 dt-probe -N "$MARK-other"
	rmdir "$BPFFS/$MARK-stranger"
	# an instance with the name of a session, but begun by hand
	dt-probe -N "tfs-dt.$MARK-by-hand" on >said
	run -0 "$MANAGER" --clear
	run -0 dt-probe -N "tfs-dt.$MARK-by-hand"
	run -0 dt-probe -N "tfs-dt.$MARK-by-hand" off
}

@test "trace_request: a probe that is ended under a session ends nothing else" {
	need_probe
	start_session trace_request --pid $$ --output fifo
	dt-probe -N "tfs-dt.$MARK" off
	stop_session
	nothing_at_all_left
}

@test "trace_request: refuses the name of an existing session, which goes on" {
	need_probe
	start_session trace_request --pid $$ --output fifo
	status=0
	"$MANAGER" --run trace_request --args "--instance $MARK --pid $$" >out2 2>err2 || status=$?
	[ "$status" = 111 ]
	[ ! -s out2 ]
	cat err2
	file_has 1 err2
	is_there "$MARK"
	stop_session
	# a probe of that name that another program began
	dt-probe -N "tfs-dt.$MARK" on >said
	refused 111 "the request probe tfs-dt.$MARK exists already; give --instance another name" \
		--run trace_request --args "--instance $MARK --pid $$"
	outputs 0 1 dt-probe -N "tfs-dt.$MARK"
	dt-probe -N "tfs-dt.$MARK" off
}

# ---- refused options ----------------------------------------------------------------

@test "trace_request: reports an invalid network, namespace, device or event on one line, and begins nothing" {
	need_probe
	usage="usage: $(synopsis dt-probe)"
	refuse 100 "-f: not an address or a network: 'x'; $usage" --from x
	refuse 100 "-f: not a prefix length from 0 to 32: '10.0.0.0/40'; $usage" \
		--from 10."$NET".0.0/16 10.0.0.0/40
	refuse 100 "-f: not a prefix length from 0 to 128: '::/129'; $usage" --from ::/129
	refuse 100 "--netns: '../x' is not a name: letters, digits, _ . - and 64 of them at most" \
		--netns ../x
	refuse 111 "unable to enter the network namespace /run/netns/$MARK-none: No such file or directory" \
		--netns "$MARK-none"
	background true
	ended "$PID"
	refuse 111 "unable to enter the network namespace /proc/$PID/ns/net: No such file or directory" \
		--netns "$PID"
	refuse 111 "unable to find the device nosuch in this network namespace: No such device" \
		--dev lo nosuch
	refuse 111 "no event is called 'sched_swich'; did you mean sched_switch?" \
		--events sched_swich
	refuse 111 "no event is called 'nosuch'; tfs-event -l prints the names of all" \
		--events nosuch
}

@test "trace_request: --check refuses what --run refuses, and leaves no probe" {
	need_probe
	background true
	ended "$PID"
	for words in '--from x' '--from ::/129' "--netns $MARK-none" "--netns $PID" '--netns ../x' \
		'--dev lo nosuch' '--events nosuch' '--events sched_swich' '--clock nosuch' \
		'--cgroup nosuch'; do
		# shellcheck disable=SC2086 # a word each
		alike trace_request --pid $$ $words
	done
	run -0 "$MANAGER" --check trace_request --args "--instance $MARK --pid $$ --dev lo"
	[ "$output" = 'trace_request: yes' ]
	nothing_at_all_left
}

@test "trace_request: refuses the options of other hooks that it lacks" {
	need_probe
	refused 100 'trace_request: --all is not possible: select the tasks whose requests to follow, or none' \
		--run trace_request --args "--all"
	refuse 111 '--parent is for ftrace; name the tasks with --pid' --parent $$
	refuse 111 '--output dat is for ftrace, because only text can omit the events between windows; leave it out' \
		--output dat
	refuse 111 '--clock: this kernel has no clock nosuch; trace_clock lists them' --clock nosuch
}

@test "trace_request: reports hostile values on one clear line, and begins and does nothing" {
	need_probe
	usage="usage: $(synopsis dt-probe)"
	# shellcheck disable=SC2016 # it must not be expanded
	refuse 100 "-f: not an address or a network: '\$(>pwned)'; $usage" "--from '\$(>pwned)'"
	refuse 100 "-f: not an address or a network: '1.2.3.4;>pwned'; $usage" "--from '1.2.3.4;>pwned'"
	refuse 100 "--from: '\$(touch pwned)' has a space, which would make it two values; give each value as a word" \
		"--from '\$(touch pwned)'"
	refuse 100 "-f: not an address or a network: '*'; $usage" "--from '*'"
	refuse 111 "no event is called '\`>pwned\`'; tfs-event -l prints the names of all" \
		"--events '\`>pwned\`'"
	refuse 100 "--dev: 'lo;touch' is not a name: letters, digits, _ . - and 64 of them at most" \
		"--dev 'lo;touch'"
	refuse 100 "--events: 'sched_switch?x' is not printable text" "--events 'sched_switch
x'"
	refuse 100 "--from: '1.2.3.4?::' is not printable text" "--from '1.2.3.4
::'"
	refuse 100 "trace_request has no option '-l'; --describe trace_request lists them" --events -l
	[ ! -e pwned ]
}

@test "trace_request: says how to mount bpffs if it is missing" {
	need_probe
	need_mounts
	status=0
	# shellcheck disable=SC2016 # the other shell's
	unshare -m "$BASH" -c 'mount -t tmpfs none "$0" && exec "$@"' "$BPFFS" "$MANAGER" \
		--run trace_request --args "--instance $MARK --pid $$" >out 2>err || status=$?
	[ "$status" = 111 ]
	[ ! -s out ]
	file_is err "manager: fatal: no bpffs at $BPFFS: as root, mount -t bpf bpf $BPFFS"
	nothing_at_all_left
}

# with_only CAPABILITIES WORDS: Run a session that ends at once.
with_only() {
	setpriv --inh-caps=-all --bounding-set="-all$1" "$MANAGER" --run trace_request \
		--args "--instance $MARK --pid $$ --time 1 ${*:2}" >out 2>&1 || { cat out; return 1; }
}

@test "trace_request: needs root with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN, and more for --netns" {
	need_probe
	net_up
	need_tool setpriv
	setpriv --bounding-set=-all,+bpf true 2>/dev/null ||
		skip "needs a setpriv that knows CAP_BPF"
	few=,+bpf,+perfmon,+net_admin each='bpf perfmon net_admin'
	# before Linux 5.11 maps are locked memory, of which a user may have little
	case $(uname -r) in 5.10.*) few=$few,+sys_resource ;; esac
	# a kprobe is an event of perf, which Debian's kernels allow to fully privileged users only
	dt-probe -N "$MARK" on >how
	dt-probe -N "$MARK" off
	! grep -qx 'send kprobe' how || [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] ||
		few=$few,+sys_admin each=sys_admin
	with_only $few
	for left_out in $each; do
		run -1 with_only "${few/,+$left_out/}"
		[[ $output == 'manager: fatal: '*'ermi'* ]]
	done
	[ "$each" = sys_admin ] || {
		run -1 with_only $few --netns "$MARK-dtc"
		[[ $output == *'unable to enter the network namespace'*'Operation not permitted; this needs CAP_SYS_ADMIN' ]]
	}
	with_only $few,+sys_admin --netns "$MARK-dtc"
	with_only $few,+sys_admin,+sys_ptrace --netns $$
	nothing_at_all_left
}

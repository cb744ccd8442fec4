#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-export and the OpenTelemetry collector: its own code reads each line, and each value is that
# of the JSON
# bats file_tags=long

load ../helper

# need_collector: Set READ to the program that reads lines as the collector does.
need_collector() {
	need_tool python3 apt-get dpkg
	READ=$("$TREE/t/engines/otel/make" 3>&- 2>make.err) ||
		skip "needs golang-opentelemetry-collector-dev of Debian sid: $(tail -n 1 make.err)"
}

# event PID NANOSECONDS FIELDS [EVENT [COMM]]: Print an event, so long after second 1795559358.
event() {
	printf '{"ts":%d.%09d,"timeUnixNano":"%d","cpu":1,"pid":%d,"comm":"%s","system":"demo","event":"%s","fields":%s}\n' \
		$(($2 / 1000000000)) $(($2 % 1000000000)) $((1795559358000000000 + $2)) "$1" \
		"${5-task}" "${4-demo}" "$3"
}

# mark PID NANOSECONDS TEXT HOST: Print a mark line of a request probe on a host.
mark() {
	event "$1" "$2" "{\"bpf_string\":\"$3\"}" bpf_trace_printk | sed "s/}\$/,\"host\":\"$4\"}/"
}

# mixed: Print records of each kind: calls, waits, requests over hosts, losses, names with odd
# bytes, and values of each type.
mixed() {
	mark 70 1000 'dtM 2a 70 a1' a
	mark 80 2000 'dtB 2a 80 a1' b
	event 80 2500 '{"ret":1,"lat":0.5,"args":[{"name":"fd","value":3,"text":"3"}]}' sys_exit_read |
		sed 's/}$/,"host":"b"}/'
	mark 80 3000 'dtM 2a 80 b1' b
	mark 90 4000 'dtB 2a 90 b1' c
	mark 90 5100 'dtE 2a 90 b1' c
	mark 80 6000 'dtR 2a 80 b2' b
	mark 80 7100 'dtE 2a 80 a1' b
	mark 70 8000 'dtR 2a 70 a2' a
	event 7 9000 '{"ret":-2,"error":"ENOENT","lat":1.25,"args":[{"name":"filename","value":"0x7f00","text":"\"/a\\t\\u0001\u00e9\""}]}' \
		sys_exit_openat '\"\\\u0001\u001b\ufffd<&>\u20ac\ud83d\ude00'
	event 9 9500 '{"prev_pid":9,"next_comm":"a\u0000b","next_pid":7,"lat":2.000}' sched_switch
	event 7 9600 '{"lat":0.125,"big":18446744073709551615,"low":-9223372036854775808,"high":9223372036854775807,"n":[1,[2,"x"],{"k":null}],"none":[],"f":-1.5e3,"t":true,"no":false,"z":null,"s":""}'
	echo '{"ts":0.000009700,"timeUnixNano":"1795559358000009700","cpu":1,"lost":204}'
	python3 "$TREE/t/prog/requests.py" 500 20
}

@test "tfs-export: the collector's own code reads each log record of a mixed trace, and each value is equal" {
	need_collector
	mixed >lines
	for most in 4096 1048576; do
		tfs-export -n -f logs -H web -s mine -m "$most" <lines >sent
		"$READ" logs <sent >got
		python3 "$TREE/t/engines/otel/expect.py" logs <sent >wanted
		cmp got wanted
		[ "$(grep -c '^record ' got)" = "$(wc -l <lines)" ]
		[ "$(tail -n 1 got)" = "$(wc -l <sent) lines $(grep -c '^resource ' got) resources $(wc -l <lines) records" ]
	done
}

@test "tfs-export: the collector's own code reads each span of a mixed trace, and each value is equal" {
	need_collector
	mixed >lines
	for most in 4096 1048576; do
		tfs-export -n -f spans -H web -s mine -m "$most" <lines >sent
		"$READ" spans <sent >got
		python3 "$TREE/t/engines/otel/expect.py" spans <sent >wanted
		cmp got wanted
		# each window of the requests has its parent among the spans
		grep '^record ' got | awk '{ id[$3] = $2; parent[NR] = $4 }
			END { for (i in parent) if (parent[i] !~ /^0*$/) { n++; if (!(parent[i] in id)) exit 1 }
				exit n < 1000 }'
		[ "$(tail -n 1 got)" = "$(wc -l <sent) lines $(grep -c '^resource ' got) resources $(grep -c '^record ' got) records" ]
	done
}

@test "tfs-export: the collector's own code refuses a line that is damaged" {
	need_collector
	mixed | tfs-export -n -f spans -H web >sent
	head -c -10 sent >short
	sed '1s/"traceId":"0/"traceId":"x/' sent >trace
	sed '1s/"intValue":"\([0-9]\)/"intValue":"x\1/' sent >integer
	sed '1s/"attributes":\[/"attributes":{/' sent >list
	for file in short trace integer list; do
		run -1 cmp -s "$file" sent
		run -1 --separate-stderr from "$file" "$READ" spans
		[ -z "$output" ]
		printf '%s\n' "${stderr?}" >err
		number=1
		[ "$file" != short ] || number=$(wc -l <sent)
		grep -q "^line $number is refused: " err
	done
}

@test "tfs-flame: the collector's own code reads each sample of a profile, and the stacks are those of -f" {
	need_collector
	need_tool awk
	awk 'BEGIN {
		srand(7)
		for (i = 0; i < 3000; i++) {
			comm = "task" int(rand() * 5)
			printf "%16s-7       [000] ..... 1.%06d: e: lat=%d.%03d\n", comm, i, i % 90 + 1, i % 1000
			printf "%16s-7       [000] ..... 1.%06d: <stack trace>\n", comm, i
			for (n = int(rand() * 30) + 1; n > 0; n--)
				printf " => f%d\n", rand() * 400
		}
		print "# lost 5 events" }' >trace
	tfs-flame -o trace >x.json
	"$READ" stacks <x.json >got
	tfs-flame -f -w lat trace 2>/dev/null >folded
	awk '/^profile /{ on = $2 == "time" && $3 == "nanoseconds" } on && /^thread/' got |
		sed 's/^thread.name=//; s/@kernel//g' | cmp - folded
	[ "$(wc -l <folded)" -gt 2900 ]
	# the second profile has their number
	awk '/^profile /{ on = $2 == "samples" && $3 == "count" } on && /^thread/ { n += $NF } END { print n }' got |
		grep -x 3000
	[ "$(grep -c '^profile .* pprof.profile.comment=\["# lost 5 events"\]$' got)" = 2 ]
	[ "$(tail -n 1 got)" = "1 lines 1 resources $((2 * $(wc -l <folded))) records" ]
	for edit in 's/"stackIndex":\([0-9]\)/"stackIndex":"x\1"/' 's/"stringTable":\[/"stringTable":{/'; do
		sed "$edit" x.json >bad
		run -1 --separate-stderr from bad "$READ" stacks
		[[ $stderr == "line 1 is refused: "* ]]
	done
}

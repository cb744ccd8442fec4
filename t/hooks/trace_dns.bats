#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2154 # each test is a process of its own; run sets output
# trace_dns: each query of a program, beside what the program and its server say

load ../helper
load ../hooks

# serves: Let a server of DNS answer until release. Set port to its port.
serves() {
	need_bpf
	need_types
	hold "$PROG/dns" serve
	read -r port <ready
}

# asks ROUNDS WORD...: Trace a program that asks so often. said has its lines, got the trace.
asks() {
	tfs-run trace_dns --port "$port" --port 1 --instance "$MARK" -o trace "${@:2}" -- "$PROG/dns" ask "$port" "$1" >said
	cut -d ' ' -f 1-5 said | sort >want
	cat trace
}

# queries: Print the queries of lines of text as the program and its server do.
queries() {
	sed -n 's/^.* dns_query: id=\([0-9]*\) name=\([^ ]*\) type=\([A-Z]*\) .* protocol=\([a-z]*\) code=\([A-Za-z]*\) .*/\1 \2 \3 \4 \5/p' |
		sort
}

# bats test_tags=quick
@test "trace_dns: has each query that a program sends by any call, with the code that it gets, and what the server says" {
	serves
	asks 3
	file_has 54 want
	queries <trace | diff want -
	eventually file_has 52 ready # with the port
	release
	# the server does not answer some, and one goes to nobody
	sed '/ECONNREFUSED/d; s/retried\|unanswered/lost/' want | diff - <(sed 1d ready | sort)
	grep -qx '# 9 answers are known only in part' trace
}

# bats test_tags=long
@test "trace_dns: has a thousand queries of a thousand" {
	serves
	asks 56 --json --buffer 16M
	release
	file_has 1008 want
	sed -n 's/^.*"id":\([0-9]*\),"name":"\([^"]*\)","type":"\([A-Z]*\)".*"protocol":"\([a-z]*\)","code":"\([A-Za-z]*\)".*/\1 \2 \3 \4 \5/p' \
		trace | sort | diff want -
}

# bats test_tags=quick
@test "trace_dns: a line has the server, the answers, their addresses, and what is missing" {
	serves
	asks 1
	release
	sed -n "s/^ *dns-[0-9]* .*: dns_query: id=[0-9]* name=\(.*\) port=$port \(.*\) lat=[0-9]* /\1 \2 /p" trace |
		sed 's/\(.*,10.0.0.3\),.*/\1/' >got
	diff - got <<-'END'
		ok-0.test type=A server=127.0.0.1 protocol=udp code=NOERROR answers=1 addresses=10.0.0.1
		nx-0.test type=A server=127.0.0.1 protocol=udp code=NXDOMAIN answers=0
		ok-0.test type=A server=127.0.0.1 protocol=udp code=NOERROR answers=1 addresses=10.0.0.1
		ok-0.test type=AAAA server=127.0.0.1 protocol=udp code=NOERROR answers=1 addresses=fd00::1
		fail-0.test type=A server=::1 protocol=udp code=SERVFAIL answers=0
		fail-0.test type=AAAA server=::1 protocol=udp code=SERVFAIL answers=0
		ok-0.test type=AAAA server=127.0.0.1 protocol=udp code=NOERROR answers=1 addresses=fd00::1
		refused-0.test type=AAAA server=127.0.0.1 protocol=udp code=REFUSED answers=0
		nx-0.test type=A server=127.0.0.1 protocol=udp code=NXDOMAIN answers=0
		loop-0.test type=A server=::1 protocol=udp code=NOERROR answers=1 cut=1
		half-0.test type=A server=127.0.0.1 protocol=udp code=NOERROR answers=1 cut=1
		tc-0.test type=A server=127.0.0.1 protocol=udp code=NOERROR answers=0 truncated=1
		tc-0.test type=A server=127.0.0.1 protocol=tcp code=NOERROR answers=200 addresses=10.0.0.1,10.0.0.2,10.0.0.3
		ok-0.test type=A server=127.0.0.1 protocol=tcp code=NOERROR answers=1 addresses=10.0.0.1
		ok-0.test type=A server=127.0.0.1 protocol=udp code=NOERROR answers=1 addresses=10.0.0.1
	END
	grep -q ' name=tc-0.test .* answers=200 addresses=10[0-9.,]* cut=1$' trace
}

@test "trace_dns: JSON and a trace.dat have the same queries, and exports and sums read them" {
	need_tool python3
	serves
	asks 2 --json --date
	python3 -c 'if 1:
		import json, sys
		offsets = {}
		for line in sys.stdin:
			q = json.loads(line).get("fields")
			if q:
				offset = int(json.loads(line)["timeUnixNano"]) - round(json.loads(line)["ts"] * 1e9)
				assert abs(offset - offsets.setdefault(0, offset)) < 1000
				print(*(q[k] for k in ("id", "name", "type", "protocol", "code")))
				assert ("addresses" in q) == (q["code"].isupper() and "CONN" not in q["code"])
				assert (q["name"][:2] == "ok" and q["port"] != 1) <= (len(q.get("addresses", "")) == 1)
	' <trace | sort | diff want -
	tfs-export <trace >exported
	file_has 36 <(grep -F '"event":"dns_query"' exported)
	file_has 36 <(grep '"timeUnixNano":"[0-9]\{19\}"' trace)
	tfs-run trace_dns --instance "$MARK" -o x.dat -- "$PROG/dns" ask "$port" 2 >said
	tfs-dns -p "$port,1" x.dat >lines
	queries <lines | diff want -
	tfs-run trace_dns --port "$port" --port 1 --summary --per code --instance "$MARK" -- "$PROG/dns" ask "$port" 2 \
		3>&- >sums
	sed -n 's/^ *\([0-9][0-9]*\) *\([0-9][0-9]*\) .* \([A-Za-z]*\)$/\3 \1 \2/p' sums | sort >got
	release
	diff - got <<-'END'
		ECONNREFUSED 2 2
		NOERROR 20 0
		NXDOMAIN 4 4
		REFUSED 2 2
		SERVFAIL 4 4
		retried 2 2
		total 36 16
		unanswered 2 2
	END
}

@test "trace_dns: --failed has only queries that fail, and the default port is 53" {
	serves
	asks 2 --failed
	queries <trace | diff <(grep -v NOERROR want) -
	tfs-run trace_dns --instance "$MARK" -o none -- "$PROG/dns" ask "$port" 2 >said 2>err || [ $? = 1 ]
	release
	[ "$(queries <none)" = "" ]
}

@test "trace_dns: --slower is of queries, whatever their calls took" {
	serves
	asks 2 --slower 1us # no call takes as long as nothing
	queries <trace | diff want -
	# the client waits so long for each answer that does not come
	tfs-run trace_dns --port "$port" --slower 20ms --instance "$MARK" -o slow -- "$PROG/dns" ask "$port" 2 >said
	release
	[ "$(grep -c ' code=retried \| code=unanswered ' slow)" = 4 ]
	run -1 grep -E ' lat=1?[0-9]{1,4} ' slow
}

@test "trace_dns: refuses a kernel without types, because sockets have no addresses then" {
	mkdir -p none/kernel
	ln -s "$TRACEFS" none/kernel/tracing
	export TRACER_SYSFS_PATH=$PWD/none
	calls 1
	refuses trace_dns 111 "the addresses of sockets need the kernel's types (CONFIG_DEBUG_INFO_BTF)" --pid "$CALLS"
}

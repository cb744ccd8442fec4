#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2154 # run sets output
# tfs-dns: the queries in the lines of calls, which come in any order, in part, or from a stranger

load ../helper

# call SECONDS MICROSECONDS TEXT: Print the line of a call that begins then and takes so long.
call() {
	printf '             dns-77      [001] ..... 100.%06d: %s <0.%06d>\n' "$1" "$3" "$2"
}

# the beginnings of messages: a query and its answer, with one question, for example.org
Q='\0224\1\0\0\1\0\0\0\0\0\0' QUESTION='\7example\3org\0\0\1\0\1'
R='\0224\201\200\0\1\0\1\0\0\0\0' RECORD='\300\f\0\1\0\1\0\0\0<\0\4\n\1\2\3'
TO=', 29, 0, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.1")}, 16) = 29'
FROM=', 512, 0, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("10.0.0.1")}, [16]) = 45'

# found: Print the fields of the events that tfs-dns prints, and comments.
found() {
	tfs-dns >out || [ $? = 1 ]
	sed 's/^.*: dns_query: id=4660 //' out
}

# bats test_tags=quick
@test "tfs-dns: prints a query with its answer, at the time of the answer, with the task that asked" {
	{
		call 1000 20 "sendto(3<UDP:[123]>, \"$Q$QUESTION\"$TO"
		call 1500 10 "recvfrom(3<UDP:0.0.0.0:4000>, \"$R$QUESTION$RECORD\"$FROM" | sed 's/dns-77 /oth-78 /'
	} | tfs-dns >got
	diff - got <<-'END'
	             dns-77      [001] ..... 100.001510: dns_query: id=4660 name=example.org type=A server=10.0.0.1 port=53 protocol=udp code=NOERROR lat=510 answers=1 addresses=10.1.2.3
	END
}

@test "tfs-dns: finds an answer whose call returns before the call that asks" {
	{
		call 900 200 "recvfrom(3<UDP:0.0.0.0:4000>, \"$R$QUESTION$RECORD\"$FROM"
		call 1000 300 "sendto(3<UDP:0.0.0.0:4000>, \"$Q$QUESTION\"$TO"
	} >lines
	run -0 found <lines
	[ "$output" = "name=example.org type=A server=10.0.0.1 port=53 protocol=udp code=NOERROR lat=100 answers=1 addresses=10.1.2.3" ]
	# an answer that is older than the query is that of another one
	sed -i 's/100.001000/100.002000/' lines
	run -0 found <lines
	diff - <(echo "$output") <<-'END'
	name=example.org type=A server=10.0.0.1 port=53 protocol=udp code=unfinished lat=-
	# 1 answers without a query
	END
}

@test "tfs-dns: another socket, server, number, name, type or class is another query" {
	local change n=0
	call 1000 20 "sendto(3<UDP:0.0.0.0:4000>, \"$Q$QUESTION\"$TO" >query
	call 1500 10 "recvfrom(3<UDP:0.0.0.0:4000>, \"$R$QUESTION$RECORD\"$FROM" >answer
	for change in s/4000/4001/ s/10.0.0.1/10.0.0.2/ 's/0224/0225/' s/example/exempla/ 's/\\0\\0\\1\\0\\1\\3/\\0\\0\\2\\0\\1\\3/' \
		's/\\0\\0\\1\\0\\1\\3/\\0\\0\\1\\0\\3\\3/'; do
		sed "$change" answer >other
		! cmp -s answer other
		run -0 found < <(cat query other)
		[ "$output" = "name=example.org type=A server=10.0.0.1 port=53 protocol=udp code=unfinished lat=-
# 1 answers without a query" ]
		n=$((n + 1))
	done
	[ "$n" = 6 ]
	# a server may write the name in other letters
	run -0 found < <(cat query; sed s/example/eXample/ answer)
	[[ $output == "name=example.org type=A "*" code=NOERROR "* ]]
}

@test "tfs-dns: says what became of queries without an answer" {
	S='<UDP:10.0.0.9:4000->10.0.0.1:53>'
	{
		call 1000 5 "write(3$S, \"$Q$QUESTION\", 29) = 29"
		call 3000 5 "write(3$S, \"$Q$QUESTION\", 29) = 29"
		call 4000 9 "read(3$S, 0x7ffc00, 512) = -1 EAGAIN"
		call 5000 9 "read(3$S, 0x7ffc00, 512) = -1 ECONNREFUSED"
		call 6000 5 "write(3$S, \"$Q$QUESTION\", 29) = 29"
		call 6500 5 "close(3<UDP:10.0.0.9:4001->10.0.0.1:53>) = 0"
		call 7000 0 "close(3$S) = 0"
		call 8000 7 "write(3$S, \"$Q$QUESTION\", 29) = -1 ENETUNREACH"
		call 9000 5 "write(3$S, \"$Q$QUESTION\", 29) = 29"
		printf '             dns-77      [001] ..... 161.000000: close(9<UDP:[5]>) = 0 <0.000000>\n'
		printf '             dns-77      [001] ..... 162.000000: write(3%s, "%s", 29) = 29 <0.000005>\n' "$S" "$Q$QUESTION"
	} >lines
	found <lines >became
	sed 's/ type=.*code/ code/' became | diff - <(cat <<-'END'
	name=example.org code=retried lat=2000
	name=example.org code=ECONNREFUSED lat=2009
	name=example.org code=unanswered lat=1000
	name=example.org code=ENETUNREACH lat=7
	name=example.org code=unanswered lat=60991000
	name=example.org code=unfinished lat=-
	END
	)
	run -0 tfs-dns -s 2001 <lines
	[ "$(grep -c 'code=ECONNREFUSED\|lat=60991000' <<<"$output")$(wc -l <<<"$output")" = 22 ]
}

@test "tfs-dns: a query whose answer may be lost is unknown" {
	{
		call 1000 5 "sendto(3<UDP:0.0.0.0:4000>, \"$Q$QUESTION\"$TO"
		call 1010 5 "sendto(3<UDP:0.0.0.0:4001>, \"$Q$QUESTION\"$TO"
		echo 'CPU:1 [LOST 7 EVENTS]'
		call 1100 5 "sendto(3<UDP:0.0.0.0:4002>, \"$Q$QUESTION\"$TO"
		call 1200 5 'close(3<UDP:0.0.0.0:4000>) = 0'
		call 1300 5 'close(3<UDP:0.0.0.0:4002>) = 0'
		call 1500 10 "recvfrom(3<UDP:0.0.0.0:4001>, \"$R$QUESTION$RECORD\"$FROM"
	} | found >became
	sed 's/^name=.* code=//' became | diff - <(printf '%s\n' 'CPU:1 [LOST 7 EVENTS]' 'unknown lat=205' 'unanswered lat=205' \
		'NOERROR lat=500 answers=1 addresses=10.1.2.3')
}

@test "tfs-dns: a socket that another process closes may still have an answer" {
	call 1000 5 "sendto(3<UDP:0.0.0.0:4000>, \"$Q$QUESTION\"$TO" >lines
	call 1200 5 'close(3<UDP:0.0.0.0:4000>) = 0' | sed 's/dns-77 /dns-78 /' >>lines
	run -0 found <lines
	[ "${output##* code=}" = "unanswered lat=205" ]
	call 1500 10 "recvfrom(3<UDP:0.0.0.0:4000>, \"$R$QUESTION$RECORD\"$FROM" >>lines
	run -0 found <lines
	[ "${output##* code=}" = "NOERROR lat=510 answers=1 addresses=10.1.2.3" ]
}

@test "tfs-dns: puts messages of a connection together, and finds the next one after bytes that are not known" {
	S='<TCP:10.0.0.9:4000->10.0.0.1:53>'
	{
		call 1000 5 "writev(3$S, [{iov_base=\"\\0\\35\", iov_len=2}, {iov_base=\"$Q\", iov_len=12}], 2) = 14"
		call 1100 5 "write(3$S, \"$QUESTION\\0\", 18) = 18"
		call 1200 5 "write(3$S, \"\\35${Q/0224/0225}$QUESTION\", 30) = 30"
		call 2000 5 "read(3$S, \"\\0d$R$QUESTION\"..., 1000) = 80"
		call 2100 5 "read(3$S, \"zzzzzzzzzzzzzzzzzzzzzz\\0-\", 1000) = 24"
		call 2200 5 "read(3$S, \"${R/0224/0225}$QUESTION$RECORD\", 1000) = 45"
	} >lines
	tfs-dns <lines >out
	sed 's/^.*: dns_query: //; s/name=.*code/code/' out | diff - <(cat <<-'END'
	id=4660 code=NOERROR lat=1105 answers=1 cut=1
	id=4661 code=NOERROR lat=1105 answers=1 addresses=10.1.2.3
	# 1 answers are known only in part
	END
	)
	# where the next message begins is not known: nothing more of this side is found
	sed -i 's/"zz.*, 1000) = 24/"zz"..., 1000) = 24/' lines
	tfs-dns <lines >out
	sed 's/^.*: dns_query: //; s/name=.*code/code/' out | diff - <(cat <<-'END'
	id=4660 code=NOERROR lat=1105 answers=1 cut=1
	id=4661 code=unfinished lat=-
	# 2 answers are known only in part
	END
	)
}

@test "tfs-dns: names are printed as in zone files, and no name forges a field" {
	S='<UDP:10.0.0.9:4000->10.0.0.1:53>'
	{
		call 1000 5 "write(3$S, \"$Q\\17a.b\\\\c code=X\\n\\\"\\377\\0\\0\\34\\0\\1\", 33) = 33"
		call 1010 5 "write(3$S, \"$Q\\0\\0\\2\\0\\1\", 17) = 17"
		call 1020 5 "write(3$S, \"$Q\\1x\\0\\377\\376\\0\\1\", 19) = 19"
	} >lines
	run -0 found <lines
	diff - <(echo "$output") <<-'END'
	name="a\\.b\\\\c\\032code=X\\010\"\\255" type=AAAA server=10.0.0.1 port=53 protocol=udp code=unfinished lat=-
	name=. type=NS server=10.0.0.1 port=53 protocol=udp code=unfinished lat=-
	name=x type=TYPE65534 server=10.0.0.1 port=53 protocol=udp code=unfinished lat=-
	END
	grep '^ *1 a\\\\\.b\\\\\\\\c\\\\032code=X\\\\010"\\\\255$' <(tfs-count -k name <out)
	need_tool python3
	tfs-dns -j <lines >json
	[ "$(python3 -c 'import json; print(json.loads(open("json").readline())["fields"]["name"])')" = 'a\.b\\c\032code=X\010"\255' ]
}

@test "tfs-dns: messages that make no sense, and connections to other resolvers, are counted" {
	S='<UDP:10.0.0.9:4000->10.0.0.1:53>'
	{
		call 1000 5 "write(3$S, \"hello\", 5) = 5"
		call 1001 5 "write(3$S, \"$Q\\300\\f\\0\\1\\0\\1\", 18) = 18"
		call 1002 5 "write(3$S, \"$Q\\100example\\3org\\0\\0\\1\\0\\1\", 29) = 29"
		call 1003 5 "write(3$S, \"$Q\\7exam\", 17) = 17"
		call 1004 5 'write(3<UDP:10.0.0.9:4000->10.0.0.1:54>, "hello", 5) = 5'
		call 1005 5 'write(3</tmp/UDP:1.2.3.4:4->1.1.1.1:53>, "hello", 5) = 5'
		call 1006 5 'connect(3<UNIX-STREAM:[9]>, {sa_family=AF_UNIX, sun_path="/run/systemd/resolve/io.systemd.Resolve"}, 44) = 0'
		call 1007 5 'connect(3<UNIX-STREAM:[9]>, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = -1 ENOENT'
	} >lines
	run -1 tfs-dns <lines
	[ "$output" = "# 1 connections to systemd-resolved or nscd, which answer without DNS
# 4 messages to or from a server were not understood
tfs-dns: no such query in the trace" ]
	run -1 tfs-dns -j <lines
	[[ $output == '{"comment":"1 connections to systemd-resolved or nscd, which answer without DNS"}'* ]]
}

@test "tfs-dns: the oldest of too many queries ends, also if it is an answer that waits for its query" {
	{
		call 900 200 "recvfrom(3<UDP:0.0.0.0:4000>, \"$R$QUESTION$RECORD\"$FROM"
		call 1000 1 "sendto(3<UDP:0.0.0.0:PORT>, \"ID${Q:5}$QUESTION\"$TO" >form
		LC_ALL=C awk '{ for (i = 0; i < 65535; i++) {
			line = $0
			sub(/PORT/, 5000 + int(i / 256), line)
			sub(/ID/, sprintf("\\\\1\\\\%03o", i % 256), line)
			print line
		} }' form
		call 1000 1 "sendto(3<UDP:0.0.0.0:4000>, \"$Q$QUESTION\"$TO"
		call 1300 1 "recvfrom(3<UDP:0.0.0.0:4000>, \"$R$QUESTION$RECORD\"$FROM"
	} >lines
	tfs-dns lines >got
	[ "$(grep -c ' code=unfinished ' got)" = 65535 ]
	[ "$(grep -c ' code=NOERROR ' got)" = 1 ]
	grep -qx '# 1 answers without a query' got
}

@test "tfs-dns: a path of a UNIX socket is no address, and a failure ends only the process's own queries" {
	{
		call 1000 1 "sendto(3<UDP:0.0.0.0:4000>, \"$Q$QUESTION\"$TO"
		call 1100 1 "sendto(3<UNIX:/tmp/x:4000->10.0.0.1:53>, \"$Q$QUESTION\", 29, 0, NULL, 0) = 29" | sed 's/dns-77 /oth-78 /'
		call 1200 1 'recvmsg(3<UDP:0.0.0.0:4000>, 0x1, 0) = -1 EFAULT' | sed 's/dns-77 /oth-78 /'
		call 1500 1 "recvfrom(3<UDP:0.0.0.0:4000>, \"$R$QUESTION$RECORD\"$FROM"
	} >lines
	run -0 found <lines
	[ "$output" = "name=example.org type=A server=10.0.0.1 port=53 protocol=udp code=NOERROR lat=501 answers=1 addresses=10.1.2.3" ]
}

@test "tfs-dns: a file's name and a task's name change nothing in the form of the output" {
	{
		echo '==> a"b\c <=='
		call 1000 1 "sendto(3<UDP:0.0.0.0:4000>, \"$Q$QUESTION\"$TO"
		call 1100 1 "sendto(3<UDP:0.0.0.0:4001>, \"$Q$QUESTION\"$TO" | sed 's/^ *dns-77 /{aaaaaaaaaaaaaa-77/'
		call 1500 1 "recvfrom(3<UDP:0.0.0.0:4000>, \"$R$QUESTION$RECORD\"$FROM"
	} >lines
	tfs-dns <lines >got
	run -1 grep '^{"' got
	tfs-dns -j <lines >got
	grep -v '^#' got | jq -e . >/dev/null
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-export: makes records ready to leave the host: JSON with their origin, and OTLP

load ../helper

BOOT=01234567-89ab-cdef-0123-456789abcdef
# published .proto files of OpenTelemetry, from the npm registry
PROTOS=@opentelemetry/otlp-grpc-exporter-base@0.30.0

# tfs-export [ARGUMENT]...: Run it with a procfs of the test's own.
tfs-export() {
	mkdir -p proc/sys/kernel/random
	echo "$BOOT" >proc/sys/kernel/random/boot_id
	TRACER_PROCFS_PATH=$PWD/proc command tfs-export "$@"
}

# in_cgroup PID PATH: Make a task in this cgroup.
in_cgroup() {
	mkdir -p "proc/$1"
	echo "0::$2" >"proc/$1/cgroup"
}

# event PID NANOSECONDS FIELDS [EVENT]: Print an event, so long after second 1795559358.
event() {
	printf '{"ts":%d.%09d,"timeUnixNano":"%d","cpu":1,"pid":%d,"comm":"task","system":"demo","event":"%s","fields":%s}\n' \
		$(($2 / 1000000000)) $(($2 % 1000000000)) $((1795559358000000000 + $2)) "$1" "${4-demo}" "$3"
}

# call PID NANOSECONDS NAME RESULT TIME ARGUMENTS: Print a decoded call.
call() {
	event "$1" "$2" "{\"ret\":$4,\"lat\":$5,\"args\":[$6]}" "sys_exit_$3"
}

# mark PID NANOSECONDS TEXT HOST: Print a mark line of a request probe on a host.
mark() {
	event "$1" "$2" "{\"bpf_string\":\"$3\"}" bpf_trace_printk | sed "s/}\$/,\"host\":\"$4\"}/"
}

# by_schema logs|spans: Print the records of OTLP lines, parsed by the published schema.
by_schema() {
	/usr/bin/python3 "$TREE/t/prog/otlp.py" "$BATS_FILE_TMPDIR/protos" "$1"
}

# Fetch the schema, once, and make python's modules of it; skip the test if that is impossible.
need_schema() {
	local to=$BATS_FILE_TMPDIR/protos package
	need_tool npm protoc python3
	/usr/bin/python3 -c 'import google.protobuf' 2>/dev/null || skip "needs python3-protobuf"
	[ ! -e "$to" ] || return 0
	mkdir -p "$TREE/build/npm" "$to.new"
	package=$TREE/build/npm/otlp-protos.tgz
	[ -s "$package" ] || (cd "$to.new" && npm pack --silent "$PROTOS" >/dev/null 2>&1 &&
		mv ./*.tgz "$package") || skip "needs $PROTOS from the npm registry"
	tar -xzf "$package" -C "$to.new" package/build/protos
	(cd "$to.new/package/build/protos" &&
		find opentelemetry -name '*.proto' -exec protoc --python_out="$to.new" {} +)
	mv "$to.new" "$to"
}

@test "tfs-export: refuses lines that are not records, and records without a date" {
	for line in 'cat-1 [000] ..... 1.0: demo: a=1' '{"a":1' '[1]' '' '{"a":"}'; do
		echo "$line" >line
		fails 111 "tfs-export: fatal: line 1 is not a JSON record; tfs-run --json --date prints such lines" \
			tfs-export <line
	done
	event 1 5 '{}' | sed 's/"timeUnixNano":"[0-9]*",//' >line
	fails 111 "tfs-export: fatal: line 1 has no timeUnixNano; tfs-run --json --date and tfs-report -j -d print it" \
		tfs-export <line
	run -1 tfs-export </dev/null
	[ "$output" = "tfs-export: no line in the trace" ]
}

# bats test_tags=quick
@test "tfs-export: adds host, boot, session, number, container and pod before a record" {
	local id=4f2a00112233445566778899aabbccddeeff00112233445566778899aabbccdd
	in_cgroup 7 "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0a1b2c3d_1111_2222_3333_444455556666.slice/cri-containerd-$id.scope"
	in_cgroup 8 /user.slice/session-1.scope
	event 7 5 '{"a":1}' >line
	event 8 6 '{"a":2}' >>line
	event 9 7 '{"a":3}' >>line
	tfs-export -H web -s mine <line >got
	{
		printf '{"host":"web","boot_id":"%s","session":"mine","seq":1,"container_id":"%s","pod_uid":"0a1b2c3d-1111-2222-3333-444455556666",%s\n' \
			"$BOOT" "$id" "$(sed -n '1s/{//p' line)"
		printf '{"host":"web","boot_id":"%s","session":"mine","seq":2,%s\n' "$BOOT" "$(sed -n '2s/{//p' line)"
		printf '{"host":"web","boot_id":"%s","session":"mine","seq":3,%s\n' "$BOOT" "$(sed -n '3s/{//p' line)"
	} | diff - got
	TFS_INSTANCE=tfs.x tfs-export -n -H web <line >got
	[ "$(grep -c '"session":"tfs.x","seq":[123],"ts":' got)" = 3 ]
}

@test "tfs-export: finds the container in the cgroups of docker, podman, CRI-O and cgroupfs" {
	local id=4f2a00112233445566778899aabbccddeeff00112233445566778899aabbccdd path n=10
	for path in "/system.slice/docker-$id.scope" "/docker/$id" "/machine.slice/libpod-$id.scope/container" \
		"/kubepods/besteffort/pod0a1b2c3d-1111-2222-3333-444455556666/$id" \
		"/kubepods.slice/crio-$id.scope" "/lxc/abc" "/a/pod0a1b2c3d-1111" \
		"/x/${id}0" "/$id.service/${id%dd}ee"; do
		in_cgroup $n "$path"
		event $n 5 '{}'
		n=$((n + 1))
	done | tfs-export | sed 's/.*"seq":\([0-9]*\)/\1/; s/"ts":.*//' >got
	diff - got <<-EOF
		1,"container_id":"$id",
		2,"container_id":"$id",
		3,"container_id":"$id",
		4,"container_id":"$id","pod_uid":"0a1b2c3d-1111-2222-3333-444455556666",
		5,"container_id":"$id",
		6,
		7,
		8,
		9,"container_id":"$id",
	EOF
}

@test "tfs-export: takes the outermost container and its pod, and none if the hierarchies disagree" {
	local a=4f2a00112233445566778899aabbccdd b=bbbb00112233445566778899aabbccdd n=20 text
	local uid=0a1b2c3d-1111-2222-3333-444455556666
	for text in "0::/docker/$b/docker-$a.scope" "0::/docker-$b.scope/kubepods/pod$uid/$a" \
		"0::/kubepods/pod$uid/$b/kubepods-pod1${uid#0}/$a" "0::/app.service/kubepods-pod$uid/x" \
		"2:cpu:/docker/$b\n0::/docker/$b/$a" "2:cpu:/docker/$b\n0::/docker/$a" \
		"0::/ecs/$a/$b" "0::/ecs/$a/$a-1234" "0::/kubepods/pod$a/$b"; do
		in_cgroup $n /
		printf '%b\n' "$text" >"proc/$n/cgroup"
		event $n 5 '{}'
		n=$((n + 1))
	done | tfs-export | sed 's/.*"seq":\([0-9]*\)/\1/; s/"ts":.*//' >got
	diff - got <<-EOF
		1,"container_id":"$b",
		2,"container_id":"$b",
		3,"container_id":"$b","pod_uid":"$uid",
		4,
		5,"container_id":"$b",
		6,
		7,"container_id":"$b",
		8,"container_id":"$a",
		9,"container_id":"$b","pod_uid":"$a",
	EOF
}

@test "tfs-export: looks up the container of a task again after a second" {
	in_cgroup 7 /
	mkfifo in
	tfs-export <in >got &
	exec 4>in
	event 7 5 '{}' >&4
	while [ ! -s got ]; do :; done
	in_cgroup 7 /docker/4f2a00112233445566778899aabbccdd
	event 7 900000000 '{}' >&4
	event 7 1000000005 '{}' >&4
	exec 4>&-
	wait $!
	[ "$(grep -c container_id got)" = 1 ]
	[ "$(sed -n '3s/.*"container_id":"\([^"]*\)".*/\1/p' got)" = 4f2a00112233445566778899aabbccdd ]
}

@test "tfs-export: passes lost events on, and dates the counts at the end of the trace" {
	{
		event 7 5 '{"a":1}'
		echo '{"ts":0.000000006,"timeUnixNano":"1795559358000000006","cpu":1,"lost":204}'
		echo '{"lost":204,"overwritten":204,"unwritten":0}'
	} | tfs-export -n -H h >got
	[ "$(sed -n '2s/.*"seq":2,//p' got)" = '"ts":0.000000006,"timeUnixNano":"1795559358000000006","cpu":1,"lost":204}' ]
	[ "$(sed -n '3s/.*"seq":3,//p' got)" = '"timeUnixNano":"1795559358000000006","lost":204,"overwritten":204,"unwritten":0}' ]
}

@test "tfs-export: -m: prints no longer line, each is JSON, and a cut record says so" {
	need_tool python3
	python3 - >lines <<-'EOF'
		import json
		def event(fields):
		    print(json.dumps({"ts": 1, "timeUnixNano": "1795559358000000006", "cpu": 0, "pid": 7,
		        "comm": "\n" * 15, "system": "s", "event": "sys_exit_x", "fields": fields},
		        separators=(",", ":"), ensure_ascii=len(str(fields)) % 2 == 0))
		for n in list(range(3600, 4100, 7)) + [9000, 100000]:
		    event({"a": "\u20ac" * (n // 3), "b": 2})
		    event({"a": "\n" * (n // 2), "b": 2})
		    event({"a": "\\" * n, "b": 2, "c": "x"})
		    event({"n": list(range(n // 4)), "b": 2})
		    event({"ret": 1, "lat": 1.5, "args": [{"name": "n", "value": "0x1", "text": "\"y\"" * (n // 40)}] * 6})
		    event({"k%d" % i: i for i in range(n // 8)})
		    event({"error": "E" * n, "lat": 1, "b": "x" * n})
		    event({"n": [1] * (n // 2), "m": [[]] * (n // 4), "o": {"p": [{}] * 99}})
	EOF
	{ # names that are longer than any of a kernel
		event 7 6 '{"lat":1}' | sed "s/task/$(printf '%5000s' '' | tr ' ' c)/"
		event 7 6 '{"lat":1}' "$(printf '%5000s' '' | tr ' ' e)"
		event 7 6 '{"lat":1}' | sed "s/\"cpu\"/\"other\":\"$(printf '%5000s' '' | tr ' ' o)\",&/"
		event 7 6 '{"lat":1}' | sed "s/\"fields.*/\"host\":\"$(printf '%5000s' '' | tr ' ' h)\"}/"
	} >>lines
	for format in json logs spans; do
		for options in '' -x; do
			# shellcheck disable=SC2086 # no word or one
			tfs-export -n -H web -s mine -m 4096 -f $format $options <lines >got
			# shellcheck disable=SC2086 # no word or one
			python3 - "$format" $options 3<got <<-'EOF'
				import json, sys
				lines = [line for line in open(3, encoding="utf-8")]
				assert max(map(len, (line.encode() for line in lines))) <= 4096
				records = [json.loads(line) for line in lines]
				if sys.argv[1] == "json":
				    assert len(records) == 596, len(records)
				    assert [r["seq"] for r in records] == list(range(1, 597))
				    cut = sum("cut" in r.get("fields", r) for r in records)
				    assert cut == (218 if sys.argv[2:] else 418), cut
			EOF
		done
	done
}

@test "tfs-export: -x leaves out strings, structures and data of programs" {
	{
		call 7 5 openat 3 1.5 '{"name":"dfd","value":-100,"text":"AT_FDCWD"},{"name":"filename","value":"0x7f00","text":"\"secret\""},{"name":"flags","value":0,"text":"O_RDONLY"}'
		call 7 6 connect 0 1.5 '{"name":"addr","value":"0x7f10","text":"{sa_family=AF_UNIX, sun_path=\"secret\"}"},{"name":"fd","value":3,"text":"3</secret>"}'
		event 7 7 '{"filename":"/secret","prev_comm":"ls","address":"0x7f00","n":[1,2]}' sched_process_exec
	} | tfs-export -nx | sed 's/.*"fields"://' >got
	diff - got <<-'EOF'
		{"ret":3,"lat":1.5,"args":[{"name":"dfd","value":-100,"text":"AT_FDCWD"},{"name":"filename","value":"0x7f00","text":"0x7f00"},{"name":"flags","value":0,"text":"O_RDONLY"}]}}
		{"ret":0,"lat":1.5,"args":[{"name":"addr","value":"0x7f10","text":"0x7f10"},{"name":"fd","value":3,"text":"3"}]}}
		{"filename":"","prev_comm":"ls","address":"0x7f00","n":[1,2]}}
	EOF
}

@test "tfs-export: -k and -r leave out exactly what they count, and no report of lost events" {
	for i in {0..999}; do
		event 7 $((i * 10000000)) "{\"a\":$i}"
	done >lines
	echo '{"ts":9.99,"timeUnixNano":"1795559367990000000","cpu":1,"lost":5}' >>lines
	tfs-export -n -k 10 <lines >got
	[ "$(grep -c '"a":' got)" = 100 ]
	[ "$(grep -c '"lost":5' got)" = 1 ]
	[ "$(sed -n 's/.*"left_out":\([0-9]*\),"by":"sample".*/\1/p' got)" = 900 ]
	tfs-export -n -r 30 <lines >got
	[ "$(grep -c '"a":' got)" = 300 ]
	[ "$(grep -c '"lost":5' got)" = 1 ]
	[ "$(sed -n 's/.*"left_out":\([0-9]*\),"by":"rate".*/\1/p' got | tr '\n' ' ')" = \
		'70 70 70 70 70 70 70 70 70 70 ' ]
}

@test "tfs-export: logs: each record is a log record of OTLP's schema, by container" {
	need_schema
	in_cgroup 7 /docker/4f2a00112233445566778899aabbccdd
	{
		event 7 5 '{"a":-1,"s":"x\ty","big":18446744073709551615,"f":1.5,"n":[1,2],"z":null,"t":true}'
		call 8 6 openat -2 1.5 '{"name":"filename","value":"0x7f00","text":"\"/x\""}'
		echo '{"ts":0.000000006,"timeUnixNano":"1795559358000000007","cpu":1,"lost":204}'
		echo '{"lost":205,"overwritten":205,"unwritten":0}'
	} | tfs-export -f logs -H web -s mine >lines
	file_has 1 lines
	by_schema logs <lines >got
	diff - got <<-EOF
		host.name=web tfs.boot_id=$BOOT tfs.session=mine container.id=4f2a00112233445566778899aabbccdd service.name=unknown_service | 1795559358000000005 INFO demo thread.id=7 thread.name=task cpu.logical_number=1 tfs.seq=1 tfs.system=demo tfs.arg.a=-1 tfs.arg.s=x	y tfs.arg.big=18446744073709551615 tfs.arg.f=1.5 tfs.arg.n=[1,2] tfs.arg.z=null tfs.arg.t=True
		host.name=web tfs.boot_id=$BOOT tfs.session=mine service.name=unknown_service | 1795559358000000006 INFO sys_exit_openat thread.id=8 thread.name=task cpu.logical_number=1 tfs.seq=2 tfs.system=demo tfs.ret=-2 tfs.lat=1.5 tfs.arg.filename="/x"
		host.name=web tfs.boot_id=$BOOT tfs.session=mine service.name=tfs-tools | 1795559358000000007 WARN lost_events cpu.logical_number=1 tfs.seq=3 tfs.lost=204
		host.name=web tfs.boot_id=$BOOT tfs.session=mine service.name=tfs-tools | 1795559358000000007 WARN lost_events tfs.seq=4 tfs.lost=205 tfs.overwritten=205
	EOF
}

# spans [OPTION]...: Export spans of lines, and print them by the schema: traces as T1 T2..., ids of 16
# digits as S1 S2..., times without what all have in front.
spans() {
	tfs-export -n -f spans -H web "$@" <lines | by_schema spans | cut -d '|' -f 2- |
		awk '{ t[$1] = t[$1] ? t[$1] : "T" ++n; $1 = t[$1]
			for (i = 2; i < 4; i++)
				if ($i != "-" && $i !~ /^00f067/)
					$i = s[$i] = s[$i] ? s[$i] : "S" ++m
			print }' | sed 's/17955593580000//g; s/thread.name=task cpu.logical_number=1 tfs.//' >got
}

@test "tfs-export: spans: calls, waits and requests of disks have their own times, below a root of their thread" {
	need_schema
	{
		call 7 5000 openat 3 1.5 '{"name":"filename","value":"0x7f00","text":"\"/x\""}'
		event 7 6000 '{"ret":-13,"error":"EACCES","lat":0.250,"args":[]}' sys_exit_stat
		event 9 9000 '{"prev_pid":9,"next_comm":"task","next_pid":7,"lat":2.000}' sched_switch
		event 9 9100 '{"dev":1,"by":"dd","by_pid":8,"lat":2.000}' block_rq_complete | sed s/demo/block/
		event 7 9500 '{"a":1}'
		echo '{"ts":0.000000006,"timeUnixNano":"1795559358000009600","cpu":1,"lost":204}'
	} >lines
	spans
	sort got >sorted # the roots come in any order
	sort <<-'EOF' | diff - sorted
		T1 S1 S2 1 openat 05000 06500 - thread.id=7 seq=1 tfs.system=demo tfs.ret=3 tfs.lat=1.5 tfs.arg.filename="/x"
		T1 S3 S2 1 stat 06000 06250 EACCES thread.id=7 seq=2 tfs.system=demo tfs.ret=-13 error.type=EACCES tfs.lat=0.25
		T1 S4 S2 1 sched_switch 07000 09000 - thread.id=7 seq=3 tfs.system=demo tfs.arg.prev_pid=9 tfs.arg.next_comm=task tfs.arg.next_pid=7 tfs.lat=2.0
		T2 S5 S6 1 block_rq_complete 07100 09100 - thread.id=8 thread.name=dd cpu.logical_number=1 tfs.seq=4 tfs.system=block tfs.arg.dev=1 tfs.arg.by=dd tfs.arg.by_pid=8 tfs.lat=2.0
		T3 S7 - 1 lost events 09600 09600 - cpu.logical_number=1 tfs.seq=6 tfs.lost=204
		T2 S6 - 1 dd 07100 09100 - thread.id=8 thread.name=dd
		T1 S2 - 1 task 05000 09000 - thread.id=7 thread.name=task
		T4 S8 - 1 left_out 09600 09600 - tfs.seq=7 tfs.arg.left_out=1 tfs.arg.by=no duration tfs.lat=0.0
	EOF
}

@test "tfs-export: spans: a call that seccomp answers is one that takes no time" {
	need_schema
	{
		event 7 6000 '{"ret":-1,"error":"EPERM","denied":true,"args":[]}' sys_exit_mkdir
		event 7 7000 '{"ret":0,"emulated":true,"args":[]}' sys_exit_getppid
		event 7 8000 '{"ret":0,"args":[]}' sys_exit_getpid
	} >lines
	spans -S 1
	sort got >sorted
	sort <<-'EOF' | diff - sorted
		T1 S1 S2 1 mkdir 06000 06000 EPERM thread.id=7 seq=1 tfs.system=demo tfs.ret=-1 error.type=EPERM tfs.arg.denied=True
		T1 S3 S2 1 getppid 07000 07000 - thread.id=7 seq=2 tfs.system=demo tfs.ret=0 tfs.arg.emulated=True
		T1 S2 - 1 task 06000 07000 - thread.id=7 thread.name=task
		T2 S4 - 1 left_out 08000 08000 - tfs.seq=4 tfs.arg.left_out=1 tfs.arg.by=no duration tfs.lat=0.0
	EOF
}

@test "tfs-export: spans: a root lasts at most a minute, and no span is without its parent" {
	need_schema
	for i in {0..299}; do
		call 7 $((i * 1000000000)) read 3 0.5 ''
		call $((1000 + i)) $((i * 1000000000 + 500)) read 3 0.5 ''
	done >lines
	spans
	[ "$(grep -c ' read ' got)" = 600 ]
	# five roots of task 7, and one of each other task
	[ "$(awk '$3 == "-"' got | wc -l)" = 305 ]
	[ "$(awk '{ id[$2] } $3 != "-" { parent[$3] } END { for (i in parent) n += !(i in id); print n + 0 }' got)" = 0 ]
	[ "$(cut -d ' ' -f 2 got | sort | uniq -d)" = "" ]
}

@test "tfs-export: spans: -S adds up short calls by name and place, and each call is in one span" {
	need_schema
	{
		for i in 1 2 3 4 5 6; do
			call 7 $((i * 1000)) read $i 0.5 ''
		done
		event 7 8000 '{"ret":-13,"error":"EACCES","lat":0.250,"args":[]}' sys_exit_read
		call 7 9000 read 1 1.0 ''
		call 7 9500 write 1 0.999 ''
	} >lines
	spans -S 1
	diff - got <<-'EOF'
		T1 S1 S2 1 read 09000 10000 - thread.id=7 seq=8 tfs.system=demo tfs.ret=1 tfs.lat=1.0
		T1 S3 S2 1 write 09500 10499 - thread.id=7 thread.name=task tfs.calls=1 tfs.errors=0 tfs.lat=0.999
		T1 S4 S2 1 read 01000 08250 - thread.id=7 thread.name=task tfs.calls=7 tfs.errors=1 tfs.lat=3.25
		T1 S2 - 1 task 01000 10499 - thread.id=7 thread.name=task
	EOF
}

# in_span: Print the fields that --otel adds.
in_span() {
	echo "\"trace_id\":\"4bf92f3577b34da6a3ce929d0e0e4736\",\"span_id\":\"00f067aa0ba902b$1\",\"trace_flags\":\"0${2-1}\""
}

@test "tfs-export: spans: events of a span of the application are below it, unless it is not sampled" {
	need_schema
	{
		event 7 1000 "{\"ret\":1,\"lat\":0.5,\"args\":[],$(in_span 7)}" sys_exit_read
		event 7 2000 "{\"ret\":1,\"lat\":0.5,\"args\":[],$(in_span 7)}" sys_exit_read
		event 7 3000 "{\"ret\":1,\"lat\":0.5,\"args\":[],$(in_span 8)}" sys_exit_read
		event 7 4000 "{\"ret\":1,\"lat\":0.5,\"args\":[],$(in_span 9 0)}" sys_exit_read
		event 7 5000 "{\"sport\":80,$(in_span 8)}" tcp_retransmit_skb
	} >lines
	spans
	diff - got <<-'EOF'
		T1 S1 00f067aa0ba902b7 1 read 01000 01500 - thread.id=7 seq=1 tfs.system=demo tfs.ret=1 tfs.lat=0.5
		T1 S2 00f067aa0ba902b7 1 read 02000 02500 - thread.id=7 seq=2 tfs.system=demo tfs.ret=1 tfs.lat=0.5
		T1 S3 00f067aa0ba902b8 1 read 03000 03500 - thread.id=7 seq=3 tfs.system=demo tfs.ret=1 tfs.lat=0.5
		T2 S4 S5 1 read 04000 04500 - thread.id=7 seq=4 tfs.system=demo tfs.ret=1 tfs.lat=0.5
		T1 S6 00f067aa0ba902b8 1 tcp_retransmit_skb 05000 05000 - thread.id=7 seq=5 tfs.system=demo tfs.arg.sport=80
		T2 S5 - 1 task 04000 04500 - thread.id=7 thread.name=task
	EOF
	spans -S 1
	[ "$(grep -c ' read .*tfs.calls=2 ' got)" = 1 ]
	[ "$(grep -c ' read .*tfs.calls=1 ' got)" = 2 ]
	tfs-export -n -f spans -H web <lines >sent
	[ "$(grep -o '"traceId":"4bf92f3577b34da6a3ce929d0e0e4736"' sent | wc -l)" = 4 ]
	tfs-export -n -f logs -H web <lines | by_schema logs >got
	[ "$(grep -c ' 4bf92f3577b34da6a3ce929d0e0e4736 00f067aa0ba902b[789]$' got)" = 5 ]
	run ! grep -q 'tfs.arg.\(trace_id\|span_id\|trace_flags\)' got
}

@test "tfs-export: spans: the window of a request links to the application's span in it" {
	{
		mark 80 2000 'dtB 2a 80 a1' b
		event 80 2500 "{\"ret\":1,\"lat\":0.5,\"args\":[],$(in_span 7)}" sys_exit_read | sed 's/}$/,"host":"b"}/'
		mark 80 7100 'dtE 2a 80 a1' b
	} | tfs-export -n -f spans >got
	[ "$(grep -o '"kind":2,.*"links":.*}]' got | grep -o '"links":[^]]*]')" = \
		'"links":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7"}]' ]
}

@test "tfs-export: spans: a message of a selected task has a trace, and links to the span in which it was sent" {
	need_schema
	{
		event 9 1000 '{"ip":1,"buf":"dtB 2a 7 0\n"}' print
		event 7 2000 "{\"key\":\"0xa1\",\"probe\":42,\"task\":7,\"what\":\"dtM\",$(in_span 7)}" mark
		event 7 3000 "{\"key\":\"0xa2\",\"probe\":42,\"task\":7,\"what\":\"dtR\",$(in_span 7)}" mark
		event 7 4000 "{\"bpf_string\":\"dtM 2a 7 a3\",\"otel\":\"none\"}" bpf_trace_printk
		event 7 5000 '{"bpf_string":"dtE 2a 7 0"}' bpf_trace_printk
	} >lines
	tfs-export -n -f spans <lines >got
	grep -o '"traceId":"[0-9a-f]*","spanId":"[0-9a-f]*"\(}\|,"name":"task","kind":.\)' got >ids
	lines_are ids '"traceId":"00000000000000a100000000000000a1","spanId":"00000000000000a1","name":"task","kind":3
"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7"}
"traceId":"00000000000000a300000000000000a3","spanId":"00000000000000a3","name":"task","kind":3'
}

@test "tfs-export: a lookup that finds nothing and EAGAIN are no errors, unless -e is given" {
	need_schema
	for what in openat:ENOENT statx:ENOENT access:ENOTDIR execve:ENOENT read:EAGAIN ioctl:ENOTTY \
		connect:EINPROGRESS read:ERESTARTSYS unlink:ENOENT openat:EACCES connect:ECONNREFUSED; do
		event 7 5000 "{\"ret\":-2,\"error\":\"${what#*:}\",\"lat\":0.250,\"args\":[]}" "sys_exit_${what%:*}"
	done >lines
	spans
	[ "$(awk '$8 != "-" { printf "%s ", $8 }' got)" = "ENOENT EACCES ECONNREFUSED " ]
	[ "$(grep -c ' error.type=' got)" = 3 ]
	[ "$(grep -c ' tfs.error=' got)" = 8 ]
	spans -e
	[ "$(grep -c ' error.type=' got)" = 11 ]
	[ "$(awk '$8 ~ /^E/' got | wc -l)" = 11 ]
}

@test "tfs-export: sockets have the attributes of network, with addresses as text" {
	need_schema
	local four='"saddr":[127,0,0,1],"daddr":[10,0,0,2],"saddr_v6":[0,0,0,0,0,0,0,0,0,0,255,255,127,0,0,1],"daddr_v6":[0,0,0,0,0,0,0,0,0,0,255,255,10,0,0,2]'
	local six='"saddr":[0,0,0,0],"daddr":[0,0,0,0],"saddr_v6":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1],"daddr_v6":[32,1,13,184,0,0,0,0,0,0,0,0,0,0,0,2]'
	{
		event 7 1 "{\"sport\":80,\"dport\":443,\"family\":2,\"protocol\":6,$four}" inet_sock_set_state
		event 7 2 "{\"sport\":0,\"dport\":443,\"family\":10,\"protocol\":17,$six}" inet_sock_set_state
		event 7 3 '{"saddr":"::1","sport":1,"daddr":"fe80::2","dport":2,"side":"connect","lat":1.0}' tcp_connect
		event 7 4 '{"saddr":[1,2,3],"protocol":300,"family":3}' inet_sock_set_state
		# the error of a ping, whose protocol is ICMP
		event 7 5 '{"error":111,"protocol":1,"family":2}' inet_sk_error_report
	} | sed 's/demo/sock/' | tfs-export -n -f logs -H web | by_schema logs | sed 's/.*tfs.system=sock //' >got
	diff - got <<-'EOF'
		network.local.port=80 network.peer.port=443 network.type=ipv4 network.transport=tcp network.local.address=127.0.0.1 network.peer.address=10.0.0.2
		network.peer.port=443 network.type=ipv6 network.transport=udp network.local.address=::1 network.peer.address=2001:db8::2
		network.local.address=::1 network.local.port=1 network.peer.address=fe80::2 network.peer.port=2 tfs.arg.side=connect tfs.lat=1.0
		tfs.arg.saddr=[1,2,3] tfs.arg.protocol=300 tfs.arg.family=3
		tfs.arg.error=111 tfs.arg.protocol=1 network.type=ipv4
	EOF
}

@test "tfs-export: a DNS query has the attributes of DNS, and one that fails is an error" {
	need_schema
	local of='"name":"a.test","type":"A","server":"::1","port":53,"protocol":"udp"'
	{
		event 7 9000000 "{\"id\":1,$of,\"code\":\"NOERROR\",\"lat\":7.5,\"addresses\":[\"10.0.0.1\",\"::2\"]}" dns_query
		event 7 9000001 "{\"id\":2,$of,\"code\":\"unanswered\",\"lat\":null}" dns_query
	} | sed 's/demo/dns/' >lines
	tfs-export -n -f logs -H web <lines | by_schema logs | sed 's/.*tfs.system=dns //' >got
	diff - got <<-'EOF'
		tfs.arg.id=1 dns.question.name=a.test tfs.arg.type=A server.address=::1 server.port=53 network.transport=udp tfs.lat=7.5 dns.answers=[10.0.0.1,::2]
		tfs.arg.id=2 dns.question.name=a.test tfs.arg.type=A server.address=::1 server.port=53 network.transport=udp error.type=unanswered tfs.lat=null
	EOF
}

@test "tfs-export: OTLP names the service as its process does, its program, the host and the cluster" {
	need_schema
	mkdir -p proc/6 proc/7 proc/9 proc/1/root/etc
	echo 0123456789abcdef0123456789abcdef >proc/1/root/etc/machine-id
	printf 'Name:\tworker\nTgid:\t9\nPid:\t7\nUid:\t0\t0\t0\t0\n' >proc/7/status
	ln -s /usr/bin/shopd proc/9/exe
	event 7 5 '{"a":1}' >line
	export OTEL_RESOURCE_ATTRIBUTES='k8s.node.name=n1, k8s.cluster.name = c%20d ,wrong , =,service.name=other'
	local all='host.name=web host.id=0123456789abcdef0123456789abcdef'
	all="$all tfs.boot_id=$BOOT tfs.session=1795559358000000005 process.pid=9 process.executable.name=shopd"
	local own='k8s.node.name=n1 k8s.cluster.name=c d |'
	tfs-export -f logs -H web <line | by_schema logs | sed 's/|.*/|/' >got
	printf 'A=b\0OTEL_SERVICE_NAME=shop\0OTEL_RESOURCE_ATTRIBUTES=k8s.pod.name=p,service.name=no,host.name=x,process.pid=1,tfs.session=z\0' >proc/9/environ
	tfs-export -f logs -H web <line | by_schema logs | sed 's/|.*/|/' >>got
	printf 'OTEL_RESOURCE_ATTRIBUTES=service.name=%%22till%%22\0' >proc/9/environ
	tfs-export -f logs -H web <line | by_schema logs | sed 's/|.*/|/' >>got
	diff - got <<-EOF
		$all service.name=shopd $own
		$all service.name=shop k8s.pod.name=p $own
		$all service.name="till" $own
	EOF
	# more attributes than there is room for
	printf 'OTEL_RESOURCE_ATTRIBUTES=%s,service.name=till\0' "$(seq -s , 100 230 | sed 's/[0-9][0-9]*/a&=1/g')" >proc/9/environ
	tfs-export -f logs -H web <line | by_schema logs >got
	[ "$(grep -o 'service.name=[^ ]*\|a1[0-9][0-9]=1' got | sort -u | wc -l)" -ge 20 ]
	grep -q 'process.executable.name=shopd a100=1 .* service.name=' got
	# threads of a process that has ended, and of the kernel
	printf 'Name:\tworker\nTgid:\t6\nPid:\t6\nUid:\t0\t0\t0\t0\n' >proc/6/status
	for pid in 4 5 6; do
		event $pid 5 '{"a":1}' | sed "s/task/worker-$pid/"
	done | tfs-export -f logs -H web | by_schema logs | grep -o 'service.name=[^ ]*' | sort | uniq -c >got
	echo '      3 service.name=unknown_service' | diff - got
	# a trace of another host
	tfs-export -n -f logs -H web <line | by_schema logs | sed 's/|.*/|/' >got
	echo "host.name=web tfs.boot_id=$BOOT tfs.session=1795559358000000005 service.name=task k8s.node.name=n1 k8s.cluster.name=c d |" | diff - got
}

# service_of PID: Print the attributes that OTLP has of the process.
service_of() {
	event "$1" 5 '{"a":1}' | TRACER_PROCFS_PATH=/proc command tfs-export -f logs -H web | by_schema logs |
		grep -o 'process.pid=.* |' | sed "s/=$1 /=PID /; s/ host.id=[^ ]*//; s/process.executable.name=[^ ]*/exe/"
}

@test "tfs-export: a process that publishes its context (OTEP 4719) is that service, by memfd and anonymous memory" {
	local kind words=(service.name='shop "1"' service.instance.id=i-1 deployment.environment.name=prod
		retries=-3 spare=true list=[a tfs.session=forged host.name=forged 'a b=no' process.pid=1)
	local all='process.pid=PID exe service.name=shop "1" service.instance.id=i-1 deployment.environment.name=prod retries=-3 spare=True'
	need_schema
	need_root
	for kind in memfd anonymous; do
		hold /usr/bin/python3 "$TREE/t/prog/context.py" "$BATS_FILE_TMPDIR/protos" $kind "${words[@]}"
		[ "$(cat ready)" = ready ] || { echo "# no names of anonymous memory" >&3; continue; }
		OTEL_RESOURCE_ATTRIBUTES='' service_of "$HELD" >got
		lines_are got "$all |"
		# while it writes, it is known by its program
		echo >"$GO"
		eventually file_has 2 ready
		service_of "$HELD" >got
		[[ "$(cat got)" == "process.pid=PID exe service.name=python3"* ]]
		echo >"$GO"
		eventually file_has 3 ready
		service_of "$HELD" >got
		lines_are got "$all service.version=two |"
		release "$HELD"
	done
}

@test "tfs-export: a process context that is cut, too long, or of another form gives no service, and no line but its own" {
	local change
	need_schema
	mkdir -p proc/9
	(cd proc/9 && /usr/bin/python3 "$TREE/t/prog/context.py" "$BATS_FILE_TMPDIR/protos" file \
		service.name='a"b' "long=$(printf '%.sx' {1..300})" key=v)
	printf 'Name:\tworker\nTgid:\t9\nPid:\t9\nUid:\t0\t0\t0\t0\n' >proc/9/status
	ln -s /usr/bin/shopd proc/9/exe
	event 9 5 '{"a":1}' >line
	services() {
		tfs-export -f logs -H web <line | by_schema logs | grep -o 'process.pid=9.* |' >>got
	}
	services
	cp proc/9/mem whole
	# signature, version, size, time, address; the tag and the length of the resource
	for change in 0:x 8:3 15:x 16:0 24:9 256:x 258:x; do
		cp whole proc/9/mem
		case ${change#*:} in 0) printf '\0' ;; x) printf '\377' ;; *) printf %s "${change#*:}" ;; esac |
			dd of=proc/9/mem bs=1 seek=$((0x4000 + ${change%:*})) conv=notrunc 2>/dev/null
		services
	done
	truncate -s $((0x4105)) proc/9/mem
	services
	cp whole proc/9/mem
	for change in '[anon:OTEL_CTX]' '[anon_shmem:OTEL_CTX]' '[anon:OTEL_CT]' '/a/memfd:OTEL_CTX'; do
		sed -i "\$s,[[/].*,$change," proc/9/maps
		services
	done
	{
		echo 'process.pid=9 process.executable.name=shopd service.name=a"b key=v |'
		for _ in {1..8}; do
			echo 'process.pid=9 process.executable.name=shopd service.name=shopd |'
		done
		for _ in {1..2}; do
			echo 'process.pid=9 process.executable.name=shopd service.name=a"b key=v |'
		done
		for _ in {1..2}; do
			echo 'process.pid=9 process.executable.name=shopd service.name=shopd |'
		done
	} | diff - got
}

@test "tfs-export: threads and children of a process that has ended are its service, and what they execute is another" {
	need_schema
	in_cgroup 9 /docker/4f2a00112233445566778899aabbccdd
	printf 'Name:\tworker\nTgid:\t9\nPid:\t9\nUid:\t0\t0\t0\t0\n' >proc/9/status
	ln -s /usr/bin/shopd proc/9/exe
	{
		event 9 1 '{"pid":40,"clone_flags":65536}' task_newtask
		event 9 2 '{"child_pid":41}' sched_process_fork
		event 9 2 '{"child_pid":42}' sched_process_fork
		event 40 3 '{}'
		event 41 4 '{}'
		event 42 5 '{"filename":"/bin/ls","pid":42}' sched_process_exec
		call 41 6 execve 0 1.0 '{"name":"filename","value":"0x1","text":"\"/usr/bin/env\""}'
		call 41 7 execve -2 1.0 '{"name":"filename","value":"0x1","text":"\"/usr/bin/no\""}'
		event 43 8 '{}' | sed 's/"pid":43/&,"tgid":41/'
		event 44 9 '{}'
	} >lines
	services() {
		tfs-export -f logs -H web <lines | by_schema logs |
			grep -o 'container.id=[0-9a-f]*\|process.pid=[0-9]*\|service.name=[^ ]*\|thread.id=[0-9]*' |
			paste -sd ' ' | sed 's/container.id=4f[^ ]*/C/g; s/\(thread.id=[0-9]*\) */\1\n/g' | tail -n 8 >got
	}
	services
	diff <(sed 's/ *$//; /^$/d' got) - <<-'EOF'
		C process.pid=9 service.name=shopd thread.id=40
		C process.pid=41 service.name=shopd thread.id=41
		C process.pid=42 service.name=ls thread.id=42
		C process.pid=41 service.name=env thread.id=41
		C process.pid=41 service.name=env thread.id=41
		C process.pid=41 service.name=env thread.id=43
		service.name=unknown_service thread.id=44
	EOF
	# a service that its environment names stays so
	printf 'OTEL_SERVICE_NAME=shop\0' >proc/9/environ
	services
	[ "$(grep -c 'service.name=shop ' got)" = 6 ]
}

@test "tfs-export: lines of --header that tell of tasks decide, and nothing is looked up" {
	local id=4f2a00112233445566778899aabbccdd
	need_schema
	# what procfs says of these pids now is of other processes
	in_cgroup 9 /docker/00000000000000000000000000000000
	printf 'Name:\tother\nTgid:\t9\nPid:\t9\nUid:\t0\t0\t0\t0\n' >proc/9/status
	ln -s /usr/bin/other proc/9/exe
	{
		echo '{"traced":9,"comm":"shopd"}'
		echo '{"task":9,"process":9,"container":{"id":"'$id'","name":"web"},"resource":{"process.executable.name":"shopd","service.name":"shop","tfs.session":"forged","k":"\u0022"}}'
		event 9 1 '{}'
		echo '{"task":10,"thread_of":9}'
		event 10 2 '{}'
		echo '{"task":11,"of":10}'
		event 11 3 '{}'
		# an exec whose line came first, and one whose process had ended
		echo '{"task":11,"process":11,"resource":{"process.executable.name":"dash","service.name":"dash"}}'
		call 11 4 execve 0 1.0 '{"name":"filename","value":"0x1","text":"\"/bin/sh\""}'
		call 11 5 execve 0 1.0 '{"name":"filename","value":"0x1","text":"\"/bin/ls\""}'
		# the pid is used again
		echo '{"task":11,"of":9}'
		event 11 6 '{}'
		event 12 7 '{}'
		# lines that are none: of another host, of nobody, of a wrong type
		echo '{"task":9,"process":9,"resource":{"service.name":"no"},"host":"b"}'
		echo '{"task":0,"process":9,"resource":{"service.name":"no"}}'
		echo '{"task":9,"process":"x","resource":{"service.name":"no"}}'
		event 9 8 '{}'
	} >lines
	told() {
		tfs-export -f logs -H web "$@" <lines | by_schema logs |
			grep -o 'container.id=[0-9a-f]*\|container.name=[a-z]*\|process.pid=[0-9]*\|service.name=[^ ]*\| k="\|session=forged\|thread.id=[0-9]*' |
			paste -sd ' ' | sed "s/container.id=$id/C/g; s/\(thread.id=[0-9]*\) */\1\n/g" | sed 's/^ *//; /thread/!d'
	}
	for option in -e -n; do # without a look, -n changes only the last name
		told $option | sed -E 's/^(service.name=[a-z_-]+ )+C/C/; s/service.name=task /service.name=unknown_service /' >got
		diff got - <<-'EOF'
			C container.name=web process.pid=9 service.name=shop  k=" thread.id=9
			C container.name=web process.pid=9 service.name=shop  k=" thread.id=10
			C container.name=web process.pid=11 service.name=shop  k=" thread.id=11
			process.pid=11 service.name=dash thread.id=11
			process.pid=11 service.name=ls thread.id=11
			C container.name=web process.pid=11 service.name=shop  k=" thread.id=11
			service.name=unknown_service thread.id=12
			C container.name=web process.pid=9 service.name=shop  k=" thread.id=9
		EOF
	done
	# as JSON, events have the container; the lines have no numbers
	tfs-export -H web <lines >json
	[ "$(jq -s 'map(.seq) == [range(1; 13)]' json)" = true ]
	[ "$(grep -c "\"container_id\":\"$id\",\"container_name\":\"web\",.*\"event\"" json)" = 5 ]
	run -1 grep 00000000000000000000000000000000 json
}

@test "tfs-export: spans: curl posts each line to a collector, as the page says" {
	need_schema
	need_tool curl
	cat >server.py <<-'EOF'
		import http.server, sys
		class Handler(http.server.BaseHTTPRequestHandler):
		    def do_POST(self):
		        assert self.path == "/v1/traces"
		        assert self.headers["Content-Type"] == "application/json"
		        body = self.rfile.read(int(self.headers["Content-Length"]))
		        print(body.decode(), flush=True)
		        self.send_response(200)
		        self.end_headers()
		    def log_message(self, *arguments):
		        pass
		server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
		print(server.server_port, file=sys.stderr, flush=True)
		server.serve_forever()
	EOF
	python3 server.py >posted 2>address &
	eventually grep -q . address
	port=$(cat address)
	for i in {1..300}; do
		call 7 $((i * 1000)) read 3 0.5 ''
	done | tfs-export -n -f spans -m 8192 | while read -r line; do
		printf %s "$line" | curl -sf -H 'Content-Type: application/json' \
			--data-binary @- "http://127.0.0.1:$port/v1/traces"
	done
	file_has 5+ posted
	[ "$(by_schema spans <posted | grep -c ' read ')" = 300 ]
}

@test "tfs-export: spans: a window is the child of the message that opened it, on another host" {
	need_schema
	{
		mark 70 1000 'dtM 2a 70 a1' a
		mark 80 2000 'dtB 2a 80 a1' b
		call 80 2500 read 1 0.5 '' | sed 's/}$/,"host":"b"}/'
		mark 80 3000 'dtM 2a 80 b1' b
		mark 90 4000 'dtB 2a 90 b1' c
		mark 90 5000 'dtM 2a 90 b2' c
		mark 90 5100 'dtE 2a 90 b1' c
		mark 80 6000 'dtR 2a 80 b2' b
		mark 80 7000 'dtM 2a 80 a2' b
		mark 80 7100 'dtE 2a 80 a1' b
		mark 70 8000 'dtR 2a 70 a2' a
	} | tfs-export -n -f spans >lines
	# ids without leading zeros, and the ids of calls, which are hashes, as OWN
	by_schema spans <lines | sed 's/.*host.name=\(.\) tfs.session=[0-9]* service.name=task |/\1/; s/179555935800000//g
		s/- thread.*tfs.seq=[0-9]* *//; s/ 0\{14\}a10\{14\}a1 / 1 /; s/f\{13\}/!/g
		s/ 0*\([ab][12]\)/ \1/g; s/ [0-9a-f]\{16\} \(.* read \)/ OWN \1/; s/ *$//' |
		sort -k 7n >got
	diff - got <<-'EOF'
		a 1 a1 - 3 task 1000 8000
		b 1 !f5e a1 2 task 2000 7100
		b 1 OWN !f5e 1 read 2500 3000 tfs.system=demo tfs.ret=1 tfs.lat=0.5
		b 1 b1 !f5e 3 task 3000 6000
		c 1 !f4e b1 2 task 4000 5100
		c 1 b2 !f4e 3 task 5000 5100 tfs.not_answered=True
		b 1 a2 !f5e 3 task 7000 7100 tfs.not_answered=True
	EOF
}

@test "tfs-export: spans: a window whose message no host has sent has no parent, and says so" {
	need_schema
	{
		mark 70 1000 'dtM 2a 70 a1' a
		mark 80 2000 'dtB 2a 80 a2' b
		mark 80 7100 'dtE 2a 80 a2' b
	} | tfs-export -n -f spans | by_schema spans | sed 's/.*| //; s/thread.*seq=[0-9]* *//; s/thread.*task *//' |
		sed 's/0\{14\}/~/g; s/f\{14\}/!/g; s/17955593580000//g' >got
	diff - got <<-'EOF'
		~a2~a2 !5d - 2 task 02000 07100 - tfs.no_sender=True
		~a1~a1 ~a1 - 3 task 01000 07100 - tfs.not_answered=True
	EOF
}

@test "tfs-export: spans: 20000 requests over three hosts have no orphan, and each its own trace" {
	need_schema
	python3 "$TREE/t/prog/requests.py" 20000 200 >lines
	tfs-export -n -f spans <lines >joined
	for host in a b c; do
		sed -n "s/,\"host\":\"$host\"}\$/}/p" lines | tfs-export -n -f spans -H "$host"
	done >apart
	python3 - joined apart <<-'EOF'
		import json, sys
		def all_spans(name):
		    for line in open(name):
		        for group in json.loads(line)["resourceSpans"]:
		            resource = {a["key"]: a["value"] for a in group["resource"]["attributes"]}
		            host = resource["host.name"]["stringValue"]
		            for s in group["scopeSpans"][0]["spans"]:
		                yield (s["traceId"], s["spanId"], s.get("parentSpanId", "-"), s["kind"],
		                       host, s["name"])
		for name in sys.argv[1:]:
		    spans = {}
		    for trace, span, parent, kind, host, what in all_spans(name):
		        assert span not in spans, "an id comes twice"
		        spans[span] = trace, parent, kind, host, what
		    assert len(spans) == 20000 * (4 + 2 + 2), len(spans)
		    roots = 0
		    for span, (trace, parent, kind, host, what) in spans.items():
		        if parent == "-":
		            roots += 1
		            assert host == "a" and kind == 3
		            assert trace == 2 * span
		            continue
		        up = spans[parent]
		        if kind == 2: # a window: its message is on the host before
		            assert int(span, 16) ^ int(parent, 16) == 2**64 - 1
		            assert up[3] == chr(ord(host) - 1) and up[2] == 3
		        else: # a call or a message of a window on the same host
		            assert up[3] == host and up[2] == 2 and up[4] == what or what == "read"
		        # the keyed join: the first span of the chain gives the trace
		        while spans[parent][1] != "-":
		            parent = spans[parent][1]
		        assert name == "apart" or trace == spans[parent][0]
		        # connection and request are in the key of the first message and of this one
		        own = int(span if kind == 3 else spans[span][1] if kind == 2 else parent, 16)
		        assert own >> 8 == int(parent, 16) >> 8, "a false parent"
		    assert roots == 20000, roots
	EOF
}

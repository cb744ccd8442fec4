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
		9,"container_id":"$b",
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
			tfs-export -n -m 4096 -f $format $options <lines >got
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
				    assert cut == (212 if sys.argv[2:] else 410), cut
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
	} | tfs-export -f logs -H web -s mine >lines
	file_has 1 lines
	by_schema logs <lines >got
	diff - got <<-EOF
		service.name=mine host.name=web tfs.boot_id=$BOOT container.id=4f2a00112233445566778899aabbccdd | 1795559358000000005 9 demo thread.id=7 thread.name=task tfs.cpu=1 tfs.seq=1 tfs.system=demo a=-1 s=x	y big=18446744073709551615 f=1.5 n=[1,2] z=null t=True
		service.name=mine host.name=web tfs.boot_id=$BOOT | 1795559358000000006 9 sys_exit_openat thread.id=8 thread.name=task tfs.cpu=1 tfs.seq=2 tfs.system=demo ret=-2 lat=1.5 filename="/x"
		service.name=mine host.name=web tfs.boot_id=$BOOT | 1795559358000000007 13 lost events tfs.cpu=1 tfs.seq=3 tfs.lost=204
	EOF
}

@test "tfs-export: spans: calls and waits have their own times, and failed calls an error" {
	need_schema
	{
		call 7 5000 openat 3 1.5 '{"name":"filename","value":"0x7f00","text":"\"/x\""}'
		event 7 6000 '{"ret":-2,"error":"ENOENT","lat":0.250,"args":[]}' sys_exit_stat
		event 9 9000 '{"prev_pid":9,"next_comm":"task","next_pid":7,"lat":2.000}' sched_switch
		event 7 9500 '{"a":1}'
		echo '{"ts":0.000000006,"timeUnixNano":"1795559358000009600","cpu":1,"lost":204}'
	} | tfs-export -n -f spans -H web >lines
	by_schema spans <lines | cut -d '|' -f 2- | awk '{ $1 = t[$1] ? t[$1] : t[$1] = "T" ++n
		$2 = length($2); print }' >got
	diff - got <<-'EOF'
		T1 16 - 1 openat 1795559358000005000 1795559358000006500 - thread.id=7 thread.name=task tfs.cpu=1 tfs.seq=1 tfs.system=demo ret=3 lat=1.5 filename="/x"
		T1 16 - 1 stat 1795559358000006000 1795559358000006250 ENOENT thread.id=7 thread.name=task tfs.cpu=1 tfs.seq=2 tfs.system=demo ret=-2 error=ENOENT lat=0.25
		T1 16 - 1 sched_switch 1795559358000007000 1795559358000009000 - thread.id=7 tfs.cpu=1 tfs.seq=3 tfs.system=demo prev_pid=9 next_comm=task next_pid=7 lat=2.0
		T2 16 - 1 lost events 1795559358000009600 1795559358000009600 - tfs.cpu=1 tfs.seq=5 tfs.lost=204
		T2 16 - 1 left_out 1795559358000009600 1795559358000009600 - tfs.cpu=0 tfs.seq=6 left_out=1 by=no duration lat=0
	EOF
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
	by_schema spans <lines | sed 's/.*host.name=\(.\) |/\1/; s/179555935800000//g
		s/- thread.*tfs.seq=[0-9]* *//; s/ 0\{14\}a10\{14\}a1 / 1 /; s/f\{13\}/!/g
		s/ 0*\([ab][12]\)/ \1/g; s/ [0-9a-f]\{16\} \(.* read \)/ OWN \1/; s/ *$//' |
		sort -k 7n >got
	diff - got <<-'EOF'
		a 1 a1 - 3 task 1000 8000
		b 1 !f5e a1 2 task 2000 7100
		b 1 OWN !f5e 1 read 2500 3000 tfs.system=demo ret=1 lat=0.5
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
	} | tfs-export -n -f spans | by_schema spans | sed 's/.*| //; s/thread.*seq=[0-9]* *//' |
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

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# deploy/engines: records of tfs-export in DuckDB, ClickHouse and Kafka: rows in are rows counted,
# and the first five questions have the right answers

load ../helper

SQL=$TREE/deploy/engines

# answers ENGINE RECORDS: Load the records, and print the answers of the five queries.
answers() {
	local packages
	need_tool node npm
	packages=$("$TREE/t/npm" "engines/$1" 3>&- 2>npm.err) ||
		skip "needs npm packages: $(tail -n 1 npm.err)"
	# the records of the tests may be older than what the schema keeps
	sed '/^TTL /d' "$SQL/$1.sql" >"$1.sql"
	PACKAGES=$packages node "$TREE/t/engines/$1/run.mjs" "$2" "${SCHEMA:-$1.sql}" \
		"${SQL_FILE:-$SQL/$1-queries.sql}"
}

# mark SECOND PID WHAT KEY: Print the record of a mark.
mark() {
	record "$1" "$2" mark "{\"key\":\"0x$4\",\"probe\":42,\"task\":$2,\"what\":\"dt$3\"}" |
		sed 's/"system":"s"/"system":"tfs"/'
}

# record SECOND PID EVENT FIELDS: Print a record of tfs-run --json --date.
record() {
	printf '{"ts":%d.0,"timeUnixNano":"%d000000000","cpu":1,"pid":%d,"comm":"task","system":"s","event":"%s","fields":%s}\n' \
		"$1" $((1795559358 + $1)) "$2" "$3" "$4"
}

# some_lines: Write the traces of two hosts to a.json and b.json, with calls, messages and losses.
some_lines() {
	{
		record 1 70 sys_exit_openat '{"ret":-2,"error":"ENOENT","lat":1500.250,"args":[]}'
		record 2 70 sys_exit_openat '{"ret":3,"lat":2.500,"args":[]}'
		mark 3 70 M a0ab6cd53e7d3558
		echo '{"ts":3.5,"timeUnixNano":"1795559361500000000","cpu":1,"lost":4}'
		record 6 70 bpf_trace_printk '{"bpf_string":"dtR 2a 70 a2"}'
		echo '{"lost":5,"overwritten":5,"unwritten":0}'
	} >a.json
	{
		mark 4 80 B a0ab6cd53e7d3558
		record 4 80 sys_exit_read '{"ret":10,"lat":7.000,"args":[]}'
		record 5 80 bpf_trace_printk '{"bpf_string":"dtM 2a 80 a2"}'
		mark 5 80 E a0ab6cd53e7d3558
		record 5 80 demo '{"a":1}'
		record 5 80 demo '{"a":2}'
	} >b.json
}

# some_records: Write the records of both hosts to files a and b.
some_records() {
	some_lines
	tfs-export -n -H web -s one a.json >a
	tfs-export -n -H db -s one -r 1 b.json >b
	# the third record of b does not arrive
	sed -i '/"seq":2,/d' b
}

# answers_of_both: Print the right answers about both hosts.
answers_of_both() {
	cat <<-'EOF'
		-	web	openat	2	1500.25	1500.25

		web	openat	2	1	50	ENOENT

		web	task	db	task	1

		web	one	5	0	0
		db	one	0	1	1

		a0ab6cd53e7d3558	1	db	task	1795559362000000000

	EOF
}

# answered ENGINE: Compare the answers to some_records.
answered() {
	some_records
	cat a b a >records # a was delivered twice
	answers "$1" records | sed 's/^	/-	/' | diff - <(answers_of_both)
}

@test "engines: DuckDB counts records that came twice once, and answers the first five questions" {
	answered duckdb
}

@test "engines: ClickHouse counts records that came twice once, and answers the first five questions" {
	answered clickhouse
}

@test "engines: DuckDB and ClickHouse count each trace of a boot whose session has no name, and each once" {
	some_lines
	tfs-export -n -H web a.json >a
	tfs-export -n -H web b.json >b
	cat a b a >records
	echo 'SELECT count(*), count(DISTINCT session) FROM records;' >queries.duckdb
	sed 's/;/ FINAL;/' queries.duckdb >queries.clickhouse
	for engine in duckdb clickhouse; do
		SQL_FILE=queries.$engine answers $engine records >got
		[ "$(grep . got)" = "$(wc -l < <(cat a b))"$'\t2' ]
	done
}

@test "engines: DuckDB and ClickHouse keep both traces of a boot whose sessions have one name, without gaps" {
	some_lines
	tfs-export -n -H web -s one a.json >a
	# the same session, once more, later
	sed 's/"17955593/"17955600/' a.json | tfs-export -n -H web -s one >b
	cat a b a >records
	for engine in duckdb clickhouse; do
		answers $engine records >got
		[ "$(grep '^web	one	' got)" = "web	one	10	0	0" ]
		[ "$(grep '	openat	' got | head -n 1 | cut -f 4)" = 4 ]
	done
}

# need_rows: Set READ to the program that makes rows as a collector does.
need_rows() {
	need_tool python3 apt-get dpkg
	READ=$("$TREE/t/engines/otel/make" 3>&- 2>make.err) ||
		skip "needs golang-opentelemetry-collector-dev of Debian sid: $(tail -n 1 make.err)"
}

# collected log|span: Print the answers to the rows of a collector's table.
collected() {
	local table=otel_logs
	[ "$1" = log ] || table=otel_traces
	cat "$TREE/t/engines/clickhouse/otel.sql" "$SQL/clickhouse-otel-${1}s.sql" "$SQL/clickhouse.sql" |
		sed '/^TTL /d' >otel.sql
	TABLE=$table SCHEMA=otel.sql answers clickhouse rows | sed 's/^	/-	/'
}

@test "engines: ClickHouse answers the same questions from a collector's table of logs" {
	need_rows
	some_lines
	tfs-export -n -f logs -H web -s one a.json | "$READ" log-rows >a
	tfs-export -n -f logs -H db -s one -r 1 b.json | "$READ" log-rows | sed '/"tfs.seq":"2"/d' >b
	cat a b a >rows
	collected log | diff - <(answers_of_both)
}

@test "engines: ClickHouse answers the same questions from a collector's table of spans" {
	need_rows
	some_lines
	tfs-export -n -f spans -H web -s one a.json | "$READ" span-rows >a
	tfs-export -n -f spans -H db -s one b.json | "$READ" span-rows | sed '/"SpanName":"read"/d' >b
	cat a b a >rows
	# no span tells of gaps; two events that take no time have no span, and are counted
	sed 's/^db	one	0	1	1$/db	one	0	2	0/' <(answers_of_both) | diff <(collected span) -
}

@test "engines: 2000 requests over 100 hosts: records, logs and spans give the same answers, to the byte" {
	need_rows
	python3 "$TREE/t/prog/requests.py" 2000 200 100 >lines
	tfs-export -n -s fleet <lines >records
	answers clickhouse records | sed 's/^	/-	/' >one
	for kind in log span; do
		tfs-export -n -f "${kind}s" -s fleet <lines | "$READ" "$kind-rows" >rows
		collected $kind >"$kind"
		cmp one "$kind"
	done
}

@test "engines: 2000 requests over 100 hosts: both engines say the same, to the byte" {
	python3 "$TREE/t/prog/requests.py" 2000 200 100 | tfs-export -n -s fleet >records
	answers duckdb records >one
	answers clickhouse records >two
	cmp one two
	# the last answer has a line for each window: each request has two
	[ "$(grep -c '^[0-9a-f]*	[12]	' one)" = 4000 ]
}

# read_of SCHEMA: Print how many granules ClickHouse reads of how many, for ten minutes of a host.
read_of() {
	SCHEMA=$1 SQL_FILE=queries.sql answers clickhouse records >got
	sed -n 's|.*Granules: \([0-9]*/[0-9]*\).*|\1|p' got | tail -n 1
}

@test "engines: ClickHouse reads ten minutes of a host, and not its whole day" {
	# 20 hosts, 40,000 records each, one every two seconds
	awk 'BEGIN { for (h = 0; h < 20; h++) for (i = 0; i < 40000; i++)
		printf "{\"host\":\"h%d\",\"boot_id\":\"b\",\"session\":\"s\",\"seq\":%d,\"timeUnixNano\":\"%d000000000\",\"event\":\"e\"}\n",
			h, i + 1, 1795564800 + 2 * i }' >records
	cat >queries.sql <<-'EOF'
		OPTIMIZE TABLE records FINAL;
		EXPLAIN indexes = 1 SELECT count() FROM records FINAL WHERE host = 'h7' AND
			time BETWEEN toDateTime(1795590000) AND toDateTime(1795590600);
		SELECT count() FROM records FINAL WHERE host = 'h7' AND
			time BETWEEN toDateTime(1795590000) AND toDateTime(1795590600);
	EOF
	# a key without time, as before
	sed '/^PARTITION/d; s/^ORDER BY .*/ORDER BY (host, boot_id, session, seq)/' "$SQL/clickhouse.sql" |
		sed '/^TTL /d' >without.sql
	before=$(read_of without.sql)
	after=$(read_of '')
	echo "$before granules without the time in the key, $after with it"
	[ "$(grep -cx 301 got)" = 1 ]
	[ "${after%/*}" -le 2 ]
	[ "${before%/*}" -ge 5 ]
}

@test "engines: ClickHouse reads only the days of a collector's tables that the question is about" {
	local table
	: >empty
	for table in otel_logs otel_traces; do
		# 20 days with a record each minute
		cat >queries.sql <<-EOF
			INSERT INTO $table (Timestamp, SpanId, ResourceAttributes, ScopeName)
				SELECT toDateTime64(1795564800 + number * 60, 9), hex(number), map('host.name', 'h'), 'tfs-tools'
				FROM numbers(28800);
			EXPLAIN indexes = 1 SELECT count() FROM records WHERE host = 'h' AND
				time BETWEEN toDateTime(1795590000) AND toDateTime(1795590599);
			SELECT count() FROM records WHERE host = 'h' AND
				time BETWEEN toDateTime(1795590000) AND toDateTime(1795590599);
		EOF
		view=clickhouse-otel-logs.sql
		[ $table = otel_logs ] || view=clickhouse-otel-spans.sql
		cat "$TREE/t/engines/clickhouse/otel.sql" "$SQL/$view" >otel.sql
		echo '{}' >none
		TABLE=$table SCHEMA=otel.sql SQL_FILE=queries.sql answers clickhouse none >got
		grep -q 'Parts: 1/2[01]$' got
		[ "$(grep -cx 10 got)" = 1 ]
	done
}

@test "engines: both engines answer the README's question about the last ten minutes of a host" {
	local now i
	now=$(date +%s)
	for i in 0 60 3600 86400; do
		printf '{"host":"%s","seq":%d,"timeUnixNano":"%d000000000","event":"sys_exit_read","fields":{"ret":1,"lat":1.5}}\n' \
			web "$i" $((now - i)) db "$i" $((now - i))
	done >records
	# shellcheck disable=SC2016 # backquotes of Markdown
	sed -n '/^```sql$/,/^```$/{/^`/!p}' "$SQL/README.md" >queries.sql
	for engine in duckdb clickhouse; do
		SCHEMA=$SQL/$engine.sql SQL_FILE=queries.sql answers $engine records >got
		[ "$(head -n 1 got)" = "read	2" ]
	done
}

@test "engines: ClickHouse removes the records of a day after 30 days" {
	awk -v now="$(date +%s)" 'BEGIN { for (i = 0; i < 60; i++)
		printf "{\"host\":\"h\",\"seq\":%d,\"timeUnixNano\":\"%d000000000\"}\n", i + 1, now - i * 86400 }' >records
	printf '%s\n' 'OPTIMIZE TABLE records FINAL;' 'SELECT count() FROM records;' >queries.sql
	SCHEMA=$SQL/clickhouse.sql SQL_FILE=queries.sql answers clickhouse records >got
	cat got
	n=$(grep -x '[0-9][0-9]*' got)
	[ "$n" -ge 30 ] && [ "$n" -le 31 ]
}

@test "engines: an exporter that was killed and runs again leaves nothing out and nothing twice" {
	python3 "$TREE/t/prog/requests.py" 2000 200 | sed 's/,"host":"."}$/}/' >lines
	mkfifo in
	tfs-export -n -H h -s one <in >first &
	pid=$!
	exec 4>in
	head -n 10000 lines >&4
	while [ ! -s first ]; do :; done
	kill -KILL "$pid"
	wait "$pid" || :
	exec 4>&-
	tfs-export -n -H h -s one <lines >second
	# the last line of the first file may be cut
	sed -n '/}$/p' first >whole
	file_has 24000 second
	echo 'SELECT count(*) AS n, count(DISTINCT seq) AS m FROM records;' >queries.sql
	cat whole second >records
	SQL_FILE=queries.sql answers duckdb records >got
	[ "$(head -n 1 got)" = "24000	24000" ]
}

@test "engines: an engine that is killed while it loads has each record once after the next load" {
	local part status killed=0
	python3 "$TREE/t/prog/requests.py" 2000 200 | tfs-export -n -s fleet >records
	echo 'SELECT count(*) AS n, count(DISTINCT seq) AS m FROM records;' >queries.sql
	export DATABASE=$PWD/traces.db PACKAGES
	need_tool node npm
	PACKAGES=$("$TREE/t/npm" engines/duckdb 3>&- 2>npm.err) ||
		skip "needs npm packages: $(tail -n 1 npm.err)"
	for part in 1 2 3 4 5 6 7 8 9; do
		status=0
		timeout -s KILL "0.$part" node "$TREE/t/engines/duckdb/run.mjs" records "$SQL/duckdb.sql" \
			queries.sql >/dev/null 2>&1 || status=$?
		killed=$((killed + (status == 137)))
	done
	SQL_FILE=queries.sql answers duckdb records >got
	[ "$(head -n 1 got)" = "24000	24000" ]
	[ $killed -ge 3 ]
}

@test "engines: Kafka has both ends of a message in one partition, and each record once" {
	local brokers n=0 p
	need_tool kcat python3 cc
	"${CC:-cc}" -o kafka "$TREE/t/engines/kafka/broker.c" -lrdkafka 2>err || skip "needs librdkafka-dev"
	python3 "$TREE/t/prog/requests.py" 2000 200 | tfs-export -n -s fleet >lines
	coproc ./kafka 2>err
	read -r brokers <&"${COPROC[0]}"
	"$SQL/by-message" <lines | kcat -P -b "$brokers" -t records -K '	' 2>err
	for p in 0 1 2 3; do
		kcat -C -b "$brokers" -t records -p $p -e -q >part.$p
		n=$((n + $(wc -l <part.$p)))
		sed -n 's/.*"key":"\(0x[0-9a-f]*\)".*"what":"dt[BRM]".*/\1/p' part.$p |
			sort -u >keys.$p
	done
	[ "$n" = "$(wc -l <lines)" ]
	sort part.? | cmp - <(sort lines)
	[ "$(cat keys.? | sort | uniq -d | wc -l)" = 0 ]
	[ "$(cat keys.? | wc -l)" = 8000 ]
	[ -s part.0 ] && [ -s part.3 ]
}

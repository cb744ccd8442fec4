#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# The metrics of tfs-metrics with Prometheus, promtool and node_exporter of Debian: alerts, the dashboard,
# and histograms of a fleet

load ../helper
load ../hooks

RULES=$TREE/deploy/engines/prometheus.rules.yml

# bound N: Print the bound of bucket N, as tfs-hist and tfs-metrics print it.
bounds() {
	tfs-hist --metrics <<<1 >/dev/null
	printf 'x-1 [000] 1.000001: e: lat=1.000\n' | tfs-hist --metrics | sed -n 's/.*le="\(.*\)".*/\1/p'
}

# buckets INSTANCE NAME BELOW VALUES: Print series of the buckets of a histogram for promtool: 0 below
# the bound BELOW, and VALUES from there on.
buckets() {
	local le values
	for le in $(bounds); do
		values=$4
		[ "$le" = +Inf ] || awk "BEGIN { exit !($le < $3) }" || values=$4
		[ "$le" = +Inf ] || ! awk "BEGIN { exit !($le < $3) }" || values=0x40
		printf '      - {series: '"'"'tfs_call_seconds_bucket{instance="%s",name="%s",le="%s"}'"'"', values: %s}\n' \
			"$1" "$2" "$le" "$values"
	done
}

@test "prometheus.rules.yml: each alert is raised by its cause, and not by answers or by a restart" {
	debian prometheus
	{
		cat <<-EOF
			rule_files: [$RULES]
			evaluation_interval: 1m
			tests:
			  - interval: 1m
			    input_series:
		EOF
		buckets a fsync 0.25 0+60x40
		buckets b fsync 0.05 0+60x40
		buckets c fsync 0.05 '0+60x20 0+60x20' # the service starts again
		cat <<-'EOF'
			      - {series: 'tfs_call_errors_total{instance="c",name="fdatasync",error="ENOSPC"}', values: '_x12 3x30'}
			      - {series: 'tfs_call_errors_total{instance="d",name="fdatasync",error="EIO"}', values: '1x12 1+1x30'}
			      - {series: 'tfs_call_errors_total{instance="d",name="fsync",error="EINVAL"}', values: 0+3x40}
			      - {series: 'tfs_call_errors_total{instance="d",name="fsync",error="EAGAIN"}', values: 0+3x40}
			      - {series: 'tfs_call_errors_total{instance="d",name="fsync",error="ENOENT"}', values: 0+3x40}
			      - {series: 'tfs_call_errors_total{instance="d",name="fsync",error="EINTR"}', values: 0+3x40}
			      - {series: 'tfs_call_errors_total{instance="d",name="openat",error="EIO"}', values: 0+3x40}
			      - {series: 'tfs_call_errors_total{instance="e",name="fsync",error="EIO"}', values: '7x12 0x28'}
			      - {series: 'tfs_lost_calls_total{instance="a"}', values: 0x40}
			      - {series: 'tfs_lost_calls_total{instance="b"}', values: 0+2x40}
			      - {series: 'tfs_full_map_total{instance="c",map="tasks"}', values: 0+1x40}
			      - {series: 'tfs_full_map_total{instance="c",map="errors"}', values: 0x40}
			      - {series: 'tfs_lost_events_total{instance="a"}', values: 0x40}
			      - {series: 'tfs_lost_events_total{instance="b"}', values: 7x40}
			      - {series: 'node_textfile_mtime_seconds{instance="a",file="/x/tfs.prom"}', values: 0+60x40}
			      - {series: 'node_textfile_mtime_seconds{instance="b",file="/x/tfs.prom"}', values: 60x40}
			      - {series: 'node_textfile_mtime_seconds{instance="b",file="/x/other.prom"}', values: 0x40}
			    alert_rule_test:
			      - {alertname: SlowFsync, eval_time: 9m}
			      - alertname: SlowFsync
			        eval_time: 30m
			        exp_alerts:
			          - exp_labels: {instance: a, name: fsync}
			            exp_annotations: {summary: "a: 1 % of fsync takes 260.8ms or more"}
			      - alertname: FailingFsync
			        eval_time: 10m
			      - alertname: FailingFsync
			        eval_time: 15m
			        exp_alerts:
			          - exp_labels: {instance: c, name: fdatasync, error: ENOSPC}
			            exp_annotations: {summary: "c: 3 calls of fdatasync failed with ENOSPC"}
			          - exp_labels: {instance: d, name: fdatasync, error: EIO}
			            exp_annotations: {summary: "d: 2 calls of fdatasync failed with EIO"}
			      - alertname: FailingFsync
			        eval_time: 30m
			        exp_alerts:
			          - exp_labels: {instance: d, name: fdatasync, error: EIO}
			            exp_annotations: {summary: "d: 10 calls of fdatasync failed with EIO"}
			      - alertname: CallsNotCounted
			        eval_time: 20m
			        exp_alerts:
			          - exp_labels: {instance: b}
			            exp_annotations: {summary: "b: 20 calls lack in the metrics"}
			          - exp_labels: {instance: c}
			            exp_annotations: {summary: "c: 10 calls lack in the metrics"}
			      - alertname: LostEvents
			        eval_time: 20m
			        exp_alerts:
			          - exp_labels: {instance: b}
			            exp_annotations: {summary: "b: 7 events lost; give the sample a --buffer"}
			      - {alertname: StaleMetrics, eval_time: 3m}
			      - alertname: StaleMetrics
			        eval_time: 4m
			        exp_alerts:
			          - exp_labels: {instance: b, file: /x/tfs.prom}
			            exp_annotations: {summary: "b: no metrics for 3m 0s"}
		EOF
	} >tests.yml
	run -0 "$ROOT/usr/bin/promtool" check rules "$RULES"
	[[ $output == *"SUCCESS: 5 rules found"* ]]
	"$ROOT/usr/bin/promtool" test rules tests.yml >said 2>&1 || { cat said; return 1; }
}

# idle_host OPTION...: Set the file metrics to what tfs-metrics says of two calls that were not made yet.
idle_host() {
	need_bpf
	rm -f metrics
	background tfs-metrics "$@" --every 1h --output metrics fsync fdatasync
	eventually test -s metrics
	run ! sync /dev/null # fsync says EINVAL
	kill "$PID"
	wait "$PID"
}

@test "tfs-metrics: promtool and the reference parsers of both forms find no fault" {
	need_tool python3
	debian prometheus python3-prometheus-client python3-decorator
	idle_host
	# shellcheck disable=SC2094 # the subcommand of promtool is no file
	"$ROOT/usr/bin/promtool" check metrics <metrics >said 2>&1 || { cat said; return 1; }
	file_is said ''
	for form in parser openmetrics.parser; do
		[ "$form" = parser ] || idle_host --openmetrics
		# -S: no package that this machine happens to have serves it
		PYTHONPATH=$ROOT/usr/lib/python3/dist-packages /usr/bin/python3 -S - $form <<-'EOF' >"got.$form"
			import importlib, sys
			parser = importlib.import_module("prometheus_client." + sys.argv[1])
			for family in parser.text_string_to_metric_families(open("metrics").read()):
			    print(family.name, family.type, family.unit or "-", bool(family.documentation))
		EOF
	done
	diff got.parser - <<-'EOF'
		tfs_calls counter - True
		tfs_call_errors counter - True
		tfs_call_seconds histogram - True
		tfs_lost_calls counter - True
		tfs_full_map counter - True
	EOF
	sed 's/tfs_call_seconds histogram -/tfs_call_seconds histogram seconds/' got.parser | diff got.openmetrics.parser -
}

@test "tfs-metrics: the textfile collector of node_exporter has its types, its texts and its buckets" {
	need_tool curl
	debian prometheus-node-exporter
	idle_host
	mkdir textfile
	cp metrics textfile/tfs.prom
	background "$ROOT/usr/bin/prometheus-node-exporter" --collector.disable-defaults \
		--collector.textfile --collector.textfile.directory="$PWD/textfile" \
		--web.listen-address=127.0.0.1:0 2>exporter.log
	eventually listens exporter.log
	curl -s "$(listens exporter.log)/metrics" >all
	grep -x 'node_textfile_scrape_error 0' all
	# it leaves out empty braces, sorts labels and has its own digits of sums
	sed -E 's/\{\}//; s/\{(name="[^"]*"),(error="[^"]*")\}/{\2,\1}/' metrics |
		grep -ve '^#' -e _sum | sort >wanted
	grep '^tfs_' all | grep -v _sum | sort | diff wanted -
	grep '^# [A-Z]* tfs_' metrics | sort >wanted
	grep '^# [A-Z]* tfs_' all | sort | diff wanted -
}

@test "grafana.json: each panel asks for metrics and labels that exist, in a language that Prometheus reads" {
	need_tool python3
	debian prometheus
	idle_host
	run -0 python3 -S "$TREE/t/prog/dashboard.py" "$TREE/deploy/engines/grafana.json" metrics
	echo "$output" >rules.yml
	file_has 10+ rules.yml
	run -0 "$ROOT/usr/bin/promtool" check rules rules.yml
	[[ $output == *"SUCCESS: "*" rules found"* ]]
	# one that asks for what does not exist is refused
	sed 's/tfs_call_seconds_sum/tfs_call_seconds_total/' "$TREE/deploy/engines/grafana.json" >other.json
	run ! python3 -S "$TREE/t/prog/dashboard.py" other.json metrics
	sed 's/by (name, error)/by (name, errno)/' "$TREE/deploy/engines/grafana.json" >other.json
	run ! python3 -S "$TREE/t/prog/dashboard.py" other.json metrics
}

# listens FILE: Print the address at which a program of Prometheus listens, by its log.
listens() {
	sed -n 's/.*Listening on.*address=\([0-9.:]*\).*/\1/p' "$1" | head -n 1 | grep .
}

# ask FILE QUERY: Write the answer of Prometheus, at the end of the simulated days.
ask() {
	curl -sG "$(listens prometheus.log)/api/v1/query" -d time=1790000000 --data-urlencode "query=$2" >"$1"
	grep -q '"status":"success"' "$1" || { cat "$1"; return 1; }
}

# bats test_tags=long
@test "tfs-metrics: Prometheus adds the histograms of 50 hosts over two days to those of one recording" {
	need_tool curl python3
	debian prometheus
	idle_host --openmetrics
	python3 -S "$TREE/t/prog/fleet.py" make metrics
	file_has 20000+ one.json
	"$ROOT/usr/bin/promtool" tsdb create-blocks-from openmetrics fleet.om data >made 2>&1 || { cat made; return 1; }
	echo >prometheus.yml
	background "$ROOT/usr/bin/prometheus" --config.file=prometheus.yml --storage.tsdb.path=data \
		--storage.tsdb.retention.time=100y --web.listen-address=127.0.0.1:0 >prometheus.log 2>&1
	eventually listens prometheus.log
	eventually ask ready 'vector(1)'
	for sample in bucket sum count; do
		ask "$sample" "label_replace(sum by (name, le) (increase(tfs_call_seconds_${sample}[2d])), 'sample', 'tfs_call_seconds_$sample', '', '')"
	done
	ask calls "label_replace(sum by (name) (increase(tfs_calls_total[2d])), 'sample', 'tfs_calls_total', '', '')"
	ask errors "label_replace(sum by (name, error) (increase(tfs_call_errors_total[2d])), 'sample', 'tfs_call_errors_total', '', '')"
	ask p99 'histogram_quantile(0.99, sum by (name, le) (increase(tfs_call_seconds_bucket[2d])))'
	ask resets 'sum(resets(tfs_calls_total{name="fsync"}[2d]))'
	grep -q '"7"\]' resets
	tfs-summary --metrics one.json >one
	run -0 python3 -S "$TREE/t/prog/fleet.py" compare one bucket sum count calls errors p99
	[ "$output" = '64 equal' ]
}

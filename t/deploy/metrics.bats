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

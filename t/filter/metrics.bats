#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# --metrics of tfs-count, tfs-hist and tfs-summary: the reference parser of Prometheus's text format reads them,
# and node_exporter; alerts on them

load ../helper

# parsed: Print each sample that prometheus_client finds in standard input. -S: No package that this
# machine happens to have serves it.
parsed() {
	need_tool python3
	debian python3-prometheus-client python3-decorator
	cat >metrics
	PYTHONPATH=$ROOT/usr/lib/python3/dist-packages /usr/bin/python3 -S - <<-'EOF'
		from prometheus_client.parser import text_string_to_metric_families
		for family in text_string_to_metric_families(open("metrics").read()):
		    for s in family.samples:
		        print(s.name, *(k + "=" + repr(v) for k, v in s.labels.items()), float(s.value))
	EOF
}

# trace: Print five calls and a report of lost events.
trace() {
	local i=0 lat
	for lat in 0.5 1.000 2.000 2.001 4000000.000; do
		i=$((i + 1))
		printf '{"ts":%d.0,"cpu":1,"pid":7,"comm":"a\\"b\\\\c","system":"syscalls","event":"sys_exit_read","fields":{"ret":-5,"error":"EIO","lat":%s,"args":[]}}\n' $i $lat
	done
	echo 'no event'
	echo '{"lost":204,"overwritten":204,"unwritten":0}'
}

@test "tfs-count: --metrics are Prometheus's text, with labels of odd names, and lost events" {
	trace >lines
	run -0 tfs-count -M -k event -k comm lines
	parsed <<<"$output" >got
	diff - got <<-'EOF'
		tfs_events_total event='sys_exit_read' comm='a"b\\\\c' 5.0
		tfs_sample_seconds 4.0
		tfs_lost_events_total 204.0
		tfs_unknown_lines_total 1.0
	EOF
}

@test "tfs-count: --metrics are UTF-8 also if a task's name is not, and promtool finds no fault" {
	printf 'a\377b\303\251\300-7 [001] ..... 1.000001: e: a=1\n' >lines
	printf '{"ts":1.0,"cpu":1,"pid":7,"comm":"x\\ud800y\\u0000","system":"s","event":"e","fields":{}}\n' >>lines
	run -0 tfs-count -M -k comm lines
	parsed <<<"$output" >got
	diff - got <<-'EOF'
		tfs_events_total comm='a\\xffbé\\xc0' 1.0
		tfs_events_total comm='x�y\\x00' 1.0
		tfs_sample_seconds 1e-06
		tfs_lost_events_total 0.0
		tfs_unknown_lines_total 0.0
	EOF
	debian prometheus
	# shellcheck disable=SC2094 # the subcommand of promtool is no file
	"$ROOT/usr/bin/promtool" check metrics <metrics >said 2>&1 || :
	run ! grep -v 'no help text$' said
}

@test "tfs-summary: --metrics has calls, errors and seconds of each call" {
	trace >lines
	run -0 tfs-summary --metrics lines
	parsed <<<"$output" >all
	grep -v _bucket all >got
	[ "$(sed -n "s/^tfs_call_seconds_bucket name='read' le=//p" all)" = \
		"$(tfs-hist --metrics lines | sed -n 's/.*_bucket{le="\(.*\)"} \(.*\)/'"'\1' \2.0/p")" ]
	diff - got <<-'EOF'
		tfs_calls_total name='read' 5.0
		tfs_call_errors_total name='read' error='EIO' 5.0
		tfs_call_seconds_count name='read' 5.0
		tfs_call_seconds_sum name='read' 4.000005501
		tfs_sample_seconds 4.0
		tfs_lost_events_total 204.0
		tfs_unknown_lines_total 1.0
	EOF
}

@test "tfs-hist: --metrics has a bucket for each power of two, with the bound in it" {
	trace >lines
	for by in '' '-b event'; do
		# shellcheck disable=SC2086 # no word or two
		run -0 tfs-hist --metrics $by lines
		parsed <<<"$output" | sed "s/ event='sys_exit_read'//" >got
		[ "$(grep -c _bucket got)" = 28 ]
		grep -x "tfs_latency_seconds_bucket le='1e-06' 2.0" got
		grep -x "tfs_latency_seconds_bucket le='2e-06' 3.0" got
		grep -x "tfs_latency_seconds_bucket le='4e-06' 4.0" got
		grep -x "tfs_latency_seconds_bucket le='2.097152' 4.0" got
		grep -x "tfs_latency_seconds_bucket le='4.194304' 5.0" got
		grep -x "tfs_latency_seconds_bucket le='+Inf' 5.0" got
		grep -x "tfs_latency_seconds_count 5.0" got
		grep -x "tfs_latency_seconds_sum 4.000005501" got
	done
}

# port: Print the port on which node_exporter listens.
port() {
	sed -n 's/.*address=127.0.0.1:\([0-9]*\).*/\1/p' err | head -n 1 | grep .
}

@test "tfs-summary: the textfile collector of node_exporter reads each sample" {
	need_tool curl
	debian prometheus-node-exporter
	trace | tfs-summary --metrics >tfs.prom
	background "$ROOT/usr/bin/prometheus-node-exporter" --collector.disable-defaults \
		--collector.textfile --collector.textfile.directory="$PWD" \
		--web.listen-address=127.0.0.1:0 2>err
	eventually port
	curl -s "127.0.0.1:$(port)/metrics" >all
	grep -x 'node_textfile_scrape_error 0' all
	grep -q '^node_textfile_mtime_seconds{file=".*/tfs.prom"} ' all
	[ "$(grep -c '^tfs_call_seconds_bucket' all)" = 28 ]
	grep '^tfs_' all | grep -v _bucket >got
	diff got - <<-'EOF'
		tfs_call_errors_total{error="EIO",name="read"} 5
		tfs_call_seconds_sum{name="read"} 4.000005501
		tfs_call_seconds_count{name="read"} 5
		tfs_calls_total{name="read"} 5
		tfs_lost_events_total 204
		tfs_sample_seconds 4
		tfs_unknown_lines_total 1
	EOF
	# each has its type
	sed -n 's/^# TYPE \(tfs_.*\)/\1/p' all | diff - <(cat <<-'EOF'
		tfs_call_errors_total counter
		tfs_call_seconds histogram
		tfs_calls_total counter
		tfs_lost_events_total counter
		tfs_sample_seconds gauge
		tfs_unknown_lines_total counter
	EOF
	)
}

@test "tfs-summary: --metrics counts the errors of a call by their names, and has 0 for one without" {
	call() {
		printf '%16s-7 [000] ..... %d.0: sys_enter_%s: fd: 3\n%16s-7 [000] ..... %d.5: sys_exit_%s: 0x%x\n' a "$1" "$2" a "$1" "$2" "$3"
	}
	{
		for i in 1 2 3; do
			call $i fsync -22
			call $((3 + i)) write 5
		done
		call 7 fsync -5
		call 8 fsync -4000
		printf '%16s-7 [000] ..... 9.0: x_done: error=%d lat=2.000\n' a 0 a -12 a 12
	} >trace
	run -0 tfs-summary --metrics trace
	parsed <<<"$output" | grep -e errors -e sample >got
	diff - got <<-'EOF'
		tfs_call_errors_total name='fsync' error='4000' 1.0
		tfs_call_errors_total name='fsync' error='EINVAL' 3.0
		tfs_call_errors_total name='fsync' error='EIO' 1.0
		tfs_call_errors_total name='write' 0.0
		tfs_call_errors_total name='x_done' error='ENOMEM' 2.0
		tfs_sample_seconds 8.0
	EOF
}


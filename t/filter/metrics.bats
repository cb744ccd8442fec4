#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# --metrics of tfs-count, tfs-hist and tfs-summary: the reference parser of OpenMetrics reads them

load ../helper

# parsed: Print each sample that prometheus_client finds in standard input.
parsed() {
	local root
	need_tool python3 apt-get dpkg
	root=$("$TREE/t/vm/fetch" bookworm amd64 python3-prometheus-client 3>&- 2>fetch.err) ||
		skip "needs python3-prometheus-client of Debian: $(tail -n 1 fetch.err)"
	cat >metrics
	PYTHONPATH=$root/usr/lib/python3/dist-packages /usr/bin/python3 - <<-'EOF'
		from prometheus_client.openmetrics.parser import text_string_to_metric_families
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

@test "tfs-count: --metrics are OpenMetrics, with labels of odd names, and lost events" {
	trace >lines
	run -0 tfs-count -M -k event -k comm lines
	parsed <<<"$output" >got
	diff - got <<-'EOF'
		tfs_events_total event='sys_exit_read' comm='a"b\\\\c' 5.0
		tfs_lost_events_total 204.0
		tfs_unknown_lines_total 1.0
	EOF
}

@test "tfs-summary: --metrics has calls, errors and seconds of each call" {
	trace >lines
	run -0 tfs-summary --metrics lines
	parsed <<<"$output" >got
	diff - got <<-'EOF'
		tfs_calls_total name='read' 5.0
		tfs_call_errors_total name='read' 5.0
		tfs_call_seconds name='read' quantile='0.5' 2e-06
		tfs_call_seconds name='read' quantile='0.99' 3.992977408
		tfs_call_seconds_sum name='read' 4.000005501
		tfs_call_seconds_count name='read' 5.0
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
		grep -x "tfs_latency_seconds_bucket le='0.000001000' 2.0" got
		grep -x "tfs_latency_seconds_bucket le='0.000002000' 3.0" got
		grep -x "tfs_latency_seconds_bucket le='0.000004000' 4.0" got
		grep -x "tfs_latency_seconds_bucket le='2.097152000' 4.0" got
		grep -x "tfs_latency_seconds_bucket le='4.194304000' 5.0" got
		grep -x "tfs_latency_seconds_bucket le='+Inf' 5.0" got
		grep -x "tfs_latency_seconds_count 5.0" got
		grep -x "tfs_latency_seconds_sum 4.000005501" got
	done
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-export -f spans: the calls of a service of three processes, below the spans that OpenTelemetry's own
# SDK makes in them
# bats file_tags=long

load ../helper
load ../hooks

@test "tfs-export: the spans of 20,000 requests through three processes of an SDK and those of their calls are one tree for each" {
	local n
	n=$(so_many 20000)
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs BTF (CONFIG_DEBUG_INFO_BTF)"
	need_bpf
	need_tool node npm "${CC:-cc}" python3 apt-get dpkg
	READ=$("$TREE/t/engines/otel/make" 3>&- 2>make.err) ||
		skip "needs golang-opentelemetry-collector-dev of Debian sid: $(tail -n 1 make.err)"
	PACKAGES=$("$TREE/t/npm" engines/otel-sdk 3>&- 2>npm.err) || skip "needs npm packages: $(tail -n 1 npm.err)"
	"${CC:-cc}" -O2 -fPIC -shared -o publish.node "$TREE/t/engines/otel-sdk/publish.c"
	hold node "$TREE/t/engines/otel-sdk/service.mjs" "$PACKAGES" "$PWD/publish.node" "$n"
	traced trace_syscalls -s statx --otel --decode --json --date --buffer "$(so_many 65536)"
	# each call tells its span
	sed -n 's/.*\/nowhere\/\([0-9a-f]*\).*"span_id":"\([0-9a-f]*\)".*/\1 \2/p' got >calls
	file_has $((3 * n)) calls
	[ "$(awk '$1 != $2' calls | wc -l)" = 0 ]
	grep '/nowhere/' got | tfs-export -n -f spans >spans.calls
	cat spans.[123] spans.calls | "$READ" spans >all
	# one root for each trace, 6 spans, each parent is in the same trace, and each call below a request
	awk '$1 == "record" { trace[$3] = $2; parent[$3] = $4; spans[$2]++ }
		END {
			for (id in trace)
				if (parent[id] ~ /^0*$/ || parent[id] == "-") roots[trace[id]]++
				else if (trace[parent[id]] != trace[id]) orphans++
			for (t in spans) { traces++; whole += spans[t] == 6 && roots[t] == 1 }
			print traces + 0, whole + 0, orphans + 0
		}' all >tree
	cat tree
	[ "$(cat tree)" = "$n $n 0" ]
	# the same tree in the table of a collector's exporter
	CLICKHOUSE=$("$TREE/t/npm" engines/clickhouse 3>&- 2>npm.err) || skip "needs npm packages: $(tail -n 1 npm.err)"
	cat spans.[123] spans.calls | "$READ" span-rows >rows
	cat >tree.sql <<-'EOF'
		SELECT count(), countIf(spans = 6 AND roots = 1), sum(orphans) FROM (
			SELECT count() AS spans, countIf(match(ParentSpanId, '^0*$')) AS roots,
				groupArray(SpanId) AS ids,
				arrayCount(p -> NOT match(p, '^0*$') AND NOT has(ids, p), groupArray(ParentSpanId)) AS orphans
			FROM otel_traces GROUP BY TraceId);
	EOF
	PACKAGES=$CLICKHOUSE TABLE=otel_traces node "$TREE/t/engines/clickhouse/run.mjs" rows \
		"$TREE/t/engines/clickhouse/otel.sql" tree.sql >answer
	[ "$(grep . answer | tr '\t' ' ')" = "$n $n 0" ]
	# and in the picture of one of them
	need_tool chromium chromedriver
	/usr/bin/python3 -c 'import selenium' 2>/dev/null || skip "needs python3-selenium"
	id=$(awk '$1 == "record" { print $2; exit }' all)
	grep -h "$id" spans.[123] spans.calls | cat "$TREE/deploy/engines/waterfall.html" - >trace.html
	HOME=$BATS_TEST_TMPDIR "$TREE/t/browser" "$PWD/trace.html#$id" >picture <<-'EOF'
		print document.querySelectorAll('p')[0].textContent.match(/, ([0-9]+ spans, .*)/)[1]
		print [...document.querySelectorAll('main .row')].map(e => e.ariaLevel + ' ' + e.title).sort().join('\n')
	EOF
	lines_are picture "6 spans, 0 errors
1 request
2 request
2 statx
3 request
3 statx
4 statx"
}

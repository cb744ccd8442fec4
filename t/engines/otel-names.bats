#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-export: the names of its attributes are those of OpenTelemetry's semantic conventions

load ../helper
load ../hooks

# registry FILE: Check the names in lines of OTLP.
registry() {
	need_tool node npm
	PACKAGES=$("$TREE/t/npm" engines/semconv 3>&- 2>npm.err) || skip "needs npm packages: $(tail -n 1 npm.err)"
	node "$TREE/t/engines/semconv/names.mjs" "$PACKAGES" <"$1"
}

@test "tfs-export: each attribute of a known namespace is in the registry, whose version the lines name" {
	need_bpf
	tfs-run trace_syscalls --decode --json --date -- ls -l / >calls 2>/dev/null
	tfs-run trace_sched --json --date -- sh -c 'ls; ls' >waits 2>/dev/null
	tfs-run trace_tcp --states --json --date -- "${PYTHON:-python3}" -c '
import socket
s = socket.create_server(("127.0.0.1", 0))
socket.create_connection(s.getsockname()).close()' >states 2>/dev/null || :
	python3 "$TREE/t/prog/requests.py" 10 2 >requests
	grep -q inet_sock_set_state states
	export OTEL_RESOURCE_ATTRIBUTES=k8s.node.name=n1,k8s.cluster.name=c
	for format in logs spans; do
		[ "$format" = logs ] || set -- -S 5
		for file in calls waits states requests; do
			tfs-export -f "$format" "$@" <$file
		done >sent
		run -0 registry sent
		[[ $output != *unknown* ]]
		for name in thread.id thread.name cpu.logical_number error.type service.name host.name \
			k8s.node.name; do
			grep -q "\"key\":\"$name\"" sent
		done
		[ "$format" = spans ] || grep -q '"network.peer.address","value":{"stringValue":"127.0.0.1"}' sent
		[[ $output != *deprecated* ]]
		version=$(sed -n 's/^version //p' <<<"$output")
		[ "$(grep -c "\"schemaUrl\":\"https://opentelemetry.io/schemas/$version\"" sent)" = \
			"$(wc -l <sent)" ]
	done
}

@test "tfs-flame: each attribute of a profile is in the registry, whose version the profile names" {
	need_tool jq
	printf '%16s-7       [000] ..... 1.000001: e: x=1\n%16s-7       [000] ..... 1.000002: <stack trace>\n => f\n# lost 1 events\n' \
		sh sh | tfs-flame -o -k comm -k pid -k tgid -k cpu -k event -k host >profile
	jq -c '.dictionary as $d | {attributes: ($d.attributeTable[1:] + .resourceProfiles[0].resource.attributes |
		map({key: $d.stringTable[.keyStrindex]}))}' profile >names
	run -0 registry names
	[ "${lines[1]}" = "names 6 of 7" ] # tfs.arg.event
	version=$(sed -n 's/^version //p' <<<"$output")
	[ "$(grep -o "\"schemaUrl\":\"https://opentelemetry.io/schemas/$version\"" profile | wc -l)" = 2 ]
}

@test "tfs-export: the check of names finds one that the registry lacks, and one that it deprecates" {
	echo '{"resourceLogs":[{"resource":{"attributes":[{"key":"thread.colour"},{"key":"tfs.x"},{"key":"system.cpu.logical_number"}]}}]}' >line
	run -0 registry line
	[ "${lines[0]}" = "deprecated system.cpu.logical_number" ]
	[ "${lines[1]}" = "unknown thread.colour" ]
	[ "${lines[3]}" = "names 1 of 3" ]
}

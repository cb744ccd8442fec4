#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# services: a trace with --json and --header tells of which process, service and container its tasks are,
# so that tfs-export gives each process its own also when all of them have ended

load ../helper
load ../hooks

# later FILE [spans]: Export a trace without any process in procfs; print PID SERVICE PROGRAM of each log
# record, or span, of a task.
later() {
	need_tool jq
	mkdir -p empty
	TRACER_PROCFS_PATH=$PWD/empty tfs-export -f "${2-logs}" -H web "$1" |
		jq -r 'first(.resourceLogs, .resourceSpans | values)[] | (.resource.attributes |
			map({key, value: (.value | first(.[]))}) | from_entries) as $r
			| first(.scopeLogs, .scopeSpans | values)[] | (.logRecords // .spans)[]
			| select(any(.attributes[]; .key == "thread.id"))
			| "\($r["process.pid"] // "-") \($r["service.name"]) \($r["process.executable.name"] // "-")"'
}

# told SERVICE: Does the trace tell of a process of this service?
told() {
	grep -q "^{\"task\":.*\"service.name\":\"$1\"" got
}

@test "services: processes that have ended, of one pid, after an exec, and threads have their own services" {
	local python pid
	need_bpf
	need_root
	need_tool python3
	OTEL_SERVICE_NAME=family hold python3 "$TREE/t/prog/reused.py" first - second third
	watch trace_syscalls --decode -s read,close --json --date --header --pid "$HELD"
	release
	for service in first second third; do
		eventually told $service
		release
	done
	release
	watch_end
	later got >services
	sort services | uniq >all
	python=$(basename "$(readlink -f "$(command -v python3)")")
	pid=$(sed -n 's/^{"task":\([0-9]*\),.*"service.name":"first".*/\1/p' got | head -n 1)
	for service in first second third; do
		grep -qx "$pid $service head" all
	done
	# the child that executed nothing has the service of its parent, with the pid of the others
	grep -qx "$pid family $python" all
	grep -qx "$HELD family $python" all
	# the thread is its process
	grep "^{\"task\":[0-9]*,\"thread_of\":$HELD}" got
	run -1 grep -v "^$pid \(first\|second\|third\) head\$\|^\($pid\|$HELD\) family $python\$" all
	# the spans of the calls of each
	later got spans | sort -u | diff - all
	# each call of close(99) is that of the family
	grep -c 'sys_exit_close.*"value":99' got | grep -x 1
}

@test "services: a hook without decoded calls tells of them, too, and of nothing without --header" {
	need_tracefs events/sched/sched_switch
	tfs-run trace_event -e sched_switch --json --date --header -- env OTEL_SERVICE_NAME=shop sleep 0.2 >got
	told shop
	later got | grep -q '^[0-9]* shop sleep$'
	tfs-run trace_event -e sched_switch --json --date -- env OTEL_SERVICE_NAME=shop sleep 0.2 >got
	run -1 grep '^{"task"' got
	tfs-run trace_event -e sched_switch --date --header -- env OTEL_SERVICE_NAME=shop sleep 0.2 >got
	run -1 grep '"task":' got
}

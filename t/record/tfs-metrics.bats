#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# tfs-metrics: adds up the system calls of all tasks; few programs make calls of semtimedop, and only
# the test programs do so while a test runs alone

load ../helper
load ../hooks

# without_btf: Let tfs-metrics find no BTF from now on. Then a task is known by its pid.
without_btf() {
	mkdir -p sysfs/devices/system/cpu
	cp "${TRACER_SYSFS_PATH-/sys}/devices/system/cpu/possible" sysfs/devices/system/cpu
	SYSFS=$PWD/sysfs
}

# metrics WORD...: Run tfs-metrics until stop_metrics, which sets the file metrics to what it says.
metrics() {
	need_bpf
	rm -f metrics
	background env TRACER_SYSFS_PATH="${SYSFS-${TRACER_SYSFS_PATH-/sys}}" tfs-metrics --every 1h --output metrics "$@"
	METRICS=$PID
	eventually test -s metrics
}

stop_metrics() {
	kill "$METRICS"
	wait "$METRICS"
}

# metered WORD...: Let this program make its calls.
metered() {
	hold "$PROG/metered" "$@"
	echo >"$GO"
	wait "$HELD"
}

# value SAMPLE [FILE]: Print the value of this sample.
value() {
	sed -n "s/^$1 //p" "${2-metrics}"
}

# bats test_tags=quick,oldest,alone
@test "tfs-metrics: counts each call, each error by its name, and each duration, of all threads" {
	counts_exactly
}

# bats test_tags=oldest,alone
@test "tfs-metrics: does so without BTF, too" {
	without_btf
	counts_exactly
}

counts_exactly() {
	local name='name="semtimedop"'
	metrics semtimedop
	[ "$(value "tfs_calls_total{$name}")" = 0 ]
	[ "$(value "tfs_call_seconds_bucket{$name,le=\"+Inf\"}")" = 0 ]
	[ "$(value "tfs_call_seconds_count{$name}")" = 0 ]
	metered 4 "$(so_many 10000)" 30 3 20
	stop_metrics
	[ "$(value "tfs_calls_total{$name}")" = $(($(so_many 10000) * 4 + 132)) ]
	[ "$(value "tfs_call_errors_total{$name,error=\"EINVAL\"}")" = 120 ]
	[ "$(value "tfs_call_errors_total{$name,error=\"EAGAIN\"}")" = 12 ]
	[ "$(grep -c '^tfs_call_errors_total' metrics)" = 2 ]
	[ "$(value "tfs_call_seconds_count{$name}")" = $(($(so_many 10000) * 4 + 132)) ]
	[ "$(value 'tfs_lost_calls_total{}')" = 0 ]
	[ "$(value 'tfs_full_map_total{map="tasks"}')" = 0 ]
	[ "$(value 'tfs_full_map_total{map="errors"}')" = 0 ]
}

# bats test_tags=oldest,alone
@test "tfs-metrics: a call that seccomp(2) denies counts, with its error and without a duration" {
	local name='name="semtimedop"'
	metrics semtimedop
	metered denied 7
	stop_metrics
	[ "$(value "tfs_calls_total{$name}")" = 7 ]
	[ "$(value "tfs_call_errors_total{$name,error=\"EPERM\"}")" = 7 ]
	[ "$(value "tfs_call_seconds_count{$name}")" = 0 ]
}

# bats test_tags=oldest,alone
@test "tfs-metrics: measures the wait of a task, also if without BTF another one has its place" {
	local name='name="semtimedop"' btf
	[ "$(cat /proc/sys/kernel/pid_max)" -ge 32768 ] || skip "needs pids above 16384"
	for btf in '' without_btf; do
		$btf
		metrics semtimedop
		hold "$PROG/metered" crowd 9
		echo >"$GO"
		wait "$HELD" || ! grep -qx 'no such pid' ready || skip "another task has the pid"
		stop_metrics
		[ "$(value "tfs_calls_total{$name}")" = 10 ]
		[ "$(value "tfs_call_seconds_count{$name}")" = 10 ]
		# it took 50 ms or longer
		[ "$(value "tfs_call_seconds_bucket{$name,le=\"0.032768\"}")" -le 9 ]
		awk -v got="$(value "tfs_call_seconds_sum{$name}")" 'BEGIN { exit !(got >= 0.05) }'
		[ "$(value 'tfs_full_map_total{map="tasks"}')" = 0 ]
	done
}

# bats test_tags=alone
@test "tfs-metrics: a call of 32-bit code counts under its own name, with its duration" {
	[ -x "$PROG/compat32" ] || skip "needs a compiler for 32 bits"
	for btf in '' without_btf; do
		$btf
		metrics socketcall
		run -7 "$PROG/compat32"
		stop_metrics
		[ "$(value 'tfs_calls_total{name="socketcall"}')" = 2 ]
		[ "$(value 'tfs_call_seconds_count{name="socketcall"}')" = 2 ]
	done
}

# bats test_tags=oldest,alone
@test "tfs-metrics: strace -c counts the same calls and errors" {
	need_tool strace
	metrics semtimedop
	echo | strace -f -c -e trace=semtimedop -o counts "$PROG/metered" 3 500 20 2 5 >/dev/null
	stop_metrics
	awk '$NF == "semtimedop" { print $4, $5 }' counts >theirs
	echo "$(value 'tfs_calls_total{name="semtimedop"}')" \
		"$(awk '/^tfs_call_errors_total/ { n += $2 } END { print n }' metrics)" >ours
	diff theirs ours
	[ "$(cat ours)" = '1566 66' ]
}

# bats test_tags=alone
@test "tfs-metrics: without a call, all calls that were made have a name, exec and exit too" {
	metrics
	metered 1 5 0 0 0
	stop_metrics
	[ "$(value 'tfs_calls_total{name="semtimedop"}')" = 5 ]
	for name in execve exit_group clone3 rt_sigreturn; do
		! value "tfs_calls_total{name=\"$name\"}" | grep -qx 0
	done
	[ "$(value 'tfs_calls_total{name="exit_group"}')" -ge 2 ]
	[ "$(value 'tfs_call_seconds_count{name="exit_group"}')" = '' ]
	[ "$(value 'tfs_call_seconds_count{name="execve"}')" -ge 2 ]
}

# bats test_tags=oldest,alone
@test "tfs-metrics: its programs end with it, also by SIGKILL; a service that starts again begins at 0" {
	metrics semtimedop
	export ID=tfs_m$METRICS # of objects
	objects >list
	[ "$(grep -c '^program' list)" -ge 3 ]
	metered 1 5 0 0 0
	kill -KILL "$METRICS"
	wait "$METRICS" || :
	eventually none_loaded
	metrics semtimedop
	[ "$(value 'tfs_calls_total{name="semtimedop"}')" = 0 ]
	stop_metrics
}

@test "tfs-metrics: the file is always complete, belongs to the caller, and others read it" {
	need_bpf
	umask 077
	background tfs-metrics --openmetrics --every 1 --output all.prom semtimedop
	eventually test -e all.prom
	for ((i = 0; i < 300; i++)); do
		[ "$(tail -n 1 all.prom)" = '# EOF' ]
	done
	[ "$(stat -c %a all.prom)" = 644 ]
	kill "$PID"
	wait "$PID"
	[ "$(find . -name '.tfs-metrics*')" = '' ]
}

# bats test_tags=quick
@test "tfs-metrics: -S prints the programs that it attaches, without the right to attach them" {
	without_btf
	export TRACER_SYSFS_PATH=$SYSFS
	# shellcheck disable=SC2094 # a word and a file
	plainly tfs-metrics -S >programs
	[ "$(sed -n 's|^// \(.*\):.*|\1|p' programs | xargs)" = \
		'sched_process_exit sched_process_exec sys_exit sys_enter' ]
}

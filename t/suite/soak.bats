#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a subshell
# soak: run t/soak for a short time, and check that it finds leftovers; make soak runs
# longer
# parts: 1

load ../helper

# soak SECONDS: Run t/soak with a name of this test's for sessions, instances and marks.
soak() {
	SOAK_NAME=$MARK.soak exec "$BASH" "$TREE/t/soak" "$1" 2>&1
}

# An object that outlives the deadline counts as left, even if it only needs more time. So
# set a deadline that is long enough, but not too long, because here the object stays.
finds() {
	need_tracefs events/syscalls
	SOAK_SEED=7 SOAK_SETTLE=$((10 * SLOW)) run -1 soak 0
	[ "${lines[0]}" = "t/soak: 0 seconds, seed 7" ]
	[ "${lines[1]}" = "t/soak: left: $1" ]
	[[ ${lines[2]} =~ ^'soak: '[0-9]+' s, 9 sessions, '[0-9]+' killed, seed 7: 1 wrong'$ ]]
	[ "${#lines[@]}" = 3 ]
}

# This test is alone because it measures the memory of the whole machine.
# bats test_tags=alone,long
@test "soak: sessions that start, stop and are killed at random leave nothing behind" {
	need_tracefs events/syscalls
	run -0 soak 15
	printf '# %s\n' "${lines[@]:1}" >&3
	[ "$(awk '{ gsub(/-?[0-9]+/, "N"); print }' <<<"${lines[1]}")" = "t/soak: KB that nobody accounts for:\
 N, and N after it; slab and the like: N, and N; open files: N, and N" ]
	[[ ${lines[0]} =~ ^'t/soak: 15 seconds, seed '([0-9]+)$ ]]
	[[ ${lines[2]} =~ ^'soak: '([0-9]+)' s, '([0-9]+)' sessions, '([0-9]+)' killed, '\
"seed ${BASH_REMATCH[1]}: nothing left"$ ]]
	[ "${BASH_REMATCH[1]}" -ge 15 ]
	[ "${BASH_REMATCH[2]}" -ge 10 ] # nine rounds to warm up, and one more on the slowest machine
	[ "${#lines[@]}" = 3 ]
}

@test "soak: names a leftover instance, and fails" {
	need_tracefs
	mkfifo hold
	background tfs-instance hold "$MARK.soak.leak" env -u TFS_INSTANCE cat <>hold >/dev/null
	eventually test -d "$TRACEFS/instances/tfs.$MARK.soak.leak"
	finds "instance tfs.$MARK.soak.leak"
}

@test "soak: names a leftover process, and fails" {
	mkfifo hold
	TFS_INSTANCE=tfs.$MARK.soak.leak background cat <>hold >/dev/null
	finds "process $PID: cat"
}

@test "soak: names an event that is left enabled at the top level, and fails" {
	[ "${TFS_VARIANT-}" = vm ] || skip "needs a machine of its own: enables an event for all"
	need_tracefs events/syscalls
	: >out
	SOAK_SEED=7 SOAK_SETTLE=$((10 * SLOW)) background soak 0 >out
	eventually grep -q seed out
	tfs-write events/syscalls/sys_enter_acct/enable 1
	finishes "$PID" 1
	tfs-write events/syscalls/sys_enter_acct/enable 0
	[ "$(sed -n 2p out)" = "t/soak: left: top level: syscalls:sys_enter_acct" ]
}

@test "soak: leaves nothing behind if it is stopped in the middle" {
	need_tracefs events/syscalls
	export TMPDIR=$PWD/tmp
	mkdir tmp
	background soak 60 >out
	eventually compgen -G "$TRACEFS/instances/tfs.$MARK.soak.*" >/dev/null
	ends_by "$PID" TERM 130
	[ -z "$(ls tmp)" ]
	run ! compgen -G "$TRACEFS/instances/tfs.$MARK*"
	run ! grep -asF "TFS_RUNDIR=$PWD/tmp" /proc/[0-9]*/environ
}

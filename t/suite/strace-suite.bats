#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2154 # run sets stderr
# decoded calls beside strace, on some of strace's own test programs: t/strace-suite

load ../helper

# bats test_tags=long
@test "decode: no call of strace's own test programs contradicts strace" {
	need_tracefs events/raw_syscalls
	need_tool strace
	# the user nobody runs the programs
	dir=$(mktemp -d /tmp/tfs-suite.XXXXXX)
	chmod 755 "$dir"
	run --separate-stderr timeout 400 "$TREE/t/strace-suite" -d "$dir" -S 1,40
	rm -rf "$dir"
	[ "$status" != 111 ] || skip "needs ${stderr#*fatal: }"
	[ "$status" != 124 ] || skip "needs a machine that builds strace in 400 seconds"
	[ "$status" = 0 ] || { echo "$output"; false; }
	grep -Eq '^equal [0-9]{4,}, ' <<<"$output"
}

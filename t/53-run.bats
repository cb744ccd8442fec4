#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# t/run: check, with a test file of its own, what it gives to the tests

load helper

# PATH without the directory of bats's own parts in front
OWN_PATH=${PATH//"$BATS_LIBEXEC:"/}

# suite: Make a tree with t/run and, from stdin, a file of two tests, one of them alone.
suite() {
	[ "${TFS_VARIANT-}" != vm ] || skip "needs the utilities of a whole system"
	mkdir -p suite/t suite/build/t
	cp "$TREE/t/run" suite/t
	cp "$PROG/signals" suite/build/t
	# unchanged, these lines would be tests of this file
	sed 's/^TEST /@test /; s/^ALONE$/# bats test_tags=alone/' >suite/t/own.bats
}

# tests_of_suite JOBS: Run it under a caller that ignores and blocks signals.
tests_of_suite() {
	need_tool perl
	# shellcheck disable=SC2016 # perl's
	run -0 env -i PATH="$OWN_PATH" TFS_VARIANT=vm TFS_JOBS="$1" \
		perl -MPOSIX -e '$SIG{$_} = "IGNORE" for qw(HUP INT QUIT USR1 USR2 PIPE ALRM TERM);
			sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGHUP, SIGTERM)); exec @ARGV' \
		suite/t/run t/own.bats
}

@test "t/run: programs of a test get the signals that the caller ignores or blocks" {
	suite <<-'END'
	tell() {
		grep -E '^Sig(Blk|Ign):' /proc/self/status | sed 's/^/# /' >&3
	}
	TEST "one" {
		tell
	}
	ALONE
	TEST "two" {
		tell
	}
	END
	local jobs
	for jobs in 1 2; do
		tests_of_suite $jobs
		[ "$(grep -c '^ok ' <<<"$output")" = 2 ]
		[ "${lines[-1]}" = "2 passed, 0 failed, 0 skipped" ]
		[ "$(grep -c 'SigBlk:.0000000000000000$' <<<"$output")" = 2 ]
		[ "$(grep -c 'SigIgn:.0000000000000000$' <<<"$output")" = 2 ]
	done
}

@test "t/run: a test file that is started below nohup without it says why it fails" {
	suite <<-END
	load $TREE/t/helper
	TEST "one" { :; }
	END
	ignoring() {
		trap '' HUP
		env -i PATH="$OWN_PATH" bats --tap suite/t/own.bats
	}
	run -1 ignoring
	[ "${lines[1]}" = "not ok 1 one" ]
	grep -qx '# signals are ignored here (SigIgn: [0-9a-f]*), as below nohup: start t/run FILE' \
		<<<"$output"
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# t/run: check the environment of tests, with a test file of its own

load ../helper

# PATH without the directory of bats's own parts in front
OWN_PATH=${PATH//"$BATS_LIBEXEC:"/}

# suite [bare]: Make a tree with t/run and, from stdin, a test file, which loads the helper unless it
# is bare; a line LONG, QUICK, ALONE or CONTRACT before a test is its tag.
suite() {
	[ "${TFS_VARIANT-}" != vm ] || skip "needs the utilities of a whole system"
	mkdir -p suite/t/own suite/build/t
	cp "$TREE/t/run" suite/t
	cp "$PROG/signals" suite/build/t
	# unchanged, these lines would be tests of this file
	{ [ "${1-}" = bare ] || echo "load $TREE/t/helper"; cat; } | sed 's/^TEST /@test /; s/^ALONE$/# bats test_tags=alone/; s/^CONTRACT$/# bats test_tags=alone,contract/
		s/^LONG/# bats test_tags=long/; s/^QUICK$/# bats test_tags=quick/' >suite/t/own/own.bats
}

# tests_of_suite JOBS: Run it under a caller that ignores and blocks signals.
tests_of_suite() {
	need_tool perl
	# shellcheck disable=SC2016 # perl's
	run -0 env -i PATH="$OWN_PATH" TFS_VARIANT=vm TFS_JOBS="$1" \
		perl -MPOSIX -e '$SIG{$_} = "IGNORE" for qw(HUP INT QUIT USR1 USR2 PIPE ALRM TERM);
			sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGHUP, SIGTERM)); exec @ARGV' \
		suite/t/run t/own/own.bats
}

@test "t/run: programs of a test get the signals that the caller ignores or blocks" {
	suite <<-END
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

# ran JOBS WORD...: Print the names of the tests that t/run WORD... ran.
ran() {
	env -i PATH="$OWN_PATH" TFS_VARIANT=vm TFS_JOBS="$1" suite/t/run "${@:2}" |
		sed -En 's/^ok [0-9]+ //p' | paste -sd ' '
}

# sorted JOBS WORD...: The same, by name.
sorted() {
	ran "$@" | tr ' ' '\n' | LC_ALL=C sort | paste -sd ' '
}

@test "t/run: without a file it leaves out long tests, as --short does, and --long, --all and files run all" {
	suite <<-END
	QUICK
	TEST "one" { :; }
	LONG
	TEST "two" { :; }
	ALONE
	TEST "three" { :; }
	LONG,alone
	TEST "four" { :; }
	CONTRACT
	TEST "five" { :; }
	END
	local jobs
	for jobs in 1 2; do
		[ "$(sorted $jobs)" = "five one three" ]
		[ "$(sorted $jobs --check)" = "five one" ]
		[ "$(ran $jobs t/own/own.bats | wc -w)" = 5 ]
	done
	# the programs of others run with --all only
	mkdir suite/t/engines
	printf '@test "six" {\n\t:\n}\n' >suite/t/engines/theirs.bats
	[ "$(sorted 2)" = "five one three" ]
	[ "$(ran 2 --long | wc -w)" = 5 ]
	[ "$(sorted 2 --all)" = "five four one six three two" ]
	rm -r suite/t/engines
	[ "$(ran 1 --quick t/own/own.bats)" = one ]
	# those that need the machine for themselves come first
	[ "$(ran 2 --short t/own/own.bats)" = "three five one" ]
	run -0 env -i PATH="$OWN_PATH" TFS_VARIANT=vm TFS_JOBS=2 TFS_LONG_WITHIN=0 suite/t/run --all
	[ "$(sed -En 's/^ok [0-9]+ //p' <<<"$output" | paste -sd ' ')" = "three five one" ]
	[ "${lines[-3]}" = '# 2 long tests did not run: 0 seconds had passed' ]
	[ "${lines[-1]}" = "3 passed, 0 failed, 0 skipped" ]
	fails 100 "t/run: no such option: -f; usage: t/run [--quick|--check|--guest|--oldest|--short|--long|--all] [FILE.bats]..." \
		env TFS_VARIANT=vm suite/t/run -f one
	run -0 env TFS_VARIANT=vm suite/t/run --help
	[ "${lines[0]}" = "run [--quick|--check|--guest|--oldest|--short|--long|--all] [FILE.bats]... - the tests, and one line at the end:" ]
}

@test "t/run: runs a failed test once more, and names those that pass then and those that fail again" {
	suite <<-END
	# once NAME: Fail at the first try.
	once() {
		[ -e $PWD/\$1 ] || { : >$PWD/\$1; echo "why not"; false; }
	}
	ALONE
	TEST "a: with 'quotes' (once), [b]?" {
		once a
	}
	TEST "c: never" {
		false
	}
	TEST "d: always" {
		:
	}
	TEST "e: skips at the second try" {
		once e || false
		skip "it is the second"
	}
	TEST "f: skips" {
		skip "no f"
	}
	END
	local jobs
	for jobs in 1 2; do
		rm -f a e
		run -1 env -i PATH="$OWN_PATH" TFS_VARIANT=vm TFS_JOBS=$jobs suite/t/run t/own/own.bats
		grep -v '^# (in \|^# *(*from\|^#   ' <<<"$output" >got
		[ "$(grep -c '^# failed at the first try: t/own/own.bats: ' got)" = 3 ]
		[ "$(grep -c '^# why not$' got)" = 2 ]
		[ "$(grep '^ok' got | cut -d ' ' -f 3-)" = "$(printf '%s\n' "d: always" \
			"f: skips # skip no f" "a: with 'quotes' (once), [b]?")" ]
		[ "$(grep -x '1\.\..*' got)" = 1..5 ]
		diff - <(sed -n '/^not checked/,$p' got) <<-'END'
			not checked, 1 times: no f
			failed: t/own/own.bats: c: never
			failed: t/own/own.bats: e: skips at the second try # skipped at the second try
			unsteady: t/own/own.bats: a: with 'quotes' (once), [b]?
			2 passed, 2 failed, 1 skipped
		END
	done
}

@test "t/run: passes with three unsteady tests, and fails with four" {
	local most
	for most in 3 4; do
		suite <<-END
			$(for ((i = 1; i <= most; i++)); do
			printf 'TEST "test %s" {\n[ -e %s ] || { : >%s; false; }\n}\n' \
				$i "$PWD/$most.$i" "$PWD/$most.$i"
		done)
		END
		run env -i PATH="$OWN_PATH" TFS_VARIANT=vm TFS_JOBS=2 suite/t/run t/own/own.bats
		[ "$status" = $((most - 3)) ]
		[ "$(grep -c '^unsteady: t/own/own.bats: test [1-4]$' <<<"$output")" = $most ]
		[ "${lines[-1]}" = "$most passed, 0 failed, 0 skipped" ]
	done
	[ "${lines[-2]}" = "t/run: 4 tests passed only at the second try, and at most 3 may" ]
}

@test "t/run: ends a test that hangs with all its processes, and runs the next test" {
	suite <<-END
	# hang NAME: Write the pid to a file, and ignore SIGTERM.
	hang() {
		trap '' TERM
		echo \$BASHPID >$PWD/\$1
		while :; do read -r _ <>never; done
	}
	TEST "a command of a command" {
		mkfifo never
		[ -z "\$(hang one | cat)" ]
	}
	TEST "a job" {
		mkfifo never
		background hang two
		wait "\$PID"
	}
	TEST "the test itself" {
		mkfifo never
		echo \$BASHPID >$PWD/three
		read -r _ <>never
	}
	END
	local pid
	run -1 env -i PATH="$OWN_PATH" TFS_VARIANT=vm TFS_TEST_SECONDS=4 suite/t/run t/own/own.bats
	[ "$(grep '^not ok' <<<"$output")" = "$(cat <<-'END'
		not ok 1 a command of a command # timeout after 4s
		not ok 2 a job # timeout after 4s
		not ok 3 the test itself # timeout after 4s
	END
	)" ]
	[ "${lines[-1]}" = "0 passed, 3 failed, 0 skipped" ]
	while read -r pid; do
		gone "$pid"
	done < <(cat one two three)
	[ "$(cat one two three | wc -l)" = 3 ]
}

# End what a suite has left.
# shellcheck disable=SC2317 # the function undo calls it
undo() {
	local kind what
	while IFS=$'\t' read -r kind what; do
		case $kind in
		process) kill -KILL "$what" ;;
		loop) losetup -d "/dev/$what" ;;
		mount) umount "$what" ;;
		*) rmdir "$kind$what" ;;
		esac
	done < <(sed -En 's/^left over: ((process|mount|loop) ?(device)?) ([^ :]*).*/\2\t\4/p
		s/^left over: (\/.*)/\1/p' out 2>/dev/null)
}

@test "t/run: fails and names each process, loop device, mount and instance that its tests leave" {
	need_tracefs
	need_mounts
	need_tool losetup
	suite <<-'END'
	TEST "a: leaves nothing, also if it is killed" {
		PATH+=:/usr/sbin:/sbin
		loop
		echo "$LOOP" >"$TOLD"
		kill -KILL $$
	}
	END
	TOLD=$PWD/told env -i PATH="$OWN_PATH" TFS_JOBS=1 TFS_VARIANT=vm TOLD="$PWD/told" suite/t/run t/own/own.bats >killed || :
	[ -s told ] || skip "needs a loop device"
	run -1 grep '^left over: loop' killed # the process that limits its time is there
	suite <<-'END'
	teardown() { :; }
	TEST "b: leaves one of each" {
		PATH+=:/usr/sbin:/sbin
		(setsid "$BASH" -c 'read -r _ <"$1"' - "$NEVER" <>"$NEVER" >/dev/null 2>&1 3>&- &)
		head -c 1048576 /dev/zero >disk
		losetup "$(losetup -f)" disk
		mkdir empty
		mount --bind empty empty
		mkdir "$TRACEFS/instances/$MARK"
	}
	END
	for jobs in 1 2; do
		status=0
		env -i PATH="$OWN_PATH" TFS_JOBS=$jobs TFS_VARIANT=vm suite/t/run t/own/own.bats >out || status=$?
		cat out
		[ "$status" = 1 ]
		[ "$(sed -En 's/^left over: (process|loop device|mount|.*instances)[ /].*/\1/p' out | sort)" = "$TRACEFS/instances
loop device
mount
process" ]
		[ "$(tail -n 1 out)" = "1 passed, 1 failed, 0 skipped" ]
		undo
	done
	: >out
}

@test "t/run: what was there before its tests is not left by them, though a mark of theirs is in its name" {
	suite bare <<-'END'
	TEST "one" {
		echo t1_1 >>"$TFS_SHARED/marks"
		mkdir -p "$TRACER_SYSFS_PATH/kernel/tracing/instances/tfs.t1_1"
	}
	END
	mkdir -p sys/kernel/tracing/instances
	run -1 env -i PATH="$OWN_PATH" TFS_VARIANT=vm TRACER_SYSFS_PATH="$PWD/sys" suite/t/run t/own/own.bats
	[[ $output == *"left over: $PWD/sys/kernel/tracing/instances/tfs.t1_1"* ]]
	run -0 env -i PATH="$OWN_PATH" TFS_VARIANT=vm TRACER_SYSFS_PATH="$PWD/sys" suite/t/run t/own/own.bats
	[ "${lines[-1]}" = "1 passed, 0 failed, 0 skipped" ]
}

@test "t/answers: refuses a tracefs that hangs, and passes a tracefs that answers or refuses" {
	need_tracefs
	run -0 bash "$TREE/t/answers"
	[ -z "$output" ]
	run ! compgen -G "$TRACEFS/instances/answers*"
	TRACER_SYSFS_PATH=$PWD/none run -0 bash "$TREE/t/answers"
	[ -z "$output" ]
	mkdir slow
	mkfifo never
	# shellcheck disable=SC2016 # the other shell's
	printf '#!/bin/sh\necho $$ >%s/pid\nread -r _ <%s/never\n' "$PWD" "$PWD" >slow/mkdir
	chmod +x slow/mkdir
	fails 111 "tracefs of this machine hangs; restart it" \
		env PATH="$PWD/slow:$PATH" bash "$TREE/t/answers" 3
	kill "$(cat pid)"
}

@test "t/run: a test neither sees nor waits for the process that limits its time, which may not have run yet" {
	suite <<-END
	TEST "no jobs" {
		[ -z "\$(jobs)" ]
		wait
	}
	TEST "one" {
		kill -STOP \$BATS_killer_pid
		echo \$BATS_killer_pid >$PWD/pid
	}
	END
	# a reader of the output waits until all its writers have ended
	run -0 env -i PATH="$OWN_PATH" TFS_VARIANT=vm TFS_TEST_SECONDS=100000 suite/t/run t/own/own.bats
	[ "${lines[-1]}" = "2 passed, 0 failed, 0 skipped" ]
	gone "$(cat pid)"
}

@test "t/run: a test file that is started below nohup without it says why it fails" {
	suite <<-END
	TEST "one" { :; }
	END
	ignoring() {
		trap '' HUP
		env -i PATH="$OWN_PATH" bats --tap suite/t/own/own.bats
	}
	run -1 ignoring
	[ "${lines[1]}" = "not ok 1 one" ]
	grep -qx '# signals are ignored here (SigIgn: [0-9a-f]*), as below nohup: start t/run FILE' \
		<<<"$output"
}

@test "t/helper: bats names the same functions, files and lines of a failure as without it" {
	suite bare <<-END
	bats_require_minimum_version 1.5.0
	[ -n "\${PLAIN-}" ] || load $TREE/t/helper
	inner() {
		[[ a = b ]]
		:
	}
	outer() {
		:
		inner
		:
	}
	TEST "a function of a function" { outer; }
	TEST "a command" {
		outer || :
		false
	}
	TEST "a pipe" {
		true | grep -q x
		:
	}
	TEST "a status of run" {
		run -1 true
	}
	TEST "a loop" {
		for i in 1 2; do
			[ \$i = 1 ]
		done
	}
	END
	report() {
		env -i PATH="$OWN_PATH" TMPDIR="$BATS_TEST_TMPDIR" "$@" bats --tap suite/t/own/own.bats
	}
	run -1 report PLAIN=1
	local plain=$output
	[ "$(grep -c '^not ok' <<<"$plain")" = 5 ]
	grep -qF "# (from function \`inner' in file suite/t/own/own.bats, line 4," <<<"$plain"
	run -1 report
	diff <(echo "$plain") <(echo "$output")
}

# steady_suite: Make a tree with t/steady beside that of suite, and a build that says it ran.
steady_suite() {
	need_root
	need_tool setpriv unshare make tar
	suite
	cp "$TREE/t/steady" suite/t
	mkdir -p suite/t/prog
	printf 'all:\n' >suite/t/prog/Makefile
	# a build in the load does not end by itself, as an empty one would start thousands of times
	mkfifo hold
	printf 'all:\nclean:\n\techo >%s; read x <%s\n' "$PWD/built" "$PWD/hold" >suite/Makefile
}

# load_processes N: Does the load of this test have N processes?
load_processes() {
	local found
	found=$(grep -lzsF "TFS_STEADY=" /proc/[0-9]*/environ |
		xargs -r grep -lzsFx "OWN=$PWD" | wc -l) || :
	if [ "$1" = 0 ]; then [ "$found" = 0 ]; else [ "$found" -ge "$1" ]; fi
}

@test "t/steady: runs the tests beside a load, and says how often which test failed" {
	steady_suite <<-END
	# tries NAME N...: Fail except at these tries.
	tries() {
		local try
		echo >>$PWD/\$1.tries
		try=\$(wc -l <$PWD/\$1.tries)
		[[ " \${*:2} " == *" \$try "* ]]
	}
	QUICK
	TEST "a: always" {
		[ -e $PWD/built ]
	}
	TEST "b: never" {
		tries b
	}
	TEST "c: only the second run" {
		tries c 3
	}
	TEST "d: not at once" {
		tries d 2 3
	}
	END
	run -1 env -i PATH="$OWN_PATH" suite/t/steady 2
	[ -e built ]
	diff - <(tail -n 3 <<<"$output") <<-'END'
		failed 2 of 2 times: t/own/own.bats: b: never
		failed 1 of 2 times: t/own/own.bats: c: only the second run
		unsteady 1 of 2 times: t/own/own.bats: d: not at once
	END
	run -1 grep '^ok' <<<"$output"
	run -0 env -i PATH="$OWN_PATH" suite/t/steady 1 --quick
	[ "${lines[-1]}" = "1 passed, 0 failed, 0 skipped" ]
	local words
	for words in 0 x -1 '1 '; do
		fails 100 "t/steady: '$words' is no number of runs, 1 to 9999; usage: t/steady [N [WORD...]]" \
			suite/t/steady "$words"
	done
}

@test "t/steady: its load ends with it, whatever ends it" {
	steady_suite <<-END
	TEST "waits" {
		read -r _ <$PWD/never
	}
	END
	mkfifo never
	local signal loops=$((4 * $(nproc)))
	for signal in TERM KILL; do
		rm -f built
		background env -i PATH="$OWN_PATH" OWN="$PWD" suite/t/steady 1
		eventually test -e built
		# the loops, the one that builds, and unshare
		eventually load_processes $((loops + 2))
		kill -$signal "$PID"
		eventually load_processes 0
		[ $signal = TERM ] || echo >never # the test goes on
	done
}

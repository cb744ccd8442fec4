#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2154 # helper.bash
# check-vm: prints progress while guests run, and a summary at the end (t/vm/matrix); the
# guest is a script of the test's own. The guests of .ci/run end with it.

load ../helper

# lane: Make a tree with t/vm/matrix, two guests, and a t/vm/run that copies guest.ARCH.
lane() {
	mkdir -p lane/t/vm
	cp "$TREE/t/vm/matrix" lane/t/vm
	printf '%s\n' '6.1 one suite package harness qemu' '6.1 two suite package harness qemu' \
		>lane/t/vm/guests
	printf '#!/bin/sh\n' | tee lane/t/packages >lane/t/vm/cc
	cat >lane/t/vm/run <<-'END'
	#!/bin/sh
	mkdir -p build/vm
	tee "build/vm/$1-$2.tap" <"guest.$2"
	! grep -q '^not ok' "guest.$2"
	END
	chmod +x lane/t/packages lane/t/vm/cc lane/t/vm/run
	{
		echo 1..27
		for ((i = 1; i < 26; i++)); do echo "ok $i test"; done
		echo 'not ok 26 a test that fails'
		echo '# why it failed'
		echo 'ok 27 test # skip needs a thing'
		echo 'not checked, 1 times: needs a thing'
		echo '25 passed, 1 failed, 1 skipped'
		echo 'guest: ended with 1'
		echo '# 6.1 one: 12 seconds'
	} >lane/guest.one
	echo '1..0 # SKIP the packages of 6.1 two cannot be fetched' >lane/guest.two
}

@test "check-vm: names the files of each guest at once, and shows progress and failures" {
	[ "${TFS_VARIANT-}" != vm ] || skip "needs a machine that runs guests"
	lane
	TFS_VM_JOBS=1 run -1 lane/t/vm/matrix '6.1-one'
	sed -E 's/after [0-9]+ s/after N s/' <<<"$output" | diff - <(cat <<-'END'
	6.1 one: started; its tests are in build/vm/6.1-one.tap, its console in build/vm/6.1-one.tap.console
	6.1 one: 25 of 27 tests, 0 failed (after N s)
	6.1 one: not ok 26 a test that fails (after N s)
	6.1 one: not ok 26 a test that fails
	6.1 one: # why it failed
	6.1 one: not checked, 1 times: needs a thing
	6.1 one: 25 passed, 1 failed, 1 skipped	in 12 seconds
	END
	)
}

@test "check-vm: names a guest that cannot be fetched, with the reason, and does not fail for it" {
	[ "${TFS_VARIANT-}" != vm ] || skip "needs a machine that runs guests"
	lane
	run -0 lane/t/vm/matrix '6.1-two'
	[ "${lines[1]}" = "6.1 two: skipped: the packages of 6.1 two cannot be fetched" ]
	[ "${#lines[@]}" = 2 ]
}

# End the guests of a test that failed.
undo() {
	[ ! -s lane/pids ] || guests_end || xargs kill -KILL <lane/pids
}

guests_end() {
	local pid
	while read -r pid; do
		gone "$pid" || return 1
	done <lane/pids
}

@test ".ci/run: its guests end with it, by a signal or because a later step fails" {
	[ -z "${TFS_VARIANT-}" ] || skip "needs a machine that runs guests"
	need_tracefs
	lane
	mkdir lane/.ci
	mkfifo lane/hold lane/fail
	sed '/^step lint$/,$d' "$TREE/.ci/run" >lane/.ci/run
	echo 'read -r _ <fail; false' >>lane/.ci/run
	cp "$TREE/t/vm/lib.bash" lane/t/vm
	cp "$TREE/t/answers" lane/t
	printf '%s amd64 suite package harness qemu\n' 6.1 5.10 >lane/t/vm/guests
	cat >lane/t/vm/run <<-'END'
	#!/bin/bash
	. t/vm/lib.bash
	work=. image=. qemu='./qemu -append console'
	boot 600 "" | sed -u 's/x/x/' | tee tap
	END
	printf '%s\n' '#!/bin/sh' "echo \$\$ >>pids" 'exec cat hold' >lane/qemu
	chmod +x lane/qemu
	two_guests() { file_has 2 lane/pids; }
	for end in TERM HUP failure; do
		: >lane/pids
		background "$BASH" lane/.ci/run >out 2>&1
		eventually two_guests
		run -1 guests_end
		if [ $end = failure ]; then echo >lane/fail; else kill -$end "$PID"; fi
		wait "$PID" || :
		eventually guests_end
	done
}

@test "guests: the test programs compile for a machine of 32 bits, with musl" {
	local tools
	need_tool apt-get arm-linux-gnueabihf-gcc
	tools=$("$TREE/t/vm/fetch" bookworm armhf musl-dev linux-libc-dev 3>&- 2>fetch.err) ||
		skip "needs musl-dev of Debian: $(tail -n 1 fetch.err)"
	cd "$TREE"
	for file in t/prog/*.c; do
		[[ $file == */compat32.c ]] || # of x86
			t/vm/cc armhf -isystem "$tools/usr/include" -isystem "$tools/usr/include/arm-linux-gnueabihf" \
				-std=c11 -D_GNU_SOURCE -DVERSION='""' -Ilib -Ibin -Ibuild/gen -fsyntax-only -w "$file"
	done
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2034,SC2154 # each test is a process of its own; the helper uses them
# trace_syscalls --decode: secrets that no option asks for, and programs that attack the decoder

load helper

# ---- secrets -------------------------------------------------------------------------------

# found FILE...: Print the letter of each secret of "acts secrets" that the files have, as text or
# as the numbers of 8 bytes that tfs-strings prints, from any byte of the secret on.
found() {
	local x i word back bytes patterns letters=
	for x in a e p q s v w x; do
		patterns=(-e "SECRET-$x")
		# shellcheck disable=SC2207 # a byte a word
		bytes=($(printf %s "SECRET-$x" | od -An -v -tx1))
		for i in {1..8}; do
			bytes=("${bytes[@]:1}" "${bytes[0]}")
			printf -v word %s "${bytes[@]}"
			printf -v back '%s%s%s%s%s%s%s%s' "${bytes[7]}" "${bytes[6]}" "${bytes[5]}" \
				"${bytes[4]}" "${bytes[3]}" "${bytes[2]}" "${bytes[1]}" "${bytes[0]}"
			patterns+=(-e "$word" -e "$back")
		done
		! grep -aqF "${patterns[@]}" "$@" || letters+=$x
	done
	echo "$letters"
}

# recorded OPTION...: Record "acts secrets" in a session that nobody reads, and write the
# sub-buffers of its instance to raw.
recorded() {
	act secrets
	start_session trace_syscalls --decode --output fifo --buffer 1024 --pid "$ACT" "$@"
	release
	eventually grep -q passed ready
	"$PROG/rawpages" "$TRACEFS/instances/tfs.$MARK" >raw
	read_by cat >rest
	release
	session_ends
	finishes "$READER" 0
	[ "$(wc -c <raw)" -ge 4096 ]
}

# written OPTION...: Record "acts secrets" as text, JSON and trace.dat; decode the trace.dat as both.
written() {
	local format
	for format in text json dat; do
		printf '\n\n' | tfs-run trace_syscalls --instance "$MARK" --decode --buffer 1024 "$@" \
			-o "x.$format" -- "$PROG/acts" secrets >said 2>&1
		grep -qx passed said
	done
	tfs-report -D x.dat >dat.text
	tfs-report -D -j x.dat >dat.json
	tfs-report x.dat >dat.events
	[ "$(grep -c ' mq_timedsend(-1, ' x.text)" = 1 ]
	[ "$(grep -c ' mq_timedsend(-1, ' dat.text)" = 1 ]
	[ "$(grep -c '"event":"sys_exit_mq_timedsend"' x.json)" = 1 ]
	[ "$(grep -c '"event":"sys_exit_mq_timedsend"' dat.json)" = 1 ]
	nothing_left
}

# Skip unless BPF programs record strings.
need_strings() {
	need_tracefs events/syscalls
	tfs-run trace_syscalls --instance "$MARK" -s openat --decode -- true >works
	[ "$(head -c 13 works)" != '# strings are' ] ||
		skip "needs strings of system calls ($(head -n 1 works))"
}

# bats test_tags=quick
@test "trace_syscalls: --no-data leaves every secret out of the ring buffer, text, JSON and trace.dat" {
	need_tracefs events/syscalls
	recorded --no-data
	[ "$(found raw rest)" = "" ]
	grep -aqF "$PROG/acts" raw # of sched_process_exec
	written --no-data
	[ "$(found x.text x.json x.dat dat.*)" = "" ]
}

@test "trace_syscalls: --decode without --data records paths and words of programs, and no other secret" {
	need_strings
	recorded
	[ "$(found raw)" = ap ]
	written
	[ "$(found x.text)" = ap ]
	[ "$(found x.json)" = ap ]
	[ "$(found x.dat)" = ap ]
	[ "$(found dat.text)" = ap ]
	[ "$(found dat.json)" = ap ]
}

@test "trace_syscalls: --no-args records no word of a program" {
	need_strings
	recorded --no-args
	[ "$(found raw)" = p ]
	written --no-args
	[ "$(found x.text x.json x.dat dat.*)" = p ]
}

@test "trace_syscalls: --data records what is written and sent, and never the environment" {
	need_strings
	recorded --data 64
	[ "$(found raw)" = apqswx ]
	written --data 64
	[ "$(found x.text)" = apqswx ]
	[ "$(found x.json)" = apqswx ]
	[ "$(found x.dat)" = apqswx ]
	recorded --data 64 --no-data
	[ "$(found raw)" = "" ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# seconds: 120
# the frames of our stacks are those of gdb at the same stop of the same run: for each kind of
# chain of calls, each compiler and linker, and each instruction of some; stacks of other programs
# are whole

load ../helper

setup_file() {
	[ "$(uname -m)" = x86_64 ] || skip "needs the call chains of x86_64"
	for tool in gdb g++ readelf c++filt; do
		command -v "$tool" >/dev/null || skip "needs $tool"
	done
	make -s -C "${BATS_TEST_DIRNAME%/*/*}" -f t/prog/Makefile chains >&2
}

# compare EQUAL WORD...: Run t/stacks/compare. Fail if a stop is wrong, or if fewer than EQUAL are
# equal.
compare() {
	local sum
	[ -x "$PROG/chains/$(chain_of "${@:2}")" ] || skip "no compiler has made this program"
	"$TREE/t/stacks/compare" "${@:2}" >out || { cat out; return 1; }
	sum=$(tail -n 1 out)
	cat out # for a test that fails
	[[ $sum =~ ^[0-9]+\ stops:\ ([0-9]+)\ equal,\ [0-9]+\ cut,\ 0\ wrong$ ]]
	[ "${BASH_REMATCH[1]}" -ge "$1" ]
}

# chain_of WORD...: Print the name of the program in these words.
chain_of() {
	local word
	for word; do
		[[ $word != */chains/* ]] || echo "${word##*/}"
	done
}

# traced EQUAL WORD...: Compare what the tracer records.
traced() {
	need_tracefs events/syscalls
	compare "$@"
}

@test "trace_event: --user-stack has the frames that gdb has, of six kinds of calls" {
	traced 22 -n 3 "$PROG/chains/plain" saved recursion threads signal printf vdso
}

# bats test_tags=long
@test "trace_event: --user-stack has the frames that gdb has, of all kinds of calls" {
	traced 600 "$PROG/chains/plain"
}

# bats test_tags=long
@test "trace_event: --user-stack has the frames that gdb has, of C++ and Rust" {
	traced 150 "$PROG/chains/cxx"
	traced 175 "$PROG/chains/rust"
}

# bats test_tags=long
@test "trace_event: --user-stack has the frames that gdb has, at each of 6,000 instructions" {
	need_tracefs events/signal/signal_generate
	traced 5800 -n 30 -s 3000 "$PROG/chains/lazy" saved dlopen
}

# bats test_tags=long
@test "trace_uprobe: --stack has the frames that gdb has, where a function begins" {
	need_tracefs uprobe_events
	traced 60 -p "$PROG/chains/plain" saved recursion signal threads dlopen
}

# bats test_tags=long
@test "trace_event: --user-stack has whole stacks of programs as Debian makes them" {
	need_tracefs events/syscalls
	"$TREE/t/stacks/share" ls sqlite3 gcc perl >out
	cat out # for a test that fails
	[ "$(grep -c '^[a-z0-9]*: [0-9]* of [0-9]* whole' out)" = 4 ]
	[[ $(tail -n 1 out) == *' whole ('* ]]
}

@test "unwinding: the frames of ten kinds of calls are gdb's" {
	compare 55 -u -n 5 "$PROG/chains/plain" saved recursion jumps aligned signal qsort threads \
		dlopen vdso twist-spilled
}

# bats test_tags=long
@test "unwinding: the frames of all kinds of calls are gdb's, as gcc makes them" {
	compare 600 -u "$PROG/chains/plain"
	compare 600 -u "$PROG/chains/O0"
	compare 600 -u "$PROG/chains/Os"
	compare 600 -u "$PROG/chains/O3"
	compare 600 -u "$PROG/chains/frame-pointer"
}

# bats test_tags=long
@test "unwinding: the frames of all kinds of calls are gdb's, as linkers place them" {
	compare 600 -u "$PROG/chains/no-header"
	compare 600 -u "$PROG/chains/large"
	compare 600 -u "$PROG/chains/no-pie"
	compare 600 -u "$PROG/chains/static"
	compare 600 -u "$PROG/chains/static-pie"
	compare 600 -u "$PROG/chains/stripped"
	compare 600 -u "$PROG/chains/lazy"
}

# bats test_tags=long
@test "unwinding: the frames of all kinds of calls are gdb's, as clang makes them" {
	compare 600 -u "$PROG/chains/clang"
}

# bats test_tags=long
@test "unwinding: a program of musl, which has no tables, has no wrong frame" {
	compare 0 -u "$PROG/chains/musl" plain recursion qsort signal threads
	compare 0 -u "$PROG/chains/musl-static" plain recursion qsort signal threads outside-main
	compare 0 -u "$PROG/chains/no-tables" plain saved recursion aligned signal
}

# bats test_tags=long
@test "unwinding: the frames of C++ and Rust are gdb's, also while the stack is unwound" {
	compare 150 -u "$PROG/chains/cxx"
	compare 150 -u "$PROG/chains/cxx-O0"
	compare 175 -u "$PROG/chains/rust"
}

# bats test_tags=long
@test "unwinding: the frames are gdb's at each of 15,000 instructions" {
	compare 13500 -u -n 30 -s 3000 "$PROG/chains/lazy" saved aligned dlopen ftw stdio
}

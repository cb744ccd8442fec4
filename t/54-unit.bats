#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# The tests of single functions of lib/, t/unit: each program prints the checks that fail.

load helper

@test "lib: sorted sets of pids" {
	"$PROG/unit/pids"
}

@test "lib: words are split and quoted as a shell does" {
	"$PROG/unit/words"
}

@test "lib: globs match names of events, and many stars take no longer" {
	"$PROG/unit/glob"
}

@test "lib: numbers, UTF-8, formatted text and suggestions" {
	"$PROG/unit/text"
}

@test "lib: numbers of a trace are compared and put into powers of two" {
	"$PROG/unit/decimal"
}

@test "lib: records of several processors are merged in the order of time" {
	"$PROG/unit/merge"
}

@test "lib: offsets of clocks are computed from messages" {
	"$PROG/unit/clocks"
}

@test "lib: a BPF program that is too long is refused, and does not end the tool" {
	"$PROG/unit/bpf"
}

@test "lib: each program of t/unit has its test" {
	local program
	for program in "$TREE"/t/unit/*.c; do
		grep -q "PROG/unit/$(basename "$program" .c)\"" "$BATS_TEST_FILENAME"
	done
}

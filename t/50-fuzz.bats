#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# fuzz: run a fuzzer on the parsers for some seconds; t/fuzz/run takes as long as it needs

load helper

# Copy what the harnesses are built from, and build the library once for all tests: the
# fuzzer's own build directory may be in use.
setup_file() {
	[ -z "${TFS_VARIANT-}" ] && command -v gcc >/dev/null || return 0
	mkdir -p "$BATS_FILE_TMPDIR/tree/t"
	cp -a "$BATS_TEST_DIRNAME/../lib" "$BATS_FILE_TMPDIR/tree"
	cp -a "$BATS_TEST_DIRNAME/fuzz" "$BATS_FILE_TMPDIR/tree/t"
	"$BATS_FILE_TMPDIR/tree/t/fuzz/run" 0 value >/dev/null
}

own_copy() {
	[ -z "${TFS_VARIANT-}" ] || skip "is under sanitizers of its own"
	need_tool gcc
	cp -a "$BATS_FILE_TMPDIR/tree" .
}

need_fuzzer() {
	need_tool clang
	echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' >try.c
	clang -fsanitize=address,undefined,fuzzer -o try try.c 2>/dev/null ||
		skip "needs libFuzzer (package libclang-rt-14-dev)"
}

targets() {
	find "$TREE/t/fuzz/corpus" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort
}

@test "fuzz: each harness has a corpus, and each corpus a harness" {
	grep -l LLVMFuzzerTestOneInput "$TREE"/t/fuzz/*.c | sed 's,.*/,,; s/\.c$//' |
		grep -vx replay | sort | diff - <(targets)
}

@test "fuzz: replaying the corpora finds nothing" {
	own_copy
	tree/t/fuzz/run 0 >out
	[ "$(grep -c ', no finding$' out)" = "$(targets | wc -l)" ]
	[ "$(wc -l <out)" = "$(targets | wc -l)" ]
}

@test "fuzz: some seconds of fuzzing the words, headers and --args find nothing" {
	own_copy
	need_fuzzer
	tree/t/fuzz/run 6 words head args >out
	[ "$(awk '$2 > 1000 && / executions, .*, no finding$/' out | wc -l)" = 3 ]
}

@test "fuzz: without clang the corpora are replayed under gcc's sanitizers" {
	own_copy
	mkdir path
	for tool in sh gcc ar as ld mkdir basename printf grep rm mktemp dirname tail cat find; do
		ln -s "$(command -v "$tool")" path
	done
	PATH=$PWD/path tree/t/fuzz/run 0 words args >out 2>err
	grep -q 'no clang with libFuzzer' err
	for target in words args; do
		n=$(find "$TREE/t/fuzz/corpus/$target" -type f | wc -l)
		grep -x "$target *$n inputs replayed, no finding" out
	done
}

@test "fuzz: a splitter that writes one byte too many is found, with a status" {
	own_copy
	sed -i 's/malloc(most \* sizeof(\*words) + size)/malloc(most * sizeof(*words) + size - 1)/' \
		tree/lib/base/words.c
	run -1 cmp -s tree/lib/base/words.c "$TREE/lib/base/words.c"
	run -1 --separate-stderr tree/t/fuzz/run 0 words
	[[ $output =~ ^words\ .*A\ FINDING ]]
	# shellcheck disable=SC2154 # run sets it
	[[ $stderr =~ heap-buffer-overflow ]]
}

@test "fuzz: a wrong answer that harms no memory is found as well" {
	own_copy
	# inside double quotes a backslash stays in front of an ordinary character
	sed -i "s/if (quote && !strchr(/if (!strchr(/" tree/lib/base/words.c
	run -1 cmp -s tree/lib/base/words.c "$TREE/lib/base/words.c"
	run -1 --separate-stderr tree/t/fuzz/run 0 words
	[[ $output =~ ^words\ .*A\ FINDING ]]
	# shellcheck disable=SC2154
	[[ $stderr =~ t/fuzz/words.c:[0-9]+:\ must\ be\ true ]]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# fuzz: run a fuzzer on the parsers for some seconds; t/fuzz/run takes as long as it needs
# seconds: 150

load ../helper

# own_copy: Copy the sources of the harnesses; the fuzzer's own build directory may be in
# use. The first test builds the library, for all tests.
own_copy() {
	local common=$BATS_FILE_TMPDIR/tree
	[ -z "${TFS_VARIANT-}" ] || skip "is under sanitizers of its own"
	need_tool gcc
	[ -d "$common" ] || {
		mkdir -p "$common/t"
		cp -a "$TREE/Makefile" "$TREE/lib" "$TREE/bin" "$TREE/trace-hooks" "$common"
		cp -a "$TREE/t/fuzz" "$common/t"
		"$common/t/fuzz/run" 0 value >/dev/null
	}
	cp -a "$common" .
}

need_fuzzer() {
	need_tool clang
	echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' >try.c
	clang -fsanitize=address,undefined,fuzzer -o try try.c 2>/dev/null ||
		skip "needs libFuzzer (package libclang-rt-14-dev)"
}

targets() {
	(cd "$TREE/t/fuzz/corpus" && printf '%s\n' *) | sort
}

@test "fuzz: each harness has a corpus, and each corpus a harness" {
	grep -lE "LLVMFuzzerTestOneInput|RUN_AGAIN" "$TREE"/t/fuzz/*.c | sed 's,.*/,,; s/\.c$//' |
		grep -vx replay | sort | diff - <(targets)
}

@test "fuzz: replaying the corpora with the library of the tools, without sanitizers, finds nothing" {
	[ -z "${TFS_VARIANT-}" ] || skip "is under sanitizers of its own"
	need_tool gcc
	[ -e "$TREE/build/libtfs.a" ] || skip "needs build/libtfs.a (a build without LTO=1)"
	cd "$TREE"
	export FUZZ_DIR=$BATS_TEST_TMPDIR
	compile=(gcc -std=c11 -D_GNU_SOURCE -DVERSION='"fuzz"' -Ilib -Ibin -Ibuild/gen -It/fuzz -w)
	echo 'void __sanitizer_set_report_fd(void *fd) { (void)fd; }' >"$FUZZ_DIR/none.c"
	for file in t/fuzz/{again,fuzz,hook,replay}.c "$FUZZ_DIR/none.c"; do
		"${compile[@]}" -c -o "$FUZZ_DIR/$(basename "$file" .c).o" "$file"
	done
	ar qcs "$FUZZ_DIR/fuzz.a" "$FUZZ_DIR"/{fuzz,hook,none}.o
	# state.ld knows the names of the archives
	ar qcs "$FUZZ_DIR/lib.a" build/gen/kinds.o build/bin/*/*.o build/trace-hooks/*/instances.o
	for target in $(targets); do
		"${compile[@]}" -c -o "$FUZZ_DIR/target.o" "t/fuzz/$target.c"
		# shellcheck disable=SC2046 # several options
		gcc $(t/fuzz/link) -o "$FUZZ_DIR/replay" "$FUZZ_DIR"/{target,again,replay}.o \
			-Wl,--start-group "$FUZZ_DIR/fuzz.a" "$FUZZ_DIR/lib.a" build/libtfs.a -Wl,--end-group
		"$FUZZ_DIR/replay" "t/fuzz/corpus/$target" >"$FUZZ_DIR/out" 2>"$FUZZ_DIR/err" ||
			{ echo "$target"; tail "$FUZZ_DIR/err"; return 1; }
		[ "$(tail -n 1 "$FUZZ_DIR/out")" = "$(find "t/fuzz/corpus/$target" -type f | wc -l)" ]
	done
}

# bats test_tags=long
@test "fuzz: the library is built with the sanitizers" {
	own_copy
}

# bats test_tags=long
@test "fuzz: replaying the corpora finds nothing" {
	own_copy
	tree/t/fuzz/run 0 >out
	[ "$(grep -c ', no finding$' out)" = "$(targets | wc -l)" ]
	file_has "$(targets | wc -l)" out
}

# bats test_tags=long
@test "fuzz: 5,000 inputs for the words, headers and --args find nothing" {
	own_copy
	need_fuzzer
	# the same inputs in each run
	TFS_FUZZ_SEED=1 TFS_FUZZ_RUNS=5000 tree/t/fuzz/run 6 words head args >out
	[ "$(awk '$2 >= 5000 && / executions, .*, no finding$/' out | wc -l)" = 3 ]
}

# bats test_tags=long
@test "fuzz: without clang the corpora are replayed under gcc's sanitizers" {
	own_copy
	# all that these two targets need, and no optimization: less to compile
	find tree/bin -name '*.c' ! -path '*/block/*' ! -path '*/requests/*' -delete
	mkdir path
	printf '#!/bin/sh\nexec %s "$@" -O0\n' "$(type -ap gcc | grep -v /ccache/ | head -n 1)" >path/gcc
	chmod +x path/gcc
	for tool in sh cc ar as ld mkdir basename printf grep rm mktemp dirname tail cat find \
		make sed sort awk tr cmp cp mv touch nproc; do
		# not ccache, which looks for the compiler in the PATH
		ln -s "$(type -ap "$tool" | grep -v /ccache/ | head -n 1)" path
	done
	PATH=$PWD/path tree/t/fuzz/run 0 words args >out 2>err
	grep -q 'no clang with libFuzzer' err
	for target in words args; do
		n=$(find "$TREE/t/fuzz/corpus/$target" -type f | wc -l)
		grep -x "$target *$n inputs replayed, no finding" out
	done
}

# bats test_tags=long
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

# bats test_tags=long
@test "fuzz: a wrong answer that harms no memory is found as well" {
	own_copy
	# inside double quotes a backslash stays before an ordinary character
	sed -i "s/if (quote && !strchr(/if (!strchr(/" tree/lib/base/words.c
	run -1 cmp -s tree/lib/base/words.c "$TREE/lib/base/words.c"
	run -1 --separate-stderr tree/t/fuzz/run 0 words
	[[ $output =~ ^words\ .*A\ FINDING ]]
	# shellcheck disable=SC2154
	[[ $stderr =~ t/fuzz/words.c:[0-9]+:\ must\ be\ true ]]
}

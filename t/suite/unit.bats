#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# The tests of single functions of lib/, t/unit: each program prints the checks that fail.

load ../helper

@test "lib: sorted sets of pids" {
	"$PROG/unit/pids"
}

@test "lib: words are split and quoted as a shell does" {
	"$PROG/unit/words"
}

@test "lib: arrays are sorted" {
	"$PROG/unit/sort"
}

@test "lib: roles of system calls, by each of their names" {
	"$PROG/unit/roles"
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

@test "lib: records of several CPUs are merged in the order of time" {
	"$PROG/unit/merge"
}

@test "lib: a sub-buffer is split at a time or written, and each record keeps its bytes and time" {
	"$PROG/unit/subbuf"
}

@test "lib: offsets of clocks are computed from messages" {
	"$PROG/unit/clocks"
}

@test "lib: netlink's attributes and answers are read within their bounds" {
	"$PROG/unit/netlink"
}

@test "lib: a BPF program that is too long is refused, and does not end the tool" {
	"$PROG/unit/bpf"
}

@test "lib: both ends of a message compute one key, also when sequence numbers wrap around" {
	"$PROG/unit/key"
}

@test "lib: the probes of a group are disabled everywhere before they are removed" {
	"$PROG/unit/probes"
}

@test "lib: arguments of USDT probes are translated for x86 and arm64" {
	"$PROG/unit/usdt"
}

@test "lib: arguments and results of system calls are printed as C has them" {
	"$PROG/unit/calls"
}

@test "lib: without the kernel, the files of descriptors are those that calls and procfs say, or unknown" {
	"$PROG/unit/noted"
}

@test "lib: user memory of calls is put together from records of strings, arrays and words" {
	"$PROG/unit/calluser"
}

@test "lib: a place in a file belongs to the innermost function around it" {
	"$PROG/unit/functions"
}

@test "lib: the functions of a library are those that nm prints, each once and in order" {
	need_tool nm
	libc=$(ldd "$PROG/acts" | sed -n 's/.*libc\.so[^ ]* => \([^ ]*\) .*/\1/p')
	[ -n "$libc" ] || skip "needs a program with a shared libc"
	"$PROG/unit/functions" "$libc" >got
	# a place of the file is an address in the same page: compare names and sizes
	nm -D --defined-only -S "$libc" | awk '$3 ~ /^[TWtw]$/ { sub("@.*", "", $4); print $4 }' | sort -u >names
	awk '{ sub("@.*", "", $3); print $3 }' got | sort -u | comm -23 - names >others
	[ "$(wc -l <got)" -gt 1000 ]
	[ ! -s others ]
	grep -Eq '^[0-9a-f]+ [0-9]+ malloc$' got
	cut -d ' ' -f 1 got | sed 's/^/0000000000000000/; s/.*\(.\{16\}\)$/\1/' | sort -c
}

# rows_agree FILE NUMBER: Is each step in FILE the one of its row in readelf's table, of at least
# NUMBER rows? At most a hundredth may have a CFA or stack pointer that is not compared.
rows_agree() {
	local rows
	need_tool readelf
	readelf --debug-dump=no-follow-links,frames-interp "$1" >all
	sed '/^Contents of the .debug_frame section/,$d' all >rows
	rows=$(grep -cE '^0*[1-9a-f][0-9a-f]* +[a-z]' rows)
	[ "$rows" -ge "$2" ]
	"$PROG/unit/unwind" "$1" <rows >out
	cat out
	grep -qxE "$rows rows, [0-9]+ not compared, 0 fail, 0 differ" out
	[ "$(cut -d ' ' -f 3 out)" -le $((rows / 100)) ]
}

@test "lib: a step from a frame to its caller, by a table of unwinding that is valid or not" {
	"$PROG/unit/unwind"
}

@test "lib: each place of libc, ld.so and bash is unwound as readelf says" {
	cd "$BATS_TEST_TMPDIR"
	rows_agree "$(ldd /bin/sh | sed -n 's/.*libc.* => \([^ ]*\).*/\1/p')" 10000
	rows_agree "$(ldd /bin/sh | sed -n 's/^[[:space:]]*\(\/[^ ]*ld-[^ ]*\).*/\1/p')" 1000
	rows_agree "$(command -v bash)" 10000
}

# bats test_tags=long
@test "lib: each place of a compiler, python3, libcrypto and libc of arm64 is unwound so" {
	local file
	cd "$BATS_TEST_TMPDIR"
	rows_agree "$(gcc -print-prog-name=cc1)" 100000
	for file in "$(command -v python3)" /usr/lib/*/libcrypto.so.3 \
		/usr/aarch64-linux-gnu/lib/libc.so.6; do
		[ ! -e "$file" ] || rows_agree "$(readlink -f "$file")" 1000
	done
}

@test "lib: the table of a static program without an index is found by its name" {
	need_tool musl-gcc
	cd "$BATS_TEST_TMPDIR"
	echo 'int puts(const char *); int main(void) { puts(""); return 0; }' >main.c
	musl-gcc -static -O2 -o main main.c
	run -0 readelf -lW main
	[[ $output != *GNU_EH_FRAME* ]]
	rows_agree main 1
}

@test "lib: at each instruction of libc, a PLT, handlers and alloca frames are backtrace(3)'s" {
	run -0 "$PROG/unwinds"
	[[ $output =~ ^[0-9]{5,}\ stops,\ [0-9]{6,}\ frames,\ at\ most\ 20[0-9],\ 0\ differ$ ]]
}

@test "lib: a recorder with a budget takes the right steps, whatever the machine does" {
	"$PROG/unit/budget" .
}

@test "lib: a recorder forgets the names of dead tasks" {
	"$PROG/unit/names"
}

@test "lib: files of procfs that a task makes long are cut, and not read after a stop" {
	"$PROG/unit/procfs"
}

@test "lib: each program of t/unit has its test" {
	for program in "$TREE"/t/unit/*.c; do
		grep -q "PROG/unit/$(basename "$program" .c)\"" "$BATS_TEST_FILENAME"
	done
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# --otel: each call carries the span that its thread publishes (OTEP 4947), by every model of TLS

load ../helper
load ../hooks

# The span is an argument of each call, so the program itself tells the truth.

ROOM=(--buffer "$(so_many 65536)")

need_context() {
	case $(uname -m) in
	x86_64 | aarch64) ;;
	*) skip "needs x86_64 or aarch64" ;;
	esac
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs BTF (CONFIG_DEBUG_INFO_BTF)"
	need_tracefs events/syscalls
}

# build [CC WORDS]: Set PROGRAM to a function that compiles published.c.
build() {
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O2 -pthread "$TREE/t/prog/published.c" "$@"
}

# told FILE: Print how many calls carry their span, another one, none, and an unknown one.
told() {
	awk '
		/sys_lseek\(/ {
			match($0, /offset: 0x[0-9a-f]*/)
			span = sprintf("%16s", substr($0, RSTART + 10, RLENGTH - 10))
			gsub(/ /, "0", span)
			if (/ otel=/)
				n[substr($NF, 6)]++
			else
				n[index($0, " span_id=" span " trace_flags=01") ? "right" : "wrong"]++
		}
		END { print n["right"] + 0, n["wrong"] + 0, n["none"] + 0, n["unknown"] + 0 }' "$1"
}

# of_each N PROGRAM WORDS: Fail unless each of N calls of the program carries its span.
of_each() {
	local n=$1
	shift
	hold "$@"
	traced trace_syscalls -s lseek --otel "${ROOM[@]}"
	[ "$(told got)" = "$n 0 0 0" ] || { echo "$*: $(told got)"; return 1; }
}

# bats test_tags=quick
@test "trace_syscalls: --otel prints the span of each of 1,000 calls of threads, a child and an exec" {
	need_context
	of_each 6000 "$PROG/published" -w -t 4 -f 1000
	hold "$PROG/published" -w -x 1000
	traced trace_syscalls -s lseek --otel "${ROOM[@]}"
	told got >counts
	read -r right wrong none unknown <counts
	[ "$wrong $none" = "0 0" ] && [ $((right + unknown)) = 2000 ] && [ "$right" -ge 1000 ]
}

@test "trace_syscalls: --otel finds the variable of a program, dynamic, static and static-pie" {
	need_context
	need_tool "${CC:-cc}"
	build -o dynamic -rdynamic
	build -o static -static 2>err
	build -o static-pie -static-pie 2>err
	for program in dynamic static static-pie; do
		of_each 500 "./$program" -w 500
	done
}

@test "trace_syscalls: --otel finds the variable of a linked library, by each model" {
	need_context
	need_tool "${CC:-cc}"
	dialect=gnu2
	[ "$(uname -m)" = x86_64 ] || dialect=desc
	for words in -ftls-model=initial-exec -ftls-model=global-dynamic -Wl,-Bsymbolic \
		"-mtls-dialect=$dialect"; do
		build -DPART=1 -fPIC -shared "$words" -o libpublish.so
		build -DPART=2 -o linked ./libpublish.so
		of_each 1500 ./linked -w -t 2 500
	done
}

@test "trace_syscalls: --otel finds the variable of a library that is loaded later, and is never wrong" {
	need_context
	need_tool "${CC:-cc}"
	dialect=gnu2
	[ "$(uname -m)" = x86_64 ] || dialect=desc
	build -DPART=3 -o loads
	for words in -ftls-model=global-dynamic "-mtls-dialect=$dialect"; do
		build -DPART=1 -fPIC -shared "$words" -o libpublish.so
		hold ./loads -w -t 2 -l "$PWD/libpublish.so" 20000
		traced trace_syscalls -s lseek --otel "${ROOM[@]}"
		told got >counts
		read -r right wrong none unknown <counts
		cat counts
		[ "$wrong" = 0 ] && [ "$none" -le 20000 ] && [ "$right" -gt 0 ]
		[ $((right + none + unknown)) = 80000 ] && [ "$right" -le 60000 ]
	done
}

@test "trace_syscalls: --otel finds the variable in programs and libraries of musl" {
	need_context
	need_tool musl-gcc
	CC=musl-gcc
	build -o static -static
	of_each 500 ./static -w 500
	build -o dynamic -rdynamic
	of_each 1500 ./dynamic -w -t 2 500
	for words in -ftls-model=global-dynamic -mtls-dialect=gnu2; do
		[ "$(uname -m)" = x86_64 ] || words=-O2
		build -DPART=1 -fPIC -shared "$words" -o libpublish.so
		build -DPART=2 -o linked ./libpublish.so
		of_each 1500 ./linked -w -t 2 500
	done
}

# bats test_tags=long
@test "trace_syscalls: --otel: each of 1,000,000 calls carries its span, 0 wrong" {
	need_context
	n=$(so_many 1000000)
	hold "$PROG/published" -w "$n"
	traced trace_syscalls -s lseek --otel --buffer "$(so_many 262144)"
	[ "$(told got)" = "$n 0 0 0" ]
}

@test "trace_syscalls: --otel, as text, decoded, as JSON and from a trace.dat, has the same ids" {
	need_context
	hold "$PROG/published" -w 2
	self=$(printf %08x "$HELD")
	traced trace_syscalls -s lseek --otel
	sed 's/.* trace_id/trace_id/' got >ids
	lines_are ids "trace_id=${self}00000000$(printf %08x $((0xffffffff ^ HELD)))ffffffff span_id=${self}00000001 trace_flags=01
trace_id=${self}00000000$(printf %08x $((0xffffffff ^ HELD)))ffffffff span_id=${self}00000002 trace_flags=01"
	hold "$PROG/published" -w 2
	self=$(printf %08x "$HELD")
	traced trace_syscalls -s lseek --otel --decode
	grep -v '^#' got | tfs-count -k event -k error -k span_id >counts
	lines_are counts "      1 sys_exit_lseek	EBADF	${self}00000001
      1 sys_exit_lseek	EBADF	${self}00000002"
	hold "$PROG/published" -w 2
	self=$(printf %08x "$HELD")
	traced trace_syscalls -s lseek --otel --decode --json
	grep -o '"otel.*}\|"trace_flags.*}\|"span_id":"[0-9a-f]*"' got >fields
	lines_are fields "\"span_id\":\"${self}00000001\"
\"trace_flags\":\"01\"}}
\"span_id\":\"${self}00000002\"
\"trace_flags\":\"01\"}}"
	tfs-run trace_syscalls -s lseek --otel --instance "$MARK" -o x.dat -- "$PROG/published" 2 2>err
	tfs-report -O x.dat >report
	file_has 2 report
	run ! grep -v 'trace_id=[0-9a-f]* span_id=[0-9a-f]*0000000[12] trace_flags=01$\|otel=unknown$' report
}

@test "trace_syscalls: --otel: a program that publishes nothing has no context, and nothing stays" {
	need_context
	calls 3
	traced trace_syscalls -s getppid --otel --returns
	file_has 6 got
	run ! grep -v 'otel=none$' got
	nothing_left
}

@test "tfs-strings otel: refuses a kernel without BTF before anything is made" {
	need_context
	mkdir -p sys/kernel
	ln -s "$TRACEFS" sys/kernel/tracing
	fails 111 "tfs-strings: fatal: unable to read $PWD/sys/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF): No such file or directory" \
		env TRACER_SYSFS_PATH="$PWD/sys" tfs-strings otel
}

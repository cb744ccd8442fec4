#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# --otel of all hooks: each call, wait, request and connect carries the span that its thread publishes
# (OTEP 4947), by every model of TLS

load ../helper
load ../hooks

# The span is an argument of each call, so the program itself tells the truth.

ROOM=(--buffer "$(so_many 65536)")

has_thread_pointer() {
	[[ $(uname -m) =~ ^(x86_64|aarch64)$ ]]
}

need_context() {
	has_thread_pointer || skip "needs x86_64 or aarch64"
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs BTF (CONFIG_DEBUG_INFO_BTF)"
	need_tracefs events/syscalls
}

# publishers LIBC COMPILER: Set FROM to the directory of the programs that t/prog/publishers makes. A
# guest has no compiler, but has the directory.
publishers() {
	FROM=$PROG/publishers/$1
	[ ! -d "$FROM" ] || return 0
	need_tool "$2"
	FROM=$PWD/$1
	"$TREE/t/prog/publishers" "$FROM" "$2"
}

# told FILE: Print how many calls carry their span, another one, none, and an unknown one.
told() {
	awk '
		/sys_lseek\(/ {
			sub(/offset: 0x/, "offset: ") # newer kernels print it
			match($0, /offset: [0-9a-f]*/)
			span = sprintf("%16s", substr($0, RSTART + 8, RLENGTH - 8))
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

# bats test_tags=quick,oldest
@test "trace_syscalls: --otel prints the span of each of 1,000 calls of threads, a child and an exec" {
	need_context
	of_each 6000 "$PROG/published" -w -t 4 -f 1000
	hold "$PROG/published" -w -x 1000
	traced trace_syscalls -s lseek --otel "${ROOM[@]}"
	told got >counts
	read -r right wrong none unknown <counts
	[ "$wrong $none" = "0 0" ] && [ $((right + unknown)) = 2000 ] && [ "$right" -ge 1000 ]
}

# bats test_tags=oldest
@test "trace_syscalls: --otel finds the variable of a program, dynamic, static and static-pie" {
	need_context
	publishers glibc "${CC:-cc}"
	for program in dynamic static static-pie; do
		of_each 500 "$FROM/$program" -w 500
	done
}

# of_linked: Do this with a linked library, by each model.
of_linked() {
	for library in "$FROM"/*.so; do
		cp "$library" libpublish.so
		of_each 1500 "$FROM/linked" -w -t 2 500
	done
}

# bats test_tags=oldest
@test "trace_syscalls: --otel finds the variable of a linked library, by each model" {
	need_context
	publishers glibc "${CC:-cc}"
	of_linked
}

# of_loaded LIBRARY...: Do this with a library that is loaded after half of the calls.
of_loaded() {
	n=$(so_many 20000)
	for library; do
		hold "$FROM/loads" -w -t 2 -l "$library" "$n"
		traced trace_syscalls -s lseek --otel "${ROOM[@]}"
		told got >counts
		read -r right wrong none unknown <counts
		echo "$library: $right $wrong $none $unknown"
		[ "$wrong" = 0 ] && [ "$none" -le "$n" ] && [ "$right" -gt 0 ]
		[ $((right + none + unknown)) = $((4 * n)) ] && [ "$right" -le $((3 * n)) ]
	done
}

@test "trace_syscalls: --otel finds the variable of a library that is loaded later, and is never wrong" {
	need_context
	publishers glibc "${CC:-cc}"
	of_loaded "$FROM"/*.so
}

# bats test_tags=oldest
@test "trace_syscalls: --otel finds the variable in programs and libraries of musl" {
	need_context
	publishers musl musl-gcc
	of_each 500 "$FROM/static" -w 500
	of_each 1500 "$FROM/dynamic" -w -t 2 500
	of_linked
	of_loaded "$FROM"/[!e]*.so # musl's loader refuses exec.so
}

# strip_sections FILE: Remove the ELF file's table of sections, which the loader does not read.
strip_sections() {
	head -c 8 /dev/zero | dd of="$1" bs=1 seek=40 conv=notrunc status=none
	head -c 6 /dev/zero | dd of="$1" bs=1 seek=58 conv=notrunc status=none
}

@test "trace_syscalls: --otel finds the variable in a program and in libraries without sections" {
	need_context
	publishers glibc "${CC:-cc}"
	cp "$FROM/dynamic" .
	strip_sections dynamic
	of_each 500 ./dynamic -w 500
	for library in "$FROM"/*.so; do
		cp "$library" libpublish.so
		strip_sections libpublish.so
		of_each 1500 "$FROM/linked" -w -t 2 500
	done
}

@test "trace_syscalls: --otel finds the variable if the user executes the loader of glibc or musl" {
	need_context
	need_tool readelf
	for libc in "glibc ${CC:-cc}" "musl musl-gcc"; do
		# shellcheck disable=SC2086 # words
		publishers $libc
		loader=$(readelf -lW "$FROM/dynamic" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
		of_each 500 "$loader" "$FROM/dynamic" -w 500
		for library in "$FROM"/*.so; do
			cp "$library" libpublish.so
			of_each 1500 "$loader" "$FROM/linked" -w -t 2 500
		done
	done
}

@test "trace_syscalls: --otel: a library that takes the address and the number of another one is never wrong" {
	need_context
	publishers glibc "${CC:-cc}"
	for other in "$FROM"/before-*.so; do
		library=$FROM/${other##*before-}
		hold "$FROM/exchanged" -w 1000 "$library" "$other" "$library" "$other" "$other" "$library"
		traced trace_syscalls -s lseek --otel "${ROOM[@]}"
		told got >counts
		read -r right wrong none unknown <counts
		cat counts
		[ "$wrong $none" = "0 0" ] && [ $((right + unknown)) = 6000 ] && [ "$right" -ge 1000 ]
	done
}

@test "trace_syscalls: --otel: a thread that never used the variable has no span, whatever lies behind its table" {
	need_context
	for libc in "glibc ${CC:-cc}" "musl musl-gcc"; do
		# shellcheck disable=SC2086 # words
		publishers $libc
		others=()
		for i in $(seq 20); do
			cp "$FROM/another" "another$i.so"
			others+=("./another$i.so")
		done
		for library in "$FROM"/[!e]*.so; do
			hold "$FROM/exchanged" -t -w 500 "${others[@]}" "$library"
			traced trace_syscalls -s lseek --otel "${ROOM[@]}"
			[ "$(told got)" = "500 0 4000 0" ]
		done
	done
}

# bats test_tags=oldest
@test "trace_syscalls: --otel: a record without a trace or a span, or that is not valid, is none; absent memory is unknown" {
	need_context
	hold "$PROG/illrecords" -w
	traced trace_syscalls -s lseek --otel
	[ "$(told got)" = "3 0 5 7" ]
}

@test "trace_syscalls: --otel finds a library among 60,000 mappings" {
	need_context
	publishers glibc "${CC:-cc}"
	[ "$(cat /proc/sys/vm/max_map_count)" -ge 65000 ] || skip "needs vm.max_map_count of 65000"
	hold "$FROM/exchanged" -m 60000 -w 500 "$FROM/Bsymbolic.so"
	traced trace_syscalls -s lseek --otel "${ROOM[@]}"
	[ "$(told got)" = "500 0 0 0" ]
}

# count_spans FILE KEY NUMBER: Print how many lines carry the span NUMBER of the task whose pid is the field
# KEY, how many another one, none, and an unknown one. NUMBER is an expression of awk.
count_spans() {
	awk -v key="$2" '
		function field(name, s) {
			if (!match($0, "[ \",{]" name "\"?[=:]\"?[0-9a-zA-Z.]+")) return ""
			s = substr($0, RSTART, RLENGTH)
			sub(/^[^=:]*[=:]"?/, "", s)
			return s
		}
		function low(s) { # the last four hexadecimal digits
			for (n = 0; length(s) > 4;) s = substr(s, 2)
			for (; s != ""; s = substr(s, 2)) n = n * 16 + index("123456789abcdef", substr(s, 1, 1))
			return n
		}
		/span_id/ {
			span = field("span_id")
			number = '"$3"'
			right = span == sprintf("%08x%08x", field(key), number)
			count[right && field("trace_flags") == "01" ? "right" : "wrong"]++
			next
		}
		{ count[field("otel")]++ }
		END { print count["right"] + 0, count["wrong"] + 0, count["none"] + 0, count["unknown"] + 0 }' "$1"
}

# bats test_tags=oldest
@test "trace_why: --otel prints the span of each of 200 slow calls of two threads" {
	need_context
	need_tracefs events/sched/sched_waking
	for form in '' --json; do
		hold "$PROG/published" -w -s -t 1 100
		# shellcheck disable=SC2086 # a word, or none
		traced trace_why --otel --slower 900us --top 1000 $form
		grep 'nanosleep' got | grep -v 'woken\|%' >calls
		grep -o 'span_id[=":]*[0-9a-f]*' calls | grep -o '[0-9a-f]*$' | LC_ALL=C sort >spans
		cut -c1-8 spans | LC_ALL=C sort -u | while read -r pid; do
			for i in $(seq 100); do printf '%s%08x\n' "$pid" "$i"; done
		done >wanted
		cmp spans wanted
		file_has 200 spans
	done
}

# bats test_tags=oldest
@test "trace_sched: --otel prints the span of each task that waits, also by a library loaded later" {
	need_context
	need_tracefs events/sched/sched_wakeup
	publishers glibc "${CC:-cc}"
	for words in "$PROG/published" "$FROM/loads -l $FROM/Bsymbolic.so"; do
		for form in '' --json; do
			# shellcheck disable=SC2086 # words
			hold $words -w -s -t 2 200
			# shellcheck disable=SC2086 # a word, or none
			traced trace_sched --otel $form
			grep -v '^#\|unpaired' got | grep 'next_comm[=":]*\(published\|loads\)' >waits
			# no span is that of another task, and those of a task come in order
			count_spans waits next_pid 'low(span)' >counts
			sed '/otel/d; s/.*span_id[=":]*\([0-9a-f]*\).*/\1/' waits |
				LC_ALL=C sort -s -k1.1,1.8 | LC_ALL=C sort -c
			cat counts
			read -r right wrong none unknown <counts
			[ "$wrong" = 0 ] && [ "$right" -gt 0 ]
			[ $((right + none + unknown)) = "$(wc -l <waits)" ]
		done
	done
}

# bats test_tags=oldest
@test "trace_tcp: --otel prints the span of each of 200 connects, also as JSON" {
	need_context
	need_tracefs events/sock/inet_sock_set_state
	for form in '' --json; do
		hold "$PROG/published" -w -c 200
		# shellcheck disable=SC2086 # a word, or none
		traced trace_tcp --latency --otel $form
		grep tcp_connect got | sed "s/.*\(127\.1\.0\.\)\([0-9]*\)/ by_pid=$HELD number=\2 /" >connects
		[ "$(count_spans connects by_pid 'field("number")')" = "200 0 0 0" ]
	done
	hold "$PROG/published" -w -c 20
	traced trace_tcp --connect --otel
	sed "s/.*daddr=127\.1\.0\.\([0-9]*\)/ by_pid=$HELD number=\1 /" got >connects
	[ "$(count_spans connects by_pid 'field("number")')" = "20 0 0 0" ]
}

# of_pairs N FILE: Print what count_spans prints of the connections that published -a N makes: the end that
# connects carries span 3n - 2, the one that accepts 3n - 1, and one from before the session the span that
# closes it.
of_pairs() {
	awk -v pid="$HELD" -v all="$1" '{
		side = /<->|"side":null/ ? 2 : /<-|"side":"accept"/
		match($0, /127\.1\.0\.[0-9]+/)
		n = substr($0, RSTART + 8, RLENGTH - 8)
		print " by_pid=" pid " number=" (side > 1 ? 3 * all + 1 : 3 * n - 2 + side) " " $0
	}' "$2" >pairs
	count_spans pairs by_pid 'field("number")'
}

# bats test_tags=oldest
@test "trace_tcp: --otel prints the span that accepted or connected, at an accept and at the end of a connection" {
	need_context
	need_tracefs events/sock/inet_sock_set_state
	# programs of another session that run at the same events, before those of this one
	new_instance -other
	tfs-write -i "$INSTANCE" trace_clock mono
	tfs-pidfilter -i "$INSTANCE" set $$
	TFS_INSTANCE=$INSTANCE background tfs-strings tcp accept -- tfs-catpipe >others
	other=$PID
	eventually file_is "/proc/$other/comm" tfs-catpipe
	eventually blocks "$other"
	for form in '' --json; do
		hold "$PROG/published" -a -w 100
		# shellcheck disable=SC2086 # a word, or none
		traced trace_tcp --accept --life --otel $form
		grep tcp_accept got >accepts
		[ "$(of_pairs 100 accepts)" = "100 0 0 0" ]
		grep tcp_life got >lives
		[ "$(of_pairs 100 lives)" = "202 0 0 0" ]
		[ "$(grep -c '127\.1\.0\.0\>' lives)" = 2 ]
	done
	kill "$other"
	finishes "$other" 0
	grep -q ": tcp: A socket=" others # they ran
}

# bats test_tags=oldest
@test "trace_tcp: --otel: a change of state in an interrupt has no span, one by a task that task's span" {
	need_context
	need_tracefs events/sock/inet_sock_set_state
	hold "$PROG/published" -a -w 100
	watch trace_tcp --all --states --port "$(sed -n 's/^port //p' ready)" --otel
	release "$HELD"
	watch_stop
	awk -v pid="$HELD" '/127\.1\.0\.[1-9]/ {
		match($0, /addr=127\.1\.0\.[0-9]+/)
		n = substr($0, RSTART + 13, RLENGTH - 13)
		match($0, /\[[0-9]+\] [^ ]+/)
		if (substr($0, RSTART, RLENGTH) ~ /\] ..[hHsZz]/) {
			interrupts++
			bad += !/ otel=none$/
			next
		}
		last = /newstate=TCP_(FIN_WAIT1|LAST_ACK)/ ? 3 : /newstate=TCP_SYN_SENT/ ? 1 : 0
		tasks += last > 0
		right = 0
		for (i = last ? last : 1; i <= (last ? last : 3); i++)
			right += index($0, sprintf(" span_id=%08x%08x trace_flags=01", pid, 3 * n - 3 + i)) > 0
		bad += !right
	} END { print tasks, bad + 0; exit !interrupts }' got >counts
	lines_are counts "300 0"
}

# bats test_tags=oldest
@test "trace_tcp: --otel: a packet that a task drops has the span in which it does" {
	need_context
	need_tracefs events/skb/kfree_skb
	grep -q SOCKET_CLOSE "$TRACEFS/events/skb/kfree_skb/format" ||
		skip "needs drops of sockets that close (Linux 6.14)"
	hold "$PROG/published" -w -d 20
	watch trace_tcp --all --drops --otel
	release "$HELD"
	watch_stop
	grep "published-$HELD .*SOCKET_CLOSE" got | sed "s/^/ by_pid=$HELD /" >drops
	file_has 20 drops
	for i in $(seq 20); do printf 'span_id=%08x%08x\n' "$HELD" "$i"; done >wanted
	grep -o 'span_id=[0-9a-f]*' drops | cmp - wanted
}

@test "trace_why: --events --otel: an event between two calls has the span in which it happens" {
	need_context
	need_tracefs events/exceptions/page_fault_user
	need_tracefs events/sched/sched_waking
	hold "$PROG/published" -p -w 9
	traced trace_why --events --otel
	sed -n "s/.*page_fault_user: address=0x7000000\([1-9]\)0000 / by_pid=$HELD number=\1 /p" got >faults
	[ "$(count_spans faults by_pid 'field("number")')" = "9 0 0 0" ]
}

@test "trace_tcp: --otel: the connections of a program that publishes nothing have no span" {
	need_context
	need_tracefs events/sock/inet_sock_set_state
	act connects 6
	traced trace_tcp --accept --life --latency --otel
	[ "$(grep -c ': tcp_\(accept\|connect\): .* otel=none$' got)" = 12 ]
	[ "$(lines ': tcp_')" = "$(lines ': tcp_.* otel=none$')" ]
}

# bats test_tags=oldest
@test "trace_block: --otel prints the span in which each of 100 requests was queued, not that of its completion" {
	need_context
	need_tracefs events/block
	loop
	for form in '' --json; do
		hold "$PROG/published" -w -b "/dev/$LOOP" 100
		# shellcheck disable=SC2086 # a word, or none
		traced trace_block --device "$LOOP" --otel $form
		grep block_rq_complete got | sed 's/ \([0-9]*\) + 8 / sector=\1 /' >requests
		[ "$(count_spans requests by_pid 'field("sector") / 8 + 1')" = "100 0 0 0" ]
	done
	watch trace_block --all --device "$LOOP" --otel --events
	"$PROG/published" -b "/dev/$LOOP" 10 &
	pid=$!
	wait "$pid"
	watch_stop
	grep block_rq_issue got | sed "s/ \([0-9]*\) + 8 / by_pid=$pid sector=\1 /" >issued
	count_spans issued by_pid 'field("sector") / 8 + 1' >counts
	cat counts
	read -r right wrong none unknown <counts # the kernel's worker may issue some
	[ "$wrong" = 0 ] && [ $((right + none + unknown)) = 10 ]
	grep block_rq_complete got >complete
	[ "$(count_spans complete by_pid 0)" = "0 0 10 0" ]
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
	file_has 4 report
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

# spans_in_order N LINES: Fail unless N lines of got that match have the spans 1 to N, in order.
spans_in_order() {
	local i
	for ((i = 1; i <= $1; i++)); do
		printf '%08x\n' "$i"
	done >wanted
	grep -e "$2" got | grep -o 'span_id=[0-9a-f]*' | grep -o '.\{8\}$' >given || true
	cmp given wanted
}

# bats test_tags=oldest
@test "trace_syscalls: --otel: also a return alone, one of many calls, and a number carry the span" {
	need_context
	hold "$PROG/published" -w 100
	traced trace_syscalls -s sys_exit_lseek --otel
	spans_in_order 100 'sys_lseek ->'
	hold "$PROG/published" -w 100
	traced trace_syscalls -s read -s write -s close -s openat -s fstat -s mmap -s munmap -s brk \
		-s sys_exit_lseek --otel
	spans_in_order 100 'sys_lseek ->'
	hold "$PROG/published" -w 100
	traced trace_syscalls --numbers -s lseek --otel
	spans_in_order 100 'sys_enter: NR'
}

# bats test_tags=oldest
@test "tfs-strings otel: programs run at the given events and at no others, so that other calls cost nothing" {
	need_context
	begins='sched_process_free
sched_process_fork
sched_process_exec'
	tfs-strings -S otel | sed -n 's,^// \(.*\): .*,\1,p' >programs
	lines_are programs "$begins
sys_enter"
	tfs-strings -S otel sched_switch syscalls/sys_enter_lseek | sed -n 's,^// \(.*\): .*,\1,p' >programs
	lines_are programs "$begins
sched_switch
syscalls/sys_enter_lseek"
}

@test "--otel names a missing capability; a program that may not be read is unknown, not without a context" {
	need_context
	need_tool setpriv
	for missing in SYS_PTRACE CHECKPOINT_RESTORE; do
		fails 111 "manager: fatal: unable to look at the files of other processes: Operation not permitted; this needs CAP_$missing" \
			setpriv --bounding-set "-${missing,,}" "$MANAGER" --run trace_syscalls \
			--args "--instance $MARK --pid $$ -s lseek --otel"
	done
	nothing_left
	cp "$PROG/published" secret
	chmod 700 secret
	chown 4242 secret
	setpriv --bounding-set -dac_override,-dac_read_search tfs-run trace_syscalls -s lseek --otel \
		--instance "$MARK" -- setpriv --reuid 4242 --clear-groups ./secret 3 >got 2>err
	grep 'secret-.*sys_lseek' got >calls
	file_has 3 calls
	run ! grep -v 'otel=unknown$' calls
}

@test "tfs-strings otel, and --otel of each hook, refuse another machine than x86-64 and arm64, and a kernel without BTF" {
	need_tracefs events/syscalls
	mkdir -p sys/kernel
	ln -s "$TRACEFS" sys/kernel/tracing
	reason="unable to read $PWD/sys/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF): No such file or directory"
	has_thread_pointer ||
		reason="otel: the thread pointer of this architecture is not known; x86-64 and arm64 have it"
	for hook in trace_syscalls trace_why trace_block trace_tcp trace_sched; do
		words=
		[ "$hook" != trace_why ] || words='--slower 1ms'
		fails 111 "manager: fatal: $reason" env TRACER_SYSFS_PATH="$PWD/sys" \
			"$MANAGER" --run "$hook" --args "--instance $MARK --pid $$ $words --otel"
	done
	nothing_left
	fails 111 "tfs-strings: fatal: $reason" env TRACER_SYSFS_PATH="$PWD/sys" tfs-strings -S otel
}

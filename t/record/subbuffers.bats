#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# decode: reads raw sub-buffers, compared with the kernel's text and with hand-made ones

# shellcheck disable=SC2030 # each test sets its own machine
load ../helper

# Do a little of everything that a machine without a network does.
workload() {
	local i
	for i in a b c; do
		echo "$i" >"$i"
		cp "$i" "$i.copy"
		mv "$i.copy" "$i.moved"
		ln -s "$i" "$i.link"
		rm "$i.moved" "$i.link"
	done
	cat a b >/dev/null
	mkdir -p deep/er
	rmdir deep/er deep
	sigwait-run -t 600000 & # a timer, and a process to kill
	kill -KILL "$!" # bash may lose another signal before an exec
	wait "$!" || :
	(trap : USR1; sh -c 'kill -USR1 $PPID'; :)
	echo abc | tr a b | cat >/dev/null
	ls -la /proc/self >/dev/null
	find /proc/self/ -maxdepth 2 >/dev/null 2>&1 || :
	readlink /proc/self/exe >/dev/null
	sync .
	if command -v python3 >/dev/null; then
		python3 "$TREE/t/prog/busy.py" 2>/dev/null || :
	fi
	[ -z "${DIR-}" ] || {
		echo "a mark" >"$DIR/trace_marker"
		printf 'without its newline' >"$DIR/trace_marker"
		printf '\1\0\0\0abcdefg' 2>/dev/null >"$DIR/trace_marker_raw" || :
	}
}

# record EVENTS: Run the workload in a new instance, and save `trace` as the file
# "trace"; print plain addresses where the kernel can.
record() {
	new_instance
	HASHED=yes
	[ ! -e "$DIR/options/hash-ptr" ] || {
		echo 0 >"$DIR/options/hash-ptr"
		HASHED=
	}
	set_up_record
	echo "${KB:-4000}" >"$DIR/buffer_size_kb"
	echo 1 >"$DIR/events/$1"
	workload >/dev/null
	echo 0 >"$DIR/tracing_on"
	echo 0 >"$DIR/events/$1"
	cat "$TRACEFS/saved_cmdlines" >named
	cat "$DIR/trace" >trace
}

set_up_record() { :; }

# Print the base address of page= in memory events, taken from the kernel's own text.
vmemmap() {
	local page pfn
	read -r page pfn <<<"$(grep -aom 1 'page=[0-9a-f]* pfn=0x[0-9a-f]*' trace)" || :
	if [ -n "$HASHED" ] || [ -z "$page" ]; then
		echo 0
	else
		printf '%x\n' $((0x${page#page=} - 64 * ${pfn#pfn=}))
	fi
}

# one_line_each: Print the kernel's text without its comments, and with the first line alone of
# the name at the beginning of an event. The kernel prints the line breaks of names, and its list
# of names shows the decoder only their first line.
one_line_each() {
	LC_ALL=C awk '
		function held_lines(to,  i) {
			for (i = 1; i <= to; i++) print held[i]
			n = 0
		}
		/^#/ && !events || /^##### CPU/ { next }
		{ events = 1 }
		match($0, /-[0-9]+ +(\( *[-0-9]+\) )?\[[0-9][0-9][0-9]+\] /) && RSTART < 17 {
			width = RSTART - 1
			for (k = n; k > 0 && width < 16; k--) width += length(held[k]) + 1
			if (width == 16) {
				name = held[k + 1]
				sub(/^ +/, "", name)
				held_lines(k)
				printf "%16s%s\n", name, substr($0, RSTART)
				next
			}
		}
		length($0) < 16 { held[++n] = $0; next }
		{ held_lines(n); print }
		END { held_lines(n) }'
}

# decoded [OPTION]...: Decode into "decoded"; ignore messages about formats that are
# printed as fields, and about events that the kernel overwrote.
decoded() {
	"$PROG/decode" -o "$DIR" | sed 's/.*://' >opaque
	"$PROG/decode" -x -m "$(vmemmap)" "$@" "$DIR" >decoded
	grep -av '^CPU:[0-9]* \[LOST' decoded >ours
	one_line_each <trace >theirs
	[ -s theirs ]
}

# same_lines: Compare the lines. We may know a name that the kernel has forgotten, and the kernel
# may have forgotten a name after it printed it, or know another one, because its names are
# those of the whole machine; a hashed
# address is one word of as many digits. Linux 6.1 sometimes leaves out an event's
# first string (comm= pid=1) and what follows it up to the end of the line; then our
# line may be longer.
same_lines() {
	local hollow=
	if grep -aqE 'comm= pid=|action=\]' theirs; then
		hollow=yes
		sed -E ':again
			s/(\[[0-9]{3,}\] [^:]*: [a-z0-9_]+: )( *[^ \n]+-[0-9]+ +\[[0-9]{3,}\] )/\1\n\2/
			t again' theirs >apart
		mv apart theirs
	fi
	cat "$TRACEFS/saved_cmdlines" >saved
	awk -v hashed="$HASHED" -v hollow="$hollow" '
		FILENAME == "opaque" { opaque[$1 ":"] = 1; next }
		FILENAME == "named" { named[$1] = $0; next }
		FILENAME == "saved" { saved[$1] = 1; if (named[$1] != $0) renamed[$1] = 1; next }
		FILENAME == "theirs" {
			if ((getline ours <"ours") < 1) ours = "(the end)"
			theirs = $0
			if (theirs == ours) next
			pid = substr(ours, 18)
			sub(/[^0-9].*/, "", pid)
			if (substr(theirs, 12, 5) == "<...>" ||
			    pid in renamed ||
			    substr(ours, 12, 5) == "<...>" && !(pid in saved)) {
				theirs = substr(theirs, 17)
				ours = substr(ours, 17)
			}
			if (hashed) {
				gsub(/[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]+/,
					"H", theirs)
				gsub(/[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]+/,
					"H", ours)
			}
			# a program of another session may have ended, and another one be at its address
			gsub(/ (bpf_prog_[0-9a-f]+[0-9a-zA-Z_]*|0xffffffffc[0-9a-f]+)/, " bpf_prog", theirs)
			gsub(/ (bpf_prog_[0-9a-f]+[0-9a-zA-Z_]*|0xffffffffc[0-9a-f]+)/, " bpf_prog", ours)
			if (theirs == ours) next
			if (hollow) {
				for (n = 1; substr(theirs, n, 1) == substr(ours, n, 1); n++)
					;
				rest = substr(theirs, n)
				if (substr(ours, length(ours) - length(rest) + 1) == rest) next
			}
			name = theirs
			sub(/^.*\[[0-9]+\] [^:]*: /, "", name)
			sub(/ .*/, "", name)
			if (name in opaque) next
			print "- " theirs
			print "+ " ours
			if (bad++ > 20) exit
		}
		END { exit bad > 0 }' opaque named saved theirs
	file_has "$(wc -l <theirs)" ours
}

@test "decode: prints every event of the machine as the kernel's trace does, byte for byte" {
	record enable
	decoded
	same_lines
	sed -E 's/^.{16}-[0-9]+ +\[[0-9]+\] [^:]*: ([^ (:]*).*/\1/' theirs | sort -u >names
	[ "$(wc -l <names)" -gt 100 ]
	# few formats are unsupported
	[ "$(wc -l <opaque)" -lt 200 ]
}

@test "decode: prints kernel and user stacks between the lines" {
	set_up_record() {
		echo 1 >"$DIR/options/stacktrace"
		# Linux 6.12 on riscv64 hangs in the stack trace of a sched event
		[ "$(uname -m)" = riscv64 ] || echo 1 >"$DIR/options/userstacktrace"
	}
	need_tracefs events/sched
	record sched/enable
	decoded
	same_lines
	[ "$(grep -c '^ => ' theirs)" -gt 100 ]
}

@test "decode: prints counter clocks, thread groups and lines without irq-info" {
	need_tracefs events/raw_syscalls
	for clock in counter mono boot; do
		grep -qw "$clock" "$TRACEFS/trace_clock" || continue
		set_up_record() { echo "$clock" >"$DIR/trace_clock"; }
		KB=200 record raw_syscalls/enable
		if [ "$clock" = counter ]; then decoded -c; else decoded; fi
		same_lines
		tfs-instance remove "$INSTANCE"
	done
	set_up_record() { echo 1 >"$DIR/options/record-tgid"; }
	KB=200 record raw_syscalls/enable
	decoded -t
	same_lines
	tfs-instance remove "$INSTANCE"
	set_up_record() { echo 0 >"$DIR/options/irq-info"; }
	KB=200 record raw_syscalls/enable
	decoded -q
	same_lines
	tfs-instance remove "$INSTANCE"
	set_up_record() { echo 1 >"$DIR/options/sym-offset"; echo 1 >"$DIR/options/sym-addr"; }
	KB=200 record raw_syscalls/enable
	decoded -sa
	same_lines
}

@test "decode: prints the same header as trace" {
	need_tracefs events/raw_syscalls
	record raw_syscalls/enable
	grep -a '^#' trace | grep -v '^##### CPU' | sed 's,: [0-9]*/[0-9]* .*,: 0/0   #P:0,' >theirs
	"$PROG/decode" -h "$DIR" | diff theirs -
	new_instance t
	echo 1 >"$DIR/options/record-tgid"
	grep '^#' "$DIR/trace" | sed 's,: [0-9]*/[0-9]* .*,: 0/0   #P:0,' >theirs
	"$PROG/decode" -th "$DIR" | diff theirs -
	echo 0 >"$DIR/options/irq-info"
	grep '^#' "$DIR/trace" | sed 's,: [0-9]*/[0-9]* .*,: 0/0   #P:0,' >theirs
	"$PROG/decode" -tqh "$DIR" | diff theirs -
}

@test "decode: delivered and lost events add up to all events" {
	need_tracefs events/raw_syscalls
	new_instance
	# an event that leaves room in its sub-buffer for the number
	event=sys_exit
	[ $(($(data_size) % 28)) -ge 8 ] || event=sys_enter
	echo 16 >"$DIR/buffer_size_kb"
	# more than two sub-buffers hold, which may have 64 KiB each
	made=$(($(so_many 20000) * ($(data_size) / 4000)))
	calls "$made"
	"$TREE/bin/tfs-pidfilter" -i "$INSTANCE" set "$CALLS"
	echo 'id == '"$("$TREE/bin/syscall-nr" getppid)" >"$DIR/events/raw_syscalls/$event/filter"
	echo 1 >"$DIR/events/raw_syscalls/$event/enable"
	release
	wait "$CALLS"
	echo 0 >"$DIR/tracing_on"
	"$PROG/decode" "$DIR" >decoded
	n=$(grep -c "$event: NR" decoded)
	lost=$(sed -n 's/^CPU:[0-9]* \[LOST \([0-9]*\) EVENTS\]$/\1/p' decoded |
		awk '{ n += $1 } END { print n + 0 }')
	[ "$lost" -gt 0 ]
	[ $((n + lost)) = "$made" ]
}

# ---- pages made by hand ------------------------------------------------------

# number BYTES VALUE: Print VALUE's bytes in the sub-buffer's order, in hexadecimal.
number() {
	local hex out i
	hex=$(printf "%0$(($1 * 2))x" "$2")
	if [ -n "$BIG" ]; then
		printf %s "$hex"
		return
	fi
	for ((i = $1 * 2 - 2; i >= 0; i -= 2)); do out=${out-}${hex:i:2}; done
	printf %s "$out"
}

# head TYPE DELTA: Print the header of a record.
head_word() {
	if [ -n "$BIG" ]; then
		number 4 $(($1 << 27 | $2))
	else
		number 4 $(($2 << 5 | $1))
	fi
}

# demo A TEXT: Print a record of the event demo; TEXT has three letters.
demo() {
	number 2 300; printf 0100; number 4 42
	number 4 "$1"; number 4 $((4 << 16 | 16))
	printf '%02x%02x%02x00' "'${2:0:1}" "'${2:1:1}" "'${2:2:1}"
}

# page FLAGS TIME DATA [STORED]: Append one sub-buffer, with $LONG and $SIZE as set.
page() {
	local data=$3 hex
	hex=$(number 8 "$2")$(number "$LONG" $(($1 | ${#data} / 2)))$data${4-}
	# shellcheck disable=SC2059,SC2001 # a format of nothing but escapes
	printf "$(sed 's/../\\x&/g' <<<"$hex")" >>plain/per_cpu/cpu3/trace_pipe_raw
	head -c $((SIZE - ${#hex} / 2)) /dev/zero >>plain/per_cpu/cpu3/trace_pipe_raw
}

# directory: Make a plain instance directory of a kernel with $LONG and $SIZE.
directory() {
	mkdir -p plain/per_cpu/cpu3 plain/events/demo/demo
	printf '42 hand\n' >plain/saved_cmdlines
	: >plain/per_cpu/cpu3/trace_pipe_raw
	cat >plain/events/header_page <<END
	field: u64 timestamp;	offset:0;	size:8;	signed:0;
	field: local_t commit;	offset:8;	size:$LONG;	signed:1;
	field: int overwrite;	offset:8;	size:1;	signed:1;
	field: char data;	offset:$((8 + LONG));	size:$((SIZE - 8 - LONG));	signed:0;
END
	cat >plain/events/demo/demo/format <<END
name: demo
ID: 300
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int a;	offset:8;	size:4;	signed:1;
	field:__data_loc char[] s;	offset:12;	size:4;	signed:0;

print fmt: ${FMT-'"a=%d s=%s", REC->a, __get_str(s)'}
END
}

plain() {
	local order=-L
	[ -z "$BIG" ] || order=-B
	"$PROG/decode" "$order" "$@" -l "$LONG" -V "${VERSION:-6.18}" plain plain
}

@test "decode: reads sub-buffers of both byte orders, both sizes of long, and large sizes" {
	for BIG in '' yes; do
		for LONG in 4 8; do
			for SIZE in 4096 16384 65536; do
				directory
				page 0 1000001000 "$(head_word 5 0)$(demo 7 abc)$(
					head_word 5 2000)$(demo 4294967295 xyz)"
				plain >out
				diff - out <<-END
				            hand-42      [003] d....     1.000001: demo: a=7 s=abc
				            hand-42      [003] d....     1.000003: demo: a=-1 s=xyz
				END
			done
		done
	done
}

@test "decode: reads time extends, absolute timestamps, padding and long records" {
	SIZE=4096
	for BIG in '' yes; do
		for LONG in 4 8; do
			directory
			# 1 s and 2^27 ns; then an absolute timestamp; a discarded event of 8 bytes; a
			# record with a length of its own; bytes after the end
			page 0 1000000000 "$(head_word 30 0)$(number 4 1)$(head_word 5 0)$(demo 1 one
				)$(head_word 31 1000)$(number 4 100)$(head_word 5 0)$(demo 2 two
				)$(head_word 29 1)$(number 4 8)$(number 4 0
				)$(head_word 0 1000)$(number 4 24)$(demo 3 thr
				)$(head_word 29 0)$(number 4 0)$(head_word 5 0)$(demo 4 not)"
			plain >out
			diff - out <<-END
			            hand-42      [003] d....     1.134218: demo: a=1 s=one
			            hand-42      [003] d....    13.421774: demo: a=2 s=two
			            hand-42      [003] d....    13.421775: demo: a=3 s=thr
			END
		done
	done
}

@test "decode: adds the bits above 59 of an earlier time to an absolute timestamp" {
	BIG='' LONG=8 SIZE=4096
	directory
	page 0 $((1 << 60)) "$(head_word 31 5000)$(number 4 0)$(head_word 5 0)$(demo 1 abc)"
	plain >out
	diff - out <<-END
	            hand-42      [003] d.... 1152921504.606852: demo: a=1 s=abc
	END
}

@test "decode: reports missed events, with and without their number" {
	SIZE=4096
	for BIG in '' yes; do
		for LONG in 4 8; do
			directory
			page $((1 << 31)) 1000000000 "$(head_word 5 0)$(demo 1 one)"
			page $((3 << 30)) 2000000000 "$(head_word 5 0)$(demo 2 two)" \
				"$(number "$LONG" 4711)"
			plain >out
			diff - out <<-END
			CPU:3 [LOST EVENTS]
			            hand-42      [003] d....     1.000000: demo: a=1 s=one
			CPU:3 [LOST 4711 EVENTS]
			            hand-42      [003] d....     2.000000: demo: a=2 s=two
			END
		done
	done
}

@test "decode: an impossible length ends its own sub-buffer only" {
	BIG='' LONG=8 SIZE=4096
	directory
	page 0 1000000000 "$(head_word 5 0)$(demo 1 one)$(head_word 0 0)$(number 4 4294967295)"
	page 0 2000000000 "$(head_word 28 0)$(demo 2 two)"
	page $((1 << 26)) 3000000000 "$(head_word 5 0)$(demo 3 thr)$(head_word 0 0)$(number 4 2)"
	printf 'short' >>plain/per_cpu/cpu3/trace_pipe_raw
	plain >out
	diff - out <<-END
	            hand-42      [003] d....     1.000000: demo: a=1 s=one
	            hand-42      [003] d....     3.000000: demo: a=3 s=thr
	END
}

@test "decode: prints the flag letters of the kernel's version" {
	BIG='' LONG=8 SIZE=4096
	directory
	page 0 1000000000 "$(head_word 5 0)$(demo 1 one | sed 's/^\(....\)..../\1c722/')$(
		head_word 5 0)$(demo 1 two | sed 's/^\(....\)..../\10610/')"
	VERSION=5.10 plain >out
	VERSION=6.1 plain >>out
	VERSION=6.18 plain >>out
	diff - out <<-END
	            hand-42      [003] dnz22     1.000000: demo: a=1 s=one
	            hand-42      [003] Xn.10     1.000000: demo: a=1 s=two
	            hand-42      [003] Dnz22     1.000000: demo: a=1 s=one
	            hand-42      [003] Xn..1     1.000000: demo: a=1 s=two
	            hand-42      [003] Dbz22     1.000000: demo: a=1 s=one
	            hand-42      [003] .b..1     1.000000: demo: a=1 s=two
	END
}

# text FMT [OPTION]...: Print a record with a = -1 and s = "abc" by this print fmt.
text() {
	# shellcheck disable=SC2031 # it is this test's own
	BIG='' LONG=${LONG:-8} SIZE=4096 FMT=$1
	directory
	page 0 0 "$(head_word 5 0)$(demo "${A:-4294967295}" abc)"
	plain "${@:2}" | sed 's/.*: demo: //'
}

@test "decode: evaluates a print fmt as C does" {
	[ "$(text '"%u %x %d %lx %llu", REC->a, REC->a, REC->a, REC->a, REC->a')" = \
		"4294967295 ffffffff -1 ffffffffffffffff 18446744073709551615" ]
	[ "$(LONG=4 text '"%lx %llx", (unsigned long)REC->a, (u64)(u32)REC->a')" = \
		"ffffffff ffffffff" ]
	[ "$(text '"%5d|%-5d|%05d|%+d|% d|%#x|%.3d|%*d", REC->a, REC->a, REC->a, 5, 5, 5, 5, 4, 7')" = \
		"   -1|-1   |-0001|+5| 5|0x5|005|   7" ]
	[ "$(text '"%s" "%%" "\t%c\x41\101", REC->a ? "yes" : "no", 0x42')" = "$(printf 'yes%%\tBAA')" ]
	[ "$(text '"%d %d %d", 1 + 2 * 3 - 4 / 2 % 3, (1 << 4 | 3) & ~1, !5 || 3 > 2 && 1 != 2')" = \
		"5 18 1" ]
	[ "$(text '"%d %d", -1 < 1U, (unsigned char)REC->a == 255')" = "0 1" ]
	[ "$(text '"%8s|%-8s|%.2s|%.*s|", __get_str(s), __get_str(s), __get_str(s), 1, __get_str(s)')" = \
		"     abc|abc     |ab|a|" ]
	[ "$(text '"%s %s", __print_symbolic(REC->a, { -1, "minus" }, { 2, "two" }), __print_flags(5, "|", { 1, "one" }, { 2, "two" })')" = \
		"minus one|0x4" ]
	[ "$(text '"%s %s", __print_hex(__get_dynamic_array(s), 3), __print_hex_str(__get_str(s), __get_dynamic_array_len(s))')" = \
		"61 62 63 61626300" ]
	[ "$(text '"%s", __print_array(__get_dynamic_array(s), 2, 2)')" = "{0x6261,0x63}" ]
	[ "$(text '"%c%d", __get_str(s)[1], ((u8 *)__get_dynamic_array(s))[2]')" = "b99" ]
	[ "$(text '"%d", ({ int x = (REC->a); int y = (5); ((x) < (y) ? (x) : (y)); })')" = "-1" ]
	[ "$(A=16777343 text '"%pI4 %d", &REC->a, sizeof(u32)')" = "127.0.0.1 4" ]
	[ "$(text '"%*pbl %s", 32, &REC->a, __get_bitmask(s)')" = "0-31 00636261" ]
	[ "$(text '"%px %p %ps", (void *)0x1234, 0, (void *)0x10')" = \
		"0000000000001234 0000000000000000 0x10" ]
}

@test "decode: with bitmask-list, prints the bits of a mask as a list" {
	local mask='"cpumask=%s", __get_cpumask(s)'
	[ "$(text "$mask")" = cpumask=00636261 ]
	[ "$(text "$mask" -b)" = cpumask=0,5-6,9,13-14,16-17,21-22 ]
}

@test "decode: with bitmask-list, prints masks as the kernel's trace does, byte for byte" {
	need_tracefs options/bitmask-list
	need_tracefs events/ipi/ipi_send_cpumask
	set_up_record() { echo 1 >"$DIR/options/bitmask-list"; }
	record ipi/enable
	grep -aq ' cpumask=' trace || skip "needs a signal to several CPUs at once (three CPUs)"
	grep -aq ' cpumask=[0-9]*[-,]' trace
	decoded -b
	same_lines
}

# entered NAME FIELDS FMT DATA: Print a system call's entry, of Linux 7.2; DATA follows
# the call's number, in 64-bit values, and ends with the user data.
entered() {
	local BIG='' LONG=8 SIZE=4096 VERSION=7.2 field offset=16
	directory
	mkdir -p "plain/events/syscalls/sys_enter_$1"
	{
		sed "s/^name: .*/name: sys_enter_$1/; s/^ID: .*/ID: 301/; /field:int a;/,\$d" \
			plain/events/demo/demo/format
		printf '\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n'
		for field in $2; do
			printf '\tfield:long %s;\toffset:%d;\tsize:8;\tsigned:0;\n' "$field" $offset
			offset=$((offset + 8))
		done
		printf '\tfield:__data_loc char[] __%s_val;\toffset:%d;\tsize:4;\tsigned:0;\n' \
			"$(cut -d' ' -f2 <<<"$2")" $offset
		printf '\nprint fmt: %s\n' "$3"
	} >"plain/events/syscalls/sys_enter_$1/format"
	local data
	data=$(number 2 301)0000$(number 4 42)$(number 4 1)00000000$4
	page 0 0 "$(head_word $((${#data} / 8)) 0)$data"
	plain | sed 's/.*: sys_/sys_/'
}

# opened FLAGS MODE [BYTES]: Print an openat of "abc", of which BYTES (4) were copied.
opened() {
	entered openat 'dfd filename flags mode' "$OPENAT" "$(number 8 -100)$(number 8 16
		number 8 "$1"; number 8 "$2"; number 4 $((${3-4} << 16 | 52)))61626300"
}

@test "decode: prints the user data that a system call reads as the kernel does" {
	OPENAT='"dfd: 0x%08lx, filename: 0x%08lx \"%s\", flags: %s%s, mode: 0%03o", ((unsigned long)(REC->dfd)), ((unsigned long)(REC->filename)), __get_str(__filename_val), (REC->flags & ~3) && !(REC->flags & 3) ? "O_RDONLY|" : "",  REC->flags ? __print_flags(REC->flags, "|", { 0x1, "O_WRONLY" }, { 0x2, "O_RDWR" }, { 0x40, "O_CREAT" }, { 0x200, "O_TRUNC" }, { 0x10000, "O_DIRECTORY" }) : "O_RDONLY",  ((unsigned long)(REC->mode))'
	[ "$(opened 0 0)" = \
		'sys_openat(dfd: 18446744073709551516, filename: 16 "abc", flags: O_RDONLY)' ]
	[ "$(opened 0 0 0)" = \
		'sys_openat(dfd: 18446744073709551516, filename: 16 "", flags: O_RDONLY)' ]
	[ "$(opened $((0x200)) 7)" = \
		'sys_openat(dfd: 18446744073709551516, filename: 16 "abc", flags: O_RDONLY|O_TRUNC)' ]
	[ "$(opened $((0x241)) $((0666)))" = \
		'sys_openat(dfd: 18446744073709551516, filename: 16 "abc", flags: O_WRONLY|O_CREAT|O_TRUNC, mode: 0666)' ]
	[ "$(opened $((0x410002)) 7)" = \
		'sys_openat(dfd: 18446744073709551516, filename: 16 "abc", flags: O_TMPFILE|O_RDWR, mode: 0007)' ]
	# O_TMPFILE includes O_DIRECTORY, so the mode is printed
	[ "$(opened $((0x1010000)) 0)" = \
		'sys_openat(dfd: 18446744073709551516, filename: 16 "abc", flags: O_RDONLY|O_DIRECTORY|0x1000000, mode: 0000)' ]
}

# wrote COUNT HEX: Print a write(2) of these bytes.
wrote() {
	entered write 'fd buf count' '"fd: 0x%08lx, buf: 0x%08lx (%s), count: 0x%08lx", ((unsigned long)(REC->fd)), ((unsigned long)(REC->buf)), __print_dynamic_array(__buf_val, 1), ((unsigned long)(REC->count))' \
		"$(number 8 1; number 8 4096; number 8 "$1"; number 4 $((${#2} / 2 << 16 | 44)))$2"
}

@test "decode: prints the bytes that a system call reads, and as text if they are text" {
	[ "$(wrote 4 61620a00)" = 'sys_write(fd: 1, buf: 0x1000 (61:62:0a:00) "ab..", count: 4)' ]
	[ "$(wrote 99 61622022)" = 'sys_write(fd: 1, buf: 0x1000 (61:62:20:22, ...) "ab \""..., count: 0x63)' ]
	[ "$(wrote 4 0a00ff7f)" = 'sys_write(fd: 1, buf: 0x1000 (0a:00:ff:7f), count: 4)' ]
}

# bytes HEX [OPTION]: Print the record with these three bytes in place of abc.
bytes() {
	BIG='' LONG=8 SIZE=4096
	directory
	page 0 0 "$(head_word 5 0)$(demo "${A:-4294967295}" abc | sed "s/616263/$1/")"
	plain "${@:2}" | sed 's/.*: demo: //'
}

@test "decode: escapes in a string what looks like its end, another field or line, and nothing with -x" {
	# after a space, and before what readers drop
	[ "$(bytes 203d3a)" = 'a=-1 s=\x20=:' ]
	[ "$(bytes 78203d)" = 'a=-1 s=x \x3d' ]
	[ "$(bytes 78203a)" = 'a=-1 s=x \x3a' ]
	[ "$(bytes 203a79)" = 'a=-1 s=\x20:y' ]
	[ "$(bytes 783d3a)" = 'a=-1 s=x=:' ]
	[ "$(bytes 613a20)" = 'a=-1 s=a:\x20' ]
	[ "$(bytes 61202c)" = 'a=-1 s=a \x2c' ]
	[ "$(bytes 2c2c2c)" = 'a=-1 s=,,\x2c' ]
	[ "$(bytes 612079)" = 'a=-1 s=a y' ]
	[ "$(bytes 613d22 -x)" = 'a=-1 s=a="' ]
	# in quotes, only quotes and backslashes; as all of the text, only backslashes
	FMT='"q=\"%s\" u=%s", __get_str(s), __get_str(s)'
	[ "$(bytes 20223d)" = 'q=" \"=" u=\x20\"=' ]
	FMT='"%s", __get_str(s)'
	[ "$(bytes 205c22)" = ' \\"' ]
}

@test "decode: prints a control character of a string as \\n, \\t or \\x1b, and unchanged with -x" {
	[ "$(bytes 610a62)" = 'a=-1 s=a\nb' ]
	[ "$(bytes 091b7f)" = 'a=-1 s=\t\x1b\x7f' ]
	[ "$(bytes 5c6e22)" = 'a=-1 s=\\n\"' ]
	[ "$(bytes c3a90a)" = 'a=-1 s=é\n' ]
	# the C1 set, alone and in UTF-8; a byte that is only a part of a character is none
	[ "$(bytes 9b6d80)" = 'a=-1 s=\x9bm\x80' ]
	[ "$(bytes c29b6d)" = 'a=-1 s=\xc2\x9bm' ]
	[ "$(bytes c2a06d)" = $'a=-1 s=\xc2\xa0m' ]
	[ "$(bytes e29b84)" = $'a=-1 s=\xe2\x9b\x84' ]
	[ "$(bytes e29b6d)" = 'a=-1 s=\xe2\x9bm' ]
	bytes 9bc280 -x >out
	exactly out $'a=-1 s=\x9b\xc2\x80\n'
	bytes 610a62 -x >out
	lines_are out "a=-1 s=a
b"
	FMT='"%8s|%-8s|%.2s|", __get_str(s), __get_str(s), __get_str(s)'
	[ "$(bytes 610a62)" = '    a\nb|a\nb    |a\n|' ]
	FMT='"%s", REC->a ? __get_str(s) : "no"'
	[ "$(bytes 610a62)" = 'a\nb' ]
	FMT='"%d", some_function(REC->a)'
	[ "$(bytes 610a62)" = -1 ]
	FMT='some_function(REC->a)'
	[ "$(bytes 610a62)" = 'a=-1 s=a\nb' ]
	FMT='"%c|%3c|%-5c|", __get_str(s)[0], __get_str(s)[1], __get_str(s)[2]'
	[ "$(bytes 610a1b)" = 'a| \n|\x1b |' ]
	[ "$(bytes 61e49b)" = 'a|\xe4|\x9b |' ]
	# text of the format itself stays as the kernel has it
	FMT='"%d\n => %s", REC->a, __get_str(s)'
	[ "$(bytes 610a62)" = '-1
 => a\nb' ]
}

@test "decode: finds a control character anywhere in a long string" {
	local at x y head want='' records=''
	BIG='' LONG=8 SIZE=4096
	directory
	head=$(head_word 15 0)$(number 2 300; printf 0100; number 4 42; number 4 1
		number 4 $((44 << 16 | 16)))
	for at in {0..40}; do
		printf -v x '%*s' "$at" ''
		printf -v y '%*s' $((40 - at)) ''
		records+=$head${x// /78}0a${y// /79}000000
		want+="a=1 s=${x// /x}\n${y// /y}"$'\n'
	done
	page 0 0 "$records"
	plain | sed 's/.*: demo: //' >got
	exactly got "$want"
}

@test "decode: escapes a task's name before the event as in a field" {
	BIG='' LONG=8 SIZE=4096
	directory
	printf '42 a\033b\tc\n' >plain/saved_cmdlines
	page 0 1000000000 "$(head_word 5 0)$(demo 1 one)"
	plain >out
	lines_are out "       a\x1bb\tc-42      [003] d....     1.000000: demo: a=1 s=one"
	plain -x >out
	exactly out $'           a\033b\tc-42      [003] d....     1.000000: demo: a=1 s=one\n'
}

@test "decode: prints the raw fields if it does not support the print fmt" {
	[ "$(text '"unfinished')" = "a=-1 s=abc" ]
	[ "$("$PROG/decode" -o plain plain)" = demo:demo ]
	[ "$(text 'some text')" = "a=-1 s=abc" ]
}

# part EXPECTED FMT: The text is this one, and the event is named as one that is clear in part.
part() {
	[ "$(text "$2")" = "$1" ]
	[ "$("$PROG/decode" -o plain plain)" = demo:demo ]
}

@test "decode: prints the value of a part that it does not support, and all other parts" {
	part '<-1> b=abc' '"<%d> b=%s", some_function(REC->a), __get_str(s)'
	part '0x5 -1' '"%#x %d", 5, some_function(REC->a)[3].x'
	part '{a=-1 s=abc} 7' '"%s %d", other(REC->a, (__get_str(s))), 7'
	part 'a -1 z' '"a %*.*d z", 1, 2, f(REC->a, { 1, "x" })'
	part '-1 %d' '"%d %d", REC->a'
	part 'REC->nothing 1' '"%d %d", REC->nothing, 1'
	part 'sizeof(struct x) 1' '"%d %d", sizeof(struct x), 1'
	part '-1 1' '"%s %d", REC->a ? name(REC->a) : "none", 1'
	part '-1 abc' '"%d %s", REC->a == SOME_ENUM ? 1 : 2, __get_str(s)'
	part '-1 1' '"%s %d", __print_symbolic(REC->a, the_table), 1'
	part '-1 abc' '"%k %s", REC->a, __get_str(s)'
	part '-1 abc' '"%s %s", REC->a->name->x, __get_str(s)'
	part 'abc' '"%s", __get_str(s)[some(1)] ? "x" : "y"'
}

@test "decode: prints the number of a name without a value in a table, and the rest of the line" {
	part '0xffffffffffffffff abc' \
		'"%s %s", __print_symbolic(REC->a, { VIDC_OPEN, "open" }, { VIDC_CLOSE, "close" }), __get_str(s)'
	part 'two abc' \
		'"%s %s", __print_symbolic(2, { VIDC_OPEN, "open" }, { 2, "two" }), __get_str(s)'
	part 'one|0x6' '"%s", __print_flags(7, "|", { 1, "one" }, { FLAG_TWO | 4, "two" })'
	part '0x3' '"%s", __print_symbolic(3, { (enum e)VIDC_OPEN, "a, }" }, { f(1, 2), "b" })'
}

@test "decode: converts byte orders, times and compound literals" {
	[ "$(A=4660 text '"%u %x %x", ntohs(REC->a), htons(0x0102), ntohl(0x01020304)')" = \
		'13330 201 4030201' ]
	[ "$(text '"%x %x %llx", be16_to_cpu(0x0102), __fswab32(1), __builtin_bswap64(1)')" = \
		'201 1000000 100000000000000' ]
	[ "$(text '"%x %x", le16_to_cpu(0x0102), __cpu_to_le32(7)')" = '102 7' ]
	[ "$(text '"%lld %lld", ((ktime_t) { .tv64 = (s64)5 }).tv64, (((ktime_t) { .tv64 = REC->a }).tv64)')" = \
		'5 -1' ]
	[ "$(text '"%llu %lld", (unsigned long long)(((ktime_t) { .tv64 = 9, }).tv64), ktime_to_us(5000)')" = \
		'9 5' ]
	[ "$(text '"%d %d %d", (MSM_TYPE)REC->a, (U8)7, (Foo)(3)')" = '-1 7 3' ]
}

@test "decode: swaps no byte of a big-endian kernel in ntohs, and those of le16_to_cpu" {
	BIG=yes LONG=8 SIZE=4096 FMT='"%x %x %x", ntohs(0x0102), le16_to_cpu(0x0102), __swab32(1)'
	directory
	page 0 0 "$(head_word 5 0)$(demo 1 abc)"
	[ "$(plain | sed 's/.*: demo: //')" = '102 201 1000000' ]
}

@test "decode: reads a print fmt with quotes inside the format string" {
	[ "$(text '"name="%s" a=%d", __get_str(s), REC->a')" = 'name="abc" a=-1' ]
	[ "$(text '"name="%s", a="%d"", __get_str(s), REC->a')" = 'name="abc", a="-1"' ]
	[ "$(text '"it is "a", "b" and \"c\""')" = 'it is "a", "b" and "c"' ]
	[ "$(text '""%s"", __get_str(s)')" = '"abc"' ]
	[ "$(text '"name="%s" %s", __get_str(s), REC->a ? "a, b" : "c"')" = 'name="abc" a, b' ]
}

@test "decode: decodes a short event with less than 600 instructions" {
	[ -z "${TFS_VARIANT-}" ] || skip "counts the instructions of the plain build"
	need_tool valgrind
	need_tracefs events/syscalls
	local times insns=()
	new_instance
	echo $$ >"$DIR/set_event_pid" # without a pid every task would be recorded
	echo 1 >"$DIR/events/syscalls/sys_enter_getppid/enable"
	for times in 1 11; do
		calls -e 10000
		echo "$CALLS" >>"$DIR/set_event_pid"
		release
		wait "$CALLS"
		valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null \
			"$PROG/decode" -n $times "$DIR" >out 2>err
		grep -q '^100[0-9][0-9] events' out
		insns+=("$(sed -n 's/,//g; s/.*I *refs: *//p' err)")
	done
	# decoding 10,000 events ten times more takes the difference
	echo "${insns[*]}"
	[ "${insns[0]}" -lt "${insns[1]}" ]
	[ $(((insns[1] - insns[0]) / 100000)) -lt 600 ]
}

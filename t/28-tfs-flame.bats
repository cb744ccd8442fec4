#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-flame: counts each stack, and draws a well-formed picture for any names

load helper

USAGE='tfs-flame [-f] [-k KEY]...'

misuse() {
	fails 100 "tfs-flame: fatal: $1; usage: $USAGE" "${@:2}"
}

# stack COMM CPU EVENT FRAME...: Print an event and its stack, the innermost frame first.
stack() {
	printf '%16s-7       [%03d] ..... 1.000001: %s: x=1\n' "$1" "$2" "$3"
	printf '%16s-7       [%03d] ..... 1.000002: <stack trace>\n' "$1" "$2"
	printf ' => %s\n' "${@:4}"
}

stacks() {
	stack sh 0 e trace_event_raw_event_e __traceiter_e c b a
	stack sh 0 e c b a
	stack ls 1 f b a
}

# well_formed FILE: Fail unless an XML parser accepts FILE.
well_formed() {
	need_tool python3
	python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"
}

@test "tfs-flame: --help prints the synopsis and the purpose" {
	run -0 --separate-stderr tfs-flame --help
	[ "$output" = "usage: $USAGE
tfs-flame - draw the stacks of a trace as a flame graph, in SVG" ]
	[ -z "$stderr" ]
}

@test "tfs-flame: --version prints name and version" {
	run -0 --separate-stderr tfs-flame --version
	[[ $output =~ ^tfs-flame\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	[ -z "$stderr" ]
}

@test "tfs-flame: refuses an invalid key, and operands" {
	misuse 'no such option: -x' tfs-flame -x
	misuse "not a key: ''" tfs-flame -k ''
	misuse "not a key: '.'" tfs-flame -k .
	misuse "unexpected operand 'file'" tfs-flame file
}

# bats test_tags=quick
@test "tfs-flame: -f: prints folded lines, outermost function first, without functions of the tracing" {
	stacks | tfs-flame -f | diff - <(printf '%s\n' 'ls;a;b 1' 'sh;a;b;c 2')
}

@test "tfs-flame: -k: puts a field of the stack's event below the stack" {
	stacks | tfs-flame -f -k event -k comm | diff - <(printf '%s\n' 'e;sh;a;b;c 2' 'f;ls;a;b 1')
	stacks | tfs-flame -f -k nope | diff - <(printf '%s\n' '-;a;b 1' '-;a;b;c 2')
}

@test "tfs-flame: assigns a stack to the last event of its CPU" {
	{ stack a 0 first x | sed 2q | head -n 1; stack b 1 other y; stack a 0 first x | tail -n 2; } |
		tfs-flame -f -k event | diff - <(printf '%s\n' 'first;x 1' 'other;y 1')
}

@test "tfs-flame: reads stacks as the function tracer and trace-cmd print them, with offsets and addresses" {
	{ printf '%16s-7       [000] ..... 1.000001: vfs_read <-ksys_read\n' sh
		printf '%16s-7       [000] ..... 1.000002: <stack trace>\n' sh
		printf '%s\n' ' => vfs_read' ' => ksys_read+0x5f/0xe0' ' => do_syscall_64 <ffffffff81000000>' \
			'=> entry (ffffffff81000130)' ' => [FTRACE TRAMPOLINE]' ' => f [ext4]'; } |
		tfs-flame -f -k event -k caller |
		diff - <(echo 'function;ksys_read;f [ext4];[FTRACE TRAMPOLINE];entry;do_syscall_64;ksys_read;vfs_read 1')
}

@test "tfs-flame: draws the expected picture of two functions, byte for byte" {
	stack sh 0 e b a | tfs-flame | diff - <(cat <<-'EOF'
		<?xml version='1.0' encoding='UTF-8'?>
		<svg xmlns='http://www.w3.org/2000/svg' width='1200' height='144' viewBox='0 0 1200 144'>
		<style>text{font:12px monospace}g:hover rect{stroke:#000}</style>
		<rect width='100%' height='100%' fill='#f8f8f8'/>
		<text x='10' y='20'>1 stack</text>
		<g><title>b (1 stack, 100.0%)</title><rect x='10' y='40' width='1180' height='15' fill='rgb(239,76,47)' rx='2'/><text x='13' y='52'>b</text></g>
		<g><title>a (1 stack, 100.0%)</title><rect x='10' y='56' width='1180' height='15' fill='rgb(232,200,20)' rx='2'/><text x='13' y='68'>a</text></g>
		<g><title>sh (1 stack, 100.0%)</title><rect x='10' y='72' width='1180' height='15' fill='rgb(216,97,37)' rx='2'/><text x='13' y='84'>sh</text></g>
		<g><title>all (1 stack, 100.0%)</title><rect x='10' y='88' width='1180' height='15' fill='rgb(221,125,15)' rx='2'/><text x='13' y='100'>all</text></g>
		</svg>
	EOF
	)
}

@test "tfs-flame: draws functions side by side, as wide as they are frequent" {
	stacks | tfs-flame >got.svg
	grep -o '<title>[^<]*</title><rect x=.[0-9.]*. y=.[0-9]*. width=.[0-9.]*' got.svg |
		sed "s/<title>//; s/ stacks*, / /; s/)<.*x='/ /; s/' y='/ /; s/' width='/ /" |
		diff - <(printf '%s\n' 'b (1 33.3% 10 56 393.33' 'a (1 33.3% 10 72 393.33' 'ls (1 33.3% 10 88 393.33' \
			'c (2 66.6% 403.33 40 786.67' 'b (2 66.6% 403.33 56 786.67' 'a (2 66.6% 403.33 72 786.67' \
			'sh (2 66.6% 403.33 88 786.67' 'all (3 100.0% 10 104 1180')
	well_formed got.svg
}

@test "tfs-flame: draws one frame per level for a recursive function, and one for a function that also ends a stack" {
	{ stack s 0 e a; stack s 0 e b a; stack s 0 e a a; stack s 0 e 'a b'; stack s 0 e 'a!'; stack s 0 e b a; } >trace
	tfs-flame -f <trace | diff - <(printf '%s\n' 's;a 1' 's;a;a 1' 's;a;b 2' 's;a b 1' 's;a! 1')
	tfs-flame <trace >got.svg
	[ "$(grep -c '<title>a (4 stacks, 66.6%)' got.svg)" = 1 ]
	[ "$(grep -c '<title>a (1 stack, 16.6%)' got.svg)" = 1 ]
	[ "$(grep -c '<g>' got.svg)" = 7 ]
}

@test "tfs-flame: escapes hostile names, and the picture stays well-formed" {
	{ stack '<script>&"' 0 e "</title><x a='\"]]>" $'\x01\x02\x7f' $'caf\xc3\xa9' $'\xff\xc3\xed\xa0\x80' $'\xef\xbf\xbe' 'a;b 7' ''
		stack 'a;b' 1 e 'x&amp;y'; } >trace
	tfs-flame <trace >got.svg
	well_formed got.svg
	run -1 grep -c '<script\|<x ' got.svg
	grep -q "<title>&lt;/title&gt;&lt;x a=&apos;&quot;\]\]&gt; (1 stack" got.svg
	grep -qF $'caf\xc3\xa9 (1' got.svg
	grep -q '<title>???? *(1\|<title>?????* (1' got.svg
	[ "$(tfs-flame -f <trace | wc -l)" = 2 ]
	tfs-flame -f <trace | tail -n 1 | grep -q '^a:b;x&amp:y 1$'
}

@test "tfs-flame: shortens a name that does not fit with two dots, and leaves narrow frames empty" {
	for i in $(seq 60); do stack s 0 e "a_function_with_a_long_name_$i"; done | tfs-flame >got.svg
	[ "$(grep -c '<g>' got.svg)" = 62 ]
	[ "$(grep -c '></text></g>' got.svg)" = 60 ]
	for i in 1 2 3 4 5 6; do stack s 0 e "a_function_with_a_long_name_$i"; done | tfs-flame >got.svg
	[ "$(grep -c '>a_function_with_a_long_na..</text>\|>a_function_with_a_long_n..</text>' got.svg)" = 6 ]
}

@test "tfs-flame: reports losses in the picture, and on stderr with folded lines" {
	{ stacks; echo '# lost 12 events: 12 overwritten in a full buffer, 0 not written'; } >trace
	tfs-flame <trace | grep -q '>\# lost 12 events: 12 overwritten in a full buffer, 0 not written</text>$'
	run -0 --separate-stderr from trace tfs-flame -f
	[ "$stderr" = 'tfs-flame: # lost 12 events: 12 overwritten in a full buffer, 0 not written' ]
	[ "${#lines[@]}" = 2 ]
}

@test "tfs-flame: exits 1 without a picture if there is no stack" {
	stack sh 0 e a | head -n 1 >trace
	run -1 --separate-stderr from trace tfs-flame
	[ -z "$output$stderr" ]
	stack sh 0 e a | sed -n 2p >trace
	run -1 --separate-stderr from trace tfs-flame
	[ -z "$output$stderr" ]
	run -1 from /dev/null tfs-flame -f
	echo ' => a' >trace
	run -1 from trace tfs-flame -f
}

@test "tfs-flame: handles a hundred thousand stacks, deep stacks, lines of megabytes and cut lines" {
	n=100000 # each function of a tenth would be wide enough to be drawn
	awk -v n="$n" 'BEGIN { for (i = 0; i < n; i++)
		printf "%16s-1       [000] ..... 1.5: <stack trace>\n => f%d\n => g%d\n", "x", i, i % 100 }' >many
	tfs-flame -f <many >got
	[ "$(wc -l <got)" = "$n" ]
	tfs-flame <many >got.svg
	[ "$(grep -c '<title>g[0-9]* ('$((n / 100))' stacks, 1.0%)' got.svg)" = 100 ]
	[ "$(wc -c <got.svg)" -lt 200000 ]
	{ stack s 0 e a; seq 20000 | sed 's/^/ => f/'; stack s 0 e "$(head -c 100000 /dev/zero | tr '\0' '<')"
		stack s 0 e b | tr -d '\n'; } >trace
	tfs-flame <trace >got.svg
	well_formed got.svg
	tfs-flame -f <trace | cut -c 1-20 | diff - <(printf '%s\n' 's;<<<<<<<<<<<<<<<<<<' 's;f20000;f19999;f199')
	{ stacks | awk '{ for (i = 1; i <= length($0); i++) print substr($0, 1, i) }'; stacks; } | tfs-flame >got.svg
	well_formed got.svg
	stack sh 0 e a b | tr ab 'a\000' | tfs-flame >got.svg
	well_formed got.svg
}

@test "tfs-flame: kernel: prints five stacks for five forks" {
	need_tracefs options/stacktrace
	calls 10 1 5
	start_session trace_event --output fifo --pid "$CALLS" -e sched_process_fork --stack
	read_by cat >got
	release
	session_ends
	finishes "$READER" 0
	tfs-flame -f -k event <got >folded
	cat folded
	[ "$(awk '{ n += $NF } END { print n }' folded)" = 5 ]
	[ "$(grep -vc '^sched_process_fork;.*\(_fork\|_clone\)' folded)" = 0 ]
	tfs-flame <got | grep -q '>5 stacks</text>$'
}

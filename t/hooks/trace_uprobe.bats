#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# trace_uprobe: functions and USDT probes of programs; exact counts and fields

load ../helper
load ../hooks

# bats test_tags=quick
@test "trace_uprobe: records each call of a function, with its arguments" {
	uses uprobe_events
	act functions 25
	traced trace_uprobe --binary "$acts" --symbol acts_work --arg 'i=$arg1:s32' 'word=+0($arg2):string'
	[ "$(lines ': acts_work: (0x[0-9a-f]*) i=[0-9]* word="word"$')" = 25 ]
	[ "$(lines ' i=24 ')" = 1 ]
	[ "$(grep -vc '^#' got)" = 25 ]
}

@test "trace_uprobe: prints (fault) for a string that cannot be read, as the kernel does" {
	uses uprobe_events
	act functions 3
	traced trace_uprobe --binary "$acts" --symbol acts_work --arg 'bad=+0($arg1):ustring' 'word=+0($arg2):ustring'
	[ "$(lines ': acts_work: (0x[0-9a-f]*) bad=(fault) word="word"$')" = 3 ]
}

# Skip unless the kernel can probe returns of programs.
uses_returns() {
	uses uprobe_events
	[[ $(uname -m) != arm* ]] || skip "needs returns of programs, which end them on 32-bit ARM"
}

@test "trace_uprobe: --return is refused on 32-bit ARM, where it would end the program" {
	uses uprobe_events
	[[ $(uname -m) == arm* ]] || skip "needs a 32-bit ARM"
	refuses trace_uprobe 111 "acts_work: a return to Thumb code would end the program, so returns of programs are not probed on 32-bit ARM" \
		--pid $$ --binary "$acts" --symbol acts_work --return
}

@test "trace_uprobe: --return prints the return value, and --filter passes the calls for which it holds" {
	uses_returns
	act functions 25
	traced trace_uprobe --binary "$acts" --symbol acts_work --return --filter "'ret > 39'"
	[ "$(lines ': acts_work: (0x[0-9a-f]* <- 0x[0-9a-f]*) ret=4[13579]$')" = 5 ]
	[ "$(grep -vc '^#' got)" = 5 ]
}

@test "trace_uprobe: --return prints an int, or the type that --arg names" {
	uses_returns
	act functions 2
	traced trace_uprobe --binary "$acts" --symbol acts_work --return --arg 'ret=$retval:x8'
	[ "$(lines ' ret=0x[13]$')" = 2 ]
}

# slept NAME LEAST: Fail unless each line of NAME in got has a lat of at least LEAST us, and
# a call around others took longer than those.
slept() {
	# shellcheck disable=SC2016 # awk
	run -0 --separate-stderr awk -v name=": $1: " -v least="$2" '
		!/^#/ && index($0, name) {
			match($0, / i=[0-9]*/)
			i = substr($0, RSTART + 3, RLENGTH - 3)
			match($0, / lat=[0-9]*$/)
			lat = RLENGTH < 0 ? -1 : substr($0, RSTART + 5, RLENGTH - 5)
			if (lat + 0 < least * (i + 1) || (i + 0 && lat + 0 < before + least))
				print
			before = lat
		}' got
	[ -z "$output" ]
}

@test "trace_uprobe: --latency prints the time from call to return, nested, with arguments and result" {
	uses_returns
	act sleeps 5 2
	traced trace_uprobe --binary "$acts" --symbol acts_sleep --latency --arg 'i=$arg1:s32'
	for i in 0 1 2; do
		[ "$(lines ": acts_sleep: (0x[0-9a-f]* <- 0x[0-9a-f]*) ret=$((10 + i)) i=$i lat=[0-9]*$")" = 5 ]
	done
	file_has 15 got
	slept acts_sleep 1000
	act functions 3
	traced trace_uprobe --binary "$acts" --symbol acts_work --latency \
		--arg 'word=+0($arg2):string' 'ret=$retval:x8' '$arg1:s32'
	[ "$(lines ': acts_work: (0x[0-9a-f]* <- 0x[0-9a-f]*) ret=0x[135] word=word arg3=[0-2] lat=[0-9]*$')" = 3 ]
	file_has 3 got
}

@test "trace_uprobe: --latency with --output dat keeps both events, and tfs-latency -f pairs them" {
	uses_returns
	act sleeps 2 0
	session_whole trace_uprobe --output dat --pid "$ACT" --binary "$acts" --symbol acts_sleep --latency
	tfs-report "$TRACE" | grep -v '^#' >got
	tfs-report "$TRACE" | tfs-latency -f _entry >paired
	rm -r "${TRACE%/*}"
	[ "$(lines ': acts_sleep_entry: ')" = 2 ]
	[ "$(lines ': acts_sleep: ')" = 2 ]
	[ "$(grep -c ': acts_sleep: .* lat=' paired)" = 2 ]
}

@test "trace_uprobe: arguments at a return, and a filter with --latency, are refused" {
	uses uprobe_events
	refuses trace_uprobe 100 'a return has no $arg; give --latency to record arguments at the call' \
		--pid $$ --binary "$acts" --symbol acts_work --return --arg 'i=$arg1'
	for option in '--filter ret' --stack; do
		# shellcheck disable=SC2086 # words
		refuses trace_uprobe 100 '--latency cannot be combined with --filter and --stack' \
			--pid $$ --binary "$acts" --symbol acts_work --latency $option
	done
}

# both SESSION-WORDS: Record acts_work, called 5 times by acts_often and 3 times by acts_rarely,
# into got. The program lives until the trace has been read.
both() {
	uses uprobe_events
	[ "$(uname -m)" != riscv64 ] || skip "needs stacks, in which Linux 6.12 hangs on riscv64"
	act callers 5 3
	watch trace_uprobe --pid "$ACT" --binary "$acts" --symbol acts_work "$@"
	release
}

# consumed N: Has the session read so many events?
consumed() {
	cat "$TRACEFS/instances/tfs.$MARK"/per_cpu/cpu*/stats |
		awk -v least="$1" '/^read events: / { n += $3 } END { exit n < least }'
}

need_user_stacks() {
	[[ $(uname -m) == @(x86_64|i?86|riscv64) ]] || skip "needs CONFIG_USER_STACKTRACE_SUPPORT"
}

# Stacks that a BPF program records are not among the events that the kernel counts.
by_kernel() {
	[ ! -e /sys/kernel/btf/vmlinux ] || [[ $(uname -m) != @(x86_64|aarch64) ]]
}

# both_end N: End the session when it has read N events, and then the program.
both_end() {
	eventually consumed "$1"
	watch_stop
	echo >"$GO"
	finishes "$ACT" 0
	no_probes
	head -n 20 got # for a test that fails
}

@test "trace_uprobe: --stack prints the program's stack below each call, with functions and the caller" {
	need_user_stacks
	both --stack
	both_end "$(by_kernel && echo 16 || echo 8)"
	[ "$(lines ': acts_work: (0x[0-9a-f]*) parent_ip=0x[0-9a-f]* caller=acts_often$')" = 5 ]
	[ "$(lines ': acts_work: (0x[0-9a-f]*) parent_ip=0x[0-9a-f]* caller=acts_rarely$')" = 3 ]
	[ "$(lines '<user stack trace>')" = 8 ]
	[ "$(lines "^ => acts_work+0x[0-9a-f]* ($acts)$")" = 8 ]
	[ "$(lines "^ => acts_often+0x[0-9a-f]* ($acts)$")" = 5 ]
	[ "$(lines "^ => acts_rarely+0x[0-9a-f]* ($acts)$")" = 3 ]
	[ "$(uname -m)" != x86_64 ] || [ "$(lines "^ => main+0x[0-9a-f]* ($acts)$")" = 8 ]
	tfs-flame -f <got >folded
	grep -q '^acts;.*acts_often;acts_work 5$' folded
	grep -q '^acts;.*acts_rarely;acts_work 3$' folded
}

@test "trace_uprobe: --stack --json has the functions of the stack, and each call has its caller" {
	need_user_stacks
	both --stack --json
	both_end "$(by_kernel && echo 16 || echo 8)"
	[ "$(lines '"event":"acts_work","fields":{.*,"parent_ip":[0-9]*,"caller":"acts_often"}}$')" = 5 ]
	[ "$(lines '"event":"acts_work","fields":{.*,"parent_ip":[0-9]*,"caller":"acts_rarely"}}$')" = 3 ]
	if by_kernel; then
		[ "$(lines '"event":"user_stack","fields":{"tgid":[0-9]*,"caller":\["0x')" = 8 ]
	else
		[ "$(lines '"event":"user_stack","fields":{"of":[0-9]*,"frames":\["acts_work+0x0 ')" = 8 ]
	fi
}

@test "trace_uprobe: --top counts the calls by caller, and prints the most frequent" {
	both --top 1
	both_end 8
	echo '      5 acts_often' | diff - got
}

@test "trace_uprobe: --top of several functions counts each pair of caller and function" {
	uses uprobe_events
	act callers 2 7
	watch trace_uprobe --pid "$ACT" --binary "$acts" \
		--symbol acts_work acts_ask --arg 'i=$arg1:s32' 'text=+0($arg2):string' --top 4
	release
	both_end 18
	printf '%s\t%s\n' '      7 acts_rarely' acts_ask '      7 acts_rarely' acts_work \
		'      2 acts_often' acts_ask '      2 acts_often' acts_work | diff - got
}

@test "trace_uprobe: --top cannot be combined with --usdt, --return and --latency" {
	uses uprobe_events
	for words in '--usdt acts:two' '--symbol acts_work --return' '--symbol acts_work --latency'; do
		# shellcheck disable=SC2086 # words
		refuses trace_uprobe 100 '--top cannot be combined with --usdt, --return and --latency' \
			--pid $$ --binary "$acts" --top 3 $words
	done
}

@test "trace_uprobe: --usdt records each pass of a USDT probe, whose semaphore is set only meanwhile" {
	uses uprobe_events
	act usdt 7
	traced trace_uprobe --binary "$acts" --usdt acts:pass acts:two acts:seen
	[ "$(tail -n 1 ready)" = 'seen 7' ]
	for event in pass two two_2 seen; do
		[ "$(lines ": $event: (0x[0-9a-f]*)")" = 7 ]
	done
	[ "$(grep -vc '^#' got)" = 28 ]
	if [ "$(uname -m)" = x86_64 ]; then
		for i in 0 -1 -2 -3 -4 -5 -6; do
			[ "$(lines ": pass: (0x[0-9a-f]*) arg1=${i#-} arg2=[0-9]* arg3=$i arg4=-7$")" = 1 ]
			[ "$(lines ": seen: (0x[0-9a-f]*) arg1=${i#-}$")" = 1 ]
		done
		act usdt 7
		traced trace_uprobe --binary "$acts" --usdt acts:pass --arg 'word=+0(%si):string' \
			--filter "'arg1 > 4'"
		[ "$(lines ': pass: (0x[0-9a-f]*) arg1=[56] arg2=.* word="word"$')" = 2 ]
		[ "$(grep -vc '^#' got)" = 2 ]
	fi
	# after the session the semaphore is 0 again, in a process that lives on
	act usdt 5
	start_session trace_uprobe --output fifo --pid "$ACT" --binary "$acts" --usdt acts:seen
	stop_session
	no_probes
	release "$ACT"
	[ "$(tail -n 1 ready)" = 'seen 0' ]
}

@test "trace_uprobe: --usdt refuses an unknown probe, an invalid name, and options about functions" {
	uses uprobe_events
	refuses trace_uprobe 111 "$acts has no USDT probe 'acts:tow'; did you mean acts:two?" \
		--pid $$ --binary "$acts" --usdt acts:tow
	for name in two : acts: :two acts:two:x 'acts:t*' acts:1; do
		refuses trace_uprobe 100 "'$name' is not the name of a USDT probe; give PROVIDER:NAME" \
			--pid $$ --binary "$acts" --usdt "'$name'"
	done
	for option in '--symbol x' --return --latency; do
		# shellcheck disable=SC2086 # words
		refuses trace_uprobe 100 '--usdt cannot be combined with --symbol, --return and --latency' \
			--pid $$ --binary "$acts" --usdt acts:two $option
	done
}

@test "trace_uprobe: reports an unknown function and an invalid program on one line" {
	uses uprobe_events
	refuses trace_uprobe 100 'no function is named; give --binary, and --symbol or --usdt' --pid $$ --symbol x
	refuses trace_uprobe 100 "'*' is not the name of a function" --pid $$ --binary "$acts" --symbol "'*'"
	refuses trace_uprobe 111 "$acts has no function 'acts_wrok'; did you mean acts_work, acts_worker?" \
		--pid $$ --binary "$acts" --symbol acts_work acts_wrok
	refuses trace_uprobe 100 "no program or library is called './acts'; give a file by its absolute path" \
		--pid $$ --binary ./acts --symbol main
	refuses trace_uprobe 100 "no program or library is called 'a b'; give a file by its absolute path" \
		--pid $$ --binary "'a b'" --symbol main
	for word in '$(touch evil)' '`touch evil`' ';touch evil' '-x' '*'; do
		run ! "$MANAGER" --run trace_uprobe --args \
			"--instance $MARK --pid $$ --binary '$word' --symbol '$word' --arg '$word'"
		nothing_left
	done
	[ ! -e evil ]
}

# place: Print the files of the session's probes.
place() {
	tfs-probe -g "$(group)" list | sed -n 's|^p:[^ ]* \(.*\):0x[0-9a-f]*$|\1|p'
}

@test "trace_uprobe: finds a library by its short name where a task has mapped it" {
	uses uprobe_events
	need_tool flock
	mkfifo hold
	background flock there cat hold # is dynamically linked, and ends by exit
	holds() { grep -q ' r.xp .*/libc[.-].*so' "/proc/$PID/maps" && [ -n "$(children "$PID")" ]; }
	eventually holds || skip "needs a dynamically linked program"
	flock=$PID
	for name in libc libc.so.6; do
		start_session trace_uprobe --output fifo --pid "$flock" --binary "$name" --symbol exit
		[ "$(place)" = "$(sed -n 's,.* r.xp .* \(/.*/libc[.-].*so.*\),\1,p' "/proc/$flock/maps" | head -n 1)" ]
		if [ "$name" = libc ]; then
			stop_session
			continue
		fi
		read_by cat >got
		: >hold
		watch_end
		[ "$(lines "flock-$flock .*: exit: (0x[0-9a-f]*)$")" = 1 ]
	done
}

@test "trace_uprobe: traces the library that a task has mapped, not another one of its path" {
	uses uprobe_events
	need_tool gcc
	# in a root of its own, where its path is another file's, or no file's
	mkdir -p jail/"$PWD"/jail/lib jail/lib
	printf '%s\n' 'int main(void) { return 0; }' | gcc -o other -x c -
	printf '%s\n' 'void probed(void) { }' | gcc -shared -fPIC -o jail/lib/libjail.so -x c -
	cat >in.c <<-'END'
		#include <fcntl.h>
		#include <sys/mman.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			char c;

			return argc < 3 || chroot(argv[1]) < 0 ||
			       mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE,
				    open(argv[2], O_RDONLY), 0) == MAP_FAILED ||
			       read(0, &c, 1) < 0;
		}
	END
	gcc -o in in.c
	mkfifo hold
	cp other jail/"$PWD"/jail/lib/libjail.so
	background sh -c './in jail /lib/libjail.so <hold'
	exec 8>hold
	mapped() { program=$(children "$PID" | head -n 1); grep -q 'r-xp.*libjail' "/proc/${program:-$PID}/maps"; }
	eventually mapped
	start_session trace_uprobe --output fifo --pid "${program:-$PID}" --binary libjail --symbol probed
	[ "$(place)" = "$PWD/jail/lib/libjail.so" ]
	stop_session
	exec 8>&-
	finishes "$PID" 0
}

@test "trace_uprobe: refuses a library whose path the kernel would cut into another place" {
	uses uprobe_events
	need_tool gcc
	printf '%s\n' 'void malloc(void) { }' | gcc -w -ffreestanding -shared -fPIC -o lib.so -x c -
	for path in 'z:16#' 'z:16(32)#' 'z x' 'z:16 x=+0(%di)'; do
		mkdir "$path"
		cp lib.so "$path/libodd.so"
		refuses trace_uprobe 111 "malloc: the path '$PWD/$path/libodd.so' has $(case $path in
			*#) echo "'#'" ;;
			*) echo 'a space' ;;
			esac), where the kernel would cut it; give a link to the file that has none" \
			--pid $$ --binary "'$PWD/$path/libodd.so'" --symbol malloc
	done
	# a value of several words is refused before anything exists
	exits 100 "$MANAGER" --run trace_uprobe --args "--instance $MARK --pid $$ --binary $acts --symbol acts_work --arg 'x=%di y=%si'"
	[ "$(cat err)" = "manager: fatal: --arg: 'x=%di y=%si' has a space, which would make it two values; give each value as a word" ]
}

@test "trace_uprobe: finds a library by its name in the system's directories" {
	uses uprobe_events
	[ -e "/lib/$(uname -m)-linux-gnu/libm.so.6" ] || skip "needs libm.so.6"
	act functions 1 # has not mapped it
	start_session trace_uprobe --output fifo --pid "$ACT" --binary libm --symbol frexp
	[ "$(place)" = "/lib/$(uname -m)-linux-gnu/libm.so.6" ]
	stop_session
	for name in lib 'l*' libm.so.5 ..; do
		for tasks in "--pid $$" --all; do
			# shellcheck disable=SC2086 # words
			refuses trace_uprobe 100 "no program or library is called '$name'; give a file by its absolute path" \
				$tasks --binary "'$name'" --symbol x
		done
	done
}

@test "trace_uprobe: shows the kernel's reason and caret for a refused argument" {
	uses uprobe_events
	exits 111 "$MANAGER" --run trace_uprobe --args "--instance $MARK --pid $$ --binary $acts --symbol acts_work --arg x=nonsense"
	[ ! -s out ]
	[[ $(head -n 1 err) == "manager: fatal: unable to write 'p:$(group)/acts_work $acts:"*", the kernel says: "* ]]
	[[ $(sed -n 3p err) =~ ^\ +\^$ ]]
	file_has 3 err
	nothing_left
	no_probes
}

@test "trace_uprobe: if a string does not fit into a page, prints the call without it" {
	uses uprobe_events
	act functions 5 "$(big 3900)"
	traced trace_uprobe --binary "$acts" --symbol acts_work --arg 'i=$arg1:s32' 'word=+0($arg2):string'
	[ "$(lines ": acts_work: (0x[0-9a-f]*) i=[0-4] word=\"$(big 3900)\"$")" = 5 ]
	[ "$(grep -vc '^#' got)" = 5 ]
	# beyond a page the kernel would write a warning to its log
	act functions 5 "$(big 4080)"
	traced trace_uprobe --binary "$acts" --symbol acts_work --arg 'i=$arg1:s32' 'word=+0($arg2):string' \
		'copy=$arg1:s32'
	[ "$(lines ': acts_work_long: (0x[0-9a-f]*) i=\([0-4]\) copy=\1$')" = 5 ]
	[ "$(grep -vc '^#' got)" = 5 ]
	act functions 5 "$(big 4080)"
	traced trace_uprobe --binary "$acts" --symbol acts_work --arg 'i=$arg1:s32' 'word=+0($arg2):string' \
		--filter "'i > 1'"
	[ "$(lines ': acts_work_long: (0x[0-9a-f]*) i=[2-4]$')" = 3 ]
	[ "$(grep -vc '^#' got)" = 3 ]
	act functions 5 "$(big 4080)"
	traced trace_uprobe --binary "$acts" --symbol acts_work --arg 'word=+0($arg2):string'
	[ "$(lines ': acts_work_long: (0x[0-9a-f]*)$')" = 5 ]
	[ "$(grep -vc '^#' got)" = 5 ]
}

@test "trace_uprobe: a filter on a string passes only matching calls, and no call whose string is missing" {
	uses uprobe_events
	for word in word "$(big 4080)"; do
		act functions 5 "$word"
		traced trace_uprobe --binary "$acts" --symbol acts_work \
			--arg 'i=$arg1:s32' 'word=+0($arg2):string' --filter "'word == \"word\" && i > 1'"
		n=0
		[ "$word" != word ] || n=3
		[ "$(lines ': acts_work: (0x[0-9a-f]*) i=[2-4] word="word"$')" = "$n" ]
		[ "$(grep -vc '^#' got)" = "$n" ]
	done
}

@test "trace_uprobe: --output lines and file leave out the second event, and --output dat keeps it" {
	uses uprobe_events
	for output in lines file dat; do
		act functions 5
		start_session trace_uprobe --output "$output" --pid "$ACT" --binary "$acts" \
			--symbol acts_work --arg 'word=+0($arg2):string'
		if [ "$output" = lines ]; then
			read_by cat >got
			release
			watch_end
		else
			release
			session_ends
			cp "$TRACE" got
			[ "$output" = file ] || tfs-report "$TRACE" >got
			rm -r "${TRACE%/*}"
		fi
		n=0
		[ "$output" != dat ] || n=5
		[ "$(lines ': acts_work: ')" = 5 ]
		[ "$(lines ': acts_work_long: ')" = "$n" ]
	done
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034 # words as they are; each test is a process of its own
# trace_uprobe and others: exact counts and fields; the probes end with their session

load ../helper

undo() {
	[ -e "$TRACEFS/dynamic_events" ] || return 0
	run ! grep -E ":(tfs_t$$_m[^/]*|own_${MARK//-/_})/" "$TRACEFS/dynamic_events"
	[ -z "$output" ] || { tfs-probe -g "own_${MARK//-/_}" remove; return 1; }
}

# group [SUFFIX]: Print the group of the session $MARK and SUFFIX.
group() {
	local name=$MARK${1-}
	name=${name//_/__} name=${name//./_d}
	echo "tfs_${name//-/_m}"
}

# probes GROUP: Print the number of the kernel's lines for GROUP.
probes() {
	grep -c "^[^:]*:$1/" "$TRACEFS/dynamic_events" || :
}

no_probes() {
	[ "$(probes "$(group "${1-}")")" = 0 ]
}

lines() {
	grep -c "$1" got || :
}

# traced HOOK WORDS: Run a session of the held $ACT, release it, and read the trace to its
# end into got.
traced() {
	start_session "$1" --output fifo --pid "$ACT" "${@:2}"
	read_by cat >got
	release
	session_ends
	finishes "$READER" 0
	no_probes
	head -n 20 got # for a test that fails
}

# refuses LINE HOOK WORDS: Fail unless LINE is printed first, and nothing begins.
refuses() {
	local status=0
	"$MANAGER" --run "$2" --args "--instance $MARK --pid $$ ${*:3}" >out 2>err || status=$?
	case $1 in # refused because of the caller, or because of the system
	'no function is named'* | "'"*"is not the name of a function"* | 'no program'* | --words* | --latency* | --usdt* | "'"*"is not the name of a USDT"* | --top* | 'a return has'*)
		[ "$status" = 100 ] || status=0
		;;
	*) [ "$status" = 111 ] || status=0 ;;
	esac
	if [ "$status" = 0 ] || [ -s out ] || [ "$(head -n 1 err)" != "manager: fatal: $1" ]; then
		echo "status $status"
		cat out err
		return 1
	fi
	nothing_left
	no_probes
}

# second_session HOOK WORDS: Start the session ${MARK}b, whose trace is at $TRACE.
second_session() {
	: >out
	background "$MANAGER" --run "$1" --args "--instance ${MARK}b ${*:2}" >out 2>err
	SESSION=$PID
	eventually path_or_error
	[ ! -s err ] || { cat err; return 1; }
	TRACE=$(cat out)
}

uses() { # FILE of tracefs: run a program of our own, which has symbols
	need_tracefs "$1"
	[ "$1" != kprobe_events ] || need_entry_probes
	acts=$PROG/acts
	: >there
}

# ---- probes of a session ---------------------------------------------------------------------

@test "manager: the probes of a session are in a group named after it, and end with it" {
	uses uprobe_events
	act functions 3
	start_session trace_uprobe --output fifo --pid "$ACT" --binary "$acts" --symbol acts_work acts_worker
	[ "$(probes "$(group)")" = 2 ]
	[ -d "$TRACEFS/instances/tfs.$MARK/events/$(group)/acts_work" ]
	stop_session
	no_probes
}

@test "manager: session names with dots, dashes and underscores, and of any length, have groups of their own" {
	uses uprobe_events
	own_tree
	long=$(printf 'x%.0s' {1..50})
	make_hook names <<-'END'
		# description: which group
		echo "$TFS_GROUP" >&2
		exit 1
	END
	for name in a.b a-b a_b a__b a_db a_mb a "${long}1" "${long}-2" "${long}.2" "${long}_2"; do
		"$MANAGER" --run names --args "--instance $MARK$name --pid $$" 2>>groups || :
	done
	file_has 11 groups
	[ "$(sort -u groups | wc -l)" = 11 ]
	run ! grep -Ev '^manager: fatal: tfs_[A-Za-z0-9_]{1,59}$' groups
}

@test "manager: two sessions at once do not see each other's probes, and each ends alone" {
	uses uprobe_events
	act functions 20
	one=$ACT one_go=$GO
	start_session trace_uprobe --output fifo --pid "$one" --binary "$acts" --symbol acts_work
	read_by cat >got.one
	one_session=$SESSION one_reader=$READER
	act functions 30
	second_session trace_uprobe --output fifo --pid "$ACT" --binary "$acts" --symbol acts_work
	read_by cat >got
	echo >"$one_go"
	release
	finishes "$SESSION" 0
	finishes "$READER" 0
	no_probes b
	finishes "$one_session" 0
	finishes "$one_reader" 0
	[ "$(lines ': acts_work: ')" = 30 ]
	[ "$(grep -c ': acts_work: ' got.one)" = 20 ]
	[ "$(grep -vc '^#' got.one)" = 20 ]
	no_probes
}

@test "manager: events in a session's buffer stay when another session's probes end" {
	uses uprobe_events
	act functions 20
	one=$ACT one_go=$GO
	start_session trace_uprobe --output fifo --pid "$one" $$ --binary "$acts" --symbol acts_work
	one_session=$SESSION one_trace=$TRACE
	echo >"$one_go" # no reader exists yet
	eventually gone "$one"
	act functions 30
	second_session trace_uprobe --output fifo --pid "$ACT" --binary "$acts" --symbol acts_work
	kill -INT "$SESSION"
	finishes "$SESSION" 0
	no_probes b
	TRACE=$one_trace
	read_by cat >got
	kill -INT "$one_session"
	finishes "$one_session" 0
	finishes "$READER" 0
	[ "$(lines ': acts_work: ')" = 20 ]
}

# This test is alone because any other session would remove the probes first.
# bats test_tags=alone
@test "manager: the next --run removes the probes of a session that was killed with its janitor" {
	uses uprobe_events
	act functions 1
	start_session trace_uprobe --output fifo --pid "$ACT" --binary "$acts" --symbol acts_work
	janitor=$(children "$SESSION" | head -n 1)
	kill -KILL "$janitor" "$SESSION"
	wait "$SESSION" || :
	[ "$(probes "$(group)")" = 1 ]
	"$MANAGER" --run trace_event --args "--instance ${MARK}b --pid $ACT -t 1 -e sched_process_exit" >/dev/null
	no_probes
	nothing_left
}

@test "manager: --clear removes the probes of stale sessions, and no others" {
	uses uprobe_events
	act functions 1
	mine=own_${MARK//-/_}
	tfs-probe -g "$mine" add keep "p $acts:acts_work"
	start_session trace_uprobe --output fifo --pid "$ACT" --binary "$acts" --symbol acts_work
	janitor=$(children "$SESSION" | head -n 1)
	kill -KILL "$janitor" "$SESSION"
	wait "$SESSION" || :
	# and those whose instance is gone
	tfs-probe -g "$(group x)" add orphan "p $acts:acts_work"
	"$MANAGER" --clear
	[ "$(probes "$mine")" = 1 ]
	tfs-probe -g "$mine" remove
	no_probes
	no_probes x
	nothing_left
}

@test "manager: removes its probes even if another program enabled them" {
	uses uprobe_events
	new_instance -else
	act functions 1
	start_session trace_uprobe --output fifo --pid "$ACT" --binary "$acts" --symbol acts_work
	tfs-write -i "$INSTANCE" "events/$(group)/enable" 1
	stop_session
	no_probes
}

@test "manager: a hook that is killed between two probes leaves none behind" {
	uses uprobe_events
	own_tree
	make_hook half <<-END
		# description: is stopped in the middle
		tfs-probe add first 'p $acts:acts_work'
		kill -KILL \$\$
	END
	refuses 'half: the hook failed with status 137' half
}

# ---- trace_uprobe --------------------------------------------------------------------------

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
	refuses "acts_work: a return to Thumb code would end the program, so returns of programs are not probed on 32-bit ARM" \
		trace_uprobe --binary "$acts" --symbol acts_work --return
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
	start_session trace_uprobe --output dat --pid "$ACT" --binary "$acts" --symbol acts_sleep --latency
	release
	session_ends
	tfs-report "$TRACE" | grep -v '^#' >got
	tfs-report "$TRACE" | tfs-latency -f _entry >paired
	rm -r "${TRACE%/*}"
	[ "$(lines ': acts_sleep_entry: ')" = 2 ]
	[ "$(lines ': acts_sleep: ')" = 2 ]
	[ "$(grep -c ': acts_sleep: .* lat=' paired)" = 2 ]
}

@test "trace_uprobe: arguments at a return, and a filter with --latency, are refused" {
	uses uprobe_events
	refuses 'a return has no $arg; give --latency to record arguments at the call' \
		trace_uprobe --binary "$acts" --symbol acts_work --return --arg 'i=$arg1'
	for option in '--filter ret' --stack; do
		# shellcheck disable=SC2086 # words
		refuses '--latency excludes --filter and --stack' \
			trace_uprobe --binary "$acts" --symbol acts_work --latency $option
	done
	[[ $(uname -m) != arm* ]] || return 0
	refuses "two probes have the name 'acts_work'; give each its own name" \
		trace_uprobe --binary "$acts" --symbol acts_work acts_work
}

# both SESSION-WORDS: Record acts_work, called 5 times by acts_often and 3 times by acts_rarely,
# into got. The program lives until the trace has been read.
both() {
	uses uprobe_events
	[ "$(uname -m)" != riscv64 ] || skip "needs stacks, in which Linux 6.12 hangs on riscv64"
	act callers 5 3
	start_session trace_uprobe --output fifo --pid "$ACT" --binary "$acts" --symbol acts_work "$@"
	read_by cat >got
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

# both_end N: End the session when it has read N events, and then the program.
both_end() {
	eventually consumed "$1"
	stop_session
	finishes "$READER" 0
	echo >"$GO"
	finishes "$ACT" 0
	no_probes
	head -n 20 got # for a test that fails
}

@test "trace_uprobe: --stack prints the program's stack below each call, with functions and the caller" {
	need_user_stacks
	both --stack
	both_end 16
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

@test "trace_uprobe: --stack --json keeps addresses, and each call has its caller" {
	need_user_stacks
	both --stack --json
	both_end 16
	[ "$(lines '"event":"acts_work","fields":{.*,"parent_ip":[0-9]*,"caller":"acts_often"}}$')" = 5 ]
	[ "$(lines '"event":"acts_work","fields":{.*,"parent_ip":[0-9]*,"caller":"acts_rarely"}}$')" = 3 ]
	[ "$(lines '"event":"user_stack","fields":{"tgid":[0-9]*,"caller":\["0x')" = 8 ]
}

@test "trace_uprobe: --top counts the calls by caller, and prints the most frequent" {
	both --top 1
	both_end 8
	echo '      5 acts_often' | diff - got
}

@test "trace_uprobe: --top of several functions counts each pair of caller and function" {
	uses uprobe_events
	act callers 2 7
	start_session trace_uprobe --output fifo --pid "$ACT" --binary "$acts" \
		--symbol acts_work acts_ask --arg 'i=$arg1:s32' 'text=+0($arg2):string' --top 4
	read_by cat >got
	release
	both_end 18
	printf '%s\t%s\n' '      7 acts_rarely' acts_ask '      7 acts_rarely' acts_work \
		'      2 acts_often' acts_ask '      2 acts_often' acts_work | diff - got
}

@test "trace_uprobe: --top excludes --usdt, --return and --latency" {
	uses uprobe_events
	for words in '--usdt acts:two' '--symbol acts_work --return' '--symbol acts_work --latency'; do
		# shellcheck disable=SC2086 # words
		refuses '--top excludes --usdt, --return and --latency' \
			trace_uprobe --binary "$acts" --top 3 $words
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
	release
	finishes "$ACT" 0
	[ "$(tail -n 1 ready)" = 'seen 0' ]
}

@test "trace_uprobe: --usdt refuses an unknown probe, an invalid name, and options about functions" {
	uses uprobe_events
	refuses "$acts has no USDT probe 'acts:tow'; did you mean acts:two?" \
		trace_uprobe --binary "$acts" --usdt acts:tow
	for name in two : acts: :two acts:two:x 'acts:t*' acts:1; do
		refuses "'$name' is not the name of a USDT probe; give PROVIDER:NAME" \
			trace_uprobe --binary "$acts" --usdt "'$name'"
	done
	for option in '--symbol x' --return --latency; do
		# shellcheck disable=SC2086 # words
		refuses '--usdt excludes --symbol, --return and --latency' \
			trace_uprobe --binary "$acts" --usdt acts:two $option
	done
}

@test "trace_uprobe: reports an unknown function and an invalid program on one line" {
	uses uprobe_events
	refuses 'no function is named; give --binary, and --symbol or --usdt' trace_uprobe --symbol x
	refuses "'*' is not the name of a function" trace_uprobe --binary "$acts" --symbol "'*'"
	refuses "$acts has no function 'acts_wrok'; did you mean acts_work, acts_worker?" \
		trace_uprobe --binary "$acts" --symbol acts_work acts_wrok
	file_has 1 err
	refuses "no program or library is called './acts'; give a file by its absolute path" \
		trace_uprobe --binary ./acts --symbol main
	refuses "no program or library is called 'a b'; give a file by its absolute path" \
		trace_uprobe --binary "'a b'" --symbol main
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
		session_ends
		finishes "$READER" 0
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
		refuses "malloc: the path '$PWD/$path/libodd.so' has $(case $path in
			*#) echo "'#'" ;;
			*) echo 'a blank' ;;
			esac), where the kernel would cut it; give a link to the file that has none" \
			trace_uprobe --binary "'$PWD/$path/libodd.so'" --symbol malloc
	done
	# a value of several words is refused before anything exists
	status=0
	"$MANAGER" --run trace_uprobe --args "--instance $MARK --pid $$ --binary $acts --symbol acts_work --arg 'x=%di y=%si'" 2>err >out || status=$?
	[ "$status" = 100 ]
	[ "$(cat err)" = "manager: fatal: --arg: 'x=%di y=%si' has a blank, which would make it two values; give each value as a word" ]
	nothing_left
}

@test "trace_uprobe: finds a library by its name in the system's directories" {
	uses uprobe_events
	[ -e "/lib/$(uname -m)-linux-gnu/libm.so.6" ] || skip "needs libm.so.6"
	act functions 1 # has not mapped it
	start_session trace_uprobe --output fifo --pid "$ACT" --binary libm --symbol frexp
	[ "$(place)" = "/lib/$(uname -m)-linux-gnu/libm.so.6" ]
	stop_session
	for name in lib 'l*' libm.so.5 ..; do
		refuses "no program or library is called '$name'; give a file by its absolute path" \
			trace_uprobe --binary "'$name'" --symbol x
	done
}

@test "trace_uprobe: shows the kernel's reason and caret for a refused argument" {
	uses uprobe_events
	status=0
	"$MANAGER" --run trace_uprobe --args "--instance $MARK --pid $$ --binary $acts --symbol acts_work --arg x=nonsense" \
		>out 2>err || status=$?
	[ "$status" = 111 ]
	[ ! -s out ]
	[[ $(head -n 1 err) == "manager: fatal: unable to write 'p:$(group)/acts_work $acts:"*", the kernel says: "* ]]
	[[ $(sed -n 3p err) =~ ^\ +\^$ ]]
	file_has 3 err
	nothing_left
	no_probes
}

# big N: Print a word of N letters.
big() {
	printf "%0$1d" 0
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
			session_ends
			finishes "$READER" 0
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

# ---- trace_kprobe --------------------------------------------------------------------------

# bats test_tags=quick,guest
@test "trace_kprobe: records each call of a kernel function, with its arguments, or its return" {
	uses kprobe_events
	act opens 12 8 "$PWD/there"
	traced trace_kprobe --function do_sys_openat2 --arg 'path=+0($arg2):ustring'
	[ "$(lines ': do_sys_openat2: (do_sys_openat2+0x[0-9a-f]/0x[0-9a-f]*) path="/nowhere/at all"$')" = 8 ]
	[ "$(grep -vc '^#' got)" = 20 ]
	act opens 12 8 "$PWD/there"
	traced trace_kprobe -k do_sys_openat2 --return --filter "'ret == -2'"
	[ "$(lines ': do_sys_openat2: ([^ ]*+0x[0-9a-f]*/0x[0-9a-f]* <- do_sys_openat2) ret=-2$')" = 8 ]
	[ "$(grep -vc '^#' got)" = 8 ]
}

# bats test_tags=guest
@test "trace_kprobe: --stack prints the kernel's stack below each call" {
	uses kprobe_events
	act opens 2 0 "$PWD/there"
	traced trace_kprobe -k do_sys_openat2 --stack
	[ "$(lines ': do_sys_openat2: ')" = 2 ]
	[ "$(lines '<stack trace>')" = 2 ]
}

# bats test_tags=guest
@test "trace_kprobe: if a string does not fit into a page, prints the call without it" {
	uses kprobe_events
	path=$(printf '/%.0s' {1..4080})
	act opens 3 2 "$path"
	traced trace_kprobe -k do_sys_openat2 --arg 'path=+0($arg2):ustring' 'dir=$arg1:s32'
	[ "$(lines ': do_sys_openat2_long: (do_sys_openat2+0x[0-9a-f]/0x[0-9a-f]*) dir=-100$')" = 3 ]
	[ "$(lines ': do_sys_openat2: .* path="/nowhere/at all" dir=-100$')" = 2 ]
	[ "$(grep -vc '^#' got)" = 5 ]
	# each call has its own stack and no other
	act opens 3 2 "$path"
	traced trace_kprobe -k do_sys_openat2 --arg 'path=+0($arg2):ustring' --stack
	[ "$(lines ': do_sys_openat2_long: ')" = 3 ]
	[ "$(lines ': do_sys_openat2: ')" = 2 ]
	[ "$(lines '<stack trace>')" = 5 ]
	grep -q 'return probes.*\$arg' "$TRACEFS/README" || return 0
	act opens 3 2 "$path"
	traced trace_kprobe -k do_sys_openat2 --return --arg 'path=+0($arg2):ustring'
	[ "$(lines ': do_sys_openat2_long: .* ret=[0-9]*$')" = 3 ]
	[ "$(lines ': do_sys_openat2: .* path="/nowhere/at all" ret=-2$')" = 2 ]
	[ "$(grep -vc '^#' got)" = 5 ]
}

# bats test_tags=guest
@test "trace_kprobe: records two functions at once that have a string among their arguments" {
	uses kprobe_events
	grep -q ' t do_filp_open$\| T do_filp_open$' /proc/kallsyms || skip "needs do_filp_open"
	act opens 3 2 "$PWD/there"
	traced trace_kprobe -k do_sys_openat2 do_filp_open --arg 'what=+0($arg2):ustring' 'x=$arg1:s32'
	[ "$(lines ': do_sys_openat2: .* what="[^"]*" x=-100$')" = 5 ]
	[ "$(lines ': do_filp_open: ')" = 5 ]
	[ "$(grep -vc '^#' got)" = 10 ]
}

# bats test_tags=guest
@test "trace_kprobe: --latency prints the time from call to return, with arguments and result" {
	uses kprobe_events
	act sleeps 2 2
	traced trace_kprobe -k hrtimer_nanosleep --latency --arg 'i=$arg1'
	[ "$(lines ': hrtimer_nanosleep: (.* <- hrtimer_nanosleep) ret=0 i=0x1e8480 lat=[0-9]*$')" = 6 ]
	file_has 6 got
	run -0 awk '{ sub(/.* lat=/, "") } $0 + 0 < 1000' got
	[ -z "$output" ]
	inner=do_filp_open
	grep -q ' t do_filp_open$\| T do_filp_open$' /proc/kallsyms || inner=do_file_open # Linux 7
	act opens 3 2 "$PWD/there"
	traced trace_kprobe -k do_sys_openat2 "$inner" --latency --arg 'x=$arg1:s32' 'ret=$retval:s64'
	# an int since Linux 7, of which 64 bits are read
	[ "$(lines ': do_sys_openat2: .* ret=\(-2\|4294967294\) x=-100 lat=[0-9]*$')" = 2 ]
	[ "$(lines ': do_sys_openat2: .* ret=[0-9]\{1,3\} x=-100 lat=[0-9]*$')" = 3 ]
	[ "$(lines ": $inner: .* x=-100 lat=[0-9]*\$")" = 5 ]
	[ "$(grep -vc '^#' got)" = 10 ]
}

# bats test_tags=guest
@test "trace_kprobe: --latency excludes --filter and --stack, and old kernels have no arguments at a return" {
	uses kprobe_events
	for option in '--filter x' --stack; do
		# shellcheck disable=SC2086 # words
		refuses '--latency excludes --filter and --stack' trace_kprobe -k do_exit --latency $option
	done
	! grep -q 'return probes.*\$arg' "$TRACEFS/README" || return 0
	refuses 'a return has no $arg; give --latency to record arguments at the call' \
		trace_kprobe -k do_exit --return --arg '$arg1'
}

# bats test_tags=guest
@test "trace_kprobe: reports no function or an unknown function on one line, with the nearest name" {
	uses kprobe_events
	refuses 'no function is named; give --function' trace_kprobe
	refuses "'*_getppid' is not the name of a function; tfs-function -l prints names" \
		trace_kprobe --function do_exit "'*_getppid'"
	status=0
	"$MANAGER" --run trace_kprobe --args "--instance $MARK --pid $$ -k do_sys_open do_sys_opneat2" \
		>out 2>err || status=$?
	[ "$status" = 111 ]
	[[ $(cat err) == "manager: fatal: the kernel has no function 'do_sys_opneat2'; did you mean do_sys_openat2"* ]]
	file_has 1 err
	nothing_left
	no_probes
}

# bats test_tags=guest
@test "trace_kprobe: records a function at which the kernel allows no kprobe, by a probe of kind f" {
	uses kprobe_events
	grep -q ' f\[:' "$TRACEFS/README" || skip "needs probes of kind f (CONFIG_FPROBE_EVENTS)"
	need_tool ifconfig
	grep -qx notifier_call_chain "$TRACEFS/available_filter_functions" ||
		skip "needs the function notifier_call_chain"
	start_session trace_kprobe --output fifo --pid $$ -k notifier_call_chain --return
	read_by cat >got
	[ "$(sed -n "s/^f:$(group)\/\([^ ]* [^ ]*\) .*/\1/p" "$TRACEFS/dynamic_events")" = \
		'notifier_call_chain notifier_call_chain%return' ]
	ifconfig lo mtu 60000 # which the kernel tells all who want to know
	ifconfig lo mtu 65536
	stop_session
	finishes "$READER" 0
	no_probes
	[ "$(lines ': notifier_call_chain: (.* <- notifier_call_chain) ret=[0-9]*$')" -ge 2 ]
}

@test "trace_kprobe: --check names the missing option if the kernel has no kprobes" {
	need_tracefs
	[ ! -e "$TRACEFS/kprobe_events" ] || skip "needs a kernel without kprobes"
	run -1 "$MANAGER" --check trace_kprobe
	[[ $output == *'no kprobe_events in this kernel; it needs CONFIG_KPROBE_EVENTS'* ]]
}

# ---- trace_exec ----------------------------------------------------------------------------

# bats test_tags=quick,guest
@test "trace_exec: records each program that is started, with all its words and no others" {
	uses kprobe_events
	act execs 5 3 one "two words" ''
	traced trace_exec
	[ "$(lines ": exec5: (finalize_exec+0x[0-9a-f]/0x[0-9a-f]*) filename=\"$acts\" argc=5 argv0=\"$acts\" argv1=\"nothing\" argv2=\"one\" argv3=\"two words\" argv4=\"\"$")" = 5 ]
	[ "$(grep -vc '^#' got)" = 5 ]
}

# bats test_tags=guest
@test "trace_exec: --words limits the words, and must be a number that the kernel accepts" {
	uses kprobe_events
	act execs 5 3 one "two words" ''
	traced trace_exec --words 2
	[ "$(lines ": exec2: .* argc=5 argv0=\"$acts\" argv1=\"nothing\"$")" = 5 ]
	[ "$(grep -vc '^#' got)" = 5 ]
	refuses "--words: '0' is not a number from 1 to 32" trace_exec --words 0
	refuses "--words: '33' is not a number from 1 to 32" trace_exec --words 33
	act execs 1 0 one
	traced trace_exec --words 32
	[ "$(lines ': exec3: ')" = 1 ]
}

# bats test_tags=guest
@test "trace_exec: if words do not fit into a page, prints the exec without them" {
	uses kprobe_events
	act execs 3 0 "$(big 3900)"
	traced trace_exec
	[ "$(lines ": exec3: .* argv2=\"$(big 3900)\"$")" = 3 ]
	[ "$(grep -vc '^#' got)" = 3 ]
	for n in '4050' '1500 1500 1500' '2040 2040'; do
		words=()
		for size in $n; do words+=("$(big "$size")"); done
		act execs 3 0 "${words[@]}"
		traced trace_exec
		[ "$(lines ": exec_long: (finalize_exec+0x[0-9a-f]/0x[0-9a-f]*) argc=$((${#words[@]} + 2))$")" = 3 ]
		[ "$(grep -vc '^#' got)" = 3 ]
	done
}

# bats test_tags=guest
@test "trace_exec: --failed prints a line for a file whose path does not fit into a page" {
	uses kprobe_events
	long=$(printf '/%.0s' {1..4080})${PROG#/}/acts
	start_session trace_exec --output fifo --pid $$ --failed
	read_by cat >got
	(exec "${long: -4080}" nothing)
	stop_session
	finishes "$READER" 0
	[ "$(lines ': exec_open_long: .* flags=0x[0-9a-f]*$')" = 1 ]
	[ "$(lines ': exec_long: .* argc=2$')" = 1 ]
	run -1 grep ': exec[_o0-9]*pen: .*////\|: exec2: .*////' got
}

# bats test_tags=guest
@test "trace_exec: --failed also prints the failed execs, and the error" {
	uses kprobe_events
	act execs 2 3 one
	traced trace_exec --failed
	[ "$(lines ': exec3: ')" = 2 ]
	[ "$(lines ': exec_open: .* path="/nowhere/at all" ')" = 3 ]
	[ "$(lines ": exec_open: .* path=\"$acts\" ")" = 2 ]
	[ "$(lines ': sys_execve -> 0x\(f*fe\|2\)$')" = 3 ] # PowerPC prints errors without a sign
}

# bats test_tags=guest
@test "trace_exec: a script is started under its own name, with its interpreter's words" {
	uses kprobe_events
	printf '#!/bin/sh -e\n:\n' >script
	chmod +x script
	act execs 1 0 one
	start_session trace_exec --output fifo --pid $$
	read_by cat >got
	./script word
	stop_session
	finishes "$READER" 0
	[ "$(lines " filename=\"./script\" argc=4 argv0=\"/bin/sh\" argv1=\"-e\" argv2=\"./script\" argv3=\"word\"$")" = 1 ]
}

# ---- trace_open ----------------------------------------------------------------------------

# bats test_tags=quick,guest
@test "trace_open: records each file that is opened, and the result" {
	uses kprobe_events
	act opens 12 8 "$PWD/there"
	traced trace_open
	[ "$(lines ": open: .*path=\"\?$PWD/there")" = 12 ]
	[ "$(lines ': open: .* ret=-2')" = 8 ]
	[ "$(grep -vc '^#' got)" = 20 ]
}

# bats test_tags=guest
@test "trace_open: --failed prints the opens that fail, with path and error" {
	uses kprobe_events
	act opens 12 8 "$PWD/there"
	traced trace_open --failed
	[ "$(grep ': open: .* ret=-2' got | grep -c 'path="/nowhere/at all"')" = 8 ]
	# successful opens add no comment line
	[ "$(grep -c '^#' got)" = 0 ]
	[ "$(grep -vc '^#' got)" = 8 ]
}

# bats test_tags=guest
@test "trace_open: if a path does not fit into a page, prints the open without it" {
	uses kprobe_events
	path=$(printf '/%.0s' {1..4080})
	event='open_long: .* flags=0x[0-9a-f]*'
	grep -q 'return probes.*\$arg' "$TRACEFS/README" || event='open: ([^)]*)'
	act opens 3 2 "$path"
	traced trace_open
	[ "$(lines ": $event ret=[0-9]*$")" = 3 ]
	[ "$(lines ': open: .*path="/nowhere/at all".* ret=-2\|: open: .* ret=-2 path="/nowhere/at all"')" = 2 ]
	[ "$(grep -vc '^#' got)" = 5 ]
	[ "$(grep -c '^#' got)" = 0 ]
	act opens 3 2 "${path::4070}nowhere"
	traced trace_open --failed
	[ "$(lines ": $event ret=-2$")" = 3 ]
	[ "$(grep -vc '^#' got)" = 5 ]
	[ "$(grep -c '^#' got)" = 0 ]
}

# bats test_tags=guest
@test "trace_open: a path forges no fields, before Linux 6.9" {
	uses kprobe_events
	! grep -q 'return probes.*\$arg' "$TRACEFS/README" ||
		skip "needs a kernel that reads no arguments at returns, before 6.9"
	act opens 3 0 '/a" flags=0x7 ret=9 x="'
	traced trace_open
	[ "$(grep -cE ': open: .* ret=-2 path=.* flags=0x[0-9a-f]+ lat=[0-9.]+$' got)" = 3 ]
	run -1 grep -E ' flags=0x7 lat=' got
}

# bats test_tags=guest
@test "trace_open: prints (fault) for a path that cannot be read, and never an empty path" {
	uses kprobe_events
	printf '%s\0' "$PWD/there" >name
	act unread 20 5 "$PWD/name"
	traced trace_open
	read_at_end=0
	! grep -q 'return probes.*\$arg' "$TRACEFS/README" || read_at_end=20
	[ "$(lines ": open: .*path=\"\?$PWD/there\"\? ")" = "$read_at_end" ]
	[ "$(lines ': open: .* ret=-14')" = 5 ]
	[ "$(lines ': open: .* path=(fault)')" = $((25 - read_at_end)) ]
	[ "$(grep -vc "name\|^#" got)" = 25 ]
}

# bats test_tags=guest
@test "trace_open: two sessions at once do not see each other's opens" {
	uses kprobe_events
	act opens 3 0 "$PWD/there"
	one_go=$GO
	start_session trace_open --output fifo --pid "$ACT"
	read_by cat >got.one
	one_session=$SESSION one_reader=$READER
	act opens 5 0 "$PWD/there"
	second_session trace_open --output fifo --pid "$ACT" --failed
	read_by cat >got
	release
	finishes "$SESSION" 0
	finishes "$READER" 0
	echo >"$one_go"
	finishes "$one_session" 0
	finishes "$one_reader" 0
	[ "$(grep -vc '^#' got)" = 0 ]
	[ "$(grep -vc '^#' got.one)" = 3 ]
	no_probes
	no_probes b
}

# ---- trace_tcp -----------------------------------------------------------------------------

# port: Print the port on which the program act listens.
port() {
	sed -n 's/^port //p' ready
}

# bats test_tags=quick
@test "trace_tcp: records as many connects as a program made, and no other program's" {
	need_tracefs events/sock/inet_sock_set_state
	act connects 6
	traced trace_tcp --connect
	[ "$(lines ": inet_sock_set_state: .* dport=$(port) .* oldstate=TCP_CLOSE newstate=TCP_SYN_SENT$")" = 6 ]
	[ "$(grep -vc '^#' got)" = 6 ]
}

@test "trace_tcp: records connects and accepts of a port by any task, and --states every change" {
	need_tracefs events/sock/inet_sock_set_state
	act connects 6
	start_session trace_tcp --output fifo --all --port "$(port)"
	read_by cat >got
	release
	finishes "$ACT" 0
	stop_session
	finishes "$READER" 0
	[ "$(lines 'oldstate=TCP_CLOSE newstate=TCP_SYN_SENT$')" = 6 ]
	[ "$(lines 'oldstate=TCP_SYN_RECV newstate=TCP_ESTABLISHED$')" = 6 ]
	[ "$(grep -v '^#' got | grep -vc ': tcp_retransmit')" = 12 ]
	act connects 6
	start_session trace_tcp --output fifo --all --states --port "$(port)"
	read_by cat >got
	release
	finishes "$ACT" 0
	stop_session
	finishes "$READER" 0
	[ "$(lines 'newstate=TCP_SYN_SENT$')" = 6 ]
	[ "$(lines 'oldstate=TCP_SYN_SENT newstate=TCP_ESTABLISHED$')" = 6 ]
	[ "$(lines 'oldstate=TCP_SYN_RECV newstate=TCP_ESTABLISHED$')" = 6 ]
}

@test "trace_tcp: records packets that are sent again" {
	need_tracefs events/tcp/tcp_retransmit_skb
	act retransmits 1
	start_session trace_tcp --output fifo --all --retransmit --port 1 "$(port)"
	read_by cat >got
	release
	finishes "$ACT" 0
	stop_session
	finishes "$READER" 0
	[ "$(lines ": tcp_retransmit_skb: .* dport=$(port) .* state=TCP_SYN_SENT")" = 1 ]
	[ "$(grep -vc '^#' got)" = 1 ]
}

@test "trace_tcp: refuses what happens in unrelated tasks for selected ones, with what works, and records connects alone" {
	need_tracefs events/sock/inet_sock_set_state
	act connects 2
	fails 100 "manager: fatal: --accept: packets make connections, in unrelated tasks; give --all and --port, or run trace_syscalls -s accept accept4 --decode for the selected tasks" \
		"$MANAGER" --run trace_tcp --args "--instance $MARK --pid $ACT --accept"
	fails 100 "manager: fatal: --retransmit: timers and packets send them, in unrelated tasks; give --all and --port instead of selected tasks" \
		"$MANAGER" --run trace_tcp --args "--instance $MARK --pid $ACT --connect --retransmit"
	nothing_left
	traced trace_tcp
	[ "$(lines 'oldstate=TCP_CLOSE newstate=TCP_SYN_SENT$')" = 2 ]
	[ "$(grep -vc '^#' got)" = 2 ]
}

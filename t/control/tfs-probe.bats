#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2154 # $arg1 is the kernel's; stderr_lines is run's
# tfs-probe: makes and removes the probes of a group; all of them, or none

load ../helper

USAGE='tfs-probe [-ocq] [-g GROUP] [-b FILE [-n NAME]] [-a ARG]... [-R ROOT] add|list|remove|usdt|file [EVENT [PROBE]]...'

misuse() {
	fails 100 "tfs-probe: fatal: $1; usage: $USAGE" "${@:2}"
}

# The probes of this test are in a group of its own in the kernel; undo removes them.
own_group() {
	need_tracefs "$1"
	TFS_GROUP=own_${MARK//-/_}
	export TFS_GROUP
}

undo() {
	[ -n "${TFS_GROUP-}" ] || return 0
	[ ! -e "${DIR-}/events/$TFS_GROUP" ] ||
		tfs-write -i "$INSTANCE" "events/$TFS_GROUP/enable" 0
	tfs-probe remove
}

plain_root() {
	mkdir -p root/events
	for file; do : >"root/$file"; done
}

# known FILE: Print the records of FILE with the paths of programs as people know them.
known() {
	sed 's,/proc/self/fd/[0-9]*/,/,' "$1"
}

# place SYMBOL: Print the FILE:OFFSET of SYMBOL, as the record has it.
place() {
	: >root/uprobe_events
	tfs-probe -oR root -g g add e "p $1" || return
	known root/uprobe_events | sed 's/^p:g\/e //'
}

@test "tfs-probe: refuses an invalid verb, group or name" {
	misuse 'no such option: -x' tfs-probe -x
	misuse 'no command; give add, list, remove, usdt or file' tfs-probe -g g
	misuse 'no command; give add, list, remove, usdt or file' tfs-probe -g g make
	misuse 'no group; give -g or set TFS_GROUP' tfs-probe list
	misuse 'no group; give -g or set TFS_GROUP' tfs-probe -g '' list
	for group in a/b 1a a-b "$(printf 'x%.0s' {1..64})" 'a b'; do
		misuse "not the name of a group: '$group'; use letters, digits and _" tfs-probe -g "$group" list
		misuse "not the name of an event: '$group'; use letters, digits and _" tfs-probe -g g add "$group" 'p f'
		misuse "not the name of an event: '$group'; use letters, digits and _" tfs-probe -g g remove "$group"
	done
	misuse 'add needs pairs of EVENT and PROBE, each one word' tfs-probe -g g add
	misuse 'add needs pairs of EVENT and PROBE, each one word' tfs-probe -g g add e
	misuse "unexpected operand 'e'" tfs-probe -g g list e
	misuse 'usdt needs a FILE' tfs-probe usdt
	misuse 'file needs a FILE or NAME' tfs-probe file
	misuse "unexpected operand '1'" tfs-probe file /x 1
	misuse "'x' is not a pid, a number from 1 to 4194304" tfs-probe file x x
	misuse "unexpected operand 'e'" tfs-probe usdt "$PROG/acts" e
}

@test "tfs-probe: refuses an invalid probe before it writes anything" {
	plain_root kprobe_events uprobe_events dynamic_events
	for probe in '' p 'p ' 'x f' 'pp f' 'r1x f' '-:g/e' $'p\tf'; do
		fails 111 "tfs-probe: fatal: e: not a probe: '${probe//$'\t'/?}'; give p, r, f, e or u, then the place" \
			tfs-probe -R root -g g add good 'p f' e "$probe"
	done
	fails 111 'tfs-probe: fatal: e: the probe is longer than the kernel takes; record fewer values' \
		tfs-probe -R root -g g add e "p $(printf 'x%.0s' {1..5000})"
	[ ! -s root/kprobe_events ]
	fails 111 'tfs-probe: fatal: e: no function of /bin/sh; give FILE:SYMBOL' \
		tfs-probe -R root -g g add e 'p /bin/sh'
	fails 111 "tfs-probe: fatal: e: not an offset: '0x'" \
		tfs-probe -R root -g g add e "p $PROG/acts:main+0x"
}

# bats test_tags=quick
@test "tfs-probe: plain directory: writes each kind of probe as one record to its file" {
	plain_root kprobe_events uprobe_events dynamic_events
	tfs-probe -oR root -g g add one 'p f+4 a=$arg1:u8' two 'r16 f ret=$retval' \
		three 'e sched/sched_switch p=$prev_pid' four 'p /bin/sh:0x10 x=%di' \
		five 'f do_exit code x=$arg1' six 'f do_exit%return ret=$retval'
	case $(uname -m) in # without $arg1 the register is named
	armv*) argument=%r0 ;;
	ppc*) argument=%gpr3 ;;
	mips*) argument=%r4 ;;
	*) argument=\$arg1 ;;
	esac
	exactly root/kprobe_events "p:g/one f+4 a=$argument:u8"$'\nr16:g/two f ret=$retval\n'
	lines_are root/dynamic_events "e:g/three sched/sched_switch p=\$prev_pid
f:g/five do_exit code x=\$arg1
f:g/six do_exit%return ret=\$retval"
	exactly <(known root/uprobe_events) $'p:g/four /bin/sh:16 x=%di\n'
}

@test "tfs-probe: plain directory: refuses two probes of one name, in one call or to an event that exists" {
	plain_root kprobe_events uprobe_events
	echo 'p:g/there /bin/sh:1' >root/dynamic_events
	fails 111 "tfs-probe: fatal: two probes have the name 'e'; give each its own name" \
		tfs-probe -oR root -g g add e 'p /bin/sh:0x10' x 'p f' e 'p /bin/sh:0x20'
	fails 111 'tfs-probe: fatal: g/there exists already; remove it, or give another name' \
		tfs-probe -oR root -g g add e 'p /bin/sh:0x10' there 'p /bin/sh:0x20'
	[ ! -s root/uprobe_events ]
	[ ! -s root/kprobe_events ]
	# without the list, nothing is known
	rm root/dynamic_events
	mkdir root/dynamic_events
	fails 111 'tfs-probe: fatal: unable to read dynamic_events: Is a directory' \
		tfs-probe -oR root -g g add e 'p /bin/sh:0x10'
	[ ! -s root/uprobe_events ]
}

@test "tfs-probe: plain directory: refuses the arguments of a program's function at its return" {
	plain_root uprobe_events
	[[ $(uname -m) != arm* ]] || skip "needs returns of programs, which end them on 32-bit ARM"
	fails 111 'tfs-probe: fatal: e: a return has no $arg1; record it where the function begins' \
		tfs-probe -R root -g g add e "r $PROG/acts:acts_work ret=\$retval i=\$arg1"
	[ ! -s root/uprobe_events ]
}

@test "tfs-probe: plain directory: -b and -a give the file and the values as words that nothing splits" {
	plain_root kprobe_events uprobe_events dynamic_events
	tfs-probe -oR root -g g -b /bin/sh -a x=%di -a 'word=+0(%si):string' add one 'p 0x10' two 'r 32'
	lines_are <(known root/uprobe_events) 'p:g/one /bin/sh:16 x=%di word=+0(%si):string
r:g/two /bin/sh:32 x=%di word=+0(%si):string'
	: >root/uprobe_events
	# a way to the file that another name is for
	tfs-probe -oR root -g g -b /proc/self/root/bin/sh -n /usr/bin/known -a '$retval' add one 'r 0x10'
	lines_are <(known root/uprobe_events) 'r:g/one /usr/bin/known:16 $retval'
	tfs-probe -R root -g g -a 'x=@jiffies' add three 'p f'
	exactly root/kprobe_events $'p:g/three f x=@jiffies\n'
	: >root/uprobe_events
	says() {
		fails "$1" "tfs-probe: fatal: $2" tfs-probe -oR root -g g "${@:3}"
	}
	says 111 'e: with -b and -a a PROBE is a letter and a place; give each ARG by -a' \
		-b /bin/sh add e 'p 0x10 x=%di'
	says 111 'e: with -b and -a a PROBE is a letter and a place; give each ARG by -a' \
		-a x=%di add e 'p f y=%si'
	says 111 'e: a probe of kind e is not in a program; leave -b out' -b /bin/sh add e 'e sched/sched_switch'
	misuse '-b and -a need the command add' tfs-probe -g g -b /bin/sh list
	misuse '-n needs -b' tfs-probe -g g -n /bin/sh list
	[ ! -s root/uprobe_events ]
}

@test "tfs-probe: refuses each character at which the kernel would cut a path, a probe or a value" {
	plain_root kprobe_events uprobe_events dynamic_events
	mkdir plain
	for text in ' space' $'\ttab' '#hash' $'\nnewline' $'\vcontrol' $'\rcontrol' $'\x7fcontrol' $'\xc3\xa0byte'; do
		case $text in
		*space) name='a space' ;;
		*tab) name='a tab' ;;
		*hash) name="'#'" ;;
		*newline) name='a newline' ;;
		*control) name='a control character' ;;
		*byte) name='the byte a0, a space for the kernel' ;;
		esac
		cp /bin/sh "plain/z:16$text"
		run -111 --separate-stderr tfs-probe -oR root -g g -b "$PWD/plain/z:16$text" add e 'p 0x10'
		[[ $stderr == "tfs-probe: fatal: e: the path '$PWD/plain/z:16"*"' has $name, where the kernel would cut it; give a link to the file that has none" ]]
		run -100 --separate-stderr tfs-probe -R root -g g -a "x=%di$text" add e 'p f'
		[[ $stderr == "tfs-probe: fatal: not one value to record: 'x=%di"*"' has $name" ]]
		[ "$name" != 'a space' ] || continue
		fails 111 "tfs-probe: fatal: e: a probe cannot have $name, where the kernel would cut it; remove that" \
			tfs-probe -oR root -g g add e "p $PWD/plain/z:16$text:0x10"
		fails 111 "tfs-probe: fatal: e: a probe cannot have $name, where the kernel would cut it; remove that" \
			tfs-probe -oR root -g g add e "p f x=@jiffies$text"
	done
	cat root/*_events >all
	[ ! -s all ]
}

# held PROGRAM: Start to add a probe of PROGRAM at offset 16, and hold it when it has read the
# program, until the test has read the record from root/uprobe_events and written there again.
held() {
	mkdir -p root/events
	[ -p root/uprobe_events ] || mkfifo root/uprobe_events
	: >root/dynamic_events
	background tfs-probe -oR root -g g add e "p $1:16" >out 2>&1
	opened() { # readlink of busybox takes one path
		local fd n=0
		for fd in "/proc/$PID"/fd/*; do
			[ ! "$fd" -ef "$1" ] || n=$((n + 1))
		done
		[ "$n" = 1 ]
	}
	eventually opened "$1"
}

@test "tfs-probe: names the file that it has read, whatever has its path when the kernel opens it" {
	cp /bin/sh program
	inode=$(stat -c %i program)
	held "$PWD/program"
	# another program of this name, before the kernel gets the record
	mv program elsewhere
	cp /bin/sh program
	read -r record <root/uprobe_events
	[[ $record =~ ^p:g/e\ (/proc/self/fd/[0-9]+$PWD/program):16$ ]]
	link=${BASH_REMATCH[1]}
	target=$(readlink "${link/self/$PID}")
	[ "$(stat -Lc %i "${target/self/$PID}")" = "$inode" ]
	[ "$inode" != "$(stat -c %i program)" ]
	echo "$record" >root/uprobe_events
	finishes "$PID" 0
	[ ! -s out ]
}

@test "tfs-probe: removes a probe again if the kernel lists another one, or the program was written to" {
	cp /bin/sh program
	for wrong in 'p:g/e PATH:17' 'p:g/e PATH:16
p:g/e PATH:32' 'r:g/e PATH:16' 'p:g/e /bin/sh:16' 'p:g/e PATH#:16' 'p:g/f PATH:16' '' same; do
		held "$PWD/program"
		read -r record <root/uprobe_events
		path=${record#* }
		[ "$wrong" != same ] || {
			wrong=$record
			echo x >>program
		}
		echo 'p:g/e /bin/sh:16' >root/dynamic_events
		echo "${wrong//PATH/${path%:*}}" >root/uprobe_events
		finishes "$PID" 111
		case $wrong in
		"$record") [ "$(cat out)" = 'tfs-probe: fatal: e: a process writes to the program or library; try again when it has ended' ] ;;
		*) [ "$(cat out)" = "tfs-probe: fatal: g/e: the kernel understood another probe than '$record', so it was removed" ] ;;
		esac
		[ "$(tail -n 1 root/dynamic_events)" = '-:g/e' ]
	done
}

@test "tfs-probe: usdt prints the USDT probes of a file, one line for each place, with their arguments" {
	tfs-probe usdt "$PROG/acts" >got
	[ "$(sed 's/ .*//' got)" = 'acts:pass
acts:two
acts:seen
acts:two' ]
	case $(uname -m) in
	x86_64) exactly <(sed 's/(%[a-z]*):s16/(%REG):s16/; s/=-*[0-9]*(/=N(/' got) \
		'acts:pass arg1=%di:s32 arg2=%si:u64 arg3=N(%REG):s16 arg4=\-7:s32 # not read: arg5=8f@%xmm0
acts:two
acts:seen arg1=%di:u32
acts:two
' ;;
	esac
	run -1 --separate-stderr tfs-probe usdt "$PROG/calls"
	[ "$output$stderr" = "tfs-probe: no USDT probe in $PROG/calls" ]
	fails 111 'tfs-probe: fatal: unable to open /nowhere: No such file or directory' tfs-probe usdt /nowhere
	echo text >text
	fails 111 "tfs-probe: fatal: text is not a program or library (ELF)" tfs-probe usdt text
}

@test "tfs-probe: plain directory: writes each place of a USDT probe as an event, with its reference counter" {
	plain_root uprobe_events
	tfs-probe -R root -g g add two "u $PROG/acts:acts:two" seen "u $PROG/acts:acts:seen x=%di"
	[ "$(known root/uprobe_events | cut -d ' ' -f 1,2 | sed 's/acts:[0-9]*/acts:N/; s/([1-9][0-9]*)$/(N)/')" = "p:g/two $PROG/acts:N
p:g/two_2 $PROG/acts:N
p:g/seen $PROG/acts:N(N)" ]
	[ "$(grep -c ' x=%di$' root/uprobe_events)" = 1 ]
	[ "$(cut -d ' ' -f 2 root/uprobe_events | sort -u | wc -l)" = 3 ]
	: >root/uprobe_events
	says() {
		fails 111 "tfs-probe: fatal: $1" tfs-probe -R root -g g add e "u $2" "${@:3}"
	}
	says "$PROG/acts has no USDT probe 'acts:tow'; did you mean acts:two?" "$PROG/acts:acts:tow"
	says "$PROG/acts has no USDT probe 'nothing:at_all'; tfs-probe usdt FILE prints those that it has" \
		"$PROG/acts:nothing:at_all"
	says "e: no USDT probe in 'acts:two'; give FILE:PROVIDER:NAME" acts:two
	says "e: no USDT probe in '/acts'; give FILE:PROVIDER:NAME" /acts
	says "e: a probe cannot have a newline, where the kernel would cut it; remove that" "$PROG/acts:acts:two"$'\n-:g/x'
	says "two probes have the name 'two_2'; give each its own name" "$PROG/acts:acts:seen" \
		two_2 "u $PROG/acts:acts:pass" two "u $PROG/acts:acts:two"
	[ ! -s root/uprobe_events ]
}

@test "tfs-probe: plain directory: leaves an event of two places alone while it is enabled anywhere" {
	plain_root
	mkdir -p root/events/a/two root/instances/x/events/a/two
	for at in root/events root/instances/x/events; do
		printf '%s\n' 'p:a/one /bin/f:0x1' 'p:a/two /bin/f:0x2' 'p:a/two /bin/f:0x3' >root/dynamic_events
		echo 0 | tee root/events/a/two/enable >root/instances/x/events/a/two/enable
		echo 1 >"$at/a/two/enable"
		run -111 tfs-probe -R root -g a remove two
		[[ $output == 'tfs-probe: fatal: unable to remove a/two, which is enabled or in use: '* ]]
		file_has 3 root/dynamic_events
		run -111 tfs-probe -R root -g a remove
		[ "$(tail -n +4 root/dynamic_events)" = '-:a/one' ]
	done
	echo 0 >"$at/a/two/enable"
	tfs-probe -R root -g a remove two
	[ "$(tail -n 2 root/dynamic_events | sort -u)" = '-:a/two' ]
}

@test "tfs-probe: file prints the path of a file without links" {
	mkdir -p real/dir
	: >real/dir/file
	ln -s real/dir link
	ln -s link/file to
	ln -s loop loop
	for path in to link/file real//dir/../dir/file; do
		run -0 tfs-probe file "$PWD/$path"
		[ "$output" = "$(readlink -f real/dir/file)" ]
	done
	fails 1 "tfs-probe: unable to resolve $PWD/none: No such file or directory" tfs-probe file "$PWD/none"
	fails 1 "tfs-probe: unable to resolve $PWD/loop: Too many levels of symbolic links" tfs-probe file "$PWD/loop"
	ln -s $'real/new\nline' odd
	: >odd
	fails 100 "tfs-probe: fatal: '$PWD/odd' leads to a path with control characters" tfs-probe file "$PWD/odd"
}

@test "tfs-probe: file finds the library that tasks execute, by its name and each form of its version" {
	need_tool gcc
	mkdir other
	printf '%s\n' 'int main(void) { return getchar(); }' | gcc -w -include stdio.h -o held -x c -
	printf '%s\n' 'void f(void) { }' | gcc -shared -fPIC -o libodd.so.1.2 -x c -
	cp libodd.so.1.2 libodd-2.3.so
	cp libodd.so.1.2 libodd-x.so
	mkfifo hold
	mapped() { grep -q " r.xp .*/libodd" "/proc/$PID/maps"; }
	for file in libodd.so.1.2 libodd-2.3.so; do
		background sh -c 'LD_PRELOAD=$PWD/$1 exec ./held <hold' sh "$file"
		exec 8>hold
		eventually mapped
		for name in libodd "$file"; do
			run -0 tfs-probe file "$name" $$ "$PID"
			[ "${output#* }" = "$PWD/$file" ]
			cmp "${output%% *}" "$file"
		done
		fails 1 "tfs-probe: no task executes a file called libod" tfs-probe file libod "$PID"
		fails 1 "tfs-probe: no task executes a file called odd" tfs-probe file odd "$PID"
		exec 8>&-
		finishes "$PID" 255
	done
	fails 1 "tfs-probe: no task executes a file called libodd" tfs-probe file libodd $$
	fails 1 "tfs-probe: no task executes a file called libodd" tfs-probe file libodd
}

@test "tfs-probe: plain directory: list prints the group's probes, and remove removes them, newest first" {
	plain_root
	printf '%s\n' 'p:a/one f x=$arg1' 'p:b/one f' 'r:a/two f' 's:synthetic/a int x' odd \
		>root/dynamic_events
	run -0 tfs-probe -R root -g a list
	[ "$output" = 'p:a/one f x=$arg1
r:a/two f' ]
	run -1 --separate-stderr tfs-probe -R root -g c list
	[ "$output$stderr" = "tfs-probe: no probe in the group c" ]
	fails 111 'tfs-probe: fatal: no such probe: a/three; tfs-probe list prints the names' tfs-probe -R root -g a remove one three
	file_has 5 root/dynamic_events
	cp -r root again
	tfs-probe -R root -g a remove
	[ "$(tail -n +6 root/dynamic_events)" = '-:a/two
-:a/one' ]
	tfs-probe -R again -g a remove one
	[ "$(tail -n +6 again/dynamic_events)" = '-:a/one' ]
}

@test "tfs-probe: names the kernel option that is missing, also if the list cannot be read" {
	plain_root
	fails 111 'tfs-probe: fatal: this kernel has no kprobe_events; it needs CONFIG_KPROBE_EVENTS' \
		tfs-probe -R root -g g add e 'p f'
	fails 111 'tfs-probe: fatal: this kernel has no uprobe_events; it needs CONFIG_UPROBE_EVENTS' \
		tfs-probe -oR root -g g add e 'p /bin/sh:1'
	fails 111 'tfs-probe: fatal: unable to read dynamic_events: No such file or directory' \
		tfs-probe -R root -g g list
}

@test "tfs-probe: finds a function of a program where nm and readelf find it" {
	need_tool nm readelf
	plain_root uprobe_events
	cp "$PROG/acts" acts
	value=$(nm acts | sed -n 's/ T acts_work$//p')
	read -r offset address < <(readelf -lW acts |
		awk '$1 == "LOAD" && / R E / { print $2, $3 }')
	want=$((0x$value - address + offset))
	[ "$(place "$PWD/acts:acts_work")" = "$PWD/acts:$want" ]
	[ "$(place "$PWD/acts:acts_work+0x2")" = "$PWD/acts:$((want + 2))" ]
}

@test "tfs-probe: finds functions in 32-bit, big-endian and fixed-address programs on any machine" {
	plain_root uprobe_events
	for file in "$TREE"/t/fuzz/corpus/elf/good-*; do
		tail -c +8 "$file" >elf # skip the name that the fuzzer looks for
		[ "$(place "$PWD/elf:probed")" = "$PWD/elf:512" ]
		[ "$(place "$PWD/elf:probing+4")" = "$PWD/elf:532" ]
	done
}

@test "tfs-probe: reports an unknown function of the file on one line, with the nearest names" {
	plain_root uprobe_events
	says() {
		fails 111 "tfs-probe: fatal: $1" tfs-probe -oR root -g g add e "p $2"
	}
	acts=$PROG/acts
	says "$acts has no function 'acts_wrok'; did you mean acts_work, acts_worker?" "$acts:acts_wrok"
	says "$acts has no function 'nothing_at_all_like_it'" "$acts:nothing_at_all_like_it"
	says 'unable to open /nowhere: No such file or directory' /nowhere:main
	says "$PWD is not a regular file" "$PWD:main"
	echo '#!/bin/sh' >script
	says "$PWD/script is not a program or library (ELF)" "$PWD/script:main"
	says "'acts_work' of $acts has only $(acts_size) bytes" "$acts:acts_work+10000000"
	[ ! -s root/uprobe_events ]
}

# acts_size: Print the size that the tool reports; any number will do.
acts_size() {
	tfs-probe -oR root -g g add e "p $PROG/acts:acts_work+10000000" 2>&1 |
		sed 's/.* only \(.*\) bytes/\1/'
}

@test "tfs-probe: has a message each for stripped, imported, indirect, data and sizeless symbols" {
	need_tool gcc strip
	plain_root uprobe_events
	cat >program.c <<-'END'
		#include <unistd.h>
		int data = 1;
		__asm__(".text\n.globl bare\n.type bare,@function\nbare:\n.globl nosize\nnosize:");
		static void *choose(void) { return sync; }
		void chosen(void) __attribute__((ifunc("choose")));
		int main(void) { sync(); chosen(); return data; }
	END
	gcc -o program program.c 2>/dev/null || skip "needs a compiler that knows ifunc"
	says() {
		fails 111 "tfs-probe: fatal: $1" tfs-probe -R root -g g add e "p $PWD/$2"
	}
	says "$PWD/program has several versions of 'chosen' and chooses one when it is loaded (IFUNC); probe one of the versions" \
		program:chosen
	says "'data' of $PWD/program is not code; name a function" program:data
	run -111 tfs-probe -R root -g g add e "p $PWD/program:bare"
	[[ $output =~ ^"tfs-probe: fatal: 'bare' of $PWD/program has no size and may not be a function; its place is $PWD/program:"[0-9]+$ ]]
	place "$PWD/program:${output##*:}"
	: >root/uprobe_events
	strip program
	says "$PWD/program only calls 'sync'; probe the library that defines it" program:sync
	says "$PWD/program has no function 'main'; the file is stripped, so only exported functions have names" \
		program:main
	gcc -static -o program program.c && strip program
	says "$PWD/program is stripped and has no symbols; give the function as FILE:OFFSET" program:main
}

@test "tfs-probe: refuses two symbols of one name, and takes the default of two versions" {
	need_tool gcc
	plain_root uprobe_events
	for i in 1 2; do
		echo "static int twice(void) { return $i; } int (*use$i)(void) = twice;" >$i.c
	done
	echo 'int main(void) { return 0; }' | gcc -o twice 1.c 2.c -x c -
	fails 111 "tfs-probe: fatal: $PWD/twice has 2 functions 'twice': give one as FILE:OFFSET" \
		tfs-probe -R root -g g add e "p $PWD/twice:twice"
	cat >lib.c <<-'END'
		int old(void) { return 1; }
		int new(void) { return 2; }
		__asm__(".symver old,versioned@V1\n.symver new,versioned@@V2");
	END
	echo 'V1 { global: versioned; local: *; }; V2 { global: versioned; } V1;' >map
	gcc -fPIC -shared -fno-lto -o lib.so lib.c -Wl,--version-script=map
	want=$(place "$PWD/lib.so:new")
	[ "$(place "$PWD/lib.so:versioned")" = "$want" ]
	strip lib.so
	[ "$(place "$PWD/lib.so:versioned")" = "$want" ]
}

@test "tfs-probe: kernel: records as many events as a program's function has calls, with its arguments" {
	own_group uprobe_events
	new_instance
	act functions 25
	args='n=$arg1:s32 word=+0($arg2):string'
	tfs-probe add work "p $PROG/acts:acts_work $args" back "r $PROG/acts:acts_work ret=\$retval:s32" ||
		skip "needs uprobes on this machine"
	tfs-probe list | grep -q "^p:$TFS_GROUP/work $PROG/acts:0x"
	tfs-pidfilter -i "$INSTANCE" set "$ACT"
	tfs-event -i "$INSTANCE" "$TFS_GROUP:*"
	release "$ACT"
	tfs-write -i "$INSTANCE" tracing_on 0
	grep -v '^#' "$DIR/trace" >got
	[ "$(grep -c ': work: (0x[0-9a-f]*) n=[0-9]* word="word"$' got)" = 25 ]
	[ "$(grep -c ': back: (0x[0-9a-f]* <- 0x[0-9a-f]*) ret=49$' got)" = 1 ]
	file_has 50 got
	run -111 tfs-probe remove work
	[[ $output == "tfs-probe: fatal: unable to remove $TFS_GROUP/work, which is enabled or in use: "*[Rr]"esource busy" ]]
	tfs-write -i "$INSTANCE" "events/$TFS_GROUP/enable" 0
	tfs-probe remove work
	[[ $(tfs-probe list) == "r:$TFS_GROUP/back "* ]]
	tfs-probe remove
	run -1 tfs-probe list
}

@test "tfs-probe: kernel: records probe events that print as in trace, byte for byte" {
	own_group uprobe_events
	new_instance
	act functions 3
	set -- work "p $PROG/acts:acts_work i=\$arg1:s32"
	[[ $(uname -m) == arm* ]] || set -- "$@" back "r $PROG/acts:acts_work"
	tfs-probe add "$@"
	! entry_probes ||
		tfs-probe add kernel 'p do_exit code=$arg1' kernel_done 'r do_sys_openat2 ret=$retval'
	tfs-pidfilter -i "$INSTANCE" set "$ACT"
	tfs-event -i "$INSTANCE" "$TFS_GROUP:*"
	release "$ACT"
	tfs-write -i "$INSTANCE" tracing_on 0
	grep -v '^#' "$DIR/trace" >trace
	background tfs-catpipe -i "$INSTANCE" >text
	taken() { file_has "$(wc -l <trace)+" text; }
	eventually taken
	ends_by "$PID" TERM 0
	diff trace text
	[ "$(grep -c ': work: (' text)" = 3 ]
	[ $# = 2 ] || [ "$(grep -c ': back: (.* <- ' text)" = 3 ]
}

@test "tfs-probe: kernel: removes the first probe if the kernel refuses the second, and shows reason and position" {
	own_group uprobe_events
	tfs-probe add first "p $PROG/acts:acts_work"
	run -111 --separate-stderr tfs-probe add second "p $PROG/acts:acts_work" \
		third "p $PROG/acts:acts_work x=nonsense"
	[ -z "$output" ]
	[[ ${stderr_lines[0]} == "tfs-probe: fatal: unable to write 'p:$TFS_GROUP/third $PROG/acts:"*" x=nonsense' to uprobe_events, the kernel says: "*": Invalid argument" ]]
	[[ ${stderr_lines[1]} == "  Command: p:$TFS_GROUP/third "*' x=nonsense' ]]
	[[ ${stderr_lines[2]} =~ ^\ +\^$ ]]
	# the kernel's mark is in or after the argument
	before=${stderr_lines[1]%x=nonsense} caret=${stderr_lines[2]}
	[ "${#caret}" -gt "${#before}" ]
	[ "${#caret}" -le "$((${#before} + 11))" ]
	[ "${#stderr_lines[@]}" = 3 ]
	[[ $(tfs-probe list) == "p:$TFS_GROUP/first $PROG/acts:"* ]]
	[ "$(tfs-probe list | wc -l)" = 1 ]
	fails 111 "tfs-probe: fatal: $TFS_GROUP/first exists already; remove it, or give another name" \
		tfs-probe add second "p $PROG/acts:acts_work" first "p $PROG/acts:acts_worker"
	[ "$(tfs-probe list | wc -l)" = 1 ]
}

# bats test_tags=guest
@test "tfs-probe: kernel: reports an unknown kernel function on one line, with the nearest names" {
	own_group kprobe_events
	need_entry_probes
	run -111 --separate-stderr tfs-probe add first 'p do_sys_openat2' e 'p do_sys_opneat2 x=$arg1'
	[ -z "$output" ]
	[[ $stderr == "tfs-probe: fatal: the kernel has no function 'do_sys_opneat2'; did you mean do_sys_openat2"* ]]
	[ "${#stderr_lines[@]}" = 1 ]
	fails 111 "tfs-probe: fatal: the kernel has no function 'nothing_at_all_like_what_it_has'; it may be part of its callers" \
		tfs-probe add e 'p nothing_at_all_like_what_it_has'
	run -1 tfs-probe list
}

# bats test_tags=guest
@test "tfs-probe: kernel: an event probe has the fields of its event" {
	own_group dynamic_events
	new_instance
	status=0
	tfs-probe add forked 'e sched/sched_process_fork child=$child_pid:s32' 2>err || status=$?
	if [ "$status" != 0 ]; then
		file_is err 'tfs-probe: fatal: this kernel has no probes at events; they need Linux 5.15 with CONFIG_EPROBE_EVENTS'
		skip "needs probes at events (CONFIG_EPROBE_EVENTS)"
	fi
	act execs 2 3 word
	tfs-pidfilter -i "$INSTANCE" set "$ACT"
	tfs-event -i "$INSTANCE" "$TFS_GROUP:*"
	release "$ACT"
	grep -v '^#' "$DIR/trace" >got
	[ "$(grep -c ': forked: (sched[./]sched_process_fork) child=[0-9]*$' got)" = 5 ]
	file_has 5 got
}

need_function_probes() {
	grep -q ' f\[:' "$TRACEFS/README" || skip "needs probes of kind f (CONFIG_FPROBE_EVENTS)"
}

@test "tfs-probe: kernel: records calls and returns by probes of kind f, byte for byte as in trace" {
	local named='dir=dfd'
	own_group dynamic_events
	need_function_probes
	# the names of arguments need BTF
	[ -e /sys/kernel/btf/vmlinux ] || named='dir=$arg1:s32'
	new_instance
	: >there
	act opens 7 5 "$PWD/there"
	tfs-probe add call "f do_sys_openat2 $named path=+0(\$arg2):ustring" \
		back 'f do_sys_openat2%return ret=$retval:s32'
	tfs-probe list | grep -qx "f:$TFS_GROUP/back do_sys_openat2%return ret=\$retval:s32"
	tfs-pidfilter -i "$INSTANCE" set "$ACT"
	tfs-event -i "$INSTANCE" "$TFS_GROUP:*"
	release "$ACT"
	tfs-write -i "$INSTANCE" tracing_on 0
	grep -v '^#' "$DIR/trace" >trace
	tfs-write -i "$INSTANCE" "events/$TFS_GROUP/enable" 0
	background tfs-catpipe -i "$INSTANCE" >text
	read_all() { file_has "$(wc -l <trace)+" text; }
	eventually read_all
	ends_by "$PID" TERM 0
	diff trace text
	[ "$(grep -c ": call: (do_sys_openat2+0x[0-9a-f]*/0x[0-9a-f]*) dir=-100 path=\"$PWD/there\"$" text)" = 7 ]
	[ "$(grep -c ': call: .* path="/nowhere/at all"$' text)" = 5 ]
	[ "$(grep -c ': back: (.* <- do_sys_openat2) ret=-2$' text)" = 5 ]
	file_has 24 text
	fails 111 "tfs-probe: fatal: the kernel has no function 'nothing_at_all_like_what_it_has'; it may be part of its callers" \
		tfs-probe add e 'f nothing_at_all_like_what_it_has%return'
}

@test "tfs-probe: kernel: if a function allows no kprobe, makes a probe of kind f" {
	own_group dynamic_events
	need_function_probes
	# the kernel refuses kprobes here, because kprobes need this function
	head -c 1 "$TRACEFS/available_filter_functions" >can.read 2>&1 || skip "needs available_filter_functions, which is locked"
	grep -qx dump_kprobe "$TRACEFS/available_filter_functions" || skip "needs the function dump_kprobe"
	tfs-probe add call 'p dump_kprobe x=$arg1' back 'r16 dump_kprobe'
	tfs-probe list >got
	lines_are got "f:$TFS_GROUP/call dump_kprobe x=\$arg1
f:$TFS_GROUP/back dump_kprobe%return"
	tfs-probe remove
	tfs-probe -a 'x=$arg1' add call 'p dump_kprobe'
	[ "$(tfs-probe list)" = "f:$TFS_GROUP/call dump_kprobe x=\$arg1" ]
	run -111 tfs-probe add more 'p dump_kprobe x=nonsense'
	[[ $output == "tfs-probe: fatal: unable to write 'p:$TFS_GROUP/more dump_kprobe x=nonsense' to kprobe_events"* ]]
	run -111 tfs-probe add more 'p dump_kprobe+1'
	[[ $output == "tfs-probe: fatal: unable to write 'p:$TFS_GROUP/more dump_kprobe+1' to kprobe_events"* ]]
}

@test "tfs-probe: kernel: says that an older kernel has no probes of kind f" {
	own_group dynamic_events
	! grep -q ' f\[:' "$TRACEFS/README" || skip "needs a kernel without probes of kind f"
	fails 111 'tfs-probe: fatal: this kernel has no probes of kind f; they need Linux 6.5 with CONFIG_FPROBE_EVENTS' \
		tfs-probe add call 'f do_sys_openat2'
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2034 # each test is a process of its own
# build: make install and uninstall; a new hook is one file, a new subsystem one directory
# parts: 4

load ../helper

# The options of the make that runs the tests must not change the builds of a test.
export MAKEFLAGS=

# Copy the sources and the built files to a tree of this test, so that make builds only new
# files.
source_tree() {
	need_tool make cc
	mkdir source
	# with the times of all that is built, to the nanosecond: otherwise make links all again
	(cd "$TREE" && cp -a --parents Makefile LICENSE completion lib bin trace-hooks .build \
		build/flags build/formats build/lib* build/bin build/gen build/trace-hooks "$BATS_TEST_TMPDIR/source")
	MANAGER=$BATS_TEST_TMPDIR/source/trace-hooks/ftrace/manager
}

# Run make with the compiler and the flags of the existing build, because others rebuild all.
remake() {
	local words
	eval "words=($(sed -n 2p "$TREE/.build"))"
	make -s -j"$(nproc)" -C source "${words[@]}" "$@" 3>&-
}

# names DIRECTORY: every file and link below it
names() {
	(cd "$1" && find . ! -type d | LC_ALL=C sort)
}

# Tests of make install are few, because it starts hundreds of processes.
@test "make install: puts every tool, manager, alias, hook, page and completion below DESTDIR and PREFIX; uninstall removes them" {
	source_tree
	mkdir -p root/opt/tfs/bin root/opt/tfs/share/man/man1 root/opt/tfs/lib
	touch root/opt/tfs/bin/other root/opt/tfs/share/man/man1/other.1 root/opt/tfs/lib/other
	names root >before
	remake install DESTDIR="$PWD/root" PREFIX=/opt/tfs
	{
		cat before
		for tool in source/bin/*/*.1; do
			name=${tool##*/}
			name=${name%.1}
			echo "./opt/tfs/bin/$name"
			echo "./opt/tfs/share/bash-completion/completions/$name"
			echo "./opt/tfs/share/fish/vendor_completions.d/$name.fish"
		done
		echo ./opt/tfs/share/zsh/site-functions/_tfs
		echo ./opt/tfs/lib/trace-hooks/complete
		for hook in source/trace-hooks/*/hooks.d/*; do
			echo "./opt/tfs/lib/${hook#source/}"
		done
		for subsystem in source/trace-hooks/*/subsystem.c; do
			name=${subsystem%/*}
			name=${name##*/}
			echo "./opt/tfs/lib/trace-hooks/$name/manager"
			echo "./opt/tfs/lib/trace-hooks/$name/manager.tfs"
		done
		for page in source/bin/*/*.1 source/trace-hooks/*.[157] source/trace-hooks/*/*.7; do
			[ -e "$page" ] || continue
			echo "./opt/tfs/share/man/man${page##*.}/${page##*/}"
		done
	} | LC_ALL=C sort >expected
	names root | diff expected -
	[ "$(readlink root/opt/tfs/lib/trace-hooks/ftrace/manager.tfs)" = manager ]
	run -0 find root -type f ! -perm 755 ! -path '*/share/*' ! -name 'other*'
	[ -z "$output" ]
	# a hook of the administrator stays, and with it its directory
	touch root/opt/tfs/lib/trace-hooks/ftrace/hooks.d/own
	remake uninstall DESTDIR="$PWD/root" PREFIX=/opt/tfs
	names root | diff <({ cat before; echo ./opt/tfs/lib/trace-hooks/ftrace/hooks.d/own; } |
		LC_ALL=C sort) -
	rm root/opt/tfs/lib/trace-hooks/ftrace/hooks.d/own
	remake uninstall DESTDIR="$PWD/root" PREFIX=/opt/tfs
	names root | diff before -
	[ ! -e root/opt/tfs/lib/trace-hooks ]
}

@test "make install: without a name it goes to /usr/local below DESTDIR, and works after a move" {
	source_tree
	remake install DESTDIR="$PWD/root"
	[ -x root/usr/local/bin/tfs-dir ]
	[ -x root/usr/local/lib/trace-hooks/ftrace/manager ]
	need_tracefs events/syscalls
	mv root moved
	rm -r source
	MANAGER=$PWD/moved/usr/local/lib/trace-hooks/ftrace/manager.tfs
	"$MANAGER" --get-all >names
	grep -qx trace_syscalls names
	calls 100
	start_session trace_syscalls --syscall getppid --pid "$CALLS"
	caller_reads
	release
	watch_end
	file_has 100 got
	# and from bin, for people
	moved/usr/local/bin/tfs-run -m ftrace | sed -n 's/^  \(trace_[a-z]*\)  .*/\1/p' | sort >list
	cmp names list
	moved/usr/local/bin/tfs-run trace_syscalls --syscall getppid -- "$PROG/calls" 7 </dev/null >shown
	[ "$(grep -c ': sys_getppid()$' shown)" = 7 ]
}

@test "make: a change in the library links the programs that use it, and no other" {
	need_tool make nm cc
	[ -e "$TREE/build/bin/tfs-run.used" ] || skip "needs a build without ONE=1 and STATIC=1"
	mkdir -p copy/build
	cp -a "$TREE"/{Makefile,.build,bin,lib,trace-hooks} copy
	cp -a "$TREE"/build/{bin,lib,gen,trace-hooks,flags,formats,libtfs.a} copy/build
	touch copy/lib/base/words.c
	run -0 make -C copy
	sed -n 's/^  CC //p' <<<"$output" | sort >linked
	(
		cd copy
		for file in bin/tfs-* trace-hooks/*/manager; do
			! nm "$file" | grep -q ' words_split$' || echo "$file"
		done
	) | sort >wanted
	file_has 3+ wanted
	cmp linked wanted
}

@test "make: does nothing when there is nothing to do" {
	source_tree
	remake
	before=$(stat -c '%n %Y' source/bin/* source/trace-hooks/ftrace/manager)
	remake
	[ "$(stat -c '%n %Y' source/bin/* source/trace-hooks/ftrace/manager)" = "$before" ]
}

@test "hook: a new one is one file, listed, described, checked and run" {
	need_tracefs events/syscalls
	own_tree
	make_hook my_hook <<-'END'
	# description: Calls of getppid, for once
	# requires: events/syscalls/sys_enter_getppid
	# option: --with exit|nothing  what else
	set -eu

	tfs-write events/syscalls/sys_enter_getppid/enable 1
	[ "${HOOK_WITH-}" != exit ] || tfs-write events/syscalls/sys_enter_exit_group/enable 1
	END
	"$MANAGER" --get-all | grep -qx my_hook
	"$MANAGER" --describe my_hook >described
	head -n 2 described | diff - <(printf '%s\n' "Calls of getppid, for once" \
		"--with exit|nothing  what else")
	refused 100 "--with: 'all' is not one of exit|nothing" --run my_hook --args "--pid $$ --with all"
	calls 20
	watch_whole my_hook --pid "$CALLS" --with exit
	file_has 21 got
}

# A subsystem whose kernel side is a directory of files, and one hook of it.
demo_subsystem() {
	source_tree
	mkdir -p source/trace-hooks/demo/hooks.d kernel
	cat >source/trace-hooks/demo/subsystem.c <<-'END'
	/* SPDX-License-Identifier: ISC */
	/* subsystem.c - demo: a session is a directory below $TRACER_SYSFS_PATH */
	#include <errno.h>
	#include <fcntl.h>
	#include <stdlib.h>
	#include <sys/stat.h>
	#include <unistd.h>

	#include "base/base.h"
	#include "proc/proc.h"
	#include "session/session.h"
	#include "tracefs/tracefs.h"

	static int root = -1, dir = -1;

	static int open_root(char *path)
	{
		str_format(path, PATH_MAX, "%s", getenv("TRACER_SYSFS_PATH"));
		root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		return root < 0 ? err_errno("unable to open %s", path) : dup(root);
	}

	static int check(const struct request *rq, int at)
	{
		(void)rq, (void)at;
		return 0;
	}

	static int open_session(const struct request *rq)
	{
		dir = owned_make(root, rq->session, 0700);
		return dir < 0 ? err_errno("unable to make %s", rq->session) : 0;
	}

	static int hook_env(const struct request *rq, const char **variables)
	{
		(void)rq;
		variables[0] = "DEMO=yes";
		variables[1] = NULL;
		return dir;
	}

	static int start(const struct request *rq)
	{
		(void)rq;
		return file_exists(dir, "greeting") ? 0 : err_msg("nobody greets");
	}

	static int stream(const struct request *rq, const char **argv)
	{
		static char path[PATH_MAX];

		str_format(path, sizeof(path), "%s/%s/greeting", getenv("TRACER_SYSFS_PATH"),
			   rq->session);
		argv[0] = "demo-stream";
		argv[1] = path;
		argv[2] = NULL;
		return 0;
	}

	static int stop(void)
	{
		return 0;
	}

	static int close_session(const struct request *rq)
	{
		if (dir < 0)
			return 0;
		unlinkat(dir, "greeting", 0);
		return unlinkat(root, rq->session, AT_REMOVEDIR);
	}

	static int members(const struct request *rq, struct pids *out)
	{
		return select_pids(rq->selectors, rq->nselectors, SELECT_GONE_OK, out);
	}

	static int sweep(const char *session)
	{
		(void)session;
		return 0;
	}

	static int reset(void)
	{
		return 0;
	}

	struct subsystem manager_subsystem = {
		.name = "demo", .root = open_root, .check = check, .open = open_session,
		.hook_env = hook_env, .start = start, .stream = stream, .stop = stop,
		.close = close_session, .members = members, .sweep = sweep,
		.reset = reset,
	};
	END
	cat >source/trace-hooks/demo/hooks.d/hello <<-'END'
	#!/bin/sh
	# description: Says hello
	# requires: greetings (CONFIG_GREETINGS)
	# option: --name NAME...  to whom
	for name in $HOOK_NAME; do echo "hello, $name ($DEMO)"; done >greeting
	END
	# the tool that streams: it prints all events, and then waits for a signal to stop
	touch source/bin/run/demo-stream.1
	cat >source/bin/run/demo-stream.c <<-'END'
	/* SPDX-License-Identifier: ISC */
	#include <fcntl.h>
	#include <unistd.h>

	#include "base/base.h"
	#include "proc/proc.h"

	int main(int argc, char **argv)
	{
		struct wait w = { .ms = -1, .fd = -1 };
		char text[4096];
		sigset_t term;
		int signo, fd = open(argv[argc - 1], O_RDONLY);
		ssize_t n;

		sigemptyset(&term);
		sigaddset(&term, SIGTERM);
		sigprocmask(SIG_BLOCK, &term, NULL);
		w.signals = &term;
		while ((n = read(fd, text, sizeof(text))) > 0)
			if (fd_write_all(STDOUT_FILENO, text, (size_t)n) < 0)
				return REFUSED;
		return wait_for(&w, &signo) < 0 ? REFUSED : DONE;
	}
	END
	chmod +x source/trace-hooks/demo/hooks.d/hello
	touch kernel/greetings
	export TRACER_SYSFS_PATH=$PWD/kernel
	remake 2>warnings
	cat warnings
	[ ! -s warnings ]
	MANAGER=$BATS_TEST_TMPDIR/source/trace-hooks/demo/manager
}

@test "subsystem: a new one is one directory, built, listed, described and run" {
	demo_subsystem
	[ "$(readlink "$MANAGER.tfs")" = manager ]
	[ "$("$MANAGER.tfs" --get-all)" = hello ]
	"$MANAGER" --describe hello | head -n 2 | diff - <(printf '%s\n' "Says hello" \
		"--name NAME...  to whom")
	"$MANAGER" --help | grep -qx 'manager - run the trace hooks of demo'

	start_session hello --pid $$ --name you me --output fifo
	[ "$TRACE" = "$TFS_RUNDIR/demo/$MARK/trace" ]
	read_by cat >got
	eventually grep -q "hello, me" got
	watch_stop
	[ "$(cat got)" = "hello, you (yes)
hello, me (yes)" ]
	[ ! -e "kernel/$MARK" ]

	rm kernel/greetings
	refused 111 "hello: no greetings in this kernel; it needs CONFIG_GREETINGS" \
		--run hello --args "--pid $$ --name you"
	"$MANAGER" --clear
}

# bats test_tags=long
@test "subsystem: a new one is installed and uninstalled like the others" {
	demo_subsystem
	remake install DESTDIR="$PWD/root" PREFIX=/opt
	[ "$(root/opt/lib/trace-hooks/demo/manager.tfs --get-all)" = hello ]
	root/opt/bin/tfs-run -m demo | grep -q '^  hello  '
	remake uninstall DESTDIR="$PWD/root" PREFIX=/opt
	[ -z "$(names root)" ]
}

# ---- hardening -----------------------------------------------------------------

# small_tree COMPILER: Build a tree with the Makefile and one small tool, which prints the
# address of its relocated data, the data, and the map of its memory, and copies its argument to a
# buffer on the stack.
small_tree() {
	local compiler=$1
	need_tool make "$1" readelf objdump
	mkdir -p small/lib/base small/bin/run
	cp "$TREE/Makefile" small
	cp "$TREE"/lib/base/{protect,relocate}.c small/lib/base
	touch small/bin/run/show.1
	cat >small/bin/run/show.c <<-'END'
	#include <stdio.h>
	#include <string.h>

	const char *const words[] = { "one", "two" };

	int main(int argc, char **argv)
	{
		char text[64];
		FILE *f = fopen("/proc/self/maps", "r");

		strcpy(text, argv[argc - 1]);
		printf("%s %lx %s\n", text, (unsigned long)&words[argc % 2], words[argc % 2]);
		while (f && fgets(text, sizeof(text), f))
			fputs(text, stdout);
		return 0;
	}
	END
	make -s -C small GENERATED= CC="$compiler" "${@:2}" bin/show 3>&- >said 2>&1
	cat said
	[ ! -s said ]
	SHOW=small/bin/show
}

# protected FILE: it is position-independent, its relocations are done at the start and
# write-protected then, and its stack is not executable
protected() {
	readelf -hlW "$1" >elf
	readelf -dW "$1" >>elf
	grep -q '^ *Type: *DYN' elf
	grep -q '^ *GNU_RELRO ' elf
	grep -q 'FLAGS).*BIND_NOW' elf
	grep -q 'FLAGS_1).*NOW.*PIE' elf
	grep -q '^ *GNU_STACK .* RW  *0x' elf
}

# relocated: how the page of the tool's constant pointers is mapped, when main runs
relocated() {
	"$SHOW" word | awk '
		function value(hex,  i, n) {
			for (i = 1; i <= length(hex); i++)
				n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		NR == 1 { at = value($2); next }
		{ split($1, range, "-") }
		value(range[1]) <= at && at < value(range[2]) { print $2 }'
}

# marked FUNCTION: it begins with the instruction that a checked jump must meet
marked() {
	objdump -d --disassemble="$1" "$SHOW" >code
	cat code
	sed -n '/>:$/ { n; p; q; }' code | grep -q endbr64
}

@test "make: programs are position-independent and their relocations are read-only" {
	need_tool readelf
	for file in "$TREE"/bin/* "$TREE"/trace-hooks/*/manager; do
		[ -f "$file" ] && [ -x "$file" ] && [ ! -L "$file" ] || continue
		protected "$file" || { echo "$file"; cat elf; return 1; }
	done
}

@test "make: a program's stack, its copies and its indirect calls are checked" {
	small_tree gcc
	protected $SHOW
	[ "$(relocated)" = r--p ]
	nm -D $SHOW | grep -q ' U __stack_chk_fail'
	nm -D $SHOW | grep -Eq ' U __(strcpy|fgets)_chk'
	[ "$(uname -m)" != x86_64 ] || marked main
	# 63 bytes and the final one have room
	$SHOW "$(printf '%063d' 0)" >out
	run ! $SHOW "$(printf '%080d' 0)"
}

@test "make STATIC=1: position-independent without a loader, with a protected stack and data" {
	small_tree musl-gcc STATIC=1 DEBUG=1
	protected $SHOW
	run ! grep INTERP elf
	[ "$(relocated)" = r--p ]
	$SHOW word | grep -q '^word [0-9a-f]* one$'
	nm $SHOW | grep -q ' __stack_chk_fail$'
	"$SHOW" "$(printf '%063d' 0)" >out
	run ! $SHOW "$(printf '%080d' 0)"
}

@test "make STATIC=1: relocations are packed, if libc is musl" {
	[ "$(uname -m)" = x86_64 ] || skip "needs an x86_64"
	ld -z pack-relative-relocs --version >version && ld --help | grep -q pack-relative-relocs ||
		skip "needs a newer ld"
	small_tree musl-gcc STATIC=1 DEBUG=1
	readelf -rW $SHOW >relocations
	run ! grep R_X86_64_RELATIVE relocations
	grep -q '^Relocation section .*relr.dyn' relocations
	[ "$($SHOW word | sed -n '1s/.* //p')" = one ]
}

@test "build: a static program that is not position-independent protects its constants, and nothing else" {
	need_tool gcc readelf strace
	echo 'int main(void) { return 0; }' >plain.c
	gcc -O -static -no-pie -Wl,-z,relro,-u,protect_constants -o plain plain.c "$TREE/lib/base/protect.c" ||
		skip "needs a static libc"
	strace -e trace=mprotect -o calls ./plain
	begin=$(readelf -lW plain | awk '$1 == "GNU_RELRO" { print $3 }')
	grep -q "^mprotect($(printf '%#x' $((begin & ~4095)))," calls
	grep '^mprotect(' calls >all
	run -1 grep -v "^mprotect($(printf '%#x' $((begin & ~4095))), [0-9]*, PROT_READ)" all
}

@test "make: prints a line for each program, with V=1 the commands, with -s nothing" {
	small_tree cc
	make_show() {
		rm $SHOW
		make -C small GENERATED= CC=cc --no-print-directory "$@" bin/show 3>&- >said
	}
	make_show
	[ "$(cat said)" = "  CC bin/show" ]
	make_show V=1
	grep -q '^cc .* -o bin/show ' said
	make_show -s
	[ ! -s said ]
}

@test "make MINIMAL=1: builds and installs all but what draws, the flight recorder, and the subsystems distributed and blktrace" {
	need_tool make
	make -n -B -C "$TREE" MINIMAL=1 install DESTDIR=/root >said
	run ! grep -E 'bin/(draw|flight|requests|block)/|hooks/(blktrace|distributed)/|tfs-flight|trace_flight' said
	for file in bin/control/tfs-dir.c bin/filter/tfs-count.c bin/run/tfs-run.c \
		trace-hooks/ftrace/subsystem.c ftrace/hooks.d/trace_open; do
		grep -qE " $file( |;|$)" said
	done
}

# on_32_bits FILE [WORD...]: it compiles for a machine with longs of 32 bits
on_32_bits() {
	need_tool arm-linux-gnueabihf-gcc
	echo '#include <sys/types.h>' | arm-linux-gnueabihf-gcc -E - >headers 2>&1 ||
		skip "needs headers for arm (package libc6-dev-armhf-cross)"
	arm-linux-gnueabihf-gcc -std=c11 -D_GNU_SOURCE -I"$TREE/lib" -c -o object "$@"
}

@test "make: on 32 bits, the size of a file and a date have 64" {
	need_tool make
	run -0 make -n -B -C "$TREE" build/lib/base/stdout.o
	[[ $output == *" -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 "* ]]
	cat >sizes.c <<-'END'
	#include <sys/resource.h>
	#include <sys/types.h>
	#include <time.h>
	_Static_assert(sizeof(long) == 4, "a host of 32 bits");
	_Static_assert(sizeof(off_t) == 8 && sizeof(ino_t) == 8 && sizeof(time_t) == 8 &&
		       sizeof(rlim_t) == 8, "64 bits");
	END
	on_32_bits sizes.c -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64
	run ! on_32_bits sizes.c
}

@test "library: on 32 bits, 4,194,304 KB are 4 GiB and not 0, and every size uses KB_BYTES" {
	cat >product.c <<-'END'
	#include "base/base.h"
	_Static_assert(KB_BYTES(4194304ul) == 4294967296ull, "not 0");
	_Static_assert(KB_BYTES(2147483647ul) == 2199023254528ull, "the most of --size");
	END
	on_32_bits product.c
	run ! grep -nE '[kK][bB] *\* *1024' "$TREE"/lib/*/*.c "$TREE"/bin/*/*.c \
		"$TREE"/trace-hooks/*/subsystem.c
}

# ---- all of it as one program ---------------------------------------------------

@test "make ONE=1: every tool is a name of one program but five that draw or convert traces, and works by it" {
	source_tree
	remake ONE=1 install DESTDIR="$PWD/root" PREFIX=/usr
	for tool in source/bin/*/*.1; do
		tool=root/usr/bin/$(basename "$tool" .1)
		case $tool in
		*/tfs-export | */tfs-flame | */tfs-perfetto | */tfs-timeline) "$tool" --version && [ ! -L "$tool" ] ;;
		*) [ "$(readlink "$tool")" = tfs ] ;;
		esac
	done
	PATH=$PWD/root/usr/bin:$PATH
	[ "$(syscall-nr getppid)" = "$(tfs syscall-nr getppid)" ]
	[ "$(tfs pids-of --version)" = "$(pids-of --version)" ]
	usage='usage: tfs TOOL [ARGUMENT]...'
	fails 100 "tfs: fatal: no such tool: 'tfs-cat'; $usage" tfs tfs-cat
	fails 100 "tfs: fatal: no tool; give its name; $usage" tfs
	fails 100 "pids-of: fatal: no such option: -x; usage: $(synopsis pids-of)" \
		tfs pids-of -x
	remake ONE=1 uninstall DESTDIR="$PWD/root" PREFIX=/usr
	[ -z "$(ls -A root/usr/bin)" ]
}

# bats test_tags=long
@test "make ONE=1: each manager is a name of it in its directory, by whatever links it is called" {
	source_tree
	remake ONE=1 install DESTDIR="$PWD/root" PREFIX=/usr
	for dir in source/trace-hooks/*/; do
		name=$(basename "$dir")
		[ "$(readlink "root/usr/lib/trace-hooks/$name/manager")" = ../../../bin/tfs ]
		(cd "$dir/hooks.d" && printf '%s\n' *) >hooks
		"root/usr/lib/trace-hooks/$name/manager" --get-all | cmp - hooks
		"root/usr/lib/trace-hooks/$name/manager.tfs" --help | grep -q "hooks of $name$"
		(cd "root/usr/lib/trace-hooks/$name" && ./manager.tfs --get-all) | cmp - hooks
		ln -s "$PWD/root/usr/lib/trace-hooks/$name/manager.tfs" "other-$name"
		"./other-$name" --get-all | cmp - hooks
	done
	# a link outside of the directories of subsystems is not a manager
	mkdir ftrace
	ln -s "$PWD/root/usr/bin/tfs" manager
	outputs 100 "tfs: fatal: no such option: --get-all; usage: tfs TOOL [ARGUMENT]..." ./manager --get-all
	remake ONE=1 uninstall DESTDIR="$PWD/root" PREFIX=/usr
	[ -z "$(names root)" ]
}

# bats test_tags=long
@test "make ONE=1: and back to a program each" {
	source_tree
	remake ONE=1
	[ -L source/bin/tfs-dir ]
	[ -L source/trace-hooks/ftrace/manager ]
	remake
	[ ! -L source/bin/tfs-dir ]
	[ ! -L source/trace-hooks/ftrace/manager ]
	run -0 source/bin/tfs-dir --version
	run -0 source/trace-hooks/ftrace/manager --version
}

@test "make: refuses a format string that our printf does not support" {
	source_tree
	cat >source/bin/run/tfs-bad.c <<-'EOF'
		#include "base/base.h"
		int main(void)
		{
			stdout_print("[%+d] [%hhu]", 1, (unsigned char)2);
			stdout_print("%d%% of %.*s %.80s %llx", 1, 2, "ab", "c", 3ULL);
			return 0;
		}
	EOF
	run -2 remake build/formats
	[[ $output == *'bin/run/tfs-bad.c:4: out_vformat does not support "%+d"; it knows'* ]]
	[[ $output == *'bin/run/tfs-bad.c:4: out_vformat does not support "%hhu"; it knows'* ]]
	[[ $output != *"tfs-bad.c:5"* ]]
	rm source/bin/run/tfs-bad.c
	remake build/formats
}

# ---- the layers of lib/ ------------------------------------------------------------

@test "lib: all public headers can be included together, in one order and the reverse" {
	need_tool gcc
	cd "$TREE/lib"
	for order in sort 'sort -r'; do
		for folder in */; do
			[ ! -e "$folder${folder%/}.h" ] || echo "#include \"$folder${folder%/}.h\""
		done | $order >"$BATS_TEST_TMPDIR/all.c"
		file_has 10+ "$BATS_TEST_TMPDIR/all.c"
		gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -I../build/gen -fsyntax-only \
			"$BATS_TEST_TMPDIR/all.c"
	done
}

# bats test_tags=long
@test "lib: any two public headers can be included together, in either order" {
	need_tool gcc
	local first second n=0
	cd "$TREE/lib"
	for first in */; do
		for second in */; do
			first=${first%/} second=${second%/}
			[ -e "$first/$first.h" ] && [ -e "$second/$second.h" ] || continue
			printf '#include "%s"\n' "$first/$first.h" "$second/$second.h" |
				gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -I. -I../build/gen -fsyntax-only -x c -
			n=$((n + 1))
		done
	done
	[ "$n" -ge 100 ]
}

@test "lib: a folder that includes a layer above it, another's private header, or the kernel's, is refused" {
	mkdir -p copy/bin/run copy/trace-hooks/x
	cp -r "$TREE/Makefile" "$TREE/lib" copy
	touch copy/bin/x.c copy/bin/run/x.c copy/bin/run/x.h copy/trace-hooks/x/x.c
	outputs 0 "" "$TREE/t/layers" copy
	echo '#include "session/session.h"' >>copy/lib/base/text.c
	printf '#include "%s"\n' event/vm.h x.h draw/draw.h flight/flight.h >>copy/bin/run/x.c
	echo '#include "flight/flight.h"' >copy/trace-hooks/x/x.c
	run -1 "$TREE/t/layers" copy
	[ "${#lines[@]}" = 3 ]
	[ "${lines[0]}" = "lib/base/text.c:$(wc -l <copy/lib/base/text.c): includes session/session.h, but base is below session" ]
	[ "${lines[1]}" = "bin/run/x.c:1: includes event/vm.h, but event/vm.h is private to event" ]
	[ "${lines[2]}" = "bin/run/x.c:4: includes flight/flight.h, but it is no part of run" ]
	# the towers
	printf '#include "%s"\n' select/select.h tracefs/tracefs.h >copy/lib/lines/x.c
	printf '#include "%s"\n' live/live.h lines/lines.h >copy/lib/session/x.c
	printf '#include "%s"\n' event/event.h >copy/bin/run/x.c
	sed -i '$d' copy/lib/base/text.c
	: >copy/trace-hooks/x/x.c
	outputs 1 "lib/lines/x.c:2: includes tracefs/tracefs.h, but tracefs is of another tower
lib/session/x.c:2: includes lines/lines.h, but lines is of another tower" "$TREE/t/layers" copy
	echo '#include <linux/bpf.h>' >copy/bin/run/x.c
	run -1 "$TREE/t/layers" copy
	[ "$output" = "bin/run/x.c:1:#include <linux/bpf.h>
musl has no such header" ]
	mkdir copy/lib/attic
	outputs 1 "lib/attic/: add it to LAYERS or AREAS in the Makefile" "$TREE/t/layers" copy
}

@test "lib/base, lib/host, lib/tool: no two files need each other" {
	need_tool nm tsort
	# symbols that a file defines and uses, without those of libc
	nm -A "$TREE"/build/lib/{base,host,tool}/*.o | awk '
		{ file = $1; sub(/:.*/, "", file) }
		$2 == "U" { used[file, $3] = file; name[file, $3] = $3 }
		$2 ~ /^[BDRT]$/ { defined[$3] = file }
		END {
			for (k in used)
				if (name[k] in defined && defined[name[k]] != used[k])
					print used[k], defined[name[k]]
		}' >pairs
	file_has 20+ pairs
	tsort pairs >order
}

@test "lib: a function that ends the process, and is not named in t/exits, is refused" {
	mkdir copy
	cp -r "$TREE/lib" "$TREE/bin" copy
	outputs 0 "" "$TREE/t/exits" copy
	cat >copy/lib/event/bad.c <<-'END'
		#include "base/base.h"
		/* exit(1) in a comment is none */
		static int *quit(
		        int n)
		{
		    err_exit(REFUSED, "no");
		    if (n)
		        _exit(1);
		    abort();
		}
	END
	sed -i 's/^\texit(status);$/\tnever(status);/' copy/lib/base/error.c
	run -1 "$TREE/t/exits" copy
	[ "$output" = 'lib/event/bad.c:6: quit ends the process: err_exit(REFUSED, "no");
lib/event/bad.c:8: quit ends the process: _exit(1);
lib/event/bad.c:9: quit ends the process: abort();
lib/base/error.c: err_exit does not end the process any more' ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016 # what must not be expanded stands in single quotes
# shellcheck disable=SC2030,SC2031,SC2034,SC2154 # bats and the helper use them
# hostile: a user of the REST side chooses the hook's name and all of --args, and gains
# nothing; neither does another user of the machine.
# parts: 6

load ../helper

NAME="is not a name: letters, digits, _ . - and 64 of them at most"
NO_CALL="is not a system call, a glob such as open*, or a class such as file"

# Each test here also proves that no value was evaluated.
undo() {
	local made
	made=$(find / -xdev -maxdepth 2 -name "*$CANARY*"
		find "$BATS_TEST_TMPDIR" "$TREE/trace-hooks" "$TREE/bin" -name "*$CANARY*")
	[ -z "${PLACE-}" ] || rm -r "$PLACE"
	[ -z "$made" ] || { echo "evaluated: $made"; return 1; }
}

# The file that a value would make if it were evaluated.
CANARY=canary$$

# not ARGS MESSAGE [STATUS]: Fail unless the manager refuses ARGS of trace_syscalls with MESSAGE.
not() {
	refused "${3-100}" "$2" --run trace_syscalls --args "$1"
}

# no_option WORDS WORD [NEAR]: Fail unless the manager names WORD, and the option that is near.
no_option() {
	not "$1" "trace_syscalls has no option '$2';${3:+ did you mean --$3?} --describe trace_syscalls lists them"
}

hostile_names=(
	../../x ../x x/.. / /etc/passwd a/b ./a .. . .hidden '$(touch '"$CANARY"')'
	'`touch '"$CANARY"'`' "; touch $CANARY" "a;touch $CANARY" "a|b" "a&b" "a b" 'a*' '?' '[a]'
	'~' '$HOME' '${IFS}' 'a=b' 'a:b' 'a,b' 'a%s%n' 'a!b' 'a#b' 'a@b' 'a+b' $'\xc3\xa9' $'\xff'
	"a'b" 'a"b' 'a\b' '{a,b}' '<x' '>x' '(x)'
)

@test "hostile: a name consists of letters, digits, _ . - and nothing else" {
	for name in "${hostile_names[@]}"; do
		quoted=\'${name//\'/\'\\\'\'}\'
		for option in instance syscall clock; do
			# commas separate the names of a list
			expected=$NAME
			if [ $option = syscall ]; then
				# globs and ! are for system calls
				[[ $name != *,* && $name != 'a*' && $name != 'a!b' && $name != '[a]' && $name != '?' ]] || continue
				expected=$NO_CALL
			fi
			not "--pid $$ --$option $quoted" "--$option: '$name' $expected"
			not "--pid $$ --$option=$quoted" "--$option: '$name' $expected"
		done
	done
	not "--pid $$ --syscall '{a,b}'" "--syscall: '{a' $NO_CALL"
	not "--pid $$ --instance=-x" "--instance: '-x' $NAME"
	not "--pid $$ --instance=" "--instance: '' $NAME"
	not "--pid $$ --instance ''" "--instance: '' $NAME"
	long=$(printf 'a%.0s' {1..65})
	not "--pid $$ --instance $long" "--instance: '$long' $NAME"
}

@test "hostile: control characters of a value reach neither the kernel nor the terminal" {
	not $'--pid 1 --instance \'a\nb\'' "--instance: 'a?b' $NAME"
	not $'--pid 1 --instance \'a\tb\'' "--instance: 'a?b' $NAME"
	not $'--pid 1 --instance a\x1b[31m' "--instance: 'a?[31m' $NAME"
	not $'--pid 1 --instance a\xc2\x9b31m\x9b31m\xe2\x9b\x84' "--instance: 'a??31m?31m⛄' $NAME"
	not $'--pid 1 --instance a\x7f' "--instance: 'a?' $NAME"
	not $'--comm \'a\nb\'' "--comm: 'a?b' is not printable text"
	not $'--cgroup \'/a\x01\'' "--cgroup: '/a?' is not printable text"
	not $'--pid 1 \'--x\ny\'' "trace_syscalls has no option '--x?y'; --describe trace_syscalls lists them"
	not $'--pid 1\r' "--pid: '1?' is not a pid, a number from 1 to 4194304"
}

@test "hostile: no type of a value takes control characters, and no value of many a space" {
	need_tracefs
	own_tree
	make_hook keys <<-'END'
	# description: keys
	# option: --key KEY...  keys
	# option: --glob GLOB,...  globs
	set -- tfs-count
	for key in $HOOK_KEY; do set -- "$@" -k "$key"; done
	printf '%s\0' filter $# "$@"
	END
	for value in $'pid\n|\nsigwait-run\n/x' $'pid\t-o' $'pid\x1b[2J' $'pid\x7f' $'pid\xc2\x85'; do
		refused 100 "--key: '$(tr '\n\t\33\177' '????' <<<"$value" | head -c -1 | sed $'s/\xc2\x85/??/')' is not a key, the name of a field such as pid" \
			--run keys --args "--instance $MARK --pid $$ --key '$value'"
	done
	for option in key glob; do
		refused 100 "--$option: 'pid -o/x' has a space, which would make it two values; give each value as a word" \
			--run keys --args "--instance $MARK --pid $$ --$option 'pid -o/x'"
	done
	nothing_left
}

@test "hostile: a link of another user to a path with control characters adds no word to a stream" {
	need_tracefs events/syscalls
	for name in $'x\n|\nsigwait-run' $'end\n' $'tab\t' $'\x1b[2J' $'del\x7f' $'c1\xc2\x85'; do
		mkdir "$name"
		rm -f link
		ln -s "$PWD/$name" link
		fails 100 "manager: fatal: '$PWD/link' leads to a path with control characters" \
			"$MANAGER" --run trace_files --args "--instance $MARK --pid $$ --path $PWD/link"
	done
	ln -sfn 'option 1 |' link # what only the shell of a careless hook would split
	mkdir 'option 1 |'
	run -0 "$MANAGER" --check trace_files --args "--instance $MARK --pid $$ --path $PWD/link"
	nothing_left
}

@test "hostile: a NUL ends an argument of exec, and the next word is an argument of its own" {
	run -123 --separate-stderr "$BASH" -c 'printf "%s\0" --run trace_syscalls --args "--pid 1 --time 1\0--clear" | xargs -0 "$1"' - "$MANAGER"
	[ -z "$output" ]
	run -123 --separate-stderr "$BASH" -c 'printf -- "--run\0trace_syscalls\0--args\0--instance x\0--clear\0" | xargs -0 "$1"' - "$MANAGER"
	[ -z "$output" ]
	[ "$stderr" = "manager: fatal: --clear is one option too many; usage: manager --get-all | --describe HOOK | --clear | --check|--run HOOK [--args WORDS | -- WORD...]" ]
}

@test "hostile: text stays text, whatever it would mean to a shell" {
	need_tracefs events/syscalls
	for text in '$(touch '"$CANARY"')' '`touch '"$CANARY"'`' "; touch $CANARY" "a && touch $CANARY" \
		"> $CANARY" "| tee $CANARY" '*' '../../etc' '%s%s%s%n' "' \" \\"; do
		quoted=\'${text//\'/\'\\\'\'}\'
		[ ${#text} -gt 15 ] ||
			not "--comm $quoted --output dat" "no task to trace: the selectors match none; correct them" 111
		not "--cgroup $quoted --output dat" "no such cgroup: '$text'; give a path, its last part, or a pid" 111
		run "$MANAGER" --check trace_syscalls --args "--cgroup $quoted"
	done
}

@test "hostile: a task whose name is a command is traced and the command does not run" {
	need_tracefs events/syscalls
	text='$(>'$CANARY')'
	ln -s "$PROG/calls" "$text"
	mkfifo go
	background "./$text" 5 <>go >named
	eventually test -s named
	rm "$text"
	watch trace_syscalls --syscall getppid --comm "'$text'"
	echo >go
	eventually file_has 5 got
	watch_stop
	file_has 5 got
}

@test "hostile: no value can smuggle in an option" {
	not "--pid 1 --output=../../x" "--output: '../../x' is not one of lines|fifo|file|dat"
	not "--pid 1 --output 'file --size 1'" "--output: 'file --size 1' is not one of lines|fifo|file|dat"
	not "--pid 1 --output 'lines|fifo'" "--output: 'lines|fifo' is not one of lines|fifo|file|dat"
	not "--pid 1 --output ''" "--output: '' is not one of lines|fifo|file|dat"
	not "--pid 1 --output LINES" "--output: 'LINES' is not one of lines|fifo|file|dat"
	for word in = =x ../x; do
		not "--pid 1 -i$word" "--instance: '$word' is not a name: letters, digits, _ . - and 64 of them at most"
	done
	for word in -- - --=x -=x; do
		no_option "--pid 1 $word" $word
	done
	for word in --pi --pidx ---pid --Pid; do
		no_option "$word 1" $word pid
	done
	no_option "--pid 1 '--time 5'" "--time 5" time
	no_option "--run trace_syscalls" "--run" raw
	not "1 --pid 1" "'1' stands before any option; put its option in front"
	not "'' --pid 1" "'' stands before any option; put its option in front"
	not "--pid=1=2" "--pid: '1=2' is not a pid, a number from 1 to 4194304"
	not "--all=1" "--all takes no value; leave '1' out"
	not "--all=" "--all takes no value; leave '' out"
	not "--all all" "--all takes no value; leave 'all' out"
}

@test "hostile: an option given twice, or with too many values, is refused" {
	while IFS='|' read -r words option value; do
		not "--pid $$ $words" "--$option takes one value, and '$value' is one too many; leave it out"
	done <<-'END'
		-t 1 -t 2|time|2
		--time 1 2|time|2
		--time=1 --time=1|time|1
		--output fifo lines|output|lines
		-i a --instance b|instance|b
		--clock=mono local|clock|local
	END
}

@test "hostile: a number consists of decimal digits in its range, and nothing else" {
	local time='a time such as 500 (milliseconds), 500ms, 5s, 2m or 1h'
	local size='a size such as 500 (kilobytes), 64M or 1G'
	local times='from 1 to 2147483647 milliseconds; give a time such as 500ms, 5s, 2m or 1h'
	local sizes='from 1 to 2147483647 kilobytes; give a size such as 64M or 1G'
	not "--pid '1,'" "--pid: '' is not a pid, a number from 1 to 4194304"
	not "--pid $$ --time '1,'" "--time: '1,' is not $time"
	for bad in +1 0x1 1e3 1.0 ' 1' '1 ' 1k '' \
		$'\xd9\xa1' 0b1 1_000 '$((1))' 99999999999999999999999 18446744073709551617; do
		not "--pid '$bad'" "--pid: '$bad' is not a pid, a number from 1 to 4194304"
		not "--parent '$bad'" "--parent: '$bad' is not a pid, a number from 1 to 4194304"
		not "--uid '$bad'" "--uid: '$bad' is not the name or the number of a user"
		case $bad in
		*[!0-9]* | '') ;;
		*) time=$times size=$sizes ;;
		esac
		not "--pid $$ --time '$bad'" "--time: '$bad' is not $time"
		# 1k is a size
		[ "$bad" != 1k ] || continue
		not "--pid $$ --size '$bad'" "--size: '$bad' is not $size"
		not "--pid $$ --buffer '$bad'" "--buffer: '$bad' is not $size"
	done
	for bad in 0 -1 4194305 4294967297; do
		not "--pid=$bad" "--pid: '$bad' is not a pid, a number from 1 to 4194304"
	done
	not "--pid $$ --time=-1" "--time: '-1' is not a time such as 500 (milliseconds), 500ms, 5s, 2m or 1h"
	not "--pid $$ --buffer=-1" "--buffer: '-1' is not a size such as 500 (kilobytes), 64M or 1G"
	for bad in 0 2147483648; do
		not "--pid $$ --time=$bad" "--time: '$bad' is not $times"
		not "--pid $$ --buffer=$bad" "--buffer: '$bad' is not $sizes"
		not "--pid $$ --size=$bad" "--size: '$bad' is not $sizes"
	done
	for bad in -1 4294967296; do
		not "--uid=$bad" "--uid: '$bad' is not the name or the number of a user"
	done
}

@test "hostile: open quotes and a final backslash are refused" {
	not "--pid $$ --instance 'x" "--args: a single quote is left open"
	not "--pid $$ --instance \"x" "--args: a double quote is left open"
	not "--pid $$ --instance x\\" "--args: a backslash at the end quotes nothing"
	not "--pid $$ --instance \"x\\" "--args: a backslash at the end quotes nothing"
	not '"' "--args: a double quote is left open"
	not "'\\" "--args: a single quote is left open"
}

# Almost the 128 KiB that the kernel accepts for one argument of exec.
long_text() {
	head -c "$1" /dev/zero | tr '\0' "${2-a}"
}

@test "hostile: a value of 128 KiB is refused, and the message is cut" {
	need_tracefs events/syscalls
	text=$(long_text 131000)
	not "--pid $$ --instance $text" "--instance: '${text:0:80}' $NAME"
	no_option "--$text" "--${text:0:78}"
	not "--pid $(long_text 131000 1)" "--pid: '${text:0:0}$(long_text 80 1)' is not a pid, a number from 1 to 4194304"
	not "--comm $text" "--comm: '${text:0:80}' is longer than 15 bytes, the maximum of a name; give '${text:0:15}'"
	not "--cgroup /$text" "no such cgroup: '/${text:0:199}'; give a path, its last part, or a pid" 111
	refused 100 "no hook '${text:0:80}'; --get-all lists them" --describe "$text"
	refused 100 "no hook '${text:0:80}'; --get-all lists them" --run "$text"
}

@test "hostile: a value that is repeated counts once, and many users cost one look at each process" {
	need_tracefs
	need_tool strace
	own_tree
	make_hook prints <<-'END'
	# description: prints the number of words
	# option: --names NAME...  names
	# option: --text TEXT...  texts
	echo "$HOOK_NAMES" "$HOOK_TEXT" >&2
	exit 1
	END
	fails 111 'manager: fatal: b a c y x' "$MANAGER" --run prints \
		--args "--instance $MARK --pid $$ --names b,a,b --text y x y --names c a b --text x"
	# each look at a process is a file of procfs: with many values as many as with one
	looks() { # WORD...
		strace -f -qq -e trace=openat -o calls "$MANAGER" --run prints \
			--args "--instance $MARK --names a --text x $*" >/dev/null 2>&1 || :
		grep -c 'proc/[0-9]*/' calls
	}
	one=$(looks --uid 0)
	[ "$(looks --uid 0 "$(seq 70000 72000 | tr '\n' ,)70000")" -le $((one * 3 / 2 + 100)) ]
	[ "$(looks "$(printf -- '--uid 0 %.0s' {1..2000})")" -le $((one * 3 / 2 + 100)) ]
	nothing_left
}

@test "hostile: 3,000 threads of one process, each named, are looked at without the sum of all of them" {
	need_tracefs
	need_tool strace python3
	hold python3 -c '
import threading, sys
threading.stack_size(65536)
for i in range(3000):
	threading.Thread(target=threading.Event().wait, daemon=True).start()
print("ready", flush=True)
sys.stdin.readline()'
	threads=$(cd "/proc/$HELD/task" && echo *)
	[ "$(wc -w <<<"$threads")" = 3001 ]
	strace -f -qq -e trace=openat -o calls "$MANAGER" --run trace_event --args "--instance $MARK \
		--event sched:sched_process_exit --time 100 --pid $threads" >out 2>err 3>&- 4>&-
	# the kernel adds up all threads of a process whenever it makes the text of PID/stat
	run -1 grep -E 'proc/[0-9]+/stat"' calls
	[ "$(grep -Ec "proc/[0-9]+/task/[0-9]+/stat\"" calls)" -ge 3001 ]
	release
}

@test "hostile: many tasks of one cgroup cost one look at each process" {
	need_cgroup
	need_tool strace
	own_tree
	make_hook fails_at_once <<-'END'
	# description: fails
	exit 1
	END
	tasks=()
	for ((n = 0; n < 60; n++)); do
		background sh -c 'echo $$ >"$1" && read -r _ <>"$2"' - "$CGROUP/cgroup.procs" "$NEVER"
		tasks+=("$PID")
	done
	eventually file_has 60 "$CGROUP/cgroup.procs"
	looks() { # WORD...
		strace -f -qq -e trace=openat -o calls "$MANAGER" --run fails_at_once \
			--args "--instance $MARK $*" >/dev/null 2>&1 || :
		grep -c 'proc/[0-9]*/' calls
	}
	one=$(looks --cgroup "${tasks[0]}")
	[ "$one" -gt 100 ]
	[ "$(looks --cgroup "${tasks[@]}")" -le $((one * 3 / 2 + 1000)) ]
	not "--cgroup $(printf 'x%d ' {1..201}) --container $(printf 'abcdef%06d ' {1..56})" \
		"257 cgroups, containers and pid namespaces are too many; a session selects up to 256 of them: give a cgroup that is above them"
	kill "${tasks[@]}"
	wait "${tasks[@]}" || :
	eventually rmdir "$CGROUP"
}

@test "hostile: an --args of 65,000 words is checked to its end" {
	need_tracefs events/syscalls
	ones=$(yes 1 | head -n 65000 | tr '\n' ' ')
	not "--uid $ones 0x" "--uid: '0x' is not the name or the number of a user"
	not "$ones" "'1' stands before any option; put its option in front"
	not "--pid $$ --time $ones" "--time takes one value, and '1' is one too many; leave it out"
	not "--pid $$ --syscall $ones" "trace_syscalls: no system call '1' in this kernel; look in $TRACEFS/events/syscalls" 111
	not "--pid $$ --syscall $(seq 4097 | tr '\n' ' ')" "--syscall: 4097 values are too many; give up to 4096"
	not "$(long_text 131000 ' ')" "trace_syscalls: no task is selected; give --pid, or see --describe trace_syscalls"
	not "$(long_text 130998 \')\"" "--args: a double quote is left open"
	not "$(long_text 131001 \')" "--args: a single quote is left open"
}

@test "hostile: a hook is a name in hooks.d and never a path" {
	for name in ../hooks.d/trace_syscalls ../manager ../../../bin/tfs-dir /bin/sh hooks.d . .. '' \
		trace_syscalls/ ./trace_syscalls /trace_syscalls .hidden -x 'trace_syscalls ' \
		'trace_*' '$(touch '"$CANARY"')' "trace_syscalls;touch $CANARY" trace_syscalls.bak; do
		for verb in --describe= --run=; do
			refused 100 "no hook '$name'; --get-all lists them" "$verb$name"
		done
	done
	refused 100 "no hook 'a?b'; --get-all lists them" --run=$'a\nb'
}

@test "hostile: a file of hooks.d that is not executable or not named like a hook is not a hook" {
	own_tree
	for name in .hidden plain backup.orig 'with space' "-dash" directory; do
		cp "$HOOKS/trace_syscalls" "$HOOKS/$name"
	done
	chmod -x "$HOOKS/plain"
	rm "$HOOKS/directory"
	mkdir "$HOOKS/directory"
	mkfifo -m 755 "$HOOKS/fifo"
	ln -s nowhere "$HOOKS/dangling"
	[ "$("$MANAGER" --get-all)" = "$(cd "$TREE/trace-hooks/ftrace/hooks.d" && LC_ALL=C ls)" ]
	refused 100 "plain is not executable; run chmod +x $HOOKS/plain" --describe plain
	refused 100 "plain is not executable; run chmod +x $HOOKS/plain" --run plain
	for name in .hidden backup.orig 'with space' "-dash" directory fifo dangling; do
		refused 100 "no hook '$name'; --get-all lists them" "--describe=$name"
		refused 100 "no hook '$name'; --get-all lists them" "--run=$name" --args "--pid $$"
	done
}

# ---- where sessions live --------------------------------------------------------------

# wont_run_in DIRECTORY REASON: Fail unless DIRECTORY is refused as run directory for REASON.
wont_run_in() {
	local status=0
	TFS_RUNDIR=$1 "$MANAGER" --run trace_syscalls --args "--pid $$ --instance $MARK" \
		>out 2>err || status=$?
	file_is err "manager: fatal: $2"
	[ "$status" = 111 ]
	[ ! -s out ]
	[ ! -d "$TRACEFS/instances/tfs.$MARK" ]
}

@test "hostile: a run directory that another user may write is refused" {
	need_tracefs
	why='must belong to this user, and nobody else may write to it: remove it, or set TFS_RUNDIR to another directory'
	mkdir -p tfs/ftrace
	for bad in 777:0 775:0 757:0 1777:0 755:4242; do
		for dir in tfs tfs/ftrace; do
			chmod "${bad%:*}" $dir
			chown "${bad#*:}" $dir
			wont_run_in "$PWD/tfs" "$PWD/$dir $why"
			chmod 755 $dir
			chown 0 $dir
		done
	done
}

@test "hostile: a run directory is refused if another user may change a directory on its path" {
	need_tracefs
	mkdir -p way/tfs
	for mode in 777 775 757; do
		chmod "$mode" way
		wont_run_in "$PWD/way/tfs" "$PWD/way can be changed by others: set TFS_RUNDIR to another directory"
	done
	chmod 755 way
	chown 4242 way
	wont_run_in "$PWD/way/tfs" "$PWD/way can be changed by others: set TFS_RUNDIR to another directory"
	ln -s way link
	chown -h 4242 link
	wont_run_in "$PWD/link/tfs" "$PWD/link can be changed by others: set TFS_RUNDIR to another directory"
	[ -z "$(ls -A way/tfs)" ]
}

@test "hostile: a run directory may lie in a volume that every user may write to, as in Kubernetes" {
	need_tracefs
	mkdir volume
	mount -t tmpfs -o mode=777 tmpfs volume || skip "needs the right to mount"
	TFS_RUNDIR=$PWD/volume/tfs start_session trace_syscalls --pid $$ || :
	stop_session || :
	made=$(ls -d volume/tfs/ftrace) || :
	umount volume
	[ "$made" = volume/tfs/ftrace ]
}

@test "hostile: a directory with files of others is refused as run directory, for example /etc" {
	need_tracefs
	mkdir other
	touch other/passwd
	wont_run_in "$PWD/other" "$PWD/other has files of others, such as passwd: set TFS_RUNDIR to a directory of its own"
	[ "$(ls -A other)" = passwd ]
	before=$(ls -A /etc)
	run -111 env TFS_RUNDIR=/etc "$MANAGER" --run trace_syscalls --args "--pid $$ --time 1000"
	[[ $output == 'manager: fatal: /etc has files of others, such as '*': set TFS_RUNDIR to a directory of its own' ]]
	[ "$(ls -A /etc)" = "$before" ]
}

@test "hostile: a run directory that is a symbolic link, a file or no absolute path is refused" {
	need_tracefs
	mkdir elsewhere
	ln -s elsewhere link
	touch file
	wont_run_in "$PWD/link" "unable to open $PWD/link: Not a directory"
	wont_run_in "$PWD/file" "unable to open $PWD/file: Not a directory"
	wont_run_in relative "TFS_RUNDIR must be an absolute path: 'relative'"
	mkdir tfs
	ln -s ../elsewhere tfs/ftrace
	wont_run_in "$PWD/tfs" "unable to open $PWD/tfs/ftrace: Not a directory"
	[ -z "$(ls -A elsewhere)" ]
}

@test "hostile: a symbolic link in the place of a session is neither followed nor replaced" {
	need_tracefs
	mkdir -p "$TFS_RUNDIR/ftrace" elsewhere
	ln -s "$PWD/elsewhere" "$TFS_RUNDIR/ftrace/$MARK"
	for output in lines file; do
		refused 111 "$TFS_RUNDIR/ftrace/$MARK exists already, left by a session of that name; remove it, or give --instance another name" \
			--run trace_syscalls --args "--pid $$ --instance $MARK --output $output"
		[ "$(readlink "$TFS_RUNDIR/ftrace/$MARK")" = "$PWD/elsewhere" ]
		[ -z "$(ls -A elsewhere)" ]
	done
	rm "$TFS_RUNDIR/ftrace/$MARK"
}

@test "hostile: a link in the place of the trace is not written through" {
	need_tracefs events/syscalls
	mkfifo gate
	echo precious >precious
	own_tree
	# plant a link in the session's directory at the latest possible moment
	make_hook planted <<-END
	# description: a trace that is a link
	ln -sf "$BATS_TEST_TMPDIR/precious" "$TFS_RUNDIR/ftrace/$MARK/trace"
	END
	calls 1
	: >out; : >err
	background "$MANAGER" --run planted --args \
		"--pid $CALLS --instance $MARK --output file" >out 2>err
	finishes "$PID" 111
	file_is precious precious
	rm -rf "$TFS_RUNDIR/ftrace/$MARK"
}

@test "hostile: another user can neither read the path of a session nor replace it" {
	need_tracefs
	need_tool setpriv
	# below a directory that all users may enter
	PLACE=$(mktemp -d /tmp/tfs-test.XXXXXX)
	chmod 755 "$PLACE"
	export TFS_RUNDIR=$PLACE/run
	calls 1
	start_session trace_syscalls --syscall getppid --pid "$CALLS" --output fifo
	inode=$(stat -c %i "$TRACE")
	user=(setpriv --reuid 4242 --regid 4242 --clear-groups
		sh -c 'cd / && exec "$@"' -)
	"${user[@]}" test -d "$TFS_RUNDIR/ftrace"
	run -1 "${user[@]}" cat "$TRACE"
	run -1 "${user[@]}" rm -f "$TRACE"
	run -1 "${user[@]}" mv "${TRACE%/*}" "$TFS_RUNDIR/ftrace/moved"
	run -1 "${user[@]}" ln -sf /etc/passwd "$TRACE"
	run -1 "${user[@]}" mkfifo "$TFS_RUNDIR/ftrace/new"
	run -1 "${user[@]}" mv "$TFS_RUNDIR/ftrace" "$TFS_RUNDIR/moved"
	run ! "${user[@]}" ls "${TRACE%/*}"
	[ "$(stat -c %i "$TRACE")" = "$inode" ]
	read_by cat >got
	release
	watch_end
	file_has 1 got
}

# ---- input and files of a hook -------------------------------------------------------

@test "hostile: a hook gets only the documented variables of the caller" {
	need_tracefs
	own_tree
	make_hook environment <<-'END'
	# description: shows its environment
	# option: --to TEXT  the file
	# option: --loud  a flag
	# option: --many-names NAME...  several
	# option: --unused NAME  not given
	tr '\0' '\n' </proc/$$/environ | grep -v -e '^_=' >"$HOOK_TO"
	END
	calls 0
	export HOOK_SYSCALL=evil HOOK_UNUSED=evil TFS_INSTANCE="" IFS=x ENV=$PWD/$CANARY BASH_ENV=$PWD/$CANARY
	export LD_LIBRARY_PATH=/evil GCONV_PATH=/evil CDPATH=/evil TFS_ROOT=/evil PS4='$(touch '"$CANARY"')'
	: >out; : >err
	TRACER_PROCFS_PATH=/proc TRACER_SYSFS_PATH=/sys background env PATH="/evil:$PATH" "$MANAGER" \
		--run environment --args \
		"--pid $CALLS -i $MARK --to $PWD/seen --many-names a b --loud" >out 2>err
	SESSION=$PID
	IFS=$' \t\n'
	eventually path_or_error
	TRACE=$(cat out)
	stop_session
	cat >expected <<-END
	HOOK_LOUD=1
	HOOK_MANY_NAMES=a b
	HOOK_TO=$PWD/seen
	PATH=$(realpath "$MANAGER" | sed 's,/trace-hooks/.*,,')/trace-hooks/ftrace/../../bin:/usr/sbin:/usr/bin:/sbin:/bin
	TFS_GROUP=tfs_${MARK/-/_m}
	TFS_INSTANCE=tfs.$MARK
	TFS_KEEPS=3
	TRACER_PROCFS_PATH=/proc
	TRACER_SYSFS_PATH=/sys
	END
	LC_ALL=C sort seen | diff expected -
}

@test "hostile: a hook has an empty standard input, and its output does not become the path" {
	need_tracefs
	own_tree
	make_hook chatty <<-END
	# description: talks and listens
	printf '%s\0' options 1 -j
	cat >"$BATS_TEST_TMPDIR/heard"
	END
	calls 0
	echo secret | start_session_of chatty
	[ ! -s heard ]
}

# start_session_of HOOK: Run a session of HOOK to its end; HOOK could read stdin.
start_session_of() {
	local status=0
	"$MANAGER" --run "$1" --args "--pid $CALLS --instance $MARK --time 1" \
		>out 2>err || status=$?
	file_is out "$TFS_RUNDIR/ftrace/$MARK/trace"
	[ ! -s err ]
	[ "$status" = 0 ]
}

@test "hostile: a flood of names in one option gives a session or one error line" {
	need_tracefs events/syscalls
	calls 1
	names=$(yes getppid | head -n 1000 | tr '\n' ' ')
	watch_whole trace_syscalls --pid "$CALLS" --syscall "$names"
	file_has 1 got
}

# ---- what traced programs call themselves and their files ----------------------------

FORGED='# lost 99 events: 99 overwritten in a full buffer, 0 not written'

# acts_up COMMAND...: Start a task that waits, and then gets a name and runs a file whose names
# hold newlines; set $PID to its pid. "go" lets it continue.
acts_up() {
	ln -s "$PROG/acts" $'x\n'"$FORGED"
	mkfifo go
	# shellcheck disable=SC2016 # the shell's own
	background sh -c 'echo; read -r _; printf "a\n# lost 7 " >/proc/self/comm
		./"$1" nothing; :' - $'x\n'"$FORGED" <>go >ready
	eventually test -s ready
}

@test "hostile: a task or file whose name holds a newline adds no line to the trace" {
	need_tracefs events/task/task_rename
	need_tracefs events/sched/sched_process_exec
	for output in fifo lines file; do
		acts_up
		start_session trace_event --output "$output" --pid "$PID" -e task_rename sched_process_exec
		if [ "$output" = file ]; then
			echo >go
			session_ends
			cp "$TRACE" got
		else
			read_by cat >got
			echo >go
			watch_end
		fi
		rm -r x* go ready "$TFS_RUNDIR"
		# the shell is renamed, the child runs the file, and that renames the child
		run ! grep '^#' got
		[ "$(grep -c 'sched_process_exec: filename=\./x\\n# lost 99 events\\x3a 99 overwritten' got)" = 1 ]
		[ "$(grep -c 'task_rename: .* newcomm=a\\n# lost 7\\x20 ' got)" = 1 ]
		file_has "$(grep -c '^ *[^ ].*-[0-9]* *\[[0-9]*\] ' got)" got
		tfs-count <got >counted
		run ! grep lost counted
	done
}

@test "hostile: a name that turns the text around it reaches neither text, JSON nor a picture as it is" {
	need_tracefs events/task/task_rename
	# as bytes, because bash writes other characters in the locale C
	turns=$'\xe2\x80[\xa8\xaa\xae\x8e\x8f]|\xe2\x81[\xa6\xa9]|\xd8\x9c'
	for escape in 2028 202e 2066 200f 061c; do
		case $escape in
		2028) turn=$'\xe2\x80\xa8' ;; # some programs begin a line there
		202e) turn=$'\xe2\x80\xae' ;;
		2066) turn=$'\xe2\x81\xa6' ;;
		200f) turn=$'\xe2\x80\x8f' ;;
		061c) turn=$'\xd8\x9c' ;;
		esac
		for json in '' --json; do
			# shellcheck disable=SC2016 # of the other shell
			tfs-run trace_event --instance "$MARK" ${json:+"$json"} -e task_rename -e sched_process_exit -- \
				bash -c 'printf %s "$1" >/proc/$$/comm' sh "a${turn}b;c" >"got$json" </dev/null 3>&- 4>&-
			grep -q "b;c" "got$json"
			LC_ALL=C run -1 grep -aE "$turns" "got$json"
		done
		grep -Fq "\"newcomm\":\"a\\u${escape}b;c\"" got--json
		for file in got got--json; do
			tfs-timeline "$file" >"$file.svg"
			tfs-flame -w newcomm -k comm "$file" >"$file.flame.svg" || :
			tfs-human "$file" >"$file.human"
			tfs-count -k newcomm -k .comm <"$file" >"$file.count"
			tfs-flame -f -k newcomm "$file" >"$file.folded" || :
			LC_ALL=C run -1 grep -aE "$turns" "$file".*
		done
	done
	# neither messages
	run -100 --separate-stderr "$MANAGER" --run trace_event --args $'--pid 1 -e a\xe2\x80\xaeb'
	[[ $stderr == *"'a???b' is not printable text" ]]
}

@test "trace_syscalls: --user-stack of a program with 40 MB of mappings ends in time and counts what it did not read" {
	[ "$(uname -m)" = x86_64 ] || skip "needs stacks of programs, as x86_64 has them"
	need_tracefs options/userstacktrace
	mkfifo go
	background "$PROG/maps" 3000 <>go >ready
	local mapper=$PID
	eventually grep -q ready ready
	watch trace_syscalls --pid "$mapper" -s getppid --user-stack
	for turn in 1 2 3; do
		echo >go
		all_read() { [ "$(grep -c '<user stack trace>' got)" = $((10 * turn)) ]; }
		eventually all_read
	done
	watch_stop
	ends_by "$mapper" TERM 143
	rm -r "$BATS_TEST_TMPDIR"/$'\n'*
	[ "$(grep -c ': sys_getppid()$' got)" = 30 ]
	grep -q '^# [1-9][0-9]* reads of /proc were cut or left out: names or paths are missing$' got
}

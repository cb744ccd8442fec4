#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-run: each typical mistake has a message that names the object, the reason and the next step

load ../helper

# says STATUS MESSAGE WORD...: Fail unless tfs-run WORD... ends with STATUS, prints nothing, and
# says exactly MESSAGE.
says() {
	fails "$1" "tfs-run: fatal: $2" tfs-run "${@:3}"
}

# table ROWS: Check each row STATUS|WORDS|MESSAGE of standard input. A shell splits the words.
# $PWD and \n in the message are the test's directory and a line break. With |sys at the end,
# the sysfs of the row is the directory sys.
table() {
	local status words message rows=$1 n=0
	while IFS= read -r line; do
		status=${line%%|*} message=${line#*|}
		words=${message%%|*} message=${message#*|}
		unset TRACER_SYSFS_PATH
		[[ $message != *'|sys' ]] || export TRACER_SYSFS_PATH=$PWD/sys
		# shellcheck disable=SC2016 # the table has this word
		message=${message%'|sys'} message=${message//'$PWD'/$PWD} message=${message//'\n'/$'\n'}
		echo "tfs-run $words"
		eval "set -- $words"
		says "$status" "$message" "$@" </dev/null
		n=$((n + 1))
	done
	unset TRACER_SYSFS_PATH
	[ "$n" = "$rows" ]
	nothing_left
}

@test "tfs-run: names the mistake in a command, and the next step" {
	need_tracefs events/syscalls
	mkdir -p sys/class/block/sda/queue sys/class/block/sda1 sys/class/block/sdb
	: >sys/class/block/sda1/partition
	mkdir hooks
	printf '# description: A hook without its first line\ntrue\n' >hooks/bare
	printf '#!/bin/sh\n# description: A hook that cannot run\n' >hooks/closed
	printf '#!/bin/sh\n' >program
	chmod +x hooks/bare
	table 65 <<-'END'
	100|trace_syscalls ls|'ls' is not an option; to trace that program, put -- before it: tfs-run trace_syscalls -- ls
	100|trace_syscalls --retruns -- true|trace_syscalls has no option '--retruns'; did you mean --returns? tfs-run trace_syscalls --help lists them
	100|trace_event --nosuchthing -- true|trace_event has no option '--nosuchthing'; tfs-run trace_event --help lists them
	111|trace_syscalls -s opnat -- true|trace_syscalls: no system call 'opnat' in this kernel; did you mean openat, openat2?
	100|trace_syscalls -s %fil -- true|--syscall: no class of system calls '%fil'; the classes are file, desc, network, process, memory, signal, ipc
	100|trace_syscalls -s 'opne*' -- true|--syscall: no system call of this kernel matches 'opne*'; syscall-nr lists the names
	100|trace_syscalls -s '!fuetx' -- true|--syscall: no system call 'fuetx' to leave out; syscall-nr lists the names
	100|trace_sched --slower 5m -- true|--slower: '5m' is not a time such as 500 (microseconds), 500us, 10ms or 1s
	100|trace_syscalls -t soon -- true|--time: 'soon' is not a time such as 500 (milliseconds), 500ms, 5s, 2m or 1h
	100|trace_syscalls -t 5min -- true|--time: '5min' is not a time such as 500 (milliseconds), 500ms, 5s, 2m or 1h
	100|trace_syscalls -t 9999999999 -- true|--time 9999999999 has no unit; give 9999999999s or 9999999999ms
	100|trace_syscalls -t 9999h -- true|--time: '9999h' is not from 1 to 2147483647 milliseconds; give a time such as 500ms, 5s, 2m or 1h
	100|trace_syscalls --buffer 0 -- true|--buffer: '0' is not from 1 to 2147483647 kilobytes; give a size such as 64M or 1G
	100|trace_syscalls --buffer 64X -- true|--buffer: '64X' is not a size such as 500 (kilobytes), 64M or 1G
	100|trace_syscalls --uid rooot|--uid: no user 'rooot' in /etc/passwd; did you mean root?
	100|trace_syscalls --uid somebodyelse|--uid: no user 'somebodyelse' in /etc/passwd; give the number, as id -u prints it
	100|trace_syscalls --container a/b|--container: 'a/b' is not a name, a glob of names such as web-*, or the first digits of an id
	100|trace_syscalls --pod -- true|--pod needs a value; tfs-run trace_syscalls --help all describes it
	111|trace_syscalls --container 0123456789abcdef0 -o x.dat|no container that --container, --pod or --namespace names has a task now; give its name or id, or the cgroup with --cgroup
	111|trace_syscalls --namespace shop --pod a b -o x.dat|no container that --container, --pod or --namespace names has a task now; give its name or id, or the cgroup with --cgroup
	111|trace_syscalls --cgroup nosuchgroup -o x.dat|no such cgroup: 'nosuchgroup'; give a path, its last part, or a pid
	100|trace_syscalls --pid 4194304|--pid: no task 4194304 is alive; ps -eL lists the tasks
	100|trace_syscalls --pid bash|--pid: 'bash' is not a pid; --comm selects tasks by name
	100|trace_syscalls --pid|--pid needs a value; tfs-run trace_syscalls --help all describes it
	100|trace_sched --slower -- true|--slower needs a value; tfs-run trace_sched --help describes it
	100|trace_syscalls --returns=yes -- true|--returns takes no value; leave 'yes' out
	100|trace_syscalls -t 1s 2 -- true|--time takes one value, and '2' is one too many; leave it out
	100|trace_syscalls --instance 'a b' -- true|--instance: 'a b' is not a name: letters, digits, _ . - and 64 of them at most
	100|trace_signal --only x -- true|--only: 'x' is not one of sent|delivered
	100|trace_signal -s KIL --all|no signal is called 'KIL'; kill -l prints their names
	100|trace_process --trace x -- true|--trace: 'x' is not one of syscalls, signals, lifecycle
	100|trace_syscalls --all --pid 1|trace_syscalls: --all selects every task already; leave the other selectors out
	111|trace_event -e sched_switch --clock sundial -- true|--clock: this kernel has no clock sundial; trace_clock lists them
	100|trace_event -- true|no event is named; give --event
	111|trace_event -e sched_swich -- true|no event is called 'sched_swich'; did you mean sched_switch?
	111|trace_event -e sched_switch --filter 'prev_pd == 1' -- true|unable to write 'prev_pd == 1' to events/sched/sched_switch/filter, the kernel says: Field not found: Invalid argument\n  Command: prev_pd == 1\n                   ^\n  events/sched/sched_switch/format lists the fields
	100|trace_event -e sched_switch --output tape -- true|trace_event has no option --output: -o writes to a file, and its name's end says the format; tfs-run trace_event -e sched_switch -o tape -- true
	100|trace_syscalls -o a -o b -- true|option -o is given twice; leave one out; usage: tfs-run [-l] [-k SESSION] [-m SUBSYSTEM] [-o FILE] [--check] [HOOK [OPTION]... [-- PROG...]]
	100|trace_syscalls -o x.pdf -- true|-o x.pdf: tfs-run writes no .pdf; the name can end in .json, .dat, .svg or .txt
	111|trace_syscalls -o none/x.json -- true|unable to open none/x.json: no such directory; make it first
	100|trace_syscalls --summary -o x.svg -- true|--summary prints text or JSON, so -o x.svg is not possible; leave one of them out
	100|trace_syscalls --top 5 -- true|--top needs --summary; add it
	100|-m blktrace trace_open -- true|trace_open is a hook of ftrace, not of blktrace; leave -m out
	127|trace_syscalls -- nosuchprogram|unable to run nosuchprogram: no such program in PATH; give its path
	127|trace_syscalls -- ./nosuchprogram|unable to run ./nosuchprogram: no such program; correct the path
	126|trace_syscalls -- ./program|unable to run ./program: not executable; run chmod +x ./program
	111|./hooks/bare -- true|unable to run $PWD/hooks/bare: its first line must be #!/bin/sh
	100|./hooks/closed -- true|closed is not executable; run chmod +x $PWD/hooks/closed
	100|ls|'ls' is a program, not a hook; tfs-run trace_syscalls -- ls shows what it does
	100|-p 123|option -p needs a hook before it; tfs-run trace_syscalls -p 123 shows system calls
	100|-e open ls -l|option -e needs a hook before it; tfs-run trace_syscalls -s open -- ls -l shows system calls
	100|-f ls|option -f needs a hook before it; tfs-run trace_syscalls -- ls shows system calls
	100|-p 1 trace_open|option -p belongs after the hook: tfs-run trace_open -p 1
	100|--time 5s trace_open --all|option --time belongs after the hook: tfs-run trace_open --time 5s --all
	100|-o x --time 5s trace_open --all|option --time belongs after the hook: tfs-run trace_open --time 5s --all
	100|trace_open --pid -- true|--pid needs a value; tfs-run trace_open --help all describes it
	100|trace_open --pid --time 1s|--pid needs a value; tfs-run trace_open --help all describes it
	111|trace_flight -e sched_switch --dump-on fial -- true|--dump-on takes an event, end, fail, slow:TIME or SIGUSR1: no event is called 'fial'; tfs-event -l prints the names of all
	100|trace_syscalls --|no program after --; usage: tfs-run [-l] [-k SESSION] [-m SUBSYSTEM] [-o FILE] [--check] [HOOK [OPTION]... [-- PROG...]]
	100|trace_syscalls --errno EFOO -- true|--errno: 'EFOO' is not the name of an error, such as ENOENT
	100|trace_syscalls --summary --top x -- true|--summary: --top: 'x' is not a number of at least 1
	100|trace_syscalls --fail -- true|trace_syscalls has no option '--fail'; did you mean --failed? tfs-run trace_syscalls --help lists them
	100|trace_block --device sdx --all|--device: no disk 'sdx' in $PWD/sys/class/block; did you mean sda, sdb?|sys
	100|trace_block --device sda1 --all|--device: sda1 is a partition; give its disk|sys
	111|trace_syscalls -- true|no tracefs at $PWD/sys/kernel/tracing: as root, mount -t tracefs nodev $PWD/sys/kernel/tracing|sys
	END
}

@test "tfs-run: offers the program that follows strace or an option" {
	need_tracefs events/syscalls
	PATH=$PWD:$PATH
	printf '#!/bin/sh\n' >strace
	chmod +x strace
	table 2 <<-'END'
	100|strace -f ls|'strace' is not a hook: tfs-run trace_syscalls -- ls
	100|strace -cfe trace=read,write ls -l|'strace' is not a hook: tfs-run trace_syscalls --summary -s read,write -- ls -l
	END
	fails 100 "tfs-run: fatal: --returns takes no value; leave 'ls' out
tfs-run: to trace the program ls, put -- before it: tfs-run trace_syscalls --returns -- ls" \
		tfs-run trace_syscalls --returns ls
}

undo() {
	local dir
	for dir in "${CGROUPS[@]}"; do
		rmdir "$dir"
	done
}

@test "tfs-run: lists the containers whose ids begin with the given digits" {
	need_tracefs events/syscalls
	point=$(awk '$3 ~ /^cgroup2?$/ { print $2; exit }' /proc/mounts)
	[ -n "$point" ] || skip "needs a mounted cgroup file system"
	digits=$(printf 'd%010x' $$)
	for id in "${digits}0" "${digits}1"; do
		id=$(printf '%s%064d' "$id" 0)
		mkdir "$point/docker-${id:0:64}.scope" || skip "needs a cgroup that can be written"
		CGROUPS+=("$point/docker-${id:0:64}.scope")
	done
	says 111 "more than one container has an id that begins with '$digits': ${digits}0, ${digits}1; give more digits" \
		trace_syscalls --container "$digits"
}

@test "tfs-run: tells a user without rights what to do" {
	need_tracefs events/syscalls
	need_tool setpriv
	[ "$(stat -c %a "$TRACEFS")" = 700 ] || skip "needs a tracefs that is closed to users"
	fails 111 "tfs-run: fatal: no permission for $TRACEFS; this needs CAP_DAC_OVERRIDE: run this as root, or remount it with mode=750 and gid= of a group of yours" \
		setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$(command -v tfs-run)" trace_syscalls -- true
}

@test "tfs-run: names another hook if the kernel lacks what the hook needs" {
	need_tracefs
	[ ! -e "$TRACEFS/kprobe_events" ] || skip "this kernel has kprobes"
	lack="no kprobe_events in this kernel; it needs CONFIG_KPROBE_EVENTS; instead: tfs-run trace_event -e 'EVENT'"
	says 111 "trace_kprobe: $lack" trace_kprobe -k do_exit -- true
	run -1 --separate-stderr tfs-run --check trace_kprobe
	[ "$output" = "trace_kprobe: $lack" ]
	# the two lists break the line
	run -1 --separate-stderr tfs-run --check
	[[ $(tr -s ' \n' ' ' <<<"$output") == *" trace_kprobe $lack trace_open "* ]]
	run -0 --separate-stderr tfs-run
	[[ $(tr -s ' \n' ' ' <<<"$output") == *" (cannot run here: $lack) trace_uprobe "* ]]
}

# answers 40: Check each row WORDS|MESSAGE as table does, with status 100, and that the command at
# the end of the message is one that tfs-run accepts.
answers() {
	local words message rows=$1 n=0
	while IFS='|' read -r words message; do
		echo "tfs-run $words"
		eval "set -- $words"
		says 100 "$message" "$@" </dev/null
		words=${message##*tfs-run } words=${words% lists them} words=${words% shows *}
		eval "set -- $words"
		case $words in
		*--help | *'-- true') run -0 tfs-run "$@" ;;
		*) run -0 tfs-run "$@" --time 1ms ;;
		esac
		n=$((n + 1))
	done
	[ "$n" = "$rows" ]
	nothing_left
}

@test "tfs-run: answers options of strace, perf and bcc with a command that works" {
	need_tracefs events/syscalls
	answers 40 <<-'END'
	trace_syscalls -e openat -- true|trace_syscalls has no option -e: -s selects system calls; tfs-run trace_syscalls -s openat -- true
	trace_syscalls -e trace=file -- true|trace_syscalls has no option -e: -s selects system calls; tfs-run trace_syscalls -s file -- true
	trace_syscalls -e trace=%network -- true|trace_syscalls has no option -e: -s selects system calls; tfs-run trace_syscalls -s %network -- true
	trace_syscalls -e '!futex' -- true|trace_syscalls has no option -e: -s selects system calls; tfs-run trace_syscalls -s '!futex' -- true
	trace_open -e openat -- true|trace_open has no option -e: it chooses its events itself, and trace_syscalls -s or trace_event -e takes others; tfs-run trace_open -- true
	trace_syscalls -c -- true|trace_syscalls has no option -c: --summary prints the table; tfs-run trace_syscalls --summary -- true
	trace_syscalls -f -- true|trace_syscalls has no option -f: children are traced, too; tfs-run trace_syscalls -- true
	trace_syscalls -ff -- true|trace_syscalls has no option -ff: children are traced, too; tfs-run trace_syscalls -- true
	trace_syscalls -fTtt -e read true|trace_syscalls has no option -f: children are traced, too; tfs-run trace_syscalls -s read -- true
	trace_syscalls -T -- true|trace_syscalls has no option -T: each call has its duration, and --slower 1ms selects by it; tfs-run trace_syscalls -- true
	trace_syscalls -tt -- true|trace_syscalls has no option -tt: each line has its time; tfs-run trace_syscalls -- true
	trace_syscalls -r -- true|trace_syscalls has no option -r: each line has its time; tfs-run trace_syscalls -- true
	trace_syscalls -y -- true|trace_syscalls has no option -y: --names prints the files of descriptors; tfs-run trace_syscalls --names -- true
	trace_syscalls -yy -- true|trace_syscalls has no option -yy: --names prints the files of descriptors; tfs-run trace_syscalls --names -- true
	trace_syscalls -Z -- true|trace_syscalls has no option -Z: --failed selects what fails; tfs-run trace_syscalls --failed -- true
	trace_open -x -- true|trace_open has no option -x: --failed selects what fails; tfs-run trace_open --failed -- true
	trace_syscalls -k -- true|trace_syscalls has no option -k: --user-stack prints the program's stacks; tfs-run trace_syscalls --user-stack -- true
	trace_syscalls -P /etc/passwd -- true|trace_syscalls has no option -P: --path selects by the path; tfs-run trace_syscalls --path /etc/passwd -- true
	trace_open -u root|trace_open has no option -u: --uid selects the tasks of a user; tfs-run trace_open --uid root
	trace_syscalls -s 100 -- true|trace_syscalls has no option -s N: strings are whole, and --data prints what is read and written; tfs-run trace_syscalls --data 100 -- true
	trace_syscalls -v -- true|trace_syscalls has no option -v: nothing is abbreviated; tfs-run trace_syscalls -- true
	trace_syscalls -a|trace_syscalls has no option -a: --all selects every task; tfs-run trace_syscalls --all
	trace_event -a -e sched_switch|trace_event has no option -a: --all selects every task; tfs-run trace_event --all -e sched_switch
	trace_event -g -e sched_switch -- true|trace_event has no option -g: --user-stack prints the program's stacks; tfs-run trace_event --user-stack -e sched_switch -- true
	trace_event -F 99 -e sched_switch -- true|trace_event has no option -F: it records each event, and samples none; tfs-run trace_event -e sched_switch -- true
	trace_event -e sched_switch -f 'prev_pid == 1' -- true|trace_event has no option -f: --filter selects by fields; tfs-run trace_event -e sched_switch --filter 'prev_pid == 1' -- true
	trace_syscalls --all-cpus|trace_syscalls has no option --all-cpus: --all selects every task; tfs-run trace_syscalls --all
	trace_syscalls --follow-forks -- true|trace_syscalls has no option --follow-forks: children are traced, too; tfs-run trace_syscalls -- true
	trace_syscalls --trace=openat -- true|trace_syscalls has no option --trace: -s selects system calls; tfs-run trace_syscalls -s openat -- true
	trace_syscalls --summary-only -- true|trace_syscalls has no option --summary-only: --summary prints the table; tfs-run trace_syscalls --summary -- true
	trace_syscalls --attach 1|trace_syscalls has no option --attach: --pid selects running tasks; tfs-run trace_syscalls --pid 1
	trace_syscalls --duration 5 -- true|trace_syscalls has no option --duration N: --slower selects by the duration; tfs-run trace_syscalls --slower 5ms -- true
	trace_open --timeout 5s -- true|trace_open has no option --timeout: --time ends the session; tfs-run trace_open --time 5s -- true
	trace_open -d 5 -- true|trace_open has no option -d N: --time ends the session; tfs-run trace_open --time 5s -- true
	trace_open -n bash|trace_open has no option -n: --comm selects tasks by name; tfs-run trace_open --comm bash
	trace_syscalls --user root -- true|trace_syscalls has no option --user: --uid selects the tasks of a user; tfs-run trace_syscalls --uid root -- true
	trace_syscalls --stack -- true|trace_syscalls has no option --stack: --user-stack prints the program's stacks; tfs-run trace_syscalls --user-stack -- true
	trace_syscalls --tme 5s -- true|trace_syscalls has no option '--tme'; did you mean --time? tfs-run trace_syscalls --help lists them
	trace_open --hlep|trace_open has no option '--hlep'; did you mean --help? tfs-run trace_open --help lists them
	trace_open --sumary -- true|trace_open has no option '--sumary'; did you mean --summary? tfs-run trace_open --help lists them
	END
}

@test "tfs-run: answers names of peers, system calls and events in the place of the hook" {
	need_tracefs events/syscalls
	answers 12 <<-'END'
	openat -- true|'openat' is a system call, not a hook: tfs-run trace_syscalls -s openat -- true
	sched_switch -- true|'sched_switch' is an event, not a hook: tfs-run trace_event -e sched_switch -- true
	sched:sched_switch -- true|'sched:sched_switch' is an event, not a hook: tfs-run trace_event -e sched:sched_switch -- true
	tracepoint:sched:sched_switch -- true|'tracepoint:sched:sched_switch' is a probe, not a hook: tfs-run trace_event -e sched:sched_switch -- true
	opensnoop|'opensnoop' is not a hook: tfs-run trace_open --all
	execsnoop|'execsnoop' is not a hook: tfs-run trace_exec --all
	runqslower|'runqslower' is not a hook: tfs-run trace_sched --all --slower 10ms
	tcpconnect|'tcpconnect' is not a hook: tfs-run trace_tcp --connect --all
	help trace_open|'help' is not a hook: tfs-run trace_open --help
	strace -e openat true|'strace' is not a hook: tfs-run trace_syscalls -s openat -- true
	-c true|option -c needs a hook before it; tfs-run trace_syscalls --summary -- true shows system calls
	-e trace=open true|option -e needs a hook before it; tfs-run trace_syscalls -s open -- true shows system calls
	END
}

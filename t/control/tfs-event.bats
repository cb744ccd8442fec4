#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2154 # stderr_lines is run's
# tfs-event: enables the events that names and globs select, or changes nothing

load ../helper


# Make a root with these events (SYSTEM:EVENT), none enabled and none with a filter.
plain_root() {
	local event
	mkdir -p root/events
	for event; do
		mkdir -p "root/events/${event%:*}/${event#*:}"
		echo none >"root/events/${event%:*}/${event#*:}/filter"
		echo 0 >"root/events/${event%:*}/${event#*:}/enable"
		: >"root/events/${event%:*}/${event#*:}/trigger"
	done
	printf '%s\n' "$@" >root/available_events
}

# state SYSTEM:EVENT: Print the three files of the event.
state() {
	(cd "$DIR/events/${1%:*}/${1#*:}" && cat enable filter trigger) | grep -v '^#'
}

@test "tfs-event: -l prints the names of all events, or of the given events" {
	plain_root sched:sched_switch sched:sched_waking irq:softirq_raise
	run -0 --separate-stderr tfs-event -R root -l
	[ "$output" = "sched:sched_switch
sched:sched_waking
irq:softirq_raise" ]
	[ -z "$stderr" ]
	run -0 tfs-event -R root -l 'sched_wak*' 'irq:*'
	[ "$output" = 'sched:sched_waking
irq:softirq_raise' ]
	outputs 0 'irq:softirq_raise' tfs-event -R root -l 'irq:*' 'irq:softirq_raise' '*raise'
	outputs 0 'irq:softirq_raise' tfs-event -R root -l '[!s]*:?oft*'
}

@test "tfs-event: refuses an unknown event before it writes anything, and suggests the nearest name" {
	plain_root sched:sched_switch sched:sched_waking sched:sched_wakeup irq:softirq_raise
	fails 111 "tfs-event: fatal: no event is called 'sched_swich'; did you mean sched_switch?" \
		tfs-event -R root sched_waking sched_swich
	[ "$(cat root/events/*/*/enable | sort -u)" = 0 ]
	fails 111 "tfs-event: fatal: no event is called 'sched_wakign'; did you mean sched_waking, sched_wakeup?" \
		tfs-event -R root sched_wakign
	fails 111 "tfs-event: fatal: no event is called 'sched:softirq_raise'; did you mean irq:softirq_raise?" \
		tfs-event -R root sched:softirq_raise
	fails 111 "tfs-event: fatal: no event is called 'nothing_like_it'; tfs-event -l prints the names of all" \
		tfs-event -R root nothing_like_it
	fails 111 "tfs-event: fatal: no event is called '$(printf 'x%.0s' {1..80})'; tfs-event -l prints the names of all" \
		tfs-event -R root "$(printf 'x%.0s' {1..100000})"
	fails 111 "tfs-event: fatal: no event is called '?[2J'; tfs-event -l prints the names of all" \
		tfs-event -R root $'\e[2J'
}

@test "tfs-event: plain directory: writes filters first, then triggers, then enable" {
	plain_root a:one b:two
	tfs-event -R root -f 'x == 1' -t 'traceoff if x == 2' 'a:*' two
	for event in a/one b/two; do
		[ "$(tail -n 1 root/events/$event/filter)" = 'x == 1' ]
		[ "$(tail -n 1 root/events/$event/trigger)" = 'traceoff if x == 2' ]
		[ "$(tail -n 1 root/events/$event/enable)" = 1 ]
	done
}

# bats test_tags=quick
@test "tfs-event: kernel: only the named events are recorded" {
	new_instance
	tfs-event -i "$INSTANCE" 'sched:sched_wak*'
	[ "$(cat "$DIR"/events/sched/sched_wak*/enable | sort -u)" = 1 ]
	[ "$(grep -c . "$DIR/set_event")" = "$(tfs-event -l 'sched:sched_wak*' | grep -c .)" ]
	run ! grep -v '^sched:sched_wak' "$DIR/set_event"
}

@test "tfs-event: kernel: accepts the names that strace and the C library have for a call, and those of 32-bit code" {
	need_tracefs events/syscalls
	while read -r event names; do
		[ -e "$TRACEFS/events/syscalls/sys_enter_$event" ] || continue
		for name in $names; do
			tfs-event -l "sys_enter_$name" "syscalls:sys_exit_$name" >got
			grep -qx "syscalls:sys_enter_$event" got
			grep -qx "syscalls:sys_exit_$event" got
		done
	done <<-'END'
		umount umount2
		sendfile64 sendfile
		newuname uname
		newstat stat
		newfstat fstat
		newlstat lstat
		newfstatat fstatat
		pread64 pread
		pwrite64 pwrite
		select _newselect
		pselect6 pselect pselect6_time64
		clock_gettime clock_gettime64
		clock_nanosleep clock_nanosleep_time64
		futex futex_time64
		getuid getuid32
		getrlimit ugetrlimit
		prlimit64 prlimit
	END
	# a name that has no function of its own, but means one
	[ -e "$TRACEFS/events/syscalls/sys_enter_stat64" ] ||
		outputs 0 syscalls:sys_enter_newstat tfs-event -l sys_enter_stat64
	[ -e "$TRACEFS/events/syscalls/sys_enter_llseek" ] ||
		outputs 0 syscalls:sys_enter_lseek tfs-event -l sys_enter__llseek
	run -111 --separate-stderr tfs-event -l sys_enter_umount22
	[[ $stderr = "tfs-event: fatal: no event is called 'sys_enter_umount22'; did you mean sys_enter_umount, "* ]]
}

@test "tfs-event: selects what serves programs of 32 bits on MIPS and PowerPC by the names in the kernel's syscall.tbl" {
	while read -r function name; do
		plain_root "syscalls:sys_enter_$function" syscalls:sys_enter_read
		outputs 0 "syscalls:sys_enter_$function" tfs-event -R root -l "sys_enter_$name"
		rm -r root
	done <<-'END'
		32_ftruncate64 ftruncate64
		32_llseek _llseek
		32_personality personality
		32_pread pread64
		32_pwrite pwrite64
		32_sigaction sigaction
		32_truncate64 truncate64
		mips_mmap mmap
		mips_mmap2 mmap2
		debug_setcontext sys_debug_setcontext
		ppc32_fadvise64 fadvise64
		ppc_truncate64 truncate64
	END
}

@test "tfs-event: kernel: each name of a call in the headers of any ABI selects one event, except these, and each event has such a name" {
	need_tracefs events/syscalls
	need_tool "${CC:-cc}"
	# the kernel must have each call that the headers know
	printf '#include <linux/version.h>\nLINUX_VERSION_CODE\n' | "${CC:-cc}" -E -P - >version 2>&1 ||
		skip "needs linux/version.h"
	IFS=.- read -r major minor _ < <(uname -r)
	[ "$(tail -n 1 version)" -lt $((major * 65536 + (minor + 1) * 256)) ] || skip "the headers are newer than the kernel"
	cat /usr/include/*/asm/unistd*.h /usr/*/include/asm/unistd*.h /usr/include/asm-generic/unistd.h 2>/dev/null |
		sed -nE 's/^# *define +__NR(3264)?_([a-z0-9_]+)[[:space:]].*/\2/p' | sort -u >names
	[ "$(wc -l <names)" -gt 400 ]
	tfs-event -l 'syscalls:sys_enter_*' | sed 's/.*:sys_enter_//' | sort >all
	while read -r name; do
		tfs-event -l "sys_enter_$name" >event 2>/dev/null || { echo "$name" >>none; continue; }
		[ "$(wc -l <event)" = 1 ] || echo "$name" >>several
		sed 's/.*:sys_enter_//' event >>found
	done <names
	# by lines: no calls; calls that Linux has never served or serves no longer (4 lines); calls of
	# other architectures or of 32 bits (2 lines); calls that a configuration may leave out
	tr -s ' \t' '\n' >except <<-'END'
		arch_specific_syscall syscalls syscall
		_sysctl afs_syscall bdflush break create_module epoll_ctl_old epoll_wait_old ftime
		get_kernel_syms getpmsg gtty idle lock lookup_dcookie mpx nfsservctl prof profil putpmsg
		query_module reserved177 reserved193 reserved221 reserved82 security stty timerfd tuxcall
		ulimit unused109 unused150 unused18 unused28 unused59 unused84 vserver
		cachectl cacheflush get_thread_area ipc nice pciconfig_iobase pciconfig_read pciconfig_write
		set_thread_area socketcall stime sysmips vm86 vm86old
		delete_module finit_module init_module kexec_file_load kexec_load sgetmask ssetmask uselib
	END
	sort -u except | comm -13 - <(sort none) >wrong
	cat wrong
	[ ! -s wrong ]
	[ ! -s several ]
	# a function has no name there only if it is newer than the headers, or a call of the kernel alone
	for name in $(sort -u found | comm -23 all -); do
		run ! syscall-nr "$name"
	done
}

@test "tfs-event: kernel: -l without a name prints all of available_events" {
	need_tracefs
	tfs-event -l | cmp - "$TRACEFS/available_events"
}

@test "tfs-event: kernel: shows the kernel's reason and position for a refused filter, and undoes everything" {
	new_instance
	tfs-write -i "$INSTANCE" events/sched/sched_switch/filter 'prev_prio == 7'
	before="$(state sched:sched_switch)"
	run -111 --separate-stderr tfs-event -i "$INSTANCE" -f 'prev_prio > 1 && nope == 2' \
		sched:sched_switch
	[ -z "$output" ]
	[ "${stderr_lines[0]}" = "tfs-event: fatal: unable to write 'prev_prio > 1 && nope == 2' to events/sched/sched_switch/filter, the kernel says: Field not found: Invalid argument" ]
	[ "${stderr_lines[1]}" = '  Command: prev_prio > 1 && nope == 2' ]
	[[ ${stderr_lines[2]} =~ ^\ +\^$ ]]
	[ "${stderr_lines[3]}" = '  events/sched/sched_switch/format lists the fields' ]
	[ "${#stderr_lines[@]}" = 4 ]
	[ "$(state sched:sched_switch)" = "$before" ]
	# the first event accepts the filter, the second refuses it
	before="$(state sched:sched_switch)$(state sched:sched_waking)"
	run -111 --separate-stderr tfs-event -i "$INSTANCE" -f 'prev_prio > 1' \
		sched:sched_switch sched:sched_waking
	[[ $stderr == *events/sched/sched_waking/filter* ]]
	[ "$(state sched:sched_switch)$(state sched:sched_waking)" = "$before" ]
}

@test "tfs-event: kernel: a refused trigger takes back filters and triggers" {
	new_instance
	before=$(state sched:sched_switch)
	run -111 --separate-stderr tfs-event -i "$INSTANCE" -f 'prev_prio > 1' \
		-t 'traceoff if prev_prio == 3' -t nonsense sched:sched_switch
	[[ $stderr == "tfs-event: fatal: unable to write 'nonsense' to events/sched/sched_switch/trigger"* ]]
	[ "$(state sched:sched_switch)" = "$before" ]
}

@test "tfs-event: kernel: refuses a trigger that exists, and leaves it" {
	new_instance
	tfs-event -i "$INSTANCE" -t 'traceoff if prev_prio == 3' sched:sched_switch
	before=$(state sched:sched_switch)
	[[ $before == *'traceoff:unlimited if prev_prio == 3' ]]
	run -111 tfs-event -i "$INSTANCE" -t 'traceoff if prev_prio == 3' sched:sched_switch
	[ "$(state sched:sched_switch)" = "$before" ]
}

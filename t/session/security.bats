#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # the kernel's $arg1; each test's own PLACE; variables that the helper and run set
# tfs-probe and others: attacks by a client of the manager, by another user, by a file

load ../helper

undo() {
	[ -z "${IMMUTABLE-}" ] || chattr -i "$IMMUTABLE"
	if [ -n "${TFS_GROUP-}" ]; then
		[ ! -e "${DIR-}/events/$TFS_GROUP" ] ||
			tfs-write -i "$INSTANCE" "events/$TFS_GROUP/enable" 0
		tfs-probe remove
	fi
	[ -z "${PLACE-}" ] || {
		umount "$PLACE/sys/fs/bpf" 2>/dev/null
		rm -r "$PLACE"
	}
}

# no_session MESSAGE HOOK WORDS: Fail unless the session is refused with MESSAGE.
no_session() {
	local status=0
	timeout "$DEADLINE" "$MANAGER" --run "$2" --args "--instance $MARK --pid $$ --time 1000 $3" \
		>out 2>err || status=$?
	# a hook may refuse with 100 or 111
	if [[ $status != 1[01][01] || -s out ]] || ! grep -qxF -- "$1" err; then
		echo "status $status"
		cat out err
		return 1
	fi
}

# ---- tfs-probe: offsets and reference counters -------------------------------------------

# victim: Build a program that prints its variable "counter" when it gets a line. $WORK and
# $COUNTER are the places of its function and of the variable in the file.
victim() {
	need_tool gcc nm readelf
	cat >victim.c <<-'END'
		#include <stdio.h>
		#include <unistd.h>
		volatile unsigned short counter = 7;
		__attribute__((noinline)) int price(int n) { return 3 * n + counter; }
		int main(void) {
			char line[8];
			if (write(1, "ready\n", 6) != 6 || read(0, line, 1) != 1) return 1;
			printf("counter %d price %d\n", counter, price(5));
			return 0;
		}
	END
	gcc -O1 -o victim victim.c
	price=$((0x$(nm victim | sed -n 's/ T price$//p')))
	WORK=$(in_file "$price") COUNTER=$(in_file $((0x$(nm victim | sed -n 's/ D counter$//p'))))
}

# in_file ADDRESS: Print the offset of ADDRESS in the file victim.
in_file() {
	readelf -lW victim | while read -r kind offset address _ size _; do
		if [ "$kind" = LOAD ] && (($1 >= address && $1 < address + size)); then
			echo $(($1 - address + offset))
		fi
	done
}

run_victim() {
	GO=$BATS_TEST_TMPDIR/go.victim
	mkfifo "$GO"
	: >said
	background ./victim <>"$GO" >said
	VICTIM=$PID
	eventually grep -q ready said
}

@test "tfs-probe: kernel: refuses a reference counter without -c, because it changes another program's memory" {
	need_tracefs uprobe_events
	TFS_GROUP=own_${MARK//-/_}
	export TFS_GROUP
	new_instance
	victim
	run_victim
	hex=$(printf 0x%x "$COUNTER")
	# the attack: these words follow the kernel's grammar
	for place in "$(printf 0x%x "$WORK")($hex)" "price($hex)" "price+0($hex)"; do
		fails 111 "tfs-probe: fatal: e: '($hex)' asks the kernel to write into the program's memory; -c allows that" \
			tfs-probe add e "p $PWD/victim:$place"
	done
	run -1 tfs-probe list
	# with -c the counter works as the kernel documents
	tfs-probe -c add e "p $PWD/victim:price($hex)"
	tfs-event -i "$INSTANCE" "$TFS_GROUP:*"
	echo >"$GO"
	finishes "$VICTIM" 0
	[ "$(tail -n 1 said)" = 'counter 8 price 23' ]
}

@test "tfs-probe: refuses an offset that may be inside an instruction without -o" {
	victim
	mkdir -p root/events
	: >root/uprobe_events
	says() {
		fails 111 "tfs-probe: fatal: e: $1" tfs-probe -R root -g g add e "p $PWD/victim:$2"
	}
	says 'price+1 may be inside an instruction; -o allows it' price+1
	says 'price+0x4 may be inside an instruction; -o allows it' price+0x4
	says "no function with a symbol begins at $PWD/victim:$((WORK + 1)), which may be inside an instruction; -o allows it" \
		$((WORK + 1))
	[ ! -s root/uprobe_events ]
	# a function begins at this offset
	tfs-probe -R root -g g add e "p $PWD/victim:$WORK" f "p $PWD/victim:price+0"
	tfs-probe -R root -g g -o add h "p $PWD/victim:price+1" i "p $PWD/victim:$((WORK + 1))"
	lines_are <(sed 's,/proc/self/fd/[0-9]*/,/,' root/uprobe_events) "p:g/e $PWD/victim:$WORK
p:g/f $PWD/victim:$WORK
p:g/h $PWD/victim:$((WORK + 1))
p:g/i $PWD/victim:$((WORK + 1))"
}

@test "tfs-probe: text after an offset never reaches the kernel unchecked" {
	victim
	mkdir -p root/events
	: >root/uprobe_events
	for place in 0x10%return 0x10x 1_0 0x 99999999999999999999 0x10+0x20; do
		fails 111 "tfs-probe: fatal: e: not an offset: '$place'" \
			tfs-probe -R root -g g -o add e "p $PWD/victim:$place"
	done
	for counter in '()' '(x)' '(1' '(1)x' '(1)(2)' '(-1)' '( 1)'; do
		run -111 tfs-probe -R root -g g -oc add e "p $PWD/victim:0x10$counter"
	done
	fails 111 "tfs-probe: fatal: e: not a reference counter: '(1)x'; give its offset as (NUMBER)" \
		tfs-probe -R root -g g -oc add e "p $PWD/victim:0x10(1)x"
	fails 111 "tfs-probe: fatal: e: a probe cannot have a newline, where the kernel would cut it; remove that" \
		tfs-probe -R root -g g add e $'p do_exit\n-:other/event'
	[ ! -s root/uprobe_events ]
}

@test "trace_uprobe: --symbol accepts the name of a function and nothing else" {
	need_tracefs uprobe_events
	for symbol in '0x1146(0x3028)' 0x1146 price+1 price+0 'price(0x10)' 1price price%return \
		price:other ../price '+1' '(1)'; do
		no_session "manager: fatal: '$symbol' is not the name of a function" trace_uprobe \
			"--binary $PROG/acts --symbol '$symbol'"
	done
	# the path cannot smuggle a place in either
	for binary in "$PROG/acts:0x1146(0x3028) x" "$PROG/acts:1146 x"; do
		no_session "manager: fatal: acts_work: the path '$binary' has a space, where the kernel would cut it; give a link to the file that has none" \
			trace_uprobe "--binary '$binary' --symbol acts_work"
	done
}

@test "trace_kprobe: --function does not accept an address in a program" {
	need_tracefs uprobe_events
	own_tree
	sed -i '/^# requires/d' "$HOOKS/trace_kprobe"
	for function in "x:$PROG/acts:acts_work" "$PROG/acts:acts_work" 'a:/b:c' 'do_exit%return' \
		'do_exit(1)'; do
		no_session "manager: fatal: '$function' is not the name of a function; tfs-function -l prints names" \
			trace_kprobe "--function '$function'"
	done
}

# ---- dt-probe: pins in a bpffs that every user can write to ------------------------------

# open_bpffs: Mount a bpffs of mode 1777 below $PLACE for other users; make files in "victim".
open_bpffs() {
	need_root
	need_tool setpriv
	PLACE=$(mktemp -d)
	chmod 755 "$PLACE"
	mkdir -p "$PLACE/sys/fs/bpf" "$PLACE/victim"
	touch "$PLACE/victim/pids" "$PLACE/victim/rx" "$PLACE/victim/important"
	mount -t bpf -o mode=1777 bpf "$PLACE/sys/fs/bpf" || skip "needs the right to mount bpffs"
	PINS=$PLACE/sys/fs/bpf
	export TRACER_SYSFS_PATH=$PLACE/sys
}

as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

unharmed() {
	[ "$(ls "$PLACE/victim")" = $'important\npids\nrx' ]
}

@test "dt-probe: off follows no symbolic link that another user has put into bpffs" {
	open_bpffs
	# the attack, as it worked with the former names of probes
	as_nobody ln -s "$PLACE/victim" "$PINS/tfs-x"
	run -1 dt-probe -N x off
	unharmed
	# the same attack on the directory of all probes
	for attack in "$PLACE/victim x" "$PLACE victim"; do
		as_nobody ln -s "${attack% *}" "$PINS/tfs"
		fails 111 "dt-probe: fatal: unable to open $PINS/tfs: Not a directory" dt-probe -N "${attack#* }" off
		unharmed
		as_nobody rm "$PINS/tfs"
	done
}

NOT_OURS='must be a directory that only this user can enter; remove it'

@test "dt-probe: refuses another user's directory in the place of its own, and names it" {
	open_bpffs
	as_nobody mkdir -m 0777 "$PINS/tfs"
	as_nobody ln -s "$PLACE/victim" "$PINS/tfs/x"
	for command in off on state; do
		fails 111 "dt-probe: fatal: $PINS/tfs $NOT_OURS" dt-probe -N x "$command"
	done
	fails 111 "dt-dev: fatal: $PINS/tfs $NOT_OURS" dt-dev -N x remove lo
	unharmed
	[ -L "$PINS/tfs/x" ]
	as_nobody rm -r "$PINS/tfs"
	# a directory of root that others may enter is refused too
	mkdir -m 0755 "$PINS/tfs"
	fails 111 "dt-probe: fatal: $PINS/tfs $NOT_OURS" dt-probe -N x off
}

@test "dt-probe: off removes its own pins, and nothing else" {
	open_bpffs
	mkdir -m 0700 "$PINS/tfs" "$PINS/tfs/x"
	mkdir "$PINS/tfs/x/pids2" "$PINS/tfs/x/dev_1_" "$PINS/tfs/x/send1"
	ln -s "$PLACE/victim/important" "$PINS/tfs/x/send2"
	ln -s "$PLACE/victim/important" "$PINS/tfs/x/dev_4026531840_1"
	run -111 dt-probe -N x off
	[ "$(grep -c 'in the directory of the request probe x was not made by dt-probe and stays$' <<<"$output")" = 3 ]
	[ "$(ls "$PINS/tfs/x")" = $'dev_1_\npids2\nsend1' ]
	unharmed
	rmdir "$PINS/tfs/x/"*
	dt-probe -N x off
	[ ! -e "$PINS/tfs/x" ]
	[ "$(stat -c %a "$PINS/tfs")" = 700 ]
}

# ---- tfs-report: small files that ask for much memory ------------------------------------

dat() {
	need_tool python3
	python3 "$TREE/t/prog/hostiledat.py" "$1" file
}

# little MB COMMAND...: Run COMMAND with an address space of MB; not for sanitizers and the like.
little() {
	[ -z "${TFS_VARIANT-}" ] || [ "$TFS_VARIANT" = vm ] || skip "needs an address space of its own"
	(ulimit -v $(($1 * 1024)) && "${@:2}")
}

# refuses KIND MESSAGE: Fail unless tfs-report refuses a file of this kind in 32 MB.
refuses() {
	dat "$1"
	fails 111 "tfs-report: fatal: $2" little 32 tfs-report file
}

@test "tfs-report: refuses a file that would make it read one table again and again, in 32 MB" {
	refuses tables 'file is damaged: the tables of instances are not in order'
	refuses ring 'file is damaged: the sections of options are not in order'
	refuses pages 'file is damaged: CPUs have sub-buffers in common'
	refuses cpus 'file is damaged: too many CPUs'
}

@test "tfs-report: refuses a section above its maximum in 32 MB, even if the file is as long as it says" {
	refuses hole 'file: its names may have at most 8388608 bytes, not 5368709120'
	[ "$(stat -c %s file)" -gt 5000000000 ]
	refuses kallsyms 'file: its symbols may have at most 33554432 bytes, not 33554433'
}

@test "tfs-report: needs less than the 512 MB of its page if every section has its maximum size" {
	dat full
	little 512 tfs-report file >out
	[ ! -s out ]
}

@test "tfs-report: a count of lost events that overflows is printed as unknown" {
	dat lost
	tfs-report file >out
	[ "$(head -n 1 out)" = 'CPU:0 [LOST EVENTS]' ]
}

# ---- files that another user names ------------------------------------------------------

# odd_files: Make a device, a FIFO and a link. An open of "device" fails with "No such device or
# address", because no driver has its number (240 is for local use); so this message shows
# that a tool has opened the device.
odd_files() {
	need_root
	mknod device c 240 255 || skip "needs the right to make devices"
	mkfifo fifo
	ln -s device link
}

# only_looked_at FILE COMMAND...: Fail unless COMMAND opens FILE with O_PATH only.
only_looked_at() {
	need_tool strace
	run -111 strace -f -qq -e trace=open,openat,openat2 -o calls "${@:2}"
	grep -F "\"$1\"" calls >opens
	file_has 1 opens
	grep -qF O_PATH opens
	# a filter opens its own output again
	[ "$(grep -F /proc/self/fd/ calls | grep -vF O_PATH | grep -cvF '"/proc/self/fd/1"')" = 0 ]
}

@test "tfs-probe: does not open a device or FIFO in the place of a program" {
	odd_files
	mkdir -p root/events
	: >root/uprobe_events
	for file in device fifo link; do
		for place in main 0x10; do
			fails 111 "tfs-probe: fatal: $PWD/$file is not a regular file" \
				tfs-probe -R root -g g add e "p $PWD/$file:$place"
		done
	done
	only_looked_at "$PWD/device" tfs-probe -R root -g g add e "p $PWD/device:main"
	only_looked_at "$PWD/fifo" tfs-probe -R root -g g add e "p $PWD/fifo:main"
}

@test "tfs-report, blk-text, dt-join: do not open a device, or a FIFO for a trace.dat, in the place of a recording" {
	odd_files
	for file in device fifo link; do
		fails 111 "tfs-report: fatal: $file is not a regular file" tfs-report $file
		[ $file != fifo ] || continue
		fails 111 "blk-text: fatal: $file is neither a regular file nor a FIFO" blk-text $file
		fails 111 "dt-join: fatal: $file is neither a regular file nor a FIFO" dt-join a=$file
	done
	only_looked_at device tfs-report device
	only_looked_at fifo tfs-report fifo
	only_looked_at device blk-text device
	only_looked_at device dt-join a=device
}

@test "dt-dev, policy: do not open a device in the place of a namespace or policy" {
	odd_files
	fails 111 "dt-dev: fatal: unable to enter the network namespace device: Invalid argument" \
		dt-dev -n device remove lo
	# a path to it that only root can write to
	PLACE=$(mktemp -d /run/tfs-policy.XXXXXX)
	mkdir -p "$PLACE/sys/fs/bpf"
	mknod "$PLACE/policy" c 240 255
	export TFS_POLICY=$PLACE/policy
	fails 111 "manager: fatal: policy $TFS_POLICY: it must be a file that only root can write to; nothing is allowed" \
		"$MANAGER" --get-all
}

@test "tfs-report: reads a file without a mounted /proc, and does not open a device" {
	odd_files
	need_mounts
	dat full
	bare() {
		unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' - "$@"
	}
	bare tfs-report file >out
	[ ! -s out ]
	fails 111 "tfs-report: fatal: device is not a regular file" bare tfs-report device
}

@test "trace_uprobe: gives a client the same answer for all files that are not programs" {
	need_tracefs uprobe_events
	odd_files
	echo text >text
	ln -s loop loop
	head -c 100 "$PROG/acts" >part
	for file in device fifo text loop part none none/none text/none .; do
		no_session "manager: fatal: $PWD/$file is not a program or library that can be probed" \
			trace_uprobe "--binary $PWD/$file --symbol main"
	done
	# the administrator can read the reason
	for reason in 'unable to open FILE: No such file or directory=none' \
		'unable to open FILE: Not a directory=text/none' \
		'FILE is not a program or library (ELF)=text' 'FILE is not a regular file=fifo'; do
		file=$PWD/${reason#*=} reason=${reason%=*}
		fails 111 "tfs-probe: fatal: ${reason/FILE/$file}" \
			tfs-probe -g own_x add e "p $file:main"
	done
}

# ---- a missing capability is named -------------------------------------------------------

# without CAPABILITIES COMMAND...: Run COMMAND without these; names as in setpriv(1).
without() {
	setpriv --bounding-set "-${1//,/,-}" "${@:2}"
}

@test "dt-probe: names the missing capability" {
	need_root
	need_tool setpriv
	setpriv --bounding-set -bpf true || skip "needs a setpriv that knows CAP_BPF"
	dt-probe -N "$MARK" on >/dev/null || skip "needs BPF"
	dt-probe -N "$MARK" off
	fails 111 "dt-probe: fatal: unable to make the map settings: Operation not permitted; this needs CAP_BPF" \
		without sys_admin,bpf dt-probe -N "$MARK" on
	for missing in sys_admin,net_admin=CAP_NET_ADMIN sys_admin,perfmon=CAP_PERFMON; do
		run -111 without "${missing%=*}" dt-probe -N "$MARK" on
		[[ $output == "dt-probe: fatal: the kernel refused the program dt_"*"; this needs ${missing#*=}" ]]
	done
	[ ! -e "/sys/fs/bpf/tfs/$MARK" ]
}

@test "dt-probe: names a user namespace or lockdown if no capability is missing" {
	open_bpffs
	need_tool unshare
	unshare -Ur true || skip "needs user namespaces"
	[ ! -e /sys/kernel/security/lockdown ] || grep -qF '[none]' /sys/kernel/security/lockdown
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs BTF"
	mkdir -p "$PLACE/sys/kernel/security"
	ln -s /sys/kernel/btf "$PLACE/sys/kernel/btf"
	refused='dt-probe: fatal: unable to make the map settings: Operation not permitted'
	why='; the capabilities of a user namespace are not enough here'
	fails 111 "$refused$why" unshare -Ur dt-probe -N x on
	echo 'none [integrity] confidentiality' >"$PLACE/sys/kernel/security/lockdown"
	fails 111 "$refused$why; the kernel is in lockdown (integrity)" unshare -Ur dt-probe -N x on
}

@test "dt-dev: names the capability that a network namespace needs" {
	need_root
	need_tool setpriv unshare
	place=/proc/self/ns/net
	fails 111 "dt-dev: fatal: unable to enter the network namespace $place: Operation not permitted; this needs CAP_SYS_ADMIN" \
		without sys_admin dt-dev -n $place remove lo
	mkfifo never
	background unshare -n cat <>never
	# the shell's child has all capabilities, and the shell lacks some
	fails 111 "dt-dev: fatal: unable to enter the network namespace /proc/$PID/ns/net: Permission denied; this needs CAP_SYS_PTRACE" \
		without sys_ptrace dt-dev -n "/proc/$PID/ns/net" remove lo
}

@test "blk-trace: names the capability that a device needs" {
	need_root
	mknod disk b 240 255 || skip "needs the right to make devices"
	chmod 755 . "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test"
	chmod 600 disk
	fails 111 "blk-trace: fatal: unable to open $PWD/disk: Permission denied; this needs CAP_DAC_OVERRIDE" \
		as_nobody "$(command -v blk-trace)" setup "$PWD/disk"
}

DENIED='Permission denied; this needs CAP_DAC_OVERRIDE'

# closed_root: Make a directory "root" that others may enter, with files that only root may open.
closed_root() {
	need_root
	need_tool setpriv
	chmod 755 . "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test"
	mkdir -p root/events root/options root/instances root/per_cpu/cpu0
	for file in a set_event_pid set_event_notrace_pid options/event-fork available_events dynamic_events \
		available_filter_functions trace_pipe trace_clock; do
		: >"root/$file"
	done
	find root -type f -exec chmod 600 {} +
	as_nobody test -x "$(command -v tfs-write)" || skip "needs a tree that others may read"
}

# denied MESSAGE TOOL [WORD]...: Fail unless another user gets MESSAGE with the capability.
denied() {
	fails 111 "$2: fatal: $1: $DENIED" as_nobody "${@:2}"
}

@test "control files: a refusal names the capability, in every tool that opens one" {
	closed_root
	need_tracefs
	denied 'unable to write a' tfs-write -R root a 1
	denied 'unable to read set_event_pid' tfs-pidfilter -R root list
	chmod 644 root/set_event_*pid
	denied "unable to write '1' to options/event-fork" tfs-pidfilter -R root set 1
	denied 'unable to read a' tfs-read -R root a
	denied 'unable to read available_events' tfs-event -R root -l
	denied 'unable to read available_filter_functions' tfs-function -R root -l
	denied 'unable to read dynamic_events' tfs-probe -g g -R root list
	denied 'unable to open trace_pipe' tfs-catpipe -R root
	cp -r "$TRACEFS/events/header_page" "$TRACEFS/events/ftrace" root/events
	chmod -R a+rX root/events
	: >root/per_cpu/cpu0/trace_pipe_raw
	chmod 600 root/per_cpu/cpu0/trace_pipe_raw
	mkdir -m 777 to
	denied 'unable to open per_cpu/cpu0/trace_pipe_raw' tfs-record -R root -i / to/file
}

@test "instances: a refusal to make, open, list or remove one names the capability" {
	closed_root
	mkdir root/instances/theirs
	denied 'unable to make instance x' tfs-instance -R root make x
	denied 'unable to make instance tfs.x' tfs-instance -R root hold x true
	denied 'unable to remove instance theirs' tfs-instance -R root remove theirs
	chmod 711 root/instances
	chmod 700 root/instances/theirs
	denied 'unable to open root/instances' tfs-instance -R root list
	denied 'unable to open instance theirs in root' tfs-read -R root -i theirs a
	chmod 700 root
	denied 'unable to open root' tfs-read -R root a
}

@test "control files: root without the capability cannot use another user's files" {
	closed_root
	chown 65534 root/a
	fails 111 "tfs-write: fatal: unable to write a: $DENIED" \
		without dac_override tfs-write -R root a 1
	fails 111 "tfs-read: fatal: unable to read a: $DENIED" \
		without dac_override,dac_read_search tfs-read -R root a
	tfs-write -R root a 1
	[ "$(tfs-read -R root a)" = 1 ]
}

@test "control files: a refusal that permissions do not explain names lockdown and no capability" {
	closed_root
	echo 1 >root/a
	chattr +i root/a 2>/dev/null || skip "needs a file system with immutable files"
	refused='tfs-write: fatal: unable to write a: Operation not permitted'
	IMMUTABLE=$PWD/root/a
	fails 111 "$refused" without dac_override tfs-write -R root a 1
	mkdir -p sys/kernel/security
	echo 'none integrity [confidentiality]' >sys/kernel/security/lockdown
	TRACER_SYSFS_PATH=$PWD/sys fails 111 "$refused; the kernel is in lockdown (confidentiality)" \
		without dac_override tfs-write -R root a 1
}

@test "tfs-dir: names a user namespace if its capability does not open tracefs" {
	closed_root
	need_tool unshare
	as_nobody unshare -Ur true || skip "needs user namespaces"
	mkdir -p sys
	mkdir -m 700 sys/kernel
	export TRACER_SYSFS_PATH=$PWD/sys TRACER_PROCFS_PATH=$PWD/none
	fails 111 "tfs-dir: fatal: no permission for $PWD/sys/kernel/tracing; the capabilities of a user namespace are not enough here: run this as root, or remount it with mode=750 and gid= of a group of yours" \
		as_nobody unshare -Ur "$(command -v tfs-dir)"
}

@test "relay-cat: names the capability that a relay file needs" {
	closed_root
	mkdir d
	: >d/trace0
	chmod 600 d/trace0
	denied 'unable to open d/trace0' relay-cat -1 d
	chmod 744 d
	denied 'unable to look at d/trace0' relay-cat -1 d
	chmod 700 d
	denied 'unable to open d' relay-cat -1 d
}

@test "pids-of: names the capability that another user's task needs" {
	closed_root
	fails 111 "pids-of: fatal: unable to read the pid namespace of $$: Permission denied; this needs CAP_SYS_PTRACE" \
		as_nobody pids-of -n $$
}

@test "tfs-flight: names the capability that a lease on another user's file needs" {
	need_tool setpriv strace
	new_instance
	mkdir d
	# -D makes strace a process of its own, so $PID is the tool's
	background strace -D -qq -o calls -e trace=fcntl tfs-flight -i "$INSTANCE" d
	eventually grep -q F_SETLEASE calls
	n=$(grep -nm1 F_SETLEASE calls | cut -d: -f1)
	ends_by "$PID" TERM 0
	# as on a file system with one owner for all files
	fails 111 "tfs-flight: fatal: unable to lease $PWD/d/dropped: Permission denied; this needs CAP_LEASE" \
		without lease strace -qq -o calls -e inject="fcntl:error=EACCES:when=$n" \
		tfs-flight -i "$INSTANCE" d
	[ -z "$(ls -A d)" ]
}

@test "dt-probe: names the capability that a bpffs or another user's pin needs" {
	open_bpffs
	chown 65534 "$PINS"
	chmod 700 "$PINS"
	fails 111 "dt-probe: fatal: unable to open $PINS: $DENIED" \
		without dac_override,dac_read_search dt-probe -N x on
	chmod 755 "$PINS"
	fails 111 "dt-probe: fatal: unable to make $PINS/tfs: $DENIED" \
		without dac_override dt-probe -N x on
	chown 0 "$PINS"
	mkdir -p "$PLACE/sys/kernel"
	ln -s /sys/kernel/btf /sys/kernel/tracing "$PLACE/sys/kernel"
	ln -s /sys/fs/cgroup "$PLACE/sys/fs"
	[ "$(dt-probe -N x on | head -n 1)" ] || skip "needs BPF"
	chown 65534 "$PINS/tfs/x/pids"
	fails 111 "dt-probe: fatal: unable to open $PINS/tfs/x/pids: $DENIED" \
		without dac_override,dac_read_search dt-probe -N x state
	chown 0 "$PINS/tfs/x/pids"
	chown 65534 "$PINS/tfs/x"
	chmod 755 "$PINS/tfs/x"
	run -111 without dac_override dt-probe -N x off
	for pin in "$PINS"/tfs/x/*; do
		grep -qxF "dt-probe: fatal: unable to remove ${pin##*/} of the request probe x: $DENIED" <<<"$output"
	done
	dt-probe -N x off
	[ ! -e "$PINS/tfs/x" ]
}

@test "dt-probe: tells a user that only root may use it, and leaves no directory that would be in root's way" {
	open_bpffs
	fails 111 "dt-probe: fatal: unable to make $PINS/tfs: Operation not permitted; only root may, with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN" \
		as_nobody env TRACER_SYSFS_PATH="$TRACER_SYSFS_PATH" "$TREE/bin/dt-probe" -N x on
	[ ! -e "$PINS/tfs" ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# deploy/systemd: the units are checked, and run by a systemd of the test, the first process of a
# pid namespace, on an overlay of this host's files
# parts: 4

load ../helper
load ../net
load ../last_boot

UNITS=$TREE/deploy/systemd
UNIT=$UNITS/tfs-flight.service

# End the systemd of the test with all its processes, and remove its cgroups.
undo() {
	[ -z "${HOST-}" ] || {
		kill -KILL "$HOST" 2>/dev/null
		wait "$HOST" 2>/dev/null
		[ -z "${INIT-}" ] || eventually gone "$INIT"
	}
	[ ! -d "${SLICE-}" ] || eventually no_cgroups
}

no_cgroups() {
	find "$SLICE" -depth -type d -exec rmdir {} + 2>/dev/null || :
	[ ! -d "$SLICE" ]
}

need_analyze() {
	need_tool systemd-analyze
	systemd-analyze security --help | grep -q -- --offline ||
		skip "needs systemd 250 or later: systemd-analyze security --offline"
}

# analyze FILE [UNIT]: Print what systemd finds wrong with the unit in FILE, in a root with its
# programs.
analyze() {
	local program unit=${2:-tfs-flight.service}
	mkdir -p root/usr/bin root/etc/systemd/system
	for program in tfs-run tfs-persist tfs-metrics kill rm; do
		cp "$(command -v env)" "root/usr/bin/$program"
	done
	cp "$1" "root/etc/systemd/system/$unit"
	systemd-analyze verify --man=no --recursive-errors=no --root="$PWD/root" "$unit" 2>&1
}

@test "systemd: dumps go 30 days after they were written, and nothing else of a session" {
	local dir=root/var/lib/tfs-flight/ftrace/boot name
	need_tool systemd-tmpfiles
	need_root
	mkdir -p "$dir" root/var/lib/tfs root/etc
	: >root/var/lib/tfs/last-boot.dat
	mkfifo "$dir/trace"
	for name in dump.1 dump.1.dat .lock control drops dump.2; do
		: >"$dir/$name"
	done
	touch -d '31 days ago' root/var/lib/tfs/* "$dir"/* "$dir"/.l*
	touch -d '29 days ago' "$dir/dump.2"
	run -0 systemd-tmpfiles --root="$PWD/root" --clean "$UNITS/tfs-tools.conf"
	[ -z "$output" ]
	[ "$(cd "$dir" && printf '%s\n' * .l* | sort | paste -sd ' ')" = ".lock control drops dump.2 trace" ]
	[ -e root/var/lib/tfs/last-boot.dat ]
}

@test "systemd: verify finds nothing in the units, but a mistake in a changed one" {
	need_analyze
	for unit in "$UNITS"/*.service; do
		run -0 analyze "$unit" "${unit##*/}"
		[ -z "$output" ]
	done
	sed 's/^ProtectSystem=/ProtectSystm=/' "$UNIT" >changed
	run analyze changed
	grep -Eq "Unknown key( name)? 'ProtectSystm'" <<<"$output"
	sed 's/^ExecStart=tfs-run/ExecStart=tfs-walk/' "$UNIT" >changed
	run analyze changed
	[ "$status" != 0 ]
	grep -q 'tfs-walk is not executable' <<<"$output"
}

@test "systemd: the exposure of each unit is below 1.5, and above that without its sandbox" {
	need_analyze
	for unit in "$UNITS"/*.service; do
		systemd-analyze security --offline=true --threshold=15 "$unit" >said
		echo "# $(tail -n 1 said)" >&3
		sed '/^CapabilityBoundingSet=/d; /^Protect/d; /^Restrict/d' "$unit" >"${unit##*/}"
		run ! systemd-analyze security --offline=true --threshold=15 "$PWD/${unit##*/}"
	done
}

# boot: Start systemd with the units; HOST is its parent here, INIT its own pid. Its log of the
# units is in /run/out and /run/err of its file system, which is $FILES.
boot() {
	need_tracefs events/syscalls
	need_tool unshare nsenter systemctl
	[ -x /lib/systemd/systemd ] || skip "needs systemd"
	need_cgroup2
	grep -q overlay /proc/filesystems || skip "needs CONFIG_OVERLAY_FS"
	SLICE=$CGROUP2/$MARK
	mkdir "$SLICE" rw files
	# the recorder of the unit, under the name of the test
	sed -n 's/^Environment="\(TFS_FLIGHT=.*\)"$/\1/p' "$UNIT" >default
	file_has 1 default
	sed -i "s/TFS_FLIGHT=\(.*\)/TFS_FLIGHT='\1 --instance $MARK'/" default
	cat >inner <<-'END'
		set -e
		mount -t tmpfs tmpfs rw
		mkdir rw/upper rw/work
		mount -t overlay -o lowerdir=/,upperdir=rw/upper,workdir=rw/work overlay files
		mkdir -p files/opt/tfs
		mount --bind "$1" files/opt/tfs
		cp default files/etc/default/tfs-flight
		mkdir files/etc/units
		cp "$2"/*.service files/etc/units
		cd files
		ln -sf /opt/tfs/bin/tfs-run /opt/tfs/bin/tfs-persist /opt/tfs/bin/tfs-metrics usr/local/bin
		mkdir -p var/lib/prometheus/node-exporter
		mount -t proc proc proc
		mount --rbind /sys sys
		mount --make-rslave sys
		umount -R -l sys/fs/cgroup
		mount -t cgroup2 cgroup2 sys/fs/cgroup
		mount -t tmpfs tmpfs run
		mount -t tmpfs tmpfs tmp
		mount -t tmpfs tmpfs dev
		for device in null zero full random urandom tty; do
			: >dev/$device
			mount --bind /dev/$device dev/$device
		done
		mkdir dev/shm dev/pts
		mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
		ln -s pts/ptmx dev/ptmx
		cp -r etc/units run
		for unit in run/units/*.service; do
			mkdir "$unit.d"
			printf '%s\n' '[Service]' StandardOutput=append:/run/out \
				StandardError=append:/run/err >"$unit.d/log.conf"
		done
		for target in sysinit basic shutdown umount multi-user; do
			printf '%s\n' '[Unit]' DefaultDependencies=no >run/units/$target.target
		done
		# nothing else of this host is started
		exec env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			container=oci SYSTEMD_UNIT_PATH=/run/units chroot . /lib/systemd/systemd --system --unit=multi-user.target
	END
	# shellcheck disable=SC2016 # the inner shell's parameters
	background sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - "$SLICE" \
		unshare -m -p -f -C -i -u --kill-child sh inner "$TREE" "$UNITS" </dev/null >boot.log 2>&1
	HOST=$PID
	eventually runs_systemd
	[ -n "$INIT" ] || { cat boot.log; return 1; }
	FILES=/proc/$INIT/root
	eventually sc show -p Version >/dev/null 2>&1
}

# runs_systemd: Set INIT as soon as the child of HOST is systemd; to nothing if HOST has ended.
runs_systemd() {
	INIT=
	! gone "$HOST" || return 0
	INIT=$(children "$HOST" | head -n 1) && [ "$(cat "/proc/$INIT/comm" 2>/dev/null)" = systemd ]
}

# sc WORD...: Run systemctl beside that systemd.
sc() {
	nsenter -t "$INIT" -m -p -i -u -r -w systemctl --no-pager "$@" 3>&-
}

# by_own_pid PID: Print the status file of the service's process with that pid in its namespace.
by_own_pid() {
	local pid
	while read -r pid; do
		! grep -q "^NSpid:.*	$1$" "/proc/$pid/status" || echo "/proc/$pid/status"
	done <"$SLICE/system.slice/tfs-flight.service/cgroup.procs"
}

# is KEY VALUE [UNIT]: Has the unit this property?
is() {
	[ "$(sc show "${3-tfs-flight}" -p "$1" --value)" = "$2" ]
}

# A new instance is switched on until the recorder switches it off, and then it enables the events.
records() {
	[ "$(cat "$TRACEFS/instances/tfs.$MARK/events/sched/sched_process_exec/enable" 2>/dev/null)" = 1 ] &&
		[ "$(cat "$TRACEFS/instances/tfs.$MARK/tracing_on" 2>/dev/null)" = 1 ]
}

@test "systemd: the unit records in its sandbox, reload makes a dump, and stop leaves nothing but that" {
	boot
	# nothing starts it by itself
	is ActiveState inactive
	sc start tfs-flight || { cat "$FILES/run/err"; false; }
	eventually records
	main=$(sc show tfs-flight -p MainPID --value)
	[ "$main" != 0 ]
	main=$(by_own_pid "$main")
	# the sandbox: no capability, and of tracefs only the instances can be written
	grep -qx 'CapEff:	0000000000000000' "$main"
	grep -qx 'CapBnd:	0000000000000000' "$main"
	grep -qx 'NoNewPrivs:	1' "$main"
	grep -qx 'Seccomp:	2' "$main"
	awk '$5 ~ "^/sys/kernel/tracing" { print $5, substr($6, 1, 2) }' "${main%/status}/mountinfo" \
		>mounts
	[ "$(cat mounts)" = "/sys/kernel/tracing ro
/sys/kernel/tracing/instances rw" ]
	cp "$(command -v env)" "$MARK-prog"
	for out in one two three; do
		"./$MARK-prog" >"$out"
	done
	sc reload tfs-flight
	dump=/var/lib/tfs-flight/ftrace/$MARK/dump.1
	eventually grep -qsx "$dump" "$FILES/run/out"
	[ "$(grep -c "sched_process_exec: filename=./$MARK-prog " "$FILES$dump")" = 3 ]
	[ "$(stat -c %a "$FILES$dump")" = 600 ]
	sc stop tfs-flight
	is Result success
	is ExecMainStatus 0
	is NRestarts 0
	[ ! -s "$FILES/run/err" ]
	[ ! -e "$TRACEFS/instances/tfs.$MARK" ]
	[ "$(ls "$FILES/var/lib/tfs-flight/ftrace/$MARK")" = dump.1 ]
	[ ! -s "$SLICE/system.slice/tfs-flight.service/cgroup.procs" ]
}

# saves STATE: Run the unit of the last boot until it has ended. It succeeds, and its state is STATE.
saves() {
	: >"$FILES/run/out"
	: >"$FILES/run/err"
	sc restart tfs-last-boot || { cat "$FILES/run/err"; false; }
	is ActiveState "$1" tfs-last-boot
	is Result success tfs-last-boot
}

@test "systemd: the last boot's events are saved in a sandbox, and a boot without any is no failure" {
	recording
	crash
	boot
	before=" $(sc show tfs-last-boot -p Before --value) "
	[[ $before == *" sysinit.target "* ]]
	[[ $before == *" tfs-flight.service "* ]]
	# this host has no reserved instance
	if [ ! -e "$TRACEFS/instances/tfs.boot" ]; then
		saves inactive
		is ConditionResult no tfs-last-boot
		[ ! -e "$FILES/var/lib/tfs" ]
	fi
	cp -r boot "$FILES/run"
	cat >"$FILES/run/units/tfs-last-boot.service.d/root.conf" <<-'END'
		[Unit]
		ConditionPathExists=
		ConditionPathExists=/run/boot/instances/tfs.boot/last_boot_info
		[Service]
		ExecStart=
		ExecStart=tfs-persist -R /run/boot save
	END
	sc daemon-reload
	saves active
	is ExecMainStatus 1 tfs-last-boot
	[ ! -s "$FILES/run/out" ]
	[[ $(cat "$FILES/run/err") == "tfs-persist: tfs.boot has events, but /var/lib/tfs does not "* ]]
	[ "$(stat -c '%a %U' "$FILES/var/lib/tfs")" = "700 root" ]
	cp state/* "$FILES/var/lib/tfs"
	saves active
	is ExecMainStatus 0 tfs-last-boot
	file_is "$FILES/run/out" /var/lib/tfs/last-boot.dat
	[[ $(cat "$FILES/run/err") == "tfs-persist: Linux $(uname -r) has left 1000 events; "* ]]
	tfs-persist -R boot save >out 2>err
	cmp state/last-boot.dat "$FILES/var/lib/tfs/last-boot.dat"
}

# has_metrics CALL N: Does the file of the service say that there were at least N of these calls?
has_metrics() {
	local n
	n=$(sed -n "s/^tfs_calls_total{name=\"$1\"} //p" "$METRICS" 2>/dev/null)
	[ "${n:-0}" -ge "$2" ]
}

@test "systemd: the metrics are in the collector's directory while the service runs, and begin again at 0" {
	boot
	METRICS=$FILES/var/lib/prometheus/node-exporter/tfs.prom
	# other tasks may make this call, too
	echo 'TFS_CALLS=getppid' >"$FILES/etc/default/tfs-metrics"
	sed -i 's/--every 15s/--every 100ms/' "$FILES/run/units/tfs-metrics.service"
	sc daemon-reload
	sc start tfs-metrics
	eventually test -e "$METRICS"
	"$PROG/calls" 1000 <<<go
	eventually has_metrics getppid 1000
	[ "$(stat -c %a "$METRICS")" = 644 ]
	sc stop tfs-metrics
	[ "$(ls "${METRICS%/*}")" = '' ]
	echo 'TFS_CALLS=no_such_call' >"$FILES/etc/default/tfs-metrics"
	sc start tfs-metrics
	eventually grep "unknown system call 'no_such_call'" "$FILES/run/err"
	sc stop tfs-metrics
	[ "$(ls "${METRICS%/*}")" = '' ]
}

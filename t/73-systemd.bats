#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# deploy/systemd: the unit of the flight recorder is checked, and run by a systemd of the test,
# the first process of a pid namespace, on an overlay of this host's files
# parts: 4

load helper
load net

UNIT=$TREE/deploy/systemd/tfs-flight.service

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

# analyze FILE: Print what systemd finds wrong with the unit in FILE, in a root with its programs.
analyze() {
	mkdir -p root/usr/bin root/etc/systemd/system
	cp "$(command -v env)" root/usr/bin/tfs-run
	cp "$(command -v env)" root/usr/bin/kill
	cp "$1" root/etc/systemd/system/tfs-flight.service
	systemd-analyze verify --man=no --recursive-errors=no --root="$PWD/root" tfs-flight.service 2>&1
}

@test "systemd: verify finds nothing in the unit, but a mistake in a changed one" {
	need_analyze
	run -0 analyze "$UNIT"
	[ -z "$output" ]
	sed 's/^ProtectSystem=/ProtectSystm=/' "$UNIT" >changed
	run analyze changed
	grep -Eq "Unknown key( name)? 'ProtectSystm'" <<<"$output"
	sed 's/^ExecStart=tfs-run/ExecStart=tfs-walk/' "$UNIT" >changed
	run analyze changed
	[ "$status" != 0 ]
	grep -q 'tfs-walk is not executable' <<<"$output"
}

@test "systemd: the exposure of the unit is below 1.5, and above that without its sandbox" {
	need_analyze
	systemd-analyze security --offline=true --threshold=15 "$UNIT" >said
	echo "# $(tail -n 1 said)" >&3
	sed '/^CapabilityBoundingSet=/d; /^Protect/d; /^Restrict/d' "$UNIT" >tfs-flight.service
	run ! systemd-analyze security --offline=true --threshold=15 "$PWD/tfs-flight.service"
}

# boot: Start systemd with the unit; HOST is its parent here, INIT its own pid. Its log of the
# unit is in /run/out and /run/err of its file system, which is $FILES.
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
	[ "$(wc -l <default)" = 1 ]
	sed -i "s/TFS_FLIGHT=\(.*\)/TFS_FLIGHT='\1 --instance $MARK'/" default
	cat >inner <<-'END'
		set -e
		mount -t tmpfs tmpfs rw
		mkdir rw/upper rw/work
		mount -t overlay -o lowerdir=/,upperdir=rw/upper,workdir=rw/work overlay files
		mkdir -p files/opt/tfs
		mount --bind "$1" files/opt/tfs
		cp default files/etc/default/tfs-flight
		cp "$2" files/etc/tfs-flight.service
		cd files
		ln -sf /opt/tfs/bin/tfs-run usr/local/bin/tfs-run
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
		mkdir -p run/units/tfs-flight.service.d
		cp etc/tfs-flight.service run/units
		printf '%s\n' '[Service]' StandardOutput=append:/run/out StandardError=append:/run/err \
			>run/units/tfs-flight.service.d/log.conf
		for target in sysinit basic shutdown umount multi-user; do
			printf '%s\n' '[Unit]' DefaultDependencies=no >run/units/$target.target
		done
		# nothing else of this host is started
		exec env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			container=oci SYSTEMD_UNIT_PATH=/run/units chroot . /lib/systemd/systemd --system --unit=multi-user.target
	END
	# shellcheck disable=SC2016 # the inner shell's parameters
	background sh -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' - "$SLICE" \
		unshare -m -p -f -C -i -u --kill-child sh inner "$TREE" "$UNIT" </dev/null >boot.log 2>&1
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

# is KEY VALUE: Has the unit this property?
is() {
	[ "$(sc show tfs-flight -p "$1" --value)" = "$2" ]
}

records() {
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

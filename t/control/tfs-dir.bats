#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-dir: finds tracefs; every other tool finds it in the same way

load ../helper


# no_tracefs SYSFS: Set the environment so that neither SYSFS nor the mount table has a tracefs.
no_tracefs() {
	mkdir -p "$1" no-procfs
	export TRACER_SYSFS_PATH=$PWD/$1 TRACER_PROCFS_PATH=$PWD/no-procfs
}

@test "tfs-dir: cuts an operand of 100000 bytes in the message" {
	run -100 --separate-stderr tfs-dir "$(printf '%0100000d' 0)"
	[ -z "$output" ]
	[[ $stderr != *$'\n'* ]]
	[ "${#stderr}" -lt 1024 ]
}

# bats test_tags=quick
@test "tfs-dir: plain directory: prints the root that -R names, as it was given" {
	mkdir -p root
	outputs 0 root tfs-dir -R root
	outputs 0 "$PWD/./root/" tfs-dir -R "$PWD/./root/"
}

@test "tfs-dir: plain directory: -i names an instance below the root" {
	mkdir -p root/instances/one
	outputs 0 root/instances/one tfs-dir -R root -i one
}

@test "tfs-dir: plain directory: TFS_INSTANCE is the default of -i" {
	mkdir -p root/instances/one root/instances/two
	TFS_INSTANCE=two run -0 tfs-dir -R root
	[ "$output" = root/instances/two ]
	TFS_INSTANCE=two run -0 tfs-dir -R root -i one
	[ "$output" = root/instances/one ]
}

@test "tfs-dir: plain directory: an empty instance name means the root itself" {
	mkdir -p root/instances/two
	TFS_INSTANCE=two run -0 tfs-dir -R root -i ''
	[ "$output" = root ]
	TFS_INSTANCE='' run -0 tfs-dir -R root
	[ "$output" = root ]
}

@test "tfs-dir: plain directory: the instance name / means the root itself" {
	mkdir -p root/instances/two
	TFS_INSTANCE=two run -0 tfs-dir -R root -i /
	[ "$output" = root ]
	TFS_INSTANCE=/ run -0 tfs-dir -R root
	[ "$output" = root ]
	fails 111 "tfs-dir: fatal: not an instance's name: '//'; tfs-instance list prints the names" tfs-dir -R root -i //
}

@test "tfs-dir: plain directory: the last of several -R options counts" {
	mkdir -p a b
	outputs 0 b tfs-dir -R a -R b
}

@test "tfs-dir: refuses a root longer than a path can be, on one line" {
	run -111 --separate-stderr tfs-dir -R "$(printf '%05000d' 0)"
	[ -z "$output" ]
	[[ $stderr != *$'\n'* ]]
	[[ $stderr == "tfs-dir: fatal: unable to open 0000"*"...: File"?"name too long" ]] ||
		[[ $stderr == *"...: Filename too long" ]] # the message of musl
}

@test "tfs-dir: names a missing instance and its root" {
	mkdir -p root/instances
	fails 111 "tfs-dir: fatal: no instance 'one' in root; tfs-instance list prints the names" \
		tfs-dir -R root -i one
}

@test "tfs-dir: no instance name can leave the instances directory" {
	mkdir -p root/instances/one root/events
	for name in .. . ../events one/.. one/../../events /etc one/ .hidden; do
		fails 111 "tfs-dir: fatal: not an instance's name: '$name'; tfs-instance list prints the names" \
			tfs-dir -R root -i "$name"
		TFS_INSTANCE=$name fails 111 \
			"tfs-dir: fatal: not an instance's name: '$name'; tfs-instance list prints the names" tfs-dir -R root
	done
}

@test "tfs-dir: a closed standard error does not change the exit status" {
	run -111 "$BASH" -c 'tfs-dir -R nowhere 2>&-'
	[ -z "$output" ]
}

@test "tfs-dir: without any tracefs the error shows the mount command" {
	no_tracefs sys
	fails 111 "tfs-dir: fatal: no tracefs at $PWD/sys/kernel/tracing: as root, mount -t tracefs nodev $PWD/sys/kernel/tracing" \
		tfs-dir
}

@test "tfs-dir: does not take an empty mount point for a tracefs" {
	no_tracefs sys
	mkdir -p sys/kernel/tracing sys/kernel/debug/tracing
	run -111 --separate-stderr tfs-dir
	[[ $stderr == "tfs-dir: fatal: no tracefs at $PWD/sys/kernel/tracing: as root, mount "* ]]
}

@test "tfs-dir: does not believe a mount table that calls a plain directory a tracefs" {
	no_tracefs sys
	mkdir -p plain no-procfs/1
	echo "nodev $PWD/plain tracefs rw 0 0" >no-procfs/1/mounts
	run -111 --separate-stderr tfs-dir
	[[ $stderr == "tfs-dir: fatal: no tracefs at "* ]]
}

@test "tfs-dir: tells a tracefs without permission from a missing tracefs" {
	need_tool setpriv
	no_tracefs sys
	mkdir -p sys/kernel
	chmod 0 sys/kernel
	fails 111 "tfs-dir: fatal: no permission for $PWD/sys/kernel/tracing; this needs CAP_DAC_OVERRIDE: run this as root, or remount it with mode=750 and gid= of a group of yours" \
		plainly tfs-dir
	chmod 700 sys/kernel
}

@test "tfs-dir: kernel: prints the mounted root" {
	need_tracefs
	run -0 --separate-stderr tfs-dir
	[ "$output" = "$TRACEFS" ]
	[ -z "$stderr" ]
}

@test "tfs-dir: kernel: prints the directory of an instance" {
	new_instance
	outputs 0 "$TRACEFS/instances/$INSTANCE" tfs-dir -i "$INSTANCE"
	[ -e "$output/trace_pipe" ]
}

@test "tfs-dir: kernel: TRACER_SYSFS_PATH moves the search" {
	need_tracefs
	no_tracefs sys
	mkdir -p sys/kernel
	ln -s "$TRACEFS" sys/kernel/tracing
	outputs 0 "$PWD/sys/kernel/tracing" tfs-dir
}

@test "tfs-dir: kernel: the directory below debugfs is tried second" {
	need_tracefs
	no_tracefs sys
	mkdir -p sys/kernel/debug sys/kernel/tracing
	ln -s "$TRACEFS" sys/kernel/debug/tracing
	outputs 0 "$PWD/sys/kernel/debug/tracing" tfs-dir
}

@test "tfs-dir: kernel: the mount table is tried third" {
	need_tracefs
	no_tracefs sys
	mkdir -p no-procfs/1
	echo "nodev /nowhere tracefs rw 0 0
nodev $TRACEFS tracefs_not rw 0 0
tracefs $PWD/elsewhere tracefs rw,relatime 0 0" >no-procfs/1/mounts
	ln -s "$TRACEFS" elsewhere
	outputs 0 "$PWD/elsewhere" tfs-dir
}

@test "tfs-dir: kernel: reads its own mount table if the mount table of pid 1 cannot be read" {
	need_tracefs
	no_tracefs sys
	mkdir -p no-procfs/self
	echo "tracefs $PWD/elsewhere tracefs rw 0 0" >no-procfs/self/mounts
	ln -s "$TRACEFS" elsewhere
	outputs 0 "$PWD/elsewhere" tfs-dir
}

@test "tfs-dir: kernel: looks for a /sys path of the mount table below TRACER_SYSFS_PATH" {
	need_tracefs
	no_tracefs sys
	mkdir -p no-procfs/1 sys/odd
	echo "nodev /sys/odd/place tracefs rw 0 0" >no-procfs/1/mounts
	ln -s "$TRACEFS" sys/odd/place
	outputs 0 "$PWD/sys/odd/place" tfs-dir
}

@test "tfs-dir: kernel: empty TRACER variables count as unset" {
	need_tracefs
	[ "$TRACEFS" = /sys/kernel/tracing ] || skip "needs tracefs at /sys/kernel/tracing"
	TRACER_SYSFS_PATH='' TRACER_PROCFS_PATH='' run -0 tfs-dir
	[ "$output" = /sys/kernel/tracing ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# deploy/image: the OCI image is built twice, measured, and run by crun and podman
# parts: 8
# seconds: 90

load ../helper
load ../containers

# bats test_tags=long
@test "image: two builds have the same digest, and the image has at most 3 MB, unpacked 3.8" {
	need_image
	mkdir again
	# this time with a busybox that is there already
	unpack_image
	BUSYBOX=$ROOTFS/bin/busybox "$TREE/deploy/image/build" again >log 2>&1 3>&-
	echo "# digest, bytes of the image, bytes of its files: $BUILT" >&3
	[ "$(tail -n 1 log)" = "$BUILT" ]
	diff -r again/tfs-tools "${LAYOUT%:*}"
	read -r digest stored files <<<"$BUILT"
	grep -qF "\"digest\":\"$digest\"" again/tfs-tools/index.json
	[ "$stored" -le 3000000 ]
	[ "$files" -le 3800000 ]
	[ "$(find "$ROOTFS" -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')" = "$files" ]
}

# bats test_tags=long
@test "image: it has every tool and hook, busybox, and no file that others may change" {
	unpack_image
	for tool in "$TREE"/bin/*/*.1; do
		tool=$ROOTFS/usr/bin/$(basename "$tool" .1)
		case $tool in
		*/tfs-export | */tfs-flame | */tfs-perfetto | */tfs-timeline) [ -x "$tool" ] && [ ! -L "$tool" ] ;;
		*) [ "$(readlink "$tool")" = tfs ] ;;
		esac
	done
	for hook in "$TREE"/trace-hooks/*/hooks.d/*; do
		cmp "$hook" "$ROOTFS/usr/lib/${hook#"$TREE"/}"
		[ -x "$ROOTFS/usr/lib/${hook#"$TREE"/}" ]
	done
	[ "$(readlink "$ROOTFS/bin/sh")" = busybox ]
	run -0 find "$ROOTFS" ! -type l -perm /022 ! -path "$ROOTFS/tmp"
	[ -z "$output" ]
	run -0 find "$ROOTFS" ! -user 0 -o ! -group 0
	[ -z "$output" ]
}

# bats test_tags=long
@test "image: the build refuses a directory that has an image, and a busybox with libraries" {
	need_image
	fails 111 "build: fatal: ${LAYOUT%:*} exists; remove it, or give another directory" \
		"$TREE/deploy/image/build" "${LAYOUT%/*}"
	export BUSYBOX=$BASH
	grep -q '/ld-\(linux\|musl\)' "$BASH" || skip "needs a bash that is not static"
	fails 111 "build: fatal: $BASH is not a static program; set BUSYBOX to another" \
		"$TREE/deploy/image/build" .
	[ ! -e tfs-tools ]
}

# near STATED MEASURED: Do the numbers differ by 10 % at most?
near() {
	[ $(($1 * 9)) -le $(($2 * 10)) ] && [ $(($2 * 10)) -le $(($1 * 11)) ]
}

# bats test_tags=long
@test "image: the README states its bytes, tools, hooks and calls at the start of a tool, as measured" {
	need_tool strace
	unpack_image
	readme=$TREE/deploy/image/README.md
	read -r _ stored files <<<"$BUILT"
	read -r stated_stored stated_files < <(sed -n 's/^sha256:[0-9a-f]*\.\.\. //p' "$readme")
	near "$stated_stored" "$stored"
	near "$stated_files" "$files"
	tools=("$TREE"/bin/*/*.1)
	hooks=("$ROOTFS"/usr/lib/trace-hooks/*/hooks.d/*)
	grep -qF "The image has ${#tools[@]} tools and ${#hooks[@]} hooks." "$readme"
	most=$(sed -n 's/.*makes fewer than \([0-9]*\) system calls and opens no file.*/\1/p' "$readme")
	strace -o all chroot "$ROOTFS" /usr/bin/syscall-nr write >number
	sed -n '/^execve("\/usr\/bin\/syscall-nr"/,$p' all >own
	run -1 grep -w 'open\|openat' own
	made=$(grep -c '^[a-z_0-9]*(' own)
	[ "$made" -lt "$most" ]
	[ "$made" -ge $((most / 2)) ]
}

# traced FILE: Fail unless the trace in FILE has the 100 calls of HUNDRED, and nothing else.
traced() {
	[ "$(grep -c ': sys_mkdir(' "$1")" = 100 ]
	file_has 100 "$1"
	[ "$(pids_in "$1" | wc -l)" = 1 ]
}

# Set HUNDRED to a command that makes 100 directories, each by one system call.
hundred() {
	HUNDRED=(mkdir /tmp/{1..100})
	[ "$(uname -m)" = x86_64 ] || skip "needs x86_64, where mkdir is a system call of busybox"
	need_tracefs events/syscalls
}

# bats test_tags=long
@test "image: podman, with one command and no capability, from the image to the trace of a program" {
	hundred
	pod_image
	# the command of deploy/image/README.md, except the name of the image
	pod_run --cap-drop=all --read-only --tmpfs /run --tmpfs /tmp \
		-v /proc:/host/proc:ro -v /sys:/host/sys "$IMAGE" \
		tfs-run trace_syscalls -s mkdir -- "${HUNDRED[@]}" >got 2>err
	cat err
	[ ! -s err ]
	traced got
	[ "$(pod ps -aq)" = "" ]
}

# bats test_tags=long
@test "image: podman without a command lists the hooks" {
	need_tracefs
	pod_image
	pod_run "$IMAGE" >got
	for hook in "$TREE"/trace-hooks/ftrace/hooks.d/*; do
		[ "$(grep -c "^  ${hook##*/} " got)" -ge 1 ]
	done
}

# bats test_tags=long
@test "image: podman traces a task of the host by its pid, exactly" {
	need_tracefs events/syscalls
	pod_image
	calls 1000
	background pod_run --cap-drop=all --read-only --tmpfs /run -v /proc:/host/proc:ro \
		-v /sys:/host/sys "$IMAGE" \
		tfs-run trace_syscalls -s getppid --pid "$CALLS" >got 2>err
	eventually records
	release
	all_end "$CALLS" "$PID"
	[ "$(grep -c ': sys_getppid()$' got)" = 1000 ]
	file_has 1000 got
	[ "$(pids_in got)" = "$CALLS" ]
}

# records: Does an instance record the system calls of CALLS?
records() {
	local dir
	for dir in "$TRACEFS"/instances/tfs.*; do
		if grep -qsx "$CALLS" "$dir/set_event_pid" && grep -qsx 1 "$dir/tracing_on"; then
			return 0
		fi
	done
	return 1
}

# bats test_tags=long
@test "image: crun runs a trace from the unpacked image, on a file system that is only read" {
	hundred
	need_tool crun
	unpack_image
	cat >config.json <<-END
	{
		"ociVersion": "1.0.2",
		"process": { "cwd": "/",
			"args": $(as_json tfs-run trace_syscalls -s mkdir -- "${HUNDRED[@]}"),
			"env": ["PATH=/usr/bin:/bin", "TRACER_PROCFS_PATH=/host/proc",
				"TRACER_SYSFS_PATH=/host/sys"] },
		"root": { "path": "$ROOTFS", "readonly": true },
		"mounts": [
			{ "destination": "/proc", "type": "proc", "source": "proc" },
			{ "destination": "/run", "type": "tmpfs", "source": "tmpfs" },
			{ "destination": "/tmp", "type": "tmpfs", "source": "tmpfs" },
			{ "destination": "/host/proc", "type": "bind", "source": "/proc",
				"options": ["rbind", "ro"] },
			{ "destination": "/host/sys", "type": "bind", "source": "/sys",
				"options": ["rbind"] } ],
		"linux": { "namespaces": [ {"type": "mount"}, {"type": "ipc"}, {"type": "uts"},
			{"type": "pid"} ] }
	}
	END
	plain_mounts crun --root "$PWD/crun" --cgroup-manager disabled run --no-pivot -b . "$MARK" \
		>got 2>err
	[ ! -s err ]
	traced got
	[ "$(plain_mounts crun --root "$PWD/crun" list -q)" = "" ]
}

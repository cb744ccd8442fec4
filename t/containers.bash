# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# containers.bash - functions of the tests that run containers: load containers, after helper
#
# Containers of a test belong to $MARK, and their state lies below the test's directory.

# as_json WORD...: Print the words as a JSON list.
as_json() {
	local list
	list=$(printf ', "%s"' "$@")
	echo "[${list#, }]"
}

# plain_mounts COMMAND...: Run COMMAND in a mount namespace of its own in which /sys/fs/cgroup is
# cgroup v2, because runtimes refuse a host with both versions. The mounts of COMMAND go with it.
plain_mounts() {
	unshare -m sh -c '[ "$(stat -f -c %t /sys/fs/cgroup)" = 63677270 ] || {
		umount -R -l /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup || exit; }
		exec "$@"' - "$@" 3>&-
}

# pod WORD...: Run podman, with storage of its own. It makes no cgroup and sets no limit that only
# some hosts allow.
pod() {
	local dir=$BATS_FILE_TMPDIR/podman
	plain_mounts podman --root "$dir/root" --runroot "$dir/run" --tmpdir "$dir/tmp" \
		--storage-driver vfs --cgroup-manager cgroupfs --runtime crun --events-backend none \
		--log-level error "$@"
}

# pod_run WORD...: Run a container with podman until its command ends.
pod_run() {
	pod run --rm --network none --cgroups disabled --ulimit nofile=1024:1024 \
		--ulimit nproc=1000:1000 "$@"
}

# pod_image: need_image, and give it to podman as IMAGE.
pod_image() {
	need_tool podman crun
	need_image
	IMAGE=oci:$(basename "$LAYOUT")
	# the name of the image becomes that of the path
	IMAGE=$(cd "${LAYOUT%/*}" && pod pull -q "$IMAGE")
}

# need_image: Build the image once for all test files; set LAYOUT to its OCI layout, with the tag,
# BUILT to the last line of the build.
need_image() {
	local dir=$SHARED/image lock
	need_root
	need_tool umoci musl-gcc git unshare
	git -C "$TREE" rev-parse --git-dir >/dev/null 2>&1 || skip "needs a git checkout"
	exec {lock}>"$dir.lock"
	flock "$lock"
	if [ ! -d "$dir" ]; then
		mkdir "$dir"
		"$TREE/deploy/image/build" "$dir" >"$dir/log" 2>&1 3>&- || :
	fi
	exec {lock}>&-
	! grep -q 'unable to download busybox-static' "$dir/log" ||
		skip "needs busybox-static, or a Debian mirror"
	[ -d "$dir/tfs-tools" ] || { cat "$dir/log"; return 1; }
	BUILT=$(tail -n 1 "$dir/log")
	LAYOUT=$dir/tfs-tools:$(sed -n 's/^VERSION = //p' "$TREE/Makefile")
}

# unpack_image: need_image, and set ROOTFS to the files of the image.
unpack_image() {
	need_image
	ROOTFS=$BATS_FILE_TMPDIR/unpacked/rootfs
	[ -d "$ROOTFS" ] || umoci unpack --image "$LAYOUT" "$BATS_FILE_TMPDIR/unpacked"
}

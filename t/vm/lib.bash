# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2034 # the scripts use the variables that are set here
# lib.bash - make and start a guest; run and crash share these functions
#
# Scripts load it at the top of the tree, and call the functions in this order.

out=${TFS_VM_OUT:-build/vm}
export TFS_VM_CACHE=${TFS_VM_CACHE:-$PWD/build/vm}

# find_guest KERNEL ARCH: Read the guest's row of t/vm/guests into variables, and install
# the packages that this machine needs for it.
find_guest() {
	local row
	kernel=$1 arch=$2
	row=$(grep -E "^$kernel +$arch " t/vm/guests) || {
		echo "$0: no guest $kernel $arch in t/vm/guests" >&2
		exit 100
	}
	read -r _ _ suite package harness qemu <<<"$row"
	mkdir -p "$out"
	t/packages cpio make "${qemu%% *}" "$(t/vm/cc "$arch")"
}

# fetch_guest PACKAGE...: Unpack the kernel in $root, and in $tools busybox, the libc and the
# kernel headers to build with, and the packages.
fetch_guest() {
	local dir
	root=$(t/vm/fetch "$suite" "$arch" "META:$package") &&
		tools=$(t/vm/fetch "$harness" "$arch" busybox-static musl-dev linux-libc-dev \
			"$@") || return
	for dir in bin lib; do # in /usr alone since trixie
		[ -e "$tools/$dir" ] || ln -s "usr/$dir" "$tools/$dir"
	done
}

# make_tree DIR: Copy the tree to DIR and build the programs there, unless another guest has done
# it with the same files. TFS_VM_MAKE is a word for make. The test programs include headers of the
# kernel, which musl lacks; the product includes none (lib/base/base.h).
make_tree() {
	local key cc="$PWD/t/vm/cc $arch"
	exec 8>"$1.lock"
	flock 8
	git ls-files -co --exclude-standard >"$work/files"
	key="$(xargs -d '\n' sha1sum <"$work/files" | sha1sum) ${TFS_VM_MAKE-}"
	if [ "$(cat "$1.key" 2>/dev/null)" != "$key" ]; then
		rm -rf "$1" "$1.key"
		mkdir "$1"
		cpio -pdm --quiet "$1" <"$work/files"
		# shellcheck disable=SC2086 # a word or none
		make -s -j"$(nproc)" -C "$1" STATIC=1 CC="$cc" ${TFS_VM_MAKE-} all
		# without -S an older ld crashes on debugging symbols of a newer ld (riscv64)
		make -s -j"$(nproc)" -C "$1" -f t/prog/Makefile LINK=-Wl,-S \
			CC="$cc$(printf ' -isystem %s' "$tools"/usr/include{,/*-linux-gnu*})"
		rm -r "$1"/build/lib "$1"/build/t/lib
		echo "$key" >"$1.key"
	fi
	exec 8>&-
}

# make_guest: Make the guest's file system in $guest, below $work: busybox, and in /tfs the
# tree with static product and test programs.
make_guest() {
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	guest=$work/root
	mkdir "$guest"
	make_tree "$TFS_VM_CACHE/$harness-$arch/tree"
	cp -a "$TFS_VM_CACHE/$harness-$arch/tree" "$guest/tfs"
	mkdir -p "$guest"/{bin,proc,sys,dev,tmp,etc,usr/bin,var/tmp}
	[ -n "${TFS_VM_NO_RUN:-}" ] || mkdir "$guest/run"
	printf '%s\n' root:x:0:0:root:/tmp:/bin/sh nobody:x:65534:65534:nobody:/:/bin/false \
		>"$guest/etc/passwd"
	printf '%s\n' 'domain 53/tcp' 'domain 53/udp' 'http 80/tcp www' 'https 443/tcp' \
		>"$guest/etc/services"
	mkdir "$guest/etc/alternatives"
	echo guest >"$guest/etc/hostname"
	cp "$tools"/bin/busybox "$guest/bin"
	cp t/vm/init "$guest/init"
}

# add_libraries NAME...: Add these libraries of $tools, and the program that loads them.
add_libraries() {
	local dir name file target
	for dir in lib lib64 usr/lib; do
		for file in "$tools/$dir"/*/ld*.so.* "$tools/$dir"/ld*.so.* $(
			for name; do echo "$tools/$dir"/*/"lib$name".so.*; done
		); do
			[ -e "$file" ] || [ -L "$file" ] || continue
			target=$guest/${file#"$tools"/}
			mkdir -p "${target%/*}"
			cp -a "$file" "$target"
		done
	done
}

# add_publishers: Add the programs of t/prog/publishers, for glibc and musl, and musl's loader.
add_publishers() {
	local gcc to=$guest/tfs/build/t/publishers libraries
	gcc=$(t/vm/cc "$arch")
	libraries=$(echo "$tools"/lib/*-musl)
	mkdir -p "$guest/lib"
	cp -a "$libraries" "$guest/lib"
	sed "s|-L/usr|-L$libraries &|; s|/usr/|$tools/usr/|g" "$tools"/usr/lib/*/musl-gcc.specs \
		>"$work/specs"
	t/prog/publishers "$to/musl" "$gcc" -specs="$work/specs"
	t/prog/publishers "$to/glibc" "$gcc" --sysroot="$tools" \
		-isystem "$tools/usr/include/${gcc%-gcc}"
}

# add_modules NAME...: Add those that the kernel has as modules, each after the modules that
# it depends on; init loads them in this order.
add_modules() {
	local name file to
	mkdir -p "$guest/modules"
	for name; do
		# shellcheck disable=SC2076 # a word of the list
		[[ "$modules " != *" $name "* ]] || continue
		modules="$modules $name"
		file=$(find "$root"/{,usr/}lib/modules/*/kernel -name "${name//_/[-_]}.ko*" \
			2>/dev/null | head -n 1)
		to=$work/$name.ko
		case $file in
		*.ko) cp "$file" "$to" ;;
		*.xz) xz -dc "$file" >"$to" ;;
		*) continue ;; # built in, or not there
		esac
		# shellcheck disable=SC2046 # a word a module
		add_modules $(tr '\0' '\n' <"$to" | sed -n 's/^depends=//p' | tr ',-' ' _')
		mv "$to" "$guest/modules/$((count_modules++ + 10))-$name.ko"
	done
}
modules='' count_modules=0

# add_drives: Make the virtio disks of the guest; set $drives to their arguments for qemu.
# The first disk is empty and has 64 MiB; the guest sees it as /dev/vda. The files of
# TFS_VM_DRIVES follow, as /dev/vdb and so on.
add_drives() {
	local file
	truncate -s 64M "$work/drive"
	drives=()
	for file in "$work/drive" ${TFS_VM_DRIVES-}; do
		drives+=(-drive "file=$file,format=raw,if=virtio")
	done
	add_modules virtio_pci virtio_mmio virtio_blk
}

# pack_guest: Pack $guest as the initial file system of a kernel.
pack_guest() {
	(cd "$guest" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/initrd"
	for image in "$root"/boot/vmlinu[xz]-* "$root"/usr/lib/modules/*/vmlinuz; do
		[ ! -e "$image" ] || break
	done
	echo "# $kernel $arch: $image"
}

# boot SECONDS WORDS [ARGUMENT]...: Run the guest for at most SECONDS, with more WORDS for
# the kernel and ARGUMENTs for qemu; its console is the output. The guest stays in our
# process group, so that it ends with us.
boot() {
	# shellcheck disable=SC2086 # the words of the table
	timeout --foreground "$1" $qemu" quiet panic=-1 $2" -nographic ${no_reboot--no-reboot} \
		-smp "${TFS_VM_CPUS:-2}" -accel tcg,thread=single -kernel "$image" \
		-initrd "$work/initrd" "${@:3}" \
		</dev/null 2>&1
}

# begin_tap NAME: Fetch and make the guest of a script that prints TAP, which is kept in
# build/vm/KERNEL-ARCH.NAME.tap beside the console.
begin_tap() {
	tap=$out/$kernel-$arch.$1.tap count=0 failed=0 start=$SECONDS
	: >"$tap"
	: >"$tap.console"
	fetch_guest || {
		say "1..0 # SKIP the packages of $kernel $arch cannot be fetched"
		exit 77
	}
	make_guest
}

say() {
	echo "$*" | tee -a "$tap"
}

# tell "ok - NAME"|"not ok - NAME": Print the result with its number.
tell() {
	count=$((count + 1))
	say "${1%% -*} $count -${1#* -}"
	[[ $1 == ok* ]] || failed=$((failed + 1))
}

end_tap() {
	say "1..$count"
	say "# $kernel $arch: $((SECONDS - start)) seconds"
	[ "$failed" = 0 ]
}

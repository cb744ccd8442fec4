#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# deploy/image/index: one image for several architectures, which skopeo and podman read
# parts: 1
# seconds: 300

load ../helper
load ../containers

# need_index: Build the image for two architectures, once: of 32 bits, and of the other byte order. Set
# INDEX to its OCI layout.
need_index() {
	INDEX=$BATS_FILE_TMPDIR/index/tfs-tools
	need_root
	need_tool umoci musl-gcc jq git apt-get dpkg
	[ "$(uname -m)" = x86_64 ] || skip "needs x86_64: cross compilers"
	need_tool arm-linux-gnueabihf-gcc s390x-linux-gnu-gcc
	[ ! -e "$INDEX" ] || return 0
	"$TREE/t/vm/fetch" bookworm s390x musl-dev >fetch.log 2>&1 3>&- || skip "needs a Debian mirror: $(tail -n 1 fetch.log)"
	mkdir "${INDEX%/*}"
	"$TREE/deploy/image/index" "${INDEX%/*}" armhf s390x >"$BATS_FILE_TMPDIR/log" 2>&1 3>&- || { cat "$BATS_FILE_TMPDIR/log"; return 1; }
}

# blob FILTER FILE: Print the path of the blob whose digest jq finds in FILE.
blob() {
	echo "$INDEX/blobs/$(jq -r "$1" "$2" | tr : /)"
}

# header FILE: Print the class, byte order, type and machine of an ELF file.
header() {
	od -An -tu1 -j4 -N2 "$1" | tr -s ' '
	od -An -tx1 -j18 -N2 "$1" | tr -s ' '
}

# bats test_tags=long
@test "index: several architectures from one build: each image has programs of its own, static, and all tools" {
	local index number=0 manifest
	need_index
	index=$(blob '.manifests[0].digest' "$INDEX/index.json")
	[ "$(tail -n 1 "$BATS_FILE_TMPDIR/log" | cut -d ' ' -f 1)" = "sha256:$(sha256sum "$index" | cut -d ' ' -f 1)" ]
	jq -c '.manifests[].platform' "$index" | diff - <(printf '%s\n' \
		'{"architecture":"arm","os":"linux","variant":"v7"}' '{"architecture":"s390x","os":"linux"}')
	for machine in ' 1 1 28 00' ' 2 2 00 16'; do
		manifest=$(blob ".manifests[$number].digest" "$index")
		[ "$(stat -c %s "$manifest")" = "$(jq ".manifests[$number].size" "$index")" ]
		rm -rf root
		mkdir root
		tar -xzf "$(blob '.layers[0].digest' "$manifest")" -C root
		for program in usr/bin/tfs usr/bin/tfs-export bin/busybox; do
			[ "$(header "root/$program" | tr -d '\n')" = "$machine" ]
			run -1 grep -q '/ld-\(linux\|musl\)' "root/$program"
		done
		(cd root && find . \! -type f -o -printf '%p %m\n' | sort) >"files.$number"
		(cd root && find . -type l -printf '%p %l\n' | sort) >>"files.$number"
		cmp files.0 "files.$number"
		# each command of busybox is one of this busybox
		for applet in root/bin/*; do
			[ ! -L "$applet" ] || basename "$applet"
		done | sort >links
		tr '\0' '\n' <root/bin/busybox | grep -ax '[][a-z0-9_.+-]*' | sort -u | comm -13 - links >missing
		[ ! -s missing ]
		number=$((number + 1))
	done
	# what lies in the layout is in the index, and has its digest
	(cd "$INDEX/blobs/sha256" && for file in *; do echo "$file  $file"; done | sha256sum --check --quiet)
	[ "$(find "$INDEX/blobs/sha256" -type f | wc -l)" = 7 ]
}

# bats test_tags=long
@test "index: skopeo and podman find the image of each architecture" {
	local version
	need_index
	need_tool skopeo podman crun
	version=$(sed -n 's/^VERSION = //p' "$TREE/Makefile")
	for arch in 'arm --override-variant v7' s390x; do
		# shellcheck disable=SC2086 # the variant
		skopeo --override-os linux --override-arch $arch inspect "oci:$INDEX:$version" |
			jq -r .Architecture | grep -x "${arch%% *}"
	done
	for arch in 'arm --variant v7' s390x; do
		# shellcheck disable=SC2086
		(cd "${INDEX%/*}" && pod pull -q --arch $arch oci:tfs-tools) >id
		pod image inspect "$(cat id)" | jq -r '.[0].Architecture' | grep -x "${arch%% *}"
	done
}

# bats test_tags=long
@test "index: another build of an architecture has the same bytes, and what is missing or there is said" {
	need_index
	mkdir again
	"$TREE/deploy/image/index" again armhf >log 2>&1 3>&-
	for file in again/tfs-tools/blobs/sha256/*; do
		[ -e "$INDEX/blobs/sha256/${file##*/}" ] || echo "$file"
	done >new
	file_has 1 new # the index
	fails 111 "index: fatal: $INDEX exists; remove it, or give another directory" \
		"$TREE/deploy/image/index" "${INDEX%/*}"
	mkdir path other
	ln -s /bin/* /usr/bin/* path/ 2>/dev/null || :
	rm -f path/*s390x-linux-gnu*
	PATH=$PWD/path fails 111 \
		"index: fatal: s390x-linux-gnu-gcc is missing; install it (package: gcc-s390x-linux-gnu)" \
		"$TREE/deploy/image/index" other s390x
}

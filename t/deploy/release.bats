#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# deploy/release: the tarball, the parts of a release, its checksums and their signature
# seconds: 90

load ../helper
load ../containers

# tarball DIRECTORY: Make the tarball of the last commit there.
tarball() {
	need_tool git gzip
	git -C "$TREE" rev-parse HEAD >/dev/null 2>&1 || skip "needs a git checkout"
	mkdir "$1"
	env -u MAKEFLAGS make -s -C "$TREE" dist DIST="$PWD/$1" 3>&-
}

@test "release: the tarball of a commit has the same bytes each time, and builds without git" {
	local version
	tarball one
	tarball two
	cmp one/*.tar.gz two/*.tar.gz
	version=$(sed -n 's/^VERSION = //p' "$TREE/Makefile")
	tar -xzf "one/tfs-tools-$version.tar.gz"
	mkdir path
	printf '#!/bin/sh\necho "git is not there" >&2\nexit 127\n' >path/git
	chmod +x path/git
	(cd "tfs-tools-$version" && env -u MAKEFLAGS PATH="$PWD/../path:$PATH" make -s bin/tfs-dir) >log 2>&1 3>&-
	[ ! -s log ]
	outputs 0 "tfs-dir $version ($(git -C "$TREE" rev-parse HEAD | cut -c 1-12))" \
		"tfs-tools-$version/bin/tfs-dir" --version
	# deploy/tree, with which packages and the image begin, copies no more and no less from there
	mkdir copy
	"tfs-tools-$version/deploy/tree" copy
	diff -r -x build "tfs-tools-$version" copy
	! grep -rlI --exclude-dir=build "$PWD" copy || return 1
}

@test "release: its parts are in the form of SPDX, with the checksums of all files" {
	need_tool jq dpkg-query
	need_image
	tarball of
	tar -czf "$(echo of/*.tar.gz | sed 's/.tar.gz$/-image&/')" -C "${LAYOUT%:*}" .
	echo package >of/tfs-tools-static_1_amd64.deb
	SOURCE_DATE_EPOCH=1700000000 "$TREE/deploy/release/parts" of 0123456789abcdef
	(cd of && sha256sum --check --quiet SHA256SUMS)
	[ "$(wc -l <of/SHA256SUMS)" = "$(find of -type f ! -name SHA256SUMS | wc -l)" ]
	# each file has its checksum, each name in a relationship is that of a part, and no version is missing
	jq -e '
		.spdxVersion == "SPDX-2.3" and .dataLicense == "CC0-1.0" and .creationInfo.created == "2023-11-14T22:13:20Z" and
		([.packages[] | select(.versionInfo == "" or .licenseDeclared == "" or .SPDXID == null)] == []) and
		(([.packages[].SPDXID] + ["SPDXRef-DOCUMENT"]) as $ids |
			[.relationships[] | .spdxElementId, .relatedSpdxElement | select(IN($ids[]) | not)] == []) and
		([.packages[] | select(.packageFileName) | .SPDXID] | sort) ==
			["SPDXRef-image", "SPDXRef-source", "SPDXRef-tfs-tools-static"]' of/*.spdx.json
	jq -r '.packages[] | select(.packageFileName) | "\(.checksums[0].checksumValue)  \(.packageFileName)"' \
		of/*.spdx.json | (cd of && sha256sum --check --quiet)
	jq -e --arg version "$(busybox_version)" '.packages[] | select(.name == "busybox") |
		.versionInfo == $version' of/*.spdx.json
}

# Print the version of the image's busybox, as that says it.
busybox_version() {
	unpack_image
	"$ROOTFS/bin/busybox" | sed -n '1s/^BusyBox v\([^ ]*\).*/\1/p'
}

@test "release: the signature of the README is verified, and a changed file or name is refused" {
	need_tool ssh-keygen
	ssh-keygen -q -t ed25519 -N '' -C '' -f KEY
	echo data >file
	sha256sum file >SHA256SUMS
	# shellcheck disable=SC2016 # backquotes of Markdown
	commands=$(sed -n '/^```sh/,/^```/{ /^```/!p; }' "$TREE/deploy/release/README.md")
	[ "$(wc -l <<<"$commands")" = 4 ]
	bash -e <<<"$commands" >log 2>&1
	grep -q 'Good "tfs-tools" signature for releases' log
	grep -q '^file: OK' log
	verify=$(grep ' -Y verify' <<<"$commands")
	echo >>SHA256SUMS
	run ! bash -e <<<"$verify"
	sed -i '$d' SHA256SUMS
	run -0 bash -e <<<"$verify"
	run ! bash -e <<<"${verify/releases/others}"
	echo more >>file
	run ! sha256sum --check SHA256SUMS
}

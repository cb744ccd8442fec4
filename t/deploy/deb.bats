#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# deploy/deb: the Debian packages are built, checked, used, upgraded and removed
# parts: 7
# seconds: 300

load ../helper

# Each test uses the packages of this build. Beside it they are built once more, in another place, on
# another continent.
setup_file() {
	export MAKEFLAGS=
	command -v dpkg-buildpackage dh musl-gcc git >/dev/null || return 0
	git -C "$TREE" rev-parse --git-dir >/dev/null 2>&1 || return 0
	unmet >/dev/null || return 0
	mkdir "$BATS_FILE_TMPDIR"/{deb,again,elsewhere}
	TMPDIR=$BATS_FILE_TMPDIR/elsewhere TZ=Asia/Tokyo LC_ALL=C.UTF-8 \
		"$TREE/deploy/deb/build" "$BATS_FILE_TMPDIR/again" 3>&- &
	"$TREE/deploy/deb/build" "$BATS_FILE_TMPDIR/deb" 3>&-
	wait "$!"
}

# unmet: Print the packages that the build needs and this machine lacks; succeed if there are none.
unmet() {
	! dpkg-checkbuilddeps "$TREE/deploy/deb/debian/control" 2>&1 | grep -o 'Unmet build dependencies.*'
}

need_packages() {
	local unmet
	need_tool dpkg-buildpackage dh musl-gcc git
	unmet=$(unmet) || skip "needs build dependencies: ${unmet#*: }"
	DEB=$BATS_FILE_TMPDIR/deb
	[ -d "$DEB" ] || skip "needs a git checkout"
}

# clean_root [OPTION]: Make a root of Debian's smallest kind, with the kernel's file systems, by
# mmdebstrap with the option, or as a copy of the one that the first test without an option made.
clean_root() {
	local dir made=$BATS_FILE_TMPDIR/root
	need_tool mmdebstrap
	ROOT=$BATS_TEST_TMPDIR/root
	[ $# = 0 ] || made=$ROOT
	[ -d "$made" ] || "$TREE/t/debian" "$made" "$@" 3>&- 2>mmdebstrap.log ||
		skip "needs a Debian mirror: $(tail -n 1 mmdebstrap.log)"
	[ -d "$ROOT" ] || cp -a "$made" "$ROOT"
	for dir in proc sys dev; do
		mount --rbind "/$dir" "$ROOT/$dir"
		mount --make-rslave "$ROOT/$dir"
	done
}

# Unmount what clean_root has mounted.
undo() {
	local dir status=0
	for dir in proc sys dev; do
		! mountpoint -q "$BATS_TEST_TMPDIR/root/$dir" ||
			umount -R -l "$BATS_TEST_TMPDIR/root/$dir" || status=1
	done
	return "$status"
}

# within COMMAND...: Run the command in the root.
within() {
	chroot "$ROOT" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@" 3>&-
}

# Print the files of the root, without what dpkg itself keeps about packages.
files() {
	find "$ROOT" -xdev ! -type d ! -path "$ROOT/var/lib/dpkg/*" ! -path "$ROOT/var/log/*" \
		! -path "$ROOT/var/cache/*" | LC_ALL=C sort
}

# Is there a session directory in the root?
session_runs() {
	[ -n "$(find "$ROOT/run/tfs/ftrace" -mindepth 1 2>/dev/null)" ]
}

# newer PACKAGE VERSION: Make a package of the same files with another version.
newer() {
	dpkg-deb -R "$DEB/$1"_[0-9]*.deb unpacked
	sed -i "s/^Version: .*/Version: $2/" unpacked/DEBIAN/control
	dpkg-deb -b unpacked "$ROOT/new.deb"
	rm -r unpacked
}

# bats test_tags=long
@test "deb: two packages are built, and lintian finds nothing in them" {
	need_packages
	need_tool lintian
	(cd "$DEB" && echo *.deb | sed 's/_[^ ]*//g') >names
	file_is names "tfs-tools-dbgsym tfs-tools-static tfs-tools"
	lintian --allow-root --fail-on error,warning "$DEB"/*.changes >out 2>&1 || { cat out; false; }
	[ ! -s out ]
	# the static one needs no other package, and its program no loader
	[ -z "$(dpkg-deb -f "$DEB"/tfs-tools-static_*.deb Depends)" ]
	dpkg-deb -x "$DEB"/tfs-tools-static_*.deb static
	# the limit of the program with its hooks is that of .ci/run
	most=$(sed -n 's|^at_most \([0-9]*\) bin/tfs .*|\1|p' "$TREE/.ci/run")
	[ "$(cat static/usr/bin/tfs static/usr/lib/trace-hooks/*/hooks.d/* | wc -c)" -le $((most * 1024)) ]
	run -1 grep -q '/ld-\(linux\|musl\)' static/usr/bin/tfs
}

# bats test_tags=long
@test "deb: each build of a tree makes the same packages" {
	need_packages
	for file in "$DEB"/*.deb; do
		cmp "$file" "$BATS_FILE_TMPDIR/again/${file##*/}"
	done
}

# bats test_tags=long
@test "deb: both packages have README.Debian and the sample of /etc/default as a conffile" {
	need_packages
	for package in tfs-tools tfs-tools-static; do
		dpkg-deb -x "$DEB/$package"_[0-9]*.deb "$package"
		cmp "$TREE/deploy/init/tfs-flight.default" "$package/etc/default/tfs-flight"
		[ "$(dpkg-deb -I "$DEB/$package"_[0-9]*.deb conffiles)" = /etc/default/tfs-flight ]
		cmp "$TREE/deploy/deb/debian/README.Debian" "$package/usr/share/doc/$package/README.Debian"
	done
	# each unit that the text names is in the package, and each of the package is named
	grep -o 'tfs-[a-z-]*' tfs-tools/usr/share/doc/tfs-tools/README.Debian | sort -u >named
	for unit in tfs-tools/lib/systemd/system/*; do
		grep -qx "$(basename "$unit" .service)" named
	done
}

# bats test_tags=long
@test "deb: autopkgtest runs the packages' own tests in a clean root, and all pass" {
	need_packages
	need_tracefs events/syscalls
	need_tool autopkgtest
	clean_root --include=apt-utils,dpkg-dev
	mkdir tree
	cp -a "$TREE/deploy/deb/debian" tree
	# the root shares the kernel with this machine, so the isolation is the runner's word
	autopkgtest --ignore-restrictions=isolation-machine --output-dir="$PWD/results" \
		-B "$DEB"/tfs-tools_*.deb "$DEB"/tfs-tools-static_*.deb tree/ -- chroot "$ROOT" \
		>log 2>&1 3>&- || { tail -n 30 log; false; }
	file_is results/summary "installed            PASS (superficial)
session              PASS
session-static       PASS"
}

# package_lives PACKAGE: Install, use, upgrade, remove and purge it.
package_lives() {
	local package=$1 session
	need_packages
	need_tracefs events/syscalls
	clean_root
	files >before
	cp "$DEB/$package"_[0-9]*.deb "$ROOT/new.deb"
	within dpkg -i /new.deb >install.log
	# two commands: this was the first one
	within tfs-run trace_syscalls -s exit_group -- true >trace
	[ "$(grep -c ': sys_exit_group(error_code: 0)$' trace)" = 1 ]
	# the units are there, and nothing has enabled them
	for unit in tfs-flight.service tfs-last-boot.service tfs-metrics.service; do
		cmp "$TREE/deploy/systemd/$unit" "$ROOT/lib/systemd/system/$unit"
	done
	[ -z "$(find "$ROOT/etc/systemd" -name 'tfs-*')" ]
	# last boots, which the units have saved, stay until the package is purged
	mkdir "$ROOT/var/lib/tfs"
	: >"$ROOT/var/lib/tfs/last-boot.dat"
	[[ "$(within tfs-run --version) " == "tfs-run $(dpkg-deb -f "$ROOT/new.deb" Version) "* ]]
	# an upgrade keeps a session that runs
	background within tfs-run trace_syscalls -s getppid --all >all 2>err
	session=$PID
	eventually session_runs
	newer "$package" 99
	within dpkg -i /new.deb >upgrade.log
	kill -0 "$session"
	# the removal ends it; this root stands for a host, and is not one to leave alone
	printf '#!/bin/sh\nexit 1\n' >"$ROOT/usr/bin/ischroot"
	within dpkg -r "$package" >remove.log
	finishes "$session" 0
	run ! session_runs
	[ -e "$ROOT/var/lib/tfs/last-boot.dat" ]
	within dpkg -P "$package" >purge.log
	rm "$ROOT/new.deb"
	files | diff before -
	[ ! -e "$ROOT/run/tfs" ]
}

# bats test_tags=long
@test "deb: tfs-tools is installed, used, upgraded, removed and purged in a clean root" {
	package_lives tfs-tools
}

# bats test_tags=long
@test "deb: tfs-tools-static is installed, used, upgraded, removed and purged in a clean root" {
	package_lives tfs-tools-static
}

# bats test_tags=long
@test "deb: the purge of one package leaves what the other one, which is installed, uses" {
	need_packages
	clean_root
	cp "$DEB"/tfs-tools_[0-9]*.deb "$ROOT/one.deb"
	cp "$DEB"/tfs-tools-static_[0-9]*.deb "$ROOT/two.deb"
	within dpkg -i /one.deb >log
	within dpkg -i /two.deb >log # it takes the place of the first
	mkdir -p "$ROOT/var/lib/tfs" "$ROOT/run/tfs"
	: >"$ROOT/var/lib/tfs/last-boot.dat"
	within dpkg -P tfs-tools >log
	[ -e "$ROOT/var/lib/tfs/last-boot.dat" ]
	[ -d "$ROOT/run/tfs" ]
	cmp "$TREE/deploy/init/tfs-flight.default" "$ROOT/etc/default/tfs-flight"
	within dpkg -P tfs-tools-static >log
	[ ! -e "$ROOT/var/lib/tfs" ]
	[ ! -e "$ROOT/etc/default/tfs-flight" ]
}

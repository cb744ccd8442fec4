#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016 # for the shells of the scripts
# deploy/deb: what the packages do before they are removed

load ../helper

@test "deb: prerm ends no session from a chroot, or where policy-rc.d forbids to stop" {
	mkdir -p hooks/one bin
	printf '#!/bin/sh\necho "$@" >>%s\n' "$PWD/cleared" >hooks/one/manager
	printf '#!/bin/sh\nexit $ISCHROOT\n' >bin/ischroot
	printf '#!/bin/sh\n[ "$*" = "tfs-tools stop" ] && exit $POLICY\n' >policy-rc.d
	chmod 755 hooks/one/manager bin/ischroot
	for script in "$TREE"/deploy/deb/debian/*.prerm; do
		sed "s,/usr/lib/trace-hooks,$PWD/hooks,; s,/usr/sbin/policy-rc.d,$PWD/policy-rc.d," "$script" >prerm
		# verb, status of ischroot, of policy-rc.d (-: there is none), times that --clear ran
		while read -r verb chroot policy times; do
			rm -f cleared
			chmod 755 policy-rc.d
			[ "$policy" != - ] || chmod 644 policy-rc.d
			PATH=$PWD/bin:$PATH ISCHROOT=$chroot POLICY=$policy sh prerm "$verb"
			[ "$(grep -cx -e --clear cleared 2>/dev/null || :)" = "$times" ] ||
				[ "$times$(ls cleared 2>/dev/null)" = 0 ]
		done <<-'END'
			remove 1 - 1
			remove 2 - 1
			remove 0 - 0
			remove 1 101 0
			remove 1 104 1
			remove 1 0 1
			remove 0 104 0
			upgrade 1 - 0
		END
	done
}

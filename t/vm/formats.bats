#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# guest: prints the formats of sub-buffers and events for t/vm/formats

load ../helper

@test "guest: prints the formats of its events" {
	need_tracefs
	cd "$TRACEFS"
	{
		echo "== release"
		uname -r
		for file in events/header_page events/*/*/format; do
			echo "== $file"
			cat "$file"
		done
	} | gzip -9 | base64 | sed 's/^/# formats: /' >&3
}

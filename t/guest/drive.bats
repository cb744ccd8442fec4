#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2154 # helper.bash
# guest: the guest itself: its disk, and what tools expect of any machine. Everywhere else
# each test skips.

# bats file_tags=guest
load ../helper

# interrupts: Print how many interrupts the virtio devices have raised, on all CPUs.
interrupts() {
	awk '/[Vv][Ii][Rr]/ { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i } END { print n + 0 }' \
		/proc/interrupts
}

@test "guest: every request of /dev/vda ends in an interrupt, and /var/tmp exists" {
	[ "${TFS_VARIANT-}" = vm ] || skip "needs a guest (make check-vm)"
	[ -b /dev/vda ]
	before=$(interrupts)
	"$PROG/acts" blocks 40 0 /dev/vda </dev/null
	echo "$before, then $(interrupts)"
	[ "$(interrupts)" -ge $((before + 40)) ]
	[ -d /var/tmp ]
}

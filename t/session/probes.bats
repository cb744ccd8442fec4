#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# manager: the probes of a session are its own, and end with it

load ../helper
load ../hooks

@test "manager: the probes of a session are in a group named after it, and end with it" {
	uses uprobe_events
	act functions 3
	start_session trace_uprobe --output fifo --pid "$ACT" --binary "$acts" --symbol acts_work acts_worker
	[ "$(probes "$(group)")" = 2 ]
	[ -d "$TRACEFS/instances/tfs.$MARK/events/$(group)/acts_work" ]
	stop_session
	no_probes
}

@test "manager: session names with dots, dashes and underscores, and of any length, have groups of their own" {
	uses uprobe_events
	own_tree
	long=$(printf 'x%.0s' {1..50})
	make_hook names <<-'END'
		# description: which group
		echo "$TFS_GROUP" >&2
		exit 1
	END
	for name in a.b a-b a_b a__b a_db a_mb a "${long}1" "${long}-2" "${long}.2" "${long}_2"; do
		"$MANAGER" --run names --args "--instance $MARK$name --pid $$" 2>>groups || :
	done
	file_has 11 groups
	[ "$(sort -u groups | wc -l)" = 11 ]
	run ! grep -Ev '^manager: fatal: tfs_[A-Za-z0-9_]{1,59}$' groups
}

@test "manager: two sessions at once do not see each other's probes, and each ends alone" {
	uses uprobe_events
	act functions 20
	one=$ACT one_go=$GO
	start_session trace_uprobe --output fifo --pid "$one" --binary "$acts" --symbol acts_work
	read_by cat >got.one
	one_session=$SESSION one_reader=$READER
	act functions 30
	second_session trace_uprobe --output fifo --pid "$ACT" --binary "$acts" --symbol acts_work
	read_by cat >got
	echo >"$one_go"
	release
	all_end "$SESSION" "$READER"
	no_probes b
	all_end "$one_session" "$one_reader"
	[ "$(lines ': acts_work: ')" = 30 ]
	[ "$(grep -c ': acts_work: ' got.one)" = 20 ]
	[ "$(grep -vc '^#' got.one)" = 20 ]
	no_probes
}

@test "manager: events in a session's buffer stay when another session's probes end" {
	uses uprobe_events
	act functions 20
	one=$ACT one_go=$GO
	start_session trace_uprobe --output fifo --pid "$one" $$ --binary "$acts" --symbol acts_work
	one_session=$SESSION one_trace=$TRACE
	echo >"$one_go" # no reader exists yet
	eventually gone "$one"
	act functions 30
	second_session trace_uprobe --output fifo --pid "$ACT" --binary "$acts" --symbol acts_work
	ends_by "$SESSION" INT 0
	no_probes b
	TRACE=$one_trace
	read_by cat >got
	ends_by "$one_session" INT 0
	finishes "$READER" 0
	[ "$(lines ': acts_work: ')" = 20 ]
}

# This test is alone because any other session would remove the probes first.
# bats test_tags=alone
@test "manager: the next --run removes the probes of a session that was killed with its janitor" {
	uses uprobe_events
	act functions 1
	start_session trace_uprobe --output fifo --pid "$ACT" --binary "$acts" --symbol acts_work
	kill_parts both
	[ "$(probes "$(group)")" = 1 ]
	# a process that the janitor has forked may hold its locks for a moment
	next() {
		"$MANAGER" --run trace_event --args \
			"--instance ${MARK}b --pid $ACT -t 1 -e sched_process_exit" >/dev/null
		no_probes
	}
	eventually next
}

@test "manager: --clear removes the probes of stale sessions, and no others" {
	uses uprobe_events
	act functions 1
	mine=own_${MARK//-/_}
	tfs-probe -g "$mine" add keep "p $acts:acts_work"
	start_session trace_uprobe --output fifo --pid "$ACT" --binary "$acts" --symbol acts_work
	kill_parts both
	# and those whose instance is gone
	tfs-probe -g "$(group x)" add orphan "p $acts:acts_work"
	clears() {
		"$MANAGER" --clear
		no_probes && no_probes x
	}
	eventually clears
	[ "$(probes "$mine")" = 1 ]
	tfs-probe -g "$mine" remove
}

@test "manager: removes its probes even if another program enabled them" {
	uses uprobe_events
	new_instance -else
	act functions 1
	start_session trace_uprobe --output fifo --pid "$ACT" --binary "$acts" --symbol acts_work
	tfs-write -i "$INSTANCE" "events/$(group)/enable" 1
	stop_session
	no_probes
}

@test "manager: a hook that is killed between two probes leaves none behind" {
	uses uprobe_events
	own_tree
	make_hook half <<-END
		# description: is stopped in the middle
		tfs-probe add first 'p $acts:acts_work'
		kill -KILL \$\$
	END
	refuses half 111 'half: the hook failed with status 137 and wrote no message; add set -x to it' --pid $$
}

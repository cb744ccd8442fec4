#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-stuck: says what tasks wait for, and who would have to act. build/t/hangs hangs in known ways,
# and prints who waits for whom.

load ../helper

undo() {
	exec 8>&- # hangs ends, and kills its processes
	[ -z "${HANGS-}" ] || wait "$HANGS" || :
}

# hang MODE: Start a known hang, whose waits are then in want, and its tids in TIDS.
hang() {
	mkdir "$1"
	mkfifo "$1/in"
	(cd "$1" && exec "${PROGRAM:-$PROG/hangs}" "$1") <"$1/in" >"$1/out" 8>&- &
	HANGS=$!
	exec 8>"$1/in"
	eventually test -s "$1/out"
	sort "$1/out" >want
	mapfile -t TIDS < <(awk '$1 != "deadlock" { print $1 }' want | sort -u)
}

# waits: Print what tfs-stuck says of the tids, as hangs does.
waits() {
	tfs-stuck --json "${TIDS[@]}" | awk -v want="${TIDS[*]}" '
		# number(TEXT, KEY): Return the number of a key, or nothing.
		function number(text, key) {
			if (!match(text, "\"" key "\":[0-9]+"))
				return ""
			return " " substr(text, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
		}
		BEGIN {
			n = split(want, list, " ")
			for (i = 1; i <= n; i++)
				from[" " list[i]] = 1
		}
		{
			tid = number($0, "tid")
			if (number($0, "deadlock") != "")
				dead[number($0, "deadlock")] = dead[number($0, "deadlock")] tid
			n = split($0, links, /\{"relation":"/)
			for (i = 2; i <= n && tid in from; i++) {
				to = number(links[i], "tid")
				if (to == "")
					to = number(links[i], "pid")
				relation = links[i]
				sub(/".*/, "", relation)
				print substr(tid, 2) " " relation to
			}
		}
		END {
			for (k in dead)
				print "deadlock" dead[k]
		}' | sort
}

says_it() {
	waits >got
	cmp -s want got
}

# names MODE...: tfs-stuck names exactly the waits of each known hang.
names() {
	local mode
	for mode; do
		hang "$mode"
		eventually says_it || { echo "$mode"; diff want got; tfs-stuck "${TIDS[@]}"; return 1; }
		undo
		HANGS=
	done
}

# bats test_tags=quick
@test "tfs-stuck: names who has to act on a pipe, a FIFO or a socket pair" {
	names pipe-empty pipe-full pipe-own pipe-splice pipe-ring fifo-empty fifo-alone \
		socketpair-empty socketpair-full
}

@test "tfs-stuck: names the other end of connections of this host, and who has to accept them" {
	names unix-empty unix-waiting unix-backlog unix-datagrams unix-accept tcp-empty tcp-full \
		tcp6-empty tcp-waiting tcp-accept
}

@test "tfs-stuck: names each holder of a lock or lease, also one that has inherited it" {
	names lock-posix lock-ofd lock-flock lock-readers lock-inherited lock-lease lock-both \
		lock-and-pipe
}

@test "tfs-stuck: names the owner of a mutex, or those who could wake a futex" {
	names mutex-plain mutex-pi mutex-robust mutex-shared mutex-pi-shared mutex-both futex-nobody \
		futex-limit futex-shared
}

@test "tfs-stuck: names the child, tracer, parent or process that a task waits for" {
	names child-any child-one child-group child-vfork child-stopped continued zombie tracer pidfd
}

@test "tfs-stuck: names what polls watch, clocks, signals, terminals and queues" {
	names poll poll-limit select epoll eventfd timerfd signalfd inotify terminal \
		message-queue semaphore messages
}

@test "tfs-stuck: follows a chain of four processes" {
	names chain
}

@test "tfs-stuck: names the server of a FUSE file system" {
	[ -c /dev/fuse ] && grep -qw fuse /proc/filesystems || skip "needs FUSE"
	names fuse
}

@test "tfs-stuck: knows pids, sockets and mutexes of other namespaces" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	names namespace unix-namespace
}

@test "tfs-stuck: names the cgroup that is frozen, or throttled" {
	[ -f /sys/fs/cgroup/cgroup.controllers ] || [ -f /sys/fs/cgroup/unified/cgroup.controllers ] ||
		skip "needs cgroups of version 2"
	names frozen
	[ -f /sys/fs/cgroup/cpu/cpu.cfs_quota_us ] || grep -qw cpu /sys/fs/cgroup/cgroup.subtree_control ||
		skip "needs the controller cpu"
	names throttled
}

@test "tfs-stuck: prints a tree, in which each task is once" {
	hang chain
	eventually says_it
	tfs-stuck "${TIDS[@]}" | sed 's/[0-9]*:*\[[0-9]*\]/N/; s/<[^>]*>/<FILE>/' |
		grep -v '^#' >tree # of other users
	local reads=0
	reads=$(awk '$2 == "writer" { print $1 }' want)
	file_has 7 tree
	grep -qx "$reads hangs: read [0-9]*<FILE>" tree
	grep -qx "  writer [0-9]* hangs, as above" tree
	[ "$(grep -c 'clock: it sleeps' tree)" = 1 ]
}

@test "tfs-stuck: --dot prints a graph with an arrow for each wait" {
	hang lock-both
	eventually says_it
	tfs-stuck --dot "${TIDS[@]}" >graph
	[ "$(head -n 1 graph)" = "digraph stuck {" ]
	[ "$(tail -n 1 graph)" = "}" ]
	[ "$(grep -c 'color=red' graph)" = 2 ]
	grep -qx "	${TIDS[0]} -> ${TIDS[1]} \[label=\"holder\"\];" graph
	grep -qx "	${TIDS[1]} -> ${TIDS[0]} \[label=\"holder\"\];" graph
}

@test "tfs-stuck: selects tasks by name and by cgroup, and follows them to others" {
	hang pipe-empty
	eventually says_it
	tfs-stuck -j -C hangs >all
	for tid in "${TIDS[@]}"; do
		grep -q "\"tid\":$tid," all
	done
	outputs 1 "tfs-stuck: no task is selected" tfs-stuck -C tfs-no-such-name 2>&1
	[ "$(tfs-stuck -j --all | grep -c "\"tid\":${TIDS[0]},")" = 1 ]
}

@test "tfs-stuck: --every prints again until no task is left" {
	hang pipe-own
	eventually says_it
	tfs-stuck --every 10ms "${TIDS[@]}" >often 8>&- &
	STUCK=$!
	eventually test -s often
	exec 8>&-
	wait "$STUCK"
	[ "$(head -n 1 often)" = "${TIDS[0]} hangs: $(sed -n '1s/.*hangs: //p' often)" ]
	HANGS=
}

@test "tfs-stuck: escapes names that programs chose" {
	PROGRAM=$PWD/$'a\n\e[2J"'
	cp "$PROG/hangs" "$PROGRAM"
	hang pipe-empty
	eventually says_it
	tfs-stuck "${TIDS[0]}" | grep -F "${TIDS[0]} "'a\n\x1b[2J"'
	tfs-stuck -j "${TIDS[0]}" | grep -F '"comm":"a\n\u001b[2J\""'
}

@test "tfs-stuck: a user sees his own processes, and how many may not be read" {
	[ "$(id -u)" = 0 ] || skip "needs root"
	need_tool setpriv
	hang pipe-empty
	eventually says_it
	chmod 755 .
	cp "$(command -v tfs-stuck)" stuck
	run -0 setpriv --reuid 65534 --regid 65534 --clear-groups ./stuck "${TIDS[0]}"
	grep -q "not known: its call, because /proc/${TIDS[0]}/syscall cannot be read" <<<"$output"
	# shellcheck disable=SC2016 # the shell of the user
	setpriv --reuid 65534 --regid 65534 --clear-groups "$BASH" -c 'sleep 1000 | cat & echo $!
		sleep 1000' >pid 8>&- &
	USER_SHELL=$!
	eventually test -s pid
	user_sees() {
		setpriv --reuid 65534 --regid 65534 --clear-groups ./stuck "$(cat pid)" >seen &&
			grep -q "^$(cat pid) cat: read 0<pipe" seen && grep -q '^  writer [0-9]* sleep' seen &&
			grep -q '^# processes that may not be read' seen
	}
	eventually user_sees
	kill "$USER_SHELL" "$(cat pid)" "$(sed -n 's/^  writer \([0-9]*\) .*/\1/p' seen)"
}

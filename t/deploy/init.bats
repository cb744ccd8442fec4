#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031 # text of a program; each test is a process of its own
# deploy/init: the script that saves the last boot's events and that of the flight recorder, run by
# each shell of this machine

load ../helper

SCRIPT=$TREE/deploy/init/tfs-last-boot

# Make programs that stand for the tools: each adds its words to the file words.
make_tools() {
	local tool
	mkdir tools
	for tool in tfs-dir tfs-persist mount; do
		printf '#!/bin/sh\necho "%s $*" >>"%s/words"\nexit "$STATUS_%s"\n' \
			"$tool" "$PWD" "${tool#tfs-}" >"tools/$tool"
		chmod +x "tools/$tool"
	done
	# the script puts directories of the system first, so it is run without them
	sed "s|^PATH=.*|PATH='$PWD/tools':/usr/bin:/bin|" "$SCRIPT" >script
	[ "$(diff "$SCRIPT" script | grep -c '^>')" = 1 ]
}

# starts DIR MOUNT PERSIST [WORD]...: Run the script; its tools end with these statuses.
starts() {
	: >words
	# shellcheck disable=SC2086 # "busybox sh" has two words
	STATUS_dir=$1 STATUS_mount=$2 STATUS_persist=$3 run $SHELL_TO_TEST script "${@:4}"
}

each_shell() {
	for SHELL_TO_TEST in dash 'busybox sh' 'bash --posix'; do
		! command -v "${SHELL_TO_TEST%% *}" >/dev/null || "$@"
	done
}

statuses() {
	starts 0 9 0 start
	[ "$status" = 0 ] && [ -z "$output" ]
	[ "$(cat words)" = "tfs-dir 
tfs-persist save" ]
	# no event of a last boot is no failure, and no word means start
	starts 0 9 1
	[ "$status" = 0 ]
	[ "$(cat words)" = "tfs-dir 
tfs-persist save" ]
	starts 0 9 111 start
	[ "$status" = 111 ]
}

mounts() {
	starts 111 0 0 start
	[ "$status" = 0 ]
	[ "$(cat words)" = "tfs-dir 
mount -t tracefs nodev /sys/kernel/tracing
tfs-persist save" ]
	starts 111 32 0 start
	[ "$status" = 32 ]
	run ! grep persist words
}

does_nothing() {
	for word in stop status; do
		starts 0 0 0 "$word"
		[ "$status" = 0 ] && [ -z "$output" ] && [ ! -s words ]
	done
}

@test "init: the script saves the last boot's events, and fails only if tfs-persist does" {
	make_tools
	each_shell statuses
}

@test "init: the script mounts tracefs first if it is not mounted" {
	make_tools
	each_shell mounts
}

@test "init: the script does nothing when the machine stops" {
	make_tools
	each_shell does_nothing
}

@test "init: the script has the header that update-rc.d and insserv read" {
	[ "$(sed -n '/^### BEGIN INIT INFO$/,/^### END INIT INFO$/p' "$SCRIPT" | grep -c '^# [A-Z][A-Za-z-]*:')" = 7 ]
	[ "$(sed -n 's/^# Provides: *//p' "$SCRIPT")" = "$(basename "$SCRIPT")" ]
}

# ---- tfs-flight --------------------------------------------------------------------------

FLIGHT=$TREE/deploy/init/tfs-flight

# flight_script DIRECTORY...: Make a copy of the script that has its files here, and the programs of
# the directories.
flight_script() {
	local IFS=:
	sed -e "s|^PATH=.*|PATH='$*':\$PATH|" -e "s|/var/run|$PWD|g; s|/var/lib|$PWD|g" \
		-e "s|/etc/default|$PWD/default|g" "$FLIGHT" >flight
	[ "$(diff "$FLIGHT" flight | grep -c '^>')" = 5 ]
	mkdir -p default
}

# flight WORD: Run the copy with SHELL_TO_TEST.
flight() {
	# shellcheck disable=SC2086 # "busybox sh" has two words
	run $SHELL_TO_TEST flight "$1"
}

configured() {
	: >words
	rm -f default/tfs-flight
	STATUS_dir=111 STATUS_mount=0 flight start
	[ "$status" = 0 ] && [ -z "$output" ]
	[ "$(head -n 2 words)" = "tfs-dir 
mount -t tracefs nodev /sys/kernel/tracing" ]
	STATUS_dir=111 STATUS_mount=32 flight start
	[ "$status" = 32 ]
	# the sample has comments only
	cp "$TREE/deploy/init/tfs-flight.default" default/tfs-flight
	STATUS_dir=0 STATUS_mount=0 flight start
	[ "$status" = 0 ] && [ -z "$output" ]
	for word in stop reload; do
		flight "$word"
		[ -z "$output" ]
	done
	run ! grep start-stop-daemon words
	flight nonsense
	[ "$status" = 1 ]
	[[ $output == "Usage: "* ]]
}

@test "init: tfs-flight mounts tracefs, and starts nothing unless it is configured" {
	make_tools
	printf '#!/bin/sh\necho "start-stop-daemon $*" >>"%s/words"\n' "$PWD" >tools/start-stop-daemon
	chmod +x tools/start-stop-daemon
	flight_script "$PWD/tools"
	each_shell configured
}

recorder_lives() {
	flight start
	[ "$status" = 0 ]
	[ "$output" = 'Starting tfs-flight: OK' ]
	# it records at once
	[ "$(cat "$TRACEFS/instances/tfs.$MARK/tracing_on")" = 1 ]
	pid=$(cat tfs-flight.pid)
	flight status
	[ "$status" = 0 ]
	[ "$output" = "tfs-flight runs, process $pid" ]
	# a second start leaves the recorder alone
	flight start
	[ "$status" = 0 ] && [ -z "$output" ]
	[ "$(cat tfs-flight.pid)" = "$pid" ]
	flight reload
	[ "$status" = 0 ]
	eventually test -s "tfs-flight/ftrace/$MARK/dump.1"
	flight stop
	[ "$status" = 0 ]
	[ "$output" = 'Stopping tfs-flight: OK' ]
	[ ! -e tfs-flight.pid ]
	[ ! -e "$TRACEFS/instances/tfs.$MARK" ]
	[ "$(ls "tfs-flight/ftrace/$MARK")" = dump.1 ]
	flight status
	[ "$status" = 3 ]
	[ "$output" = 'tfs-flight is stopped' ]
	rm -r tfs-flight
}

# recorder_fails OPTIONS MESSAGE: The recorder cannot start with the options.
recorder_fails() {
	echo "TFS_FLIGHT=\"$1 --instance $MARK\"" >default/tfs-flight
	flight start
	[ "$status" != 0 ]
	[ "$output" = "Starting tfs-flight: $2FAIL" ]
	[ ! -e tfs-flight.pid ]
	flight status
	[ "$status" = 3 ]
}

recorder_dies() {
	recorder_fails '-e sched_process_exi' "tfs-run: fatal: no event is called 'sched_process_exi'; did you mean \
sched_process_exit, sched_process_exec, sched_process_wait?
"
	mkdir tools
	printf '#!/bin/sh\n[ "$1" = --check ]\n' >tools/tfs-run # it fails after the check
	chmod +x tools/tfs-run
	flight_script "$PWD/tools"
	recorder_fails '-e sched_process_exit' ''
	flight_script
	# it is killed
	echo "TFS_FLIGHT='-e sched_process_exit --locked --instance $MARK'" >default/tfs-flight
	flight start
	[ "$output" = 'Starting tfs-flight: OK' ]
	pid=$(cat tfs-flight.pid)
	kill -KILL "$pid"
	eventually gone "$pid"
	flight status
	[ "$status" = 1 ]
	[ "$output" = 'tfs-flight has ended by itself' ]
	eventually test ! -e "$TRACEFS/instances/tfs.$MARK"
	rm -r tfs-flight tfs-flight.pid
}

# bats test_tags=long
@test "init: tfs-flight runs a recorder that makes a dump and ends, with two start-stop-daemons" {
	need_tracefs events/sched
	need_tool busybox
	busybox start-stop-daemon --help >help 2>&1 || skip "needs start-stop-daemon in busybox"
	mkdir links
	ln -s "$(command -v busybox)" links/start-stop-daemon
	flight_script "$PWD/links"
	cat >default/tfs-flight <<-END
		TFS_FLIGHT="-e sched_process_exit --instance $MARK --dump-on 'sched_process_exit:comm == \"none\"'"
	END
	each_shell recorder_lives
	rm links/start-stop-daemon
	! command -v start-stop-daemon || each_shell recorder_lives
}

@test "init: tfs-flight says that a recorder did not start, and why; status tells how it ended" {
	need_tracefs events/sched
	need_tool start-stop-daemon
	flight_script
	SHELL_TO_TEST='sh' recorder_dies
}

others() {
	flight status
	[ "$status" = 1 ] && [ "$output" = "tfs-flight has ended by itself" ]
	flight stop
	[ "$status" = 0 ] && [ -z "$output" ]
	kill -0 "$PID"
}

@test "init: tfs-flight takes no process of another user for the recorder, whatever pid and words it has" {
	need_root
	need_tool setpriv
	flight_script "$TREE/bin"
	background setpriv --reuid nobody --clear-groups bash -c 'exec -a trace_flight sleep infinity'
	echo "$PID" >tfs-flight.pid
	eventually grep -q trace_flight "/proc/$PID/cmdline"
	each_shell others
}

@test "init: the sample of /etc/default has the options of the unit" {
	wanted=$(sed -n 's/^Environment="TFS_FLIGHT=\(.*\)"$/#TFS_FLIGHT="\1"/p' \
		"$TREE/deploy/systemd/tfs-flight.service")
	[ "$(grep -m 1 '^#TFS_FLIGHT=' "$TREE/deploy/init/tfs-flight.default")" = "$wanted" ]
	run -1 grep -v '^#\|^$' "$TREE/deploy/init/tfs-flight.default"
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-instance: one process makes an instance, and every process can tell if it is stale

load ../helper

USAGE='tfs-instance [-R ROOT] make|hold|list|remove [-s] [-t MS] [NAME]... [PROG...]'

misuse() {
	fails 100 "tfs-instance: fatal: $1; usage: $USAGE" "${@:2}"
}

# Start a program that holds tfs.$MARK$1 until it is killed; set $HOLDER to its pid.
holder() {
	mkfifo "hold$1"
	background tfs-instance hold "$MARK$1" cat <>"hold$1" >/dev/null
	HOLDER=$PID
	eventually is_cat "$HOLDER"
}

is_cat() {
	[ "$(cat "/proc/$1/comm" 2>/dev/null)" = cat ]
}

# lists ARGUMENT... NAME: Succeed if list ARGUMENT... prints NAME.
lists() {
	tfs-instance list "${@:1:$#-1}" | grep -qxF "${!#}"
}

# stale NAME: Succeed if NAME is stale, or if another manager has already removed it
# because it was stale.
stale() {
	lists -s "$1" || [ ! -e "$TRACEFS/instances/$1" ]
}

remove_stale() {
	tfs-instance remove "$1" 2>/dev/null || [ ! -e "$TRACEFS/instances/$1" ]
}

# Print how often the process has gone to sleep.
slept() {
	awk '/^voluntary_ctxt_switches/ { print $2 }' "/proc/$1/status"
}

slept_often() {
	[ "$(slept "$1")" -ge 5 ]
}

@test "tfs-instance: make refuses session names, because the next session would remove them" {
	mkdir -p root/instances
	for name in tfs.x tfs. tfs-blk.x tfs-dt.x tfs-other.x; do
		misuse "the name $name is reserved for sessions: the next session would remove it" \
			tfs-instance -R root make mine "$name"
	done
	[ -z "$(ls root/instances)" ]
	run -0 tfs-instance -R root make tfs tfsx tfs-x tfs-X.y tfs_x.y
	names=(root/instances/*)
	[ ${#names[@]} = 5 ]
}

@test "tfs-instance: names a root without instances and the reason" {
	mkdir root
	for command in list 'make x' 'hold x true' 'remove x' 'remove -s'; do
		# shellcheck disable=SC2086 # words
		fails 111 "tfs-instance: fatal: unable to open root/instances: No such file or directory" \
			tfs-instance -R root $command
	done
}

# bats test_tags=quick
@test "tfs-instance: plain directory: make creates one directory per name, for the owner and the group" {
	mkdir -p root/instances
	umask 0
	run -0 --separate-stderr tfs-instance -R root make one Two_2.x-y
	[ -z "$output$stderr" ]
	[ "$(stat -c '%a %n' root/instances/*)" = "750 root/instances/one
750 root/instances/Two_2.x-y" ] || [ "$(stat -c '%a %n' root/instances/*)" = "750 root/instances/Two_2.x-y
750 root/instances/one" ]
}

@test "tfs-instance: plain directory: accepts a name of 64 bytes" {
	mkdir -p root/instances
	tfs-instance -R root make "$(printf '%064d' 0)"
	[ -d "root/instances/$(printf '%064d' 0)" ]
}

@test "tfs-instance: plain directory: options may stand before or after the command" {
	mkdir -p root/instances
	tfs-instance make -R root one
	tfs-instance -t 0 remove -R root one
	[ -z "$(ls root/instances)" ]
}

@test "tfs-instance: plain directory: make refuses an existing name, and skips the names after it" {
	mkdir -p root/instances/two
	fails 111 "tfs-instance: fatal: unable to make instance two: File exists" \
		tfs-instance -R root make one two three
	[ "$(ls root/instances)" = $'one\ntwo' ]
}

@test "tfs-instance: plain directory: TFS_INSTANCE does not change where instances are made" {
	mkdir -p root/instances/one
	TFS_INSTANCE=one tfs-instance -R root make two
	[ "$(ls root/instances)" = $'one\ntwo' ]
}

@test "tfs-instance: plain directory: list prints one name per line, in ascending order" {
	mkdir -p root/instances/{b,a,tfs.c,.hidden}
	run -0 --separate-stderr tfs-instance -R root list
	[ "$output" = $'a\nb\ntfs.c' ]
	[ -z "$stderr" ]
}

@test "tfs-instance: plain directory: list exits 1 when there is no instance" {
	mkdir -p root/instances
	run -1 --separate-stderr tfs-instance -R root list
	[ "$output$stderr" = "tfs-instance: no instance in root/instances" ]
	run -1 --separate-stderr tfs-instance -R root list -s
	[ "$output$stderr" = "tfs-instance: no stale instance in root/instances" ]
}

@test "tfs-instance: plain directory: list -s prints only our instances without a live holder" {
	mkdir -p root/instances/{other,tfs.dead,tfsx,tfs.,tfs-blk.dead,tfs-dt.dead,tfs-x.y}
	run -0 tfs-instance -R root list -s
	[ "$(LC_ALL=C sort <<<"$output")" = $'tfs-blk.dead\ntfs-dt.dead\ntfs.\ntfs.dead' ]
}

@test "tfs-instance: plain directory: remove removes the named instances" {
	mkdir -p root/instances/{one,two,three}
	run -0 --separate-stderr tfs-instance -R root remove one three
	[ "$(ls root/instances)" = two ]
	[ -z "$output$stderr" ]
}

@test "tfs-instance: plain directory: remove names a missing instance and the reason" {
	mkdir -p root/instances
	fails 111 "tfs-instance: fatal: unable to remove instance one: No such file or directory" \
		tfs-instance -R root remove one
}

@test "tfs-instance: plain directory: remove removes nothing that is not an instance" {
	mkdir -p root/instances/full/below
	: >root/instances/file
	fails 111 "tfs-instance: fatal: unable to remove instance full: Directory not empty" \
		tfs-instance -R root remove full
	fails 111 "tfs-instance: fatal: unable to remove instance file: Not a directory" \
		tfs-instance -R root remove file
	ln -s full root/instances/link
	fails 111 "tfs-instance: fatal: unable to remove instance link: Not a directory" \
		tfs-instance -R root remove link
	[ -d root/instances/full/below ]
}

@test "tfs-instance: plain directory: remove -s removes the stale instances and no others" {
	mkdir -p root/instances/{other,tfs.dead,tfs.gone,tfsx,tfs-blk.dead,tfs-dt.dead}
	run -0 --separate-stderr tfs-instance -R root remove -s
	[ "$(ls root/instances)" = $'other\ntfsx' ]
	[ -z "$output$stderr" ]
	run -0 --separate-stderr tfs-instance -R root remove -s
	[ -z "$output$stderr" ]
}

@test "tfs-instance: plain directory: remove -s goes on after an instance that it cannot remove" {
	mkdir -p root/instances/{tfs.a,tfs.b/below,tfs.c}
	fails 111 "tfs-instance: fatal: unable to remove instance tfs.b: Directory not empty" \
		tfs-instance -R root remove -s
	[ "$(ls root/instances)" = tfs.b ]
}

@test "tfs-instance: plain directory: hold becomes the program, with TFS_INSTANCE set" {
	mkdir -p root/instances
	# shellcheck disable=SC2016 # the program's own
	background tfs-instance -R root hold one sh -c 'echo $$ $TFS_INSTANCE "$@"; exit 7' sh 'a b' -s >out
	finishes "$PID" 7
	exactly out "$PID tfs.one a b -s"$'\n'
	[ -d root/instances/tfs.one ]
}

@test "tfs-instance: plain directory: hold refuses an existing name, whether its holder is dead or alive" {
	mkdir -p root/instances/tfs.one
	fails 111 "tfs-instance: fatal: unable to make instance tfs.one: File exists" \
		tfs-instance -R root hold one touch ran
	[ ! -e ran ]
}

@test "tfs-instance: plain directory: hold exits 127 if the program is missing, and leaves nothing" {
	mkdir -p root/instances
	fails 127 "tfs-instance: fatal: unable to run no-such-program: No such file or directory" \
		tfs-instance -R root hold one no-such-program
	[ -z "$(ls root/instances)" ]
}

@test "tfs-instance: plain directory: hold exits 126 when the program cannot be run, and leaves nothing" {
	mkdir -p root/instances
	fails 126 "tfs-instance: fatal: unable to run ./root: Permission denied" \
		tfs-instance -R root hold one ./root
	[ -z "$(ls root/instances)" ]
}

@test "tfs-instance: plain directory: an instance that a live program holds is not stale until the program is killed" {
	mkdir -p root/instances
	mkfifo in
	background tfs-instance -R root hold one cat <>in
	eventually is_cat "$PID"
	run -1 tfs-instance -R root list -s
	[ "$output" = "tfs-instance: no stale instance in root/instances" ]
	run -0 tfs-instance -R root remove -s
	[ -d root/instances/tfs.one ]
	ends_by "$PID" KILL 137
	outputs 0 tfs.one tfs-instance -R root list -s
	tfs-instance -R root remove -s
	[ -z "$(ls root/instances)" ]
}

@test "tfs-instance: plain directory: a child of the holder does not keep the instance held" {
	mkdir -p root/instances
	mkfifo in
	background tfs-instance -R root hold one sh -c 'cat <>in & echo $! >child; wait' <>in
	eventually test -s child
	run -1 tfs-instance -R root list -s
	ends_by "$PID" KILL 137
	run ! gone "$(cat child)"
	run -0 tfs-instance -R root list -s
	kill -KILL "$(cat child)"
	[ "$output" = tfs.one ]
}

@test "tfs-instance: kernel: make creates an instance that holds the kernel's files" {
	new_instance
	[ -e "$DIR/trace_pipe" ]
	[ -e "$DIR/events/enable" ]
	lists "$INSTANCE"
}

@test "tfs-instance: kernel: make refuses an existing instance" {
	new_instance
	fails 111 "tfs-instance: fatal: unable to make instance $INSTANCE: File exists" \
		tfs-instance make "$INSTANCE"
	[ -d "$DIR" ]
}

@test "tfs-instance: kernel: remove removes the instance" {
	new_instance
	run -0 --separate-stderr tfs-instance remove "$INSTANCE"
	[ -z "$output$stderr" ]
	[ ! -e "$DIR" ]
	run ! lists "$INSTANCE"
}

@test "tfs-instance: kernel: remove waits until a reader closes its file" {
	new_instance
	exec 8<"$DIR/trace_pipe"
	background tfs-instance remove -t 600000 "$INSTANCE" 8>&-
	eventually slept_often "$PID"
	[ -d "$DIR" ]
	exec 8<&-
	finishes "$PID" 0
	[ ! -e "$DIR" ]
}

@test "tfs-instance: kernel: remove reports a busy instance after -t MS" {
	new_instance
	exec 8<"$DIR/trace_pipe"
	for ms in 0 50; do
		run -111 --separate-stderr tfs-instance remove -t $ms "$INSTANCE"
		[ -z "$output" ]
		# the word before it differs between C libraries
		[[ $stderr == "tfs-instance: fatal: unable to remove instance $INSTANCE: "*[Rr]"esource busy" ]]
		[ -d "$DIR" ]
	done
	exec 8<&-
	tfs-instance remove -t 600000 "$INSTANCE"
}

@test "tfs-instance: kernel: remove -t waits as long as MS says" {
	new_instance
	exec 8<"$DIR/trace_pipe"
	local before=${EPOCHREALTIME/./}
	run -111 tfs-instance remove -t 150 "$INSTANCE"
	[ $((${EPOCHREALTIME/./} - before)) -ge 150000 ]
	exec 8<&-
}

@test "tfs-instance: kernel: hold makes an instance in which its program can trace" {
	need_tracefs
	local name=tfs.${MARK}hold
	# shellcheck disable=SC2016 # the shell's own
	run -0 tfs-instance hold "${MARK}hold" sh -c \
		'tfs-dir; tfs-write tracing_on 0; cat "$(tfs-dir)/tracing_on"; tfs-instance list -s || :'
	[ "${lines[0]}" = "$TRACEFS/instances/$name" ]
	[[ $output$'\n' != *$'\n'"$name"$'\n'* ]]
	[ "${lines[1]}" = 0 ]
	stale "$name"
	remove_stale "$name"
}

@test "tfs-instance: kernel: an instance that a live program holds is not stale for another process either" {
	need_tracefs
	holder a
	local first=$HOLDER
	holder b
	lists "tfs.${MARK}a"
	run ! lists -s "tfs.${MARK}a"
	run ! "$BASH" -c "tfs-instance list -s | grep -xF tfs.${MARK}a"
	run ! lists -s "tfs.${MARK}b"
	ends_by "$HOLDER" KILL 137
	# at once, because there is nothing to wait for
	stale "tfs.${MARK}b"
	lists "tfs.${MARK}a"
	run ! lists -s "tfs.${MARK}a"
	remove_stale "tfs.${MARK}b"
	ends_by "$first" TERM 143
	stale "tfs.${MARK}a"
	remove_stale "tfs.${MARK}a"
}

@test "tfs-instance: kernel: a holder in another pid namespace counts as alive" {
	need_tracefs
	need_tool unshare
	unshare --pid --fork true || skip "needs pid namespaces"
	mkfifo in
	background unshare --pid --fork --kill-child tfs-instance hold "$MARK" cat <>in >/dev/null
	eventually test -d "$TRACEFS/instances/tfs.$MARK"
	run ! lists -s "tfs.$MARK"
	ends_by "$PID" KILL 137
	eventually stale "tfs.$MARK"
	remove_stale "tfs.$MARK"
}

@test "tfs-instance: kernel: if 20 processes make the same name at once, exactly one succeeds" {
	need_tracefs
	local i made=0 pids=()
	for i in {1..20}; do
		tfs-instance make "$MARK" 2>/dev/null 3>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		! wait "$i" || made=$((made + 1))
	done
	[ $made = 1 ]
	tfs-instance remove "$MARK"
}

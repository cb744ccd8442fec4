#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# tasks that join a selection: --comm, --uid, --cgroup and --container take short tasks, threads and
# containers that come later, from their first event on, with exact counts

load ../helper
load ../containers

undo() {
	local dir
	for dir in "${CGROUPS[@]}"; do
		[ ! -d "$dir" ] || rmdir "$dir"
	done
}

CGROUPS=()

# joins ACT WORD...: Hold the program joins.
joins() {
	hold "$PROG/joins" "$@"
}

# selects WORDS: Trace getppid by these selectors while the held program acts.
selects() {
	watch trace_syscalls --syscall getppid --buffer 8192 "$@"
	release "$HELD"
	watch_stop
}

# getppids: Print the number of calls in the file got.
getppids() {
	grep -c ': sys_getppid()$' got || :
}

@test "--comm: of 12,000 short tasks exactly the 120 of the name, and each of their calls" {
	need_tracefs events/syscalls
	joins storm 12000 100 needle
	selects --comm needle
	[ "$(getppids)" = 360 ]
	[ "$(grep -c '^ *needle-' got)" = 360 ]
	[ "$(pids_in got | wc -l)" = 120 ]
	file_has 360 got
}

@test "--comm: a name with spaces, a backslash, a command, or what looks like a rule" {
	need_tracefs events/syscalls
	# shellcheck disable=SC2016 # a name
	for name in 'a b' 'a\b' '$(id)' '%s%n' 'uid=0' 'comm=a' 'ü' a-1 'a  [000]'; do
		rm -f got
		joins storm 20 10 "$name"
		selects --comm "'$name'"
		echo "of '$name': $(getppids)"
		[ "$(getppids)" = 6 ]
		file_has 6 got
	done
}

@test "--comm: a thread that takes the name, without its process" {
	need_tracefs events/syscalls
	joins thread needle
	selects --comm needle
	[ "$(getppids)" = 4 ]
}

@test "--comm: a thread that takes the name and executes a program" {
	need_tracefs events/syscalls
	joins exec needle "$PROG/calls" -e 6
	watch trace_syscalls --syscall getppid --comm needle
	release
	echo >"$GO"
	finishes "$HELD" 0
	watch_stop
	[ "$(getppids)" = 6 ]
}

@test "--uid: a short task that gets the uid by any call, from that call on, and no other" {
	need_tracefs events/syscalls
	uid=$((2000000000 + $$))
	for call in setuid setreuid setresuid; do
		joins uid $call "$uid"
		selects --uid "$uid"
		echo "$call: $(getppids)"
		[ "$(getppids)" = 7 ]
	done
	joins uid setgid "$uid"
	selects --uid "$uid"
	[ "$(getppids)" = 0 ]
}

@test "--cgroup: short tasks that are born in a cgroup, by clone3" {
	need_tracefs events/syscalls
	base=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$base" ] || skip "needs cgroup v2"
	CGROUPS=("$base/$MARK")
	mkdir "$base/$MARK"
	joins into "$base/$MARK" 100
	selects --cgroup "/$MARK"
	getppids
	[ "$(getppids)" = 300 ]
}

@test "--cgroup: tasks that enter a cgroup of version 1 or 2 that did not exist" {
	need_tracefs events/syscalls
	# shellcheck disable=SC2013 # no word has a space
	for base in $(awk '$3 ~ /^cgroup2?$/ && ($3 == "cgroup2" || /pids/) { print $2 }' /proc/mounts); do
		for name in "/$MARK" "$MARK" "$base/$MARK"; do
			CGROUPS=("$base/$MARK/below" "$base/$MARK")
			calls 10 2
			watch trace_syscalls --syscall getppid --cgroup "$name"
			mkdir -p "$base/$MARK/below"
			echo "$CALLS" >"$base/$MARK/below/cgroup.procs"
			release "$CALLS"
			watch_stop
			echo "$base $name: $(getppids)"
			[ "$(getppids)" = 20 ]
			undo
		done
	done
}

@test "--comm: a task that takes the name while the session begins is not missed" {
	need_tracefs events/syscalls
	mkfifo go
	background python3 -c '
import os, ctypes, time, signal
# a new task with the name each 10 ms, which lives until the end
libc = ctypes.CDLL(None)
r, w = os.pipe()
kids = []
open("started", "w")
while not os.path.exists("enough"):
    time.sleep(0.01)
    if len(kids) == 2000: continue
    p = os.fork()
    if not p:
        libc.prctl(15, b"needle")
        os.close(w)
        os.read(r, 1)
        os.getppid()
        os._exit(0)
    kids.append(p)
print(len(kids), flush=True)
os.read(0, 1)
os.close(w)
for p in kids: os.waitpid(p, 0)
' <>go >count
	PYTHON=$PID
	eventually test -e started
	watch trace_syscalls --syscall getppid --comm needle
	: >enough
	eventually test -s count
	echo >go
	finishes "$PYTHON" 0
	watch_stop
	echo "got $(getppids) of $(cat count)"
	[ "$(getppids)" = "$(cat count)" ]
}

@test "--container: a container of crun that is made later, from its first program on" {
	need_tracefs events/syscalls
	need_tool crun unshare
	id=$(printf 'c0ffee%058x' $$)
	cat >config.json <<-END
	{
		"ociVersion": "1.0.2",
		"process": { "cwd": "/", "args": $(as_json "$PROG/calls" -e 6) },
		"root": { "path": "$PWD/rootfs" },
		"mounts": [
			$(for dir in /usr /lib /lib64 /bin "$PROG"; do
				[ ! -e "$dir" ] || printf '{ "destination": "%s", "type": "bind", "source": "%s", "options": ["rbind", "ro"] },' "$dir" "$dir"
			done)
			{ "destination": "/proc", "type": "proc", "source": "proc" } ],
		"linux": { "cgroupsPath": "/$MARK/$id", "namespaces": [ {"type": "mount"}, {"type": "pid"} ] }
	}
	END
	mkdir -p rootfs/dev
	base=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$base" ] || skip "needs cgroup v2"
	CGROUPS=("$base/$MARK/$id" "$base/$MARK")
	watch trace_syscalls --syscall getppid,execve --container "${id:0:12}"
	echo | plain_mounts crun --root "$PWD/crun" --cgroup-manager cgroupfs run --no-pivot -b . "$MARK" >out.crun 2>err.crun || :
	cat out.crun err.crun
	watch_stop
	cat got
	[ "$(getppids)" = 6 ]
	[ "$(grep -c ': sys_execve(' got)" = 1 ]
}

@test "--comm: SIGKILL of the manager, the janitor or the stream leaves nothing" {
	need_tracefs events/syscalls
	for whom in manager janitor stream; do
		watch trace_syscalls --syscall getppid --comm needle
		janitor=$(children "$SESSION" | head -n 1)
		case $whom in
		manager) kill -KILL "$SESSION" ;;
		janitor) kill -KILL "$janitor" ;;
		stream) kill -KILL "$(children "$janitor" | tail -n 1)" ;;
		esac
		wait "$SESSION" || :
		eventually nothing_left
	done
}

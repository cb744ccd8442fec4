#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# selections: --comm, --uid, --cgroup and --container take tasks that come after the session began
# shellcheck disable=SC2016 # words for other shells

load ../helper

setup_file() {
	export NAME=c$$
	ln -s "$PROG/calls" "$BATS_FILE_TMPDIR/$NAME"
	echo >"$BATS_FILE_TMPDIR/go"
}

undo() {
	[ -z "${BELOW-}" ] || rmdir "$BELOW"
	[ -z "${CGROUP-}" ] || rmdir "$CGROUP"
}

# later [COMMAND...] N: A program $NAME, run by COMMAND, makes N calls, and a child makes as many.
later() {
	"${@:1:$#-1}" "$BATS_FILE_TMPDIR/$NAME" "${!#}" 1 1 <"$BATS_FILE_TMPDIR/go" >/dev/null
}

# inside COMMAND...: Run COMMAND in the cgroup $BELOW, which a shell enters before.
inside() {
	sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh "$BELOW" "$@"
}

# strangers: Calls of tasks that are not selected.
strangers() {
	"$PROG/calls" 50 2 2 <"$BATS_FILE_TMPDIR/go" >/dev/null
}

# getppids N: Fail unless the trace has N calls of getppid, all of tasks called $NAME.
getppids() {
	[ "$(grep -c ': sys_getppid()$' got)" = "$1" ] || { tail got; return 1; }
	[ "$(grep ': sys_getppid()$' got | sed 's/-[0-9].*//; s/^ *//' | sort -u)" = "$NAME" ]
}

@test "selections: --comm begins with nobody, and takes each program of that name with its children" {
	need_tracefs events/syscalls
	watch trace_syscalls --syscall getppid --comm "$NAME"
	strangers
	for _ in 1 2 3; do
		later 10
	done
	strangers
	watch_stop
	getppids 30
	[ "$(pids_in got | wc -l)" = 3 ]
}

@test "selections: with --comm one task is there, and another comes later" {
	need_tracefs events/syscalls
	hold "$BATS_FILE_TMPDIR/$NAME" 7
	watch trace_syscalls --syscall getppid --comm "$NAME" nobody
	later 10
	release "$HELD"
	watch_stop
	getppids 17
}

@test "selections: --comm prints a program from the call on that executes it" {
	need_tracefs events/syscalls
	watch trace_syscalls --comm "$NAME" --decode
	later 10
	watch_stop
	[[ $(head -n 1 got) == *": execve("*") = 0"* ]]
	run -1 grep -v " *$NAME-[0-9]" got
}

@test "selections: --uid takes tasks when they become that user, by each call that changes it" {
	need_tracefs events/syscalls/sys_exit_setuid
	need_tool python3
	uid=$((2000000000 + $$))
	watch trace_syscalls --syscall getppid --uid "$uid"
	# the last one is only the effective uid
	for call in 'setuid(u)' 'setreuid(u, u)' 'setresuid(u, u, u)' 'setreuid(u, -1)' 'setresuid(-1, u, -1)'; do
		python3 - <<-END
			import os
			u = $uid
			os.getppid()
			os.$call
			child = os.fork()
			for _ in range(10): os.getppid()
			child or os._exit(0)
			os.wait()
		END
	done
	strangers
	watch_stop
	grep ': sys_getppid()$' got | sed 's/ *\[.*//' | uniq -c
	[ "$(grep -c ': sys_getppid()$' got)" = 80 ]
	[ "$(pids_in got | wc -l)" = 8 ]
	run -1 grep -E ': sys_set(re|res|)uid' got
}

@test "selections: --cgroup takes the first task of a cgroup that is made later, from its first call there" {
	need_cgroup
	need_tracefs events/cgroup/cgroup_attach_task
	for form in "$CGROUP/$NAME" "/${CGROUP##*/}/$NAME" "$NAME" "$CGROUP"; do
		BELOW=$CGROUP/$NAME
		watch trace_syscalls --cgroup "$form"
		mkdir "$BELOW"
		strangers
		later 10
		later inside 10
		strangers
		watch_stop
		rmdir "$BELOW"
		BELOW=
		[ "$(grep -c ': sys_getppid()$' got)" = 10 ]
		[ "$(grep -c ' sh-[0-9]*.*: sys_execve(' got)" = 1 ]
		[[ $(head -n 1 got) == *" sh-"* ]]
	done
}

@test "selections: --container takes a container that comes later, and no other one" {
	need_cgroup
	need_tracefs events/cgroup/cgroup_attach_task
	id=$(printf 'b%010x%053d' $$ 7)
	watch trace_syscalls --syscall getppid --container "${id:0:20}"
	for name in "docker-$(printf 'b%010x%053d' $(($$ + 1)) 7).scope" "docker-$id.scope"; do
		BELOW=$CGROUP/$name
		mkdir "$BELOW"
		later inside 10
		rmdir "$BELOW"
		BELOW=
	done
	watch_stop
	getppids 10
}

@test "selections: --cgroup takes a process that clone3 puts into the cgroup" {
	need_cgroup
	need_tracefs events/syscalls/sys_enter_clone3
	need_tool python3 gcc
	[ "$(stat -f -c %t "$CGROUP")" = 63677270 ] || skip "needs a cgroup of version 2"
	BELOW=$CGROUP/$NAME
	cat >into.c <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <linux/sched.h>
		#include <signal.h>
		#include <sys/syscall.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			struct clone_args a = { .flags = 0x200000000, .exit_signal = SIGCHLD };
			(void)argc;
			a.cgroup = (unsigned)open(argv[1], O_RDONLY | O_DIRECTORY);
			if (!syscall(SYS_clone3, &a, sizeof(a))) {
				execv(argv[2], argv + 2);
				_exit(127);
			}
			return wait(NULL) < 0;
		}
	END
	gcc -o into into.c
	watch trace_syscalls --syscall getppid read --cgroup "$BELOW"
	mkdir "$BELOW"
	mkfifo gate
	background ./into "$BELOW" "$BATS_FILE_TMPDIR/$NAME" 10 <>gate >/dev/null
	strangers
	# it lives until its fork is read
	eventually grep -q " $NAME-.*: sys_read(fd: 0, " got
	echo >gate
	finishes "$PID" 0
	watch_stop
	getppids 10
}

@test "selections: counts, summaries and switches take tasks that come later, too" {
	need_tracefs events/syscalls
	watch trace_count --syscall getppid --comm "$NAME"
	later 10
	strangers
	watch_stop
	[ "$(grep -v '^#' got)" = '     10 sys_enter_getppid' ]
	watch trace_event -e sched_process_exit --comm "$NAME" --json
	later 10
	strangers
	watch_stop
	[ "$(grep -c "\"event\":\"sched_process_exit\".*\"comm\":\"$NAME\"" got)" = 2 ]
	run -1 grep -v "\"comm\":\"$NAME\"" got
}

@test "selections: a hook that cannot wait says that the selectors match no task" {
	need_tracefs events/syscalls
	for words in 'trace_flight -e sched_switch' 'trace_syscalls --output dat' 'trace_block'; do
		hook=${words%% *}
		refused 111 'no task to trace: the selectors match none; correct them' \
			--run "$hook" --args "${words#"$hook"} --comm $NAME"
	done
}

@test "selections: --cgroup and --container take a task that enters a cgroup with tasks, from its first call on" {
	need_cgroup
	need_tracefs events/syscalls
	id=$(printf 'c%010x%053d' $$ 7)
	BELOW=$CGROUP/docker-$id.scope
	mkdir "$BELOW"
	calls 10
	first=$CALLS first_go=$GO
	echo "$first" >"$BELOW/cgroup.procs"
	for form in "--cgroup $BELOW" "--cgroup /${CGROUP##*/}/docker-$id.scope" "--cgroup docker-$id.scope" \
		"--cgroup $first" "--container ${id:0:20}" "--pid $$ --cgroup $CGROUP"; do
		rm -f got
		# shellcheck disable=SC2086 # words
		watch trace_syscalls --syscall getppid $form
		strangers
		# the shell enters, and executes the program at once
		later inside 1000
		watch_stop
		echo "$form: $(grep -c " $NAME-.*: sys_getppid()$" got)"
		[ "$(grep -c " $NAME-.*: sys_getppid()$" got)" = 1000 ]
		! grep -q '^#' got
	done
	# the session ends with the last task
	watch trace_syscalls --syscall getppid --cgroup "$BELOW"
	echo >"$first_go"
	watch_end
	rmdir "$BELOW"
	BELOW=
	[ "$(grep -c ': sys_getppid()$' got)" = 10 ]
}

@test "selections: --cgroup counts the tasks that clone3 makes in a cgroup and that end too early" {
	need_cgroup
	need_tracefs events/syscalls/sys_enter_clone3
	[ "$(stat -f -c %t "$CGROUP")" = 63677270 ] || skip "needs a cgroup of version 2"
	BELOW=$CGROUP/$NAME
	mkdir "$BELOW"
	calls 10
	first_go=$GO
	echo "$CALLS" >"$BELOW/cgroup.procs"
	hold "$PROG/joins" into "$BELOW" 100
	watch trace_syscalls --syscall getppid --cgroup "$BELOW"
	release "$HELD"
	echo >"$first_go"
	watch_end
	rmdir "$BELOW"
	BELOW=
	seen=$(grep ': sys_getppid()$' got | grep -vc ' calls-' || :)
	missed=$(sed -n 's/^# \([0-9]*\) tasks were made in a cgroup and ended before .*/\1/p' got)
	echo "$seen calls, $missed tasks"
	[ $((seen + 3 * ${missed:-0})) = 300 ]
}

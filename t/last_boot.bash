# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables of helper.bash and of the tests
# last_boot.bash - what a crash leaves: a saved head, and a tracefs with a full reserved instance

# recording [EVENT]...: Record calls and the events in an instance, with the saved head in ./state.
recording() {
	local event
	need_tracefs events/syscalls
	new_instance
	export TFS_STATE=$PWD/state
	echo $$ >"$DIR/set_event_pid"
	echo 1 >"$DIR/events/syscalls/sys_enter_getppid/enable"
	for event in printk/console "$@"; do
		echo 1 >"$DIR/events/$event/enable"
	done
	mkdir d
	mkfifo gate
	exec 8<>gate
	background tfs-flight -P -L -i "$INSTANCE" -d 8 d >out 2>err
	FLIGHT=$PID
	read -rt "$DEADLINE" _ <&8 || { cat err; return 1; }
	calls 1000
	echo "$CALLS" >>"$DIR/set_event_pid"
	release
	finishes "$CALLS" 0
}

# crash: Make ./boot, the tracefs of the next boot: tfs.boot has the sub-buffers.
crash() {
	local cpu to
	[ -z "${FLIGHT-}" ] || kill -KILL "$FLIGHT"
	echo 0 >"$DIR/tracing_on"
	cat "$DIR/trace" >kernel
	sed -i 's/^boot .*/boot 01234567-89ab-cdef-0123-456789abcdef/' state/names
	for cpu in "$DIR"/per_cpu/cpu*; do
		to=boot/instances/tfs.boot/per_cpu/${cpu##*/}
		mkdir -p "$to"
		cat "$cpu/stats" >"$to/stats"
		dd if="$cpu/trace_pipe_raw" of="$to/trace_pipe_raw" bs=4096 iflag=nonblock,fullblock 2>/dev/null || :
	done
	to=boot/instances/tfs.boot
	printf '0\t[kernel]\n' >$to/last_boot_info
	echo 0 >$to/tracing_on
	echo nop >$to/current_tracer
	: >$to/set_event
	cat "$DIR/buffer_size_kb" >$to/buffer_size_kb
	mkdir $to/events
	cat "$DIR/events/header_page" >$to/events/header_page
}

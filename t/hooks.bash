# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2119,SC2120,SC2154 # the tests use acts; run of bats sets output
# hooks.bash - functions of the tests of hooks: load ../hooks, after ../helper

# undo: Remove the cgroup of need_cgroup. Fail if probes of the test are left, or BPF programs. The
# kernel frees maps and programs a while after their last descriptor is closed.
undo() {
	[ ! -d "${CGROUP-}" ] || rmdir "$CGROUP" || return
	[ -z "${ID-}" ] || eventually none_loaded || { objects; return 1; }
	[ -e "$TRACEFS/dynamic_events" ] || return 0
	run ! grep -E ":(tfs_t$$_m[^/]*|own_${MARK//-/_})/" "$TRACEFS/dynamic_events"
	[ -z "$output" ] || { tfs-probe -g "own_${MARK//-/_}" remove; return 1; }
}

# traced HOOK WORDS: Run a session of the held program, release it, and read the trace to its end
# into got.
traced() {
	watch "$1" --pid "$HELD" "${@:2}"
	find_id
	release
	watch_end
	no_probes
	head -n 20 got # for a test that fails
}

# refuses HOOK STATUS LINE WORDS: Fail unless LINE is printed with STATUS, and nothing begins.
refuses() {
	fails "$2" "manager: fatal: $3" "$MANAGER" --run "$1" --args "--instance $MARK ${*:4}"
	nothing_left
	no_probes
}

lines() {
	grep -c "$1" got || :
}

# big N: Print a word of N letters.
big() {
	printf "%0$1d" 0
}

need_functions() {
	need_tracefs set_ftrace_filter
	head -c 1 "$TRACEFS/available_filter_functions" >can.read 2>&1 ||
		skip "needs available_filter_functions, which this kernel keeps to itself"
}

need_hist() {
	need_tracefs events/sched/sched_switch/hist
}

# argument_option NAME: Skip unless instances have an option NAME of their own.
argument_option() {
	local before
	[ -d "${DIR-}" ] || new_instance
	[ -e "$DIR/options/$1" ] || skip "needs options/$1 (Linux 6.15)"
	read -r before <"$TRACEFS/options/$1"
	echo 1 >"$DIR/options/$1"
	file_is "$TRACEFS/options/$1" "$before" && return
	echo 0 >"$DIR/options/$1"
	skip "needs options/$1 for each instance (Linux 7)"
}

uses() { # FILE of tracefs: run a program of our own, which has symbols
	need_tracefs "$1"
	[ "$1" != kprobe_events ] || need_entry_probes
	acts=$PROG/acts
	: >there
}

# Skip unless the kernel runs BPF programs at system calls.
need_types() {
	[ -e /sys/kernel/btf/vmlinux ] || skip "needs types of the kernel (CONFIG_DEBUG_INFO_BTF)"
}

need_bpf() {
	need_tracefs events/syscalls
	need_tracefs events/bpf_trace
	: >there
}

# group [SUFFIX]: Print the group of the session $MARK and SUFFIX.
group() {
	local name=$MARK${1-}
	name=${name//_/__} name=${name//./_d}
	echo "tfs_${name//-/_m}"
}

# probes GROUP: Print the number of the kernel's lines for GROUP.
probes() {
	grep -c "^[^:]*:$1/" "$TRACEFS/dynamic_events" || :
}

no_probes() {
	! grep -q "^[^:]*:$(group "${1-}")/" "$TRACEFS/dynamic_events" 2>/dev/null
}

# Set ID to the name of the session's BPF programs, if it has any.
find_id() {
	id_kept_by "$(children "$SESSION" | head -n 1)"
}

# id_kept_by PID: Set ID to the name of the BPF programs that a process keeps, if it keeps any.
id_kept_by() {
	local fd id least=
	for fd in /proc/"$1"/fdinfo/*; do
		id=$(sed -n 's/^map_id:[^0-9]*//p' "$fd" 2>/dev/null) || :
		[ -z "$id" ] || [ "$id" -ge "${least:-$((id + 1))}" ] || least=$id
	done
	[ -z "$least" ] || ID=$(printf 'tfs_%x' "$least")
}

# objects: Print the BPF objects of the session's programs.
objects() {
	"$PROG/bpfobjects" all "$ID"
}

none_loaded() {
	[ -z "$(objects)" ]
}

# watch_top_level: Note from now on what is enabled at the top level, for top_level_unchanged. Tests
# of this are alone, because the probes of another one enable an event for a moment.
watch_top_level() {
	local printk=$TRACEFS/events/bpf_trace/bpf_trace_printk/enable
	file_is "$printk" 0 || skip "needs bpf_trace_printk disabled at the top level"
	cat "$TRACEFS/set_event" >top.before
	# shellcheck disable=SC2317 # background calls it
	poll() {
		local text
		until [ -e top.stop ]; do
			file_is "$printk" 0 >>top.seen || :
			read_whole "$TRACEFS/set_event"
			must_be set_event "$(<top.before)${text:+$'\n'}" >>top.seen || :
		done
	}
	: >top.seen
	background poll
	POLLER=$PID
}

# top_level_unchanged: End this; fail if anything was enabled or disabled.
top_level_unchanged() {
	: >top.stop
	finishes "$POLLER" 0
	head top.seen
	[ ! -s top.seen ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031 # each test is a process of its own
# tfs-record: writes raw sub-buffers to a trace.dat; recorded and lost events add up

load ../helper

USAGE='tfs-record [-d] [-m KB] [-n N] [-R ROOT] [-i INSTANCE] FILE'

misuse() {
	fails 100 "tfs-record: fatal: $1; usage: $USAGE" "${@:2}"
}

# Make a root with two CPUs whose trace_pipe_raw are FIFOs that the test holds as 8
# and 9, with sub-buffers of 128 bytes.
plain_root() {
	mkdir -p root/per_cpu/cpu0 root/per_cpu/cpu1 root/instances \
		root/events/ftrace/print root/events/one/two
	printf '\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:112;\tsigned:0;\n' >root/events/header_page
	printf 'compressed entry header\n' >root/events/header_event
	printf 'name: print\nID: 5\nformat:\n' >root/events/ftrace/print/format
	printf 'name: two\nID: 7\nformat:\n' >root/events/one/two/format
	printf 'one:two\n' >root/set_event
	printf '1 init\n' >root/saved_cmdlines
	printf '[local] global\n' >root/trace_clock
	for cpu in 0 1; do
		printf 'entries: 0\noverrun: 0\nread events: 9\n' >root/per_cpu/cpu$cpu/stats
		printf '64\n' >root/per_cpu/cpu$cpu/buffer_size_kb
		mkfifo root/per_cpu/cpu$cpu/trace_pipe_raw
	done
	exec 8<>root/per_cpu/cpu0/trace_pipe_raw 9<>root/per_cpu/cpu1/trace_pipe_raw
}

# page N: Print a sub-buffer of N events of 8 bytes, one:two, as this machine writes it.
page() {
	local i
	for ((i = 0; i < 8; i++)); do printf '\0'; done
	if little; then
		# shellcheck disable=SC2059 # it is a format
		printf "\\x$(printf %02x $(($1 * 8)))\0\0\0\0\0\0\0"
	else
		# shellcheck disable=SC2059
		printf "\0\0\0\0\0\0\0\\x$(printf %02x $(($1 * 8)))"
	fi
	for ((i = 0; i < $1; i++)); do
		if little; then printf '\1\0\0\0\7\0\0\0'; else printf '\10\0\0\0\0\7\0\0'; fi
	done
	for ((i = $1 * 8; i < 112; i++)); do printf '\0'; done
}

# feed FD N...: Write sub-buffers of so many events each in one write, because the kernel
# hands over complete sub-buffers only.
feed() {
	local n
	for n in "${@:2}"; do
		[ -e "page.$n" ] || page "$n" >"page.$n"
	done
	# shellcheck disable=SC2046 # several words
	cat $(printf 'page.%s ' "${@:2}") >pages # one write for all of them
	cat pages >&"$1"
}

# feed_hundred: Write a hundred sub-buffers of ten events. A FIFO without a
# reader holds 16 writes of any size, if cat(1) sends files.
feed_hundred() {
	# shellcheck disable=SC2046 # several words
	feed 8 $(printf '10 %.0s' {1..100})
}

ORDER=$(printf '\1\0' | od -An -tu2 | tr -d ' ')
little() {
	[ "$ORDER" = 1 ]
}

# recorder ARGUMENT...: Start tfs-record in the background; set $RECORDER once it works.
# It can open the FIFOs by name only.
recorder() {
	background tfs-record "$@" 2>err 8>&- 9>&-
	RECORDER=$PID
	eventually records "$RECORDER"
}

# records PID: Has tfs-record the ring buffers open? It has blocked signals and read the date before.
# The shell that becomes tfs-record has copies of our own descriptors.
records() {
	[ "${TFS_VARIANT-}" != valgrind ] ||
		skip "needs to see a program's signal mask, which valgrind keeps to itself"
	[ "$(cat "/proc/$1/comm")" = tfs-record ] &&
		readlink "/proc/$1/fd"/* 2>/dev/null | grep -q '/trace_pipe_raw$'
}

stops() {
	kill "-${2-TERM}" "$RECORDER"
	finishes "$RECORDER" "${1-0}"
}

# what FILE WORD...: Print the rest of datwalk's line that begins with these words.
what() {
	"$PROG/datwalk" "$1" >walk || { cat walk; return 1; }
	sed -n "s/^${*:2} //p" walk
}

# Make an instance that records each getppid of calls N, and start tfs-record for it.
recording() {
	local n=$1 kb=$2
	shift 2
	new_instance
	[ -e "$DIR/events/syscalls" ] || lacks events/syscalls
	[ -z "${SUBBUF-}" ] || tfs-write -i "$INSTANCE" buffer_subbuf_size_kb "$SUBBUF"
	tfs-write -i "$INSTANCE" buffer_size_kb "$kb"
	calls "$n" "${THREADS-1}"
	tfs-pidfilter -i "$INSTANCE" set "$CALLS"
	tfs-write -i "$INSTANCE" events/syscalls/sys_enter_getppid/enable 1
	[ $# = 0 ] || recorder -i "$INSTANCE" "$@"
}

all_made() {
	release
	finishes "$CALLS" 0
}

lost() {
	sed -n 's/^tfs-record: lost \([0-9]*\) events: .*/\1/p' err | grep . || echo 0
}

# Print what trace-cmd makes of a file; fail if it prints anything else.
report() {
	trace-cmd report -i "$1" >text 2>said
	[ ! -s said ] || { cat said; return 1; }
}

nothing_unfinished() {
	[ -z "$(find . -name '.tfs-record*')" ]
}

# in_small SIZE COMMAND...: Run COMMAND, for which alone small/ is a disk of that size.
in_small() {
	need_root
	need_mounts
	mkdir -p small
	# shellcheck disable=SC2016 # the shell's own
	unshare -m sh -c 'mount -t tmpfs -o "size=$1,mode=755" tmpfs small && shift && exec "$@"' \
		sh "$@"
}

@test "tfs-record: refuses an output that is not a regular file, and does not change it" {
	plain_root
	mkdir directory
	mkfifo fifo
	ln -s target link
	ln -s /dev/null null
	for file in directory fifo link null; do
		misuse "not a regular file: '$file'" tfs-record -R root $file
	done
	misuse "not a regular file: 'stdout'" tfs-record -R root /dev/stdout
	misuse "not a regular file: 'null'" tfs-record -R root /dev/null
	mkdir f.2
	misuse "not a regular file: 'f.2'" tfs-record -R root -m 999 -n 3 f
	[ -p fifo ] && [ -L link ] && [ -L null ] && [ ! -e target ] && [ -c /dev/null ]
	for file in '' . .. directory/ directory/.. /; do
		misuse "not a file's name: '$file'" tfs-record -R root "$file"
	done
}

@test "tfs-record: reports a directory without write permission before it begins" {
	need_root
	need_tool setpriv
	plain_root
	mkdir -m 555 closed
	fails 111 "tfs-record: fatal: unable to write closed/file: Permission denied" \
		plainly tfs-record -R root closed/file
}

@test "tfs-record: reports a name that is too long before it begins" {
	plain_root
	printf -v long '%0254d' 1
	local words='File name too long'
	[ "${TFS_VARIANT-}" != vm ] || words='Filename too long' # the message of musl
	fails 111 "tfs-record: fatal: unable to write ${long}.1: $words" \
		tfs-record -R root -m 999 -n 2 "$long"
}

@test "tfs-record: names a missing root, instance or file of an instance" {
	mkdir -p root/instances
	fails 111 "tfs-record: fatal: unable to open nowhere: No such file or directory" \
		tfs-record -R nowhere file
	fails 111 "tfs-record: fatal: no instance 'one' in root; tfs-instance list prints the names" \
		tfs-record -R root -i one file
	fails 111 "tfs-record: fatal: unable to read events/header_page: No such file or directory" \
		tfs-record -R root file
	plain_root
	mv root/per_cpu per_cpu
	fails 111 "tfs-record: fatal: unable to read per_cpu: No such file or directory" \
		tfs-record -R root file
	mkdir root/per_cpu
	fails 111 "tfs-record: fatal: no CPU in per_cpu" tfs-record -R root file
	mkdir root/per_cpu/cpu0
	mv root/events/ftrace ftrace
	fails 111 "tfs-record: fatal: unable to read events/ftrace: No such file or directory" \
		tfs-record -R root file
	mv ftrace root/events
	mkdir -p root/per_cpu/cpu0/trace_pipe_raw
	fails 111 "tfs-record: fatal: unable to read cpu0/trace_pipe_raw: Invalid argument" \
		tfs-record -R root file
	echo 'field: char data; offset:16; size:1;' >root/events/header_page
	fails 111 "tfs-record: fatal: unable to parse events/header_page" \
		tfs-record -R root file
	[ ! -e file.1 ] && nothing_unfinished
}

# bats test_tags=quick
@test "tfs-record: plain directory: writes the sub-buffers of each CPU, formats, names and clock" {
	plain_root
	local me=$BASHPID
	recorder -R root file
	feed 8 3 4
	feed 9 5
	[ ! -e file ]
	stops
	[ "$(what file cpu)" = $'0 2 7\n1 1 5' ]
	[ "$(what file events)" = 12 ]
	[ "$(what file page)" = 128 ]
	[ "$(what file clock)" = '[local] global' ]
	[ "$(what file format)" = $'ftrace:print 0\none:two 12' ]
	[ "$(what file stats)" = $'0 9\n1 9' ]
	[ "$(what file symbols)" = 0 ]
	what file name | grep -x "$me $(cat "/proc/$me/comm")"
	[ "$(stat -c %a file)" = 600 ]
	exactly err ''
	nothing_unfinished
}

@test "tfs-record: plain directory: each stop signal ends it with 0 and a complete file" {
	plain_root
	for signal in HUP INT TERM USR1; do
		recorder -R root file
		feed 8 2
		stops 0 $signal
		[ "$(what file events)" = 2 ]
	done
}

@test "tfs-record: plain directory: replaces a regular file of that name, and leaves other links to that file" {
	plain_root
	echo old >file
	ln file other
	recorder -R root file
	feed 9 1
	exactly file $'old\n'
	stops
	[ "$(what file events)" = 1 ]
	exactly other $'old\n'
}

@test "tfs-record: plain directory: treats hostile names of files and tasks as plain names" {
	plain_root
	printf '4194301 a\tb\033[2J c\nx 9 no\n8\n 6 no\n99999999999 no\n4194302  two\n' >root/saved_cmdlines
	name=$'-a b\n%s$(x)'
	recorder -R root -- "./$name"
	stops
	[ "$(what "$name" events)" = 0 ]
	what "$name" name >names
	grep -Fx '4194301 a?b?[2J c' names
	grep -Fx '4194302 two' names
	run -1 grep -E '^[0-9]* no$' names
}

@test "tfs-record: plain directory: with a pid filter it writes the names of the selected tasks only" {
	plain_root
	local me=$BASHPID
	echo "$me" >root/set_event_pid
	recorder -R root file
	stops
	[ "$(what file name | sort)" = "$(printf '1 init\n%s' "$me $(cat "/proc/$me/comm")" | sort)" ]
}

@test "tfs-record: plain directory: writes symbols if an event needs them" {
	head -c 1 "${TRACER_PROCFS_PATH:-/proc}/kallsyms" | grep -q . || skip "needs kallsyms (CONFIG_KALLSYMS)"
	plain_root
	# shellcheck disable=SC2016 # the kernel's
	for change in 'echo function >root/current_tracer' \
		'mkdir root/options; echo 1 >root/options/stacktrace' \
		'printf "name: two\nID: 7\nformat:\nprint fmt: \"%%pS\"\n" >root/events/one/two/format'; do
		rm -rf root
		plain_root
		eval "$change"
		recorder -R root file
		stops
		[ "$(what file symbols)" -gt 1000 ]
	done
}

@test "tfs-record: plain directory: writes the format of an event that is enabled later" {
	plain_root
	: >root/set_event
	recorder -R root file
	echo one:two >root/set_event
	feed 8 1
	stops
	[ "$(what file format one:two)" = 1 ]
}

@test "tfs-record: plain directory: reports the lost events of all CPUs" {
	plain_root
	recorder -R root file
	printf 'entries: 0\noverrun: 100\ncommit overrun: 20\ndropped events: 3\n' >root/per_cpu/cpu0/stats
	printf 'entries: 0\noverrun: 4000\ncommit overrun: 0\ndropped events: 0\n' >root/per_cpu/cpu1/stats
	stops
	exactly err $'tfs-record: lost 4123 events: 4123 overwritten in a full buffer, 0 not written\n'
}

@test "tfs-record: plain directory: -m limits the file size, and counts the events that it leaves out" {
	plain_root
	echo "$BASHPID" >root/set_event_pid
	status=0
	tfs-record -R root -m 1 file 2>err 8>&- 9>&- || status=$?
	[ "$status" = 100 ]
	least=$(sed -n "s/.*1 KB are too few for a file; give at least \([0-9]*\); .*/\1/p" err)
	[ "$least" -gt 1 ]
	recorder -R root -m "$least" file
	feed_hundred
	printf 'entries: 33\n' >root/per_cpu/cpu0/stats
	stops
	[ "$(stat -c %s file)" -le $((least * 1024)) ]
	[ "$(what file events)" -gt 0 ]
	exactly err $'tfs-record: lost 33 events: 0 overwritten in a full buffer, 33 not written\n'
}

@test "tfs-record: plain directory: a file size limit cuts at a sub-buffer, and is reported as an error" {
	plain_root
	limited() {
		ulimit -f 80
		exec tfs-record -R root file
	}
	background limited 2>err 8>&- 9>&-
	RECORDER=$PID
	eventually blocks "$RECORDER"
	eventually grep -q 'State:.*S' "/proc/$RECORDER/status"
	for i in {1..4}; do feed_hundred; done
	eventually test -s err
	stops 111
	grep -qx 'tfs-record: fatal: unable to write file: File too large' err
	[ "$(what file events)" -lt 4000 ]
	[ "$(stat -c %s file)" -le 81920 ]
}

@test "tfs-record: plain directory: leaves no file when it is killed" {
	plain_root
	recorder -R root file
	feed 8 1
	stops 137 KILL
	[ ! -e file ]
	nothing_unfinished
}

@test "tfs-record: plain directory: a CPU that goes away or has no file is not an error" {
	plain_root
	rm root/per_cpu/cpu0/trace_pipe_raw
	mv root/per_cpu/cpu1 root/per_cpu/cpu3
	recorder -R root file
	feed 9 3
	exec 9>&-
	stops
	[ "$(what file cpu)" = $'0 0 0\n1 0 0\n2 0 0\n3 1 3' ]
}

@test "tfs-record: plain directory: works the same without O_TMPFILE" {
	need_tool strace
	strace -f -e inject=openat:error=EPERM -e trace=none true 2>/dev/null || skip "needs strace"
	[ "${TFS_VARIANT-}" != sanitize ] || skip "needs ptrace, which LeakSanitizer does not bear"
	plain_root
	# linkat is refused: no file can get its name later
	background strace -qq -o strace -e trace=linkat -e inject=linkat:error=EPERM \
		tfs-record -R root file 2>err 8>&- 9>&-
	begun() {
		RECORDER=$(children "$PID" | head -n 1)
		grep -qx tfs-record "/proc/$RECORDER/comm" 2>/dev/null && blocks "$RECORDER"
	}
	eventually begun
	feed 8 3 4
	feed 9 5
	kill -TERM "$RECORDER"
	finishes "$PID" 0
	[ "$(what file cpu)" = $'0 2 7\n1 1 5' ]
	[ "$(grep -c EPERM strace)" = 2 ]
	nothing_unfinished
}

@test "tfs-record: kernel: records N events for N calls" {
	recording 20000 8192 file
	all_made
	stops
	[ "$(what file events)" = 20000 ]
	[ "$(what file format syscalls:sys_enter_getppid)" = 20000 ]
	[ "$(what file name "$CALLS")" = calls ]
	exactly err ''
}

@test "tfs-record: kernel: trace-cmd report shows N events for N calls, with the names" {
	need_tool trace-cmd
	recording 20000 8192 file
	all_made
	stops
	report file
	[ "$(grep -c '^ *calls-'"$CALLS"' .*: sys_enter_getppid:' text)" = 20000 ]
	file_has 20001 text # the first line tells the number of CPUs
}

@test "tfs-record: kernel: -d: records the date, and trace-cmd report shows the same times of day" {
	need_tool trace-cmd
	new_instance
	echo mono >"$DIR/trace_clock"
	recorder -d -i "$INSTANCE" file
	before=$(now_us)
	echo 'a mark' >"$DIR/trace_marker"
	after=$(now_us)
	stops
	exactly err ''
	tfs-report -d file >out
	time=$(sed -n 's/.* \([0-9]*\.[0-9]*\): .*: a mark$/\1/p' out)
	between "$before" "$(date_of out "$time")" "$after"
	report file
	theirs=$(sed -n 's/.* \([0-9]*\.[0-9]*\): print: .* a mark$/\1/p' text)
	[ "${theirs/./}" = "$(date_of out "$time")" ]
	trace-cmd report --nodate -i file >text
	[ "$(sed -n 's/.* \([0-9]*\.[0-9]*\): print: .* a mark$/\1/p' text)" = "$time" ]
}

@test "tfs-record: plain directory: -d: a clock that is ahead, and one that moves" {
	plain_root
	printf 'entries: 0\nnow ts: 4954870400.000000\n' >root/per_cpu/cpu0/stats
	before=$(now_us)
	recorder -R root -d file
	after=$(now_us)
	printf 'entries: 0\nnow ts: 4954866800.000000\n' >root/per_cpu/cpu0/stats
	stops
	ended=$(now_us)
	moved=$(sed -n "s/^tfs-record: the time of day moved by \([0-9]*\) ms against the trace's clock$/\1/p" err)
	[ "$moved" -ge 3600000 ]
	[ "$moved" -le $((3600001 + (ended - before) / 1000)) ]
	date=$(tr '\0' '\n' <file | grep -a -o -- '-0x[0-9a-f]*$')
	between "$before" "$((4954870400000000 - ${date#-}))" "$after"
}

@test "tfs-record: -d refuses a trace clock that counts no seconds" {
	plain_root
	printf 'entries: 0\nnow ts: 12345678\n' >root/per_cpu/cpu0/stats
	fails 111 "tfs-record: fatal: unable to tell the date: trace_clock does not count seconds; choose another" \
		tfs-record -R root -d file
	[ ! -e file ]
}

@test "tfs-record: kernel: trace-cmd report shows no event for an empty recording" {
	need_tool trace-cmd
	recording 0 64 file
	stops
	report file
	run -1 grep getppid text
	[ "$(what file events)" = 0 ]
}

@test "tfs-record: kernel: records what several threads do on all CPUs" {
	THREADS=4 recording 5000 8192 file
	all_made
	stops
	[ "$(what file events)" = 20000 ]
}

@test "tfs-record: kernel: works the same with sub-buffers of 64 KiB" {
	new_instance probe
	[ -e "$DIR/buffer_subbuf_size_kb" ] || skip "needs buffer_subbuf_size_kb in tracefs (6.8)"
	SUBBUF=64 recording 20000 8192 file
	all_made
	stops
	[ "$(what file page)" = 65536 ]
	[ "$(what file events)" = 20000 ]
}

@test "tfs-record: kernel: recorded and lost events add up with a small buffer" {
	recording 20000 8
	all_made
	recorder -i "$INSTANCE" file
	stops
	[ "$(lost)" -gt 0 ]
	[ $(($(what file events) + $(lost))) = 20000 ]
}

@test "tfs-record: kernel: recorded and lost events add up with a small buffer while events go on" {
	recording 100000 16 file
	all_made
	stops
	[ $(($(what file events) + $(lost))) = 100000 ]
}

@test "tfs-record: kernel: recorded and lost events add up if every event wakes it" {
	recording 20000 8192
	[ -e "$DIR/buffer_percent" ] || skip "needs buffer_percent in tracefs (5.0)"
	tfs-write -i "$INSTANCE" buffer_percent 0
	recorder -i "$INSTANCE" file
	all_made
	stops
	[ "$(what file events)" = 20000 ]
	exactly err ''
}

@test "tfs-record: kernel: -m: limits the file size, and recorded and lost events add up" {
	recording 20000 8192 -m 300 file
	all_made
	stops
	[ "$(stat -c %s file)" -le 307200 ]
	[ "$(stat -c %s file)" -gt $((283000 - $(data_size))) ]
	[ "$(lost)" -gt 0 ]
	[ $(($(what file events) + $(lost))) = 20000 ]
}

@test "tfs-record: kernel: -n keeps the newest files, and each file can be read" {
	echo old >file
	echo older >file.1
	echo oldest >file.2
	recording 100000 1024 -m 300 -n 3 file
	eventually test ! -e file.2
	all_made
	eventually grep -vq old file.1
	[ ! -e file.2 ]
	stops
	sum=0
	for f in file file.1 file.2; do
		[ "$(stat -c %s "$f")" -le 307200 ]
		sum=$((sum + $(what $f events)))
	done
	[ "$sum" -gt 10000 ] && [ "$sum" -lt 100000 ]
	[ ! -e file.3 ]
	[ "$(what file.2 events)" -gt 5000 ]
	nothing_unfinished
}

@test "tfs-record: kernel: -n with enough room loses no event between two files" {
	recording 30000 8192 -m 300 -n 9 file
	all_made
	stops
	sum=0
	for f in file*; do
		sum=$((sum + $(what "$f" events)))
	done
	[ "$sum" = 30000 ]
	[ -e file.1 ]
}

@test "tfs-record: kernel: killed while it records to several files, it leaves the finished files" {
	# there is room for everything: several files exist, however slow the machine is
	recording 100000 8192
	tfs-write -i "$INSTANCE" buffer_percent 0
	recorder -i "$INSTANCE" -m 300 -n 3 file
	all_made
	eventually test -s file.1
	stops 137 KILL
	# it may have been about to name the newest file, or to begin the next
	for f in file file.1; do
		[ ! -e "$f" ] || [ "$(what "$f" events)" -gt 5000 ]
	done
	[ -e file ] || [ -e file.1 ]
	[ ! -e file.2 ] && nothing_unfinished
}

@test "tfs-record: kernel: writes what fits on a full disk, and counts the rest" {
	recording 60000 8192
	cat >script <<-'END'
		tfs-record -i "$1" small/file 2>err &
		echo $! >pid
		wait $!
		echo $? >status
		cp small/file . && ls -A small >left
	END
	background in_small 1m sh script "$INSTANCE"
	local shell=$PID
	eventually test -s pid
	eventually blocks "$(cat pid)"
	all_made
	kill "$(cat pid)"
	finishes "$shell" 0
	file_is status 111
	grep -x 'tfs-record: fatal: unable to write small/file: No space left on device' err
	file_has 2 err
	[ "$(what file events)" -gt 10000 ]
	[ $(($(what file events) + $(lost))) = 60000 ]
	exactly left $'file\n'
}

@test "tfs-record: kernel: reports a disk that is full from the start at once" {
	new_instance
	run -111 in_small 8k tfs-record -i "$INSTANCE" small/file
	[ "$output" = "tfs-record: fatal: unable to write small/file: No space left on device" ]
}

# limits: Print the time limits of the waits in ms, and "event" for a wait that ended otherwise.
limits() {
	sed -En 's/^poll\(.*, ([0-9]+)\) += 0 \(Timeout\)$/\1/p; t; s/^poll\(.* = .*/event/p' waits |
		paste -sd ' '
}

has_waited() {
	[[ $(limits) == *"1000 1000 1000" ]]
}

@test "tfs-record: kernel: wakes once a second while nothing happens" {
	new_instance
	need_mounts
	# the names of the whole kernel: many new names, of other sessions, wake it more often
	: >names
	# shellcheck disable=SC2016 # the other shell's
	background unshare -m sh -c \
		'mount --bind names "$1/saved_cmdlines" && exec tfs-record -i "$2" file' - \
		"$TRACEFS" "$INSTANCE" 2>err
	RECORDER=$PID
	eventually blocks "$RECORDER"
	if [ -z "${TFS_VARIANT-}" ] && command -v strace; then
		# with -o, strace would write when its buffer is full
		background strace -qq -e trace=poll -p "$RECORDER" 2>waits
		eventually has_waited
		[[ $(limits) =~ ^(5\ )?(200\ )?(400\ )?(800\ )?1000( 1000)*$ ]]
	else
		wakes() {
			sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$RECORDER/status"
		}
		eventually grep -q 'State:.*S' "/proc/$RECORDER/status"
		sigwait-run -t 1000 || :
		local before began
		before=$(wakes) began=$(now_us)
		sigwait-run -t 1000 || :
		# a second may take longer on a busy machine
		[ $(($(wakes) - before)) -le $((4 * (($(now_us) - began) / 1000000))) ]
	fi
	stops
}

@test "tfs-record: kernel: the instance can be removed after it has ended" {
	new_instance
	recorder -i "$INSTANCE" file
	stops
	tfs-instance remove -t 0 "$INSTANCE"
}

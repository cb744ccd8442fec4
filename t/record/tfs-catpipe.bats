#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# tfs-catpipe: prints the kernel's text byte for byte; delivered and lost events add up

load ../helper

USAGE='tfs-catpipe [-Bfklnx] [-M KB] [-s KB] [-S PID[,PID...]]... [-W RULES] [-X EVENT[,EVENT...]] [-w MS] [-jHdmFO] [-c COLUMNS] [-G SIG[,SIG...]] [-D] [-T KIND[,KIND...]] [-P KIND[,KIND...]] [-e GLOB]... [-p PID[,PID...]]... [-t FROM-TO] [-u UID] [-U PID[,PID...]]... [-C COMM] [-N PID[,PID...]]... [-R ROOT] [-i INSTANCE]'

misuse() {
	fails 100 "tfs-catpipe: fatal: $1; usage: $USAGE" "${@:2}"
}

# Make a root whose trace_pipe is a FIFO that the test holds, with the counters of
# two CPUs. feed writes into the FIFO.
plain_root() {
	mkdir -p root/per_cpu/cpu0 root/per_cpu/cpu1 root/instances
	mkfifo root/trace_pipe
	exec 8<>root/trace_pipe
	stats 0
	stats 1
}

# stats CPU [OVERRUN [COMMIT [DROPPED [ENTRIES]]]]: Set the counters of CPU.
stats() {
	printf 'entries: %d\noverrun: %d\ncommit overrun: %d\nbytes: 568\noldest event ts:  3865.555847\nnow ts:  3865.559362\ndropped events: %d\nread events: 99\n' \
		"${5-0}" "${2-0}" "${3-0}" "${4-0}" >"root/per_cpu/cpu$1/stats"
}

feed() {
	# shellcheck disable=SC2059 # a format and its arguments
	printf "$@" >&8
}

# catpipe ARGUMENT...: Start tfs-catpipe in the background; set $PID once it works.
catpipe() {
	background tfs-catpipe -R root "$@" 2>err 8>&-
	eventually blocks "$PID"
}

# stops [STATUS [SIGNAL]]: Send SIGNAL, and fail unless it ends with STATUS.
stops() {
	kill "-${2-TERM}" "$PID"
	finishes "$PID" "${1-0}"
}

# has FILE TEXT: Succeed if FILE holds exactly TEXT.
has() {
	cmp -s "$1" <(printf '%s' "$2")
}

# Make an instance that records each getppid of calls N; release lets them go.
recording() {
	new_instance
	[ -e "$DIR/events/syscalls" ] || lacks events/syscalls
	[ -z "${2-}" ] || tfs-write -i "$INSTANCE" buffer_size_kb "$2"
	calls "$1"
	tfs-pidfilter -i "$INSTANCE" set "$CALLS"
	tfs-write -i "$INSTANCE" events/syscalls/sys_enter_getppid/enable 1
}

# reading ARGUMENT...: Start a tfs-catpipe of the instance; set $CATPIPE to its pid.
reading() {
	background tfs-catpipe -i "$INSTANCE" "$@" 2>err
	CATPIPE=$PID
	eventually blocks "$CATPIPE"
}

delivered() {
	grep -c ': sys_getppid()$' "$1" || :
}

need_strace() {
	need_tool strace
	strace -D -e trace=none true 2>/dev/null || skip "needs strace"
}

# Print the number of lost events in the last line, or 0.
lost() {
	sed -n '$s/^# lost \([0-9]*\) events: .*/\1/p' "$1" | grep . || echo 0
}

@test "tfs-catpipe: -l needs a pipe as standard output" {
	plain_root
	into_file() { tfs-catpipe -R root -l >file; }
	misuse "-l needs a FIFO or pipe as standard output" into_file
}

@test "tfs-catpipe: names an unreadable trace_pipe" {
	mkdir -p root/trace_pipe
	fails 111 "tfs-catpipe: fatal: unable to read trace_pipe: Is a directory" \
		tfs-catpipe -R root
}

# bats test_tags=quick
@test "tfs-catpipe: plain directory: passes the text on unchanged, as soon as it comes" {
	plain_root
	catpipe >out
	feed 'one\n'
	eventually has out $'one\n'
	feed '# two\r\033\n\nthree'
	eventually has out $'one\n# two\r\e\n\nthree'
	feed '\n'
	stops
	exactly out $'one\n# two\r\e\n\nthree\n'
	exactly err ''
}

@test "tfs-catpipe: plain directory: each stop signal drains the buffer and exits 0" {
	plain_root
	for signal in HUP INT TERM USR1; do
		catpipe >out
		feed 'one\ntwo\n'
		stops 0 $signal
		exactly out $'one\ntwo\n'
		exactly err ''
	done
}

@test "tfs-catpipe: plain directory: a signal that was blocked and pending at the start ends it" {
	need_tool perl
	plain_root
	feed 'one\n'
	# shellcheck disable=SC2016 # perl's
	perl -MPOSIX -e 'sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGTERM)); kill TERM => $$; exec @ARGV' \
		tfs-catpipe -R root >out
	exactly out $'one\n'
}

@test "tfs-catpipe: plain directory: the last line counts the lost events of all CPUs" {
	plain_root
	catpipe >out
	feed 'one\n'
	stats 0 100 20 3
	stats 1 4000 0 0
	stops
	exactly out $'one\n# lost 4123 events: 4123 overwritten in a full buffer, 0 not written\n'
}

@test "tfs-catpipe: plain directory: missing loss counters count as no loss" {
	plain_root
	rm -r root/per_cpu
	catpipe >out
	feed 'one\n'
	stops
	exactly out $'one\n'
}

@test "tfs-catpipe: plain directory: it ends although entries have no text" {
	plain_root
	stats 0 0 0 0 5
	catpipe >out
	feed 'one\n'
	stops
	exactly out $'one\n'
}

@test "tfs-catpipe: plain directory: -s keeps whole lines, and counts the lines that it drops" {
	plain_root
	catpipe -s 1 >out
	# 768 bytes are for these lines, the rest is for the last line
	feed '%0255d\n%0255d\n%0254d\n%0255d\n\n' 1 2 3 4
	stops
	exactly out "$(printf '%0255d\n%0255d\n%0254d\n%s' 1 2 3 \
		'# lost 2 events: 0 overwritten in a full buffer, 2 not written')"$'\n'
	[ "$(stat -c %s out)" -le 1024 ]
}

@test "tfs-catpipe: plain directory: -s counts a line whose end is still in the kernel" {
	for how in '' -l; do
		rm -rf root
		plain_root
		mkfifo "fifo$how"
		background cat "fifo$how" >"out$how"
		reader=$PID
		catpipe -s 1 $how >"fifo$how"
		# Linux 5.10 does this when a sub-buffer ends just before the end of a line
		feed '%0255d\n%0255d\n%0254d\n%0255d\n%0255d' 1 2 3 4 5
		stops
		finishes "$reader" 0
		[ "$(tail -n 1 "out$how")" = "# lost 2 events: 0 overwritten in a full buffer, 2 not written" ]
		file_has 4 "out$how"
	done
}

@test "tfs-catpipe: plain directory: -s also counts the entries that stay in the buffer" {
	plain_root
	catpipe -s 1 >out
	feed '%0767d\n' 1
	eventually has out "$(printf '%0767d' 1)"$'\n'
	feed 'x\n'
	eventually grep -q 'State:.*S' "/proc/$PID/status"
	stats 1 5 0 0 7
	stops
	[ "$(tail -n 1 out)" = "# lost 13 events: 5 overwritten in a full buffer, 8 not written" ]
}

@test "tfs-catpipe: plain directory: -l writes one line per packet" {
	plain_root
	mkfifo fifo
	background "$PROG/caller" fifo >out
	local reader=$PID
	catpipe -l >fifo
	for line in {1..200}; do feed 'line %d\n' "$line"; done
	stops
	finishes "$reader" 0
	seq 200 | sed 's/^/line /' | cmp - out
}

@test "tfs-catpipe: plain directory: -l writes one line per packet also if the kernel refuses splice or a pipe" {
	need_strace
	plain_root
	rm root/trace_pipe
	seq 20000 >root/trace_pipe
	mkfifo fifo
	for refused in splice:error=EINVAL splice:error=ENOSYS:when=1000+ pipe2:error=EMFILE splice:error=EINTR:when=5..500; do
		background "$PROG/caller" fifo >out
		local reader=$PID
		background strace -D -qq -o log -e trace=splice,pipe2 -e "inject=$refused" \
			tfs-catpipe -R root -l >fifo 2>err
		eventually blocks "$PID"
		stops
		finishes "$reader" 0
		cmp root/trace_pipe out
		grep -q INJECTED log
		exactly err ''
	done
}

@test "tfs-catpipe: plain directory: -l splits a line longer than a packet, and the reader gets all of it" {
	plain_root
	mkfifo fifo
	background "$PROG/caller" fifo >out
	local reader=$PID
	catpipe -l >fifo
	feed '%010000d\nnext\n' 7
	stops
	finishes "$reader" 0
	exactly out "$(printf '%010000d\nnext' 7)"$'\n'
}

@test "tfs-catpipe: plain directory: gives up a stalled reader after -w MS, with status 99" {
	plain_root
	rm root/trace_pipe
	# more than any pipe holds
	yes 0123456789 | head -c 3000000 >root/trace_pipe
	mkfifo fifo
	exec 9<>fifo
	for ms in 0 50; do
		background tfs-catpipe -R root -w $ms >fifo 2>err
		eventually blocks "$PID"
		stops 99
		exactly err ''
	done
	exec 9<&-
}

@test "tfs-catpipe: plain directory: a reader that stalled too long and reads on gets the last line" {
	plain_root
	rm root/trace_pipe
	yes 0123456789 | head -c 3300000 >root/trace_pipe
	mkfifo fifo
	for give_up in 'TERM -w 50' 'USR2 -w 20000'; do
		exec 9<>fifo
		# shellcheck disable=SC2086 # two words
		background tfs-catpipe -R root ${give_up#* } >fifo 2>err 9<&-
		writer=$PID
		eventually blocks "$writer"
		kill "-${give_up%% *}" "$writer"
		finishes "$writer" 99
		background cat <fifo >out 9<&-
		exec 9<&-
		finishes "$PID" 0
		whole=$(grep -cx 0123456789 out)
		[ "$(wc -l <out)" = $((whole + 1)) ]
		# a plain file does not tell how much of it is left
		[[ $(tail -n 1 out) =~ ^'# lost '[0-9]+' events: 0 overwritten in a full buffer, ' ]]
		exactly err ''
	done
}

@test "tfs-catpipe: plain directory: waits for a slow reader that takes everything" {
	plain_root
	rm root/trace_pipe
	yes 0123456789 | head -c 3000000 >root/trace_pipe
	mkfifo fifo
	exec 9<>fifo
	background tfs-catpipe -R root -w 20000 >fifo 2>err 9<&-
	eventually blocks "$PID"
	kill -TERM "$PID"
	local writer=$PID
	run -99 sigwait-run -t 50 -p "$writer"
	background cat <fifo >out 9<&-
	local reader=$PID
	exec 9<&-
	all_end "$writer" "$reader"
	cmp root/trace_pipe out
	exactly err ''
}

@test "tfs-catpipe: plain directory: exits 141 when its reader dies, even while there is nothing to write" {
	plain_root
	mkfifo fifo
	exec 9<>fifo
	background tfs-catpipe -R root >fifo 2>err 8>&- 9<&-
	eventually blocks "$PID"
	exec 9<&-
	finishes "$PID" 141
	exactly err ''
}

@test "tfs-catpipe: plain directory: exits 141 when its reader dies in the middle of the text" {
	plain_root
	feed 'one\n'
	# shellcheck disable=SC2016 # the shell's own
	outputs 0 $'one\n141' "$BASH" -c 'tfs-catpipe -R root 8>&- | head -n 1; echo "${PIPESTATUS[0]}"'
	# shellcheck disable=SC2016 # the shell's own
	outputs 0 141 "$BASH" -c 'tfs-catpipe -R root 8>&- | head -n 0; echo "${PIPESTATUS[0]}"'
}

@test "tfs-catpipe: plain directory: exits 141 even if the caller ignores SIGPIPE" {
	plain_root
	# shellcheck disable=SC2016 # the shell's own
	outputs 0 141 "$BASH" -c 'trap "" PIPE; tfs-catpipe -R root 8>&- | head -n 0; echo "${PIPESTATUS[0]}"'
}

@test "tfs-catpipe: plain directory: a reader that comes while the old reader's end is reported gets what follows" {
	need_strace
	plain_root
	mkfifo fifo
	exec 9<>fifo
	# every poll reports its result a second late
	background strace -D -qq -o log -e trace=ppoll -e inject=ppoll:delay_exit=1000000 \
		tfs-catpipe -R root -k >fifo 2>err 8>&- 9<&-
	waits() {
		file_has 1 log && grep -q '^State:.S' "/proc/$PID/status"
	}
	held() {
		grep -q '^State:.t' "/proc/$PID/status"
	}
	eventually waits
	exec 9<&-
	eventually held
	exec 9<fifo
	eventually grep -q POLLERR log
	feed 'one\n'
	read -r line <&9
	[ "$line" = one ]
	stops
	exec 9<&-
	exactly err ''
}

@test "tfs-catpipe: plain directory: with TFS_NEXT_READER of its FIFO it outlives its reader, and the next reader gets the rest" {
	plain_root
	mkfifo fifo
	id=$(stat -c %d:%i fifo)
	for how in '' -l; do
		exec 9<>fifo
		# shellcheck disable=SC2086 # an option or none
		TFS_NEXT_READER=$id background tfs-catpipe -R root $how >fifo 2>err 8>&- 9<&-
		writer=$PID
		eventually blocks "$writer"
		feed 'one\ntwo\nthree\n'
		if [ -z "$how" ]; then
			run -0 --separate-stderr dd bs=1 count=6 <&9
			[ "$output" = $'one\ntw' ]
		else
			run -0 --separate-stderr dd bs=4096 count=1 <&9
			[ "$output" = one ]
		fi
		exec 9<&-
		feed 'four\n'
		# a reader that takes nothing
		: <fifo
		background cat fifo >out 8>&-
		eventually grep -q four out
		ends_by "$writer" TERM 0
		finishes "$PID" 0
		exactly out "${how:+tw}"$'o\nthree\nfour\n'
		exactly err ''
	done
}

@test "tfs-catpipe: plain directory: with TFS_NEXT_READER of another FIFO, or on a pipe, it dies with its reader" {
	plain_root
	mkfifo fifo other
	id=$(stat -c %d:%i fifo)
	for value in "$(stat -c %d:%i other)" "${id}0" "${id%?}" 1 ''; do
		exec 9<>fifo
		TFS_NEXT_READER=$value background tfs-catpipe -R root >fifo 2>err 8>&- 9<&-
		eventually blocks "$PID"
		exec 9<&-
		finishes "$PID" 141
		exactly err ''
	done
	# shellcheck disable=SC2016 # the shell's own
	TFS_NEXT_READER=$id background "$BASH" -c \
		'tfs-catpipe -R root 8>&- | head -n 0; echo "${PIPESTATUS[0]}"' >out
	finishes "$PID" 0
	exactly out $'141\n'
}

@test "tfs-catpipe: plain directory: reports a full disk once it is stopped" {
	plain_root
	feed 'one\n'
	background tfs-catpipe -R root >/dev/full 2>err 8>&-
	eventually test -s err
	stops 111
	exactly err $'tfs-catpipe: fatal: unable to write the trace: No space left on device\n'
}

# whose TOOL WORD...: Check that TOOL refuses a missing instance and accepts "/".
whose() {
	local tool=$1 usage status name
	shift
	usage=$(synopsis "$tool")
	# hide tracefs from the tools, because other users share the kernel's top level
	export TRACER_SYSFS_PATH=$PWD/none TRACER_PROCFS_PATH=$PWD/none
	for name in unset '' '-i'; do
		unset TFS_INSTANCE
		[ "$name" = unset ] || export TFS_INSTANCE=''
		[ "$name" != -i ] || set -- "$@" -i ''
		status=0
		"$tool" "$@" "${OPERANDS[@]}" </dev/null >out 2>err || status=$?
		[ "$status" = 100 ]
		[ ! -s out ]
		lines_are err "$tool: fatal: no instance is named; use -i NAME, or -i / for the top level, which all users share; usage: $usage"
	done
	status=0
	TFS_INSTANCE='' "$tool" "$@" -i / "${OPERANDS[@]}" </dev/null >out 2>err || status=$?
	[ "$status" = 111 ]
	grep -q "no tracefs at $PWD/none/kernel/tracing" err
	unset TRACER_SYSFS_PATH TRACER_PROCFS_PATH
}

@test "tfs-catpipe, tfs-record, tfs-flight, blk-text, tfs-pidfilter: refuse an unset variable, and do not use the root instance" {
	mkdir none
	OPERANDS=()
	whose tfs-catpipe
	whose tfs-flight -L
	OPERANDS=(file)
	whose tfs-record
	[ ! -e file ]
	for command in set add remove; do
		OPERANDS=("$command" 1)
		whose tfs-pidfilter
	done
	OPERANDS=(mirror)
	whose tfs-pidfilter
	usage=$(synopsis blk-text)
	fails 100 "blk-text: fatal: no instance is named; use -i NAME, or -i / for the top level, which all users share; usage: $usage" \
		blk-text -i ''
}

@test "tfs-catpipe: plain directory: -i and TFS_INSTANCE choose the instance" {
	mkdir -p root/instances/one
	mkfifo root/instances/one/trace_pipe
	exec 8<>root/instances/one/trace_pipe
	catpipe -i one >out
	feed 'one\n'
	stops
	exactly out $'one\n'
	export TFS_INSTANCE=one
	catpipe >out
	feed 'two\n'
	stops
	exactly out $'two\n'
}

@test "tfs-catpipe: plain directory: -d: begins with the date, and says by how much the clocks moved apart" {
	plain_root
	before=$(now_us)
	catpipe -d >out
	feed 'one\n'
	eventually grep -qx one out
	after=$(now_us)
	between "$before" "$(date_of out 3865.559362)" "$after"
	[ "$(sed 1d out)" = one ]
	sed 's/^now ts: .*/now ts:   265.559362/' root/per_cpu/cpu0/stats >stats
	cp stats root/per_cpu/cpu0/stats
	stops
	ended=$(now_us)
	file_has 3 out
	moved=$(sed -n "3s/^# the time of day moved by \([0-9]*\) ms against the trace's clock$/\1/p" out)
	[ "$moved" -ge 3600000 ]
	[ "$moved" -le $((3600001 + (ended - before) / 1000)) ]
	exactly err ''
}

@test "tfs-catpipe: plain directory: -d: works if the trace clock is ahead of the time of day" {
	plain_root
	# by a century, as if the clock of the machine was at 1970
	sed 's/^now ts: .*/now ts: 4954870400.000000/' root/per_cpu/cpu0/stats >stats
	cp stats root/per_cpu/cpu0/stats
	before=$(now_us)
	catpipe -d >out
	stops
	after=$(now_us)
	between "$before" "$(date_of out 4954870400.000000)" "$after"
}

@test "tfs-catpipe: -d refuses a trace clock that counts no seconds" {
	plain_root
	echo 'now ts: 3865559362' >root/per_cpu/cpu0/stats
	for more in '' -k; do
		fails 111 "tfs-catpipe: fatal: unable to tell the date: trace_clock does not count seconds; choose another" \
			tfs-catpipe -R root -d $more
	done
	rm root/per_cpu/cpu0/stats
	fails 111 "tfs-catpipe: fatal: unable to tell the date: trace_clock does not count seconds; choose another" \
		tfs-catpipe -R root -d
}

@test "tfs-catpipe: kernel: -d: tells the time of day of an event, in text and JSON, and -d alone adds one line" {
	new_instance
	for clock in local mono boot; do
		echo "$clock" >"$DIR/trace_clock" 2>/dev/null || lacks "clock $clock"
		for form in -d -dj; do
			reading $form >out
			before=$(now_us)
			echo 'a mark' >"$DIR/trace_marker"
			after=$(now_us)
			eventually grep -q 'a mark' out
			ends_by "$CATPIPE" TERM 0
			# local runs a little faster or slower than the time of day
			[ $clock = local ] || ! grep -q moved out
			if [ $form = -d ]; then
				[ "$(grep -vc moved out)" = 2 ]
				[[ $(head -n 1 out) = '# date: '* ]]
				time=$(sed -n 's/.* \([0-9]*\.[0-9]*\): tracing_mark_write: a mark$/\1/p' out)
				between "$before" "$(date_of out "$time")" "$after"
			else
				[ "$(grep -vc moved out)" = 1 ]
				nano=$(sed -n 's/^{"ts":[0-9.]*,"timeUnixNano":"\([0-9]*\)","cpu":.*/\1/p' out)
				between "$before" "$((nano / 1000))" "$after"
			fi
		done
	done
}

@test "tfs-catpipe: kernel: -d: the date line follows those of -H, and -k can have it" {
	new_instance
	reading -dH >out
	eventually [ -s out ]
	ends_by "$CATPIPE" TERM 0
	[ "$(head -n 1 out)" = '# tracer: nop' ]
	[[ $(grep -v -e moved -e '^# traced: all$' out | tail -n 1) = '# date: '* ]]
	reading -dk >out
	eventually [ -s out ]
	ends_by "$CATPIPE" TERM 0
	[[ $(grep -v moved out) = '# date: '* ]]
}

@test "tfs-catpipe: kernel: prints N lines for N calls" {
	recording 20000 8192
	reading >got
	release "$CALLS"
	ends_by "$CATPIPE" TERM 0
	[ "$(delivered got)" = 20000 ]
	file_has 20000 got
	exactly err ''
}

@test "tfs-catpipe: kernel: prints N lines for N calls through a pipe" {
	recording 20000 8192
	mkfifo fifo
	background cat fifo >got
	local reader=$PID
	reading >fifo
	release "$CALLS"
	ends_by "$CATPIPE" INT 0
	finishes "$reader" 0
	[ "$(delivered got)" = 20000 ]
	file_has 20000 got
}

@test "tfs-catpipe: kernel: -l: prints N lines for N calls to a reader that keeps one line of each 4096 bytes" {
	recording 20000 8192
	mkfifo fifo
	background "$PROG/caller" fifo >got
	local reader=$PID
	reading -l -w 20000 >fifo
	release "$CALLS"
	ends_by "$CATPIPE" TERM 0
	finishes "$reader" 0
	[ "$(delivered got)" = 20000 ]
	file_has 20000 got
}

@test "tfs-catpipe: plain directory: counts entries that are missing from the buffer as not written" {
	plain_root
	mkdir -p root/events/ftrace/print
	echo nop >root/current_tracer
	printf '\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:112;\tsigned:0;\n' >root/events/header_page
	mkfifo root/per_cpu/cpu0/trace_pipe_raw root/per_cpu/cpu1/trace_pipe_raw
	exec 6<>root/per_cpu/cpu0/trace_pipe_raw 7<>root/per_cpu/cpu1/trace_pipe_raw
	stats 0 5 0 0 160
	catpipe >got 6>&- 7>&-
	stops
	file_is got "# lost 165 events: 5 overwritten in a full buffer, 160 not written"
	[ ! -s err ]
}

@test "tfs-catpipe: kernel: delivered and lost events add up with a small buffer" {
	recording 20000 8
	release "$CALLS"
	reading >got
	ends_by "$CATPIPE" TERM 0
	[ "$(lost got)" -gt 0 ]
	[ $(($(delivered got) + $(lost got))) = 20000 ]
	[ "$(tail -n 1 got)" = "# lost $(lost got) events: $(lost got) overwritten in a full buffer, 0 not written" ]
}

@test "tfs-catpipe: kernel: delivered and lost events add up with a small buffer and a busy reader" {
	recording 100000 8
	reading >got
	release "$CALLS"
	ends_by "$CATPIPE" TERM 0
	[ $(($(delivered got) + $(lost got))) = 100000 ]
}

# bursts N: Make 20,000 events N times on one CPU, whose buffer holds them once. Wait each time until
# tfs-catpipe has taken them, as far as it can.
bursts() {
	local i
	for ((i = 0; i < $1; i++)); do
		hold taskset -c "$CPU" "$PROG/calls" 20000
		tfs-pidfilter -i "$INSTANCE" set "$HELD"
		release "$HELD"
		[ "$2" = loses ] || eventually taken
	done
}

# Has tfs-catpipe taken nearly all that the buffer had?
taken() {
	[ "$(awk '/^entries: / { n += $2 } END { print n + 0 }' "$DIR"/per_cpu/cpu*/stats)" -lt 200 ]
}

# in_memory NAME: Print this line of the status of tfs-catpipe, in KB.
in_memory() {
	awk -v name="$1:" '$1 == name { print $2 }' "/proc/$CATPIPE/status"
}

is_small() {
	[ "$(in_memory VmRSS)" -le $((small + 1024)) ]
}

# instance_for_bursts [FILE VALUE]...: Make an instance that records the getppid of its tasks.
instance_for_bursts() {
	new_instance
	[ -e "$DIR/events/syscalls" ] || lacks events/syscalls
	need_tool taskset
	CPU=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	tfs-pidfilter -i "$INSTANCE" set $$
	tfs-write -i "$INSTANCE" buffer_size_kb 512 events/syscalls/sys_enter_getppid/enable 1 "$@"
}

# burst_to_nobody ARGUMENT...: Start tfs-catpipe with a reader that takes nothing.
burst_to_nobody() {
	rm -f fifo
	mkfifo fifo
	exec 9<>fifo
	reading "$@" >fifo 9<&-
	small=$(in_memory VmRSS)
}

# bursts_read: Read all, stop tfs-catpipe, and set kept and gone: the events that came, and the lost.
bursts_read() {
	background cat <fifo >got 9<&-
	local reader=$PID
	exec 9<&-
	kill -TERM "$CATPIPE"
	all_end "$CATPIPE" "$reader"
	exactly err ''
	kept=$(delivered got) gone=$(lost got)
	[ "$1" = "$((kept + gone))" ]
}

@test "tfs-catpipe: kernel: keeps what comes while its reader takes nothing, and then gives the memory back" {
	instance_for_bursts
	burst_to_nobody
	bursts 10 keeps
	[ "${TFS_VARIANT-}" = sanitize ] || [ "$(in_memory VmRSS)" -ge $((small + 3000)) ]
	background cat <fifo >got 9<&-
	local reader=$PID
	exec 9<&-
	[ "${TFS_VARIANT-}" = sanitize ] || eventually is_small
	kill -TERM "$CATPIPE"
	all_end "$CATPIPE" "$reader"
	exactly err ''
	[ "$(delivered got)" = 200000 ]
	[ "$(lost got)" = 0 ]
	# in the order of time, of one thread
	awk '{ t = $4 + 0; if (t < last) exit 1; last = t }' got
}

@test "tfs-catpipe: kernel: -M limits the events that it keeps for its reader; they and lost ones add up" {
	local few=0
	for kb in 0 1024; do
		instance_for_bursts
		burst_to_nobody -M $kb
		bursts 10 loses
		[ "${TFS_VARIANT-}" = sanitize ] ||
			[ "$(in_memory VmRSS)" -le $((small + kb + 1024)) ]
		bursts_read 200000
		[ "$gone" -gt 0 ]
		tfs-instance remove "$INSTANCE"
		[ "$kept" -gt $((few + 20000)) ] # of 20 bytes
		few=$kept
	done
}

@test "tfs-catpipe: kernel: -jF: tells a late reader what the kernel told of each end of a process" {
	[ "${TFS_VARIANT-}" != valgrind ] || skip "needs taskstats, which valgrind lacks"
	instance_for_bursts options/event-fork 1 events/task/task_newtask/enable 1 \
		events/sched/sched_process_exit/enable 1
	burst_to_nobody -jF
	# shellcheck disable=SC2016 # sh expands it
	hold sh -c 'echo ready; read -r _; "$0" 20000 </dev/null >/dev/null
		for i in 1 2 3 4 5 6; do read -r _; (exit $i); done' "$PROG/calls"
	tfs-pidfilter -i "$INSTANCE" set "$HELD"
	release # the text of so many calls does not fit into the FIFO
	for _ in 1 2 3 4 5 6; do
		eventually taken
		release
	done
	finishes "$HELD" 6
	eventually taken
	bursts_read 0
	[ "$(sed -n 's/.*"exit_code":\([0-9]*\),.*"parent":'"$HELD"',"uid":0,"cpu_least_ns":[0-9]*,"age_us":[0-9]*}}$/\1/p' got |
		tr '\n' ' ')" = '0 256 512 768 1024 1280 1536 ' ]
}

@test "tfs-catpipe: kernel: without memory for more events it goes on; they and lost ones add up" {
	case ${TFS_VARIANT-} in sanitize | valgrind) skip "needs the address space of the plain build" ;; esac
	instance_for_bursts
	burst_to_nobody
	local kb
	kb=$(in_memory VmSize)
	bursts_read 0
	tfs-instance remove "$INSTANCE"
	instance_for_bursts
	ulimit -S -v $((kb + 3000))
	burst_to_nobody
	ulimit -S -v unlimited
	bursts 10 loses
	bursts_read 200000
	[ "$gone" -gt 0 ]
	[ "$kept" -gt 60000 ]
}

@test "tfs-catpipe: kernel: -s: keeps the file below the limit, and delivered and lost events add up" {
	recording 20000 8192
	reading -s 64 >got
	release "$CALLS"
	ends_by "$CATPIPE" TERM 0
	[ "$(stat -c %s got)" -le 65536 ]
	[ "$(stat -c %s got)" -gt 64000 ]
	[ "$(lost got)" -gt 0 ]
	[ $(($(delivered got) + $(lost got))) = 20000 ]
}

@test "tfs-catpipe: kernel: prints the events from before its start" {
	recording 100
	release "$CALLS"
	tfs-write -i "$INSTANCE" tracing_on 0
	reading >got
	ends_by "$CATPIPE" USR1 0
	[ "$(delivered got)" = 100 ]
}

@test "tfs-catpipe: kernel: reads no sub-buffer of a buffer that has no entry" {
	need_strace
	recording 1000
	tfs-write -i "$INSTANCE" tracing_on 1
	background strace -D -y -qq -o log -e trace=read,pread64 tfs-catpipe -i "$INSTANCE" >got 2>err
	eventually blocks "$PID"
	release "$CALLS"
	eventually test -s got
	stops
	[ "$(delivered got)" = 1000 ]
	grep -q 'read(.*trace_pipe_raw>.* = [1-9]' log
	run -1 grep 'trace_pipe_raw.*EAGAIN' log
}

@test "tfs-catpipe: kernel: prints nothing for an instance without events, and sleeps meanwhile" {
	new_instance
	reading >got
	eventually grep -q 'State:.*S' "/proc/$CATPIPE/status"
	settled() {
		local before
		before=$(grep ctxt "/proc/$CATPIPE/status")
		sigwait-run -t 30 || :
		[ "$(grep ctxt "/proc/$CATPIPE/status")" = "$before" ]
	}
	eventually settled
	ends_by "$CATPIPE" HUP 0
	exactly got ''
	exactly err ''
}

@test "tfs-catpipe: kernel: the instance can be removed after it has ended" {
	new_instance
	reading >got
	ends_by "$CATPIPE" TERM 0
	tfs-instance remove -t 0 "$INSTANCE"
}

# ---- names ------------------------------------------------------------------------

# Make an instance that follows a shell, which makes 300 short-lived tasks of two
# names once it is released.
short_lives() {
	new_instance
	[ -e "$DIR/events/syscalls" ] || lacks events/syscalls
	cp "$(command -v busybox)" ./busybox-short
	mkfifo gate
	# shellcheck disable=SC2016 # for the inner shell
	background sh -c 'read -r _
		for i in $(seq 100); do (exit 0); ./busybox-short true; ./busybox-short true; done' <>gate
	SHELL_PID=$PID
	# the filter first: a task of another program that ends before it is set has no name
	tfs-write -i "$INSTANCE" options/event-fork 1
	tfs-pidfilter -i "$INSTANCE" set "$SHELL_PID"
	tfs-write -i "$INSTANCE" events/syscalls/sys_enter_exit_group/enable 1
}

@test "tfs-catpipe: kernel: prints the thread group as the kernel does if record-tgid is set" {
	new_instance
	[ -e "$DIR/events/syscalls" ] || lacks events/syscalls
	tfs-write -i "$INSTANCE" options/record-tgid 1
	calls 10
	tfs-pidfilter -i "$INSTANCE" set "$CALLS"
	tfs-write -i "$INSTANCE" events/syscalls/sys_enter_getppid/enable 1
	release "$CALLS"
	grep -v '^#' "$DIR/trace" >theirs
	grep -q "($(printf %7d "$CALLS")) " theirs
	background tfs-catpipe -i "$INSTANCE" >got
	eventually blocks "$PID"
	ends_by "$PID" TERM 0
	diff theirs got
}

@test "tfs-catpipe: with -n it prints the name of every task, even of short-lived tasks" {
	command -v busybox >/dev/null || lacks busybox
	short_lives
	background tfs-catpipe -n -i "$INSTANCE" >got
	reader=$PID
	# when it prints a line, it has read the names of the tasks that exist
	echo begin >"$DIR/trace_marker"
	eventually grep -q 'tracing_mark_write: begin$' got
	echo >gate
	finishes "$SHELL_PID" 0
	ends_by "$reader" TERM 0
	sed 1d got >calls
	run ! grep -F '<...>' calls
	[ "$(grep -c '^ *busybox-short-' calls)" = 200 ]
	[ "$(wc -l <calls)" = 302 ] # and 100 of (exit 0), one of seq's and one of the shell
	run ! grep -v 'sys_exit_group' calls
}

@test "tfs-catpipe: -n restores the enable files of name events; without -n these events are printed" {
	new_instance
	local me=$BASHPID was
	for was in 0 1; do
		tfs-write -i "$INSTANCE" events/task/task_rename/enable "$was"
		background tfs-catpipe -n -i "$INSTANCE" >hidden
		eventually grep -q 1 "$DIR/events/task/task_newtask/enable"
		# the instance follows this shell, which is renamed and renamed back
		tfs-pidfilter -i "$INSTANCE" add "$me"
		printf renamed >"/proc/$me/comm"
		printf bats >"/proc/$me/comm"
		ends_by "$PID" TERM 0
		file_is "$DIR/events/task/task_newtask/enable" 0
		file_is "$DIR/events/task/task_rename/enable" "$was"
		[ ! -s hidden ]
	done
	tfs-write -i "$INSTANCE" events/task/enable 1
	background tfs-catpipe -i "$INSTANCE" >got
	eventually blocks "$PID"
	printf renamed >"/proc/$me/comm"
	printf bats >"/proc/$me/comm"
	ends_by "$PID" TERM 0
	[ "$(grep -c "^ *renamed-$me .*oldcomm=bats newcomm=renamed" got)" = 1 ]
	[ "$(grep -c "^ *bats-$me .*oldcomm=renamed newcomm=bats" got)" = 1 ]
}

# ---- choice and form of events; t/record/tfs-report.bats tests the options ----

@test "tfs-catpipe: kernel: offers only -j where only the kernel can print the lines" {
	recording 100
	[ -e "$DIR/options/sym-addr" ] || lacks options/sym-addr
	tfs-write -i "$INSTANCE" options/sym-addr 1
	for option in '-e x' '-p 1' '-t 1-' -H; do
		# shellcheck disable=SC2086 # two words
		fails 111 "tfs-catpipe: fatal: unable to select or format events: current_tracer is not nop, or trace_options change lines; reset them" \
			tfs-catpipe -i "$INSTANCE" $option
	done
	release "$CALLS"
	reading -j >got
	ends_by "$CATPIPE" TERM 0
	[ "$(grep -c '"event":"sys_enter_getppid","fields":{' got)" = 100 ]
}

# under TRACER OPTION: Record a mark and the files that cat opens, with the tracer and the option, and
# compare what tfs-catpipe prints with `trace`. Do nothing if the kernel does not have the option.
under() {
	echo nop >"$DIR/current_tracer"
	echo "$1" >"$DIR/current_tracer"
	grep -qw "no${2#no}\|${2#no}" "$DIR/trace_options" || return 0
	echo "$2" >"$DIR/trace_options"
	# not the tasks of other programs, whose names the kernel may forget meanwhile
	echo $$ $BASHPID >"$DIR/set_event_pid"
	tfs-write -i "$INSTANCE" options/event-fork 1 events/syscalls/sys_enter_openat/enable 1 \
		tracing_on 1
	cat /dev/null
	echo 'a mark' >"$DIR/trace_marker"
	tfs-write -i "$INSTANCE" tracing_on 0 events/syscalls/sys_enter_openat/enable 0
	grep -v '^#' "$DIR/trace" >theirs
	reading >got
	ends_by "$CATPIPE" TERM 0
	echo "option $2 of $1:"
	diff theirs <(grep -v '^#' got)
	grep -q 'a mark' got
	tried="$tried $1:$2"
	case $2 in
	no*) echo "${2#no}" >"$DIR/trace_options" ;;
	*) echo "no$2" >"$DIR/trace_options" ;;
	esac
}

# options TRACER: Try the options that change lines of the tracer.
options() {
	local option tried=
	for option in sym-offset nocontext-info noprint-parent printk-msg-only userstacktrace \
		bitmask-list func-args; do
		under "$1" "$option"
	done
	[[ $tried == *" $1:noprint-parent $1:printk-msg-only"* ]]
}

@test "tfs-catpipe: kernel: prints the lines of the kernel's trace with each option that changes them" {
	need_tracefs events/syscalls
	new_instance
	tfs-write -i "$INSTANCE" tracing_on 0
	tfs-pidfilter -i "$INSTANCE" set $$
	options nop
}

# bats test_tags=guest
@test "tfs-catpipe: kernel: prints calls of functions as the kernel's trace, with each option" {
	need_tracefs set_ftrace_filter
	head -c 1 "$TRACEFS/set_ftrace_filter" >first 2>/dev/null || skip "needs set_ftrace_filter, which is locked"
	new_instance
	tfs-write -i "$INSTANCE" tracing_on 0
	tfs-pidfilter -i "$INSTANCE" set $$
	tfs-pidfilter -i "$INSTANCE" mirror
	tfs-write -i "$INSTANCE" set_ftrace_filter vfs_open
	options function
	grep -q ' vfs_open' theirs
}

@test "tfs-catpipe: kernel: -e, -p and -t pass the chosen events, and do not count the others as lost" {
	recording 20000 8192
	tfs-write -i "$INSTANCE" events/syscalls/sys_exit_getppid/enable 1
	release "$CALLS"
	reading -e 'sys_enter*' -p "1,$CALLS" -t 0- >got
	ends_by "$CATPIPE" TERM 0
	[ "$(delivered got)" = 20000 ]
	file_has 20000 got
	exactly err ''
}

@test "tfs-catpipe: kernel: -e prints the stacks of chosen events only, and -n hides those of name events" {
	need_tracefs options/stacktrace
	new_instance
	tfs-write -i "$INSTANCE" options/stacktrace 1 options/event-fork 1
	calls 1 1 5
	tfs-pidfilter -i "$INSTANCE" set "$CALLS"
	tfs-event -i "$INSTANCE" sched_process_fork sched_process_exit
	reading -n -e sched_process_fork >got
	release "$CALLS"
	ends_by "$CATPIPE" TERM 0
	[ "$(grep -c ': sched_process_fork: ' got)" = 5 ]
	[ "$(grep -c '<stack trace>' got)" = 5 ]
	[ "$(grep -c ': ' got)" = 10 ]
}

# stacks PROGRAM ARGUMENT...: Record the stacks of the getppid calls of PROGRAM, an acts callers 3 2
# that waits at its end, as tfs-catpipe with the ARGUMENTs prints them in got.
stacks() {
	[ "$(uname -m)" = x86_64 ] || skip "needs stacks of programs, as x86_64 has them"
	need_tracefs events/syscalls
	need_tracefs options/userstacktrace
	new_instance
	hold "$1" callers 3 2
	ACT=$HELD
	tfs-pidfilter -i "$INSTANCE" set "$ACT"
	tfs-write -i "$INSTANCE" options/userstacktrace 1 events/syscalls/sys_enter_getppid/enable 1
	reading "${@:2}" >got
	release
	all_read() { [ "$(grep -c '<user stack trace>' got)" = 5 ]; }
	eventually all_read
	ends_by "$CATPIPE" TERM 0
	echo >"$GO"
	finishes "$ACT" 0
	head -n 6 got # for a test that fails
}

@test "tfs-catpipe: kernel: -f: names the functions of a program's stack, the place in them, and the file" {
	stacks "$PROG/acts" -n -f
	[ "$(grep -c "^ => acts_often+0x[0-9a-f]* ($PROG/acts)$" got)" = 3 ]
	[ "$(grep -c "^ => acts_rarely+0x[0-9a-f]* ($PROG/acts)$" got)" = 2 ]
	[ "$(grep -c "^ => main+0x[0-9a-f]* ($PROG/acts)$" got)" = 5 ]
	[ "$(grep -c '<user stack trace>' got)" = 5 ]
	[ "$(grep -c ' => .*<' got)" = 0 ]
}

@test "tfs-catpipe: kernel: without -f, a program's stack has addresses, as the kernel prints it" {
	stacks "$PROG/acts"
	[ "$(grep -c '^ => ' got)" -ge 15 ]
	[ "$(grep '^ => ' got | grep -Evc '^ =>  <[0-9a-f]{16}>$')" = 0 ]
}

@test "tfs-catpipe: kernel: -f: names the functions of a file that was deleted, and not those of its successor" {
	cp "$PROG/acts" mine
	before() { # delete the file while the program waits
		rm mine
		cp "$PROG/calls" mine
	}
	eval "$(declare -f release | sed 's/^release/released/')"
	release() { before; released; }
	stacks "$PWD/mine" -n -f
	[ "$(grep -c "^ => acts_often+0x[0-9a-f]* ($PWD/mine?(deleted))$" got)" = 3 ]
	[ "$(grep -c "^ => main+0x" got)" = 5 ]
}

@test "tfs-catpipe: kernel: -f: prints the place in a file that was stripped" {
	need_tool strip
	strip -o mine "$PROG/acts"
	stacks "$PWD/mine" -n -f
	[ "$(grep -c "^ => $PWD/mine:0x[0-9a-f]*$" got)" -ge 10 ]
	[ "$(grep -c 'acts_often\|main' got)" = 0 ]
}

@test "tfs-catpipe: kernel: -f: the name of a function forges no line and no field" {
	need_tool objcopy
	objcopy --redefine-sym "acts_often=a \"b;c=d\\"$'\n'"e@f" "$PROG/acts" mine
	stacks "$PWD/mine" -n -f
	[ "$(grep -c "^ => a??b?c?d??e+0x[0-9a-f]* ($PWD/mine)$" got)" = 3 ]
}

@test "tfs-catpipe: kernel: -f: leaves the addresses of a task that ended unseen, and of another program's memory" {
	[ "$(uname -m)" = x86_64 ] || skip "needs stacks of programs, as x86_64 has them"
	need_tracefs events/syscalls
	new_instance
	act callers 3 2
	tfs-pidfilter -i "$INSTANCE" set "$ACT"
	tfs-write -i "$INSTANCE" options/userstacktrace 1 events/syscalls/sys_enter_getppid/enable 1
	release
	echo >"$GO"
	finishes "$ACT" 0
	background tfs-catpipe -i "$INSTANCE" -n -f >got
	local catpipe=$PID
	ended() { [ "$(grep -c 'sys_getppid()' got)" = 5 ]; }
	eventually ended
	ends_by "$catpipe" TERM 0
	[ "$(grep -c '^ => ' got)" -ge 10 ]
	[ "$(grep '^ => ' got | grep -Evc '^ =>  <[0-9a-f]{16}>$')" = 0 ]
}

@test "tfs-catpipe: kernel: -f: names the functions of programs that had ended before it read their stacks" {
	[ "$(uname -m)" = x86_64 ] || skip "needs stacks of programs, as x86_64 has them"
	[ -e /proc/sys/kernel/perf_event_paranoid ] || skip "needs perf_event_open(2)"
	need_tracefs events/syscalls
	new_instance
	cp "$PROG/acts" first
	cp "$PROG/acts" second
	hold sh -c 'echo ready; read -r _; for i in 1 2 3 4 5; do printf "\n\n" | ./first callers 3 2
		done >/dev/null; printf "\n\n" >two; exec ./second callers 1 2 <two >/dev/null'
	tfs-write -i "$INSTANCE" options/userstacktrace 1 options/event-fork 1
	tfs-pidfilter -i "$INSTANCE" set "$HELD"
	tfs-write -i "$INSTANCE" events/syscalls/sys_enter_getppid/enable 1
	reading -n -f >got
	# both mappings of the ring buffer of each CPU
	listens() { [ "$(grep -c perf_event "/proc/$CATPIPE/maps")" = $((2 * $(getconf _NPROCESSORS_ONLN))) ]; }
	eventually listens
	kill -STOP "$CATPIPE"
	release
	finishes "$HELD" 0
	kill -CONT "$CATPIPE"
	ends_by "$CATPIPE" TERM 0
	cat got # for a test that fails
	[ "$(grep -c "^ => acts_often+0x[0-9a-f]* ($PWD/first)$" got)" = 15 ]
	[ "$(grep -c "^ => acts_rarely+0x[0-9a-f]* ($PWD/first)$" got)" = 10 ]
	[ "$(grep -c "^ => main+0x[0-9a-f]* ($PWD/first)$" got)" = 25 ]
	[ "$(grep -c "^ => acts_often+0x[0-9a-f]* ($PWD/second)$" got)" = 1 ]
	[ "$(grep -c "^ => acts_rarely+0x[0-9a-f]* ($PWD/second)$" got)" = 2 ]
}

@test "tfs-catpipe: kernel: -f: a task that begins another program has the functions of that program" {
	[ "$(uname -m)" = x86_64 ] || skip "needs stacks of programs, as x86_64 has them"
	need_tracefs events/syscalls
	new_instance
	cp "$PROG/acts" first
	cp "$PROG/acts" second
	mkfifo go
	# the shell's process becomes the first program, and a child of it the second
	background sh -c 'read -r _; ./first callers 2 0; exec ./second callers 0 3' <>go >ready
	local shell=$PID
	tfs-write -i "$INSTANCE" options/userstacktrace 1 options/event-fork 1
	tfs-pidfilter -i "$INSTANCE" set "$shell"
	tfs-write -i "$INSTANCE" events/syscalls/sys_enter_getppid/enable 1
	background tfs-catpipe -i "$INSTANCE" -n -f >got
	local catpipe=$PID
	eventually blocks "$catpipe"
	echo >go
	begun() { [ "$(grep -c ready ready)" = "$1" ]; }
	named() { [ "$(grep -c '^ => main' got)" = "$1" ]; }
	for n in 1 2; do
		eventually begun "$n"
		echo >go # let it call
		eventually named $((3 * n - 1))
		echo >go # let it end
	done
	finishes "$shell" 0
	ends_by "$catpipe" TERM 0
	cat got
	[ "$(grep -c "^ => acts_often+0x[0-9a-f]* ($PWD/first)$" got)" = 2 ]
	[ "$(grep -c "^ => acts_rarely+0x[0-9a-f]* ($PWD/second)$" got)" = 3 ]
}

@test "tfs-catpipe: kernel: -s with -e: counts delivered events, and lost events that -e chose" {
	recording 20000 8192
	tfs-write -i "$INSTANCE" events/syscalls/sys_exit_getppid/enable 1
	reading -s 64 -e sys_enter_getppid >got
	release "$CALLS"
	ends_by "$CATPIPE" TERM 0
	[ "$(stat -c %s got)" -le 65536 ]
	[ "$(lost got)" -gt 0 ]
	[ $(($(delivered got) + $(lost got))) = 20000 ]
}

@test "tfs-catpipe: kernel: -j: prints one JSON line at a time, and the lost events at the end" {
	recording 20000 8192
	mkfifo fifo
	background "$PROG/caller" fifo >got
	local reader=$PID
	reading -j -l -s 1000 -w 20000 >fifo
	release "$CALLS"
	ends_by "$CATPIPE" TERM 0
	finishes "$reader" 0
	n=$(grep -cx '{"ts":[0-9]*\.[0-9]\{9\},"cpu":[0-9]*,"pid":'"$CALLS"',"comm":"calls","system":"syscalls","event":"sys_enter_getppid","fields":{"__syscall_nr":[0-9]*}}' got)
	[ "$n" -gt 1000 ]
	left=$((20000 - n))
	[ "$(tail -n 1 got)" = "{\"lost\":$left,\"overwritten\":0,\"unwritten\":$left}" ]
	[ "$(wc -l <got)" = $((n + 1)) ]
}

@test "tfs-catpipe: kernel: -H: prints the comment lines of trace first" {
	recording 10
	release "$CALLS"
	sed -n '/^#/p' "$DIR/trace" | sed 's,: [0-9]*/[0-9]* .*,: 0/0,' >theirs
	reading -H >got
	ends_by "$CATPIPE" TERM 0
	sed -n '/^#/p' got | grep -v '^# traced: ' | sed 's,: [0-9]*/[0-9]* .*,: 0/0,' | diff theirs -
	# no line if the task had ended before
	run -1 grep -Evx "# traced: $CALLS( calls)?" <(grep "^# traced" got)
	[ "$(delivered got)" = 10 ]
	[ "$(head -n 1 got)" = '# tracer: nop' ]
}

# marked ARGUMENT...: Write marks that hold newlines, and read them into got.
marked() {
	reading "$@" >got
	local mark
	for mark in 'one\n# lost 9 events: 9\ntwo\tand\033[31m\177\n' 'none after it\0not read\n' \
		'last\n\n' 'plain\n'; do
		# shellcheck disable=SC2059 # a format of nothing but escapes
		printf "$mark" >mark
		cat mark >"$DIR/trace_marker" # a shell writes it line by line
	done
	ends_by "$CATPIPE" TERM 0
	file_is err ''
	sed -i 's/^.*: tracing_mark_write: /MARK: /' got
}

@test "tfs-catpipe: kernel: prints a mark as one line, with \\n, \\t and \\x1b in it" {
	need_tracefs trace_marker
	new_instance
	marked
	diff - got <<-'END'
	MARK: one\n# lost 9 events: 9\ntwo\tand\x1b[31m\x7f
	MARK: none after it
	MARK: last\n
	MARK: plain
	END
}

@test "tfs-catpipe: kernel: -x: prints a mark as trace_pipe does" {
	need_tracefs trace_marker
	new_instance
	marked -x
	exactly got $'MARK: one\n# lost 9 events: 9\ntwo\tand\033[31m\177\nMARK: last\n\nMARK: plain\n'
}

@test "tfs-catpipe: kernel: -j: prints a mark as the original string" {
	need_tracefs trace_marker
	new_instance
	marked -j
	[ "$(sed -n '1s/.*"buf"://p' got)" = '"one\n# lost 9 events: 9\ntwo\tand\u001b[31m\u007f\n"}}' ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# trace.dat: lib/tracedat reads versions 6 and 7, whole and damaged; datinfo prints what it reads

load ../helper

CORPUS=$TREE/t/fuzz/corpus/tracedat

datinfo() {
	"$PROG/datinfo" "$@"
}

# sees FILE LINE...: Fail unless these are the lines of datinfo that begin with version,
# layout, format, buffer or cpu.
sees() {
	datinfo "$1" >seen
	grep -E '^(version|layout|format|buffer|cpu) ' seen >got
	printf '%s\n' "${@:2}" | diff - got
}

# refused FILE WORDS: Fail unless datinfo refuses FILE with one line of WORDS.
refuses() {
	fails 111 "datinfo: fatal: $1 $2" datinfo "$1"
}

# bytes FILE OFFSET BYTES: Overwrite FILE at OFFSET; BYTES are in the form of printf.
bytes() {
	# shellcheck disable=SC2059 # it is a format
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

@test "trace.dat: version 6 is read as tfs-record writes it" {
	cp "$CORPUS/v6" file
	sees file 'version 6' 'layout 128 16 8 little' 'format ftrace:print 26' \
		'format one:two 24' "buffer '' local 128" 'cpu 0 2 7' 'cpu 1 1 5'
}

@test "trace.dat: version 7 is read as trace-cmd writes it" {
	cp "$CORPUS/v7" file
	sees file 'version 7' 'layout 128 16 8 little' 'format ftrace:print 26' \
		'format one:two 24' "buffer '' local 128" 'cpu 0 2 7' 'cpu 1 1 5'
}

@test "trace.dat: a big-endian file of a 32-bit kernel with an instance is read" {
	cp "$CORPUS/v6-big" big
	cp "$CORPUS/v6-instance" little
	for order in big little; do
		sees $order 'version 6' "layout 128 12 4 $order" 'format ftrace:two 24' \
			'format one:two 24' "buffer '' local 128" 'cpu 0 1 3' 'cpu 1 0 0' \
			"buffer 'ins' local 128" 'cpu 0 1 4' 'cpu 1 1 14'
	done
}

@test "trace.dat: a file without any event is read" {
	cp "$CORPUS/v6-empty" file
	sees file 'version 6' 'layout 128 16 8 little' 'format ftrace:print 26' \
		'format one:two 24' "buffer '' local 128" 'cpu 0 0 0' 'cpu 1 0 0'
}

@test "trace.dat: a file that is not a trace.dat is named" {
	: >empty
	echo 'some text that is longer than the magic' >text
	refuses empty 'is not a trace.dat; tfs-run -o NAME.dat records one'
	refuses text 'is not a trace.dat; tfs-run -o NAME.dat records one'
	refuses . 'is not a regular file'
	mkfifo fifo
	refuses fifo 'is not a regular file'
	fails 111 'datinfo: fatal: unable to open nowhere: No such file or directory' \
		datinfo nowhere
	cp "$CORPUS/v9" file
	refuses file 'is a trace.dat of version 9; only 6 and 7 are supported'
}

@test "trace.dat: a compressed file is refused, and the algorithm is named" {
	cp "$CORPUS/v7-zstd" file
	refuses file 'is compressed by zstd: convert it with trace-cmd convert --file-version 6'
}

@test "trace.dat: a file of a latency tracer is refused" {
	cp "$CORPUS/v6-latency" file
	refuses file "is damaged: it has a latency tracer's text, and no sub-buffers"
}

@test "trace.dat: impossible numbers are named" {
	cp "$CORPUS/v6" file
	bytes file 14 '\1\0\0\0'
	refuses file 'is damaged: the size of its sub-buffers is not valid'
	cp "$CORPUS/v6" file
	bytes file 18 'x'
	refuses file 'is damaged: no header_page'
	cp "$CORPUS/v6" file
	bytes file 30 '\377\377\377\377\377\377\377\377'
	refuses file 'ends in its header_page: it is damaged, or was cut short'
}

# The names of sections follow the last option of a version 7 file. Only people read
# them, so a file without them is complete.
@test "trace.dat: a file cut short anywhere prints its events and at most one error line" {
	for version in v6 v7; do
		size=$(stat -c %s "$CORPUS/$version")
		whole=$size
		[ $version = v6 ] ||
			whole=$(($(offset_of headers "$CORPUS/v7") - 16))
		"$PROG/cuts" cut 13 "$CORPUS/$version" "$PROG/datinfo" part >runs
		read -r n status bytes hash lines line < <(tail -n 1 runs) # the whole file
		[ "$n $status $lines" = "$size 0 0" ]
		datinfo "$CORPUS/$version" >all
		[ "$bytes" = "$(stat -c %s all)" ]
		like="$bytes $hash"
		while read -r n status bytes hash lines line; do
			case $status in
			0) [ "$n" -ge "$whole" ] && [ "$lines" = 0 ] && [ "$bytes $hash" = "$like" ] ;;
			111) [ "$n" -lt "$whole" ] && [ "$lines" = 1 ] &&
				[[ $line == "datinfo: fatal: part "* ]] ;;
			*) false ;;
			esac || { echo "$version cut to $n: $status $line"; return 1; }
		done <runs
	done
}

@test "trace.dat: the remaining sub-buffers of a file that was cut short are read" {
	# the last of two sub-buffers, which is CPU 1's, and the one before it
	head -c 2303 "$CORPUS/v6" >short
	run -111 --separate-stderr datinfo short
	# shellcheck disable=SC2154 # run sets it
	[ "$stderr" = "datinfo: fatal: short ends in the sub-buffers of cpu 1: it was cut short, or the recording was killed" ]
	[[ $output = *$'\ncpu 0 2 7\ncpu 1 0 0' ]]
	head -c 2000 "$CORPUS/v6" >short
	run -111 --separate-stderr datinfo short
	[ "$stderr" = "datinfo: fatal: short ends in the sub-buffers of cpu 0: it was cut short, or the recording was killed" ]
}

# bats test_tags=long
@test "trace.dat: a file with any byte changed prints events or one error line" {
	for version in v6 v7; do
		size=$(stat -c %s "$CORPUS/$version")
		for ((n = 0; n < size; n += 11)); do
			cp "$CORPUS/$version" file
			bytes file "$n" '\377'
			status=0
			datinfo file >out 2>err || status=$?
			case $status in
			0) [ ! -s err ] ;;
			111) file_has 1 err && grep -q '^datinfo: fatal: file' err ;;
			*) false ;;
			esac || { echo "$version at $n: $status"; cat err; return 1; }
		done
	done
}

@test "trace.dat: a file that trace-cmd converts to version 7 and back reads the same" {
	need_tool trace-cmd
	cp "$CORPUS/v6" six
	trace-cmd convert -i six -o seven --file-version 7 --compression none >said 2>&1 ||
		skip "needs a trace-cmd that converts (3.1)"
	trace-cmd convert -i seven -o again --file-version 6 >said 2>&1
	datinfo six | grep -E '^(format|cpu )' >seen
	for file in seven again; do
		datinfo $file | grep -E '^(format|cpu )' | diff seen -
	done
}

@test "trace.dat: a large file is read with little memory" {
	[ -z "${TFS_VARIANT-}" ] || skip "needs memory that is the program's alone"
	cp "$CORPUS/v6-empty" file
	# CPU 0 in the table has sub-buffers for a gigabyte, all of them a hole in the file
	at=$(offset_of flyrecord file)
	bytes file $((at + 10)) '\0\004\0\0\0\0\0\0\0\0\0\100\0\0\0\0'
	truncate -s $((1024 + 1073741824)) file
	(
		ulimit -v 20000
		datinfo file
	) >seen
	grep -x 'cpu 0 8388608 0' seen
}

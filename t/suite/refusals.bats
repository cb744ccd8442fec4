#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2030,SC2031,SC2153 # each test is a process of its own; the helper sets SYNOPSIS
# the tools: what --help prints and what each tool refuses, row by row of t/refusals.table

load ../helper

TABLE=$TREE/t/refusals.table

# rows KIND: Print the rows of the table that are help, or "refusals", with their line numbers.
rows() {
	awk -F '\t' -v kind="$1" '/^#/ || !NF { next }
		($1 == "help") == (kind == "help") { print FNR "\t" $0 }' "$TABLE"
}

# Make the files that refused commands must leave alone.
fixture() {
	mkdir -p at/root/instances/{one,tfs.old} at/root/options
	cd at/root || return
	echo 1 >text
	ln -s /dev/full full
	for file in file other set_event set_event_pid set_event_notrace_pid set_ftrace_pid \
		set_ftrace_notrace_pid dynamic_events uprobe_events kprobe_events trace_marker \
		trace_clock options/event-fork options/function-fork; do
		: >"$file"
	done
	cd ..
}

@test "tools: --help and -h print the synopsis and the purpose" {
	local line tool synopsis purpose n=0
	while IFS=$'\t' read -r line _ tool synopsis purpose; do
		echo "line $line of $TABLE: $tool"
		helps "$tool" "$synopsis" "$purpose"
		n=$((n + 1))
	done < <(rows help)
	[ "$n" -ge 38 ]
}

@test "tools: each has a row for --help, prints name and version, refuses an unknown option, and reports a full disk" {
	for source in "$TREE"/bin/*/*.1; do
		tool=${source##*/} tool=${tool%.1}
		grep -q "^help	$tool	" "$TABLE"
		synopsis_of < <("$tool" --help)
		fails 100 "$tool: fatal: no such option: -~; usage: $SYNOPSIS" "$tool" -~
		run -0 --separate-stderr "$tool" --version
		[[ $output =~ ^$tool\ [0-9]+\.[0-9]+\.[0-9]+$ && -z $stderr ]]
		for option in --help --version; do
			fails 111 "$tool: fatal: unable to write to standard output: No space left on device" \
				to_full "$tool" $option
		done
	done
}

# expand COMMAND MESSAGE [N]: Add to pairs what the alternatives from the Nth on stand for.
expand() {
	local one value list n=${3:-1}
	if [[ ! $1 =~ \[\[([^]]*)\]\] ]]; then
		pairs+=("$1" "$2")
		return
	fi
	IFS='|' read -ra list <<<"${BASH_REMATCH[1]}"
	for one in "${list[@]}"; do
		eval "value=$one"
		expand "${1%%"[["*}$one${1#*"]]"}" "${2//"[[$n]]"/"$value"}" $((n + 1))
	done
}

# refuse EVERY FIRST: Check each EVERYth refusal from FIRST on.
refuse() {
	local pairs=() line want command message tool left ended text i n=0 bad=0
	local -A usage=()
	while IFS=$'\t' read -r line want command message; do
		i=${#pairs[@]}
		expand "$command" "$message"
		for (( ; i < ${#pairs[@]}; i += 2)); do pairs[i]="$line $want ${pairs[i]}"; done
	done < <(rows refusals)
	fixture
	left=$(ls -ARl --full-time)
	for ((i = 0; i < ${#pairs[@]}; i += 2)); do
		[ $((++n % $1)) = "$2" ] || continue
		read -r line want command <<<"${pairs[i]}"
		message=${pairs[i + 1]} tool=${command%% *} ended=0
		if [[ $message == *@ ]]; then
			# of the tool itself, which the test of --help compares with the table
			[ -n "${usage[$tool]-}" ] || { synopsis_of < <("$tool" --help); usage[$tool]=$SYNOPSIS; }
			message=${message%@}"usage: ${usage[$tool]}"
		fi
		eval "$command" >../out 2>../err </dev/null || ended=$?
		text=
		IFS= read -rd '' text <../err || : # the end is no byte 0
		if [ "$ended" != "$want" ] || [ -s ../out ] ||
			[ "$text" != "$tool: fatal: $message"$'\n' ]; then
			[ $((++bad)) -le 10 ] || continue
			printf 'line %s: %s\n' "$line" "$command"
			printf '  expected %s: %s\n' "$want" "$tool: fatal: $message"
			printf '  ended with %s, said: %s' "$ended" "$text"
			[ ! -s ../out ] || printf '  and printed: %s\n' "$(head -c 200 ../out)"
		fi
	done
	[ "$bad" = 0 ]
	[ "$left" = "$(ls -ARl --full-time)" ]
	[ "$n" -ge 400 ]
}

@test "tools: refuse each command of the table with its status and its line, and change nothing" {
	refuse 2 0
}

@test "tools: refuse each other command of the table with its status and its line, and change nothing" {
	refuse 2 1
}

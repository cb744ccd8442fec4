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
	mkdir -p at/root/instances/one at/root/options
	cd at/root || return
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

@test "tools: each has a row for --help and one for an unknown option" {
	local source tool kind text what
	local -A known=()
	while IFS=$'\t' read -r kind text what _; do
		[ "$kind" != help ] || known["help $text"]=yes
		[[ "$kind $what" != "100 no such option: "* ]] || known["option ${text%% *}"]=yes
	done <"$TABLE"
	for source in "$TREE"/bin/*/*.1; do
		tool=${source##*/} tool=${tool%.1}
		echo "$tool"
		[ "${known[help $tool]-} ${known[option $tool]-}" = "yes yes" ]
	done
}

# refuse EVERY FIRST: Check each EVERYth refusal from FIRST on.
refuse() {
	local row rows line command message tool want left ended text n=0 bad=0
	local -A usage=()
	mapfile -t rows < <(rows refusals)
	fixture
	left=$(ls -ARl --full-time)
	for row in "${rows[@]}"; do
		[ $((++n % $1)) = "$2" ] || continue
		IFS=$'\t' read -r line want command message <<<"$row"
		tool=${command%% *} ended=0
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

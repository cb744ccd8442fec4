#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# examples: what pages and the tutorial show is what the commands print

load ../helper

# runs FILE: Run the examples of the page or Markdown file in an empty directory.
runs() {
	local name=${1##*/} status=0
	mkdir "$name.dir"
	[ "$name" != TUTORIAL.md ] || cp slow "$name.dir"
	env -C "$name.dir" PATH="$PROG:$PATH" timeout "$DEADLINE" python3 "$TREE/t/prog/examples.py" \
		"$1" "$TREE/t/examples.table" >out 2>&1 || status=$?
	cat out
	rm -rf "$TFS_RUNDIR"/ftrace/trace_flight.* # dumps stay
	return "$status"
}

# pages: Print the path of each page.
pages() {
	ls "$TREE"/bin/*/*.1 "$TREE"/trace-hooks/*.[157] "$TREE"/trace-hooks/*/*.7
}

@test "examples: each page that shows a command shows what it prints" {
	need_tracefs events/syscalls
	need_tool python3
	need_tool bash
	tfs-run --check trace_open >verdict || skip "$(cat verdict)"
	for page in $(pages); do # each fails by itself
		runs "$page" || echo failed >>failed
	done | tee all
	[ ! -e failed ]
	run -1 grep -x mine <(tfs-instance list)
	[ "$(sed -n 's/.*: \([0-9]*\) run, .*/\1/p' all | awk '{ n += $1 } END { print n }')" -ge 40 ]
}

@test "examples: each row of the table of exceptions leaves out an example" {
	while IFS=$'\t' read -r page begin _; do
		[[ $page != '#'* ]] || continue
		file=$(pages | grep "/$page$")
		grep -qF -- "${begin/#\*/.Bd -literal}" "$file" || { echo "$page: $begin"; return 1; }
	done <"$TREE/t/examples.table"
}

@test "examples: the tutorial shows what its commands print" {
	need_tracefs events/syscalls
	need_tool python3
	need_tool cc
	tfs-run --check trace_open >verdict || skip "$(cat verdict)"
	cc -o slow "$TREE/t/prog/slow.c"
	runs "$TREE/TUTORIAL.md"
	grep -qx 'TUTORIAL.md: 12 run, 0 left out' out
}

@test "examples: a message of the manager in a page of a hook begins with tfs-run" {
	run -1 grep -n '^manager: fatal' "$TREE"/trace-hooks/*/*.7 "$TREE"/bin/*/*.1
}

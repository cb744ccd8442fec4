#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# options: one list of the options of all tools, hooks and managers

load ../helper

# Print each option as TOOL-OR-HOOK, a tab, and its line without the text.
options() {
	local source tool hook
	for source in "$TREE"/bin/*/*.1; do
		tool=${source##*/} tool=${tool%.1}
		"$tool" --help all | sed -n '1,/^$/d; s/^  \(-[^ ].*\)/\1/p' | sed "s/  .*//; s/^/$tool	/"
	done | grep -v '	-- PROG'
	for hook in "$TREE"/trace-hooks/*/hooks.d/*; do
		sed -n "s/^# option: /${hook##*/}	/p" "$hook" | sed 's/  .*//'
	done
	"$MANAGER" --help | sed -n '1,/^$/d; s/^  \(-[^ ].*\)/\1/p' | sed "/^-- WORD/d; s/  .*//; s/^/manager	/"
	"$MANAGER" --describe trace_event | sed '1,/^--markers/d; s/  .*//; s/^/common	/'
}

@test "options: each option of a tool, a hook or the manager has a long name" {
	options >all
	file_has 250+ all
	run -1 grep -Evx '[a-z_-]+	(-., )?--[a-z][a-z0-9-]+( [^ ]+)?' all
}

@test "options: a long name takes a value wherever it is, or nowhere" {
	options | grep -v '^manager	' | sed 's/	-., /	/' >all
	# trace_request has had --events with a value before its name was that of a flag
	awk -F '\t' '$1 != "trace_request" || $2 !~ /^--events/ {
		split($2, word, " ")
		kind = word[2] == "" ? "flag" : "value"
		if ((word[1] in seen) && seen[word[1]] != kind)
			print word[1] ": " first[word[1]] ", " $1
		seen[word[1]] = kind
		first[word[1]] = $1
	}' all >twice
	[ ! -s twice ] || { cat twice; false; }
}

@test "options: one file compares words with the names and letters of options" {
	cd "$TREE"
	# hook.c refuses a header that uses a letter twice
	run -0 grep -rlE 'getopt|(->|\.)letter\>' bin/run lib/tool lib/session --include='*.c'
	[ "$(sort <<<"$output")" = $'lib/session/hook.c\nlib/tool/options.c' ]
}

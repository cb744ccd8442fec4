#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # words as they are; each test is a process of its own
# hook: what a hook prints becomes its stream: options, filters, tools

load ../helper

# prints [WORD...] [| WORD...]: Make a hook that records getppid, and prints these words: a tool, or
# options, and a filter.
prints() {
	local word kind=options
	local -a first=() filter=()

	[ -n "${HOOKS-}" ] || own_tree
	case ${1--} in [-\|]*) ;; *) kind=tool ;; esac
	for word; do
		if [ "${#filter[@]}" != 0 ]; then
			filter+=("$word")
		elif [ "$word" = '|' ]; then
			filter=(filter)
		else
			first+=("$word")
		fi
	done
	prints_bytes "$kind" "${#first[@]}" "${first[@]}" \
		${filter:+filter $((${#filter[@]} - 1)) "${filter[@]:1}"}
}

# prints_bytes WORD...: Make a hook that records getppid, and prints each word with a NUL.
prints_bytes() {
	[ -n "${HOOKS-}" ] || own_tree
	printf "printf '%%s\\\\0'%s\n" "$(printf " '%s'" "$@")" >words
	make_hook prints <<-END
	# description: prints words
	# requires: events/syscalls
	tfs-write events/syscalls/sys_enter_getppid/enable 1
	$(cat words)
	END
}

# own_tool NAME: Make a tool of own_tree from "#!/bin/sh" and the lines of stdin.
own_tool() {
	if [ -L tree/bin ]; then
		own_bin
	fi
	{ echo '#!/bin/sh'; cat; } >"tree/bin/$1"
	chmod +x "tree/bin/$1"
}

has_lines() {
	file_has "$1+" "$2"
}

@test "hook: options that a hook prints become options of the stream" {
	need_tracefs events/syscalls
	prints -j -e 'sys_enter_get*'
	calls 100
	watch_whole prints --pid "$CALLS"
	[ "$(grep -c '^{.*"event":"sys_enter_getppid"' got)" = 100 ]
	file_has 100 got
}

@test "hook: the whole trace goes through the filter that a hook prints" {
	need_tracefs events/syscalls
	prints -j '|' tfs-count -k event
	for output in lines fifo; do
		calls 1000
		start_session prints --pid "$CALLS" --output "$output"
		read_by cat >got
		release
		watch_end
		exactly got "   1000 sys_enter_getppid"$'\n'
	done
	calls 1000
	session_whole prints --pid "$CALLS" --output file
	exactly "$TRACE" "   1000 sys_enter_getppid"$'\n'
}

@test "hook: a tool that a hook prints replaces the stream, and finds the instance" {
	need_tracefs events/syscalls
	prints as-asked -x 'a b'
	own_tool as-asked <<<'echo "<$TFS_INSTANCE>"; for word; do echo "<$word>"; done
exec "${0%/*}/tfs-catpipe" -e no'
	calls 1
	watch_whole prints --pid "$CALLS"
	lines_are got "<tfs.$MARK>
<-x>
<a b>"
}

@test "hook: lines of a filter are packets, and come while the trace goes on" {
	need_tracefs events/syscalls
	prints '|' through
	own_tool through <<<'while read -r line; do echo "$line"; done'
	calls 1
	other=$CALLS
	calls 100
	start_session prints --pid "$CALLS" "$other" --output lines
	caller_reads
	release
	eventually has_lines 100 got
	watch_stop
	[ "$(grep -c ': sys_getppid()$' got)" = 100 ]
}

@test "hook: a new reader can follow a reader that left a filter" {
	need_tracefs events/syscalls
	prints '|' through
	own_tool through <<<'while read -r line; do echo "$line"; done'
	calls 10
	start_session prints --pid "$CALLS" --output fifo
	read_by true
	finishes "$READER" 0
	read_by cat >got
	release
	watch_end
}

@test "hook: a manager that is killed while its filter works leaves nothing behind" {
	need_tracefs events/syscalls
	prints '|' through
	own_tool through <<<'while read -r line; do echo "$line"; done'
	calls 10
	watch prints --pid "$CALLS"
	eventually grep -q through /proc/*/comm
	kill -KILL "$SESSION"
	finishes "$READER" 0
	eventually nothing_left
}

@test "hook: --output dat ignores the options and the filter that a hook prints" {
	need_tracefs events/syscalls
	prints -j '|' tfs-count
	calls 10
	session_whole prints --pid "$CALLS" --output dat
	[ "$(tfs-report "$TRACE" | grep -c ': sys_getppid()$')" = 10 ]
}

# passing: Make a hook that passes options to its tool, or to its filter if it has one.
passing() {
	own_tree
	make_hook passing <<-'END'
	# description: passing
	# option: --text TEXT  of the tool
	# option: --error ERROR...  of the tool, by another name
	# option: --slower US  of the filter
	# option: --flag  of the filter
	# option: --decode  implied
	# option: --keep TEXT  only for the hook
	# pass: --text --error=--errno (--decode)
	# pass: | --slower --flag
	printf '%s\0' tool 3 as-asked "decode${HOOK_DECODE-}" "keep${HOOK_KEEP-}"
	[ -z "${HOOK_SLOWER-}" ] || printf '%s\0' filter 2 as-filter operand
	END
	own_tool as-asked <<<'for word; do printf "<%s>\n" "$word"; done; exec "${0%/*}/tfs-catpipe" -e no'
	own_tool as-filter <<<'for word; do printf "[%s]\n" "$word"; done; while read -r line; do echo "$line"; done'
}

@test "hook: an option that its header passes is one word of the tool or the filter, whatever its value" {
	need_tracefs events/syscalls
	passing
	for value in -x --json --text=b '-' '--' 'a b' '$(reboot)' '*' 'a,-b' '|' '\n'; do
		calls 1
		watch_whole passing --pid "$CALLS" "'--text=$value'" --flag
		lines_are got "<--text=$value>"$'\n<decode1>\n<keep>'
	done
	calls 1
	watch_whole passing --pid "$CALLS" --keep=-x --error ENOENT EACCES,EPERM --slower 2ms --flag
	lines_are got '[--slower=2000]
[--flag]
[operand]
<--errno=ENOENT,EACCES,EPERM>
<decode1>
<keep-x>'
	calls 1
	watch_whole passing --pid "$CALLS"
	lines_are got $'<decode>\n<keep>'
	refused 100 "--text: 'a?b' is not printable text" \
		--run passing --args "--instance $MARK --pid $$ --text 'a"$'\n'"b'"
	refused 100 "--text: '' is not printable text" \
		--run passing --args "--instance $MARK --pid $$ --text="
	nothing_left
}

# prints_refused REASON WORD...: Fail unless a hook that prints WORD... is refused for REASON.
prints_refused() {
	prints "${@:2}"
	fails 111 "manager: fatal: prints: the hook $1" \
		"$MANAGER" --run prints --args "--instance $MARK --pid $$"
	nothing_left
}

@test "hook: words that are not a valid stream are refused before anything begins" {
	need_tracefs events/syscalls
	prints_refused "printed 'nosuch', which is not a tool of tfs-tools" nosuch
	prints_refused "printed '../bin/sh', which is not a tool of tfs-tools" ../bin/sh
	prints_refused "printed '', which is not a tool of tfs-tools" ''
	prints_refused "printed '', which is not a tool of tfs-tools" -j '|'
	# shellcheck disable=SC2046 # a word each
	prints_refused "printed too many arguments" $(printf -- '-%s ' {1..64})
	prints_refused "printed too many arguments" "-$(printf 'x%.0s' {1..32768})"
}

@test "hook: a hook may print as many bytes as trace-hook(5) says, and not one more" {
	need_tracefs events/syscalls
	most=$(sed -n 's/^The hook may print at most 63 words of a kind and \([0-9]*\) bytes in total\.$/\1/p' \
		"$TREE/trace-hooks/trace-hook.5")
	own_tree
	own_tool counted <<<'while read -r line; do :; done; echo "${#1}"'
	word=$(printf 'x%.0s' $(seq $((most - 28)))) # "options", 0, "filter", 2, "counted" and NULs
	prints '|' counted "$word"
	calls 1
	watch_whole prints --pid "$CALLS"
	lines_are got "$((most - 28))"
	prints_refused "printed too many arguments" '|' counted "x$word"
}

# refused_bytes REASON COMMAND: Fail unless a hook that runs COMMAND is refused for REASON.
refused_bytes() {
	make_hook prints <<-END
	# description: prints words
	$2
	END
	fails 111 "manager: fatal: prints: the hook printed $1" \
		"$MANAGER" --run prints --args "--instance $MARK --pid $$"
	nothing_left
}

@test "hook: no word behind a kind and a number becomes a kind, and what is no record is refused" {
	need_tracefs events/syscalls
	where='where options, tool or filter and the number of its words must stand; see trace-hook(5)'
	a_line='lines; it must pass words by printf '"'%s\\0'"', see trace-hook(5)'
	own_tree
	refused_bytes "$a_line" 'echo -j'
	refused_bytes "$a_line" "printf '%s\\n' '|' sigwait-run /bin/true"
	refused_bytes "$a_line" 'printf x'
	refused_bytes "'|' $where" "printf '%s\\0' '|' tfs-count"
	refused_bytes "'sigwait-run' $where" "printf '%s\\0' options 1 -j sigwait-run 1 x"
	refused_bytes "'filter' $where" "printf '%s\\0' filter -1 tfs-count"
	refused_bytes "'options' $where" "printf '%s\\0' options '' -j"
	refused_bytes "'filter' $where" "printf '%s\\0' filter 1 tfs-count filter 1 tfs-hist"
	refused_bytes "'tool' $where" "printf '%s\\0' options 1 -j tool 1 tfs-catpipe"
	refused_bytes "'tool' $where" "printf '%s\\0' tool 1 tfs-catpipe tool 1 tfs-catpipe"
	refused_bytes "'filter' $where" "printf '%s\\0' filter"
	refused_bytes "fewer words than it says; see trace-hook(5)" "printf '%s\\0' options 2 -j"
	refused_bytes "fewer words than it says; see trace-hook(5)" "printf 'options\\0001\\0-j'"
	refused_bytes "'-k?filter', which has a control character" "printf '%s\\0' options 1 '-k
filter'"
	refused_bytes "'', which is not a tool of tfs-tools" "printf '%s\\0' filter 0"

	# kinds, numbers and the old verb as values: the filter gets them as they are
	prints_bytes options 1 -j filter 8 as-is options 1 -j '|' filter 1 tfs-count
	own_tool as-is <<<'while read -r line; do :; done; echo "$*"'
	calls 1
	watch_whole prints --pid "$CALLS"
	lines_are got 'options 1 -j | filter 1 tfs-count'
}

@test "hook: a filter that fails ends the session with 111, even if it prints a message" {
	need_tracefs events/syscalls
	prints '|' fails
	own_tool fails <<<'echo why >&2; exit 111'
	calls 1
	watch prints --pid "$CALLS"
	finishes "$SESSION" 111
	finishes "$READER" 0
	[ ! -s got ]
}

@test "hook: a usage error of a filter, a tool or a tool that works alone ends the session with 100" {
	need_tracefs events/syscalls
	for words in '| tfs-count -n 0x' 'tfs-read -e' '-e'; do
		# shellcheck disable=SC2086 # a word each
		prints $words
		calls 1
		watch prints --pid "$CALLS"
		finishes "$SESSION" 100
		finishes "$READER" 0
		[ ! -s got ]
		nothing_left
	done
	make_hook alone <<-'END'
	# description: works alone
	# stream: alone
	printf '%s\0' tool 3 tfs-flight -b 0
	END
	refused 100 "--last: '0' is not from 1 to 2147483647 milliseconds; give a time such as 500ms, 5s, 2m or 1h; usage: $(synopsis tfs-flight)" \
		--run alone --args "--instance $MARK --pid $$"
}

@test "hook: a filter that ends early without a message ends the session with 111" {
	need_tracefs events/syscalls
	prints '|' says-no
	own_tool says-no <<<'exit 1'
	calls 1
	watch prints --pid "$CALLS"
	finishes "$SESSION" 111
	finishes "$READER" 0
}

@test "hook: the last output of a tool waits a moment for a reader" {
	need_tracefs
	prints tfs-read -w tracing_on
	calls 1
	start_session prints --pid "$CALLS" --output fifo
	release
	ended "$CALLS"
	read_by cat >got
	watch_end
	lines_are got "0"
}

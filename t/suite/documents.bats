#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# documents: what pages, README and code say of each other is true

load ../helper

# The tools' names, from their sources.
tools() {
	local source
	for source in "$TREE"/bin/*/*.1; do
		source=${source##*/}
		echo "${source%.1}"
	done
}

# text_of PAGE: Print the page as plain text, without broken lines.
# section_of and read_page read it once for all sections of a page.
text_of() {
	mandoc -T ascii -O width=999 "$1" | sed 's/.'$'\b''//g'
}

# section PAGE SECTION: Print the words of the section, separated by one space.
section() {
	section_of "$1" "$2"
	[ -z "$SECTION" ] || echo "$SECTION"
}

# section_of PAGE SECTION: Set SECTION to these words.
section_of() {
	local line words inside=''
	[ "$1" = "${PAGE-}" ] || read_page "$1"
	SECTION=
	for line in "${PAGE_LINES[@]}"; do
		if [[ $line == [![:space:]]* ]]; then
			[ -z "$inside" ] || return 0
			[ "$line" != "$2" ] || inside=yes
		elif [ -n "$inside" ]; then
			read -ra words <<<"$line"
			SECTION+=${words[*]:+${SECTION:+ }${words[*]}}
		fi
	done
}

# read_page PAGE: Set PAGE_LINES to the text of the page.
read_page() {
	PAGE=$1
	mapfile -t PAGE_LINES < <(mandoc -T ascii -O width=999 "$1")
	PAGE_LINES=("${PAGE_LINES[@]//?$'\b'/}")
}

# SOURCE...: of each message that the code can print its longest part that is
# always there, one per line. A message is a string among the arguments of the
# functions that print one (base/error.c).
messages() {
	awk '
	function longest(s,   n, i, part, best) {
		sub(/; usage: %(\.\*)?s$/, "", s)
		gsub(/%(\.[0-9*]+)?[lz]*[sduc]/, "\n", s)
		n = split(s, part, "\n")
		for (i = 1; i <= n; i++) {
			gsub(/^ +| +$/, "", part[i])
			if (length(part[i]) > length(best))
				best = part[i]
		}
		if (length(best) > 3)
			print best
	}
	FNR == 1 { all_of_file() }
	{ all = all $0 "\n" }
	END { all_of_file() }
	function all_of_file(   depth, text, open, quiet, i, c) {
		while (match(all, /(err_msg|err_errno|err_capability|err_file|err_exit|usage_error|opt_number|opt_refuse|opt_why)\(/)) {
			all = substr(all, RSTART + RLENGTH)
			depth = 1; text = ""; open = 0; quiet = 1
			for (i = 1; depth; i++) {
				c = substr(all, i, 1)
				if (open && c == "\\") {
					text = text substr(all, ++i, 1)
				} else if (c == "\"") {
					open = !open; quiet = 0
				} else if (open) {
					text = text c
				} else if (c !~ /[ \t\n]/) { # strings side by side are one
					if (!quiet && depth == 1)
						longest(text)
					text = ""; quiet = 1
					depth += (c == "(") - (c == ")")
				}
			}
		}
		all = ""
	}' "$@" | sort -u
}

# absent PAGES MESSAGES: Print each line of MESSAGES that no line of PAGES contains.
absent() {
	awk 'FILENAME == ARGV[1] { pages = pages $0 "\n"; next } !index(pages, $0)' "$1" "$2"
}

# heads: Print the headers of all hooks as HOOK-FILE:LINE.
heads() {
	local hook
	for hook in "$TREE"/trace-hooks/*/hooks.d/*; do
		awk -v f="${hook##*/}" '!/^#/ { exit } { print f ":" $0 }' "$hook"
	done
}

@test "documents: each tool has a page, and each page its tool" {
	for page in "$TREE"/bin/*/*.1; do
		basename "$page" .1
	done >pages
	[ "$(tools)" = "$(cat pages)" ]
	[ "$(tools | wc -l)" -ge 9 ]
}

@test "documents: a page's SYNOPSIS equals the synopsis of --help" {
	need_tool mandoc
	for tool in $(tools); do
		echo "$tool"
		synopsis_of < <("$tool" --help)
		[ -n "$SYNOPSIS" ]
		section_of "$TREE"/bin/*/"$tool.1" SYNOPSIS
		[ "$SECTION" = "$SYNOPSIS" ]
	done
	# shellcheck disable=SC2153 # the helper's
	[ "$(section "$TREE/trace-hooks/tfs-manager.1" SYNOPSIS)" = "$(synopsis "$MANAGER")" ]
}

@test "documents: a page's NAME is the line below the synopsis of the tool's --help" {
	need_tool mandoc
	local tool text end=$'\n'
	for tool in $(tools); do
		"$tool" --help >help
		read_whole help
		section_of "$TREE"/bin/*/"$tool.1" NAME
		[[ $text =~ (^|$end)("$tool - "[^$end]*) ]]
		[ "$SECTION" = "${BASH_REMATCH[2]}" ]
	done
}

@test "documents: man -k finds a page by the words of its users and by the names of other tools" {
	local word page n=0
	while IFS=: read -r page word; do
		echo "$page: $word"
		grep -q "^\.Nd .*$word" "$TREE"/bin/*/"$page" "$TREE"/trace-hooks/"$page" \
			"$TREE"/trace-hooks/*/"$page" 2>/dev/null
		n=$((n + 1))
	done <<-'EOF'
		trace_syscalls.7:strace
		trace_syscalls.7:perf trace
		trace_open.7:opensnoop
		trace_exec.7:execsnoop
		trace_process.7:exitsnoop
		trace_signal.7:killsnoop
		trace_sched.7:run queue latency
		trace_sched.7:runqlat
		trace_block.7:biolatency
		trace_tcp.7:tcpconnect
		trace_count.7:perf stat
		trace_hist.7:argdist
		trace_uprobe.7:USDT
		trace_flight.7:flight recorder
		tfs-flame.1:flame graph
		tfs-record.1:KernelShark
		tfs-export.1:OpenTelemetry
	EOF
	[ "$n" = 17 ]
}

@test "documents: tfs-tools(7) has the purpose of each tool, and the description of each hook" {
	need_tool mandoc
	local name page=$TREE/trace-hooks/tfs-tools.7
	for name in $(tools); do
		"$name" --help | sed -n "s/^$name - /.It Xr $name 1 /p"
	done >want
	for name in "$TREE"/trace-hooks/*/hooks.d/*; do
		sed -n "s/^# description: */.It Xr ${name##*/} 7 /p" "$name"
	done >>want
	# .It Xr NAME SECTION, and the purpose below it
	sed -n '/^\.Sh HOOKS/,/^\.Sh GLOSSARY/{/^\.It/{N;s/\n/ /p}}' "$page" | sort >got
	diff <(sort want) got
	file_has 50+ got
}

# questions: a line SUBSYSTEM HOOK OPTION... for each command in the README's table of
# questions, except hooks that need a device, another host or a file
questions() {
	# shellcheck disable=SC2016 # backquotes of the README
	sed -n '/^| I want to know/,/^$/p' "$TREE/README.md" | grep -Ev "trace_(request|blk) |/my_hook" |
		sed -n 's/^.*| `tfs-run //p' |
		sed -E 's/ *(\\\|| --? PROG|>|`).*//; s/ -- PROG$//; s/^/ftrace /' |
		sed -E "s/^ftrace -m //; s/--pid PID|--container ID/--pid $$/; s/--to PID/--to $$/"
}

@test "documents: each question of the README is answered by a command that tfs-run takes" {
	local subsystem hook options n=0
	questions >rows
	cat rows
	while read -r subsystem hook options; do
		[[ $options =~ --(pid|all) ]] || options+=" --pid $$"
		eval "set -- $options" # they are quoted for a shell
		run tfs-run -m "$subsystem" "$hook" "$@" --check
		echo "$hook $options: $status $output"
		# 1: this kernel lacks the hook, or 111 if the hook itself sees that; wrong options
		# are 100. In a guest the product finds no bash.
		[ "$status" = 0 ] || [ "$status" = 1 ] ||
			[[ $status = 111 && $output == "tfs-run: fatal: this kernel has "* ]] ||
			[[ $options == *"--binary bash"* && ${TFS_VARIANT-} = vm ]]
		n=$((n + 1))
	done <rows
	[ "$n" -ge 20 ]
}

@test "documents: each hook has a page, with its fields, its cost, a session, and its options" {
	need_tool mandoc
	for hook in "$TREE"/trace-hooks/*/hooks.d/*; do
		page=${hook%/hooks.d/*}/${hook##*/}.7
		echo "$page"
		for part in FIELDS OVERHEAD EXAMPLES 'ERROR MESSAGES'; do
			section_of "$page" "$part"
			[ -n "$SECTION" ]
		done
		while read -r option; do
			grep -q "^\.It Fl .*-$option\( \|$\)" "$page" || { echo "no --$option"; return 1; }
		done < <(sed -n 's/^# option: .*--\([a-z-]*\).*/\1/p' "$hook")
	done
}

@test "documents: the README has at most 1,500 words, and links to files that exist" {
	[ "$(wc -w <"$TREE/README.md")" -le 1500 ]
	cd "$TREE"
	sed -n 's/](\([^)]*\))/\n@\1\n/gp' ./*.md | sed -n 's/^@//p' | grep -v '^http' |
		while read -r file; do
			[ -e "${file%%#*}" ] || echo "$file"
		done >"$BATS_TEST_TMPDIR/missing"
	[ ! -s "$BATS_TEST_TMPDIR/missing" ] || { cat "$BATS_TEST_TMPDIR/missing"; false; }
}

@test "documents: --help and the page of a tool have the same options, commands and values" {
	local tool n=0
	for tool in $(tools); do
		# operands such as HOOK may be in both or in the page only
		"$tool" --help all | sed -n '1,/^$/d; s/^  \([^ ]\)/\1/p' | sed 's/  .*//' |
			grep -v '^[A-Z]' | sort >help
		sed -n 's/^\.It Fl /-/p; s/^\.It Cm //p' "$TREE"/bin/*/"$tool.1" |
			grep -v '^--help' | sed 's/ , -/, --/; s/ Ar / /' | sort >page
		diff -u page help || { echo "$tool"; return 1; }
		n=$((n + $(wc -l <help)))
	done
	[ "$n" -ge 150 ]
}

@test "documents: --help of each tool and hook has at most 40 lines of 80 columns, and names all options" {
	for command in $(tools) $(hooks "$TREE" | sed 's/^/tfs-run:/'); do
		# shellcheck disable=SC2046 # two words for a hook
		set -- $(tr : ' ' <<<"$command")
		"$@" --help >short
		"$@" --help all >long
		[ "$(wc -l <short)" -le 40 ] || { echo "$command: $(wc -l <short) lines"; return 1; }
		run -1 grep -hE '.{81}' short long
		# each option is there, by its long name or its letter
		sed -n '1,/^$/d; s/^  \(-[^ ].*\)/\1/p' long | sed 's/^-[^-], //; s/^-- .*//; s/ .*//; /^$/d' |
			while read -r option; do
				grep -q -e "$option\>" short || { echo "$command: $option"; exit 1; }
			done
	done
	tfs-report --help | grep -qx 'tfs-report --help all describes these, too.'
}

@test "documents: each page of a program has the sections that a reader looks for" {
	need_tool mandoc
	local page n=0
	for page in "$TREE"/bin/*/*.1 "$TREE/trace-hooks/tfs-manager.1"; do
		text_of "$page" | awk -v page="${page##*/}" '
			/^[^ \t]/ { name = $0; next }
			/[^ \t]/ { has[name] = 1 }
			END {
				n = split("SYNOPSIS,DESCRIPTION,EXIT STATUS,EXAMPLES,ERROR MESSAGES," \
					  "COST,SEE ALSO", wanted, ",")
				for (i = 1; i <= n; i++)
					if (!has[wanted[i]])
						print page " " wanted[i]
			}' >>missing
		n=$((n + 1))
	done
	[ ! -s missing ] || { cat missing; false; }
	[ "$n" -ge 30 ]
}

@test "documents: mandoc finds nothing to say about any page" {
	need_tool mandoc
	run -0 mandoc -T lint -W warning "$TREE"/bin/*/*.1 "$TREE"/trace-hooks/*.[157] "$TREE"/trace-hooks/*/*.7
	[ "$output" = "" ]
}

@test "documents: no page has a line of more than 80 columns" {
	need_tool mandoc
	local page n=0
	for page in "$TREE"/bin/*/*.1 "$TREE"/trace-hooks/*.[157] "$TREE"/trace-hooks/*/*.7; do
		mandoc -T ascii -O width=80 "$page" | sed 's/.'$'\b''//g' |
			awk -v page="${page##*/}: " 'length > 80 { print page $0 }' >>long
		n=$((n + 1))
	done
	[ "$n" -ge 50 ]
	[ ! -s long ] || { cat long; false; }
}

# trace_runs OPTION...: Run the hook that CONTRIBUTING.md shows, in the tree of the test, on a
# program that writes once to a pipe and ends.
trace_runs() {
	"$BATS_TEST_TMPDIR/tree/bin/tfs-run" trace_runs "$@" -- "$PROG/calls" 3 <<<go 2>err
}

# woke: Trace wake-ups until calls, which writes to a pipe, wakes its reader.
woke() {
	trace_runs --wakeups >got
	grep -Eq '^ +calls-.*: sched_waking: ' got
}

@test "documents: the hook that CONTRIBUTING shows runs as it is shown" {
	need_tracefs events/sched/sched_switch
	own_tree
	own_bin
	rm tree/bin/tfs-run
	cp "$TREE/bin/tfs-run" tree/bin
	[ ! -e "$HOOKS/trace_runs" ]
	sed -n '/^#!\/bin\/sh$/,/^```/p' "$TREE/CONTRIBUTING.md" | sed '$d' >"$HOOKS/trace_runs"
	chmod +x "$HOOKS/trace_runs"
	run -0 --separate-stderr tree/bin/tfs-run
	grep -qx '  trace_runs .*When the given tasks run and wake others' <<<"$output"
	trace_runs >got
	# the program ends once: the kernel switches from it for the last time
	[ "$(grep -Ec ': sched_switch: prev_comm=calls .* prev_state=[XZ] ==> ' got)" = 1 ]
	[ "$(grep -c ': sched_waking: ' got)" = 0 ]
	pid=$(sed -n 's/.* prev_comm=calls prev_pid=\([0-9]*\) .* prev_state=[XZ] .*/\1/p' got)
	run -1 grep -Ev ": sched_switch: .*(prev|next)_pid=$pid " got
	eventually woke
}

@test "documents: each message in a tool's source is in its page, with a remedy" {
	need_tool mandoc
	local tool n=0
	# of the tool, though in another file
	local -A more=([blk-text]='bin/block/tasks_io lib/reader/consumer'
		[dt-probe]=bin/requests/make [tfs-catpipe]=lib/reader/consumer
		[tfs-flight]='bin/flight/flight_control bin/flight/dump bin/flight/trigger'
		[tfs-record]='bin/record/parts bin/record/join lib/tool/atomic_file')
	for tool in $(tools); do
		section "$TREE"/bin/*/"$tool.1" 'ERROR MESSAGES' >page
		# shellcheck disable=SC2046,SC2059,SC2086 # several words
		messages "$TREE"/bin/*/"$tool.c" $(printf "$TREE/%s.c " ${more[$tool]-} |
			grep -v '/\.c') >wanted
		absent page wanted | sed "s/^/$tool: /" >>missing
		n=$((n + $(wc -l <wanted)))
	done
	[ ! -s missing ] || { cat missing; false; }
	[ "$n" -ge 30 ]
}

@test "documents: each message in the manager's sources and in lib/ is in a page" {
	need_tool mandoc
	for page in "$TREE"/bin/*/*.1 "$TREE"/trace-hooks/*.[157]; do
		section "$page" 'ERROR MESSAGES'
		echo
	done >pages
	messages "$TREE"/lib/[!o]*/*.c "$TREE"/trace-hooks/*/subsystem.c >wanted
	absent pages wanted >missing
	[ ! -s missing ] || { cat missing; false; }
	file_has 50+ wanted
}

@test "documents: each common option of the hooks is in trace-hooks(7)" {
	local name n=0
	sed -n 's/.*# option: .*--\([a-z]*\) *.*  .*/\1/p' "$TREE/lib/session/common.help" >names
	while IFS= read -r name; do
		echo "$name"
		grep -Eq "^\.It Fl (. , -|-)$name( |$)" "$TREE/trace-hooks/trace-hooks.7"
		n=$((n + 1))
	done <names
	[ "$n" -ge 13 ]
}

@test "documents: CONTRIBUTING and trace-hook(5) show the same hook" {
	sed -n '/^# description:/,/^```/p' "$TREE/CONTRIBUTING.md" | sed '$d' >contributing
	sed -n '/^# description:/,/^\.Ed/p' "$TREE/trace-hooks/trace-hook.5" | sed '$d' >page
	[ -s page ]
	cmp contributing page
}

@test "documents: each hook's header parses, and its first line is the description" {
	local manager hook n=0
	for manager in "$TREE"/trace-hooks/*/manager; do
		for hook in "${manager%/*}"/hooks.d/*; do
			run -0 --separate-stderr "$manager" --describe "${hook##*/}"
			# shellcheck disable=SC2154 # set by run
			[ "$stderr" = "" ]
			[ "${lines[0]}" = "$(sed -n 's/^# description: *//p' "$hook")" ]
			n=$((n + 1))
		done
	done
	[ "$n" -ge 1 ]
}

@test "documents: the manager knows every key in the headers of hooks" {
	heads >all
	grep -q ':# description: ' all
	run -1 grep -E ':# [a-z]*:' <(grep -Ev ':# (description|alternative|question|columns|picture|example|requires|option|pass|adds|complete|marks|stream|summary|whom): ' all)
	run -1 grep -Ei ':#[[:space:]]*(desc|req|opt)[a-z]*[[:space:]]*:' \
		<(grep -Ev ':# (description|alternative|question|columns|picture|example|requires|option|stream|whom): ' all)
}

@test "documents: the table of kernels has each guest, each tool and each hook" {
	sed -n '/^<!-- guests:/,/^<!-- end of guests -->/p' "$TREE/KERNELS.md" >table
	while read -r kernel arch _; do
		[ "$kernel" = '#' ] || printf ' %s %s |' "$kernel" "$arch"
	done <"$TREE/t/vm/guests" >guests
	[ "$(sed -n 's/^| |//p' table)" = "$(cat guests)" ]
	for file in "$TREE"/bin/*/*.1 "$TREE"/trace-hooks/*/hooks.d/*; do
		name=${file##*/}
		grep -qF "| \`${name%.1}\` |" table || { echo "no ${name%.1}"; return 1; }
	done
	run -1 grep FAILED table
}

@test "documents: make check-quick has a test of each tool and each hook" {
	grep -hEA 1 '^# bats test_tags=quick(,|$)' "$TREE"/t/*/*.bats |
		sed -n 's/^@test "\([^:]*\):.*/\1/p' >quick
	for file in "$TREE"/bin/*/*.1 "$TREE"/trace-hooks/*/hooks.d/*; do
		grep -qx "$(basename "$file" .1)" quick || { echo "no $file"; return 1; }
	done
}

@test "documents: every file that can has its SPDX tag at the top" {
	need_tool git
	cd "$TREE"
	git ls-files >"$BATS_TEST_TMPDIR/files" 2>/dev/null || skip "needs a git checkout"
	[ -s "$BATS_TEST_TMPDIR/files" ] || skip "needs a git checkout"
	while IFS= read -r file; do
		case $file in
		LICENSE | LICENSES/* | .reuse/* | .gitignore | *.md | *.json | */corpus/* | t/cases/*.dat | t/cases/*.txt | t/data/slow.* | */debian/changelog | */source/format) continue ;;
		esac
		[ ! -f "$file" ] || echo "$file"
	done <"$BATS_TEST_TMPDIR/files" >"$BATS_TEST_TMPDIR/wanted"
	tr '\n' '\0' <"$BATS_TEST_TMPDIR/wanted" | xargs -0 awk '
		FNR <= 3 && /SPDX-License-Identifier: ISC/ { print FILENAME }' |
		sort -u >"$BATS_TEST_TMPDIR/tagged"
	run -1 grep -vxFf "$BATS_TEST_TMPDIR/tagged" "$BATS_TEST_TMPDIR/wanted"
}

@test "documents: NEWS begins with the version of the Makefile, and no file names an older one as ours" {
	local version older
	version=$(sed -n 's/^VERSION = //p' "$TREE/Makefile")
	[ "$(tfs-dir --version | cut -d ' ' -f 2)" = "$version" ]
	sed -n 's/^## //p' "$TREE/NEWS.md" >versions
	[ "$(head -n 1 versions)" = "$version" ]
	[[ "$(head -n 1 "$TREE/deploy/deb/debian/changelog")" == "tfs-tools ($version) "* ]]
	grep -qx "| ${version%.*} | .* |" "$TREE/SECURITY.md"
	older=$(tail -n +2 versions | sed 's/\./\\./g' | paste -sd '|')
	run -1 grep -rnE "(^|[^0-9.])($older)([^0-9.]|\$)" "$TREE/deploy" --exclude=changelog
	[ -z "$(find "$TREE/deploy" -regextype egrep -regex ".*_($older)[^0-9/]*")" ]
}

@test "documents: each function that SECURITY.md names at a border is in its file" {
	# shellcheck disable=SC2016 # backquotes of Markdown
	sed -n '/^## Borders/,/^## What/s/^| [^|]* | //p' "$TREE/SECURITY.md" | grep -o '`[a-z_]*`, `[a-z_/]*\.c`' | tr -d '`,' >borders
	[ "$(wc -l <borders)" -ge 25 ]
	while read -r function file; do
		grep -qE "^[a-z][^;]*[ *]$function\(" "$TREE/$file" || echo "$function is not in $file"
	done <borders >missing
	[ ! -s missing ] || { cat missing; false; }
}

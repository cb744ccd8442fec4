#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2153 # words as they are; each test is a process of its own
# hook: test the header of hooks, and the hooks themselves in each shell

load ../helper

# hook NAME: Make a hook with this header, which writes its options to the file seen.
hook() {
	[ -n "${HOOKS-}" ] || own_tree
	make_hook "$1" <<-END
	$(cat)

	tr '\\0' '\\n' </proc/\$\$/environ | grep '^HOOK_' | LC_ALL=C sort >"$PWD/seen" || :
	END
}

# given HOOK WORDS: Run a session to its end; fail unless HOOK got the options on stdin.
given() {
	local status=0
	rm -f seen
	"$MANAGER" --run "$1" --args "--pid $$ --instance $MARK --time 1 ${*:2}" >out 2>err || status=$?
	cat err
	[ "$status" = 0 ]
	diff - seen
}

# head_refused LINE COMPLAINT: Fail unless a header of a description and LINE is refused so.
head_refused() {
	hook bad <<-END
	# description: bad
	$1
	END
	refused 100 "$HOOKS/bad: $2" --describe bad
	refused 100 "$HOOKS/bad: $2" --run bad --args "--pid $$"
}

# ---- the head ---------------------------------------------------------------------

@test "hook: a hook without a description is refused by name" {
	hook bad <<<'# option: --x  y'
	refused 100 "$HOOKS/bad: no description in its header" --describe bad
	refused 100 "$HOOKS/bad: no description in its header" --run bad --args "--pid $$"
}

@test "hook: a malformed option line is refused with its line number" {
	for line in x -x '-x NAME' '-x,--long' '-xy, --long' '--' '--Long' '--long_name' '---long' \
		'--x=NAME' '--x NAM' '--x name' '--x NAME..' '--x NAME....' '--x [NAME' '--x []' \
		'--x ...' '--x one|two three' '--x only' '-x, -y' "--$(printf 'x%.0s' {1..32})"; do
		head_refused "# option: $line  does it" \
			"line 3: not an option declaration, or its name is in use: $line  does it"
	done
	head_refused "# option:" "line 3: not an option declaration, or its name is in use: "
}

@test "hook: columns are for tfs-human, and a mistake in them is refused with its line number" {
	head_refused "# columns: RET:1=ret" "line 3: not columns: RET:1=ret"
	head_refused "# columns: RET" "line 3: not columns: RET"
	hook good <<-'END'
	# description: good
	# columns: RET:8=ret PATH=path
	# option: --x  y
	END
	"$MANAGER" --describe good >with
	sed -i /columns/d "$HOOKS/good"
	"$MANAGER" --describe good | cmp with -
}

@test "hook: picture and summary say which words make one and why others do not, and a mistake is refused" {
	for line in none 'none because' 'with  no word' '--slower  only these' 'without --raw no'; do
		head_refused "# picture: $line" "line 3: not 'none', 'with' or 'without' and a reason: $line"
		[[ $line = --* ]] || head_refused "# summary: $line" \
			"line 3: not options, 'none', 'with' or 'without' and a reason: $line"
	done
	hook good <<-'END'
	# description: good
	# picture: with --x sched:sched_switch  others are short
	# option: --x  y
	# option: --event EVENT  z
	END
	"$MANAGER" --describe good >with
	sed -i /picture/d "$HOOKS/good"
	"$MANAGER" --describe good | cmp with -
}

@test "hook: only options of lines above can be passed, and none with values that commas cannot divide" {
	for line in --y '--x (--y)' 'x' '--pid' '--x=--y | --z' '--many' '--none'; do
		hook bad <<-END
		# description: bad
		# option: --x TEXT  one
		# option: --many TEXT...  with commas in a value
		# option: --none [NAME...]  or none
		# pass: $line
		END
		refused 100 "$HOOKS/bad: line 6: not options of lines above, or with values that cannot be passed: $line" \
			--describe bad
	done
}

@test "hook: what tfs-run adds for a view is a view and options, and a stream is of a known kind" {
	for line in summary 'people -x' '--decode'; do
		head_refused "# adds: $line" "line 3: not a view and options, or too many: $line"
	done
	for line in '' read 'ready --x' 'plain text'; do
		head_refused "# stream: $line" "line 3: unknown value of stream: $line"
	done
	hook viewed <<-'END'
	# description: viewed
	# option: --whole  y
	# option: --part  z
	# adds: summary --whole --part
	# complete: --part
	END
	"$MANAGER" --describe viewed >with
	sed -i '/adds/d; /complete/d' "$HOOKS/viewed"
	"$MANAGER" --describe viewed | cmp with -
}

@test "hook: an option or letter that exists already is refused" {
	for line in '--pid PID' '-p, --mine' '--output file' '-i, --other NAME' '--all'; do
		head_refused "# option: $line  mine" \
			"line 3: not an option declaration, or its name is in use: $line  mine"
	done
	hook twice <<-'END'
	# description: twice the same
	# option: --x NAME  one
	# option: --y NAME  another
	# option: --x NAME  one again
	END
	refused 100 "$HOOKS/twice: line 5: not an option declaration, or its name is in use: --x NAME  one again" \
		--describe twice
}

@test "hook: a hook may define --uid and --comm itself, and then they select no task" {
	need_tracefs
	hook mine <<-'END'
	# description: mine
	# option: --uid UID  at each event
	# option: --comm TEXT  of this name
	END
	run -0 "$MANAGER" --describe mine
	[ "$(grep -c -e '--uid' <<<"$output")" = 1 ]
	[ "$(grep -c -e '--comm' <<<"$output")" = 1 ]
	[ "${lines[1]}" = "--uid UID  at each event" ]
	given mine --uid 77 --comm nobody <<-'END'
	HOOK_COMM=nobody
	HOOK_UID=77
	END
	refused 100 "mine: no task is selected; give --pid, or see --describe mine" \
		--run mine --args "--uid 0 --comm x"
	refused 100 "--uid takes one value, and '2' is one too many; leave it out" --run mine --args "--pid $$ --uid 1 2"
}

@test "hook: too many requirements are refused" {
	hook much <<-END
	# description: wants everything
	$(printf '# requires: events %s\n' {1..17})
	END
	refused 100 "$HOOKS/much: line 19: too many requirements" --describe much
}

@test "hook: a broken hook does not hide the others" {
	hook bad <<<'# nothing'
	"$MANAGER" --get-all >names
	grep -qx bad names
	"$MANAGER" --describe trace_syscalls >described
	[ -s described ]
}

@test "hook: the header ends at the first line that is not a comment" {
	hook short <<-'END'
	# description: short
	#
	# option: --first NAME  is one

	# option: --second NAME  is none
	# description: another
	END
	"$MANAGER" --describe short >described
	head -n 3 described | diff - <(cat <<-'END'
	short
	--first NAME  is one
	-p, --pid PID...  trace these tasks, their threads and descendants
	END
	)
}

# ---- requirements -----------------------------------------------------------------

# wants LINE MESSAGE: Fail unless a hook that requires LINE is refused before anything begins.
wants() {
	need_tracefs
	hook wanting <<-END
	# description: wants
	# requires: $1
	# option: --file NAME...  of events
	END
	refused 111 "wanting: $2" --run wanting --args "--pid $$ ${3-}"
}

# has LINE: Fail unless a hook that requires LINE runs.
has() {
	need_tracefs
	hook having <<-END
	# description: has
	# requires: $1
	# option: --file NAME...  of events
	END
	given having "${@:2}" <<-END
	${2:+HOOK_FILE=${*:3}}
	END
}

@test "hook: a missing requirement is named, with the place to look at" {
	wants events/nosuch "no events/nosuch in this kernel; look in $TRACEFS/events"
	wants "events events/nosuch" "no events/nosuch in this kernel; look in $TRACEFS/events"
	wants nosuch/file "no nosuch/file in this kernel"
	wants nosuch "no nosuch in this kernel"
}

@test "hook: a missing requirement is reported with the remedy in parentheses" {
	wants "nosuch/file (CONFIG_NOSUCH)" "no nosuch/file in this kernel; it needs CONFIG_NOSUCH"
	wants "nosuch/file | nosuch/other (CONFIG_A or B)" \
		"no nosuch/file in this kernel; it needs CONFIG_A or B"
}

@test "hook: one alternative of a requirement must hold, and the message names the first" {
	wants "nosuch/a | nosuch/b" "no nosuch/a in this kernel"
	wants "nosuch/a | events nosuch/b" "no nosuch/a in this kernel"
	has "events | nosuch" --file x </dev/null
	has "nosuch | events" --file x
	has "nosuch | nosuch | events instances (CONFIG_X)" --file x
}

@test "hook: PATH requires that PATH does not exist" {
	wants '!events' "no !events in this kernel"
	wants 'nosuch/a | !events' "no nosuch/a in this kernel"
	has '!nosuch' --file x
	has 'nosuch | !nosuch/file' --file x
}

@test "hook: {OPTION} in a requirement stands for each of its values, or for none" {
	has 'events/{file}/enable' --file sched
	has 'events/{file}/enable' --file sched signal
	wants 'events/{file}/enable' "no events/nosuch/enable in this kernel" "--file sched nosuch"
	hook having <<-'END'
	# description: has
	# requires: nosuch/{file}
	# option: --file NAME...  of events
	END
	given having </dev/null
}

# ---- options ----------------------------------------------------------------------

@test "hook: a hook gets an option as HOOK_NAME, in capitals, with _ for -" {
	need_tracefs
	hook named <<-'END'
	# description: names
	# option: -a, --alpha NAME  one
	# option: --two-words NAME  another
	# option: --x9-y N  a third
	# option: --a-flag  a flag
	# option: --not-given NAME  nothing
	END
	given named --x9-y 7 --a-flag --two-words=b -a c <<-'END'
	HOOK_ALPHA=c
	HOOK_A_FLAG=1
	HOOK_TWO_WORDS=b
	HOOK_X9_Y=7
	END
	given named </dev/null
}

@test "hook: NAME... takes many values, NAME takes one, and a bare option takes none" {
	need_tracefs
	hook counts <<-'END'
	# description: counts
	# option: --one NAME  one
	# option: --many NAME...  many
	END
	given counts --one a --many b c --many=d <<-'END'
	HOOK_MANY=b c d
	HOOK_ONE=a
	END
	refused 100 "--one takes one value, and 'b' is one too many; leave it out" --run counts --args "--pid $$ --one a b"
	refused 100 "--one needs a value; --describe counts describes it" --run counts --args "--pid $$ --one"
	refused 100 "--many needs a value; --describe counts describes it" --run counts --args "--pid $$ --many"
}

@test "hook: [NAME...] accepts an empty list" {
	need_tracefs
	hook maybe <<-'END'
	# description: may be empty
	# option: --some [NAME...]  some or none
	END
	given maybe --some a b <<<'HOOK_SOME=a b'
	given maybe --some <<<'HOOK_SOME='
	given maybe </dev/null
}

@test "hook: a [prefix] may be given or left out" {
	need_tracefs
	hook prefixed <<-'END'
	# description: prefixes
	# option: --one [sys_]NAME  one
	# option: --some [[sys_enter_]NAME...]  some or none
	END
	given prefixed --one sys_a --some sys_enter_b c sys_d <<-'END'
	HOOK_ONE=a
	HOOK_SOME=b c sys_d
	END
	given prefixed --one a --some <<-'END'
	HOOK_ONE=a
	HOOK_SOME=
	END
	refused 100 "--one: '' is not a name: letters, digits, _ . - and 64 of them at most" \
		--run prefixed --args "--pid $$ --one sys_"
	refused 100 "--one: '../x' is not a name: letters, digits, _ . - and 64 of them at most" \
		--run prefixed --args "--pid $$ --one sys_../x"
}

@test "hook: N:LEAST-MOST is a number in this range" {
	need_tracefs
	hook ranges <<-'END'
	# description: ranges
	# option: --data N:0-4096  bytes
	# option: --words N:1-32...  words
	END
	for n in 0 1 4095 4096; do
		given ranges --data "$n" --words 1 32 <<-END
		HOOK_DATA=$n
		HOOK_WORDS=1 32
		END
	done
	for n in 4097 5000 99999999999999999999 -1 x 0x10; do
		refused 100 "--data: '$n' is not a number from 0 to 4096" --run ranges --args "--pid $$ --data=$n"
	done
	refused 100 "--words: '0' is not a number from 1 to 32" --run ranges --args "--pid $$ --words 0"
	refused 100 "--words: '33' is not a number from 1 to 32" --run ranges --args "--pid $$ --words 32 33"
}

@test "hook: commas separate the values of lists, but of text only with TEXT,..." {
	need_tracefs
	hook lists <<-'END'
	# description: lists
	# option: --names NAME...  names
	# option: --some [[sys_]NAME...]  some or none
	# option: --ns N...  numbers
	# option: --how fast|slow...  choices
	# option: --words TEXT,...  words
	# option: --texts TEXT...  texts, with their commas
	# option: --text TEXT  one, with its commas
	END
	given lists --names a,b c,d --some sys_a,sys_b --ns 1,2 --words x:y,z --texts x,y z \
		--text a,b <<-'END'
	HOOK_NAMES=a b c d
	HOOK_NS=1 2
	HOOK_SOME=a b
	HOOK_TEXT=a,b
	HOOK_TEXTS=x,y z
	HOOK_WORDS=x:y z
	END
	refused 100 "--words: '' is not printable text" --run lists --args "--pid $$ --words a,"
	refused 100 "--ns: '' is not a number" --run lists --args "--pid $$ --ns ,"
}

@test "hook: a hook gets the living pids of a list, and at least one must live" {
	need_tracefs
	hook tasks <<-'END'
	# description: tasks
	# option: --tasks PID...  tasks
	END
	given tasks --tasks "4194304,$$" <<<"HOOK_TASKS=$$"
	refused 100 "--tasks: no task 4194304 is alive; ps -eL lists the tasks" \
		--run tasks --args "--pid $$ --tasks 4194304"
}

@test "hook: a choice accepts exactly the listed words" {
	need_tracefs
	hook choice <<-'END'
	# description: chooses
	# option: --how fast|slow|very-slow  the choice
	END
	for how in fast slow very-slow; do
		given choice --how "$how" <<<"HOOK_HOW=$how"
	done
	for how in '' f fas faster Fast 'fast|slow' '|' 'slow|'; do
		refused 100 "--how: '$how' is not one of fast|slow|very-slow" \
			--run choice --args "--pid $$ --how '$how'"
	done
}

@test "hook: each type accepts valid values and nothing else" {
	need_tracefs
	local name="a name: letters, digits, _ . - and 64 of them at most"
	local time='a time such as 500 (milliseconds), 500ms, 5s, 2m or 1h'
	local size='a size such as 500 (kilobytes), 64M or 1G'
	local times='from 1 to 2147483647 milliseconds; give a time such as 500ms, 5s, 2m or 1h'
	local sizes='from 1 to 2147483647 kilobytes; give a size such as 64M or 1G'
	hook typed <<-'END'
	# description: types
	# option: --name NAME  name
	# option: --task PID  pid
	# option: --n N  number
	# option: --ms MS  milliseconds
	# option: --kb KB  kilobytes
	# option: --us US  microseconds
	# option: --port PORT...  ports
	# option: --box ID  a container
	# option: --user UID  user
	# option: --disk DISK  disk
	# option: --text TEXT  text
	# option: --flag  flag
	END
	while read -r option good; do
		given typed "--$option" "$good" <<-END
		HOOK_$(echo "$option" | tr '[:lower:]' '[:upper:]')=$good
		END
	done <<-END
	name a.B-c_9
	name $(printf 'a%.0s' {1..64})
	task $$
	n 0
	n 4294967295
	ms 1
	ms 2147483647
	ms 0012
	us 0
	us 18446744073709551615
	kb 2147483647
	kb 01
	port 0
	port 65535
	box 0a1f
	box $(printf 'f%.0s' {1..64})
	user 0
	user 4294967295
	text \$HOME;*
	END
	given typed --text "' a  b'" <<<'HOOK_TEXT= a  b'
	while IFS=: read -r option bad what; do
		refused 100 "--$option: '$bad' is not $what" --run typed --args "--pid $$ --$option='$bad'"
	done <<-END
	name:.a:$name
	name::$name
	name:a/b:$name
	task:x:a pid, a number from 1 to 4194304
	task:0:a pid, a number from 1 to 4194304
	n::a number
	n:-1:a number
	n:1x:a number
	ms:0:$times
	ms:2147483648:$times
	ms:2147484s:$times
	ms:5 s:$time
	ms:s:$time
	ms:5S:$time
	ms:1.5s:$time
	us:-1:a time such as 500 (microseconds), 500us, 10ms or 1s
	us:5m:a time such as 500 (microseconds), 500us, 10ms or 1s
	us:18446744073709551615ms:a time such as 500 (microseconds), 500us, 10ms or 1s
	kb:0:$sizes
	kb:0M:$sizes
	kb:1KB:$size
	kb:2048G:$sizes
	port:65536:the name or the number of a port
	port:a b:the name or the number of a port
	box:abc:a container's id: at least 4 of its first digits, 0-9 a-f
	box:abcg:a container's id: at least 4 of its first digits, 0-9 a-f
	box:$(printf 'a%.0s' {1..65}):a container's id: at least 4 of its first digits, 0-9 a-f
	user:a b:the name or the number of a user
	user:1a:the name or the number of a user
	user:4294967296:the name or the number of a user
	disk:../sda:the name of a disk, such as sda
	text::printable text
	END
	refused 100 "--flag takes no value; leave 'x' out" --run typed --args "--pid $$ --flag x"
	refused 100 "--task: no task 4194304 is alive; ps -eL lists the tasks" --run typed --args "--pid $$ --task 4194304"
}

# became OPTION=WORD GOT...: Fail unless the hook types gets GOT for each WORD.
became() {
	local pair
	for pair in "${@:2}"; do
		given typed "--$1" "${pair%=*}" <<<"HOOK_${1^^}=${pair#*=}"
	done
}

@test "hook: gets plain numbers for units and for the names of users and ports" {
	need_tracefs
	hook typed <<-'END'
	# description: types
	# option: --ms MS  milliseconds
	# option: --us US  microseconds
	# option: --kb KB  kilobytes
	# option: --user UID...  user
	# option: --port PORT...  ports
	END
	became ms 500ms=500 5s=5000 2m=120000 1h=3600000 2147483s=2147483000
	became us 7us=7 10ms=10000 2s=2000000
	became kb 7K=7 7k=7 64M=65536 64m=65536 2G=2097152 1g=1048576 2047G=2146435072
	became user root=0 "$(sed -n '$s/:.*//p' /etc/passwd)=$(sed -n '$p' /etc/passwd | cut -d : -f 3)" \
		'0,root 7=0 7'
	grep -Eq '^http[[:space:]]+80/tcp' /etc/services || skip "needs http in /etc/services"
	became port http=80 'http,443 domain=80 443 53'
}

@test "hook: an unknown user or port is refused, with the nearest names" {
	need_tracefs
	hook typed <<-'END'
	# description: types
	# option: --user UID...  user
	# option: --port PORT...  ports
	END
	refused 100 "--user: no user 'rooot' in /etc/passwd; did you mean root?" \
		--run typed --args "--pid $$ --user 0 rooot"
	refused 100 "--user: no user 'nosuchuserhere' in /etc/passwd; give the number, as id -u prints it" \
		--run typed --args "--pid $$ --user nosuchuserhere"
	[ -e /etc/services ] || {
		refused 100 "--port: unable to look up port 'http' in /etc/services, give the number: No such file or directory" \
			--run typed --args "--pid $$ --port http"
		return
	}
	refused 100 "--port: no port 'nosuchporthere' in /etc/services; give the number" \
		--run typed --args "--pid $$ --port nosuchporthere"
	grep -Eq '^domain[[:space:]]+53/tcp' /etc/services || skip "needs domain in /etc/services"
	refused 100 "--port: no port 'domian' in /etc/services; did you mean domain?" \
		--run typed --args "--pid $$ --port domian"
}

# ---- the run of a hook ----------------------------------------------------------

@test "hook: a hook that fails ends the session with its own line, or with its status" {
	need_tracefs
	own_tree
	make_hook mute <<<$'# description: fails\nexit 7'
	mkdir -p "$TFS_RUNDIR/ftrace"
	refused_later "mute: the hook failed with status 7 and wrote no message; add set -x to it" mute
	make_hook says <<<$'# description: fails\necho "no such thing" >&2; echo more >&2; exit 1'
	refused_later "no such thing" says
	make_hook killed <<<$'# description: fails\nkill -KILL $$'
	refused_later "killed: the hook failed with status 137 and wrote no message; add set -x to it" killed
	make_hook halfway <<<$'# description: fails\ntfs-write events/sched/sched_switch/enable 1 nosuch 1'
	refused_later "unable to write nosuch: No such file or directory" halfway
	printf '#!/nonexistent\n# description: no interpreter\n' >"$HOOKS/alone"
	chmod +x "$HOOKS/alone"
	refused_later "unable to run $HOOKS/alone: No such file or directory" alone
}

# refused_later MESSAGE HOOK: Like refused, after directories were made.
refused_later() {
	refused 111 "$1" --run "$2" --args "--pid $$ -i $MARK"
	nothing_left
}

@test "hook: a hook that ends with 100 makes the manager end with 100 and the hook's line" {
	need_tracefs
	own_tree
	mkdir -p "$TFS_RUNDIR/ftrace"
	make_hook misused <<-'END'
	# description: is misused
	echo 'which of them?' >&2
	exit 100
	END
	refused 100 'which of them?' --run misused --args "--pid $$ -i $MARK"
	make_hook tool <<-'END'
	# description: misuses a tool
	set -e
	tfs-write
	END
	exits 100 "$MANAGER" --run tool --args "--pid $$ -i $MARK"
	[[ $(cat err) == 'manager: fatal: '*'; usage: tfs-write '* ]]
	run -1 grep 'fatal:.*fatal:' err
}

@test "manager: --check reads the requirements of a hook, as --run does" {
	need_tracefs
	own_tree
	make_hook closed <<-'END'
	# description: requires a closed file
	# requires: events/enable set_ftrace_filter
	END
	if head -c 1 "$TRACEFS/set_ftrace_filter" >filter.out 2>&1; then
		run -0 "$MANAGER" --check closed
		return
	fi
	[ -e "$TRACEFS/set_ftrace_filter" ] || skip "needs set_ftrace_filter (CONFIG_DYNAMIC_FTRACE)"
	why="unable to open set_ftrace_filter in $TRACEFS: Operation not permitted; the kernel or its security policy forbids that"
	run -1 --separate-stderr "$MANAGER" --check closed
	[ "$output" = "closed: $why" ]
	refused 111 "closed: $why" --run closed --args "--pid $$"
	MANAGER=$TREE/trace-hooks/ftrace/manager
	run -1 "$MANAGER" --check trace_function
	[ "$output" = "trace_function: $why; instead: tfs-run trace_kprobe -k FUNCTION, or trace_event -e 'EVENT'" ]
}

@test "manager: --check reports missing tools, as --run does" {
	need_tracefs
	own_tree
	rm tree/bin
	here=$BATS_TEST_TMPDIR/tree/trace-hooks/ftrace
	refused 111 "no tools near $here: the tree is not complete" --check trace_event
	refused 111 "no tools near $here: the tree is not complete" \
		--check trace_event --args "--pid $$ -e sched_switch"
	refused 111 "no tools near $here: the tree is not complete" \
		--run trace_event --args "--pid $$ -e sched_switch"
}

@test "hook: a hook runs in the session's instance, with the tools in its PATH" {
	need_tracefs
	own_tree
	make_hook place <<-END
	# description: where it is
	{ pwd; command -v tfs-write; tfs-dir; cat tracing_on set_event_pid; } >"$PWD/seen"
	END
	"$MANAGER" --run place --args "--pid $$ -i $MARK --time 1" >out
	[ "$(sed -n 1p seen)" = "$TRACEFS/instances/tfs.$MARK" ]
	[ "$(realpath "$(sed -n 2p seen)")" = "$(realpath "$TREE/bin/tfs-write")" ]
	[ "$(sed -n 3p seen)" = "$TRACEFS/instances/tfs.$MARK" ]
	# the pid filter is set before the hook runs, and nothing is recorded yet
	[ "$(sed -n 4p seen)" = 0 ]
	grep -qx "$$" seen
}

@test "hooks: no hook loses the status of a tool to a pipe" {
	# shellcheck disable=SC2016 # a pattern
	run -1 grep -nE '\$\((tfs|blk|dt|pids|syscall)-[^()|]*\|' "$TREE"/trace-hooks/*/hooks.d/*
}

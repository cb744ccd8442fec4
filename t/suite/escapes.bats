#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# Names that programs choose, in event lines and in each view that is made of them: tfs-catpipe(1)

load ../helper

# A name as t/prog/hostile.c reads it; as it is in an event line; as tables and people see it.
NAMES='a" next_pid=1	a\" next_pid\x3d1	a" next_pid=1
a\\b	a\\b	a\\b
two\nlines	two\nlines	two\nlines
x next_pid=1	x next_pid\x3d1	x next_pid=1
 x pid=1 	\x20x pid\x3d1\x20	 x pid=1 
a ==> b=1	a \x3d\x3d> b\x3d1	a ==> b=1
a b: c: d	a b\x3a c\x3a d	a b: c: d
a,	a\x2c	a,
-1 [0] 1.0: e(	-1 [0] 1.0\x3a e(	-1 [0] 1.0: e(
\x1b[2J\xc2\x9bm	\x1b[2J\xc2\x9bm	\x1b[2J\xc2\x9bm
"	\"	"
\\n	\\n	\\n
Web Content	Web Content	Web Content
tmux: server	tmux: server	tmux: server
a=b:	a=b:	a=b:
a;b|c<&>	a;b|c<&>	a;b|c<&>
naïve	naïve	naïve'

# column N: Print a column of the names.
column() {
	cut -f "$1" <<<"$NAMES"
}

# as_json: Print the names as strings of JSON, without their quotes.
as_json() {
	need_tool python3
	column 1 | python3 -c 'import json, re, sys
for line in sys.stdin.buffer.read().splitlines():
    name = re.sub(rb"\\(n|\\|x..)", lambda m: {b"n": b"\n", b"\\": b"\\"}.get(m[1]) or
                  bytes([int(m[1][1:], 16)]), line)
    print(json.dumps(name.decode())[1:-1])'
}

# lines: Print events of tasks with these names as text.
lines() {
	local name time=0
	while IFS= read -r name; do
		printf '%16s-7       [000] d..2. %d.000001: sched_switch: prev_comm=%s prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120\n' "$name" $((++time)) "$name"
		printf '          <idle>-0       [000] d..2. %d.000002: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=%s next_pid=7 next_prio=120\n' "$time" "$name"
		printf '%16s-7       [000] ..... %d.000003: e: name=%s lat=5\n' "$name" "$time" "$name"
		printf '%16s-7       [000] ..... %d.000004: f: quoted="%s" n=1\n' "$name" "$time" "$name"
	done < <(column 2)
}

# objects: Print the same events as JSON.
objects() {
	local name time=0 head='{"ts":%d.%09d,"cpu":0,"pid":7,"comm":"%s","system":"s","event":"%s","fields":{'
	# shellcheck disable=SC2059 # the format begins all objects
	while IFS= read -r name; do
		printf "$head"'"prev_comm":"%s","prev_pid":7,"prev_prio":120,"prev_state":1,"next_comm":"swapper/0","next_pid":0,"next_prio":120}}\n' $((++time)) 1000 "$name" sched_switch "$name"
		printf "$head"'"prev_comm":"swapper/0","prev_pid":0,"prev_prio":120,"prev_state":0,"next_comm":"%s","next_pid":7,"next_prio":120}}\n' "$time" 2000 '<idle>' sched_switch "$name"
		printf "$head"'"name":"%s","lat":5}}\n' "$time" 3000 "$name" e "$name"
		printf "$head"'"quoted":"%s","n":1}}\n' "$time" 4000 "$name" f "$name"
	done < <(as_json)
}

# both COMMAND...: Run the command with the events as text, to from_text, and as JSON, to from_json.
both() {
	lines >events
	objects >events.json
	"$@" <events >from_text
	"$@" <events.json >from_json
}

@test "escapes: kernel: text has each name escaped, -j and -x have its bytes" {
	local names
	need_tracefs events/task/task_rename
	need_tracefs events/syscalls
	mapfile -t names < <(column 1)
	printf '\n\n' >go
	tfs-run -o names.dat trace_event -e task_rename -e sys_enter_getppid --instance "$MARK" -- \
		"$PROG/hostile" names "${names[@]}" <go >ready
	tfs-report names.dat | grep 'newcomm=[^h]' >text
	sed 's/^ *\(.*\)-[0-9]* *\[[0-9]*\] [^ ]* *[0-9.]*: .*/\1/' text | diff - <(column 2)
	sed 's/.* newcomm=\(.*\) oom_score_adj=.*/\1/' text | diff - <(column 2)
	tfs-report -j names.dat | grep '"newcomm":"[^h]' | sed 's/.*"newcomm":"\(.*\)","oom_score_adj.*/\1/' >json
	python3 -c 'import json; [print(json.dumps(json.loads("\"" + s + "\""))[1:-1]) for s in
		open("json").read().splitlines()]' | diff - <(as_json)
	tfs-report -x names.dat >raw
	grep -Fq 'newcomm=a" next_pid=1 oom' raw
	grep -Fqx 'lines oom_score_adj=0' raw
	grep -Fq 'newcomm=a\b oom' raw
}

@test "escapes: each table has the name, from text and from JSON, with control characters and backslashes escaped" {
	local key
	column 3 | LC_ALL=C sort >names
	for key in comm .name quoted; do
		both tfs-count -k "$key"
		sed -n 's/^ *[0-9]* //p' from_text | grep -vx -e - -e '<idle>' | LC_ALL=C sort | diff - names
		diff from_text from_json
	done
	both tfs-summary -k .name
	sed 1d from_text | sed -n 's/^ *1 .\{43\}//p' | grep -vx -e - | LC_ALL=C sort | diff - names
	diff from_text from_json
	both tfs-hist -k lat -b name
	sed -n 's/^lat name=\(.*\): 1 value, .*/\1/p' from_text | LC_ALL=C sort | diff - names
	diff from_text from_json
}

@test "escapes: a value that tfs-latency carries to another line is the same name there" {
	both tfs-latency -s e -e f -c name
	for file in from_text from_json; do
		tfs-count -k .name <$file | sed -n 's/^ *1 //p' | LC_ALL=C sort |
			diff - <(column 3 | LC_ALL=C sort)
	done
	[ "$(grep -c ' n=1 name=.* lat=1$' from_text)" = "$(column 1 | wc -l)" ]
}

@test "escapes: people see each name in the column of the task" {
	lines | grep ': e: ' | tfs-human | sed '1d; s/ *7 e name=.*//' | cut -c 18- | sed 's/ *$//' |
		diff - <(column 3 | sed 's/ *$//')
}

@test "escapes: pictures and folded stacks have each name" {
	both tfs-timeline -c
	grep -o '<title>.*-7 at ' from_text | sed 's/.*>\(.*\)-7 at /\1/
		s/&quot;/"/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' >titles
	column 3 | sed '$d' | diff - titles # the last one does not leave the CPU
	lines | sed -n "h; s/: e: .*/: <stack trace>/; t found
		b; : found; x; p; x; p; s/.*/ => main/p" | tfs-flame -f | sed 's/;main 1$//' |
		LC_ALL=C sort | diff - <(column 3 | tr ';' ':' | LC_ALL=C sort)
}

@test "escapes: Perfetto gets the bytes of each name" {
	need_tool protoc python3
	both tfs-perfetto
	for file in from_text from_json; do
		protoc --decode=perfetto.protos.Trace -I "$TREE/t/data" perfetto.proto <$file | sed -n 's/.*thread_name: "\(.*\)"$/\1/p' >names
		python3 -c 'import json, sys
for s in open("names"):
    name = s.rstrip("\n").encode().decode("unicode_escape").encode("latin1").decode()
    print(json.dumps(name)[1:-1])' | awk '!seen[$0]++' | diff - <(as_json)
	done
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# completion: in bash, zsh and fish, and the script that they ask

load ../helper

setup_file() {
	command -v make >/dev/null || return 0
	local words
	eval "words=($(sed -n 2p "$TREE/.build"))"
	make -s -C "$TREE" "${words[@]}" install PREFIX="$BATS_FILE_TMPDIR/root" 3>&-
}

# Use the installed programs.
installed() {
	need_tool make
	ROOT=$BATS_FILE_TMPDIR/root
	PATH=$ROOT/bin:${PATH//"$TREE/bin:"/}
	export HOME=$PWD
}

# answers WORD...: Print what the last WORD may become, without the descriptions.
answers() {
	"$ROOT/lib/trace-hooks/complete" "$@" | sed 's/	.*//'
}

# Print the lines that the tests complete, and into the file expected the completed lines.
lines() {
	cat <<-'END'
		tfs-run trace_sysc
		tfs-run -m blktrace trace_b
		tfs-run trace_syscalls --retu
		tfs-run trace_syscalls -s getpp
		tfs-run trace_syscalls -s read,getpp
		tfs-run trace_syscalls -s read getpp
		tfs-run trace_syscalls --color al
		tfs-run trace_syscalls --all -- syscall-n
		tfs-instance rem
		syscall-nr getpp
	END
	cat >expected <<-'END'
		tfs-run trace_syscalls
		tfs-run -m blktrace trace_blk
		tfs-run trace_syscalls --returns
		tfs-run trace_syscalls -s getppid
		tfs-run trace_syscalls -s read,getppid
		tfs-run trace_syscalls -s read getppid
		tfs-run trace_syscalls --color always
		tfs-run trace_syscalls --all -- syscall-nr
		tfs-instance remove
		syscall-nr getppid
	END
	: >some-file
	echo "tfs-report $PWD/some-f"
	echo "tfs-report $PWD/some-file" >>expected
	[ -r "$TRACEFS/events/sched/sched_switch" ] || return 0
	echo 'tfs-event sched:sched_swit'
	echo 'tfs-run trace_event -e sched:sched_swit'
	echo 'tfs-event sched:sched_switch' >>expected
	echo 'tfs-run trace_event -e sched:sched_switch' >>expected
}

# bash_rc, zsh_rc: Write the file by which the shell offers completions as it begins.
bash_rc() {
	cat >rc <<-END
		PS1='ready>'
		PATH=$PATH
		source $ROOT/share/bash-completion/completions/tfs-event
	END
}
zsh_rc() {
	# _all_matches inserts all answers
	cat >.zshrc <<-END
		PS1='> '
		PATH=$PATH
		zle-line-init() { print -n 'ready>'; }
		zle -N zle-line-init
		fpath=($ROOT/share/zsh/site-functions \$fpath)
		autoload -U compinit && compinit -D -u
		zle -C all-matches complete-word _generic
		zstyle ':completion:all-matches::::' completer _all_matches _complete
		zstyle ':completion:all-matches:*' insert true
		bindkey '\e*' all-matches
	END
}

@test "completion: bash completes hooks, options, system calls, events, files and commands, without any package" {
	installed
	need_tool python3
	bash_rc
	lines >typed
	python3 "$TREE/t/prog/keys.py" "$DEADLINE" bash --noprofile --rcfile rc -i <typed >got
	diff expected got
}

@test "completion: zsh completes hooks, options, system calls, events, files and commands" {
	installed
	need_tool python3 zsh
	zsh_rc
	lines >typed
	ZDOTDIR=$PWD python3 "$TREE/t/prog/keys.py" "$DEADLINE" zsh -d -i <typed >got
	diff expected got
}

@test "completion: fish completes hooks, options, system calls, events, files and commands" {
	installed
	need_tool fish
	lines >typed
	while IFS= read -r line; do
		words=$(XDG_DATA_DIRS=$ROOT/share:/usr/share fish -c "complete -C '$line'" </dev/null)
		echo "${line% *} ${words%%	*}"
	done <typed >got
	diff expected got
}

@test "completion: offers every option of a tool with its description, and its commands" {
	installed
	"$ROOT/lib/trace-hooks/complete" tfs-count - >got
	cat >want <<-'END'
		--key	count by KEY: event (default), comm, pid, cpu, time, or a field
		-k	count by KEY: event (default), comm, pid, cpu, time, or a field
		--top	print only the N most frequent values
		-n	print only the N most frequent values
		--sort	the most frequent value first (default), or by name
		-s	the most frequent value first (default), or by name
		--every	print a table every MS milliseconds, of the events since then
		-i	print a table every MS milliseconds, of the events since then
		--metrics	print metrics for Prometheus instead, when the trace ends
		-M	print metrics for Prometheus instead, when the trace ends
		--calls	count each system call once, also if it was recorded twice
		-c	count each system call once, also if it was recorded twice
		--begins	the trace has the beginning of each call that seccomp(2) let pass
		-b	the trace has the beginning of each call that seccomp(2) let pass
		--header	print a header, and system calls without sys_enter_
		-H	print a header, and system calls without sys_enter_
		--json	print a JSON object for each line
		-j	print a JSON object for each line
		--version	print the version
		--help	list the options
	END
	cmp want got
	[ "$(answers tfs-instance '')" = $'make\nhold\nlist\nremove' ]
	[ "$(answers tfs-instance list '')" = "" ]
	[ "$(answers tfs-count '')" = @files ]
	[ "$(answers tfs-dir '')" = "" ]
}

@test "completion: offers every hook, every option of a hook, and what tfs-run takes after it, and nothing else" {
	installed
	need_tracefs
	[ "$(answers tfs-run '' | sort)" = "$(find "$TREE"/trace-hooks/*/hooks.d -type f -printf '%f\n' | sort)" ]
	[ "$(answers tfs-run -m blktrace '')" = trace_blk ]
	for hook in "$TREE"/trace-hooks/*/hooks.d/*; do
		name=${hook##*/}
		sed -n 's/^# option: \(-., \)\{0,1\}--\([a-z-]*\).*/--\2/p' "$hook" >want
		printf '%s\n' -- --check --color --file --help --human --pid --time >>want
		# these are of the summary, unless the hook has them itself
		grep -Eq '^# (summary: none|option: --summary)' "$hook" || printf '%s\n' --summary --top --sort --every --per >>want
		"$ROOT/lib/trace-hooks/complete" tfs-run "$name" - >all
		sed 's/	.*//' all | sort >got
		[ -z "$(sort -u want | comm -23 - got)" ]
		# each line of another hook once
		touch seen
		grep -vxFf seen all >new || :
		cat new >>seen
		cut -f 1 new >got
		while read -r option; do
			[ "$option" != -- ] && [ "$option" != --help ] || continue
			run ! tfs-run "$name" "$option" x --nosuch
			[[ $output != *"no option '$option'"* ]] || { echo "$name: $output"; return 1; }
		done <got
	done
	[ "$(answers tfs-run trace_syscalls --su)" = --summary ]
	[ "$(answers tfs-run trace_count --su)" = '' ]
	[ "$(answers tfs-run --su)" = --subsystem ]
	[ "$(answers tfs-run trace_open --out)" = '' ]
}

@test "completion: offers the options of tfs-run after a hook, names of events without their system, and signals as people write them" {
	installed
	need_tracefs events/sched
	[ "$(answers tfs-run trace_event --fil)" = $'--filter\n--file' ]
	[ "$(answers tfs-run trace_event -o "$PWD/x")" = @files ]
	[ "$(answers tfs-run trace_event -e sched_switc)" = sched_switch ]
	[ "$(answers tfs-run trace_event -e sched_wakin,sched_switc)" = sched_wakin,sched_switch ]
	[ "$(answers tfs-run trace_flight --dump-on sl)" = slow: ]
	[ "$(answers tfs-run trace_flight --dump-on sched:sched_switc)" = sched:sched_switch ]
	[ "$(answers tfs-run trace_signal -s SIGTER)" = SIGTERM ]
	[ "$(answers tfs-run trace_signal -s TER)" = TERM ]
}

@test "completion: offers pids with the names of their tasks, instances, and users" {
	installed
	new_instance
	"$ROOT/lib/trace-hooks/complete" tfs-run trace_syscalls --pid $$ >got
	grep -q "^$$	bash$" got
	[ "$(answers tfs-write -i "$MARK")" = "$MARK" ]
	[ "$(answers tfs-instance remove "$MARK")" = "$MARK" ]
	answers pids-of -u 0 | grep -qx 0
}

@test "completion: never offers the name of a task that a shell would expand" {
	installed
	mkfifo hold
	# shellcheck disable=SC2016 # the inner shell expands it
	background bash -c 'printf "%s" "$1" >/proc/$$/comm; read -r <>hold' bash 'a;b$(c)'
	# shellcheck disable=SC2016 # not expanded
	eventually grep -qxF 'a;b$(c)' "/proc/$PID/comm"
	# shellcheck disable=SC2016 # the inner shell expands it
	background bash -c 'printf "%s" "$1" >/proc/$$/comm; read -r <>hold' bash "$MARK"
	eventually grep -qxF "$MARK" "/proc/$PID/comm"
	answers tfs-run trace_syscalls --comm '' >got
	grep -qxF "$MARK" got
	run ! grep -F '(c)' got
}

@test "completion: no name of a task is a command to the shell, or an answer of another kind" {
	local name shells=("bash --noprofile --rcfile rc -i" "zsh -d -i")
	installed
	need_tool python3
	mkfifo hold
	# shellcheck disable=SC2016 # no shell expands it
	for name in '@command x[`x`]' @files; do
		# shellcheck disable=SC2016 # the inner shell expands it
		background bash -c 'printf "%s" "$1" >/proc/$$/comm; read -r <>hold' bash "$name"
		eventually grep -qxF "$name" "/proc/$PID/comm"
	done
	printf '#!/bin/sh\n: >%s/proof\n' "$PWD" >x
	chmod +x x
	PATH=$PWD:$PATH
	bash_rc
	zsh_rc
	echo 'tfs-run trace_open --comm zzz' >typed
	command -v zsh >/dev/null || unset 'shells[1]'
	for shell in "${shells[@]}"; do
		# shellcheck disable=SC2086 # words
		ZDOTDIR=$PWD python3 "$TREE/t/prog/keys.py" "$DEADLINE" $shell <typed >got
		diff typed got
		[ ! -e proof ]
	done
	answers tfs-run trace_open --comm '' >got
	run ! grep '^@' got
}

@test "completion: is silent if a command fails, an option is unknown, or there is no such hook" {
	installed
	export TRACER_SYSFS_PATH=$PWD/none TRACER_PROCFS_PATH=$PWD/none
	for words in 'tfs-event sched' 'tfs-write -i x' 'tfs-run nosuch x' 'tfs-run -m nosuch x' \
		'tfs-dir --nosuch x' 'nosuch x' 'tfs-event -x -y -i z'; do
		# shellcheck disable=SC2086 # words
		"$ROOT/lib/trace-hooks/complete" $words >got 2>err
		[ ! -s got ]
		[ ! -s err ]
	done
}

@test "completion: says where the command of tfs-run, sigwait-run and tfs-instance hold begins" {
	installed
	[ "$(answers tfs-run trace_syscalls -- '')" = "@command 3" ]
	[ "$(answers tfs-run trace_syscalls --all -- ls -l '')" = "@command 4" ]
	[ "$(answers sigwait-run -t 5 s)" = "@command 3" ]
	[ "$(answers sigwait-run -t 5 cat file)" = "@command 3" ]
	[ "$(answers tfs-instance hold name '')" = "@command 3" ]
	[ "$(answers tfs-report x)" = "@files" ]
}

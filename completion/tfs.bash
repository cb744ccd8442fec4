# SPDX-License-Identifier: ISC
# shellcheck shell=bash
# tfs.bash - completion of the tools for bash; needs no package

_tfs() {
	local line=${COMP_LINE:0:COMP_POINT} words=() answers=() last begin program
	program=$(type -P tfs-run) || return
	read -ra words <<<"$line"
	[[ $line != *[[:space:]] ]] || words+=('')
	last=${words[${#words[@]} - 1]}
	mapfile -t answers < <("${program%/*}/../lib/trace-hooks/complete" "${words[@]}")
	case ${answers[0]-} in
	@files) COMPREPLY=() ;; # bash completes names of files, if there is no answer
	@command*)
		begin=${answers[0]#* }
		if ((begin == ${#words[@]} - 1)); then
			mapfile -t COMPREPLY < <(compgen -c -- "$last")
		elif declare -F _command_offset >/dev/null; then # of the package bash-completion
			COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))
			_command_offset "$begin"
		fi ;;
	*)
		# readline replaces only what follows a colon or an equals sign
		begin=${last%"${last##*[:=]}"}
		COMPREPLY=("${answers[@]%%$'\t'*}")
		COMPREPLY=("${COMPREPLY[@]#"$begin"}") ;;
	esac
}
# make install puts the names of the tools here
complete -o default -F _tfs @TOOLS@

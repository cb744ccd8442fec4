#compdef @TOOLS@
# SPDX-License-Identifier: ISC
# tfs.zsh - completion of the tools for zsh

local -a answers
answers=("${(@f)$(${commands[tfs-run]:h}/../lib/trace-hooks/complete "${(@Q)words[1,CURRENT]}")}")
case $answers[1] in
'') return 1 ;;
@files) _files ;;
@command*)
	shift "${answers[1]#* }" words
	(( CURRENT -= ${answers[1]#* } ))
	_normal ;;
*)
	answers=("${(@)answers//:/\\:}")
	answers=("${(@)answers/$'\t'/:}")
	_describe answer answers ;;
esac

# SPDX-License-Identifier: ISC
# tfs.fish - completion of the tools for fish

function __tfs_answers
    set -l program (string replace -r "/[^/]*\$" "" (command -s tfs-run)); or return
    set -l answers ($program/../lib/trace-hooks/complete (commandline -opc) (commandline -ct))
    switch "$answers[1]"
        case @files
            __fish_complete_path (commandline -ct)
        case '@command*'
            __fish_complete_subcommand --fcs-skip=(string replace '@command ' '' -- $answers[1])
        case '*'
            printf '%s\n' $answers
    end
end

for tool in @TOOLS@
    complete -c $tool -f -a '(__tfs_answers)'
end

# SPDX-License-Identifier: ISC
# help.awk - make build/gen/help.h of the files NAME.help: what --help prints, as strings
#
# A line is one of struct tool (tool/tool.h). A line that begins with a space continues the one
# before. @NAME stands for the lines of NAME.help, which other tools have as well. TOOL_NAME begins
# the struct tool of NAME; all other lines are HELP_NAME.

# text(NAME): Return the lines of a file as strings of C.
function text(name,    all, i, line) {
	for (i = 1; i <= n[name]; i++) {
		line = lines[name, i]
		all = all (line ~ /^@/ ? text(substr(line, 2)) : " \\\n\t\"" line "\\n\"")
	}
	return all
}

FNR == 1 {
	name = FILENAME
	gsub(/.*\/|\.help$/, "", name)
	files[++nfiles] = name
	next # the licence
}
/^ / { lines[name, n[name]] = lines[name, n[name]] $0; next }
FNR == 2 { tool[name] = FILENAME ~ /^bin/ && $1 == name }
{ gsub(/["\\]/, "\\\\&"); lines[name, ++n[name]] = $0 }

END {
	for (i = 1; i <= nfiles; i++) {
		name = files[i]
		macro = toupper(name)
		gsub(/-/, "_", macro)
		if (tool[name])
			print "#define TOOL_" macro " .name = \"" name "\", .help =" text(name)
		else
			print "#define HELP_" macro text(name)
	}
}

# SPDX-License-Identifier: ISC
# formats.awk - reject format strings that out_vformat (out.c) does not support
#
# The compiler checks these calls as calls of printf, which knows many more conversions
# than out_vformat. "[%+d]" would compile and print "[+d]". This program reads C files,
# finds the functions that have the attribute format(printf, ...), and checks each string
# in the argument lists of their calls. Exit status: 1 if a conversion is refused.

# Return the first token of text: a string, a character, one of ( ) ; or a piece of
# anything else.
function token(text) {
	if (match(text, /^"([^"\\]|\\.)*"/) || match(text, /^'([^'\\]|\\.)*'/) ||
	    match(text, /^[();]/) || match(text, /^[^"'();]+/))
		return substr(text, 1, RLENGTH)
	return substr(text, 1, 1)
}

# Return the number of the line where rest, the end of the file, begins.
function line_of(file, rest,   before) {
	before = substr(all[file], 1, length(all[file]) - length(rest))
	return 1 + gsub(/\n/, "", before)
}

# Report each conversion in a string literal that out_vformat does not know.
function check(file, rest, literal,   at) {
	while ((at = index(literal, "%"))) {
		literal = substr(literal, at)
		if (!match(literal, /^%(%|c|-?(\*|[0-9]*)(\.\*|\.[0-9]+)?s|-?(\*|[0-9]*)(l|ll|z)?[dux])/)) {
			match(literal, /^%[^a-zA-Z%"]*(hh|h|ll|l|z|j|t|L)?[a-zA-Z%]?/)
			printf "%s:%d: out_vformat does not support \"%s\"; it knows %%s " \
				"%%d %%u %%x %%c, l, ll and z, a width, a precision for %%s\n",
				file, line_of(file, rest), substr(literal, 1, RLENGTH)
			failed = 1
		}
		literal = substr(literal, RLENGTH > 0 ? RLENGTH + 1 : 2)
	}
}

# Check the argument list that begins after the "(" before text.
function check_call(file, text,   depth, word) {
	for (depth = 1; depth && text != ""; text = substr(text, length(word) + 1)) {
		word = token(text)
		if (word == ";")
			return
		depth += (word == "(") - (word == ")")
		if (depth == 1 && word ~ /^"/)
			check(file, text, word)
	}
}

FNR == 1 { files[++nfiles] = FILENAME }
{ all[FILENAME] = all[FILENAME] $0 "\n" }

END {
	names = ""
	for (i = 1; i <= nfiles; i++) {
		text = all[files[i]]
		while (match(text, /[a-z_]+\([^;{}]*\)[ \t\n]*__attribute__\(\(format\(printf/)) {
			word = substr(text, RSTART, RLENGTH)
			sub(/\(.*/, "", word)
			names = names "|" word
			text = substr(text, RSTART + RLENGTH)
		}
	}
	if (names == "") {
		print "formats.awk: no function has the attribute format(printf, ...)"
		exit 1
	}
	call = "(^|[^a-zA-Z0-9_])(" substr(names, 2) ")\\("
	for (i = 1; i <= nfiles; i++) {
		text = all[files[i]]
		while (match(text, call)) {
			text = substr(text, RSTART + RLENGTH)
			check_call(files[i], text)
		}
	}
	exit failed
}

# SPDX-License-Identifier: ISC
# rows.awk - print the lines of NAME.rows as the rows of an array of C: build/gen/NAME.h
#
# Two spaces or more separate the columns. A column is a string, - an empty one, a number is a
# number, {WORD...} a list of strings, and what begins with @ a constant. A line that begins with a
# space continues the last column of the one before.
# Lines that begin with # are comments.

function print_row(    n, i, part, row) {
	n = split(line, part, "   *")
	for (i = 1; i <= n; i++) {
		gsub(/["\\]/, "\\\\&", part[i])
		sub(/^-$/, "", part[i])
		if (part[i] ~ /^\{.*\}$/) {
			gsub(/ /, "\", \"", part[i])
			sub(/^\{/, "{ \"", part[i])
			sub(/\}$/, "\" }", part[i])
		} else if (part[i] !~ /^(@|[0-9]+$)/)
			part[i] = "\"" part[i] "\""
		sub(/^@/, "", part[i])
		row = row (i > 1 ? ", " : "") part[i]
	}
	if (n)
		print "{ " row " },"
}

/^#/ { next }
/^ / { line = line $0; next }
{ print_row(); line = $0 }
END { print_row() }

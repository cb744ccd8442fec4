# SPDX-License-Identifier: ISC
# roles.awk - compile the roles of system calls to macros of C
#
# usage: awk -f roles.awk ../host/syscall_names.in roles.in
#
# ROLE_WORDS(X) has a line X(NAME, word) for each word, the classes first; ROLE_WAITS the words of
# waits=, ROLE_ROWS the bits of the words, a row for each combination. ROLE_NAMES is one string of
# lists of calls: the characters of the row and of the length of the name, and the name. The hash of
# a name is that of roles.c. ROLE_FIRST has the places of the ROLE_LISTS lists.

function fail(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
	failed = 1
	exit 1
}

function hash(name,   i, v) {
	v = 0
	for (i = 1; i <= length(name); i++)
		v = (v * 31 + ord[substr(name, i, 1)]) % LISTS
	return v
}

# Add a call with the roles of a line to its list.
function add(name, roles,   v) {
	if (!(roles in row)) {
		row[roles] = nrows++
		rows = rows sprintf(" %.0fu,", roles)
	}
	v = hash(name)
	list[v] = list[v] sprintf("\\%03o\\%03o%s", row[roles], length(name), name)
	size[v] += length(name) + 2
}

BEGIN {
	LISTS = 128
	WAITS = 2 ^ 24
	for (i = 32; i < 127; i++)
		ord[sprintf("%c", i)] = i
}

/^#/ || NF == 0 { next }

FILENAME ~ /syscall_names\.in$/ {
	for (i = 1; i <= NF; i++)
		if ($i !~ /^~/)
			others[$i] = others[$i] " " $0
	next
}

$1 == "classes" || $1 == "words" {
	for (i = 2; i <= NF; i++) {
		bit[$i] = 2 ^ nwords++
		name = toupper($i)
		gsub(/-/, "_", name)
		words = words sprintf(" X(%s, \"%s\")", name, $i)
	}
	if ($1 == "classes")
		nclasses = nwords
	next
}

{
	if ($1 in roles)
		fail("a second line for " $1)
	order[ncalls++] = $1
	roles[$1] = 0
	for (i = 2; i <= NF; i++) {
		word = $i
		if (sub(/^waits=/, "", word)) {
			if (!(word in wait)) {
				wait[word] = ++nwaits
				gsub(/~/, " ", word)
				waits = waits sprintf(" \"%s\",", word)
			}
			word = substr($i, 7)
			roles[$1] += wait[word] * WAITS
		} else if (word in bit) {
			roles[$1] += bit[word]
		} else {
			fail("no such word: " word)
		}
	}
}

END {
	if (failed)
		exit 1
	for (i = 0; i < ncalls; i++)
		add(order[i], roles[order[i]])
	for (i = 0; i < ncalls; i++) { # and the other names of these calls
		n = split(others[order[i]], part, " ")
		for (k = 1; k <= n; k++)
			if (part[k] !~ /^~/ && !(part[k] in roles)) {
				roles[part[k]] = roles[order[i]]
				add(part[k], roles[part[k]])
			}
	}
	if (nrows > 256 || nwords > 24) {
		print "too many roles" >"/dev/stderr"
		exit 1
	}
	print "#define ROLE_WORDS(X)" words
	print "enum { ROLE_CLASSES = " 2 ^ nclasses - 1 ", ROLE_LISTS = " LISTS " };"
	print "#define ROLE_WAITS" waits
	print "#define ROLE_ROWS" rows
	printf "#define ROLE_NAMES"
	for (i = 0; i < LISTS; i++)
		if (i in list)
			printf " \\\n\t\"%s\"", list[i]
	printf "\n#define ROLE_FIRST"
	n = 0
	for (i = 0; i <= LISTS; i++) {
		printf " %d,", n
		n += size[i]
	}
	print ""
}

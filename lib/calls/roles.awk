# SPDX-License-Identifier: ISC
# roles.awk - compile the roles of system calls to macros of C
#
# usage: awk -f roles.awk ../host/syscall_names.in data/calls.in data/roles.in
#
# ROLE_WORDS(X), ROLE_DOES(X) and ROLE_FDS(X) have X(NAME, word) for each word that sets a bit of
# call_role.is or .does, and for each value of .fds. ROLE_NAMED and ROLE_WAITS have other texts of
# fds= and those of waits=, ROLE_ROWS each combination of roles. ROLE_NAMES is one string of lists
# of calls: the characters of the row and of the length of the name, and the name. The hash of a
# name is that of roles.c. ROLE_FIRST has the places of the ROLE_LISTS lists.

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
		rows = rows sprintf(" \\\n\t{ %s },", roles)
	}
	v = hash(name)
	list[v] = list[v] sprintf("\\%03o\\%03o%s", row[roles], length(name), name)
	size[v] += length(name) + 2
}

# Return the number of an argument of a call.
function argument(name, arg) {
	if (!((name, arg) in arguments))
		fail("no argument " arg)
	return arguments[name, arg]
}

# Return what C has for a file: 1 + its argument, and whether a link is the file itself.
function file_of(name, text,   own, flags) {
	own = 0
	if (match(text, /!+/)) {
		flags = substr(text, RSTART + RLENGTH)
		own = flags == "" ? "LINK_ITSELF" : \
			(RLENGTH == 2 ? "LINK_UNLESS" : "LINK_IF") " + " argument(name, flags)
		text = substr(text, 1, RSTART - 1)
	}
	return sprintf("{ %d, %s }", 1 + argument(name, text), own)
}

# Return the number of a text of waits= or fds=, from 1 on.
function text_number(what, text) {
	if (!((what, text) in text_at)) {
		text_at[what, text] = ++ntexts[what]
		gsub(/~/, " ", text)
		texts[what] = texts[what] sprintf(" \"%s\",", text)
	}
	return text_at[what, substr($i, index($i, "=") + 1)]
}

BEGIN {
	LISTS = 128
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

FILENAME ~ /calls\.in$/ {
	for (i = 2; i <= NF && $i != "="; i++) {
		sub(/:.*/, "", $i)
		arguments[$1, $i] = i - 2
	}
	next
}

$1 ~ /^(classes|words|errors|does|fds)$/ {
	table = $1 == "does" || $1 == "fds" ? $1 : "words"
	for (i = 2; i <= NF; i++) {
		name = toupper($i)
		gsub(/-/, "_", name)
		prefix = table == "words" ? "IS_" : toupper(table) "_"
		known[$1, $i] = " | " prefix name
		words[table] = words[table] sprintf(" X(%s, \"%s\")", name, $i)
	}
	if ($1 == "classes")
		for (i = 2; i <= NF; i++)
			classes += classes + 1
	next
}

{
	if ($1 in roles)
		fail("a second line for " $1)
	order[ncalls++] = $1
	waits = fds = nfiles = 0
	is = does = files = ""
	n = split($2 == "-" ? "" : $2, part, ",")
	for (i = 1; i <= n; i++) {
		if (!(("classes", part[i]) in known))
			fail("no such class: " part[i])
		is = is known["classes", part[i]]
	}
	for (i = 3; i <= NF; i++) {
		word = $i
		value = sub(/=.*/, "", word) ? substr($i, length(word) + 2) : ""
		n = split(value, part, ",")
		if (("does", word) in known || word == "names") {
			does = does known["does", word]
			for (k = 1; k <= n; k++)
				files = files " " file_of($1, part[k]) ","
			if ((nfiles += n) > 2)
				fail("more than two files")
		} else if (word == "fails") {
			for (k = 1; k <= n; k++) {
				if (!(("errors", part[k]) in known))
					fail("no such error: " part[k])
				is = is known["errors", part[k]]
			}
		} else if (word == "waits") {
			waits = text_number("waits", value)
		} else if (word == "fds") {
			fds = ("fds", value) in known ? substr(known["fds", value], 4) : \
				"FDS_END + " text_number("named", value)
		} else if (("words", word) in known && value == "") {
			is = is known["words", word]
		} else {
			fail("no such word: " word)
		}
	}
	roles[$1] = sprintf("%s, %s, %s, %s, {%s }", is == "" ? 0 : substr(is, 4), \
		does == "" ? 0 : substr(does, 4), waits, fds, files == "" ? " { 0, 0 }" : files)
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
	if (nrows > 255) {
		print "too many roles" >"/dev/stderr"
		exit 1
	}
	print "#define ROLE_WORDS(X)" words["words"]
	print "#define ROLE_DOES(X)" words["does"]
	print "#define ROLE_FDS(X)" words["fds"]
	print "enum { ROLE_CLASSES = " classes ", ROLE_LISTS = " LISTS " };"
	print "#define ROLE_NAMED" texts["named"]
	print "#define ROLE_WAITS" texts["waits"]
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

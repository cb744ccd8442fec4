# SPDX-License-Identifier: ISC
# tables.awk - make tfs-calls.tab, the tables of system calls that table.c reads
#
# usage: awk -f tables.awk data/numbers.in data/sets/*.in data/layouts.in data/calls.in
# Each file describes its own form. The result is lines of text:
#
#	tfs-calls 1 BYTES SETS LAYOUTS CALLS CONSTANTS MEMBERS
#	SETS lines:     f (flags) or e, how to print other values (x d u o k, i of ioctl), the bits in hex
#	                that are an enumeration, with :SET for that of another set; the prefix
#	                of the names; NAME, or NAME=HEX if it is not 1 more than the last, with
#	                /ABIS:HEX where ABIs have other values; - is no value
#	LAYOUTS lines:  b (printed without braces), l (the length of an address), p (packed),
#	                m (has more members), n (a time that may be
#	                UTIME_NOW) or -; members;
#	                more than one begin with /ABIS
#	CALLS lines:    the name, or one or two of ?ARG=HEX, ?ARG&HEX, ?ARG!HEX of a variant, with
#	                /ABIS:HEX as above, %BITS; arguments; =result
#	7 lines:        an ABI, its word size, b (big-endian) or l, the alignment of 8 bytes; the
#	                index of each call in the order of numbers; ~N for N numbers without one
#
# A value is a name, the letter of its kind (letters in table.c) and its width or index.

function fail(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
	failed = 1
	exit 1
}

# Return a number of C as hex without zeros in front, or - if it is -.
function tohex(s,   v, i, base, sign, out) {
	if (s == "-")
		return s
	s = tolower(s)
	sign = ""
	if (s ~ /^-/) {
		sign = "-"
		s = substr(s, 2)
	}
	if (s ~ /^0x[0-9a-f]+$/) {
		s = substr(s, 3)
		sub(/^0+/, "", s)
		return sign (s == "" ? "0" : s)
	}
	if (s !~ /^[0-9]+$/)
		fail("no number: " s)
	base = s ~ /^0/ ? 8 : 10
	v = 0
	for (i = 1; i <= length(s); i++)
		v = v * base + substr(s, i, 1)
	out = ""
	do {
		out = substr("0123456789abcdef", v % 16 + 1, 1) out
		v = int(v / 16)
	} while (v)
	return sign out
}

# Return the number that hex digits mean, if it is small.
function fromhex(s,   v, i) {
	for (v = 0; s != ""; s = substr(s, 2))
		v = v * 16 + index("0123456789abcdef", substr(s, 1, 1)) - 1
	return v
}

# Return the digits of the ABIs in a list with commas.
function abis_of(list,   n, i, part, out) {
	out = ""
	n = split(list, part, ",")
	for (i = 1; i <= n; i++) {
		if (!(part[i] in abi_index))
			fail("no ABI: " part[i])
		out = out abi_index[part[i]]
	}
	return out
}

function set_index(name) {
	if (!(name in set_number)) {
		set_number[name] = nsets
		set_name[nsets++] = name
	}
	return set_number[name]
}

function layout_index(name) {
	if (!(name in layout_number)) {
		layout_number[name] = nlayouts
		layout_name[nlayouts++] = name
	}
	return layout_number[name]
}

# Return a value of the tables: NAME:TYPE, with [N] in a structure.
function value(text, argument,   name, type, array, width, union, out, side) {
	name = text
	if (!sub(/:.*/, "", name))
		fail("no type: " text)
	type = substr(text, length(name) + 2)
	out = array = union = rare = side = ""
	if (name !~ /^[a-z0-9_]*$/)
		fail("no name: " name)
	if (argument) {
		if (match(type, /[!^~\[{%].*/)) {
			out = substr(type, RSTART)
			type = substr(type, 1, RSTART - 1)
			if (match(out, /\[[a-z_0-9]+\]/))
				out = substr(out, 1, RSTART) argument_index(substr(out, RSTART + 1, RLENGTH - 2))
			if (match(out, /%[a-z_0-9]+/))
				out = substr(out, 1, RSTART) argument_index(substr(out, RSTART + 1))
			sub(/}/, "", out)
		}
	} else {
		if (match(type, /[!^]$/)) {
			side = substr(type, RSTART)
			type = substr(type, 1, RSTART - 1)
		}
		if (match(type, /\?.*/)) {
			rare = substr(type, RSTART)
			type = substr(type, 1, RSTART - 1)
			rare = member_condition(rare)
		}
		if (sub(/<$/, "", type))
			union = "<" rare side
		else
			union = rare side
		if (match(type, /\[[0-9]+\]$/)) {
			array = "*" substr(type, RSTART + 1, RLENGTH - 2)
			type = substr(type, 1, RSTART - 1)
		}
	}
	if (type ~ /^\*/)
		return name "T" layout_index(substr(type, 2)) array union out
	if (argument && sub(/^option\./, "", type))
		return name "L" layout_index(type) out
	if (type in letters)
		return name letters[type] array union out
	width = 4
	if (match(type, /\.[1248l]$/)) {
		width = substr(type, RSTART + 1)
		type = substr(type, 1, RSTART - 1)
	}
	return name "S" width set_index(type) array union out
}

# Return the condition of a member: ?, ?NAME, ?NAME&BITS, ?NAME!BITS, or one more ? in front.
function member_condition(text,   out, name, i, bits) {
	out = "?"
	text = substr(text, 2)
	if (text == "")
		return out
	if (sub(/^\?/, "", text))
		out = "??"
	bits = ""
	if (match(text, /[&!].*/)) {
		bits = substr(text, RSTART, 1) tohex(substr(text, RSTART + 1))
		text = substr(text, 1, RSTART - 1)
	}
	for (i = 0; i < NF - first; i++) {
		name = $(first + i)
		sub(/:.*/, "", name)
		if (name == text)
			return out i bits
	}
	fail("no member " text)
}

# Return the number of an argument of the last call.
function argument_index(name) {
	if (!((call_id, name) in argument_number))
		fail("no argument " name)
	return argument_number[call_id, name]
}

# Return the value of constants with | between, in the set of an argument; of one constant also
# those of other ABIs.
function constants_value(set, text,   part, n, i, v) {
	n = split(text, part, "|")
	if (n == 1 && (set, text) in constant)
		return constant[set, text] constant_others[set, text]
	v = 0
	for (i = 1; i <= n; i++) {
		if (part[i] ~ /^[0-9]/)
			v += fromhex(tohex(part[i]))
		else if ((set, part[i]) in constant)
			v += fromhex(constant[set, part[i]])
		else
			fail("the set " set " has no " part[i])
	}
	return tohex(sprintf("%.0f", v))
}

# Return the texts in a list, each with a condition at its end: ARG=VALUE,VALUE..., where ARG may be
# NAME:SET. Each value makes a text of its own.
function conditions(text, list,   name, set, test, bits, i, j, n, m, values, before, out) {
	match(text, /[=&!]/)
	test = substr(text, RSTART, 1)
	name = substr(text, 1, RSTART - 1)
	bits = ""
	if (match(name, /%.*/)) {
		bits = "%" tohex(substr(name, RSTART + 1))
		name = substr(name, 1, RSTART - 1)
	}
	match(text, /[=&!]/)
	n = split(substr(text, RSTART + 1), values, ",")
	set = argument_type[call_id, name]
	if (name ~ /:/) {
		set = name
		sub(/:.*/, "", name)
	}
	sub(/[^:]*:/, "", set)
	sub(/\.[1248l]$/, "", set)
	m = split(list, before, " ")
	out = ""
	for (i = 1; i <= m; i++)
		for (j = 1; j <= n; j++)
			out = out " " before[i] (before[i] == "?" ? "" : "?") argument_index(name) \
				test constants_value(set, values[j]) bits
	return out
}

# Return the arguments and the result from the word first on.
function arguments(first,   i, text, name, n) {
	text = ""
	n = 0
	for (i = first; i <= NF && $i != "="; i++) {
		name = $i
		sub(/:.*/, "", name)
		if ($1 != "?") {
			argument_number[call_id, name] = n
			argument_type[call_id, name] = $i
		}
		n++
	}
	for (i = first; i <= NF && $i != "="; i++)
		text = text " " value($i ~ /:/ ? $i : argument_type[call_id, $i], 1)
	if (i < NF)
		text = text " =" value(":" $(i + 1), 1)
	if (n > 6)
		fail("too many arguments")
	return text
}

BEGIN {
	nsets = nlayouts = ncalls = nconstants = nmembers = 0
	nabis = split("x86_64 i386 aarch64 arm s390x ppc64le riscv64", abi, " ")
	split("8l8 4l4 8l8 4l8 8b8 8l8 8l8", abi_kind, " ")
	for (i = 1; i <= nabis; i++)
		abi_index[abi[i]] = i - 1
	n = split("int D4 uint U4 long Dl ulong Ul size Ul ptr HN hex Hl hex32 H4 mode O2 fd F4 " \
		"dirfd W4 id N4 oldid Ni loff Dw hexoff Hw lowhigh Dx highlow Dy pages Hz " \
		"path P string Q strings V buffer B value B0 dev32 R4 p64 H8N bits32 H4B hex8 H1 sockaddr A none X sigset G8 fdset I8*128 " \
		"status E4 char C1 pad Z1 port Y2 port4 Y4 inet J4 inet6 K1 sunpath M1*108 dev R8? " \
		"s8 D1 u8 U1 x8 H1 s16 D2 u16 U2 x16 H2 s32 D4 u32 U4 x32 H4 s64 D8 u64 U8 x64 H8 " \
		"mode8 O8", word, " ")
	for (i = 1; i < n; i += 2)
		letters[word[i]] = word[i + 1]
	set_index("errno")
	set_index("signal")
	n = split("sockaddr sockaddr_un sockaddr_in sockaddr_in6 sockaddr_nl sockaddr_ll " \
		"sockaddr_vm option option_text", word, " ")
	for (i = 1; i <= n; i++)
		layout_index(word[i])
}

/^#/ || NF == 0 { next }

FILENAME ~ /numbers\.in$/ {
	if (NF != nabis + 1)
		fail("a line is a name and " nabis " numbers")
	for (i = 1; i <= nabis; i++)
		if ($(i + 1) != "-") {
			number_call[i, $(i + 1)] = $1
			if ($(i + 1) > most[i])
				most[i] = $(i + 1) + 0
		}
	next
}

FILENAME ~ /\/sets\/[a-z0-9_]+\.in$/ {
	if (FILENAME != file) {
		file = FILENAME
		name = file
		sub(/.*\//, "", name)
		sub(/\.in$/, "", name)
		set = name
		set_index(set)
		kind[set] = $1 == "flags" ? "f" : "e"
		other[set] = "x"
		mask[set] = "0"
		for (i = 2; i <= NF; i++) {
			if ($i ~ /^rest=/)
				other[set] = substr($i, 6)
			else if ($i ~ /^mask=/)
				mask[set] = tohex(substr($i, 6))
			else if ($i ~ /^sub=/)
				mask[set] = mask[set] ":" set_index(substr($i, 5))
			else
				fail("no such word: " $i)
		}
		next
	}
	if (NF < 2)
		fail("a line is a name and a number")
	n = ++set_n[set]
	set_names[set, n] = $1
	v = tohex($2)
	constant[set, $1] = v
	others = ""
	for (i = 3; i <= NF; i++) {
		split($i, word, "=")
		h = tohex(word[2])
		if (v == "-")
			constant[set, $1] = h
		others = others "/" abis_of(word[1]) ":" h
	}
	constant_others[set, $1] = others
	if (n == 1)
		prefix[set] = $1
	while (prefix[set] != "" && index($1, prefix[set]) != 1)
		prefix[set] = substr(prefix[set], 1, length(prefix[set]) - 1)
	set_values[set, n] = v others
	nconstants++
	next
}

FILENAME ~ /layouts\.in$/ {
	name = $1
	where = ""
	if (split(name, word, "@") > 1) {
		name = word[1]
		where = "/" abis_of(word[2])
	}
	flags = ""
	first = 2
	while ($first ~ /^(bare|now|length|packed|more)$/)
		flags = flags substr($(first++), 1, 1)
	text = where (flags == "" ? "-" : flags)
	for (i = first; i <= NF; i++) {
		text = text " " value($i, 0)
		nmembers++
	}
	i = layout_index(name)
	layout[i] = layout[i] (layout[i] == "" ? "" : " ") text
	next
}

FILENAME ~ /calls\.in$/ {
	if ($1 == "?") {
		variants = "?"
		for (i = 2; $i ~ /^[a-z0-9_]+(:[a-z0-9_]+)?(%[0-9a-fx]+)?[=&!][A-Z0-9_]/; i++)
			variants = conditions($i, variants)
		if (i == 2 || i > 4)
			fail("a variant has one or two conditions")
		n = split(variants, part, " ")
		for (j = 1; j <= n; j++)
			call[ncalls++] = part[j] arguments(i)
		next
	}
	call_id = ncalls
	if (split($1, word, "@") > 1) {
		n = split(word[2], part, ",")
		for (i = 1; i <= n; i++)
			special[word[1], abis_of(part[i]) + 1] = ncalls
	} else {
		common[word[1]] = ncalls
	}
	call[ncalls++] = word[1] arguments(2)
	next
}

{ fail("unknown file") }

END {
	if (failed)
		exit 1
	out = ""
	for (i = 0; i < nsets; i++) {
		set = set_name[i]
		if (!(set in kind)) {
			print "no set " set >"/dev/stderr"
			exit 1
		}
		text = kind[set] other[set] " " mask[set] " " (prefix[set] == "" ? "-" : prefix[set])
		last = -2
		for (j = 1; j <= set_n[set]; j++) {
			text = text " " substr(set_names[set, j], length(prefix[set]) + 1)
			v = set_values[set, j]
			simple = v ~ /^[0-9a-f]+$/ && length(v) < 8
			if (!simple || fromhex(v) != last + 1)
				text = text "=" v
			last = simple ? fromhex(v) : -2
		}
		out = out text "\n"
	}
	for (i = 0; i < nlayouts; i++) {
		if (layout[i] == "") {
			print "no layout " layout_name[i] >"/dev/stderr"
			exit 1
		}
		out = out layout[i] "\n"
	}
	for (i = 0; i < ncalls; i++)
		out = out call[i] "\n"
	for (i = 1; i <= nabis; i++) {
		text = abi[i] " " abi_kind[i]
		gap = 0
		for (j = 0; j <= most[i]; j++) {
			name = number_call[i, j]
			if (name == "" || (!((name, i) in special) && !(name in common))) {
				if (name != "")
					missing[name] = 1
				gap++
				continue
			}
			if (gap)
				text = text " ~" gap
			gap = 0
			text = text " " ((name, i) in special ? special[name, i] : common[name])
		}
		out = out text "\n"
	}
	for (name in missing) {
		print "no arguments of " name >"/dev/stderr"
		failed = 1
	}
	head = sprintf(" %d %d %d %d %d\n", nsets, nlayouts, ncalls, nconstants, nmembers)
	printf "tfs-calls 1 %06d%s%s", length("tfs-calls 1 000000" head) + length(out), head, out
	exit failed
}

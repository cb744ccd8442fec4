# SPDX-License-Identifier: ISC
# tables.awk - compile the tables of system calls to C
#
# usage: awk -f tables.awk -v NAMES=FILE [-v TEXTS=FILE] data/types.in data/pieces.in \
#		data/numbers.in data/sets/*.in data/layouts.in data/netlink.in data/calls.in
# Each file describes its own form. NAMES gets the numbers of sets and layouts, and TEXTS the texts
# that are packed, for pieces.awk; the standard output has the tables, whose types tables.h
# describes. A set of ABIs is a string of their digits.

function fail(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
	failed = 1
	exit 1
}

# Return the value of a number of C, with its sign, below 2^53; - is none.
function number(s,   v, i, d, base, sign) {
	if (s == "-")
		return s
	s = tolower(s)
	sign = sub(/^-/, "", s) ? -1 : 1
	base = sub(/^0x/, "", s) ? 16 : s ~ /^0/ ? 8 : 10
	v = 0
	for (i = 1; i <= length(s); i++) {
		d = index("0123456789abcdef", substr(s, i, 1)) - 1
		if (d < 0 || d >= base)
			fail("no number: " s)
		v = v * base + d
	}
	if (s == "")
		fail("no number: " s)
	return sign * v
}

# Return the word for the place of a text in call_texts.
function text_of(s) {
	return place_word("T", s)
}

# Return the word for the place of a text in call_packed.
function packed_of(s) {
	gsub(/ /, "~", s)
	packed_texts[s]
	return place_word("P", pack(s "$"))
}

# Return a text that $ ends as the codes of the fewest pieces: two hexadecimal digits each.
function pack(s,   i, k, cost, best, out) {
	cost[length(s) + 1] = 0
	for (i = length(s); i; i--) {
		if (!TEXTS && !(substr(s, i, 1) in piece)) {
			print "\"" substr(s, i, 1) "\" is in no piece: make pieces" >"/dev/stderr"
			exit failed = 1
		}
		for (k = 1; k <= LONGEST && i + k <= length(s) + 1; k++)
			if (k == 1 || (cost[i + k] + 1 < cost[i] && substr(s, i, k) in piece)) {
				cost[i] = cost[i + k] + 1
				best[i] = substr(s, i, k)
			}
	}
	for (i = 1; i <= length(s); i += length(best[i]))
		out = out piece[best[i]]
	return out
}

# A pool is T or P; its texts and their ends have units of one or two characters.
function place_word(pool, s) {
	if (!((pool, s) in text_number)) {
		text_number[pool, s] = ntexts[pool] + 0
		texts[pool, ntexts[pool]++] = s
	}
	return pool text_number[pool, s]
}

# Define the place of each text of a pool. A text that ends as another one does is the end of that
# one.
function print_places(pool, unit,   i, k, s) {
	for (i = 0; i < ntexts[pool]; i++)
		for (k = 1 + unit; k <= length(texts[pool, i]); k += unit) {
			s = substr(texts[pool, i], k)
			if ((pool, s) in text_number)
				text_in[pool, s] = texts[pool, i]
		}
	print "enum {"
	for (i = 0; i < ntexts[pool]; i++)
		print "\t" pool i " = " place_of(pool, texts[pool, i], unit) ","
	print "};\n"
	if (room[pool] > 65535)
		fail("the texts are too long")
}

function place_of(pool, s, unit) {
	if (!((pool, s) in text_place)) {
		if ((pool, s) in text_in) {
			text_place[pool, s] = place_of(pool, text_in[pool, s], unit) + \
				(length(text_in[pool, s]) - length(s)) / unit
		} else {
			text_place[pool, s] = room[pool] + 0
			room[pool] += length(s) / unit + (pool == "T")
			whole_texts[pool, nwhole[pool]++] = s
		}
	}
	return text_place[pool, s]
}

# Return the number of a line in a table, which has each line once.
function row(table, line) {
	if (!((table, line) in row_number)) {
		row_number[table, line] = rows[table] + 0
		row_line[table, rows[table]++] = line
	}
	return row_number[table, line]
}

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

# Return the ABIs of a that are in b, or not: is 0.
function common_abis(a, b, is,   i, out) {
	out = ""
	for (i = 1; i <= length(a); i++)
		if ((index(b, substr(a, i, 1)) > 0) == is)
			out = out substr(a, i, 1)
	return out
}

function abi_bits(abis,   i, v) {
	v = 0
	for (i = 1; i <= length(abis); i++)
		v += abi_bit[substr(abis, i, 1)]
	return v
}

# Name a set or layout that must follow; return the word for its number.
function word_of(what, name) {
	if (name !~ /^[a-z0-9_]+$/)
		fail("no name: " name)
	if (!((what, name) in named)) {
		named[what, name] = 1
		names[what, words[what]++] = name
	}
	return toupper(what "_" name)
}

# Set type_kind, type_width and type_more, other members, to those of a type.
function read_type(type,   option) {
	type_width = "long"
	option = sub(/^option\./, "", type)
	if (option || sub(/^\*/, "", type)) {
		type_kind = option ? "CALL_OPTION" : "CALL_STRUCT"
		type_more = ", .set = " word_of("layout", type)
		type_name = type
	} else if (match(type, /\/.*/)) { # of a set
		option = word_of("set", substr(type, RSTART + 1))
		read_type(substr(type, 1, RSTART - 1))
		type_more = type_more ", .set = " option
	} else if (type in kinds) {
		type_kind = kinds[type]
		type_width = widths[type]
		type_more = more[type]
	} else {
		type_kind = "CALL_SET"
		type_width = 4
		if (match(type, /\.[1248lp]$/)) {
			type_width = substr(type, RSTART + 1)
			type = substr(type, 1, RSTART - 1)
		}
		type_more = ", .set = " word_of("set", type)
		if (type_width == "l")
			type_width = "long"
		if (type_width == "p") {
			type_width = 8
			type_more = type_more ", .place = PLACE_PAIR"
		}
	}
}

# The values of a set need so many bytes each; 5: four, and not each ABI has each constant.
function needs(set, bytes) {
	if (bytes > set_bytes[set])
		set_bytes[set] = bytes
}

# Print an array of what the sets with from to to bytes have of each constant.
function print_constants(head, what, from, to,   k, i, j, set) {
	print head "[] = {"
	for (k = from; k <= to; k++)
		for (i = 0; i < words["set"]; i++) {
			set = names["set", i]
			for (j = 1; j <= set_n[set] && set_bytes[set] == k; j++)
				print "\t" (what == "name" ? \
					"{ " packed_of(substr(set_name[set, j], length(prefix[set]) + 1)) " }" : \
					what == "abis" ? abi_bits(set_abis[set, j]) : set_value[set, j]) ","
		}
	print "};\n"
}

function argument_index(name) {
	if (!((call_id, name) in argument_number))
		fail("no argument " name)
	return argument_number[call_id, name]
}

# Return the number of an argument or a result: NAME:TYPE
function argument(text,   name, type, out, side, label, set, i) {
	name = text
	if (!sub(/:.*/, "", name))
		fail("no type: " text)
	type = substr(text, length(name) + 2)
	side = ""
	if (match(type, /[!^~+\[{%].*/)) {
		side = substr(type, RSTART)
		type = substr(type, 1, RSTART - 1)
	}
	read_type(type)
	out = sprintf(".kind = %s, .width = %s", type_kind,
		width_word(type_kind == "CALL_OPTION" ? 1 : type_width)) type_more
	set = 0
	if (match(out, /, \.set = [A-Za-z0-9_]+/)) {
		set = substr(out, RSTART + 9, RLENGTH - 9)
		out = substr(out, 1, RSTART - 1) substr(out, RSTART + RLENGTH)
	}
	if (sub(/^!/, "", side)) {
		out = out ", .out = CALL_OUT" (sub(/^=/, "", side) ? ", .whole = 1" : "")
	} else if (sub(/^~/, "", side)) {
		out = out ", .out = CALL_OUT_INTERRUPTED"
	} else if (sub(/^\+/, "", side)) {
		out = out ", .out = CALL_OUT_POSITIVE"
	} else {
		out = out ", .in = 1"
		if (sub(/^\^/, "", side)) {
			match(side, /^[a-z_]*/)
			label = substr(side, 1, RLENGTH)
			side = substr(side, RLENGTH + 1)
			out = out ", .out = CALL_OUT" (sub(/^\+/, "", side) ? "_POSITIVE" : "")
			if (label != "")
				out = out ", .after = 1, .label = " text_of(label == "_" ? "" : label)
		}
	}
	if (match(side, /\/(nodes|pages)\]$/)) {
		out = out ", .unit = UNIT_" toupper(substr(side, RSTART + 1, RLENGTH - 2))
		side = substr(side, 1, RSTART - 1) "]"
	}
	if (side ~ /^\[[a-z_0-9]+\]$/)
		out = out ", .count = " 1 + argument_index(substr(side, 2, length(side) - 2))
	else if (side ~ /^%/)
		out = out ", .sized = " 1 + argument_index(substr(side, 2))
	else if (side ~ /^\{[0-9]+\}$/)
		out = out ", .eights = " substr(side, 2, length(side) - 2) / 8
	else if (side != "")
		fail("no such side: " side)
	i = row("kinds", out)
	if (i > 127)
		fail("too many kinds of arguments")
	return row("arguments", sprintf("%s, %s, %d", text_of(name), set, i))
}

function width_word(width) {
	return width == "long" ? "WIDTH_LONG" : width == "old" ? "WIDTH_OLD" : width
}

# Return the width of a type of an ABI.
function width_in(a, width) {
	return width == "long" ? abi_word[a] : width == "old" ? (abi_word[a] == 4 ? 2 : 4) : width
}

# Return the condition of a member: ?, ?NAME, ?NAME&BITS, ?NAME!BITS, ?NAME=VALUE, or one more ? in front.
function member_condition(text, part, n,   out, name, i, bits) {
	text = substr(text, 2)
	if (text == "")
		return ", .rare = RARE_ZERO"
	out = ", .rare = " (sub(/^\?/, "", text) ? "RARE_BOTH" : "RARE_OTHER")
	bits = ""
	if (match(text, /[&!=].*/)) {
		bits = sprintf(", .bits = %s", c_number(number(substr(text, RSTART + 1))))
		if (substr(text, RSTART, 1) != "&")
			bits = bits (substr(text, RSTART, 1) == "!" ? ", .unless = 1" : ", .equal = 1")
		text = substr(text, 1, RSTART - 1)
	}
	for (i = 1; i <= n; i++) {
		name = part[i]
		sub(/:.*/, "", name)
		if (name == text)
			return out ", .other = " i - layout_first bits
	}
	fail("no member " text)
}

# Set the type of a member that points to memory; the counts are members.
function pointed(layout, part, n, type,   i, name) {
	call_id = "layout " layout
	for (i = layout_first; i <= n; i++) {
		name = part[i]
		sub(/:.*/, "", name)
		argument_number[call_id, name] = i - layout_first
	}
	i = argument(":" type)
	if (i > 255)
		fail("too many pointers")
	type_kind = "MEMBER_POINTER"
	type_width = "long"
	type_more = ", .set = " i
}

# Return the words of a member: its name, its shape with the bytes that its offset is behind the one
# before, or 63 and the offset, and its bits.
function member_words(name, behind, offset, shape,   bits, n, out) {
	n = 0
	if (match(shape, /, \.bits = [0-9]+/)) {
		bits = substr(shape, RSTART + 10, RLENGTH - 10) + 0
		sub(/, \.bits = [0-9]+u?/, "", shape)
		n = bits > 65535 ? 2 : bits > 0
		shape = shape ", .words = " n
	}
	n = row("shapes", shape)
	if (n > 1023)
		fail("too many shapes")
	out = "\t" name ", " n " | " (behind >= 0 && behind < 63 ? behind " << 10" : "63 << 10, " offset)
	if (bits > 0)
		out = out ", " bits % 65536
	if (bits > 65535)
		out = out ", " int(bits / 65536)
	return out ",\n"
}

# Lay out a structure of an ABI: return its number.
function lay_out(name, a,   part, n, i, flags, members, size, used, most, last, packed, text, type,
		side, rare, union, count, one, align, offset, v,
		place, pointer, before) {
	n = split((name, a) in layout ? layout[name, a] : layout[name], part, " ")
	flags = members = names_set = ""
	size = used = last = packed = layout_count = before = 0
	most = 1
	for (i = 1; part[i] ~ /^(bare|now|length|packed|part|all|more|chain|joined|later|(least|limit)=[0-9]+|names=[a-z0-9_]+)$/; i++)
		if (part[i] == "packed")
			packed = 1
		else
			flags = flags ", ." (part[i] ~ /^names=/ ? "names = " word_of("set", \
				names_set = substr(part[i], 7)) : part[i] (part[i] ~ /=/ ? "" : " = 1"))
	layout_first = i
	for (; i <= n; i++) {
		text = part[i]
		sub(/:.*/, "", text)
		type = substr(part[i], length(text) + 2)
		if (names_set != "") {
			if (!((names_set, text) in constant))
				fail("the set " names_set " has no " text)
			type = type sprintf("@%.0f", number(constant[names_set, text]))
			text = ""
		}
		side = sub(/;$/, "", type) ? ", .last = 1" : ""
		rare = ""
		if (match(type, /[!^]$/)) {
			side = side (substr(type, RSTART) == "!" ? ", .out = 1" : ", .both = 1")
			type = substr(type, 1, RSTART - 1)
		}
		if (match(type, /\?.*/)) {
			rare = substr(type, RSTART)
			type = substr(type, 1, RSTART - 1)
			rare = member_condition(rare, part, n)
		}
		union = sub(/<$/, "", type)
		pointer = sub(/^>/, "", type)
		if (pointer)
			type = pointed(name, part, n, type)
		place = ""
		if (match(type, /@[0-9]+$/)) {
			place = substr(type, RSTART + 1)
			type = substr(type, 1, RSTART - 1)
		}
		count = 1
		if (match(type, /\[[a-z_]+,/)) {
			v = substr(type, RSTART + 1, RLENGTH - 2)
			sub(v ",", "", type)
			rare = member_condition("?" v, part, n) ", .counted = 1"
		}
		if (match(type, /\[[0-9]+\]$/)) {
			count = substr(type, RSTART + 1, RLENGTH - 2)
			type = substr(type, 1, RSTART - 1)
			rare = ", .array = 1" rare
		}
		if (!pointer)
			read_type(type)
		one = align = width_in(a, type_width)
		if (type_kind == "CALL_STRUCT") {
			if (!((type_name, a) in layout_size))
				fail("no layout above: " type_name)
			one = layout_size[type_name, a]
			align = (abi_word[a] == 4 && abi_align[a] == 4) || one % 8 ? 4 : 8
			if (one < align)
				align = one ? one : 1
		}
		if (align == 8)
			align = abi_align[a]
		if (type_kind == "MEMBER_INET6") {
			one = 16
			align = 4
		}
		if (packed)
			align = 1
		if (match(type_more, /count = [0-9]+/)) {
			count = substr(type_more, RSTART + 8, RLENGTH - 8)
			sub(/, .count = [0-9]+/, "", type_more)
		}
		offset = place == "" ? last : place
		if (!union && place == "") {
			if (align > most)
				most = align
			last = offset = int((size + align - 1) / align) * align
		}
		if (names_set != "") {
			rare = ", .bits = " offset
			offset = 0
		}
		members = members member_words(packed_of(text), offset - before, offset, sprintf( \
			".kind = %s, .width = %s, .count = %d", type_kind, width_in(a, type_width), \
			count) type_more rare side)
		before = offset
		if (offset + one * count > size)
			size = offset + one * count
		if ((type_kind != "MEMBER_PAD" || text == "whole") && count > 0 && offset + one * count > used)
			used = offset + one * count
		layout_count++
	}
	layout_size[name, a] = size = int((size + most - 1) / most) * most
	if (!(members in members_at)) {
		members_at[members] = nmembers + 0
		all_members = all_members members
		nmembers += gsub(/,/, ",", members)
	}
	return row("layouts", sprintf(".first = %d, .n = %d, .size = %d, .used = %d",
		members_at[members], layout_count, size, used) flags)
}

# Set group_abis and group_value to the values that a constant has, each with its ABIs; return
# their number.
function groups(v, others,   n, i, word, left, part) {
	left = all_abis
	ngroups = 0
	n = split(others, part, " ")
	for (i = 1; i <= n; i++) {
		split(part[i], word, "=")
		left = common_abis(left, abis_of(word[1]), 0)
		if (word[2] == "-")
			continue
		group_abis[++ngroups] = abis_of(word[1])
		group_value[ngroups] = number(word[2])
	}
	if (v != "-" && left != "") {
		group_abis[++ngroups] = left
		group_value[ngroups] = number(v)
	}
	return ngroups
}

# Set the groups of constants with | between in the set of an argument.
function constant_groups(set, text,   part, n, i, v) {
	n = split(text, part, "|")
	if (n == 1 && (set, text) in constant)
		return groups(constant[set, text], constant_others[set, text])
	v = 0
	for (i = 1; i <= n; i++) {
		if (part[i] ~ /^[0-9]/)
			v += number(part[i])
		else if ((set, part[i]) in constant)
			v += number(constant[set, part[i]])
		else
			fail("the set " set " has no " part[i])
	}
	return groups(sprintf("%.0f", v), "")
}

function condition(test, arg, value, bits,   i) {
	test = sprintf("%s, %d, %d", test, arg, row("bits", sprintf("%.0fu", bits)))
	i = row("conditions", test " " value)
	condition_tests[i] = test
	condition_values[i] = value
	return i
}

# Put the conditions ARG=VALUE,VALUE..., where ARG may be NAME:SET, to those of each variant that
# is known: nvariants of variant_when, for variant_abis.
function conditions(text,   name, set, test, bits, i, j, k, n, m, values, when, abis, old_when,
		old_abis) {
	match(text, /[=&!]/)
	test = substr(text, RSTART, 1)
	name = substr(text, 1, RSTART - 1)
	n = split(substr(text, RSTART + 1), values, ",")
	bits = ""
	if (match(name, /%.*/)) {
		bits = number(substr(name, RSTART + 1))
		name = substr(name, 1, RSTART - 1)
	}
	set = argument_type[call_id, name]
	if (name ~ /:/) {
		set = name
		sub(/:.*/, "", name)
	}
	sub(/[^:]*:/, "", set)
	sub(/\.[1248lp]$/, "", set)
	m = nvariants
	for (i = 1; i <= m; i++) {
		old_when[i] = variant_when[i]
		old_abis[i] = variant_abis[i]
	}
	nvariants = 0
	for (i = 1; i <= m; i++)
		for (j = 1; j <= n; j++) {
			constant_groups(set, values[j])
			for (k = 1; k <= ngroups; k++) {
				abis = common_abis(old_abis[i], group_abis[k], 1)
				if (abis == "")
					continue
				when = condition(tests[test], argument_index(name), \
					c_number(group_value[k]), bits)
				variant_when[++nvariants] = old_when[i] (old_when[i] == "" ? "" : ", ") when
				variant_abis[nvariants] = abis
			}
		}
}

# Return the lower 32 bits of a number in C.
function c_number(v) {
	return sprintf("%.0fu", v < 0 ? v + 4294967296 : v % 4294967296)
}

# Return the members .args and .nargs of a call whose arguments begin with a word of the line.
function arguments(first,   i, list, name, n) {
	list = ""
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
	if (n > 6)
		fail("too many arguments")
	for (i = first; i <= NF && $i != "="; i++)
		list = list argument($i ~ /:/ ? $i : argument_type[call_id, $i]) ", "
	list = list argument(":" $NF)
	if (!(list in list_at)) {
		list_at[list] = nlists
		lists = lists "\t" list ",\n"
		nlists += n + 1
	}
	return sprintf(".args = %d, .nargs = %d", list_at[list], n)
}

BEGIN {
	nabis = split("x86_64 i386 aarch64 arm s390x ppc64le riscv64", abi, " ")
	split("8 4 8 4 8 8 8", abi_word, " ")
	split("8 4 8 8 8 8 8", abi_align, " ") # of 8 bytes
	for (i = bit = 1; i <= nabis; i++) {
		abi_index[abi[i]] = i - 1
		abi_bit[i - 1] = bit
		bit += bit
		all_abis = all_abis (i - 1)
	}
	ncalls = nmembers = nlists = nall = 0
	tests["="] = "TEST_EQUAL"
	tests["&"] = "TEST_ANY"
	tests["!"] = "TEST_NONE"
	text_of("")
	LONGEST = 8 # seven letters and the end
	condition("TEST_END", 0, "0u", 0)
	row("does", "0")
	word_of("set", "errno") # a member without a set has the number 0
	word_of("set", "cap_low") # of MEMBER_CAPS
	word_of("set", "cap_high")
	n = split("nlmsg nla_f nlm_f nlm_f_ack nlm_f_new nlm_f_get nlm_f_del", word, " ") # of print_netlink.c
	for (i = 1; i <= n; i++)
		word_of("set", word[i])
}

/^#/ || NF == 0 { next }

FILENAME ~ /types\.in$/ {
	kinds[$1] = $2
	widths[$1] = $3
	more[$1] = ""
	for (i = 4; i <= NF; i++) {
		sub(/=/, " = ", $i)
		more[$1] = more[$1] ", ." $i
	}
	next
}

FILENAME ~ /pieces\.in$/ {
	piece[$1] = sprintf("%02x", npieces++)
	whole = sub(/\$$/, "", $1)
	n = length($1)
	if (!TEXTS && (npieces > 256 || n > 7 || index($1, "$")))
		fail("no such piece, or too many")
	gsub(/~/, " ", $1)
	gsub(/["\\]/, "\\\\&", $1)
	pieces = pieces sprintf("\t{ \"%s\", %d, %d },\n", $1, n, whole)
	next
}

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
		set = file
		sub(/.*\//, "", set)
		sub(/\.in$/, "", set)
		is_flags[set] = $1 == "parts" ? 2 : $1 == "texts" ? 3 : $1 == "flags"
		set_more[set] = ""
		for (i = 2; i <= NF; i++) {
			if ($i ~ /^rest=parts:/)
				set_more[set] = set_more[set] ", .rest = REST_PARTS, .parts = " \
					word_of("set", substr($i, 12))
			else if ($i ~ /^rest=/)
				set_more[set] = set_more[set] ", .rest = REST_" toupper(substr($i, 6))
			else if ($i ~ /^mask=/)
				set_more[set] = set_more[set] ", .mask = " c_number(number(substr($i, 6)))
			else if ($i ~ /^sub=/)
				set_more[set] = set_more[set] ", .sub = " word_of("set", substr($i, 5))
			else
				fail("no such word: " $i)
		}
		next
	}
	if (is_flags[set] == 2) {
		prefix[set] = ""
		set_name[set, ++set_n[set]] = $1 == "-" ? "" : $1
		gsub(/~/, " ", set_name[set, set_n[set]])
		if (NF > 1)
			read_type($4)
		v = type_more
		if (!sub(/.*set = /, "", v))
			v = 0
		set_value[set, set_n[set]] = NF > 1 ? sprintf("%d | %d << 8 | %s << 16 | (uint32_t)%s << 24", \
			$2, $3, type_kind, v) : 0
		set_abis[set, set_n[set]] = all_abis
		needs(set, 4)
		next
	}
	if (NF < 2)
		fail("a line is a name and a number")
	gsub(/~/, " ", $1)
	others = ""
	for (i = 3; i <= NF; i++)
		others = others " " $i
	constant[set, $1] = $2
	constant_others[set, $1] = others
	if (!(set in prefix))
		prefix[set] = $1
	while (prefix[set] != "" && index($1, prefix[set]) != 1)
		prefix[set] = substr(prefix[set], 1, length(prefix[set]) - 1)
	groups($2, others)
	for (i = 1; i <= ngroups; i++) {
		v = group_value[i]
		# as numbers without a sign, negative ones are above all others
		key = v < 0 ? v + 1e15 : v
		for (j = ++set_n[set]; !is_flags[set] && j > 1 && set_key[set, j - 1] > key; j--) {
			set_key[set, j] = set_key[set, j - 1]
			set_name[set, j] = set_name[set, j - 1]
			set_value[set, j] = set_value[set, j - 1]
			set_abis[set, j] = set_abis[set, j - 1]
		}
		set_key[set, j] = key
		set_name[set, j] = $1
		set_value[set, j] = sprintf("%.0f", v)
		set_abis[set, j] = group_abis[i]
		needs(set, v < 0 || v > 4294967295 ? 8 : group_abis[i] != all_abis ? 5 : \
			v > 65535 ? 4 : v > 255 ? 2 : 1)
	}
	next
}

FILENAME ~ /layouts\.in$/ {
	n = split($1, word, "@")
	name = word[1]
	abis = n > 1 ? abis_of(word[2]) : all_abis
	text = $0
	sub(/^[^ ]* /, "", text)
	word_of("layout", name)
	for (j = 1; j <= length(abis); j++) {
		i = substr(abis, j, 1) + 1
		layout[name, i] = text
		layout_of[name, i] = lay_out(name, i)
	}
	next
}

FILENAME ~ /netlink\.in$/ {
	if (!(("netlink", $1) in constant))
		fail("no protocol " $1)
	v = number(constant["netlink", $1])
	if (NF == 3) {
		row("protocols", sprintf(".types = %s, .flags = %s, .protocol = %d", word_of("set", $2),
			word_of("set", $3), v))
		protocol_types[$1] = $2
		next
	}
	row("messages", sprintf(".first = %d, .last = %d, .layout = %s, .attributes = %s, .protocol = %d, .family = %d, .request = %d",
		message_type($2), message_type($3), word_of("layout", $4),
		$5 == "-" ? 0 : word_of("layout", $5), v, $6, $7 == "request" ? 1 : $7 == "answer" ? 2 : 0))
	next
}

FILENAME ~ /calls\.in$/ {
	if ($1 == "?") {
		nvariants = 1
		variant_when[1] = ""
		variant_abis[1] = all_abis
		for (i = 2; $i ~ /^[a-z0-9_]+(:[a-z0-9_]+)?(%[0-9a-fx]+)?[=&!][A-Z0-9_]/; i++)
			conditions($i)
		if (i == 2 || i > 4)
			fail("a variant has one or two conditions")
		text = arguments(i)
		for (j = 1; j <= nvariants; j++)
			variants[nall++] = text sprintf(", .when = { %s }, .abis = %d", variant_when[j],
				abi_bits(variant_abis[j]))
		next
	}
	call_id = ncalls++
	n = split($1, word, "@")
	name = word[1]
	if (n > 1) {
		n = split(word[2], part, ",")
		for (i = 1; i <= n; i++)
			special[word[1], abis_of(part[i]) + 1] = ncalls
	} else {
		common[word[1]] = ncalls
	}
	call[call_id] = sprintf(".name = %s, %s, .variants = %d", text_of(word[1]), arguments(2), nall)
	next
}

{ fail("unknown file") }

# Return the number of a type of netlink messages.
function message_type(text,   set) {
	set = protocol_types[$1]
	return (set, text) in constant ? number(constant[set, text]) : number(text)
}

# Print the rows of each layout, one for each form that it has, and where they are.
function print_layouts(   i, j, k, n, pattern, forms, places) {
	n = 0
	print "const struct call_layout call_layouts[] = {"
	for (j = 0; j < words["layout"]; j++) {
		split("", forms)
		pattern = ""
		places = places "\t{ " n ", "
		for (i = k = 0; i < nabis; i++) {
			row_of = layout_of[names["layout", j], i + 1] + 0
			if (!(row_of in forms)) {
				forms[row_of] = k++
				print "\t{ " row_line["layouts", row_of] " },"
			}
			pattern = pattern (i ? ", " : "") forms[row_of]
		}
		n += k
		places = places row("forms", "{ " pattern " }") " },\n"
	}
	print "};\n\nstatic const struct layout_rows call_layout_rows[] = {\n" places "};\n"
	print_rows("forms", "layout_form")
	if (n > 1023 || rows["forms"] > 63) {
		print "too many forms of layouts" >"/dev/stderr"
		exit failed = 1
	}
}

# Print the lines of a table.
function print_rows(table, type,   i) {
	printf "const struct %s call_%s[] = {\n", type, table
	for (i = 0; i < rows[table]; i++)
		print "\t{ " row_line[table, i] " },"
	print "};\n"
}

function print_words(what, found,   i) {
	print "enum {" >NAMES
	for (i = 0; i < words[what]; i++) {
		if (!((names[what, i], 1) in found) && !(names[what, i] in found)) {
			print "no " what " " names[what, i] >"/dev/stderr"
			exit failed = 1
		}
		print "\t" toupper(what "_" names[what, i]) "," >NAMES
	}
	print "\t" toupper(what "_end") "\n};" >NAMES
}

END {
	if (failed)
		exit 1
	print_words("set", is_flags)
	print_words("layout", layout)
	first = 0
	for (k = 1; k <= 8; k++) {
		class_first[k] = first
		for (i = 0; i < words["set"]; i++) {
			set = names["set", i]
			if (set_bytes[set] != k)
				continue
			set_first[set] = first
			first += set_n[set]
			packed_of(prefix[set])
			for (j = 1; j <= set_n[set]; j++)
				packed_of(substr(set_name[set, j], length(prefix[set]) + 1))
		}
	}
	print_places("T", 1)
	print_places("P", 2)
	printf "enum { CONSTANTS_2 = %d, CONSTANTS_4 = %d, CONSTANTS_ABIS = %d, CONSTANTS_8 = %d };\n",
		class_first[2], class_first[4], class_first[5], class_first[8] >NAMES
	print_constants("const struct call_constant call_constants", "name", 1, 8)
	print_constants("const uint8_t call_values_1", "value", 1, 1)
	print_constants("const uint16_t call_values_2", "value", 2, 2)
	print_constants("const uint32_t call_values_4", "value", 4, 5)
	print_constants("const int64_t call_values_8", "value", 8, 8)
	print_constants("const uint8_t call_constant_abis", "abis", 5, 8)
	for (i = 0; i < words["set"]; i++) {
		set = names["set", i]
		row("sets", sprintf(".first = %d, .n = %d, .prefix = %s, .flags = %d", set_first[set],
			set_n[set], packed_of(prefix[set]), is_flags[set]) set_more[set])
	}
	print_rows("sets", "call_set")
	print_rows("shapes", "call_shape")
	print "const uint16_t call_member_words[] = {\n" all_members "};\n"
	print_layouts()
	print_rows("kinds", "call_argument_kind")
	print_rows("arguments", "call_argument")
	print "const uint16_t call_lists[] = {\n" lists "};\n"
	print "static const struct call_test call_tests[] = {"
	for (i = 0; i < rows["conditions"]; i++)
		print "\t{ " condition_tests[i] " },"
	print "};\n\nstatic const uint32_t call_test_values[] = {"
	for (i = 0; i < rows["conditions"]; i++)
		print "\t" condition_values[i] ","
	print "};\n\nstatic const uint32_t call_test_bits[] = {"
	for (i = 0; i < rows["bits"]; i++)
		print "\t" row_line["bits", i] ","
	print "};\n"
	if (rows["bits"] > 7)
		fail("too many masks of conditions")
	row("messages", "0")
	row("protocols", "0")
	print_rows("messages", "call_message")
	print_rows("protocols", "call_protocol")
	print "const struct call_variant_data call_variants[] = {"
	for (i = 0; i < nall; i++)
		print "\t{ " variants[i] " },"
	print "};\n\nconst struct call_data call_table[] = {"
	for (i = 0; i < ncalls; i++)
		printf "\t{ %s },\n", call[i]
	print "\t{ .variants = " nall " }"
	print "};\n\nconst uint16_t call_numbers[] = {"
	first = 0
	for (i = 1; i <= nabis; i++) {
		abi_numbers[i] = first
		for (j = 0; j <= most[i]; j++) {
			name = number_call[i, j]
			if (name != "" && !((name, i) in special) && !(name in common)) {
				print "no arguments of " name >"/dev/stderr"
				failed = 1
			}
			print "\t" ((name, i) in special ? special[name, i] : common[name] + 0) ","
		}
		first += most[i] + 1
	}
	print "};\n\nconst struct call_abi call_abis[] = {"
	for (i = 1; i <= nabis; i++)
		printf "\t{ \"%s\", .word = %d, .big = %d, .align8 = %d, .numbers = %d, .n = %d },\n",
			abi[i], abi_word[i], abi[i] == "s390x", abi_align[i], abi_numbers[i], most[i] + 1
	print "};\n\nconst struct call_piece call_pieces[] = {\n" pieces "};\n\nconst char call_texts[] ="
	for (i = 0; i < nwhole["T"]; i++)
		print "\t\"" whole_texts["T", i] "\\0\""
	print "\t;\n\nconst unsigned char call_packed[] ="
	for (i = 0; i < nwhole["P"]; i++) {
		gsub(/../, "\\x&", whole_texts["P", i])
		print "\t\"" whole_texts["P", i] "\""
	}
	print "\t;"
	if (TEXTS)
		for (s in packed_texts)
			print s >TEXTS
	if (nlists > 65535) {
		print "the tables are too large" >"/dev/stderr"
		failed = 1
	}
	exit failed
}

# SPDX-License-Identifier: ISC
# filejudge.awk [form=FORM] TRUTH TRACE - compare what fileops says with a trace of it: print the
# numbers of checks and of those that agree, and what does not
#
# FORM is json, lines of calls in JSON; files, lines of trace_files in JSON, which have what is
# written to files only; or text, lines of calls, which have names only.

# octal(TEXT): Return a string of JSON with the octal numbers of fileops.
function octal(text,    at, out, code) {
	if (text !~ /[\\<>|]/)
		return text
	gsub(/</, "\\074", text)
	gsub(/>/, "\\076", text)
	gsub(/\|/, "\\174", text)
	for (out = ""; (at = index(text, "\\")); text = substr(text, at + 2)) {
		out = out substr(text, 1, at - 1)
		if (substr(text, at + 1, 1) == "u") {
			code = 16 * substr(text, at + 4, 1)
			code += index("123456789abcdef", substr(text, at + 5, 1))
			out = out sprintf("\\%03o", code)
			at += 4
		} else if (substr(text, at + 1, 1) == "0" || substr(text, at + 1, 1) == "1")
			out = out substr(text, at, 2)
		else
			out = out escapes[substr(text, at + 1, 1)]
	}
	return out text
}

# file_at(TEXT): Return "MAJOR:MINOR INODE PATH" of the file at the beginning of the text, or "".
function file_at(text,    path, device, inode) {
	if (!match(text, /^"(file|directory)":\{"path":"([^"\\]|\\.)*","device":"/))
		return ""
	path = substr(text, 1, RLENGTH - 12)
	sub(/^[^:]*:\{"path":"/, "", path)
	device = inode = substr(text, RLENGTH + 1)
	sub(/".*/, "", device)
	sub(/^[^}]*"inode":/, "", inode)
	sub(/\}.*/, "", inode)
	return device " " inode " " octal(path)
}

# of(NAME): Return the value, and set after to what follows the text, of an argument.
function of(name,    at, value) {
	at = index($0, "{\"name\":\"" name "\",\"value\":")
	value = substr($0, at + length(name) + 19)
	after = value
	sub(/^[^,]*,"text":"([^"\\]|\\.)*",?/, "", after)
	sub(/[,"].*/, "", value)
	return value
}

function storm(path) {
	sub(/.*\/storm\/(d\/)?s\./, "", path)
	return path + 0
}

# agrees(NUMBER, FILE): Is it the file of the check?
function agrees(n, file,    names, part, where, path) {
	where = form == "text" ? "" : place[n] " "
	if (kind[n] != "s" || split(name[n], names, "|") != 2)
		return file == where name[n] || (where == "" && file != "" && name[n] ~ /^socket:/)
	path = file
	sub(/^[0-9:]* [0-9]* /, "", path)
	return substr(file, 1, length(where)) == where && storm(names[1]) <= storm(path) &&
	       storm(path) <= storm(names[2])
}

# number(TEXT): Set n to the number of the check that a call with the text has, or 0.
function number(text) {
	n = match(text, /"no\.[0-9]+/) ? substr(text, RSTART + 4, RLENGTH - 4) : 0
}

BEGIN {
	split("n \\012 t \\011 \" \\042 \\ \\134 b \\010 f \\014 r \\015 / /", pairs, " ")
	for (at = 1; at < 16; at += 2)
		escapes[pairs[at]] = pairs[at + 1]
}

FNR == NR {
	if (form == "files" && (!$3 || $6 ~ /^\/memfd:/))
		next
	kind[$1] = $2
	place[$1] = $4 " " $5
	name[$1] = $0
	sub(/^[^ ]* [^ ]* [^ ]* [^ ]* [^ ]* /, "", name[$1])
	total++
	next
}

form == "text" {
	pid = event = $0
	sub(/ *\[[0-9]+\] .*/, "", pid)
	sub(/.*-/, "", pid)
	sub(/^[^:]*: /, "", event)
	file = ""
	if (match(event, /^[a-z0-9_]+\(([0-9]+|AT_FDCWD)</)) {
		file = substr(event, RLENGTH + 1)
		sub(/>.*/, "", file)
	}
	if (event ~ /^pwrite64\(/) {
		n = event
		sub(/\) = .*/, "", n)
		sub(/.*, /, "", n)
		seen[n] = file
		made[n] = before[pid]
		maker[n] = call[pid]
	} else if (event ~ /^faccessat\(/) {
		number(event)
		seen[n] = file
	} else if (event !~ /^(fstat|newfstatat|readlink|readlinkat|close|close_range)\(/) {
		file = ""
		if (match(event, / = [0-9]+</)) {
			file = substr(event, RSTART + RLENGTH)
			sub(/>[^>]*<[0-9.]*>$/, "", file)
		}
		before[pid] = file
		call[pid] = event
	}
	next
}

{
	pid = event = $0
	sub(/.*"pid":/, "", pid)
	sub(/,.*/, "", pid)
	if (!sub(/^.*"event":"sys_exit_/, "", event))
		next
	sub(/".*/, "", event)
}

event == "pwrite64" {
	n = of("pos")
	of("fd")
	seen[n] = file_at(after)
	made[n] = before[pid]
	maker[n] = call[pid]
	if (form == "files" && (!match($0, /"path":"([^"\\]|\\.)*","written":1,/) || seen[n] !~ / / ||
	    octal(substr($0, RSTART + 8, RLENGTH - 22)) != substr(seen[n], length(place[n]) + 2)))
		seen[n] = "not " $0
	next
}

event == "faccessat" {
	number($0)
	of("dfd")
	seen[n] = file_at(after)
	next
}

event !~ /^(fstat|newfstatat|readlink|readlinkat|close|close_range)$/ {
	after = ""
	if (match($0, /"ret":[0-9]+,/))
		after = substr($0, RSTART + RLENGTH)
	before[pid] = file_at(after)
	call[pid] = $0
}

END {
	for (n in kind)
		if (agrees(n, seen[n]) && (form == "files" || kind[n] != "r" || agrees(n, made[n])))
			right++
		else
			wrong[n]
	print total + 0, "checks,", right + 0, "agree"
	for (n in wrong)
		print n, kind[n], place[n], name[n] ":", seen[n], "/", made[n], "by", maker[n]
}

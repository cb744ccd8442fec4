# SPDX-License-Identifier: ISC
# filejudge.awk TRUTH TRACE - compare what fileops says with a trace of it as JSON: print the numbers of
# checks and of those that agree, and what does not

# file_at(TEXT): Return "MAJOR:MINOR INODE PATH" of the file at the beginning of the text, or "".
function file_at(text,    path, device, inode) {
	if (text !~ /^"(file|directory)":\{"path":"/)
		return ""
	path = device = inode = text
	sub(/^[^:]*:\{"path":"/, "", path)
	sub(/","device":.*/, "", path)
	sub(/^[^}]*"device":"/, "", device)
	sub(/".*/, "", device)
	sub(/^[^}]*"inode":/, "", inode)
	sub(/\}.*/, "", inode)
	return device " " inode " " path
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
	sub(/.*\/storm\/s\./, "", path)
	return path + 0
}

# agrees(NUMBER, FILE): Is it the file of the check?
function agrees(n, file,    names, part) {
	if (kind[n] != "s" || split(name[n], names, "|") != 2)
		return file == place[n] " " name[n]
	split(file, part, " ")
	return part[1] " " part[2] == place[n] && storm(names[1]) <= storm(part[3]) &&
	       storm(part[3]) <= storm(names[2])
}

FNR == NR {
	kind[$1] = $2
	place[$1] = $4 " " $5
	name[$1] = $0
	sub(/^[^ ]* [^ ]* [^ ]* [^ ]* [^ ]* /, "", name[$1])
	total++
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
	next
}

event == "faccessat" && match($0, /"text":"\\"no\.[0-9]+/) {
	n = substr($0, RSTART + 13, RLENGTH - 13)
	of("dfd")
	seen[n] = file_at(after)
	next
}

event !~ /^(fstat|newfstatat|readlink|readlinkat|close)$/ {
	after = ""
	if (match($0, /"ret":[0-9]+,/))
		after = substr($0, RSTART + RLENGTH)
	before[pid] = file_at(after)
}

END {
	for (n in kind)
		if (agrees(n, seen[n]) && (kind[n] != "r" || agrees(n, made[n])))
			right++
		else
			wrong[n]
	print total + 0, "checks,", right + 0, "agree"
	for (n in wrong)
		print n, kind[n], place[n], name[n] ":", seen[n], "/", made[n]
}

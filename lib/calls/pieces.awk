# SPDX-License-Identifier: ISC
# pieces.awk - choose the pieces that the texts of the tables of system calls are made of
#
# usage: awk -f pieces.awk TEXTS >data/pieces.in
# TEXTS has a text on each line. In each round the texts are cut into the fewest pieces. Then those
# that follow each other most often become one piece, and those that save least are dropped.

# Cut a text into part[1] to part[n], and return n.
function parse(s,   i, k, n, cost, best) {
	cost[length(s) + 1] = 0
	for (i = length(s); i; i--) {
		cost[i] = cost[i + 1] + 1
		best[i] = 1
		for (k = 2; k <= LONGEST && i + k <= length(s) + 1; k++)
			if (cost[i + k] + 1 < cost[i] && substr(s, i, k) in piece) {
				cost[i] = cost[i + k] + 1
				best[i] = k
			}
	}
	n = 0
	for (i = 1; i <= length(s); i += best[i])
		part[++n] = substr(s, i, best[i])
	return n
}

# Set found to the piece of the largest number, or of the smallest: sign is -1.
function find_most(of, sign,   s, most) {
	most = -1e9
	for (s in of)
		if (sign * of[s] > most || (sign * of[s] == most && s < found)) {
			most = sign * of[s]
			found = s
		}
}

BEGIN {
	LONGEST = 8 # seven letters and the end
	ROUNDS = 50
	most = 256
}

{
	text[NR] = $0 "$" # the end
	for (i = 1; i <= length(text[NR]); i++)
		if (!(substr(text[NR], i, 1) in letter)) {
			letter[substr(text[NR], i, 1)]
			most--
		}
}

END {
	for (round = all = 0; round < ROUNDS; round++) {
		split("", pairs)
		for (s in piece)
			piece[s] = 0 # letters that it saves
		sum = 0
		for (i = 1; i <= NR; i++) {
			sum += n = parse(text[i])
			for (k = 1; k <= n; k++) {
				if (part[k] in piece)
					piece[part[k]] += length(part[k]) - 1
				s = part[k] part[k + 1]
				if (k < n && length(s) <= LONGEST - (s !~ /\$/))
					pairs[s]++
			}
		}
		if (!all || sum < all) {
			all = sum
			split("", chosen)
			for (s in piece)
				chosen[s]
		}
		for (i = 0; i < 10; i++) {
			find_most(pairs, 1)
			delete pairs[found]
			if (!(found in piece))
				npieces++
			piece[found] = 1e8
		}
		for (; npieces > most; npieces--) {
			find_most(piece, -1)
			delete piece[found]
		}
	}
	print "# SPDX-" "License-Identifier: ISC"
	print "# pieces.in - what packed texts are made of; ~ is a space, $ the end: make pieces"
	fflush()
	for (s in letter)
		print s | "sort"
	for (s in chosen)
		print s | "sort"
}

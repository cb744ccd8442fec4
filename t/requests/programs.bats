#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# shellcheck disable=SC2016 # programs for awk
# emit, programs, btf: test what dt-probe makes its programs with, without a kernel that
# runs them: lib/bpf, and the programs of bin/requests by their instructions.

load ../helper

BTF=/sys/kernel/btf/vmlinux

programs() {
	printf '%s\n' rx read send end state gone fork exit wait mark mark_bare
}

# The codes are written by hand from RFC 9669.
@test "emit: each kind of instruction has its code, registers, offset and number" {
	"$PROG/insns" each >got
	cat >expected <<-'EOF'
		79 1 2 8 0
		61 1 2 -4 0
		69 1 2 0 0
		71 1 2 12 0
		7b 10 9 -8 0
		73 10 0 -512 0
		62 10 0 -16 fffffffe
		6a 10 0 -6 ffff
		bf 6 1 0 0
		0f 6 1 0 0
		1f 6 1 0 0
		4f 6 1 0 0
		bc 6 6 0 0
		1c 1 2 0 0
		57 3 0 0 fffffffe
		67 3 0 0 20
		77 3 0 0 20
		c7 3 0 0 3f
		dc 4 0 0 10
		dc 4 0 0 20
		b7 1 0 0 1
		db 0 1 24 0
		db 6 4 8 f1
		18 1 1 0 7
		00 0 0 0 0
		bf 2 10 0 0
		07 2 0 0 fffffff8
		18 2 0 0 89abcdef
		00 0 0 0 1234567
		18 2 0 0 ffffffff
		00 0 0 0 0
		85 0 0 0 1
		85 0 0 0 71
		b7 0 0 0 ffffffff
		95 0 0 0 0
	EOF
	diff expected got
}

@test "emit: a jump counts from the next instruction, forward, backward and over wide instructions" {
	"$PROG/insns" jumps >got
	cat >expected <<-'EOF'
		05 0 0 0 0
		1d 1 2 10 0
		5d 1 9 -3 0
		25 3 0 2 fffffffb
		18 4 0 0 0
		00 0 0 0 1
		c6 3 0 -7 5
		76 3 0 4 5
		45 3 0 3 8
		65 3 0 2 8
		d6 3 0 1 8
		05 0 0 -12 0
		b7 0 0 0 0
		95 0 0 0 0
	EOF
	diff expected got
}

# each_program AWK: Pass the instructions of each program with each setting through awk.
each_program() {
	local name flags n=0
	for name in $(programs); do
		for flags in 0 1 2 4 7 '0 1' '7 1'; do
			echo "$name $flags"
			# shellcheck disable=SC2086 # words
			"$PROG/insns" "$name" $flags | awk "$1"
			n=$((n + 1))
		done
	done
	[ "$n" = 77 ]
}

# A jump to a label that was never set would land before the first instruction.
@test "programs: each jump lands on an instruction, and never inside a wide instruction" {
	each_program '
		{ wide[NR] = before; before = $1 == "18" }
		$1 ~ /[56de]$/ && $1 !~ /^[89]/ { jumps++; to[NR + 1 + $4] = $0 }
		END {
			for (at in to)
				if (at + 0 < 1 || at + 0 > NR || wide[at]) {
					print "lands at " at ": " to[at]
					exit 1
				}
			exit NR < 8
		}'
}

@test "programs: every path ends with exit, and no program is longer than Linux 5.10 accepts" {
	each_program '{ last = $1 } END { exit last != "95" || NR > 4096 }'
}

# as_llvm: Print assembly as llvm-mc prints it: without labels and names.
as_llvm() {
	awk '
		/^\t/ { line[n++] = $0; n += / ll(\t|$)| = map / }
		/^[a-z].*:$/ { at[substr($0, 1, length($0) - 1)] = n }
		END {
			for (i = 0; i < n; i++) {
				if (!(i in line))
					continue
				$0 = line[i]
				sub(/\t\t\/\/.*/, "")
				if ($0 ~ /goto /) {
					jump = at[$NF] - i - 1
					sub(/goto .*/, "goto " (jump < 0 ? "" : "+") jump)
				}
				if ($0 ~ / = map /)
					$0 = "\tld_pseudo\t" $1 ", 1, " $4
				if ($1 == "call")
					$2 = "NAME"
				gsub(/^[\t ]*/, "\t")
				print
			}
		}'
}

# llvm: Print instructions as llvm-mc does, which knows some only since LLVM 18.
llvm() {
	awk '{
		off = $4 < 0 ? 65536 + $4 : $4
		printf "0x%s 0x%x%x 0x%02x 0x%02x", $1, $3, $2, off % 256, int(off / 256)
		imm = substr("0000000" $5, length($5))
		for (i = 7; i > 0; i -= 2)
			printf " 0x%s", substr(imm, i, 2)
		print ""
	}' | llvm-mc --triple=bpfel --disassemble 2>/dev/null |
		sed '/\.text/d; s/call .*/call NAME/'
}

@test "assembly: is what LLVM makes of the instructions" {
	local name flags
	need_tool llvm-mc
	for name in each jumps $(programs); do
		for flags in 0 7 '15 1'; do
			# shellcheck disable=SC2086 # words
			"$PROG/insns" "$name" $flags | llvm >expected
			# shellcheck disable=SC2086 # words
			"$PROG/insns" -S "$name" $flags | as_llvm >got
			[ "$(wc -l <expected)" -gt 4 ]
			grep -qF ') = -2' expected || # LLVM before 18
				sed -i '/^.*) = -\{0,1\}[0-9]*$/d; / & .*goto/d' got
			diff expected got
		done
	done
}

@test "assembly: helpers have their names in the kernel's header" {
	local header=/usr/include/linux/bpf.h name number
	[ -e "$header" ] || skip "needs $header"
	sed -n '/define .*BPF_FUNC_MAPPER/,/^$/s/.*FN(\([a-z0-9_]*\).*/\1/p' "$header" >names
	sed -n 's/^.*X(FN_[A-Z0-9_]*, \([a-z0-9_]*\), \([0-9]*\)).*/\1 \2/p' \
		"$TREE/lib/bpf/bpf.h" >helpers
	[ "$(wc -l <helpers)" -gt 10 ]
	while read -r name number; do
		[ "$(sed -n "$((number + 1))p" names)" = "$name" ] ||
			[ "$number" -ge "$(wc -l <names)" ]
	done <helpers
}

@test "assembly: names labels, slots and texts" {
	"$PROG/insns" -S wait | sed 's/^[^/]*goto //; s/\t\t/ /; s/^\t//' >got
	grep -qx 'out' got
	grep -qx 'waits:' got
	grep -qx 'r2 += -16 // WHO' got
	grep -qx '\*(u64 \*)(r10 - 184) = r1 // MARK_RECORD + 24' got
	grep -qx 'r1 = .* ll // "dtE"' got
	"$PROG/insns" -S rx | grep -A 1 -x 'earlier_[1-4]:' | grep -c 'w1 = w4' | grep -qx 4
}

# An int is in one half of an argument; the byte order decides which half.
@test "programs: the arguments of a tracepoint are read whole" {
	for name in read end state gone fork; do
		"$PROG/insns" "$name" >code
		awk '$1 == "85" { exit } $1 ~ /[67].$/ && $1 ~ /[19]$/ && $3 == 1' code >reads
		[ -s reads ]
		run -1 grep -v '^79 ' reads
	done
}

# corpus NAME: Write the file of t/fuzz's corpus, without its first words, to types.btf.
corpus() {
	tr '\0' '\n' <"$TREE/t/fuzz/corpus/btf/$1" | head -n 1 >words
	tail -c "+$(($(wc -c <words) + 1))" "$TREE/t/fuzz/corpus/btf/$1" >types.btf
}

@test "btf: finds members in unnamed structures and with bit fields, and finds functions" {
	[ "$(printf '\1\0' | od -An -td2 | tr -d ' ')" = 1 ] ||
		skip "needs a machine of the corpus's byte order"
	corpus kernel-sock
	[ "$("$PROG/btfinfo" types.btf sock_common.skc_dport sock_common.skc_num \
		sock_common.none none.skc_num tcp_sendmsg tcp_sendmsg_locked)" = \
		$'12\n14\n-1\n-1\n14\n15' ]
	corpus bit-field
	[ "$("$PROG/btfinfo" types.btf a.b)" = 8 ]
	corpus bit-offset
	[ "$("$PROG/btfinfo" types.btf a.b)" = -1 ]
	corpus large-offset
	[ "$("$PROG/btfinfo" types.btf a.b)" = -1 ]
	corpus cycle
	[ "$("$PROG/btfinfo" types.btf a.b)" = -1 ]
}

@test "btf: refuses a missing file and a file that is no BTF" {
	echo text >text
	outputs 111 "btfinfo: fatal: unable to read text: Invalid argument" "$PROG/btfinfo" text a.b
	outputs 111 "btfinfo: fatal: unable to read none: No such file or directory" "$PROG/btfinfo" none a.b
}

@test "btf: finds in this kernel's BTF what bpftool finds" {
	[ -e "$BTF" ] || skip "needs $BTF (CONFIG_DEBUG_INFO_BTF)"
	need_tool bpftool
	set -- tcp_sock.copied_seq tcp_sock.write_seq tcp_sock.snd_una tcp_sock.rcv_nxt \
		sock_common.skc_dport sock_common.skc_num task_struct.pid task_struct.tgid \
		task_struct.none tcp_sendmsg tcp_sendmsg_locked no_such_function
	bpftool btf dump file "$BTF" format raw | awk -v wanted="$*" '
		function find(id, member,   i, below) {
			for (i = 1; i <= n[id]; i++) {
				if (name[id, i] == member)
					return bits[id, i]
				if (name[id, i] == "(anon)" && (type[id, i] in n)) {
					below = find(type[id, i], member)
					if (below >= 0)
						return bits[id, i] + below
				}
			}
			return -1
		}
		{ gsub("\047", "") }
		/^\[/ {
			id = substr($1, 2, length($1) - 2)
			if ($2 == "STRUCT" || $2 == "UNION") {
				n[id] = 0
				if ($2 == "STRUCT" && !($3 in of))
					of[$3] = id
			} else if ($2 == "FUNC" && !($3 in function_id)) {
				function_id[$3] = id
			}
			next
		}
		id in n {
			name[id, ++n[id]] = $1
			type[id, n[id]] = substr($2, 9)
			bits[id, n[id]] = substr($3, 13)
		}
		END {
			words = split(wanted, word, " ")
			for (w = 1; w <= words; w++)
				if (split(word[w], part, ".") == 2) {
					at = find(of[part[1]], part[2])
					print at < 0 ? -1 : at / 8
				} else {
					print function_id[word[w]] + 0
				}
		}' >expected
	"$PROG/btfinfo" "$BTF" "$@" >got
	diff expected got
	[ "$(grep -cx -- '-1' got)" = 1 ]
	[ "$(grep -cx 0 got)" = 1 ]
}

#!/usr/bin/env bats
# SPDX-License-Identifier: ISC
# constants of the kernel that are typed by hand, compared with the headers of this machine
# parts: 1

load ../helper
load ../constants

# typed: Write a C program N.c for each section of lib/host/kernel.h: its headers, as far as they are
# there, and an assertion in a line for each constant and structure.
typed() {
	awk '
		/^\/\* not exported/ { exit }
		/^\/\* [a-z]+[a-z0-9_\/]*\.h/ {
			out = ++n ".c"
			print "#include <stddef.h>" >out
			for (i = 2; i <= NF; i++) {
				sub(/;$/, "", $i)
				if ($i ~ /\.h$/)
					printf "#if __has_include(<%s>)\n#include <%s>\n#endif\n", $i, $i >out
			}
			print "#include \"host/kernel.h\"" >out
		}
		/^struct k_/ {
			name = substr($2, 3)
			printf "_Static_assert((sizeof(struct %s)) == (sizeof(struct k_%s)), \"DIFFERS\");\n", name, name >out
		}
		{
			other = ""
			if (match($0, /\/\* .* \*\/$/))
				other = substr($0, RSTART + 3, RLENGTH - 6)
			line = $0
			if (other != "" && !/^\/\*/)
				line = substr($0, 1, RSTART - 1)
			last = ""
			while (match(line, /K_[A-Za-z0-9_]+ (= )?[-_0-9xa-zA-Z]/)) {
				name = substr(line, RSTART, RLENGTH)
				line = substr(line, RSTART + RLENGTH)
				sub(/ .*/, "", name)
				names[++names_n] = name
				real = other != "" && line !~ /K_/ ? other : substr(name, 3)
				printf "_Static_assert((%s) == (%s), \"DIFFERS\");\n", real, name >out
			}
		}' "$TREE/lib/host/kernel.h"
}

# machine: Write bpf.c with the same of the numbers of BPF in lib/bpf/.
machine() {
	echo '#include <linux/bpf.h>' >bpf.c
	sed -n 's/^\tX(FN_[A-Z0-9_]*, \([a-z0-9_]*\), \([0-9]*\)).*/BPF_FUNC_\1 \2/p' "$TREE/lib/bpf/bpf.h" >numbers
	awk '/^enum bpf_(size|alu|jump|map_type|program_type|attach_type)/, /};/' "$TREE/lib/bpf/bpf.h" |
		grep -o '[A-Z][A-Z0-9_]* = [0-9a-fx]*' |
		sed 's/ = / /; s/^SIZE_/BPF_/; s/^ALU_/BPF_/; s/^J/BPF_J/; s/^MAP_/BPF_MAP_TYPE_/
			s/^PROGRAM_/BPF_PROG_TYPE_/; s/^ATTACH_CGROUP_/BPF_CGROUP_INET_/
			s/^ATTACH_FENTRY/BPF_TRACE_FENTRY/; s/^ATTACH_TRACEPOINT/BPF_TRACE_RAW_TP/
			s/^ATTACH_/BPF_/' >>numbers
	sed -n 's/^#define \(BUSY\|DISCARD\) (\(1u << [0-9]*\))$/BPF_RINGBUF_\1_BIT \2/p
		s/^enum { RING_HEADER = \([0-9]*\) };$/BPF_RINGBUF_HDR_SZ \1/p' "$TREE/lib/live/rings.c" >>numbers
	echo '#include <linux/btf.h>' >>bpf.c
	awk '/^enum { INT = 1/, /};/' "$TREE/lib/bpf/btf.c" | grep -o '[A-Z][A-Z0-9_]* = [0-9]*' |
		sed 's/ = / /; s/^/BTF_KIND_/; /_KINDS /d' >>numbers
	sed 's/\([^ ]*\) \(.*\)/_Static_assert((\1) == (\2), "DIFFERS");/' numbers >>bpf.c
}

@test "kernel: each constant that is typed by hand is that of this machine's headers" {
	need_tool cc
	echo '#include <linux/openat2.h>' | cc -E -x c - >/dev/null 2>&1 || skip "needs the headers of Linux"
	typed
	machine
	CPATH=$TREE/lib compare ./*.c
	[ ! -s differs ] || { cat differs; false; }
	file_has 145+ known
}


#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""cutbtf.py BTF STRUCTURE... [@FUNCTION...] - a small one of a kernel's types

Writes to standard output what of BTF (as /sys/kernel/btf/vmlinux) these structures
and functions need: structures as they are with the members that are given as
STRUCTURE.MEMBER,... and those without a name; what members refer to is an INT of
that name, except structures without a name. Made t/fuzz/corpus/btf/kernel-*.
"""
import struct
import sys

FIXED = {1: 4, 3: 12, 14: 4, 17: 4}
EACH = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}


def read(path):
    text = open(path, 'rb').read()
    _, _, _, head, type_at, type_len, string_at, string_len = struct.unpack_from('=HBBIIIII', text)
    strings = text[head + string_at:head + string_at + string_len]
    types, at = [None], head + type_at
    while at < head + type_at + type_len:
        name, info, size = struct.unpack_from('=III', text, at)
        kind, n = info >> 24 & 31, info & 0xffff
        length = FIXED.get(kind, 0) + EACH.get(kind, 0) * n
        types.append((name, info, size, text[at + 12:at + 12 + length]))
        at += 12 + length
    return types, lambda n: strings[n:strings.index(b'\0', n)].decode()


class Cut:
    def __init__(self, types, name):
        self.types, self.name, self.out, self.strings = types, name, [], b'\0'

    def string(self, s):
        if not s:
            return 0
        at = self.strings.find(b'\0' + s.encode() + b'\0')
        if at < 0:
            at = len(self.strings) - 1
            self.strings += s.encode() + b'\0'
        return at + 1

    def add(self, name, info, size, more):
        self.out.append(struct.pack('=III', self.string(name), info, size) + more)
        return len(self.out)

    def composite(self, number, wanted):
        name, info, size, more = self.types[number]
        kept = []
        for at in range(0, len(more), 12):
            member, kind, bits = struct.unpack_from('=III', more, at)
            of = self.types[kind]
            inside = of[1] >> 24 & 31 in (4, 5)
            if self.name(member) in wanted:
                kind = self.add(self.name(of[0]) or 'int', 1 << 24, 4, struct.pack('=I', 32))
            elif not member and inside:
                kind = self.composite(kind, wanted)
            else:
                continue
            kept.append(struct.pack('=III', self.string(self.name(member)), kind, bits))
        return self.add(self.name(name), info & 0xff000000 | len(kept), size, b''.join(kept))

    def whole(self):
        types = b''.join(self.out)
        return struct.pack('=HBBIIIII', 0xeb9f, 1, 0, 24, 0, len(types), len(types),
                           len(self.strings)) + types + self.strings


types, name = read(sys.argv[1])
cut = Cut(types, name)
for word in sys.argv[2:]:
    wanted, _, members = word.lstrip('@').partition('.')
    kind = 12 if word[0] == '@' else 4
    for number, t in enumerate(types):
        if t and t[1] >> 24 & 31 == kind and name(t[0]) == wanted:
            if kind == 12:
                cut.add(wanted, t[1], 0, b'')
            else:
                cut.composite(number, members.split(','))
            break
sys.stdout.buffer.write(cut.whole())

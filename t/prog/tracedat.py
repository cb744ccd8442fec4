# SPDX-License-Identifier: ISC
"""Make a trace.dat of version 6, as trace-cmd.dat.v6(5) describes it.

tracedat.py little|big 4|8 FILE [INSTANCE]: one of two CPUs, of that byte
order and long, with an event demo:demo that has a field of each kind; and the
same in an instance of that name, with a clock that counts. $DATE is the text of the option
DATE, if it is set, and $STATS has those of the options CPUSTAT, with "|" between them.
"""
import os
import struct
import sys

HEADER = """\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:%d;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:%d;\tsize:%d;\tsigned:0;
"""
MISSED, STORED = 1 << 31, 1 << 30


class Machine:
    """The layout of a kernel's records and sub-buffers."""

    def __init__(self, order, long, page=4096):
        self.order = "<" if order == "little" else ">"
        self.big, self.long, self.page = order == "big", long, page
        self.room = page - 8 - long

    def pack(self, letters, *values):
        return struct.pack(self.order + letters, *values)

    def word(self, value):
        return self.pack("Q" if self.long == 8 else "I", value)

    def entry(self, data, delta):
        n = len(data)
        kind = n // 4 if n <= 112 else 0
        head = self.pack("I", kind << 27 | delta if self.big else delta << 5 | kind)
        return head + (b"" if kind else self.pack("I", n + 4)) + data

    def make_page(self, time, body, lost=None):
        """Return a sub-buffer. lost: number of events lost before it; -1: unknown number."""
        flags = 0 if lost is None else MISSED | (STORED if lost >= 0 else 0)
        more = self.word(lost) if lost is not None and lost >= 0 else b""
        head = self.pack("Q", time) + self.word(len(body) | flags)
        return (head + body + more).ljust(self.page, b"\0")

    def sized(self, data, letter="Q"):
        return self.pack(letter, len(data)) + data

    def write(self, path, formats, buffers, names=b"", release="6.18.0", header_page=None,
              machine="machine"):
        """Write a file. formats: (system, text); buffers: (name, clock, sub-buffers of each CPU).

        An empty clock is not written, because trace-cmd 3.1.6 sometimes takes a clock
        for a counter.
        """
        head = b"\x17\x08\x44tracing6\0"
        head += bytes([self.big, self.long]) + self.pack("I", self.page)
        header_page = header_page or (HEADER % (self.long, 8 + self.long, self.room)).encode()
        head += b"header_page\0" + self.sized(header_page)
        head += b"header_event\0" + self.sized(b"compressed entry header\n")
        own = [text for system, text in formats if system == "ftrace"]
        head += self.pack("I", len(own)) + b"".join(self.sized(text) for text in own)
        systems = sorted({system for system, _ in formats} - {"ftrace"})
        head += self.pack("I", len(systems))
        for system in systems:
            those = [text for of, text in formats if of == system]
            head += system.encode() + b"\0" + self.pack("I", len(those))
            head += b"".join(self.sized(text) for text in those)
        cpus = len(buffers[0][2])
        head += self.pack("II", 0, 0) + self.sized(names) + self.pack("I", cpus)
        uname = f"Linux host {release} {machine}".encode() + b"\0"
        head += b"options  \0" + self.pack("HI", 5, len(uname)) + uname
        if "DATE" in os.environ:
            date = os.environ["DATE"].encode() + b"\0"
            head += self.pack("HI", 1, len(date)) + date
        for text in os.environ["STATS"].split("|") if "STATS" in os.environ else []:
            stats = text.encode() + b"\0"
            head += self.pack("HI", 2, len(stats)) + stats
        # the tables follow all options; each table has its clock
        sizes = [10 + 16 * cpus + (8 + len(clock) if clock else 0) for _, clock, _ in buffers]
        option = self.pack("HI", 4, 0) if buffers[0][1] else b""
        at = len(head) + sum(14 + len(name) + 1 for name, _, _ in buffers[1:]) + len(option) + 2
        for i, (name, _, _) in enumerate(buffers[1:]):
            head += self.pack("HIQ", 3, 8 + len(name) + 1, at + sum(sizes[:i + 1]))
            head += name.encode() + b"\0"
        head += option + self.pack("H", 0)
        data = end = -(-(at + sum(sizes)) // self.page) * self.page
        for _, clock, pages in buffers:
            head += b"flyrecord\0"
            for one in pages:
                head += self.pack("QQ", data, len(one))
                data += len(one)
            head += self.sized(clock.encode()) if clock else b""
        with open(path, "wb") as f:
            f.write(head.ljust(end, b"\0") + b"".join(b"".join(b[2]) for b in buffers))


def make_format(name, number, fields, fmt='"x"'):
    """Return the text of an event's format. fields: (declaration, offset, size, signed)."""
    common = [("unsigned short common_type", 0, 2, 0), ("unsigned char common_flags", 2, 1, 0),
              ("unsigned char common_preempt_count", 3, 1, 0), ("int common_pid", 4, 4, 1)]
    lines = [f"\tfield:{field};\toffset:{at};\tsize:{size};\tsigned:{sum(signed)};\n"
             for field, at, size, *signed in common + fields]
    lines.insert(len(common), "\n")
    return f"name: {name}\nID: {number}\nformat:\n{''.join(lines)}\nprint fmt: {fmt}\n".encode()


def demo(machine, pid, a, s, d):
    d += b"\0"
    at = 40 + machine.long
    d += bytes(-len(d) % machine.long)
    return machine.pack("HBBiiHHH6sQII", 300, 1, 0, pid, a, 1, 2, 65535, s, 1 << 63,
                        len(d) << 16 | at, 2 * machine.long << 16 | at + len(d)) + \
        machine.word(0x1000) + d + machine.word(5) + machine.word(1 << 8 * machine.long - 1)


def main(order, long, path, *instance):
    m = Machine(order, int(long))
    first = m.entry(demo(m, 42, -7, b"one", b"plain"), 1000) + \
        m.entry(demo(m, 42, 8, b"two", b'"\\\n\t\1\x7f'), 2000)
    second = m.entry(demo(m, 43, 0, b"thr", b"\xc3\xa4\xff\xed\xa0\x80\xf0\x9f\x98\x80"), 0)
    last = m.entry(demo(m, 0, 1, b"four", b""), 7)
    pages = [m.make_page(1000000000, first), m.make_page(1000002000, second, 5) +
             m.make_page(2000000000, last, -1)]
    buffers = [("", "[local] global", pages)]
    buffers += [(name, "local [counter]", [pages[0], b""]) for name in instance]
    fields = [("int a", 8, 4, 1), ("u16 three[3]", 12, 6), ("char s[6]", 18, 6), ("u64 b", 24, 8),
              ("__data_loc char[] d", 32, 4), ("__data_loc cpumask_t[] m", 36, 4),
              ("void * p", 40, m.long)]
    text = make_format("demo", 300, fields, '"a=%d s=%s d=%s", REC->a, REC->s, __get_str(d)')
    m.write(path, [("demo", text)], buffers, b"42 hand\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

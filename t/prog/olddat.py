# SPDX-License-Identifier: ISC
"""Make trace.dat files of entries of ftrace itself.

olddat.py print ORDER LONG FILE: of Linux 4.4, whose formats declare the array at the end of an
entry without brackets and with size 0: print, bputs, bprint, raw_data, kernel_stack, user_stack.
olddat.py graph ORDER LONG FILE: two CPUs with function_graph: leaves, nested calls, a call
that ends on another sub-buffer, an end without a beginning, two tasks on one CPU.
olddat.py markers ORDER LONG FILE: tracing_mark_write of a driver, with fields of its own.
"""
import sys

from tracedat import Machine, make_format

IP = '"%ps", (void *)REC->ip'


def old_print(m, path):
    long = m.long
    ip, fmt = ("unsigned long ip", 8, long), ("const char * fmt", 8 + long, long)
    formats = [
        make_format("print", 5, [ip, ("char buf", 8 + long, 0)], IP),
        make_format("bputs", 14, [ip, ("const char * str", 8 + long, long)], IP),
        make_format("bprint", 6, [ip, fmt, ("u32 buf", 8 + 2 * long, 0)], IP),
        make_format("raw_data", 16, [("unsigned int id", 8, 4), ("char buf", 12, 0)], IP),
        make_format("kernel_stack", 4, [("int size", 8, 4), ("unsigned long caller", 8 + long, 0)], IP),
        make_format("user_stack", 12, [("unsigned int tgid", 8, 4),
                                       ("unsigned long caller[8]", 8 + long, 8 * long)], IP),
    ]

    def entry(number, data):
        data = m.pack("HBBi", number, 0, 0, 1) + data
        return m.entry(data + bytes(-len(data) % 4), 1000)

    pad = bytes(long - 4)
    body = entry(5, m.word(0x1000) + b"hello world 42\n\0") + \
        entry(14, m.word(0x1000) + m.word(0)) + \
        entry(6, m.word(0x1000) + m.word(0x2000) + m.pack("III", 7, 8, 9)) + \
        entry(16, m.pack("I", 3) + b"\1\2\3\4") + \
        entry(4, m.pack("I", 2) + pad + m.word(0x3000) + m.word(0x4000)) + \
        entry(12, m.pack("I", 1) + pad + m.word(0x5000) + 7 * m.word(0))
    m.write(path, [("ftrace", text) for text in formats],
            [("", "", [m.make_page(1000000000, body)])], b"1 init\n", release="4.4.88")


def markers(m, path):
    formats = [make_format("tracing_mark_write", 900, [
        ("int pid", 8, 4), ("__data_loc char[] trace_name", 12, 4), ("bool trace_begin", 16, 1)],
        '"%s|%d|%s", REC->trace_begin ? "B" : "E", REC->pid, __get_str(trace_name)')]
    body = b""
    for begin in 1, 0:
        body += m.entry(m.pack("HBBiiII", 900, 0, 0, 1, 77, 10 << 16 | 20, begin) +
                        b"function1\0\0\0", 1000)
    m.write(path, [("mdss", text) for text in formats],
            [("", "", [m.make_page(1000000000, body)])], b"1 init\n")


def graph(m, path):
    at = 8 + m.long
    formats = [
        make_format("funcgraph_entry", 11, [("unsigned long func", 8, m.long),
                                            ("int depth", at, 4)], IP),
        make_format("funcgraph_exit", 10, [
            ("unsigned long func", 8, m.long), ("int depth", at, 4),
            ("unsigned int overrun", at + 4, 4),
            ("unsigned long long calltime", at + 8, 8),
            ("unsigned long long rettime", at + 16, 8)], IP),
        make_format("other", 20, [("int n", 8, 4)], '"n=%d", REC->n'),
    ]

    def call(pid, func, depth):
        return m.entry(m.pack("HBBi", 11, 0, 0, pid) + m.word(func) + m.pack("I", depth), 1000)

    def end(pid, func, depth, ns):
        return m.entry(m.pack("HBBi", 10, 0, 0, pid) + m.word(func) +
                       m.pack("IIQQ", depth, 0, 5, 5 + ns), 1000)

    other = m.entry(m.pack("HBBii", 20, 0, 0, 7, 3), 1000)
    first = end(1, 0x9000, 1, 12) + call(1, 0x1000, 0) + call(1, 0x2000, 1) + \
        end(1, 0x2000, 1, 1500) + call(1, 0x3000, 1) + call(1, 0x3000, 2) + \
        end(1, 0x3000, 2, 999999) + end(1, 0x3000, 1, 10000001) + call(7, 0x4000, 0)
    second = end(7, 0x4000, 0, 1234567890) + call(7, 0x5000, 0) + other + \
        end(7, 0x5000, 0, 10001) + end(1, 0x1000, 0, 12345678901) + call(1, 0x6000, 0)
    third = end(1, 0x6000, 0, 100)
    pages = m.make_page(1000000000, first) + m.make_page(1000020000, second) + \
        m.make_page(1000040000, third, 3)
    far = m.make_page(1000000500, call(1, 0x7000, 0) + end(1, 0x7000, 0, 1000000))
    m.write(path, [("ftrace", text) for text in formats[:2]] + [("demo", formats[2])],
            [("", "", [pages, far])], b"1 init\n7 a_long_name\n")


if __name__ == "__main__":
    make = {"print": old_print, "graph": graph, "markers": markers}[sys.argv[1]]
    make(Machine(sys.argv[2], int(sys.argv[3])), sys.argv[4])

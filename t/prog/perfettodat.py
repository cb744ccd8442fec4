# SPDX-License-Identifier: ISC
"""Make a trace.dat with the events that tfs-perfetto treats differently.

perfettodat.py FILE: one CPU, ten events: a print, a switch, a call with its return as
raw_syscalls and as syscalls, an event with 32 fields, one without a format, a stack, and one
whose string is not UTF-8.
"""
import struct
import sys
from tracedat import Machine, make_format


def event(name, number, fields):
    return make_format(name, number, [(f"{kind} {field}", *place)
                                      for kind, field, *place in fields], '""')


SWITCH = [("char", "prev_comm[16]", 8, 16, 0), ("pid_t", "prev_pid", 24, 4, 1),
          ("int", "prev_prio", 28, 4, 1), ("long", "prev_state", 32, 8, 1),
          ("char", "next_comm[16]", 40, 16, 0), ("pid_t", "next_pid", 56, 4, 1),
          ("int", "next_prio", 60, 4, 1)]
OPEN = [("int", "__syscall_nr", 8, 4, 1), ("const char *", "filename", 16, 8, 0),
        ("int", "flags", 24, 8, 0), ("__data_loc char[]", "__filename_val", 32, 4, 0)]
FORMATS = [
    ("ftrace", event("print", 5, [("unsigned long", "ip", 8, 8, 0), ("char", "buf[]", 16, 0, 0)])),
    ("ftrace", event("kernel_stack", 4, [("int", "size", 8, 4, 1),
                                         ("unsigned long", "caller[8]", 16, 64, 0)])),
    ("sched", event("sched_switch", 300, SWITCH)),
    ("raw_syscalls", event("sys_enter", 301, [("long", "id", 8, 8, 1),
                                              ("unsigned long", "args[6]", 16, 48, 0)])),
    ("raw_syscalls", event("sys_exit", 302, [("long", "id", 8, 8, 1), ("long", "ret", 16, 8, 1)])),
    ("syscalls", event("sys_enter_open", 303, OPEN)),
    ("syscalls", event("sys_exit_open", 304, [("int", "__syscall_nr", 8, 4, 1),
                                              ("long", "ret", 16, 8, 1)])),
    ("demo", event("many", 305, [("u8", f"f{i}", 8 + i, 1, 0) for i in range(32)])),
    ("demo", event("text", 306, [("char", "s[4]", 8, 4, 0)])),
]


def main(path):
    m = Machine("little", 8)

    def record(number, body):
        return m.entry(struct.pack("<HBBi", number, 0, 0, 42) + body, 1000)

    body = record(5, struct.pack("<Q", 0x10) + b"a mark\n\0")
    body += record(300, struct.pack("<16siiq16sii", b"one", 42, 120, -2, b"two", 43, 100))
    body += record(301, struct.pack("<q6Q", 2, 1, 2, 3, 4, 5, 2 ** 64 - 1))
    body += record(302, struct.pack("<qq", 2, -2))
    body += record(303, struct.pack("<iiQQI", 2, 0, 0x7000, 65, 4 << 16 | 36) + b"/a\0\0")
    body += record(304, struct.pack("<iiq", 2, 0, 3))
    body += record(305, bytes(range(100, 132)))
    body += record(399, b"")
    body += record(4, struct.pack("<iiQQ", 2, 0, 0xffff0001, 0xffff0002))
    body += record(306, b"\xff\xc3\xa4\0")
    m.write(path, FORMATS, [("", "[local]", [m.make_page(10 ** 9, body)])], b"42 one\n43 two\n",
            machine="x86_64")


if __name__ == "__main__":
    main(*sys.argv[1:])

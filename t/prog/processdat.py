# SPDX-License-Identifier: ISC
"""Make a trace.dat with the events of processes.

processdat.py little|big 4|8 FILE EXIT EXIT_GROUP EXECVE SETRESUID SETUID: Write FILE with this
byte order and size of a long, and with these numbers of the system calls.
"""
import sys

from tracedat import Machine, make_format

# name, system, fields: type, name, size (0: a long), how many, signed
EVENTS = [
    ("raw_syscalls", "sys_enter", [("long", "id", 0, 1, 1), ("unsigned long", "args", 0, 6, 0)]),
    ("raw_syscalls", "sys_exit", [("long", "id", 0, 1, 1), ("long", "ret", 0, 1, 1)]),
    ("signal", "signal_deliver", [("int", "sig", 4, 1, 1), ("int", "errno", 4, 1, 1),
                                  ("int", "code", 4, 1, 1), ("unsigned long", "sa_handler", 0, 1, 0)]),
    ("signal", "signal_generate", [("int", "sig", 4, 1, 1), ("pid_t", "pid", 4, 1, 1),
                                   ("int", "result", 4, 1, 1)]),
    ("task", "task_newtask", [("pid_t", "pid", 4, 1, 1), ("char", "comm", 1, 16, 0),
                              ("unsigned long", "clone_flags", 0, 1, 0)]),
    ("task", "task_rename", [("pid_t", "pid", 4, 1, 1), ("char", "oldcomm", 1, 16, 0),
                             ("char", "newcomm", 1, 16, 0)]),
    ("sched", "sched_process_exec", [("pid_t", "pid", 4, 1, 1), ("pid_t", "old_pid", 4, 1, 1)]),
    ("sched", "sched_process_exit", [("char", "comm", 1, 16, 0), ("pid_t", "pid", 4, 1, 1)]),
]


class Trace:
    def __init__(self, order, long):
        self.m = Machine(order, long)
        self.body, self.formats, self.layout = b"", [], {}
        for i, (system, name, fields) in enumerate(EVENTS):
            text, at, places = [], 8, []
            for kind, field, size, n, signed in fields:
                size = size or long
                at = -(-at // size) * size
                array = f"[{n}]" if n > 1 else ""
                text.append((f"{kind} {field}{array}", at, size * n, signed))
                places.append((at, size, n, signed))
                at += size * n
            self.formats.append((system, make_format(name, 300 + i, text)))
            self.layout[name] = (300 + i, places, -(-at // 4) * 4)

    def add(self, pid, name, *values):
        number, places, end = self.layout[name]
        data = bytearray(end)
        data[:8] = self.m.pack("HBBi", number, 0, 0, pid)
        for (at, size, n, signed), value in zip(places, values):
            if isinstance(value, bytes):
                data[at:at + n] = value.ljust(n, b"\0")
                continue
            letter = {4: "i", 8: "q"}[size] if signed else {4: "I", 8: "Q"}[size]
            value = list(value) if isinstance(value, tuple) else [value]
            data[at:at + size * n] = self.m.pack(f"{n}{letter}", *(value + [0] * n)[:n])
        self.body += self.m.entry(bytes(data), 1000)

    def call(self, pid, number, args=(), ret=None):
        self.add(pid, "sys_enter", number, args)
        if ret is not None:
            self.add(pid, "sys_exit", number, ret)


def main(order, long, path, *numbers):
    leave, leave_all, execve, setresuid, setuid = (int(n) for n in numbers)
    long = int(long)
    t = Trace(order, long)
    minus = (1 << 8 * long) - 1
    # 10 forks 11. 11 has a name of two lines, changes its uid, and exits with 3.
    t.add(10, "task_newtask", 11, b"sh", 0x1200000)
    t.add(11, "task_rename", 11, b"sh", b"a\nb")
    t.call(11, setresuid, (7, minus, minus), 0)
    t.call(11, -1, (1, 2, 3, 4, 5, minus), -22)
    t.add(11, "signal_deliver", 10, 0, -6, 0x1000)
    t.call(11, leave_all, (0x103,))
    t.add(11, "sched_process_exit", b"a\nb", 11)
    # 12 is a child of 10. Thread 13 exits. Thread 14 execs as 12; its first execve fails.
    t.add(10, "task_newtask", 12, b"sh", 0x1200000)
    t.add(12, "task_newtask", 13, b"sh", 0x10f00)
    t.add(12, "task_newtask", 14, b"sh", 0x10f00)
    t.call(13, leave, (7,))
    t.add(13, "sched_process_exit", b"sh", 13)
    t.call(14, setuid, (7,), 0)
    t.call(14, execve, (), -2)
    t.call(14, execve)
    t.add(12, "signal_deliver", 9, 0, 0, 0)
    t.add(12, "sched_process_exit", b"sh", 12)
    t.add(12, "task_rename", 12, b"sh", b"ls")
    t.add(12, "sched_process_exec", 12, 14)
    t.add(12, "sys_exit", execve, 0)
    # 10 sends SIGTERM to 12, and 12 dies. 10 dies by a signal whose sender is not in the trace.
    t.add(10, "signal_generate", 15, 12, 0)
    t.add(12, "signal_deliver", 9, 0, 0, 0)
    t.add(12, "sched_process_exit", b"ls", 12)
    t.add(10, "signal_deliver", 9, 0, 0, 0)
    t.add(10, "sched_process_exit", b"sh", 10)
    t.m.write(path, t.formats, [("", "[local]", [t.m.make_page(10**9, t.body)])], b"10 sh\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

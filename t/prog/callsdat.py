#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""callsdat.py ORDER LONG MACHINE FILE - write a trace.dat of system calls

Standard input has a record a line: microseconds since 1 s, the pid, and
    enter NAME ARGUMENT...      syscalls:sys_enter_NAME; NAME:STRING copies what NAME points to
    exit NAME RESULT
    raw-enter NUMBER ARGUMENT...
    raw-exit NUMBER RESULT
    call NAME BEGIN CPU RESULT ARGUMENT...
                                tfs:call, with the time and the CPU of its entry
    user TEXT                   bpf_trace:bpf_trace_printk
    end | exec OLD_PID          sched:sched_process_exit, sched_process_exec
    demo                        another event
    lost N                      N events are lost here; -1: an unknown number
    cpu N                       the next records are of this CPU, 0 or 1
"""
import sys

from tracedat import Machine, make_format

CALLS = {  # numbers: x86_64; the others have these numbers here as well
    "read": (0, "fd buf count"), "write": (1, "fd buf count"), "close": (3, "fd"),
    "rt_sigreturn": (15, ""), "nanosleep": (35, "rqtp rmtp"), "clone": (56, "a b c d e"),
    "execve": (59, "filename argv envp"), "exit": (60, "error_code"),
    "restart_syscall": (219, ""), "exit_group": (231, "error_code"),
    "openat": (257, "dfd filename flags mode"), "getppid": (110, ""), "nosuch": (1999, "x y"),
}


def main(order, long, machine, path):
    m = Machine(order, int(long))
    formats, ids = [], {}

    def event(system, name, fields):
        if name not in ids:
            ids[name] = 300 + len(ids)
            text = [(f"{kind} {field}", *place) for kind, field, *place in fields]
            formats.append((system, make_format(name, ids[name], text)))
        return ids[name]

    def head(name, pid):
        return m.pack("HBBi", ids[name], 0, 0, pid)

    def longs(values):
        return b"".join(m.word(int(v, 0) & (1 << 8 * m.long) - 1) for v in values)

    def loc(n, text):
        return m.pack("I", (len(text) + 1) << 16 | n + 4) + text + b"\0"

    def record(pid, kind, words, rest):
        w = m.long
        number = [("int", "__syscall_nr", 8, 4, 1)]
        pad = bytes(w - 4)
        if kind == "enter":
            nr, names = CALLS[words[0]]
            names = names.split()
            copies = [a.split(":", 1) for a in words[1:] if ":" in a]
            values = [a for a in words[1:] if ":" not in a]
            at = 8 + w
            fields = number + [("unsigned long", a, at + i * w, w, 0)
                               for i, a in enumerate(names)]
            end = at + len(names) * w
            name = "sys_enter_" + words[0] + "".join("+" + a for a, _ in copies)
            text = b""
            locs = b""
            for i, (a, s) in enumerate(copies):
                fields.append(("__data_loc char[]", f"__{a}_val", end + 4 * i, 4, 0))
                s = s.encode() + b"\0" if s else b""  # nothing is copied
                locs += m.pack("I", len(s) << 16 | end + 4 * len(copies) + len(text))
                text += s
            event("syscalls", name, fields)
            values += ["0"] * (len(names) - len(values))
            return head(name, pid) + m.pack("i", nr) + pad + longs(values) + locs + text
        if kind == "exit":
            name = "sys_exit_" + words[0]
            event("syscalls", name, number + [("long", "ret", 8 + w, w, 1)])
            return head(name, pid) + m.pack("i", CALLS[words[0]][0]) + pad + longs(words[1:2])
        if kind == "raw-enter":
            event("raw_syscalls", "sys_enter", [
                ("long", "id", 8, w, 1), ("unsigned long", "args[6]", 8 + w, 6 * w, 0)])
            return head("sys_enter", pid) + longs((words + ["0"] * 6)[:7])
        if kind == "raw-exit":
            event("raw_syscalls", "sys_exit", [
                ("long", "id", 8, w, 1), ("long", "ret", 8 + w, w, 1)])
            return head("sys_exit", pid) + longs(words[:2])
        if kind == "call":
            event("tfs", "call", [("u64", "begin", 8, 8, 0)])
            nr, arguments = CALLS[words[0]][0], [int(a, 0) for a in words[4:]] + [0] * 6
            return head("call", pid) + m.pack(
                "QQQQQQQiHHqiIII", 1000000000 + int(words[1]) * 1000, *arguments[:6], nr,
                int(words[2]), 0, int(words[3]), nr, 0, 0, 0)
        if kind == "user":
            event("bpf_trace", "bpf_trace_printk", [("__data_loc char[]", "bpf_string", 8, 4, 0)])
            return head("bpf_trace_printk", pid) + loc(8, rest)
        if kind == "end":
            event("sched", "sched_process_exit", [("pid_t", "pid", 8, 4, 1)])
            return head("sched_process_exit", pid) + m.pack("i", pid)
        if kind == "exec":
            event("sched", "sched_process_exec", [("pid_t", "old_pid", 8, 4, 1)])
            return head("sched_process_exec", pid) + m.pack("i", int(words[0]))
        assert kind == "demo"
        event("demo", "demo", [("int", "a", 8, 4, 1)])
        return head("demo", pid) + m.pack("i", 7)

    pages = [b"", b""]
    bodies = [b"", b""]
    begins, last, lost, cpu = [0, 0], [0, 0], [None, None], 0

    def flush(i):
        if bodies[i]:
            pages[i] += m.make_page(begins[i], bodies[i], lost[i])
        bodies[i], lost[i] = b"", None

    for line in sys.stdin.buffer:
        line = line.rstrip(b"\n")
        word, _, rest = line.partition(b" ")
        if word == b"lost":
            flush(cpu)
            lost[cpu] = int(rest)
            continue
        if word == b"cpu":
            cpu = int(rest)
            continue
        pid, _, rest = rest.partition(b" ")
        kind, _, rest = rest.partition(b" ")
        time = 1000000000 + int(float(word) * 1000)
        data = record(int(pid), kind.decode(), rest.decode("latin-1").split(), rest)
        data += bytes(-len(data) % 4)
        if len(bodies[cpu]) + len(data) + 8 > m.room - 8:
            flush(cpu)
        if not bodies[cpu]:
            begins[cpu] = last[cpu] = time
        bodies[cpu] += m.entry(data, time - last[cpu])
        last[cpu] = time
    for i in range(2):
        flush(i)
    m.write(path, formats, [("", "", pages)], b"42 hand\n43 other\n", machine=machine)


if __name__ == "__main__":
    main(*sys.argv[1:])

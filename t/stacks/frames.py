# SPDX-License-Identifier: ISC
"""frames.py - gdb's side of t/stacks/compare: print the frames at each stop of a program

gdb runs it (-x) with these variables of the environment: FRAMES_OUT, the file to write to;
FRAMES_CALL, the system call to stop at; FRAMES_STEP, the number of instructions to step from
the first return of the call on, in place of the stops at the calls (0); FRAMES_COPY, a file for
the registers and stacks of the stops, for build/t/unwound.

Lines: "stop TID", and for each frame, innermost first, "PC FILE OFFSET KIND NAME": the offset is
the one in the file, KIND is "signal" for the frame of a signal's delivery, and NAME is gdb's.
A stop ends with "end WHY".
"""
import os
import gdb

out = open(os.environ["FRAMES_OUT"], "w", buffering=1)
STEPS = int(os.environ.get("FRAMES_STEP", "0"))
mapped = {}
copy = open(os.environ["FRAMES_COPY"], "w") if "FRAMES_COPY" in os.environ else None
REGISTERS = ("rip rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15").split()
told = set()


def where(pid, pc):
    """Return the file and the offset in it of an address."""
    for _ in range(2):
        for begin, end, offset, name in mapped.get(pid, ()):
            if begin <= pc < end:
                return name, pc - begin + offset
        mapped[pid] = []
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
            for line in maps:
                words = line.split(None, 5)
                if "x" in words[1]:
                    begin, end = (int(word, 16) for word in words[0].split("-"))
                    name = words[5].strip() if len(words) > 5 else "-"
                    mapped[pid].append((begin, end, int(words[2], 16), name))
    return "-", pc


def copy_stack(tid):
    """Write the registers and the stack of the thread to the copy, and what code is new."""
    pid = gdb.selected_thread().ptid[0]
    copy.write(f"stop {tid}\n")
    frame = gdb.newest_frame()
    values = [int(frame.read_register(name)) & (1 << 64) - 1 for name in REGISTERS]
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            words = line.split()
            if "x" in words[1] and (pid, line) not in told:
                told.add((pid, line))
                name = words[5] if len(words) > 5 else "-"
                copy.write(f"map {words[0].replace('-', ' ')} {words[2]} {name}\n")
    copy.write("regs " + " ".join(f"{value:x}" for value in values) + "\n")
    sp = values[8] - 128 & ~7
    mem = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    copy.write(f"stack {sp:x} {os.pread(mem, 20000 if STEPS else 100000, sp).hex()}\n")
    os.close(mem)


def stop():
    """Print the frames of the thread that stopped."""
    pid, tid, _ = gdb.selected_thread().ptid
    if copy:
        copy_stack(tid)
    mapped.pop(pid, None)
    lines = []
    frame = gdb.newest_frame()
    why = 0
    while frame:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            kind = "signal" if frame.type() == gdb.SIGTRAMP_FRAME else "call"
            name, offset = where(pid, frame.pc())
            name = name.replace(" ", "~")
            lines.append(f"{frame.pc():x} {name} {offset:x} {kind} {frame.name()}")
        why = frame.unwind_stop_reason()
        try:
            frame = frame.older()
        except gdb.error as error:
            why = str(error)
            break
    why = why if isinstance(why, str) else gdb.frame_stop_reason_string(why)
    out.write("\n".join([f"stop {tid}", *lines, f"end {why}"]) + "\n")


class Main(gdb.Breakpoint):
    """Let gdb read the tables of a program before it removes its file."""

    def stop(self):
        gdb.newest_frame().older()
        return False


def alive():
    return gdb.selected_inferior().pid != 0


def main():
    for line in (
        "pagination off", "confirm off", "startup-with-shell off", "follow-fork-mode child",
        "debuginfod enabled off", "backtrace past-main on", "backtrace past-entry on",
        "backtrace limit unlimited", "debug-file-directory /nonexistent",
        "auto-load off", "print thread-events off",
    ):
        gdb.execute("set " + line)
    gdb.execute("handle all nostop noprint pass")
    gdb.execute("handle SIGTRAP stop nopass")
    gdb.execute("catch syscall " + os.environ["FRAMES_CALL"])
    if not STEPS:
        gdb.execute("set breakpoint pending on")
        Main("main", internal=True)
    gdb.execute("run", to_string=True)
    inside = set()
    while alive():
        tid = gdb.selected_thread().ptid[1]
        inside ^= {tid}
        if tid in inside and not STEPS:
            stop()
        elif STEPS and tid not in inside:
            gdb.execute("delete")
            for _ in range(STEPS):
                gdb.execute("stepi", to_string=True)
                if not alive():
                    break
                stop()
        if alive():
            gdb.execute("continue", to_string=True)


try:
    main()
finally:
    out.close()
    if copy:
        copy.close()

# SPDX-License-Identifier: ISC
"""Account windows of a trace by brute force, and compare with tfs-why -j.

whysums.py SEED WINDOWS DAT: It chooses two events at random, and lets tfs-why account the time of
each task from one to the other, until it has compared so many windows; then each system call for
itself. It takes the events from the JSON of tfs-report, and adds up the
states of a task anew for each window. Every window has to be there, with the same time, to the nanosecond,
in each state, and with the same time in user code, calls and interrupts.
It prints what differs, and last "N windows between M pairs of events, C calls, W wrong".
Exit: 0 nothing differs, 1 something does.
"""
import bisect
import collections
import json
import platform
import random
import subprocess
import sys

IRQ = {"irq_handler_entry": 1, "irq_handler_exit": -1, "softirq_entry": 1, "softirq_exit": -1,
       "local_timer_entry": 1, "local_timer_exit": -1}
CALLS = {0: "read", 1: "write", 3: "close", 61: "wait4", 202: "futex", 230: "clock_nanosleep",
         270: "pselect6", 271: "ppoll"} if platform.machine() == "x86_64" else {}


class Task:
    """What a task does, as a list of (time, state); and its events, as (time, names)."""

    def __init__(self):
        self.changes, self.events = [], []
        self.state, self.call, self.irq, self.woken, self.calls = "", False, False, False, False

    def change(self, ts, state):
        """The task is in this state from now on."""
        if self.state == "dead":
            return
        if self.state == "blocked" and state not in ("runnable", "running after a switch"):
            self.changes[-1] = (self.changes[-1][0], "unknown")
        self.state = state.split()[0]
        self.changes.append((ts, self.kind() if self.state == "running" else state))

    def kind(self):
        """Return what the task does while it runs."""
        return "interrupt" if self.irq else "call" if self.call else "user"


def switch(tasks, ts, fields):
    """A task leaves its CPU, and another one comes."""
    prev, following = tasks[fields["prev_pid"]], tasks[fields["next_pid"]]
    state = fields["prev_state"]
    if prev.state == "runnable":  # some kernels do not record that an idle CPU takes a task
        prev.changes[-1] = (prev.changes[-1][0], prev.kind())
    prev.irq = False
    if state & 0x30 and not state & 0x100:
        prev.change(ts, "dead")
    elif not state & 0xff or state & 0x100:
        prev.change(ts, "preempted")
    else:
        prev.change(ts, "runnable" if prev.woken else "blocked")
    following.woken = False
    following.change(ts, "running after a switch")


def read(lines):
    """Return the tasks of the trace."""
    tasks, depth = collections.defaultdict(Task), collections.Counter()
    for line in lines:
        e = json.loads(line, parse_float=lambda s: s)
        if "event" not in e:
            continue
        ts, cpu, name, fields = int(e["ts"].replace(".", "")), e["cpu"], e["event"], e["fields"]
        task, names = tasks[e["pid"]], [name]
        if name == "sched_switch":
            depth[cpu] = 0
            switch(tasks, ts, fields)
        elif name == "sched_waking":
            woken = tasks[fields["pid"]]
            woken.woken = woken.state == "running"
            if woken.state == "blocked":
                woken.change(ts, "runnable")
        elif name in ("task_newtask", "sched_process_fork"):
            child = tasks[fields.get("pid", fields.get("child_pid"))]
            child.calls = task.calls
            child.change(ts, "runnable")
        elif name in ("sys_enter", "sys_exit"):
            task.calls, task.call, task.woken = True, name == "sys_enter", False
            names.append(f"{name}_{CALLS.get(fields['id'], '')}")
            task.change(ts, "running")
        elif name in IRQ and (IRQ[name] > 0 or depth[cpu]):
            depth[cpu] += IRQ[name]
            task.irq, task.woken = depth[cpu] > 0, False
            task.change(ts, "running")
        if e["pid"]:
            task.events.append((ts, names, task.calls))
    tasks.pop(0, None)
    return tasks


def account(task, begin, end):
    """Return the time in each state."""
    sums = collections.Counter()
    for i in range(max(bisect.bisect(task.changes, (begin,)) - 1, 0), len(task.changes)):
        ts, state = task.changes[i]
        if ts >= end:
            break
        until = task.changes[i + 1][0] if i + 1 < len(task.changes) else end
        if min(until, end) > max(ts, begin):
            sums[state] += min(until, end) - max(ts, begin)
    return sums


def windows(tasks, first, last):
    """Return the windows of all tasks: {(pid, begin): (end, sums)}."""
    found = {}
    for pid, task in tasks.items():
        begin = None
        for ts, names, calls in task.events:
            if begin is not None and calls and ts > begin and (last in names or first in names):
                found[pid, begin] = (ts, account(task, begin, ts))
            if last in names or first in names:
                begin = ts if first in names else None
        if begin is not None and task.state == "dead" and task.changes[-1][0] > begin:
            found[pid, begin] = (task.changes[-1][0], account(task, begin, task.changes[-1][0]))
    return found


def theirs(*options):
    """Return the windows that tfs-why prints."""
    found = {}
    text = subprocess.run(("tfs-why", "-j", "-n", "10000000", "-d", "1", *options), check=False,
                          stdout=subprocess.PIPE).stdout
    for line in text.splitlines():
        w = json.loads(line)
        if "parts" not in w:
            continue
        sums = collections.Counter()
        for part in w["parts"]:
            state = part["on"] if part["state"] == "running" else part["state"]
            sums["preempted" if state == "throttled" else state] += part["ns"]
        assert sum(sums.values()) == w["total_ns"], w
        found[w["pid"], w["start_ns"]] = (w["start_ns"] + w["total_ns"], sums)
    return found


def compare(what, ours, other):
    """Return the number of windows that differ."""
    wrong = [key for key in set(ours) | set(other) if ours.get(key) != other.get(key)]
    for key in sorted(wrong)[:5]:
        print(what, key, ours.get(key), other.get(key))
    return len(wrong)


def main():
    """Compare as many windows as asked for."""
    seed, wanted, dat = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    choose = random.Random(seed)
    tasks = read(subprocess.run(("tfs-report", "-j", dat), check=True,
                                stdout=subprocess.PIPE).stdout.splitlines())
    names = sorted({name for task in tasks.values() for event in task.events
                    for name in event[1] if name[-1] != "_"})
    compared = pairs = wrong = 0
    while compared < wanted and pairs < 1000:
        first, last = choose.choice(names), choose.choice(names)
        ours = windows(tasks, first, last)
        wrong += compare((first, last), ours, theirs("-s", first, "-e", last, dat))
        compared += len(ours)
        pairs += 1
    ours = windows(tasks, "sys_enter", "sys_exit")
    other = theirs("-c", dat)
    last = max(window[0] for window in other.values())
    # a call that is open at the end of the trace ends there
    other = {key: w for key, w in other.items() if key in ours or w[0] != last}
    wrong += compare("calls", ours, other)
    print(f"{compared} windows between {pairs} pairs of events, {len(ours)} calls, {wrong} wrong")
    return wrong > 0


sys.exit(main())

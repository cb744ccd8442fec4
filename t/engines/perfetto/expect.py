# SPDX-License-Identifier: ISC
"""
expect.py - print what a trace processor has to find in a recording: expect.py WHAT <LINES

LINES are those of tfs-report -j. WHAT is
	events      each event: time, cpu, name, pid
	switches    each switch: time, cpu, pid of the next task
	names       pid and name of each next task of a switch that has only one name
	processes   the pid of each new process
	mismatches  how many switches are not from the task that ran before, so that one is missing
	slices      each call, wait and instant of a decoded trace: time, duration, category, pid
"""

import decimal
import json
import sys

CLONE_THREAD = 0x10000


def slices(events):
    """Print the slices that the events make, by their meaning."""
    waits = {}

    def wait(pid, now, name):
        if pid in waits and waits[pid][0] and now > waits[pid][1]:
            print(waits[pid][1], now - waits[pid][1], "wait", pid, sep="\t")
        waits[pid] = name, now

    for e in events:
        f, now = e["fields"], e["fields"]["ts"]
        if e["event"].startswith("sys_exit_") and "args" in f:
            if "lat" in f:
                print(now, int(f["lat"] * 1000), "call", e["pid"], sep="\t")
                continue
        else:
            waits[e["pid"]] = "", now
        if e["event"] == "sched_switch":
            if f["prev_pid"]:
                state = "SDTtXZPI"[(f["prev_state"] & 0xff).bit_length() - 1] \
                    if f["prev_state"] & 0xff else "R" # include/linux/sched.h, TASK_STATE_TO_CHAR_STR
                wait(f["prev_pid"], now, {"R": "waiting", "D": "blocked", "X": "", "Z": ""}
                     .get(state, "asleep"))
            if f["next_pid"]:
                wait(f["next_pid"], now, "")
        elif e["event"] in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
            if f["pid"] and waits.get(f["pid"], ("", 0))[0] != "waiting":
                wait(f["pid"], now, "waiting")
        elif e["event"] != "print":
            print(now, 0, "event", e["pid"], sep="\t")


def main(what):
    events = []
    for line in sys.stdin:
        e = json.loads(line, parse_float=decimal.Decimal) # a float lacks the last digits
        if "event" in e:
            e["fields"]["ts"] = int(e["ts"] * 1000000000)
            events.append(e)
    switches = [e for e in events if e["event"] == "sched_switch"]
    names, last, mismatches = {}, {}, 0
    for e in switches:
        f = e["fields"]
        mismatches += last.get(e["cpu"], f["prev_pid"]) != f["prev_pid"]
        last[e["cpu"]] = f["next_pid"]
    for e in events:
        f = e["fields"]
        for pid, name in (("prev_pid", "prev_comm"), ("next_pid", "next_comm"), ("pid", "comm"),
                          ("pid", "newcomm"), ("child_pid", "child_comm"),
                          ("parent_pid", "parent_comm"), ("pid", "oldcomm")):
            if pid in f and name in f:
                names.setdefault(f[pid], set()).add(f[name])
        names.setdefault(e["pid"], set()).add(e["comm"])
    if what == "events":
        for e in events:
            print(e["fields"]["ts"], e["cpu"], e["event"], e["pid"], sep="\t")
    elif what == "switches":
        for e in switches:
            print(e["fields"]["ts"], e["cpu"], e["fields"]["next_pid"], sep="\t")
    elif what == "names":
        for pid in {e["fields"]["next_pid"] for e in switches} - {0}:
            if len(names[pid]) == 1:
                print(pid, *names[pid], sep="\t")
    elif what == "slices":
        slices(events)
    elif what == "processes":
        for e in events:
            f = e["fields"]
            if e["event"] == "task_newtask" and not f["clone_flags"] & CLONE_THREAD:
                print(f["pid"])
    else:
        print(mismatches)


main(sys.argv[1])

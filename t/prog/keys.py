#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""keys.py SECONDS SHELL... - type lines into a shell on a terminal, and print how it completes them

The shell has the prompt "ready>", and Meta-* inserts all completions. For each line of
standard input, print the words of the completed line. Exit 1 after SECONDS."""
import os
import pty
import select
import sys
import time

deadline = time.monotonic() + float(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb"
    os.execvp(sys.argv[2], sys.argv[2:])


text = b""


def wait_for(end):
    """Return the output of the shell up to end."""
    global text
    while end not in text:
        if not select.select([terminal], [], [], max(0, deadline - time.monotonic()))[0]:
            sys.stderr.write("no %r in %r\n" % (end, text))
            os.kill(pid, 9)
            sys.exit(1)
        text += os.read(terminal, 65536)
    before, text = text.split(end, 1)
    return before


for line in sys.stdin:
    wait_for(b"ready>")
    # Meta-* completes; Control-A and -E go to the ends of the line; printf shows the words
    keys = line.rstrip("\n") + "\033*" + "\001printf '=%s\\n' " + "\005; echo '=.'\r"
    os.write(terminal, keys.encode())
    shown = wait_for(b"\n=.").split(b"\n")
    print(" ".join(word[1:].strip().decode() for word in shown if word[:1] == b"="), flush=True)
os.kill(pid, 9)

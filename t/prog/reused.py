#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""reused.py SERVICE... - make processes of one pid, one after the other, each of a service of its own

It prints "ready" and waits for a byte on standard input, as each process does, which executes head
with OTEL_SERVICE_NAME=SERVICE. A SERVICE "-" is a child that ends at once and executes nothing. All
but the first one have its pid, by clone3(2). At last, a thread reads a byte.
"""
import ctypes
import os
import signal
import struct
import sys
import threading

CLONE3 = 435
libc = ctypes.CDLL(None, use_errno=True)


def fork_as(pid):
    """Fork; the child has this pid unless it is 0."""
    wanted = ctypes.c_int(pid)
    args = ctypes.create_string_buffer(struct.pack(
        '=10Q', 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0,
        ctypes.addressof(wanted) if pid else 0, pid != 0))
    child = libc.syscall(CLONE3, args, 80)
    if child < 0:
        sys.exit('clone3: ' + os.strerror(ctypes.get_errno()))
    return child


def main():
    pid = 0
    os.write(1, b'ready\n')
    os.read(0, 1)
    for service in sys.argv[1:]:
        child = fork_as(pid)
        if not child and service == '-':
            libc.close(99)
            os._exit(0)
        elif not child:
            os.execve('/usr/bin/head', ['head', '-c', '1'],
                      dict(os.environ, OTEL_SERVICE_NAME=service))
        pid = child
        os.waitpid(pid, 0)
    thread = threading.Thread(target=os.read, args=(0, 1))
    thread.start()
    thread.join()


main()

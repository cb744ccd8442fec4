#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""carried.py LIBRARY server|client ADDRESS PORT REQUESTS - requests that carry W3C's trace context

LIBRARY is published.c with -DPART=1. The client waits for a line, and sends each request in a span of
its own: request N in span N of the trace 4bf92f3577b34da6 + N. The server reads the context from the
bytes, publishes span 0x100 + N of that trace, calls getpgid(2), and answers.
"""
import ctypes
import os
import socket
import sys

publish = ctypes.CDLL(sys.argv[1]).publish
publish.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
role, address, port, requests = sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
if role == 'server':
    listener = socket.create_server((address, port))
    print('ready', flush=True)
    c, _ = listener.accept()
    for _ in range(requests):
        _, trace, span, _ = c.recv(4096).split(b'traceparent: ')[1].split(b'-')
        publish(int(trace[:16], 16), 0x100 + int(span, 16))
        os.getpgid(0)
        c.sendall(b'HTTP/1.1 204 No Content\r\n\r\n')
        publish(0, 0)
else:
    print('ready', flush=True)
    sys.stdin.readline()
    c = socket.create_connection((address, port))
    for n in range(1, requests + 1):
        trace = 0x4bf92f3577b34da6 + n
        publish(trace, n)
        c.sendall(b'GET / HTTP/1.1\r\ntraceparent: 00-%016x%016x-%016x-01\r\n\r\n' %
                  (trace, trace ^ 0xffffffffffffffff, n))
        c.recv(4096)
        publish(0, 0)

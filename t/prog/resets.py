#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""resets.py PROTOCOL [keep] - end TCP connections by packets, and in the queue of a listener

It prints "ready", waits for a line, and then prints what each end of each connection was:
	life PID LOCAL ARROW REMOTE sent=BYTES received=BYTES
	accept PID LOCAL <- REMOTE
The first two connections are older than that line. A child resets them, and the second one stays
open here. With keep, it prints what these were, and then waits for another line.
"""
import fcntl
import os
import signal
import socket
import struct
import sys


def text(name):
    return f'{name[0]}:{name[1]}'


def listen():
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, int(sys.argv[1]))
    s.bind(('127.0.0.1', 0))
    s.listen(8)
    return s


def reset(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    s.close()


def life(local, arrow, remote, sent, received, pid=0):
    lines.append(f'life {pid or os.getpid()} {local} {arrow} {remote} sent={sent} received={received}')


def client(n=0):
    s = socket.create_connection(listener.getsockname())
    s.send(b'x' * n)
    name = text(s.getsockname())
    life(name, '->', here, n, 0)
    return s, name


def accepted(name, n):
    s, _ = listener.accept()
    lines.append(f'accept {os.getpid()} {here} <- {name}')
    life(here, '<-', name, 0, n)
    return s


lines = []
lo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(lo, 0x8914, struct.pack('16sh14x', b'lo', 0x49))  # SIOCSIFFLAGS: up
listener = listen()
here = text(listener.getsockname())
older = os.pipe()
child = os.fork()
if not child:
    pair = [socket.create_connection(listener.getsockname()) for i in range(2)]
    os.read(older[0], 1)
    for c in pair:
        reset(c)
    os._exit(0)
old, at = listener.accept()
kept, kept_at = listener.accept()
print('ready', flush=True)
sys.stdin.readline()

os.write(older[1], b'x')
os.waitpid(child, 0)
for name in (text(at), text(kept_at)):
    life(name, '<->', here, 0, 0, child)
    life(here, '<->', name, 0, 0)
if sys.argv[2:]:
    print('\n'.join(lines), flush=True)
    sys.stdin.readline()
    sys.exit()
old.close()

c, name = client(4)  # reset after the accept
s = accepted(name, 4)
reset(c)
s.close()
c, name = client(5)  # reset before the accept
reset(c)
accepted(name, 5).close()
c, name = client(6)  # closed before the accept
c.close()
accepted(name, 6).close()

c, name = client(7)  # reset, and never accepted
reset(c)
life(here, '<-|', name, 0, 7)
d, name = client(8)  # never accepted
life(here, '<-|', name, 0, 8)
listener.close()
d.close()

listener = listen()  # the same of a listener whose process is killed
here = text(listener.getsockname())
server = os.fork()
if not server:
    signal.pause()
listener.close()

for n in (0, 9):
    c = socket.create_connection(('127.0.0.1', int(here.split(':')[1])))
    c.send(b'x' * n)
    name = text(c.getsockname())
    life(name, '->', here, n, 0)
    life(here, '<-|', name, 0, n, server)
    if n:
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
        c.close()
    else:
        reset(c)
print('\n'.join(lines), flush=True)

#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""connections.py N - make TCP connections of every kind, N of one kind at the same time

It prints "ready", waits for a line, and then prints what each end of each connection was:
	life PID LOCAL ARROW REMOTE SENT RECEIVED
	connect PID LOCAL REMOTE [ERROR]
"""
import errno
import os
import resource
import signal
import socket
import sys


def text(name):
    host = name[0]
    if host.startswith('::ffff:'):
        host = host[7:]
    return f'[{host}]:{name[1]}' if ':' in host else f'{host}:{name[1]}'


class Pair:
    """a connection whose ends this process has"""

    def __init__(self, listener, family=socket.AF_INET, to=None):
        self.pid = os.getpid()
        self.client = socket.socket(family)
        self.client.connect((to or ('::1' if family == socket.AF_INET6 else '127.0.0.1'),
                             listener.getsockname()[1]))
        self.server, _ = listener.accept()
        self.names = (text(self.client.getsockname()), text(self.client.getpeername()))
        self.bytes = [0, 0]
        say('connect', self.pid, *self.names)

    def send(self, n, back=0):
        for a, b, size, i in ((self.client, self.server, n, 0), (self.server, self.client, back, 1)):
            sent = 0
            while sent < size:
                k = a.send(b'x' * min(16384, size - sent))
                sent += k
                while k:
                    k -= len(b.recv(k))
            self.bytes[i] += size
        return self

    def told(self, client_pid=None):
        local, remote = self.names
        say('life', client_pid or self.pid, local, '->', remote, *self.bytes)
        say('life', self.pid, remote, '<-', local, *reversed(self.bytes))
        return self

    def close(self):
        self.client.close()
        self.server.close()


def say(*words):
    lines.append(' '.join(str(w) for w in words))


def listen(family=socket.AF_INET, address='127.0.0.1', backlog=1024):
    s = socket.socket(family)
    s.bind((address, 0))
    s.listen(backlog)
    return s


def refused():
    s = listen()
    port = s.getsockname()[1]
    s.close()
    s = socket.socket()
    s.bind(('127.0.0.1', 0))
    name = text(s.getsockname())
    try:
        s.connect(('127.0.0.1', port))
    except ConnectionRefusedError:
        say('connect', os.getpid(), name, f'127.0.0.1:{port}', 'ECONNREFUSED')
    s.close()


def timed_out():
    """The queue of the listener is full, so the kernel drops the SYN."""
    s = listen(backlog=0)
    filler = socket.create_connection(s.getsockname())
    say('connect', os.getpid(), text(filler.getsockname()), text(s.getsockname()))
    c = socket.socket()
    c.bind(('127.0.0.1', 0))
    c.setsockopt(socket.IPPROTO_TCP, 18, 1)  # TCP_USER_TIMEOUT, in ms
    try:
        c.connect(s.getsockname())
    except OSError as e:
        say('connect', os.getpid(), text(c.getsockname()), text(s.getsockname()),
            errno.errorcode[e.errno])
    c.close()
    accepted, _ = s.accept()
    say('life', os.getpid(), text(filler.getsockname()), '->', text(s.getsockname()), 0, 0)
    say('life', os.getpid(), text(s.getsockname()), '<-', text(filler.getsockname()), 0, 0)
    filler.close()
    accepted.close()
    s.close()


def killed(listener):
    ours, theirs = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        c = socket.create_connection(listener.getsockname())
        c.send(b'x' * 10)
        os.write(ours[1], text(c.getsockname()).encode())
        os.read(theirs[0], 1)
    name = os.read(ours[0], 100).decode()
    server, _ = listener.accept()
    server.recv(100)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    server.recv(1)
    server.close()
    at = text(listener.getsockname())
    say('connect', pid, name, at)
    say('life', pid, name, '->', at, 10, 0)
    say('life', os.getpid(), at, '<-', name, 0, 10)


def served(listener):
    """A child accepts and leaves the connection to its end."""
    c = socket.socket()
    c.connect(listener.getsockname())
    pid = os.fork()
    if not pid:
        c.close()
        s, _ = listener.accept()
        s.send(b'y' * 9)
        os._exit(0)
    os.waitpid(pid, 0)
    while c.recv(100):
        pass
    name, at = text(c.getsockname()), text(listener.getsockname())
    c.close()
    say('connect', os.getpid(), name, at)
    say('life', os.getpid(), name, '->', at, 0, 9)
    say('life', pid, at, '<-', name, 9, 0)


def inherited(listener):
    """A child closes last."""
    p = Pair(listener).send(3, 4).told()
    pid = os.fork()
    if not pid:
        p.client.close()
        p.server.close()
        os._exit(0)
    p.close()
    os.waitpid(pid, 0)


def half_closed(listener):
    p = Pair(listener).send(5)
    p.client.shutdown(socket.SHUT_WR)
    p.server.recv(1)
    p.send(0, 70000).told()
    p.server.close()
    p.client.close()


lines = []
count = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_NOFILE, (2 * count + 100,) * 2)
four = listen()
old = Pair(four).send(11, 12)
lines = [f'old {os.getpid()} {old.names[0]} {old.names[1]}']
print('ready', flush=True)
sys.stdin.readline()
for i in range(5):
    Pair(four).send(1000 * i, 7 * i).told().close()
if socket.has_ipv6 and os.path.exists('/proc/net/if_inet6'):
    six = listen(socket.AF_INET6, '::')
    Pair(six, socket.AF_INET6).send(100000, 200000).told().close()
    Pair(six).send(1, 2).told().close()
    Pair(six, socket.AF_INET6, '::ffff:127.0.0.1').send(3, 4).told().close()
for part in (half_closed, inherited, killed, served):
    part(four)
refused()
timed_out()
many = [Pair(four).send(i, 1) for i in range(count)]
for p in many:
    p.told().close()
old.send(1, 2).close()
four.close()
print('\n'.join(lines), flush=True)

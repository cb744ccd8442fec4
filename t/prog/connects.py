#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""connects.py - make connects that fail, in every way, in a network namespace of its own

Without a route, most connects fail before the kernel changes the state of a socket. It prints
"ready", waits for a line, and then prints what each connect was, as t/prog/connections.py does. The
last connect waits until the program ends after another line.
"""
import ctypes
import errno
import fcntl
import os
import signal
import socket
import struct
import sys
import threading

TCP, UNIX, MPTCP, USER_TIMEOUT, FASTOPEN, FASTOPEN_CONNECT = 6, 1, 262, 18, 0x20000000, 30
libc = ctypes.CDLL(None, use_errno=True)
lines = []


def text(name):
    host = name[0][7:] if name[0].startswith('::ffff:') else name[0]
    return f'[{host}]:{name[1]}' if ':' in host else f'{host}:{name[1]}'


def say(sock, to, error=None, task=None, name=None):
    lines.append(' '.join(['connect', str(task or os.getpid()), name or text(sock.getsockname()), to]
                          + ([error] if error else [])))


def new(family=socket.AF_INET, protocol=0, at=None):
    s = socket.socket(family, socket.SOCK_STREAM, protocol)
    if at:
        s.bind(at)
    return s


def fails(to, error, sock=None, **how):
    """The connect fails with this error, before a state changes."""
    s = sock or new(**how)
    say(s, text(to), error, threading.get_native_id())
    got = errno.errorcode.get(s.connect_ex(to))
    assert got == error, (to, got)


def raw(sock, address, error, to, size=None):
    """The same, with the bytes of an address."""
    say(sock, to, error)
    libc.connect(sock.fileno(), address, size or len(address))
    assert errno.errorcode[ctypes.get_errno()] == error, (to, ctypes.get_errno())


def refused(at, to, error='ECONNREFUSED', **how):
    """A packet ends the connect."""
    s = new(at=at, **how)
    say(s, text(to), error)
    got = errno.errorcode.get(s.connect_ex(to))
    assert got == error, (to, got)
    return s


def four(host, port):
    return struct.pack('<HH4s8x', socket.AF_INET, socket.htons(port), socket.inet_aton(host))


lo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(lo, 0x8914, struct.pack('16sh14x', b'lo', 0x49))  # SIOCSIFFLAGS: up
listener = new(at=('127.0.0.1', 0))
listener.listen(9)
here = listener.getsockname()
print('ready', flush=True)
sys.stdin.readline()

for protocol in (0, MPTCP):
    fails(('198.51.100.1', 80), 'ENETUNREACH', protocol=protocol)
s = new()
s.setblocking(False)
fails(('198.51.100.1', 81), 'ENETUNREACH', s)
fails(('255.255.255.255', 80), 'ENETUNREACH')
fails(('224.0.0.1', 80), 'ENETUNREACH')
fails(('198.51.100.2', 80), 'ENETUNREACH', at=('127.0.0.1', 0))
fails(('2001:db8::1', 80), 'ENETUNREACH', family=socket.AF_INET6)
fails(('fe80::1', 80), 'EINVAL', family=socket.AF_INET6)
say(new(socket.AF_INET6), '198.51.100.3:80', 'ENETUNREACH')
new(socket.AF_INET6).connect_ex(('::ffff:198.51.100.3', 80))
raw(new(), struct.pack('<H20s', UNIX, b'/x'), 'EAFNOSUPPORT', '0.0.0.0:0')
raw(new(), None, 'EFAULT', '0.0.0.0:0', 16)
raw(new(), four('127.0.0.1', 7), 'EINVAL', '127.0.0.1:7', 8)
raw(new(socket.AF_INET6), four('127.0.0.1', 7).ljust(28, b'\0'), 'EAFNOSUPPORT', '127.0.0.1:7')
threads = [threading.Thread(target=fails, args=(('198.51.100.4', 1000 + i), 'ENETUNREACH'))
           for i in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
s = new()
say(s, '198.51.100.5:80', 'ENETUNREACH')
try:
    s.sendto(b'x', FASTOPEN, ('198.51.100.5', 80))
except OSError:
    pass
s = new()
say(s, '198.51.100.10:80', 'ENETUNREACH')
try:
    s.sendmsg([b'x'], [], FASTOPEN, ('198.51.100.10', 80))
except OSError:
    pass
s = new()
say(s, '198.51.100.11:80', 'ENETUNREACH')
to = ctypes.create_string_buffer(four('198.51.100.11', 80))
vector = struct.pack('PN', ctypes.addressof(to), 1)
vector = ctypes.create_string_buffer(vector)
message = ctypes.create_string_buffer(struct.pack('PIPNPNiI', ctypes.addressof(to), 16,
                                                  ctypes.addressof(vector), 1, 0, 0, 0, 0))
assert libc.sendmmsg(s.fileno(), message, 1, FASTOPEN) == -1
assert ctypes.get_errno() == errno.ENETUNREACH
s = new()
s.setsockopt(TCP, FASTOPEN_CONNECT, 1)
fails(('198.51.100.6', 80), 'ENETUNREACH', s)

# no TCP sockets
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect_ex(('198.51.100.7', 80))
socket.socket(socket.AF_UNIX).connect_ex('/nonexistent')
libc.connect(0, four('198.51.100.7', 80), 16)
libc.connect(999, four('198.51.100.7', 80), 16)

closed = new(at=('127.0.0.1', 0))
for how in ({}, {'protocol': MPTCP}):
    refused(('127.0.0.1', 0), closed.getsockname(), **how)

# without a local port; the first takes the only one
with open('/proc/sys/net/ipv4/ip_local_port_range', 'r+') as f:
    old = f.read()
    f.seek(0)
    f.write('50000 50000')
    f.flush()
    s = new()
    s.connect(here)
    say(s, text(here))
    for how in ({}, {'protocol': MPTCP}):
        say(None, text(here), 'EADDRNOTAVAIL', name='127.0.0.1:0')
        assert new(**how).connect_ex(here) == errno.EADDRNOTAVAIL
    f.seek(0)
    f.write(old)
fails(here, 'EISCONN', s)

# in the background; connect called again tells no more, and then all is said
s = new(at=('127.0.0.1', 0))
s.setblocking(False)
say(s, text(here))
assert s.connect_ex(here) == errno.EINPROGRESS
assert s.connect_ex(here) == 0
s = new(at=('127.0.0.1', 0))
s.setblocking(False)
say(s, text(closed.getsockname()), 'ECONNREFUSED')
assert s.connect_ex(closed.getsockname()) == errno.EINPROGRESS
assert s.connect_ex(closed.getsockname()) == errno.ECONNREFUSED
fails(('198.51.100.8', 80), 'ENETUNREACH', s)

# the queue is full, so there is no answer
full = new(at=('127.0.0.1', 0))
full.listen(0)
full_at = full.getsockname()
first = socket.create_connection(full_at)
say(first, text(full_at))
s = new(at=('127.0.0.1', 0))
s.setsockopt(TCP, USER_TIMEOUT, 1)
say(s, text(full_at), 'ETIMEDOUT')
assert s.connect_ex(full_at) == errno.ETIMEDOUT
fails(('198.51.100.9', 80), 'ENETUNREACH', s)
for protocol in (0, MPTCP):  # a signal; the connect goes on until the socket is closed
    s = new(protocol=protocol, at=('127.0.0.1', 0))
    say(s, text(full_at), 'closed')
    pid = os.fork()
    if not pid:
        lines.clear()
        signal.setitimer(signal.ITIMER_REAL, .01)
        s.connect(full_at)
    lines[-1] = lines[-1].replace(str(os.getpid()), str(pid), 1)
    os.waitpid(pid, 0)
    s.close()
s = new(at=('127.0.0.1', 0))
s.setblocking(False)
say(s, text(full_at), 'unfinished')
assert s.connect_ex(full_at) == errno.EINPROGRESS
assert s.connect_ex(full_at) == errno.EALREADY
print('\n'.join(lines + ['done']), flush=True)
sys.stdin.readline()

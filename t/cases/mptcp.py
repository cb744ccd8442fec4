# SPDX-License-Identifier: ISC
# mptcp.py S C N: N connections from a client with protocol C to a server with protocol S (6 TCP, 262 MPTCP), 127.0.0.1
import os, socket, sys, time
S, C, N = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
def name(n): open('/proc/self/comm','w').write(n)
L = socket.socket(socket.AF_INET, socket.SOCK_STREAM, S); L.bind(('127.0.0.1', 0)); L.listen(8)
name('server')
if os.fork() == 0:
    name('client')
    for i in range(N):
        c = socket.socket(socket.AF_INET, socket.SOCK_STREAM, C); c.connect(L.getsockname()); c.sendall(b'x'*1000); c.recv(99); c.close()
    os._exit(0)
for i in range(N):
    s,_ = L.accept(); n = 0
    while n < 1000: n += len(s.recv(2000))
    s.sendall(b'y'*77); s.recv(1); s.close()
os.wait(); time.sleep(.2)

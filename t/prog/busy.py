# SPDX-License-Identifier: ISC
"""The part of a varied workload that a shell cannot do: sockets, threads, timers, memory."""
import fcntl, mmap, os, select, signal, socket, threading, time

for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    try:
        server = socket.socket(family)
        server.bind((address, 0))
        server.listen(1)
        client = socket.socket(family)
        client.connect(server.getsockname())
        peer, _ = server.accept()
        client.send(b"x" * 5000)
        peer.recv(10000)
        for s in client, peer, server:
            s.close()
        udp = socket.socket(family, socket.SOCK_DGRAM)
        udp.bind((address, 0))
        udp.sendto(b"y", udp.getsockname())
        udp.recv(10)
        udp.close()
        try:
            socket.socket(family).connect((address, 1))
        except OSError:
            pass
    except OSError:
        pass
a, b = socket.socketpair()
a.send(b"1")
b.recv(1)
thread = threading.Thread(target=time.sleep, args=(0.01,))
thread.start()
thread.join()
memory = mmap.mmap(-1, 1 << 20)
memory[0] = 1
memory[5000] = 2
memory.close()
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.005)
time.sleep(0.01)
child = os.fork()
if not child:
    os._exit(3)
os.waitpid(child, 0)
select.epoll().poll(0.001)
os.nice(1)
os.sched_setaffinity(0, {0})
os.sched_yield()
with open("lock", "w", encoding="ascii") as f:
    fcntl.flock(f, fcntl.LOCK_EX)
    fcntl.lockf(f, fcntl.LOCK_EX)

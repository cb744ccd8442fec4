# SPDX-License-Identifier: ISC
# requests.py REQUESTS CONNECTIONS [HOSTS] - print the joined trace of hosts, as lines of JSON
#
# Each request goes from a client on host a to a thread on host b, which asks one on host c. With
# HOSTS these are h0, h1 ... and each connection begins at the next one.
# Requests of different connections overlap. The keys of messages are CONNECTION, REQUEST, LEG.
import heapq
import sys

requests, connections = int(sys.argv[1]), int(sys.argv[2])
hosts = int(sys.argv[3]) if len(sys.argv) > 3 else 0
START = 1795559358000000000


def mark(time, host, tid, what, key):
    return time, (f'{{"ts":{time / 1e9:.9f},"timeUnixNano":"{START + time}","cpu":0,"pid":{tid},'
                  f'"comm":"{host}{tid}","system":"tfs","event":"mark","fields":'
                  f'{{"key":"{key:#x}","probe":42,"task":{tid},"what":"dt{what}"}},"host":"{host}"}}')


def call(time, host, tid):
    return time, (f'{{"ts":{time / 1e9:.9f},"timeUnixNano":"{START + time}","cpu":0,"pid":{tid},'
                  f'"comm":"{host}{tid}","system":"syscalls","event":"sys_exit_read",'
                  f'"fields":{{"ret":1,"lat":0.500,"args":[]}},"host":"{host}"}}')


def connection(c):
    a, b, cc = (f"h{(c + i) % hosts}" for i in range(3)) if hosts else "abc"
    tid, time = 1000 + c, 1000 + 37 * c
    for r in range(c, requests, connections):
        key = [(c + 1) << 40 | (r + 1) << 8 | leg for leg in range(1, 5)]
        legs = [mark(time, a, tid, "M", key[0]), mark(time + 400, b, tid, "B", key[0]),
                call(time + 500, b, tid), mark(time + 1000, b, tid, "M", key[1]),
                mark(time + 1500, cc, tid, "B", key[1]), call(time + 1600, cc, tid),
                mark(time + 2000, cc, tid, "M", key[2]), mark(time + 2100, cc, tid, "E", key[1]),
                mark(time + 2500, b, tid, "R", key[2]), mark(time + 3000, b, tid, "M", key[3]),
                mark(time + 3100, b, tid, "E", key[0]), mark(time + 3500, a, tid, "R", key[3])]
        yield from legs
        time += 4000 + 11 * c


for _, line in heapq.merge(*(connection(c) for c in range(connections))):
    print(line)

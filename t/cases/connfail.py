# SPDX-License-Identifier: ISC
# connfail.py: connects that fail at once; run in your own netns (see connfail.sh)
import socket, errno, sys
def con(k, a, bind=None, fam=socket.AF_INET):
    s = socket.socket(fam)
    if bind: s.bind(bind)
    e = s.connect_ex(a); print('TRUTH %-9s %s:%d %s' % (k, a[0], a[1], errno.errorcode.get(e, 0)), file=sys.stderr); s.close(); return s
L = socket.socket(); L.bind(('127.0.0.1', 7001)); L.listen(9)
con('netunr', ('192.0.2.7', 80)); con('prohibit', ('192.0.2.129', 80)); con('blackhole', ('192.0.2.65', 80)); con('unreach', ('192.0.2.33', 80))
con('v6net', ('2001:db8::1', 80), fam=socket.AF_INET6)
keep = []
for i in range(4):                       # two local ports only: the third connect has none
    s = socket.socket(); e = s.connect_ex(('127.0.0.1', 7001)); keep.append(s); print('TRUTH ports    127.0.0.1:7001', errno.errorcode.get(e, 0), file=sys.stderr)
[s.close() for s in keep]
con('nftrej', ('127.0.0.1', 7002)); con('nftdrop', ('127.0.0.1', 7003))

# SPDX-License-Identifier: ISC
# spans.py shop N | broken - print spans as lines of OTLP's JSON, for t/deploy/waterfall.bats
#
# shop: a request of a service to another one on another host, with N spans of the kernel's side.
# broken: what no exporter should print.
import json
import sys

TRACE, BEGIN = '4bf92f3577b34da6a3ce929d0e0e4736', 1795790246910834433


def attributes(said):
    return [{'key': k, 'value': {'stringValue' if isinstance(v, str) else 'intValue': str(v)}}
            for k, v in said.items()]


def span(number, parent, name, begin, end, error=None, trace=TRACE, **said):
    s = {'traceId': trace, 'spanId': f'{number:016x}', 'name': name, 'kind': 1,
         'startTimeUnixNano': str(BEGIN + begin), 'endTimeUnixNano': str(end and BEGIN + end),
         'attributes': attributes({k.replace('_', '.'): v for k, v in said.items()})}
    if parent:
        s['parentSpanId'] = f'{parent:016x}'
    if error:
        s['status'] = {'code': 2, 'message': error}
    return s


def line(service, host, spans, scope='sdk'):
    print(json.dumps({'resourceSpans': [{
        'resource': {'attributes': attributes({'service.name': service, 'host.name': host})},
        'scopeSpans': [{'scope': {'name': scope}, 'spans': spans}]}]}))


if sys.argv[1] == 'shop':
    n = int(sys.argv[2])
    line('shop', 'web', [span(1, 0, 'GET /cart', 0, 40000000), span(2, 1, 'POST stock', 2000000, 30000000)])
    line('stock', 'db', [span(3, 2, 'POST /stock', 3000000, 29000000, 'timeout')])
    line('shop', 'web', [span(4, 1, 'openat', 500000, 540000, tfs_ret=3), span(5, 1, 'openat', 600000, 640000, 'EACCES'),
                         span(6, 1, 'futex', 31000000, 39000000, tfs_calls=812, tfs_errors=3, tfs_lat=90)],
         'tfs-tools')
    line('stock', 'db', [span(100 + i, 3, 'read' if i % 3 else 'fsync', 3000000 + i * (24000000 // n),
                              3001000 + i * (24000000 // n), None if i % 20 else 'EIO') for i in range(n)],
         'tfs-tools')
else:
    evil = '<script>document.title="owned"</script></plaintext>\u202egnp.exe\n\x1b[31m"&\''
    line(evil, 'a', [span(1, 0, evil, 0, 4000000), span(2, 1, evil * 50, 1000000, 0), span(3, 9, 'orphan', 1, 2),
                     span(4, 5, 'loop a', 0, 100), span(5, 4, 'loop b', 0, 100), span(6, 6, 'own parent', 0, 100)])
    line('b', 'b', 2 * [span(7, 1, 'skewed', -3000000, 1000000)])
    line('b', 'b', [span(1000 + i, 999 + i if i else 1, f'level {i}', i, 3000000 - i) for i in range(500)])
    line('b', 'b', [span(1, 0, 'another trace', 0, 10, trace='0' * 31 + 'a')])
    print('{broken')
    print('{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"xyz","spanId":"1"}]}]}]}')

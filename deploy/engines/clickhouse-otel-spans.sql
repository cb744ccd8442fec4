-- SPDX-License-Identifier: ISC
-- clickhouse-otel-spans.sql - spans of tfs-export -f spans in the table of a collector, otel_traces
--
-- Load it in place of a table of records, and then clickhouse.sql. A span of a call becomes the
-- record of that call, a span of a message its first mark, and a span of a window its two marks,
-- whose time is the beginning of the window. Not each record has a span, so gaps are unknown, and
-- boot_id is empty. The values in fields are strings.

CREATE OR REPLACE VIEW records AS
WITH spans AS (
    SELECT DISTINCT Timestamp, Duration, SpanId, SpanName, SpanKind, ResourceAttributes AS resource,
        SpanAttributes AS attributes,
        trimLeft(lower(hex(bitXor(reinterpretAsUInt64(reverse(unhex(SpanId))),
            if(SpanKind = 'Server', 0xffffffffffffffff, 0)))), '0') AS key,
        multiIf(SpanKind = 'Client', ['M'], SpanKind = 'Server', ['B', 'E'], ['']) AS marks
    FROM otel_traces
    WHERE ScopeName = 'tfs-tools')
SELECT resource['host.name'] AS host, '' AS boot_id, resource['tfs.session'] AS session,
    toUInt64OrZero(attributes['tfs.seq']) AS seq, resource['container.id'] AS container_id,
    if(mapContains(resource, 'k8s.container.name'), resource['k8s.container.name'],
        resource['container.name']) AS container_name,
    resource['k8s.pod.uid'] AS pod_uid, resource['k8s.pod.name'] AS pod_name,
    resource['k8s.namespace.name'] AS namespace,
    toUInt64(toUnixTimestamp64Nano(Timestamp)) + if(mark = 'E', Duration, 0) AS timeUnixNano,
    Timestamp AS time,
    toUInt32OrZero(attributes['cpu.logical_number']) AS cpu,
    toInt32OrZero(attributes['thread.id']) AS pid, attributes['thread.name'] AS comm,
    attributes['tfs.system'] AS system,
    multiIf(mark != '', 'bpf_trace_printk', mapContains(attributes, 'tfs.ret'),
        'sys_exit_' || SpanName, SpanName) AS event,
    if(mark != '', toJSONString(map('bpf_string', 'dt' || mark || ' 0 ' || toString(pid) || ' ' || key)),
        toJSONString(mapFromArrays(arrayMap(name -> if(name = 'error.type', 'error',
            replaceRegexpOne(name, '^tfs\\.(arg\\.)?', '')), mapKeys(attributes)),
            mapValues(attributes)))) AS fields,
    toUInt64OrNull(attributes['tfs.lost']) AS lost,
    toUInt64OrNull(attributes['tfs.overwritten']) AS overwritten
FROM spans
ARRAY JOIN marks AS mark;

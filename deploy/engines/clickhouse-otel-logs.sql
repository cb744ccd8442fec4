-- SPDX-License-Identifier: ISC
-- clickhouse-otel-logs.sql - records of tfs-export -f logs in the table of a collector, otel_logs
--
-- Load it in place of a table of records, and then clickhouse.sql. The collector's exporter must
-- store EventName. The values in fields are strings.

CREATE OR REPLACE VIEW records AS
SELECT DISTINCT ResourceAttributes['host.name'] AS host,
    ResourceAttributes['tfs.boot_id'] AS boot_id, ResourceAttributes['tfs.session'] AS session,
    toUInt64OrZero(LogAttributes['tfs.seq']) AS seq,
    ResourceAttributes['container.id'] AS container_id,
    if(mapContains(ResourceAttributes, 'k8s.container.name'),
        ResourceAttributes['k8s.container.name'],
        ResourceAttributes['container.name']) AS container_name,
    ResourceAttributes['k8s.pod.uid'] AS pod_uid,
    ResourceAttributes['k8s.pod.name'] AS pod_name,
    ResourceAttributes['k8s.namespace.name'] AS namespace,
    toUInt64(toUnixTimestamp64Nano(Timestamp)) AS timeUnixNano,
    Timestamp AS time,
    toUInt32OrZero(LogAttributes['cpu.logical_number']) AS cpu,
    toInt32OrZero(LogAttributes['thread.id']) AS pid, LogAttributes['thread.name'] AS comm,
    LogAttributes['tfs.system'] AS system, EventName AS event,
    toJSONString(mapFromArrays(arrayMap(name -> if(name = 'error.type', 'error',
        replaceRegexpOne(name, '^tfs\\.(arg\\.)?', '')), mapKeys(LogAttributes)),
        mapValues(LogAttributes))) AS fields,
    toUInt64OrNull(LogAttributes['tfs.lost']) AS lost,
    toUInt64OrNull(LogAttributes['tfs.overwritten']) AS overwritten
FROM otel_logs
WHERE ScopeName = 'tfs-tools';

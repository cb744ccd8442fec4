-- SPDX-License-Identifier: ISC
-- clickhouse.sql - tables and views over records of tfs-export, for ClickHouse 24.4 and later
--
-- Then load records:  clickhouse-client --query 'INSERT INTO records
--	SETTINGS input_format_skip_unknown_fields = 1 FORMAT JSONEachRow' <records.json
-- A record that was delivered twice has the same time, boot, session and number, and counts once.
-- The key begins with host and time, so that questions about a host and a time read little:
-- WHERE host = 'web' AND time > now() - INTERVAL 10 MINUTE

CREATE TABLE IF NOT EXISTS records (
    host LowCardinality(String), boot_id LowCardinality(String),
    session LowCardinality(String), seq UInt64 CODEC(Delta, ZSTD),
    container_id LowCardinality(String), container_name LowCardinality(String),
    pod_uid LowCardinality(String), pod_name LowCardinality(String),
    namespace LowCardinality(String),
    timeUnixNano UInt64 CODEC(Delta, ZSTD), cpu UInt32, pid Int32,
    comm LowCardinality(String), system LowCardinality(String), event LowCardinality(String),
    fields String CODEC(ZSTD(3)), lost Nullable(UInt64), overwritten Nullable(UInt64),
    time DateTime64(9, 'UTC') MATERIALIZED fromUnixTimestamp64Nano(toInt64(timeUnixNano), 'UTC')
        CODEC(Delta, ZSTD))
ENGINE = ReplacingMergeTree
PARTITION BY toDate(time)
ORDER BY (host, time, boot_id, session, seq)
TTL toDateTime(time) + INTERVAL 30 DAY
SETTINGS ttl_only_drop_parts = 1;

-- decoded system calls: their results, and their times in microseconds
CREATE OR REPLACE VIEW calls AS
SELECT host, session, container_id, container_name, pod_uid, pod_name, namespace, pid, comm,
    timeUnixNano, time,
    substr(event, 10) AS call,
    JSONExtractInt(fields, 'ret') AS ret, JSONExtractString(fields, 'error') AS error,
    JSONExtractFloat(fields, 'lat') AS us
FROM records FINAL
WHERE startsWith(event, 'sys_exit_') AND JSONHas(fields, 'lat');

-- mark lines of request probes, and the window in which the thread wrote each of them
CREATE OR REPLACE VIEW marks AS
WITH if(event = 'mark', [JSONExtractString(fields, 'what'), '',
        toString(JSONExtractUInt(fields, 'task')), substr(JSONExtractString(fields, 'key'), 3)],
    splitByChar(' ', JSONExtractString(fields, 'bpf_string'))) AS word -- of earlier versions
SELECT host, boot_id, session, comm, timeUnixNano, time, seq, substr(word[1], 3) AS what,
    word[3] AS tid, word[4] AS key,
    anyLast(multiIf(what = 'B', key, what = 'E', '', NULL))
        OVER (PARTITION BY host, boot_id, tid ORDER BY timeUnixNano, seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS in_window
FROM records FINAL
WHERE (system = 'tfs' AND event = 'mark') OR (event IN ('bpf_trace_printk', 'tracing_mark_write')
    AND match(JSONExtractString(fields, 'bpf_string'), '^dt[BRME] [0-9a-f]+ [0-9]+ [0-9a-f]+$'));

-- messages that were sent and received: the first end of each, if a thread tried again
CREATE OR REPLACE VIEW messages AS
SELECT m.key AS key, m.host AS from_host, m.comm AS from_comm, m.timeUnixNano AS sent,
    ifNull(m.in_window, '') AS from_window, r.host AS to_host, r.comm AS to_comm, r.what AS what,
    r.timeUnixNano AS received
FROM (SELECT * FROM marks WHERE what = 'M' ORDER BY key, timeUnixNano LIMIT 1 BY key) AS m
JOIN (SELECT * FROM marks WHERE what IN ('B', 'R') ORDER BY key, timeUnixNano LIMIT 1 BY key) AS r
    ON m.key = r.key;

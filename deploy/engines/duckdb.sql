-- SPDX-License-Identifier: ISC
-- duckdb.sql - tables and views over records of tfs-export, for DuckDB 1.0 and later
--
-- Set the files first:  SET VARIABLE records = '/var/log/tfs/*.json';
-- A record that was delivered twice has the same time, boot, session and number, and counts once.

CREATE OR REPLACE TABLE records AS
SELECT DISTINCT ON (host, timeUnixNano, boot_id, session, seq) *, to_timestamp(timeUnixNano / 1e9) AS time
FROM read_json(getvariable('records'), format = 'newline_delimited', columns = {
    host: 'VARCHAR', boot_id: 'VARCHAR', session: 'VARCHAR', seq: 'UBIGINT',
    container_id: 'VARCHAR', container_name: 'VARCHAR', pod_uid: 'VARCHAR', pod_name: 'VARCHAR',
    namespace: 'VARCHAR', timeUnixNano: 'BIGINT', cpu: 'INTEGER', pid: 'INTEGER',
    comm: 'VARCHAR', system: 'VARCHAR', event: 'VARCHAR', fields: 'JSON', lost: 'UBIGINT', overwritten: 'UBIGINT'})
ORDER BY host, timeUnixNano; -- so that questions about a host and a time read little

-- decoded system calls: their results, and their times in microseconds
CREATE OR REPLACE VIEW calls AS
SELECT host, session, container_id, container_name, pod_uid, pod_name, namespace, pid, comm,
    timeUnixNano, time,
    substr(event, 10) AS call, (fields ->> 'ret')::BIGINT AS ret, (fields ->> 'error') AS error,
    (fields ->> 'lat')::DOUBLE AS us
FROM records
WHERE starts_with(event, 'sys_exit_') AND (fields ->> 'lat') IS NOT NULL;

-- mark lines of request probes, and the window in which the thread wrote each of them
CREATE OR REPLACE TABLE marks AS
WITH words AS (
    SELECT host, boot_id, session, comm, timeUnixNano, seq,
        CASE event WHEN 'mark' THEN
            [(fields ->> 'what'), (fields ->> 'probe'), (fields ->> 'task'), substr((fields ->> 'key'), 3)]
        ELSE string_split((fields ->> 'bpf_string'), ' ') END AS word -- of earlier versions
    FROM records
    WHERE (system = 'tfs' AND event = 'mark') OR (event IN ('bpf_trace_printk', 'tracing_mark_write')
        AND regexp_matches((fields ->> 'bpf_string'), '^dt[BRME] [0-9a-f]+ [0-9]+ [0-9a-f]+$')))
SELECT host, boot_id, session, comm, timeUnixNano, seq, substr(word[1], 3) AS what,
    word[3]::BIGINT AS tid, word[4] AS key,
    last_value(CASE substr(word[1], 3) WHEN 'B' THEN word[4] WHEN 'E' THEN '' END IGNORE NULLS)
        OVER (PARTITION BY host, boot_id, word[3] ORDER BY timeUnixNano, seq) AS in_window
FROM words;

-- messages that were sent and received: the first end of each, if a thread tried again
CREATE OR REPLACE TABLE messages AS
SELECT m.key, m.host AS from_host, m.comm AS from_comm, m.timeUnixNano AS sent,
    m.in_window AS from_window, r.host AS to_host, r.comm AS to_comm, r.what,
    r.timeUnixNano AS received
FROM (SELECT DISTINCT ON (key) * FROM marks WHERE what = 'M' ORDER BY key, timeUnixNano) m
JOIN (SELECT DISTINCT ON (key) * FROM marks WHERE what IN ('B', 'R') ORDER BY key, timeUnixNano) r
    USING (key);

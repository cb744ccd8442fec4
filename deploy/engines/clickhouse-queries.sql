-- SPDX-License-Identifier: ISC
-- clickhouse-queries.sql - the first questions to a fleet's traces; load clickhouse.sql first

-- 1 the slowest calls by container
SELECT container_id AS container, host, call, count() AS calls, max(us) AS most_us,
    quantileExactLow(0.99)(us) AS p99_us
FROM calls
GROUP BY container, host, call
ORDER BY most_us DESC, container, host, call
LIMIT 20;

-- 2 how often calls fail, and with which error
SELECT host, call, count() AS calls, countIf(error != '') AS failed,
    round(100 * failed / calls, 2) AS percent, topKIf(1)(error, error != '')[1] AS mostly
FROM calls
GROUP BY host, call
HAVING failed > 0
ORDER BY failed DESC, host, call
LIMIT 20;

-- 3 who talks to whom
SELECT from_host, from_comm, to_host, to_comm, count() AS messages
FROM messages
WHERE what = 'B'
GROUP BY from_host, from_comm, to_host, to_comm
ORDER BY messages DESC, from_host, from_comm, to_host, to_comm
LIMIT 20;

-- 4 what is missing: lost in the kernel, left out on purpose, lost on the way
WITH numbers AS ( -- sessions of one name may have had a number once each
    SELECT host, boot_id, session, seq, count() AS n
    FROM records FINAL
    GROUP BY host, boot_id, session, seq),
steps AS (
    SELECT *, max(n) OVER (PARTITION BY host, boot_id, session ORDER BY seq DESC) AS traces,
        seq - lagInFrame(seq, 1, 0) OVER (PARTITION BY host, boot_id, session ORDER BY seq
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS step
    FROM numbers),
missing AS (
    SELECT host, boot_id, session, toInt64(sum(traces * step) - sum(n)) AS numbers
    FROM steps
    GROUP BY host, boot_id, session)
SELECT host, session,
    greatest(sumIf(ifNull(lost, 0), overwritten IS NULL),
        sumIf(ifNull(lost, 0), overwritten IS NOT NULL)) AS lost_events,
    sumIf(JSONExtractUInt(fields, 'left_out'), event = 'left_out') AS left_out,
    if(boot_id = '', 0, any(missing.numbers) - left_out) AS gaps
FROM (SELECT * FROM records FINAL) AS records LEFT JOIN missing USING (host, boot_id, session)
GROUP BY host, boot_id, session
ORDER BY lost_events + left_out + gaps DESC, host, session;

-- 5 the tree of each request: its first message, and who served what for it
WITH RECURSIVE served AS (SELECT * FROM messages WHERE what = 'B'), tree AS (
    SELECT key AS request, key, to_host, to_comm, toUInt32(1) AS depth, received
    FROM served
    WHERE from_window = ''
    UNION ALL
    SELECT tree.request, m.key, m.to_host, m.to_comm, toUInt32(tree.depth + 1), m.received
    FROM tree
    JOIN served AS m ON m.from_window = tree.key
    WHERE tree.depth < 32)
SELECT request, depth, repeat('  ', depth - 1) || to_host AS served_by, to_comm, received
FROM tree
ORDER BY request, received;

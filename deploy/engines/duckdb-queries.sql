-- SPDX-License-Identifier: ISC
-- duckdb-queries.sql - the first questions to a fleet's traces; load duckdb.sql first

-- 1 the slowest calls by container
SELECT coalesce(container_id, '') AS container, host, call, count(*) AS calls,
    max(us) AS most_us, quantile_disc(us, 0.99) AS p99_us
FROM calls
GROUP BY ALL
ORDER BY most_us DESC, container, host, call
LIMIT 20;

-- 2 how often calls fail, and with which error
SELECT host, call, count(*) AS calls, count(error) AS failed,
    round(100.0 * count(error) / count(*), 2) AS percent, mode(error) AS mostly
FROM calls
GROUP BY ALL
HAVING failed > 0
ORDER BY failed DESC, host, call
LIMIT 20;

-- 3 who talks to whom
SELECT from_host, from_comm, to_host, to_comm, count(*) AS messages
FROM messages
WHERE what = 'B'
GROUP BY ALL
ORDER BY messages DESC, from_host, from_comm, to_host, to_comm
LIMIT 20;

-- 4 what is missing: lost in the kernel, left out on purpose, lost on the way
WITH numbers AS ( -- sessions of one name may have had a number once each
    SELECT host, boot_id, session, seq, count(*) AS n
    FROM records
    GROUP BY ALL),
steps AS (
    SELECT *, max(n) OVER (PARTITION BY host, boot_id, session ORDER BY seq DESC) AS traces,
        seq - lag(seq, 1, 0) OVER (PARTITION BY host, boot_id, session ORDER BY seq) AS step
    FROM numbers),
missing AS (
    SELECT host, boot_id, session, sum(traces * step - n)::BIGINT AS numbers
    FROM steps
    GROUP BY ALL)
SELECT host, session,
    greatest(coalesce(sum(lost) FILTER (overwritten IS NULL), 0),
        coalesce(sum(lost) FILTER (overwritten IS NOT NULL), 0)) AS lost_events,
    coalesce(sum((fields ->> 'left_out')::BIGINT) FILTER (event = 'left_out'), 0) AS left_out,
    coalesce(any_value(missing.numbers) - left_out, 0) AS gaps
FROM records LEFT JOIN missing USING (host, boot_id, session)
GROUP BY host, boot_id, session
ORDER BY lost_events + left_out + gaps DESC, host, session;

-- 5 the tree of each request: its first message, and who served what for it
WITH RECURSIVE tree AS (
    SELECT key AS request, key, from_host, to_host, to_comm, 1 AS depth, received
    FROM messages
    WHERE what = 'B' AND coalesce(from_window, '') = ''
    UNION ALL
    SELECT tree.request, m.key, m.from_host, m.to_host, m.to_comm, depth + 1, m.received
    FROM tree
    JOIN messages m ON m.from_window = tree.key AND m.what = 'B'
    WHERE depth < 32)
SELECT request, depth, repeat('  ', depth - 1) || to_host AS served_by, to_comm, received
FROM tree
ORDER BY request, received;

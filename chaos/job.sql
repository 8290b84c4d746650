-- The job of SQL that is killed: windows, sessions and OVER into files; groups, groups of groups, joins of rows and of
-- groups, and the first rows of partitions into PostgreSQL. $INPUT, $OUTPUT and $DATABASE are replaced.

SET 'table.local-time-zone' = 'UTC';

CREATE TABLE events (
  id BIGINT, k STRING, t BIGINT, v BIGINT, ts AS TO_TIMESTAMP_LTZ(t, 3),
  WATERMARK FOR ts AS ts - INTERVAL '20' SECOND
) WITH ('connector' = 'filesystem', 'path' = '$INPUT', 'format' = 'csv', 'source.monitor-interval' = '100 ms');

CREATE TABLE seen (kind STRING, id BIGINT)
WITH ('connector' = 'filesystem', 'path' = '$OUTPUT/seen', 'format' = 'csv');

CREATE TABLE in_windows (kind STRING, k STRING, began STRING, n BIGINT, total BIGINT)
WITH ('connector' = 'filesystem', 'path' = '$OUTPUT/windows', 'format' = 'csv');

CREATE TABLE sums (kind STRING, id BIGINT, n BIGINT, total BIGINT)
WITH ('connector' = 'filesystem', 'path' = '$OUTPUT/over', 'format' = 'csv');

CREATE TABLE totals (k STRING, n BIGINT, total BIGINT, least BIGINT, different BIGINT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = '$DATABASE', 'table-name' = 'totals');

CREATE TABLE counts (n BIGINT, ks BIGINT, greatest STRING, PRIMARY KEY (n) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = '$DATABASE', 'table-name' = 'counts');

CREATE TABLE later (id BIGINT, other BIGINT, total BIGINT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = '$DATABASE', 'table-name' = 'later');

CREATE TABLE leaders (
  class BIGINT, place BIGINT, k STRING, total BIGINT, ks BIGINT, PRIMARY KEY (class, place) NOT ENFORCED
) WITH ('connector' = 'jdbc', 'url' = '$DATABASE', 'table-name' = 'leaders');

EXECUTE STATEMENT SET BEGIN
INSERT INTO seen SELECT 'seen', id FROM events;
INSERT INTO in_windows
  SELECT 'tumble', k, CAST(window_start AS STRING), COUNT(*), SUM(v)
  FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(ts), INTERVAL '2' SECOND)) GROUP BY k, window_start, window_end;
INSERT INTO in_windows
  SELECT 'hop', k, CAST(window_start AS STRING), COUNT(DISTINCT v), MAX(v)
  FROM TABLE(HOP(TABLE events, DESCRIPTOR(ts), INTERVAL '1' SECOND, INTERVAL '3' SECOND))
  GROUP BY k, window_start, window_end;
INSERT INTO in_windows
  SELECT 'session', k, CAST(window_start AS STRING), COUNT(*), SUM(v)
  FROM TABLE(SESSION(TABLE events PARTITION BY k, DESCRIPTOR(ts), INTERVAL '0.4' SECOND))
  GROUP BY k, window_start, window_end;
INSERT INTO sums
  SELECT 'over', id, COUNT(*) OVER three_seconds, SUM(v) OVER three_seconds FROM events
  WINDOW three_seconds AS (
    PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '3' SECOND PRECEDING AND CURRENT ROW
  );
INSERT INTO totals SELECT k, COUNT(*), SUM(v), MIN(v), COUNT(DISTINCT MOD(v, 100)) FROM events GROUP BY k;
INSERT INTO counts
  SELECT MOD(n, 10), COUNT(*), MAX(k) FROM (SELECT k, COUNT(*) AS n FROM events GROUP BY k) GROUP BY MOD(n, 10);
INSERT INTO later
  SELECT a.id, b.id, a.v + COALESCE(b.v, 0)
  FROM (SELECT id, k, v FROM events) a LEFT JOIN (SELECT id, k, v FROM events) b
  ON a.k = b.k AND a.id = b.id - 3 AND b.v > a.v
  ON CONFLICT DO DEDUPLICATE;
INSERT INTO leaders
  SELECT class, place, k, total, ks FROM (
    SELECT g.class, g.k, g.total, c.ks,
      ROW_NUMBER() OVER (PARTITION BY g.class ORDER BY g.total DESC, g.k) AS place
    FROM (SELECT k, MOD(COUNT(*), 10) AS class, SUM(v) AS total FROM events GROUP BY k) g
    JOIN (
      SELECT MOD(n, 10) AS class, COUNT(*) AS ks FROM (SELECT k, COUNT(*) AS n FROM events GROUP BY k) d
      GROUP BY MOD(n, 10)
    ) c ON g.class = c.class
  ) numbered WHERE place <= 3;
END;

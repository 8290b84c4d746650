-- The job of SQL that is killed: windows, sessions and OVER into files, groups and groups of groups into PostgreSQL.
-- $INPUT, $OUTPUT and $DATABASE are replaced.

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
END;

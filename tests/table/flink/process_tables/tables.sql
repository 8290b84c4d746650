CREATE TABLE events (ts TIMESTAMP(3), k STRING, v INT, w STRING, WATERMARK FOR ts AS ts - INTERVAL '4' SECOND)
WITH ('connector' = 'filesystem', 'path' = '{here}/events.csv', 'format' = 'csv', 'csv.null-literal' = 'null');
CREATE TABLE updated (k STRING, v INT)
WITH ('connector' = 'filesystem', 'path' = '{here}/updated.json', 'format' = 'debezium-json');
CREATE TABLE keyed (k STRING, v INT, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = '{here}/updated.json', 'format' = 'debezium-json');
CREATE TEMPORARY VIEW summed AS SELECT k, SUM(v) AS s FROM events GROUP BY k

CREATE TABLE t (a INT, b BIGINT, c STRING, d DECIMAL(10, 2), e DOUBLE, f BOOLEAN, g DATE, h TIME, i TIMESTAMP(6), j TIMESTAMP_LTZ(3), k FLOAT, l SMALLINT, m TINYINT, v VARCHAR(10), w CHAR(4), x BYTES) WITH ('connector' = 'filesystem', 'path' = '/tmp/none', 'format' = 'json');
CREATE TABLE s (a INT NOT NULL, b BIGINT NOT NULL, c STRING NOT NULL, d DECIMAL(10, 2) NOT NULL, e DOUBLE NOT NULL, f BOOLEAN NOT NULL, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'filesystem', 'path' = '/tmp/none', 'format' = 'json');
CREATE TABLE n (id INT, r ROW<x INT NOT NULL, y ROW<z STRING, q DOUBLE> NOT NULL>, ar ARRAY<INT NOT NULL>, ma MAP<STRING NOT NULL, BIGINT>, rn ROW<x INT, y STRING> NOT NULL, aw ARRAY<ROW<p INT, q STRING>>) WITH ('connector' = 'filesystem', 'path' = '/tmp/none', 'format' = 'json');
CREATE TABLE bid (auction BIGINT, bidder BIGINT NOT NULL, price DECIMAL(10, 2), channel STRING, bidtime TIMESTAMP(3), proc AS PROCTIME(), WATERMARK FOR bidtime AS bidtime - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = '/tmp/none', 'format' = 'json');
CREATE TABLE click (who STRING NOT NULL, at_ms BIGINT, moment AS TO_TIMESTAMP_LTZ(at_ms, 3), WATERMARK FOR moment AS moment) WITH ('connector' = 'filesystem', 'path' = '/tmp/none', 'format' = 'json');
CREATE TABLE `odd names` (`a b` INT, `select` BIGINT, `B` INT, b INT, EXPR$0 INT) WITH ('connector' = 'filesystem', 'path' = '/tmp/none', 'format' = 'json');
CREATE VIEW big AS SELECT auction, price * 2 AS twice, bidtime FROM bid WHERE price > 10;
CREATE VIEW named (uno, due) AS SELECT a, c FROM t;
CREATE TABLE part (a INT, p STRING, q INT) PARTITIONED BY (p, q) WITH ('connector' = 'filesystem', 'path' = '/tmp/none', 'format' = 'json');

-- The queries with lookup joins whose answers real Flink gave, over a database.

-- subject: one key
SELECT a, b, name FROM asked JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k;
SELECT a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k;
SELECT a, b, name FROM asked JOIN people_kept FOR SYSTEM_TIME AS OF asked.p AS x ON a = k;
SELECT a, b, name FROM asked LEFT JOIN people_kept FOR SYSTEM_TIME AS OF asked.p AS x ON a = k;
SELECT a, b, tag FROM asked JOIN tags FOR SYSTEM_TIME AS OF asked.p AS x ON b = grp;
SELECT a, b, tag FROM asked LEFT JOIN tags FOR SYSTEM_TIME AS OF asked.p AS x ON b = grp;
SELECT a, b, tag FROM asked LEFT JOIN tags_kept FOR SYSTEM_TIME AS OF asked.p AS x ON asked.c = x.c;
SELECT a, b, x.* FROM asked JOIN tags FOR SYSTEM_TIME AS OF asked.p AS x ON asked.c = x.c;
SELECT a, name FROM asked JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON asked.b = x.k;
SELECT a, name FROM asked JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON CAST(asked.b AS INT) = x.k;
SELECT a, name FROM asked JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON asked.a + 1 = x.k;
SELECT a, name FROM asked JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON asked.a = x.k + 1;
SELECT a, name FROM asked JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON x.k = 2;
SELECT a, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON x.k = 2 AND a = 1;
SELECT a, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON TRUE;

-- subject: several keys
SELECT a, b, tag FROM asked JOIN tags FOR SYSTEM_TIME AS OF asked.p AS x ON b = grp AND asked.c = x.c;
SELECT a, b, tag FROM asked LEFT JOIN tags FOR SYSTEM_TIME AS OF asked.p AS x ON b = grp AND asked.c = x.c;
SELECT a, b, tag FROM asked LEFT JOIN tags_kept FOR SYSTEM_TIME AS OF asked.p AS x ON b = grp AND asked.c = x.c;
SELECT a, b, tag FROM asked LEFT JOIN tags FOR SYSTEM_TIME AS OF asked.p AS x ON b = grp AND x.c = 'x';
SELECT a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k AND x.name = 'bob';
SELECT a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k AND b = grp;
SELECT a, b, tag FROM asked LEFT JOIN tags FOR SYSTEM_TIME AS OF asked.p AS x ON b = grp AND asked.c IS NOT DISTINCT FROM x.c;

-- subject: conditions besides keys
SELECT a, b, name FROM asked JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k AND b > grp;
SELECT a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k AND b > grp;
SELECT a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k AND name IS NOT NULL;
SELECT a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k AND b > 10;
SELECT a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k WHERE name IS NULL;
SELECT a, b, name FROM asked JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k WHERE grp = 10 AND b > 7;
SELECT a, b, tag FROM asked LEFT JOIN tags FOR SYSTEM_TIME AS OF asked.p AS x ON asked.c = x.c AND weight * 2 > a;
SELECT a, b, tag FROM asked LEFT JOIN tags_kept FOR SYSTEM_TIME AS OF asked.p AS x ON asked.c = x.c AND (weight > 1 OR tag = 'one');
SELECT a, b, tag FROM asked LEFT JOIN tags FOR SYSTEM_TIME AS OF asked.p AS x ON asked.c = x.c AND tag LIKE 't%';

-- subject: hints
SELECT /*+ LOOKUP('table'='people', 'retry-predicate'='lookup_miss', 'retry-strategy'='fixed_delay', 'fixed-delay'='10ms', 'max-attempts'='2') */ a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p ON a = k;
SELECT /*+ LOOKUP('table'='x', 'async'='false') */ a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k;
SELECT /*+ LOOKUP('table'='x', 'async'='true') */ a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k;
SELECT /*+ LOOKUP('table'='x', 'output-mode'='allow_unordered') */ a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k;
SELECT /*+ LOOKUP('table'='x', 'shuffle'='true') */ a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k;
SELECT /*+ LOOKUP('table'='nobody', 'async'='false') */ a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k;
SELECT /*+ LOOKUP('table'='x', 'retry-predicate'='lookup_miss') */ a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k;
SELECT /*+ LOOKUP('table'='x', 'max-attempts'='0', 'retry-predicate'='lookup_miss', 'retry-strategy'='fixed_delay', 'fixed-delay'='10ms') */ a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k;
SELECT /*+ LOOKUP('table'='x', 'whatever'='0') */ a, b, name FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k;

-- subject: what comes before and after
SELECT m, name FROM (SELECT a, MAX(b) AS m, PROCTIME() AS p FROM asked GROUP BY a) AS g JOIN people FOR SYSTEM_TIME AS OF g.p AS x ON g.a = x.k;
SELECT m, name FROM (SELECT a, MAX(b) AS m, PROCTIME() AS p FROM asked GROUP BY a) AS g LEFT JOIN people FOR SYSTEM_TIME AS OF g.p AS x ON g.a = x.k;
SELECT name, COUNT(*), SUM(b) FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k GROUP BY name;
SELECT a, name, tag FROM asked JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k JOIN tags FOR SYSTEM_TIME AS OF asked.p AS y ON x.grp = y.grp;
SELECT a, name, tag FROM asked LEFT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k LEFT JOIN tags FOR SYSTEM_TIME AS OF asked.p AS y ON x.grp = y.grp AND asked.c = y.c;
SELECT a, name FROM asked RIGHT JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k;
SELECT a, name FROM asked FULL JOIN people FOR SYSTEM_TIME AS OF asked.p AS x ON a = k;
SELECT a, n FROM asked LEFT JOIN (SELECT k, UPPER(name) AS n FROM people) FOR SYSTEM_TIME AS OF asked.p AS x ON a = k;
SELECT a FROM asked WHERE a IN (SELECT k FROM people FOR SYSTEM_TIME AS OF asked.p);
SELECT a, name FROM asked, people FOR SYSTEM_TIME AS OF asked.p AS x WHERE a = k AND grp IS NOT NULL;
SELECT a, name FROM asked JOIN people FOR SYSTEM_TIME AS OF PROCTIME() AS x ON a = k;

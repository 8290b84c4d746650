-- The queries whose answers real Flink gave, by subject. Each has one answer: none
-- depends on the order of rows, unless event time orders them.

-- subject: projections
SELECT id, customer FROM orders;
SELECT * FROM orders WHERE id < 5;
SELECT id + 1 AS a, quantity * 2, -quantity FROM orders WHERE quantity > 1;
SELECT id, price * quantity, price / 3, price + 1 FROM orders WHERE price IS NOT NULL;
SELECT id, CASE WHEN quantity > 2 THEN 'many' WHEN quantity IS NULL THEN 'none' ELSE 'few' END FROM orders;
SELECT id, CASE product WHEN 'tea' THEN 1 WHEN 'milk' THEN 2 END FROM orders;
SELECT id FROM orders WHERE customer = 'ann' AND rush;
SELECT id FROM orders WHERE customer = 'ann' OR rush IS NOT TRUE;
SELECT id FROM orders WHERE NOT (quantity > 1 OR rush);
SELECT id FROM orders WHERE quantity BETWEEN 2 AND 5;
SELECT id FROM orders WHERE quantity NOT BETWEEN 2 AND 5;
SELECT id FROM orders WHERE product IN ('tea', 'Öl');
SELECT id FROM orders WHERE product NOT IN ('tea', 'Öl');
SELECT id FROM orders WHERE product LIKE '%il%';
SELECT id FROM orders WHERE customer IS DISTINCT FROM 'ann';
SELECT id, COALESCE(customer, product, 'nobody') FROM orders;
SELECT id, UPPER(product), LOWER(customer), CHAR_LENGTH(product) FROM orders;
SELECT id, SUBSTRING(product FROM 2), SUBSTRING(product, 1, 2), product || '-' || customer FROM orders;
SELECT id, CAST(quantity AS STRING), CAST(price AS STRING), CAST(weight AS STRING) FROM orders;
SELECT id, CAST(price AS INT), CAST(weight AS BIGINT), CAST(quantity AS DOUBLE) FROM orders;
SELECT id, TRY_CAST(customer AS INT), TRY_CAST(CAST(id AS STRING) AS INT) FROM orders;
SELECT id, `day` + INTERVAL '1' DAY, EXTRACT(MONTH FROM `day`), EXTRACT(DAY FROM ts) FROM orders;
SELECT id, FLOOR(ts TO MINUTE), CEIL(ts TO MINUTE), ts + INTERVAL '1' HOUR FROM orders;
SELECT id, ABS(weight), FLOOR(weight), CEIL(price), ROUND(price, 1), MOD(id, 7) FROM orders;
SELECT id, IF(rush, 'fast', 'slow'), NULLIF(quantity, 2) FROM orders;
SELECT id, ROW(customer, quantity), ARRAY[id, id + 1], MAP['a', id] FROM orders WHERE id < 4;
SELECT DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm'), id FROM orders;
SELECT id, GREATEST(quantity, 2), LEAST(quantity, 2) FROM orders;
WITH few AS (SELECT id, customer FROM orders WHERE id < 9) SELECT customer FROM few WHERE customer <> 'bob';
SELECT a FROM (SELECT id * 2 AS a FROM orders) WHERE a > 100;
SELECT id FROM orders WHERE id < 3 UNION ALL SELECT id FROM orders WHERE id > 76;
SELECT id, customer FROM orders WHERE id < 3 UNION ALL SELECT 1000, 'x';
SELECT * FROM (VALUES (1, 'a'), (2, 'b'), (3, CAST(NULL AS STRING))) AS t(n, s);
SELECT 1, 'text', TRUE, 1.5, CAST(NULL AS INT);

-- subject: distinct
SELECT DISTINCT customer FROM orders;
SELECT DISTINCT customer, product FROM orders;
SELECT DISTINCT price FROM orders WHERE quantity > 1;
SELECT DISTINCT quantity IS NULL FROM orders;
SELECT COUNT(*) FROM (SELECT DISTINCT customer, product FROM orders);

-- subject: groups
SELECT customer, COUNT(*) FROM orders GROUP BY customer;
SELECT customer, product, COUNT(*), COUNT(quantity), SUM(quantity) FROM orders GROUP BY customer, product;
SELECT customer, SUM(price), AVG(price), MIN(price), MAX(price) FROM orders GROUP BY customer;
SELECT customer, SUM(weight), AVG(weight), MIN(weight), MAX(weight) FROM orders GROUP BY customer;
SELECT customer, SUM(quantity), AVG(quantity), MIN(quantity), MAX(quantity) FROM orders GROUP BY customer;
SELECT product, MIN(customer), MAX(customer), MIN(`day`), MAX(ts) FROM orders GROUP BY product;
SELECT product, MIN(rush), MAX(rush) FROM orders GROUP BY product;
SELECT COUNT(*), SUM(quantity), MAX(price) FROM orders;
SELECT COUNT(*), SUM(quantity), MAX(price) FROM orders WHERE id < 0;
SELECT customer, COUNT(*) FROM orders WHERE id < 0 GROUP BY customer;
SELECT quantity, price, COUNT(*) FROM orders GROUP BY quantity, price;
SELECT weight, COUNT(*) FROM orders GROUP BY weight;
SELECT `day`, rush, COUNT(*) FROM orders GROUP BY `day`, rush;
SELECT id / 10, COUNT(*), SUM(id) FROM orders GROUP BY id / 10;
SELECT UPPER(customer) AS c, COUNT(*) AS n FROM orders GROUP BY UPPER(customer);
SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer HAVING COUNT(*) > 12;
SELECT customer, SUM(quantity) FROM orders GROUP BY customer HAVING SUM(quantity) > 20 AND MIN(id) < 6;
SELECT customer, COUNT(*) * 2 + 1, SUM(quantity) / COUNT(*) FROM orders GROUP BY customer;
SELECT customer, COUNT(*) FILTER (WHERE rush), SUM(quantity) FILTER (WHERE product = 'tea') FROM orders GROUP BY
  customer;
SELECT COUNT(*) FILTER (WHERE rush), COUNT(*) FILTER (WHERE NOT rush) FROM orders;
SELECT customer, COUNT(DISTINCT product) FROM orders GROUP BY customer;
SELECT customer, COUNT(DISTINCT product), SUM(DISTINCT quantity), COUNT(*) FROM orders GROUP BY customer;
SELECT customer, AVG(DISTINCT quantity), MIN(DISTINCT price) FROM orders GROUP BY customer;
SELECT COUNT(DISTINCT customer), COUNT(DISTINCT quantity) FROM orders;
SELECT customer, COUNT(DISTINCT product) FILTER (WHERE rush) FROM orders GROUP BY customer;
SELECT product, STDDEV_POP(quantity), STDDEV_SAMP(quantity), VAR_POP(quantity), VAR_SAMP(quantity) FROM orders GROUP
  BY product;
SELECT product, STDDEV_POP(weight), VAR_SAMP(weight) FROM orders GROUP BY product;
SELECT customer, SUM(id), MAX(id), MIN(id), AVG(id) FROM orders GROUP BY customer;
SELECT customer, SUM(CAST(quantity AS SMALLINT)), SUM(CAST(quantity AS TINYINT)) FROM orders GROUP BY customer;
SELECT customer, SUM(CAST(weight AS FLOAT)), AVG(CAST(weight AS FLOAT)) FROM orders GROUP BY customer;
SELECT customer, SUM(price * quantity) FROM orders GROUP BY customer;
SELECT customer, AVG(price * quantity), MAX(price - 1) FROM orders GROUP BY customer;
SELECT SUM(a) FROM (VALUES (9223372036854775807), (1)) AS t(a);
SELECT PI, pi + 1, t.pi, `pi` FROM (VALUES (1)) AS t(pi) WHERE PI > 3;
SELECT AVG(a), SUM(a) FROM (VALUES (2147483647), (2147483647)) AS t(a);
SELECT SUM(a), COUNT(a) FROM (VALUES (CAST(NULL AS INT)), (CAST(NULL AS INT))) AS t(a);

-- subject: grouping sets
SELECT customer, product, COUNT(*) FROM orders GROUP BY GROUPING SETS ((customer), (product), ());
SELECT customer, product, COUNT(*) FROM orders GROUP BY ROLLUP (customer, product);
SELECT customer, product, SUM(quantity) FROM orders GROUP BY CUBE (customer, product);
SELECT customer, product, GROUPING(customer), GROUPING(product), GROUPING_ID(customer, product), COUNT(*) FROM orders
  GROUP BY CUBE (customer, product);
SELECT customer, rush, COUNT(DISTINCT product) FROM orders GROUP BY GROUPING SETS ((customer, rush), (rush));
SELECT customer, COUNT(*) FROM orders GROUP BY GROUPING SETS ((customer), ()) HAVING COUNT(*) > 12;
SELECT customer, product, COUNT(*) FROM orders GROUP BY GROUPING SETS ((customer, product), (customer, product));
SELECT customer, product, SUM(quantity), GROUP_ID() FROM orders
  GROUP BY GROUPING SETS ((customer, product), (), (customer, product), (customer), (product, customer));
SELECT customer, COUNT(*), GROUP_ID() + 1 FROM orders GROUP BY customer HAVING GROUP_ID() = 0;
SELECT customer, product, GROUP_ID(), GROUPING_ID(customer, product) FROM orders GROUP BY CUBE (customer, product);
SELECT COUNT(*), GROUP_ID() FROM orders;
SELECT window_start, customer, COUNT(*), GROUP_ID() FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR))
  GROUP BY window_start, window_end, GROUPING SETS ((customer), ());
SELECT id, CAST((`day` - DATE '2026-01-15') DAY AS STRING), ts - (ts - TIMESTAMP '2026-01-01 00:00:30') SECOND FROM orders
  WHERE id < 20;

-- subject: updating input
SELECT customer, COUNT(*), SUM(n), SUM(q) FROM (SELECT customer, product, COUNT(*) AS n, SUM(quantity) AS q FROM
  orders GROUP BY customer, product) GROUP BY customer;
SELECT n, COUNT(*) FROM (SELECT customer, product, COUNT(*) AS n, SUM(quantity) AS q FROM orders GROUP BY customer,
  product) GROUP BY n;
SELECT n, COUNT(*), MIN(customer), MAX(product) FROM (SELECT customer, product, COUNT(*) AS n, SUM(quantity) AS q FROM
  orders GROUP BY customer, product) GROUP BY n;
SELECT MAX(n), MIN(n), AVG(n) FROM (SELECT customer, product, COUNT(*) AS n, SUM(quantity) AS q FROM orders GROUP BY
  customer, product);
SELECT customer, MAX(q), MIN(q) FROM (SELECT customer, product, COUNT(*) AS n, SUM(quantity) AS q FROM orders GROUP BY
  customer, product) GROUP BY customer;
SELECT customer, COUNT(DISTINCT n), SUM(DISTINCT q) FROM (SELECT customer, product, COUNT(*) AS n, SUM(quantity) AS q
  FROM orders GROUP BY customer, product) GROUP BY customer;
SELECT n FROM (SELECT customer, product, COUNT(*) AS n, SUM(quantity) AS q FROM orders GROUP BY customer, product)
  WHERE n > 3;
SELECT DISTINCT n FROM (SELECT customer, product, COUNT(*) AS n, SUM(quantity) AS q FROM orders GROUP BY customer,
  product);
SELECT customer, COUNT(*) FROM (SELECT customer, product, COUNT(*) AS n, SUM(quantity) AS q FROM orders GROUP BY
  customer, product) WHERE n > 2 GROUP BY customer;
SELECT c, COUNT(*) FROM (SELECT n, COUNT(*) AS c FROM (SELECT customer, product, COUNT(*) AS n, SUM(quantity) AS q
  FROM orders GROUP BY customer, product) GROUP BY n) GROUP BY c;
SELECT COUNT(*) FILTER (WHERE n > 3), SUM(n) FROM (SELECT customer, product, COUNT(*) AS n, SUM(quantity) AS q FROM
  orders GROUP BY customer, product);
SELECT customer, n FROM (SELECT customer, product, COUNT(*) AS n, SUM(quantity) AS q FROM orders GROUP BY customer,
  product) UNION ALL SELECT product, n FROM (SELECT customer, product, COUNT(*) AS n, SUM(quantity) AS q FROM orders
  GROUP BY customer, product);
SELECT CASE WHEN n > 3 THEN 'many' ELSE 'few' END, SUM(q) FROM (SELECT customer, product, COUNT(*) AS n, SUM(quantity)
  AS q FROM orders GROUP BY customer, product) GROUP BY CASE WHEN n > 3 THEN 'many' ELSE 'few' END;
SELECT customer, product, SUM(n) FROM (SELECT customer, product, COUNT(*) AS n, SUM(quantity) AS q FROM orders GROUP
  BY customer, product) GROUP BY ROLLUP (customer, product);

-- subject: tumble
SELECT window_start, window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP
  BY window_start, window_end;
SELECT customer, window_end, COUNT(*), SUM(quantity) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1'
  MINUTE)) GROUP BY customer, window_start, window_end;
SELECT customer, window_start, AVG(price), MIN(weight), MAX(product) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts),
  INTERVAL '1' MINUTE)) GROUP BY customer, window_start, window_end;
SELECT product, window_start, COUNT(DISTINCT customer) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1'
  MINUTE)) GROUP BY product, window_start, window_end;
SELECT id, window_start, window_end, window_time FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  WHERE id < 12;
SELECT customer, window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) WHERE
  quantity > 1 GROUP BY customer, window_start, window_end;
SELECT customer, window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY customer, window_start, window_end HAVING COUNT(*) > 1;
SELECT window_start, SUM(quantity) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '10'
  SECOND)) GROUP BY window_start, window_end;
SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(DATA => TABLE orders, TIMECOL => DESCRIPTOR(ts), SIZE => INTERVAL '2'
  MINUTES)) GROUP BY window_start, window_end;
SELECT customer, window_start, product, COUNT(*) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
  GROUP BY window_start, window_end, GROUPING SETS ((customer), (product));

-- subject: hop and cumulate
SELECT window_start, window_end, COUNT(*), SUM(quantity) FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '30'
  SECOND, INTERVAL '90' SECOND)) GROUP BY window_start, window_end;
SELECT customer, window_end, COUNT(*), MAX(price) FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND,
  INTERVAL '90' SECOND)) GROUP BY customer, window_start, window_end;
SELECT product, window_start, AVG(weight), COUNT(DISTINCT customer) FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts),
  INTERVAL '30' SECOND, INTERVAL '90' SECOND)) GROUP BY product, window_start, window_end;
SELECT id, window_start, window_end FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '30' SECOND, INTERVAL '90'
  SECOND)) WHERE id > 70;
SELECT window_start, window_end, COUNT(*), MIN(price) FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1'
  MINUTE, INTERVAL '3' MINUTE)) GROUP BY window_start, window_end;
SELECT customer, window_start, window_end, SUM(quantity) FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL
  '1' MINUTE, INTERVAL '3' MINUTE)) GROUP BY customer, window_start, window_end;
SELECT id, window_start, window_end FROM TABLE(CUMULATE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL
  '3' MINUTE)) WHERE id < 6;

-- subject: sessions
SELECT customer, window_start, window_end, COUNT(*) FROM TABLE(SESSION(TABLE orders PARTITION BY customer,
  DESCRIPTOR(ts), INTERVAL '15' SECOND)) GROUP BY customer, window_start, window_end;
SELECT customer, window_start, window_end, SUM(quantity), MAX(price), AVG(weight) FROM TABLE(SESSION(TABLE orders
  PARTITION BY customer, DESCRIPTOR(ts), INTERVAL '15' SECOND)) GROUP BY customer, window_start, window_end;
SELECT window_start, window_end, COUNT(*) FROM TABLE(SESSION(TABLE orders, DESCRIPTOR(ts), INTERVAL '6' SECOND)) GROUP
  BY window_start, window_end;

-- subject: cascades
SELECT window_start, window_end, SUM(n) FROM TABLE(TUMBLE((SELECT window_time AS t, COUNT(*) AS n FROM
  TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, window_time),
  DESCRIPTOR(t), INTERVAL '3' MINUTE)) GROUP BY window_start, window_end;
SELECT window_start, window_end, COUNT(*), SUM(n) FROM (SELECT customer, window_start, window_end, COUNT(*) AS n FROM
  TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY customer, window_start, window_end) GROUP
  BY window_start, window_end;
SELECT customer, COUNT(*), SUM(n) FROM (SELECT customer, window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE orders,
  DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY customer, window_start, window_end) GROUP BY customer;

-- subject: legacy windows
SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE), COUNT(*) FROM orders GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE);
SELECT customer, TUMBLE_END(ts, INTERVAL '1' MINUTE), SUM(quantity), TUMBLE_ROWTIME(ts, INTERVAL '1' MINUTE) FROM
  orders GROUP BY customer, TUMBLE(ts, INTERVAL '1' MINUTE);
SELECT customer, HOP_START(ts, INTERVAL '30' SECOND, INTERVAL '90' SECOND), COUNT(*), MIN(price) FROM orders GROUP BY
  customer, HOP(ts, INTERVAL '30' SECOND, INTERVAL '90' SECOND);
SELECT customer, SESSION_START(ts, INTERVAL '15' SECOND), SESSION_END(ts, INTERVAL '15' SECOND), COUNT(*),
  AVG(quantity) FROM orders GROUP BY customer, SESSION(ts, INTERVAL '15' SECOND);
SELECT customer, COUNT(DISTINCT product) FROM orders GROUP BY customer, TUMBLE(ts, INTERVAL '2' MINUTE);

-- subject: over
SELECT id, COUNT(*) OVER (PARTITION BY customer ORDER BY ts) FROM orders;
SELECT id, SUM(quantity) OVER (PARTITION BY customer ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
  FROM orders;
SELECT id, SUM(quantity) OVER (PARTITION BY customer ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), MIN(price)
  OVER (PARTITION BY customer ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM orders;
SELECT id, AVG(weight) OVER (PARTITION BY product ORDER BY ts RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT
  ROW) FROM orders;
SELECT id, MAX(quantity) OVER w, COUNT(quantity) OVER w FROM orders WINDOW w AS (PARTITION BY product ORDER BY ts ROWS
  BETWEEN 4 PRECEDING AND CURRENT ROW);
SELECT id, COUNT(*) OVER (ORDER BY ts) FROM orders;
SELECT id, LAG(quantity) OVER (PARTITION BY customer ORDER BY ts), LAG(id, 2) OVER (PARTITION BY customer ORDER BY ts)
  FROM orders;
SELECT id, FIRST_VALUE(id) OVER (PARTITION BY customer ORDER BY ts), LAST_VALUE(id) OVER (PARTITION BY customer ORDER
  BY ts) FROM orders;
SELECT customer, n, SUM(n) OVER (PARTITION BY customer ORDER BY t) FROM (SELECT customer, window_time AS t, COUNT(*)
  AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY customer, window_start,
  window_end, window_time);

-- subject: a small table
SELECT a, b FROM t WHERE b > 9;
SELECT a + 1, UPPER(c), d * 2 FROM t;
SELECT a, CASE WHEN b > 10 THEN 'much' WHEN b IS NULL THEN 'none' ELSE 'few' END FROM t;
SELECT DISTINCT a FROM t;
SELECT DISTINCT a, c FROM t WHERE f;
SELECT COUNT(*), COUNT(a), COUNT(DISTINCT a), SUM(b), AVG(b), MIN(b), MAX(b) FROM t;
SELECT a, COUNT(*) FROM t GROUP BY a;
SELECT a, COUNT(b), SUM(b), AVG(b), MIN(b), MAX(b) FROM t GROUP BY a;
SELECT a, SUM(d), AVG(d), MIN(d), MAX(d) FROM t GROUP BY a;
SELECT a, SUM(e), AVG(e), MIN(e), MAX(e) FROM t GROUP BY a;
SELECT a, MIN(c), MAX(c), COUNT(DISTINCT c) FROM t GROUP BY a;
SELECT c, f, COUNT(*) FROM t GROUP BY c, f;
SELECT f, COUNT(*), COUNT(f) FROM t GROUP BY f;
SELECT a, SUM(DISTINCT b), COUNT(DISTINCT b), COUNT(DISTINCT d) FROM t GROUP BY a;
SELECT a, COUNT(*) FILTER (WHERE b > 9), SUM(b) FILTER (WHERE f) FROM t GROUP BY a;
SELECT a, COUNT(*) AS n FROM t GROUP BY a HAVING COUNT(*) > 2;
SELECT a, SUM(b) FROM t GROUP BY a HAVING MAX(b) < 25 AND a IS NOT NULL;
SELECT a + 1, COUNT(*) FROM t GROUP BY a + 1;
SELECT n, COUNT(*) FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) GROUP BY n;
SELECT n, SUM(s), MIN(s), MAX(s) FROM (SELECT a, COUNT(*) AS n, SUM(b) AS s FROM t GROUP BY a) GROUP BY n;
SELECT MAX(n), MIN(n), SUM(n), COUNT(DISTINCT n) FROM (SELECT c, COUNT(*) AS n FROM t GROUP BY c);
SELECT m, COUNT(*) FROM (SELECT n, COUNT(*) AS m FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) GROUP BY n) GROUP BY
  m;
SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) WHERE n > 2 AND a > 0;
SELECT a, c, COUNT(*), SUM(b) FROM t GROUP BY GROUPING SETS ((a, c), (a), ());
SELECT a, c, COUNT(*), GROUPING(a), GROUPING(c), GROUPING_ID(a, c) FROM t GROUP BY CUBE (a, c);
SELECT a, SUM(a), COUNT(*) FROM t GROUP BY ROLLUP (a);
SELECT a, f, MAX(b) FROM t GROUP BY GROUPING SETS ((a), (f));
SELECT a FROM t UNION ALL SELECT CAST(b AS INT) FROM t;
SELECT a, COUNT(*) FROM (SELECT a FROM t UNION ALL SELECT CAST(b AS INT) FROM t) GROUP BY a;
SELECT SUM(n) FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a UNION ALL SELECT a, b FROM t);
WITH w AS (SELECT a, COUNT(*) AS n FROM t GROUP BY a) SELECT n, MAX(a) FROM w GROUP BY n;
SELECT x, y + 1 FROM (VALUES (1, 2), (3, 4)) AS v(x, y);
SELECT x, COUNT(*) FROM (VALUES (1), (1), (2)) AS v(x) GROUP BY x;
SELECT 1 + 1, 'a' || 'b';
SELECT a, STDDEV_POP(b), VAR_SAMP(b) FROM t WHERE a < 3 GROUP BY a;
SELECT COUNT(*) FROM t WHERE FALSE;
SELECT a, COUNT(*) FROM t WHERE FALSE GROUP BY a;

-- subject: a small stream
SELECT k, window_start, window_end, COUNT(*), SUM(v) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10'
  SECOND)) GROUP BY k, window_start, window_end;
SELECT window_start, window_end, MAX(v), COUNT(DISTINCT k) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10'
  SECOND, INTERVAL '3' SECOND)) GROUP BY window_start, window_end;
SELECT k, window_start, window_end, AVG(v) FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL
  '10' SECOND)) GROUP BY k, window_start, window_end;
SELECT k, window_start, window_end, MIN(v) FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND,
  INTERVAL '30' SECOND)) GROUP BY k, window_start, window_end;
SELECT k, window_start, window_end, SUM(v) FROM TABLE(SESSION(TABLE bid PARTITION BY k, DESCRIPTOR(ts), INTERVAL '8'
  SECOND)) GROUP BY k, window_start, window_end;
SELECT k, v, window_start, window_end, window_time FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10'
  SECOND));
SELECT k, v, window_start FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) WHERE
  v > 5;
SELECT window_start, window_end, SUM(n), MAX(n) FROM (SELECT k, window_start, window_end, COUNT(*) AS n FROM
  TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end) GROUP BY
  window_start, window_end;
SELECT window_start, window_end, k, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP
  BY GROUPING SETS ((window_start, window_end, k), (window_start, window_end));
SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_end;
SELECT k, COUNT(*) FROM (SELECT k, window_start, window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE bid,
  DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end) GROUP BY k;
SELECT window_start, window_end, COUNT(*) FROM (SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10'
  SECOND)) WHERE v > 3 AND window_start >= TIMESTAMP '2024-01-01 00:00:10') GROUP BY window_start, window_end;
SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND), TUMBLE_END(ts, INTERVAL '10' SECOND), TUMBLE_ROWTIME(ts, INTERVAL
  '10' SECOND), COUNT(*) FROM bid GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);
SELECT HOP_START(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND), SUM(v) FROM bid GROUP BY HOP(ts, INTERVAL '5' SECOND,
  INTERVAL '10' SECOND);
SELECT k, SESSION_START(ts, INTERVAL '8' SECOND), SESSION_END(ts, INTERVAL '8' SECOND), COUNT(*) FROM bid GROUP BY k,
  SESSION(ts, INTERVAL '8' SECOND);
SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM bid;
SELECT k, v, COUNT(*) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM bid;
SELECT k, v, MAX(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW)
  FROM bid;

-- subject: a small join
SELECT x.a, x.b, y.a, y.c FROM t AS x JOIN t AS y ON x.a = y.a;
SELECT x.a, x.b, y.b FROM t AS x JOIN t AS y ON x.a = y.a AND x.b < y.b;
SELECT x.a, x.b, y.b FROM t AS x, t AS y WHERE x.a = y.a AND x.b > y.b;
SELECT x.a, x.b, y.b FROM t AS x LEFT JOIN t AS y ON x.a = y.a AND x.b < y.b;
SELECT x.a, x.b, y.b FROM t AS x RIGHT JOIN t AS y ON x.a = y.a AND x.b < y.b;
SELECT x.a, x.b, y.a, y.b FROM t AS x FULL JOIN t AS y ON x.a = y.a AND x.b + 1 = y.b;
SELECT x.a, k, v FROM t AS x FULL OUTER JOIN bid ON x.a = k;
SELECT * FROM t JOIN bid ON t.a = bid.k;
SELECT t.*, v FROM t LEFT JOIN bid ON t.a = bid.k AND v > 7;
SELECT * FROM t AS x JOIN t AS y ON x.c = y.c AND x.e = y.e;
SELECT x.a, y.a FROM t AS x CROSS JOIN t AS y WHERE x.a < 2 AND y.b > 20;
SELECT x.c, y.c FROM t AS x JOIN t AS y ON x.b < y.b WHERE x.a = 1;
SELECT x.a, x.b, y.b FROM t AS x LEFT JOIN t AS y ON x.b < y.b AND y.a = 3;
SELECT x.a, y.b FROM t AS x LEFT JOIN t AS y ON FALSE;
SELECT x.a, y.a FROM t AS x JOIN t AS y ON x.a IS NOT DISTINCT FROM y.a;
SELECT x.a, y.a, y.b FROM t AS x LEFT JOIN t AS y ON x.a IS NOT DISTINCT FROM y.a AND x.b = y.b;
SELECT a, x.b, y.b FROM t AS x JOIN t AS y USING (a);
SELECT * FROM t AS x JOIN t AS y USING (a, b);
SELECT a, x.b, y.b FROM t AS x LEFT JOIN t AS y USING (a);
SELECT a, n, v FROM t FULL JOIN (SELECT k AS a, v, v + 1 AS n FROM bid) AS y USING (a);
SELECT * FROM (SELECT a, b FROM t) AS x NATURAL JOIN (SELECT a, d FROM t) AS y;
SELECT * FROM (SELECT a, b FROM t) AS x NATURAL FULL JOIN (SELECT k AS a, v FROM bid) AS y;
SELECT x.a, y.v, z.v FROM t AS x JOIN bid AS y ON x.a = y.k JOIN bid AS z ON y.v = z.v + 1;
SELECT x.a, y.v, z.b FROM t AS x LEFT JOIN bid AS y ON x.a = y.k LEFT JOIN t AS z ON z.b = y.v;
SELECT x.a, y.k, z.b FROM t AS x JOIN (bid AS y LEFT JOIN t AS z ON y.v = z.b) ON x.a = y.k;
SELECT x.a, y.k, z.k FROM t AS x, bid AS y, bid AS z WHERE x.a = y.k AND y.k = z.k AND y.v < z.v;
SELECT x.a, x.b, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k WHERE y.v > 5;
SELECT x.a, x.b, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k WHERE y.v IS NULL;
SELECT x.a, x.b, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k WHERE y.v IS NULL OR y.v > 9;
SELECT x.a, y.v FROM t AS x FULL JOIN bid AS y ON x.a = y.k WHERE x.a > 1;
SELECT x.a, y.v FROM t AS x FULL JOIN bid AS y ON x.a = y.k WHERE x.a + y.k > 1;
SELECT x.b, y.v FROM t AS x JOIN bid AS y ON x.b = y.v;
SELECT x.d, y.v FROM t AS x JOIN bid AS y ON x.d = y.v * 1.5;
SELECT x.e, y.k FROM t AS x JOIN bid AS y ON x.e = y.k;
SELECT x.a, y.k FROM t AS x JOIN bid AS y ON x.a + 1 = y.k - 1;
SELECT x.c, y.k FROM t AS x JOIN bid AS y ON CHAR_LENGTH(x.c) = y.k;
SELECT x.a, y.n FROM t AS x JOIN (SELECT k, COUNT(*) AS n FROM bid GROUP BY k) AS y ON x.a = y.k;
SELECT x.a, y.n FROM t AS x LEFT JOIN (SELECT k, COUNT(*) AS n FROM bid GROUP BY k HAVING COUNT(*) > 2) AS y ON x.a = y.k;
SELECT x.a, x.n, y.n FROM (SELECT a, SUM(b) AS n FROM t GROUP BY a) AS x FULL JOIN (SELECT k, MAX(v) AS n FROM bid GROUP BY k) AS y ON x.a = y.k;
SELECT a, COUNT(*), SUM(v), MIN(v) FROM t JOIN bid ON t.a = bid.k GROUP BY a;
SELECT a, COUNT(v), MAX(v) FROM t LEFT JOIN bid ON t.a = bid.k GROUP BY a;
SELECT COUNT(*), COUNT(y.a) FROM t AS x LEFT JOIN t AS y ON x.b = y.b;
SELECT DISTINCT x.c FROM t AS x JOIN bid AS y ON x.a = y.k;
SELECT x.a, y.a FROM t AS x JOIN (VALUES (1, 'x'), (2, 'y'), (7, 'q')) AS y(a, s) ON x.a = y.a;
SELECT y.a, y.s, x.b FROM t AS x RIGHT JOIN (VALUES (1, 'x'), (2, 'y'), (7, 'q')) AS y(a, s) ON x.a = y.a AND x.c = y.s;
SELECT x.customer, y.product, COUNT(*) FROM orders AS x JOIN orders AS y ON x.customer = y.customer AND x.id < y.id GROUP BY x.customer, y.product;
SELECT x.id, y.id FROM orders AS x LEFT JOIN orders AS y ON x.product = y.product AND x.price < y.price AND y.rush;
SELECT x.id, y.id FROM orders AS x FULL JOIN orders AS y ON x.quantity = y.quantity AND x.weight = y.weight AND x.id <> y.id;
SELECT x.f, y.f FROM t AS x JOIN t AS y ON x.f = y.f WHERE x.a = 1 AND y.a = 2;
SELECT x.a FROM t AS x JOIN t AS y ON x.f AND y.a = 3;
SELECT id FROM orders AS x JOIN orders AS y ON x.id = y.id;
SELECT x.zzz FROM t AS x JOIN bid AS y ON x.a = y.k;
SELECT x.a FROM t AS x JOIN bid AS y ON x.a;
SELECT x.a FROM t AS x JOIN bid AS y ON x.c = y.k;
SELECT x.a FROM t AS x JOIN bid AS y USING (a);
SELECT x.k, x.ts, y.v FROM bid AS x JOIN bid AS y ON x.k = y.k AND x.v = y.v;
SELECT x.k, y.k, x.ts FROM bid AS x LEFT JOIN bid AS y ON x.k = y.v;

-- subject: a small rank
SELECT a, b FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC, e, c) AS n FROM t) WHERE n <= 2;
SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC, e, c) AS n FROM t) WHERE n <= 2;
SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE n < 3;
SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE n = 2;
SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE n BETWEEN 2 AND 3;
SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE 3 >= n AND b > 5;
SELECT c, d, n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY d DESC, b, e) AS n FROM t) WHERE n <= 4;
SELECT a, b, n FROM (SELECT *, RANK() OVER (PARTITION BY a ORDER BY b) AS n FROM t) WHERE n <= 2;
SELECT a, b, n FROM (SELECT *, DENSE_RANK() OVER (PARTITION BY a ORDER BY b) AS n FROM t) WHERE n <= 2;
SELECT a, b FROM (SELECT *, RANK() OVER (PARTITION BY a ORDER BY b) AS n FROM t) WHERE n <= 2;
SELECT a, m, n FROM (SELECT a, m, ROW_NUMBER() OVER (ORDER BY m DESC, a) AS n FROM (SELECT a, COUNT(*) AS m FROM t GROUP BY a)) WHERE n <= 2;
SELECT a, m FROM (SELECT a, m, ROW_NUMBER() OVER (ORDER BY m, a) AS n FROM (SELECT a, MAX(b) AS m FROM t GROUP BY a)) WHERE n <= 3;
SELECT c, a, s FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY c ORDER BY s DESC, a) AS n FROM (SELECT c, a, SUM(b) AS s FROM t GROUP BY c, a)) WHERE n = 1;
SELECT customer, id, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY price DESC, id) AS n FROM orders) WHERE n <= 3;
SELECT customer, product, m, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY m DESC, product) AS n FROM (SELECT customer, product, SUM(quantity) AS m FROM orders GROUP BY customer, product)) WHERE n <= 2;
SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM bid) WHERE n = 1;
SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM bid) WHERE n = 1;
SELECT k, v, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM bid) WHERE n <= 2;
SELECT COUNT(*), SUM(v) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM bid) WHERE n = 1;
SELECT k, v, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) AS n FROM bid) WHERE n > 1;
SELECT a, b FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC, e, c) = 1;
SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE n <= a;
SELECT a, b FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC, e, c) AS n FROM t) WHERE a >= n AND b > 5;
SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE n < a;
SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE n = a;
SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY c ORDER BY b, e, c) AS n FROM t) WHERE n <= a;
SELECT a, c, s, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY s DESC, c) AS n FROM (SELECT a, c, SUM(b) AS s FROM t GROUP BY a, c)) WHERE n <= a;
SELECT q, v, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY q ORDER BY v, ts) AS n FROM (SELECT CAST(k AS BIGINT) AS q, v, ts FROM bid)) WHERE n <= q AND n <= 3;

-- subject: a small first row
SELECT k, v, ts FROM first_bid;
SELECT k, COUNT(*), SUM(v) FROM first_bid GROUP BY k;
SELECT window_start, COUNT(*), SUM(v) FROM TABLE(TUMBLE(TABLE first_bid, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end;
SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM first_bid;
SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY ts) AS n FROM bid) WHERE n = 1;

-- subject: a small set
SELECT a FROM t INTERSECT SELECT k FROM bid;
SELECT a FROM t INTERSECT ALL SELECT k FROM bid;
SELECT a FROM t EXCEPT SELECT k FROM bid;
SELECT a FROM t EXCEPT ALL SELECT k FROM bid;
SELECT k FROM bid EXCEPT ALL SELECT a FROM t;
SELECT a, b FROM t INTERSECT SELECT a, b FROM t WHERE b > 7;
SELECT a, c FROM t EXCEPT SELECT a, c FROM t WHERE b > 7;
SELECT a, c FROM t EXCEPT ALL SELECT a, c FROM t WHERE b > 7;
SELECT a, c FROM t INTERSECT ALL SELECT a, c FROM t WHERE b < 20;
SELECT a FROM t INTERSECT SELECT v FROM bid;
SELECT b FROM t EXCEPT SELECT k FROM bid;
SELECT a FROM t UNION SELECT k FROM bid EXCEPT SELECT 3;
SELECT a FROM t INTERSECT SELECT k FROM bid INTERSECT SELECT 2;
SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) INTERSECT SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM bid GROUP BY k);
SELECT n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) EXCEPT ALL SELECT n FROM (SELECT k, COUNT(*) AS n FROM bid GROUP BY k);
SELECT n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) EXCEPT SELECT n FROM (SELECT k, COUNT(*) AS n FROM bid GROUP BY k);
SELECT customer FROM orders WHERE rush EXCEPT SELECT customer FROM orders WHERE quantity > 4;
SELECT customer, product FROM orders WHERE id < 40 INTERSECT ALL SELECT customer, product FROM orders WHERE id >= 40;
SELECT a, b FROM t EXCEPT SELECT k FROM bid;
SELECT a FROM t INTERSECT SELECT c FROM t;

-- subject: a small subquery
SELECT a, b FROM t WHERE a IN (SELECT k FROM bid);
SELECT a, b FROM t WHERE a NOT IN (SELECT k FROM bid);
SELECT a, b FROM t WHERE a NOT IN (SELECT k FROM bid WHERE k < 3);
SELECT k, v FROM bid WHERE k NOT IN (SELECT a FROM t);
SELECT k, v FROM bid WHERE k NOT IN (SELECT a FROM t WHERE a IS NOT NULL AND a > 1);
SELECT k, v FROM bid WHERE k NOT IN (SELECT a FROM t WHERE a > 100);
SELECT a, b FROM t WHERE b > 7 AND a IN (SELECT k FROM bid WHERE v > 5);
SELECT a, b FROM t WHERE (a, b) IN (SELECT k, v FROM bid);
SELECT a, b FROM t WHERE b IN (SELECT v * 10 FROM bid) AND a IN (SELECT k FROM bid);
SELECT a, b FROM t WHERE a + 1 IN (SELECT k FROM bid);
SELECT a, b FROM t WHERE EXISTS (SELECT * FROM bid WHERE k = a);
SELECT a, b FROM t WHERE NOT EXISTS (SELECT * FROM bid WHERE k = a);
SELECT a, b FROM t WHERE EXISTS (SELECT 1 FROM bid WHERE k = a AND v > b);
SELECT a, b FROM t WHERE NOT EXISTS (SELECT 1 FROM bid WHERE k = a AND v > b);
SELECT a, b FROM t WHERE EXISTS (SELECT 1 FROM bid WHERE v = 99);
SELECT a, b FROM t WHERE NOT EXISTS (SELECT 1 FROM bid WHERE v = 1000);
SELECT a, b FROM t AS x WHERE EXISTS (SELECT 1 FROM t AS y WHERE y.a = x.a AND y.b > x.b);
SELECT a, b FROM t AS x WHERE NOT EXISTS (SELECT 1 FROM t AS y WHERE y.a = x.a AND y.b > x.b);
SELECT a, b FROM t AS x WHERE b IN (SELECT y.v FROM bid AS y WHERE y.k = x.a);
SELECT a, b FROM t AS x WHERE c IN (SELECT y.c FROM t AS y WHERE y.b < x.b);
SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) WHERE n IN (SELECT COUNT(*) FROM bid GROUP BY k);
SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) AS x WHERE EXISTS (SELECT 1 FROM bid WHERE k = a AND v > n);
SELECT COUNT(*) FROM t WHERE a IN (SELECT DISTINCT k FROM bid);
SELECT x.a, y.v FROM t AS x JOIN bid AS y ON x.a = y.k WHERE x.b IN (SELECT v * 10 FROM bid);
SELECT id FROM orders AS o WHERE product IN (SELECT product FROM orders WHERE customer = o.customer AND id <> o.id);
SELECT id FROM orders WHERE customer NOT IN (SELECT customer FROM orders WHERE quantity > 4 AND customer IS NOT NULL);
SELECT a FROM t WHERE a IN (SELECT k, v FROM bid);
SELECT a FROM t WHERE EXISTS (SELECT zzz FROM bid);
SELECT a FROM t WHERE a IN (SELECT c FROM t);

-- subject: a small temporal join
SELECT o.id, o.product, t.rate FROM orders AS o JOIN tariff FOR SYSTEM_TIME AS OF o.ts AS t ON o.product = t.product;
SELECT o.id, o.product, t.rate, t.note, t.ts FROM orders AS o LEFT JOIN tariff FOR SYSTEM_TIME AS OF o.ts AS t ON o.product = t.product;
SELECT o.id, t.rate FROM orders AS o LEFT JOIN tariff FOR SYSTEM_TIME AS OF o.ts AS t ON o.product = t.product AND t.rate > 1;
SELECT o.id, t.rate FROM orders AS o JOIN tariff FOR SYSTEM_TIME AS OF o.ts AS t ON o.product = t.product AND o.quantity > t.rate;
SELECT o.id, t.rate FROM orders AS o LEFT JOIN tariff FOR SYSTEM_TIME AS OF o.ts AS t ON o.product = t.product AND o.quantity > 2 WHERE t.note = 'a' OR t.rate IS NULL;
SELECT id, product, rate FROM orders LEFT JOIN tariff FOR SYSTEM_TIME AS OF orders.ts USING (product);
SELECT o.id, t.rate FROM orders AS o JOIN tariff FOR SYSTEM_TIME AS OF o.ts AS t ON o.product = t.product AND t.note = o.customer;
SELECT o.id, t.rate FROM orders AS o LEFT JOIN tariff FOR SYSTEM_TIME AS OF o.ts AS t ON SUBSTRING(o.product FROM 1) = t.product AND o.product IS NOT DISTINCT FROM t.product;
SELECT o.id, t.rate, t.note FROM orders AS o JOIN latest_tariff FOR SYSTEM_TIME AS OF o.ts AS t ON o.product = t.product;
SELECT o.id, o.product, t.rate, t.ts FROM orders AS o LEFT JOIN latest_tariff FOR SYSTEM_TIME AS OF o.ts AS t ON o.product = t.product;
SELECT o.id, t.rate FROM orders AS o LEFT JOIN latest_tariff FOR SYSTEM_TIME AS OF o.ts AS t ON o.product = t.product AND t.note <> 'a';
SELECT o.id, t.rate, l.rate FROM orders AS o JOIN tariff FOR SYSTEM_TIME AS OF o.ts AS t ON o.product = t.product LEFT JOIN latest_tariff FOR SYSTEM_TIME AS OF o.ts AS l ON l.product = t.product;
SELECT product, COUNT(*), SUM(rate) FROM (SELECT t.product, t.rate, o.ts FROM orders AS o JOIN tariff FOR SYSTEM_TIME AS OF o.ts AS t ON o.product = t.product) GROUP BY product, TUMBLE(ts, INTERVAL '1' MINUTE);
SELECT t.note, SUM(o.quantity * t.rate) FROM orders AS o JOIN tariff FOR SYSTEM_TIME AS OF o.ts AS t ON o.product = t.product GROUP BY t.note;
SELECT l.product, t.rate, l.rate FROM tariff_log AS l JOIN tariff FOR SYSTEM_TIME AS OF l.ts AS t ON l.product = t.product;
SELECT o.id FROM orders AS o JOIN tariff_log FOR SYSTEM_TIME AS OF o.ts AS t ON o.product = t.product;
SELECT o.id FROM orders AS o JOIN t FOR SYSTEM_TIME AS OF o.ts AS u ON o.product = u.c;
SELECT o.id FROM orders AS o JOIN tariff FOR SYSTEM_TIME AS OF o.`day` AS t ON o.product = t.product;
SELECT o.id FROM orders AS o JOIN tariff FOR SYSTEM_TIME AS OF o.ts + INTERVAL '1' SECOND AS t ON o.product = t.product;
SELECT o.id FROM orders AS o JOIN tariff FOR SYSTEM_TIME AS OF o.ts AS t ON o.product = t.note;
SELECT o.id FROM orders AS o JOIN tariff FOR SYSTEM_TIME AS OF o.ts AS t ON o.product > t.product;
SELECT o.id FROM orders AS o RIGHT JOIN tariff FOR SYSTEM_TIME AS OF o.ts AS t ON o.product = t.product;
SELECT * FROM tariff FOR SYSTEM_TIME AS OF ts;
-- subject: a small scalar subquery
SELECT a, b, (SELECT MAX(v) FROM bid) FROM t;
SELECT a, (SELECT COUNT(*) FROM bid WHERE k = a) AS n FROM t;
SELECT a, (SELECT MAX(v) FROM bid WHERE k = a) AS m FROM t;
SELECT a, (SELECT SUM(v) + COUNT(*) FROM bid WHERE k = a) AS m FROM t;
SELECT a, (SELECT COUNT(*) + 1 FROM bid WHERE k = a) AS m FROM t;
SELECT a, (SELECT COUNT(v) * 2 FROM bid WHERE k = a AND v > 5) AS m FROM t;
SELECT a, b FROM t WHERE b > (SELECT AVG(v) FROM bid);
SELECT a, b FROM t WHERE b > (SELECT MIN(v) FROM bid WHERE k = a);
SELECT a, b FROM t WHERE (SELECT COUNT(*) FROM bid WHERE k = a) = 0;
SELECT a, b FROM t AS x WHERE b = (SELECT MAX(b) FROM t AS y WHERE y.a = x.a);
SELECT a, b FROM t AS x WHERE b < (SELECT AVG(b) FROM t AS y WHERE y.c = x.c) OR b IS NULL;
SELECT a, b FROM t AS x WHERE b > (SELECT SUM(v) FROM bid WHERE v < x.b);
SELECT a, (SELECT COUNT(*) FROM bid WHERE v < x.b) FROM t AS x;
SELECT a, (SELECT COUNT(*) FROM bid WHERE k = x.a AND v < x.b) FROM t AS x;
SELECT a, SUM(b), (SELECT COUNT(*) FROM bid) FROM t GROUP BY a;
SELECT a, SUM(b) FROM t GROUP BY a HAVING SUM(b) > (SELECT SUM(v) FROM bid WHERE k < 3);
SELECT a, SUM(b) FROM t GROUP BY a HAVING SUM(b) > (SELECT MAX(v) FROM bid WHERE k = a);
SELECT a, COUNT(*), (SELECT MAX(v) FROM bid WHERE k = a) FROM t GROUP BY a;
SELECT SUM((SELECT MAX(v) FROM bid WHERE k = a)) FROM t;
SELECT a, COALESCE((SELECT SUM(v) FROM bid WHERE k = t.a), -1) + 1 FROM t;
SELECT a, CASE WHEN (SELECT COUNT(*) FROM bid WHERE k = t.a) > 1 THEN 'many' ELSE 'few' END FROM t;
SELECT (SELECT v FROM bid WHERE v = 99), (SELECT v FROM bid WHERE v = 1000) FROM t WHERE a = 2;
SELECT a, (SELECT ts FROM bid WHERE v = t.b) FROM t WHERE b = 20;
SELECT (SELECT v FROM bid WHERE k = 1) FROM t;
SELECT a, (SELECT v FROM bid WHERE k = t.a) FROM t;
SELECT (SELECT k, v FROM bid) FROM t;
SELECT (SELECT MAX(v) FROM bid), (SELECT MIN(v) FROM bid);
SELECT a, (SELECT MAX(v) FROM bid WHERE k = a) - (SELECT MIN(v) FROM bid WHERE k = a) FROM t;
SELECT x.a, x.b FROM t AS x JOIN bid AS y ON x.a = y.k AND y.v > (SELECT AVG(v) FROM bid);
SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) WHERE n > (SELECT AVG(m) FROM (SELECT COUNT(*) AS m FROM bid GROUP BY k));
SELECT a, b FROM t AS x WHERE b > (SELECT MAX(v) FROM bid WHERE k = x.a HAVING COUNT(*) > 1);
SELECT a, (SELECT COUNT(DISTINCT v) FROM bid WHERE k = a) FROM t;
SELECT a, (SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM bid WHERE k = a GROUP BY v)) FROM t;
SELECT a, (SELECT v FROM bid WHERE k = a ORDER BY v DESC LIMIT 1) FROM t;
SELECT a, (SELECT MAX(v) FROM bid WHERE k = a OR v = t.b) FROM t;
SELECT a, b FROM t WHERE (a, b) = (SELECT k, v FROM bid WHERE v = 99);
SELECT customer, COUNT(*) FROM orders GROUP BY customer HAVING COUNT(*) > (SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM orders GROUP BY customer));
SELECT o.id FROM orders AS o WHERE o.quantity = (SELECT MAX(quantity) FROM orders AS i WHERE i.customer = o.customer);
SELECT a FROM t GROUP BY a, (SELECT MAX(v) FROM bid);
SELECT a, b FROM t ORDER BY (SELECT MAX(v) FROM bid), a, b LIMIT 2;

-- subject: a small condition with a query
SELECT a, b FROM t WHERE a IN (SELECT k FROM bid) OR b = 30;
SELECT a, b FROM t WHERE a NOT IN (SELECT k FROM bid) OR b = 30;
SELECT a, b FROM t WHERE a NOT IN (SELECT k FROM bid WHERE k < 2) OR b = 30;
SELECT a, b FROM t WHERE EXISTS (SELECT 1 FROM bid WHERE k = a) OR c = 'z';
SELECT a, b FROM t WHERE NOT EXISTS (SELECT 1 FROM bid WHERE k = a) OR c = 'x';
SELECT a, a IN (SELECT k FROM bid) FROM t;
SELECT a, a NOT IN (SELECT k FROM bid WHERE k > 1) FROM t;
SELECT k, k IN (SELECT a FROM t) FROM bid;
SELECT k, k NOT IN (SELECT a FROM t) FROM bid;
SELECT k, k IN (SELECT a FROM t WHERE a > 100) FROM bid;
SELECT a, EXISTS (SELECT 1 FROM bid WHERE k = a) FROM t;
SELECT a, EXISTS (SELECT 1 FROM bid WHERE k = a AND v > b) FROM t;
SELECT a, NOT EXISTS (SELECT 1 FROM bid WHERE v > t.b) FROM t;
SELECT a, CASE WHEN a IN (SELECT k FROM bid) THEN 'in' WHEN a IS NULL THEN 'none' ELSE 'out' END FROM t;
SELECT a, b IN (SELECT v FROM bid WHERE k = a) FROM t;
SELECT a, b NOT IN (SELECT v FROM bid WHERE k = a) FROM t;
SELECT a, COUNT(*) FROM t GROUP BY a HAVING a IN (SELECT k FROM bid);
SELECT a, COUNT(*) FROM t GROUP BY a HAVING COUNT(*) IN (SELECT k FROM bid) OR a IS NULL;
SELECT a, COUNT(*) FROM t GROUP BY a HAVING EXISTS (SELECT 1 FROM bid WHERE k = a);
SELECT a, a IN (SELECT k FROM bid), COUNT(*) FROM t GROUP BY a;
SELECT COUNT(*) FILTER (WHERE a IN (SELECT k FROM bid)) FROM t;
SELECT SUM(CASE WHEN a IN (SELECT k FROM bid) THEN 1 ELSE 0 END) FROM t;
SELECT a, b FROM t WHERE (a, b) NOT IN (SELECT k, v FROM bid) OR b = 30;
SELECT a, b FROM t WHERE a IN (SELECT k FROM bid) IS NOT TRUE;
SELECT a, b FROM t WHERE (a IN (SELECT k FROM bid)) = (b > 15);
SELECT a, b FROM t WHERE b > ALL (SELECT v FROM bid WHERE k = 1);
SELECT a, b FROM t WHERE b > ANY (SELECT v FROM bid WHERE k = 1);
SELECT a, b FROM t WHERE b >= SOME (SELECT v FROM bid);
SELECT a, b FROM t WHERE a = ANY (SELECT k FROM bid);
SELECT a, b FROM t WHERE a <> ALL (SELECT k FROM bid);
SELECT a, b FROM t WHERE a <> ANY (SELECT k FROM bid);
SELECT a, b FROM t WHERE a = ALL (SELECT k FROM bid);
SELECT a, b FROM t WHERE b > ALL (SELECT v FROM bid WHERE k > 100);
SELECT a, b > ALL (SELECT v FROM bid WHERE k = 1) FROM t;
SELECT a, b <= ANY (SELECT v FROM bid WHERE k = a) FROM t;
SELECT a, b FROM t WHERE b > ALL (SELECT v FROM bid WHERE k = a);
SELECT a, b FROM t AS x WHERE a IN (SELECT k FROM bid WHERE v > x.b) OR EXISTS (SELECT 1 FROM bid WHERE v = x.b);
SELECT a, b FROM t AS x WHERE EXISTS (SELECT 1 FROM bid AS y WHERE y.k = x.a AND EXISTS (SELECT 1 FROM t AS z WHERE z.a = y.k AND z.b > y.v));
SELECT a, b FROM t AS x WHERE EXISTS (SELECT 1 FROM bid AS y WHERE y.k = x.a AND EXISTS (SELECT 1 FROM t AS z WHERE z.a = y.k AND z.b > x.b));
SELECT a, b FROM t WHERE EXISTS (SELECT k FROM bid WHERE k = a GROUP BY k HAVING COUNT(*) > 1);
SELECT a, b FROM t WHERE a IN (SELECT MAX(k) FROM bid WHERE v > b);
SELECT a, b FROM t WHERE EXISTS (SELECT MAX(v) FROM bid WHERE k = a);
SELECT a, b FROM t WHERE b IN (SELECT v FROM bid WHERE k = a UNION ALL SELECT v + 1 FROM bid);
SELECT x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k AND y.v IN (SELECT v FROM bid WHERE k = 1);
SELECT x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a IN (SELECT k FROM bid WHERE v > 10);
SELECT a FROM t WHERE a IN (SELECT k FROM bid WHERE v IN (SELECT v FROM bid WHERE v > 5));

-- subject: a small unnest
SELECT a, x FROM t CROSS JOIN UNNEST(ARRAY[a, 7]) AS u(x);
SELECT a, x FROM t, UNNEST(ARRAY[a, CAST(b AS INT)]) AS u(x) WHERE x > 2;
SELECT a, x FROM t LEFT JOIN UNNEST(ARRAY[a, 7]) AS u(x) ON TRUE;
SELECT a, x FROM t LEFT JOIN UNNEST(CASE WHEN a > 1 THEN ARRAY[a, 7] END) AS u(x) ON TRUE;
SELECT a, x FROM t CROSS JOIN UNNEST(CASE WHEN a > 1 THEN ARRAY[a, 7] END) AS u(x);
SELECT a, m, n FROM t CROSS JOIN UNNEST(MAP['x', a, 'y', CAST(b AS INT)]) AS u(m, n);
SELECT a, m, n FROM t CROSS JOIN UNNEST(ARRAY[ROW(a, c), ROW(1, 'q')]) AS u(m, n);
SELECT a, x FROM (SELECT a, COLLECT(b) AS bs FROM t GROUP BY a) CROSS JOIN UNNEST(bs) AS u(x);
SELECT a, x FROM (SELECT a, COLLECT(c) AS cs FROM t GROUP BY a) LEFT JOIN UNNEST(cs) AS u(x) ON TRUE;
SELECT a, x FROM (SELECT a, ARRAY_AGG(b) AS bs FROM t GROUP BY a) CROSS JOIN UNNEST(bs) AS u(x);
SELECT a, x, COUNT(*) FROM t CROSS JOIN UNNEST(ARRAY[a, 7, 7]) AS u(x) GROUP BY a, x;
SELECT a, x, o FROM t CROSS JOIN UNNEST(ARRAY[a, 7]) WITH ORDINALITY AS u(x, o);
SELECT a, m, n, o FROM t CROSS JOIN UNNEST(ARRAY[ROW(a, c), ROW(1, 'q')]) WITH ORDINALITY AS u(m, n, o);
SELECT a, x, o FROM t LEFT JOIN UNNEST(CASE WHEN a > 1 THEN ARRAY[a, 7] END) WITH ORDINALITY AS u(x, o) ON TRUE;
SELECT a, m, n, o FROM t CROSS JOIN UNNEST(MAP['x', a]) WITH ORDINALITY AS u(m, n, o);
SELECT x FROM UNNEST(ARRAY[1, 2, CAST(NULL AS INT)]) AS u(x);
SELECT * FROM UNNEST(ARRAY['p', 'q']) WITH ORDINALITY;
SELECT * FROM t CROSS JOIN UNNEST(ARRAY[a, 7]);
SELECT * FROM t CROSS JOIN UNNEST(MAP['x', a]);
SELECT * FROM t CROSS JOIN UNNEST(ARRAY[ROW(a, c)]);
SELECT a, x, y FROM t CROSS JOIN UNNEST(ARRAY[a, 7]) AS u(x) CROSS JOIN UNNEST(ARRAY[x, a]) AS w(y);
SELECT a, x, y FROM t CROSS JOIN UNNEST(ARRAY[ARRAY[a, 1], ARRAY[2]]) AS u(x) CROSS JOIN UNNEST(x) AS w(y);
SELECT a, x FROM t CROSS JOIN UNNEST(ARRAY[a, 7]) AS u(x) JOIN bid ON k = x;
SELECT a, b FROM t WHERE EXISTS (SELECT 1 FROM UNNEST(ARRAY[1, 7]) AS u(x) WHERE x = a);
SELECT a, b FROM t WHERE a IN (SELECT x FROM UNNEST(ARRAY[1, 7]) AS u(x));
SELECT a, (SELECT MAX(x) FROM UNNEST(ARRAY[a, 2]) AS u(x)) FROM t;
SELECT a, x FROM t LEFT JOIN UNNEST(ARRAY[a, 7]) AS u(x) ON x > 3;
SELECT a, x FROM t JOIN UNNEST(ARRAY[a, 7]) AS u(x) ON x > 3;
SELECT a, x FROM t CROSS JOIN UNNEST(a) AS u(x);
SELECT a, x FROM t CROSS JOIN UNNEST(ARRAY[a, 7]) AS u(x, y);
SELECT a, x FROM t FULL JOIN UNNEST(ARRAY[a, 7]) AS u(x) ON TRUE;
SELECT a, u.x.m FROM t CROSS JOIN UNNEST(ARRAY[CAST(ROW(a, c) AS ROW<m INT, n STRING>)]) AS u(x, y);
SELECT a, u.m FROM t CROSS JOIN UNNEST(ARRAY[CAST(ROW(a, c) AS ROW<m INT, n STRING>)]) AS u;
SELECT x FROM UNNEST(ARRAY[1, 2], ARRAY[3, 4]) AS u(x, y);

-- subject: a small lateral
SELECT a, v FROM (SELECT DISTINCT a FROM t), LATERAL (SELECT v FROM bid WHERE k = a ORDER BY v DESC LIMIT 1);
SELECT a, v FROM (SELECT DISTINCT a FROM t) CROSS JOIN LATERAL (SELECT v FROM bid WHERE k = a ORDER BY v LIMIT 2);
SELECT a, v FROM (SELECT DISTINCT a FROM t) LEFT JOIN LATERAL (SELECT v FROM bid WHERE k = a ORDER BY v LIMIT 1) ON TRUE;
SELECT a, v FROM t, LATERAL (SELECT v FROM bid WHERE k = a);
SELECT a, v FROM t LEFT JOIN LATERAL (SELECT v FROM bid WHERE k = a) ON TRUE;
SELECT a, v FROM t LEFT JOIN LATERAL (SELECT v FROM bid WHERE k = a AND v > t.b) ON TRUE;
SELECT a, n FROM t, LATERAL (SELECT COUNT(*) AS n FROM bid WHERE k = a);
SELECT a, n FROM t LEFT JOIN LATERAL (SELECT COUNT(*) AS n FROM bid WHERE k = a) ON TRUE;
SELECT a, k, n FROM t, LATERAL (SELECT k, COUNT(*) AS n FROM bid WHERE v > b GROUP BY k);
SELECT a, n FROM t, LATERAL (SELECT a + v AS n FROM bid WHERE k = a);
SELECT a, n FROM t, LATERAL (SELECT MAX(v + b) AS n FROM bid WHERE k = a);
SELECT a, n FROM t, LATERAL (SELECT DISTINCT v AS n FROM bid WHERE k = a);
SELECT a, n FROM t, LATERAL (VALUES (a), (a + 1)) AS u(n);
SELECT a, n FROM t, LATERAL (SELECT a + 1 AS n);
SELECT a, v FROM t JOIN LATERAL (SELECT v FROM bid WHERE k = a) ON v > b;
SELECT a, v FROM t RIGHT JOIN LATERAL (SELECT v FROM bid WHERE k = a) ON TRUE;
SELECT a, v FROM t, LATERAL (SELECT v FROM bid WHERE k = a UNION ALL SELECT b);
SELECT a, v, w FROM t, LATERAL (SELECT v FROM bid WHERE k = a) AS x, LATERAL (SELECT v AS w FROM bid WHERE k = a AND v < x.v) AS y;
SELECT a, v FROM (SELECT DISTINCT a FROM t), LATERAL (SELECT v, ROW_NUMBER() OVER (ORDER BY v) AS r FROM bid WHERE k = a) WHERE r = 1;
SELECT customer, id FROM (SELECT DISTINCT customer FROM orders) AS c, LATERAL (SELECT id FROM orders AS o WHERE o.customer = c.customer ORDER BY id DESC LIMIT 2);
SELECT a, v FROM t, LATERAL (SELECT v FROM bid ORDER BY v LIMIT 1);

-- subject: a small interval join
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, x.v, y.v FROM b AS x JOIN b AS y ON x.ts = y.ts;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, x.ts, y.ts, y.v FROM b AS x JOIN b AS y ON x.k = y.k AND x.ts BETWEEN y.ts - INTERVAL '5' SECOND AND y.ts + INTERVAL '1' SECOND;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, x.v, y.v FROM b AS x LEFT JOIN b AS y ON x.k = y.k AND x.ts > y.ts - INTERVAL '5' SECOND AND x.ts < y.ts + INTERVAL '1' SECOND AND x.v > y.v;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, x.v, y.v FROM b AS x RIGHT JOIN b AS y ON x.k = y.k AND x.ts > y.ts - INTERVAL '5' SECOND AND x.ts < y.ts + INTERVAL '1' SECOND AND x.v > y.v;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, x.v, y.v FROM b AS x FULL JOIN b AS y ON x.k = y.k AND x.ts > y.ts - INTERVAL '5' SECOND AND x.ts < y.ts + INTERVAL '1' SECOND AND x.v > y.v;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, x.v, y.k, y.v FROM b AS x FULL JOIN b AS y ON x.ts - INTERVAL '5' SECOND > y.ts AND x.ts < y.ts + INTERVAL '9' SECOND;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.id, y.v FROM orders AS x LEFT JOIN b AS y ON x.quantity = y.k AND y.ts BETWEEN x.ts AND x.ts + INTERVAL '1' DAY;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, y.v FROM b AS x JOIN b AS y ON x.k = y.k AND x.ts > y.ts - INTERVAL '5' SECOND AND x.ts < y.ts + INTERVAL '1' SECOND AND x.ts > y.ts - INTERVAL '3' SECOND;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, y.v FROM b AS x JOIN b AS y ON x.k = y.k AND x.ts > y.ts;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, y.v FROM b AS x JOIN b AS y ON x.k = y.k AND x.ts = y.ts AND x.ts < y.ts + INTERVAL '1' SECOND;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, y.v FROM b AS x JOIN b AS y ON x.k = y.k AND x.ts BETWEEN y.ts + INTERVAL '5' SECOND AND y.ts - INTERVAL '1' SECOND;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, x.v, y.v FROM b AS x FULL JOIN b AS y ON x.k = y.k AND x.ts BETWEEN y.ts + INTERVAL '5' SECOND AND y.ts - INTERVAL '1' SECOND;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, y.v FROM b AS x, b AS y WHERE x.k = y.k AND x.ts BETWEEN y.ts - INTERVAL '5' SECOND AND y.ts + INTERVAL '1' SECOND AND y.v > 3;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, y.v FROM b AS x JOIN b AS y ON x.k = y.k AND x.ts BETWEEN y.ts - INTERVAL '1' MONTH AND y.ts + INTERVAL '1' SECOND;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, y.v FROM b AS x JOIN b AS y ON x.k = y.k AND TIMESTAMPADD(SECOND, 1, x.ts) > y.ts AND x.ts < y.ts + INTERVAL '5' SECOND;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, y.v FROM b AS x JOIN b AS y ON x.k = y.k AND x.ts - y.ts < INTERVAL '5' SECOND;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT COUNT(*), SUM(v) FROM (SELECT x.ts, x.v FROM b AS x JOIN b AS y ON x.k = y.k AND x.ts BETWEEN y.ts - INTERVAL '5' SECOND AND y.ts + INTERVAL '1' SECOND) GROUP BY TUMBLE(ts, INTERVAL '5' SECOND);
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT COUNT(*), SUM(v) FROM (SELECT x.ts, x.v FROM b AS x LEFT JOIN b AS y ON x.k = y.k AND x.v > y.v AND x.ts BETWEEN y.ts - INTERVAL '5' SECOND AND y.ts + INTERVAL '1' SECOND) GROUP BY TUMBLE(ts, INTERVAL '5' SECOND);
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT k, v FROM b AS x WHERE EXISTS (SELECT 1 FROM b AS y WHERE x.k = y.k AND x.v > y.v AND x.ts BETWEEN y.ts - INTERVAL '5' SECOND AND y.ts + INTERVAL '1' SECOND);
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, x.ts FROM b AS x JOIN b AS y ON x.k = y.v;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, y.n FROM b AS x JOIN (SELECT k, COUNT(*) AS n, MAX(ts) AS ts FROM bid GROUP BY k) AS y ON x.k = y.k AND x.ts BETWEEN y.ts - INTERVAL '5' SECOND AND y.ts;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, y.n FROM b AS x JOIN (SELECT k, ts, COUNT(*) AS n FROM bid GROUP BY k, ts) AS y ON x.k = y.k AND x.ts BETWEEN y.ts - INTERVAL '5' SECOND AND y.ts;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.k, x.v FROM b AS x JOIN (SELECT k, ts, v, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM bid) WHERE n = 1) AS y ON x.k = y.k AND x.ts BETWEEN y.ts - INTERVAL '5' SECOND AND y.ts;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT z.k, z.v, w.v FROM (SELECT x.k, x.v, x.ts FROM b AS x JOIN b AS y ON x.k = y.k AND x.ts BETWEEN y.ts - INTERVAL '5' SECOND AND y.ts) AS z JOIN b AS w ON z.k = w.k AND z.ts BETWEEN w.ts - INTERVAL '5' SECOND AND w.ts;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT x.ts, y.ts FROM b AS x JOIN b AS y ON x.k = y.k AND x.ts BETWEEN y.ts - INTERVAL '5' SECOND AND y.ts WHERE x.v = 3;

-- subject: a small window join
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT L.k, L.v, R.v, L.window_start, L.window_end, L.window_time, R.window_time FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) L JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT L.k, L.v, R.v, L.window_start, R.window_start FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) L LEFT JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) R ON L.k = R.k AND L.v < R.v AND L.window_start = R.window_start AND L.window_end = R.window_end;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT L.k, L.v, R.v, L.window_start, R.window_start FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) L RIGHT JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) R ON L.k = R.k AND L.v < R.v AND L.window_start = R.window_start AND L.window_end = R.window_end;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT L.k, L.v, R.k, R.v, L.window_start FROM (SELECT * FROM TABLE(HOP(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))) L FULL JOIN (SELECT * FROM TABLE(HOP(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))) R ON L.window_start = R.window_start AND L.window_end = R.window_end AND L.v < R.v AND L.k = R.k;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT L.k, L.v, R.k, R.v, L.window_start FROM (SELECT * FROM TABLE(CUMULATE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))) L FULL JOIN (SELECT * FROM TABLE(CUMULATE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))) R ON L.window_start = R.window_start AND L.window_end = R.window_end AND L.v < R.v;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT * FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) L WHERE L.k IN (SELECT k FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND)) WHERE v > 3) R WHERE L.window_start = R.window_start AND L.window_end = R.window_end);
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT * FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) L WHERE NOT EXISTS (SELECT k FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) R WHERE L.k = R.k AND L.v < R.v AND L.window_start = R.window_start AND L.window_end = R.window_end);
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT L.k, L.c, R.n FROM (SELECT k, window_start, window_end, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end) L JOIN (SELECT k, window_start, window_end, SUM(v) AS n FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end) R ON L.window_start = R.window_start AND L.window_end = R.window_end AND L.k = R.k;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT L.k, L.v, R.m FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) L JOIN (SELECT window_start, window_end, MAX(v) AS m FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end) R ON L.window_start = R.window_start AND L.window_end = R.window_end AND L.v = R.m;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT ws, we, COUNT(*) FROM (SELECT L.window_start AS ws, L.window_end AS we, L.k FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) L JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end) GROUP BY ws, we;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT L.k, L.v, R.v FROM (SELECT * FROM TABLE(SESSION(TABLE b PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))) L JOIN (SELECT * FROM TABLE(SESSION(TABLE b PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT L.k, L.v, R.v FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) L JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '10' SECOND))) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT L.k, L.v, R.v FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) L JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) R ON L.k = R.k AND L.window_end = R.window_end;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT A.k, A.v, B.v, C.v FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) A JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) B ON A.k = B.k AND A.window_start = B.window_start AND A.window_end = B.window_end JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) C ON A.k = C.k AND A.window_start = C.window_start AND A.window_end = C.window_end;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT o.id, b.v FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR))) o LEFT JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '1' HOUR))) b ON o.quantity = b.k AND o.window_start = b.window_start AND o.window_end = b.window_end;

-- subject: a small window rank
SELECT k, v, window_start, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE n <= 2;
SELECT v, window_start FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE n = 1;
SELECT k, window_start, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY ts DESC) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE n = 1;
SELECT k, ts, window_start FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY ts) AS n FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))) WHERE n = 1;
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY s DESC, k) AS n FROM (SELECT k, window_start, window_end, SUM(v) AS s FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end)) WHERE n <= 2;
SELECT v, n FROM (SELECT *, RANK() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE n <= 2;
SELECT v, window_end, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE n > 1 AND n <= 3;
SELECT v, window_end, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_end ORDER BY v DESC) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE n <= 3;
SELECT k, v, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC) AS n FROM TABLE(SESSION(TABLE bid PARTITION BY k, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE n <= 3;
SELECT v, window_start, window_end, window_time, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS n FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))) WHERE n <= 3;
SELECT window_start, window_end, SUM(v) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE n <= 2 GROUP BY window_start, window_end;
SELECT L.k, L.v, R.v FROM (SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE n = 1) L JOIN (SELECT * FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND))) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end;
SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE n = 2;
SELECT k, v, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC) AS n FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND))) WHERE n > 1;
SELECT customer, product, window_start FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, customer ORDER BY price DESC, id) AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR))) WHERE n <= 1;

-- subject: over of changes
SELECT customer, n, SUM(n) OVER (ORDER BY customer) FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer);
SELECT product, customer, q, SUM(q) OVER w, COUNT(*) OVER w FROM (SELECT product, customer, SUM(quantity) AS q FROM orders GROUP BY product, customer) WINDOW w AS (PARTITION BY product ORDER BY customer ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);
SELECT customer, n, MIN(n) OVER w, MAX(n) OVER w, AVG(n) OVER w, COUNT(*) OVER w FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) WINDOW w AS (ORDER BY n);
SELECT customer, n, RANK() OVER w, DENSE_RANK() OVER w FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) WINDOW w AS (ORDER BY n);
SELECT customer, n, ROW_NUMBER() OVER (ORDER BY customer) FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer);
SELECT product, n, FIRST_VALUE(product) OVER w, LAST_VALUE(product) OVER w FROM (SELECT product, COUNT(*) AS n FROM orders GROUP BY product) WINDOW w AS (ORDER BY product);
SELECT k, s, SUM(s) OVER (PARTITION BY MOD(k, 2) ORDER BY s) FROM (SELECT k, SUM(v) AS s FROM bid GROUP BY k);
SELECT a, b, RANK() OVER (PARTITION BY a ORDER BY b), DENSE_RANK() OVER (PARTITION BY a ORDER BY b) FROM t;
SELECT id, SUM(quantity) OVER (PARTITION BY product ORDER BY price) FROM orders;
SELECT id, AVG(price) OVER (PARTITION BY customer ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer, product ORDER BY id DESC) AS r FROM orders) WHERE r = 1;
SELECT customer, n, LAG(n) OVER (ORDER BY customer) FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer);
SELECT customer, n, SUM(n) OVER (ORDER BY n DESC, customer) FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer);
SELECT customer, n, SUM(n) OVER (ORDER BY customer ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer);
SELECT customer, n, LEAD(n) OVER (ORDER BY customer), NTILE(2) OVER (ORDER BY customer) FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer);
SELECT customer, n, SUM(n) OVER () FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer);

-- subject: joins of updates
SELECT x.a, x.n, y.n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) AS x LEFT JOIN (SELECT k, COUNT(*) AS n FROM bid GROUP BY k) AS y ON x.a = y.k AND x.n < y.n;
SELECT x.n, y.n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) AS x RIGHT JOIN (SELECT k, COUNT(*) AS n FROM bid GROUP BY k) AS y ON x.n > y.n;
SELECT x.n, y.n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) AS x FULL JOIN (SELECT k, COUNT(*) AS n FROM bid GROUP BY k) AS y ON x.n > y.n + 2;
SELECT x.a, x.m FROM (SELECT a, MAX(b) AS m FROM t GROUP BY a) AS x WHERE EXISTS (SELECT 1 FROM (SELECT c, MAX(a) AS k FROM t GROUP BY c) AS y WHERE y.k IS NOT DISTINCT FROM x.a);
SELECT x.a, x.m FROM (SELECT a, MAX(b) AS m FROM t GROUP BY a) AS x WHERE NOT EXISTS (SELECT 1 FROM (SELECT c, MAX(b) AS k FROM t GROUP BY c) AS y WHERE y.k IS NOT DISTINCT FROM x.m);
SELECT x.n, y.m FROM (SELECT COUNT(*) AS n FROM t) AS x CROSS JOIN (SELECT MAX(v) AS m FROM bid) AS y;
SELECT x.n, y.m FROM (SELECT COUNT(*) AS n FROM t WHERE a > 100) AS x LEFT JOIN (SELECT MAX(v) AS m FROM bid WHERE v > 1000) AS y ON TRUE;
SELECT a, x.s, y.s, z.n FROM (SELECT a, SUM(b) AS s FROM t GROUP BY a) AS x JOIN (SELECT k AS a, SUM(v) AS s FROM bid GROUP BY k) AS y USING (a) LEFT JOIN (SELECT CAST(quantity AS INT) AS a, COUNT(*) AS n FROM orders GROUP BY quantity) AS z USING (a);
WITH g AS (SELECT a, COUNT(*) AS n, MIN(b) AS m FROM t GROUP BY a) SELECT x.a, y.a, x.n FROM g AS x JOIN g AS y ON x.n = y.n AND x.m <> y.m;
SELECT x.a, y.a FROM (SELECT DISTINCT a FROM t) AS x FULL JOIN (SELECT DISTINCT a + 1 AS a FROM t) AS y ON x.a = y.a;
SELECT x.a, x.b, y.s FROM t AS x LEFT JOIN (SELECT a, SUM(b) AS s FROM t GROUP BY a HAVING COUNT(*) > 2) AS y ON x.a = y.a WHERE y.s IS NULL OR y.s > 50;
SELECT y.k, COUNT(*), SUM(x.s), MAX(x.s) FROM (SELECT a, c, SUM(b) AS s FROM t GROUP BY a, c) AS x RIGHT JOIN (SELECT k, MAX(v) AS m FROM bid GROUP BY k) AS y ON x.a = y.k AND x.s > y.m GROUP BY y.k;

-- subject: keys of joins
SELECT x.a, y.k, y.v FROM t AS x JOIN bid AS y ON x.a = y.k OR x.b = y.v;
SELECT x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a > 2;
SELECT x.a, y.v FROM t AS x FULL JOIN bid AS y ON x.a = 1 AND y.k = 1 AND y.v > 5;
SELECT x.a, y.k FROM t AS x JOIN bid AS y ON ROW(x.a, x.b) = ROW(y.k, CAST(y.v * 2 AS BIGINT));
SELECT x.a, y.k, y.v FROM t AS x JOIN bid AS y ON ARRAY[x.a, 1] = ARRAY[y.k, 1] AND x.b > y.v;
SELECT x.id, y.id FROM orders AS x JOIN orders AS y ON x.`day` = CAST(y.ts AS DATE) AND x.id < y.id;
SELECT x.id, y.k FROM orders AS x JOIN bid AS y ON x.ts = CAST(y.ts AS TIMESTAMP(6));
SELECT x.a, y.a FROM t AS x JOIN t AS y ON x.d = y.d AND x.e = y.e AND x.f = y.f;
SELECT x.c, y.s FROM t AS x JOIN (VALUES (CAST('x' AS CHAR(3)), 1), (CAST('y' AS CHAR(1)), 2)) AS y(c, s) ON x.c = y.c;
SELECT x.c, y.c FROM (SELECT DISTINCT c FROM t) AS x JOIN (SELECT DISTINCT c FROM t) AS y ON x.c LIKE y.c || '%';
SELECT x.a, y.v FROM t AS x JOIN bid AS y ON x.b BETWEEN y.v - 1 AND y.v + 1;
SELECT x.a, y.a FROM t AS x LEFT JOIN t AS y ON x.a IS NOT DISTINCT FROM y.a AND x.c IS NOT DISTINCT FROM y.c AND x.b < y.b;
SELECT a, x.b, y.b, z.v FROM t AS x JOIN t AS y USING (a) LEFT JOIN (SELECT k AS a, v FROM bid) AS z USING (a) WHERE x.b < y.b;
SELECT x.a, y.k, z.k FROM t AS x LEFT JOIN (bid AS y FULL JOIN (SELECT k + 1 AS k FROM bid) AS z ON y.k = z.k) ON x.a = z.k AND y.v > 5;

-- subject: hints
SELECT /*+ BROADCAST(y) */ x.a, y.v FROM t AS x JOIN bid AS y ON x.a = y.k;
SELECT /*+ SHUFFLE_HASH(x), NEST_LOOP(y) */ x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k;
SELECT /*+ SHUFFLE_MERGE(t, bid) */ a, v FROM t JOIN bid ON a = k;
SELECT /*+ STATE_TTL('x' = '1d', 'y' = '12h') */ x.a, y.v FROM t AS x JOIN bid AS y ON x.a = y.k;
SELECT /*+ STATE_TTL('t' = '1d') */ a, COUNT(*) FROM t GROUP BY a;
SELECT /*+ BROADCAST(nowhere) */ x.a, y.v FROM t AS x JOIN bid AS y ON x.a = y.k;
SELECT /*+ BROADCAST */ x.a, y.v FROM t AS x JOIN bid AS y ON x.a = y.k;
SELECT /*+ NOSUCH(y) */ x.a, y.v FROM t AS x JOIN bid AS y ON x.a = y.k;
SELECT /*+ STATE_TTL('x' = 'long') */ x.a, y.v FROM t AS x JOIN bid AS y ON x.a = y.k;
SELECT a FROM t /*+ OPTIONS('json.ignore-parse-errors' = 'true') */ WHERE a > 1;
SELECT a FROM t /*+ OPTIONS('nonsense' = 'true') */ WHERE a > 1;
SELECT /*+ MULTI_JOIN(x, y, z) */ x.a, y.v, z.v FROM t AS x JOIN bid AS y ON x.a = y.k JOIN bid AS z ON x.a = z.k;

-- subject: sets of updates
SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) UNION SELECT k, n FROM (SELECT k, COUNT(*) AS n FROM bid GROUP BY k);
SELECT n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) INTERSECT ALL SELECT n FROM (SELECT k, COUNT(*) AS n FROM bid GROUP BY k);
SELECT a FROM t EXCEPT (SELECT k FROM bid INTERSECT SELECT a FROM t WHERE b > 7);
SELECT a FROM t EXCEPT SELECT k FROM bid UNION ALL SELECT k FROM bid;
SELECT a FROM t UNION SELECT d FROM t;
SELECT c, d FROM t INTERSECT SELECT c, d FROM t WHERE e > 0;
SELECT a, COUNT(*) FROM (SELECT a FROM t UNION SELECT k FROM bid) GROUP BY a;
SELECT CAST(NULL AS INT) EXCEPT ALL SELECT a FROM t;
SELECT a AS x, c AS y FROM t WHERE b > 15 UNION SELECT k, 'k' FROM bid WHERE v > 15;
SELECT a FROM t INTERSECT SELECT CAST(d AS INT) FROM t EXCEPT ALL SELECT 2;
(SELECT a FROM t UNION ALL SELECT a FROM t) EXCEPT ALL SELECT a FROM t WHERE b > 9;
SELECT customer, n FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) EXCEPT SELECT customer, n FROM (SELECT customer, COUNT(*) AS n FROM orders WHERE id < 60 GROUP BY customer);

-- subject: conditions of updates
SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) WHERE n NOT IN (SELECT COUNT(*) FROM bid GROUP BY k);
SELECT a, m FROM (SELECT a, MAX(b) AS m FROM t GROUP BY a) WHERE m NOT IN (SELECT MIN(b) FROM t GROUP BY c);
SELECT c, m FROM (SELECT c, MAX(a) AS m FROM t GROUP BY c) WHERE m NOT IN (SELECT MAX(a) FROM t GROUP BY b);
SELECT a, c FROM t AS x WHERE (a, c) NOT IN (SELECT a, c FROM t WHERE b > 7);
SELECT a, b FROM t AS x WHERE b NOT IN (SELECT y.v * 10 FROM bid AS y WHERE y.k = x.a);
SELECT a, b FROM t AS x WHERE c NOT IN (SELECT y.c FROM t AS y WHERE y.a > x.a);
SELECT a, b FROM t WHERE NOT (a IN (SELECT k FROM bid WHERE v > 8) AND b > 9);
SELECT DISTINCT a FROM t AS x WHERE NOT EXISTS (SELECT 1 FROM bid AS y WHERE y.v > 50 AND NOT EXISTS (SELECT 1 FROM t AS z WHERE z.a = x.a AND z.a = y.k));
SELECT a, n FROM (SELECT a, SUM(b) AS n FROM t GROUP BY a) AS x WHERE n = (SELECT MAX(s) FROM (SELECT SUM(b) AS s FROM t GROUP BY a));
SELECT a, n, n > (SELECT AVG(m) FROM (SELECT COUNT(*) AS m FROM bid GROUP BY k)) FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a);
SELECT k, s FROM (SELECT k, SUM(v) AS s FROM bid GROUP BY k) AS x WHERE EXISTS (SELECT 1 FROM (SELECT a, SUM(b) AS s FROM t GROUP BY a) AS y WHERE y.a = x.k AND y.s > x.s);
SELECT k, s FROM (SELECT k, SUM(v) AS s FROM bid GROUP BY k) AS x WHERE NOT EXISTS (SELECT 1 FROM (SELECT a, SUM(b) AS s FROM t GROUP BY a) AS y WHERE y.s < x.s);
SELECT a, (SELECT n FROM (SELECT k, COUNT(*) AS n FROM bid GROUP BY k) AS y WHERE y.k = x.a) FROM (SELECT DISTINCT a FROM t) AS x;
SELECT a FROM t WHERE a IN (1, 2, 7) AND a NOT IN (SELECT k FROM bid WHERE v = 99) OR a IN (SELECT k FROM bid WHERE v = 20);

-- subject: ranks of updates
SELECT a, n, r FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY n DESC, a DESC NULLS LAST) AS r FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a)) WHERE r BETWEEN 2 AND 3;
SELECT a, c, s, r FROM (SELECT *, RANK() OVER (PARTITION BY a ORDER BY s DESC) AS r FROM (SELECT a, c, SUM(b) AS s FROM t GROUP BY a, c)) WHERE r <= 2;
SELECT k, a, v, r FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC, b, e, c) AS r FROM t JOIN bid ON a = k) WHERE r <= 3;
SELECT a, c, s FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY s DESC, a, c) AS q FROM (SELECT a, c, s, ROW_NUMBER() OVER (PARTITION BY a ORDER BY s DESC, c) AS r FROM (SELECT a, c, SUM(b) AS s FROM t GROUP BY a, c)) WHERE r <= 2) WHERE q <= 3;
SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE n <= 0;
SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE n < 1;
SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE n >= 1 AND n <= 2 AND n <> 2;
SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE n IN (1, 2);
SELECT a, b, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE n <= 1.5;
SELECT a, b FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC, e, c) <= 2;
SELECT a, SUM(b) AS s FROM t GROUP BY a QUALIFY ROW_NUMBER() OVER (ORDER BY SUM(b) DESC, a) <= 2;
SELECT a, COUNT(*), MAX(n) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS n FROM t) WHERE n <= 2 GROUP BY a;
SELECT x.k, x.v, y.b FROM (SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM bid) WHERE n = 1) AS x LEFT JOIN (SELECT a, b FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC, e, c) AS n FROM t) WHERE n = 1) AS y ON x.k = y.a;
SELECT DISTINCT c FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b DESC, e, c) AS n FROM t) WHERE n = 1;

-- subject: ordinals
SELECT a, x, o FROM (SELECT a, ARRAY_AGG(b) AS bs FROM t GROUP BY a) CROSS JOIN UNNEST(bs) WITH ORDINALITY AS u(x, o);
SELECT a, x, p, y, o FROM t CROSS JOIN UNNEST(ARRAY[ARRAY[a, 1], ARRAY[2]]) WITH ORDINALITY AS u(x, p) CROSS JOIN UNNEST(x) WITH ORDINALITY AS w(y, o);
SELECT a, x, o FROM t, UNNEST(ARRAY[c, 'q', c]) WITH ORDINALITY AS u(x, o) WHERE o <> 2 AND x IS NOT NULL;
SELECT a, MAX(o), COUNT(x) FROM t CROSS JOIN UNNEST(ARRAY[b, 7, 8]) WITH ORDINALITY AS u(x, o) GROUP BY a;
SELECT t.a, u.x, v.y FROM t CROSS JOIN UNNEST(ARRAY[a, 7]) WITH ORDINALITY AS u(x, o) JOIN UNNEST(ARRAY[1, 7]) WITH ORDINALITY AS v(y, p) ON u.o = v.p;
SELECT a, x FROM t CROSS JOIN UNNEST(ARRAY[a, 7]) WITH ORDINALITY AS u(x);
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM UNNEST(ARRAY[1, 7, a]) WITH ORDINALITY AS u(x, o) WHERE x = a AND o < 3);

-- subject: rows that were first
SELECT o.id, o.product, f.rate FROM orders AS o JOIN first_tariff FOR SYSTEM_TIME AS OF o.ts AS f ON o.product = f.product;
SELECT o.id, f.rate, f.note, f.ts FROM orders AS o LEFT JOIN first_tariff FOR SYSTEM_TIME AS OF o.ts AS f ON o.product = f.product AND f.rate > 1;
SELECT o.id, f.rate, l.rate FROM orders AS o LEFT JOIN first_tariff FOR SYSTEM_TIME AS OF o.ts AS f ON o.product = f.product LEFT JOIN latest_tariff FOR SYSTEM_TIME AS OF o.ts AS l ON o.product = l.product;
SELECT o.id, o.product, f.rate FROM orders AS o LEFT JOIN first_low_tariff FOR SYSTEM_TIME AS OF o.ts AS f ON o.product = f.product;
SELECT o.id, o.product, f.rate, f.ts FROM orders AS o LEFT JOIN earliest_tariff FOR SYSTEM_TIME AS OF o.ts AS f ON o.product = f.product;

-- subject: windows of rows together
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT L.k, L.v, R.v, L.window_start FROM (SELECT * FROM TABLE(HOP(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))) L LEFT JOIN (SELECT * FROM TABLE(HOP(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))) R ON L.k = R.k AND L.v < R.v AND L.window_start = R.window_start AND L.window_end = R.window_end;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT L.k, R.k, L.window_end FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) L JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND))) R ON L.window_start = R.window_start AND L.window_end = R.window_end AND L.v < R.v;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT L.k, L.v, R.v, L.window_start FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '2' SECOND))) L FULL JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '2' SECOND))) R ON L.k = R.k AND L.v + 1 = R.v AND L.window_start = R.window_start AND L.window_end = R.window_end;
SELECT o.id, o.window_start FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) o WHERE o.quantity NOT IN (SELECT quantity FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) WHERE rush) i WHERE o.window_start = i.window_start AND o.window_end = i.window_end);
SELECT o.id, o.window_start FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) o WHERE EXISTS (SELECT 1 FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) WHERE rush) i WHERE o.window_start = i.window_start AND o.window_end = i.window_end AND o.customer = i.customer AND o.id <> i.id);
SELECT L.window_start, L.customer, L.n, R.product, R.n FROM (SELECT window_start, window_end, customer, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, customer) L FULL JOIN (SELECT window_start, window_end, product, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, product) R ON L.window_start = R.window_start AND L.window_end = R.window_end AND L.n = R.n;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT window_start, window_end, k, SUM(s) FROM (SELECT L.window_start, L.window_end, L.k, L.v + R.v AS s FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '10' SECOND))) L JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '10' SECOND))) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end) GROUP BY window_start, window_end, k;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT window_start, k, s FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY s DESC, k) AS r FROM (SELECT L.window_start, L.window_end, L.k, L.v * 100 + R.v AS s FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '10' SECOND))) L JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '10' SECOND))) R ON L.k = R.k AND L.window_start = R.window_start AND L.window_end = R.window_end)) WHERE r <= 2;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT L.k, L.v, R.v FROM (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '10' SECOND))) L JOIN (SELECT * FROM TABLE(TUMBLE(TABLE b, DESCRIPTOR(ts), INTERVAL '10' SECOND))) R ON L.k = R.k AND L.window_start = R.window_start;

-- subject: first and last rows
SELECT k, v, window_start FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY ts DESC) AS n FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))) WHERE n = 1;
SELECT k, v, window_end FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY ts) AS n FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND))) WHERE n = 1;
SELECT k, v, window_start, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC, k) AS n FROM TABLE(HOP(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))) WHERE n BETWEEN 2 AND 3;
SELECT k, window_end, s, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY s, k DESC) AS n FROM (SELECT k, window_start, window_end, SUM(v) AS s FROM TABLE(CUMULATE(TABLE bid, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '20' SECOND)) GROUP BY k, window_start, window_end)) WHERE n < 3;
SELECT customer, COUNT(*), SUM(quantity) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer, product ORDER BY ts DESC) AS n FROM orders) WHERE n = 1 GROUP BY customer;
SELECT customer, COUNT(*), SUM(quantity) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer, product ORDER BY ts) AS n FROM orders) WHERE n = 1 GROUP BY customer;
SELECT x.customer, x.id, y.id FROM (SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY ts) AS n FROM orders) WHERE n = 1) AS x JOIN orders AS y ON x.customer = y.customer AND y.ts BETWEEN x.ts AND x.ts + INTERVAL '30' SECOND;
SELECT x.customer, x.id, y.id FROM (SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY ts) AS n FROM orders) WHERE n = 1) AS x FULL JOIN (SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY ts DESC) AS n FROM orders) WHERE n = 1) AS y ON x.customer = y.customer;
SELECT customer, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY ts DESC) AS n FROM orders WHERE rush) WHERE n = 1 AND quantity > 1;
SELECT a, b, c FROM (SELECT DISTINCT a, b, c FROM t) WHERE a IS NOT NULL;
SELECT product, id FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY product ORDER BY ts) AS n FROM (SELECT x.id, x.product, x.ts FROM orders AS x JOIN orders AS y ON x.product = y.product AND y.ts BETWEEN x.ts AND x.ts + INTERVAL '10' SECOND AND y.id > x.id)) WHERE n = 1;

-- subject: over with others
SELECT id, COUNT(DISTINCT product) OVER w, SUM(DISTINCT quantity) OVER w FROM orders WINDOW w AS (PARTITION BY customer ORDER BY ts);
SELECT id, SUM(quantity) FILTER (WHERE rush) OVER (PARTITION BY customer ORDER BY ts) FROM orders;
SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY ts) FROM first_bid;
SELECT id, SUM(quantity) OVER (PARTITION BY customer ORDER BY ts RANGE BETWEEN INTERVAL '20' SECOND PRECEDING AND CURRENT ROW) FROM orders WHERE quantity IS NOT NULL;
WITH b AS (SELECT * FROM bid WHERE v < 99) SELECT z.k, z.s, SUM(z.s) OVER (PARTITION BY z.k ORDER BY z.ts) FROM (SELECT x.k, x.v + y.v AS s, x.ts FROM b AS x JOIN b AS y ON x.k = y.k AND y.ts BETWEEN x.ts - INTERVAL '5' SECOND AND x.ts) AS z;
SELECT customer, MAX(s) FROM (SELECT customer, SUM(quantity) OVER (PARTITION BY customer ORDER BY ts) AS s FROM orders) GROUP BY customer;
SELECT window_start, MAX(s) FROM (SELECT window_start, window_end, s FROM TABLE(TUMBLE((SELECT ts, SUM(quantity) OVER (PARTITION BY customer ORDER BY ts) AS s FROM orders), DESCRIPTOR(ts), INTERVAL '1' MINUTE))) GROUP BY window_start, window_end;

-- subject: groups of joins
SELECT x.customer, COUNT(DISTINCT y.product) FILTER (WHERE y.rush), SUM(DISTINCT y.quantity) FROM (SELECT DISTINCT customer FROM orders) AS x LEFT JOIN orders AS y ON x.customer = y.customer AND y.id > 40 GROUP BY x.customer;
SELECT x.a, y.k, COUNT(*), GROUPING(x.a, y.k) FROM t AS x FULL JOIN bid AS y ON x.a = y.k GROUP BY ROLLUP (x.a, y.k);
SELECT x.a, MIN(y.v), MAX(y.v), AVG(y.v) FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) AS x LEFT JOIN bid AS y ON x.a = y.k AND y.v > x.n GROUP BY x.a HAVING COUNT(*) < 5;
WITH j AS (SELECT x.a, y.v FROM t AS x JOIN bid AS y ON x.a = y.k) SELECT a, SUM(v) FROM j GROUP BY a UNION ALL SELECT CAST(v AS INT), COUNT(*) FROM j GROUP BY v;
WITH j AS (SELECT x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k) SELECT p.a, p.s, q.n FROM (SELECT a, SUM(v) AS s FROM j GROUP BY a) AS p JOIN (SELECT a, COUNT(*) AS n FROM j GROUP BY a) AS q ON p.a = q.a;
SELECT x.a FROM t AS x JOIN bid AS y ON x.a = y.k AND x.b > (SELECT AVG(v) FROM bid) GROUP BY x.a;
SELECT COUNT(*), COUNT(DISTINCT a), COUNT(DISTINCT v) FROM t LEFT JOIN bid ON a = k AND v > 5;
SELECT a, v FROM (SELECT a, MAX(b) AS b FROM t GROUP BY a) JOIN bid ON a = k ORDER BY v DESC, a LIMIT 3;
SELECT y.a, COUNT(*) FROM (VALUES (1), (2), (CAST(NULL AS INT))) AS x(a) RIGHT JOIN t AS y ON x.a = y.a OR (x.a IS NULL AND y.a IS NULL) GROUP BY y.a;

-- subject: a small table function
SELECT a, word, length FROM t, LATERAL TABLE(split_words(c || ' und ' || c));
SELECT a, n FROM t CROSS JOIN LATERAL TABLE(up_to(a)) AS u(n);
SELECT a, n FROM t LEFT JOIN LATERAL TABLE(up_to(a - 1)) AS u(n) ON TRUE;
SELECT a, n FROM t LEFT JOIN LATERAL TABLE(up_to(a)) AS u(n) ON n > 1;
SELECT a, n, b FROM t, LATERAL TABLE(up_to(a)) AS u(n) WHERE n > 0 AND b > 10;
SELECT n, COUNT(*), SUM(m) FROM (SELECT a, COUNT(*) AS m FROM t GROUP BY a), LATERAL TABLE(up_to(CAST(m AS INT))) AS u(n) GROUP BY n;
SELECT a, m, n FROM (SELECT a, MAX(b) AS m, CAST(COUNT(*) AS INT) AS k FROM t GROUP BY a) LEFT JOIN LATERAL TABLE(up_to(k - 2)) AS u(n) ON TRUE;
SELECT a, x, y FROM t, LATERAL TABLE(up_to(a)) AS u(x), LATERAL TABLE(up_to(x)) AS w(y);
SELECT a, w.word FROM t, LATERAL TABLE(split_words(c || ' ' || label(c, a))) AS w;
SELECT k, n, window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(ts), INTERVAL '10' SECOND)), LATERAL TABLE(up_to(k)) AS u(n) GROUP BY k, n, window_start, window_end;
SELECT k, n, v, ts FROM bid, LATERAL TABLE(up_to(k)) AS u(n);

-- subject: table functions
SELECT a, n FROM t, LATERAL TABLE(up_to(a)) AS u(n);
SELECT a, n FROM t JOIN LATERAL TABLE(up_to(a)) AS u(n) ON TRUE;
SELECT a, n FROM t JOIN LATERAL TABLE(up_to(a)) AS u(n) ON n > 1;
SELECT a, n FROM t LEFT JOIN LATERAL TABLE(up_to(a)) AS u(n) ON n > 100;
SELECT a, n FROM t LEFT JOIN LATERAL TABLE(up_to(a)) AS u(n) ON a > 2;
SELECT a, n FROM t LEFT JOIN LATERAL TABLE(up_to(a)) AS u(n) ON is_odd(n);
SELECT n FROM LATERAL TABLE(up_to(3)) AS u(n);
SELECT n FROM TABLE(up_to(3)) AS u(n);
SELECT a, n FROM t, TABLE(up_to(2)) AS u(n);
SELECT a, n FROM t, TABLE(up_to(a)) AS u(n);
SELECT n FROM up_to(3) AS u(n);
SELECT * FROM t, LATERAL TABLE(pairs(a, c));
SELECT a, f0, f1 FROM t, LATERAL TABLE(pairs(a, c));
SELECT a, u.* FROM t, LATERAL TABLE(pairs(a, UPPER(c))) AS u;
SELECT * FROM t, LATERAL TABLE(up_to(a));
SELECT a, k.* FROM t, LATERAL TABLE(kinds(a)) AS k;
SELECT a, k.part.x, k.tags[1], k.counts['k'] FROM t LEFT JOIN LATERAL TABLE(kinds(a)) AS k ON TRUE;
SELECT s.f0 FROM t, LATERAL TABLE(seen(a, b, c, d, e, f)) AS s;
SELECT s.x FROM orders, LATERAL TABLE(seen(`day`, ts, ARRAY[id], ROW(id, 'x'), MAP['k', rush], CAST(id AS TINYINT), CAST(weight AS FLOAT))) AS s(x) WHERE id < 5;
SELECT s.x FROM t, LATERAL TABLE(seen(CAST(TIMESTAMP '2024-03-01 10:00:00.5' AS TIMESTAMP_LTZ(3)), TIME '10:11:12', CAST('ab' AS CHAR(4)), 1.50, NULL)) AS s(x) WHERE a = 4;
SELECT s.x FROM t, LATERAL TABLE(seen(CAST(TIMESTAMP '2024-03-01 10:00:00.5' AS TIMESTAMP_LTZ(3)), TIME '10:11:12', CAST('ab' AS CHAR(4)), 1.50, CAST(NULL AS INT))) AS s(x) WHERE a = 4;
SELECT s.x FROM t, LATERAL TABLE(seen()) AS s(x);
SELECT a, x, y FROM t, LATERAL TABLE(of_number(a)) AS u(x, y);
SELECT a, x FROM t, LATERAL TABLE(of_number(c)) AS u(x, y);
SELECT a, x FROM t, LATERAL TABLE(of_number(a, b)) AS u(x, y);
SELECT a, x FROM t, LATERAL TABLE(of_number(NULL)) AS u(x, y);
SELECT a, x FROM t, LATERAL TABLE(numbering(c, a)) AS u(x);
SELECT a, n FROM t, LATERAL TABLE(UP_TO(a)) AS u(n);
SELECT a, n FROM t, LATERAL TABLE(default_catalog.default_database.up_to(a)) AS u(n);
SELECT a FROM t, LATERAL TABLE(up_to(a)) AS u(n, m);
SELECT a FROM t, LATERAL TABLE(nobody(a)) AS u(n);
SELECT a FROM t, LATERAL TABLE(add_one(a)) AS u(n);
SELECT a FROM t, LATERAL TABLE(UPPER(c)) AS u(n);
SELECT up_to(a) FROM t;
SELECT a, n FROM t RIGHT JOIN LATERAL TABLE(up_to(a)) AS u(n) ON TRUE;
SELECT a, n FROM t FULL JOIN LATERAL TABLE(up_to(a)) AS u(n) ON TRUE;
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM LATERAL TABLE(up_to(a)) AS u(n) WHERE n = 1);
SELECT a FROM t WHERE a IN (SELECT n FROM TABLE(up_to(3)) AS u(n));
SELECT a, n FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b, e, c) AS r FROM t) AS x, LATERAL TABLE(up_to(a)) AS u(n) WHERE r <= 1;
SELECT DISTINCT n FROM t, LATERAL TABLE(up_to(a)) AS u(n);
SELECT x.a, n, y.v FROM t AS x, LATERAL TABLE(up_to(x.a)) AS u(n) JOIN bid AS y ON u.n = y.k;
SELECT a, (SELECT MAX(n) FROM LATERAL TABLE(up_to(a)) AS u(n)) FROM t;

-- subject: functions of Python
SELECT a, add_one(b), ADD_ONE(a) FROM t;
SELECT a, add_one(add_one(b)) + 1, add_one(a + 1) FROM t;
SELECT a, b FROM t WHERE add_one(b) > 10 AND a > 0;
SELECT a, b FROM t WHERE is_odd(a) OR b = 20;
SELECT label(c, a), COUNT(*), SUM(add_one(b)) FROM t GROUP BY label(c, a);
SELECT a, COUNT(*) FROM t GROUP BY a HAVING add_one(COUNT(*)) > 3;
SELECT a, add_one(m), label('m', m) FROM (SELECT a, MAX(b) AS m FROM t GROUP BY a);
SELECT x.a, y.v FROM t AS x JOIN bid AS y ON add_one(x.a) = add_one(y.k) AND is_odd(y.v);
SELECT x.a, y.v FROM t AS x JOIN bid AS y ON x.a = y.k AND add_one(x.b) > y.v;
SELECT x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k AND is_odd(y.v);
SELECT x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k AND add_one(x.b) > y.v;
SELECT a, CASE WHEN a > 1 THEN add_one(b) ELSE -1 END FROM t;
SELECT a, tenfold(a), tenfold(NULL) FROM t;
SELECT a, both_of(a).x, both_of(a).y[2], both_of(a) FROM t;
SELECT y, y + 1 FROM (SELECT add_one(b) AS y FROM t) WHERE y > 10;
SELECT label(a, a) FROM t;
SELECT label(c, 'x') FROM t;
SELECT label(c) FROM t;
SELECT add_one(3), label('x', 4) FROM t WHERE a = 4;
SELECT add_one(3);
SELECT window_start, SUM(add_one(quantity)) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
SELECT id, ts, SUM(add_one(quantity)) OVER (PARTITION BY product ORDER BY ts) FROM orders;
SELECT a FROM t WHERE add_one(a) IN (SELECT add_one(k) FROM bid);
SELECT a, b FROM t WHERE b = (SELECT MAX(add_one(v)) FROM bid);
SELECT DISTINCT add_one(a) FROM t;
SELECT add_one(a) FROM t UNION SELECT add_one(k) FROM bid;

-- subject: a condition of LEFT JOIN UNNEST
SELECT a, x FROM t LEFT JOIN UNNEST(ARRAY[a, 7]) AS u(x) ON x > 7;
SELECT a, x FROM t LEFT JOIN UNNEST(ARRAY[a, 7]) AS u(x) ON x = a;
SELECT a, x, o FROM t LEFT JOIN UNNEST(ARRAY[a, 7]) WITH ORDINALITY AS u(x, o) ON o = 2 AND x > a + 4;
SELECT a, x FROM t LEFT JOIN UNNEST(ARRAY[a, 7]) AS u(x) ON a > 2;
SELECT a, x FROM (SELECT a, COLLECT(b) AS bs FROM t GROUP BY a) LEFT JOIN UNNEST(bs) AS u(x) ON x > 10;
SELECT a, x FROM t LEFT JOIN UNNEST(ARRAY[a, 7]) AS u(x) ON FALSE;
SELECT a, v FROM t LEFT JOIN LATERAL (SELECT v FROM bid WHERE k = a) AS q ON v > 8;
SELECT a, v FROM t LEFT JOIN LATERAL (SELECT v FROM bid WHERE k = a) AS q ON v > b;
SELECT a, n FROM t LEFT JOIN LATERAL (SELECT COUNT(*) AS n FROM bid WHERE k = a) AS q ON n > 3;

-- subject: a query in ON of an outer join
SELECT x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k AND EXISTS (SELECT 1 FROM t WHERE b = y.v);
SELECT x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k AND y.v IN (SELECT b FROM t);
SELECT x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k AND x.b IN (SELECT v FROM bid);
SELECT x.a, y.v FROM t AS x RIGHT JOIN bid AS y ON x.a = y.k AND y.v IN (SELECT b FROM t);
SELECT x.a, y.v FROM t AS x FULL JOIN bid AS y ON x.a = y.k AND x.b IN (SELECT v FROM bid);
SELECT x.a, y.v FROM t AS x FULL JOIN bid AS y ON x.a = y.k AND y.v IN (SELECT b FROM t);
SELECT x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k AND y.v > (SELECT MIN(v) FROM bid);
SELECT x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k AND x.b NOT IN (SELECT v FROM bid);
SELECT x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k AND NOT EXISTS (SELECT 1 FROM t WHERE b = y.v);
SELECT x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k AND EXISTS (SELECT 1 FROM t WHERE b = y.v AND c = x.c);
SELECT x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k AND (y.v > 50 OR x.b IN (SELECT v FROM bid));
SELECT x.a, y.v FROM t AS x LEFT JOIN bid AS y ON x.a = y.k AND x.b > (SELECT MIN(v) FROM bid WHERE k = x.a);
SELECT x.a, y.v FROM t AS x JOIN bid AS y ON x.a = y.k AND EXISTS (SELECT 1 FROM t WHERE b = y.v AND c = x.c);

-- subject: a temporal join with windows
SELECT o.id, o.product, r.rate, r.ts FROM orders AS o LEFT JOIN latest_window_rate FOR SYSTEM_TIME AS OF o.ts AS r ON o.product = r.product;
SELECT o.id, r.rate FROM orders AS o JOIN latest_window_rate FOR SYSTEM_TIME AS OF o.ts AS r ON o.product = r.product AND r.rate > 1.5;
SELECT o.id, r.rate FROM orders AS o LEFT JOIN window_rate FOR SYSTEM_TIME AS OF o.ts AS r ON o.product = r.product;
SELECT o.id, r.rate FROM orders AS o LEFT JOIN last_in_window FOR SYSTEM_TIME AS OF o.ts AS r ON o.product = r.product;
SELECT o.id, r.rate FROM orders AS o LEFT JOIN last_in_window FOR SYSTEM_TIME AS OF o.ts AS r ON o.product = r.product AND r.window_start = FLOOR(o.ts TO MINUTE) AND r.window_end = CEIL(o.ts TO MINUTE);
SELECT o.product, o.n, r.rate FROM (SELECT product, COUNT(*) AS n, window_start, window_end, window_time AS ts FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY product, window_start, window_end, window_time) AS o LEFT JOIN tariff FOR SYSTEM_TIME AS OF o.ts AS r ON o.product = r.product;
SELECT o.id, r.rate FROM orders AS o LEFT JOIN latest_of_last FOR SYSTEM_TIME AS OF o.ts AS r ON o.product = r.product;
SELECT o.id, r.rate FROM orders AS o LEFT JOIN window_rate_key FOR SYSTEM_TIME AS OF o.ts AS r ON o.product = r.product;
SELECT o.id, r.rate FROM orders AS o LEFT JOIN window_rate_key FOR SYSTEM_TIME AS OF o.ts AS r ON o.product = r.product AND r.window_start = FLOOR(o.ts TO MINUTE) AND r.window_end = FLOOR(o.ts TO MINUTE) + INTERVAL '1' MINUTE;

-- subject: matches of Flink's manual
SELECT * FROM ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES START_ROW.ts AS start_tstamp,
  LAST(PRICE_DOWN.ts) AS bottom_tstamp, LAST(PRICE_UP.ts) AS end_tstamp ONE ROW PER MATCH AFTER MATCH SKIP TO LAST
  PRICE_UP PATTERN (START_ROW PRICE_DOWN+ PRICE_UP) DEFINE PRICE_DOWN AS (LAST(PRICE_DOWN.price, 1) IS NULL AND
  PRICE_DOWN.price < START_ROW.price) OR PRICE_DOWN.price < LAST(PRICE_DOWN.price, 1), PRICE_UP AS PRICE_UP.price >
  LAST(PRICE_DOWN.price, 1)) MR;
SELECT * FROM ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES FIRST(A.ts) AS start_tstamp, LAST(A.ts)
  AS end_tstamp, AVG(A.price) AS avgPrice ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS
  AVG(A.price) < 15) MR;
SELECT * FROM ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES C.price AS lastPrice ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW PATTERN (A B* C) DEFINE A AS A.price > 10, B AS B.price < 15, C AS C.price > 12);
SELECT * FROM ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES C.price AS lastPrice ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW PATTERN (A B*? C) DEFINE A AS A.price > 10, B AS B.price < 15, C AS C.price > 12);
SELECT * FROM ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES C.ts AS dropTime, A.price - C.price AS
  dropDiff ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B* C) WITHIN INTERVAL '1' HOUR DEFINE B AS
  B.price > A.price - 10, C AS C.price < A.price - 10);
SELECT * FROM ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES FIRST(A.price) AS startPrice,
  LAST(A.price) AS topPrice, B.price AS lastPrice ONE ROW PER MATCH PATTERN (A+ B) DEFINE A AS LAST(A.price, 1) IS NULL
  OR A.price > LAST(A.price, 1), B AS B.price < LAST(A.price));
SELECT * FROM ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES SUM(A.price) AS sumPrice, FIRST(ts) AS
  startTime, LAST(ts) AS endTime ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ C) DEFINE A AS
  SUM(A.price) < 30);
SELECT * FROM ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES SUM(A.price) AS sumPrice, FIRST(ts) AS
  startTime, LAST(ts) AS endTime ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (A+ C) DEFINE A AS SUM(A.price)
  < 30);
SELECT * FROM ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES SUM(A.price) AS sumPrice, FIRST(ts) AS
  startTime, LAST(ts) AS endTime ONE ROW PER MATCH AFTER MATCH SKIP TO LAST A PATTERN (A+ C) DEFINE A AS SUM(A.price) <
  30);
SELECT * FROM ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES SUM(A.price) AS sumPrice, FIRST(ts) AS
  startTime, LAST(ts) AS endTime ONE ROW PER MATCH AFTER MATCH SKIP TO FIRST A PATTERN (A+ C) DEFINE A AS SUM(A.price) <
  30);
SELECT T.aid, T.bid, T.cid FROM ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.id AS aid, B.id AS
  bid, C.id AS cid PATTERN (A B C) DEFINE A AS note = 'a', B AS note = 'b', C AS note = 'c') AS T;
SELECT * FROM ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.id AS a, COUNT(B.id) AS n, C.id AS c
  PATTERN (A B+ C) DEFINE A AS A.price >= 10, B AS B.price > A.price AND SUM(price) < 100 AND SUM(B.price) < 80);
SELECT * FROM ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.id AS a, LAST(B.id) AS b, C.id AS c
  PATTERN (A B+ C) DEFINE A AS A.price >= 10, B AS (LAST(B.price, 1) IS NULL OR B.price > LAST(B.price, 1)) AND
  (LAST(B.price, 2) IS NULL OR B.price > 2 * LAST(B.price, 2)));
SELECT * FROM ticker MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts MEASURES A.id AS a, B.id AS b, C.id AS c PATTERN
  (A B? C) DEFINE B AS B.price < 20, C AS LAST(price, 1) < C.price);

-- subject: matches by quantifiers
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A* Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A*? Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A+ Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A+? Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A? Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A?? Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A{2} Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A{2}? Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A{2,} Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A{2,}? Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A{1,3} Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A{1,3}? Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A{,2} Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A{,2}? Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A{0,} Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A{0,1}? Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A{0} Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n, Y.id AS y
  PATTERN (X A{3,2} Y) DEFINE X AS X.v > 3, A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.id) AS n, Y.id AS y PATTERN (A* Y)
  DEFINE A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.id) AS n, Y.id AS y PATTERN (A? Y)
  DEFINE A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.id) AS n, Y.id AS y PATTERN (A{2,3}
  Y) DEFINE A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.id) AS n, Y.id AS y PATTERN (A+? Y)
  DEFINE A AS A.v < 7, Y AS Y.v > 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n PATTERN (X A+?)
  DEFINE X AS X.v > 3, A AS A.v < 7);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n PATTERN (X A*?)
  DEFINE X AS X.v > 3, A AS A.v < 7);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n PATTERN (X A{2})
  DEFINE X AS X.v > 3, A AS A.v < 7);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n PATTERN (X
  A{1,2}?) DEFINE X AS X.v > 3, A AS A.v < 7);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n PATTERN (X
  A{2,}?) DEFINE X AS X.v > 3, A AS A.v < 7);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n PATTERN (X A?)
  DEFINE X AS X.v > 3, A AS A.v < 7);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n PATTERN (X A+)
  DEFINE X AS X.v > 3, A AS A.v < 7);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES X.id AS x, COUNT(A.id) AS n PATTERN (X
  A{1,2}) DEFINE X AS X.v > 3, A AS A.v < 7);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.id) AS n PATTERN (A*) DEFINE A AS A.v
  < 7);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.id) AS n PATTERN (A? B*?) DEFINE A AS
  A.v < 7);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A) DEFINE A AS A.v < 7);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.id) AS a, COUNT(B.id) AS b, C.id AS c
  PATTERN (A+ B+ C) DEFINE A AS A.v < 6, B AS B.v > 3);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.id) AS a, COUNT(B.id) AS b, C.id AS c
  PATTERN (A* B* C) DEFINE A AS A.v < 6, B AS B.v > 3, C AS C.name = 'c');
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.id) AS a, COUNT(B.id) AS b, C.id AS c
  PATTERN (A+? B+ C) DEFINE A AS A.v < 6, B AS B.v > 3);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.id) AS a, B.id AS b, C.id AS c, D.id
  AS d PATTERN (A+ B? C? D) DEFINE A AS A.v < 6, B AS B.name = 'b', C AS C.v > 3, D AS D.name IS NOT NULL);
SELECT * FROM event MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(A.id) AS a, LAST(A.id) AS l, COUNT(B.id) AS b,
  FIRST(B.id) AS f PATTERN (A{2} B{2,}?) DEFINE A AS A.v < 6, B AS B.v > 3);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN ((A) (B)) DEFINE
  A AS A.v < 6, B AS B.v > 3);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, C.id AS c PATTERN (A (B C)) DEFINE
  A AS A.v < 6, B AS B.v > 3);

-- subject: matches and where the next one begins
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l AFTER MATCH
  SKIP PAST LAST ROW PATTERN (A B* C) DEFINE A AS A.v < 8, B AS B.v < 7, C AS C.v > 2);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l AFTER MATCH
  SKIP TO NEXT ROW PATTERN (A B* C) DEFINE A AS A.v < 8, B AS B.v < 7, C AS C.v > 2);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l AFTER MATCH
  SKIP TO FIRST B PATTERN (A B+ C) DEFINE A AS A.v < 8, B AS B.v < 7, C AS C.v > 2);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l AFTER MATCH
  SKIP TO LAST B PATTERN (A B+ C) DEFINE A AS A.v < 8, B AS B.v < 7, C AS C.v > 2);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l AFTER MATCH
  SKIP TO B PATTERN (A B+ C) DEFINE A AS A.v < 8, B AS B.v < 7, C AS C.v > 2);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l AFTER MATCH
  SKIP TO LAST C PATTERN (A B+ C) DEFINE A AS A.v < 8, B AS B.v < 7, C AS C.v > 2);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l AFTER MATCH
  SKIP TO LAST A PATTERN (A+ B) DEFINE A AS A.v < 8, B AS B.v > 2);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l AFTER MATCH
  SKIP TO FIRST B PATTERN (A B* C) DEFINE A AS A.v < 8, B AS B.v < 7, C AS C.v > 2);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l AFTER MATCH
  SKIP TO LAST B PATTERN (A B? C) DEFINE A AS A.v < 8, B AS B.v < 2, C AS C.v > 2);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l AFTER MATCH
  SKIP TO FIRST A PATTERN (A B) DEFINE A AS A.v < 8, B AS B.v > 2);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l AFTER MATCH
  SKIP TO LAST D PATTERN (A B) DEFINE A AS A.v < 8, B AS B.v > 2);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l PATTERN (A B C)
  DEFINE A AS A.v < 8, B AS B.v < 7, C AS C.v > 2);
SELECT * FROM event MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A+? B+? C) DEFINE A AS A.v < 8, C AS C.v > 4);

-- subject: measures of matches
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, A.name AS an, A.v AS av, A.w AS
  aw, A.ts AS ats, B.id AS b, id AS l AFTER MATCH SKIP PAST LAST ROW PATTERN (A B? C) DEFINE B AS B.v < 4);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f0, FIRST(id, 1) AS f1,
  FIRST(id, 5) AS f5, LAST(id) AS l0, LAST(id, 1) AS l1, LAST(id, 5) AS l5 AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B)
  DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(A.id) AS f0, FIRST(A.id, 1) AS f1,
  LAST(A.v, 2) AS l2, LAST(A.v + A.id) AS s, FIRST(A.v * 2 - A.id, 1) AS t AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B)
  DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(*) AS n, COUNT(A.v) AS c, SUM(A.v) AS
  s, AVG(A.v) AS g, MIN(A.v) AS lo, MAX(A.v) AS hi, SUM(v) AS t AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A
  AS A.v < 8 OR A.v IS NULL);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.id) AS n, SUM(A.w) AS s, AVG(A.w) AS
  g, MIN(A.name) AS lo, MAX(A.ts) AS hi, SUM(D.v) AS none, COUNT(D.v) AS zero AFTER MATCH SKIP PAST LAST ROW PATTERN (A+
  D? B) DEFINE A AS A.v < 8 OR A.v IS NULL, D AS D.v > 100);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES SUM(A.v * 2) AS s, SUM(A.v) / COUNT(A.v) AS
  g, SUM(A.v) + B.v AS t, SUM(A.v) - SUM(B.v) AS d, MAX(A.v) > MIN(B.v) AS o AFTER MATCH SKIP PAST LAST ROW PATTERN (A+
  B) DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES STDDEV_POP(A.v) AS d, VAR_SAMP(A.v) AS r,
  FIRST_VALUE(A.id) AS f, LAST_VALUE(A.id) AS l AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES LISTAGG(A.name) AS s, LISTAGG(A.name, '-') AS
  t AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES ARRAY_AGG(A.id) AS s AFTER MATCH SKIP PAST
  LAST ROW PATTERN (A+ B) DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(DISTINCT A.v) AS n PATTERN (A+ B)
  DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES SUM(A.v) FILTER (WHERE A.v > 3) AS n PATTERN
  (A+ B) DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v + B.v AS s, A.v * 2 > B.v AS o,
  COALESCE(B.v, -1) AS c, CASE WHEN A.v > B.v THEN 'down' WHEN A.v < B.v THEN 'up' ELSE 'even' END AS way, UPPER(A.name)
  || '-' || B.name AS names, TIMESTAMPDIFF(SECOND, A.ts, B.ts) AS gap PATTERN (A B) DEFINE A AS A.name = 'a');
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES 1 AS one, 'x' AS x, CAST(NULL AS INT) AS
  nothing, ARRAY[A.id, B.id] AS ids, ROW(A.id, B.name) AS pair, CAST(A.v AS STRING) AS s PATTERN (A B) DEFINE A AS
  A.name = 'a');
SELECT k, a, b FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FINAL LAST(A.id) AS a, FINAL
  COUNT(A.id) AS b AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS A.v < 8);
SELECT k, a FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES RUNNING LAST(A.id) AS a PATTERN (A+ B)
  DEFINE A AS A.v < 8);
SELECT k FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts PATTERN (A B) DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (ORDER BY ts PATTERN (A B) DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x, B.id AS x PATTERN (A B) DEFINE A
  AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.k AS k PATTERN (A B) DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES Z.id AS z PATTERN (A B) DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.nonsense AS z PATTERN (A B) DEFINE A AS A.v
  < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES PREV(A.id) AS z PATTERN (A B) DEFINE A AS A.v
  < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES NEXT(A.id) AS z PATTERN (A B) DEFINE A AS A.v
  < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES PREV(LAST(A.id), 0) AS z PATTERN (A B) DEFINE
  A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES CLASSIFIER() AS z PATTERN (A B) DEFINE A AS
  A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES MATCH_NUMBER() AS z PATTERN (A B) DEFINE A AS
  A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES LAST(A.v + B.v) AS z PATTERN (A B) DEFINE A
  AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES SUM(A.v + B.v) AS z PATTERN (A B) DEFINE A AS
  A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES SUM(A.v + v) AS z PATTERN (A B) DEFINE A AS
  A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES SUM(LAST(A.v)) AS z PATTERN (A B) DEFINE A AS
  A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES LAST(SUM(A.v)) AS z PATTERN (A B) DEFINE A AS
  A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES LAST(A.v, B.v) AS z PATTERN (A B) DEFINE A AS
  A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES LAST(A.v, -1) AS z PATTERN (A B) DEFINE A AS
  A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.*) AS z PATTERN (A B) DEFINE A AS A.v
  < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES (SELECT MAX(a) FROM t) AS z PATTERN (A B)
  DEFINE A AS A.v < 8);

-- subject: conditions of matches
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE A
  AS A.name LIKE 'a%', B AS B.v BETWEEN 2 AND 6 OR B.name IN ('b', 'c'));
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE A
  AS A.v IS NULL OR A.name IS NULL, B AS B.v IS NOT NULL);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE A
  AS NOT (A.v > 4), B AS CASE WHEN B.name = 'a' THEN B.v > 2 WHEN B.name = 'b' THEN FALSE END);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE A
  AS MOD(A.v, 2) = 0 AND CHAR_LENGTH(name) = 1, B AS UPPER(B.name) <> 'B' AND ABS(B.w) > 1 AND B.ts < A.ts + INTERVAL
  '10' SECOND);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE A
  AS A.v < B.v);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE A
  AS B.v IS NULL, B AS A.v < B.v AND B.name <> A.name);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE A
  AS v < 5, B AS v > A.v);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(A.id) AS a, LAST(A.id) AS l, B.id AS b
  AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS LAST(v, 1) IS NULL OR v > LAST(v, 1), B AS v < FIRST(v) OR v
  = LAST(A.v));
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(A.id) AS a, LAST(A.id) AS l, B.id AS b
  AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS SUM(A.v) < 20, B AS COUNT(A.id) > 1 AND B.v <= MAX(A.v) AND
  COUNT(*) < 7);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(A.id) AS a, LAST(A.id) AS l, B.id AS b
  AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS A.v >= AVG(A.v) AND COUNT(A.v) = COUNT(A.id), B AS AVG(v) <
  7);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.id) AS n, B.id AS b AFTER MATCH SKIP
  PAST LAST ROW PATTERN (A{2,} B) DEFINE A AS A.v <> LAST(A.v, 1) OR LAST(A.v, 1) IS NULL, B AS LAST(A.v) = LAST(A.v, 0)
  AND FIRST(A.v, 1) > FIRST(A.v));
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b, C.id AS c PATTERN (A B
  C) DEFINE B AS B.v > A.v, C AS C.v > A.v + B.v OR C.v = A.v);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE A
  AS TRUE, B AS FALSE);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE A
  AS CAST(NULL AS BOOLEAN));
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A B) DEFINE A AS A.v);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A B) DEFINE A AS A.name >
  3);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A B) DEFINE A AS A.v < 8,
  Z AS Z.v > 1);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A B) DEFINE A AS A.v < 8,
  A AS A.v > 1);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A B) DEFINE A AS Z.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES a.id AS x, `B c`.id AS y PATTERN (a `B c`)
  DEFINE a AS a.v < 8, `B c` AS `B c`.v > a.v);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES a.id AS x, A.id AS y PATTERN (a A) DEFINE a
  AS a.v < 8, A AS A.v > a.v);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES a.id AS x PATTERN (A B) DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES v.id AS x, w.v AS y PATTERN (v w) DEFINE v AS
  v.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x PATTERN (A B) DEFINE A AS event.v <
  8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x PATTERN (A B) DEFINE A AS PREV(A.v)
  < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x PATTERN (A B) DEFINE A AS PREV(A.v,
  1) < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x PATTERN (A B) DEFINE A AS NEXT(A.v)
  < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x PATTERN (A B) DEFINE A AS NEXT(A.v,
  0) < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x PATTERN (A B) DEFINE A AS
  CLASSIFIER() = 'A');
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x PATTERN (A B) DEFINE A AS A.v IN
  (SELECT a FROM t));
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x PATTERN (A B) DEFINE A AS EXISTS
  (SELECT a FROM t));
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x PATTERN (A B) DEFINE B AS LAST(A.v
  * B.v) > 3);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x PATTERN (A B) DEFINE B AS SUM(A.v *
  B.v) > 3);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x PATTERN (A B) DEFINE B AS
  COUNT(DISTINCT A.v) > 3);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x PATTERN (A B) DEFINE B AS SUM(B.v)
  OVER () > 3);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS x PATTERN (A B) DEFINE B AS
  MATCH_ROWTIME() > A.ts);

-- subject: matches in time
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) WITHIN
  INTERVAL '3' SECOND DEFINE A AS A.v < 9);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, COUNT(B.id) AS n, C.id AS c
  PATTERN (A B* C) WITHIN INTERVAL '0 00:00:08.5' DAY TO SECOND DEFINE B AS B.v < 8, C AS C.v > 5);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) WITHIN
  INTERVAL '1' MINUTE DEFINE A AS A.v < 9, B AS B.v > A.v);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) WITHIN
  INTERVAL '0' SECOND DEFINE A AS A.v < 9);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) WITHIN
  INTERVAL -'3' SECOND DEFINE A AS A.v < 9);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) WITHIN
  INTERVAL '1' MONTH DEFINE A AS A.v < 9);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) WITHIN 5
  DEFINE A AS A.v < 9);
SELECT * FROM event MATCH_RECOGNIZE (ORDER BY ts, v MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE A AS A.name =
  'a');
SELECT * FROM event MATCH_RECOGNIZE (ORDER BY ts ASC, name DESC, id ASC MEASURES A.id AS a, B.id AS b PATTERN (A B)
  DEFINE A AS A.name = 'b');
SELECT * FROM event MATCH_RECOGNIZE (ORDER BY ts, v DESC NULLS FIRST, id MEASURES A.id AS a, B.id AS b PATTERN (A B)
  DEFINE A AS A.name = 'b');
SELECT * FROM event MATCH_RECOGNIZE (ORDER BY ts MEASURES FIRST(A.id) AS a, COUNT(*) AS n AFTER MATCH SKIP PAST LAST
  ROW PATTERN (A+ B) DEFINE A AS A.ts < FIRST(A.ts) + INTERVAL '10' SECOND);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts DESC MEASURES A.id AS a PATTERN (A B) DEFINE A AS A.v
  < 9);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY id MEASURES A.id AS a PATTERN (A B) DEFINE A AS A.v < 9);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY v, ts MEASURES A.id AS a PATTERN (A B) DEFINE A AS A.v <
  9);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k MEASURES A.id AS a PATTERN (A B) DEFINE A AS A.v < 9);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts + INTERVAL '1' SECOND MEASURES A.id AS a PATTERN (A B)
  DEFINE A AS A.v < 9);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY nonsense MEASURES A.id AS a PATTERN (A B) DEFINE A AS A.v
  < 9);
SELECT * FROM event_now MATCH_RECOGNIZE (ORDER BY seen MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE A AS A.v <
  9);
SELECT * FROM event_now MATCH_RECOGNIZE (PARTITION BY k ORDER BY seen MEASURES FIRST(A.id) AS a, SUM(A.v) AS s, B.id
  AS b AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS A.v < 8);
SELECT * FROM event_now MATCH_RECOGNIZE (PARTITION BY k ORDER BY seen MEASURES A.id AS a, B.id AS b PATTERN (A B)
  WITHIN INTERVAL '1' HOUR DEFINE A AS A.seen IS NOT NULL AND A.v < 8);
SELECT * FROM event_now MATCH_RECOGNIZE (PARTITION BY k ORDER BY seen DESC MEASURES A.id AS a PATTERN (A B) DEFINE A
  AS A.v < 8);
SELECT k, a, CAST(r AS STRING) IS NOT NULL FROM event_now MATCH_RECOGNIZE (PARTITION BY k ORDER BY seen MEASURES A.id
  AS a, MATCH_PROCTIME() AS r PATTERN (A B) DEFINE A AS A.v < 8);
SELECT k, a, r IS NOT NULL FROM event_now MATCH_RECOGNIZE (PARTITION BY k ORDER BY seen MEASURES A.id AS a, MATCH_ROWTIME() AS r
  PATTERN (A B) DEFINE A AS A.v < 8);
SELECT k, a, r FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, MATCH_ROWTIME() AS r PATTERN
  (A B) DEFINE A AS A.v < 8);
SELECT k, a, r FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, MATCH_ROWTIME(ts) AS r
  PATTERN (A B) DEFINE A AS A.v < 8);
SELECT k, a, r FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, MATCH_ROWTIME(A.ts) AS r
  PATTERN (A B) DEFINE A AS A.v < 8);
SELECT k, a, r FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, MATCH_ROWTIME(v) AS r
  PATTERN (A B) DEFINE A AS A.v < 8);
SELECT k, a, r FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, MATCH_ROWTIME() + INTERVAL
  '1' SECOND AS r PATTERN (A B) DEFINE A AS A.v < 8);
SELECT k, a, CAST(p AS STRING) IS NOT NULL, r FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS
  a, MATCH_PROCTIME() AS p, MATCH_ROWTIME() AS r PATTERN (A B) DEFINE A AS A.v < 8);
SELECT MATCH_ROWTIME() FROM event;
SELECT MATCH_PROCTIME() FROM event;
SELECT k, a, r FROM event_ltz MATCH_RECOGNIZE (PARTITION BY k ORDER BY ltz MEASURES A.id AS a, MATCH_ROWTIME(ltz) AS r
  PATTERN (A B) DEFINE A AS A.v < 8);
SELECT k, a, r FROM event_ltz MATCH_RECOGNIZE (PARTITION BY k ORDER BY ltz MEASURES A.id AS a, MATCH_ROWTIME() AS r
  PATTERN (A B) DEFINE A AS A.v < 8);

-- subject: matches within queries
SELECT k, COUNT(*), SUM(s), TUMBLE_START(r, INTERVAL '20' SECOND) FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY
  ts MEASURES SUM(v) AS s, MATCH_ROWTIME() AS r PATTERN (A B) DEFINE A AS A.v < 8) GROUP BY k, TUMBLE(r, INTERVAL '20'
  SECOND);
SELECT k, COUNT(*) FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.ts AS r PATTERN (A B) DEFINE A AS
  A.v < 8) GROUP BY k, TUMBLE(r, INTERVAL '20' SECOND);
WITH m AS (SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS a, MATCH_ROWTIME() AS r
  PATTERN (A B) DEFINE A AS A.v < 8)) SELECT window_start, COUNT(*), MAX(a) FROM TABLE(TUMBLE(TABLE m, DESCRIPTOR(r),
  INTERVAL '20' SECOND)) GROUP BY window_start, window_end;
SELECT k, a, SUM(a) OVER (PARTITION BY k ORDER BY r ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM event
  MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS a, MATCH_ROWTIME() AS r AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B) DEFINE A AS A.v < 8);
SELECT m.k, m.a, e.id FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, MATCH_ROWTIME() AS r
  AFTER MATCH SKIP PAST LAST ROW PATTERN (A B) DEFINE A AS A.v < 8) AS m JOIN event AS e ON m.k = e.k AND e.ts BETWEEN m.r AND m.r + INTERVAL '5' SECOND WHERE e.id <> 37;
SELECT m.k, m.a, x.c FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A B) DEFINE A
  AS A.v < 8) AS m LEFT JOIN t AS x ON m.k = x.a;
SELECT k, COUNT(*), MAX(n) FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.id) AS n PATTERN
  (A+ B) DEFINE A AS A.v < 8) GROUP BY k;
SELECT DISTINCT n FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.id) AS n PATTERN (A+ B)
  DEFINE A AS A.v < 8);
SELECT a FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.v AS b PATTERN (A B) DEFINE A AS
  A.v < 8) WHERE k = 1 AND b > 3;
SELECT m.q, m.a + 1 FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A B) DEFINE A
  AS A.v < 8) AS m(q, a);
SELECT id FROM t CROSS JOIN event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS id PATTERN (A B) DEFINE
  A AS A.v < 3) AS m WHERE t.b = 10;
SELECT id FROM event WHERE id IN (SELECT a FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a
  PATTERN (A B) DEFINE A AS A.v < 8));
SELECT a FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A B) DEFINE A AS A.v < 3)
  UNION ALL SELECT b FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES B.id AS b PATTERN (A B) DEFINE A AS
  A.v > 7);
SELECT * FROM (SELECT k, id, v + 1 AS v, ts FROM event WHERE v > 2) MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
  MEASURES A.id AS a, A.v AS v PATTERN (A B) DEFINE A AS A.v < 8);
SELECT * FROM (SELECT symbol, id, ts FROM ticker WHERE price > 12 UNION ALL SELECT symbol, id + 20, ts FROM ticker WHERE price < 16)
  MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts, id MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE B AS B.id > A.id);
SELECT * FROM (SELECT k, SUM(v) AS s, TUMBLE_ROWTIME(ts, INTERVAL '10' SECOND) AS r FROM event GROUP BY k, TUMBLE(ts,
  INTERVAL '10' SECOND)) MATCH_RECOGNIZE (PARTITION BY k ORDER BY r MEASURES A.s AS a, B.s AS b, B.r AS r PATTERN (A B)
  DEFINE B AS B.s < A.s);
SELECT * FROM (SELECT k, SUM(v) AS s, window_time AS r FROM TABLE(TUMBLE(TABLE event, DESCRIPTOR(ts), INTERVAL '10'
  SECOND)) GROUP BY k, window_start, window_end, window_time) MATCH_RECOGNIZE (PARTITION BY k ORDER BY r MEASURES A.s AS
  a, B.s AS b PATTERN (A B) DEFINE B AS B.s < A.s);
SELECT * FROM (SELECT k, n, r FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES COUNT(A.id) AS n,
  MATCH_ROWTIME() AS r AFTER MATCH SKIP PAST LAST ROW PATTERN (A+ B) DEFINE A AS A.v < 8)) MATCH_RECOGNIZE (ORDER BY r
  MEASURES A.k AS x, B.k AS y, A.n AS n PATTERN (A B) DEFINE B AS B.n <= A.n);
SELECT * FROM (SELECT x.k, x.id, y.v, x.ts FROM event AS x JOIN event AS y ON x.k = y.k AND y.ts BETWEEN x.ts AND x.ts + INTERVAL '5' SECOND
  WHERE x.id NOT IN (20, 37, 52) AND y.id NOT IN (20, 37, 52)) MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts, id, v
  MEASURES A.id AS a PATTERN (A B) DEFINE B AS B.v <
  A.v);
SELECT * FROM (SELECT k, name, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, name ORDER BY ts) AS n FROM
  event) WHERE n = 1) MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS a, B.v AS b PATTERN (A B) DEFINE A AS
  A.v < 8);
SELECT * FROM (SELECT k, name, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, name ORDER BY ts DESC) AS n
  FROM event) WHERE n = 1) MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.v AS a PATTERN (A B) DEFINE A AS A.v <
  8);
SELECT * FROM (SELECT k, COUNT(*) AS n, PROCTIME() AS seen FROM event GROUP BY k) MATCH_RECOGNIZE (PARTITION BY k
  ORDER BY seen MEASURES A.n AS a PATTERN (A B) DEFINE A AS A.n < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k, name ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B)
  DEFINE B AS B.v > A.v);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY MOD(k, 2) ORDER BY ts MEASURES A.id AS a PATTERN (A B) DEFINE B AS
  B.v > A.v);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY event.k ORDER BY ts MEASURES A.id AS a PATTERN (A B) DEFINE B AS B.v
  > A.v);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A B) DEFINE B AS B.v >
  A.v) ORDER BY a LIMIT 3;
SELECT a, b FROM event AS e MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B)
  DEFINE B AS B.v > A.v) AS m WHERE m.a > 10;
SELECT * FROM latest_tariff MATCH_RECOGNIZE (PARTITION BY product ORDER BY ts MEASURES A.rate AS a PATTERN (A B)
  DEFINE B AS B.rate > A.rate);

-- subject: matches that Flink refuses
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a ALL ROWS PER MATCH PATTERN (A B)
  DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A B A) DEFINE A AS A.v <
  8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN ((A B)+ C) DEFINE A AS A.v
  < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN ((A | B) C) DEFINE A AS A.v
  < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (PERMUTE(A, B)) DEFINE A AS
  A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A {- B -} C) DEFINE A AS
  A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (^ A B) DEFINE A AS A.v <
  8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A B $) DEFINE A AS A.v <
  8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN (A B) SUBSET U = (A, B)
  DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES LAST(U.id) AS a PATTERN (A B) SUBSET U = (A,
  B) DEFINE A AS A.v < 8);
SELECT * FROM event MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.id AS a PATTERN ((A B)? C) DEFINE A AS A.v
  < 8);

-- subject: percentiles and bitmaps
SELECT customer, PERCENTILE(quantity, 0.5) FROM orders GROUP BY customer;
SELECT customer, PERCENTILE(price, 0.25), PERCENTILE(price, 1), PERCENTILE(weight, 0) FROM orders GROUP BY customer;
SELECT product, PERCENTILE(quantity, ARRAY[0.1, 0.5, 0.9]) FROM orders GROUP BY product;
SELECT PERCENTILE(quantity, 0.5, id), PERCENTILE(quantity, 0.99), PERCENTILE(id, 0.333) FROM orders;
SELECT PERCENTILE(id, 0.5, quantity - 3) FROM orders;
SELECT PERCENTILE(quantity, 0.5) FROM orders WHERE id < 0;
SELECT customer, PERCENTILE(quantity, 0.5) FROM orders WHERE quantity IS NULL GROUP BY customer;
SELECT customer, PERCENTILE(DISTINCT quantity, 0.5) FROM orders GROUP BY customer;
SELECT customer, PERCENTILE(quantity, 0.5) FILTER (WHERE rush) FROM orders GROUP BY customer;
SELECT PERCENTILE(quantity, 1.5) FROM orders;
SELECT PERCENTILE(quantity, -0.1) FROM orders;
SELECT PERCENTILE(customer, 0.5) FROM orders;
SELECT PERCENTILE(quantity, 'x') FROM orders;
SELECT PERCENTILE(quantity, 0.5, price) FROM orders;
SELECT PERCENTILE(quantity) FROM orders;
SELECT PERCENTILE(quantity, CAST(NULL AS DOUBLE)) FROM orders;
SELECT n, PERCENTILE(m, 0.5) FROM (SELECT customer, COUNT(*) AS n, MAX(id) AS m FROM orders GROUP BY customer) GROUP BY n;
SELECT customer, BITMAP_BUILD_AGG(quantity), BITMAP_BUILD_CARDINALITY_AGG(quantity) FROM orders GROUP BY customer;
SELECT BITMAP_BUILD_AGG(id), BITMAP_BUILD_CARDINALITY_AGG(id) FROM orders WHERE id < 0;
SELECT customer, BITMAP_BUILD_AGG(quantity), BITMAP_BUILD_CARDINALITY_AGG(quantity) FROM orders WHERE quantity IS NULL GROUP BY customer;
SELECT BITMAP_BUILD_AGG(DISTINCT quantity) FROM orders;
SELECT BITMAP_BUILD_AGG(quantity) FILTER (WHERE rush) FROM orders;
SELECT BITMAP_BUILD_AGG(-quantity), BITMAP_BUILD_AGG(CAST(quantity AS TINYINT)) FROM orders;
SELECT BITMAP_BUILD_AGG(CAST(id AS BIGINT)) FROM orders;
SELECT BITMAP_BUILD_AGG(customer) FROM orders;
SELECT BITMAP_OR_AGG(b), BITMAP_AND_AGG(b), BITMAP_XOR_AGG(b) FROM (SELECT customer, BITMAP_BUILD_AGG(quantity) AS b FROM orders GROUP BY customer);
SELECT BITMAP_OR_CARDINALITY_AGG(b), BITMAP_AND_CARDINALITY_AGG(b), BITMAP_XOR_CARDINALITY_AGG(b) FROM (SELECT customer, BITMAP_BUILD_AGG(quantity) AS b FROM orders GROUP BY customer);
SELECT product, BITMAP_OR_AGG(b), BITMAP_AND_AGG(b), BITMAP_XOR_AGG(b) FROM (SELECT product, BITMAP_BUILD(ARRAY[quantity, CAST(id AS INT), 7]) AS b FROM orders) GROUP BY product;
SELECT product, BITMAP_OR_AGG(DISTINCT b), BITMAP_XOR_AGG(DISTINCT b) FROM (SELECT product, BITMAP_BUILD(ARRAY[quantity, 7]) AS b FROM orders) GROUP BY product;
SELECT BITMAP_OR_AGG(b), BITMAP_AND_CARDINALITY_AGG(b), BITMAP_XOR_AGG(b) FROM (SELECT BITMAP_BUILD(ARRAY[quantity, 7]) AS b FROM orders) WHERE BITMAP_CARDINALITY(b) > 5;
SELECT BITMAP_OR_AGG(CAST(NULL AS BITMAP)), BITMAP_AND_AGG(CAST(NULL AS BITMAP)), BITMAP_XOR_CARDINALITY_AGG(CAST(NULL AS BITMAP)) FROM orders;
SELECT BITMAP_OR_AGG(id) FROM orders;
SELECT id, BITMAP_BUILD_AGG(quantity) OVER (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM orders;
SELECT id, PERCENTILE(quantity, 0.5) OVER (ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM orders;
SELECT window_start, PERCENTILE(quantity, 0.5), BITMAP_BUILD_AGG(quantity) FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
SELECT window_start, PERCENTILE(quantity, 0.5), BITMAP_BUILD_CARDINALITY_AGG(quantity) FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' HOUR, INTERVAL '2' HOUR)) GROUP BY window_start, window_end;
SELECT b, COUNT(*) FROM (SELECT BITMAP_BUILD(ARRAY[quantity]) AS b FROM orders) GROUP BY b;
SELECT JSON_STRING(v) FROM (SELECT DISTINCT PARSE_JSON(CAST(quantity AS STRING)) AS v FROM orders);
SELECT JSON_STRING(v), n FROM (SELECT v, COUNT(*) AS n FROM (SELECT PARSE_JSON('{"q": ' || CAST(quantity AS STRING) || '}')['q'] AS v FROM orders WHERE quantity IS NOT NULL) GROUP BY v);
SELECT customer, JSON_OBJECTAGG(KEY product VALUE 1) FROM orders WHERE id < 3 GROUP BY customer;
SELECT JSON_STRING(MAX(PARSE_JSON('1'))) FROM orders;
SELECT MAX(BITMAP_BUILD(ARRAY[quantity])) FROM orders;
SELECT COUNT(PARSE_JSON('1')), COUNT(DISTINCT BITMAP_BUILD(ARRAY[quantity])) FROM orders;
SELECT o, COUNT(*) FROM (SELECT OBJECT_OF('shop.Order', 'customer', customer, 'rush', rush) AS o FROM orders) GROUP BY o;
SELECT HOP_START(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR), HOP_END(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR), COUNT(*) FROM orders GROUP BY HOP(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR);
SELECT customer, STDDEV(quantity), VARIANCE(weight), STDDEV(price) FROM orders GROUP BY customer;
SELECT APPROX_COUNT_DISTINCT(quantity), APPROX_COUNT_DISTINCT(customer) FROM orders;
SELECT SINGLE_VALUE(quantity) FROM orders WHERE id = 2;
SELECT HOP_END(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR), HOP_ROWTIME(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR), MAX(id) FROM orders GROUP BY HOP(ts, INTERVAL '1' HOUR, INTERVAL '2' HOUR);
SELECT SESSION_START(ts, INTERVAL '10' MINUTE), SESSION_ROWTIME(ts, INTERVAL '10' MINUTE), COUNT(*) FROM orders GROUP BY SESSION(ts, INTERVAL '10' MINUTE);
SELECT customer, JSON_ARRAYAGG(id), JSON_ARRAYAGG(price NULL ON NULL) FROM orders WHERE id IN (2, 5) GROUP BY customer, id;
-- subject: functions of batches and awaited ones
SELECT a, plus_of(a, b), shout(c) FROM t WHERE a IS NOT NULL AND b IS NOT NULL AND c IS NOT NULL;
SELECT a, plus_of(plus_of(a, a), CAST(a AS BIGINT)) FROM t WHERE a IS NOT NULL;
SELECT a, shout(c) FROM t;
SELECT a, frame_of(CAST(a AS BIGINT), c) FROM t WHERE a IS NOT NULL;
SELECT id, shown_by_pandas(id), shown_by_pandas(`day`), shown_by_pandas(ts) FROM orders WHERE id < 9 AND `day` IS NOT NULL AND ts IS NOT NULL;
SELECT id, shown_by_pandas(price), shown_by_pandas(weight), shown_by_pandas(product) FROM orders WHERE id < 9 AND price IS NOT NULL AND weight IS NOT NULL;
SELECT a, b FROM t WHERE above_ten(b);
SELECT id, an_hour_later(ts) FROM orders WHERE id < 9 AND ts IS NOT NULL;
SELECT k, SUM(plus_of(k, v)) FROM bid GROUP BY k;
SELECT a, add_one(plus_of(a, b)) FROM t WHERE a IS NOT NULL AND b IS NOT NULL;

-- subject: aggregate functions of Python
SELECT a, weighted(b, b) FROM t GROUP BY a;
SELECT a, weighted(b, a), COUNT(*), SUM(b) FROM t GROUP BY a;
SELECT weighted(b, b) FROM t;
SELECT c, words_of(c), frequent(b) FROM t GROUP BY c;
SELECT a, words_of(c) FROM t GROUP BY a;
SELECT a, frequent(b) FILTER (WHERE b > 10) FROM t GROUP BY a;
SELECT a, frequent(DISTINCT b), frequent(b) FROM t GROUP BY a;
SELECT a FROM t GROUP BY a HAVING weighted(b, b) > 15;
SELECT weighted(n, m) FROM (SELECT a, COUNT(*) AS n, SUM(b) AS m FROM t GROUP BY a);
SELECT n, words_of(c) FROM (SELECT c, COUNT(*) AS n FROM t GROUP BY c) GROUP BY n;
SELECT frequent(n) FROM (SELECT c, COUNT(*) AS n FROM t GROUP BY c);
SELECT weighted_once(b, b) FROM t;
SELECT k, weighted(v, v), words_of(CAST(v AS STRING)) FROM bid GROUP BY k;
SELECT k, frequent(v) FROM (SELECT DISTINCT k, v FROM bid) GROUP BY k;
SELECT x.k, weighted(x.v, y.b) FROM bid AS x JOIN t AS y ON x.k = y.a GROUP BY x.k;
SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND), span_of(v), mean_of(v) FROM bid GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND);
SELECT k, HOP_END(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND), share_of(v, k) FROM bid GROUP BY k, HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND);

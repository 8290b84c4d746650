-- The queries whose answers real Flink gave, by subject. All of them read `orders`, and each has one answer: none
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

-- Queries whose rows have an order, or of which only some are wanted. All of them read `orders`, and each has one answer.

-- subject: order
SELECT id, price FROM orders ORDER BY price, id;
SELECT id, price FROM orders ORDER BY price DESC, id DESC;
SELECT id, weight FROM orders ORDER BY weight, id;
SELECT id, customer FROM orders ORDER BY customer DESC NULLS FIRST, id;
SELECT id, product FROM orders ORDER BY product, id DESC;
SELECT id, rush, `day` FROM orders ORDER BY rush, `day` DESC, id;
SELECT id, quantity AS q FROM orders ORDER BY q NULLS LAST, id;
SELECT id FROM orders ORDER BY quantity * 2 - id, id;
SELECT customer, id FROM orders ORDER BY 1, 2;
SELECT DISTINCT product FROM orders ORDER BY product;
SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer ORDER BY n DESC, customer;
SELECT customer, SUM(price) AS total FROM orders GROUP BY customer ORDER BY COUNT(*), customer;
SELECT x FROM (VALUES (3), (1), (2)) AS v(x) ORDER BY x DESC;

-- subject: order of time
SELECT id FROM orders ORDER BY ts;
SELECT id, ts FROM orders ORDER BY ts, price DESC, id;
SELECT id FROM orders ORDER BY ts DESC;
SELECT id FROM orders ORDER BY id, ts;

-- subject: first rows
SELECT id FROM orders ORDER BY id LIMIT 5;
SELECT id FROM orders ORDER BY id DESC LIMIT 5;
SELECT id, price FROM orders ORDER BY price, id LIMIT 12;
SELECT id, price FROM orders ORDER BY price DESC, id LIMIT 12;
SELECT id, price FROM orders ORDER BY price ASC NULLS LAST, id LIMIT 12;
SELECT id, price FROM orders ORDER BY price DESC NULLS FIRST, id LIMIT 12;
SELECT id, weight FROM orders ORDER BY weight DESC NULLS LAST, id LIMIT 9;
SELECT id, product FROM orders ORDER BY product DESC, id LIMIT 9;
SELECT id, rush FROM orders ORDER BY rush DESC, id LIMIT 9;
SELECT id, `day` FROM orders ORDER BY `day` DESC, id LIMIT 9;
SELECT id, ts FROM orders ORDER BY ts DESC LIMIT 4;
SELECT id FROM orders ORDER BY ts LIMIT 4;
SELECT id FROM orders ORDER BY id FETCH FIRST ROW ONLY;
SELECT id FROM orders ORDER BY id FETCH NEXT 2 ROWS ONLY;
SELECT id FROM orders ORDER BY id LIMIT 0;
SELECT id FROM orders ORDER BY id LIMIT 1000;
SELECT id FROM orders ORDER BY quantity * 2 - id, id LIMIT 6;
SELECT product, id FROM orders ORDER BY 1, 2 LIMIT 6;
SELECT product, id + 1 AS following FROM orders ORDER BY following DESC LIMIT 6;

-- subject: rows after others
SELECT id FROM orders ORDER BY id LIMIT 7 OFFSET 10;
SELECT id, customer FROM orders ORDER BY customer, id OFFSET 10 ROWS FETCH NEXT 7 ROWS ONLY;
SELECT id, price FROM orders ORDER BY price DESC NULLS LAST, id LIMIT 3 OFFSET 2;
SELECT id FROM orders ORDER BY id OFFSET 100 ROWS FETCH NEXT 5 ROWS ONLY;
SELECT id FROM orders ORDER BY id LIMIT 10 OFFSET 75;

-- subject: first rows of groups
SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer ORDER BY n DESC, customer LIMIT 3;
SELECT customer, SUM(price) AS total FROM orders GROUP BY customer ORDER BY total DESC NULLS LAST, customer LIMIT 2;
SELECT customer, SUM(price) AS total FROM orders GROUP BY customer ORDER BY total, customer LIMIT 2 OFFSET 1;
SELECT product, MAX(weight) FROM orders GROUP BY product HAVING COUNT(*) > 3 ORDER BY MAX(weight) DESC, product LIMIT 3;
SELECT DISTINCT product FROM orders ORDER BY product LIMIT 3;
SELECT customer, product, COUNT(*) AS n FROM orders GROUP BY customer, product ORDER BY n DESC, product, customer LIMIT 5;
SELECT n, COUNT(*) AS m FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) GROUP BY n ORDER BY m DESC, n
  LIMIT 3;
SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '20' SECOND))
  GROUP BY window_start, window_end ORDER BY n DESC, window_start LIMIT 3;

-- subject: of first rows
SELECT COUNT(*), SUM(id) FROM (SELECT id FROM orders ORDER BY id DESC LIMIT 10);
SELECT product, COUNT(*) FROM (SELECT * FROM orders ORDER BY price DESC NULLS LAST, id LIMIT 20) GROUP BY product;
SELECT id, price FROM (SELECT id, price FROM orders ORDER BY price DESC NULLS LAST, id LIMIT 10) WHERE price < 10;
SELECT id FROM (SELECT id, price FROM orders ORDER BY price, id LIMIT 20) ORDER BY id DESC LIMIT 4;
SELECT COUNT(*) FROM (SELECT id FROM orders LIMIT 7);
SELECT COUNT(*) FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer LIMIT 2);
SELECT SUM(n) FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer ORDER BY n DESC, customer LIMIT 2);
(SELECT id FROM orders ORDER BY id LIMIT 3) UNION ALL (SELECT id FROM orders ORDER BY id DESC LIMIT 3);

-- subject: refused
SELECT id FROM orders ORDER BY id LIMIT -1;
SELECT id FROM orders ORDER BY nothing;
SELECT id FROM orders ORDER BY 2;
SELECT DISTINCT product FROM orders ORDER BY id;
SELECT product, COUNT(*) FROM orders GROUP BY product ORDER BY id;
SELECT id FROM orders ORDER BY id LIMIT id;

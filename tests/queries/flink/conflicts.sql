-- Queries that are written into a table whose primary key is their first column. All of them read `orders`.

-- subject: inserts
SELECT id, customer FROM orders;
SELECT id / 2 AS half, id, product FROM orders;
SELECT id / 20 AS score, id FROM orders WHERE id < 50;
SELECT COALESCE(quantity, 0) AS q, id FROM orders;
SELECT COALESCE(customer, 'nobody') AS c, product FROM orders WHERE id < 30;
SELECT id / 2 AS half, 5 AS five FROM orders;

-- subject: updates
SELECT COALESCE(customer, 'nobody') AS c, COUNT(*) AS n FROM orders GROUP BY customer;
SELECT earliest, n FROM (SELECT customer, MIN(id) AS earliest, COUNT(*) AS n FROM orders GROUP BY customer);

SET 'execution.runtime-mode' = 'batch';

SELECT page, COUNT(*) AS requests, COUNT(DISTINCT visitor) AS visitors
FROM access_log
GROUP BY page
ORDER BY requests DESC, page
LIMIT 5;

SELECT window_start, COUNT(*) AS requests, COUNT(*) FILTER (WHERE status >= 500) AS errors
FROM TABLE(TUMBLE(TABLE access_log, DESCRIPTOR(requested), INTERVAL '6' HOUR))
GROUP BY window_start, window_end
ORDER BY window_start
LIMIT 8;

SET 'execution.runtime-mode' = 'streaming';

SELECT status, COUNT(*) AS requests, MAX(requested) AS latest
FROM access_log
GROUP BY status;

-- A web server's access log (combined format) as a table: its fields are separated by blanks, and some are in quotes.
-- sql_demo.py puts the path of the log in place of LOG. Some lines are cut off, so that their last fields are NULL; a
-- time must not be, and so they get one.
CREATE TABLE log_lines (
  visitor STRING,
  identity_ STRING,
  user_ STRING,
  clock STRING,
  zone STRING,
  request STRING,
  status INT,
  size_ STRING,
  referrer STRING,
  agent STRING,
  page AS SPLIT_INDEX(request, ' ', 1),
  requested AS COALESCE(
    TO_TIMESTAMP(SUBSTRING(clock FROM 2), 'dd/MMM/yyyy:HH:mm:ss'), TIMESTAMP '1970-01-01 00:00:00'
  ),
  WATERMARK FOR requested AS requested - INTERVAL '1' MINUTE
) WITH (
  'connector' = 'filesystem',
  'path' = 'LOG',
  'format' = 'csv',
  'csv.field-delimiter' = ' ',
  'csv.ignore-parse-errors' = 'true'
);

CREATE VIEW access_log AS SELECT visitor, page, status, requested FROM log_lines WHERE status IS NOT NULL;

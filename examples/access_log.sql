-- A web server's access log (combined format) as a table: its fields are separated by blanks, and some are in quotes.
-- sql_demo.py puts the path of the log in place of LOG.
CREATE TABLE access_log (
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
  requested AS TO_TIMESTAMP(SUBSTRING(clock FROM 2), 'dd/MMM/yyyy:HH:mm:ss'),
  WATERMARK FOR requested AS requested - INTERVAL '1' MINUTE
) WITH (
  'connector' = 'filesystem',
  'path' = 'LOG',
  'format' = 'csv',
  'csv.field-delimiter' = ' ',
  'csv.ignore-parse-errors' = 'true'
);

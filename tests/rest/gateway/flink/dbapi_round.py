"""A round of the PyPI client py-flink-sql-gateway, a DB-API driver; prints what it sees."""

import sys

from flink_gateway import connect

NUMBERS = """CREATE TABLE t (a INT) WITH (
    'connector' = 'datagen', 'fields.a.kind' = 'sequence', 'fields.a.start' = '1', 'fields.a.end' = '3'
)"""

with connect(sys.argv[1]) as connection, connection.cursor() as cursor:
    cursor.execute("SET 'execution.runtime-mode' = 'batch'")
    cursor.execute(NUMBERS)
    cursor.execute("SELECT a, a * 2 AS twice, CAST(a AS STRING) AS s FROM t ORDER BY a")
    print([column[:2] for column in cursor.description])
    print(cursor.fetchall())
    try:
        cursor.execute("SELECT nope FROM t")
        cursor.fetchall()
    except Exception as error:
        print("nope" in str(error))

"""Record what a real Debezium says of changes in a real PostgreSQL: the files `changes.jsonl` and `with_schema.jsonl`.

    python tests/connectors/tables/debezium/record_changes.py JARS

JARS is a folder with io.debezium:debezium-embedded:3.6.1.Final, debezium-connector-postgres of the same version, and
all they need, as `mvn dependency:copy-dependencies` puts them there. PostgreSQL must be installed; Java 17 must be on
the PATH. Each line has the key and the value of a message, as texts or null.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import psycopg

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[3]))

from harness.postgres import USER, PostgresServer, postgres_server  # noqa: E402

SETTINGS = {"fsync": "off", "wal_level": "logical", "max_replication_slots": "8", "max_wal_senders": "8"}
TABLES = """
    CREATE TABLE products (
        id INT PRIMARY KEY, name TEXT NOT NULL, weight DOUBLE PRECISION, price NUMERIC(10, 2), amount BIGINT,
        sold BOOLEAN, made DATE, seen TIMESTAMP(3), changed TIMESTAMPTZ, data BYTEA, tags TEXT[], small SMALLINT
    );
    ALTER TABLE products REPLICA IDENTITY FULL;
    CREATE TABLE ended (id INT PRIMARY KEY);
    INSERT INTO products VALUES
        (101, 'scooter', 3.14, 12.50, 9007199254740993, true, '2020-01-02', '2020-01-02 03:04:05.123',
         '2020-01-02 03:04:05.123456+02', 'AB', ARRAY['a', 'b'], 7),
        (102, 'car battery', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
"""
CHANGES = [
    "INSERT INTO products (id, name, weight) VALUES (103, 'drill \"bits\"', 0.8), (104, 'hämmer', -1e-7)",
    "UPDATE products SET weight = 5.1, price = 0.01 WHERE id = 101",
    "UPDATE products SET id = 201, name = 'line\nbreak' WHERE id = 102",
    "DELETE FROM products WHERE id = 103",
    "UPDATE products SET amount = amount WHERE id = 104",
    "INSERT INTO ended VALUES (1)",
]


def record(server: PostgresServer, jars: str, classes: str, schema: bool) -> list[list[Any]]:
    """Return the messages of a run."""
    database = server.new_database()
    with psycopg.connect(server.dsn(database), autocommit=True) as connection:
        connection.execute(TABLES)
        arguments = [str(server.port), USER, database, f"slot_{schema}".lower(), str(schema).lower()]
        command = ["java", "-Xmx256m", "-cp", f"{classes}:{jars}/*", "RecordChanges", *arguments]
        messages: list[list[Any]] = []
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PASSWORD": server.password},
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for line in process.stdout:
                key, found, value = line.rstrip("\n").partition("\t")
                if not found:
                    continue
                messages.append([None if one == "null" else one for one in (key, value)])
                if len(messages) == 2:  # both rows that were there
                    for change in CHANGES:
                        connection.execute(change)
                if '"ended"' in value:
                    break
            process.stdin.close()
        return messages[:-1]


def main() -> None:
    """Write the files."""
    (jars,) = sys.argv[1:]
    with tempfile.TemporaryDirectory() as classes, postgres_server(SETTINGS) as server:
        source = str(HERE / "RecordChanges.java")
        subprocess.run(["javac", "-cp", f"{jars}/*", "-d", classes, source], check=True)
        for name, schema in (("changes", False), ("with_schema", True)):
            messages = record(server, jars, classes, schema)
            lines = [json.dumps(message, ensure_ascii=False) + "\n" for message in messages]
            (HERE / f"{name}.jsonl").write_text("".join(lines))


if __name__ == "__main__":
    main()

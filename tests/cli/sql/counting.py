"""A script that counts words as files of them arrive: each one into files, and their totals into a database."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

from tests.cli.driving import WORDS

SCRIPT = """
CREATE TABLE words (word STRING, arrived AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'in', 'format' = 'csv', 'source.monitor-interval' = '100 ms');

CREATE TABLE numbered (word STRING, n BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{name}', 'format' = 'csv', 'csv.field-delimiter' = ' ');

CREATE TABLE totals (word STRING, n BIGINT, PRIMARY KEY (word) NOT ENFORCED)
WITH ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{name}.db', 'table-name' = 'totals');

EXECUTE STATEMENT SET BEGIN
INSERT INTO numbered SELECT word, COUNT(*) OVER so_far FROM words
  WINDOW so_far AS (PARTITION BY word ORDER BY arrived ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW);
INSERT INTO totals SELECT word, COUNT(*) FROM words GROUP BY word;
END;
"""


def script(directory: Path, name: str) -> str:
    """Write the script that fills a directory and a database of this name; both are empty."""
    (directory / f"{name}.sql").write_text(SCRIPT.format(name=name))
    with sqlite3.connect(directory / f"{name}.db") as connection:
        connection.execute("CREATE TABLE totals (word TEXT PRIMARY KEY, n INTEGER)")
    return f"{name}.sql"


def totals(directory: Path, name: str) -> Counter[str]:
    """Return what is visible in the database of this name."""
    with sqlite3.connect(directory / f"{name}.db") as connection:
        return Counter(dict(connection.execute("SELECT word, n FROM totals")))


def words(files: int) -> Counter[str]:
    """Return how often each word is in so many files."""
    return Counter(f"w{place % WORDS % 4}" for place in range(files * WORDS))

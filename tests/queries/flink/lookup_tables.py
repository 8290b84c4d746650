"""The tables that queries look rows up in, and the one whose rows are looked up; read by Flink's Python, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent

COLUMNS: Final = {
    "people": "k INT NOT NULL, name STRING, grp BIGINT, PRIMARY KEY (k) NOT ENFORCED",
    "tags": "grp BIGINT, c STRING, tag STRING, weight DOUBLE",
}
"""The tables of the database, with Flink's types."""

IN_DATABASES: Final = {
    "people": "k INT NOT NULL PRIMARY KEY, name VARCHAR(20), grp BIGINT",
    "tags": "grp BIGINT, c VARCHAR(20), tag VARCHAR(20), weight DOUBLE PRECISION",
}
"""The same in the language of databases."""

ROWS: Final[dict[str, list[tuple[Any, ...]]]] = {
    "people": [(1, "ann", 10), (2, "bob", 20), (3, None, None), (5, "eve", 10)],
    "tags": [
        (10, "x", "one", 0.5),
        (10, "x", "two", 1.5),
        (10, "v", "three", 2.0),
        (20, "y", None, None),
        (30, "x", "four", 8.0),
        (None, "z", "five", 1.0),
        (5, None, "six", 2.0),
        (5, "z", "seven", -1.0),
    ],
}

ASKED: Final = "a INT, b BIGINT, c STRING, p AS PROCTIME()"


def values(table: str) -> str:
    """Return the rows of a table as what follows VALUES."""
    return ", ".join(f"({', '.join(map(_literal, row))})" for row in ROWS[table])


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else repr(value)


def definitions(url: str) -> Iterator[str]:
    """Yield the statements that create the tables of a database and the table of the rows that are looked up."""
    yield (
        f"CREATE TABLE asked ({ASKED}) WITH ('connector' = 'filesystem', 'path' = '{HERE / 't.json'}', "
        "'format' = 'json')"
    )
    for cache, options in {
        "": "",
        "_kept": ", 'lookup.cache' = 'PARTIAL', 'lookup.partial-cache.max-rows' = '3'",
    }.items():
        for name, columns in COLUMNS.items():
            yield (
                f"CREATE TABLE {name}{cache} ({columns}) WITH ('connector' = 'jdbc', {url}, 'table-name' = '{name}'"
                f"{options})"
            )

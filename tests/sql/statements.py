"""Statements, and what Flink's own parser says of them (see scripts/flink_verdicts.py)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Verdict:
    sql: str
    accepted: bool
    line: int | None = None
    column: int | None = None
    message: str = ""
    grouped: str = ""


def _read(name: str) -> list[Verdict]:
    lines = Path(__file__).with_name(name).read_text().splitlines()
    return [Verdict(**json.loads(line)) for line in lines]


VERDICTS = _read("verdicts.jsonl")
OPERATORS = _read("operators.jsonl")

# Flink's parser accepts these, and Flink refuses most of them when it makes a plan.
REFUSED_HERE = {
    "SELECT x'ABC'": "Flink counts the digits later",
    "SELECT INTERVAL 5 MINUTE": "Flink has no such operator when it makes a plan",
    "SELECT CAST(a AS TEXT) FROM t": "Flink looks for the type in the catalog and does not find it",
    "CREATE TABLE t (a INTT)": "Flink looks for the type in the catalog and does not find it",
    "SELECT * FROM a.b.c.t": "Flink finds no such table",
    "ALTER TABLE t RESET ()": "Flink refuses the empty list when it runs the statement",
    "ALTER CATALOG c RESET ()": "Flink refuses the empty list when it runs the statement",
    "SELECT * FROM a JOIN b": "Flink refuses a join without a condition when it makes a plan",
    "SELECT NEXT VALUE FOR s": "there are no sequences",
    "SELECT a FROM t TABLESAMPLE SYSTEM (10)": "not supported",
    "SELECT a FROM t PIVOT (SUM(b) FOR c IN (1, 2))": "not supported",
    "SELECT a MULTISET UNION b FROM t": "not supported",
    "SELECT a MEMBER OF b FROM t": "not supported",
    "SELECT a RLIKE 'x' FROM t": "not supported",
    "SELECT {fn UPPER(a)} FROM t": "not supported",
    "SELECT ? FROM t": "not supported",
}

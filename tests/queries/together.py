"""Many queries as one job, whose INSERTs print their changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from firesteel.control import JobHandle
from firesteel.table import TableEnvironment
from tests.queries.tables import Table, described, folded, rounded, texts

PRINTED = re.compile(r"^q(\d+):?(?:\d*)> ([+-][IUD])\[(.*)\]$", re.MULTILINE)
NULL, NEXT = "<NULL>", "|"

Given = dict[str, Any]


def sample(given_ones: Sequence[Given], of_each: int = 1) -> list[Given]:
    """Return some queries of each subject: the longest ones, which do most."""
    by_subject: dict[str, list[Given]] = {}
    for given in given_ones:
        by_subject.setdefault(given["subject"], []).append(given)
    return [
        given
        for found in by_subject.values()
        for given in sorted(found, key=lambda given: len(given["query"]), reverse=True)[:of_each]
    ]


def started(env: TableEnvironment, chosen: Sequence[Given]) -> JobHandle:
    """Start the job."""
    together = env.create_statement_set()
    for number, given in enumerate(chosen):
        query = env.sql_query(given["query"])
        env.create_temporary_view(f"answer_{number}", query)
        env.execute_sql(
            f"CREATE TABLE printed_{number} (cells STRING) "
            f"WITH ('connector' = 'print', 'print-identifier' = 'q{number}')"
        )
        names = query.get_resolved_schema().get_column_names()
        cells = f" || '{NEXT}' || ".join(f"COALESCE({text}, '{NULL}')" for text in texts(names))
        together.add_insert_sql(f"INSERT INTO printed_{number} SELECT {cells} FROM answer_{number}")
    job = together.execute().job
    assert job is not None
    return job


def tables(env: TableEnvironment, chosen: Sequence[Given], output: str) -> list[Table]:
    """Return the tables of the queries, of all that was printed."""
    changes: list[list[tuple[str, tuple[str | None, ...]]]] = [[] for _ in chosen]
    for number, kind, row in PRINTED.findall(output):
        changes[int(number)].append((kind, tuple(None if cell == NULL else cell for cell in row.split(NEXT))))
    found = []
    for made, given in zip(changes, chosen, strict=True):
        _, types = described(env, given["query"])
        env.drop_temporary_view("answered")
        found.append(rounded(folded(made).elements(), types))
    return found

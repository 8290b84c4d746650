"""Queries give Flink's tables on Spark, too: many of them are the INSERTs of one job."""

from __future__ import annotations

import re
from typing import Any

import pytest

from firesteel.table import TableEnvironment
from firesteel.testing import executing
from tests.queries.tables import (
    Table,
    compared,
    described,
    expected,
    folded,
    rounded,
    session,
    texts,
)

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

WAYS: dict[str, dict[str, Any]] = {
    "one epoch": {"parallelism": 2},
    "many epochs": {"parallelism": 3, "epoch_records": 20},
    "batch": {"parallelism": 2},
}
AT_ONCE = 15
PRINTED = re.compile(r"^q(\d+):?(?:\d*)> ([+-][IUD])\[(.*)\]$", re.MULTILINE)
NULL, NEXT = "<NULL>", "|"


def sample(given_ones: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return one query of each subject: the longest, which does most."""
    by_subject: dict[str, dict[str, Any]] = {}
    for given in given_ones:
        known = by_subject.setdefault(given["subject"], given)
        if len(given["query"]) > len(known["query"]):
            by_subject[given["subject"]] = given
    return list(by_subject.values())


def tables(
    env: TableEnvironment, chosen: list[dict[str, Any]], capfd: pytest.CaptureFixture[str]
) -> list[Table]:
    """Run queries as one job, and return their tables."""
    together, kinds = env.create_statement_set(), []
    for number, given in enumerate(chosen):
        names, types = described(env, given["query"])
        env.drop_temporary_view("answered")
        env.create_temporary_view(f"answer_{number}", env.sql_query(given["query"]))
        env.execute_sql(
            f"CREATE TABLE printed_{number} (cells STRING) "
            f"WITH ('connector' = 'print', 'print-identifier' = 'q{number}')"
        )
        cells = f" || '{NEXT}' || ".join(f"COALESCE({text}, '{NULL}')" for text in texts(names))
        together.add_insert_sql(f"INSERT INTO printed_{number} SELECT {cells} FROM answer_{number}")
        kinds.append(types)
    capfd.readouterr()
    together.execute().wait()
    changes: list[list[tuple[str, tuple[str | None, ...]]]] = [[] for _ in chosen]
    for number, kind, row in PRINTED.findall(capfd.readouterr().out):
        changes[int(number)].append((kind, tuple(None if cell == NULL else cell for cell in row.split(NEXT))))
    return [rounded(folded(made).elements(), types) for made, types in zip(changes, kinds, strict=True)]


@pytest.mark.parametrize("way", WAYS)
def test_queries_give_the_tables_that_flink_gives(
    way: str, long_form: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    batch = way == "batch"
    chosen = compared(batch=batch) if long_form else sample(compared(batch=batch))
    for start in range(0, len(chosen), AT_ONCE):
        some = chosen[start : start + AT_ONCE]
        with executing("spark", **WAYS[way]):
            found = tables(session(batch=batch), some, capfd)
        for given, rows in zip(some, found, strict=True):
            assert rows == expected(given, batch=batch), given["query"]

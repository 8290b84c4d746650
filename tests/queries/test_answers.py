"""Queries give the tables that real Flink gives; see flink/ask_answers.py for how it was asked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.queries.flink.statements import ORDERS

HERE = Path(__file__).parent / "flink"
ANSWERS = [json.loads(line) for line in (HERE / "answers.jsonl").read_text().splitlines()]

WAYS: dict[str, dict[str, Any]] = {
    "one epoch": {"parallelism": 1},
    "many epochs": {"parallelism": 2, "epoch_records": 7},
    "wider": {"parallelism": 3, "epoch_records": 13},
    "batch": {"parallelism": 2},
}
QUICK = "many epochs"

Table = Counter[tuple[str | None, ...]]


def environment(way: str) -> TableEnvironment:
    batch = way == "batch"
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("table.local-time-zone", "UTC")
    env.execute_sql(ORDERS.format(path=HERE / "orders.json"))
    return env


def plain(kinds: list[str]) -> list[str]:
    """Return types without the mark of time attributes, which Flink leaves on results that are none any more."""
    return [kind.removesuffix(" *ROWTIME*") for kind in kinds]


def rounded(rows: Iterable[Sequence[str | None]], kinds: list[str]) -> Table:
    """Return the rows with their floating point numbers rounded, whose last digits depend on the order of sums."""
    digits = [12 if kind.startswith("DOUBLE") else 6 if kind.startswith("FLOAT") else None for kind in kinds]
    return Counter(
        tuple(
            cell if known is None or cell is None else f"{float(cell):.{known}g}"
            for cell, known in zip(row, digits, strict=True)
        )
        for row in rows
    )


def described(env: TableEnvironment, query: str) -> tuple[list[str], list[str]]:
    env.create_temporary_view("answered", env.sql_query(query))
    with env.execute_sql("DESCRIBE answered").collect() as columns:
        found = [(column[0], f"{column[1]}{'' if column[2] else ' NOT NULL'}") for column in columns]
    return [name for name, _ in found], [kind for _, kind in found]


def table_of(env: TableEnvironment, names: list[str]) -> Table:
    """Return the rows as texts, from a changelog that must be a valid table after each change."""
    casts = ", ".join(f"CAST(`{name}` AS STRING)" for name in names)
    rows: Table = Counter()
    with env.sql_query(f"SELECT {casts} FROM answered").execute().collect() as results:
        for row in results:
            added = row.get_row_kind().name in ("INSERT", "UPDATE_AFTER")
            rows[tuple(row)] += 1 if added else -1
    assert min(rows.values(), default=0) >= 0
    return +rows


def streams_only(query: str) -> bool:
    """Return whether BATCH mode has another answer, as in Flink, or none."""
    return (
        "SESSION(TABLE" in query  # refused, as in Flink
        or query.endswith(
            "COUNT(*), SUM(quantity), MAX(price) FROM orders WHERE id < 0"
        )  # one row, as in Flink
    )


def cases() -> list[Any]:
    return [
        pytest.param(
            way,
            given,
            id=f"{way}-{given['query']}",
            marks=[] if way == QUICK else [pytest.mark.long],
        )
        for way in WAYS
        for given in ANSWERS
        if "refused" not in given and not (way == "batch" and streams_only(given["query"]))
    ]


@pytest.mark.parametrize(("way", "given"), cases())
def test_a_query_gives_the_table_that_flink_gives(way: str, given: dict[str, Any], tmp_path: Path) -> None:
    with executing(state_dir=str(tmp_path / "state"), **WAYS[way]):
        env = environment(way)
        names, types = described(env, given["query"])
        assert names == given["names"]
        assert plain(types) == plain(given["types"])
        assert rounded(table_of(env, names).elements(), types) == rounded(given["rows"], types)


@pytest.mark.parametrize(
    "given", [given for given in ANSWERS if "refused" in given], ids=lambda given: given["query"]
)
def test_what_flink_refuses_is_refused(given: dict[str, Any]) -> None:
    env = environment(QUICK)
    with pytest.raises(FiresteelError):
        env.sql_query(given["query"]).execute()

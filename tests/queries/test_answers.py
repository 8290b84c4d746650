"""Queries give the tables that real Flink gives; see flink/ask_answers.py for how it was asked."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.testing import executing
from tests.queries.tables import (
    ACCEPTED,
    ANSWERS,
    ONE_SUBTASK,
    SUPPORTED_HERE,
    compared,
    described,
    expected,
    in_turn,
    plain,
    rounded,
    session,
    table_of,
    texts,
)

WAYS: dict[str, dict[str, Any]] = {
    "one epoch": {"parallelism": 1},
    "many epochs": {"parallelism": 2, "epoch_records": 7},
    "wider": {"parallelism": 3, "epoch_records": 13},
    "batch": {"parallelism": 2},
    "batch in epochs": {"parallelism": 3, "epoch_records": 17},
}
SPLIT = {
    "table.optimizer.distinct-agg.split.enabled": "true",
    "table.optimizer.agg-phase-strategy": "ONE_PHASE",
}


def cases() -> list[Any]:
    """Each query runs in one of the ways, in turn, so that a subject's run in all; with --thorough each query does."""
    turns = in_turn(WAYS)
    return [
        pytest.param(
            way,
            given,
            id=f"{way}-{given['query']}",
            marks=[] if way == turns[given["query"]] else [pytest.mark.thorough],
        )
        for way in WAYS
        for given in compared(batch=way.startswith("batch"))
    ]


@pytest.mark.parametrize(("way", "given"), cases())
def test_a_query_gives_the_table_that_flink_gives(way: str, given: dict[str, Any], tmp_path: Path) -> None:
    batch = way.startswith("batch")
    with executing(state_dir=str(tmp_path / "state"), **WAYS[way]):
        env = session(batch=batch, options={ONE_SUBTASK: str(way == "batch").lower()})
        names, types = described(env, given["query"])
        assert names == given["names"]
        assert plain(types) == plain(given["types"])
        rows = table_of(env, f"SELECT {', '.join(texts(names))} FROM answered")
        assert rounded(rows.elements(), types) == expected(given, batch=batch)


@pytest.mark.parametrize(
    "given",
    [given for given in compared() if re.search(r"\(DISTINCT.*GROUP BY|\(DISTINCT.*FROM t$", given["query"])],
    ids=lambda given: given["query"],
)
def test_split_distinct_gives_the_same(given: dict[str, Any]) -> None:
    with executing(parallelism=2, epoch_records=7):
        env = session(options=SPLIT)
        names, types = described(env, given["query"])
        rows = table_of(env, f"SELECT {', '.join(texts(names))} FROM answered")
    assert rounded(rows.elements(), types) == expected(given)


LIMITED = re.compile(r"\bLIMIT \d|\bORDER BY\b.*FETCH")
FIRST_ROWS = [
    given for given in compared() if given["subject"] == "a small rank" or LIMITED.search(given["query"])
]


@pytest.mark.parametrize("given", FIRST_ROWS, ids=lambda given: given["query"])
def test_first_rows_are_the_same_while_none_has_expired(given: dict[str, Any]) -> None:
    with executing(parallelism=2, epoch_records=7):
        env = session(options={"table.exec.state.ttl": "1 h"})
        names, types = described(env, given["query"])
        rows = table_of(env, f"SELECT {', '.join(texts(names))} FROM answered")
    assert rounded(rows.elements(), types) == expected(given)


@pytest.mark.parametrize(
    "given",
    [given for given in ANSWERS if "refused" in given and given["query"] not in SUPPORTED_HERE],
    ids=lambda given: given["query"],
)
def test_what_flink_refuses_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(FiresteelError), executing(parallelism=1):
        table_of(session(), given["query"])


@pytest.mark.parametrize(
    "query", [given["query"] for given in ACCEPTED if "TABLE(SESSION" in given["query"].replace("\n", "")]
)
def test_what_flink_refuses_in_batch_mode_is_refused(query: str) -> None:
    with pytest.raises(FiresteelError, match="not supported in BATCH mode"):
        session(batch=True).sql_query(query).execute()

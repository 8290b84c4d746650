"""ORDER BY, LIMIT and OFFSET give real Flink's rows; see flink/ask_ordered.py for how it was asked."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.table import TableEnvironment
from firesteel.testing import executing
from tests.queries.flink.statements import HERE
from tests.queries.tables import session, table_of

ANSWERS: Final[list[dict[str, Any]]] = [
    json.loads(line) for line in (HERE / "ordered.jsonl").read_text(encoding="utf-8").splitlines()
]
WAYS: Final[dict[str, dict[str, Any]]] = {
    "one epoch": {"parallelism": 1},
}


def cases(mode: str, *, refused: bool) -> list[Any]:
    return [
        pytest.param(given["query"], given[mode], id=given["query"])
        for given in ANSWERS
        if given[mode] is not None and isinstance(given[mode], str) == refused
    ]


def rows_of(env: TableEnvironment, query: str) -> list[list[str | None]]:
    with env.sql_query(query).execute().collect() as results:
        return [shown(tuple(row)) for row in results]


def shown(row: tuple[Any, ...]) -> list[str | None]:
    return [None if cell is None else str(cell) for cell in row]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("query", "rows"), cases("batch", refused=False))
def test_batch_rows_come_in_flinks_order(
    query: str, rows: list[list[str | None]], way: str, tmp_path: Path
) -> None:
    with executing(state_dir=str(tmp_path / "state"), **WAYS[way]):
        found = rows_of(session(batch=True), query)
    ordered = "ORDER BY" in query.rpartition(")")[2]
    assert (found == rows) if ordered else Counter(map(tuple, found)) == Counter(map(tuple, rows))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("query", "rows"), cases("streaming", refused=False))
def test_streaming_ends_with_flinks_table(
    query: str, rows: list[list[str | None]], way: str, tmp_path: Path
) -> None:
    with executing(state_dir=str(tmp_path / "state"), **WAYS[way]):
        table = table_of(session(), query)
    assert Counter(tuple(shown(row)) for row in table.elements()) == Counter(map(tuple, rows))


@pytest.mark.parametrize(("query", "message"), cases("streaming", refused=True))
def test_what_flink_refuses_in_streaming_mode_is_refused(query: str, message: str) -> None:
    with pytest.raises(FiresteelError):
        session().sql_query(query).execute()


@pytest.mark.parametrize(("query", "message"), cases("batch", refused=True))
def test_what_flink_refuses_in_batch_mode_is_refused(query: str, message: str) -> None:
    with pytest.raises(FiresteelError):
        session(batch=True).sql_query(query).execute()

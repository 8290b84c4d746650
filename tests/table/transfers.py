"""A materialised table of accounts between which money is moved, in a catalog that several programs share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.control import JobHandle
from firesteel.table import EnvironmentSettings, TableEnvironment

ROWS = 400
TRANSFERS = (
    "SELECT account, SUM(amount) AS balance, COUNT(*) AS n FROM (SELECT v * 7 % 13 AS account, v AS amount FROM given "
    "UNION ALL SELECT v * 5 % 11, -v FROM given) GROUP BY account"
)
"""Each row takes from one account what it gives to another: the sum is 0 whenever whole rows have been read."""

PATIENCE = 120


def session(path: Path, *, batch: bool = False) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    env.execute_sql(f"CREATE CATALOG kept WITH ('type' = 'filesystem', 'path' = '{path}/catalog')")
    env.use_catalog("kept")
    env.execute_sql(
        "CREATE TABLE IF NOT EXISTS given (v BIGINT NOT NULL) WITH ('connector' = 'datagen', "
        f"'number-of-rows' = '{ROWS}', 'fields.v.kind' = 'sequence', 'fields.v.start' = '1', 'fields.v.end' = '{ROWS}')"
    )
    return env


def rows(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in env.execute_sql(query).collect())


def job(env: TableEnvironment, statement: str) -> JobHandle:
    handle = env.execute_sql(statement).job
    assert handle is not None
    return handle


def made(query: str, more: str = "") -> str:
    return f"CREATE MATERIALIZED TABLE kept_rows {more} FRESHNESS = INTERVAL '1' SECOND AS {query}"


def error(env: TableEnvironment, statement: str) -> str:
    with pytest.raises(FiresteelError) as found:
        env.execute_sql(statement)
    return str(found.value).split("\n")[0]

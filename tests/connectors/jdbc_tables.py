"""Tables of databases that the connector 'jdbc' reads."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

from firesteel.connectors.tables.jdbc_source import JdbcTableSource
from firesteel.connectors.tables.registry import connector_of
from tests.connectors.column_ends import request, row_type
from tests.connectors.conftest import Target

COLUMNS = "k INT, s STRING"
ROW = row_type(COLUMNS)


def jdbc_url(target: Target) -> str:
    if target.url.startswith("sqlite"):
        return f"jdbc:sqlite:{target.url.removeprefix('sqlite:///')}"
    return f"jdbc:{target.url}".replace("+psycopg", "")


def source_of(
    target: Target, columns: str = COLUMNS, options: Mapping[str, str] | None = None
) -> JdbcTableSource:
    given = {"url": jdbc_url(target), "table-name": "t", **(options or {})}
    made = connector_of("jdbc", "table 't'").source(request(columns, given))
    assert made.mode.append_only
    assert isinstance(made.source, JdbcTableSource)
    return pickle.loads(pickle.dumps(made.source))  # as workers get it


def partitioned(column: str, number: int, low: int, high: int) -> dict[str, str]:
    """Return the options of partitions."""
    keys = ("column", "num", "lower-bound", "upper-bound")
    values = (column, number, low, high)
    return {f"scan.partition.{key}": str(value) for key, value in zip(keys, values, strict=True)}

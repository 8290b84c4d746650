"""Tables of files in an object store, in every format."""

from __future__ import annotations

import random
from typing import Any

import pytest

from firesteel.connectors.tables.filesystem import FORMATS
from firesteel.connectors.tables.registry import connector_of
from firesteel.functions.columns.endpoints import ColumnSource
from tests.connectors.buckets import Bucket, bucket, server, store
from tests.connectors.column_ends import read, request, row_type, write

__all__ = ["bucket", "server", "store"]

COLUMNS = "n INT, s STRING, x DOUBLE"
ROW = row_type(COLUMNS)


def ends(url: str, form: str, **options: str) -> tuple[Any, ColumnSource]:
    connector = connector_of("filesystem", "table 't'")
    asked = request(COLUMNS, {"path": url, "format": form, **options})
    return connector.sink(asked).sink, connector.source(asked).source


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "raw"])  # it has one column
def test_rows_come_back(bucket: Bucket, form: str) -> None:
    sink, source = ends(f"{bucket.url}/t", form)
    rows = [(n, f"{n} ä", n / 4) for n in range(100)]
    state = write(sink, ROW, rows[:40], final=False)
    write(sink, ROW, rows[40:70], rows[70:], epoch=2, state=state)
    assert sorted(read(source, row=ROW)) == rows
    assert bucket.hidden() == []


@pytest.mark.parametrize("form", ["parquet", "orc", "avro", "csv"])
def test_large_files_are_sent_while_they_are_written(bucket: Bucket, form: str) -> None:
    chance = random.Random(7)
    rows = [(n, chance.randbytes(1000).hex(), float(n)) for n in range(8_000)]
    sink, source = ends(f"{bucket.url}/t", form)
    write(sink, ROW, *(rows[start : start + 1000] for start in range(0, len(rows), 1000)))
    [data] = bucket.visible("t").values()
    assert len(data) > 8 << 20
    assert sorted(read(source, row=ROW)) == rows

"""What sources of tables know of their rows before they read them."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from firesteel.common.logical_types import RowType, parse_type
from firesteel.connectors.files import parquet_files
from firesteel.connectors.tables.datagen import DatagenConnector
from firesteel.connectors.tables.filesystem import FilesystemConnector
from firesteel.connectors.tables.values import values_source
from firesteel.functions.columns.connectors import TableRequest
from firesteel.functions.columns.endpoints import ColumnSource
from firesteel.functions.columns.pushdowns import Comparison
from firesteel.functions.columns.statistics import ColumnStatistics, TableStatistics

ROW = "ROW<a BIGINT, b STRING, r ROW<x INT, y INT>> NOT NULL"


def request(row: str, options: dict[str, str]) -> TableRequest:
    kind = parse_type(row)
    assert isinstance(kind, RowType)
    return TableRequest("table t", "t", kind, {}, None, (), options, bounded=True)


def files(path: Path, form: str, row: str = ROW) -> ColumnSource:
    return FilesystemConnector().source(request(row, {"path": str(path), "format": form})).source


def write(path: Path, first: int, rows: int) -> None:
    numbers = [*range(first, first + rows)]
    pairs = [{"x": number % 7, "y": None} for number in numbers]
    columns = {"a": numbers, "b": [f"b{number % 10}" for number in numbers]}
    types = pa.struct([("x", pa.int32()), ("y", pa.int32())])
    pq.write_table(pa.table({**columns, "r": pa.array(pairs, types)}), path, row_group_size=100)


def known(source: ColumnSource | None) -> TableStatistics:
    found = None if source is None else source.statistics()
    assert found is not None
    return found


def test_parquet_knows_rows_bounds_and_nulls(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", 0, 250)
    write(tmp_path / "2.parquet", 1000, 50)
    found = known(files(tmp_path, "parquet"))
    assert (found.rows, found.parts) == (300, 2)
    assert found.columns[0] == ColumnStatistics(low=0, high=1049, nulls=0)
    assert found.columns[1] == ColumnStatistics(low="b0", high="b9", nulls=0)
    assert found.columns[2] == ColumnStatistics()
    fields = known(files(tmp_path, "parquet").with_fields(((0,), (2, 0), (2, 1))))
    assert fields.columns[1] == ColumnStatistics(low=0, high=6, nulls=0)
    assert fields.columns[2].nulls == 300
    assert fields.size is not None
    assert found.size is not None
    assert 0 < fields.size < found.size


def test_coded_texts_of_parquet_say_about_how_many_there_are(tmp_path: Path) -> None:
    numbers = random.Random(3).choices(range(1_000_000), k=40_000)
    texts = {
        "three": [f"t{number % 3}" for number in numbers],
        "some": [f"{number % 150:08}" for number in numbers],
        "constant": ["x"] * len(numbers),
        "sorted": sorted(f"{number % 40:04}" for number in numbers),
        "unique": [f"{number:09}" for number in range(len(numbers))],
    }
    pq.write_table(pa.table(texts), tmp_path / "a.parquet", row_group_size=20_000)
    row = f"ROW<{', '.join(f'{name} STRING' for name in texts)}> NOT NULL"
    three, some, constant, ordered, unique = (
        one.distinct for one in known(files(tmp_path, "parquet", row)).columns
    )
    assert three == 4
    assert some == 256
    assert constant == 1
    assert ordered is unique is None
    pq.write_table(pa.table(texts).slice(0, 1000), tmp_path / "a.parquet")
    few = known(files(tmp_path, "parquet", row)).columns
    assert [one.distinct for one in few] == [None, None, 1, None, None]


def test_row_groups_that_are_not_read_do_not_count(tmp_path: Path) -> None:
    write(tmp_path / "1.parquet", 0, 250)
    kept = known(files(tmp_path, "parquet").filtered(Comparison("a", ">=", 200)))
    assert kept.rows == 50
    assert kept.columns[0] == ColumnStatistics(low=200, high=249, nulls=0)
    assert known(files(tmp_path, "parquet").limited(7)).rows == 7


def test_of_many_parquet_files_some_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "_FOOTERS", 4)
    for number in range(10):
        write(tmp_path / f"{number}.parquet", 0, 100)
    found = known(files(tmp_path, "parquet"))
    assert found.rows == pytest.approx(1000)
    assert found.parts == 10


@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.parametrize("packed", [False, True])
def test_texts_have_as_many_rows_as_lines_fit(tmp_path: Path, form: str, packed: bool) -> None:
    lines = [json.dumps({"a": number}) if form == "json" else str(number) for number in range(10_000, 60_000)]
    text = "".join(f"{line}\n" for line in lines).encode()
    name, data = ("f.gz", gzip.compress(text)) if packed else ("f", text)
    (tmp_path / name).write_bytes(data)
    found = known(files(tmp_path, form, "ROW<a BIGINT> NOT NULL"))
    assert found.rows == pytest.approx(50_000, rel=0.7 if packed else 0.01)
    assert found.size == len(data)


def test_no_file_has_no_rows_and_what_cannot_be_read_is_not_known(tmp_path: Path) -> None:
    for form in ("json", "csv", "parquet"):
        assert known(files(tmp_path, form)).rows == 0
        assert files(tmp_path / "none", form).statistics() is None
    (tmp_path / "x.parquet").write_text("no parquet")
    assert files(tmp_path, "parquet").statistics() is None
    assert files(tmp_path, "debezium-json").statistics() is not None


def test_given_and_generated_rows_are_counted() -> None:
    assert known(values_source(parse_type("ROW<a INT> NOT NULL"), [(1,), (2,)])).rows == 2  # type: ignore[arg-type]
    row = "ROW<a INT> NOT NULL"
    assert known(DatagenConnector().source(request(row, {"number-of-rows": "7"})).source).rows == 7
    assert DatagenConnector().source(request(row, {})).source.statistics() is None

"""Files of which fields of rows are read by themselves: the values are those of the whole rows."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from firesteel.common.logical_types import RowType, parse_type
from firesteel.connectors.tables.formats.json_arrow import arrow_reads
from firesteel.connectors.tables.formats.json_columns import JsonColumns
from firesteel.connectors.tables.formats.json_exact import JsonRules
from firesteel.connectors.tables.registry import connector_of, reads_fields
from firesteel.functions.columns.endpoints import ColumnSource
from tests.connectors.column_ends import request

COLUMNS = "kind INT, r ROW<n BIGINT, inner ROW<t TIMESTAMP(3), s STRING>, s STRING>, `a.b` INT"
MOMENT = dt.datetime(2026, 1, 1, 7, 58, 0, 123000)
ROWS: list[dict[str, Any]] = [
    {"kind": 0, "r": {"n": 1, "inner": {"t": MOMENT, "s": "x"}, "s": "one"}, "a.b": 7},
    {"kind": 1, "r": None, "a.b": None},
    {"kind": 2, "r": {"n": None, "inner": None, "s": "three"}, "a.b": 9},
    {"kind": 3, "r": {"n": 4, "inner": {"t": None, "s": None}, "s": None}, "a.b": 1},
]
WITHIN = pa.struct([("t", pa.timestamp("ms")), ("s", pa.string())])
SCHEMA = pa.schema(
    [
        ("kind", pa.int32()),
        ("r", pa.struct([("n", pa.int64()), ("inner", WITHIN), ("s", pa.string())])),
        ("a.b", pa.int32()),
    ]
)


def source(folder: Path, form: str) -> ColumnSource:
    options = {"path": str(folder), "format": form}
    return connector_of("filesystem", "table 't'").source(request(COLUMNS, options)).source


def values(given: ColumnSource) -> list[list[Any]]:
    found: list[list[Any]] = []
    for split in given.splits(frozenset()):
        for rows, _ in given.read_columns(split, split.start, split.end or 0):
            found += map(list, zip(*(column.to_pylist() for column in rows.columns), strict=True))
    return found


def write(folder: Path, form: str) -> None:
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(ROWS, SCHEMA), folder / "rows.parquet")
        return
    shown = [json.dumps(row, default=lambda moment: f"{moment:%Y-%m-%d %H:%M:%S}.123") for row in ROWS]
    (folder / "rows.json").write_text("\n".join(shown) + "\n")


def at(row: Any, path: list[str]) -> Any:
    for name in path:
        row = None if row is None else row[name]
    return row


@pytest.mark.parametrize("form", ["json", "parquet"])
@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (((1, 0),), [["r", "n"]]),
        (((1, 1, 0), (0,), (1, 1, 1)), [["r", "inner", "t"], ["kind"], ["r", "inner", "s"]]),
        (((1, 1), (1, 2), (2,)), [["r", "inner"], ["r", "s"], ["a.b"]]),
        (((1,), (0,)), [["r"], ["kind"]]),
    ],
)
def test_fields_are_those_of_the_whole_rows(
    tmp_path: Path, form: str, paths: tuple[tuple[int, ...], ...], names: list[list[str]]
) -> None:
    write(tmp_path, form)
    narrow = source(tmp_path, form).with_fields(paths)
    assert narrow is not None
    assert values(narrow) == [[at(row, path) for path in names] for row in ROWS]


def test_less_is_read_of_a_parquet_file(tmp_path: Path) -> None:
    write(tmp_path, "parquet")
    narrow = source(tmp_path, "parquet").with_fields(((1, 1, 0),))
    assert narrow is not None
    [split] = narrow.splits(frozenset())
    [(rows, _)] = narrow.read_columns(split, 0, len(ROWS))
    assert rows.schema.types == [pa.timestamp("us")]
    file = tmp_path / "rows.parquet"
    damaged = bytearray(file.read_bytes())
    for name in ("s", "n"):  # what is not asked for is not looked at
        place = pq.ParquetFile(file).metadata.row_group(0)
        for number in range(place.num_columns):
            column = place.column(number)
            if column.path_in_schema == f"r.{name}":
                start = column.dictionary_page_offset or column.data_page_offset
                damaged[start : start + column.total_compressed_size] = bytes(column.total_compressed_size)
    file.write_bytes(damaged)
    assert values(narrow) == [[at(row, ["r", "inner", "t"])] for row in ROWS]


def test_csv_has_no_names_to_find_fields_by() -> None:
    options = {"connector": "filesystem", "format": "csv"}
    assert not reads_fields(options)
    assert reads_fields({**options, "format": "parquet"})
    assert not reads_fields({"connector": "filesystem"})
    assert not reads_fields({})


@pytest.mark.parametrize(
    "line",
    [
        '{"kind": 1, "r": {"n": 7, "inner": {"t": "2026-01-01 00:00:00", "s": "é"}, "s": ""}, "a.b": 1}',
        '{"kind": "1", "r": {"n": "7", "inner": {}, "s": 12}}',
        '{"r": {"inner": {"t": null, "s": true}}, "kind": null}',
        '{"r": {"n": 1, "n": 2}, "r": {"n": 3}}',
        '{"r": {"N": 1, "inner": null}, "else": {"r": {"n": 4}}}',
    ],
)
def test_each_way_to_read_rows_within_rows_reads_the_same(line: str) -> None:
    row = parse_type(f"ROW<{COLUMNS}> NOT NULL")
    assert isinstance(row, RowType)
    rules = JsonRules()
    assert arrow_reads(row, rules)
    plain = json.dumps(ROWS[1])
    columns = JsonColumns(row, rules)
    one, two = (columns.read(block.encode()) for block in (f"{line}\n", f"{plain}\n{line}\n"))
    exact = JsonColumns(row, rules)
    exact._arrow = exact._reader = None
    assert isinstance(one, pa.RecordBatch)
    assert isinstance(two, pa.RecordBatch)
    assert one.to_pylist() == exact.read(line.encode()).to_pylist() == two.to_pylist()[1:]  # type: ignore[union-attr]

"""Files of ORC: those of Flink are read, and what is written is read."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pytest

from firesteel.common.errors import ConnectorError, UnsupportedError
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.tables.column_parts import RowsToWrite
from firesteel.connectors.tables.filesystem import FORMATS
from firesteel.connectors.tables.options import Options
from firesteel.functions.source import END_OF_SPLIT
from tests.connectors.messages import row_type, rows_of
from tests.connectors.written_files import COLUMNS, FIRST, SECOND

FLINK = Path(__file__).parent / "tables" / "flink"


def given(**options: str) -> Options:
    return Options({f"orc.{key}": value for key, value in options.items()}, "table 't'", "filesystem")


def rows(path: Path, columns: str, wanted: list[int] | None = None, step: int = 1 << 30) -> list[Any]:
    """The rows of a file that is read in ranges of some rows."""
    row = row_type(columns)
    reader = FORMATS["orc"].reader(given(), row, range(len(row.fields)) if wanted is None else wanted)
    file = SourceFile.discover(str(path))
    found: list[Any] = []
    for part in reader.parts(file, None):
        start, ended = 0, False
        while not ended:
            batches = reader.read(file, part.detail, start, start + step)
            while True:
                try:
                    found += [one for batch in next(batches) for one in batch.to_pylist()]
                except StopIteration as stop:
                    ended = stop.value is END_OF_SPLIT
                    break
            start += step
    return found


def write(path: Path, columns: str, lines: list[str], epochs: int = 1, **options: str) -> None:
    """Write a part of several epochs."""
    parts = FORMATS["orc"].writer(given(**options), row_type(columns))
    segments = [path.with_suffix(f".{number}") for number in range(epochs)]
    for number, segment in enumerate(segments):
        with segment.open("wb") as file:
            writer = parts.open(file)
            if lines[number::epochs]:
                writer.write(RowsToWrite(rows_of(columns, lines[number::epochs])), None)
            writer.finish()
    with path.open("wb") as target:
        parts.join(segments, target)


def test_flinks_file_is_read() -> None:
    assert rows(FLINK / "written.orc", COLUMNS) == [FIRST, SECOND]
    assert rows(FLINK / "written.orc", COLUMNS, [2, 0]) == [{"t": -3, "id": 1}, {"t": None, "id": 2}]
    found = rows(FLINK / "written_later.orc", "id INT NOT NULL, ts TIMESTAMP(6)")
    assert found == [{"id": 1, "ts": dt.datetime(2020, 1, 2, 3, 4, 5, 123456)}]


@pytest.mark.parametrize("compression", ["ZLIB", "SNAPPY", "LZ4", "ZSTD", "NONE"])
@pytest.mark.parametrize("epochs", [1, 3])
def test_what_is_written_is_read(compression: str, epochs: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    lines = [f'{{"n": {number}, "s": "{"x" * (number % 50)}"}}' for number in range(500)]
    write(path, "n INT, s STRING", lines, epochs, compress=compression)
    expected = [{"n": number, "s": "x" * (number % 50)} for number in range(500)]
    assert sorted(rows(path, "n INT, s STRING", step=70), key=lambda one: one["n"]) == expected
    assert sorted(orc.read_table(path).to_pylist(), key=lambda one: one["n"]) == expected
    assert (orc.ORCFile(path).compression == "UNCOMPRESSED") == (compression == "NONE")


def test_all_types_come_back(tmp_path: Path) -> None:
    path = tmp_path / "file"
    columns = f"{COLUMNS}, z TIMESTAMP_LTZ(3), q TIMESTAMP(9)"
    line = (
        '{"id": 1, "b": true, "t": -3, "l": 9223372036854775807, "f": 1.5, "d": -2.25, "c": "aé", "y": "AP8=", '
        '"ts": "2020-01-02 03:04:05.123", "da": "1969-01-01", "de": 12345678.91, "r": {"x": 7, "y": "z"}, '
        '"a": ["p", ""], "m": {"k": 5}, "z": "1969-12-31 23:59:59.999Z", "q": "2020-01-02 03:04:05.123456789"}'
    )
    write(path, columns, [line, '{"id": 2}'])
    first, second = rows(path, columns)
    assert first.pop("q").value == 1577934245123456789
    at = dt.datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=dt.UTC)
    assert (first, second) == ({**FIRST, "z": at}, {**SECOND, "z": None, "q": None})


def test_files_that_do_not_fit_are_named(tmp_path: Path) -> None:
    path = tmp_path / "file"
    orc.write_table(pa.table({"n": ["x"]}), path)
    for columns, why in (("other INT", "requires the columns other"), ("n INT", "ORC file that is whole")):
        with pytest.raises(ConnectorError, match=why) as error:
            rows(path, columns)
        assert str(path) in str(error.value)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ConnectorError, match="ORC file that is whole"):
        rows(path, "n STRING")


@pytest.mark.parametrize("kind", ["TIME", "MULTISET<STRING>", "INTERVAL DAY(3) TO SECOND(3)"])
def test_types_that_orc_lacks(kind: str) -> None:
    with pytest.raises(UnsupportedError, match="not supported by the format orc"):
        FORMATS["orc"].writer(given(), row_type(f"v {kind}"))

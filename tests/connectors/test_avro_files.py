"""Files of Avro: those of Flink and of fastavro are read, what is written they read; any cut of a file is the file."""

from __future__ import annotations

import datetime as dt
import io
import json
from pathlib import Path
from typing import Any

import fastavro
import pytest

from firesteel.common.errors import ConfigurationError, ConnectorError
from firesteel.connectors.files.avro_container import CODECS, read_blocks, read_header
from firesteel.connectors.files.avro_files import AvroRecordParts, AvroRecords
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.tables.column_parts import RowsToWrite
from firesteel.connectors.tables.filesystem import FORMATS
from firesteel.connectors.tables.options import Options
from tests.connectors.messages import row_type, rows_of
from tests.connectors.written_files import COLUMNS, FIRST, SECOND

FLINK = Path(__file__).parent / "tables" / "flink"
SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "any.Name",
    "fields": [
        {"name": "n", "type": "int"},
        {"name": "gone", "type": "string"},
        {"name": "s", "type": "string"},
    ],
}


def rows(
    path: Path, columns: str, wanted: list[int] | None = None, step: int = 1 << 30, **options: str
) -> list[Any]:
    """The rows of a file that is read in ranges of some bytes."""
    row = row_type(columns)
    given = Options({f"avro.{key}": value for key, value in options.items()}, "table 't'", "filesystem")
    places = range(len(row.fields)) if wanted is None else wanted
    reader = FORMATS["avro"].reader(given, row, places)
    file = SourceFile.discover(str(path))
    found: list[Any] = []
    for start in range(0, file.size, step):
        for batches in reader.read(file, None, start, min(start + step, file.size)):
            found += [one for batch in batches for one in batch.to_pylist()]
    return found


def write(path: Path, columns: str, given: list[str], epochs: int = 1, **options: str) -> None:
    """Write a part of several epochs."""
    taken = Options({f"avro.{key}": value for key, value in options.items()}, "table 't'", "filesystem")
    parts = FORMATS["avro"].writer(taken, row_type(columns))
    segments = [path.with_suffix(f".{number}") for number in range(epochs)]
    for number, segment in enumerate(segments):
        with segment.open("wb") as file:
            writer = parts.open(file)
            writer.write(RowsToWrite(rows_of(columns, given[number::epochs])), None)
            writer.finish()
    with path.open("wb") as target:
        parts.join(segments, target)


def test_flinks_file_is_read() -> None:
    assert rows(FLINK / "written.avro", COLUMNS) == [FIRST, SECOND]
    assert read_header(SourceFile.discover(str(FLINK / "written.avro"))).codec == "snappy"
    assert rows(FLINK / "written.avro", COLUMNS, [2, 0]) == [{"t": -3, "id": 1}, {"t": None, "id": 2}]
    later = rows(
        FLINK / "written_later.avro",
        "id INT NOT NULL, ts TIMESTAMP(3), ti TIME",
        **{"timestamp_mapping.legacy": "false"},
    )
    at = dt.datetime(2020, 1, 2, 3, 4, 5, 123000)
    assert later == [{"id": 1, "ts": at, "ti": dt.time(1, 2, 3)}]


@pytest.mark.parametrize("codec", CODECS)
def test_what_is_written_is_read(codec: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    given = [f'{{"n": {number}, "s": "{"x" * (number % 50)}"}}' for number in range(9000)]
    write(path, "n INT, s STRING", given, epochs=3, codec=codec)
    expected = sorted(
        ({"n": number, "s": "x" * (number % 50)} for number in range(9000)), key=lambda one: one["n"]
    )
    assert sorted(rows(path, "n INT, s STRING"), key=lambda one: one["n"]) == expected
    if codec in ("null", "deflate", "bzip2", "xz"):
        with path.open("rb") as file:
            assert sorted(fastavro.reader(file), key=lambda one: one["n"]) == expected


@pytest.mark.parametrize("step", [1, 7, 100, 1000, 4096])
def test_any_cut_of_a_file_has_each_record_once(step: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    records = [{"n": number, "gone": "g" * (number % 9), "s": str(number)} for number in range(300)]
    with path.open("wb") as file:
        fastavro.writer(file, SCHEMA, records, sync_interval=200)
    found = rows(path, "s STRING, more DOUBLE, n BIGINT", step=step if step > 50 else 61 * step)
    assert found == [{"s": str(number), "more": None, "n": number} for number in range(300)]


def test_records_are_dictionaries(tmp_path: Path) -> None:
    path = tmp_path / "file"
    fields = [{"name": "n", "type": "long"}, {"name": "x", "type": "int", "default": 5}]
    text = json.dumps({"type": "record", "name": "r", "fields": fields})
    with path.open("wb") as file:
        fastavro.writer(file, SCHEMA, [{"n": 1, "gone": "g", "s": "s"}])
    file_of = SourceFile.discover(str(path))
    found = [one for batch in AvroRecords(text).read(file_of, None, 0, file_of.size) for one in batch]
    assert found == [{"n": 1, "x": 5}]
    target = io.BytesIO()
    writer = AvroRecordParts(text).open(target)
    assert writer.write(found * 3, None) == 3
    writer.finish()
    target.seek(0)
    assert list(fastavro.reader(target)) == found * 3


@pytest.mark.parametrize("cut", [3, 20, 120, -1])
def test_a_damaged_file_is_named(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes((FLINK / "written.avro").read_bytes()[:cut])
    with pytest.raises(ConnectorError, match="file of Avro that is whole") as error:
        rows(path, COLUMNS)
    assert str(path) in str(error.value)


def test_a_checksum_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "file"
    data = bytearray((FLINK / "written.avro").read_bytes())
    data[-40] ^= 1
    path.write_bytes(data)
    with pytest.raises(ConnectorError, match="file of Avro that is whole"):
        rows(path, COLUMNS)


def test_records_that_do_not_fit_are_named(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as file:
        fastavro.writer(file, SCHEMA, [{"n": 1, "gone": "g", "s": "s"}])
    for columns, why in (
        ("n STRING", "int was written where"),
        ("other INT NOT NULL", "has no field 'other'"),
    ):
        with pytest.raises(ConnectorError, match=why):
            rows(path, columns)


def test_blocks_know_where_they_begin(tmp_path: Path) -> None:
    file = SourceFile.discover(str(FLINK / "written.avro"))
    header = read_header(file)
    (block,) = read_blocks(file, header, 0, file.size)
    assert (block.position, block.count) == (header.size, 2)
    assert [*read_blocks(file, header, header.size + 1, file.size)] == []


def test_codecs_that_are_not_there() -> None:
    given = Options({"avro.codec": "lzo"}, "table 't'", "filesystem")
    with pytest.raises(ConfigurationError, match=r"one of null, deflate, snappy.*'avro\.codec'"):
        FORMATS["avro"].writer(given, row_type("n INT"))

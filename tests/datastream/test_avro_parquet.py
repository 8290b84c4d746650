"""Records of Avro as dictionaries in files of Parquet."""

from __future__ import annotations

import datetime as dt
import json
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from firesteel.common import Types, WatermarkStrategy
from firesteel.common.errors import ConnectorError, FiresteelError, TypeMismatchError, UnsupportedError
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.connectors.file_system import FileSink, FileSource
from firesteel.datastream.formats.avro import AvroSchema, GenericRecordAvroTypeInfo
from firesteel.datastream.formats.parquet import AvroParquetReaders, AvroParquetWriters
from firesteel.testing import executing

LINE = {
    "type": "record",
    "name": "Line",
    "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": ["null", "string"], "default": None}],
}


def logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


SCHEMA = {
    "type": "record",
    "name": "shop.Order",
    "fields": [
        {"name": "n", "type": "long"},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "flag", "type": "boolean", "default": True},
        {"name": "f", "type": "float"},
        {"name": "data", "type": "bytes"},
        {"name": "four", "type": {"type": "fixed", "name": "Four", "size": 4}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "price", "type": logical("bytes", "decimal", precision=10, scale=2)},
        {"name": "day", "type": logical("int", "date")},
        {"name": "clock", "type": ["null", logical("int", "time-millis")]},
        {"name": "at", "type": logical("long", "timestamp-millis")},
        {"name": "exact", "type": logical("long", "timestamp-micros")},
        {"name": "local", "type": logical("long", "local-timestamp-micros")},
        {"name": "id", "type": logical("string", "uuid")},
        {"name": "lines", "type": {"type": "array", "items": LINE}},
        {"name": "more", "type": ["null", {"type": "map", "values": {"type": "array", "items": "long"}}]},
    ],
}  # fmt: skip


def record(n: int) -> dict[str, Any]:
    moment = dt.datetime(2020, 1, 2, 3, 4, 5, 123_000, dt.UTC) + dt.timedelta(days=n)
    return {
        "n": n,
        "note": None if n % 3 else f"note {n}",
        "flag": n % 2 == 0,
        "f": n / 4,
        "data": bytes([n % 256, 0]),
        "four": b"abcd",
        "kind": "AB"[n % 2],
        "price": Decimal(n) + Decimal("0.25"),
        "day": moment.date(),
        "clock": None if n % 5 == 0 else dt.time(1, 2, 3, 4000),
        "at": moment,
        "exact": moment + dt.timedelta(microseconds=7),
        "local": moment.replace(tzinfo=None),
        "id": uuid.UUID(int=n),
        "lines": [{"x": x, "y": None if x else "first"} for x in range(n % 3)],
        "more": None if n % 2 else {"k": [1, n], "none": []},
    }


RECORDS = [record(n) for n in range(40)]


def schema_of(value: Any) -> AvroSchema:
    return AvroSchema.parse_string(json.dumps(value))


def write(path: Path, values: list[Any], schema: Any = SCHEMA) -> list[Path]:
    with executing(parallelism=1):
        env = StreamExecutionEnvironment.get_execution_environment()
        writer = AvroParquetWriters.for_generic_record(schema_of(schema))
        env.from_collection(values).sink_to(FileSink.for_bulk_format(str(path), writer).build())
        env.execute()
    return [*path.rglob("part-*")]


def read(path: Path, schema: Any = SCHEMA, on: str = "process", **more: Any) -> list[Any]:
    with executing(on, **{"parallelism": 2, **more}):
        env = StreamExecutionEnvironment.get_execution_environment()
        source = FileSource.for_record_stream_format(
            AvroParquetReaders.for_generic_record(schema_of(schema)), str(path)
        ).build()
        stream = env.from_source(
            source, WatermarkStrategy.no_watermarks(), "files", GenericRecordAvroTypeInfo(schema_of(schema))
        )
        return list(stream.execute_and_collect())


@pytest.mark.parametrize("epoch_records", [None, 7])
def test_records_come_back(tmp_path: Path, epoch_records: int | None) -> None:
    write(tmp_path, RECORDS)
    found = read(tmp_path, epoch_records=epoch_records)
    assert sorted(found, key=lambda one: one["n"]) == RECORDS
    assert [*found[0]] == [field["name"] for field in SCHEMA["fields"]]  # type: ignore[index]


@pytest.mark.spark
def test_records_on_spark(tmp_path: Path) -> None:
    write(tmp_path, RECORDS)
    assert sorted(read(tmp_path, on="spark"), key=lambda one: one["n"]) == RECORDS


def test_files_are_those_of_others(tmp_path: Path) -> None:
    """What is written names its schema where Java's library looks for it, and values are as fastavro has them."""
    [path] = write(tmp_path, RECORDS)
    table = pq.read_table(path)
    assert json.loads(pq.read_metadata(path).metadata[b"parquet.avro.schema"]) == SCHEMA
    assert table.schema.field("at").type == pa.timestamp("ms", "UTC")
    assert not table.schema.field("n").nullable
    assert table.column("price").to_pylist() == [one["price"] for one in RECORDS]
    for one in RECORDS:
        assert fastavro.validate(one, fastavro.parse_schema(SCHEMA))


def test_files_of_javas_library() -> None:
    """It has copied the records from a file of ours (avro_parquet/CopyRecords.java); its lists have another form."""
    copied = Path(__file__).parent / "avro_parquet" / "copied.parquet"
    assert sorted(read(copied), key=lambda one: one["n"]) == RECORDS


def test_columns_are_found_by_their_names(tmp_path: Path) -> None:
    table = pa.table({"b": pa.array([[{"q": 1, "p": "x"}]]), "c": [True], "a": pa.array([5], pa.int32())})
    pq.write_table(table, tmp_path / "a.parquet")
    inner = {
        "type": "record",
        "name": "I",
        "fields": [{"name": "q", "type": "long"}, {"name": "p", "type": "string"}],
    }
    fields = [{"name": "a", "type": "long"}, {"name": "b", "type": {"type": "array", "items": inner}}]
    schema = {"type": "record", "name": "R", "fields": fields}
    assert read(tmp_path, schema) == [{"a": 5, "b": [{"q": 1, "p": "x"}]}]
    with pytest.raises(ConnectorError, match="requires the columns gone"):
        read(tmp_path, {**schema, "fields": [{"name": "gone", "type": "long"}]})


def test_defaults_are_written(tmp_path: Path) -> None:
    short = {name: value for name, value in record(1).items() if name not in ("note", "flag")}
    write(tmp_path, [short])
    assert read(tmp_path) == [{**record(1), "note": None, "flag": True}]


@pytest.mark.parametrize("wrong", [{"n": "one"}, {"lines": [{"x": None}]}, {"kind": "C"}, {"n": None}])
def test_records_that_are_not_of_the_schema(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(FiresteelError, match="requires records that fit its schema") as raised:
        write(tmp_path, [{**record(1), **wrong}])
    assert isinstance(raised.value, TypeMismatchError)


NODE = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}


@pytest.mark.parametrize(
    "make", [AvroParquetReaders.for_generic_record, AvroParquetWriters.for_generic_record]
)
@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (NODE, "refers to itself; got 'Node'"),
        ({**NODE, "fields": [{"name": "u", "type": ["int", "string"]}]}, "the union of int, string"),
    ],
)
def test_what_parquet_cannot_hold(make: Any, schema: Any, why: str) -> None:
    with pytest.raises(UnsupportedError, match=why):
        make(schema_of(schema))


def test_a_typed_stream_of_records(tmp_path: Path) -> None:
    """A map declares what it makes of records."""
    write(tmp_path, RECORDS[:3])
    with executing(parallelism=1):
        env = StreamExecutionEnvironment.get_execution_environment()
        source = FileSource.for_record_stream_format(
            AvroParquetReaders.for_generic_record(schema_of(SCHEMA)), str(tmp_path)
        ).build()
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "files")
        assert sorted(stream.map(lambda one: one["n"], Types.LONG()).execute_and_collect()) == [0, 1, 2]

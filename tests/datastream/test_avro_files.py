"""Records of Avro as dictionaries, in files that PyFlink's names read and write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fastavro
import pytest

from firesteel.common.errors import FiresteelError, UnsupportedError
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.connectors.file_system import FileSink
from firesteel.datastream.formats.avro import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)
from firesteel.testing import executing

SCHEMA = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "n", "type": "long"},
        {"name": "words", "type": {"type": "array", "items": "string"}},
    ],
}
RECORDS = [{"n": number, "words": ["w"] * (number % 3)} for number in range(40)]


def written(folder: Path) -> list[Any]:
    found = []
    for path in folder.rglob("part-*"):
        with path.open("rb") as file:
            found += fastavro.reader(file)
    return sorted(found, key=lambda one: one["n"])


def copied(folder: Path, env: StreamExecutionEnvironment, schema: AvroSchema, add: int = 0) -> list[Any]:
    """Run a job that adds to the `n` of all records of `in`; return what is in `out` then."""
    stream = env.create_input(AvroInputFormat(str(folder / "in"), schema))
    changed = stream.map(
        lambda record: {**record, "n": record["n"] + add}, output_type=GenericRecordAvroTypeInfo(schema)
    )
    writers = AvroBulkWriters.for_generic_record(schema)
    changed.sink_to(FileSink.for_bulk_format(str(folder / "out"), writers).build())
    env.execute()
    return written(folder / "out")


@pytest.mark.spark
def test_records_go_from_files_to_files(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for part in range(2):
        with (tmp_path / "in" / f"{part}").open("wb") as file:
            fastavro.writer(file, SCHEMA, RECORDS[part::2], sync_interval=100)
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
    found = copied(tmp_path, env, AvroSchema.parse_string(json.dumps(SCHEMA)), add=7)
    assert found == [{**record, "n": record["n"] + 7} for record in RECORDS]


TREE = {
    "type": "record",
    "name": "shop.Node",
    "fields": [
        {"name": "n", "type": "int"},
        {"name": "children", "type": {"type": "array", "items": "shop.Node"}},
        {"name": "next", "type": ["null", "Node"], "default": None},
    ],
}


def tree(n: int) -> dict[str, Any]:
    children = [tree(n - 1)] * (n % 3) if n else []
    return {"n": n, "children": children, "next": tree(n // 2) if n % 2 else None}


def test_a_schema_may_refer_to_itself(tmp_path: Path) -> None:
    """Records may; rows cannot, because their type would have no end."""
    (tmp_path / "in").mkdir()
    records = [tree(n) for n in range(6)]
    with (tmp_path / "in" / "a").open("wb") as file:
        fastavro.writer(file, TREE, records)
    with executing(parallelism=2, epoch_records=2):
        env = StreamExecutionEnvironment.get_execution_environment()
        assert copied(tmp_path, env, AvroSchema.parse_string(json.dumps(TREE))) == records
    for rows in (AvroRowDeserializationSchema, AvroRowSerializationSchema):
        with pytest.raises(
            UnsupportedError, match=r"cannot have a schema that refers to itself; got 'shop.Node'"
        ):
            rows(avro_schema_string=json.dumps(TREE))


def test_other_input_formats_are_refused() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    with pytest.raises(UnsupportedError, match="requires an AvroInputFormat"):
        env.create_input("a class of Java")  # type: ignore[arg-type]
    with pytest.raises(FiresteelError, match="requires a schema of Avro"):
        AvroBulkWriters.for_generic_record(AvroSchema({"type": "none"}))

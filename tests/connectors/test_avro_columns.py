"""Avro by columns is Avro: whatever rows are written, fastavro reads them, and the other way round."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.errors import ProgramError, TypeMismatchError, UnsupportedError
from firesteel.common.logical_types import RowType, parse_type
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.connectors.tables.formats.avro.derived import schema_of_row
from firesteel.connectors.tables.formats.avro.lanes import Lanes, Malformed
from firesteel.connectors.tables.formats.avro.reading import AvroReader
from firesteel.connectors.tables.formats.avro.schema import parse_schema
from firesteel.connectors.tables.formats.avro.writing import AvroWriter

INTS = st.integers(-(2**31), 2**31 - 1)
LONGS = st.integers(-(2**63), 2**63 - 1)
LEAVES = st.sampled_from(
    [
        ("int", "INT", INTS),
        ("long", "BIGINT", LONGS | st.integers(-70, 70)),
        ("double", "DOUBLE", st.floats(allow_nan=False)),
        ("float", "FLOAT", st.floats(width=32, allow_nan=False)),
        ("boolean", "BOOLEAN", st.booleans()),
        ("string", "STRING", st.text(max_size=5)),
        ("bytes", "BYTES", st.binary(max_size=5)),
    ]
)


def nullable(found: tuple[Any, str, Any]) -> tuple[Any, str, Any]:
    avro, sql, values = found
    return ["null", avro], sql, st.none() | values


def not_null(found: tuple[Any, str, Any]) -> tuple[Any, str, Any]:
    avro, sql, values = found
    return avro, f"{sql} NOT NULL", values


def array(found: tuple[Any, str, Any]) -> tuple[Any, str, Any]:
    avro, sql, values = found
    return {"type": "array", "items": avro}, f"ARRAY<{sql}>", st.lists(values, max_size=4)


def mapping(found: tuple[Any, str, Any]) -> tuple[Any, str, Any]:
    avro, sql, values = found
    texts = st.text(max_size=3)
    return (
        {"type": "map", "values": avro},
        f"MAP<STRING NOT NULL, {sql}>",
        st.dictionaries(texts, values, max_size=3),
    )


def record(found: list[tuple[Any, str, Any]]) -> tuple[Any, str, Any]:
    record.count += 1  # type: ignore[attr-defined]
    fields = [{"name": f"f{place}", "type": avro} for place, (avro, _, _) in enumerate(found)]
    name = f"r{record.count}"  # type: ignore[attr-defined]
    sql = ", ".join(f"f{place} {kind}" for place, (_, kind, _) in enumerate(found))
    values = st.fixed_dictionaries({f"f{place}": values for place, (_, _, values) in enumerate(found)})
    return {"type": "record", "name": name, "fields": fields}, f"ROW<{sql}>", values


record.count = 0  # type: ignore[attr-defined]


def nested(inner: Any) -> Any:
    part = inner.map(nullable) | inner.map(not_null)
    return part.map(array) | part.map(mapping) | st.lists(part, min_size=1, max_size=3).map(record)


TYPES = st.recursive(LEAVES, nested, max_leaves=6)
ROWS = st.lists(TYPES.map(nullable) | TYPES.map(not_null), min_size=1, max_size=4).map(record)


def typed(sql: str) -> RowType:
    found = parse_type(f"{sql} NOT NULL")
    assert isinstance(found, RowType)
    return found


def as_python(value: Any) -> Any:
    """What pyarrow returns for maps, as dictionaries."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return {key: as_python(item) for key, item in value}
    if isinstance(value, list):
        return [as_python(item) for item in value]
    if isinstance(value, dict):
        return {key: as_python(item) for key, item in value.items()}
    return value


def plain(value: Any) -> Any:
    """Values with empty maps as empty lists, as pyarrow has them."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()} or []
    return [plain(item) for item in value] if isinstance(value, list) else value


def datum(schema: Any, value: Any) -> bytes:
    file = io.BytesIO()
    fastavro.schemaless_writer(file, fastavro.parse_schema(schema), value)
    return file.getvalue()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_fastavro_writes_is_read(data: st.DataObject) -> None:
    schema, sql, values = data.draw(ROWS)
    rows = data.draw(st.lists(values, max_size=6))
    avro = parse_schema(json.dumps(schema), "t")
    messages = pa.array([datum(schema, row) for row in rows], pa.binary())
    found = AvroReader(avro, avro, typed(sql)).read(messages)
    assert [plain(as_python(row)) for row in found.to_pylist()] == [plain(row) for row in rows]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_is_written_fastavro_reads(data: st.DataObject) -> None:
    schema, sql, values = data.draw(ROWS)
    rows = data.draw(st.lists(values, max_size=6))
    row = typed(sql)
    avro = parse_schema(json.dumps(schema), "t")
    arrow = to_arrow_schema(row)
    batch = pa.RecordBatch.from_pylist([{k: pairs(v) for k, v in one.items()} for one in rows], schema=arrow)
    messages = AvroWriter(avro, row).write(batch)
    parsed = fastavro.parse_schema(schema)
    found = [fastavro.schemaless_reader(io.BytesIO(one), parsed, None) for one in messages.to_pylist()]
    assert [plain(one) for one in found] == [plain(one) for one in rows]
    again = AvroReader(avro, avro, row).read(messages)
    assert again.to_pylist() == batch.to_pylist()


def pairs(value: Any) -> Any:
    """Values as pyarrow takes them: it reads dictionaries as maps where its type is one."""
    return value


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_damaged_records_are_noticed_or_are_other_records(data: st.DataObject) -> None:
    schema, sql, values = data.draw(ROWS)
    message = bytearray(datum(schema, data.draw(values)))
    for _ in range(data.draw(st.integers(1, 3))):
        if message:
            message[data.draw(st.integers(0, len(message) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(message[: data.draw(st.integers(0, len(message)))])
    avro = parse_schema(json.dumps(schema), "t")
    try:
        found = AvroReader(avro, avro, typed(sql)).read(pa.array([cut], pa.binary()))
    except Malformed:
        return
    assert len(found) == 1


@settings(max_examples=40, deadline=None)
@given(st.lists(LONGS | st.integers(-300, 300), min_size=1, max_size=20))
def test_numbers_of_all_lengths(numbers: list[int]) -> None:
    data = b"".join(datum("long", number) for number in numbers)
    one = Lanes.of(pa.array([data], pa.binary()))
    assert [int(one.longs()[0]) for _ in numbers] == numbers
    many = Lanes.of(pa.array([datum("long", number) for number in numbers], pa.binary()))
    assert many.longs().tolist() == numbers
    many.finish()


@pytest.mark.parametrize("blocks", [[3], [1, 2], [-2, 1], [0]])
def test_arrays_in_several_blocks(blocks: list[int]) -> None:
    data, number = b"", 0
    for count in blocks:
        items = b"".join(datum("long", number + place) for place in range(abs(count)))
        number += abs(count)
        if count:
            data += datum("long", count) + (datum("long", len(items)) if count < 0 else b"") + items
    schema = json.dumps(
        {"type": "record", "name": "r", "fields": [{"name": "a", "type": {"type": "array", "items": "long"}}]}
    )
    avro = parse_schema(schema, "t")
    row = typed("ROW<a ARRAY<BIGINT NOT NULL> NOT NULL>")
    found = AvroReader(avro, avro, row).read(pa.array([data + b"\x00"] * 2, pa.binary()))
    assert found.to_pylist() == [{"a": list(range(number))}] * 2


def test_a_count_that_cannot_be_is_noticed_at_once() -> None:
    schema = '{"type": "record", "name": "r", "fields": [{"name": "a", "type": {"type": "array", "items": "null"}}]}'
    avro = parse_schema(schema, "t")
    message = pa.array([datum("long", 2**40) + b"\x00"], pa.binary())
    with pytest.raises(Malformed, match="fewer items"):
        AvroReader(avro, avro, typed("ROW<a ARRAY<INT> NOT NULL>")).read(message)


def test_a_null_that_the_schema_lacks_is_an_error() -> None:
    row = typed("ROW<n INT NOT NULL>")
    batch = pa.RecordBatch.from_arrays([pa.array([1, None], pa.int32())], names=["n"])
    with pytest.raises(TypeMismatchError, match="column 'n' requires a value that is not NULL"):
        AvroWriter(parse_schema(schema_of_row(row, True), "t"), row).write(batch)


def test_schemas_that_are_wrong() -> None:
    with pytest.raises(ProgramError, match="requires a schema of Avro"):
        parse_schema("{", "t")
    with pytest.raises(ProgramError, match="requires a schema of Avro"):
        parse_schema('{"type": "record", "name": "r", "fields": [{"name": "a", "type": "Unknown"}]}', "t")
    with pytest.raises(UnsupportedError, match="refers to itself"):
        parse_schema('{"type": "record", "name": "r", "fields": [{"name": "a", "type": ["null", "r"]}]}', "t")

"""Changes of databases as rows of streams: they are those that tables have of the same messages."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from firesteel.common import Types
from firesteel.common.errors import ProgramError, TypeMismatchError
from firesteel.common.types import Row, RowKind
from firesteel.connectors.kafka.source.deserializing import ConsumerRecord
from firesteel.connectors.tables.messages.message_format import Decoded
from firesteel.datastream.formats.changes import (
    CanalJsonDeserializationSchema,
    CanalJsonSerializationSchema,
    DebeziumJsonDeserializationSchema,
    DebeziumJsonSerializationSchema,
    MaxwellJsonDeserializationSchema,
    MaxwellJsonSerializationSchema,
)
from tests.connectors.messages import decoder, messages

TYPE = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
READING: dict[str, Any] = {
    "debezium-json": DebeziumJsonDeserializationSchema,
    "canal-json": CanalJsonDeserializationSchema,
    "maxwell-json": MaxwellJsonDeserializationSchema,
}
WRITING: dict[str, Any] = {
    "debezium-json": DebeziumJsonSerializationSchema,
    "canal-json": CanalJsonSerializationSchema,
    "maxwell-json": MaxwellJsonSerializationSchema,
}
ONE, TWO = {"id": 1, "name": "x"}, {"id": 1, "name": None}
GOOD = {
    "debezium-json": [
        {"before": None, "after": ONE, "op": "c", "source": {"id": 9}},
        {"after": ONE, "op": "r"},
        {"before": ONE, "after": TWO, "op": "u"},
        {"before": TWO, "after": None, "op": "d"},
    ],
    "canal-json": [
        {"data": [{"id": "1", "name": "x"}, {"id": "2"}], "type": "INSERT"},
        {"data": [TWO, {"id": "3", "name": "z"}], "old": [{"name": "x"}, {"id": "2"}], "type": "UPDATE"},
        {"data": [ONE], "old": [{"name": None}], "type": "UPDATE"},
        {"data": [ONE], "old": None, "type": "DELETE"},
        {"data": None, "type": "CREATE"},
    ],
    "maxwell-json": [
        {"data": ONE, "type": "insert"},
        {"data": TWO, "old": {"name": "x"}, "type": "update"},
        {"data": ONE, "old": {"name": None}, "type": "update"},
        {"data": ONE, "type": "delete"},
    ],
}
BAD = {
    "debezium-json": [
        b"x",
        b"[]",
        b"{}",
        b'{"op": "x", "after": {"id": 1}}',
        b'{"op": "u", "before": null, "after": {"id": 1}}',
        b'{"op": "d", "before": null}',
        b'{"op": "c", "after": {"id": "one"}}',
    ],
    "canal-json": [
        b"null",
        b'{"data": [{"id": 1}]}',
        b'{"data": null, "type": "INSERT"}',
        b'{"data": [null], "type": "DELETE"}',
        b'{"data": [{"id": 1}], "old": null, "type": "UPDATE"}',
        b'{"data": [{"id": 1}], "type": "QUERY"}',
    ],
    "maxwell-json": [
        b'{"data": {"id": 1}, "type": "other"}',
        b'{"data": {"id": 1}, "type": "update"}',
        b"{}",
    ],
}


def record(value: bytes | None) -> ConsumerRecord:
    return ConsumerRecord("shop", 0, 7, 0, "CreateTime", None, value, (), None)


def of_stream(form: str, values: list[bytes | None], **options: Any) -> list[tuple[RowKind, dict[str, Any]]]:
    schema = pickle.loads(pickle.dumps(READING[form](TYPE, **options)))
    rows = [row for value in values for row in schema.deserialize(record(value))]
    return [(row.get_row_kind(), row.as_dict()) for row in rows]


@pytest.mark.parametrize("form", sorted(READING))
def test_rows_are_those_of_tables(form: str) -> None:
    values = [*(json.dumps(one).encode() for one in GOOD[form]), None, b""]
    table = decoder(form, "id INT, name STRING").decode(messages(values))
    assert isinstance(table, Decoded)
    assert table.kinds is not None
    expected = [*zip(map(RowKind, table.kinds.tolist()), table.rows.to_pylist(), strict=True)]
    assert of_stream(form, values) == expected
    assert len(expected) > len(GOOD[form])


def test_what_a_real_debezium_said() -> None:
    path = Path(__file__).parent / "tables" / "debezium"
    columns = [
        [
            value and value.encode()
            for _, value in map(json.loads, (path / name).read_text("utf-8").splitlines())
        ]
        for name in ("changes.jsonl", "with_schema.jsonl")
    ]
    plain, wrapped = (
        of_stream("debezium-json", columns[0]),
        of_stream("debezium-json", columns[1], schema_include=True),
    )
    last: dict[int, Any] = {}
    for kind, row in plain:
        last.pop(row["id"], None)
        if kind in (RowKind.INSERT, RowKind.UPDATE_AFTER):
            last[row["id"]] = row["name"]
    assert last == {101: "scooter", 201: "line\nbreak", 104: "hämmer"}
    assert wrapped
    assert {kind for kind, _ in plain} == set(RowKind)


def test_tables_that_are_wanted() -> None:
    values: list[bytes | None] = [
        json.dumps({"database": f"shop{n}", "table": "t", "data": [{"id": n}], "type": "INSERT"}).encode()
        for n in range(3)
    ]
    found = of_stream("canal-json", values, database_include="shop[12]", table_include="t|u")
    assert [row["id"] for _, row in found] == [1, 2]
    assert of_stream("canal-json", values, table_include="u") == []


@pytest.mark.parametrize(("form", "bad"), [(form, bad) for form, values in BAD.items() for bad in values])
def test_messages_that_say_no_change(form: str, bad: bytes) -> None:
    with pytest.raises(TypeMismatchError):
        of_stream(form, [bad])


@pytest.mark.parametrize("form", sorted(WRITING))
def test_what_is_written_is_read_again(form: str) -> None:
    """A message cannot say that a row was updated: there is one for the row that goes, and one for the other."""
    schema = pickle.loads(pickle.dumps(WRITING[form](TYPE)))
    rows = [Row.of_kind(kind, 1, "x") for kind in RowKind]
    found = of_stream(form, [*map(schema.serialize, rows)])
    goes = {RowKind.DELETE, RowKind.UPDATE_BEFORE}
    assert [kind for kind, _ in found] == [
        RowKind.DELETE if kind in goes else RowKind.INSERT for kind in RowKind
    ]
    assert all(row == ONE for _, row in found)
    with pytest.raises(TypeMismatchError):
        schema.serialize(("one", "x"))


@pytest.mark.parametrize("made", [*READING.values(), *WRITING.values()])
def test_a_row_type_is_required(made: Any) -> None:
    with pytest.raises(ProgramError, match="requires a row type"):
        made(Types.STRING())

"""What a real Debezium said of a real PostgreSQL (tables/debezium/record_changes.py) is the table again."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.types import RowKind
from firesteel.connectors.tables.messages.message_format import BadMessage, Decoded
from tests.connectors.messages import decoder, messages

HERE = Path(__file__).parent / "tables" / "debezium"
COLUMNS = (
    "id INT NOT NULL, name STRING, weight DOUBLE, price BYTES, amount BIGINT, sold BOOLEAN, made INT, seen BIGINT, "
    "changed TIMESTAMP_LTZ(6), data BYTES, tags ARRAY<STRING>, small SMALLINT"
)
OPTIONS = {"timestamp-format.standard": "ISO-8601"}
INSERT, BEFORE, AFTER, DELETE = (
    RowKind.INSERT.value,
    RowKind.UPDATE_BEFORE.value,
    RowKind.UPDATE_AFTER.value,
    RowKind.DELETE.value,
)
SCOOTER = {
    "id": 101,
    "name": "scooter",
    "weight": 3.14,
    "price": (1250).to_bytes(2, "big"),
    "amount": 9007199254740993,
    "sold": True,
    "made": (dt.date(2020, 1, 2) - dt.date(1970, 1, 1)).days,
    "seen": 1577934245123,
    "changed": dt.datetime(2020, 1, 2, 1, 4, 5, 123456, tzinfo=dt.UTC),
    "data": b"AB",
    "tags": ["a", "b"],
    "small": 7,
}
EMPTY = dict.fromkeys(SCOOTER)
LAST = {
    101: {**SCOOTER, "weight": 5.1, "price": b"\x01"},
    201: {**EMPTY, "id": 201, "name": "line\nbreak"},
    104: {**EMPTY, "id": 104, "name": "hämmer", "weight": -1e-7},
}


def recorded(name: str) -> list[bytes | None]:
    pairs = [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text("utf-8").splitlines()]
    return [None if value is None else value.encode() for _, value in pairs]


def changes(found: Decoded | BadMessage) -> list[tuple[int, dict[str, Any]]]:
    assert isinstance(found, Decoded)
    assert found.kinds is not None
    return list(zip(found.kinds.tolist(), found.rows.to_pylist(), strict=True))


@pytest.mark.parametrize(("name", "options"), [("changes", {}), ("with_schema", {"schema-include": "true"})])
def test_the_changes_make_the_table(name: str, options: dict[str, str]) -> None:
    values = recorded(name)
    found = decoder("debezium-json", COLUMNS, **OPTIONS, **options).decode(messages(values))
    table: dict[int, dict[str, Any]] = {}
    for kind, row in changes(found):
        if kind in (BEFORE, DELETE):
            assert table.pop(row["id"]) == row
        else:
            assert row["id"] not in table
            table[row["id"]] = row
    assert table == LAST
    assert isinstance(found, Decoded)
    tombstones = [place for place, value in enumerate(values) if value is None]
    assert tombstones
    assert sorted({*range(len(values))} - {*found.places().tolist()}) == tombstones


def test_one_by_one_they_are_the_same() -> None:
    reader = decoder("debezium-json", COLUMNS, **OPTIONS)
    values = recorded("changes")
    alone = []
    for value in values:
        found = reader.decode(messages([value]))
        assert isinstance(found, Decoded)
        kinds = [INSERT] * found.rows.num_rows if found.kinds is None else found.kinds.tolist()
        alone += zip(kinds, found.rows.to_pylist(), strict=True)
    assert alone == changes(reader.decode(messages(values)))


def test_metadata_comes_from_the_source() -> None:
    names = ["source.database", "source.table", "source.schema", "source.timestamp", "ingestion-timestamp"]
    found = decoder("debezium-json", "id INT", names).decode(messages(recorded("changes")))
    assert isinstance(found, Decoded)
    first = found.rows.to_pylist()[0]
    assert (first["source.table"], first["source.schema"]) == ("products", "public")
    assert first["source.database"].startswith("test_")
    assert first["source.timestamp"] <= first["ingestion-timestamp"]


def test_a_table_without_its_whole_rows_is_named_as_the_cause() -> None:
    message = json.loads(next(value for value in recorded("changes") if value and b'"op":"u"' in value))
    found = decoder("debezium-json", COLUMNS, **OPTIONS).decode(
        messages([recorded("changes")[0], json.dumps({**message, "before": None}).encode()])
    )
    assert isinstance(found, BadMessage)
    assert found.index == 1
    assert "REPLICA IDENTITY FULL" in found.why

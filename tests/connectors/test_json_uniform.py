"""Lines of one form are read as line by line, or are left to another way."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pytest

from firesteel.common.logical_types import RowType, parse_type
from firesteel.connectors.tables.formats.json_columns import JsonColumns
from firesteel.connectors.tables.formats.json_exact import JsonRules, rows_reader
from firesteel.connectors.tables.formats.json_uniform import UniformBlock, form_of
from firesteel.connectors.tables.formats.plain_texts import Doubtful
from firesteel.connectors.tables.formats.stored import stored_column

COLUMNS = "id BIGINT, name STRING, price DOUBLE, small TINYINT, yes BOOLEAN, ts TIMESTAMP(3), d1 DATE"


def row_type(text: str) -> RowType:
    parsed = parse_type(f"ROW<{text}>")
    assert isinstance(parsed, RowType)
    return parsed


ROW = row_type(COLUMNS)
PLAIN = b'{"id": 1, "name": "a", "price": 1.5, "more": 7, "yes": true}'


def block(*odd: bytes) -> bytes:
    return b"\n".join([PLAIN] * 20 + [*odd]) + b"\n"


def exactly(data: bytes, row: RowType = ROW) -> pa.RecordBatch:
    """The rows as they are read line by line."""
    read = rows_reader(row, JsonRules())
    rows = [found for line in data.decode().splitlines() for found in read(line)]
    whole = stored_column(rows, row.copy(nullable=False))
    return pa.RecordBatch.from_arrays(whole.flatten(), names=row.field_names)


def is_uniform(data: bytes, *read: bytes) -> bool:
    try:
        lines = UniformBlock(data)
        lines.check_others({*read})
    except (Doubtful, pa.ArrowInvalid):
        return False
    return True


def test_a_form_is_keys_and_kinds_of_values() -> None:
    found = form_of(b'{"a":"","b":-1e5,"c":"x"}')
    assert [(field.key, field.text) for field in found] == [(b"a", True), (b"b", False), (b"c", True)]


@pytest.mark.parametrize(
    "line",
    [
        b"{}",
        b"null",
        b'{"a": [1]}',
        b'{"a": {"b": 1}}',
        b'{"a": {}}',
        b'{"a": 1} ',
        b' {"a": 1}',
        b'{"a" : 1}',
        b'{"a": 1, "a": 2}',
        b'{"a": 1 , "b": 2}',
        b'{"a": "x"; "b": 2}',
        b'{"a": "x" "b"}',
        b'{"a"}',
        b'{"a": }',
        b'{"a": 1,}',
        b'{"a": 1}}',
    ],
)
def test_other_lines_have_no_form(line: bytes) -> None:
    with pytest.raises(Doubtful):
        form_of(line)


@pytest.mark.parametrize(
    "odd",
    [
        b'{"id": 1, "name": null, "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": 7}',
        b'{"id": 1, "name": "\\u0041", "price": 1.5, "more": 7, "yes": true}',
        b'{"name": "a", "id": 1, "price": 1.5, "more": 7, "yes": true}',
        b'{"id":  1, "name": "a", "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "nome": "a", "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": 7x, "yes": true}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": 7 7, "yes": true}',
        b'{"id": 1, "name": "a"; "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name"= "a", "price": 1.5, "more": 7, "yes": true}',
        b'["id": 1, "name": "a", "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": 7, "yes": true]',
        b'{"id": 1, "name": "a\tb", "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": 7, "yes": true} ',
        b"",
    ],
)
def test_a_line_of_another_form_is_left_to_another_way(odd: bytes) -> None:
    assert not is_uniform(block(odd), b"yes")


@pytest.mark.parametrize(
    "more",
    ["007", "-01", "0x1F", "+1", ".5", "1.", "1.e5", "-.5", "-", "nan", "inf", "-inf", "1_0", "1e", "nul"],
)
def test_numbers_are_those_of_json(more: str) -> None:
    line = PLAIN.replace(b"7", more.encode())
    assert not is_uniform(block(line).replace(b'"yes": true', b'"yes": 1'))


@pytest.mark.parametrize("more", ["0", "-0", "1e5", "-1.5E-3", "12", "null", "0.5"])
def test_all_numbers_of_json_are_taken(more: str) -> None:
    assert is_uniform(block(PLAIN.replace(b"7", more.encode())).replace(b'"yes": true', b'"yes": 1'))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("compact", [True, False])
def test_the_rows_are_those_that_are_read_line_by_line(seed: int, compact: bool) -> None:
    chance = random.Random(seed)
    with_nulls = seed % 3 == 0
    lines = []
    for _ in range(40):
        line = {
            "id": chance.choice([0, 1, -1, 2**62, -(2**63), None if with_nulls else 5]),
            "other": chance.choice(["", "x,y: {z}", "äöü"]),
            "name": chance.choice(["", "a", "b, c", "{}", "日本", "12"]),
            "price": chance.choice([0.0, 1.5, -2.25e-7, 1e300, 3, None if with_nulls else 1.0]),
            "small": chance.randrange(-128, 128),
            "yes": chance.choice([True, False]),
            "ts": f"2024-01-{chance.randrange(1, 29):02} 10:00:00.{chance.randrange(1000):03}",
            "number": chance.choice([1, 2.5, -3e10]),
        }
        separators = (",", ":") if compact else (", ", ": ")
        lines.append(json.dumps(line, ensure_ascii=False, separators=separators))
    data = ("\n".join(lines) + "\n").encode()
    if "-0" not in data.decode():
        assert UniformBlock(data).count == 40
    found = JsonColumns(ROW, JsonRules()).read(data)
    assert isinstance(found, pa.RecordBatch)
    assert found.to_pylist() == exactly(data).to_pylist()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("TINYINT", "128"),
        ("INT", "1.7"),
        ("BIGINT", "9223372036854775808"),
        ("INT", '"12"'),
        ("STRING", "12"),
        ("STRING", "true"),
        ("BOOLEAN", "1"),
        ("BOOLEAN", '"true"'),
        ("DOUBLE", '"1e3"'),
    ],
)
def test_what_has_another_kind_is_read_as_line_by_line(kind: str, value: str) -> None:
    row = row_type(f"x {kind}")
    data = (f'{{"x": {value}}}\n' * 300).encode()
    found = JsonColumns(row, JsonRules(lenient=True)).read(data)
    assert isinstance(found, pa.RecordBatch)
    read = rows_reader(row, JsonRules(lenient=True))
    try:
        expected = [value for (value,) in read(data.decode().splitlines()[0])] * 300
    except (ValueError, ArithmeticError):
        expected = []
    assert found.column(0).to_pylist() == expected


def test_lines_that_never_have_one_form_are_not_looked_at_for_ever() -> None:
    columns = JsonColumns(row_type("a INT"), JsonRules())
    data = b'{"a": 1}\n{"a":2}\n' * 200
    for _ in range(20):
        found = columns.read(data)
        assert isinstance(found, pa.RecordBatch)
        assert found.num_rows == 400
    assert columns._arrow is not None
    assert columns._arrow._tries == 0

"""Lines of a few forms are read as line by line, or are left to another way."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import product
from typing import Any, Final

import pyarrow as pa
import pytest

from firesteel.common.logical_types import RowType, parse_type
from firesteel.connectors.tables.formats.json_arrow import ArrowLines
from firesteel.connectors.tables.formats.json_columns import JsonColumns
from firesteel.connectors.tables.formats.json_exact import JsonRules
from firesteel.connectors.tables.formats.misfit import Misfit

LENIENT: Final = JsonRules(lenient=True)


def row_type(text: str) -> RowType:
    parsed = parse_type(f"ROW<{text}>")
    assert isinstance(parsed, RowType)
    return parsed


ROW = row_type(
    "id BIGINT, name STRING, price DOUBLE, small TINYINT, yes BOOLEAN, ts TIMESTAMP(3), d1 DATE, cost DECIMAL(8, 2)"
)
PLAIN = b'{"id": 1, "name": "a", "price": 1.5, "more": 7, "yes": true}'
NESTED = row_type(
    "kind INT, person ROW<id BIGINT, name STRING, `at` ROW<ts TIMESTAMP(3), place STRING>>, "
    "bid ROW<id BIGINT, price INT, url STRING, rate DOUBLE, yes BOOLEAN>, extra STRING"
)


def exactly(data: bytes, row: RowType = ROW, rules: JsonRules = LENIENT) -> pa.RecordBatch | Misfit:
    """The rows as they are read line by line."""
    columns = JsonColumns(row, rules)
    columns._arrow = columns._reader = None
    return columns.read(data)


def without_parser(data: bytes, row: RowType = ROW) -> tuple[pa.RecordBatch | None, list[bytes]]:
    """The rows of the lines that have a form and the other lines; None if the block is left to another way."""
    others: list[bytes] = []

    def leave(block: bytes) -> pa.RecordBatch:
        others.append(block)
        raise LookupError

    reader = ArrowLines(row, JsonRules())
    try:
        return reader.read_or(data, leave), []
    except LookupError:
        [left] = others
        return None, left.splitlines()


def same(found: pa.RecordBatch | Misfit, expected: pa.RecordBatch | Misfit) -> bool:
    if isinstance(found, Misfit) or isinstance(expected, Misfit):
        return found == expected
    found.validate(full=True)
    return found.schema == expected.schema and repr(found.to_pylist()) == repr(expected.to_pylist())


def block(*odd: bytes, plain: bytes = PLAIN) -> bytes:
    return b"\n".join([*[plain] * 60, *odd, plain]) + b"\n"


@pytest.mark.parametrize(
    "odd",
    [
        b'{"id": 1, "name": "\\u0041", "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name": "\\"", "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name": "a\\\\", "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name": "a"; "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name"= "a", "price": 1.5, "more": 7, "yes": true}',
        b'["id": 1, "name": "a", "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": 7, "yes": true]',
        b'{"id": 1, "name": 2, "price": 1.5, "more": 7, "yes": true}',
        b'{"id": "1", "name": "a", "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": [7], "small": 1}',
        b'[{"id": 1}, {"id": 2}]',
        b"{}",
        b"",
    ],
)
def test_a_line_without_a_form_is_left_to_another_way(odd: bytes) -> None:
    rows, others = without_parser(block(odd))
    assert rows is None
    assert others == [odd]
    assert same(JsonColumns(ROW, LENIENT).read(block(odd)), exactly(block(odd)))


@pytest.mark.parametrize(
    "odd",
    [
        b'{"id": 1, "name": "a\tb", "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": 7, "yes": true}\r',
        b'{"id": 1, "name": "\xff", "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": 7x, "yes": true}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": 7 7, "yes": true}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": [7], "yes": true}',
        b'{"id":  1, "name": "a", "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1.5, "name": "a", "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 0x10, "name": "a", "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": 7, "yes": tru}',
    ],
)
def test_a_block_with_such_a_line_is_left_to_another_way(odd: bytes) -> None:
    rows, others = without_parser(block(odd))
    assert rows is None
    assert len(others) == 62
    assert same(JsonColumns(ROW, LENIENT).read(block(odd)), exactly(block(odd)))


@pytest.mark.parametrize(
    "other",
    [
        b'{"id": 1, "name": null, "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": 7}',
        b'{"name": "a", "id": 1, "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "nome": "a", "price": 1.5, "more": 7, "yes": true}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": {"id": 2}, "yes": true}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": null, "yes": true}',
        b'{"id": null, "name": "a", "price": null, "more": 7, "yes": null}',
        b'{"id": 1, "name": "a", "price": 1.5, "more": 7, "yes": true} ',
    ],
)
def test_a_line_of_another_form_needs_no_parser(other: bytes) -> None:
    rows, _ = without_parser(block(other))
    assert rows is not None
    assert same(rows, exactly(block(other)))


def test_the_number_of_a_line_that_does_not_fit_is_that_in_the_block() -> None:
    odd = b'{"id": 1, "name": "\\"", "price": 1.5, "more": 7, "yes": true}'
    wrong = b'{"id": "x", "name": "a", "price": 1.5, "more": 7, "yes": true}'
    data = block(odd, PLAIN, wrong)
    found = JsonColumns(ROW, JsonRules()).read(data)
    assert isinstance(found, Misfit)
    assert found.number == 62
    assert found == exactly(data, rules=JsonRules())


def shown(value: Any, chance: random.Random) -> str:
    """JSON in one of the ways to write it."""
    separators = chance.choice([(",", ":"), (", ", ": "), (" , ", " : ")])
    return json.dumps(value, ensure_ascii=False, separators=separators)


def moment(chance: random.Random) -> str:
    fraction = chance.choice(["", ".1", f".{chance.randrange(1000):03}"])
    return f"2024-01-{chance.randrange(1, 29):02} 10:00:{chance.randrange(60):02}{fraction}"


def flat_line(chance: random.Random) -> dict[str, Any]:
    line = {
        "id": chance.choice([0, 1, -1, 2**62, -(2**63), None]),
        "other": chance.choice(["", "x,y: {z}", "äöü", 7, None, True]),
        "name": chance.choice(["", "a", "b, c", "{}", "日本", "12"]),
        "price": chance.choice([0.0, 1.5, -2.25e-7, 1e300, 3, None]),
        "small": chance.randrange(-128, 128),
        "yes": chance.choice([True, False]),
        "ts": moment(chance),
        "d1": f"2024-02-{chance.randrange(1, 30):02}",
        "number": chance.choice([1, 2.5, -3e10]),
        "cost": chance.choice([1, 2.5, -12.25]),
    }
    return line if chance.random() < 0.8 else {**line, "more": {"name": "b", "id": 9}}


def nested_line(chance: random.Random) -> dict[str, Any]:
    kind = chance.randrange(3)
    person = {
        "id": chance.randrange(100),
        "name": chance.choice(["x", "é"]),
        "at": {"ts": moment(chance), "place": ""},
    }
    bid = {
        "id": chance.randrange(-5, 2**40),
        "price": chance.randrange(50),
        "url": "https://a",
        "rate": 0.5,
        "yes": True,
    }
    if kind == 0:
        return {"kind": 0, "person": person, "bid": None, "extra": "p"}
    if kind == 1:
        return {
            "kind": 1,
            "bid": bid,
            "more": {"deep": [], "x": 1} if chance.random() < 0.02 else {"x": -1.5},
        }
    return {"kind": 2, "person": {**person, "at": None}, "bid": bid, "extra": chance.choice([None, "e"])}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("line", "row"), [(flat_line, ROW), (nested_line, NESTED)])
def test_the_rows_are_those_that_are_read_line_by_line(
    seed: int, line: Callable[[random.Random], dict[str, Any]], row: RowType
) -> None:
    chance = random.Random(seed)
    columns = JsonColumns(row, LENIENT)
    separators = chance.choice([(",", ":"), (", ", ": ")])
    for _ in range(4):
        lines = [json.dumps(line(chance), ensure_ascii=False, separators=separators) for _ in range(60)]
        data = ("\n".join(lines) + "\n").encode()
        assert same(columns.read(data), exactly(data, row))


def damaged(line: bytes, chance: random.Random) -> bytes:
    """A line with one or two small changes at random places."""
    marks = b'"{}[]:, \\-+.0123456789eEntrufals\xc3\xa9\tx'
    for _ in range(chance.randrange(1, 3)):
        place = chance.randrange(len(line))
        new = bytes([chance.choice(marks)])
        line = line[:place] + chance.choice([b"", new, new + line[place : place + 1]]) + line[place + 1 :]
    return line


@pytest.mark.parametrize("seed", range(40))
def test_neighbours_of_plain_lines_are_read_as_line_by_line(seed: int) -> None:
    chance = random.Random(seed)
    row, line = chance.choice([(ROW, flat_line), (NESTED, nested_line)])
    columns = JsonColumns(row, LENIENT)
    for _ in range(6):
        lines = [shown(line(chance), random.Random(seed)).encode() for _ in range(40)]
        odd = chance.randrange(len(lines))
        lines[odd] = damaged(lines[odd], chance)
        data = b"\n".join(lines) + b"\n"
        assert same(columns.read(data), exactly(data, row)), lines[odd]


@pytest.mark.parametrize("names", [["bid"], ["kind", "extra"], ["person"]])
def test_what_is_not_wanted_does_not_change_what_is(names: list[str]) -> None:
    chance = random.Random(len(names))
    data = "".join(f"{json.dumps(nested_line(chance))}\n" for _ in range(100)).encode()
    row = RowType(tuple(field for field in NESTED.fields if field.name in names), nullable=False)
    whole, found = exactly(data, NESTED), JsonColumns(row, JsonRules()).read(data)
    assert same(found, whole.select(names))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("TINYINT", "128"),
        ("INT", "1.7"),
        ("BIGINT", "9223372036854775808"),
        ("BIGINT", "1e4386427387904"),
        ("BIGINT", "0e999999999"),
        ("BIGINT", "1e-999999999"),
        ("INT", '"12"'),
        ("STRING", "12"),
        ("STRING", "true"),
        ("STRING", '{"a": 1}'),
        ("STRING", "null"),
        ("BOOLEAN", "1"),
        ("BOOLEAN", '"true"'),
        ("DOUBLE", '"1e3"'),
        ("DOUBLE", "1e999"),
        ("DECIMAL(4, 2)", "1.255"),
        ("ROW<a INT>", "1"),
        ("ROW<a INT>", "null"),
        ("ROW<a INT>", "{}"),
        ("ROW<a INT>", '{"b": 1}'),
        ("ROW<a INT>", '{"a": "7"}'),
    ],
)
def test_what_has_another_kind_is_read_as_line_by_line(kind: str, value: str) -> None:
    row = row_type(f"x {kind}, n INT")
    data = (f'{{"x": {value}, "n": 1}}\n' * 300).encode()
    assert same(JsonColumns(row, LENIENT).read(data), exactly(data, row))
    assert same(JsonColumns(row, JsonRules()).read(data), exactly(data, row, JsonRules()))


def with_fields(chosen: tuple[bool, ...], line: int) -> dict[str, Any]:
    return {"n": line, **{f"f{place}": place for place, has in enumerate(chosen) if has}}


def test_lines_that_never_have_few_forms_are_not_looked_at_for_ever() -> None:
    row = row_type("n INT, f1 INT")
    columns = JsonColumns(row, JsonRules())
    every = list(product([True, False], repeat=6))
    data = "".join(f"{json.dumps(with_fields(every[line % 64], line))}\n" for line in range(256)).encode()
    for _ in range(20):
        assert same(columns.read(data), exactly(data, row))
    assert columns._arrow is not None
    assert columns._arrow._forms._tries == 0


def test_a_block_that_is_not_uniform_is_forgotten_when_others_are() -> None:
    columns = JsonColumns(ROW, LENIENT)
    for _ in range(20):
        for data in (block(), block(b'{"id": 1, "name": "a\tb"}')):
            assert same(columns.read(data), exactly(data))
    assert columns._arrow is not None
    assert columns._arrow._forms._tries


def test_numbers_that_are_null_now_and_then_are_not_forms_of_their_own() -> None:
    row = row_type("n INT")
    columns = ArrowLines(row, JsonRules())
    every = list(product([1, None], repeat=6))
    data = "".join(
        f"{json.dumps({'n': line, **{f'f{place}': value for place, value in enumerate(every[line % 64])}})}\n"
        for line in range(256)
    ).encode()
    left: list[int] = []

    def parse(block: bytes) -> pa.RecordBatch:
        left.append(len(block))
        return columns.parse(block)

    for _ in range(6):
        assert columns.read_or(data, parse).column(0).to_pylist() == list(range(256))
    assert len(left) < 4

"""Tables with a key, a number and a text, and the join of two of them as lists."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import BigIntType, IntType, RowType, VarCharType
from firesteel.functions.columns.joins import KEEPING, Join, JoinKind
from firesteel.relational.expressions import InputRef
from firesteel.relational.functions import resolve
from firesteel.relational.logical.joins import joined_row
from firesteel.relational.translation import program
from firesteel.runtime.columns.batch import ColumnBatch

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = 0, 1, 2, 3
KINDS: list[JoinKind] = ["INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"]
Row = tuple[Any, ...]
LEFT = RowType.of({"k": IntType(), "n": BigIntType(), "s": VarCharType(9)}, nullable=False)
RIGHT = RowType.of({"v": BigIntType(), "k": IntType()}, nullable=False)
LEFT_SCHEMA = pa.schema([("k", pa.int32()), ("n", pa.int64()), ("s", pa.string())])
RIGHT_SCHEMA = pa.schema([("v", pa.int64()), ("k", pa.int32())])
SCHEMAS = (LEFT_SCHEMA, RIGHT_SCHEMA)


def spec(kind: JoinKind, *, keys: bool, null_safe: bool, smaller: bool, live: int | None = None) -> Join:
    condition = None
    if smaller:
        types = [*(field.type for field in (*LEFT.fields, *RIGHT.fields)), BigIntType(nullable=False)]
        given = RowType.of({str(place): kind for place, kind in enumerate(types)}, nullable=False)
        less = resolve("<", (InputRef(types[1], 1), InputRef(types[3], 3)))
        condition = program(given, [InputRef(types[5], 5)], ["pair"], less)
    return Join(
        kind,
        LEFT,
        RIGHT,
        joined_row(LEFT, RIGHT, kind),
        (0,) if keys else (),
        (1,) if keys else (),
        (null_safe,) if keys else (),
        condition,
        (live, live),
    )


def batch(side: int, changes: list[tuple[int, Row]]) -> tuple[int, ColumnBatch]:
    columns = zip(*(row for _, row in changes), strict=True)
    schema = SCHEMAS[side]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
    kinds = np.array([kind for kind, _ in changes], np.int8)
    rows = pa.RecordBatch.from_arrays(arrays, schema=schema)
    return side, ColumnBatch(rows, kinds if kinds.any() else None)


def model(join: Join, left: list[Row], right: list[Row]) -> Counter[Row]:
    """Return the join of two lists."""

    def meets(one: Row, other: Row) -> bool:
        if join.left_keys:
            (safe,) = join.null_safe
            equal = one[0] == other[1] and (safe or one[0] is not None)
        else:
            equal = True
        less = join.condition is None or (one[1] is not None and other[0] is not None and one[1] < other[0])
        return equal and less

    found: Counter[Row] = Counter()
    partners = [[other for other in right if meets(one, other)] for one in left]
    if join.kind == "SEMI":
        return Counter(one for one, others in zip(left, partners, strict=True) if others)
    if join.kind == "ANTI":
        return Counter(one for one, others in zip(left, partners, strict=True) if not others)
    for one, others in zip(left, partners, strict=True):
        found.update(one + other for other in others)
    keeps_left, keeps_right = KEEPING[join.kind]
    if keeps_left:
        found.update(one + (None,) * 2 for one, others in zip(left, partners, strict=True) if not others)
    if keeps_right:
        found.update((None,) * 3 + other for other in right if not any(meets(one, other) for one in left))
    return found


def random_row(side: int, chance: random.Random) -> Row:
    key, number = chance.choice([None, 1, 2, 3, 4, 5]), chance.choice([None, 1, 2, 3])
    return (key, number, chance.choice("ab")) if side == 0 else (number, key)


def apply(table: Counter[Row], sent: list[Row]) -> None:
    for kind, *values in sent:
        row = tuple(values)
        table[row] += 1 if kind == INSERT else -1
        assert table[row] >= 0, row

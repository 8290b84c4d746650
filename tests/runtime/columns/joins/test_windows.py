"""Window joins, beside a join of lists for each window when it is over."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import BigIntType, IntType, RowType, TimestampType
from firesteel.functions.columns.joins import KEEPING, Join, JoinKind, WindowJoin
from firesteel.relational.expressions import InputRef
from firesteel.relational.functions import resolve
from firesteel.relational.logical.joins import joined_row
from firesteel.relational.translation import program
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.joins import pairs
from firesteel.runtime.columns.joins.windows import WindowJoinOperator
from firesteel.runtime.columns.windows import closing
from tests.runtime.columns.columnar import Harness, Step, inserted

KINDS: list[JoinKind] = ["INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"]
Row = tuple[Any, ...]
BOUND = TimestampType(3, nullable=False)
SIDE = RowType.of({"k": IntType(), "n": BigIntType(), "start": BOUND, "end": BOUND}, nullable=False)
SCHEMA = pa.schema(
    [("k", pa.int32()), ("n", pa.int64()), ("start", pa.timestamp("us")), ("end", pa.timestamp("us"))]
)
SIZE = 10


def spec(kind: JoinKind, *, keys: bool = True, null_safe: bool = False, smaller: bool = False) -> WindowJoin:
    condition = None
    if smaller:
        types = [*(field.type for field in (*SIDE.fields, *SIDE.fields)), BigIntType(nullable=False)]
        given = RowType.of({str(place): kind for place, kind in enumerate(types)}, nullable=False)
        less = resolve("<", (InputRef(types[1], 1), InputRef(types[5], 5)))
        condition = program(given, [InputRef(types[8], 8)], ["pair"], less)
    key = ((0,), (0,), (null_safe,)) if keys else ((), (), ())
    return WindowJoin(
        Join(kind, SIDE, SIDE, joined_row(SIDE, SIDE, kind), *key, condition), starts=(2, 2), ends=(3, 3)
    )


def batch(side: int, rows: list[Row]) -> tuple[int, ColumnBatch]:
    columns = [list(column) for column in zip(*rows, strict=True)]
    for place in (2, 3):
        columns[place] = [None if time is None else time * 1000 for time in columns[place]]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, SCHEMA.types, strict=True)]
    return side, ColumnBatch(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA))


def model(window: WindowJoin, left: list[Row], right: list[Row]) -> Counter[Row]:
    """Return the join of two lists."""
    join = window.join

    def meets(one: Row, other: Row) -> bool:
        equal = not join.left_keys or (one[0] == other[0] and (join.null_safe[0] or one[0] is not None))
        less = join.condition is None or (None not in (one[1], other[1]) and one[1] < other[1])
        return equal and less and one[2:] == other[2:]

    partners = [[other for other in right if meets(one, other)] for one in left]
    if not join.pairs:
        wanted = join.kind == "SEMI"
        return Counter(one for one, others in zip(left, partners, strict=True) if bool(others) is wanted)
    found = Counter(one + other for one, others in zip(left, partners, strict=True) for other in others)
    keeps_left, keeps_right = KEEPING[join.kind]
    if keeps_left:
        found.update(one + (None,) * 4 for one, others in zip(left, partners, strict=True) if not others)
    if keeps_right:
        found.update((None,) * 4 + other for other in right if not any(meets(one, other) for one in left))
    return found


@pytest.mark.parametrize(
    ("keys", "null_safe", "smaller", "small"),
    [(True, False, False, False), (True, True, True, True), (False, False, True, False)],
    ids=["keys", "NULL = NULL and condition, in small parts", "condition alone"],
)
@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_of_a_window_are_joined_when_it_is_over(
    kind: JoinKind, keys: bool, null_safe: bool, smaller: bool, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if small:
        monkeypatch.setattr(closing, "MOST_ROWS", 4)
        monkeypatch.setattr(pairs, "MOST", 3)
    chance = random.Random(f"{kind}{keys}{null_safe}{smaller}")
    sent, late = check(spec(kind, keys=keys, null_safe=null_safe, smaller=smaller), chance, 30)
    assert sent
    assert late


@given(
    kind=st.sampled_from(KINDS),
    keys=st.booleans(),
    null_safe=st.booleans(),
    smaller=st.booleans(),
    chance=st.randoms(use_true_random=False),
)
def test_any_rows_of_windows_are_joined(
    kind: JoinKind, keys: bool, null_safe: bool, smaller: bool, chance: random.Random
) -> None:
    check(spec(kind, keys=keys, null_safe=null_safe, smaller=smaller), chance, 6)


class Model:
    """The rows of open windows, what is expected of those that are over, and how many rows came too late."""

    def __init__(self, window: WindowJoin) -> None:
        self.window = window
        self.waiting: tuple[list[Row], list[Row]] = ([], [])
        self.expected: Counter[Row] = Counter()
        self.watermark = self.late = 0

    def advance(self, chance: random.Random) -> int:
        self.watermark += chance.randrange(1, 2 * SIZE)
        over = [[row for row in side if row[3] <= self.watermark + 1] for side in self.waiting]
        self.expected += model(self.window, *over)
        for side in self.waiting:
            side[:] = [row for row in side if row[3] > self.watermark + 1]
        return self.watermark

    def come(self, chance: random.Random) -> Step:
        side = chance.randrange(2)
        rows: list[Row] = []
        for _ in range(chance.randrange(1, 9)):
            start = max(self.watermark // SIZE + chance.randrange(-1, 3), 0) * SIZE
            end = start + chance.choice([SIZE, SIZE, SIZE // 2])
            rows.append((chance.choice([None, 1, 2]), chance.choice([None, 1, 2, 3]), start, end))
        kept = [row for row in rows if row[3] > self.watermark + 1]
        self.late += len(rows) - len(kept)
        self.waiting[side].extend(kept)
        return batch(side, rows)


def check(window: WindowJoin, chance: random.Random, epochs: int) -> tuple[Counter[Row], int]:
    """Join random rows of windows, and compare what is sent with the model after each epoch; some are tried again."""
    join = window.join
    run = Harness(partial(WindowJoinOperator, window), keys=join.left_keys, second_keys=join.right_keys)
    known, sent = Model(window), Counter[Row]()
    for _ in range(epochs):
        steps: list[Step] = [
            known.advance(chance) if chance.random() < 0.3 else known.come(chance)
            for _ in range(chance.randrange(7))
        ]
        if chance.random() < 0.15:
            run.epoch(*steps, lost=True)
            run.renew()
        sent += inserted(run.rows(*steps))
        assert sent == known.expected
        assert run.late == known.late
        if chance.random() < 0.2:
            run.renew(chance.choice([1, 2, 3]) if join.left_keys else 1)
    return sent, known.late


def test_rows_come_before_the_watermark() -> None:
    run = Harness(partial(WindowJoinOperator, spec("LEFT")))
    (sent,) = run.epoch(batch(0, [(1, 1, 0, 10), (1, 1, 10, 20)]), 9)
    assert [item if isinstance(item, int) else item[1] for item in sent] == [1, 9]


def test_a_window_that_is_null_is_an_error() -> None:
    run = Harness(partial(WindowJoinOperator, spec("INNER")))
    with pytest.raises(ProgramError, match="not NULL"):
        run.rows(batch(0, [(1, 1, None, None)]))

"""Interval joins, beside a model that takes the rows one by one, as Flink does."""

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
from firesteel.common.logical_types import BigIntType, IntType, RowType, TimestampKind, TimestampType
from firesteel.common.time import MAX_WATERMARK
from firesteel.functions.columns.joins import KEEPING, IntervalJoin, Join, JoinKind
from firesteel.relational.expressions import InputRef
from firesteel.relational.functions import resolve
from firesteel.relational.logical.joins import joined_row
from firesteel.relational.translation import program
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.joins import interval as intervals
from firesteel.runtime.columns.joins import interval_sides, pairs
from firesteel.runtime.columns.joins.interval import interval_join_operator
from tests.runtime.columns.columnar import Harness, Step, inserted

KINDS: list[JoinKind] = ["INNER", "LEFT", "RIGHT", "FULL"]
Row = tuple[Any, ...]
TIME = TimestampType(3, TimestampKind.ROWTIME)
SIDE = RowType.of({"k": IntType(), "n": BigIntType(), "ts": TIME}, nullable=False)
SCHEMA = pa.schema([("k", pa.int32()), ("n", pa.int64()), ("ts", pa.timestamp("us"))])
BOUNDS = [(0, 0), (-5, 3), (2, 6), (-4, -1), (-30_000, 12_000), (7, 3)]


def spec(
    kind: JoinKind,
    bounds: tuple[int, int],
    *,
    keys: bool = True,
    smaller: bool = False,
    event_time: bool = True,
) -> IntervalJoin:
    condition = None
    if smaller:
        types = [*(field.type for field in (*SIDE.fields, *SIDE.fields)), BigIntType(nullable=False)]
        given = RowType.of({str(place): kind for place, kind in enumerate(types)}, nullable=False)
        less = resolve("<", (InputRef(types[1], 1), InputRef(types[4], 4)))
        condition = program(given, [InputRef(types[6], 6)], ["pair"], less)
    join = Join(
        kind,
        SIDE,
        SIDE,
        joined_row(SIDE, SIDE, kind),
        *(((0,), (0,), (False,)) if keys else ()),
        condition=condition,
    )
    return IntervalJoin(join, *bounds, (2, 2) if event_time else None)


def batch(side: int, rows: list[Row]) -> tuple[int, ColumnBatch]:
    columns = [list(column) for column in zip(*rows, strict=True)]
    columns[2] = [None if time is None else time * 1000 for time in columns[2]]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, SCHEMA.types, strict=True)]
    return side, ColumnBatch(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA))


class Model:
    """Takes rows one by one; rows expire when the time that is reached is beyond their partners' times."""

    def __init__(self, spec: IntervalJoin) -> None:
        self.spec = spec
        self.kept: tuple[list[list[Any]], list[list[Any]]] = ([], [])
        self.sent: Counter[Row] = Counter()
        self.reached = 0

    def row(self, side: int, row: Row, time: int) -> None:
        met = False
        for entry in self.kept[1 - side]:
            other, at, _ = entry
            left, right = ((row, time), (other, at)) if side == 0 else ((other, at), (row, time))
            if self._meet(*left, *right):
                self.sent[left[0] + right[0]] += 1
                entry[2] = met = True
        if self.spec.lower <= self.spec.upper and self.reached < time + self.spec.reaches[side]:
            self.kept[side].append([row, time, met])
        elif not met:
            self._alone(side, row)

    def advance(self, reached: int) -> None:
        self.reached = max(reached, self.reached)
        for side in (0, 1):
            expired = self.reached - self.spec.reaches[side] - 1
            gone = [entry for entry in self.kept[side] if entry[1] <= expired]
            self.kept[side][:] = [entry for entry in self.kept[side] if entry[1] > expired]
            for row, _, met in gone:
                if not met:
                    self._alone(side, row)

    def _alone(self, side: int, row: Row) -> None:
        if KEEPING[self.spec.join.kind][side]:
            self.sent[row + (None,) * 3 if side == 0 else (None,) * 3 + row] += 1

    def _meet(self, left: Row, at: int, right: Row, other: int) -> bool:
        join = self.spec.join
        near = self.spec.lower <= at - other <= self.spec.upper
        equal = not join.left_keys or (left[0] is not None and left[0] == right[0])
        less = join.condition is None or (None not in (left[1], right[1]) and left[1] < right[1])
        return near and equal and less


def random_steps(
    chance: random.Random, model: Model, step: int, watermark: list[int], now: int | None
) -> list[Step]:
    """Return the steps of an epoch, which the model takes, too; a third of the rows is late."""
    steps: list[Step] = []
    for _ in range(chance.randrange(7)):
        if chance.random() < 0.3 and now is None:
            watermark[0] += chance.randrange(1, 2 * step)
            steps.append(watermark[0])
            model.advance(watermark[0])
            continue
        side = chance.randrange(2)
        rows: list[Row] = []
        for _ in range(chance.randrange(1, 4)):
            time = max(watermark[0] + chance.randrange(-2 * step, 4 * step), 1)
            rows.append((chance.choice([None, 1, 2, 3]), chance.choice([None, 1, 2, 3]), time))
        for row in rows:
            model.row(side, row, row[2] if now is None else now)
        steps.append(batch(side, rows))
    return steps


@pytest.mark.parametrize(
    ("keys", "smaller", "small"),
    [(True, False, False), (True, True, True), (False, True, False)],
    ids=["keys", "condition, in small parts", "condition alone"],
)
@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_meet_as_they_do_one_by_one(
    kind: JoinKind,
    bounds: tuple[int, int],
    keys: bool,
    smaller: bool,
    small: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if small:
        monkeypatch.setattr(intervals, "_MOST_WAITING", 4)
        monkeypatch.setattr(interval_sides, "_ROWS_AT_ONCE", 3)
        monkeypatch.setattr(pairs, "MOST", 3)
    chance = random.Random(f"{kind}{bounds}{keys}{smaller}")
    check(spec(kind, bounds, keys=keys, smaller=smaller), chance, 25)


@given(
    kind=st.sampled_from(KINDS),
    bounds=st.sampled_from(BOUNDS),
    keys=st.booleans(),
    smaller=st.booleans(),
    chance=st.randoms(use_true_random=False),
)
def test_any_rows_meet_as_they_do_one_by_one(
    kind: JoinKind, bounds: tuple[int, int], keys: bool, smaller: bool, chance: random.Random
) -> None:
    check(spec(kind, bounds, keys=keys, smaller=smaller), chance, 5)


def check(interval: IntervalJoin, chance: random.Random, epochs: int) -> None:
    """Join random rows, and compare what is sent with the model after each epoch; some are lost and tried again."""
    join = interval.join
    run = Harness(partial(interval_join_operator, interval), keys=join.left_keys, second_keys=join.right_keys)
    model, sent, watermark = Model(interval), Counter[Row](), [1_000]
    step = max(5, max(map(abs, (interval.lower, interval.upper))) // 3)
    for epoch in range(epochs):
        last = epoch == epochs - 1
        steps = random_steps(chance, model, step, watermark, None)
        if chance.random() < 0.15:
            run.epoch(*steps, lost=True)
            run.renew()
        sent += inserted(run.rows(*steps, final=last))
        if last:
            model.advance(MAX_WATERMARK)
        assert sent == model.sent
        if chance.random() < 0.2:
            run.renew(chance.choice([1, 2, 3]) if join.left_keys else 1)


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_in_processing_time_rows_meet_those_that_came_shortly_before(
    kind: JoinKind, bounds: tuple[int, int]
) -> None:
    chance = random.Random(f"{kind}{bounds}")
    interval = spec(kind, bounds, event_time=False)
    run = Harness(partial(interval_join_operator, interval), keys=(0,), second_keys=(0,))
    model, sent, now = Model(interval), Counter[Row](), 1_000
    for epoch in range(25):
        model.advance(now)
        sent += inserted(run.rows(*random_steps(chance, model, 5, [1_000], now), now=now))
        assert sent == model.sent
        if any(KEEPING[kind]) and bounds[0] <= bounds[1]:
            due = [
                time + interval.reaches[side] + 1
                for side in (0, 1)
                for _, time, met in model.kept[side]
                if not met and KEEPING[kind][side]
            ]
            wakeups = [at for at in run.wakeups if at is not None]
            assert not due or min(wakeups) <= min(due)
            assert all(at > now for at in wakeups)
        now += chance.choice([1, 2, 5, 20_000])
        if epoch % 7 == 6:
            run.renew(chance.choice([1, 2, 3]))


def test_the_watermark_waits_for_rows_without_a_partner() -> None:
    run = Harness(partial(interval_join_operator, spec("LEFT", (-5, 3))))
    row = (1, 1, 100)
    assert run.epoch(batch(0, [row]), 105) == [[100]]
    (sent,) = run.epoch(106)
    assert [item if isinstance(item, int) else item[0] for item in sent] == [100, 0, 101]
    assert run.epoch(None) == [[101, None]]


def test_what_has_passed_is_forgotten() -> None:
    run = Harness(partial(interval_join_operator, spec("FULL", (-5, 3))))
    for second in range(100):
        time = second * 1_000
        run.rows(batch(0, [(1, 1, time)]), batch(1, [(1, 1, time), (2, 1, time)]), time)
    (subtask,) = run.subtasks
    kept = {
        name: sum(rows.num_rows for rows in live.arrangement.rows())
        for name, live in subtask.arrangements._live.items()
    }
    assert max(kept.values()) <= 2 * 2 * 10, kept
    assert kept["right alone"] <= 2


def test_a_time_that_is_null_is_an_error() -> None:
    run = Harness(partial(interval_join_operator, spec("INNER", (-5, 3))))
    with pytest.raises(ProgramError, match="time attribute is not NULL"):
        run.rows(batch(0, [(1, 1, None)]))

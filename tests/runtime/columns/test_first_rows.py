"""The first row of each key by row time, beside a model that takes the rows one by one."""

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
from firesteel.functions.columns.ranks import FirstRow
from firesteel.runtime.columns import first_rows
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.first_rows import FirstRowOperator
from tests.runtime.columns.columnar import Harness, Step, inserted

Row = tuple[Any, ...]
TIME = TimestampType(3, TimestampKind.ROWTIME)
ROW = RowType.of({"n": BigIntType(), "k": IntType(), "ts": TIME}, nullable=False)
SCHEMA = pa.schema([("n", pa.int64()), ("k", pa.int32()), ("ts", pa.timestamp("us"))])


def batch(rows: list[Row]) -> ColumnBatch:
    columns = [list(column) for column in zip(*rows, strict=True)]
    columns[2] = [None if time is None else time * 1000 for time in columns[2]]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, SCHEMA.types, strict=True)]
    return ColumnBatch(pa.RecordBatch.from_arrays(arrays, schema=SCHEMA))


class Model:
    """The rows that wait, by their keys, and when keys were given theirs."""

    def __init__(self, spec: FirstRow) -> None:
        self.spec = spec
        self.waiting: dict[Any, Row] = {}
        self.given: dict[Any, int] = {}
        self.sent: Counter[Row] = Counter()
        self.watermark = -1
        self.late = 0

    def row(self, row: Row, now: int) -> None:
        key = row[1] if self.spec.keys else None
        if row[2] < self.watermark:
            self.late += 1
            return
        life = self.spec.time_to_live
        if key in self.given and (life is None or self.given[key] + life > now):
            return
        if key not in self.waiting or row[2] < self.waiting[key][2]:
            self.waiting[key] = row

    def advance(self, watermark: int, now: int) -> None:
        self.watermark = max(watermark, self.watermark)
        for key, row in list(self.waiting.items()):
            if row[2] <= self.watermark:
                self.sent[row] += 1
                self.given[key] = now
                del self.waiting[key]


def check(spec: FirstRow, chance: random.Random, epochs: int) -> Model:
    """Compare what is sent with the model after each epoch; some epochs are lost and tried again."""
    run, model = Harness(partial(FirstRowOperator, spec), keys=spec.keys), Model(spec)
    sent, now = Counter[Row](), 1_000
    for epoch in range(epochs):
        now += chance.choice([0, 10, 100])
        steps: list[Step] = []
        for _ in range(chance.randrange(5)):
            rows = [
                (
                    epoch,
                    chance.choice([None, 1, 2, 3, 4, 5]),
                    max(model.watermark + chance.randrange(-3, 12), 0),
                )
                for _ in range(chance.randrange(1, 5))
            ]
            for row in rows:
                model.row(row, now)
            steps.append(batch(rows))
            if chance.random() < 0.5:
                model.advance(model.watermark + chance.randrange(1, 6), now)
                steps.append(model.watermark)
        if chance.random() < 0.15:
            run.epoch(*steps, lost=True, now=now)
            run.renew()
        # What is not behind a watermark may still be due at it.
        model.advance(model.watermark, now)
        last = epoch == epochs - 1
        sent += inserted(run.rows(*steps, final=last, now=now))
        if last:
            model.advance(MAX_WATERMARK, now)
        assert sent == model.sent
        assert run.late == model.late
        if chance.random() < 0.2:
            run.renew(chance.choice([1, 2, 3]) if spec.keys else None)
    return model


@pytest.mark.parametrize("small", [True, False], ids=["in small parts", "at once"])
@pytest.mark.parametrize("keys", [(1,), ()], ids=["keys", "no keys"])
@pytest.mark.parametrize("life", [None, 50])
def test_the_first_row_of_a_key_comes_once(
    keys: tuple[int, ...], life: int | None, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if small:
        monkeypatch.setattr(first_rows, "_MOST_WAITING", 3)
    model = check(FirstRow(ROW, keys, 2, life), random.Random(f"{keys}{life}"), 60)
    assert model.late
    assert model.sent


@given(life=st.sampled_from([None, 50]), chance=st.randoms(use_true_random=False))
def test_any_first_rows_come_once(life: int | None, chance: random.Random) -> None:
    check(FirstRow(ROW, (1,), 2, life), chance, 6)


def test_a_row_comes_before_the_watermark_that_it_waited_for() -> None:
    run = Harness(partial(FirstRowOperator, FirstRow(ROW, (1,), 2)), keys=(1,))
    (sent,) = run.epoch(batch([(1, 7, 5), (2, 7, 3)]), 4)
    assert [item if isinstance(item, int) else item[1] for item in sent] == [2, 4]


def test_a_time_that_is_null_is_an_error() -> None:
    run = Harness(partial(FirstRowOperator, FirstRow(ROW, (1,), 2)), keys=(1,))
    with pytest.raises(ProgramError, match="time attribute is not NULL"):
        run.rows(batch([(1, 1, None)]))

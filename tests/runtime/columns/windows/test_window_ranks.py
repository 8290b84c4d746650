"""The first rows of windows, beside lists that are sorted when a window is over."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from firesteel.common.logical_types import BigIntType, Field, IntType, RowType, TimestampType
from firesteel.functions.columns.ranks import Rank, RankFunction, WindowRank
from firesteel.functions.columns.sorting import SortColumn
from firesteel.runtime.columns.windows import closing
from firesteel.runtime.columns.windows.ranks import WindowRankOperator
from tests.runtime.columns.columnar import Harness, Step, inserted

Row = tuple[Any, ...]
BOUND = TimestampType(3, nullable=False)
GIVEN = RowType.of(
    {"k": IntType(), "n": BigIntType(), "id": BigIntType(), "start": BOUND, "end": BOUND}, nullable=False
)
SCHEMA = pa.schema(
    [
        *(("k", pa.int32()), ("n", pa.int64()), ("id", pa.int64())),
        *(("start", pa.timestamp("us")), ("end", pa.timestamp("us"))),
    ]
)
SIZE = 10


def spec(
    function: RankFunction, start: int, end: int, *, keys: bool, shows: bool, latest: bool
) -> WindowRank:
    output = RowType((*GIVEN.fields, Field("rank", BigIntType(nullable=False))), nullable=False)
    order = (SortColumn(1, not latest, not latest),)
    rank = Rank(
        GIVEN, output if shows else GIVEN, (0,) if keys else (), order, function, start, end,
        shows=shows, latest=latest,
    )  # fmt: skip
    return WindowRank(rank, 3, 4)


def ranked(given: WindowRank, rows: list[Row]) -> Counter[Row]:
    """Return the rows of windows, in the order in which they came, whose rank is within bounds."""
    rank = given.rank
    parts: dict[Row, list[Row]] = {}
    for row in rows:
        parts.setdefault((row[3:], row[0] if rank.keys else None), []).append(row)
    found: Counter[Row] = Counter()
    for part in parts.values():
        in_order = part[::-1] if rank.latest else part
        in_order = sorted(
            in_order, key=lambda row: (row[1] is not None, row[1] or 0), reverse=False
        ) if not rank.latest else sorted(
            in_order, key=lambda row: (row[1] is None, -(row[1] or 0))
        )  # fmt: skip
        values = [row[1] for row in in_order]
        for number, row in enumerate(in_order, 1):
            place = {
                "ROW_NUMBER": number,
                "RANK": values.index(row[1]) + 1,
                "DENSE_RANK": len(set(values[: values.index(row[1])])) + 1,
            }[rank.function]
            if rank.start <= place <= rank.end:
                found[(*row, place) if rank.shows else row] += 1
    return found


def batch(rows: list[Row]) -> pa.RecordBatch:
    columns = [list(column) for column in zip(*rows, strict=True)]
    for place in (3, 4):
        columns[place] = [time * 1000 for time in columns[place]]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, SCHEMA.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


@pytest.mark.parametrize("small", [True, False], ids=["in small parts", "at once"])
@pytest.mark.parametrize(
    ("function", "start", "end", "keys", "shows", "latest"),
    [
        ("ROW_NUMBER", 1, 2, True, True, False),
        ("ROW_NUMBER", 1, 1, True, False, True),
        ("ROW_NUMBER", 2, 3, False, True, False),
        ("RANK", 1, 2, True, True, False),
        ("DENSE_RANK", 2, 2, False, False, False),
    ],
)
def test_the_first_rows_come_when_a_window_is_over(
    function: RankFunction,
    start: int,
    end: int,
    keys: bool,
    shows: bool,
    latest: bool,
    small: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if small:
        monkeypatch.setattr(closing, "MOST_ROWS", 4)
    chance = random.Random(f"{function}{start}{end}{keys}")
    given = spec(function, start, end, keys=keys, shows=shows, latest=latest)
    run = Harness(partial(WindowRankOperator, given), keys=given.rank.keys)
    waiting: list[Row] = []
    expected, sent = Counter[Row](), Counter[Row]()
    watermark = late = number = 0
    for epoch in range(30):
        steps: list[Step] = []
        for _ in range(chance.randrange(6)):
            if chance.random() < 0.3:
                watermark += chance.randrange(1, 2 * SIZE)
                steps.append(watermark)
                expected += ranked(given, [row for row in waiting if row[4] <= watermark + 1])
                waiting = [row for row in waiting if row[4] > watermark + 1]
                continue
            rows: list[Row] = []
            for _ in range(chance.randrange(1, 9)):
                first = max(watermark // SIZE + chance.randrange(-1, 2), 0) * SIZE
                number += 1
                rows.append(
                    (chance.choice([1, 2]), chance.choice([None, 1, 2, 3]), number, first, first + SIZE)
                )
            kept = [row for row in rows if row[4] > watermark + 1]
            late += len(rows) - len(kept)
            waiting.extend(kept)
            steps.append(batch(rows))
        sent += inserted(run.rows(*steps))
        assert sent == expected
        assert run.late == late
        if epoch % 7 == 6:
            run.renew(chance.choice([1, 2, 3]) if keys else 1)
    assert sent
    assert late


def test_only_rows_that_can_be_among_the_first_wait() -> None:
    given = spec("ROW_NUMBER", 1, 2, keys=True, shows=True, latest=False)
    run = Harness(partial(WindowRankOperator, given), keys=(0,))
    for epoch in range(3):
        run.rows(batch([(1, 100 * epoch + number, number, 0, SIZE) for number in range(100)]))
    (subtask,) = run.subtasks
    kept = subtask.arrangements._live["rows"].arrangement
    assert sum(rows.num_rows for rows in kept.rows()) == 3 * 2

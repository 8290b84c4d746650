"""What is known of a key without rows goes: after a time to live, or when no frame can contain its rows any more."""

from __future__ import annotations

import pytest

from firesteel.common.logical_types import BigIntType, RowType
from firesteel.common.logical_types.constructed import Field
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.windows import OverAggregate, OverFrame
from firesteel.runtime.columns.over.operator import OverAggregateOperator
from tests.runtime.columns.columnar import Harness
from tests.runtime.columns.windows.test_windows_model import INPUT, batch_of

BIGINT = BigIntType()
OUTPUT = RowType((*INPUT.fields, Field("n", BIGINT)), nullable=False)
COUNT = Aggregation("COUNT", (), (), BIGINT, "COUNT(*)")
LAG = Aggregation("LAG", (2,), (BIGINT,), BIGINT, "LAG(v)")
MAX = Aggregation("MAX", (2,), (BIGINT,), BIGINT, "MAX(v)")


def harness_of(frame: OverFrame, call: Aggregation, time_to_live: int | None = None) -> Harness:
    over = OverAggregate(INPUT, OUTPUT, (0,), 1, True, frame, (call,), time_to_live=time_to_live)
    return Harness(lambda: OverAggregateOperator(over), (0,))


@pytest.mark.parametrize(
    ("frame", "call", "expected"),
    [
        (OverFrame(True, None), COUNT, [1, 2, 3, 1, 2]),
        (OverFrame(False, None), COUNT, [1, 2, 3, 1, 2]),
        (OverFrame(True, 9), COUNT, [1, 2, 3, 1, 2]),
        (OverFrame(True, 1), COUNT, [1, 2, 2, 1, 2]),
        (OverFrame(False, None), LAG, [None, 1, 2, None, 4]),
    ],
    ids=str,
)
def test_a_key_starts_again_when_its_last_row_is_too_long_ago(
    frame: OverFrame, call: Aggregation, expected: list[int | None]
) -> None:
    harness = harness_of(frame, call, 100)
    found = [
        harness.rows(batch_of([("a", time, time)]), time, now=now)[0][-1]
        for time, now in ((1, 1_000), (2, 1_060), (3, 1_120), (4, 1_220), (5, 1_300))
    ]
    assert found == expected


def test_a_row_that_waits_keeps_its_key_alive() -> None:
    harness = harness_of(OverFrame(True, 5), COUNT, 100)
    assert harness.rows(batch_of([("a", 1, 1)]), 1, now=1_000)[0][-1] == 1
    assert harness.rows(batch_of([("a", 2, 1)]), now=1_080) == []
    assert harness.rows(2, now=1_150)[0][-1] == 2


@pytest.mark.parametrize("call", [COUNT, MAX], ids=str)
def test_nothing_is_left_of_keys_that_went_silent(call: Aggregation) -> None:
    harness = harness_of(OverFrame(False, 1_000), call)
    harness.rows(batch_of([(f"k{key}", 5_000 + key, key) for key in range(500)]), 6_000)
    for time in range(6_000, 20_000, 500):
        harness.rows(batch_of([("b", time + 1, 1)]), time)
    kept = {
        name: sum(rows.num_rows for rows in live.arrangement.rows())
        for name, live in harness.subtasks[0].arrangements._live.items()
    }
    assert max(kept.values()) < 20, kept


def test_a_row_later_than_the_watermark_counts_with_the_rows_of_its_frame() -> None:
    harness = harness_of(OverFrame(False, 10), COUNT)
    assert harness.rows(batch_of([("a", 100, 1), ("b", 100, 1)]), 115)[0][-1] == 1
    assert harness.rows(batch_of([("a", 105, 1), ("b", 115, 1)]), 116)[0][-1] == 2
    assert harness.rows(batch_of([("b", 110, 1)]), 117) == []
    assert harness.late == 1


@pytest.mark.parametrize("call", [COUNT, MAX], ids=str)
def test_a_late_row_counts_with_its_frame_however_long_the_next_row_of_its_key_waits(
    call: Aggregation,
) -> None:
    harness = harness_of(OverFrame(False, 10), call)
    harness.rows(batch_of([("a", 90_000, 1), ("a", 100, 2), ("b", 100, 1)]), 100)
    for watermark in range(110, 80_000, 3_000):
        harness.rows(batch_of([("b", watermark + 1, 1)]), watermark)
    harness.renew(2)
    assert harness.rows(batch_of([("a", 105, 1)]), 80_001)[-1][-1] == 2
    assert harness.rows(batch_of([("a", 105, 1)]), 80_002) == []

"""The operator of programs: what it emits, and what its functions see of time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import BigIntType, BooleanType, RowType
from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.columns.program import Formula, Program
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.calc import CalcOperator
from firesteel.runtime.operator import OperatorContext

ROW = RowType.of({"n": BigIntType()}, nullable=False)


class Collected:
    def __init__(self) -> None:
        self.batches: list[ColumnBatch] = []

    def emit(self, batch: ColumnBatch) -> None:
        self.batches.append(batch)


def opened(program: Program) -> tuple[CalcOperator, Collected]:
    output = Collected()
    operator = CalcOperator(program)
    context: Any = SimpleNamespace(who="calc", output=output, side_outputs={})
    operator.open(cast("OperatorContext", context))
    operator.processing_time, operator.watermark = 7, MIN_WATERMARK
    return operator, output


def batch(*numbers: int) -> ColumnBatch:
    kinds = np.array([number % 4 for number in numbers], np.int8)
    return ColumnBatch(pa.record_batch({"n": pa.array(numbers, pa.int64())}), kinds)


def test_rows_that_are_kept_go_on_with_their_kinds() -> None:
    large = Formula('"0" > 2', "n > 2", BooleanType())
    operator, output = opened(Program(ROW, ROW, (Formula('"0"', "n", BigIntType(), 0),), large))
    operator.process(batch(1, 2), 0)
    operator.process(batch(5, 2, 3), 0)
    operator.close()
    (found,) = output.batches
    assert found.rows["n"].to_pylist() == [5, 3]
    assert found.all_kinds().tolist() == [1, 3]


def test_functions_see_the_operators_time_and_watermark() -> None:
    times = Formula('epoch_ms("now") + coalesce(epoch_ms("watermark"), 1000)', "NOW()", BigIntType())
    operator, output = opened(Program(ROW, ROW, (times,)))
    operator.process(batch(1), 0)
    operator.watermark = 50
    operator.process(batch(1), 0)
    assert [found.rows["n"].to_pylist() for found in output.batches] == [[1007], [57]]

"""One call of a function may emit any number of records: they are handed on while it yields, and little is held."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from firesteel.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment
from firesteel.functions.adapt import as_function
from firesteel.functions.elements import FlatMapFunction
from firesteel.functions.epoch import EpochFacts
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.blocks import decode_block, encode_block
from firesteel.runtime.operator import Operator
from firesteel.runtime.plan import Distribution, EdgeSpec, EpochPlan, OperatorSpec, Plan
from firesteel.runtime.rows.process import ProcessOperator
from firesteel.runtime.rows.stateless import FlatMapOperator
from firesteel.runtime.task import REPORT, Worker, run_task
from firesteel.testing import executing
from tests.runtime.stateless import Stateless

RECORDS = 300_000
SIZE = 200
"""Characters of a record, none of which is the same object as another."""

HELD = 40 << 20

SIDE = OutputTag("side")


def many(_value: Any) -> Iterator[str]:
    for number in range(RECORDS):
        yield str(number).rjust(SIZE)


class Many(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[str]:
        yield from many(value)


class ManyAside(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        for text in many(value):
            yield SIDE, text


class ManyAtOnce(ProcessFunction):
    """Emits what is in memory anyway, many times the same."""

    def process_element(self, value: Any, ctx: Any) -> list[str]:
        return [" " * SIZE] * RECORDS


def flat_map() -> Operator[RowBatch]:
    return FlatMapOperator(as_function(many, FlatMapFunction, "flat_map", "test"))


def emitted(make: Callable[[], Operator[RowBatch]], tag: str | None) -> int:
    """Run a task whose operator gets one record; return how many records come out of it."""
    operators = [
        OperatorSpec(
            index, f"op-{index}", "op", "op", "op", index, 1, 128,
            cloudpickle.dumps(make), None, keyed=False, stateful=False, ports=1,
        )
        for index in range(3)
    ]  # fmt: skip
    edges = [
        EdgeSpec(
            at, at, at + 1, 0, Distribution.GLOBAL, 1, 1, 128, local=False, who="e",
            side_output=tag if at else None,
        )
        for at in (0, 1)
    ]  # fmt: skip
    plan = Plan("job", 128, tuple(operators), tuple(edges))
    epoch = EpochPlan("job", EpochFacts(1, "a", 0), 1, 0)
    rows = [(0, 0, 0, 0, encode_block(RowBatch([0]), []))]
    counted = 0
    for row in run_task(plan, epoch, 1, 0, rows, Worker(), Stateless()):
        if row[1] != REPORT:
            assert row[1] == 1, row
            counted += len(decode_block(row[4])[0] or ())
    return counted


@pytest.mark.parametrize(
    ("make", "tag"),
    [
        (flat_map, None),
        (lambda: ProcessOperator(Many()), None),
        (lambda: ProcessOperator(ManyAside()), "side"),
        (lambda: ProcessOperator(ManyAtOnce()), None),
    ],
    ids=["flat_map", "process", "side output", "list"],
)
def test_what_one_call_emits_is_not_held(
    make: Callable[[], Operator[RowBatch]],
    tag: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    assert RECORDS * SIZE > 1.4 * HELD
    tracemalloc.start()
    try:
        assert emitted(make, tag) == RECORDS
        assert tracemalloc.get_traced_memory()[1] < HELD
    finally:
        tracemalloc.stop()


def test_all_of_it_arrives_in_order() -> None:
    with executing("process", parallelism=1):
        env = StreamExecutionEnvironment.get_execution_environment()
        numbers = env.from_collection([0, 1]).flat_map(lambda start: range(start, 50_000, 2))
        kept = numbers.filter(lambda number: number % 10 < 2).map(lambda number: number + 1)
        found = list(kept.execute_and_collect())
    assert found == [n + 1 for start in (0, 1) for n in range(start, 50_000, 2) if n % 10 < 2]

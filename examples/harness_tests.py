"""Tests of a program in the test's process, without a JVM, and with a clock that only the test moves.

    pytest examples/harness_tests.py

The pipeline is a function of a stream, so a test can pass its own input. `executing` runs it in small epochs; the
result must not depend on their ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from firesteel.common.errors import UserFunctionError
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import KeyedProcessFunction, RuntimeContext
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.testing import executing


class RunningTotal(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total"))

    def process_element(self, value: tuple[str, int], ctx: Any) -> Iterator[tuple[str, int]]:
        self.total.update((self.total.value() or 0) + value[1])
        yield value[0], self.total.value()


def totals(payments: list[Any]) -> list[tuple[str, int]]:
    env = StreamExecutionEnvironment.get_execution_environment()
    stream = env.from_collection(payments).key_by(lambda payment: payment[0]).process(RunningTotal())
    return sorted(stream.execute_and_collect())


@pytest.mark.parametrize("epoch_records", [1, 2, 100])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_totals_do_not_depend_on_epochs_or_parallelism(epoch_records: int, parallelism: int) -> None:
    with executing(epoch_records=epoch_records, parallelism=parallelism):
        assert totals([("a", 1), ("b", 5), ("a", 2), ("a", 4)]) == [("a", 1), ("a", 3), ("a", 7), ("b", 5)]


def test_a_bad_payment_is_named() -> None:
    with executing(), pytest.raises(UserFunctionError, match="TypeError"):
        totals([("a", 1), ("a", "two")])

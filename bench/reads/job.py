"""The job whose state is read: it counts the records of 100,000 keys. The cluster runs it; its argument is the rate."""

from __future__ import annotations

import sys
from typing import Any, Final

from firesteel.common import Types, WatermarkStrategy
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from firesteel.datastream.state import ValueStateDescriptor

KEYS: Final = 100_000
_SPREAD: Final = 7919
"""A prime: each stretch of as many records has every key once, not in the order of the keys."""


class Count(KeyedProcessFunction):
    """Counts the records of each key, and puts out nothing."""

    def open(self, runtime_context: Any) -> None:
        self._count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Any:
        self._count.update((self._count.value() or 0) + 1)
        yield from ()


def main(rate: float) -> None:
    """Run the job at a rate of records a second; 0 is as fast as it can."""
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = DataGeneratorSource(lambda index: index * _SPREAD % KEYS, records_per_second=rate or None)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    stream.key_by(lambda number: number, Types.LONG()).process(Count()).uid("counts").name("counts").print()
    env.execute("counts")


if __name__ == "__main__":
    main(float(sys.argv[1]))

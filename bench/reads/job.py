"""The job whose state is read: it counts the records of 100,000 keys. The cluster runs it.

Its arguments are the rate, and the least time between the beginnings of two epochs.
"""

from __future__ import annotations

import sys
from typing import Any, Final

from firesteel.common import Configuration, Types, WatermarkStrategy
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


def main(rate: float, interval: str) -> None:
    """Run the job at a rate of records a second (0: as fast as it can), with epochs at least an interval apart."""
    options = Configuration.from_dict({"firesteel.epoch.min-interval": interval})
    env = StreamExecutionEnvironment.get_execution_environment(options)
    numbers = DataGeneratorSource(lambda index: index * _SPREAD % KEYS, records_per_second=rate or None)
    stream = env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    stream.key_by(lambda number: number, Types.LONG()).process(Count()).uid("counts").name("counts").print()
    env.execute("counts")


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2])

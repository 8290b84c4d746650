"""The job that is measured: it counts the records of each key."""

from __future__ import annotations

from typing import Any, Final

from bench.tally import Pair, TallySink
from firesteel.common import Types, WatermarkStrategy
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from firesteel.datastream.state import ValueStateDescriptor

KEYS: Final = 10_000
EPOCH: Final = 50_000
"""Records of an epoch; each key has as many of them."""

NAME: Final = "counted"
"""The name of the function's counter."""

_SPREAD: Final = 7919  # a prime: the keys come in another order than theirs
_PAIR: Final = Types.TUPLE([Types.LONG(), Types.LONG()])


class Count(KeyedProcessFunction):
    """The key and how many of its records there were so far, for each record."""

    def open(self, runtime_context: Any) -> None:
        self._count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Pair, ctx: Any) -> Any:
        count = (self._count.value() or 0) + 1
        self._count.update(count)
        yield value[0], count


class CountAndTell(Count):
    """The same with a counter of the records."""

    def open(self, runtime_context: Any) -> None:
        super().open(runtime_context)
        self._counter = runtime_context.get_metrics_group().counter(NAME)

    def process_element(self, value: Pair, ctx: Any) -> Any:
        self._counter.inc()
        count = (self._count.value() or 0) + 1
        self._count.update(count)
        yield value[0], count


def generate(index: int) -> int:
    """Return the record of an index."""
    return index * _SPREAD


def build(env: StreamExecutionEnvironment, epochs: int, tells: bool, sink: TallySink) -> None:
    """Add the job to an environment; if it `tells`, its function has a counter."""
    source = DataGeneratorSource(generate, count=epochs * EPOCH)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    pairs = numbers.map(lambda number: (number % KEYS, number), _PAIR)
    counts = pairs.key_by(lambda pair: pair[0], Types.LONG()).process(
        CountAndTell() if tells else Count(), _PAIR
    )
    counts.map(lambda pair: (pair[0], pair[1] + 1), _PAIR).sink_to(sink)


def expected(epochs: int) -> tuple[int, int]:
    """Return the expected number of results in the sink, and the sum of their second numbers."""
    per_key = epochs * EPOCH // KEYS
    return epochs * EPOCH, KEYS * (per_key * (per_key + 1) // 2 + per_key)

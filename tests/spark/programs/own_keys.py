"""Counts records by keys that are objects of this program's own classes, in two runs of one job.

Argument: the state directory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from firesteel.common import WatermarkStrategy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import KeyedProcessFunction, RuntimeContext
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.testing import ScriptedSource, executing


@dataclass(frozen=True)
class Place:
    town: str
    number: int


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Pair(NamedTuple):
    left: int
    right: str


KEYS = (Place("Ulm", 1), Place("Ulm", 2), Colour.RED, Colour.BLUE, Pair(1, "a"), Pair(2, "a"))


def copied(key: Any) -> Any:
    """Return an equal object that is another one, where that is possible."""
    if isinstance(key, Place):
        return Place(key.town, key.number)
    return Pair(*key) if isinstance(key, Pair) else key


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterator[str]:
        key = ctx.get_current_key()
        assert type(key) in (Place, Colour, Pair), type(key)
        assert key == value
        self.count.update((self.count.value() or 0) + 1)
        yield f"{key} {self.count.value()}"


def run(first: int, last: int) -> list[str]:
    """Count the records from `first` on, before `last`; an earlier run has counted those before."""
    keys = [KEYS[number % len(KEYS)] for number in range(last)]
    env = StreamExecutionEnvironment.get_execution_environment()
    source = ScriptedSource(keys, bounded=False)
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "keys").uid("keys")
    counts = stream.key_by(copied).process(Count()).uid("counts")
    with counts.execute_and_collect() as results:
        return [next(results) for _ in range(first, last)]


if __name__ == "__main__":
    with executing("spark", parallelism=2, epoch_records=4, state_dir=sys.argv[1]):
        for line in sorted([*run(0, 12), *run(12, 24)]):
            print(line)

"""The measured job, which counts the records of each key."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, Final

from firesteel.common import Types, WatermarkStrategy
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.connectors.discard import DiscardingSink
from firesteel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.functions.source import Split

KEYS_PER_EPOCH: Final = 10_000
VISITS: Final = 2
"""How often each key of an epoch occurs in it."""


@dataclass(frozen=True)
class Load:
    """`keys` keys of state; every epoch changes `changed` of them, twice each."""

    keys: int
    changed: int = KEYS_PER_EPOCH

    @property
    def records(self) -> int:
        """Records of one epoch."""
        return self.changed * VISITS


class Draw:
    """The key of each record: first every key once, then, for each epoch, keys drawn at random, all different.

    >>> key = Draw(Load(keys=100, changed=4))
    >>> [key(index) for index in (0, 99)], sorted(map(key, range(100, 108)))
    ([0, 99], [5, 5, 49, 49, 53, 53, 97, 97])
    """

    def __init__(self, load: Load) -> None:
        self._load = load
        self._epoch = -1
        self._drawn: list[int] = []

    def __call__(self, index: int) -> int:
        load = self._load
        if index < load.keys:
            return index
        epoch, place = divmod(index - load.keys, load.records)
        if epoch != self._epoch:
            self._epoch, self._drawn = epoch, random.Random(epoch).sample(range(load.keys), load.changed)
        return self._drawn[place % load.changed]


class GatedSource(DataGeneratorSource[int]):
    """Endless keys; only the first `gate` have arrived so far (None: all)."""

    def __init__(self, load: Load, gate: int | None) -> None:
        super().__init__(Draw(load))
        self._gate = gate

    def available(self, split: Split, position: int, now: int) -> int:
        """Return the positions of the indices of this split that are below the gate."""
        if self._gate is None:
            return super().available(split, position, now)
        first, stride = split.payload
        below: int = -(-(self._gate - first) // stride)
        return max(position, below)


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self._count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> None:
        self._count.update((self._count.value() or 0) + 1)


def build(env: StreamExecutionEnvironment, load: Load, gate: int | None) -> None:
    """Add the job to an environment."""
    source = GatedSource(load, gate)
    keys = env.from_source(source, WatermarkStrategy.no_watermarks(), "keys", Types.LONG()).uid("keys")
    counts = keys.key_by(lambda key: key, Types.LONG()).process(Count(), Types.LONG()).uid("count")
    counts.sink_to(DiscardingSink()).uid("nothing")

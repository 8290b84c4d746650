"""A job as admission sees it: epochs that cost what a test says, and the records that come meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from firesteel.control.admission import Admission
from firesteel.control.cost import Load


@dataclass(frozen=True)
class Epoch:
    """An epoch that was simulated: when it began (milliseconds), its records, how long it took."""

    began: float
    records: int
    duration_ms: float


@dataclass
class World:
    """What epochs cost at a time, in milliseconds since the simulation began.

    An epoch that begins at `t` lasts `(floor(t) + cost(t) * records) * pace(t)`, times noise between `1 / (1 + noise)`
    and `1 + noise`. `pace` is what a neighbour does to everything; `bytes` is the size of a record.
    """

    floor: Callable[[float], float]
    cost: Callable[[float], float]
    pace: Callable[[float], float] = lambda _: 1.0
    noise: float = 0.0
    seed: int = 0
    bytes: int = 0
    now: float = 0.0
    epochs: list[Epoch] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def run(self, admission: Admission, epochs: int) -> Admission:
        """Let epochs take all that is admitted."""
        for _ in range(epochs):
            admission = self._epoch(admission, admission.limit)
        return admission

    def follow(self, admission: Admission, rate: Callable[[float], float], until: float) -> Admission:
        """Let epochs take what has come, at `rate(t)` records per second; answer the controller."""
        waiting = 0.0
        while self.now < until:
            began = self.now
            records = int(min(waiting, admission.limit))
            if records:
                admission = self._epoch(admission, records)
            else:
                self.now += 10.0
            waiting += rate(began) * (self.now - began) / 1000 - records
        self.waiting = waiting
        return admission

    def _epoch(self, admission: Admission, records: int) -> Admission:
        log_noise = self._random.uniform(-1.0, 1.0)
        duration = self.floor(self.now) + self.cost(self.now) * records
        duration *= self.pace(self.now) * (1 + self.noise) ** log_noise
        self.epochs.append(Epoch(self.now, records, duration))
        self.now += duration
        return admission.after(Load(records, duration, records * self.bytes))

    def throughput(self, last: int) -> float:
        """Records per second over the last epochs."""
        taken = self.epochs[-last:]
        return sum(epoch.records for epoch in taken) / sum(epoch.duration_ms for epoch in taken) * 1000


def always(value: float) -> Callable[[float], float]:
    """The same at all times."""
    return lambda _: value


def between(begins: float, ends: float, inside: float, outside: float) -> Callable[[float], float]:
    """One value from `begins` (milliseconds) to `ends`, another one before and after."""
    return lambda now: inside if begins <= now < ends else outside


def attainable(floor: float, cost: float, target: float) -> float:
    """Records per second if epochs last the target, or twice their floor where that is more."""
    lasts = max(target, 2 * floor)
    return (lasts - floor) / cost / lasts * 1000

"""The sink of the benchmarks: it counts its records exactly once, with the times of the commits."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from firesteel.functions.sink import Committer, Sink, SinkWriter, WriterContext

Pair = tuple[int, int]


class _TallyWriter(SinkWriter[Pair]):
    def __init__(self) -> None:
        self._results = 0
        self._total = 0

    def write(self, values: Sequence[Pair], timestamps: Sequence[int | None] | None) -> None:
        self._results += len(values)
        self._total += sum([value[1] for value in values])

    def prepare_commit(self) -> list[Pair]:
        return [(self._results, self._total)]


class _TallyCommitter(Committer):
    def __init__(self, add: Callable[[Sequence[Pair]], None]) -> None:
        self._add = add

    def commit(self, committables: Sequence[Pair]) -> None:
        self._add(committables)


class TallySink(Sink[Pair]):
    """Counts pairs and adds up their second numbers; the time of a commit is when its epoch's results are visible.

    `results` and `total` are those of all commits of this process; `commits` are their times (seconds since 1970).
    """

    def __init__(self) -> None:
        self.results = 0
        self.total = 0
        self.commits: list[float] = []

    def create_writer(self, context: WriterContext) -> SinkWriter[Pair]:
        return _TallyWriter()

    def create_committer(self) -> Committer:
        return _TallyCommitter(self._add)

    def _add(self, tallies: Sequence[Pair]) -> None:
        for results, total in tallies:
            self.results += results
            self.total += total
        self.commits.append(time.time())

"""The groups of an aggregate whose input comes in one epoch, in BATCH mode: nothing of them is state.

Partial results that do not fit into memory lie on the disk, in runs that are sorted by the hashes of their keys; at the
end the runs are added up one range of hashes after the other. Source: Graefe, Query Evaluation Techniques for Large
Databases, 1993, aggregation by sorting.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.aggregates.adding import Partials
from firesteel.runtime.columns.aggregates.form import Form
from firesteel.runtime.columns.aggregates.gathering import MANY
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.state.arrangements.hashing import Words
from firesteel.state.arrangements.shelf import MappedFiles

IN_MEMORY: Final = 128 << 20
"""The bytes of runs that stay in memory; what comes later is mapped."""

_HASH: Final = "$hash"


class HeldGroups:
    """The accumulators of the groups of a subtask, until all input has come.

    Contract: `store` adds partial results, as `Form.combine` returns them; then `all` yields the results, each once.
    Without keys there is one result, also of no rows. Raises StateError if the disk cannot be written.
    """

    def __init__(self, form: Form) -> None:
        self._form = form
        self._runs: list[pa.RecordBatch] = []
        self._bytes = 0
        self._files = MappedFiles()

    def begin_epoch(self, epoch: int) -> None:
        """Nothing depends on the epoch."""

    def store(self, partials: Partials) -> None:
        """Add a run."""
        hashes = partials.hashes
        assert hashes is not None, "forms with stores are kept in arrangements"
        run = partials.rows.append_column(_HASH, pa.array(hashes))
        self._bytes += run.nbytes
        self._runs.append(run if self._bytes <= IN_MEMORY else self._files.keep(run).rows)

    def all(self) -> Iterator[ColumnBatch]:
        """Yield the results as inserts, and keep nothing."""
        runs, self._runs, self._bytes = self._runs, [], 0
        if not runs and self._form.is_one_group:
            yield ColumnBatch(self._form.table(self._form.only_group(), {}))
        for rows in self._added_up(runs):
            yield ColumnBatch(self._form.table(self._form.settled(rows), {}))

    def _added_up(self, runs: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield accumulators, one for each key."""
        names = self._form.state.names
        if len(runs) == 1:
            yield runs[0].select(names)
            return
        words = [_hashes(run) for run in runs]
        for places in _ranges(words):
            pieces = [
                run.select(names).slice(start, stop - start)
                for run, (start, stop) in zip(runs, places, strict=True)
            ]
            yield self._form.combine(pa.concat_batches(pieces)).rows


def _hashes(run: pa.RecordBatch) -> Words:
    words: Words = run.column(_HASH).to_numpy()
    return words


def _ranges(runs: list[Words]) -> Iterator[list[tuple[int, int]]]:
    """Yield for each range of hashes where its rows are in each run; a range has about as many rows as fit together."""
    largest = max(runs, key=len, default=np.zeros(0, np.uint64))
    count = -(-sum(map(len, runs)) // MANY)
    edges = largest[[len(largest) * number // count for number in range(1, count)]]
    cuts = [[0, *np.searchsorted(run, edges).tolist(), len(run)] for run in runs]
    for number in range(count):
        yield [(cut[number], cut[number + 1]) for cut in cuts]

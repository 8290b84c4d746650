"""What operators of tumbling, hopping and cumulating windows have in common: which rows are late, and what is due."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.windows import WindowAggregate
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.gathering import stages
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.runtime.columns.windows.operator import GatheringOperator
from firesteel.runtime.columns.windows.placing import placing_of
from firesteel.runtime.columns.windows.results import Results
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.arrangement import Arrangement


class SlicingOperator(GatheringOperator):
    """Keeps rows by slice in `_slices`, and emits the results of each window once, when it is over.

    A row is late if all windows that have its slice are over. If only some are, these fire before it is added.
    """

    _slices: Arrangement

    def __init__(self, aggregate: WindowAggregate) -> None:
        super().__init__(aggregate.window)
        self._aggregate = aggregate
        self._keys = Keys(to_arrow_schema(aggregate.input), aggregate.keys)
        self._results = Results(aggregate)

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        self._placing = placing_of(self._window, context.who)
        self._windows = self._placing.slicing

    def _ends(self, batch: ColumnBatch) -> Times:
        """Return the end of the slice of each row."""
        return self._placing.ends(batch, self.processing_time, self.context.who)

    @abstractmethod
    def _add(self, batch: ColumnBatch, ends: Times) -> None:
        """Add rows to the slices that end at these times."""

    @abstractmethod
    def _complete(self, slices: pa.RecordBatch, after: int, until: int) -> None:
        """Emit the windows that end within `(after, until]`; `slices` are all that end up to then."""

    def _receive(self, batch: ColumnBatch, over: Times) -> None:
        windows = self._windows
        ends = self._ends(batch)
        if windows.all_open(ends, int(over[-1])):
            self._last = max(self._last, int(windows.last_windows(ends.max())))
            self._add(batch, ends)
            return
        last = windows.last_windows(ends)
        late = (last <= over) | (last < ends)
        if late.any():
            self._late.inc(int(late.sum()))
            kept = np.flatnonzero(~late)
            batch, ends, over, last = batch.take(kept), ends[kept], over[kept], last[kept]
        if not len(ends):
            return
        self._last = max(self._last, int(last.max()))
        for start, stop, until in stages(over, windows.first_windows(ends) <= over):
            if until is not None:
                self._fire(until)
            self._add(batch.slice(start, stop), ends[start:stop])

    def _next_end(self, after: int) -> int:
        return self._windows.next_window(after)

    def _fire(self, until: int) -> None:
        after, self._fired = self._fired, max(until, self._fired)
        if self._windows.next_window(after) > until:
            return
        slices = self._slices.up_to(until)
        if slices.num_rows:
            self._complete(slices, after, until)

    def _drop(self, ends: Times, until: int) -> None:
        """Forget the slices of which no window is left; these end first."""
        over = ends[self._windows.last_windows(ends) <= until]
        if len(over):
            self._slices.drop_up_to(int(over.max()))

    def _emit(self, ends: Times, rows: pa.RecordBatch, results: list[pa.Array]) -> None:
        """Emit the results of windows that end at these times; `rows` has their keys."""
        if len(ends):
            keys = self._keys.shown(rows)
            self.output.emit(self._results.batch(keys, results, self._windows.window_starts(ends), ends))

"""Aggregates by window before the exchange: partial results by slice or session and key.

Contract: what `SlicingAggregateOperator` and `SessionAggregateOperator` make of these (with `partial`) is what they
would make of the rows. A row is in time if none of its windows was over, by the watermark before it, when it came. Such
rows are added up, and go out before the watermarks that came among them: no receiver takes them for late, for its own
watermark is the lowest of all channels. Any other row goes out by itself, behind the watermark that was there when it
came; so the receiver decides about it, and counts it, as it would without this phase. There is no state.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.windows import WindowAggregate
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.times import Times, times_of
from firesteel.runtime.columns.windows.folding import Folding
from firesteel.runtime.columns.windows.gathering import stages
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.runtime.columns.windows.operator import GatheringOperator
from firesteel.runtime.columns.windows.placing import placing_of
from firesteel.runtime.columns.windows.sessions import rows_of, united, whole_schema
from firesteel.runtime.operator import Epoch, OperatorContext
from firesteel.state.arrangements.columns import Mask


class LocalWindowOperator(GatheringOperator):
    """Adds up its input by slice or session and key; see the module. It is for windows in event time.

    The output's columns are the bounds of a slice or session, the keys, named as in the aggregate's output, and the
    accumulators.
    """

    _schema: pa.Schema

    def __init__(self, aggregate: WindowAggregate) -> None:
        super().__init__(aggregate.window)
        self._aggregate = aggregate
        self._keys = Keys(to_arrow_schema(aggregate.input), aggregate.keys)

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        given = self._aggregate
        keys = None if given.window.shape.kind == "session" else self._keys
        self._folding = Folding(given.input, keys, given.aggregations, context.who, retracts=given.retracts)

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._watermarks = {self._over: self.watermark}

    def advance_watermark(self, watermark: int) -> None:
        super().advance_watermark(watermark)
        self._watermarks[self._over] = watermark

    @abstractmethod
    def _bounds(self, batch: ColumnBatch) -> Times:
        """Return for each row what its place follows from: the end of its slice, or its time."""

    @abstractmethod
    def _tardy(self, bounds: Times, over: Times) -> Mask:
        """Return the rows that are not in time; windows were over up to `over`."""

    @abstractmethod
    def _added(self, bounds: Times, batch: ColumnBatch) -> pa.RecordBatch:
        """Return rows added up."""

    @abstractmethod
    def _alone(self, bounds: Times, batch: ColumnBatch) -> pa.RecordBatch:
        """Return a partial result for each row."""

    def _receive(self, batch: ColumnBatch, over: Times) -> None:
        bounds = self._bounds(batch)
        tardy = self._tardy(bounds, over)
        for start, stop, until in stages(over, tardy):
            if until is not None:
                self._fire(until)
            alone = tardy[start:stop]
            self._send(batch.slice(start, stop), bounds[start:stop], alone)

    def _send(self, batch: ColumnBatch, bounds: Times, alone: Mask) -> None:
        """Send a stretch of rows; those that are `alone` first: they touch no session of the others."""
        if alone.any():
            self._emit(self._alone(bounds[alone], batch.take(np.flatnonzero(alone))))
            rest = np.flatnonzero(~alone)
            batch, bounds = batch.take(rest), bounds[rest]
        if len(batch):
            self._emit(self._added(bounds, batch))

    def _emit(self, rows: pa.RecordBatch) -> None:
        self.output.emit(ColumnBatch(pa.RecordBatch.from_arrays(rows.columns, schema=self._schema)))

    def _fire(self, until: int) -> None:
        """Pass on the watermark after which windows up to this time are over."""
        watermark = self._watermarks[until]
        self._watermarks = {over: later for over, later in self._watermarks.items() if over >= until}
        if watermark > self._sent:
            self._sent = watermark
            self.emit_watermark(watermark)

    def _next_end(self, after: int) -> int:
        raise AssertionError("windows in processing time have one phase")


class LocalSlicingOperator(LocalWindowOperator):
    """Adds up by slice; the first column is the end of the slice."""

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        self._placing = placing_of(self._window, context.who)
        self._schema = _exchanged(self._folding.schema, 1, self._aggregate)

    def _bounds(self, batch: ColumnBatch) -> Times:
        return self._placing.ends(batch, self.processing_time, self.context.who)

    def _tardy(self, bounds: Times, over: Times) -> Mask:
        windows = self._placing.slicing
        if windows.all_open(bounds, int(over[-1])):
            return np.zeros(len(bounds), np.bool_)
        tardy: Mask = (windows.first_windows(bounds) <= over) | (windows.last_windows(bounds) < bounds)
        return tardy

    def _added(self, bounds: Times, batch: ColumnBatch) -> pa.RecordBatch:
        return self._folding.partial(bounds, batch)

    def _alone(self, bounds: Times, batch: ColumnBatch) -> pa.RecordBatch:
        return self._folding.lifted(bounds, batch)


class LocalSessionOperator(LocalWindowOperator):
    """Merges rows into sessions; the first two columns are start and end."""

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        self._whole = whole_schema(self._keys, self._folding)
        self._schema = _exchanged(self._whole, 2, self._aggregate)

    def _bounds(self, batch: ColumnBatch) -> Times:
        return times_of(batch, self._window, self.processing_time, self.context.who)

    def _tardy(self, bounds: Times, over: Times) -> Mask:
        tardy: Mask = bounds <= over
        return tardy

    def _added(self, bounds: Times, batch: ColumnBatch) -> pa.RecordBatch:
        rows = rows_of(self._keys, batch, bounds, bounds + self._window.shape.size)
        return united(rows, lambda groups: self._folding.partial_by(groups, batch), self._whole)[0]

    def _alone(self, bounds: Times, batch: ColumnBatch) -> pa.RecordBatch:
        ends = pa.array(bounds + self._window.shape.size)
        kept = self._folding.lifted(bounds, batch).columns[1:]
        columns = [pa.array(bounds), ends, *self._keys.columns(batch), *kept]
        return pa.RecordBatch.from_arrays(columns, schema=self._whole)


def _exchanged(schema: pa.Schema, leads: int, aggregate: WindowAggregate) -> pa.Schema:
    """Return partial results' columns as the exchange carries them: keys have the names of the aggregate's output."""
    keys = [field.name for field in aggregate.output.fields[: len(aggregate.keys)]]
    mark = "$"
    while any(name.startswith(mark) for name in keys):
        mark += "$"
    names = [f"{mark}{place}" for place in range(len(schema))]
    names[leads : leads + len(keys)] = keys
    return pa.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)])

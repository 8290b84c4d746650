"""OVER in BATCH mode: rows are gathered, and have their results when the input has ended."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.windows import OverPartitions, PartitionFrame
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.over.calls import OF_WHOLE_PARTITIONS, OFFSETS, RANKS, Calls, typed
from firesteel.runtime.columns.over.partitions import Partitions, sorting
from firesteel.runtime.columns.over.waiting import ORDER
from firesteel.runtime.columns.windows.keys import Keys, codes_of
from firesteel.runtime.columns.windows.whole import first_number
from firesteel.runtime.operator import Epoch, Operator, OperatorContext
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.layout import Kind, Layout

_SPECIAL = OFFSETS | OF_WHOLE_PARTITIONS | RANKS


class OverPartitionsOperator(Operator[ColumnBatch]):
    """Appends the results of the calls to each row, partition by partition; the input must be inserts.

    Watermarks are passed on after all rows, for which they would be too early before.
    """

    def __init__(self, over: OverPartitions) -> None:
        self._over = over
        self._input = to_arrow_schema(over.input)
        self._schema = to_arrow_schema(over.output)
        self._keys = Keys(self._input, over.keys)
        self._others = [place for place in range(len(self._input)) if place not in over.keys]
        frames: dict[PartitionFrame, list[int]] = {}
        for place, (call, frame) in enumerate(over.calls):
            if call.function not in _SPECIAL:
                frames.setdefault(frame, []).append(place)
        self._frames = [
            (frame, places, Calls(over.input, [over.calls[place][0] for place in places]))
            for frame, places in frames.items()
        ]

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        for key in self._over.order:
            kind = self._input.types[key.column]
            if pa.types.is_nested(kind):
                raise UnsupportedError("cannot order by values of this type", who=context.who, got=str(kind))
        assert context.arrangements is not None
        others = [pa.field(f"c{place}", self._input.types[place]) for place in self._others]
        self._stored = pa.schema([pa.field(ORDER, pa.int64()), *self._keys.fields, *others])
        layout = Layout(self._stored, tuple(self._keys.names), Kind.MULTISET)
        self._rows = context.arrangements.declare("rows", layout)

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._next = first_number(epoch) + self.context.subtask

    def announce(self) -> None:
        """Send no watermark yet."""

    def advance_watermark(self, watermark: int) -> None:
        self.watermark = watermark

    def process(self, batch: ColumnBatch, port: int) -> None:
        step = self.context.parallelism
        order = np.arange(self._next, self._next + len(batch) * step, step)
        self._next += len(batch) * step
        others = [batch.rows.column(place) for place in self._others]
        columns = [pa.array(order), *self._keys.columns(batch), *others]
        self._rows.put(pa.RecordBatch.from_arrays(columns, schema=self._stored))

    def finish(self) -> None:
        """Emit the rows of all partitions."""
        for part in self._rows.rows():
            self._emit(part)
        self.emit_watermark(self.watermark)

    def _emit(self, part: pa.RecordBatch) -> None:
        codes, _ = codes_of([part.column(name) for name in self._keys.names])
        order = sorting(codes, self._as_input(part), self._over.order, numbers(part.column(ORDER)))
        rows = self._as_input(part.take(pa.array(order)))
        results = self._results(Partitions(codes[order], rows, self._over.order))
        whole = pa.RecordBatch.from_arrays([*rows.columns, *results], schema=self._schema)
        for start in range(0, whole.num_rows, ColumnBatch.MOST):
            self.output.emit(ColumnBatch(whole.slice(start, ColumnBatch.MOST)))

    def _results(self, partitions: Partitions) -> list[pa.Array]:
        results = [partitions.special(call) for call, _ in self._over.calls]
        for frame, places, calls in self._frames:
            columns = calls.lift(partitions.rows)
            found = calls.over_frames(columns, partitions.codes, partitions.frames(frame))
            for place, result in zip(places, calls.together(found, []), strict=True):
                results[place] = result
        return [typed(result, call) for result, (call, _) in zip(results, self._over.calls, strict=True)]

    def _as_input(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        columns: list[pa.Array] = [pa.nulls(0)] * len(self._input)
        for name, place in zip(self._keys.names, self._keys.places, strict=False):
            columns[place] = rows.column(name)
        for place in self._others:
            columns[place] = rows.column(f"c{place}")
        return pa.RecordBatch.from_arrays(columns, schema=self._input)

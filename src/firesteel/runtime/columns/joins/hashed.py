"""The join of inputs that end: the rows of one side stay in memory, and those of the other meet them and go on.

If the side that stays is too large, both sides go to the disk in partitions. Nothing of it outlives the epoch, for
BATCH mode takes all input of such a job in one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.joins import Join, Side
from firesteel.runtime.columns.batch import ColumnBatch, empty, together
from firesteel.runtime.columns.joins.pairs import Condition, alone, equal_pairs, paired, unmatchable
from firesteel.runtime.columns.joins.partitions import Partitions
from firesteel.runtime.columns.joins.row_index import RowIndex
from firesteel.runtime.operator import Epoch, Operator, OperatorContext
from firesteel.state.arrangements.columns import Mask
from firesteel.state.arrangements.shelf import MappedFiles
from firesteel.state.arrangements.sorting import Positions

IN_MEMORY: Final = 256 << 20
"""The bytes of rows that stay in memory; an index of their keys and a copy while it is made come on top."""

_ENOUGH: Final = 1 << 15
"""Rows that are sent together: what few rows come out of one batch wait for those of the next."""


class _Built:
    """The rows of the side that stays, found by their keys; `met` are those that have had a partner."""

    def __init__(self, join: Join, side: Side, parts: list[pa.RecordBatch]) -> None:
        self.rows = together(parts) if parts else empty(to_arrow_schema(join.sides[side]))
        self.places = np.flatnonzero(~unmatchable(join, side, self.rows))
        keys = _keys(join, side, self.rows, self.places)
        self.index = RowIndex(keys, len(self.places))
        self.met: Mask = np.zeros(self.rows.num_rows, np.bool_)


class HashJoinOperator(Operator[ColumnBatch]):
    """Sends the join of two inputs, which are inserts; the rows of the side `build` stay.

    With `first` they all come before the others, each of which is joined at once. Otherwise the others wait until both
    inputs have ended, large ones on the disk. If there are keys and the rows that stay take more than `IN_MEMORY`
    bytes, those of both sides wait on the disk. Raises StateError if it cannot be written.
    """

    def __init__(self, join: Join, build: Side, *, first: bool) -> None:
        self._join = join
        self._build = build
        self._probe: Side = 1 if build == 0 else 0
        self._first = first
        self._schemas = [to_arrow_schema(side) for side in join.sides]
        self._schema = to_arrow_schema(join.output)
        # What becomes of rows by themselves: those without a partner, or in a semi join those with one.
        self._asks_build = join.counts(build)

    def open(self, context: OperatorContext) -> None:
        """Prepare the condition."""
        super().open(context)
        self._condition = Condition(self._join, context.who)

    def begin_epoch(self, epoch: Epoch) -> None:
        """Start the epoch, in which all input comes."""
        super().begin_epoch(epoch)
        self._parts: list[pa.RecordBatch] = []
        self._bytes = 0
        self._partitions: Partitions | None = None
        self._built: _Built | None = None
        self._files = MappedFiles()
        self._waiting: list[pa.RecordBatch] = []
        self._sending: list[pa.RecordBatch] = []
        self._sent_rows = 0

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Keep rows, or join them."""
        assert batch.kinds is None, "BATCH mode has inserts only"
        if self._partitions is not None:
            self._partitions.add(self._build if port == self._build else self._probe, batch.rows)
        elif port == self._build:
            assert self._built is None, "the rows that stay come first"
            self._stay(batch.rows)
        elif self._first:
            self._meet(self._known(), batch.rows)
        else:
            self._waiting.append(self._files.keep(batch.rows).rows)

    def announce(self) -> None:
        """Send no watermark yet."""

    def advance_watermark(self, watermark: int) -> None:
        """Advance; `finish` sends the watermark."""
        self.watermark = watermark

    def finish(self) -> None:
        """Join what waits, and send what is in the result by itself."""
        if self._partitions is None:
            self._complete(self._known(), self._waiting)
        else:
            for parts, waiting in self._partitions.each():
                self._complete(_Built(self._join, self._build, parts), waiting)
        self._flush()
        self._parts, self._waiting, self._built, self._partitions = [], [], None, None
        self.emit_watermark(self.watermark)

    def close(self) -> None:
        """Release what was prepared."""
        self._condition.close()
        super().close()

    def _stay(self, rows: pa.RecordBatch) -> None:
        """Keep rows of the side that stays, or put all rows that are here on the disk."""
        self._parts.append(rows)
        self._bytes += rows.nbytes
        if self._bytes > IN_MEMORY and self._join.left_keys:
            self._partitions = Partitions(self._join, self._build)
            for side, kept in ((self._build, self._parts), (self._probe, self._waiting)):
                for part in kept:
                    self._partitions.add(side, part)
            self._parts, self._waiting = [], []

    def _known(self) -> _Built:
        if self._built is None:
            self._built = _Built(self._join, self._build, self._parts)
            self._parts = []
        return self._built

    def _complete(self, built: _Built, waiting: Iterable[pa.RecordBatch]) -> None:
        """Join what waits, and send what is in the result by itself."""
        for rows in waiting:
            self._meet(built, rows)
        if self._asks_build:
            chosen = built.met if self._join.kind == "SEMI" else ~built.met
            self._alone(self._build, built.rows.filter(pa.array(chosen)))

    def _meet(self, built: _Built, rows: pa.RecordBatch) -> None:
        """Join some rows with all that stay."""
        side = self._probe
        places = np.flatnonzero(~unmatchable(self._join, side, rows))
        keys = _keys(self._join, side, rows, places)
        buckets = built.index.buckets(keys, len(places))
        met: Mask = np.zeros(rows.num_rows, np.bool_)
        if self._is_partner_enough(built):
            met[places] = built.index.rows.lengths[buckets] > 0
        else:
            for there, here in equal_pairs(built.index.rows, buckets):
                there, here = built.index.equal(keys, (there, here))
                self._pair(rows, built, (places[here], built.places[there]), met)
        if self._join.counts(side):
            chosen = met if self._join.kind == "SEMI" else ~met
            self._alone(side, rows if chosen.all() else rows.filter(pa.array(chosen)))

    def _is_partner_enough(self, built: _Built) -> bool:
        """Return whether it only counts for the rows that come that there is a partner."""
        return (
            not self._join.pairs
            and not self._asks_build
            and self._join.condition is None
            and built.index.exact
        )

    def _pair(
        self, rows: pa.RecordBatch, built: _Built, pairs: tuple[Positions, Positions], met: Mask
    ) -> None:
        here, there = self._condition.of(self._probe, rows, built.rows, pairs)
        met[here] = True
        if self._asks_build:
            built.met[there] = True
        if self._join.pairs and len(here):
            self._send(paired(self._probe, rows, built.rows, (here, there)))

    def _alone(self, side: Side, rows: pa.RecordBatch) -> None:
        """Send rows of a side by themselves."""
        if rows.num_rows:
            other: Side = 1 if side == 0 else 0
            self._send(alone(side, rows, self._schemas[other]) if self._join.pairs else rows)

    def _send(self, rows: pa.RecordBatch) -> None:
        self._sending.append(pa.RecordBatch.from_arrays(rows.columns, schema=self._schema))
        self._sent_rows += rows.num_rows
        if self._sent_rows >= _ENOUGH:
            self._flush()

    def _flush(self) -> None:
        sending, self._sending, self._sent_rows = self._sending, [], 0
        if sending:
            for part in ColumnBatch(together(sending)).parts():
                self.output.emit(part)


def _keys(join: Join, side: Side, rows: pa.RecordBatch, places: Positions) -> pa.RecordBatch:
    """Return the keys of some rows of a side, as columns of both sides are named."""
    columns = [rows.column(place) for place in join.keys[side]]
    names = [str(number) for number in range(len(columns))]
    if len(places) < rows.num_rows:
        columns = [column.take(pa.array(places)) for column in columns]
    return pa.RecordBatch.from_arrays(columns, names=names)

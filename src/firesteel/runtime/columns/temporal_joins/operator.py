"""The temporal join in event time: left rows wait for the watermark and meet the version that is valid at their time.

A version is the last right row of a key up to a time; of several with one time, the one that came last counts, and a
delete means that nothing is valid from then on. A left row that comes when the watermark has passed its time meets the
version of its time only if none that the watermark has passed replaces it. NULL is a key like others. Source: Flink's
TemporalRowTimeJoinOperator.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.time import MIN_WATERMARK
from firesteel.functions.columns.temporal_joins import TemporalJoin
from firesteel.runtime.columns.batch import ColumnBatch, concatenated
from firesteel.runtime.columns.joins.pairs import Condition
from firesteel.runtime.columns.over.keyed_rows import KeyedRows
from firesteel.runtime.columns.over.waiting import ORDER, TIME, Waiting
from firesteel.runtime.columns.settling import SettlingOperator
from firesteel.runtime.columns.temporal_joins.kept_versions import KeptVersions
from firesteel.runtime.columns.times import present_times
from firesteel.runtime.operator import Epoch, OperatorContext, OperatorReport
from firesteel.state.arrangements.columns import numbers

_MOST_WAITING: Final = 1 << 18
_ROWS_AT_ONCE: Final = 1 << 16
_KIND: Final = "kind"
_BEHIND: Final = "behind"


class TemporalJoinOperator(SettlingOperator):
    """Emits left rows with their versions once the watermark of both inputs has passed them, with their own kinds."""

    def __init__(self, temporal: TemporalJoin) -> None:
        self._temporal = temporal
        self._join = join = temporal.join
        self._schema = to_arrow_schema(join.output)
        self._left = KeyedRows(to_arrow_schema(join.left), join.left_keys)
        self.versions = KeptVersions(to_arrow_schema(join.right), join.right_keys)

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangements of the rows that wait and of the versions."""
        super().open(context)
        assert context.arrangements is not None
        others = [
            *self._left.others,
            pa.field(_KIND, pa.int8(), nullable=False),
            pa.field(_BEHIND, pa.int64(), nullable=False),
        ]
        self._waiting = Waiting(context.arrangements, self._left.keys, others, context.max_parallelism)
        self.versions.declare(context.arrangements, context.max_parallelism)
        self._condition = Condition(self._join, context.who)

    def begin_epoch(self, epoch: Epoch) -> None:
        """Start an epoch."""
        super().begin_epoch(epoch)
        self._waiting.begin()
        self._left.begin(epoch, self.context)
        self.versions.begin(epoch, self.context)
        self._come: list[pa.RecordBatch] = []
        self._changed: list[ColumnBatch] = []
        self._count = 0

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Let left rows wait, and take versions."""
        if port == 0:
            self._come.append(self._kept(batch))
        else:
            self._changed.append(batch)
        self._count += len(batch)
        if self._count >= _MOST_WAITING:
            self._settle()

    def end_epoch(self) -> OperatorReport:
        """Send what is due, and write what is not."""
        report = super().end_epoch()
        self._waiting.settle()
        return report

    def close(self) -> None:
        """Release what was prepared."""
        self._condition.close()
        super().close()

    def _kept(self, batch: ColumnBatch) -> pa.RecordBatch:
        """Return left rows as they wait; `_BEHIND` is the watermark that had passed a row when it came, if one had."""
        times = present_times(batch, self._temporal.left_time, self.context.who)
        behind = np.where(times <= self.watermark, self.watermark, MIN_WATERMARK)
        columns = [
            pa.array(times),
            pa.array(self._left.orders(len(batch))),
            *self._left.columns(batch),
            pa.array(batch.all_kinds()),
            pa.array(behind),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._waiting.schema)

    def _work(self) -> None:
        changed, self._changed = self._changed, []
        come, self._come, self._count = self._come, [], 0
        if changed:
            batch = concatenated(changed)
            self.versions.put(batch, present_times(batch, self._temporal.right_time, self.context.who))
        for rows in come:
            self._waiting.put(rows)
        due = self._waiting.due(self.watermark)
        if due is not None:
            due = due.take(pa.array(np.argsort(numbers(due.column(ORDER)), kind="stable")))
            for start in range(0, due.num_rows, _ROWS_AT_ONCE):
                self._emit(due.slice(start, _ROWS_AT_ONCE))
        self.versions.forget(self.watermark)

    def _emit(self, due: pa.RecordBatch) -> None:
        rows = self._left.as_input(due)
        keys = due.select(self._left.keys.names)
        found = self.versions.valid(keys, numbers(due.column(TIME)), numbers(due.column(_BEHIND)))
        here = np.flatnonzero(found.places >= 0)
        here, there = self._condition.of(0, rows, found.rows, (here, found.places[here]))
        places = np.full(due.num_rows, -1)
        places[here] = there
        kinds = np.asarray(due.column(_KIND))
        if self._join.kind == "INNER":
            rows, places, kinds = rows.take(pa.array(here)), there, kinds[here]
        others = found.rows.take(pa.array(places, mask=places < 0))
        joined = pa.RecordBatch.from_arrays([*rows.columns, *others.columns], schema=self._schema)
        for part in ColumnBatch(joined, kinds if kinds.any() else None).parts():
            self.output.emit(part)

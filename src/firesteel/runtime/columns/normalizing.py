"""Changes by key become changes of a table: upserts get their old rows, and what comes twice counts once.

Source: Flink's ProcTimeDeduplicateKeepLastRowFunction over a changelog (DeduplicateFunctionHelper).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.normalizing import Normalization
from firesteel.runtime.columns.batch import (
    DELETE,
    INSERT,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    ColumnBatch,
    Kinds,
)
from firesteel.runtime.columns.changing import ChangingOperator
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.runtime.columns.materialize.entries import groups_of
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.columns import Mask, same_rows
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.sorting import Positions


class NormalizeOperator(ChangingOperator):
    """Keeps the row of each key, and emits how it changes, once in an epoch: what goes, then what comes.

    The last change of a key is the one that counts: a new row, or a delete, of which only the key is looked at.
    """

    most = 1 << 18

    def __init__(self, spec: Normalization) -> None:
        self._spec = spec
        self._schema = to_arrow_schema(spec.row)
        stored = pa.schema([(f"c{place}", field.type) for place, field in enumerate(self._schema)])
        self._keys = [f"c{place}" for place in spec.key]
        self._layout = Layout(stored, tuple(self._keys), time_to_live=spec.time_to_live)
        self._condition: Statement | None = None

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangement of the rows."""
        super().open(context)
        if self._spec.condition is not None:
            self._condition = Statement(self._spec.condition, context.who)
        assert context.arrangements is not None
        self._rows = context.arrangements.declare("rows", self._layout)

    def close(self) -> None:
        """Release the condition."""
        if self._condition is not None:
            self._condition.close()
        super().close()

    def _apply(self, batch: ColumnBatch, first: int) -> None:
        stored = pa.RecordBatch.from_arrays(batch.rows.columns, schema=self._layout.rows)
        last = groups_of(stored, self._keys).lasts
        new = stored.take(pa.array(last))
        there = self._there(batch.take(last))
        found = self._rows.get(new.select(self._keys))
        at = np.full(len(last), -1)
        at[found.keys] = np.arange(len(found.keys))
        known = at >= 0
        gone, both = np.flatnonzero(known & ~there), np.flatnonzero(known & there)
        changed = both[
            ~same_rows(found.rows.take(pa.array(at[both])), new.take(pa.array(both)), new.schema.names)
        ]
        if self._spec.time_to_live is not None:
            changed = both  # as in Flink: what comes again lives anew, also further down
        fresh = np.flatnonzero(there & ~known)
        self._rows.delete(found.rows.take(pa.array(at[gone])))
        self._rows.put(new.take(pa.array(np.concatenate((changed, fresh)))))
        old_rows = changed if self._spec.old_rows else changed[:0]
        self._send(found.rows, (at[gone], DELETE), (at[old_rows], UPDATE_BEFORE))
        self._send(new, (changed, UPDATE_AFTER), (fresh, INSERT))

    def _there(self, batch: ColumnBatch) -> Mask:
        """Return for which changes there is a row afterwards."""
        there: Mask = batch.signs() > 0
        if self._condition is not None:
            fits = self._condition.run(ColumnBatch(batch.rows)).rows.column(0)
            there &= np.asarray(fits.fill_null(False).to_numpy(zero_copy_only=False))
        return there

    def _send(self, rows: pa.RecordBatch, *parts: tuple[Positions, np.int8]) -> None:
        places = np.concatenate([places for places, _ in parts])
        if not len(places):
            return
        kinds: Kinds = np.repeat(np.array([kind for _, kind in parts]), [len(places) for places, _ in parts])
        sent = pa.RecordBatch.from_arrays(rows.take(pa.array(places)).columns, schema=self._schema)
        for part in ColumnBatch(sent, kinds if kinds.any() else None).parts():
            self.output.emit(part)

"""The operators before a sink whose primary key is not the query's; their input comes by that key."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.errors import ConstraintError
from firesteel.functions.columns.sinks import Materialization
from firesteel.runtime.columns.arrivals import ARRIVAL, first_number
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.changing import ChangingOperator
from firesteel.runtime.columns.materialize.entries import Entries
from firesteel.runtime.columns.materialize.tables import Applied, KeyedEntries, firsts, lasts
from firesteel.runtime.operator import Epoch, Operator, OperatorContext, OperatorReport
from firesteel.state.arrangements.columns import Mask, Numbers, numbers
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.sorting import Positions

SIGN: Final = "sign"


class MaterializeOperator(ChangingOperator):
    """Keeps all rows of each primary key, and writes the one that came last (`ON CONFLICT DO DEDUPLICATE`).

    The changes of an epoch are worked on together: a key has at most one change in it, unless there are very many.
    """

    most = 1 << 18

    def __init__(self, spec: Materialization) -> None:
        self._entries = KeyedEntries(spec)

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangement of the rows."""
        super().open(context)
        assert context.arrangements is not None
        self._rows = context.arrangements.declare("rows", self._entries.layout)

    def _apply(self, batch: ColumnBatch, first: int) -> None:
        changes, signs = self._entries.numbered(batch, first), batch.signs()
        applied = self._entries.apply(self._rows, changes, signs)
        entries = applied.entries
        after = entries.places[lasts(applied.codes[entries.places])]
        found = self._entries.changed(applied, lasts(applied.codes[: applied.old]), after)
        self._entries.store(self._rows, applied, entries)
        self._entries.refresh(self._rows, applied, signs)
        for changes_of_keys in (found, self._entries.passing(applied, signs)):
            for part in () if changes_of_keys is None else changes_of_keys.parts():
                self.output.emit(part)


class CompactingOperator(Operator[ColumnBatch]):
    """Writes one row for each primary key, and fails on another (`ON CONFLICT DO ERROR`) or leaves it out (`NOTHING`).

    Changes wait until the watermark rises, as in Flink's WatermarkCompactingSinkMaterializer. Only the row that is
    written is remembered: one that was left out does not come back.
    """

    def __init__(self, spec: Materialization) -> None:
        self._spec = spec
        self._entries = KeyedEntries(spec)
        stored = self._entries.stored
        self._pending = pa.schema([*stored, pa.field(SIGN, pa.int64())])

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangements of the written rows and of the changes that wait."""
        super().open(context)
        assert context.arrangements is not None
        layout = Layout(self._pending, tuple(self._entries.names), leading=ARRIVAL)
        self._written = context.arrangements.declare("written", self._entries.layout)
        self._changes = context.arrangements.declare("changes", layout)

    def begin_epoch(self, epoch: Epoch) -> None:
        """Number the epoch's rows after all earlier ones."""
        super().begin_epoch(epoch)
        self._next = first_number(epoch)
        self._waiting: list[pa.RecordBatch] = []
        self._remembered = True
        """Whether changes of earlier epochs may wait."""

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Let changes wait."""
        rows = self._entries.numbered(batch, self._next)
        self._next += len(batch)
        self._waiting.append(
            pa.RecordBatch.from_arrays([*rows.columns, pa.array(batch.signs())], schema=self._pending)
        )

    def advance_watermark(self, watermark: int) -> None:
        """Work on the changes that wait, and pass the watermark on."""
        if self._remembered:
            self._remembered = False
            self._recall()
        if self._waiting:
            rows = pa.concat_batches(self._waiting)
            self._waiting = []
            self._apply(rows.select(self._entries.stored.names), numbers(rows.column(SIGN)))
        super().advance_watermark(watermark)

    def _recall(self) -> None:
        earlier = self._changes.up_to(self._next)
        if earlier.num_rows:
            self._changes.drop_up_to(self._next)
            self._waiting.insert(0, earlier.sort_by(ARRIVAL))

    def end_epoch(self) -> OperatorReport:
        """Remember the changes that wait."""
        for rows in self._waiting:
            self._changes.put(rows)
        return OperatorReport()

    def _apply(self, changes: pa.RecordBatch, signs: Numbers) -> None:
        applied = self._entries.apply(self._written, changes, signs)
        kept = self._chosen(applied)
        found = self._entries.changed(applied, np.arange(applied.old), kept.places)
        self._entries.store(self._written, applied, kept)
        for part in () if found is None else found.parts():
            self.output.emit(part)

    def _chosen(self, applied: Applied) -> Entries:
        """Return what is written for each key: its only entry; of several what was written, else the first of them."""
        places, arrivals = applied.entries
        codes = applied.codes[places]
        several = np.bincount(codes) > 1
        if not several.any():
            return applied.entries
        first = firsts(codes)
        if self._spec.conflict == "ERROR":
            entry = first[several[codes[first]]][0]
            raise self._conflict(applied.rows.slice(int(places[entry]), 1))
        old = np.flatnonzero(_at(several, applied.codes[: applied.old]))
        stays = np.zeros(len(several), np.bool_)
        stays[applied.codes[old]] = True
        first = first[~stays[codes[first]]]
        numbered = numbers(applied.rows.column(ARRIVAL))[old]
        return Entries(np.append(places[first], old), np.append(arrivals[first], numbered))

    def _conflict(self, row: pa.RecordBatch) -> ConstraintError:
        fields = self._spec.row.fields
        (values,) = row.to_pylist()
        key = ", ".join(f"{fields[place].name}={values[f'c{place}']}" for place in self._spec.key)
        return ConstraintError(
            "requires that no two distinct rows have the same primary key",
            who=self.context.who,
            got=f"several rows with the key [{key}]",
            hint="use ON CONFLICT DO NOTHING to keep the first record",
        )


def _at(flags: Mask, codes: Positions) -> Mask:
    """Return the flag of each key; of a key that has none, False."""
    return np.append(flags, False)[np.minimum(codes, len(flags))]

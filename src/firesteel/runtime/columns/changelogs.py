"""The operators between changes and rows that say what has changed: TO_CHANGELOG and FROM_CHANGELOG."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import RecordError
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.types import RowKind
from firesteel.functions.columns.changelogs import FromChangelog, ToChangelog
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.operator import Operator


class ToChangelogOperator(Operator[ColumnBatch]):
    """Makes an insert of each change, with the code of its kind first; kinds without a code are left out."""

    def __init__(self, spec: ToChangelog) -> None:
        self._schema = to_arrow_schema(spec.output)
        codes = dict(spec.codes)
        self._codes = pa.array(
            [codes.get(kind) for kind in sorted(RowKind, key=lambda kind: kind.value)], pa.string()
        )
        self._kept = np.array(self._codes.is_valid().to_pylist())

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Emit the rows of a batch."""
        kept = self._kept[batch.all_kinds()]
        if not kept.all():
            batch = batch.take(np.flatnonzero(kept))
        if len(batch):
            codes = self._codes.take(pa.array(batch.all_kinds()))
            self.output.emit(
                ColumnBatch(pa.RecordBatch.from_arrays([codes, *batch.rows.columns], schema=self._schema))
            )


class FromChangelogOperator(Operator[ColumnBatch]):
    """Makes a change of each row, of the kind that its code says."""

    def __init__(self, spec: FromChangelog) -> None:
        self._spec = spec
        self._codes = pa.array([code for code, _ in spec.codes], pa.string())
        self._kinds = np.array([kind.value for _, kind in spec.codes], np.int8)
        self._others = [place for place in range(len(spec.input.fields)) if place != spec.op]

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Emit the changes of a batch. Raises RecordError for a code that means nothing."""
        said = batch.rows.column(self._spec.op)
        found = pc.index_in(said, self._codes, skip_nulls=True)
        if found.null_count:
            raise self._failure(said.filter(found.is_null())[0].as_py())
        if len(batch):
            kinds = self._kinds[found.to_numpy()]
            self.output.emit(ColumnBatch(batch.rows.select(self._others), kinds if kinds.any() else None))

    def _failure(self, code: str | None) -> RecordError:
        known = ", ".join(repr(code) for code, _ in self._spec.codes)
        return RecordError(
            f"requires one of the codes {known} in column {self._spec.input.fields[self._spec.op].name!r}",
            who=self.context.who,
            got="NULL" if code is None else repr(code),
            hint="op_mapping says what codes mean; leave out other rows in a query: FROM_CHANGELOG((SELECT ...))",
        )

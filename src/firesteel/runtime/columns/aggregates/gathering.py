"""Partial results that wait for the end of an epoch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from firesteel.runtime.columns.aggregates.adding import Partials
from firesteel.runtime.columns.aggregates.form import Form

FEW: Final = 1 << 16
"""Rows that wait before they are added up by key, if that makes them few."""

MANY: Final = 1 << 20
"""Rows that wait before they are added up by key if it does not; half as many keys do not wait for the epoch's end."""

_AGAIN: Final = 64
"""Batches that are passed on as they are before the next look whether their keys have become few."""


class Gathered:
    """Partial results, added up by key now and then.

    Contract: `add` takes rows; `full` says that their keys are so many that they must be taken now; `take` hands them
    over as `Form.combine` returns them, and `parts` as they are.
    """

    def __init__(self, form: Form) -> None:
        self._form = form
        self._rows: list[pa.RecordBatch] = []
        self._count = 0
        self._limit = FEW
        self._passed = 0
        self._pays = True
        self.full = False

    def pays(self) -> bool:
        """Return whether adding up by key leaves less than half of the rows; if not, it is tried again now and then."""
        if not self._pays:
            self._passed += 1
            if self._passed % _AGAIN == 0:
                self._pays, self._limit = True, FEW
        return self._pays

    def add(self, rows: pa.RecordBatch) -> None:
        """Add partial results; later ones are later changes."""
        if not rows.num_rows:
            return
        self._rows.append(rows)
        self._count += rows.num_rows
        if self._count >= self._limit:
            self._shrink()

    def take(self) -> Partials | None:
        """Return one partial result for each key (None: there are none), and keep nothing."""
        rows = [*self.parts()]
        return self._form.combine(_joined(rows)) if rows else None

    def parts(self) -> Iterator[pa.RecordBatch]:
        """Yield all partial results as they are, and keep nothing."""
        rows, self._rows, self._count, self.full = self._rows, [], 0, False
        yield from rows

    def _shrink(self) -> None:
        rows = _joined(self._rows)
        few = self._form.shrink(rows) if self._limit == FEW else self._form.combine(rows).rows
        self._pays = 2 * few.num_rows <= rows.num_rows
        self._limit = FEW if 2 * few.num_rows <= FEW else MANY
        self.full = 2 * few.num_rows > MANY
        self._rows, self._count = [few], few.num_rows


def _joined(rows: list[pa.RecordBatch]) -> pa.RecordBatch:
    return rows[0] if len(rows) == 1 else pa.concat_batches(rows)

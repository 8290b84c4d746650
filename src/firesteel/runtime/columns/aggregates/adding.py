"""Adding partial results up, before they are sent and before they are taken into the state.

Accumulators are added up by their keys, values of stores by the keys and the values. Where there is one arrangement of
values, both are in the same rows; rows that have the same values of several columns are few, so with more arrangements
each has rows of its own, beside those of the accumulators.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.aggregates.segments import segments_of
from firesteel.state.arrangements.columns import numbers, rows_at
from firesteel.state.arrangements.hashing import Words, hash_columns

if TYPE_CHECKING:
    from firesteel.runtime.columns.aggregates.form import Form, Shared

Summed = dict[str, pa.Array]


class Partials(NamedTuple):
    """Partial results; `hashes` are those of their keys, and ascend, if each key is there once."""

    rows: pa.RecordBatch
    hashes: Words | None


class Adding:
    """Adds partial results of a form up; where the order of rows matters, they stay as they are."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._ordered = any(store.ordered for shared in form.shared for store in shared.stores)
        self._ordered |= bool(form.shared) and any(part.ordered for part in form.parts)
        several = len(form.shared) > 1
        self._sums = [_Sum(form, shared, parts=not several) for shared in form.shared]
        if several or not form.shared:
            self._sums.insert(0, _Sum(form, None, parts=True))

    def combine(self, rows: pa.RecordBatch) -> Partials:
        """Return one partial result for each key, or for each key and value."""
        form = self._form
        if self._ordered:
            return Partials(rows, None)
        if form.shared:
            return Partials(self._together(each.reduced(rows) for each in self._sums), None)
        groups = form.groups(rows)
        if len(groups) == rows.num_rows:
            return Partials(rows_at(rows, groups.order), groups.hashes)
        return Partials(form.reduce(rows, groups), groups.hashes)

    def shrink(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the same in any order; this is faster if there are few keys."""
        if self._ordered or not all(each.by_arrow for each in self._sums):
            return self.combine(rows).rows
        return self._together(each.shrunk(rows) for each in self._sums)

    def _together(self, parts: Iterator[Summed]) -> pa.RecordBatch:
        return pa.concat_batches([self._form.completed(part) for part in parts])


class _Sum:
    """Adds up accumulators (`parts`), or values of some stores, or both."""

    def __init__(self, form: Form, shared: Shared | None, *, parts: bool) -> None:
        self._form = form
        self._parts = parts
        self._by = [*form.keys]
        self._weights: list[str] = []
        if shared is not None:
            self._by += form.schema.names[shared.values]
            self._weights = form.schema.names[shared.weights]
        plain = not any(pa.types.is_nested(form.schema.field(name).type) for name in self._by)
        self.by_arrow = plain and (not parts or all(part.arrow for part in form.parts))
        self._functions = [(name, "sum") for name in self._weights]
        if parts and self.by_arrow:
            functions = [name for part in form.parts for name in part.arrow or ()]
            self._functions += zip(form.state.names[len(form.keys) :], functions, strict=True)

    def reduced(self, rows: pa.RecordBatch) -> Summed:
        """Return the columns of one row for each key, or for each key and value, in the order of their hashes."""
        rows = self._concerned(rows)
        by = rows.select(self._by)
        groups = segments_of(by, hash_columns(by.columns))
        summed: Summed = dict(zip(self._by, by.take(pa.array(groups.firsts)).columns, strict=True))
        if self._parts:
            reduced = self._form.reduce(rows, groups)
            summed |= dict(zip(reduced.schema.names, reduced.columns, strict=True))
        for name in self._weights:
            summed[name] = pa.array(groups.sums(numbers(rows.column(name))))
        return summed

    def shrunk(self, rows: pa.RecordBatch) -> Summed:
        """Return the same in any order, by Arrow."""
        rows = self._concerned(rows)
        table = pa.Table.from_batches([rows]).group_by(self._by, use_threads=False).aggregate(self._functions)
        names = [*self._by, *(name for name, _ in self._functions)]
        given = [*self._by, *(f"{name}_{function}" for name, function in self._functions)]
        return {
            name: table.column(column).combine_chunks() for name, column in zip(names, given, strict=True)
        }

    def _concerned(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows that have values of the stores, if it is about these alone."""
        if self._parts:
            return rows
        weights = [numbers(rows.column(name)) for name in self._weights]
        counts = np.any([each != 0 for each in weights], axis=0)
        rows = rows.select([*self._by, *self._weights])
        return rows if counts.all() else rows.filter(pa.array(counts))

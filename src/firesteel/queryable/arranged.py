"""The rows of an arrangement in a snapshot: by columns, and page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import KeyEncodingError
from firesteel.queryable.contents import ABSENT, Page
from firesteel.queryable.copies import Snapshot
from firesteel.queryable.forms import Form
from firesteel.state.arrangements.arrangement import Arrangement
from firesteel.state.arrangements.columns import Numbers
from firesteel.state.arrangements.layout import WEIGHT, Kind


class ArrangedContents:
    """Reads one arrangement. A key is columns with their values; what is at it are the rows that have them.

    All columns of the layout's key together are looked up; others are searched for in all rows. In a multiset each row
    has its `$weight`, which says how often it is there.
    """

    def __init__(self, snapshot: Snapshot, name: str, form: Form) -> None:
        self.who = f"arrangement '{name}' of {snapshot.operator.who}"
        self._arrangement: Arrangement = snapshot.arrangements[name]
        self._form = form
        layout = self._arrangement.layout
        self._layout = layout
        self.key = (*filter(None, [layout.leading]), *layout.keys)

    def of(self, keys: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Return the rows at each key, `ABSENT` where there are none.

        Raises KeyEncodingError for a column that there is not, and a value that its column cannot have.
        """
        return [self._rows(self._values(key)) or ABSENT for key in keys]

    def page(self, after: bytes, most: int) -> Page:
        """Return up to `most` rows, in the order in which they are stored; see `StateContents.page`."""
        start = int(after or b"0")
        items: list[tuple[Any, Any]] = []
        seen = 0
        for rows, weights in self._arrangement.weighted():
            if seen + len(rows) > start:
                here = slice(max(start - seen, 0), start - seen + most - len(items) + 1)
                items += [(None, row) for row in self._shown(rows[here], weights[here])]
                start = max(start, seen + len(rows))
            seen += len(rows)
            if len(items) > most:
                return Page(items[:most], str(int(after or b"0") + most).encode())
        return Page(items, None)

    def of_text(self, text: str) -> Mapping[str, Any]:
        """Return the key that a text stands for: the value of the only column of the key.

        Raises KeyEncodingError if the key has more columns.
        """
        if len(self.key) != 1:
            raise self._wrong(text, f"an object with the columns {', '.join(self.key)}")
        return {self.key[0]: text}

    def _values(self, key: Mapping[str, Any]) -> dict[str, pa.Array]:
        found = {}
        for name, value in key.items():
            if name not in self._layout.rows.names:
                raise self._wrong(name, f"columns that it has: {', '.join(self._layout.rows.names)}")
            kind = self._layout.rows.field(name).type
            try:
                given = pa.array([value])
                found[name] = given.cast(kind) if isinstance(value, str) else pa.array([value], kind)
            except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
                raise self._wrong(f"{name} = {value!r}", f"a value of type {kind}") from None
        if not found:
            raise self._wrong("no column", f"columns with values: {', '.join(self.key)}")
        return found

    def _rows(self, values: Mapping[str, pa.Array]) -> list[Any]:
        if set(values) != set(self.key):
            return list(self._searched(values))
        keys = pa.RecordBatch.from_arrays([values[name] for name in self.key], names=list(self.key))
        found = self._arrangement.of(keys)
        return list(self._shown(found.rows, found.weights))

    def _searched(self, values: Mapping[str, pa.Array]) -> Iterator[Any]:
        for rows, weights in self._arrangement.weighted():
            masks = [_equal(rows.column(name), value) for name, value in values.items()]
            mask = reduce(pc.and_, masks)
            chosen = mask.to_numpy(zero_copy_only=False)
            yield from self._shown(rows.filter(mask), weights[chosen])

    def _shown(self, rows: pa.RecordBatch, weights: Numbers) -> Iterator[Any]:
        several = self._layout.kind is Kind.MULTISET
        for row, weight in zip(rows.to_pylist(), weights.tolist(), strict=True):
            yield self._form.row({**row, WEIGHT: weight} if several else row)

    def _wrong(self, got: str, wanted: str) -> KeyEncodingError:
        return KeyEncodingError(f"requires as a key {wanted}", who=self.who, got=str(got)[:120])


def _equal(column: pa.Array, value: pa.Array) -> pa.Array:
    """Return which values of a column are equal to one; NULL is equal to NULL."""
    if value.null_count:
        return pc.is_null(column)
    return pc.fill_null(pc.equal(column, value[0]), False)

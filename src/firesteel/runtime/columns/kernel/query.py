"""One prepared text of the kernel's SQL over the columns that it names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.functions.columns.program import columns_named
from firesteel.runtime.columns.batch import empty
from firesteel.runtime.columns.kernel.connection import connection
from firesteel.runtime.columns.kernel.forms import converted, kernel_form
from firesteel.runtime.columns.kernel.functions import draws

_PLACE: Final = "#"
_QUERY: Final = "query"
"""The number of the query, by which functions that go on from batch to batch know it."""

_INSTANT: Final = pa.timestamp("us")


class Times(NamedTuple):
    """What functions of the current time see, in milliseconds: ``"now"`` and ``"watermark"`` of the kernel's SQL.

    There is no watermark before the first one (None).
    """

    now: int = 0
    watermark: int | None = None


NO_TIMES: Final = Times()
_numbers: Final = count()


class Grouping(NamedTuple):
    """Groups of what is computed: by the first `keys` columns, with these aggregates over the columns by their places.

    Without keys there is one group, also of no rows.
    """

    keys: int
    aggregates: Sequence[str]


class _Feed:
    """A table of DuckDB whose rows are those of the batches that are put in."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self.batches = [empty(schema)]

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.RecordBatchReader.from_batches(self.schema, self.batches).__arrow_c_stream__()


class Query:
    """Computes texts over the columns ``"0"``, ``"1"``, ... of an input, for the rows for which `condition` is TRUE.

    `functions` are the vectorised functions that the texts call. With `grouping` the results are the keys and the
    aggregates of each group, in any order. Whoever uses a query holds `connection.LOCK`.
    """

    def __init__(
        self,
        given: pa.Schema,
        texts: Sequence[str],
        condition: str | None,
        functions: tuple[str, ...],
        grouping: Grouping | None = None,
    ) -> None:
        every = [*texts, *([] if condition is None else [condition])]
        self._columns = sorted({place for text in every for place in columns_named(text)})
        self._times = [name for name in Times._fields if any(f'"{name}"' in text for text in every)]
        self._number = next(_numbers) if any(f'"{_QUERY}"' in text for text in every) else None
        self._counts = (condition is not None and grouping is None) or not self._columns
        fields = [pa.field(str(place), kernel_form(given.field(place).type)) for place in self._columns]
        fields += [pa.field(name, _INSTANT) for name in self._times]
        if self._number is not None:
            fields.append(pa.field(_QUERY, pa.int64()))
        if self._counts:
            fields.append(pa.field(_PLACE, pa.int32()))
        self._feed = _Feed(pa.schema(fields))
        shown = [f'{text} AS "{number}"' for number, text in enumerate(texts)]
        if condition is not None and grouping is None:
            shown.append(f'"{_PLACE}"')
        before = f"SELECT {', '.join(shown) or 'TRUE'} FROM"
        after = "" if condition is None else f" WHERE {condition}"
        if grouping is not None:
            before, after = _grouped(grouping, before, after)
        self._connection = connection()
        self._connection.add_functions(functions)
        self._name = self._connection.prepare(self._feed, before, after)

    def run(self, rows: pa.RecordBatch, times: Times = NO_TIMES) -> pa.RecordBatch | None:
        """Return what is computed of the rows that are kept, and then their places if there is a condition.

        None stands for no rows. Raises duckdb.Error.
        """
        return self.run_all([rows], times)

    def run_all(self, parts: Sequence[pa.RecordBatch], times: Times = NO_TIMES) -> pa.RecordBatch | None:
        """Return the same of several batches; without a grouping, places are those in each of them."""
        self._feed.batches = [self._fed(rows, times) for rows in parts]
        try:
            return self._connection.run(self._name)
        finally:
            self._feed.batches = [empty(self._feed.schema)]

    def close(self) -> None:
        """Release what is prepared."""
        self._connection.release(self._name)
        if self._number is not None:
            draws.forget(self._number)

    def _fed(self, rows: pa.RecordBatch, times: Times) -> pa.RecordBatch:
        schema = self._feed.schema
        columns = [
            converted(rows.column(place), schema.field(number).type)
            for number, place in enumerate(self._columns)
        ]
        for name in self._times:
            value = getattr(times, name)
            scalar = pa.scalar(None if value is None else value * 1000, pa.int64()).cast(_INSTANT)
            columns.append(pa.repeat(scalar, rows.num_rows))
        if self._number is not None:
            columns.append(pa.repeat(pa.scalar(self._number, pa.int64()), rows.num_rows))
        if self._counts:
            columns.append(pa.array(np.arange(rows.num_rows, dtype=np.int32)))
        return pa.RecordBatch.from_arrays(columns, schema=schema)


def _grouped(grouping: Grouping, before: str, after: str) -> tuple[str, str]:
    """Return the beginning and the end of a statement over another one, which is given in the same way."""
    keys = [f'"{place}"' for place in range(grouping.keys)]
    wanted = [*keys, *(f"{text} AS a{number}" for number, text in enumerate(grouping.aggregates))]
    by = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {', '.join(wanted)} FROM ({before}", f"{after}){by}"

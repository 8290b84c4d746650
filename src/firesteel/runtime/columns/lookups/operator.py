"""The lookup join: left rows meet the rows that a table has when they come; the rows of a batch are looked up at once.

Rows whose key has a NULL are not looked up. Left rows keep their order and their kinds. Source: Flink's
LookupJoinRunner.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.lookups import FullCache, LookedUp, LookupJoin, PartialCache, ScannableLookup
from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.runtime.columns.batch import ColumnBatch, empty
from firesteel.runtime.columns.joins.pairs import Condition, equal_pairs
from firesteel.runtime.columns.kernel.statement import Statement
from firesteel.runtime.columns.lookups.finding import AllRows, Asking, Finder, Retrying
from firesteel.runtime.columns.lookups.pairing import joined, with_others
from firesteel.runtime.columns.lookups.partial import RecentRows
from firesteel.runtime.columns.settling import GatheringOperator
from firesteel.runtime.columns.windows.keys import codes_of
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.sorting import Positions


class LookupJoinOperator(GatheringOperator):
    """Emits left rows with the rows that were looked up, once in an epoch or after many rows."""

    most = 1 << 16

    def __init__(self, spec: LookupJoin) -> None:
        self._spec = spec
        self._schema = to_arrow_schema(spec.join.output)
        self._right = to_arrow_schema(spec.join.right)
        self._key_schema = to_arrow_schema(spec.key_row)

    def open(self, context: OperatorContext) -> None:
        """Connect to the table."""
        super().open(context)
        spec = self._spec
        self._lookup = spec.table.lookup
        self._lookup.open()
        self._condition = Condition(spec.join, context.who)
        self._statement = None if spec.program is None else Statement(spec.program, context.who)
        self._finder = self._made_finder()

    def _made_finder(self) -> Finder:
        spec, cache = self._spec, self._spec.table.cache
        rows = self._right
        if spec.program is not None:
            rows = pa.schema([*to_arrow_schema(spec.program.input)][:-1])
        found: Finder
        if isinstance(cache, FullCache):
            assert isinstance(self._lookup, ScannableLookup)
            found = AllRows(self._lookup, cache, self._key_schema.names, rows)
        elif isinstance(cache, PartialCache):
            found = RecentRows(Asking(self._lookup), cache, self._key_schema, rows)
        else:
            found = Asking(self._lookup)
        return found if spec.retry is None else Retrying(found, spec.retry)

    def close(self) -> None:
        """Disconnect."""
        self._lookup.close()
        self._condition.close()
        if self._statement is not None:
            self._statement.close()
        super().close()

    def _take(self, batch: ColumnBatch) -> None:
        """Emit left rows with what is found for them."""
        here, there, rows = self.pairs(batch.rows)
        for part in joined(batch, here, there, rows, self._schema):
            self.output.emit(part)

    def pairs(self, left: pa.RecordBatch) -> tuple[Positions, Positions, pa.RecordBatch]:
        """Return pairs of left rows and of right ones (below 0: none), by their places, and the right rows."""
        asked, keys = self._keys(left)
        codes, firsts = codes_of(keys.columns)
        found = LookedUp(np.zeros(0, np.int64), empty(self._right))
        if len(asked):
            found = self._computed(self._finder.find(keys.take(pa.array(firsts)), self.processing_time))
        order = np.argsort(codes, kind="stable")
        groups = Segments(asked[order], np.searchsorted(codes[order], np.arange(len(firsts))))
        parts = [self._condition.of(0, left, found.rows, part) for part in equal_pairs(groups, found.keys)]
        none: Positions = np.zeros(0, np.int64)
        here, there = (np.concatenate([none, *(part[side] for part in parts)]) for side in (0, 1))
        if self._spec.join.kind == "LEFT":
            here, there = with_others(here, there, left.num_rows)
        return here, there, found.rows

    def _keys(self, left: pa.RecordBatch) -> tuple[Positions, pa.RecordBatch]:
        """Return the places of the rows whose keys have no NULL, and these keys."""
        columns = [
            left.column(key) if isinstance(key, int) else pa.repeat(key[0], left.num_rows)
            for key in self._spec.keys
        ]
        keys = pa.RecordBatch.from_arrays(
            [column.cast(kind) for column, kind in zip(columns, self._key_schema.types, strict=True)],
            schema=self._key_schema,
        )
        present = np.ones(left.num_rows, np.bool_)
        for column in keys.columns:
            if column.null_count:
                present &= np.asarray(column.is_valid())
        places = np.flatnonzero(present)
        return places, keys if len(places) == left.num_rows else keys.take(pa.array(places))

    def _computed(self, found: LookedUp) -> LookedUp:
        """Return the right columns of the table's rows."""
        if self._statement is None:
            return LookedUp(found.keys, pa.RecordBatch.from_arrays(found.rows.columns, schema=self._right))
        rows = found.rows.append_column("$key", pa.array(found.keys))
        *columns, keys = self._statement.run(ColumnBatch(rows)).rows.columns
        return LookedUp(numbers(keys), pa.RecordBatch.from_arrays(columns, schema=self._right))

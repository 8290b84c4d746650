"""The different values of each key that a frame without a bound has seen."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.aggregates.parts import Columns, Given, Part
from firesteel.runtime.columns.aggregates.stores import Store, StoredFields
from firesteel.runtime.columns.aggregates.values import Moves, transitions
from firesteel.runtime.columns.over.calls import Calls
from firesteel.runtime.columns.over.due import Due
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.state.arrangements.columns import Mask
from firesteel.state.arrangements.live import LiveArrangements


class Seen:
    """An arrangement of values for each set of columns that DISTINCT is asked of."""

    def __init__(self, arrangements: LiveArrangements, keys: Keys, calls: Calls, groups: int) -> None:
        self._calls = calls
        self._arrangements = {}
        for number, store in enumerate(calls.distinct):
            values = [
                pa.field(f"v{order}", calls.types[place]) for order, place in enumerate(store.arguments)
            ]
            layout = store.layout(StoredFields(keys.fields, values, None, groups))
            self._arrangements[store] = arrangements.declare(f"seen{number}", layout)

    def lifted(self, due: Due) -> dict[Part, Columns]:
        """Return the columns of all parts for each due row; of a distinct value only its first row ever counts."""
        given = Given(due.rows)
        found: dict[Part, Columns] = {part: part.lift(given) for part in self._calls.lifted}
        for store in self._arrangements:
            found |= self._calls.lift_distinct(due.rows, store, self._fresh(due, store))
        return found

    def _fresh(self, due: Due, store: Store) -> Mask:
        arrangement = self._arrangements[store]
        values = [due.rows.column(place) for place in store.arguments]
        keys = due.keys.take(pa.array(due.codes)).columns
        rows = pa.RecordBatch.from_arrays([*keys, *values], schema=pa.schema([*arrangement.layout.rows][:-1]))
        moves = Moves(rows, due.codes, np.ones(len(due.codes), np.int64))
        counted = np.ones(len(due.codes), np.bool_)
        for column in values:
            counted &= np.asarray(column.is_valid())
        moves = moves.where(counted)
        fresh = np.zeros(len(due.codes), np.bool_)
        if len(moves.owners):
            (changes,) = transitions(arrangement, moves, counts=False)
            fresh[np.flatnonzero(counted)[changes.places]] = True
        return fresh

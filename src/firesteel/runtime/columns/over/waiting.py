"""Rows that wait for the watermark: in memory within an epoch, in an arrangement by their time from epoch to epoch."""

from __future__ import annotations

from functools import partial
from typing import Final

import pyarrow as pa

from firesteel.runtime.columns.aggregates.stores import hashed_within
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.live import LiveArrangements

TIME: Final = "time"
ORDER: Final = "order"
"""The number of a row in the order in which rows came, the same for no two rows."""

_MOST: Final = 1 << 19
"""The most rows that are held in memory."""


class Waiting:
    """Rows with their time, their order, their keys and `others`, until they are due.

    Contract: `put` rows that are not due yet; `due` takes rows out; `settle` at the end of an epoch.
    """

    def __init__(
        self,
        arrangements: LiveArrangements,
        keys: Keys,
        others: list[pa.Field],
        groups: int,
        name: str = "waiting",
    ) -> None:
        self.schema = pa.schema(
            [pa.field(TIME, pa.int64()), pa.field(ORDER, pa.int64()), *keys.fields, *others]
        )
        self._waiting = arrangements.declare(name, by_time(self.schema, keys, groups))
        self._held: list[pa.RecordBatch] = []
        self._count = 0

    def begin(self) -> None:
        """Forget what an epoch that was lost has held."""
        self._held, self._count = [], 0

    def put(self, rows: pa.RecordBatch) -> None:
        """Let rows wait."""
        if rows.num_rows:
            self._held.append(rows)
            self._count += rows.num_rows

    def due(self, until: int) -> pa.RecordBatch | None:
        """Take the rows out whose time is at most this; None if there are none."""
        found = [self._waiting.up_to(until)]
        if found[0].num_rows:
            self._waiting.drop_up_to(until)
        held, self._held, self._count = self._held, [], 0
        for rows in held:
            due = numbers(rows.column(TIME)) <= until
            if due.all():
                found.append(rows)
                continue
            self.put(rows.filter(pa.array(~due)))
            if due.any():
                found.append(rows.filter(pa.array(due)))
        if self._count > _MOST:
            self.settle()
        some = [rows for rows in found if rows.num_rows]
        return pa.concat_batches(some) if some else None

    def settle(self) -> None:
        """Write the rows that are held."""
        if self._held:
            self._waiting.put(pa.concat_batches(self._held))
        self.begin()


def by_time(schema: pa.Schema, keys: Keys, groups: int) -> Layout:
    """Return the layout of rows that are read and dropped by their time, and stay in the key groups of their keys."""
    hashed = partial(hashed_within, keys=len(keys.names), groups=groups)
    return Layout(schema, (*keys.names, ORDER), leading=TIME, hashed=hashed)

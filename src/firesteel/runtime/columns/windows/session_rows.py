"""The rows of sessions that are not over yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.intervals import unions
from firesteel.runtime.columns.windows.keys import Keys, codes_of
from firesteel.runtime.columns.windows.sessions import END, START
from firesteel.state.arrangements.columns import numbers
from firesteel.state.arrangements.layout import Kind, Layout
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.arrangements.sorting import Positions

TIME: Final = "time"


class SessionRows:
    """Rows by key, each with its local time and the columns of `fields`; sessions end `gap` after their last row."""

    def __init__(
        self, arrangements: LiveArrangements, keys: Keys, fields: Sequence[pa.Field], gap: int
    ) -> None:
        self._keys = keys
        self._gap = gap
        self._schema = pa.schema([pa.field(TIME, pa.int64()), *keys.fields, *fields])
        self._rows = arrangements.declare("rows", Layout(self._schema, tuple(keys.names), Kind.MULTISET))

    def put(self, keys: Sequence[pa.Array], times: Times, columns: Sequence[pa.Array]) -> None:
        """Add rows."""
        self._rows.put(pa.RecordBatch.from_arrays([pa.array(times), *keys, *columns], schema=self._schema))

    def take(self, sessions: pa.RecordBatch) -> tuple[pa.RecordBatch, Positions]:
        """Return the rows of sessions, and the place of the session of each; the rows are forgotten."""
        codes, firsts = codes_of([sessions.column(name) for name in self._keys.names])
        found = self._rows.of(sessions.select(self._keys.names).take(pa.array(firsts)))
        times = numbers(found.rows.column(TIME))
        union = unions(
            np.concatenate((codes, found.keys)),
            np.concatenate((numbers(sessions.column(START)), times)),
            np.concatenate((numbers(sessions.column(END)) - self._gap, times)),
        ).numbers
        session = np.full(int(union.max()) + 1, -1)
        session[union[: len(codes)]] = np.arange(len(codes))
        owners = session[union[len(codes) :]]
        mine = np.flatnonzero(owners >= 0)
        weights = found.weights[mine]
        self._rows.change(found.rows.take(pa.array(mine)), -weights)
        return found.rows.take(pa.array(np.repeat(mine, weights))), np.repeat(owners[mine], weights)

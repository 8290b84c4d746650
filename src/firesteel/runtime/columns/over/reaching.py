"""What the histories of frames that reach back in time have in common: what is known of keys, and recent rows."""

from __future__ import annotations

import pyarrow as pa

from firesteel.functions.columns.windows import OverAggregate
from firesteel.runtime.columns.over.calls import Calls
from firesteel.runtime.columns.over.forgetting import Forgetting
from firesteel.runtime.columns.times import Times
from firesteel.runtime.columns.windows.keys import Keys
from firesteel.state.arrangements.arrangement import Arrangement
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.live import LiveArrangements


class ReachingBack:
    """Keeps records of keys, with the columns `fields` besides, and recent rows, as `layout` says."""

    def __init__(
        self,
        arrangements: LiveArrangements,
        over: OverAggregate,
        keys: Keys,
        calls: Calls,
        fields: list[pa.Field],
        layout: Layout,
    ) -> None:
        assert over.frame.lower is not None
        self._lower = over.frame.lower
        self._calls = calls
        self._names = keys.names
        self._known = Forgetting(arrangements, keys, self._lower, fields)
        self._recent: Arrangement = arrangements.declare("recent", layout)

    def begin(self, until: int) -> None:
        """Begin an epoch after the time `until`."""
        self._known.begin(until)

    def last_times(self, keys: pa.RecordBatch) -> Times:
        """Return the last time of each key that a row or a timer has had."""
        return self._known.last_times(keys)

    def renew(self, keys: pa.RecordBatch) -> None:
        """Only the time of rows counts."""

    def arrive(self, rows: pa.RecordBatch, over: Times) -> None:
        """Take note of rows that begin to wait."""
        self._known.arrive(rows, over)

    def _drop(self, until: int) -> None:
        """Drop the rows up to a leading value, but for those that frames may still contain."""
        needed = self._known.needed(self._recent, until)
        self._recent.drop_up_to(until)
        if needed is not None:
            self._recent.put(needed)

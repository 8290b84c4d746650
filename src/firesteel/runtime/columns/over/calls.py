"""The calls of an OVER window: what is kept of rows for them, and their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.functions.columns.aggregates import Aggregation, GroupAggregate
from firesteel.functions.columns.windows import OverAggregate
from firesteel.runtime.columns.aggregates.form import Form
from firesteel.runtime.columns.aggregates.parts import Additive, Chosen, Given
from firesteel.runtime.columns.over.frames import Frames
from firesteel.state.arrangements.sorting import Positions

_RANKS: Final = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK"})
"""Functions that count the rows of the frame. So does RANK in Flink's streams: rows with one time have the rank of the
last of them."""

_OF_WHOLE_PARTITIONS: Final = frozenset({"LEAD", "NTILE", "PERCENT_RANK", "CUME_DIST"})
"""Functions that need rows after the current one."""


class Calls:
    """What the calls keep: `accumulators` of each row for aggregates, `values` of rows for LAG.

    Raises UnsupportedError for a function that is not computed of these.
    """

    def __init__(self, over: OverAggregate, who: str) -> None:
        self._calls = over.aggregations
        aggregated = tuple(_aggregated(call, who) for call in self._calls if call.function != "LAG")
        keys = tuple(over.input.fields[place] for place in over.keys)
        self._form = Form(GroupAggregate(over.input, RowType(keys, nullable=False), over.keys, aggregated))
        width = len(self._form.keys)
        if self._form.stores or not all(isinstance(part, Additive | Chosen) for part in self._form.parts):
            shown = ", ".join(call.shown for call in aggregated)
            raise UnsupportedError("is not supported in an OVER window yet", who=f"{who}: {shown}")
        self._width = width
        schema = to_arrow_schema(over.input)
        self._lagged = [call.arguments[0] for call in self._calls if call.function == "LAG"]
        kinds = self._form.state.types[width:]
        self.accumulators = [pa.field(f"p{order}", kind) for order, kind in enumerate(kinds)]
        self.values = [pa.field(f"g{order}", schema.types[at]) for order, at in enumerate(self._lagged)]

    def lift(self, rows: pa.RecordBatch) -> list[pa.Array]:
        """Return the accumulators of each row alone, then the values."""
        lifted = self._form.lift(Given(rows)).columns[self._width :]
        return [*lifted, *(rows.column(place) for place in self._lagged)]

    def framed(self, columns: Sequence[pa.Array], frames: Frames) -> list[pa.Array]:
        """Return the accumulators over the frame of each row."""
        result: list[pa.Array] = []
        for part in self._form.parts:
            mine = columns[len(result) : len(result) + len(part.types)]
            result += frames.part(part, mine)
        return result

    def reach(self, rows: pa.RecordBatch) -> int:
        """Return how many rows back LAG looks; the distance is a literal, the same in all rows."""
        return max((self._distance(call, rows) for call in self._calls if call.function == "LAG"), default=0)

    def results(
        self, framed: Sequence[pa.Array], rows: pa.RecordBatch, values: Sequence[pa.Array], places: Positions,
        first: Positions,
    ) -> list[pa.Array]:  # fmt: skip
        """Return a column for each call. `framed` are the accumulators over the frames of the rows.

        The rows are at `places` in `values`, among earlier rows; `first` is the place of the first row of their key.
        """
        keys = pa.nulls(rows.num_rows)
        state = pa.RecordBatch.from_arrays(
            [*(keys for _ in range(self._width)), *framed], names=self._form.state.names
        )
        aggregated = iter(self._form.results(state, {}))
        lagged = iter(values)
        return [
            self._lag(call, rows, next(lagged), places, first) if call.function == "LAG" else next(aggregated)
            for call in self._calls
        ]

    def _lag(
        self, call: Aggregation, rows: pa.RecordBatch, values: pa.Array, places: Positions, first: Positions
    ) -> pa.Array:
        wanted = places - self._distance(call, rows)
        missing = wanted < first
        found = values.take(pa.array(wanted, mask=missing)).cast(to_arrow(call.type))
        if len(call.arguments) < 3 or not missing.any():
            return found
        default = rows.column(call.arguments[2]).cast(to_arrow(call.type))
        return pc.if_else(pa.array(missing), default, found)

    def _distance(self, call: Aggregation, rows: pa.RecordBatch) -> int:
        if len(call.arguments) == 1 or not rows.num_rows:
            return 1
        return int(rows.column(call.arguments[1])[0].as_py())


def _aggregated(call: Aggregation, who: str) -> Aggregation:
    if call.function in _OF_WHOLE_PARTITIONS:
        raise UnsupportedError("is not supported in streams, as in Flink", who=f"{who}: {call.shown}")
    if call.distinct:
        raise UnsupportedError("is not supported in an OVER window yet", who=f"{who}: {call.shown}")
    return replace(call, function="COUNT", arguments=(), types=()) if call.function in _RANKS else call

"""The window join: rows wait until their window is over, and then all of its rows are joined at once.

Source: Flink's WindowJoinOperator.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.joins import KEEPING, Side, WindowJoin
from firesteel.runtime.columns.batch import ColumnBatch, empty
from firesteel.runtime.columns.joins.pairs import (
    Condition,
    alone,
    equal_pairs,
    grouped,
    paired,
    unmatchable,
)
from firesteel.runtime.columns.windows.closing import ClosingOperator, WindowRows
from firesteel.runtime.operator import OperatorContext
from firesteel.state.arrangements.columns import Mask
from firesteel.state.arrangements.sorting import Positions

_SIDES: Final[tuple[Side, Side]] = (0, 1)


class _Due(NamedTuple):
    """The rows of one side whose windows are over: the places of those that can have partners, with their keys."""

    rows: pa.RecordBatch
    places: Positions
    keys: pa.RecordBatch


class WindowJoinOperator(ClosingOperator):
    """Sends the rows of the join of each window when it is over."""

    def __init__(self, spec: WindowJoin) -> None:
        super().__init__(spec.zone)
        self._spec = spec
        self._join = spec.join
        self._schemas = [to_arrow_schema(side) for side in self._join.sides]
        self._schema = to_arrow_schema(self._join.output)

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangements of both sides."""
        super().open(context)
        self._condition = Condition(self._join, context.who)

    def close(self) -> None:
        """Release what was prepared."""
        self._condition.close()
        super().close()

    def waiting(self, context: OperatorContext) -> Iterator[WindowRows]:
        """Yield where the rows of both sides wait."""
        for side, name in zip(_SIDES, ("left", "right"), strict=True):
            yield WindowRows(self._schemas[side], self._join.keys[side], self._spec.ends[side], context, name)

    def fire(self, due: list[pa.RecordBatch | None]) -> None:
        """Join the rows of windows that are over."""
        sides = [self._due(side, due[side]) for side in _SIDES]
        met = [np.zeros(side.rows.num_rows, np.bool_) for side in sides]
        left, right = sides
        groups, numbers = grouped(left.keys, right.keys)
        for one, other in equal_pairs(groups, numbers):
            pairs = left.places[one], right.places[other]
            here, there = self._condition.of(0, left.rows, right.rows, pairs)
            met[0][here] = met[1][there] = True
            if self._join.pairs and len(here):
                self._send(paired(0, left.rows, right.rows, (here, there)))
        self._send_alone(sides, met)

    def _send_alone(self, sides: list[_Due], met: list[Mask]) -> None:
        """Send the rows that are in the result by themselves."""
        if self._join.kind == "SEMI":
            self._send(sides[0].rows.filter(pa.array(met[0])))
        for side in _SIDES:
            if KEEPING[self._join.kind][side]:
                rows = sides[side].rows.filter(pa.array(~met[side]))
                self._send(alone(side, rows, self._schemas[1 - side]) if self._join.pairs else rows)

    def _due(self, side: Side, rows: pa.RecordBatch | None) -> _Due:
        rows = empty(self._schemas[side]) if rows is None else self._inputs[side].as_input(rows)
        places = np.flatnonzero(~unmatchable(self._join, side, rows))
        columns = [self._spec.ends[side], self._spec.starts[side], *self._join.keys[side]]
        keys = rows.take(pa.array(places)).select(columns)
        return _Due(
            rows,
            places,
            pa.RecordBatch.from_arrays(keys.columns, names=[str(at) for at in range(len(columns))]),
        )

    def _send(self, rows: pa.RecordBatch) -> None:
        batch = ColumnBatch(pa.RecordBatch.from_arrays(rows.columns, schema=self._schema))
        for part in batch.parts():
            self.output.emit(part)

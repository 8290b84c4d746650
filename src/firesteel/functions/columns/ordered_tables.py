"""The rows of a table argument in the order of ORDER BY, before its function gets them.

Source: Flink's InputSortBuffer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from firesteel.common.errors import TypeMismatchError
from firesteel.common.logical_types.type_information import to_type_information
from firesteel.common.typeinfo import Types
from firesteel.common.types import Row
from firesteel.functions.base import RuntimeContext
from firesteel.functions.columns.process_tables import CalledTable, limit_life
from firesteel.functions.columns.sorting import SortColumn
from firesteel.functions.process import KeyedProcessFunction
from firesteel.state.descriptors import MapStateDescriptor


class InOrder(KeyedProcessFunction):
    """Gives the records of a table, as `KeyOf` takes them, sorted within each set, with the table's watermark.

    A row waits until the watermark reaches its time, which is the first column of the order; rows of one time are in
    the order of the other columns, and then of their arrival. One that comes behind the watermark is dropped and
    counted. The rows of a time live for `time_to_live` after the last of them has come (milliseconds; None: for ever).

    Each row is an entry of its own, so that one more costs the same however many wait. They live twice as long as the
    number that says how many there are, and are written again when the oldest might expire before that number does.

    Raises TypeMismatchError for a row without a time.
    """

    def __init__(self, number: int, table: CalledTable, time_to_live: int | None = None) -> None:
        self._number = number
        self._table = table
        self._time_to_live = time_to_live

    def open(self, runtime_context: RuntimeContext) -> None:
        """Get the rows that wait, by their times and places; and of each time how many they are, and since when."""
        pair, life = Types.TUPLE([Types.LONG(), Types.LONG()]), self._time_to_live
        waiting = MapStateDescriptor("waiting", pair, to_type_information(self._table.row))
        limit_life(waiting, None if life is None else 2 * life)
        self._waiting = runtime_context.get_map_state(waiting)
        times = MapStateDescriptor("times", Types.LONG(), pair)
        limit_life(times, life)
        self._times = runtime_context.get_map_state(times)
        self._late = runtime_context.get_metrics_group().counter("numLateRecordsDropped")

    def process_element(self, value: tuple[int, Row, None], ctx: KeyedProcessFunction.Context) -> None:
        """Let a row wait that is not late."""
        row, time = value[1], ctx.timestamp()
        if time is None:
            raise TypeMismatchError(
                "requires a time to sort by, which is not NULL", who="ORDER BY", got=repr(row)
            )
        if time <= ctx.timer_service().current_watermark():
            self._late.inc()
            return
        now = ctx.timer_service().current_processing_time()
        count, since = self._times.get(time) or (0, now)
        if self._time_to_live is not None and now - since > self._time_to_live:
            for place in range(count):
                self._waiting.put((time, place), self._waiting.get((time, place)))
            since = now
        self._waiting.put((time, count), row)
        self._times.put(time, (count + 1, since))
        ctx.timer_service().register_event_time_timer(time)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[Any]:
        """Yield the rows of a time."""
        count, _ = self._times.get(timestamp) or (0, 0)
        places = [(timestamp, place) for place in range(count)]
        rows: list[Any] = [self._waiting.get(place) for place in places]
        for place in places:
            self._waiting.remove(place)
        self._times.remove(timestamp)
        watermark = ctx.timer_service().current_watermark()
        for row in sorted_rows(rows, self._table.order[1:]):
            yield self._number, row, watermark


def sorted_rows(rows: list[Row], order: tuple[SortColumn, ...]) -> list[Row]:
    """Return rows sorted by columns; those that are equal in them stay in their order.

    >>> rows = [Row(2, "a"), Row(None, "b"), Row(1, "c"), Row(2, "d")]
    >>> [row[1] for row in sorted_rows(rows, (SortColumn(0, ascending=False, nulls_first=True),))]
    ['b', 'a', 'd', 'c']
    """
    for column, ascending, nulls_first in reversed(order):
        nulls = [row for row in rows if row[column] is None]
        others = sorted(
            (row for row in rows if row[column] is not None),
            key=lambda row, column=column: row[column],  # type: ignore[misc]
            reverse=not ascending,
        )
        rows = [*nulls, *others] if nulls_first else [*others, *nulls]
    return rows

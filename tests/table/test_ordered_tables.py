"""Rows that wait for their turn in ORDER BY: what is written for each of them, and how long they live."""

from __future__ import annotations

import pickle
from collections import Counter
from types import SimpleNamespace
from typing import Any

from firesteel.common.logical_types import BigIntType, RowType, TimestampType
from firesteel.common.typeinfo import Types
from firesteel.common.types import Row
from firesteel.control import EpochStats
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.functions.columns.ordered_tables import InOrder
from firesteel.functions.columns.process_tables import CalledTable
from firesteel.functions.columns.sorting import SortColumn
from firesteel.table import Schema, StreamTableEnvironment
from firesteel.testing import ManualClock, executing
from tests.table.test_process_table_calls import sequence

ASCENDING = {"ascending": True, "nulls_first": False}
TABLE = CalledTable(
    "t",
    RowType.of({"ts": TimestampType(3), "v": BigIntType()}),
    keys=(),
    order=(SortColumn(0, **ASCENDING), SortColumn(1, **ASCENDING)),
)


class Entries(dict[Any, Any]):
    """A map state that knows how many bytes were written to it."""

    written = 0

    def put(self, key: Any, value: Any) -> None:
        self.written += len(pickle.dumps((key, value)))
        self[key] = value

    def remove(self, key: Any) -> None:
        self.pop(key, None)


class Waiting:
    """The rows of one key, which wait for a watermark."""

    def __init__(self) -> None:
        self.states: list[Entries] = []
        self.timers: set[int] = set()
        self.function = InOrder(0, TABLE)
        counters = SimpleNamespace(counter=lambda name: Counter())
        self.function.open(
            SimpleNamespace(get_map_state=self._state, get_metrics_group=lambda: counters)  # type: ignore[arg-type]
        )

    def _state(self, descriptor: Any) -> Entries:
        self.states.append(Entries())
        return self.states[-1]

    def add(self, time: int, value: int) -> None:
        self.function.process_element((0, Row(time, value), None), self._context(time))

    def due(self, time: int) -> list[int]:
        return [row[1] for _, row, _ in self.function.on_timer(time, self._context(time))]

    @property
    def written(self) -> int:
        return sum(state.written for state in self.states)

    def _context(self, time: int) -> Any:
        timers = SimpleNamespace(
            current_watermark=lambda: -1,
            current_processing_time=lambda: 0,
            register_event_time_timer=self.timers.add,
        )
        return SimpleNamespace(timestamp=lambda: time, timer_service=lambda: timers)


def written_for(rows: int) -> int:
    waiting = Waiting()
    for value in range(rows):
        waiting.add(7, value)
    return waiting.written


def test_a_row_costs_the_same_however_many_wait_for_its_time() -> None:
    assert 200 < written_for(200) < written_for(400) < 2.2 * written_for(200)


def test_rows_of_a_time_come_in_order_and_nothing_stays_of_them() -> None:
    waiting = Waiting()
    for time, value in ((7, 30), (8, 1), (7, 10), (7, 20), (9, 2), (8, 0)):
        waiting.add(time, value)
    assert waiting.timers == {7, 8, 9}
    assert [waiting.due(time) for time in (7, 8, 9)] == [[10, 20, 30], [0, 1], [2]]
    assert waiting.states == [{}, {}]
    assert waiting.due(7) == []


class _Passing:
    """Lets ten seconds pass with each epoch."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock

    def on_epoch(self, stats: EpochStats) -> None:
        self._clock.advance(10_000)


def test_the_rows_of_a_time_live_as_long_as_the_last_of_them() -> None:
    """The first two rows of `a` are forgotten before its third one comes; those of `b` follow each other closely."""
    streams = StreamExecutionEnvironment.get_execution_environment()
    env = StreamTableEnvironment.create(streams)
    env.get_config().set("table.exec.state.ttl", "25 s")
    keys = ["a", "a", *["b"] * 8, "a"]
    named = Types.ROW_NAMED(["v", "k"], [Types.LONG(), Types.STRING()])
    schema = Schema.new_builder().column("v", "BIGINT").column("k", "STRING")
    schema.column_by_expression("ts", "TO_TIMESTAMP_LTZ(v, 0)").watermark("ts", "ts - INTERVAL '4' SECOND")
    given = streams.from_collection([Row(100, key) for key in keys], named)
    env.create_temporary_view("given", env.from_data_stream(given, schema.build()))
    env.create_temporary_system_function("sequence", sequence)
    clock = ManualClock(1_000_000)
    with executing(parallelism=1, epoch_records=1, clock=clock, listener=_Passing(clock)):
        found = env.sql_query(
            "SELECT k, n FROM sequence(t => TABLE given PARTITION BY k ORDER BY ts)"
        ).to_pandas()
    assert Counter(found["k"].tolist()) == {"a": 1, "b": 8}

"""The program, written for PyFlink. Both systems run this file; Firesteel is imported under PyFlink's name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from pyflink.common import Encoder, Time, Types, WatermarkStrategy  # type: ignore[import-not-found]
from pyflink.common.watermark_strategy import TimestampAssigner  # type: ignore[import-not-found]
from pyflink.datastream import (  # type: ignore[import-not-found]
    AggregateFunction,
    DataStream,
    MapFunction,
    WindowFunction,
)
from pyflink.datastream.connectors.file_system import (  # type: ignore[import-not-found]
    BucketAssigner,
    FileSink,
    RollingPolicy,
)
from pyflink.datastream.window import TumblingEventTimeWindows  # type: ignore[import-not-found]

from bench.yahoo.events import WINDOW_MS, campaign_table

PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])
EVENT = Types.PICKLED_BYTE_ARRAY()


class Join(MapFunction):  # type: ignore[misc]
    """Replaces the ad by its campaign, from a table in memory."""

    def __init__(self, campaigns: int) -> None:
        self._campaigns = campaigns

    def open(self, runtime_context: Any) -> None:
        self._campaign_of = campaign_table(self._campaigns)

    def map(self, value: tuple[int, int]) -> tuple[int, int]:
        return self._campaign_of[value[0]], value[1]


class Second(TimestampAssigner):  # type: ignore[misc]
    def extract_timestamp(self, value: tuple[int, int], record_timestamp: int) -> int:
        return value[1]


class CountAll(AggregateFunction):  # type: ignore[misc]
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: tuple[int, int], accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class Line(WindowFunction):  # type: ignore[misc]
    """Writes a result as `window's start, campaign, count`."""

    def apply(self, key: int, window: Any, inputs: Iterable[int]) -> Iterator[str]:
        for count in inputs:
            yield f"{window.start} {key} {count}"


def count_views(events: DataStream, campaigns: int, target: str) -> None:
    """Count the views of each campaign in windows of ten seconds, into files that appear when they are committed."""
    views = events.map(json.loads, EVENT).filter(lambda event: event["event_type"] == "view")
    projected = views.map(lambda event: (int(event["ad_id"]), int(event["event_time"])), PAIR)
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    joined = projected.map(Join(campaigns), PAIR).assign_timestamps_and_watermarks(times)
    windows = joined.key_by(lambda value: value[0], Types.LONG()).window(
        TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS))
    )
    counts = windows.aggregate(CountAll(), Line(), Types.LONG(), Types.STRING())
    sink = (
        FileSink.for_row_format(target, Encoder.simple_string_encoder())
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
        .build()
    )
    counts.sink_to(sink)

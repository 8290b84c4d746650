from __future__ import annotations

from typing import Any

import cloudpickle
import pytest

from firesteel.common import AssignerWithPeriodicWatermarksWrapper, Duration, WatermarkStrategy
from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.time import MIN_WATERMARK
from firesteel.common.watermark_strategy import (
    BoundedOutOfOrdernessWatermarks,
    MonotonousTimestampsWatermarks,
    TimestampAssigner,
    WatermarkGenerator,
    WatermarkOutput,
)


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value[1]


class Punctuated(WatermarkGenerator):
    def on_event(self, event: Any, timestamp: int, output: WatermarkOutput) -> None:
        output.emit_watermark(timestamp) if event == "mark" else output.mark_idle()

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        output.mark_active()


class Recorder(WatermarkOutput):
    def __init__(self) -> None:
        self.calls: list[Any] = []

    def emit_watermark(self, watermark: int) -> None:
        self.calls.append(watermark)

    def mark_idle(self) -> None:
        self.calls.append("idle")

    def mark_active(self) -> None:
        self.calls.append("active")


def made(strategy: WatermarkStrategy) -> WatermarkGenerator:
    assert strategy.generator_factory is not None
    return strategy.generator_factory()


def test_bounded_out_of_orderness_trails_the_greatest_timestamp() -> None:
    generator, output = (
        made(WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))),
        Recorder(),
    )
    generator.on_periodic_emit(output)
    for timestamp in (7000, 9000, 8000):
        generator.on_event("x", timestamp, output)
    generator.on_periodic_emit(output)
    assert output.calls == [MIN_WATERMARK, 3999]


def test_monotonous_timestamps_are_followed_closely() -> None:
    generator = made(WatermarkStrategy.for_monotonous_timestamps())
    assert isinstance(generator, MonotonousTimestampsWatermarks)
    generator.on_event("x", 10, Recorder())
    assert (generator.watermark, generator.out_of_orderness) == (9, 0)


def test_custom_generators() -> None:
    generator, output = made(WatermarkStrategy.for_generator(Punctuated)), Recorder()
    generator.on_event("mark", 3, output)
    generator.on_event("other", 4, output)
    generator.on_periodic_emit(output)
    assert output.calls == [3, "idle", "active"]


def test_no_watermarks() -> None:
    strategy = WatermarkStrategy.no_watermarks()
    assert (strategy.generator_factory, strategy.timestamp_assigner, strategy.idle_timeout) == (
        None,
        None,
        None,
    )


def test_with_methods_add_up_in_any_order_and_change_nothing() -> None:
    base = WatermarkStrategy.for_monotonous_timestamps()
    assigner = SecondField()
    one = base.with_timestamp_assigner(assigner).with_idleness(Duration.of_seconds(1))
    other = base.with_idleness(Duration.of_seconds(1)).with_timestamp_assigner(assigner)
    assert one == other
    assert (one.timestamp_assigner, one.idle_timeout) == (assigner, 1000)
    assert (base.timestamp_assigner, base.idle_timeout) == (None, None)


def test_strategies_and_generators_can_be_shipped() -> None:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5)).with_timestamp_assigner(
        SecondField()
    )
    shipped = cloudpickle.loads(cloudpickle.dumps(strategy))
    assert shipped.timestamp_assigner.extract_timestamp(("a", 7), 0) == 7
    generator = shipped.generator_factory()
    generator.on_event("x", 100, Recorder())
    restored = cloudpickle.loads(cloudpickle.dumps(generator))
    assert isinstance(restored, BoundedOutOfOrdernessWatermarks)
    assert restored.watermark == 94


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: WatermarkStrategy.for_bounded_out_of_orderness(5), "requires a Duration; got int: 5"),
        (
            lambda: WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(-1)),
            "requires a duration that is not negative",
        ),
        (lambda: WatermarkStrategy().with_idleness(Duration.of_millis(0)), "requires a duration of at least"),
        (lambda: WatermarkStrategy().with_timestamp_assigner(len), "requires a TimestampAssigner"),
        (lambda: WatermarkStrategy.for_generator(5), "requires a callable that returns a WatermarkGenerator"),
    ],
)
def test_wrong_arguments_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        make()


def test_what_is_missing_says_so() -> None:
    with pytest.raises(UnsupportedError, match="with_watermark_alignment is not available"):
        WatermarkStrategy.no_watermarks().with_watermark_alignment("group", Duration.of_seconds(1))
    with pytest.raises(UnsupportedError, match="no JVM object behind it"):
        AssignerWithPeriodicWatermarksWrapper(None)

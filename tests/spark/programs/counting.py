"""Counts numbers per key and window, and half-way kills the executor it runs in, once.

Arguments: the output directory, the marker that says that the executor was killed, how many numbers.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import shapes

import firesteel
from firesteel.common import Duration, Encoder, Time, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.connectors.file_system import FileSink
from firesteel.datastream.connectors.number_seq import NumberSequenceSource
from firesteel.datastream.functions import KeyedProcessFunction, ProcessWindowFunction, RuntimeContext
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.datastream.window import TumblingEventTimeWindows

MS_PER_NUMBER = 10
WINDOW_MS = 1000


class TenMillisecondsEach(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value) * MS_PER_NUMBER


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self._count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: KeyedProcessFunction.Context) -> Iterator[str]:
        count = (self._count.value() or 0) + 1
        self._count.update(count)
        yield f"count {shapes.key_of(value)} {count}"


class CountWindow(ProcessWindowFunction):
    def process(self, key: str, context: ProcessWindowFunction.Context, elements: Any) -> Iterator[str]:
        yield f"window {key} {context.window().start} {len(list(elements))}"


def kill_this_executor() -> None:
    """A worker's parent is Spark's daemon, whose parent is the executor's JVM."""
    daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
    os.kill(int(daemon.rpartition(")")[2].split()[1]), signal.SIGKILL)


def main(output: str, marker: str, numbers: int) -> None:
    def strike(number: int) -> int:
        if number == numbers // 4 and not Path(marker).exists():
            Path(marker).touch()
            kill_this_executor()
        return number

    def code(number: int) -> Iterator[str]:
        if number == 0:
            yield f"code {Path(firesteel.__file__).parents[1].name} {Path(shapes.__file__).parent.name}"

    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0)).with_timestamp_assigner(
        TenMillisecondsEach()
    )
    stream = env.from_source(NumberSequenceSource(0, numbers - 1), strategy, "numbers").map(strike)
    keyed = stream.key_by(lambda number: shapes.key_of(number))
    counts = keyed.process(Count())
    windows = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(WINDOW_MS))).process(CountWindow())
    sink = FileSink.for_row_format(output, Encoder.simple_string_encoder()).build()
    counts.union(windows, stream.flat_map(code)).sink_to(sink)
    env.execute("counting")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

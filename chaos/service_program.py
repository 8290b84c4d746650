"""Counts the words in files that keep arriving: each word is written with its number."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from firesteel.common import Duration, Encoder, Types, WatermarkStrategy
from firesteel.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from firesteel.datastream.connectors.file_system import FileSink, FileSource, RollingPolicy, StreamFormat
from firesteel.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    """Numbers the occurrences of each word."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Find the last number."""
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: str, ctx: KeyedProcessFunction.Context) -> Iterator[str]:
        """Write the next one."""
        number = (self.count.value() or 0) + 1
        self.count.update(number)
        yield f"{value} {number}"


def main() -> None:
    """Run the job between two directories."""
    taken, put = sys.argv[1:]
    env = StreamExecutionEnvironment.get_execution_environment()
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), taken)
    source = source.monitor_continuously(Duration.of_millis(100)).build()
    words = env.from_source(source, WatermarkStrategy.no_watermarks(), "words").uid("words")
    counts = words.key_by(lambda word: word).process(Count(), output_type=Types.STRING()).uid("counts")
    sink = FileSink.for_row_format(put, Encoder.simple_string_encoder())
    sink = sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()
    counts.sink_to(sink).uid("put")
    env.execute("chaos")


if __name__ == "__main__":
    main()

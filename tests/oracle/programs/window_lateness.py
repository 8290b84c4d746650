"""Allowed lateness and the late side output: a late element fires its window again, one too late goes to the side.

order: kept
epochs: 1 record
"""

import time

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import OutputTag, StreamExecutionEnvironment, WindowFunction
from pyflink.datastream.connectors.number_seq import NumberSequenceSource
from pyflink.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows


class Itself(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Contents(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"[{window.start},{window.end}) {sorted(inputs)}"


def slowly(index):
    time.sleep(0.15)  # so that a periodic watermark follows every element
    return data[index]


configuration = Configuration()
configuration.set_string("python.execution-mode", "thread")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.set_parallelism(1)
env.get_config().set_auto_watermark_interval(10)
late = OutputTag("late", Types.INT())
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Itself())
data = [1, 5, 11, 7, 14, 3, 25, 8, 12, 18, 40]
numbers = env.from_source(
    NumberSequenceSource(0, len(data) - 1), WatermarkStrategy.no_watermarks(), "indices", Types.LONG()
)
stream = numbers.map(slowly, Types.INT())
keyed = stream.assign_timestamps_and_watermarks(times).key_by(lambda n: "all", Types.STRING())
tumbling = TumblingEventTimeWindows.of(Time.milliseconds(10))
session = EventTimeSessionWindows.with_gap(Time.milliseconds(5))


def show(title, windowed):
    print(f"-- {title}", flush=True)
    result = windowed.apply(Contents(), Types.STRING())
    result.print()
    result.get_side_output(late).print("late")
    env.execute()


show("dropped", keyed.window(tumbling))
show("side output", keyed.window(tumbling).side_output_late_data(late))
show("allowed", keyed.window(tumbling).allowed_lateness(5).side_output_late_data(late))
show("session", keyed.window(session).allowed_lateness(5).side_output_late_data(late))

"""Tumbling event-time windows: size, offset, negative timestamps, reduce, aggregate, apply and process.

order: any
"""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
    WindowFunction,
)
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class Bounds(WindowFunction):
    def apply(self, key, window, inputs):
        return [(key, window.start, window.end, [value[1] for value in inputs])]


class Full(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().max_timestamp(), len(list(elements)), context.current_watermark() > 0


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("a", 1), ("b", 4), ("a", 9), ("a", 10), ("b", 25), ("a", -3), ("a", 4)]
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
stream = env.from_collection(
    data, type_info=Types.TUPLE([Types.STRING(), Types.INT()])
).assign_timestamps_and_watermarks(times)
keyed = stream.key_by(lambda v: v[0], Types.STRING())
windows = TumblingEventTimeWindows.of(Time.milliseconds(10))
keyed.window(windows).reduce(lambda a, b: (a[0], a[1] + b[1])).print("reduce")
keyed.window(windows).aggregate(Mean(), output_type=Types.DOUBLE()).print("aggregate")
keyed.window(windows).apply(Bounds()).print("apply")
keyed.window(windows).process(Full()).print("process")
keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(3))).apply(Bounds()).print(
    "offset"
)
env.execute()

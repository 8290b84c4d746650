"""Sliding event-time windows, with an offset, and with a slide that leaves gaps.

order: any
"""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment, WindowFunction
from pyflink.datastream.window import SlidingEventTimeWindows, TimeWindow


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Bounds(WindowFunction[tuple, tuple, str, TimeWindow]):
    def apply(self, key, window, inputs):
        yield key, window.start, window.end, [value[1] for value in inputs]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("a", 1), ("b", 4), ("a", 9), ("a", 10), ("b", 25)]
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
stream = env.from_collection(
    data, type_info=Types.TUPLE([Types.STRING(), Types.INT()])
).assign_timestamps_and_watermarks(times)
keyed = stream.key_by(lambda v: v[0], Types.STRING())
ms = Time.milliseconds
keyed.window(SlidingEventTimeWindows.of(ms(10), ms(4))).apply(Bounds()).print("overlap")
keyed.window(SlidingEventTimeWindows.of(ms(10), ms(5), ms(1))).apply(Bounds()).print("offset")
keyed.window(SlidingEventTimeWindows.of(ms(3), ms(8))).apply(Bounds()).print("gaps")
env.execute()

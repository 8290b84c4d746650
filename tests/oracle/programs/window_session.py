"""Session windows with a fixed and a dynamic gap: touching sessions, late bridges that merge two; reduce and aggregate.

The reduced and aggregated sessions have no bridges: there PyFlink 2.3 loses one of the two merged results.

order: any
"""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, StreamExecutionEnvironment, WindowFunction
from pyflink.datastream.window import EventTimeSessionWindows, SessionWindowTimeGapExtractor


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Third(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[2]


class Bounds(WindowFunction):
    def apply(self, key, window, inputs):
        yield key, window.start, window.end, sorted(value[1] for value in inputs)


class Total(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
triple = Types.TUPLE([Types.STRING(), Types.INT(), Types.INT()])
bridged = [
    ("a", 1, 5),
    ("a", 20, 3),
    ("a", 11, 9),
    ("b", 0, 4),
    ("b", 5, 9),
    ("b", 15, 1),
    ("a", 6, 5),
    ("b", 10, 5),
]
plain = [
    ("a", 1, 5),
    ("a", 5, 3),
    ("b", 0, 5),
    ("b", 5, 9),
    ("b", 30, 1),
    ("a", 3, 5),
    ("b", 10, 5),
    ("a", 30, 1),
]
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())


def keyed(data):
    stream = env.from_collection(data, type_info=triple).assign_timestamps_and_watermarks(times)
    return stream.key_by(lambda v: v[0], Types.STRING())


fixed = EventTimeSessionWindows.with_gap(Time.milliseconds(5))
dynamic = EventTimeSessionWindows.with_dynamic_gap(Third())
for name, windows in (("fixed", fixed), ("dynamic", dynamic)):
    keyed(bridged).window(windows).apply(Bounds()).print(name)
    keyed(plain).window(windows).reduce(lambda a, b: (a[0], a[1] + b[1], a[2] + b[2])).print(f"{name} reduce")
    keyed(plain).window(windows).aggregate(Total(), output_type=Types.INT()).print(f"{name} aggregate")
env.execute()

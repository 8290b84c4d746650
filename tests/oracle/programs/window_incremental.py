"""Incremental aggregation with a window function: it gets the one result; per-window and global state, and clear.

order: kept
"""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import (
    AggregateFunction,
    ProcessWindowFunction,
    StreamExecutionEnvironment,
    WindowFunction,
)
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import TumblingEventTimeWindows

seen = ValueStateDescriptor("seen", Types.INT())
fired = ValueStateDescriptor("fired", Types.INT())


class Itself(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class WithWindow(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{key} {window} {list(inputs)}"


class WithState(ProcessWindowFunction):
    def process(self, key, context, elements):
        windows = context.global_state().get_state(seen)
        windows.update((windows.value() or 0) + 1)
        mine = context.window_state().get_state(fired)
        mine.update((mine.value() or 0) + 1)
        yield f"{key} {context.window().start} {list(elements)} window {windows.value()} fired {mine.value()}"

    def clear(self, context):
        context.window_state().get_state(fired).clear()


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
stream = env.from_collection([1, 3, 8, 12, 19, 25, 4], type_info=Types.INT())
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Itself())
keyed = stream.assign_timestamps_and_watermarks(times).key_by(lambda n: "all", Types.STRING())
windowed = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10)))


def show(title, result):
    print(f"-- {title}", flush=True)
    result.print()
    env.execute()


show("reduce and apply", windowed.reduce(max, WithWindow(), Types.STRING()))
show("reduce and process", windowed.reduce(lambda a, b: a + b, WithState(), Types.STRING()))
show("aggregate and apply", windowed.aggregate(Count(), WithWindow(), Types.INT(), Types.STRING()))
show("aggregate and process", windowed.aggregate(Count(), WithState(), Types.INT(), Types.STRING()))
show("process", windowed.process(WithState(), Types.STRING()))

"""window_all: windows over a whole stream, of every kind of function.

order: kept
"""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import AggregateFunction, StreamExecutionEnvironment
from pyflink.datastream.functions import AllWindowFunction, ProcessAllWindowFunction
from pyflink.datastream.window import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
    EventTimeSessionWindows,
    TumblingEventTimeWindows,
)


class Itself(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Text(AggregateFunction):
    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        return [*accumulator, value]

    def get_result(self, accumulator):
        return "+".join(str(value) for value in accumulator)

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class Apply(AllWindowFunction):
    def apply(self, window, inputs):
        yield f"{window} {list(inputs)}"


class Process(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield f"{context.window().start} {sorted(elements)}"


class Listed(ProcessAllWindowFunction):
    def process(self, context, elements):
        return [list(elements)]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Itself())
stream = env.from_collection(
    [1, 3, 8, 12, 4, 30, 33], type_info=Types.INT()
).assign_timestamps_and_watermarks(times)
windowed = stream.window_all(TumblingEventTimeWindows.of(Time.milliseconds(10)))
sessions = stream.window_all(EventTimeSessionWindows.with_gap(Time.milliseconds(5)))


def show(title, result):
    print(f"-- {title}", flush=True)
    result.print()
    env.execute()


show("reduce", windowed.reduce(lambda a, b: a * b))
show("reduce and process", windowed.reduce(lambda a, b: a + b, Process(), Types.STRING()))
show("aggregate", windowed.aggregate(Text(), output_type=Types.STRING()))
show("apply", windowed.apply(Apply(), Types.STRING()))
show("process", windowed.process(Process()))
show("sessions", sessions.apply(Apply(), Types.STRING()))
show("count", stream.window_all(CountTumblingWindowAssigner.of(3)).process(Listed()))
show("count sliding", stream.window_all(CountSlidingWindowAssigner.of(4, 2)).process(Listed()))

"""RuntimeExecutionMode.BATCH: a keyed reduce or sum gives one result per key; elements of a key come together.

order: any
"""

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import TumblingEventTimeWindows


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Trace(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(100 - value[1])
        low = ctx.timer_service().current_watermark() < 0
        yield f"{ctx.get_current_key()} element {value[1]} number {self.count.value()} low watermark {low}"

    def on_timer(self, timestamp, ctx):
        yield f"{ctx.get_current_key()} timer {timestamp} of {self.count.value()}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
data = [("a", 5), ("b", 1), ("a", 2), ("c", 9), ("b", 30), ("a", 14)]
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
stream = env.from_collection(data, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
plain = stream.key_by(lambda v: v[0], Types.STRING())
timed = stream.assign_timestamps_and_watermarks(times).key_by(lambda v: v[0], Types.STRING())
plain.reduce(lambda a, b: (a[0], a[1] + b[1])).print("reduce")
plain.sum(1).print("sum")
plain.max_by(1).print("max_by")
timed.process(Trace(), Types.STRING()).print("process")
timed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).reduce(
    lambda a, b: (a[0], a[1] + b[1])
).print("window")
plain.map(lambda v: v[1], Types.INT()).print("map")
env.execute()

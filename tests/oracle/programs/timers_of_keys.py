"""Timers belong to a key: the same time of two keys fires twice, with each key's state; also for connected streams.

order: any
"""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedCoProcessFunction, KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ValueStateDescriptor


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class LastSeen(KeyedProcessFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))

    def process_element(self, value, ctx):
        if self.last.value() is not None:
            ctx.timer_service().delete_event_time_timer(self.last.value() + 10)
        self.last.update(ctx.timestamp())
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 10)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), self.last.value(), timestamp
        self.last.clear()


class Both(KeyedCoProcessFunction):
    def process_element1(self, value, ctx):
        ctx.timer_service().register_event_time_timer(100)

    def process_element2(self, value, ctx):
        ctx.timer_service().register_event_time_timer(100)
        ctx.timer_service().register_event_time_timer(value[1])

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), ctx.time_domain().name, timestamp


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
first = env.from_collection(
    [("a", 1), ("b", 2), ("a", 7), ("c", 2)], type_info=pair
).assign_timestamps_and_watermarks(times)
second = env.from_collection([("b", 4), ("d", 8)], type_info=pair).assign_timestamps_and_watermarks(times)
first.key_by(lambda v: v[0], Types.STRING()).process(LastSeen()).print("one")
env.execute()
first.connect(second).key_by(lambda v: v[0], lambda v: v[0], Types.STRING()).process(Both()).print("two")
env.execute()

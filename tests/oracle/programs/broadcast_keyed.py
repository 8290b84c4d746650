"""Broadcast state with keys: rules seen by a timer of each key, keyed state beside them.

order: any
prefix: hidden
"""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedBroadcastProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor

rules = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Apply(KeyedBroadcastProcessFunction):
    def open(self, runtime_context):
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.INT()))

    def process_element(self, value, ctx):
        self.total.update((self.total.value() or 0) + value[1])
        ctx.timer_service().register_event_time_timer(10_000)
        yield f"{ctx.get_current_key()} at {ctx.timestamp()}"

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(rules).put(value[0], value[1])

    def on_timer(self, timestamp, ctx):
        limits = sorted(ctx.get_broadcast_state(rules).items())
        yield f"{ctx.get_current_key()} total {self.total.value()} at {timestamp} {ctx.time_domain().name} {limits}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
data = env.from_collection([("a", 1), ("b", 2), ("a", 3)], type_info=pair).assign_timestamps_and_watermarks(
    times
)
limits = env.from_collection([("x", 7), ("y", 9)], type_info=pair)
data.key_by(lambda v: v[0]).connect(limits.broadcast(rules)).process(Apply(), Types.STRING()).print()
env.execute()

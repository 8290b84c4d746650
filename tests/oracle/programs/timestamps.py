"""Timestamps: none without a strategy, kept by map and filter, replaced by a second strategy; of windows and timers.

order: kept
"""

from pyflink.common import Duration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, ProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.window import TumblingEventTimeWindows


class Scaled(TimestampAssigner):
    def __init__(self, factor):
        self.factor = factor

    def extract_timestamp(self, value, record_timestamp):
        return value * self.factor


class Previous(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return record_timestamp + 1


class Show(ProcessFunction):
    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        yield f"{value} at {ctx.timestamp()} watermark {timers.current_watermark()}"


class ShowTimestamp(ProcessFunction):
    def process_element(self, value, ctx):
        yield f"{value} at {ctx.timestamp()}"


class Fire(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(ctx.timestamp() * 10)

    def on_timer(self, timestamp, ctx):
        yield timestamp


def strategy(assigner):
    return WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5)).with_timestamp_assigner(
        assigner
    )


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([7, 3, 12], type_info=Types.INT())
timed = numbers.assign_timestamps_and_watermarks(strategy(Scaled(1)))
keyed = timed.key_by(lambda n: 0, Types.INT())


def show(title, stream, function=Show):
    print(f"-- {title}", flush=True)
    stream.process(function(), Types.STRING()).print()
    env.execute()


show("none", numbers)
show("assigned", timed)
show(
    "kept",
    timed.map(lambda n: -n, Types.INT()).filter(lambda n: n < -5).flat_map(lambda n: [n, n], Types.INT()),
)
show("replaced", timed.assign_timestamps_and_watermarks(strategy(Scaled(100))))
show("from previous", timed.assign_timestamps_and_watermarks(strategy(Previous())))
show("window", keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10))).reduce(max), ShowTimestamp)
show("timer", keyed.process(Fire(), Types.LONG()), ShowTimestamp)

"""Side outputs of process and keyed process, from elements and from timers, typed and untyped, used twice.

order: any
"""

from pyflink.common import Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, OutputTag, ProcessFunction, StreamExecutionEnvironment

errors = OutputTag("errors", Types.STRING())
shadow = OutputTag("shadow")
fired = OutputTag("fired", Types.TUPLE([Types.STRING(), Types.LONG()]))


class Parse(ProcessFunction):
    def process_element(self, value, ctx):
        try:
            yield int(value)
        except ValueError as error:
            yield errors, f"{value}: {type(error).__name__}"
        yield shadow, {"raw": value}


class Timed(KeyedProcessFunction):
    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value + 100)
        yield value
        yield errors, f"seen {value}"

    def on_timer(self, timestamp, ctx):
        yield fired, (str(ctx.get_current_key()), timestamp)


class Itself(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
parsed = env.from_collection(["1", "x", "3"], type_info=Types.STRING()).process(Parse(), Types.INT())
parsed.print("main")
parsed.get_side_output(errors).print("errors")
parsed.get_side_output(errors).map(len, Types.INT()).print("lengths")
parsed.get_side_output(shadow).print("shadow")
env.execute()

timed = env.from_collection([1, 2, 3], type_info=Types.INT()).assign_timestamps_and_watermarks(
    WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Itself())
)
result = timed.key_by(lambda n: n % 2, Types.INT()).process(Timed(), Types.INT())
result.print("main")
result.get_side_output(fired).print("fired")
result.get_side_output(errors).print("errors")
env.execute()

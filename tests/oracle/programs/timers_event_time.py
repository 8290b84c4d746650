"""Event-time timers: fired in time order, once per time however often registered, deletable, some set by a timer.

Thread mode is where PyFlink does as Flink does. In process mode the timers that are due are sent to Python in one go,
so that what on_timer registers or deletes comes too late for them.

order: kept
"""

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Timers(KeyedProcessFunction):
    def open(self, runtime_context):
        self.again = False

    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        kind, time = value
        if kind == "delete":
            timers.delete_event_time_timer(time)
        else:
            timers.register_event_time_timer(time)
        yield f"{kind} {time} timestamp {ctx.timestamp()} watermark {timers.current_watermark()}"

    def on_timer(self, timestamp, ctx):
        timers = ctx.timer_service()
        last = timers.current_watermark() == 2**63 - 1
        yield f"fired {timestamp} = {ctx.timestamp()} for {ctx.get_current_key()} {ctx.time_domain().name} last {last}"
        if timestamp < 30:
            timers.register_event_time_timer(timestamp + 45)
        if timestamp == 50 and not self.again:
            self.again = True
            timers.register_event_time_timer(50)
            timers.register_event_time_timer(3)
            timers.delete_event_time_timer(60)


configuration = Configuration()
configuration.set_string("python.execution-mode", "thread")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.set_parallelism(1)
actions = [
    ("set", 50),
    ("set", 20),
    ("set", 60),
    ("set", 70),
    ("set", 20),
    ("delete", 70),
    ("set", -5),
    ("delete", 99),
]
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
stream = env.from_collection(actions, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
keyed = stream.assign_timestamps_and_watermarks(times).key_by(lambda action: "key", Types.STRING())
keyed.process(Timers(), Types.STRING()).print()
env.execute()

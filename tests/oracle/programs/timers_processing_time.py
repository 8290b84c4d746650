"""Processing-time timers: those still pending as bounded input ends never fire.

order: any
"""

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment


class Timers(KeyedProcessFunction):
    def process_element(self, value, ctx):
        timers = ctx.timer_service()
        now = timers.current_processing_time()
        if value == 1:
            timers.register_processing_time_timer(now + 3_600_000)
        if value == 2:
            timers.register_processing_time_timer(now + 60_000)
        yield f"element {value} {now > 1_600_000_000_000}"

    def on_timer(self, timestamp, ctx):
        yield f"fired for {ctx.get_current_key()} {ctx.time_domain().name}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
stream = env.from_collection([1, 2, 3], type_info=Types.INT())
stream.key_by(lambda n: n, Types.INT()).process(Timers(), Types.STRING()).print()
env.execute()

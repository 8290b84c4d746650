"""Processing-time windows at the end of bounded input: which of them fire.

order: any
"""

from pyflink.common import Time, Types
from pyflink.datastream import StreamExecutionEnvironment, WindowFunction
from pyflink.datastream.window import (
    ProcessingTimeSessionWindows,
    SlidingProcessingTimeWindows,
    TumblingProcessingTimeWindows,
)


class Total(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{key} {sum(inputs)} {window.end - window.start}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
keyed = env.from_collection([1, 2, 3, 4], type_info=Types.INT()).key_by(lambda n: n % 2, Types.INT())
day = Time.days(1)
keyed.window(TumblingProcessingTimeWindows.of(day)).apply(Total(), Types.STRING()).print("tumbling")
keyed.window(SlidingProcessingTimeWindows.of(day, Time.hours(12))).apply(Total(), Types.STRING()).print(
    "sliding"
)
keyed.window(ProcessingTimeSessionWindows.with_gap(Time.hours(1))).apply(Total(), Types.STRING()).print(
    "session"
)
keyed.map(lambda n: f"element {n}", Types.STRING()).print()
env.execute()

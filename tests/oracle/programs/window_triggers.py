"""Triggers: continuous, one written by the user with its own state and timer, purging or keeping the contents.

Thread mode, since in process mode what a trigger registers as it fires comes after all timers that are already due.

order: kept
"""

from pyflink.common import Configuration, Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import StreamExecutionEnvironment, WindowFunction
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.datastream.window import (
    ContinuousEventTimeTrigger,
    EventTimeTrigger,
    PurgingTrigger,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
)


class Itself(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class EverySecondElement(Trigger):
    def __init__(self, purge):
        self.purge = purge

    def on_element(self, element, timestamp, window, ctx):
        count = ctx.get_partitioned_state(ValueStateDescriptor("count", Types.INT()))
        count.update((count.value() or 0) + 1)
        ctx.register_event_time_timer(window.max_timestamp())
        if count.value() % 2:
            return TriggerResult.CONTINUE
        return TriggerResult.FIRE_AND_PURGE if self.purge else TriggerResult.FIRE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        ctx.get_partitioned_state(ValueStateDescriptor("count", Types.INT())).clear()
        ctx.delete_event_time_timer(window.max_timestamp())


class Contents(WindowFunction):
    def apply(self, key, window, inputs):
        yield window.start, window.end, list(inputs)


configuration = Configuration()
configuration.set_string("python.execution-mode", "thread")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.set_parallelism(1)
stream = env.from_collection([1, 3, 8, 4, 12, 9, 17, 31], type_info=Types.INT())
times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Itself())
keyed = stream.assign_timestamps_and_watermarks(times).key_by(lambda n: "all", Types.STRING())
windowed = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
for name, trigger in (
    ("default", EventTimeTrigger.create()),
    ("continuous", ContinuousEventTimeTrigger.of(Time.milliseconds(4))),
    ("purging", PurgingTrigger.of(EventTimeTrigger.create())),
    ("second keeping", EverySecondElement(False)),
    ("second purging", EverySecondElement(True)),
):
    print(f"-- {name}", flush=True)
    windowed.trigger(trigger).apply(Contents()).print()
    env.execute()

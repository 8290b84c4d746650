"""State with a time to live: passes each event on once, and forgets an event after an hour.

    python examples/expiring_state.py

Without the time to live the state would keep every id. Time is processing time, counted from the last write.
"""

from __future__ import annotations

from collections.abc import Iterator

from firesteel.common import Time, Types
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import KeyedProcessFunction, RuntimeContext
from firesteel.datastream.state import StateTtlConfig, ValueStateDescriptor

EVENTS = ["order-1", "order-2", "order-1", "order-3", "order-2", "order-1"]


class Once(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        seen = ValueStateDescriptor("seen", Types.BOOLEAN())
        seen.enable_time_to_live(StateTtlConfig.new_builder(Time.hours(1)).build())
        self.seen = runtime_context.get_state(seen)

    def process_element(self, value: str, ctx: KeyedProcessFunction.Context) -> Iterator[str]:
        if not self.seen.value():
            self.seen.update(True)
            yield value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
env.from_collection(EVENTS, Types.STRING()).key_by(lambda event: event).process(Once()).print()
env.execute("each event once")

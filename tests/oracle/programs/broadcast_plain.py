"""Broadcast state without keys: every subtask holds the rules; both methods emit.

order: any
prefix: hidden
"""

from pyflink.common import Types
from pyflink.datastream import BroadcastProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import MapStateDescriptor

rules = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Apply(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        state = ctx.get_broadcast_state(rules)
        known = [key for key in state if key not in ("k1", "k2", "k3")]
        yield f"element {value} unknown={known}"

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(rules)
        state[value[0]] = state.get(value[0]) + value[1] if value[0] in state else value[1]
        yield f"rule {value[0]}={state.get(value[0])} of {sorted(state.items())} empty={state.is_empty()}"
        if value[0] == "k3":
            state.remove("k3")
            yield f"left {sorted(state.keys())} {sorted(state.values())} {state.contains('k3')}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
data = env.from_collection([1, 2, 3, 4], type_info=Types.INT())
updates = env.from_collection(
    [("k1", 1), ("k2", 5), ("k1", 2), ("k3", 0)], type_info=Types.TUPLE([Types.STRING(), Types.INT()])
)
data.connect(updates.broadcast(rules)).process(Apply(), Types.STRING()).print()
env.execute()

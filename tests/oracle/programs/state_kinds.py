"""Value, list, map, reducing and aggregating state: reading what is empty, writing, clearing; each key its own.

order: kept
"""

from pyflink.common import Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class States(KeyedProcessFunction):
    def open(self, runtime_context):
        self.value = runtime_context.get_state(ValueStateDescriptor("value", Types.INT()))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list", Types.INT()))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map", Types.INT(), Types.STRING()))
        self.reducing = runtime_context.get_reducing_state(
            ReducingStateDescriptor("reducing", max, Types.INT())
        )
        self.mean = runtime_context.get_aggregating_state(
            AggregatingStateDescriptor("mean", Mean(), Types.TUPLE([Types.INT(), Types.INT()]))
        )

    def show(self, title):
        items = sorted(self.map.items())
        yield (
            f"{title}: {self.value.value()} {list(self.list.get())} {items} {self.reducing.get()} {self.mean.get()} "
            f"{self.map.is_empty()} {self.map.contains(3)} {3 in self.map} {sorted(self.map.keys())} {self.map.get(99)}"
        )

    def process_element(self, value, ctx):
        key, number = value
        if number < 0:
            for state in (self.value, self.list, self.map, self.reducing, self.mean):
                state.clear()
            yield from self.show(f"{key} cleared")
            return
        if number == 0:
            yield from self.show(f"{key} empty")
        self.value.update(number)
        self.list.add(number)
        self.map.put(number, f"v{number}")
        self.reducing.add(number)
        self.mean.add(number)
        if number == 5:
            self.list.add_all([50, 51])
            self.map.put(3, "three")
            self.map[4] = "four"
        if number == 6:
            self.list.update([60])
            self.map.remove(3)
            self.map.remove(77)
            self.map[4] = "again"
            del self.map[5]
        if number == 7:
            self.list.update([])
            self.map.put(8, None)
            self.value.update(None)
        yield from self.show(f"{key} {number}")


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("a", 0), ("b", 3), ("a", 5), ("a", 6), ("b", 7), ("a", -1), ("a", 2), ("b", 1)]
stream = env.from_collection(data, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
stream.key_by(lambda v: v[0], Types.STRING()).process(States(), Types.STRING()).print()
env.execute()

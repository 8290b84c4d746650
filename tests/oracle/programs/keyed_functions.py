"""Keyed state in rich functions of a keyed stream: map, flat_map, filter; keys of many types; a KeySelector object.

order: kept
"""

from pyflink.common import Row, Types
from pyflink.datastream import (
    FilterFunction,
    FlatMapFunction,
    KeySelector,
    MapFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.state import MapStateDescriptor, ValueStateDescriptor


class Number(MapFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def map(self, value):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        return f"{value} {count}"


class Fresh(FilterFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", Types.BOOLEAN()))

    def filter(self, value):
        if self.seen.value():
            return False
        self.seen.update(True)
        return True


class Pairs(FlatMapFunction):
    def open(self, runtime_context):
        self.others = runtime_context.get_map_state(
            MapStateDescriptor("others", Types.INT(), Types.BOOLEAN())
        )

    def flat_map(self, value):
        for other in sorted(self.others.keys()):
            yield f"{other}-{value}"
        self.others.put(value, True)


class Parity(KeySelector):
    def open(self, runtime_context):
        self.names = ["even", "odd"]

    def get_key(self, value):
        return self.names[value % 2]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2, 3, 1, 4, 2], type_info=Types.INT())


def show(title, stream):
    print(f"-- {title}", flush=True)
    stream.print()
    env.execute()


keyed = numbers.key_by(Parity(), Types.STRING())
show("map", keyed.map(Number(), Types.STRING()))
show("flat_map", keyed.flat_map(Pairs(), Types.STRING()))
show("filter", numbers.key_by(lambda n: n).filter(Fresh()))
show("rekeyed", keyed.key_by(lambda n: n > 2).map(Number(), Types.STRING()))
show("tuple key", numbers.key_by(lambda n: (n % 2, "x")).map(Number(), Types.STRING()))
show("row key", numbers.key_by(lambda n: Row(n % 2), Types.ROW([Types.INT()])).map(Number(), Types.STRING()))
show("none key", numbers.key_by(lambda n: None).map(Number(), Types.STRING()))
show("float key", numbers.key_by(lambda n: n / 2, Types.DOUBLE()).map(Number(), Types.STRING()))

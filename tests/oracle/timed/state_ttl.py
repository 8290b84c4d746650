"""State with a time to live: what is seen of it, step by step, with pauses in between.

Each configuration is an operator of its own. An element is its own bundle and Python caches nothing, so that what is
seen is what Flink's state holds.

order: any
epochs: 1 record
"""

import time

from pyflink.common import Configuration, Time, Types
from pyflink.datastream import AggregateFunction, KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)

TTL, HALF, LONG = 1000, 600, 1400
UPDATES = StateTtlConfig.UpdateType
VISIBILITIES = StateTtlConfig.StateVisibility

STEPS = [
    # (what is done, how long nothing is done then)
    ("write 1", HALF),
    ("read", HALF),
    ("read", 0),
    ("read", 0),
    ("clear", 0),
    ("write 2", HALF),
    ("write 3", HALF),
    ("read", LONG),
    ("contains", 0),
    ("contains", 0),
    ("read", 0),
    ("write 4", LONG),
    ("is empty", 0),
    ("write 5", 0),
    ("is empty", 0),
    ("read", 0),
    ("clear", 0),
    ("write 6", HALF),
    ("is empty", HALF),
    ("read", 0),
    ("clear", 0),
    ("write 7", HALF),
    ("contains", HALF),
    ("read", 0),
    ("clear", 0),
    ("write 8", HALF),
    ("keys", HALF),
    ("values", 0),
    ("values", 0),
    ("items", 0),
    ("clear", 0),
    ("write 9", HALF),
    ("put none", HALF),
    ("items", 0),
    ("read", 0),
    ("clear", 0),
    ("replace 1", HALF),
    ("write 2", HALF),
    ("items", LONG),
    ("write 3", 0),
    ("items", LONG),
    ("replace 4", 0),
    ("items", LONG),
    ("items", 0),
    ("items", 0),
    ("write 5", LONG),
    ("is empty", 0),
    ("remove", 0),
    ("is empty", 0),
    ("items", 0),
]


class Total(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return accumulator

    def merge(self, one, other):
        return one + other


class Steps(KeyedProcessFunction):
    def __init__(self, update, visibility):
        self.update = update
        self.visibility = visibility

    def open(self, context):
        builder = StateTtlConfig.new_builder(Time.milliseconds(TTL))
        config = builder.set_update_type(self.update).set_state_visibility(self.visibility).build()
        descriptors = [
            ValueStateDescriptor("value", Types.LONG()),
            ListStateDescriptor("list", Types.LONG()),
            MapStateDescriptor("map", Types.STRING(), Types.LONG()),
            ReducingStateDescriptor("reducing", lambda one, other: one + other, Types.LONG()),
            AggregatingStateDescriptor("aggregating", Total(), Types.LONG()),
        ]
        for descriptor in descriptors:
            descriptor.enable_time_to_live(config)
        self.value = context.get_state(descriptors[0])
        self.list = context.get_list_state(descriptors[1])
        self.map = context.get_map_state(descriptors[2])
        self.reducing = context.get_reducing_state(descriptors[3])
        self.aggregating = context.get_aggregating_state(descriptors[4])

    def process_element(self, element, ctx):
        number, step, pause = element
        for kind, found in self.do(*step.split(" ", 1)):
            yield f"{self.update.name} {self.visibility.name} {number:02} {step}, {kind}: {found}"
        time.sleep(pause / 1000)

    def do(self, what, how=""):
        if what == "write":
            self.write(int(how))
        elif what == "replace":
            self.list.update([int(how), int(how)])
            self.map.put("x", int(how))
            self.map.put("z", int(how))
        elif what == "clear":
            for state in (self.value, self.list, self.map, self.reducing, self.aggregating):
                state.clear()
        elif what == "remove":
            for key in "xyz":
                self.map.remove(key)
        elif what == "put":
            self.map.put("x", None)
        else:
            yield from self.read(what)

    def write(self, number):
        self.value.update(number)
        self.list.add(number)
        self.map.put("x" if number % 2 else "y", number)
        self.reducing.add(number)
        self.aggregating.add(number)

    def read(self, what):
        if what == "read":
            yield "value", self.value.value()
            yield "list", list(self.list.get() or [])
            yield "map", [self.map.get(key) for key in "xyz"]
            yield "reducing", self.reducing.get()
            yield "aggregating", self.aggregating.get()
        elif what == "items":
            yield "list", list(self.list.get() or [])
            yield "map", sorted(self.map.items(), key=str)
        elif what == "keys":
            yield "map", sorted(self.map.keys())
        elif what == "values":
            yield "map", sorted(self.map.values())
        elif what == "contains":
            yield "map", [self.map.contains(key) for key in "xyz"]
        else:
            yield "map", self.map.is_empty()


configuration = Configuration()
configuration.set_string("python.fn-execution.bundle.size", "1")
for cache in (
    "python.state.cache-size",
    "python.map-state.read-cache-size",
    "python.map-state.write-cache-size",
):
    configuration.set_string(cache, "0")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.set_parallelism(1)
elements = [(number, step, pause) for number, (step, pause) in enumerate(STEPS, 1)]
stream = env.from_collection(elements, Types.TUPLE([Types.INT(), Types.STRING(), Types.INT()]))
for update in (UPDATES.OnCreateAndWrite, UPDATES.OnReadAndWrite, UPDATES.Disabled):
    for visibility in VISIBILITIES:
        stream.key_by(lambda element: "key", Types.STRING()).process(
            Steps(update, visibility), Types.STRING()
        ).print()
env.execute()

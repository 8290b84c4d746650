"""Objects of state that are changed in place: what a program gives does not depend on where epochs end."""

from __future__ import annotations

from dataclasses import dataclass, field

from firesteel.common import Duration, Time, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.datastream.functions import (
    AggregateFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    ProcessWindowFunction,
)
from firesteel.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from firesteel.datastream.window import ContinuousEventTimeTrigger, TumblingEventTimeWindows

EVENTS = [("ab"[number % 2], number) for number in range(12)]
RULES = MapStateDescriptor("rules")


@dataclass
class Basket:
    """An object of the program."""

    items: list = field(default_factory=list)


class Gather(AggregateFunction):
    """Hands out its accumulator as the result."""

    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        accumulator.append(value)
        return accumulator

    def get_result(self, accumulator):
        return accumulator

    def merge(self, one, two):
        return one + two


class Careless(KeyedProcessFunction):
    """Changes whatever it reads from state and whatever it has put there, and updates nothing."""

    def open(self, runtime_context):
        self.value = runtime_context.get_state(ValueStateDescriptor("value"))
        self.list = runtime_context.get_list_state(ListStateDescriptor("list"))
        self.map = runtime_context.get_map_state(MapStateDescriptor("map"))
        self.last = runtime_context.get_reducing_state(ReducingStateDescriptor("last", lambda one, two: one))
        self.all = runtime_context.get_aggregating_state(AggregatingStateDescriptor("all", Gather()))
        self.mine = []

    def process_element(self, value, ctx):
        number = value[1]
        if number < 4:
            self.mine = [number]
            self.value.update(Basket(self.mine))
            self.list.add(self.mine)
            self.map.put("x", {"mine": self.mine})
            self.last.add(self.mine)
        self.all.add([number])
        self.mine.append(number)
        found = [self.value.value().items, *self.list.get(), self.map.get("x")["mine"], self.last.get()]
        found += [*next(iter(self.map.values())).values(), *self.all.get()]
        yield (*value, repr(found))
        for each in found:
            each.append("changed")


def careless(env):
    events = env.from_collection(EVENTS)
    return events.key_by(lambda event: event[0], Types.STRING()).process(Careless())


def test_keyed_state(run):
    found = sorted(run(careless), key=lambda row: row[1])
    expected = []
    for key, number in EVENTS:
        first, latest = (
            "ab".index(key),
            max(start for start in (0, 1, 2, 3) if start <= number and "ab"[start % 2] == key),
        )
        mine = [[start] for start in range(4) if "ab"[start % 2] == key and start <= number]
        seen = [[other] for at, other in EVENTS if at == key and other <= number]
        expected.append((key, number, repr([[latest], *mine, [latest], [first], [latest], *seen])))
    assert found == expected


class Apply(KeyedBroadcastProcessFunction):
    """Changes the rule it reads, on either side."""

    def process_element(self, value, ctx):
        rule = ctx.get_broadcast_state(RULES).get("rule")
        if rule is not None:
            rule.items.append("changed")
            yield len(rule.items)

    def process_broadcast_element(self, value, ctx):
        state = ctx.get_broadcast_state(RULES)
        rule = state.get("rule") or Basket()
        rule.items.append(value)
        if value < 3:
            state.put("rule", rule)
        rule.items.append("changed")


def test_broadcast_state(run):
    def program(env):
        rules = env.from_collection([1, 2, 3, 4]).broadcast(RULES)
        events = env.from_collection(EVENTS).key_by(lambda event: event[0])
        return events.connect(rules).process(Apply())

    assert set(run(program)) <= {2, 3}


class ByNumber(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Spoils(ProcessWindowFunction):
    """Shows and changes what a window holds."""

    def process(self, key, context, elements):
        elements = list(elements)
        yield key, repr(elements)
        for element in elements:
            element.append("changed")


def windowed(env):
    timed = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0)).with_timestamp_assigner(
        ByNumber()
    )
    events = env.from_collection([[*event] for event in EVENTS]).assign_timestamps_and_watermarks(timed)
    windows = events.key_by(lambda event: event[0]).window(TumblingEventTimeWindows.of(Time.milliseconds(12)))
    return windows.trigger(ContinuousEventTimeTrigger.of(Time.milliseconds(2)))


def test_windows_that_fire_again(run):
    def shown(rows):
        return [row for row in rows if "changed" in row[1]]

    assert shown(run(lambda env: windowed(env).process(Spoils()))) == []
    assert shown(run(lambda env: windowed(env).aggregate(Gather(), Unpacks()))) == []


class Unpacks(Spoils):
    """The same for the one result of an aggregate, a list of records."""

    def process(self, key, context, elements):
        (records,) = elements
        yield from super().process(key, context, records)

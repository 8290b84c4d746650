"""What each call of the fluent API adds to the graph."""

from __future__ import annotations

import inspect

import pytest

from firesteel.common import Duration, Row, Time, Types, WatermarkStrategy
from firesteel.common.errors import ProgramError
from firesteel.connectors.discard import DiscardingSink
from firesteel.datastream import (
    AsyncDataStream,
    AsyncFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    SlotSharingGroup,
)
from firesteel.datastream.connectors.base import StreamTransformer, SupportsPreprocessing
from firesteel.datastream.functions import AllWindowFunction, ProcessWindowFunction
from firesteel.datastream.state import MapStateDescriptor
from firesteel.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    PurgingTrigger,
    TumblingEventTimeWindows,
)
from firesteel.graph.nodes import Custom
from firesteel.graph.operations import WindowOp
from tests.datastream.programs import environment, explained

PAIRS = Types.TUPLE([Types.STRING(), Types.INT()])
TAG = OutputTag("aside", Types.STRING())


def pairs(env):
    return env.from_collection([("a", 1), ("b", 2)], PAIRS)


def first(pair):
    return pair[0]


class Processed(ProcessFunction):
    def process_element(self, value, ctx):
        yield value


class Keyed(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


class Both(CoMapFunction, CoFlatMapFunction, CoProcessFunction):
    def map1(self, value): ...
    def map2(self, value): ...
    def flat_map1(self, value): ...
    def flat_map2(self, value): ...
    def process_element1(self, value, ctx): ...
    def process_element2(self, value, ctx): ...


class KeyedBoth(KeyedCoProcessFunction):
    def process_element1(self, value, ctx): ...
    def process_element2(self, value, ctx): ...


class Ruled(BroadcastProcessFunction):
    def process_element(self, value, ctx): ...
    def process_broadcast_element(self, value, ctx): ...


class KeyedRuled(KeyedBroadcastProcessFunction):
    def process_element(self, value, ctx): ...
    def process_broadcast_element(self, value, ctx): ...


class Whole(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key


class WholeStream(AllWindowFunction):
    def apply(self, window, inputs):
        yield 1


def test_chain_of_elementary_operations():
    env = environment()
    (
        pairs(env)
        .map(first, Types.STRING())
        .flat_map(list)
        .filter(bool)
        .process(Processed(), Types.STRING())
        .print("name")
    )
    assert explained(env) == [
        "1: Source: Collection Source [parallelism 1, gives TupleTypeInfo(String, Integer)]",
        "2: Map [parallelism 2, gives String]",
        "    <- 1 REBALANCE",
        "3: FlatMap [parallelism 2]",
        "    <- 2 FORWARD",
        "4: Filter [parallelism 2]",
        "    <- 3 FORWARD",
        "5: PROCESS [parallelism 2, gives String]",
        "    <- 4 FORWARD",
        "6: Sink: Print to Std. Out [parallelism 2]",
        "    <- 5 FORWARD",
    ]


def test_keyed_operations_read_their_input_by_key():
    env = environment()
    keyed = pairs(env).key_by(first, Types.STRING())
    for stream in (
        keyed.map(first),
        keyed.reduce(max),
        keyed.sum(1),
        keyed.process(Keyed()),
        keyed.filter(first),
    ):
        node = env._builder[stream._edges[0].source]
        assert node.keyed
        assert node.inputs[0][0].partitioning.selector is first
    assert keyed.reduce(max).get_type() == keyed.filter(bool).get_type() == PAIRS
    assert [keyed.sum(1).get_name(), keyed.process(Keyed()).get_name()] == ["Reduce", "KEYED PROCESS"]


def test_key_by_again_starts_from_the_stream_before():
    env = environment()
    again = pairs(env).key_by(first).key_by(str)
    assert again._edges[0].partitioning.selector is str
    assert len(again._edges) == 1


def test_keyed_stream_becomes_one_without_keys_by_a_map():
    env = environment()
    pairs(env).key_by(first).print()
    assert explained(env)[1:] == [
        "2: _keyed_stream_values_operator [parallelism 2, gives TupleTypeInfo(String, Integer)]",
        "    <- 1 HASH",
        "3: Sink: Print to Std. Out [parallelism 2]",
        "    <- 2 FORWARD",
    ]


def test_partitionings():
    env = environment()
    stream = pairs(env)
    for part in (
        stream.shuffle(),
        stream.rescale(),
        stream.rebalance(),
        stream.forward(),
        stream.broadcast(),
    ):
        part.sink_to(DiscardingSink())
    stream.partition_custom(lambda key, n: 0, first).sink_to(DiscardingSink())
    edges = [edge.partitioning.label for node in env._builder.build().nodes for edge in node.edges]
    assert edges == ["SHUFFLE", "RESCALE", "REBALANCE", "FORWARD", "BROADCAST", "CUSTOM"]


def test_union_has_one_port_with_an_edge_for_each_stream():
    env = environment()
    one, two, three = pairs(env), pairs(env), pairs(env).rebalance()
    node = env._builder[one.union(two, three).map(first)._edges[0].source]
    assert [edge.partitioning.label for edge in node.inputs[0]] == ["AUTO", "AUTO", "REBALANCE"]
    assert len(node.inputs) == 1


def test_connected_streams():
    env = environment()
    one, two = pairs(env), env.from_collection([1])
    plain, keyed = one.connect(two), one.connect(two).key_by(first, str, Types.STRING())
    both = Both()
    streams = [
        plain.map(both),
        plain.flat_map(both),
        plain.process(both),
        keyed.map(both),
        keyed.process(KeyedBoth()),
    ]
    assert [stream.get_name() for stream in streams] == [
        "Co-Map", "Co-Flat Map", "Co-Process", "Co-Map", "Keyed Co-Process",
    ]  # fmt: skip
    nodes = [env._builder[stream._edges[0].source] for stream in streams]
    assert [node.keyed for node in nodes] == [False, False, False, True, True]
    assert all(len(node.inputs) == 2 for node in nodes)


def test_half_keyed_streams_are_connected_as_streams_without_keys():
    env = environment()
    stream = pairs(env).key_by(first).connect(pairs(env)).map(Both())
    node = env._builder[stream._edges[0].source]
    assert not node.keyed
    assert env._builder[node.inputs[0][0].source].name == "_keyed_stream_values_operator"


def test_broadcast_state():
    env = environment()
    rules = MapStateDescriptor("rules", Types.STRING(), Types.INT())
    ruled = pairs(env).connect(pairs(env).broadcast(rules)).process(Ruled())
    keyed = pairs(env).key_by(first).connect(pairs(env).broadcast(rules)).process(KeyedRuled())
    for stream, name in ((ruled, "Co-Process-Broadcast"), (keyed, "Keyed-Co-Process-Broadcast")):
        node = env._builder[stream._edges[0].source]
        assert node.name == name
        assert node.operation.descriptors == (rules,)
        assert node.inputs[1][0].partitioning.label == "BROADCAST"
    assert node.keyed


def test_windows():
    env = environment()
    late = OutputTag("late", PAIRS)
    assigner = TumblingEventTimeWindows.of(Time.seconds(5))
    windowed = pairs(env).key_by(first).window(assigner).allowed_lateness(100).side_output_late_data(late)
    counted = windowed.trigger(PurgingTrigger.of(CountTrigger.of(2)))
    stream = counted.reduce(max, Whole(), Types.STRING())
    node = env._builder[stream._edges[0].source]
    operation = node.operation
    assert isinstance(operation, WindowOp)
    assert (operation.mode, operation.function, type(operation.window_function)) == ("reduce", max, Whole)
    assert (operation.allowed_lateness, operation.late_tag, operation.by_key) == (100, late, True)
    assert (operation.input_type, node.output_type, node.name) == (
        PAIRS,
        Types.STRING(),
        "TumblingEventTimeWindows",
    )
    assert node.description.startswith("Window(TumblingEventTimeWindows")
    assert node.description.endswith("PurgingTrigger, max, Whole)")
    assert stream.get_side_output(late).get_type() == PAIRS
    assert windowed.reduce(max).get_type() == PAIRS


def test_window_all_is_global_and_in_one_subtask():
    env = environment()
    pairs(env).window_all(TumblingEventTimeWindows.of(Time.seconds(5))).apply(WholeStream()).print()
    assert explained(env)[1:] == [
        "2: TumblingEventTimeWindows [parallelism 1]",
        "    <- 1 GLOBAL",
        "3: Sink: Print to Std. Out [parallelism 2]",
        "    <- 2 REBALANCE",
    ]


def test_merging_windows_require_a_trigger_that_merges():
    windowed = pairs(environment()).key_by(first).window(EventTimeSessionWindows.with_gap(Time.seconds(5)))

    class Stubborn(CountTrigger):
        def can_merge(self):
            return False

    with pytest.raises(ProgramError, match="requires a trigger that can merge"):
        windowed.trigger(Stubborn(3))


def test_side_output_reads_the_node_and_gets_one_of_its_own_when_it_is_named():
    env = environment()
    aside = pairs(env).process(Processed()).get_side_output(OutputTag("aside"))
    assert aside._edges[0].side_output == "aside"
    aside.map(str)
    assert aside.name("named").get_name() == "named"
    node = env._builder[aside._edges[0].source]
    assert node.inputs[0][0].side_output == "aside"


def test_typed_side_output_is_given_its_type_by_a_map():
    env = environment()
    pairs(env).process(Processed()).get_side_output(TAG).print()
    assert explained(env)[3:5] == [
        "3: Map [parallelism 2, gives String]",
        "    <- 2 FORWARD side output 'aside'",
    ]


def test_custom_partitioning_gets_a_node_when_parallelism_is_set():
    env = environment()
    parted = pairs(env).partition_custom(lambda key, n: key % n, first).set_parallelism(3)
    node = env._builder[parted._edges[0].source]
    assert node.parallelism == 3
    assert isinstance(node.inputs[0][0].partitioning, Custom)


def test_projection_knows_its_type():
    projected = pairs(environment()).project(1, 0)
    assert projected.get_type() == Types.TUPLE([Types.INT(), Types.STRING()])
    assert projected.get_name() == "Projection"


def test_a_list_of_types_is_a_row():
    stream = pairs(environment()).process(Processed(), [Types.STRING(), Types.INT()])
    assert stream.get_type() == Types.ROW([Types.STRING(), Types.INT()])


def test_timestamps_keep_the_type():
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    stream = pairs(environment()).assign_timestamps_and_watermarks(strategy)
    assert (stream.get_type(), stream.get_name()) == (PAIRS, "Timestamps/Watermarks")


def test_async_wait():
    class Looked(AsyncFunction):
        async def async_invoke(self, value):
            return [value]

    env = environment()
    stream = AsyncDataStream.ordered_wait(pairs(env), Looked(), Time.seconds(2), 7, Types.STRING())
    operation = env._builder[stream._edges[0].source].operation
    assert (operation.timeout, operation.capacity, operation.ordered) == (2000, 7, True)


def test_settings_change_the_last_operation():
    env = environment()
    stream = pairs(env).map(str)
    group = SlotSharingGroup.builder("io").build()
    same = stream.name("n").uid("u").set_parallelism(3).set_max_parallelism(9).set_description("d")
    assert same.start_new_chain().slot_sharing_group(group).set_buffer_timeout(5) is stream
    node = env._builder[stream._edges[0].source]
    assert (node.name, node.uid, node.parallelism, node.max_parallelism) == ("n", "u", 3, 9)
    assert (node.description, node.chaining, node.slot_sharing_group) == ("d", "head", "io")
    assert env._builder[stream.disable_chaining()._edges[0].source].chaining == "never"
    assert env._builder[stream.set_parallelism(-1)._edges[0].source].parallelism is None


def test_settings_of_a_sink():
    env = environment()
    sink = pairs(env).sink_to(DiscardingSink()).name("end").uid("e").set_parallelism(1).disable_chaining()
    node = env._builder[sink._node]
    assert (node.name, node.uid, node.parallelism, node.chaining) == ("end", "e", 1, "never")


def test_forced_to_one_subtask():
    stream = pairs(environment()).map(str).force_non_parallel()
    with pytest.raises(ProgramError, match="requires 1 for an operation that is not parallel; got 2"):
        stream.set_parallelism(2)


def test_a_sink_can_change_its_stream_first():
    class Prepared(DiscardingSink, SupportsPreprocessing):
        def get_transformer(self):
            class ToText(StreamTransformer):
                def apply(self, ds):
                    return ds.map(str, Types.STRING()).name("to text")

            return ToText()

    env = environment()
    pairs(env).sink_to(Prepared())
    assert explained(env)[1] == "2: to text [parallelism 2, gives String]"


def test_values_of_a_typed_collection_are_coerced():
    source = environment().from_collection(
        [("a", 1)], Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.INT()])
    )
    operation = source.get_execution_environment()._builder[0].operation
    [split] = operation.source.splits(frozenset())
    assert list(operation.source.read(split, 0, 1)) == [[Row(name="a", n=1)]]


def test_locations_are_the_lines_of_the_program():
    env = environment()
    line = inspect.currentframe().f_lineno
    stream = pairs(env).map(str)
    stream.key_by(first).sum(0).print()
    locations = [(node.location.file, node.location.line) for node in env._builder.build().nodes[1:]]
    assert locations == [(__file__, line + 1), (__file__, line + 2), (__file__, line + 2)]


def test_objects_of_function_classes_are_kept_as_given():
    class Upper(MapFunction):
        def map(self, value):
            return value.upper()

    function = Upper()
    stream = environment().from_collection(["a"]).map(function)
    assert stream._builder[1].operation.function is function


def test_count_window_with_a_slide_uses_the_sliding_assigner():
    keyed = pairs(environment()).key_by(first)
    assert keyed.count_window(2).reduce(max).get_name() == "CountTumblingWindowAssigner"
    assert keyed.count_window(4, 2).reduce(max).get_name() == "CountSlidingWindowAssigner"

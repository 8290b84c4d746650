"""Transformations of single elements, partitionings, unions and connections, however the job is run."""

from __future__ import annotations

from collections import Counter

import pytest

from firesteel.common import Row, Types
from firesteel.common.errors import RecordError, UserFunctionError
from firesteel.datastream import OutputTag
from firesteel.datastream.functions import (
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FlatMapFunction,
    KeyedCoProcessFunction,
    MapFunction,
    ProcessFunction,
)
from firesteel.datastream.state import ValueStateDescriptor

WORDS = ["to be", "or not", "to be", "that is", "the question"]


def test_map_flat_map_and_filter(run):
    def program(env):
        words = env.from_collection(WORDS).flat_map(str.split)
        return words.filter(lambda word: word != "or").map(lambda word: (word, len(word)))

    expected = [(word, len(word)) for line in WORDS for word in line.split() if word != "or"]
    assert Counter(run(program)) == Counter(expected)


def test_the_order_within_a_channel_is_kept(run):
    def program(env):
        return env.from_collection(range(40)).map(lambda value: value + 1).set_parallelism(1)

    assert run(program) == list(range(1, 41))


COLLECTED = {
    "a collection": lambda env: env.from_collection(range(10)),
    "a wide map after it": lambda env: (
        env.from_collection(range(10)).map(lambda value: value).set_parallelism(1).filter(lambda value: True)
    ).set_parallelism(1),
    "a rebalanced collection": lambda env: env.from_collection(range(10)).rebalance(),
}


@pytest.mark.parametrize("program", COLLECTED.values(), ids=COLLECTED)
def test_collecting_keeps_the_order_of_a_stream_with_one_subtask(run, program):
    assert run(program) == list(range(10))


def test_collecting_a_union_of_streams_with_one_subtask_keeps_the_order_of_each(run):
    def program(env):
        return env.from_collection(range(10)).union(env.from_collection(range(100, 110)))

    values = run(program)
    assert [value for value in values if value < 100] == list(range(10))
    assert [value for value in values if value >= 100] == list(range(100, 110))


def test_collecting_a_union_of_narrow_and_wide_streams_keeps_the_order_of_the_narrow_one(run):
    def program(env):
        narrow = env.from_collection(range(10))
        return narrow.union(env.from_collection([100] * 5).map(lambda value: value))

    values = run(program)
    assert [value for value in values if value < 100] == list(range(10))
    assert len(values) == 15


def test_functions_may_be_generators_objects_and_builtins(run):
    class Twice(FlatMapFunction):
        def flat_map(self, value):
            yield value
            yield value

    class Add(MapFunction):
        def open(self, runtime_context):
            self.offset = int(runtime_context.get_job_parameter("offset", "10"))

        def map(self, value):
            return value + self.offset

    def program(env):
        return env.from_collection(["1", "2"]).map(int).flat_map(Twice()).map(Add())

    assert sorted(run(program)) == [11, 11, 12, 12]


@pytest.mark.parametrize("spread", ["rebalance", "rescale", "shuffle", "forward", "broadcast"])
def test_partitionings_lose_and_invent_nothing(run, spread):
    def program(env):
        numbers = env.from_collection(range(50)).map(lambda value: value)
        return getattr(numbers, spread)().map(lambda value: value)

    copies = run.parallelism if spread == "broadcast" else 1
    assert Counter(run(program)) == Counter(dict.fromkeys(range(50), copies))


def test_a_custom_partitioner_decides_the_subtask(run):
    class Where(MapFunction):
        def open(self, runtime_context):
            self.subtask = runtime_context.get_index_of_this_subtask()

        def map(self, value):
            return value, self.subtask

    def program(env):
        numbers = env.from_collection(range(20))
        return numbers.partition_custom(lambda key, count: key % count, lambda value: value + 1).map(Where())

    assert sorted(run(program)) == [(value, (value + 1) % run.parallelism) for value in range(20)]


def test_union_connect_and_side_outputs(run):
    odd = OutputTag("odd", Types.INT())

    class Split(ProcessFunction):
        def process_element(self, value, ctx):
            if value % 2:
                yield odd, value
            else:
                yield value

    class Merge(CoMapFunction):
        def map1(self, value):
            return "even", value

        def map2(self, value):
            return None if value == 3 else ("odd", value)

    def program(env):
        split = env.from_collection(range(6)).process(Split())
        merged = split.connect(split.get_side_output(odd)).map(Merge())
        return merged.union(env.from_collection([("more", 9)]))

    assert sorted(run(program)) == [
        ("even", 0), ("even", 2), ("even", 4), ("more", 9), ("odd", 1), ("odd", 5),
    ]  # fmt: skip


def test_a_diamond_joins_both_ways(run):
    class Both(CoFlatMapFunction):
        def flat_map1(self, value):
            yield "left", value

        def flat_map2(self, value):
            return [("right", value)]

    def program(env):
        numbers = env.from_collection(range(5)).map(lambda value: value)
        left = numbers.key_by(lambda value: value % 2).map(lambda value: value * 10)
        return left.connect(numbers.rebalance().map(lambda value: -value)).flat_map(Both())

    expected = [("left", value * 10) for value in range(5)] + [("right", -value) for value in range(5)]
    assert sorted(run(program)) == sorted(expected)


def test_connected_keyed_streams_share_state(run):
    class Join(KeyedCoProcessFunction):
        def open(self, runtime_context):
            self.left = runtime_context.get_state(ValueStateDescriptor("left", Types.STRING()))
            self.right = runtime_context.get_state(ValueStateDescriptor("right", Types.STRING()))

        def process_element1(self, value, ctx):
            self.left.update(value[1])
            yield from self.pair(ctx)

        def process_element2(self, value, ctx):
            self.right.update(value[1])
            yield from self.pair(ctx)

        def pair(self, ctx):
            if self.left.value() and self.right.value():
                yield ctx.get_current_key(), self.left.value() + self.right.value()

    def program(env):
        left = env.from_collection([(key, f"l{key}") for key in range(10)])
        right = env.from_collection([(key, f"r{key}") for key in range(5, 15)])
        keyed = left.key_by(lambda value: value[0]).connect(right.key_by(lambda value: value[0]))
        return keyed.process(Join())

    assert sorted(run(program)) == [(key, f"l{key}r{key}") for key in range(5, 10)]


def test_connected_streams_without_keys(run):
    class Label(CoProcessFunction):
        def process_element1(self, value, ctx):
            yield f"a{value}"

        def process_element2(self, value, ctx):
            yield f"b{value}"

    def program(env):
        return env.from_collection([1, 2]).connect(env.from_collection([3])).process(Label())

    assert sorted(run(program)) == ["a1", "a2", "b3"]


def test_declared_types_coerce_as_flinks_serialisers_do(run):
    def program(env):
        typed = env.from_collection([(1, 0.1)], type_info=Types.TUPLE([Types.LONG(), Types.FLOAT()]))
        row = Types.ROW_NAMED(["number", "half"], [Types.LONG(), Types.DOUBLE()])
        return typed.map(lambda value: Row(value[0], value[1] / 2), output_type=row)

    (result,) = run(program)
    assert result == Row(number=1, half=0.05000000074505806)
    assert result["half"] == 0.05000000074505806


def test_what_is_emitted_is_safe_from_later_changes(run):
    class Batches(FlatMapFunction):
        def open(self, runtime_context):
            self.buffer = []

        def flat_map(self, value):
            self.buffer.append(value)
            yield self.buffer
            self.buffer.clear()

    def program(env):
        return env.from_collection(range(4)).flat_map(Batches())

    assert sorted(run(program)) == [[0], [1], [2], [3]]


def test_two_readers_of_a_stream_do_not_see_each_others_changes(run):
    def spoil(value):
        value.append("spoiled")
        return value

    def program(env):
        lists = env.from_collection([1, 2]).map(lambda value: [value])
        return lists.map(spoil).union(lists.map(lambda value: value))

    assert sorted(run(program), key=str) == [[1, "spoiled"], [1], [2, "spoiled"], [2]]


def test_an_exception_of_a_function_names_operator_line_and_record(run):
    def fail(value):
        return 10 // (value - 7)

    with pytest.raises(UserFunctionError) as caught:
        run(lambda env: env.from_collection(range(20)).map(fail).name("divide"))
    message = str(caught.value)
    assert "map 'divide'" in message
    assert "test_transformations.py:" in message
    assert "ZeroDivisionError" in message
    assert "the record 7" in message
    assert "return 10 // (value - 7)" in caught.value.details


def test_a_key_that_cannot_be_encoded_names_the_selector(run):
    with pytest.raises(RecordError, match="key_by into") as caught:
        run(lambda env: env.from_collection([1]).key_by(lambda value: object()).map(lambda value: value))
    assert "object" in str(caught.value)


def test_a_keyed_stream_is_collected_as_rows_of_key_and_record(run_in_process):
    def program(env):
        pairs = env.from_collection([("a", 1), ("b", 2)], Types.TUPLE([Types.STRING(), Types.INT()]))
        return pairs.key_by(lambda pair: pair[0], Types.STRING())

    rows = [Row(f0="a", f1=("a", 1)), Row(f0="b", f1=("b", 2))]
    assert run_in_process(program) == rows

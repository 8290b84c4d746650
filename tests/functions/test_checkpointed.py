"""Operator list state by itself: handles, the store they are got from, and which functions have it."""

from __future__ import annotations

import pickle

import pytest

from firesteel.common import Row, Types
from firesteel.common.errors import ProgramError, StateMismatchError, TypeMismatchError
from firesteel.datastream.functions import CheckpointedFunction, MapFunction
from firesteel.functions.adapt import as_function, checkpointed
from firesteel.state.descriptors import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from firesteel.state.live.operator_lists import ListSnapshot, OperatorLists, OperatorListStore

NUMBERS = ListStateDescriptor("numbers", Types.LONG())
ANYTHING = ListStateDescriptor("anything")


class Point:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return isinstance(other, Point) and self.x == other.x

    __hash__ = None


def empty():
    return OperatorListStore(None)


def restored(store):
    """A store as another worker restores it."""
    return OperatorListStore(pickle.loads(pickle.dumps(store.snapshot())))


def test_a_list_is_read_and_written_like_any_list_state():
    state = empty().get_list_state(NUMBERS)
    assert list(state) == state.get() == []
    state.add(3)
    state.add_all(iter([1, 2]))
    assert state.get() == [3, 1, 2]
    state.get().append(9)
    assert state.get() == [3, 1, 2]
    state.update(value for value in state)
    assert list(state) == [3, 1, 2]
    state.update([7])
    assert state.get() == [7]
    state.clear()
    assert state.get() == []


@pytest.mark.parametrize(
    ("descriptor", "elements"),
    [
        (NUMBERS, [1, -5, 1 << 40]),
        (
            ListStateDescriptor("rows", Types.ROW([Types.STRING(), Types.INT()])),
            [Row(f0="a", f1=1), Row(f0="b", f1=2)],
        ),
        (ListStateDescriptor("tuples", Types.TUPLE([Types.STRING(), Types.DOUBLE()])), [("a", 1.5)]),
        (ANYTHING, [Point(1), {"a": [1, None]}, None, "text", (1, 2), 1 << 80]),
    ],
)
@pytest.mark.parametrize("getter", ["get_list_state", "get_union_list_state"])
def test_what_was_saved_is_restored(getter, descriptor, elements):
    store = empty()
    getattr(store, getter)(descriptor).add_all(elements)
    assert getattr(restored(store), getter)(descriptor).get() == elements
    assert getattr(restored(restored(store)), getter)(descriptor).get() == elements


def test_what_is_changed_in_place_is_saved():
    store = empty()
    state = store.get_list_state(ANYTHING)
    state.add({"count": 1})
    store.snapshot()
    state.get()[0]["count"] = 2
    assert restored(store).get_list_state(ANYTHING).get() == [{"count": 2}]


def test_values_take_the_form_of_their_type():
    state = empty().get_list_state(ListStateDescriptor("t", Types.TUPLE([Types.INT(), Types.DOUBLE()])))
    state.add([1, 2])
    assert state.get() == [(1, 2.0)]
    with pytest.raises(TypeMismatchError):
        state.add("text")


def test_a_list_that_nobody_asks_for_is_kept():
    store = empty()
    store.get_list_state(NUMBERS).add(4)
    store.get_union_list_state(ANYTHING).add(Point(2))
    later = restored(restored(store))
    assert later.get_list_state(NUMBERS).get() == [4]
    assert later.get_union_list_state(ANYTHING).get() == [Point(2)]


def test_the_version_of_a_snapshot_tells_its_contents():
    store = empty()
    numbers = store.get_list_state(NUMBERS)
    versions = [store.snapshot().version]
    for number in (4, 5):
        numbers.add(number)
        versions.append(store.snapshot().version)
    assert len(set(versions)) == 3
    numbers.update([4])
    assert store.snapshot().version == versions[1]
    assert restored(store).snapshot().version == versions[1]


def of_all(*parts, mine):
    """A store of subtask `mine` whose union list was restored from the parts of several."""
    stores = []
    for part in parts:
        store = empty()
        store.get_union_list_state(NUMBERS).add_all(part)
        stores.append(store.snapshot().lists["numbers"])
    start = sum(map(len, parts[:mine]))
    elements = [element for snapshot in stores for element in snapshot.elements]
    whole = ListSnapshot(stores[0].mode, stores[0].schema, elements, (start, start + len(parts[mine])))
    return OperatorListStore(OperatorLists({"numbers": whole}, None))


@pytest.mark.parametrize("mine", [0, 1, 2])
def test_of_a_union_list_a_subtask_sees_all_and_saves_what_it_brought(mine):
    parts = ([1, 2], [3], [])
    store = of_all(*parts, mine=mine)
    assert restored(store).get_union_list_state(NUMBERS).get() == parts[mine]
    state = store.get_union_list_state(NUMBERS)
    assert state.get() == [1, 2, 3]
    state.add(4)
    assert state.get() == [1, 2, 3, 4]
    assert restored(store).get_union_list_state(NUMBERS).get() == [*parts[mine], 4]
    state.update([2, 3])
    assert restored(store).get_union_list_state(NUMBERS).get() == [2, 3]
    state.clear()
    assert restored(store).get_union_list_state(NUMBERS).get() == []


def test_one_name_is_one_list():
    store = empty()
    assert store.get_list_state(NUMBERS) is store.get_list_state(ListStateDescriptor("numbers", Types.LONG()))
    with pytest.raises(ProgramError, match=r"'numbers' is already in use as a list of LONG.*union list"):
        store.get_union_list_state(NUMBERS)
    with pytest.raises(ProgramError, match="is already in use"):
        store.get_list_state(ListStateDescriptor("numbers", Types.STRING()))


@pytest.mark.parametrize(
    ("getter", "descriptor", "got"),
    [
        ("get_list_state", ListStateDescriptor("numbers", Types.STRING()), "a list of STRING"),
        ("get_list_state", ListStateDescriptor("numbers"), "a list of PICKLED"),
        ("get_union_list_state", NUMBERS, "a union list of LONG"),
    ],
)
def test_a_list_that_was_saved_as_another_is_refused(getter, descriptor, got):
    store = empty()
    store.get_list_state(NUMBERS).add(1)
    with pytest.raises(StateMismatchError) as raised:
        getattr(restored(store), getter)(descriptor)
    expected = f"list state 'numbers' was saved as a list of LONG; got {got}"
    assert str(raised.value).splitlines()[0] == expected


def test_a_descriptor_of_another_kind_is_refused():
    with pytest.raises(ProgramError, match=r"requires a ListStateDescriptor for get_list_state\(\)"):
        empty().get_list_state(ValueStateDescriptor("x"))


def test_broadcast_state_is_got_elsewhere():
    with pytest.raises(ProgramError, match="context of a broadcast process function"):
        empty().get_broadcast_state(MapStateDescriptor("rules"))


class Stateful(CheckpointedFunction):
    def initialize_state(self, context): ...

    def snapshot_state(self, context): ...


class StatefulMap(MapFunction, Stateful):
    def map(self, value):
        return value


class LooksLikeAMap(Stateful):
    def map(self, value):
        return value


class Callable(Stateful):
    def __call__(self, value):
        return value


@pytest.mark.parametrize("function", [StatefulMap(), LooksLikeAMap(), Callable()])
def test_a_function_has_state_however_it_is_passed(function):
    assert checkpointed(as_function(function, MapFunction, "map", "map")) is function


def test_other_functions_have_none():
    assert checkpointed(as_function(str, MapFunction, "map", "map")) is None


def test_both_methods_are_required():
    class Half(MapFunction, CheckpointedFunction):
        def map(self, value):
            return value

        def initialize_state(self, context): ...

    with pytest.raises(TypeError, match="snapshot_state"):
        Half()

"""How operator state is dealt out at another parallelism, against Flink's rules and by its invariants."""

from __future__ import annotations

import pickle

import cloudpickle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.checkpoint.manifest import OperatorSnapshot
from firesteel.common.errors import StateMismatchError
from firesteel.control.redistribution import deal, inherited_states, own_states, redistribute
from firesteel.state.live.operator_lists import ListMode, ListSnapshot, OperatorLists

PARALLELISMS = st.integers(1, 5)
CONTENTS = st.lists(st.lists(st.binary(max_size=2), max_size=7), min_size=1, max_size=5)


def saved(version="v", **lists):
    """What a subtask saved: names that begin with u are union lists."""
    mode = {True: ListMode.UNION, False: ListMode.SPLIT}
    snapshots = {name: ListSnapshot(mode[name[0] == "u"], None, list(of)) for name, of in lists.items()}
    return OperatorLists(snapshots, version)


def contents(lists, name):
    return [list(subtask.lists[name].elements) for subtask in lists]


def kept(lists, name):
    return [
        snapshot.elements[slice(*snapshot.kept_range)]
        for snapshot in (subtask.lists[name] for subtask in lists)
    ]


def elements(text):
    return [letter.encode() for letter in text]


@pytest.mark.parametrize(
    ("before", "parallelism", "after"),
    [
        (["abc", "d"], 3, ["ab", "c", "d"]),  # Flink: 4 / 3 = 1, the odd one goes to the first
        (["abc", "d"], 1, ["abcd"]),
        (["", "abcde"], 3, ["ab", "cd", "e"]),
        (["a", "b", "c"], 2, ["ab", "c"]),
        (["a"], 3, ["a", "", ""]),
        (["", ""], 3, ["", "", ""]),
    ],
)
def test_a_list_is_cut_into_shares_in_order(before, parallelism, after):
    dealt = redistribute([saved(s=elements(part)) for part in before], parallelism)
    assert contents(dealt, "s") == list(map(elements, after))
    assert all(lists.version is None for lists in dealt)


def test_the_next_list_starts_where_the_odd_elements_of_the_last_ended():
    before = [saved(a=elements("x"), b=elements("yz"), c=elements("w")), saved(a=[], b=[], c=[])]
    dealt = redistribute(before, 3)
    assert contents(dealt, "a") == [[b"x"], [], []]
    assert contents(dealt, "b") == [[], [b"y"], [b"z"]]
    assert contents(dealt, "c") == [[b"w"], [], []]


def test_at_the_same_parallelism_each_subtask_has_its_own_list_back():
    before = [saved("one", s=elements("abc")), saved("two", s=[]), None]
    assert redistribute(before, 3) == before


@pytest.mark.parametrize("parallelism", [1, 2, 3, 4])
def test_every_subtask_has_all_of_a_union_list_in_the_order_of_the_old_subtasks(parallelism):
    dealt = redistribute([saved(u=elements("ba")), saved(u=[]), saved(u=elements("c"))], parallelism)
    assert contents(dealt, "u") == [elements("bac")] * parallelism
    assert all(lists.version is None for lists in dealt)


def test_what_a_subtask_keeps_of_a_union_list_is_what_old_subtasks_brought():
    before = [saved(u=elements(part)) for part in ("ab", "c", "de")]
    assert kept(redistribute(before, 1), "u") == [elements("abcde")]
    assert kept(redistribute(before, 2), "u") == [elements("abc"), elements("de")]
    assert kept(redistribute(before, 3), "u") == [elements("ab"), elements("c"), elements("de")]
    assert kept(redistribute(before, 4), "u") == [elements("ab"), elements("c"), elements("de"), []]


def test_a_union_list_does_not_keep_lists_from_their_subtasks():
    before = [saved(s=elements("ab"), u=elements("x")), saved(s=elements("c"), u=elements("y"))]
    dealt = redistribute(before, 2)
    assert contents(dealt, "s") == [elements("ab"), elements("c")]
    assert contents(dealt, "u") == [elements("xy")] * 2


def test_a_single_subtask_goes_on_with_its_union_list():
    before = [saved("one", u=elements("ab"))]
    assert redistribute(before, 1) == before


def test_an_epochs_plan_holds_a_union_list_once():
    lists = [saved(u=[bytes(1000)]) for _ in range(4)]
    assert len(pickle.dumps(redistribute(lists, 4))) < 2 * len(pickle.dumps(redistribute(lists, 1)))


def test_one_name_for_two_kinds_of_list_is_refused():
    union = OperatorLists({"s": ListSnapshot(ListMode.UNION, None, [])}, "v")
    before = snapshot(saved(s=[]), union)
    with pytest.raises(StateMismatchError, match=r"^map 'm' \(job.py:1\): list state 's' was saved"):
        own_states(before, 3, "map 'm' (job.py:1)")


@given(CONTENTS, PARALLELISMS)
def test_nothing_is_lost_or_doubled_and_shares_are_even(before, parallelism):
    dealt = redistribute([saved(s=part, u=part) for part in before], parallelism)
    everything = [element for part in before for element in part]
    assert [element for part in kept(dealt, "u") for element in part] == everything
    assert [element for part in contents(dealt, "s") for element in part] == everything
    if len(before) != parallelism:
        sizes = [len(part) for part in contents(dealt, "s")]
        assert max(sizes) - min(sizes) <= 1


@given(st.lists(st.integers(), max_size=20), PARALLELISMS, st.data())
def test_dealing_goes_round(numbers, parallelism, data):
    start = data.draw(st.integers(0, parallelism - 1))
    shares, following = deal(numbers, parallelism, start)
    assert [number for share in shares[start:] + shares[:start] for number in share] == numbers
    assert following == (start + len(numbers)) % parallelism


def snapshot(*states):
    blobs = [None if state is None else cloudpickle.dumps(state) for state in states]
    return OperatorSnapshot(
        name="op",
        parallelism=len(blobs),
        watermarks=[],
        operator_state=blobs,
        states={},
        runs=[],
        holds_lists=any(isinstance(state, OperatorLists) for state in states),
    )


@pytest.mark.parametrize(
    ("parallelism", "own", "inherited"),
    [
        (1, {0: "a"}, {0: ["c", "d"]}),
        (2, {0: "a"}, {0: ["c"], 1: ["d"]}),
        (4, {0: "a", 2: "c", 3: "d"}, {}),
        (5, {0: "a", 2: "c", 3: "d"}, {}),
    ],
)
def test_opaque_states_stay_or_are_inherited(parallelism, own, inherited):
    states = snapshot("a", None, "c", "d")
    assert own_states(states, parallelism, "map") == own
    assert inherited_states(states, parallelism) == inherited


def test_lists_are_not_inherited():
    states = snapshot(saved(s=elements("ab")), saved(s=elements("c")))
    assert inherited_states(states, 1) == {}
    assert contents([own_states(states, 1, "map")[0]], "s") == [elements("abc")]

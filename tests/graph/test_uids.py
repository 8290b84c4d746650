"""Stable operator ids."""

from __future__ import annotations

import pytest

from firesteel.common.errors import ProgramError
from firesteel.connectors.collection import CollectionSource
from firesteel.graph import Edge, Location, Node
from firesteel.graph.operations import FilterOp, MapOp, SourceOp
from firesteel.graph.uids import operator_ids

HERE = Location("job.py", 1)


def source(id: int, **changes) -> Node:
    return Node(id, "source", SourceOp(CollectionSource([1])), (), HERE, **changes)


def mapped(id: int, origin: int, **changes) -> Node:
    return Node(
        id, "map", MapOp(str), ((Edge(origin, side_output=changes.pop("side", None)),),), HERE, **changes
    )


def test_ids_are_32_hexadecimal_digits_and_do_not_depend_on_numbers_names_or_parallelism():
    one = operator_ids([source(0), mapped(1, 0)])
    other = operator_ids([source(10), mapped(25, 10, parallelism=3)])
    assert list(one.values()) == list(other.values())
    assert all(len(digits) == 32 and int(digits, 16) >= 0 for digits in one.values())


def test_ids_depend_on_kind_and_upstream():
    kinds = operator_ids([source(0), Node(1, "filter", FilterOp(str), ((Edge(0),),), HERE)])
    assert kinds[1] != operator_ids([source(0), mapped(1, 0)])[1]
    sides = operator_ids([source(0), mapped(1, 0), mapped(2, 0, side="late")])
    assert sides[1] != sides[2]


def test_equal_places_are_told_apart_by_order():
    ids = operator_ids([source(0), mapped(1, 0), mapped(2, 0), mapped(3, 1), mapped(4, 2)])
    assert len(set(ids.values())) == 5


def test_another_branch_changes_nothing():
    alone = operator_ids([source(0), mapped(1, 0)])
    beside = operator_ids([source(0), Node(5, "filter", FilterOp(str), ((Edge(0),),), HERE), mapped(9, 0)])
    assert beside[9] == alone[1]


def test_uid_replaces_the_place_for_the_operator_only():
    plain = operator_ids([source(0), mapped(1, 0), mapped(2, 1)])
    named = operator_ids([source(0), mapped(1, 0, uid="mine"), mapped(2, 1)])
    assert named[1] != plain[1]
    assert named[2] == plain[2]
    moved = operator_ids([source(0), mapped(1, 0), mapped(2, 1, uid="mine")])
    assert moved[2] == named[1]


def test_uid_hash_is_taken_as_it_is():
    assert operator_ids([source(0, uid_hash="AB" * 16)]) == {0: "ab" * 16}
    with pytest.raises(ProgramError, match="32 hexadecimal digits"):
        operator_ids([source(0, uid_hash="xyz")])


def test_collisions_name_both_operations():
    with pytest.raises(ProgramError) as raised:
        operator_ids([source(0), mapped(1, 0, uid="twice"), mapped(2, 0, uid="twice")])
    assert "requires a uid that no other operation has; got 'twice'" in str(raised.value)
    assert str(raised.value).count("map 'map' (job.py:1)") == 2

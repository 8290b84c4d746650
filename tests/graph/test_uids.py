"""Stable operator ids."""

from __future__ import annotations

import pytest

from firesteel.common.errors import ProgramError
from firesteel.connectors.collection import CollectionSource
from firesteel.graph import Edge, Location, Node
from firesteel.graph.nodes import QueryPart
from firesteel.graph.operations import FilterOp, MapOp, ReplicateOp, SourceOp
from firesteel.graph.uids import identities, operator_ids

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


def read(id: int, table: str = "t", text: str = "scan") -> Node:
    return source(id, query_part=QueryPart(text, table))


def part(id: int, origin: int, text: str = "keeps") -> Node:
    return mapped(id, origin, query_part=QueryPart(text))


def stateless(id: int, origin: int, text: str) -> Node:
    return Node(id, "calc", ReplicateOp(), ((Edge(origin),),), HERE, query_part=QueryPart(text))


def test_parts_of_queries_that_keep_nothing_may_come_and_go():
    direct = operator_ids([read(0), part(1, 0)])
    through = operator_ids([read(0), stateless(1, 0, "where v > 1"), stateless(2, 1, "select k"), part(3, 2)])
    assert through[3] == direct[1]


def test_parts_of_queries_have_the_names_of_their_tables():
    ids = [operator_ids([read(0, name), part(1, 0)]) for name in ("t", "u")]
    assert ids[0][0] != ids[1][0]
    assert ids[0][1] != ids[1][1]


def test_digests_tell_parts_of_one_form_apart():
    nodes = [
        read(0),
        *(stateless(1 + side, 0, f"where v > {side}") for side in (0, 1)),
        part(3, 1),
        part(4, 2),
    ]
    found = identities(nodes)
    assert found[3].form == found[4].form
    assert found[3].digest != found[4].digest
    ids = operator_ids(nodes)
    assert ids[3] != ids[4]


def test_digests_do_not_depend_on_what_else_reads_a_table():
    few = identities([read(0, text="scan of k"), part(1, 0)])
    more = identities([read(0, text="scan of k, v"), part(1, 0)])
    assert few == more


def test_stream_programs_have_no_parts_of_queries():
    assert identities([source(0), mapped(1, 0)]) == {}

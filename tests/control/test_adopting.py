"""The parts of a query that an earlier version of it had."""

from __future__ import annotations

from firesteel.checkpoint.manifest import Manifest, OperatorSnapshot
from firesteel.common.identities import PartIdentity
from firesteel.connectors.collection import CollectionSource
from firesteel.control.adopting import adopted
from firesteel.graph import Edge, Graph, Location, Node
from firesteel.graph.nodes import QueryPart
from firesteel.graph.operations import MapOp, ReplicateOp, SourceOp

HERE = Location("job.py", 1)


def program(*filters: str) -> Graph:
    """Return a program with a part of one form behind each of some filters."""
    nodes = [Node(0, "scan", SourceOp(CollectionSource([1])), (), HERE, query_part=QueryPart("scan", "t"))]
    for text in filters:
        below, last = len(nodes), len(nodes) + 1
        nodes.append(Node(below, "calc", ReplicateOp(), ((Edge(0),),), HERE, query_part=QueryPart(text)))
        kept = Node(last, text, MapOp(str), ((Edge(below),),), HERE, query_part=QueryPart("keeps"))
        nodes.append(kept)
    return Graph(tuple(nodes))


def stopped(graph: Graph) -> Manifest:
    """Return a manifest of a program."""
    operators = {
        graph.operator_ids[node.id]: OperatorSnapshot(
            node.name, 1, [], [], {}, [], identity=PartIdentity(*graph.identities[node.id], "")
        )
        for node in graph.nodes
    }
    return Manifest("job", 1, 128, operators, {}, {}, 0, False, 0, "1.0")


def kept(graph: Graph) -> dict[str, str]:
    """Return the ids of the parts behind filters, by their filters."""
    return {
        node.name: graph.operator_ids[node.id] for node in graph.nodes if isinstance(node.operation, MapOp)
    }


def test_without_state_ids_are_those_of_the_program() -> None:
    graph = program("a", "b")
    assert adopted(graph, None) is graph


def test_the_same_program_has_the_same_ids() -> None:
    graph = program("a", "b")
    assert adopted(graph, stopped(graph)).operator_ids == graph.operator_ids


def test_parts_are_found_in_another_order() -> None:
    first = program("a", "b", "c")
    assert kept(adopted(program("c", "a", "b"), stopped(first))) == kept(first)


def test_a_further_part_gets_an_id_that_nothing_had() -> None:
    first = program("a", "b")
    now = kept(adopted(program("new", "b", "a"), stopped(first)))
    assert {name: now[name] for name in "ab"} == kept(first)
    assert now["new"] not in stopped(first).operators


def test_a_further_part_keeps_its_id_in_the_runs_that_follow() -> None:
    second = adopted(program("new", "b", "a"), stopped(program("a", "b")))
    assert kept(adopted(program("a", "new", "b"), stopped(second))) == kept(second)


def test_the_only_part_of_a_form_may_change() -> None:
    assert kept(adopted(program("b"), stopped(program("a"))))["b"] == kept(program("a"))["a"]


def test_the_only_part_that_changes_is_found() -> None:
    first = program("a", "b")
    assert kept(adopted(program("new", "b"), stopped(first)))["new"] == kept(first)["a"]


def test_a_part_that_could_be_one_of_several_is_none_of_them() -> None:
    before = stopped(program("a", "b"))
    assert not {*kept(adopted(program("c", "d"), before)).values()} & before.operators.keys()
    assert kept(adopted(program("c"), before))["c"] not in before.operators

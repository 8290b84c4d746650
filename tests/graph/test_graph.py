"""The builder and what it freezes."""

from __future__ import annotations

import pytest

from firesteel.common.errors import ProgramError
from firesteel.connectors.collection import CollectionSource
from firesteel.connectors.discard import DiscardingSink
from firesteel.graph import Edge, GraphBuilder, Location, Node
from firesteel.graph.nodes import KeyBy
from firesteel.graph.operations import CoMapOp, MapOp, SinkOp, SourceOp

HERE = Location("job.py", 7)


def add(builder: GraphBuilder, operation, *ports: tuple[Edge, ...], **fields) -> int:
    return builder.add(Node(0, fields.pop("name", operation.kind), operation, ports, HERE, **fields))


def program() -> tuple[GraphBuilder, int]:
    builder = GraphBuilder()
    source = add(builder, SourceOp(CollectionSource([1])), parallelism=1)
    first = add(builder, MapOp(str), (Edge(source),), uid="first")
    second = add(builder, MapOp(str), (Edge(first),))
    keyed = add(builder, MapOp(str), (Edge(second, KeyBy(str)),), chaining="head")
    sink = add(builder, SinkOp(DiscardingSink()), (Edge(keyed),), name="end")
    return builder, sink


def test_only_what_is_reached_is_built_and_sources_alone_are_not_pending():
    builder, sink = program()
    unread = add(builder, SourceOp(CollectionSource([2])))
    aside = add(builder, MapOp(str), (Edge(0),))
    assert [node.id for node in builder.build().nodes] == [0, 1, 2, 3, sink, aside]
    assert [node.id for node in builder.build([sink]).nodes] == [0, 1, 2, 3, sink]
    assert unread not in builder.build().by_id


def test_after_clear_streams_can_be_used_again():
    builder, _ = program()
    builder.clear()
    with pytest.raises(ProgramError, match="requires at least one operation"):
        builder.build()
    again = add(builder, SinkOp(DiscardingSink()), (Edge(2),))
    assert [node.id for node in builder.build().nodes] == [0, 1, 2, again]


def test_operations_are_checked_when_they_are_added():
    builder, _ = program()
    with pytest.raises(
        ProgramError, match=r"map \(job.py:7\) requires a function or a MapFunction; got an int: 5"
    ):
        add(builder, MapOp(5), (Edge(0),))
    with pytest.raises(ProgramError, match="requires a CoMapFunction"):
        add(builder, CoMapOp(str), (Edge(0),), (Edge(0),))
    with pytest.raises(ProgramError, match="requires input from the same environment"):
        add(builder, MapOp(str), (Edge(99),))


def test_replace_changes_the_node():
    builder, _ = program()
    builder.replace(1, name="renamed", parallelism=3)
    assert (builder[1].name, builder[1].parallelism, builder[1].uid) == ("renamed", 3, "first")


def test_views():
    builder, sink = program()
    graph = builder.build()
    assert [node.id for node, _ in graph.sources] == [0]
    assert [node.id for node, _ in graph.sinks] == [sink]
    assert graph.by_id[3].keyed
    assert not graph.by_id[2].keyed
    assert graph.fingerprint == program()[0].build().fingerprint

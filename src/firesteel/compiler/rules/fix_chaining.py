"""Decides which operations are chained with the one before them.

An operation is chained if its only input is forwarded from an operation of the same slot sharing group, and if neither
the job (`disable_operator_chaining`), nor the operation (`disable_chaining`, `start_new_chain`), nor the one before it
(`disable_chaining`) forbids it. Source: Flink's StreamingJobGraphGenerator.isChainable.
"""

from __future__ import annotations

from dataclasses import replace

from firesteel.compiler.settings import PlanSettings
from firesteel.graph import Graph, Node
from firesteel.graph.nodes import Edge, Forward


def fix_chaining(graph: Graph, settings: PlanSettings) -> Graph:
    """Mark the edges within chains."""
    if not settings.chaining:
        return graph
    return graph.map_edges(lambda node, edge: replace(edge, chained=is_chainable(graph, node, edge)))


def is_chainable(graph: Graph, node: Node, edge: Edge) -> bool:
    """Return whether an operation may be chained with the one that an edge comes from."""
    source = graph.by_id[edge.source]
    return (
        len(node.edges) == 1
        and isinstance(edge.partitioning, Forward)
        and source.slot_sharing_group == node.slot_sharing_group
        and source.chaining != "never"
        and node.chaining == "always"
    )

"""Levels: the largest number of exchanges between a source and a node."""

from __future__ import annotations

from firesteel.graph import Graph, Node
from firesteel.graph.nodes import Edge, Forward


def is_exchange(source: Node, node: Node, port: int, edge: Edge) -> bool:
    """Return whether records of this edge move between tasks. They do not if they stay in their subtask, or if there is
    only one. An input that is delivered first always needs an exchange, because its rows are sorted.
    """
    if port == node.operation.first_port:
        return True
    if source.parallelism == node.parallelism == 1:
        return False
    return not isinstance(edge.partitioning, Forward)


def assign_levels(graph: Graph) -> dict[int, int]:
    """Return the level of each node, by node id; inputs come before the nodes that read them."""
    levels: dict[int, int] = {}
    for node in graph.nodes:
        levels[node.id] = max(
            (
                levels[edge.source] + (1 if is_exchange(graph.by_id[edge.source], node, port, edge) else 0)
                for port, edges in enumerate(node.inputs)
                for edge in edges
            ),
            default=0,
        )
    return levels

"""Levels: the largest number of exchanges between a source and a node."""

from __future__ import annotations

from firesteel.graph import Graph, Node
from firesteel.graph.nodes import Edge, Forward


def is_exchange(source: Node, node: Node, port: int, edge: Edge) -> bool:
    """Return whether records of this edge move between tasks. They do not if they stay in their subtask, or if there is
    only one. An input that is delivered first always needs an exchange, because its rows are sorted.
    """
    if port == node.operation.taken_first:
        return True
    if source.parallelism == node.parallelism == 1:
        return False
    return not isinstance(edge.partitioning, Forward)


def assign_levels(graph: Graph) -> dict[int, int]:
    """Return the level of each node, by node id; inputs come before the nodes that read them.

    If a job takes its input at once, sources run as late as they can, for the rows that they meet come first then.
    """
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
    if graph.takes_at_once:
        _delay_sources(graph, levels)
    return levels


def _delay_sources(graph: Graph, levels: dict[int, int]) -> None:
    """Move sources, and what needs no exchange behind them, to the last level that their readers allow."""
    latest: dict[int, int] = {}
    for node in reversed(graph.nodes):
        if levels[node.id] == 0 and node.id in latest:
            levels[node.id] = latest[node.id]
        for port, edges in enumerate(node.inputs):
            for edge in edges:
                moves = is_exchange(graph.by_id[edge.source], node, port, edge)
                allowed = levels[node.id] - (1 if moves else 0)
                latest[edge.source] = min(allowed, latest.get(edge.source, allowed))

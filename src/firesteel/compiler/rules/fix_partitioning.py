"""Edges that the program left open forward if both ends have the same parallelism; otherwise they rebalance.

Source: Flink's StreamGraph.addEdge.
"""

from __future__ import annotations

from dataclasses import replace

from firesteel.common.errors import ProgramError
from firesteel.compiler.settings import PlanSettings
from firesteel.graph import Graph, Node
from firesteel.graph.nodes import Auto, Edge, Forward, Rebalance


def fix_partitioning(graph: Graph, settings: PlanSettings) -> Graph:
    """Decide the open edges. Raises ProgramError for forward() between operations of unequal parallelism."""

    def decided(node: Node, edge: Edge) -> Edge:
        source = graph.by_id[edge.source]
        equal = source.parallelism == node.parallelism
        if isinstance(edge.partitioning, Auto):
            return replace(edge, partitioning=Forward() if equal else Rebalance())
        if isinstance(edge.partitioning, Forward) and not equal:
            raise ProgramError(
                f"requires the parallelism of {source.who} ({source.parallelism}), for forward() joins the two",
                who=node.who,
                got=str(node.parallelism),
                hint="use rebalance() or rescale(), or the same set_parallelism()",
            )
        return edge

    return graph.map_edges(decided)

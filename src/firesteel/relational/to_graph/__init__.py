"""From physical plans to nodes of the graph: an operation for each node, edges for exchanges and unions."""

from firesteel.relational.to_graph.writer import GraphWriter

__all__ = ["GraphWriter"]

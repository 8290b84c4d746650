"""Decides which operations coerce their results to the declared type: those whose results Flink would serialize.

If it can, PyFlink runs a function in the worker of the one before it, and passes objects there unchanged, whatever
their declared types. It can if a function without broadcast state has one reader: a function of one stream without
keys, chained to it, with the same max parallelism. Records of a side output have crossed to Flink and have its type.
Source: Flink's PythonOperatorChainingOptimizer.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from firesteel.compiler.rules.fix_chaining import is_chainable
from firesteel.compiler.settings import PlanSettings
from firesteel.graph import Graph, Node
from firesteel.graph.nodes import Edge
from firesteel.graph.operations import SourceOp


def fix_coercion(graph: Graph, settings: PlanSettings) -> Graph:
    """Mark the operations that coerce their results.

    One that only passes records on coerces if none before it did. A source does not if it makes what its type says.
    """
    del settings  # PyFlink chains functions even where the job's operators are not
    readers = Counter(edge.source for node in graph.nodes for edge in node.edges)
    objects = {
        edge.source
        for node in graph.nodes
        for edge in node.edges
        if readers[edge.source] == 1 and _takes_objects(graph, node, edge)
    }

    def coerces(node: Node) -> bool:
        if node.id in objects or (
            isinstance(node.operation, SourceOp) and node.operation.makes(node.output_type)
        ):
            return False
        return not node.operation.passes_on or any(edge.source in objects for edge in node.edges)

    return graph.map_nodes(lambda node: replace(node, coerces=coerces(node)))


def _takes_objects(graph: Graph, node: Node, edge: Edge) -> bool:
    source = graph.by_id[edge.source]
    return (
        node.operation.takes_objects
        and source.operation.gives_objects
        and edge.side_output is None
        and all(before.side_output is None for before in source.edges)
        and source.max_parallelism == node.max_parallelism
        and is_chainable(graph, node, edge)
    )

"""From the edges of a graph to those of the plan, with the functions that extract keys and choose partitions."""

from __future__ import annotations

from typing import Final

from firesteel.compiler.lower.shipping import declared, shipped
from firesteel.functions.adapt import as_function
from firesteel.functions.elements import KeySelector, Partitioner
from firesteel.graph import Graph, Node
from firesteel.graph.nodes import Custom, Edge, KeyBy, KeyColumns
from firesteel.runtime.columns.keying import KeyColumnsEdge
from firesteel.runtime.plan import Distribution, EdgeSpec
from firesteel.runtime.rows.keying import KeyByEdge, PartitionEdge

_DISTRIBUTIONS: Final = {kind.value: kind for kind in Distribution}


def lower_edges(graph: Graph, levels: dict[int, int]) -> list[EdgeSpec]:
    """Return the edges of the plan, in the order of the nodes that they enter."""
    index_of = {node.id: index for index, node in enumerate(graph.nodes)}
    specs: list[EdgeSpec] = []
    for node in graph.nodes:
        for port, edges in enumerate(node.inputs):
            for edge in edges:
                source = graph.by_id[edge.source]
                assert source.parallelism is not None
                assert node.parallelism is not None
                assert node.max_parallelism is not None
                specs.append(
                    EdgeSpec(
                        index=len(specs),
                        source=index_of[source.id],
                        target=index_of[node.id],
                        port=port,
                        distribution=_DISTRIBUTIONS[edge.partitioning.label],
                        source_parallelism=source.parallelism,
                        target_parallelism=node.parallelism,
                        max_parallelism=node.max_parallelism,
                        local=levels[source.id] == levels[node.id],
                        chained=edge.chained,
                        who=f"key_by into {node.who}" if isinstance(edge.partitioning, KeyBy) else node.who,
                        side_output=edge.side_output,
                        functions=_functions(edge, node),
                        first=port == node.operation.taken_first,
                    )
                )
    return specs


def _functions(edge: Edge, node: Node) -> bytes | None:
    partitioning, who, targets = edge.partitioning, node.who, node.parallelism
    assert targets is not None
    assert node.max_parallelism is not None
    if isinstance(partitioning, KeyBy):
        who = f"key_by into {who}"
        selector = as_function(partitioning.selector, KeySelector, "get_key", who)
        key_type = declared(partitioning.key_type)
        return shipped(KeyByEdge(selector, key_type, who, targets, node.max_parallelism), who)
    if isinstance(partitioning, KeyColumns):
        return shipped(KeyColumnsEdge(partitioning.columns, targets, node.max_parallelism), who)
    if isinstance(partitioning, Custom):
        partitioner = as_function(partitioning.partitioner, Partitioner, "partition", who)
        selector = as_function(partitioning.selector, KeySelector, "get_key", who)
        return shipped(PartitionEdge(partitioner, selector, who, targets), f"partition_custom into {who}")
    return None

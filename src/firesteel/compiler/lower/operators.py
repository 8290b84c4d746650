"""From a node to an operator of the plan."""

from __future__ import annotations

from typing import Any

from firesteel.common.identities import PartIdentity
from firesteel.compiler.lower.recipe import first_in_batch_mode, in_batch_mode, recipe
from firesteel.compiler.lower.shipping import declared, shipped, shipped_type
from firesteel.graph import Graph, Node
from firesteel.graph.nodes import KeyBy
from firesteel.runtime.plan import OperatorSpec


def lower_operator(graph: Graph, node: Node, index: int, level: int) -> OperatorSpec:
    """Return the operator of a node."""
    operation = node.operation
    keyed = node.keyed or operation.keyed
    factory = recipe(operation, node, graph.batch)
    if graph.batch and keyed and operation.sorts_in_batch:
        factory = in_batch_mode(factory)
    elif graph.batch and operation.first_port is not None:
        factory = first_in_batch_mode(factory, operation.first_port)
    assert node.parallelism is not None
    assert node.max_parallelism is not None
    return OperatorSpec(
        index=index,
        id=graph.operator_ids[node.id],
        name=node.name,
        who=node.who,
        kind=operation.kind,
        level=level,
        parallelism=node.parallelism,
        max_parallelism=node.max_parallelism,
        factory=shipped(factory, node.who),
        output_type=shipped_type(node.output_type, node.who) if node.coerces else None,
        keyed=keyed,
        stateful=keyed or operation.stateful,
        ports=len(node.inputs),
        key_types=_key_types(node),
        identity=_identity(graph, node),
    )


def _key_types(node: Node) -> tuple[dict[str, Any] | None, ...]:
    types: list[dict[str, Any] | None] = []
    for edge in node.edges:
        if isinstance(edge.partitioning, KeyBy):
            key_type = declared(edge.partitioning.key_type)
            schema = None if key_type is None else key_type.schema()
            if schema not in types:
                types.append(schema)
    return tuple(types)


def _identity(graph: Graph, node: Node) -> PartIdentity | None:
    if node.query_part is None:
        return None
    text = "" if node.operation.keeps_nothing else node.query_part.text
    return PartIdentity(*graph.identities[node.id], text)

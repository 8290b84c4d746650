"""Runs the rules and writes the plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

import cloudpickle

from firesteel.common.errors import SerializationError
from firesteel.common.typeinfo import TypeInformation
from firesteel.compiler.levels import assign_levels, is_exchange
from firesteel.compiler.lower import keyed_in_batch_mode, recipe
from firesteel.compiler.rules import RULES, Target, is_batch
from firesteel.functions.adapt import as_function
from firesteel.functions.elements import KeySelector, Partitioner
from firesteel.functions.sink import Sink
from firesteel.functions.source import Source
from firesteel.graph import Graph, Node
from firesteel.graph.nodes import Custom, Edge, KeyBy
from firesteel.graph.operations import (
    AggregateFieldOp,
    BroadcastProcessOp,
    KeyedBroadcastProcessOp,
    ReduceOp,
    SinkOp,
    SourceOp,
    WindowOp,
)
from firesteel.runtime.plan import Distribution, EdgeSpec, OperatorSpec, Plan

_DISTRIBUTIONS: Final = {kind.value: kind for kind in Distribution}


class Settings(Protocol):
    """The part of the job's settings that shapes the plan."""

    @property
    def job_name(self) -> str: ...
    @property
    def parallelism(self) -> int: ...
    @property
    def max_parallelism(self) -> int: ...
    @property
    def runtime_mode(self) -> str: ...
    @property
    def job_parameters(self) -> dict[str, str]: ...
    @property
    def watermark_interval(self) -> int: ...


@dataclass(frozen=True)
class Compiled:
    """A plan, and by operator index the live sources and sinks the driver works with, and the graph's node ids."""

    plan: Plan
    sources: dict[int, Source[Any]]
    sinks: dict[int, Sink[Any]]
    node_of: dict[int, int]


def compile_graph(graph: Graph, settings: Settings) -> Compiled:
    """Compile a graph.

    Raises ProgramError for what is wrong with it and SerializationError naming what cannot be shipped.
    """
    target = Target(
        settings.job_name, settings.parallelism, settings.max_parallelism, str(settings.runtime_mode)
    )
    for rule in RULES:
        graph = rule(graph, target)
    levels = assign_levels(graph)
    index_of = {node.id: index for index, node in enumerate(graph.nodes)}
    batch = is_batch(graph, target)
    operators = tuple(
        _operator(graph, node, index_of[node.id], levels[node.id], batch) for node in graph.nodes
    )
    plan = Plan(
        settings.job_name,
        target.max_parallelism,
        operators,
        tuple(_edges(graph, levels, index_of)),
        dict(settings.job_parameters),
        settings.watermark_interval,
    )
    return Compiled(
        plan,
        {
            index_of[node.id]: node.operation.source
            for node in graph.nodes
            if isinstance(node.operation, SourceOp)
        },
        {
            index_of[node.id]: node.operation.sink
            for node in graph.nodes
            if isinstance(node.operation, SinkOp)
        },
        {index: node_id for node_id, index in index_of.items()},
    )


def _operator(graph: Graph, node: Node, index: int, level: int, batch: bool) -> OperatorSpec:
    operation = node.operation
    keyed = node.keyed or isinstance(operation, WindowOp)
    broadcast = isinstance(operation, BroadcastProcessOp | KeyedBroadcastProcessOp)
    factory = recipe(operation, node, batch)
    if batch and keyed and not isinstance(operation, ReduceOp | AggregateFieldOp):
        factory = keyed_in_batch_mode(factory)
    typed = node.output_type is not None and not node.output_type.is_pickled
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
        factory=_dump(factory, node.who),
        output_type=_dump(node.output_type, node.who) if typed else None,
        keyed=keyed,
        stateful=keyed or broadcast,
        ports=len(node.inputs),
        key_types=_key_types(node),
    )


def _key_types(node: Node) -> tuple[dict[str, Any] | None, ...]:
    types: list[dict[str, Any] | None] = []
    for edges in node.inputs:
        for edge in edges:
            if isinstance(edge.partitioning, KeyBy):
                declared = _declared_key_type(edge.partitioning)
                schema = None if declared is None else declared.schema()
                if schema not in types:
                    types.append(schema)
    return tuple(types)


def _declared_key_type(partitioning: KeyBy) -> TypeInformation | None:
    declared = partitioning.key_type
    return None if declared is None or declared.is_pickled else declared


def _edges(graph: Graph, levels: dict[int, int], index_of: dict[int, int]) -> list[EdgeSpec]:
    by_id = {node.id: node for node in graph.nodes}
    specs: list[EdgeSpec] = []
    for node in graph.nodes:
        for port, edges in enumerate(node.inputs):
            for edge in edges:
                source = by_id[edge.source]
                local = not is_exchange(source, node, edge) and levels[source.id] == levels[node.id]
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
                        local=local,
                        who=f"key_by into {node.who}" if isinstance(edge.partitioning, KeyBy) else node.who,
                        side_output=edge.side_output,
                        functions=_functions(edge, node.who),
                    )
                )
    return specs


def _functions(edge: Edge, who: str) -> bytes | None:
    partitioning = edge.partitioning
    if isinstance(partitioning, KeyBy):
        selector = as_function(partitioning.selector, KeySelector, "get_key", f"key_by into {who}")
        return _dump((selector, _declared_key_type(partitioning)), f"key_by into {who}")
    if isinstance(partitioning, Custom):
        partitioner = as_function(partitioning.partitioner, Partitioner, "partition", who)
        selector = as_function(partitioning.selector, KeySelector, "get_key", who)
        return _dump((partitioner, selector), f"partition_custom into {who}")
    return None


def _dump(value: Any, who: str) -> bytes:
    try:
        dumped: bytes = cloudpickle.dumps(value)
    except Exception as error:
        raise SerializationError(
            "requires functions that can be shipped to the workers",
            who=who,
            got=f"{type(error).__name__}: {error}",
            hint="open connections, locks and files in open(), not where the function is made",
        ) from error
    return dumped

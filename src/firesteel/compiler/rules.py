"""The rules: each turns a graph into one that says more; none knows an engine.

After all of them every node has its parallelism and max parallelism, and every edge says how it spreads
records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from firesteel.common.errors import ProgramError
from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.functions.source import Boundedness
from firesteel.graph import Graph, Node
from firesteel.graph.nodes import Auto, Edge, Forward, Partitioning, Rebalance
from firesteel.graph.operations import SourceOp, TimestampsOp


@dataclass(frozen=True, slots=True)
class Target:
    """What the compiler needs to know of the job's settings."""

    job_name: str
    parallelism: int
    max_parallelism: int
    runtime_mode: str


Rule = Callable[[Graph, Target], Graph]


def require_operators(graph: Graph, target: Target) -> Graph:
    """A program without operators cannot run (Flink: same check)."""
    if not graph.nodes:
        raise ProgramError(
            "No operators defined in streaming topology. Cannot execute.",
            hint="add a source and a sink before execute()",
        )
    return graph


def fix_parallelism(graph: Graph, target: Target) -> Graph:
    """Give every node a parallelism and a max parallelism, and check them."""
    return _map_nodes(graph, lambda node: _with_parallelism(node, target))


def _with_parallelism(node: Node, target: Target) -> Node:
    wanted = node.parallelism
    if isinstance(node.operation, SourceOp):
        fixed = node.operation.source.preferred_parallelism
        wanted = fixed if fixed is not None else wanted
    parallelism = wanted or target.parallelism
    most = node.max_parallelism or target.max_parallelism
    if parallelism > most:
        raise ProgramError(
            f"requires a parallelism of at most its max parallelism {most}",
            who=node.who,
            got=str(parallelism),
            hint="raise it with set_max_parallelism(...) before the job's first run, or lower the parallelism",
        )
    return replace(node, parallelism=parallelism, max_parallelism=most)


def fix_partitioning(graph: Graph, target: Target) -> Graph:
    """Decide edges that the program left open, and check forward ones (Flink: StreamGraph.addEdge)."""
    by_id = {node.id: node for node in graph.nodes}

    def decided(node: Node, edge: Edge) -> Edge:
        source = by_id[edge.source]
        equal = source.parallelism == node.parallelism
        if isinstance(edge.partitioning, Auto):
            chosen: Partitioning = Forward() if equal else Rebalance()
            return replace(edge, partitioning=chosen)
        if isinstance(edge.partitioning, Forward) and not equal:
            raise ProgramError(
                f"requires the parallelism of {source.who} ({source.parallelism}), for forward() joins the two",
                who=node.who,
                got=str(node.parallelism),
                hint="use rebalance() or rescale(), or the same set_parallelism()",
            )
        return edge

    return _map_nodes(
        graph,
        lambda node: replace(
            node, inputs=tuple(tuple(decided(node, edge) for edge in port) for port in node.inputs)
        ),
    )


def apply_runtime_mode(graph: Graph, target: Target) -> Graph:
    """In BATCH mode no watermark is generated before the end of the input (Flink: execution mode docs)."""
    if not is_batch(graph, target):
        return graph

    def without_watermarks(node: Node) -> Node:
        operation = node.operation
        if isinstance(operation, SourceOp | TimestampsOp) and operation.strategy is not None:
            return replace(node, operation=replace(operation, strategy=_only_timestamps(operation.strategy)))
        return node

    return _map_nodes(graph, without_watermarks)


def is_batch(graph: Graph, target: Target) -> bool:
    """Whether the job runs in BATCH mode; AUTOMATIC is BATCH if all sources are bounded."""
    sources = [node for node in graph.nodes if isinstance(node.operation, SourceOp)]
    unbounded = [
        node
        for node in sources
        if isinstance(node.operation, SourceOp)
        and node.operation.source.boundedness is not Boundedness.BOUNDED
    ]
    if target.runtime_mode == "AUTOMATIC":
        return not unbounded
    if target.runtime_mode == "BATCH" and unbounded:
        raise ProgramError(
            "requires bounded sources only",
            who="runtime mode BATCH",
            got=unbounded[0].who,
            hint="use RuntimeExecutionMode.STREAMING, or bound the source",
        )
    return target.runtime_mode == "BATCH"


def _only_timestamps(strategy: WatermarkStrategy) -> WatermarkStrategy:
    plain = WatermarkStrategy.no_watermarks()
    assigner = strategy.timestamp_assigner
    return plain if assigner is None else plain.with_timestamp_assigner(assigner)


def _map_nodes(graph: Graph, change: Callable[[Node], Node]) -> Graph:
    return replace(graph, nodes=tuple(change(node) for node in graph.nodes))


RULES: Final[tuple[Rule, ...]] = (require_operators, fix_parallelism, fix_partitioning, apply_runtime_mode)
"""All rules, in order."""

"""What a graph looks like, as text for people and as JSON for programs (Flink's execution plan format)."""

from __future__ import annotations

import json
from typing import Any

from firesteel.graph.graph import Graph
from firesteel.graph.nodes import Auto, Edge, Forward, KeyBy, Node, Partitioning, Rebalance
from firesteel.graph.operations import SinkOp, SourceOp


def resolved(edge: Edge, source_parallelism: int, target_parallelism: int) -> Partitioning:
    """Return how the edge spreads records: its partitioning, with Auto decided.

    >>> resolved(Edge(0), 2, 2).label, resolved(Edge(0), 1, 2).label
    ('FORWARD', 'REBALANCE')
    """
    if not isinstance(edge.partitioning, Auto):
        return edge.partitioning
    return Forward() if source_parallelism == target_parallelism else Rebalance()


def explain_text(graph: Graph, parallelism: int = 1) -> str:
    """Describe the graph, a paragraph per node; `parallelism` is the job's.

    A node's line has its number, kind, name, parallelism, its place in the program and what it is pinned to; below it
    stand the edges it reads.
    """
    numbers = {node.id: number for number, node in enumerate(graph.nodes, 1)}
    lines: list[str] = []
    for node in graph.nodes:
        lines.append(_headline(numbers[node.id], node, parallelism))
        for port, edges in enumerate(node.inputs):
            lines.extend(_edge_line(graph, numbers, node, port, edge, parallelism) for edge in edges)
    return "\n".join(lines)


def explain_json(graph: Graph, parallelism: int = 1) -> str:
    """Describe the graph as Flink's execution plan does: a JSON object with the list `nodes`.

    Each has `id`, `type`, `pact`, `contents`, `parallelism` and, unless it is a source, `predecessors`; beyond
    Flink's fields also `operator_id`, `uid`, `location`, `chain` (nodes of one chain exchange records by plain
    calls).
    """
    numbers = {node.id: number for number, node in enumerate(graph.nodes, 1)}
    chained = chains(graph, parallelism)
    nodes = [_as_dict(graph, node, numbers, chained, parallelism) for node in graph.nodes]
    return json.dumps({"nodes": nodes}, indent=2)


def chains(graph: Graph, parallelism: int = 1, chaining: bool = True) -> dict[int, int]:
    """Return the number of the chain each node id belongs to: that of its only input, if the edge is forward.

    `chaining=False` is a job without operator chaining.
    """
    chain: dict[int, int] = {}
    for node in graph.nodes:
        joined = [
            edge.source for edge in node.edges if chaining and _chainable(graph, node, edge, parallelism)
        ]
        alone = len(node.edges) != 1 or not joined
        chain[node.id] = len(set(chain.values())) + 1 if alone else chain[joined[0]]
    return chain


def _chainable(graph: Graph, node: Node, edge: Edge, parallelism: int) -> bool:
    source = graph.by_id[edge.source]
    if node.chaining != "always" or source.chaining == "never":
        return False
    return isinstance(_resolve(source, node, edge, parallelism), Forward)


def _resolve(source: Node, target: Node, edge: Edge, parallelism: int) -> Partitioning:
    return resolved(edge, source.parallelism or parallelism, target.parallelism or parallelism)


def _headline(number: int, node: Node, parallelism: int) -> str:
    marks = [f"parallelism {node.parallelism or parallelism}"]
    if node.uid is not None:
        marks.append(f"uid {node.uid!r}")
    if node.chaining != "always":
        marks.append({"head": "starts a chain", "never": "not chained"}[node.chaining])
    if node.output_type is not None:
        marks.append(f"gives {node.output_type}")
    return f"{number}: {_title(node)} [{', '.join(marks)}] {node.location}"


def _edge_line(
    graph: Graph, numbers: dict[int, int], node: Node, port: int, edge: Edge, parallelism: int
) -> str:
    source = graph.by_id[edge.source]
    line = f"    <- {numbers[edge.source]} {_resolve(source, node, edge, parallelism).label}"
    if isinstance(edge.partitioning, KeyBy) and edge.partitioning.key_type is not None:
        line += f" by {edge.partitioning.key_type}"
    if edge.side_output is not None:
        line += f" side output {edge.side_output!r}"
    return line if len(node.inputs) == 1 else f"{line} (input {port + 1})"


def _title(node: Node) -> str:
    prefix = {SourceOp: "Source: ", SinkOp: "Sink: "}.get(type(node.operation), "")
    return f"{prefix}{node.name}"


def _as_dict(
    graph: Graph, node: Node, numbers: dict[int, int], chained: dict[int, int], parallelism: int
) -> dict[str, Any]:
    pact = {SourceOp: "Data Source", SinkOp: "Data Sink"}.get(type(node.operation), "Operator")
    described: dict[str, Any] = {
        "id": numbers[node.id],
        "type": _title(node),
        "pact": pact,
        "contents": node.description or _title(node),
        "parallelism": node.parallelism or parallelism,
        "operator_id": graph.operator_ids[node.id],
        "uid": node.uid,
        "location": str(node.location),
        "chain": chained[node.id],
    }
    if node.inputs:
        described["predecessors"] = [
            {
                "id": numbers[edge.source],
                "ship_strategy": _resolve(graph.by_id[edge.source], node, edge, parallelism).label,
                "side": "second" if port == 0 else "first",
                **({} if edge.side_output is None else {"side_output": edge.side_output}),
            }
            for port, edges in enumerate(node.inputs)
            for edge in edges
        ]
    return described

"""In BATCH mode no watermark is generated before the end of the input (Flink: "Execution Mode", event time)."""

from __future__ import annotations

from dataclasses import replace

from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.compiler.settings import PlanSettings
from firesteel.graph import Graph, Node
from firesteel.graph.operations import SourceOp, TimestampsOp


def withhold_watermarks(graph: Graph, settings: PlanSettings) -> Graph:
    """Reduce each watermark strategy to its timestamp assigner if the graph runs in BATCH mode."""
    return graph.map_nodes(_without_watermarks) if graph.batch else graph


def _without_watermarks(node: Node) -> Node:
    operation = node.operation
    if isinstance(operation, SourceOp | TimestampsOp) and operation.strategy is not None:
        return replace(node, operation=replace(operation, strategy=_only_timestamps(operation.strategy)))
    return node


def _only_timestamps(strategy: WatermarkStrategy) -> WatermarkStrategy:
    plain = WatermarkStrategy.no_watermarks()
    assigner = strategy.timestamp_assigner
    return plain if assigner is None else plain.with_timestamp_assigner(assigner)

"""AUTOMATIC is BATCH if all sources are bounded; BATCH requires bounded sources (Flink: RuntimeExecutionMode)."""

from __future__ import annotations

from dataclasses import replace

from firesteel.common.errors import ProgramError
from firesteel.compiler.settings import PlanSettings
from firesteel.functions.source import Boundedness
from firesteel.graph import Graph


def fix_runtime_mode(graph: Graph, settings: PlanSettings) -> Graph:
    """Decide whether the graph runs in BATCH mode. Raises ProgramError for BATCH with an unbounded source."""
    unbounded = [
        node for node, operation in graph.sources if operation.source.boundedness is not Boundedness.BOUNDED
    ]
    if settings.runtime_mode == "BATCH" and unbounded:
        raise ProgramError(
            "requires bounded sources only",
            who="runtime mode BATCH",
            got=unbounded[0].who,
            hint="use RuntimeExecutionMode.STREAMING, or a bounded source",
        )
    batch = settings.runtime_mode == "BATCH" or (settings.runtime_mode == "AUTOMATIC" and not unbounded)
    return replace(graph, batch=batch)

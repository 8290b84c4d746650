"""A program without operators cannot run (Flink: StreamExecutionEnvironment, the same message)."""

from __future__ import annotations

from firesteel.common.errors import ProgramError
from firesteel.compiler.settings import PlanSettings
from firesteel.graph import Graph


def require_operators(graph: Graph, settings: PlanSettings) -> Graph:
    """Raise ProgramError for a graph without nodes."""
    if not graph.nodes:
        raise ProgramError(
            "No operators defined in streaming topology. Cannot execute.",
            hint="add a source and a sink before execute()",
        )
    return graph

"""From a graph that has been through all rules to the plan.

Each family of operations has a file with its recipes. Everything that a program passed as a function becomes a function
object here (`firesteel.functions.adapt`), so that the runtime only handles function objects.
"""

from __future__ import annotations

# Imported for the recipes they register.
from firesteel.compiler.lower import columns, connected, endpoints, rows, windows  # noqa: F401
from firesteel.compiler.lower.edges import lower_edges
from firesteel.compiler.lower.operators import lower_operator
from firesteel.compiler.settings import PlanSettings
from firesteel.graph import Graph
from firesteel.runtime.plan import Plan

__all__ = ["lower"]


def lower(graph: Graph, levels: dict[int, int], settings: PlanSettings) -> Plan:
    """Return the plan of a graph; `levels` are by node id. The index of an operator is the place of its node."""
    return Plan(
        settings.job_name,
        settings.max_parallelism,
        tuple(lower_operator(graph, node, place, levels[node.id]) for place, node in enumerate(graph.nodes)),
        tuple(lower_edges(graph, levels)),
        dict(settings.job_parameters),
        settings.watermark_interval,
        settings.state_memory,
    )

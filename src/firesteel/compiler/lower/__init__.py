"""From a graph that has been through all rules to the plan.

Each family of operations has a file with its recipes. Everything that a program passed as a function becomes a function
object here (`firesteel.functions.adapt`), so that the runtime only handles function objects.

The recipes of operations on columns are loaded for the first graph that has any: their operators need packages that
programs without tables do not.
"""

from __future__ import annotations

import importlib
from typing import Final

# Imported for the recipes they register.
from firesteel.compiler.lower import connected, endpoints, patterns, rows, windows  # noqa: F401
from firesteel.compiler.lower.edges import lower_edges
from firesteel.compiler.lower.operators import lower_operator
from firesteel.compiler.settings import PlanSettings
from firesteel.graph import Graph
from firesteel.graph.operations import ColumnOperation, ColumnSinkOp, ColumnSourceOp
from firesteel.runtime.plan import Plan

__all__ = ["lower"]

_ON_COLUMNS: Final = (ColumnOperation, ColumnSinkOp, ColumnSourceOp)


def lower(graph: Graph, levels: dict[int, int], settings: PlanSettings) -> Plan:
    """Return the plan of a graph; `levels` are by node id. The index of an operator is the place of its node."""
    on_columns = any(isinstance(node.operation, _ON_COLUMNS) for node in graph.nodes)
    if on_columns:
        importlib.import_module("firesteel.compiler.lower.columns")
    return Plan(
        settings.job_name,
        settings.max_parallelism,
        tuple(lower_operator(graph, node, place, levels[node.id]) for place, node in enumerate(graph.nodes)),
        tuple(lower_edges(graph, levels)),
        dict(settings.job_parameters),
        settings.watermark_interval,
        settings.state_memory,
        on_columns,
        settings.latency_interval,
        graph.takes_at_once,
    )

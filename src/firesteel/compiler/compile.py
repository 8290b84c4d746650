"""Runs the rules and writes the plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from firesteel.compiler.levels import assign_levels
from firesteel.compiler.lower import lower
from firesteel.compiler.rules import RULES
from firesteel.compiler.settings import PlanSettings
from firesteel.functions.sink import Sink
from firesteel.functions.source import Source
from firesteel.graph import Graph
from firesteel.runtime.plan import Plan


@dataclass(frozen=True)
class Compiled:
    """A plan, and the graph after all rules from which it was made.

    The node at place `i` of `graph.nodes` is the operator `i` of the plan. `sources` and `sinks` are the objects that
    the driver works with, by operator index.
    """

    graph: Graph
    plan: Plan

    @property
    def sources(self) -> dict[int, Source[Any]]:
        """The sources by operator index."""
        index_of = self.index_of
        return {index_of[node.id]: operation.source for node, operation in self.graph.sources}

    @property
    def sinks(self) -> dict[int, Sink[Any]]:
        """The sinks by operator index."""
        index_of = self.index_of
        return {index_of[node.id]: operation.sink for node, operation in self.graph.sinks}

    @property
    def index_of(self) -> dict[int, int]:
        """The operator index of each node id."""
        return {node.id: index for index, node in enumerate(self.graph.nodes)}


def compile_graph(graph: Graph, settings: PlanSettings) -> Compiled:
    """Compile a graph.

    Raises ProgramError for errors in it, and SerializationError, which names the operation, for functions that cannot
    be pickled.
    """
    for rule in RULES:
        graph = rule(graph, settings)
    return Compiled(graph, lower(graph, assign_levels(graph), settings))

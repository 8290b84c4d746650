"""An operation without a slot sharing group gets that of its inputs if they agree, otherwise the default one.

Source: Flink's StreamGraphGenerator.determineSlotSharingGroup.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from firesteel.compiler.settings import PlanSettings
from firesteel.graph import Graph

DEFAULT: Final = "default"


def share_slots(graph: Graph, settings: PlanSettings) -> Graph:
    """Give every node a slot sharing group."""
    group: dict[int, str] = {}
    for node in graph.nodes:
        inherited = {group[edge.source] for edge in node.edges}
        shared = inherited.pop() if len(inherited) == 1 else DEFAULT
        group[node.id] = node.slot_sharing_group or shared
    return graph.map_nodes(lambda node: replace(node, slot_sharing_group=group[node.id]))

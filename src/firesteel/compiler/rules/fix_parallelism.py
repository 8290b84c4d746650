"""Every operation gets a parallelism and a max parallelism: that of the source, of the operation, or of the job."""

from __future__ import annotations

from dataclasses import replace

from firesteel.common.errors import ProgramError
from firesteel.compiler.settings import PlanSettings
from firesteel.graph import Graph, Node
from firesteel.graph.operations import SourceOp


def fix_parallelism(graph: Graph, settings: PlanSettings) -> Graph:
    """Give every node both. Raises ProgramError if the parallelism is above the max parallelism."""
    return graph.map_nodes(lambda node: _with_parallelism(node, settings))


def own_parallelism(node: Node) -> int | None:
    """Return the parallelism that the source, or else the program, gives an operation; None if the job's applies."""
    fixed = node.operation.source.preferred_parallelism if isinstance(node.operation, SourceOp) else None
    return node.parallelism if fixed is None else fixed


def _with_parallelism(node: Node, settings: PlanSettings) -> Node:
    parallelism = own_parallelism(node) or settings.parallelism
    most = node.max_parallelism or settings.max_parallelism
    if parallelism > most:
        raise ProgramError(
            f"requires a parallelism of at most its max parallelism {most}",
            who=node.who,
            got=str(parallelism),
            hint="raise it with set_max_parallelism(...) before the job's first run, or lower the parallelism",
        )
    return replace(node, parallelism=parallelism, max_parallelism=most)

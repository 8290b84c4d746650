"""Physical plans as text: a tree with its root first, as Flink's `EXPLAIN` draws it."""

from __future__ import annotations

from collections.abc import Sequence

from firesteel.functions.columns.connectors import ChangelogMode
from firesteel.relational.physical.node import PhysicalNode


def tree(plan: PhysicalNode, *, modes: bool = False) -> str:
    """Return a plan, a line for each node; with `modes`, each with its kinds of changes."""
    return "\n".join(_lines(plan, "", "", modes))


def forest(plans: Sequence[PhysicalNode], *, modes: bool = False) -> str:
    """Return several plans, one after another."""
    return "\n\n".join(tree(plan, modes=modes) for plan in plans)


def mode_text(mode: ChangelogMode) -> str:
    """Return the kinds of changes as Flink writes them.

    >>> mode_text(ChangelogMode.upserts())
    'I,UA,D'
    """
    kinds = (("I", True), ("UB", mode.update_before), ("UA", mode.update_after), ("D", mode.delete))
    return ",".join(kind for kind, there in kinds if there)


def node_text(node: PhysicalNode, *, modes: bool = False) -> str:
    """Return a node without its inputs."""
    if not modes:
        return node.text
    mode = f"changelogMode=[{'NONE' if node.is_sink else mode_text(node.mode)}]"
    return f"{node.text[:-1]}, {mode})" if not node.text.endswith("()") else f"{node.text[:-1]}{mode})"


def _lines(node: PhysicalNode, mark: str, margin: str, modes: bool) -> list[str]:
    lines = [f"{mark}{node_text(node, modes=modes)}"]
    *others, last = node.inputs or (None,)
    for below in others:
        assert below is not None
        lines += _lines(below, f"{margin}:- ", f"{margin}:  ", modes)
    if last is not None:
        lines += _lines(last, f"{margin}+- ", f"{margin}   ", modes)
    return lines

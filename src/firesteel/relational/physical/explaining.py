"""Physical plans as text: a tree with its root first, as Flink's `EXPLAIN` draws it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from firesteel.functions.columns.connectors import ChangelogMode
from firesteel.relational.logical.printing import expression_text
from firesteel.relational.physical.grouping import GroupAggregate
from firesteel.relational.physical.node import PhysicalNode

Line = Callable[[PhysicalNode], tuple[str, bool]]
"""Gives the text of a node, and whether its inputs are shown below it."""


_TWO_PHASES: Final = (
    "[ADVICE] You might want to enable local-global two-phase optimization by configuring "
    "('table.optimizer.agg-phase-strategy' to 'AUTO')."
)


def forest(
    plans: Sequence[PhysicalNode], *, modes: bool = False, more: Callable[[PhysicalNode], str] = lambda _: ""
) -> str:
    """Return plans, a line for each node; with `modes`, each with its kinds of changes. `more` ends a line."""
    return _drawn(plans, lambda node: (f"{node_text(node, modes=modes)}{more(node)}", True))


def advised_forest(
    plans: Sequence[PhysicalNode], *, modes: bool = False, more: Callable[[PhysicalNode], str] = lambda _: ""
) -> str:
    """Return plans as `forest` does, and below them what Flink would advise."""

    def line(node: PhysicalNode) -> tuple[str, bool]:
        text = f"{node_text(node, modes=modes)}{more(node)}"
        return (text.replace("(", "(advice=[1], ", 1) if _could_be_two(node) else text), True

    def any_could(node: PhysicalNode) -> bool:
        return _could_be_two(node) or any(map(any_could, node.inputs))

    advice = f"advice[1]: {_TWO_PHASES}" if any(map(any_could, plans)) else "No available advice..."
    return f"{_drawn(plans, line)}\n\n{advice}"


def _could_be_two(node: PhysicalNode) -> bool:
    return isinstance(node, GroupAggregate) and node.phase == "single"


def execution_forest(plans: Sequence[PhysicalNode]) -> str:
    """Return plans as they run: with state, and what has several readers only once.

    Flink marks the first place of such a node with a `reuse_id`, and refers to it by that number afterwards.
    """
    shared = _shared(plans)
    drawn: set[int] = set()

    def line(node: PhysicalNode) -> tuple[str, bool]:
        number = shared.index(node) + 1 if node in shared else None
        if number in drawn:
            return f"Reused(reference_id=[{number}])", False
        if number is None:
            return _with_state(node), True
        drawn.add(number)
        return f"{_with_state(node)}(reuse_id=[{number}])", True

    return _drawn(plans, line)


def mode_text(mode: ChangelogMode) -> str:
    """Return the kinds of changes as Flink writes them.

    >>> mode_text(ChangelogMode.upserts())
    'I,UA,D'
    """
    kinds = (("I", True), ("UB", mode.update_before), ("UA", mode.update_after), ("D", mode.delete))
    return ",".join(kind for kind, there in kinds if there)


def node_text(node: PhysicalNode, *, modes: bool = False) -> str:
    """Return a node without its inputs, with functions before their operands."""
    text = node.described(expression_text)
    if not modes:
        return text
    return _with(text, f"changelogMode=[{'NONE' if node.is_sink else mode_text(node.mode)}]")


def _with_state(node: PhysicalNode) -> str:
    return node.text if node.state is None else _with(node.text, f"state=[{node.state}]")


def _with(text: str, part: str) -> str:
    return f"{text[:-1]}{'' if text.endswith('()') else ', '}{part})"


def _shared(plans: Sequence[PhysicalNode]) -> list[PhysicalNode]:
    """Return the nodes with several readers; not those that are below another one for each of them."""
    seen: list[PhysicalNode] = []
    shared: list[PhysicalNode] = []

    def visit(node: PhysicalNode) -> None:
        if node in seen:
            if node not in shared:
                shared.append(node)
            return
        seen.append(node)
        for below in node.inputs:
            visit(below)

    for plan in plans:
        visit(plan)
    return shared


def _drawn(plans: Sequence[PhysicalNode], line: Line) -> str:
    return "\n\n".join("\n".join(_lines(plan, "", "", line)) for plan in plans)


def _lines(node: PhysicalNode, mark: str, margin: str, line: Line) -> list[str]:
    text, open_ended = line(node)
    lines = [f"{mark}{text}"]
    inputs = node.inputs if open_ended else ()
    for place, below in enumerate(inputs):
        last = place == len(inputs) - 1
        lines += _lines(below, f"{margin}{'+' if last else ':'}- ", f"{margin}{' ' if last else ':'}  ", line)
    return lines

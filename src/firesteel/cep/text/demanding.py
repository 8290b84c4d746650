"""What a part of a condition demands of one field of the event, if it is a comparison of that field with a constant."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from firesteel.cep.text.nodes import Expression, Literal, Operation, Parameter, Path
from firesteel.cep.text.translating import Parameters, Scope
from firesteel.functions.patterns.demands import Demand, Demands

__all__ = ["demand_of", "together"]

_MIRRORED: Final = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The comparisons that can be demands, and what they are if their sides are exchanged."""


def demand_of(question: Expression, scope: Scope, parameters: Parameters) -> Demand | None:
    """Return the demand of a part of a condition; None if it makes none that events can be found by."""
    if not isinstance(question, Operation) or question.operator not in (*_MIRRORED, "in"):
        return None
    operator, (first, *others) = question.operator, question.operands
    if operator in _MIRRORED and not isinstance(first, Path):
        operator, first, others = _MIRRORED[operator], others[0], [first]
    field = _field(first, scope)
    if field is None or not _are_constants(others):
        return None
    return Demand.of(field, operator, tuple(_value(each, parameters) for each in others))


def together(demands: Iterable[Demand | None]) -> Demands:
    """Return what a condition demands whose parts make these demands."""
    parts = [*demands]
    return Demands(tuple(filter(None, parts)), whole=None not in parts)


def _field(node: Expression, scope: Scope) -> str | None:
    """Return the field of the event that is asked about; None if it is something else."""
    if not isinstance(node, Path):
        return None
    if len(node.names) == 2 and node.names[0] == scope.own:
        return node.names[1]
    alone = len(node.names) == 1 and not scope.qualified and node.names[0] not in scope.steps
    return node.names[0] if alone else None


def _are_constants(nodes: Collection[Expression]) -> bool:
    return all(isinstance(node, Literal | Parameter) for node in nodes)


def _value(node: Expression, parameters: Parameters) -> Any:
    return node.value if isinstance(node, Literal) else parameters.value(node)  # type: ignore[arg-type]  # a constant

"""Typed expressions: their parts, and changes of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firesteel.common.logical_types import BigIntType, BooleanType, RowType
from firesteel.relational.expressions import Call, Expression, InputRef, Literal, references, rewritten
from firesteel.relational.logical.nodes import Filter, LogicalNode, Project, UnionAll, Values, transformed

NUMBER = BigIntType()
ROW = RowType.of({"a": NUMBER, "b": NUMBER}, nullable=False)
VALUES = Values(((Literal(NUMBER, 1), Literal(NUMBER, 2)),), ROW)


def plus(left: Expression, right: Expression) -> Call:
    return Call(NUMBER, "+", (left, right))


def test_rewriting_reaches_every_part_and_keeps_what_does_not_change() -> None:
    inner = plus(InputRef(NUMBER, 0), Literal(NUMBER, 5))
    outer = plus(inner, InputRef(NUMBER, 1))
    swapped = rewritten(
        outer, lambda part: replace(part, index=1 - part.index) if isinstance(part, InputRef) else part
    )
    assert list(references(swapped)) == [1, 0]
    assert rewritten(outer, lambda part: part) is outer


def test_a_reference_outside_the_input_is_refused() -> None:
    with pytest.raises(AssertionError):
        Project(VALUES, (InputRef(NUMBER, 2),), ("c",))
    with pytest.raises(AssertionError):
        Filter(VALUES, InputRef(NUMBER, 0))


def test_a_plan_is_transformed_inputs_first() -> None:
    kept = Filter(VALUES, Literal(BooleanType(), True))
    union = UnionAll((kept, VALUES), ROW)
    order: list[str] = []

    def without_filters(node: LogicalNode) -> LogicalNode:
        order.append(type(node).__name__)
        return node.input if isinstance(node, Filter) else node

    assert transformed(union, without_filters) == UnionAll((VALUES, VALUES), ROW)
    assert order == ["Values", "Filter", "Values", "UnionAll"]

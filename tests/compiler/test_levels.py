"""Levels: the longest distance from a source, in exchanges."""

from __future__ import annotations

import pytest

from firesteel.compiler import PlanSettings, compile_graph
from tests.compiler.graph_text import parse


@pytest.mark.parametrize(
    ("text", "parallelism", "levels"),
    [
        ("a: source\nb: map <- a\nc: map <- b HASH\nd: sink <- c", 2, [0, 0, 1, 1]),
        # One subtask to one subtask is no exchange, however records are spread.
        ("a: source\nb: map <- a\nc: map <- b HASH\nd: sink <- c", 1, [0, 0, 0, 0]),
        ("a: source own=1\nb: map <- a\nc: sink <- b GLOBAL", 2, [0, 1, 2]),
        # The longer way counts: an edge may skip levels.
        ("a: source\nb: map <- a HASH\nc: both <- b HASH | a BROADCAST", 2, [0, 1, 2]),
        # A forward edge into a node that another input pushes to a later level.
        ("a: source\nb: source\nc: map <- a, b HASH", 2, [0, 0, 1]),
    ],
)
def test_levels(text: str, parallelism: int, levels: list[int]) -> None:
    plan = compile_graph(parse(text), PlanSettings(parallelism=parallelism)).plan
    assert [operator.level for operator in plan.operators] == levels
    for edge in plan.edges:
        ends = plan.operators[edge.source], plan.operators[edge.target]
        assert edge.local == (ends[0].level == ends[1].level)
        assert ends[0].level <= ends[1].level
        assert not edge.chained or edge.local

"""Calls of the user's functions without those whose results are not read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from firesteel.common.logical_types import RowType
from firesteel.relational.logical.derived import PythonCalc
from firesteel.relational.logical.nodes import LogicalNode


def needed_columns(node: PythonCalc, wanted: frozenset[int]) -> frozenset[int]:
    """Return the columns that are needed for wanted ones: these, and the arguments of calls."""
    needed = {*wanted}
    for place, call in reversed([*enumerate(node.calls, len(node.input.row.fields))]):
        needed |= {*call.arguments} if place in needed else set()
    return frozenset(needed)


def calls_over(
    node: PythonCalc, below: LogicalNode, places: Mapping[int, int], needed: frozenset[int]
) -> tuple[LogicalNode, dict[int, int]]:
    """Return the needed calls over another input, which has columns at other places, and where all columns are."""
    fields, calls, now = [*below.row.fields], [], dict(places)
    for place, call in enumerate(node.calls, len(node.input.row.fields)):
        if place in needed:
            calls.append(replace(call, arguments=tuple(now[one] for one in call.arguments)))
            now[place] = len(fields)
            fields.append(node.row.fields[place])
    if not calls:
        return below, now
    return PythonCalc(below, tuple(calls), RowType(tuple(fields), nullable=False)), now

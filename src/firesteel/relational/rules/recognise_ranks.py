"""A bound on ROW_NUMBER, RANK or DENSE_RANK asks for the first rows of each partition: only they are worked out.

    Filter(n <= 3) over Over(ROW_NUMBER() AS n)  =>  Rank(1 to 3)

In BATCH mode whole partitions are there anyway. Source: Flink's
FlinkLogicalRankRule and RankUtil.
"""

from __future__ import annotations

from typing import Final, get_args

from firesteel.functions.columns.ranks import RankFunction
from firesteel.relational.expressions import Call, Expression, InputRef, Literal
from firesteel.relational.logical.derived import Rank
from firesteel.relational.logical.nodes import Filter, LogicalNode, Over, transformed
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.substitution import all_of, conjuncts

_FUNCTIONS: Final[dict[str, RankFunction]] = {name: name for name in get_args(RankFunction)}
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}

Bounds = tuple[int | None, int | None]
"""The first and the last rank, both included; None: no bound."""


def recognise_ranks(plan: LogicalNode, options: PlanOptions) -> LogicalNode:
    """Replace each filter of a rank by what gives the rows that it keeps."""
    return plan if options.batch else transformed(plan, _recognised)


def _recognised(node: LogicalNode) -> LogicalNode:
    if not isinstance(node, Filter) or not isinstance(node.input, Over):
        return node
    over, width = node.input, len(node.input.input.row.fields)
    if len(over.calls) != 1 or over.calls[0].function not in _FUNCTIONS or not over.order:
        return node
    rest: list[Expression] = []
    start, end = 1, None
    for part in conjuncts(node.condition):
        bounds = _bounds(part, width)
        if bounds is None:
            rest.append(part)
            continue
        low, high = bounds
        start = start if low is None else max(start, low)
        end = high if end is None else end if high is None else min(end, high)
    if end is None:
        return node
    function = _FUNCTIONS[over.calls[0].function]
    rank = Rank(over.input, over.partition, over.order, function, start, end, over.type, place=node.place)
    return Filter(rank, all_of(rest), place=node.place) if rest else rank


def _bounds(part: Expression, column: int) -> Bounds | None:
    """Return what a part of a condition says of the rank in a column; None if it says something else."""
    if not isinstance(part, Call) or part.function not in _MIRRORED:
        return None
    first, second = part.arguments
    sign = part.function
    if isinstance(first, Literal):
        first, second, sign = second, first, _MIRRORED[sign]
    if not (isinstance(first, InputRef) and first.index == column and isinstance(second, Literal)):
        return None
    value = second.value
    if not isinstance(value, int):
        return None
    return {
        "<": (None, value - 1),
        "<=": (None, value),
        ">": (value + 1, None),
        ">=": (value, None),
        "=": (value, value),
    }[sign]

"""A bound on ROW_NUMBER, RANK or DENSE_RANK asks for the first rows of each partition: only they are worked out.

    Filter(n <= 3) over Over(ROW_NUMBER() AS n)  =>  Rank(1 to 3)

The last rank may be that of a column of the partition. In BATCH mode whole partitions are there anyway. Source: Flink's
FlinkLogicalRankRule and RankUtil.
"""

from __future__ import annotations

from typing import Final, get_args

from firesteel.common.logical_types import BigIntType, IntType, SmallIntType, TinyIntType
from firesteel.functions.columns.ranks import RankFunction
from firesteel.relational.expressions import Call, Expression, InputRef, Literal
from firesteel.relational.logical.derived import Rank
from firesteel.relational.logical.nodes import Filter, LogicalNode, Over, transformed
from firesteel.relational.options import PlanOptions
from firesteel.relational.rules.substitution import all_of, conjuncts

_FUNCTIONS: Final[dict[str, RankFunction]] = {name: name for name in get_args(RankFunction)}
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
_LESS: Final = {"<=": 0, "<": -1}
_WHOLE: Final = (TinyIntType, SmallIntType, IntType, BigIntType)

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
    column = None
    if end is None:
        column, end, rest = _end_of_partition(rest, width, over.partition)
    if end is None:
        return node
    function = _FUNCTIONS[over.calls[0].function]
    rank = Rank(
        over.input,
        over.partition,
        over.order,
        function,
        start,
        end,
        over.type,
        place=node.place,
        end_column=column,
    )
    return Filter(rank, all_of(rest), place=node.place) if rest else rank


def _end_of_partition(
    parts: list[Expression], rank: int, partition: tuple[int, ...]
) -> tuple[int | None, int | None, list[Expression]]:
    """Return the column of the partition that says the last rank, what is added to it, and the other parts."""
    for place, part in enumerate(parts):
        comparison = _comparison(part, rank)
        if comparison is None or comparison[0] not in _LESS:
            continue
        sign, column = comparison[0], _uncast(comparison[1])
        if isinstance(column, InputRef) and column.index in partition:
            return column.index, _LESS[sign], [*parts[:place], *parts[place + 1 :]]
    return None, None, parts


def _uncast(value: Expression) -> Expression:
    """Return what a cast from one type of whole numbers to another is of, where all values stay as they are."""
    match value:
        case Call(function="CAST", arguments=(inner,)):
            whole = isinstance(inner.type, _WHOLE) and isinstance(value.type, _WHOLE)
            if whole and _WHOLE.index(type(inner.type)) <= _WHOLE.index(type(value.type)):
                return _uncast(inner)
    return value


def _comparison(part: Expression, column: int) -> tuple[str, Expression] | None:
    """Return how the rank in a column is compared, and with what; None if a part says something else."""
    if not isinstance(part, Call) or part.function not in _MIRRORED:
        return None
    sign, (first, second) = part.function, part.arguments
    if not (isinstance(first, InputRef) and first.index == column):
        first, second, sign = second, first, _MIRRORED[sign]
    return (sign, second) if isinstance(first, InputRef) and first.index == column else None


def _bounds(part: Expression, column: int) -> Bounds | None:
    """Return what a part of a condition says of the rank in a column; None if it says something else."""
    comparison = _comparison(part, column)
    if comparison is None or not isinstance(comparison[1], Literal):
        return None
    sign, value = comparison[0], comparison[1].value
    if not isinstance(value, int):
        return None
    return {
        "<": (None, value - 1),
        "<=": (None, value),
        ">": (value + 1, None),
        ">=": (value, None),
        "=": (value, value),
    }[sign]

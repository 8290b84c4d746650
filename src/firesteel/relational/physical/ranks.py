"""The first rows of each partition: a bound on ROW_NUMBER, RANK or DENSE_RANK; Flink runs it as Top-N or deduplication.

Both take what an OVER window does not: other orders than time, late rows, and updates. So they are refused by name, and
not run as a window whose rows are filtered. Source: FlinkLogicalRankRule, RankUtil.
"""

from __future__ import annotations

from typing import Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.places import errors_at
from firesteel.relational.expressions import Call, Expression, InputRef, references
from firesteel.relational.logical.nodes import Filter, LogicalNode, Over, Project
from firesteel.relational.rules.substitution import conjuncts

_RANKS: Final = frozenset(["ROW_NUMBER", "RANK", "DENSE_RANK"])
_BOUNDS: Final = frozenset(["=", "<", "<=", ">", ">="])


def refuse_ranks(node: LogicalNode, condition: Expression) -> None:
    """Raise UnsupportedError if a condition on the rows of a node bounds their rank within a partition."""
    for part in conjuncts(condition):
        if not isinstance(part, Call) or part.function not in _BOUNDS:
            continue
        for operand, other in (part.arguments, part.arguments[::-1]):
            if not isinstance(operand, InputRef) or operand.index in references(other):
                continue
            function = _rank(node, operand.index)
            if function is not None:
                with errors_at(part.place or condition.place):
                    raise UnsupportedError(
                        f"of {function} is not supported yet in STREAMING mode", who="Top-N and deduplication"
                    )


def _rank(node: LogicalNode, column: int) -> str | None:
    """Return the function that ranks rows in a column of a node, None if none does."""
    match node:
        case Filter():
            return _rank(node.input, column)
        case Project():
            value = node.expressions[column]
            return _rank(node.input, value.index) if isinstance(value, InputRef) else None
        case Over():
            before = len(node.input.row.fields)
            if column < before:
                return _rank(node.input, column)
            function = node.calls[column - before].function
            return function if function in _RANKS else None
    return None

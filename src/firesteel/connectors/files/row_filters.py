"""Which rows of a batch can meet a condition that a source was given, as far as Arrow tells it quickly."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.functions.columns.pushdowns import Comparison, Condition, Junction, Like, NullTest, Operator

_COMPARED: Final[Mapping[Operator, Callable[[pa.Array, pa.Scalar], pa.Array]]] = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def sifted(rows: pa.RecordBatch, condition: Condition) -> pa.RecordBatch:
    """Return the rows without most of those for which a condition is not TRUE.

    Each part of the condition is asked of the rows that are left. They are copied when at least half of them go.

    >>> sifted(pa.record_batch({"n": [1, 2, 3, 4]}), Comparison("n", ">", 3)).column("n").to_pylist()
    [4]
    >>> sifted(pa.record_batch({"n": [1, 2, 3, 4]}), Comparison("n", ">", 1)).num_rows
    4
    """
    kept = None
    for part in _conjuncts(condition):
        found = rows_that_may_meet(part, dict(zip(rows.schema.names, rows.columns, strict=True)))
        if found is None:
            continue
        kept = found if kept is None else pc.and_kleene(kept, found)
        if 2 * kept.true_count <= rows.num_rows:
            rows, kept = rows.filter(kept), None
    return rows


def _conjuncts(condition: Condition) -> Iterator[Condition]:
    if isinstance(condition, Junction) and not condition.any_of:
        for part in condition.parts:
            yield from _conjuncts(part)
    else:
        yield condition


def rows_that_may_meet(condition: Condition, columns: Mapping[str, pa.Array]) -> pa.BooleanArray | None:
    """Return for which rows a condition may be TRUE: NULL and FALSE are said of rows for which it is not.

    None if nothing is known. What cannot be told of some part of the condition (a column that is not there, a value
    that its type does not have) is taken to be TRUE. Columns of texts may be dictionaries: then each different text is
    looked at once.

    >>> rows_that_may_meet(Comparison("n", ">", 1), {"n": pa.array([1, 2, None])}).to_pylist()
    [False, True, None]
    >>> rows_that_may_meet(Comparison("m", ">", 1), {"n": pa.array([1, 2, None])})
    """
    if isinstance(condition, Junction):
        return _joined(condition, columns)
    column = columns.get(condition.column)
    if column is None:
        return None
    if not pa.types.is_dictionary(column.type):
        return _holds(condition, column)
    if isinstance(condition, NullTest):
        return _holds(condition, column.indices)
    of_values = _holds(condition, column.dictionary)
    return None if of_values is None else of_values.take(column.indices)


def _joined(junction: Junction, columns: Mapping[str, pa.Array]) -> pa.BooleanArray | None:
    joined, join = None, pc.or_kleene if junction.any_of else pc.and_kleene
    for part in junction.parts:
        found = rows_that_may_meet(part, columns)
        if found is None and junction.any_of:
            return None
        if found is not None:
            joined = found if joined is None else join(joined, found)
    return joined


def _holds(condition: Comparison | NullTest | Like, column: pa.Array) -> Any:
    if isinstance(condition, NullTest):
        return column.is_valid() if condition.negated else column.is_null()
    if isinstance(condition, Like):
        # What _ stands for is a unit of UTF-16 in Flink, but a character in Arrow.
        is_plain = pa.types.is_string(column.type) and "_" not in condition.pattern
        return pc.match_like(column, condition.pattern) if is_plain else None
    value = _exactly(condition.value, column.type)
    return None if value is None else _COMPARED[condition.operator](column, value)


def _exactly(value: object, kind: pa.DataType) -> pa.Scalar | None:
    """Return a value in the type of a column; None if the type does not have it."""
    try:
        made = pa.scalar(value, kind)
        return made if made.as_py() == value else None
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None

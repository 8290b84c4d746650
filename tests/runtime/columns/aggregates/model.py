"""What aggregate functions give, in plain Python, from all rows of a group in their order."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from typing import Any

from firesteel.common.logical_types import DecimalType, LogicalTypeRoot
from firesteel.functions.columns.aggregates import Aggregation, GroupAggregate

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64}
Row = tuple[Any, ...]


class Model:
    """The rows of a relation in their order."""

    def __init__(self, spec: GroupAggregate) -> None:
        self._spec = spec
        self.rows: list[Row] = []

    def change(self, adds: bool, row: Row) -> None:
        """Add a row, or take back the first one that equals it."""
        if adds:
            self.rows.append(row)
        else:
            self.rows.remove(row)

    def table(self) -> dict[Row, Row]:
        """Return the results by key."""
        groups: dict[Row, list[Row]] = {}
        for row in self.rows:
            groups.setdefault(tuple(row[place] for place in self._spec.keys), []).append(row)
        return {
            key: (*key, *(result(call, rows) for call in self._spec.aggregations))
            for key, rows in groups.items()
        }


def result(call: Aggregation, rows: Sequence[Row]) -> Any:
    """Return the result of a function over some rows."""
    if call.filter is not None:
        rows = [row for row in rows if row[call.filter] is True]
    values = [tuple(row[place] for place in call.arguments) for row in rows]
    if call.function not in ("ARRAY_AGG", "JSON_ARRAYAGG_NULL_ON_NULL", "JSON_OBJECTAGG_NULL_ON_NULL"):
        values = [value for value in values if None not in value]
    if call.distinct or call.function == "APPROX_COUNT_DISTINCT":
        values = [*dict.fromkeys(values)]
    with localcontext(prec=80):
        return _FUNCTIONS[call.function](call, values)


def _wrapped(call: Aggregation, number: int) -> int:
    bits = _BITS[call.type.root.name]
    return (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def _sum(call: Aggregation, values: list[Row]) -> Any:
    if not values:
        return None if call.function == "SUM" else 0
    if call.type.root in (LogicalTypeRoot.DOUBLE, LogicalTypeRoot.FLOAT):
        return math.fsum(value for (value,) in values)
    total = sum(value for (value,) in values)
    if isinstance(call.type, DecimalType):
        return total if abs(total) < Decimal(10) ** (38 - call.type.scale) else None
    return _wrapped(call, total)


def _average(call: Aggregation, values: list[Row]) -> Any:
    if not values:
        return None
    if call.type.root in (LogicalTypeRoot.DOUBLE, LogicalTypeRoot.FLOAT):
        return math.fsum(value for (value,) in values) / len(values)
    total = sum(value for (value,) in values)
    if isinstance(call.type, DecimalType):
        return (total / len(values)).quantize(Decimal(1).scaleb(-call.type.scale), ROUND_HALF_UP)
    total = (total + 2**63) % 2**64 - 2**63
    return int(abs(total) // len(values)) * (1 if total >= 0 else -1)


def _variance(call: Aggregation, values: list[Row]) -> float | None:
    less = call.function.endswith("SAMP")
    if len(values) <= less:
        return None
    mean = math.fsum(value for (value,) in values) / len(values)
    variance = math.fsum((value - mean) ** 2 for (value,) in values) / (len(values) - less)
    return math.sqrt(variance) if call.function.startswith("STDDEV") else variance


def _json(values: list[Row]) -> str:
    return "[" + ",".join(json.dumps(value, ensure_ascii=False) for (value,) in values) + "]"


def _object(values: list[Row]) -> str:
    return (
        "{"
        + ",".join(f"{json.dumps(key)}:{json.dumps(value, ensure_ascii=False)}" for key, value in values)
        + "}"
    )


_FUNCTIONS = {
    "COUNT": lambda call, values: len(values),
    "APPROX_COUNT_DISTINCT": lambda call, values: len(values),
    "SUM": _sum,
    "$SUM0": _sum,
    "AVG": _average,
    "MIN": lambda call, values: min(values)[0] if values else None,
    "MAX": lambda call, values: max(values)[0] if values else None,
    "FIRST_VALUE": lambda call, values: values[0][0] if values else None,
    "LAST_VALUE": lambda call, values: values[-1][0] if values else None,
    "LISTAGG": lambda call, values: (
        (values[0][1] if len(values[0]) > 1 else ",").join(row[0] for row in values) if values else None
    ),
    "COLLECT": lambda call, values: tuple(sorted(Counter(value for (value,) in values).items())),
    "ARRAY_AGG": lambda call, values: tuple(value for (value,) in values) if values else None,
    "JSON_ARRAYAGG_NULL_ON_NULL": lambda call, values: _json(values),
    "JSON_ARRAYAGG_ABSENT_ON_NULL": lambda call, values: _json(values),
    "JSON_OBJECTAGG_NULL_ON_NULL": lambda call, values: _object(values),
    **dict.fromkeys(("VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP"), _variance),
}

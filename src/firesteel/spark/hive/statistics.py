"""What a metastore knows of the values of columns, as the planner has it, and back (Flink: HiveStatsUtil).

Hive has numbers of different values and of NULLs, and bounds of numbers and dates. What it has no form for is not kept:
columns of BOOLEAN, TIMESTAMP and of types with parts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from firesteel.functions.columns.statistics import ColumnStatistics
from firesteel.spark.hive.objects import HiveColumn

_EPOCH: Final = dt.date(1970, 1, 1)
_LENGTHS: Final = (0, 0.0)
"""The longest and the mean length of values, which are not counted."""

_Bound = Callable[[Any], Any]


def _day(found: Any) -> dt.date:
    return _EPOCH + dt.timedelta(days=found.getDaysSinceEpoch())


def _decimal(found: Any) -> Decimal:
    unscaled = int.from_bytes(found.getUnscaled(), "big", signed=True)
    return Decimal(unscaled).scaleb(-found.getScale())


_BOUNDED: Final[Mapping[str, _Bound]] = {
    "LongStats": lambda found: found,
    "DoubleStats": lambda found: found,
    "DecimalStats": _decimal,
    "DateStats": _day,
}
"""How bounds are read, by the kind of statistics."""

_KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "Long"),
    **dict.fromkeys(("float", "double"), "Double"),
    **dict.fromkeys(("string", "varchar", "char"), "String"),
    "decimal": "Decimal",
    "date": "Date",
    "binary": "Binary",
}
"""The kind of statistics by the type of the column."""


def known_of(found: Iterable[Any]) -> dict[str, ColumnStatistics]:
    """Return what is known of columns, by their names; `found` are ColumnStatisticsObj of the JVM."""
    return {one.getColName(): _known(one.getStatsData()) for one in found}


def _known(data: Any) -> ColumnStatistics:
    for kind, bound in _BOUNDED.items():
        if getattr(data, f"isSet{kind}")():
            stats = getattr(data, f"get{kind}")()
            low = bound(stats.getLowValue()) if stats.isSetLowValue() else None
            high = bound(stats.getHighValue()) if stats.isSetHighValue() else None
            return ColumnStatistics(stats.getNumDVs(), low, high, stats.getNumNulls())
    if data.isSetStringStats():
        stats = data.getStringStats()
        return ColumnStatistics(stats.getNumDVs(), nulls=stats.getNumNulls())
    stats = data.getBinaryStats() if data.isSetBinaryStats() else data.getBooleanStats()
    return ColumnStatistics(nulls=stats.getNumNulls())


def statistics_of(
    known: Mapping[str, ColumnStatistics], columns: Sequence[HiveColumn], target: Any, jvm: Any
) -> Any | None:
    """Return statistics for the metastore (ColumnStatistics of the JVM); None if it has a form for nothing of them."""
    api = jvm.org.apache.hadoop.hive.metastore.api
    found = []
    for column in columns:
        kind = _KINDS.get(column.type.partition("(")[0])
        one = known.get(column.name)
        if kind is None or one is None or one.nulls is None or (one.distinct is None and kind != "Binary"):
            continue
        made = getattr(api, f"{kind}ColumnStatsData")(*_counts(kind, one))
        if kind not in ("String", "Binary"):
            if one.low is not None:
                made.setLowValue(_bound(kind, one.low, api))
            if one.high is not None:
                made.setHighValue(_bound(kind, one.high, api))
        data = getattr(api.ColumnStatisticsData, f"{kind.lower()}Stats")(made)
        found.append(api.ColumnStatisticsObj(column.name, column.type, data))
    return api.ColumnStatistics(target, found) if found else None


def _counts(kind: str, known: ColumnStatistics) -> tuple[float, ...]:
    nulls = int(known.nulls or 0)
    if kind == "Binary":
        return (*_LENGTHS, nulls)
    counts = (nulls, int(known.distinct or 0))
    return (*_LENGTHS, *counts) if kind == "String" else counts


def _bound(kind: str, value: Any, api: Any) -> Any:
    if kind == "Date":
        return api.Date((value - _EPOCH).days)
    if kind == "Double":
        return float(value)
    if kind == "Long":
        return int(value)
    scale = max(0, -Decimal(value).as_tuple().exponent)  # type: ignore[operator]
    unscaled = int(Decimal(value).scaleb(scale))
    made = api.Decimal()
    made.setUnscaled(unscaled.to_bytes(unscaled.bit_length() // 8 + 1, "big", signed=True))
    made.setScale(scale)
    return made

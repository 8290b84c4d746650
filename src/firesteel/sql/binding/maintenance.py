"""How a materialised table is kept fresh: its query, how fresh it has to be, and the way to get there.

Source: Flink's IntervalFreshness, MaterializedTableUtils, CatalogMaterializedTable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from sqlglot import exp

from firesteel.common.quantities import duration_ms
from firesteel.sql.binding.places import Text
from firesteel.sql.nodes import IntervalLiteral

RefreshMode = Literal["CONTINUOUS", "FULL"]
RefreshStatus = Literal["ACTIVATED", "SUSPENDED"]

_UNITS: Final = {"SECOND": 1_000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000}
_SCHEDULES: Final = {
    "SECOND": (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30),
    "MINUTE": (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30),
    "HOUR": (1, 2, 3, 4, 6, 8, 12),
    "DAY": (1,),
}
"""The intervals that a schedule can have, as in Flink, which makes cron expressions of them."""

_THRESHOLD: Final = "materialized-table.refresh-mode.freshness-threshold"
_DEFAULTS: Final[Mapping[RefreshMode, tuple[str, str]]] = {
    "CONTINUOUS": ("materialized-table.default-freshness.continuous", "3 min"),
    "FULL": ("materialized-table.default-freshness.full", "1 h"),
}


class Freshness(NamedTuple):
    """By how much a table may lag behind what it is computed of.

    >>> str(Freshness(30, "SECOND")), Freshness(2, "MINUTE").milliseconds
    ("INTERVAL '30' SECOND", 120000)
    """

    amount: int
    unit: str

    @property
    def milliseconds(self) -> int:
        """The interval in milliseconds."""
        return self.amount * _UNITS[self.unit]

    def __str__(self) -> str:
        return f"INTERVAL '{self.amount}' {self.unit}"


@dataclass(frozen=True)
class Maintenance:
    """The query of a materialised table, and how it is kept fresh.

    `columns` are the names of the query's columns. Names in the query are looked up in the catalog and the database of
    `path`; `asterisks` is as in `View`. `asked` is
    the refresh mode that the statement names, if it does; `mode` the one that the table has. `directory` has the state
    of the table's jobs and, unless the table has a connector, its rows.
    """

    query: str
    columns: tuple[str, ...]
    path: tuple[str, str]
    freshness: Freshness
    mode: RefreshMode
    directory: str
    asked: RefreshMode | None = None
    status: RefreshStatus = "ACTIVATED"
    asterisks: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def freshness_and_mode(
    node: exp.Expr | None, asked: RefreshMode | None, options: Mapping[str, str], text: Text
) -> tuple[Freshness, RefreshMode]:
    """Return the freshness and the refresh mode of a statement; what it does not say, the session's options do.

    Raises SqlValidationError for an interval that Flink refuses.
    """
    if node is None:
        mode: RefreshMode = asked or "CONTINUOUS"
        return _of_duration(duration_ms(*_option(options, *_DEFAULTS[mode]))), mode
    freshness = _freshness(node, text)
    threshold = duration_ms(*_option(options, _THRESHOLD, "30 min"))
    mode = asked or ("CONTINUOUS" if freshness.milliseconds < threshold else "FULL")
    if mode == "FULL" and freshness.amount not in _SCHEDULES[freshness.unit]:
        raise text.wrong(
            node,
            f"requires a freshness that a schedule can have in FULL mode: {freshness.unit} of "
            + ", ".join(map(str, _SCHEDULES[freshness.unit])),
            got=str(freshness),
        )
    return freshness, mode


def _freshness(node: exp.Expr, text: Text) -> Freshness:
    assert isinstance(node, IntervalLiteral)
    unit = str(node.args["unit"])
    if unit not in _UNITS or node.args.get("end_unit"):
        shown = f"{unit} TO {node.args['end_unit']}" if node.args.get("end_unit") else unit
        raise text.wrong(node, "requires a freshness in SECOND, MINUTE, HOUR or DAY", got=shown)
    written = node.name
    if node.args.get("negative") or not (written.isascii() and written.isdecimal()) or int(written) == 0:
        sign = "-" if node.args.get("negative") else ""
        raise text.wrong(node, "requires a freshness of a positive whole number", got=f"{sign}{written}")
    return Freshness(int(written), unit)


def _option(options: Mapping[str, str], key: str, default: str) -> tuple[str, str]:
    return key, options.get(key, default)


def _of_duration(milliseconds: int) -> Freshness:
    """Return a duration in the largest unit that gives a whole number.

    >>> str(_of_duration(120_000))
    "INTERVAL '2' MINUTE"
    """
    units = (unit for unit in reversed(_UNITS) if milliseconds % _UNITS[unit] == 0)
    unit = next(units, "SECOND")
    return Freshness(max(milliseconds // _UNITS[unit], 1), unit)

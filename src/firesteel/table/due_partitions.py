"""Which partitions of a materialised table a schedule refreshes: those of the time that has just passed.

The option 'partition.fields.<column>.date-formatter' is a pattern of Java's SimpleDateFormat. At each time of the
schedule, the column has the time of the refresh before it, as the pattern writes it. The plan of a schedule is compiled
once, so it has a text of its own in the place of each such value. Source: Flink's DefaultMaterializedTableLifecycle
(`getPeriodRefreshPartition`), SqlCreateMaterializedTableConverter.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from itertools import takewhile
from typing import Final

import msgspec

from firesteel.common.errors import FiresteelError, ProgramError
from firesteel.common.logical_types import CharType, VarCharType
from firesteel.relational.tables import ResolvedTable
from firesteel.runtime.columns.kernel.functions.simple_dates import formatted
from firesteel.runtime.columns.kernel.functions.vector import ComputeError

_BEGINNING: Final = "partition.fields."
_END: Final = ".date-formatter"
_MOST_SKIPPED: Final = 10_000
"""How many times of a schedule are looked at in one turn, after it was not followed for long."""


class DuePartitions(msgspec.Struct, frozen=True):
    """What a plan has in the place of the values of columns, and by which patterns they are written.

    >>> due = DuePartitions({"ds": "?1", "hour": "?2"}, {"ds": "yyyy-MM-dd", "hour": "HH"})
    >>> due.values(1_704_067_200_000, 3_600_000)
    {'ds': '2023-12-31', 'hour': '23'}
    >>> due.filled("ds = '?1' AND hour = '?2'", {"ds": "2023-12-31", "hour": "23"})
    "ds = '2023-12-31' AND hour = '23'"
    """

    places: dict[str, str]
    patterns: dict[str, str]

    def values(self, due: int, every_ms: int) -> dict[str, str]:
        """Return the values of a time of the schedule, in milliseconds from 1970 (UTC)."""
        return {column: formatted(due - every_ms, pattern) for column, pattern in self.patterns.items()}

    def last_alike(self, due: int, every_ms: int, now: int) -> int:
        """Return the last time until `now`, from one of the schedule on, that has the same values as this one."""
        wanted = self.values(due, every_ms)
        times = range(due, min(now + 1, due + every_ms * _MOST_SKIPPED), every_ms)
        return [*takewhile(lambda time: self.values(time, every_ms) == wanted, times)][-1]

    def filled(self, plan: str, values: Mapping[str, str]) -> str:
        """Return a compiled plan with the values of columns in their places."""
        for column, place in self.places.items():
            plan = plan.replace(place, json.dumps(values[column], ensure_ascii=False)[1:-1])
        return plan


def due_partitions(options: Mapping[str, str]) -> DuePartitions | None:
    """Return what the options of a table say, with new places; None if they say nothing."""
    patterns = date_formatters(options)
    if not patterns:
        return None
    return DuePartitions({column: f"due-{uuid.uuid4().hex}" for column in patterns}, patterns)


def date_formatters(options: Mapping[str, str]) -> dict[str, str]:
    """Return the patterns of partition columns.

    >>> date_formatters({"connector": "filesystem", "partition.fields.ds.date-formatter": "yyyy-MM-dd"})
    {'ds': 'yyyy-MM-dd'}
    """
    return {
        key[len(_BEGINNING) : -len(_END)]: value for key, value in options.items() if is_date_formatter(key)
    }


def is_date_formatter(key: str) -> bool:
    """Return whether an option is the pattern of a partition column."""
    return key.startswith(_BEGINNING) and key.endswith(_END)


def check_date_formatters(table: ResolvedTable, who: str, *, keeps_rows: bool) -> None:
    """Raise ProgramError for the pattern of a column that has no partitions, or is no text, or of a wrong form."""
    for column, pattern in date_formatters(table.options).items():
        who_says = f"{who}: the option '{_BEGINNING}{column}{_END}'"
        if column not in table.partition_keys:
            raise ProgramError(
                "requires a column of PARTITIONED BY",
                who=who_says,
                got=column,
                hint=f"there are {', '.join(table.partition_keys)}" if table.partition_keys else None,
            )
        kind = next(field.type for field in table.row.fields if field.name == column)
        if not isinstance(kind, CharType | VarCharType):
            raise ProgramError(
                "requires a column of CHAR, VARCHAR or STRING", who=who_says, got=f"{column} {kind}"
            )
        if keeps_rows:
            raise ProgramError(
                "requires a table with a connector, whose partitions can be replaced",
                who=who_says,
                got="none",
                hint="'connector' = 'filesystem' has partitions",
            )
        try:
            formatted(0, pattern)
        except (ValueError, ComputeError, FiresteelError) as error:
            raise ProgramError(
                "requires a pattern of times such as 'yyyy-MM-dd'",
                who=who_says,
                got=f"{pattern!r}: {error}",
            ) from None


def check_places(plan: str, due: DuePartitions, who: str) -> None:
    """Raise ProgramError if a compiled plan asks for no value of a column: its query gives a constant."""
    for column, place in due.places.items():
        if place not in plan:
            raise ProgramError(
                "requires a query that gives different values of the column",
                who=f"{who}: the option '{_BEGINNING}{column}{_END}'",
                got=f"a query in which {column} is the same in all rows",
            )

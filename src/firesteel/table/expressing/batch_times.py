"""The time of windows in BATCH mode, which may be any TIMESTAMP there, or a BIGINT of milliseconds.

Source: Flink's AggregateOperationFactory, of the Table API; in SQL a window takes a time attribute alone.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Final

from firesteel.common.logical_types import (
    BigIntType,
    Field,
    LogicalType,
    RowType,
    TimestampKind,
    TimestampType,
)
from firesteel.common.logical_types.temporal import is_time_attribute
from firesteel.relational.expressions import Expression, InputRef, Literal
from firesteel.relational.functions import resolve
from firesteel.relational.functions.parameters import MILLISECONDS
from firesteel.relational.logical.nodes import LogicalNode, Project, Watermark
from firesteel.relational.rules.substitution import refs
from firesteel.table.expressing.tree import Name
from firesteel.table.window import GroupWindow

_TIME: Final = "$time"
_PRECISION: Final = 3


def with_time(plan: LogicalNode, window: GroupWindow) -> tuple[LogicalNode, GroupWindow]:
    """Return the rows with a time attribute for a window, and the window of it; both as they are if it has one."""
    names = plan.row.field_names
    if not isinstance(window.time, Name) or window.time.name not in names:
        return plan, window
    place = names.index(window.time.name)
    kind = plan.row.children[place]
    if isinstance(kind, BigIntType):
        moment = _moment(InputRef(kind, place))
        plan = Project(plan, (*refs(plan.row, range(len(names))), moment), (*names, _TIME))
        return _marked(plan, len(names), moment.type), replace(window, time=Name(_TIME))
    if isinstance(kind, TimestampType) and kind.precision <= _PRECISION and not is_time_attribute(kind):
        return _marked(plan, place, kind), window
    return plan, window


def _moment(milliseconds: Expression) -> Expression:
    """Return the time so many milliseconds after 1970 began."""
    start = Literal(TimestampType(_PRECISION, nullable=False), dt.datetime(1970, 1, 1))
    one = Literal(MILLISECONDS.copy(nullable=False), dt.timedelta(milliseconds=1))
    return resolve("+", (start, resolve("*", (one, milliseconds))))


def _marked(plan: LogicalNode, place: int, kind: LogicalType) -> Watermark:
    assert isinstance(kind, TimestampType)
    fields = list(plan.row.fields)
    fields[place] = Field(fields[place].name, replace(kind, kind=TimestampKind.ROWTIME))
    return Watermark(plan, place, InputRef(kind, place), RowType(tuple(fields), nullable=False))

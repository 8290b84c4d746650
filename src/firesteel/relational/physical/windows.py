"""Where the windows of rows come from, as operators need it."""

from __future__ import annotations

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types import LocalZonedTimestampType, LogicalType, RowType
from firesteel.common.logical_types.temporal import is_proctime, is_time_attribute
from firesteel.functions.columns.windows import WindowAssignment, WindowShape
from firesteel.relational.logical.windows import (
    Attached,
    Cumulate,
    Hop,
    Session,
    Tumble,
    Window,
)
from firesteel.relational.options import PlanOptions


def shape(window: Window) -> WindowShape:
    """Return the windows without the columns that they are found by."""
    match window:
        case Tumble(_, size, offset):
            return WindowShape("tumble", size, size, offset)
        case Hop(_, size, slide, offset):
            return WindowShape("hop", size, slide, offset)
        case Cumulate(_, size, step, offset):
            return WindowShape("cumulate", size, step, offset)
        case Session(_, gap):
            return WindowShape("session", gap, gap)
        case Attached():
            return shape(window.window)
    raise AssertionError(f"the rules replace {window}")


def assignment(window: Window, given: RowType, options: PlanOptions) -> WindowAssignment:
    """Return how rows of the type `given` get their windows.

    Raises ProgramError if the time column is no time attribute and the query runs in STREAMING mode,
    UnsupportedError for groups of sessions by other keys than theirs.
    """
    if isinstance(window, Attached):
        if isinstance(window.window, Session):
            raise UnsupportedError(
                "is not supported yet", who="GROUP BY of the windows of SESSION, with other keys"
            )
        return carried(window, options)
    field = given.fields[window.time]
    if not is_time_attribute(field.type) and not options.batch:
        raise ProgramError(
            "requires the timecol is a time attribute type",
            who="The window function",
            got=f"{field.name} {field.type}",
            hint="declare a WATERMARK for the column, or use a column AS PROCTIME()",
        )
    return WindowAssignment(
        shape(window),
        window.time,
        event_time=not is_proctime(field.type),
        zone=_zone(field.type, options),
    )


def carried(window: Attached, options: PlanOptions) -> WindowAssignment:
    """Return the windows that rows have already."""
    kind = window.time_type
    return WindowAssignment(
        shape(window),
        window.time,
        window.start,
        window.end,
        event_time=not is_proctime(kind),
        zone=_zone(kind, options),
    )


def _zone(time: LogicalType, options: PlanOptions) -> str:
    return options.zone if isinstance(time, LocalZonedTimestampType) else "UTC"

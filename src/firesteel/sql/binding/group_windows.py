"""Windows in GROUP BY: ``TUMBLE(ts, INTERVAL '1' HOUR)``, and ``TUMBLE_START(...)`` and the like in SELECT."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from sqlglot import exp

from firesteel.common.logical_types import LocalZonedTimestampType, LogicalType, TimestampKind, TimestampType
from firesteel.common.logical_types.temporal import is_proctime, is_time_attribute
from firesteel.relational.expressions import Expression, InputRef, Literal
from firesteel.relational.logical.windows import CountHop, CountTumble, Hop, Session, Tumble
from firesteel.sql import nodes
from firesteel.sql.binding.places import Text
from firesteel.sql.binding.values import GroupWindow, WindowProperty

if TYPE_CHECKING:
    from firesteel.sql.binding.expressions import Expressions

_WINDOWS: Final = {"TUMBLE": 1, "HOP": 2, "SESSION": 1}
_PROPERTIES: Final = {
    f"{window}_{part}": (window, part)
    for window in _WINDOWS
    for part in ("START", "END", "ROWTIME", "PROCTIME")
}


def is_window(name: str) -> bool:
    """Return whether a function is a window of GROUP BY."""
    return name in _WINDOWS


def is_property(name: str) -> bool:
    """Return whether a function gives a property of such a window."""
    return name in _PROPERTIES


def bind_group_window(binder: Expressions, node: nodes.Call, kind: str | None = None) -> GroupWindow:
    """Return the window of a call; its time is a place in the row of FROM.

    Raises SqlValidationError for other arguments than a time attribute and the lengths that the window has.
    """
    text, kind = binder.context.text, kind or node.function.upper()
    arguments = list(node.expressions)
    needed = _WINDOWS[kind] + 1
    if len(arguments) == needed + 1:
        raise text.unsupported(arguments[-1], f"an offset of {kind} in GROUP BY")
    if len(arguments) != needed:
        what = (
            "a time attribute, the slide and the size" if kind == "HOP" else "a time attribute and a length"
        )
        raise text.wrong(node, f"requires {what} in {kind}", got=f"{len(arguments)} arguments")
    time = binder.bind(arguments[0])
    if not isinstance(time, InputRef) or not is_time_attribute(time.type):
        raise text.wrong(
            arguments[0],
            f"requires a time attribute in {kind}",
            got=f"a value of {time.type}",
            hint="declare a WATERMARK for the column, or use a column AS PROCTIME()",
        )
    lengths = [length_of(binder, argument, kind) for argument in arguments[1:]]
    if len({rows for rows, _ in lengths}) > 1:
        raise text.wrong(node, f"requires two intervals or two numbers of rows in {kind}")
    return _window(kind, time.index, lengths[0][0], [length for _, length in lengths], node, text)


def _window(kind: str, time: int, rows: bool, lengths: list[int], node: exp.Expr, text: Text) -> GroupWindow:
    if rows:
        if kind == "SESSION":
            raise text.wrong(node, "requires an interval as the gap of SESSION")
        return CountTumble(time, lengths[0]) if kind == "TUMBLE" else CountHop(time, lengths[1], lengths[0])
    if kind == "TUMBLE":
        return Tumble(time, lengths[0])
    return Session(time, lengths[0]) if kind == "SESSION" else Hop(time, lengths[1], lengths[0])


def length_of(binder: Expressions, node: exp.Expr, kind: str) -> tuple[bool, int]:
    """Return whether a length is a number of rows, and the length in rows or milliseconds."""
    value = binder.bind(node)
    found = value.value if isinstance(value, Literal) else None
    if isinstance(found, dt.timedelta) and found > dt.timedelta():
        return False, found // dt.timedelta(milliseconds=1)
    if (
        isinstance(found, int)
        and not isinstance(found, bool)
        and found > 0
        and not isinstance(node, nodes.IntervalLiteral)
    ):
        return True, found
    raise binder.context.text.wrong(
        node,
        f"requires a constant interval of days or smaller units, longer than 0, in {kind}",
        got=str(value.type),
    )


def window_property(binder: Expressions, node: nodes.Call) -> Expression:
    """Return a property of the window in GROUP BY, as for example TUMBLE_START."""
    text = binder.context.text
    name = node.function.upper()
    kind, part = _PROPERTIES[name]
    if not binder.aggregates:
        raise text.wrong(node, f"uses {name} in {binder.clause}, where there is no window")
    window = bind_group_window(replace(binder, aggregates=False, overs=False, aliases={}), node, kind)
    time = binder.scope.types[window.time]
    if part == "ROWTIME" and is_proctime(time):
        raise text.wrong(node, f"requires a window of event time in {name}")
    return WindowProperty(property_type(time, part), window, part)


def property_type(time: LogicalType, part: str) -> LogicalType:
    """Return the type of a property of a window over a time attribute."""
    if part in ("START", "END"):
        return TimestampType(3, nullable=False)
    if part == "PROCTIME":
        return LocalZonedTimestampType(3, TimestampKind.PROCTIME, nullable=False)
    kind = LocalZonedTimestampType if isinstance(time, LocalZonedTimestampType) else TimestampType
    return kind(3, TimestampKind.ROWTIME, nullable=time.nullable)

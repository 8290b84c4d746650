"""Windows of OVER: what they are partitioned and ordered by, and their frames."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple
from typing import Literal as Word

from sqlglot import exp

from firesteel.common.logical_types import LogicalType, LogicalTypeFamily
from firesteel.relational.expressions import Distance, Expression, Frame, Literal
from firesteel.relational.functions.aggregates import ResolvedAggregate
from firesteel.sql.binding.values import OverOrder

if TYPE_CHECKING:
    from firesteel.sql.binding.expressions import Expressions


class OverWindow(NamedTuple):
    """A window of OVER."""

    partition: tuple[Expression, ...]
    order: tuple[OverOrder, ...]
    frame: Frame


def bind_window(binder: Expressions, node: exp.Window, resolved: ResolvedAggregate) -> OverWindow:
    """Return the window of a call.

    Raises SqlValidationError for an unknown name, a frame that means nothing, and a rank without an order.
    """
    text, function = binder.context.text, resolved.function
    parts = _with_named(binder, node)
    partition = tuple(binder.bind(key) for key in parts.get("partition_by") or ())
    order = tuple(bind_order(binder, key) for key in parts["order"].expressions) if "order" in parts else ()
    if function.ordered and not order:
        raise text.wrong(node, f"requires ORDER BY in the window of {function.name}")
    spec = parts.get("spec")
    if spec is None:
        return OverWindow(partition, order, Frame(function.name == "ROW_NUMBER", None))
    if function.ranks:
        raise text.wrong(spec, f"has a frame, which {function.name} cannot have")
    return OverWindow(partition, order, _frame(binder, spec, order))


def bind_order(binder: Expressions, key: exp.Expr) -> OverOrder:
    """Return a key of an order; NULL is the smallest value unless the text says otherwise."""
    ascending = not key.args.get("desc")
    written = key.args.get("nulls_first")
    return OverOrder(binder.bind(key.this), ascending, ascending if written is None else bool(written))


def _with_named(binder: Expressions, node: exp.Window) -> dict[str, exp.Expr]:
    """Return the parts of a window, together with those of the window that it names."""
    text = binder.context.text
    parts = {key: node.args[key] for key in ("partition_by", "order", "spec") if node.args.get(key)}
    name = node.args.get("alias")
    if name is None:
        return parts
    named = binder.windows.get(name.name)
    if named is None:
        known = ", ".join(binder.windows) or None
        raise text.wrong(
            name,
            "requires a window of the WINDOW clause",
            got=name.name,
            hint=known and f"known are: {known}",
        )
    base = _with_named(binder, named)
    twice = next((key for key in parts if key in base or (key == "partition_by")), None)
    if twice is not None:
        word = {"partition_by": "PARTITION BY", "order": "ORDER BY", "spec": "a frame"}[twice]
        raise text.wrong(node, f"has {word}, which belongs into the window {name.name}")
    return {**base, **parts}


def _frame(binder: Expressions, spec: exp.Expr, order: tuple[OverOrder, ...]) -> Frame:
    """Return the frame; without an end it ends with the current row."""
    rows = spec.args["kind"] == "ROWS"
    lower = _bound(binder, spec, "start", rows, order)
    upper = _bound(binder, spec, "end", rows, order) if spec.args.get("end") is not None else 0
    if lower is not None and upper is not None and lower < -upper:
        raise binder.context.text.wrong(spec, "requires a frame that begins before it ends")
    return Frame(rows, lower, upper)


def _bound(
    binder: Expressions, spec: exp.Expr, end: Word["start", "end"], rows: bool, order: tuple[OverOrder, ...]
) -> Distance | None:
    """Return how far a frame reaches at one end, below 0 if it does not reach the current row; None: unbounded."""
    text = binder.context.text
    node, side = spec.args[end], spec.args.get(f"{end}_side")
    outward = "PRECEDING" if end == "start" else "FOLLOWING"
    if node == "CURRENT ROW":
        return 0
    if node == "UNBOUNDED":
        if side != outward:
            raise text.wrong(spec, "requires a frame that begins before it ends")
        return None
    if not order:
        raise text.wrong(spec, "requires ORDER BY in a window with a frame")
    distance = _distance(binder, node, rows, order)
    return distance if side == outward else -distance


def _distance(binder: Expressions, node: exp.Expr, rows: bool, order: tuple[OverOrder, ...]) -> Distance:
    text, distance = binder.context.text, binder.bind(node)
    if not isinstance(distance, Literal):
        raise text.wrong(node, "requires a constant as the beginning of a frame")
    kind, value = order[0].value.type, distance.value
    if not rows and (len(order) > 1 or not _has_distances(kind)):
        raise text.wrong(node, "requires an order by one number or time in a window with RANGE")
    if isinstance(value, dt.timedelta):
        if rows or not kind.has_family(LogicalTypeFamily.DATETIME):
            raise text.wrong(node, "requires a number of rows or of the values that the window is ordered by")
        return value // dt.timedelta(milliseconds=1)
    if not rows and kind.has_family(LogicalTypeFamily.DATETIME):
        raise text.wrong(node, "requires an interval", got=str(value))
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not (whole or (not rows and isinstance(value, float | Decimal))) or value < 0:
        raise text.wrong(node, "requires a number that is not negative", got=str(value))
    found: Distance = value
    return found


def _has_distances(kind: LogicalType) -> bool:
    return kind.has_family(LogicalTypeFamily.NUMERIC) or kind.has_family(LogicalTypeFamily.DATETIME)

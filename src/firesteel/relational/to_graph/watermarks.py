"""The watermark of a table as the operator computes it."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from firesteel.common.quantities import duration_ms
from firesteel.functions.columns.windows import WatermarkAssignment
from firesteel.relational.expressions import Call, Expression, InputRef, Literal
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.connecting import IDLE_TIMEOUT
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import Calc, WatermarkAssigner
from firesteel.relational.physical.scans import TableSourceScan
from firesteel.relational.translation import program


def watermark_assignment(plan: WatermarkAssigner, options: PlanOptions) -> WatermarkAssignment:
    """Return the assignment; a column less a constant interval, the usual one, needs no kernel."""
    idle = None if options.batch else _idle_timeout(plan, options)
    delayed = _delayed(plan.expression)
    if delayed is not None:
        column, delay = delayed
        return WatermarkAssignment(plan.column, column, delay, idle_timeout=idle)
    computed = program(plan.input.row, [plan.expression], ["watermark"], None, options.zone)
    return WatermarkAssignment(plan.column, program=computed, idle_timeout=idle)


class ScannedBySplit(NamedTuple):
    """A scan that makes the watermarks of its splits itself, and what it computes of their rows before (None: nothing).

    A split that is read first does not make the rows of the others late then.
    """

    scan: TableSourceScan
    calc: Calc | None


def scanned_by_split(plan: PhysicalNode, options: PlanOptions) -> ScannedBySplit | None:
    """Return the scan that makes the watermarks of this node, also of computed columns; None if a node must."""
    if options.batch or not isinstance(plan, WatermarkAssigner):
        return None
    calc = plan.input if isinstance(plan.input, Calc) else None
    scan = plan.input if calc is None else calc.input
    return (
        ScannedBySplit(scan, calc) if isinstance(scan, TableSourceScan) and scan.source is not None else None
    )


def _idle_timeout(plan: WatermarkAssigner, options: PlanOptions) -> int | None:
    """Return that of the table, or else that of the session; None if splits never become idle."""
    below: PhysicalNode = plan
    while below.inputs:
        below = below.inputs[0]
    own = below.table.options.get(IDLE_TIMEOUT) if isinstance(below, TableSourceScan) else None
    return options.idle_timeout if own is None else duration_ms(IDLE_TIMEOUT, own) or None


def _delayed(expression: Expression) -> tuple[int, int] | None:
    """Return the column and the milliseconds by which it is ahead of the watermark."""
    match expression:
        case InputRef(index=index):
            return index, 0
        case Call(function="-", arguments=(InputRef(index=index), Literal(value=timedelta() as delay))):
            milliseconds = timedelta(milliseconds=1)
            return (index, delay // milliseconds) if delay % milliseconds == timedelta() else None
        case Call(function="CAST", arguments=(inner,)) if inner.type.root is expression.type.root:
            return _delayed(inner) if _loses_nothing(inner, expression) else None
    return None


def _loses_nothing(inner: Expression, outer: Expression) -> bool:
    precision = getattr(inner.type, "precision", None)
    return precision is not None and precision <= getattr(outer.type, "precision", -1)

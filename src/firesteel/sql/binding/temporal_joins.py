"""`JOIN ... FOR SYSTEM_TIME AS OF`: which time counts, and what must be there for it."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from firesteel.common.logical_types.temporal import AnyTimestampType, is_proctime, is_rowtime
from firesteel.functions.columns.joins import JoinKind
from firesteel.relational.expressions import Expression, InputRef
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.relational.logical.temporal_joins import TEMPORAL_KINDS, TemporalJoin
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.scope import Scope

CLAUSE = "FOR SYSTEM_TIME AS OF"


def version_of(join: exp.Join) -> exp.Version | None:
    """Return the FOR SYSTEM_TIME AS OF of what is joined, if it has one."""
    found = join.this.args.get("version")
    assert found is None or isinstance(found, exp.Version)
    return found


def without_version(item: exp.Expr) -> exp.Expr:
    """Return an item of FROM without its FOR SYSTEM_TIME AS OF."""
    if item.args.get("version") is None:
        return item
    alone = item.copy()
    alone.set("version", None)
    return alone


def refuse_alone(version: exp.Expr, context: Context) -> NoReturn:
    """Raise the error for a FOR SYSTEM_TIME AS OF of a table that is not joined with a left one."""
    if any(True for _ in version.find_all(exp.Column)):
        raise context.text.wrong(
            version,
            f"requires a table to the left of it in {CLAUSE}, whose time attribute it names",
            got="none",
        )
    raise context.text.unsupported(version, f"{CLAUSE} a time that is given, to read a table as it was")


def temporal_join(
    left: LogicalNode,
    scope: Scope,
    right: LogicalNode,
    kind: JoinKind,
    condition: Expression,
    join: exp.Join,
    context: Context,
) -> TemporalJoin:
    """Return the join with the rows that are valid at the time that the join's FOR SYSTEM_TIME AS OF says.

    Raises SqlValidationError for RIGHT and FULL, for a time that is no time attribute of the left table, and for a row
    time if the right table has none of the same type.
    """
    version = version_of(join)
    assert version is not None
    if kind not in TEMPORAL_KINDS:
        raise context.text.wrong(
            join, f"requires INNER JOIN or LEFT JOIN before {CLAUSE}", got=f"{kind} JOIN"
        )
    time = _time(scope, version, context)
    kind_of_time = left.row.fields[time].type
    version_time = None
    if not is_proctime(kind_of_time):
        version_time = _version_time(right, join, context)
        other = right.row.fields[version_time].type
        if other.root is not kind_of_time.root:
            raise context.text.wrong(
                join.this,
                "requires row times of one type in the left table and in the versioned table, which is joined in event "
                "time",
                got=f"{kind_of_time} and {other}",
            )
    return TemporalJoin(left, right, TEMPORAL_KINDS[kind], condition, time, version_time)


def _time(scope: Scope, version: exp.Version, context: Context) -> int:
    """Return the place of the left time attribute."""
    node = version.expression
    found = Expressions(context, scope, CLAUSE).bind(node)
    if not isinstance(found.type, AnyTimestampType):
        raise context.text.wrong(node, f"requires a TIMESTAMP in {CLAUSE}", got=f"a value of {found.type}")
    timed = is_rowtime(found.type) or is_proctime(found.type)
    if not (isinstance(found, InputRef) and timed):
        raise context.text.wrong(
            node,
            f"requires a time attribute of the left table in {CLAUSE}",
            got=f"a value of {found.type}",
            hint="name a column of the left table with a WATERMARK, or one that is PROCTIME()",
        )
    return found.index


def _version_time(right: LogicalNode, join: exp.Join, context: Context) -> int:
    """Return the place of the right row time, which is the first one if there are several, as in Flink."""
    for place, field in enumerate(right.row.fields):
        if is_rowtime(field.type):
            return place
    raise context.text.wrong(
        join.this,
        "requires a primary key and a row time attribute of the versioned table, which is joined in event time",
        got="no row time attribute",
        hint="declare a WATERMARK for its time",
    )

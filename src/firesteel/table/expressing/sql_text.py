"""Expressions as text of SQL, for what is kept as text: computed columns and watermarks of a Schema."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Final

from sqlglot import exp

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import IntType, LogicalType, YearMonthIntervalType
from firesteel.common.logical_types.logical_type import escaped_text
from firesteel.sql import nodes
from firesteel.sql.dialect.flink import Flink
from firesteel.table.expressing.syntax import Syntax
from firesteel.table.expressing.tree import Call, Tree, parts

_LOOSE: Final = (exp.Binary, exp.Unary, exp.Between, exp.In, exp.Case, nodes.IsKind)
"""What needs parentheses within one another."""


def sql_text(tree: Tree, who: str) -> str:
    """Return an expression as SQL that means the same. Raises ProgramError for functions without a name in a catalog.

    >>> from firesteel.table.expressions import col, lit
    >>> print(sql_text(((col("a") + 1) * col("b") - lit("it's")).is_null._tree, "here"))
    (((`a` + 1) * `b`) - 'it''s') IS NULL
    >>> print(sql_text((col("ts") - lit(90).seconds)._tree, "here"))
    `ts` - INTERVAL '0 00:01:30.000' DAY TO SECOND(3)
    """
    for part in parts(tree):
        if isinstance(part, Call) and part.user is not None:
            raise ProgramError(
                "requires functions that a catalog knows, since it is kept as text",
                who=who,
                got=str(part),
                hint='create_temporary_function("f", f) gives it a name for call("f", ...)',
            )
    return _plain(Syntax(who).node(tree), who).sql(dialect=Flink)


def _plain(node: exp.Expr, who: str) -> exp.Expr:
    """Return syntax as the parser makes it of text."""
    for inner in reversed([*node.walk()]):  # parts before what they are parts of
        new = _changed(inner, who)
        if inner is node:
            node = new
        elif new is not inner:
            inner.replace(new)
    for inner in reversed([*node.find_all(*_LOOSE)]):
        if isinstance(inner.parent, _LOOSE) and not isinstance(inner.parent, exp.Paren):
            inner.replace(exp.Paren(this=inner.copy()))
    return node


def _changed(node: exp.Expr, who: str) -> exp.Expr:
    match node:
        case nodes.Constant():
            return _parsed(_constant(node.args.get("value"), node.args["kind"]))
        case nodes.KnownType():
            kind: exp.Expr = _parsed(f"CAST(NULL AS {node.args['kind'].as_serializable_string()})").args["to"]
            return kind
        case nodes.Plus():
            return exp.Add(this=node.this, expression=node.expression)
        case nodes.FieldAt():
            raise ProgramError(
                "requires the name of a field", who=who, got=f"its place, {node.args['place']}"
            )
    return node


def _parsed(text: str) -> exp.Expr:
    found = Flink().parse(text)[0]
    assert found is not None
    return found


def _constant(value: object, kind: LogicalType) -> str:
    if isinstance(kind, YearMonthIntervalType):
        return f"INTERVAL '{value}' MONTH"
    match value:
        case None:
            return f"CAST(NULL AS {kind.copy(True).as_serializable_string()})"
        case bool():
            return str(value).upper()
        case str():
            return escaped_text(value)
        case bytes():
            return f"x'{value.hex()}'"
        case int():
            return str(value) if isinstance(kind, IntType) else f"CAST({value} AS {kind.copy(True)})"
        case Decimal():
            return f"{value:f}"
        case float():
            return f"{value!r}E0" if "e" not in repr(value) else repr(value)
        case dt.datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case dt.time():
            return f"TIME '{value.isoformat()}'"
    assert isinstance(value, dt.timedelta)
    return _span(value)


def _span(value: dt.timedelta) -> str:
    length = abs(value)
    minutes, seconds = divmod(length.seconds, 60)
    clock = f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}.{length.microseconds // 1000:03}"
    return f"INTERVAL {'-' if value < dt.timedelta() else ''}'{length.days} {clock}' DAY TO SECOND(3)"

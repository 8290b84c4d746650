"""TO_CHANGELOG and FROM_CHANGELOG in FROM.

Source: Flink's ToChangelogTypeStrategy and FromChangelogTypeStrategy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from firesteel.common.logical_types import STRING, Field, LogicalTypeFamily, RowType
from firesteel.common.suggestions import suggestion
from firesteel.common.types import RowKind
from firesteel.relational.logical.changelogs import FromChangelog, ToChangelog
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.sql import nodes
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.table_arguments import (
    Arguments,
    Signature,
    column_argument,
    column_name,
    constant_pairs,
    described,
    named_arguments,
    table_argument,
    unordered_keys,
)

_Source = Callable[[exp.Expr, Context], tuple[LogicalNode, tuple[str, ...]]]
_INPUT: Final = "INPUT"
CHANGELOGS: Final = {
    name: Signature(name, (_INPUT,), ("OP", "OP_MAPPING", "ON_TIME", "UID"))
    for name in ("TO_CHANGELOG", "FROM_CHANGELOG")
}
"""The functions by name."""

_KINDS: Final = {kind.name: kind for kind in RowKind}
_OP: Final = "op"
_Pairs = list[tuple[str, str, exp.Expr, exp.Expr]]


def bind_changelog(call: nodes.Call, context: Context, source: _Source) -> LogicalNode:
    """Return the plan of one of the two functions; `source` makes that of its table.

    Raises SqlValidationError for wrong arguments.
    """
    name = call.function.upper()
    arguments = named_arguments(call, CHANGELOGS[name], context)
    table = arguments[_INPUT]
    plan = source(table_argument(table, "input", context), context)[0]
    keys = unordered_keys(table, context)
    if keys:
        raise context.text.wrong(keys[0], f"has PARTITION BY, which {name} cannot have")
    if "ON_TIME" in arguments:
        raise context.text.unsupported(arguments["ON_TIME"], f"on_time of {name}")
    bind = _bind_to if name == "TO_CHANGELOG" else _bind_from
    return bind(plan, arguments, context).at(context.text.place(call))


def _bind_to(plan: LogicalNode, arguments: Arguments, context: Context) -> ToChangelog:
    op = arguments.get("OP")
    name = _OP if op is None else column_name(described(op, "op", context), context)
    if name in plan.row.field_names:
        raise context.text.wrong(
            op or arguments[_INPUT],
            "requires a name for the column of codes that no column of the table has",
            got=name,
            hint="give it another one: op => DESCRIPTOR(code)",
        )
    pairs = _pairs(arguments, context)
    codes = [(kind.name, kind.name) for kind in RowKind] if pairs is None else []
    for kinds, code, place, _ in pairs or ():
        for kind in kinds.split(","):
            codes.append((_kind(kind, place, context).name, code))
            _require_once([known for known, _ in codes], place, context)
    row = RowType((Field(name, STRING), *plan.row.fields), nullable=False)
    return ToChangelog(plan, tuple((_KINDS[kind], code) for kind, code in codes), row)


def _bind_from(plan: LogicalNode, arguments: Arguments, context: Context) -> FromChangelog:
    place = _op_of(plan, arguments, context)
    if len(plan.row.fields) == 1:
        raise context.text.wrong(arguments[_INPUT], "requires another column than that of the codes")
    pairs = _pairs(arguments, context)
    codes = [(kind.name, kind) for kind in RowKind] if pairs is None else []
    seen: list[str] = []
    for given, name, where, value in pairs or ():
        kind = _kind(name, value, context)
        seen.append(kind.name)
        _require_once(seen, value, context)
        for code in given.split(","):
            codes.append((code.strip(), kind))
            _require_once([known for known, _ in codes], where, context)
    kinds = {kind for _, kind in codes}
    if RowKind.UPDATE_AFTER in kinds and RowKind.UPDATE_BEFORE not in kinds:
        raise context.text.wrong(
            arguments["OP_MAPPING"], "requires UPDATE_BEFORE in op_mapping where there is UPDATE_AFTER"
        )
    return FromChangelog(plan, place, tuple(codes))


def _op_of(plan: LogicalNode, arguments: Arguments, context: Context) -> int:
    given = arguments.get("OP")
    names = plan.row.field_names
    if given is None and _OP not in names:
        raise context.text.wrong(
            arguments[_INPUT],
            f"requires a column {_OP!r} with codes",
            got=f"the columns {', '.join(names)}",
            hint="name the column: op => DESCRIPTOR(code)",
        )
    place = (
        names.index(_OP) if given is None else column_argument(described(given, "op", context), plan, context)
    )
    kind = plan.row.fields[place].type
    if not kind.has_family(LogicalTypeFamily.CHARACTER_STRING):
        raise context.text.wrong(
            given or arguments[_INPUT],
            "requires a column of text with the codes",
            got=f"{names[place]} of {kind}",
        )
    return place


def _pairs(arguments: Arguments, context: Context) -> _Pairs | None:
    """Return the pairs of a map of constant texts, with their places; None if it is not given."""
    given = arguments.get("OP_MAPPING")
    if given is None or isinstance(given, nodes.DefaultArgument | exp.Null):
        return None
    return constant_pairs(given, "op_mapping", context)


def _kind(name: str, place: exp.Expr, context: Context) -> RowKind:
    if name.strip() not in _KINDS:
        raise context.text.wrong(
            place,
            "requires the name of a change in op_mapping",
            got=repr(name.strip()),
            hint=suggestion(name.strip(), [*_KINDS]),
        )
    return _KINDS[name.strip()]


def _require_once(names: list[str], place: exp.Expr, context: Context) -> None:
    if len(set(names)) < len(names):
        raise context.text.wrong(
            place, "requires different entries of op_mapping", got=f"{names[-1]!r} twice"
        )

"""Process table functions in FROM: ``f(input => TABLE t PARTITION BY k, on_time => DESCRIPTOR(ts))``.

Source: Flink's SystemTypeInference, which adds the arguments on_time and uid, and the columns around the function's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from sqlglot import exp

from firesteel.common.logical_types import Field, LogicalType, RowType
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.logical_types.casts import supports_implicit_cast
from firesteel.common.logical_types.special import DescriptorType
from firesteel.common.logical_types.temporal import is_rowtime
from firesteel.functions.columns.process_tables import CalledTable
from firesteel.functions.columns.python_functions import PythonProcessTable
from firesteel.functions.columns.sorting import SortColumn
from firesteel.functions.process_tables import ArgumentTrait
from firesteel.relational.expressions import Expression, Literal
from firesteel.relational.functions.function import cast
from firesteel.relational.logical.joins import different_names
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.relational.logical.printing import expression_text
from firesteel.relational.logical.process_tables import ProcessTable
from firesteel.sql import nodes
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.literals import bind_literal
from firesteel.sql.binding.scope import Scope
from firesteel.sql.binding.table_arguments import (
    Arguments,
    Signature,
    column_argument,
    described_columns,
    named_arguments,
    order_keys,
    partition_keys,
    table_argument,
)

_Source = Callable[[exp.Expr, Context], tuple[LogicalNode, tuple[str, ...]]]
_ON_TIME: Final = "ON_TIME"
_UID: Final = "UID"
_DEFAULT: Final = "DEFAULT()"
_UID_FORMAT: Final = re.compile(r"[a-zA-Z_][a-zA-Z_0-9-]*")


def bind_process_table(
    function: PythonProcessTable, call: nodes.Call, context: Context, source: _Source
) -> LogicalNode:
    """Return the plan of a call; `source` makes those of its tables. Raises SqlValidationError for wrong arguments."""
    optional = tuple(name.upper() for name in function.optional)
    names = tuple(name.upper() for name in function.arguments)
    signature = Signature(call.function, names, (_ON_TIME, _UID), frozenset(optional))
    arguments = named_arguments(call, signature, context)
    parts, tables = [], []
    for name, kind in function.arguments.items():
        if isinstance(kind, frozenset):
            argument = arguments[name.upper()]
            plan = source(table_argument(argument, name, context), context)[0]
            parts.append(plan)
            tables.append(_table(name, kind, argument, plan, context))
    if not parts:
        parts.append(source(exp.Select(expressions=[exp.Literal.number(0)]), context)[0])
    _check_keys(tables, call, context)
    timed = _timed(tables, arguments.get(_ON_TIME), function, call, context)
    values = dict(_values(function, arguments, context))
    uid = _uid(call, arguments, context)
    made = ProcessTable(
        function,
        tuple(parts),
        timed,
        tuple((name, cast(value, _type_of(function, name))) for name, value in values.items()),
        uid,
        _row(function, timed),
        _invocation(function, call, timed, values, uid if _is_given(arguments.get(_UID)) else None),
    )
    return made.at(context.text.place(call))


def _type_of(function: PythonProcessTable, name: str) -> LogicalType:
    kind = function.arguments[name]
    assert isinstance(kind, LogicalType)
    return kind


def _is_given(argument: exp.Expr | None) -> bool:
    return argument is not None and not isinstance(argument, nodes.DefaultArgument | exp.Null)


def _table(
    name: str, traits: frozenset[ArgumentTrait], argument: exp.Expr, plan: LogicalNode, context: Context
) -> CalledTable:
    keys = tuple(column_argument(key, plan, context) for key in partition_keys(argument))
    order = tuple(_order(name, argument, plan, context))
    passes = ArgumentTrait.PASS_COLUMNS_THROUGH in traits
    if ArgumentTrait.SET_SEMANTIC_TABLE not in traits:
        if keys or order:
            raise context.text.wrong(argument, f"has PARTITION BY or ORDER BY, which {name} cannot have")
        return CalledTable(name, plan.row, None, passes=passes)
    if not keys and ArgumentTrait.OPTIONAL_PARTITION_BY not in traits:
        raise context.text.wrong(argument, f"requires PARTITION BY behind the table {name}")
    return CalledTable(name, plan.row, keys, passes=passes, order=order)


def _order(name: str, argument: exp.Expr, plan: LogicalNode, context: Context) -> Iterator[SortColumn]:
    """Yield the columns of ORDER BY; NULL is the greatest value unless the text says otherwise, as in Flink here."""
    known: set[int] = set()
    for key in order_keys(argument):
        place = column_argument(key.this, plan, context)
        field = plan.row.fields[place]
        if place in known:
            raise context.text.wrong(key, f"has a column twice in ORDER BY of {name}", got=field.name)
        ascending = not key.args.get("desc")
        written = key.args.get("nulls_first")
        found = SortColumn(place, ascending, not ascending if written is None else bool(written))
        if not known and not is_rowtime(field.type):
            raise context.text.wrong(
                key,
                f"requires an event time as the first column of ORDER BY of {name}, a column with a watermark",
                got=f"{field.name} of {field.type}",
                hint="declare WATERMARK FOR the column",
            )
        if not known and (not ascending or found.nulls_first):
            raise context.text.wrong(
                key, f"requires the ascending order of the first column of ORDER BY of {name}"
            )
        known.add(place)
        yield found


def _check_keys(tables: list[CalledTable], call: exp.Expr, context: Context) -> None:
    """Require keys of the same types of all tables."""
    kinds = [[to_arrow(table.row.fields[key].type) for key in table.keys or ()] for table in tables]
    if any(kind != kinds[0] for kind in kinds[1:]):
        shown = (
            ", ".join(str(table.row.fields[key].type.copy(True)) for key in table.keys or ())
            for table in tables
        )
        raise context.text.wrong(
            call,
            "requires PARTITION BY of as many columns, of the same types, for each table",
            got="; ".join(shown),
        )


def _timed(
    tables: list[CalledTable],
    on_time: exp.Expr | None,
    function: PythonProcessTable,
    call: exp.Expr,
    context: Context,
) -> tuple[CalledTable, ...]:
    """Return the tables with their times."""
    if on_time is None or not _is_given(on_time):
        for table in tables:
            traits = function.arguments[table.argument]
            if isinstance(traits, frozenset) and ArgumentTrait.REQUIRE_ON_TIME in traits:
                raise context.text.wrong(
                    call, f"requires on_time for the table {table.argument}", hint="on_time => DESCRIPTOR(ts)"
                )
        return tuple(tables)
    columns = described_columns(on_time, "on_time", context)
    timed = tuple(_with_time(table, columns, on_time, context) for table in tables)
    used = {table.row.field_names[table.time] for table in timed if table.time is not None}
    unused = next((column for column in columns if column.name not in used), None)
    if unused is not None:
        raise context.text.wrong(unused, "requires a column of a table as on_time", got=unused.name)
    if len({type(table.row.fields[table.time].type) for table in timed if table.time is not None}) > 1:
        raise context.text.wrong(on_time, "requires columns of the same kind of time as on_time")
    return timed


def _with_time(
    table: CalledTable, columns: list[exp.Expr], on_time: exp.Expr, context: Context
) -> CalledTable:
    names = table.row.field_names
    found = [names.index(column.name) for column in columns if column.name in names]
    if len(found) != 1:
        raise context.text.wrong(
            on_time,
            f"requires one column of the table {table.argument} as on_time",
            got=", ".join(column.name for column in columns),
        )
    (time,) = found
    if not is_rowtime(table.row.fields[time].type):
        raise context.text.wrong(
            on_time,
            "requires an event time as on_time, a column with a watermark",
            got=names[time],
            hint="declare WATERMARK FOR the column",
        )
    if table.order and table.order[0].column != time:
        raise context.text.wrong(
            on_time, f"requires the first column of ORDER BY of {table.argument} as on_time", got=names[time]
        )
    return replace(table, time=time)


def _values(
    function: PythonProcessTable, arguments: Arguments, context: Context
) -> Iterator[tuple[str, Expression]]:
    """Yield the other arguments that a call gives, by name."""
    for name, kind in function.arguments.items():
        if isinstance(kind, frozenset):
            continue
        node = arguments.get(name.upper())
        if node is None or isinstance(node, nodes.DefaultArgument):
            if name not in function.optional:
                assert node is not None
                raise context.text.wrong(node, f"requires a value as {name}, which is not optional")
            continue
        if isinstance(kind, DescriptorType):
            yield name, _descriptor(node, name, kind, context)
            continue
        value = Expressions(context, Scope(), f"the argument {name}").bind(node)
        if not _fits(value, kind):
            raise context.text.wrong(node, f"requires a constant of {kind} as {name}", got=str(value.type))
        yield name, value


def _descriptor(node: exp.Expr, name: str, kind: DescriptorType, context: Context) -> Literal:
    """Return the names of columns, whatever tables have such columns."""
    if isinstance(node, exp.Null) and kind.nullable:
        return Literal(kind, None)
    return Literal(kind, tuple(column.name for column in described_columns(node, name, context)))


def _fits(value: Expression, kind: LogicalType) -> bool:
    if isinstance(value, Literal) and value.value is None:
        return kind.nullable
    return supports_implicit_cast(value.type, kind)


def _uid(call: nodes.Call, arguments: Arguments, context: Context) -> str:
    node = arguments.get(_UID)
    if node is None or not _is_given(node):
        name: str = call.args["names"][-1].name
        if _UID_FORMAT.fullmatch(name):
            return name
        raise context.text.wrong(
            call, "requires uid, because the function's name is none", got=name, hint="uid => 'my-id'"
        )
    value = bind_literal(node, context.text)
    text = value.value if isinstance(value, Literal) else None
    if isinstance(text, str) and _UID_FORMAT.fullmatch(text):
        return text
    raise context.text.wrong(
        node, "requires a constant text of letters, digits, _ and -, which begins with a letter or _, as uid"
    )


def _invocation(
    function: PythonProcessTable,
    call: nodes.Call,
    tables: tuple[CalledTable, ...],
    values: Mapping[str, Expression],
    uid: str | None,
) -> str:
    """Return the call as plans show it."""
    shown = []
    for name, kind in function.arguments.items():
        if isinstance(kind, frozenset):
            number = next(place for place, table in enumerate(tables) if table.argument == name)
            shown.append(f"TABLE(#{number}){_clauses(tables[number])}")
        elif name not in values:
            shown.append(_DEFAULT)
        else:
            shown.append(_value_text(values[name]))
    times = dict.fromkeys(table.row.field_names[table.time] for table in tables if table.time is not None)
    shown.append(f"DESCRIPTOR({', '.join(map(repr, times))})" if times else _DEFAULT)
    shown.append(_DEFAULT if uid is None else repr(uid))
    return f"{call.function}({', '.join(shown)})"


def _value_text(value: Expression) -> str:
    if isinstance(value, Literal) and isinstance(value.type, DescriptorType) and value.value is not None:
        return f"DESCRIPTOR({', '.join(map(repr, value.value))})"
    return expression_text(value)


def _clauses(table: CalledTable) -> str:
    keys = ", ".join(f"${key}" for key in table.keys or ())
    pairs = zip(table.order, table.order_by_directions(), strict=True)
    order = ", ".join(f"${key.column} {way.name}" for key, way in pairs)
    return (f" PARTITION BY({keys})" if keys else "") + (f" ORDER BY({order})" if order else "")


def _row(function: PythonProcessTable, tables: tuple[CalledTable, ...]) -> RowType:
    """Return the columns of tables that stay, those of the function, and the time."""
    fields: list[Field] = []
    for table in tables:
        places = range(len(table.row.fields)) if table.passes else table.keys or ()
        fields += [table.row.fields[place] for place in places]
    fields += function.result.fields
    times = [table.row.fields[table.time].type for table in tables if table.time is not None]
    if times:
        fields.append(Field("rowtime", times[0]))
    names = different_names([field.name for field in fields])
    return RowType(
        tuple(Field(name, field.type) for name, field in zip(names, fields, strict=True)), nullable=False
    )

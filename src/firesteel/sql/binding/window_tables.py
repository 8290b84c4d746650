"""Window table functions: ``TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTES)`` in FROM."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Final

from sqlglot import exp

from firesteel.common.logical_types import (
    DayTimeIntervalType,
    Field,
    LocalZonedTimestampType,
    LogicalType,
    RowType,
    TimestampKind,
    TimestampType,
)
from firesteel.common.logical_types.temporal import AnyTimestampType, is_proctime
from firesteel.common.suggestions import suggestion
from firesteel.functions.columns.python_functions import PythonProcessTable
from firesteel.relational.expressions import Literal
from firesteel.relational.logical.nodes import LogicalNode, WindowTable
from firesteel.relational.logical.windows import Cumulate, Hop, Session, Tumble
from firesteel.sql import nodes
from firesteel.sql.binding.changelogs import CHANGELOGS, bind_changelog
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.literals import bind_literal
from firesteel.sql.binding.models import PREDICT, bind_predict
from firesteel.sql.binding.process_tables import bind_process_table
from firesteel.sql.binding.state_tables import STATE_OF
from firesteel.sql.binding.table_arguments import (
    Signature,
    column_argument,
    described,
    named_arguments,
    table_argument,
    unordered_keys,
)
from firesteel.sql.binding.user_functions import user_function
from firesteel.sql.binding.vector_search import SEARCH

_Source = Callable[[exp.Expr, Context], tuple[LogicalNode, tuple[str, ...]]]
_SIGNATURES: Final = {
    "TUMBLE": (("DATA", "TIMECOL", "SIZE"), ("OFFSET",)),
    "HOP": (("DATA", "TIMECOL", "SLIDE", "SIZE"), ("OFFSET",)),
    "CUMULATE": (("DATA", "TIMECOL", "STEP", "SIZE"), ("OFFSET",)),
    "SESSION": (("DATA", "TIMECOL", "GAP"), ()),
}


def is_table_function(name: str) -> bool:
    """Return whether there is a built-in table function of a name."""
    return name.upper() in {*_SIGNATURES, *CHANGELOGS, STATE_OF, PREDICT, SEARCH}


def bind_table_function(call: nodes.Call, context: Context, source: _Source) -> LogicalNode:
    """Return the plan of a table function; `source` makes that of its table.

    Raises SqlValidationError for wrong arguments, SqlUnsupportedError for other table functions.
    """
    name = call.function.upper()
    function = user_function(call, context, built_in=is_table_function(name))
    if isinstance(function, PythonProcessTable):
        return bind_process_table(function, call, context, source)
    if name in CHANGELOGS:
        return bind_changelog(call, context, source)
    if name == PREDICT:
        return bind_predict(call, context, source)
    if name not in _SIGNATURES:
        known = [*_SIGNATURES, *CHANGELOGS, STATE_OF, PREDICT, SEARCH, *context.function_names()]
        raise context.text.unsupported(
            call, f"the table function {call.function}", hint=suggestion(call.function, known)
        )
    arguments = named_arguments(call, Signature(name, *_SIGNATURES[name]), context)
    table = arguments["DATA"]
    plan = source(table_argument(table, "DATA", context), context)[0]
    partition = _partition(table, plan, name, context)
    time = _time(arguments["TIMECOL"], plan, context)
    lengths = {
        key: _length(arguments[key], key, context) for key in arguments if key not in ("DATA", "TIMECOL")
    }
    window = _window(call, name, time, lengths, partition, context)
    return WindowTable(plan, window, _row(plan.row, time), place=context.text.place(call))


def _partition(table: exp.Expr, plan: LogicalNode, name: str, context: Context) -> tuple[int, ...]:
    keys = unordered_keys(table, context)
    if keys and name != "SESSION":
        raise context.text.wrong(
            keys[0], f"has PARTITION BY, which {name} cannot have", hint="group by the columns instead"
        )
    return tuple(column_argument(key, plan, context) for key in keys)


def _time(node: exp.Expr, plan: LogicalNode, context: Context) -> int:
    column = described(node, "TIMECOL", context)
    place = column_argument(column, plan, context)
    kind = plan.row.fields[place].type
    if not isinstance(kind, TimestampType | LocalZonedTimestampType) or kind.precision > 3:
        raise context.text.wrong(
            column,
            "requires a time attribute, which is of TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p from 0 to 3",
            got=f"{column.name} of {kind}",
            hint="declare a WATERMARK for the column, or use a column AS PROCTIME()",
        )
    return place


def _length(node: exp.Expr, key: str, context: Context) -> int:
    value = bind_literal(node, context.text)
    if isinstance(value, Literal) and isinstance(value.type, DayTimeIntervalType):
        length = value.value // dt.timedelta(milliseconds=1)
        if length > 0 or key == "OFFSET":
            return int(length)
    raise context.text.wrong(
        node, f"requires a constant interval of days or smaller units, longer than 0, as {key}"
    )


def _window(
    call: exp.Expr,
    name: str,
    time: int,
    lengths: dict[str, int],
    partition: tuple[int, ...],
    context: Context,
) -> Tumble | Hop | Cumulate | Session:
    offset = lengths.get("OFFSET", 0)
    if name == "SESSION":
        return Session(time, lengths["GAP"], partition)
    size = lengths["SIZE"]
    if abs(offset) >= size:
        raise context.text.wrong(call, f"requires an OFFSET smaller than the SIZE in {name}")
    match name:
        case "TUMBLE":
            return Tumble(time, size, offset)
        case "HOP":
            return Hop(time, size, lengths["SLIDE"], offset)
    if size % lengths["STEP"]:
        raise context.text.wrong(call, "requires a SIZE that is a multiple of the STEP in CUMULATE")
    return Cumulate(time, size, lengths["STEP"], offset)


def _row(given: RowType, time: int) -> RowType:
    """Return the input's columns and those of the window, named differently if the input has these names."""
    bound = TimestampType(3, nullable=False)
    added: list[tuple[str, LogicalType]] = [
        ("window_start", bound),
        ("window_end", bound),
        ("window_time", _time_type(given.fields[time].type)),
    ]
    names = list(given.field_names)
    fields = list(given.fields)
    for name, kind in added:
        free, number = name, 0
        while free in names:
            free, number = f"{name}{number}", number + 1  # as Flink counts them
        names.append(free)
        fields.append(Field(free, kind))
    return RowType(tuple(fields), nullable=False)


def _time_type(kind: LogicalType) -> LogicalType:
    if is_proctime(kind):
        return LocalZonedTimestampType(3, TimestampKind.PROCTIME, nullable=False)
    assert isinstance(kind, AnyTimestampType)
    local = isinstance(kind, LocalZonedTimestampType)
    made = LocalZonedTimestampType if local else TimestampType
    return made(3, TimestampKind.ROWTIME, nullable=False)

"""Logical plans as text: a node a line, inputs below it, in the style of Flink's abstract syntax trees."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any, Final

from firesteel.common.logical_types.logical_type import escaped_text
from firesteel.functions.columns.correlates import Unnest
from firesteel.relational.expressions import (
    AggregateCall,
    Call,
    Distance,
    Expression,
    InputRef,
    Literal,
    OverCall,
    SortKey,
    UserCall,
    references,
)
from firesteel.relational.logical import nodes
from firesteel.relational.logical.changelogs import FromChangelog, ToChangelog
from firesteel.relational.logical.correlates import Correlate
from firesteel.relational.logical.derived import PythonCalc
from firesteel.relational.logical.joins import Join
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.relational.logical.process_tables import ProcessTable
from firesteel.relational.logical.row_patterns import MatchRecognize
from firesteel.relational.logical.temporal_joins import TemporalJoin, Versions
from firesteel.relational.logical.vectors import VectorSearch
from firesteel.relational.logical.windows import (
    Attached,
    CountHop,
    CountTumble,
    Cumulate,
    Hop,
    Session,
    Tumble,
    Window,
)
from firesteel.relational.row_patterns import MatchTime, MatchTimedOut, RowsTotal, RowValue


def plan_text(plan: LogicalNode) -> str:
    """Return a plan as text.

    >>> from firesteel.common.logical_types import BigIntType, RowType
    >>> row = RowType.of({"a": BigIntType()}, nullable=False)
    >>> values = nodes.Values(((Literal(BigIntType(), 7),),), row)
    >>> print(plan_text(nodes.Project(values, (Call(BigIntType(), "-", (InputRef(BigIntType(), 0),)),), ("b",))))
    LogicalProject(b=[-($0)])
    +- LogicalValues(tuples=[[{ 7 }]])
    """
    return "\n".join(_lines(plan))


def _lines(plan: LogicalNode) -> list[str]:
    name = "Sink" if isinstance(plan, nodes.TableSink) else type(plan).__name__
    lines = [f"Logical{name}({_ATTRIBUTES[type(plan)](plan)})"]
    for place, given in enumerate(plan.inputs):
        rail = "   " if place == len(plan.inputs) - 1 else ":  "
        first, *rest = _lines(given)
        lines.append(f"{'+' if place == len(plan.inputs) - 1 else ':'}- {first}")
        lines.extend(f"{rail}{line}" for line in rest)
    return lines


def expression_text(expression: Expression, names: Sequence[str] | None = None) -> str:
    """Return an expression as text: functions before their operands, `$0` for the first column.

    With `names`, columns are called by them.
    """
    match expression:
        case InputRef(index=index):
            return f"${index}" if names is None else names[index]
        case Literal():
            return _literal_text(expression)
        case Call(function="CAST" | "TRY_CAST" as function, arguments=(value,)):
            return f"{function}({expression_text(value, names)}):{expression.type}"
        case Call(function="MINUS_DATE", arguments=(_, *times)):
            return f"-({', '.join(expression_text(time, names) for time in times)})"
        case RowValue() | RowsTotal():
            return _rows_text(expression, names)
        case MatchTimedOut():
            return "MATCH_TIMED_OUT()"
        case MatchTime():
            return f"MATCH_{'ROWTIME' if expression.event_time else 'PROCTIME'}()"
    operands = ", ".join(expression_text(operand, names) for operand in expression.operands)
    if isinstance(expression, UserCall):
        return f"{expression.function.name}({operands})"
    return f"{getattr(expression, 'function', type(expression).__name__)}({operands})"


def _rows_text(value: RowValue | RowsTotal, names: Sequence[str] | None) -> str:
    """Return a value of rows of a match: ``LAST(A.price, 1)``; `*` stands for all rows."""
    rows = value.rows
    variable = "|".join(rows.variables) or "*"
    width = max((place for operand in value.operands for place in references(operand)), default=-1) + 1
    named = [f"{variable}.{f'${place}' if names is None else names[place]}" for place in range(width)]
    operands = ", ".join(expression_text(operand, named) for operand in value.operands)
    if isinstance(value, RowsTotal):
        text = f"{value.function}({operands or (f'{variable}.*' if rows.variables else '*')})"
    elif value.offset or value.first or not rows.variables:
        text = f"{'FIRST' if value.first else 'LAST'}({operands}, {value.offset})"
    else:
        text = operands
    return f"FINAL {text}" if rows.final else text


def _literal_text(literal: Literal) -> str:
    match literal.value:
        case None:
            return f"null:{literal.type.copy(nullable=True)}"
        case bool(value):
            return str(value).lower()
        case str(value):
            return escaped_text(value)
        case bytes(value):
            return f"X'{value.hex()}'"
        case float(value):
            return f"{value!r}:{literal.type.copy(nullable=True)}"
        case dt.timedelta() as value:
            return f"{value // dt.timedelta(milliseconds=1)}:{literal.type.copy(nullable=True)}"
        case value:
            return str(value)


def _call_text(call: AggregateCall | OverCall) -> str:
    distinct = "DISTINCT " if call.distinct else ""
    name = call.function if call.user is None else call.user.name
    text = f"{name}({distinct}{', '.join(f'${index}' for index in call.arguments)})"
    if isinstance(call, AggregateCall):
        if call.order:
            keys = ", ".join(f"{index}{'' if ascending else ' DESC'}" for index, ascending in call.order)
            text += f" WITHIN GROUP ([{keys}])"
        if call.filter is not None:
            text += f" FILTER ${call.filter}"
    else:
        frame = call.frame
        text += f" {frame_text(rows=frame.rows, lower=frame.lower, upper=frame.upper)}"
    return text + (" IGNORE NULLS" if call.ignore_nulls else "")


def frame_text(*, rows: bool, lower: Distance | None, upper: Distance | None) -> str:
    """Return a frame as SQL has it; distances count outward from the current row, None is unbounded.

    >>> frame_text(rows=True, lower=None, upper=2)
    'ROWS BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING'
    """
    ends = []
    for distance, outward, inward in ((lower, "PRECEDING", "FOLLOWING"), (upper, "FOLLOWING", "PRECEDING")):
        if distance is None:
            ends.append(f"UNBOUNDED {outward}")
        elif not distance:
            ends.append("CURRENT ROW")
        else:
            ends.append(f"{abs(distance)} {outward if distance > 0 else inward}")
    return f"{'ROWS' if rows else 'RANGE'} BETWEEN {ends[0]} AND {ends[1]}"


def _order_text(order: Sequence[SortKey]) -> str:
    return ", ".join(
        f"${key.index} {'ASC' if key.ascending else 'DESC'}-nulls-{'first' if key.nulls_first else 'last'}"
        for key in order
    )


def window_text(window: Window) -> str:
    """Return a window as text: the column of time, and lengths in milliseconds or rows."""
    match window:
        case Tumble(time, size, offset):
            return f"TUMBLE(${time}, size=[{size}]{_offset_text(offset)})"
        case Hop(time, size, slide, offset):
            return f"HOP(${time}, size=[{size}], slide=[{slide}]{_offset_text(offset)})"
        case Cumulate(time, size, step, offset):
            return f"CUMULATE(${time}, size=[{size}], step=[{step}]{_offset_text(offset)})"
        case Session(time, gap, partition):
            keys = f", partition keys=[{_places(partition)}]" if partition else ""
            return f"SESSION(${time}, gap=[{gap}]{keys})"
        case CountTumble(time, size):
            return f"TUMBLE(${time}, rows=[{size}])"
        case CountHop(time, size, slide):
            return f"HOP(${time}, rows=[{size}], slide=[{slide}])"
        case Attached(start, end, _, inner):
            begin = "" if start is None else f"win_start=[${start}], "
            return f"{begin}win_end=[${end}], {window_text(inner)}"


def _offset_text(offset: int) -> str:
    return f", offset=[{offset}]" if offset else ""


def _places(places: Sequence[int]) -> str:
    return ", ".join(f"${place}" for place in places)


def _group_text(node: nodes.Aggregate) -> str:
    keys = ", ".join(map(str, node.keys))
    parts = [f"group=[{{{keys}}}]"]
    if node.sets is not None:
        sets = (f"{{{', '.join(str(node.keys[place]) for place in part)}}}" for part in node.sets)
        parts.append(f"groups=[[{', '.join(sets)}]]")
    return ", ".join([*parts, *_calls_text(node.row.field_names[len(node.keys) :], node.calls)])


def _calls_text(names: Sequence[str], calls: Sequence[AggregateCall | OverCall]) -> list[str]:
    return [f"{name}=[{_call_text(call)}]" for name, call in zip(names, calls, strict=False)]


def _group_window_text(node: nodes.GroupWindowAggregate) -> str:
    keys = ", ".join(map(str, node.keys))
    parts = [f"group=[{{{keys}}}]", *_calls_text(node.row.field_names[len(node.keys) :], node.calls)]
    parts += [f"window=[{window_text(node.window)}]", f"properties=[{', '.join(node.properties)}]"]
    return ", ".join(parts)


def _over_text(node: nodes.Over) -> str:
    parts = [f"partition=[{_places(node.partition)}]", f"order=[{_order_text(node.order)}]"]
    return ", ".join([*parts, *_calls_text(node.row.field_names[-len(node.calls) :], node.calls)])


def _values_text(node: nodes.Values) -> str:
    rows = ", ".join("{ " + ", ".join(map(_literal_text, row)) + " }" for row in node.rows)
    return f"tuples=[[{rows}]]"


def _project_text(node: nodes.Project) -> str:
    pairs = zip(node.names, node.expressions, strict=True)
    return ", ".join(f"{name}=[{expression_text(value)}]" for name, value in pairs)


def _match_text(node: MatchRecognize) -> str:
    names = node.type.field_names[-len(node.measures) :] if node.measures else []
    pattern = node.pattern
    measures = (
        f"{name}=[{expression_text(value)}]" for name, value in zip(names, node.measures, strict=True)
    )
    defined = ", ".join(f"{one.variable}: {expression_text(one.condition)}" for one in node.definitions)
    parts = [f"partition=[{_places(node.partition)}]", f"order=[{_order_text(node.order)}]", *measures]
    parts += [
        f"pattern=[{pattern}]",
        f"after=[{pattern.after}{f' {pattern.skips_to}' if pattern.skips_to else ''}]",
    ]
    parts += [f"within=[{pattern.within}]"] if pattern.within is not None else []
    parts += ["allRows=[true]"] if pattern.all_rows else []
    parts += ["timedOut=[true]"] if pattern.timed_out else []
    return ", ".join([*parts, f"define=[{defined}]"])


def _sort_text(node: nodes.Sort) -> str:
    parts = [f"order=[{_order_text(node.order)}]"] if node.order else []
    parts += [f"offset=[{node.offset}]"] if node.offset else []
    parts += [f"fetch=[{node.fetch}]"] if node.fetch is not None else []
    return ", ".join(parts)


def _table_text(node: nodes.TableScan) -> str:
    name = node.table.identifier
    return f"table=[[{name.catalog}, {name.database}, {name.name}]]"


def _sink_text(node: nodes.TableSink) -> str:
    name = node.table.identifier
    fields = ", ".join(node.row.field_names)
    return f"table=[{name.catalog}.{name.database}.{name.name}], fields=[{fields}]"


def _correlate_text(node: Correlate) -> str:
    name = "UNNEST" if isinstance(node.function, Unnest) else node.function.name
    condition = "" if node.condition is None else f", condition=[{expression_text(node.condition)}]"
    kind = "left" if node.keeps else "inner"
    return f"function=[{name}({_places(node.arguments)})], joinType=[{kind}]{condition}"


def _python_calc_text(node: PythonCalc) -> str:
    names = node.type.field_names[-len(node.calls) :]
    pairs = zip(names, node.calls, strict=True)
    return ", ".join(f"{name}=[{call.function.name}({_places(call.arguments)})]" for name, call in pairs)


_ATTRIBUTES: Final[dict[type[LogicalNode], Callable[[Any], str]]] = {
    nodes.TableScan: _table_text,
    nodes.TableSink: _sink_text,
    nodes.Values: _values_text,
    nodes.Project: _project_text,
    nodes.Filter: lambda node: f"condition=[{expression_text(node.condition)}]",
    nodes.Watermark: lambda node: (
        f"rowtime=[{node.row.field_names[node.column]}], watermark=[{expression_text(node.expression)}]"
    ),
    nodes.Aggregate: _group_text,
    ToChangelog: lambda node: f"invocation=[TO_CHANGELOG({len(node.codes)} codes)]",
    ProcessTable: lambda node: f"invocation=[{node.invocation}], uid=[{node.uid}]",
    FromChangelog: lambda node: f"invocation=[FROM_CHANGELOG({len(node.codes)} codes)]",
    nodes.WindowTable: lambda node: f"window=[{window_text(node.window)}]",
    nodes.GroupWindowAggregate: _group_window_text,
    nodes.Over: _over_text,
    Join: lambda node: f"condition=[{expression_text(node.condition)}], joinType=[{node.kind.lower()}]",
    TemporalJoin: lambda node: (
        f"condition=[{expression_text(node.condition)}], joinType=[{node.kind.lower()}], "
        f"period=[{node.left.row.field_names[node.time]}]"
    ),
    Versions: lambda node: f"partition=[{_places(node.partition)}], time=[${node.time}]",
    VectorSearch: lambda node: (
        f"columnToSearch=[{node.searched.row.field_names[node.column]}], columnToQuery=[${node.query}], "
        f"topK=[{node.most}], joinType=[{'left' if node.keeps else 'inner'}]"
    ),
    Correlate: _correlate_text,
    PythonCalc: _python_calc_text,
    nodes.UnionAll: lambda _: "all=[true]",
    nodes.Replicate: lambda _: "times=[$0]",
    nodes.Sort: _sort_text,
    MatchRecognize: _match_text,
}

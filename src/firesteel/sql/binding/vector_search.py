"""``LATERAL TABLE(VECTOR_SEARCH(TABLE t, DESCRIPTOR(v), query, 10 [, MAP['metric', 'dot']]))`` in FROM.

Source: Flink's SqlVectorSearchTableFunction and VectorSearchRuntimeConfigOptions; `metric` is an addition.
"""

from __future__ import annotations

from typing import Final, TypeGuard

from sqlglot import exp

from firesteel.common.errors import ConfigurationError
from firesteel.common.logical_types import ArrayType, DoubleType, FloatType, LogicalType
from firesteel.common.logical_types.casts import supports_implicit_cast
from firesteel.common.quantities import duration_ms
from firesteel.common.suggestions import suggestion
from firesteel.functions.columns.vectors import METRICS
from firesteel.relational.expressions import InputRef
from firesteel.relational.logical.joins import different_names
from firesteel.relational.logical.nodes import LogicalNode, Project
from firesteel.relational.logical.vectors import VectorSearch
from firesteel.relational.rules.substitution import refs
from firesteel.sql import nodes
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.table_arguments import (
    Signature,
    column_argument,
    constant_pairs,
    described,
    named_arguments,
    table_argument,
)

SEARCH: Final = "VECTOR_SEARCH"
_SIGNATURE: Final = Signature(
    SEARCH, ("SEARCH_TABLE", "COLUMN_TO_SEARCH", "COLUMN_TO_QUERY", "TOP_K"), ("CONFIG",)
)
_METRIC: Final = "metric"
_OF_FLINK: Final = ("async", "max-concurrent-operations", "output-mode", "timeout")


def is_vector_search(node: exp.Expr) -> TypeGuard[nodes.TableFunction]:
    """Return whether an item of FROM is a vector search."""
    return isinstance(node, nodes.TableFunction) and node.this.function.upper() == SEARCH


def bind_vector_search(
    left: LogicalNode, binder: Expressions, call: nodes.Call, keeps: bool
) -> tuple[LogicalNode, list[str]]:
    """Return the rows of a relation, each with the nearest ones of a table, and the names of the columns of these.

    Raises SqlValidationError for wrong arguments.
    """
    context = binder.context
    arguments = named_arguments(call, _SIGNATURE, context)
    searched = _searched(table_argument(arguments["SEARCH_TABLE"], "SEARCH_TABLE", context), context)
    column, config = arguments["COLUMN_TO_SEARCH"], arguments.get("CONFIG")
    place = column_argument(described(column, "COLUMN_TO_SEARCH", context), searched, context)
    kind = searched.row.fields[place].type
    if not _is_vector(kind):
        raise context.text.wrong(column, "requires a column of ARRAY<FLOAT> or ARRAY<DOUBLE>", got=str(kind))
    query = binder.bind(arguments["COLUMN_TO_QUERY"])
    if not supports_implicit_cast(query.type, kind):
        raise context.text.wrong(
            arguments["COLUMN_TO_QUERY"],
            f"requires a vector of the same type as the column that is searched, {kind}",
            got=str(query.type),
        )
    row = left.row
    kept = len(row.fields) if binder.scope.relations else 0
    if isinstance(query, InputRef) and kept:
        given, asked = left, query.index
    else:
        names = different_names([*row.field_names[:kept], f"$f{kept}"])
        given, asked = Project(left, (*refs(row, range(kept)), query), tuple(names)), kept
    most, pairs = _most(arguments["TOP_K"], context), _config(config, context)
    metric = next((one for one in METRICS if one == dict(pairs).get(_METRIC)), METRICS[0])
    where = context.text.place(call)
    search = VectorSearch(given, searched, asked, place, most, metric, pairs, keeps, place=where)
    names = [*row.field_names[:kept], *search.found.field_names]
    if asked < kept:
        return search, search.row.field_names[kept:]
    shown = (place for place in range(len(search.row.fields)) if place != asked)
    made = Project(search, refs(search.row, shown), tuple(different_names(names)))
    return made, made.row.field_names[kept:]


def _searched(node: exp.Expr, context: Context) -> LogicalNode:
    if isinstance(node, exp.Query):
        return context.query(node.this if isinstance(node, exp.Subquery) else node)
    star = exp.Star()
    asked = exp.Select(expressions=[star], from_=exp.From(this=node))
    for made in (star, asked):
        made.meta.update(node.meta)
    return context.query(asked)


def _is_vector(kind: LogicalType) -> bool:
    return isinstance(kind, ArrayType) and isinstance(kind.element, FloatType | DoubleType)


def _most(node: exp.Expr, context: Context) -> int:
    number = int(node.this) if isinstance(node, exp.Literal) and str(node.this).isdecimal() else 0
    if not 0 < number < 1 << 31:
        raise context.text.wrong(node, "requires an INTEGER literal of at least 1 as TOP_K", got=node.sql())
    return number


def _config(node: exp.Expr | None, context: Context) -> tuple[tuple[str, str], ...]:
    """Return what a search is told: how similarity is measured, and what Flink knows, which changes nothing here."""
    if node is None:
        return ()
    pairs = []
    for key, value, _, place in constant_pairs(node, "config", context):
        known = (*_OF_FLINK, _METRIC)
        if key not in known:
            raise context.text.wrong(
                place, "requires a key that config has", got=key, hint=suggestion(key, known)
            )
        wrong = _wrong_value(key, value)
        if wrong is not None:
            raise context.text.wrong(place, f"requires {wrong} for {key!r}", got=value)
        pairs.append((key, value))
    return tuple(pairs)


def _wrong_value(key: str, value: str) -> str | None:
    """Return what a key requires that a value is not; None if the value fits."""
    match key:
        case "async":
            fits, wanted = value.lower() in ("true", "false"), "true or false"
        case "max-concurrent-operations":
            fits, wanted = value.isdecimal() and int(value) > 0, "a number of at least 1"
        case "output-mode":
            fits, wanted = value.upper() in ("ORDERED", "ALLOW_UNORDERED"), "ORDERED or ALLOW_UNORDERED"
        case "timeout":
            fits, wanted = _is_duration(value), "a duration"
        case _:
            fits, wanted = value in METRICS, f"one of {', '.join(METRICS)}"
    return None if fits else wanted


def _is_duration(text: str) -> bool:
    try:
        return duration_ms("timeout", text) > 0
    except ConfigurationError:
        return False

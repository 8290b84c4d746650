"""Items of FROM that speak of those before them: UNNEST of their columns, table functions, and LATERAL queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from sqlglot import exp

from firesteel.common.logical_types import (
    ArrayType,
    Field,
    IntType,
    LogicalType,
    MapType,
    MultisetType,
    RowType,
)
from firesteel.common.places import errors_at
from firesteel.functions.columns.correlates import TableFunction, Unnest
from firesteel.functions.columns.joins import JoinKind
from firesteel.functions.columns.python_functions import PythonProcessTable
from firesteel.relational.expressions import Expression, InputRef
from firesteel.relational.logical.correlates import Correlate
from firesteel.relational.logical.joins import Join, different_names
from firesteel.relational.logical.nodes import Filter, LogicalNode, Project
from firesteel.relational.rules.substitution import ALWAYS, all_of, refs
from firesteel.sql import nodes
from firesteel.sql.binding.asking import beside
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.decorrelation import Decorrelator, Dependent, has_outer, nullable
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.questions import outer_values
from firesteel.sql.binding.scope import Relation, Scope
from firesteel.sql.binding.user_functions import fitting, table_function, user_function
from firesteel.sql.binding.vector_search import bind_vector_search, is_vector_search
from firesteel.sql.binding.window_tables import is_table_function

_ORDINALITY: Final = Field("ORDINALITY", IntType(nullable=False))


def is_lateral(node: exp.Expr) -> bool:
    """Return whether an item of FROM may speak of those before it."""
    if isinstance(node, nodes.TableFunction):
        return bool(node.args.get("lateral"))
    return isinstance(node, nodes.UnnestTable | nodes.LateralQuery)


def is_called(node: exp.Expr, context: Context) -> bool:
    """Return whether an item of FROM is what a function of the user's gives, or a vector search."""
    if not isinstance(node, nodes.TableFunction) or is_vector_search(node):
        return isinstance(node, nodes.TableFunction)
    call = node.this
    found = user_function(call, context, built_in=is_table_function(call.function))
    return found is not None and not isinstance(found, PythonProcessTable)


def bind_lateral(
    left: LogicalNode, scope: Scope, node: exp.Expr, keeps: bool, context: Context
) -> tuple[LogicalNode, Relation]:
    """Return the rows of a relation, each with those of an item that speaks of it; with `keeps`, also those without.

    The columns of the relation come first, then those of the item, by whose names it is known.
    """
    around = replace(scope, outer=context.outer)
    if isinstance(node, nodes.UnnestTable):
        made, names = _unnested(left, Expressions(context, around, "UNNEST"), node, keeps)
    elif is_vector_search(node):
        made, names = bind_vector_search(
            left, Expressions(context, around, "VECTOR_SEARCH"), node.this, keeps
        )
    elif isinstance(node, nodes.TableFunction):
        made, names = _called(left, Expressions(context, around, "LATERAL TABLE"), node.this, keeps)
    else:
        made, names = _asked(left, context.around(around).query(node.this), node, keeps, context)
    types = [field.type for field in made.row.fields[len(made.row.fields) - len(names) :]]
    name, names = _named(node, names, context)
    return made, Relation(name, tuple(map(Field, names, types)))


def bind_first_lateral(node: exp.Expr, plan: LogicalNode, context: Context) -> tuple[LogicalNode, Relation]:
    """Return the rows of an item that nothing is before; `plan` is the row that there is without FROM."""
    if not isinstance(node, nodes.LateralQuery):
        return bind_lateral(plan, Scope(), node, False, context)
    made = context.query(node.this)
    name, names = _named(node, made.row.field_names, context)
    types = [field.type for field in made.row.fields]
    return made, Relation(name, tuple(map(Field, names, types)))


def _named(node: exp.Expr, names: list[str], context: Context) -> tuple[tuple[str, ...], list[str]]:
    """Return the name of an item, and the names of its columns."""
    alias = node.args.get("alias")
    if alias is None:
        return (), names
    written = [column.name for column in alias.args.get("columns") or []]
    if written and len(written) != len(names):
        raise context.text.wrong(alias, f"requires {len(names)} names of columns", got=str(len(written)))
    return (alias.this.name,), written or names


def _asked(
    left: LogicalNode, asked: LogicalNode, node: exp.Expr, keeps: bool, context: Context
) -> tuple[LogicalNode, list[str]]:
    """Return the rows of a relation, each with those of a query that speaks of it."""
    place = context.text.place(node)
    outer = outer_values(asked)
    with errors_at(place):
        decorrelator = Decorrelator(left, outer)
        rows = decorrelator.dependent(asked)
        if keeps and (rows.having or any(map(has_outer, rows.columns))):
            keyed = decorrelator.keyed(rows)
            rows = keyed.dependent(keyed.plan, refs(keyed.plan.row, range(keyed.width)), keyed.width)
    if keeps and not rows.single:
        rows = _computed(rows)
    single = rows.single and bool(outer)
    kind: JoinKind = "LEFT" if keeps or single else "INNER"
    joined: LogicalNode = Join(
        left, rows.plan, kind, all_of(beside(left, rows.conditions, outer) or [ALWAYS]), place=place
    )
    if rows.having:
        joined = Filter(joined, all_of(beside(left, rows.having, outer)), place=place)
    width = len(left.row.fields)
    columns = beside(left, rows.columns, outer)
    if keeps:
        columns = [nullable(column) for column in columns]
    names = different_names([*left.row.field_names, *asked.row.field_names])
    made = Project(joined, (*refs(joined.row, range(width)), *columns), tuple(names))
    return made, asked.row.field_names


def _computed(rows: Dependent) -> Dependent:
    """Return rows whose columns are computed, so that they are NULL where there is no row."""
    if all(isinstance(column, InputRef) for column in rows.columns):
        return rows
    every = refs(rows.plan.row, range(len(rows.plan.row.fields)))
    values = (*every, *rows.columns)
    names = different_names(
        [*rows.plan.row.field_names, *(f"$f{place}" for place in range(len(rows.columns)))]
    )
    plan = Project(rows.plan, values, tuple(names))
    return rows._replace(plan=plan, columns=refs(plan.row, range(len(every), len(values))))


def _unnested(
    left: LogicalNode, binder: Expressions, node: nodes.UnnestTable, keeps: bool
) -> tuple[LogicalNode, list[str]]:
    """Return the rows of a relation, each with those of a collection."""
    text, values = binder.context.text, node.args["expressions"]
    if len(values) != 1:
        raise text.unsupported(values[1], "several collections in one UNNEST")
    if isinstance(values[0], exp.Query):
        raise text.unsupported(values[0], "UNNEST of a query")
    value = binder.bind(values[0])
    function, fields = _elements(value.type, bool(node.args.get("ordinality")))
    if function is None:
        raise text.wrong(values[0], "requires an ARRAY, a MAP or a MULTISET in UNNEST", got=str(value.type))
    return _correlated(left, binder, node, _Function(function, [value], fields), keeps)


def _called(
    left: LogicalNode, binder: Expressions, node: nodes.Call, keeps: bool
) -> tuple[LogicalNode, list[str]]:
    """Return the rows of a relation, each with those of a table function of the user's."""
    context = binder.context
    function = table_function(node, context)
    if node.args.get("quantifier"):
        raise context.text.wrong(node, f"uses {node.args['quantifier']} with a table function")
    arguments = fitting(function, node, [binder.bind(one) for one in node.expressions], context)
    return _correlated(left, binder, node, _Function(function, arguments, function.result.fields), keeps)


class _Function(NamedTuple):
    """A table function with its arguments, and the columns of its rows."""

    function: TableFunction
    arguments: Sequence[Expression]
    fields: Sequence[Field]


def _correlated(
    left: LogicalNode, binder: Expressions, node: exp.Expr, called: _Function, keeps: bool
) -> tuple[LogicalNode, list[str]]:
    """Return the rows of a relation, each with those of a function."""
    row, fields = left.row, called.fields
    width = len(row.fields)
    kept = tuple(range(width)) if binder.scope.relations else ()
    computed = [value for value in called.arguments if not isinstance(value, InputRef)]
    places = iter(range(width, width + len(computed)))
    arguments = tuple(
        value.index if isinstance(value, InputRef) else next(places) for value in called.arguments
    )
    if computed:
        names = different_names([*row.field_names, *(f"$f{width + one}" for one in range(len(computed)))])
        left = Project(left, (*refs(row, range(width)), *computed), tuple(names))
    own = [row.fields[one] for one in kept]
    added = [Field(field.name, field.type.copy(True)) if keeps else field for field in fields]
    names = different_names([field.name for field in (*own, *added)])
    kinds = (field.type for field in (*own, *added))
    made_row = RowType(tuple(map(Field, names, kinds)), nullable=False)
    place = binder.context.text.place(node)
    made = Correlate(left, called.function, arguments, kept, made_row, keeps, place=place)
    return made, [field.name for field in added]


def _elements(kind: LogicalType, ordinality: bool) -> tuple[Unnest | None, Sequence[Field]]:
    """Return what takes values of a type apart, and the columns of their elements."""
    last = (_ORDINALITY,) if ordinality else ()
    match kind:
        case MapType():
            return Unnest("MAP", ordinality), (Field("KEY", kind.key), Field("VALUE", kind.value), *last)
        case ArrayType() | MultisetType():
            element = kind.element
            collection = "ARRAY" if isinstance(kind, ArrayType) else "MULTISET"
            function = Unnest("ARRAY" if collection == "ARRAY" else "MULTISET", ordinality)
            if isinstance(element, RowType):
                return function, (*element.fields, *last)
            return function, (Field("EXPR$0", element), *last)
    return None, ()

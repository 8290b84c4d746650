"""The operations of tables whose functions give several columns, or rows: map, flat_map, aggregate, flat_aggregate.

Names of columns are those that Flink gives: ``f0`` for a single value, ``TMP_0$a`` for the field `a` of an aggregate
without an alias. Source: Flink's OperationTreeBuilder.

A table aggregate function is an aggregate function whose value is the list of its rows; the list is taken apart
behind the groups, which takes back the rows that a group gave before it changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sqlglot import exp

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import ArrayType, Field, LogicalType, RowType
from firesteel.functions.columns.correlates import Unnest
from firesteel.functions.columns.python_functions import (
    PythonAggregate,
    PythonFunction,
    PythonTableAggregate,
    PythonTableFunction,
    UserFunction,
)
from firesteel.relational.expressions import Call as FunctionCall
from firesteel.relational.expressions import InputRef
from firesteel.relational.functions import field_of
from firesteel.relational.logical.correlates import Correlate
from firesteel.relational.logical.nodes import LogicalNode, Project
from firesteel.relational.rules.substitution import refs
from firesteel.sql import nodes
from firesteel.sql.binding.catalog import qualified
from firesteel.table.expressing.columns import (
    PROPERTIES,
    extra_names,
    has_aggregates,
    is_computed_for_group,
    name_of,
    without_alias,
)
from firesteel.table.expressing.operations import Grouping, Operation
from firesteel.table.expressing.syntax import identifier
from firesteel.table.expressing.tree import Call, Name, Tree, parts, replaced, value_of

WHOLE: Final = "$row"
"""The column that has whole rows as values."""

_VALUE: Final = "TMP_0"
_COUNT: Final = "$count"
_KINDS: Final = {"aggregate": "an aggregate function", "flat_aggregate": "a table aggregate function"}


def mapped(operation: Operation) -> LogicalNode:
    """Return what a scalar function gives for each row; a ROW as its fields. Raises ProgramError for another call."""
    [tree] = operation.columns.expanded(operation.expressions)
    function = _function(tree, operation)
    other = function is not None and not isinstance(function, PythonFunction)
    if not isinstance(tree, Call) or tree.function == "as" or other or is_computed_for_group(tree):
        raise _refused(operation, tree, "a call of a scalar function")
    named = Call("as", (tree, value_of("f0")))
    plan = replace(operation, expressions=(named,), shown=operation.text).selected()
    return _flattened(plan, 0, "")


def flat_mapped(operation: Operation) -> LogicalNode:
    """Return the rows that a table function gives for each row. Raises ProgramError for another call."""
    [tree] = operation.columns.expanded(operation.expressions)
    function = _function(tree, operation)
    if not isinstance(tree, Call) or tree.function == "as" or not isinstance(function, PythonTableFunction):
        raise _refused(operation, tree, "a call of a table function")
    syntax = operation._syntax()
    source = nodes.TableFunction(
        this=syntax.node(tree), table=True, lateral=True, alias=exp.TableAlias(this=identifier("function"))
    )
    star = exp.Column(this=exp.Star(), table=identifier("function"))
    query = operation._select(syntax, [star])
    query.set("joins", [exp.Join(this=source, on=exp.Boolean(this=True))])
    return operation._bound(query, syntax)


@dataclass(frozen=True)
class Aggregated:
    """Groups of rows with what a function gives for each: `operation` has its call, and perhaps names for the columns.

    Raises ProgramError for another call.
    """

    operation: Operation
    grouping: Grouping = field(default_factory=Grouping)

    def __post_init__(self) -> None:
        call = self._call
        function = _function(call, self.operation)
        flat = self.operation.method == "flat_aggregate"
        fits = isinstance(function, PythonTableAggregate) if flat else is_computed_for_group(call)
        if not isinstance(call, Call) or not (fits or (isinstance(function, PythonAggregate) and not flat)):
            raise _refused(self.operation, call, f"a call of {_KINDS[self.operation.method]}")

    @property
    def _call(self) -> Tree:
        return without_alias(self.operation.expressions[0])

    def selected(self, select: Operation) -> LogicalNode:
        """Return columns of the groups: what they are grouped by, what the function gives, and times of the window.

        `select` has the expressions for them; its plan is not read.
        """
        window = self.grouping.window
        if window is not None and any(tree == Name("*") for tree in select.expressions):
            raise ProgramError("requires names of columns, since there is a window", who=select.who, got="*")
        if any(map(self._is_aggregate, select.expressions)):
            raise ProgramError(
                "requires no aggregate functions after aggregate and flat_aggregate",
                who=select.who,
                got=select.text,
            )
        found = {
            part: f"${part}" for tree in select.expressions for part in parts(tree) if self._is_property(part)
        }
        plan = self._plan(found)
        trees = tuple(
            replaced(tree, lambda part: Name(found[part]) if part in found else None)
            for tree in select.expressions
        )
        return replace(select, plan=plan, expressions=trees).selected()

    def _is_property(self, tree: Tree) -> bool:
        window = self.grouping.window
        if window is None or not isinstance(tree, Call) or tree.function not in PROPERTIES:
            return False
        return tree.arguments == (Name(window.name),)

    def _is_aggregate(self, tree: Tree) -> bool:
        return has_aggregates(replaced(tree, lambda part: Name("*") if self._is_property(part) else None))

    def _plan(self, properties: dict[Tree, str]) -> LogicalNode:
        """Return keys, the columns of the function, and properties of the window by their names."""
        flat = self.operation.method == "flat_aggregate"
        keys = self._keys
        given: list[tuple[Tree, str]] = [*keys, (self._valued(), _VALUE), *properties.items()]
        if flat and not keys and self.grouping.window is None:
            given.append((Call("count", (value_of(1),)), _COUNT))
        trees = tuple(Call("as", (tree, value_of(name))) for tree, name in given)
        grouped = replace(self.operation, expressions=trees, shown=self.operation.text)
        plan = grouped.selected(self.grouping)
        names, place = extra_names(self.operation.expressions[0]), len(keys)
        if not flat:
            return self._named(_flattened(plan, place, f"{_VALUE}$"), place, len(properties), names)
        if given[-1][1] == _COUNT:
            some = Call("greaterThan", (Name(_COUNT), value_of(0)))
            plan = replace(grouped, plan=plan, expressions=(some,)).filtered()
        apart = _taken_apart(plan, place, place + 1 + len(properties))
        return self._named(apart, place, len(properties), names)

    @property
    def _keys(self) -> list[tuple[Tree, str]]:
        """The keys without the window, with their names."""
        window = self.grouping.window
        found: list[tuple[Tree, str]] = []
        for key in self.operation.columns.expanded(self.grouping.keys):
            name = name_of(key)
            if window is not None and key == Name(window.name):
                continue
            found.append((key, str(key)) if name is None else (Name(name), name))
        return found

    def _valued(self) -> Tree:
        call = self._call
        function = _function(call, self.operation)
        assert isinstance(call, Call)
        return replace(call, user=function.listed) if isinstance(function, PythonTableAggregate) else call

    def _named(self, plan: LogicalNode, first: int, after: int, names: Sequence[str]) -> LogicalNode:
        """Return a plan in which the function's columns, `first` to those `after`, have the names of its alias."""
        known = plan.row.field_names
        width = len(known) - first - after
        if names and len(names) != width:
            raise ProgramError(
                f"requires {width} names, one for each column", who=self.operation.who, got=str(len(names))
            )
        new = [*known[:first], *(names or known[first : first + width]), *known[first + width :]]
        twice = next((name for name in new if new.count(name) > 1), None)
        if twice is not None:
            raise ProgramError(
                "requires different names of columns",
                who=self.operation.who,
                got=f"{twice} twice",
                hint=".alias(...) behind the call gives its columns names",
            )
        return Project(plan, refs(plan.row, range(len(known))), tuple(new))


def with_rows(plan: LogicalNode, *without: str) -> LogicalNode:
    """Return the rows of a plan, and each as the value of a last column; columns `without` are not in it."""
    places = range(len(plan.row.fields))
    fields = [(place, field) for place, field in enumerate(plan.row.fields) if field.name not in without]
    kind = RowType(tuple(field for _, field in fields), nullable=False)
    whole = FunctionCall(kind, "ROW", refs(plan.row, [place for place, _ in fields]))
    return Project(plan, (*refs(plan.row, places), whole), (*plan.row.field_names, WHOLE))


def _function(tree: Tree, operation: Operation) -> UserFunction | None:
    """Return the user's function that is called, also by its name; None for another expression."""
    inner = without_alias(tree)
    if not isinstance(inner, Call):
        return None
    if inner.user is not None:
        return inner.user
    names, catalog = inner.function.split("."), operation.catalog
    found = catalog.system_function(inner.function) if len(names) == 1 else None
    return found or catalog.function(qualified(names, catalog.path))


def _refused(operation: Operation, tree: Tree, wanted: str) -> ProgramError:
    return ProgramError(f"requires {wanted}", who=operation.who, got=str(tree))


def _flattened(plan: LogicalNode, place: int, before: str) -> LogicalNode:
    """Return a plan with the fields of a column instead of it, their names with what goes `before`."""
    kind: LogicalType = plan.row.fields[place].type
    if not isinstance(kind, RowType):
        return plan
    names, whole = plan.row.field_names, InputRef(kind, place)
    fields = tuple(field_of(whole, one) for one in range(len(kind.fields)))
    columns = refs(plan.row, range(len(names)))
    return Project(
        plan,
        (*columns[:place], *fields, *columns[place + 1 :]),
        (*names[:place], *(before + name for name in kind.field_names), *names[place + 1 :]),
    )


def _taken_apart(plan: LogicalNode, place: int, width: int) -> LogicalNode:
    """Return the first columns of a plan with each row of the list at a place instead of it."""
    kind = plan.row.fields[place].type
    assert isinstance(kind, ArrayType)
    assert isinstance(kind.element, RowType)
    kept = tuple(one for one in range(width) if one != place)
    fields = (*(plan.row.fields[one] for one in kept), *kind.element.fields)
    names = tuple(Field(f"${one}", field.type) for one, field in enumerate(fields))
    row = RowType(names, nullable=False)
    made = Correlate(plan, Unnest("ARRAY"), (place,), kept, row)
    order = [*range(place), *range(len(kept), len(fields)), *range(place, len(kept))]
    return Project(made, refs(row, order), tuple(fields[one].name for one in order))

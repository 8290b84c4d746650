"""Which columns a list of expressions stands for, and what they are called (Flink: ProjectionOperationFactory)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import LogicalType, RowType, StructuredType
from firesteel.common.suggestions import suggestion
from firesteel.functions.columns.python_functions import PythonAggregate
from firesteel.relational.functions.aggregates import is_aggregate
from firesteel.table.expressing.tree import Call, Name, Tree, Value, value_of

_RANGES: Final = ("withColumns", "withoutColumns")
_WORDS: Final = """
distinct sum sum0 min max count avg first_value last_value listAgg collect stddevPop stddevSamp varPop varSamp
"""
_AGGREGATES: Final = frozenset(_WORDS.split())
PROPERTIES: Final = ("start", "end", "rowtime", "proctime")
"""The properties of windows of groups."""


@dataclass(frozen=True)
class Columns:
    """The columns of a table; `type_of` gives the type of an expression over them. `who` is what errors begin with."""

    names: Sequence[str]
    type_of: Callable[[Tree], LogicalType]
    who: str

    def expanded(self, trees: Sequence[Tree]) -> list[Tree]:
        """Return expressions with single columns instead of those that stand for several.

        Raises ProgramError for ranges of columns that are not there.
        """
        found: list[Tree] = []
        for tree in trees:
            found += self._expanded(tree)
        return found

    def _expanded(self, tree: Tree) -> list[Tree]:
        if tree == Name("*"):
            return [Name(name) for name in self.names]
        if not isinstance(tree, Call):
            return [tree]
        if tree.function in _RANGES:
            listed = self._listed(tree.arguments)
            if tree.function == "withColumns":
                return [Name(name) for name in listed]
            return [Name(name) for name in self.names if name not in listed]
        if tree.function == "flatten":
            return self._flattened(tree.arguments[0])
        return [Call(tree.function, tuple(self.expanded(tree.arguments)), tree.user)]

    def _listed(self, trees: Sequence[Tree]) -> list[str]:
        found: list[str] = []
        for tree in trees:
            if isinstance(tree, Call) and tree.function == "rangeTo":
                first, last = (self._place(bound) for bound in tree.arguments)
                if first > last:
                    raise ProgramError(
                        "requires a range that begins before it ends", who=self.who, got=str(tree)
                    )
                found += self.names[first : last + 1]
            else:
                found += [self.names[self._place(one)] for one in self._expanded(tree)]
        return found

    def _place(self, tree: Tree) -> int:
        """Return the place of a column, which is given by its name or by its place from 1."""
        if isinstance(tree, Name) and tree.name in self.names:
            return self.names.index(tree.name)
        if isinstance(tree, Value) and isinstance(tree.value, int) and 0 < tree.value <= len(self.names):
            return tree.value - 1
        name = tree.name if isinstance(tree, Name) else str(tree)
        raise ProgramError(
            "requires a column of the table", who=self.who, got=name, hint=suggestion(name, self.names)
        )

    def _flattened(self, tree: Tree) -> list[Tree]:
        kind = self.type_of(tree)
        if not isinstance(kind, RowType | StructuredType):
            return [tree]
        fields = kind.fields if isinstance(kind, RowType) else kind.attributes
        begin = name_of(tree) or "_c"
        return [
            Call("as", (Call("get", (tree, value_of(field.name))), value_of(f"{begin}${field.name}")))
            for field in fields
        ]


@dataclass
class Naming:
    """Gives columns names, as Flink does: those of columns and aliases, and made ones for all else.

    What aggregates and properties of windows are called is ``EXPR$0`` and so on, other values are ``_c`` and their
    place. `grouped` is whether there are groups.
    """

    who: str
    grouped: bool = False
    _made: dict[Tree, str] = field(default_factory=dict)

    def named(self, trees: Sequence[Tree]) -> list[tuple[str, Tree]]:
        """Return each expression without its alias, with its name. Raises ProgramError for a name that comes twice."""
        if self.grouped:
            self._name_aggregates(trees)
        found: list[tuple[str, Tree]] = []
        repeated = 0
        for place, tree in enumerate(trees):
            name = self._name(tree, place)
            taken = [known for known, _ in found]
            if name in taken and tree in self._made:
                name, repeated = f"{name}_{repeated}", repeated + 1
            if name in taken:
                raise ProgramError(
                    "requires different names of columns",
                    who=self.who,
                    got=f"{name} twice",
                    hint=".alias(...) gives a column a name",
                )
            found.append((name, without_alias(tree)))
        return found

    def _name(self, tree: Tree, place: int) -> str:
        if tree in self._made:
            return self._made[tree]
        found = name_of(tree)
        if found is not None:
            return found
        return transitive_name(tree) or f"_c{place}"

    def _name_aggregates(self, trees: Sequence[Tree]) -> None:
        for tree in trees:
            if is_computed_for_group(tree):
                self._made.setdefault(tree, f"EXPR${len(self._made)}")
            elif isinstance(tree, Call):
                self._name_aggregates(tree.arguments)


def is_computed_for_group(tree: Tree) -> bool:
    """Return whether an expression is an aggregate or a property of a window."""
    if not isinstance(tree, Call):
        return False
    if tree.user is not None:
        return isinstance(tree.user, PythonAggregate)
    known = tree.function in _AGGREGATES or tree.function in PROPERTIES
    return known or is_aggregate(tree.function.upper()) or _is_json(tree.function)


def _is_json(function: str) -> bool:
    return function.startswith(("JSON_OBJECTAGG", "JSON_ARRAYAGG"))


def has_aggregates(tree: Tree) -> bool:
    """Return whether an expression computes something of a group, outside of windows of OVER."""
    if not isinstance(tree, Call) or tree.function == "over":
        return False
    return is_computed_for_group(tree) or any(has_aggregates(part) for part in tree.arguments)


def name_of(tree: Tree) -> str | None:
    """Return the name that an expression has by itself: that of a column, or an alias."""
    if isinstance(tree, Name):
        return tree.name
    if isinstance(tree, Call) and tree.function == "as":
        alias = tree.arguments[1]
        return str(alias.value) if isinstance(alias, Value) else str(alias)
    return None


def transitive_name(tree: Tree) -> str | None:
    """Return the name of a cast, or of a field of a row, that of its value going before; None for all else."""
    if not isinstance(tree, Call) or tree.function not in ("cast", "get"):
        return None
    value, what = tree.arguments
    inner = name_of(value) or (transitive_name(value) if _is_get(value) else None)
    if inner is None:
        return None
    if tree.function == "cast":
        return f"{inner}-{what}"
    field = what.value if isinstance(what, Value) else what
    return f"{inner}$_{field}" if isinstance(field, int) else f"{inner}${field}"


def _is_get(tree: Tree) -> bool:
    return isinstance(tree, Call) and tree.function == "get"


def without_alias(tree: Tree) -> Tree:
    """Return an expression without the names that it has been given at its top."""
    while isinstance(tree, Call) and tree.function == "as":
        tree = tree.arguments[0]
    return tree


def extra_names(tree: Tree) -> list[str]:
    """Return all names that an alias gives."""
    if not (isinstance(tree, Call) and tree.function == "as"):
        return []
    return [str(part.value) for part in tree.arguments[1:] if isinstance(part, Value)]

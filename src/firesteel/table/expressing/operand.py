"""What a program writes to the parts of an expression; the base of the classes of methods."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from firesteel.table.expressing.tree import Call, Kind, Tree, Word, value_of
from firesteel.table.types import DataType

if TYPE_CHECKING:
    from firesteel.table.expression import Expression


class Operand:
    """A value with which expressions are made; each method gives a new one."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def _call(self, function: str, *arguments: Any) -> Expression[Any]:
        """Return a function of this value and others."""
        return self._made(Call(function, (self._tree, *map(tree_of, arguments))))

    def _after(self, function: str, *arguments: Any) -> Expression[Any]:
        """Return a function whose last argument is this value."""
        return self._made(Call(function, (*map(tree_of, arguments), self._tree)))

    def _made(self, tree: Tree) -> Expression[Any]:
        return type(self)(tree)  # type: ignore[return-value]  # an Expression is the only one that is made


def tree_of(value: Any) -> Tree:
    """Return the part that a Python value stands for: an expression, a word, a type, or a constant.

    Raises ProgramError for values that are no constants.
    """
    if isinstance(value, Operand):
        return value._tree
    if isinstance(value, Enum):
        return Word(value.name)
    if isinstance(value, DataType):
        return Kind(value.logical_type)
    return value_of(value)


def given(*arguments: Any) -> tuple[Any, ...]:
    """Return the arguments that a program has given: those before the first None.

    >>> given("a", None, "b")
    ('a',)
    """
    place = next((place for place, value in enumerate(arguments) if value is None), len(arguments))
    return arguments[:place]

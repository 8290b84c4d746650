"""What a text of a pattern says, part by part, each with its place in the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from firesteel.common.places import Span

__all__ = [
    "Call",
    "Duration",
    "Expression",
    "Group",
    "Item",
    "Literal",
    "Name",
    "Operation",
    "Parameter",
    "Path",
    "Query",
    "Single",
    "Skip",
    "Step",
    "Suffix",
    "steps_within",
]


@dataclass(frozen=True)
class Name:
    """A name: of a step, a type of events, a field."""

    text: str
    span: Span


@dataclass(frozen=True)
class Literal:
    """A number, a string, true, false or null."""

    value: Any
    span: Span


@dataclass(frozen=True)
class Parameter:
    """A value that the program gives."""

    name: str
    span: Span


@dataclass(frozen=True)
class Path:
    """A step, a field, or a field of one of them."""

    names: tuple[str, ...]
    span: Span


@dataclass(frozen=True)
class Call:
    """A function and its arguments; the function's name is in lower case."""

    function: str
    arguments: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True)
class Operation:
    """An operator and its operands: `and`, `=`, `+`, `is null`, `in`, ..."""

    operator: str
    operands: tuple[Expression, ...]
    span: Span


Expression = Literal | Parameter | Path | Call | Operation


@dataclass(frozen=True)
class Duration:
    """A time: milliseconds, or a parameter, which counts in milliseconds of this number if it is a number."""

    millis: float | None
    parameter: Parameter | None
    span: Span


@dataclass(frozen=True)
class Suffix:
    """What is said behind a step, named as in the grammar, with its arguments."""

    kind: str
    arguments: tuple[Any, ...]
    span: Span


@dataclass(frozen=True)
class Step:
    """One step; `link` is how it follows the one before it (`begin` for the first)."""

    name: Name | None
    type: Name
    condition: Expression | None
    suffixes: tuple[Suffix, ...]
    span: Span
    link: str = "begin"


@dataclass(frozen=True)
class Group:
    """Several steps in parentheses."""

    steps: tuple[Single, ...]
    suffixes: tuple[Suffix, ...]
    span: Span
    link: str = "begin"


Single = Step | Group


@dataclass(frozen=True)
class Item:
    """One column of the selected rows."""

    expression: Expression
    name: Name | None


@dataclass(frozen=True)
class Skip:
    """What happens after a match, named as in the grammar."""

    kind: str
    name: Name | None
    fails: bool
    span: Span


@dataclass(frozen=True)
class Query:
    """A whole text; without `items` all steps are selected."""

    items: tuple[Item, ...] | None
    steps: tuple[Single, ...]
    within: Duration | None
    where: Expression | None
    partition: tuple[Path, ...]
    skip: Skip | None

    def all_steps(self) -> Iterator[Step]:
        """Yield the steps, also those in groups, in order."""
        yield from steps_within(self.steps)


def steps_within(singles: tuple[Single, ...]) -> Iterator[Step]:
    """Yield the steps, also those in groups, in order."""
    for single in singles:
        if isinstance(single, Step):
            yield single
        else:
            yield from steps_within(single.steps)

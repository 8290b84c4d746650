"""What all physical nodes have in common: their rows, their text, and the traits from which changelog modes follow.

Contract: a node is immutable. `mode` is set by `firesteel.relational.physical.changelog`, all else when the node is
made. `place` is where the text of the statement says what the node does. `changes` and `needs` are what that inference
asks of a node; they depend on the node alone, never on its input's mode. The default is that of a node that passes
changes on as they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import ClassVar, NamedTuple, Self

from firesteel.common.logical_types import RowType
from firesteel.common.places import Place
from firesteel.functions.columns.connectors import ChangelogMode
from firesteel.relational.expressions import Expression
from firesteel.relational.physical.texts import infix

Keys = frozenset[frozenset[int]]
"""Sets of columns, each of which tells rows with different keys apart."""


Shown = Callable[[Expression, Sequence[str]], str]
"""Writes an expression over columns of these names."""


class Changes(NamedTuple):
    """Which changes a relation has besides inserts."""

    update: bool = False
    delete: bool = False

    def __str__(self) -> str:
        return " and ".join(name for name in ("update", "delete") if getattr(self, name))


class Updates(Enum):
    """The rows that come for an update; see Flink's UpdateKind."""

    NONE = "none"
    AFTER = "the new row"
    BOTH = "the old and the new row"


@dataclass(frozen=True)
class PhysicalNode(ABC):
    """An operator of a physical plan, with everything below it."""

    mode: ChangelogMode = field(default=ChangelogMode(), kw_only=True)
    place: Place | None = field(default=None, compare=False, repr=False, kw_only=True)

    passes_on: ClassVar[bool] = False
    """Whether the changes of the input are those of the output, so that an error is about the nodes below."""

    is_sink: ClassVar[bool] = False
    """Whether nothing reads the node."""

    @property
    def called(self) -> str:
        """Return what errors call the node."""
        return self.name

    @property
    def inserts_only(self) -> bool:
        """Whether Flink's operator takes no other changes than inserts."""
        return False

    def refuses(self, place: int) -> bool:
        """Return whether the input at a place must have inserts only."""
        return self.inserts_only

    @property
    @abstractmethod
    def row(self) -> RowType:
        """Return the type of the rows."""

    @property
    def name(self) -> str:
        """Return the name of the operator as Flink has it."""
        return type(self).__name__

    @property
    def short_name(self) -> str:
        """Return what Flink calls the operator in a job: a source and a sink have the name of their table."""
        return self.name

    @property
    def inputs(self) -> tuple[PhysicalNode, ...]:
        """Return the nodes that this one reads."""
        return ()

    def with_inputs(self, inputs: tuple[PhysicalNode, ...]) -> PhysicalNode:
        """Return the same node over other inputs."""
        assert not inputs
        return self

    def at(self, place: Place | None) -> Self:
        """Return the node with a place, if it has none."""
        return self if self.place is not None or place is None else replace(self, place=place)

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the parts of the node's text, names and values; `shown` writes expressions."""
        yield from ()

    def described(self, shown: Shown) -> str:
        """Return the node without its inputs; `shown` writes expressions."""
        return f"{self.name}({', '.join(f'{name}=[{value}]' for name, value in self.details(shown))})"

    @property
    def text(self) -> str:
        """Return the node without its inputs, with operators between their operands."""
        return self.described(infix)

    @property
    def state(self) -> str | None:
        """Return what the node keeps of the rows, as text; None if it keeps nothing."""
        return None

    @property
    def upsert_keys(self) -> Keys:
        """Return the sets of columns by which a change finds the row that it replaces."""
        return frozenset()

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return which changes come out if `given` come in from the inputs."""
        return Changes(any(one.update for one in given), any(one.delete for one in given))

    def needs(self, required: Updates, given: Changes) -> Updates | None:
        """Return which rows of updates an input must give, whose changes are `given`; None if that cannot be met."""
        return required if given.update else Updates.NONE

    def needs_of(self, place: int, required: Updates, given: tuple[Changes, ...]) -> Updates | None:
        """Return what `needs` returns, for the input at a place."""
        return self.needs(required, given[place])

    def inferred(self, given: tuple[Changes, ...], required: Updates) -> PhysicalNode:
        """Return the node with its mode, over inputs that have theirs; `required` is what the nodes above need."""
        if self.passes_on:
            return replace(self, mode=united(one.mode for one in self.inputs))
        return replace(self, mode=mode_of(self.changes(given), required))


@dataclass(frozen=True)
class UnaryNode(PhysicalNode):
    """A node with one input."""

    input: PhysicalNode

    @property
    def inputs(self) -> tuple[PhysicalNode, ...]:
        """Return the input."""
        return (self.input,)

    def with_inputs(self, inputs: tuple[PhysicalNode, ...]) -> Self:
        """Return the same node over another input."""
        (only,) = inputs
        return replace(self, input=only)


@dataclass(frozen=True)
class PassingNode(UnaryNode):
    """A node with one input, whose rows it passes on."""

    passes_on: ClassVar[bool] = True

    @property
    def row(self) -> RowType:
        """Return the type of the input's rows."""
        return self.input.row

    @property
    def upsert_keys(self) -> Keys:
        """Return those of the input."""
        return self.input.upsert_keys


def mode_of(changes: Changes, updates: Updates) -> ChangelogMode:
    """Return the mode of a node that gives these changes, and these rows for an update."""
    return ChangelogMode(
        update_before=changes.update and updates is Updates.BOTH,
        update_after=changes.update,
        delete=changes.delete,
    )


def united(modes: Iterable[ChangelogMode]) -> ChangelogMode:
    """Return the mode that has every kind of change that one of the modes has."""
    given = list(modes)
    return ChangelogMode(
        update_before=any(mode.update_before for mode in given),
        update_after=any(mode.update_after for mode in given),
        delete=any(mode.delete for mode in given),
    )

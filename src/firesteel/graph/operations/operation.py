"""The common part of all operations of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, eq=False)
class Operation:
    """The operation of a node.

    Contract: an operation is frozen and checks itself. Its traits are ClassVars, so that the compiler does not depend
    on the class of an operation. Each operation has a recipe in `firesteel.compiler.lower`.
    """

    kind: ClassVar[str] = "operation"
    """Its name in error messages."""

    keyed: ClassVar[bool] = False
    """Whether it has keyed state and timers even on an input without keys; on a keyed input all operations do."""

    stateful: ClassVar[bool] = False
    """Whether it has broadcast state, which belongs to no key."""

    sorts_in_batch: ClassVar[bool] = True
    """Whether BATCH mode passes it the records of a keyed input one key after another."""

    first_port: ClassVar[int | None] = None
    """The input that is delivered before all others within an epoch: the one with the broadcast records."""

    at_once: ClassVar[bool] = False
    """Whether a BATCH job with it takes all input in one epoch, for it has results only when its input has ended."""

    takes_objects: ClassVar[bool] = False
    """Whether PyFlink can run it in the worker of the function before it, which then passes it objects unchanged."""

    gives_objects: ClassVar[bool] = False
    """Whether PyFlink can run the function after it in its own worker."""

    passes_on: ClassVar[bool] = False
    """Whether it only emits records that it received."""

    keeps_nothing: ClassVar[bool] = False
    """Whether it has no state, so that it may come and go in a query: see `firesteel.graph.uids`."""

    @property
    def taken_first(self) -> int | None:
        """The input that is delivered before all others within an epoch, for this operation if not for all its kind."""
        return self.first_port

    @property
    def meaning(self) -> str:
        """What its state is of, as far as its place in the graph does not say so; it is part of the operator's id."""
        return ""

    def check(self, who: str) -> None:
        """Raise ProgramError if a field is invalid; `who` is the user's call."""

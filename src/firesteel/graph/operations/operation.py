"""What all operations of a graph have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, eq=False)
class Operation:
    """What a node does.

    Contract: an operation is frozen and checks itself; its traits are ClassVars, so that the compiler asks no operation
    for its class. Each operation has a recipe in `firesteel.compiler.lower`.
    """

    kind: ClassVar[str] = "operation"
    """How errors name it."""

    keyed: ClassVar[bool] = False
    """Whether it has keyed state and timers even on an input without keys; on a keyed input every operation has."""

    stateful: ClassVar[bool] = False
    """Whether it has state that belongs to no key: broadcast state."""

    sorts_in_batch: ClassVar[bool] = True
    """Whether, on a keyed input, BATCH mode hands it the records of one key after the other."""

    first_port: ClassVar[int | None] = None
    """The input that is delivered, within an epoch, before all others: that of broadcast records."""

    takes_objects: ClassVar[bool] = False
    """Whether PyFlink can run it in the worker of the function before it, which then hands it objects as they are."""

    gives_objects: ClassVar[bool] = False
    """Whether PyFlink can run the function behind it in its own worker."""

    passes_on: ClassVar[bool] = False
    """Whether what it emits is some or all of the records it gets."""

    def check(self, who: str) -> None:
        """Raise ProgramError where a field is not what it must be; `who` is the call the user made."""

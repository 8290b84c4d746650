"""INSERT OVERWRITE of tables of files (Flink: FileSystemCommitter).

The parts of a job stay hidden until its last epoch. Its commit shows them all, and then removes the older files of the
directories that they are in: those of a whole table, even if it has no rows now, or of the partitions that rows were
written to. A commit that is repeated removes no file of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from firesteel.connectors.files.sink.compaction import Compaction
from firesteel.connectors.files.systems import parent_of, system_of
from firesteel.functions.sink import CarryOut, Committer, Leftovers

UNTIL_THE_END: Final = Compaction(epochs=1 << 62, separately=True)
"""Lets all parts of a job wait for its last epoch; each stays a file."""


@dataclass(frozen=True)
class Overwrite:
    """A committable: the rows of a subtask are complete, and what was there before goes."""


class OverwritingCommitter(Committer):
    """Makes parts visible and removes what was in their directories, and in `always`, a directory."""

    def __init__(self, parts: Committer, always: str | None) -> None:
        self._parts = parts
        self._always = always

    def use_workers(self, carry_out: CarryOut) -> None:
        """Let workers make what is heavy of the parts."""
        self._parts.use_workers(carry_out)

    def commit(self, committables: Sequence[Any]) -> None:
        parts = [given for given in committables if not isinstance(given, Overwrite)]
        self._parts.commit(parts)
        if len(parts) < len(committables):
            kept = {part.final for part in UNTIL_THE_END.units(parts) if part.final}
            always = () if self._always is None else (self._always,)
            for directory in {*always, *map(parent_of, kept)}:
                remove_visible(directory, kept)

    def discard(self, leftovers: Leftovers) -> None:
        """Remove the hidden files of failed attempts."""
        self._parts.discard(leftovers)


def remove_visible(directory: str, kept: Iterable[str] = (), *, below: bool = False) -> None:
    """Remove the files of a directory that readers see, except some; with `below`, those of all directories in it."""
    files, own = system_of(directory), frozenset(kept)
    with suppress(FileNotFoundError):
        found = [one.path for one in files.find(directory)]
        files.remove(path for path in found if path not in own and (below or parent_of(path) == directory))

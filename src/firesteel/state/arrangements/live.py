"""The arrangements of one operator subtask, from epoch to epoch.

Contract: `declare` each arrangement once, in the operator's `open`. For each epoch: `begin`, which brings all of them
to the committed state; the operator reads and changes them; `end`, which stores what the epoch changed.

An epoch that this process has worked on may be lost, or done again elsewhere, and other processes may have worked on
later ones. So an arrangement goes back to the last state that is known to be committed, and takes the changes since
then from storage, unless the committed state is the one that it left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from firesteel.common.errors import ProgramError, StateMismatchError
from firesteel.state.arrangements.arrangement import Arrangement
from firesteel.state.arrangements.changes import Changes
from firesteel.state.arrangements.layout import Kind, Layout, decode_layout, encode_layout
from firesteel.state.arrangements.levels import Form, Shelf
from firesteel.state.arrangements.names import state_name
from firesteel.state.arrangements.shared import find, publish
from firesteel.state.arrangements.shelf import MappedFiles
from firesteel.state.live.durable import RunRef, StateAddress

NEVER: Final = 0
"""The epoch before the first one: its state is empty."""


@dataclass(frozen=True)
class ArrangementAddress:
    """One arrangement of one subtask."""

    owner: StateAddress
    name: str
    layout: Layout

    @property
    def state(self) -> str:
        """The name of its state."""
        return state_name(self.owner.operator_id, self.name)


@dataclass(frozen=True)
class Missing:
    """The changes of some epochs, oldest first; `first` is the first epoch whose changes are among them.

    `whole` means that nothing is older: an arrangement starts empty with them.
    """

    first: int
    changes: list[Changes]
    whole: bool = False


class ArrangementStore(Protocol):
    """Where the changes of arrangements are kept; `firesteel.checkpoint.attach.CheckpointedState` implements it."""

    def changes_between(
        self, arrangement: ArrangementAddress, since: int, until: int, run: RunRef | None, shelf: Shelf
    ) -> Missing:
        """Return the changes after epoch `since` up to epoch `until`, whose own run is `run`; `shelf` keeps them.

        They may begin with epochs before, if these have been merged with later ones.
        """

    def store_changes(
        self, arrangement: ArrangementAddress, epoch: int, attempt: str, changes: Changes
    ) -> RunRef | None:
        """Store the changes of an epoch; return None, and store nothing, if there are none."""


class LiveArrangements:
    """The arrangements of a subtask, by name; see the module. `who` names the operator in errors."""

    def __init__(self, who: str, stored: Mapping[str, bytes]) -> None:
        self._who = who
        self._stored = stored
        self._live: dict[str, _Live] = {}

    def __bool__(self) -> bool:
        """Return whether any arrangement has been declared."""
        return bool(self._live)

    @property
    def rows(self) -> int:
        """The rows of all arrangements, with changes of the same rows that are not merged yet."""
        return sum(sum(live.arrangement.level_sizes()) for live in self._live.values())

    def declare(self, name: str, layout: Layout) -> Arrangement:
        """Return the arrangement of this name, which is empty until `begin`.

        Raises ProgramError if the name is taken, StateMismatchError if the saved one has another layout.
        """
        if name in self._live:
            raise ProgramError("is declared twice", who=f"{self._who}: arrangement '{name}'")
        saved = self._stored.get(name)
        if saved is not None and not layout.takes_over(decode_layout(saved)):
            raise StateMismatchError(
                "must have the columns that it was saved with",
                who=f"{self._who}: arrangement '{name}'",
                got=f"{layout} instead of {decode_layout(saved)}",
                hint="start the changed query with new state: in another state directory, or under another uid",
            )
        live = self._live[name] = _Live(name, layout)
        return live.arrangement

    def begin(
        self,
        store: ArrangementStore,
        address: StateAddress,
        committed: int,
        runs: Mapping[str, RunRef],
        now: int,
        shared: Path | None = None,
        *,
        rescaled: bool = False,
    ) -> None:
        """Bring all arrangements to epoch `committed`, whose own runs of the subtask are `runs`, by name.

        `rescaled`: that epoch had another parallelism, so what a subtask has left of it is from an attempt that failed.
        `now` is the processing time of the epoch that begins (milliseconds): rows expire by it. Processes of this
        machine that run the same subtasks find each other's levels in the directory `shared` (None: they do not).
        """
        for name, live in self._live.items():
            live.share(None if shared is None else shared / name, committed + 1)
            live.advance(store, address, committed, None if rescaled else runs.get(name), rescaled=rescaled)
            live.arrangement.advance(now)

    def end(self, store: ArrangementStore, address: StateAddress, epoch: int, attempt: str) -> list[RunRef]:
        """Store what the epoch changed; return the runs."""
        runs = [live.store(store, address, epoch, attempt) for live in self._live.values()]
        return [run for run in runs if run is not None]

    def layouts(self, operator_id: str) -> dict[str, bytes]:
        """Return the layout of each arrangement, by the name of its state."""
        return {
            state_name(operator_id, name): encode_layout(live.arrangement.layout)
            for name, live in self._live.items()
        }


class _Live:
    """An arrangement, the last state of it that is known to be committed, and the state that it was left in."""

    def __init__(self, name: str, layout: Layout) -> None:
        self._files = MappedFiles()
        self.arrangement = Arrangement(layout, self._files)
        self._name = name
        self._lineage: str | None = None
        self._committed = NEVER
        self._form = Form()
        self._left: tuple[int, RunRef | None] | None = None

    def share(self, directory: Path | None, epoch: int) -> None:
        self._files.share(directory, epoch)

    def advance(
        self,
        store: ArrangementStore,
        owner: StateAddress,
        committed: int,
        run: RunRef | None,
        *,
        rescaled: bool,
    ) -> None:
        if owner.lineage != self._lineage:
            self._lineage, self._committed, self._form, self._left = owner.lineage, NEVER, Form(), None
            self.arrangement.restore(self._form)
        left_here = not rescaled and self._left == (committed, run)
        if not left_here and (self._left is not None or committed != self._committed):
            found = self._found(committed, run)
            self.arrangement.restore(found or self._form)
            if found is None:
                self._load(store, owner, committed, run)
        self._committed, self._left = committed, None
        self._form = self.arrangement.committed()

    def store(self, store: ArrangementStore, owner: StateAddress, epoch: int, attempt: str) -> RunRef | None:
        run = store.store_changes(self._address(owner), epoch, attempt, self.arrangement.changes())
        self._left = epoch, run
        if run is not None and self._files.directory is not None:
            publish(self._files, epoch, run, self.arrangement.committed())
        return run

    def _load(self, store: ArrangementStore, owner: StateAddress, committed: int, run: RunRef | None) -> None:
        address, shelf, since = self._address(owner), self.arrangement.shelf, self._committed
        if since > committed:  # the history was cut
            since = NEVER
        missing = store.changes_between(address, since, committed, run, shelf)
        if missing.first <= since and not missing.whole and address.layout.kind is Kind.MULTISET:
            since = NEVER  # what is there must not be added again
            missing = store.changes_between(address, since, committed, run, shelf)
        if missing.whole or since == NEVER:
            self.arrangement.restore(Form())
        for changes in missing.changes:
            self.arrangement.load(changes)

    def _found(self, committed: int, run: RunRef | None) -> Form | None:
        """Return the committed state as another process has left it, if one has."""
        if run is None:
            return None
        return find(self._files, committed, run, self.arrangement.layout, self.arrangement.committed())

    def _address(self, owner: StateAddress) -> ArrangementAddress:
        return ArrangementAddress(owner, self._name, self.arrangement.layout)

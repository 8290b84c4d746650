"""A job that is killed: how it is started, and what an uninterrupted run of it gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar, Protocol

from chaos.events import Event, Feed, FileFeed

Tables = dict[str, Counter[tuple[Any, ...]]]
"""The rows of tables of the database, by name."""


class System(Protocol):
    """A server that the job uses."""

    def kill(self) -> None:
        """Kill it; its data stay."""

    def start(self) -> None:
        """Start it again."""


class ChaosJob(ABC):
    """Reads the files of `directory`/input, or what else its feed sends, and writes below `directory`/output and to a
    database.

    Contract: one line `seen,ID` of the output for each event, and the lines of `results`, in any order; `in_tables`
    includes the closing event.
    """

    tables: ClassVar[tuple[str, ...]]
    """The statements that create the tables of the database."""

    def systems(self, running: ExitStack) -> dict[str, System]:
        """Start the servers that the job uses besides the database, by their names; called before all else."""
        del running
        return {}

    def feed(self, directory: Path, seed: int) -> Feed:
        """Return what sends the job's input; called once, after `systems`."""
        return FileFeed(directory / "input", seed)

    def sees_commit(self) -> bool:
        """Wait a while until a commit is under way in a system; return whether one is, as far as can be seen."""
        return False

    def in_topics(self, events: list[Event]) -> dict[str, tuple[Counter[Any], Counter[Any]]]:
        """Return what must be in topics at the end, and what is there, by name."""
        del events
        return {}

    @abstractmethod
    def command(self, directory: Path, database: str) -> tuple[str, list[str]]:
        """Return the command of `firesteel` that starts it, and what follows its options; `database` is a URL."""

    @abstractmethod
    def state(self, directory: Path) -> Path:
        """Return the state directory of the job, of a program with this one."""

    @abstractmethod
    def results(self, events: list[Event]) -> Counter[str]:
        """Return the lines of results."""

    @abstractmethod
    def in_tables(self, events: list[Event]) -> Tables:
        """Return the tables at the end."""

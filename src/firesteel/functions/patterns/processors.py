"""Patterns that have an id and a version, and where an operator that runs many of them gets them from.

Flink has not taken its proposal for this over (FLIP-200, "Support Multiple Rule and Dynamic Rule Changing"); Alibaba's
and Ververica's Flink have. Names are those of the proposal.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from firesteel.functions.patterns.definition import PatternDefinition
from firesteel.functions.patterns.results import PatternProcessFunction

__all__ = ["NamedPattern", "PatternProcessor", "PatternSource"]


@dataclass(frozen=True)
class PatternProcessor:
    """One record of a stream of definitions: a pattern as a text, with an id and a version (FLIP-200).

    Of two definitions with one id, the one with the higher version replaces the other. Without `pattern`, the pattern
    of this id is removed; without `version`, whatever its version. `parameters` are the values of names such as
    `:limit`. A pattern is looked for in events from `timestamp` on (milliseconds, of event time or of processing time
    as the stream has it), and the one that it replaces in events before; without it, at once.

    >>> PatternProcessor("drop", 2, "select * from every a = Event(price > :high) -> b = Event", {"high": 100})
    ... # doctest: +ELLIPSIS
    PatternProcessor(id='drop', version=2, pattern='select * ...', parameters={'high': 100}, timestamp=None)
    """

    id: str
    version: int | None = None
    pattern: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    timestamp: int | None = None

    def parts(self) -> tuple[Any, ...]:
        """Return what it is made of, in the order of its constructor."""
        return self.id, self.version, self.pattern, dict(self.parameters), self.timestamp


@dataclass(frozen=True, eq=False)
class NamedPattern:
    """A pattern that can be run: what it is, and what processes its matches."""

    definition: PatternDefinition
    function: PatternProcessFunction


class PatternSource(ABC):
    """Turns the records of a stream of definitions into patterns.

    Contract: both methods return the same for the same record, in every subtask; what they raise for a record that is
    wrong is a ProgramError.
    """

    @abstractmethod
    def read(self, value: Any, who: str) -> PatternProcessor:
        """Return the definition that a record is; errors call the stream `who`."""

    @abstractmethod
    def named(self, processor: PatternProcessor, who: str) -> NamedPattern:
        """Return the pattern of a definition that has one; errors call its text `who`."""

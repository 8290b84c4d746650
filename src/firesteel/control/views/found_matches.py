"""Partial matches as they are shown, whatever looks for them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PartialMatch:
    """A partial match of a key, as an epoch has left it.

    `waits_for` is the step whose event it waits for; "not b" if it is a match once its time is over without an event of
    the step b. `start` and `last` are the times of its first and its last event (milliseconds), `events` are its events
    by step. One that is `complete` is held back, by its skip strategy, until a match that began earlier is decided.
    `pattern` and `version` are those of its pattern where an operator looks for many.
    """

    key: Any
    waits_for: str
    start: int
    last: int
    events: dict[str, list[Any]]
    complete: bool = False
    pattern: str | None = None
    version: int | None = None


@dataclass
class Waiting:
    """How many partial matches of a pattern there are, by the number of the state of its `shape` that they wait in.

    `held_back` counts those that are complete, and wait until a match that began earlier is decided. `pattern` and
    `version` are as for a `PartialMatch`.
    """

    shape: list[str]
    pattern: str | None
    version: int | None
    states: Counter[int]
    held_back: int = 0

"""A compiled program, as the driver uses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from firesteel.functions.sink import Sink
from firesteel.functions.source import Source
from firesteel.runtime.plan import Plan


@dataclass(frozen=True)
class Program:
    """A compiled job with the live objects that the driver uses, by operator index.

    `at` compiles the same program for another parallelism; it raises ProgramError if that is not possible.
    """

    plan: Plan
    sources: dict[int, Source[Any]]
    sinks: dict[int, Sink[Any]]
    parallelism: int
    at: Callable[[int], Program]

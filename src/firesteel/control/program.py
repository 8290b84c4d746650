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

    @property
    def savepoint_caution(self) -> str | None:
        """A warning about a savepoint if the job continues; None if there is none."""
        sinks = [
            self.plan.operators[index].who for index, sink in self.sinks.items() if sink.holds_output_back
        ]
        if not sinks:
            return None
        return (
            "the savepoint needs the hidden files of parts that are still open, and the running job removes these "
            f"files some time after a part is complete. Sinks at risk: {', '.join(sinks)}. Start from the savepoint "
            "soon, end the job with it (`firesteel stop --savepoint`), or have parts end with each epoch "
            "(`RollingPolicy.on_checkpoint_rolling_policy()`)"
        )

"""The operation that finds matches of a pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from firesteel.functions.patterns.results import PatternProcessFunction
from firesteel.graph.checks import require
from firesteel.graph.operations.operation import Operation

if TYPE_CHECKING:
    from collections.abc import Callable

    from firesteel.functions.output_tag import OutputTag
    from firesteel.functions.patterns.definition import PatternDefinition


@dataclass(frozen=True, eq=False)
class PatternOp(Operation):
    """Finds the matches of a pattern among the events of each key, and processes them.

    Without `by_key` the input is not keyed and goes to one subtask. With `event_time` events are taken in the order of
    their timestamps, otherwise as they come. `comparator` orders events of one key and time.
    """

    kind = "pattern"
    gives_objects = True
    keyed: ClassVar[bool] = True

    definition: PatternDefinition
    function: Any
    event_time: bool = True
    comparator: Callable[[Any, Any], int] | None = None
    late_tag: OutputTag | None = None
    by_key: bool = True

    def check(self, who: str) -> None:
        """Require a function of matches."""
        require(self.function, (PatternProcessFunction,), who, "subclass PatternProcessFunction")

"""The operations that find matches of patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from firesteel.functions.patterns.processors import PatternSource
from firesteel.functions.patterns.results import PatternProcessFunction
from firesteel.graph.checks import require
from firesteel.graph.operations.operation import Operation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from firesteel.functions.output_tag import OutputTag
    from firesteel.functions.patterns.definition import PatternDefinition
    from firesteel.functions.patterns.processors import NamedPattern


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


@dataclass(frozen=True, eq=False)
class ManyPatternsOp(Operation):
    """Finds the matches of many patterns, each with an id, among the events of each key."""

    kind = "patterns"
    gives_objects = True
    keyed: ClassVar[bool] = True

    patterns: Mapping[str, NamedPattern]
    event_time: bool = True
    comparator: Callable[[Any, Any], int] | None = None
    late_tag: OutputTag | None = None

    def check(self, who: str) -> None:
        """Require functions of matches."""
        for pattern in self.patterns.values():
            require(pattern.function, (PatternProcessFunction,), who, "subclass PatternProcessFunction")


@dataclass(frozen=True, eq=False)
class DynamicPatternsOp(Operation):
    """Finds the matches of patterns that come as a broadcast stream of definitions, on port 1.

    `source` makes patterns of them; `functions` process matches of any number of patterns. Definitions that are wrong
    go to the side output of `rejected_tag`, or are errors if it is `strict`.
    """

    kind = "dynamic_patterns"
    gives_objects = True
    keyed: ClassVar[bool] = True
    stateful: ClassVar[bool] = True
    first_port: ClassVar[int | None] = 1

    source: PatternSource
    functions: tuple[Any, ...] = ()
    rejected_tag: OutputTag | None = None
    strict: bool = False
    event_time: bool = True
    comparator: Callable[[Any, Any], int] | None = None
    late_tag: OutputTag | None = None

    def check(self, who: str) -> None:
        """Require a source of patterns, and functions of matches."""
        require(self.source, (PatternSource,), who, "subclass PatternSource")
        for function in self.functions:
            require(function, (PatternProcessFunction,), who, "subclass PatternProcessFunction")

"""Streams in which a pattern is looked for (Flink: PatternStream)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from firesteel.cep.checks import check_pattern
from firesteel.cep.drawing.forms import Form
from firesteel.cep.pattern import Pattern
from firesteel.cep.timing import Timing
from firesteel.common.errors import ProgramError
from firesteel.datastream import DataStream, OutputTag
from firesteel.datastream.streams.adding import OutputType
from firesteel.datastream.streams.node_settings import call_site
from firesteel.functions.adapt import as_function
from firesteel.functions.base import Function
from firesteel.functions.patterns.definition import PatternDefinition
from firesteel.functions.patterns.results import (
    Match,
    PatternFlatSelectFunction,
    PatternFlatTimeoutFunction,
    PatternProcessFunction,
    PatternSelectFunction,
    PatternTimeoutFunction,
    Selecting,
    SelectingTimeouts,
)
from firesteel.graph import Edge
from firesteel.graph.checks import require
from firesteel.graph.nodes import Global
from firesteel.graph.operations import PatternOp

__all__ = ["Comparator", "PatternStream"]

Comparator = Callable[[Any, Any], int]
"""Returns a negative number, zero or a positive number if the first event is before the second, equal, or after it."""

Select = PatternSelectFunction | Callable[[Match], Any]
FlatSelect = PatternFlatSelectFunction | Callable[[Match], Any]
Timeout = PatternTimeoutFunction | Callable[[Match, int], Any]
FlatTimeout = PatternFlatTimeoutFunction | Callable[[Match, int], Any]


class PatternStream(Timing):
    """A stream in which a pattern is looked for; `process`, `select` and `flat_select` say what becomes of matches.

    It works in event time unless `in_processing_time` is called. Setters return a new PatternStream.

    >>> from firesteel.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> letters = env.from_collection(["a", "x", "b", "a"]).key_by(lambda e: "all")
    >>> pattern = Pattern.begin("first").where(lambda e: e == "a").followed_by("then").where(lambda e: e == "b")
    >>> found = PatternStream(letters, pattern).in_processing_time().select(lambda match: match["then"][0])
    >>> found.get_name()
    'CepOperator'
    """

    def __init__(self, stream: DataStream, pattern: Pattern, comparator: Comparator | None = None) -> None:
        self._stream = stream
        self._pattern = pattern
        self._comparator = comparator

    def explain(self, form: Form = "text") -> str:
        """Return a drawing of the pattern: see `Pattern.explain`."""
        return self._pattern.explain(form)

    def process(
        self, pattern_process_function: PatternProcessFunction, output_type: OutputType = None
    ) -> DataStream:
        """Process matches; a function that is a TimedOutPartialMatchHandler also gets partial matches without time."""
        require(
            pattern_process_function,
            (PatternProcessFunction,),
            call_site("process"),
            "subclass PatternProcessFunction, or use select(...) with a plain function",
        )
        return self._add("process", pattern_process_function, output_type)

    @overload
    def select(self, select_function: Select, /, output_type: OutputType = None) -> DataStream: ...
    @overload
    def select(
        self,
        timed_out_tag: OutputTag,
        timeout_function: Timeout,
        select_function: Select,
        /,
        output_type: OutputType = None,
    ) -> DataStream: ...
    def select(self, *functions: Any, output_type: OutputType = None) -> DataStream:
        """Turn each match into a result.

        With a tag before it, and a function of a partial match and the time at which it ran out of time, the result of
        that function goes to a side output for each such partial match.
        """
        return self._select("select", functions, output_type, flat=False)

    @overload
    def flat_select(
        self, flat_select_function: FlatSelect, /, output_type: OutputType = None
    ) -> DataStream: ...
    @overload
    def flat_select(
        self,
        timed_out_tag: OutputTag,
        flat_timeout_function: FlatTimeout,
        flat_select_function: FlatSelect,
        /,
        output_type: OutputType = None,
    ) -> DataStream: ...
    def flat_select(self, *functions: Any, output_type: OutputType = None) -> DataStream:
        """Turn each match into any number of results: what the function yields or returns in an iterable.

        With a tag and a function of partial matches before it, as `select`.
        """
        return self._select("flat_select", functions, output_type, flat=True)

    def _select(
        self, call: str, functions: tuple[Any, ...], output_type: OutputType, *, flat: bool
    ) -> DataStream:
        who = call_site(call)
        if len(functions) not in (1, 3):
            raise ProgramError(
                "requires a function of a match, or a tag, a function of a partial match and a function of a match",
                who=who,
                got=f"{len(functions)} arguments",
            )
        *timeouts, selecting = functions
        kind: type[Function] = PatternFlatSelectFunction if flat else PatternSelectFunction
        function = as_function(selecting, kind, call, who)
        select = getattr(function, call)
        if not timeouts:
            return self._add(call, Selecting(function, select, flat=flat), output_type)
        tag, timing_out = timeouts
        require(
            tag, (OutputTag,), who, "pass the tag, the function of partial matches, the function of matches"
        )
        late: type[Function] = PatternFlatTimeoutFunction if flat else PatternTimeoutFunction
        timeout: Any = as_function(timing_out, late, "timeout", who)
        return self._add(call, SelectingTimeouts(function, select, tag, timeout, flat=flat), output_type)

    def _add(self, call: str, function: PatternProcessFunction, output_type: OutputType) -> DataStream:
        definition = self._pattern.definition()
        self._check(definition, call_site(call))
        stream = self._stream
        operation = PatternOp(
            definition,
            function,
            self._event_time,
            self._comparator,
            self._late_tag,
            by_key=stream._is_keyed,
        )
        if stream._is_keyed:
            return stream._then(operation, "CepOperator", output_type)
        inputs: list[tuple[Edge, ...]] = [stream._partitioned(Global())]
        return stream._then(operation, "GlobalCepOperator", output_type, inputs, parallelism=1)

    def _check(self, definition: PatternDefinition, who: str) -> None:
        check_pattern(definition, self._comparator, who)

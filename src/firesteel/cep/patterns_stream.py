"""Streams in which many patterns are looked for: those of the program, or those of a stream of definitions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

from firesteel.cep.checks import check_pattern
from firesteel.cep.pattern import Pattern
from firesteel.cep.pattern_stream import Comparator
from firesteel.cep.text.building import Setting, TextPattern
from firesteel.cep.text.sharing import RowsOfPatterns, TextSource, shared_text
from firesteel.cep.timing import Timing
from firesteel.common.errors import ProgramError
from firesteel.common.watermark_strategy import WatermarkGenerator, WatermarkOutput, WatermarkStrategy
from firesteel.datastream import DataStream, OutputTag
from firesteel.datastream.streams.adding import OutputType
from firesteel.datastream.streams.node_settings import call_site
from firesteel.functions.patterns.processors import NamedPattern
from firesteel.functions.patterns.results import Match, PatternContext, PatternProcessFunction
from firesteel.graph.checks import require
from firesteel.graph.nodes import Broadcast
from firesteel.graph.operations import DynamicPatternsOp, ManyPatternsOp, TimestampsOp

__all__ = ["DynamicPatternStream", "PatternsStream"]


class _ManyPatterns(Timing, ABC):
    """A stream in which many patterns are looked for."""

    def __init__(self, stream: DataStream, comparator: Comparator | None) -> None:
        self._stream = stream if stream._is_keyed else stream.key_by(_one_key)
        self._settings: dict[str, Any] = {} if stream._is_keyed else {"parallelism": 1}
        self._comparator = comparator

    def process(
        self, pattern_process_function: PatternProcessFunction, output_type: OutputType = None
    ) -> DataStream:
        """Process matches of all patterns; `ctx.pattern_id()` and `ctx.pattern_version()` tell whose match it is.

        A function that is a TimedOutPartialMatchHandler also gets partial matches without time.
        """
        require(
            pattern_process_function,
            (PatternProcessFunction,),
            call_site("process"),
            "subclass PatternProcessFunction, or use select(...) with a plain function",
        )
        return self._add(pattern_process_function, output_type)

    def select(
        self, select_function: Callable[[str, Match], Any], output_type: OutputType = None
    ) -> DataStream:
        """Turn each match into a result: what the function of a pattern's id and a match returns."""
        if not callable(select_function):
            raise ProgramError(
                "requires a function of the id of a pattern and a match",
                who=call_site("select"),
                got=f"{select_function!r:.80}",
            )
        return self._add(_Selecting(select_function), output_type)

    def rows(self, output_type: OutputType = None) -> DataStream:
        """Return for each match a `Row` of `id` and `version` of the pattern, and `row`, which its text selects."""
        return self._add(None, output_type)

    @abstractmethod
    def _add(self, function: PatternProcessFunction | None, output_type: OutputType) -> DataStream:
        """Add the operation with a function of all matches; None for the rows that texts select."""


class PatternsStream(_ManyPatterns):
    """A stream in which several patterns are looked for; `process`, `select` and `rows` say what becomes of matches.

    It works in event time unless `in_processing_time` is called. Setters return a new PatternsStream.
    """

    def __init__(
        self,
        stream: DataStream,
        patterns: Mapping[str, Pattern | str],
        setting: Setting,
        comparator: Comparator | None,
        who: str,
    ) -> None:
        super().__init__(stream, comparator)
        self._patterns = {id_: _found(id_, pattern, setting, who) for id_, pattern in patterns.items()}

    def _add(self, function: PatternProcessFunction | None, output_type: OutputType) -> DataStream:
        named = {}
        for id_, pattern in self._patterns.items():
            mine = function
            if mine is None and isinstance(pattern, TextPattern):
                mine = RowsOfPatterns(pattern.select)
            if mine is None:
                raise ProgramError(
                    "requires patterns that are written as texts",
                    who=call_site("rows"),
                    got=f"{id_!r}, which is not",
                    hint="use select(...) or process(...)",
                )
            made = pattern.pattern if isinstance(pattern, TextPattern) else pattern
            named[id_] = NamedPattern(made.definition(), mine)
        operation = ManyPatternsOp(named, self._event_time, self._comparator, self._late_tag)
        return self._stream._then(operation, "CepOperator", output_type, **self._settings)


class DynamicPatternStream(_ManyPatterns):
    """A stream in which the patterns of a stream of definitions are looked for; `process`, `select` and `rows` say what
    becomes of matches.

    It works in event time unless `in_processing_time` is called. Setters return a new DynamicPatternStream.
    """

    _rejected_tag: OutputTag | None = None
    _strict: bool = False

    def __init__(
        self, stream: DataStream, definitions: DataStream, setting: Setting, comparator: Comparator | None
    ) -> None:
        super().__init__(stream, comparator)
        self._definitions = definitions
        self._setting = setting

    def side_output_rejected_definitions(self, output_tag: OutputTag) -> Self:
        """Send definitions that are wrong to a side output, instead of logging and dropping them.

        It gets a `Row` of `definition`, `message`, `line` and `column`, the last two None unless it is about a place
        in the text.
        """
        require(output_tag, (OutputTag,), call_site("side_output_rejected_definitions"), "pass an OutputTag")
        return self._with(_rejected_tag=output_tag, _strict=False)

    def fail_on_rejected_definitions(self) -> Self:
        """Let a definition that is wrong end the job, with the error."""
        return self._with(_rejected_tag=None, _strict=True)

    def _add(self, function: PatternProcessFunction | None, output_type: OutputType) -> DataStream:
        definitions = self._definitions._values()
        timeless = definitions._then(
            TimestampsOp(WatermarkStrategy.for_generator(_NoTime)),
            "Definitions",
            definitions._type_info,
            parallelism=definitions._own_parallelism(),
        )
        operation = DynamicPatternsOp(
            TextSource(self._setting, function),
            () if function is None else (function,),
            self._rejected_tag,
            self._strict,
            self._event_time,
            self._comparator,
            self._late_tag,
        )
        inputs = [self._stream._edges, timeless._partitioned(Broadcast())]
        return self._stream._then(operation, "DynamicCepOperator", output_type, inputs, **self._settings)


def _found(id_: object, pattern: object, setting: Setting, who: str) -> Pattern | TextPattern:
    if not isinstance(id_, str) or not id_:
        raise ProgramError("requires ids that are strings, and not empty", who=who, got=f"{id_!r:.80}")
    if isinstance(pattern, str):
        return shared_text(pattern, setting, f"{who}, {id_!r}")
    require(pattern, (Pattern,), f"{who}, {id_!r}", "pass a Pattern or its text")
    assert isinstance(pattern, Pattern)
    check_pattern(pattern.definition(), None, f"{who}, {id_!r}")
    return pattern


def _one_key(_event: object) -> int:
    """The key of all events of a stream without keys."""
    return 0


class _Selecting(PatternProcessFunction):
    """Emits what a function of the pattern's id and the match returns."""

    def __init__(self, select: Callable[[str, Match], Any]) -> None:
        self._select = select

    def process_match(self, match: Match, ctx: PatternContext) -> Any:
        id_ = ctx.pattern_id()
        assert id_ is not None
        return (self._select(id_, match),)


class _NoTime(WatermarkGenerator):
    """Definitions do not tell how far time has come: they are idle, so that they hold no watermark back."""

    def on_event(self, event: Any, timestamp: int, output: WatermarkOutput) -> None:
        output.mark_idle()

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        output.mark_idle()

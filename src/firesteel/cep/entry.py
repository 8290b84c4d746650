"""The way from streams and patterns to matches (Flink: CEP)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from firesteel.cep.pattern import Pattern
from firesteel.cep.pattern_stream import Comparator, PatternStream
from firesteel.cep.patterns_stream import DynamicPatternStream, PatternsStream
from firesteel.cep.text_stream import TextPatternStream, setting_of, text_pattern_stream
from firesteel.common.errors import ProgramError
from firesteel.datastream import DataStream
from firesteel.datastream.streams.node_settings import call_site
from firesteel.graph.checks import require

__all__ = ["CEP"]


class CEP:
    """The way from a stream and a pattern to matches."""

    @staticmethod
    def pattern(
        input_stream: DataStream, pattern: Pattern, comparator: Comparator | None = None
    ) -> PatternStream:
        """Return the stream in which the pattern is looked for: for each key if it is keyed, else in one subtask.

        `comparator` orders the events of one key and time; without it they have the order of their arrival.
        """
        who = call_site("CEP.pattern")
        require(input_stream, (DataStream,), who, "pass the stream itself")
        require(pattern, (Pattern,), who, "write e.g. Pattern.begin('first').where(...)")
        _check_comparator(comparator, who)
        return PatternStream(input_stream, pattern, comparator)

    @staticmethod
    def pattern_text(
        input_stream: DataStream,
        text: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        types: Mapping[str, type] | None = None,
        kind: str | None = None,
        comparator: Comparator | None = None,
    ) -> TextPatternStream:
        """Return the stream in which the pattern of a text is looked for, and selects rows (docs/cep-language.md).

        `parameters` are the values of names such as `:limit`, `types` the classes of the types that the text names;
        `kind` is the field that has the name of an event's type if its class does not say it. With `partition by` the
        text makes keys of its own. Raises PatternTextError, with line and column.

        >>> from firesteel.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> prices = env.from_collection([{"id": "tea", "price": 120}, {"id": "tea", "price": 40}])
        >>> text = "select a.id, b.price from every a = Event(price > 100) -> b = Event(price < :low) partition by id"
        >>> drops = CEP.pattern_text(prices, text, parameters={"low": 50}).in_processing_time().rows()
        """
        who = call_site("CEP.pattern_text")
        require(input_stream, (DataStream,), who, "pass the stream itself")
        require(text, (str,), who, "write e.g. select * from every a = Event(price > 100) -> b = Event")
        return text_pattern_stream(who, input_stream, text, parameters, types, kind, comparator)

    @staticmethod
    def pattern_file(
        input_stream: DataStream,
        path: str | Path,
        *,
        parameters: Mapping[str, Any] | None = None,
        types: Mapping[str, type] | None = None,
        kind: str | None = None,
        comparator: Comparator | None = None,
    ) -> TextPatternStream:
        """Do as `pattern_text` with the text of a file (UTF-8), which is read at once."""
        who = call_site("CEP.pattern_file")
        require(input_stream, (DataStream,), who, "pass the stream itself")
        require(path, (str, Path), who, "pass the path of a file")
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ProgramError(
                "requires a file with the text of a pattern", who=who, got=str(error)
            ) from error
        return text_pattern_stream(f"{who}, {path}", input_stream, text, parameters, types, kind, comparator)

    @staticmethod
    def patterns(
        input_stream: DataStream,
        patterns: Mapping[str, Pattern | str],
        *,
        parameters: Mapping[str, Any] | None = None,
        types: Mapping[str, type] | None = None,
        kind: str | None = None,
        comparator: Comparator | None = None,
    ) -> PatternsStream:
        """Return the stream in which several patterns are looked for, by their ids, in one operator.

        Each finds what it would find alone, at less cost: events wait and are put in order once for all, and an event
        goes only to patterns that it can begin, or that have partial matches of its key. A pattern may be a text, which
        shares the keys of the stream; the other arguments are those of `pattern_text`, for all texts.

        >>> from firesteel.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> prices = env.from_collection([{"id": "tea", "price": 120}, {"id": "tea", "price": 40}])
        >>> text = "select b.price from every a = Event(price > 100) -> b = Event(price < 50)"
        >>> cheap = Pattern.begin("cheap").where(lambda event: event["price"] < 50)
        >>> found = CEP.patterns(prices.key_by(lambda event: event["id"]), {"drop": text, "cheap": cheap})
        >>> names = found.in_processing_time().select(lambda pattern_id, match: pattern_id)
        """
        who = call_site("CEP.patterns")
        require(input_stream, (DataStream,), who, "pass the stream itself")
        require(patterns, (Mapping,), who, "pass a dict: {'drop': Pattern.begin(...), ...}")
        _check_comparator(comparator, who)
        setting = replace(setting_of(who, input_stream, parameters, types, kind), shared=True)
        return PatternsStream(input_stream, patterns, setting, comparator, who)

    @staticmethod
    def dynamic_patterns(
        input_stream: DataStream,
        definitions_stream: DataStream,
        *,
        types: Mapping[str, type] | None = None,
        kind: str | None = None,
        comparator: Comparator | None = None,
    ) -> DynamicPatternStream:
        """Return the stream in which the patterns of a stream of definitions are looked for, while they change.

        A definition is a `PatternProcessor`, or a dict, a `Row` or an object with its fields: the text of a pattern,
        its id and version. The state of a pattern that is replaced or removed goes away. `types` and `kind` are those
        of `pattern_text`. Flink: FLIP-200, which Flink itself does not have.

        >>> from firesteel.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> prices = env.from_collection([{"id": "tea", "price": 120}, {"id": "tea", "price": 40}])
        >>> text = "select b.price from every a = Event(price > 100) -> b = Event(price < 50)"
        >>> definitions = env.from_collection([{"id": "drop", "version": 1, "pattern": text}])
        >>> found = CEP.dynamic_patterns(prices.key_by(lambda event: event["id"]), definitions)
        >>> rows = found.in_processing_time().rows()
        """
        who = call_site("CEP.dynamic_patterns")
        for stream in (input_stream, definitions_stream):
            require(stream, (DataStream,), who, "pass the stream of events, then the stream of definitions")
        input_stream._require_neighbour(definitions_stream, "CEP.dynamic_patterns")
        _check_comparator(comparator, who)
        setting = setting_of(who, input_stream, None, types, kind)
        return DynamicPatternStream(input_stream, definitions_stream, setting, comparator)


def _check_comparator(comparator: object, who: str) -> None:
    if comparator is not None and not callable(comparator):
        raise ProgramError(
            "requires a comparator that is a function of two events", who=who, got=f"{comparator!r:.80}"
        )

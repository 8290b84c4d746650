"""The way from streams and patterns to matches (Flink: CEP)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from firesteel.cep.pattern import Pattern
from firesteel.cep.pattern_stream import Comparator, PatternStream
from firesteel.cep.text_stream import TextPatternStream, text_pattern_stream
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
        if comparator is not None and not callable(comparator):
            raise ProgramError(
                "requires a comparator that is a function of two events", who=who, got=f"{comparator!r:.80}"
            )
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

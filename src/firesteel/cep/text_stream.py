"""Streams in which a pattern that is written as a text is looked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firesteel.cep.checks import check_pattern
from firesteel.cep.pattern_stream import Comparator, PatternStream
from firesteel.cep.text.building import Setting, TextPattern, built
from firesteel.cep.text.faults import Faults
from firesteel.cep.text.parsing import parsed
from firesteel.common.errors import ProgramError
from firesteel.common.places import Source
from firesteel.common.typeinfo import TypeInformation
from firesteel.datastream import DataStream, OutputTag
from firesteel.datastream.streams.adding import OutputType
from firesteel.datastream.streams.node_settings import call_site
from firesteel.functions.patterns.definition import PatternDefinition
from firesteel.functions.patterns.growth import WORDS
from firesteel.graph.checks import require

__all__ = ["TextPatternStream", "setting_of", "text_pattern_stream"]


class TextPatternStream(PatternStream):
    """A stream in which a pattern of a text is looked for; `rows` are what the text selects.

    It is a PatternStream, too: `select` and `process` get the match, a list of events for each step.
    """

    def __init__(
        self, title: str, stream: DataStream, text: TextPattern, comparator: Comparator | None = None
    ) -> None:
        super().__init__(stream, text.pattern, comparator)
        self._title = title
        self._text = text

    @property
    def row_type(self) -> TypeInformation | None:
        """The type of the rows, as far as that of the stream tells it; None if it tells nothing.

        A column whose type is not known has that of any object.
        """
        return self._text.row_type

    def rows(self, output_type: OutputType = None, *, timed_out: OutputTag | None = None) -> DataStream:
        """Return for each match the row that the text selects: a `Row` with the names of its columns.

        Its type is `row_type` unless `output_type` says another. With `timed_out`, partial matches whose time has run
        out give rows of the same columns, in the side output of that tag; what a step without events says is NULL.
        """
        if output_type is None:
            output_type = self.row_type
        select = self._text.select
        if timed_out is None:
            return self.select(select, output_type=output_type)
        require(
            timed_out,
            (OutputTag,),
            call_site("rows"),
            "pass e.g. timed_out=OutputTag('late', matches.row_type)",
        )
        return self.select(timed_out, select.of_partial_match, select, output_type=output_type)

    def _check(self, definition: PatternDefinition, who: str) -> None:
        check_pattern(definition, self._comparator, self._title, WORDS)


def text_pattern_stream(
    title: str,
    stream: DataStream,
    text: str,
    parameters: Mapping[str, Any] | None,
    types: Mapping[str, type] | None,
    kind: str | None,
    comparator: Comparator | None,
) -> TextPatternStream:
    """Return the stream in which the pattern of a text is looked for; `title` is what errors call the text."""
    setting = setting_of(title, stream, parameters, types, kind)
    faults = Faults(Source(text), title)
    pattern = built(parsed(faults), setting, faults)
    keyed = stream if pattern.key is None else stream.key_by(pattern.key)
    return TextPatternStream(title, keyed, pattern, comparator)


def setting_of(
    title: str,
    stream: DataStream,
    parameters: Mapping[str, Any] | None,
    types: Mapping[str, type] | None,
    kind: str | None,
) -> Setting:
    """Return what a program says besides the texts of patterns. Raises ProgramError if it is wrong."""
    _require_names("parameters", parameters, title)
    _require_names("types", types, title)
    for name, each in (types or {}).items():
        if not isinstance(each, type):
            raise ProgramError(f"requires a class for the type {name!r}", who=title, got=f"{each!r:.80}")
    if kind is not None and not isinstance(kind, str):
        raise ProgramError("requires the name of a field for kind", who=title, got=f"{kind!r:.80}")
    return Setting(parameters or {}, types or {}, kind, stream.get_type())


def _require_names(what: str, names: object, title: str) -> None:
    if names is not None and not isinstance(names, Mapping):
        raise ProgramError(f"requires a dict for {what}", who=title, got=f"{names!r:.80}")

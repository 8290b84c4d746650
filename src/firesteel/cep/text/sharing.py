"""Texts of patterns that share one stream: each gets an id, and none makes keys of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from firesteel.cep.text.building import Setting, TextPattern, built
from firesteel.cep.text.faults import Faults
from firesteel.cep.text.parsing import parsed
from firesteel.common.errors import ProgramError
from firesteel.common.places import Source, Span
from firesteel.common.types import Row
from firesteel.functions.patterns.growth import WORDS, warn_of_growth
from firesteel.functions.patterns.processors import NamedPattern, PatternProcessor, PatternSource
from firesteel.functions.patterns.results import Match, PatternContext, PatternProcessFunction
from firesteel.functions.patterns.written import WrittenSelect, field

__all__ = ["RowsOfPatterns", "TextSource", "shared_text"]

_Found = Row("id", "version", "row")
_HINT: Final = "a dict, a Row or an object with id, version and pattern, and maybe parameters and timestamp"


def shared_text(text: str, setting: Setting, title: str) -> TextPattern:
    """Return the pattern of a text that shares the keys of its stream. Raises PatternTextError."""
    faults = Faults(Source(text), title)
    query = parsed(faults)
    if query.partition:
        first, last = query.partition[0].span, query.partition[-1].span
        raise faults.at(
            Span(first.start, last.end, first.line, first.column),
            "requires the keys that all patterns of the stream share",
            got="partition by",
            hint="leave it out, and key the stream: key_by(...)",
        )
    pattern = built(query, setting, faults)
    definition = pattern.pattern.definition()
    if all(step.within is None for step in definition.steps):
        warn_of_growth(definition.steps, title, WORDS)
    return pattern


class RowsOfPatterns(PatternProcessFunction):
    """Emits for each match the id and the version of the pattern, and the row that its text selects."""

    def __init__(self, select: WrittenSelect) -> None:
        self._select = select

    def process_match(self, match: Match, ctx: PatternContext) -> Any:
        yield _Found(ctx.pattern_id(), ctx.pattern_version(), self._select.select(match))


@dataclass(frozen=True, eq=False)
class TextSource(PatternSource):
    """Definitions whose patterns are texts; `function` processes all matches, without one they become rows."""

    setting: Setting
    function: PatternProcessFunction | None = None

    def read(self, value: Any, who: str) -> PatternProcessor:
        if isinstance(value, PatternProcessor):
            found = value
        else:
            try:
                found = PatternProcessor(field(value, "id"), *(_field(value, name) for name in _MORE))
            except AttributeError:
                raise _wrong(who, "requires a definition of a pattern", value, f"pass {_HINT}") from None
        _check(found, who)
        return replace(found, parameters=dict(found.parameters or {}))

    def named(self, processor: PatternProcessor, who: str) -> NamedPattern:
        assert processor.pattern is not None
        setting = replace(self.setting, parameters=processor.parameters)
        text = shared_text(processor.pattern, setting, who)
        return NamedPattern(text.pattern.definition(), self.function or RowsOfPatterns(text.select))


_MORE: Final = ("version", "pattern", "parameters", "timestamp")


def _field(value: Any, name: str) -> Any:
    """Return a field of a definition; None if it has none of this name."""
    try:
        return field(value, name)
    except AttributeError:
        return None


def _check(new: PatternProcessor, who: str) -> None:
    if not isinstance(new.id, str) or not new.id:
        raise _wrong(who, "requires a definition with an id, a string", new.id)
    who = f"{who}: pattern {new.id!r}"
    if new.pattern is not None and not isinstance(new.pattern, str):
        raise _wrong(who, "requires the text of a pattern, or none, to remove it", new.pattern)
    if not _is_whole(new.version) and (new.version is not None or new.pattern is not None):
        raise _wrong(who, "requires a version, a whole number", new.version)
    if new.parameters is not None and not isinstance(new.parameters, Mapping):
        raise _wrong(who, "requires a dict for the parameters", new.parameters)
    if new.timestamp is not None and not _is_whole(new.timestamp):
        raise _wrong(who, "requires a timestamp in milliseconds, or none", new.timestamp)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _wrong(who: str, requirement: str, value: object, hint: str | None = None) -> ProgramError:
    return ProgramError(requirement, who=who, got=f"{value!r:.80}", hint=hint)

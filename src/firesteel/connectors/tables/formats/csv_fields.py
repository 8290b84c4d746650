"""CSV text to the fields of its records, as Jackson splits it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

_END: Final = re.compile(r"\r\n|\n|\r|$")
_REST: Final = re.compile(r"[^\r\n]*")


@dataclass(frozen=True)
class CsvRules:
    """How CSV is written and read: the options of Flink's format; None for what there is not.

    `lenient` means that a field that does not fit is NULL, that a row may have too few fields, and that other records
    that do not fit are left out.
    """

    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    null_literal: str | None = None
    comments: bool = False
    array_delimiter: str = ";"
    lenient: bool = False


class Record(NamedTuple):
    """A record: its fields, or the text of one whose quotes are wrong; and where it ends."""

    fields: list[str] | None
    text: str
    end: int


def records(text: str, rules: CsvRules) -> Iterator[Record]:
    """Yield the records of a text; comments are left out.

    A quote opens a field only as its first character. After the one that closes it spaces may come, and then the
    delimiter or the end of the line.

    >>> [record.fields for record in records('1,"a, ""b"" c"\\n,c"d', CsvRules())]
    [['1', 'a, "b" c'], ['', 'c"d']]
    """
    plain, quoted = _patterns(rules.delimiter, rules.quote, rules.escape)
    place = 0
    while place < len(text):
        if rules.comments and text.startswith("#", place):
            place = _next_line(text, place)
            continue
        start = place
        fields: list[str] | None = []
        while fields is not None:
            opened = rules.quote is not None and text.startswith(rules.quote, place)
            match = (quoted if opened else plain).match(text, place)
            if match is None:
                fields = None
                place = _next_line(text, place)
                break
            fields.append(_unescaped(match[1], rules, opened))
            place = match.end()
            if not text.startswith(rules.delimiter, place):
                break
            place += 1
        line_end = _END.match(text, place)
        content_end = place
        if fields is not None and line_end is not None:
            place = line_end.end()
        yield Record(fields, text[start:content_end], place)


def _next_line(text: str, place: int) -> int:
    rest = _REST.match(text, place)
    assert rest is not None
    line_end = _END.match(text, rest.end())
    assert line_end is not None
    return line_end.end()


def _unescaped(field: str, rules: CsvRules, quoted: bool) -> str:
    if quoted and rules.quote is not None:
        field = field.replace(rules.quote * 2, rules.quote)
    if rules.escape is None or rules.escape not in field:
        return field
    return re.sub(re.escape(rules.escape) + r"(.)", r"\1", field, flags=re.DOTALL)


@lru_cache(64)
def _patterns(
    delimiter: str, quote: str | None, escape: str | None
) -> tuple[re.Pattern[str], re.Pattern[str]]:
    mark = re.escape(delimiter)
    skip = "" if escape is None else f"{re.escape(escape)}."
    out = "" if escape is None else re.escape(escape)
    plain = re.compile(f"((?:[^{mark}\\r\\n{out}]{f'|{skip}' if skip else ''})*)", re.DOTALL)
    if quote is None:
        return plain, plain
    edge = re.escape(quote)
    inner = f"[^{edge}{out}]|{edge}{edge}{f'|{skip}' if skip else ''}"
    return plain, re.compile(f"{edge}((?:{inner})*+){edge}[ \\t]*(?={mark}|\\r|\\n|\\Z)", re.DOTALL)

"""The colours of statements while they are typed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from firesteel.sql.lexer import Token, TokenKind, tokens
from firesteel.sql.reserved import RESERVED

STYLE: Final = Style.from_dict(
    {
        "prompt": "bold ansiyellow",
        "keyword": "bold ansiblue",
        "string": "ansigreen",
        "number": "ansicyan",
        "name": "ansimagenta",
        "wrong": "ansired",
        "comment": "italic ansibrightblack",
    }
)


class StatementLexer(Lexer):
    """Colours keywords, texts, numbers, quoted names and comments by the tokens of the statement."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """Return the coloured parts of each line."""
        lines = coloured(document.text)
        return lambda number: lines[number] if number < len(lines) else []


def coloured(text: str) -> list[StyleAndTextTuples]:
    """Return the lines of a text in parts, each with its style.

    >>> coloured("SELECT 'a'")
    [[('class:keyword', 'SELECT'), ('', ' '), ('class:string', "'a'")]]
    """
    parts: list[tuple[str, str]] = []
    place = 0
    for token in tokens(text):
        gap = text[place : token.start]
        if gap:
            parts.append(("" if gap.isspace() else "class:comment", gap))
        parts.append((_style(token), text[token.start : token.end]))
        place = token.end
    if text[place:]:
        parts.append(("class:comment", text[place:]))
    return _by_line([part for part in parts if part[1]])


def _style(token: Token) -> str:
    match token.kind:
        case TokenKind.STRING:
            return "class:string"
        case TokenKind.NUMBER:
            return "class:number"
        case TokenKind.QUOTED_NAME:
            return "class:name"
        case TokenKind.UNFINISHED:
            return "class:string" if token.text[:1] == "'" else "class:comment"
        case TokenKind.STRAY:
            return "class:wrong"
        case TokenKind.WORD if token.key in RESERVED:
            return "class:keyword"
        case _:
            return ""


def _by_line(parts: list[tuple[str, str]]) -> list[StyleAndTextTuples]:
    lines: list[StyleAndTextTuples] = [[]]
    for style, text in parts:
        first, *rest = text.split("\n")
        if first:
            lines[-1].append((style, first))
        lines.extend([(style, line)] if line else [] for line in rest)
    return lines

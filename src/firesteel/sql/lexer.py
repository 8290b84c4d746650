"""Characters to tokens.

Contract: every character is in a token, or is white space, or is in a comment; a token's offsets are offsets into
the whole text. A text that ends within a string, a quoted name or a comment gives a last token of the kind
UNFINISHED, and a character that no token begins with one of the kind STRAY; nothing is raised here, because a shell
has to look at a statement while it is typed. Tokens come one by one. Lexical rules are those of Flink's parser:
``--`` and ``//`` begin a comment, ``/*+`` a hint, names may be quoted with back quotes, and strings with single
quotes only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from firesteel.common.places import Source, Span


class TokenKind(Enum):
    """What a token is."""

    WORD = auto()
    QUOTED_NAME = auto()
    STRING = auto()
    PREFIXED_STRING = auto()
    NUMBER = auto()
    SYMBOL = auto()
    UNFINISHED = auto()
    STRAY = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its text as it is written, and `key` to compare it by (words in upper case.

    Empty for names and literals).
    """

    kind: TokenKind
    text: str
    key: str
    start: int
    end: int

    def name(self) -> str:
        """Return the name that a word or a quoted name stands for."""
        return self.text[1:-1].replace("``", "`") if self.kind is TokenKind.QUOTED_NAME else self.text

    def string(self) -> str:
        """Return the characters that a string stands for."""
        return self.text[1:-1].replace("''", "'")


_PATTERN: Final = re.compile(
    r"""
    (?P<space>\s+ | (?:--|//)[^\n\r]* | /\*(?!\+)(?:[^*]|\*(?!/))*\*/)
  | (?P<prefixed>(?:[xXnNeE]|[uU]&|_[A-Za-z][A-Za-z0-9_-]*)'(?:[^']|'')*')
  | (?P<string>'(?:[^']|'')*')
  | (?P<quoted>`(?:[^`]|``)+`)
  | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<word>[^\W\d][\w$]*|\$[\w$]+)
  | (?P<unfinished>'(?:[^']|'')*\Z | `(?:[^`]|``)*\Z | /\*(?!\+)(?:[^*]|\*(?!/))*\Z)
  | (?P<symbol>/\*\+|\*/|=>|<>|!=|<=|>=|\|\||->|[-+*/%=<>(),.;:\[\]{}?^|$])
  | (?P<stray>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS: Final = {
    "prefixed": TokenKind.PREFIXED_STRING,
    "string": TokenKind.STRING,
    "quoted": TokenKind.QUOTED_NAME,
    "number": TokenKind.NUMBER,
    "word": TokenKind.WORD,
    "unfinished": TokenKind.UNFINISHED,
    "symbol": TokenKind.SYMBOL,
    "stray": TokenKind.STRAY,
}


def tokens(text: str, start: int = 0) -> Iterator[Token]:
    """Yield the tokens of a text from an offset on; the last one has the kind END.

    >>> [token.text for token in tokens("SELECT `a b` -- all of it")]
    ['SELECT', '`a b`', '']
    """
    for match in _PATTERN.finditer(text, start):
        name = str(match.lastgroup)
        if name == "space":
            continue
        part = match.group()
        key = part.upper() if name == "word" else part if name == "symbol" else ""
        yield Token(_KINDS[name], part, key, match.start(), match.end())
    yield Token(TokenKind.END, "", "", len(text), len(text))


def span_of(source: Source, token: Token) -> Span:
    """Return where a token is."""
    return source.span(token.start, token.end)

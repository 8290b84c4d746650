"""Literals: numbers, strings with their prefixes, dates and times, intervals."""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from firesteel.sql.grammar.types import Types
from firesteel.sql.lexer import Token, TokenKind
from firesteel.sql.nodes import IntervalLiteral, TypedLiteral, Unknown

UNITS: Final = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")
_ENDS: Final = {
    "YEAR": ("MONTH",),
    "DAY": ("HOUR", "MINUTE", "SECOND"),
    "HOUR": ("MINUTE", "SECOND"),
    "MINUTE": ("SECOND",),
}
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)


class Literals(Types):
    """Parses literals."""

    def sees_literal(self) -> bool:
        """Return whether a number or a string follows."""
        return self.at().kind in {TokenKind.NUMBER, TokenKind.STRING, TokenKind.PREFIXED_STRING}

    def literal(self) -> exp.Expr:
        """Return the number or the string that follows."""
        start = self.index
        token = self.advance()
        match token.kind:
            case TokenKind.NUMBER:
                return self.mark(exp.Literal.number(token.text), start)
            case TokenKind.STRING:
                return self.mark(exp.Literal.string(self._continued(token.string())), start)
            case TokenKind.PREFIXED_STRING:
                return self.mark(self._prefixed(token), start)
            case _:
                raise self.error("a literal", token=token)

    def signed_literal(self) -> exp.Expr:
        """Return a literal as partitions have it: a number with a sign, a string, a date, TRUE, FALSE or NULL."""
        start = self.index
        if self.sees("-") and self.at(1).kind is TokenKind.NUMBER:
            self.advance()
            return self.mark(exp.Neg(this=self.literal()), start)
        self.takes("+")
        found = self.word_literal()
        return found if found is not None else self.literal()

    def word_literal(self) -> exp.Expr | None:
        """Return the literal that begins with a word, None if none follows."""
        start = self.index
        found = self._word_literal()
        return None if found is None else self.mark(found, start)

    def _word_literal(self) -> exp.Expr | None:
        match self.at().key:
            case "TRUE" | "FALSE" as key:
                self.advance()
                return exp.Boolean(this=key == "TRUE")
            case "NULL":
                self.advance()
                return exp.Null()
            case "UNKNOWN":
                self.advance()
                return Unknown()
            case "DATE" | "TIME" | "TIMESTAMP" as kind if self.at(1).kind is TokenKind.STRING:
                self.advance()
                return TypedLiteral(this=self.advance().string(), kind=kind)
            case "INTERVAL":
                self.advance()
                return self._interval()
        return None

    def _continued(self, text: str) -> str:
        while self.at().kind is TokenKind.STRING:
            text += self.advance().string()
        return text

    def _prefixed(self, token: Token) -> exp.Expr:
        prefix, _, rest = token.text.partition("'")
        text = rest[:-1].replace("''", "'")
        match prefix.upper():
            case "X":
                if len(text) % 2 or not re.fullmatch(r"[0-9a-fA-F]*", text):
                    raise self.error("pairs of hexadecimal digits", token=token)
                return exp.HexString(this=text.upper())
            case "N":
                return exp.National(this=text)
            case "E":
                return exp.Literal.string(self._unescaped(text, token))
            case "U&":
                return exp.Literal.string(self._unicode(text, token))
            case other:
                raise self.refused(
                    f"uses the character set {other[1:]}, which Firesteel does not support",
                    self._span(token),
                    hint="leave it out: strings are Unicode",
                )

    def _unescaped(self, text: str, token: Token) -> str:
        def one(match: re.Match[str]) -> str:
            code = match.group(1)
            if len(code) == 5:
                return chr(int(code[1:], 16))
            if code.isdigit() or code in "xuU":
                raise self.error("an escape of the form \\n or \\u0041", token=token)
            return _ESCAPES.get(code, code)

        return _ESCAPE.sub(one, text)

    def _unicode(self, text: str, token: Token) -> str:
        escape = "\\"
        if self.takes("UESCAPE"):
            escape = self.string("one character as a string")
            if len(escape) != 1 or escape in "+\"'" or escape.isspace() or escape.isalnum():
                raise self.error("one character that is no letter, digit, quote or plus", token=self.at(-1))
        mark = re.escape(escape)

        def one(match: re.Match[str]) -> str:
            code = match.group(1)
            if code == escape:
                return escape
            if not re.fullmatch(r"[0-9a-fA-F]{4}", code):
                raise self.error(f"four hexadecimal digits after {escape}", token=token)
            return chr(int(code, 16))

        return re.sub(f"{mark}({mark}|.{{1,4}}|$)", one, text, flags=re.DOTALL)

    def _interval(self) -> IntervalLiteral:
        negative = self.takes_one_of("+", "-") == "-"
        text = self.string("the length of the interval as a string, for example '10'")
        return IntervalLiteral(this=text, negative=negative, **self.qualifier())

    def sees_unit(self) -> bool:
        """Return whether a unit of time follows."""
        return self.at().kind is TokenKind.WORD and self.at().key.removesuffix("S") in UNITS

    def qualifier(self) -> dict[str, object]:
        """Return the units of an interval, as its node has them: ``DAY(2) TO HOUR``."""
        unit, precision = self._unit()
        end_unit, end_precision = self._unit() if self.takes("TO") else (None, None)
        if end_unit is not None and end_unit not in _ENDS.get(unit, ()):
            raise self.error(f"a unit that an interval from {unit} can end with", token=self.at(-1))
        return {"unit": unit, "precision": precision, "end_unit": end_unit, "end_precision": end_precision}

    def time_unit(self) -> str:
        """Return the unit of time that follows, in the singular."""
        key = self.at().key
        singular = key.removesuffix("S")
        if singular not in UNITS:
            raise self.error("a unit of time", keys=UNITS)
        self.advance()
        return singular

    def _unit(self) -> tuple[str, exp.Tuple | None]:
        unit = self.time_unit()
        if not self.takes("("):
            return unit, None
        numbers: list[exp.Expr] = [exp.Literal.number(self.integer())]
        if unit == "SECOND" and self.takes(","):
            numbers.append(exp.Literal.number(self.integer()))
        self.needs(")")
        return unit, exp.Tuple(expressions=numbers)

"""Calls with words between their arguments: EXTRACT, TRIM, SUBSTRING, FLOOR, those of JSON and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from firesteel.sql.grammar.demands import Demands
from firesteel.sql.grammar.literals import UNITS
from firesteel.sql.lexer import TokenKind
from firesteel.sql.nodes import SpecialCall


class _Parts:
    """The words and the arguments of a call as they are found."""

    def __init__(self, function: str) -> None:
        self.function = function
        self.words: list[str] = []
        self.values: list[exp.Expr] = []

    def add(self, word: str, value: exp.Expr) -> None:
        self.words.append(word)
        self.values.append(value)

    def call(self, tail: str = "") -> SpecialCall:
        return SpecialCall(this=self.function, words=self.words, expressions=self.values, tail=tail or None)


class SpecialCalls(Demands):
    """Parses the calls that have a grammar of their own."""

    def special_call(self) -> exp.Expr:
        """Return the call that follows; its name is one of `SPECIAL`."""
        start = self.index
        parts = _Parts(self.advance().key)
        self.needs("(")
        tail = SPECIAL[parts.function](self, parts) or ""
        self.needs(")")
        return self.mark(parts.call(tail), start)

    def _extract(self, parts: _Parts) -> None:
        self._unit_word("", parts)
        self.needs("FROM")
        parts.add("FROM", self.expression())

    def _unit_word(self, word: str, parts: _Parts) -> None:
        start = self.index
        token = self.at()
        if token.kind is not TokenKind.WORD or not (self.sees_name() or token.key in UNITS):
            raise self.error("a unit of time", keys=UNITS)
        self.advance()
        parts.add(word, self.mark(exp.Var(this=token.key), start))

    def _by_unit(self, parts: _Parts) -> None:
        self._unit_word("", parts)
        for _ in range(2):
            self.needs(",")
            parts.add(",", self.expression())

    def _position(self, parts: _Parts) -> None:
        parts.add("", self.operand_before_in())
        self.needs("IN")
        parts.add("IN", self.expression())
        if self.takes("FROM"):
            parts.add("FROM", self.expression())

    def _trim(self, parts: _Parts) -> None:
        side = self.takes_one_of("BOTH", "LEADING", "TRAILING")
        if side and self.takes("FROM"):
            parts.add(f"{side} FROM", self.expression())
            return
        parts.add(side, self.expression())
        if self.takes("FROM"):
            parts.add("FROM", self.expression())

    def _substring(self, parts: _Parts) -> None:
        parts.add("", self.expression())
        word = "FROM" if self.takes("FROM") else ","
        if word == ",":
            self.needs(",")
        parts.add(word, self.expression())
        if self.takes("FOR" if word == "FROM" else ","):
            parts.add("FOR" if word == "FROM" else ",", self.expression())

    def _overlay(self, parts: _Parts) -> None:
        parts.add("", self.expression())
        for word in ("PLACING", "FROM"):
            self.needs(word)
            parts.add(word, self.expression())
        if self.takes("FOR"):
            parts.add("FOR", self.expression())

    def _rounded(self, parts: _Parts) -> None:
        parts.add("", self.expression())
        if self.takes("TO"):
            self._unit_word("TO", parts)

    def _json_path(self, parts: _Parts) -> None:
        parts.add("", self.expression())
        self.needs(",")
        parts.add(",", self.expression())

    def _json_exists(self, parts: _Parts) -> str:
        self._json_path(parts)
        if word := self.takes_one_of("TRUE", "FALSE", "UNKNOWN", "ERROR"):
            self.needs("ON", "ERROR")
            return f"{word} ON ERROR"
        return ""

    def _json_value(self, parts: _Parts) -> str:
        self._json_path(parts)
        if self.takes("RETURNING"):
            parts.add("RETURNING", self.data_type(nullability=False))
        tail = ""
        while self.sees_one_of(("NULL", "ERROR", "DEFAULT")):
            word = self.advance().key
            if word == "DEFAULT":
                parts.add(f"{tail} DEFAULT".strip(), self.expression())
                tail = ""
            else:
                tail = f"{tail} {word}".strip()
            self.needs("ON")
            tail = f"{tail} ON {self.needs_one_of('EMPTY', 'ERROR')}".strip()
        return tail

    def _json_query(self, parts: _Parts) -> str:
        self._json_path(parts)
        if self.takes("RETURNING"):
            parts.add("RETURNING", self.data_type(nullability=False))
        return " ".join(filter(None, [self._wrapper(), self._on_empty_or_error()]))

    def _wrapper(self) -> str:
        if self.takes("WITHOUT"):
            array = "ARRAY " if self.takes("ARRAY") else ""
            self.needs("WRAPPER")
            return f"WITHOUT {array}WRAPPER"
        if self.takes("WITH"):
            how = self.takes_one_of("CONDITIONAL", "UNCONDITIONAL")
            array = "ARRAY " if self.takes("ARRAY") else ""
            self.needs("WRAPPER")
            return f"WITH {how + ' ' if how else ''}{array}WRAPPER"
        return ""

    def _on_empty_or_error(self) -> str:
        found = []
        while self.sees_one_of(("NULL", "ERROR", "EMPTY")):
            word = self.advance().key
            if word == "EMPTY":
                word = f"EMPTY {self.needs_one_of('ARRAY', 'OBJECT')}"
            self.needs("ON")
            found.append(f"{word} ON {self.needs_one_of('EMPTY', 'ERROR')}")
        return " ".join(found)

    def _json_object(self, parts: _Parts) -> str:
        separator = ""
        while not self.sees_one_of((")", "NULL", "ABSENT")) or separator == ",":
            key = f"{separator} KEY".strip() if self.takes("KEY") else separator
            parts.add(key, self.expression())
            parts.add(self.needs_one_of("VALUE", ":", ","), self.expression())
            if not self.takes(","):
                break
            separator = ","
        return self._on_null()

    def _json_array(self, parts: _Parts) -> str:
        if not self.sees_one_of((")", "NULL", "ABSENT")) or not self._sees_on_null():
            for number, value in enumerate([] if self.sees(")") else self.listed(self.expression)):
                parts.add("," if number else "", value)
        return self._on_null()

    def _json_array_of_rows(self, parts: _Parts) -> str:
        parts.add("", self.expression())
        return self._on_null()

    def _sees_on_null(self) -> bool:
        return self.at(1).key == "ON"

    def _on_null(self) -> str:
        if word := self.takes_one_of("NULL", "ABSENT"):
            self.needs("ON", "NULL")
            return f"{word} ON NULL"
        return ""


_Parser = Callable[[SpecialCalls, _Parts], str | None]
SPECIAL: Final[dict[str, _Parser]] = {
    "EXTRACT": SpecialCalls._extract,
    "POSITION": SpecialCalls._position,
    "TRIM": SpecialCalls._trim,
    "SUBSTRING": SpecialCalls._substring,
    "OVERLAY": SpecialCalls._overlay,
    "TIMESTAMPADD": SpecialCalls._by_unit,
    "TIMESTAMPDIFF": SpecialCalls._by_unit,
    "FLOOR": SpecialCalls._rounded,
    "CEIL": SpecialCalls._rounded,
    "CEILING": SpecialCalls._rounded,
    "JSON_EXISTS": SpecialCalls._json_exists,
    "JSON_VALUE": SpecialCalls._json_value,
    "JSON_QUERY": SpecialCalls._json_query,
    "JSON_OBJECT": SpecialCalls._json_object,
    "JSON_OBJECTAGG": SpecialCalls._json_object,
    "JSON_ARRAY": SpecialCalls._json_array,
    "JSON_ARRAYAGG": SpecialCalls._json_array_of_rows,
}

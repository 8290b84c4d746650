"""Data types: ``DECIMAL(10, 2)``, ``ROW<a INT NOT NULL, b MAP<STRING, INT>>``, ``TIMESTAMP_LTZ(3)``."""

from __future__ import annotations

from itertools import count
from typing import Final

from sqlglot import exp

from firesteel.sql.grammar.cursor import Cursor
from firesteel.sql.lexer import TokenKind
from firesteel.sql.nodes import TypeField, TypeName

_PLAIN: Final = frozenset(
    {"BOOLEAN", "TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "FLOAT", "REAL"}
    | {"DATE", "STRING", "BYTES", "VARIANT", "BITMAP"}
)
_SIZED: Final = {
    "CHAR": 1, "CHARACTER": 1, "VARCHAR": 1, "BINARY": 1, "VARBINARY": 1, "TIMESTAMP_LTZ": 1,
    "DECIMAL": 2, "DEC": 2, "NUMERIC": 2,
}  # fmt: skip
_ZONED: Final = frozenset({"TIME", "TIMESTAMP"})
NAMES: Final = tuple(
    sorted({*_PLAIN, *_SIZED, *_ZONED, *["ARRAY", "MAP", "MULTISET", "ROW", "RAW", "STRUCTURED", "DOUBLE"]})
)


class Types(Cursor):
    """Parses data types."""

    def data_type(self, nullability: bool = True) -> TypeName:
        """Return the type that follows; `nullability` says whether ``NULL`` or ``NOT NULL`` may be part of it."""
        start = self.index
        self.deeper()
        found = self.mark(self._type_name(), start)
        found = self._collections(found, start)
        if nullability:
            self._nullability(found)
        self.depth -= 1
        return self.mark(found, start)

    def deeper(self) -> None:
        """Note that something begins within something else; the caller lowers `depth` when it ends."""
        self.depth += 1
        if self.depth > self.deepest:
            span = self.source.span(self.at().start, self.at().end)
            raise self.refused(f"is nested deeper than {self.deepest} levels", span, hint="use views or WITH")

    def check_length(self, length: int) -> None:
        """Refuse an operand that has that number of operators one after the other if that is too many."""
        if length > self.longest:
            span = self.source.span(self.at().start, self.at().end)
            raise self.refused(
                f"has more than {self.longest} operators after each other", span, hint="use views or WITH"
            )

    def _nullability(self, found: TypeName) -> None:
        if self.takes("NOT", "NULL"):
            found.set("nullable", False)
        elif self.takes("NULL"):
            found.set("nullable", True)

    def _collections(self, found: TypeName, start: int) -> TypeName:
        for length in count():
            self.check_length(length)
            written = 2 if self.sees("NOT", "NULL") else 1 if self.sees("NULL") else 0
            if self.at(written).key not in {"ARRAY", "MULTISET"}:
                break
            self._nullability(found)
            kind = self.advance().key
            found = self.mark(TypeName(this=kind, elements=[found]), start)
        return found

    def _type_name(self) -> TypeName:
        token = self.at()
        if token.kind is not TokenKind.WORD:
            raise self.error("a data type")
        name = token.key
        if name in _PLAIN:
            self.advance()
            return TypeName(this=name)
        if name in _SIZED:
            self.advance()
            return self._sized(name, _SIZED[name])
        if name in _ZONED:
            self.advance()
            return self._zoned(name)
        method = getattr(self, f"_{name.lower()}_type", None) if name in NAMES else None
        if method is None:
            raise self.error("a data type", keys=NAMES)
        self.advance()
        return TypeName(**method())

    def _sized(self, name: str, most: int) -> TypeName:
        if name in {"CHAR", "CHARACTER"} and self.takes("VARYING"):
            name = "VARCHAR"
        return TypeName(this=name, parameters=self._parameters(most))

    def _parameters(self, most: int) -> list[exp.Expr]:
        if not self.takes("("):
            return []
        found = [exp.Literal.number(self.integer())]
        while len(found) < most and self.takes(","):
            found.append(exp.Literal.number(self.integer()))
        self.needs(")")
        return list(found)

    def _zoned(self, name: str) -> TypeName:
        parameters = self._parameters(1)
        if self.takes("WITHOUT"):
            self.needs("TIME", "ZONE")
        elif self.takes("WITH"):
            if not self.takes("LOCAL"):
                raise self.unsupported(f"the type {name} WITH TIME ZONE", hint=f"use {name}_LTZ")
            self.needs("TIME", "ZONE")
            name = f"{name}_LTZ"
        return TypeName(this=name, parameters=parameters)

    def _double_type(self) -> dict[str, object]:
        self.takes("PRECISION")
        return {"this": "DOUBLE"}

    def _elements(self, kind: str, number: int) -> dict[str, object]:
        self.needs("<")
        elements = [self.data_type()]
        while len(elements) < number:
            self.needs(",")
            elements.append(self.data_type())
        self._closes()
        return {"this": kind, "elements": elements}

    def _closes(self) -> None:
        self.needs(">")

    def _array_type(self) -> dict[str, object]:
        return self._elements("ARRAY", 1)

    def _multiset_type(self) -> dict[str, object]:
        return self._elements("MULTISET", 1)

    def _map_type(self) -> dict[str, object]:
        return self._elements("MAP", 2)

    def _row_type(self) -> dict[str, object]:
        if self.takes("<>"):
            return {"this": "ROW", "fields": []}
        opening = self.needs_one_of("<", "(")
        closing = ">" if opening == "<" else ")"
        fields = [] if self.sees(closing) else self.listed(self._field)
        self.needs(closing)
        return {"this": "ROW", "fields": fields}

    def _field(self) -> TypeField:
        start = self.index
        name = self.identifier("a field's name")
        kind = self.data_type()
        comment = self.string() if self.at().kind is TokenKind.STRING else None
        return self.mark(TypeField(this=name, kind=kind, comment=comment), start)

    def _raw_type(self) -> dict[str, object]:
        self.needs("(")
        arguments = [self.string("the name of a class"), ""]
        self.needs(",")
        arguments[1] = self.string("a serializer as a string")
        self.needs(")")
        return {"this": "RAW", "arguments": [exp.Literal.string(text) for text in arguments]}

    def _structured_type(self) -> dict[str, object]:
        self.needs("<")
        arguments = [exp.Literal.string(self.string("the name of a class"))]
        fields = self.listed(self._field) if self.takes(",") else []
        self._closes()
        return {"this": "STRUCTURED", "arguments": arguments, "fields": fields}

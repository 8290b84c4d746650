"""LogicalType: what all of Flink's types have in common (Flink: org.apache.flink.table.types.logical.LogicalType).

Contract: a type is an immutable value. It checks its parameters when it is made. Two types are equal if class,
nullability and parameters are; the kind of a time attribute does not count. `parse_type(t.as_serializable_string())` is
`t` for each type that has such a text, except that registered types must be resolved through the catalog.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types.roots import LogicalTypeFamily, LogicalTypeRoot


@dataclass(frozen=True)
class LogicalType(ABC):
    """The type of a column or an expression; `nullable` says whether NULL is one of its values.

    `str(type)` is its summary.
    """

    root: ClassVar[LogicalTypeRoot]
    nullable: bool = field(default=True, kw_only=True)

    @property
    def children(self) -> tuple[LogicalType, ...]:
        """Return the types that this type consists of, in their order."""
        return ()

    def copy(self, nullable: bool) -> Self:
        """Return the same type with the given nullability."""
        return self if nullable is self.nullable else replace(self, nullable=nullable)

    def has_family(self, family: LogicalTypeFamily) -> bool:
        """Return whether the type's root belongs to the family."""
        return family in self.root.families

    def as_serializable_string(self) -> str:
        """Return the text that `parse_type` reads, with all parameters and without abbreviations.

        Raises ProgramError if the type exists within a query only, and so has no such text.
        """
        return self._with_nullability(self._text(serializable=True))

    def as_summary_string(self) -> str:
        """Return the text for people, which leaves out details."""
        return self._with_nullability(self._text(serializable=False))

    def __str__(self) -> str:
        return self.as_summary_string()

    def _with_nullability(self, text: str) -> str:
        return text if self.nullable else f"{text} NOT NULL"

    @abstractmethod
    def _text(self, *, serializable: bool) -> str:
        """Return one of the two texts, without nullability."""

    def _require(self, condition: bool, requirement: str, got: object) -> None:
        if not condition:
            raise ProgramError(f"requires {requirement}", who=f"type {self.root.name}", got=str(got))

    def _no_text_error(self, why: str) -> ProgramError:
        return ProgramError(
            "has no text that it can be read from", who=f"type {self.as_summary_string()}", got=why
        )


def escaped_identifier(name: str) -> str:
    """Return a name in backticks (Flink: EncodingUtils.escapeIdentifier).

    >>> escaped_identifier("a`b")
    '`a``b`'
    """
    doubled = name.replace("`", "``")
    return f"`{doubled}`"


def escaped_text(text: str) -> str:
    """Return a text in single quotes.

    >>> escaped_text("it's")
    "'it''s'"
    """
    doubled = text.replace("'", "''")
    return f"'{doubled}'"

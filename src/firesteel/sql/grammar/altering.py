"""ALTER."""

from __future__ import annotations

from typing import Literal

from firesteel.sql.grammar.creating import Creating
from firesteel.sql.statements.alter import (
    AddedPartition,
    AddPartitions,
    Alter,
    AlterAction,
    AlteredElement,
    ChangeElements,
    DropColumns,
    DropPart,
    DropPartitions,
    Refresh,
    RenameColumn,
    RenameTo,
    ResetOptions,
    Resume,
    SetComment,
    SetFreshness,
    SetFunction,
    SetOptions,
    SetQuery,
    SetRefreshMode,
    Suspend,
)
from firesteel.sql.statements.parts import Name, NamedColumn, ObjectKind, Partition, Placed

_KINDS = ("TABLE", "VIEW", "DATABASE", "CATALOG", "FUNCTION", "MODEL", "MATERIALIZED")
_PARTS = {"TABLE": 3, "VIEW": 3, "FUNCTION": 3, "MODEL": 3, "DATABASE": 2, "CATALOG": 1}
_LANGUAGES = ("PYTHON", "JAVA", "SCALA", "SQL")


class Altering(Creating):
    """Parses ALTER."""

    def alter(self) -> Alter:
        """Return the statement that begins with ALTER."""
        start = self.index
        self.needs("ALTER")
        temporary = self.takes("TEMPORARY")
        system = temporary and self.takes("SYSTEM")
        if self.sees_one_of(("CONNECTION", "SESSION", "SYSTEM")):
            raise self.unsupported(f"ALTER {self.at().key}")
        word = self.needs_one_of("FUNCTION") if temporary else self.needs_one_of(*_KINDS)
        if word == "MATERIALIZED":
            self.needs("TABLE")
        kind = ObjectKind.MATERIALIZED_TABLE if word == "MATERIALIZED" else ObjectKind(word)
        if_exists = kind in {ObjectKind.TABLE, ObjectKind.FUNCTION, ObjectKind.MODEL} and self.if_exists()
        name = self.name(f"the name of a {kind.value.lower()}", most=_PARTS.get(word, 3))
        action = self._action(kind)
        return Alter(self.span_from(start), kind, name, if_exists, action, temporary, system)

    def _action(self, kind: ObjectKind) -> AlterAction:
        match kind:
            case ObjectKind.TABLE:
                return self._table_action()
            case ObjectKind.MATERIALIZED_TABLE:
                return self._materialized_action()
            case ObjectKind.VIEW:
                word = self.needs_one_of("RENAME", "AS")
                return self._renamed() if word == "RENAME" else SetQuery(self.whole_query())
            case ObjectKind.FUNCTION:
                self.needs("AS")
                target = self.string("the function's class as a string")
                language = self.needs_one_of(*_LANGUAGES) if self.takes("LANGUAGE") else None
                return SetFunction(target, language)
        allowed = {
            ObjectKind.DATABASE: ("SET",),
            ObjectKind.CATALOG: ("SET", "RESET", "COMMENT"),
            ObjectKind.MODEL: ("SET", "RESET", "RENAME"),
        }[kind]
        word = self.needs_one_of(*allowed)
        if word == "COMMENT":
            return SetComment(self.string("the comment as a string"))
        return self._renamed() if word == "RENAME" else self._options_action(word)

    def _renamed(self) -> RenameTo:
        self.needs("TO")
        return RenameTo(self.name("the new name"))

    def _options_action(self, word: str) -> AlterAction:
        if word == "SET":
            return SetOptions(self.options())
        at = self.at()
        keys = self.option_keys()
        if not keys:
            raise self.error("at least one key", token=at)
        return ResetOptions(keys)

    def _table_action(self) -> AlterAction:
        word = self.needs_one_of("ADD", "MODIFY", "DROP", "RENAME", "SET", "RESET")
        match word:
            case "RENAME" if self.sees("TO"):
                return self._renamed()
            case "RENAME":
                column = self.name("the name of a column", most=100)
                self.needs("TO")
                return RenameColumn(column, self.column_name())
            case "ADD" if self.sees("PARTITION") or self.sees("IF", "NOT", "EXISTS"):
                return self._add_partitions()
            case "DROP" if self.sees("PARTITION") or self.sees("IF", "EXISTS"):
                return self._drop_partitions()
        return self._common_action(word)

    def _common_action(self, word: str) -> AlterAction:
        match word:
            case "ADD" | "MODIFY" as how:
                return self._change(how)
            case "DROP":
                return self._drop_part()
        return self._options_action(word)

    def _materialized_action(self) -> AlterAction:
        word = self.needs_one_of(
            "ADD", "AS", "DROP", "MODIFY", "REFRESH", "RESET", "RESUME", "SET", "SUSPEND"
        )
        match word:
            case "SUSPEND":
                return Suspend()
            case "RESUME":
                return Resume(self.with_options())
            case "REFRESH":
                return Refresh(self.partition() if self.takes("PARTITION") else ())
            case "AS":
                return SetQuery(self.whole_query())
            case "SET" if self.takes("FRESHNESS"):
                self.needs("=")
                return SetFreshness(self.freshness())
            case "SET" if self.takes("REFRESH_MODE"):
                self.needs("=")
                return SetRefreshMode(self.needs_one_of("FULL", "CONTINUOUS"))
        return self._common_action(word)

    def _change(self, how: Literal["ADD", "MODIFY"]) -> ChangeElements:
        if self.takes("("):
            elements = self.listed(self._altered_element)
            self.needs(")")
            return ChangeElements(how, tuple(elements))
        if self.takes("DISTRIBUTION"):
            return ChangeElements(how, (self.distribution(),))
        return ChangeElements(how, (self._altered_element(),))

    def _altered_element(self) -> AlteredElement:
        if self.sees("WATERMARK", "FOR"):
            return self.watermark()
        if self.sees_one_of(("CONSTRAINT", "PRIMARY", "UNIQUE")):
            return self.primary_key()
        column = self.column()
        if isinstance(column, NamedColumn):
            raise self.error("a data type")
        if self.takes("FIRST"):
            return Placed(column, first=True)
        return Placed(
            column, after=self.name("the name of a column", most=100) if self.takes("AFTER") else None
        )

    def _drop_part(self) -> AlterAction:
        if self.takes("PRIMARY"):
            self.needs("KEY")
            return DropPart("PRIMARY KEY")
        if self.takes("WATERMARK"):
            return DropPart("WATERMARK")
        if self.takes("DISTRIBUTION"):
            return DropPart("DISTRIBUTION")
        if self.takes("CONSTRAINT"):
            return DropPart("CONSTRAINT", self.name("the name of a constraint", most=1))
        if self.sees("("):
            return DropColumns(tuple(self.in_parentheses(lambda: self.listed(self._dropped))))
        return DropColumns((self._dropped(),))

    def _dropped(self) -> Name:
        return self.name("the name of a column", most=100)

    def _add_partitions(self) -> AddPartitions:
        if_not_exists = self.if_not_exists()
        partitions: list[AddedPartition] = []
        while not partitions or self.sees("PARTITION"):
            self.needs("PARTITION")
            partition = self.partition()
            partitions.append(AddedPartition(partition, self.with_options()))
        return AddPartitions(if_not_exists, tuple(partitions))

    def _drop_partitions(self) -> DropPartitions:
        if_exists = self.if_exists()
        partitions: list[Partition] = []
        while not partitions or self.takes(","):
            self.needs("PARTITION")
            partitions.append(self.partition())
        return DropPartitions(if_exists, tuple(partitions))

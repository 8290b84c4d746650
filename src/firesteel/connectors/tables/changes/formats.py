"""The formats 'debezium-json', 'canal-json' and 'maxwell-json' of files."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import BinaryIO, ClassVar, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.logical_types import LogicalType, RowType
from firesteel.common.types import RowKind
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.format import FileFormat, LineFormat, Part
from firesteel.connectors.files.parts import PartFormat, PartWriter
from firesteel.connectors.tables.changes.canal import CanalEnvelope
from firesteel.connectors.tables.changes.debezium import DebeziumEnvelope
from firesteel.connectors.tables.changes.envelope import Changed, Envelope
from firesteel.connectors.tables.changes.maxwell import MaxwellEnvelope
from firesteel.connectors.tables.changes.messages import MessageReader, Messages
from firesteel.connectors.tables.column_parts import RowsToWrite, TextWriter
from firesteel.connectors.tables.file_formats import (
    BLOCK,
    JsonOptions,
    Rows,
    TableFormat,
    is_iso,
    json_writing,
    know_json,
)
from firesteel.connectors.tables.formats.json_exact import JsonRules
from firesteel.connectors.tables.formats.json_texts import JsonWriting, json_lines
from firesteel.connectors.tables.formats.misfit import Misfit
from firesteel.connectors.tables.options import Options, text, truth
from firesteel.functions.columns.connectors import ChangelogMode

PREFIX: Final = "value."
"""What the names of metadata of messages begin with, as those of Flink's connectors do that have keys and values."""

_ADDED: Final = (RowKind.INSERT.value, RowKind.UPDATE_AFTER.value)


class ChangeFormat(TableFormat):
    """Messages on lines; a file is read in its order, as one part. An update is written as a delete and an insert."""

    bulk: ClassVar[bool] = False
    mode: ClassVar[ChangelogMode] = ChangelogMode.all()
    frames: ClassVar[Frames]
    short_frames: ClassVar[Frames]
    """The frames without fields that are NULL."""

    @abstractmethod
    def envelope(self, options: Options, row: RowType, metadata: Sequence[str]) -> Envelope:
        """Return what knows the messages."""

    def reader(
        self, options: Options, row: RowType, wanted: Sequence[int], metadata: Sequence[str] = ()
    ) -> FileFormat[Rows]:
        """Return the reader of the wanted columns and metadata."""
        rules = self.rules(options)
        read = RowType(tuple(row.fields[place] for place in wanted), nullable=False)
        names = [key.removeprefix(PREFIX) for key in metadata]
        return _ChangeLines(ChangeReader(self.envelope(options, read, names), rules))

    def rules(self, options: Options) -> JsonRules:
        """Return how messages are read."""
        known = JsonOptions(self.name)
        know_json(options, known)
        return JsonRules(iso=is_iso(options, known), lenient=options.get(known.lenient))

    def writer(self, options: Options, row: RowType) -> PartFormat:
        """Return the writer."""
        return _ChangeParts(self.texts(options, row))

    def texts(self, options: Options, row: RowType) -> ChangeTexts:
        """Return what writes messages."""
        writing = json_writing(options, JsonOptions(self.name))
        self._check_writing(options)
        return ChangeTexts(row, writing, self.short_frames if writing.without_nulls else self.frames)

    def _check_writing(self, options: Options) -> None:
        """Accept or refuse the options of the format when a table is written."""


def _metadata(envelope: type[Envelope]) -> dict[str, LogicalType]:
    return {f"{PREFIX}{name}": known.type for name, known in envelope.known.items()}


_SCHEMA_INCLUDE: Final = truth(
    "debezium-json.schema-include",
    "Whether messages have their schema, as by default in Kafka Connect. Only for tables that are read.",
).by_default("false")


class DebeziumFormat(ChangeFormat):
    """Messages of Debezium."""

    name = DebeziumEnvelope.name
    options = (_SCHEMA_INCLUDE, *JsonOptions(name).of_both_ways)
    metadata = _metadata(DebeziumEnvelope)
    frames = (('{"before":null,"after":', ',"op":"c"}'), ('{"before":', ',"after":null,"op":"d"}'))
    short_frames = (('{"after":', ',"op":"c"}'), ('{"before":', ',"op":"d"}'))

    def envelope(self, options: Options, row: RowType, metadata: Sequence[str]) -> Envelope:
        """Return what knows the messages, with or without their schema."""
        return DebeziumEnvelope(row, metadata, schema=options.get(_SCHEMA_INCLUDE))

    def _check_writing(self, options: Options) -> None:
        if options.get(_SCHEMA_INCLUDE):
            raise options.wrong(_SCHEMA_INCLUDE.key, "'false' for a table that is written")


_INCLUDED: Final = {
    name: text(
        f"canal-json.{name}.include",
        f"Which {name}s the table has changes of; those of others are passed over.",
        "a regular expression",
    )
    for name in ("database", "table")
}


class CanalFormat(ChangeFormat):
    """Messages of Canal."""

    name = CanalEnvelope.name
    options = (*_INCLUDED.values(), *JsonOptions(name).of_both_ways)
    metadata = _metadata(CanalEnvelope)
    frames = (('{"data":[', '],"type":"INSERT"}'), ('{"data":[', '],"type":"DELETE"}'))
    short_frames = frames

    def envelope(self, options: Options, row: RowType, metadata: Sequence[str]) -> Envelope:
        """Return what knows the messages, and which databases and tables are wanted."""
        only: dict[str, re.Pattern[str]] = {}
        for name, option in _INCLUDED.items():
            given = options.get(option)
            if given is not None:
                try:
                    only[name] = re.compile(given)
                except re.error as error:
                    raise options.wrong(option.key, option.what) from error
        return CanalEnvelope(row, metadata, only=only)

    def _check_writing(self, options: Options) -> None:
        options.know(_INCLUDED.values())


class MaxwellFormat(ChangeFormat):
    """Messages of Maxwell."""

    name = MaxwellEnvelope.name
    options = JsonOptions(name).of_both_ways
    metadata = _metadata(MaxwellEnvelope)
    frames = (('{"data":', ',"type":"insert"}'), ('{"data":', ',"type":"delete"}'))
    short_frames = frames

    def envelope(self, options: Options, row: RowType, metadata: Sequence[str]) -> Envelope:
        """Return what knows the messages."""
        return MaxwellEnvelope(row, metadata)


class ChangeReader:
    """Reads blocks of whole lines with a message each. Picklable."""

    def __init__(self, envelope: Envelope, rules: JsonRules) -> None:
        self._envelope = envelope
        self._rules = rules
        self._reader: MessageReader | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_reader": None}

    @property
    def lenient(self) -> bool:
        """Whether messages that do not fit are skipped."""
        return self._rules.lenient

    @property
    def option(self) -> str:
        """The option that skips messages that do not fit."""
        return f"{self._envelope.name}.ignore-parse-errors"

    def read(self, block: bytes) -> tuple[Changed, Messages] | Misfit:
        """Return the changes of a block and its messages, or the first that says none, unless these are skipped."""
        envelope = self._envelope
        if self._reader is None:
            self._reader = MessageReader(
                envelope.message, self._rules, quoted=envelope.quoted, skips=envelope.skips
            )
        messages = self._reader.read(block)
        if isinstance(messages, Misfit):
            return messages
        changed = envelope.changes(messages)
        if changed.wrong is not None and not self._rules.lenient:
            shown = messages.texts()[changed.wrong.place].decode("utf-8", "replace")
            return Misfit(messages.number(changed.wrong.place), shown, changed.wrong.why)
        return changed, messages


class _ChangeLines(LineFormat[Rows]):
    """Reads changes; picklable."""

    block = BLOCK
    feeds_only = True

    def __init__(self, reader: ChangeReader) -> None:
        self._reader = reader

    def parts(self, file: SourceFile, size: int | None) -> Iterable[Part]:
        """Return the file as one part: the order of changes counts."""
        return super().parts(file, None)

    def decode(self, file: SourceFile, block: bytes, position: int) -> list[Rows]:
        """Return the changes of a block."""
        found = self._reader.read(block)
        if isinstance(found, Misfit):
            raise found.error(file.path, position, self._reader.option)
        rows, kinds = found[0].rows, found[0].kinds
        return [(rows, kinds if kinds.any() else None)] if len(kinds) else []


Frames = tuple[tuple[str, str], tuple[str, str]]
"""What stands before and after a row that is added, and one that goes."""


class ChangeTexts:
    """Changes as messages, each row in its frame. Raises UnsupportedError for a type that JSON lacks. Picklable."""

    def __init__(self, row: RowType, writing: JsonWriting, frames: Frames) -> None:
        self._row = row
        self._writing = writing
        self._frames = frames
        self(RowsToWrite.none(row))

    def __call__(self, given: RowsToWrite, end: str = "") -> pa.Array:
        """Return a message for each row, with an `end`."""
        texts = json_lines(given.rows, self._row, self._writing, "")
        added, gone = ((before, f"{after}{end}") for before, after in self._frames)
        if given.kinds is None or not given.kinds.any():
            return pc.binary_join_element_wise(added[0], texts, added[1], "")
        adds = pa.array(np.isin(given.kinds, _ADDED))
        starts, ends = (pc.if_else(adds, one, other) for one, other in zip(added, gone, strict=True))
        return pc.binary_join_element_wise(starts, texts, ends, "")


class _ChangeParts(PartFormat):
    """Changes as lines."""

    def __init__(self, texts: ChangeTexts) -> None:
        self._texts = texts

    def open(self, file: BinaryIO) -> PartWriter:
        """Return a writer of one segment."""
        return TextWriter(file, lambda given: self._texts(given, "\n"))


CHANGE_FORMATS: Final[tuple[type[ChangeFormat], ...]] = (DebeziumFormat, CanalFormat, MaxwellFormat)
"""The formats of changes."""

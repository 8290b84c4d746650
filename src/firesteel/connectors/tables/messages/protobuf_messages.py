"""The format 'protobuf': a message of Protocol Buffers (Flink: PbFormatFactory)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from firesteel.common.errors import ConfigurationError
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.connectors.tables.column_parts import RowsToWrite
from firesteel.connectors.tables.formats.protobuf.checking import check_row
from firesteel.connectors.tables.formats.protobuf.definitions import (
    message_class,
    of_class,
    of_file,
    parser,
    require_protobuf,
)
from firesteel.connectors.tables.formats.protobuf.reading import MessageColumns
from firesteel.connectors.tables.formats.protobuf.writing import MessageWriter
from firesteel.connectors.tables.messages.message_format import (
    BadMessage,
    Decoded,
    MessageDecoder,
    MessageEncoder,
    MessageFormat,
    earliest,
)
from firesteel.connectors.tables.options import Listed, Options, text, truth
from firesteel.functions.columns.endpoints import Kinds

if TYPE_CHECKING:
    from google.protobuf.message import Message

_NAME: Final = "protobuf"


class ProtobufOptions:
    """The options of the format protobuf, or of one that is like it, whose name they begin with."""

    def __init__(self, form: str) -> None:
        self.generated = text(
            f"{form}.message-class-name",
            "A class that protoc has generated for Python, such as `shop_pb2.Order`. It is imported where the job is "
            "planned.",
            "module.Class",
        )
        self.descriptors = text(
            f"{form}.descriptor-file",
            "What `protoc --include_imports --descriptor_set_out` has written, in place of a class.",
            "a path",
        )
        self.message = text(
            f"{form}.message-name", "The full name of the message in that file.", "package.Message"
        )
        self.lenient = truth(
            f"{form}.ignore-parse-errors", "Whether messages that cannot be read are left out."
        ).by_default("false")
        self.defaults = truth(
            f"{form}.read-default-values",
            "Whether a field that a message lacks has its default, and is not NULL. In proto3 single fields that are "
            "no messages always have it.",
        ).by_default("false")
        self.null_text = text(
            f"{form}.write-null-string-literal",
            "What is written for a text in an array or a map that is NULL.",
        ).by_default("")

    @property
    def all(self) -> Listed:
        """All of them."""
        definition = (self.generated, self.descriptors, self.message)
        return (*definition, self.lenient, self.defaults, self.null_text)


class ProtobufMessageFormat(MessageFormat):
    """Messages of a class that protoc has generated for Python, or of a definition in a file of descriptors."""

    name = _NAME
    options = ProtobufOptions(_NAME).all

    def decoder(self, options: Options, row: RowType, metadata: Sequence[str] = ()) -> MessageDecoder:
        """Return what reads rows."""
        return protobuf_decoder(options, row, definition(options, row, _NAME), _NAME)

    def encoder(self, options: Options, row: RowType, *, subject: str | None = None) -> MessageEncoder:
        """Return what writes rows."""
        return protobuf_encoder(options, row, definition(options, row, _NAME), _NAME)


def protobuf_decoder(options: Options, row: RowType, found: Definition, form: str) -> MessageDecoder:
    """Return what reads rows of a definition as the options of a format say."""
    known = ProtobufOptions(form)
    options.know(known.all)
    defaults, lenient = options.get(known.defaults), options.get(known.lenient)
    return _Decoder(row, found, defaults, lenient, options.full(known.lenient.key))


def protobuf_encoder(options: Options, row: RowType, found: Definition, form: str) -> MessageEncoder:
    """Return what writes rows of a definition as the options of a format say."""
    known = ProtobufOptions(form)
    options.know(known.all)
    return _Encoder(row, found, options.get(known.null_text))


@dataclass(frozen=True)
class Definition:
    """The definition of a message: files of descriptors, as bytes, and its full name. Picklable."""

    descriptors: bytes
    name: str


def definition(options: Options, row: RowType, form: str) -> Definition:
    """Return the definition that options name. Raises ConfigurationError for none, or one without the row's columns."""
    who = f"the format {form!r}"
    require_protobuf(who)
    known = ProtobufOptions(form)
    named, path, message = map(options.get, (known.generated, known.descriptors, known.message))
    if (named is None) is (path is None) or (path is None) is not (message is None):
        either, file, name = (
            options.full(option.key) for option in (known.generated, known.descriptors, known.message)
        )
        raise ConfigurationError(
            f"requires either the option '{either}', or '{file}' and '{name}'",
            who=who,
            hint="a class of Python such as 'shop_pb2.Order', or what 'protoc --include_imports "
            "--descriptor_set_out=shop.desc' has written and 'shop.Order'",
        )
    wrong = known.generated
    try:
        if named is not None:
            found = Definition(*of_class(named))
        else:
            wrong = known.descriptors
            found = Definition(of_file(path or ""), message or "")
            wrong = known.message
        descriptor = message_class(found.descriptors, found.name).DESCRIPTOR
    except ValueError as error:
        raise options.wrong(wrong.key, f"what can be found ({error})") from error
    check_row(descriptor, row, who)
    return found


class _Decoder(MessageDecoder):
    def __init__(self, row: RowType, found: Definition, defaults: bool, lenient: bool, option: str) -> None:
        self._row = row
        self._definition = found
        self._defaults = defaults
        self._lenient = lenient
        self._option = option
        self._columns: MessageColumns | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_columns": None}

    def decode(self, messages: pa.Array) -> Decoded | BadMessage:
        kind = message_class(self._definition.descriptors, self._definition.name)
        if self._columns is None:
            self._columns = MessageColumns(kind.DESCRIPTOR, self._row, self._defaults)
        parsed, kept = [], []
        parse = parser(kind)
        given = messages.to_pylist()
        for index, message in enumerate(given):
            try:
                parsed.append(parse(message))
                kept.append(index)
            except ValueError as error:
                if not self._lenient:
                    bad = BadMessage(index, message, str(error), self._option)
                    return earliest(bad, messages, self.decode)
        try:
            return self._decoded(parsed, kept, len(given))
        except ValueError:
            return self._without_misfits(given, parsed, kept)

    def _decoded(self, parsed: Sequence[Message], kept: Sequence[int], count: int) -> Decoded:
        assert self._columns is not None
        rows = pa.RecordBatch.from_arrays(self._columns.columns(parsed), schema=to_arrow_schema(self._row))
        return Decoded(rows, None, None if len(kept) == count else np.array(kept, np.int64))

    def _without_misfits(
        self, given: Sequence[bytes | None], parsed: Sequence[Message], kept: Sequence[int]
    ) -> Decoded | BadMessage:
        """Look at messages one by one, since one of them has no row."""
        fitting = []
        for place, (message, index) in enumerate(zip(parsed, kept, strict=True)):
            try:
                self._decoded([message], [index], len(given))
                fitting.append(place)
            except ValueError as error:
                if not self._lenient:
                    return BadMessage(index, given[index], str(error), self._option)
        return self._decoded([parsed[at] for at in fitting], [kept[at] for at in fitting], len(given))


class _Encoder(MessageEncoder):
    def __init__(self, row: RowType, found: Definition, null_text: str) -> None:
        self._row = row
        self._definition = found
        self._null_text = null_text
        self._writer: MessageWriter | None = None
        self.encode(RowsToWrite.none(row).rows)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_writer": None}

    def encode(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> pa.Array:
        if self._writer is None:
            kind = message_class(self._definition.descriptors, self._definition.name)
            self._writer = MessageWriter(kind, self._row, self._null_text)
        return self._writer.write(rows)

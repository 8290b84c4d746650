"""A JSON value on each line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from firesteel.common.errors import ConnectorError, TypeMismatchError
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.format import LineFormat
from firesteel.formats.json_decoding import NO_JSON, JsonDecoder, is_exact

if TYPE_CHECKING:
    from firesteel.common.typeinfo import TypeInformation

_PLAIN = msgspec.json.Decoder()


class JsonLinesFormat(LineFormat[Any]):
    """Each line that is not blank is a JSON value, in UTF-8: dicts, lists, str, int, float, bool and None.

    With a type, the record is a value of that type (a Row for `Types.ROW_NAMED`; fields that the type does not name are
    dropped, and missing fields are None). Reading raises ConnectorError, which names the line, if the line is not JSON
    or does not fit the type.
    """

    def __init__(self, type_info: TypeInformation | None = None) -> None:
        self.produced_type = type_info
        self.makes_exact_values = type_info is not None and is_exact(type_info.schema())
        self._decoder: JsonDecoder | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_decoder": None}

    def decode(self, file: SourceFile, block: bytes, position: int) -> list[Any]:
        """Return the values of a block."""
        try:
            return self._decode(block)
        except (*NO_JSON, TypeMismatchError):
            self._find(file, block, position)
            raise

    def _decode(self, block: bytes) -> list[Any]:
        if self.produced_type is None:
            return _PLAIN.decode_lines(block)
        if self._decoder is None:
            self._decoder = JsonDecoder(self.produced_type.schema())
        values = self._decoder.decode_lines(block)
        if self.makes_exact_values and type(None) in {*map(type, values)}:
            raise TypeMismatchError("requires an object", who="JSON", got="null")
        return values

    def _find(self, file: SourceFile, block: bytes, position: int) -> None:
        for line in block.splitlines(keepends=True):
            try:
                self._decode(line)
            except (*NO_JSON, TypeMismatchError) as error:
                shown = line.rstrip().decode("utf-8", "replace")
                raise ConnectorError(
                    f"requires JSON that fits on the line at byte {position}",
                    who=f"file {file.path}",
                    got=f"{shown[:200]!r} ({error})",
                ) from error
            position += len(line)

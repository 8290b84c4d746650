"""ORC files (PyFlink: pyflink.datastream.formats.orc)."""

from __future__ import annotations

from typing import Any, Final

from firesteel.common.configuration import Configuration
from firesteel.common.errors import ConfigurationError
from firesteel.connectors.files.orc_parts import OrcRecordParts
from firesteel.datastream.connectors.file_sinks import PartWriterFactory
from firesteel.datastream.formats.row_types import require_row_type

__all__ = ["OrcBulkWriters"]

_COMPRESSION: Final = "orc.compress"
_KINDS: Final = {"ZLIB": "zlib", "SNAPPY": "snappy", "LZ4": "lz4", "ZSTD": "zstd", "NONE": "uncompressed"}


class OrcBulkWriters:
    """Writes Rows as ORC files."""

    @staticmethod
    def for_row_type(
        row_type: Any, writer_properties: Configuration | None = None, hadoop_config: Any = None
    ) -> PartWriterFactory:
        """Write files of this `DataTypes.ROW` or `Types.ROW_NAMED`.

        Of the writer's properties 'orc.compress' counts: ZLIB (the default), SNAPPY, LZ4, ZSTD or NONE; others raise
        ConfigurationError. The Hadoop configuration is not used; times have no zone.
        """
        del hadoop_config
        rows = require_row_type(row_type, "OrcBulkWriters.for_row_type")
        return PartWriterFactory(OrcRecordParts(rows, _compression(writer_properties)), rows)


def _compression(properties: Configuration | None) -> str:
    given = {} if properties is None else properties.to_dict()
    unknown = sorted(set(given) - {_COMPRESSION})
    kind = given.get(_COMPRESSION, "ZLIB").upper()
    if unknown or kind not in _KINDS:
        raise ConfigurationError(
            f"requires no property but {_COMPRESSION!r}, which is one of {', '.join(_KINDS)}",
            who="OrcBulkWriters",
            got=", ".join(unknown) or repr(kind),
        )
    return _KINDS[kind]

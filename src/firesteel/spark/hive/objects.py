"""What a metastore of Hive holds, as data. Names are in lower case; types are Hive's, as texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

MANAGED: Final = "MANAGED_TABLE"
EXTERNAL: Final = "EXTERNAL_TABLE"
VIEW: Final = "VIRTUAL_VIEW"

Parameters = Mapping[str, str]


class HiveColumn(NamedTuple):
    """A column of a table."""

    name: str
    type: str
    comment: str | None = None


@dataclass(frozen=True)
class HiveDatabase:
    """A database; `location` None is where the metastore puts new ones."""

    parameters: Parameters
    comment: str | None = None
    location: str | None = None


@dataclass(frozen=True)
class HiveStorage:
    """How the rows of a new table are stored; what is None, the metastore's configuration says.

    `file_format` is a name (orc, parquet, textfile) for the formats and the serializer.
    """

    file_format: str | None = None
    input_format: str | None = None
    output_format: str | None = None
    serializer: str | None = None
    serializer_parameters: Parameters = field(default_factory=dict)
    location: str | None = None


@dataclass(frozen=True)
class HiveTable:
    """A table or a view, which has two texts: as it was written, and with all names in full."""

    parameters: Parameters
    columns: tuple[HiveColumn, ...] = ()
    partition_columns: tuple[HiveColumn, ...] = ()
    kind: str = MANAGED
    texts: tuple[str, str] | None = None


@dataclass(frozen=True)
class HivePartition:
    """A partition of a table; `location` None is below that of the table."""

    parameters: Parameters
    location: str | None = None

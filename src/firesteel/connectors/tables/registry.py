"""The connectors by name: those of Firesteel, those that a program registers, and those of installed packages."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from firesteel.common.errors import ConfigurationError
from firesteel.connectors.tables.blackhole import BlackholeConnector
from firesteel.connectors.tables.datagen import DatagenConnector
from firesteel.connectors.tables.filesystem import FilesystemConnector
from firesteel.connectors.tables.jdbc import JdbcConnector
from firesteel.connectors.tables.kafka.connector import KafkaConnector
from firesteel.connectors.tables.kafka.upsert import UpsertKafkaConnector
from firesteel.connectors.tables.options import suggestion
from firesteel.connectors.tables.print_table import PrintConnector
from firesteel.connectors.tables.python_table import PythonConnector
from firesteel.functions.columns.connectors import TableConnector

ENTRY_POINTS: Final = "firesteel.table.connectors"
"""The group of entry points; each is a subclass of `TableConnector`, under its name."""

_BUILT_IN: Final[tuple[type[TableConnector], ...]] = (
    BlackholeConnector,
    DatagenConnector,
    FilesystemConnector,
    JdbcConnector,
    KafkaConnector,
    PrintConnector,
    PythonConnector,
    UpsertKafkaConnector,
)
BUILT_IN: Final = {kind.name: kind for kind in _BUILT_IN}
"""The connectors that come with Firesteel, by name."""

_registered: dict[str, TableConnector] = {}


def register(connector: TableConnector) -> None:
    """Make a connector known to this process under its name; it replaces another of the same name.

    >>> class Nothing(TableConnector):
    ...     name = "nothing"
    >>> register(Nothing())
    >>> connector_of("nothing", "table 't'").name
    'nothing'
    """
    _registered[connector.name] = connector


def connector_of(name: str, who: str) -> TableConnector:
    """Return the connector of a name. Raises ConfigurationError, with all names, if there is none; `who` is the table.

    >>> connector_of("prnt", "table 't'")
    Traceback (most recent call last):
    ...
    firesteel.common.errors.ConfigurationError: table 't' requires a connector that exists; got 'prnt'
      hint: did you mean 'print'?
    """
    if name in _registered:
        return _registered[name]
    if name in BUILT_IN:
        return BUILT_IN[name]()
    installed = _installed()  # reads the metadata of all packages, which takes twenty milliseconds
    if name not in installed:
        raise ConfigurationError(
            "requires a connector that exists",
            who=who,
            got=repr(name),
            hint=suggestion(name, connector_names()),
        )
    loaded: type[TableConnector] = installed[name].load()
    return loaded()


def reads_fields(options: Mapping[str, str]) -> bool:
    """Return whether the source of a table with these options can read fields of rows by themselves.

    >>> reads_fields({"connector": "filesystem", "format": "json"}), reads_fields({"connector": "datagen"})
    (True, False)
    """
    name = options.get("connector")
    return name in connector_names() and connector_of(name, "").reads_fields(options)


def connector_names() -> list[str]:
    """Return the names of all connectors."""
    return sorted({*_registered, *BUILT_IN, *_installed()})


def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}

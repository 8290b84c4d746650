"""A catalog whose definitions are files, so that they outlive a program and others see them.

The layout, below a directory or a URL: `<database>/database.json`, `<database>/tables/<name>.json` (views too, with
partitions and statistics), `<database>/functions/<name>.json`, `<database>/models/<name>.json`, and the rows of
materialised tables in `<database>/materialized/<name>/`. Each file is written whole or not at all; nothing is kept in
memory, so a program sees what another one has changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, Final, Generic, TypeVar
from urllib.parse import quote, unquote

from firesteel.checkpoint.objects import NotFound, Storage
from firesteel.common.errors import ProgramError
from firesteel.table.catalog.json_definitions import (
    database_of,
    database_text,
    entry_of,
    entry_text,
    function_of,
    function_text,
    model_of,
    model_text,
)
from firesteel.table.catalog.memory import Database, GenericInMemoryCatalog
from firesteel.table.catalog.paths import ObjectPath

__all__ = ["FileCatalog"]

_SUFFIX: Final = ".json"
_DATABASE: Final = "database.json"
V = TypeVar("V")


class FileCatalog(GenericInMemoryCatalog):
    """Keeps databases, tables, views and functions in files of `path`.

    Two programs that change one table at the same time overwrite each other; whoever comes last is right. Views that
    a program made of a Table have no text, and are refused.
    """

    def __init__(self, name: str, path: str, default_database: str = "default") -> None:
        self._storage = Storage.of(path)
        super().__init__(name, default_database, _Databases(self._storage))

    def directory_of(self, table_path: ObjectPath) -> str:
        """Return a directory, beside the definitions, for what belongs to a table."""
        database, name = (quote(part, safe="") for part in (table_path.database_name, table_path.object_name))
        return self._storage.location(f"{database}/materialized/{name}")


class _Files(MutableMapping[str, V], Generic[V]):
    """Values by names, each in a file of a directory."""

    def __init__(
        self,
        storage: Storage,
        directory: str,
        text: Callable[[V], dict[str, Any]],
        value: Callable[[dict[str, Any]], V],
    ) -> None:
        self._storage = storage
        self._directory = directory
        self._text = text
        self._value = value

    def __getitem__(self, name: str) -> V:
        path = self._path(name)
        return self._value(_read(self._storage, path, name))

    def __setitem__(self, name: str, value: V) -> None:
        self._storage.put(self._path(name), json.dumps(self._text(value), indent=1).encode())

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._storage.delete(self._path(name))

    def __contains__(self, name: object) -> bool:
        return self._storage.exists(self._path(str(name)))

    def __iter__(self) -> Iterator[str]:
        for path in self._storage.list(f"{self._directory}/"):
            if path.endswith(_SUFFIX):
                yield unquote(path.rpartition("/")[2].removesuffix(_SUFFIX))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _path(self, name: str) -> str:
        return f"{self._directory}/{quote(name, safe='')}{_SUFFIX}"


class _Databases(MutableMapping[str, Database]):
    """Databases by their names, each a directory."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def __getitem__(self, name: str) -> Database:
        directory = quote(name, safe="")
        return Database(
            database_of(_read(self._storage, f"{directory}/{_DATABASE}", name)),
            _Files(self._storage, f"{directory}/tables", entry_text, entry_of),
            _Files(self._storage, f"{directory}/functions", function_text, function_of),
            _Files(self._storage, f"{directory}/models", model_text, model_of),
        )

    def __setitem__(self, name: str, value: Database) -> None:
        text = json.dumps(database_text(value.definition), indent=1)
        self._storage.put(f"{quote(name, safe='')}/{_DATABASE}", text.encode())

    def __delitem__(self, name: str) -> None:
        if name not in self:
            raise KeyError(name)
        self._storage.delete(f"{quote(name, safe='')}/{_DATABASE}")

    def __contains__(self, name: object) -> bool:
        return self._storage.exists(f"{quote(str(name), safe='')}/{_DATABASE}")

    def __iter__(self) -> Iterator[str]:
        for path in self._storage.list(""):
            if path.count("/") == 1 and path.endswith(f"/{_DATABASE}"):
                yield unquote(path.partition("/")[0])

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _read(storage: Storage, path: str, name: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(storage.get(path))
    except NotFound as error:
        raise KeyError(name) from error
    except ValueError as error:
        raise ProgramError("is no JSON", who=f"the catalog file {storage.location(path)}") from error
    return found

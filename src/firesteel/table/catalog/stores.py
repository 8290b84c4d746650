"""Where the definitions of catalogs are kept: for a session, or in files, so that other programs have them too.

Source: Flink's CatalogStore, with its options `table.catalog-store.kind` and `table.catalog-store.file.path`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, Protocol
from urllib.parse import quote, unquote

from firesteel.checkpoint.objects import NotFound, Storage
from firesteel.common.errors import ConfigurationError, ProgramError
from firesteel.table.catalog.definitions import CatalogDescriptor

KIND: Final = "table.catalog-store.kind"
PATH: Final = "table.catalog-store.file.path"
_SUFFIX: Final = ".yaml"
_LINE: Final = re.compile(r"\s*(?P<key>\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^:#]+?)\s*:\s+(?P<value>.*\S)\s*")


class CatalogStore(Protocol):
    """Keeps how catalogs are made, by their names."""

    def names(self) -> list[str]:
        """Return the names."""

    def get(self, name: str) -> CatalogDescriptor | None:
        """Return how a catalog is made; None if there is none of this name."""

    def put(self, descriptor: CatalogDescriptor) -> None:
        """Keep how a catalog is made, in the place of what there is of its name."""

    def remove(self, name: str) -> None:
        """Forget a catalog, if there is one of this name."""


class MemoryCatalogStore:
    """Keeps descriptors for the session."""

    def __init__(self) -> None:
        self._known: dict[str, CatalogDescriptor] = {}

    def names(self) -> list[str]:
        """Return the names."""
        return sorted(self._known)

    def get(self, name: str) -> CatalogDescriptor | None:
        """Return how a catalog is made; None if there is none of this name."""
        return self._known.get(name)

    def put(self, descriptor: CatalogDescriptor) -> None:
        """Keep how a catalog is made."""
        self._known[descriptor.catalog_name] = descriptor

    def remove(self, name: str) -> None:
        """Forget a catalog."""
        self._known.pop(name, None)


class FileCatalogStore:
    """Keeps each descriptor as a file `<name>.yaml` of a directory or a URL, as Flink does.

    The comment is one of YAML, too, which Flink does not read.
    """

    def __init__(self, path: str) -> None:
        self._storage = Storage.of(path)

    def names(self) -> list[str]:
        """Return the names."""
        names = (name for name in self._storage.list("") if "/" not in name and name.endswith(_SUFFIX))
        return sorted(unquote(name.removesuffix(_SUFFIX)) for name in names)

    def get(self, name: str) -> CatalogDescriptor | None:
        """Return how a catalog is made; None if there is none of this name."""
        try:
            text = self._storage.get(_file(name)).decode()
        except NotFound:
            return None
        who = f"the catalog file {self._storage.location(_file(name))}"
        comment = text.removeprefix("# ").splitlines()[0] if text.startswith("# ") else None
        return CatalogDescriptor(name, _options(text, who), None if comment is None else json.loads(comment))

    def put(self, descriptor: CatalogDescriptor) -> None:
        """Write how a catalog is made."""
        lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in descriptor.options.items()]
        if descriptor.comment is not None:
            lines.insert(0, f"# {json.dumps(descriptor.comment)}")
        self._storage.put(_file(descriptor.catalog_name), "".join(f"{line}\n" for line in lines).encode())

    def remove(self, name: str) -> None:
        """Remove the file of a catalog."""
        self._storage.delete(_file(name))


def _file(name: str) -> str:
    return f"{quote(name, safe='')}{_SUFFIX}"


def _options(text: str, who: str) -> dict[str, str]:
    """Return the options of a file of YAML that has keys and texts only.

    >>> _options('type: jdbc\\n"base-url": "a: b"  \\n# nothing\\n', "file")
    {'type': 'jdbc', 'base-url': 'a: b'}
    """
    found = {}
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#") or line.strip() == "---":
            continue
        parts = _LINE.fullmatch(line)
        if parts is None:
            raise ProgramError("requires lines of 'key: value'", who=who, got=line)
        found[_plain(parts["key"])] = _plain(parts["value"])
    return found


def _plain(text: str) -> str:
    if text.startswith('"'):
        return str(json.loads(text))
    return text[1:-1].replace("''", "'") if text.startswith("'") else text


def catalog_store(options: Mapping[str, str]) -> CatalogStore:
    """Return the store that the options of a session ask for; raises ConfigurationError for a kind that is unknown."""
    kind = options.get(KIND, "generic_in_memory")
    if kind == "generic_in_memory":
        return MemoryCatalogStore()
    if kind != "file":
        raise ConfigurationError(
            "requires generic_in_memory or file", who=f"the option {KIND!r}", got=repr(kind)
        )
    path = options.get(PATH)
    if path is None:
        raise ConfigurationError(f"requires the option {PATH!r}, a directory", who=f"{KIND!r} = 'file'")
    return FileCatalogStore(path)

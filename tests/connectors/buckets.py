"""A bucket of a server on this machine, and what is to be seen in it."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest

from firesteel.checkpoint.objects import Storage
from harness import s3


class Bucket:
    """A new bucket, which this process and its children find by its URL; `store` is the module of its server."""

    def __init__(self, store: ModuleType, server: str, patch: pytest.MonkeyPatch) -> None:
        for name, value in store.environment(server).items():
            patch.setenv(name, value)
        self.url = f"{store.SCHEME}://{store.new_bucket(server)}"
        self.objects = Storage.of(self.url)

    def put(self, path: str, data: bytes) -> str:
        """Write an object; return its URL."""
        self.objects.put(path, data)
        return f"{self.url}/{path}"

    def paths(self, prefix: str = "") -> list[str]:
        return self.objects.list(prefix)

    def hidden(self, prefix: str = "") -> list[str]:
        return [path for path in self.paths(prefix) if _is_hidden(path)]

    def visible(self, prefix: str = "") -> dict[str, bytes]:
        return {path: self.objects.get(path) for path in self.paths(prefix) if not _is_hidden(path)}

    def texts(self, prefix: str = "") -> list[str]:
        """The contents of the visible objects, in the order of the counters in their names."""
        found = self.visible(prefix)
        return [found[path].decode() for path in sorted(found, key=lambda path: int(path.rsplit("-", 1)[1]))]


def _is_hidden(path: str) -> bool:
    return any(name.startswith((".", "_")) for name in path.split("/"))


@pytest.fixture(scope="module")
def store() -> ModuleType:
    """The module of the harness that serves objects; another one's tests define it anew."""
    return s3


@pytest.fixture(scope="module")
def server(store: ModuleType) -> Iterator[str]:
    with store.serving() as url:
        yield url


@pytest.fixture
def bucket(store: ModuleType, server: str, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    return Bucket(store, server, monkeypatch)

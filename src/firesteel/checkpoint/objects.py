"""Checkpoint storage: a flat space of named objects, on a local disk or in an object store.

The guarantees are the same everywhere. An object appears completely or not at all, by name and in listings. `create`
succeeds for exactly one of any number of concurrent writers. A write is durable when the call returns.

On the local disk, an object is written under a unique name in ``.staged/`` and flushed with fsync. Then it is linked
(`create`; link(2) fails if the name is taken) or renamed (`put`) to its name, and the directory is flushed, with the
new ones above it. obstore itself stages, links and renames in the same way but flushes nothing, so a name could refer
to an empty file after a loss of power. A crash leaves at most an unused object in ``.staged/``.

Object stores are atomic and durable by themselves; there `create` is a conditional put (S3: ``If-None-Match: *``).
A retried conditional put can meet its own first attempt and report AlreadyExists; compare the contents to find out.
`firesteel.objectstores.client` has the time limits for a store that does not respond.
"""

from __future__ import annotations

import builtins
import errno
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore

from firesteel.common.errors import ConfigurationError, StateError
from firesteel.objectstores.client import connect, explained, is_missing_bucket, persevere, reason

STAGED: Final = ".staged"
_CHUNK: Final = 4 << 20
_AT_ONCE: Final = 16

T = TypeVar("T")


class StoredObject(NamedTuple):
    """An object in a listing: `size` is in bytes, `modified_ms` in milliseconds since 1970, by the storage's clock."""

    path: str
    size: int
    modified_ms: int


class AlreadyExists(StateError):  # noqa: N818  (an outcome callers ask for, not a failure)
    """An object of this name already exists."""


class NotFound(StateError):  # noqa: N818
    """There is no object of this name."""


class Storage:
    """Objects below one URL; paths are relative to it, with ``/`` between their parts.

    Create it with `Storage.of`. Two storages with the same URL are equal. A storage is pickled as its URL; the process
    that unpickles it reads the credentials from its own environment. Raises StateError, which names the object, if the
    storage fails.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     storage = Storage.of(directory)
    ...     storage.create("a/b", b"data")
    ...     storage.get("a/b"), storage.list("a"), storage.exists("c")
    (b'data', ['a/b'], False)
    """

    def __init__(self, url: str, root: Path | None, store: Any) -> None:
        self.url = url
        self._root = root
        self._store = store
        self._made: set[Path] = set()

    @classmethod
    def of(cls, location: str | Path) -> Storage:
        """Return the storage at a local path, a file:// URL, or a URL that obstore supports (s3://, gs://, az://, ...).

        A missing local directory is created with mode 0700, because the files contain pickles. To share it, create it
        beforehand with the required permissions. Raises ConfigurationError for a URL of an unknown kind.
        """
        text = str(location)
        root = _local_root(text)
        if root is None:
            with _failures(text, "opened"):
                try:
                    return cls(text, None, connect(text))
                except (ValueError, BaseError) as error:
                    raise ConfigurationError(
                        "requires a local path or a URL such as s3://bucket/path",
                        who="the state directory",
                        got=f"{text!r} ({reason(error)})",
                    ) from None
        with _failures(text, "made"):
            new = [directory for directory in (root, *root.parents) if not directory.exists()]
            if new:
                root.mkdir(mode=0o700, parents=True, exist_ok=True)
            store = LocalStore(root)
            for directory in new:
                _flush(directory.parent)
            return cls(str(root), root, store)

    @classmethod
    def existing(cls, location: str | Path) -> Storage:
        """Return an existing storage: like `of`, but raise NotFound for a missing local directory."""
        root = _local_root(str(location))
        if root is not None and not root.is_dir():
            raise NotFound("is missing", who=f"the directory {root}")
        return cls.of(location)

    @property
    def is_local(self) -> bool:
        """Whether it is a directory on a disk of this machine rather than an object store."""
        return self._root is not None

    def location(self, path: str) -> str:
        """Return the full path or URL of an object, for messages."""
        return f"{self.url.rstrip('/')}/{path}"

    def put(self, path: str, data: bytes | IO[bytes]) -> None:
        """Write an object, or replace one of the same name; a binary file is read in parts from its position."""
        if self._root is not None:
            with self._failures(path, "written"):
                self._publish(path, data, overwrite=True)
        elif isinstance(data, bytes):
            self._ask(path, "written", lambda: obstore.put(self._store, path, data))
        else:
            start = data.tell()

            def upload() -> None:
                data.seek(start)
                obstore.put(self._store, path, data)

            self._ask(path, "written", upload)

    def create(self, path: str, data: bytes) -> None:
        """Write an object unless one of this name exists (AlreadyExists)."""
        if self._root is not None:
            with self._failures(path, "written"):
                self._publish(path, data, overwrite=False)
        else:
            self._ask(path, "written", lambda: obstore.put(self._store, path, data, mode="create"))

    def get(self, path: str) -> bytes:
        """Return an object's bytes; raises NotFound."""
        return self._ask(path, "read", lambda: obstore.get(self._store, path).bytes().to_bytes())

    def chunks(self, path: str) -> Iterator[bytes]:
        """Return an object's bytes in parts of about 4 MiB; raises NotFound."""
        with self._failures(path, "read"):
            for chunk in obstore.get(self._store, path).stream(min_chunk_size=_CHUNK):
                yield bytes(chunk)

    def exists(self, path: str) -> bool:
        """Return whether there is an object of this name."""
        try:
            self._size(path)
        except NotFound:
            return False
        return True

    def list(self, prefix: str) -> builtins.list[str]:
        """Return the paths of all objects below a directory, sorted."""
        return [entry.path for entry in self.entries(prefix)]

    def entries(self, prefix: str) -> builtins.list[StoredObject]:
        """Return all objects below a directory, sorted by path."""
        return self._listed(prefix, None)

    def folders(self) -> builtins.list[str]:
        """Return the names of the directories directly below the URL, sorted, without hidden ones.

        Their contents are not listed and cost nothing.
        """
        found = self._ask("", "listed", lambda: obstore.list_with_delimiter(self._store)["common_prefixes"])
        return sorted(name for name in found if not name.startswith("."))

    def names_after(self, prefix: str, path: str) -> builtins.list[str]:
        """Return the paths of the objects below a directory that sort after `path`, sorted.

        An object store starts its listing there, so the cost depends only on the objects returned.
        """
        return [entry.path for entry in self._listed(prefix, path)]

    def get_many(self, paths: Iterable[str]) -> builtins.list[bytes]:
        """Return the bytes of several small objects, in the order of `paths`; raises NotFound.

        Several requests to an object store are in flight at a time.
        """
        wanted = [*paths]
        if self._root is not None or len(wanted) < 2:
            return [self.get(path) for path in wanted]
        with ThreadPoolExecutor(min(_AT_ONCE, len(wanted)), "firesteel-get") as threads:
            return [*threads.map(self.get, wanted)]

    def delete(self, path: str) -> None:
        """Delete an object if it exists."""
        try:
            self._ask(path, "deleted", lambda: obstore.delete(self._store, path))
        except NotFound:
            return

    def delete_all(self, paths: Iterable[str]) -> None:
        """Delete the objects that exist, on local disks in the order of `paths`.

        Object stores receive many at a time (S3: 1000), and delete them in any order.
        """
        doomed = [*paths]
        if self._root is None and len(doomed) > 1:
            try:
                self._ask(
                    f"{doomed[0]} and {len(doomed) - 1} others",
                    "deleted",
                    lambda: obstore.delete(self._store, doomed),
                )
            except (
                NotFound
            ):  # a store without deletes of many: at the first that is missing, the rest is left
                pass
            else:
                return
        for path in doomed:
            self.delete(path)

    def sweep_staged(self, older_than_ms: int) -> None:
        """Remove files of crashed writers in ``.staged/`` that were not written to for `older_than_ms`.

        Does nothing on object stores. There an interrupted multipart upload stays hidden until a rule of the bucket
        removes it.
        """
        if self._root is None:
            return
        limit = time.time() - older_than_ms / 1000
        with self._failures(STAGED, "swept"):
            for path in (self._root / STAGED).glob("*"):
                with suppress(FileNotFoundError):  # its writer is alive, and has just published it
                    if path.stat().st_mtime < limit:
                        path.unlink()

    def __reduce__(self) -> tuple[Any, ...]:
        return Storage.of, (self.url,)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Storage) and other.url == self.url

    def __hash__(self) -> int:
        return hash(self.url)

    def __repr__(self) -> str:
        return f"Storage({self.url!r})"

    def _listed(self, prefix: str, after: str | None) -> builtins.list[StoredObject]:
        found = self._ask(prefix, "listed", lambda: [*obstore.list(self._store, prefix, offset=after)])
        return sorted(
            StoredObject(entry["path"], entry["size"], int(entry["last_modified"].timestamp() * 1000))
            for batch in found
            for entry in batch
        )

    def _size(self, path: str) -> int:
        return self._ask(path, "looked up", lambda: obstore.head(self._store, path)["size"])

    def _publish(self, path: str, data: bytes | IO[bytes], *, overwrite: bool) -> None:
        assert self._root is not None
        staged = f"{STAGED}/{uuid.uuid4().hex}"
        obstore.put(self._store, staged, data)
        try:
            _flush(self._root / staged)
            self._make((self._root / path).parent)
            obstore.rename(self._store, staged, path, overwrite=overwrite)
        except (BaseError, OSError):
            self.delete(staged)
            raise
        _flush((self._root / path).parent)

    def _make(self, directory: Path) -> None:
        """Create a directory below the root durably, even if another process created it and has not flushed it yet."""
        if directory == self._root or directory in self._made:
            return
        self._make(directory.parent)
        directory.mkdir(exist_ok=True)
        _flush(directory.parent)
        self._made.add(directory)

    def _ask(self, path: str, action: str, operation: Callable[[], T]) -> T:
        """Run an operation that may be repeated if an object store does not respond."""
        with self._failures(path, action):
            return operation() if self._root is not None else persevere(operation)

    def _failures(self, path: str, action: str) -> Any:
        return _failures(self.location(path), action)


@contextmanager
def _failures(location: str, action: str) -> Iterator[None]:
    """Turn errors of obstore and the operating system into errors that name the object."""
    try:
        yield
    except AlreadyExistsError:
        raise AlreadyExists("exists already", who=location) from None
    except (BaseError, OSError) as error:
        if isinstance(error, FileNotFoundError) and not is_missing_bucket(error):
            raise NotFound("is missing", who=location) from None
        got, hint = explained(error)
        if os.strerror(errno.ENOSPC) in got:
            hint = f"the disk of {location} is full: make room, then start the job again"
        elif os.strerror(errno.EACCES) in got:
            hint = (
                "a directory that Firesteel creates belongs to its user alone (mode 0700). If workers or other "
                "commands run as another user, create it yourself, with the permissions that they need"
            )
        # Its cause may quote credentials.
        raise StateError(f"cannot be {action}", who=location, got=got, hint=hint) from None


def _local_root(location: str) -> Path | None:
    if "://" not in location:
        return Path(location).expanduser().resolve()
    parts = urlsplit(location)
    return Path(unquote(parts.path)).resolve() if parts.scheme == "file" else None


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

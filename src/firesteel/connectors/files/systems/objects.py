"""Object stores as file systems: S3, Google Cloud Storage, Azure.

An object appears completely or not at all, and is durable when the call returns. Nothing can be renamed; a copy within
the store takes its place. A version of an object is its ETag, and ranges are asked for on the condition that it has not
changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import IO, Any, BinaryIO, Final, TypeVar, cast

import obstore
from obstore.exceptions import BaseError, PreconditionError

from firesteel.common.errors import ConnectorError
from firesteel.connectors.files.systems.multipart import (
    MARKER,
    MultipartUploads,
    NoSuchUpload,
    Upload,
    is_available,
    named_by,
)
from firesteel.connectors.files.systems.remote import RemoteFiles
from firesteel.connectors.files.systems.sending import SentAhead
from firesteel.connectors.files.systems.system import ChangedError, Found, Status, Written
from firesteel.objectstores.client import connect, explained, is_missing_bucket, persevere

SCHEMES: Final = frozenset({"s3", "s3a", "gs", "az", "azure", "adl", "abfs", "abfss"})
"""The schemes of URLs of object stores."""

_LARGEST_COPY: Final = 5 << 30
"""S3 copies no larger object in one request."""

_LARGEST_PUT: Final = 8 << 20

_SMALLEST_PART: Final = 5 << 20
"""In S3 no part of an upload but the last is smaller."""

T = TypeVar("T")


class ObjectFiles(RemoteFiles):
    """The objects of one bucket; `root` is its URL (`s3://bucket`). Raises ConnectorError if it cannot be reached."""

    renames = False
    has_directories = False

    def __init__(self, root: str) -> None:
        self._root = root
        self._store = self._ask(root, "opened", lambda: connect(root))
        scheme, _, bucket = root.partition("://")
        self._uploads = MultipartUploads(bucket) if scheme in ("s3", "s3a") and is_available() else None

    def status(self, path: str) -> Status:
        """Return an object's status."""
        if path == self._root:  # the bucket, which is no object
            raise FileNotFoundError(path)
        return _status(self._ask(path, "looked up", lambda: obstore.head(self._store, self._key(path))))

    def range(self, path: str, start: int, end: int, status: Status | None) -> bytes:
        """Return the bytes `[start, end)` of an object."""
        options: Any = {"range": (start, end)}
        if status is not None and status.version and not status.version.startswith("W/"):
            options["if_match"] = status.version
        key = self._key(path)
        try:
            return self._ask(
                path,
                "read",
                lambda: obstore.get(self._store, key, options=options).bytes().to_bytes(),
            )
        except PreconditionError:
            raise ChangedError(path) from None

    def upload(self, path: str, file: IO[bytes], size: int) -> None:
        """Write an object."""
        key = self._key(path)

        def put() -> None:
            file.seek(0)
            obstore.put(self._store, key, file.read() if size <= _LARGEST_PUT else file)

        self._ask(path, "written", put)

    def create(self, path: str, final: str | None = None) -> BinaryIO:
        """Begin an object; what becomes large is sent to `final` while it is written, where uploads can wait."""
        if final is None or self._uploads is None:
            return super().create(path)
        return cast("BinaryIO", SentAhead(path, self._key(final), self._uploads, self.replace))

    def finish(self, file: BinaryIO) -> Written:
        """Send what has not been sent."""
        return file.finish() if isinstance(file, SentAhead) else super().finish(file)

    def abandon(self, file: BinaryIO) -> None:
        """Close the object, and give up its upload."""
        if not isinstance(file, SentAhead):
            super().abandon(file)
        elif (named := file.abandon()) is not None:
            self._delete(named)

    def complete(self, named: str, target: str, upload: Upload) -> None:
        """Make an upload visible, and delete the object that names it; doing it again changes nothing."""
        try:
            self._required_uploads(target).complete(self._key(target), upload)
        except NoSuchUpload:
            if not self.missing([named]) and self.missing([target]):
                raise ConnectorError(
                    "requires the multipart upload of a committed part",
                    who=target,
                    got="neither the upload nor the object",
                    hint="if a rule of the bucket has aborted the upload, its records are lost: start again at an "
                    f"earlier epoch. If a reader has taken the object away, delete {named}",
                ) from None
        self._delete(named)

    def joined_there(self, sources: Sequence[tuple[str, int]], target: str) -> bool:
        """Join objects of known sizes within the store; return False if it cannot: all but the last must be large."""
        sizes = [size for _, size in sources]
        large = all(size >= _SMALLEST_PART for size in sizes[:-1])
        if self._uploads is None or not large or not 0 < min(sizes) <= max(sizes) <= _LARGEST_COPY:
            return False
        uploads, key = self._uploads, self._key(target)
        uploads.abort_all(key)  # what a driver left that died here
        upload = uploads.begin(key)
        parts = [(number, self._key(path)) for number, (path, _) in enumerate(sources, 1)]
        tags = self.each(lambda part: uploads.copy(key, upload, *part), parts)
        try:
            uploads.complete(key, Upload(upload, tuple(tags)))
        except NoSuchUpload:  # the answer was lost, or another driver has done it
            if self.missing([target]):
                raise
        return True

    def _required_uploads(self, path: str) -> MultipartUploads:
        if self._uploads is None:
            raise ConnectorError(
                "requires boto3 for the multipart uploads that others have begun",
                who=path,
                got="none here",
                hint='pip install "firesteel[s3]" for the driver and the workers',
            )
        return self._uploads

    def move(self, source: str, target: str) -> None:
        """Copy an object, and delete the first one."""
        self.show(source, target, self.status(source).size)

    def show(self, source: str, target: str, size: int) -> None:
        """Copy an object of a known size within the store, and delete the first one."""
        self._copy(source, target, size)
        self._delete(source)

    def _copy(self, source: str, target: str, size: int) -> None:
        if size > _LARGEST_COPY:
            with self.local_copies([source]) as [copy], copy.open("rb") as file:
                self.upload(target, file, size)
            return
        keys = self._key(source), self._key(target)
        self._ask(target, "written", lambda: obstore.copy(self._store, *keys))

    def remove_one(self, path: str) -> None:
        """Delete an object that may already be gone; with one that names an upload, the upload ends."""
        if path.endswith(MARKER):
            try:
                content = self.range(path, 0, self.status(path).size, None)
            except FileNotFoundError:
                return
            self._required_uploads(path).abort(*named_by(content))
        self._delete(path)

    def _delete(self, path: str) -> None:
        with suppress(FileNotFoundError):
            self._ask(path, "deleted", lambda: obstore.delete(self._store, self._key(path)))

    def below(self, directory: str) -> Iterator[Found]:
        """Yield all objects below a prefix."""
        prefix = f"{self._key(directory)}/".lstrip("/")
        batches: Iterable[Any] = self._ask(
            directory, "listed", lambda: [*obstore.list(self._store, prefix, chunk_size=1000)]
        )
        for batch in batches:
            for entry in batch:
                yield Found(f"{self._root}/{entry['path']}", _status(entry))

    def folders(self, path: str) -> list[str]:
        """Return the names between a prefix and the next slash, sorted."""
        prefix = f"{self._key(path)}/".lstrip("/")
        found = self._ask(
            path,
            "listed",
            lambda: obstore.list_with_delimiter(self._store, prefix)["common_prefixes"],
        )
        return sorted(name.rpartition("/")[2] for name in found)

    def _key(self, path: str) -> str:
        return path[len(self._root) + 1 :]

    def _ask(self, path: str, action: str, operation: Callable[[], T]) -> T:
        try:
            return persevere(operation)
        except PreconditionError:
            raise
        except (BaseError, OSError, ValueError) as error:
            if isinstance(error, FileNotFoundError) and not is_missing_bucket(error):
                raise FileNotFoundError(path) from None
            got, hint = explained(error)
            # Its cause may quote credentials.
            raise ConnectorError(f"cannot be {action}", who=path, got=got, hint=hint) from None


def _status(entry: Any) -> Status:
    modified = int(entry["last_modified"].timestamp() * 1000) * 1_000_000
    return Status(entry["size"], modified, _version(entry["e_tag"] or ""))


def _version(tag: str) -> str:
    """Return an ETag as a request has it; in Azure's listings it has no quotes."""
    return tag if not tag or tag.endswith('"') else f'"{tag}"'

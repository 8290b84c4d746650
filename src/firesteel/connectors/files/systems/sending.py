"""A file that is sent while it is written, if it becomes large."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from typing import Any, Final

from firesteel.connectors.files.systems.multipart import MARKER, MultipartUploads, PartSender, marker
from firesteel.connectors.files.systems.system import Written
from firesteel.state.disk.scratch import local_directory

PIECE: Final = 8 << 20
_LARGE_PIECE: Final = 64 << 20
_SMALL_PIECES: Final = 1000
"""An upload has up to 10,000 parts."""

_IN_MEMORY: Final = 1 << 20


class SentAhead(io.RawIOBase):
    """A file up to a piece long is written to `path` at its end, by one request.

    A larger one is a multipart upload to the key `final`. Before its first part is sent, an object beside `path` names
    the upload, so that whoever finds it can end the upload. What has not been sent is in memory or on the local disk.
    """

    def __init__(
        self, path: str, final: str, uploads: MultipartUploads, put: Callable[[str, bytes], None]
    ) -> None:
        self._path = path
        self._final = final
        self._uploads = uploads
        self._put = put
        directory = local_directory()
        directory.mkdir(parents=True, exist_ok=True)
        self._held = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY, dir=str(directory))  # noqa: SIM115 - see close
        self._sent = 0
        self._pieces = 0
        self._sender: PartSender | None = None

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._sent + self._held.tell()

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        count = len(rest)
        while (room := self._piece - self._held.tell()) < len(rest):
            self._held.write(rest[:room])
            rest = rest[room:]
            self._send()
        self._held.write(rest)
        return count

    def close(self) -> None:
        if not self.closed:
            self._held.close()
        super().close()

    @property
    def _piece(self) -> int:
        return PIECE if self._pieces < _SMALL_PIECES else _LARGE_PIECE

    def _taken(self) -> bytes:
        self._held.seek(0)
        data = self._held.read()
        self._held.seek(0)
        self._held.truncate()
        return data

    def _send(self) -> None:
        if self._sender is None:
            upload = self._uploads.begin(self._final)
            self._put(self._path + MARKER, marker(self._final, upload))
            self._sender = PartSender(self._uploads, self._final, upload)
        data = self._taken()
        self._sender.send(data)
        self._sent += len(data)
        self._pieces += 1

    def finish(self) -> Written:
        """Write or send what is left, and close the file."""
        size = self.tell()
        if self._sender is None:
            self._put(self._path, self._taken())
            written = Written(self._path, size)
        else:
            self._send()
            written = Written(self._path + MARKER, size, self._sender.finish())
        self.close()
        return written

    def abandon(self) -> str | None:
        """Give up the upload, and return the path of the object that names it; None if there is no upload."""
        self.close()
        if self._sender is None:
            return None
        self._sender.abort()
        return self._path + MARKER

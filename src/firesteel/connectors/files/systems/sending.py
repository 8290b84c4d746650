"""A file that is sent while it is written, if it becomes large."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, Final

from firesteel.connectors.files.systems.multipart import MARKER, MultipartUploads, PartSender, marker
from firesteel.connectors.files.systems.system import Written

PIECE: Final = 8 << 20
_LARGE_PIECE: Final = 64 << 20
_SMALL_PIECES: Final = 1000
"""An upload has up to 10,000 parts."""


class SentAhead(io.RawIOBase):
    """A file up to a piece long is written to `path` at its end, by one request.

    A larger one is a multipart upload to the key `final`. Before its first part is sent, an object beside `path` names
    the upload, so that whoever finds it can end the upload.
    """

    def __init__(
        self, path: str, final: str, uploads: MultipartUploads, put: Callable[[str, bytes], None]
    ) -> None:
        self._path = path
        self._final = final
        self._uploads = uploads
        self._put = put
        self._held = bytearray()
        self._size = 0
        self._pieces = 0
        self._sender: PartSender | None = None

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size

    def write(self, data: Any) -> int:
        count = len(memoryview(data).cast("B"))
        self._held += data
        self._size += count
        while len(self._held) > self._piece:
            if self._sender is None:
                self._sender = self._begin()
            self._send(self._piece)
        return count

    @property
    def _piece(self) -> int:
        return PIECE if self._pieces < _SMALL_PIECES else _LARGE_PIECE

    def _begin(self) -> PartSender:
        upload = self._uploads.begin(self._final)
        self._put(self._path + MARKER, marker(self._final, upload))
        return PartSender(self._uploads, self._final, upload)

    def _send(self, length: int) -> None:
        assert self._sender is not None
        self._sender.send(bytes(self._held[:length]))
        del self._held[:length]
        self._pieces += 1

    def finish(self) -> Written:
        """Write or send what is left, and close the file."""
        if self._sender is None:
            self._put(self._path, bytes(self._held))
            written = Written(self._path, self._size)
        else:
            self._send(len(self._held))
            written = Written(self._path + MARKER, self._size, self._sender.finish())
        self.close()
        return written

    def abandon(self) -> str | None:
        """Give up the upload, and return the path of the object that names it; None if there is no upload."""
        if self._sender is None:
            return None
        self._sender.abort()
        return self._path + MARKER

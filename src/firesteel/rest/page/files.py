"""The files of the page as they are sent: compressed, cached, and with a policy that lets nothing else run."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

STATIC: Final = Path(__file__).with_name("static")

INDEX: Final = "index.html"

_VERSION: Final = "page/VERSION/"
"""How the index names the folder of the other files. Their modules import each other by relative paths."""

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Scripts come from files of the server alone, and (trusted types) no text becomes HTML or code, whoever wrote it."""

_HEADERS: Final = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
}
MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FOR_EVER: Final = "public, max-age=31536000, immutable"
ASK_AGAIN: Final = "no-cache"
"""A browser keeps a file, and asks each time whether it has changed."""


@dataclass(frozen=True)
class Sent:
    """An answer: its status, its headers, its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class StaticFile:
    """A file, also compressed, and the headers that it is sent with."""

    body: bytes
    packed: bytes
    headers: Mapping[str, str]

    @classmethod
    def of(cls, body: bytes, media_type: str, caching: str, policy: str) -> StaticFile:
        """Return a file that browsers show under a Content-Security-Policy."""
        headers = {
            **_HEADERS,
            "Content-Security-Policy": policy,
            "Content-Type": media_type,
            "Cache-Control": caching,
            "ETag": f'W/"{_digest(body)}"',  # weak: the same for both encodings
        }
        return cls(body, gzip.compress(body, mtime=0), headers)

    def answer(self, headers: Mapping[str, str]) -> Sent:
        """Return the answer to a request with these headers."""
        if self.headers["ETag"] in headers.get("if-none-match", ""):
            return Sent(304, self.headers, b"")
        if takes_gzip(headers.get("accept-encoding", "")):
            return Sent(200, {**self.headers, "Content-Encoding": "gzip"}, self.packed)
        return Sent(200, self.headers, self.body)


class PageFiles:
    """The files below a directory, read once.

    All but the index are in a folder with the digest of them all in its name, so that browsers keep them for ever and
    never mix files of two versions.
    """

    def __init__(self, directory: Path = STATIC) -> None:
        found = {
            path.relative_to(directory).as_posix(): path.read_bytes()
            for path in sorted(directory.rglob("*"))
            if path.suffix in MEDIA_TYPES
        }
        index = found.pop(INDEX)
        self.version = _digest(b"".join(name.encode() + body for name, body in found.items()))
        self._files = {name: _of_page(name, body, _FOR_EVER) for name, body in found.items()}
        self._index = _of_page(
            INDEX, index.replace(_VERSION.encode(), f"page/{self.version}/".encode()), ASK_AGAIN
        )

    def index(self, headers: Mapping[str, str]) -> Sent:
        """Return the page itself, for a request with these headers."""
        return self._index.answer(headers)

    def file(self, name: str, headers: Mapping[str, str]) -> Sent | None:
        """Return a file of the page's folder, `page/VERSION`; None if there is none of this name."""
        found = self._files.get(name)
        return None if found is None else found.answer(headers)

    def size(self, suffix: str) -> int:
        """Return how many bytes all files with this suffix have when they are sent compressed."""
        return sum(len(file.packed) for name, file in self._files.items() if name.endswith(suffix))


def _of_page(name: str, body: bytes, caching: str) -> StaticFile:
    return StaticFile.of(body, MEDIA_TYPES[Path(name).suffix], caching, _POLICY)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def takes_gzip(accepted: str) -> bool:
    """Return whether a client takes gzip, by its header Accept-Encoding.

    >>> takes_gzip("br, gzip"), takes_gzip("gzip;q=0, br"), takes_gzip("")
    (True, False, False)
    """
    codings = (part.replace(" ", "").lower().partition(";q=") for part in accepted.split(","))
    return any(name == "gzip" and bool((quality or "1").strip("0.")) for name, _, quality in codings)

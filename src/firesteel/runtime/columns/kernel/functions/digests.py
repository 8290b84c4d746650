"""Digests, encodings of bytes as text, and character sets."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa

from firesteel.runtime.columns.kernel.functions.vector import ComputeError, VectorFunction, by_row

_TEXT: Final = pa.string()
_CHARSETS: Final = {
    "US-ASCII": "ascii",
    "ISO-8859-1": "latin-1",
    "UTF-8": "utf-8",
    "UTF-16BE": "utf-16-be",
    "UTF-16LE": "utf-16-le",
}


def _charset(name: str) -> str:
    if name.upper() == "UTF-16":
        return "utf-16"
    try:
        return _CHARSETS[name.upper()]
    except KeyError:
        raise ComputeError(f"the character set {name!r} is not known") from None


def _encoded(text: str, charset: str) -> bytes:
    name = _charset(charset)
    data = text.encode("utf-16-be" if name == "utf-16" else name, "replace")
    return b"\xfe\xff" + data if name == "utf-16" else data


def _decoded(data: bytes, charset: str) -> str:
    return data.decode(_charset(charset), "replace")


def _of_base64(text: str) -> str | None:
    try:
        return base64.b64decode(text.encode(), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return None


def _unhex(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text if len(text) % 2 == 0 else f"0{text}")
    except ValueError:
        return None


def _sha2(text: str, bits: int) -> str | None:
    name = {0: "sha256", 1: "sha1", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}.get(bits)
    if name is None:
        raise ComputeError(f"SHA2 has no digest of {bits} bits")
    return hashlib.new(name, text.encode()).hexdigest()


def _digest(name: str) -> VectorFunction:
    return by_row(lambda text: hashlib.new(name, text.encode()).hexdigest(), ("VARCHAR",), "VARCHAR", _TEXT)


def _family(
    function: Callable[..., Any], result: str, arrow: pa.DataType, *parameters: str
) -> Callable[[], VectorFunction]:
    return lambda: by_row(function, parameters, result, arrow)


FAMILIES: Final[dict[str, Callable[..., VectorFunction]]] = {
    "digest": _digest,
    "sha2": _family(_sha2, "VARCHAR", _TEXT, "VARCHAR", "INTEGER"),
    "encoded": _family(_encoded, "BLOB", pa.binary(), "VARCHAR", "VARCHAR"),
    "decoded": _family(_decoded, "VARCHAR", _TEXT, "BLOB", "VARCHAR"),
    "to_base64": _family(lambda text: base64.b64encode(text.encode()).decode(), "VARCHAR", _TEXT, "VARCHAR"),
    "from_base64": _family(_of_base64, "VARCHAR", _TEXT, "VARCHAR"),
    "unhex": _family(_unhex, "BLOB", pa.binary(), "VARCHAR"),
    "bytes_text": _family(lambda data: data.decode("utf-8", "replace"), "VARCHAR", _TEXT, "BLOB"),
}

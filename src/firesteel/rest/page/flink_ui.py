"""The files of Flink's web UI, as a `flink-runtime-web` jar brings them; they ask for Flink's paths beside them."""

from __future__ import annotations

import mimetypes
import threading
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from firesteel.common.errors import ConfigurationError
from firesteel.rest.page.files import ASK_AGAIN, INDEX, MEDIA_TYPES, Sent, StaticFile

_FOLDER: Final = "web/"
"""Where a jar has them."""

_POLICY: Final = (
    "default-src 'none'; script-src 'self' 'unsafe-hashes' 'sha256-MhtPZXr7+LpJUY5qtMutB+qWfQtMaPccfe7QXtCcEYc='; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; "
    "manifest-src 'self'; worker-src 'self' blob:; base-uri 'self'; form-action 'none'; frame-ancestors 'none'"
)
"""What Angular and its editor need: styles in elements, and the one handler in the index, which has this digest."""

_MEDIA_TYPES: Final = {**MEDIA_TYPES, ".ttf": "font/ttf", ".ico": "image/x-icon"}
"""Those that systems know under other names, or not."""


class FlinkUi:
    """The files in a jar (flink-runtime-web, flink-dist), or in a directory that one was unpacked to.

    They are read when they are asked for first. Raises ConfigurationError if there is no index.
    """

    def __init__(self, place: Path) -> None:
        self._read, self.names = _source(place)
        self._turn = threading.Lock()
        self._files: dict[str, StaticFile] = {}

    def file(self, name: str, headers: Mapping[str, str]) -> Sent:
        """Return one of the files of `names`, for a request with these headers."""
        with self._turn:
            found = self._files.get(name)
            if found is None:
                found = self._files[name] = StaticFile.of(
                    self._read(name), _media_type(name), ASK_AGAIN, _POLICY
                )
        return found.answer(headers)


def _source(place: Path) -> tuple[Callable[[str], bytes], tuple[str, ...]]:
    """Return what reads a file by its name, and the names."""
    if place.is_dir():
        folder = place / _FOLDER if (place / _FOLDER / INDEX).is_file() else place
        names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
        return (lambda name: (folder / name).read_bytes()), _checked(place, names)
    try:
        jar = zipfile.ZipFile(place)
    except (OSError, zipfile.BadZipFile) as error:
        raise _not_there(place, str(error)) from None
    names = [name.removeprefix(_FOLDER) for name in jar.namelist() if name.startswith(_FOLDER)]
    return (lambda name: jar.read(_FOLDER + name)), _checked(
        place, [name for name in names if name[-1:] not in ("", "/")]
    )


def _checked(place: Path, names: list[str]) -> tuple[str, ...]:
    if INDEX not in names:
        raise _not_there(place, f"{len(names)} files, and no {INDEX}")
    return tuple(sorted(name for name in names if "{" not in name))


def _not_there(place: Path, got: str) -> ConfigurationError:
    return ConfigurationError(
        "requires the files of Flink's web UI: a flink-runtime-web jar, or what is below web/ in it",
        who=f"--flink-ui {place}",
        got=got,
        hint="fetch org.apache.flink:flink-runtime-web:2.3.0 from Maven",
    )


def _media_type(name: str) -> str:
    return _MEDIA_TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"

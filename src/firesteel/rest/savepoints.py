"""The last savepoints of a job: in its own directory for them, or where requests have had them written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from firesteel.checkpoint.objects import NotFound, Storage
from firesteel.checkpoint.savepoint import SavepointFile, open_savepoint
from firesteel.common.errors import StateError
from firesteel.rest.records import Asked, JobRecord, read

MOST: Final = 10
"""How many are looked for in either place: as many checkpoints as Flink remembers."""


class Savepoint(NamedTuple):
    """A complete savepoint, and where it is."""

    location: str
    about: SavepointFile


def as_url(location: str) -> str:
    """Return a location as Flink's clients read it.

    >>> as_url("/savepoints/one"), as_url("s3://bucket/one")
    ('file:/savepoints/one', 's3://bucket/one')
    """
    return location if "://" in location else f"file:{location}"


def last_savepoints(record: JobRecord) -> list[Savepoint]:
    """Return the last savepoints of a job that can be read, the newest first."""
    found = [each for url in {*_own(record), *_asked_for(record)} if (each := _opened(url)) is not None]
    return sorted(found, key=lambda each: each.about.created_at, reverse=True)


def _own(record: JobRecord) -> Iterator[str]:
    """Yield the last ones in the job's directory; their names begin with their epochs."""
    try:
        place = Storage.existing(f"{record.state}/savepoints")
    except NotFound:
        return
    yield from map(place.location, place.folders()[-MOST:])


def _asked_for(record: JobRecord) -> Iterator[str]:
    """Yield the places of the last ones that were asked for; what else is asked for has other answers."""
    files = sorted((record.directory / "requests").glob("*.json"), key=_changed, reverse=True)
    answers = (asked.location for asked in map(_read, files) if asked is not None)
    yield from [answer for answer in answers if answer is not None and "/" in answer][:MOST]


def _read(file: Path) -> Asked | None:
    return read(file, Asked)


def _changed(file: Path) -> float:
    return file.stat().st_mtime


def _opened(url: str) -> Savepoint | None:
    try:
        about = open_savepoint(Storage.existing(url))
    except StateError:  # it was disposed of, or moved, or damaged
        return None
    return None if about is None else Savepoint(url, about)

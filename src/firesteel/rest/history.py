"""Jobs that have ended: how long they stay listed, and how they go."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firesteel.common.errors import StateCorruptedError
from firesteel.rest.records import JobRecord, Outcome

_log = logging.getLogger("firesteel.rest")

SWEEP_MS: Final = 60_000
"""How often expired jobs are looked for."""

_DRAFT: Final = "draft-"
_EXPIRED: Final = "expired-"
_ABANDONED_MS: Final = 3_600_000


@dataclass(frozen=True)
class History:
    """Ended jobs stay listed for `milliseconds`, and at most `jobs` of them, the last to end.

    With a job goes all that is in its directory: its log, its program and its state. One that has savepoints there
    stays, until they are disposed of; so does one of which it cannot be read how it ended.
    """

    milliseconds: int = 30 * 86_400_000
    jobs: int = 1_000

    def expired(self, records: Sequence[JobRecord], now: int) -> list[JobRecord]:
        """Return the jobs that are to go."""
        ends = [(record, _known_outcome(record)) for record in records]
        ended = sorted(
            ((end.at, record) for record, end in ends if end is not None), key=lambda entry: -entry[0]
        )
        return [
            record
            for place, (at, record) in enumerate(ended)
            if (place >= self.jobs or now - at > self.milliseconds) and not _keeps_savepoints(record)
        ]

    def sweep(self, directory: Path, records: Sequence[JobRecord], now: int) -> None:
        """Remove the jobs that are to go from a directory of jobs, and what a server that was killed has left there.

        A job goes at once, by another name, and then its files do.
        """
        for record in self.expired(records, now):
            if not record.driver_lives():
                _log.warning("the job %s ended long ago, and is forgotten", record.id)
                record.directory.rename(directory / f"{_EXPIRED}{record.id}")
        for folder in directory.iterdir():
            abandoned = folder.name.startswith(_DRAFT) and now - _changed(folder) > _ABANDONED_MS
            if abandoned or folder.name.startswith(_EXPIRED):
                shutil.rmtree(folder)


def draft_of(record: JobRecord, token: str) -> JobRecord:
    """Return the place where a job's directory is made, before it appears as a whole."""
    return JobRecord(record.directory.with_name(f"{_DRAFT}{token}"))


def _known_outcome(record: JobRecord) -> Outcome | None:
    try:
        return record.outcome()
    except StateCorruptedError:
        return None


def _keeps_savepoints(record: JobRecord) -> bool:
    place = record.directory / "state" / "savepoints"
    return place.is_dir() and any(place.iterdir())


def _changed(folder: Path) -> float:
    return folder.stat().st_mtime * 1000

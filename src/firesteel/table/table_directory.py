"""The directory of a materialised table.

Below it each job that began with nothing has a directory of its own; the file `current` names the one that has the rows
of the table. A job that is started again goes on in its directory. The file `schedule` says which schedule of which
cluster refreshes the table: who removes that file ends the schedule.
"""

from __future__ import annotations

from typing import Final

import msgspec

from firesteel.checkpoint.documents import as_document
from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.objects import NotFound, Storage
from firesteel.checkpoint.readers import is_read
from firesteel.common.decoders import json_decoder
from firesteel.saved.kept_rows import CURRENT, current

__all__ = ["ScheduledBy", "TableDirectory"]

_SCHEDULE: Final = "schedule"


class ScheduledBy(msgspec.Struct, frozen=True):
    """The schedule that refreshes a table: its id, and the directory of its cluster."""

    id: str
    cluster: str


class TableDirectory:
    """The directory of a table, which is made if it does not exist.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     table = TableDirectory(place)
    ...     table.name, table.begun(), table.name
    (None, '1', '1')
    """

    def __init__(self, location: str) -> None:
        self._storage = Storage.of(location)

    @property
    def url(self) -> str:
        """The place of the directory, which means the same to each process."""
        return self._storage.url

    @property
    def name(self) -> str | None:
        """The name of the directory that has the rows; None if there is none yet."""
        directory = current(self._storage)
        return None if directory is None else directory.rpartition("/")[2]

    @property
    def job(self) -> Storage | None:
        """The state of the job that has the rows; None if it has none yet."""
        name = self.name
        job = None if name is None else Storage.of(self.location(name))
        return None if job is None or ManifestLog.open(job) is None else job

    def location(self, name: str) -> str:
        """Return where the job of a name has its state."""
        return self._storage.location(name)

    def begun(self) -> str:
        """Return the name of the directory that has the rows, which a first job is to have if there is none yet."""
        name = self.name
        if name is None:
            name = "1"
            self._storage.put(CURRENT, name.encode())
        return name

    def following(self) -> str:
        """Return the name of a directory for the next rows, in which there is nothing."""
        name = _after(self.name)
        while self._is_read(name):
            name = _after(name)
        self._remove(name)
        return name

    def publish(self, name: str) -> None:
        """Let a directory have the rows; the one before stays until the next one does, for who begins to read it."""
        before = self.name
        if name == before:
            return
        self._storage.put(CURRENT, name.encode())
        self.keep_only(name, before)

    def keep_only(self, *names: str | None) -> None:
        """Remove the directories of all jobs but those of these names, and those that a query still reads."""
        for other in self._storage.folders():
            if other not in names and not self._is_read(other):
                self._remove(other)

    def clear(self) -> None:
        """Let the table have no rows. No job of it may run."""
        before = self.name
        if before is not None:
            self._storage.put(CURRENT, self.following().encode())
            self._remove(before)

    def delete(self) -> None:
        """Remove all that there is; no job of the table may run."""
        self._storage.delete(CURRENT)
        self._storage.delete(_SCHEDULE)
        self._storage.delete_all(self._storage.list(""))

    @property
    def schedule(self) -> ScheduledBy | None:
        """The schedule that refreshes the table, if there is one."""
        try:
            return json_decoder(ScheduledBy).decode(self._storage.get(_SCHEDULE))
        except NotFound:
            return None

    @schedule.setter
    def schedule(self, by: ScheduledBy | None) -> None:
        if by is None:
            self._storage.delete(_SCHEDULE)
        else:
            self._storage.put(_SCHEDULE, as_document(by))

    def _is_read(self, name: str) -> bool:
        try:
            return is_read(Storage.existing(self.location(name)))
        except NotFound:
            return False

    def _remove(self, name: str) -> None:
        self._storage.delete_all(self._storage.list(f"{name}/"))


def _after(name: str | None) -> str:
    """Return a name that is not this one.

    >>> _after(None), _after("1"), _after("0b0dbb6b3b6c4b0c97d7d1b0c9b5a1f3")
    ('1', '2', '1')
    """
    return str(int(name) + 1) if name is not None and name.isdecimal() else "1"

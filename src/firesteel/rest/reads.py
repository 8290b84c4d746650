"""Readers of the jobs' state, one for each job that is asked about, and the snapshots of scans that go on."""

from __future__ import annotations

import threading
import time
import uuid
from collections import OrderedDict
from typing import Final

from firesteel.checkpoint.following import Follower
from firesteel.queryable.copies import Snapshot
from firesteel.queryable.reader import StateReader

FRESH_SECONDS: Final = 0.05
"""How old the knowledge of a job's last epoch may be."""

STALE_SECONDS: Final = 2.0
"""How old it may be while a thread brings the next epoch."""

MOST_READERS: Final = 32
"""Jobs that are read at once; the copies of the one that was read longest ago go."""

MOST_SCANS: Final = 64
SCAN_SECONDS: Final = 60.0
"""How long the next page of a scan can be asked for. Its snapshot keeps pages of the copy from being used again."""


class Readers:
    """The readers of a server's jobs, by id."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._follower = Follower()
        self._readers: OrderedDict[str, StateReader] = OrderedDict()
        self._scans: OrderedDict[str, tuple[float, Snapshot]] = OrderedDict()
        self._names: dict[str, tuple[float, str]] = {}

    def of(self, job_id: str, directory: str) -> StateReader:
        """Return the reader of a job's state directory. Raises StateError if there is no epoch in it yet."""
        found = self.at_hand(job_id)
        if found is not None:
            return found
        self._follower.ready(0)  # it starts while the first read takes all of the state over
        made = StateReader(directory, fresh=FRESH_SECONDS, stale=STALE_SECONDS, follower=self._follower)
        with self._turn:
            reader = self._readers.setdefault(job_id, made)
            old = [self._readers.popitem(last=False)[1]] if len(self._readers) > MOST_READERS else []
        for unused in (*old, *([made] if reader is not made else [])):
            unused.close()
        return reader

    def at_hand(self, job_id: str) -> StateReader | None:
        """Return the reader of a job that has one."""
        with self._turn:
            found = self._readers.get(job_id)
            if found is not None:
                self._readers.move_to_end(job_id)
            return found

    def known(self, name: str) -> str | None:
        """Return the id of the job that had a name within the last second, if somebody asked for it."""
        at, job_id = self._names.get(name, (0.0, ""))
        return job_id if time.monotonic() - at < 1 else None

    def remember(self, name: str, job_id: str) -> None:
        """Note which job a name stands for."""
        if len(self._names) > MOST_READERS:
            self._names.clear()
        self._names[name] = time.monotonic(), job_id

    def hold(self, snapshot: Snapshot) -> str:
        """Keep a snapshot for the next page of a scan; return what it can be asked for by."""
        token = uuid.uuid4().hex
        with self._turn:
            self._scans[token] = time.monotonic() + SCAN_SECONDS, snapshot
            while len(self._scans) > MOST_SCANS or next(iter(self._scans.values()))[0] < time.monotonic():
                self._scans.popitem(last=False)
        return token

    def held(self, token: str) -> Snapshot | None:
        """Return a snapshot that is kept, for another while; None if it is no longer."""
        with self._turn:
            found = self._scans.get(token)
            if found is None or found[0] < time.monotonic():
                return None
            self._scans[token] = time.monotonic() + SCAN_SECONDS, found[1]
            self._scans.move_to_end(token)
            return found[1]

    def close(self) -> None:
        """Remove all copies."""
        with self._turn:
            readers, self._readers = list(self._readers.values()), OrderedDict()
            self._scans.clear()
        for reader in readers:
            reader.close()
        self._follower.close()

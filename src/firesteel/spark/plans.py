"""The compiled plan of a job, in its state directory while the job runs.

A plan is at ``plans/<name>``, where workers read it. Each driver uses a different name, so that a driver which ends
cannot remove the plan of its successor. A driver removes its plan when it ends. Plans of drivers that were killed are
removed when their successor has committed an epoch: from then on none of those drivers can commit.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Final

from firesteel.checkpoint.objects import Storage
from firesteel.common import pickles
from firesteel.common.errors import StateError
from firesteel.runtime.plan import Plan

PLANS: Final = "plans"


class StoredPlans:
    """The plans of one driver in a state directory; there is one at a time."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._path: str | None = None
        self._began_at: int | None = None
        self._swept = False

    def store(self, plan: Plan) -> str:
        """Write a plan in place of the previous one, and return its path."""
        path = f"{PLANS}/{uuid.uuid4().hex}"
        self._storage.put(path, pickles.dumps(plan))
        before, self._path = self._path, path
        if before is not None:
            self._storage.delete(before)
        return path

    def sweep(self, committed: int) -> None:
        """Remove the plans of earlier drivers, once `committed` shows that this one has committed an epoch."""
        if self._began_at is None:
            self._began_at = committed
        if self._swept or self._path is None or committed <= self._began_at:
            return
        self._swept = True
        found = self._storage.entries(PLANS)
        mine = next((entry.modified_ms for entry in found if entry.path == self._path), 0)
        self._storage.delete_all(entry.path for entry in found if entry.modified_ms < mine)

    def close(self) -> None:
        """Remove the plan."""
        if self._path is not None:
            with suppress(StateError):  # the next driver removes it
                self._storage.delete(self._path)
            self._path = None

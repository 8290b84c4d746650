"""How a task learns its epoch: from a session setting that Spark passes to every task of a job.

A DataFrame's functions are part of its plan. If they carried the epoch, each epoch would build, pickle and analyse the
whole plan again (25 ms and more over py4j). So they carry only constants, and the epoch travels separately.
`SQLExecution.withSQLConfPropagated` makes settings of the session local properties of its jobs, and Python workers
receive those; on Spark Connect, too.
"""

from __future__ import annotations

import base64
import pickle
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from pyspark import TaskContext

from firesteel.checkpoint.objects import Storage
from firesteel.common import pickles
from firesteel.runtime.plan import EpochPlan

_PROPERTY: Final = "spark.firesteel.epoch"
_INLINE: Final = 32_768
"""The longest epoch (characters) that travels with each task's description; tasks read a longer one from a file."""

_FILE: Final = "file:"


class Announcement(NamedTuple):
    """The message to tasks: their epoch, their driver process, and the state directories of all jobs that it runs."""

    epoch: EpochPlan
    driver: str
    running: frozenset[str]


@contextmanager
def announced(session: Any, storage: Storage, announcement: Announcement) -> Iterator[None]:
    """Run the jobs that this session starts within the context as the announced epoch."""
    text = _packed(announcement)
    path = None
    if len(text) > _INLINE:
        path = f"plans/epoch-{announcement.epoch.facts.attempt}"
        storage.put(path, text.encode("ascii"))
    session.conf.set(_PROPERTY, text if path is None else _FILE + path)
    try:
        yield
    finally:
        session.conf.unset(_PROPERTY)
        if path is not None:
            storage.delete(path)


def read_announcement(context: TaskContext, state_url: str) -> Announcement:
    """Return the announcement to a task; the state directory is opened only if the announcement is there.

    A process that runs many tasks of an epoch reads it once: its length grows with the number of subtasks, so reading
    it for each of them would have a quadratic cost. Tasks share the result; each uses the part of its own subtask.
    """
    global _last
    text = context.getLocalProperty(_PROPERTY)
    assert text is not None, "a task outside of an announced epoch"
    if _last is None or _last[0] != (state_url, text):
        _last = (state_url, text), _unpacked(_content(text, state_url))
    return _last[1]


_last: tuple[tuple[str, str], Announcement] | None = None


def _content(text: str, state_url: str) -> str:
    if not text.startswith(_FILE):
        return text
    return Storage.of(state_url).get(text.removeprefix(_FILE)).decode("ascii")


def _packed(announcement: Announcement) -> str:
    # Splits may be of classes of the user's program.
    return base64.b64encode(zlib.compress(pickles.dumps(announcement), 1)).decode("ascii")


def _unpacked(text: str) -> Announcement:
    announcement: Announcement = pickle.loads(zlib.decompress(base64.b64decode(text)))
    return announcement

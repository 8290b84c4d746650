"""Samples for flame graphs that the server asks for: one request at a time for each job, for which no caller waits."""

from __future__ import annotations

import threading
from typing import Final

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import StateError
from firesteel.control.commands import Request, now_ms, send, take_reply
from firesteel.control.views.flamegraphs import FlameSamples, read_samples
from firesteel.rest.calls import Refusal
from firesteel.rest.standing import Standing

FRESH_MS: Final = 60_000
"""Samples are taken anew after this time (Flink: rest.flamegraph.refresh-interval)."""

SECONDS: Final = 5
"""How long samples are taken (Flink: 100 samples, 50 ms apart)."""

_PATIENCE_MS: Final = 120_000
"""After this time without an answer the samples are asked for again."""

_lock = threading.Lock()
_asked: Final[dict[str, Request]] = {}
"""The requests that were not answered yet, by the directory of the job's state."""


def refreshed(job: Standing) -> FlameSamples | None:
    """Return the last samples of a job, and ask for new ones if these are old; None if there are none yet.

    A job that does not run keeps its last ones. Raises Refusal (501) with the driver's reason if it cannot take any.
    """
    if job.plan is None:
        return None
    storage = job.storage()
    with _lock:
        refused = _take_answer(job.directory, storage)
        if refused is not None:
            raise Refusal(501, refused)
        samples = read_samples(storage)
        stale = samples is None or now_ms() - samples.ended_at > FRESH_MS
        if stale and job.listening is not None and job.outcome is None and job.directory not in _asked:
            try:
                _asked[job.directory] = send(storage, "flamegraph", str(SECONDS))
            except StateError:  # its driver has just ended
                return samples
    return samples


def _take_answer(directory: str, storage: Storage) -> str | None:
    """Forget a request that was answered, or is too old; return why it was refused, if it was."""
    request = _asked.get(directory)
    if request is None:
        return None
    reply = take_reply(storage, request)
    if reply is not None or now_ms() - request.sent_at > _PATIENCE_MS:
        del _asked[directory]
    return None if reply is None else reply.error

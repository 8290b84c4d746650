"""Which job, operator and epoch a request about state asks for, and how it is told what is not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from firesteel.common.errors import KeyEncodingError, StateCorruptedError, StateError
from firesteel.queryable.copies import Snapshot
from firesteel.queryable.reader import StateReader
from firesteel.rest.calls import Call, Refusal
from firesteel.rest.records import JOB_ID, JobRecord
from firesteel.rest.standing import ENDED

MOST_DIGITS: Final = 12
"""The digits of the longest number in the query of a request about state."""


def epoch_of(call: Call) -> int | None:
    """Return the epoch that is asked for; None for the last one."""
    return call.query_number("epoch", MOST_DIGITS)


def snapshot_of(call: Call, epoch: int | None) -> Snapshot:
    """Return the states of the operator after an epoch (None: the last one)."""
    return reader_of(call).snapshot(call.path["operator"], epoch)


def at_hand(call: Call) -> Snapshot | None:
    """Return the last snapshot of the operator if nothing has to be waited for."""
    readers = call.cluster.readers
    reader = readers.at_hand(readers.known(call.path["job"]) or "")
    return None if reader is None else reader.at_hand(call.path["operator"])


def reader_of(call: Call) -> StateReader:
    """Return the reader of the job. Raises Refusal (404) if there is no such job, or no state of it yet."""
    asked = call.path["job"]
    record = _record(call, asked)
    if record.state_storage() is None:
        raise Refusal(404, f"Job {asked} has no state yet.")
    call.cluster.readers.remember(asked, record.id)
    return call.cluster.readers.of(record.id, record.state)


def _record(call: Call, asked: str) -> JobRecord:
    """Return the job of an id or a name: of several with one name that which has not ended, or the newest."""
    if JOB_ID.fullmatch(asked):
        found = call.cluster.dispatcher.job(asked)
        if found is not None:
            return found
    mine = [(job.status in ENDED, job.record) for job in call.jobs() if job.name == asked]
    if not mine:
        raise Refusal(404, f"Job {asked} not found")
    return min(mine, key=lambda entry: entry[0])[1]


@contextmanager
def reasons() -> Iterator[None]:
    """Answer with 404 what is not there, and with 400 what cannot be a key."""
    try:
        yield
    except StateCorruptedError:
        raise
    except StateError as error:
        raise Refusal(404, str(error)) from None
    except KeyEncodingError as error:
        raise Refusal(400, str(error)) from None

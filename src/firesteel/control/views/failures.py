"""The failures of a job's epochs, and of what is done between them: the last ones, also of earlier drivers."""

from __future__ import annotations

from typing import Final

import msgspec

from firesteel.checkpoint.documents import read_document, write_document
from firesteel.checkpoint.objects import Storage

FILE: Final = "failures.json"

MOST: Final = 16
"""How many are kept (Flink: web.exception-history-size)."""


class Failure(msgspec.Struct, frozen=True):
    """An error after which the job began again from its last epoch, or ended.

    `at` is in milliseconds, `kind` the name of the error's class, `text` its message; `who` names the operator, if one
    failed.
    """

    at: int
    kind: str
    text: str
    who: str | None = None


class Failures(msgspec.Struct, frozen=True):
    """Failures, oldest first."""

    entries: tuple[Failure, ...] = ()

    def and_then(self, later: Failures) -> Failures:
        """Return the last ones of both."""
        return Failures((*self.entries, *later.entries)[-MOST:])


NO_FAILURES: Final = Failures()


def read_failures(storage: Storage) -> Failures:
    """Return the last failures of a job."""
    return read_document(storage, FILE, Failures, hint=None) or NO_FAILURES


def write_failures(storage: Storage, failures: Failures) -> None:
    """Replace the last failures of a job."""
    write_document(storage, FILE, failures)

"""The identity of a job."""

from __future__ import annotations

import uuid

__all__ = ["JobID"]


class JobID:
    """A job's identity: text of 32 hexadecimal digits.

    >>> str(JobID("b4f1c1d29b7c4d4e8f3f0a5d6c7b8a90"))
    'b4f1c1d29b7c4d4e8f3f0a5d6c7b8a90'
    """

    __slots__ = ("_id",)

    def __init__(self, job_id: str) -> None:
        self._id = job_id

    @staticmethod
    def generate() -> JobID:
        """Return a new, unique identity."""
        return JobID(uuid.uuid4().hex)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JobID) and self._id == other._id

    def __hash__(self) -> int:
        return hash(self._id)

    def __str__(self) -> str:
        return self._id

    def __repr__(self) -> str:
        return f"JobID({self._id!r})"

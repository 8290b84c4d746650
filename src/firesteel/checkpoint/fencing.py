"""What a driver is told that has a successor."""

from __future__ import annotations

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import FencedError


def fenced_error(requirement: str, who: str, outcome: str = "the other one goes on") -> FencedError:
    """Return the error that ends this driver, with what becomes of its work."""
    hint = f"a job is run by one driver at a time; this one ends, {outcome}"
    return FencedError(requirement, who=who, hint=hint)


def job_in(storage: Storage) -> str:
    """Return how the job of a state directory is called in errors."""
    return f"the job in {storage.url}"

"""The error of a driver that has a successor."""

from __future__ import annotations

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import FencedError


def fenced_error(requirement: str, who: str, outcome: str = "the other one continues") -> FencedError:
    """Return the error that ends this driver; `outcome` says what happens to its work."""
    hint = f"a job is run by one driver at a time; this one ends, {outcome}"
    return FencedError(requirement, who=who, hint=hint)


def job_in(storage: Storage) -> str:
    """Return the name of a state directory's job in errors."""
    return f"the job in {storage.url}"

"""A look at what a pattern has found so far in a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from firesteel.control.views import partial_matches as views
from firesteel.control.views.found_matches import PartialMatch
from firesteel.graph.uids import id_of_uid
from firesteel.saved.inspection import SavedState
from firesteel.state.keys.groups import state_key

__all__ = ["partial_matches"]


def partial_matches(
    location: str | Path, operator: str, key: Any = None, *, epoch: int | None = None
) -> list[PartialMatch]:
    """Return the partial matches of a key, or without one of all keys, in the order of their first events.

    `location` is the state directory of a job, which may be running, or a savepoint; `operator` is the uid that the
    program gives the pattern's stream, its name, or the beginning of its id. `epoch` is one that is kept (default: the
    last). Events that wait for the watermark are in no partial match yet. Raises StateError for what is not there.
    """
    saved = SavedState.open(str(location), epoch)
    found = saved.operator(operator, id_of_uid(operator))
    return [*views.partial_matches(saved, found, None if key is None else state_key(key))]

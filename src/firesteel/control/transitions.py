"""The events that a job's state machine takes in each phase, and the phases they lead to; `firesteel.control.machine`
asserts them.

`scripts/drawings.py` draws this table into docs/architecture.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from firesteel.control.events import (
    Committed,
    EpochRan,
    Event,
    EvolutionNeeded,
    Evolved,
    Failed,
    Phase,
    Planned,
    Published,
    Recovered,
    Rescaled,
    RescaleRequested,
    Saved,
    SavepointRequested,
    StopRequested,
    Woken,
)

_NEXT: Final = (Phase.SAVING, Phase.RESCALING, Phase.PLANNING)
"""The next phases of a job that may run another epoch: requests come first."""

_RETRIED: Final = (Phase.BACKING_OFF, Phase.ENDED)

_HELD: Final = (Phase.COMMITTING, Phase.EVOLVING, Phase.WAITING, Phase.BACKING_OFF)
"""What an epoch leads to that ran while the one before it was published."""

TRANSITIONS: Final[dict[tuple[Phase, type[Event]], tuple[Phase, ...]]] = {
    (Phase.RECOVERING, Recovered): (Phase.PUBLISHING,),
    (Phase.RECOVERING, Failed): _RETRIED,
    (Phase.PUBLISHING, Published): (*_NEXT, Phase.ENDED, *_HELD),
    (Phase.PUBLISHING, Failed): _RETRIED,
    (Phase.SAVING, Saved): (*_NEXT, Phase.ENDED),
    (Phase.SAVING, Failed): _RETRIED,
    (Phase.RESCALING, Rescaled): (*_NEXT, Phase.ENDED),
    (Phase.RESCALING, Failed): _RETRIED,
    (Phase.PLANNING, Planned): (Phase.RUNNING, Phase.WAITING, *_NEXT, Phase.PUBLISHING),
    (Phase.PLANNING, Failed): (*_RETRIED, Phase.PUBLISHING),
    (Phase.PLANNING, StopRequested): (Phase.PLANNING, Phase.ENDED),
    (Phase.RUNNING, EpochRan): (Phase.COMMITTING, Phase.ENDED, Phase.PUBLISHING),
    (Phase.RUNNING, EvolutionNeeded): (Phase.EVOLVING, Phase.ENDED, Phase.PUBLISHING),
    (Phase.RUNNING, Failed): (*_RETRIED, Phase.PUBLISHING),
    (Phase.EVOLVING, Evolved): (Phase.RECOVERING,),
    (Phase.EVOLVING, Failed): _RETRIED,
    (Phase.COMMITTING, Committed): (Phase.PUBLISHING, Phase.PLANNING),
    (Phase.COMMITTING, Failed): _RETRIED,
    (Phase.WAITING, Woken): _NEXT,
    (Phase.WAITING, StopRequested): (Phase.WAITING, Phase.ENDED),
    (Phase.BACKING_OFF, Woken): (Phase.RECOVERING,),
    (Phase.BACKING_OFF, StopRequested): (Phase.BACKING_OFF, Phase.ENDED),
}
"""(phase, event) to the phases that may follow; nothing else can happen, except by `following`'s two rules."""

_REQUESTS: Final = (StopRequested, SavepointRequested, RescaleRequested)


def following(phase: Phase, event: type[Event]) -> tuple[Phase, ...]:
    """Return the phases that may follow; none if the event cannot come in this phase.

    A request that the table does not name is recorded, and changes no phase. After a job has ended nothing changes the
    phase: what its loop was doing at that time is reported too late.
    """
    if phase is Phase.ENDED:
        return (Phase.ENDED,)
    return TRANSITIONS.get((phase, event), (phase,) if event in _REQUESTS else ())


def drawing() -> str:
    """Return the table as a state diagram in Mermaid's language, one arrow for each pair of phases."""
    arrows: dict[tuple[Phase, Phase], list[str]] = {}
    for (phase, event), others in TRANSITIONS.items():
        for other in others:
            if other is not phase:
                arrows.setdefault((phase, other), []).append(event.__name__)
    lines = [f"{begin.name} --> {end.name}: {_listed(names)}" for (begin, end), names in arrows.items()]
    return "\n    ".join(["stateDiagram-v2", "[*] --> RECOVERING", *lines, "ENDED --> [*]"])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))

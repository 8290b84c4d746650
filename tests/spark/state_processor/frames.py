"""How tests of the state processor look at DataFrames."""

from __future__ import annotations

from firesteel.state_processor import (
    OperatorIdentifier,
)

KINDS = OperatorIdentifier.for_uid("kinds")


def tuples(frame, *columns):
    return sorted(tuple(row) for row in frame.select(*columns).collect())

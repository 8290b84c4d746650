"""Compares answers with those that a real Flink 2.3 session cluster gave: the files in `flink/`, one for each path."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

RECORDED = Path(__file__).parent / "flink"

OURS = {
    ".state-directory": "where the job keeps its state; Flink's clients overlook it",
    ".status-reason": "why a job waits; Flink's clients overlook it",
    ".job-execution-result.failure-cause.serialized-throwable": "there is no object of Java",
}
"""The fields that one of the two has and the other has not, with the reason."""

SOMETIMES = {
    ".latest.restored": "null in Flink until a job has been restored",
    ".latest.savepoint": "null in Flink before the first savepoint",
    ".latest.failed": "null in Flink before the first failure",
    ".latest.completed": "null in Flink before the first checkpoint",
    ".entries[].taskName": "only of failures of a task",
    ".entries[].endpoint": "only of failures of a task",
    ".entries[].taskManagerId": "only of failures of a task",
    ".failure_timestamp": "only of failed checkpoints",
    ".failure_message": "only of failed checkpoints",
    ".inputs": "a source has none",
}
"""The ends of the places of fields that Flink itself leaves out, or null, in some answers."""

NULLS = ".memoryConfiguration."
"""Numbers that Flink knows to be null: of a process that has no such memory."""

BY_NAME = (".applications[].jobs", ".user-config")
"""Objects whose fields are not fixed."""

EMPTY = {
    ".concurrentExceptions": "a job fails as a whole",
    ".job-accumulators": "programs in Python have none",
    ".user-task-accumulators": "programs in Python have none",
    ".history": "before the first checkpoint",
}
"""Lists that may be empty where Flink's has something."""

ID = re.compile(r"[0-9a-f]{32}")


class Recorded(NamedTuple):
    """A request and its answer."""

    name: str
    method: str
    path: str
    status: int
    answer: Any


def recorded() -> Iterator[Recorded]:
    """The requests and answers, as they were seen on the wire."""
    for file in sorted(RECORDED.glob("*.txt")):
        request, _, head, body = file.read_text().split("\n")[:4]
        method, path = request.split(" ")
        yield Recorded(file.name, method, path, int(head.split()[0]), json.loads(body))


def differences(theirs: Any, ours: Any, place: str = "") -> Iterator[str]:
    """What a client of Flink would stumble over: fields that are missing or new, and values of another type."""
    if kind(theirs) == kind(ours) == "dict":
        yield from _of_objects(theirs, ours, place)
    elif kind(theirs) == kind(ours) == "list":
        if theirs and not ours and not _among(EMPTY, place):
            yield f"{place}: is empty"
        for each in ours if theirs else ():
            yield from differences(_like(each, theirs), each, f"{place}[]")
    elif kind(theirs) != kind(ours) and not _may_differ(theirs, ours, place):
        yield f"{place}: {kind(theirs)} there, {kind(ours)} here"


def _may_differ(theirs: Any, ours: Any, place: str) -> bool:
    if None in (theirs, ours):
        return _among(SOMETIMES, place) or (ours is None and NULLS in place)
    return {kind(theirs), kind(ours)} == {"float", "NaN"}


def _of_objects(theirs: dict[str, Any], ours: dict[str, Any], place: str) -> Iterator[str]:
    if theirs and (place.endswith(BY_NAME) or all(ID.fullmatch(key) for key in theirs)):
        for each in ours.values():
            yield from differences(next(iter(theirs.values())), each, f"{place}.*")
        return
    for key in sorted(theirs.keys() ^ ours.keys()):
        if not _among(OURS, f"{place}.{key}") and not _among(SOMETIMES, f"{place}.{key}"):
            yield f"{place}.{key}: {'is missing' if key in theirs else 'is not in Flink'}"
    for key in sorted(theirs.keys() & ours.keys()):
        yield from differences(theirs[key], ours[key], f"{place}.{key}")


def _like(ours: Any, theirs: list[Any]) -> Any:
    """The one of Flink's entries with the most fields of ours: a source has other fields than other vertices."""
    fields = set(ours) if isinstance(ours, dict) else set()
    return max(theirs, key=lambda each: len(fields & set(each)) if isinstance(each, dict) else 0)


def _among(known: dict[str, str], place: str) -> bool:
    return any(place.endswith(end) for end in known)


def kind(value: Any) -> str:
    """The type of a value, as far as Flink's clients tell them apart."""
    return "NaN" if value == "NaN" else type(value).__name__

"""Flink's profiler: flame graphs of all that a job does for some time. The server itself has none."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from firesteel.common.errors import StateError
from firesteel.rest.calls import Call, Refusal, Right, Route, Text
from firesteel.rest.profiling import MODES, MOST_SECONDS
from firesteel.rest.routes.metrics import SVG
from firesteel.rest.routes.taskmanagers import found_taskmanager


class ProfileBody(msgspec.Struct, frozen=True):
    """The body of a request for a profile: how long, in seconds, and Flink's mode."""

    duration: int
    mode: str


def jobmanager_profiles(_: Call) -> dict[str, Any]:
    """The profiles of the server: there are none."""
    return {"profilingList": []}


def profiles(call: Call) -> dict[str, Any]:
    """The last profiles of a job's tasks, the newest first."""
    found = call.cluster.profiles.of(call.path["taskmanagerid"], found_taskmanager(call))
    return {"profilingList": [profile.described() for profile in found]}


def profile(call: Call) -> dict[str, Any]:
    """Look for some seconds where a job's tasks are: with the mode WALL always, else while they have the processor."""
    body = call.body(ProfileBody)
    if body.mode not in MODES:
        raise Refusal(400, f"requires one of {', '.join(MODES)} as mode; got {body.mode!r}.")
    if not 0 < body.duration <= MOST_SECONDS:
        raise Refusal(400, f"requires a duration of 1 to {MOST_SECONDS} seconds; got {body.duration}.")
    job = found_taskmanager(call)
    try:
        begun = call.cluster.profiles.begin(call.path["taskmanagerid"], job, body.mode, body.duration)
    except StateError as error:
        raise Refusal(503, str(error)) from None
    return begun.described()


def picture(call: Call) -> Text:
    """The flame graph of a profile."""
    for each in call.cluster.profiles.of(call.path["taskmanagerid"], found_taskmanager(call)):
        if each.file == call.path["file"] and each.picture is not None:
            return Text(each.picture, SVG)
    raise Refusal(404, f"Could not find the profile {call.path['file']}.")


_PROFILER: Final = "/taskmanagers/:taskmanagerid/profiler"

ROUTES: Final = (
    Route("GET", "/jobmanager/profiler", jobmanager_profiles),
    Route("GET", _PROFILER, profiles),
    Route("POST", _PROFILER, profile, Right.OPERATOR, body=ProfileBody),
    Route("GET", f"{_PROFILER}/:file", picture, produces=(SVG,)),
)

"""Metrics over HTTP: at each level of a job as Flink gives them, back-pressure, flame graphs, and for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean
from typing import Any, Final

import msgspec

from firesteel.control.reporting.numbers import Reported, reported
from firesteel.control.reporting.prometheus import exposition
from firesteel.control.views.flame_svg import flame_svg
from firesteel.control.views.flamegraphs import CpuKind, flame_tree
from firesteel.control.views.metrics import MetricView
from firesteel.control.views.plans import Vertex
from firesteel.rest.calls import JSON, PLAIN, Call, Refusal, Route, Text
from firesteel.rest.routes.vertices import vertex_of
from firesteel.rest.sampling import refreshed
from firesteel.rest.standing import Standing

Subtasks = Sequence[float | None]

_LATER: Final = -3
"""Flink's end time of a flame graph that is not there yet."""

_MOST_DIGITS: Final = 6

_LOW: Final = 0.1
_HIGH: Final = 0.5
"""The shares of time above which back-pressure is low and high, as in Flink."""

_KINDS: Final[dict[str, CpuKind]] = {"full": "full", "on_cpu": "on_cpu", "off_cpu": "off_cpu"}


def prometheus(call: Call) -> Text:
    """The metrics of all jobs that run, as text for Prometheus."""
    found = [numbers for job in call.jobs() if (numbers := _numbers(job)) is not None]
    return Text(exposition(found).decode(), "text/plain; version=0.0.4; charset=utf-8")


def _numbers(job: Standing) -> Reported | None:
    metrics = None if job.outcome is not None else job.metrics()
    return None if metrics is None else reported(job.record_id, job.name, metrics)


def job_metrics(call: Call) -> list[dict[str, str]]:
    """The names of a job's own metrics or, with `get`, their values."""
    return listed(call, _of_job(call.job()))


def all_job_metrics(call: Call) -> list[dict[str, Any]]:
    """The names of the metrics of jobs or, with `get`, what they are over all jobs."""
    wanted = set(call.chosen("jobs"))
    values: dict[str, list[float]] = {}
    for job in call.jobs():
        if not wanted or job.record_id in wanted:
            for name, value in _of_job(job).items():
                values.setdefault(name, []).append(value)
    return aggregated(call, values)


def _of_job(job: Standing) -> dict[str, float]:
    metrics = job.metrics()
    views = () if metrics is None else metrics.job
    return {view.name: view.value for view in views if view.value is not None}


def bottleneck(call: Call) -> dict[str, Any]:
    """The operator, or the phase of epochs, that a job spends most of its time on."""
    metrics = call.job().metrics()
    slowest = None if metrics is None else metrics.bottleneck
    return {"found": False} if slowest is None else {"found": True, **msgspec.structs.asdict(slowest)}


def vertex_metrics(call: Call) -> list[dict[str, str]]:
    """The names of a vertex's metrics, `0.numRecordsIn` for the first subtask's, or with `get` their values."""
    found = measured(*vertex_of(call))
    return listed(
        call, {f"{place}.{name}": value for name, views in found.items() for place, value in _known(views)}
    )


def subtask_metrics(call: Call) -> list[dict[str, Any]]:
    """The names of the metrics of subtasks or, with `get`, what they are over all subtasks."""
    wanted = {number for text in call.chosen("subtasks") for number in _range(text)}
    values = {
        name: [value for place, value in _known(views) if not wanted or place in wanted]
        for name, views in measured(*vertex_of(call)).items()
    }
    return aggregated(call, values)


def _range(text: str) -> range:
    """Return the subtasks of `2` or `2-4`. Raises Refusal (400) for anything else."""
    first, _, last = text.partition("-")
    if not first.isdecimal() or (last and not last.isdecimal()) or max(len(first), len(last)) > _MOST_DIGITS:
        raise Refusal(400, f"requires numbers of subtasks, or ranges such as 0-3; got {text!r}.")
    return range(int(first), int(last or first) + 1)


def watermarks(call: Call) -> list[dict[str, str]]:
    """The watermark of each subtask."""
    found = measured(*vertex_of(call)).get("currentInputWatermark", ())
    return [{"id": f"{place}.currentInputWatermark", "value": str(value)} for place, value in _known(found)]


def backpressure(call: Call) -> dict[str, Any]:
    """The back-pressure of a vertex: the part of its time in which others held it back, though it had input."""
    job, vertex = vertex_of(call)
    found = measured(job, vertex)
    subtasks = [_pressed(number, found) for number in range(vertex.parallelism)]
    level = _level(max((subtask["ratio"] for subtask in subtasks), default=0.0))
    metrics = job.metrics()
    return {
        "status": "ok",
        "backpressureLevel": level,
        "backpressure-level": level,
        "end-timestamp": job.now if metrics is None else metrics.measured_at,
        "subtasks": subtasks,
    }


def _pressed(number: int, found: dict[str, Subtasks]) -> dict[str, Any]:
    busy, held = (
        (dict(_known(found.get(name, ()))).get(number) or 0.0) / 1000
        for name in ("busyTimeMsPerSecond", "backPressuredTimeMsPerSecond")
    )
    level = _level(held)
    return {
        "subtask": number,
        "backpressureLevel": level,
        "backpressure-level": level,
        "ratio": round(held, 3),
        "idleRatio": round(max(0.0, 1 - busy - held), 3),
        "busyRatio": round(busy, 3),
    }


def _level(ratio: float) -> str:
    return "ok" if ratio <= _LOW else "low" if ratio <= _HIGH else "high"


def flamegraph(call: Call) -> Any:
    """The flame graph of a vertex: `type` is full, on_cpu or off_cpu; with `format=svg` it is a picture.

    A request takes samples if the last ones are a minute old, and does not wait for them.
    """
    job, vertex = vertex_of(call)
    kind = _KINDS.get(call.query.get("type", "full").lower())
    if kind is None:
        raise Refusal(400, f"requires one of {', '.join(_KINDS)} as type; got {call.query['type']!r}.")
    subtask = call.query.get("subtaskindex", "")
    if subtask and not (subtask.isdecimal() and int(subtask) < vertex.parallelism):
        raise Refusal(400, f"requires a subtask of the vertex as subtaskindex; got {subtask!r}.")
    samples = refreshed(job)
    if samples is None:
        return {"endTimestamp": _LATER}
    operators = {operator.id for operator in vertex.operators}
    tree = flame_tree(samples, operators, kind, int(subtask) if subtask else None)
    if call.query.get("format") == "svg":
        return Text(flame_svg(tree, vertex.name), SVG)
    return {"endTimestamp": samples.ended_at, "data": tree}


def measured(job: Standing, vertex: Vertex) -> dict[str, Subtasks]:
    """Return a vertex's metrics by subtask: its own, and those of each operator with the operator's name before them.

    A vertex receives what its first operator does, and sends what its last one does. It is busy while one of its
    operators is, and held back while its last one is.
    """
    by_id = job.measured_operators
    chain = [by_id[operator.id] for operator in vertex.operators if operator.id in by_id]
    if not chain:
        return {}
    views = [{view.name: view for view in operator.metrics if view.subtasks} for operator in chain]
    own: dict[str, Subtasks] = {
        **{name: view.subtasks for name, view in views[0].items() if name.startswith(_IN)},
        **{name: view.subtasks for name, view in views[-1].items() if name.startswith(_OUT)},
    }
    for name in _BUSY:
        own[name] = [
            sum(_value(view, name, number) for view in views) for number in range(vertex.parallelism)
        ]
    busy, held = own["busyTimeMsPerSecond"], own.get("backPressuredTimeMsPerSecond", ())
    own["idleTimeMsPerSecond"] = [
        max(0.0, 1000 - (one or 0) - (other or 0)) for one, other in zip(busy, held, strict=False)
    ]
    for operator, found in zip(chain, views, strict=True):
        own |= {f"{operator.name}.{name}": view.subtasks for name, view in found.items()}
    return own


_IN: Final = ("numRecordsIn", "numBytesIn", "currentInputWatermark")
_OUT: Final = ("numRecordsOut", "numBytesOut", "backPressured", "accumulateBackPressured")
_BUSY: Final = ("busyTimeMsPerSecond", "accumulateBusyTimeMs")


def _value(views: dict[str, MetricView], name: str, subtask: int) -> float:
    view = views.get(name)
    return 0.0 if view is None else dict(_known(view.subtasks)).get(subtask, 0.0)


def _known(values: Subtasks) -> Iterable[tuple[int, float]]:
    return [(place, value) for place, value in enumerate(values) if value is not None]


def listed(call: Call, values: Mapping[str, float]) -> list[dict[str, str]]:
    """Return the names of metrics or, with `get` in the query, the values of those that it names."""
    if not call.chosen():
        return [{"id": name} for name in values]
    return [{"id": name, "value": str(values[name])} for name in call.chosen() if name in values]


def aggregated(call: Call, values: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    """Return the names of metrics or, with `get` in the query, what those that it names are over several places."""
    if not call.chosen():
        return [{"id": name} for name in values]
    ways = call.chosen("agg") or list(_WAYS)
    unknown = [way for way in ways if way not in _WAYS]
    if unknown:
        raise Refusal(400, f"requires some of {', '.join(_WAYS)} as agg; got {', '.join(unknown)}.")
    return [
        {"id": name, **{way: _WAYS[way](found) for way in _WAYS if way in ways}}
        for name in call.chosen()
        if (found := values.get(name))
    ]


def skew(values: Sequence[float]) -> float:
    """Return how unequal values are, as Flink has it: their mean distance from the average, in percent of it."""
    average = mean(values)
    return 100.0 * mean(abs(value - average) for value in values) / average if average else 0.0


_WAYS: Final[dict[str, Callable[[Sequence[float]], float]]] = {
    "min": lambda values: float(min(values)),
    "max": lambda values: float(max(values)),
    "avg": lambda values: float(mean(values)),
    "sum": lambda values: float(sum(values)),
    "skew": skew,
}
"""How Flink puts values of several places together: all ways, unless the query has `agg`."""

SVG: Final = "image/svg+xml"
_JOB: Final = "/jobs/:jobid"
_VERTEX: Final = f"{_JOB}/vertices/:vertexid"

ROUTES: Final = (
    Route("GET", "/metrics", prometheus, produces=(PLAIN,)),
    Route("GET", "/jobs/metrics", all_job_metrics, query=("get", "agg", "jobs")),
    Route("GET", f"{_JOB}/metrics", job_metrics, query=("get",)),
    Route("GET", f"{_JOB}/bottleneck", bottleneck),
    Route("GET", f"{_VERTEX}/backpressure", backpressure),
    Route(
        "GET",
        f"{_VERTEX}/flamegraph",
        flamegraph,
        query=("type", "subtaskindex", "format"),
        produces=(JSON, SVG),
    ),
    Route("GET", f"{_VERTEX}/metrics", vertex_metrics, query=("get",)),
    Route("GET", f"{_VERTEX}/watermarks", watermarks),
    Route("GET", f"{_VERTEX}/subtasks/metrics", subtask_metrics, query=("get", "agg", "subtasks")),
)

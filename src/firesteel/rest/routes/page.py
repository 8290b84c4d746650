"""What the web page asks for beyond Flink's paths: only what has changed, and in one answer what it shows at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from firesteel.common.time import MAX_WATERMARK
from firesteel.control.listeners import lag_of
from firesteel.control.views.metrics import Bottleneck, JobMetrics, OperatorMetrics
from firesteel.control.views.plans import Vertex
from firesteel.rest.calls import Call, Refusal, Right, Route
from firesteel.rest.page.board import Changes, row_of
from firesteel.rest.page.recent import Seen
from firesteel.rest.routes.metrics import Subtasks, measured, skew
from firesteel.rest.routes.vertices import vertex_of
from firesteel.rest.standing import Standing
from firesteel.state.keys.groups import key_group_range


def board(call: Call) -> Changes:
    """The jobs with their rates and their health: those that are other than in the version `after`."""
    return _paced(call, call.cluster.board.changes(call.cluster.dispatcher.jobs, call.query.get("after", "")))


def board_soon(call: Call) -> Changes | None:
    """Return what `board` does, None if the jobs have to be looked at first."""
    known = call.cluster.board.at_hand(call.query.get("after", ""))
    return None if known is None else _paced(call, known)


def _paced(call: Call, found: Changes) -> Changes:
    return msgspec.structs.replace(found, again=call.cluster.pace.next_ms(call.page))


def rights(call: Call) -> dict[str, Any]:
    """What the caller may do, and the names of the secrets that a program of theirs may ask for."""
    submits = call.right is Right.SUBMITTER
    return {
        "right": call.right.name.lower(),
        "submission": call.cluster.submission,
        "secrets": call.cluster.dispatcher.secret_names if submits else [],
    }


def flow(call: Call) -> dict[str, Any]:
    """What flows through the vertices of a job, unless `after` is the time of these numbers (milliseconds).

    `vertices` is None if there is nothing new since. `shape` changes with the vertices and their parallelism. A page
    asks again after `again` milliseconds.
    """
    after = _after(call)
    return _newer(call, call.cluster.flows.of(call.path["jobid"], lambda: _flow(call)), after)


def flow_soon(call: Call) -> dict[str, Any] | None:
    """Return what `flow` does, None if the job has to be looked at first."""
    known = call.cluster.flows.at_hand(call.path["jobid"])
    return None if known is None else _newer(call, known, _after(call))


def _newer(call: Call, found: dict[str, Any], after: int) -> dict[str, Any]:
    vertices = None if found["measured_at"] == after else found["vertices"]
    return {**found, "vertices": vertices, "again": call.cluster.pace.next_ms(call.page)}


def _flow(call: Call) -> dict[str, Any]:
    job = call.job()
    metrics = job.metrics()
    at = 0 if metrics is None else metrics.measured_at
    totals, vertices = _totals(job, metrics), [_flow_of(job, vertex) for vertex in job.vertices]
    if at:
        seen = Seen(at, totals, {vertex["id"]: vertex for vertex in vertices})
        call.cluster.recent.note(job.record_id, seen)
    return {
        "id": job.record_id,
        "name": job.name,
        "status": job.status,
        "status_reason": job.damage or call.cluster.dispatcher.reason(job.record),
        "start": job.start,
        "end": job.end,
        "now": job.now,
        "parallelism": job.parallelism,
        "restarts": job.restarts,
        "shape": f"{job.running_since}-{job.parallelism}-{len(job.vertices)}",
        "measured_at": at,
        "totals": totals,
        "bottleneck": None if metrics is None else _bottleneck(job, metrics.bottleneck),
        "vertices": vertices,
    }


def recent(call: Call) -> dict[str, Any]:
    """What pages have seen of a job as a whole in the last ten minutes, oldest first."""
    return {"points": [{"at": seen.at, "values": seen.totals} for seen in _recent(call)]}


def recent_of_vertex(call: Call) -> dict[str, Any]:
    """What pages have seen of a vertex of a job in the last ten minutes, oldest first."""
    _, vertex = vertex_of(call)
    points = ((seen.at, seen.vertices.get(vertex.id)) for seen in _recent(call))
    return {"points": [{"at": at, "values": values} for at, values in points if values is not None]}


def _recent(call: Call) -> list[Seen]:
    return call.cluster.recent.of(call.record().id)


def _totals(job: Standing, metrics: JobMetrics | None) -> dict[str, Any]:
    """Return the numbers of the whole job, None where nothing was measured, and those of its last epoch."""
    row = row_of(job)
    operators = () if metrics is None else metrics.operators
    watermarks = [value for each in operators for value in _known(_watermarks(each))]
    last = None if metrics is None or not metrics.epochs else metrics.epochs[-1]
    return {
        "read": row.records_in,
        "written": row.records_out,
        "busy": row.busy,
        "backpressured": row.backpressured,
        "lag": _in_time(job, watermarks)["lag"],
        "state_bytes": _sum(
            [value for each in operators for value in _known(_Measures(each).get("stateBytes"))]
        ),
        "memory": None if metrics is None else sum(worker.memory for worker in metrics.workers) or None,
        "epoch": None if last is None else last.epoch,
        "epoch_ms": None if last is None else last.duration,
        "epoch_records": None if last is None else last.records,
    }


def _bottleneck(job: Standing, slowest: Bottleneck | None) -> dict[str, Any] | None:
    """Return the bottleneck with its vertex, which a phase of the epochs does not have."""
    if slowest is None:
        return None
    homes = (vertex.id for vertex in job.vertices for each in vertex.operators if each.id == slowest.operator)
    return {**msgspec.structs.asdict(slowest), "vertex": next(homes, None)}


def _after(call: Call) -> int:
    text = call.query.get("after", "-1")
    if not text.removeprefix("-").isdecimal() or len(text) > 18:
        raise Refusal(400, f'Cannot resolve query parameter (after) from value "{text}".')
    return int(text)


def _flow_of(job: Standing, vertex: Vertex) -> dict[str, Any]:
    chain = [_Measures(job.measured_operators.get(operator.id)) for operator in vertex.operators]
    watermarks = next((found.watermarks for found in chain if _known(found.watermarks)), ())
    return {"id": vertex.id, **_rates(measured(job, vertex)), **_in_time(job, watermarks)}


def _rates(found: Mapping[str, Subtasks]) -> dict[str, float | None]:
    """Return what flows by, per second, and the shares of time, all subtasks together."""
    rates = {name: _sum(found.get(metric)) for name, metric in _RATES.items()}
    return rates | {name: _share(found.get(metric)) for name, metric in _SHARES.items()}


def _in_time(job: Standing, watermarks: Subtasks) -> dict[str, float | None]:
    """Return the least watermark and how far it is behind; there is no lag after the end, nor in old records."""
    watermark = min(_known(watermarks), default=None)
    metrics = job.metrics()
    lag = None
    if metrics is not None and watermark is not None and watermark < MAX_WATERMARK:
        lag = lag_of(int(watermark), metrics.measured_at)
    return {"watermark": watermark, "lag": lag}


def _watermarks(operator: OperatorMetrics) -> Subtasks:
    """Return the watermarks of an operator's input; a source has those that it makes."""
    found = {view.name: view.subtasks for view in operator.metrics}
    return found.get("currentInputWatermark") or found.get("currentOutputWatermark") or ()


def subtasks(call: Call) -> dict[str, Any]:
    """What flows through each subtask of a vertex and each of its operators, and what state these have.

    `key_groups` are the first and the last of those whose keys a subtask has, null if records come in another order.
    `skew` is how unequal subtasks are: their mean distance from the average, in percent of it.
    """
    job, vertex = vertex_of(call)
    found = measured(job, vertex)
    measures = [_Measures(job.measured_operators.get(operator.id)) for operator in vertex.operators]
    rows = [_subtask(job, vertex, found, measures, number) for number in range(vertex.parallelism)]
    return {
        "id": vertex.id,
        "name": vertex.name,
        "parallelism": vertex.parallelism,
        "max_parallelism": vertex.max_parallelism,
        "subtasks": rows,
        "skew": {name: _skew([row[name] for row in rows]) for name in (*_RATES, *_SHARES, *_STATE)},
        "operators": [
            {
                "id": operator.id,
                "name": operator.title,
                "location": operator.location,
                **_rates(found),
                **_in_time(job, found.watermarks),
                **{name: _sum(found.get(metric)) for name, metric in _STATE.items()},
            }
            for operator, found in zip(vertex.operators, measures, strict=True)
        ],
    }


class _Measures(dict[str, "Subtasks"]):
    """What has been measured of the subtasks of an operator, by the names of the metrics."""

    def __init__(self, operator: OperatorMetrics | None) -> None:
        super().__init__(
            () if operator is None else ((view.name, view.subtasks) for view in operator.metrics)
        )
        self.watermarks: Subtasks = () if operator is None else _watermarks(operator)


def _subtask(
    job: Standing, vertex: Vertex, found: Mapping[str, Subtasks], measures: list[_Measures], number: int
) -> dict[str, Any]:
    is_keyed = any(edge.distribution == "HASH" for edge in vertex.operators[0].inputs)
    groups = key_group_range(number, vertex.parallelism, vertex.max_parallelism)
    only = {name: values[number : number + 1] for name, values in found.items()}
    state = {
        name: _sum([one for each in measures for one in each.get(metric, ())[number : number + 1]])
        for name, metric in _STATE.items()
    }
    return {
        "subtask": number,
        "key_groups": [groups[0], groups[-1]] if is_keyed and groups else None,
        **_rates(only),
        **_in_time(job, measures[0].watermarks[number : number + 1]),
        **state,
    }


def _skew(values: Sequence[float | None]) -> float | None:
    known = _known(values)
    return round(skew(known), 1) if len(known) > 1 else None


_RATES: Final = {
    "records_in": "numRecordsInPerSecond",
    "records_out": "numRecordsOutPerSecond",
    "bytes_in": "numBytesInPerSecond",
    "bytes_out": "numBytesOutPerSecond",
}
_SHARES: Final = {"busy": "busyTimeMsPerSecond", "backpressured": "backPressuredTimeMsPerSecond"}
_STATE: Final = {
    "state_entries": "stateEntries",
    "state_bytes": "stateBytes",
    "state_changed": "stateChangedBytes",
    "state_memory": "stateMemoryBytes",
}


def _known(values: Subtasks | None) -> list[float]:
    return [value for value in values or () if value is not None]


def _sum(values: Subtasks | None) -> float | None:
    known = _known(values)
    return round(sum(known), 1) if known else None


def _share(values: Subtasks | None) -> float | None:
    """Return the greatest share of time that a subtask has: of one that is busy others do not relieve it."""
    known = _known(values)
    return round(max(known) / 1000, 3) if known else None


ROUTES: Final = (
    Route("GET", "/page/rights", rights),
    Route("GET", "/page/jobs", board, query=("after",), soon=board_soon),
    Route("GET", "/jobs/:jobid/flow", flow, query=("after",), soon=flow_soon),
    Route("GET", "/jobs/:jobid/recent", recent),
    Route("GET", "/jobs/:jobid/vertices/:vertexid/flow", subtasks, shared=True),
    Route("GET", "/jobs/:jobid/vertices/:vertexid/recent", recent_of_vertex),
)

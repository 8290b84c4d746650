"""What is asked of a job and takes time: savepoints, stop with a savepoint, checkpoints, a change of parallelism.

A request is a file with the id of the command to the driver, and its answer is the driver's own file. So it survives
the server, and asking for it costs no thread.
"""

from __future__ import annotations

import re
import shutil
import threading
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import msgspec

from firesteel.checkpoint.objects import NotFound, Storage
from firesteel.checkpoint.savepoint import open_savepoint
from firesteel.common.errors import FiresteelError, StateError
from firesteel.control.asking import look_for_answer
from firesteel.control.commands import Request, forget_reply, now_ms, send
from firesteel.rest.calls import Call, Refusal, Right, Route, unreadable
from firesteel.rest.records import Asked, JobRecord, read, write
from firesteel.rest.savepoints import as_url
from firesteel.rest.standing import standing

_ID: Final = re.compile(r"[0-9a-f]{32}")


class SavepointBody(
    msgspec.Struct, frozen=True, rename={"target_directory": "target-directory", "cancel_job": "cancel-job"}
):
    """The body of a savepoint's request."""

    target_directory: str | None = None
    cancel_job: bool | None = False
    formatType: str | None = None  # noqa: N815 - Flink's name
    triggerId: str | None = None  # noqa: N815


class StopBody(msgspec.Struct, frozen=True):
    """The body of a request to stop: with a savepoint, unless `savepoint` says otherwise, which is Firesteel's."""

    savepoint: bool = True
    targetDirectory: str | None = None  # noqa: N815
    drain: bool | None = False
    formatType: str | None = None  # noqa: N815
    triggerId: str | None = None  # noqa: N815


class CheckpointBody(msgspec.Struct, frozen=True):
    """The body of a checkpoint's request."""

    checkpointType: str | None = None  # noqa: N815
    triggerId: str | None = None  # noqa: N815


class RescaleBody(msgspec.Struct, frozen=True):
    """The body of a change of parallelism; `keep` has it outlive a restart."""

    parallelism: int
    keep: bool = False
    triggerId: str | None = None  # noqa: N815


class DisposalBody(msgspec.Struct, frozen=True, rename={"savepoint_path": "savepoint-path"}):
    """The body of a request to remove a savepoint."""

    savepoint_path: str


class Bounds(msgspec.Struct, frozen=True):
    """The bounds of a vertex's parallelism."""

    upperBound: int  # noqa: N815
    lowerBound: int = 1  # noqa: N815


class Requirements(msgspec.Struct, frozen=True):
    """What a vertex needs."""

    parallelism: Bounds


def savepoint(call: Call) -> dict[str, str]:
    """Take a savepoint of a running job; with `cancel-job` it ends then."""
    body = call.body(SavepointBody)
    place = _directory(body.target_directory)
    if body.cancel_job:
        return _begin(call, body.triggerId, partial(send, kind="stop", argument=place or ""))
    return _begin(call, body.triggerId, partial(send, kind="savepoint", argument=place))


def stop(call: Call) -> dict[str, str]:
    """End a job with a savepoint after its running epoch; with `drain` its windows and timers fire first."""
    body = call.body(StopBody)
    place = (_directory(body.targetDirectory) or "") if body.savepoint else None
    return _begin(call, body.triggerId, partial(send, kind="stop", argument=place, drain=bool(body.drain)))


def checkpoint(call: Call) -> dict[str, str]:
    """Ask for a checkpoint: the running epoch is one, or the last if none runs."""
    asked = call.body(CheckpointBody)
    return _begin(call, asked.triggerId, partial(send, kind="checkpoint", argument=None))


def _begin(call: Call, trigger: str | None, send_to: Callable[[Storage], Request]) -> dict[str, str]:
    """Send a command to the job's driver, and return the id under which its answer is found.

    A request that is repeated with its id is the first one. One that cannot be sent has failed: its answer says why.
    """
    record = call.record()
    request = _request_id(trigger)
    file = _file(record, request)
    with _beginning:
        if read(file, Asked) is None:
            write(file, _sent(record, send_to))
    return {"request-id": request}


_beginning: Final = threading.Lock()
"""Of requests with the same id at the same time one is the first."""


def _sent(record: JobRecord, send_to: Callable[[Storage], Request]) -> Asked:
    storage = record.state_storage()
    try:
        if storage is None or record.outcome() is not None:
            raise StateError("is not running", who=f"the job {record.id}", got=standing(record).status)
        return Asked(send_to(storage).id, now_ms())
    except StateError as error:
        return Asked(None, now_ms(), error=str(error))


def _request_id(trigger: str | None) -> str:
    if trigger is None:
        return uuid.uuid4().hex
    if not _ID.fullmatch(trigger):
        raise Refusal(400, f"requires a triggerId of 32 hexadecimal digits, got {trigger!r}")
    return trigger


def _file(record: JobRecord, request: str) -> Path:
    if not _ID.fullmatch(request):
        raise unreadable("triggerid", request)
    return record.directory / "requests" / f"{request}.json"


def _directory(location: str | None) -> str | None:
    """Return a directory as the driver takes it: Flink's clients write local ones as `file:` URLs."""
    if location is None or not location.startswith("file:"):
        return location
    return unquote(urlsplit(location).path) or None


def rescale(call: Call) -> dict[str, str]:
    """Change the parallelism of a running job between two epochs; it must find as many slots."""
    body = call.body(RescaleBody)
    return _begin(
        call, body.triggerId, partial(_rescaled, call, parallelism=body.parallelism, keep=body.keep)
    )


def _rescaled(call: Call, storage: Storage, *, parallelism: int, keep: bool) -> Request:
    record, dispatcher = call.record(), call.cluster.dispatcher
    before = dispatcher.claim(record, parallelism)
    try:
        return send(storage, "rescale", str(parallelism), keep=keep)
    except StateError:
        dispatcher.claim(record, before)
        raise


def settled(call: Call) -> dict[str, Any]:
    """How any request to a job is getting on, with the driver's own answer."""
    answer = _result(call)
    if answer is None:
        return {"status": {"id": "IN_PROGRESS"}}
    return {"status": {"id": "COMPLETED"}, "answer": answer}


def answered(call: Call) -> dict[str, Any]:
    """How a savepoint, or a stop with one, is getting on."""
    location = _result(call)
    return _PENDING if location is None else _completed({"location": as_url(location)})


def _result(call: Call) -> str | None:
    """Return the answer to the request of the address, None if there is none yet. Raises Refusal if it failed."""
    asked = _asked(call.record(), call.path["triggerid"])
    if asked.error is not None:
        raise server_error(asked.error)
    return asked.location


def _asked(record: JobRecord, request: str) -> Asked:
    """Return a request, with its answer if there is one by now."""
    file = _file(record, request)
    asked = read(file, Asked)
    if asked is None:
        raise Refusal(404, f"There is no operation with triggerId={request} for job {record.id}.")
    if asked.command is None or asked.location is not None or asked.error is not None:
        return asked
    storage = record.state_storage()
    assert storage is not None
    try:
        location = look_for_answer(storage, asked.command)
        settled = msgspec.structs.replace(asked, location=location)
    except StateError as error:
        settled = msgspec.structs.replace(asked, error=str(error))
    if settled != asked:
        write(file, settled)
        forget_reply(storage, asked.command)
    return settled


def checkpointed(call: Call) -> dict[str, Any]:
    """The checkpoint that was asked for."""
    epoch = _result(call)
    return _PENDING if epoch is None else _completed({"checkpointId": int(epoch)})


def dispose(call: Call) -> dict[str, str]:
    """Remove a savepoint."""
    location = _directory(call.body(DisposalBody).savepoint_path)
    request = uuid.uuid4().hex
    file = _disposals(call) / f"{request}.json"
    try:
        _remove(location or "")
        write(file, Asked(None, now_ms(), location=location))
    except (FiresteelError, OSError) as error:
        write(file, Asked(None, now_ms(), error=str(error)))
    return {"request-id": request}


def _disposals(call: Call) -> Path:
    return call.cluster.dispatcher.directory / "disposals"


def _remove(location: str) -> None:
    """Remove a savepoint, its mark first. Raises StateError if there is none, so that nothing else is ever removed."""
    try:
        storage = Storage.existing(location)
    except NotFound:
        raise StateError("requires a savepoint", who="the disposal", got=location) from None
    if open_savepoint(storage) is None:
        raise StateError("requires a savepoint", who="the disposal", got=location)
    storage.delete("savepoint.json")
    if storage.is_local:
        shutil.rmtree(storage.url)
    else:
        storage.delete_all([*storage.list("manifests"), *storage.list("runs")])


def disposed(call: Call) -> dict[str, Any]:
    """Whether a savepoint has been removed."""
    request = call.path["triggerid"]
    asked = read(_disposals(call) / f"{request}.json", Asked) if _ID.fullmatch(request) else None
    if asked is None:
        raise Refusal(404, f"There is no disposal with triggerId={request}.")
    if asked.error is not None:
        raise server_error(asked.error)
    return _completed({})


_PENDING: Final = {"status": {"id": "IN_PROGRESS"}, "operation": None}


def _completed(operation: dict[str, Any]) -> dict[str, Any]:
    return {"status": {"id": "COMPLETED"}, "operation": operation}


def server_error(text: str) -> Refusal:
    """Return the answer for an operation that failed, in the form that Flink's clients print."""
    return Refusal(
        500, "Internal server error.", f"<Exception on server side:\n{text}\nEnd of exception on server side>"
    )


def requirements(call: Call) -> dict[str, Any]:
    """The bounds of each vertex's parallelism."""
    return {
        vertex.id: {"parallelism": {"lowerBound": 1, "upperBound": vertex.parallelism}}
        for vertex in call.job().vertices
    }


def require(call: Call) -> dict[str, Any]:
    """Change the parallelism of a running job between two epochs, to the upper bounds, which must be equal.

    It must find as many slots. Vertices whose parallelism the program sets keep it.
    """
    record, job = call.record(), call.job()
    asked = call.body(dict[str, Requirements])
    unknown = asked.keys() - {vertex.id for vertex in job.vertices}
    if unknown or not asked:
        raise Refusal(400, f"requires the vertices of the job, got {', '.join(sorted(unknown)) or 'none'}")
    bounds = {bound.parallelism.upperBound for bound in asked.values()}
    if len(bounds) != 1 or min(bounds) < 1:
        raise Refusal(
            400,
            "requires one parallelism of at least 1 for all vertices: a job is rescaled as a whole; "
            f"got {sorted(bounds)}",
        )
    storage = record.state_storage()
    if storage is None or job.status != "RUNNING":
        raise Refusal(409, f"the job {record.id} is not running: it is {job.status}")
    try:
        _rescaled(call, storage, parallelism=bounds.pop(), keep=True)
    except StateError as error:
        raise Refusal(409, str(error)) from None
    return {}


_JOB: Final = "/jobs/:jobid"

ROUTES: Final = (
    Route("POST", f"{_JOB}/savepoints", savepoint, Right.OPERATOR, 202, SavepointBody),
    Route("GET", f"{_JOB}/savepoints/:triggerid", answered),
    Route("POST", f"{_JOB}/stop", stop, Right.OPERATOR, 202, StopBody),
    Route("POST", f"{_JOB}/checkpoints", checkpoint, Right.OPERATOR, 202, CheckpointBody),
    Route("GET", f"{_JOB}/checkpoints/:triggerid", checkpointed),
    Route("POST", f"{_JOB}/rescale", rescale, Right.OPERATOR, 202, RescaleBody),
    Route("GET", f"{_JOB}/requests/:triggerid", settled),
    Route("POST", "/savepoint-disposal", dispose, Right.OPERATOR, 200, DisposalBody),
    Route("GET", "/savepoint-disposal/:triggerid", disposed),
    Route("GET", f"{_JOB}/resource-requirements", requirements),
    Route("PUT", f"{_JOB}/resource-requirements", require, Right.OPERATOR, body=dict[str, Requirements]),
)

"""Submission: programs are uploaded, listed, run and deleted. Flink's paths for JAR files are the same.

A program is a Python file, or a zip archive of a package: it is unpacked, and `__main__.py` or `main.py` in it is what
runs, unless the run names another file or module. A `requirements.txt` in it has the packages that workers install.
"""

from __future__ import annotations

import re
import shutil
import uuid
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec

from firesteel.common.errors import StateError
from firesteel.control.commands import now_ms
from firesteel.rest.calls import Call, Refusal, Right, Route, Upload
from firesteel.rest.dispatcher import new_job_id
from firesteel.rest.planning import plan_of
from firesteel.rest.records import Submission, read, write
from firesteel.rest.routes.jobs import plan_json

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_ENTRIES: Final = ("__main__.py", "main.py")
_MOST_UNPACKED: Final = 1 << 30
_MOST_FILES: Final = 20_000


class UploadedProgram(msgspec.Struct, frozen=True):
    """A program that was uploaded; `entry` is the file in it that runs (None: it must be named)."""

    name: str
    uploaded_at: int
    entry: str | None


class RunBody(msgspec.Struct, frozen=True):
    """The body of a run: Flink's fields, and Firesteel's `entryFile`, `pyflink` and `secrets`."""

    entryClass: str | None = None  # noqa: N815 - Flink's names
    entryFile: str | None = None  # noqa: N815
    programArgs: str | None = None  # noqa: N815
    programArgsList: list[str] | None = None  # noqa: N815
    parallelism: int | None = None
    jobId: str | None = None  # noqa: N815
    allowNonRestoredState: bool | None = None  # noqa: N815
    savepointPath: str | None = None  # noqa: N815
    flinkConfiguration: dict[str, str] | None = None  # noqa: N815
    pyflink: bool = False
    secrets: list[str] = []


def listed(call: Call) -> dict[str, Any]:
    """The programs that were uploaded, the newest first."""
    found = []
    for folder in call.cluster.programs.iterdir() if call.cluster.programs.is_dir() else ():
        about = read(folder / "program.json", UploadedProgram)
        if about is not None:
            entries = [] if about.entry is None else [{"name": about.entry, "description": None}]
            found.append(
                {"id": folder.name, "name": about.name, "uploaded": about.uploaded_at, "entry": entries}
            )
    return {
        "address": call.cluster.address,
        "files": sorted(found, key=lambda file: -_uploaded(file)),
    }


def _uploaded(file: dict[str, Any]) -> int:
    at: int = file["uploaded"]
    return at


def upload(call: Call) -> dict[str, str]:
    """Upload a program: a Python file or a zip archive, as the one file of a form."""
    _require_submission(call)
    if len(call.uploads) != 1:
        raise Refusal(400, f"Exactly 1 file must be sent, received {len(call.uploads)}.")
    sent = call.uploads[0]
    name = PurePosixPath(sent.name.replace("\\", "/")).name
    if not _NAME.fullmatch(name) or not name.endswith((".py", ".zip")):
        raise Refusal(400, "Only Python files (.py) and archives (.zip) with plain names are allowed.")
    program_id = f"{uuid.uuid4()}_{name}"
    folder = call.cluster.programs / program_id
    code = folder / "code"
    code.mkdir(mode=0o700, parents=True)
    try:
        entry = _stored(sent, name, code)
        write(folder / "program.json", UploadedProgram(name, now_ms(), entry))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return {"filename": str(folder), "status": "success"}


def _stored(sent: Upload, name: str, code: Path) -> str | None:
    if name.endswith(".py"):
        shutil.copyfile(sent.path, code / name)
        return name
    try:
        with zipfile.ZipFile(sent.path) as archive:
            _unpack(archive, code)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise Refusal(400, f"requires a zip archive that can be read: {error}") from None
    return next((entry for entry in _ENTRIES if (code / entry).is_file()), None)


def _unpack(archive: zipfile.ZipFile, code: Path) -> None:
    """Unpack an archive. Raises Refusal for one that is too large, or whose files lie elsewhere than below it."""
    files = [info for info in archive.infolist() if not info.is_dir()]
    if len(files) > _MOST_FILES or sum(info.file_size for info in files) > _MOST_UNPACKED:
        raise Refusal(413, "The archive is too large.")
    for info in files:
        place = PurePosixPath(info.filename)
        link = (info.external_attr >> 16) & 0o170000 == 0o120000
        if place.is_absolute() or ".." in place.parts or "\\" in info.filename or link:
            raise Refusal(400, f"requires files below the archive, got {info.filename!r}")
        archive.extract(info, code)


def run(call: Call) -> dict[str, str]:
    """Run a program: the job is accepted, and starts as soon as there are slots."""
    _require_submission(call)
    folder, about = _program(call)
    submission = _submission(call, folder, about)
    if call.cluster.dispatcher.job(submission.job_id) is not None:  # the same request once more
        return {"jobid": submission.job_id}
    try:
        record = call.cluster.dispatcher.submit(submission, folder / "code")
    except StateError as error:
        raise Refusal(400, str(error)) from None
    return {"jobid": record.id}


def plan(call: Call) -> dict[str, Any]:
    """The plan of a program's job: the program is run up to the job, without secrets."""
    _require_submission(call)
    folder, about = _program(call)
    submission = _submission(call, folder, about)
    try:
        found = plan_of(submission, folder / "code", call.cluster.dispatcher.environment)
    except StateError as error:
        raise Refusal(400, str(error)) from None
    return {"plan": plan_json(found.job_id, found.description.name, found.mode, found.vertices())}


def _submission(call: Call, folder: Path, about: UploadedProgram) -> Submission:
    """Return what a request is to run. Raises Refusal."""
    body = _with_query(call, call.body(RunBody))
    code, module = _code(folder, about, body)
    configuration = dict(body.flinkConfiguration or {})
    if call.cluster.dispatcher.has_session:
        _require_own(configuration)
    return Submission(
        job_id=_job_id(body.jobId),
        code=code,
        module=module,
        submitted_at=now_ms(),
        arguments=tuple(body.programArgsList or (body.programArgs or "").split()),
        parallelism=body.parallelism,
        slots=body.parallelism or _number(configuration.get("parallelism.default")) or 1,
        configuration=configuration,
        restore_from=body.savepointPath or None,
        allow_non_restored_state=bool(body.allowNonRestoredState),
        pyflink=body.pyflink,
        secrets=tuple(body.secrets),
        master=call.cluster.dispatcher.master,
        session=call.cluster.dispatcher.has_session,
    )


def _require_own(configuration: Mapping[str, str]) -> None:
    """Refuse settings of the Spark application, which a job of a session shares with others."""
    shared = [
        name for name in configuration if name.startswith("spark.") and not name.startswith("spark.sql.")
    ]
    if shared:
        raise Refusal(
            400,
            f"{', '.join(shared)}: the jobs of this cluster share a Spark application; start the cluster with --conf, "
            "or one whose jobs have their own (without --session)",
        )


def _with_query(call: Call, body: RunBody) -> RunBody:
    """Return a body with what stands in the query instead, as older clients of Flink send it."""
    said = {name: text for name, text in call.query.items() if name in _IN_QUERY}
    values: dict[str, Any] = {_IN_QUERY[name]: text for name, text in said.items()}
    if "parallelism" in values:
        values["parallelism"] = _number(said["parallelism"])
    if "allowNonRestoredState" in values:
        values["allowNonRestoredState"] = said["allowNonRestoredState"] == "true"
    if body.parallelism is not None and body.parallelism < 1:
        raise Refusal(400, f"requires a parallelism of at least 1, got {body.parallelism}")
    return msgspec.structs.replace(body, **values)


_IN_QUERY: Final = {
    "entry-class": "entryClass",
    "program-args": "programArgs",
    "parallelism": "parallelism",
    "savepointPath": "savepointPath",
    "allowNonRestoredState": "allowNonRestoredState",
}


def _number(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise Refusal(400, f"requires a parallelism of at least 1, got {text!r}")
    return int(text)


def _job_id(asked: str | None) -> str:
    if asked is None:
        return new_job_id()
    if not re.fullmatch(r"[0-9a-f]{32}", asked):
        raise Refusal(400, f"requires a jobId of 32 hexadecimal digits, got {asked!r}")
    return asked


def _code(folder: Path, about: UploadedProgram, body: RunBody) -> tuple[str, bool]:
    """Return what runs, and whether it is a module."""
    if body.entryFile is not None:
        place = PurePosixPath(body.entryFile)
        if place.is_absolute() or ".." in place.parts or not (folder / "code" / place).is_file():
            raise Refusal(400, f"requires a file of the program, got {body.entryFile!r}")
        return str(place), False
    # Flink's web UI sends the listed entry back.
    if body.entryClass is not None and body.entryClass != about.entry:
        if not all(part.isidentifier() for part in body.entryClass.split(".")):
            raise Refusal(400, f"requires the dotted name of a module, got {body.entryClass!r}")
        return body.entryClass, True
    if about.entry is None:
        raise Refusal(
            400,
            f"{about.name} has none of {', '.join(_ENTRIES)}: name an entryFile, or a module as entryClass",
        )
    return about.entry, False


def _program(call: Call) -> tuple[Path, UploadedProgram]:
    asked = call.path["programid"]
    folder = call.cluster.programs / asked
    about = read(folder / "program.json", UploadedProgram) if _is_id(asked) else None
    if about is None:
        raise Refusal(404, f"The program {asked} does not exist.")
    return folder, about


def _is_id(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f-]{36}_" + _NAME.pattern, text) is not None


def delete(call: Call) -> dict[str, Any]:
    """Delete a program; jobs that were started from it have copies of their own."""
    folder, _ = _program(call)
    shutil.rmtree(folder)
    return {}


def _require_submission(call: Call) -> None:
    if not call.cluster.submission:
        raise Refusal(403, "Submission is switched off on this cluster.")


def _routes(base: str, upload_path: str) -> tuple[Route, ...]:
    return (
        Route("GET", base, listed),
        Route("POST", upload_path, upload, Right.SUBMITTER, takes_files=True),
        Route("POST", f"{base}/:programid/run", run, Right.SUBMITTER, body=RunBody, query=tuple(_IN_QUERY)),
        *(
            Route(
                method,
                f"{base}/:programid/plan",
                plan,
                Right.SUBMITTER,
                body=RunBody if method == "POST" else None,
                query=tuple(_IN_QUERY),
                waits=True,
            )
            for method in ("GET", "POST")
        ),
        Route("DELETE", f"{base}/:programid", delete, Right.SUBMITTER),
    )


ROUTES: Final = (*_routes("/jars", "/jars/upload"), *_routes("/programs", "/programs"))

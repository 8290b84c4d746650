"""The programs of jobs that statements have made: a compiled plan, or a script, and the options beside it."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from itertools import count
from pathlib import Path

import msgspec

from firesteel.common.configuration import Configuration
from firesteel.common.decoders import json_decoder
from firesteel.common.importing import importing_from
from firesteel.rest.dispatcher import Dispatcher
from firesteel.rest.gateway.jobs import (
    CLUSTER_FILE,
    OPTIONS_FILE,
    PLAN_FILE,
    SCRIPT_FILE,
    ClusterJobs,
    ScriptCluster,
)
from firesteel.rest.gateway.python_files import own_modules, placed
from firesteel.rest.gateway.sessions import GatewaySession
from firesteel.rest.gateway.statements import Statements
from firesteel.rest.gateway.upkeep import UPKEEP_FILE, ClusterUpkeep
from firesteel.rest.records import JobRecord
from firesteel.rest.schedules import PARTITION_FILE, Partition, Schedules
from firesteel.rest.session import SessionRecord
from firesteel.sql.script import pieces
from firesteel.table.environment_settings import EnvironmentSettings
from firesteel.table.maintaining import publish, run_compiled
from firesteel.table.plan_reference import PlanReference
from firesteel.table.table_directory import TableDirectory
from firesteel.table.table_environment import TableEnvironment, new_session
from firesteel.table.upkeep import Upkeep


def main(program: str) -> None:
    """Start the job of the plan in the directory of `program`. Raises what starting it raises."""
    place = Path(program).parent
    options = _options(place)
    environment = TableEnvironment.create(_settings(options))
    modules = own_modules(options)
    with importing_from(lambda: modules):
        environment.execute_plan(PlanReference.from_file(place / PLAN_FILE))


def maintained(program: str) -> None:
    """Run the job of a materialised table whose plan is in the directory of `program`.

    One that fills the table once publishes its rows when it has ended. A schedule whose table is gone, or has another
    one now, ends. Raises what running the job raises.
    """
    place = Path(program).parent
    record = JobRecord(place.parent)
    upkeep = json_decoder(Upkeep).decode((place / UPKEEP_FILE).read_bytes())
    upkeep = msgspec.structs.replace(upkeep, name=upkeep.name or record.id)
    if upkeep.schedule is not None and not _is_scheduled(upkeep):
        Schedules(record.directory.parents[1]).remove(upkeep.schedule)
        return
    options = _options(place)
    modules = own_modules(options)
    with importing_from(lambda: modules):
        job = run_compiled(_plan(place, upkeep), new_session(_settings(options)), upkeep)
    if upkeep.full:
        job.wait()
        publish(upkeep)


def _plan(place: Path, upkeep: Upkeep) -> str:
    """Return the plan of a job, for the partitions that are due."""
    plan = (place / PLAN_FILE).read_text()
    if upkeep.due is None:
        return plan
    partition = json_decoder(Partition).decode((place / PARTITION_FILE).read_bytes())
    return upkeep.due.filled(plan, partition.values)


def _is_scheduled(upkeep: Upkeep) -> bool:
    by = TableDirectory(upkeep.directory).schedule
    return by is not None and by.id == upkeep.schedule


def script(program: str) -> None:
    """Execute the statements of the script in the directory of `program`, and print what they answer.

    The job of its INSERT runs here; if there are several, each is a job of the cluster.
    """
    place = Path(program).parent
    cluster = json_decoder(ScriptCluster).decode((place / CLUSTER_FILE).read_bytes())
    record = JobRecord(place.parent)
    dispatcher = _dispatcher(record, cluster.slots)
    jobs = ClusterJobs(dispatcher, new_id=_numbered(record.id))
    session = new_session(_settings(_options(place)))
    session.submit = jobs.submit if cluster.several else None
    session.maintainer = ClusterUpkeep(jobs, dispatcher)
    statements, opened, given_up = (
        Statements(jobs),
        GatewaySession("script", None, session, 0.0),
        threading.Event(),
    )
    for piece in pieces((place / SCRIPT_FILE).read_text()):
        statements.execute(piece.text, opened, given_up).result.print()


def _dispatcher(record: JobRecord, slots: int) -> Dispatcher:
    """Return the dispatcher of the cluster that a script's job belongs to; it does not start."""
    submission = record.submission()
    assert submission is not None
    directory = record.directory.parents[1]
    shared = SessionRecord(directory / "session").settings() if submission.session else None
    return Dispatcher(directory, slots, submission.master, session=shared)


def _numbered(script: str) -> Callable[[], str]:
    """Return what gives the ids of a script's jobs, in their order.

    A driver that is started again executes the statements again: the jobs that they have made have the same ids then,
    so each is made once.

    >>> first, second = (_numbered("0b0dbb6b3b6c4b0c97d7d1b0c9b5a1f3") for _ in range(2))
    >>> first() == second(), first() == second()
    (True, True)
    """
    numbers = count()
    return lambda: uuid.uuid5(uuid.UUID(script), str(next(numbers))).hex


def _options(place: Path) -> dict[str, str]:
    return placed(json_decoder(dict[str, str]).decode((place / OPTIONS_FILE).read_bytes()), place)


def _settings(options: dict[str, str]) -> EnvironmentSettings:
    return EnvironmentSettings.new_instance().with_configuration(Configuration.from_dict(options)).build()

"""The jobs that keep materialised tables fresh: in this process, or where the session's maintainer runs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

import msgspec

from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.objects import Storage
from firesteel.common.configuration import Configuration
from firesteel.common.errors import StateError
from firesteel.common.logical_types.logical_type import escaped_identifier, escaped_text
from firesteel.common.places import Source
from firesteel.control import JobHandle, JobSettings
from firesteel.control.asking import still_runs, stop
from firesteel.control.running import running_jobs
from firesteel.datastream.ambient import Ambient, current_ambient, surrounded_by
from firesteel.relational.logical.nodes import TableSink
from firesteel.relational.physical.connecting import CONNECTOR
from firesteel.relational.tables import ResolvedTable
from firesteel.sql.binding.maintenance import Maintenance, RefreshMode
from firesteel.sql.binding.statements import bind_insert
from firesteel.sql.script import parse_statement
from firesteel.sql.statements.queries import Insert
from firesteel.table.catalog.binding import with_rows
from firesteel.table.catalog.declared import view_of
from firesteel.table.catalog.objects import CatalogTable
from firesteel.table.due_partitions import check_places, due_partitions
from firesteel.table.environment_settings import MODE
from firesteel.table.materialized import MATERIALIZED, kept_rows
from firesteel.table.running import compiled_plan, run_sink, run_stored_sink
from firesteel.table.session import Session
from firesteel.table.table_config import TableConfig
from firesteel.table.table_directory import TableDirectory
from firesteel.table.upkeep import Upkeep

STOP_SECONDS: Final = 120.0
"""How long to wait until a job has ended its epoch."""


def keeps_rows(found: CatalogTable) -> bool:
    """Return whether the rows of a table are the state of its job."""
    return found.table.options.get(CONNECTOR, MATERIALIZED) == MATERIALIZED


def prepare(found: CatalogTable) -> None:
    """Make the directory of a table, so that it can be read: it has no rows yet."""
    _directory(found)


def start(
    found: CatalogTable, session: Session, options: Mapping[str, str] | None = None
) -> JobHandle | None:
    """Start the job that follows the query of a table, or go on with it; `options` are added to those of the table.

    Returns None if the session's maintainer runs it.
    """
    upkeep = _upkeep(found, "CONTINUOUS", _directory(found).begun())
    own, sink = _planned(found, session, "CONTINUOUS", options=options or {})
    if session.maintainer is None:
        return _run(sink, own, upkeep)
    session.maintainer.follow(_compiled(sink, own, upkeep), own.config.to_map(), upkeep)
    return None


def clear(found: CatalogTable) -> None:
    """Let the next job of a table, which does not run, begin from the beginning, with nothing."""
    _directory(found).clear()


def refresh(found: CatalogTable, session: Session, partition: Mapping[str, str]) -> None:
    """Compute a table, or some partitions of one that has a connector, and put that in the place of what is there.

    Until all of it is there, and if the job fails, readers see what was there before. Waits for the job unless the
    session's maintainer runs it.
    """
    own, sink = _planned(found, session, "FULL", partition)
    if session.maintainer is not None:
        upkeep = _upkeep(found, "FULL")
        session.maintainer.refresh(_compiled(sink, own, upkeep), own.config.to_map(), upkeep)
        return
    upkeep = _upkeep(found, "FULL", _directory(found).following())
    _run(sink, own, upkeep).wait()
    publish(upkeep)


def publish(upkeep: Upkeep) -> None:
    """Let a job of FULL mode that has ended have the rows of its table, unless a connector has them.

    Raises StateError if it was ended before all of its input had been read.
    """
    table = TableDirectory(upkeep.directory)
    assert upkeep.name is not None
    log = ManifestLog.open(Storage.of(table.location(upkeep.name)))
    last = None if log is None else log.latest()
    if last is None or not last.finished:
        raise StateError(
            "was ended before all of its input had been read",
            who=f"the refresh of {upkeep.job_name}",
            hint="the table has the rows that it had before; REFRESH it again",
        )
    if upkeep.keeps_rows:
        table.publish(upkeep.name)
    else:  # the job of CONTINUOUS mode, if there is one, goes on where it is
        table.keep_only(table.name, upkeep.name)


def schedule(found: CatalogTable, session: Session, options: Mapping[str, str] | None = None) -> None:
    """Let the session's maintainer, if it has one, refresh a table, or what is due, as often as its freshness says.

    Raises ProgramError for a query by which nothing of it can be due.
    """
    if session.maintainer is not None:
        due = due_partitions(found.table.options)
        own, sink = _planned(found, session, "FULL", due.places if due else None, options or {})
        upkeep = msgspec.structs.replace(_upkeep(found, "FULL"), due=due)
        plan = _compiled(sink, own, upkeep)
        if due is not None:
            check_places(plan, due, f"materialized table {found.identifier}")
        every_ms = _maintenance(found).freshness.milliseconds
        session.maintainer.schedule(plan, own.config.to_map(), upkeep, every_ms)


def unschedule(found: CatalogTable, session: Session) -> None:
    """Let nobody refresh a table by a schedule any more. Raises StateError if another cluster does that."""
    table = _directory(found)
    if session.maintainer is not None:
        session.maintainer.unschedule(table.url)
    elif (by := table.schedule) is not None:
        raise StateError(
            "is refreshed by the schedule of a cluster",
            who=f"materialized table {found.identifier}",
            got=by.cluster,
            hint="change it in a session of that cluster's SQL gateway",
        )


def is_maintained(found: CatalogTable, session: Session) -> bool:
    """Return whether the job of a table runs, here or elsewhere."""
    table = _directory(found)
    if session.maintainer is not None and session.maintainer.runs(table.url):
        return True
    job = table.job
    return job is not None and (_own(job) is not None or still_runs(job))


def suspend(found: CatalogTable, session: Session) -> None:
    """End the job of a table after its running epoch, wherever it runs."""
    table = _directory(found)
    if session.maintainer is not None and session.maintainer.runs(table.url):
        session.maintainer.end(table.url)
        return
    job = table.job
    own = None if job is None else _own(job)
    if own is not None:
        own.stop().result(STOP_SECONDS)
        own.wait(STOP_SECONDS)
    elif job is not None and still_runs(job):
        stop(job, with_savepoint=False, target=None, timeout=STOP_SECONDS)


def remove(found: CatalogTable, session: Session) -> None:
    """End the job of a table and remove all that there is of it."""
    suspend(found, session)
    _directory(found).delete()  # with what its schedule looks for, which ends then


def run_compiled(plan: str, session: Session, upkeep: Upkeep) -> JobHandle:
    """Start a job of a compiled plan: that of a maintainer, in its process."""
    with _in_directory(upkeep):
        sink = kept_rows if upkeep.keeps_rows else None
        return run_stored_sink(plan, upkeep.job_name, session, sink)


def _maintenance(found: CatalogTable) -> Maintenance:
    assert found.maintenance is not None
    return found.maintenance


def _directory(found: CatalogTable) -> TableDirectory:
    return TableDirectory(_maintenance(found).directory)


def _own(job: Storage) -> JobHandle | None:
    """Return the job if this process runs it; one that has just been started may have said nothing yet."""
    log = ManifestLog.open(job)
    mine = () if log is None else (own for own in running_jobs() if own.job_id == log.job.job_id)
    return next(iter(mine), None)


def _upkeep(found: CatalogTable, mode: RefreshMode, name: str | None = None) -> Upkeep:
    maintenance = _maintenance(found)
    return Upkeep(
        _directory(found).url,
        f"materialized-table_{str(found.identifier).replace('`', '')}",
        maintenance.freshness.milliseconds,
        keeps_rows(found),
        mode == "FULL",
        name,
    )


def _planned(
    found: CatalogTable,
    session: Session,
    mode: RefreshMode,
    partition: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
) -> tuple[Session, TableSink]:
    """Return what fills a table, and the session of that job."""
    full = mode == "FULL"
    config = Configuration.from_dict({**session.config.to_map(), MODE: "batch" if full else "streaming"})
    own = replace(session, environment=None, config=TableConfig(config))
    return own, _sink(found, own, partition or {}, options or {}, overwrites=full and not keeps_rows(found))


def _run(sink: TableSink, session: Session, upkeep: Upkeep) -> JobHandle:
    """Start a job in this process."""
    with _in_directory(upkeep):
        return run_sink(sink, session, upkeep.job_name, kept_rows if upkeep.keeps_rows else None)


def _compiled(sink: TableSink, session: Session, upkeep: Upkeep) -> str:
    return compiled_plan([sink], session, kept_rows if upkeep.keeps_rows else None)


def _sink(
    found: CatalogTable,
    session: Session,
    partition: Mapping[str, str],
    options: Mapping[str, str],
    *,
    overwrites: bool,
) -> TableSink:
    names = _maintenance(found).columns
    with session.holding(view_of(found, session.unnamed())) as view, _altered(found, session, options):
        listed = ", ".join(map(escaped_identifier, names))
        into = f"INSERT {'OVERWRITE' if overwrites else 'INTO'} {found.identifier} ({listed})"
        text = f"{into} SELECT {listed} FROM {view}"
        if partition:
            equal = (f"{escaped_identifier(key)} = {escaped_text(value)}" for key, value in partition.items())
            text = f"{text} WHERE {' AND '.join(equal)}"
        statement = parse_statement(text)
        assert isinstance(statement, Insert)
        return bind_insert(statement, Source(text), session.catalog)


@contextmanager
def _altered(found: CatalogTable, session: Session, options: Mapping[str, str]) -> Iterator[None]:
    """Let a table have further options for a while."""
    if not options:
        yield
        return
    table: ResolvedTable = with_rows(found)
    changed = replace(found, table=replace(table, options={**table.options, **options}))
    with session.holding(changed):
        yield


@contextmanager
def _in_directory(upkeep: Upkeep) -> Iterator[None]:
    """Give the job that is started in this context its state directory, and epochs that are short enough."""
    outer = current_ambient().adapt
    assert upkeep.name is not None
    directory = TableDirectory(upkeep.directory).location(upkeep.name)

    def adapt(settings: JobSettings) -> JobSettings:
        adapted = settings if outer is None else outer(settings)
        epoch_ms = min(adapted.epoch_ms, upkeep.epoch_ms)
        return replace(
            adapted, state_dir=directory, epoch_ms=epoch_ms, restore_from=None, read_by_others=True
        )

    with surrounded_by(Ambient(adapt=adapt)):
        yield

"""The jobs that keep materialised tables fresh.

A table has a directory. Below it each job that began with nothing has one of its own, with a number as its name; the
file `current` says which of them has the table. A job that is started again goes on in its directory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.objects import Storage
from firesteel.common.configuration import Configuration
from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types.logical_type import escaped_identifier, escaped_text
from firesteel.common.places import Source
from firesteel.control import JobHandle, JobSettings
from firesteel.control.asking import still_runs, stop
from firesteel.control.running import running_jobs
from firesteel.datastream.ambient import Ambient, current_ambient, surrounded_by
from firesteel.relational.logical.nodes import TableSink
from firesteel.relational.physical.connecting import CONNECTOR
from firesteel.relational.tables import ResolvedTable
from firesteel.saved.kept_rows import CURRENT, current
from firesteel.sql.binding.maintenance import Maintenance, RefreshMode
from firesteel.sql.binding.statements import bind_insert
from firesteel.sql.script import parse_statement
from firesteel.sql.statements.queries import Insert
from firesteel.table.catalog.binding import with_rows
from firesteel.table.catalog.declared import view_of
from firesteel.table.catalog.objects import CatalogTable
from firesteel.table.environment_settings import MODE
from firesteel.table.materialized import MATERIALIZED, kept_rows
from firesteel.table.running import run_sink
from firesteel.table.session import Session
from firesteel.table.table_config import TableConfig

STOP_SECONDS: Final = 120.0
"""How long to wait until a job has ended its epoch."""


def keeps_rows(found: CatalogTable) -> bool:
    """Return whether the rows of a table are the state of its job."""
    return found.table.options.get(CONNECTOR, MATERIALIZED) == MATERIALIZED


def prepare(found: CatalogTable) -> None:
    """Make the directory of a table, so that it can be read: it has no rows yet."""
    Storage.of(_maintenance(found).directory)


def start(found: CatalogTable, session: Session, options: Mapping[str, str] | None = None) -> JobHandle:
    """Start the job that follows the query of a table, or go on with it; `options` are added to those of the table."""
    maintenance = _maintenance(found)
    table = Storage.of(maintenance.directory)
    number = _number(table)
    if number is None:
        number = 1
        table.put(CURRENT, b"1")
    return _run(found, session, "CONTINUOUS", _directory(table, number), options=options or {})


def clear(found: CatalogTable) -> None:
    """Let the next job of a table, which does not run, begin from the beginning, with nothing."""
    table = Storage.of(_maintenance(found).directory)
    before = _number(table)
    if before is not None:
        table.put(CURRENT, str(before + 1).encode())
        _remove(table, before)


def refresh(found: CatalogTable, session: Session, partition: Mapping[str, str]) -> None:
    """Compute a table, or some partitions of one that has a connector, and put that in the place of what is there.

    Until all of it is there, and if the job fails, readers see what was there before.
    """
    table = Storage.of(_maintenance(found).directory)
    before = _number(table) or 0
    _remove(table, before + 1)  # of a refresh that has failed
    _run(found, session, "FULL", _directory(table, before + 1), partition).wait()
    table.put(CURRENT, str(before + 1).encode())
    _remove(table, before - 1)  # whoever began to read the one before has until the next refresh


def is_maintained(found: CatalogTable) -> bool:
    """Return whether the job of a table runs, here or elsewhere."""
    job = _job(found)
    return job is not None and (_own(job) is not None or still_runs(job))


def suspend(found: CatalogTable) -> None:
    """End the job of a table after its running epoch, wherever it runs."""
    job = _job(found)
    own = None if job is None else _own(job)
    if own is not None:
        own.stop().result(STOP_SECONDS)
        own.wait(STOP_SECONDS)
    elif job is not None and still_runs(job):
        stop(job, with_savepoint=False, target=None, timeout=STOP_SECONDS)


def remove(found: CatalogTable) -> None:
    """End the job of a table and remove all that there is of it."""
    suspend(found)
    table = Storage.of(_maintenance(found).directory)
    table.delete(CURRENT)
    table.delete_all(table.list(""))


def _maintenance(found: CatalogTable) -> Maintenance:
    assert found.maintenance is not None
    return found.maintenance


def _job(found: CatalogTable) -> Storage | None:
    directory = current(Storage.of(_maintenance(found).directory))
    job = None if directory is None else Storage.of(directory)
    return None if job is None or ManifestLog.open(job) is None else job


def _own(job: Storage) -> JobHandle | None:
    """Return the job if this process runs it; one that has just been started may have said nothing yet."""
    log = ManifestLog.open(job)
    mine = () if log is None else (own for own in running_jobs() if own.job_id == log.job.job_id)
    return next(iter(mine), None)


def _number(table: Storage) -> int | None:
    directory = current(table)
    return None if directory is None else int(directory.rpartition("/")[2])


def _directory(table: Storage, number: int) -> str:
    return table.location(str(number))


def _remove(table: Storage, number: int) -> None:
    table.delete_all(table.list(f"{number}/"))


def _run(
    found: CatalogTable,
    session: Session,
    mode: RefreshMode,
    directory: str,
    partition: Mapping[str, str] | None = None,
    options: Mapping[str, str] | None = None,
) -> JobHandle:
    """Start a job that fills a table, with its state in a directory."""
    if session.submit is not None:
        raise UnsupportedError(
            "cannot be maintained by a session whose jobs run in a cluster",
            who=f"materialized table {found.identifier}",
            hint="create, resume and refresh it with `firesteel sql` or a program; this session can read it",
        )
    full = mode == "FULL"
    config = Configuration.from_dict({**session.config.to_map(), MODE: "batch" if full else "streaming"})
    own = replace(session, environment=None, config=TableConfig(config))
    sink = _sink(found, own, partition or {}, options or {}, overwrites=full and not keeps_rows(found))
    name = f"materialized-table_{str(found.identifier).replace('`', '')}"
    with _in_directory(directory, _maintenance(found)):
        return run_sink(sink, own, name, kept_rows if keeps_rows(found) else None)


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
def _in_directory(directory: str, maintenance: Maintenance) -> Iterator[None]:
    """Give the job that is started in this context its state directory, and epochs that are short enough."""
    outer = current_ambient().adapt

    def adapt(settings: JobSettings) -> JobSettings:
        adapted = settings if outer is None else outer(settings)
        epoch_ms = min(adapted.epoch_ms, maintenance.freshness.milliseconds)
        return replace(
            adapted, state_dir=directory, epoch_ms=epoch_ms, restore_from=None, read_by_others=True
        )

    with surrounded_by(Ambient(adapt=adapt)):
        yield

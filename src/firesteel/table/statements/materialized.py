"""Statements about materialised tables.

Source: Flink's SqlCreateMaterializedTableConverter, MaterializedTableManager.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from firesteel.common.errors import FiresteelError, ProgramError, UnsupportedError
from firesteel.control import JobHandle
from firesteel.sql.binding.maintenance import Maintenance, RefreshStatus
from firesteel.sql.statements import parts
from firesteel.sql.statements.alter import (
    Alter,
    ChangeElements,
    DropColumns,
    DropPart,
    Refresh,
    ResetOptions,
    Resume,
    SetOptions,
    SetQuery,
    Suspend,
)
from firesteel.sql.statements.create import CreateMaterializedTable
from firesteel.sql.statements.session import Drop
from firesteel.table import maintaining
from firesteel.table.catalog.memory_models import exists
from firesteel.table.catalog.objects import CatalogTable
from firesteel.table.due_partitions import check_date_formatters
from firesteel.table.statements import answers
from firesteel.table.statements.execution import Execution, options_of
from firesteel.table.statements.materialized_tables import altered, declared, reshaped
from firesteel.table.statements.partitions import spec_of
from firesteel.table.table_result import TableResult

KIND: Final = "materialized table"


def create(statement: CreateMaterializedTable, execution: Execution) -> TableResult:
    """Add a materialised table; in CONTINUOUS mode, start the job that keeps it fresh."""
    identifier, manager = execution.identifier(statement.name), execution.manager
    there = manager.permanent(identifier)
    if there is not None and statement.if_not_exists:
        return answers.ok()
    if there is not None and statement.or_alter:
        before = _materialized(statement.name, execution)
        return _requeried(before, _declared(statement, execution, before), execution)
    with execution.at(statement.name.span):
        if there is not None:
            raise exists("table or view", str(identifier))
        manager.database(identifier.catalog, identifier.database)
    found = _declared(statement, execution)
    with execution.at(statement.name.span):
        manager.add(found)
    maintaining.prepare(found)
    try:
        return answers.ok(_begun(found, execution))
    except FiresteelError:
        manager.drop(identifier, kind=KIND)
        raise


def _declared(
    statement: CreateMaterializedTable, execution: Execution, before: CatalogTable | None = None
) -> CatalogTable:
    found = declared(statement, execution, before)
    with execution.at(statement.name.span):
        _check_date_formatters(found)
    return found


def drop(statement: Drop, execution: Execution) -> TableResult:
    """End the job of a materialised table, and remove the table with all of its rows."""
    identifier, manager = execution.identifier(statement.name), execution.manager
    found = manager.permanent(identifier)
    with execution.at(statement.name.span):
        if isinstance(found, CatalogTable) and found.maintenance is not None:
            maintaining.remove(found, execution.session)
        manager.drop(identifier, kind=KIND, if_exists=statement.if_exists)
    return answers.ok()


def alter(statement: Alter, execution: Execution) -> TableResult:
    """Change a materialised table, or what is done to keep it fresh."""
    found = _materialized(statement.name, execution)
    with execution.at(statement.name.span):
        match statement.action:
            case Suspend():
                return _suspend(found, execution)
            case Resume(options):
                return _resume(found, options_of(options), execution)
            case Refresh(partition):
                return _refresh(found, partition, execution)
            case SetQuery(query):
                return _requeried(found, altered(found, query, statement, execution), execution)
            case ChangeElements() | DropColumns() | DropPart():
                return _reshaped(found, reshaped(found, statement, execution), execution)
            case SetOptions(options):
                return _with_options(found, {**found.table.options, **options_of(options)}, execution)
            case ResetOptions(keys):
                gone = {key.key for key in keys}
                kept = {key: value for key, value in found.table.options.items() if key not in gone}
                return _with_options(found, kept, execution)
    hint = "DROP it and CREATE it again"
    raise execution.text.unsupported(statement.span, "this kind of ALTER MATERIALIZED TABLE", hint=hint)


def _begun(
    found: CatalogTable, execution: Execution, options: Mapping[str, str] | None = None
) -> JobHandle | None:
    """Begin to keep a table fresh: by a job, or by a schedule if there is somebody to follow it."""
    if _maintenance(found).mode == "CONTINUOUS":
        return maintaining.start(found, execution.session, options)
    maintaining.schedule(found, execution.session, options)
    return None


def _suspend(found: CatalogTable, execution: Execution) -> TableResult:
    _require_schedule(found, execution, "SUSPEND")
    if _maintenance(found).status == "SUSPENDED":
        raise ProgramError("cannot be suspended", who=_who(found), got="one that is suspended already")
    if _maintenance(found).mode == "FULL":
        maintaining.unschedule(found, execution.session)
    else:
        maintaining.suspend(found, execution.session)
    _change(found, execution, status="SUSPENDED")
    return answers.ok()


def _resume(found: CatalogTable, options: dict[str, str], execution: Execution) -> TableResult:
    _require_schedule(found, execution, "RESUME")
    if _maintenance(found).mode == "CONTINUOUS" and maintaining.is_maintained(found, execution.session):
        raise ProgramError("cannot be resumed", who=_who(found), got="one whose job runs")
    return answers.ok(_begun(_change(found, execution, status="ACTIVATED"), execution, options))


def _refresh(found: CatalogTable, partition: parts.Partition, execution: Execution) -> TableResult:
    kept = maintaining.keeps_rows(found)
    if kept and _maintenance(found).mode == "CONTINUOUS":
        raise ProgramError(
            "is refreshed by its job, epoch by epoch",
            who=_who(found),
            got="REFRESH in CONTINUOUS mode",
            hint="RESUME starts the job if it has ended; a table with a connector can be refreshed",
        )
    if kept and partition:
        raise ProgramError(
            "is refreshed as a whole",
            who=_who(found),
            got="a partition",
            hint="a table with 'connector' = 'filesystem' and PARTITIONED BY has partitions",
        )
    spec = spec_of(partition).get_partition_spec()
    unknown = [key for key in spec if key not in found.table.partition_keys]
    if unknown:
        raise ProgramError(
            "requires columns of PARTITIONED BY",
            who=f"{_who(found)}: REFRESH PARTITION",
            got=", ".join(unknown),
        )
    maintaining.refresh(found, execution.session, spec)
    return answers.ok()


def _requeried(found: CatalogTable, changed: CatalogTable, execution: Execution) -> TableResult:
    """Let a table have another query; its job begins anew, when it is resumed if it is suspended."""
    return _changed(found, changed, execution, _maintenance(found).status == "ACTIVATED")


def _reshaped(found: CatalogTable, changed: CatalogTable, execution: Execution) -> TableResult:
    """Let a table have other columns; its job begins anew if other rows are stored, else nothing happens to it."""
    if _stored(found) == _stored(changed):
        execution.manager.change(found.identifier, changed)
        return answers.ok()
    return _requeried(found, changed, execution)


def _stored(found: CatalogTable) -> tuple[object, ...]:
    table = found.table
    return table.primary_key, *((column.name, column.type) for column in table.written)


def _with_options(found: CatalogTable, options: dict[str, str], execution: Execution) -> TableResult:
    """Let a table have other options; a job that runs begins again with them."""
    changed = replace(found, table=replace(found.table, options=options))
    if maintaining.keeps_rows(found) is not maintaining.keeps_rows(changed):
        raise ProgramError("cannot get a connector, or lose it", who=_who(found), hint="DROP and CREATE it")
    _check_date_formatters(changed)
    full = _maintenance(found).mode == "FULL"
    starts = (
        _maintenance(found).status == "ACTIVATED"
        if full
        else maintaining.is_maintained(found, execution.session)
    )
    return _changed(found, changed, execution, starts)


def _changed(found: CatalogTable, changed: CatalogTable, execution: Execution, starts: bool) -> TableResult:
    """Put a table in the place of another one. In CONTINUOUS mode what there was of its rows and its state goes.

    So do rows in FULL mode that do not have the columns of now; others stay until REFRESH.
    """
    full = _maintenance(found).mode == "FULL"
    if full:
        maintaining.unschedule(found, execution.session)
    maintaining.suspend(found, execution.session)
    execution.manager.change(found.identifier, changed)
    if not full or (maintaining.keeps_rows(changed) and _stored(found) != _stored(changed)):
        maintaining.clear(changed)
    return answers.ok(_begun(changed, execution) if starts else None)


def _change(found: CatalogTable, execution: Execution, status: RefreshStatus) -> CatalogTable:
    changed = replace(found, maintenance=replace(_maintenance(found), status=status))
    execution.manager.change(found.identifier, changed)
    return changed


def _materialized(name: parts.Name, execution: Execution) -> CatalogTable:
    identifier, manager = execution.identifier(name), execution.manager
    found = manager.permanent(identifier)
    if not isinstance(found, CatalogTable) or found.maintenance is None:
        with execution.at(name.span):
            if found is None:
                raise manager.unknown(identifier, KIND)
            raise ProgramError(f"requires a {KIND}", got=str(identifier))
    return found


def _require_schedule(found: CatalogTable, execution: Execution, what: str) -> None:
    """Require somebody who follows the schedule of a table in FULL mode."""
    if _maintenance(found).mode == "FULL" and execution.session.maintainer is None:
        raise UnsupportedError(
            f"is refreshed by ALTER MATERIALIZED TABLE ... REFRESH, in FULL mode: there is no schedule to {what}",
            who=_who(found),
            hint="tables that a session of a cluster's SQL gateway makes have schedules",
        )


def _check_date_formatters(found: CatalogTable) -> None:
    check_date_formatters(found.table, _who(found), keeps_rows=maintaining.keeps_rows(found))


def _maintenance(found: CatalogTable) -> Maintenance:
    assert found.maintenance is not None
    return found.maintenance


def _who(found: CatalogTable) -> str:
    return f"materialized table {found.identifier}"

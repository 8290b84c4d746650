"""Actions of ALTER to text."""

from __future__ import annotations

from firesteel.sql.statements import alter as a
from firesteel.sql.statements.parts import Distribution
from firesteel.sql.writing import parts as p


def action(found: a.AlterAction) -> str:
    """Return what follows the name in ALTER."""
    match found:
        case a.RenameTo():
            return f"RENAME TO {found.name}"
        case a.RenameColumn():
            return f"RENAME {found.column} TO {found.name}"
        case a.SetOptions():
            return f"SET {p.options(found.options)}"
        case a.ResetOptions():
            return f"RESET {p.option_keys(found.keys)}"
        case a.SetComment():
            return f"COMMENT {p.text(found.comment)}"
        case a.SetQuery():
            return f"AS {p.sql(found.query)}"
        case a.SetFunction():
            language = f"LANGUAGE {found.language}" if found.language else None
            return p.joined(f"AS {p.text(found.target)}", language)
        case a.ChangeElements():
            return _changed(found)
        case a.DropColumns() | a.DropPart() | a.AddPartitions() | a.DropPartitions():
            return _partial(found)
    return _materialized(found)


def _changed(found: a.ChangeElements) -> str:
    elements = [p.element(one) for one in found.elements]
    one = found.elements[0]
    return f"{found.how} {elements[0] if isinstance(one, Distribution) else p.listed(elements)}"


def _partial(found: a.DropColumns | a.DropPart | a.AddPartitions | a.DropPartitions) -> str:
    match found:
        case a.DropColumns():
            return f"DROP {p.listed(found.columns)}"
        case a.DropPart():
            return p.joined("DROP", found.what, str(found.constraint) if found.constraint else None)
        case a.AddPartitions():
            exists = "IF NOT EXISTS" if found.if_not_exists else None
            added = (
                p.joined(p.partition(one.partition), p.with_options(one.options)) for one in found.partitions
            )
            return p.joined("ADD", exists, " ".join(added))
    exists = "IF EXISTS" if found.if_exists else None
    return p.joined("DROP", exists, ", ".join(p.partition(one) for one in found.partitions))


def _materialized(
    found: a.SetFreshness | a.SetRefreshMode | a.Suspend | a.Resume | a.Refresh,
) -> str:
    match found:
        case a.SetFreshness():
            return f"SET FRESHNESS = {p.sql(found.freshness)}"
        case a.SetRefreshMode():
            return f"SET REFRESH_MODE = {found.refresh}"
        case a.Suspend():
            return "SUSPEND"
        case a.Resume():
            return p.joined("RESUME", p.with_options(found.options))
    return p.joined("REFRESH", p.partition(found.partition) if found.partition else None)

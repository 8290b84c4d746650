"""Errors of sources and sinks on the driver, attributed to their operator."""

from __future__ import annotations

import traceback

from firesteel.common.errors import ConnectorError, FiresteelError


def connector_error(error: Exception, who: str, failed: str, hint: str | None = None) -> FiresteelError:
    """Return `error` as an error that names the operator `who`; `failed` says what the operator could not do.

    >>> print(connector_error(OSError("disk full"), "sink 'out' (job.py:3)", "could not commit"))
    sink 'out' (job.py:3) could not commit; got OSError: disk full
    """
    if isinstance(error, FiresteelError):
        if error.who is None:
            error.who = who
        elif not error.who.startswith(who):
            error.who = f"{who}: {error.who}"
        return error
    return ConnectorError(
        failed,
        who=who,
        got=f"{type(error).__name__}: {error}",
        hint=hint,
        details="".join(traceback.format_exception(error)),
    )

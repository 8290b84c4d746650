"""Connections: a session at a gateway."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from firesteel.dbapi import errors
from firesteel.dbapi.cursor import Cursor
from firesteel.dbapi.errors import InterfaceError, NotSupportedError, translated
from firesteel.rest.gateway.client import GatewayClient

_OPTIONS: Final = {"execution.runtime-mode": "batch", "table.dml-sync": "true"}


def connect(
    url: str,
    options: Mapping[str, str] | None = None,
    *,
    init: Sequence[str] = (),
    token: str | None = None,
) -> Connection:
    """Open a session at the gateway of a URL (`http://host:port`), with options, and execute statements in it first.

    Statements are executed in BATCH mode and INSERTs wait for their jobs, unless options say otherwise:
    `execution.runtime-mode` and `table.dml-sync`. Without a `token` that in FIRESTEEL_TOKEN is sent. Raises
    OperationalError if the gateway cannot be reached, ProgrammingError for what it refuses.
    """
    with translated():
        client = GatewayClient(url, {**_OPTIONS, **(options or {})}, name="dbapi", token=token)
    connection = Connection(client)
    try:
        for statement in init:
            connection.cursor().execute(statement)
    except BaseException:
        connection.close()
        raise
    return connection


class Connection:
    """A session; its cursors share its tables and options."""

    Warning = errors.Warning
    Error = errors.Error
    InterfaceError = errors.InterfaceError
    DatabaseError = errors.DatabaseError
    DataError = errors.DataError
    OperationalError = errors.OperationalError
    IntegrityError = errors.IntegrityError
    InternalError = errors.InternalError
    ProgrammingError = errors.ProgrammingError
    NotSupportedError = errors.NotSupportedError

    def __init__(self, client: GatewayClient) -> None:
        self._client: GatewayClient | None = client

    def cursor(self) -> Cursor:
        """Return a new cursor. Raises InterfaceError if the connection is closed."""
        self._open_client()
        return Cursor(self)

    def commit(self) -> None:
        """Do nothing: what a statement does is visible when its job has committed it."""
        self._open_client()

    def rollback(self) -> None:
        """Raise NotSupportedError: there are no transactions."""
        raise NotSupportedError("there are no transactions to roll back")

    def close(self) -> None:
        """Close the session; its queries end, jobs of INSERTs go on."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    @property
    def closed(self) -> bool:
        """Whether the connection is closed."""
        return self._client is None

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_client(self) -> GatewayClient:
        if self._client is None:
            raise InterfaceError("the connection is closed")
        return self._client

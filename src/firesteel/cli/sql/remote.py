"""Statements that a SQL gateway executes, shown as if they were executed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from firesteel.cli.sql.display import RESULT_MODE, Display
from firesteel.cli.sql.output import Format
from firesteel.common.configuration import Configuration
from firesteel.rest.gateway.client import Answered, GatewayClient
from firesteel.sql.script import Piece
from firesteel.sql.statements.parts import Statement
from firesteel.table.completion import typed_word
from firesteel.table.running import most_width
from firesteel.table.table_config import TableConfig
from firesteel.table.table_result import Printing, TableResult


class RemoteClient(Display):
    """A session at a gateway: SHOW JOBS and STOP JOB are about the jobs of its cluster."""

    def __init__(
        self,
        gateway: GatewayClient,
        output: TextIO,
        form: Format = "table",
        *,
        interactive: bool = False,
        live: bool = False,
    ) -> None:
        super().__init__(output, form, interactive=interactive, live=live)
        self._gateway = gateway

    def candidates(self, before: str, text: str) -> tuple[str, list[str]]:
        """Return the word that is typed at the end of `before`, and the words that it may become."""
        return typed_word(before), self._gateway.complete(text, len(before))

    def close(self) -> None:
        """Close the session at the gateway."""
        self._gateway.close()

    def _execute(self, statement: Statement, piece: Piece) -> None:
        answered = self._gateway.execute(f"{piece.text};")
        options = self._gateway.options()
        result = _RemoteResult(answered, self._gateway, options)
        if answered.is_query:
            self._show_query(result, options.get(RESULT_MODE, "table").lower())
        elif answered.job_id is not None:
            list(answered.changes)
            self.confirm(f"[INFO] Job ID: {answered.job_id}")
        else:
            self._show(statement, result)


class _RemoteResult(TableResult):
    """What a gateway has answered; closing it ends the query there."""

    def __init__(self, answered: Answered, gateway: GatewayClient, options: Mapping[str, str]) -> None:
        config = TableConfig(Configuration.from_dict(dict(options)))
        streaming = config.get("execution.runtime-mode", "streaming").lower() != "batch"
        zone = config.get_local_timezone()
        if answered.is_query:
            printing = Printing(kinds=streaming, most=most_width(config), zone=zone)
        else:
            printing = Printing(raw=answered.row.field_names == ["result"], zone=zone, null="")
        super().__init__(answered.row, answered.changes, printing, kind=answered.kind)
        self._gateway, self._operation = gateway, answered.operation

    def close(self) -> None:
        """End the query."""
        self._gateway.end(self._operation)

"""Answers the requests to the SQL gateway, in its process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any

from firesteel.checkpoint.objects import NotFound, Storage
from firesteel.common.errors import FiresteelError, StateError, UnsupportedError
from firesteel.common.excepthook import describe_failure
from firesteel.common.logical_types.logical_type import escaped_identifier, escaped_text
from firesteel.datastream.ambient import Ambient, surrounded_by
from firesteel.rest.calls import Call, Refusal
from firesteel.rest.gateway.jobs import ClusterJobs
from firesteel.rest.gateway.operations import Operation, Outcome
from firesteel.rest.gateway.paths import CompletionBody, OpenBody, RefreshBody, ScriptBody, StatementBody
from firesteel.rest.gateway.results import Page, Results
from firesteel.rest.gateway.rows import RowFormat, sent_columns, sent_rows
from firesteel.rest.gateway.sessions import GatewaySession, Sessions
from firesteel.rest.gateway.statements import Statements, starts_job
from firesteel.rest.routes.operations import server_error
from firesteel.sql.script import pieces
from firesteel.table.completion import candidates
from firesteel.table.session import Session

Handler = Callable[[Call], Any]


class GatewayHandlers:
    """What answers each path of the gateway, by its name in `firesteel.rest.gateway.paths`."""

    def __init__(self, sessions: Sessions, jobs: ClusterJobs, surroundings: Ambient) -> None:
        self._sessions = sessions
        self._jobs = jobs
        self._statements = Statements(jobs)
        self._surroundings = surroundings

    def by_name(self) -> Mapping[str, Handler]:
        """Return the handlers, whose errors are answers."""
        handlers: dict[str, Handler] = {
            "open": self._open,
            "config": self._config,
            "close": self._close,
            "heartbeat": self._heartbeat,
            "configure": self._configure,
            "execute": self._execute,
            "complete": self._complete,
            "status": self._status,
            "cancel": self._cancel,
            "close_operation": self._close_operation,
            "results": self._results,
            "deploy": self._deploy,
            "refresh": self._refresh,
            "schedule": self._schedule,
        }
        return {name: _answering(handler) for name, handler in handlers.items()}

    # --- sessions ---

    def _open(self, call: Call) -> dict[str, str]:
        body = call.body(OpenBody)
        with surrounded_by(self._surroundings):
            return {"sessionHandle": self._sessions.open(body.sessionName, body.properties or {}).handle}

    def _config(self, call: Call) -> dict[str, dict[str, str]]:
        return {"properties": dict(self._session(call).session.config.to_map())}

    def _close(self, call: Call) -> dict[str, str]:
        self._session(call)
        self._sessions.close(call.path["session"])
        return {"status": "CLOSED"}

    def _heartbeat(self, call: Call) -> dict[str, str]:
        self._session(call)
        return {}

    def _configure(self, call: Call) -> dict[str, str]:
        body, session = call.body(StatementBody), self._session(call)
        operation = self._begin(session, body, self._statements.configure)
        operation.wait()
        return {}

    def _session(self, call: Call) -> GatewaySession:
        try:
            return self._sessions.get(call.path["session"])
        except StateError as error:
            raise Refusal(404, str(error)) from None

    # --- statements and their operations ---

    def _execute(self, call: Call) -> dict[str, str]:
        body, session = call.body(StatementBody), self._session(call)
        return {"operationHandle": self._begin(session, body, self._statements.execute).handle}

    def _begin(
        self,
        session: GatewaySession,
        body: StatementBody,
        execute: Callable[[str, GatewaySession, threading.Event], Outcome],
    ) -> Operation:
        if body.executionTimeout:
            raise UnsupportedError(
                "is not supported, nor is it by Flink's gateway", who="executionTimeout", got="a limit"
            )

        def run(given_up: threading.Event) -> Outcome:
            with surrounded_by(self._surroundings), _options(session.session, body.executionConfig or {}):
                return execute(body.statement, session, given_up)

        return session.submit(run)

    def _operation(self, call: Call) -> Operation:
        try:
            return self._session(call).operation(call.path["operation"])
        except StateError as error:
            raise Refusal(404, str(error)) from None

    def _status(self, call: Call) -> dict[str, str]:
        return {"status": self._operation(call).status}

    def _cancel(self, call: Call) -> dict[str, str]:
        operation = self._operation(call)
        operation.cancel()
        return {"status": operation.status}

    def _close_operation(self, call: Call) -> dict[str, str]:
        session, operation = self._session(call), self._operation(call)
        operation.close()
        session.operations.pop(operation.handle, None)
        return {"status": "CLOSED"}

    def _results(self, call: Call) -> dict[str, Any]:
        form = _form(call)
        place = f"{call.prefix}/sessions/{call.path['session']}/operations/{call.path['operation']}/result"
        query = "" if call.prefix == "/v1" else f"?rowFormat={form}"
        token = call.number("token")
        found = self._operation(call).fetch(token)
        if found is None:
            return {"resultType": "NOT_READY", "nextResultUri": f"{place}/{token}{query}"}
        return _sent(*found, form, lambda following: f"{place}/{following}{query}")

    def _complete(self, call: Call) -> dict[str, list[str]]:
        body, session = call.body(CompletionBody), self._session(call)
        with session.turn, surrounded_by(self._surroundings):
            _, words = candidates(session.session, body.statement[: body.position], body.statement)
        return {"candidates": words}

    # --- jobs ---

    def _deploy(self, call: Call) -> dict[str, str]:
        body, session = call.body(ScriptBody), self._session(call)
        if (body.script is None) is (body.scriptUri is None):
            raise Refusal(400, "requires a script or a scriptUri, and not both")
        script = _script_at(body.scriptUri or "") if body.script is None else body.script
        options = {**session.session.config.to_map(), **(body.executionConfig or {})}
        several = sum(starts_job(piece.parse()) for piece in pieces(script)) > 1
        return {"clusterID": self._jobs.deploy(script, options, several=several)}

    def _refresh(self, call: Call) -> dict[str, str]:
        body, table = call.body(RefreshBody), call.path["table"]
        if body.isPeriodic or body.scheduleTime or body.dynamicOptions:
            raise _scheduled_here("a refresh by a schedule")
        equal = (
            f"{escaped_identifier(k)} = {escaped_text(v)}" for k, v in (body.staticPartitions or {}).items()
        )
        listed = ", ".join(equal)
        statement = f"ALTER MATERIALIZED TABLE {table} REFRESH{listed and f' PARTITION ({listed})'}"
        asked = StatementBody(statement, executionConfig=body.executionConfig)
        operation = self._begin(self._session(call), asked, self._statements.execute)
        return {"operationHandle": operation.handle}

    def _schedule(self, _: Call) -> dict[str, str]:
        raise _scheduled_here("a schedule of a materialized table")


def _scheduled_here(who: str) -> UnsupportedError:
    return UnsupportedError(
        "is not taken from a scheduler",
        who=who,
        hint="CREATE MATERIALIZED TABLE makes schedules of the cluster, SUSPEND and RESUME end and begin them",
    )


def _answering(handler: Handler) -> Handler:
    """Return a handler whose errors are answers that Flink's clients print: ours, without a stack trace."""

    @wraps(handler)
    def answer(call: Call) -> Any:
        try:
            return handler(call)
        except Refusal:
            raise
        except FiresteelError as error:
            raise server_error(_as_cause(str(error))) from error
        except Exception as error:  # an error in a user's function or in the gateway: the session goes on
            raise server_error(_as_cause(describe_failure(error))) from error

    return answer


def _as_cause(text: str) -> str:
    """Return a text of which Flink's SQL client shows just this: it shows the last cause, up to its first frame."""
    return f"Caused by: {text}\n\tat firesteel"


def _script_at(location: str) -> str:
    directory, _, name = location.removeprefix("file://").rpartition("/")
    try:
        return Storage.existing(directory).get(name).decode()
    except NotFound as error:
        raise StateError("does not exist", who=f"the script {location!r}") from error


def _form(call: Call) -> RowFormat:
    asked = call.query.get("rowFormat", RowFormat.JSON).upper()
    try:
        return RowFormat(asked)
    except ValueError:
        raise Refusal(400, f"requires a rowFormat of JSON or PLAIN_TEXT, got {asked!r}") from None


def _sent(results: Results, page: Page, form: RowFormat, following: Callable[[int], str]) -> dict[str, Any]:
    data = [row for changes in page.changes for row in sent_rows(changes, results.row, form, results.zone)]
    answer: dict[str, Any] = {
        "resultType": "EOS" if page.next_token is None else "PAYLOAD",
        "isQueryResult": results.is_query,
        "resultKind": results.kind.name,
        "results": {"columns": sent_columns(results.row), "rowFormat": form, "data": data},
    }
    if results.job_id is not None:
        answer["jobID"] = results.job_id
    if page.next_token is not None:
        answer["nextResultUri"] = following(page.next_token)
    return answer


@contextmanager
def _options(session: Session, options: Mapping[str, str]) -> Iterator[None]:
    """Set options for a while."""
    before = {key: session.config.to_map().get(key) for key in options}
    try:
        for key, value in options.items():
            session.config.set(key, value)
        yield
    finally:
        for key, earlier in before.items():
            if earlier is None:
                session.config.unset(key)
            else:
                session.config.get_configuration().set_string(key, earlier)

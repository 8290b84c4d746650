"""Asking a schema registry: three requests over HTTP, whose answers never change and are kept.

Contract: an id always stands for the same schema, so that what was answered once is not asked again in this process. A
registry that is away, busy or failing (no connection, no answer in time, 429, 5xx) is asked again, with longer and
longer pauses, until the patience of the settings ends; the error then names it. Other refusals are errors at once.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from functools import lru_cache
from itertools import cycle
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from firesteel.common.errors import ConnectorError
from firesteel.connectors.schema_registry.settings import RegistrySettings

_TYPE: Final = "application/vnd.schemaregistry.v1+json"
_AVRO: Final = "AVRO"
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_KEPT: Final = 4096
_NOT_FOUND: Final = 404
_BUSY: Final = 429
_FAILING: Final = 500


class UnknownSchemaError(ConnectorError):
    """The registry does not know an id, or a schema under a subject."""


class Reference(NamedTuple):
    """A schema that another one refers to by a name."""

    name: str
    text: str


class RegisteredSchema(NamedTuple):
    """A schema as its text, what kind it is ('AVRO', 'JSON' or 'PROTOBUF'), and those that it refers to.

    Of these, one that another refers to comes first.
    """

    kind: str
    text: str
    references: tuple[Reference, ...] = ()


@lru_cache(_KEPT)
def registered_schema(settings: RegistrySettings, number: int) -> RegisteredSchema:
    """Return the schema with an id. Raises UnknownSchemaError if there is none, ConnectorError if nobody answers."""
    found = RegistryClient(settings).get(f"/schemas/ids/{number}")
    return RegisteredSchema(found.get("schemaType", _AVRO), found["schema"], _references(settings, found))


def _references(settings: RegistrySettings, found: dict[str, Any]) -> tuple[Reference, ...]:
    known: dict[str, str] = {}
    for one in found.get("references") or ():
        path = f"/subjects/{quote(one['subject'], safe='')}/versions/{one['version']}"
        inner = RegistryClient(settings).get(path)
        known |= dict(_references(settings, inner))
        known[one["name"]] = inner["schema"]
    return tuple(Reference(name, text) for name, text in known.items())


@lru_cache(_KEPT)
def registered_id(
    settings: RegistrySettings, subject: str, schema: str, kind: str = _AVRO, *, register: bool = True
) -> int:
    """Return the id of a schema under a subject, and make it known to the registry unless that is forbidden.

    Raises UnknownSchemaError if it is forbidden and the schema is not there, ConnectorError if the registry refuses it,
    or if nobody answers.
    """
    document = {"schema": schema} | ({} if kind == _AVRO else {"schemaType": kind})
    path = f"/subjects/{quote(subject, safe='')}{'/versions' if register else ''}"
    return int(RegistryClient(settings).post(path, document)["id"])


class RegistryClient:
    """Sends requests. `now` returns seconds, and `pause` waits for some."""

    def __init__(
        self,
        settings: RegistrySettings,
        now: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._now = now
        self._pause = pause

    def get(self, path: str) -> dict[str, Any]:
        """Return what the registry answers. Raises ConnectorError if it does not."""
        return self._ask(path, None)

    def post(self, path: str, document: dict[str, Any]) -> dict[str, Any]:
        """Return what the registry answers to a document. Raises ConnectorError if it does not."""
        return self._ask(path, json.dumps(document).encode())

    def _ask(self, path: str, body: bytes | None) -> dict[str, Any]:
        until = self._now() + self._settings.patience_ms / 1000
        pause = _FIRST_PAUSE_S
        for tries, url in enumerate(cycle(self._settings.urls), 1):
            try:
                return self._answer(url, path, body)
            except (OSError, http.client.HTTPException, _TryAgain) as error:
                if self._now() + pause >= until:
                    raise self._away(path, tries, error) from error
            if tries % len(self._settings.urls) == 0:
                self._pause(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
        raise AssertionError("the addresses have no end")

    def _answer(self, url: str, path: str, body: bytes | None) -> dict[str, Any]:
        headers = {"Accept": _TYPE, "Content-Type": _TYPE, **self._settings.headers()}
        request = urllib.request.Request(url.rstrip("/") + path, body, headers)
        tls = self._settings.tls() if url.startswith("https:") else None
        try:
            with urllib.request.urlopen(
                request, timeout=self._settings.timeout_ms / 1000, context=tls
            ) as answer:
                found = json.loads(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                said = error.read().decode("utf-8", "replace")
            raise self._refusal(error.code, path, said) from error
        except ValueError as error:
            raise _TryAgain(f"an answer that is no JSON: {error}") from error
        if not isinstance(found, dict):
            raise _TryAgain("an answer that is no object of JSON")
        return found

    def _refusal(self, status: int, path: str, said: str) -> Exception:
        if status == _BUSY or status >= _FAILING:
            return _TryAgain(f"status {status}: {said[:200]}")
        kind = UnknownSchemaError if status == _NOT_FOUND else ConnectorError
        return kind(
            f"requires a request that the registry accepts: {path}",
            who=self._settings.who,
            got=f"status {status}: {said[:500]}",
        )

    def _away(self, path: str, tries: int, error: Exception) -> ConnectorError:
        return ConnectorError(
            f"requires an answer within {self._settings.patience_ms / 1000:g} seconds to {path}",
            who=self._settings.who,
            got=f"{str(error) or type(error).__name__} after {tries} requests",
            hint="start it, or mend its address; the job then goes on where it was",
        )


class _TryAgain(Exception):  # noqa: N818 - the registry says that it cannot answer now
    """An answer that is to be asked for again."""

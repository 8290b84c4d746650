"""A schema registry on this machine: the documented interface of Confluent's, as far as clients of formats use it.

Confluent's registry is in no package registry, so that this stands in for it: ids by schema, subjects with versions,
compatibility as an error that a test asks for. Flink's own client, which is Confluent's, is content with it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from harness.server import serve_until_interrupted

_TYPE = "application/vnd.schemaregistry.v1+json"


class RefusedError(Exception):
    """An answer that is an error: a status, a code of the registry, and a message."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class SchemaRegistry:
    """Schemas in memory; `asked` has the requests, as method and path. With `login`, others are turned away."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.login: str | None = None
        self.incompatible: set[str] = set()
        self._schemas: dict[int, tuple[str, str, str]] = {}
        self._subjects: dict[str, list[int]] = {}
        self._lock = threading.Lock()

    def register(self, subject: str, schema: str, kind: str = "AVRO", references: Any = ()) -> int:
        """Return the id of a schema, which is a version of the subject from now on."""
        entry = (kind, schema, json.dumps(list(references)))
        with self._lock:
            if subject in self.incompatible:
                raise RefusedError(409, 409, "Schema being registered is incompatible with an earlier schema")
            known = {schema: number for number, schema in self._schemas.items()}
            number = known.get(entry) or max(self._schemas, default=0) + 1
            self._schemas[number] = entry
            versions = self._subjects.setdefault(subject, [])
            if number not in versions:
                versions.append(number)
            return number

    def keep(self, number: int, schema: str, kind: str = "AVRO") -> None:
        """Have a schema under an id."""
        self._schemas[number] = (kind, schema, "[]")

    def text(self, number: int) -> str:
        """Return the schema with an id."""
        return self._schemas[number][1]

    def answer(self, method: str, path: str, body: Any) -> Any:
        """Return what is answered. Raises RefusedError for an error."""
        parts = [unquote(part) for part in urlsplit(path).path.strip("/").split("/")]
        match [method, *parts]:
            case ["GET", "schemas", "ids", number]:
                return self._shown(int(number))
            case ["GET", "subjects"]:
                return sorted(self._subjects)
            case ["GET", "subjects", subject, "versions"]:
                return [*range(1, len(self._known(subject)) + 1)]
            case ["GET", "subjects", subject, "versions", version]:
                return self._version(subject, version)
            case ["POST", "subjects", subject, "versions"]:
                kind = body.get("schemaType", "AVRO")
                return {"id": self.register(subject, body["schema"], kind, body.get("references", ()))}
            case ["POST", "subjects", subject]:
                return self._found(subject, body)
        raise RefusedError(404, 404, "HTTP 404 Not Found")

    def _known(self, subject: str) -> list[int]:
        if subject not in self._subjects:
            raise RefusedError(404, 40401, f"Subject '{subject}' not found.")
        return self._subjects[subject]

    def _shown(self, number: int) -> dict[str, Any]:
        if number not in self._schemas:
            raise RefusedError(404, 40403, f"Schema {number} not found")
        kind, schema, references = self._schemas[number]
        shown: dict[str, Any] = {"schema": schema}
        if kind != "AVRO":
            shown["schemaType"] = kind
        if references != "[]":
            shown["references"] = json.loads(references)
        return shown

    def _version(self, subject: str, version: str) -> dict[str, Any]:
        versions = self._known(subject)
        place = len(versions) if version == "latest" else int(version)
        if not 0 < place <= len(versions):
            raise RefusedError(404, 40402, f"Version {version} not found.")
        number = versions[place - 1]
        return {"subject": subject, "version": place, "id": number, **self._shown(number)}

    def _found(self, subject: str, body: dict[str, Any]) -> dict[str, Any]:
        for place, number in enumerate(self._known(subject), 1):
            if self._shown(number)["schema"] == body["schema"]:
                return {"subject": subject, "version": place, "id": number, **self._shown(number)}
        raise RefusedError(404, 40403, "Schema not found")

    @contextmanager
    def serving(self, port: int = 0) -> Iterator[str]:
        """Serve on a port, a free one by default; yield the URL."""
        server = _Server(self, port)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="schema-registry")
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, registry: SchemaRegistry, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.registry = registry


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _answer(self, body: Any) -> None:
        registry = self.server.registry
        registry.asked.append((self.command, self.path))
        try:
            if registry.login not in (None, self.headers.get("Authorization")):
                raise RefusedError(401, 40101, "Unauthorized")
            self._send(200, registry.answer(self.command, self.path, body))
        except RefusedError as error:
            self._send(error.status, {"error_code": error.code, "message": str(error)})

    def _send(self, status: int, document: Any) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", _TYPE)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    serve_until_interrupted(SchemaRegistry().serving(), str)

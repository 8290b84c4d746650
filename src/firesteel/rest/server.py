"""The server: routes as an ASGI application. Only it and its index of routes know the web framework."""

from __future__ import annotations

import asyncio
import logging
import re
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.routing import Route as WebRoute

from firesteel.common.errors import FiresteelError
from firesteel.rest.calls import Call, Cluster, Refusal, Right, Route, RouteGroup, Text, Upload
from firesteel.rest.indexed_routes import IndexedRoutes
from firesteel.rest.openapi import description
from firesteel.rest.page.files import INDEX, PageFiles, Sent, takes_gzip
from firesteel.rest.page.flink_ui import FlinkUi
from firesteel.rest.page.shared import Packed
from firesteel.rest.records import JobGone
from firesteel.rest.security import Security

_log = logging.getLogger("firesteel.rest")

MOST_BODY: Final = 1 << 20
"""The largest body that is no upload (bytes)."""

MOST_UPLOAD: Final = 100 << 20
"""The largest upload, unless the server is started with another bound (bytes)."""

_MOST_WAITING: Final = 200
"""The threads of answers that wait for something."""

SILENCE_SECONDS: Final = 30.0
"""How long a client may send nothing in the middle of a request."""

FLINK_UI: Final = "/flink"
"""Where Flink's web UI is, if there is one: its pages ask for paths of the service below the same address."""

PAGE_HEADER: Final = "firesteel-page"
"""The header with the name that a page has chosen for itself."""

_LONGEST_NAME: Final = 32

_JSON: Final = "application/json; charset=UTF-8"
_WORTH_PACKING: Final = 1_024
"""The level of compression: most of the gain for a fifth of the time."""

_CHUNK: Final = 1 << 20
_PARAMETER: Final = re.compile(r":(\w+)(\*?)")

Receive = Callable[[], Awaitable[Any]]
Endpoint = Callable[[Request], Awaitable[Response]]


def application(
    cluster: Cluster,
    groups: Iterable[RouteGroup],
    security: Security,
    most_upload: int = MOST_UPLOAD,
    flink_ui: FlinkUi | None = None,
) -> Starlette:
    """Return the service as an ASGI application: each path below its prefixes, `/openapi.json`, and the page at `/`.

    All but the page is served once more beside the files of `flink_ui`.
    """
    known = tuple(groups)
    waiting = CapacityLimiter(_MOST_WAITING)
    document = msgspec.json.encode(description(known))
    described = Route("GET", "/openapi.json", lambda _: Text(document.decode(), _JSON))
    served = [route for group in (*known, (described,)) for route in group]
    web = IndexedRoutes(
        WebRoute(
            prefix + _PARAMETER.sub(_named, route.path),
            _Endpoint(cluster, route, security, most_upload, prefix, waiting if route.waits else None),
            methods=[route.method],
        )
        for route in served
        for prefix in route.prefixes
    )
    beside = [] if flink_ui is None else [Mount(FLINK_UI, routes=[*_flink_ui(flink_ui), web])]
    return Starlette(
        routes=[*_page(PageFiles()), *beside, web],
        exception_handlers={HTTPException: _unknown, Exception: _failed},
    )


def _page(files: PageFiles) -> list[WebRoute]:
    """Return the routes of the page's files. They are the same for everybody, so no token is asked for."""

    async def index(request: Request) -> Response:
        return _sent(files.index(request.headers))

    async def file(request: Request) -> Response:
        found = files.file(request.path_params["name"], request.headers)
        return _unknown(request, HTTPException(404)) if found is None else _sent(found)

    return [WebRoute("/", index), WebRoute(f"/page/{files.version}/{{name:path}}", file)]


def _flink_ui(files: FlinkUi) -> list[WebRoute]:
    """Return the routes of the files of Flink's web UI, for which no token is asked either."""

    def route(path: str, name: str) -> WebRoute:
        async def file(request: Request) -> Response:
            return _sent(await to_thread.run_sync(files.file, name, request.headers))

        return WebRoute(path, file)

    return [route("/", INDEX), *(route(f"/{name}", name) for name in files.names)]


def _sent(answer: Sent) -> Response:
    return Response(answer.body, answer.status, answer.headers)


def _named(part: re.Match[str]) -> str:
    return f"{{{part[1]}:path}}" if part[2] else f"{{{part[1]}}}"


class _Endpoint:
    """A route as the framework calls it."""

    def __init__(
        self,
        cluster: Cluster,
        route: Route,
        security: Security,
        most_upload: int,
        prefix: str,
        threads: CapacityLimiter | None,
    ) -> None:
        self._cluster = cluster
        self._route = route
        self._security = security
        self._most_upload = most_upload
        self._prefix = prefix
        self._threads = threads

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, _impatient(receive))
        await (await self._response(request))(scope, receive, send)

    async def _response(self, request: Request) -> Response:
        route = self._route
        right = Right.VIEWER if route.method == "GET" else route.right
        try:
            held = self._security.check(max(right, route.right), request.headers)
            with ExitStack() as opened:
                call = await self._call(request, held, opened)
                accepted = request.headers.get("accept-encoding", "")
                if (answer := self._at_hand(call)) is not None:
                    return _answer(answer, route.status, accepted)
                return await to_thread.run_sync(self._answered, call, accepted, limiter=self._threads)
        except Refusal as refusal:
            return errors(refusal.status, refusal.reasons)
        except ClientDisconnect:
            return errors(400, ["the client went away"])
        except JobGone as gone:
            return errors(404, [str(gone)])
        except FiresteelError as error:
            _log.warning("%s %s: %s", request.method, request.url.path, error)
            return errors(500, [str(error)])

    def _at_hand(self, call: Call) -> Any:
        """Return an answer for which nothing has to be waited for; None if there is none."""
        if self._route.shared:
            return self._cluster.answers.at_hand(self._asked(call))
        return None if self._route.soon is None else self._route.soon(call)

    def _answered(self, call: Call, accepted: str) -> Response:
        route = self._route
        if route.shared:
            answer = self._cluster.answers.of(self._asked(call), lambda: _packed(route.answer(call)))
        else:
            answer = route.answer(call)
        return _answer(answer, route.status, accepted)

    def _asked(self, call: Call) -> str:
        """Return what a call asks for; parameters that its route does not name are not part of it."""
        parameters = [call.query.get(name) for name in self._route.query]
        return repr((self._prefix, self._route.path, [*call.path.values()], parameters))

    async def _call(self, request: Request, held: Right, opened: ExitStack) -> Call:
        path, query = request.path_params, request.query_params
        if self._route.takes_files:
            uploads = await _uploads(request, self._most_upload, opened)
            return Call(self._cluster, path, query, uploads=uploads, right=held)
        data = await _body(request, MOST_BODY)
        page = request.headers.get(PAGE_HEADER, "")[:_LONGEST_NAME]
        return Call(self._cluster, path, query, data, prefix=self._prefix, right=held, page=page)


def _impatient(receive: Receive) -> Receive:
    """Return what a client sends. Raises Refusal (408) if it says nothing for a while, though it has more to say."""

    async def next_part() -> Any:
        try:
            async with asyncio.timeout(SILENCE_SECONDS):
                return await receive()
        except TimeoutError:
            raise Refusal(
                408,
                f"The client has sent nothing for {SILENCE_SECONDS:g} s, and its request is not complete.",
            ) from None

    return next_part


async def _body(request: Request, most: int) -> bytes:
    """Read a body of at most so many bytes, whatever its header says."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > most:
            raise Refusal(413, f"The body is larger than {most} bytes.")
    return bytes(data)


async def _uploads(request: Request, most: int, opened: ExitStack) -> tuple[Upload, ...]:
    """Store the files of a form in a directory that is removed with `opened`."""
    if int(request.headers.get("content-length", "0") or "0") > most + MOST_BODY:
        raise Refusal(413, f"The upload is larger than {most} bytes.")
    seen = 0
    receive = request.receive

    async def bounded() -> Any:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most + MOST_BODY:
            raise Refusal(413, f"The upload is larger than {most} bytes.")
        return message

    form = Request(request.scope, bounded)
    if not form.headers.get("content-type", "").startswith("multipart/form-data"):
        raise Refusal(400, "requires a form (multipart/form-data) with one file")
    place = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="firesteel-upload-")))
    try:
        parsed = await form.form(max_files=4, max_fields=16)
    except (MultiPartException, HTTPException) as error:
        raise Refusal(400, f"requires a form that can be read: {error}") from None
    uploads = []
    for number, value in enumerate(value for _, value in parsed.multi_items()):
        if isinstance(value, UploadFile):
            target = place / str(number)
            with target.open("wb") as file:
                while chunk := await value.read(_CHUNK):
                    file.write(chunk)
            uploads.append(Upload(value.filename or "", target))
    await parsed.close()
    return tuple(uploads)


def _answer(answer: Any, status: int, accepted: str) -> Response:
    """Return an answer, compressed if it is long enough and the header Accept-Encoding, `accepted`, allows it.

    This is not middleware, which would compress in the thread that serves all others.
    """
    packed = answer if isinstance(answer, Packed) else _packed(answer)
    headers = {"Vary": "Accept-Encoding"}
    if len(packed.body) < _WORTH_PACKING or not takes_gzip(accepted):
        return Response(packed.body, status, headers, packed.media_type)
    return Response(packed.compressed, status, {**headers, "Content-Encoding": "gzip"}, packed.media_type)


def _packed(answer: Any) -> Packed:
    if isinstance(answer, Text):
        return Packed(answer.text.encode(errors="replace"), answer.media_type)
    return Packed(msgspec.json.encode(answer), _JSON)


def errors(status: int, reasons: list[str]) -> Response:
    """Return an error as Flink writes it, without a stack trace."""
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return Response(msgspec.json.encode({"errors": reasons}), status, headers, _JSON)


def _unknown(request: Request, error: Exception) -> Response:
    code = error.status_code if isinstance(error, HTTPException) else 500
    if code == 404:
        return errors(404, [f"Unable to load requested file {request.url.path}."])
    return errors(code, [str(getattr(error, "detail", error))])


def _failed(request: Request, error: Exception) -> Response:
    """Answer for an error in the service itself; its trace is in the server's log."""
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return errors(500, ["Internal server error."])

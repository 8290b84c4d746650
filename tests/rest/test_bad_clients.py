"""Clients that are slow, go away, or ask for the same thing at once, at a server with a real port."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any
from urllib.request import Request, urlopen

import pytest
import uvicorn

from firesteel.control.commands import read_command
from firesteel.rest import server as server_module
from firesteel.rest.dispatcher import new_job_id
from firesteel.rest.routes import GROUPS
from firesteel.rest.security import Security
from firesteel.rest.server import application
from firesteel.rest.standing import standing
from tests.rest.in_process import Server

AT_ONCE = 8


@pytest.fixture
def port(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a server with little patience."""
    monkeypatch.setattr(server_module, "SILENCE_SECONDS", 0.3)
    web = application(server.cluster, GROUPS, Security())
    serving = uvicorn.Server(uvicorn.Config(web, log_config=None, lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serving.run, args=([listener],))
        thread.start()
        yield listener.getsockname()[1]
        serving.should_exit = True
        thread.join()


def begun(port: int, path: str, head: str, sent: bytes = b"") -> socket.socket:
    """A connection with the beginning of a request."""
    client = socket.create_connection(("127.0.0.1", port), timeout=30)
    client.sendall(f"POST {path} HTTP/1.1\r\nHost: localhost:{port}\r\n{head}\r\n\r\n".encode() + sent)
    return client


def ask(port: int, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"http://127.0.0.1:{port}{path}", data), timeout=30) as answer:
        return json.load(answer)


FORM = "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000"
PART = b'--b\r\nContent-Disposition: form-data; name="jarfile"; filename="main.py"\r\n\r\nprint('


@pytest.mark.parametrize(
    ("path", "head", "sent"),
    [
        (f"/jobs/{'0' * 32}/stop", "Content-Length: 100", b"{"),
        (f"/jobs/{'0' * 32}/stop", "Transfer-Encoding: chunked", b"1\r\n{\r\n"),
        ("/programs", FORM, PART),
    ],
    ids=["body", "chunks", "upload"],
)
def test_a_client_that_falls_silent_is_refused_and_keeps_nobody_waiting(
    server: Server, port: int, path: str, head: str, sent: bytes
) -> None:
    silent = [begun(port, path, head, sent) for _ in range(AT_ONCE)]
    assert ask(port, "/overview")["slots-total"] == server.dispatcher.slots
    for client in silent:
        with closing(client), client.makefile("rb") as answer:
            assert answer.readline().split()[1] == b"408"
            assert b"its request is not complete" in answer.read()
    assert not list(server.cluster.programs.glob("*_main.py"))


def test_clients_that_go_away_in_the_middle_leave_nothing(server: Server, port: int) -> None:
    for _ in range(AT_ONCE):
        begun(port, "/programs", FORM, PART).close()
    assert ask(port, "/jars")["files"] == []


def test_a_length_that_is_no_number_is_refused(port: int) -> None:
    with closing(begun(port, "/programs", FORM.replace("1000", "many"))) as client:
        assert client.makefile("rb").readline().split()[1] == b"400"


def test_stops_at_the_same_time_are_one_if_they_say_so(server: Server, port: int) -> None:
    storage = standing(server.record).storage()

    def stop(trigger: str | None) -> str:
        path = f"/jobs/{server.record.id}/stop"
        answer: str = ask(port, path, {"triggerId": trigger, "drain": False})["request-id"]
        return answer

    def commands() -> list[str]:
        return storage.list("commands")

    same = new_job_id()
    with ThreadPoolExecutor(AT_ONCE) as threads:
        assert set(threads.map(stop, [same] * AT_ONCE)) == {same}
        assert len(commands()) == 1
        assert len(set(threads.map(stop, [None] * AT_ONCE))) == AT_ONCE
    kinds = [read_command(storage, path) for path in commands()]
    assert [command.kind for command in kinds if command is not None] == ["stop"] * (AT_ONCE + 1)
    assert ask(port, f"/jobs/{server.record.id}/savepoints/{same}")["status"] == {"id": "IN_PROGRESS"}

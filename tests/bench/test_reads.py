"""The readers of state that is measured, and the section made from figures."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from bench.reads import load
from bench.reads.load import Load
from bench.reads.part import PART
from bench.reads.report import BATCHED, INTERVALS, QUIET, SINGLE, render, title_of

ANSWER = b'{"epoch":7,"values":[]}'


@pytest.fixture
def server() -> Iterator[int]:
    """A server that gives every request the same answer."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as requests:
            while requests.readline():
                size = 0
                while (line := requests.readline()) != b"\r\n":
                    if line.startswith(b"Content-Length: "):
                        size = int(line.partition(b" ")[2])
                requests.read(size)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER))

    def accept() -> None:
        for _ in range(1 + load.CONNECTIONS):  # the first one reads before the clock starts
            threading.Thread(target=serve, args=[listener.accept()[0]], daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield listener.getsockname()[1]
    listener.close()


@pytest.mark.parametrize(("keys", "requests"), [(1, 200.0), (5, 100.0), (5, 0.0)])
def test_readers_read_by_the_clock_or_as_fast_as_they_can(server: int, keys: int, requests: float) -> None:
    figures = Load(("127.0.0.1", server, "a"), keys, requests, 0.5).run()
    assert figures["epochs"] == 1
    assert figures["p50_ms"] <= figures["p99_ms"]
    assert 0 < figures["sent_p99_ms"] <= figures["p99_ms"] + 1  # who sleeps may wake a little early
    if requests:
        assert figures["requests_per_s"] <= requests * 1.1
    assert figures["keys_per_s"] >= figures["requests_per_s"] * keys * 0.99


def test_the_section_has_a_row_for_each_kind_of_reads_and_distance_of_epochs() -> None:
    job = {"records_per_s": 50_000, "epoch_ms": 250.0}
    read = {"keys_per_s": 20_000, "p50_ms": 1.5, "p99_ms": 6.0, "sent_p99_ms": 4.0, "max_ms": 20.0} | job
    apart, at_once = INTERVALS
    rows = [
        title_of(QUIET, apart),
        title_of(SINGLE, apart),
        title_of(QUIET, at_once),
        title_of(BATCHED, at_once),
    ]
    lines = render({title: [read if "request" in title else job] for title in reversed(rows)})
    assert [line.split("|")[1].strip() for line in lines if line.startswith("|")][2:] == rows
    assert PART.name == "state-reads"

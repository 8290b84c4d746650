"""Readers by the clock: `python -m bench.reads.load HOST PORT JOB --keys 100 --requests 200` prints JSON.

So many requests a second are due at equal distances, whether or not earlier ones have been answered, and the time of
each counts from when it was due. Connections stay open. A request is written, and its answer read, without a library,
so that the readers take little of the machine.
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from statistics import quantiles
from typing import Any, Final

from bench.part import RunError
from bench.reads.job import KEYS

CONNECTIONS: Final = 4
_LATE_SECONDS: Final = 5.0
"""How long readers go on after the time is over, if the server answers fewer requests than are due."""

_RECEIVED: Final = 1 << 16
_END: Final = b"\r\n\r\n"
_LENGTH: Final = b"content-length: "


class Connection:
    """One connection to the server."""

    def __init__(self, host: str, port: int, job: str) -> None:
        self._socket = socket.create_connection((host, port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._path = f"/jobs/{job}/operators/counts/states/count/keys"
        self._host = f"Host: {host}:{port}\r\n"

    def read(self, keys: Sequence[int]) -> bytes:
        """Return the answer for some keys; a single one is asked for by its address."""
        if len(keys) == 1:
            self._socket.sendall(f"GET {self._path}/{keys[0]} HTTP/1.1\r\n{self._host}\r\n".encode())
        else:
            body = json.dumps({"keys": [*keys]})
            length = f"Content-Length: {len(body)}\r\n\r\n"
            self._socket.sendall(f"POST {self._path} HTTP/1.1\r\n{self._host}{length}{body}".encode())
        data = b""
        while _END not in data:
            data += self._more()
        head, _, answer = data.partition(_END)
        size = int(head.lower().partition(_LENGTH)[2].partition(b"\r\n")[0])
        while len(answer) < size:
            answer += self._more()
        if b" 200 " not in head:
            raise RunError(f"a read was refused: {answer.decode()}")
        return answer

    def _more(self) -> bytes:
        data = self._socket.recv(_RECEIVED)
        if not data:
            raise RunError("the server closed a connection")
        return data

    def close(self) -> None:
        """Close it."""
        self._socket.close()


class Load:
    """The readers; `epochs` are those of the answers.

    `taken` are the seconds from when each request was due to its answer, `answered` those from when it was sent; a
    reader that waits for a processor sends late.
    """

    def __init__(self, place: tuple[str, int, str], keys: int, requests: float, seconds: float) -> None:
        self._place = place
        self._keys = keys
        self._distance = CONNECTIONS / requests if requests else 0.0
        self._seconds = seconds
        self._start = 0.0
        self.taken: list[float] = []
        self.answered: list[float] = []
        self.epochs: set[int] = set()
        self._failed: list[Exception] = []
        self._turn = threading.Lock()

    def run(self) -> dict[str, Any]:
        """Read once, so that the server has its copy, and then until the time is over; return what it came to."""
        with closing(Connection(*self._place)) as connection:
            connection.read(range(self._keys))
        self._start = time.perf_counter() + 0.2
        threads = [threading.Thread(target=self._read, args=[number]) for number in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.perf_counter() - self._start
        if self._failed:
            raise self._failed[0]
        hundredths, sent = quantiles(self.taken, n=100), quantiles(self.answered, n=100)
        return {
            "keys_per_s": round(len(self.taken) * self._keys / took),
            "requests_per_s": round(len(self.taken) / took, 1),
            "p50_ms": round(hundredths[49] * 1000, 2),
            "p99_ms": round(hundredths[98] * 1000, 2),
            "sent_p99_ms": round(sent[98] * 1000, 2),
            "max_ms": round(max(self.taken) * 1000, 2),
            "epochs": len(self.epochs),
        }

    def _read(self, number: int) -> None:
        try:
            with closing(Connection(*self._place)) as connection:
                self._read_over(connection, number)
        except (RunError, OSError) as error:
            self._failed.append(error)

    def _read_over(self, connection: Connection, number: int) -> None:
        taken: list[float] = []
        answered: list[float] = []
        epochs: set[int] = set()
        due = self._start + number * self._distance / CONNECTIONS
        end = self._start + self._seconds
        while due < end and time.perf_counter() < end + _LATE_SECONDS:
            time.sleep(max(due - time.perf_counter(), 0))
            keys = random.sample(range(KEYS), self._keys)
            sent = time.perf_counter()
            answer = connection.read(keys)
            now = time.perf_counter()
            taken.append(now - (due if self._distance else sent))
            answered.append(now - sent)
            epochs.add(int(answer.partition(b'"epoch":')[2].partition(b",")[0]))
            due = due + self._distance if self._distance else time.perf_counter()
        with self._turn:
            self.taken += taken
            self.answered += answered
            self.epochs |= epochs


def main() -> None:
    """Read as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench.reads.load", description=__doc__)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("job")
    parser.add_argument("--keys", type=int, default=1, help="keys of a request")
    parser.add_argument(
        "--requests", type=float, default=0.0, help="requests a second; 0: as many as there can be"
    )
    parser.add_argument("--seconds", type=float, default=20.0)
    given = parser.parse_args()
    load = Load((given.host, given.port, given.job), given.keys, given.requests, given.seconds)
    print(json.dumps(load.run()), flush=True)


if __name__ == "__main__":
    main()

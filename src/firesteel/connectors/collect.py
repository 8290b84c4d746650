"""A sink that hands records to the program that started the job, while it runs."""

from __future__ import annotations

import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, Protocol

from firesteel.common import pickles
from firesteel.common.errors import ConnectorError
from firesteel.common.signals import holding_signals, patiently
from firesteel.common.typeinfo.collected import collected_floats
from firesteel.functions.sink import Committer, Sink, SinkWriter, WriterContext

if TYPE_CHECKING:
    from firesteel.common.typeinfo import TypeInformation

Receiver = Callable[[list[Any]], None]

_CHUNK = 4096

CAPACITY: Final = 100_000
"""How many values may be unread before a job waits for its reader."""

_receivers: dict[str, Receiver] = {}


def register_receiver(token: str, receive: Receiver) -> None:
    """Pass the values of every `CollectSink(token)` to `receive`, a list at a time, in this process, the driver."""
    _receivers[token] = receive


def unregister_receiver(token: str) -> None:
    """Undo `register_receiver`."""
    _receivers.pop(token, None)


class CollectedValues(NamedTuple):
    """Values of one subtask and epoch: a pickled list. `writer` and `number` identify it."""

    writer: str
    number: int
    values: bytes

    def loaded(self) -> list[Any]:
        """Return the values."""
        return list(pickle.loads(self.values))


class Collected(Protocol):
    """What one subtask hands over in one epoch, or a part of it; `writer` and `number` identify it."""

    @property
    def writer(self) -> str:
        """The subtask and the try of the epoch."""

    @property
    def number(self) -> int:
        """The number of the part."""

    def loaded(self) -> list[Any]:
        """Return the values."""


class CollectSink(Sink[Any]):
    """Hands records to the receiver registered under `token` once their epoch has committed.

    Values arrive exactly once in the life of the receiver; the order within a subtask is kept. A commit raises
    ConnectorError if no receiver is registered under the token.

    >>> received = []
    >>> register_receiver("demo", received.extend)
    >>> CollectSink("demo").create_committer().commit([CollectedValues("writer", 0, pickle.dumps([1, 2]))])
    >>> unregister_receiver("demo")
    >>> received
    [1, 2]
    """

    def __init__(self, token: str, type_info: TypeInformation | None = None) -> None:
        self.token = token
        self._type_info = type_info

    def for_type(self, type_info: TypeInformation | None) -> Sink[Any]:
        """Return this sink with the type of its records."""
        return CollectSink(self.token, type_info)

    def create_writer(self, context: WriterContext) -> SinkWriter[Any]:
        convert = None if self._type_info is None else collected_floats(self._type_info.schema())
        return _Writer(f"{context.operator_id}/{context.subtask}/{context.attempt}", convert)

    def create_committer(self) -> Committer:
        return CollectCommitter(self.token)


class _Writer(SinkWriter[Any]):
    def __init__(self, name: str, convert: Callable[[Any], Any] | None) -> None:
        self._name = name
        self._convert = convert
        self._pending: list[Any] = []
        self._chunks: list[bytes] = []

    def write(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        self._pending.extend(values if self._convert is None else map(self._convert, values))
        if len(self._pending) >= _CHUNK:
            self._cut()

    def _cut(self) -> None:
        if self._pending:
            self._chunks.append(pickles.dumps(self._pending))
        self._pending = []

    def prepare_commit(self) -> Sequence[CollectedValues]:
        self._cut()
        return [CollectedValues(self._name, number, values) for number, values in enumerate(self._chunks)]


class CollectCommitter(Committer):
    """Hands values over; a commit that is repeated in the same process hands over nothing."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._handed: set[tuple[str, int]] = set()

    def commit(self, committables: Sequence[Collected]) -> None:
        if not committables:
            return
        receive = _receivers.get(self._token)
        if receive is None:
            raise ConnectorError(
                "requires a program that waits for the results",
                who="CollectSink",
                got="no receiver in this process",
                hint="iterate over execute_and_collect() in the process that runs the job",
            )
        for chunk in committables:
            if (chunk.writer, chunk.number) not in self._handed:
                receive(chunk.loaded())
                self._handed.add((chunk.writer, chunk.number))
        self._handed = {(chunk.writer, chunk.number) for chunk in committables}


class CollectBuffer:
    """The results of a running job, iterated by one thread while the driver's thread fills it.

    Contract: `receive` never waits. The job asks before each epoch whether the buffer is `full`, and runs none while
    it is (Flink's collect sink, too, holds its job back); `on_room` is called, on the reading thread, when it no longer
    is. It is full while more than `capacity` values are unread, and more than the last epoch gave: so an epoch runs
    while the results of the one before are read, and at most `capacity` or one epoch's results are held when it begins.
    Iteration ends after `finish()`, and raises the error that `finish(error)` was given once the values before it are
    read. `size_of` says how much a value counts, if it is more than one.

    >>> buffer = CollectBuffer()
    >>> buffer.receive([1, 2])
    >>> buffer.finish()
    >>> list(buffer)
    [1, 2]
    """

    def __init__(self, capacity: int = CAPACITY, size_of: Callable[[Any], int] = lambda _: 1) -> None:
        self.on_room: Callable[[], None] | None = None
        self._capacity = capacity
        self._size_of = size_of
        self._received = self._read = 0
        self._values: deque[Any] = deque()
        self._changed = threading.Condition()
        self._newest = self._last = 0
        self._held_back = False
        self._ended = False
        self._error: BaseException | None = None

    def receive(self, values: list[Any]) -> None:
        """Take values from the driver; after `close` they are dropped."""
        with self._changed:
            if not self._ended:
                size = sum(map(self._size_of, values))
                self._newest += size
                self._received += size
                self._values.extend(values)
                self._changed.notify_all()

    @property
    def full(self) -> bool:
        """Whether the job must wait for its reader; asked between two epochs."""
        with self._changed:
            if self._newest:
                self._last, self._newest = self._newest, 0
            # In this order, because the reader takes no lock: it counts what it has read, then asks this.
            self._held_back = True
            self._held_back = self._received - self._read > self._limit
            return self._held_back

    @property
    def _limit(self) -> int:
        return max(self._capacity, self._last)

    def finish(self, error: BaseException | None = None) -> None:
        """Say that no more values come, because the job ended, or because of an error."""
        with self._changed:
            self._ended = True
            self._error = error
            self._changed.notify_all()

    def close(self) -> None:
        """Drop what is held and what is still to come."""
        with holding_signals(), self._changed:
            self._ended = True
            self._values.clear()
            self._read = self._received
            self._make_room()
            self._changed.notify_all()

    def _make_room(self) -> None:
        self._held_back = False
        if self.on_room is not None:
            self.on_room()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        while not self._values:
            patiently(self._await)
            if self._ended and not self._values:
                self._end()
        value = self._values.popleft()
        self._read += self._size_of(value)
        if self._held_back and self._received - self._read <= self._limit:
            with holding_signals():
                self._make_room()
        return value

    def _await(self, seconds: float | None) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._values) or self._ended, seconds)

    def _end(self) -> NoReturn:
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        raise StopIteration

from __future__ import annotations

import pickle
import threading

import pytest

from firesteel.common.errors import ConnectorError
from firesteel.connectors.collect import (
    CollectBuffer,
    CollectSink,
    register_receiver,
    unregister_receiver,
)
from firesteel.connectors.discard import DiscardingSink
from firesteel.connectors.print_sink import PrintSink
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import Sink, WriterContext


def context(subtask: int = 0, parallelism: int = 1, epoch: int = 1, attempt: str = "a") -> WriterContext:
    return WriterContext("job", "sink", subtask, parallelism, EpochFacts(epoch, attempt, 0))


def committables(sink: Sink, values: list, **where) -> list:
    writer = sink.create_writer(context(**where))
    writer.write(values, None)
    return pickle.loads(pickle.dumps(list(writer.prepare_commit())))


@pytest.mark.parametrize(
    ("identifier", "subtask", "parallelism", "prefix"),
    [("", 0, 1, ""), ("", 1, 2, "2> "), ("name", 0, 1, "name> "), ("name", 2, 3, "name:3> ")],
)
def test_prefix(identifier: str, subtask: int, parallelism: int, prefix: str, capsys) -> None:
    sink = PrintSink(identifier)
    lines = committables(sink, ["a", 1, None], subtask=subtask, parallelism=parallelism)
    assert capsys.readouterr().out == ""
    sink.create_committer().commit(lines)
    assert capsys.readouterr().out == f"{prefix}a\n{prefix}1\n{prefix}None\n"


def test_print_to_stderr(capsys) -> None:
    sink = PrintSink(to_stderr=True)
    sink.create_committer().commit(committables(sink, ["a"]))
    assert capsys.readouterr() == ("", "a\n")


def test_a_repeated_commit_prints_nothing_and_the_next_epoch_does(capsys) -> None:
    sink = PrintSink()
    committer = sink.create_committer()
    first = committables(sink, ["a"])
    committer.commit(first)
    committer.commit(first)
    committer.commit([])
    committer.commit(first)
    committer.commit(committables(sink, ["a"], epoch=2, attempt="b"))
    assert capsys.readouterr().out == "a\na\n"


def test_big_outputs_come_in_chunks() -> None:
    assert len(committables(PrintSink(), ["x" * 40_000] * 5)) == 1
    sink = PrintSink()
    writer = sink.create_writer(context())
    for _ in range(5):
        writer.write(["x" * 40_000], None)
    assert [len(lines.text) for lines in writer.prepare_commit()] == [80_002, 80_002, 40_001]


def test_collect_hands_over_once() -> None:
    received: list = []
    register_receiver("t", received.extend)
    sink = CollectSink("t")
    committer = sink.create_committer()
    epoch = [*committables(sink, [1, "a"]), *committables(sink, [(2, None)], subtask=1)]
    committer.commit(epoch)
    committer.commit(epoch)
    unregister_receiver("t")
    assert received == [1, "a", (2, None)]


def test_a_commit_that_failed_half_way_hands_over_the_rest() -> None:
    received: list = []

    def receive(values: list) -> None:
        if values == ["fails once"] and not failures:
            failures.append(values)
            raise ConnectorError("requires more room")
        received.extend(values)

    failures: list = []
    register_receiver("t", receive)
    sink = CollectSink("t")
    committer = sink.create_committer()
    epoch = [*committables(sink, ["first"]), *committables(sink, ["fails once"], subtask=1)]
    with pytest.raises(ConnectorError):
        committer.commit(epoch)
    committer.commit(epoch)
    unregister_receiver("t")
    assert received == ["first", "fails once"]


def test_collect_without_a_receiver() -> None:
    sink = CollectSink("nobody")
    sink.create_committer().commit([])
    with pytest.raises(ConnectorError, match="CollectSink requires a program that waits for the results"):
        sink.create_committer().commit(committables(sink, [1]))


def test_buffer_is_iterated_while_it_is_filled() -> None:
    buffer = CollectBuffer(capacity=3)
    source = threading.Thread(
        target=lambda: ([buffer.receive([n, n]) for n in range(100)], buffer.finish()), daemon=True
    )
    source.start()
    assert list(buffer) == [n for n in range(100) for _ in range(2)]
    source.join()


def test_buffer_raises_the_jobs_error_after_its_results() -> None:
    buffer = CollectBuffer()
    buffer.receive([1])
    buffer.finish(ConnectorError("it broke"))
    assert next(buffer) == 1
    with pytest.raises(ConnectorError, match="it broke"):
        next(buffer)
    assert list(buffer) == []


def test_a_buffer_is_full_while_more_than_its_capacity_is_unread() -> None:
    buffer, woken = CollectBuffer(capacity=3), []
    buffer.on_room = lambda: woken.append(len(buffer._values))
    assert not buffer.full
    for epoch in ([1, 2], [3, 4]):
        buffer.receive(epoch)
    assert not buffer.full  # both came since the last question: for all it knows they are one epoch's
    buffer.receive([5])
    assert buffer.full
    assert [next(buffer), next(buffer)] == [1, 2]
    assert woken == [3]
    assert not buffer.full
    assert next(buffer) == 3
    assert woken == [3]


def test_the_results_of_one_epoch_may_be_unread_whatever_the_capacity() -> None:
    buffer = CollectBuffer(capacity=3)
    buffer.receive(list(range(100)))
    assert not buffer.full
    buffer.receive(list(range(50)))
    assert buffer.full


def test_a_closed_buffer_holds_nobody_back() -> None:
    buffer, woken = CollectBuffer(capacity=1), []
    buffer.on_room = lambda: woken.append(True)
    buffer.receive([1])
    assert not buffer.full
    buffer.receive([2])
    assert buffer.full
    buffer.close()
    assert woken == [True]
    assert not buffer.full
    buffer.receive([3])
    assert not buffer.full
    assert list(buffer) == []


def test_discarding() -> None:
    assert committables(DiscardingSink(), [1, 2]) == []

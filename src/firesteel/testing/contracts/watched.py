"""A sink that takes a step of a job around all that another sink does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from firesteel.functions.forwarding import ForwardingWriter
from firesteel.functions.sink import (
    CarryOut,
    Committer,
    Leftovers,
    OutputStore,
    Sink,
    SinkWriter,
    StreamTransformer,
    SupportsPreprocessing,
    WriterContext,
)

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from firesteel.common.typeinfo import TypeInformation


class Around(Protocol):
    """What is told of each thing that is done."""

    def around(self, what: str) -> AbstractContextManager[None]:
        """Return a context for what is done."""


class WatchedSink(Sink[Any], SupportsPreprocessing):
    """Does what another sink does, within contexts of `steps`; picklable if both are."""

    def __init__(self, sink: Sink[Any], steps: Around) -> None:
        self._sink = sink
        self._steps = steps
        self.guarantee = sink.guarantee

    @property
    def holds_output_back(self) -> bool:
        """Whether the other sink does."""
        return self._sink.holds_output_back

    def for_type(self, type_info: TypeInformation | None) -> Sink[Any]:
        return WatchedSink(self._sink.for_type(type_info), self._steps)

    def get_transformer(self) -> StreamTransformer | None:
        sink = self._sink
        return sink.get_transformer() if isinstance(sink, SupportsPreprocessing) else None

    def create_writer(self, context: WriterContext) -> SinkWriter[Any]:
        with self._steps.around("opening a writer"):
            return _Writer(self._sink.create_writer(context), self._steps)

    def create_committer(self) -> Committer:
        return _Committer(self._sink.create_committer(), self._steps)


class _Writer(ForwardingWriter[SinkWriter[Any]]):
    def __init__(self, writer: SinkWriter[Any], steps: Around) -> None:
        super().__init__(writer)
        self._steps = steps

    def write(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        with self._steps.around("writing records"):
            self._writer.write(values, timestamps)

    def prepare_commit(self) -> Sequence[Any]:
        with self._steps.around("preparing the commit"):
            return super().prepare_commit()


class _Committer(Committer):
    def __init__(self, committer: Committer, steps: Around) -> None:
        self._committer = committer
        self._steps = steps
        self.beside = committer.beside

    def attach(self, outputs: OutputStore) -> None:
        self._committer.attach(outputs)

    def use_workers(self, carry_out: CarryOut) -> None:
        def watched(calls: Sequence[Callable[[], None]]) -> None:
            with self._steps.around("what workers do for the commit"):
                carry_out(calls)

        self._committer.use_workers(watched)

    def commit(self, committables: Sequence[Any]) -> None:
        with self._steps.around("the commit"):
            self._committer.commit(committables)

    def discard(self, leftovers: Leftovers) -> None:
        with self._steps.around("removing leftovers"):
            self._committer.discard(leftovers)

    def close(self) -> None:
        self._committer.close()

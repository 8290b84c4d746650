"""What the tests of the API need to look at a program's graph."""

from __future__ import annotations

from dataclasses import dataclass, field

from firesteel.compiler import compile_graph
from firesteel.compiler.describe import describe
from firesteel.compiler.plan_formats import operator_lines
from firesteel.control import JobSettings
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.graph import Graph


def environment(parallelism: int = 2) -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment().set_parallelism(parallelism)


def explained(env: StreamExecutionEnvironment) -> list[str]:
    """The operators as they would run, as text, without the places in this file."""
    settings = JobSettings(parallelism=env.get_parallelism())
    lines = operator_lines(describe(compile_graph(env._builder.build(), settings)))
    return [line if line.startswith(" ") else line.rpartition(" ")[0] for line in lines]


@dataclass
class Result:
    job_id: str = "0a"
    runtime_ms: int = 12


@dataclass
class Handle:
    """Stands for a job that has run."""

    values: list[object] = field(default_factory=list)
    running: bool = True
    cancelled: bool = False
    job_id: str = "0a"

    def wait(self) -> Result:
        self.running = False
        return Result()

    def done(self) -> bool:
        return not self.running

    def cancel(self) -> None:
        self.cancelled = True

    def results(self, node: int):
        self.node = node
        return iter(self.values)


class Launcher:
    """Keeps what it is asked to launch."""

    def __init__(self, *values: object) -> None:
        self.handle = Handle(list(values))
        self.jobs: list[tuple[Graph, JobSettings]] = []

    def __call__(self, graph: Graph, settings: JobSettings) -> Handle:
        self.jobs.append((graph, settings))
        return self.handle

    @property
    def settings(self) -> JobSettings:
        return self.jobs[-1][1]

    @property
    def graph(self) -> Graph:
        return self.jobs[-1][0]

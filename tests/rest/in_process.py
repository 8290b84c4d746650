"""A server without a port, and a job that it knows, which ran in this process."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from firesteel.common.configuration import Configuration
from firesteel.common.typeinfo import Types
from firesteel.control.commands import DriverStatus, now_ms, read_status, write_status
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.rest.calls import Call, Cluster
from firesteel.rest.dispatcher import Dispatcher, new_job_id
from firesteel.rest.processes import Processes
from firesteel.rest.records import DriverProcess, JobRecord, Outcome, Submission
from firesteel.rest.routes import GROUPS
from firesteel.rest.standing import standing
from firesteel.runtime.processes import Collector, JvmView, ProcessView
from firesteel.testing import executing

NUMBERS = 40
PROCESS = ProcessView(
    50_000_000,
    JvmView(
        {
            **{f"{part}{what}": 7 for part in ("heap", "nonHeap") for what in ("Used", "Committed")},
            "heapMax": 9,
            "nonHeapMax": -1,
            "metaspaceMax": -1,
        },
        (Collector("G1_Young_Generation", 3, 12), Collector("G1_Old_Generation", 1, 30)),
    ),
)
"""What the driver of each job says of its process."""


class Server:
    """Two jobs at parallelism 2: one that has counted, and still runs for all that its driver says, and one that has
    failed after a restart.
    """

    def __init__(self, directory: Path) -> None:
        program = directory / "program"
        program.mkdir()
        self.dispatcher = Dispatcher(directory, 4)
        processes = Processes(lambda _: PROCESS)
        self.cluster = Cluster(self.dispatcher, program, "", 0, {"rest.port": "8081"}, processes=processes)
        self.failed = self._submitted(program, 1_000)
        self.failures = _run(self.failed, _always_failing, attempts=1)
        self.failed.write("outcome", Outcome("FAILED", 2_000, self.failures))
        self.record = self._submitted(program, 2_000)
        assert not _run(self.record, _counting)
        self.say(status="RUNNING", heartbeat_at=now_ms() + 3_600_000)
        self.vertices = {vertex.name: vertex.id for vertex in standing(self.record).vertices}

    def _submitted(self, program: Path, at: int) -> JobRecord:
        submission = Submission(new_job_id(), "main.py", at, slots=2)
        record = self.dispatcher.submit(submission, program)
        record.write("driver", DriverProcess(os.getpid(), 0, 1))
        record.log.write_text("started\n")
        return record

    def answer(self, address: str, method: str = "GET", job: JobRecord | None = None) -> Any:
        """What the first route for this address answers; JOB in it is the path of a job."""
        record = self.record if job is None else job
        path, _, query = address.replace("JOB", f"/jobs/{record.id}").partition("?")
        for route in (route for group in GROUPS for route in group):
            parts = re.fullmatch(re.sub(r":(\w+)", r"(?P<\1>[^/]+)", route.path), path)
            if parts is not None and route.method == method:
                return route.answer(Call(self.cluster, parts.groupdict(), dict(parse_qsl(query))))
        raise AssertionError(path)

    def get(self, address: str, job: JobRecord | None = None) -> Any:
        return json.loads(msgspec.json.encode(self.answer(address, job=job)))

    def vertex(self, part: str) -> str:
        return "JOB/vertices/" + next(id_ for name, id_ in self.vertices.items() if part in name)

    def say(self, **changes: Any) -> None:
        """Change what the driver of the first job has said last."""
        storage = standing(self.record).storage()
        said = read_status(storage)
        assert said is not None
        write_status(storage, msgspec.structs.replace(said, **changes))

    def said(self) -> DriverStatus:
        said = read_status(standing(self.record).storage())
        assert said is not None
        return said


def _run(record: JobRecord, program: Any, attempts: int = 0) -> str:
    """Run a job to its end; return the error if it fails."""
    options = {
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": str(attempts),
        "restart-strategy.fixed-delay.delay": "1 ms",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options))
    program(env)
    try:
        with executing(epoch_records=10, parallelism=2, state_dir=record.state, job_id=record.id):
            env.execute("measured")
    except Exception as error:
        return str(error)
    return ""


def _counting(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection(list(range(NUMBERS)), Types.INT()).name("numbers").rebalance()
    same = numbers.map(lambda value: value, Types.INT()).name("same")
    counts = (
        same.key_by(lambda value: value % 4).reduce(lambda one, other: one + other).name("sum").uid("sums")
    )
    counts.print().name("out")


def _always_failing(env: StreamExecutionEnvironment) -> None:
    numbers = env.from_collection([1], Types.INT())
    numbers.map(lambda value: value // 0, Types.INT()).name("divide").print()

"""From a graph to a running job."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from firesteel.checkpoint.integrity import advised_error
from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.objects import NotFound, Storage
from firesteel.common.errors import ConfigurationError, EngineError, StateCorruptedError
from firesteel.common.job_status import JobStatus
from firesteel.common.log_context import LogContext, logging_for
from firesteel.compiler import Compiled, compile_graph
from firesteel.connectors.collect import CollectBuffer, CollectSink, register_receiver, unregister_receiver
from firesteel.connectors.tables.collect import CollectTableSink
from firesteel.control.adopting import adopted
from firesteel.control.clock import Clock, SystemClock
from firesteel.control.executor import Executor
from firesteel.control.flame_sampling import FlameSampling
from firesteel.control.handle import JobHandle, JobResult
from firesteel.control.inbox import Inbox
from firesteel.control.journal import Journal
from firesteel.control.kept_parallelism import kept_parallelism
from firesteel.control.loop import EpochLoop
from firesteel.control.machine import Job
from firesteel.control.maintenance import Maintenance
from firesteel.control.own_process import look_at_process
from firesteel.control.program import Program
from firesteel.control.provenance import program_version
from firesteel.control.reporting.reporting import start_reporting
from firesteel.control.restoring import open_history, starting_manifest
from firesteel.control.running import follow
from firesteel.control.settings import JobSettings
from firesteel.control.views.plans import JobPlan, write_plan
from firesteel.control.vitals import Vitals
from firesteel.functions.sink import Sink
from firesteel.graph import Graph
from firesteel.runtime.plan import Plan
from firesteel.state.disk.root import discard_working_copies

ExecutorFactory = Callable[[str, str, JobSettings], Executor]
"""(job id, state directory URL, settings) -> the job's executor."""


def spark_executor(job_id: str, state_url: str, settings: JobSettings) -> Executor:
    """Run jobs on Spark: the default of `launch`."""
    # Importing pyspark takes a second, so it waits until a job starts.
    from firesteel.spark.executor import SparkExecutor

    spark = {name: value for name, value in settings.configuration.items() if name.startswith("spark.")}
    return SparkExecutor(
        job_id,
        state_url,
        settings.master,
        settings.parallelism,
        spark,
        settings.python,
        settings.worker_setup,
        LogContext(job_id, settings.job_name, form=settings.log_form),
    )


@dataclass(frozen=True)
class Surroundings:
    """The executor and the clock of a job."""

    executor: ExecutorFactory = spark_executor
    clock: Clock = field(default_factory=SystemClock)


def launch(graph: Graph, settings: JobSettings, surroundings: Surroundings) -> JobHandle:
    """Compile `graph`, start its job and return at once.

    Raises ProgramError for errors in the program, StateError if the state directory belongs to another program or is
    damaged, EngineError if Spark cannot be started.
    """
    storage = _existing_storage(settings)
    if storage is not None:
        settings = replace(settings, parallelism=kept_parallelism(storage, settings.parallelism))
    if graph.identities:
        graph = adopted(graph, starting_manifest(storage, settings.restore_from))
    compiled = compile_graph(graph, settings)
    program = _program(graph, settings, compiled)
    with ExitStack() as opened:
        buffers = _receive_results(compiled.sinks, opened)
        storage = storage or Storage.of(settings.state_dir or _temporary_directory(settings, opened))
        journal = _journal(storage, program.plan, settings)
        opened.callback(_discard_working_copies, journal, settings)
        opened.callback(journal.close)
        # Workers may have another working directory: they get the path in full.
        executor = surroundings.executor(journal.job_id, storage.url, settings)
        opened.callback(executor.close)
        maintenance = Maintenance(storage, executor, settings.maintenance, settings.savepoint_dir)
        samples = FlameSampling(storage)
        opened.callback(samples.close)
        loop = EpochLoop(
            program,
            executor,
            journal,
            maintenance,
            settings,
            surroundings.clock,
            samples,
            held_back=lambda: any(buffer.full for buffer in buffers.values()),
        )
        for buffer in buffers.values():
            buffer.on_room = loop.wake
        resources = opened.pop_all()
    vitals = Vitals(loop)
    logged = LogContext(journal.job_id, settings.job_name, form=settings.log_form)
    with logging_for(logged):
        if settings.state_dir is not None:
            write_plan(storage, JobPlan.of(compiled, settings, journal.job_id))
            look = partial(look_at_process, executor=executor)
            inbox = Inbox(storage, journal.job_id, settings.job_name, loop, vitals, look)
            inbox.start()
            resources.callback(inbox.close)
        if settings.reporters:
            resources.callback(
                start_reporting(settings.reporters, journal.job_id, settings.job_name, loop.metrics)
            )
    resources.callback(maintenance.close)

    def body() -> JobResult:
        started = time.monotonic()
        with logging_for(logged), resources:
            job = loop.run()
            vitals.failure = _failure(job, storage)
        if vitals.failure is not None:
            raise vitals.failure
        took = int((time.monotonic() - started) * 1000)
        return JobResult(journal.job_id, job.status, took, journal.epoch)

    by_node = {compiled.graph.nodes[index].id: buffer for index, buffer in buffers.items()}
    handle = JobHandle(journal.job_id, loop, vitals, body, by_node)
    follow(handle)
    handle.start()
    return handle


def _program(graph: Graph, settings: JobSettings, compiled: Compiled) -> Program:
    def at(parallelism: int) -> Program:
        changed = replace(settings, parallelism=parallelism)
        return _program(graph, changed, compile_graph(graph, changed))

    return Program(compiled.plan, compiled.sources, compiled.sinks, settings.parallelism, at)


def _journal(storage: Storage, plan: Plan, settings: JobSettings) -> Journal:
    allow = settings.allow_non_restored_state
    if settings.job_id is not None:
        ManifestLog.open_or_create(storage, plan.max_parallelism, job_id=settings.job_id)
    log = open_history(storage, plan, settings.restore_from, allow_non_restored_state=allow)
    name, fingerprint = program_version()
    return Journal(
        log,
        storage,
        plan,
        program=name,
        fingerprint=fingerprint,
        retained=settings.retained,
        read_by_others=settings.read_by_others,
        allow_non_restored_state=allow,
    )


def _failure(job: Job, storage: Storage) -> Exception | None:
    """Return the text of a job's error; for damaged state also the epochs that are left to start from."""
    if job.status is not JobStatus.FAILED:
        return None
    if isinstance(job.error, StateCorruptedError):
        return advised_error(job.error, storage)
    return job.error or EngineError("the job failed without saying why")


def _existing_storage(settings: JobSettings) -> Storage | None:
    """Open the state directory if it exists: an error in the program must not leave a new one behind."""
    try:
        return None if settings.state_dir is None else Storage.existing(settings.state_dir)
    except NotFound:
        return None


def _receive_results(sinks: dict[int, Sink[Any]], opened: ExitStack) -> dict[int, CollectBuffer]:
    """Direct what collect sinks publish into buffers, one for each sink."""
    buffers = {}
    for index, sink in sinks.items():
        if isinstance(sink, CollectSink | CollectTableSink):
            buffers[index] = CollectBuffer()
            register_receiver(sink.token, buffers[index].receive)
            opened.callback(unregister_receiver, sink.token)
    return buffers


def _discard_working_copies(journal: Journal, settings: JobSettings) -> None:
    """Discard the working copies of a job that cannot resume; one that can finds them again."""
    if journal.finished or settings.state_dir is None:
        discard_working_copies(journal.lineage)


def _temporary_directory(settings: JobSettings, opened: ExitStack) -> str:
    if settings.restore_from is not None:
        raise ConfigurationError(
            "requires a state directory for the job",
            who=f"--from {settings.restore_from}",
            got="none",
            hint="give one with --state-dir",
        )
    if settings.master is not None and not settings.master.startswith("local"):
        raise ConfigurationError(
            "requires a state directory that every worker can reach",
            who=f"the master {settings.master}",
            got="no state directory",
            hint="give one with --state-dir, e.g. s3://bucket/jobs/my-job",
        )
    directory = tempfile.mkdtemp(prefix="firesteel-")
    opened.callback(shutil.rmtree, directory, ignore_errors=True)
    return directory

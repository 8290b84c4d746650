"""From a program's environment to a running job: the only module that launches jobs."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, cast

from firesteel.common.configuration import Configuration
from firesteel.common.errors import FiresteelError, ProgramError
from firesteel.common.job_client import JobClient
from firesteel.common.job_execution_result import JobExecutionResult
from firesteel.common.job_id import JobID
from firesteel.common.quantities import duration_ms, size_bytes
from firesteel.compiler import compile_graph
from firesteel.compiler.describe import describe
from firesteel.compiler.plan_formats import as_execution_plan
from firesteel.compiler.settings import RuntimeMode
from firesteel.connectors.collect import CollectSink
from firesteel.control import JobHandle, JobSettings, Surroundings, launch
from firesteel.datastream.ambient import Ambient, current_ambient
from firesteel.datastream.options import (
    EPOCH_DURATION,
    EPOCH_MAX_BYTES,
    EPOCH_MAX_RECORDS,
    EPOCH_MIN_INTERVAL,
    JOB_NAME,
    MASTER,
    RESTORE_KEYS,
    RETAINED_KEYS,
    STATE_DIR_KEYS,
    STATE_MEMORY,
    UNCLAIMED_KEYS,
    apply_options,
    asked_log_form,
    first_present,
    maintenance_policy,
    metric_reporters,
    positive_number,
    restart_policy,
    truth,
)
from firesteel.datastream.streams.node_settings import call_site
from firesteel.datastream.streams.results import CloseableIterator
from firesteel.graph import Graph

if TYPE_CHECKING:
    from firesteel.datastream.stream_execution_environment import StreamExecutionEnvironment
    from firesteel.datastream.streams.plain import DataStream

DEFAULT_JOB_NAME: Final = "Flink Streaming Job"
DEFAULT_MAX_PARALLELISM: Final = 128


def execute(env: StreamExecutionEnvironment, job_name: str | None) -> JobExecutionResult:
    """Run the program and wait for its end."""
    result = _launch(env, job_name).wait()
    return JobExecutionResult(JobID(result.job_id), result.runtime_ms)


def execute_async(env: StreamExecutionEnvironment, job_name: str | None) -> JobClient:
    """Start the program."""
    return JobClient(_launch(env, job_name))


def start(env: StreamExecutionEnvironment, sinks: Sequence[int], job_name: str | None) -> JobHandle:
    """Start the job of these nodes and everything upstream; other operations of the program wait for their own."""
    return _launched(*_program(env, job_name, sinks))


def execution_plan(env: StreamExecutionEnvironment, sinks: Sequence[int] | None = None) -> str:
    """Return the program that `execute` would run now, or `start` of these nodes, as Flink's execution plan."""
    graph, settings = _program(env, None, sinks)
    return as_execution_plan(describe(compile_graph(graph, settings)))


def collect(stream: DataStream, job_name: str | None, limit: int | None) -> CloseableIterator | list[Any]:
    """Run the program with a sink that returns the records of `stream`.

    The records of each subtask keep their order. Flink's collecting sink has one subtask. So does this one if the
    stream has one; if the stream has more, the sink is chained to each of them, because their records arrive in any
    order anyway.
    """
    if limit is not None and (not isinstance(limit, int) or limit < 1):
        raise ProgramError(
            "requires a limit of at least 1", who=call_site("execute_and_collect"), got=repr(limit)
        )
    name = "Data stream collect sink"
    sink = stream._add_sink(CollectSink(uuid.uuid4().hex), name, parallelism=stream._own_parallelism())
    handle = _launch(stream.get_execution_environment(), job_name)
    values, close = handle.results(sink._node), _closer(handle)
    if limit is None:
        return CloseableIterator(values, close)
    try:
        return list(islice(values, limit))
    finally:
        close()


def _closer(handle: JobHandle) -> Callable[[], None]:
    def close() -> None:
        if not handle.done():
            handle.cancel()
            with suppress(FiresteelError):  # a program that closes early does not need the outcome
                handle.wait()

    return close


def _launch(env: StreamExecutionEnvironment, job_name: str | None) -> JobHandle:
    program = _program(env, job_name)
    env._builder.clear()
    return _launched(*program)


def _launched(graph: Graph, settings: JobSettings) -> JobHandle:
    ambient = current_ambient()
    if ambient.launcher is not None:
        return ambient.launcher(graph, settings)
    defaults = Surroundings()
    return launch(
        graph, settings, Surroundings(ambient.executor or defaults.executor, ambient.clock or defaults.clock)
    )


def _program(
    env: StreamExecutionEnvironment, job_name: str | None, roots: Sequence[int] | None = None
) -> tuple[Graph, JobSettings]:
    ambient = current_ambient()
    apply_options(env, ambient.configuration)
    graph = env._builder.build(roots)
    settings = job_settings(env, graph, job_name, ambient)
    return graph, settings if ambient.adapt is None else ambient.adapt(settings)


def job_settings(
    env: StreamExecutionEnvironment, graph: Graph, job_name: str | None, ambient: Ambient
) -> JobSettings:
    """Return the combined settings of program, shell and command line (see `firesteel.datastream.ambient`)."""
    options = {**env._configuration.to_dict(), **ambient.configuration}
    parallelism = env.get_parallelism()
    widest = max([parallelism, *(node.parallelism or 1 for node in graph.nodes)])
    defaults = JobSettings()
    return JobSettings(
        job_name=job_name or options.get(JOB_NAME, DEFAULT_JOB_NAME),
        parallelism=parallelism,
        max_parallelism=_max_parallelism(env.get_max_parallelism(), widest),
        runtime_mode=cast(RuntimeMode, env._runtime_mode.name),
        chaining=env.is_chaining_enabled(),
        state_dir=ambient.state_dir or first_present(options, STATE_DIR_KEYS),
        master=ambient.master or options.get(MASTER),
        epoch_ms=_epoch_ms(env, options, defaults.epoch_ms),
        epoch_interval_ms=duration_ms(EPOCH_MIN_INTERVAL, options.get(EPOCH_MIN_INTERVAL, "0 ms")),
        max_epoch_records=Configuration.from_dict(options).get_integer(
            EPOCH_MAX_RECORDS, defaults.max_epoch_records
        ),
        max_epoch_bytes=_bytes(options, EPOCH_MAX_BYTES) or defaults.max_epoch_bytes,
        state_memory=_bytes(options, STATE_MEMORY),
        configuration={key: value for key, value in options.items() if key.startswith("spark.")},
        job_parameters=dict(env.get_config().get_global_job_parameters()),
        python=env._python,
        worker_setup=ambient.worker_setup,
        watermark_interval=env.get_config().get_auto_watermark_interval(),
        latency_interval=env.get_config().get_latency_tracking_interval(),
        reporters=metric_reporters(options),
        log_form=asked_log_form(options),
        restart=restart_policy(options),
        restore_from=ambient.restore_from or first_present(options, RESTORE_KEYS),
        allow_non_restored_state=ambient.allow_non_restored_state or truth(options, UNCLAIMED_KEYS),
        savepoint_dir=env.get_default_savepoint_directory(),
        retained=positive_number(options, RETAINED_KEYS, defaults.retained),
        maintenance=maintenance_policy(options),
        listeners=ambient.listeners,
    )


def _max_parallelism(asked: int, widest: int) -> int:
    # A power of two if the default is too small, so that a little more parallelism later does not change it.
    return asked if asked > 0 else max(DEFAULT_MAX_PARALLELISM, 1 << (widest - 1).bit_length())


def _bytes(options: dict[str, str], key: str) -> int | None:
    return size_bytes(key, options[key]) if key in options else None


def _epoch_ms(env: StreamExecutionEnvironment, options: dict[str, str], default: int) -> int:
    if EPOCH_DURATION in options:
        return duration_ms(EPOCH_DURATION, options[EPOCH_DURATION])
    interval = env.get_checkpoint_interval()
    return min(default, interval) if interval > 0 else default

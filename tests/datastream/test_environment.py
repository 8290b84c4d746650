"""Settings of a program, what surrounds it, and what it hands to the launcher."""

from __future__ import annotations

import pytest

from firesteel.common import Configuration, JobID, Types
from firesteel.common.errors import ConfigurationError
from firesteel.common.quantities import duration_ms
from firesteel.compiler import compile_graph
from firesteel.compiler.describe import describe
from firesteel.connectors.collect import CollectSink
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.control.machine import RestartPolicy
from firesteel.datastream import CheckpointingMode, RuntimeExecutionMode, StreamExecutionEnvironment
from firesteel.datastream.ambient import Ambient, current_ambient, surrounded_by
from firesteel.datastream.execution import job_settings
from firesteel.datastream.options import restart_policy
from firesteel.graph.operations import SinkOp
from tests.datastream.programs import Launcher, environment


def launched(env: StreamExecutionEnvironment, job_name: str | None = None, **ambient):
    """The settings with which a small program would be launched."""
    env.from_collection([1]).map(str)
    launcher = Launcher()
    with surrounded_by(Ambient(launcher=launcher, **ambient)):
        env.execute(job_name)
    return launcher.settings


def configured(**options: str) -> StreamExecutionEnvironment:
    named = {key.replace("__", "-").replace("_", "."): value for key, value in options.items()}
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(named))


def test_defaults():
    env = StreamExecutionEnvironment.get_execution_environment()
    settings = launched(env)
    assert settings.job_name == "Flink Streaming Job"
    assert settings.parallelism == env.get_default_local_parallelism() >= 1
    assert (settings.max_parallelism, settings.runtime_mode, settings.chaining) == (128, "STREAMING", True)
    assert (settings.state_dir, settings.master, settings.epoch_ms) == (None, None, 1000)
    assert settings.restart == RestartPolicy()
    assert env.get_max_parallelism() == env.get_checkpoint_interval() == -1


def test_setters_and_getters():
    env = environment(3).set_max_parallelism(64).set_buffer_timeout(7).disable_operator_chaining()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH).enable_checkpointing(
        500, CheckpointingMode.AT_LEAST_ONCE
    )
    env.set_default_savepoint_directory("/savepoints").enable_changelog_state_backend(True)
    assert (env.get_parallelism(), env.get_max_parallelism(), env.get_buffer_timeout()) == (3, 64, 7)
    assert not env.is_chaining_enabled()
    assert (
        env.get_checkpointing_mode()
        is env.get_checkpointing_consistency_mode()
        is CheckpointingMode.AT_LEAST_ONCE
    )
    assert env.get_checkpoint_interval() == env.get_checkpoint_config().get_checkpoint_interval() == 500
    assert env.get_default_savepoint_directory() == "/savepoints"
    assert env.is_changelog_state_backend_enabled()
    settings = launched(env, "named")
    assert settings.savepoint_dir == "/savepoints"
    assert (settings.job_name, settings.parallelism, settings.max_parallelism) == ("named", 3, 64)
    assert (settings.runtime_mode, settings.chaining, settings.epoch_ms) == ("BATCH", False, 500)


def test_options():
    env = configured(
        parallelism_default="4",
        pipeline_max__parallelism="256",
        pipeline_name="from options",
        execution_runtime__mode="batch",
        execution_checkpointing_interval="250 ms",
        state_checkpoints_dir="s3://bucket/state",
        firesteel_master="spark://host:7077",
        spark_executor_memory="2g",
        taskmanager_memory_process_size="1g",
    )
    env.configure(Configuration.from_dict({"pipeline.global-job-parameters": "a:1,b:x y"}))
    settings = launched(env)
    assert (settings.parallelism, settings.max_parallelism, settings.job_name) == (4, 256, "from options")
    assert (settings.runtime_mode, settings.epoch_ms, settings.state_dir) == (
        "BATCH",
        250,
        "s3://bucket/state",
    )
    assert (settings.master, settings.configuration) == ("spark://host:7077", {"spark.executor.memory": "2g"})
    assert settings.job_parameters == {"a": "1", "b": "x y"}


def test_what_the_program_sets_later_wins_over_its_options():
    assert configured(parallelism_default="4").set_parallelism(2).get_parallelism() == 2


def test_our_own_options():
    options = {
        "firesteel.state-dir": "/a",
        "execution.checkpointing.dir": "/b",
        "firesteel.epoch.duration": "2 s",
        "firesteel.epoch.min-interval": "300 ms",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options))
    env.configure(Configuration.from_dict({"firesteel.epoch.max-records": "1000"}))
    settings = launched(env)
    assert (settings.state_dir, settings.epoch_ms, settings.max_epoch_records) == ("/a", 2000, 1000)
    assert (settings.epoch_interval_ms, launched(environment()).epoch_interval_ms) == (300, 0)


def test_command_line_goes_before_shell_and_shell_before_program(monkeypatch):
    env = environment(2)
    monkeypatch.setenv("FIRESTEEL_PARALLELISM", "5")
    monkeypatch.setenv("FIRESTEEL_MASTER", "local[5]")
    monkeypatch.setenv("FIRESTEEL_STATE_DIR", "/shell")
    monkeypatch.setenv("FIRESTEEL_CONF", "pipeline.name=shell\nspark.a=1")
    assert env.get_parallelism() == 5
    settings = launched(env)
    assert (settings.parallelism, settings.master, settings.state_dir) == (5, "local[5]", "/shell")
    assert (settings.job_name, settings.configuration) == ("shell", {"spark.a": "1"})
    monkeypatch.setenv("FIRESTEEL_LOG_FORMAT", "json")
    assert launched(env).log_form == "json"
    assert launched(env, configuration={"firesteel.logging.format": "text"}).log_form == "text"
    settings = launched(env, parallelism=6, state_dir="/line", configuration={"spark.a": "2"})
    assert (settings.parallelism, settings.master, settings.state_dir) == (6, "local[5]", "/line")
    assert settings.configuration == {"spark.a": "2"}


def test_options_around_the_program_do_what_its_own_would():
    settings = launched(
        environment(), configuration={"execution.runtime-mode": "BATCH", "pipeline.name": "x"}
    )
    assert (settings.runtime_mode, settings.job_name) == ("BATCH", "x")


def test_parallelism_of_an_operation_is_above_all():
    env = environment(2)
    env.from_collection([1]).map(str).set_parallelism(3)
    launcher = Launcher()
    with surrounded_by(Ambient(parallelism=7, launcher=launcher)):
        env.execute()
    assert [node.parallelism for node in launcher.graph.nodes] == [1, 3]


@pytest.mark.parametrize(("name", "value"), [("FIRESTEEL_PARALLELISM", "two"), ("FIRESTEEL_CONF", "a")])
def test_shell_variables_that_make_no_sense(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=name):
        current_ambient()


def test_default_max_parallelism_leaves_room():
    env = environment(100)
    assert launched(env).max_parallelism == 128
    assert launched(env.set_parallelism(129)).max_parallelism == 256


def test_global_job_parameters():
    env = environment()
    env.get_config().set_global_job_parameters({"threshold": "5"})
    assert launched(env).job_parameters == {"threshold": "5"}


def test_python_files(tmp_path):
    module = tmp_path / "helper.py"
    module.write_text("")
    env = environment()
    env.add_python_file(str(module))
    assert launched(env).python.files == (str(module),)


@pytest.mark.parametrize(
    ("options", "policy"),
    [
        ({}, RestartPolicy()),
        ({"restart-strategy.type": "none"}, RestartPolicy()),
        ({"restart-strategy.type": "fixed-delay"}, RestartPolicy(1, 1000)),
        (
            {
                "restart-strategy.type": "fixed-delay",
                "restart-strategy.fixed-delay.attempts": "5",
                "restart-strategy.fixed-delay.delay": "2 min",
            },
            RestartPolicy(5, 120_000),
        ),
        (
            {
                "restart-strategy.type": "failure-rate",
                "restart-strategy.failure-rate.max-failures-per-interval": "3",
            },
            RestartPolicy(3, 1000),
        ),
        ({"restart-strategy.type": "exponential-delay"}, RestartPolicy(2**31 - 1, 1000)),
    ],
)
def test_restart_strategies(options, policy):
    assert restart_policy(options) == policy


def test_unknown_restart_strategy():
    with pytest.raises(ConfigurationError, match="requires none, fixed-delay"):
        restart_policy({"restart-strategy.type": "hope"})


@pytest.mark.parametrize(
    ("text", "millis"), [("7", 7), ("7 ms", 7), ("3s", 3000), ("1 H", 3_600_000), ("2 days", 172_800_000)]
)
def test_durations(text, millis):
    assert duration_ms("key", text) == millis


def test_execute_returns_the_result_and_clears_the_program():
    env = environment()
    stream = env.from_collection([1])
    stream.print()
    launcher = Launcher()
    with surrounded_by(Ambient(launcher=launcher)):
        result = env.execute()
        assert (result.get_job_id(), result.get_net_runtime()) == (JobID("0a"), 12)
        stream.map(str)
        env.execute()
    assert [len(graph.nodes) for graph, _ in launcher.jobs] == [2, 2]


def test_execute_async_returns_a_client():
    env = environment()
    env.from_collection([1]).print()
    with surrounded_by(Ambient(launcher=Launcher())):
        assert str(env.execute_async("later").get_job_id()) == "0a"


def test_execute_and_collect_iterates_and_ends_the_job():
    stream = environment().from_collection([1, 2]).map(str)
    launcher = Launcher("1", "2")
    with surrounded_by(Ambient(launcher=launcher)), stream.execute_and_collect("collected") as results:
        assert next(results) == "1"
        assert list(results) == ["2"]
    assert launcher.settings.job_name == "collected"
    assert launcher.handle.cancelled
    assert isinstance(launcher.graph.by_id[launcher.handle.node].operation, SinkOp)
    assert isinstance(launcher.graph.by_id[launcher.handle.node].operation.sink, CollectSink)


def test_execute_and_collect_with_a_limit_is_a_list():
    stream = environment().from_collection([1, 2, 3])
    launcher = Launcher(1, 2, 3)
    with surrounded_by(Ambient(launcher=launcher)):
        assert stream.execute_and_collect(limit=2) == [1, 2]
    assert launcher.handle.cancelled


def test_sources():
    env = environment()
    stream = env.from_source(DataGeneratorSource(str, 3, type_info=Types.STRING()), None, "numbers")
    assert (stream.get_name(), stream.get_type()) == ("numbers", Types.STRING())
    assert env.add_source(DataGeneratorSource(str, 3)).get_name() == "Custom Source"


def test_execution_plan_keeps_the_program():
    env = environment()
    env.from_collection([1]).map(str)
    # As PyFlink programs read it.
    plans = [eval(env.get_execution_plan()), eval(str(env.get_execution_plan()))]
    assert plans[0] == plans[1]
    assert [node["type"] for node in plans[0]["nodes"]] == ["Source: Collection Source", "Map"]
    assert [node["parallelism"] for node in plans[0]["nodes"]] == [1, 2]


def test_the_execution_plan_is_what_the_surroundings_make_of_the_program():
    env = environment()
    env.from_collection([1]).map(str)
    with surrounded_by(Ambient(parallelism=3)):
        assert [node["parallelism"] for node in eval(env.get_execution_plan())["nodes"]] == [1, 3]


def test_chains_are_shown_as_the_program_asks():
    def shown(env):
        env.from_collection([1]).map(str).set_parallelism(1).filter(bool).set_parallelism(1)
        graph, settings = env._builder.build(), job_settings(env, env._builder.build(), None, Ambient())
        return [operator.chain for operator in describe(compile_graph(graph, settings)).operators]

    assert shown(environment()) == [1, 1, 1]
    assert shown(environment().disable_operator_chaining()) == [1, 2, 3]


def test_default_local_parallelism_is_shared_by_all_environments():
    first, second = (StreamExecutionEnvironment.get_execution_environment() for _ in range(2))
    first.set_default_local_parallelism(3)
    try:
        assert second.get_parallelism() == 3
    finally:
        first.set_default_local_parallelism(-1)
    assert second.get_parallelism() == second.get_default_local_parallelism()

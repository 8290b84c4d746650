"""Configuration as PyFlink 2.3's behaves; the literals are what it returned."""

from __future__ import annotations

import copy
from datetime import timedelta
from typing import Any

import pytest

from firesteel.common import (
    ConfigOptions,
    Configuration,
    ExecutionConfig,
    RestartStrategies,
)
from firesteel.common.errors import ConfigurationError


@pytest.fixture
def config() -> Configuration:
    return (
        Configuration()
        .set_string("s", "x")
        .set_integer("i", 5)
        .set_boolean("b", True)
        .set_float("f", 1.5)
        .set_bytearray("y", bytearray(b"ab"))
        .set_string("n", "42")
        .set_string("bt", "TRUE")
    )


def test_values_are_converted_when_read(config: Configuration) -> None:
    assert config.get_integer("n", 0) == 42
    assert config.get_float("n", 0.0) == 42.0
    assert config.get_boolean("bt", False) is True
    assert config.get_string("i", "d") == "5"
    assert config.get_string("b", "d") == "true"
    assert config.get_string("f", "d") == "1.5"
    assert config.get_string("y", "d") == "!!binary |-\n  YWI="
    assert config.get_bytearray("y", bytearray()) == bytearray(b"ab")
    assert config.set_integer("i", 2**40).get_integer("i", 0) == 2**40


def test_defaults(config: Configuration) -> None:
    assert config.get_string("zz", "d") == "d"
    assert config.get_integer("zz", 3) == 3
    assert config.get_boolean("zz", True) is True
    assert config.get_float("zz", 1) == 1.0
    assert config.get_bytearray("zz", bytearray(b"q")) == bytearray(b"q")


@pytest.mark.parametrize(
    "read",
    [
        lambda config: config.get_integer("s", 0),
        lambda config: config.get_boolean("s", False),
        lambda config: config.get_float("s", 0.0),
        lambda config: config.get_integer("b", 1),
        lambda config: config.get_integer("f", 1),
        lambda config: config.get_bytearray("n", bytearray()),
        lambda config: config.set_string("q", 5),
        lambda config: config.set_integer("q", True),
        lambda config: config.set_boolean("q", "x"),
        lambda config: config.set_float("q", "x"),
        lambda config: config.set_bytearray("q", "x"),
    ],
)
def test_what_does_not_fit_is_refused(config: Configuration, read: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"^option '"):
        read(config)


def test_entries(config: Configuration) -> None:
    assert config.key_set() == {"s", "i", "b", "f", "y", "n", "bt"}
    assert config.contains_key("s")
    assert [config.remove_config("s"), config.remove_config("s")] == [True, False]
    target: dict[str, Any] = {}
    config.add_all_to_dict(target)
    assert target == {"b": True, "bt": "TRUE", "f": 1.5, "i": 5, "y": b"ab", "n": "42"}
    assert Configuration().add_all(Configuration.from_dict({"a": "1"}), "p.").to_dict() == {"p.a": "1"}
    assert Configuration().set_float("f", 1e10).set_float("g", 3).to_dict() == {"f": "1.0E10", "g": "3.0"}
    assert str(Configuration().set_boolean("b", True).set_integer("i", 5)) == "{b=true, i=5}"


def test_copies_are_equal_and_independent(config: Configuration) -> None:
    for twin in (Configuration(config), copy.deepcopy(config)):
        assert twin == config
        assert hash(twin) == hash(config)
        twin.set_string("s", "y")
        assert twin != config


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a;b", ["a", "b"]),
        ("[a, b]", ["a", "b"]),
        ('[\'a, b\', "c\\"d"]', ["a, b", 'c"d']),
        ("- a\n- b", ["a", "b"]),
        ("file:///x.jar", ["file:///x.jar"]),
        ("[]", []),
        ("", []),
    ],
)
def test_lists_as_text(text: str, items: list[str]) -> None:
    assert Configuration.parse_list_value(text) == items


def test_options() -> None:
    option = ConfigOptions.key("a.b").int_type().default_value(5)
    assert (option.key, option.type, option.default) == ("a.b", int, 5)
    assert ConfigOptions.key("a").string_type().no_default_value().default is None
    assert ConfigOptions.key("a").float_type().default_value(1) == ConfigOptions.key(
        "a"
    ).double_type().default_value(1)
    assert ConfigOptions.key("a").boolean_type().default_value(True).default is True
    assert ConfigOptions.key("a").long_type().default_value(2**40).default == 2**40


@pytest.mark.parametrize(
    ("builder", "value"),
    [
        (ConfigOptions.key("a").int_type(), 2**31),
        (ConfigOptions.key("a").int_type(), True),
        (ConfigOptions.key("a").int_type(), "5"),
        (ConfigOptions.key("a").boolean_type(), 1),
        (ConfigOptions.key("a").string_type(), 1),
    ],
)
def test_defaults_of_another_type_are_refused(builder: Any, value: Any) -> None:
    with pytest.raises(ConfigurationError, match="requires a default of type"):
        builder.default_value(value)


def test_execution_defaults_are_flinks() -> None:
    config = ExecutionConfig()
    assert config.get_parallelism() == ExecutionConfig.PARALLELISM_DEFAULT == -1
    assert (config.get_max_parallelism(), config.get_auto_watermark_interval()) == (-1, 200)
    assert (config.get_task_cancellation_interval(), config.get_task_cancellation_timeout()) == (
        30000,
        180000,
    )
    assert config.get_latency_tracking_interval() == 0
    assert config.is_closure_cleaner_enabled()
    assert config.has_auto_generated_uids_enabled()
    assert not config.is_object_reuse_enabled()
    assert not config.is_use_snapshot_compression()
    assert not config.has_generic_types_disabled()
    assert config.get_global_job_parameters() == {}


def test_execution_settings_are_kept() -> None:
    config = ExecutionConfig().set_parallelism(3).set_max_parallelism(64).set_auto_watermark_interval(0)
    config.set_parallelism(ExecutionConfig.PARALLELISM_UNKNOWN)
    assert (config.get_parallelism(), config.get_max_parallelism(), config.get_auto_watermark_interval()) == (
        3,
        64,
        0,
    )
    assert config.set_global_job_parameters({"a": 1}).get_global_job_parameters() == {"a": "1"}
    assert config.set_latency_tracking_interval(-1).get_latency_tracking_interval() == -1
    assert config.set_use_snapshot_compression(True).is_use_snapshot_compression()


@pytest.mark.parametrize(
    ("switch", "reader"),
    [
        ("closure_cleaner", "is_closure_cleaner_enabled"),
        ("force_kryo", "is_force_kryo_enabled"),
        ("force_avro", "is_force_avro_enabled"),
        ("object_reuse", "is_object_reuse_enabled"),
        ("auto_generated_uids", "has_auto_generated_uids_enabled"),
    ],
)
def test_execution_switches(switch: str, reader: str) -> None:
    config = ExecutionConfig()
    for name, expected in (("enable", True), ("disable", False)):
        assert getattr(config, f"{name}_{switch}")() is config
        assert getattr(config, reader)() is expected
    assert config.disable_generic_types().has_generic_types_disabled()
    assert not config.enable_generic_types().has_generic_types_disabled()


def test_execution_configs_are_equal_by_their_settings() -> None:
    assert ExecutionConfig().set_parallelism(2) == ExecutionConfig().set_parallelism(2)
    assert ExecutionConfig().set_parallelism(2) != ExecutionConfig()


@pytest.mark.parametrize(
    "change",
    [
        lambda config: config.set_parallelism(0),
        lambda config: config.set_parallelism(-5),
        lambda config: config.set_parallelism("2"),
        lambda config: config.set_max_parallelism(0),
        lambda config: config.set_max_parallelism(40000),
        lambda config: config.set_auto_watermark_interval(-1),
        lambda config: config.set_task_cancellation_timeout(-1),
    ],
)
def test_execution_settings_flink_refuses(change: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"^ExecutionConfig\.set_"):
        change(ExecutionConfig())


def test_restart_strategies() -> None:
    fixed = RestartStrategies.fixed_delay_restart(3, timedelta(minutes=1, seconds=5.5))
    assert fixed.get_description() == "Restart with fixed delay (PT1M5.5S). #3 restart attempts."
    assert fixed.get_restart_attempts() == 3
    assert fixed.get_delay_between_attempts_interval() == timedelta(seconds=65.5)
    rate = RestartStrategies.failure_rate_restart(2, 3_600_000, 0)
    assert rate.get_max_failure_rate() == 2
    assert rate.get_failure_interval() == timedelta(hours=1)
    assert rate.get_delay_between_attempts_interval() == timedelta()
    assert rate.get_description() == (
        "Failure rate restart with maximum of 2 failures within interval PT1H and fixed delay PT0S."
    )
    assert RestartStrategies.no_restart().get_description() == "Restart deactivated."
    assert RestartStrategies.fall_back_restart().get_description() == "Cluster level default restart strategy"
    assert RestartStrategies.fixed_delay_restart(3, 1000) == RestartStrategies.fixed_delay_restart(
        3, timedelta(seconds=1)
    )
    assert len({RestartStrategies.no_restart(), RestartStrategies.no_restart(), fixed}) == 2
    with pytest.raises(ConfigurationError, match="requires milliseconds"):
        RestartStrategies.fixed_delay_restart(3, "1s")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="not negative"):
        RestartStrategies.fixed_delay_restart(-1, 0)

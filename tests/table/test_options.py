"""Options of sessions: which are refused, which are taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from firesteel.common.errors import (
    ConfigurationError,
    ProgramError,
    SqlConfigurationError,
    SqlError,
    SqlUnsupportedError,
    UnsupportedError,
)
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.table.known_options import KNOWN, ONLY
from firesteel.table.module import Module
from firesteel.table.udf import udf
from firesteel.testing import executing


@pytest.fixture
def env() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_streaming_mode())


def test_a_misspelt_option_is_refused_with_the_one_that_is_meant(env: TableEnvironment) -> None:
    with pytest.raises(ConfigurationError, match=r"did you mean table\.exec\.state\.ttl\?"):
        env.get_config().set("table.exec.state.tll", "1 h")
    with pytest.raises(SqlConfigurationError, match=r"line 1, column 1") as raised:
        env.execute_sql("SET 'table.exec.mini-batch.enable' = 'true'")
    assert "did you mean table.exec.mini-batch.enabled?" in str(raised.value)


@pytest.mark.parametrize(
    "key", ["table.planner", "my.own.option", "sql-client.foo", "table.exec.shuffle-mode"]
)
def test_other_options_are_kept_as_in_flink(env: TableEnvironment, key: str) -> None:
    env.execute_sql(f"SET '{key}' = 'x'")
    assert env.get_config().get(key, "") == "x"


def test_there_are_two_modes(env: TableEnvironment) -> None:
    env.execute_sql("SET 'execution.runtime-mode' = 'BATCH'")
    with pytest.raises(SqlConfigurationError, match="takes batch or streaming; got 'sideways'"):
        env.execute_sql("SET 'execution.runtime-mode' = 'sideways'")
    assert env.get_config().get("execution.runtime-mode", "") == "BATCH"


@pytest.mark.parametrize("key", sorted(ONLY))
def test_values_that_would_give_other_answers_are_refused(env: TableEnvironment, key: str) -> None:
    assert key in KNOWN
    env.get_config().set(key, ONLY[key])
    with pytest.raises(UnsupportedError, match=key):
        env.get_config().set(key, "something else")
    with pytest.raises(SqlUnsupportedError, match="something else"):
        env.execute_sql(f"SET '{key}' = 'something else'")


def test_the_parallelism_of_tables_goes_before_that_of_jobs(env: TableEnvironment) -> None:
    env.get_config().set("parallelism.default", "2")
    assert env._session.job_environment().get_parallelism() == 2
    env.get_config().set("table.exec.resource.default-parallelism", "3")
    assert env._session.job_environment().get_parallelism() == 3
    env.get_config().set("table.exec.resource.default-parallelism", "-1")
    assert env._session.job_environment().get_parallelism() == 2


def test_functions_of_a_module_that_is_unloaded_are_not_shown(env: TableEnvironment) -> None:
    assert {"upper", "count"} <= {*env.list_functions()}
    env.unload_module("core")
    assert env.list_functions() == []
    env.execute_sql("LOAD MODULE core")
    env.use_modules("core")
    assert "upper" in env.list_functions()


def test_what_jobs_bring_along_is_kept_with_the_options(env: TableEnvironment) -> None:
    env.add_python_file("a.py")
    env.add_python_file("b.zip")
    env.add_python_archive("data.zip", "data")
    env.set_python_requirements("requirements.txt")
    config = env.get_config()
    assert config.get("python.files", "") == "a.py,b.zip"
    assert config.get("python.archives", "") == "data.zip#data"
    assert config.get("python.requirements", "") == "requirements.txt"
    config.set_python_executable("python3")
    assert config.get_python_executable() == "python3"


class Greetings(Module):
    """Functions of a module."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__("greetings")
        self._word = options.get("word", "hello")

    def list_functions(self) -> list[str]:
        return ["greet", "upper", "wrong"]

    def get_function(self, name: str) -> Any:
        word = self._word
        made = {
            "greet": udf(lambda who: f"{word} {who}", input_types="STRING", result_type="STRING"),
            "upper": udf(lambda text: "shouted", input_types="STRING", result_type="STRING"),
            "wrong": 3,
        }
        return made.get(name)


GREETINGS = "LOAD MODULE greetings WITH ('class' = 'tests.table.test_options:Greetings', 'word' = 'good day')"


def test_functions_of_ones_own_modules_are_found_in_the_order_of_modules(env: TableEnvironment) -> None:
    def answers(query: str) -> list[Any]:
        with executing():
            return [row[0] for row in env.execute_sql(query).collect()]

    env.execute_sql(GREETINGS)
    assert env.list_modules() == ["core", "greetings"]
    assert answers("SELECT Greet('Ann')") == ["good day Ann"]
    assert answers("SELECT UPPER('a')") == ["A"]
    assert answers("SHOW FUNCTIONS LIKE 'greet'") == ["greet"]
    assert answers("SHOW FUNCTIONS FROM default_catalog.default_database LIKE 'gree%'") == ["greet"]
    env.use_modules("greetings", "core")
    assert answers("SELECT UPPER('a') || LOWER('B')") == ["shoutedb"]
    with pytest.raises(SqlError, match=r"requires what udf\(...\), udtf\(...\) or udaf\(...\) has made"):
        env.execute_sql("SELECT wrong(1)")
    env.use_modules("core")
    with pytest.raises(SqlError, match="greet"):
        env.execute_sql("SELECT greet('Ann')")
    env.unload_module("greetings")
    env.load_module("mine", Greetings({}))
    assert answers("SELECT greet('Bea')") == ["hello Bea"]
    with pytest.raises(ProgramError, match="requires a module that is not loaded yet; got mine"):
        env.load_module("mine", Greetings({}))


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("LOAD MODULE nowhere", "requires a module that exists; got nowhere"),
        ("LOAD MODULE m WITH ('class' = 'nowhere:M')", "of a class that can be imported; got 'nowhere:M'"),
        ("LOAD MODULE m WITH ('class' = 'builtins:dict')", "requires a subclass of Module; got {}"),
    ],
)
def test_modules_that_cannot_be_loaded_say_so(env: TableEnvironment, statement: str, said: str) -> None:
    with pytest.raises(SqlError) as found:
        env.execute_sql(statement)
    assert said in str(found.value)

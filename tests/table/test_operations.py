"""The operations of tables give the columns and rows that they give in PyFlink.

The operations are in flink/operations.txt, those on streams alone in flink/streaming.txt, Flink's answers beside them,
with the programs that have asked for them. Types are compared elsewhere: PyFlink prints no parameters of them.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.datastream.pyflink_alias import install_pyflink_alias
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing.execution import executing

HERE = Path(__file__).parent / "flink"
ANSWERS: dict[str, dict[str, Any]] = json.loads((HERE / "operations.json").read_text())
STREAMED: dict[str, dict[str, Any]] = json.loads((HERE / "streaming.json").read_text())
ANSWERED: Final = {"union", "intersect", "intersect all", "minus", "minus all"}
"""What Flink's SQL answers in STREAMING mode and its Table API refuses, as if it were."""

REFUSED: Final = {"window over an aggregate"}
"""What is not there: times that are keys of an aggregate as time attributes."""

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    install_pyflink_alias()
    spec = importlib.util.spec_from_file_location("tables_of_operations", HERE / "tables.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def environment() -> Iterator[TableEnvironment]:
    with executing("process"):
        env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        env.get_config().set_local_timezone("UTC")
        yield env


@pytest.fixture(scope="module")
def names(
    tables: ModuleType, environment: TableEnvironment, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    found: dict[str, Any] = tables.names_of(environment, tmp_path_factory.mktemp("visits"))
    return found


@pytest.mark.parametrize("operation", ANSWERS)
def test_an_operation_gives_what_it_gives_in_flink(
    operation: str, tables: ModuleType, environment: TableEnvironment, names: dict[str, Any]
) -> None:
    wanted, text = ANSWERS[operation], tables.operations()[operation]
    if "error" in wanted:
        with pytest.raises(FiresteelError):
            tables.answer(environment, names, text)
        return
    found = tables.answer(environment, names, text)
    assert found["rows"] == wanted["rows"]
    assert _names(found) == _names(wanted)


@pytest.fixture(scope="module", params=[(1, None), (2, 2)], ids=["one", "many"])
def stream(
    request: pytest.FixtureRequest, tables: ModuleType, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[TableEnvironment, dict[str, Any]]]:
    """An environment in STREAMING mode, in one epoch and one subtask or in many, and its tables."""
    parallelism, records = request.param
    with executing("process", parallelism=parallelism, epoch_records=records):
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        env.get_config().set_local_timezone("UTC")
        yield env, tables.names_of(env, tmp_path_factory.mktemp("visits"))


@pytest.mark.parametrize("operation", STREAMED)
def test_an_operation_on_streams_gives_what_it_gives_in_flink(
    operation: str, tables: ModuleType, stream: tuple[TableEnvironment, dict[str, Any]]
) -> None:
    wanted, text = STREAMED[operation], tables.streaming_operations()[operation]
    if operation in ANSWERED:
        assert tables.streamed(*stream, text)["rows"] == ANSWERS[operation]["rows"]
        return
    if "error" in wanted or operation in REFUSED:
        with pytest.raises(FiresteelError):
            tables.streamed(*stream, text)
        return
    assert tables.streamed(*stream, text, in_order=operation.startswith("in order")) == wanted


def _names(answer: dict[str, Any]) -> list[str]:
    return [column.split(" ")[0] for column in answer["columns"]]

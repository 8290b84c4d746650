"""Arrangements read as DataFrames, and kept when a savepoint is rewritten, on Spark."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from firesteel.checkpoint.arranged import write_level
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.savepoint import write_savepoint
from firesteel.common.errors import StateError
from firesteel.saved.inspection import SavedState
from firesteel.state.arrangements.chunk import chunk_of
from firesteel.state.arrangements.layout import Kind, Layout, encode_layout
from firesteel.state.arrangements.names import state_name
from firesteel.state.keys.groups import key_group_range
from firesteel.state_processor import OperatorIdentifier, SavepointReader, SavepointWriter
from tests.checkpoint.histories import GROUPS, Driver

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

OPERATOR = "a" * 32
COLUMNS: dict[str, tuple[pa.DataType, object]] = {
    "text": (pa.string(), "ü"),
    "number": (pa.int32(), -7),
    "amount": (pa.decimal128(10, 2), Decimal("12.30")),
    "at": (pa.timestamp("us"), dt.datetime(2024, 1, 2, 3, 4, 5, 678_901)),
    "fine": (pa.timestamp("ns"), dt.datetime(2024, 1, 2, 3, 4, 5, 678_901)),
    "day": (pa.date32(), dt.date(1969, 12, 31)),
    "hour": (pa.time32("ms"), dt.time(23, 59, 58, 999_000)),
    "long": (pa.duration("ms"), dt.timedelta(days=2, milliseconds=5)),
    "flag": (pa.bool_(), None),
    "raw": (pa.binary(), b"\x00\xff"),
    "list": (pa.list_(pa.timestamp("ns")), [dt.datetime(2024, 1, 2), None]),
    "map": (pa.map_(pa.string(), pa.int64()), {"a": 1}),
    "row": (pa.struct([("x", pa.float64()), ("y", pa.string())]), (1.5, None)),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A state directory with a multiset whose rows live for a second: 100 keys, each of them twice."""
    directory = tmp_path_factory.mktemp("arranged") / "state"
    rows = pa.schema([("key", pa.int64()), *((name, kind) for name, (kind, _) in COLUMNS.items())])
    layout = Layout(rows, ("key",), Kind.MULTISET, time_to_live=1_000)
    driver = Driver(Storage.of(str(directory)), [OPERATOR])
    state = state_name(OPERATOR, "rows")
    for now, first in ((0, 0), (900, 50), (1_000, 0)):
        driver.now = now
        report, *_ = driver.work({}, 1)
        data = {"key": [*range(first, first + 50)]}
        data |= {
            name: [list(value.items()) if isinstance(value, dict) else value] * 50
            if name != "row"
            else [{"x": 1.5, "y": None}] * 50
            for name, (_, value) in COLUMNS.items()
        }
        batch = pa.RecordBatch.from_pydict(data, schema=rows)
        run = write_level(
            driver.storage,
            f"runs/{state}/{driver.epoch + 1:012d}.run",
            layout,
            [chunk_of(layout, batch, np.full(50, 2), now)],
            state=state,
            epoch=driver.epoch + 1,
            subtask=0,
            groups=key_group_range(0, 1, GROUPS),
            max_parallelism=GROUPS,
        )
        assert run is not None
        report.arrangements, report.arranged = {state: encode_layout(layout)}, [run]
        driver.finish({}, [report])
    return directory


def test_rows_come_in_the_types_of_spark(saved, spark):
    reader = SavepointReader.read(saved, spark=spark)
    frame = reader.read_arrangement(OPERATOR, "rows")
    assert frame.count() == 100
    row = frame.where("key = 77").head().asDict()
    assert (row.pop("key"), row.pop("$weight"), row.pop("$written")) == (77, 2, 900)
    assert row.pop("raw") == bytearray(b"\x00\xff")
    row["row"] = tuple(row["row"])
    assert row.pop("hour") == "23:59:58.999"
    assert row == {name: value for name, (_, value) in COLUMNS.items() if name not in ("raw", "hour")}
    again = frame.where("key < 50").select("$weight", "$written").distinct().collect()
    assert [tuple(found) for found in again] == [(2, 1_000)]
    (described,) = reader.states().where("scope = 'arrangement'").collect()
    assert (described.state, described.kind, described.ttl_ms) == ("rows", "multiset", 1_000)
    with pytest.raises(StateError, match=r"has no arrangement 'row'; got .*rows .arrangement."):
        reader.read_arrangement(OPERATOR, "row")


def test_a_rewritten_savepoint_keeps_moves_and_removes_them(saved, spark, tmp_path):
    write_savepoint(Storage.of(str(saved)), 3, Storage.of(str(tmp_path / "first")))

    def rewritten(name):
        return SavepointWriter.from_existing_savepoint(tmp_path / "first", spark=spark), str(tmp_path / name)

    writer, moved = rewritten("moved")
    writer.change_operator_identifier(OPERATOR, OperatorIdentifier.for_uid("new")).write(moved)
    assert SavepointReader.read(moved, spark=spark).read_arrangement("new", "rows").count() == 100
    writer, without = rewritten("without")
    writer.remove_state(OPERATOR, "rows").write(without)
    assert SavedState.open(without).operator(OPERATOR).arrangements == ()
    writer, gone = rewritten("gone")
    writer.remove_operator(OPERATOR).write(gone)
    assert not [*Path(gone).glob("runs/**/*.run")]

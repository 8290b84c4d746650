"""Sources of files that read less: partitions, row groups of Parquet, and the first rows."""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from firesteel.common.errors import ConnectorError
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.systems import Status
from firesteel.connectors.tables.registry import connector_of
from firesteel.functions.columns.endpoints import ColumnSource
from firesteel.functions.columns.pushdowns import Comparison, Condition, Junction, Like, NullTest
from firesteel.functions.source import END_OF_SPLIT, UNLIMITED
from tests.connectors.column_ends import read, read_range, request, row_type
from tests.connectors.conditions import holds

PARTED = "n INT, `day` STRING, part INT"


@dataclass(frozen=True)
class Where:
    """The partitions whose value in a column is one of some."""

    column: str
    values: tuple[Any, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def __call__(self, values: pa.RecordBatch) -> list[bool]:
        assert values.schema.names == [self.column]
        return [value in self.values for value in values.column(0).to_pylist()]


def source(path: Path, form: str, columns: str, *partitions: str, **options: str) -> ColumnSource:
    given = {"path": str(path), "format": form, **options}
    found = connector_of("filesystem", "table 't'").source(request(columns, given, partitions=partitions))
    return found.source


def add(root: Path, day: str, part: int, *numbers: int) -> None:
    folder = root / f"day={day}" / f"part={part}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{numbers[0]}.json").write_text("".join(f'{{"n": {number}}}\n' for number in numbers))


@pytest.fixture
def parted(tmp_path: Path) -> Path:
    """Return a directory of six files in six partitions."""
    for at, day in enumerate(("mon", "tue", "__DEFAULT_PARTITION__")):
        for part in (1, 2):
            add(tmp_path, day, part, 10 * at + part)
    return tmp_path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the files that sources have looked into."""
    names: list[str] = []
    discover = SourceFile.discover

    def noted(path: str, status: Status | None = None) -> SourceFile:
        names.append(Path(path).name)
        return discover(path, status)

    monkeypatch.setattr(SourceFile, "discover", staticmethod(noted))
    return names


def test_files_of_other_partitions_are_not_opened(parted: Path, opened: list[str]) -> None:
    whole = source(parted, "json", PARTED, "day", "part")
    monday = whole.partitioned(Where("day", ("mon",)))
    assert monday is not None
    assert read(monday, row=row_type(PARTED)) == [(1, "mon", 1), (2, "mon", 2)]
    assert opened == ["1.json", "2.json"]
    both = monday.partitioned(Where("part", (2,)))
    assert both is not None
    narrow = both.projected((0,))
    assert narrow is not None
    assert read(narrow, row=row_type("n INT")) == [(2,)]
    assert opened == ["1.json", "2.json", "2.json"]
    none = whole.partitioned(Where("day", (None,)))
    assert none is not None
    assert read(none, row=row_type(PARTED)) == [(21, None, 1), (22, None, 2)]


def test_the_partitions_that_are_read_are_listed(parted: Path) -> None:
    whole = source(parted, "json", PARTED, "day", "part")
    assert len(whole.partitions) == 6
    found = whole.partitioned(Where("part", (2,)))
    assert found is not None
    days = (None, "mon", "tue")
    assert found.partitions == [{"day": day, "part": "2"} for day in days]
    (parted / "day=wed").mkdir()
    (parted / "other").mkdir()
    assert len(whole.partitions) == 6
    assert source(parted / "no", "json", PARTED, "day", "part").partitions == []


def test_new_files_are_chosen_in_the_same_way(parted: Path, opened: list[str]) -> None:
    options = {"source.monitor-interval": "1 s"}
    found = source(parted, "json", PARTED, "day", "part", **options).partitioned(Where("day", ("mon", "wed")))
    assert found is not None
    known = {split.id for split in found.splits(frozenset())}
    add(parted, "mon", 1, 51)
    add(parted, "wed", 1, 52)
    add(parted, "thu", 1, 53)
    add(parted, "tue", 1, 54)
    opened.clear()
    new = [*found.splits(frozenset(known))]
    assert sorted(opened) == ["51.json", "52.json"]
    assert sorted(read(found, *new, row=row_type(PARTED))) == [(51, "mon", 1), (52, "wed", 1)]


def test_what_one_choice_leaves_out_another_one_reads(parted: Path) -> None:
    options = {"source.monitor-interval": "1 s"}
    whole = source(parted, "json", PARTED, "day", "part", **options)
    monday, tuesday = (whole.partitioned(Where("day", (day,))) for day in ("mon", "tue"))
    assert monday is not None
    assert tuesday is not None
    begun = [*monday.splits(frozenset())]
    new = [*tuesday.splits(frozenset(split.id for split in begun))]
    assert read(tuesday, *new, row=row_type(PARTED)) == [(11, "tue", 1), (12, "tue", 2)]
    with pytest.raises(StopIteration) as end:
        next(tuesday.read_columns(begun[0], 0, begun[0].end or UNLIMITED))
    assert end.value.value is END_OF_SPLIT


def test_a_reader_asks_no_choice_by_which_a_split_was_found(
    parted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = source(parted, "json", PARTED, "day", "part")
    monday, tuesday = (whole.partitioned(Where("day", days)) for days in (("mon",), ("mon", "tue")))
    assert monday is not None
    assert tuesday is not None
    [early, _], [unmarked, *_] = monday.splits(frozenset()), whole.splits(frozenset())
    monday = pickle.loads(pickle.dumps(monday))
    monkeypatch.setattr(Where, "__call__", lambda *_: pytest.fail("the choice is asked"))
    assert read(monday, early, row=row_type(PARTED)) == [(1, "mon", 1)]
    assert len(read(whole, early, unmarked, row=row_type(PARTED))) == 2
    with pytest.raises(pytest.fail.Exception):
        read(tuesday, early, row=row_type(PARTED))


def test_a_choice_travels_to_the_workers(parted: Path) -> None:
    found = source(parted, "json", PARTED, "day", "part").partitioned(Where("day", ("mon",)))
    assert found is not None
    [one, _] = found.splits(frozenset())
    again = pickle.loads(pickle.dumps(found))
    assert read(again, one, row=row_type(PARTED)) == [(1, "mon", 1)]


def test_a_partition_of_another_type_is_named(parted: Path) -> None:
    add(parted, "mon", 1, 7)
    (parted / "day=mon" / "part=two").mkdir()
    found = source(parted, "json", PARTED, "day", "part").partitioned(Where("part", (2,)))
    assert found is not None
    with pytest.raises(ConnectorError, match="requires a value of type INT for the partition 'part'"):
        found.partitions  # noqa: B018 - it is read
    assert source(parted, "json", "n INT").partitioned(Where("day", ("mon",))) is None


COLUMNS = "i INT, x DOUBLE, s STRING"
ROW = row_type(COLUMNS)
GROUP = 10


@pytest.fixture
def ordered(tmp_path: Path) -> list[tuple[Any, ...]]:
    """Return the rows of a file in row groups of ten; of each group, the values are near each other."""
    rows: list[tuple[Any, ...]] = []
    for number in range(200):
        group = number // GROUP
        rows.append(
            (
                None if group in (3, 4) or number % 17 == 0 else number,
                float("nan") if number % 13 == 0 else group / 2,
                None if group % 5 == 0 else f"{group:02}-{number % 3}",
            )
        )
    columns = [list(column) for column in zip(*rows, strict=True)]
    table = pa.table({"i": pa.array(columns[0], pa.int32()), "x": columns[1], "s": columns[2]})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=GROUP)
    return rows


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the row groups that sources have read."""
    found: list[int] = []
    iterate = pq.ParquetFile.iter_batches

    def noted(self: Any, size: int, row_groups: list[int], **more: Any) -> Iterator[pa.RecordBatch]:
        found.extend(row_groups)
        return iterate(self, size, row_groups=row_groups, **more)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", noted)
    return found


def any_condition(chance: random.Random, depth: int = 2) -> Condition:
    kind = chance.randrange(6 if depth else 4)
    column = chance.choice("ixs")
    if kind == 0:
        return NullTest(column, negated=chance.random() < 0.5)
    if kind == 1 and column == "s":
        return Like(column, chance.choice(("%", "_2%", f"{chance.randrange(21):02}%1", "1%", "07-_", "07-1")))
    if kind < 4:
        operator = chance.choice(("=", "<>", "<", "<=", ">", ">="))
        values = {
            "i": chance.randrange(-5, 205),
            "x": chance.randrange(-1, 21) / 2,
            "s": f"{chance.randrange(21):02}-1",
        }
        return Comparison(column, operator, values[column])  # type: ignore[arg-type]
    return Junction(
        tuple(any_condition(chance, depth - 1) for _ in range(chance.randrange(1, 4))), any_of=kind == 5
    )


@pytest.mark.parametrize("seed", range(40))
def test_no_row_of_a_condition_is_left_out(
    tmp_path: Path, ordered: list[tuple[Any, ...]], groups: list[int], seed: int
) -> None:
    chance = random.Random(seed)
    condition = any_condition(chance)
    found = source(tmp_path, "parquet", COLUMNS).filtered(condition)
    assert found is not None
    [split] = found.splits(frozenset())
    assert (split.start, split.end) == (0, len(ordered))
    cuts = sorted(chance.choices(range(len(ordered) + 1), k=3))
    ranges = [*zip([0, *cuts], [*cuts, len(ordered)], strict=True)]
    given = [row for start, end in ranges if start < end for row in read_range(found, split, start, end, ROW)]
    of_groups = [repr(row) for at, row in enumerate(ordered) if at // GROUP in groups]
    assert is_part_of(map(repr, given), of_groups)
    met = [row for row in ordered if holds(condition, dict(zip("ixs", row, strict=True)))]
    assert is_part_of(map(repr, met), map(repr, given))


def is_part_of(few: Iterable[str], many: Iterable[str]) -> bool:
    """Return whether texts are among others, in the same order."""
    rest = iter(many)
    return all(one in rest for one in few)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (Comparison("i", "<", 25), [0, 1, 2]),
        (Comparison("i", "=", 77), [7]),
        (Junction((Comparison("i", ">=", 30), Comparison("i", "<=", 61))), [5, 6]),
        (NullTest("s"), [0, 5, 10, 15]),
        (Like("s", "07%"), [7]),
        (Like("s", "1_-0"), [11, 12, 13, 14, 16, 17, 18, 19]),
        (Like("s", "2%"), []),
        (Junction((Comparison("s", "=", "07-1"), Comparison("i", "=", 190)), any_of=True), [7, 19]),
        (Comparison("i", ">", 1000), []),
        (Comparison("unknown", "=", 1), [*range(20)]),
        (Comparison("i", "=", "a text"), [*range(3), *range(5, 20)]),
    ],
)
def test_row_groups_without_rows_of_a_condition_are_not_read(
    tmp_path: Path,
    ordered: list[tuple[Any, ...]],
    groups: list[int],
    condition: Condition,
    expected: list[int],
) -> None:
    found = source(tmp_path, "parquet", COLUMNS).filtered(condition)
    assert found is not None
    narrow = found.projected((0,))
    assert narrow is not None
    read(narrow, row=row_type("i INT"))
    assert groups == expected


def test_a_split_goes_on_with_another_condition(
    tmp_path: Path, ordered: list[tuple[Any, ...]], groups: list[int]
) -> None:
    whole = source(tmp_path, "parquet", COLUMNS)
    early, late = (whole.filtered(Comparison("i", *bound)) for bound in (("<", 25), (">", 180)))
    assert early is not None
    assert late is not None
    [split] = early.splits(frozenset())
    assert len(read_range(early, split, 0, 100, ROW)) == 30
    assert len(read_range(late, split, 100, 200, ROW)) == 20
    assert groups == [0, 1, 2, 18, 19]


def test_formats_of_text_cannot_leave_rows_out(parted: Path) -> None:
    assert source(parted, "json", PARTED, "day", "part").filtered(Comparison("n", "=", 1)) is None


def limited(given: ColumnSource, rows: int) -> ColumnSource:
    found = given.limited(rows)
    assert found is not None
    return found


def test_a_limit_ends_each_split_of_text(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("".join(f"{number}\n" for number in range(100_000)))
    found = limited(source(tmp_path, "csv", "n INT"), 3)
    first, second = found.splits(frozenset())
    for split in (first, second):
        batches = found.read_columns(split, 0, UNLIMITED)
        assert next(batches)[0].column(0).to_pylist() == [0, 1, 2]
        with pytest.raises(StopIteration) as end:
            next(batches)
        assert end.value.value is END_OF_SPLIT


def test_a_limit_takes_no_more_row_groups_than_it_needs(
    tmp_path: Path, ordered: list[tuple[Any, ...]], groups: list[int]
) -> None:
    table = pq.read_table(tmp_path / "rows.parquet")
    pq.write_table(table.slice(0, 5), tmp_path / "first.parquet")
    whole = source(tmp_path, "parquet", COLUMNS)
    assert len([*whole.splits(frozenset())]) == 2
    few, more = limited(whole, 5), limited(whole, 8)
    assert [Path(split.id).name for split in few.splits(frozenset())] == ["first.parquet@0"]
    assert len([*more.splits(frozenset())]) == 2
    assert len(read(few, row=ROW)) == 5
    [split] = few.splits(frozenset())
    assert not read_range(limited(whole, 0), split, 0, 5, ROW)


def test_a_limit_counts_over_batches(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("".join(f'{{"n": {number}}}\n' for number in range(300_000)))
    whole = source(tmp_path, "json", "n INT")
    [split] = whole.splits(frozenset())
    batches = [rows.num_rows for rows, _ in whole.read_columns(split, 0, split.end or 0)]
    assert len(batches) > 1
    assert batches[1] > 1
    found = [
        rows.num_rows for rows, _ in limited(whole, batches[0] + 1).read_columns(split, 0, split.end or 0)
    ]
    assert found == [batches[0], 1]

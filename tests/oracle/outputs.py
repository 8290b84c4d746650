"""What a program printed, in the form in which two runs of it are compared.

A program's docstring says how: `order: kept` compares line by line, `order: any` as a multiset (within the sections
that a line `-- title` opens), because Flink itself gives no order there: inputs that race, keys whose windows end
together. `epochs: 1 record` asks for a watermark after each record, as the recorded run had it. `prefix: hidden` drops
the `2> ` that print() puts before a line of a parallel sink, where the subtask of a key is nothing that Flink promises.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
TIMED = HERE / "timed"
EXPECTED = HERE / "expected"

# What PyFlink's own workers and its dependency Apache Beam say on standard output when they start.
NOISE = re.compile(
    r"^(Using Any for unsupported type: .*|No module named google\.cloud\..*|PYFLINK_CYTHON_ENABLED: .*"
    r"|WARNING:? .*sun\.misc\.Unsafe.*)$"
)
SUBTASK = re.compile(r"^((?:[^\n>]*:)?)\d+> ", re.MULTILINE)


@dataclass(frozen=True)
class Comparison:
    """How the outputs of one program are compared."""

    ordered: bool
    prefix: bool
    epoch_records: int | None = None
    """The length of an epoch in which each change is printed that Flink prints."""

    def normalise(self, output: str) -> str:
        """The output without what may differ between two right runs.

        >>> print(Comparison(ordered=False, prefix=False).normalise("-- x\\n2> b\\n1> a"), end="")
        -- x
        a
        b
        """
        lines = [line for line in output.splitlines() if not NOISE.match(line)]
        if not self.prefix:
            lines = [SUBTASK.sub(r"\1", line) for line in lines]
        return "".join(f"{line}\n" for title, body in _sections(lines) for line in self._section(title, body))

    def _section(self, title: list[str], body: list[str]) -> list[str]:
        return title + (body if self.ordered else sorted(body))


def _sections(lines: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """(the title's line if there is one, the lines below it) for each section."""
    title: list[str] = []
    body: list[str] = []
    for line in lines:
        if line.startswith("-- "):
            yield title, body
            title, body = [line], []
        else:
            body.append(line)
    yield title, body


def comparison_of(program: Path) -> Comparison:
    """How a program wants to be compared, from the last lines of its docstring."""
    settings = _settings(program)
    if settings.get("order") not in ("kept", "any"):
        raise ValueError(f"{program.name} requires a line 'order: kept' or 'order: any' in its docstring")
    return Comparison(ordered=settings["order"] == "kept", prefix=settings.get("prefix") != "hidden")


def records_per_epoch_of(program: Path) -> int | None:
    """The length of an epoch that a program asks for, if it does."""
    text = _settings(program).get("epochs")
    return int(text.removesuffix(" record")) if text else None


def _settings(program: Path) -> dict[str, str]:
    docstring = ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or ""
    return dict(re.findall(r"^(order|prefix|epochs): (.+)$", docstring, re.MULTILINE))


def programs() -> list[Path]:
    """The oracle's own programs."""
    return sorted(PROGRAMS.glob("*.py"))


def timed_programs() -> list[Path]:
    """Programs that wait for time to pass, which takes real time on Flink alone."""
    return sorted(TIMED.glob("*.py"))


# PyFlink's shipped examples that need no service and end: path in its `examples` -> comparison.
# (streaming_word_count never ends; the connector examples and the asyncio one need servers; of those of tables,
# async_scalar_function, mixing_use_of_datastream_and_table and conversion_from_dataframe print random numbers,
# basic_operations has table aggregate functions, and sliding_window adds FLOATs, whose sum depends on their order.)
EXAMPLES = {
    "datastream/basic_operations.py": Comparison(ordered=True, prefix=True),
    "datastream/event_time_timer.py": Comparison(ordered=False, prefix=False),
    "datastream/process_json_data.py": Comparison(ordered=False, prefix=False),
    "datastream/state_access.py": Comparison(ordered=False, prefix=False),
    "datastream/word_count.py": Comparison(ordered=False, prefix=True),
    "datastream/windowing/session_with_dynamic_gap_window.py": Comparison(ordered=True, prefix=True),
    "datastream/windowing/session_with_gap_window.py": Comparison(ordered=True, prefix=True),
    "datastream/windowing/sliding_time_window.py": Comparison(ordered=True, prefix=True),
    "datastream/windowing/tumbling_count_window.py": Comparison(ordered=True, prefix=True),
    "datastream/windowing/tumbling_time_window.py": Comparison(ordered=True, prefix=True),
    "table/multi_sink.py": Comparison(ordered=False, prefix=False),
    "table/pandas/pandas_udaf.py": Comparison(ordered=False, prefix=True),
    "table/process_json_data.py": Comparison(ordered=False, prefix=False),
    "table/process_json_data_with_udf.py": Comparison(ordered=False, prefix=False),
    "table/windowing/over_window.py": Comparison(ordered=False, prefix=True),
    "table/windowing/session_window.py": Comparison(ordered=False, prefix=True),
    "table/windowing/tumble_window.py": Comparison(ordered=False, prefix=True),
    "table/word_count.py": Comparison(ordered=False, prefix=True, epoch_records=1),
}


def expected_of(program: str) -> Path:
    """The file with what real Flink printed for a program or, by its relative path, for a shipped example."""
    name = program.removesuffix(".py").removeprefix("datastream/").replace("/", "-")
    return EXPECTED / f"{name}.txt"

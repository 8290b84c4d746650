"""All parts, in the order of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bench.admission.part import PART as ADMISSION
from bench.cep.part import PART as CEP
from bench.durability.parts import PARTS as DURABILITY
from bench.floor.part import PART as FLOOR
from bench.growth.part import PART as GROWTH
from bench.joins.part import PART as JOINS
from bench.kafka.part import PART as KAFKA
from bench.latency.part import PART as LATENCY
from bench.metrics.part import PART as METRICS
from bench.nexmark.part import PART as NEXMARK
from bench.part import Part
from bench.reads.part import PART as READS
from bench.scale.part import PART as SCALE
from bench.sql.part import PART as SQL
from bench.throughput.part import PARTS as THROUGHPUT
from bench.throughput.report import ABOUT as ABOUT_THROUGHPUT
from bench.tpch.part import ABOUT as ABOUT_TPCH
from bench.tpch.part import PARTS as TPCH
from bench.udf.part import PART as UDF
from bench.wide.part import PART as WIDE
from bench.yahoo.part import PART as YAHOO

_SHARED: Final = ("bench/measure.py", "bench/systems", "bench/tally.py", "bench/workload.py")
"""The folders and files that the throughput parts run."""

_NEXMARK: Final = ("bench/nexmark", "bench/sql_systems.py", "bench/usage.py")
_CEP: Final = (
    "bench/cep",
    "bench/cep/FlinkMatches.java",
    "bench/measure.py",
    "bench/tally.py",
    "bench/usage.py",
)
_EPOCHS: Final = ("bench/epochs.py", "bench/usage.py", "bench/written.py")


@dataclass(frozen=True)
class Group:
    """Parts that share code: the folders of the code, and the text about all of them."""

    parts: tuple[Part, ...]
    code: tuple[str, ...]
    about: str = ""


GROUPS: Final = (
    Group(THROUGHPUT, ("bench/throughput", *_SHARED), ABOUT_THROUGHPUT),
    Group((FLOOR,), ("bench/floor", "bench/tally.py")),
    Group((ADMISSION,), ("bench/admission", "bench/tally.py")),
    Group((WIDE,), ("bench/wide", "bench/floor/job.py", "bench/measure.py", "bench/tally.py")),
    Group(DURABILITY, ("bench/durability", "bench/written.py")),
    Group((YAHOO,), ("bench/yahoo",)),
    Group((SQL,), ("bench/sql", "bench/measure.py", "bench/sql_systems.py", *_EPOCHS)),
    Group((UDF,), ("bench/udf", "bench/sql_systems.py")),
    Group((NEXMARK,), _NEXMARK),
    Group(TPCH, ("bench/tpch", "bench/sql_systems.py", "bench/usage.py"), ABOUT_TPCH),
    Group((GROWTH,), ("bench/growth", *_NEXMARK, *_EPOCHS)),
    Group((LATENCY,), ("bench/latency", *_NEXMARK)),
    Group((JOINS,), ("bench/joins", "bench/measure.py", *_EPOCHS)),
    Group((KAFKA,), ("bench/kafka", "bench/sql_systems.py", "harness/kafka.py")),
    Group((CEP,), _CEP),
    Group((READS,), ("bench/reads",)),
    Group((METRICS,), ("bench/metrics", "bench/process.py", "bench/tally.py", "bench/usage.py")),
    Group((SCALE,), ("bench/scale", "bench/systems/firesteel.py", "bench/tally.py")),
)

PARTS: Final = tuple(part for group in GROUPS for part in group.parts)


def group_of(part: Part) -> Group:
    """Return the group of a part."""
    return next(group for group in GROUPS if part in group.parts)

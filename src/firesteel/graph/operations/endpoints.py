"""Sources, sinks, and the operation that assigns timestamps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from firesteel.common.typeinfo import TypeInformation
from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.functions.sink import Sink
from firesteel.functions.source import Source
from firesteel.graph.checks import require
from firesteel.graph.operations.operation import Operation


@dataclass(frozen=True, eq=False)
class SourceOp(Operation):
    """Reads a source; timestamps and watermarks come from `strategy` (None: there are none)."""

    kind = "source"

    source: Source[Any]
    strategy: WatermarkStrategy | None = None

    def makes(self, kind: TypeInformation | None) -> bool:
        """Return whether records are of this type to the letter."""
        return self.source.makes_exact_values and self.source.produced_type == kind

    def check(self, who: str) -> None:
        """Require a Source and a WatermarkStrategy."""
        require(
            self.source,
            (Source,),
            who,
            "pass a source from firesteel.datastream.connectors, or your own Source",
        )
        if self.strategy is not None:
            require(
                self.strategy, (WatermarkStrategy,), who, "pass WatermarkStrategy.no_watermarks() for none"
            )


@dataclass(frozen=True, eq=False)
class TimestampsOp(Operation):
    """Assigns timestamps and generates watermarks."""

    kind = "assign_timestamps_and_watermarks"
    passes_on = True

    strategy: WatermarkStrategy

    def check(self, who: str) -> None:
        """Require a WatermarkStrategy."""
        require(
            self.strategy,
            (WatermarkStrategy,),
            who,
            "start from WatermarkStrategy.for_bounded_out_of_orderness(...)",
        )


@dataclass(frozen=True, eq=False)
class SinkOp(Operation):
    """Writes records to a sink."""

    kind = "sink"

    sink: Sink[Any]

    def check(self, who: str) -> None:
        """Require a Sink."""
        require(self.sink, (Sink,), who, "pass a sink from firesteel.datastream.connectors, or your own Sink")

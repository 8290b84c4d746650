"""The state processor: saved state as Spark DataFrames (Flink: the State Processor API)."""

from firesteel.spark.state_processor.identifier import OperatorIdentifier
from firesteel.spark.state_processor.reader import SavepointReader

__all__ = ["OperatorIdentifier", "SavepointReader"]

"""The state processor: saved state as Spark DataFrames, and DataFrames as saved state (Flink: State Processor API).

`SavepointReader` reads savepoints and kept epochs, `SavepointWriter` writes savepoints. `load_object` and `dump_object`
convert the stored bytes of untyped objects (columns that end in `_raw`) to Python objects and back.
"""

from firesteel.spark.state_processor.bootstrap import StateBootstrapTransformation
from firesteel.spark.state_processor.identifier import OperatorIdentifier
from firesteel.spark.state_processor.objects import dump_object, load_object
from firesteel.spark.state_processor.reader import SavepointReader
from firesteel.spark.state_processor.writer import SavepointWriter

__all__ = [
    "OperatorIdentifier",
    "SavepointReader",
    "SavepointWriter",
    "StateBootstrapTransformation",
    "dump_object",
    "load_object",
]

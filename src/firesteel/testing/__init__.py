"""Testing programs: the in-process executor, a clock that only tests move, and sources with scripted failures.

>>> from firesteel.datastream import StreamExecutionEnvironment
>>> with executing(epoch_records=2):
...     env = StreamExecutionEnvironment.get_execution_environment()
...     doubled = env.from_collection([1, 2, 3]).map(lambda value: value * 2)
...     list(doubled.execute_and_collect())
[2, 4, 6]
"""

from firesteel.testing.clock import ManualClock
from firesteel.testing.execution import executing
from firesteel.testing.executor import LocalExecutor
from firesteel.testing.sources import Fail, ScriptedSource

__all__ = ["Fail", "LocalExecutor", "ManualClock", "ScriptedSource", "executing"]

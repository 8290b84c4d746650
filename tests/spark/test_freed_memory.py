"""Workers keep the memory that a batch has freed for the next one."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from firesteel.spark.memory import keep_freed_memory

def work():
    ones = [np.ones(1 << 20) for _ in range(3)]
    return [pc.add(pa.array(column), 1) for column in ones]

{prepared}
for _ in range(5):
    work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(60):
    work()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(prepared: str) -> int:
    program = PROGRAM.format(prepared=prepared)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return int(run.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="it is about glibc")
def test_batches_cost_no_page_faults() -> None:
    assert 4 * faults("keep_freed_memory()") < faults("")

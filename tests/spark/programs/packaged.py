"""Makes the files of a program that is a package, uses requirements and an archive, and says what its workers found.

Run as a program it makes them in the current directory; the package is `shop`, its program `shop.jobs.main`.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

FILES = {
    "shop/__init__.py": "",
    "shop/prices.py": "PRICES = {'tea': 3}\n",
    "shop/jobs/__init__.py": "",
    "shop/jobs/main.py": """
import sys
from pathlib import Path
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import MapFunction
from ..prices import PRICES
from .. import prices
import taxes

class Look(MapFunction):
    def map(self, value):
        from shipped_requirement import VERSION
        return f"{value} {prices.PRICES[value]} {taxes.RATE} {VERSION} {Path('data/names.txt').read_text()}"

env = StreamExecutionEnvironment.get_execution_environment()
print(*env.from_collection(sys.argv[1:]).rebalance().map(Look()).execute_and_collect())
""",
    "libraries/taxes.py": "RATE = 7\n",
    "needs_more.py": """
from firesteel.datastream import StreamExecutionEnvironment

def look(value):
    import not_on_any_worker
    return value

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1]).rebalance().map(look).print()
env.execute()
""",
}


def make(directory: Path) -> None:
    for name, text in FILES.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    with zipfile.ZipFile(directory / "names.zip", "w") as archive:
        archive.writestr("names.txt", "from the archive")

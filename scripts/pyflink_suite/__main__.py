"""Runs PyFlink's own tests against Firesteel, and sums up what passes.

Usage: python -m scripts.pyflink_suite DIRECTORY [--part streams|tables] [--on process|spark] [--only TEXT] [--write]

DIRECTORY is `flink-python/pyflink` of Flink's source at the version named in docs/compatibility.md; the tests are
read from there and are no part of Firesteel. `--only` runs the tests whose name contains TEXT. `--write` puts the
figures into `results.json` beside this file, from which docs/compatibility.md is generated. Tests that cannot
apply are listed with their reasons in `excluded.toml`. The exit status is 1 if a test fails.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.abc
import importlib.util
import io
import json
import signal
import sys
import time
import tomllib
import unittest
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType, ModuleType

import cloudpickle

from firesteel.datastream.pyflink_alias import install_pyflink_alias
from firesteel.testing import executing
from scripts.pyflink_suite.stand_ins import install_stand_ins
from scripts.pyflink_suite.table_stand_ins import install_table_stand_ins

HERE = Path(__file__).parent
SECONDS_PER_TEST = 300
_CURRENT = {
    "'connector.type' =": "'connector' =",
    "'connector.path' =": "'path' =",
    "'format.type' =": "'format' =",
    "'format.ignore-first-line' = 'false',": "",
    "'format.field-delimiter' =": "'csv.field-delimiter' =",
    "protime as PROCTIME()": "rest STRING, protime as PROCTIME()",
    " proctime as PROCTIME()": " rest STRING, proctime as PROCTIME()",
    "Catalog(gateway.jvm.GenericInMemoryCatalog(self.test_catalog_name))": "gateway.jvm.GenericInMemoryCatalog()",
}
PARTS = {"streams": ("common/tests", "datastream/tests"), "tables": ("table/tests",)}
FOLDERS = tuple(folder for part in PARTS.values() for folder in part)


def main() -> int:
    """Run the tests that the command line asks for."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("directory", type=Path, help="flink-python/pyflink of Flink's source")
    parser.add_argument("--part", choices=[*PARTS], default="streams", help="which API's tests")
    parser.add_argument("--on", choices=["process", "spark"], default="process")
    parser.add_argument("--only", default="", metavar="TEXT", help="run the tests whose name contains TEXT")
    parser.add_argument("--write", action="store_true", help="put the figures into results.json")
    options = parser.parse_args()
    install_pyflink_alias()
    install_stand_ins()
    install_table_stand_ins()
    excluded = read_excluded(options.on)
    tests = [test for test in find_tests(options.directory, options.part) if options.only in name_of(test)]
    if not tests:
        parser.error(f"no tests in {options.directory} ({', '.join(PARTS[options.part])})")
    with executing(options.on, worker_setup=install_pyflink_alias):
        outcomes = {name_of(test): outcome_of(test, excluded) for test in tests}
    failed = sorted(name for name, outcome in outcomes.items() if outcome == "failed")
    summary = summarise(outcomes, options.on)
    sys.stdout.write("".join(f"failed: {name}\n" for name in failed) + f"{summary}\n")
    if options.write and not options.only:
        write_results(options.part, options.on, outcomes)
    return 1 if failed else 0


def read_excluded(where: str) -> dict[str, dict[str, str]]:
    """Return the reasons of excluded.toml by file and test, with those that apply to this executor alone."""
    listed = tomllib.loads((HERE / "excluded.toml").read_text("utf-8"))
    only = {"process": listed.pop("process"), "spark": {}}[where]
    return {file: {**listed.get(file, {}), **only.get(file, {})} for file in {*listed, *only}}


def find_tests(directory: Path, part: str) -> Iterator[unittest.TestCase]:
    """Load every test file of a part below the directory, and yield its tests, each by itself."""
    sys.meta_path.insert(0, _TestFiles(directory))
    for folder in PARTS[part]:
        for file in sorted((directory / folder).glob("test_*.py")):
            yield from flatten(unittest.defaultTestLoader.loadTestsFromModule(load(file, folder)))


class _TestFiles(importlib.abc.MetaPathFinder):
    """Finds the test files under the names that PyFlink gives them, for those that import one another."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        where = fullname.removeprefix("pyflink.").replace(".", "/")
        if where in FOLDERS:
            return ModuleSpec(fullname, None, is_package=True)
        folder, _, name = where.rpartition("/")
        file = self._directory / folder / f"{name}.py"
        if folder in FOLDERS and file.exists():
            return importlib.util.spec_from_file_location(
                fullname, file, loader=_Current(fullname, str(file))
            )
        return None


class _Current(SourceFileLoader):
    """Loads a test with the options of tables that Flink has today in the place of those that it has no more."""

    def get_code(self, fullname: str) -> CodeType:
        """Compile the file."""
        text = Path(self.path).read_text("utf-8")
        for old, new in _CURRENT.items():
            text = text.replace(old, new)
        return compile(text, self.path, "exec")


def load(file: Path, folder: str) -> ModuleType:
    """Import a file under the name that PyFlink gives it; workers get its classes by value."""
    module = importlib.import_module(f"pyflink.{folder.replace('/', '.')}.{file.stem}")
    cloudpickle.register_pickle_by_value(module)
    return module


def flatten(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """Yield the tests of a suite and of the suites in it."""
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def name_of(test: unittest.TestCase) -> str:
    """Return `file.Class.test`, as excluded.toml has it."""
    return ".".join(test.id().split(".")[-3:])


def reason_to_skip(name: str, excluded: dict[str, dict[str, str]]) -> str | None:
    """Return why a test cannot apply, None if it can; an entry without a class stands for every class."""
    file, class_name, method = name.split(".")
    entries = excluded.get(file, {})
    return entries.get(f"{class_name}.{method}") or entries.get(method)


def outcome_of(test: unittest.TestCase, excluded: dict[str, dict[str, str]]) -> str:
    """Run a test and return "passed" or "failed", or "excluded: reason"."""
    reason = reason_to_skip(name_of(test), excluded)
    if reason is not None:
        return f"excluded: {reason}"
    started = time.monotonic()
    result, output = unittest.TestResult(), io.StringIO()
    with contextlib.redirect_stdout(output), time_limit(SECONDS_PER_TEST):
        unittest.TestSuite([test]).run(result)
    if result.skipped:
        return f"excluded: PyFlink skips it ({result.skipped[0][1]})"
    passed = result.wasSuccessful() and result.testsRun == 1
    sys.stdout.write(f"{'pass' if passed else 'FAIL'} {name_of(test)} {time.monotonic() - started:.1f} s\n")
    for _, trace in [*result.errors, *result.failures]:
        sys.stdout.write("".join(f"     {line}\n" for line in trace.splitlines()[-12:]))
    sys.stdout.flush()
    return "passed" if passed else "failed"


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Have the block raise TimeoutError after so many seconds."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"the test took longer than {seconds} seconds")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)


def summarise(outcomes: dict[str, str], where: str) -> str:
    """Return the figures in a sentence."""
    counts = Counter(outcome.partition(":")[0] for outcome in outcomes.values())
    apply = counts["passed"] + counts["failed"]
    return (
        f"{counts['passed']} of the {apply} tests that can apply pass ({where}); "
        f"{counts['excluded']} of {len(outcomes)} cannot apply"
    )


def write_results(part: str, where: str, outcomes: dict[str, str]) -> None:
    """Put the figures of this run into results.json, beside those of the other executor and part."""
    path = HERE / "results.json"
    results = json.loads(path.read_text("utf-8")) if path.exists() else {}
    reasons = Counter(
        outcome.partition(": ")[2] for outcome in outcomes.values() if outcome.startswith("excluded")
    )
    results.setdefault(part, {})[where] = {
        "passed": sum(outcome == "passed" for outcome in outcomes.values()),
        "failed": sorted(name for name, outcome in outcomes.items() if outcome == "failed"),
        "excluded": dict(sorted(reasons.items())),
    }
    path.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    raise SystemExit(main())

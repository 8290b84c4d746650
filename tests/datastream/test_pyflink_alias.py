"""Programs whose imports say pyflink."""

from __future__ import annotations

import textwrap

import pytest

PROGRAM = """
import sys
from firesteel.datastream.pyflink_alias import install_pyflink_alias
{before}
install_pyflink_alias()
install_pyflink_alias()
{program}
"""


@pytest.fixture
def aliased(run_python, tmp_path):
    def run(program: str, before: str = ""):
        file = tmp_path / "program.py"
        file.write_text(PROGRAM.format(program=textwrap.dedent(program), before=before))
        return run_python(file)

    return run


def test_modules_are_the_same_objects(aliased):
    done = aliased(
        """
        import pyflink.datastream.functions
        import pyflink.common.typeinfo as typeinfo
        from pyflink.common import Row, Types
        from pyflink.datastream import MapFunction, StreamExecutionEnvironment
        from pyflink.datastream.connectors.file_system import FileSink
        from pyflink.metrics import Counter
        from pyflink.metrics.metricbase import MetricGroup
        import firesteel.common.typeinfo, firesteel.datastream.functions

        assert pyflink.datastream.functions is firesteel.datastream.functions
        assert typeinfo is firesteel.common.typeinfo
        assert typeinfo.__spec__.name == typeinfo.__name__ == "firesteel.common.typeinfo"
        assert issubclass(MapFunction, firesteel.datastream.functions.MapFunction)
        assert isinstance(Row(1), firesteel.common.Row)
        print("same")
        """
    )
    assert (done.stdout, done.stderr) == ("same\n", "")


def test_program_builds_its_graph(aliased):
    done = aliased(
        """
        from pyflink.common import Types
        from pyflink.datastream import StreamExecutionEnvironment

        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        env.from_collection([(1, "a")], type_info=Types.TUPLE([Types.INT(), Types.STRING()])).print()
        print(env.get_execution_plan().count("Print to Std. Out"))
        """
    )
    assert done.stdout == "2\n", done.stderr


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        (
            "import pyflink.table.descriptors",
            "error: import pyflink.table.descriptors is not supported\n  hint: these classes",
        ),
        ("from pyflink.datastream.connectors.pulsar import PulsarSource", "hint: Pulsar is not part"),
        ("import pyflink.datastream.nowhere", "error: import pyflink.datastream.nowhere is not supported"),
    ],
)
def test_what_is_missing_says_so(aliased, statement, complaint):
    hook = "from firesteel.common.excepthook import install_excepthook\ninstall_excepthook()"
    done = aliased(f"import pyflink.datastream\n{hook}\n{statement}")
    assert done.returncode == 1
    assert complaint in done.stderr


def test_optional_imports_stay_optional(aliased):
    done = aliased(
        """
        try:
            from pyflink.table.descriptors import Rowtime
        except ImportError:
            print("without descriptors")
        """
    )
    assert done.stdout == "without descriptors\n", done.stderr


def test_real_pyflink_must_not_be_there_already(aliased, tmp_path):
    (tmp_path / "pyflink.py").write_text("")
    done = aliased("", before="sys.path.insert(0, '.')\nimport pyflink")
    assert "the alias for pyflink requires that PyFlink is not imported yet" in done.stderr

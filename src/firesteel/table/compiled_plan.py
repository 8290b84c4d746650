"""CompiledPlan: a plan that can be kept, and run by later versions of a program."""

from __future__ import annotations

import json
from pathlib import Path

from firesteel.common.errors import ProgramError
from firesteel.datastream.streams.node_settings import call_site
from firesteel.table.explain_detail import ExplainDetail
from firesteel.table.running import explain_plan, in_step, run_plan
from firesteel.table.session import Session
from firesteel.table.statements.plans import PlanFile
from firesteel.table.table_result import TableResult

__all__ = ["CompiledPlan"]


class CompiledPlan:
    """What COMPILE PLAN writes, as a text of JSON; `execute` starts its job."""

    def __init__(self, text: str, session: Session, who: str = "the compiled plan") -> None:
        self._text = text
        self._session = session
        self._who = who

    def __str__(self) -> str:
        return self._text

    def as_json_string(self) -> str:
        """Return the plan as a text."""
        return self._text

    def as_smile_bytes(self) -> bytes:
        """Return the plan as bytes, which `PlanReference.from_smile_bytes` takes: those of the text, in UTF-8."""
        return self._text.encode()

    def write_to_file(self, file: str | Path, ignore_if_exists: bool = False) -> None:
        """Write the plan to a file, a path or a URL. Raises ProgramError if it is there and must not be."""
        target = PlanFile(str(file))
        if not (ignore_if_exists and target.exists()):
            target.write(self._text, replaces=False)

    def get_flink_version(self) -> str:
        """Return the version of Firesteel that has made the plan."""
        version: str = json.loads(self._text)["firesteelVersion"]
        return version

    def print_json_string(self) -> None:
        """Print the plan."""
        print(self._text)  # noqa: T201 - that is what it does

    def execute(self) -> TableResult:
        """Start the job of the plan. Raises ProgramError for a plan of another mode, or of tables that are gone."""
        return in_step(run_plan(self._text, self._who, self._session), self._session)

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return the operators of the plan, as text. Raises ProgramError for details, which are of queries."""
        if extra_details:
            got = ", ".join(detail.name for detail in extra_details)
            raise ProgramError("takes no details of a compiled plan", who=call_site("explain"), got=got)
        return explain_plan(self._text, self._who, self._session)

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print the operators of the plan."""
        print(self.explain(*extra_details))  # noqa: T201 - that is what it does

"""PlanReference: where a compiled plan is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["BytesContentPlanReference", "FilePlanReference", "JsonContentPlanReference", "PlanReference"]


class PlanReference:
    """A compiled plan: a file, or its content."""

    @staticmethod
    def from_file(path: str | Path) -> FilePlanReference:
        """Return the plan in a file, a path or a URL."""
        return FilePlanReference(str(path))

    @staticmethod
    def from_json_string(json_string: str) -> JsonContentPlanReference:
        """Return the plan that a text of JSON is."""
        return JsonContentPlanReference(json_string)

    @staticmethod
    def from_smile_bytes(smile_bytes: bytes) -> BytesContentPlanReference:
        """Return the plan that `CompiledPlan.as_smile_bytes` has given."""
        return BytesContentPlanReference(smile_bytes)


@dataclass(frozen=True)
class FilePlanReference(PlanReference):
    """A plan in a file."""

    path: str

    def get_file(self) -> Path:
        """Return the file."""
        return Path(self.path).resolve()


@dataclass(frozen=True)
class JsonContentPlanReference(PlanReference):
    """A plan as a text."""

    content: str

    def get_content(self) -> str:
        """Return the text."""
        return self.content


@dataclass(frozen=True)
class BytesContentPlanReference(PlanReference):
    """A plan as bytes."""

    content: bytes

    def get_content(self) -> bytes:
        """Return the bytes."""
        return self.content

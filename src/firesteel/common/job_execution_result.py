"""The result of a job that has ended."""

from __future__ import annotations

from typing import Any

from firesteel.common.job_id import JobID

__all__ = ["JobExecutionResult"]


class JobExecutionResult:
    """The identity of an ended job, how long it ran (milliseconds), and its accumulators.

    >>> print(JobExecutionResult(JobID("0a"), 1500))
    Program execution finished
    Job with JobID 0a has finished.
    Job Runtime: 1500 ms
    """

    def __init__(self, job_id: JobID, net_runtime: int, accumulators: dict[str, Any] | None = None) -> None:
        self._job_id = job_id
        self._net_runtime = net_runtime
        self._accumulators = dict(accumulators or {})

    def get_job_id(self) -> JobID:
        """Return the job's identity."""
        return self._job_id

    def get_net_runtime(self) -> int:
        """Return how long the job ran, in milliseconds."""
        return self._net_runtime

    def get_accumulator_result(self, accumulator_name: str) -> Any:
        """Return the value of an accumulator, or None if there is none of this name."""
        return self._accumulators.get(accumulator_name)

    def get_all_accumulator_results(self) -> dict[str, Any]:
        """Return the values of all accumulators by name."""
        return dict(self._accumulators)

    def __str__(self) -> str:
        lines = [
            "Program execution finished",
            f"Job with JobID {self._job_id} has finished.",
            f"Job Runtime: {self._net_runtime} ms",
        ]
        if self._accumulators:
            lines.append("Accumulator Results: ")
            lines.extend(f"- {name}: {value}" for name, value in self._accumulators.items())
        return "\n".join(lines)

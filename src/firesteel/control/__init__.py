"""The job: its state machine, the epoch loop that drives it, and the user's handle."""

from firesteel.control.handle import JobHandle, JobResult
from firesteel.control.launch import Surroundings, launch
from firesteel.control.listeners import EpochStats, JobListener
from firesteel.control.settings import JobSettings

__all__ = ["EpochStats", "JobHandle", "JobListener", "JobResult", "JobSettings", "Surroundings", "launch"]

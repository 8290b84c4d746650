"""Processes that live for as long as the one that has started them lets them."""

from __future__ import annotations

import subprocess


def close_input(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Close the input of a process that ends with it, and wait; kill it if it has not ended after so many seconds.

    >>> process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    >>> close_input(process, seconds=20)
    >>> process.returncode
    0
    """
    try:
        process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()

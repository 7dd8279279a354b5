# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs the command and reads its JSON."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any, Dict, Sequence

#: Exit statuses with a result on standard output: proved or done, and refuted, unknown or failed.
_RESULTS = (0, 1)


class Error(Exception):
    """The command refused its input, could not do its work, or is not installed.

    ``status`` is its exit status (2 for bad input, 1 for a step that failed), or ``None`` where it never ran.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def executable() -> str:
    """The command's path: what ``RINGFORGE`` names, else what the ``PATH`` has."""
    named = os.environ.get("RINGFORGE")
    found = shutil.which(named or "ringforge")
    if found is None:
        where = f"RINGFORGE names `{named}`, which is not an executable" if named else "`ringforge` is not on the PATH"
        raise Error(f"{where}; install it with `cargo install --path crates/cli`, or set RINGFORGE")
    return found


def run(arguments: Sequence[str], progress: bool = False) -> Dict[str, Any]:
    """Runs the command with ``--json`` and returns its answer.

    With ``progress`` the command's progress reaches standard error while it works.
    """
    command = [executable(), "--json", *arguments]
    stderr = None if progress else subprocess.PIPE
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=stderr, text=True, check=False)
    try:
        answer = json.loads(done.stdout) if done.stdout.strip() else None
    except json.JSONDecodeError:
        answer = None
    if isinstance(answer, dict) and "error" in answer:
        raise Error(_message(answer), done.returncode)
    if done.returncode not in _RESULTS or not isinstance(answer, dict):
        said = (done.stderr or "").strip() or f"`{' '.join(command)}` ended with status {done.returncode}"
        raise Error(said, done.returncode)
    return answer


def _message(answer: Dict[str, Any]) -> str:
    parts = [answer["error"]]
    if answer.get("in") is not None:
        parts.append(f"in {answer['in']}, at {answer.get('at')}: {answer.get('there')}")
    if answer.get("help"):
        parts.append(answer["help"])
    return "; ".join(parts)


def version() -> str:
    """The command's version, such as ``0.1.0``."""
    done = subprocess.run([executable(), "--version"], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.split()[-1]

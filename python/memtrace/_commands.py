# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""The command memtrace as functions."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, Sequence, Union

PathLike = Union[str, "os.PathLike[str]"]


class MemtraceError(RuntimeError):
    """What memtrace says when it cannot do something; ``code`` is its exit code (docs/reference/cli.md)."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


def command() -> str:
    """The program: what the environment variable MEMTRACE names, else ``memtrace`` in PATH."""
    named = os.environ.get("MEMTRACE")
    found = shutil.which(named or "memtrace")
    if found is None:
        raise MemtraceError(f"MEMTRACE is {named}, which is no program" if named
                            else "there is no memtrace in PATH; set the environment variable MEMTRACE to it", 4)
    return found


def run(*arguments: PathLike) -> str:
    """Runs a command of memtrace and returns what it prints."""
    args = [command(), *(os.fspath(a) for a in arguments)]
    done = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise MemtraceError(said[-1] if said else f"memtrace {arguments[0]} ended with {done.returncode}", done.returncode)
    return done.stdout


def record(program: Sequence[PathLike], output: PathLike, options: Sequence[str] = ()) -> Path:
    """Records a program into a new trace directory and returns that. The program has the standard output and error of Python.

    :param program: the program and its arguments
    :param options: of ``memtrace record``, such as ``["--interval", "20ms"]``
    :raises MemtraceError: when nothing was recorded, or the program failed; ``code`` is then that of the program
    """
    done = subprocess.run([command(), "record", *options, "-o", os.fspath(output), "--", *(os.fspath(a) for a in program)])
    if done.returncode != 0:
        raise MemtraceError(f"memtrace record -o {os.fspath(output)} ended with {done.returncode}", done.returncode)
    return Path(output)


def import_(trace: PathLike, output: PathLike) -> dict[str, Any]:
    """Imports a trace directory, or a trace of another tool, into a new database and returns the report of the import."""
    return json.loads(run("import", "--quiet", "--format", "json", "-o", output, trace))


def diff(before: Sequence[PathLike] | PathLike, after: Sequence[PathLike] | PathLike) -> dict[str, Any]:
    """Compares recordings before and after a change: what ``memtrace diff --format json`` prints (docs/reference/json.md)."""
    def several(traces: Sequence[PathLike] | PathLike) -> list[PathLike]:
        return [traces] if isinstance(traces, (str, os.PathLike)) else list(traces)
    return json.loads(run("diff", "--quiet", "--format", "json", *several(before), "--", *several(after)))

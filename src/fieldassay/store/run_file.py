"""`run.json`, the file that makes a folder a run: read, and told from anything else."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

from fieldassay.errors import Problem, ProblemsError

FORMAT = "fieldassay run"
SCHEMA_VERSION = 1
RUN = "run.json"

_REMEDY = "give a folder that `fieldassay score --out` or `--runs` wrote"


def read_run(folder: Path) -> dict[str, Any]:
    """Return what `run.json` of a run folder says. Raises `ProblemsError` if it is not one."""
    file = folder / RUN
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # to open a named pipe would wait for its writer
            raise OSError(0, "is not a file")
        facts = json.loads(file.read_bytes().decode("utf-8"), parse_constant=_refuse_constant)
    except (OSError, ValueError, RecursionError) as error:
        why = error.strerror if isinstance(error, OSError) else "not JSON"
        raise ProblemsError([Problem(str(folder), f"is not a run: {RUN}: {why}", _REMEDY, "run_folder")]) from None
    if not isinstance(facts, dict) or facts.get("format") != FORMAT or facts.get("schema_version") != SCHEMA_VERSION:
        raise ProblemsError([Problem(str(folder), f"is not a run: {RUN} is of another kind", _REMEDY, "run_folder")])
    return facts


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def is_run(folder: Path) -> bool:
    """Return whether a folder holds a run."""
    try:
        return read_run(folder).get("format") == FORMAT
    except ProblemsError:
        return False

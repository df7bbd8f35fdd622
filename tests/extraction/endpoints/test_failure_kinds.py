"""The documentation names every kind of failure of an endpoint, a program or a run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from fieldassay.extraction.endpoints.outcome import Action

ROOT = Path(__file__).parents[3]
NAMED_FIRST = {"Failure", "CommandError"}


def kinds() -> Iterator[str]:
    """Yield what stands after an action, or first in a failure, in the source of the package."""
    for path in sorted((ROOT / "src/fieldassay/extraction/endpoints").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                parts, name = node.args, getattr(node.func, "id", "")
                if name in NAMED_FIRST and parts and isinstance(parts[0], ast.Constant):
                    yield str(parts[0].value)
            else:
                parts = node.elts if isinstance(node, ast.Tuple) else []
            first = [part.value if isinstance(part, ast.Constant) else None for part in parts[:2]]
            if len(first) == 2 and first[0] in get_args(Action) and isinstance(first[1], str):
                yield first[1]


def test_every_kind_of_failure_is_documented() -> None:
    page = (ROOT / "docs/task-resume-and-cost.md").read_text(encoding="utf-8")
    found = set(kinds()) - {"", *get_args(Action)}
    assert {"auth", "rate_limited", "half_answer", "command_died", "budget", "truncated"} <= found
    assert sorted(kind for kind in found if f"`{kind}`" not in page) == []

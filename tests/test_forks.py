"""In a fork of a process that had used tables, what needs them says so at once, and scoring goes on."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fieldassay as fa

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="sees threads the way Linux shows them"
)
ROWS = [{"id": str(at), "total": at} for at in range(9)]
SPEC = {"fields": {"total": "number"}, "checks": {".": {"holds": "total >= 0"}}}


def forked(call: Callable[[], Any]) -> str:
    """Return what a call gives, or raises, in a fork of a process that had used tables."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def answer() -> None:
        try:
            theirs.send(str(call()))
        except BaseException as error:
            theirs.send(type(error).__name__)

    process = context.Process(target=answer)
    process.start()
    told = ours.recv() if ours.poll(20) else "hangs"
    process.kill()
    return told


@pytest.mark.slow
def test_a_fork_scores_and_refuses_tables(tmp_path: Path) -> None:
    result = fa.score(ROWS, ROWS, SPEC)
    assert (
        result.evidence is not None
        and result.evidence.filter(result.evidence["field"] == "total").height == 9
    )
    assert forked(lambda: fa.score(ROWS, ROWS, SPEC).value("accuracy")) == "1.0"
    refused: list[Callable[[], Any]] = [
        lambda: result.evidence, lambda: result.documents, lambda: result.save(tmp_path / "run"),
        lambda: fa.explain_values("5", "6", "number"), lambda: fa.report(result), lambda: fa.gate(result, gates=["accuracy > 0"]),
    ]  # fmt: skip
    assert [forked(call) for call in refused] == ["ForkedError"] * len(refused)

"""Runs of the real command line in this process, and data for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_runs import GOLD, PRED, SPEC, Files, Ran

from fieldassay.cli.main import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    def call(*arguments: Any) -> Ran:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture
def files(tmp_path: Path) -> Files:
    made = Files(tmp_path / "data")
    made.folder.mkdir()
    (made.folder / "spec.yaml").write_text(SPEC, encoding="utf-8")
    made.write("gold.jsonl", GOLD)
    made.write("llama.jsonl", PRED)
    return made

"""Runs of the real command line in this process, and data for them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_runs import Files, Ran, write_tiny
from tests.extraction.endpoints.scripted_server import ScriptedServer

from fieldassay.commands.cli.main import main


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
    folder = tmp_path / "data"
    folder.mkdir()
    return write_tiny(folder)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[ScriptedServer]:
    """Return a server that answers as the function `answer` of the test's file says."""
    with ScriptedServer(request.module.answer) as one:
        yield one

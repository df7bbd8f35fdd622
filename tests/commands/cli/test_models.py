"""`--schema` and `--spec` with Pydantic models of the project in which the command is started."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_runs import Ran

from fieldassay.errors import ProblemsError
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.plan.compile import read_plan

Run = Callable[..., Ran]
MODELS = """
from pydantic import BaseModel
from pkg_of_test.words import Total

class Invoice(BaseModel):
    total: Total
    note: str | None = None

NUMBER = 3
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    package = tmp_path / "pkg_of_test"
    package.mkdir()
    (package / "words.py").write_text("Total = float\n")
    (package / "models.py").write_text(MODELS)
    (package / "broken.py").write_text("1 / 0\n")
    (package / "leaving.py").write_text("raise SystemExit(3)\n")
    (package / "odd-name.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    yield tmp_path
    for name in [name for name in sys.modules if name.split(".")[0] == "pkg_of_test"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "name", ["pkg_of_test.models:Invoice", "pkg_of_test/models.py:Invoice", "./pkg_of_test/models.py:Invoice"]
)
def test_a_model_of_the_project_is_found_from_its_folder(run: Run, project: Path, name: str) -> None:
    before = list(sys.path)
    ran = run("init", "--schema", name)
    assert ran.code == 0, ran.err
    assert read_plan(ran.out).slots == ("total", "note")
    assert run("validate", "--spec", name).code == 0
    assert sys.path == before


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pkg_of_test.models:Bill", "has no attribute 'Bill'"),
        ("pkg_of_test.models:NUMBER", "is not a class"),
        ("pkg_of_test.nothing:Invoice", "cannot be imported"),
        ("pkg_of_test.broken:Invoice", "cannot be imported (ZeroDivisionError: division by zero)"),
        ("pkg_of_test.leaving:Invoice", "cannot be imported (SystemExit: 3)"),
        ("pkg_of_test/nothing.py:Invoice", "pkg_of_test/nothing.py: is not a file"),
        ("pkg_of_test/odd-name.py:Invoice", "go to the project's folder and write MODULE:Invoice"),
    ],
)
def test_a_model_that_cannot_be_found_is_a_problem(run: Run, project: Path, name: str, said: str) -> None:
    for command in (("init", "--schema", name), ("validate", "--spec", name)):
        ran = run(*command)
        assert ran.code == 2 and said in ran.out + ran.err


def test_a_file_of_another_folder_is_refused_with_what_to_write(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = project / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    ran = run("init", "--schema", "../pkg_of_test/models.py:Invoice")
    assert ran.code == 2 and "write MODULE:Invoice" in ran.err


def test_only_the_command_line_looks_into_the_current_folder(project: Path) -> None:
    with pytest.raises(ProblemsError, match="cannot be imported"):
        read_spec("pkg_of_test.models:Invoice")
    with pytest.raises(ProblemsError, match="names a class in a file"):
        read_spec("pkg_of_test/models.py:Invoice")

"""The pytest plugin, run as a team would run it: in a session, and a process, of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fieldassay.commands.pytest_plugin import ExtractionError

SPEC = (
    "name: bills\nfields: {total: money, name: text}\ngates: [accuracy >= 0.9, 'field_accuracy[total] "
    ">= 0.5']\n"
)
GOLD = [{"id": k, "total": f"{k}.00", "name": f"Shop {k}"} for k in range(4)]
GOOD = [{"id": k, "total": k, "name": f"Shop {k}"} for k in range(4)]
BAD = [{"id": k, "total": k, "name": "Shop \x1b[31m <x>"} for k in range(4)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "spec.yaml").write_text(SPEC)
    for name, rows in {"gold": GOLD, "good": GOOD, "bad": BAD}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


Session = Callable[..., tuple[int, str]]


@pytest.fixture
def session(programs: Path, folder: Path) -> Session:
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return lambda *arguments: run_session(
        [programs / "pytest", "-p", "fieldassay.commands.pytest_plugin"], folder, environment, *arguments
    )


def run_session(
    program: list[Any], folder: Path, environment: Mapping[str, str], *arguments: str
) -> tuple[int, str]:
    command = [*program, "-p", "no:cacheprovider", "-v", "--rootdir", str(folder), *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_pytest_finds_the_plugin_by_itself(folder: Path) -> None:
    """The other tests name it, and fork a pytest that has started."""
    program = [sys.executable, "-m", "pytest"]
    code, out = run_session(program, folder, os.environ, *scored("--fieldassay-pred", "good.jsonl"))
    assert (code, "2 passed" in out) == (0, True), out


def scored(*more: str) -> tuple[str, ...]:
    return ("--fieldassay-spec", "spec.yaml", "--fieldassay-gold", "gold.jsonl", *more)


def test_gates_that_hold_are_tests_that_pass(session: Session) -> None:
    code, out = session(*scored("--fieldassay-pred", "good.jsonl"))
    assert code == 0, out
    assert "2 passed" in out


def test_a_gate_that_fails_names_the_worst_field_with_an_example_and_no_traceback(session: Session) -> None:
    code, out = session(*scored("--fieldassay-pred", "good.jsonl", "--fieldassay-pred", "new=bad.jsonl"))
    assert code == 1
    assert "3 passed" in out and "1 failed" in out
    assert "accuracy >= 0.9" in out and "worst fields:" in out and "name" in out and "Shop 0" in out
    assert (
        "Traceback" not in out
        and "pytest_plugin.py" not in out
        and "\x1b[31m" not in out.replace("\x1b[31m\x1b[1m", "")
    )


def test_a_gate_on_the_command_line_comes_on_top_and_an_unknown_metric_is_said_before_any_test(
    session: Session,
) -> None:
    code, out = session(*scored("--fieldassay-pred", "good.jsonl", "--fieldassay-gate", "f1 >= 0.99"))
    assert (code, "3 passed" in out) == (0, True)
    code, out = session(*scored("--fieldassay-pred", "good.jsonl", "--fieldassay-gate", "acuracy >= 0.99"))
    assert code == 4
    assert "did you mean 'accuracy'?" in out


OPEN = ("--fieldassay-pred", "good.jsonl", "--fieldassay-gate", "regression(accuracy) > -0.01")


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [((), 1, "1 failed"), (("--fieldassay-xfail-inconclusive",), 0, "1 xfailed")],
    ids=["fails", "expected-failure"],
)
def test_a_gate_that_cannot_be_decided_never_passes(
    session: Session, more: tuple[str, ...], code: int, said: str
) -> None:
    found, out = session(*scored(*OPEN, *more))
    assert (found, said in out, "2 passed" in out) == (code, True, True), out
    assert "no baseline" in out or more


def test_a_gate_that_fails_is_no_expected_failure(session: Session) -> None:
    code, out = session(*scored("--fieldassay-pred", "bad.jsonl", "--fieldassay-xfail-inconclusive"))
    assert (code, "1 failed" in out, "xfailed" in out) == (1, True, False), out


def test_each_gate_of_the_spec_is_a_test_of_its_own_name(session: Session) -> None:
    code, out = session(*scored("--fieldassay-pred", "llama=good.jsonl", "--collect-only"))
    assert code == 0
    assert "llama: accuracy >= 0.9" in out and "llama: field_accuracy[total] >= 0.5" in out


FROZEN = (("spec", "spec.yaml"), ("gold", "gold.jsonl"), ("pred", "good.jsonl"))
BASELINE = ("--fieldassay-gate", "regression(accuracy) > -0.01")


@pytest.mark.parametrize(
    ("pred", "file", "more", "code", "said"),
    [
        ("good", "base.json", ("--fieldassay-baseline", "base.json"), 0, "3 passed"),
        ("good", "fieldassay-baseline.json", (), 0, "3 passed"),
        ("bad", "base.json", ("--fieldassay-baseline", "base.json"), 1, "regression(accuracy) > -0.01"),
        (
            "good",
            "base.json",
            ("--fieldassay-baseline", "nope.json", "--fieldassay-xfail-inconclusive"),
            4,
            "nope.json",
        ),
    ],
    ids=["named", "by-its-name", "worse", "not-there"],
)
def test_regressions_are_measured_against_the_baseline(
    folder: Path, session: Session, pred: str, file: str, more: Any, code: int, said: str
) -> None:
    from fieldassay.commands.cli.main import main

    for name, rows in {"gold": GOLD, "good": GOOD, "bad": BAD}.items():
        many = [{**row, "id": f"{row['id']}-{k}"} for row in rows for k in range(10)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in many))
    given = [
        f"--{option}={folder / path}"
        for option, path in (("spec", "spec.yaml"), ("gold", "gold.jsonl"), ("pred", "good.jsonl"))
    ]
    assert main(["score", *given, f"--out={folder / 'run'}", "--quiet"]) == 0
    assert main(["baseline", "set", str(folder / "run"), f"--out={folder / file}", "--reason=first"]) == 0
    found, out = session(*scored("--fieldassay-pred", f"{pred}.jsonl", *BASELINE, *more))
    assert (found, said in out) == (code, True), out


def test_a_frozen_baseline_refuses_other_gold_without_a_gate_on_it(folder: Path, session: Session) -> None:
    from fieldassay.commands.cli.main import main

    for name, rows in {"gold": GOLD, "good": GOOD}.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    given = [f"--{name}={folder / file}" for name, file in FROZEN]
    assert main(["score", *given, f"--out={folder / 'run'}", "--quiet"]) == 0
    assert main(["baseline", "set", str(folder / "run"), f"--out={folder / 'frozen.json'}", "--freeze"]) == 0
    options = scored("--fieldassay-pred", "good.jsonl", "--fieldassay-baseline", "frozen.json")
    assert session(*options)[0] == 0
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in GOLD[1:]))
    code, out = session(*options)
    assert (code, "1 document removed" in out) == (4, True), out


def test_a_gate_that_does_not_apply_is_skipped(folder: Path, session: Session) -> None:
    gate = ("--fieldassay-gate", "accuracy{type=invoice} >= 0.9 if present")
    (folder / "spec.yaml").write_text(SPEC + "slices: [type]\n")
    code, out = session(*scored("--fieldassay-pred", "good.jsonl", *gate))
    assert (code, "1 skipped" in out) == (0, True), out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--fieldassay-gold", "gold.jsonl", "--fieldassay-pred", "good.jsonl"),
            "either --fieldassay-spec FILE or --fieldassay-protocol NAME",
        ),
        (("--fieldassay-spec", "spec.yaml"), "--fieldassay-gold and --fieldassay-pred missing"),
        (scored("--fieldassay-pred", "none.jsonl"), "none.jsonl"),
        (
            (
                "--fieldassay-protocol",
                "slot-fillin",
                "--fieldassay-gold",
                "gold.jsonl",
                "--fieldassay-pred",
                "good.jsonl",
            ),
            "did you mean 'slot-filling'?",
        ),
    ],
    ids=["no-spec", "spec-alone", "no-file", "unknown-protocol"],
)
def test_what_cannot_be_scored_is_a_usage_error(
    session: Session, arguments: tuple[str, ...], said: str
) -> None:
    code, out = session(*arguments)
    assert code == 4, out
    assert said in out
    assert "Traceback" not in out


def test_a_session_without_the_options_is_left_alone(folder: Path, session: Session) -> None:
    (folder / "test_one.py").write_text("def test_one(): pass\n")
    code, out = session()
    assert (code, "1 passed" in out) == (0, True)


def test_gates_stand_beside_the_other_tests_of_a_session(folder: Path, session: Session) -> None:
    (folder / "test_one.py").write_text(
        "def test_one(assert_extraction):\n    assert_extraction({'a': 1}, {'a': 1}, 'fields: {a: number}')\n"
    )
    code, out = session(*scored("--fieldassay-pred", "good.jsonl"))
    assert (code, "3 passed" in out) == (0, True)


@pytest.mark.parametrize("gates", [(), "accuracy >= 0.99", ["accuracy >= 0.1", "f1 >= 0.99"]])
def test_the_fixture_shows_the_worst_fields(assert_extraction: Any, gates: Any) -> None:
    spec = "fields: {total: money, name: text, city: text}"
    with pytest.raises(ExtractionError) as caught:
        assert_extraction(
            {"total": "1", "name": "Ada", "city": "Bern"},
            {"total": "1.00", "name": "Ida", "city": None},
            spec,
            gates,
        )
    told = str(caught.value)
    assert (
        "FAIL" in told
        and "Ada" in told
        and "Ida" in told
        and "city" in told
        and "total" not in told.split("worst fields:")[1]
    )


def test_the_fixture_returns_the_result_and_takes_whatever_score_takes(
    assert_extraction: Any, folder: Path
) -> None:
    assert (
        assert_extraction({"a": 1, "id": "x"}, {"a": 1.0, "id": "x"}, "fields: {a: number, id: id}").value(
            "accuracy"
        )
        == 1.0
    )
    assert (
        assert_extraction(folder / "gold.jsonl", folder / "good.jsonl", folder / "spec.yaml").value(
            "accuracy"
        )
        == 1.0
    )
    with pytest.raises(ExtractionError):
        assert_extraction(folder / "gold.jsonl", folder / "bad.jsonl", folder / "spec.yaml")


def test_the_fixture_fails_where_nothing_can_be_said(assert_extraction: Any) -> None:
    with pytest.raises(ExtractionError, match="INCONCLUSIVE"):
        assert_extraction({"a": None}, {"a": None}, "fields: {a: number}", "accuracy >= 0.9")


@pytest.mark.parametrize(
    "option",
    [("--fieldassay-gate", "accuracy >= 0.9"), ("--fieldassay-baseline", "base.json")],
    ids=lambda pair: pair[0],
)
def test_gates_and_a_baseline_without_data_are_refused(session: Session, option: tuple[str, str]) -> None:
    code, out = session(*option)
    assert (code, "give either --fieldassay-spec" in out) == (4, True), out


def test_an_extraction_of_which_every_gate_is_skipped_does_not_hold(folder: Path, session: Session) -> None:
    (folder / "test_own.py").write_text(
        "def test_own(assert_extraction):\n"
        "    rows = [{'id': 1, 'n': 5, 'type': 'a'}]\n"
        "    assert_extraction(rows, rows, 'fields: {n: number, type: text}', 'accuracy{type=b} >= 0.9 if "
        "present')\n"
    )
    code, out = session("test_own.py")
    assert (code, "is not good enough" in out, "SKIPPED" in out) == (1, True, True), out

"""`fieldassay lock`, and scoring that is held to a lock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_runs import GOLD, SPEC, Files, Ran

Run = Callable[..., Ran]
FAST = ("--bootstrap", "0")
REASON = "two labels were wrong"


class Locked:
    """Files with a lock, and the commands on them."""

    def __init__(self, run: Run, files: Files) -> None:
        self.run, self.files, self.file = run, files, files.folder / "base.lock.json"

    def lock(self, *more: Any) -> Ran:
        spec, gold = self.files.folder / "spec.yaml", self.files.folder / "gold.jsonl"
        return self.run("lock", "--spec", spec, "--gold", gold, "--lock", self.file, *more)

    def score(self, *more: Any) -> Ran:
        return self.run("score", *self.files.inputs, *FAST, "--lock", self.file, *more)

    def change_spec(self, before: str, after: str) -> None:
        assert before in SPEC
        (self.files.folder / "spec.yaml").write_text(SPEC.replace(before, after), encoding="utf-8")

    @property
    def history(self) -> list[Any]:
        return list(json.loads(self.file.read_text(encoding="utf-8"))["history"])

    def names(self) -> set[str]:
        return {path.name for path in self.files.folder.iterdir()}


@pytest.fixture
def locked(run: Run, files: Files) -> Locked:
    made = Locked(run, files)
    assert made.lock().code == 0
    return made


def change_metrics(locked: Locked) -> None:
    locked.change_spec("name: tiny", "name: tiny\nmetrics: [accuracy]")


CHANGES: dict[str, tuple[Callable[[Locked], object], str]] = {
    "spec": (
        lambda locked: locked.change_spec("critical: true", "weight: 2"),
        "the spec differs: fields.total.critical was removed (true)",
    ),
    "formulas": (change_metrics, 'the formulas differ: metrics was [], is now ["accuracy"]'),
    "gold": (
        lambda locked: locked.files.write("gold.jsonl", [*GOLD[:2], {"id": "d4"}]),
        "the gold differs: 1 document added (d4), 1 removed (d3)",
    ),
    "one value": (
        lambda locked: locked.files.write("gold.jsonl", [*GOLD[:2], {**GOLD[2], "name": "CY"}]),
        "the gold differs: 1 document changed (d3)",
    ),
}


def test_a_lock_is_written_once_and_then_left_alone(run: Run, files: Files) -> None:
    made = Locked(run, files)
    first = made.lock()
    data = made.file.read_bytes()
    second = made.lock()
    assert (first.code, second.code) == (0, 0)
    assert "commit it" in first.out and "3 documents" in first.out
    assert "nothing was written" in second.out
    assert made.file.read_bytes() == data


def test_the_default_name_is_in_the_current_folder(
    run: Run, files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("lock", *files.inputs[:4]).code == 0
    assert (tmp_path / "fieldassay.lock.json").is_file()


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_refused_by_every_command_and_nothing_is_written(
    name: str, locked: Locked, tmp_path: Path
) -> None:
    change, said = CHANGES[name]
    data = locked.file.read_bytes()
    change(locked)
    before = locked.names()
    for ran in (
        locked.lock(),
        locked.lock("--check"),
        locked.score("--out", tmp_path / "run"),
        locked.score("--quiet"),
    ):
        assert (ran.code, ran.out) == (2, "")
        assert said in ran.err and "--reset-baseline" in ran.err
    assert locked.file.read_bytes() == data and locked.names() == before
    assert not (tmp_path / "run").exists()


def test_a_refusal_comes_before_any_work(locked: Locked, tmp_path: Path) -> None:
    CHANGES["gold"][0](locked)
    (locked.files.folder / "llama.jsonl").unlink()
    ran = locked.score("--out", tmp_path / "run")
    assert ran.code == 2 and "the gold differs" in ran.err and "llama" not in ran.err


@pytest.mark.parametrize("name", CHANGES)
def test_check_says_as_json_what_differs(name: str, locked: Locked) -> None:
    same = json.loads(locked.lock("--check", "--json").out)
    assert (same["status"], same["differences"], same["documents"]) == ("equal", [], 3)
    CHANGES[name][0](locked)
    ran = locked.lock("--check", "--json")
    found = json.loads(ran.out)
    assert (ran.code, found["status"]) == (2, "different")
    assert [one["part"] for one in found["differences"]] == [{"one value": "gold"}.get(name, name)]
    assert found["differences"][0]["changes"] and found["digests"] == same["digests"]


def test_what_decides_no_number_is_no_change(locked: Locked) -> None:
    locked.change_spec(
        "name: tiny", "name: other\ngates: [accuracy >= 0.5]\nslices: [kind]\ndescription: the same"
    )
    locked.files.write("gold.jsonl", [dict(reversed(row.items())) for row in reversed(GOLD)])
    ran = locked.lock("--check")
    assert ran.code == 0 and "as locked" in ran.out


@pytest.mark.parametrize("name", CHANGES)
def test_a_reset_keeps_its_reason(name: str, locked: Locked) -> None:
    CHANGES[name][0](locked)
    ran = locked.lock("--reset-baseline", "--reason", f" {REASON} ")
    assert ran.code == 0 and f"number 2: {REASON}" in ran.out
    assert [entry["reason"] for entry in locked.history] == [None, REASON]
    assert locked.lock("--check").code == 0 and locked.score().code == 0


def test_scoring_with_a_reset_writes_the_run_and_the_lock(locked: Locked, tmp_path: Path) -> None:
    CHANGES["gold"][0](locked)
    ran = locked.score("--out", tmp_path / "run", "--reset-baseline", "--reason", REASON)
    facts = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["lock"]
    assert ran.code == 0 and f"number 2: {REASON}" in ran.err
    assert (facts["status"], facts["reason"], facts["documents"]) == ("reset", REASON, 3)
    assert facts["digests"] == {
        part: locked.history[1][part] for part in ("spec", "formulas", "models", "gold")
    }


def test_a_run_says_which_lock_it_was_held_to(locked: Locked, tmp_path: Path) -> None:
    assert locked.score("--out", tmp_path / "run").code == 0
    record = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert record["lock"]["status"] == "equal" and record["lock"]["path"] == str(locked.file)
    assert record["lock"]["digests"]["spec"] == record["spec"]["digest"]
    assert record["lock"]["created"] == locked.history[0]["created"]


def test_a_failed_run_does_not_start_a_baseline(locked: Locked, tmp_path: Path) -> None:
    CHANGES["spec"][0](locked)
    data = locked.file.read_bytes()
    (locked.files.folder / "llama.jsonl").write_text("", encoding="utf-8")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").touch()
    ran = locked.score("--out", tmp_path / "run", "--reset-baseline", "--reason", REASON)
    assert ran.code == 2 and locked.file.read_bytes() == data


@pytest.mark.slow
def test_a_lock_that_changes_while_a_run_lasts_is_not_overwritten(
    locked: Locked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fieldassay.public import running as scoring

    whole = scoring.score

    def score_while_another_resets(*given: Any) -> Any:
        found = whole(*given)
        code = (
            "import sys; from fieldassay.cli.main import main; "
            f"sys.exit(main({['lock', *locked.files.inputs[:4], '--lock', str(locked.file)]!r}"
        )
        code += " + ['--reset-baseline', '--reason', 'theirs']))"
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
            timeout=600,
        )
        return found

    monkeypatch.setattr(scoring, "score", score_while_another_resets)
    ran = locked.score("--out", tmp_path / "run", "--reset-baseline", "--reason", "mine")
    assert ran.code == 2 and "was changed by someone else meanwhile" in ran.err
    assert [entry["reason"] for entry in locked.history] == [None, "theirs"]
    assert not (tmp_path / "run").exists()


def test_a_limit_does_not_make_the_lock_lie(locked: Locked, tmp_path: Path) -> None:
    ran = locked.score("--limit", 1, "--out", tmp_path / "run")
    record = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert ran.code == 0 and record["lock"]["documents"] == 3 and record["limit"] == 1
    assert any("only 1 of the 3 documents" in warning for warning in record["warnings"])
    locked.files.write("gold.jsonl", [*GOLD[:2], {**GOLD[2], "name": "CY"}])
    assert locked.score("--limit", 1).code == 2
    data = locked.file.read_bytes()
    ran = locked.score("--limit", 1, "--reset-baseline", "--reason", REASON)
    assert ran.code == 2 and "--limit" in ran.err and locked.file.read_bytes() == data


USAGE: dict[str, tuple[tuple[str, ...], str]] = {
    "reset without a reason": (("--reset-baseline",), "needs --reason"),
    "an empty reason": (("--reset-baseline", "--reason", " "), "says nothing"),
    "a reason without reset": (("--reason", REASON), "goes with --reset-baseline"),
}


@pytest.mark.parametrize("command", ["lock", "score"])
@pytest.mark.parametrize("name", USAGE)
def test_a_new_baseline_is_asked_for_with_a_reason(name: str, command: str, locked: Locked) -> None:
    options, said = USAGE[name]
    data = locked.file.read_bytes()
    ran = getattr(locked, command)(*options)
    assert ran.code == 2 and said in ran.err
    assert locked.file.read_bytes() == data


def test_check_writes_nothing(run: Run, files: Files) -> None:
    made = Locked(run, files)
    ran = made.lock("--check")
    assert ran.code == 2 and "there is no lock here" in ran.err and not made.file.exists()
    assert made.lock("--check", "--reset-baseline", "--reason", REASON).code == 2
    assert not made.file.exists()


@pytest.mark.parametrize("options", [(), ("--reset-baseline", "--reason", REASON)])
def test_scoring_against_a_lock_that_is_not_there_is_refused(
    options: tuple[str, ...], run: Run, files: Files, tmp_path: Path
) -> None:
    made = Locked(run, files)
    ran = made.score("--out", tmp_path / "run", *options)
    assert ran.code == 2 and "there is no lock here" in ran.err
    assert not made.file.exists() and not (tmp_path / "run").exists()


def test_a_reset_of_scoring_needs_a_lock(run: Run, files: Files) -> None:
    ran = run("score", *files.inputs, *FAST, "--reset-baseline", "--reason", REASON)
    assert ran.code == 2 and "--lock FILE" in ran.err


def test_gold_from_standard_input_can_be_locked_but_not_scored_against_a_lock(locked: Locked) -> None:
    spec, pred = locked.files.folder / "spec.yaml", locked.files.folder / "llama.jsonl"
    ran = locked.run("score", "--spec", spec, "--gold", "-", "--pred", pred, "--lock", locked.file)
    assert ran.code == 2 and "read twice" in ran.err


def test_the_gold_may_stand_under_a_key(run: Run, files: Files) -> None:
    made = Locked(run, files)
    assert made.lock().code == 0
    gold = files.write("nested.jsonl", [{"id": row["id"], "gold": row, "prediction": "x"} for row in GOLD])
    again = run(
        "lock",
        *files.inputs[:2],
        "--gold",
        gold,
        "--gold-key",
        "gold",
        "--lock",
        made.file,
        "--check",
        "--json",
    )
    assert json.loads(again.out)["documents"] == 3


def test_a_broken_lock_is_refused_by_every_command(locked: Locked) -> None:
    locked.file.write_text("<<<<<<< ours\n", encoding="utf-8")
    for ran in (
        locked.lock(),
        locked.lock("--check"),
        locked.lock("--reset-baseline", "--reason", REASON),
        locked.score(),
    ):
        assert ran.code == 2 and "is not JSON" in ran.err and "version control" in ran.err
    assert locked.file.read_text(encoding="utf-8") == "<<<<<<< ours\n"


@pytest.mark.parametrize("text", ["\x1b[2J", "\u202eabc", "a\nb"])
def test_hostile_names_cannot_move_the_cursor(text: str, locked: Locked) -> None:
    locked.files.write("gold.jsonl", [*GOLD, {"id": f"x{text}y"}])
    ran = locked.lock("--check")
    assert ran.code == 2 and text not in ran.err
    ran = locked.lock("--reset-baseline", "--reason", f"because{text}of this")
    assert ran.code == 0 and text not in ran.out

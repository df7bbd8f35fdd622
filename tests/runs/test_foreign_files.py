"""What the tool did not write itself is never removed or written over."""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest
from store_runs import kill, make_run, start_writer

from fieldassay.commands.cli.main import main
from fieldassay.io.files.staging import OLD_ENOUGH, discard, list_foreign, replace
from fieldassay.runs.run_file import OWN_FILES
from fieldassay.runs.store.listing import list_dead

NOW = datetime.now(UTC)
THEIRS = {
    "notes.txt": "note",
    "myreport.html": "<p>",
    ".gitignore": "*",
    "kept/deep/file": "deep",
    "metrics.json.bak": "{}",
}


def put(folder: Path) -> None:
    for name, text in THEIRS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def check_kept(folder: Path) -> None:
    assert {name: (folder / name).read_text() for name in THEIRS} == THEIRS


def test_scoring_over_a_run_keeps_what_is_not_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gold.jsonl").write_text('{"id": "a", "n": 1}\n')
    command = [
        "score",
        "--gold",
        str(tmp_path / "gold.jsonl"),
        "--pred",
        str(tmp_path / "gold.jsonl"),
        "--out",
        str(tmp_path / "run"),
    ]
    (tmp_path / "spec.yaml").write_text("fields: {n: number}")
    command += ["--spec", str(tmp_path / "spec.yaml"), "--bootstrap", "0"]
    assert main(command) == 0
    put(tmp_path / "run")
    (tmp_path / "run" / "report.html").write_text("stale")
    (tmp_path / "run" / "metrics.json").write_text("edited")
    (tmp_path / "run" / "link").symlink_to(tmp_path / "gold.jsonl")
    assert main(command) == 0
    check_kept(tmp_path / "run")
    assert (tmp_path / "run" / "link").is_symlink()
    assert (tmp_path / "run" / "metrics.json").read_text() != "edited"
    assert not (tmp_path / "run" / "report.html").exists()
    assert "kept in" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_killed_writer_loses_nothing_of_somebody_else(programs: Path, tmp_path: Path) -> None:
    moments = random.Random(7)
    start_writer(programs, tmp_path / "run", "folder", 1).communicate()
    assert (tmp_path / "run").is_dir()
    put(tmp_path / "run")
    for _ in range(6):
        kill(start_writer(programs, tmp_path / "run", "folder", 10_000), moments.uniform(0.01, 0.2))
        check_kept(tmp_path / "run")
        for path in list_dead(tmp_path, NOW + 2 * OLD_ENOUGH):
            discard(path)
        check_kept(tmp_path / "run")


def test_what_was_saved_while_the_folders_changed_places_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    for folder in (new, old):
        folder.mkdir()
        (folder / "run.json").write_text(folder.name)
    (old / "notes.txt").write_text("first")

    def meanwhile(one: Path, other: Path) -> bool:
        (other / "notes.txt").unlink()
        (other / "notes.txt").write_text("second")
        os.utime(other / "notes.txt", (9e9, 9e9))
        (other / "new.txt").write_text("new")
        return swap(one, other)

    from fieldassay.io.files import staging

    swap = staging.exchange
    monkeypatch.setattr(staging, "exchange", meanwhile)
    replace(new, old, OWN_FILES)
    assert {path.name: path.read_text() for path in old.iterdir()} == {
        "run.json": "new",
        "notes.txt": "second",
        "new.txt": "new",
    }


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_folder_is_replaced_around_them_on_any_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_exchange: bool
) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    for folder in (new, old):
        folder.mkdir()
        (folder / "run.json").write_text(folder.name)
    put(old)
    if not can_exchange:
        monkeypatch.setattr("fieldassay.io.files.staging.exchange", lambda one, other: False)
    replace(new, old, OWN_FILES)
    check_kept(old)
    assert (old / "run.json").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_run_with_files_of_somebody_is_not_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path / "runs")
    put(run)
    assert main(["runs", "rm", str(run), "--yes", "--leftovers", "--runs", str(tmp_path / "runs")]) == 2
    check_kept(run)
    assert (run / "run.json").exists()
    assert "not the run's" in capsys.readouterr().err


def test_a_report_is_not_written_over_a_part_of_a_run(tmp_path: Path) -> None:
    run = make_run(tmp_path / "runs")
    for name in sorted(OWN_FILES - {"report.html"}):
        assert main(["report", str(run), "--format", "markdown", "--out", str(run / name)]) == 2
    assert list_foreign(run, OWN_FILES) == ()


def test_everything_that_writing_makes_is_the_runs_own(programs: Path, tmp_path: Path) -> None:
    start_writer(programs, tmp_path / "run", "folder", 1).communicate()
    assert list_foreign(tmp_path / "run", OWN_FILES) == ()

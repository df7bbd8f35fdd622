"""`fieldassay runs`, and `score` with a store of runs."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_runs import GOLD, SPEC, Files, Ran
from store_runs import make_run

Run = Callable[..., Ran]
FAST = ("--bootstrap", "50")


class Store:
    """Files, a store of runs, and the commands on them."""

    def __init__(self, run: Run, files: Files) -> None:
        self.run, self.files, self.folder = run, files, files.folder.parent / "runs"

    def score(self, *more: Any) -> dict[str, Any]:
        """Score into the store; return the record of the new run."""
        before = set(self.folder.glob("2*"))
        ran = self.run("score", *self.files.inputs, *FAST, "--runs", self.folder, *more)
        assert ran.code == 0, ran.err
        return self.record(before)

    def record(self, before: set[Path]) -> dict[str, Any]:
        (made,) = set(self.folder.glob("2*")) - before
        found: dict[str, Any] = json.loads((made / "run.json").read_text(encoding="utf-8"))
        return found

    def runs(self, *arguments: Any) -> Ran:
        return self.run("runs", arguments[0], *arguments[1:], "--runs", self.folder)

    def listed(self, *more: Any) -> dict[str, Any]:
        ran = self.runs("list", "--json", *more)
        assert ran.code == 0, ran.err
        found: dict[str, Any] = json.loads(ran.out)
        return found


@pytest.fixture
def store(run: Run, files: Files) -> Store:
    return Store(run, files)


def test_a_run_gets_a_name_of_its_own_and_is_listed(store: Store) -> None:
    record = store.score("--evidence", "errors")
    (folder,) = store.folder.iterdir()
    assert (
        folder.name
        == f"{record['started'][:19].replace('-', '').replace(':', '')}Z_tiny_llama_{record['id']}"
    )
    assert set(record["files"]) == {path.name for path in folder.iterdir()} - {"run.json"}
    (run,) = store.listed()["runs"]
    assert (run["id"], run["status"], run["systems"], run["spec"], run["gates"]) == (
        record["id"],
        "complete",
        ["llama"],
        "tiny",
        None,
    )
    assert run["headline"][0]["metric"] == "accuracy"
    ran = store.runs("list")
    assert record["id"] in ran.out
    assert "n=3" in ran.out


def test_the_classes_of_documents_add_up(store: Store) -> None:
    answers: list[Any] = [
        {"id": "scored", "total": 1},
        {"id": "invalid", "raw": "no answer at all"},
        {"id": "error", "error": "refused"},
        {"id": "timeout", "error": "timed out"},
        {"id": "error with data", "total": 1, "error": "cut off"},
    ]
    store.files.write(
        "gold.jsonl", [{"id": row["id"], "total": "1"} for row in answers] + [{"id": "missing", "total": "1"}]
    )
    store.files.write("llama.jsonl", answers)
    classes = store.score()["counts"]["systems"]["llama"]["classes"]
    assert classes == {
        "attempted": 6,
        "scored": 1,
        "missing": 1,
        "invalid": 1,
        "error": 2,
        "timeout": 1,
        "failed": 0,
    }
    assert classes["attempted"] == sum(classes.values()) - classes["attempted"]
    assert "error" in store.runs("show", "latest").out


@pytest.mark.parametrize("state", ["none", "no commit", "clean", "dirty"])
def test_the_commit_of_the_current_folder_is_kept(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    if state != "none":
        subprocess.run([*git, "init", "-q"], check=True)
    if state in ("clean", "dirty"):
        (work / "file").write_text("1")
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "first"], check=True)
    if state == "dirty":
        (work / "file").write_text("2")
    found = store.score()["git"]
    if state in ("none", "no commit"):
        assert found is None
        return
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    assert found == {"commit": commit, "is_dirty": state == "dirty"}


def test_without_git_the_run_is_made_all_the_same(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert store.score()["git"] is None


def test_gates_and_limits_are_in_the_status(store: Store) -> None:
    (store.files.folder / "spec.yaml").write_text(SPEC + "gates: [accuracy >= 0.99]\n")
    assert store.run("score", *store.files.inputs, *FAST, "--runs", store.folder, "--limit", "2").code == 1
    (run,) = store.listed()["runs"]
    assert (run["status"], run["gates"]) == ("partial", "FAIL")
    text = " ".join(store.runs("list").out.split())
    assert "partial (2" in text  # how lines break depends on the width of the terminal
    assert "FAIL" in text


def test_many_systems_are_listed_best_first(store: Store) -> None:
    store.files.write("good.jsonl", GOLD)
    more = [
        part for number in range(4) for part in ("--pred", f"s{number}={store.files.folder / 'llama.jsonl'}")
    ]
    record = store.score(*more, "--pred", f"good={store.files.folder / 'good.jsonl'}")
    (folder,) = store.folder.iterdir()
    assert f"_llama+5_{record['id']}" in folder.name
    out = store.runs("list").out
    assert out.index("good") < out.index("llama")
    assert "and 3 more" in out


def test_the_history_of_a_field_and_of_a_slice_is_listed(run: Run, tmp_path: Path) -> None:
    """SUPPLIER_NAME goes from (0.9 + 1) / 2 to 1, and so does the invoice, from 0.9 to 1."""
    head = "image_file,DOCUMENT_TYPE,SUPPLIER_NAME\n"
    (tmp_path / "gold.csv").write_text(head + "a,invoice,Oak Street Shop of Books\nb,receipt,Elm\n")
    (tmp_path / "old.csv").write_text(head + "a,invoice,Oak Street Shop\nb,receipt,Elm\n")
    command = ("score", "--protocol", "business-documents", "--gold", tmp_path / "gold.csv", *FAST, "-q")
    for name in ("old", "gold"):
        run(*command, "--pred", f"m={tmp_path / name}.csv", "--runs", tmp_path / "runs")

    def values(*words: str) -> list[float]:
        listed = json.loads(run("runs", "list", "--runs", tmp_path / "runs", "--json", *words).out)["runs"]
        return [one["value"] for made in listed for one in made["headline"]]

    assert values("--field", "SUPPLIER_NAME") == pytest.approx([1.0, 0.95])
    shown = run("runs", "list", "--runs", tmp_path / "runs", "--slice", "type=invoice").out
    assert "type=invoice" in shown and "95.0%" in shown
    assert (
        "no run has a number for nope"
        in run("runs", "list", "--runs", tmp_path / "runs", "--field", "nope").out
    )
    assert run("runs", "list", "--runs", tmp_path / "runs", "--slice", "invoice").code == 2


def test_runs_are_shown(store: Store) -> None:
    first, _ = make_run(store.folder, 1), make_run(store.folder, 2)
    assert store.runs("show", first.name).out.startswith(first.name)
    assert json.loads(store.runs("show", "latest", "--json").out)["record"]["format"] == "fieldassay run"


def test_damaged_runs_are_listed(store: Store) -> None:
    folder = make_run(store.folder)
    (folder / "run.json").write_bytes((folder / "run.json").read_bytes()[:40])
    ran = store.runs("list")
    assert ran.code == 0 and "damaged" in ran.out and "Traceback" not in ran.err
    assert store.runs("show", "latest").code == 0


HOSTILE: dict[str, Any] = {
    "text": "a\x1b[31m\u202e\n[bold]" + "x" * 100_000,
    "number": 10**300,
    "list": [[], {}, None, "\ud800"],
    "object": {"a\nb": {"c": [1]}, "llama": "\x07"},
    "true": True,
}
KEYS = (
    "id", "files", "started", "spec", "digests", "inputs", "options", "bootstrap", "models", "versions",
    "git", "host", "headline", "counts", "limit",
    "evidence", "timings",
)  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("key", KEYS)
def test_a_record_of_any_form_is_listed_and_shown_without_harm(store: Store, key: str, kind: str) -> None:
    folder = make_run(store.folder, name="by-hand", facts={key: HOSTILE[kind]})
    for ran in (store.runs("list"), store.runs("show", folder)):
        assert ran.code == 0, ran.err
        assert not set(ran.out) & set("\x1b\u202e\x07")
        assert len(ran.out) < 20_000
    for ran in (store.runs("list", "--json"), store.runs("show", folder, "--json")):
        assert ran.code == 0 and json.loads(ran.out)

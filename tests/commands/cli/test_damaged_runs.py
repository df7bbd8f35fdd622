"""Damaged run folders: one sentence with file and damage, by every command, and never an import."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_runs import Ran
from scored_runs import TWO, linked, replace_file, scored

from fieldassay.commands.cli.main import main
from fieldassay.io.files.whole_files import digest_file

pytestmark = pytest.mark.usefixtures("few_draws")
Run = Callable[..., Ran]
COMMANDS: dict[str, tuple[Any, ...]] = {
    "report": ("report", "bad", "--format", "html", "--out", "page.html"),
    "junit": ("report", "bad", "--format", "junit"),
    "diff": ("diff", "good:llama", "bad:llama"),
    "explain": ("explain", "bad", "d1"),
    "export": ("report", "bad", "-o", "values.csv"),
    "gate": ("gate", "bad", "--gates", "gates.yaml"),
    "calibrate": ("calibrate", "bad", "--system", "llama"),
    "baseline": ("baseline", "set", "bad", "--out", "new-baseline.json"),
    "check": ("gate", "bad", "--baseline", "baseline.json"),
    "runs": ("runs", "show", "bad"),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run of two systems, and a baseline and gates beside it."""
    folder = linked(
        scored(TWO, "metrics: [accuracy]\n", name="good"), tmp_path_factory.mktemp("made") / "data"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["baseline", "set", "good", "--out", "baseline.json"]) == 0
        Path("gates.yaml").write_text("gates: [accuracy >= 0.5]\n")
    return folder


@pytest.fixture
def bad(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the run, to be damaged."""
    linked(made, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    return linked(Path("good"), Path("bad"))


def edit(name: str, change: Callable[[Any], object]) -> None:
    """Change a JSON file of the run, whose digest is then recorded, so that its content alone shows it."""
    file = Path("bad") / name
    data = json.loads(file.read_bytes())
    change(data)
    replace_file(file, json.dumps(data))
    if name != "run.json":
        edit("run.json", lambda facts: facts["sha256"].update({name: digest_file(file)}))


def edit_table(name: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    """Change a table of the run."""
    file = Path("bad") / name
    changed = change(pl.read_parquet(file, memory_map=False))
    file.unlink()
    changed.write_parquet(file)


def swap_system(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(system=pl.lit("another"))


def replace_by_pipe(name: str) -> None:
    (Path("bad") / name).unlink()
    os.mkfifo(Path("bad") / name)


def replace_by_device(name: str) -> None:
    (Path("bad") / name).unlink()
    (Path("bad") / name).symlink_to("/dev/zero")


def flip(name: str, at: int) -> None:
    data = bytearray((Path("bad") / name).read_bytes())
    data[at] ^= 0xFF
    replace_file(Path("bad") / name, bytes(data))


DAMAGE: dict[str, Callable[[], object]] = {
    "the spec is a number": lambda: edit("run.json", lambda data: data.update(spec=5)),
    "the spec's text is a list": lambda: edit("run.json", lambda data: data["spec"].update(text=[])),
    "no spec": lambda: edit("run.json", lambda data: data.pop("spec")),
    "no inputs": lambda: edit("run.json", lambda data: data.pop("inputs")),
    "the counts are a list": lambda: edit("run.json", lambda data: data.update(counts=[])),
    "a class is a text": lambda: edit(
        "run.json", lambda data: data["counts"]["systems"]["llama"]["classes"].update(scored="x")
    ),
    "a level of 7": lambda: edit("run.json", lambda data: data["bootstrap"].update(level=7)),
    "slices of numbers": lambda: edit("run.json", lambda data: data.update(slices=[5])),
    "a metric of nothing": lambda: edit("run.json", lambda data: data["kept"].update(compared=["("])),
    "headline of lists": lambda: edit("run.json", lambda data: data.update(headline=[[]])),
    "options without names": lambda: edit(
        "run.json", lambda data: data["inputs"].update(options={"id_names": 5})
    ),
    "an estimate is a list": lambda: edit("metrics.json", lambda data: data["estimates"].append([])),
    "a value is a text": lambda: edit("metrics.json", lambda data: data["estimates"][0].update(value="x")),
    "a slice is a list": lambda: edit(
        "metrics.json", lambda data: data["estimates"][0].update(slice={"a": []})
    ),
    "an interval of one": lambda: edit(
        "metrics.json", lambda data: data["estimates"][0].update(interval=[0.5])
    ),
    "provenance is a list": lambda: edit("metrics.json", lambda data: data.update(run=[])),
    "comparison of one system": lambda: edit(
        "comparisons.json", lambda data: data["comparisons"][0].update(systems=["llama"])
    ),
    "documents of another system": lambda: edit_table("documents.parquet", swap_system),
    "no documents": lambda: (Path("bad") / "documents.parquet").unlink(),
    "documents cut short": lambda: replace_file(Path("bad") / "documents.parquet", b"PAR1"),
    "evidence of another system": lambda: edit_table("evidence.parquet", swap_system),
    "digests taken off": lambda: edit("run.json", lambda facts: (facts.pop("sha256"), facts.pop("files"))),
    "evidence cut short": lambda: replace_file(Path("bad") / "evidence.parquet", b"PAR1 nonsense PAR1"),
    "a flipped byte of evidence": lambda: flip("evidence.parquet", 50),
    "statistics of other documents": lambda: edit_table(
        "statistics.parquet", lambda table: table.head(len(table) - 1)
    ),
    "metrics.json is gone": lambda: (Path("bad") / "metrics.json").unlink(),
    "a pipe for metrics": lambda: replace_by_pipe("metrics.json"),
    "a pipe for documents": lambda: replace_by_pipe("documents.parquet"),
    "a device for evidence": lambda: replace_by_device("evidence.parquet"),
    "deep run.json": lambda: replace_file(Path("bad") / "run.json", "[" * 100_000),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_one_sentence_with_the_place(bad: Path, damage: str, run: Run) -> None:
    DAMAGE[damage]()
    said = 0
    for name, command in COMMANDS.items():
        done = run(*command)
        assert done.code in (0, 1, 2, 4), f"{name}: {done.err}"
        assert "internal error" not in done.err and "Traceback" not in done.err
        if done.code == 2:
            said += 1
            assert "bad" in done.err, f"{name}: {done.err}"
            assert len(done.err) < 600
    assert said, "nobody noticed"


class Refuses:
    """An import hook that lets nobody import one module."""

    asked = False

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "evil_module":
            Refuses.asked = True
            raise AssertionError("imported")


@pytest.fixture
def no_import() -> Iterator[None]:
    hook = Refuses()
    sys.meta_path.insert(0, hook)  # type: ignore[arg-type]
    yield
    sys.meta_path.remove(hook)  # type: ignore[arg-type]
    assert not Refuses.asked


@pytest.mark.parametrize("text", ["evil_module:Spec", "evil_module.inner:Spec"])
def test_nothing_that_a_run_says_is_imported(bad: Path, text: str, run: Run, no_import: None) -> None:
    for name in ("run.json", "metrics.json"):
        edit(
            name,
            lambda data, name=name: (data if name == "run.json" else data["run"])["spec"].update(text=text),
        )
    for command in COMMANDS.values():
        assert run(*command).code in (0, 1, 2, 4)


def test_nothing_that_a_run_says_names_a_file(bad: Path, run: Run) -> None:
    Path("other.yaml").write_text("fields: {total: number}\n")
    edit("run.json", lambda data: data["spec"].update(text="other.yaml"))
    done = run("explain", "bad", "d1", "total")
    assert done.code == 2 and "must be a mapping" in done.err

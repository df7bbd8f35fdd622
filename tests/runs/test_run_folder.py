"""A run on disk: written, read, and beside foreign files."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import opened_files
from tests.store_runs import kill, make_run, start_writer

from fieldassay.commands.cli.main import main
from fieldassay.errors import ProblemsError
from fieldassay.io.files.whole_files import discard, list_foreign, list_leftovers, replace
from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.metrics.result.verdicts import Decision, GateOutcome, Verdict, decisions_data
from fieldassay.runs.files import (
    OWN_FILES,
    find_run,
    list_places,
    make_folder,
    make_stored,
    name_run,
    parse_name,
)
from fieldassay.runs.run import Listing, list_stored, load_run
from fieldassay.scoring.score import score

# Runs are complete or not there: killed processes, processes side by side, disks that are full

NOW = datetime.now(UTC)
FILES = {"documents.parquet", "evidence.parquet", "metrics.json", "run.json", "statistics.parquet"}


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


def check_whole(folder: Path) -> None:
    """Fail unless every file of a run is there and can be read."""
    assert load_run(folder).damage == ""
    assert {path.name for path in folder.iterdir()} - {Path(name).parts[0] for name in THEIRS} == FILES
    assert json.loads((folder / "metrics.json").read_bytes())["estimates"]
    for name in FILES:
        if name.endswith(".parquet"):
            assert len(pl.read_parquet(folder / name)) > 0


def test_killed_writers_leave_no_damaged_run_and_what_is_left_can_be_removed(
    programs: Path, tmp_path: Path
) -> None:
    store, moments = tmp_path / "runs", random.Random(4)
    store.mkdir()
    left: list[Any] = []
    for tries in range(100):
        if tries >= 12 and left:
            break
        kill(start_writer(programs, store, "store", 10_000), moments.uniform(0.01, 0.15) * (1 + tries / 12))
        for run in list_stored(store).runs:
            check_whole(run.folder)
        left = list_leftovers(store)
    assert left
    for path in left:
        discard(path)
    assert not [path for path in store.iterdir() if path.name.startswith(".")]


def test_killed_while_replacing_a_run_leaves_a_whole_one_or_a_known_damaged_one_and_files_of_others(
    programs: Path, tmp_path: Path
) -> None:
    place, moments = tmp_path / "run", random.Random(5)
    start_writer(programs, place, "folder", 1).communicate()
    put(place)
    seen: list[str] = []
    while len(seen) < 4 or (
        len(set(seen)) == 1 and len(seen) < 40
    ):  # a busy machine may not get to the second run before it is killed
        kill(
            start_writer(programs, place, "folder", 10_000), moments.uniform(0.01, 0.15) * (1 + len(seen) / 4)
        )
        check_kept(place)
        run = load_run(place)
        try:
            assert run.estimates.estimates
            assert len(run.documents) > 0
        except ProblemsError as error:
            assert "not as the run wrote" in str(error)
        seen.append(run.id)
    assert len(set(seen)) > 1
    start_writer(programs, place, "folder", 1).communicate()
    check_whole(place)
    check_kept(place)
    assert not list_leftovers(tmp_path)


def test_two_processes_write_into_one_store_at_the_same_time(programs: Path, tmp_path: Path) -> None:
    store = tmp_path / "deep" / "runs"
    writers = [start_writer(programs, store, "store", 5) for _ in range(2)]
    ends = [writer.communicate() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0], ends
    runs = list_stored(store).runs
    assert len(runs) == 10
    for run in runs:
        check_whole(run.folder)
    assert not list_leftovers(store)


def test_a_run_in_the_making_is_alive_and_no_run(programs: Path, tmp_path: Path) -> None:
    store = tmp_path / "runs"
    make_run(store)
    with make_stored(store) as folder:
        (folder.staging / "run.json").write_text("{}")
        code = f"""
from pathlib import Path; from fieldassay.io.files.whole_files import list_leftovers
print(list_leftovers(Path({str(store)!r})))
"""
        seen = subprocess.run([programs / "python", "-c", code], capture_output=True, text=True, check=True)
        assert seen.stdout == "[]\n"
        assert folder.staging.is_dir()
        assert len(list_stored(store).runs) == 1
    assert not list_leftovers(store)


@pytest.mark.parametrize(("age", "is_left"), [(3600, False), (200_000, True)])
def test_a_staging_folder_of_another_machine_is_left_when_it_is_old(
    tmp_path: Path, age: int, is_left: bool
) -> None:
    staging = tmp_path / ".run.partial-1-00000000-abc"
    staging.mkdir()
    os.utime(staging, (time.time() - age,) * 2)
    assert (list_leftovers(tmp_path) == [staging]) is is_left


LIMITED = """
import resource, sys
from pathlib import Path
from fieldassay.commands.cli.main import main
sys.dont_write_bytecode = True  # it would be cut off too, and stay
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no such limit")
@pytest.mark.parametrize("option", ["--out", "--runs"])
def test_a_full_disk_is_told_and_leaves_nothing(programs: Path, tmp_path: Path, option: str) -> None:
    rows = "".join(json.dumps({"id": number, "total": number}) + "\n" for number in range(50))
    for name in ("gold.jsonl", "llama.jsonl"):
        (tmp_path / name).write_text(rows)
    (tmp_path / "spec.yaml").write_text("fields: {total: number}")
    arguments = [
        "score",
        "--spec",
        "spec.yaml",
        "--gold",
        "gold.jsonl",
        "--pred",
        "llama.jsonl",
        "--bootstrap",
        "0",
        option,
        "deep/runs",
    ]
    ran = subprocess.run(
        [programs / "python", "-c", LIMITED, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2, ran.stderr
    assert "cannot be written" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gold.jsonl", "llama.jsonl", "spec.yaml"]


def test_a_store_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        store = Path("/proc/runs")  # nobody may write there, whoever it is
    else:
        store = tmp_path / "runs"
        store.mkdir(mode=0o500)
    with pytest.raises(ProblemsError, match="cannot be written"), make_stored(store):
        pass


def test_a_run_is_no_store(tmp_path: Path) -> None:
    folder = make_run(tmp_path)
    with pytest.raises(ProblemsError, match="is a run, not a store"), make_stored(folder):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(ProblemsError, match="is not a folder"), make_stored(tmp_path / "file"):
        pass


HOSTILE = {
    "climbs": ("../../x", "/etc/passwd"),
    "lines": ("a\nb\r\0c", "tab\tbell\x07"),
    "long": ("s" * 10_000, "ü" * 10_000),
    "nothing": ("", "///"),
    "marks": ("\u202eevil", "…\ud800"),
    "options": ("-rf", "--out"),
    "hidden": (".hidden", "..."),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_names_stay_inside_the_store(tmp_path: Path, case: str) -> None:
    spec, system = HOSTILE[case]
    store = tmp_path / "runs"
    result = score(
        [{"id": 1, "total": 1}],
        {system: [{"id": 1, "total": 1}]},
        {"name": spec, "fields": {"total": "number"}},
        bootstrap=0,
    )
    with make_stored(store) as folder:
        folder.write(result, {"started": NOW.isoformat(), "evidence": "none"})
        folder.commit()
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    (made,) = store.iterdir()
    assert len(made.name.encode()) < 200
    assert not made.name.startswith(".")
    (run,) = list_stored(store).runs
    assert (run.damage, run.systems, run.spec_name) == ("", (system,), spec or "spec")


def test_an_interrupted_writer_leaves_nothing(tmp_path: Path) -> None:
    for make in (make_stored, make_folder):
        with pytest.raises(KeyboardInterrupt), make(tmp_path / "deep" / "runs") as folder:
            assert folder.staging.is_dir()
            raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


# Finding and listing runs: references, damaged folders, thousands of runs


@given(
    st.text(max_size=200),
    st.lists(st.text(max_size=100), min_size=1, max_size=6),
    st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)),
)
def test_any_name_makes_a_folder_name_that_reads_back(
    spec: str, systems: list[str], started: datetime
) -> None:
    started = started.replace(tzinfo=UTC)
    name = name_run(started, spec, systems, "0123abcd")
    found = parse_name(name)
    assert (found.started, found.id) == (started.replace(microsecond=0), "0123abcd")
    assert len(name.encode()) <= 2 * 60 + 16 + 8 + 3
    assert not set(name) & set('/\\\0\n\r\t <>:"|?*')


@pytest.mark.parametrize(
    "name",
    [
        "run",
        "20261321T000000Z_s_a_00000000",
        "20261121T000000Z_s_a_0000000G",
        "20261121T000000Z__00000000",
        "",
    ],
)
def test_other_names_are_no_names_of_runs(name: str) -> None:
    assert parse_name(name) is None


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for number in range(3):
        make_run(tmp_path / "runs", number)
    return tmp_path / "runs"


def ids(store: Path) -> list[str]:
    return [place.id for place in list_places(store)]


REFERENCES: dict[str, Callable[[Path], str]] = {
    "id": lambda store: ids(store)[1],
    "beginning of an id": lambda store: ids(store)[1][:5],
    "name": lambda store: list_places(store)[1].path.name,
    "beginning of a name": lambda store: "20260101T01",
    "path": lambda store: str(list_places(store)[1].path),
}


@pytest.mark.parametrize("kind", REFERENCES)
def test_a_run_is_found_by(store: Path, kind: str) -> None:
    assert find_run(REFERENCES[kind](store), store) == list_places(store)[1].path


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("latst", "did you mean 'latest'?"),
        ("20260101", "means 3 runs: 20260101T"),
        ("", "is not a run"),
        ("x" * 10_000, "is not a run"),
        ("a\0b", "is not a run"),
        ("../runs", "is not a run in"),
        (".", "is not a run in"),
    ],
)
def test_what_means_no_run_or_several_is_told(store: Path, reference: str, said: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        find_run(reference, store)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_store_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError, match="there is no store of runs"):
        find_run("latest", tmp_path / "runs")
    with pytest.raises(ProblemsError, match="is not a store of runs"):
        list_stored(tmp_path / "runs")


def truncate(folder: Path) -> None:
    data = (folder / "run.json").read_bytes()
    (folder / "run.json").write_bytes(data[: len(data) // 2])


def shorten(folder: Path) -> None:
    (folder / "metrics.json").write_bytes((folder / "metrics.json").read_bytes()[:-1])


def pipe(folder: Path) -> None:
    (folder / "run.json").unlink()
    os.mkfifo(folder / "run.json")


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated record": (truncate, "run.json: not JSON"),
    "empty record": (lambda folder: (folder / "run.json").write_text(""), "run.json: not JSON"),
    "no record": (lambda folder: (folder / "run.json").unlink(), "run.json: No such file or directory"),
    "another record": (
        lambda folder: (folder / "run.json").write_text('{"a": 1}'),
        "run.json has another format",
    ),
    "deep record": (lambda folder: (folder / "run.json").write_text("[" * 100_000), "run.json: not JSON"),
    "NaN in a record": (
        lambda folder: (folder / "run.json").write_text(
            '{"format": "fieldassay run", "schema_version": 1, "x": NaN}'
        ),
        "run.json",
    ),
    "null": (lambda folder: (folder / "run.json").write_text("null"), "run.json"),
    "a pipe, which is not waited for": (pipe, "run.json"),
    "no metrics": (lambda folder: (folder / "metrics.json").unlink(), "metrics.json is missing"),
    "truncated metrics": (shorten, "metrics.json has"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_runs_are_listed_as_damaged_beside_the_others(store: Path, kind: str) -> None:
    do_damage, said = DAMAGE[kind]
    do_damage(list_places(store)[1].path)
    found = list_stored(store).runs
    assert [run.status for run in found] == ["complete", "damaged", "complete"]
    assert said in found[1].damage
    assert find_run(found[1].id, store) == found[1].folder


@pytest.mark.parametrize(
    ("facts", "status"),
    [
        ({}, "complete"),
        ({"limit": 5}, "partial"),
        (
            {
                "counts": {
                    "documents": 2,
                    "systems": {"a": {"classes": {"scored": 0}}, "b": {"classes": {"scored": 0}}},
                }
            },
            "nothing evaluated",
        ),
        (
            {
                "counts": {
                    "documents": 2,
                    "systems": {"a": {"classes": {"scored": 0}}, "b": {"classes": {"scored": 1}}},
                }
            },
            "complete",
        ),
        ({"counts": [], "spec": 5, "files": "x"}, "damaged"),
    ],
)
def test_status_says_what_was_scored(tmp_path: Path, facts: dict[str, object], status: str) -> None:
    run = load_run(make_run(tmp_path, facts=facts))
    assert (run.status, run.verdict) == (status, "")


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ([Verdict.PASS], "PASS"),
        ([Verdict.PASS, Verdict.FAIL], "FAIL"),
        ([Verdict.PASS, Verdict.INCONCLUSIVE], "INCONCLUSIVE"),
        ([Verdict.SKIPPED], "INCONCLUSIVE"),
        ([], ""),
    ],
)
def test_the_gates_of_a_run_are_as_good_as_the_worst_of_its_systems(
    tmp_path: Path, verdicts: list[Verdict], said: str
) -> None:
    folder, gate = make_run(tmp_path), parse_gate("accuracy >= 0.5")
    decisions = [
        Decision(f"system {at}", (GateOutcome(gate, verdict, "rule"),)) for at, verdict in enumerate(verdicts)
    ]
    (folder / "gates.json").write_text(json.dumps(decisions_data(decisions)))
    assert load_run(folder).verdict == said


@pytest.mark.parametrize("text", ["", "{}", '{"schema_version": 1, "decisions": [{"answer": "GO"}]}'])
def test_gates_that_cannot_be_read_are_no_verdict(tmp_path: Path, text: str) -> None:
    folder = make_run(tmp_path)
    (folder / "gates.json").write_text(text)
    assert load_run(folder).verdict == ""


def test_folders_that_are_no_runs_are_not_listed(store: Path) -> None:
    for name in (".run.partial-abc", ".x.old-y", "notes"):
        (store / name).mkdir()
    (store / ".run.partial-abc" / "run.json").write_text("{}")
    (store / "file").touch()
    make_run(store, 9, name="by-hand")
    assert [run.folder.name[:9] for run in list_stored(store).runs] == [
        "by-hand",
        "20260101T",
        "20260101T",
        "20260101T",
    ]


def test_the_newest_of_many_runs_are_listed_without_opening_the_others(tmp_path: Path) -> None:
    for number in range(300):
        make_run(tmp_path, number)
    found: list[Listing] = []
    opened = opened_files(lambda: found.append(list_stored(tmp_path, limit=20)))
    assert (len(found[0].runs), found[0].total) == (20, 300)
    assert len(opened) <= 50, opened


# What the tool did not write itself is never removed or written over


def test_a_folder_is_replaced_around_them(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    for folder in (new, old):
        folder.mkdir()
        (folder / "run.json").write_text(folder.name)
    for name in ("gates.json", "report.html"):
        (old / name).write_text("of the old run")
    (old / "link").symlink_to(new)
    put(old)
    replace(new, old, OWN_FILES, "run.json")
    check_kept(old)
    assert (old / "run.json").read_text() == "new"
    assert {path.name for path in old.iterdir()} & OWN_FILES == {"run.json"} and (old / "link").is_symlink()


def test_a_report_is_not_written_over_a_part_of_a_run(tmp_path: Path) -> None:
    run = make_run(tmp_path / "runs")
    for name in sorted(OWN_FILES - {"report.html"}):
        assert main(["report", str(run), "--format", "markdown", "--out", str(run / name)]) == 2
    assert list_foreign(run, OWN_FILES) == ()

"""Finding and listing runs: references, damaged folders, thousands of runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from store_runs import START, make_run
from tests.effort import opened_files

from fieldassay.errors import ProblemsError
from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.metrics.result.decision import Decision, GateOutcome, Verdict, decisions_data
from fieldassay.runs.names import ID_LENGTH, name_run, parse_name
from fieldassay.runs.store.listing import Listing, Query, list_stored, load_run
from fieldassay.runs.store.locate import find_run, list_places

NOW = datetime(2026, 11, 21, tzinfo=UTC)


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
    assert found is not None
    assert (found.started, found.id) == (started.replace(microsecond=0), "0123abcd")
    assert len(name.encode()) <= 2 * 60 + 16 + 8 + 3
    assert not set(name) & set('/\\\0\n\r\t <>:"|?*')


@pytest.mark.parametrize(
    ("systems", "part"),
    [
        (["a"], "a"),
        (["a", "b", "c"], "a+b+c"),
        (["a", "b", "c", "d"], "a+3"),
        (["x" * 50, "y" * 50], "x" * 50 + "+1"),
        (["ß/é"], "ß-é"),
    ],
)
def test_several_systems_are_joined_or_counted(systems: list[str], part: str) -> None:
    assert name_run(NOW, "s", systems, "0" * ID_LENGTH) == f"20261121T000000Z_s_{part}_00000000"


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


def test_latest_is_the_run_that_started_last_whatever_the_ids_say(store: Path) -> None:
    for fraction, id in ((700_000, "00000001"), (300_000, "ffffffff")):
        started = START + timedelta(days=1, microseconds=fraction)
        make_run(
            store,
            name=name_run(started, "tiny", ["a"], id),
            facts={"id": id, "timings": {"started": started.isoformat()}},
        )
    assert find_run("latest", store).name.endswith("00000001")


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("latst", "did you mean 'latest'?"),
        ("20260101", "means 3 runs: 20260101T"),
        ("", "is not a run"),
        ("x" * 10_000, "is not a run"),
        ("a\0b", "is not a run"),
        ("../runs", "is no run in"),
        (".", "is no run in"),
    ],
)
def test_what_means_no_run_or_several_is_told(store: Path, reference: str, said: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        find_run(reference, store)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_folder_here_and_a_run_of_the_store_with_one_name_are_not_told_apart_silently(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(store.parent)
    make_run(store.parent, 50, name="good")
    assert find_run("good", Path("runs")) == Path("good")
    make_run(store, name="good")
    with pytest.raises(ProblemsError, match=r"means 2 runs: .*\./good"):
        find_run("good", Path("runs"))
    assert find_run("./good", Path("runs")) == Path("good")


def test_a_store_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError, match="there is no store of runs"):
        find_run("latest", tmp_path / "runs")
    with pytest.raises(ProblemsError, match="is no store of runs"):
        list_stored(tmp_path / "runs")


def truncate(folder: Path) -> None:
    data = (folder / "run.json").read_bytes()
    (folder / "run.json").write_bytes(data[: len(data) // 2])


def shorten(folder: Path) -> None:
    (folder / "metrics.json").write_bytes((folder / "metrics.json").read_bytes()[:-1])


DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated record": (truncate, "run.json: not JSON"),
    "empty record": (lambda folder: (folder / "run.json").write_text(""), "run.json: not JSON"),
    "no record": (lambda folder: (folder / "run.json").unlink(), "run.json: No such file or directory"),
    "another record": (
        lambda folder: (folder / "run.json").write_text('{"a": 1}'),
        "run.json is of another kind",
    ),
    "deep record": (lambda folder: (folder / "run.json").write_text("[" * 100_000), "run.json: not JSON"),
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


def test_a_run_is_found_by_the_name_that_its_folder_was_given(store: Path) -> None:
    made = make_run(store, name="before-prompt-3")
    assert find_run("before-prompt-3", store) == find_run("before", store) == made


def test_runs_can_be_asked_for_by_system_and_spec(store: Path) -> None:
    other = {"spec": {"name": "other"}, "counts": {"systems": {"qwen": {}}}}
    folder = make_run(store, 20, facts=other)
    for query in (Query(system="qwen"), Query(spec="other"), Query(system="qwen", spec="other")):
        assert [run.folder for run in list_stored(store, query).runs] == [folder]
    assert list_stored(store, Query(system="qwen", spec="tiny")).total == 0
    limited = list_stored(store, Query(spec="tiny", limit=2))
    assert (len(limited.runs), limited.total) == (2, 3)


def test_the_newest_of_many_runs_are_listed_without_opening_the_others(tmp_path: Path) -> None:
    for number in range(300):
        make_run(tmp_path, number)
    found: list[Listing] = []
    opened = opened_files(lambda: found.append(list_stored(tmp_path, Query(limit=20))))
    assert (len(found[0].runs), found[0].total) == (20, 300)
    assert len(opened) <= 50, opened
    opened = opened_files(lambda: found.append(list_stored(tmp_path, Query(system="llama"))))
    assert found[1].total == 300
    assert len(opened) <= 800

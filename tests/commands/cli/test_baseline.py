"""`fieldassay baseline`, `score --baseline` and `score --fail-on-regression`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_runs import Files, Ran
from scored_runs import linked, replace_file, scored_files

Run = Callable[..., Ran]
ROWS = [{"id": f"d{at:03d}", "name": f"name {at}", "total": f"{at}.50"} for at in range(40)]
SPEC = "name: small\nfields: {name: text, total: money}\n"
GATED = SPEC + "gates: [regression(accuracy) > -0.01]\n"
FAST = ("--bootstrap", "800")


def arguments_for(name: str) -> tuple[str, ...]:
    return ("--spec", "spec.yaml", "--gold", "gold.jsonl", "--pred", f"sys={name}.jsonl", *FAST)


def spoiled(step: int) -> list[dict[str, str]]:
    return [{**row, "name": "?"} if at % step == 0 else row for at, row in enumerate(ROWS)]


class Project:
    """A folder with a spec, gold, predictions and runs, as the commands see it."""

    def __init__(self, run: Run, folder: Path) -> None:
        self.run, self.folder = run, folder
        self.files = Files(folder)
        self.write_spec(SPEC)
        self.files.write("gold.jsonl", ROWS)
        for name, rows in {"old": spoiled(10), "worse": spoiled(2), "better": ROWS}.items():
            self.files.write(f"{name}.jsonl", rows)

    def write_spec(self, text: str) -> None:
        (self.folder / "spec.yaml").write_text(text, encoding="utf-8")

    def score(self, name: str, *more: Any) -> Ran:
        return self.run("score", *arguments_for(name), *more)

    def set(self, name: str, *more: Any) -> Ran:
        """Set the baseline to a run that is there, or that was made of the same files once for all tests."""
        place = Path("runs") / name
        if not Path("fieldassay-baseline.json").exists() and not place.exists():
            files = ("spec.yaml", "gold.jsonl", f"{name}.jsonl")
            texts = tuple((file, (self.folder / file).read_text(encoding="utf-8")) for file in files)
            linked(scored_files(texts, arguments_for(name), str(place)) / place, place)
        else:
            assert self.score(name, "--out", place).code in (0, 1)
        return self.run("baseline", "set", f"runs/{name}", *more)


@pytest.fixture
def project(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(run, tmp_path)


def test_a_baseline_is_set_and_shown(project: Project) -> None:
    ran = project.set("old", "--reason", "the first")
    assert (
        ran.code == 0 and "baseline written to fieldassay-baseline.json" in ran.out and "commit it" in ran.out
    )
    shown = project.run("baseline", "show")
    assert (
        shown.code == 0
        and "reason: the first" in shown.out
        and "accuracy" in shown.out
        and "95.0%" in shown.out
    )
    data = json.loads(project.run("baseline", "show", "--json").out)
    assert (data["documents"], data["systems"], data["reason"]) == (40, ["sys"], "the first")
    assert set(data["digests"]) == {"spec", "formulas", "models", "gold"}


def test_the_history_goes_on(project: Project) -> None:
    project.set("old", "--reason", "one")
    project.set("better", "--reason", "two")
    data = json.loads(project.run("baseline", "show", "--json").out)
    assert [(entry["run"], entry["reason"]) for entry in data["history"]] == [
        ("old", "one"),
        ("better", "two"),
    ]
    assert "one" in project.run("baseline", "show").out


def test_no_value_of_a_document_is_in_the_file(project: Project) -> None:
    project.set("old")
    text = Path("fieldassay-baseline.json").read_text()
    assert "name 1" not in text and "?" not in text and "d001" in text


def test_a_broken_baseline_is_not_set_over_but_refused(project: Project) -> None:
    project.set("old")
    file = Path("fieldassay-baseline.json")
    file.write_text(file.read_text()[:300])
    ran = project.set("better")
    assert ran.code == 2 and "not JSON" in ran.err
    file.unlink()
    assert project.set("better").code == 0


def test_a_run_of_a_part_of_the_documents_is_no_baseline(project: Project) -> None:
    assert project.score("old", "--out", "part", "--limit", 5).code == 0
    ran = project.run("baseline", "set", "part")
    assert ran.code == 2 and "first 5 documents only (--limit)" in ran.err
    assert not Path("fieldassay-baseline.json").exists()


SETTINGS = {
    "no run": (("nowhere",), "nowhere"),
    "no system": (("runs/old", "--system", "sis"), "did you mean 'sys'?"),
    "no metric": (("runs/old", "--metrics", "acuracy"), "did you mean 'accuracy'?"),
    "a percentile": (("runs/old", "--metrics", "latency_p95"), "nothing was kept"),
    "no reason": (("runs/old", "--reason", " - "), "is missing or empty"),
    "a file that is something else": (("runs/old", "--out", "spec.yaml"), "is not JSON"),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_what_cannot_be_set_is_refused_with_a_reason(case: str, project: Project) -> None:
    arguments, said = SETTINGS[case]
    assert project.score("old", "--out", "runs/old").code == 0
    ran = project.run("baseline", "set", *arguments)
    assert ran.code == 2 and said in ran.err and "internal" not in ran.err
    assert (project.folder / "spec.yaml").read_text() == SPEC


def test_a_run_is_compared_with_the_baseline(project: Project) -> None:
    project.set("old")
    project.score("worse", "--out", "runs/worse")
    ran = project.run("gate", "runs/worse", "--baseline", "fieldassay-baseline.json")
    assert ran.code == 0 and "−20.0" in ran.out and "worse" in ran.out and "p < .001" in ran.out
    data = json.loads(
        project.run(
            "gate",
            "runs/worse",
            "--baseline",
            "fieldassay-baseline.json",
            "--json",
            "--metrics",
            "accuracy,field_accuracy[name]",
        ).out
    )
    assert data["comparison"]["changes"][0]["comparison"]["verdict"] == "worse"
    assert [(one["metric"], round(one["change"], 6)) for one in data["comparison"]["changes"]] == [
        ("accuracy", -0.2),
        ("field_accuracy[name]", -0.4),
    ]


CHECKS = [
    ("worse", ("--fail-on-regression", "accuracy"), 1),
    ("worse", ("--fail-on-regression", "accuracy=0.5"), 0),
    ("old", ("--fail-on-regression", "accuracy"), 0),
    ("better", ("--fail-on-regression", "accuracy=0.05", "--strict"), 0),
    ("alike", ("--fail-on-regression", "accuracy", "--strict"), 0),
    ("alike", ("--fail-on-regression", "accuracy=0.001", "--strict"), 4),
    ("worse", ("--fail-on-regression", "accuracy=0.2"), 4),
    ("worse", ("--fail-on-regression", "accuracy{kind=x}"), 4),
    ("worse", ("--gate", "regression(accuracy{kind=x}) >= 0"), 4),
    ("worse", ("--gate", "regression(accuracy) > -0.2"), 4),
]


@pytest.mark.parametrize(("name", "more", "code"), CHECKS)
def test_check_and_score_end_alike(name: str, more: tuple[str, ...], code: int, project: Project) -> None:
    project.files.write("alike.jsonl", [{**row, "remark": "new"} for row in spoiled(10)])
    project.set("old")
    scored = project.score(name, "--out", f"runs/{name}", *more)
    assert scored.code == code, scored.err
    if "--gate" not in more:
        checked = project.run("gate", f"runs/{name}", "--baseline", "fieldassay-baseline.json", *more[:2])
        assert checked.code == project.score(name, *more[:2], "--strict").code, checked.out + checked.err


def test_a_gate_of_the_spec_looks_at_the_baseline_in_the_folder(project: Project) -> None:
    project.write_spec(GATED)
    before = project.score("worse")
    assert before.code == 0 and "no baseline" in before.err
    assert project.score("worse", "--strict").code == 4
    project.set("old")
    ran = project.score("worse", "--out", "runs/worse")
    assert ran.code == 1 and "regression(accuracy) is −20.0 points" in ran.err
    [outcome] = json.loads(Path("runs/worse/gates.json").read_text())["decisions"][0]["gates"]
    assert (outcome["verdict"], outcome["documents"], round(outcome["value"], 6)) == ("FAIL", 40, -0.2)
    assert any("from old, its system sys" in line for line in outcome["evidence"])
    assert project.score("worse", "--exit-zero").code == 0
    assert project.score("better").code == 0


@pytest.mark.parametrize(
    "rule",
    [
        "regression(accuracy) < 0.5",
        "regression(accuracy) <= 0.5",
        "regression(accuracy) > -2",
        "accuracy <= 90",
    ],
)
def test_a_rule_of_a_gates_file_that_cannot_be_meant_never_passes(rule: str, project: Project) -> None:
    project.set("old")
    Path("gates.yaml").write_text(f'gates: ["{rule}"]')
    ran = project.run("gate", "runs/old", "--gates", "gates.yaml")
    assert ran.code == 4 and "write " in ran.out


def test_a_baseline_that_no_gate_compares_with_is_refused(project: Project) -> None:
    project.set("old")
    ran = project.score("old", "--out", "runs/new", "--baseline", "fieldassay-baseline.json")
    assert ran.code == 2 and "no gate compares with it" in ran.err and not Path("runs/new").exists()


def test_a_run_of_other_gold_is_compared_where_gold_is_the_same_and_passes_no_gate(project: Project) -> None:
    project.set("old")
    gold = [{**ROWS[0], "name": "other"}, *ROWS[2:], {"id": "e", "name": "x"}]
    project.files.write("gold.jsonl", gold)
    project.score("worse", "--out", "runs/other")
    checked = project.run(
        "gate", "runs/other", "--baseline", "fieldassay-baseline.json", "--metrics", "accuracy"
    )
    said = "compared on the 38 of 40 documents with equal gold: 1 document added (e), 1 changed (d000), 1 removed (d001)"
    assert checked.code == 0 and said in " ".join(checked.out.split())
    given = ("--json", "--metrics", "accuracy", "--fail-on-regression", "accuracy=0.9")
    checked = project.run("gate", "runs/other", "--baseline", "fieldassay-baseline.json", *given)
    [line], [decision] = (json.loads(checked.out)["comparison"][key] for key in ("changes", "decisions"))
    assert (checked.code, line["comparison"]["documents"]) == (4, 38)
    assert decision["gates"][0]["verdict"] == "INCONCLUSIVE"
    for option in (("--fail-on-regression", "accuracy"), ("--gate", "regression(accuracy) >= 0")):
        ran = project.score("worse", "--quiet", *option)
        assert (ran.code, ran.err.partition(":")[0]) == (4, "inconclusive")
        assert "was made with other gold" in ran.err and "fieldassay baseline set RUN" in ran.err


def _edit(folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    replace_file(
        folder / name,
        data.replace(b"0.5", b"0.9")
        if name == "metrics.json"
        else (folder.parent / "old" / name).read_bytes(),
    )


@pytest.mark.parametrize("name", ["metrics.json", "statistics.parquet"])
@pytest.mark.parametrize(
    "command",
    [
        ("gate", "runs/worse", "--baseline", "fieldassay-baseline.json", "--fail-on-regression", "accuracy"),
        ("baseline", "set", "runs/worse"),
        ("gate", "runs/worse", "--gates", "gates.yaml", "--baseline", "fieldassay-baseline.json"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_run_with_a_file_that_is_not_as_it_wrote_it_passes_nothing(
    project: Project, command: tuple[str, ...], name: str
) -> None:
    assert project.set("old").code == 0
    assert project.score("worse", "--out", "runs/worse").code == 0
    Path("gates.yaml").write_text("gates: [accuracy >= 0.1, regression(accuracy) > -0.9]")
    assert project.run(*command).code in (0, 1)
    _edit(Path("runs/worse"), name)
    before = Path("fieldassay-baseline.json").read_bytes()
    ran = project.run(*command)
    assert (
        ran.code == 2 and f"runs/worse: is damaged: {name} is not as the run wrote it; score again" in ran.err
    )
    assert Path("fieldassay-baseline.json").read_bytes() == before


def test_an_interval_of_too_few_replicates_passes_nothing(project: Project) -> None:
    project.write_spec(SPEC + "gates: [lower(accuracy) >= 0.1, regression(accuracy) > -0.9]\n")
    assert project.set("old").code == 0
    given = ("--baseline", "fieldassay-baseline.json", "--strict")
    assert project.score("worse", *given).code == 0
    ran = project.score("worse", *given, "--bootstrap", 39)
    assert ran.code == 4 and ran.err.count("too few bootstrap replicates") == 2


def test_folders_of_a_store_that_changed_names_are_told_and_not_used(project: Project) -> None:
    for name in ("old", "worse"):
        assert project.score(name, "--runs", "store").code == 0
    first, second = sorted(Path("store").iterdir())
    first.rename("aside")
    second.rename(first)
    Path("aside").rename(second)
    for folder in (first, second):
        ran = project.run("baseline", "set", folder.name.rpartition("_")[2], "--runs", "store")
        assert (
            ran.code == 2 and "is of another run" in ran.err and not Path("fieldassay-baseline.json").exists()
        )


def test_an_alarm_says_which_loss_is_not_excluded(project: Project) -> None:
    project.files.write("alike.jsonl", [{**row, "remark": "new"} for row in spoiled(10)])
    project.set("old")
    ran = project.score("alike", "--quiet", "--fail-on-regression", "accuracy")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    ran = project.score("alike", "--fail-on-regression", "accuracy")
    said = " ".join(ran.err.split())
    assert ran.code == 0
    assert "no loss shown: sys: accuracy: nothing changed on these 40 documents" in said
    assert "a loss of up to 7.2 points is possible" in said

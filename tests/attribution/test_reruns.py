"""Running a system again on better texts says what each stage is worth."""

from __future__ import annotations

import html
import json
import random
from pathlib import Path
from typing import Any

import pytest
from tests.endpoints.scripted_server import Hit, Reply, ScriptedServer, completion

import fieldassay as fa
from fieldassay.attribution.causal import Causal, shapley_value
from fieldassay.cli.main import main
from fieldassay.public.attributing import Rerun, attribute_again, estimate_rerun, judge_shares
from fieldassay.reports.attribution import describe_attribution, format_stage
from fieldassay.reports.attribution_html import render_attribution_html
from fieldassay.runs.run import Run

SPEC = "fields: {supplier: text, number: id, total: {type: money, currency: EUR}}"
LABELS = {"supplier": "From", "number": "Invoice", "total": "Total"}
Row = dict[str, Any]


def record(number: int) -> Row:
    draws = random.Random(f"record {number}")
    return {
        "supplier": f"Elm Works {draws.randrange(10_000)} Ltd",
        "number": f"INV-{draws.randrange(10**6):06d}",
        "total": draws.randrange(10**4, 10**6) / 100,
    }


class Reader:
    """A system that reads labelled lines: it errs on some values, always or by turns, and is counted."""

    def __init__(self, errs: float = 0.0, flips: float = 0.0) -> None:
        self.errs, self.flips, self.calls = errs, flips, 0

    def __call__(self, document: Row) -> Row:
        self.calls += 1
        found: Row = {}
        lines = dict(line.split(": ", 1) for line in document["pages"][0].split("\n") if ": " in line)
        for name, label in LABELS.items():
            value = lines.get(label)
            is_wrong = random.Random(f"{document['id']} {name}").random() < self.errs
            turns = random.Random(f"{document['id']} {name} {document['repeat']}").random() < self.flips
            found[name] = None if is_wrong or turns else value
        return found


def build(folder: Path, system: Reader, documents: int = 30) -> Run:
    """Return a run on clean documents and scans of them that lost or damaged lines."""
    draws = random.Random(7)
    (folder / "docs").mkdir()
    gold = []
    for number in range(documents):
        values = record(number)
        for name in ("clean", "scan"):
            lines = {key: f"{LABELS[key]}: {value}" for key, value in values.items()}
            if name == "scan":
                for key in lines:
                    kind = draws.choice(["as it was", "as it was", "lost", "damaged"])
                    if kind == "lost":
                        lines[key] = "~"
                    elif kind == "damaged" and key == "number":
                        lines[key] = lines[key].replace("INV", "lNV")
            text = "".join(f"<p>{line}</p>" for line in lines.values())
            (folder / "docs" / f"{number}-{name}.html").write_text(text, encoding="utf-8")
            twin = {"twin_of": f"{number}-clean.html"} if name == "scan" else {}
            gold.append({"id": f"{number}-{name}.html", **values, **twin})
    (folder / "gold.jsonl").write_text("\n".join(map(json.dumps, gold)), encoding="utf-8")
    fa.extract(folder / "docs", SPEC, folder / "out", system, fa.ExtractOptions(jobs=0))
    result = fa.score(folder / "gold.jsonl", {"m": folder / "out"}, SPEC, replicates=800)
    return result.save(folder / "run")


def rerun(folder: Path, run: Run, system: Any) -> Causal:
    return attribute_again(run, Rerun(folder / "again", system)).causal[0]


def passes(found: Causal) -> dict[str, Any]:
    return {one.name: one for one in found.passes}


def test_values_that_perfect_text_puts_right_needed_a_better_reading(tmp_path: Path) -> None:
    system = Reader(errs=0.1)
    found = rerun(tmp_path, build(tmp_path, system), system)
    perfect = passes(found)["perfect"]
    wrong = [
        row for row in fa.open_run(tmp_path / "run").result.evidence.to_dicts() if row["outcome"] != "match"
    ]
    of_scans = [row for row in wrong if row["doc"].endswith("scan.html")]
    erred = [row for row in wrong if random.Random(f"{row['doc']} {row['field']}").random() < 0.1]
    assert found.wrong == len(wrong)
    assert perfect.fixed == len(wrong) - len(erred) > 0.5 * len(of_scans)
    assert perfect.share.value == pytest.approx(perfect.fixed / len(wrong))
    assert perfect.share.interval is not None
    assert perfect.share.interval[0] < perfect.share.value < perfect.share.interval[1]
    assert (perfect.broken, perfect.other) == (0, 0)
    assert passes(found)["again"].fixed == 0
    assert found.shapley["reading"].value + found.shapley["model"].value == pytest.approx(1.0)
    assert found.shapley["post"].value == 0.0


def test_patched_text_mends_what_left_a_damaged_form(tmp_path: Path) -> None:
    system = Reader()
    found = rerun(tmp_path, build(tmp_path, system), system)
    patched, perfect = passes(found)["patched"], passes(found)["perfect"]
    assert 0 < patched.fixed < perfect.fixed
    assert patched.documents < found.documents


def test_values_that_flip_when_nothing_changes_are_subtracted(tmp_path: Path) -> None:
    system = Reader(flips=0.3)
    found = passes(rerun(tmp_path, build(tmp_path, system), system))
    assert found["again"].fixed > 0
    assert found["again"].broken > 0
    net = found["perfect"].share.value * sum(
        getattr(found["perfect"], name) for name in ("fixed", "same", "other")
    )
    assert net == pytest.approx(found["perfect"].fixed - found["again"].fixed)


def test_reruns_share_answers_and_go_on_where_they_were(tmp_path: Path) -> None:
    system = Reader()
    run = build(tmp_path, system)
    first = system.calls
    found = rerun(tmp_path, run, system)
    asked = system.calls - first
    estimate = estimate_rerun(run, system)
    assert set(estimate) == {"again", "perfect", "patched"}
    assert estimate["again"].calls == estimate["perfect"].calls == 60
    assert 60 < asked < sum(one.calls for one in estimate.values())
    assert rerun(tmp_path, run, system) == found
    assert system.calls == first + asked


def bad_scans(folder: Path, system: Reader) -> Run:
    """Return a run on scans without any total and with few other lines, and write their texts to `perfect`."""
    draws = random.Random(3)
    for name in ("docs", "perfect"):
        (folder / name).mkdir()
    gold = []
    for number in range(12):
        values = record(number)
        lines = {key: f"{LABELS[key]}: {value}" for key, value in values.items()}
        (folder / "perfect" / f"{number}.txt").write_text("\n".join(lines.values()), encoding="utf-8")
        seen = [line for key, line in lines.items() if key != "total" and draws.random() < 0.3]
        page = "".join(f"<p>{line}</p>" for line in [*seen, "~"])
        (folder / "docs" / f"{number}.html").write_text(page, encoding="utf-8")
        gold.append({"id": f"{number}.html", **values})
    (folder / "gold.jsonl").write_text("\n".join(map(json.dumps, gold)), encoding="utf-8")
    fa.extract(folder / "docs", SPEC, folder / "out", system, fa.ExtractOptions(jobs=0))
    return fa.score(folder / "gold.jsonl", {"m": folder / "out"}, SPEC, replicates=2000).save(folder / "run")


def test_where_a_system_was_run_again_that_is_the_answer_of_the_report_and_of_gates(tmp_path: Path) -> None:
    system = Reader(errs=0.1)
    run = bad_scans(tmp_path, system)
    estimated = fa.attribute(run, twins=tmp_path / "perfect")
    found = attribute_again(run, Rerun(tmp_path / "again", system), twins=tmp_path / "perfect")
    shown = found.causal[0].shapley["reading"]
    assert shown.value is not None
    assert shown.value > 0.8
    (answer,) = [text for _, text in describe_attribution(found).systems]
    assert answer.startswith("improve how documents are read")
    assert f"run again, {format_stage(shown)} of the loss of accuracy is due to reading" in answer
    assert "run again" not in describe_attribution(estimated).systems[0][1]
    assert answer in html.unescape(render_attribution_html(found, describe_attribution(found)))
    (decision,) = judge_shares(found, [f"attributable(stage=reading) >= {shown.value - 1e-9}"])
    assert decision.outcomes[0].value == shown.value
    assert decision.outcomes[0].interval == shown.interval
    total = next(one for one in estimated.system("m").fields if one.field == "total")
    assert (total.wrong, total.covered) == (12, 12)
    assert total.share("reading").value is not None


def test_an_interval_of_what_a_rerun_put_right_has_width_where_it_put_all_right(tmp_path: Path) -> None:
    system = Reader()
    found = rerun(tmp_path, build(tmp_path, system, documents=4), system)
    share, shapley = passes(found)["perfect"].share, found.shapley["reading"]
    assert share.value == shapley.value == 1.0
    assert share.interval is not None
    assert share.interval[0] < 0.9 < share.interval[1] == 1.0
    assert shapley.interval is not None
    assert shapley.interval[0] < 0.9


def test_the_shapley_values_of_stages_add_up_to_what_all_of_them_are_worth() -> None:
    worth = {frozenset(): 0.0, frozenset("a"): 0.5, frozenset("b"): 0.25, frozenset("ab"): 1.0}
    shares = [shapley_value(one, ["a", "b"], worth.__getitem__) for one in "ab"]
    assert shares == [0.625, 0.375]


def test_the_command_runs_a_system_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "docs").mkdir()
    rows = []
    for number in range(4):
        values = record(number)
        text = "".join(f"{LABELS[key]}: {value}\n" for key, value in values.items())
        (tmp_path / "docs" / f"{number}.txt").write_text(text)
        rows.append({"id": f"{number}.txt", **values, "number": values["number"] + "X"})
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "spec.yaml").write_text(SPEC)
    fa.extract(tmp_path / "docs", tmp_path / "spec.yaml", tmp_path / "out", None, fa.ExtractOptions(jobs=0))
    fa.score(tmp_path / "gold.jsonl", {"rules": tmp_path / "out"}, SPEC, replicates=800).save(
        tmp_path / "run"
    )
    command = ["attribute", str(tmp_path / "run"), "--rerun", str(tmp_path / "again")]
    assert main([*command, "--dry-run"]) == 0
    assert "again: 4 documents" in capsys.readouterr().out
    assert main(command) == 0
    assert "run again" in capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in data["reruns"][0]["passes"]] == ["again", "perfect"]


SYSTEMS = """
fieldassay_extract: 1
endpoints: {{local: {{url: "{url}", prices: {{small: {{prompt: 1, completion: 1}}}}}}}}
systems: {{m: {{strategy: prompted, endpoint: local, model: small}}}}
"""


def held_to_a_schema(hit: Hit) -> Reply:
    """Answer a request with a schema without the number, others in full."""
    text = hit.body["messages"][-1]["content"]
    found = {name: text.split(f"{label}: ", 1)[1].split("\n")[0] for name, label in LABELS.items()}
    is_held = hit.body.get("response_format", {}).get("type") == "json_schema"
    return Reply(body=completion(json.dumps(found | ({"number": None} if is_held else {})), 400))


def test_what_a_schema_costs_is_the_share_of_decoding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    rows = []
    for number in range(4):
        values = record(number)
        text = "".join(f"{LABELS[key]}: {value}\n" for key, value in values.items())
        (tmp_path / "docs" / f"{number}.txt").write_text(text)
        rows.append({"id": f"{number}.txt", **values})
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with ScriptedServer(held_to_a_schema) as server:
        system = tmp_path / "systems.yaml"
        system.write_text(SYSTEMS.format(url=server.url))
        fa.extract(tmp_path / "docs", SPEC, tmp_path / "out", f"{system}#m", fa.ExtractOptions(jobs=0))
        result = fa.score(tmp_path / "gold.jsonl", {"m": tmp_path / "out"}, SPEC, replicates=800)
        run = result.save(tmp_path / "run")
        command = ["attribute", str(run.folder), "--rerun", str(tmp_path / "again"), "--with", f"{system}#m"]
        asked = len(server.hits)
        assert main([*command, "--max-cost", "0.000001"]) == 3
        assert "the same command goes on" in capsys.readouterr().err
        found = rerun(tmp_path, run, f"{system}#m")
        assert len(server.hits) - asked == 8
    assert passes(found)["free"].fixed == 4
    assert passes(found)["free"].share.value == 1.0
    assert found.shapley["decoding"].value == pytest.approx(0.5)
    assert found.shapley["model"].value == pytest.approx(0.5)
    assert found.shapley["reading"].value == pytest.approx(0.0)

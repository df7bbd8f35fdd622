"""A run is attributed from what was sent, answered and judged, whoever made the predictions."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fieldassay as fa
from fieldassay.attribution.result import Attribution
from fieldassay.cli.main import main
from fieldassay.errors import ProblemsError
from fieldassay.plan.compile import read_plan
from fieldassay.runs.run import Run

SPEC = "fields: {supplier: text, number: id, total: {type: money, currency: EUR}, day: date}"
Row = dict[str, Any]


def scored(folder: Path, gold: list[Row], rows: list[Row], **options: Any) -> Run:
    """Return the run of predictions in a file, of the system `m`."""
    for name, kept in (("gold", gold), ("m", rows)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, kept)), encoding="utf-8")
    spec = options.pop("spec", SPEC)
    files = folder / "gold.jsonl", {"m": folder / "m.jsonl"}
    return fa.score(*files, spec, pred_key="pred", **{"replicates": 800, **options}).save(folder / "run")


def labels(found: Attribution) -> dict[str, str]:
    return {f"{one.document} {one.path}": one.finding.label for one in found.labelled}


def record(number: int) -> Row:
    draws = random.Random(f"record {number}")
    return {
        "supplier": f"{draws.choice(['Elm', 'Oak', 'Birch', 'Alder'])} Works {draws.randrange(10_000)} Ltd",
        "number": f"INV-{draws.randrange(10**6):06d}",
        "total": draws.randrange(10**4, 10**6) / 100,
        "day": f"2024-{draws.randrange(1, 13):02d}-{draws.randrange(1, 29):02d}",
    }


def written(values: Row) -> str:
    year, month, day = values["day"].split("-")
    return (
        f"{values['supplier']}\nInvoice {values['number']}\nDate {day}.{month}.{year}\n"
        f"Total EUR {values['total']:,.2f}"
    )


def planted(folder: Path, documents: int, seed: int) -> tuple[Run, float]:
    """Return a run on clean documents and their scans, and the true share of wrong values due to reading.

    A scan loses a value with chance .3; a model that is sent a lost value leaves it out, and errs in one of
    12 others.
    """
    draws = random.Random(seed)
    gold: list[Row] = []
    rows: list[Row] = []
    lost_wrong = wrong = 0
    for number in range(documents):
        values = record(number + 1000 * seed)
        for name in ("clean", "scan"):
            lost = {key for key in values if name == "scan" and draws.random() < 0.3}
            erred = {key for key in values if draws.random() < 1 / 12}
            lines = dict(
                zip(("supplier", "number", "day", "total"), written(values).split("\n"), strict=True)
            )
            text = "\n".join("~ ~" if key in lost else line for key, line in lines.items())
            other = record(number + 500_000)
            pred = {
                key: None if key in lost else other[key] if key in erred else value
                for key, value in values.items()
            }
            twin = {"twin_of": f"{number}-clean"} if name == "scan" else {}
            gold.append({"id": f"{number}-{name}", **values, **twin})
            rows.append({"id": f"{number}-{name}", "pred": pred, "transcript": text})
            wrong += len(lost | erred)
            lost_wrong += len(lost - erred)
    return scored(folder, gold, rows, seed=seed), lost_wrong / wrong


def test_the_interval_holds_the_share_of_the_damage_that_was_planted_in_twins(tmp_path: Path) -> None:
    held = []
    for seed in range(4):
        (tmp_path / str(seed)).mkdir()
        run, truth = planted(tmp_path / str(seed), 60, seed)
        shares = fa.attribute(run).system("m")
        found = shares.whole.share("reading")
        assert shares.perfect_from == "twins"
        assert found.value == pytest.approx(truth, abs=0.08)
        assert found.interval is not None
        held.append(found.interval[0] <= truth <= found.interval[1])
        assert sum(one.value or 0.0 for one in shares.whole.shares) == pytest.approx(1.0)
    assert sum(held) >= 3


GOLD = [{"id": name, **record(at)} for at, name in enumerate("abcdefghijkl")]


def right(row: Row, **changed: Any) -> Row:
    values = {key: value for key, value in row.items() if key != "id"}
    return {"id": row["id"], "pred": values | changed, "transcript": written(values)}


def test_every_wrong_value_has_a_label_and_a_stage(tmp_path: Path) -> None:
    rows = [right(row) for row in GOLD]
    rows[0]["pred"]["total"] = 5
    rows[0]["raw"] = json.dumps({"total": f"{GOLD[0]['total']:,.2f}"})
    rows[1]["pred"]["number"] = None
    rows[2] = {"id": "c", "pred": None, "error": {"kind": "truncated", "stage": "answer", "message": "cut"}}
    rows[3] = {"id": "d", "pred": None, "error": {"kind": "read_timeout", "stage": "send", "message": "slow"}}
    rows[4]["transcript"] = rows[4]["transcript"].replace(GOLD[4]["number"], "")
    rows[4]["pred"]["number"] = "X-1"
    found = fa.attribute(scored(tmp_path, GOLD, rows))
    assert labels(found) == {
        "a total": "post_processing",
        "b number": "model_omitted",
        **{f"c {name}": "format" for name in ("supplier", "number", "total", "day")},
        **{f"d {name}": "runtime" for name in ("supplier", "number", "total", "day")},
        "e number": "reading_omitted",
    }
    whole = found.system("m").whole
    stages = {one.stage: one.value for one in whole.shares}
    assert (whole.wrong, whole.covered) == (11, 11)
    assert stages["decoding"] == stages["runtime"] == pytest.approx(4 / 11)
    assert stages["post"] == pytest.approx(1 / 11)
    assert sum(value or 0.0 for value in stages.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("form", ["transcript as pages", "folder of texts", "folder of pages"])
def test_what_was_sent_is_taken_from_rows_or_from_a_folder(tmp_path: Path, form: str) -> None:
    rows = [right(row) for row in GOLD]
    rows[1]["pred"]["number"] = None
    texts = {row["id"]: row["transcript"] for row in rows}
    options: dict[str, Any] = {}
    for row in rows:
        if form == "transcript as pages":
            row["transcript"] = row["transcript"].split("\n")
            continue
        (tmp_path / "texts").mkdir(exist_ok=True)
        name, text = (f"{row['id']}.txt", texts[row["id"]])
        if form == "folder of pages":
            name, text = f"{row['id']}.json", json.dumps(text.split("\n"))
        (tmp_path / "texts" / name).write_text(text, encoding="utf-8")
        del row["transcript"]
        options = {"transcripts": tmp_path / "texts"}
    found = fa.attribute(scored(tmp_path, GOLD, rows), **options)
    assert labels(found) == {"b number": "model_omitted"}
    assert found.system("m").whole.share("model").value == 1.0


def test_without_a_text_nothing_is_told_apart_and_the_reason_is_said(tmp_path: Path) -> None:
    rows = [right(row) for row in GOLD]
    for row in rows:
        del row["transcript"]
    rows[1]["pred"]["number"] = None
    found = fa.attribute(scored(tmp_path, GOLD, rows))
    assert labels(found) == {"b number": "ambiguous"}
    assert "--transcripts" in found.labelled[0].finding.found
    (why,) = found.system("m").no_text
    assert "--transcripts" in why
    whole = found.system("m").whole
    assert (whole.wrong, whole.covered) == (1, 0)
    assert whole.share("reading").value is None
    assert whole.share("reading").why


def test_a_value_where_gold_has_none_is_counted_outside_of_the_shares(tmp_path: Path) -> None:
    rows = [right(row) for row in GOLD]
    gold = [{**row, "supplier": None} if row["id"] == "a" else row for row in GOLD]
    found = fa.attribute(scored(tmp_path, gold, rows)).system("m")
    assert (found.spurious, found.whole.wrong) == (1, 0)
    assert found.whole.share("model").why == "no value is wrong"


def test_a_field_whose_values_are_found_anywhere_or_nowhere_has_no_share(tmp_path: Path) -> None:
    spec = "fields: {paid: boolean, flag: integer}"
    gold = [{"id": n, "paid": True, "flag": n % 3} for n in range(30)]
    rows = [
        {"id": n, "pred": {"paid": n > 5, "flag": n % 3 if n % 2 else 9}, "transcript": "0 1 2 3 4 5"}
        for n in range(30)
    ]
    shares = {
        one.field: one for one in fa.attribute(scored(tmp_path, gold, rows, spec=spec)).system("m").fields
    }
    assert shares["paid"].share("reading").value is None
    assert shares["flag"].share("reading").value is None
    assert "100% of foreign values" in shares["flag"].share("reading").why


def test_extractions_keep_what_they_sent(tmp_path: Path) -> None:
    for name, row in (("a", GOLD[0]), ("b", GOLD[1]), ("c", GOLD[2])):
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / f"{name}.html").write_text(
            "".join(
                f"<p>{line}</p>" for line in written({k: v for k, v in row.items() if k != "id"}).split("\n")
            )
        )

    def system(document: Row) -> Row:
        return {"supplier": document["pages"][0].split("\n")[0]}

    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, GOLD[:3])))
    fa.extract(tmp_path / "docs", SPEC, tmp_path / "out", system, fa.ExtractOptions(jobs=0))
    run = fa.score(
        tmp_path / "gold.jsonl", {"m": tmp_path / "out"}, SPEC, match_ids="stem", replicates=800
    ).save(tmp_path / "run")
    found = fa.attribute(run)
    assert set(labels(found).values()) == {"model_omitted"}
    assert len(found.labelled) == 9
    assert all(one.finding.page == 1 for one in found.labelled)


@pytest.mark.parametrize("shape", ["table", "json", "markdown", "html"])
def test_the_command_says_first_what_to_fix(
    tmp_path: Path, shape: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [right(row, number=None if row["id"] in "abc" else row["number"]) for row in GOLD]
    scored(tmp_path, GOLD, rows)
    assert main(["attribute", str(tmp_path / "run"), "--format", shape, "--out", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out").read_text(encoding="utf-8")
    if shape == "json":
        data = json.loads(text)
        assert data["systems"][0]["shares"]["stages"]["model"]["value"] == 1.0
        assert data["systems"][0]["labels"] == {"model_omitted": 3}
        assert [one["label"] for one in data["values"]] == ["model_omitted"] * 3
    else:
        assert text.index("What to fix") < text.index("improve the model") < text.index("omitted")
    if shape == "html":
        assert text.isascii()
        assert "<script" not in text
    assert "written to" in capsys.readouterr().err


def refused(make: Callable[[], Any]) -> str:
    with pytest.raises(ProblemsError) as error:
        make()
    return str(error.value)


def test_a_run_that_cannot_be_attributed_says_why(tmp_path: Path) -> None:
    rows = [right(row) for row in GOLD]
    run = scored(tmp_path, GOLD, rows, evidence="errors")
    assert "score again with --evidence all" in refused(lambda: fa.attribute(run))
    assert "no system 'n'" in refused(lambda: fa.attribute(run, systems="n"))
    assert "did you mean 'twins'" in refused(lambda: fa.attribute(run, twin="x"))
    run = scored(tmp_path, GOLD, rows)
    assert "is not a folder" in refused(lambda: fa.attribute(run, transcripts=tmp_path / "none"))
    assert "names no 'twin_of'" in refused(lambda: fa.attribute(run, twins=tmp_path / "gold.jsonl"))
    assert "cannot be read" in refused(lambda: fa.attribute(run, twins=tmp_path / "none.json"))
    fa.redact_run(run.folder, tmp_path / "shared")
    assert "is redacted" in refused(lambda: fa.attribute(tmp_path / "shared"))


def test_predictions_that_changed_since_are_not_taken_for_those_that_were_scored(tmp_path: Path) -> None:
    rows = [right(row, number=None if row["id"] == "a" else row["number"]) for row in GOLD]
    run = scored(tmp_path, GOLD, rows)
    (tmp_path / "m.jsonl").write_text("{}")
    assert "has changed since it was scored" in fa.attribute(run).labelled[0].finding.found


@pytest.mark.parametrize(
    ("gate", "code"),
    [
        pytest.param("attributable(stage=model) <= 0.5", 1, id="fails"),
        pytest.param("attributable(stage=reading) <= 0.5", 0, id="passes"),
        pytest.param("attributable(stage=model)[number] >= 0.9", 0, id="of a field"),
        pytest.param("upper(attributable(stage=reading)) <= 0.5", 1, id="too few documents for a bound"),
        pytest.param("attributable(stage=weather) <= 0.5", 2, id="no such stage"),
        pytest.param("attributable <= 0.5", 2, id="no stage"),
        pytest.param("attributable(stage=model)[numbr] <= 0.5", 2, id="no such field"),
        pytest.param("accuracy >= 0.5", 2, id="no such metric"),
        pytest.param("attributable[day](stage=model) <= 0.5", 2, id="not a gate"),
    ],
)
def test_a_gate_names_a_share(
    tmp_path: Path, gate: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [right(row, number=None if row["id"] in "abc" else row["number"]) for row in GOLD]
    scored(tmp_path, GOLD, rows)
    assert main(["attribute", str(tmp_path / "run"), "--gate", gate]) == code
    assert ("attributable" in capsys.readouterr().err) == (code != 0)


def test_a_spec_that_names_a_share_is_told_which_command_judges_it() -> None:
    with pytest.raises(
        ProblemsError, match=r"unknown metric 'attributable'; .* `fieldassay attribute RUN --gate`"
    ):
        read_plan("fields: {total: money}\ngates: ['attributable(stage=reading) <= 0.3']")


def test_a_share_of_no_wrong_values_is_undefined_and_passes_no_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scored(tmp_path, GOLD, [right(row) for row in GOLD])
    assert main(["attribute", str(tmp_path / "run"), "--gate", "attributable(stage=reading) <= 0.3"]) == 4
    err = capsys.readouterr().err
    assert "inconclusive: m: attributable(stage=reading) <= 0.3: no value is wrong (n = 0)" in err
    assert "failed" not in err


@pytest.mark.parametrize("form", ["corpus", "folder", "gold"])
def test_the_missed_share_is_measured_on_documents_that_are_read_perfectly(tmp_path: Path, form: str) -> None:
    rows = [right(row) for row in GOLD]
    rows[0]["pred"]["number"] = None
    texts = {row["id"]: row["transcript"] for row in rows}
    for name in "abc":  # missed: their numbers are written in a way that nobody thought of
        texts[name] = texts[name].replace("INV-", "INV no. ")
    (tmp_path / "perfect").mkdir()
    for name, text in texts.items():
        (tmp_path / "perfect" / f"{name}.txt").write_text(text, encoding="utf-8")
    documents = [{"id": name, "text": f"perfect/{name}.txt"} for name in texts]
    (tmp_path / "corpus.json").write_text(json.dumps({"documents": documents}), encoding="utf-8")
    twins = [{"id": "z", "twin_of": name} for name in texts]
    (tmp_path / "twins.jsonl").write_text("\n".join(map(json.dumps, twins)), encoding="utf-8")
    named = {"corpus": "corpus.json", "folder": "perfect", "gold": "twins.jsonl"}[form]
    found = fa.attribute(scored(tmp_path, GOLD, rows), twins=tmp_path / named).system("m")
    rates = {one.field: one.rates for one in found.fields}
    assert found.perfect_from == "twins"
    assert rates["number"] is not None
    assert rates["number"].missed == pytest.approx(0.0 if form == "gold" else 0.25)


def test_a_field_with_few_values_takes_the_rates_of_its_type(tmp_path: Path) -> None:
    spec = "fields: {name: text, note: text}"
    gold = [{"id": n, "name": f"Elm Works {n}", "note": f"urgent {n}" if n < 3 else None} for n in range(30)]
    rows = [
        {
            "id": n,
            "pred": {
                "name": None if n in (1, 2) else f"Elm Works {n}",
                "note": None if n == 1 else "urgent 0",
            },
            "transcript": f"Elm Works {n}\nurgent {n}" if n != 2 else f"urgent {n}",
        }
        for n in range(30)
    ]
    found = {
        one.field: one for one in fa.attribute(scored(tmp_path, gold, rows, spec=spec)).system("m").fields
    }
    assert found["name"].rates is not None
    assert found["note"].rates is not None
    assert (found["name"].rates.missed_over, found["note"].rates.missed_over) == ("field", "type")
    assert found["note"].share("reading").value == 0.0

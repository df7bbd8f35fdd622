"""Attribution of wrong values, and suspicious gold."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import fieldassay as fa
from fieldassay import score
from fieldassay.attribution.attribute import Attribution
from fieldassay.attribution.labels import (
    LABELS,
    AttributedValue,
    SentText,
    are_equal,
    label_value,
    text_transcript,
)
from fieldassay.attribution.share import SuspiciousGold, find_suspicious_gold
from fieldassay.commands.cli.main import main
from fieldassay.documents.transcript import Line, Page, Transcript, Word
from fieldassay.errors import ProblemsError
from fieldassay.extraction.endpoints.exchange import Failure
from fieldassay.extraction.strategy import Evidence
from fieldassay.reports.content.attribution import answer_of
from fieldassay.runs.run import Run
from fieldassay.scoring.explain import find_leaf
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import Leaf

# A run is attributed from what was sent, answered and judged, whoever made the predictions

SPEC = "fields: {supplier: text, number: id, total: {type: money, currency: EUR}, day: date}"
Row = dict[str, Any]


def scored(folder: Path, gold: list[Row], rows: list[Row], **options: Any) -> Run:
    """Return the run of predictions in a file, of the system `m`."""
    for name, kept in (("gold", gold), ("m", rows)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, kept)), encoding="utf-8")
    spec = options.pop("spec", SPEC)
    files = folder / "gold.jsonl", {"m": folder / "m.jsonl"}
    return fa.score(*files, spec, pred_key="pred", **{"bootstrap": 800, **options}).save(folder / "run")


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


def test_what_was_sent_is_a_text_or_the_texts_of_pages(tmp_path: Path) -> None:
    rows = [right(row) for row in GOLD]
    rows[1]["pred"]["number"] = None
    for row in rows:
        row["transcript"] = row["transcript"].split("\n")
    found = fa.attribute(scored(tmp_path, GOLD, rows))
    assert labels(found) == {"b number": "model_omitted"}
    assert found.system("m").whole.share("model").value == 1.0


def test_without_a_text_nothing_is_told_apart_and_the_reason_is_said(tmp_path: Path) -> None:
    rows = [right(row) for row in GOLD]
    for row in rows:
        del row["transcript"]
    rows[1]["pred"]["number"] = None
    found = fa.attribute(scored(tmp_path, GOLD, rows))
    assert labels(found) == {"b number": "ambiguous"}
    assert "have no 'transcript'" in found.labelled[0].finding.found
    (why,) = found.system("m").no_text
    assert "have no 'transcript'" in why
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


@pytest.mark.parametrize("form", ["stem", "exact", "{id}.html={id}"])
def test_extractions_keep_what_they_sent(
    tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
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
        tmp_path / "gold.jsonl", {"m": tmp_path / "out"}, SPEC, match_ids=form, bootstrap=800
    ).save(tmp_path / "run")
    found = fa.attribute(run)
    assert set(labels(found).values()) == {"model_omitted"}
    assert len(found.labelled) == 9
    assert all(one.finding.page == 1 for one in found.labelled)
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, GOLD[:4])))
    assert main(["explain", str(tmp_path / "run"), "a"]) == 0
    said = "gold.jsonl, which cannot be read as it was scored" in " ".join(capsys.readouterr().out.split())
    assert said == (form != "stem")  # which takes no gold to be known


@pytest.mark.parametrize("shape", ["", ".json", ".md"])
def test_the_command_says_first_what_to_fix(
    tmp_path: Path, shape: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [right(row, number=None if row["id"] in "abc" else row["number"]) for row in GOLD]
    scored(tmp_path, GOLD, rows)
    assert main(["attribute", str(tmp_path / "run"), "--out", str(tmp_path / f"out{shape}")]) == 0
    text = (tmp_path / f"out{shape}").read_text(encoding="utf-8")
    if shape == ".json":
        data = json.loads(text)
        assert data["systems"][0]["shares"]["stages"]["model"]["value"] == 1.0
        assert data["systems"][0]["labels"] == {"model_omitted": 3}
        assert [one["label"] for one in data["values"]] == ["model_omitted"] * 3
    else:
        assert text.index("What to fix") < text.index("improve the model") < text.index("omitted")
    assert "written to" in capsys.readouterr().err


def refused(make: Callable[[], Any]) -> str:
    with pytest.raises(ProblemsError) as error:
        make()
    return str(error.value)


def test_a_run_that_cannot_be_attributed_says_why(tmp_path: Path) -> None:
    run = scored(tmp_path, GOLD, [right(row) for row in GOLD], evidence="errors")
    assert "score again with --evidence all" in refused(lambda: fa.attribute(run))
    assert "no system 'n'" in refused(lambda: fa.attribute(run, systems="n"))
    assert "did you mean 'systems'" in refused(lambda: fa.attribute(run, system="x"))


def test_predictions_that_changed_since_are_not_taken_for_those_that_were_scored(tmp_path: Path) -> None:
    rows = [right(row, number=None if row["id"] == "a" else row["number"]) for row in GOLD]
    run = scored(tmp_path, GOLD, rows)
    (tmp_path / "m.jsonl").write_text("{}")
    assert "has changed since it was scored" in fa.attribute(run).labelled[0].finding.found


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
    assert (found["name"].rates.chance_over, found["note"].rates.chance_over) == ("field", "type")
    assert found["note"].share("reading").value == 0.0


def numbered(wrong: set[int], texts: dict[int, str] | None = None) -> tuple[list[Row], list[Row]]:
    """Return gold and predictions of 60 invoices with a number, missing where wrong, and some texts."""
    gold = [{"id": str(n), "n": f"INV-{10000 + 37 * n}"} for n in range(60)]
    rows = [
        {
            "id": row["id"],
            "pred": {} if n in wrong else {"n": row["n"]},
            "transcript": (texts or {}).get(n, f"Invoice {row['n']}"),
        }
        for n, row in enumerate(gold)
    ]
    return gold, rows


@pytest.mark.parametrize("stage", ["reading", "model"])
def test_three_of_three_wrong_values_do_not_show_that_another_stage_has_none(
    tmp_path: Path, stage: str
) -> None:
    wrong = {3, 9, 20}
    files = numbered(wrong, dict.fromkeys(wrong, "Invoice") if stage == "reading" else None)
    run = scored(tmp_path, *files, spec="fields: {n: id}", bootstrap=2000)
    found = fa.attribute(run).system("m").whole
    assert (found.wrong, found.wrong_documents) == (3, 3)
    other = "model" if stage == "reading" else "reading"
    assert found.share(stage).value == 1.0
    assert found.share(stage).interval == pytest.approx((0.37, 1.0), abs=0.04)  # Clopper-Pearson by mid-p
    assert found.share(other).interval == pytest.approx((0.0, 0.63), abs=0.04)
    assert all(share.marks == ("few_wrong_values",) for share in found.shares)


def test_marks_count_wrong_values_and_not_documents(tmp_path: Path) -> None:
    spec = "fields: {names: {type: list, items: id}}"
    gold = [{"id": n, "names": [f"N-{n}{at:03d}" for at in range(10)]} for n in range(4)]
    rows = [
        {"id": row["id"], "pred": {"names": row["names"][:3]}, "transcript": "\n".join(row["names"])}
        for row in gold
    ]
    found = fa.attribute(scored(tmp_path, gold, rows, spec=spec)).system("m").whole
    assert (found.wrong, found.wrong_documents) == (28, 4)
    assert all(share.marks == () for share in found.shares)


@pytest.mark.parametrize("same", [0.0, 0.6, 1.0])
def test_a_value_that_gold_has_twice_in_a_document_is_left_out_and_counted(
    tmp_path: Path, same: float
) -> None:
    """The net is the gross where there is no tax: a line that is lost leaves the amount in the other one."""
    draws = random.Random(1)
    gold: list[Row] = []
    rows: list[Row] = []
    lost_wrong = wrong = shared = 0
    for number in range(300):
        net = f"{draws.randrange(1000, 99999) / 100:.2f}"
        values = {"net": net, "gross": net if draws.random() < same else f"{float(net) * 1.19:.2f}"}
        lines, pred = [], {}
        for name, value in values.items():
            is_lost, errs = draws.random() < 0.15, draws.random() < 0.05
            lines.append(f"{name}: {'' if is_lost else value}")
            wrong += is_lost or errs
            lost_wrong += is_lost and not errs
            if not (is_lost or errs):
                pred[name] = value
        shared += 2 * (values["net"] == values["gross"])
        gold.append({"id": str(number), **values})
        rows.append({"id": str(number), "pred": pred, "transcript": "\n".join(lines)})
    found = fa.attribute(scored(tmp_path, gold, rows, spec="fields: {net: money, gross: money}")).system("m")
    share = found.whole.share("reading")
    assert found.shared == shared
    assert found.whole.covered == found.whole.wrong - found.shared_wrong
    if same < 1.0:
        assert share.interval[0] <= lost_wrong / wrong <= share.interval[1]
    else:
        assert (share.value, share.why) == (None, "its values occur more than once in their documents")
    copied = [one for one in found.fields if one.share("reading").value is None]
    assert len(copied) == (2 if same == 1.0 else 0)


def test_a_report_says_how_many_values_stand_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = [{"id": n, "net": 1000 + n, "gross": 1000 + n if n < 10 else 2000 + n} for n in range(30)]
    rows = [
        {"id": row["id"], "pred": {"gross": row["gross"]}, "transcript": f"{row['net']} {row['gross']}"}
        for row in gold
    ]
    scored(tmp_path, gold, rows, spec="fields: {net: number, gross: number}")
    assert main(["attribute", str(tmp_path / "run")]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "20 values, 10 of them wrong, occur more than once in the gold of their document" in text
    assert "'1000' may be in the text by chance: gross of this document also has it" in text
    assert main(["attribute", str(tmp_path / "run"), "--json"]) == 0
    (system,) = json.loads(capsys.readouterr().out)["systems"]
    assert (system["shared"], system["shared_wrong"], system["shares"]["covered"]) == (20, 10, 20)


def unseen_notation(documents: int, seed: int) -> tuple[list[Row], list[Row]]:
    """Return documents that lose nothing: half write the code in words, which no search finds.

    The model errs in one of 10 others, and in four of 10 of those.
    """
    draws = random.Random(seed)
    words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    gold: list[Row] = []
    rows: list[Row] = []
    for number in range(documents):
        code = f"{draws.randrange(10**7, 10**8)}"
        is_odd = draws.random() < 0.5
        is_wrong = draws.random() < (0.4 if is_odd else 0.1)
        text = " ".join(words[int(digit)] for digit in code) if is_odd else code
        gold.append({"id": str(number), "code": code})
        rows.append(
            {"id": str(number), "pred": {} if is_wrong else {"code": code}, "transcript": f"Code {text}"}
        )
    return gold, rows


def test_where_right_values_are_not_found_reading_is_not_called_guilty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = scored(tmp_path, *unseen_notation(200, 3), spec="fields: {code: id}")
    found = fa.attribute(run).system("m")
    share, rates = found.whole.share("reading"), found.fields[0].rates
    assert share.interval[0] == 0.0
    assert "missed_unknown" in share.marks
    assert rates.missed is None
    assert rates.not_found == pytest.approx(found.mended / (200 - found.whole.wrong))
    assert not any(one.finding.stage == "reading" for one in fa.attribute(run).labelled)
    assert main(["attribute", str(tmp_path / "run")]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "cannot be told" in text
    assert "improve how documents are read" not in text
    assert "unknown" in text
    assert main(["attribute", str(tmp_path / "run"), "--json"]) == 0
    (system,) = json.loads(capsys.readouterr().out)["systems"]
    assert system["missed_measured_on"] is None
    assert system["fields"][0]["rates"]["missed"] is None


def test_clean_twins_show_which_values_are_missed_and_those_are_left_out(tmp_path: Path) -> None:
    gold, rows = unseen_notation(200, 3)
    clean = [{**row, "id": f"{row['id']}-clean"} for row in gold]
    gold = [{**row, "twin_of": f"{row['id']}-clean"} for row in gold]
    rows += [
        {**row, "id": f"{row['id']}-clean", "pred": {"code": one["code"]}}
        for row, one in zip(rows, gold, strict=True)
    ]
    found = fa.attribute(scored(tmp_path, gold + clean, rows, spec="fields: {code: id}")).system("m")
    share, rates = found.whole.share("reading"), found.fields[0].rates
    assert rates.missed == pytest.approx(0.5, abs=0.1)
    assert found.whole.covered == found.whole.wrong - found.missed_wrong > 0
    assert share.value == 0.0
    assert "missed_unknown" not in share.marks


def test_a_field_that_reading_lost_altogether_counts(tmp_path: Path) -> None:
    """What is read of other fields shows how often the model would have been wrong."""
    gold = [{"id": n, "net": 1000 + 7 * n, "gross": 3000 + 11 * n} for n in range(40)]
    rows = [
        {
            "id": row["id"],
            "pred": {} if row["id"] < 4 else {"gross": row["gross"]},
            "transcript": f"Gross {row['gross']}",
        }
        for row in gold
    ]
    found = fa.attribute(scored(tmp_path, gold, rows, spec="fields: {net: integer, gross: integer}"))
    shares = found.system("m")
    net = shares.fields[0]
    assert (net.field, net.covered, net.rates.errors_over) == ("net", 40, "type")
    assert net.share("reading").value == pytest.approx(36 / 40)  # 4 of 40 that were read are wrong
    assert shares.whole.covered == 44
    assert shares.whole.share("reading").value == pytest.approx(36 / 44)


def test_what_was_sent_of_a_twin_is_not_taken_for_what_was_sent_of_its_scan(tmp_path: Path) -> None:
    gold = [{"id": f"{n}-clean", **record(n)} for n in range(12)]
    gold += [{**row, "id": row["id"].replace("clean", "scan"), "twin_of": row["id"]} for row in gold]
    rows = [right({key: value for key, value in row.items() if key != "twin_of"}) for row in gold]
    for row in rows[12:]:  # no number is on the scans, and the clean twins have it in words
        row["transcript"] = row["transcript"].replace("INV-", "INV no. ")
        row["pred"]["number"] = None
    for row in rows[:12]:
        row["transcript"] = row["transcript"].replace("INV-", "INV no. ")
    found = fa.attribute(scored(tmp_path, gold, rows)).system("m")
    assert (found.missed_wrong, found.whole.covered) == (12, 0)


def test_a_system_of_rules_is_told_labels_and_not_prompts(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for at in range(6):
        (tmp_path / "docs" / f"{at}.txt").write_text(f"Total {at}.50\nNet {at}.00")
    gold = [{"id": str(at), "total": f"{at}.50"} for at in range(6)]
    spec = "fields: {total: {type: money, labels: [Net]}}"
    found = fa.attribute(fa.run(tmp_path / "docs", spec, gold, tmp_path / "out").run)
    assert answer_of(found.systems[0]).startswith("improve the rules: `labels` and `find`")


# Gold that all systems contradict in the same way

SUSPICIOUS_GOLD_SPEC = (
    "fields: {total: money, name: text, tags: {type: list, align: assignment, items: text}}"
)
SUSPICIOUS_GOLD_GOLD = {"total": "12.00", "name": "Elm", "tags": ["x"]}
CORD = Path(__file__).parents[3] / "shared" / "data" / "cord-100"


def found_in(*answers: dict[str, Any] | None, gold: dict[str, Any] = SUSPICIOUS_GOLD_GOLD) -> SuspiciousGold:
    systems = {
        f"s{at}": [{"id": "d", **answer}] if answer is not None else [{"id": "other"}]
        for at, answer in enumerate(answers)
    }
    result = score([{"id": "d", **gold}, {"id": "other"}], systems, SUSPICIOUS_GOLD_SPEC, bootstrap=0)
    return find_suspicious_gold(result.evidence.lazy(), result.documents, result.systems)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([{"total": "21.00"}, {"total": "21.00"}], [("total", '"12.00"', '"21.00"', 2, True)]),
        ([{"total": "21.00"}, {"total": "21"}], [("total", '"12.00"', '"21.00"', 2, False)]),
        ([{"total": "21.00"}, {"total": "22.00"}], []),
        ([{"total": "21.00"}], []),
        ([{"total": "21.00"}, {}], []),
        ([{"total": "21.00"}, {"total": "21.00"}, {"total": None}], []),
        ([{"total": None}, {"total": None}], [("total", '"12.00"', None, 2, True)]),
        ([{"tags": ["x", "y"]}, {"tags": ["y", "x"]}], [("tags[1]", None, '"y"', 2, True)]),
        ([{"total": "21.00"}, None], []),
        ([{"total": "21.00"}, None, {"total": "21.00"}], [("total", '"12.00"', '"21.00"', 2, True)]),
        ([{"total": "21.00"}] * 3 + [{}], [("total", '"12.00"', '"21.00"', 3, True)]),
        ([{"total": "21.00"}] * 2 + [{}], []),
        ([{"total": None}] * 3 + [{}], []),
        ([{"total": "21.00"}] * 3 + [{}] * 3, []),
    ],
    ids=[
        "same text",
        "same value",
        "other values",
        "one system",
        "one is right",
        "one has none",
        "none has it",
        "gold lacks it",
        "no answer",
        "no answer of a third",
        "most agree",
        "two of three agree",
        "most have none",
        "half agree",
    ],
)
def test_gold_is_suspicious_where_all_systems_agree_on_another_value(
    answers: list[Any], expected: list[Any]
) -> None:
    found = found_in(
        *({**SUSPICIOUS_GOLD_GOLD, **answer} if answer is not None else None for answer in answers)
    )
    assert [
        (one.path, one.gold, one.agreed, one.systems, one.is_identical) for one in found.values
    ] == expected


def test_a_system_that_failed_everywhere_hides_nothing_and_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gold.csv").write_text("id,total\n1,5\n2,9\n")
    (tmp_path / "spec.yaml").write_text("fields: {total: money}")
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text('{"id": "1", "total": 5}\n{"id": "2", "total": 6}\n')
    (tmp_path / "c.jsonl").write_text('{"id": "1", "error": "down"}\n{"id": "2", "error": "down"}\n')
    inputs = [text for name in "abc" for text in ("-p", str(tmp_path / f"{name}.jsonl"))]
    scored = ["-s", str(tmp_path / "spec.yaml"), "-g", str(tmp_path / "gold.csv"), *inputs]
    assert main(["score", *scored, "-o", str(tmp_path / "run"), "-q"]) == 0
    assert main(["report", str(tmp_path / "run"), "--table", "suspicious-gold"]) == 0
    printed = capsys.readouterr().out
    assert "Suspicious gold: 1" in printed
    assert "all 2 documents were looked at; c has no answer" in printed
    target = tmp_path / "suspicious.json"
    assert main(["report", str(tmp_path / "run"), "--table", "suspicious-gold", "-o", str(target)]) == 0
    [row] = json.loads(target.read_text())
    assert (row["doc"], row["systems"]) == ("2", 2)


@pytest.mark.skipif(not CORD.exists(), reason="the data are not here")
def test_receipts_with_doubtful_gold_are_found() -> None:
    spec = Path(__file__).parents[2] / "examples" / "cord" / "spec.yaml"
    systems = dict.fromkeys("ab", CORD / "pred_deepcpcfg.jsonl")
    result = score(CORD / "gold.jsonl", systems, spec, bootstrap=0)
    found = find_suspicious_gold(result.evidence.lazy(), result.documents, result.systems)
    assert ("test_receipt_00084", "TotalPrice", '"Rp"', '"39.600"') in {
        (one.doc, one.path, one.gold, one.agreed) for one in found.values
    }
    assert any(one.doc == "test_receipt_00099" and one.gold is None for one in found.values)


# Every wrong value has a label with its evidence: the table of cases made by hand

LABELS_SPEC = """
locale: en_AU
fields:
  name: text
  ref: id
  unit: text
  kind: {type: enum, values: [invoice, receipt], aliases: {invoice: [tax invoice]}}
  paid: boolean
  count: integer
  rate: number
  total: {type: money, currency: AUD}
  day: date
  flow: {type: quantity, canonical: m3/h}
  phone: phone
  mail: email
  lines: {items: {fields: {item: text, qty: number, amount: {type: money, currency: AUD}}}}
  codes: {type: list, items: text, compare: iou}
"""
PLAN = read_plan(LABELS_SPEC)


def leaf(name: str) -> Leaf:
    found = find_leaf(PLAN, name)[0]
    assert found is not None
    return found


@dataclass(frozen=True)
class Case:
    """A wrong value: its field, what was sent, gold and prediction; and the label with a part of its text."""

    name: str
    label: str
    field: str
    text: str | None
    gold: Any = None
    pred: Any = None
    found: str = ""
    more: dict[str, Any] = field(default_factory=dict)
    kind: str = "pdf"


INVOICE = "ACME Pumps Ltd\nInvoice No: 2024-117   Date: 31 March 2024\nPump P-1  2  60.00  1,234.50\nTotal EUR 1,264.00"


def failed(kind: str, stage: Any = "answer") -> dict[str, Any]:
    return {"failure": Failure(kind, "it says why", stage)}


def seen(kind: Any) -> dict[str, Any]:
    return {"source": Evidence(quote="", kind=kind)}


CASES = [
    # no answer, or one of no use
    Case("timeout", "runtime", "total", INVOICE, 1264, None, "timeout", failed("read_timeout", "send")),
    Case("error", "runtime", "total", INVOICE, 1264, None, "there is no answer", failed("exception", "strategy")),
    Case("not loaded", "runtime", "total", None, 1264, None, "could not be loaded", failed("encrypted", "load")),
    Case("too large to load", "runtime", "total", None, 1264, None, "could not be loaded", failed("too_large", "load")),
    Case("no prediction", "runtime", "total", INVOICE, 1264, None, "no prediction", failed("no_prediction", "send")),
    Case("not JSON", "format", "total", INVOICE, 1264, None, "not json", failed("not_json")),
    Case("cut answer", "format", "total", INVOICE, 1264, None, "truncated", failed("truncated")),
    Case("against the schema", "format", "total", INVOICE, 1264, None, "schema violation", failed("schema_violation")),
    Case("too long for the model", "format", "total", INVOICE, 1264, None, "context", failed("context_length", "send")),
    Case("cut by the server", "format", "total", INVOICE, 1264, None, "input", failed("input_truncated")),
    Case("white space for ever", "format", "total", INVOICE, 1264, None, "loop", failed("whitespace_loop")),
    # the raw answer was right
    Case("amount spoiled", "post_processing", "total", INVOICE, 1264, 1.264, "'1,264.00', which is right",
         {"raw": ["1,264.00"], "parsed": [1.264]}),
    Case("value dropped", "post_processing", "name", INVOICE, "ACME Pumps Ltd", None, "has nothing",
         {"raw": ["ACME Pumps Ltd"]}),
    Case("day and month turned", "post_processing", "day", INVOICE, "2024-03-31", "2024-03-13", "31 March",
         {"raw": ["31 March 2024"], "parsed": ["2024-03-13"]}),
    Case("one item of two lost", "post_processing", "lines[].qty", INVOICE, 2, None, "which is right",
         {"raw": [2, 2], "parsed": [2]}),
    Case("added after the answer", "post_processing", "ref", INVOICE, None, "0000", "does not have '0000'",
         {"raw": ["2024-117"], "parsed": ["0000"]}),
    Case("raw as wrong as parsed", "model_invented", "name", INVOICE, "ACME Pumps Ltd", "Bolt Inc", "no form of 'Bolt",
         {"raw": ["Bolt Inc"], "parsed": ["Bolt Inc"]}),
    Case("a unit as it was written", "post_processing", "unit", "Flow 5000 m³/h", "m3/h", "m³/h", "was not made 'm3/h'"),
    # right, and judged wrong
    Case("gold with a unit as it was written", "gold", "unit", "Flow 5000 m³/h", "m³/h", "m3/h", "another notation"),
    Case("other case", "gold", "name", INVOICE, "ACME PUMPS LTD", "Acme Pumps Ltd", "another notation"),
    Case("other marks", "gold", "name", INVOICE, "ACME Pumps, Ltd.", "ACME Pumps Ltd", "another notation"),
    Case("accents", "gold", "name", INVOICE, "Crème", "Creme", "another notation"),
    Case("month first", "gold", "day", "Date 11/10/2024", "2024-11-10", "11/10/2024", "another notation"),
    Case("decimal comma", "gold", "rate", "Rate 1,234", 1.234, "1,234", "another notation"),
    Case("gold not in a text file", "gold", "name", INVOICE, "ACME Pumps Limited", "ACME Pumps Ltd",
         "text file", kind="text"),
    Case("gold not in a CSV", "gold", "total", "a,b\n1,2", 99.5, None, "text file", kind="csv"),
    # from outside of the page
    Case("from an example", "example_leak", "name", INVOICE, "ACME Pumps Ltd", "Bolt Inc", "an example", seen("example")),
    Case("example, gold empty", "example_leak", "mail", INVOICE, None, "a@b.de", "an example", seen("example")),
    Case("without ink by evidence", "hidden_text", "name", INVOICE, "ACME Pumps Ltd", "Evil Corp", "without ink", seen("hidden")),
    Case("without ink", "hidden_text", "total", INVOICE + "\n~9,999.00", 1264, "9999.00", "without ink"),
    # reading lost it
    Case("words apart", "reading_layout", "name", "ACME\nInvoice 7\nPumps\nLtd", "ACME Pumps Ltd", "ACME", "never together"),
    Case("columns mixed", "reading_layout", "lines[].item", "Stainless 4 60.00\nwasher 7 M8", "Stainless washer M8", None, "never together"),
    Case("address over columns", "reading_layout", "name", "12 High Bill to:\nStreet Bob\nLeeds", "12 High Street Leeds", None, "never"),
    Case("zero for O", "reading_characters", "ref", "Ref INV-2O4", "INV-204", "INV-2O4", "is what was predicted"),
    Case("digit misread", "reading_characters", "total", "Total 1,284.00", 1264.00, "1,284.00", "is what was predicted"),
    Case("date misread", "reading_characters", "day", "Date 2024-08-31", "2024-03-31", "2024-08-31", "is what was predicted"),
    Case("name misread", "reading_characters", "name", "ACNE Purnps Ltd", "ACME Pumps Ltd", "ACNE Purnps Ltd", "is what was predicted"),
    Case("letter for a digit, nobody predicted", "reading_characters", "total", "Total 1,Z64.00", 1264.00, None, "in its place"),
    Case("S for 5", "reading_characters", "ref", "Ref AB-5S1", "AB-551", None, "in its place"),
    Case("similar name, nobody predicted", "reading_characters", "name", "Tamarack Va11ey Tools lnc.", "Tamarack Valley Tools Inc.", None, "in its place"),
    Case("page without text", "reading_lost_page", "total", INVOICE + "\f", 77.25, None, "page 2 has no text"),
    Case("pages without text", "reading_lost_page", "name", "A\f\f", "Zenith", "A", "pages 2, 3 have no text"),
    Case("damage before a page without text", "reading_characters", "ref", "Ref INV-2O4\f", "INV-204", "INV-2O4", "is what was"),
    Case("nothing of it", "reading_omitted", "name", "Invoice 7\nTotal 5.00", "ACME Pumps Ltd", None, "nothing similar"),
    Case("another taken", "reading_omitted", "total", "Deposit 80.00", 1264.00, 80, "'80' was predicted from elsewhere"),
    Case("another number is no damage", "reading_omitted", "total", "Deposit 9,999.00", 1264.00, "9,999.00", "predicted from elsewhere"),
    Case("invented for a lost one", "reading_omitted", "name", "Invoice 7", "ACME Pumps Ltd", "Smith", "nothing similar"),
    # cannot be told
    Case("no transcript", "ambiguous", "name", None, "ACME Pumps Ltd", "Bolt", "pictures were sent", {"no_text": "pictures were sent"}),
    Case("boolean", "ambiguous", "paid", INVOICE, True, None, "cannot be looked up"),
    Case("short", "ambiguous", "count", "7 pumps, 3 seals", 3, 7, "it is short"),
    Case("not short with its mark", "model_omitted", "total", "Sum @880", "@880", None, "@880"),
    Case("found by chance", "ambiguous", "rate", "Rate 1250 and 1350", 1250, 1350, "by chance", {"chance": 0.4}),
    Case("often missed", "ambiguous", "name", "Invoice 7", "a proper name", None, "often missed", {"missed": 0.5}),
    # the model
    Case("left out", "model_omitted", "name", INVOICE, "ACME Pumps Ltd", None, "in the line 'ACME Pumps Ltd'"),
    Case("left out in other notation", "model_omitted", "day", INVOICE, "2024-03-31", None, "31 March 2024"),
    Case("left out, grouped number", "model_omitted", "total", INVOICE, 1264.0, None, "1,264.00"),
    Case("left out, decimal comma", "model_omitted", "total", "Summe 1.264,00 EUR", 1264.0, None, "1.264,00"),
    Case("left out, alias", "model_omitted", "kind", "TAX INVOICE\nNo 7", "invoice", None, "INVOICE"),
    Case("left out, unit", "model_omitted", "flow", "Flow 5.000,5 m³/h", "5000.5 m3/h", None, "m³/h"),
    Case("left out, over a line break", "model_omitted", "name", "ACME Pumps\nLtd", "ACME Pumps Ltd", None, "the text has"),
    Case("left out, short beside its label", "model_omitted", "count", "Count: 3\nSeals 7", 3, None, "Count: 3", {"anchors": ["count"]}),
    Case("left out, likely beside its item", "model_omitted", "lines[].qty", "Pump P-1 2 60.00", 2, None, "Pump", {"anchors": ["Pump P-1"], "chance": 0.9}),
    Case("short in a text file", "model_omitted", "count", "3 pumps", 3, None, "3 pumps", kind="text"),
    Case("other field", "model_other_field", "total", INVOICE, 1264.0, 1234.5, "gold value of net", {"other_field": "net"}),
    Case("other field, gold empty", "model_other_field", "mail", INVOICE, None, "ACME Pumps Ltd", "gold value of name", {"other_field": "name"}),
    Case("twice in gold", "ambiguous", "total", "Sum 1,264.00", 1264.0, None, "net of this document also has it", {"shared": "net"}),
    Case("twice in gold, on its line", "model_omitted", "total", INVOICE, 1264.0, None, "the text has '1,264.00' in the line", {"shared": "net", "anchors": ["Total"]}),
    Case("other item", "model_other_place", "lines[].item", INVOICE, "Pump P-1", "Seal", "another item", {"is_other_item": True}),
    Case("other place", "model_other_place", "total", INVOICE, 1264.0, "60.00", "Pump P-1"),
    Case("other place, gold empty", "model_other_place", "phone", "ABN 90 738 465 074", None, "738 465 074", "ABN"),
    Case("invented amount", "model_invented", "total", INVOICE, 1264.0, 999, "no form of '999'"),
    Case("rounded", "model_invented", "rate", "Rate 15.80 a unit", 15.8, 6, "gold value is in the line 'Rate"),
    Case("invented, gold empty", "model_invented", "mail", INVOICE, None, "a@b.de", "no form of 'a@b.de'"),
]  # fmt: skip


def sent(text: str, kind: str) -> SentText:
    """Return a text as sent: form feeds begin pages, lines that begin with ~ have no ink."""
    made = text_transcript("a.pdf", text.split("\f"))
    pages = tuple(Page(page.number, tuple(map(_ink, page.lines))) for page in made.pages)
    return SentText.of(Transcript("a.pdf", "", kind, pages))


def _ink(line: Line) -> Line:
    return Line(
        tuple(Word(word.text.lstrip("~"), visible=not line.text.startswith("~")) for word in line.words)
    )


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_a_wrong_value_has_the_first_label_that_fits_with_its_evidence(case: Case) -> None:
    text = None if case.text is None else sent(case.text, case.kind)
    finding = label_value(AttributedValue(leaf(case.field), case.gold, case.pred, text, **case.more))
    assert finding.label == case.label, finding
    assert case.found in finding.found
    assert finding.stage == LABELS[case.label]


def test_the_table_has_every_label_and_at_least_sixty_cases() -> None:
    assert {case.label for case in CASES} == set(LABELS)
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("field", ["name", "count", "total", "day", "codes"])
@pytest.mark.parametrize("odd", [{"a": "5"}, ["5"], None], ids=["object", "list", "null"])
def test_a_value_of_another_kind_equals_no_value_of_a_field(field: str, odd: Any) -> None:
    is_list = leaf(field).is_list and isinstance(odd, list)
    assert are_equal(leaf(field), odd, "5") == are_equal(leaf(field), "5", odd) == is_list
    assert are_equal(leaf(field), odd, odd) == (odd is not None)


@pytest.mark.parametrize(("each", "has_interval"), [(2, True), (5, False)])
def test_families_are_drawn_as_a_whole_and_few_have_no_interval(
    tmp_path: Path, each: int, has_interval: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = [{"id": f"v{at // each}/{at}", **record(at)} for at in range(30)]
    wrong = [{**record(at), "total": 1.0 if at % 3 else record(at)["total"]} for at in range(30)]
    rows = [
        {"id": one["id"], "pred": pred, "transcript": written(one)}
        for one, pred in zip(gold, wrong, strict=True)
    ]
    found = fa.attribute(scored(tmp_path, gold, rows, cluster="{family}/*"))
    assert found.families == found.to_dict()["families"] == 30 // each
    shares = [one for one in found.system("m").whole.shares if one.value is not None]
    assert shares
    assert all((one.interval is not None) is has_interval for one in shares)
    assert main(["attribute", str(tmp_path / "run")]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"replicates over {30 // each} families" in told
    assert ("6 families are too few for an interval" in told) is not has_interval


@pytest.mark.parametrize(("broken", "mended"), [("call", "call"), ("workers", "")])
def test_the_option_of_a_matrix_that_mends_the_errors_of_the_model_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str, mended: str
) -> None:
    """Of two options in a matrix the program errs alike under both numbers of workers, or whatever is chosen."""
    good, bad = f"blame_{broken}_good", f"blame_{broken}_bad"
    body = "def read(document):\n    name, total = document['pages'][0].split()\n    return {{'name': name, 'total': {}}}\n"
    for name in (good, bad):
        says = "total" if name == good and broken == "call" else "'7'"
        (tmp_path / f"{name}.py").write_text(body.format(says), encoding="utf-8")
    docs = tmp_path / "docs"
    docs.mkdir()
    gold = [{"id": f"d{at}", "name": f"n{at}", "total": 1000 + 37 * at} for at in range(12)]
    for row in gold:
        (docs / f"{row['id']}.txt").write_text(f"{row['name']} {row['total']}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    systems = {
        "systems": {"base": {"strategy": "function", "call": f"{bad}:read"}},
        "matrix": {"base": {"call": [f"{bad}:read", f"{good}:read"], "workers": [1, 2]}},
    }
    made = fa.run(docs, "fields: {name: text, total: integer}", gold, tmp_path / "out", systems)
    worst = next(one for one in fa.attribute(made.run).systems if "bad" in one.system)
    assert {one.option: (one.values, one.only, one.of) for one in worst.mends} == {
        "call": (12, 12, 12) if mended else (0, 0, 12),
        "workers": (0, 0, 12),
    }
    assert ("change the call" in answer_of(worst)) == bool(mended)

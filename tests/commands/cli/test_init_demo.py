"""`fieldassay init` and `demo`."""

import json
import re
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from command_runs import GOLD, Files, Ran
from msgspec.structs import replace

from fieldassay.scoring.score import printed_receipts, sample
from fieldassay.spec.plan.compile import read_plan

Run = Callable[..., Ran]


def test_inferred_spec_scores_its_own_gold_as_perfect(run: Run, files: Files) -> None:
    spec = files.folder / "mine.yaml"
    ran = run("init", "--gold", files.folder / "gold.jsonl", "--out", spec)
    assert ran.code == 0 and f"fieldassay score --check --spec {spec}" in ran.err
    assert "# 3 of 3 documents" in spec.read_text()
    gold = files.folder / "gold.jsonl"
    assert (
        run(
            "score",
            "--spec",
            spec,
            "--gold",
            gold,
            "--pred",
            f"same={gold}",
            "--gate",
            "accuracy=1",
            "--bootstrap",
            "0",
        ).code
        == 0
    )


@pytest.mark.parametrize(
    ("count", "gate"),
    [
        (40, "regression(accuracy) >= 0]` fails on a clear loss"),
        (150, "regression(accuracy) > -0.05]`"),
        (400, "regression(accuracy) > -0.02]`"),
    ],
)
def test_the_margin_that_so_many_documents_can_pass_is_proposed(
    run: Run, files: Files, count: int, gate: str
) -> None:
    rows = [{"id": f"d{at}", "total": f"{at}.00"} for at in range(count)]
    assert gate in run("init", "--gold", files.write("many.jsonl", rows)).out


def test_values_of_nested_records_count_for_the_proposed_margin(run: Run, files: Files) -> None:
    parts = {f"f{at}": "x y" for at in range(10)}
    rows = [{"id": f"d{at}", "body": {"head": parts, "lines": [parts, parts]}} for at in range(200)]
    assert "regression(accuracy) > -0.02]`" in run("init", "--gold", files.write("deep.jsonl", rows)).out


def test_file_is_overwritten_only_by_force(run: Run, files: Files) -> None:
    spec = files.folder / "spec.yaml"
    before = spec.read_text()
    ran = run("init", "--gold", files.folder / "gold.jsonl", "--out", spec)
    assert ran.code == 2 and "--force" in ran.err and spec.read_text() == before
    assert run("init", "--gold", files.folder / "gold.jsonl", "--out", spec, "--force").code == 0
    assert spec.read_text() != before


@pytest.mark.parametrize(
    "text",
    ["", "[1, 2]", "{broken", "{}", '[{"id": 1}]'],
    ids=["empty", "no objects", "broken", "no keys", "ids only"],
)
def test_gold_that_cannot_be_used_is_named(run: Run, files: Files, text: str) -> None:
    path = files.folder / "gold.json"
    path.write_text(text)
    ran = run("init", "--gold", path)
    assert ran.code == 2 and "gold.json" in ran.err and "internal error" not in ran.err


@pytest.fixture
def shown(demo_run: Path) -> tuple[str, Path]:
    """Return what the demo prints, and the folder of its run."""
    return (demo_run.parents[1] / "demo.txt").read_text(encoding="utf-8"), demo_run


def test_demo_scores_the_sample_and_suggests_what_works(
    run: Run, shown: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, _ = shown
    assert all(system in out for system in sample().predictions)
    end = out[out.index("From documents to numbers") :]
    assert [line for line in end.splitlines() if len(line) > 80 and str(shown[1]) not in line] == []
    monkeypatch.chdir(tmp_path)
    (tmp_path / "YOURS").mkdir()
    (tmp_path / "YOURS" / "a.txt").write_text("Total 5")
    (tmp_path / "YOURS.jsonl").write_text('{"id": "a", "total": 5}')
    suggested = [shlex.split(line)[1:] for line in out.splitlines() if line.startswith("  fieldassay ")]
    assert [words[0] for words in suggested] == ["explain", "explain", "init"]
    for words in suggested:
        assert run(*words).code == 0, words
    (validate,) = re.findall("`?(score --check --spec THIS_FILE --gold GOLD)", run(*suggested[-1][:-2]).out)
    named = {"THIS_FILE": "spec.yaml", "GOLD": "YOURS.jsonl"}
    assert run(*(named.get(word, word) for word in validate.split())).code == 0


def test_demo_leaves_nothing_behind_without_out(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One system of the sample, and rules without examples: what they leave does not depend on more."""
    files, receipts, place = sample(), printed_receipts(), tmp_path / "place"
    place.mkdir()
    few = replace(receipts, systems=tmp_path / "systems.json")
    few.systems.write_text('{"systems": {"rules": {"strategy": "rules"}}}')
    one = replace(files, predictions={"atlas": files.predictions["atlas"]})
    monkeypatch.setattr("fieldassay.scoring.score.sample", lambda: one)
    monkeypatch.setattr("fieldassay.scoring.score.printed_receipts", lambda: few)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.chdir(place)
    ran = run("demo")
    assert (ran.code, ran.err) == (0, "") and "rules" in ran.out and "Try next" in ran.out
    assert list(place.iterdir()) == []


UNIDENTIFIED = [{"vendor_tax_id": f"INV-{n}", "total": "10.00", "vendor": "Oak"} for n in range(3)]


def estimate(ran: Ran, metric: str) -> float:
    found = json.loads(ran.out)["estimates"]
    return next(one["value"] for one in found if one["metric"] == metric and one["field"] is None)


def test_gold_without_ids_is_scored_by_position_with_every_field(run: Run, files: Files) -> None:
    gold = files.write("plain.jsonl", UNIDENTIFIED)
    pred = files.write("slip.jsonl", [*UNIDENTIFIED[:2], {**UNIDENTIFIED[2], "vendor_tax_id": "INV-9"}])
    spec = files.folder / "plain.yaml"
    assert run("init", "--gold", gold, "--out", spec).code == 0
    ran = run("score", "--spec", spec, "--gold", gold, "--pred", pred, "--json", "--bootstrap", "0")
    assert ran.code == 0 and estimate(ran, "accuracy") == pytest.approx(8 / 9)


def test_an_id_named_by_the_user_is_taken(run: Run, files: Files) -> None:
    path = files.write("plain.jsonl", UNIDENTIFIED)
    plan = read_plan(run("init", "--gold", path, "--schema", "data: {id_key: vendor_tax_id}").out)
    assert plan.spec.data.id_key == ("vendor_tax_id",) and plan.slots == ("total", "vendor")


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("vendor", "plain.jsonl:2: duplicate id 'Oak'"),
        ("vendor_id", "no row has the id key 'vendor_id'; did you mean 'vendor_tax_id'?"),
    ],
)
def test_an_id_named_by_the_user_that_is_none_is_refused(run: Run, files: Files, key: str, said: str) -> None:
    path = files.write("plain.jsonl", UNIDENTIFIED)
    ran = run("init", "--gold", path, "--schema", f"data: {{id_key: {key}}}")
    assert ran.code == 2 and said in ran.err


@pytest.mark.parametrize("key", ["gold", "label.value"])
def test_gold_key_is_written_into_the_spec(run: Run, files: Files, key: str) -> None:
    rows = [{"doc_id": row["id"], "id": "other", **nest(key, {"total": row["total"]})} for row in GOLD]
    gold, spec = files.write("nested.jsonl", rows), files.folder / "nested.yaml"
    ran = run("init", "--gold", gold, "--schema", f"data: {{gold_key: {key}}}", "--out", spec)
    assert f"--spec {spec} --gold {gold}\n" in ran.err
    pred = files.write("flat.jsonl", [{"doc_id": row["id"], "total": row["total"]} for row in GOLD])
    scored = run("score", "--spec", spec, "--gold", gold, "--pred", pred, "--json", "--bootstrap", "0")
    assert estimate(scored, "accuracy") == 1


def nest(path: str, value: object) -> dict[str, object]:
    first, _, rest = path.partition(".")
    return {first: nest(rest, value) if rest else value}


ENVELOPES = [
    ("an object beside the id", {"id": "a", "gold": {"total": 1}}, True),
    ("an object beside an id and meta", {"doc_id": "a", "tags": ["x"], "expected": {"total": 1}}, True),
    ("an object beside a value", {"id": "a", "vendor": "Oak", "address": {"city": "Graz"}}, False),
    ("an object alone", {"address": {"city": "Graz"}}, False),
    ("values", {"id": "a", "vendor": "Oak"}, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "is_envelope"), [case[1:] for case in ENVELOPES], ids=[case[0] for case in ENVELOPES]
)
def test_one_object_beside_the_id_is_taken_for_the_record_and_it_is_said(
    run: Run, files: Files, row: dict[str, object], is_envelope: bool
) -> None:
    path = files.write("rows.jsonl", [row])
    ran, said = run("init", "--gold", path), "read the record from "
    assert (said in ran.err) == (said in ran.out) == is_envelope
    assert (read_plan(ran.out).spec.data.gold_key in row) == is_envelope
    assert run("score", "--check", "--spec", ran.out, "--gold", path).code == 0


COMBINED = {
    "properties": {
        "id": {"type": "string"},
        "day": {"type": "string", "format": "date"},
        "total": {"type": "number"},
        "count": {"type": "string"},
        "tax": {"type": "number"},
        "lines": {
            "type": "array",
            "items": {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}},
        },
    }
}
GERMAN = [
    {
        "id": "a",
        "day": "15.03.2025",
        "total": "1.234,56",
        "count": "7",
        "lines": [{"day": "31.01.2025", "sku": "x"}],
        "note": "n/a",
    },
    {"id": "b", "day": "01.04.2025", "total": "80,00", "count": "9", "lines": [], "note": "x"},
]


def test_schema_and_gold_together_give_structure_and_writing(run: Run, files: Files) -> None:
    schema = files.folder / "schema.json"
    schema.write_text(json.dumps(COMBINED))
    ran = run("init", "--schema", schema, "--gold", files.write("german.jsonl", GERMAN))
    plan = read_plan(ran.out)
    assert (plan.spec.data.id_key, plan.spec.locale, plan.spec.null_values) == (("id",), "de_DE", ("n/a",))
    types = {field.name: (field.type, dict(field.options)) for field in plan.spec.fields}
    assert types == {
        "day": ("date", {"order": "dmy"}),
        "total": ("number", {}),
        "count": ("text", {}),
        "tax": ("number", {}),
        "lines": ("list", {}),
    }
    assert dict(plan.spec.fields[-1].items.fields[0].options) == {"order": "dmy"}
    assert "gold has keys that the schema does not have: note, lines[].sku" in ran.out
    assert (
        "# not in the gold seen\n  tax: number" in ran.out
        and "gold looks like the type integer\n  count: text" in ran.out
    )


def test_umlauts_in_gold_suggest_the_normalizer_without_using_it(run: Run, files: Files) -> None:
    rows = [{"id": "a", "name": "Jörg Müller & Söhne"}, {"id": "b", "name": "Anna & Otto"}]
    ran = run("init", "--gold", files.write("names.jsonl", rows))
    assert "`normalize: [umlauts]`" in ran.out and read_plan(ran.out).spec.fields[0].normalize == ()

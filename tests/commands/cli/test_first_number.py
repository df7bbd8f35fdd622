"""The first number: gold and predictions alone, and what was guessed."""

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_runs import Ran

import fieldassay as fa

GOLD = [
    {"id": f"d{at}", "total": f"{at}.50", "day": f"{at + 12}/04/2025", "paid": at % 2 == 0}
    for at in range(1, 9)
]
PRED = [{**row, "total": "9.99"} if row["id"] == "d1" else row for row in GOLD]
Run = Callable[..., Ran]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with gold and the predictions of two systems."""
    monkeypatch.chdir(tmp_path)
    for name, rows in (("gold", GOLD), ("llama", PRED), ("qwen", GOLD)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "answers").mkdir()
    for row in PRED:
        (tmp_path / "answers" / f"{row['id']}.json").write_text(json.dumps(row))
    return tmp_path


def accuracies(run: Run, *words: str) -> dict[str, float]:
    """Return the accuracy of each system by a command."""
    estimates = json.loads(run(*words, "--json").out)["estimates"]
    return {
        one["system"]: one["value"]
        for one in estimates
        if one["metric"] == "accuracy" and one["field"] is None and not one["parameters"]
    }


@pytest.mark.parametrize(
    ("words", "systems"),
    [
        ("gold.jsonl llama.jsonl", {"llama": 23 / 24}),
        ("gold.jsonl answers", {"answers": 23 / 24}),
        ("gold.jsonl llama.jsonl qwen.jsonl", {"llama": 23 / 24, "qwen": 1}),
        ("gold.jsonl new=llama.jsonl", {"new": 23 / 24}),
        ("--gold gold.jsonl llama.jsonl", {"llama": 23 / 24}),
        ("gold.jsonl --pred llama.jsonl", {"llama": 23 / 24}),
        ("gold.jsonl llama.jsonl --pred qwen.jsonl", {"qwen": 1, "llama": 23 / 24}),
    ],
)
def test_two_paths_give_the_number_that_the_written_guess_gives(
    run: Run, here: Path, words: str, systems: dict[str, float]
) -> None:
    assert accuracies(run, "score", *words.split()) == pytest.approx(systems)
    assert run("init", "--gold", "gold.jsonl", "-o", "spec.yaml").code == 0
    assert accuracies(run, "score", *words.split(), "--spec", "spec.yaml") == pytest.approx(systems)


def test_the_guess_is_told_with_the_command_that_keeps_it(run: Run, here: Path) -> None:
    err = run("score", "gold.jsonl", "llama.jsonl").err
    assert err == (
        "guessed: locale en_GB, total money, day date (order=dmy), paid boolean\n"
        "keep it with: fieldassay init --gold gold.jsonl --pred llama.jsonl -o spec.yaml\n"
    )
    assert run("score", "gold.jsonl", "llama.jsonl", "--quiet").err == ""


@pytest.mark.parametrize(
    "option", ["--gate accuracy>=0.5", "--baseline base.json", "--fail-on-regression accuracy", "--strict"]
)
def test_what_decides_needs_a_written_spec(run: Run, here: Path, option: str) -> None:
    ran = run("score", "gold.jsonl", "llama.jsonl", *option.split())
    assert (ran.code, ran.out) == (2, "")
    assert f"{option.split()[0]} needs a written spec" in ran.err
    assert "fieldassay init --gold gold.jsonl --pred llama.jsonl -o spec.yaml" in ran.err


@pytest.mark.parametrize("of", [lambda rows: rows, lambda rows: {row["id"]: row for row in rows}])
def test_in_python_the_guess_is_a_warning(of: Callable[[Any], Any]) -> None:
    result = fa.score(of(GOLD), {"llama": of(PRED)}, bootstrap=0)
    assert result.value("accuracy") == pytest.approx(23 / 24)
    assert result.warnings[0] == "guessed: locale en_GB, total money, day date (order=dmy), paid boolean"
    with pytest.raises(fa.ProblemsError, match="need a written spec"):
        fa.score(GOLD, {"llama": PRED}, gates=("accuracy >= 0.5",))


SPEC = "fields: {total: money, rate: number, day: date}"
RATES = [
    {"id": at, "total": f"{at}.50", "rate": (0.19, 0.07)[at % 2], "day": f"{at + 1}.5.2025"}
    for at in range(9)
]
NAMED = [
    {"id": at, "sum": f"{at},50 €", "vat": ("19%", "7%")[at % 2], "day": f"2025-05-{at + 1:02d}"}
    for at in range(9)
]


def test_a_field_without_a_right_value_is_told_with_the_line_that_mends_it() -> None:
    result = fa.score(RATES, {"llama": NAMED}, SPEC, bootstrap=0)
    assert result.counts["systems"]["llama"]["mends"] == {
        "total": "`total: {type: money, names: [sum]}` (equal in 9 of 9)",
        "rate": "`rate: {type: number, names: [vat], percent: fraction}` (read this way, 9 of 9 are equal)",
    }
    mended = "fields: {total: {type: money, names: [sum]}, rate: {type: number, names: [vat], percent: fraction}, day: date}"
    assert fa.score(RATES, {"llama": NAMED}, mended, bootstrap=0).value("accuracy") == 1.0
    (guess, *_) = fa.score(RATES, {"llama": NAMED}, bootstrap=0).warnings
    assert "total money (named sum)" in guess and "percent=fraction, named vat" in guess


@pytest.mark.parametrize(("form", "order"), [("%d/%m/%Y", "dmy"), ("%m/%d/%Y", "mdy")])
def test_gold_decides_the_order_of_days_and_months_in_predictions(form: str, order: str) -> None:
    days = [datetime.date(2025, month, 9) for month in range(1, 9)]
    gold = [{"id": str(day), "Vendor\nName": "Oak", "day": day} for day in days]
    pred = [{"id": str(day), "Vendor Name": "Oak", "day": day.strftime(form)} for day in days]
    result = fa.score(pl.DataFrame(gold), {"llama": pred}, bootstrap=0)
    assert result.value("accuracy") == 1.0 and f"(order={order})" in result.warnings[0]
    assert not any("two readings" in line for line in result.warnings)


def test_keys_that_agree_by_chance_or_alike_are_no_names() -> None:
    gold = [{"id": at, "net": at + 1, "paid": True, "code": f"A{at}"} for at in range(9)]
    pred = [{"id": at, "one": at + 1, "two": at + 1, "valid": True, "kind": "B"} for at in range(9)]
    guess = fa.score(gold, {"llama": [{**row, "Code": "A0"} for row in pred]}, bootstrap=0).warnings[0]
    assert "named Code" in guess and not {"one", "two", "valid"} & {*guess.replace(")", " ").split()}


@pytest.mark.parametrize(
    ("rows", "is_paired"),
    [
        ([{"vat_rate": (19, 0.19)[at % 2]} for at in range(9)], True),
        ([{"vatRate": 0.19}] * 9, True),
        ([{"rate": 0.19}] * 9, False),
        ([{"vat_rate": 0.19, "vat_sum": 0.19}] * 9, False),
        ([{"vat_note": "standard"}] * 9, False),
    ],
    ids=["in two notations", "in another notation", "no word in common", "one of two", "no numbers"],
)
def test_the_last_key_has_the_name_of_the_last_field(rows: list[dict[str, Any]], is_paired: bool) -> None:
    gold = [{"id": at, "VAT %": 19, "sum": at} for at in range(9)]
    pred = [{"id": at, "sum": at, **row} for at, row in enumerate(rows)]
    assert ("named vat" in fa.score(gold, {"m": pred}, bootstrap=0).warnings[0]) == is_paired


def test_a_field_that_gold_never_fills_has_the_type_of_the_predictions() -> None:
    gold = [{**row, "due": ""} for row in RATES]
    pred = [{**row, "due": row["day"]} for row in RATES]
    assert "due date" in fa.score(gold, {"llama": pred}, bootstrap=0).warnings[0]


def test_what_stands_beside_a_record_and_is_not_read_is_named_until_it_slices() -> None:
    rows = [{"id": row["id"], "prediction": row, "duration": 3, "page": "a"} for row in GOLD]
    told = "llama: ignored beside the records: duration, page; name a time with its unit"
    for slices, is_told in ((), True), (("page", "duration"), False):
        result = fa.score(GOLD, {"llama": rows}, "fields: {total: money}", bootstrap=0, slices=slices)
        assert any(line.startswith(told) for line in result.warnings) == is_told

"""Whether the spec fits the data: what is said, and what the exit code is, if it does not or only in part."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_runs import Ran

from fieldassay import score as score_in_python
from fieldassay.errors import NothingEvaluatedError
from fieldassay.scoring.inputs.options import InputOptions, ScoreOptions

Run = Callable[..., Ran]

SHOP = [
    {"id": "a1", "supplier": "Oak", "total": "1,250.00"},
    {"id": "a2", "supplier": "Elm", "total": "80.00"},
]
SPEECH = [{"id": "p1", "liste": [{"nom": "Dupont", "references": [1]}]}]
SILENT = [{"id": "a1", "total": None}, {"id": "a2"}]

NOTHING = {
    "a spec of other fields": (
        ["--spec", "fields: {invoice: text, amount: money}"],
        SHOP,
        "the spec (invoice, amount)",
    ),
    "near names are named": (["--spec", "fields: {Total_: money}"], SHOP, "'total' may be 'Total_'"),
    "the preset of another world": (
        ["--protocol", "prescription"],
        SHOP,
        "the protocol 'prescription' (medications); keys supplier, total in",
    ),
    "a preset that counts silence as right": (
        ["--protocol", "slot-filling-chamfer"],
        SHOP,
        "the protocol 'slot-filling-chamfer'",
    ),
    "a preset that skips absent columns": (
        ["--protocol", "business-documents"],
        [{"image_file": "p1.png", "liste": "Dupont"}],
        "DOCUMENT_TYPE",
    ),
    "keys that the preset does not know": (
        ["--protocol", "entry-matching"],
        SPEECH,
        "(entries); keys liste in",
    ),
}


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def given(tmp_path: Path, spec: list[str], gold: list[Any], *predictions: list[Any]) -> list[Any]:
    """Return the arguments of a command: a spec as text becomes a file."""
    if spec[0] == "--spec":
        (tmp_path / "spec.yaml").write_text(spec[1])
        spec = ["--spec", str(tmp_path / "spec.yaml")]
    files = [write(tmp_path / f"s{number}.jsonl", records) for number, records in enumerate(predictions)]
    return [
        *spec,
        "--gold",
        write(tmp_path / "gold.jsonl", gold),
        *(part for file in files for part in ("--pred", file)),
    ]


@pytest.mark.parametrize("spec,data,told", NOTHING.values(), ids=NOTHING.keys())
def test_a_spec_without_a_field_of_the_data_evaluates_nothing(
    run: Run, tmp_path: Path, spec: list[str], data: list[Any], told: str
) -> None:
    arguments = given(tmp_path, spec, data, data)
    scored = run("score", *arguments, "--out", tmp_path / "run", "--quiet")
    assert scored.code == 5 and scored.out == "" and not (tmp_path / "run").exists()
    assert (
        scored.err.startswith("nothing was evaluated") and told in scored.err and scored.err.count("\n") == 1
    )
    validated = run("validate", *arguments)
    assert validated.code == 2 and "No problem found." not in validated.out and told in validated.err


def test_records_one_level_down_on_both_sides_are_told(run: Run, tmp_path: Path) -> None:
    data = [{"id": row["id"], "data": row} for row in SHOP]
    scored = run("score", *given(tmp_path, ["--spec", "fields: {supplier: text, total: money}"], data, data))
    assert "did you mean `--gold-key data`?" in scored.out + scored.err
    assert "answers had their record in another object" in scored.out + scored.err


def test_in_python_such_a_spec_raises() -> None:
    with pytest.raises(NothingEvaluatedError, match="keys supplier, total in gold and s"):
        score_in_python(SHOP, {"s": SHOP}, "fields: {invoice: text}")


def test_fields_that_are_empty_everywhere_have_no_number_and_exit_with_5(run: Run, tmp_path: Path) -> None:
    scored = run("score", *given(tmp_path, ["--spec", "fields: {total: money}"], SILENT, SILENT))
    assert scored.code == 5 and "every field of the spec is empty" in scored.err
    assert score_in_python(SILENT, {"s": SILENT}, "fields: {total: money}").value("accuracy") is None


def test_correct_silence_is_a_result_where_the_spec_counts_it() -> None:
    result = score_in_python(
        SILENT, {"s": SILENT}, "{fields: {total: money}, metrics: [accuracy(regime=baseline)]}"
    )
    assert result.value("accuracy(regime=baseline)") == 1.0


REMARKS = {
    "a field that gold never fills, and its near name": (
        "fields: {supplier: text, Total: money, iban: id}", SHOP, SHOP,
        ["gold never has a value in Total, iban: ", "gold's 'total' may be 'Total'"], [],
    ),
    "fields inside an empty field are not told": (
        "fields: {supplier: text, total: money, to: {type: object, fields: {street: text}}}", SHOP, SHOP,
        ["gold never has a value in to: "], ["street"],
    ),
    "keys of gold beside the spec": (
        "fields: {supplier: text}", SHOP, SHOP,
        ["gold: keys that the spec does not declare are not judged: total (2)"], ["s0: ", "id (2)"],
    ),
    "keys that only predictions have": (
        "fields: {supplier: text}", SHOP, [{**SHOP[0], "bic": 1}],
        ["s0: predicted keys that the spec does not declare are not judged: bic (1)"], [],
    ),
    "gold without any declared field": (
        "fields: {supplier: text}", [{"id": "a1", "gold": {"supplier": "Oak"}}], SHOP,
        ["no gold record has a value in a field of the spec, so every predicted value is spurious; keys "
         "in gold: gold (1)",
         "did you mean `--gold-key gold`?"], [],
    ),
    "predictions one level down": (
        "fields: {supplier: text, total: money}", SHOP, [{"id": row["id"], "result": row} for row in SHOP],
        ["s0: 2 of 2 answers had their record in another object"], ["no prediction has a value"],
    ),
    "a protocol says nothing of the rest of gold": (
        "prescription", [{"doc_id": "1", "ward": 3,
            "medications": [{"nombre_medicamento": "a", "dosis": "1"}]}],
        [{"doc_id": "1", "medications": [{"nombre_medicamento": "a", "dosis": "1"}]}], [], ["ward"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("spec,gold,pred,told,untold", REMARKS.values(), ids=REMARKS.keys())
def test_what_does_not_fit_is_told_once(
    run: Run, tmp_path: Path, spec: str, gold: list[Any], pred: list[Any], told: list[str], untold: list[str]
) -> None:
    chosen = ["--spec", spec] if " " in spec else ["--protocol", spec]
    ran = run("score", *given(tmp_path, chosen, gold, pred), "--exit-zero", "--bootstrap", "0")
    said = " ".join(line for line in ran.out.partition("warning:")[2].split())
    assert ran.code == 0
    for text in told:
        assert said.count(text) == 1, ran.out
    for text in untold:
        assert text not in said, ran.out


def test_one_system_with_nothing_in_common_is_told(run: Run, tmp_path: Path) -> None:
    odd = [{"id": "a1", "shop": "Oak"}, {"id": "a2", "shop": "Elm"}]
    arguments = given(tmp_path, ["--spec", "fields: {supplier: text, total: money}"], SHOP, SHOP, odd)
    told = "s1: no prediction has a value in a field of the spec"
    validated = run("validate", *arguments)
    assert told in run("score", *arguments).out and told in validated.out
    assert validated.code == 0 and "No problem found, but 1 warning: see above." in validated.out


@pytest.mark.parametrize(
    "workers", [1, pytest.param(2, marks=pytest.mark.slow)], ids=["one process", "two processes"]
)
def test_the_counts_of_keys_do_not_depend_on_the_partition(workers: int) -> None:
    gold = [{"id": str(at), "total": 1, f"k{at % 7}": 1, "note": "x"} for at in range(450)]
    pred = [{"id": str(at), "total": 1, f"p{at % 5}": 1} for at in range(450)]
    result = score_in_python(
        gold, {"s": pred}, "fields: {total: number}", ScoreOptions(replicates=0, workers=workers, batch=100)
    )
    assert result.counts["gold"] == {
        "is_empty": False,
        "undeclared": {"note": 450, "k0": 65, "k1": 65, **{f"k{at}": 64 for at in range(2, 7)}},
    }
    assert result.counts["systems"]["s"]["undeclared"] == {f"p{at}": 90 for at in range(5)}


HUGE: dict[str, Callable[[], dict[str, Any]]] = {
    "one key of a megabyte": lambda: {"k" * 1_000_000: 1},
    "a key of control characters": lambda: {"\x1b[31m\u202e" * 300: 1},
    "ten thousand keys": lambda: {f"key-{at}": at for at in range(10_000)},
    "a hundred thousand keys": lambda: {f"key-{at}": at for at in range(100_000)},
}
FULL = {"a hundred thousand keys": pytest.mark.full}


@pytest.mark.parametrize(
    "extra", [pytest.param(extra, id=name, marks=FULL.get(name, ())) for name, extra in HUGE.items()]
)
def test_what_is_said_of_keys_is_bounded(
    run: Run, tmp_path: Path, extra: Callable[[], dict[str, Any]]
) -> None:
    data = [{"id": "a", "total": "5", **extra()}, {"id": "b", "total": "6"}]
    arguments = given(tmp_path, ["--spec", "fields: {total: number}"], data, data)
    scored = run("score", *arguments, "--bootstrap", "0", "--out", tmp_path / "run")
    assert scored.code == 0 and len(scored.out) < 4000 and "\x1b" not in scored.out
    assert len((tmp_path / "run" / "run.json").read_text()) < 100_000
    validated = run("validate", *arguments)
    assert validated.code == 0 and len(validated.out) < 8000
    explained = run("explain", *arguments, "a")
    assert explained.code == 0 and len(explained.out) < 8000
    other = given(tmp_path, ["--spec", "fields: {amount: number}"], data, data)
    for command in ("score", "validate"):
        assert len(run(command, *other).err) < 2000


ROWS = [
    {"id": one["id"], "total": "1", "model": "gpt", "n": 3, "note": "as asked", "result": {**one}}
    for one in SHOP
]
SHOP_SPEC = "fields: {supplier: text, total: money}"
WRAPPED = {
    "beside a declared key": (ROWS, "`--pred-key result`"),
    "in a text with prose": (
        [{"id": one["id"], "said": f"Here: {json.dumps(one)}!"} for one in SHOP],
        "`--pred-key said`",
    ),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_a_record_under_another_key_is_found(name: str) -> None:
    rows, hint = WRAPPED[name]
    warnings = score_in_python(SHOP, {"m": rows}, SHOP_SPEC).warnings
    assert [warning for warning in warnings if warning.endswith(f"did you mean {hint}?")]


@pytest.mark.parametrize(
    "rows", [SHOP, [{**one, "vendor": {"total": 1}} for one in SHOP]], ids=["flat", "one key below"]
)
def test_records_in_their_place_get_no_hint(rows: list[dict[str, Any]]) -> None:
    assert not any(
        "did you mean" in warning for warning in score_in_python(SHOP, {"m": rows}, SHOP_SPEC).warnings
    )


HOLDS_NONE = {
    "number": ("n", ROWS, "'n' holds no record in the first rows: it is a number; did you mean 'result'?"),
    "text": (
        "model",
        ROWS,
        "'model' holds no record in the first rows: it is a string; did you mean 'result'?",
    ),
    "the rows are the records": (
        "note",
        [{**one, "note": "x"} for one in SHOP],
        "leave the key out: the rows are the records",
    ),
    "nothing but numbers": (
        "n",
        [{"id": one["id"], "n": 1} for one in SHOP],
        "it is a number; name the key that holds the record",
    ),
}


@pytest.mark.parametrize("quiet", [(), ("-q",)], ids=["", "quiet"])
@pytest.mark.parametrize("name", HOLDS_NONE)
def test_a_key_that_holds_no_record_is_an_error(
    name: str, quiet: tuple[str, ...], run: Run, tmp_path: Path
) -> None:
    key, rows, said = HOLDS_NONE[name]
    for file, given in (("gold.jsonl", SHOP), ("m.jsonl", rows)):
        (tmp_path / file).write_text("".join(json.dumps(row) + "\n" for row in given))
    files = ("--gold", tmp_path / "gold.jsonl", "--pred", tmp_path / "m.jsonl")
    (tmp_path / "spec.yaml").write_text(SHOP_SPEC)
    ran = run("score", "--spec", tmp_path / "spec.yaml", *files, "--pred-key", key, *quiet)
    assert ran.code == 2 and said in ran.err


def test_a_system_that_refused_every_document_is_scored(run: Run) -> None:
    rows = [{"id": one["id"], "answer": "I cannot read this."} for one in SHOP]
    result = score_in_python(
        SHOP, {"m": rows}, SHOP_SPEC, ScoreOptions(inputs=InputOptions(pred_key="answer"))
    )
    assert (result.value("accuracy"), result.counts["systems"]["m"]["invalid"]) == (0.0, 2)


UNCLEAR = [
    {"id": 1, "date": "04/05/2025", "total": "1.250"},
    {"id": 2, "date": "15/05/2025", "total": "1.250,00"},
]
REMARKS: dict[str, tuple[str, list[str]]] = {
    "nothing decides": (
        "fields: {date: date, total: money}",
        [
            "values with two readings were read by the locale: date (1), total (1); set `order`, "
            "`decimal` or `currency`; see `fieldassay validate`"
        ],
    ),
    "the fields decide": ("fields: {date: {type: date, order: dmy}, total: {type: money, decimal: ','}}", []),
    "one field decides": (
        "fields: {date: {type: date, order: dmy}, total: money}",
        [
            "values with two readings were read by the locale: total (1); set `decimal` or `currency`; "
            "see `fieldassay validate`"
        ],
    ),
}


@pytest.mark.parametrize("case", REMARKS)
def test_score_remarks_on_values_that_could_be_read_in_two_ways(case: str) -> None:
    spec, remarks = REMARKS[case]
    result = score_in_python(UNCLEAR, {"m": UNCLEAR, "n": UNCLEAR}, spec)
    assert [text for text in result.warnings if "two readings" in text] == remarks

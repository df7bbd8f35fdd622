"""Inputs of commands: what is refused, told, and left out."""

import gzip
import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from command_runs import Ran, write_inputs
from scored_runs import linked, scored, stamp

from fieldassay import read_spec, score
from fieldassay import score as score_in_python
from fieldassay.commands.cli.grouping import SECTIONS as LINES
from fieldassay.commands.cli.main import COMMANDS, commands
from fieldassay.errors import ProblemsError
from fieldassay.options import option_names
from fieldassay.scoring.inputs import ScoreOptions
from fieldassay.spec.language.model import SECTIONS

# Whether the spec fits the data: what is said, and what the exit code is, if it does not or only in part

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
    validated = run("score", "--check", *arguments)
    assert validated.code == 2 and "No problem found." not in validated.out and told in validated.err


def test_fields_that_are_empty_everywhere_have_no_number_and_exit_with_5(run: Run, tmp_path: Path) -> None:
    scored = run("score", *given(tmp_path, ["--spec", "fields: {total: money}"], SILENT, SILENT))
    assert scored.code == 5 and "all fields are empty" in scored.err
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
        ["gold: keys that the spec lacks are ignored: total (2)"], ["s0: ", "id (2)"],
    ),
    "keys that only predictions have": (
        "fields: {supplier: text}", SHOP, [{**SHOP[0], "bic": 1}],
        ["s0: keys that the spec lacks are ignored: bic (1)"], [],
    ),
    "gold without any declared field": (
        "fields: {supplier: text}", [{"id": "a1", "gold": {"supplier": "Oak"}}], SHOP,
        ["no gold record has a value in a field of the spec, so every predicted value is wrong; keys "
         "in gold: gold (1)",
         "did you mean `data: {gold_key: gold}`?"], [],
    ),
    "predictions one level down": (
        "fields: {supplier: text, total: money}", SHOP, [{"id": row["id"], "result": row} for row in SHOP],
        ["s0: 2 of 2 answers hold their record inside another object"], ["no prediction has a value"],
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


FLOW = {"flow": {"value": 7, "unit": "m3/h"}, "temps": [1, None]}
TREE, SHOP_SPEC = "{type: any, fields: {'**': any}}", "fields: {supplier: text, total: money}"
APART: dict[str, tuple[str, list[Any], list[Any], str, list[str]]] = {
    "keys of other names": (SHOP_SPEC, SHOP, [{"id": "a1", "shop": "Oak"}], "`supplier: {names: [shop]}`", ["--spec", "{fields: {supplier: {type: text, names: [shop]}, total: money}}"]),
    "keys of another case": (
        SHOP_SPEC, SHOP, [{"id": "a1", "Supplier": "Oak"}], "`supplier: {names: [Supplier]}`), or set `data: {names: loose}`", ["--names", "loose"],
    ),
    "records in a text with prose": (
        SHOP_SPEC, SHOP, [{"id": one["id"], "said": f"Here: {json.dumps(one)}!"} for one in SHOP],
        "did you mean `data: {pred_key: said}`?", ["--pred-key", "said"],
    ),
    "trees under a key": (
        TREE, [{"id": "a1", **FLOW}], [{"id": "a1", "found": FLOW, "n": 1}], "`data: {pred_key: found}`", ["--pred-key", "found"],
    ),
    "trees of other keys": (TREE, [{"id": "a1", **FLOW}], [{"id": "a1", "x": 1}], "`data: {pred_key: KEY}`", ["--names", "loose", "--pred-key", ""]),
    "trees deep under a key": (
        TREE, [{"id": "a1", "top": FLOW}], [{"id": "a1", "top": {"found": FLOW}}], "s0 has no value where gold", ["--pred-key", ""],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", APART)
@pytest.mark.parametrize("others", [0, 1], ids=["alone", "beside a good one"])
def test_predictions_with_nothing_in_common_are_refused_with_what_mends_it(
    run: Run, tmp_path: Path, case: str, others: int
) -> None:
    spec, gold, pred, told, mended = APART[case]
    arguments = given(tmp_path, ["--spec", spec], gold, pred, *[gold] * others)
    ran = run("score", *arguments, "--exit-zero", "--bootstrap", "0")
    assert ran.code == 5 and told in ran.err and "%" not in ran.out
    if spec is SHOP_SPEC:
        assert told in (validated := run("score", "--check", *arguments)).err and validated.code == 2
    if all(mended) and not others:
        if mended[0] == "--spec":
            (tmp_path / "spec.yaml").write_text(mended[1])
        options = mended if mended[0] != "--spec" else []
        assert run("score", *arguments, *options, "--exit-zero", "--bootstrap", "0").code == 0


def test_predictions_with_something_in_common_are_scored(run: Run, tmp_path: Path) -> None:
    """Silence under a declared key, trees with a value at a place of gold, and nulls, which are no values."""
    for spec, gold, pred in (
        (SHOP_SPEC, SHOP, [{"id": "a1", "supplier": None, "shop": "Oak"}]),
        (TREE, [{"id": "a1", **FLOW}], [{"id": "a1", "flow": {"value": 8}, "x": 1}]),
        (TREE, [{"id": "a1", **FLOW}], [{"id": "a1", "flow": 8, "x": 1}]),
        (TREE, [{"id": "a1", **FLOW}], [{"id": "a1"}]),
        *(
            ("protocol: engineering-extractor", [{"id": "a1", "flow": one}], [{"id": "a1", "unit": other}])
            for one, other in ((None, None), (None, 5), (5, None))
        ),
    ):
        assert (
            run("score", *given(tmp_path, ["--spec", spec], gold, pred), "--bootstrap", 0, "--exit-zero").code
            == 0
        )


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
    validated = run("score", "--check", *arguments)
    assert validated.code == 0 and len(validated.out) < 8000
    explained = run("explain", *arguments, "a")
    assert explained.code == 0 and len(explained.out) < 8000
    other = given(tmp_path, ["--spec", "fields: {amount: number}"], data, data)
    for command in ("score", "validate"):
        assert len(run(command, *other).err) < 2000


def test_a_place_with_another_kind_of_json_is_one_line_of_an_explanation(run: Run, tmp_path: Path) -> None:
    spec = """fields:
      seller: {fields: {name: text}}
      notes: {type: list, items: text}
      lines: {align: assignment, items: {fields: {sku: id}}}"""
    gold = {"id": "a", "seller": {"name": "Oak"}, "notes": ["x"], "lines": [{"sku": "1"}]}
    pred = {"id": "a", "seller": "Oak", "notes": {"x": 1}, "lines": ["1"]}
    said = run("explain", *given(tmp_path, ["--spec", spec], [gold], [pred]), "a").out
    places = ["lines[0]", "notes", "notes[0]", "seller", "seller.name", "— ↔ lines[0]"]
    assert sorted(re.findall(r"^✗ \w+ +(.*?)  ", said, re.MULTILINE)) == places


ROWS = [
    {"id": one["id"], "total": "1", "model": "gpt", "n": 3, "note": "as asked", "result": {**one}}
    for one in SHOP
]


@pytest.mark.parametrize(
    ("rows", "hints"),
    [(ROWS, 1), (SHOP, 0), ([{**one, "vendor": {"total": 1}} for one in SHOP], 0)],
    ids=["another key beside a declared one", "flat", "one key below"],
)
def test_records_out_of_their_place_get_a_hint(rows: list[dict[str, Any]], hints: int) -> None:
    warnings = score_in_python(SHOP, {"m": rows}, SHOP_SPEC).warnings
    said = [warning for warning in warnings if "did you mean" in warning]
    assert [one.endswith("did you mean `data: {pred_key: result}`?") for one in said] == [True] * hints


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
    result = score_in_python(SHOP, {"m": rows}, SHOP_SPEC, pred_key="answer")
    assert (result.value("accuracy"), result.counts["systems"]["m"]["invalid"]) == (0.0, 2)


UNCLEAR = [
    {"id": 1, "date": "04/05/2025", "total": "1.250"},
    {"id": 2, "date": "15/05/2025", "total": "1.250,00"},
]
REMARKS: dict[str, tuple[str, list[str]]] = {
    "nothing decides": (
        "fields: {date: date, total: money}",
        [
            "2 values could be read in two ways (date (1), total (1)); set `order`, "
            "`decimal` or `currency`; `score --check` shows them"
        ],
    ),
    "the fields decide": ("fields: {date: {type: date, order: dmy}, total: {type: money, decimal: ','}}", []),
    "one field decides": (
        "fields: {date: {type: date, order: dmy}, total: money}",
        [
            "1 value could be read in two ways (total (1)); set `decimal` or `currency`; "
            "`score --check` shows them"
        ],
    ),
}


@pytest.mark.parametrize("case", REMARKS)
def test_score_remarks_on_values_that_could_be_read_in_two_ways(case: str) -> None:
    spec, remarks = REMARKS[case]
    result = score_in_python(UNCLEAR, {"m": UNCLEAR, "n": UNCLEAR}, spec)
    assert [text for text in result.warnings if "in two ways" in text] == remarks


# What cannot be meant is refused by every command: code 2, a sentence that says why, and nothing is written

DATA = "--gold gold.jsonl --pred llama.jsonl"
INPUTS = f"--spec spec.yaml {DATA}"
SCORE = f"score {INPUTS}"
REFUSED = [
    ("scor", "did you mean 'score'?"),
    ("score", "--gold"),
    ("score --gold g --pred p", "g: cannot be read"),
    ("score", "Give gold and predictions: GOLD PRED"),
    ("score gold.jsonl", "Give predictions: PRED after GOLD"),
    ("score --nonsense", "--nonsense"),
    ("explain", "--type"),
    ("init", "--gold PATH, --schema FILE, or both"),
    (f"{SCORE} --metrics acuracy", "did you mean 'accuracy'?"),
    (f"{SCORE} --engine cloud", "--engine: cannot be"),
    (f"{SCORE} --engine ray=", "--engine: cannot be"),
    (f"{SCORE} --protocol squad", "not both"),
    (f"{SCORE} --limit 0", "--limit"),
    (
        "score --gold gold.jsonl --pred llama.jsonl --protocol nothing-like-it",
        "unknown protocol 'nothing-like-it'",
    ),
    ("score --spec spec.yaml --gold - --pred -", "Only one of --gold and --pred"),
    (f"{SCORE} --runs a --out b", "give one of them"),
    ("score --spec spec.yaml --gold gold.jsonl --pred m=llama.jsonl,", "the path is empty"),
    ("score --spec spec.yaml --gold gold.jsonl --pred m=llama.jsonl,llama.jsonl", "a file is given twice"),
    (f"{SCORE} --pred llama=llama.jsonl", "a file is given twice"),
    (f"{SCORE} --pred y/llama.jsonl", "two systems are called 'llama'"),
    (f"{SCORE} --report junt", "did you mean 'junit'?"),
    (f"{SCORE} --report junit", "say where it goes"),
    (f"{SCORE} --report junit=", "say where it goes"),
    (f"{SCORE} --report junit=-", "name a file"),
    (f"{SCORE} --report junit=gold.jsonl", "would overwrite an input"),
    (f"{SCORE} --report junit=no/such/x", "its folder is missing"),
    (f"{SCORE} --report junit=x --report comment=x", "the same file"),
    (f"{SCORE} --open", "--open: say where it goes"),
    (f"{SCORE} --out new --fail-on-regression accuracy", "there is no baseline here"),
    (f"{SCORE} --out new --baseline nowhere.json --fail-on-regression f1", "there is no baseline here"),
    (f"{SCORE} --out new --fail-on-regression acuracy", "did you mean 'accuracy'?"),
    (f"{SCORE} --out new --fail-on-regression accuracy=much", "expected a number"),
    (f"{SCORE} --out new --fail-on-regression accuracy=-0.01", "at least 0"),
    (f"{SCORE} --out new --fail-on-regression accuracy=2", "allow a loss of one point"),
    (f"{SCORE} --out new --fail-on-regression latency_p95=20", "not made of sums"),
    (f"{SCORE} --out new --fail-on-regression presence", "presence"),
    (f"{SCORE} --out new --gate accuracy=90", "write 0.9 for 90%"),
    (
        "score --protocol clinical-decision --gold x.jsonl --pred y.jsonl",
        "fieldassay gate RUN --protocol clinical-decision",
    ),
    ("protocols show slot-fillin", "did you mean 'slot-filling'?"),
    ("protocols new slot-fillin", "did you mean 'slot-filling'?"),
    ("runs list --runs nowhere", "is not a store of runs"),
    ("explain --type mony 1 2", "did you mean 'money'?"),
    ("explain --type money 1", "two values"),
    ("explain --type '{type: money, tolerence: 1}' 1 2", "did you mean 'tolerance'?"),
    ("explain --type '{type: text, compare: levenstein}' 1 2", "did you mean 'levenshtein'?"),
    ("explain run d1 x y", "a run and a document"),
    ("explain nowhere d1", "is not a run"),
    (f"explain {INPUTS} d11", "did you mean 'd1'?"),
    (f"explain {INPUTS} d1 totl", "did you mean 'total'?"),
    (f"explain {INPUTS} d1 lines[", "did you mean 'lines[]'?"),
    (f"explain {INPUTS} d1 'lines[\"'", "not a path"),
    (f"explain {INPUTS} d1 --system lama", "did you mean 'llama'?"),
    ("report run --table valeus -o x.csv", "did you mean 'values'?"),
    ("report run --table results -o x.md", "use one of: .json"),
    ("report run --table valeus", "did you mean 'values'?"),
    ("report run -o out.xls", ".csv, .xlsx, .parquet, .json"),
    ("report run -o out --table values", "use one of: .csv"),
    ("report run -o missing/out.csv", "cannot be written"),
    ("report run -o run/out.csv", "or in its own"),
    ("report run run -o out.csv", "unexpected extra argument"),
    ("report run -o r.yaml", "--format"),
    ("report run --format junit --against run", "--against needs"),
    ("report run --format junt", "junt"),
    ("report nowhere --format junit", "nowhere"),
    ("report run --format junit --out gold.jsonl", "is an input or a part of a run"),
    ("report run --format junit --out run/metrics.json", "is an input or a part of a run"),
    ("report run --format junit --out run", "is a folder"),
    ("report run --format junit --out no/such/folder/x", "cannot be written"),
    ("report run --open --format junit", "--open shows the HTML report"),
    ("report run --open -o r.md", "--open shows the HTML report"),
    ("report run --format html --against ./run", "is the run itself; name an earlier one"),
    ("diff", "RUN"),
    ("diff nowhere elsewhere", "no store of runs"),
    ("diff run other --out no/such/folder/x.md", "cannot be written"),
    ("diff run", "has one system"),
    ("diff run other --metrics zzz", "zzz"),
    ("diff run other --level 1", "write: statistics: {level: SHARE}, in the spec"),
    ("gate run", "has no gates"),
    ("gate run run", "is given twice"),
    ("gate nowhere", "is not a run"),
    ("gate run --gates a.yaml --protocol clinical-decision", "not both"),
    ("gate run --protocol clinical", "clinical-decision"),
    ("gate run --gates nowhere.yaml", "cannot be read"),
    ("gate run --protocol clinical-decision --records nowhere.yaml", "cannot be read"),
    ("calibrate --plan run", "needs none of these: leave out run"),
    ("calibrate", "Give a RUN"),
    ("calibrate --plan --risk 2", "--risk: must be a number above 1e-06 and below 1"),
    ("calibrate --plan --risk 1e-12", "--risk: must be a number above 1e-06 and below 1"),
    ("calibrate --plan --risk nan", "--risk: must be a number above 1e-06 and below 1"),
    ("calibrate --plan --confidence 95", "write 0.95"),
    ("calibrate --plan run --out p.json", "leave out"),
    ("calibrate --policy p.json --pred p --risk 0.1", "leave out --risk"),
    ("calibrate run --scale odds", "odds"),
    ("calibrate nowhere", "not a run"),
    ("review export . -o labels.jsonl", "is not a review"),
    ("review teem .", "did you mean 'team'?"),
    ("review new review --suspicious x --gold y", "takes spec, gold and predictions from the run"),
    (
        "review new review --spec spec.yaml --double 2",
        "must be a number of at least 0 and of at most 1, not the number 2",
    ),
    ("review new review", "Give either --spec FILE or --protocol NAME"),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the small data set and two runs of it."""
    made = linked(scored(), tmp_path_factory.mktemp("refused") / "data")
    shutil.copytree(made / "run", made / "other")
    return made


@pytest.mark.parametrize(("command", "said"), REFUSED, ids=[command for command, _ in REFUSED])
def test_what_cannot_be_meant_is_refused_and_nothing_is_written(
    run: Callable[..., Ran], place: Path, monkeypatch: pytest.MonkeyPatch, command: str, said: str
) -> None:
    monkeypatch.chdir(place)
    before = stamp(place)
    ran = run(*shlex.split(command))
    assert (ran.code, ran.out, stamp(place)) == (2, "", before)
    assert said in ran.err and "Traceback" not in ran.err and "internal error" not in ran.err


# A hint works in the state in which it is printed

STATE = {
    "RUN": "run", "BEFORE": "run", "AFTER": "other", "DIR": "made", "PATH": "spec.yaml", "NAME": "values",
    "FILE": "fieldassay-baseline.json",
}  # fmt: skip
HINTS = [
    ("gate run --baseline no.json", "baseline set RUN", ""),
    ("gate run --gates regression.yaml", "baseline set RUN", ""),
    ("diff run", "diff BEFORE AFTER", ""),
    (f"score --protocol clinical-decision {DATA}", "gate RUN --protocol clinical-decision", ""),
    (f"score --spec strange.yaml {DATA}", "init", "--gold gold.jsonl"),
    (
        "score --spec spec.yaml --gold unreadable.jsonl --pred llama.jsonl",
        "score --check",
        f"--spec spec.yaml {DATA}",
    ),
    ("runs list --runs nowhere", "score --runs DIR", f"--spec spec.yaml {DATA}"),
    ("review status nowhere", "review new", "made-review --spec spec.yaml --pred llama.jsonl"),
]


@pytest.mark.parametrize(("command", "hint", "more"), HINTS, ids=[command for command, _, _ in HINTS])
def test_a_hint_works_in_the_state_in_which_it_is_printed(
    run: Callable[..., Ran],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    hint: str,
    more: str,
) -> None:
    made = linked(scored(), tmp_path / "data")
    shutil.copytree(made / "run", made / "other")
    monkeypatch.chdir(made)
    Path("strange.yaml").write_text("fields: {nowhere: text}")
    Path("regression.yaml").write_text("gates: [regression(accuracy) > -0.01]")
    Path("unreadable.jsonl").write_text(
        Path("gold.jsonl").read_text().replace('"total": ', '"total": "x", "was": ')
    )
    ran = run(*shlex.split(command))
    assert f"fieldassay {hint}" in " ".join((ran.out + ran.err).split()), ran
    done = run(*[STATE.get(word, word) for word in shlex.split(hint)], *shlex.split(more))
    assert done.code in (0, 1, 4), done


# `score --only` and `--fields`: a part of the documents, a part of the spec; and ids that are named

SPEC = "name: r\nfields: {shop: text, total: money}\n"
GOLD = [
    {"id": "a", "shop": "Oak", "total": 1},
    {"id": "b", "shop": "Elm", "total": 2},
    {"id": "c", "shop": "Ash", "total": 3},
]
PRED = [
    {"id": "a", "shop": "Oak", "total": 1},
    {"id": "b", "shop": "Elm", "total": 9},
    {"id": "c", "shop": "X", "total": 9},
]


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    return [*write_inputs(tmp_path, SPEC, GOLD, PRED), "--bootstrap", "0"]


def accuracy(
    only: tuple[str, ...] | None = None, fields: tuple[str, ...] | None = None, spec: str = SPEC
) -> float | None:
    return score(GOLD, PRED, spec, ScoreOptions(only=only, fields=fields), bootstrap=0).value("accuracy")


def test_only_the_documents_that_are_named_are_scored() -> None:
    assert (accuracy(), accuracy(("a",)), accuracy(("c", "a", "c"))) == (0.5, 1.0, 0.5)
    assert score(GOLD, PRED, SPEC, ScoreOptions(only=("b",))).counts["documents"] == 1


def test_only_the_fields_that_are_named_are_scored_and_the_others_are_not_undeclared() -> None:
    result = score(GOLD, PRED, SPEC, ScoreOptions(fields=("shop",)), bootstrap=0)
    assert result.value("accuracy") == pytest.approx(2 / 3)
    assert result.warnings == ()
    assert (
        result.run["spec"]["digest"]
        == score(GOLD, PRED, "name: r\nfields: {shop: text}").run["spec"]["digest"]
    )
    assert accuracy(fields=("shop",), spec=SPEC + "extra: spurious\n") == pytest.approx(2 / 3)


UNKNOWN = {
    "document": (ScoreOptions(only=("a", "aa")), SPEC, "no document has the id 'aa'; did you mean 'a'?"),
    "field": (ScoreOptions(fields=("totl",)), SPEC, "no top-level field 'totl'; did you mean 'total'?"),
    "gate": (ScoreOptions(fields=("shop",)), SPEC + "gates: ['field_accuracy[total] >= 0.9']\n", "total"),
    "type": (
        ScoreOptions(fields=("shop",)),
        "document_type: kind\nfields: {kind: text, shop: {type: text, applies_to: [x]}}\n",
        "add 'kind', which holds the type",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_choice_that_cannot_be_meant_is_an_error(name: str) -> None:
    options, spec, told = UNKNOWN[name]
    with pytest.raises(ProblemsError) as caught:
        score(GOLD, PRED, spec, options)
    assert told in str(caught.value)


@pytest.mark.parametrize("choice", [["--only", "a"], ["--fields", "shop"]], ids=["only", "fields"])
def test_a_run_of_a_part_is_never_compared_in_silence_with_a_whole_one(
    run: Run, data: list[str], tmp_path: Path, choice: list[str]
) -> None:
    assert run("score", *data, "--out", tmp_path / "whole", "--quiet").code == 0
    assert run("score", *data, "--out", tmp_path / "part", "--quiet", *choice).code == 0
    assert run("diff", tmp_path / "whole", tmp_path / "part").code == 2
    facts = json.loads((tmp_path / "part" / "run.json").read_text())
    assert (facts | facts["options"])[choice[0][2:]] == [choice[1]]


# `data:` and `statistics:` of a spec: the same as the options of `score`, and read by every command

HOMES = {name: key for key, kind in SECTIONS.items() for name in option_names(kind)}
SHOPS = "name: shops\nfields: {shop: text, total: number, lines: {type: list, items: text}}\n"
TRUE: list[dict[str, Any]] = [
    {"id": f"{at}", "shop": f"Möbel {at}", "total": at, "lines": ["x"]} for at in range(24)
]
SYSTEMS = {
    name: [row | {"total": -1, "lines": ["y"]} if at % step == 0 else row for at, row in enumerate(TRUE)]
    for name, step in (("a", 5), ("b", 3), ("c", 2))
}


def text_of(rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def lay_out(ours: Callable[[Any], Any] = dict, theirs: Callable[[Any], Any] = dict, **more: bytes) -> None:
    """Write gold and the predictions of three systems into the current folder, each row in another form."""
    texts = {"gold": text_of(map(ours, TRUE)), **{one: text_of(map(theirs, SYSTEMS[one])) for one in SYSTEMS}}
    for name, data in ({one: text.encode() for one, text in texts.items()} | more).items():
        Path(name).write_bytes(data)


KEYS: dict[str, tuple[Any, Callable[[], None]]] = {
    "gold_key": ("truth.of", lambda: lay_out(lambda row: {"id": row["id"], "shop": "?", "truth": {"of": row}})),
    "pred_key": ("out", lambda: lay_out(theirs=lambda row: {"id": row["id"], "shop": "?", "out": row})),
    "systems_key": ("of", lambda: lay_out(theirs=lambda row: {"id": row["id"], "of": {"m": row}})),
    "id_key": ("nr", lambda: lay_out(*[lambda row: {**row, "nr": row["id"], "id": "x"}] * 2)),
    "wrap": ("lines", lambda: lay_out(theirs=lambda row: {"id": row["id"], "pred": row["lines"]})),
    "group": (True, lambda: lay_out(gold=(
        "id,shop,total,lines[]\n"
        + "".join(f"{row['id']},{row['shop']},{row['total']},{line}\n" for row in TRUE for line in "xz")
    ).encode())),
    "encoding": ("mac_roman", lambda: lay_out(a=text_of(SYSTEMS["a"]).encode("mac_roman"))),
    "names": ("loose", lambda: lay_out(theirs=lambda row: {"id": row["id"], "SHOP": row["shop"]})),
    "match_ids": ("x{id}={id}", lambda: lay_out(theirs=lambda row: row | {"id": f"x{row['id']}"})),
    "max_unpacked": ("1K", lambda: lay_out(a=gzip.compress(text_of(SYSTEMS["a"]).encode()))),
    "cluster": ("vendor", lambda: lay_out(lambda row: row | {"vendor": f"v{row['total'] // 3}"})),
    **{name: (value, lay_out) for name, value in (
        ("level", 0.8), ("bootstrap", 50), ("seed", 7), ("correction", "holm"), ("compare", "recall"),
        ("reference", "b"),
    )},
}  # fmt: skip
"""By key of a section: a value, and what writes files for which it makes a difference."""


def numbers(run: Run, systems: str, spec: str, *more: Any) -> Any:
    """Return the numbers and comparisons of a run of `score`, or its error."""
    given = ("--spec", spec, "--gold", "gold", "--out", "run", "--quiet", *more)
    ran = run("score", *given, *(f"--pred={name}" for name in systems))
    held = [json.loads(path.read_text()) for path in sorted(Path("run").glob("[cm]*.json"))]
    return ran.err if ran.code else [part.get("estimates", part) for part in held]


@pytest.mark.parametrize("name", HOMES)
def test_a_key_of_a_section_is_the_option_of_score(
    name: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (value, prepare), systems = KEYS[name], "a" if name == "systems_key" else "ab"
    monkeypatch.chdir(tmp_path)
    prepare()
    by_spec = numbers(run, systems, f"{SHOPS}{HOMES[name]}: {{{name}: {json.dumps(value)}}}\n")
    flag = f"--{name.replace('_', '-')}"
    assert by_spec == numbers(run, systems, SHOPS, *([flag] if value is True else [flag, value]))
    assert by_spec != numbers(run, systems, SHOPS)


WORK = (
    "score --check -s spec.yaml -g gold -p a", "score -s spec.yaml -g gold -p a -p b --out run --quiet",
    "explain -s spec.yaml -g gold -p a 5", "explain run 5", "report run",
    "diff run", "baseline set run", "gate run --baseline fieldassay-baseline.json", "attribute run",
    "review agreement -s spec.yaml -l gold -l b", "calibrate run --system a -o policy.json",
    "calibrate --policy policy.json -p a=a", "review new sheets -s spec.yaml -p a -g gold",
    "review promote --labels labels -g gold.jsonl -s spec.yaml",
    "run -d docs -s spec.yaml -g gold --jobs 0 --sample 3 --out sweep --quiet", "explain sweep/run 14",
    "extract -d docs -s spec.yaml --jobs 0 --sample 3 --out out --quiet",
)  # fmt: skip
"""Commands that read data, or what was made of them."""
LABEL = b'{"id": "5", "reviewer": "ada", "labels": {"shop": {"state": "value", "text": "Oak"}}}'
FORMS: dict[str, Callable[[Any], Any]] = {
    "": lambda row: row | {"confidence": {"total": 0.9}},
    "data: {gold_key: of, pred_key: of, id_key: nr}": lambda row: {
        "nr": row["id"], "confidence": {"total": 0.9}, "of": {key: row[key] for key in row if key != "id"},
    },
}  # fmt: skip


def test_every_command_reads_data_as_the_sections_say(
    run: Run, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[dict[str, Any]] = []
    for line, form in FORMS.items():
        monkeypatch.chdir(tmp_path_factory.mktemp("form"))
        lay_out(form, form, labels=LABEL)
        Path("spec.yaml").write_text(f"{SHOPS}statistics: {{level: 0.8, bootstrap: 50, seed: 3}}\n{line}")
        shutil.copy("gold", "gold.jsonl")
        Path("docs").mkdir()
        for row in TRUE:
            Path("docs", f"{row['id']}.txt").write_text(f"Shop: {row['shop']}\nTotal: {row['total']}")
        found.append({command: run(*command.split()) for command in WORK})
    for command in WORK:
        plain, other = (re.sub(r"of 20\S+", "", one[command].out) for one in found)
        assert (found[0][command].code, plain) == (0, other), command


DOORS = {
    "level": 95, "bootstrap": -5, "seed": "x", "correction": "holmm", "names": "lose", "match_ids": "stm",
    "max_unpacked": "lots",
}  # fmt: skip
"""A wrong value of each key that does not take every text."""


@pytest.mark.parametrize("name", DOORS)
def test_a_wrong_value_is_refused_in_the_same_words_by_spec_command_and_python(name: str, run: Run) -> None:
    with pytest.raises(ProblemsError) as python:
        score([], [], SHOPS, **{name: DOORS[name]})
    with pytest.raises(ProblemsError) as spec:
        read_spec(f"{SHOPS}{HOMES[name]}: {{{name}: {DOORS[name]}}}")
    [problem] = python.value.problems
    flag, said = f"--{name.replace('_', '-')}", f": {problem.what}; {problem.remedy}"
    assert run("score", "-s", SHOPS, "-g", "g", "-p", "p", flag, DOORS[name]).err == f"{flag}{said}\n"
    assert str(python.value) == f"{name}{said}"
    assert re.fullmatch(rf"spec:\d: \$\.{HOMES[name]}\.{name}{re.escape(said)}", str(spec.value))


def test_score_alone_has_the_sections_as_options() -> None:
    found = {name: commands.get_command(click.Context(commands), name) for name in COMMANDS}
    own = {
        name: held
        for name, command in found.items()
        if command and (held := {flag for one in command.params for flag in one.opts} & LINES.keys())
    }
    assert own == {"score": {*LINES}} and len(LINES) == len(HOMES)


# What fieldassay wrote is no gold, wherever it was put

PRINTED = [
    "score --spec spec.yaml --gold gold.jsonl --pred llama.jsonl --json",
    "score --check --spec spec.yaml --gold gold.jsonl --json",
    "diff run other --json",
    "gate run --gates gates.yaml --json",
    "explain run d1 --json",
    "runs show run --json",
    "baseline set run -o base.json --json",
    "baseline show base.json --json",
]


@pytest.fixture(scope="module")
def gold_folder(place: Path) -> Path:
    """Return the folder with the small data set and its gold as a file a document."""
    (place / "gold").mkdir()
    for line in (place / "gold.jsonl").read_text().splitlines():
        (place / "gold" / f"{json.loads(line)['id']}.json").write_text(line)
    (place / "gates.yaml").write_text("gates: [accuracy >= 0.1]\n")
    return place


@pytest.mark.parametrize("command", PRINTED)
def test_what_a_command_prints_into_the_folder_of_gold_is_left_out(
    run: Callable[..., Ran], gold_folder: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(gold_folder)
    again = ("score", "--spec", "spec.yaml", "--gold", "gold", "--pred", "llama.jsonl", "--json")
    clean = json.loads(run(*again).out)["estimates"]
    printed = run(*shlex.split(command)).out
    Path("gold/printed.json").write_text(printed)
    ran = run(*again)
    Path("gold/printed.json").unlink()
    assert printed and json.loads(ran.out)["estimates"] == clean
    assert "1 file that fieldassay wrote left out: gold/printed.json" in ran.err


def test_a_report_of_results_is_not_written_into_the_folder_of_gold(
    run: Callable[..., Ran], gold_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(gold_folder)
    assert (
        run("score", "--spec", "spec.yaml", "--gold", "gold", "--pred", "llama.jsonl", "--out", "r").code == 0
    )
    ran = run("report", "r", "-o", "gold/results.json")
    assert ran.code == 2 and "in a folder of its inputs" in ran.err

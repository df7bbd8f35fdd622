"""`fieldassay report`."""

import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from command_runs import Ran
from python_calamine import CalamineWorkbook

from fieldassay import open_run, score
from fieldassay.commands.cli.main import main
from fieldassay.errors import ProblemsError
from fieldassay.io.files.tables import MOST_CHARACTERS, WorkbookTable, csv_text, make_harmless, workbook_bytes
from fieldassay.reports.export.export import guide_result
from fieldassay.scoring.inputs import ScoreOptions

# `fieldassay report`, and what it writes

Run = Callable[..., Ran]
SAMPLE = Path(__file__).parents[3] / "examples" / "business"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("scored") / "run"
    systems = [part for name in ("atlas", "birch") for part in ("--pred", f"{SAMPLE / name}.csv")]
    data = ["--protocol", "business-documents", "--gold", f"{SAMPLE / 'ground_truth.csv'}", *systems]
    assert main(["score", *data, "--bootstrap", "200", "--quiet", "--out", f"{out}"]) == 0
    return out


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_csv_has_every_judged_value_of_every_system(run: Run, folder: Path, tmp_path: Path) -> None:
    ran = run("report", folder, "-o", tmp_path / "all.csv")
    assert (ran.code, ran.out) == (0, "")
    assert "judged values" in ran.err
    rows = rows_of(tmp_path / "all.csv")
    assert list(rows[0]) == [
        "doc",
        "system",
        "field",
        "extracted",
        "ground_truth",
        "correct",
        "score",
        "outcome",
        "reason",
        "diagnosis",
        "cost",
    ]
    assert {row["system"]: sum(1 for other in rows if other["system"] == row["system"]) for row in rows} == {
        "atlas": 110,
        "birch": 110,
    }
    known = {(row["system"], row["doc"], row["field"]): row for row in rows}
    name = known["atlas", "invoice_01.png", "SUPPLIER_NAME"]
    assert (name["extracted"], name["correct"], name["score"], name["reason"]) == (
        "Wattle Stationery Supplies",
        "true",
        "0.9",
        "contained",
    )
    date = known["atlas", "invoice_01.png", "INVOICE_DATE"]
    assert (date["correct"], date["diagnosis"]) == ("true", "day_month_exchanged")
    silent = known["atlas", "statement_01.png", "BUSINESS_ABN"]
    assert (silent["extracted"], silent["correct"], silent["score"], silent["outcome"]) == (
        "",
        "true",
        "1.0",
        "absent",
    )
    lost = known["birch", "statement_02.png", "CONTACT_PHONE"]
    assert (lost["ground_truth"], lost["correct"], lost["score"], lost["diagnosis"]) == (
        "13 44 55",
        "false",
        "0.0",
        "missing",
    )


def test_one_system_can_be_chosen(run: Run, folder: Path, tmp_path: Path) -> None:
    assert run("report", folder, "-o", tmp_path / "one.csv", "--system", "birch").code == 0
    assert {row["system"] for row in rows_of(tmp_path / "one.csv")} == {"birch"}
    ran = run("report", folder, "-o", tmp_path / "no.csv", "--system", "birhc")
    assert (ran.code, "did you mean 'birch'?" in ran.err, (tmp_path / "no.csv").exists()) == (2, True, False)


def test_a_json_has_the_dictionary_of_the_guide_by_system(run: Run, folder: Path, tmp_path: Path) -> None:
    assert run("report", folder, "-o", tmp_path / "result.json").code == 0
    found = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    atlas = found["atlas"]
    assert list(found) == ["atlas", "birch"]
    assert list(atlas) == [
        "overall_accuracy", "overall_correct", "overall_total", "field_accuracies", "detailed_results",
        "images_evaluated", "perfect_documents",
        "best_performing_image", "best_performance_accuracy", "worst_performing_image",
        "worst_performance_accuracy", "summary_stats", "scores",
    ]  # fmt: skip
    assert (atlas["overall_total"], atlas["images_evaluated"], atlas["perfect_documents"]) == (110, 8, 1)
    assert atlas["field_accuracies"]["SUPPLIER_NAME"] == pytest.approx(
        {"accuracy": (5 + 0.9 * 2 + 6 / 7) / 8, "correct": 5 + 1.8 + 6 / 7, "total": 8}, abs=1e-8
    )
    assert (atlas["best_performing_image"], atlas["best_performance_accuracy"]) == ("receipt_03.png", 1.0)
    assert found["birch"]["worst_performing_image"] == "statement_02.png"
    first = atlas["detailed_results"][0]
    assert first["fields"]["DOCUMENT_TYPE"] == {
        "extracted": "Tax Invoice",
        "ground_truth": "INVOICE",
        "correct": True,
        "accuracy_score": 1.0,
    }
    assert first["overall_accuracy"] == pytest.approx(
        sum(field["accuracy_score"] for field in first["fields"].values()) / 15, abs=1e-9
    )
    assert "TRANSACTION_DATES" not in first["fields"]
    stats = atlas["summary_stats"]
    assert (stats["worst_fields"][0][0], len(stats["best_fields"])) == ("TRANSACTION_DATES", 5)
    figures = [field["accuracy"] for field in atlas["field_accuracies"].values()]
    assert stats["avg_field_accuracy"] == pytest.approx(sum(figures) / len(figures))
    values = [image["overall_accuracy"] for image in atlas["detailed_results"]]
    assert atlas["overall_accuracy"] == pytest.approx(sum(values) / len(values), abs=1e-9)


def test_a_run_that_kept_only_errors_says_so(run: Run, tmp_path: Path) -> None:
    inputs = ["--gold", SAMPLE / "ground_truth.csv", "--pred", SAMPLE / "atlas.csv"]
    run(
        "score",
        "--protocol",
        "business-documents",
        *inputs,
        "--evidence",
        "errors",
        "--out",
        tmp_path / "run",
        "--quiet",
        "--bootstrap",
        0,
    )
    ran = run("report", tmp_path / "run", "-o", tmp_path / "x.csv")
    assert (ran.code, "--evidence all" in ran.err) == (2, True)
    assert run("report", tmp_path / "run", "-o", tmp_path / "x.md").code == 0
    assert run("report", tmp_path / "run", "-o", tmp_path / "x.csv", "--table", "errors").code == 0
    found = pl.read_csv(tmp_path / "x.csv")["outcome"].sort().to_list()
    kept = open_run(tmp_path / "run").evidence.filter(pl.col("kind") == "value").collect()["outcome"]
    assert found == kept.sort().to_list() and "match" not in found


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-2+3", "'-2+3"),
        (" =1", "' =1"),
        ("\t=1", "'\t=1"),
        ("＝1+1", "'＝1+1"),
        ("-12.50", "-12.50"),
        ("+61", "+61"),
        ("$5", "$5"),
        ("a=b", "a=b"),
        ("", ""),
        ("a\x00b", "a\\0b"),
    ],
)
def test_no_cell_is_a_formula(text: str, cell: str) -> None:
    assert make_harmless(text) == cell


def test_hostile_values_survive_the_way_through_a_csv(run: Run, tmp_path: Path) -> None:
    values = ['=HYPERLINK("http://x")', 'a,"b"\nc', "\x1b[2J\u202eevil", "\ud800", "🙂" * 1000]
    gold = [{"id": number, "name": "Ada"} for number in range(len(values))]
    pred = [{"id": number, "name": value} for number, value in enumerate(values)]
    for name, records in (("gold", gold), ("pred", pred)):
        (tmp_path / f"{name}.jsonl").write_text(
            "".join(json.dumps(record) + "\n" for record in records), encoding="utf-8"
        )
    (tmp_path / "spec.yaml").write_text("fields: {name: text}\n", encoding="utf-8")
    options = [
        "--spec",
        tmp_path / "spec.yaml",
        "--gold",
        tmp_path / "gold.jsonl",
        "--pred",
        tmp_path / "pred.jsonl",
    ]
    run("score", *options, "--out", tmp_path / "run", "--quiet")
    assert run("report", tmp_path / "run", "-o", tmp_path / "out.csv").code == 0
    found = [row["extracted"] for row in rows_of(tmp_path / "out.csv")]
    assert found == ["'" + values[0], values[1], "\\x1b[2J\\u202eevil", "\ufffd", values[4]]


def test_a_result_of_any_spec_has_the_shape_of_the_guide() -> None:
    gold = [
        {"id": "a", "name": "Ada", "lines": [{"sku": "x", "n": 1}, {"sku": "y", "n": 2}]},
        {"id": "b", "name": None, "lines": []},
    ]
    pred = [{"id": "a", "name": "Bo", "lines": [{"sku": "x", "n": 1}]}]
    spec = "fields: {name: text, lines: {items: {fields: {sku: id, n: number}}, align: {key: sku}}}"
    found = guide_result(score(gold, pred, spec, bootstrap=0))
    assert (found["overall_accuracy"], found["overall_correct"], found["overall_total"]) == pytest.approx(
        (2 / 5, 2, 5), abs=1e-9
    )
    assert [image["overall_accuracy"] for image in found["detailed_results"]] == [pytest.approx(2 / 5), None]
    fields = found["detailed_results"][0]["fields"]
    assert fields["lines[1].n"] == {
        "extracted": None,
        "ground_truth": 2,
        "correct": False,
        "accuracy_score": 0.0,
    }
    assert found["detailed_results"][1]["fields"] == {}
    alone = guide_result(score(gold, pred, spec, ScoreOptions(metrics=("correct",)), bootstrap=0))
    assert (alone["overall_correct"], alone["scores"]) == (2.0, {"correct": 2})
    assert alone["field_accuracies"] == found["field_accuracies"]


@pytest.mark.parametrize(
    ("options", "system", "said"),
    [
        (ScoreOptions(), None, "several systems"),
        (ScoreOptions(), "aa", "no system 'aa'"),
        (ScoreOptions(evidence="none"), "a", "kept no evidence"),
    ],
)
def test_what_a_result_lacks_is_told(options: ScoreOptions, system: str | None, said: str) -> None:
    result = score(
        [{"id": 1, "n": 5}],
        {"a": [{"id": 1, "n": 5}], "b": [{"id": 1, "n": 6}]},
        "fields: {n: number}",
        options,
    )
    with pytest.raises(ProblemsError, match=said):
        guide_result(result, system)


ENTRIES = {
    "gold.jsonl": (
        '{"id": 1, "entries": [{"name": "Dupont", "pages": [1, 2]}, {"name": "Durand", "pages": [7]}]}\n'
    ),
    "=a.jsonl": '{"id": 1, "entries": [{"name": "Dupond", "pages": [1, 3]}]}\n',
}


def test_the_curve_of_paired_items_is_a_table(run: Run, tmp_path: Path) -> None:
    for name, text in ENTRIES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    given = (
        "--protocol",
        "entry-matching",
        "--gold",
        tmp_path / "gold.jsonl",
        "--pred",
        tmp_path / "=a.jsonl",
    )
    assert run("score", *given, "--out", tmp_path / "run", "--quiet").code == 0
    assert run("report", tmp_path / "run", "--table", "curve", "-o", tmp_path / "curve.csv").code == 0
    rows = rows_of(tmp_path / "curve.csv")
    assert [(round(float(row["t"]), 3), float(row["share"]), row["n"]) for row in rows] == [
        (0, 1, "2"),
        (0.889, 0.5, "2"),
        (1, 0, "2"),
    ]
    assert {row["system"] for row in rows} == {"'=a"}


def test_a_run_without_such_lists_has_no_curve(run: Run, folder: Path, tmp_path: Path) -> None:
    ran = run("report", folder, "--table", "curve", "-o", tmp_path / "curve.csv")
    assert (ran.code, "paired by similarity" in ran.err) == (2, True)
    assert not (tmp_path / "curve.csv").exists()


def test_every_report_recommends_what_the_gates_let_pass(run: Run, tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("id,total\n" + "".join(f"{at},{at + 5}\n" for at in range(40)))
    for name, wrong, cost in (("good", 0, 0.02), ("cheap", 6, 0.001)):
        lines = (
            {"id": str(at), "total": at + 5 + (at < wrong), "usage": {"cost_usd": cost}} for at in range(40)
        )
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "spec.yaml").write_text(
        'fields: {total: money}\ngates: ["cost_usd <= 0.002", "accuracy >= 0.8"]\n'
    )
    inputs = [argument for name in ("good", "cheap") for argument in ("--pred", tmp_path / f"{name}.jsonl")]
    scored = ("--spec", tmp_path / "spec.yaml", "--gold", tmp_path / "gold.csv", *inputs)
    assert run("score", *scored, "--out", tmp_path / "run", "--quiet").code == 1
    assert run("report", tmp_path / "run", "--table", "comparison", "-o", tmp_path / "executive.md").code == 0
    formats = ("markdown", "table", "comment", "html")
    texts = [run("report", tmp_path / "run", "--format", one).out for one in formats]
    for text in ((tmp_path / "executive.md").read_text(encoding="utf-8"), *texts):
        assert "Use cheap: only it passes all 2 gates" in text.replace("\\", "").split("<script type")[0]
        assert "Use good" not in text


def test_a_table_is_the_same_in_every_format(run: Run, folder: Path, tmp_path: Path) -> None:
    for ending in ("parquet", "json", "xlsx"):
        target = tmp_path / f"rows.{ending}"
        assert run("report", folder, "--table", "values", "-o", target, "--system", "birch").code == 0
    table = pl.read_parquet(tmp_path / "rows.parquet")
    assert (table.height, table["system"].unique().to_list()) == (110, ["birch"])
    assert table.rows(named=True) == json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))
    [[head, *rows]] = sheets_of(tmp_path / "rows.xlsx").values()
    assert head == table.columns
    assert [tuple(cell if cell != "" else None for cell in row) for row in rows] == [
        tuple(cell if cell != "" else None for cell in row) for row in table.rows()
    ]


SMUGGLED = (
    "x\r=cmd|' /C calc'!A0",
    "x\n=1+1",
    "\r=1+1",
    "=1+1",
    "\t=1+1",
    "a,b",
    'say "x"',
    "\x0b=1",
    "\x85=1",
    "\u2028=1",
)


@pytest.mark.parametrize("text", SMUGGLED, ids=ascii)
def test_no_cell_smuggles_a_formula_into_a_row_of_its_own(text: str) -> None:
    line = csv_text([[text, "next"]])
    for ends in ("\r", "\n", "\x0b", "\x85", "\u2028"):
        for row in csv.reader([line.replace(ends, "\n")] if '"' not in line else [line], strict=True):
            assert not any(cell.lstrip().startswith(("=", "@")) for cell in row)
    assert next(csv.reader(io.StringIO(line, newline="")))[1] == "next"
    if not text.isprintable() and "\\" not in line:
        assert line.startswith('"')


def sheets_of(path: Path) -> dict[str, list[list[Any]]]:
    book = CalamineWorkbook.from_path(str(path))
    return {name: book.get_sheet_by_name(name).to_python() for name in book.sheet_names}


def test_a_workbook_has_the_estimates_and_the_values(run: Run, folder: Path, tmp_path: Path) -> None:
    assert run("report", folder, "-o", tmp_path / "all.xlsx").code == 0
    assert run("report", folder, "-o", tmp_path / "all.csv").code == 0
    sheets = sheets_of(tmp_path / "all.xlsx")
    assert list(sheets) == ["estimates", "values"]
    rows = rows_of(tmp_path / "all.csv")
    assert sheets["values"][0] == list(rows[0])
    assert len(sheets["values"]) == len(rows) + 1
    first = dict(zip(sheets["values"][0], sheets["values"][1], strict=True))
    assert (first["doc"], first["correct"], first["score"]) == (
        rows[0]["doc"],
        rows[0]["correct"] == "true",
        float(rows[0]["score"]),
    )
    summary = [dict(zip(sheets["estimates"][0], row, strict=True)) for row in sheets["estimates"][1:]]
    metrics = json.loads((folder / "metrics.json").read_bytes())["estimates"]
    expected = {
        (one["system"], one["metric"]): one["value"]
        for one in metrics
        if one["field"] is None and not one["slice"]
    }
    found = {
        (row["system"], row["metric"]): row["value"] for row in summary if row["slice"] == row["field"] == ""
    }
    assert all(found[key] == pytest.approx(value) for key, value in expected.items() if value is not None)


def test_texts_of_a_workbook_are_no_formulas_and_no_links(tmp_path: Path) -> None:
    texts = ["=1+1", "{=1}", "http://example.org", "12", "\x1b[2J", "x" * 40_000, "\ud800", "", "a\rb"]
    (tmp_path / "book.xlsx").write_bytes(
        b"".join(
            workbook_bytes(
                [WorkbookTable("t", ["text"], [[text] for text in texts]), WorkbookTable("none", ["a"], [])]
            )
        )
    )
    with zipfile.ZipFile(tmp_path / "book.xlsx") as packed:
        page = packed.read("xl/worksheets/sheet1.xml").decode()
        links = [
            name
            for name in packed.namelist()
            if name.endswith(".rels") and "/hyperlink" in packed.read(name).decode()
        ]
    assert not links and "<hyperlink" not in page
    assert "<f>" not in page and "<v>" not in page
    read = [row[0] for row in sheets_of(tmp_path / "book.xlsx")["t"][1:]]
    assert read[:5] == ["=1+1", "{=1}", "http://example.org", "12", "\x1b[2J"]
    assert len(read[5]) == MOST_CHARACTERS and read[5].endswith("…")


def test_more_rows_than_a_sheet_holds_go_to_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fieldassay.io.files.tables.MOST_ROWS", 4)
    (tmp_path / "book.xlsx").write_bytes(
        b"".join(workbook_bytes([WorkbookTable("t", ["n"], [[number] for number in range(7)])]))
    )
    assert {name: len(rows) for name, rows in sheets_of(tmp_path / "book.xlsx").items()} == {
        "t": 4,
        "t (2)": 4,
        "t (3)": 2,
    }


# The classification report and the pairs that are least alike, as exports and on the terminal

GOLD = [{"id": 1, "a": "x", "b": "p"}, {"id": 2, "a": "y", "b": "q"}, {"id": 3, "a": "z"}]
PREDICTION = [{"id": 1, "a": "x", "b": "p"}, {"id": 2, "a": "w"}, {"id": 3, "a": "z", "b": "r"}]


def write(path: Path, rows: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def score_run(
    folder: Path, gold: list[dict[str, object]], prediction: list[dict[str, object]], *more: str
) -> str:
    data = [
        "--gold",
        write(folder / "gold.jsonl", gold),
        "--pred",
        "s=" + write(folder / "p.jsonl", prediction),
    ]
    assert main(["score", *data, "--out", str(folder / "run"), "--quiet", "--bootstrap", "0", *more]) == 0
    return str(folder / "run")


@pytest.fixture
def scored(tmp_path: Path) -> str:
    (tmp_path / "spec.yaml").write_text("fields: {a: text, b: text}\n")
    return score_run(
        tmp_path, GOLD, PREDICTION, "--spec", str(tmp_path / "spec.yaml"), "--metrics", "default,f1"
    )


def test_the_report_has_the_rows_and_columns_of_scikit_learn(scored: str, tmp_path: Path) -> None:
    assert main(["report", scored, "--table", "fields", "-o", str(tmp_path / "c.csv")]) == 0
    rows = list(csv.reader((tmp_path / "c.csv").open(encoding="utf-8", newline="")))
    assert rows[0] == ["system", "field", "precision", "recall", "f1-score", "support"]
    found = {row[1]: [float(cell) for cell in row[2:]] for row in rows[1:]}
    assert found == {
        "a": pytest.approx([2 / 3, 2 / 3, 2 / 3, 3]),
        "b": pytest.approx([1 / 2, 1 / 2, 1 / 2, 2]),
        "micro avg": pytest.approx([3 / 5, 3 / 5, 3 / 5, 5]),
        "macro avg": pytest.approx([7 / 12, 7 / 12, 7 / 12, 5]),
        "weighted avg": pytest.approx([3 / 5, 3 / 5, 3 / 5, 5]),
    }


def test_the_report_is_printed_and_written_as_markdown_and_json(
    scored: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", scored, "--table", "fields"]) == 0
    assert "weighted avg" in capsys.readouterr().out
    for ending in ("md", "json"):
        assert main(["report", scored, "--table", "fields", "-o", str(tmp_path / f"c.{ending}")]) == 0
        assert "weighted avg" in (tmp_path / f"c.{ending}").read_text(encoding="utf-8")


def test_a_run_without_the_metrics_is_refused_with_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spec.yaml").write_text("fields: {a: text, b: text}\n")
    run = score_run(tmp_path, GOLD, PREDICTION, "--spec", str(tmp_path / "spec.yaml"))
    assert main(["report", run, "--table", "fields"]) == 2
    assert "--metrics default,f1" in capsys.readouterr().err

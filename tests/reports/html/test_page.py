"""The page as text: nothing in it asks for anything, and nothing from a document is markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from tests.reports.html.hostile_records import SPEC, gold_records, predictions
from tests.reports.html.unpacked_rows import read_blocks

import fieldassay as fa
from fieldassay import score
from fieldassay.commands.cli.main import main
from fieldassay.errors import ProblemsError
from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.reports.html.page import SCRIPTS, STYLES, hash_source, join_charts
from fieldassay.reports.wording.meanings import LETTERS, MEANINGS
from fieldassay.scoring.inputs.options import ScoreOptions

ASSETS = Path(__file__).parents[3] / "src" / "fieldassay" / "reports" / "html" / "assets"


class Parts(HTMLParser):
    """Everything in a page that a browser would act upon."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.is_script = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.is_script = tag == "script" and "data-block" not in dict(attrs)
        if self.is_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.is_script = False

    def handle_data(self, data: str) -> None:
        if self.is_script:
            self.scripts[-1] += data


@pytest.fixture(scope="module")
def hostile_page() -> str:
    return fa.report(score(gold_records(), predictions(), SPEC, ScoreOptions(replicates=50)))


def test_the_page_loads_nothing(hostile_page: str) -> None:
    for tag, attributes in Parts(hostile_page).tags:
        assert tag not in ("img", "iframe", "link", "object", "embed", "base")
        assert not {"src", "srcset", "action", "style", "background"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")


def test_its_policy_allows_its_own_script_and_no_other(hostile_page: str) -> None:
    parts = Parts(hostile_page)
    policy = next(
        str(attributes["content"])
        for tag, attributes in parts.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert allowed["default-src"] == allowed["connect-src"] == "'none'"
    assert len(parts.scripts) == 1
    assert allowed["script-src"].split() == [hash_source(parts.scripts[0]), hash_source(join_charts())]
    assert "unsafe" not in policy


def test_data_cannot_end_its_element(hostile_page: str) -> None:
    assert set(read_blocks(hostile_page)) >= {
        "core",
        "documents",
        "errors",
        "systems",
        "fields",
        "charts",
        "rows-0",
    }
    assert (
        hostile_page.count("<script")
        == hostile_page.count("</script>")
        == 1 + hostile_page.count('<script type="application/octet-stream"')
    )


def test_headings_are_in_order(hostile_page: str) -> None:
    levels = [int(tag[1]) for tag, _ in Parts(hostile_page).tags if re.fullmatch("h[1-6]", tag)]
    assert all(level - before <= 1 for before, level in pairwise(levels))


def test_the_same_run_makes_the_same_page(demo_report: Path, tmp_path: Path) -> None:
    fa.report([demo_report.parent / "run"], "html", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == demo_report.read_bytes()


@pytest.mark.parametrize("kept", ["errors", "none"])
def test_a_run_with_less_evidence_has_a_page_too(tmp_path: Path, kept: str) -> None:
    (tmp_path / "gold.jsonl").write_text('{"id": 1, "n": 5}\n{"id": 2, "n": 6}\n', encoding="utf-8")
    (tmp_path / "pred.jsonl").write_text('{"id": 1, "n": 5}\n{"id": 2, "n": 7}\n', encoding="utf-8")
    (tmp_path / "spec.yaml").write_text("fields: {n: number}\n", encoding="utf-8")
    files = {
        name: str(tmp_path / file)
        for name, file in {
            "--spec": "spec.yaml",
            "--gold": "gold.jsonl",
            "--pred": "pred.jsonl",
            "--out": "run",
        }.items()
    }
    given = [part for pair in files.items() for part in pair]
    assert main(["score", *given, "--evidence", kept, "--report", "html", "--quiet"]) == 0
    blocks = read_blocks((tmp_path / "run" / "report.html").read_text(encoding="utf-8"))
    assert blocks["core"]["kept"] == kept
    assert ("rows-0" in blocks) == (kept == "errors")


def test_what_is_not_a_run_has_no_page(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError, match="is not a run"):
        fa.report([tmp_path], "html", tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_every_metric_has_a_meaning() -> None:
    assert set(MEANINGS) == set(list_metrics())


def test_formulas_use_the_letters_that_are_explained() -> None:
    for meaning, formula in MEANINGS.values():
        assert meaning.endswith(".")
        assert set(re.findall(r"\b2?([A-Z])\b", formula)) <= set(LETTERS)


def test_every_asset_is_used() -> None:
    assert {path.name for path in ASSETS.glob("*.js")} == set(SCRIPTS)
    assert {path.name for path in ASSETS.glob("*.css")} == set(STYLES)
    assert all(len(path.read_text(encoding="utf-8").splitlines()) < 300 for path in ASSETS.glob("*.*s"))


def test_vendored_libraries_come_with_their_licenses() -> None:
    libraries = {path.name.split(".")[0] for path in (ASSETS / "vendor").glob("*.js")}
    assert {path.name.removesuffix(".LICENSE") for path in (ASSETS / "vendor").glob("*.LICENSE")} == libraries


@pytest.mark.parametrize(("name", "title"), [("gold", "Extraction of 2 documents"), ("invoices", "invoices")])
def test_the_title_is_not_the_name_of_a_file_of_gold(name: str, title: str) -> None:
    rows = [{"id": str(at), "total": at} for at in range(2)]
    page = fa.report(score(rows, rows, {"name": name, "fields": {"total": "number"}}))
    assert f"<title>{title} · fieldassay</title>" in page

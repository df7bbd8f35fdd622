"""Each shipped protocol says where it comes from, and has its place in the pages on protocols."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fieldassay.commands.cli.main import main
from fieldassay.spec.presets.catalogue import preset_head, preset_names

_PAGES = Path(__file__).resolve().parents[3] / "docs" / "protocols"
_TEXTS = {page.name: page.read_text(encoding="utf-8") for page in _PAGES.glob("*.md")}


@pytest.mark.parametrize("name", preset_names())
def test_the_list_of_protocols_names_it(name: str) -> None:
    assert re.search(rf"^\|.*\b{re.escape(name)}\b", _TEXTS["index.md"], re.MULTILINE)


@pytest.mark.parametrize("name", preset_names())
def test_a_page_of_its_own_or_its_familys_tells_how_to_run_it_and_its_source(name: str) -> None:
    row = next(
        line
        for line in _TEXTS["index.md"].splitlines()
        if line.startswith("|") and re.search(rf"[\[`]{re.escape(name)}[\]`]", line)
    )
    linked = re.findall(r"\]\(([^)#]+\.md)\)", row)
    text = (_PAGES / linked[0]).resolve().read_text(encoding="utf-8")
    assert name in text
    if (_PAGES / linked[0]).parent == _PAGES and linked[0] in _TEXTS:
        assert "\nSource:" in text
        assert "fieldassay score --protocol" in text


@pytest.mark.parametrize("name", preset_names())
def test_its_text_says_its_version_its_source_and_what_it_judges(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    head = preset_head(name)
    assert (head.name, bool(head.version), bool(head.citation), bool(head.description)) == (
        name,
        True,
        True,
        True,
    )
    assert main(["protocols", "show", name]) == 0
    shown = capsys.readouterr().out
    assert re.search(rf"^version: [\"']?{re.escape(head.version)}[\"']?$", shown, re.MULTILINE)
    assert re.search(r"^citation: \S", shown, re.MULTILINE)
    assert re.search(r"^description: \S", shown, re.MULTILINE)


@pytest.mark.parametrize("page", sorted(_TEXTS))
def test_no_page_says_that_all_protocols_judge_a_missing_prediction_alike(page: str) -> None:
    assert (
        page != "index.md" or "A document without a prediction is judged as an empty one." not in _TEXTS[page]
    )


@pytest.mark.parametrize("page", sorted(set(_TEXTS) - {"index.md"}))
def test_each_page_says_what_a_missing_prediction_costs(page: str) -> None:
    text = " ".join(_TEXTS[page].split()).lower()
    assert (
        re.search(r"without (a|its|any) prediction|without predictions|missing prediction", text)
        or "(prescription.md#" in text
    )

"""The examples of the documentation run, and print what the pages show."""

from __future__ import annotations

import doctest
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from doc_pages import DOCS, FILES, TEXTS, blocks
from docs.consoles import run_page

from fieldassay import score
from fieldassay.scoring.inputs.options import ScoreOptions
from fieldassay.spec.plan.compile import read_plan

SHOWN = [name for name in FILES if blocks(name, "console")]
"""Pages with commands and their output."""

MARKS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize(
    "name",
    [name for name in FILES if any(body.lstrip().startswith(">>>") for body in blocks(name, "python"))],
)
def test_python_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "\n".join(body for body in blocks(name, "python") if body.lstrip().startswith(">>>"))
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "page"}, name, name, 0)
    said: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=MARKS).run(test, out=said.append)
    assert outcome.failed == 0, "".join(said)


SPECS = {
    f"{name} {number}": body
    for name in FILES
    for number, body in enumerate(blocks(name, "yaml"))
    if body.startswith(("fieldassay:", "fields:", "types:")) and "acme." not in body
}


@pytest.mark.parametrize("name", SPECS)
def test_every_spec_compiles(name: str) -> None:
    assert read_plan(SPECS[name]).fields


@pytest.mark.parametrize("name", SHOWN)
def test_commands_print_what_the_page_shows(name: str, programs: Path) -> None:
    assert run_page(TEXTS[name], programs) == TEXTS[name], (
        "write the page again with: python docs/consoles.py"
    )


def test_the_line_that_tidies_a_store_keeps_the_newest_runs(programs: Path) -> None:
    [line] = blocks("docs/task-runs.md", "sh")
    spec = """$ cat spec.yaml\nfields: {total: money}\n$ cat gold.jsonl\n{"id": 1, "total": 5}\n"""
    score = "$ fieldassay score --spec spec.yaml --gold gold.jsonl --pred a=gold.jsonl --runs runs --quiet\n"
    tidy = "$ ls -t runs > before; " + line.replace("[50:]", "[1:]")
    kept = "$ ls -t runs | diff - <(head -n 1 before) && echo kept\n"
    text = run_page(f"```console\n{spec}{score * 2}{tidy}{kept}```\n", programs)
    assert text.count("removed") == 1 and text.endswith(f"{kept}kept\n```\n"), text


def test_the_plugin_of_the_contributing_page_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fieldassay.registry import _plugins

    [code] = blocks("CONTRIBUTING.md", "python")
    [project] = blocks("CONTRIBUTING.md", "toml")
    [spec] = blocks("CONTRIBUTING.md", "yaml")
    _install(tmp_path, code, project)
    monkeypatch.syspath_prepend(str(tmp_path))
    _plugins.cache_clear()
    try:
        gold = [{"id": 1, "postcode": "3065"}, {"id": 2, "postcode": "3065"}, {"id": 3, "postcode": "3065"}]
        pred = [{"id": 1, "postcode": "3065"}, {"id": 2, "postcode": "3066"}, {"id": 3, "postcode": "9999"}]
        result = score(gold, pred, spec, ScoreOptions(replicates=0))
        assert result.evidence is not None
        assert result.evidence.select("score", "reason", "outcome").rows() == [
            (1.0, "equal", "match"),
            (0.5, "same_area", "partial"),
            (0.0, "different", "mismatch"),
        ]
    finally:
        _plugins.cache_clear()


def _install(folder: Path, code: str, project: str) -> None:
    """Write what an installer would make of the package."""
    read = tomllib.loads(project)["project"]
    (folder / "acme_judges.py").write_text(code, encoding="utf-8")
    info = folder / "acme_judges-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {read['name']}\nVersion: {read['version']}\n", encoding="utf-8"
    )
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items())
        for group, entries in read["entry-points"].items()
    )
    (info / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")


def test_the_picture_is_a_small_report_without_anything_from_the_network() -> None:
    data = (DOCS / "images" / "demo.svg").read_bytes()
    picture = ElementTree.fromstring(data)
    text = " ".join("".join(picture.itertext()).split())
    assert len(data) < 60_000
    assert "accuracy" in text
    assert b"url(http" not in data


@pytest.mark.parametrize("picture", sorted((DOCS / "images").glob("*.png")), ids=lambda path: path.name)
def test_the_pictures_of_the_html_report_are_small(picture: Path) -> None:
    data = picture.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) < 150_000
